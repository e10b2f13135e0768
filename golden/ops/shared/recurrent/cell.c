#include "golden/ops/shared/recurrent/cell.h"

#include <string.h>

#include "golden/exec/const_cache.h"
#include "golden/math/vector_loop.h"
#include "golden/ops/shared/elementwise/activation.h"

struct cell_sequence cell_sequence_of(const struct tensor *input, bool time_major)
{
    const uint32_t *dim = input->shape.dim;

    if (input->shape.rank == 2)
        return (struct cell_sequence){ dim[0], 1, 1, dim[0] };
    if (time_major)
        return (struct cell_sequence){ dim[1], dim[0], 1, dim[1] };
    return (struct cell_sequence){ dim[0], dim[1], dim[1], 1 };
}

struct ball_array cell_operand(const struct cell *k, int role)
{
    int at = role == NO_OPERAND ? -1 : call_arg(k->c, role);

    if (at < 0)
        return (struct ball_array){ 0 };
    return (struct ball_array){ k->c->x[at], k->unit > 0 ? k->c->ex[at] : NULL };
}

/* Only floats overflow. */
static bool may_overflow(const struct cell *k)
{
    return k->unit > 0 && k->c->arg[0]->scale == 0;
}

/* Whether a float result at x may have overflowed.  The error bounds of long recurrences are much
 * wider than real errors, so a value is taken to overflow only beyond half of the range. */
static bool is_beyond(struct ball x, double unit)
{
    return x.e == INFINITY || bound_overflows(2 * x.x, DBL_MIN, unit);
}

static bool overflows(const struct cell *k, struct ball x)
{
    return may_overflow(k) && is_beyond(x, k->unit);
}

struct ball cell_check_overflow(const struct cell *k, struct ball x, struct ball y)
{
    if (overflows(k, x))
        y.e = INFINITY;
    return y;
}

static double *doubles(const struct cell *k, size_t n, struct why *w)
{
    double *p = arena_alloc_raw(k->c->scratch, n + 1, sizeof *p);

    if (!p)
        why_no_memory_for(w, "%s: %zu values", k->c->op->name, n);
    return p;
}

int cell_array(const struct cell *k, size_t n, struct ball_array *ret_array, struct why *w)
{
    struct ball_array a = { doubles(k, n, w), k->unit > 0 ? doubles(k, n, w) : NULL };

    if (!a.x || (k->unit > 0 && !a.e))
        return -1;
    *ret_array = a;
    return 0;
}

int cell_state(const struct cell *k, int role, size_t n, struct ball_array *ret_state,
               struct why *w)
{
    struct ball_array from = cell_operand(k, role);

    TRY(cell_array(k, n, ret_state, w));
    for (size_t i = 0; i < n; i++)
        ball_put(ret_state, i, ball_at(&from, i));
    return 0;
}

/* --- products */

/* Magnitudes are ordered as their bits are; NaN, whose bits are larger than those of infinity, is
 * left out. */
VECTOR_LOOP static double largest_of(const double *x, size_t n)
{
    int64_t most = 0, infinity = (int64_t) 0x7ff << 52;
    double largest;

    for (size_t i = 0; i < n; i++) {
        int64_t bits;
        memcpy(&bits, &x[i], sizeof bits);
        bits &= INT64_MAX;
        bits = bits > infinity ? 0 : bits;
        most = bits > most ? bits : most;
    }
    memcpy(&largest, &most, sizeof largest);
    return largest;
}

int cell_matrix_measure(const struct cell *k, struct cell_matrix *m, struct why *w)
{
    if (k->unit == 0)
        return 0;
    if (!(m->magnitude = doubles(k, m->n * m->k, w)))
        return -1;
    m->largest = largest_of(m->weights.x, m->n * m->k);
    for (size_t i = 0; i < m->n * m->k; i++)
        m->magnitude[i] = fabs(m->weights.x[i]);
    return 0;
}

struct packing {
    const struct cell *k;
    const struct cell_matrix *m;
    bool magnitudes;
};

static int pack(const void *context, void *to, struct why *w)
{
    const struct packing *p = context;
    struct cell_matrix m = *p->m;

    if (p->magnitudes)
        TRY(cell_matrix_measure(p->k, &m, w));
    matmul_pack_into(m.n, m.k, 1, p->magnitudes ? m.magnitude : m.weights.x, to);
    return 0;
}

/* Packs weights or their magnitudes: those of constants once for all runs, others if they are
 * reused; else sets *ret_packed to NULL. */
