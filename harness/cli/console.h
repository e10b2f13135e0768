/* What people and programs see of a campaign: failures with their explanation, or JSON lines, on
 * stdout; a progress bar on stderr where that is a terminal. */
#ifndef HARNESS_CONSOLE_H
#define HARNESS_CONSOLE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "harness/check/check.h"

struct totals {
    uint64_t n[VERDICT_COUNT];
};

struct console {
    bool json, terminal, bar_shown, details;
    int verbosity;
    uint64_t n_cases, failures, losses; /* losses: verdicts with a loss */
    double begun;                       /* seconds, monotonic */
    uint64_t drawn_ms;
};

struct console console_start(bool json, int verbosity, uint64_t n_cases);

/* One verdict.  replay: the command that runs it alone; NULL when conforming.  detail: NULL, or
 * lines about each output. */
void console_verdict(struct console *c, const char *name, const char *target,
                     const struct check_result *r, const char *replay, const char *detail);
/* Draws the bar, at most ten times a second. */
void console_progress(struct console *c, uint64_t done);
/* Ends the bar, so that other text can be printed. */
void console_clear(struct console *c);

struct summary {
    const char *const *target;
    const struct totals *totals; /* one per target */
    uint32_t n_targets;
    uint64_t n_cases, not_run;
    double seconds;
    int64_t run; /* 0: not in a database */
    const char *db;
};
void console_summary(struct console *c, const struct summary *s);

double console_now(void);

#endif
