#include "golden/model/copy_elements.h"
#include "golden/ops/shared/padding.h"

enum { INPUT, PADDINGS, MODE };
enum { REFLECT, SYMMETRIC };

static const struct role inputs[] = {
    [INPUT] = { "input", "the tensor", "?", .slot = 0 },
    [PADDINGS] = { "paddings",
                   "number of elements before and after, for each dimension; at most as many as "
                   "are "
                   "mirrored",
                   "R2", .slot = FIXED(DT_I32), .draw = DRAW_OP, .needs = NEEDS_CONST },
    [MODE] = { "mode", "0 REFLECT: the element at the edge is not repeated, 1 SYMMETRIC: it is",
               .slot = FIXED(DT_INT32), .draw = DRAW_OP, .needs = NEEDS_CONST },
};

static const struct role outputs[] = {
    { "output", "the input between its mirror images", "?", .slot = 0, .q = Q_SAME },
};

static const struct form forms[] = {
    { "", { INPUT, PADDINGS, MODE, END } },
};

static const struct typing typings[] = {
    { L7, RANKS(1, MAX_RANK), { DT_F32 } }, { L7, RANKS(1, MAX_RANK), { DT_F16 } },
    { L7, RANKS(1, MAX_RANK), { DT_I32 } }, { L7, RANKS(1, MAX_RANK), { DT_U8 } },
    { L7, RANKS(1, MAX_RANK), { DT_S8 } },
};

static int check_mirror(const struct call *c, uint32_t i, struct why *w)
{
    int64_t before = padding_before(c, PADDINGS, i), after = padding_after(c, PADDINGS, i);
    int64_t most = (int64_t) c->in[INPUT]->shape.dim[i] - (call_int(c, MODE) == REFLECT);

    most = most < 0 ? 0 : most;
    REQUIRE(w, before <= most && after <= most, "paddings %d, %d of dimension %u: must be 0 to %d",
            (int) before, (int) after, i, (int) most);
    return 0;
}

static int infer(struct call *c, struct why *w)
{
    if (call_known(c, MODE))
        REQUIRE(w, call_int(c, MODE) == REFLECT || call_int(c, MODE) == SYMMETRIC,
                "mode %d: must be 0 (REFLECT) or 1 (SYMMETRIC)", call_int(c, MODE));
    TRY(padding_infer(c, PADDINGS, w));
    for (uint32_t i = 0; i < c->out[0]->shape.rank; i++)
        if (call_known(c, PADDINGS) && call_known(c, MODE))
            TRY(check_mirror(c, i, w));
    return 0;
}

/* Fills the padding of dimension d in the output; later dimensions are padded already, earlier ones
 * not yet. */
static void mirror(const struct call *c, uint32_t d, size_t size, char *to)
{
    const struct shape *in = &c->in[INPUT]->shape, *out = &c->out[0]->shape;
    ptrdiff_t step[MAX_RANK], edge = call_int(c, MODE) == REFLECT, corner = 0;
    ptrdiff_t before = padding_before(c, PADDINGS, d), after = padding_after(c, PADDINGS, d);
    ptrdiff_t end = before + (ptrdiff_t) in->dim[d];
    struct copy_axis box[MAX_RANK];

    element_strides(out, step);
    for (uint32_t i = 0; i < out->rank; i++) {
        box[i] = (struct copy_axis){ i < d ? in->dim[i] : out->dim[i], step[i], step[i] };
        corner += i < d ? padding_before(c, PADDINGS, i) * step[i] : 0;
    }
    box[d].from = -step[d];
    to += (size_t) corner * size;
    size_t line = (size_t) step[d] * size;
    box[d].n = (size_t) before;
    if (before)
        copy_elements(size, box, out->rank, to + (size_t) (2 * before - 1 + edge) * line, to);
    box[d].n = (size_t) after;
    if (after)
        copy_elements(size, box, out->rank, to + (size_t) (end - 1 - edge) * line,
                      to + (size_t) end * line);
}

static void move(const struct call *c, const struct movement *m)
{
    padding_move_inside(c, PADDINGS, m);
    for (uint32_t d = c->in[INPUT]->shape.rank; d-- > 0;)
        mirror(c, d, m->size, m->to[0]);
}

/* Whether a padding is so large that it must repeat the edge (SYMMETRIC). */
static bool needs_edge(const struct call *c)
{
    for (uint32_t i = 0; i < c->in[INPUT]->shape.rank; i++) {
        int32_t most = (int32_t) c->in[INPUT]->shape.dim[i];
        if (padding_before(c, PADDINGS, i) == most || padding_after(c, PADDINGS, i) == most)
            return true;
    }
    return false;
}

static bool draw(const struct call *c, int role, struct drawer *d, struct tensor *to)
{
    const struct shape *in = &c->in[INPUT]->shape;
    int32_t *value = to->data;

    if (role == MODE) {
        *value = needs_edge(c) ? SYMMETRIC : (int32_t) d->below(d, 2);
        return true;
    }
    to->shape = (struct shape){ 2, { in->rank, 2 } };
    for (uint32_t i = 0; i < 2 * in->rank; i++) {
        uint32_t most = in->dim[i / 2] < 3 ? in->dim[i / 2] : 3;
        value[i] = d->below(d, 2) ? 0 : (int32_t) d->below(d, most + 1);
    }
    return true;
}

const struct op op_MIRROR_PAD = {
    .code = OP_MIRROR_PAD,
    .name = "MIRROR_PAD",
    .summary = "Surrounds a tensor with its mirror images.",
    .formula =
        "output[.., i, ..] = input[.., m(i - before), ..]; m(i) = i inside, -i - symmetric before "
        "and 2 * (dimension - 1) + symmetric - i after, symmetric = 1 if the mode is SYMMETRIC",
    .since = L7,
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
