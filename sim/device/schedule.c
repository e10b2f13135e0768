#include "sim/device/schedule.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "golden/base/clock.h"
#include "golden/base/logging.h"
#include "golden/base/trace.h"

#define LOG_TAG "Schedule"

/* When a client last got the device.  Kept while the client has jobs; of the others, those served
 * longest ago are dropped while there are more than KEPT_CLIENTS. */
struct client {
    struct client *next;
    uint32_t id;
    uint64_t served; /* value of schedule.grants at that time */
};

enum { KEPT_CLIENTS = 64 };

struct schedule {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t now, arrive_at;
    bool held, is_realtime;
    uint64_t epoch; /* of real time: ns on the steady clock */
    uint32_t depth;
    uint64_t submitted, grants;
    struct job *jobs;   /* in order of submission */
    struct job *holder; /* has the device */
    struct client *clients;
    schedule_watch *watch;
    void *watch_user;
    struct trace_track track;
};

struct schedule *schedule_new(uint32_t depth)
{
    struct schedule *s = calloc(1, sizeof(*s));

    if (!s)
        return NULL;
    s->depth = depth;
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    return s;
}

void schedule_free(struct schedule *s)
{
    if (!s)
        return;
    for (struct client *c = s->clients, *next; c; c = next) {
        next = c->next;
        free(c);
    }
    pthread_cond_destroy(&s->changed);
    pthread_mutex_destroy(&s->lock);
    free(s);
}

void schedule_set_name(struct schedule *s, const char *name)
{
    s->track = trace_track_new(name);
}

void schedule_set_watch(struct schedule *s, schedule_watch *watch, void *user)
{
    pthread_mutex_lock(&s->lock);
    s->watch = watch;
    s->watch_user = user;
    pthread_mutex_unlock(&s->lock);
}

/* ---- traces, logs, the observer */

static void put(const struct schedule *s, enum trace_kind kind, const struct job *j,
                const char *name, uint64_t from, uint64_t duration)
{
    char detail[96], plain[32], deadline[40] = "no deadline";

    if (!s->track.id || !TRACE_IS_ON())
        return;
    if (j->deadline != SCHEDULE_NEVER)
        snprintf(deadline, sizeof(deadline), "deadline %" PRIu64 " ns", j->deadline);
    snprintf(detail, sizeof(detail), "client %u, priority %d, %s", j->client, j->priority,
             deadline);
    snprintf(plain, sizeof(plain), "execution %" PRIu64, j->number);
    trace_put(&s->track, &(struct trace_event){ .kind = kind,
                                                .id = j->number,
                                                .ns = (double) from,
                                                .duration = (double) duration,
                                                .name = name ? name : plain,
                                                .detail = detail });
}

/* A job is an asynchronous span from its arrival to its end, with spans for waiting and suspension
 * inside; while it holds the device there is an event on the device's track. */
static void trace_event_of(struct schedule *s, enum schedule_event event, struct job *j)
{
    bool has_device = event == EVENT_START || event == EVENT_RESUME;

    if (has_device) {
        put(s, TRACE_SPAN_END, j, event == EVENT_START ? "waits" : "suspended", s->now, 0);
        put(s, TRACE_BEGIN, j, NULL, s->now, 0);
        return;
    }
    put(s, TRACE_END, j, NULL, s->now, 0);
    if (event == EVENT_SUSPEND)
        put(s, TRACE_SPAN_BEGIN, j, "suspended", s->now, 0);
    else
        put(s, TRACE_SPAN_END, j, NULL, s->now, 0);
}

static void report(struct schedule *s, enum schedule_event event, struct job *j)
{
    static const char *const done[] = { [EVENT_START] = "starts",
                                        [EVENT_SUSPEND] = "is suspended",
                                        [EVENT_RESUME] = "resumes",
                                        [EVENT_END] = "ends" };

    VLOG(EXECUTION,
         "execution %" PRIu64 " of client %u %s at %" PRIu64 " ns, device time %" PRIu64 " ns",
         j->number, j->client, done[event], s->now, j->used);
    if (TRACE_IS_ON())
        trace_event_of(s, event, j);
    if (s->watch)
        s->watch(s->watch_user, event, j, s->now);
}

/* ---- real time */

