#include "harness/check/check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "golden/base/clock.h"
#include "golden/base/text_escape.h"
#include "golden/math/farmhash.h"
#include "harness/check/blame.h"
#include "harness/check/signature.h"
#include "sim/hal/hal_convert.h"

const char *const judge_name[] = { "auto", "cts", "bound", "rules" };

const char *const stage_name[] = {
    [STAGE_SUPPORTED] = "supported",
    [STAGE_PREPARE] = "prepare",
    [STAGE_EXECUTE] = "execute",
    [STAGE_DONE] = "done",
};

/* ---- names of operations */

const char *operation_name(int32_t code, char text[48])
{
    const struct op *op = op_find(code == OEM_CODE ? EXTENSION_CODE(oem, 0) : code);
    if (op)
        return op->name;
    if (extension_prefix_of(code))
        snprintf(text, 48, "extension %u:%d", extension_prefix_of(code), code & 0xffff);
    else
        snprintf(text, 48, "operation %d", code);
    return text;
}

const char *operation_type(const struct graph *g, const struct operation *p)
{
    for (uint32_t pass = 0; pass < 2; pass++) {
        const uint32_t *list = pass ? p->out : p->in;
        uint32_t n = pass ? p->n_out : p->n_in;
        for (uint32_t i = 0; i < n; i++) {
            const struct dtype_info *d = dtype_find((int32_t) g->operand[list[i]].tensor.dtype);
            if (d && d->tensor)
                return d->name;
        }
    }
    return "none";
}

/* For each output of a graph the operation that writes it, UINT32_MAX for an input or a constant;
 * in the arena.  NULL: out of memory. */
static uint32_t *find_writers(const struct graph *g, struct arena *a)
{
    uint32_t *of_operand = arena_alloc(a, g->n_operands, sizeof *of_operand);
    uint32_t *of_output = arena_alloc(a, g->n_outputs, sizeof *of_output);
    if (!of_operand || !of_output)
        return NULL;
    memset(of_operand, 0xff, g->n_operands * sizeof *of_operand);
    for (uint32_t i = 0; i < g->n_operations; i++)
        for (uint32_t k = 0; k < g->operation[i].n_out; k++)
            of_operand[g->operation[i].out[k]] = i;
    for (uint32_t k = 0; k < g->n_outputs; k++)
        of_output[k] = of_operand[g->output[k]];
    return of_output;
}

/* ---- the reference */

static bool expects_all(const struct example *e)
{
    for (uint32_t i = 0; i < e->model.graph[0].n_outputs; i++)
        if (!e->expected[i].data && !(e->ignored && e->ignored[i]) && tensor_count(&e->expected[i]))
            return false;
    return true;
}

/* Outputs whose values are ignored do not count: only the reference can judge those. */
static bool expects_any(const struct example *e)
{
    for (uint32_t i = 0; i < e->model.graph[0].n_outputs; i++)
        if (e->expected[i].data && !(e->ignored && e->ignored[i]))
            return true;
    return false;
}

enum judge_kind check_resolve(const struct example *e, enum judge_kind asked)
{
    if (asked != JUDGE_AUTO)
        return asked;
    return expects_any(e) || e->expect_failure ? JUDGE_CTS : JUDGE_BOUND;
}

int check_begin(struct check *c, const struct example *e, enum judge_kind asked, struct why *w)
{
    struct arena *arena = arena_new(0);
    const struct graph *g = &e->model.graph[0];
    struct shape *shape = arena ? arena_alloc(arena, g->n_outputs, sizeof *shape) : NULL;
    uint32_t *writer = shape ? find_writers(g, arena) : NULL;
    if (!writer) {
        arena_free(arena);
        return why_no_memory_for(w, "%s", e->name);
    }
    for (uint32_t i = 0; i < g->n_outputs; i++)
        shape[i] =
            e->expected[i].data ? e->expected[i].shape : g->operand[g->output[i]].tensor.shape;
    *c = (struct check){ .example = e,
                         .judge = check_resolve(e, asked),
                         .level = -1,
                         .arena = arena,
                         .half = model_is_half(&e->model),
                         .writer = writer,
                         .out_shape = shape };
    return 0;
}

void check_done(struct check *c)
{
    if (c->have_result)
        result_done(&c->result);
    plan_free(c->plan);
    arena_free(c->arena);
    *c = (struct check){ 0 };
}

