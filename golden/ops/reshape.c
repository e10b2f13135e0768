#include <string.h>

#include "golden/model/op.h"

enum { INPUT, SHAPE };

static const struct role inputs[] = {
    [INPUT] = { "input", "the tensor", "?", .slot = 0 },
    [SHAPE] = { "shape", "dimensions of the output; one may be -1: computed from the others", "r",
                .slot = FIXED(DT_I32), .draw = DRAW_OP, .needs = NEEDS_CONST },
};

static const struct role outputs[] = {
    { "output", "the same elements in the same order", "?", .slot = 0, .q = Q_SAME },
};

static const struct form forms[] = {
    { "", { INPUT, SHAPE, END } },
};

static const struct typing typings[] = {
    { L1, RANKS(1, 4), { DT_F32 } }, { L1, RANKS(1, 4), { DT_U8 } },
    { L3, RANKS(1, 4), { DT_F16 } }, { L4, RANKS(1, 4), { DT_S8 } },
    { L6, RANKS(1, 4), { DT_I32 } },
};

/* Reads the dimensions into s.  *ret_rest: the index of the one that is -1, or -1; *ret_count: the
 * product of the others. */
static int read_shape(const struct tensor *t, struct shape *s, int *ret_rest, uint64_t *ret_count,
                      struct why *w)
{
    const int32_t *dims = t->data;
    uint64_t count = 1;
    int rest = -1;

    for (uint32_t i = 0; i < s->rank; i++) {
        REQUIRE(w, dims[i] >= -1, "shape[%u] is %d: must be at least -1", i, dims[i]);
        REQUIRE(w, dims[i] != -1 || rest < 0, "shape[%d] and shape[%u] are both -1", rest, i);
        if (dims[i] == -1)
            rest = (int) i;
        else
            count *= (uint32_t) (s->dim[i] = (uint32_t) dims[i]);
        REQUIRE(w, count <= UINT32_MAX, "the shape has too many elements");
    }
    *ret_rest = rest;
    *ret_count = count;
    return 0;
}

static int infer(struct call *c, struct why *w)
{
    const struct tensor *shape = c->in[SHAPE];
    size_t have = tensor_count(c->in[INPUT]);
    struct shape out = { .rank = shape->shape.dim[0] };
    uint64_t count = 1;
    int rest = -1;

    REQUIRE(w, out.rank >= 1 && out.rank <= MAX_RANK, "shape gives rank %u", out.rank);
    if (!call_known(c, SHAPE)) {
        c->out[0]->shape = out;
        return 0;
    }
    TRY(read_shape(shape, &out, &rest, &count, w));
    if (rest >= 0) {
        REQUIRE(w, count > 0 && have % count == 0,
                "%zu elements: shape[%d] cannot be computed, the other dimensions have %llu", have,
                rest, (unsigned long long) count);
        out.dim[rest] = (uint32_t) (have / count);
        count *= out.dim[rest];
    }
    REQUIRE(w, count == have, "%zu elements do not fit a shape of %llu", have,
            (unsigned long long) count);
    c->out[0]->shape = out;
    return 0;
}

static void move(const struct call *c, const struct movement *m)
{
    memcpy(m->to[0], m->from[INPUT], tensor_count(c->in[INPUT]) * m->size);
}

/* Draws a factorisation of the number of elements: multiplies its prime factors into random
 * dimensions. */
static bool draw(const struct call *c, int role, struct drawer *d, struct tensor *to)
{
    size_t left = tensor_count(c->in[INPUT]);
    uint32_t rank = 1 + d->below(d, 4);
    int32_t *dims = to->data;

    (void) role;
    to->shape = (struct shape){ 1, { rank } };
    for (uint32_t i = 0; i < rank; i++)
        dims[i] = 1;
    for (size_t p = 2; left > 1; p++) {
        p = p * p > left ? left : p;
        for (; left % p == 0; left /= p)
            dims[d->below(d, rank)] *= (int32_t) p;
    }
    if (d->below(d, 3) == 0)
        dims[d->below(d, rank)] = -1;
    return true;
}

const struct op op_RESHAPE = {
    .code = OP_RESHAPE,
    .name = "RESHAPE",
    .summary = "Changes the shape; the elements and their order stay the same.",
    .formula = "output[i] = input[i], i counting elements in row-major order",
    .since = L1,
    .in = inputs,
    .n_in = COUNT(inputs),
    .out = outputs,
    .n_out = COUNT(outputs),
    .forms = forms,
    .n_forms = COUNT(forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .fails_above = ROLE_BIT(SHAPE),
    .error = { ERROR_EXACT, .text = "the errors of the elements move with them" },
    .infer = infer,
    .move = move,
    .draw = draw,
};
