/* Queries a target's name, version and capabilities in a child process, so that a driver that
 * crashes or hangs while it is opened is an error of the input and does not end the harness. */
#ifndef HARNESS_DEVICES_H
#define HARNESS_DEVICES_H

#include "harness/check/verdict.h"
#include "sim/sim.h"

enum { MAX_PERFORMANCE = 32, MAX_EXTENSIONS = 8, MAX_EXTENSION_TYPES = 16 };

/* An extension as the driver describes it; n_types may exceed MAX_EXTENSION_TYPES, the rest of the
 * types is not kept. */
struct extension_facts {
    char name[96];
    uint32_t n_types;
    struct hal_extension_type type[MAX_EXTENSION_TYPES];
};

/* What a driver reports of itself.  Sent through a pipe byte for byte: no pointers. */
struct device_facts {
    char name[64], version[128];
    char type[16];  /* "CPU" */
    char hal[8];    /* "1.3", "fl5" */
    char lowest[8]; /* the lowest version that it answers; "1.0" for most */
    struct hal_performance relaxed_scalar, relaxed_tensor, if_performance, while_performance;
    uint32_t n_operands;
    struct hal_operand_performance operand[MAX_PERFORMANCE];
    uint32_t n_extensions, n_model_cache, n_data_cache;
    struct extension_facts extension[MAX_EXTENSIONS]; /* the first ones */
    enum verdict fault; /* of a driver with a process of its own; VERDICT_PASS: none */
    int signal;         /* that it died of; 0: it did not */
    char printed[2048], backtrace[2048]; /* by that driver, if it died */
};

/* So many deaths by SIGKILL in a row, of one case or when a driver is opened, count as the driver's
 * own; fewer may have come from outside. */
enum { KILLS_BELIEVED = 5 };

/* Opens a target in a child process and reads its facts.  seconds: time limit.
 *   0   success
 *  -1   the target cannot be opened, dies, exceeds the limit or violates the contract: WHY_INVALID
 *   1   a driver with a process of its own dies, exceeds the limit or violates the contract: *w has
 *       the reason, facts->fault the verdict, which a campaign gives to a case; the rest is "?"
 * In both last cases the versions are set if the driver could be opened at all. */
int device_probe(const char *uri, double seconds, struct device_facts *ret_facts, struct why *w);
/* Probes a target, and opens it.  seconds: for each reply of a driver in another process. */
int device_open(const char *uri, double seconds, struct target **ret_target, struct why *w);

/* The services that target_open() needs from this folder: reading TOML profiles. */
extern struct target_host harness_host;

/* Which drivers get a process of their own from now on, whether they may use device nodes, and how
 * many bytes of anonymous memory each such process may use (0: any number). */
void devices_isolate(enum isolation isolation, bool may_use_devices, uint64_t memory_limit);

/* Targets opened from now on run models through the entry points of that version; 0: of their own
 * versions. */
void devices_enter(enum hal_version version);

/* Makes this process and the ones that it forks undumpable if that driver is isolated: no other
 * process of the user can trace them or read their memory, whatever confines the driver. */
void devices_protect_from(const char *uri);

/* Hides vendor extensions from all targets opened from now on, unless the allowlist in `file`
 * (sim/client/allowlist.h) contains `who`: a package name or a binary's path; NULL: the path of the
 * running program. */
int devices_limit_extensions(const char *file, const char *who, struct why *w);

#endif
