/* What a driver answers about itself: always the same. */
#ifndef HARNESS_CONFORM_ANSWERS_H
#define HARNESS_CONFORM_ANSWERS_H

#include "harness/check/buffer.h"
#include "harness/conform/conform.h"

enum { CONFORM_QUERIES = 5 };

/* The answers as texts: capabilities, type, version, extensions, numbers of cache files; "": the
 * driver's version does not have the query. */
struct conform_answers {
    struct buffer text[CONFORM_QUERIES];
};
void conform_answers_ask(struct hal_driver *d, enum hal_version version,
                         struct conform_answers *ret_answers);
void conform_answers_done(struct conform_answers *a);

/* Asks again.  False: an answer is another one than before, and ret_text tells which. */
bool conform_answers_agree(struct hal_driver *d, enum hal_version version,
                           const struct conform_answers *first, char ret_text[CONFORM_TEXT]);

/* Appends the figures of the capabilities. */
void conform_put_performance(const struct hal_capabilities *caps, struct buffer *b);

#endif
