/* Drivers in processes of their own: the same outcomes as in this process, and what becomes of
 * those that misbehave. */
#include <check.h>
#include <fenv.h>
#include <libgen.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "randgraph/randgraph.h"
#include "sim/client/hosted.h"
#include "sim/remote/remote_internal.h"
#include "tests/support/check_main.h"

enum { GRAPHS = 40 };

static struct why w;

struct drawn_case {
    struct arena *arena;
    struct example e;
    struct shape *shape;
};

/* With the reference's shapes. */
static void draw(struct drawn_case *r, uint64_t index)
{
    struct randgraph_options o = randgraph_default;
    struct plan *plan;
    struct result result;

    o.min_ops = 1;
    o.max_ops = 6;
    r->arena = arena_new(0);
    ck_assert_msg(randgraph_make(&o, 11, index, r->arena, &r->e, &w) >= 0, "%s", w.text);
    ck_assert_msg(plan_new(&r->e.model, &plan, &w) == 0, "%s", w.text);
    ck_assert_msg(plan_run(plan, r->e.in, NULL, &result, &w) == 0, "%s", w.text);
    r->shape = arena_alloc(r->arena, result.n, sizeof *r->shape);
    for (uint32_t i = 0; i < result.n; i++)
        r->shape[i] = result.out[i].shape;
    result_done(&result);
    plan_free(plan);
}

static struct target *open_as(const char *uri, enum isolation isolation, double timeout)
{
    struct target_host host = { .isolation = isolation, .reply_timeout = timeout };
    struct target *t = NULL;

    ck_assert_msg(target_open(uri, &host, &t, &w) == 0, "%s", w.text);
    return t;
}

static struct outcome run_as(struct target *t, const struct drawn_case *r, enum execution_way way,
                             bool trap)
{
    struct target_run_options options = { .measure = true, .trap_inputs = trap, .way = way };
    struct outcome o;

    ck_assert_msg(target_run(t, &r->e.model, r->e.in, r->shape, &options, &o, &w) == 0, "%s",
                  w.text);
    return o;
}

static struct outcome run(struct target *t, const struct drawn_case *r, bool trap)
{
    return run_as(t, r, EXECUTION_SYNCHRONOUS, trap);
}

static void compare_outputs(const struct outcome *a, const struct outcome *b, const char *name)
{
    ck_assert_msg(a->stage == b->stage && a->status == b->status && a->n_out == b->n_out,
                  "%s: stage %d and %d, status %d and %d", name, (int) a->stage, (int) b->stage,
                  (int) a->status, (int) b->status);
    for (uint32_t i = 0; i < a->n_out; i++) {
        ck_assert_uint_eq(tensor_bytes(&a->out[i]), tensor_bytes(&b->out[i]));
        ck_assert_msg(memcmp(a->out[i].data, b->out[i].data, tensor_bytes(&a->out[i])) == 0,
                      "%s: output %u", name, i);
    }
}

static void compare(const struct outcome *a, const struct outcome *b, const char *name)
{
    compare_outputs(a, b, name);
    ck_assert_str_eq(a->violation, b->violation);
    ck_assert_uint_eq(a->timing.on_device, b->timing.on_device);
    for (uint32_t i = 0; i < a->n_ops; i++)
        ck_assert_int_eq(a->supported[i], b->supported[i]);
}

/* On every device, and with inputs that trap. */
START_TEST(outcomes_are_those_of_a_driver_in_this_process)
{
    struct target *here = open_as(target_shipped[_i], ISOLATE_NONE, 0);
    struct target *hosted = open_as(target_shipped[_i], ISOLATE_ALL, 60);

    ck_assert_int_eq(target_process(here), 0);
    ck_assert_int_gt(target_process(hosted), 0);
    for (uint64_t i = 0; i < GRAPHS; i++) {
        struct drawn_case r;
        draw(&r, i);
        struct outcome a = run(here, &r, false), b = run(hosted, &r, i % 2);
        compare(&a, &b, r.e.name);
        outcome_done(&a);
        outcome_done(&b);
        arena_free(r.arena);
    }
    target_free(here);
    target_free(hosted);
}
END_TEST

