#define _GNU_SOURCE
#include "sim/isolation/lent_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* State of a slot of the output area. */
struct lent_slot {
    uint64_t user; /* run that used it last; 0: never used, and not filled with the pattern */
};

/* ---- layout */

/* Sizes in pages, and numbers of slots: outputs are small as a rule, and small slots are used in
 * turn for as long as possible. */
static const struct {
    size_t pages;
    uint32_t inputs, outputs;
} classes[LENT_CLASSES] = { { 1, 32, 256 }, { 4, 16, 64 },   { 16, 8, 32 },
                            { 64, 8, 16 },  { 256, 4, 8 },   { 1024, 4, 8 },
                            { 4096, 2, 4 }, { 16384, 2, 4 }, { 65536, 2, 2 } };

/* Appends the classes up to the one that holds `largest`, of which there are at least `least`
 * slots, and a larger one if even the last does not; returns the end. */
static size_t put_classes(struct slot_class *to, size_t offset, size_t largest, uint32_t least,
                          bool outputs)
{
    size_t reached = 0;

    for (int c = 0; c < LENT_CLASSES && reached < largest; c++) {
        size_t size = classes[c].pages * LENT_PAGE;
        if (c == LENT_CLASSES - 1 && size < largest)
            size = (largest + LENT_PAGE - 1) / LENT_PAGE * LENT_PAGE;
        to[c] =
            (struct slot_class){ offset, size, outputs ? classes[c].outputs : classes[c].inputs };
        if (size >= largest && to[c].n < least)
            to[c].n = least;
        offset += (size + LENT_PAGE) * to[c].n;
        reached = size;
    }
    return offset;
}

struct lent_layout lent_layout_of(uint8_t *address, size_t arena, size_t largest, uint32_t regions)
{
    struct lent_layout l = { .in = address,
                             .arena_size = (arena + LENT_PAGE - 1) / LENT_PAGE * LENT_PAGE };

    /* One page without access before the first slot, as before every other. */
    l.in_size = put_classes(l.in_class, LENT_OWN + l.arena_size + LENT_PAGE, largest, 0, false);
    l.out = address + l.in_size + LENT_PAGE;
    l.out_size = put_classes(l.out_class, LENT_OWN + LENT_PAGE, largest, regions, true);
    return l;
}

/* ---- mapping */

/* Addresses far from where the kernel, sanitizers and PIE executables put things. */
static uint8_t *choose_address(void)
{
    static atomic_uint chosen;

    return (uint8_t *) (uintptr_t) (UINT64_C(0x200000000000) + ((uint64_t) (chosen++ % 256) << 36));
}

static int map(int fd, uint8_t *address, size_t size, int protection, const char *what,
               struct why *w)
{
    void *p =
        mmap(address, size, protection, MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, fd, 0);

    if (p == MAP_FAILED)
        return why_fail(w, WHY_SYSTEM, "cannot map %zu bytes of memory for %s: %s", size, what,
                        strerror(errno));
    if (p == address)
        return 0;
    munmap(p, size);
    return why_fail(w, WHY_SYSTEM, "cannot map memory for %s at its address", what);
}

static int create(const char *name, size_t size, int *ret_fd, struct why *w)
{
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd < 0 || ftruncate(fd, (off_t) size) < 0) {
        int error = errno;
        if (fd >= 0)
            close(fd);
        return why_fail(w, WHY_SYSTEM, "cannot create %zu bytes of memory for a driver: %s%s", size,
                        strerror(error),
                        error == EFBIG ? " (the limit on files, 'ulimit -f')" : "");
    }
    *ret_fd = fd;
    return 0;
}

/* The input file cannot be written to or mapped for writing again, by any process. */
static int seal(const struct lent_memory *m, struct why *w)
{
    const int size = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

    if (fcntl(m->in_fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE | size) < 0 ||
        fcntl(m->out_fd, F_ADD_SEALS, size) < 0)
        return why_fail(w, WHY_SYSTEM, "cannot seal the memory of a driver: %s", strerror(errno));
    return 0;
}

static uint32_t count_slots(const struct lent_layout *l)
{
    uint32_t n = 0;

    for (int c = 0; c < LENT_CLASSES; c++)
        n += l->out_class[c].n;
    return n;
}

int lent_memory_init(struct lent_memory *m, size_t arena, size_t largest, uint32_t regions,
                     struct why *w)
{
    const int both = PROT_READ | PROT_WRITE;
    struct lent_layout l = lent_layout_of(choose_address(), arena, largest, regions);
    int rc;

