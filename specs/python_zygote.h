/* The nursery's own side, for child.c. */
#ifndef SPECS_NURSERY_H
#define SPECS_NURSERY_H

#include <limits.h>
#include <stdint.h>

#include "golden/base/why.h"

/* One message asks for one file; with it travel two descriptors: for lines, for stack traces. */
struct nursery_request {
    char kind[8];
    char path[PATH_MAX];
    double timeout;
    uint64_t memory_limit;
};

enum nursery_end { ENDED_EXIT, ENDED_SIGNAL, ENDED_OVERTIME, ENDED_UNSTARTED };

/* How the child ended; value: exit status, signal or errno. */
struct nursery_reply {
    int32_t end, value;
};

/* The nursery's first message: whether the interpreter runs. */
struct nursery_greeting {
    int32_t ready;
    struct why why;
};

/* Serves requests that arrive on a SOCK_SEQPACKET socket until its other end is closed. */
_Noreturn void nursery_serve(int socket);

#endif