START_TEST(every_method_can_be_called)
{
    struct target_host host = { .isolation = ISOLATE_ALL, .is_served = true, .reply_timeout = 60 };
    struct target_info hosted, here;
    struct target *t = NULL, *u = open_as("sim:gpu", ISOLATE_NONE, 0);

    ck_assert_msg(target_open("sim:gpu", &host, &t, &w) == 0, "%s", w.text);
    ck_assert_msg(target_info(t, &hosted, &w) == 0, "%s", w.text);
    ck_assert_int_eq(target_info(u, &here, &w), 0);
    ck_assert_str_eq(hosted.name, here.name);
    ck_assert_str_eq(hosted.version, here.version);
    ck_assert_int_eq(hosted.hal_version, here.hal_version);
    ck_assert_uint_eq(hosted.n_model_cache, here.n_model_cache);
    ck_assert_uint_eq(hosted.capabilities.n_operands, here.capabilities.n_operands);
    target_free(t);
    target_free(u);
}
END_TEST

/* What each fault that touches memory or ends its process comes to. */
static const struct {
    const char *uri, *violation;
    bool died, hung, trespassed;
} wrong[] = {
    { "sim:cpu?fault=overrun", "memory after output 0 was written to: byte ", true, false, true },
    { "sim:cpu?fault=underrun", "memory before output 0 was written to: 1 byte before its buffer",
      false, false, false },
    { "sim:cpu?fault=input-changed", "input 0 was written to", true, false, true },
    { "sim:cpu?fault=output-not-written", " was never written", false, false, false },
    { "sim:cpu?fault=crash", "the driver crashes with signal 11 ", true, false, false },
    { "sim:cpu?fault=hang", "the driver exceeds the time-out in execute_synchronously", true, true,
      false },
    { "sim:cpu?fault=wrong-status", "unknown status 77", false, false, false },
};

START_TEST(wrong_drivers_are_found_out)
{
    struct target *t = open_as(wrong[_i].uri, ISOLATE_FOREIGN, 0.5);
    struct drawn_case r;

    draw(&r, 0);
    for (int again = 0; again < 2; again++) { /* a new process after a death */
        struct outcome o = run(t, &r, false);
        ck_assert_msg(strstr(o.violation, wrong[_i].violation), "%s: %s", wrong[_i].uri,
                      o.violation);
        ck_assert_int_eq(o.died, wrong[_i].died);
        ck_assert_int_eq(o.hung, wrong[_i].hung);
        ck_assert_int_eq(o.trespassed, wrong[_i].trespassed);
        outcome_done(&o);
    }
    arena_free(r.arena);
    target_free(t);
}
END_TEST

/* A process that is killed between two runs is replaced; in a run its death is reported. */
START_TEST(killed_processes_are_replaced)
{
    struct target *t = open_as("sim:cpu", ISOLATE_ALL, 60);
    struct drawn_case r;

    draw(&r, 1);
    for (int i = 0; i < 5; i++) {
        ck_assert_int_eq(kill(target_process(t), SIGKILL), 0);
        struct outcome o = run(t, &r, false);
        ck_assert(!o.died || o.signal == SIGKILL);
        outcome_done(&o);
        o = run(t, &r, false);
        ck_assert_str_eq(o.violation, "");
        ck_assert_int_eq(o.stage, STAGE_DONE);
        outcome_done(&o);
    }
    arena_free(r.arena);
    target_free(t);
}
END_TEST

START_TEST(closing_reports_nothing_of_a_good_driver)
{
    struct target *t = open_as("sim:cpu", ISOLATE_ALL, 60);
    struct outcome o;
    uint64_t run = 0;

    ck_assert(!target_sweep(t, &run));
    ck_assert(!target_close(t, &o));
    ck_assert_int_eq(target_process(t), 0);
    target_free(t);
}
END_TEST

