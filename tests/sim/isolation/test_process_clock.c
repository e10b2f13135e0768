/* The clock of time-outs: of processes that compute on a loaded processor, sleep, or have ended. */
#define _GNU_SOURCE
#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "golden/base/clock.h"
#include "sim/base/process_clock.h"
#include "tests/support/check_main.h"

enum { COMPETITORS = 8 };

static const uint64_t MS = 1000000;

static pid_t start_process(void (*body)(void))
{
    pid_t parent = getpid(), pid = fork();

    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() == parent)
            body();
        _exit(0);
    }
    return pid;
}

static void end_process(pid_t pid)
{
    kill(pid, SIGKILL);
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
}

static void spin(void)
{
    for (;;) {
    }
}

static void *spin_for_50_ms(void *unused)
{
    while (clock_ns(CLOCK_THREAD_CPUTIME_ID) < 50 * MS) {
    }
    return unused;
}

static void *spin_on(void *unused)
{
    spin();
    return unused;
}

static void spin_in_many_threads(void)
{
    pthread_t t;

    for (int i = 0; i < COMPETITORS; i++)
        pthread_create(&t, NULL, spin_on, NULL);
    spin();
}

/* Each thread does a part of the work and ends. */
static void spin_in_short_threads(void)
{
    for (pthread_t t;;)
        if (pthread_create(&t, NULL, spin_for_50_ms, NULL) == 0)
            pthread_join(t, NULL);
}

static void sleep_for_ever(void)
{
    for (;;)
        pause();
}

static uint64_t processor_ns(pid_t pid)
{
    clockid_t clock;

    ck_assert_int_eq(clock_getcpuclockid(pid, &clock), 0);
    return clock_ns(clock);
}

/* Looks at the clock of a process for `ms`; returns its last reading. */
static uint64_t watch(pid_t pid, unsigned ms, uint64_t *ret_steady)
{
    const uint64_t begun = clock_steady_ns();
    struct process_clock c;

    process_clock_start(&c, pid);
    while (clock_steady_ns() - begun < ms * MS) {
        nanosleep(&(struct timespec){ .tv_nsec = 50000000 }, NULL);
        process_clock_elapsed(&c);
    }
    *ret_steady = clock_steady_ns() - begun;
    return process_clock_elapsed(&c);
}

/* The first 100 ms count in full; a reading may lack what was waited since a thread last ran. */
START_TEST(waiting_for_a_processor_does_not_count)
{
    static void (*const bodies[])(void) = { spin, spin_in_short_threads };
    pid_t competitor[COMPETITORS];
    uint64_t steady;

    pin_to_one_processor();
    for (int i = 0; i < COMPETITORS; i++)
        competitor[i] = start_process(spin);
    pid_t pid = start_process(bodies[_i]);
    const uint64_t elapsed = watch(pid, 2000, &steady), ran = processor_ns(pid);
    for (int i = 0; i < COMPETITORS; i++)
        end_process(competitor[i]);
    end_process(pid);
    ck_assert_uint_le(ran, steady / 2);
    ck_assert_uint_le(elapsed, ran + steady / 10 + 300 * MS);
    ck_assert_uint_ge(elapsed + 200 * MS, ran);
}
END_TEST

START_TEST(sleeping_counts)
{
    uint64_t steady;
    pid_t pid = start_process(sleep_for_ever);
    const uint64_t elapsed = watch(pid, 500, &steady);

    end_process(pid);
    ck_assert_uint_le(elapsed, steady);
    ck_assert_uint_ge(elapsed, 350 * MS);
}
END_TEST

START_TEST(waiting_for_own_threads_counts)
{
    uint64_t steady;

    pin_to_one_processor();
    pid_t pid = start_process(spin_in_many_threads);
    const uint64_t elapsed = watch(pid, 1000, &steady), ran = processor_ns(pid);

    end_process(pid);
    ck_assert_uint_le(elapsed, steady);
    ck_assert_uint_ge(elapsed + 200 * MS, ran);
}
END_TEST

START_TEST(all_time_counts_after_the_process_has_ended)
{
    uint64_t steady;
    pid_t pid = start_process(sleep_for_ever);

    end_process(pid);
    const uint64_t elapsed = watch(pid, 500, &steady);
    ck_assert_uint_le(elapsed, steady);
    ck_assert_uint_ge(elapsed, 350 * MS);
}
END_TEST

/* As after the harness itself was stopped. */
START_TEST(a_long_time_without_a_look_does_not_count)
{
    struct process_clock c;

    process_clock_start(&c, getpid());
    nanosleep(&(struct timespec){ .tv_sec = 1, .tv_nsec = 500000000 }, NULL);
    ck_assert_uint_le(process_clock_elapsed(&c), 1000 * MS);
}
END_TEST

Suite *process_clock_suite(void)
{
    TCase *t = tcase_create("process_clock");

    tcase_set_timeout(t, 60);
    tcase_add_loop_test(t, waiting_for_a_processor_does_not_count, 0, 2);
    tcase_add_test(t, sleeping_counts);
    tcase_add_test(t, waiting_for_own_threads_counts);
    tcase_add_test(t, all_time_counts_after_the_process_has_ended);
    tcase_add_test(t, a_long_time_without_a_look_does_not_count);
    return make_suite("process_clock", t, NULL);
}
