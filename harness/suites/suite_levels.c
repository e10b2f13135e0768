/* Versions: entry points of earlier versions work; methods, types, operations and arguments of
 * later versions are rejected. */
#include <string.h>

#include "harness/conform/conform_models.h"
#include "harness/conform/conform_requests.h"
#include "harness/corrupt/conform_mutations.h"
#include "sim/client/hal_calls.h"
#include "sim/hal/convert.h"
#include "sim/wire/wire_methods.h"

/* ---- methods by version */

static enum hal_status try_supported(struct conform *c, struct conform_subject *s,
                                     enum hal_version v)
{
    bool supported;
    uint32_t n;

    return c->driver->get_supported_operations(c->driver, v, &s->model.hal, &supported, &n);
}

static enum hal_status try_capabilities(struct conform *c, struct conform_subject *s,
                                        enum hal_version v)
{
    struct hal_capabilities caps;

    (void) s;
    return c->driver->get_capabilities(c->driver, v, &caps);
}

static enum hal_status try_prepare(struct conform *c, struct conform_subject *s, enum hal_version v)
{
    struct conform_prepared p = conform_prepare(c, v, &s->model.hal, &client_default_preparation);

    if (p.model)
        p.model->methods->release(p.model);
    return p.launched;
}

static enum hal_status try_cache(struct conform *c, struct conform_subject *s, enum hal_version v)
{
    (void) s;
    return conform_prepare(c, v, NULL, &client_default_preparation).launched;
}

static enum hal_status try_burst(struct conform *c, struct conform_subject *s, enum hal_version v)
{
    struct hal_burst *b = NULL;
    enum hal_status status = s->prepared->methods->configure_burst(s->prepared, v, &b);

    EXPECT(c, (status == HAL_NONE) == (b != NULL), "configure_burst returns %s %s a burst",
           hal_status_name(status), b ? "with" : "without");
    if (b)
        b->methods->release(b);
    return status;
}

static enum hal_status try_kind(struct conform *c, struct conform_subject *s, enum hal_version v,
                                int kind)
{
    struct hal_execution_config config = client_config();

    conform_subject_reset(s);
    enum hal_status status = conform_kinds[kind].run(s->prepared, v, &s->request, &config);
    EXPECT(c,
           status == HAL_NONE ? conform_subject_is_correct(s)
                              : conform_result_is_empty(&s->request.result),
           "%s, %s execution of HAL %s: %s, and wrong results, or shapes or durations after a "
           "failure",
           s->model.name, conform_kinds[kind].name, hal_version_name(v), hal_status_name(status));
    return status;
}

static enum hal_status try_now(struct conform *c, struct conform_subject *s, enum hal_version v)
{
    return try_kind(c, s, v, 0);
}

static enum hal_status try_later(struct conform *c, struct conform_subject *s, enum hal_version v)
{
    return try_kind(c, s, v, 1);
}

static enum hal_status try_fenced(struct conform *c, struct conform_subject *s, enum hal_version v)
{
    return try_kind(c, s, v, 3);
}

/* This method and allocate have no entry point of a version: the driver's version decides. */
static enum hal_status try_reusable(struct conform *c, struct conform_subject *s,
                                    enum hal_version v)
{
    (void) v;
    return try_kind(c, s, c->version, 4);
}

static enum hal_status try_allocate(struct conform *c, struct conform_subject *s,
                                    enum hal_version v)
{
    const struct hal_buffer_role role = { 0, 0, 1 };
    const struct hal_buffer_desc desc = { 0 };
    struct hal_buffer *b = (void *) s;
    uint32_t token = 99;

    (void) v;
    enum hal_status status =
        c->driver->allocate(c->driver, &desc, 1, &s->prepared, 1, &role, 0, NULL, &b, &token);
    EXPECT(c, status == HAL_NONE ? b && token : !b && !token,
           "allocate returns %s %s a buffer, with token %u", hal_status_name(status),
           b ? "with" : "without", token);
    if (b)
        b->methods->release(b);
    return status;
}

