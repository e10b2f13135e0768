#include "golden/judge/bounds.h"

enum { LOOKUPS, KEYS, VALUES };
enum { ROWS, HITS };

static const struct role inputs[] = {
    [LOOKUPS] = { "lookups", "keys to look up", "k", .slot = FIXED(DT_I32), .draw = DRAW_OP },
    [KEYS] = { "keys", "keys of the table, ascending", "n", .slot = FIXED(DT_I32),
               .draw = DRAW_OP },
    [VALUES] = { "values", "a row for each key along the first dimension", "?", .slot = 0,
                 .draw = DRAW_SHAPE },
};

static const struct role outputs[] = {
    [ROWS] = { "output", "the rows of the keys; stored zeros for keys not found", "?", .slot = 0,
               .q = Q_LIKE, .qlike = VALUES },
    [HITS] = { "hits", "1 for a key found, else 0", "k", .slot = FIXED(DT_U8), .q = Q_FIXED,
               .qscale = 1 },
};

static const struct form forms[] = {
    { "", { LOOKUPS, KEYS, VALUES, END } },
};

static const struct typing typings[] = {
    { L1, RANK(1), { DT_F32 } },
    { L1, RANK(1), { DT_I32 } },
    { L1, RANK(1), { DT_U8 } },
};

static int check_ascending(const struct tensor *keys, struct why *w)
{
    const int32_t *key = keys->data;

    for (uint32_t i = 1; key && i < keys->shape.dim[0]; i++)
        if (key[i] < key[i - 1])
            return why_fail(w, WHY_EXECUTION, "keys[%u] = %d follows %d: keys must ascend", i,
                            key[i], key[i - 1]);
    return 0;
}

static int infer(struct call *c, struct why *w)
{
    const struct shape *values = &c->in[VALUES]->shape;
    uint32_t keys = c->in[KEYS]->shape.dim[0];

    REQUIRE(w, values->rank >= 2 && values->dim[0] == keys,
            "values of rank %u with %u rows for %u keys", values->rank, values->dim[0], keys);
    c->out[ROWS]->shape = *values;
    c->out[ROWS]->shape.dim[0] = c->in[LOOKUPS]->shape.dim[0];
    return check_ascending(c->in[KEYS], w);
}

/* Index of the first key that is not less than `wanted`. */
static size_t find(const struct tensor *keys, int32_t wanted)
{
    const int32_t *key = keys->data;
    size_t lo = 0, hi = keys->shape.dim[0];

    while (lo < hi) {
        size_t middle = lo + (hi - lo) / 2;
        if (key[middle] < wanted)
            lo = middle + 1;
        else
            hi = middle;
    }
    return lo;
}

static bool is_key(const struct tensor *keys, size_t at, int32_t wanted)
{
    return at < keys->shape.dim[0] && ((const int32_t *) keys->data)[at] == wanted;
}

static size_t row_size(const struct call *c)
{
    size_t rows = c->in[VALUES]->shape.dim[0];

    return rows ? tensor_count(c->in[VALUES]) / rows : 0;
}

static int eval(struct call *c, struct why *w)
{
    size_t n = tensor_count(c->in[LOOKUPS]), row = row_size(c);
    const int32_t *lookup = c->in[LOOKUPS]->data;
    /* negated as an integer, because gcc evaluates 0 - (double) 0 to -0 */
    double missing = (double) -c->out[ROWS]->zero * tensor_step(c->out[ROWS], 0);

    (void) w;
    if (row == 0) /* without keys the output determines the size of a row */
        row = n ? tensor_count(c->out[ROWS]) / n : 0;
    for (size_t i = 0; i < n; i++) {
        size_t at = find(c->in[KEYS], lookup[i]);
        bool hit = is_key(c->in[KEYS], at, lookup[i]);
        c->y[HITS][i] = hit;
        for (size_t k = 0; k < row; k++)
            c->y[ROWS][i * row + k] = hit ? c->x[VALUES][at * row + k] : missing;
    }
    return 0;
}

