#include "harness/run/support_probe.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/cli/console.h"
#include "harness/run/devices.h"
#include "harness/run/worker_pool.h"
#include "sim/hal/hal_convert.h"

/* CONTROL_SAMPLES models of IF and of WHILE are asked about per element type, of which
 * CONTROL_ENOUGH must be supported: their subgraphs have other operations as well. */
enum { ASKED_TWICE = 3 };  /* supported calls of a row: a driver's answers may vary */
enum { MOST_FAILED = 32 }; /* draws of a row that give no call: its limits leave few */
/* Where no limit on sizes, or on sides, is learned; draws for each; how many must be refused for
 * their sides. */
enum { LARGE_SAMPLES = 4, LARGE_DRAWS = 8, LARGE_ENOUGH = 2 };
_Static_assert(RANDGRAPH_LARGE == LARGE_SAMPLES * LARGE_DRAWS, "the longest sides follow");
enum { CONTROL_SAMPLES = 5, CONTROL_ENOUGH = 4, LOOP = DT_COUNT };
/* Models of several operations: FREE_MODELS are drawn within the set before any within limits on
 * models. */
enum { MODELS = 2 * LOOP, FREE_MODELS = 32, SURE_MODELS = 24, MORE_MODELS = 6, MOST_MODELS = 256 };

/* An item is a probe row; of the second round: an element type of IF, LOOP + type of WHILE, and
 * MODELS for limits on whole models. */
struct probe {
    const char *uri;
    double timeout;
    struct target *target;           /* in a worker */
    int level;                       /* that the target's HAL version represents */
    struct randgraph_limits *limits; /* by probe row */
    uint32_t control[2];             /* bit per enum dtype */
    struct randgraph_model_limits models;
    struct randgraph_support *set; /* in the second round: with IF and WHILE of all types */
    uint64_t asked;
    uint8_t *lost;   /* by item: its driver has died once, which may have come from outside */
    bool again;      /* the item that ends is asked again */
    uint32_t deaths; /* that repeat; and rows with different answers to the same model */
    char *note;
};

/* A worker's answer. */
enum answer_kind { ANSWER_LIMITS, ANSWER_DEAD, ANSWER_UNSTABLE, ANSWER_LEVEL };
struct probe_answer {
    enum answer_kind kind;
    uint32_t asked;
    int level;
    bool control;
    struct randgraph_limits limits;
    struct randgraph_model_limits models;
    char how[256]; /* of a death */
};

/* ---- in a worker */

static int start(void *user, void **ret_state, struct why *w)
{
    struct probe *p = user;
    TRY(target_open(p->uri, &harness_host, &p->target, w));
    const enum hal_version version = target_version(p->target);
    p->level = version ? hal_level(version) : randgraph_default.max_level;
    *ret_state = p;
    return 0;
}

static void end(struct worker_pool_link *l, void *state, void *user)
{
    (void) l, (void) user;
    target_free(((struct probe *) state)->target);
}

/* Whether the model is supported.  False also where the driver dies, which a->kind tells then. */
static bool ask(const struct probe *p, const struct example *e, struct arena *arena,
                struct probe_answer *a)
{
    const struct target_run_options options = { .only_query_support = true };
    uint32_t n = e->model.graph[0].n_outputs;
    struct shape *shape = arena_alloc(arena, n, sizeof *shape);
    struct outcome o;
    struct why why;
    if (!shape)
        return false;
    for (uint32_t i = 0; i < n; i++)
        shape[i] = e->expected[i].shape;
    a->asked++;
    if (target_run(p->target, &e->model, e->in, shape, &options, &o, &why) < 0) {
        if (why.code == WHY_SYSTEM) { /* its process is gone */
            a->kind = ANSWER_DEAD;
            snprintf(a->how, sizeof a->how, "%.200s", why.text);
        }
        return false;
    }
    bool yes = !o.died && !o.violation[0] && o.stage != STAGE_SUPPORTED;
    if (o.died) {
        a->kind = ANSWER_DEAD;
        snprintf(a->how, sizeof a->how, "%s", o.violation);
    }
    outcome_done(&o);
    return yes;
}

