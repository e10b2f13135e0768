/* The time of a process, for time-outs: the steady clock without the time for which the process
 * waited for a processor, so that the load of the machine does not end it early.
 *
 *     process_clock_start(&clock, pid);
 *     while (no answer within PROCESS_CLOCK_LOOK_MS && process_clock_elapsed(&clock) < limit)
 *         ;
 *
 * Every 100 ms the time that each thread has run and has waited is read from
 * /proc/PID/task/TID/schedstat.  With R and W, their sums over all threads, threads could have run
 * for min(passed, R + W), of which the share W / (R + W) counts as waiting.  This is exact for one
 * thread, for threads that take turns, and for threads that compute side by side.
 *
 * - The first 100 ms count as passed, so that short calls cost no reading.
 * - A new thread counts from its start; what a thread waited between the last reading and its end
 *   counts as passed.
 * - Where there is nothing to read (no /proc, no schedstat, the process has ended), all time
 *   counts.
 * - At least R / (processors that it may use) counts: threads that wait for each other's processor
 *   do not wait because of the load.
 * - At least 1/24 of the time that passes counts, so that a process that hangs ends at the latest
 *   after 24 times the limit.
 * - Between two looks at most a second passes: a caller that looks less often was stopped itself.
 */
#ifndef SIM_PROCESS_CLOCK_H
#define SIM_PROCESS_CLOCK_H

#include <stdint.h>
#include <sys/types.h>

/* LOOK_MS: how often to look, at least.  THREADS: further threads of a process are not read.
 * SLOWEST: the share of the time that passes which counts at least is 1 / SLOWEST. */
enum { PROCESS_CLOCK_LOOK_MS = 100, PROCESS_CLOCK_THREADS = 128, PROCESS_CLOCK_SLOWEST = 24 };

/* ns that a thread has run and has waited for a processor. */
struct thread_times {
    pid_t thread;
    uint64_t run, wait;
};

struct process_clock {
    pid_t pid;
    uint64_t looked;      /* steady clock at the last look */
    uint64_t passed;      /* ns since the start */
    uint64_t first, last; /* `passed` at the first and the last reading; 0: none yet */
    uint64_t run, wait;   /* ns of all threads since the first reading */
    uint64_t elapsed;     /* result of the last reading */
    unsigned processors;
    uint32_t n_threads;
    struct thread_times thread[PROCESS_CLOCK_THREADS]; /* at the last reading */
};

/* Starts, or starts again, the clock of a process, which may be another one. */
void process_clock_start(struct process_clock *c, pid_t pid);
/* ns since the start, as of the last reading. */
uint64_t process_clock_elapsed(struct process_clock *c);

/* For how long the calling thread has waited for a processor, of a file that it has opened; 0 where
 * there is nothing to read. */
int thread_waits_open(void);
uint64_t thread_waited_ns(int waits);

/* When a process was started, in ticks since boot; 0: there is no such process, or it has ended;
 * -1: it is hidden, as one that is not dumpable is where /proc is mounted with hidepid. */
int64_t process_start(int64_t pid);

#endif
