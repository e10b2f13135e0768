/* The hash of a model's structure, for statistics: models that differ in weights only have one. */
#include <pthread.h>
#include <sha2.h>
#include <string.h>

#include "golden/model/extension.h"
#include "runtime/model/model_builder.h"

static void add_number(SHA2_CTX *c, uint32_t x)
{
    const uint8_t bytes[] = { (uint8_t) x, (uint8_t) (x >> 8), (uint8_t) (x >> 16),
                              (uint8_t) (x >> 24) };

    SHA256Update(c, bytes, sizeof bytes);
}

static void add_float(SHA2_CTX *c, float x)
{
    uint32_t bits;

    memcpy(&bits, &x, sizeof bits);
    add_number(c, bits);
}

/* With its length, so that lists cannot run into each other. */
static void add_list(SHA2_CTX *c, const uint32_t *list, uint32_t n)
{
    add_number(c, n);
    for (uint32_t i = 0; i < n; i++)
        add_number(c, list[i]);
}

static void add_operand(SHA2_CTX *c, const struct operand *o)
{
    const struct tensor *t = &o->tensor;

    add_number(c, (uint32_t) t->dtype);
    add_number(c, (uint32_t) o->foreign);
    add_list(c, t->shape.dim, t->shape.rank);
    add_float(c, t->scale);
    add_number(c, (uint32_t) t->zero);
    add_number(c, (uint32_t) o->life);
    add_number(c, t->channel_dim);
    add_number(c, t->n_channels);
    for (uint32_t i = 0; i < t->n_channels; i++)
        add_float(c, t->channel_scale[i]);
    add_number(c, (uint32_t) t->extension_length);
    if (t->extension_length)
        SHA256Update(c, t->extension, t->extension_length);
}

static void add_graph(SHA2_CTX *c, const struct graph *g, const uint32_t *n_in)
{
    add_number(c, g->n_operands);
    for (uint32_t i = 0; i < g->n_operands; i++)
        add_operand(c, &g->operand[i]);
    add_number(c, g->n_operations);
    for (uint32_t i = 0; i < g->n_operations; i++) {
        const struct operation *o = &g->operation[i];
        add_number(c, (uint32_t) o->code);
        add_list(c, o->in, n_in ? n_in[i] : o->n_in);
        add_list(c, o->out, o->n_out);
    }
    add_list(c, g->input, g->n_inputs);
    add_list(c, g->output, g->n_outputs);
}

const uint8_t *model_hash(const ANeuralNetworksModel *m)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    struct model_builder *b = m->builder;
    SHA2_CTX c;

    pthread_mutex_lock(&lock);
    if (!b->has_hash) {
        SHA256Init(&c);
        for (uint32_t k = 0; k < m->model.n_graphs; k++)
            add_graph(&c, &m->model.graph[k], k ? NULL : b->n_in);
        SHA256Final(b->hash, &c);
        b->has_hash = true;
    }
    pthread_mutex_unlock(&lock);
    return b->hash;
}
