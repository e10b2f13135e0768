#include "golden/ops/shared/strided.h"

enum { INPUT, BEGIN, SIZE };

static const struct role inputs[] = {
    [INPUT] = { "input", "the tensor", "?", .slot = 0 },
    [BEGIN] = { "begin", "first index, for each dimension", "R", .slot = FIXED(DT_I32),
                .draw = DRAW_OP, .needs = NEEDS_CONST },
    [SIZE] = { "size", "number of elements, for each dimension; -1: all from begin on", "R",
               .slot = FIXED(DT_I32), .draw = DRAW_OP, .needs = NEEDS_CONST },
};

static const struct role outputs[] = {
    { "output", "the part", "?", .slot = 0, .q = Q_SAME },
};

static const struct form forms[] = {
    { "", { INPUT, BEGIN, SIZE, END } },
};

static const struct typing typings[] = {
    { L3, RANKS(1, MAX_RANK), { DT_F32 } }, { L3, RANKS(1, MAX_RANK), { DT_F16 } },
    { L3, RANKS(1, MAX_RANK), { DT_I32 } }, { L3, RANKS(1, MAX_RANK), { DT_U8 } },
    { L4, RANKS(1, MAX_RANK), { DT_S8 } },
};

static struct strided_axis axis_at(const struct call *c, uint32_t i)
{
    int64_t dim = c->in[INPUT]->shape.dim[i];
    int64_t begin = ((const int32_t *) c->in[BEGIN]->data)[i];
    int64_t size = ((const int32_t *) c->in[SIZE]->data)[i];

    return (struct strided_axis){ (uint32_t) (size == -1 ? dim - begin : size), begin, 1 };
}

static int check_axis(const struct call *c, uint32_t i, struct why *w)
{
    int64_t dim = c->in[INPUT]->shape.dim[i];
    int64_t begin = ((const int32_t *) c->in[BEGIN]->data)[i];
    int64_t size = ((const int32_t *) c->in[SIZE]->data)[i];

    REQUIRE(w, begin >= 0 && begin <= dim, "begin[%u] = %d is outside dimension %u of size %d", i,
            (int) begin, i, (int) dim);
    REQUIRE(w, size >= -1 && begin + size <= dim,
            "%d elements from %d on: dimension %u has size %d", (int) size, (int) begin, i,
            (int) dim);
    return 0;
}

static int infer(struct call *c, struct why *w)
{
    struct shape *out = &c->out[0]->shape;

    out->rank = c->in[INPUT]->shape.rank;
    if (!call_known(c, BEGIN) || !call_known(c, SIZE))
        return 0;
    for (uint32_t i = 0; i < out->rank; i++) {
        TRY(check_axis(c, i, w));
        out->dim[i] = axis_at(c, i).count;
    }
    return 0;
}

static void move(const struct call *c, const struct movement *m)
{
    struct strided_axis axis[MAX_RANK];

    for (uint32_t i = 0; i < c->in[INPUT]->shape.rank; i++)
        axis[i] = axis_at(c, i);
    strided_copy(c, axis, m);
}

static bool draw(const struct call *c, int role, struct drawer *d, struct tensor *to)
{
    const struct shape *in = &c->in[INPUT]->shape;
    int32_t *value = to->data;

    to->shape = (struct shape){ 1, { in->rank } };
    for (uint32_t i = 0; i < in->rank; i++) {
        uint32_t begin = role == SIZE ? (uint32_t) ((const int32_t *) c->in[BEGIN]->data)[i] : 0;
        uint32_t room = in->dim[i] - begin;
        if (role == BEGIN)
            value[i] = d->below(d, 2) ? 0 : (int32_t) d->below(d, in->dim[i]);
        else
            value[i] = room && d->below(d, 3) ? 1 + (int32_t) d->below(d, room) : -1;
    }
    if (role == SIZE && d->empty) /* mostly the batch, which more operations take */
        value[d->below(d, 3) ? 0 : d->below(d, in->rank)] = 0;
    return true;
}

const struct op op_SLICE = {
    .code = OP_SLICE,
    .name = "SLICE",
    .summary = "Extracts a range of each dimension of a tensor.",
    .formula = "output[i_0, ..] = input[begin[0] + i_0, ..]",
    .since = L3,
    .in = inputs,
    .n_in = COUNT(inputs),
    .out = outputs,
    .n_out = COUNT(outputs),
    .forms = forms,
    .n_forms = COUNT(forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .takes_empty = ROLE_BIT(INPUT),
    .makes_empty = true,
    .fails_above = ROLE_BIT(BEGIN) | ROLE_BIT(SIZE),
    .fails_below = ROLE_BIT(SIZE),
    .error = { ERROR_EXACT, .text = "the errors of the elements move with them" },
    .infer = infer,
    .move = move,
    .draw = draw,
};
