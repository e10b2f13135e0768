#include "golden/model/copy_elements.h"
#include "golden/model/op.h"

enum { VALUES, ORDER, BLOCK_MAP, FORMATS, SIZES, INDEXES };
enum { FORMAT_DENSE, FORMAT_SPARSE };
enum { MAX_LEVELS = 2 * MAX_RANK };

static const struct role inputs[] = {
    [VALUES] = { "values", "the stored elements of the tensor, in traversal order", "?",
                 .slot = 0 },
    [ORDER] = { "traversal_order",
                "a permutation of the n dimensions of the tensor, then one of the k dimensions of "
                "its blocks, which are numbered from n on",
                "t", .slot = FIXED(DT_I32), .draw = DRAW_OP, .needs = NEEDS_CONST },
    [BLOCK_MAP] = { "block_map",
                    "the dimension of the tensor that each block dimension divides; "
                    "omitted: no blocks",
                    "b", .slot = FIXED(DT_I32), .optional = true, .draw = DRAW_OP,
                    .needs = NEEDS_CONST },
    [FORMATS] = { "dim_formats", "of each dimension traversed: 0 dense, 1 sparse (CSR)", "t",
                  .slot = FIXED(DT_I32), .draw = DRAW_OP, .needs = NEEDS_CONST },
    [SIZES] = { "dimensions", "size of each dimension traversed", "t", .slot = FIXED(DT_I32),
                .draw = DRAW_OP, .needs = NEEDS_CONST },
    [INDEXES] = { "array_segments, array_indices",
                  "two for each dimension traversed; sparse: where in array_indices those of each "
                  "element of the dimensions before begin and end, and the indexes that are stored",
                  "?", .slot = FIXED(DT_I32), .optional = true, .many = true, .draw = DRAW_OP,
                  .needs = NEEDS_CONST },
};

static const struct role outputs[] = {
    { "output", "the dense tensor; elements that are not stored are zero", "?", .slot = 0,
      .q = Q_SAME },
};

static const struct form forms[] = {
    { "", { VALUES, ORDER, BLOCK_MAP, FORMATS, SIZES, INDEXES, END } },
};

static const struct typing typings[] = {
    { L8, RANK(1), { DT_F32 } }, { L8, RANK(1), { DT_F16 } },  { L8, RANK(1), { DT_I32 } },
    { L8, RANK(1), { DT_U8 } },  { L8, RANK(1), { DT_S8 } },   { L8, RANK(1), { DT_Q8S } },
    { L8, RANK(1), { DT_B8 } },  { L8, RANK(1), { DT_Q16S } }, { L8, RANK(1), { DT_Q16A } },
};

/* One level of the traversal: a dimension of the tensor or of its blocks. */
struct tier {
    uint32_t size;
    uint32_t dimension; /* of the output */
    bool block;
    bool sparse;
    const int32_t *segment, *index; /* sparse only */
    size_t n_segments, n_indexes;
    ptrdiff_t step; /* distance in the output from one index to the next, in elements */
};

struct traversal {
    uint32_t n;
    struct tier tier[MAX_LEVELS];
    struct shape out;
};

static const int32_t *list_of(const struct tensor *t, size_t *ret_n)
{
    *ret_n = t && t->data ? tensor_count(t) : 0;
    return t ? t->data : NULL;
}

/* Marks `dimension`, which level i traverses, as seen: each of lo..lo + n - 1 must occur once. */
static int mark_dimension(uint32_t *seen, int64_t dimension, uint32_t lo, uint32_t n, uint32_t i,
                          struct why *w)
{
    bool fits = dimension >= lo && dimension < (int64_t) lo + n && !(*seen >> dimension & 1);

    REQUIRE(w, fits, "traversal_order[%u] = %d: must be a permutation of %u..%u", i,
            (int) dimension, lo, lo + n - 1);
    *seen |= 1u << dimension;
    return 0;
}

static int read_order(const struct call *c, struct traversal *t, struct why *w)
{
    size_t n_blocks, n_levels;
    const int32_t *map = list_of(c->in[BLOCK_MAP], &n_blocks);
    const int32_t *order = list_of(c->in[ORDER], &n_levels);
    uint32_t seen = 0;

    REQUIRE(w, n_levels <= MAX_LEVELS && n_blocks < n_levels && n_levels - n_blocks <= MAX_RANK,
            "%zu dimensions are traversed, %zu of them of blocks", n_levels, n_blocks);
    t->n = (uint32_t) n_levels;
    t->out.rank = (uint32_t) (n_levels - n_blocks);
    for (uint32_t i = 0; i < n_blocks; i++)
        REQUIRE(w, map[i] >= 0 && map[i] < (int32_t) t->out.rank && (i == 0 || map[i] > map[i - 1]),
                "block_map[%u] = %d: must be ascending dimensions below %u", i, map[i],
                t->out.rank);
    for (uint32_t i = 0; i < t->n; i++) {
        bool block = i >= t->out.rank;
        TRY(mark_dimension(&seen, order[i], block ? t->out.rank : 0,
                           block ? (uint32_t) n_blocks : t->out.rank, i, w));
        t->tier[i].block = block;
        t->tier[i].dimension =
            (uint32_t) (block ? map[order[i] - (int32_t) t->out.rank] : order[i]);
    }
    return 0;
}

