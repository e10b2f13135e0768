#include "harness/check/input_values.h"

#include "randgraph/randgraph.h"

/* FNV-1a */
static uint64_t hash_name(const char *name)
{
    uint64_t hash = 0xcbf29ce484222325u;
    for (; *name; name++)
        hash = (hash ^ (unsigned char) *name) * 0x100000001b3u;
    return hash;
}

static double draw_value(struct rng *r, const struct tensor *t)
{
    const struct dtype_info *d = &dtype_info[t->dtype];
    if (d->codec->max == 1 && d->codec->integer) /* BOOL */
        return rng_below(r, 2);
    if (!d->codec->integer)
        return 2 * rng_unit(r) - 1;
    if (t->scale == 0)
        return rng_below(r, 10);
    double range = d->codec->max - d->codec->min + 1;
    double q = d->codec->min + (double) rng_below(r, (uint32_t) range);
    return (double) t->scale * (q - t->zero);
}

static int fill_one(struct rng *r, struct tensor *t, struct arena *arena, struct why *w)
{
    for (uint32_t d = 0; d < t->shape.rank; d++)
        if (!t->shape.dim[d])
            t->shape.dim[d] = 1;
    REQUIRE(w, dtype_find((int32_t) t->dtype), "an input has the unknown type %d", (int) t->dtype);
    if (shape_check_size(&t->shape, dtype_info[t->dtype].codec->size) < 0)
        return why_fail(w, WHY_INVALID, "an input has more than 4 GiB");
    size_t n = tensor_count(t);
    t->data = arena_alloc(arena, tensor_bytes(t), 1);
    struct arena_mark mark = arena_mark(arena);
    double *value = arena_alloc(arena, n, sizeof *value);
    if (!t->data || !value)
        return why_no_memory_for(w, "an input of %zu elements", n);
    for (size_t i = 0; i < n; i++)
        value[i] = draw_value(r, t);
    tensor_narrow(value, t);
    arena_rewind(arena, mark);
    return 0;
}

int inputs_generate(const char *name, struct tensor *in, uint32_t n, struct arena *arena,
                    struct why *w)
{
    for (uint32_t i = 0; i < n; i++) {
        struct rng r;
        rng_seed(&r, hash_name(name), i);
        if (!in[i].data)
            TRY(fill_one(&r, &in[i], arena, w));
    }
    return 0;
}
