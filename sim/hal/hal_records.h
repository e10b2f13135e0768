/* The structures of sim/hal.h as data: one row per member, from which generic functions do what is
 * the same for all members: conversion to messages and back (sim/wire/wire_records.h), and checks
 * and resets of members that a HAL version does not have.
 *
 * A record's rows have the order and the names of the fields of its message in sim/wire/wire.proto,
 * which has the structure's name without "hal_".  Tests check that rows cover every member of the
 * structure and every field of the message. */
#ifndef SIM_HAL_RECORDS_H
#define SIM_HAL_RECORDS_H

#include "sim/hal.h"

enum hal_member_kind {
    MEMBER_BOOL,
    MEMBER_16, /* uint16_t */
    MEMBER_32, /* a number of 4 bytes: integer, enum, float */
    MEMBER_64,
    MEMBER_TEXT,    /* never NULL */
    MEMBER_NUMBERS, /* array of numbers of 4 bytes, with a count */
    MEMBER_BYTES,   /* with a length */
    MEMBER_TOKEN,   /* array of bytes within the structure */
    MEMBER_DIMS,    /* array of numbers of 4 bytes within the structure, with a count */
    MEMBER_FILES,   /* array of descriptors, with a count */
    MEMBER_ONE,     /* structure within the structure; one of zeros is omitted */
    MEMBER_LIST     /* array of structures, with a count */
};

struct hal_record;
struct hal_member {
    const char *name;
    enum hal_member_kind kind;
    uint16_t at, size;           /* in the structure, bytes */
    uint16_t count_at;           /* of NUMBERS, BYTES, DIMS, FILES, LIST: offset of the count ... */
    uint16_t count_size;         /* ... and its size, 4 or 8 bytes */
    const struct hal_record *of; /* of ONE and LIST */
    /* The member is 0 unless the member before it at when_at, of when_size bytes, has this value;
     * when_size 0: always. */
    uint16_t when_at, when_size;
    uint32_t when;
    /* The first version with the member (0: all have it), if a later one for executions in bursts,
     * and the neutral value that it has before: of an array, its count; of ONE, every byte is 0. */
    enum hal_version since, since_in_bursts;
    uint64_t neutral;
};

struct hal_record {
    size_t size; /* of the structure */
    uint32_t n;
    const struct hal_member *member; /* NULL: hal_memory, which sim/wire/wire_convert.c converts */
};

extern const struct hal_record hal_memory_record, hal_location_record;
extern const struct hal_record hal_model_record, hal_request_record, hal_request_pool_record;
extern const struct hal_record hal_prepare_config_record, hal_execution_config_record;
extern const struct hal_record hal_buffer_role_record, hal_buffer_desc_record;
extern const struct hal_record hal_driver_info_record, hal_capabilities_record;
extern const struct hal_record hal_output_shape_record, hal_timing_record;

/* What a driver is, constant for its life: the constants of hal_driver, and the results of its
 * methods without arguments, each with its status. */
struct hal_driver_info {
    uint32_t protocol; /* WIRE_PROTOCOL of sim/wire/wire.h */
    uint32_t abi_version;
    enum hal_version hal_version, lowest_version;
    const char *name;
    enum hal_status type_status, version_status, extensions_status, cache_status;
    enum hal_device_type type;
    const char *version; /* text */
    uint32_t n_extensions;
    const struct hal_extension *extensions;
    uint32_t n_model_cache, n_data_cache;
};

/* A number of 1, 4 or 8 bytes at an offset. */
uint64_t hal_number_at(const void *structure, uint16_t at, uint16_t size);
void hal_set_number(void *structure, uint16_t at, uint16_t size, uint64_t value);

#endif
