/* Messages (sim/wire/wire.proto) between a driver's process and its clients, sent over
 * SOCK_SEQPACKET Unix sockets together with file descriptors.
 *
 * A packet is a small header and a message; a message longer than WIRE_INLINE is sent in a sealed
 * memory file.  Everything received is untrusted and checked; an invalid packet is an error, after
 * which the receiver closes the connection.  Functions that fail return -1 with the reason. */
#ifndef SIM_WIRE_H
#define SIM_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "golden/base/arena.h"
#include "golden/base/why.h"
#include "sim/base/spin.h"
#include "sim/hal.h"
#include "wire.pb-c.h"

enum {
    WIRE_PROTOCOL = 6,  /* version of the messages in wire.proto */
    WIRE_MAX_FDS = 252, /* with that of a long message: the kernel's limit SCM_MAX_FD */
    WIRE_INVALID_FD =
        WIRE_MAX_FDS + 2,            /* name of an invalid descriptor, as distinct from 0, none */
    WIRE_INLINE = 1 << 15,           /* bytes of the longest message within a packet */
    WIRE_MAX = (1 << 30) + (1 << 26) /* of the longest message: a model with 1 GiB of constants */
};

/* File descriptors that accompany a message.  The sender keeps its own; the receiver owns those it
 * receives.  Messages name a descriptor by 1 + its index; 0 names none. */
struct wire_fds {
    uint32_t n;
    int fd[WIRE_MAX_FDS + 1]; /* on receipt includes that of a long message */
};

/* Appends a descriptor and returns its name; 0: the list is full, or fd is not open. */
uint32_t wire_put_fd(struct wire_fds *fds, int fd);
/* Finds or appends a descriptor.  *ret_name: its name, 0 if fd is not open.  WHY_UNSUPPORTED: the
 * list is full. */
int wire_find_or_put_fd(struct wire_fds *fds, int fd, uint32_t *ret_name, struct why *w);
/* The descriptor with that name; -1: none. */
int wire_fd(const struct wire_fds *fds, uint32_t name);
/* As wire_fd(), and removes it from the list: the caller owns it. */
int wire_take_fd(struct wire_fds *fds, uint32_t name);
void wire_close_fds(struct wire_fds *fds);

/* Sets the timeouts of each receive and send on the socket, in seconds; 0: none. */
void wire_set_timeouts(int socket, double receive, double send);

/* Sends a message; fds may be NULL.  WHY_SYSTEM: the peer has closed the connection.  WHY_TIMEOUT:
 * the socket's timeout has passed.  WHY_MEMORY: out of memory, of descriptors, or of those that may
 * be on their way at one time, also after some attempts; nothing was sent, and the connection is
 * still usable. */
int wire_send(int socket, const ProtobufCMessage *m, const struct wire_fds *fds, struct why *w);
/* As wire_send(), but fails instead of waiting for room in the socket's queue. */
int wire_send_nonblocking(int socket, const ProtobufCMessage *m, struct why *w);
/* Busy-waits until the socket is readable, for as long as sim/base/spin.h allows. */
void wire_spin(int socket, struct spin *s);
/* Waits for a message, which is allocated in the arena.  1: received.  0: end of the connection,
 * with WHY_SYSTEM: whether by an end of file or a reset. -1 with WHY_INVALID: not a valid message;
 * WHY_TIMEOUT; WHY_SYSTEM; WHY_MEMORY: not enough memory or descriptors for it, the message was
 * discarded and the connection is still usable. */
int wire_receive(int socket, const ProtobufCMessageDescriptor *type, struct arena *a,
                 ProtobufCMessage **ret_message, struct wire_fds *ret_fds, struct why *w);

/* The next packet's header, read before the packet so that the receiver can reserve descriptors. */
struct wire_header {
    uint32_t n_fds;   /* descriptors that the packet announces */
    bool is_long;     /* the message is in a memory file, whose descriptor comes in addition */
    bool without_fds; /* set by the receiver: drop the n_fds descriptors; ret_fds is then empty */
};
/* wire_peek() waits for a packet and reads its header; wire_receive_next() then receives it.
 * Results as those of wire_receive().  A packet with more than it announces is invalid. */
int wire_peek(int socket, struct wire_header *ret_next, struct why *w);
int wire_receive_next(int socket, const struct wire_header *next,
                      const ProtobufCMessageDescriptor *type, struct arena *a,
                      ProtobufCMessage **ret_message, struct wire_fds *ret_fds, struct why *w);

/* ---- descriptors that count against the client's quota (sim/base/process_quota.h) */

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

/* ---- memory files */

/* Creates a memory file of `size` bytes, sealed against resizing, and maps it.  The caller closes
 * *ret_fd and unmaps *ret_address.  WHY_MEMORY. */
int wire_memory(size_t size, int *ret_fd, void **ret_address, struct why *w);
/* Whether a file has all of these seals; only memory files can. */
bool wire_is_sealed(int fd, int seals);

/* ---- structures of sim/hal.h as messages in an arena (others: sim/wire/wire_records.h) */

/* Client side: structures to messages, which point into the structures and the arena; descriptors
 * are added to fds.  A memory of kind ADDRESS is represented by an offset into the channel's
 * staging memory: `staged`, or staged[i] for pool i of a request (NULL: no such pools).  A model
 * must have none.  WHY_INVALID, WHY_UNSUPPORTED (too many descriptors), WHY_MEMORY. */
int wire_encode_model(const struct hal_model *hal, struct arena *a, struct wire_fds *fds,
                      Wire__Model **ret_model, struct why *w);
int wire_encode_request(const struct hal_request *hal, const uint64_t *staged, struct arena *a,
                        struct wire_fds *fds, Wire__Request **ret_request, struct why *w);
int wire_encode_memory(const struct hal_memory *hal, uint64_t staged, struct arena *a,
                       struct wire_fds *fds, Wire__Memory **ret_memory, struct why *w);

/* Memory shared by both sides of a channel, for pools of kind ADDRESS. */
struct wire_staging {
    uint8_t *address;
    uint64_t size;
};

/* Driver side: messages to structures, which point into message, arena and staging memory (s NULL:
 * none).  Counts and lengths of arrays are correct; all other values are untrusted, and the driver
 * checks them.  WHY_INVALID or WHY_MEMORY. */
int wire_decode_model(const Wire__Model *m, const struct wire_fds *fds, struct arena *a,
                      struct hal_model *ret_hal, struct why *w);
int wire_decode_request(const Wire__Request *m, const struct wire_fds *fds,
                        const struct wire_staging *s, struct arena *a, struct hal_request *ret_hal,
                        struct why *w);
int wire_decode_memory(const Wire__Memory *m, const struct wire_fds *fds,
                       const struct wire_staging *s, struct hal_memory *ret_hal, struct why *w);

/* Results of an execution: driver side, whose message points into `shapes`, WHY_INVALID (shapes are
 * NULL) or WHY_MEMORY; and client side, WHY_INVALID: more shapes than result->capacity, or too many
 * dimensions.  Timing NULL: unknown. */
int wire_encode_result(uint32_t n, const struct hal_output_shape *shapes,
                       const struct hal_timing *timing, struct arena *a, size_t *ret_n,
                       Wire__OutputShape ***ret_shapes, Wire__Timing **ret_timing, struct why *w);
int wire_decode_result(size_t n, Wire__OutputShape *const *shapes, const Wire__Timing *timing,
                       struct hal_result *result, struct why *w);
struct hal_timing wire_decode_timing(const Wire__Timing *m);

#endif
