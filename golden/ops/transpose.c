#include "golden/model/copy_elements.h"
#include "golden/model/op.h"

enum { INPUT, PERM };

static const struct role inputs[] = {
    [INPUT] = { "input", "the tensor", "?", .slot = 0 },
    [PERM] = { "perm",
               "the dimension of the input for each one of the output; omitted: reversed order",
               "R", .slot = FIXED(DT_I32), .optional = true, .placed = true, .draw = DRAW_OP,
               .needs = NEEDS_CONST },
};

static const struct role outputs[] = {
    { "output", "the tensor with its dimensions permuted", "?", .slot = 0, .q = Q_SAME },
};

static const struct form forms[] = {
    { "", { INPUT, PERM, END } },
};

static const struct typing typings[] = {
    { L2, RANKS(1, 4), { DT_F32 } },
    { L2, RANKS(1, 4), { DT_U8 } },
    { L3, RANKS(1, 4), { DT_F16 } },
    { L4, RANKS(1, 4), { DT_S8 } },
};

static int64_t perm_at(const struct call *c, uint32_t i)
{
    const struct tensor *perm = c->in[PERM];

    return perm ? ((const int32_t *) perm->data)[i] : (int64_t) c->in[INPUT]->shape.rank - 1 - i;
}

static int infer(struct call *c, struct why *w)
{
    const struct shape *in = &c->in[INPUT]->shape;
    struct shape *out = &c->out[0]->shape;
    unsigned seen = 0;

    out->rank = in->rank;
    if (!call_known(c, PERM))
        return 0;
    for (uint32_t i = 0; i < in->rank; i++) {
        int64_t p = perm_at(c, i);
        REQUIRE(w, p >= 0 && p < in->rank && !(seen >> p & 1),
                "perm[%u] = %d: must be a permutation of %u dimensions", i, (int) p, in->rank);
        seen |= 1u << p;
        out->dim[i] = in->dim[p];
    }
    return 0;
}

static void move(const struct call *c, const struct movement *m)
{
    const struct shape *in = &c->in[INPUT]->shape, *out = &c->out[0]->shape;
    ptrdiff_t from[MAX_RANK], to[MAX_RANK];
    struct copy_axis box[MAX_RANK];

    element_strides(in, from);
    element_strides(out, to);
    for (uint32_t i = 0; i < out->rank; i++)
        box[i] = (struct copy_axis){ out->dim[i], from[perm_at(c, i)], to[i] };
    copy_elements(m->size, box, out->rank, m->from[INPUT], m->to[0]);
}

static bool draw(const struct call *c, int role, struct drawer *d, struct tensor *to)
{
    uint32_t rank = c->in[INPUT]->shape.rank;
    int32_t *perm = to->data;

    (void) role;
    to->shape = (struct shape){ 1, { rank } };
    for (uint32_t i = 0; i < rank; i++) {
        uint32_t j = d->below(d, i + 1);
        perm[i] = perm[j];
        perm[j] = (int32_t) i;
    }
    return true;
}

const struct op op_TRANSPOSE = {
    .code = OP_TRANSPOSE,
    .name = "TRANSPOSE",
    .summary = "Permutes the dimensions.",
    .formula = "output[i_0, .., i_n] = input[j_0, .., j_n], where j_perm[k] = i_k",
    .since = L2,
    .in = inputs,
    .n_in = COUNT(inputs),
    .out = outputs,
    .n_out = COUNT(outputs),
    .forms = forms,
    .n_forms = COUNT(forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .takes_empty = ROLE_BIT(INPUT),
    .fails_above = ROLE_BIT(PERM),
    .fails_below = ROLE_BIT(PERM),
    .error = { ERROR_EXACT, .text = "the errors of the elements move with them" },
    .infer = infer,
    .move = move,
    .draw = draw,
};
