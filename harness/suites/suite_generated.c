/* Executions of every kind, with and without measurement, with outputs of known and unknown shape,
 * too short, and without elements: of single operations with exact results, and of random models.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden/base/clock.h"
#include "harness/conform/conform_models.h"
#include "harness/conform/conform_requests.h"
#include "harness/conform/must.h"
#include "sim/base/fence.h"
#include "sim/client/hal_calls.h"
#include "sim/hal/convert.h"

/* Over a socket each version has one random model in so many, each version other ones. */
enum { REMOTE_EVERY = 8, MAX_TEXTS = 64 };

static struct conform_model empty_texts[MAX_TEXTS];

static void open_texts(struct conform_model *m, const struct one_op *text, int n)
{
    MUST(n <= MAX_TEXTS);
    for (int i = 0; i < n; i++) {
        conform_model_of(&m[i], &text[i]);
        MUST(m[i].level == text[i].level);
    }
}

static void begin(void)
{
    conform_models_draw();
    for (int i = 0; i < conform_n_built_in; i++)
        if (!conform_models[i].is_exact)
            conform_model_expect(&conform_models[i]);
    open_texts(empty_texts, conform_empty_texts, conform_n_empty_texts);
}

static void end(void)
{
    for (int i = 0; i < conform_n_empty_texts; i++)
        conform_model_done(&empty_texts[i]);
    conform_models_free();
}

/* ---- runs */

struct run {
    struct conform *conform;
    const struct conform_model *model;
    bool is_exact; /* the expected values are exact in every arithmetic */
    struct hal_prepared_model *prepared;
    struct arena *arena;
    const struct conform_kind *kind;
    bool measured;
    bool has_unknown_shapes; /* of outputs, in the model that is prepared */
    struct conform_request request;
    enum hal_status status;
    struct tensor *first; /* results of the first kind of execution; NULL: none yet */
};

typedef void visit_run(struct run *r);

static void execute(struct run *r)
{
    struct hal_execution_config config = client_config();

    config.measure = r->measured;
    r->status = r->kind->run(r->prepared, r->conform->version, &r->request, &config);
}

static const char *what(const struct run *r)
{
    static char text[160];

    snprintf(text, sizeof text, "%s, %s execution%s", r->model->name, r->kind->name,
             r->measured ? ", measured" : "");
    return text;
}

#define EXPECT_RUN(r, ok, format, ...) EXPECT((r)->conform, ok, "%s: " format, what(r), __VA_ARGS__)

/* Every kind of execution of the version, with (since 1.2) and without measurement. */
static void each_kind(struct run *r, visit_run *visit)
{
    for (int k = 0; k < 2 * conform_n_kinds; k++) {
        r->kind = &conform_kinds[k / 2];
        r->measured = k % 2;
        if (conform_can_run(r->conform, r->prepared, r->kind, r->conform->version) &&
            (!r->measured || r->conform->version >= HAL_1_2))
            visit(r);
    }
}

/* hal: the model to prepare, the same or with unknown shapes. */
static void with_model(struct conform *c, const struct conform_model *m, bool is_exact,
                       const struct hal_model *hal, visit_run *visit)
{
    struct run r = {
        .conform = c, .model = m, .is_exact = is_exact, .has_unknown_shapes = hal != &m->hal
    };

    conform_doing(c, "%s", m->name);
    r.prepared = conform_prepare_supported(c, hal);
    if (!r.prepared)
        return;
    r.arena = arena_new(0);
    each_kind(&r, visit);
    arena_free(r.arena);
    r.prepared->methods->release(r.prepared);
}

static bool is_chosen(const struct conform *c, int i)
{
    return conform_is_mine(c, (uint32_t) i) && conform_model_is_of(&conform_models[i], c) &&
           (!c->is_remote || (i + hal_level(c->version)) % REMOTE_EVERY == 0);
}

static void each_run(struct conform *c, visit_run *visit)
{
    for (int i = 0; i < conform_n_models; i++)
        if (is_chosen(c, i))
            with_model(c, &conform_models[i], conform_models[i].is_exact, &conform_models[i].hal,
                       visit);
}

/* Makes a valid request; false: this kind or version does not accept unknown output shapes. */
static bool reset_request(struct run *r)
{
    bool specified = conform_request_is_specified(&r->model->example);

    conform_request(&r->model->example, r->arena, &r->request);
    return specified || (r->conform->version >= HAL_1_2 && !r->kind->needs_shapes);
}

