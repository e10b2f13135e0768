#include "harness/explain/permutation.h"

#include <stdio.h>

#include "harness/check/buffer.h"
#include "harness/explain/subject.h"

bool permutation_at(uint32_t rank, int index, struct permutation *ret)
{
    uint32_t left[4] = { 0, 1, 2, 3 }, code = (uint32_t) index + 1, count = 1;

    if (rank < 2 || rank > 4)
        return false;
    for (uint32_t i = 2; i <= rank; i++)
        count *= i;
    if (code >= count)
        return false;
    ret->rank = rank;
    for (uint32_t i = 0; i < rank; i++) { /* factorial number system */
        count /= rank - i;
        const uint32_t k = code / count;
        code %= count;
        ret->axis[i] = left[k];
        for (uint32_t j = k; j + 1 < rank - i; j++)
            left[j] = left[j + 1];
    }
    return true;
}

void permutation_map(const struct permutation *p, const struct shape *shape, size_t *map)
{
    struct shape written = { .rank = p->rank };
    const size_t n = shape_count(shape);
    uint32_t at[MAX_RANK], right[MAX_RANK];

    for (uint32_t d = 0; d < p->rank; d++)
        written.dim[d] = shape->dim[p->axis[d]];
    for (size_t i = 0; i < n; i++) {
        shape_place(&written, i, at);
        for (uint32_t d = 0; d < p->rank; d++)
            right[p->axis[d]] = at[d];
        map[i] = shape_index(shape, right);
    }
}

void permutation_text(const struct permutation *p, char *text, size_t size)
{
    text[0] = 0;
    for (uint32_t d = 0; d < p->rank; d++)
        text_append(text, size, "%s%u", d ? "," : "in the order ", p->axis[d]);
}
