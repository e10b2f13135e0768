/* Costs of parts of Halcyon, each compared with a known baseline that is measured in the same run.
 *
 *   bench_costs [ROUNDS]
 *
 * Operations that move data and element-wise operations: memcpy() of the bytes they write.
 * Recurrent cells: their matrix products.  One small operation: a call of malloc() and free().  The
 * start of `halcyon`, a random graph from seed to verdict, and merging: the start of /bin/true.
 * Memory of a worker: that of /bin/sleep.  A run of the public corpus: its decompression.  Medians
 * of ROUNDS (default 9) CPU times of this thread or of child processes. */
#include <fcntl.h>
#include <glob.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "golden/math/matmul.h"
#include "golden/model/build.h"
#include "tests/bench/bench.h"

enum { MOST_ROUNDS = 101 };
static size_t rounds = 9;

/* Median of the seconds per call; each round has enough calls to take a millisecond. */
static double seconds(void (*run)(void *user), void *user)
{
    double times[MOST_ROUNDS], begun = bench_now(), once;
    run(user);
    once = bench_now() - begun;
    size_t calls = once < 1e-3 ? (size_t) (1e-3 / (once + 1e-9)) + 1 : 1;
    for (size_t i = 0; i < rounds; i++) {
        begun = bench_now();
        for (size_t k = 0; k < calls; k++)
            run(user);
        times[i] = (bench_now() - begun) / (double) calls;
    }
    return bench_median(times, rounds);
}

static void print_row(const char *name, double x, const char *baseline, double y, const char *unit,
                      double factor)
{
    printf("  %-44s %10.2f %s %8.2f times %s (%.2f %s)\n", name, x * factor, unit, x / y, baseline,
           y * factor, unit);
}

/* ---- models of one operation */

struct job {
    struct build b;
    struct plan *plan;
    struct arena *results;
    struct tensor in[4];
};

/* Adds an input filled with small numbers. */
static uint32_t add_input(struct job *j, enum dtype dtype, struct shape shape, float scale)
{
    uint32_t i = build_quant(&j->b, LIFE_INPUT, dtype, shape, scale, 0);
    struct tensor *t = &j->in[j->b.graph->n_inputs - 1];
    *t = j->b.graph->operand[i].tensor;
    size_t n = tensor_count(t), size = dtype_info[dtype].codec->size;
    t->data = bench_must(arena_alloc(j->b.arena, n, size));
    for (size_t k = 0; k < n; k++) {
        double x = (double) (k * 40503 % 1000) / 500 - 1;
        dtype_info[dtype].codec->narrow(&x, 1, 0, 0.01, (char *) t->data + k * size);
    }
    return i;
}

static uint32_t weights(struct job *j, uint32_t rows, uint32_t columns)
{
    struct shape s = columns ? DIMS(rows, columns) : DIMS(rows);
    size_t n = (size_t) rows * (columns ? columns : 1);
    float *x = bench_must(malloc(n * sizeof *x));
    for (size_t i = 0; i < n; i++)
        x[i] = (float) (i * 40503 % 1000) / 50000 - 0.01f;
    uint32_t index = build_constant(&j->b, DT_F32, s, x);
    free(x);
    return index;
}

static uint32_t output(struct job *j, struct shape shape)
{
    return build_operand(&j->b, LIFE_OUTPUT, DT_F32, shape);
}

static void start(struct job *j)
{
    struct why why;
    j->results = bench_must(arena_new(0));
    if (plan_new(&j->b.model, &j->plan, &why) < 0) {
        fprintf(stderr, "bench_costs: %s\n", why.text);
        exit(EXIT_FAILURE);
    }
}

static void run_job(void *user)
{
    struct job *j = user;
    const struct exec_options options = { .arena = j->results };
    struct result r;
    struct why why;
    if (plan_run(j->plan, j->in, &options, &r, &why) < 0) {
        fprintf(stderr, "bench_costs: %s\n", why.text);
        exit(EXIT_FAILURE);
    }
    result_done(&r);
    arena_rewind(j->results, (struct arena_mark){ 0 });
}

