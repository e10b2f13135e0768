/* Rules of the suites on arithmetic: models with relaxed float32, quant8_signed results against
 * quant8 ones, loops that do not end. */
#include <stdlib.h>
#include <string.h>

#include "golden/model/op.h"
#include "harness/conform/conform_models.h"
#include "harness/conform/conform_requests.h"
#include "harness/conform/must.h"
#include "harness/conform/signed_example.h"
#include "sim/client/hal_calls.h"
#include "sim/hal/convert.h"

/* ---- relaxed float32 */

static void run_kinds(struct conform *c, const struct conform_model *m,
                      struct hal_prepared_model *p)
{
    struct hal_execution_config config = client_config();
    struct arena *a = arena_new(0);
    struct conform_request r;

    for (int k = 0; k < 2 * conform_n_kinds; k++) {
        const struct conform_kind *kind = &conform_kinds[k / 2];
        if ((k % 2 && c->version < HAL_1_2) || !conform_can_run(c, p, kind, c->version))
            continue;
        conform_request(&m->example, a, &r);
        config.measure = k % 2;
        enum hal_status s = kind->run(p, c->version, &r, &config);
        EXPECT(c, s == HAL_NONE && conform_outputs_are(&r, m->example.expected),
               "%s with the relaxed flag, %s execution: %s, or wrong results", m->name, kind->name,
               hal_status_name(s));
    }
    arena_free(a);
}

static void relaxed(struct conform *c, const void *data)
{
    struct conform_model m;

    (void) data;
    for (int i = 0; i < conform_n_texts; i++) {
        conform_model_of(&m, &conform_texts[i]);
        m.hal.relaxed = true;
        conform_doing(c, "%s with the relaxed flag", m.name);
        struct hal_prepared_model *p =
            conform_is_mine(c, (uint32_t) i) && conform_model_is_of(&m, c)
                ? conform_prepare_supported(c, &m.hal)
                : NULL;
        if (p) {
            run_kinds(c, &m, p);
            p->methods->release(p);
        }
        conform_model_done(&m);
    }
}

/* ---- coupling of quant8 and quant8_signed */

/* For conform_models[i] of a single quant8 operation, the same model in quant8_signed; arena NULL:
 * none, as where the operation has an operand that must be quant8. */
static struct conform_model *signed_model;

static bool has_quant8(const struct graph *g)
{
    for (uint32_t i = 0; i < g->n_operands; i++)
        if (g->operand[i].tensor.dtype == DT_U8)
            return true;
    return false;
}

static void make_signed(const struct conform_model *m, struct conform_model *ret)
{
    const struct graph *g = &m->example.model.graph[0];
    struct arena *a;
    struct example e;
    struct why w;

    if (g->n_operations != 1 || !has_quant8(g))
        return;
    a = arena_new(0);
    signed_example(&m->example, a, &e);
    if (model_validate(&e.model, &w) > 0)
        conform_model_init(ret, &e, a);
    else
        arena_free(a);
}

static void begin(void)
{
    conform_models_draw();
    signed_model = calloc((size_t) conform_n_models + 1, sizeof *signed_model);
    MUST(signed_model);
    for (int i = 0; i < conform_n_models; i++)
        make_signed(&conform_models[i], &signed_model[i]);
}

static void end(void)
{
    for (int i = 0; i < conform_n_models; i++)
        if (signed_model[i].arena)
            conform_model_done(&signed_model[i]);
    free(signed_model);
    signed_model = NULL;
    conform_models_free();
}

static bool is_coupled(const struct conform_model *m, const struct conform_request *u,
                       const struct conform_request *s)
{
    bool ok = true;

    for (uint32_t i = 0; i < u->hal.n_outputs; i++) {
        const struct hal_location *l = &u->outputs[i].location;
        const uint8_t *x = (const uint8_t *) u->pool[1].memory.address + l->offset,
                      *y = (const uint8_t *) s->pool[1].memory.address + l->offset;
        const struct tensor *t = &m->example.expected[i];
        bool quant8 = t->dtype == DT_U8;
        for (size_t k = 0; ok && k < tensor_bytes(t); k++)
            ok = y[k] == (quant8 ? signed_code(x[k]) : x[k]);
    }
    return ok;
}

static void run_both(struct conform *c, const struct conform_model *m,
                     const struct conform_model *other, struct hal_prepared_model *const p[2])
{
    struct hal_execution_config config = client_config();
    struct arena *a = arena_new(0);
    struct conform_request r[2];

    for (int k = 0; k < 2 * conform_n_kinds; k++) {
        const struct conform_kind *kind = &conform_kinds[k / 2];
        if (!conform_can_run(c, p[0], kind, c->version))
            continue;
        conform_request(&m->example, a, &r[0]);
        conform_request(&other->example, a, &r[1]);
        config.measure = k % 2;
        enum hal_status s[2];
        for (int i = 0; i < 2; i++)
            s[i] = kind->run(p[i], c->version, &r[i], &config);
        EXPECT(c, s[0] == s[1] && (s[0] != HAL_NONE || is_coupled(m, &r[0], &r[1])),
               "%s, %s execution: %s in quant8, %s in quant8_signed, or results that differ by "
               "other than 128",
               m->name, kind->name, hal_status_name(s[0]), hal_status_name(s[1]));
    }
    arena_free(a);
}

