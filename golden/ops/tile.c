#include "golden/model/copy_elements.h"
#include "golden/model/op.h"

enum { INPUT, MULTIPLES };

static const struct role inputs[] = {
    [INPUT] = { "input", "the tensor", "?", .slot = 0 },
    [MULTIPLES] = { "multiples", "number of copies, for each dimension", "R", .slot = FIXED(DT_I32),
                    .draw = DRAW_OP, .needs = NEEDS_CONST },
};

static const struct role outputs[] = {
    { "output", "copies of the input side by side", "?", .slot = 0, .q = Q_SAME },
};

static const struct form forms[] = {
    { "", { INPUT, MULTIPLES, END } },
};

static const struct typing typings[] = {
    { L3, RANKS(1, MAX_RANK), { DT_F32 } }, { L3, RANKS(1, MAX_RANK), { DT_F16 } },
    { L3, RANKS(1, MAX_RANK), { DT_I32 } }, { L3, RANKS(1, MAX_RANK), { DT_U8 } },
    { L4, RANKS(1, MAX_RANK), { DT_S8 } },
};

static int infer(struct call *c, struct why *w)
{
    const struct shape *in = &c->in[INPUT]->shape;
    const int32_t *times = c->in[MULTIPLES]->data;
    struct shape *out = &c->out[0]->shape;

    out->rank = in->rank;
    for (uint32_t i = 0; times && i < in->rank; i++) {
        REQUIRE(w, times[i] >= 0, "multiples[%u] is %d: must not be negative", i, times[i]);
        uint64_t size = (uint64_t) in->dim[i] * (uint64_t) times[i];
        REQUIRE(w, size <= UINT32_MAX, "dimension %u would have %llu elements", i,
                (unsigned long long) size);
        out->dim[i] = (uint32_t) size;
    }
    return 0;
}

/* Each dimension is copied as two: the copies, and the elements of one copy. */
static void move(const struct call *c, const struct movement *m)
{
    const struct shape *in = &c->in[INPUT]->shape, *out = &c->out[0]->shape;
    const int32_t *times = c->in[MULTIPLES]->data;
    ptrdiff_t from[MAX_RANK], to[MAX_RANK];
    struct copy_axis box[2 * MAX_RANK];

    element_strides(in, from);
    element_strides(out, to);
    for (uint32_t i = 0; i < in->rank; i++) {
        box[2 * i] = (struct copy_axis){ (size_t) times[i], 0, (ptrdiff_t) in->dim[i] * to[i] };
        box[2 * i + 1] = (struct copy_axis){ in->dim[i], from[i], to[i] };
    }
    copy_elements(m->size, box, 2 * in->rank, m->from[INPUT], m->to[0]);
}

static bool draw(const struct call *c, int role, struct drawer *d, struct tensor *to)
{
    uint32_t rank = c->in[INPUT]->shape.rank;
    int32_t *times = to->data;

    (void) role;
    to->shape = (struct shape){ 1, { rank } };
    for (uint32_t i = 0; i < rank; i++)
        times[i] = d->below(d, 2) ? 1 : 1 + (int32_t) d->below(d, 3);
    return true;
}

const struct op op_TILE = {
    .code = OP_TILE,
    .name = "TILE",
    .summary = "Repeats a tensor along its dimensions.",
    .formula = "output[i_0, ..] = input[i_0 mod dimension_0, ..]",
    .since = L3,
    .in = inputs,
    .n_in = COUNT(inputs),
    .out = outputs,
    .n_out = COUNT(outputs),
    .forms = forms,
    .n_forms = COUNT(forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .error = { ERROR_EXACT, .text = "the errors of the elements move with them" },
    .infer = infer,
    .move = move,
    .draw = draw,
};
