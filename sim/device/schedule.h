/* Who has a device, on its virtual clock.
 *
 * A device computes one execution at a time.  Jobs queue up for it: the highest priority comes
 * first, among equals the client that was served longest ago, then the order of submission. Between
 * two operations a job gives the device up to one of higher priority and goes on later.  Time is
 * virtual: it advances by what the cost model says of an operation, and by nothing else, so that
 * timing, deadlines and pre-emption do not depend on the machine.
 *
 * The schedule decides by arrival, not by which thread comes first: a job that was submitted is
 * waited for when its turn comes.  A script holds the device, submits jobs that arrive at times of
 * its choosing, and lets go: the same script gives the same schedule every time.
 *
 * In real time the clock is the machine's, from the schedule's beginning on: jobs arrive when they
 * are submitted, and spending time waits until it has passed.  What the machine needs for computing
 * is part of that time; where it needs more than the device would, its time counts.  Every wait is
 * for a point in time, so that being woken late does not add up. */
#ifndef SIM_SCHEDULE_H
#define SIM_SCHEDULE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct schedule;

/* What is asked of the device. */
struct job_terms {
    int priority; /* enum hal_priority */
    uint32_t client;
    double budget;           /* most ns from its arrival to its end, INFINITY: no deadline */
    const atomic_bool *gone; /* becomes true when nobody wants it any more; NULL: never */
};

/* One execution; the caller's memory, to be left alone from submission to its end. */
struct job {
    struct job *next;
    int priority;
    uint32_t client;
    const atomic_bool *gone;
    uint64_t number; /* of submission, from 0 */
    double arrival;  /* virtual ns */
    double deadline; /* the same; INFINITY: none */
    double used;     /* ns that it had the device */
    double ahead;    /* ns that it will need it for yet, as far as whoever computes it knows */
    bool is_started;
    const char *doing; /* what the device is used for, as traces name it; NULL: nothing special */
};

enum schedule_event { EVENT_START, EVENT_SUSPEND, EVENT_RESUME, EVENT_END };

/* What happened, when, to which job: told under the schedule's lock, in order. */
typedef void schedule_watch(void *user, enum schedule_event event, const struct job *j, double now);

/* depth: jobs of one client that may wait, 0: any number.  NULL: no memory. */
struct schedule *schedule_new(uint32_t depth);
void schedule_free(struct schedule *s);
/* What traces call the device. */
void schedule_set_name(struct schedule *s, const char *name);
void schedule_set_watch(struct schedule *s, schedule_watch *watch, void *user);

/* Before the first job. */
void schedule_set_realtime(struct schedule *s);

double schedule_now(struct schedule *s);
/* In real time; at once where time is virtual, or when the job is not wanted any more. */
void schedule_sleep_until(const struct schedule *s, const struct job *j, double ns);

/* Queues a job, which then has to come to schedule_end().  -1: too many jobs of the client wait. */
int schedule_submit(struct schedule *s, struct job *j, const struct job_terms *terms);
bool job_is_wanted(const struct job *j);
/* Waits until the device is the job's. */
void schedule_begin(struct schedule *s, struct job *j);
/* The job has used the device for that long; may suspend it.  Returns the ns since its arrival. */
double schedule_spend(struct schedule *s, struct job *j, double ns);
/* Gives the device up, or leaves the queue when it never had it. */
void schedule_end(struct schedule *s, struct job *j);

/* Scripts: while the device is held nothing begins; jobs submitted then arrive at the time last set
 * (not before now). */
void schedule_hold(struct schedule *s);
void schedule_arrive_at(struct schedule *s, double ns);
/* Waits until so many jobs have been submitted in all: from threads whose calls last until their
 * end. */
void schedule_await(struct schedule *s, uint64_t n);
void schedule_let_go(struct schedule *s);

#endif
