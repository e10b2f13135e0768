/* A graph under construction: its operands with their values, and its operations. */
#include <math.h>
#include <string.h>

#include "golden/math/vector_loop.h"
#include "randgraph/randgraph_internal.h"

enum { BLOCK = 256 }; /* elements that are widened at a time */

struct graph_value *graph_value_new(struct builder *b, enum dtype dtype, enum lifetime life)
{
    struct graph_value *k = arena_alloc(b->arena, 1, sizeof *k);

    if (k) {
        k->t.dtype = dtype;
        k->life = life;
        k->at = NO_INDEX;
    }
    return k;
}

int graph_value_allocate(struct builder *b, struct graph_value *k)
{
    k->t.data = arena_alloc_raw(b->arena, tensor_bytes(&k->t) + 1, 1);
    return k->t.data ? 0 : -1;
}

/* Smallest and largest stored element as numbers.  Elements are compared as they are stored: floats
 * as integers, which have the same order once the bits of negative ones are inverted, NaN of either
 * sign beyond infinity, and -0 below +0.  Compilers vectorise minima of integers, but not those of
 * doubles. */
struct extent {
    double lo, hi;
};

/* flip: the bits that are inverted in negative elements */
#define EXTENT(id, type, largest, flip)                                                            \
    static inline type order_##id(type bits)                                                       \
    {                                                                                              \
        return (type) (bits ^ (bits >> (8 * sizeof(type) - 1) & flip));                            \
    }                                                                                              \
    VECTOR_LOOP static void ends_##id(const type *from, size_t n, type *ret_lo, type *ret_hi)      \
    {                                                                                              \
        type lo = largest, hi = (type) ~largest;                                                   \
        for (size_t i = 0; i < n; i++) {                                                           \
            type v = order_##id(from[i]);                                                          \
            lo = v < lo ? v : lo;                                                                  \
            hi = v > hi ? v : hi;                                                                  \
        }                                                                                          \
        *ret_lo = order_##id(lo);                                                                  \
        *ret_hi = order_##id(hi);                                                                  \
    }                                                                                              \
    static void extent_##id(const struct tensor *t, size_t n, struct extent *ret_extent)           \
    {                                                                                              \
        const struct codec *k = dtype_info[t->dtype].codec;                                        \
        const double step = tensor_step(t, 0);                                                     \
        type lo, hi;                                                                               \
        ends_##id(t->data, n, &lo, &hi);                                                           \
        k->widen(&lo, 1, t->zero, step, &ret_extent->lo);                                          \
        k->widen(&hi, 1, t->zero, step, &ret_extent->hi);                                          \
    }

EXTENT(u8, uint8_t, UINT8_MAX, 0)
EXTENT(s8, int8_t, INT8_MAX, 0)
EXTENT(u16, uint16_t, UINT16_MAX, 0)
EXTENT(s16, int16_t, INT16_MAX, 0)
EXTENT(s32, int32_t, INT32_MAX, 0)
EXTENT(f16, int16_t, INT16_MAX, INT16_MAX)
EXTENT(f32, int32_t, INT32_MAX, INT32_MAX)
#undef EXTENT

/* Integers whose order is not that of their numbers (scales of channels), or of rare types. */
static void extent_other(const struct tensor *t, size_t n, struct extent *ret_extent)
{
    struct extent e = { INFINITY, -INFINITY };
    double x[BLOCK];

    for (size_t at = 0; at < n; at += BLOCK) {
        size_t run = n - at < BLOCK ? n - at : BLOCK;
        tensor_widen_part(t, at, run, x);
        for (size_t i = 0; i < run; i++) {
            e.lo = x[i] < e.lo ? x[i] : e.lo;
            e.hi = x[i] > e.hi ? x[i] : e.hi;
        }
    }
    *ret_extent = e;
}

typedef void extent_function(const struct tensor *t, size_t n, struct extent *ret_extent);

static extent_function *extent_of(const struct tensor *t)
{
    const struct codec *k = dtype_info[t->dtype].codec;
    bool negative = k->min < 0;

    if (t->channel_scale || k->size > 4 || k->size == 0)
        return extent_other;
    if (!k->integer)
        return k->size == 2 ? extent_f16 : extent_f32;
    if (k->size == 4)
        return negative ? extent_s32 : extent_other;
    if (k->size == 2)
        return negative ? extent_s16 : extent_u16;
    return negative ? extent_s8 : extent_u8;
}

