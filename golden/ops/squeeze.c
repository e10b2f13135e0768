#include <string.h>

#include "golden/model/op.h"

enum { INPUT, DIMS };

static const struct role inputs[] = {
    [INPUT] = { "input", "the tensor", "?", .slot = 0 },
    [DIMS] = { "dims", "dimensions of size 1 to remove; omitted or empty: all of them", "d",
               .slot = FIXED(DT_I32), .optional = true, .placed = true, .draw = DRAW_OP,
               .needs = NEEDS_CONST },
};

static const struct role outputs[] = {
    { "output", "the same elements; shape [1] if no dimension remains", "?", .slot = 0,
      .q = Q_SAME },
};

static const struct form forms[] = {
    { "", { INPUT, DIMS, END } },
};

static const struct typing typings[] = {
    { L2, RANKS(1, 4), { DT_F32 } },
    { L2, RANKS(1, 4), { DT_U8 } },
    { L3, RANKS(1, 4), { DT_F16 } },
    { L4, RANKS(1, 4), { DT_S8 } },
};

/* *ret_gone: bit i set if dimension i is removed. */
static int removed(const struct call *c, unsigned *ret_gone, struct why *w)
{
    const struct shape *s = &c->in[INPUT]->shape;
    const struct tensor *dims = c->in[DIMS];
    size_t n = dims ? tensor_count(dims) : 0;
    unsigned gone = 0;

    for (uint32_t i = 0; n == 0 && i < s->rank; i++)
        gone |= s->dim[i] == 1 ? 1u << i : 0;
    for (size_t k = 0; k < n; k++) {
        int32_t given = ((const int32_t *) dims->data)[k];
        int32_t i = given < 0 ? given + (int32_t) s->rank : given;
        REQUIRE(w, i >= 0 && i < (int32_t) s->rank, "dimension %d is outside rank %u", given,
                s->rank);
        REQUIRE(w, s->dim[i] == 1, "dimension %d has size %u, must have 1", given, s->dim[i]);
        gone |= 1u << i;
    }
    *ret_gone = gone;
    return 0;
}

static int infer(struct call *c, struct why *w)
{
    const struct shape *s = &c->in[INPUT]->shape;
    struct shape out = { 0 };
    unsigned gone = 0;

    if (!call_known(c, DIMS))
        return 0;
    TRY(removed(c, &gone, w));
    for (uint32_t i = 0; i < s->rank; i++)
        if (!(gone >> i & 1))
            out.dim[out.rank++] = s->dim[i];
    if (out.rank == 0)
        out = (struct shape){ 1, { 1 } };
    c->out[0]->shape = out;
    return 0;
}

static void move(const struct call *c, const struct movement *m)
{
    memcpy(m->to[0], m->from[INPUT], tensor_count(c->in[INPUT]) * m->size);
}

/* Draws some of the dimensions of size 1, at least one. */
static bool draw(const struct call *c, int role, struct drawer *d, struct tensor *to)
{
    const struct shape *s = &c->in[INPUT]->shape;
    int32_t *dims = to->data;
    uint32_t ones = 0, n = 0;

    (void) role;
    for (uint32_t i = 0; i < s->rank; i++)
        ones += s->dim[i] == 1;
    if (ones == 0)
        return false;
    uint32_t always = d->below(d, ones);
    for (uint32_t i = 0, one = 0; i < s->rank; i++)
        if (s->dim[i] == 1 && (one++ == always || d->below(d, 2)))
            dims[n++] = (int32_t) i - (d->below(d, 2) ? (int32_t) s->rank : 0);
    if (d->below(d, 8) == 0) { /* one of them twice */
        dims[n] = dims[d->below(d, n)];
        n++;
    }
    to->shape = (struct shape){ 1, { n } };
    return true;
}

const struct op op_SQUEEZE = {
    .code = OP_SQUEEZE,
    .name = "SQUEEZE",
    .summary = "Removes dimensions of size 1.",
    .formula = "output[i] = input[i], i counting elements in row-major order",
    .since = L2,
    .in = inputs,
    .n_in = COUNT(inputs),
    .out = outputs,
    .n_out = COUNT(outputs),
    .forms = forms,
    .n_forms = COUNT(forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .fails_above = ROLE_BIT(DIMS),
    .error = { ERROR_EXACT, .text = "the errors of the elements move with them" },
    .infer = infer,
    .move = move,
    .draw = draw,
};
