/* Models for conformance tests: random models of every operation, and single operations written as
 * text (tests/support/one_op.h) with their expected results. */
#ifndef TESTS_VTS_MODELS_H
#define TESTS_VTS_MODELS_H

#include "tests/support/one_op.h"
#include "tests/vts_matrix.h"

struct vts_model {
    struct arena *arena;
    char name[100];
    struct example example; /* expected: shapes; data NULL where the values are not known */
    struct hal_model hal;   /* the example's model, in the same arena */
    int level;              /* feature level that it needs */
};

/* A list of random models: of each operation, one at the feature level that introduced it and one
 * at the highest, and larger models at each level.  Drawn before the first cell; the same in every
 * run. */
extern struct vts_model vts_models[];
extern int vts_n_models;
void vts_models_draw(void);
void vts_models_free(void);

/* The model of an example, which lies in the arena; takes the arena over. */
void vts_model_init(struct vts_model *m, const struct example *e, struct arena *a);
/* The model of a single operation written as text. */
void vts_model_of(struct vts_model *m, const struct one_op *o);
void vts_model_done(struct vts_model *m);

/* Computes example.expected with the reference. */
void vts_model_expect(struct vts_model *m);

/* Operations of HAL 1.0 on four elements, in a type that the cell's device supports: RELU, and ADD
 * of two inputs. */
const struct one_op *vts_relu(const struct vts_cell *c);
const struct one_op *vts_sum(const struct vts_cell *c);

/* Whether the cell's version has the feature level that the model needs. */
bool vts_model_is_of(const struct vts_model *m, const struct vts_cell *c);

/* tests/vts_texts.c: operations whose results are exact in every arithmetic; the second list, those
 * with outputs without elements. */
extern const struct one_op vts_texts[], vts_empty_texts[];
extern const int vts_n_texts, vts_n_empty_texts;

#endif
