/* The examples of a file of lines: threads parse lines ahead of the caller, who gets the examples
 * in the order of the file. */
#ifndef SPECS_AHEAD_H
#define SPECS_AHEAD_H

#include "golden/golden.h"
#include "specs/lines.h"

struct ahead_work {
    /* On any thread.  1: an example, in a; 0: the line has none; -1: the reason. */
    int (*parse)(const char *text, size_t n, size_t number, struct arena *a,
                 struct example *ret_example, void *user, struct why *w);
    /* On the caller's.  -1 stops. */
    int (*take)(const struct example *e, void *user, struct why *w);
    void *user;
};

/* threads: 0 and 1: the caller's alone.  Stops at the first failure in the order of the file:
 * AHEAD_UNREAD where it was reading the next line that failed. */
enum { AHEAD_UNREAD = -2 };
int ahead_run(struct lines *lines, const struct ahead_work *work, unsigned threads, struct why *w);

#endif
