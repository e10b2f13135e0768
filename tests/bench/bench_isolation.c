/* Cost of a driver in a process of its own: random graphs generated, run by the reference with
 * bounds, run on the driver and judged, as a worker does it; the driver is in this process (the
 * baseline), in a process of its own (sim/isolation/), or behind a service's socket.
 *
 *   bench_isolation [OPERATIONS [GRAPHS [SEED]]]
 *
 * All run on one processor; graphs per second are of the processor time of both processes, which
 * other programs hardly affect.  Ratios are medians of the rounds, with the lowest and highest. */
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "golden/base/clock.h"
#include "harness/check/check.h"
#include "randgraph/randgraph.h"
#include "sim/service/service.h"
#include "tests/bench/bench.h"

enum { ROUNDS = 9, STARTS = 9, TURN = 20 };

enum way { IN_PROCESS, ISOLATED, SOCKET, WAYS };
static const char *const way_name[WAYS] = { "in this process", "isolated", "over a socket" };

struct setup {
    struct randgraph_options graphs;
    uint64_t n, seed;
    struct target *target[WAYS];
    pid_t service;
    char socket[64];
};

static void need(int rc, const struct why *w)
{
    if (rc >= 0)
        return;
    fprintf(stderr, "bench_isolation: %s\n", w->text);
    exit(EXIT_FAILURE);
}

/* ---- processors */

static cpu_set_t all_processors;

static bool is_pinned;

static void pin(bool pinned)
{
    cpu_set_t one;

    is_pinned = pinned;
    CPU_ZERO(&one);
    CPU_SET((size_t) sched_getcpu(), &one);
    if (sched_setaffinity(0, sizeof one, pinned ? &one : &all_processors) == 0)
        return;
    perror("bench_isolation: sched_setaffinity");
    exit(EXIT_FAILURE);
}

/* ---- targets */

static struct target *open_target(const char *uri, enum isolation isolation)
{
    const struct target_host host = { .isolation = isolation,
                                      .may_spin = !is_pinned && CPU_COUNT(&all_processors) > 1,
                                      .reply_timeout = 60 };
    struct target *t = NULL;
    struct why w;

    need(target_open(uri, &host, &t, &w), &w);
    return t;
}

static void serve(const char *uri, const char *path)
{
    struct service *s;
    struct why w;

    need(service_new(target_take_driver(open_target(uri, ISOLATE_NONE)), path, &s, &w), &w);
    need(service_run(s, &w), &w);
    _exit(1);
}

static void open_service(struct setup *s, const char *uri)
{
    char target[sizeof s->socket + 5];

    snprintf(s->socket, sizeof s->socket, "/tmp/halcyon-bench-%d", (int) getpid());
    snprintf(target, sizeof target, "unix:%s", s->socket);
    s->service = fork();
    if (s->service == 0)
        serve(uri, s->socket);
    for (int i = 0; i < 1000 && access(s->socket, F_OK) != 0; i++)
        usleep(10000);
    s->target[SOCKET] = open_target(target, ISOLATE_NONE);
}

static void open_targets(struct setup *s, const char *uri)
{
    open_service(s, uri);
    s->target[IN_PROCESS] = open_target(uri, ISOLATE_NONE);
    s->target[ISOLATED] = open_target(uri, ISOLATE_ALL);
}

static void close_targets(struct setup *s)
{
    for (int i = 0; i < WAYS; i++)
        target_free(s->target[i]);
    kill(s->service, SIGKILL);
    waitpid(s->service, NULL, 0);
    unlink(s->socket);
}

/* ---- graphs */

static void run_graph(const struct setup *s, uint64_t i, struct target *t, struct arena *arena)
{
    struct check check;
    struct check_result result;
    struct outcome outcome;
    struct example e;
    struct why w;

    arena_rewind(arena, (struct arena_mark){ 0 });
    need(randgraph_make(&s->graphs, s->seed, i, arena, &e, &w), &w);
    need(check_begin(&check, &e, JUDGE_AUTO, &w), &w);
    check_reference(&check);
    if (check_run(&check, t, &outcome, &result) >= 0)
        check_judge(&check, &outcome, &result, NULL);
    check_done(&check);
    if (result.verdict != VERDICT_ERROR)
        return;
    fprintf(stderr, "bench_isolation: %s: %s\n", e.name, result.why);
    exit(EXIT_FAILURE);
}

/* Processor time of this process and of the driver's in seconds. */
static double processor_time(const struct setup *s, enum way way)
{
    pid_t pid = way == ISOLATED ? target_process(s->target[way]) : s->service;
    double t = (double) clock_ns(CLOCK_PROCESS_CPUTIME_ID) * 1e-9;
    clockid_t clock;

    if (way != IN_PROCESS && clock_getcpuclockid(pid, &clock) == 0)
        t += (double) clock_ns(clock) * 1e-9;
    return t;
}

/* Seconds that the graphs of a round have taken. */
struct cost {
    double processor, wall;
};

static void measure(const struct setup *s, enum way way, uint64_t from, uint64_t to,
                    struct arena *arena, struct cost *cost)
{
    uint64_t begun = clock_steady_ns();
    double before = processor_time(s, way);

