#include <string.h>

#include "golden/base/arena.h"
#include "golden/judge/bounds.h"
#include "golden/math/farmhash.h"

enum { HASH, INPUT, WEIGHTS, TYPE };
enum { SPARSE_OLD = 1, DENSE, SPARSE };
enum { MAX_BITS = 32 };

static const struct role inputs[] = {
    [HASH] = { "hash", "seeds: a row for each hash function, a column for each of its bits", "hb",
               .slot = 0, .draw = DRAW_SHAPE },
    [INPUT] = { "input", "items along the first dimension; their stored bytes are hashed", "?",
                .slot = 1, .unrestricted = true },
    [WEIGHTS] = { "weights", "of the items; omitted: all 1", "n", .slot = 0, .optional = true,
                  .draw = DRAW_SHAPE },
    [TYPE] = { "type", "1 sparse without offsets (deprecated), 2 dense, 3 sparse",
               .slot = FIXED(DT_INT32), .draw = DRAW_OP, .needs = NEEDS_CONST },
};

static const struct role outputs[] = {
    { "output", "sparse: [h], one number per hash function; dense: [h * b], its bits", "?",
      .slot = FIXED(DT_I32) },
};

static const struct form forms[] = {
    { "", { HASH, INPUT, WEIGHTS, TYPE, END } },
};

static const struct typing typings[] = {
    /* since, ranks, hash and weights, input */
    { L1, RANK(2), { DT_F32, DT_F32 } }, { L1, RANK(2), { DT_F32, DT_I32 } },
    { L1, RANK(2), { DT_F32, DT_U8 } },  { L3, RANK(2), { DT_F32, DT_F16 } },
    { L3, RANK(2), { DT_F16, DT_F32 } }, { L3, RANK(2), { DT_F16, DT_I32 } },
    { L3, RANK(2), { DT_F16, DT_U8 } },  { L3, RANK(2), { DT_F16, DT_F16 } },
};

static int infer(struct call *c, struct why *w)
{
    uint64_t hashes = c->letter['h'], bits = c->letter['b'];
    const struct shape *in = &c->in[INPUT]->shape;
    struct shape *out = &c->out[0]->shape;

    REQUIRE(w, bits <= MAX_BITS, "a hash of %d bits, must be at most %d", (int) bits, MAX_BITS);
    REQUIRE(w, in->rank >= 1, "input has rank 0, must be at least 1");
    if (c->in[WEIGHTS])
        REQUIRE(w, c->in[WEIGHTS]->shape.dim[0] == in->dim[0], "%u weights for %u items",
                c->in[WEIGHTS]->shape.dim[0], in->dim[0]);
    out->rank = 1;
    if (!call_known(c, TYPE))
        return 0;
    int32_t type = call_int(c, TYPE);
    REQUIRE(w, type >= SPARSE_OLD && type <= SPARSE, "type is %d", type);
    uint64_t n = type == DENSE ? hashes * bits : hashes;
    REQUIRE(w, n <= UINT32_MAX, "%llu hash bits are too many", (unsigned long long) n);
    out->dim[0] = (uint32_t) n;
    return 0;
}

/* The items to hash; a key is the seed followed by the bytes of the item. */
struct items {
    size_t n, bytes; /* number of items, bytes of each */
    const unsigned char *data;
    unsigned char *key; /* room for a seed and an item */
};

static int items_of(const struct call *c, struct items *ret_items, struct why *w)
{
    const struct tensor *in = c->in[INPUT];
    size_t n = in->shape.dim[0], bytes = n ? tensor_bytes(in) / n : 0;
    unsigned char *key = arena_alloc_raw(c->scratch, sizeof(float) + bytes, 1);

    if (!key)
        return why_no_memory_for(w, "%s: an item of %zu bytes", c->op->name, bytes);
    *ret_items = (struct items){ n, bytes, in->data, key };
    return 0;
}

/* A hash bit is the sign of the weighted sum of the items' fingerprints. */
struct score {
    double sum, size, error; /* size: sum of the terms' magnitudes; error: due to the weights' */
};

static struct score score_of(const struct call *c, const struct items *items, double seed)
{
    const double *weight = c->in[WEIGHTS] ? c->x[WEIGHTS] : NULL;
    const double *off = c->in[WEIGHTS] ? c->ex[WEIGHTS] : NULL;
    float stored = (float) seed;
    struct score s = { 0 };

