#include "golden/ops/shared/elementwise/broadcast.h"

/* Dimension i counted from the last. */
static uint32_t dim_from_end(const struct shape *s, uint32_t i)
{
    return i < s->rank ? s->dim[s->rank - 1 - i] : 1;
}

int broadcast_shape(const struct shape *a, const struct shape *b, struct shape *ret_shape,
                    struct why *w)
{
    struct shape o = { .rank = a->rank > b->rank ? a->rank : b->rank };

    for (uint32_t i = 0; i < o.rank; i++) {
        uint32_t m = dim_from_end(a, i), n = dim_from_end(b, i);
        REQUIRE(w, m == n || m == 1 || n == 1, "dimensions %u and %u do not broadcast", m, n);
        o.dim[o.rank - 1 - i] = m == 1 ? n : m;
    }
    *ret_shape = o;
    return 0;
}

int broadcast_infer(struct call *c, struct why *w)
{
    struct shape o;

    if (broadcast_shape(&c->arg[0]->shape, &c->arg[1]->shape, &o, w) < 0)
        return why_prefix(w, "%s", c->op->name);
    REQUIRE(w, c->typing->ranks >> o.rank & 1, "%s: %s has rank %u: not supported", c->op->name,
            c->op->out[0].name, o.rank);
    c->out[0]->shape = o;
    return 0;
}

/* Loops over all dimensions of the result, innermost first; adjacent dimensions with compatible
 * strides become one. */
static int merge_levels(const struct shape *a, const struct shape *b,
                        struct broadcast_level level[MAX_RANK])
{
    uint32_t rank = a->rank > b->rank ? a->rank : b->rank;
    size_t stride_a = 1, stride_b = 1;
    int n = 0;

    for (uint32_t i = 0; i < rank; i++) {
        size_t da = dim_from_end(a, i), db = dim_from_end(b, i);
        struct broadcast_level l = { .count = da == 1 ? db : da,
                                     .step_a = da == 1 ? 0 : stride_a,
                                     .step_b = db == 1 ? 0 : stride_b };
        struct broadcast_level *last = n > 0 ? &level[n - 1] : NULL;
        stride_a *= da;
        stride_b *= db;
        if (l.count == 1)
            continue;
        if (last && l.step_a == last->step_a * last->count &&
            l.step_b == last->step_b * last->count)
            last->count *= l.count;
        else
            level[n++] = l;
    }
    return n;
}

bool broadcast_first(struct broadcast *it, const struct shape *a, const struct shape *b)
{
    struct broadcast_level level[MAX_RANK];
    int n = merge_levels(a, b, level);

    *it = (struct broadcast){ .run = 1, .step_a = 1, .step_b = 1 };
    if (n > 0) {
        it->run = level[0].count;
        it->step_a = level[0].step_a;
        it->step_b = level[0].step_b;
    }
    bool empty = it->run == 0;
    for (int i = 1; i < n; i++) {
        it->level[it->levels++] = level[i];
        empty |= level[i].count == 0;
    }
    return !empty;
}

bool broadcast_next(struct broadcast *it)
{
    it->at += it->run;
    for (int i = 0; i < it->levels; i++) {
        struct broadcast_level *l = &it->level[i];
        it->a += l->step_a;
        it->b += l->step_b;
        if (++l->done < l->count)
            return true;
        it->a -= l->step_a * l->count;
        it->b -= l->step_b * l->count;
        l->done = 0;
    }
    return false;
}
