#include "golden/base/arena.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#if defined(__SANITIZE_ADDRESS__)
#define ARENA_POISON 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define ARENA_POISON 1
#endif
#endif

#ifdef ARENA_POISON
#include <sanitizer/asan_interface.h>
#define poison(p, n)   ASAN_POISON_MEMORY_REGION(p, n)
#define unpoison(p, n) ASAN_UNPOISON_MEMORY_REGION(p, n)
enum { GAP = 64 }; /* poisoned bytes after each object */
#else
#define poison(p, n)   ((void) 0)
#define unpoison(p, n) ((void) 0)
enum { GAP = 0 };
#endif

enum {
    ALIGN = 64,
    ALIGN_SMALL = 16,
    FIRST_BLOCK = 1 << 14,
    MAX_GROWTH = 1 << 22,
    MIN_MAPPED = 1 << 20
};

struct block {
    struct block *next; /* in order of allocation; those after `current` are empty, for reuse */
    size_t size, used;
    bool is_mapped, is_callers;
};

struct arena {
    struct block *first, *current;
    size_t held, limit;
    struct arena_budget *budget; /* NULL: none */
};

static char *block_bytes(struct block *b)
{
    return (char *) b + ALIGN; /* struct block fits in one alignment unit */
}

/* to: a power of two */
static size_t round_up(size_t n, size_t to)
{
    return (n + to - 1) & ~(to - 1);
}

/* mapped: memory under a budget is mapped, so that freeing it returns it to the system, which
 * free() does not guarantee. */
static struct block *block_get(size_t bytes, bool mapped)
{
    struct block *b =
        mapped ? mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
               : aligned_alloc(ALIGN, bytes);

    if (!b || b == MAP_FAILED)
        return NULL;
    b->is_mapped = mapped;
    b->is_callers = false;
    return b;
}

/* A block of that size; NULL if the limit, the budget or the memory does not suffice. */
static struct block *block_of(struct arena *a, size_t size)
{
    if (a->limit && (a->held > a->limit || size > a->limit - a->held))
        return NULL;
    if (a->budget && !a->budget->take(a->budget, size))
        return NULL;
    struct block *b = block_get(size + ALIGN, a->budget && size >= MIN_MAPPED);
    if (!b) {
        if (a->budget)
            a->budget->give(a->budget, size);
        return NULL;
    }
    b->next = NULL;
    b->size = size;
    b->used = 0;
    a->held += size;
    poison(block_bytes(b), size);
    return b;
}

static void block_free(struct arena *a, struct block *b)
{
    a->held -= b->size;
    if (a->budget)
        a->budget->give(a->budget, b->size);
    unpoison(block_bytes(b), b->size);
    if (b->is_mapped)
        munmap(b, b->size + ALIGN);
    else if (!b->is_callers)
        free(b);
}

static struct block *block_new(struct arena *a, size_t need)
{
    size_t size = a->held < FIRST_BLOCK ? FIRST_BLOCK : a->held, least = round_up(need, ALIGN);

    if (size > MAX_GROWTH)
        size = MAX_GROWTH;
    if (size < need)
        size = least;
    struct block *b = block_of(a, size);
    return b || size == least ? b : block_of(a, least);
}

struct arena *arena_new(size_t limit)
{
    struct arena *a = calloc(1, sizeof *a);

    if (a)
        a->limit = limit;
    return a;
}

struct arena *arena_new_within(struct arena_budget *budget)
{
    struct arena *a = arena_new(0);

    if (a)
        a->budget = budget;
    return a;
}

struct arena *arena_new_in(void *memory, size_t size)
{
    struct arena *a = arena_new(1); /* no second block */
    struct block *b = memory;

    if (!a)
        return NULL;
    *b = (struct block){ .size = size - ALIGN, .is_callers = true };
    poison(block_bytes(b), b->size);
    a->first = a->current = b;
    a->held = b->size;
    return a;
}

static void blocks_free(struct arena *a, struct block *b)
{
    while (b) {
        struct block *next = b->next;
        block_free(a, b);
        b = next;
    }
}

void arena_free(struct arena *a)
{
    if (!a)
        return;
    blocks_free(a, a->first);
    free(a);
}

/* The block to allocate `need` bytes from: the current one, one kept for reuse, or a new one. Rare,
 * therefore not inlined: its registers would be saved in each allocation. */
static __attribute__((noinline)) struct block *block_for(struct arena *a, size_t need)
{
    struct block *b = a->current;

    while (b && b->size - b->used < need && b->next) {
        b = b->next;
        b->used = 0;
    }
    if (b && b->size - b->used >= need)
        return b;
    struct block *fresh = block_new(a, need);
    if (!fresh)
        return NULL;
    if (b)
        b->next = fresh;
    else
        a->first = fresh;
    return fresh;
}

void *arena_alloc_raw(struct arena *a, size_t count, size_t size)
{
    size_t bytes;

    if (__builtin_mul_overflow(count, size, &bytes) || bytes > SIZE_MAX / 2)
        return NULL;
    size_t align = bytes < ALIGN ? ALIGN_SMALL : ALIGN;
    size_t need = round_up(bytes + GAP + (bytes == 0), align);
    struct block *b = a->current;
    if (!b || b->size - b->used < need + ALIGN) {
        b = block_for(a, need + ALIGN);
        if (!b)
            return NULL;
        a->current = b;
    }
    b->used = round_up(b->used, align);
    void *p = block_bytes(b) + b->used;
    b->used += need;
    unpoison(p, bytes);
    return p;
}

void *arena_alloc(struct arena *a, size_t count, size_t size)
{
    void *p = arena_alloc_raw(a, count, size);

    return p ? memset(p, 0, count * size) : NULL;
}

void *arena_copy(struct arena *a, const void *from, size_t length)
{
    void *p = arena_alloc_raw(a, length, 1);

    if (p && length)
        memcpy(p, from, length);
    return p;
}

char *arena_strdup(struct arena *a, const char *text)
{
    return arena_copy(a, text, strlen(text) + 1);
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
    va_list ap, again;

    va_start(ap, fmt);
    va_copy(again, ap);
    int n = vsnprintf(NULL, 0, fmt, ap);
    char *text = n < 0 ? NULL : arena_alloc_raw(a, (size_t) n + 1, 1);
    if (text)
        vsnprintf(text, (size_t) n + 1, fmt, again);
    va_end(again);
    va_end(ap);
    return text;
}

struct arena_mark arena_mark(const struct arena *a)
{
    return (struct arena_mark){ a->current, a->current ? a->current->used : 0 };
}

void arena_rewind(struct arena *a, struct arena_mark mark)
{
    struct block *b = mark.block ? mark.block : a->first;

    if (!b)
        return;
    a->current = b;
    b->used = mark.block ? mark.used : 0;
    poison(block_bytes(b) + b->used, b->size - b->used);
    for (b = b->next; b; b = b->next) {
        b->used = 0;
        poison(block_bytes(b), b->size);
    }
}

void arena_empty(struct arena *a, size_t keep)
{
    struct block **at = &a->first;
    size_t kept = 0;

    while (*at && (*at)->size <= keep - kept) {
        kept += (*at)->size;
        at = &(*at)->next;
    }
    blocks_free(a, *at);
    *at = NULL;
    a->current = NULL;
    arena_rewind(a, (struct arena_mark){ 0 });
}

size_t arena_bytes(const struct arena *a)
{
    return a->held;
}