static bool needs_result(const struct check *c)
{
    const struct example *e = c->example;
    if (e->expect_failure)
        return false;
    return c->judge == JUDGE_BOUND || !expects_all(e) || e->multinomial_tolerance > 0;
}

static void run_reference(struct check *c)
{
    struct why why = { 0 };
    const struct model *m = &c->example->model;
    c->level = model_prepare(m, NULL, &why);
    if (c->level < 0 || !needs_result(c)) {
        if (c->level < 0 && (why.code != WHY_UNSUPPORTED || needs_result(c)))
            snprintf(c->reference_why, sizeof c->reference_why, "%s", why.text);
        return;
    }
    struct exec_options options = { .bounds = c->judge == JUDGE_BOUND };
    if (plan_new(m, &c->plan, &why) < 0 ||
        plan_run(c->plan, c->example->in, &options, &c->result, &why) < 0) {
        snprintf(c->reference_why, sizeof c->reference_why, "%s", why.text);
        return;
    }
    c->have_result = true;
    for (uint32_t i = 0; i < c->result.n; i++)
        c->out_shape[i] = c->result.out[i].shape;
}

void check_reference(struct check *c)
{
    if (c->referenced)
        return;
    c->referenced = true;
    const uint64_t begun = clock_ns(CLOCK_PROCESS_CPUTIME_ID);
    run_reference(c);
    c->reference_ns = clock_ns(CLOCK_PROCESS_CPUTIME_ID) - begun;
}

uint64_t check_extra_ns(const struct check *c)
{
    return 20 * c->reference_ns;
}

/* ---- running */

struct check_result check_without_outcome(enum verdict v, enum judge_kind judge)
{
    return (struct check_result){ .verdict = v,
                                  .judge = judge,
                                  .stage = "none",
                                  .status = "NONE",
                                  .device_ns = HAL_NO_TIME,
                                  .output = -1 };
}

void check_settle_attempts(struct check_result *r)
{
    char deaths[sizeof r->confirmed];
    if (!r->attempts)
        return;
    snprintf(deaths, sizeof deaths, "%s", r->confirmed);
    snprintf(r->confirmed, sizeof r->confirmed, "%u of %u runs do not conform%s%.100s",
             r->failed_attempts, r->attempts, deaths[0] ? "; " : "", deaths);
    if (r->failed_attempts == r->attempts)
        return;
    r->was = r->verdict;
    r->verdict = VERDICT_FLAKY;
}

/* In a share of the cases, the same ones in every run. */
static bool traps_inputs(const struct example *e)
{
    return farmhash64(e->name, strlen(e->name)) % 8 == 0;
}

int check_run(struct check *c, struct target *t, struct outcome *ret_outcome,
              struct check_result *ret_result)
{
    const struct target_run_options options = {
        .measure = true,
        .trap_inputs = traps_inputs(c->example),
        .keep_prepared = c->is_varied && variation_uses_prepared(&c->variation),
        .allowance_ns = check_extra_ns(c)
    };

    return check_run_as(c, t, &options, ret_outcome, ret_result);
}

int check_run_as(struct check *c, struct target *t, const struct target_run_options *options,
                 struct outcome *ret_outcome, struct check_result *ret_result)
{
    struct check_result r = check_without_outcome(VERDICT_ERROR, c->judge);
    struct why why = { 0 };
    uint64_t begin = clock_steady_ns();
    c->itself = strcmp(target_uri(t), "golden") == 0;
    int ran =
        target_run(t, &c->example->model, c->example->in, c->out_shape, options, ret_outcome, &why);
    r.ms = (double) (clock_steady_ns() - begin) * 1e-6;
    if (ran < 0)
        snprintf(r.why, sizeof r.why, "%s", why.text);
    *ret_result = r;
    return ran;
}

/* ---- verdicts that need no numbers */

static void describe_unsupported(const struct check *c, const struct outcome *o,
                                 struct check_result *r)
{
    const struct graph *g = &c->example->model.graph[0];
    uint32_t first = o->n_ops, n = 0;
    if (o->not_passed[0]) {
        snprintf(r->why, sizeof r->why, "%s", o->not_passed);
        return;
    }
    for (uint32_t i = 0; i < o->n_ops && i < g->n_operations; i++)
        if (!o->supported[i]) {
            first = n++ ? first : i;
        }
    if (!n) {
        snprintf(r->why, sizeof r->why, "the driver does not support this model");
        return;
    }
    const struct operation *p = &g->operation[first];
    char name[48];
    struct blamed b = { .count = 1, .operation = first, .of = g->n_operations, .output = -1 };
    snprintf(b.name, sizeof b.name, "%s", operation_name(p->code, name));
    snprintf(b.type, sizeof b.type, "%s", operation_type(g, p));
    operation_signature(&c->example->model, g, p, b.why, sizeof b.why);
    snprintf(r->why, sizeof r->why, "operation %u", first);
    if (n > 1)
        text_append(r->why, sizeof r->why, " and %u other%s", n - 1, n == 2 ? "" : "s");
    text_append(r->why, sizeof r->why, " %s not supported: %s", n == 1 ? "is" : "are", b.why);
    r->blamed = b;
}

