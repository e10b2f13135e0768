/* Plainer values: 0, 1, small integers, all equal. */
#include <math.h>
#include <string.h>

#include "harness/shrink/reductions.h"

/* How plain a value is: 0, 1, -1, integers by their size, then numbers by the length of their
 * fraction.  Values of quantised tensors are counted in steps from the zero point. */
static double cost_of(double v)
{
    int exponent;
    if (v >= 0 && v <= 0)
        return 0;
    if (!isfinite(v))
        return 1000;
    double sign = v < 0 ? 0.5 : 0, a = fabs(v);
    if (floor(a) >= a)
        return 1 + log2(a) + sign;
    double fraction = frexp(a, &exponent);
    int bits = 0;
    for (; bits < 53 && floor(fraction) < fraction; bits++)
        fraction *= 2;
    return 100 + bits + fabs(log2(a)) + sign;
}

/* The values of a tensor, in steps from the zero point where it is quantised.  NULL: no memory, or
 * 64-bit integers, which double does not represent. */
static double *values_of(const struct edit *c, const struct tensor *t)
{
    double *v = arena_alloc(c->arena, tensor_count(t) + 1, sizeof *v);
    if (v)
        tensor_widen_units(t, v);
    return v;
}

static double total_cost(const double *v, size_t n)
{
    double cost = 0;
    for (size_t i = 0; i < n; i++)
        cost += cost_of(v[i]);
    return cost;
}

/* Stores values in steps; NOTHING: they are not plainer, or not of the type. */
static enum reduced store(struct edit *c, const struct value_ref *ref, const double *v,
                          double old_cost)
{
    struct tensor t = *edit_tensor(c, ref);
    size_t n = tensor_count(&t);
    if (total_cost(v, n) >= old_cost)
        return REDUCE_NOTHING;
    t.data = arena_alloc(c->arena, n + 1, dtype_info[t.dtype].codec->size);
    if (!t.data)
        return REDUCE_NOTHING;
    dtype_info[t.dtype].codec->narrow(v, n, t.zero, 1, t.data);
    edit_set_value(c, ref, &t);
    return REDUCE_DONE;
}

/* The value of a site, and the rest of the number of the site. */
static bool ref_at(struct edit *c, bool scalars, uint32_t *site, uint32_t each,
                   struct value_ref *ret)
{
    struct value_ref *refs;
    uint32_t n = edit_values(c, &refs), index = *site / each;
    for (uint32_t i = 0; i < n; i++) {
        const struct tensor *t = edit_tensor(c, &refs[i]);
        if (dtype_info[t->dtype].tensor == scalars || !dtype_info[t->dtype].codec->size)
            continue;
        if (index-- == 0) {
            *ret = refs[i];
            *site %= each;
            return true;
        }
    }
    return false;
}

/* ---- scalars */

/* The default of the role that first reads an operand; 0 where there is none. */
static double default_of(const struct edit *c, const struct value_ref *ref)
{
    const struct graph *g = &c->e.model.graph[ref->graph];
    struct call call;
    for (uint32_t i = 0; i < g->n_operations; i++)
        for (uint32_t k = 0; k < g->operation[i].n_in; k++)
            if (g->operation[i].in[k] == ref->operand && edit_bind(c, ref->graph, i, &call))
                return call_role(&call, k)->otherwise;
    return 0;
}

enum reduced shrink_scalars(struct edit *c, uint32_t site)
{
    enum { DEFAULT, ZERO, ONE, HALF, LESS, CHOICES };
    struct value_ref ref;
    if (!ref_at(c, true, &site, CHOICES, &ref))
        return REDUCE_END;
    const double *v = values_of(c, edit_tensor(c, &ref));
    if (!v)
        return REDUCE_NOTHING;
    double to[CHOICES] = { [DEFAULT] = default_of(c, &ref),
                           [ZERO] = 0,
                           [ONE] = 1,
                           [HALF] = trunc(*v / 2),
                           [LESS] = *v - (*v > 0 ? 1 : -1) };
    if (*v >= to[DEFAULT] && *v <= to[DEFAULT])
        return REDUCE_NOTHING;
    /* the default is plainest */
    return store(c, &ref, &to[site], site == DEFAULT ? INFINITY : cost_of(*v));
}

/* ---- tensors */

enum change { ZEROS, ONES, EQUAL, RAMP, SIGNS, WHOLE, HALVES, POSITIVE, CHANGES };

static double change(enum change how, double v, const double *all, size_t i)
{
    switch (how) {
    case ZEROS: return 0;
    case ONES: return 1;
    case EQUAL: return all[0];
    case RAMP: return (double) (i + 1);
    case SIGNS: return v < 0 ? -1 : v > 0;
    case WHOLE: return round(v);
    case HALVES: return trunc(v / 2);
    case POSITIVE: return fabs(v);
    case CHANGES: break;
    }
    return v;
}

enum reduced shrink_tensors(struct edit *c, uint32_t site)
{
    struct value_ref ref;
    if (!ref_at(c, false, &site, CHANGES, &ref))
        return REDUCE_END;
    const struct tensor *t = edit_tensor(c, &ref);
    size_t n = tensor_count(t);
    double *v = values_of(c, t), *to = arena_alloc(c->arena, n + 1, sizeof *to);
    if (!v || !to || !n)
        return REDUCE_NOTHING;
    for (size_t i = 0; i < n; i++)
        to[i] = change((enum change) site, v[i], v, i);
    return store(c, &ref, to, total_cost(v, n));
}

/* ---- elements */

/* Sites of a tensor: runs of half of the elements become 0, then of a quarter, ... each one; then
 * each one 0, 1, a whole number, half of it. */
enum { MOST_SITES = 4096, EACH = 4 };

static enum reduced change_elements(struct edit *c, const struct value_ref *ref, uint32_t site)
{
    const struct tensor *t = edit_tensor(c, ref);
    size_t n = tensor_count(t), from = 0, length = 0;
    double *v = values_of(c, t);
    uint32_t end = (site / MOST_SITES + 1) * MOST_SITES;
    site %= MOST_SITES;
    if (!v || n < 2) {
        c->next = end;
        return REDUCE_NOTHING;
    }
    double cost = total_cost(v, n);
    for (length = (n + 1) / 2; length > 1 && site >= (n + length - 1) / length;
         length = (length + 1) / 2)
        site -= (uint32_t) ((n + length - 1) / length);
    if (length > 1) {
        from = site * length;
        for (size_t i = from; i < n && i < from + length; i++)
            v[i] = 0;
        return store(c, ref, v, cost);
    }
    if (site / EACH >= n) {
        c->next = end;
        return REDUCE_NOTHING;
    }
    static const enum change how[EACH] = { ZEROS, ONES, WHOLE, HALVES };
    from = site / EACH;
    v[from] = change(how[site % EACH], v[from], v, from);
    return store(c, ref, v, cost);
}

enum reduced shrink_elements(struct edit *c, uint32_t site)
{
    struct value_ref ref;
    uint32_t rest = site;
    if (!ref_at(c, false, &rest, MOST_SITES, &ref))
        return REDUCE_END;
    return change_elements(c, &ref, site);
}