/* Which variants of a supported call are not supported. */
static void ask_variants(const struct probe *p, uint32_t row, uint32_t index,
                         const struct randgraph_limits *within, struct probe_answer *a)
{
    for (int v = 0; v < RANDGRAPH_VARIANTS && a->kind == ANSWER_LIMITS; v++) {
        uint8_t trait[RANDGRAPH_TRAITS];
        struct arena *arena = arena_new(0);
        struct example e;
        struct why why;
        if (arena && randgraph_probe(row, index, p->level, within, arena, &e, trait, &why) == 0 &&
            randgraph_probe_variant(&e, (enum randgraph_variant) v) && !ask(p, &e, arena, a))
            randgraph_refuse(row, (enum randgraph_variant) v, &a->limits);
        arena_free(arena);
    }
}

/* The calls of a row that are asked about. */
struct row_probe {
    const struct probe *p;
    uint32_t row;
    struct randgraph_sample sample[RANDGRAPH_SAMPLES + 2 * LARGE_SAMPLES];
    uint32_t n, next, yes; /* samples; index of the next one; that are supported */
    uint32_t right;        /* the last ones whose answers the limits predict */
    uint32_t limits, failed;
    uint32_t first; /* index of the first one that is supported, and how it is drawn */
    bool first_is_free;
    struct randgraph_limits within_first;
};

/* Draws a call and asks about it; the sample is not counted yet.  False: there is no such call. */
static bool ask_sample(struct row_probe *r, uint32_t index, const struct randgraph_limits *within,
                       struct randgraph_sample *ret_sample, struct probe_answer *a)
{
    struct arena *arena = arena_new(0);
    struct example e;
    struct why why;
    const bool made = arena && randgraph_probe(r->row, index, r->p->level, within, arena, &e,
                                               ret_sample->trait, &why) == 0;
    if (made)
        ret_sample->supported = ask(r->p, &e, arena, a);
    if (made && ret_sample->supported && r->yes < ASKED_TWICE && !ask(r->p, &e, arena, a) &&
        a->kind == ANSWER_LIMITS)
        a->kind = ANSWER_UNSTABLE;
    arena_free(arena);
    return made;
}

static void learn(struct row_probe *r, struct probe_answer *a)
{
    randgraph_learn(r->row, r->sample, r->n, &a->limits);
    r->limits = randgraph_count_limits(&a->limits);
    r->right = 0;
}

/* Until the limits predict enough answers. */
static void ask_calls(struct row_probe *r, struct worker_pool_link *l, struct probe_answer *a)
{
    for (; r->next < RANDGRAPH_SAMPLES && r->failed <= MOST_FAILED && a->kind == ANSWER_LIMITS;
         r->next++) {
        struct randgraph_sample *s = &r->sample[r->n];
        struct randgraph_limits room;
        if ((r->next >= RANDGRAPH_FIRST_SAMPLES && !r->yes) ||
            r->right >= RANDGRAPH_SURE_SAMPLES + 2 * r->limits)
            break;
        const struct randgraph_limits *within =
            randgraph_guide(r->row, r->next, &a->limits, &room) ? &room : NULL;
        bool made = within && ask_sample(r, r->next, within, s, a);
        if (!made) { /* also where no call is within limits that are too narrow yet */
            within = NULL;
            made = ask_sample(r, r->next, NULL, s, a);
        }
        if (made) {
            if (!r->yes) {
                r->first = r->next;
                r->first_is_free = !within;
                r->within_first = room;
            }
            r->yes += s->supported;
            r->n++;
            r->right++;
            if (randgraph_is_within(&a->limits, s) != s->supported)
                learn(r, a);
        } else {
            r->failed++;
        }
        worker_pool_keep_alive(l);
    }
}

