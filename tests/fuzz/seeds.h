/* Seeds of the fuzz targets, written by the product's own encoders. */
#ifndef TESTS_SEEDS_H
#define TESTS_SEEDS_H

#include <protobuf-c/protobuf-c.h>
#include <stddef.h>
#include <stdint.h>

struct seed {
    uint8_t bytes[1 << 16];
    size_t n;
};

void seed_begin(struct seed *s);
/* Fails the test that writes seeds when there is no room. */
void seed_put(struct seed *s, const void *bytes, size_t n);
/* A number of two bytes, the lower one first. */
void seed_length(struct seed *s, size_t n);
/* Length, flags, message (see fuzz_packets.h). */
void seed_packet(struct seed *s, unsigned flags, const ProtobufCMessage *m);
/* Writes it as a file of that target. */
void seed_write(const struct seed *s, const char *target, const char *name);

/* Each writes all seeds of some targets. */
void seeds_of_bytes(void);
void seeds_of_caches(void);
void seeds_of_clients(void);
void seeds_of_packets(void);
void seeds_of_services(void);

#endif
