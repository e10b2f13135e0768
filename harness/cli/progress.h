/* What a campaign shows on stderr while it runs.  On a terminal a block of lines
 * (harness/cli/screen.h):
 *
 *     [############..................] 4210/10000  512/s, 11 s left
 *     3980 pass, 180 unsupported, 42 fail, 8 crash
 *          42 fail   CONV_2D TENSOR_FLOAT32
 *           8 crash  SOFTMAX TENSOR_FLOAT16
 *     last: halcyon replay random/v2/s1/i812 -d sim:cpu
 *
 * The failures are counted by kinds: target, verdict, blamed operation and type.  While they are
 * shrunk, the kinds get the names of their buckets; those with the same name become one.  Elsewhere
 * a line a minute. */
#ifndef HARNESS_PROGRESS_H
#define HARNESS_PROGRESS_H

#include <stdint.h>

#include "harness/check/check.h"
#include "harness/cli/options.h"

enum { PROGRESS_KINDS = 64, PROGRESS_TEXT = 160 };

struct progress_kind {
    const char *target; /* the caller's */
    enum verdict verdict;
    char text[PROGRESS_TEXT];   /* what fails */
    char bucket[PROGRESS_TEXT]; /* ""; or that of the shrunk case, which is shown instead */
    uint64_t n;
};

struct progress {
    bool hidden;   /* nothing is shown */
    bool terminal; /* else a line a minute */
    bool colour, many_targets;
    uint64_t n_cases, done;
    uint64_t failures; /* verdicts that are not conforming */
    double begun;      /* seconds, monotonic */
    double duration;   /* of --for; 0: none */
    uint64_t shown_ms; /* when it was last shown, since begun */
    double rate;       /* cases a second, of about the last 20 s */
    uint64_t rate_done, rate_ms;
    uint64_t n[VERDICT_COUNT];
    struct progress_kind kind[PROGRESS_KINDS];
    uint32_t n_kinds; /* failures of later kinds are only among the verdicts */
    char last[PROGRESS_TEXT];
    uint32_t shrunk, to_shrink; /* kinds; 0: nothing is being shrunk */
};

struct progress progress_start(const struct options *o, uint64_t n_cases);
/* Counts a failure among those of its kind.  replay: may be NULL. */
void progress_failure(struct progress *p, const char *target, enum verdict v, const char *what,
                      const char *replay);
/* Shows the progress with `done` complete cases and so many of each verdict: the block ten times a
 * second at most, the line once a minute. */
void progress_show(struct progress *p, uint64_t done, const uint64_t n[VERDICT_COUNT]);
/* Shows the block again at once, after it has been cleared, with what is known. */
void progress_again(struct progress *p);

/* From now on kinds are shrunk; `shrunk` of to_shrink are. */
void progress_shrinking(struct progress *p, uint32_t shrunk, uint32_t to_shrink);
/* The kind has this bucket. */
void progress_bucket(struct progress *p, const char *target, enum verdict v, const char *what,
                     const char *bucket);

#endif