    memcpy(items->key, &stored, sizeof stored);
    for (size_t i = 0; i < items->n; i++) {
        memcpy(items->key + sizeof stored, items->data + i * items->bytes, items->bytes);
        double print = (double) (int64_t) farmhash64(items->key, sizeof stored + items->bytes);
        double term = print * (weight ? weight[i] : 1);
        s.sum += term;
        s.size += fabs(term);
        s.error += off ? fabs(print) * off[i] : 0;
    }
    return s;
}

static int eval(struct call *c, struct why *w)
{
    size_t hashes = c->letter['h'], bits = c->letter['b'];
    int32_t type = call_int(c, TYPE);
    struct items items;
    double *y = c->y[0];

    TRY(items_of(c, &items, w));
    for (size_t h = 0; h < hashes; h++) {
        uint64_t signature = type == SPARSE ? (uint64_t) h : 0;
        for (size_t b = 0; b < bits; b++) {
            bool bit = score_of(c, &items, c->x[HASH][h * bits + b]).sum > 0;
            signature = signature << 1 | bit;
            if (type == DENSE)
                y[h * bits + b] = bit;
        }
        if (type != DENSE) /* 32 bits, that wrap */
            y[h] = (int32_t) (uint32_t) signature;
    }
    return 0;
}

/* Whether the items are certain: not if they have errors, or zeros, whose sign an operation before
 * this one may compute either way. */
static bool has_exact_items(const struct call *c)
{
    const struct tensor *in = c->in[INPUT];
    size_t n = dtype_info[in->dtype].codec->integer ? 0 : tensor_count(in);

    for (size_t k = 0; k < n; k++)
        if (tensor_at(in, k) == 0)
            return false;
    return !c->ex[INPUT];
}

/* Whether the bit is certain: an inexact seed or item may have any fingerprint, a sum within its
 * error of zero either sign. */
static bool is_decided(const struct call *c, const struct items *items, double seed)
{
    struct score s = score_of(c, items, seed);
    double doubt = s.error + bound_sum(c, items->n, s.size);

    return !c->ex[HASH] && seed != 0 && (doubt == 0 || fabs(s.sum) > doubt);
}

static int bound(struct call *c, struct why *w)
{
    size_t hashes = c->letter['h'], bits = c->letter['b'];
    bool dense = call_int(c, TYPE) == DENSE, exact = has_exact_items(c);
    struct items items;

    TRY(items_of(c, &items, w));
    for (size_t h = 0; h < hashes; h++)
        for (size_t b = 0; b < bits; b++) {
            bool decided = exact && is_decided(c, &items, c->x[HASH][h * bits + b]);
            if (dense)
                c->ey[0][h * bits + b] = decided ? 0 : 1;
            else if (!decided)
                c->ey[0][h] += ldexp(1, (int) (bits - 1 - b));
        }
    return 0;
}

static bool draw(const struct call *c, int role, struct drawer *d, struct tensor *to)
{
    if (role == HASH)
        to->shape = (struct shape){ 2, { 1 + d->size(d, 3), 3 + d->below(d, 6) } };
    else if (role == WEIGHTS)
        to->shape = (struct shape){ 1, { c->in[INPUT]->shape.dim[0] } };
    else
        *(int32_t *) to->data = SPARSE_OLD + (int32_t) d->below(d, 3);
    return true;
}

const struct op op_LSH_PROJECTION = {
    .code = OP_LSH_PROJECTION,
    .name = "LSH_PROJECTION",
    .summary = "Locality-sensitive hashes of a list of items.",
    .formula = "bit[h,b] = (sum_i weights[i] * F(hash[h,b], input[i, ..])) > 0, F the FarmHash "
               "fingerprint of the seed in single precision and the item's bytes, as a signed "
               "64-bit integer; sparse: output[h] = h * 2^bits + bits as a binary number, the "
               "first one highest",
    .since = L1,
    .in = inputs,
    .n_in = COUNT(inputs),
    .out = outputs,
    .n_out = COUNT(outputs),
    .forms = forms,
    .n_forms = COUNT(forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .error = { ERROR_DISCRETE,
               .text = "exact unless seeds or items have errors, or a sum's sign is in doubt" },
    .infer = infer,
    .eval = eval,
    .bound = bound,
    .draw = draw,
};
