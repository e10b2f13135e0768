#include "golden/model/copy_elements.h"
#include "golden/ops/shared/axis.h"

enum { INPUT, AXIS, PARTS };

static const struct role inputs[] = {
    [INPUT] = { "input", "the tensor", "?", .slot = 0 },
    [AXIS] = { "axis", "dimension to split; negative counts from the end", .slot = FIXED(DT_INT32),
               .draw = DRAW_AXIS, .needs = NEEDS_CONST },
    [PARTS] = { "num_splits", "number of outputs, must divide the dimension",
                .slot = FIXED(DT_INT32), .draw = DRAW_OP, .needs = NEEDS_CONST },
};

static const struct role outputs[] = {
    { "outputs", "equal parts, in order", "?", .slot = 0, .many = true, .q = Q_SAME },
};

static const struct form forms[] = {
    { "", { INPUT, AXIS, PARTS, END } },
};

static const struct typing typings[] = {
    { L3, RANKS(1, MAX_RANK), { DT_F32 } }, { L3, RANKS(1, MAX_RANK), { DT_F16 } },
    { L3, RANKS(1, MAX_RANK), { DT_I32 } }, { L3, RANKS(1, MAX_RANK), { DT_U8 } },
    { L4, RANKS(1, MAX_RANK), { DT_S8 } },
};

static int infer(struct call *c, struct why *w)
{
    TRY(axis_check(c, AXIS, w));
    if (call_known(c, PARTS))
        REQUIRE(w, call_int(c, PARTS) > 0 && (uint32_t) call_int(c, PARTS) == c->n_out,
                "num_splits is %d, but there are %u outputs", call_int(c, PARTS), c->n_out);
    for (uint32_t i = 0; i < c->n_out; i++)
        c->out[i]->shape.rank = c->in[INPUT]->shape.rank;
    if (!call_known(c, AXIS))
        return 0;
    struct axis a = call_axis(c, AXIS);
    REQUIRE(w, a.len % c->n_out == 0, "dimension %u of %zu elements cannot be cut into %u parts",
            a.dim, a.len, c->n_out);
    for (uint32_t i = 0; i < c->n_out; i++) {
        c->out[i]->shape = c->in[INPUT]->shape;
        c->out[i]->shape.dim[a.dim] = (uint32_t) (a.len / c->n_out);
    }
    return 0;
}

static void move(const struct call *c, const struct movement *m)
{
    struct axis a = call_axis(c, AXIS);
    size_t row = a.len * a.inner, run = row / c->n_out;
    struct copy_axis box[] = { { a.outer, (ptrdiff_t) row, (ptrdiff_t) run }, { run, 1, 1 } };

    for (uint32_t i = 0; i < c->n_out; i++)
        copy_elements(m->size, box, 2, (const char *) m->from[INPUT] + i * run * m->size, m->to[i]);
}

/* Draws a divisor of the dimension, at most 6. */
static bool draw(const struct call *c, int role, struct drawer *d, struct tensor *to)
{
    struct axis a = call_axis(c, AXIS);
    int32_t divisor[12], n = 0;

    (void) role;
    for (int32_t k = d->below(d, 8) && a.len > 1 ? 2 : 1; k <= 12; k++)
        if (a.len % (size_t) k == 0)
            divisor[n++] = k;
    if (n == 0)
        return false;
    *(int32_t *) to->data = divisor[d->below(d, (uint32_t) n)];
    return true;
}

const struct op op_SPLIT = {
    .code = OP_SPLIT,
    .name = "SPLIT",
    .summary = "Splits a tensor into equal parts along one dimension.",
    .formula = "output_k[.., i, ..] = input[.., k * (dimension / num_splits) + i, ..]",
    .since = L3,
    .in = inputs,
    .n_in = COUNT(inputs),
    .out = outputs,
    .n_out = COUNT(outputs),
    .forms = forms,
    .n_forms = COUNT(forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .fanout = 1 + PARTS,
    .fails_above = ROLE_BIT(AXIS),
    .fails_below = ROLE_BIT(AXIS),
    .error = { ERROR_EXACT, .text = "the errors of the elements move with them" },
    .infer = infer,
    .move = move,
    .draw = draw,
};