void graph_value_measure(struct graph_value *k)
{
    const size_t n = tensor_count(&k->t);
    struct extent e = { 0, 0 };

    if (n)
        extent_of (&k->t)(&k->t, n, &e);
    k->measured = true;
    k->lo = isnan(e.lo) || isnan(e.hi) ? -INFINITY : e.lo;
    k->hi = isnan(e.lo) || isnan(e.hi) ? INFINITY : e.hi;
}

double graph_value_least(const struct graph_value *k)
{
    const size_t n = k->measured ? tensor_count(&k->t) : 0;
    double least = k->measured ? INFINITY : 0, x[BLOCK];

    for (size_t at = 0; at < n; at += BLOCK) {
        size_t run = n - at < BLOCK ? n - at : BLOCK;
        tensor_widen_part(&k->t, at, run, x);
        for (size_t i = 0; i < run; i++)
            least = fabs(x[i]) < least ? fabs(x[i]) : least;
    }
    return least;
}

/* Makes room for one more entry in a list that grows by doubling; the old one stays in the arena.
 */
static int make_room(struct arena *a, void **list, uint32_t n, uint32_t *most, size_t size)
{
    if (n < *most)
        return 0;
    uint32_t more = *most ? 2 * *most : 64;
    void *to = arena_alloc_raw(a, more, size);
    if (!to)
        return -1;
    if (n)
        memcpy(to, *list, n * size);
    *list = to;
    *most = more;
    return 0;
}

static uint32_t *operand_list(struct builder *b, struct graph_value *const *k, uint32_t n)
{
    uint32_t *list = arena_alloc_raw(b->arena, n + 1, sizeof *list);

    for (uint32_t i = 0; list && i < n; i++) {
        if (k[i]->at == NO_INDEX && builder_add(b, k[i]) < 0)
            return NULL;
        list[i] = (uint32_t) k[i]->at;
    }
    return list;
}

bool graph_value_empty(const struct graph_value *k)
{
    return dtype_info[k->t.dtype].tensor && tensor_count(&k->t) == 0;
}

bool graph_value_usable(const struct builder *b, const struct graph_value *k)
{
    static const double limit = 32768;

    if (k->t.dtype == DT_F16)
        return k->nonfinite || (k->lo >= -fp16_limit && k->hi <= fp16_limit);
    if (k->t.dtype == DT_F32)
        return k->nonfinite || (k->lo >= -b->limit && k->hi <= b->limit);
    if (k->t.dtype != DT_I32)
        return true;
    return k->t.scale == 0 && (b->nonfinite || (k->lo >= -limit && k->hi <= limit));
}

/* Whether later operations may read it: a tensor that is not constant, within a safe range. */
static bool is_live(const struct builder *b, const struct graph_value *k)
{
    const struct dtype_info *info = &dtype_info[k->t.dtype];

    if (!info->tensor || (k->life != LIFE_INPUT && !k->result) || k->random)
        return false;
    return graph_value_usable(b, k);
}

int builder_add(struct builder *b, struct graph_value *k)
{
    void *known = b->known, *live = b->live;

    if (make_room(b->arena, &known, b->n_graph_values, &b->max_graph_values, sizeof *b->known) <
            0 ||
        make_room(b->arena, &live, b->n_live, &b->max_live, sizeof *b->live) < 0)
        return -1;
    b->known = known;
    b->live = live;
    k->at = (int32_t) b->n_graph_values;
    b->known[b->n_graph_values++] = k;
    if (is_live(b, k))
        b->live[b->n_live++] = k;
    return 0;
}

int builder_operation(struct builder *b, const struct op *op, struct graph_value *const *in,
                      uint32_t n_in, struct graph_value *const *out, uint32_t n_out)
{
    void *list = b->operation;
    struct operation o = { op->code, n_in, n_out, operand_list(b, in, n_in),
                           operand_list(b, out, n_out) };

    if (!o.in || !o.out ||
        make_room(b->arena, &list, b->n_operations, &b->max_operations, sizeof o) < 0)
        return -1;
    b->operation = list;
    b->operation[b->n_operations++] = o;
    for (uint32_t i = 0; i < n_in; i++)
        in[i]->uses++;
    return 0;
}

struct builder builder_for_subgraph(const struct builder *parent)
{
    struct builder b = *parent;

    b.depth++;
    b.known = b.live = NULL;
    b.n_graph_values = b.max_graph_values = b.n_live = b.max_live = 0;
    b.operation = NULL;
    b.n_operations = b.max_operations = 0;
    return b;
}
