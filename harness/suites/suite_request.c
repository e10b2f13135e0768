/* Requests on models that the device prepares.  Every kind of execution rejects an invalid request,
 * without shapes, durations or fences, and executes a valid one; except for models that the suites
 * expect to fail at run time. */
#include <stdlib.h>
#include <string.h>

#include "harness/conform/conform_models.h"
#include "harness/conform/conform_requests.h"
#include "sim/client/hal_calls.h"
#include "sim/hal/convert.h"

/* Over a socket each version has every fourth model; all versions together have all. */
enum { REMOTE_EVERY = 4 };

/* ---- models that the device prepares */

typedef void visit_prepared(struct conform *c, const struct conform_model *m,
                            struct hal_prepared_model *p, struct arena *a);

static void with_model(struct conform *c, const struct conform_model *m, visit_prepared *visit)
{
    conform_doing(c, "%s", m->name);
    struct hal_prepared_model *p = conform_prepare_supported(c, &m->hal);
    if (!p)
        return;
    struct arena *a = arena_new(0);
    visit(c, m, p, a);
    arena_free(a);
    p->methods->release(p);
}

static void each_model(struct conform *c, visit_prepared *visit)
{
    for (int i = 0; i < conform_n_models; i++)
        if (conform_is_mine(c, (uint32_t) i) && conform_model_is_of(&conform_models[i], c) &&
            (!c->is_remote || (i + (int) c->version) % REMOTE_EVERY == 0))
            with_model(c, &conform_models[i], visit);
}

/* ---- valid requests */

/* Fenced executions need known shapes at every version; a driver need not support others. */
static bool is_expected(enum hal_status s, const struct conform_kind *k,
                        const struct conform_model *m)
{
    if (conform_request_is_specified(&m->example))
        return s == HAL_NONE;
    return k->needs_shapes ? s == HAL_INVALID_ARGUMENT : s == HAL_NONE || s == HAL_GENERAL_FAILURE;
}

static void run_valid(struct conform *c, const struct conform_model *m,
                      struct hal_prepared_model *p, struct arena *a)
{
    struct hal_execution_config config = client_config();
    struct conform_request r;

    EXPECT(c, p->n_inputs == m->hal.main.n_inputs && p->n_outputs == m->hal.main.n_outputs,
           "%s: the prepared model has %u inputs and %u outputs, expected %u and %u", m->name,
           p->n_inputs, p->n_outputs, m->hal.main.n_inputs, m->hal.main.n_outputs);
    for (int k = 0; k < conform_n_kinds; k++) {
        if (!conform_can_run(c, p, &conform_kinds[k], c->version) ||
            (c->version < HAL_1_2 && !conform_request_is_specified(&m->example)))
            continue;
        conform_request(&m->example, a, &r);
        config.measure = k % 2 && c->version >= HAL_1_2;
        enum hal_status s = conform_kinds[k].run(p, c->version, &r, &config);
        EXPECT(c, is_expected(s, &conform_kinds[k], m), "%s, %s execution of a valid request: %s",
               m->name, conform_kinds[k].name, hal_status_name(s));
    }
}

static void valid(struct conform *c, const void *data)
{
    (void) data;
    each_model(c, run_valid);
}

/* ---- removed arguments */

static void refuse(struct conform *c, const struct conform_model *m, struct hal_prepared_model *p,
                   struct conform_request *r, uint32_t at, const char *change)
{
    struct hal_execution_config config = client_config();

    for (int k = 0; k < conform_n_kinds; k++) {
        if (!conform_can_run(c, p, &conform_kinds[k], c->version))
            continue;
        config.measure = (at + (uint32_t) k) % 2 && c->version >= HAL_1_2;
        enum hal_status s = conform_kinds[k].run(p, c->version, r, &config);
        EXPECT(c, s == HAL_INVALID_ARGUMENT && conform_result_is_empty(&r->result),
               "%s, argument %u %s, %s execution: %s, %u shapes, expected INVALID_ARGUMENT "
               "without shapes and durations",
               m->name, at, change, conform_kinds[k].name, hal_status_name(s), r->result.n_shapes);
        EXPECT(c, !conform_kinds[k].launches || r->launch == HAL_INVALID_ARGUMENT,
               "%s, argument %u %s, %s execution: the call returns %s, expected "
               "INVALID_ARGUMENT",
               m->name, at, change, conform_kinds[k].name, hal_status_name(r->launch));
    }
}

