/* What converts, fills, selects and looks up: the same on every device. */
#include <math.h>
#include <string.h>

#include "sim/half.h"
#include "sim/kernel.h"

/* ---- conversion */

static double cut(double x, double lo, double hi)
{
    return x >= lo ? (x < hi ? trunc(x) : hi) : x < lo ? lo : 0; /* NaN: 0 */
}

static void convert(double x, struct tensor *t, size_t i)
{
    switch (t->dtype) {
    case DT_F32: ((float *) t->data)[i] = (float) x; break;
    case DT_F16: ((uint16_t *) t->data)[i] = half_from_float((float) x); break;
    case DT_I32: ((int32_t *) t->data)[i] = (int32_t) cut(x, INT32_MIN, INT32_MAX); break;
    case DT_U8: ((uint8_t *) t->data)[i] = (uint8_t) cut(x, 0, 255); break;
    default: ((int8_t *) t->data)[i] = (int8_t) cut(x, -128, 127); break;
    }
}

/* Numbers as they are stored; between equal types bytes. */
static int run_cast(struct kernel_call *k, struct why *w)
{
    const struct tensor *x = k->arg[0];
    struct tensor *out = k->out[0];
    size_t n = tensor_count(x);

    (void) w;
    if (x->dtype == out->dtype) {
        if (n)
            memcpy(out->data, x->data, tensor_bytes(x));
        return 0;
    }
    for (size_t i = 0; i < n; i++)
        convert(kernel_stored(x, i), out, i);
    if (k->half && out->dtype == DT_F32)
        for (size_t i = 0; i < n; i++)
            ((float *) out->data)[i] = half_round(((float *) out->data)[i]);
    return 0;
}

/* ---- constants */

static int run_fill(struct kernel_call *k, struct why *w)
{
    struct tensor *out = k->out[0];
    size_t size = dtype_info[out->dtype].codec->size, n = tensor_count(out);
    const void *value = k->arg[1]->data;

    (void) w;
    for (size_t i = 0; i < n; i++)
        memcpy((uint8_t *) out->data + i * size, value, size);
    if (k->half && out->dtype == DT_F32)
        for (size_t i = 0; i < n; i++)
            ((float *) out->data)[i] = half_round(((float *) out->data)[i]);
    return 0;
}

static int run_rank(struct kernel_call *k, struct why *w)
{
    (void) w;
    *(int32_t *) k->out[0]->data = (int32_t) k->arg[0]->shape.rank;
    return 0;
}

/* ---- rows of tables */

/* Row `from` of a table as row `to` of a result; every row has `bytes`. */
static void copy_row(const struct tensor *table, size_t from, struct tensor *out, size_t to,
                     size_t bytes)
{
    memcpy((uint8_t *) out->data + to * bytes, (const uint8_t *) table->data + from * bytes, bytes);
}

static size_t row_bytes(const struct tensor *table)
{
    return table->shape.dim[0] ? tensor_bytes(table) / table->shape.dim[0] : 0;
}

static int run_embedding(struct kernel_call *k, struct why *w)
{
    const struct tensor *table = k->arg[1];
    const int32_t *lookup = k->arg[0]->data;
    size_t n = tensor_count(k->arg[0]), bytes = row_bytes(table);

    for (size_t i = 0; i < n; i++) {
        if (lookup[i] < 0 || (uint32_t) lookup[i] >= table->shape.dim[0])
            return why_fail(w, WHY_EXECUTION, "row %d of %u", lookup[i], table->shape.dim[0]);
        copy_row(table, (size_t) lookup[i], k->out[0], i, bytes);
    }
    return 0;
}

/* Where a sorted list has the key; -1: it does not. */
static ptrdiff_t find_key(const int32_t *key, size_t n, int32_t wanted)
{
    size_t lo = 0, hi = n;

    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        if (key[middle] < wanted)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo < n && key[lo] == wanted ? (ptrdiff_t) lo : -1;
}

/* What is not found are zeros (the zero point). */
static int run_hashtable(struct kernel_call *k, struct why *w)
{
    const struct tensor *keys = k->arg[1], *values = k->arg[2];
    size_t n = tensor_count(k->arg[0]), bytes = row_bytes(values);
    const int32_t *lookup = k->arg[0]->data;
    uint8_t *hits = k->out[1]->data;

    (void) w;
    for (size_t i = 0; i < n; i++) {
        ptrdiff_t at = find_key(keys->data, tensor_count(keys), lookup[i]);
        hits[i] = at >= 0;
        if (at >= 0)
            copy_row(values, (size_t) at, k->out[0], i, bytes);
        else
            memset((uint8_t *) k->out[0]->data + i * bytes,
                   dtype_info[values->dtype].codec->size == 1 ? values->zero : 0, bytes);
    }
    return 0;
}

#define ANY_TYPE UINT32_MAX

const struct kernel lookup_kernels[] = {
    { "CAST", ANY_TYPE, run_cast },
    { "FILL", ANY_TYPE, run_fill },
    { "RANK", ANY_TYPE, run_rank },
    { "EMBEDDING_LOOKUP", ANY_TYPE, run_embedding },
    { "HASHTABLE_LOOKUP", ANY_TYPE, run_hashtable },
    { NULL },
};
