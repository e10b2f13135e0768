/* Reports why the process that hosts a driver died: signal, address, and the functions that were
 * being called.  The report is in memory shared with the parent, which reads it after the death.
 *
 *     host                                   parent
 *                                            maps and zeroes a struct crash_report, starts the host
 *     crash_report_install(shared)
 *     the driver crashes: the handler
 *       stores signal, address, frames
 *       stores their names
 *       dies of the same signal              waitpid(): died of SIGSEGV
 *                                            crash_report_read(shared, &facts)
 *
 * The first thread that crashes is reported; others that crash meanwhile wait for the end.  There
 * is no report if the driver has installed handlers of its own, or blocks the signal, or if the
 * crashing thread has no stack left and no alternate stack (only the thread that installed has
 * ours), or if a fork of the host crashes.  A handler that is already installed stays: that of
 * AddressSanitizer, whose report on stderr says more. */
#ifndef SIM_CRASH_REPORT_H
#define SIM_CRASH_REPORT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "golden/base/why.h"

enum { CRASH_FRAMES = 48, CRASH_TEXT = 4096 };
enum crash_access { CRASH_ACCESS_UNKNOWN, CRASH_READ, CRASH_WRITE, CRASH_EXECUTE };

/* The memory shared with the parent, all zero at first.  Either side may only use the functions. */
struct crash_report {
    atomic_uint state; /* 0: no crash; 1: everything but the text is valid; 2: the text, too */
    int32_t signal, code;
    int32_t thread;
    uint32_t access, n_frames;
    uint64_t address;
    uint64_t frames[CRASH_FRAMES];
    char text[CRASH_TEXT];
};

/* What the parent learns.  A driver may have written anything into shared memory: compare `signal`
 * with the process's status, and clean the text before it is printed. */
struct crash_facts {
    int signal; /* 1 to 64 */
    int code;   /* si_code */
    int thread; /* its id in the host's PID namespace */
    bool has_address;
    uint64_t address;         /* of the access, or of the instruction (SIGILL, SIGFPE, SIGTRAP) */
    enum crash_access access; /* with has_address */
    bool has_names;           /* the process could still name the functions */
    char text[CRASH_TEXT];    /* a line for each frame: "#0 frobnicate+0x12 (driver.so)" */
};

/* Installs handlers for SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP and SIGSYS, and an
 * alternate stack for the calling thread.  Once a process. */
int crash_report_install(struct crash_report *shared, struct why *w);

/* Copies the report; false: there is none.  Every field has a legal value, every string an end. */
bool crash_report_read(const struct crash_report *shared, struct crash_facts *ret_facts);

/* Writes "SIGSEGV: write to 0x10 in thread 1234"; returns text. */
char *crash_facts_describe(const struct crash_facts *f, char *text, size_t size);

#endif