static const struct method {
    Wire__Method method;
    enum hal_status (*call)(struct conform *c, struct conform_subject *s, enum hal_version v);
    bool is_versioned; /* has an entry point per version */
    bool may_fail;     /* may fail where it is supported, too */
    int kind;          /* 1 + index of the kind of execution that it is for; 0: none */
} methods[] = {
    { WIRE__METHOD__GET_CAPABILITIES, try_capabilities, true },
    { WIRE__METHOD__GET_SUPPORTED_OPERATIONS, try_supported, true },
    { WIRE__METHOD__PREPARE_MODEL, try_prepare, true },
    { WIRE__METHOD__PREPARE_MODEL_FROM_CACHE, try_cache, true, true },
    { WIRE__METHOD__EXECUTE_SYNCHRONOUSLY, try_now, true, false, 1 },
    { WIRE__METHOD__EXECUTE, try_later, true, false, 2 },
    { WIRE__METHOD__EXECUTE_FENCED, try_fenced, true, false, 4 },
    { WIRE__METHOD__CONFIGURE_BURST, try_burst, true, false, 3 },
    { WIRE__METHOD__CREATE_REUSABLE_EXECUTION, try_reusable, false, false, 5 },
    { WIRE__METHOD__ALLOCATE, try_allocate, false, true },
};

static bool is_supported(const struct conform *c, const struct method *m, enum hal_version v)
{
    const struct wire_method *w = wire_method(m->method);

    return hal_level(v) && v >= w->since && v <= w->until && v >= c->driver->lowest_version &&
           v <= c->driver->hal_version;
}

/* Whether the driver has the method at its own version; others need no method to reject it. */
static bool has_method(struct conform *c, const struct conform_subject *s, const struct method *m)
{
    const struct conform_kind *k = m->kind ? &conform_kinds[m->kind - 1] : NULL;
    const enum hal_version until = k ? execution_way_method(k->way)->until : HAL_FL8;

    if (k)
        return conform_can_run(c, s->prepared, k, c->version < until ? c->version : until);
    return m->call == try_allocate ? c->driver->allocate != NULL
           : m->call == try_cache  ? c->driver->prepare_model_from_cache != NULL
                                   : true;
}

/* Whether the version is that of an entry point which the subject's model needs: others reject the
 * model. */
static bool is_called(const struct conform *c, const struct conform_subject *s, enum hal_version v)
{
    return !hal_level(v) || (v >= c->lowest && hal_level(v) >= s->model.level);
}

static void expect_method(struct conform *c, struct conform_subject *s, const struct method *m,
                          enum hal_version v)
{
    enum hal_status status = m->call(c, s, v);
    enum hal_status refusal = m->is_versioned ? HAL_INVALID_ARGUMENT : HAL_GENERAL_FAILURE;

    EXPECT(c, is_supported(c, m, v) ? status == HAL_NONE || m->may_fail : status == refusal,
           "%s of %s version %s (%d): %s", wire_method(m->method)->name,
           is_supported(c, m, v) ? "the driver's" : "a later, older or unknown",
           hal_version_name(v), (int) v, hal_status_name(status));
}

/* All methods through the entry points of all versions, and of some versions that do not exist:
 * those that the driver supports, or the others. */
static void each_method(struct conform *c, bool supported)
{
    static const enum hal_version none[] = { 0, 9, 14, 19, 255 };
    struct conform_subject s;

    if (!conform_subject_open(c, conform_relu(c), &s)) {
        conform_subject_close(&s);
        return;
    }
    for (int k = 0; k < COUNT(methods); k++) {
        const struct method *m = &methods[k];
        if (!has_method(c, &s, m))
            continue;
        for (int v = 0; v < HAL_VERSIONS; v++)
            if (is_called(c, &s, hal_versions[v]) &&
                supported == is_supported(c, m, hal_versions[v]) &&
                (m->is_versioned || hal_versions[v] == c->driver->hal_version))
                expect_method(c, &s, m, hal_versions[v]);
        for (int i = 0; i < COUNT(none) && m->is_versioned && !supported; i++)
            expect_method(c, &s, m, none[i]);
    }
    conform_subject_close(&s);
}

static void gates(struct conform *c, const void *data)
{
    (void) data;
    each_method(c, false);
}

static void entries(struct conform *c, const void *data)
{
    (void) data;
    each_method(c, true);
}

/* ---- results: shapes since 1.2, durations since 1.2 and if measured */

static bool has_times(const struct hal_result *r)
{
    return r->timing.on_device != HAL_NO_TIME || r->timing.in_driver != HAL_NO_TIME;
}

/* A valid request, or one whose output is one byte too short. */
static bool is_ordered(struct hal_timing t)
{
    return t.on_device == HAL_NO_TIME || t.in_driver == HAL_NO_TIME || t.on_device <= t.in_driver;
}

