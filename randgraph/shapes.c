/* Shapes: from pattern letters that are bound already, from the operand to broadcast against, or
 * random.  Images are NHWC here; their layout in the model may be NCHW. */
#include <string.h>

#include "randgraph/randgraph_internal.h"

enum { STAR = '*', USUAL_DIM = 10, LARGE_WINDOW = 12 };

static bool any_shape(const struct role *r)
{
    return !strcmp(r->dims, "?");
}

static uint32_t from_end(const struct shape *s, uint32_t i)
{
    return i < s->rank ? s->dim[s->rank - 1 - i] : 1;
}

struct shape shape_nhwc(const struct draft *d, const struct role *r, const struct shape *s)
{
    struct shape to = *s;

    if (d->call.nchw && r->image && s->rank == 4) {
        to.dim[1] = s->dim[2];
        to.dim[2] = s->dim[3];
        to.dim[3] = s->dim[1];
    }
    return to;
}

struct shape shape_in_layout(const struct draft *d, const struct role *r, const struct shape *nhwc)
{
    struct shape to = *nhwc;

    if (d->call.nchw && r->image && nhwc->rank == 4) {
        to.dim[1] = nhwc->dim[3];
        to.dim[2] = nhwc->dim[1];
        to.dim[3] = nhwc->dim[2];
    }
    return to;
}

static bool dim_fits(const struct call *c, char letter, uint32_t dim)
{
    unsigned char l = (unsigned char) letter;

    if (letter == '?')
        return true;
    if (letter >= '0' && letter <= '9')
        return dim == (uint32_t) (letter - '0');
    return !c->bound[l] || c->letter[l] == dim;
}

static void bind_letter(struct call *c, char letter, uint32_t dim)
{
    unsigned char l = (unsigned char) letter;

    if (letter == '?' || (letter >= '0' && letter <= '9'))
        return;
    c->bound[l] = true;
    c->letter[l] = dim;
}

/* The dimensions of pattern '*' have the letters 1, 2, ..., its rank has '*', as in op_bind(). */
static char letter_at(const struct role *r, uint32_t i)
{
    return r->dims[0] == STAR ? (char) (i + 1) : r->dims[i];
}

static bool broadcasts(const struct shape *a, const struct shape *b)
{
    for (uint32_t i = 0; i < a->rank && i < b->rank; i++) {
        uint32_t m = from_end(a, i), n = from_end(b, i);
        if (m != n && m != 1 && n != 1)
            return false;
    }
    return true;
}

/* The operand that a broadcast operand must match: the first; for that, the value given. */
static const struct shape *partner_of(const struct draft *d, const struct role *r)
{
    bool first = r == &d->op->in[d->form->role[0]];
    const struct tensor *with = first ? d->arg[d->primary] : d->arg[0];

    return with ? &with->shape : NULL;
}

static bool is_broadcast(const struct draft *d, const struct role *r)
{
    if (r->draw == DRAW_BROADCAST)
        return true;
    return r == &d->op->in[d->form->role[0]] && d->arg[d->primary] &&
           d->op->in[d->role[d->primary]].draw == DRAW_BROADCAST;
}

bool shape_fits(const struct draft *d, const struct role *r, const struct shape *nhwc)
{
    if (r == &d->op->in[d->form->role[0]] && !(d->typing->ranks >> nhwc->rank & 1))
        return false;
    if (is_broadcast(d, r)) {
        const struct shape *with = partner_of(d, r);
        return !with || (nhwc->rank <= 4 && broadcasts(nhwc, with));
    }
    if (any_shape(r))
        return true;
    if (r->dims[0] == STAR ? !dim_fits(&d->call, STAR, nhwc->rank) : nhwc->rank != strlen(r->dims))
        return false;
    for (uint32_t i = 0; i < nhwc->rank; i++)
        if (!dim_fits(&d->call, letter_at(r, i), nhwc->dim[i]))
            return false;
    return true;
}

bool shape_bind(struct draft *d, const struct role *r, const struct shape *nhwc)
{
    if (!shape_fits(d, r, nhwc))
        return false;
    if (any_shape(r))
        return true;
    if (r->dims[0] == STAR)
        bind_letter(&d->call, STAR, nhwc->rank);
    for (uint32_t i = 0; i < nhwc->rank; i++)
        bind_letter(&d->call, letter_at(r, i), nhwc->dim[i]);
    return true;
}

/* Most are small, many of them at most half of that; a few are large, and then often next to the
 * size of a vector or a tile.  large: how many, in percent. */
static uint32_t draw_dim(struct builder *b, uint32_t room, uint32_t large)
{
    uint32_t most = b->options->max_dim;

    if (most > USUAL_DIM && rng_percent(b->rng, large)) {
        uint32_t dim = rng_large_size(b->rng, USUAL_DIM, most);
        most = most < room ? most : room;
        return dim < most ? dim : most > 1 ? most : 1;
    }
    most = most < USUAL_DIM ? most : USUAL_DIM;
    if (rng_percent(b->rng, b->weights->small_dims))
        most = (most + 1) / 2;
    if (most > room)
        most = room;
    return most > 1 ? 1 + rng_below(b->rng, most) : 1;
}