static void end(struct job *j)
{
    plan_free(j->plan);
    arena_free(j->results);
    build_done(&j->b);
}

/* ---- operations that move data, element-wise operations */

enum { D0 = 64, D1 = 64, D2 = 256 }; /* of the input, 4 MB in float */
static const struct shape large = { 3, { D0, D1, D2 } };

static uint32_t list(struct job *j, const int32_t *x, uint32_t n)
{
    return build_constant(&j->b, DT_I32, DIMS(n), x);
}

static void transpose_inner(struct job *j)
{
    uint32_t x = add_input(j, DT_F32, large, 0), axes = list(j, (int32_t[]){ 0, 2, 1 }, 3);
    OPERATION(&j->b, "TRANSPOSE", IDS(x, axes), IDS(output(j, DIMS(D0, D2, D1))));
}

static void transpose_outer(struct job *j)
{
    uint32_t x = add_input(j, DT_F32, large, 0), axes = list(j, (int32_t[]){ 1, 0, 2 }, 3);
    OPERATION(&j->b, "TRANSPOSE", IDS(x, axes), IDS(output(j, DIMS(D1, D0, D2))));
}

static void concatenate(struct job *j)
{
    struct shape half = DIMS(D0, D1, D2 / 2);
    uint32_t x = add_input(j, DT_F32, half, 0), y = add_input(j, DT_F32, half, 0);
    uint32_t axis = build_int(&j->b, 2);
    OPERATION(&j->b, "CONCATENATION", IDS(x, y, axis), IDS(output(j, large)));
}

static void pad(struct job *j)
{
    uint32_t x = add_input(j, DT_F32, DIMS(D0 - 2, D1 - 2, D2 - 2), 0);
    const int32_t all[] = { 1, 1, 1, 1, 1, 1 };
    uint32_t pads = build_constant(&j->b, DT_I32, DIMS(3, 2), all);
    OPERATION(&j->b, "PAD", IDS(x, pads), IDS(output(j, large)));
}

static void reshape(struct job *j)
{
    uint32_t x = add_input(j, DT_F32, large, 0), to = list(j, (int32_t[]){ D0 * D1, D2 }, 2);
    OPERATION(&j->b, "RESHAPE", IDS(x, to), IDS(output(j, DIMS(D0 * D1, D2))));
}

static void slice(struct job *j)
{
    uint32_t x = add_input(j, DT_F32, DIMS(D0, D1, D2 + 8), 0);
    uint32_t at = list(j, (int32_t[]){ 0, 0, 3 }, 3), size = list(j, (int32_t[]){ D0, D1, D2 }, 3);
    OPERATION(&j->b, "SLICE", IDS(x, at, size), IDS(output(j, large)));
}

static void gather(struct job *j)
{
    uint32_t x = add_input(j, DT_F32, large, 0), axis = build_int(&j->b, 1);
    int32_t rows[D1];
    for (int32_t i = 0; i < D1; i++)
        rows[i] = i * 7 % D1;
    OPERATION(&j->b, "GATHER", IDS(x, axis, list(j, rows, D1)), IDS(output(j, large)));
}

static void add_arrays(struct job *j)
{
    uint32_t x = add_input(j, DT_F32, large, 0), y = add_input(j, DT_F32, large, 0);
    OPERATION(&j->b, "ADD", IDS(x, y, build_int(&j->b, 0)), IDS(output(j, large)));
}

static void add_row(struct job *j)
{
    uint32_t x = add_input(j, DT_F32, large, 0), y = add_input(j, DT_F32, DIMS(D2), 0);
    OPERATION(&j->b, "ADD", IDS(x, y, build_int(&j->b, 0)), IDS(output(j, large)));
}

static void relu(struct job *j)
{
    uint32_t x = add_input(j, DT_F32, large, 0);
    OPERATION(&j->b, "RELU", IDS(x), IDS(output(j, large)));
}

