/* The worker pool: items are completed once although a worker crashes, exits or hangs; workers that
 * fail to start; stopping; work in the calling process. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/run/worker_pool_internal.h"
#include "tests/support/check_main.h"

enum { ITEMS = 40, STEPS = 3, ITEM_US = 30000 };

/* The fault of the worker at step 1 of item 7, or at its start. */
enum fault {
    NONE,
    SIGNAL,
    EXIT,
    HANG,
    LARGE,
    SLOW,
    START_FAILS,
    START_DIES,
    /* What a driver in the worker's process may write to its socket. */
    NO_MESSAGE,
    NO_FRAME,
    TOO_LONG,
    LATE_START,
    EARLY_END,
    /* What it may write to its memory. */
    FORGED_SLOT,
    FORGED_PROGRESS
};

struct job {
    enum fault fault;
    bool abandon; /* the item is abandoned after a death */
    int steps[ITEMS], completed[ITEMS], deaths, messages_failed;
    size_t longest;
    double longest_item;
    struct worker_pool_death death;
    volatile sig_atomic_t stop;
    int stop_after;
};

static int start(void *user, void **ret_state, struct why *w)
{
    struct job *j = user;
    if (j->fault == START_FAILS)
        return why_fail(w, WHY_INVALID, "no such target");
    if (j->fault == START_DIES)
        raise(SIGKILL);
    *ret_state = NULL;
    return 0;
}

static void forge(struct worker_pool_link *l, uint32_t kind, uint32_t length)
{
    struct worker_pool_frame frame = { kind, length };
    ck_assert_int_eq(write(l->fd, &frame, sizeof frame), sizeof frame);
}

static void inject_fault(struct worker_pool_link *l, enum fault m)
{
    static char large[3 << 20];
    switch (m) {
    case SIGNAL: raise(SIGKILL); break;
    case EXIT: fputs("first line\nlast line\n", stderr); exit(5);
    case HANG:
        for (;;)
            pause();
    case SLOW:
        worker_pool_allow(l, 5000000000);
        usleep(900000);
        break;
    case LARGE: worker_pool_send(l, large, sizeof large); break;
    case NO_MESSAGE: worker_pool_send(l, "x", 1); break;
    case NO_FRAME: forge(l, 77, 4); break;
    case TOO_LONG: forge(l, FRAME_MESSAGE, UINT32_MAX); break;
    case LATE_START: forge(l, FRAME_START_FAILED, 0); break;
    case FORGED_SLOT: memset((void *) l->slot, 0, sizeof *l->slot); _exit(7);
    case FORGED_PROGRESS:
        for (;; usleep(1000)) {
            l->slot->allowed = UINT64_MAX - l->slot->since;
            l->slot->since++;
            l->slot->mark++;
        }
    case EARLY_END:
        for (int i = 0; i < 5; i++)
            forge(l, FRAME_COMPLETE, 0);
        break;
    default: break;
    }
}

static void item(struct worker_pool_link *l, uint64_t i, uint32_t step, void *state, void *user)
{
    (void) state;
    const struct job *j = user;
    if (j->stop_after)
        usleep(ITEM_US); /* so that items are left when the parent stops the run */
    for (; step < STEPS; step++) {
        worker_pool_mark(l, 10 + step);
        if (i == 7 && step == 1)
            inject_fault(l, j->fault);
        worker_pool_send(l, &step, sizeof step);
    }
}

static int message(uint64_t i, const void *bytes, size_t length, void *user, struct why *w)
{
    struct job *j = user;
    (void) bytes;
    if (i == WORKER_POOL_NO_ITEM) { /* of a worker that has forged its end */
        why_fail(w, WHY_SYSTEM, "a message without an item");
        return 1;
    }
    if (i >= ITEMS)
        return why_fail(w, WHY_SYSTEM, "item %d", (int) i);
    if (length == 1) {
        why_fail(w, WHY_SYSTEM, "a message of one byte");
        return 1;
    }
    if (length > j->longest)
        j->longest = length;
    if (length == sizeof(uint32_t))
        j->steps[i]++;
    return 0;
}

static int died(uint64_t i, const struct worker_pool_death *d, uint32_t *ret_step, void *user,
                struct why *w)
{
    (void) w;
    struct job *j = user;
    ck_assert_int_ge((int) i, 7);
    j->deaths++;
    j->death = *d;
    *ret_step = 2;
    return !j->abandon;
}