    for (uint64_t i = from; i < to; i++)
        run_graph(s, i, s->target[way], arena);
    cost->processor += processor_time(s, way) - before;
    cost->wall += (double) (clock_steady_ns() - begun) * 1e-9;
}

/* The ways take turns after every few graphs, so that what else the machine does affects all. */
static void run_round(const struct setup *s, enum way ways, struct arena *arena,
                      struct cost ret_cost[WAYS])
{
    memset(ret_cost, 0, WAYS * sizeof *ret_cost);
    for (uint64_t i = 0; i < s->n; i += TURN)
        for (enum way way = 0; way < ways; way++)
            measure(s, way, i, i + TURN < s->n ? i + TURN : s->n, arena, &ret_cost[way]);
}

/* Graphs per second in the middle round. */
static double median_rate(const struct setup *s, struct cost cost[ROUNDS][WAYS], enum way way,
                          bool wall)
{
    double seconds[ROUNDS];

    for (int i = 0; i < ROUNDS; i++)
        seconds[i] = wall ? cost[i][way].wall : cost[i][way].processor;
    return (double) s->n / bench_median(seconds, ROUNDS);
}

static void print_way(const struct setup *s, struct cost cost[ROUNDS][WAYS], enum way way)
{
    double ratio[ROUNDS];

    for (int i = 0; i < ROUNDS; i++)
        ratio[i] = cost[i][IN_PROCESS].processor / cost[i][way].processor;
    double median = bench_median(ratio, ROUNDS);
    printf("  %-16s %5.0f graphs/s, %5.0f by the wall clock", way_name[way],
           median_rate(s, cost, way, false), median_rate(s, cost, way, true));
    if (way != IN_PROCESS)
        printf(": %.2f of in this process (%.2f to %.2f)", median, ratio[0], ratio[ROUNDS - 1]);
    printf("\n");
}

static void compare(const struct setup *s)
{
    struct cost cost[ROUNDS][WAYS], warm[WAYS];
    struct arena *arena = bench_must(arena_new(0));

    run_round(s, WAYS, arena, warm);
    for (int i = 0; i < ROUNDS; i++)
        run_round(s, WAYS, arena, cost[i]);
    arena_free(arena);
    for (enum way way = 0; way < WAYS; way++)
        print_way(s, cost, way);
    printf("  memory of the driver's process after %llu graphs: %.1f MB\n",
           (unsigned long long) s->n * (ROUNDS + 1),
           bench_process_memory(target_process(s->target[ISOLATED])) * 1e-6);
}

/* ---- one driver */

/* One worker and its driver's process where the scheduler puts them. */
static void bench_free(struct setup *s, const char *uri)
{
    struct cost cost[ROUNDS][WAYS];
    struct arena *arena = bench_must(arena_new(0));

    pin(false);
    s->target[IN_PROCESS] = open_target(uri, ISOLATE_NONE);
    s->target[ISOLATED] = open_target(uri, ISOLATE_ALL);
    for (int i = 0; i < ROUNDS; i++)
        run_round(s, ISOLATED + 1, arena, cost[i]);
    arena_free(arena);
    printf("  on %d processors, by the wall clock: isolated %.0f graphs/s, in this process %.0f\n",
           CPU_COUNT(&all_processors), median_rate(s, cost, ISOLATED, true),
           median_rate(s, cost, IN_PROCESS, true));
    target_free(s->target[ISOLATED]);
    target_free(s->target[IN_PROCESS]);
}

static void bench_start(const char *uri)
{
    double ms[STARTS];

    for (int i = 0; i < STARTS; i++) {
        uint64_t begun = clock_steady_ns();
        struct target *t = open_target(uri, ISOLATE_ALL);
        ms[i] = (double) (clock_steady_ns() - begun) * 1e-6;
        target_free(t);
    }
    printf("  start of the driver's process until it is open: %.1f ms\n", bench_median(ms, STARTS));
}

static void bench_driver(struct setup *s, const char *uri)
{
    printf("%s, %u operations, %d rounds of %llu graphs on one processor\n",
           strncmp(uri, "lib:", 4) ? uri : "a driver that writes zeros", s->graphs.min_ops, ROUNDS,
           (unsigned long long) s->n);
    pin(true);
    open_targets(s, uri);
    compare(s);
    close_targets(s);
    bench_free(s, uri);
    bench_start(uri);
}

int main(int argc, char **argv)
{
    struct setup s = { .graphs = randgraph_default,
                       .n = argc > 2 ? strtoull(argv[2], NULL, 0) : 500,
                       .seed = argc > 3 ? strtoull(argv[3], NULL, 0) : 1 };

    s.graphs.min_ops = s.graphs.max_ops = argc > 1 ? (uint32_t) atoi(argv[1]) : 10;
    if (sched_getaffinity(0, sizeof all_processors, &all_processors) < 0)
        return EXIT_FAILURE;
    bench_driver(&s, "lib:" ZEROS_DRIVER);
    bench_driver(&s, "sim:cpu");
    return 0;
}
