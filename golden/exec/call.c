/* Evaluating one bound call: widen, compute, propagate error bounds, narrow.  Records and kernels
 * use NHWC only: NCHW images are permuted before and after. */
#include <math.h>
#include <string.h>

#include "golden/exec/call.h"
#include "golden/exec/const_cache.h"
#include "golden/math/vector_loop.h"
#include "golden/model/copy_elements.h"

static const double unit_f32 = 0x1p-24, unit_f16 = 0x1p-11;
static const double tiny_f32 = 0x1p-126, tiny_f16 = 0x1p-14; /* smallest normal numbers */
static const double largest_f16 = 65504;

enum {
    MIN_CACHED = 256, /* elements of a constant: widening fewer costs less than a look-up */
    BLOCK = 256       /* elements whose errors are computed at a time */
};

static double or_default(double x, double otherwise)
{
    return x != 0 ? x : otherwise;
}

static bool is_half(const struct tensor *t, const struct evaluation *e)
{
    return t->dtype == DT_F16 || t->dtype == DT_FLOAT16 || (e->relaxed && t->dtype == DT_F32);
}

static double unit_of(const struct call *c, const struct evaluation *e)
{
    const struct arithmetic *a = &e->options->arithmetic;

    for (uint32_t i = 0; i < c->n_in; i++)
        if (c->arg[i] && is_half(c->arg[i], e))
            return or_default(a->f16, unit_f16);
    for (uint32_t i = 0; i < c->n_out; i++)
        if (is_half(c->out[i], e))
            return or_default(a->f16, unit_f16);
    return or_default(a->f32, unit_f32);
}

static bool has_tensor_data(const struct value *v)
{
    return v && dtype_info[v->tensor.dtype].tensor && v->tensor.data;
}

static double *scratch_doubles(const struct evaluation *e, size_t n)
{
    return arena_alloc_raw(e->scratch, n + 1, sizeof(double));
}

static int widen(const void *tensor, void *to, struct why *w)
{
    (void) w;
    tensor_widen(tensor, to);
    return 0;
}

static int widen_units(const void *tensor, void *to, struct why *w)
{
    (void) w;
    tensor_widen_units(tensor, to);
    return 0;
}

/* Values as eval() expects them; those of larger constants are cached. */
static const double *widened(const struct call *c, const struct value *v,
                             const struct evaluation *e, struct why *w)
{
    size_t n = tensor_count(&v->tensor);
    struct const_recipe r = { .form = c->op->units ? CONST_UNITS : CONST_VALUES,
                              .bytes = (n + 1) * sizeof(double),
                              .make = c->op->units ? widen_units : widen,
                              .context = &v->tensor };

    return const_cache_get(n < MIN_CACHED ? NULL : v->const_cache, &r, e->scratch, w);
}

static int widen_inputs(struct call *c, struct value *const *in, const struct evaluation *e,
                        struct why *w)
{
    for (uint32_t i = 0; i < c->n_in; i++) {
        if (!has_tensor_data(in[i]) || c->x[i])
            continue;
        c->x[i] = (double *) widened(c, in[i], e, w); /* kernels do not write to x */
        if (!c->x[i])
            return why_prefix(w, "%s", c->op->name);
    }
    return 0;
}

/* The range and the step of an integer type, as real numbers. */
struct steps {
    double lo, hi, step;
};

/* Largest distance from the stored value x of an implementation's value, which lies within `bound`
 * of real before rounding.  Integer types differ by whole steps, and saturate.  Like all functions
 * here that are called for each element, without branches, so that loops can be vectorised. */
static inline double integer_reach(const struct steps *s, double x, double real, double bound)
{
    double lo = real - bound, hi = real + bound;
    bool any = isnan(real) | !(bound < INFINITY);

    lo = (any | (lo < s->lo)) ? s->lo : lo;
    hi = (any | (hi > s->hi)) ? s->hi : hi;
    lo = lo > s->hi ? s->hi : lo;
    hi = hi < s->lo ? s->lo : hi;
    lo = x - lo;
    hi = hi - x;
    return lo > hi ? lo : hi; /* not negative, because lo <= x <= hi */
}