static void logistic(struct job *j)
{
    uint32_t x = add_input(j, DT_F32, large, 0);
    OPERATION(&j->b, "LOGISTIC", IDS(x), IDS(output(j, large)));
}

static void dequantize(struct job *j)
{
    uint32_t x = add_input(j, DT_U8, large, 0.5f);
    OPERATION(&j->b, "DEQUANTIZE", IDS(x), IDS(output(j, large)));
}

static void quantize(struct job *j)
{
    uint32_t x = add_input(j, DT_F32, large, 0);
    uint32_t y = build_quant(&j->b, LIFE_OUTPUT, DT_U8, large, 0.5f, 3);
    OPERATION(&j->b, "QUANTIZE", IDS(x), IDS(y));
}

struct copy {
    char *from, *to;
    size_t n;
};

static void run_copy(void *user)
{
    const struct copy *c = user;
    memcpy(c->to, c->from, c->n);
    __asm__ volatile("" ::: "memory");
}

static void bench_streams(void)
{
    static const struct {
        const char *name;
        void (*build)(struct job *j);
    } all[] = {
        { "RESHAPE", reshape },
        { "CONCATENATION, innermost axis", concatenate },
        { "PAD, all axes", pad },
        { "SLICE, innermost axis", slice },
        { "GATHER, middle axis", gather },
        { "TRANSPOSE, outer axes", transpose_outer },
        { "TRANSPOSE, inner axes", transpose_inner },
        { "QUANTIZE (a quarter of the bytes written)", quantize },
        { "DEQUANTIZE", dequantize },
        { "RELU", relu },
        { "ADD", add_arrays },
        { "ADD, a row to each row", add_row },
        { "LOGISTIC", logistic },
    };
    struct copy copy = { .n = (size_t) D0 * D1 * D2 * sizeof(float) };
    copy.from = bench_must(calloc(copy.n, 1));
    copy.to = bench_must(calloc(copy.n, 1));
    double baseline = seconds(run_copy, &copy);
    printf("operations that write %zu MB of float\n", copy.n >> 20);
    for (int i = 0; i < COUNT(all); i++) {
        struct job j = { 0 };
        build_init(&j.b, 1);
        all[i].build(&j);
        start(&j);
        print_row(all[i].name, seconds(run_job, &j), "memcpy", baseline, "ms", 1e3);
        end(&j);
    }
    free(copy.from);
    free(copy.to);
}

/* ---- recurrent cells */

enum { INPUTS = 128, UNITS = 256, STEPS = 32 };

/* The matrix products of a cell: those with the input of all steps at once, those with the state
 * step by step. */
struct products {
    struct matmul input, state;
    size_t steps;
};

static void run_products(void *user)
{
    struct products *p = user;
    matmul(&p->input, NULL);
    for (size_t i = 0; i < p->steps; i++)
        matmul(&p->state, NULL);
}

static double bench_products(size_t gates, size_t steps)
{
    size_t n = gates * UNITS;
    double *x = bench_must(calloc(STEPS * (n + INPUTS) + UNITS, sizeof *x));
    double *w = bench_must(calloc(n * (INPUTS + UNITS), sizeof *w));
    struct matmul_packed *a = bench_must(matmul_pack(n, INPUTS, 1, w));
    struct matmul_packed *b = bench_must(matmul_pack(n, UNITS, 1, w));
    struct products p = {
        .input = { steps, n, INPUTS, .a = x + STEPS * n, .packed = a, .c = x },
        .state = { 1, n, UNITS, .a = x + STEPS * (n + INPUTS), .packed = b, .c = x },
        .steps = steps,
    };
    double t = seconds(run_products, &p);
    matmul_packed_free(a);
    matmul_packed_free(b);
    free(x);
    free(w);
    return t;
}