static void judge_failed_call(const struct check *c, struct check_result *r, enum stage stage)
{
    if (c->example->expect_failure && stage == STAGE_EXECUTE) {
        r->verdict = VERDICT_PASS;
        snprintf(r->why, sizeof r->why, "execution fails, as the example requires");
        return;
    }
    r->verdict = stage == STAGE_SUPPORTED ? VERDICT_VIOLATION : VERDICT_REFUSED;
    snprintf(r->why, sizeof r->why, "%s returned %s%s",
             stage == STAGE_SUPPORTED ? "get_supported_operations of a valid model"
             : stage == STAGE_PREPARE ? "every operation is supported, but prepare_model"
                                      : "the model is prepared, but the execution",
             r->status,
             stage == STAGE_SUPPORTED
                 ? "; expected NONE, with false for each operation that is not supported"
                 : "");
}

/* Whether the number of elements of an output depends on values that are within their bounds on
 * either side of a tie, so that neither its shape nor its values can be judged. */
static bool is_open(const struct check *c, uint32_t i)
{
    return c->judge == JUDGE_BOUND && c->have_result && c->result.open[i];
}

static bool any_open(const struct check *c)
{
    for (uint32_t i = 0; c->have_result && i < c->result.n; i++)
        if (is_open(c, i))
            return true;
    return false;
}

static void note_done(const struct exec_event *event, void *user)
{
    bool *done = user;

    if (event->graph == 0)
        done[event->operation] = true;
}

/* The operation of the main graph with which the reference fails, and its reason.  False: it does
 * not fail, or not for what one operation is given. */
static bool find_failing(const struct example *e, struct arena *a, uint32_t *ret_operation,
                         struct why *ret_why)
{
    const struct graph *g = &e->model.graph[0];
    bool *done = arena_alloc(a, g->n_operations + 1, sizeof *done);
    uint32_t *order = arena_alloc(a, g->n_operations + 1, sizeof *order), i = 0;
    const struct exec_options options = {
        .max_iterations = 1000, .max_operations = 10000, .on_operation = note_done, .user = done
    };
    struct plan *plan;
    struct result result;

    if (!done || !order || graph_order(g, a, order, ret_why) < 0 ||
        plan_new(&e->model, &plan, ret_why) < 0)
        return false;
    bool fails = plan_run(plan, e->in, &options, &result, ret_why) < 0;
    plan_free(plan);
    if (!fails) {
        result_done(&result);
        return false;
    }
    while (i < g->n_operations && done[order[i]])
        i++;
    if (ret_why->code != WHY_EXECUTION || i == g->n_operations)
        return false;
    *ret_operation = order[i];
    const struct op *op = op_find(g->operation[order[i]].code);
    return op && op->control_kind == CONTROL_NONE; /* those are not reported as done */
}

static void judge_success(const struct check *c, struct check_result *r)
{
    struct arena_mark mark = arena_mark(c->arena);
    struct blame b = { .is_alone = true, .count = 1, .member = &b.operation };
    struct why why = { 0 };

    r->verdict = VERDICT_FAIL;
    snprintf(r->why, sizeof r->why,
             "must fail at execution; the driver returned NONE and values for the outputs");
    if (find_failing(c->example, c->arena, &b.operation, &why)) {
        b.first = b.operation;
        b.own = *r;
        snprintf(b.own.why, sizeof b.own.why, "must fail: %.300s", why.text);
        r->blamed = blame_summary(c, &b);
        text_append(r->why, sizeof r->why, " (operation %u: %.300s)", b.operation, why.text);
    }
    arena_rewind(c->arena, mark);
}

