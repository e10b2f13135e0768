#include "golden/model/copy_elements.h"
#include "golden/model/op.h"

enum { AXIS, INPUTS };

static const struct role inputs[] = {
    [AXIS] = { "axis", "index of the new dimension in the output", .slot = FIXED(DT_INT32),
               .draw = DRAW_OP, .needs = NEEDS_CONST },
    [INPUTS] = { "inputs", "tensors of one shape", "*", .slot = 0, .many = true, .q = Q_LIKE,
                 .qlike = INPUTS },
};

static const struct role outputs[] = {
    { "output", "the inputs, one after the other along the new dimension", "?", .slot = 0,
      .q = Q_LIKE, .qlike = INPUTS },
};

static const struct form forms[] = {
    { "", { AXIS, INPUTS, END } },
};

static const struct typing typings[] = {
    { L6, RANKS(1, MAX_RANK - 1), { DT_F32 } }, { L6, RANKS(1, MAX_RANK - 1), { DT_F16 } },
    { L6, RANKS(1, MAX_RANK - 1), { DT_I32 } }, { L6, RANKS(1, MAX_RANK - 1), { DT_U8 } },
    { L6, RANKS(1, MAX_RANK - 1), { DT_S8 } },
};

static int infer(struct call *c, struct why *w)
{
    const struct shape *in = &c->in[INPUTS]->shape;
    struct shape *out = &c->out[0]->shape;

    REQUIRE(w, in->rank >= 1 && in->rank < MAX_RANK, "inputs of rank %u", in->rank);
    out->rank = in->rank + 1;
    if (!call_known(c, AXIS))
        return 0;
    int32_t axis = call_int(c, AXIS);
    REQUIRE(w, axis >= 0 && axis <= (int32_t) in->rank, "axis %d is outside the output's rank %u",
            axis, out->rank);
    for (uint32_t i = 0; i < out->rank; i++)
        out->dim[i] = i == (uint32_t) axis ? c->n_many : in->dim[i - (i > (uint32_t) axis)];
    return 0;
}

static void move(const struct call *c, const struct movement *m)
{
    const struct shape *in = &c->in[INPUTS]->shape;
    uint32_t axis = (uint32_t) call_int(c, AXIS);
    size_t outer = element_count(in, 0, axis), run = element_count(in, axis, in->rank);
    ptrdiff_t row = (ptrdiff_t) (run * c->n_many);
    struct copy_axis box[] = { { outer, (ptrdiff_t) run, row }, { run, 1, 1 } };

    for (uint32_t i = 0; i < c->n_many; i++)
        copy_elements(m->size, box, 2, m->from[c->many_at + i],
                      (char *) m->to[0] + i * run * m->size);
}

/* The inputs may be drawn after the axis, which is then valid for most ranks. */
static bool draw(const struct call *c, int role, struct drawer *d, struct tensor *to)
{
    uint32_t rank = c->in[INPUTS] ? c->in[INPUTS]->shape.rank : 3;

    (void) role;
    *(int32_t *) to->data = (int32_t) d->below(d, rank + 1);
    return true;
}

const struct op op_PACK = {
    .code = OP_PACK,
    .name = "PACK",
    .summary = "Joins tensors of one shape along a new dimension.",
    .formula = "output[.., k, ..] = input_k[.., ..]",
    .since = L6,
    .in = inputs,
    .n_in = COUNT(inputs),
    .out = outputs,
    .n_out = COUNT(outputs),
    .forms = forms,
    .n_forms = COUNT(forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .fails_above = ROLE_BIT(AXIS),
    .fails_below = ROLE_BIT(AXIS),
    .error = { ERROR_EXACT, .text = "the errors of the elements move with them" },
    .infer = infer,
    .move = move,
    .draw = draw,
};
