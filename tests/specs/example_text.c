#include "tests/specs/example_text.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "specs/op_names.h"

static void print_values(const struct tensor *t, FILE *to)
{
    for (size_t n = t->data ? tensor_count(t) : 0, i = 0; i < n; i++) {
        const struct codec *c = dtype_info[t->dtype].codec;
        double value;
        c->widen((const char *) t->data + i * c->size, 1, 0, 1, &value);
        if (c->size == sizeof(int64_t)) /* not exact as double */
            fprintf(to, " %lld", (long long) ((const int64_t *) t->data)[i]);
        else
            fprintf(to, " %.9g", value);
    }
}

static const struct tensor *value_of(const struct example *e, uint32_t i, bool *ret_ignored)
{
    const struct graph *g = &e->model.graph[0];

    for (uint32_t k = 0; k < g->n_inputs; k++)
        if (g->input[k] == i)
            return &e->in[k];
    for (uint32_t k = 0; k < g->n_outputs; k++) {
        if (g->output[k] == i) {
            *ret_ignored = e->ignored[k];
            return &e->expected[k];
        }
    }
    return NULL;
}

static void print_operand(const struct example *e, uint32_t g, uint32_t i, FILE *to)
{
    const struct operand *o = &e->model.graph[g].operand[i];
    const struct tensor *t = &o->tensor;
    bool ignored = false;
    const struct tensor *value = g == 0 ? value_of(e, i, &ignored) : NULL;
    char shape[SHAPE_TEXT], type[EXTENSION_TEXT];

    fprintf(to, "  %u %s %s %s %s", i, o->name ? o->name : "-", type_name(t->dtype, type),
            shape_text(&t->shape, shape), lifetime_name[o->life]);
    if (t->scale != 0 || t->zero != 0)
        fprintf(to, " scale %g zero %d", (double) t->scale, t->zero);
    for (uint32_t k = 0; k < t->n_channels; k++)
        fprintf(to, "%s%g", k ? "," : " scales ", (double) t->channel_scale[k]);
    for (size_t k = 0; k < t->extension_length; k++)
        fprintf(to, "%s%02x", k ? "" : " data ", ((const uint8_t *) t->extension)[k]);
    if (o->life == LIFE_SUBGRAPH)
        fprintf(to, " graph %u", o->subgraph);
    fprintf(to, "%s:", ignored ? " ignored" : "");
    print_values(value ? value : t, to);
    fputc('\n', to);
}

void example_print(const struct example *e, FILE *to)
{
    fprintf(to, "%s %s%s%s", e->name, e->since, e->model.relaxed ? " relaxed" : "",
            e->expect_failure ? " fails" : "");
    if (e->multinomial_tolerance > 0)
        fprintf(to, " tolerance %g", e->multinomial_tolerance);
    fputc('\n', to);
    for (uint32_t g = 0; g < e->model.n_graphs; g++) {
        const struct graph *graph = &e->model.graph[g];
        if (g > 0)
            fprintf(to, "  graph %u\n", g);
        for (uint32_t i = 0; i < graph->n_operands; i++)
            print_operand(e, g, i, to);
        for (uint32_t i = 0; i < graph->n_operations; i++) {
            const struct operation *op = &graph->operation[i];
            char text[EXTENSION_TEXT];
            fprintf(to, "  %s", op_name(op->code, text));
            for (uint32_t k = 0; k < op->n_in; k++)
                fprintf(to, " %u", op->in[k]);
            fputs(" ->", to);
            for (uint32_t k = 0; k < op->n_out; k++)
                fprintf(to, " %u", op->out[k]);
            fputc('\n', to);
        }
    }
}

static int same_value(const struct tensor *a, const struct tensor *b, struct why *w)
{
    char one[SHAPE_TEXT], other[SHAPE_TEXT];

    REQUIRE(w, a->dtype == b->dtype, "types %d and %d", a->dtype, b->dtype);
    REQUIRE(w, (a->data && tensor_count(a) > 0) == (b->data && tensor_count(b) > 0),
            "only one of them has values");
    if (!a->data || tensor_count(a) == 0)
        return 0;
    REQUIRE(w, shape_equal(&a->shape, &b->shape), "shapes %s and %s", shape_text(&a->shape, one),
            shape_text(&b->shape, other));
    REQUIRE(w, memcmp(a->data, b->data, tensor_bytes(a)) == 0, "values differ");
    return 0;
}

