/* Asks a target what it supports, with the probe table of randgraph: models of one call each, which
 * are never executed.  The answers make the support set that random graphs are drawn for. */
#ifndef HARNESS_SUPPORT_PROBE_H
#define HARNESS_SUPPORT_PROBE_H

#include "randgraph/randgraph.h"

enum { MOST_PROBE_DEATHS = 5, PROBE_NOTE = 400 };

struct support_probe {
    struct randgraph_support *set; /* for randgraph_support_free(); NULL: see note */
    uint64_t asked;                /* number of models */
    double seconds;
    char note[PROBE_NOTE]; /* what was noticed, such as a death of the driver; "": nothing */
};

struct support_probe_options {
    double timeout; /* seconds for one answer */
    unsigned jobs;  /* worker processes */
    bool in_process;
};

/* Never fails for what the driver does: a probe row on which it dies or gives different answers to
 * the same question counts as not supported.  Without any supported row, and after
 * MOST_PROBE_DEATHS such rows, there is no set.  WHY_INVALID: the target cannot be opened. */
int support_probe(const char *uri, const struct support_probe_options *options,
                  struct support_probe *ret_probe, struct why *w);

#endif