/* A driver may reject outputs of unknown shape by GENERAL_FAILURE. */
static bool is_unsupported(const struct run *r, bool is_unknown_shape)
{
    bool fails = is_unknown_shape && r->status == HAL_GENERAL_FAILURE;

    if (fails)
        conform_not_applicable(r->conform, "the driver does not support outputs of unknown shape");
    return fails;
}

static uint32_t n_outputs(const struct run *r)
{
    return r->model->hal.main.n_outputs;
}

static const struct tensor *expected(const struct run *r, uint32_t i)
{
    return &r->model->example.expected[i];
}

/* ---- known shapes */

static void expect_success(struct run *r)
{
    if (!reset_request(r))
        return;
    execute(r);
    if (!is_unsupported(r, !conform_request_is_specified(&r->model->example)))
        EXPECT_RUN(r, r->status == HAL_NONE, "%s, expected NONE", hal_status_name(r->status));
}

/* The outputs of a request, of the expected shapes. */
static struct tensor *outputs_of(const struct run *r)
{
    struct tensor *t = arena_copy(r->arena, r->model->example.expected, n_outputs(r) * sizeof *t);

    for (uint32_t i = 0; i < n_outputs(r); i++)
        t[i].data =
            (char *) r->request.pool[1].memory.address + r->request.outputs[i].location.offset;
    return t;
}

/* The exact results; for random models the same ones from every kind of execution. */
static void expect_results(struct run *r)
{
    if (!reset_request(r))
        return;
    execute(r);
    if (is_unsupported(r, !conform_request_is_specified(&r->model->example)))
        return;
    if (!r->first)
        r->first = outputs_of(r);
    EXPECT_RUN(
        r, conform_outputs_are(&r->request, r->is_exact ? r->model->example.expected : r->first),
        "%s, and other results than %s", hal_status_name(r->status),
        r->is_exact ? "the exact ones" : "those of the first kind of execution");
}

static bool is_unknown(struct hal_timing t)
{
    return t.on_device == HAL_NO_TIME && t.in_driver == HAL_NO_TIME;
}

static bool is_ordered(struct hal_timing t)
{
    return t.on_device == HAL_NO_TIME || t.in_driver == HAL_NO_TIME || t.on_device <= t.in_driver;
}

static bool is_fenced(const struct run *r)
{
    return r->kind->needs_shapes;
}

static void expect_no_times(struct run *r)
{
    if (r->measured || !reset_request(r))
        return;
    execute(r);
    EXPECT_RUN(r, is_unknown(r->request.result.timing), "%s without measurement", "durations");
    EXPECT_RUN(r, !is_fenced(r) || is_unknown(r->request.launched), "%s without measurement",
               "launch durations");
}

/* A simulated device may report short executions as longer than they are; other units are longer by
 * far. */
enum { SIMULATED_NS = 100000000 };

static void expect_times(struct run *r)
{
    const struct hal_timing *t = &r->request.result.timing;

    if (!r->measured || !reset_request(r))
        return;
    uint64_t begun = clock_steady_ns();
    execute(r);
    uint64_t taken = clock_steady_ns() - begun;
    EXPECT_RUN(r, t->in_driver == HAL_NO_TIME || t->in_driver <= taken + SIMULATED_NS,
               "%llu ns in the driver, in a call of %llu ns", (unsigned long long) t->in_driver,
               (unsigned long long) taken);
    EXPECT_RUN(r, is_ordered(*t), "%llu ns on the device, only %llu ns in the driver",
               (unsigned long long) t->on_device, (unsigned long long) t->in_driver);
    EXPECT_RUN(r, !is_fenced(r) || is_ordered(r->request.launched),
               "since the launch: %llu ns on the device",
               (unsigned long long) r->request.launched.on_device);
}

/* Durations are those of one execution: the last ones of many are not longer than the first ones by
 * far. */
static void steady_times(struct conform *c, const void *data)
{
    enum { RUNS = 1500, SOME = 15, FACTOR = 30 };
    struct hal_execution_config config = client_config();
    uint64_t longest = 0, shortest = UINT64_MAX;
    struct conform_subject s;

    (void) data;
    config.measure = true;
    if (conform_subject_open(c, conform_relu(c), &s))
        for (int i = 0; i < RUNS; i++) {
            conform_subject_reset(&s);
            enum hal_status status =
                conform_kinds[0].run(s.prepared, c->version, &s.request, &config);
            const uint64_t t = s.request.result.timing.in_driver;
            if (!EXPECT_STATUS(c, status, HAL_NONE, "a measured execution") || t == HAL_NO_TIME)
                break;
            if (i < SOME && t > longest)
                longest = t;
            else if (i >= RUNS - SOME && t < shortest)
                shortest = t;
        }
    if (shortest < UINT64_MAX)
        EXPECT(
            c, shortest <= FACTOR * (longest + 1000),
            "after %d executions each takes %llu ns or more in the driver, at first %llu or less",
            RUNS, (unsigned long long) shortest, (unsigned long long) longest);
    conform_subject_close(&s);
}