static void drop(struct hal_argument *list, uint32_t n, uint32_t at)
{
    memmove(list + at, list + at + 1, (n - at - 1) * sizeof *list);
}

static void refuse_without_inputs(struct conform *c, const struct conform_model *m,
                                  struct hal_prepared_model *p, struct arena *a)
{
    struct conform_request r;

    for (uint32_t i = 0; i < m->hal.main.n_inputs; i++) {
        conform_request(&m->example, a, &r);
        drop(r.inputs, r.hal.n_inputs--, i);
        refuse(c, m, p, &r, i, "removed");
    }
}

static void refuse_without_outputs(struct conform *c, const struct conform_model *m,
                                   struct hal_prepared_model *p, struct arena *a)
{
    struct conform_request r;

    for (uint32_t i = 0; i < m->hal.main.n_outputs; i++) {
        conform_request(&m->example, a, &r);
        drop(r.outputs, r.hal.n_outputs--, i);
        refuse(c, m, p, &r, i, "removed");
    }
}

static void missing_input(struct conform *c, const void *data)
{
    (void) data;
    each_model(c, refuse_without_inputs);
}

static void missing_output(struct conform *c, const void *data)
{
    (void) data;
    each_model(c, refuse_without_outputs);
}

/* ---- additional arguments: the last one twice */

static struct hal_argument *with_one_more(struct arena *a, const struct hal_argument *list,
                                          uint32_t n)
{
    struct hal_argument *longer = arena_alloc(a, n + 1, sizeof *longer);

    conform_must(longer, "out of memory");
    memcpy(longer, list, n * sizeof *longer);
    longer[n] = list[n - 1];
    return longer;
}

static void refuse_with_more(struct conform *c, const struct conform_model *m,
                             struct hal_prepared_model *p, struct arena *a)
{
    const uint32_t n_in = m->hal.main.n_inputs, n_out = m->hal.main.n_outputs;
    struct conform_request r;

    for (int outputs = n_in == 0; outputs < 2; outputs++) {
        conform_request(&m->example, a, &r);
        if (outputs)
            r.hal.outputs = with_one_more(a, r.outputs, r.hal.n_outputs++);
        else
            r.hal.inputs = with_one_more(a, r.inputs, r.hal.n_inputs++);
        refuse(c, m, p, &r, outputs ? n_out : n_in, "added");
    }
}

static void additional(struct conform *c, const void *data)
{
    (void) data;
    each_model(c, refuse_with_more);
}

/* ---- a null fence */

static void refuse_fence(struct conform *c, const struct conform_model *m,
                         struct hal_prepared_model *p, struct arena *a, int none)
{
    struct hal_execution_config config = client_config();
    struct hal_fenced_info *info = (struct hal_fenced_info *) c;
    struct conform_request r;
    int fence = 99;

    conform_request(&m->example, a, &r);
    enum hal_status s = p->methods->execute_fenced(p, c->version, &r.hal, 1, &none, &config,
                                                   HAL_NO_TIME, &fence, &info);
    EXPECT(c, s == HAL_INVALID_ARGUMENT && fence == HAL_NO_FENCE && !info,
           "%s, execute_fenced waiting for %d: %s, fence %d", m->name, none, hal_status_name(s),
           fence);
}

/* A null fence, and a descriptor that is not open. */
static void refuse_null_fence(struct conform *c, const struct conform_model *m,
                              struct hal_prepared_model *p, struct arena *a)
{
    if (!conform_can_run(c, p, conform_kind_named("fenced"), c->version))
        return;
    refuse_fence(c, m, p, a, HAL_NO_FENCE);
    refuse_fence(c, m, p, a, 9999);
}

static void null_fence(struct conform *c, const void *data)
{
    (void) data;
    each_model(c, refuse_null_fence);
}

/* ---- models whose execution fails at run time */

static const struct one_op failing[] = {
    { "EMBEDDING_LOOKUP of row 7 of 3",
      "EMBEDDING_LOOKUP",
      1,
      { "I32[2]: 0 7", "F32[3,2]: 1 2 3 4 5 6" },
      "F32[2,2]: 0 0 0 0" },
    { "EMBEDDING_LOOKUP of row -1",
      "EMBEDDING_LOOKUP",
      1,
      { "I32[2]: -1 0", "F32[3,2]: 1 2 3 4 5 6" },
      "F32[2,2]: 0 0 0 0" },
    { "STRIDED_SLICE shrinking an axis of negative stride",
      "STRIDED_SLICE",
      2,
      { "F32[2,3]: 1 2 3 4 5 6", "const I32[2]: 0 0", "const I32[2]: 2 3", "const I32[2]: -1 1",
        "INT32: 0", "INT32: 0", "INT32: 1" },
      "F32[3]: 0 0 0" },
    { "GATHER of element 9 of 3",
      "GATHER",
      3,
      { "U8[3]*1@0: 1 2 3", "INT32: 0", "I32[1]: 9" },
      "U8[1]*1@0: 0" },
};

