/* Messages between a driver's process and its clients: packets of a local socket, with descriptors.
 * A packet is a small header and a message; one that is too long for a packet travels in a sealed
 * memory file.  Everything received is checked: what does not hold is an error, after which the
 * connection is closed. */
#ifndef SIM_WIRE_H
#define SIM_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "golden/base/arena.h"
#include "golden/base/trace.h"
#include "golden/base/why.h"
#include "sim/base/spin.h"
#include "sim/hal.h"
#include "wire.pb-c.h"

enum {
    WIRE_PROTOCOL = 3,  /* of what wire.proto says */
    WIRE_MAX_FDS = 252, /* and that of a long message: as many as the system passes on at once */
    WIRE_NO_FD = WIRE_MAX_FDS + 2,   /* names none: what should be a descriptor is no such thing */
    WIRE_INLINE = 1 << 15,           /* longest message within a packet */
    WIRE_MAX = (1 << 30) + (1 << 26) /* longest message: a model with 1 GiB of constants */
};

/* How logs and traces call a method, and the phase that its time belongs to. */
const char *wire_method_name(Wire__Method method);
enum trace_phase wire_method_phase(Wire__Method method);

/* Descriptors that go with a message.  Sending lends them; received ones are the receiver's. */
struct wire_fds {
    uint32_t n;
    int fd[WIRE_MAX_FDS + 1]; /* one more than the sender's: that of a long message */
};

/* 1 + index of a descriptor put into the list, 0 when there is no room or it is none. */
uint32_t wire_put_fd(struct wire_fds *fds, int fd);
/* The same for lists of any length: one that is there already keeps its name.  *ret_name: 0 where
 * it is none.  -1 with WHY_UNSUPPORTED: there is no room for so many. */
int wire_name_fd(struct wire_fds *fds, int fd, uint32_t *ret_name, struct why *w);
/* The descriptor that a message names, -1 where it names none or a wrong one. */
int wire_fd(const struct wire_fds *fds, uint32_t name);
/* The same, for good: it is the caller's from now on. */
int wire_take_fd(struct wire_fds *fds, uint32_t name);
void wire_close_fds(struct wire_fds *fds);

/* How long sending and receiving may take; 0: any time. */
void wire_set_patience(int socket, double seconds);

/* Sends a message; -1 with WHY_SYSTEM when the other side is gone, WHY_TIMEOUT when
 * the socket's time-out has passed, WHY_MEMORY when nothing was sent
 * and the connection is as good as before. */
int wire_send(int socket, const ProtobufCMessage *m, const struct wire_fds *fds, struct why *w);
/* The same, but never waits for the other side to make room: then it fails. */
int wire_send_at_once(int socket, const ProtobufCMessage *m, struct why *w);
/* Waits without sleeping, for a short while at most, for something to be received. */
void wire_spin(int socket, struct spin *s);
/* Waits for one; it lives in the arena.  1; 0 at the end of the connection; -1 with WHY_INVALID
 * for what is no message, WHY_TIMEOUT, WHY_MEMORY where there is none to read it: then it has been
 * taken off, and the connection is as good as before. */
int wire_receive(int socket, const ProtobufCMessageDescriptor *type, struct arena *a,
                 ProtobufCMessage **ret_message, struct wire_fds *ret_fds, struct why *w);

/* What the next packet says that comes with it, to be known before it does. */
struct wire_next {
    uint32_t n_fds;
    bool is_long;     /* the message has a descriptor of its own */
    bool without_fds; /* the receiver's: all but that one are dropped, and ret_fds is empty */
};
/* Waits for it; as wire_receive().  What a packet has more than it says makes it a bad one. */
int wire_await(int socket, struct wire_next *ret_next, struct why *w);
int wire_receive_next(int socket, const struct wire_next *next,
                      const ProtobufCMessageDescriptor *type, struct arena *a,
                      ProtobufCMessage **ret_message, struct wire_fds *ret_fds, struct why *w);

/* A memory file of `size` bytes that cannot be resized; ret_address: mapped, to be unmapped. */
int wire_memory(size_t size, int *ret_fd, void **ret_address, struct why *w);
/* Whether a memory file has these seals; other files have none. */
bool wire_is_sealed(int fd, int seals);

/* ---- structures of the contract, as messages in an arena */

/* Whether the lists of a model or a request are there, which the other side could not tell: before
 * anything else is done with them. */
int wire_check_model(const struct hal_model *hal, struct why *w);
int wire_check_request(const struct hal_request *hal, struct why *w);

/* The client's way.  Memories of kind ADDRESS do not cross: staged[i] is where pool i lies in the
 * channel's staging memory (NULL where there are none).  A model has none left. */
int wire_put_model(const struct hal_model *hal, struct arena *a, struct wire_fds *fds,
                   Wire__Model **ret_model, struct why *w);
int wire_put_request(const struct hal_request *hal, const uint64_t *staged, struct arena *a,
                     struct wire_fds *fds, Wire__Request **ret_request, struct why *w);
int wire_put_memory(const struct hal_memory *hal, uint64_t staged, struct arena *a,
                    struct wire_fds *fds, Wire__Memory **ret_memory, struct why *w);

/* Memory that both sides of a channel see. */
struct wire_staging {
    uint8_t *address;
    uint64_t size;
};

/* The driver's way: counts and lengths are the message's own, everything else is for the driver to
 * check.  What they return points into message, arena and staging memory. */
int wire_take_model(const Wire__Model *m, const struct wire_fds *fds, struct arena *a,
                    struct hal_model *ret_hal, struct why *w);
int wire_take_request(const Wire__Request *m, const struct wire_fds *fds,
                      const struct wire_staging *s, struct arena *a, struct hal_request *ret_hal,
                      struct why *w);
int wire_take_memory(const Wire__Memory *m, const struct wire_fds *fds,
                     const struct wire_staging *s, struct hal_memory *ret_hal, struct why *w);

#endif
