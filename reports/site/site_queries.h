/* All SQL of the report: the temporary tables that it is made from, and the queries on them. */
#ifndef REPORTS_SITE_QUERIES_H
#define REPORTS_SITE_QUERIES_H

#include <stdint.h>

#include "reports/reports.h"

struct sqlite3;

enum site_query {
    QUERY_VERDICTS,           /* verdict, n, conforming */
    QUERY_UNFINISHED,         /* n of runs */
    QUERY_COMPARED,           /* elements */
    QUERY_CASES,              /* n */
    QUERY_SUMMED,             /* n of these cases that are in summaries */
    QUERY_N_TARGETS,          /* n */
    QUERY_N_UNLOADED,         /* ?1: run */
    QUERY_N_BUGS,             /* n */
    QUERY_N_ROWS_OF_BUGS,     /* n, with the rows of failures that are not sorted into bugs */
    QUERY_N_UNSORTED,         /* n of these failures */
    QUERY_BUGS,               /* ?1: first, ?2: how many; the columns of enum bug_column */
    QUERY_BUG_TARGETS,        /* ?1: bug; uri, n */
    QUERY_BUG_BLAMED,         /* ?1: bug; operation, type, n */
    QUERY_BUG_RUNS,           /* ?1: bug; first run, started, runs with it */
    QUERY_TARGETS,            /* tid, uri, name, version, type, hal, checked, ms, device_ns, bugs */
    QUERY_TARGET_TOTALS,      /* tid, verdict, n */
    QUERY_SUITES,             /* suite, verdict, n, checked, ms; of the rules, by suite */
    QUERY_OPERATIONS,         /* operation, then the columns of enum role_column */
    QUERY_TYPES,              /* type, likewise */
    QUERY_PAIRS,              /* operation, type */
    QUERY_CELLS,              /* pair, tid, then the columns of enum role_column */
    QUERY_CELL_BUGS,          /* pair, tid, bug, n */
    QUERY_COVERED,            /* tid, operations, rows, ranks, options, values, ran, not_run */
    QUERY_COVERED_OPERATIONS, /* operation, rows, ran, not_run, targets */
    QUERY_PAIRS_COVERED,      /* tid, pairs of neighbours that ran */
    QUERY_RATIOS,             /* operation, tid, bin, n, greatest; by operation */
    QUERY_WALL_TIMES,         /* tid, bin, n; bins: powers of two of microseconds */
    QUERY_SLOWEST,            /* name, uri, verdict, ms, device_ns, n_operations */
    QUERY_PERFORMANCE,        /* tid, what, time, power */
    QUERY_BENCH,              /* ?1: run; the columns of site_bench.c */
    QUERY_BENCH_BASE,         /* run, started; of what benchmarks are compared with */
    QUERY_BENCH_CHANGES, /* ?1: run; model, uri, what, clock, run before; median, parts, low and
                            high before; the same now */
    QUERY_BENCH_METRICS, /* ?1: run; model, uri, key, value, reference, expected, allowed, worse,
                            before, more_is_better */
    QUERY_N_BENCH,       /* ?1: run; n of results of benchmarks */
    QUERY_N_BENCH_BAD,   /* ?1: run; those that do not conform */
    QUERY_FLAKES,        /* name, uri, was, failed_attempts, attempts, since, days, runs */
    QUERY_WAIVERS,       /* why, uri, was, n, a name, since, days, runs */
    QUERY_TREND,         /* run, started, kind, verdict, n, conforming; of the newest runs */
    QUERY_NEW_BUGS,      /* run, bugs that it has first */
    QUERY_UNDECIDED,     /* uri, why, a name, n */
    QUERY_UNSUPPORTED,   /* uri, signature, a name, n */
    QUERY_RUNS, /* ?1: run; run, started, command, judge, version, seconds, n_cases, done, finished
                 */
    QUERY_UNLOADED, /* ?1: run; run, why */
    QUERY_SUPPORT,  /* ?1: run; uri, digest, text */
    QUERY_NOTES,    /* ?1: run; run, uri, text */
    QUERY_ROWS,     /* ?1, ?2: rows from, and before; name, tid, verdict, ms, ratio, bug, pairs */
    QUERY_N_ROWS,   /* n */
    QUERY_VERDICT_ROWS, /* verdict, first row, n; of conforming verdicts */
    QUERY_TEXTS,        /* place in its bug, bytes of specifications and other texts */
    QUERY_DETAILS,      /* ?1: rows before; the columns of enum case_column */
    N_QUERIES
};
extern const char *const site_sql[N_QUERIES];

enum bug_column {
    BUG_INDEX,
    BUG_KEY,
    BUG_BUCKET,
    BUG_CASES,
    BUG_TARGETS,
    BUG_GREATEST, /* ratio among its cases */
    BUG_ROW,      /* the first row of its cases */
    BUG_SHRUNK,
    BUG_CASE /* the columns of enum case_column of the case that shows it follow */
};

/* One verdict in full. */
enum case_column {
    CASE_ROW,
    CASE_URI,
    CASE_NAME_,
    CASE_VERDICT,
    CASE_WHY,
    CASE_STAGE,
    CASE_STATUS,
    CASE_JUDGE,
    CASE_WALL,
    CASE_DEVICE,
    CASE_LEVEL,
    CASE_OPERATIONS,
    CASE_CHECKED,
    CASE_WRONG,
    CASE_OUTPUT,
    CASE_PLACE,
    CASE_OPERATION,
    CASE_TYPE,
    CASE_EXPECTED,
    CASE_ACTUAL,
    CASE_BOUND,
    CASE_RATIO,
    CASE_REPLAY,
    CASE_SPEC,
    CASE_CONFIRMED,
    CASE_PRINTED,
    CASE_BACKTRACE,
    CASE_BLAMED_COUNT,
    CASE_BLAMED_GRAPH,
    CASE_BLAMED_INDEX,
    CASE_BLAMED_OPERATION,
    CASE_BLAMED_TYPE,
    CASE_BLAMED_WHY,
    CASE_BLAMED_OUTPUT,
    CASE_BLAMED_PLACE,
    CASE_BLAMED_EXPECTED,
    CASE_BLAMED_ACTUAL,
    CASE_BLAMED_BOUND,
    CASE_BLAMED_RATIO,
    CASE_BUCKET,
    CASE_SHRUNK,
    CASE_WAS,
    CASE_PLACE_IN_BUG
};

/* Verdicts on the cases that have an operation, by what they tell of that operation. */
enum role_column {
    ROLE_FAILED,  /* not conforming, and the operation is blamed or the only one */
    ROLE_SUSPECT, /* not conforming, and none of several operations is blamed */
    ROLE_OTHER,   /* not conforming, but another operation is blamed */
    ROLE_PASSED,
    ROLE_UNDECIDED,
    ROLE_WAIVED,
    ROLE_UNSUPPORTED, /* the first operation that the target does not support */
    ROLE_NOT_RUN,     /* another operation of the case is not supported */
    ROLE_CHECKED,     /* elements compared */
    ROLE_MS,
    N_ROLES
};

enum { RATIO_BINS = 16, RATIO_WITHIN = 11, TIME_BINS = 26 };

/* Creates the temporary tables of what the options show.  version: of the schema. */
int site_create_tables(struct sqlite3 *db, const char *path, const struct report_options *o,
                       int version, struct why *w);
/* Creates bucket_seen and bucket_bug (site_buckets.c). */
int site_join_buckets(struct sqlite3 *db, const char *path, struct why *w);

#endif
