/* A case that a user names: in the results database, in a file, or by what it is generated from. */
#ifndef HARNESS_FOUND_CASE_H
#define HARNESS_FOUND_CASE_H

#include "harness/check/nearest_case.h"
#include "harness/cli/options.h"
#include "harness/store/recorded.h"

struct found_case {
    const struct options *o;  /* argument[0]: CASE or FILE */
    struct options effective; /* o, completed by the recorded options and targets */
    struct cases cases;
    struct recorded_case found;
    bool in_database;
    char near[NEAREST_CASE_TEXT]; /* where it is not: the nearest name there, or "" */
};

/* Finds the case, or loads all cases of the file that --case selects.  .o and .effective are set by
 * the caller; the rest is zeroed, except cases.keep_going. */
int found_case_find(struct found_case *p, struct why *w);
/* Looks a name up in the database, if there is one. */
int found_case_look_up(struct found_case *p, const char *name, struct why *w);
/* How a recorded case was run: by which rule it was judged, through which entry points, and on
 * which targets it did not conform. */
int found_case_use_options(struct found_case *p, struct why *w);
/* Loads the one example of a specification's text, as the database stores it, through a temporary
 * file.  what: the case, for errors.  *c is zeroed before. */
int cases_load_text(struct cases *c, const char *spec, const char *what, struct why *w);
void found_case_done(struct found_case *p);

#endif