/* The largest of the draws for large sample i, or the one with the longest side, by its index. */
static uint32_t find_large(const struct row_probe *r, uint32_t i, enum randgraph_extent extent,
                           const struct randgraph_limits *within)
{
    const uint32_t begin = RANDGRAPH_SAMPLES + (extent == EXTENT_SIDE ? RANDGRAPH_LARGE : 0);
    const uint32_t from = begin + i * LARGE_DRAWS;
    uint32_t best = from, most = 0;
    for (uint32_t k = from; k < from + LARGE_DRAWS; k++) {
        struct arena *arena = arena_new(0);
        struct randgraph_sample s;
        struct example e;
        struct why why;
        if (arena &&
            randgraph_probe(r->row, k, r->p->level, within, arena, &e, s.trait, &why) == 0 &&
            randgraph_sample_extent(&s, extent) > most) {
            best = k;
            most = randgraph_sample_extent(&s, extent);
        }
        arena_free(arena);
    }
    return best;
}

/* Whether the sides of these n samples are why some are not supported: those of all supported ones
 * are shorter.  What else may be large in such calls, such as windows, is no limit on sides. */
static bool are_too_long(const struct row_probe *r, const struct randgraph_sample *s, uint32_t n)
{
    uint32_t longest = 0, shortest = UINT32_MAX, refused = 0;
    for (uint32_t i = 0; i < r->n + n; i++) {
        const struct randgraph_sample *k = i < r->n ? &r->sample[i] : &s[i - r->n];
        const uint32_t side = randgraph_sample_extent(k, EXTENT_SIDE);
        if (k->supported)
            longest = side > longest ? side : longest;
        else if (i >= r->n) {
            shortest = side < shortest ? side : shortest;
            refused++;
        }
    }
    return refused >= LARGE_ENOUGH && shortest > longest;
}

/* Large calls, which are rarely drawn otherwise.  True: some are not supported; only then they
 * count, and the limits are learned again. */
static bool ask_large_calls(struct row_probe *r, enum randgraph_extent extent,
                            struct probe_answer *a)
{
    const struct randgraph_limits within = a->limits;
    uint32_t n = 0;
    bool refused = false;
    for (uint32_t i = 0; i < LARGE_SAMPLES && a->kind == ANSWER_LIMITS; i++) {
        struct randgraph_sample *s = &r->sample[r->n + n];
        const struct randgraph_limits *room = r->limits ? &within : NULL;
        if (!ask_sample(r, find_large(r, i, extent, room), room, s, a))
            continue;
        refused = refused || !s->supported;
        n++;
    }
    if (!refused || a->kind != ANSWER_LIMITS ||
        (extent == EXTENT_SIDE && !are_too_long(r, &r->sample[r->n], n)))
        return false;
    r->n += n;
    learn(r, a);
    return true;
}

static void ask_row(const struct probe *p, uint32_t row, struct worker_pool_link *l,
                    struct probe_answer *a)
{
    static struct row_probe r;
    memset(&r, 0, sizeof r);
    r.p = p;
    r.row = row;
    ask_calls(&r, l, a);
    for (int e = EXTENT_SIZE; e <= EXTENT_SIDE && r.yes; e++)
        if (!randgraph_limits_extent(&a->limits, (enum randgraph_extent) e) &&
            ask_large_calls(&r, (enum randgraph_extent) e, a))
            ask_calls(&r, l, a);
    randgraph_learn(row, r.sample, r.n, &a->limits);
    if (r.yes)
        ask_variants(p, row, r.first, r.first_is_free ? NULL : &r.within_first, a);
}

/* Graphs of IF or WHILE alone, whose subgraphs are drawn within the set. */
static void ask_control(const struct probe *p, uint64_t item, struct probe_answer *a)
{
    struct randgraph_options options = randgraph_default;
    uint32_t yes = 0, no = 0;
    if (p->level < 4)
        return; /* IF and WHILE are newer */
    options.min_ops = options.max_ops = 1;
    options.max_dim = 4;
    options.relaxed = 0;
    options.only = randgraph_only(item < LOOP ? "IF" : "WHILE");
    options.dtypes = 1u << item % LOOP;
    options.support = p->set;
    options.support_digest = randgraph_support_digest(p->set);
    for (uint64_t i = 0; yes + no < CONTROL_SAMPLES && no <= CONTROL_SAMPLES - CONTROL_ENOUGH &&
                         a->kind == ANSWER_LIMITS;
         i++) {
        struct arena *arena = arena_new(0);
        struct example e;
        struct why why;
        int made = arena ? randgraph_make(&options, 1, i, arena, &e, &why) : -1;
        if (made == 0 && ask(p, &e, arena, a))
            yes++;
        else
            no += made == 0 ? 1 : CONTROL_SAMPLES; /* other tries would take long, too */
        arena_free(arena);
    }
    a->control = yes >= CONTROL_ENOUGH;
}