static void expect_result(struct conform *c, struct conform_subject *s,
                          const struct conform_kind *kind, enum hal_version v, bool short_output)
{
    struct hal_execution_config config = client_config();
    const struct hal_result *r = &s->request.result;

    config.measure = v >= HAL_1_2;
    conform_subject_reset(s);
    if (short_output)
        s->request.outputs[0].location.length = tensor_bytes(&s->model.example.expected[0]) - 1;
    enum hal_status status = kind->run(s->prepared, v, &s->request, &config);
    EXPECT(c, status == (short_output ? HAL_OUTPUT_INSUFFICIENT_SIZE : HAL_NONE),
           "%s, %s execution of HAL %s, %s: %s", s->model.name, kind->name, hal_version_name(v),
           short_output ? "output one byte too short" : "valid", hal_status_name(status));
    EXPECT(c, status != HAL_NONE || short_output || conform_subject_is_correct(s),
           "%s, prepared and executed (%s) at HAL %s: wrong results", s->model.name, kind->name,
           hal_version_name(v));
    EXPECT(c,
           v < HAL_1_2 || !kind->reports ? !r->n_shapes
                                         : r->n_shapes == 1 || (!short_output && !r->n_shapes),
           "%s, %s execution of HAL %s, %s: %u shapes of 1 output", s->model.name, kind->name,
           hal_version_name(v), short_output ? "output one byte too short" : "valid", r->n_shapes);
    EXPECT(c, is_ordered(r->timing) && ((v >= HAL_1_2 && !short_output) || !has_times(r)),
           "%s, %s execution of HAL %s, %s: durations where there are none, or in the wrong order",
           s->model.name, kind->name, hal_version_name(v),
           short_output ? "output one byte too short" : "valid");
    const struct shape *shape = &s->model.example.expected[0].shape;
    if (r->n_shapes)
        EXPECT(c,
               r->shapes[0].is_sufficient == !short_output && r->shapes[0].n_dims == shape->rank &&
                   memcmp(r->shapes[0].dims, shape->dim, shape->rank * sizeof *shape->dim) == 0,
               "%s, %s execution of HAL %s: another shape is reported than that of the output",
               s->model.name, kind->name, hal_version_name(v));
}

/* Prepared and executed through the entry points of one version. */
static void expect_results(struct conform *c, const struct conform_subject *s, enum hal_version v)
{
    struct conform_prepared p = conform_prepare(c, v, &s->model.hal, &client_default_preparation);
    struct conform_subject at_version = *s;

    if (!EXPECT(c, p.model, "%s, prepare_model of HAL %s: %s", s->model.name, hal_version_name(v),
                hal_status_name(p.status)))
        return;
    at_version.prepared = p.model;
    for (int k = 0; k < conform_n_kinds; k++)
        if (conform_can_run(c, p.model, &conform_kinds[k], v)) {
            expect_result(c, &at_version, &conform_kinds[k], v, false);
            expect_result(c, &at_version, &conform_kinds[k], v, true);
        }
    p.model->methods->release(p.model);
}

static void results(struct conform *c, const void *data)
{
    struct conform_subject s;

    (void) data;
    bool is_open = conform_subject_open(c, conform_relu(c), &s);
    for (int v = 0; v < HAL_VERSIONS && is_open; v++)
        if (conform_has_entry(c, hal_versions[v]) && is_called(c, &s, hal_versions[v]))
            expect_results(c, &s, hal_versions[v]);
    conform_subject_close(&s);
}

/* ---- models and arguments of later versions */

