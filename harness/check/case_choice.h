/* Which cases a campaign runs: those that are named, without those that are excluded.
 *
 *     # one name or pattern in a line, as with --case
 *     spec/V1_2/add_v1_2/add_v1_2
 *     spec/V1_2/softmax*
 */
#ifndef HARNESS_CASE_CHOICE_H
#define HARNESS_CASE_CHOICE_H

#include <stdbool.h>
#include <stdint.h>

#include "golden/base/why.h"

struct case_choice;

enum choice_kind {
    CHOICE_ONLY,    /* only cases that one of these matches; none: all */
    CHOICE_FAILED,  /* of them only those that one of these matches; none: all */
    CHOICE_EXCLUDE, /* without those that one of these matches */
    CHOICE_KINDS
};

/* NULL: out of memory. */
struct case_choice *case_choice_new(void);
void case_choice_free(struct case_choice *c);

/* Adds a name or pattern, see case_name_matches(). */
int case_choice_add(struct case_choice *c, enum choice_kind kind, const char *pattern,
                    struct why *w);
/* Adds the lines of a file, of stdin for "-", as CHOICE_ONLY.  Lines that start with '#' and empty
 * lines are skipped, and so are spaces around a name.  A file without names is WHY_INVALID. */
int case_choice_read(struct case_choice *c, const char *path, struct why *w);

/* For cases_select(); user is the choice.  Remembers what has matched. */
bool case_choice_takes(const char *name, void *user);

/* After the last case: the first name or pattern of CHOICE_ONLY that matched no case; NULL: none.
 */
const char *case_choice_unused(const struct case_choice *c);
/* After the last case: fails with the first name or pattern of CHOICE_ONLY that matched no case;
 * hint: what to do about it, "" for nothing. */
int case_choice_check(const struct case_choice *c, const char *hint, struct why *w);
/* Number of names of this kind, and of those that matched no case. */
uint64_t case_choice_count(const struct case_choice *c, enum choice_kind kind,
                           uint64_t *ret_unused);

/* A number that differs, with high probability, for other lists that case_choice_read() read. */
uint64_t case_choice_digest(const struct case_choice *c);

#endif