static inline double float_reach(double x, double real, double bound)
{
    double d = fabs(x - real), sum;
    bool exact_nan = isnan(x) & isnan(real) & (bound == 0);

    d = x == real ? 0 : d; /* equal infinities too */
    sum = d + bound;
    return isnan(d) ? (exact_nan ? 0 : INFINITY) : sum;
}

static inline uint64_t bits_of(double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* 2^exponent of x */
static inline double power_of(double x)
{
    uint64_t bits = bits_of(x) & (uint64_t) 2047 << 52;

    memcpy(&x, &bits, sizeof x);
    return x;
}

/* Error of storing fp32 as fp16 where the value lies within `carried` of x.  NNAPI names the format
 * but no rounding mode: it may be truncated, by less than an ulp; what fp16 represents is stored
 * exactly.  Subnormals may be flushed to zero, and values above the largest fp16 number may become
 * infinite. */
static inline double storage_error(double x, double carried)
{
    double a = fabs(x), most = a + carried, ulp = 2 * unit_f16 * power_of(most);
    double flushed = a - carried < tiny_f16 ? tiny_f16 : 0;
    double error = carried > 0 ? ulp : a - floor(a / ulp) * ulp;

    error = flushed > error ? flushed : error;
    error = most < tiny_f16 ? most : error;
    error = most <= largest_f16 ? error : INFINITY;
    return a < INFINITY ? error : 0;
}

VECTOR_LOOP static void add_storage_errors(size_t n, const double *restrict x,
                                           double *restrict error)
{
    for (size_t i = 0; i < n; i++)
        error[i] += storage_error(x[i], error[i]);
}

/* Whether a float operand has, among n elements from `at` on, one whose treatment NNAPI leaves
 * open: a subnormal number, NaN. */
VECTOR_LOOP static bool has_open_elements(const struct tensor *t, size_t at, size_t n)
{
    const uint32_t *single = (const uint32_t *) t->data + at;
    const uint16_t *half = (const uint16_t *) t->data + at;
    size_t found = 0;

    for (size_t i = 0; t->dtype == DT_F32 && i < n; i++) {
        uint32_t magnitude = single[i] << 1;
        found += magnitude - 1 < 0xffffff || magnitude > 0xff000000;
    }
    for (size_t i = 0; t->dtype == DT_F16 && i < n; i++) {
        uint16_t magnitude = (uint16_t) (half[i] << 1);
        found += (uint16_t) (magnitude - 1) < 0x7ff || magnitude > 0xf800;
    }
    return found > 0;
}

/* Adds the errors of those elements to the n errors.  NNAPI does not define computations with NaN
 * (the order of selections, comparisons and maxima); copies keep it.  Implementations may flush
 * subnormal numbers to zero, even where they copy, or take them for equal to each other and to zero
 * where they compare. */
static void add_open_elements(const struct tensor *t, bool computes, const double *x, size_t n,
                              double *error)
{
    double tiny = t->dtype == DT_F16 ? tiny_f16 : tiny_f32, largest = 0;

    for (size_t i = 0; i < n; i++)
        largest = fabs(x[i]) < tiny && fabs(x[i]) > largest ? fabs(x[i]) : largest;
    for (size_t i = 0; i < n; i++) {
        if (fabs(x[i]) < tiny)
            error[i] += largest;
        if (computes && isnan(x[i]))
            error[i] = INFINITY;
    }
}

/* error[i] = the reach of element i. */
VECTOR_LOOP static void integer_errors(const struct steps *s, bool narrow, size_t n,
                                       const double *restrict x, const double *restrict real,
                                       const double *restrict bound, double *restrict error)
{
    for (size_t i = 0; i < n; i++)
        error[i] = integer_reach(s, x[i], real[i], bound[i]) / s->step + 1e-9;
    for (size_t i = 0; narrow && i < n; i++) /* whole steps; 32 bits suffice for narrow types */
        error[i] = (double) (int32_t) error[i] * s->step;
    for (size_t i = 0; !narrow && i < n; i++)
        error[i] = (double) (int64_t) error[i] * s->step;
}

/* Without NaN and infinities there is less to do. */
VECTOR_LOOP static void float_errors(size_t n, const double *restrict x,
                                     const double *restrict real, const double *restrict bound,
                                     double *restrict error)
{
    uint64_t odd = 0;

    for (size_t i = 0; i < n; i++) {
        error[i] = fabs(x[i] - real[i]) + bound[i];
        odd |= error[i] < INFINITY ? 0 : 1;
    }
    for (size_t i = 0; odd && i < n; i++)
        error[i] = float_reach(x[i], real[i], bound[i]);
}

/* What n errors include; kept from one call to the next. */
struct occurring {
    bool nonzero, infinite;
};

VECTOR_LOOP static void look_at(size_t n, const double *error, struct occurring *found)
{
    uint64_t nonzero = 0, infinite = 0;

    for (size_t i = 0; i < n; i++) {
        nonzero |= bits_of(error[i]);
        infinite |= error[i] < INFINITY ? 0 : 1;
    }
    found->nonzero |= nonzero << 1 != 0;
    found->infinite |= infinite != 0;
}

/* The errors of n elements from `at` on, whose stored values are x; not those of open elements. */
static void element_errors(const struct value *v, const struct evaluation *e, size_t at, size_t n,
                           const double *x, double *error)
{
    static const double zeros[BLOCK];
    const struct tensor *t = &v->tensor;
    const struct codec *codec = dtype_info[t->dtype].codec;
    const double *real = v->real ? v->real + at : x, *bound = v->bound ? v->bound + at : zeros;
    double step = tensor_step(t, 0);
    const struct steps range = { (codec->min - t->zero) * step, (codec->max - t->zero) * step,
                                 step };

    if (codec->integer && !t->channel_scale)
        integer_errors(&range, codec->size < sizeof(int32_t), n, x, real, bound, error);
    else
        float_errors(n, x, real, bound, error);
    if (e->relaxed && t->dtype == DT_F32)
        add_storage_errors(n, x, error);
}

static bool moves(const struct call *c)
{
    return c->op->move && (!c->op->moves || c->op->moves(c));
}

/* Adds the errors of open elements to those of a tensor with values x (NULL: not computed). */
static int add_open(const struct tensor *t, const struct evaluation *e, bool computes,
                    const double *x, double *error, struct occurring *found)
{
    size_t n = tensor_count(t);
    double *values = NULL;

    if (!x) {
        x = values = scratch_doubles(e, n);
        if (!values)
            return -1;
        tensor_widen(t, values);
    }
    add_open_elements(t, computes, x, n, error);
    look_at(n, error, found);
    return 0;
}

/* Sets ex[input], the largest differences between an implementation's input and the reference's,
 * and x[input], if its values are needed and had to be computed. */
static int input_error(struct call *c, uint32_t input, const struct value *v,
                       const struct evaluation *e, struct why *w)
{
    const struct tensor *t = &v->tensor;
    size_t n = tensor_count(t);
    bool computes = !moves(c), values = computes && !c->op->units, carried;
    bool whole = values || t->channel_scale, open = false;
    double block[BLOCK];
    struct occurring found = { false, false };

    carried = v->bound || v->real || (e->relaxed && t->dtype == DT_F32);
    if (!carried && !has_open_elements(t, 0, n))
        return 0;
    double *x = whole ? scratch_doubles(e, n) : NULL, *error = scratch_doubles(e, n);
    if ((whole && !x) || !error)
        return why_no_memory_for(w, "%s", c->op->name);
    if (t->channel_scale)
        tensor_widen(t, x);
    for (size_t at = 0; at < n; at += BLOCK) {
        size_t run = n - at < BLOCK ? n - at : BLOCK;
        double *part = whole ? x + at : block;
        if (!t->channel_scale)
            tensor_widen_part(t, at, run, part);
        element_errors(v, e, at, run, part, error + at);
        look_at(run, error + at, &found);
        open |= has_open_elements(t, at, run);
    }
    if (open && add_open(t, e, computes, x, error, &found) < 0)
        return why_no_memory_for(w, "%s", c->op->name);
    c->x[input] = values ? x : NULL;
    c->ex[input] = found.nonzero ? error : NULL;
    c->unbounded |= found.infinite;
    return 0;
}

static int input_errors(struct call *c, struct value *const *in, const struct evaluation *e,
                        struct why *w)
{
    for (uint32_t i = 0; i < c->n_in; i++)
        if (has_tensor_data(in[i]))
            TRY(input_error(c, i, in[i], e, w));
    return 0;
}

/* Memory for results or their errors; kept with the output if bounds are computed. */
static double *output_array(const struct evaluation *e, const struct tensor *t)
{
    struct arena *a = e->options->bounds ? e->keep : e->scratch;

    return arena_alloc_raw(a, tensor_count(t) + 1, sizeof(double));
}

static bool has_error(const struct call *c)
{
    for (uint32_t i = 0; i < c->n_in; i++)
        if (c->ex[i])
            return true;
    return false;
}

/* Whether an inexact operand selects elements instead of being moved itself, e.g. indexes. */
static bool selection_undecided(const struct call *c)
{
    for (uint32_t i = 0; i < c->n_in; i++) {
        const struct tensor *t = c->arg[i];
        if (c->ex[i] && t && dtype_info[t->dtype].tensor &&
            call_role(c, i)->slot != c->op->out[0].slot)
            return true;
    }
    return false;
}

/* Moves the operands' errors as their values: zeros if an operand is exact, one value for a scalar,
 * NULL if it is omitted. */
static int move_errors(const struct call *c, const struct evaluation *e, struct value *const *in,
                       struct value *const *out, const void **from, void **to)
{
    static const double zero;
    struct movement m = { sizeof(double), &zero, from, to };

    for (uint32_t i = 0; i < c->n_in; i++) {
        const struct tensor *t = in[i] ? &in[i]->tensor : NULL;
        double *error = c->ex[i];
        if (!error && t && t->data) {
            error = arena_alloc(e->scratch, tensor_count(t) + 1, sizeof *error);
            if (!error)
                return -1;
            if (e->relaxed && t->dtype == DT_FLOAT32)
                *error = storage_error(tensor_at(t, 0), 0);
        }
        from[i] = error;
    }
    for (uint32_t i = 0; i < c->n_out; i++) {
        to[i] = arena_alloc_raw(e->keep, tensor_count(&out[i]->tensor) + 1, sizeof(double));
        if (!to[i])
            return -1;
        out[i]->bound = to[i];
    }
    c->op->move(c, &m);
    return 0;
}

static int undecided(const struct call *c, const struct evaluation *e, struct value *const *out)
{
    for (uint32_t i = 0; i < c->n_out; i++)
        TRY(value_undecided(out[i], e->keep));
    return 0;
}

/* Moves the values, then their errors. */
static int move_values(const struct call *c, const struct evaluation *e, struct value *const *in,
                       struct value *const *out, struct why *w)
{
    const struct tensor *t = &out[0]->tensor;
    uint32_t fill =
        (uint32_t) t->zero; /* two's complement, little endian: valid for 1, 2 and 4 bytes */
    const void **from = arena_alloc(e->scratch, c->n_in + 1, sizeof *from);
    void **to = arena_alloc(e->scratch, c->n_out + 1, sizeof *to);
    struct movement m = { dtype_info[t->dtype].codec->size, &fill, from, to };

    if (!from || !to)
        return why_no_memory_for(w, "%s", c->op->name);
    for (uint32_t i = 0; i < c->n_in; i++)
        from[i] = in[i] ? in[i]->tensor.data : NULL;
    for (uint32_t i = 0; i < c->n_out; i++)
        to[i] = out[i]->tensor.data;
    c->op->move(c, &m);
    if (!e->options->bounds || !has_error(c))
        return 0;
    if ((selection_undecided(c) ? undecided(c, e, out) : move_errors(c, e, in, out, from, to)) < 0)
        return why_no_memory_for(w, "%s", c->op->name);
    return 0;
}

/* Adds to the bounds of n quantised results y the error of rounding them to steps. */
VECTOR_LOOP static void add_quantisation(const struct call *c, const struct evaluation *e,
                                         const struct tensor *t, size_t n, const double *restrict y,
                                         double *restrict bound)
{
    const struct error_model *model = &c->op->error;
    bool once = model->kind == ERROR_EXACT || model->kind == ERROR_DISCRETE;
    double twice = or_default(e->options->arithmetic.quant_steps, ERROR_QUANT_STEPS);
    double step = tensor_step(t, 0), zero = t->zero * step;
    double rounding = step * (0.5 + (once ? model->steps : model->steps + twice));

    for (size_t i = 0; i < n; i++) {
        /* Scaling in single precision, after TOSA's bound of an inexact RESCALE: close to a tie
         * it may round the other way. */
        double scaling = (3 * fabs(y[i]) + fabs(y[i] + zero)) * unit_f32;
        scaling = fabs(y[i]) < INFINITY ? scaling : 0;
        bound[i] += rounding + scaling;
    }
}

/* How a float result is rounded. */
struct rounding {
    bool half, relaxed;      /* in fp16; as TENSOR_FLOAT32 */
    double ulps, unit, tiny; /* ulps 0: not rounded, but subnormals may be flushed */
};

/* The error of rounding a result that lies within `carried` of y. */
static inline double rounding_error(const struct rounding *r, double y, double carried)
{
    double a = fabs(y), most = a + carried, ulp = 2 * r->unit * power_of(most) * r->ulps;
    double error = (r->ulps > 0 ? ulp : 0) + (a - carried < 2 * r->tiny ? r->tiny : 0);

    /* relaxed: in fp16 it may be infinite */
    error = (r->half & r->relaxed & (most > largest_f16)) ? INFINITY : error;
    return a < INFINITY ? error : 0; /* infinity and NaN are not rounded */
}

VECTOR_LOOP static void add_float_rounding(const struct rounding r, size_t n,
                                           const double *restrict y, double *restrict bound)
{
    for (size_t i = 0; i < n; i++)
        bound[i] += rounding_error(&r, y[i], bound[i]);
}

/* Adds to the bounds of n results y the error of rounding them. */
static void add_rounding(const struct call *c, const struct evaluation *e, const struct tensor *t,
                         size_t n, const double *y, double *bound)
{
    const struct error_model *model = &c->op->error;
    const struct dtype_info *info = &dtype_info[t->dtype];
    bool rounds = model->kind != ERROR_EXACT && (model->kind != ERROR_DISCRETE || model->ulps > 0);
    bool half = is_half(t, e);
    const struct rounding r = { half, t->dtype == DT_F32, model->ulps, half ? unit_f16 : unit_f32,
                                half ? tiny_f16 : tiny_f32 };

    if (info->quant != QUANT_NONE && t->scale != 0)
        add_quantisation(c, e, t, n, y, bound);
    else if (!info->codec->integer && rounds)
        add_float_rounding(r, n, y, bound);
}

/* bound() functions expect finite values where errors are infinite. */
static int replace_open_inputs(struct call *c, const struct evaluation *e, struct why *w)
{
    for (uint32_t i = 0; i < c->n_in; i++) {
        size_t n = c->unbounded && c->ex[i] && c->x[i] ? tensor_count(c->arg[i]) : 0;
        double *finite = NULL;
        for (size_t k = 0; k < n; k++) {
            if (c->ex[i][k] < INFINITY || isfinite(c->x[i][k]))
                continue;
            if (!finite) {
                finite = scratch_doubles(e, n);
                if (!finite)
                    return why_no_memory_for(w, "%s", c->op->name);
                memcpy(finite, c->x[i], n * sizeof *finite);
                c->x[i] = finite;
            }
            finite[k] = 0;
        }
    }
    return 0;
}

/* The errors carried from the inputs: computed by bound(), which adds to them, else unknown. */
static int compute_bounds(struct call *c, const struct evaluation *e, struct why *w)
{
    double start = c->op->bound || !has_error(c) ? 0 : INFINITY;

    for (uint32_t i = 0; i < c->n_out; i++) {
        size_t n = tensor_count(c->out[i]);
        double *error = c->ey[i];
        for (size_t k = 0; k < n; k++)
            error[k] = start;
    }
    TRY(replace_open_inputs(c, e, w));
    return c->op->bound ? c->op->bound(c, w) : 0;
}

/* Stores n results y from `at` on. */
static void narrow_part(struct tensor *t, size_t at, size_t n, const double *y)
{
    const struct codec *codec = dtype_info[t->dtype].codec;

    codec->narrow(y, n, t->zero, tensor_step(t, 0), (char *) t->data + at * codec->size);
}

/* Stores the results; with bounds, keeps the real values, and adds the error of rounding them.
 * stored: that has been done. */
static void finish(const struct call *c, struct value *const *out, const struct evaluation *e,
                   bool stored)
{
    for (uint32_t i = 0; i < c->n_out; i++) {
        struct value *v = out[i];
        size_t n = tensor_count(&v->tensor);
        bool parts = e->options->bounds && !v->tensor.channel_scale;
        if (!stored && !parts)
            tensor_narrow(c->y[i], &v->tensor);
        if (!e->options->bounds)
            continue;
        v->real = c->y[i];
        v->bound = c->ey[i];
        for (size_t at = 0; at < n; at += BLOCK) {
            size_t run = n - at < BLOCK ? n - at : BLOCK;
            if (!stored && parts)
                narrow_part(&v->tensor, at, run, v->real + at);
            add_rounding(c, e, &v->tensor, run, v->real + at, v->bound + at);
        }
    }
}

static int allocate_reals(struct call *c, double **ret_arrays, const struct evaluation *e,
                          struct why *w)
{
    for (uint32_t i = 0; i < c->n_out; i++) {
        ret_arrays[i] = output_array(e, c->out[i]);
        if (!ret_arrays[i])
            return why_no_memory_for(w, "%s", c->op->name);
    }
    return 0;
}

static int evaluate_reals(struct call *c, struct value *const *in, struct value *const *out,
                          const struct evaluation *e, struct why *w)
{
    bool bounds = e->options->bounds, integers = c->op->eval_int && c->out[0]->dtype == DT_I32;

    if (bounds) {
        TRY(allocate_reals(c, c->y, e, w));
        TRY(allocate_reals(c, c->ey, e, w));
    }
    if (c->op->eval_stored && !e->options->by_definition && (bounds || e->stored)) {
        int stored = c->op->eval_stored(c, w);
        if (stored > 0 && bounds)
            finish(c, out, e, true);
        if (stored)
            return stored < 0 ? -1 : 0;
    }
    if (integers && !bounds) {
        c->op->eval_int(c);
        return 0;
    }

    TRY(widen_inputs(c, in, e, w));
    if (!bounds)
        TRY(allocate_reals(c, c->y, e, w));
    if (integers) {
        c->op->eval_int(c);
        for (uint32_t i = 0; i < c->n_out; i++)
            tensor_widen(c->out[i], c->y[i]);
    } else {
        TRY(c->op->eval(c, w));
    }
    if (bounds)
        TRY(compute_bounds(c, e, w));
    finish(c, out, e, false);
    return 0;
}

/* Sets output shapes that depend on values; they must fit the declared ones. */
static int measure_outputs(struct call *c, struct value *const *in, struct value *const *out,
                           const struct evaluation *e, struct why *w)
{
    uint32_t n_out = c->n_out < MAX_OUT_ROLES ? c->n_out : MAX_OUT_ROLES;
    struct shape declared[MAX_OUT_ROLES];
    char a[SHAPE_TEXT], b[SHAPE_TEXT];

    if (!c->op->measure)
        return 0;
    TRY(widen_inputs(c, in, e, w));
    for (uint32_t i = 0; i < n_out; i++)
        declared[i] = c->out[i]->shape;
    TRY(c->op->measure(c, w));
    for (uint32_t i = 0; i < n_out; i++) {
        const struct shape *s = &c->out[i]->shape;
        bool fits = s->rank == declared[i].rank;
        for (uint32_t d = 0; fits && d < s->rank; d++)
            fits = declared[i].dim[d] == 0 || declared[i].dim[d] == s->dim[d];
        if (!fits)
            return why_fail(w, WHY_EXECUTION, "%s: output %u is declared %s, but its shape is %s",
                            c->op->name, i, shape_text(&declared[i], a), shape_text(s, b));
        if (shape_check_size(s, dtype_info[out[i]->tensor.dtype].codec->size) < 0)
            return why_fail(w, WHY_EXECUTION, "%s: output %u is too large", c->op->name, i);
        out[i]->tensor.shape = *s;
    }
    return 0;
}

/* Keeps the distribution of a random result, which is judged by that alone. */
static int keep_odds(const struct call *c, const struct evaluation *e, struct value *v,
                     struct why *w)
{
    if (!c->distribution)
        return 0;
    v->distribution = arena_copy(e->keep, c->distribution, sizeof *c->distribution);
    if (!v->distribution)
        return why_no_memory(w);
    size_t rows = v->distribution->rows, n = rows * v->distribution->classes;
    v->distribution->p = arena_copy(e->keep, c->distribution->p, n * sizeof(double));
    v->distribution->relative =
        arena_copy(e->keep, c->distribution->relative, rows * sizeof(double));
    if (!v->distribution->p || !v->distribution->relative)
        return why_no_memory(w);
    return 0;
}

/* Keeps the right values of outputs that hold indexes. */
static int keep_choices(const struct call *c, const struct evaluation *e, struct value *const *out,
                        struct why *w)
{
    for (uint32_t i = 0; i < c->n_out; i++) {
        const struct choices *from = &c->choices[i];
        size_t n = tensor_count(&out[i]->tensor);
        if (!from->first)
            continue;
        struct choices kept = { arena_copy(e->keep, from->first, (n + 1) * sizeof *kept.first),
                                arena_copy(e->keep, from->value,
                                           from->first[n] * sizeof *kept.value) };
        out[i]->choices = arena_copy(e->keep, &kept, sizeof kept);
        if (!kept.first || !kept.value || !out[i]->choices)
            return why_no_memory_for(w, "%s", c->op->name);
    }
    return 0;
}

static int allocate_outputs(struct call *c, struct value *const *out, const struct evaluation *e,
                            struct why *w)
{
    for (uint32_t i = 0; i < c->n_out; i++) {
        struct tensor *t = &out[i]->tensor;
        t->data = arena_alloc_raw(e->keep, tensor_bytes(t) + 1, 1);
        if (!t->data)
            return why_no_memory_for(w, "%s: an output of %zu bytes", c->op->name, tensor_bytes(t));
        c->out[i]->data = t->data;
    }
    return 0;
}

static int evaluate_nhwc(struct call *c, struct value *const *in, struct value *const *out,
                         const struct evaluation *e, struct why *w)
{
    c->scratch = e->scratch;
    c->pool = e->options->pool;
    double **lists = arena_alloc(e->scratch, 2 * (c->n_in + c->n_out), sizeof *lists);
    if (!lists)
        return why_no_memory_for(w, "%s", c->op->name);
    c->x = lists;
    c->ex = c->x + c->n_in;
    c->y = c->ex + c->n_in;
    c->ey = c->y + c->n_out;
    c->const_cache = arena_alloc(e->scratch, c->n_in + 1, sizeof(struct const_cache *));
    c->choices = arena_alloc(e->scratch, c->n_out + 1, sizeof *c->choices);
    if (!c->const_cache || !c->choices)
        return why_no_memory_for(w, "%s", c->op->name);
    for (uint32_t i = 0; i < c->n_in; i++)
        c->const_cache[i] = in[i] ? in[i]->const_cache : NULL;
    if (e->options->bounds) {
        c->unit = unit_of(c, e);
        c->dot_factor = or_default(e->options->arithmetic.dot_factor, 6);
        TRY(input_errors(c, in, e, w));
    }
    TRY(measure_outputs(c, in, out, e, w));
    TRY(allocate_outputs(c, out, e, w));
    enum error_kind kind = c->op->error.kind;
    if (kind == ERROR_DOT &&
        has_error(c)) /* the tests of whole tensors assume independent errors */
        kind = ERROR_ELEMENT;
    for (uint32_t i = 0; i < c->n_out; i++)
        out[i]->kind = kind;
    if (moves(c))
        return move_values(c, e, in, out, w);
    if (c->op->eval_exact) {
        TRY(c->op->eval_exact(c, w));
        if (e->options->bounds && has_error(c) && undecided(c, e, out) < 0)
            return why_no_memory_for(w, "%s", c->op->name);
        return 0;
    }
    TRY(evaluate_reals(c, in, out, e, w));
    TRY(keep_choices(c, e, out, w));
    return keep_odds(c, e, out[0], w);
}

/* A permuted copy of an image in `a`, NULL for NULL or without memory; s is its NHWC shape. */
static void *permuted(const struct shape *s, size_t size, const void *from, struct arena *a,
                      bool to_nhwc)
{
    size_t plane = (size_t) s->dim[1] * s->dim[2], channels = s->dim[3];
    ptrdiff_t p = (ptrdiff_t) plane, c = (ptrdiff_t) channels;
    const struct copy_axis box[][3] = {
        { { s->dim[0], p * c, p * c }, { channels, 1, p }, { plane, c, 1 } },
        { { s->dim[0], p * c, p * c }, { plane, 1, c }, { channels, p, 1 } },
    };
    char *to = from ? arena_alloc_raw(a, shape_count(s) + 1, size) : NULL;

    if (to)
        copy_elements(size, box[to_nhwc], 3, from, to);
    return to;
}

/* Replaces v's data, real and bound by permuted copies in `a`.  v's own shape is not changed. */
static int permute_value(struct value *v, const struct shape *nhwc, struct arena *a, bool to_nhwc,
                         struct why *w)
{
    size_t size = dtype_info[v->tensor.dtype].codec->size;
    struct value old = *v;

    v->tensor.data = permuted(nhwc, size, old.tensor.data, a, to_nhwc);
    v->real = permuted(nhwc, sizeof(double), old.real, a, to_nhwc);
    v->bound = permuted(nhwc, sizeof(double), old.bound, a, to_nhwc);
    if (!v->tensor.data != !old.tensor.data || !v->real != !old.real || !v->bound != !old.bound)
        return why_no_memory(w);
    return 0;
}

/* Permutes images before and after: the record's functions use NHWC only. */
static int evaluate_nchw(struct call *c, struct value *const *in, struct value *const *out,
                         const struct evaluation *e, struct why *w)
{
    struct value image[MAX_VIEWS], *in2[MAX_ROLES], *out2[MAX_OUT_ROLES];
    int n = 0;

    for (uint32_t i = 0; i < c->n_in && i < MAX_ROLES; i++)
        in2[i] = in[i];
    for (int r = 0; r < c->op->n_in && n < MAX_VIEWS; r++) {
        int at = c->op->in[r].image && c->in[r] ? call_arg(c, r) : -1;
        if (at < 0)
            continue;
        image[n] = *in[at];
        image[n].const_cache = NULL;
        image[n].tensor.shape = c->in[r]->shape;
        TRY(permute_value(&image[n], &c->in[r]->shape, e->scratch, true, w));
        for (int v = 0; v < MAX_VIEWS; v++)
            if (c->in[r] == &c->view[v])
                c->view[v].data = image[n].tensor.data;
        in2[at] = &image[n++];
    }
    for (uint32_t i = 0; i < c->n_out && i < MAX_OUT_ROLES; i++) {
        int role = (int) i < c->op->n_out ? (int) i : c->op->n_out - 1;
        out2[i] = out[i];
        if (c->op->out[role].image && n < MAX_VIEWS) {
            image[n] = *out[i];
            image[n].tensor.shape = c->out[i]->shape;
            out2[i] = &image[n++];
        }
    }
    TRY(evaluate_nhwc(c, in2, out2, e, w));
    for (uint32_t i = 0; i < c->n_out && i < MAX_OUT_ROLES; i++)
        if (out2[i] != out[i]) {
            struct shape nhwc = out2[i]->tensor.shape, nchw = out[i]->tensor.shape;
            *out[i] = *out2[i];
            out[i]->tensor.shape = nchw;
            TRY(permute_value(out[i], &nhwc, e->keep, false, w));
        }
    return 0;
}

int call_evaluate(struct call *c, struct value *const *in, struct value *const *out,
                  const struct evaluation *e, struct why *w)
{
    return c->nchw ? evaluate_nchw(c, in, out, e, w) : evaluate_nhwc(c, in, out, e, w);
}

int value_stored_in_half(struct value *v, struct arena *keep)
{
    size_t n = tensor_count(&v->tensor);

    if (v->bound || v->tensor.dtype != DT_F32)
        return 0;
    v->bound = arena_alloc_raw(keep, n + 1, sizeof(double));
    for (size_t i = 0; v->bound && i < n; i++)
        v->bound[i] = storage_error(tensor_at(&v->tensor, i), 0);
    return v->bound ? 0 : -1;
}

int value_undecided(struct value *v, struct arena *keep)
{
    size_t n = tensor_count(&v->tensor);

    v->bound = arena_alloc_raw(keep, n + 1, sizeof(double));
    for (size_t i = 0; v->bound && i < n; i++)
        v->bound[i] = INFINITY;
    return v->bound ? 0 : -1;
}