static const struct one_op level_examples[] = {
    { "float32", "RELU", 1, { "F32[2]: 1 2" }, "F32[2]: 1 2" },
    { "quant8", "RELU", 1, { "U8[2]*1@0: 1 2" }, "U8[2]*1@0: 1 2" },
    { "an operation of 1.1",
      "SUB",
      2,
      { "F32[2]: 1 2", "F32[2]: 1 2", "INT32: 0" },
      "F32[2]: 0 0" },
    { "another of 1.1",
      "TRANSPOSE",
      2,
      { "U8[2,1]*1@0: 1 2", "const I32[2]: 1 0" },
      "U8[1,2]*1@0: 1 2" },
    { "float16, since 1.2", "RELU", 3, { "F16[2]: 1 2" }, "F16[2]: 1 2" },
    { "an axis, since 1.2",
      "SOFTMAX",
      3,
      { "F32[1,1]: 5", "FLOAT32: 1", "INT32: 1" },
      "F32[1,1]: 1" },
    { "ADD of int32, since 1.3", "ADD", 4, { "I32[1]: 1", "I32[1]: 1", "INT32: 0" }, "I32[1]: 2" },
    { "an operation of 1.2", "EXP", 3, { "F32[1]: 0" }, "F32[1]: 1" },
    { "another of 1.2", "EXPAND_DIMS", 3, { "U8[2]*1@0: 1 2", "INT32: 0" }, "U8[1,2]*1@0: 1 2" },
    { "quant8_signed, since 1.3", "RELU", 4, { "S8[2]*1@0: 1 2" }, "S8[2]*1@0: 1 2" },
    { "an operation of 1.3", "HARD_SWISH", 4, { "F32[1]: 0" }, "F32[1]: 0" },
    { "another of 1.3", "FILL", 4, { "const I32[1]: 1", "INT32: 3" }, "I32[1]: 3" },
    { "an operation of level 6",
      "PACK",
      6,
      { "INT32: 0", "F32[1]: 1", "F32[1]: 2" },
      "F32[2,1]: 1 2" },
    { "an operation of level 7",
      "REVERSE",
      7,
      { "F32[2]: 1 2", "const I32[1]: 0" },
      "F32[2]: 2 1" },
};

static void expect_legal(struct conform *c, const struct conform_model *m, enum hal_version v)
{
    bool legal = m->level <= hal_level(v), supported = false;
    uint32_t n;
    enum hal_status s = c->driver->get_supported_operations(c->driver, v, &m->hal, &supported, &n);

    EXPECT(c, s == (legal ? HAL_NONE : HAL_INVALID_ARGUMENT),
           "%s: get_supported_operations of HAL %s: %s, expected %s", m->name, hal_version_name(v),
           hal_status_name(s), legal ? "NONE" : "INVALID_ARGUMENT");
    struct conform_prepared p = conform_prepare(c, v, &m->hal, &client_default_preparation);
    EXPECT(c, legal ? !supported || p.status == HAL_NONE : p.status == HAL_INVALID_ARGUMENT,
           "%s: prepare_model of HAL %s: %s, expected %s", m->name, hal_version_name(v),
           hal_status_name(p.status), legal ? "NONE" : "INVALID_ARGUMENT");
    if (p.model)
        p.model->methods->release(p.model);
}

/* Hints of an extension that the model does not name; other hints: suite_versions.c. */
static const struct hal_token_value hints[] = { { 7 << 16 | 1, (const uint8_t *) "hint", 4 } };

/* Arguments of prepare_model; versions before `since` do not have them and reject them. */
static const struct argument {
    const char *name;
    enum hal_version since;
    struct hal_prepare_config config;
    enum hal_status status;
} arguments[] = {
    { "low power", HAL_1_1, { HAL_LOW_POWER, HAL_PRIORITY_MEDIUM, HAL_NO_DEADLINE }, HAL_NONE },
    { "preference 3", HAL_1_1, { 3, HAL_PRIORITY_MEDIUM, HAL_NO_DEADLINE }, HAL_INVALID_ARGUMENT },
    { "high priority",
      HAL_1_3,
      { HAL_FAST_SINGLE_ANSWER, HAL_PRIORITY_HIGH, HAL_NO_DEADLINE },
      HAL_NONE },
    { "priority 3", HAL_1_3, { HAL_FAST_SINGLE_ANSWER, 3, HAL_NO_DEADLINE }, HAL_INVALID_ARGUMENT },
    { "a deadline that has passed",
      HAL_1_3,
      { HAL_FAST_SINGLE_ANSWER, HAL_PRIORITY_MEDIUM, 1 },
      HAL_MISSED_DEADLINE_PERSISTENT },
    { "hints of an unknown extension",
      HAL_FL8,
      { HAL_FAST_SINGLE_ANSWER, HAL_PRIORITY_MEDIUM, HAL_NO_DEADLINE, .n_hints = 1,
        .hints = hints },
      HAL_INVALID_ARGUMENT },
};

/* A driver may ignore deadlines. */
static bool is_expected(enum hal_status status, enum hal_status expected)
{
    return status == expected || (expected == HAL_MISSED_DEADLINE_PERSISTENT &&
                                  (status == HAL_NONE || status == HAL_MISSED_DEADLINE_TRANSIENT));
}

