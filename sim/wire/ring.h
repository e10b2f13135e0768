/* A queue of fixed-size datums in memory that two processes share: one side writes, the other
 * reads.
 *
 * The memory is a sealed file: positions that only ever grow, a bell, the datums.  Each side keeps
 * its own position to itself and publishes it; what the other side publishes is taken as a claim,
 * as is everything else in the memory.  A claim that cannot be is answered by starting anew from
 * it, so that at worst the liar's datums are lost.  What one write publishes becomes visible at
 * once; the reader copies out, once, all that is there.  Writers that need to be told apart wait
 * for an answer between two writes.
 *
 * Waiting is a short spin, where that may pay, and then sleep on a futex.  It ends also when the
 * bell is rung without a datum, when the time is over, and soon after the other end of a socket
 * that stands for the other side has hung up. */
#ifndef SIM_RING_H
#define SIM_RING_H

#include <stdint.h>

#include "golden/base/why.h"
#include "sim/base/spin.h"

struct ring_memory;

struct ring {
    struct ring_memory *memory; /* NULL: there is none */
    size_t size;
    uint32_t length, datum_size; /* of the queue, in datums; bytes of one */
    uint64_t position;           /* how many this side has written or read */
    uint32_t rung;               /* rings of the bell that have been heard */
    struct spin spin;            /* of its waits */
};

enum { RING_LENGTH_MAX = 4096 };

/* A new one; *ret_fd, to be closed, is what the other side opens. */
int ring_make(uint32_t length, uint32_t datum_size, int *ret_fd, struct ring *ret_ring,
              struct why *w);
/* The other side's, which is lent: refused unless it is sealed and as large as it has to be. */
int ring_open(int fd, uint32_t length, uint32_t datum_size, struct ring *ret_ring, struct why *w);
void ring_close(struct ring *r);

/* Publishes n datums; -1 when there is no room for all of them. */
int ring_write(struct ring *r, const void *datums, uint32_t n);
/* Copies out what is there, up to `length` datums, and makes room for as many; 0: nothing, or a
 * claim that cannot be. */
uint32_t ring_read(struct ring *r, void *datums);

/* Waits for something to be read: 1.  0: the bell has been rung without, or `ns` are over
 * (UINT64_MAX: for ever).  -1: the socket's other end has hung up. */
int ring_wait(struct ring *r, int socket, uint64_t ns);
/* Ends a wait of the reader, from any side and thread. */
void ring_bell(struct ring *r);

#endif