/* Judges everything but the outputs.  True when that decides the verdict. */
static bool judge_without_outputs(const struct check *c, const struct outcome *o,
                                  struct check_result *r)
{
    if (o->violation[0]) {
        r->verdict = o->hung                     ? VERDICT_HANG
                     : o->died && !o->trespassed ? VERDICT_CRASH
                                                 : VERDICT_VIOLATION;
        snprintf(r->why, sizeof r->why, "%s", o->violation);
        char line[200];
        if (o->died && o->prints && *text_last_line(o->prints, line, sizeof line))
            text_append(r->why, sizeof r->why, "; its output: %s", line);
    } else if (o->stage == STAGE_SUPPORTED && o->status == HAL_NONE) {
        r->verdict = VERDICT_UNSUPPORTED;
        describe_unsupported(c, o, r);
    } else if (c->reference_why[0]) {
        r->verdict = VERDICT_ERROR;
        snprintf(r->why, sizeof r->why, "no reference result: %s", c->reference_why);
    } else if (o->stage == STAGE_EXECUTE && o->status == HAL_OUTPUT_INSUFFICIENT_SIZE &&
               any_open(c)) {
        r->verdict = VERDICT_UNDECIDED;
        snprintf(r->why, sizeof r->why,
                 "no element could be compared: the right number of elements is open, and may "
                 "exceed the output's buffer");
    } else if (o->stage != STAGE_DONE) {
        judge_failed_call(c, r, o->stage);
    } else if (c->example->expect_failure) {
        judge_success(c, r);
    } else {
        return false;
    }
    return true;
}

/* ---- outputs */

static struct judgement judge_output(const struct check *c, uint32_t i, const struct tensor *actual)
{
    const struct example *e = c->example;
    const struct result *ref = &c->result;
    if (c->have_result && ref->distribution[i])
        return judge_distribution(ref->distribution[i],
                                  c->judge == JUDGE_CTS ? e->multinomial_tolerance : 0, actual);
    if (c->judge == JUDGE_BOUND)
        return judge_result(ref, i, actual);
    const struct tensor *expected = e->expected[i].data ? &e->expected[i] : &ref->out[i];
    /* Quantised steps that the NNAPI suites allow: one, and three for one network. */
    int steps = strstr(e->name, "mobilenet_quantized") ? 3 : 1;
    return judge_cts(expected, actual, c->half, steps);
}

/* Whether an output's values are not judged.  Specifications mark random results as ignored; their
 * distribution is judged all the same. */
static bool is_ignored(const struct check *c, uint32_t i)
{
    if (c->example->multinomial_tolerance > 0 && c->have_result && c->result.distribution[i])
        return false;
    return c->judge == JUDGE_CTS && c->example->ignored && c->example->ignored[i];
}

/* Row-major index -> "[0,3,2]". */
static void put_place(const struct shape *s, size_t index, char *text, size_t size)
{
    uint32_t at[MAX_RANK] = { 0 };
    for (uint32_t d = s->rank; d-- > 0;) {
        at[d] = s->dim[d] ? (uint32_t) (index % s->dim[d]) : 0;
        index = s->dim[d] ? index / s->dim[d] : 0;
    }
    text[0] = 0;
    text_append(text, size, "[");
    for (uint32_t d = 0; d < s->rank; d++)
        text_append(text, size, "%s%u", d ? "," : "", at[d]);
    text_append(text, size, "]");
}

/* Whether j is worse than the worst so far: a failing output is worse than a passing one, then the
 * larger ratio decides; NaN is worse than any number. */
static bool is_worse(const struct judgement *j, bool ok, const struct check_result *r, bool r_ok)
{
    if (r->output < 0)
        return true;
    if (ok != r_ok)
        return !ok;
    return isnan(j->ratio) ? !isnan(r->ratio) : j->ratio > r->ratio;
}

/* A wrong shape breaks the HAL contract: a violation.  Of an open output only the rank is known. */
static bool judge_shape(const struct check *c, uint32_t i, const struct tensor *actual,
                        struct check_result *r)
{
    char is[SHAPE_TEXT], must[SHAPE_TEXT];
    const struct shape *s = &c->out_shape[i];
    if (is_open(c, i) ? s->rank == actual->shape.rank : shape_equal(s, &actual->shape))
        return true;
    r->verdict = VERDICT_VIOLATION;
    snprintf(r->why, sizeof r->why, "output %u has shape %s, expected %s", i,
             shape_text(&actual->shape, is), shape_text(s, must));
    return false;
}

/* The worst element of a quantised output as stored numbers and as real ones: the judges compare
 * real values by bound, and stored numbers with the tolerances of the suites. */