static void expect_arguments(struct conform *c, const struct conform_model *m, enum hal_version v)
{
    for (int k = 0; k < COUNT(arguments); k++) {
        const struct argument *a = &arguments[k];
        struct conform_prepared p = conform_prepare(c, v, &m->hal, &a->config);
        EXPECT(c, is_expected(p.status, v >= a->since ? a->status : HAL_INVALID_ARGUMENT),
               "%s prepared with %s, entry point of HAL %s: %s, expected %s", m->name, a->name,
               hal_version_name(v), hal_status_name(p.status),
               hal_status_name(v >= a->since ? a->status : HAL_INVALID_ARGUMENT));
        if (p.model)
            p.model->methods->release(p.model);
    }
}

/* The same for synchronous and asynchronous executions; suite_burst.c has a table for bursts.
 */
static const struct execution_argument {
    const char *name;
    enum hal_version since;
    struct hal_execution_config config;
    bool is_token; /* input 0 is in a buffer */
    enum hal_status status;
} execution_arguments[] = {
    { "measuring", HAL_1_2, { true, HAL_NO_DEADLINE, HAL_NO_TIME }, false, HAL_NONE },
    { "a deadline that has passed",
      HAL_1_3,
      { false, 1, HAL_NO_TIME },
      false,
      HAL_MISSED_DEADLINE_PERSISTENT },
    { "a loop time-out", HAL_1_3, { false, HAL_NO_DEADLINE, 1000000 }, false, HAL_NONE },
    { "a buffer", HAL_1_3, { false, HAL_NO_DEADLINE, HAL_NO_TIME }, true, HAL_NONE },
};

/* A buffer with the values of input 0; NULL and an unknown token before 1.3 and where the driver
 * provides none. */
static struct hal_buffer *allocate(struct conform *c, struct conform_subject *s,
                                   uint32_t *ret_token)
{
    const struct hal_buffer_role role = { 0, 0, 1 };
    const struct hal_buffer_desc desc = { 0 };
    struct hal_memory m;
    struct hal_buffer *b = NULL;

    *ret_token = 77;
    if (c->version < HAL_1_3 || !c->driver->allocate)
        return NULL;
    conform_subject_reset(s);
    m = s->request.pool[0].memory;
    enum hal_status status =
        c->driver->allocate(c->driver, &desc, 1, &s->prepared, 1, &role, 0, NULL, &b, ret_token);
    if (status == HAL_GENERAL_FAILURE)
        return NULL;
    conform_must(status == HAL_NONE, "allocate for input 0 fails");
    m.size = s->request.inputs[0].location.length;
    conform_must(b->methods->copy_from(b, &m, 0, NULL) == HAL_NONE, "copy_from fails");
    return b;
}

static void expect_execution_arguments(struct conform *c, struct conform_subject *s,
                                       enum hal_version v)
{
    uint32_t token;
    struct hal_buffer *b = allocate(c, s, &token);

    for (int k = 0; k < 2 * COUNT(execution_arguments); k++) {
        const struct execution_argument *a = &execution_arguments[k / 2];
        const struct conform_kind *kind = &conform_kinds[k % 2];
        if (!conform_can_run(c, s->prepared, kind, v) ||
            (a->is_token && v >= a->since && !b)) /* no buffers */
            continue;
        conform_subject_reset(s);
        if (a->is_token)
            conform_request_use_token(&s->request, &s->request.inputs[0], token);
        enum hal_status status = kind->run(s->prepared, v, &s->request, &a->config);
        EXPECT(c, is_expected(status, v >= a->since ? a->status : HAL_INVALID_ARGUMENT),
               "%s, %s execution with %s, entry point of HAL %s: %s, expected %s", s->model.name,
               kind->name, a->name, hal_version_name(v), hal_status_name(status),
               hal_status_name(v >= a->since ? a->status : HAL_INVALID_ARGUMENT));
    }
    if (b)
        b->methods->release(b);
}

