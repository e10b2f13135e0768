#include "golden/math/matmul.h"
#include "golden/model/copy_elements.h"
#include "golden/ops/shared/dot.h"
#include "golden/ops/shared/elementwise/binary.h"

enum { LHS, RHS, ADJ_X, ADJ_Y };

static const struct role inputs[] = {
    [LHS] = { "x", "[batches.., rows, depth], or [batches.., depth, rows] when adjoint", "?" },
    [RHS] = { "y",
              "[batches.., depth, columns], or [batches.., columns, depth] when adjoint; "
              "the batches of x",
              "?", .draw = DRAW_SHAPE },
    [ADJ_X] = { "adj_x", "true: the matrices of x are transposed", .slot = FIXED(DT_BOOL),
                .draw = DRAW_OP },
    [ADJ_Y] = { "adj_y", "true: the matrices of y are transposed", .slot = FIXED(DT_BOOL),
                .draw = DRAW_OP },
};

static const struct role outputs[] = {
    { "output", "[batches.., rows, columns]", "?" },
};

static const struct form forms[] = {
    { "", { LHS, RHS, ADJ_X, ADJ_Y, END } },
};

static const struct typing typings[] = {
    /* since, ranks, operands and result */
    { L6, RANKS(2, 4), { DT_F32 } },
    { L6, RANKS(2, 4), { DT_F16 } },
    { L6, RANKS(2, 4), { DT_S8 } },
    { L6, RANKS(2, 4), { DT_I32 } },
};

/* One operand: per batch `rows` vectors of `depth` elements, along which products are summed. */
struct matrices {
    size_t batches, rows, depth;
    bool along; /* the vectors are the rows of the tensor (contiguous), else its columns */
};

static struct matrices matrices_of(const struct shape *s, bool along)
{
    uint32_t last = s->dim[s->rank - 1], before = s->dim[s->rank - 2];

    return (struct matrices){ .batches = element_count(s, 0, s->rank - 2),
                              .rows = along ? before : last,
                              .depth = along ? last : before,
                              .along = along };
}

static struct matrices left(const struct call *c)
{
    return matrices_of(&c->arg[LHS]->shape, call_real(c, ADJ_X) == 0);
}

static struct matrices right(const struct call *c)
{
    return matrices_of(&c->arg[RHS]->shape, call_real(c, ADJ_Y) != 0);
}

static int infer(struct call *c, struct why *w)
{
    const struct shape *x = &c->arg[LHS]->shape, *y = &c->arg[RHS]->shape;
    struct shape out = { .rank = x->rank };
    bool known_x = call_known(c, ADJ_X), known_y = call_known(c, ADJ_Y);

    REQUIRE(w, x->rank == y->rank, "x has rank %u, y has rank %u", x->rank, y->rank);
    for (uint32_t i = 0; i + 2 < x->rank; i++) {
        REQUIRE(w, x->dim[i] == y->dim[i], "x has %u batches, y has %u", x->dim[i], y->dim[i]);
        out.dim[i] = x->dim[i];
    }
    if (known_x && known_y)
        REQUIRE(w, left(c).depth == right(c).depth, "depth of x is %zu, of y %zu", left(c).depth,
                right(c).depth);
    if (known_x)
        out.dim[out.rank - 2] = (uint32_t) left(c).rows;
    if (known_y)
        out.dim[out.rank - 1] = (uint32_t) right(c).rows;
    c->out[0]->shape = out;
    return 0;
}

/* The vectors as contiguous rows: x itself, or a transposed copy. */
static const double *dense(const struct call *c, const struct matrices *m, const double *x,
                           struct why *w)
{
    size_t each = m->rows * m->depth;
    const struct copy_axis box[] = {
        { m->batches, (ptrdiff_t) each, (ptrdiff_t) each },
        { m->rows, 1, (ptrdiff_t) m->depth },
        { m->depth, (ptrdiff_t) m->rows, 1 },
    };

    if (m->along)
        return x;
    double *to = dot_scratch(c, m->batches * each, w);
    if (to)
        copy_elements(sizeof *x, box, COUNT(box), x, to);
    return to;
}

static int sum(const struct call *c, const double *x, const double *f, const double *init,
               double *y, struct why *w)
{
    struct matrices a = left(c), b = right(c);
    const double *lhs = dense(c, &a, x, w), *rhs = dense(c, &b, f, w);

    if (!lhs || !rhs)
        return -1;
    for (size_t i = 0; i < a.batches; i++) {
        struct matmul product = { .m = a.rows,
                                  .n = b.rows,
                                  .k = a.depth,
                                  .a = lhs + i * a.rows * a.depth,
                                  .b = rhs + i * b.rows * b.depth,
                                  .init = init,
                                  .c = y + i * a.rows * b.rows };
        matmul(&product, c->pool);
    }
    return 0;
}