static bool is_shape(const struct hal_output_shape *s, const struct shape *expected_shape)
{
    return s->n_dims == expected_shape->rank &&
           memcmp(s->dims, expected_shape->dim, s->n_dims * sizeof *s->dims) == 0;
}

/* The shape, or some of its dimensions unknown. */
static bool may_be_shape(const struct hal_output_shape *s, const struct shape *expected_shape)
{
    bool ok = s->n_dims == expected_shape->rank;

    for (uint32_t d = 0; ok && d < s->n_dims; d++)
        ok = !s->dims[d] || s->dims[d] == expected_shape->dim[d];
    return ok;
}

/* Whether all shapes are reported, and all are sufficient except that of output `short_one`; then
 * dimensions may be unknown, else they are exact. */
static bool are_shapes_exact(const struct run *r, uint32_t short_one)
{
    const struct hal_result *result = &r->request.result;
    bool ok = result->n_shapes == n_outputs(r);

    for (uint32_t i = 0; ok && i < result->n_shapes; i++)
        ok = (short_one < n_outputs(r) ? may_be_shape : is_shape)(&result->shapes[i],
                                                                  &expected(r, i)->shape) &&
             result->shapes[i].is_sufficient == (i != short_one);
    return ok;
}

enum { NONE_SHORT = 999 };

/* Outputs of exactly the length that they need; the bytes behind them get a pattern. */
static void fit_outputs(struct run *r)
{
    memset(r->request.pool[1].memory.address, 0x5a, r->request.pool[1].memory.size);
    for (uint32_t i = 0; i < n_outputs(r); i++)
        r->request.outputs[i].location.length = tensor_bytes(expected(r, i));
}

static bool is_pattern_kept(const struct run *r)
{
    const uint8_t *bytes = r->request.pool[1].memory.address;
    uint64_t at = 0;
    bool kept = true;

    for (uint32_t i = 0; i <= n_outputs(r); i++) {
        const struct hal_location *l = &r->request.outputs[i].location;
        uint64_t end = i < n_outputs(r) ? l->offset : r->request.pool[1].memory.size;
        for (; at < end; at++)
            kept = kept && bytes[at] == 0x5a;
        at = i < n_outputs(r) ? end + l->length : end;
    }
    return kept;
}

static void expect_shapes(struct run *r)
{
    if (!conform_request_is_specified(&r->model->example) || !reset_request(r))
        return;
    fit_outputs(r);
    execute(r);
    EXPECT_RUN(r, is_pattern_kept(r), "bytes of the pool outside of the %u outputs are written",
               n_outputs(r));
    EXPECT_RUN(r, !r->request.result.n_shapes || are_shapes_exact(r, NONE_SHORT),
               "%u shapes, expected none or the %u exact ones", r->request.result.n_shapes,
               n_outputs(r));
}

/* ---- unknown shapes */

/* The model with all dimensions of its outputs unknown, or also their ranks; false: an output is a
 * scalar. */
static bool remove_shapes(const struct conform_model *m, bool ranks, struct arena *a,
                          struct hal_model *ret)
{
    static const uint32_t zeros[HAL_MAX_RANK];
    uint32_t n = m->hal.main.n_operands;
    struct hal_operand *o = arena_copy(a, m->hal.main.operands, n * sizeof *o);

    *ret = m->hal;
    ret->main.operands = o;
    for (uint32_t i = 0; i < m->hal.main.n_outputs; i++) {
        struct hal_operand *out = &o[m->hal.main.outputs[i]];
        if (!dtype_info[out->type].tensor)
            return false;
        out->dims = zeros;
        out->n_dims = ranks ? 0 : out->n_dims;
    }
    return true;
}

static void with_unknown_shapes(struct conform *c, const struct conform_model *m, bool is_exact,
                                visit_run *visit)
{
    struct arena *a = arena_new(0);
    struct hal_model hal;

    for (int ranks = 0; ranks < 2; ranks++)
        if (remove_shapes(m, ranks, a, &hal))
            with_model(c, m, is_exact, &hal, visit);
    arena_free(a);
}

static void each_run_of_unknown_shapes(struct conform *c, visit_run *visit)
{
    for (int i = 0; i < conform_n_models; i++)
        if (is_chosen(c, i))
            with_unknown_shapes(c, &conform_models[i], conform_models[i].is_exact, visit);
}

