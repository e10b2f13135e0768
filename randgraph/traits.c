/* What a call is like, as small numbers: a driver's limits are sets of them (support.c). */
#include <math.h>
#include <string.h>

#include "randgraph/randgraph_internal.h"

static uint8_t at_most(uint64_t x, uint32_t most)
{
    return (uint8_t) (x < most ? x : most);
}

/* 4 steps for each power of two. */
static uint8_t size_step(uint64_t n)
{
    uint32_t log = n ? 63 - (uint32_t) __builtin_clzll(n) : 0;

    return at_most(n ? 4 * log + ((n << 2 >> log) - 4) : 0, MOST_TRAIT);
}

static uint32_t draft_letter(const struct draft *d, char letter)
{
    unsigned char l = (unsigned char) letter;

    return d->call.bound[l] ? d->call.letter[l] : 0;
}

/* The size of a window: that of a filter, or the scalars that give it. */
static void put_window(const struct draft *d, uint8_t *trait)
{
    uint32_t h = draft_letter(d, 'h'), w = draft_letter(d, 'w');

    if ((!h || !w) && d->kernel)
        h = w = d->kernel;
    if (h && w)
        trait[TRAIT_WINDOW] = (uint8_t) (8 * at_most(h, 7) + at_most(w, 7));
}

static uint8_t alignment(uint32_t n)
{
    return n ? at_most((uint64_t) __builtin_ctz(n), 3) : 0;
}

static void put_channels(const struct draft *d, const struct tensor *t, uint8_t *trait)
{
    if (t->shape.rank == 4 && d->op->layout)
        *trait = alignment(t->shape.dim[d->call.nchw ? 1 : 3]);
}

static void put_tensor(const struct tensor *t, uint8_t *trait)
{
    uint8_t size = size_step(tensor_count(t)), rank = at_most(t->shape.rank, MOST_TRAIT);

    for (uint32_t i = 0; i < t->shape.rank; i++) {
        uint8_t side = at_most(t->shape.dim[i], MOST_TRAIT);
        trait[TRAIT_SIDE] = side > trait[TRAIT_SIDE] ? side : trait[TRAIT_SIDE];
    }
    trait[TRAIT_SIZE] = size > trait[TRAIT_SIZE] ? size : trait[TRAIT_SIZE];
    trait[TRAIT_MOST_RANK] = rank > trait[TRAIT_MOST_RANK] ? rank : trait[TRAIT_MOST_RANK];
}

uint8_t trait_of_zero(const struct tensor *t)
{
    return t->scale == 0    ? NO_TRAIT
           : t->zero == 0   ? ZERO_IS_0
           : t->zero == 128 ? ZERO_IS_128
                            : ZERO_IS_OTHER;
}

uint8_t trait_of_scale(const struct tensor *t)
{
    int exponent = t->scale == 0 ? 0 : ilogbf(t->scale) + SCALE_OFFSET;

    return t->scale == 0 ? NO_TRAIT : exponent < 0 ? 0 : at_most((uint64_t) exponent, MOST_TRAIT);
}

static bool is_affine(const struct tensor *t)
{
    return dtype_info[t->dtype].quant == QUANT_AFFINE;
}

static bool is_in_the_middle(const struct tensor *t)
{
    const struct codec *k = dtype_info[t->dtype].codec;

    return t->zero == (int32_t) (k->min + (k->max - k->min + 1) / 2);
}

static void put_first(const struct tensor *t, uint8_t *trait)
{
    const struct shape *s = &t->shape;
    uint32_t last = s->rank ? s->dim[s->rank - 1] : 0;

    trait[TRAIT_RANK] = at_most(s->rank, MOST_TRAIT);
    if (s->rank == 0)
        return;
    trait[TRAIT_BATCH] = at_most(s->dim[0], MOST_TRAIT);
    trait[TRAIT_ALIGN] = alignment(last);
    trait[TRAIT_ZERO] = trait_of_zero(t);
}

static void put_second(const struct tensor *first, const struct tensor *second, uint8_t *trait)
{
    trait[TRAIT_SHAPES] = shape_equal(&first->shape, &second->shape) ? 0
                          : first->shape.rank == second->shape.rank  ? 1
                                                                     : 2;
    if (first->scale != 0 && second->scale != 0)
        trait[TRAIT_SCALES] = !(first->scale >= second->scale && first->scale <= second->scale) ||
                              first->zero != second->zero;
}