static size_t terms(const struct call *c)
{
    return left(c).depth;
}

static const struct dot dot = { LHS, RHS, NO_ROLE, NO_ROLE, sum, terms };

static int eval(struct call *c, struct why *w)
{
    return dot_eval(c, &dot, w);
}

/* Distances to the next element of a vector and to the next vector, in elements. */
struct steps {
    size_t element, vector;
};

static struct steps steps_of(const struct matrices *m)
{
    return m->along ? (struct steps){ 1, m->depth } : (struct steps){ m->rows, 1 };
}

/* Modulo 2^32; products of int32 exceed the 53 bits of a double. */
static void eval_int(struct call *c)
{
    struct matrices a = left(c), b = right(c);
    struct steps sa = steps_of(&a), sb = steps_of(&b);
    const uint32_t *x = c->arg[LHS]->data, *y = c->arg[RHS]->data;
    uint32_t *to = c->out[0]->data;

    for (size_t n = 0; n < a.batches; n++, x += a.rows * a.depth, y += b.rows * b.depth)
        for (size_t i = 0; i < a.rows; i++)
            for (size_t j = 0; j < b.rows; j++) {
                uint32_t acc = 0;
                for (size_t k = 0; k < a.depth; k++)
                    acc += x[i * sa.vector + k * sa.element] * y[j * sb.vector + k * sb.element];
                *to++ = acc;
            }
}

/* Integer results are exact where the operands are; their errors wrap modulo 2^32. */
static int bound(struct call *c, struct why *w)
{
    size_t n = tensor_count(c->out[0]);

    TRY(dot_bound(c, &dot, w));
    if (c->out[0]->dtype != DT_I32)
        return 0;
    double *exact = dot_scratch(c, n, w);
    if (!exact)
        return -1;
    TRY(sum(c, c->x[LHS], c->x[RHS], NULL, exact, w));
    for (size_t i = 0; i < n; i++)
        c->ey[0][i] = binary_wrapping(exact[i], c->ey[0][i]);
    return 0;
}

/* Draws y so that one of its dimensions equals one of x; the adj flags are then drawn to fit. */
static void draw_rhs(const struct call *c, struct drawer *d, struct shape *to)
{
    uint32_t last = c->arg[LHS]->shape.rank - 1, other = d->size(d, 8);

    *to = c->arg[LHS]->shape;
    uint32_t depth = to->dim[last - d->below(d, 2)];
    bool along = d->below(d, 2);
    to->dim[last] = along ? depth : other;
    to->dim[last - 1] = along ? other : depth;
}

static bool draw(const struct call *c, int role, struct drawer *d, struct tensor *to)
{
    const struct shape *x = &c->arg[LHS]->shape, *y = role == RHS ? x : &c->arg[RHS]->shape;
    uint32_t last = x->rank - 1, depth;

    if (role == RHS) {
        draw_rhs(c, d, &to->shape);
        return true;
    }
    bool flag = d->below(d, 2);
    if (role == ADJ_X) {
        depth = x->dim[flag ? last - 1 : last];
        flag ^= y->dim[last] != depth && y->dim[last - 1] != depth;
    } else {
        depth = (uint32_t) left(c).depth;
        flag ^= y->dim[flag ? last : last - 1] != depth;
    }
    *(int32_t *) to->data = flag;
    return true;
}

const struct op op_BATCH_MATMUL = {
    .code = OP_BATCH_MATMUL,
    .name = "BATCH_MATMUL",
    .summary = "Multiplies the matrices of two tensors, batch by batch.",
    .formula = "output[..,i,j] = sum over k of x[..,i,k] * y[..,k,j]",
    .since = L6,
    .in = inputs,
    .n_in = COUNT(inputs),
    .out = outputs,
    .n_out = COUNT(outputs),
    .forms = forms,
    .n_forms = COUNT(forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .units = true,
    .error = { ERROR_DOT, .ulps = 1,
               .text = "factor * sqrt(K) * u * sum |x*y| + sum |y|*ex + sum |x|*ey; "
                       "integers: exact" },
    .infer = infer,
    .eval = eval,
    .eval_int = eval_int,
    .bound = bound,
    .draw = draw,
};