static void expect_relaxed(struct conform *c, const struct conform_model *m, enum hal_version v)
{
    struct hal_model relaxed = m->hal;

    relaxed.relaxed = true;
    struct conform_prepared p = conform_prepare(c, v, &relaxed, &client_default_preparation);
    EXPECT(c, p.status == (v >= HAL_1_1 ? HAL_NONE : HAL_INVALID_ARGUMENT),
           "%s with the relaxed flag, prepare_model of HAL %s: %s, expected %s", m->name,
           hal_version_name(v), hal_status_name(p.status),
           v >= HAL_1_1 ? "NONE" : "INVALID_ARGUMENT");
    if (p.model)
        p.model->methods->release(p.model);
}

static void newer(struct conform *c, const void *data)
{
    struct conform_subject s;
    struct conform_model m;

    (void) data;
    for (int k = 0; k < COUNT(level_examples); k++) {
        conform_model_of(&m, &level_examples[k]);
        EXPECT(c, m.level == level_examples[k].level, "%s: level %d", m.name, m.level);
        for (int v = 0; v < HAL_VERSIONS; v++)
            if (conform_has_entry(c, hal_versions[v]))
                expect_legal(c, &m, hal_versions[v]);
        conform_model_done(&m);
    }
    bool is_open = conform_subject_open(c, conform_relu(c), &s);
    for (int v = 0; v < HAL_VERSIONS && is_open; v++) {
        if (!conform_has_entry(c, hal_versions[v]) || !is_called(c, &s, hal_versions[v]))
            continue;
        expect_arguments(c, &s.model, hal_versions[v]);
        expect_relaxed(c, &s.model, hal_versions[v]);
        expect_execution_arguments(c, &s, hal_versions[v]);
    }
    conform_subject_close(&s);
}

/* ---- outputs of unknown shape */

static void open_shape(struct conform_subject *s)
{
    const uint32_t index = s->model.hal.main.outputs[0];
    struct hal_operand *o = (struct hal_operand *) (uintptr_t) &s->model.hal.main.operands[index];
    static const uint32_t unknown[HAL_MAX_RANK];

    o->dims = unknown;
}

/* A request that does not give the shape either is rejected before 1.2; one that does is executed.
 */
static void unknown(struct conform *c, const void *data)
{
    struct hal_execution_config config = client_config();
    const struct one_op *o = conform_relu(c);
    struct conform_subject s;

    (void) data;
    if (!o)
        return;
    conform_model_of(&s.model, o);
    open_shape(&s);
    conform_doing(c, "%s with an output of unknown shape", s.model.name);
    s.prepared = conform_prepare_supported(c, &s.model.hal);
    for (int k = 0; k < 2 * conform_n_kinds && s.prepared; k++) {
        const struct conform_kind *kind = &conform_kinds[k / 2];
        enum hal_status expected = k % 2 || (c->version >= HAL_1_2 && !kind->needs_shapes)
                                       ? HAL_NONE
                                       : HAL_INVALID_ARGUMENT;
        if (!conform_can_run(c, s.prepared, kind, c->version))
            continue;
        conform_subject_reset(&s);
        const struct shape *shape = &s.model.example.expected[0].shape;
        s.request.outputs[0].n_dims = k % 2 ? shape->rank : 0;
        s.request.outputs[0].dims = shape->dim;
        enum hal_status status = kind->run(s.prepared, c->version, &s.request, &config);
        if (!(k % 2) && expected == HAL_NONE && status == HAL_GENERAL_FAILURE)
            continue; /* a driver need not support this */
        EXPECT(c, status == expected && (status != HAL_NONE || conform_subject_is_correct(&s)),
               "%s, %s execution, %s: %s, expected %s and the right results", s.model.name,
               kind->name, k % 2 ? "shape in the request" : "output of unknown shape",
               hal_status_name(status), hal_status_name(expected));
    }
    conform_subject_close(&s);
}

static const struct conform_rule rules_of_file[] = {
    { "version", "gates", HAL_1_0, 0,
      "methods and entry points of later versions than the driver's are rejected", gates },
    { "version", "entries", HAL_1_0, 0,
      "entry points of the driver's versions, from its lowest on, work", entries },
    { "version", "results", HAL_1_0, 0,
      "shapes and durations are returned as the entry point's version defines", results },
    { "version", "newer", HAL_1_0, 0,
      "an entry point rejects types, operations and arguments of later versions", newer },
    { "version", "unknown", HAL_1_0, 0,
      "before HAL 1.2, a request must give output shapes that the model leaves unknown", unknown },
};
const struct conform_rules conform_rules_levels = { rules_of_file, COUNT(rules_of_file), NULL,
                                                    NULL };
