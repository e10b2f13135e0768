/* Draws scalar operands, and tensors whose values the record's draw() chooses. */
#include <math.h>
#include <string.h>

#include "randgraph/randgraph_internal.h"

enum { LARGEST_WINDOW = 5, LARGEST_STRIDE = 3, LARGEST_PAD = 3 };

static uint32_t one_to(struct draft *d, uint32_t n)
{
    return 1 + rng_below(d->b->rng, n ? n : 1);
}

static uint32_t bound_or(const struct call *c, char letter, uint32_t otherwise)
{
    unsigned char l = (unsigned char) letter;

    return c->bound[l] && c->letter[l] < otherwise ? c->letter[l] : otherwise;
}

static bool is_window(const struct call *c, char letter)
{
    return c->bound[(unsigned char) letter] && c->bound[(unsigned char) (letter - 'a' + 'A')];
}

static uint32_t smallest_window(const struct draft *d)
{
    uint32_t size = d->kernel ? d->kernel : LARGEST_WINDOW;

    for (char l = 'a'; l <= 'z'; l++)
        if (is_window(&d->call, l))
            size = bound_or(&d->call, l, size);
    return size;
}

static uint32_t draw_dilation(struct draft *d)
{
    const struct call *c = &d->call;
    uint32_t dilation = one_to(d, 3);

    for (char l = 'a'; l <= 'z'; l++) {
        if (!is_window(c, l))
            continue;
        uint32_t k = c->letter[(unsigned char) l], n = c->letter[(unsigned char) (l - 'a' + 'A')];
        while (dilation > 1 && k > 1 && (k - 1) * dilation + 1 > n)
            dilation--;
    }
    return dilation;
}

static double draw_float(struct draft *d, const struct role *r)
{
    double x = ((double) rng_below(d->b->rng, 4001) - 2000) / 500;

    if ((r->needs & NEEDS_NONNEG) && x < 0)
        x = -x;
    return x == 0 && (r->needs & NEEDS_NONZERO) ? 1 : x;
}

static double draw_hinted(struct draft *d, const struct role *r, enum dtype type)
{
    struct rng *g = d->b->rng;
    uint32_t rank = d->arg[0] ? d->arg[0]->shape.rank : 1, window;
    bool integers = role_type(&d->op->out[0], d->typing) == DT_I32;

    switch (r->draw) {
    case DRAW_AXIS: return (double) rng_below(g, 2 * rank) - rank;
    case DRAW_STRIDE:
        return one_to(d, rng_percent(g, d->b->weights->large_stride) ? 8 : LARGEST_STRIDE);
    case DRAW_DILATION: return draw_dilation(d);
    case DRAW_PAD:
        window = smallest_window(d); /* so that no window lies in padding alone */
        return rng_below(g, window < LARGEST_PAD + 1 ? window : LARGEST_PAD + 1);
    case DRAW_SCHEME: return one_to(d, 2);
    case DRAW_ACTIVATION: return integers ? 0 : rng_below(g, 4); /* none for integers */
    case DRAW_FLAG: return rng_below(g, 2);
    case DRAW_POSITIVE:
        /* with the errors of a result, values next to the scalar would be undecided */
        if ((r->likes & LIKES_TINY) && d->in[0] && !d->in[0]->result && rng_percent(g, 30))
            return ldexp(1, -(int) (4 + rng_below(g, type == DT_FLOAT16 ? 8 : 17)));
        return (0.125 + (double) rng_below(g, 120) / 64) * (r->qscale != 0 ? r->qscale : 1);
    case DRAW_MULTIPLIER: return d->multiplier;
    case DRAW_KERNEL: return d->kernel ? d->kernel : 1;
    case DRAW_VALUES:
    case DRAW_BROADCAST:
    case DRAW_SHAPE:
    case DRAW_OP: break;
    }
    if (type == DT_BOOL)
        return rng_below(g, 2);
    if (type == DT_INT32 && r->slot >= 0 && d->b->weights->wide_integers && rng_percent(g, 50))
        return /* an element of the result */
            rng_below(g, 2) ? special_integer(rng_next(g)) : (int32_t) (uint32_t) rng_next(g);
    return type == DT_INT32 || type == DT_UINT32 ? (double) rng_below(g, 4) : draw_float(d, r);
}

/* Drawn first, because other operands depend on them. */
void scalar_kernels(struct draft *d)
{
    uint32_t most = LARGEST_WINDOW;

    most = bound_or(&d->call, 'H', most);
    most = bound_or(&d->call, 'W', most);
    for (uint32_t i = 0; i < d->n_in; i++) {
        enum draw draw = d->op->in[d->role[i]].draw;
        if (draw == DRAW_KERNEL && !d->kernel)
            d->kernel = one_to(d, most);
        if (draw == DRAW_MULTIPLIER)
            d->multiplier = one_to(d, 3);
    }
}

/* Calls the record's draw(); its int32 values are converted to the operand's type. */
static int draw_by_record(struct draft *d, uint32_t at, struct graph_value *k)
{
    int32_t drawn[MAX_DRAWN] = { 0 };
    double x[MAX_DRAWN];
    const struct role *r = &d->op->in[d->role[at]];

    k->t.data = drawn;
    bool ok = d->op->draw && d->op->draw(&d->call, d->role[at], &d->b->rng->drawer, &k->t);
    k->t.data = NULL;
    size_t n = tensor_count(&k->t);
    if (!ok || n == 0 || n > MAX_DRAWN || graph_value_allocate(d->b, k) < 0)
        return -1;
    double unit = !r->dims && r->qscale != 0 ? r->qscale : 1; /* of a float scalar */
    for (size_t i = 0; i < n; i++)
        x[i] = drawn[i] * unit;
    tensor_narrow(x, &k->t);
    return 0;
}

int scalar_draw(struct draft *d, uint32_t at)
{
    const struct role *r = &d->op->in[d->role[at]];
    enum dtype type = role_type(r, d->typing);
    bool layout = d->op->layout && r == &d->op->in[d->op->layout - 1];
    bool fanout = d->op->fanout && r == &d->op->in[d->op->fanout - 1];
    bool input = !layout && !fanout && !(r->needs & NEEDS_CONST) && d->b->depth == 0 &&
                 rng_percent(d->b->rng, d->b->weights->input_scalar);
    input |= d->b->failing && !d->b->fails && d->b->depth == 0 && can_be_illegal(d, at);
    struct graph_value *k = graph_value_new(d->b, type, input ? LIFE_INPUT : LIFE_CONSTANT_COPY);

    if (!k)
        return -1;
    if (r->draw == DRAW_OP) {
        if (scale_for_operand(d, at, &k->t) < 0 || draw_by_record(d, at, k) < 0)
            return -1;
        if (r->dims && !shape_bind(d, r, &k->t.shape))
            return -1;
    } else {
        double x = d->op->layout == d->role[at] + 1 ? d->call.nchw : draw_hinted(d, r, type);
        if (graph_value_allocate(d->b, k) < 0)
            return -1;
        tensor_narrow(&x, &k->t);
    }
    d->in[at] = k;
    return 0;
}
