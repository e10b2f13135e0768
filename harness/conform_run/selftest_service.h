/* A target that a child process serves at a socket of its own. */
#ifndef HARNESS_SELFTEST_SERVICE_H
#define HARNESS_SELFTEST_SERVICE_H

#include <sys/types.h>

#include "sim/isolation/scratch_folder.h"

struct selftest_service {
    struct scratch_folder folder; /* of the socket */
    pid_t process;                /* 0: none */
    char uri[300];                /* "unix:PATH" */
};

/* Returns when the socket accepts clients; -1: *ret_service may be half made.  Ended by
 * selftest_serve_end() in either case. */
int selftest_serve(const char *target, struct selftest_service *ret_service, struct why *w);
void selftest_serve_end(struct selftest_service *s);

#endif