static void rnn(struct job *j)
{
    uint32_t x = add_input(j, DT_F32, DIMS(1, INPUTS), 0), w = weights(j, UNITS, INPUTS);
    uint32_t r = weights(j, UNITS, UNITS), bias = weights(j, UNITS, 0);
    uint32_t state = add_input(j, DT_F32, DIMS(1, UNITS), 0), relu6 = build_int(&j->b, 3);
    uint32_t state_out = output(j, DIMS(1, UNITS)), out = output(j, DIMS(1, UNITS));
    OPERATION(&j->b, "RNN", IDS(x, w, r, bias, state, relu6), IDS(state_out, out));
}

static void sequence_lstm(struct job *j)
{
    uint32_t id[24],
        n = 0,
        no_clip = build_constant(&j->b, DT_FLOAT32, (struct shape){ 0 }, &(const float){ 0 });
    id[n++] = add_input(j, DT_F32, DIMS(STEPS, 1, INPUTS), 0);
    for (int i = 0; i < 4; i++)
        id[n++] = weights(j, UNITS, INPUTS);
    for (int i = 0; i < 4; i++)
        id[n++] = weights(j, UNITS, UNITS);
    for (int i = 0; i < 3; i++) /* peepholes */
        id[n++] = build_operand(&j->b, LIFE_NO_VALUE, DT_F32, DIMS(UNITS));
    for (int i = 0; i < 4; i++)
        id[n++] = weights(j, UNITS, 0);
    id[n++] = build_operand(&j->b, LIFE_NO_VALUE, DT_F32, DIMS(UNITS, UNITS)); /* projection */
    id[n++] = build_operand(&j->b, LIFE_NO_VALUE, DT_F32, DIMS(UNITS));
    id[n++] = add_input(j, DT_F32, DIMS(1, UNITS), 0);
    id[n++] = add_input(j, DT_F32, DIMS(1, UNITS), 0);
    id[n++] = build_int(&j->b, 4); /* tanh */
    id[n++] = no_clip;
    id[n++] = no_clip;
    id[n++] = build_constant(&j->b, DT_BOOL, (struct shape){ 0 }, &(const uint8_t){ 1 });
    for (int i = 0; i < 4; i++) /* layer normalisation */
        id[n++] = build_operand(&j->b, LIFE_NO_VALUE, DT_F32, DIMS(UNITS));
    build_operation(&j->b, "UNIDIRECTIONAL_SEQUENCE_LSTM", id, n,
                    IDS(output(j, DIMS(STEPS, 1, UNITS))));
}

static void bench_cell(const char *name, void (*build)(struct job *j), size_t gates, size_t steps)
{
    struct job j = { 0 };
    build_init(&j.b, 1);
    build(&j);
    start(&j);
    print_row(name, seconds(run_job, &j), "its matrix products", bench_products(gates, steps), "us",
              1e6);
    end(&j);
}

/* ---- small operations */

static void run_malloc(void *user)
{
    void *volatile *p = user;
    *p = malloc(64);
    free(*p);
}

static void bench_small(void)
{
    enum { CHAIN = 64 };
    struct job j = { 0 };
    void *p;
    build_init(&j.b, 1);
    uint32_t x = add_input(&j, DT_F32, DIMS(1), 0), y = x, none = build_int(&j.b, 0);
    for (int i = 0; i < CHAIN; i++) {
        enum lifetime life = i + 1 < CHAIN ? LIFE_TEMPORARY : LIFE_OUTPUT;
        uint32_t sum = build_operand(&j.b, life, DT_F32, DIMS(1));
        OPERATION(&j.b, "ADD", IDS(y, x, none), IDS(sum));
        y = sum;
    }
    start(&j);
    printf("one operation of a plan\n");
    print_row("ADD of one element", seconds(run_job, &j) / CHAIN, "malloc and free",
              seconds(run_malloc, &p), "ns", 1e9);
    end(&j);
}

/* ---- processes */

extern char **environ;

