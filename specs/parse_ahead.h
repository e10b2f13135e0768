/* Parses the lines of a file in parallel: threads parse lines before the caller needs them, and the
 * caller receives the examples in file order. */
#ifndef SPECS_PARSE_AHEAD_H
#define SPECS_PARSE_AHEAD_H

#include "golden/golden.h"
#include "specs/line_reader.h"

struct parse_ahead_work {
    /* Parses line `number` of the file (from 1), not a blank one, into the arena, on any thread. 1:
     * an example, 0: a line without one, -1: the reason. */
    int (*parse)(const char *text, size_t n, size_t number, struct arena *a,
                 struct example *ret_example, void *user, struct why *w);
    /* Receives an example, valid during the call, on the caller's thread.  -1 stops. */
    int (*take)(const struct example *e, void *user, struct why *w);
    void *user;
};

/* threads: 0 and 1 parse on the caller's thread.  Stops at the first failure in file order: -1 from
 * parse() or take(), PARSE_AHEAD_UNREAD where the next line could not be read. */
enum { PARSE_AHEAD_UNREAD = -2 };
int parse_ahead_run(struct line_reader *lines, const struct parse_ahead_work *work,
                    unsigned threads, struct why *w);

#endif