static void put_steps(struct buffer *detail, const struct tensor *t, const struct judgement *j,
                      bool is_stored)
{
    const double scale = (double) t->scale, zero = t->zero;

    if (scale == 0 || t->channel_scale)
        return;
    const double expected = is_stored ? j->expected : j->expected / scale + zero;
    const double actual = is_stored ? j->actual : j->actual / scale + zero;
    buffer_printf(detail, "    stored %.6g, %.6g: off by %.3g steps of %.6g; real %.9g, %.9g\n",
                  expected, actual, fabs(actual - expected), scale, (expected - zero) * scale,
                  (actual - zero) * scale);
}

static char *put_worst(const char *place, const struct element_units *u, const double real[3],
                       double ratio, char ret_text[WORST_TEXT])
{
    const double scale = u->scale, to_real = u->is_stored ? scale : 1;
    const double stored[2] = { u->is_stored ? real[0] : real[0] / scale + u->zero,
                               u->is_stored ? real[1] : real[1] / scale + u->zero };
    const double off = fabs(stored[1] - stored[0]);

    if (scale == 0)
        snprintf(ret_text, WORST_TEXT,
                 "worst %s: expected %.9g, got %.9g, allowed error %.3g, ratio %.3g", place,
                 real[0], real[1], real[2], ratio);
    else
        snprintf(ret_text, WORST_TEXT,
                 "worst %s: expected %.6g (%.9g), got %.6g (%.9g), off by %.3g step%s, "
                 "allowed error %.3g (%.3g), ratio %.3g",
                 place, stored[0], (stored[0] - u->zero) * scale, stored[1],
                 (stored[1] - u->zero) * scale, off, off > 1 || off < 1 ? "s" : "",
                 real[2] * to_real / scale, real[2] * to_real, ratio);
    return ret_text;
}

char *worst_text(const struct check_result *r, char ret_text[WORST_TEXT])
{
    return put_worst(r->place, &r->units, (double[]){ r->expected, r->actual, r->bound }, r->ratio,
                     ret_text);
}

char *worst_text_of_blamed(const struct blamed *b, char ret_text[WORST_TEXT])
{
    return put_worst(b->place, &b->units, (double[]){ b->expected, b->actual, b->bound }, b->ratio,
                     ret_text);
}

void check_add_gain(struct check_result *r, const struct check_gain *g)
{
    for (uint32_t i = 0; i < r->n_gains; i++)
        if (r->gain[i].operation == g->operation)
            return;
    if (r->n_gains < CHECK_GAINS)
        r->gain[r->n_gains++] = *g;
}

static void judge_one(const struct check *c, uint32_t i, const struct outcome *o,
                      struct check_result *r, struct buffer *detail)
{
    const struct example *e = c->example;
    /* The values that the example expects, where the reference would be compared with itself. */
    bool instead = c->itself && c->judge == JUDGE_BOUND && e->expected[i].data &&
                   !(e->ignored && e->ignored[i]);
    const struct tensor *actual = instead ? &e->expected[i] : &o->out[i];
    const struct operation *p =
        c->writer[i] == UINT32_MAX ? NULL : &e->model.graph[0].operation[c->writer[i]];
    const struct dtype_info *d = dtype_find((int32_t) actual->dtype);
    struct judgement j = judge_output(c, i, actual);
    bool ok_before = r->verdict == VERDICT_PASS;
    char place[sizeof r->place], shape[SHAPE_TEXT], text[48];

