#include "golden/ops/shared/strided.h"

enum { INPUT, BEGIN, FINISH, STRIDES, BEGIN_MASK, END_MASK, SHRINK_MASK };

static const struct role inputs[] = {
    [INPUT] = { "input", "the tensor", "?", .slot = 0 },
    [BEGIN] = { "begin", "first index, for each dimension; negative counts from the end", "R",
                .slot = FIXED(DT_I32), .draw = DRAW_OP, .needs = NEEDS_CONST },
    [FINISH] = { "end",
                 "the index to stop before, for each dimension; negative counts from the end", "R",
                 .slot = FIXED(DT_I32), .draw = DRAW_OP, .needs = NEEDS_CONST },
    [STRIDES] = { "strides", "from one index to the next, for each dimension; negative: backwards",
                  "R", .slot = FIXED(DT_I32), .draw = DRAW_OP, .needs = NEEDS_CONST },
    [BEGIN_MASK] = { "begin_mask",
                     "bit i: begin[i] is ignored, dimension i begins with its first element",
                     .slot = FIXED(DT_INT32), .draw = DRAW_OP, .needs = NEEDS_CONST },
    [END_MASK] = { "end_mask", "bit i: end[i] is ignored, dimension i extends to its last element",
                   .slot = FIXED(DT_INT32), .draw = DRAW_OP, .needs = NEEDS_CONST },
    [SHRINK_MASK] = { "shrink_axis_mask",
                      "bit i: dimension i, of which one element is selected, is removed",
                      .slot = FIXED(DT_INT32), .draw = DRAW_OP, .needs = NEEDS_CONST },
};

static const struct role outputs[] = {
    { "output", "the selected elements; shape [1] if no dimension remains", "?", .slot = 0,
      .q = Q_SAME },
};

static const struct form forms[] = {
    { "", { INPUT, BEGIN, FINISH, STRIDES, BEGIN_MASK, END_MASK, SHRINK_MASK, END } },
};

static const struct typing typings[] = {
    { L2, RANKS(1, 4), { DT_F32 } },
    { L2, RANKS(1, 4), { DT_U8 } },
    { L3, RANKS(1, 4), { DT_F16 } },
    { L4, RANKS(1, 4), { DT_S8 } },
};

static int64_t list_at(const struct call *c, int role, uint32_t i)
{
    return ((const int32_t *) c->in[role]->data)[i];
}

static bool masked(const struct call *c, int role, uint32_t i)
{
    return call_int(c, role) >> i & 1;
}

/* An index, counted from the end if negative, clamped to lowest..lowest + dim.  lowest: 0, or -1
 * for a negative stride. */
static int64_t within(int64_t index, int64_t dim, int64_t lowest)
{
    index += index < 0 ? dim : 0;
    return index < lowest ? lowest : index > lowest + dim ? lowest + dim : index;
}

static struct strided_axis axis_at(const struct call *c, uint32_t i)
{
    int64_t dim = c->in[INPUT]->shape.dim[i], step = list_at(c, STRIDES, i);
    int64_t lowest = step > 0 ? 0 : -1, highest = lowest + dim;
    int64_t begin = masked(c, BEGIN_MASK, i) ? (step > 0 ? lowest : highest)
                                             : within(list_at(c, BEGIN, i), dim, lowest);
    int64_t end = masked(c, END_MASK, i) ? (step > 0 ? highest : lowest)
                                         : within(list_at(c, FINISH, i), dim, lowest);
    int64_t n = step > 0 ? (end - begin + step - 1) / step : (begin - end - step - 1) / -step;

    return (struct strided_axis){ (uint32_t) (n > 0 ? n : 0), begin, step };
}

static bool all_known(const struct call *c)
{
    bool known = true;

    for (int role = BEGIN; role <= SHRINK_MASK; role++)
        known &= call_known(c, role);
    return known;
}

