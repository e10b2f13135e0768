/* Values with which an execution must fail: an index, an axis or a size of the model's inputs is
 * beyond what the operation takes.  The records have the roles that NNAPI's reference checks. */
#include <string.h>

#include "randgraph/randgraph_internal.h"

enum { STEPS = 100, FAR = 1000 };

bool can_be_illegal(const struct draft *d, uint32_t at)
{
    enum dtype type = role_type(&d->op->in[d->role[at]], d->typing);

    return (type == DT_I32 || type == DT_INT32) &&
           ((d->op->fails_above | d->op->fails_below) >> d->role[at] & 1);
}

/* Whether the reference fails with the operands, whatever shapes the results are declared with. */
static bool call_fails(struct draft *d)
{
    struct tensor kept[MAX_RESULTS];
    struct why why = { 0 };
    struct arena_mark mark = arena_mark(d->b->scratch);

    for (uint32_t i = 0; i < d->n_out; i++) {
        kept[i] = *d->result[i];
        d->result[i]->shape.rank = 0;
    }
    bool fails = op_bind(d->op, d->arg, d->n_in, d->result, d->n_out, true, &d->call, &why) < 0;
    bool small = true;
    for (uint32_t i = 0; i < d->n_out; i++)
        small = small && tensor_count(d->result[i]) <= d->b->max_elements;
    if (!fails && small)
        fails = draft_evaluate(d, &why) < 0;
    for (uint32_t i = 0; i < d->n_out; i++)
        *d->result[i] = kept[i];
    arena_rewind(d->b->scratch, mark);
    return fails && why.code == WHY_EXECUTION;
}

/* Writes the legal value nearest to the illegal ones, moved by `far`, which may overflow. */
static bool write_beyond(int32_t *to, int32_t from, bool above, int64_t far)
{
    int64_t x = above ? from + far : from - far;

    if (x < INT32_MIN || x > INT32_MAX)
        return false;
    *to = (int32_t) x;
    return true;
}

/* Replaces an element by the first illegal number above the largest one or below the smallest one;
 * sometimes by one that is far beyond.  False: there is none nearby. */
static bool replace_element(struct draft *d, int32_t *value, size_t n, bool above)
{
    struct rng *r = d->b->rng;
    int32_t *to = &value[rng_below(r, (uint32_t) n)], extreme = value[0], legal = *to;
    bool far = rng_percent(r, 25);

    for (size_t i = 1; i < n; i++)
        extreme = (above ? value[i] > extreme : value[i] < extreme) ? value[i] : extreme;
    for (int i = 1; i <= STEPS; i++) {
        if (!write_beyond(to, extreme, above, i))
            break;
        if (!call_fails(d))
            continue;
        int32_t nearest = *to;
        if (far && (!write_beyond(to, nearest, above, FAR) || !call_fails(d)))
            *to = nearest;
        return true;
    }
    *to = legal;
    return false;
}

static bool make_illegal(struct draft *d, uint32_t at)
{
    struct graph_value *k = d->in[at];
    size_t n = tensor_count(&k->t);
    bool above = d->op->fails_above >> d->role[at] & 1,
         below = d->op->fails_below >> d->role[at] & 1;
    void *legal = k->t.data;

    if (n == 0)
        return false;
    if (above && below)
        above = rng_below(d->b->rng, 2);
    k->illegal = arena_copy(d->b->arena, legal, tensor_bytes(&k->t));
    k->t.data = k->illegal;
    if (!k->illegal || !replace_element(d, k->illegal, n, above))
        k->illegal = NULL;
    k->t.data = legal;
    return k->illegal != NULL;
}

void draw_illegal(struct draft *d)
{
    uint32_t start = rng_below(d->b->rng, d->n_in);

    for (uint32_t i = 0; i < d->n_in && !d->b->fails; i++) {
        uint32_t at = (start + i) % d->n_in;
        if (d->in[at]->life == LIFE_INPUT && can_be_illegal(d, at))
            d->b->fails = make_illegal(d, at);
    }
}
