/* The run that a benchmark is compared with (--against), and what has changed since. */
#ifndef HARNESS_BENCH_BASE_H
#define HARNESS_BENCH_BASE_H

#include <stdio.h>

#include "harness/bench/bench_types.h"
#include "harness/store/results.h"
#include "reports/bench_change.h"

struct bench_base {
    struct results *results; /* NULL: none */
    char *path;
    int64_t run;
    char started[32];
};

/* Opens what `text` names: RUN, DATABASE or DATABASE:RUN (harness/store/named_run.h); without RUN
 * the newest benchmark.  db: the database of a run alone.  WHY_INVALID: there is no such run, or it
 * is no benchmark; the message has those that there are. */
int bench_base_open(const char *text, const char *db, struct bench_base *ret_base, struct why *w);
void bench_base_close(struct bench_base *b);

struct bench_time_change {
    enum bench_what what;
    enum bench_clock clock;
    struct bench_median before, now;
    enum bench_change change;
};
struct bench_time_changes {
    bool is_known; /* the base has the model on the target */
    uint32_t n;
    struct bench_time_change row[BENCH_WHATS * BENCH_CLOCKS];
};
/* Compares the times of a model on a target that both have. */
int bench_base_compare(struct bench_base *b, const char *model, const char *uri,
                       const struct bench_result *now, struct bench_time_changes *ret,
                       struct why *w);

/* Prints those that are slower or faster, and how many are not. */
void bench_changes_print(const struct bench_base *b, const struct bench_time_changes *d, FILE *to);
struct json_t *bench_changes_json(const struct bench_base *b, const struct bench_time_changes *d);

#endif
