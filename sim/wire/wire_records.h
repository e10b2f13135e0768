/* The structures of sim/hal.h as records: one row per member, from which two generic functions
 * convert a structure to a message of wire.proto and back.
 *
 * A record's rows are in the order of the message's field numbers, one row per field; tests check
 * that they cover every member of the structure and every field of the message. */
#ifndef SIM_WIRE_RECORDS_H
#define SIM_WIRE_RECORDS_H

#include "sim/wire/wire.h"

enum wire_kind {
    WIRE_BOOL,
    WIRE_16, /* uint16_t */
    WIRE_32, /* a number of 4 bytes: integer, enum, float */
    WIRE_64,
    WIRE_TEXT,    /* never NULL */
    WIRE_NUMBERS, /* array of numbers of 4 bytes, with a count */
    WIRE_BYTES,   /* with a length */
    WIRE_TOKEN,   /* array of HAL_TOKEN_BYTES bytes within the structure */
    WIRE_FILES,   /* array of descriptors, with a count */
    WIRE_ONE,     /* structure within the structure; one of zeros is omitted */
    WIRE_LIST     /* array of structures, with a count */
};

struct wire_record;
struct wire_member {
    const char *name; /* of the field */
    enum wire_kind kind;
    uint16_t at;                  /* offset in the structure */
    uint16_t count_at;            /* of NUMBERS, BYTES, FILES, LIST: offset of the count ... */
    uint16_t count_size;          /* ... and its size, 4 or 8 bytes */
    const struct wire_record *of; /* of ONE and LIST */
    /* The member is 0 unless the member before it at when_at, of when_size bytes, has this value;
     * when_size 0: always. */
    uint16_t when_at, when_size;
    uint32_t when;
};

/* What a conversion needs besides the structure or message. */
struct wire_passing {
    struct arena *arena;
    struct wire_fds *fds;               /* to be sent with the message */
    const struct wire_fds *received;    /* with it */
    const uint64_t *staged;             /* as wire_encode_request() */
    const struct wire_staging *staging; /* as wire_decode_request() */
    uint32_t index;                     /* internal: of the current element of a list */
};

struct wire_record {
    const char *name; /* of the structure */
    size_t size;
    const ProtobufCMessageDescriptor *message;
    uint32_t n;
    const struct wire_member *member; /* NULL: the next two convert it */
    int (*put)(const void *from, struct wire_passing *p, ProtobufCMessage *to, struct why *w);
    int (*take)(const ProtobufCMessage *from, struct wire_passing *p, void *to, struct why *w);
};

extern const struct wire_record wire_memory_record, wire_model_record, wire_request_record;
extern const struct wire_record wire_prepare_config_record, wire_execution_config_record;
extern const struct wire_record wire_role_record;
/* All of them, also those within others; NULL at the end. */
extern const struct wire_record *const wire_records[];

/* Structure to message.  *ret_message (a pointer to a Wire__... *) points into the arena and the
 * structure.  WHY_INVALID: an array is NULL though its count is not 0; WHY_UNSUPPORTED: too many
 * descriptors; WHY_MEMORY. */
int wire_put(const struct wire_record *r, const void *from, struct wire_passing *p,
             void *ret_message, struct why *w);
/* n structures; *ret_list is an array of n pointers to messages. */
int wire_put_list(const struct wire_record *r, const void *from, uint32_t n, struct wire_passing *p,
                  void *ret_list, struct why *w);
/* Message to structure, of r->size bytes, which points into message and arena.  Counts and lengths
 * of arrays are correct; all other values are untrusted.  WHY_INVALID or WHY_MEMORY. */
int wire_take(const struct wire_record *r, const void *message, struct wire_passing *p,
              void *ret_structure, struct why *w);
/* n messages; *ret_array is an array of n structures in the arena. */
int wire_take_list(const struct wire_record *r, size_t n, const void *list, struct wire_passing *p,
                   void *ret_array, struct why *w);

/* Checks that no list of the structure itself is NULL though its count is not 0, before it is used
 * otherwise.  WHY_INVALID. */
int wire_check_lists(const struct wire_record *r, const void *from, struct why *w);

#endif
