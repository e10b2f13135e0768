/* What random graphs are drawn for: the support sets of targets, asked for, read from a file, or
 * recorded in the database (randgraph/randgraph.h). */
#ifndef HARNESS_DRAWN_FOR_H
#define HARNESS_DRAWN_FOR_H

#include "harness/check/cases.h"
#include "harness/cli/options.h"
#include "harness/run/support_probe.h"
#include "harness/store/results.h"

enum { SET_DIGEST = 17 }; /* bytes of a digest as text */

struct drawn_for {
    struct randgraph_support *set[MAX_TARGETS];       /* NULL: any driver */
    const struct randgraph_support *use[MAX_TARGETS]; /* the same, for struct cases */
    uint32_t n;                                       /* 0: all graphs are for any driver */
    bool is_recorded; /* by the run that is repeated; digest: "" for any driver */
    char digest[MAX_TARGETS][SET_DIGEST];
    /* What they are drawn by (harness/cases/steered.h). */
    const struct randgraph_steering *steering[MAX_TARGETS]; /* NULL: no weights */
    uint32_t n_steering;                                    /* 0: none is drawn by weights */
    char steering_digest[MAX_TARGETS][SET_DIGEST];          /* recorded; "": no weights */
    char note[MAX_TARGETS][PROBE_NOTE];                     /* about a target; "": nothing */
    uint64_t asked[MAX_TARGETS]; /* models that the target was asked about; 0: it was not */
    double seconds[MAX_TARGETS]; /* that this took */
};

/* Whether a target is not asked: the reference supports all that can be drawn, the null driver
 * nothing. */
bool target_needs_no_probe(const char *uri);
/* Sets what the cases, random graphs of these options, are drawn for: --support, the recorded sets,
 * what the targets answer, or nothing with --no-probe and --from, with which they are mutations
 * (harness/cases/mutated.h); and with --steer what they are drawn by.  d outlives the cases.  A
 * target whose set has no graph with these options gets graphs for any driver. */
int drawn_for_targets(struct drawn_for *d, const struct options *o, struct cases *cases,
                      struct why *w);
/* Uses the steering sets of a recorded run: a list of digests and nulls, or NULL. */
struct json_t;
void drawn_for_use_steering(struct drawn_for *d, const struct json_t *digests);
/* Finds what the name of a single random case has the digests of, if it has any: sets in --support,
 * else in the database; an example in --from.  WHY_INVALID: where it was looked for. */
int drawn_for_name(const struct options *o, struct cases *cases, struct why *w);
/* Keeps the sets in the database. */
int drawn_for_keep(const struct drawn_for *d, struct results *r, struct why *w);
/* A JSON list of what the graphs are drawn for, an object per target; NULL: all for any driver. */
struct json_t;
struct json_t *drawn_for_json(const struct drawn_for *d, const char *const *target);
void drawn_for_done(struct drawn_for *d);

#endif
