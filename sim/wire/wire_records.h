/* Structures of sim/hal.h to messages of wire.proto and back, by the rows of sim/hal/hal_records.h.
 */
#ifndef SIM_WIRE_RECORDS_H
#define SIM_WIRE_RECORDS_H

#include "sim/hal/hal_records.h"
#include "sim/wire/wire.h"

/* What a conversion needs besides the structure or message. */
struct wire_passing {
    struct arena *arena;
    struct wire_fds *fds;               /* to be sent with the message */
    const struct wire_fds *received;    /* with it */
    const uint64_t *staged;             /* as wire_encode_request() */
    const struct wire_staging *staging; /* as wire_decode_request() */
    uint32_t index;                     /* internal: of the current element of a list */
};

/* Structure to message of that type.  *ret_message (a pointer to a Wire__... *) points into the
 * arena and the structure.  WHY_INVALID: an array or text is NULL; WHY_UNSUPPORTED: too many
 * descriptors; WHY_MEMORY. */
int wire_put(const struct hal_record *r, const ProtobufCMessageDescriptor *type, const void *from,
             struct wire_passing *p, void *ret_message, struct why *w);
/* n structures; *ret_list is an array of n pointers to messages. */
int wire_put_list(const struct hal_record *r, const ProtobufCMessageDescriptor *type,
                  const void *from, uint32_t n, struct wire_passing *p, void *ret_list,
                  struct why *w);
/* Message to structure, of r->size bytes, which points into message and arena.  Counts and lengths
 * of arrays are correct; all other values are untrusted.  WHY_INVALID or WHY_MEMORY. */
int wire_take(const struct hal_record *r, const void *message, struct wire_passing *p,
              void *ret_structure, struct why *w);
/* n messages; *ret_array is an array of n structures in the arena. */
int wire_take_list(const struct hal_record *r, size_t n, const void *list, struct wire_passing *p,
                   void *ret_array, struct why *w);

/* n file descriptors (int) to their names in a message (uint32_t), adding them to p->fds; or, if
 * p->received is not NULL, names to descriptors.  *ret_array is in the arena.  WHY_UNSUPPORTED: too
 * many descriptors; WHY_MEMORY. */
int wire_pass_files(const void *from, size_t n, struct wire_passing *p, void *ret_array,
                    struct why *w);

/* Checks that no list of the structure itself is NULL though its count is not 0, before it is used
 * otherwise.  WHY_INVALID. */
int wire_check_lists(const struct hal_record *r, const void *from, struct why *w);

/* Of memories, whose addresses mean nothing to another process; *ret_message is initialised. */
int wire_put_memory(const struct hal_memory *hal, struct wire_passing *p, Wire__Memory *ret_message,
                    struct why *w);
int wire_take_memory(const Wire__Memory *m, struct wire_passing *p, struct hal_memory *ret_hal,
                     struct why *w);

#endif
