#include "golden/ops/shared/lookup.h"

#include <string.h>

int lookup_check(const struct call *c, int role, size_t len, struct why *w)
{
    const struct tensor *t = c->in[role];
    size_t n = t->data ? tensor_count(t) : 0;
    const int32_t *index = t->data;

    for (size_t i = 0; i < n; i++)
        if (index[i] < 0 || (size_t) index[i] >= len)
            return why_fail(w, WHY_EXECUTION,
                            "%s: element %zu of %s is %d, must be from 0 to below %zu", c->op->name,
                            i, c->op->in[role].name, index[i], len);
    return 0;
}

/* Inlined for the sizes of single elements, so that memcpy() compiles to plain loads and stores. */
static inline __attribute__((always_inline)) void copy_rows(size_t row, const int32_t *index,
                                                            size_t n, const char *from, char *to)
{
    for (size_t i = 0; i < n; i++, to += row)
        memcpy(to, from + (size_t) index[i] * row, row);
}

void lookup_move(size_t size, const struct axis *source, const int32_t *index, size_t n,
                 const void *from, void *to)
{
    size_t row = source->inner * size;

    for (size_t o = 0; o < source->outer && row; o++) {
        const char *part = (const char *) from + o * source->len * row;
        char *rows = (char *) to + o * n * row;
        switch (row) {
        case 1: copy_rows(1, index, n, part, rows); break;
        case 2: copy_rows(2, index, n, part, rows); break;
        case 4: copy_rows(4, index, n, part, rows); break;
        case 8: copy_rows(8, index, n, part, rows); break;
        default: copy_rows(row, index, n, part, rows);
        }
    }
}

bool lookup_draw(struct drawer *d, uint32_t rank, uint32_t most, uint32_t len, struct tensor *to)
{
    int32_t *index = to->data;

    if (len == 0)
        return false;
    to->shape = (struct shape){ rank };
    for (uint32_t i = 0; i < rank; i++, most = 2)
        to->shape.dim[i] = rank == 1 ? d->size(d, most) : 1 + d->below(d, most);
    for (size_t i = 0; i < tensor_count(to); i++)
        index[i] = (int32_t) d->below(d, len);
    return true;
}