static void run_failing(struct conform *c, const struct conform_model *m,
                        struct hal_prepared_model *p, struct arena *a)
{
    struct hal_execution_config config = client_config();
    struct conform_request r;

    for (int k = 0; k < 2 * conform_n_kinds; k++) {
        const struct conform_kind *kind = &conform_kinds[k / 2];
        if (!conform_can_run(c, p, kind, c->version))
            continue;
        config.measure = k % 2 && c->version >= HAL_1_2;
        conform_request(&m->example, a, &r);
        enum hal_status s = kind->run(p, c->version, &r, &config);
        EXPECT(c, s != HAL_NONE && conform_result_is_empty(&r.result),
               "%s, %s execution: %s, %u shapes, expected a failure without shapes and durations",
               m->name, kind->name, hal_status_name(s), r.result.n_shapes);
    }
}

/* IF whose condition operand is omitted. */
static void if_model(struct conform_model *m, enum dtype type)
{
    float scale = type == DT_U8;
    struct build b;

    build_init(&b, 3);
    uint32_t condition = build_operand(&b, LIFE_NO_VALUE, DT_B8, DIMS(1));
    uint32_t one = build_subgraph(&b, 1), other = build_subgraph(&b, 2);
    uint32_t x = build_quant(&b, LIFE_INPUT, type, DIMS(2), scale, 0);
    uint32_t y = build_quant(&b, LIFE_OUTPUT, type, DIMS(2), scale, 0);
    OPERATION(&b, "IF", IDS(condition, one, other, x), IDS(y));
    struct tensor *in = arena_copy(b.arena, &b.graph->operand[x].tensor, sizeof *in);
    in->data = arena_alloc(b.arena, 2, sizeof(float));
    for (uint32_t k = 1; k < 3; k++) {
        build_graph(&b, k);
        uint32_t u = build_quant(&b, LIFE_INPUT, type, DIMS(2), scale, 0);
        uint32_t v = build_quant(&b, LIFE_OUTPUT, type, DIMS(2), scale, 0);
        OPERATION(&b, k == 1 ? "RELU" : "RELU6", IDS(u), IDS(v));
    }
    model_count_consumers(&b.model);
    struct example e = {
        .name = "IF without a condition", .model = b.model, .in = in, .expected = in
    };
    conform_model_init(m, &e, b.arena);
}

static void fails_in_if(struct conform *c)
{
    static const enum dtype types[] = { DT_F32, DT_U8 };
    struct conform_model m;

    for (int k = 0; k < COUNT(types) && c->version >= HAL_1_3; k++) {
        if_model(&m, types[k]);
        with_model(c, &m, run_failing);
        conform_model_done(&m);
    }
}

static void fails(struct conform *c, const void *data)
{
    (void) data;
    fails_in_if(c);
    for (int i = 0; i < COUNT(failing); i++) {
        struct conform_model m;
        conform_model_of(&m, &failing[i]);
        if (conform_model_is_of(&m, c))
            with_model(c, &m, run_failing);
        conform_model_done(&m);
    }
}

static const struct conform_rule rules_of_file[] = {
    { "request", "valid", HAL_1_0, 0,
      "legal models launch, supported ones prepare, the callback fails the others; valid "
      "requests execute",
      valid, NULL, true },
    { "request", "R1", HAL_1_0, 0, "rejects a request with an input removed", missing_input, NULL,
      true },
    { "request", "R2", HAL_1_0, 0, "rejects a request with an output removed", missing_output, NULL,
      true },
    { "request", "additional", HAL_1_0, 0, "rejects a request with an additional argument",
      additional, NULL, true },
    { "request", "R3", HAL_1_3, 0,
      "execute_fenced rejects a null fence and a descriptor that is not open", null_fence, NULL,
      true },
    { "request", "fails", HAL_1_0, 0,
      "models that are valid but fail at run time prepare; their execution fails", fails },
};
const struct conform_rules conform_rules_request = { rules_of_file, COUNT(rules_of_file),
                                                     conform_models_draw, conform_models_free };