static int read_sizes(const struct call *c, struct traversal *t, struct why *w)
{
    const int32_t *size = c->in[SIZES]->data, *format = c->in[FORMATS]->data;

    for (uint32_t i = 0; i < t->n; i++) {
        struct tier *l = &t->tier[i];
        REQUIRE(w, size[i] >= 0, "dimensions[%u] is %d: must not be negative", i, size[i]);
        REQUIRE(w, format[i] == FORMAT_DENSE || format[i] == FORMAT_SPARSE,
                "dim_formats[%u] is %d: must be 0 (dense) or 1 (sparse)", i, format[i]);
        l->size = (uint32_t) size[i];
        l->sparse = format[i] == FORMAT_SPARSE;
        uint64_t dim = l->block ? (uint64_t) t->out.dim[l->dimension] * l->size : l->size;
        REQUIRE(w, dim <= UINT32_MAX, "dimension %u would have %llu elements", l->dimension,
                (unsigned long long) dim);
        t->out.dim[l->dimension] = (uint32_t) dim;
    }
    return 0;
}

static int read_traversal(const struct call *c, struct traversal *ret, struct why *w)
{
    ptrdiff_t stride[MAX_RANK], block[MAX_RANK];

    *ret = (struct traversal){ 0 };
    TRY(read_order(c, ret, w));
    TRY(read_sizes(c, ret, w));
    REQUIRE(w, shape_check_size(&ret->out, 1) == 0, "the tensor has too many elements");

    /* indexes of a block dimension advance by elements, those of the tensor's dimension by blocks
     */
    element_strides(&ret->out, stride);
    for (uint32_t d = 0; d < ret->out.rank; d++)
        block[d] = 1;
    for (uint32_t i = ret->n; i-- > 0;) {
        struct tier *l = &ret->tier[i];
        l->step = stride[l->dimension] * (l->block ? 1 : block[l->dimension]);
        if (l->block)
            block[l->dimension] = (ptrdiff_t) l->size;
    }
    for (uint32_t i = 0; i < ret->n && 2 * i + 1 < c->n_many; i++) {
        struct tier *l = &ret->tier[i];
        l->segment = list_of(c->arg[c->many_at + 2 * i], &l->n_segments);
        l->index = list_of(c->arg[c->many_at + 2 * i + 1], &l->n_indexes);
    }
    return 0;
}

/* Checks the segments and indexes of sparse level i for the `before` elements of the levels before
 * it; *ret_n: number of its indexes. */
static int check_sparse(const struct tier *l, uint32_t i, uint64_t before, uint64_t *ret_n,
                        struct why *w)
{
    REQUIRE(w, l->n_segments > before, "level %u: %zu array_segments, must be at least %llu", i,
            l->n_segments, (unsigned long long) before + 1);
    for (uint64_t k = 0; k <= before; k++)
        REQUIRE(w,
                l->segment[k] >= (k ? l->segment[k - 1] : 0) &&
                    (size_t) l->segment[k] <= l->n_indexes,
                "level %u: array_segments[%llu] = %d: must ascend, up to %zu", i,
                (unsigned long long) k, l->segment[k], l->n_indexes);
    for (int32_t k = l->segment[0]; k < l->segment[before]; k++)
        REQUIRE(w, l->index[k] >= 0 && (uint32_t) l->index[k] < l->size,
                "level %u: array_indices[%d] = %d: must be below %u", i, k, l->index[k], l->size);
    *ret_n = (uint64_t) l->segment[before];
    return 0;
}

/* Checks that there is a stored value for every element traversed. */
static int check_values(const struct call *c, const struct traversal *t, struct why *w)
{
    uint64_t n = 1, stored = tensor_count(c->in[VALUES]);

    for (uint32_t i = 0; i < t->n; i++) {
        if (t->tier[i].sparse)
            TRY(check_sparse(&t->tier[i], i, n, &n, w));
        else
            n *= t->tier[i].size;
        REQUIRE(w, n <= UINT32_MAX, "too many elements are traversed");
    }
    REQUIRE(w, n <= stored, "%llu values are traversed, but only %llu are stored",
            (unsigned long long) n, (unsigned long long) stored);
    return 0;
}