/* Every way of execution has the same results, here and in a process of its own; a version that
 * lacks it is not asked. */
START_TEST(ways_of_execution_have_the_same_results)
{
    const enum execution_way way = (enum execution_way) _i;
    const bool is_old = way == EXECUTION_ASYNCHRONOUS;
    struct target *here = open_as(is_old ? "sim:cpu?hal=1.3" : "sim:cpu", ISOLATE_NONE, 0);
    struct target *hosted = open_as(is_old ? "sim:cpu?hal=1.3" : "sim:cpu", ISOLATE_ALL, 60);
    struct target *without = open_as(is_old ? "sim:cpu" : "sim:cpu?hal=1.1", ISOLATE_NONE, 0);
    unsigned n_done = 0;

    for (uint64_t i = 0; i < GRAPHS / 2; i++) {
        struct drawn_case r;
        draw(&r, i);
        struct outcome a = run(here, &r, false), b = run_as(here, &r, way, false),
                       d = run_as(hosted, &r, way, i % 2), e = run_as(without, &r, way, false);
        if (execution_ways[way].reports || b.stage == STAGE_DONE) /* fenced: of known shapes only */
            compare_outputs(&a, &b, r.e.name);
        compare(&b, &d, r.e.name);
        ck_assert_str_eq(b.not_passed, a.not_passed);
        ck_assert_str_eq(b.violation, "");
        ck_assert(way == EXECUTION_SYNCHRONOUS || e.not_passed[0]);
        n_done += b.stage == STAGE_DONE;
        outcome_done(&a);
        outcome_done(&b);
        outcome_done(&d);
        outcome_done(&e);
        arena_free(r.arena);
    }
    ck_assert_uint_gt(n_done, GRAPHS / 4);
    target_free(here);
    target_free(hosted);
    target_free(without);
}
END_TEST

/* A program that computes for a while before it becomes the driver's process: the time that it
 * waits for the processor is not the driver's. */
START_TEST(opening_on_a_loaded_processor_is_no_hang)
{
    enum { COMPETITORS = 12 };
    char folder[] = "/tmp/halcyon-test-XXXXXX", path[64], here[256];
    const char *given = getenv("HALCYON_DRIVER_HOST"), *program = "/../../sim/halcyon-driver-host";
    ssize_t n = readlink("/proc/self/exe", here, sizeof here - 1);
    struct target_host host = { .isolation = ISOLATE_ALL, .reply_timeout = 1.5 };
    pid_t competitor[COMPETITORS], parent = getpid();
    struct target *t = NULL;

    ck_assert(n > 0 && mkdtemp(folder));
    here[n] = 0;
    snprintf(path, sizeof path, "%s/host", folder);
    FILE *file = fopen(path, "w");
    ck_assert(file);
    fprintf(file,
            "#!/bin/sh\ni=0\nwhile [ $i -lt 300000 ]; do i=$((i + 1)); done\nexec %s%s \"$@\"\n",
            given ? "" : dirname(here), given ? given : program);
    ck_assert_int_eq(fclose(file), 0);
    ck_assert_int_eq(chmod(path, 0700), 0);
    setenv("HALCYON_DRIVER_HOST", path, 1);
    pin_to_one_processor();
    for (int i = 0; i < COMPETITORS; i++)
        if ((competitor[i] = fork()) == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            while (getppid() == parent) {
            }
            _exit(0);
        }
    int rc = target_open("sim:cpu", &host, &t, &w);
    for (int i = 0; i < COMPETITORS; i++)
        ck_assert(kill(competitor[i], SIGKILL) == 0 && waitpid(competitor[i], NULL, 0) > 0);
    ck_assert(unlink(path) == 0 && rmdir(folder) == 0);
    ck_assert_msg(rc == 0, "%s", w.text);
    target_free(t);
}
END_TEST

