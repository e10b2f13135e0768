/* Seeds of the fuzz targets: valid inputs, written with the product's own encoders, and damaged
 * ones.  The functions fail the current Check test on errors. */
#ifndef TESTS_SEEDS_H
#define TESTS_SEEDS_H

#include <protobuf-c/protobuf-c.h>
#include <stddef.h>
#include <stdint.h>

struct seed {
    uint8_t bytes[1 << 16];
    size_t n;
};

void seed_begin(struct seed *s); /* empties it */
/* Appends bytes. */
void seed_put(struct seed *s, const void *bytes, size_t n);
/* Appends a number of two bytes, the lower one first. */
void seed_length(struct seed *s, size_t n);
/* Appends length, flags and message (fuzz_packets.h). */
void seed_packet(struct seed *s, unsigned flags, const ProtobufCMessage *m);
/* Writes the seed as file `name` of that target. */
void seed_write(const struct seed *s, const char *target, const char *name);

/* Each writes all seeds of one or more targets. */
void seeds_of_bytes(void);
void seeds_of_caches(void);
void seeds_of_cases(void); /* as target "fuzz_case" */
void seeds_of_children(void);
void seeds_of_clients(void);
void seeds_of_files(void);
void seeds_of_hosts(void);
void seeds_of_packets(void);
void seeds_of_services(void);
void seeds_of_workers(void);

#endif
