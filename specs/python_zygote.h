/* The process that runs Python: it starts the interpreter once and forks a child for each file.
 * This is the protocol between it and python_child.c; python_child.h has an overview. */
#ifndef SPECS_PYTHON_ZYGOTE_H
#define SPECS_PYTHON_ZYGOTE_H

#include <limits.h>
#include <stdint.h>

#include "golden/base/why.h"

/* One message per file.  It carries file descriptors, in the order of enum python_zygote_fd. */
struct python_zygote_request {
    char kind[8];          /* "modpy", "tflite" or "toml" */
    char path[PATH_MAX];   /* absolute; the file itself is a descriptor */
    char folder[PATH_MAX]; /* that the file may read; "": none */
    double timeout;        /* seconds */
    uint64_t memory_limit; /* bytes, beyond what the interpreter uses */
};

enum python_zygote_fd {
    ZYGOTE_LINES, /* for the lines of JSON */
    ZYGOTE_TRACE, /* for stack traces; of a fixed size */
    ZYGOTE_FILE,  /* the file to load, for reading */
    ZYGOTE_FDS
};

enum python_zygote_end { ENDED_EXIT, ENDED_SIGNAL, ENDED_OVERTIME, ENDED_UNSTARTED };

/* Exit status of a child that has loaded the file or has written an error record.  The file cannot
 * end the child with another one where the kernel has seccomp. */
enum { CHILD_DONE = 77 };

/* How the child ended (an enum python_zygote_end); value: exit status, signal or errno. */
struct python_zygote_reply {
    int32_t end, value;
    char prefix[2 * NAME_MAX + 4]; /* that the name of each example must have; "": none has one */
};

/* The first message, sent unasked: whether the interpreter has started, else why not. */
struct python_zygote_greeting {
    int32_t ready;
    struct why why;
};

/* A line at the start of the trace: the system call that ended the child. */
#define DENIED_CALL "denied system call "

/* Called in a fork, of a process that may have had threads: becomes a new process that serves
 * requests which arrive on a SOCK_SEQPACKET socket until its other end is closed.  It is the same
 * program, executed anew, so that it shares no memory with the caller, and has no environment.
 * Returns the errno of what failed, 0: in the parent of the new process. */
int python_zygote_start(int socket);

#endif
