/* A debugger on the user's terminal, attached to the process of a driver: gdb, or the program that
 * HALCYON_GDB names, called with gdb's arguments. */
#ifndef HARNESS_DEBUGGER_H
#define HARNESS_DEBUGGER_H

#include <limits.h>
#include <signal.h>
#include <sys/types.h>

#include "golden/base/why.h"

struct debugger {
    pid_t pid;                  /* 0: none */
    struct sigaction interrupt; /* of SIGINT before; ^C is the debugger's meanwhile */
};

/* WHY_INVALID: there is none. */
int debugger_find(char ret_path[PATH_MAX], struct why *w);
/* Starts it and waits until it traces the process, or the process has ended. */
int debugger_attach(struct debugger *d, pid_t process, struct why *w);
/* Notices its end. */
void debugger_look(struct debugger *d);
/* Waits for its end.  Does nothing without one. */
void debugger_wait(struct debugger *d);

#endif