/* The models of several operations that are asked about. */
struct models_probe {
    const struct probe *p;
    struct randgraph_model_sample sample[MOST_MODELS];
    uint32_t n, index, right; /* samples; index of the next; the last ones that are predicted */
};

/* Draws a model within the limits and asks about it. */
static void ask_model(struct models_probe *m, const struct randgraph_model_limits *within,
                      struct probe_answer *a)
{
    struct randgraph_model_sample *s = &m->sample[m->n];
    struct arena *arena = arena_new(0);
    struct randgraph_support *set = NULL;
    struct example e;
    struct why why;
    if (arena &&
        (!within ||
         randgraph_support_new(m->p->level, m->p->limits, 0, 0, within, &set, &why) == 0) &&
        randgraph_probe_model(set ? set : m->p->set, m->index, arena, &e, s->value, &why) == 0) {
        s->supported = ask(m->p, &e, arena, a);
        m->right++;
        if (randgraph_model_is_within(&a->models, s) != s->supported)
            m->right = 0;
        m->n++;
    }
    m->index++;
    randgraph_support_free(set);
    arena_free(arena);
}

/* What a driver refuses of models whose operations it supports: until the limits predict enough
 * answers. */
static void ask_models(const struct probe *p, struct worker_pool_link *l, struct probe_answer *a)
{
    static struct models_probe m;
    memset(&m, 0, sizeof m);
    m.p = p;
    uint32_t enough = SURE_MODELS;
    while (m.index < MOST_MODELS && m.right < enough && a->kind == ANSWER_LIMITS) {
        struct randgraph_model_limits room;
        const bool guided =
            m.index >= FREE_MODELS && randgraph_guide_models(m.index, &a->models, &room);
        ask_model(&m, guided ? &room : NULL, a);
        if (m.right == 0)
            randgraph_learn_models(m.sample, m.n, &a->models);
        enough = SURE_MODELS + MORE_MODELS * randgraph_count_model_limits(&a->models);
        worker_pool_keep_alive(l);
    }
}

static void ask_item(struct worker_pool_link *l, uint64_t item, uint32_t step, void *state,
                     void *user)
{
    struct probe *p = state;
    struct probe_answer a = { .kind = ANSWER_LIMITS, .level = p->level };
    (void) step, (void) user;
    if (p->set && item == MODELS)
        ask_models(p, l, &a);
    else if (p->set)
        ask_control(p, item, &a);
    else
        ask_row(p, (uint32_t) item, l, &a);
    worker_pool_send(l, &a, sizeof a);
}

/* ---- in the parent */

static void name_item(const struct probe *p, uint64_t item, char *text, size_t size)
{
    if (p->set && item == MODELS)
        snprintf(text, size, "models of several operations");
    else if (p->set)
        snprintf(text, size, "%s %s", item < LOOP ? "IF" : "WHILE", dtype_info[item % LOOP].name);
    else
        randgraph_probe_text((uint32_t) item, text, size);
}

/* Keeps the first finding, and counts deaths. */
static void note(struct probe *p, uint64_t item, const char *how)
{
    char name[160];
    name_item(p, item, name, sizeof name);
    if (!p->note[0])
        snprintf(p->note, PROBE_NOTE, "asked whether it supports %s: %.200s", name, how);
}

static int take(uint64_t item, const void *bytes, size_t length, void *user, struct why *w)
{
    struct probe *p = user;
    const struct probe_answer *a = bytes;
    REQUIRE(w, length == sizeof *a, "a worker's answer has %zu bytes", length);
    if (item == WORKER_POOL_NO_ITEM) /* of a worker that is replaced: its items are asked again */
        return 0;
    if (a->kind == ANSWER_DEAD && !p->lost[item]) {
        p->lost[item] = p->again = true;
        return 0;
    }
    p->asked += a->asked;
    p->level = a->level;
    if (a->kind == ANSWER_DEAD) {
        p->deaths++;
        note(p, item, a->how);
    } else if (a->kind == ANSWER_UNSTABLE) {
        p->deaths++;
        note(p, item, "its answers to the same model differ");
    } else if (p->set && item == MODELS) {
        p->models = a->models;
    } else if (p->set) {
        p->control[item / LOOP] |= a->control ? 1u << item % LOOP : 0;
    } else {
        p->limits[item] = a->limits;
    }
    return 0;
}