static int complete(uint64_t i, void *user, struct why *w)
{
    (void) w;
    struct job *j = user;
    j->completed[i]++;
    if (j->stop_after && --j->stop_after == 0)
        j->stop = 1;
    return 0;
}

static const struct worker_pool_work work = {
    .start = start, .item = item, .message = message, .died = died, .complete = complete
};

static int run(struct job *j, struct why *w)
{
    struct worker_pool_options options = {
        .workers = 3, .timeout = 0.3, .longest = j->longest_item, .stop = &j->stop
    };
    return worker_pool_run(&options, &work, ITEMS, j, w);
}

static void check_complete(const struct job *j, int steps_of_7)
{
    for (int i = 0; i < ITEMS; i++) {
        ck_assert_int_eq(j->completed[i], 1);
        ck_assert_int_eq(j->steps[i], i == 7 ? steps_of_7 : STEPS);
    }
}

START_TEST(each_item_is_completed_once)
{
    struct job j = { 0 };
    struct why w;
    ck_assert_int_eq(run(&j, &w), 0);
    check_complete(&j, STEPS);
    ck_assert_int_eq(j.deaths, 0);
}
END_TEST

START_TEST(an_item_continues_after_a_crash)
{
    struct job j = { .fault = SIGNAL };
    struct why w;
    ck_assert_int_eq(run(&j, &w), 0);
    check_complete(&j, 2); /* steps 0 and 2 */
    ck_assert_int_eq(j.deaths, 1);
    ck_assert_int_eq(j.death.signal, SIGKILL);
    ck_assert(!j.death.hang);
    ck_assert_uint_eq(j.death.mark, 11);
}
END_TEST

START_TEST(an_item_can_be_abandoned)
{
    struct job j = { .fault = SIGNAL, .abandon = true };
    struct why w;
    ck_assert_int_eq(run(&j, &w), 0);
    check_complete(&j, 1);
}
END_TEST

START_TEST(an_exit_is_reported_as_a_death)
{
    struct job j = { .fault = EXIT };
    struct why w;
    ck_assert_int_eq(run(&j, &w), 0);
    check_complete(&j, 2);
    ck_assert_int_eq(j.death.signal, 0);
    ck_assert_int_eq(j.death.exit_status, 5);
    ck_assert_str_eq(j.death.last_output, "last line");
}
END_TEST

START_TEST(a_hanging_worker_is_killed)
{
    struct job j = { .fault = HANG };
    struct why w;
    ck_assert_int_eq(run(&j, &w), 0);
    check_complete(&j, 2);
    ck_assert(j.death.hang);
    ck_assert_double_ge(j.death.seconds, 0.29);
}
END_TEST

START_TEST(a_worker_may_be_allowed_more_time)
{
    struct job j = { .fault = SLOW };
    struct why w;
    ck_assert_int_eq(run(&j, &w), 0);
    check_complete(&j, STEPS);
    ck_assert_int_eq(j.deaths, 0);
}
END_TEST

START_TEST(large_messages_arrive_whole)
{
    struct job j = { .fault = LARGE };
    struct why w;
    ck_assert_int_eq(run(&j, &w), 0);
    check_complete(&j, STEPS);
    ck_assert_uint_eq(j.longest, 3 << 20);
}
END_TEST

START_TEST(a_worker_that_sends_nonsense_is_replaced)
{
    static const struct {
        enum fault fault;
        const char *text;
    } row[] = { { NO_MESSAGE, "a message of one byte" },
                { NO_FRAME, "an answer without a question (kind 77)" },
                { TOO_LONG, "an answer of 4294967295 bytes" },
                { LATE_START, "an answer without a question (kind 2)" } };
    for (int i = 0; i < 4; i++) {
        struct job j = { .fault = row[i].fault };
        struct why w;
        ck_assert_int_eq(run(&j, &w), 0);
        ck_assert_int_eq(j.deaths, 1);
        ck_assert_str_eq(j.death.nonsense, row[i].text);
        ck_assert_int_eq(j.death.signal, 0);
        check_complete(&j, 2);
    }
}
END_TEST