static int infer(struct call *c, struct why *w)
{
    uint32_t levels = c->letter['t'];
    struct traversal t;

    REQUIRE(w, c->n_many == 2 * levels, "%u array_segments and array_indices, must be %u",
            c->n_many, 2 * levels);
    for (int role = ORDER; role <= SIZES; role++)
        if (!call_known(c, role))
            return 0;
    TRY(read_traversal(c, &t, w));
    c->out[0]->shape = t.out;
    for (uint32_t i = 0; i < c->n_many; i++)
        if (c->arg[c->many_at + i] && !c->arg[c->many_at + i]->data)
            return 0;
    return check_values(c, &t, w);
}

/* Whether all levels from i on are dense: they are copied at once. */
static bool is_box(const struct traversal *t, uint32_t i)
{
    for (; i < t->n; i++)
        if (t->tier[i].sparse)
            return false;
    return true;
}

static void move_box(const struct traversal *t, uint32_t i, const struct movement *m, size_t at,
                     char *to)
{
    struct copy_axis box[MAX_LEVELS];
    ptrdiff_t stored = 1;

    for (uint32_t k = t->n; k-- > i; stored *= (ptrdiff_t) t->tier[k].size)
        box[k - i] = (struct copy_axis){ t->tier[k].size, stored, t->tier[k].step };
    copy_elements(m->size, box, t->n - i,
                  (const char *) m->from[VALUES] + at * (size_t) stored * m->size, to);
}

/* Copies the values of levels i and later.  at: number of the element of the levels before, to: its
 * place in the output. */
static void visit(const struct traversal *t, uint32_t i, const struct movement *m, size_t at,
                  char *to)
{
    const struct tier *l = &t->tier[i];
    ptrdiff_t step = i < t->n ? l->step * (ptrdiff_t) m->size : 0;

    if (is_box(t, i))
        move_box(t, i, m, at, to);
    else if (l->sparse)
        for (int32_t k = l->segment[at]; k < l->segment[at + 1]; k++)
            visit(t, i + 1, m, (size_t) k, to + l->index[k] * step);
    else
        for (uint32_t k = 0; k < l->size; k++)
            visit(t, i + 1, m, at * l->size + k, to + (ptrdiff_t) k * step);
}

static void move(const struct call *c, const struct movement *m)
{
    struct traversal t;

    if (tensor_count(c->out[0]) == 0 || read_traversal(c, &t, NULL) < 0)
        return;
    fill_elements(m->size, m->fill, tensor_count(c->out[0]), m->to[0]);
    visit(&t, 0, m, 0, m->to[0]);
}

/* --- drawing: one or two levels, with sizes that fit the number of values */

static uint32_t levels_of(const struct call *c)
{
    return c->in[ORDER]->shape.dim[0];
}

static bool is_sparse(const struct call *c, uint32_t i)
{
    return ((const int32_t *) c->in[FORMATS]->data)[i] == FORMAT_SPARSE;
}

static uint32_t size_of(const struct call *c, uint32_t i)
{
    return (uint32_t) ((const int32_t *) c->in[SIZES]->data)[i];
}

static uint32_t divisor_of(uint32_t n, struct drawer *d)
{
    uint32_t divisor = 1 + d->below(d, 6);

    while (n % divisor)
        divisor--;
    return divisor;
}

/* The last level: if sparse, as large as the largest possible segment, else a divisor of the number
 * of values.  The first: their quotient, or more if it is sparse. */
static void draw_sizes(const struct call *c, struct drawer *d, int32_t *size)
{
    uint32_t n = (uint32_t) tensor_count(c->in[VALUES]), last = levels_of(c) - 1;
    uint32_t inner = last == 0 ? 1 : is_sparse(c, 1) ? n : divisor_of(n, d);
    uint32_t outer = last > 0 && is_sparse(c, 1) ? 1 + d->below(d, 3) : n / inner;

    size[last] = (int32_t) inner;
    size[0] = (int32_t) (outer + (is_sparse(c, 0) ? d->below(d, 3) : 0));
}

/* Number of indexes of sparse level i. */
static uint32_t count_indexes(const struct call *c, uint32_t i, struct drawer *d)
{
    uint32_t n = (uint32_t) tensor_count(c->in[VALUES]);

    if (i + 1 == levels_of(c))
        return n;
    if (!is_sparse(c, i + 1))
        return n / size_of(c, i + 1);
    return 1 + d->below(d, size_of(c, i) < n ? size_of(c, i) : n);
}

