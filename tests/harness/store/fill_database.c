/* fill_database FILE N [RUNS]: writes N cases with made-up verdicts to a results database, to
 * measure it and commands on it without running graphs, and prints what that took.
 *
 * The cases have 1 to 5 operations and are run on three targets; every tenth case fails on the
 * second one, which has 60 buckets, and one in seven is not supported by the third one.  They are
 * the same each time; so are the cases of each run (default: one). */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "golden/model/op.h"
#include "harness/check/buffer.h"
#include "harness/store/results.h"

enum { TARGETS = 3, BUCKETS = 60, FAILS_EVERY = 10, REFUSED_EVERY = 7, COMMIT_EVERY = 500 };

static const struct target_row targets[TARGETS] = { { "golden", "golden", "1", "CPU", "fl8" },
                                                    { "sim:gpu", "gpu", "1", "GPU", "1.3" },
                                                    { "sim:dsp", "dsp", "1", "ACCELERATOR",
                                                      "1.2" } };
static const char *const types[] = { "TENSOR_FLOAT32", "TENSOR_FLOAT16", "TENSOR_QUANT8_ASYMM",
                                     "TENSOR_INT32" };

static uint64_t state = 1;

static uint32_t draw(uint32_t below)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t) (state >> 33) % below;
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double) t.tv_sec + 1e-9 * (double) t.tv_nsec;
}

/* A specification like that of a random graph: half a kilobyte of structure, some kilobytes of
 * values. */
static void put_spec(struct buffer *b)
{
    const uint32_t values = 100 + draw(400);
    buffer_puts(b, "model = Model()\ni0 = Input(\"i0\", (\"TENSOR_FLOAT32\", [1, 4, 4, 8]))\n"
                   "o0 = Output(\"o0\", (\"TENSOR_FLOAT32\", [1, 4, 4, 8]))\n"
                   "model = model.Operation(\"ADD\", i0, i0, 0).To(o0)\n\nExample({i0: [");
    for (uint32_t i = 0; i < values; i++)
        buffer_printf(b, "%s%.8g", i ? ", " : "", draw(1 << 24) / 65536.0 - 128);
    buffer_puts(b, "]}, name=\"case\")\n");
}

static void fill_verdict(struct check_result *v, uint32_t target, uint64_t i, const char *operation,
                         const char *type)
{
    bool fails = target == 1 && i % FAILS_EVERY == 0, refused = target == 2 && !(i % REFUSED_EVERY);
    *v = (struct check_result){ .verdict = fails     ? VERDICT_FAIL
                                           : refused ? VERDICT_UNSUPPORTED
                                                     : VERDICT_PASS,
                                .judge = JUDGE_BOUND,
                                .ms = 0.01 * (double) (1 + draw(1000)),
                                .device_ns = HAL_NO_TIME,
                                .checked = refused ? 0 : 64,
                                .wrong = fails ? 3 : 0,
                                .output = refused ? -1 : 0,
                                .expected = 1,
                                .bound = 0.5,
                                .ratio = fails ? 1 + draw(1000) : draw(1000) / 1001.0 };
    snprintf(v->stage, sizeof v->stage, "%s", refused ? "supported" : "done");
    snprintf(v->status, sizeof v->status, "NONE");
    v->actual = v->expected + v->bound * v->ratio;
    snprintf(v->place, sizeof v->place, "[0,%u]", draw(64));
    snprintf(v->operation, sizeof v->operation, "%s", operation);
    snprintf(v->type, sizeof v->type, "%s", type);
    if (fails)
        snprintf(v->why, sizeof v->why, "3 of 64 elements are outside their bound");
    if (!fails && !refused)
        return;
    v->blamed.count = 1;
    v->blamed.output = fails ? 0 : -1;
    snprintf(v->blamed.name, sizeof v->blamed.name, "%s", operation);
    snprintf(v->blamed.type, sizeof v->blamed.type, "%s", type);
    snprintf(v->blamed.place, sizeof v->blamed.place, "%s", v->place);
    snprintf(v->blamed.why, sizeof v->blamed.why, "%s: %s[4]", operation, type);
    v->blamed.expected = v->expected;
    v->blamed.actual = v->actual;
    v->blamed.bound = v->bound;
    v->blamed.ratio = v->ratio;
}

static int write_case(struct results *r, uint64_t i, struct why *w)
{
    struct check_result result[TARGETS];
    struct verdict_row verdict[TARGETS];
    struct buffer operations = { 0 }, spec = { 0 };
    char name[64], replay[128];
    const uint32_t n = 1 + draw(5);
    const char *operation = NULL, *type = NULL;
    for (uint32_t k = 0; k < n; k++) {
        operation = op_table[draw((uint32_t) op_table_n)]->name;
        type = types[draw(COUNT(types))];
        buffer_printf(&operations, "%s\t%s\n", operation, type);
    }
    snprintf(name, sizeof name, "random/v2/s1/i%llu", (unsigned long long) i);
    snprintf(replay, sizeof replay, "halcyon replay %s -d sim:gpu", name);
    for (uint32_t t = 0; t < TARGETS; t++) {
        fill_verdict(&result[t], t, i, operation, type);
        bool fails = !verdict_conforming(result[t].verdict);
        verdict[t] = (struct verdict_row){ .result = &result[t], .replay = fails ? replay : NULL };
    }
    if (i % FAILS_EVERY == 0)
        put_spec(&spec);
    struct case_row c = { .ordinal = i,
                          .name = name,
                          .seed = 1,
                          .index = i,
                          .level = 3,
                          .n_operations = n,
                          .operations = buffer_text(&operations),
                          .spec = { spec.data, spec.length },
                          .verdict = verdict };
    int failed = results_write_case(r, &c, w);
    buffer_done(&operations);
    buffer_done(&spec);
    return failed;
}

static int write_run(struct results *r, uint64_t n, struct why *w)
{
    const struct run_row run = { .kind = "random",
                                 .command = "halcyon random",
                                 .options = "{}",
                                 .judge = "bound",
                                 .n_cases = n };
    char bucket[32];
    state = 1;
    TRY(results_start_run(r, &run, targets, TARGETS, w));
    for (uint64_t i = 0; i < n; i++) {
        TRY(write_case(r, i, w));
        if (i % COMMIT_EVERY == 0)
            TRY(results_commit(r, w));
    }
    for (uint64_t i = 0; i < n; i += FAILS_EVERY) {
        snprintf(bucket, sizeof bucket, "fail bucket-%u", (unsigned) (i / FAILS_EVERY % BUCKETS));
        TRY(results_set_bucket(
            r, i, 1, bucket, i < (uint64_t) BUCKETS * FAILS_EVERY ? "model = Model()\n" : NULL, w));
    }
    return results_finish_run(r, 1, w);
}

int main(int argc, char **argv)
{
    struct results *r = NULL;
    struct why w = { 0 };
    if (argc < 3) {
        fprintf(stderr, "usage: fill_database FILE N [RUNS]\n");
        return 2;
    }
    const uint64_t n = strtoull(argv[2], NULL, 10);
    const double begun = seconds();
    int failed = results_open(argv[1], RESULTS_WRITE, &r, &w);
    for (int i = argc > 3 ? atoi(argv[3]) : 1; !failed && i > 0; i--)
        failed = write_run(r, n, &w);
    results_close(r);
    if (failed) {
        fprintf(stderr, "fill_database: %s\n", w.text);
        return 1;
    }
    printf("%llu cases, %d verdicts each: %.2f s, %.1f us a case\n", (unsigned long long) n,
           TARGETS, seconds() - begun, 1e6 * (seconds() - begun) / (double) n);
    return 0;
}
