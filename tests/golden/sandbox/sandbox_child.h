/* Processes that confine themselves and try what a table lists, for the tests of the sandbox.  As
 * root, these tests run once as root and once as an ordinary user. */
#ifndef TESTS_SANDBOX_CHILD_H
#define TESTS_SANDBOX_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "golden/base/sandbox.h"

#define COUNT(array) ((int) (sizeof(array) / sizeof *(array)))

/* An action; returns 0, or -1 with errno. */
struct sandbox_act {
    const char *name;
    long (*run)(void);
    int expected; /* errno; 0: EPERM, EACCES, EXDEV */
};

/* An action that is a single expression. */
#define ACTION(name, expression)                                                                   \
    static long name(void)                                                                         \
    {                                                                                              \
        return (long) (expression);                                                                \
    }
#define ROW(name)                                                                                  \
    {                                                                                              \
#name, name, 0                                                                             \
    }

enum { MOST_ACTIONS = 128, CANNOT_ENTER = 3 };

/* What the child reports; in memory shared with it. */
struct child_report {
    struct sandbox_state state;
    struct why why;
    int error[MOST_ACTIONS]; /* errno; 0: succeeded */
};
extern struct child_report *child_shared;

/* A folder, a folder in it that a child may write to, and a file that no child may change. */
extern char child_folder[64], child_scratch[80], child_outside[80];
extern pid_t child_victim;   /* a process that no child may harm */
extern bool child_as_nobody; /* an ordinary user */

/* The fixture of each test. */
void child_set_up(void);
void child_tear_down(void);

void child_write_file(const char *path, const char *text);

/* Starts a confined process that tries the actions, after hiding a call, as of an older kernel
 * (NULL: none); returns its status.  CANNOT_ENTER: it could not confine itself. */
int child_try_all(const struct sandbox_options *o, const char *hidden, int n,
                  const struct sandbox_act *actions);
/* The same, and checks that all actions fail as expected, or that all succeed. */
void child_check_denied(const struct sandbox_options *o, const char *hidden, int n,
                        const struct sandbox_act *actions);
void child_check_allowed(const struct sandbox_options *o, const char *hidden, int n,
                         const struct sandbox_act *actions);

/* Whether a part of the sandbox is missing here, which it prints. */
bool child_lacks(bool part, const char *name);

#endif
