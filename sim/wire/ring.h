/* A queue (ring buffer) of fixed-size datums in memory shared by two processes, one writer and one
 * reader: the counterpart of Android's fast message queue.
 *
 * The memory is a sealed memory file: positions that only increase, a wake-up counter ("bell"), the
 * datums.  Each side keeps its own position privately and publishes a copy; everything that it
 * reads from the shared memory is untrusted.  If the writer's position is impossible, the reader
 * continues from it and returns nothing, so that a faulty writer loses only its own datums.  One
 * write becomes visible as a whole; the reader copies out everything available, once.  A writer
 * whose packets must not be merged waits for an answer between two writes.
 *
 * Waiting spins for a short time (sim/base/spin.h), then sleeps on a futex.  It also ends when the
 * bell is rung without a datum, at a timeout, and shortly after the peer of a given socket has hung
 * up.
 */
#ifndef SIM_RING_H
#define SIM_RING_H

#include <stdint.h>

#include "golden/base/why.h"
#include "sim/base/spin.h"

struct ring_memory;

struct ring {
    struct ring_memory *memory;  /* mapped; NULL: not open */
    size_t size;                 /* bytes of memory */
    uint32_t length, datum_size; /* datums in the queue; bytes per datum */
    uint64_t position;           /* datums that this side has written or read so far */
    uint32_t rung;               /* value of the bell's counter at the last look */
    struct spin spin;            /* state of spinning waits */
};

enum { RING_LENGTH_MAX = 4096 };

/* Creates a queue.  *ret_fd is the memory file, for the other side's ring_open(); the caller closes
 * it.  WHY_INVALID: bad length; WHY_MEMORY. */
int ring_make(uint32_t length, uint32_t datum_size, int *ret_fd, struct ring *ret_ring,
              struct why *w);
/* Maps a queue that the other side has created; the caller keeps fd.  WHY_INVALID: the file is too
 * small or not sealed against shrinking; WHY_MEMORY. */
int ring_open(int fd, uint32_t length, uint32_t datum_size, struct ring *ret_ring, struct why *w);
void ring_close(struct ring *r);

/* Writes n datums; -1: not enough room for all of them, nothing is written. */
int ring_write(struct ring *r, const void *datums, uint32_t n);
/* Removes all available datums, at most `length`, copies them to `datums` and returns their number.
 * 0: none, or the writer's position is impossible. */
uint32_t ring_read(struct ring *r, void *datums);

/* Waits, as the reader, at most `ns` (UINT64_MAX: without limit).  1: datums are available.  0: the
 * bell was rung without datums, or timeout.  -1: the socket's peer has hung up. */
int ring_wait(struct ring *r, int socket, uint64_t ns);
/* Ends the reader's wait; from either side and any thread. */
void ring_bell(struct ring *r);

#endif
