#include "sim/hal/request_regions.h"

#include <stdlib.h>
#include <string.h>

/* ---- the regions of a request */

static int compare(const void *a, const void *b)
{
    const struct pool_region *x = a, *y = b;

    if (x->pool != y->pool)
        return x->pool < y->pool ? -1 : 1;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Adds an argument's region, clipped to its pool: the driver rejects arguments that exceed it. */
static void add(struct request_regions *s, const struct hal_request *r,
                const struct hal_argument *a, bool is_output)
{
    const struct hal_location *l = &a->location;

    if (a->has_no_value || l->pool >= r->n_pools || l->offset > r->pools[l->pool].memory.size)
        return;
    const uint64_t room = r->pools[l->pool].memory.size - l->offset;
    const uint64_t end = l->offset + smaller(l->length, room);
    const uint64_t padding = smaller(l->padding, room - (end - l->offset));
    s->span[s->n++] = (struct pool_region){ l->pool, l->offset, end, end + padding, is_output };
}

void request_regions_find(const struct hal_request *request, struct request_regions *ret_spans)
{
    ret_spans->n = 0;
    for (uint32_t i = 0; i < request->n_inputs; i++)
        add(ret_spans, request, &request->inputs[i], false);
    for (uint32_t i = 0; i < request->n_outputs; i++)
        add(ret_spans, request, &request->outputs[i], true);
    qsort(ret_spans->span, ret_spans->n, sizeof(*ret_spans->span), compare);
}

/* ---- the pattern between them, in which neighbouring bytes differ */

enum { WORD = sizeof(uint64_t) };

static uint64_t pattern(uint64_t word)
{
    return (word + 1) * UINT64_C(0x9e3779b97f4a7c15);
}

static uint8_t pattern_byte(uint64_t at)
{
    return (uint8_t) (pattern(at / WORD) >> at % WORD * 8);
}

static void fill(uint8_t *bytes, uint64_t at, uint64_t end)
{
    while (at < end) {
        const uint64_t word = pattern(at / WORD);
        if (at % WORD == 0 && end - at >= WORD) {
            memcpy(bytes + at, &word, WORD);
            at += WORD;
        } else {
            bytes[at] = pattern_byte(at);
            at++;
        }
    }
}

/* Copies the bytes in [at, end) that differ from the pattern. */
static void copy_changed(const uint8_t *bytes, uint64_t at, uint64_t end, uint8_t *to)
{
    while (at < end) {
        const uint64_t word = pattern(at / WORD);
        if (at % WORD == 0 && end - at >= WORD && memcmp(bytes + at, &word, WORD) == 0) {
            at += WORD;
            continue;
        }
        if (bytes[at] != pattern_byte(at))
            to[at] = bytes[at];
        at++;
    }
}

/* The next range of a pool from *at on that lies in no region or padding; false: there is none.
 * *i: the next region to consider. */
static bool next_rest(const struct request_regions *s, uint32_t pool, uint64_t size, uint64_t *at,
                      uint32_t *i, uint64_t *ret_begin, uint64_t *ret_end)
{
    while (*at < size) {
        while (*i < s->n && s->span[*i].pool < pool)
            ++*i;
        const struct pool_region *next =
            *i < s->n && s->span[*i].pool == pool ? &s->span[(*i)++] : NULL;
        *ret_begin = *at;
        *ret_end = next ? next->begin : size;
        if (!next)
            *at = size;
        else if (next->padded_end > *at)
            *at = next->padded_end;
        if (*ret_begin < *ret_end)
            return true;
    }
    return false;
}

/* ---- copying */

void request_regions_copy_in(const struct request_regions *s, uint32_t pool,
                             const struct hal_memory *from, uint8_t *copy)
{
    const uint8_t *bytes = from->address;
    uint64_t at = 0, begin, end;
    uint32_t i = 0;

    while (next_rest(s, pool, from->size, &at, &i, &begin, &end))
        fill(copy, begin, end);
    for (i = 0; i < s->n; i++)
        if (s->span[i].pool == pool)
            memcpy(copy + s->span[i].begin, bytes + s->span[i].begin,
                   s->span[i].end - s->span[i].begin);
}

void request_regions_copy_back(const struct request_regions *s, uint32_t pool, const uint8_t *copy,
                               const struct hal_memory *to)
{
    uint8_t *bytes = to->address;
    uint64_t at = 0, begin, end;
    uint32_t i = 0;

    while (next_rest(s, pool, to->size, &at, &i, &begin, &end))
        copy_changed(copy, begin, end, bytes);
    for (i = 0; i < s->n; i++) {
        const struct pool_region *p = &s->span[i];
        const uint64_t length = p->end - p->begin;
        if (p->pool == pool &&
            (p->is_output || memcmp(bytes + p->begin, copy + p->begin, length) != 0))
            memcpy(bytes + p->begin, copy + p->begin, length);
    }
}