static pid_t spawn(const char *const *argv)
{
    posix_spawn_file_actions_t quiet;
    pid_t pid;
    posix_spawn_file_actions_init(&quiet);
    posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addopen(&quiet, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    if (posix_spawn(&pid, argv[0], &quiet, NULL, (char *const *) argv, environ) != 0) {
        fprintf(stderr, "bench_costs: cannot run %s\n", argv[0]);
        exit(EXIT_FAILURE);
    }
    posix_spawn_file_actions_destroy(&quiet);
    return pid;
}

/* CPU time of a process and of those that it has waited for. */
static double cpu_of(const struct rusage *u)
{
    return (double) (u->ru_utime.tv_sec + u->ru_stime.tv_sec) +
           1e-6 * (double) (u->ru_utime.tv_usec + u->ru_stime.tv_usec);
}

static double process_seconds(const char *const *argv)
{
    struct rusage u;
    int status;
    pid_t pid = spawn(argv);
    if (wait4(pid, &status, 0, &u) != pid || !WIFEXITED(status) || WEXITSTATUS(status) > 1) {
        fprintf(stderr, "bench_costs: %s failed\n", argv[0]);
        exit(EXIT_FAILURE);
    }
    return cpu_of(&u);
}

static double median_process(const char *const *argv)
{
    double times[MOST_ROUNDS];
    for (size_t i = 0; i < rounds; i++)
        times[i] = process_seconds(argv);
    return bench_median(times, rounds);
}

/* Time and memory that a process used until it ended. */
struct usage {
    double wall, cpu; /* seconds */
    double all;       /* maximum of the bytes of the process and its children */
    double child;     /* maximum of the bytes of one child */
};

static void watch_memory(pid_t pid, struct usage *u)
{
    char path[64];
    double all = bench_process_memory(pid);
    snprintf(path, sizeof path, "/proc/%d/task/%d/children", pid, pid);
    FILE *f = fopen(path, "r");
    for (long child; f && fscanf(f, "%ld", &child) == 1;) {
        double bytes = bench_process_memory(child);
        u->child = bytes > u->child ? bytes : u->child;
        all += bytes;
    }
    if (f)
        fclose(f);
    u->all = all > u->all ? all : u->all;
}

static double wall(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec + 1e-9 * (double) t.tv_nsec;
}

static struct usage watch(const char *const *argv, useconds_t interval)
{
    struct usage u = { .wall = wall() };
    struct rusage r;
    int status;
    pid_t pid = spawn(argv);
    while (wait4(pid, &status, WNOHANG, &r) == 0) {
        watch_memory(pid, &u);
        usleep(interval);
    }
    u.wall = wall() - u.wall;
    u.cpu = cpu_of(&r);
    return u;
}

static double sleeper_memory(void)
{
    pid_t pid = spawn((const char *const[]){ "/bin/sleep", "10", NULL });
    usleep(50000);
    double bytes = bench_process_memory(pid);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    return bytes;
}

static void bench_processes(void)
{
    enum { GRAPHS = 500 };
    char db[] = "/tmp/bench_costs-XXXXXX";
    int fd = mkstemp(db);
    if (fd < 0)
        return;
    close(fd);
    const char *const nothing[] = { "/bin/true", NULL }, *const usage[] = { HALCYON, "ops", "ADD",
                                                                            NULL };
    const char *one[] = { HALCYON, "random", "-d",   "golden", "--seed",  "1", "--ops",
                          "10",    "-q",     "--db", db,       "--count", "1", NULL };
    double baseline = median_process(nothing), first = median_process(one);
    one[12] = "500";
    double all = process_seconds(one);
    printf("processes (CPU time)\n");
    print_row("halcyon ops ADD", median_process(usage), "/bin/true", baseline, "ms", 1e3);
    print_row("halcyon random --count 1", first, "/bin/true", baseline, "ms", 1e3);
    print_row("each further random graph of 10 operations", (all - first) / (GRAPHS - 1),
              "/bin/true", baseline, "ms", 1e3);
    print_row("memory of a worker at most", watch(one, 2000).child, "/bin/sleep", sleeper_memory(),
              "MB", 1e-6);
    unlink(db);
}

/* Shards of one campaign, in full or as summaries, merged. */
static void bench_merging_of(const char *form, const char *name, double unit, double baseline)
{
    enum { SHARDS = 16, CASES = 250, FIRST = 2 };
    char folder[] = "/tmp/bench_costs-XXXXXX", path[SHARDS + 1][64], shard[16], count[16];
    const char *merge[FIRST + SHARDS + 3] = { HALCYON, "merge" };
    bench_must(mkdtemp(folder));
    snprintf(count, sizeof count, "%d", SHARDS * CASES);
    for (int i = 0; i < SHARDS; i++) {
        snprintf(path[i], sizeof path[i], "%s/%d.db", folder, i);
        snprintf(shard, sizeof shard, "%d/%d", i + 1, SHARDS);
        process_seconds((const char *const[]){ HALCYON, "random", "-d", "golden", "--no-probe",
                                               "-q", "--atomic", "--db", path[i], "--shard", shard,
                                               "--count", count, form, NULL });
        merge[FIRST + i] = path[i];
    }
    snprintf(path[SHARDS], sizeof path[SHARDS], "%s/all.db", folder);
    merge[FIRST + SHARDS] = "-o";
    merge[FIRST + SHARDS + 1] = path[SHARDS];
    print_row(name, process_seconds(merge) / (form ? SHARDS : SHARDS * CASES), "/bin/true",
              baseline, "ms", unit);
    for (int i = 0; i <= SHARDS; i++)
        unlink(path[i]);
    rmdir(folder);
}

static void bench_merging(void)
{
    double baseline = median_process((const char *const[]){ "/bin/true", NULL });
    printf("merging shards of 250 random graphs (CPU time)\n");
    bench_merging_of(NULL, "a case in full", 1e3, baseline);
    bench_merging_of("--summary", "a summary", 1e3, baseline);
}

/* The public corpus, if it is beside the project: loaded, run, judged and stored. */
static void bench_corpus(void)
{
    enum { FIRST = 2, ROOM = 64 };
    const char *unpack[ROOM] = { "/usr/bin/xz", "-dc" }, *run[ROOM] = { HALCYON, "run" };
    char db[] = "/tmp/bench_costs-XXXXXX";
    glob_t files;
    size_t n = FIRST;
    int fd = mkstemp(db);
    if (fd < 0 || glob(SOURCE_ROOT "/../shared/corpus/*.jsonl.xz", 0, NULL, &files) != 0)
        return;
    close(fd);
    for (size_t i = 0; i < files.gl_pathc && n < ROOM - 6; i++, n++)
        unpack[n] = run[n] = files.gl_pathv[i];
    const char *const rest[] = { "-d", "golden", "-q", "--db", db };
    memcpy(&run[n], rest, sizeof rest);
    double baseline = process_seconds(unpack);
    struct usage u = watch(run, 20000);
    printf("the public corpus, %zu files\n", n - FIRST);
    print_row("halcyon run -d golden (CPU time)", u.cpu, "xz -dc", baseline, "s", 1);
    printf("  %-44s %10.2f s, maximum %.0f MB in all its processes\n", "wall clock", u.wall,
           u.all * 1e-6);
    globfree(&files);
    unlink(db);
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? strtol(argv[1], NULL, 10) : 9;
    if (argc > 2 || n < 1 || n > MOST_ROUNDS) {
        fprintf(stderr, "usage: bench_costs [ROUNDS], 1..%d\n", MOST_ROUNDS);
        return 2;
    }
    rounds = (size_t) n;
    bench_streams();
    printf("recurrent cells, float, %d inputs, %d units\n", INPUTS, UNITS);
    bench_cell("RNN", rnn, 1, 1);
    bench_cell("UNIDIRECTIONAL_SEQUENCE_LSTM, 32 steps", sequence_lstm, 4, STEPS);
    bench_small();
    bench_processes();
    bench_merging();
    bench_corpus();
    return 0;
}