/* Number of segments of level i: one for each element of the levels before. */
static uint32_t count_segments(const struct call *c, uint32_t i)
{
    const struct tensor *before = i ? c->arg[INDEXES + 2 * (i - 1)] : NULL;

    if (i == 0)
        return 1;
    return is_sparse(c, i - 1)
               ? (uint32_t) ((const int32_t *) before->data)[before->shape.dim[0] - 1]
               : size_of(c, i - 1);
}

static bool draw_segments(const struct call *c, uint32_t i, struct drawer *d, struct tensor *to)
{
    uint32_t segments = count_segments(c, i), left = count_indexes(c, i, d);
    int32_t *segment = to->data;

    to->shape = (struct shape){ 1, { segments + 1 } };
    segment[0] = 0;
    for (uint32_t k = 1; k <= segments; k++) {
        uint32_t size = k == segments ? left : d->below(d, left + 1);
        segment[k] = segment[k - 1] + (int32_t) size;
        left -= size;
    }
    return true;
}

/* Draws consecutive indexes from a random start. */
static bool draw_indexes(const struct call *c, uint32_t i, struct drawer *d, struct tensor *to)
{
    const struct tensor *segments = c->arg[INDEXES + 2 * i];
    const int32_t *segment = segments->data;
    uint32_t n = segments->shape.dim[0] - 1;
    int32_t *index = to->data;

    to->shape = (struct shape){ 1, { (uint32_t) segment[n] } };
    for (uint32_t k = 0; k < n; k++) {
        uint32_t size = (uint32_t) (segment[k + 1] - segment[k]);
        if (size > size_of(c, i))
            return false;
        int32_t start = (int32_t) d->below(d, size_of(c, i) - size + 1);
        for (uint32_t j = 0; j < size; j++)
            index[segment[k] + (int32_t) j] = start + (int32_t) j;
    }
    return true;
}

/* With two levels: columns before rows, or one dimension and its blocks. */
static bool draw_order(const struct call *c, struct drawer *d, struct tensor *to)
{
    uint32_t levels = (c->n_inputs_total - INDEXES) / 2;
    int32_t *order = to->data;

    if (tensor_count(c->in[VALUES]) > 40 || levels < 1 || levels > 2)
        return false;
    to->shape = (struct shape){ 1, { levels } };
    order[0] = levels == 2 && d->below(d, 3) == 0;
    order[levels - 1] = levels == 2 ? 1 - order[0] : 0;
    return true;
}

static bool draw(const struct call *c, int role, struct drawer *d, struct tensor *to)
{
    int32_t *value = to->data;

    if (role == ORDER)
        return draw_order(c, d, to);
    if (role == BLOCK_MAP) {
        const int32_t *order = c->in[ORDER]->data;
        to->shape = (struct shape){ 1, { 1 } };
        value[0] = 0;
        return levels_of(c) == 2 && order[0] == 0 && d->below(d, 2);
    }
    to->shape = (struct shape){ 1, { levels_of(c) } };
    for (uint32_t i = 0; role == FORMATS && i < levels_of(c); i++)
        value[i] = (int32_t) d->below(d, 2);
    if (role == SIZES)
        draw_sizes(c, d, value);
    if (role != INDEXES)
        return true;
    uint32_t level = (c->n_in - INDEXES) / 2;
    if (level >= levels_of(c) || !is_sparse(c, level))
        return false;
    return (c->n_in - INDEXES) % 2 ? draw_indexes(c, level, d, to) : draw_segments(c, level, d, to);
}

static bool omits(const struct call *c, int role, struct drawer *d)
{
    if (role == BLOCK_MAP)
        return d->below(d, 2);
    return !is_sparse(c, (c->n_in - INDEXES) / 2 % levels_of(c));
}

const struct op op_DENSIFY = {
    .code = OP_DENSIFY,
    .name = "DENSIFY",
    .summary = "Converts a sparse tensor to a dense one (experimental: above every feature "
               "level).",
    .formula = "output = 0 except for the values, traversed dimension by dimension in "
               "traversal_order: a dense dimension with all indexes, a sparse one with "
               "array_indices[s..e - 1], s and e being array_segments at the position so far and "
               "the next",
    .since = L8,
    .in = inputs,
    .n_in = COUNT(inputs),
    .out = outputs,
    .n_out = COUNT(outputs),
    .forms = forms,
    .n_forms = COUNT(forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .error = { ERROR_EXACT, .text = "the errors of the elements move with them" },
    .infer = infer,
    .move = move,
    .draw = draw,
    .omits = omits,
};
