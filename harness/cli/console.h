/* Output of a campaign: failures with their explanations, or JSON lines, on stdout; progress on
 * stderr (harness/cli/progress.h). */
#ifndef HARNESS_CONSOLE_H
#define HARNESS_CONSOLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "harness/check/cases.h"
#include "harness/check/check.h"
#include "harness/cli/options.h"
#include "harness/cli/progress.h"

struct totals {
    uint64_t n[VERDICT_COUNT];
    uint64_t compared; /* elements */
};

struct console {
    bool json;
    bool shares_screen; /* stdout is a terminal: what is printed there goes above the progress */
    int verbosity;
    uint64_t losses; /* verdicts on models that lost something in conversion */
    struct progress progress;
};

struct console console_start(const struct options *o, uint64_t n_cases);

/* What belongs to a verdict; NULL: none. */
struct verdict_texts {
    const char *replay;    /* the command that runs the case alone, where it is not conforming */
    const char *detail;    /* lines about each output */
    const char *printed;   /* what the driver printed */
    const char *backtrace; /* of its crash */
};
/* Prints one verdict, as the verbosity or JSON requires. */
void console_verdict(struct console *c, const char *name, const char *target,
                     const struct check_result *r, const struct verdict_texts *texts);
/* A verdict as a JSON object. */
struct json_t *console_verdict_json(const char *name, const char *target,
                                    const struct check_result *r,
                                    const struct verdict_texts *texts);
/* Prints an object as a line on stdout, and frees it. */
void console_json_line(struct json_t *object);
/* Before and after something is printed on stdout while the campaign runs. */
void console_begin_print(const struct console *c);
void console_end_print(struct console *c);
/* Shows the progress, with `done` complete cases; nothing when quiet. */
void console_progress(struct console *c, uint64_t done, const struct totals *totals,
                      uint32_t n_targets);

/* Something about a target that belongs to no single case. */
struct target_note {
    uint32_t target; /* index */
    char *text;
};

/* Failures on a target whose shrunk cases have the same structure; or verdicts `unsupported` with
 * the same signature. */
struct bucket_count {
    char *bucket; /* its name, or the signature; NULL: not shrunk */
    uint32_t target;
    uint64_t n;            /* verdicts */
    uint64_t n_not_shrunk; /* of these, of kinds of which no case was shrunk in this run */
    char *first;           /* name of the case that was shrunk, or of the first case */
    /* Of the shrunk case: operations, 0: it was not shrunk in this run; elements of the largest
     * operand; executions and seconds that shrinking took. */
    uint32_t n_operations;
    size_t n_elements;
    uint64_t executions;
    double seconds;
};

struct summary {
    const char *const *target;
    const struct totals *totals; /* one per target */
    uint32_t n_targets;
    uint64_t n_cases, not_run;
    const char *ended; /* what ended the campaign before its last case; NULL: nothing did */
    double seconds;
    int64_t run; /* id in the database; 0: not recorded */
    const char *db;
    const char *key, *campaign; /* digests of the shard; NULL: not recorded */
    uint32_t shard, n_shards;
    enum hal_version entry; /* options.version */
    const struct target_note *note;
    uint32_t n_notes;
    struct json_t *baselines; /* expectations_json(), which the summary takes; NULL: none */
    struct json_t *drawn_for; /* drawn_for_json(), likewise */
    const struct bucket_count *bucket, *unsupported;
    uint32_t n_buckets, n_unsupported;
    const struct cases *cases; /* of which the files that could not be loaded are shown */
};
/* Prints the files of c that could not be loaded, each with its place and the reason; nothing if
 * there are none. */
void console_unloaded(const struct cases *c, FILE *to);
/* The same as a JSON array. */
struct json_t *console_unloaded_json(const struct cases *c);
/* The exit status: `status`, or EXIT_USAGE if there are such files, unless --skip-bad is given. */
int unloaded_status(const struct options *o, const struct cases *c, int status);
/* Prints the totals, or the last JSON line. */
void console_summary(struct console *c, const struct summary *s);

/* Monotonic time in seconds. */
double console_now(void);

#endif