static int take_death(uint64_t item, const struct worker_pool_death *d, uint32_t *ret_step,
                      void *user, struct why *w)
{
    struct probe *p = user;
    char how[80];
    (void) w;
    *ret_step = 0;
    if (!p->lost[item]) {
        p->lost[item] = true;
        return 1;
    }
    if (d->hang)
        snprintf(how, sizeof how, "no answer within %g s", p->timeout);
    else if (d->signal)
        snprintf(how, sizeof how, "it crashes (%s)", strsignal(d->signal));
    else
        snprintf(how, sizeof how, "it exits the process (status %d)", d->exit_status);
    p->deaths++;
    note(p, item, how);
    return 0;
}

/* A driver that dies is asked again in a new process: what is drawn for it must not depend on a
 * signal from outside. */
static int ask_again(uint64_t item, uint32_t *ret_step, void *user, struct why *w)
{
    struct probe *p = user;
    const bool again = p->again;
    (void) item, (void) w;
    *ret_step = 0;
    p->again = false;
    return again;
}

static int complete(uint64_t item, void *user, struct why *w)
{
    (void) item, (void) user, (void) w;
    return 0;
}

static bool has_enough(void *user)
{
    return ((struct probe *) user)->deaths >= MOST_PROBE_DEATHS;
}

/* 1: no set, for which the note has the reason. */
static int run_rounds(struct probe *p, const struct support_probe_options *o, struct why *w)
{
    static const struct worker_pool_work work = { .start = start,
                                                  .end = end,
                                                  .item = ask_item,
                                                  .message = take,
                                                  .died = take_death,
                                                  .again = ask_again,
                                                  .complete = complete,
                                                  .enough = has_enough };
    struct worker_pool_options pool = { .workers = o->jobs,
                                        .timeout = o->timeout,
                                        .in_process = o->in_process };
    struct why why;
    int ended = worker_pool_run(&pool, &work, randgraph_probe_rows(), p, w);
    TRY(ended);
    randgraph_share_windows(p->limits);
    if (!ended && randgraph_support_new(p->level, p->limits, UINT32_MAX, UINT32_MAX, NULL, &p->set,
                                        &why) < 0) {
        if (!p->note[0])
            snprintf(p->note, PROBE_NOTE, "it supports no model of the probe table");
        return why.code == WHY_MEMORY ? why_no_memory(w) : 1;
    }
    memset(p->lost, 0, (size_t) MODELS + 1);
    if (!ended)
        ended = worker_pool_run(&pool, &work, (uint64_t) MODELS + 1, p, w);
    return ended ? ended : 0;
}

int support_probe(const char *uri, const struct support_probe_options *options,
                  struct support_probe *ret_probe, struct why *w)
{
    struct support_probe found = { .set = NULL };
    struct probe p = { .uri = uri, .timeout = options->timeout, .note = found.note };
    double begun = console_now();
    p.limits = calloc(randgraph_probe_rows() + 1, sizeof *p.limits);
    p.lost = calloc(randgraph_probe_rows() + (size_t) MODELS + 1, sizeof *p.lost);
    if (!p.limits || !p.lost) {
        free(p.limits);
        free(p.lost);
        return why_no_memory(w);
    }
    devices_protect_from(uri);
    int rc = run_rounds(&p, options, w);
    if (rc == 0)
        rc = randgraph_support_new(p.level, p.limits, p.control[0], p.control[1], &p.models,
                                   &found.set, w);
    randgraph_support_free(p.set);
    free(p.limits);
    free(p.lost);
    found.asked = p.asked;
    found.seconds = console_now() - begun;
    if (rc >= 0)
        *ret_probe = found;
    return rc < 0 ? -1 : 0;
}
