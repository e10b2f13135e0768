/* Small models by hand, for tests.  Everything lives in the builder's arena. */
#ifndef TESTS_BUILD_H
#define TESTS_BUILD_H

#include "golden/golden.h"

enum { BUILD_MAX = 320 };

struct build {
    struct arena *arena;
    struct model model;
    struct graph *graph; /* the one being built */
};

/* A model with n_graphs empty graphs; [0] is being built. */
void build_init(struct build *b, uint32_t n_graphs);
void build_done(struct build *b);
void build_graph(struct build *b, uint32_t index);

#define DIMS(...)                                                                                  \
    (struct shape)                                                                                 \
    {                                                                                              \
        sizeof((uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t),                                    \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }

/* All return operand indexes. */
uint32_t build_operand(struct build *b, enum lifetime life, enum dtype dtype, struct shape shape);
uint32_t build_quant(struct build *b, enum lifetime life, enum dtype dtype, struct shape shape,
                     float scale, int32_t zero);
uint32_t build_constant(struct build *b, enum dtype dtype, struct shape shape, const void *data);
uint32_t build_int(struct build *b, int32_t value); /* INT32 scalar */
uint32_t build_subgraph(struct build *b, uint32_t graph);
void build_operation(struct build *b, const char *name, const uint32_t *in, uint32_t n_in,
                     const uint32_t *out, uint32_t n_out);

void build_code(struct build *b, int32_t code, const uint32_t *in, uint32_t n_in,
                const uint32_t *out, uint32_t n_out);

/* OPERATION(&b, "ADD", IDS(x, y, act), IDS(z)) */
#define IDS(...)                    (const uint32_t[]){ __VA_ARGS__ }, N_IDS(__VA_ARGS__)
#define N_IDS(...)                  sizeof((uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t)
#define OPERATION(b, name, in, out) build_operation(b, name, in, out)

#endif
