/* What a process that serves clients runs on, and every client's share of it: descriptors,
 * mappings, threads, memory for messages.  No client gets more than it leaves
 * (sim/base/client_quota.h), so that one that asks for too much is refused, and the others are not.
 *
 * Whoever makes a descriptor or a thread on a client's behalf takes it first, and gives it back
 * when it has been closed or has ended.  Client 0, this process itself, takes what it wants. */
#ifndef SIM_SHARE_H
#define SIM_SHARE_H

#include <stdbool.h>
#include <stdint.h>

#include "sim/base/client_quota.h"

/* From now on there are limits, those of the process; of descriptors it allows itself as many as it
 * may.  Until then what is taken is only counted.  most_message_bytes: of one client's messages. */
void shares_begin(uint64_t most_message_bytes);
/* What there is of one kind for all clients, where that is less than the process has; before. */
void share_limit(enum account_kind kind, uint64_t total);

/* false: it is more than the client's share. */
bool share_take(enum account_kind kind, uint32_t client, uint64_t n);
void share_give(enum account_kind kind, uint32_t client, uint64_t n);

#endif
