/* Baselines: text files, one per target, of the verdicts that are expected of cases.
 *
 *     halcyon-baseline 1
 *     target lib:*mine.so
 *
 *     # Comments above an entry stay with it.
 *     fail       random/s1/i7                   op=CONV_2D
 *     violation  random/s1/i9                   stage=execute status=GENERAL_FAILURE
 *     fail       spec/V1_2/softmax*             op=SOFTMAX reason="table of 256 entries"
 *                                               link=https://tracker/12 until=2027-03-31   (one
 * line) pass|fail  random/s1/i12 skip       spec/V1_3/huge_*               reason="takes 20 GB"
 *
 * An entry names the verdicts that are expected and, for those that are not conforming, the class:
 * stage, HAL status and operation.  Several verdicts make a flake.  An entry with a reason is a
 * waiver; `until` is its last day.  Of several entries for a case the one with its exact name
 * applies, else the glob with the most literal characters.  Groups of entries are separated by
 * empty lines and sorted by name when the file is rewritten.
 */
#ifndef HARNESS_BASELINE_H
#define HARNESS_BASELINE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "golden/base/arena.h"
#include "golden/base/why.h"
#include "harness/check/verdict.h"

/* What a verdict is compared by.  stage and operation may be NULL or "": none. */
struct verdict_class {
    enum verdict verdict;
    const char *stage, *status, *operation;
    enum verdict first; /* of VERDICT_FLAKY: of the first run, which the rest describes */
};

struct baseline_entry {
    char *comment;      /* the lines above it, each with '#' and line end; NULL: none */
    char *name;         /* glob, as in the file, without quotes */
    char *exact;        /* the one case that it names; NULL: it is a glob */
    uint32_t n_literal; /* characters of the glob that are not wildcards */
    uint32_t verdicts;  /* bit per enum verdict; 0: skip */
    char *stage, *status, *operation; /* class of the verdicts that do not conform; NULL: any */
    char *reason, *link;              /* NULL: none */
    int32_t until;                    /* last day, as 20270331; 0: no limit */
    unsigned line;                    /* 0: not from the file */
    uint32_t group;
    bool removed; /* by baseline_update() */
};

struct baseline {
    struct arena *arena; /* owns what follows, but for the arrays */
    char *path;
    char *target;     /* glob of the URIs that it is for; NULL: all */
    char *head;       /* comment lines above the line `target`; NULL: none */
    char **group_end; /* per group: comment lines after the last entry; NULL: none */
    struct baseline_entry *entry;
    uint32_t *by_name; /* of the file's entries: those with exact names, then globs, each sorted */
    uint32_t n_exact, n_found; /* entries in by_name: exact ones, all */
    uint32_t n, n_groups;
};

/* Reads a file.  WHY_INVALID, with file and line, for one that is not a baseline. */
int baseline_load(const char *path, struct baseline **ret_baseline, struct why *w);
/* An empty baseline for a target (a URI, not a glob). */
int baseline_new(const char *path, const char *target, struct baseline **ret_baseline,
                 struct why *w);
void baseline_free(struct baseline *b);

bool baseline_is_for(const struct baseline *b, const char *uri);
/* The entry that applies to a case; NULL: none. */
const struct baseline_entry *baseline_find(const struct baseline *b, const char *name);

/* Of two entries for one case (NULL: none) the one that applies; `a` if both are equally near. */
const struct baseline_entry *baseline_nearer(const struct baseline_entry *a,
                                             const struct baseline_entry *b);

/* The day of today in UTC, as 20270331. */
int32_t baseline_today(void);
bool entry_is_expired(const struct baseline_entry *e, int32_t today);
/* What an entry for this verdict lists, as its member `verdicts`. */
uint32_t verdicts_of(const struct verdict_class *c);
/* Whether the entry expects this verdict in this class; expiry is not considered.  A flaky case is
 * one that passes and gives the verdict of its first run. */
bool entry_expects(const struct baseline_entry *e, const struct verdict_class *c);
static inline bool entry_is_skip(const struct baseline_entry *e)
{
    return !e->verdicts;
}
static inline bool entry_is_waiver(const struct baseline_entry *e)
{
    return e->reason != NULL;
}
/* Whether it expects a verdict that is conforming, and whether one that is not. */
bool entry_expects_conforming(const struct baseline_entry *e);
bool entry_expects_failure(const struct baseline_entry *e);

/* Adds an entry, of which it copies nothing, to the end; baseline_find() does not see it. */
int baseline_append(struct baseline *b, const struct baseline_entry *e, struct why *w);
int baseline_add_group(struct baseline *b, struct why *w);

/* harness/policy/baseline_write.c */

/* Writes one entry as a line, without its comment and line end. */
void entry_put(FILE *to, const struct baseline_entry *e);
/* Writes the file, its groups sorted, without the entries that are removed. */
int baseline_put(FILE *to, const struct baseline *b, struct why *w);
/* Replaces or creates the file at b->path. */
int baseline_save(const struct baseline *b, struct why *w);

struct baseline_changes {
    uint64_t added, changed, removed;
    uint64_t kept;  /* waivers whose case now gives another verdict: a person must decide */
    bool has_group; /* the last group of the baseline is for new entries */
};
enum baseline_flag {
    BASELINE_ALL = 1,   /* also add cases that conform */
    BASELINE_FLAKES = 2 /* an entry whose case now gives another verdict becomes a flake */
};
/* Makes the entries describe a case's verdict.  An exact entry without a reason is replaced, or
 * removed once the case conforms; a waiver whose case passes is removed, any other waiver stays as
 * it is.  A failure that no entry expects gets one.  Cases that are not updated keep theirs. */
int baseline_update(struct baseline *b, const char *name, const struct verdict_class *c,
                    unsigned flags, struct baseline_changes *changes, struct why *w);

#endif
