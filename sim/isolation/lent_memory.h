/* Memory shared with the process of one driver, at the same addresses in both processes.
 *
 *     input area    the client writes it; a sealed memory file that the driver can only read
 *         | page of the client's own | arena of the case | slots |
 *     output area   both write it
 *         | page of the driver's answers | slots |
 *
 * A slot is one to many pages, with a page without access behind it (in the driver's process).  A
 * region is lent at the end of a slot: the first byte behind it traps.  The rest of an output's
 * slot is filled with a pattern, which shows writes before the region, and after the answer the
 * region is filled, too, which shows late writes.  Slots are used in turn, so that a late write
 * usually finds its slot unused.  Mapping happens once: lending costs no system call. */
#ifndef SIM_LENT_MEMORY_H
#define SIM_LENT_MEMORY_H

#include <stdbool.h>
#include <stdint.h>

#include "golden/base/arena.h"
#include "golden/base/why.h"

enum { LENT_PAGE = 4096, LENT_CLASSES = 9, LENT_OWN = 1 << 15 };

/* Slots of one size, one after the other from `offset` on, each followed by a page without access.
 */
struct slot_class {
    size_t offset, size; /* bytes */
    uint32_t n;
};

/* Both sides compute it from the sizes alone. */
struct lent_layout {
    uint8_t *in, *out;        /* addresses, in both processes */
    size_t in_size, out_size; /* bytes */
    size_t arena_size;        /* bytes, from in + LENT_OWN on */
    struct slot_class in_class[LENT_CLASSES], out_class[LENT_CLASSES];
};
/* arena: bytes of the case's arena.  largest: bytes of the largest region that gets a slot.
 * regions: how many of that size get one. */
struct lent_layout lent_layout_of(uint8_t *address, size_t arena, size_t largest, uint32_t regions);

/* A region lent for writing. */
struct lent_region {
    uint8_t *at; /* length bytes */
    size_t length;
    uint8_t *slot; /* from here to `at` the pattern remains */
};

struct lent_slot;
struct lent_memory {
    struct lent_layout layout;
    int in_fd, out_fd;
    struct arena *arena;     /* in the input area, emptied for each case */
    struct lent_slot *slots; /* of the output area */
    uint32_t turn[LENT_CLASSES];
    uint32_t in_used[LENT_CLASSES];
    uint64_t user; /* number of the run for which slots are taken, from 1 on; set by the caller */
    uint64_t late_of; /* the first *ret_late_of since the last sweep; 0: none */
};

/* Creates the two memory files and maps them; the input file is then sealed.  WHY_SYSTEM,
 * WHY_MEMORY. */
int lent_memory_init(struct lent_memory *m, size_t arena, size_t largest, uint32_t regions,
                     struct why *w);
void lent_memory_done(struct lent_memory *m);
/* In the driver's process: maps the files at the layout's addresses. */
int lent_memory_attach(const struct lent_layout *l, int in_fd, int out_fd, struct why *w);

/* Frees the arena's objects and the slots of inputs, for the next case. */
void lent_memory_reset(struct lent_memory *m);
/* Lends `length` bytes for writing (0: as 1), filled with the pattern.  *ret_late_of: the user for
 * whom the slot was taken before (the last user, if it was never taken), if it has changed since
 * then, else 0.  False: no slot is free that is large enough. */
bool lent_memory_take(struct lent_memory *m, size_t length, struct lent_region *ret_region,
                      uint64_t *ret_late_of);
/* Memory for an input that ends at a page without access; NULL: no slot is large enough. */
uint8_t *lent_memory_take_input(struct lent_memory *m, size_t length);
/* Distance in bytes from the nearest changed byte of its slot to the region's begin; 0: none has
 * changed. */
size_t lent_region_changed_before(const struct lent_region *r);
/* Fills the region; other: with a second pattern, which differs from the first in every byte. */
void lent_region_fill(const struct lent_region *r, bool other);
/* Whether byte `offset` of the region still holds the pattern. */
bool lent_region_is_pattern(const struct lent_region *r, size_t offset, bool other);
/* How many of n elements of `size` bytes, from the region's first byte on, still hold it. */
size_t lent_region_count_pattern(const struct lent_region *r, size_t size, size_t n, bool other);
/* Compares every slot, and restores those that were ever used.  The user of the first one that has
 * changed since the last sweep, whether lent_memory_take() has noticed it or not; the last user if
 * that is one which was never used; 0: none has changed. */
uint64_t lent_memory_sweep(struct lent_memory *m);

/* The area that an address lies in, guard pages included. */
enum lent_place { LENT_NOWHERE, LENT_INPUT_AREA, LENT_OUTPUT_AREA };
enum lent_place lent_memory_place(const struct lent_memory *m, uint64_t address);

#endif