    *m = (struct lent_memory){ .layout = l, .in_fd = -1, .out_fd = -1, .user = 1 };
    m->slots = calloc(count_slots(&l), sizeof *m->slots);
    rc = m->slots ? create("halcyon-inputs", l.in_size, &m->in_fd, w) : why_no_memory(w);
    if (rc == 0)
        rc = create("halcyon-outputs", l.out_size, &m->out_fd, w);
    if (rc == 0)
        rc = map(m->in_fd, l.in, l.in_size, both, "inputs", w);
    if (rc == 0) {
        rc = map(m->out_fd, l.out, l.out_size, both, "outputs", w);
        if (rc < 0)
            munmap(l.in, l.in_size);
    }
    if (rc == 0) {
        m->arena = arena_new_in(l.in + LENT_OWN, l.arena_size);
        rc = m->arena ? seal(m, w) : why_no_memory(w);
        if (rc < 0) {
            munmap(l.in, l.in_size);
            munmap(l.out, l.out_size);
        }
    }
    if (rc < 0) {
        m->layout.in = NULL;
        lent_memory_done(m);
    }
    return rc;
}

void lent_memory_done(struct lent_memory *m)
{
    arena_free(m->arena);
    if (m->layout.in) {
        munmap(m->layout.in, m->layout.in_size);
        munmap(m->layout.out, m->layout.out_size);
    }
    if (m->in_fd >= 0)
        close(m->in_fd);
    if (m->out_fd >= 0)
        close(m->out_fd);
    free(m->slots);
    *m = (struct lent_memory){ .in_fd = -1, .out_fd = -1 };
}

/* Takes access from the page before the first slot and those behind each. */
static int put_holes(uint8_t *base, const struct slot_class *class, struct why *w)
{
    int rc = mprotect(base + class[0].offset - LENT_PAGE, LENT_PAGE, PROT_NONE);

    for (int c = 0; c < LENT_CLASSES; c++)
        for (uint32_t i = 0; i < class[c].n && rc == 0; i++)
            rc = mprotect(base + class[c].offset + (class[c].size + LENT_PAGE) * i + class[c].size,
                          LENT_PAGE, PROT_NONE);
    return rc == 0
               ? 0
               : why_fail(w, WHY_SYSTEM, "cannot protect memory of a driver: %s", strerror(errno));
}

int lent_memory_attach(const struct lent_layout *l, int in_fd, int out_fd, struct why *w)
{
    TRY(map(in_fd, l->in, l->in_size, PROT_READ, "inputs", w));
    TRY(map(out_fd, l->out, l->out_size, PROT_READ | PROT_WRITE, "outputs", w));
    TRY(put_holes(l->in, l->in_class, w));
    return put_holes(l->out, l->out_class, w);
}

/* ---- the pattern */

/* A page of bytes in which neighbours differ; the second pattern is its complement.  From a fixed
 * multiplicative generator. */