/* Whatever the parent makes of it, the run ends, and no item is lost. */
START_TEST(forged_ends_do_not_end_the_run)
{
    struct job j = { .fault = EARLY_END };
    struct why w;
    ck_assert_msg(run(&j, &w) == 0, "%s", w.text);
    for (int i = 0; i < ITEMS; i++)
        ck_assert_int_eq(j.completed[i], 1);
}
END_TEST

START_TEST(memory_of_a_worker_does_not_tell_whether_it_has_started)
{
    struct job j = { .fault = FORGED_SLOT };
    struct why w;
    ck_assert_msg(run(&j, &w) == 0, "%s", w.text);
    check_complete(&j, 2);
    ck_assert_int_eq(j.deaths, 1);
    ck_assert_int_eq(j.death.exit_status, 7);
}
END_TEST

START_TEST(forged_progress_does_not_last_for_ever)
{
    struct job j = { .fault = FORGED_PROGRESS, .longest_item = 2 };
    struct why w;
    ck_assert_msg(run(&j, &w) == 0, "%s", w.text);
    check_complete(&j, 2);
    ck_assert(j.death.hang);
}
END_TEST

START_TEST(a_failing_start_ends_the_run)
{
    struct job j = { .fault = START_FAILS };
    struct why w;
    ck_assert_int_eq(run(&j, &w), -1);
    ck_assert_str_eq(w.text, "no such target");
}
END_TEST

START_TEST(workers_that_die_at_start_end_the_run)
{
    struct job j = { .fault = START_DIES };
    struct why w;
    ck_assert_int_eq(run(&j, &w), -1);
    ck_assert_ptr_nonnull(strstr(w.text, "signal 9"));
}
END_TEST

START_TEST(a_run_can_be_stopped)
{
    struct job j = { .stop_after = 5 };
    struct why w;
    int n = 0;
    ck_assert_int_eq(run(&j, &w), 1);
    for (int i = 0; i < ITEMS; i++)
        n += j.completed[i];
    ck_assert_int_ge(n, 5);
    ck_assert_int_lt(n, ITEMS);
}
END_TEST

START_TEST(work_in_this_process)
{
    struct job j = { 0 };
    struct why w;
    struct worker_pool_options options = { .in_process = true };
    ck_assert_int_eq(worker_pool_run(&options, &work, ITEMS, &j, &w), 0);
    check_complete(&j, STEPS);
}
END_TEST

START_TEST(a_run_of_no_items_succeeds)
{
    struct job j = { 0 };
    struct why w;
    struct worker_pool_options options = { .workers = 2 };
    ck_assert_int_eq(worker_pool_run(&options, &work, 0, &j, &w), 0);
}
END_TEST

/* ---- items that are run again, and runs that end early */

enum { AGAIN = 3 }; /* runs of every fifth item */

struct run_message {
    uint32_t step;
    pid_t pid;
};

struct repeated_job {
    struct run_message run[ITEMS][AGAIN + 1];
    int runs[ITEMS], completed, deaths, ends;
    int most; /* completed items after which there is enough; 0: none */
};

static void end_repeated(struct worker_pool_link *l, void *state, void *user)
{
    (void) state, (void) user;
    worker_pool_send(l, "end", 3);
}

/* Item 10 kills its worker when it is run again for the first time. */
static void run_repeated(struct worker_pool_link *l, uint64_t i, uint32_t step, void *state,
                         void *user)
{
    struct run_message m = { step, getpid() };
    (void) state, (void) user;
    worker_pool_send(l, &m, sizeof m);
    if (i == 10 && step == 1)
        raise(SIGKILL);
}

static int take_repeated(uint64_t i, const void *bytes, size_t length, void *user, struct why *w)
{
    struct repeated_job *j = user;
    if (i == WORKER_POOL_NO_ITEM) {
        j->ends += length == 3;
        return 0;
    }
    REQUIRE(w, length == sizeof(struct run_message) && j->runs[i] <= AGAIN, "item %d", (int) i);
    memcpy(&j->run[i][j->runs[i]++], bytes, length);
    return 0;
}

static int die_repeated(uint64_t i, const struct worker_pool_death *d, uint32_t *ret_step,
                        void *user, struct why *w)
{
    (void) i, (void) d, (void) ret_step, (void) w;
    ((struct repeated_job *) user)->deaths++;
    return 0;
}

