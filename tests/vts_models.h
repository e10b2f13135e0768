/* Models for conformance tests: random ones of every operation, and single operations written as
 * text with what must come out. */
#ifndef TESTS_VTS_MODELS_H
#define TESTS_VTS_MODELS_H

#include "tests/support/one_op.h"
#include "tests/vts_matrix.h"

struct vts_model {
    struct arena *arena;
    char name[100];
    struct example example; /* expected: shapes; data NULL where it is not known */
    struct hal_model hal;
    int level; /* that it needs */
};

/* The list: random models of each operation at the level of its beginning and at all, and larger
 * ones at each level; made before the first cell. */
extern struct vts_model vts_models[];
extern int vts_n_models;
void vts_models_draw(void);
void vts_models_free(void);

/* One model of an example (which lives in the arena, taken over), or of a text. */
void vts_model_init(struct vts_model *m, const struct example *e, struct arena *a);
void vts_model_of(struct vts_model *m, const struct one_op *o);
void vts_model_done(struct vts_model *m);

/* Puts what the reference computes into example.expected. */
void vts_model_expect(struct vts_model *m);

/* Of four elements in a type that the device supports, of the first version: a RELU, and a sum of
 * two inputs with a constant. */
const struct one_op *vts_relu(const struct vts_cell *c);
const struct one_op *vts_sum(const struct vts_cell *c);

/* Whether the cell's version has what the model needs. */
bool vts_model_is_of(const struct vts_model *m, const struct vts_cell *c);

/* tests/vts_texts.c: with exact results; and some without elements. */
extern const struct one_op vts_texts[], vts_empty_texts[];
extern const int vts_n_texts, vts_n_empty_texts;

#endif