static void expect_unknown_shapes(struct run *r)
{
    conform_request(&r->model->example, r->arena, &r->request);
    execute(r);
    if (is_fenced(r)) {
        EXPECT_RUN(r, r->status == HAL_INVALID_ARGUMENT,
                   "outputs of unknown shape: %s, expected INVALID_ARGUMENT",
                   hal_status_name(r->status));
        return;
    }
    if (is_unsupported(r, true))
        return;
    EXPECT_RUN(r, r->status == HAL_NONE && are_shapes_exact(r, NONE_SHORT),
               "outputs of unknown shape: %s and %u shapes, expected NONE and the %u exact ones",
               hal_status_name(r->status), r->request.result.n_shapes, n_outputs(r));
    EXPECT_RUN(r, !r->is_exact || conform_outputs_are(&r->request, r->model->example.expected),
               "outputs of unknown shape: wrong %s", "results");
}

/* Output i is one byte too short, with known and with unknown shapes. */
static void expect_short(struct run *r, uint32_t i)
{
    size_t size = tensor_bytes(expected(r, i));
    bool specified = conform_request_is_specified(&r->model->example);

    conform_request(&r->model->example, r->arena, &r->request);
    if (size <= 1 || (is_fenced(r) && specified))
        return;
    r->request.outputs[i].location.length = size - 1;
    execute(r);
    if (is_fenced(r))
        EXPECT_RUN(r, r->status == HAL_INVALID_ARGUMENT,
                   "outputs of unknown shape: %s, expected INVALID_ARGUMENT",
                   hal_status_name(r->status));
    else if (!is_unsupported(r, !specified || r->has_unknown_shapes))
        EXPECT_RUN(r,
                   r->status == HAL_OUTPUT_INSUFFICIENT_SIZE && are_shapes_exact(r, i) &&
                       is_unknown(r->request.result.timing),
                   "output %u one byte too short: %s and %u shapes, expected "
                   "OUTPUT_INSUFFICIENT_SIZE and %u, of which only output %u is insufficient",
                   i, hal_status_name(r->status), r->request.result.n_shapes, n_outputs(r), i);
}

/* The first outputs in turn. */
static void expect_insufficient(struct run *r)
{
    for (uint32_t i = 0; i < n_outputs(r) && i < 3; i++)
        expect_short(r, i);
}

/* ---- outputs without elements */

static void expect_empty(struct run *r)
{
    conform_request(&r->model->example, r->arena, &r->request);
    r->request.outputs[0].location.length = 1;
    execute(r);
    if (is_fenced(r))
        EXPECT_RUN(r, r->status == HAL_INVALID_ARGUMENT,
                   "an output without elements: %s, expected INVALID_ARGUMENT",
                   hal_status_name(r->status));
    else
        EXPECT_RUN(r, r->status == HAL_NONE && are_shapes_exact(r, NONE_SHORT),
                   "an output without elements: %s and %u shapes, expected NONE and the %u exact "
                   "ones",
                   hal_status_name(r->status), r->request.result.n_shapes, n_outputs(r));
}

/* ---- shapes and durations by status */

enum mutation { VALID, TOO_SHORT, NO_OUTPUTS, MUTATIONS };

static void make_request(struct run *r, enum mutation mutation)
{
    conform_request(&r->model->example, r->arena, &r->request);
    if (mutation == TOO_SHORT)
        r->request.outputs[0].location.length = 1;
    if (mutation == NO_OUTPUTS)
        r->request.hal.n_outputs = 0;
}

static void expect_protocol(struct run *r)
{
    const struct hal_result *result = &r->request.result;

    for (enum mutation k = VALID; k < MUTATIONS; k++) {
        make_request(r, k);
        execute(r);
        bool shapes = result->n_shapes > 0, timed = !is_unknown(result->timing);
        bool ok = r->status == HAL_NONE ? timed <= r->measured
                  : r->status == HAL_OUTPUT_INSUFFICIENT_SIZE
                      ? !timed && (shapes || r->conform->version < HAL_1_2 || is_fenced(r))
                      : !timed && !shapes;
        EXPECT_RUN(r,
                   ok && (k == VALID || r->status != HAL_NONE || n_outputs(r) == 0 ||
                          (k == TOO_SHORT && tensor_bytes(expected(r, 0)) <= 1)),
                   "%s: %s with %u shapes, %s durations",
                   k == VALID       ? "a valid request"
                   : k == TOO_SHORT ? "output 0 of one byte"
                                    : "no outputs",
                   hal_status_name(r->status), result->n_shapes, timed ? "with" : "without");
    }
}

