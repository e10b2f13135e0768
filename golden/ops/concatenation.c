#include "golden/judge/bounds.h"
#include "golden/model/copy_elements.h"

enum { INPUTS, AXIS };

static const struct role inputs[] = {
    [INPUTS] = { "inputs", "tensors that differ only along the axis", "?", .slot = 0, .many = true,
                 .ranks = RANKS(1, 4), .draw = DRAW_SHAPE },
    [AXIS] = { "axis", "dimension along which they are joined", .slot = FIXED(DT_INT32),
               .draw = DRAW_OP, .needs = NEEDS_CONST },
};

static const struct role outputs[] = {
    { "output", "the inputs, one after the other along the axis", "?", .slot = 0 },
};

static const struct form forms[] = {
    { "", { INPUTS, AXIS, END } },
};

static const struct typing typings[] = {
    { L1, RANKS(1, 4), { DT_F32 } },
    { L1, RANKS(1, 4), { DT_U8 } },
    { L3, RANKS(1, 4), { DT_F16 } },
    { L4, RANKS(1, 4), { DT_S8 } },
};

static bool same_quant(const struct call *c)
{
    for (uint32_t i = 0; i < c->n_many; i++)
        if (!tensor_same_quant(c->arg[i], c->out[0]))
            return false;
    return true;
}

static int check_shape(const struct call *c, uint32_t i, uint32_t axis, struct why *w)
{
    const struct shape *first = &c->arg[0]->shape, *s = &c->arg[i]->shape;
    char a[SHAPE_TEXT], b[SHAPE_TEXT];
    bool fits = s->rank == first->rank;

    for (uint32_t d = 0; fits && d < s->rank; d++)
        fits = d == axis || s->dim[d] == first->dim[d];
    REQUIRE(w, fits, "input %u is %s, input 0 %s: they must differ along axis %u only", i,
            shape_text(s, a), shape_text(first, b), axis);
    return 0;
}

static int infer(struct call *c, struct why *w)
{
    const struct shape *first = &c->arg[0]->shape;
    struct shape *out = &c->out[0]->shape;
    uint64_t sum = 0;

    if (c->out[0]->dtype == DT_U8 && !same_quant(c))
        c->level = L3;
    out->rank = first->rank;
    if (!call_known(c, AXIS))
        return 0;
    int32_t axis = call_int(c, AXIS);
    REQUIRE(w, axis >= 0 && axis < (int32_t) first->rank, "axis %d is outside rank %u", axis,
            first->rank);
    for (uint32_t i = 0; i < c->n_many; i++) {
        TRY(check_shape(c, i, (uint32_t) axis, w));
        sum += c->arg[i]->shape.dim[axis];
    }
    REQUIRE(w, sum <= UINT32_MAX, "%llu elements along the axis are too many",
            (unsigned long long) sum);
    *out = *first;
    out->dim[axis] = (uint32_t) sum;
    return 0;
}

/* The output is [outer][axis and all later dimensions]; each input fills its part of every row.
 * from[k] NULL: zeros. */
static void join(const struct call *c, size_t size, const void *const *from, void *to)
{
    const struct shape *out = &c->out[0]->shape;
    uint32_t axis = (uint32_t) call_int(c, AXIS);
    size_t outer = element_count(out, 0, axis), row = element_count(out, axis, out->rank), at = 0;

    for (uint32_t i = 0; i < c->n_many; i++) {
        size_t run = element_count(&c->arg[i]->shape, axis, out->rank);
        struct copy_axis box[] = { { outer, (ptrdiff_t) run, (ptrdiff_t) row }, { run, 1, 1 } };
        static const double zero;
        if (!from[i]) {
            box[0].from = box[1].from = 0;
        }
        copy_elements(size, box, 2, from[i] ? from[i] : &zero, (char *) to + at * size);
        at += run;
    }
}

static void move(const struct call *c, const struct movement *m)
{
    join(c, m->size, m->from, m->to[0]);
}

static int eval(struct call *c, struct why *w)
{
    (void) w;
    join(c, sizeof(double), (const void *const *) c->x, c->y[0]);
    return 0;
}

/* Adds the error of requantisation, which may be computed in single precision. */
static int bound(struct call *c, struct why *w)
{
    size_t n = tensor_count(c->out[0]);

    (void) w;
    join(c, sizeof(double), (const void *const *) c->ex, c->ey[0]);
    for (size_t i = 0; i < n; i++)
        c->ey[0][i] = bound_clean(c->ey[0][i] + fabs(c->y[0][i]) * 0x1p-22);
    return 0;
}

/* The axis along which the operands drawn so far differ, else a random one. */
static uint32_t draw_axis(const struct call *c, struct drawer *d)
{
    const struct shape *first = &c->arg[0]->shape;

    for (uint32_t i = 1; i < c->n_many; i++)
        for (uint32_t k = 0; k < first->rank; k++)
            if (c->arg[i]->shape.dim[k] != first->dim[k])
                return k;
    return d->below(d, first->rank);
}

static bool draw(const struct call *c, int role, struct drawer *d, struct tensor *to)
{
    if (role == AXIS) {
        *(int32_t *) to->data = (int32_t) draw_axis(c, d);
        return true;
    }
    if (c->n_many == 0) {
        to->shape.rank = 1 + d->below(d, 4);
        for (uint32_t i = 0; i < to->shape.rank; i++)
            to->shape.dim[i] = d->size(d, 6);
        return true;
    }
    const uint32_t axis = draw_axis(c, d);
    to->shape = c->arg[0]->shape;
    to->shape.dim[axis] = d->size(d, 6);
    return true;
}

const struct op op_CONCATENATION = {
    .code = OP_CONCATENATION,
    .name = "CONCATENATION",
    .summary = "Joins tensors along one dimension; quantised inputs are rescaled to the output.",
    .formula = "output[.., i, ..] = input_k[.., i - (sizes of the inputs before k), ..]",
    .since = L1,
    .in = inputs,
    .n_in = COUNT(inputs),
    .out = outputs,
    .n_out = COUNT(outputs),
    .forms = forms,
    .n_forms = COUNT(forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .takes_empty = ROLE_BIT(INPUTS),
    .fails_above = ROLE_BIT(AXIS),
    .fails_below = ROLE_BIT(AXIS),
    .error = { ERROR_ELEMENT, .text = "moved; one rounding where scale or zero point change" },
    .infer = infer,
    .eval = eval,
    .move = move,
    .moves = same_quant,
    .bound = bound,
    .draw = draw,
};