    r->checked += j.checked;
    r->wrong += j.wrong;
    if (p && gain_is_measured(&j.gain))
        check_add_gain(
            r, &(struct check_gain){ c->writer[i], p->code, (int32_t) actual->dtype, j.gain });
    put_place(&actual->shape, j.worst, place, sizeof place);
    if (detail)
        buffer_printf(detail, "output %u: %s%s of %s: %zu elements compared, %zu wrong%s%s\n", i,
                      d ? d->name : "?", shape_text(&actual->shape, shape),
                      p ? operation_name(p->code, text) : "an input", j.checked, j.wrong,
                      !j.ok && !j.wrong ? ": " : "", !j.ok && !j.wrong ? j.why : "");
    if (detail && j.checked)
        buffer_printf(
            detail,
            "    worst %s: expected %.9g, got %.9g, off by %.3g, allowed %.3g, ratio %.3g\n", place,
            j.expected, j.actual, fabs(j.actual - j.expected), j.bound, j.ratio);
    if (detail && j.checked)
        put_steps(detail, actual, &j, c->judge == JUDGE_CTS);
    if (is_worse(&j, j.ok, r, ok_before)) {
        r->output = (int32_t) i;
        r->element = j.worst;
        r->expected = j.expected;
        r->actual = j.actual;
        r->bound = j.bound;
        r->ratio = j.ratio;
        r->units = (struct element_units){ .is_stored = c->judge == JUDGE_CTS };
        if (!actual->channel_scale) {
            r->units.scale = (double) actual->scale;
            r->units.zero = actual->zero;
        }
        snprintf(r->place, sizeof r->place, "%s", place);
        snprintf(r->operation, sizeof r->operation, "%s", p ? operation_name(p->code, text) : "");
        snprintf(r->type, sizeof r->type, "%s", d ? d->name : "?");
    }
    if (!j.ok && ok_before) {
        r->verdict = VERDICT_FAIL;
        snprintf(r->why, sizeof r->why, "output %u%s: %s", i,
                 instead ? ", value expected by the example" : "", j.why);
    }
}

/* The verdict of outputs of which no element was compared. */
static void judge_uncompared(const struct check *c, const struct outcome *o, struct check_result *r)
{
    uint32_t ignored = 0, empty = 0;
    for (uint32_t i = 0; i < o->n_out; i++) {
        ignored += is_ignored(c, i);
        empty += !is_ignored(c, i) && !is_open(c, i) && !tensor_count(&o->out[i]);
    }
    const bool only_shapes = o->n_out && empty == o->n_out;
    r->verdict = only_shapes ? VERDICT_PASS : VERDICT_UNDECIDED;
    snprintf(r->why, sizeof r->why, "%s",
             only_shapes ? "no output has elements; the shapes were compared"
             : ignored == o->n_out
                 ? "no element could be compared: the example ignores the values of every output "
                   "(--judge bound compares them)"
                 : "no element could be compared: any value is within the error bound");
}

static void judge_outputs(const struct check *c, const struct outcome *o, struct check_result *r,
                          struct buffer *detail)
{
    r->verdict = VERDICT_PASS;
    for (uint32_t i = 0; i < o->n_out; i++)
        if (!is_ignored(c, i) && !judge_shape(c, i, &o->out[i], r))
            return;
    for (uint32_t i = 0; i < o->n_out; i++)
        if (!is_ignored(c, i) && !is_open(c, i))
            judge_one(c, i, o, r, detail);
        else if (detail)
            buffer_printf(detail, "output %u: %s\n", i,
                          is_open(c, i) ? "undecided, values and shape"
                                        : "ignored by the specification");
    if (r->verdict == VERDICT_PASS && !r->checked)
        judge_uncompared(c, o, r);
}

/* Adds the changes of the model's conversion to the target's HAL version to the explanation. */
static void add_notes(const struct outcome *o, struct check_result *r, struct buffer *detail)
{
    for (uint32_t i = 0; i < o->n_notes; i++) {
        const char *lost = o->note[i].lost ? "lost at this HAL version: " : "";
        r->lost = r->lost || o->note[i].lost;
        if (detail)
            buffer_printf(detail, "%s%s\n", lost, o->note[i].text);
        else if ((r->verdict == VERDICT_PASS || r->verdict == VERDICT_UNDECIDED) && o->note[i].lost)
            text_append(r->why, sizeof r->why, "%s%s%s", r->why[0] ? "; " : "", lost,
                        o->note[i].text);
    }
}

void check_judge(struct check *c, struct outcome *o, struct check_result *r, struct buffer *detail)
{
    snprintf(r->stage, sizeof r->stage, "%s", stage_name[o->stage]);
    if ((unsigned) o->status < HAL_STATUS_COUNT)
        snprintf(r->status, sizeof r->status, "%s", hal_status_name(o->status));
    else
        snprintf(r->status, sizeof r->status, "status %u", (unsigned) o->status);
    r->device_ns = o->timing.on_device;
    r->died = o->died;
    r->signal = o->signal;
    if (!judge_without_outputs(c, o, r))
        judge_outputs(c, o, r, detail);
    if (o->failure_text[0] && r->why[0])
        text_append(r->why, sizeof r->why, "; the driver's reason: %s", o->failure_text);
    add_notes(o, r, detail);
    text_clean(r->why);
    outcome_done(o);
}