static int pack_weights(const struct cell *k, int role, bool reused, bool magnitudes,
                        const struct cell_matrix *m, const struct matmul_packed **ret_packed,
                        struct why *w)
{
    const struct packing p = { k, m, magnitudes };
    struct const_recipe r = { .form = magnitudes ? CONST_ABS_VALUE_PANELS : CONST_VALUE_PANELS,
                              .n = m->n,
                              .k = m->k,
                              .groups = 1,
                              .bytes = matmul_packed_bytes(m->n, m->k, 1),
                              .make = pack,
                              .context = &p };
    struct const_cache *kept = k->c->const_cache ? k->c->const_cache[call_arg(k->c, role)] : NULL;

    *ret_packed = NULL;
    if (!kept && !reused)
        return 0;
    *ret_packed = const_cache_get(kept, &r, k->c->scratch, w);
    return *ret_packed ? 0 : -1;
}

int cell_matrix_init(const struct cell *k, int role, bool reused, struct cell_matrix *ret_matrix,
                     struct why *w)
{
    struct cell_matrix m = { .weights = cell_operand(k, role) };

    if (m.weights.x) {
        m.n = k->c->in[role]->shape.dim[0];
        m.k = k->c->in[role]->shape.dim[1];
        TRY(pack_weights(k, role, reused, false, &m, &m.packed, w));
        if (k->unit > 0)
            TRY(pack_weights(k, role, reused, true, &m, &m.packed_magnitude, w));
        if (m.packed_magnitude)
            m.largest = largest_of(m.weights.x, m.n * m.k);
        else
            TRY(cell_matrix_measure(k, &m, w));
    }
    *ret_matrix = m;
    return 0;
}

static void add_product(const struct cell *k, const struct cell_rows *rows, const double *from,
                        size_t stride, const struct cell_matrix *m, const double *weights,
                        const struct matmul_packed *packed, double *to, size_t to_stride)
{
    struct matmul product = { .m = rows->n,
                              .n = m->n,
                              .k = m->k,
                              .a = from,
                              .lda = stride,
                              .b = weights,
                              .packed = packed,
                              .add = true,
                              .c = to,
                              .ldc = to_stride };
    matmul(&product, k->c->pool);
}

/* a[i] = |x[i]| * factor + e[i], dense */
static void magnitudes(const struct cell_rows *from, size_t width, double factor, double *a)
{
    for (size_t i = 0; i < from->n; i++)
        for (size_t j = 0; j < width; j++) {
            struct ball x = ball_at(&from->at, i * from->stride + j);
            a[i * width + j] = fabs(x.x) * factor + x.e;
        }
}

/* to.e += (rounding * |x| + ex) * |w| + (|x| + ex) * ew */
static int add_errors(const struct cell *k, const struct cell_rows *from,
                      const struct cell_matrix *m, size_t terms, const struct cell_rows *to,
                      struct why *w)
{
    double rounding = bound_roundings(k->c->dot_factor, terms) * k->unit;
    struct arena_mark mark = arena_mark(k->c->scratch);
    double *a = doubles(k, from->n * m->k, w);

    if (!a)
        return -1;
    magnitudes(from, m->k, rounding, a);
    add_product(k, from, a, m->k, m, m->magnitude, m->packed_magnitude, to->at.e, to->stride);
    if (m->weights.e) {
        magnitudes(from, m->k, 1, a);
        add_product(k, from, a, m->k, m, m->weights.e, NULL, to->at.e, to->stride);
    }
    /* an infinite error times a weight of zero gives NaN: the value may be NaN, so INFINITY */
    for (size_t i = 0; i < to->n; i++)
        for (size_t j = 0; j < m->n; j++)
            to->at.e[i * to->stride + j] = bound_clean(to->at.e[i * to->stride + j]);
    arena_rewind(k->c->scratch, mark);
    return 0;
}

/* Partial sums of floats beyond the largest number may be infinite although the sum is not: the
 * error of such a sum is infinite.  Before the product is added. */
static void check_partial_sums(const struct cell *k, const struct cell_rows *from,
                               const struct cell_matrix *m, const struct cell_rows *to)
{
    double largest = bound_largest(k->unit);
    double weights = k->c->arg[0]->scale == 0 ? m->largest : 0;

    for (size_t i = 0; i < from->n && weights > 0; i++) {
        const double *row = from->at.x + i * from->stride;
        double most = largest_of(row, m->k) * weights * (double) m->k;
        if (largest_of(to->at.x + i * to->stride, m->n) + most <= largest)
            continue;
        for (size_t j = 0; j < m->n; j++) {
            double sum = fabs(to->at.x[i * to->stride + j]);
            if (sum + most <= largest)
                continue;
            for (size_t l = 0; l < m->k; l++)
                sum += fabs(row[l] * m->weights.x[j * m->k + l]);
            if (sum > largest)
                to->at.e[i * to->stride + j] = INFINITY;
        }
    }
}

