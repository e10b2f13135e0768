/* Mutation of sessions: lists of packets, each a message with its length and flags. */
#include <string.h>

#include "tests/fuzz/mutate/mutate.h"

enum { MAX_PACKETS = 64, PACKET_HEADER = 3, MAX_PACKET = UINT16_MAX, BYTES_IN = 16 };

struct packet {
    const uint8_t *bytes;
    size_t n;
    uint8_t flags;
};

/* Splits what follows the head; returns the number of packets. */
static size_t split(const struct mutate_packets *p, const uint8_t *bytes, size_t length,
                    struct packet *ret)
{
    size_t n = 0;

    for (size_t at = p->head; at + PACKET_HEADER <= length && n < MAX_PACKETS; n++) {
        size_t size = bytes[at] | (size_t) bytes[at + 1] << 8;
        uint8_t flags = bytes[at + 2];
        at += PACKET_HEADER;
        size = size < length - at ? size : length - at;
        ret[n] = (struct packet){ bytes + at, size, flags };
        at += size;
    }
    return n;
}

/* Writes the head and as many packets as fit; returns the length. */
static size_t join(const uint8_t *head, size_t n_head, const struct packet *list, size_t n,
                   uint8_t *to, size_t max)
{
    size_t at = n_head;

    if (n_head > max)
        return 0;
    memcpy(to, head, n_head);
    for (size_t i = 0; i < n && at + PACKET_HEADER + list[i].n <= max; i++) {
        to[at] = (uint8_t) list[i].n;
        to[at + 1] = (uint8_t) (list[i].n >> 8);
        to[at + 2] = list[i].flags;
        memcpy(to + at + PACKET_HEADER, list[i].bytes, list[i].n);
        at += PACKET_HEADER + list[i].n;
    }
    return at;
}

static void insert(struct packet *list, size_t *n, size_t at, struct packet p)
{
    if (*n == MAX_PACKETS)
        return;
    memmove(&list[at + 1], &list[at], (*n - at) * sizeof *list);
    list[at] = p;
    ++*n;
}

/* A mutant of the packet, in `room` of `max` bytes. */
static void mutate_packet(const struct mutate_packets *p, struct packet *k, struct rng *r,
                          uint8_t *room, size_t max)
{
    size_t n = k->n < max ? k->n : max;

    memcpy(room, k->bytes, n);
    *k = (struct packet){
        room, mutate_message(p->type_of(k->flags), room, n, max, (unsigned) rng_next(r)), k->flags
    };
}

size_t mutate_packets(const struct mutate_packets *p, uint8_t *bytes, size_t length, size_t max,
                      unsigned seed)
{
    struct packet list[MAX_PACKETS + 1];
    struct rng r;

    rng_seed(&r, seed, 1);
    size_t n = split(p, bytes, length, list);
    size_t room = max < MAX_PACKET ? max : MAX_PACKET;
    struct arena *a = n && rng_below(&r, BYTES_IN) ? arena_new(0) : NULL;
    uint8_t *fresh = a ? arena_alloc_raw(a, room, 1) : NULL;
    uint8_t *copy = a ? arena_copy(a, bytes, length) : NULL;
    if (!fresh || !copy) {
        arena_free(a);
        return LLVMFuzzerMutate(bytes, length, max);
    }
    n = split(p, copy, length, list);
    size_t at = rng_below(&r, (uint32_t) n), other = rng_below(&r, (uint32_t) n);
    switch (rng_below(&r, 12)) {
    case 0:
        memmove(&list[at], &list[at + 1], (n - at - 1) * sizeof *list);
        n--;
        break;
    case 1: insert(list, &n, at, list[other]); break;
    case 2: {
        const struct packet kept = list[at];
        list[at] = list[other];
        list[other] = kept;
        break;
    }
    case 3: list[at].flags = (uint8_t) (list[at].flags ^ 1u << rng_below(&r, 8)); break;
    case 4:
        if (p->head)
            copy[0] ^= 1;
        break;
    default: mutate_packet(p, &list[at], &r, fresh, room);
    }
    length = join(copy, p->head < length ? p->head : length, list, n, bytes, max);
    arena_free(a);
    return length;
}

size_t cross_packets(const struct mutate_packets *p, const uint8_t *a, size_t n_a, const uint8_t *b,
                     size_t n_b, uint8_t *to, size_t max, unsigned seed)
{
    struct packet list[MAX_PACKETS + 1], donor[MAX_PACKETS];
    size_t n = split(p, a, n_a, list), n_donor = split(p, b, n_b, donor);
    struct rng r;

    rng_seed(&r, seed, 1);
    if (!n || !n_donor)
        return 0;
    size_t from = rng_below(&r, (uint32_t) n_donor), at = rng_below(&r, (uint32_t) n + 1);
    for (size_t i = from; i < n_donor && i < from + 4; i++)
        insert(list, &n, at + i - from, donor[i]);
    return join(a, p->head, list, n, to, max);
}