/* ---- fences: a second execution waits for the fence of the first */

static void expect_chain(struct run *r)
{
    const struct hal_prepared_model_methods *m = r->prepared->methods;
    struct hal_execution_config config = client_config();
    struct hal_fenced_info *info[2] = { NULL };
    struct hal_timing t[2];
    int fence[2] = { -1, -1 };

    if (!is_fenced(r) || !reset_request(r))
        return;
    config.measure = r->measured;
    for (int k = 0; k < 2; k++) {
        r->status =
            m->execute_fenced(r->prepared, r->conform->version, &r->request.hal, k && fence[0] >= 0,
                              fence, &config, HAL_NO_TIME, &fence[k], &info[k]);
        if (!EXPECT_RUN(r, r->status == HAL_NONE && info[k], "%s", hal_status_name(r->status)))
            return;
    }
    bool ended = fence[1] < 0 || fence_wait(1, &fence[1], HAL_NO_TIME) == 1;
    for (int k = 0; k < 2; k++) {
        r->status = info[k]->methods->get_execution_info(info[k], &t[0], &t[1]);
        EXPECT_RUN(r, ended && r->status == HAL_NONE && is_ordered(t[0]) && is_ordered(t[1]), "%s",
                   hal_status_name(r->status));
        info[k]->methods->release(info[k]);
        if (fence[k] >= 0)
            close(fence[k]);
    }
    EXPECT_RUN(r, !r->is_exact || conform_outputs_are(&r->request, r->model->example.expected),
               "wrong %s", "results");
}

/* ---- the rules */

struct of_runs {
    visit_run *visit;
};

static void runs(struct conform *c, const void *data)
{
    each_run(c, ((const struct of_runs *) data)->visit);
}

static void unknown_shapes(struct conform *c, const void *data)
{
    each_run_of_unknown_shapes(c, ((const struct of_runs *) data)->visit);
}

static void insufficient(struct conform *c, const void *data)
{
    runs(c, data);
    unknown_shapes(c, data);
}

static void empty(struct conform *c, const void *data)
{
    for (int i = 0; i < conform_n_empty_texts; i++)
        if (conform_is_mine(c, (uint32_t) i) && conform_model_is_of(&empty_texts[i], c))
            with_model(c, &empty_texts[i], true, &empty_texts[i].hal,
                       ((const struct of_runs *) data)->visit);
}

#define RUNS(visit)                                                                                \
    &(const struct of_runs)                                                                        \
    {                                                                                              \
        visit                                                                                      \
    }

static const struct conform_rule rules_of_file[] = {
    { "generated", "status", HAL_1_0, 0, "every kind of execution succeeds", runs,
      RUNS(expect_success), true },
    { "generated", "results", HAL_1_0, 0,
      "results are the expected ones, and the same for every kind of execution", runs,
      RUNS(expect_results), true },
    { "generated", "untimed", HAL_1_0, 0, "without measurement both durations are unknown", runs,
      RUNS(expect_no_times), true },
    { "generated", "timed", HAL_1_2, 0,
      "with measurement the time on the device is at most the time in the driver, and that at most "
      "the "
      "time of the call",
      runs, RUNS(expect_times), true },
    { "generated", "steady-times", HAL_1_2, 0, "durations are those of one execution, not of all",
      steady_times },
    { "generated", "specified", HAL_1_0, 0,
      "outputs of known shape: no shape is reported, or one per output; nothing else is written",
      runs, RUNS(expect_shapes), true },
    { "generated", "unspecified", HAL_1_2, 0,
      "outputs of unknown shape or rank: exact shapes are reported, all sufficient", unknown_shapes,
      RUNS(expect_unknown_shapes), true },
    { "generated", "insufficient", HAL_1_2, 0,
      "an output one byte too short: OUTPUT_INSUFFICIENT_SIZE, with all required shapes",
      insufficient, RUNS(expect_insufficient), true },
    { "generated", "zero-sized", HAL_1_2, 0,
      "outputs without elements are computed; fenced executions reject them", empty,
      RUNS(expect_empty), true },
    { "generated", "protocol", HAL_1_0, 0,
      "shapes come only with success or OUTPUT_INSUFFICIENT_SIZE, durations only with success",
      runs, RUNS(expect_protocol), true },
    { "fenced", "chain", HAL_1_3, 0,
      "an execute_fenced can wait for the fence of another; both report success and durations",
      runs, RUNS(expect_chain), true },
};
const struct conform_rules conform_rules_generated = { rules_of_file, COUNT(rules_of_file), begin,
                                                       end };