int cell_product(const struct cell *k, const struct cell_rows *from, const struct cell_matrix *m,
                 size_t terms, const struct cell_rows *to, struct why *w)
{
    if (k->unit > 0)
        check_partial_sums(k, from, m, to);
    add_product(k, from, from->at.x, from->stride, m, m->weights.x, m->packed, to->at.x,
                to->stride);
    return k->unit > 0 ? add_errors(k, from, m, terms, to, w) : 0;
}

/* --- gates */

static size_t width_of(const struct cell *k, int role)
{
    const struct tensor *t = role == NO_OPERAND ? NULL : k->c->in[role];

    return t ? t->shape.dim[t->shape.rank - 1] : 0;
}

/* Starts the sums with the bias, with the errors of adding it and of underflow in the products. */
static void start_sums(const struct cell *k, struct cell_gate *g, size_t rows)
{
    double rounding = bound_roundings(k->c->dot_factor, g->terms) * k->unit;
    double lost = k->unit > 0 ? (double) g->terms * bound_tiny(k->unit) : 0;
    bool first = g->bias.x && !g->norm.x;

    for (size_t r = 0; r < rows; r++)
        for (size_t i = 0; i < g->units; i++) {
            struct ball b = first ? ball_at(&g->bias, i) : (struct ball){ 0, 0 };
            b.e += rounding * fabs(b.x) + lost;
            ball_put(&g->sum, r * g->units + i, b);
        }
}

/* Adds the products with the input of all steps. */
static int add_sequence(const struct cell *k, int role, int weights, struct cell_gate *g,
                        size_t rows, struct why *w)
{
    struct cell_rows from = { cell_operand(k, role), rows, width_of(k, role) };
    struct cell_rows to = { g->sum, rows, g->units };
    struct cell_matrix m;

    if (!from.at.x || weights == NO_OPERAND || !k->c->in[weights])
        return 0;
    TRY(cell_matrix_init(k, weights, false, &m, w));
    return cell_product(k, &from, &m, g->terms, &to, w);
}

int cell_gate_init(const struct cell *k, const struct cell_gate_roles *roles,
                   struct cell_gate *ret_gate, struct why *w)
{
    size_t rows = k->rows.batch * k->rows.time;
    struct cell_gate g = {
        .units = k->c->in[roles->weights]->shape.dim[0],
        .terms = width_of(k, roles->weights) + width_of(k, roles->aux_weights) +
                 width_of(k, roles->recurrent) + 2,
        .bias = cell_operand(k, roles->bias),
        .peephole = cell_operand(k, roles->peephole),
        .norm = cell_operand(k, roles->norm),
    };

    TRY(cell_array(k, rows * g.units, &g.sum, w));
    if (k->unit > 0 && g.norm.x && !(g.scratch = doubles(k, g.units, w)))
        return -1;
    start_sums(k, &g, rows);
    TRY(add_sequence(k, roles->input, roles->weights, &g, rows, w));
    TRY(add_sequence(k, roles->aux, roles->aux_weights, &g, rows, w));
    TRY(cell_matrix_init(k, roles->recurrent, k->rows.time > 1, &g.recurrent, w));
    *ret_gate = g;
    return 0;
}

int cell_gate_recur(const struct cell *k, const struct cell_gate *g, const struct ball_array *state,
                    size_t t, struct why *w)
{
    struct cell_rows from = { *state, k->rows.batch, g->recurrent.k };
    struct cell_rows to = { ball_from(&g->sum, t * k->rows.time_step * g->units), k->rows.batch,
                            k->rows.batch_step * g->units };

    return cell_product(k, &from, &g->recurrent, g->terms, &to, w);
}

/* The variance is a mean of squares, which may overflow although the values do not. */
static void normalise(const struct cell *k, const struct ball_array *a, size_t n, double *scratch)
{
    struct ball squares = { 0, 0 };

    for (size_t i = 0; i < n; i++)
        squares.x += a->x[i] * a->x[i];
    ball_normalise(a, n, k->unit, k->c->dot_factor, scratch);
    for (size_t i = 0; overflows(k, squares) && i < n; i++)
        a->e[i] = INFINITY;
}

