/* Clients of a driver's service in processes of their own: they end by themselves, are killed,
 * crash or hang, and the rule's process sees which.
 *
 *     struct conform_clients all = { .n = 4 };
 *     all.client[2].dies = now + 1e9;
 *     conform_clients_start(c, &all, work, user);
 *     while (conform_clients_run(&all))
 *         check that the driver is alive;
 *     conform_clients_expect(c, &all, "what they do");  */
#ifndef HARNESS_CONFORM_CLIENTS_H
#define HARNESS_CONFORM_CLIENTS_H

#include <sys/types.h>

#include "harness/conform/conform.h"

enum { CONFORM_MAX_CLIENTS = 64 };

enum conform_client_end {
    CLIENT_RUNS,
    CLIENT_SUCCESS, /* the work has returned, and its checks hold */
    CLIENT_FAILURE, /* one of them does not */
    CLIENT_CRASH,   /* a signal that is not ours, or exit() */
    CLIENT_HANG,    /* it did not end, and was killed */
    CLIENT_KILLED   /* at its time */
};

struct conform_client {
    uint64_t dies; /* clock_steady_ns() of its kill; 0: it is not killed */
    pid_t process;
    enum conform_client_end end;
    int status; /* of waitpid() */
};

struct conform_clients {
    struct conform_client client[CONFORM_MAX_CLIENTS];
    unsigned n;
    uint64_t until; /* clock_steady_ns() at which the work ends; set by the caller */
    struct conform_client_reason *reasons; /* in memory shared with the clients */
};

/* Runs work(c, index, user) in n new processes, each of which ends with its parent.  The work opens
 * its own connection (conform_open()). */
typedef void conform_client_work(struct conform *c, unsigned index, void *user);
void conform_clients_start(struct conform *c, struct conform_clients *all,
                           conform_client_work *work, void *user);
/* Kills the clients whose time has come, and those that still run long after `until`: they hang.
 * False: all have ended. */
bool conform_clients_run(struct conform_clients *all);
/* Checks how they have ended: killed, where that was due, else by themselves, successfully. */
void conform_clients_expect(struct conform *c, struct conform_clients *all, const char *what);

#endif
