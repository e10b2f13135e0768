/* Error reporting.  Functions that can fail return 0 or more on success and -1 with the reason in a
 * `struct why`.  The text reaches the user unchanged, so it names the object and its values.  Only
 * commands print. */
#ifndef GOLDEN_WHY_H
#define GOLDEN_WHY_H

#include <stdbool.h>
#include <stddef.h>

enum why_code {
    WHY_INVALID,     /* the input breaks a rule: file, model, argument */
    WHY_UNSUPPORTED, /* valid, but not supported here */
    WHY_EXECUTION,   /* can be prepared, but not executed with these values */
    WHY_TIMEOUT,     /* a loop or a specification exceeded its time limit */
    WHY_MEMORY,      /* out of memory, or over a memory limit */
    WHY_SYSTEM       /* the operating system reported an error: file, process, descriptor */
};

struct why {
    enum why_code code;
    char text[480];
};

/* Sets the reason and returns -1, for `return why_fail(...)`.  w may be NULL. */
__attribute__((format(printf, 3, 4))) int why_fail(struct why *w, enum why_code code,
                                                   const char *fmt, ...);

/* Reports an allocation that failed or exceeded a limit: WHY_MEMORY, "out of memory"; returns -1.
 */
int why_no_memory(struct why *w);
/* Likewise, with its purpose: "out of memory for 12 boxes". */
__attribute__((format(printf, 2, 3))) int why_no_memory_for(struct why *w, const char *fmt, ...);

/* Whether an errno reports a shortage (of space, descriptors, memory) or a broken device, and not a
 * path that cannot be used. */
bool why_is_shortage(int error);
/* Reports an errno about a file: "PATH: No such file or directory", with the nearest name that
 * there is in its folder; returns -1.  WHY_SYSTEM for a shortage, else WHY_INVALID. */
int why_file(struct why *w, const char *path, int error);
/* The same; of a file that does not exist, with `hint` if no name is near. */
int why_file_or(struct why *w, const char *path, int error, const char *hint);

/* Prepends "text: " to the existing reason, if there is room; returns -1.  w may be NULL. */
__attribute__((format(printf, 2, 3))) int why_prefix(struct why *w, const char *fmt, ...);

/* Returns from the function with WHY_INVALID and the given message unless cond holds. */
#define REQUIRE(w, cond, ...)                                                                      \
    do {                                                                                           \
        if (!(cond))                                                                               \
            return why_fail(w, WHY_INVALID, __VA_ARGS__);                                          \
    } while (0)

/* Returns -1 from the function if the call fails; its reason is already in w. */
#define TRY(call)                                                                                  \
    do {                                                                                           \
        if ((call) < 0)                                                                            \
            return -1;                                                                             \
    } while (0)

#endif
