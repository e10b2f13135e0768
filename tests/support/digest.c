#include "tests/support/digest.h"

#include <string.h>

static uint64_t mix(uint64_t digest, uint64_t x)
{
    digest = (digest ^ x) * 0x9e3779b97f4a7c15;
    return digest ^ digest >> 29;
}

uint64_t digest_bytes(uint64_t digest, const void *bytes, size_t n)
{
    const unsigned char *p = bytes;

    for (; p && n >= 8; n -= 8, p += 8) {
        uint64_t x;
        memcpy(&x, p, sizeof x);
        digest = mix(digest, x);
    }
    for (size_t i = 0; p && i < n; i++)
        digest = mix(digest, p[i]);
    return mix(digest, n);
}

static uint64_t mix_tensor(uint64_t digest, const struct tensor *t, size_t length)
{
    digest = mix(mix(digest, t->dtype), t->shape.rank);
    digest = digest_bytes(digest, t->shape.dim, t->shape.rank * sizeof t->shape.dim[0]);
    digest = digest_bytes(digest, &t->scale, sizeof t->scale);
    digest = mix(digest, (uint32_t) t->zero);
    if (t->channel_scale)
        digest = digest_bytes(digest, t->channel_scale, t->n_channels * sizeof *t->channel_scale);
    return t->data ? digest_bytes(digest, t->data, length) : digest;
}

static uint64_t mix_graph(uint64_t digest, const struct graph *g)
{
    for (uint32_t i = 0; i < g->n_operands; i++) {
        const struct operand *o = &g->operand[i];
        digest = mix(mix(digest, o->life), o->subgraph);
        digest = mix_tensor(digest, &o->tensor, o->length);
    }
    for (uint32_t i = 0; i < g->n_operations; i++) {
        const struct operation *o = &g->operation[i];
        digest = mix(digest, (uint32_t) o->code);
        digest = digest_bytes(digest, o->in, o->n_in * sizeof *o->in);
        digest = digest_bytes(digest, o->out, o->n_out * sizeof *o->out);
    }
    digest = digest_bytes(digest, g->input, g->n_inputs * sizeof *g->input);
    return digest_bytes(digest, g->output, g->n_outputs * sizeof *g->output);
}

uint64_t digest_example(uint64_t digest, const struct example *e)
{
    digest = mix(digest, e->model.relaxed);
    for (uint32_t i = 0; i < e->model.n_graphs; i++)
        digest = mix_graph(digest, &e->model.graph[i]);
    for (uint32_t i = 0; i < e->model.graph[0].n_inputs; i++)
        digest = mix_tensor(digest, &e->in[i], tensor_bytes(&e->in[i]));
    return digest;
}

uint64_t digest_result(uint64_t digest, const struct result *r)
{
    for (uint32_t i = 0; i < r->n; i++)
        digest = mix_tensor(digest, &r->out[i], tensor_bytes(&r->out[i]));
    return digest;
}