static uint64_t later(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static uint64_t earlier(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

void schedule_set_realtime(struct schedule *s)
{
    s->is_realtime = true;
    s->epoch = clock_steady_ns();
}

/* In real time the machine's clock, but not before `now`, which a script's arrival may have set to
 * a later time. */
static uint64_t clock_now(const struct schedule *s)
{
    return s->is_realtime ? later(s->now, clock_steady_ns() - s->epoch) : s->now;
}

bool job_is_active(const struct job *j)
{
    return !j->gone || !atomic_load(j->gone);
}

/* Longest single sleep, after which cancellation is checked again. */
static const uint64_t NAP_NS = 20000000;

void schedule_sleep_until(const struct schedule *s, const struct job *j, uint64_t ns)
{
    uint64_t until = clock_sum(s->epoch, ns), now = clock_steady_ns();

    for (; s->is_realtime && now < until && job_is_active(j); now = clock_steady_ns()) {
        uint64_t nap = earlier(until, now + NAP_NS);
        struct timespec t = { .tv_sec = (time_t) (nap / 1000000000),
                              .tv_nsec = (long) (nap % 1000000000) };
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
    }
}

uint64_t schedule_now(struct schedule *s)
{
    pthread_mutex_lock(&s->lock);
    uint64_t now = clock_now(s);
    pthread_mutex_unlock(&s->lock);
    return now;
}

/* ---- choice of the next job */

static struct client *find_client(struct schedule *s, uint32_t id)
{
    for (struct client *c = s->clients; c; c = c->next)
        if (c->id == id)
            return c;
    return NULL;
}

static uint64_t last_served(struct schedule *s, const struct job *j)
{
    const struct client *c = find_client(s, j->client);

    return c ? c->served : 0;
}

static bool has_jobs(const struct schedule *s, uint32_t client)
{
    for (const struct job *j = s->jobs; j; j = j->next)
        if (j->client == client)
            return true;
    return false;
}

/* If there are more than KEPT_CLIENTS, removes the one without jobs that was served longest ago. */
static void forget_client(struct schedule *s)
{
    struct client **found = NULL, *c;
    uint32_t n = 0;

    for (struct client **at = &s->clients; *at; at = &(*at)->next, n++)
        if (!has_jobs(s, (*at)->id) && (!found || (*at)->served < (*found)->served))
            found = at;
    if (n <= KEPT_CLIENTS || !found)
        return;
    c = *found;
    *found = c->next;
    free(c);
}

/* Out of memory, a client counts as never served, which only lets its next job start earlier. */
static void note_served(struct schedule *s, const struct job *j)
{
    struct client *c = find_client(s, j->client);

    if (!c && (c = calloc(1, sizeof(*c)))) {
        forget_client(s);
        c->id = j->client;
        c->next = s->clients;
        s->clients = c;
    }
    if (c)
        c->served = ++s->grants;
}

static bool goes_before(struct schedule *s, const struct job *a, const struct job *b)
{
    if (a->priority != b->priority)
        return a->priority > b->priority;
    if (a->is_started != b->is_started) /* suspended jobs first */
        return a->is_started;
    uint64_t served_a = last_served(s, a), served_b = last_served(s, b);
    if (served_a != served_b)
        return served_a < served_b;
    return a->number < b->number;
}

/* The first of the jobs that have arrived, in the order of goes_before(), or NULL. */
static struct job *best(struct schedule *s)
{
    struct job *found = NULL;

    for (struct job *j = s->jobs; j; j = j->next)
        if (j->arrival <= s->now && (!found || goes_before(s, j, found)))
            found = j;
    return found;
}

static void grant(struct schedule *s, struct job *j)
{
    if (s->holder == j)
        return;
    s->holder = j;
    note_served(s, j);
    report(s, j->is_started ? EVENT_RESUME : EVENT_START, j);
    j->is_started = true;
    pthread_cond_broadcast(&s->changed);
}

/* Gives a free device to the next job. */
static void dispatch(struct schedule *s)
{
    if (s->holder || s->held)
        return;
    struct job *j = best(s);
    if (!j) { /* advance the clock of an idle device to the next arrival */
        uint64_t next = s->jobs ? s->jobs->arrival : 0;
        for (const struct job *k = s->jobs; k; k = k->next)
            next = earlier(next, k->arrival);
        s->now = later(s->now, next);
        j = best(s);
    }
    if (j)
        grant(s, j);
}

static void wait_for(struct schedule *s, const struct job *j)
{
    while (s->holder != j)
        pthread_cond_wait(&s->changed, &s->lock);
}

/* ---- jobs */

static bool has_room(const struct schedule *s, uint32_t client)
{
    uint32_t waiting = 0;

    for (const struct job *j = s->jobs; j; j = j->next)
        waiting += j->client == client && j != s->holder;
    return !s->depth || waiting < s->depth + !s->holder; /* one starts at once on a free device */
}

static void log_arrival(const struct job *j, uint64_t budget)
{
    char within[48] = "without a deadline";

    if (!VLOG_IS_ON(EXECUTION))
        return;
    if (budget != SCHEDULE_NEVER)
        snprintf(within, sizeof(within), "within %" PRIu64 " ns", budget);
    VLOG(EXECUTION, "execution %" PRIu64 " of client %u arrives at %" PRIu64 " ns, priority %d, %s",
         j->number, j->client, j->arrival, j->priority, within);
}

int schedule_submit(struct schedule *s, struct job *j, const struct job_terms *terms)
{
    pthread_mutex_lock(&s->lock);
    bool ok = has_room(s, terms->client);
    if (ok) {
        uint64_t now = clock_now(s), arrival = s->held ? later(now, s->arrive_at) : now;
        *j = (struct job){ .priority = terms->priority,
                           .client = terms->client,
                           .gone = terms->gone,
                           .number = s->submitted++,
                           .arrival = arrival,
                           .deadline = clock_sum(arrival, terms->budget) };
        struct job **end = &s->jobs;
        while (*end)
            end = &(*end)->next;
        *end = j;
        pthread_cond_broadcast(&s->changed);
        put(s, TRACE_SPAN_BEGIN, j, NULL, arrival, 0);
        put(s, TRACE_SPAN_BEGIN, j, "waits", arrival, 0);
        log_arrival(j, terms->budget);
        dispatch(s);
    } else {
        VLOG(EXECUTION, "queue full: too many executions of client %u wait", terms->client);
    }
    pthread_mutex_unlock(&s->lock);
    return ok ? 0 : -1;
}

void schedule_begin(struct schedule *s, struct job *j)
{
    pthread_mutex_lock(&s->lock);
    wait_for(s, j);
    uint64_t now = s->now;
    pthread_mutex_unlock(&s->lock);
    schedule_sleep_until(s, j, now); /* a script may have set a later arrival */
}

/* Advances the clock to `until`, or to when the holder j was cancelled.  Called with the lock held,
 * which is released during the sleep, so that jobs can be submitted meanwhile. */
static void advance(struct schedule *s, struct job *j, uint64_t until)
{
    until = later(until, clock_now(s));
    if (s->is_realtime) {
        pthread_mutex_unlock(&s->lock);
        schedule_sleep_until(s, j, until);
        pthread_mutex_lock(&s->lock);
    }
    if (!job_is_active(j))
        until = earlier(until, clock_now(s));
    j->used += until - s->now;
    s->now = until;
}

uint64_t schedule_spend(struct schedule *s, struct job *j, uint64_t ns)
{
    pthread_mutex_lock(&s->lock);
    uint64_t before = s->now;
    advance(s, j, clock_sum(before, ns));
    if (j->doing)
        put(s, TRACE_SLICE, j, j->doing, before, s->now - before);
    j->doing = NULL;
    struct job *better = best(s);
    if (better && better->priority > j->priority) {
        report(s, EVENT_SUSPEND, j);
        grant(s, better);
        wait_for(s, j);
    }
    uint64_t since = s->now - j->arrival;
    pthread_mutex_unlock(&s->lock);
    return since;
}

void schedule_end(struct schedule *s, struct job *j)
{
    struct job **at = &s->jobs;

    pthread_mutex_lock(&s->lock);
    while (*at && *at != j)
        at = &(*at)->next;
    if (*at)
        *at = j->next;
    if (s->holder == j)
        s->holder = NULL;
    if (j->is_started) {
        report(s, EVENT_END, j);
    } else {
        put(s, TRACE_SPAN_END, j, "waits", s->now, 0);
        put(s, TRACE_SPAN_END, j, NULL, s->now, 0);
    }
    dispatch(s);
    pthread_mutex_unlock(&s->lock);
}

/* ---- scripts */

void schedule_hold(struct schedule *s)
{
    pthread_mutex_lock(&s->lock);
    s->held = true;
    s->arrive_at = s->now;
    pthread_mutex_unlock(&s->lock);
}

void schedule_set_arrival(struct schedule *s, uint64_t ns)
{
    pthread_mutex_lock(&s->lock);
    s->arrive_at = ns;
    pthread_mutex_unlock(&s->lock);
}

void schedule_await_submissions(struct schedule *s, uint64_t n)
{
    pthread_mutex_lock(&s->lock);
    while (s->submitted < n)
        pthread_cond_wait(&s->changed, &s->lock);
    pthread_mutex_unlock(&s->lock);
}

void schedule_release(struct schedule *s)
{
    pthread_mutex_lock(&s->lock);
    s->held = false;
    dispatch(s);
    pthread_mutex_unlock(&s->lock);
}