static const uint8_t *pattern_page(bool other)
{
    static uint8_t page[2][LENT_PAGE];

    if (!page[1][0])
        for (uint32_t i = LENT_PAGE; i-- > 0;) {
            page[0][i] = (uint8_t) ((i + 1) * UINT32_C(2654435761) >> 24 ^ 0xa5);
            page[1][i] = (uint8_t) ~page[0][i];
        }
    return page[other];
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The pattern depends on an address's place in its page alone. */
static void fill(uint8_t *from, const uint8_t *to, bool other)
{
    while (from < to) {
        size_t at = (uintptr_t) from % LENT_PAGE;
        size_t n = smaller(LENT_PAGE - at, (size_t) (to - from));
        memcpy(from, pattern_page(other) + at, n);
        from += n;
    }
}

static bool is_filled(const uint8_t *from, const uint8_t *to)
{
    while (from < to) {
        size_t at = (uintptr_t) from % LENT_PAGE;
        size_t n = smaller(LENT_PAGE - at, (size_t) (to - from));
        if (memcmp(from, pattern_page(false) + at, n) != 0)
            return false;
        from += n;
    }
    return true;
}

/* ---- slots */

static uint8_t *slot_address(const uint8_t *base, const struct slot_class *c, uint32_t i)
{
    return (uint8_t *) (uintptr_t) base + c->offset + (c->size + LENT_PAGE) * i;
}

void lent_memory_reset(struct lent_memory *m)
{
    arena_rewind(m->arena, (struct arena_mark){ 0 });
    memset(m->in_used, 0, sizeof m->in_used);
}

/* Whether slots `from` to `end` of a class, which were never lent, have been written to: their file
 * has no pages yet. */
static bool is_unused_changed(const struct lent_memory *m, const struct slot_class *class,
                              uint32_t from, uint32_t end)
{
    off_t slot = (off_t) (class->size + LENT_PAGE), at = (off_t) class->offset + slot * from;
    off_t data = lseek(m->out_fd, at, SEEK_DATA);

    return data >= 0 && data < (off_t) class->offset + slot * end;
}

/* The next slot of a class that this user does not have yet. */
static bool take_of_class(struct lent_memory *m, int c, struct lent_slot *slots, size_t length,
                          struct lent_region *ret_region, uint64_t *ret_late_of)
{
    const struct slot_class *class = &m->layout.out_class[c];
    uint32_t i = m->turn[c];

    if (class->size < length || !class->n || slots[i].user == m->user)
        return false;
    m->turn[c] = (i + 1) % class->n;
    uint8_t *slot = slot_address(m->layout.out, class, i), *end = slot + class->size;
    *ret_late_of = 0;
    if (!slots[i].user) {
        if (is_unused_changed(m, class, i, i + 1))
            *ret_late_of = m->user - 1;
        fill(slot, end, false);
    } else if (!is_filled(slot, end)) {
        *ret_late_of = slots[i].user;
        fill(slot, end, false);
    }
    slots[i].user = m->user;
    *ret_region = (struct lent_region){ end - length, length, slot };
    return true;
}

bool lent_memory_take(struct lent_memory *m, size_t length, struct lent_region *ret_region,
                      uint64_t *ret_late_of)
{
    struct lent_slot *slots = m->slots;

    for (int c = 0; c < LENT_CLASSES; slots += m->layout.out_class[c++].n)
        if (take_of_class(m, c, slots, length ? length : 1, ret_region, ret_late_of)) {
            if (!m->late_of)
                m->late_of = *ret_late_of;
            return true;
        }
    return false;
}

uint8_t *lent_memory_take_input(struct lent_memory *m, size_t length)
{
    for (int c = 0; c < LENT_CLASSES; c++) {
        const struct slot_class *class = &m->layout.in_class[c];
        if (length <= class->size && m->in_used[c] < class->n)
            return slot_address(m->layout.in, class, m->in_used[c]++) + class->size - length;
    }
    return NULL;
}

size_t lent_region_changed_before(const struct lent_region *r)
{
    if (is_filled(r->slot, r->at))
        return 0;
    for (const uint8_t *p = r->at; p-- > r->slot;)
        if (*p != pattern_page(false)[(uintptr_t) p % LENT_PAGE])
            return (size_t) (r->at - p);
    return 0; /* changed back meanwhile */
}

void lent_region_fill(const struct lent_region *r, bool other)
{
    fill(r->slot, r->at, false);
    fill(r->at, r->at + r->length, other);
}

bool lent_region_is_pattern(const struct lent_region *r, size_t offset, bool other)
{
    const uint8_t *p = r->at + offset;

    return *p == pattern_page(other)[(uintptr_t) p % LENT_PAGE];
}

size_t lent_region_count_pattern(const struct lent_region *r, size_t size, size_t n, bool other)
{
    const uint8_t *page = pattern_page(other), *element = r->at;
    size_t found = 0;

    for (size_t i = 0; i < n; i++, element += size) {
        size_t b = 0;
        while (b < size && element[b] == page[(uintptr_t) (element + b) % LENT_PAGE])
            b++;
        found += b == size;
    }
    return found;
}

uint64_t lent_memory_sweep(struct lent_memory *m)
{
    struct lent_slot *slot = m->slots;
    uint64_t first = m->late_of;
    bool changed = false;

    m->late_of = 0;
    for (int c = 0; c < LENT_CLASSES; c++) {
        const struct slot_class *class = &m->layout.out_class[c];
        uint32_t used = class->n; /* slots are used in turn, so the unused ones are last */
        while (used && !slot[used - 1].user)
            used--;
        changed |= is_unused_changed(m, class, used, class->n);
        for (uint32_t i = 0; i < class->n; i++, slot++) {
            uint8_t *at = slot_address(m->layout.out, class, i);
            uint8_t *end = at + class->size;
            if (!slot->user || is_filled(at, end))
                continue;
            if (!first || slot->user < first)
                first = slot->user;
            fill(at, end, false);
        }
    }
    return first || !changed ? first : m->user;
}

enum lent_place lent_memory_place(const struct lent_memory *m, uint64_t address)
{
    const struct lent_layout *l = &m->layout;
    uint64_t in = (uintptr_t) l->in, out = (uintptr_t) l->out;

    if (address >= in && address < in + l->in_size)
        return LENT_INPUT_AREA;
    return address >= out && address < out + l->out_size ? LENT_OUTPUT_AREA : LENT_NOWHERE;
}
