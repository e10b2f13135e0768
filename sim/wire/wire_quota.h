/* Messages whose descriptors count against the sending client's quota (sim/base/process_quota.h).
 */
#ifndef SIM_WIRE_QUOTA_H
#define SIM_WIRE_QUOTA_H

#include "sim/wire/wire.h"

/* A client's messages: memory for the longest one, unpacked. */
#define WIRE_MESSAGES_MAX ((uint64_t) WIRE_MAX / 2 * 3)

/* Descriptors received with a message, charged to a client. */
struct counted_fds {
    struct wire_fds fds;
    uint32_t client, taken;
};
/* As wire_receive(), and charges the descriptors to the client.  If they exceed its quota, they are
 * closed and the message is discarded: -1 with WHY_MEMORY. */
int wire_receive_counted(uint32_t client, int socket, const ProtobufCMessageDescriptor *type,
                         struct arena *a, ProtobufCMessage **ret_message,
                         struct counted_fds *ret_fds, struct why *w);
/* Closes the descriptors and releases their charge. */
void wire_close_counted_fds(struct counted_fds *fds);

#endif