static int same_operand(const struct operand *a, const struct operand *b, struct why *w)
{
    const struct tensor *s = &a->tensor, *t = &b->tensor;

    REQUIRE(w, a->life == b->life, "lifetimes %d and %d", a->life, b->life);
    REQUIRE(w, s->dtype == t->dtype && shape_equal(&s->shape, &t->shape), "types differ");
    REQUIRE(w, s->scale == t->scale && s->zero == t->zero, "scale or zero point differ");
    REQUIRE(w,
            s->extension_length == t->extension_length &&
                (!s->extension_length || !memcmp(s->extension, t->extension, s->extension_length)),
            "extension data differ");
    REQUIRE(w, s->n_channels == t->n_channels && s->channel_dim == t->channel_dim,
            "scales along different dimensions");
    for (uint32_t i = 0; i < s->n_channels; i++)
        REQUIRE(w, s->channel_scale[i] == t->channel_scale[i], "scale %u differs", i);
    REQUIRE(w, a->consumers == b->consumers, "%u and %u consumers", a->consumers, b->consumers);
    return same_value(s, t, w);
}

struct pairing {
    const struct example *a, *b;
    uint32_t *of; /* per graph of a: its graph of b, + 1; 0: not compared yet */
};

static int same_graph(struct pairing *p, uint32_t g, uint32_t h, struct why *w);

static int same_operands(struct pairing *p, uint32_t g, const uint32_t *i, uint32_t n, uint32_t h,
                         const uint32_t *k, uint32_t m, struct why *w)
{
    REQUIRE(w, n == m, "%u and %u operands", n, m);
    for (uint32_t at = 0; at < n; at++) {
        const struct operand *a = &p->a->model.graph[g].operand[i[at]];
        const struct operand *b = &p->b->model.graph[h].operand[k[at]];
        if (same_operand(a, b, w) < 0)
            return why_prefix(w, "operand %u of graph %u", i[at], g);
        if (a->life == LIFE_SUBGRAPH)
            TRY(same_graph(p, a->subgraph, b->subgraph, w));
    }
    return 0;
}

static int same_graph(struct pairing *p, uint32_t g, uint32_t h, struct why *w)
{
    const struct graph *a = &p->a->model.graph[g], *b = &p->b->model.graph[h];

    if (p->of[g] > 0) {
        REQUIRE(w, p->of[g] == h + 1, "graph %u corresponds to two graphs of the other model", g);
        return 0;
    }
    p->of[g] = h + 1;
    TRY(same_operands(p, g, a->input, a->n_inputs, h, b->input, b->n_inputs, w));
    TRY(same_operands(p, g, a->output, a->n_outputs, h, b->output, b->n_outputs, w));
    REQUIRE(w, a->n_operations == b->n_operations, "%u and %u operations", a->n_operations,
            b->n_operations);
    for (uint32_t i = 0; i < a->n_operations; i++) {
        const struct operation *x = &a->operation[i], *y = &b->operation[i];
        REQUIRE(w, x->code == y->code, "operation %u: %d and %d", i, x->code, y->code);
        TRY(same_operands(p, g, x->in, x->n_in, h, y->in, y->n_in, w));
        TRY(same_operands(p, g, x->out, x->n_out, h, y->out, y->n_out, w));
    }
    return 0;
}

int example_same(const struct example *a, const struct example *b, struct why *w)
{
    const struct graph *g = &a->model.graph[0];
    uint32_t *of = calloc(a->model.n_graphs, sizeof *of);

    if (!of)
        return why_no_memory(w);
    int result = same_graph(&(struct pairing){ a, b, of }, 0, 0, w);
    free(of);
    TRY(result);
    for (uint32_t i = 0; i < g->n_inputs; i++)
        if (same_value(&a->in[i], &b->in[i], w) < 0)
            return why_prefix(w, "input %u", i);
    for (uint32_t i = 0; i < g->n_outputs; i++) {
        bool compared = !a->ignored[i] && a->expected[i].data;
        REQUIRE(w, compared == (!b->ignored[i] && b->expected[i].data),
                "output %u: only one of them is compared", i);
        if (compared && same_value(&a->expected[i], &b->expected[i], w) < 0)
            return why_prefix(w, "output %u", i);
    }
    REQUIRE(w, a->model.relaxed == b->model.relaxed, "relaxed differs");
    REQUIRE(w, a->expect_failure == b->expect_failure, "expect_failure differs");
    REQUIRE(w, strcmp(a->since, b->since) == 0 || a->model.relaxed, "since %s and %s", a->since,
            b->since);
    REQUIRE(w, a->multinomial_tolerance == b->multinomial_tolerance, "tolerance differs");
    return 0;
}