/* Any one of several equal keys may be found: the spread of their rows. */
static double error_of(const struct call *c, size_t at, int32_t wanted, size_t row, size_t k)
{
    double y = c->x[VALUES][at * row + k], error = 0;

    for (; is_key(c->in[KEYS], at, wanted); at++) {
        double own = c->ex[VALUES] ? c->ex[VALUES][at * row + k] : 0;
        double other = c->x[VALUES][at * row + k];
        error = fmax(error, (other == y ? 0 : fabs(other - y)) + own);
    }
    return bound_clean(error);
}

static int bound(struct call *c, struct why *w)
{
    size_t n = tensor_count(c->in[LOOKUPS]), row = row_size(c);
    const int32_t *lookup = c->in[LOOKUPS]->data;
    bool astray = c->ex[KEYS] != NULL;

    (void) w;
    for (size_t i = 0; i < n; i++) {
        size_t at = find(c->in[KEYS], lookup[i]);
        bool lost = astray || (c->ex[LOOKUPS] && c->ex[LOOKUPS][i] > 0);
        bool hit = is_key(c->in[KEYS], at, lookup[i]);
        c->ey[HITS][i] = lost ? 1 : 0;
        for (size_t k = 0; k < row; k++)
            c->ey[ROWS][i * row + k] = lost  ? INFINITY
                                       : hit ? error_of(c, at, lookup[i], row, k)
                                             : 0;
    }
    return 0;
}

enum { MOST_KEYS = 8 };

/* Draws keys that are 1 to 3 apart, around one that is looked up. */
static bool draw_keys(const struct call *c, struct drawer *d, struct tensor *to)
{
    uint32_t n = c->in[VALUES] ? c->in[VALUES]->shape.dim[0] : 1 + d->size(d, MOST_KEYS - 1);
    int32_t *key = to->data;

    if (n > 64)
        return false;
    uint32_t known = d->below(d, n);
    to->shape = (struct shape){ 1, { n } };
    key[known] = *(const int32_t *) c->in[LOOKUPS]->data;
    for (uint32_t i = known; i-- > 0;)
        key[i] = key[i + 1] - 1 - (int32_t) d->below(d, 3);
    for (uint32_t i = known + 1; i < n; i++)
        key[i] = key[i - 1] + 1 + (int32_t) d->below(d, 3);
    return true;
}

static bool draw(const struct call *c, int role, struct drawer *d, struct tensor *to)
{
    int32_t *wanted = to->data;

    if (role == KEYS)
        return draw_keys(c, d, to);
    if (role == LOOKUPS) {
        to->shape = (struct shape){ 1, { d->size(d, 7) } };
        for (uint32_t i = 0; i < to->shape.dim[0]; i++)
            wanted[i] = (int32_t) d->below(d, 2 * MOST_KEYS);
        return true;
    }
    to->shape = (struct shape){ 2 + d->below(d, 3), { c->in[KEYS]->shape.dim[0] } };
    for (uint32_t i = 1; i < to->shape.rank; i++)
        to->shape.dim[i] = d->size(d, 6);
    return true;
}

const struct op op_HASHTABLE_LOOKUP = {
    .code = OP_HASHTABLE_LOOKUP,
    .name = "HASHTABLE_LOOKUP",
    .summary = "Selects rows of a table by keys.",
    .formula = "output[k, ..] = values[i, ..] and hits[k] = 1 where keys[i] = lookups[k]; else 0",
    .since = L1,
    .in = inputs,
    .n_in = COUNT(inputs),
    .out = outputs,
    .n_out = COUNT(outputs),
    .forms = forms,
    .n_forms = COUNT(forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .error = { ERROR_EXACT, .text = "the errors of the elements move with them; the spread of the "
                                    "rows of equal keys" },
    .infer = infer,
    .eval = eval,
    .bound = bound,
    .draw = draw,
};
