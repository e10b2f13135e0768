#include "tests/vts_models.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "randgraph/randgraph.h"
#include "sim/hal/convert.h"

enum { SEED = 41, PER_OP = 2, LARGER = 24, MAX_MODELS = 400 };

struct vts_model vts_models[MAX_MODELS];
int vts_n_models;

static struct why w;

void vts_model_init(struct vts_model *m, const struct example *e, struct arena *a)
{
    *m = (struct vts_model){ .arena = a, .example = *e };
    m->level = model_prepare(&m->example.model, NULL, &w);
    ck_assert_msg(m->level > 0, "%s: %s", e->name, w.text);
    ck_assert_int_eq(convert_to_hal(&m->example.model, a, &m->hal, &w), 0);
    snprintf(m->name, sizeof m->name, "%s (level %d)", e->name, m->level);
}

void vts_model_of(struct vts_model *m, const struct one_op *o)
{
    struct one_op_run r;

    one_op_build(&r, o);
    struct example e = { .name = o->name,
                         .model = r.b.model,
                         .in = arena_copy(r.b.arena, r.arg, sizeof r.arg),
                         .expected = arena_copy(r.b.arena, r.expected, sizeof r.expected) };
    vts_model_init(m, &e, r.b.arena);
}

void vts_model_done(struct vts_model *m)
{
    arena_free(m->arena);
}

void vts_model_expect(struct vts_model *m)
{
    struct exec_options options = { .arena = m->arena };
    struct plan *plan = NULL;
    struct result r;

    ck_assert_msg(plan_new(&m->example.model, &plan, &w) == 0, "%s: %s", m->name, w.text);
    ck_assert_msg(plan_run(plan, m->example.in, &options, &r, &w) == 0, "%s: %s", m->name, w.text);
    m->example.expected = arena_copy(m->arena, r.out, r.n * sizeof *r.out);
    plan_free(plan);
}

const struct one_op *vts_relu(const struct vts_cell *c)
{
    static const struct one_op of_float32 = { "RELU of float32",
                                              "RELU",
                                              1,
                                              { "F32[4]: -1 0 1 2" },
                                              "F32[4]: 0 0 1 2" },
                               of_quant8 = { "RELU of quant8",
                                             "RELU",
                                             1,
                                             { "U8[4]*1@128: 126 128 130 255" },
                                             "U8[4]*1@128: 128 128 130 255" };

    return strcmp(c->device, "dsp") == 0 ? &of_quant8 : &of_float32;
}

const struct one_op *vts_sum(const struct vts_cell *c)
{
    static const struct one_op of_float32 = { "ADD of float32",
                                              "ADD",
                                              1,
                                              { "F32[4]: 0 1 2 3", "F32[4]: 1 1 1 1", "INT32: 0" },
                                              "F32[4]: 1 2 3 4" },
                               of_quant8 = { "ADD of quant8",
                                             "ADD",
                                             1,
                                             { "U8[4]*1@0: 0 1 2 3", "U8[4]*1@0: 1 1 1 1",
                                               "INT32: 0" },
                                             "U8[4]*1@0: 1 2 3 4" };

    return strcmp(c->device, "dsp") == 0 ? &of_quant8 : &of_float32;
}

bool vts_model_is_of(const struct vts_model *m, const struct vts_cell *c)
{
    return m->level <= hal_level(c->version);
}

static void draw(const char *only, int max_level, uint32_t ops, uint64_t index)
{
    struct randgraph_options options = randgraph_default;
    struct arena *a = arena_new(0);
    struct example e;

    options.only = only;
    options.max_level = max_level;
    options.relaxed = max_level > 1 ? options.relaxed : 0;
    options.min_ops = options.max_ops = ops;
    options.control_flow = max_level >= 4 ? 0.5 : 0;
    options.max_dim = 5;
    if (randgraph_make(&options, SEED, index, a, &e, &w) < 0) {
        fprintf(stderr, "%s at level %d: %s\n", only ? only : "any", max_level, w.text);
        arena_free(a);
        return;
    }
    ck_assert_int_lt(vts_n_models, MAX_MODELS);
    struct vts_model *m = &vts_models[vts_n_models++];
    vts_model_init(m, &e, a);
    snprintf(m->name, sizeof m->name, "%s (%s, level %d)", e.name, only ? only : "any", m->level);
}

void vts_models_draw(void)
{
    for (int i = 0; i < op_table_n; i++)
        for (int k = 0; k < PER_OP; k++)
            draw(op_table[i]->name, k ? 8 : (int) op_table[i]->since, 1, (uint64_t) k);
    for (uint64_t i = 0; i < LARGER; i++)
        draw(NULL, 1 + (int) (i % 8), 3 + (uint32_t) i % 5, i);
}

void vts_models_free(void)
{
    while (vts_n_models)
        vts_model_done(&vts_models[--vts_n_models]);
}
