/* Kernels that convert, fill, select, look up and hash: the same on every device. */
#include <math.h>
#include <string.h>

#include "golden/math/farmhash.h"
#include "sim/kernels/half.h"
#include "sim/kernels/kernel.h"

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

/* CAST converts stored values without their quantisation; between equal types it copies bytes. */
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
        convert(kernel_stored_value(x, i), out, i);
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

void kernel_select(const struct kernel_call *k)
{
    struct tensor *out = k->out[0];
    const uint8_t *condition = k->arg[0]->data;
    size_t size = dtype_info[out->dtype].codec->size, n = tensor_count(out);

    for (size_t i = 0; i < n; i++)
        memcpy((uint8_t *) out->data + i * size,
               (const uint8_t *) k->arg[condition[i] ? 1 : 2]->data + i * size, size);
}

/* ---- rows of tables */

static size_t row_bytes(const struct tensor *table)
{
    return table->shape.dim[0] ? tensor_bytes(table) / table->shape.dim[0] : 0;
}

/* Index of the key in a sorted list, or -1. */
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

/* HASHTABLE_LOOKUP: the row of a missing key is filled with zero bytes, also if the zero point is
 * not 0. */
static int run_hashtable(struct kernel_call *k, struct why *w)
{
    const struct tensor *keys = k->arg[1], *values = k->arg[2];
    size_t n = tensor_count(k->arg[0]), bytes = row_bytes(values);
    const int32_t *lookup = k->arg[0]->data;
    uint8_t *hits = k->out[1]->data;

    (void) w;
    for (size_t i = 0; i < n; i++) {
        ptrdiff_t at = find_key(keys->data, tensor_count(keys), lookup[i]);
        uint8_t *row = (uint8_t *) k->out[0]->data + i * bytes;
        hits[i] = at >= 0;
        if (at >= 0)
            memcpy(row, (const uint8_t *) values->data + (size_t) at * bytes, bytes);
        else
            memset(row, 0, bytes);
    }
    return 0;
}

/* ---- hashing */

/* One bit of a signature: the sign of the weighted sum of the items' hashes under a seed. */
static bool hash_bit(const struct tensor *items, const float *weight, float seed, uint8_t *key)
{
    size_t n = items->shape.dim[0], bytes = row_bytes(items);
    float sum = 0;

    memcpy(key, &seed, sizeof(seed));
    for (size_t i = 0; i < n; i++) {
        memcpy(key + sizeof(seed), (const uint8_t *) items->data + i * bytes, bytes);
        sum += (float) (int64_t) farmhash64(key, sizeof(seed) + bytes) * (weight ? weight[i] : 1);
    }
    return sum > 0;
}

/* LSH_PROJECTION.  Type 2 (dense): a result per bit; 1 and 3 (sparse): a result per hash function,
 * in type 3 with function << bits added. */
static int run_lsh(struct kernel_call *k, struct why *w)
{
    const struct tensor *hash = k->arg[0], *items = k->arg[1],
                        *weights = kernel_in(k, ROLE_WEIGHTS);
    uint32_t functions = hash->shape.dim[0], bits = hash->shape.dim[1];
    uint8_t *key = arena_alloc_raw(k->scratch, sizeof(float) + row_bytes(items), 1);
    float *weight =
        weights ? arena_alloc(k->scratch, tensor_count(weights) + 1, sizeof(*weight)) : NULL;
    int32_t type = kernel_int(k, ROLE_TYPE, 2), *y = k->out[0]->data;

    if (!key || (weights && !weight))
        return why_no_memory(w);
    for (size_t i = 0; weights && i < tensor_count(weights); i++)
        weight[i] = (float) kernel_stored_value(weights, i);
    for (uint32_t f = 0; f < functions; f++) {
        uint64_t signature = type == 3 ? f : 0;
        for (uint32_t b = 0; b < bits; b++) {
            float seed = (float) kernel_stored_value(hash, (size_t) f * bits + b);
            bool bit = hash_bit(items, weight, seed, key);
            signature = signature << 1 | bit;
            if (type == 2)
                *y++ = bit;
        }
        if (type != 2)
            *y++ = (int32_t) (uint32_t) signature;
    }
    return 0;
}

#define ANY_TYPE UINT32_MAX

static const struct kernel_roles lsh_roles = { .role = { ROLE_WEIGHTS, ROLE_TYPE } };

const struct device_kernel lookup_kernels[] = {
    { "CAST", ANY_TYPE, run_cast },
    { "FILL", ANY_TYPE, run_fill },
    { "RANK", ANY_TYPE, run_rank },
    { "LSH_PROJECTION", FLOATS, run_lsh, &lsh_roles },
    { "HASHTABLE_LOOKUP", ANY_TYPE, run_hashtable },
    { NULL },
};