static int again(uint64_t i, uint32_t *ret_step, void *user, struct why *w)
{
    const struct repeated_job *j = user;
    (void) w;
    *ret_step = (uint32_t) j->runs[i];
    return i % 5 == 0 && j->runs[i] < AGAIN;
}

static int complete_repeated(uint64_t i, void *user, struct why *w)
{
    (void) i, (void) w;
    ((struct repeated_job *) user)->completed++;
    return 0;
}

static bool enough(void *user)
{
    const struct repeated_job *j = user;
    return j->most && j->completed >= j->most;
}

static const struct worker_pool_work repeated_work = { .start = start,
                                                       .end = end_repeated,
                                                       .item = run_repeated,
                                                       .message = take_repeated,
                                                       .died = die_repeated,
                                                       .again = again,
                                                       .complete = complete_repeated,
                                                       .enough = enough };

START_TEST(an_item_is_run_again_in_a_new_worker)
{
    static struct repeated_job j;
    struct worker_pool_options options = { .workers = 2, .timeout = 5, .one_by_one = true };
    struct why w;
    ck_assert_msg(worker_pool_run(&options, &repeated_work, ITEMS, &j, &w) == 0, "%s", w.text);
    ck_assert_int_eq(j.completed, ITEMS);
    ck_assert_int_eq(j.deaths, 1);
    /* Each rerun replaces a worker that ends in order, but for the one that was killed. */
    ck_assert_int_eq(j.ends, ITEMS / 5 * (AGAIN - 1) - 1 + 2);
    for (int i = 0; i < ITEMS; i++) {
        ck_assert_int_eq(j.runs[i], i % 5 ? 1 : AGAIN);
        for (int k = 0; k < j.runs[i]; k++) {
            ck_assert_uint_eq(j.run[i][k].step, (uint32_t) k);
            for (int other = 0; other < k; other++)
                ck_assert_int_ne(j.run[i][k].pid, j.run[i][other].pid);
        }
    }
}
END_TEST

START_TEST(a_run_ends_when_there_is_enough)
{
    struct why w;
    for (unsigned workers = 1; workers <= 2; workers++) {
        struct repeated_job j = { .most = 7 };
        struct worker_pool_options options = { .workers = workers, .one_by_one = true };
        ck_assert_int_eq(worker_pool_run(&options, &repeated_work, ITEMS, &j, &w), 2);
        ck_assert_int_ge(j.completed, 7);
        ck_assert_int_lt(j.completed, 7 + (int) workers);
    }
    struct repeated_job j = { .most = 4 };
    struct worker_pool_options here = { .in_process = true };
    ck_assert_int_eq(worker_pool_run(&here, &repeated_work, 8, &j, &w), 2);
    ck_assert_int_eq(j.completed, 4);
    struct repeated_job all = { .most = ITEMS };
    ck_assert_int_eq(worker_pool_run(&here, &repeated_work, 8, &all, &w), 0);
}
END_TEST

Suite *worker_pool_suite(void)
{
    TCase *t = tcase_create("worker_pool");
    tcase_add_test(t, each_item_is_completed_once);
    tcase_add_test(t, an_item_continues_after_a_crash);
    tcase_add_test(t, an_item_can_be_abandoned);
    tcase_add_test(t, an_exit_is_reported_as_a_death);
    tcase_add_test(t, a_hanging_worker_is_killed);
    tcase_add_test(t, a_worker_may_be_allowed_more_time);
    tcase_add_test(t, large_messages_arrive_whole);
    tcase_add_test(t, a_worker_that_sends_nonsense_is_replaced);
    tcase_add_test(t, forged_ends_do_not_end_the_run);
    tcase_add_test(t, memory_of_a_worker_does_not_tell_whether_it_has_started);
    tcase_add_test(t, forged_progress_does_not_last_for_ever);
    tcase_add_test(t, a_failing_start_ends_the_run);
    tcase_add_test(t, workers_that_die_at_start_end_the_run);
    tcase_add_test(t, a_run_can_be_stopped);
    tcase_add_test(t, an_item_is_run_again_in_a_new_worker);
    tcase_add_test(t, a_run_ends_when_there_is_enough);
    tcase_add_test(t, work_in_this_process);
    tcase_add_test(t, a_run_of_no_items_succeeds);
    return make_suite("worker_pool", t, NULL);
}
