/* Results for people and for programs. */
#ifndef HARNESS_BENCH_PRINT_H
#define HARNESS_BENCH_PRINT_H

#include <stdio.h>

#include "harness/bench/bench_types.h"

struct json_t;

/* Writes ns in a fitting unit; returns text. */
enum { BENCH_DURATION = 24 };
const char *bench_duration(double ns, char text[BENCH_DURATION]);

/* A few lines about one model on one target. */
void bench_print(const char *model, const char *target, const struct bench_result *r, FILE *to);
/* The same as an object. */
struct json_t *bench_json(const char *model, const char *target, const struct bench_result *r);

/* Lines as of the public benchmark (docs/benchmark.md): the head with the time of the start, then
 * one for each result that has times.  is_sample: not all data was used. */
void bench_csv_head(const char *version, FILE *to);
void bench_csv_line(const char *model, const char *target, const struct bench_result *r, FILE *to);

#endif
