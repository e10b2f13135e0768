#include "sim/outputs.h"

#include <stdlib.h>
#include <string.h>

static int compare(const void *a, const void *b)
{
    const struct output_span *x = a, *y = b;

    if (x->pool != y->pool)
        return x->pool < y->pool ? -1 : 1;
    return (x->begin > y->begin) - (x->begin < y->begin);
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

uint32_t outputs_find(const struct hal_request *request, struct output_span *ret_spans)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < request->n_outputs; i++) {
        const struct hal_location *l = &request->outputs[i].location;
        if (request->outputs[i].has_no_value || l->pool >= request->n_pools ||
            l->offset > request->pools[l->pool].memory.size)
            continue;
        const uint64_t room = request->pools[l->pool].memory.size - l->offset;
        const uint64_t length = smaller(l->length, room);
        ret_spans[n++] =
            (struct output_span){ l->pool, l->offset, l->offset + length,
                                  l->offset + length + smaller(l->padding, room - length) };
    }
    qsort(ret_spans, n, sizeof(*ret_spans), compare);
    return n;
}

/* Every change of one word changes it. */
static uint64_t digest(uint64_t h, const uint8_t *bytes, uint64_t length)
{
    const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t word;

    for (; length >= sizeof(word); bytes += sizeof(word), length -= sizeof(word)) {
        memcpy(&word, bytes, sizeof(word));
        h = (h ^ word) * odd;
        h ^= h >> 32;
    }
    while (length--)
        h = (h ^ *bytes++) * odd;
    return h;
}

/* The next stretch from *at on that no output of the pool has; false: there is no more. */
static bool next_rest(const struct output_copy *c, uint64_t *at, uint32_t *i, uint64_t *ret_begin,
                      uint64_t *ret_end)
{
    while (*at < c->size) {
        while (*i < c->n && c->spans[*i].pool < c->pool)
            ++*i;
        bool more = *i < c->n && c->spans[*i].pool == c->pool;
        *ret_begin = *at;
        *ret_end = more ? c->spans[*i].begin : c->size;
        if (!more)
            *at = c->size;
        else if (c->spans[(*i)++].padded_end > *at)
            *at = c->spans[*i - 1].padded_end;
        if (*ret_begin < *ret_end)
            return true;
    }
    return false;
}

static uint64_t digest_rest(const struct output_copy *c, const uint8_t *copy)
{
    uint64_t h = 0, at = 0, begin, end;
    uint32_t i = 0;

    while (next_rest(c, &at, &i, &begin, &end))
        h = digest(h, copy + begin, end - begin);
    return h;
}

struct output_copy outputs_before(const struct output_span *spans, uint32_t n, uint32_t pool,
                                  const uint8_t *copy, uint64_t size)
{
    struct output_copy c = { spans, n, pool, size, 0 };

    c.rest = digest_rest(&c, copy);
    return c;
}

void outputs_copy_back(const struct output_copy *c, const uint8_t *copy, uint8_t *to)
{
    uint64_t at = 0, begin, end;
    uint32_t i = 0;

    if (digest_rest(c, copy) != c->rest)
        while (next_rest(c, &at, &i, &begin, &end))
            memcpy(to + begin, copy + begin, end - begin);
    for (i = 0; i < c->n; i++)
        if (c->spans[i].pool == c->pool)
            memcpy(to + c->spans[i].begin, copy + c->spans[i].begin,
                   c->spans[i].end - c->spans[i].begin);
}
