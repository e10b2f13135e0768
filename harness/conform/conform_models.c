#include "harness/conform/conform_models.h"
#include "harness/conform/must.h"

#include <stdio.h>
#include <string.h>

#include "randgraph/randgraph.h"
#include "sim/hal/convert.h"

enum { SEED = 41, PER_OP = 2, LARGER = 24, MAX_MODELS = 400 };

struct conform_model conform_models[MAX_MODELS];
int conform_n_models;

static struct why w;

void conform_model_init(struct conform_model *m, const struct example *e, struct arena *a)
{
    *m = (struct conform_model){ .arena = a, .example = *e };
    m->level = model_prepare(&m->example.model, NULL, &w);
    MUST(m->level > 0);
    MUST(convert_to_hal(&m->example.model, a, &m->hal, &w) == 0);
    snprintf(m->name, sizeof m->name, "%s (level %d)", e->name, m->level);
}

void conform_model_of(struct conform_model *m, const struct one_op *o)
{
    struct tensor in[ONE_OP_INPUTS], expected[ONE_OP_OUTPUTS];
    struct build b;

    one_op_build(&b, o, in, expected);
    struct example e = { .name = o->name,
                         .model = b.model,
                         .in = arena_copy(b.arena, in, sizeof in),
                         .expected = arena_copy(b.arena, expected, sizeof expected) };
    conform_model_init(m, &e, b.arena);
    m->is_exact = true;
}

void conform_model_done(struct conform_model *m)
{
    arena_free(m->arena);
}

void conform_model_expect(struct conform_model *m)
{
    struct exec_options options = { .arena = m->arena };
    struct plan *plan = NULL;
    struct result r;

    MUST(plan_new(&m->example.model, &plan, &w) == 0);
    MUST(plan_run(plan, m->example.in, &options, &r, &w) == 0);
    m->example.expected = arena_copy(m->arena, r.out, r.n * sizeof *r.out);
    plan_free(plan);
}

static const struct one_op *choose(struct conform *c, const struct one_op *o, int n)
{
    for (int i = 0; i < n; i++) {
        struct conform_model m;
        conform_model_of(&m, &o[i]);
        bool is_supported = conform_model_is_of(&m, c) && conform_supports(c, c->version, &m.hal);
        conform_model_done(&m);
        if (is_supported)
            return &o[i];
    }
    conform_not_applicable(c, "the driver supports none of %d small operations, such as %s and %s",
                           n, o[0].name, o[n - 1].name);
    return NULL;
}

const struct one_op *conform_relu(struct conform *c)
{
    static const struct one_op list[] = {
        { "RELU of float32", "RELU", 1, { "F32[4]: -1 0 1 2" }, "F32[4]: 0 0 1 2" },
        { "RELU of quant8",
          "RELU",
          1,
          { "U8[4]*1@128: 126 128 130 255" },
          "U8[4]*1@128: 128 128 130 255" },
        { "RELU6 of float32", "RELU6", 1, { "F32[4]: -1 0 1 7" }, "F32[4]: 0 0 1 6" },
        { "ADD of float32",
          "ADD",
          1,
          { "F32[4]: 0 1 2 3", "F32[4]: 1 1 1 1", "INT32: 0" },
          "F32[4]: 1 2 3 4" },
        { "ADD of quant8",
          "ADD",
          1,
          { "U8[4]*1@0: 0 1 2 3", "U8[4]*1@0: 1 1 1 1", "INT32: 0" },
          "U8[4]*1@0: 1 2 3 4" },
        { "MUL of float32",
          "MUL",
          1,
          { "F32[4]: 0 1 2 3", "F32[4]: 1 2 2 2", "INT32: 0" },
          "F32[4]: 0 2 4 6" },
        { "FLOOR of float32", "FLOOR", 1, { "F32[4]: -0.5 0 1 2.5" }, "F32[4]: -1 0 1 2" },
        { "RESHAPE of float32",
          "RESHAPE",
          1,
          { "F32[2,2]: 1 2 3 4", "const I32[1]: 4" },
          "F32[4]: 1 2 3 4" },
        { "RESHAPE of quant8",
          "RESHAPE",
          1,
          { "U8[2,2]*1@0: 1 2 3 4", "const I32[1]: 4" },
          "U8[4]*1@0: 1 2 3 4" },
        { "FULLY_CONNECTED of float32",
          "FULLY_CONNECTED",
          1,
          { "F32[1,2]: 3 4", "const F32[2,2]: 1 0 0 1", "const F32[2]: 1 1", "INT32: 0" },
          "F32[1,2]: 4 5" },
        { "SUB of float32",
          "SUB",
          2,
          { "F32[4]: 0 1 2 3", "F32[4]: 1 1 1 1", "INT32: 0" },
          "F32[4]: -1 0 1 2" },
        { "RELU of float16", "RELU", 3, { "F16[4]: -1 0 1 2" }, "F16[4]: 0 0 1 2" },
        { "ADD of float16",
          "ADD",
          3,
          { "F16[4]: 0 1 2 3", "F16[4]: 1 1 1 1", "INT32: 0" },
          "F16[4]: 1 2 3 4" },
        { "RELU of quant8_signed",
          "RELU",
          4,
          { "S8[4]*1@0: -128 -1 1 127" },
          "S8[4]*1@0: 0 0 1 127" },
        { "ADD of int32",
          "ADD",
          4,
          { "I32[4]: 0 1 2 3", "I32[4]: 1 1 1 1", "INT32: 0" },
          "I32[4]: 1 2 3 4" },
    };

    return choose(c, list, COUNT(list));
}

const struct one_op *conform_sum(struct conform *c)
{
    static const struct one_op list[] = {
        { "ADD of float32",
          "ADD",
          1,
          { "F32[4]: 0 1 2 3", "F32[4]: 1 1 1 1", "INT32: 0" },
          "F32[4]: 1 2 3 4" },
        { "ADD of quant8",
          "ADD",
          1,
          { "U8[4]*1@0: 0 1 2 3", "U8[4]*1@0: 1 1 1 1", "INT32: 0" },
          "U8[4]*1@0: 1 2 3 4" },
        { "ADD of float16",
          "ADD",
          3,
          { "F16[4]: 0 1 2 3", "F16[4]: 1 1 1 1", "INT32: 0" },
          "F16[4]: 1 2 3 4" },
        { "ADD of int32",
          "ADD",
          4,
          { "I32[4]: 0 1 2 3", "I32[4]: 1 1 1 1", "INT32: 0" },
          "I32[4]: 1 2 3 4" },
    };

    return choose(c, list, COUNT(list));
}

bool conform_model_is_of(const struct conform_model *m, const struct conform *c)
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
    MUST(conform_n_models < MAX_MODELS);
    struct conform_model *m = &conform_models[conform_n_models++];
    conform_model_init(m, &e, a);
    snprintf(m->name, sizeof m->name, "%s (%s, level %d)", e.name, only ? only : "any", m->level);
}

static int users; /* of the list */

void conform_models_draw(void)
{
    if (users++)
        return;
    for (int i = 0; i < op_table_n; i++)
        for (int k = 0; k < PER_OP; k++)
            draw(op_table[i]->name, k ? 8 : (int) op_table[i]->since, 1, (uint64_t) k);
    for (uint64_t i = 0; i < LARGER; i++)
        draw(NULL, 1 + (int) (i % 8), 3 + (uint32_t) i % 5, i);
}

void conform_models_free(void)
{
    users--;
    while (!users && conform_n_models)
        conform_model_done(&conform_models[--conform_n_models]);
}