START_TEST(calls_of_methods_are_timed_by_the_clock_of_the_driver)
{
    struct target_host host = { .isolation = ISOLATE_ALL, .reply_timeout = 60, .is_served = true };
    struct target *t = NULL;

    ck_assert_msg(target_open("sim:cpu", &host, &t, &w) == 0, "%s", w.text);
    ck_assert_ptr_nonnull(t->hosted->remote);
    ck_assert_int_eq(((struct remote *) t->hosted->remote)->limit.process, target_process(t));
    target_free(t);
}
END_TEST

static enum hal_status change_state(struct hal_driver *self, enum hal_version version,
                                    const struct hal_model *model, bool *supported, uint32_t *ret_n)
{
    sigset_t all;

    (void) self, (void) version;
    fesetround(FE_UPWARD);
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    memset(supported, 0, model->main.n_operations * sizeof(bool));
    *ret_n = model->main.n_operations;
    return HAL_NONE;
}

static void close_nothing(struct hal_driver *self)
{
    (void) self;
}

/* Also of a driver in this process. */
START_TEST(state_of_the_calling_thread_is_restored)
{
    struct hal_driver driver = { .abi_version = HAL_ABI_VERSION,
                                 .hal_version = HAL_1_3,
                                 .lowest_version = HAL_1_0,
                                 .name = "changing",
                                 .get_supported_operations = change_state,
                                 .close = close_nothing };
    struct target *t = NULL;
    struct drawn_case r;
    sigset_t before, after;

    draw(&r, 0);
    pthread_sigmask(SIG_SETMASK, NULL, &before);
    ck_assert_int_eq(target_of_driver("changing", &driver, &t, &w), 0);
    struct outcome o = run(t, &r, false);
    ck_assert_int_eq(o.stage, STAGE_SUPPORTED);
    ck_assert_str_eq(o.violation, "");
    ck_assert_int_eq(fegetround(), FE_TONEAREST);
    pthread_sigmask(SIG_SETMASK, NULL, &after);
    ck_assert_int_eq(sigismember(&after, SIGUSR1), sigismember(&before, SIGUSR1));
    outcome_done(&o);
    arena_free(r.arena);
    target_free(t);
}
END_TEST

START_TEST(which_targets_are_isolated)
{
    static const struct {
        const char *uri;
        bool foreign, all;
    } cases[] = { { "sim:cpu", false, true },          { "sim:cpu?hal=1.2", false, true },
                  { "golden", false, false },          { "null", false, false },
                  { "unix:x", false, false },          { "lib:x.so", true, true },
                  { "sl:x.so", true, true },           { "rt:", true, true },
                  { "sim:cpu?fault=nan", true, true }, { "sim:x.toml", false, true } };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert(!target_is_isolated(cases[i].uri, ISOLATE_NONE));
        ck_assert_int_eq(target_is_isolated(cases[i].uri, ISOLATE_FOREIGN), cases[i].foreign);
        ck_assert_int_eq(target_is_isolated(cases[i].uri, ISOLATE_ALL), cases[i].all);
    }
}
END_TEST

Suite *hosted_suite(void)
{
    TCase *c = tcase_create("hosted");

    tcase_add_loop_test(c, outcomes_are_those_of_a_driver_in_this_process, 0, 3);
    tcase_add_loop_test(c, ways_of_execution_have_the_same_results, 0, EXECUTION_WAYS);
    tcase_add_test(c, every_method_can_be_called);
    tcase_add_loop_test(c, wrong_drivers_are_found_out, 0, sizeof wrong / sizeof *wrong);
    tcase_add_test(c, killed_processes_are_replaced);
    tcase_add_test(c, opening_on_a_loaded_processor_is_no_hang);
    tcase_add_test(c, calls_of_methods_are_timed_by_the_clock_of_the_driver);
    tcase_add_test(c, closing_reports_nothing_of_a_good_driver);
    tcase_add_test(c, state_of_the_calling_thread_is_restored);
    tcase_add_test(c, which_targets_are_isolated);
    tcase_set_timeout(c, 60);
    return make_suite("hosted", c, NULL);
}