static uint8_t state_of(const struct graph_value *k)
{
    return !k ? STATE_NO_VALUE : k->life == LIFE_CONSTANT_COPY ? STATE_CONSTANT : STATE_VARIABLE;
}

uint8_t trait_of_scalar(const struct graph_value *k)
{
    enum dtype type = k->t.dtype;

    if (k->life != LIFE_CONSTANT_COPY || !k->t.data ||
        (type != DT_INT32 && type != DT_UINT32 && type != DT_BOOL))
        return NO_TRAIT;
    double x = tensor_at(&k->t, 0) + VALUE_OFFSET;
    return x < 0 ? 0 : x > MOST_TRAIT ? MOST_TRAIT : (uint8_t) x;
}

static void put_operand(const struct draft *d, uint32_t at, uint8_t *trait)
{
    const struct graph_value *k = d->in[at];
    uint8_t role = d->role[at], *state = &trait[TRAIT_STATE + role], now = state_of(k);

    *state = *state == STATE_LEFT_OFF || *state == now ? now : STATE_MIXED;
    if (k && !d->op->in[role].dims)
        trait[TRAIT_VALUE + role] = trait_of_scalar(k);
}

void traits_of(const struct draft *d, uint8_t trait[RANDGRAPH_TRAITS])
{
    const struct tensor *first = NULL, *second = NULL;
    uint32_t many = 0;

    memset(trait, NO_TRAIT, RANDGRAPH_TRAITS);
    trait[TRAIT_SIDE] = trait[TRAIT_SIZE] = trait[TRAIT_MOST_RANK] = 0;
    for (int i = 0; d->form->role[i] != END; i++)
        trait[TRAIT_STATE + d->form->role[i]] = STATE_LEFT_OFF;
    for (uint32_t i = 0; i < d->n_in; i++) {
        const struct tensor *t = d->arg[i];
        put_operand(d, i, trait);
        many += d->op->in[d->role[i]].many;
        if (!t || !dtype_info[t->dtype].tensor)
            continue;
        put_tensor(t, trait);
        if (first && is_affine(t))
            trait[TRAIT_ZEROS] = trait[TRAIT_ZEROS] == 1 || !is_in_the_middle(t);
        if (first && !second)
            second = t;
        if (!first)
            first = t;
    }
    trait[TRAIT_IN_SIZE] = trait[TRAIT_SIZE];
    for (uint32_t i = 0; i < d->n_out; i++)
        put_tensor(d->result[i], trait);
    trait[TRAIT_INPUTS] = at_most(d->n_in - (many ? many - 1 : 0), MOST_TRAIT);
    trait[TRAIT_OUTPUTS] = at_most(d->n_out, MOST_TRAIT);
    if (many)
        trait[TRAIT_MANY] = at_most(many, MOST_TRAIT);
    if (first)
        put_first(first, trait);
    if (first)
        put_channels(d, first, &trait[TRAIT_CHANNELS]);
    put_channels(d, d->result[0], &trait[TRAIT_OUT_CHANNELS]);
    if (is_affine(d->result[0])) {
        trait[TRAIT_OUT_ZERO] = trait_of_zero(d->result[0]);
        trait[TRAIT_OUT_SCALE] = trait_of_scale(d->result[0]);
    }
    if (second)
        put_second(first, second, trait);
    put_window(d, trait);
}

bool trait_is_ordered(const struct op *op, int trait)
{
    if (trait >= TRAIT_VALUE) {
        enum draw draw = op->in[trait - TRAIT_VALUE].draw;
        return draw != DRAW_SCHEME && draw != DRAW_ACTIVATION && draw != DRAW_FLAG;
    }
    return trait == TRAIT_MANY || trait == TRAIT_OUTPUTS || trait == TRAIT_SIDE ||
           trait == TRAIT_SIZE || trait == TRAIT_BATCH || trait == TRAIT_ALIGN ||
           trait == TRAIT_CHANNELS || trait == TRAIT_OUT_CHANNELS || trait == TRAIT_IN_SIZE ||
           trait == TRAIT_OUT_SCALE;
}