/* Dimension i of s, after those before it. */
static uint32_t draw_next(struct builder *b, const struct shape *s, uint32_t i, uint32_t room)
{
    const struct randgraph_weights *w = b->weights;
    uint32_t before = i ? s->dim[i - 1] : 0;
    uint32_t large = i + 1 < s->rank ? w->large_dims : i ? w->large_last : w->large_vector;

    if (before && before <= USUAL_DIM / 2 && before <= room && rng_percent(b->rng, w->equal_dims))
        return before;
    return draw_dim(b, room, large);
}

struct shape shape_random(struct builder *b, uint32_t rank)
{
    struct shape s = { rank };
    uint32_t room = b->max_elements;

    for (uint32_t i = 0; i < rank; i++) {
        s.dim[i] = draw_next(b, &s, i, room);
        room /= s.dim[i];
    }
    return s;
}

uint32_t builder_rank(const struct builder *b, unsigned ranks)
{
    static const uint8_t weight[MAX_RANK + 1] = { 0, 2, 4, 4, 8, 1, 1, 1, 1, 1, 1 };
    uint32_t sum = 0, rank = 0;

    for (uint32_t i = 0; i <= MAX_RANK; i++)
        sum += ranks >> i & 1 ? weight[i] : 0;
    if (sum == 0)
        return 0;
    for (uint32_t k = rng_below(b->rng, sum); rank < MAX_RANK; rank++) {
        uint32_t share = ranks >> rank & 1 ? weight[rank] : 0;
        if (k < share)
            break;
        k -= share;
    }
    return rank;
}

/* A shape that broadcasts with s: the same, one element, or a mix of ones and equal or larger
 * dimensions. */
static struct shape draw_partner(struct draft *d, const struct shape *s, unsigned ranks)
{
    struct rng *r = d->b->rng;
    struct shape to = *s;
    uint32_t kind = rng_below(r, 10), room = d->b->max_elements;

    if (kind < 5)
        return to;
    if (kind == 5 && (ranks >> 1 & 1))
        return (struct shape){ 1, { 1 } };
    uint32_t rank = kind < 8 ? s->rank : 1 + rng_below(r, 4);
    if (!(ranks >> rank & 1))
        rank = s->rank;
    to = (struct shape){ rank };
    for (uint32_t i = 0; i < rank; i++) {
        uint32_t dim = from_end(s, i);
        if (dim == 0)
            dim = 1;
        else if (dim == 1)
            dim = draw_dim(d->b, room, i ? d->b->weights->large_dims : d->b->weights->large_last);
        else if (rng_percent(r, 40))
            dim = 1;
        to.dim[rank - 1 - i] = dim;
        room = room / (dim > from_end(s, i) ? dim : from_end(s, i)) + 1;
    }
    return to;
}

/* Dimension i of s, after those before it. */
static uint32_t draw_letter(struct draft *d, const struct role *r, const struct shape *s,
                            uint32_t i, uint32_t room)
{
    const char letter = letter_at(r, i);
    const struct call *c = &d->call;
    const struct tensor *first = c->arg[0];
    bool is_first = r == &d->op->in[d->form->role[0]];

    if (letter >= '0' && letter <= '9')
        return (uint32_t) (letter - '0');
    if (letter != '?' && c->bound[(unsigned char) letter])
        return c->letter[(unsigned char) letter];
    if (!is_first && d->multiplier && first && letter >= 'A' && letter <= 'Z') {
        struct shape of = shape_nhwc(d, &d->op->in[d->form->role[0]], &first->shape);
        return of.rank ? of.dim[of.rank - 1] * d->multiplier : 1;
    }
    if (letter >= 'a' && letter <= 'z') {
        /* the size of a window over the dimension of its capital */
        unsigned char capital = (unsigned char) (letter - 'a' + 'A');
        uint32_t most = rng_percent(d->b->rng, d->b->weights->large_window) ? LARGE_WINDOW : 5;
        room = room < most ? room : most;
        if (c->bound[capital] && c->letter[capital] < room)
            room = c->letter[capital];
    }
    return draw_next(d->b, s, i, room);
}

static struct shape draw_pattern(struct draft *d, const struct role *r)
{
    struct shape s = { 0 };
    uint32_t room = d->b->max_elements;

    if (r->dims[0] == STAR) {
        if (!d->call.bound[STAR])
            return shape_random(d->b, builder_rank(d->b, d->typing->ranks));
        s.rank = d->call.letter[STAR];
    } else {
        s.rank = (uint32_t) strlen(r->dims);
    }
    for (uint32_t i = 0; i < s.rank; i++) {
        s.dim[i] = draw_letter(d, r, &s, i, room);
        room = room / (s.dim[i] ? s.dim[i] : 1);
    }
    return s;
}

bool shape_draw(struct draft *d, uint32_t at, struct shape *ret_nhwc)
{
    const struct role *r = &d->op->in[d->role[at]];
    const struct shape *with = partner_of(d, r);

    if (is_broadcast(d, r) && with)
        *ret_nhwc = draw_partner(d, with, at == 0 ? d->typing->ranks : RANKS(1, 4));
    else if (!any_shape(r))
        *ret_nhwc = draw_pattern(d, r);
    else if (at == 0 || !d->arg[0])
        *ret_nhwc = shape_random(d->b, builder_rank(d->b, d->typing->ranks));
    else
        *ret_nhwc = d->arg[0]->shape;
    return ret_nhwc->rank > 0 && shape_bind(d, r, ret_nhwc);
}
