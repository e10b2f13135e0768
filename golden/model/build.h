/* Builds small models for tests, operand by operand.  All memory, constants included, belongs to
 * the builder's arena and is valid until build_done().  A function that runs out of memory, or
 * gets the name of no operation, aborts.  Neither indexes nor counts are checked: a graph has room
 * for BUILD_MAX operands, operations, inputs and outputs each. */
#ifndef GOLDEN_BUILD_H
#define GOLDEN_BUILD_H

#include "golden/golden.h"

enum { BUILD_MAX = 320 };

struct build {
    struct arena *arena;
    struct model model;
    struct graph *graph; /* the graph that the functions below add to */
};

/* Starts a model of n_graphs empty graphs and selects graph 0. */
void build_init(struct build *b, uint32_t n_graphs);
/* Frees the arena, and with it the model. */
void build_done(struct build *b);
/* Selects the graph that later calls add to. */
void build_graph(struct build *b, uint32_t index);

/* A struct shape of these dimensions: DIMS(2, 3). */

#define DIMS(...)                                                                                  \
    (struct shape)                                                                                 \
    {                                                                                              \
        sizeof((uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t),                                    \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }

/* Each of these adds an operand and returns its index. */

/* An operand without scale and data.  LIFE_INPUT and LIFE_OUTPUT also append it to the graph's
 * inputs or outputs. */
uint32_t build_operand(struct build *b, enum lifetime life, enum dtype dtype, struct shape shape);
/* The same with a scale and a zero point. */
uint32_t build_quant(struct build *b, enum lifetime life, enum dtype dtype, struct shape shape,
                     float scale, int32_t zero);
/* LIFE_CONSTANT_COPY: copies the tensor's bytes from data. */
uint32_t build_constant(struct build *b, enum dtype dtype, struct shape shape, const void *data);
/* A constant INT32 scalar. */
uint32_t build_int(struct build *b, int32_t value);
/* A reference to graph `graph` of the model, for IF and WHILE. */
uint32_t build_subgraph(struct build *b, uint32_t graph);

/* Appends an operation, by name or by code; copies the operand indexes. */
void build_operation(struct build *b, const char *name, const uint32_t *in, uint32_t n_in,
                     const uint32_t *out, uint32_t n_out);
void build_code(struct build *b, int32_t code, const uint32_t *in, uint32_t n_in,
                const uint32_t *out, uint32_t n_out);

/* build_operation() with lists of indexes: OPERATION(&b, "ADD", IDS(x, y, act), IDS(z)) */
#define IDS(...)                    (const uint32_t[]){ __VA_ARGS__ }, N_IDS(__VA_ARGS__)
#define N_IDS(...)                  sizeof((uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t)
#define OPERATION(b, name, in, out) build_operation(b, name, in, out)

#endif
