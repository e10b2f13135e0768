/* Why something was refused.  Functions that can fail return 0 or more on success and -1 with the
 * reason in a `struct why`; the text reaches the user unchanged, so it names the thing and its
 * values.  Only commands print. */
#ifndef GOLDEN_WHY_H
#define GOLDEN_WHY_H

#include <stddef.h>

enum why_code {
    WHY_INVALID,     /* the input breaks a rule: bad file, bad model, bad argument */
    WHY_UNSUPPORTED, /* legal, but this part of the project does not do it */
    WHY_EXECUTION,   /* legal to prepare, cannot be executed with these values */
    WHY_TIMEOUT,     /* a loop or a specification ran for longer than allowed */
    WHY_MEMORY,      /* out of memory, or over a limit of memory */
    WHY_SYSTEM       /* the machine refused: file, process, descriptor */
};

struct why {
    enum why_code code;
    char text[480];
};

/* Writes the reason; returns -1, so that `return why_fail(...)` reads well.  w may be NULL. */
__attribute__((format(printf, 3, 4))) int why_fail(struct why *w, enum why_code code,
                                                   const char *fmt, ...);

/* Puts "text: " before the reason that is there, if there is room; returns -1. */
__attribute__((format(printf, 2, 3))) int why_prefix(struct why *w, const char *fmt, ...);

#define REQUIRE(w, cond, ...)                                                                      \
    do {                                                                                           \
        if (!(cond))                                                                               \
            return why_fail(w, WHY_INVALID, __VA_ARGS__);                                          \
    } while (0)

#define TRY(call)                                                                                  \
    do {                                                                                           \
        if ((call) < 0)                                                                            \
            return -1;                                                                             \
    } while (0)

#endif
