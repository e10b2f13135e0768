#include "golden/mover.h"
#include "golden/op.h"

enum { INPUT, PADDINGS };

static const struct role inputs[] = {
    [INPUT] = { "input", "the tensor", "?", .slot = 0 },
    [PADDINGS] = { "paddings", "how many zeros before and after, for each dimension", "R2",
                   .slot = FIXED(DT_I32), .draw = DRAW_OP, .needs = NEEDS_CONST },
};

static const struct role outputs[] = {
    { "output", "the input with real zeros around it", "?", .slot = 0, .q = Q_SAME },
};

static const struct form forms[] = {
    { "", { INPUT, PADDINGS, END } },
};

static const struct typing typings[] = {
    { L2, RANKS(1, 4), { DT_F32 } },
    { L2, RANKS(1, 4), { DT_U8 } },
    { L3, RANKS(1, 4), { DT_F16 } },
    { L4, RANKS(1, 4), { DT_S8 } },
};

static int infer(struct call *c, struct why *w)
{
    const struct tensor *in = c->in[INPUT];
    const int32_t *pad = c->in[PADDINGS]->data;
    struct shape *out = &c->out[0]->shape;

    if (in->dtype == DT_U8 && in->zero != 0) /* before, what is filled in was not defined */
        c->level = L3;
    out->rank = in->shape.rank;
    for (uint32_t i = 0; pad && i < out->rank; i++) {
        int32_t before = pad[2 * i], after = pad[2 * i + 1];
        REQUIRE(w, before >= 0 && after >= 0,
                "paddings %d, %d of dimension %u must not be negative", before, after, i);
        uint64_t size = (uint64_t) in->shape.dim[i] + (uint64_t) before + (uint64_t) after;
        REQUIRE(w, size <= UINT32_MAX, "dimension %u would have %llu elements", i,
                (unsigned long long) size);
        out->dim[i] = (uint32_t) size;
    }
    return 0;
}

static void move(const struct call *c, const struct movement *m)
{
    const struct shape *in = &c->in[INPUT]->shape, *out = &c->out[0]->shape;
    const int32_t *pad = c->in[PADDINGS]->data;
    ptrdiff_t from[MAX_RANK], to[MAX_RANK], at = 0;
    struct mover_axis box[MAX_RANK];

    mover_strides(in, from);
    mover_strides(out, to);
    for (uint32_t i = 0; i < in->rank; i++) {
        box[i] = (struct mover_axis){ in->dim[i], from[i], to[i] };
        at += pad[2 * i] * to[i];
    }
    mover_fill(m->size, m->fill, shape_count(out), m->to[0]);
    mover_copy(m->size, box, in->rank, m->from[INPUT], (char *) m->to[0] + (size_t) at * m->size);
}

static bool draw(const struct call *c, int role, struct drawer *d, struct tensor *to)
{
    uint32_t rank = c->in[INPUT]->shape.rank;
    int32_t *pad = to->data;

    (void) role;
    to->shape = (struct shape){ 2, { rank, 2 } };
    for (uint32_t i = 0; i < 2 * rank; i++)
        pad[i] = d->below(d, 2) ? 0 : (int32_t) d->below(d, 3);
    return true;
}

const struct op op_PAD = {
    .code = OP_PAD,
    .name = "PAD",
    .summary = "Surrounds a tensor with zeros.",
    .formula = "output[i_0, ..] = input[i_0 - paddings[0,0], ..] inside, real 0 outside",
    .since = L2,
    .in = inputs,
    .n_in = COUNT(inputs),
    .out = outputs,
    .n_out = COUNT(outputs),
    .forms = forms,
    .n_forms = COUNT(forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .error = { ERROR_EXACT, .text = "moved" },
    .infer = infer,
    .move = move,
    .draw = draw,
};