/* The device must support both models or neither. */
static void couple(struct conform *c, const struct conform_model *m,
                   const struct conform_model *other)
{
    struct hal_prepared_model *p[2];

    conform_doing(c, "%s", m->name);
    p[0] = conform_prepare_supported(c, &m->hal);
    conform_doing(c, "%s in quant8_signed", m->name);
    p[1] = conform_prepare_supported(c, &other->hal);
    if (!p[0] && !p[1])
        return;
    if (EXPECT(c, !p[0] == !p[1], "%s: %ssupported in quant8, %ssupported in quant8_signed",
               m->name, p[0] ? "" : "not ", p[1] ? "" : "not ") &&
        p[0])
        run_both(c, m, other, p);
    for (int i = 0; i < 2; i++)
        if (p[i])
            p[i]->methods->release(p[i]);
}

static void coupling(struct conform *c, const void *data)
{
    (void) data;
    for (int i = 0; i < conform_n_models; i++)
        if (conform_is_mine(c, (uint32_t) i) && signed_model[i].arena &&
            conform_model_is_of(&conform_models[i], c) && conform_model_is_of(&signed_model[i], c))
            couple(c, &conform_models[i], &signed_model[i]);
}

/* ---- loops: while (i >= 0) i = i + 1, in types that saturate or stop changing */

static const struct loop {
    const char *name;
    enum dtype type;
    float scale;
    bool relaxed;
} loops[] = {
    { "loop in float32", DT_F32, 0, false },      { "loop in relaxed float32", DT_F32, 0, true },
    { "loop in float16", DT_F16, 0, false },      { "loop in quant8", DT_U8, 1, false },
    { "loop in quant8_signed", DT_S8, 1, false },
};

static uint32_t add_number(struct build *b, const struct loop *l, double value)
{
    char stored[8];

    dtype_info[l->type].codec->narrow(&value, 1, 0, 1, stored);
    uint32_t i = build_constant(b, l->type, DIMS(1), stored);
    b->graph->operand[i].tensor.scale = l->scale;
    return i;
}

static void build_loop(struct build *b, const struct loop *l)
{
    build_init(b, 3);
    uint32_t cond = build_subgraph(b, 1), body = build_subgraph(b, 2);
    uint32_t x = build_quant(b, LIFE_INPUT, l->type, DIMS(1), l->scale, 0);
    uint32_t y = build_quant(b, LIFE_OUTPUT, l->type, DIMS(1), l->scale, 0);
    OPERATION(b, "WHILE", IDS(cond, body, x), IDS(y));
    build_graph(b, 1);
    x = build_quant(b, LIFE_INPUT, l->type, DIMS(1), l->scale, 0);
    y = build_operand(b, LIFE_OUTPUT, DT_B8, DIMS(1));
    OPERATION(b, "GREATER_EQUAL", IDS(x, add_number(b, l, 0)), IDS(y));
    build_graph(b, 2);
    x = build_quant(b, LIFE_INPUT, l->type, DIMS(1), l->scale, 0);
    uint32_t act = build_int(b, 0);
    y = build_quant(b, LIFE_OUTPUT, l->type, DIMS(1), l->scale, 0);
    OPERATION(b, "ADD", IDS(x, add_number(b, l, 1), act), IDS(y));
    build_graph(b, 0);
    b->model.relaxed = l->relaxed;
    model_count_consumers(&b->model);
}

static void loop_model(struct conform_model *m, const struct loop *l)
{
    struct build b;

    build_loop(&b, l);
    struct tensor *in =
        arena_copy(b.arena, &b.graph->operand[b.graph->input[0]].tensor, sizeof *in);
    struct tensor *out = arena_copy(b.arena, in, sizeof *out);
    in->data = arena_alloc(b.arena, 8, 1);
    struct example e = { .name = l->name, .model = b.model, .in = in, .expected = out };
    conform_model_init(m, &e, b.arena);
}

static void run_loop(struct conform *c, const struct conform_model *m, struct hal_prepared_model *p)
{
    struct hal_execution_config config = client_config();
    struct arena *a = arena_new(0);
    struct conform_request r;

    config.loop_timeout = 1000000;
    for (int k = 0; k < 2 * conform_n_kinds; k++) {
        const struct conform_kind *kind = &conform_kinds[k / 2];
        if (c->version < kind->deadlines || !conform_can_run(c, p, kind, c->version))
            continue;
        conform_request(&m->example, a, &r);
        config.measure = k % 2;
        enum hal_status s = kind->run(p, c->version, &r, &config);
        EXPECT(c,
               (s == HAL_MISSED_DEADLINE_TRANSIENT || s == HAL_MISSED_DEADLINE_PERSISTENT) &&
                   conform_result_is_empty(&r.result),
               "%s that does not end, time-out 1 ms, %s execution: %s, expected MISSED_DEADLINE "
               "without shapes and durations",
               m->name, kind->name, hal_status_name(s));
    }
    arena_free(a);
}

static void infinite_loop(struct conform *c, const void *data)
{
    struct conform_model m;

    (void) data;
    for (int k = 0; k < COUNT(loops); k++) {
        loop_model(&m, &loops[k]);
        conform_doing(c, "%s", m.name);
        struct hal_prepared_model *p = conform_prepare_supported(c, &m.hal);
        if (p) {
            run_loop(c, &m, p);
            p->methods->release(p);
        }
        conform_model_done(&m);
    }
}

static const struct conform_rule rules_of_file[] = {
    { "generated", "relaxed", HAL_1_1, 0, "models with the relaxed float32 flag execute", relaxed,
      NULL, true },
    { "quant-coupling", "coupling", HAL_1_3, 0,
      "results in quant8_signed are those in quant8 less 128", coupling, NULL, true },
    { "loop-timeout", "endless", HAL_1_3, 0,
      "a loop that exceeds its time-out ends with MISSED_DEADLINE", infinite_loop },
};
const struct conform_rules conform_rules_arithmetic = { rules_of_file, COUNT(rules_of_file), begin,
                                                        end };
