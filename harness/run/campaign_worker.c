/* The worker's half of a campaign: runs one case at a time on every target and sends the verdicts.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/base/logging.h"
#include "golden/base/trace.h"
#include "harness/check/per_op_check.h"
#include "harness/run/campaign_internal.h"
#include "harness/run/devices.h"
#include "reports/reports.h"
#include "specs/specs.h"

struct worker_state {
    struct target *target[MAX_TARGETS];
    struct arena *arena; /* of the case at hand */
};

void campaign_end_worker(void *state, void *user)
{
    (void) user;
    struct worker_state *s = state;
    TRACE(LA, PT, "close the targets");
    for (uint32_t i = 0; i < MAX_TARGETS; i++)
        if (s->target[i])
            target_free(s->target[i]);
    arena_free(s->arena);
    free(s);
}

int campaign_start_worker(void *user, void **ret_state, struct why *w)
{
    const struct campaign *c = user;
    const struct target_host host = { harness_host.read_profile, c->options->timeout, true,
                                      harness_host.no_extensions };
    struct worker_state *s = calloc(1, sizeof *s);
    TRACE(LA, PI, "open the targets");
    if (!s || !(s->arena = arena_new(0))) {
        free(s);
        return why_no_memory_for(w, "a worker");
    }
    for (uint32_t i = 0; i < c->n_targets; i++)
        if (target_open(c->target[i], &host, &s->target[i], w) < 0) {
            campaign_end_worker(s, user);
            return -1;
        }
    *ret_state = s;
    return 0;
}

/* ---- messages */

static void send_case(struct worker_pool_link *l, const struct example *e, int level)
{
    const struct graph *g = &e->model.graph[0];
    struct case_message head = { MESSAGE_CASE, level, g->n_operations };
    struct buffer b = { 0 };
    buffer_put(&b, &head, sizeof head);
    for (uint32_t k = 0; k < e->model.n_graphs; k++)
        for (uint32_t i = 0; i < e->model.graph[k].n_operations; i++) {
            const struct operation *p = &e->model.graph[k].operation[i];
            char text[48];
            buffer_printf(&b, "%s\t%s\n", operation_name(p->code, text),
                          operation_type(&e->model.graph[k], p));
        }
    if (!b.failed)
        worker_pool_send(l, b.data, b.length);
    buffer_done(&b);
}

static void send_detail(struct worker_pool_link *l, const struct buffer *detail)
{
    struct buffer b = { 0 };
    uint32_t kind = MESSAGE_DETAIL;
    buffer_put(&b, &kind, sizeof kind);
    buffer_put(&b, detail->data, detail->length);
    if (!b.failed && detail->length)
        worker_pool_send(l, b.data, b.length);
    buffer_done(&b);
}

static void send_verdict(struct worker_pool_link *l, uint32_t target, const struct check_result *r)
{
    struct verdict_message m = { MESSAGE_VERDICT, target, *r };
    worker_pool_send(l, &m, sizeof m);
}

/* Everything that a FILE gets, as a string.  NULL where writing failed. */
static char *write_text(const struct example *e, size_t *ret_length,
                        int (*put)(const struct example *e, FILE *to, struct why *w))
{
    char *text = NULL;
    struct why why;
    FILE *to = open_memstream(&text, ret_length);
    if (!to)
        return NULL;
    int failed = put(e, to, &why);
    if (fclose(to) != 0 || failed < 0) {
        free(text);
        return NULL;
    }
    return text;
}

static int put_spec(const struct example *e, FILE *to, struct why *w)
{
    return specs_write_modpy(e, NULL, to, w);
}

static int put_dot(const struct example *e, FILE *to, struct why *w)
{
    return graph_dump_dot(&e->model, e->name, NULL, to, w);
}

static void send_spec(struct worker_pool_link *l, const struct example *e)
{
    size_t spec_length = 0, dot_length = 0;
    char *spec = write_text(e, &spec_length, put_spec), *dot = write_text(e, &dot_length, put_dot);
    struct spec_message head = { .kind = MESSAGE_SPEC, .spec_length = spec ? spec_length : 0 };
    struct buffer b = { 0 };
    buffer_put(&b, &head, sizeof head);
    if (spec)
        buffer_put(&b, spec, spec_length);
    if (dot)
        buffer_put(&b, dot, dot_length);
    if (!b.failed)
        worker_pool_send(l, b.data, b.length);
    buffer_done(&b);
    free(spec);
    free(dot);
}

