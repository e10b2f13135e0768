/* Per-client quotas on the resources of a process that serves clients: descriptors, mappings,
 * threads, objects, memory for messages.  With n clients, each may use at most 1/(n+1) of each
 * resource (sim/base/client_quota.h), so that a client that requests too much does not affect the
 * others.
 *
 * Code that opens a descriptor or starts a thread on behalf of a client charges it first, and
 * releases it after the descriptor is closed or the thread has ended.  Client 0, this process
 * itself, is neither counted nor limited. */
#ifndef SIM_PROCESS_QUOTA_H
#define SIM_PROCESS_QUOTA_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/client_quota.h"

/* Sets the limits from those of the process, after raising its limit of descriptors to the hard
 * limit; most_message_bytes: limit of one client's messages.  Until then usage is only counted. */
void process_quotas_enable(uint64_t most_message_bytes);
/* Lowers the total of one kind for all clients; call it before clients are served. */
void process_quota_limit(enum quota_kind kind, uint64_t total);

/* Charges n units to the client; false: over its quota, nothing is charged. */
bool process_quota_charge(enum quota_kind kind, uint32_t client, uint64_t n);
/* Releases n units. */
void process_quota_release(enum quota_kind kind, uint32_t client, uint64_t n);

#endif
