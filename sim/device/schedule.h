/* The scheduler of a device and its virtual clock.
 *
 * A device computes one execution at a time.  Waiting jobs are ordered by priority (highest first),
 * then suspended jobs before new ones, then the client that was served longest ago, then order of
 * submission.  Between two operations a job is suspended for a waiting one of higher priority.
 * Time is virtual: it advances only by the cost model's time of each operation, so that timing,
 * deadlines and pre-emption do not depend on the machine.  It counts whole nanoseconds, so that an
 * execution takes the same time whatever the clock shows when it starts.
 *
 * The schedule depends on arrival times, not on which thread runs first: once a job is submitted,
 * the device waits for it when its turn comes.  A test script holds the device, submits jobs with
 * given arrival times and releases it; the same script always gives the same schedule.
 *
 * In real time the clock is the machine's, starting at schedule_set_realtime(): jobs arrive when
 * they are submitted, and schedule_spend() sleeps until the time has passed.  The machine's
 * computing time is part of it; where the machine is slower than the modelled device, its time
 * counts.  Every sleep ends at an absolute time, so that late wake-ups do not accumulate.
 *
 * All functions lock the schedule and may be called from any thread. */
#ifndef SIM_SCHEDULE_H
#define SIM_SCHEDULE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct schedule;

#define SCHEDULE_NEVER UINT64_MAX

/* Terms of a job. */
struct job_terms {
    int priority; /* enum hal_priority */
    uint32_t client;
    uint64_t budget;         /* deadline in ns after its arrival; SCHEDULE_NEVER: none */
    const atomic_bool *gone; /* becomes true when the job is cancelled; NULL: never */
};

/* One execution.  The caller's memory, which only the schedule changes from schedule_submit() to
 * schedule_end(), except `ahead` and `doing`. */
struct job {
    struct job *next;
    int priority;
    uint32_t client;
    const atomic_bool *gone;
    uint64_t number;   /* in order of submission, from 0 */
    uint64_t arrival;  /* ns on the schedule's clock */
    uint64_t deadline; /* the same; SCHEDULE_NEVER: none */
    uint64_t used;     /* ns for which it has held the device */
    uint64_t ahead;    /* ns of device time that it is known to need yet; set by its executor */
    bool is_started;
    const char *doing; /* name of the next schedule_spend() in traces; NULL: not traced */
};

enum schedule_event { EVENT_START, EVENT_SUSPEND, EVENT_RESUME, EVENT_END };

/* Observer of a schedule's events; called in their order, with the schedule locked. */
typedef void schedule_watch(void *user, enum schedule_event event, const struct job *j,
                            uint64_t now);

/* depth: jobs of one client that may wait, 0: any number.  NULL: out of memory. */
struct schedule *schedule_new(uint32_t depth);
/* Takes NULL; no job may be queued. */
void schedule_free(struct schedule *s);
/* Name of the device in traces; without one nothing is traced. */
void schedule_set_name(struct schedule *s, const char *name);
void schedule_set_watch(struct schedule *s, schedule_watch *watch, void *user);

/* Switches to real time; before the first job. */
void schedule_set_realtime(struct schedule *s);

/* ns on the schedule's clock. */
uint64_t schedule_now(struct schedule *s);
/* In real time, sleeps until then or until the job is cancelled; in virtual time returns at once.
 */
void schedule_sleep_until(const struct schedule *s, const struct job *j, uint64_t ns);

/* Fills *j and queues it; schedule_end() must follow.  -1: too many jobs of the client wait. */
int schedule_submit(struct schedule *s, struct job *j, const struct job_terms *terms);
/* false: the job is cancelled. */
bool job_is_active(const struct job *j);
/* Blocks until the job holds the device. */
void schedule_begin(struct schedule *s, struct job *j);
/* Advances the clock by ns of the job's work, then suspends it while a job of higher priority has
 * arrived.  Returns the ns since the job's arrival. */
uint64_t schedule_spend(struct schedule *s, struct job *j, uint64_t ns);
/* Releases the device, or removes a job that never held it from the queue. */
void schedule_end(struct schedule *s, struct job *j);

/* For test scripts: while the device is held no job starts, and jobs arrive at the time last set,
 * but not before now. */
void schedule_hold(struct schedule *s);
void schedule_set_arrival(struct schedule *s, uint64_t ns);
/* Blocks until n jobs have been submitted in all, where other threads submit them by blocking
 * calls. */
void schedule_await_submissions(struct schedule *s, uint64_t n);
void schedule_release(struct schedule *s);

#endif