static int infer(struct call *c, struct why *w)
{
    const struct shape *in = &c->in[INPUT]->shape;
    struct shape out = { 0 };

    if (!all_known(c))
        return 0;
    for (uint32_t i = 0; i < in->rank; i++) {
        REQUIRE(w, list_at(c, STRIDES, i) != 0, "strides[%u] is 0", i);
        struct strided_axis a = axis_at(c, i);
        if (!masked(c, SHRINK_MASK, i)) {
            out.dim[out.rank++] = a.count;
            continue;
        }
        REQUIRE(w, a.step > 0 && a.count == 1,
                "dimension %u is to be removed: must select 1 element, selects %u with stride %d",
                i, a.count, (int) a.step);
    }
    c->out[0]->shape = out.rank ? out : (struct shape){ 1, { 1 } };
    return 0;
}

static void move(const struct call *c, const struct movement *m)
{
    struct strided_axis axis[MAX_RANK];

    for (uint32_t i = 0; i < c->in[INPUT]->shape.rank; i++)
        axis[i] = axis_at(c, i);
    strided_copy(c, axis, m);
}

/* Writes an index from the start or, at random, from the end; -1 and dim as any index beyond. */
static int32_t draw_index(struct drawer *d, int64_t index, int64_t dim)
{
    int32_t beyond = d->below(d, 4) == 0 ? (int32_t) d->below(d, 4) : 0;

    if (index < 0)
        return (int32_t) (-dim - 1) - beyond;
    if (index >= dim)
        return (int32_t) dim + beyond;
    return (int32_t) (d->below(d, 2) ? index - dim : index);
}

/* Draws begin within the dimension or behind it, and a different end in -1..dim; the stride's sign
 * is then that of end - begin. */
static int32_t draw_element(const struct call *c, int role, uint32_t i, struct drawer *d)
{
    int64_t dim = c->in[INPUT]->shape.dim[i];

    if (role == BEGIN)
        return draw_index(d, d->below(d, (uint32_t) dim + (d->below(d, 4) == 0)), dim);
    int64_t begin = within(list_at(c, BEGIN, i), dim, 0);
    if (role == FINISH) {
        int64_t end = (int64_t) d->below(d, (uint32_t) dim + 1) - 1;
        return draw_index(d, end < begin ? end : end + 1, dim);
    }
    int64_t end = list_at(c, FINISH, i);
    end += end < 0 ? dim : 0;
    int32_t step = 1 + (int32_t) d->below(d, 3);
    return end > begin ? step : -step;
}

static int32_t draw_mask(const struct call *c, int role, struct drawer *d)
{
    int32_t mask = 0;

    for (uint32_t i = 0; i < c->in[INPUT]->shape.rank; i++) {
        bool may = true;
        if (role == SHRINK_MASK) {
            struct strided_axis a = axis_at(c, i);
            may = a.count == 1 && a.step > 0;
        }
        mask |= may && d->below(d, 3) == 0 ? 1 << i : 0;
    }
    return mask;
}

static bool draw(const struct call *c, int role, struct drawer *d, struct tensor *to)
{
    uint32_t rank = c->in[INPUT]->shape.rank;
    int32_t *value = to->data;

    if (role >= BEGIN_MASK) {
        *value = draw_mask(c, role, d);
        return true;
    }
    to->shape = (struct shape){ 1, { rank } };
    for (uint32_t i = 0; i < rank; i++)
        value[i] = draw_element(c, role, i, d);
    return true;
}

const struct op op_STRIDED_SLICE = {
    .code = OP_STRIDED_SLICE,
    .name = "STRIDED_SLICE",
    .summary = "Elements of a tensor at equal distances along each dimension.",
    .formula = "output[i_0, ..] = input[begin[0] + strides[0] * i_0, ..] up to end, without the "
               "dimensions of shrink_axis_mask",
    .since = L2,
    .in = inputs,
    .n_in = COUNT(inputs),
    .out = outputs,
    .n_out = COUNT(outputs),
    .forms = forms,
    .n_forms = COUNT(forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .fails_below = ROLE_BIT(STRIDES),
    .error = { ERROR_EXACT, .text = "the errors of the elements move with them" },
    .infer = infer,
    .move = move,
    .draw = draw,
};
