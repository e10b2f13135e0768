/* Structure-aware mutation: an input is decoded, changed in its structure, and encoded again, so
 * that what a fuzzer tries gets past the decoder.  Choices are drawn from the seed that libFuzzer
 * passes and from LLVMFuzzerMutate(): the same seed gives the same campaign.
 *
 * Each function writes a mutant of at most `max` bytes over the input and returns its length.  An
 * input that cannot be decoded, and now and then any other, is mutated as bytes. */
#ifndef TESTS_MUTATE_H
#define TESTS_MUTATE_H

#include <protobuf-c/protobuf-c.h>
#include <stddef.h>
#include <stdint.h>

#include "randgraph/randgraph.h"

/* Values that are likely to be valid for an integer field, a table of the codes that exist. */
struct mutate_values {
    const ProtobufCFieldDescriptor *field;
    uint32_t n;
    const int32_t *value;
};

/* A message type, and what is known about its fields; `values` ends with a field that is NULL. */
struct mutate_type {
    const ProtobufCMessageDescriptor *message;
    const struct mutate_values *values; /* NULL: nothing */
};

/* A packed message. */
size_t mutate_message(const struct mutate_type *t, uint8_t *bytes, size_t length, size_t max,
                      unsigned seed);
/* Replaces parts of the first message by parts of the same type of the other; *to has `max` bytes.
 */
size_t cross_messages(const struct mutate_type *t, const uint8_t *a, size_t n_a, const uint8_t *b,
                      size_t n_b, uint8_t *to, size_t max, unsigned seed);

/* A list of packets in the format of fuzz_packets.h after `head` bytes.  type_of: the type of the
 * message in a packet with these flags. */
struct mutate_packets {
    size_t head;
    const struct mutate_type *(*type_of)(uint8_t flags);
};
size_t mutate_packets(const struct mutate_packets *p, uint8_t *bytes, size_t length, size_t max,
                      unsigned seed);
size_t cross_packets(const struct mutate_packets *p, const uint8_t *a, size_t n_a, const uint8_t *b,
                     size_t n_b, uint8_t *to, size_t max, unsigned seed);

/* Lines of JSON, one value each; or one value, if the whole text is one. */
size_t mutate_json(uint8_t *bytes, size_t length, size_t max, unsigned seed);

/* A FlatBuffer: fields of its tables are changed, removed, exchanged, or refer to other objects. */
size_t mutate_flatbuffer(uint8_t *bytes, size_t length, size_t max, unsigned seed);

/* A boundary value (0, powers of two and their neighbours), a small one, or any. */
uint64_t mutate_number(struct rng *r);

/* libFuzzer's mutation of bytes; returns the new length, at most `max`. */
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t length, size_t max);

#endif