void cell_gate_finish(const struct cell *k, const struct cell_gate *g, size_t t, size_t b,
                      const struct ball_array *cell_state, int32_t activation,
                      const struct ball_array *to)
{
    size_t row = b * k->rows.batch_step + t * k->rows.time_step;
    struct ball_array sum = ball_from(&g->sum, row * g->units);
    double u = k->unit;

    for (size_t i = 0; g->peephole.x && i < g->units; i++) {
        struct ball seen = ball_product(ball_at(&g->peephole, i), ball_at(cell_state, i), u);
        ball_put(&sum, i, ball_sum(ball_at(&sum, i), seen, u));
    }
    if (g->norm.x)
        normalise(k, &sum, g->units, g->scratch);
    for (size_t i = 0; g->norm.x && i < g->units; i++) {
        struct ball x = ball_product(ball_at(&sum, i), ball_at(&g->norm, i), u);
        ball_put(&sum, i, ball_sum(x, ball_at(&g->bias, i), u));
    }
    activation_of_cells(&sum, g->units, activation, u, to);
    for (size_t i = 0, n = may_overflow(k) ? g->units : 0; i < n; i++)
        if (is_beyond(ball_at(&sum, i), u))
            to->e[i] = INFINITY;
}

int cell_check_activation(const struct call *c, int role, unsigned allowed, struct why *w)
{
    if (!call_known(c, role))
        return 0;
    int32_t code = call_int(c, role);
    bool fits = code >= 0 && code < 31 && (allowed >> code & 1);
    REQUIRE(w, fits, "%s: %s is %d, which is not an activation allowed here", c->op->name,
            c->op->in[role].name, code);
    return 0;
}

struct ball_array cell_result(const struct call *c, int i, double unit)
{
    return (struct ball_array){ c->y[i], unit > 0 ? c->ey[i] : NULL };
}

bool cell_inexact(const struct call *c)
{
    for (uint32_t i = 0; i < c->n_in; i++)
        if (c->ex[i])
            return true;
    return false;
}

int cell_real_call(const struct call *c, struct call *ret_real, struct why *w)
{
    struct call real = *c;
    struct cell k = { .c = &real };

    real.dot_factor = 0;
    real.const_cache = NULL; /* holds units */
    real.x = arena_alloc(c->scratch, c->n_in + 1, sizeof *real.x);
    for (uint32_t i = 0; real.x && i < c->n_in; i++) {
        size_t n = c->x[i] ? tensor_count(c->arg[i]) : 0;
        if (n && !(real.x[i] = doubles(&k, n, w)))
            return -1;
        for (size_t j = 0; j < n; j++)
            real.x[i][j] = c->x[i][j] * tensor_step(c->arg[i], 0);
    }
    if (!real.x)
        return why_no_memory_for(w, "%s", c->op->name);
    *ret_real = real;
    return 0;
}

int cell_infer_sequence(const struct call *c, int input, int time_major, uint32_t outputs,
                        struct shape *ret_shape, struct why *w)
{
    const uint32_t *dim = c->in[input]->shape.dim;

    if (!call_known(c, time_major)) {
        *ret_shape = (struct shape){ 3, { 0, 0, outputs } };
        return 0;
    }
    int32_t major = call_int(c, time_major);
    REQUIRE(w, major == 0 || major == 1, "%s: %s is %d, must be 0 or 1", c->op->name,
            c->op->in[time_major].name, major);
    REQUIRE(w, dim[major] == c->letter['B'], "%s: %s has batch size %u, the states have %u",
            c->op->name, c->op->in[input].name, dim[major], c->letter['B']);
    *ret_shape = (struct shape){ 3, { dim[0], dim[1], outputs } };
    return 0;
}

static uint32_t draw_size(const struct call *c, int input, char letter, struct drawer *d)
{
    const struct shape *s = &c->in[input]->shape;

    if (c->bound[(unsigned char) letter])
        return c->letter[(unsigned char) letter];
    if (letter == 'B')
        return s->dim[s->rank == 3 ? d->below(d, 2) : 0];
    return d->below(d, 4) ? 1 + d->below(d, 6) : d->size(d, 6);
}

bool cell_draw_shape(const struct call *c, int input, int role, struct drawer *d, struct tensor *to)
{
    const char *dims = c->op->in[role].dims;
    char seen = 0;

    to->shape.rank = (uint32_t) strlen(dims);
    for (uint32_t i = 0; i < to->shape.rank; i++) {
        bool again = i > 0 && dims[i] == seen;
        to->shape.dim[i] = again ? to->shape.dim[i - 1] : draw_size(c, input, dims[i], d);
        seen = dims[i];
    }
    return true;
}

bool cell_draw_time_major(const struct call *c, int input, struct drawer *d, struct tensor *to)
{
    const uint32_t *dim = c->in[input]->shape.dim;
    bool either = dim[0] == dim[1];

    *(int32_t *) to->data = either ? (int32_t) d->below(d, 2) : dim[1] == c->letter['B'];
    return true;
}
