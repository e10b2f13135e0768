/* Models for conformance tests: random models of every operation, and single operations written as
 * text (tests/support/one_op.h) with their expected results. */
#ifndef HARNESS_CONFORM_MODELS_H
#define HARNESS_CONFORM_MODELS_H

#include "golden/model/one_op.h"
#include "harness/check/cases.h"
#include "harness/conform/conform.h"
#include "randgraph/randgraph.h"

struct conform_model {
    struct arena *arena;
    char name[100];
    struct example example; /* expected: shapes; data NULL where the values are not known */
    struct hal_model hal;   /* the example's model, in the same arena */
    int level;              /* feature level that it needs */
    bool is_exact;          /* the expected values are exact in every arithmetic */
};

/* The list of models: those of conform_texts; random models of one operation, at least one for each
 * of its forms and each of its typing rows that can be drawn; larger random models at each level;
 * then those of conform_cases.  Made before the first rule, from conform_seed. */
extern struct conform_model *conform_models;
extern int conform_n_models, conform_n_built_in; /* built_in: those before the cases */
/* Specifications whose models are added, loaded and validated; NULL: none. */
extern const struct cases *conform_cases;

/* How many operations, forms and typing rows the catalogue has, and how many of the latter two the
 * list has a model of. */
struct conform_rows {
    int operations, forms, drawn_forms, typings, drawn_typings;
};
extern struct conform_rows conform_rows;
void conform_models_draw(void);
void conform_models_free(void);

/* The model of an example, which lies in the arena; takes the arena over. */
void conform_model_init(struct conform_model *m, const struct example *e, struct arena *a);
/* The model of a single operation written as text; NULL, of conform_relu() or conform_sum(), ends
 * the rule. */
void conform_model_of(struct conform_model *m, const struct one_op *o);
void conform_model_done(struct conform_model *m);

/* y = x + a constant, zeros of float32 or quant8 with so many elements; the expected values are
 * zeros. */
void conform_model_large(struct conform_model *m, enum dtype type, uint32_t elements);

/* Computes example.expected with the reference. */
void conform_model_expect(struct conform_model *m);

/* The first of the small texts that the driver supports: RELU, or else another one, of HAL 1.0
 * where there is one; and the first of them that is ADD, of two inputs of four elements.  NULL:
 * none, which is then why the rule is not applicable. */
const struct one_op *conform_relu(struct conform *c);
const struct one_op *conform_sum(struct conform *c);

/* Weights for random graphs of operations that the driver supports, by the built-in models of one
 * operation.  Returns the number of these operations. */
int conform_supported_operations(struct conform *c, struct randgraph_weights *ret);

/* Whether the rule's version has the feature level that the model needs. */
bool conform_model_is_of(const struct conform_model *m, const struct conform *c);

/* harness/conform/conform_texts.c: operations whose results are exact in every arithmetic.  Those
 * before conform_n_small_texts have one output of few elements, and are in the order in which to
 * try them.  The second list: those with outputs without elements. */
extern const struct one_op conform_texts[], conform_empty_texts[];
extern const int conform_n_texts, conform_n_small_texts, conform_n_empty_texts;

#endif
