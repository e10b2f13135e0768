/* The hash of a model's structure, for statistics: models that differ in weights only have one. */
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

void model_hash(const ANeuralNetworksModel *m, uint8_t ret_hash[32])
{
    SHA2_CTX c;

    SHA256Init(&c);
    for (uint32_t k = 0; k < m->model.n_graphs; k++) {
        const struct graph *g = &m->model.graph[k];
        add_number(&c, g->n_operands);
        for (uint32_t i = 0; i < g->n_operands; i++)
            add_operand(&c, &g->operand[i]);
        add_number(&c, g->n_operations);
        for (uint32_t i = 0; i < g->n_operations; i++) {
            add_number(&c, (uint32_t) g->operation[i].code);
            add_list(&c, g->operation[i].in, g->operation[i].n_in);
            add_list(&c, g->operation[i].out, g->operation[i].n_out);
        }
        add_list(&c, g->input, g->n_inputs);
        add_list(&c, g->output, g->n_outputs);
    }
    SHA256Final(ret_hash, &c);
}
