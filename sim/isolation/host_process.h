/* The process that hosts a driver under test: started by exec of a small program that inherits
 * nothing but the shared memory, one socket and a file for what it prints. */
#ifndef SIM_HOST_PROCESS_H
#define SIM_HOST_PROCESS_H

#include <sys/types.h>

#include "golden/base/sandbox.h"
#include "sim/base/spin.h"
#include "sim/isolation/host_layout.h"
#include "sim/isolation/lent_memory.h"
#include "sim/isolation/scratch_folder.h"

struct host_options {
    const char *uri, *profile; /* as in struct host_calls */
    bool may_use_devices, may_be_traced;
    bool may_spin;         /* a processor is free for each side while it waits */
    double timeout;        /* seconds for a command, and for opening the driver; 0: none */
    uint64_t memory_limit; /* bytes of anonymous memory that the process may use; 0: any */
    size_t arena;          /* bytes for a case's structures, constants and inputs */
    size_t largest;        /* bytes of the largest region lent for writing */
    uint32_t regions;      /* number of regions of that size */
    /* Called now and then during waits; may be NULL. */
    void (*waiting)(void *user);
    void *user;
};

/* How a driver's process ended. */
struct host_death {
    bool hung;       /* ended here, after the time-out */
    uint64_t memory; /* not 0: ended here, for it used so many bytes */
    int signal;      /* that ended it, or 0 */
    int exit_status; /* else */
    uint32_t step;   /* enum target_step */
    struct crash_facts crash;
};

struct host_process {
    pid_t pid; /* 0: none */
    struct lent_memory memory;
    struct host_calls *calls;
    struct host_answers *answers;
    int socket; /* for HOST_SERVE; -1: none any more */
    int status; /* pipe that the end of the driver's process is reported through */
    int prints; /* memory file of its stdout and stderr */
    struct scratch_folder scratch; /* that the driver may write to */
    uint32_t submitted;            /* commands so far */
    struct spin spin;
};

/* No process; host_done() may follow. */
void host_init(struct host_process *h);
/* Starts the process and opens the driver.  0: open.  1: it died or hung meanwhile, *ret_death says
 * how.  -1: the driver does not open (WHY_INVALID), or the process cannot be started. */
int host_start(struct host_process *h, const struct host_options *o, struct host_death *ret_death,
               struct why *w);
/* Submits a command and waits for the answer.  0: answered; 1: the process has ended.  more: added
 * to the time-out, in ns. */
int host_call(struct host_process *h, const struct host_options *o, enum host_command command,
              uint64_t more, struct host_death *ret_death);
/* Closes the driver and ends the process with everything that it started.  0: in order; 1: it died
 * or hung. */
int host_close(struct host_process *h, const struct host_options *o, struct host_death *ret_death);
/* Kills the process, if there is one, with everything that it started, and frees. */
void host_done(struct host_process *h);

/* Namespaces that the process gets where the kernel allows it. */
enum { HOST_NAMESPACES = SANDBOX_PROCESSES };

/* The driver's process, as seen from here; 0: there is none, or it is not known. */
pid_t host_driver_process(const struct host_process *h);

/* What the process has printed since the last call of this: at most the last size - 1 bytes,
 * without control characters.  False: nothing. */
bool host_take_prints(struct host_process *h, char *ret_text, size_t size);

/* Bytes of anonymous memory that a process uses, swapped out or not; 0 where it cannot be read. */
uint64_t host_memory_of(pid_t pid);

#endif