/* ---- a case */

static void send_error(struct worker_pool_link *l, const struct campaign *c, uint32_t from,
                       const struct why *w)
{
    struct check_result r = check_without_outcome(VERDICT_ERROR, c->judge);
    snprintf(r.why, sizeof r.why, "%s", w->text);
    for (uint32_t t = from; t < c->n_targets; t++)
        send_verdict(l, t, &r);
}

/* A run, in the words of traces; to be ended. */
static bool begin_run(const struct check *check, const struct target *target)
{
    char name[512];
    if (!TRACE_IS_ON())
        return false;
    snprintf(name, sizeof name, "%s %s", check->example->name, target_uri(target));
    trace_begin(TRACE_NEST, TRACE_LA, TRACE_PO, name);
    return true;
}

static void judge(struct check *check, struct outcome *o, struct check_result *r,
                  struct buffer *detail)
{
    TRACE(LA, PU, "judge");
    check_judge(check, o, r, detail);
}

static void find_reference(struct check *check)
{
    TRACE(LA, PU, "reference");
    check_reference(check);
}

static int make_case(const struct cases *cases, uint64_t i, struct arena *a, struct example *ret,
                     struct why *w)
{
    TRACE(LA, PU, "make the case");
    TRY(cases_get(cases, i, a, ret, w));
    return VLOG_IS_ON(MODEL) ? graph_dump_log(&ret->model, ret->name, w) : 0;
}

static bool run_target(struct worker_pool_link *l, const struct campaign *c, struct check *check,
                       struct target *target, uint32_t t)
{
    struct outcome outcome;
    struct check_result r;
    struct buffer detail = { 0 };
    bool traced = begin_run(check, target);
    worker_pool_mark(l, mark_of(PHASE_TARGET, t));
    target_watch(target, worker_pool_step(l));
    int ran = check_run(check, target, &outcome, &r);
    worker_pool_mark(l, mark_of(PHASE_JUDGE, t));
    if (ran >= 0)
        judge(check, &outcome, &r, c->details ? &detail : NULL);
    if (traced)
        trace_end();
    worker_pool_mark(l, mark_of(PHASE_TARGET, t));
    per_op_check_run(check, target, &r, c->details ? &detail : NULL);
    send_detail(l, &detail);
    buffer_done(&detail);
    send_verdict(l, t, &r);
    return verdict_conforming(r.verdict);
}

static void run_targets(struct worker_pool_link *l, const struct campaign *c,
                        struct worker_state *s, const struct example *e, uint32_t from,
                        bool send_spec_anyway)
{
    struct check check;
    struct why why = { 0 };
    bool wants_spec = send_spec_anyway;
    if (check_begin(&check, e, c->judge, &why) < 0) {
        send_error(l, c, from, &why);
        return;
    }
    check.by_layers = c->cases->spec != NULL; /* real models are deep */
    if (from < c->n_targets) {
        worker_pool_mark(l, mark_of(PHASE_REFERENCE, from));
        find_reference(&check);
    }
    if (from == 0)
        send_case(l, e, check.level);
    for (uint32_t t = from; t < c->n_targets; t++)
        if (!run_target(l, c, &check, s->target[t], t))
            wants_spec = true;
    check_done(&check);
    if (wants_spec && c->results) {
        worker_pool_mark(l, mark_of(PHASE_SPEC, 0));
        send_spec(l, e);
    }
}

void campaign_work(struct worker_pool_link *l, uint64_t item, uint32_t step, void *state,
                   void *user)
{
    const struct campaign *c = user;
    struct worker_state *s = state;
    struct arena_mark mark = arena_mark(s->arena);
    struct example e;
    struct why why = { 0 };
    uint32_t from = step & ~(uint32_t) STEP_SPEC;
    worker_pool_mark(l, mark_of(PHASE_MAKE, from));
    if (make_case(c->cases, campaign_item(c, item), s->arena, &e, &why) < 0)
        send_error(l, c, from, &why);
    else
        run_targets(l, c, s, &e, from, step & STEP_SPEC);
    arena_rewind(s->arena, mark);
}
