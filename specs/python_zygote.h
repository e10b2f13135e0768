/* The process that runs Python: it starts the interpreter once and forks a child for each file.
 * This is the protocol between it and python_child.c; python_child.h has an overview. */
#ifndef SPECS_PYTHON_ZYGOTE_H
#define SPECS_PYTHON_ZYGOTE_H

#include <limits.h>
#include <stdint.h>

#include "golden/base/why.h"

/* One message per file.  It carries two file descriptors: for the lines of JSON, for stack traces.
 */
struct python_zygote_request {
    char kind[8];          /* "modpy", "tflite" or "toml" */
    char path[PATH_MAX];   /* absolute */
    double timeout;        /* seconds */
    uint64_t memory_limit; /* bytes, beyond what the interpreter uses */
};

enum python_zygote_end { ENDED_EXIT, ENDED_SIGNAL, ENDED_OVERTIME, ENDED_UNSTARTED };

/* How the child ended (an enum python_zygote_end); value: exit status, signal or errno. */
struct python_zygote_reply {
    int32_t end, value;
};

/* The first message, sent unasked: whether the interpreter has started, else why not. */
struct python_zygote_greeting {
    int32_t ready;
    struct why why;
};

/* Serves requests that arrive on a SOCK_SEQPACKET socket until its other end is closed. */
_Noreturn void python_zygote_serve(int socket);

#endif
