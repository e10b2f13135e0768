/* A model as it is benchmarked: which inputs get data, and which outputs are the state of a
 * recurrent model, that is, are the inputs of the next inference of a sequence.
 *
 * A state is an output named NAME_out beside an input NAME, of the same type and shape: so the
 * variables of .tflite models are imported. */
#ifndef HARNESS_BENCH_MODEL_H
#define HARNESS_BENCH_MODEL_H

#include "harness/bench/bench_types.h"
#include "specs/specs.h"

struct bench_state {
    uint32_t in, out; /* index among the model's inputs, among its outputs */
};
struct bench_model {
    struct arena *arena;
    struct model model;
    const char *name;
    struct tensor *in, *out; /* as they are passed, with complete shapes, without data */
    uint32_t n_data, n_results, n_states;
    uint32_t *data;    /* indexes of the inputs that are no states */
    uint32_t *results; /* of the outputs that are no states */
    struct bench_state *state;
};

/* Loads the model of an entry.  limits may be NULL.  WHY_INVALID: it cannot be loaded, is not
 * legal, or its input does not have the list's size. */
int bench_model_load(const struct bench_entry *e, bool relaxed, const struct specs_options *limits,
                     struct bench_model *ret_model, struct why *w);
/* The same of a model in memory, which is copied. */
int bench_model_of(const char *name, const struct model *m, struct bench_model *ret_model,
                   struct why *w);
void bench_model_done(struct bench_model *m);

/* Writes what a state holds at the begin of a sequence: the value 0. */
void bench_model_reset(const struct tensor *t, void *to);

#endif
