/* Hypotheses about attributes: scalars and lists that say how an operation is computed.  Which an
 * operation has is read from its record. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness/explain/hypotheses.h"
#include "harness/explain/image_window.h"

/* ---- activation */

static const char *const activation_text[] = { "none", "RELU", "RELU1", "RELU6" };

static bool activation_as(struct variant *v, int to)
{
    return variant_set(v, "activation", to) && variant_run(v);
}

/* 0: any activation; 1 to 3: only this one. */
static bool activation_ignored(struct variant *v, int attempt)
{
    int32_t which;

    if (!variant_get(v, "activation", &which) || (attempt && which != attempt))
        return false;
    strcpy(v->note, attempt ? activation_text[attempt] : "");
    return activation_as(v, 0);
}

static bool other_activation(struct variant *v, int attempt)
{
    const int from = 1 + attempt / 3, to = 1 + attempt % 3;
    int32_t which;

    if (!variant_get(v, "activation", &which) || which != from)
        return false;
    snprintf(v->note, sizeof v->note, "%s for %s", activation_text[to], activation_text[from]);
    return activation_as(v, to);
}

/* The limits of the activation clamp the stored number. */
static bool activation_on_stored(struct variant *v, int attempt)
{
    static const double lo[] = { 0, 0, -1, 0 }, hi[] = { 0, 1e9, 1, 6 };
    const struct tensor *t = v->s->expected;
    int32_t which;

    (void) attempt;
    if (t->scale == 0 || !variant_get(v, "activation", &which) || which < 1 || which > 3 ||
        !activation_as(v, 0))
        return false;
    for (size_t i = 0; i < v->s->n; i++) {
        const double q = v->real[i] / (double) t->scale + t->zero;
        const double to = q < lo[which] ? lo[which] : q > hi[which] ? hi[which] : q;
        v->real[i] = (to - t->zero) * (double) t->scale;
    }
    return true;
}

/* The limits are those of the device's results, where they clamp anything. */
static bool activation_limits(struct variant *v, int attempt)
{
    double lo = INFINITY, hi = -INFINITY;
    bool clamps = false;
    int32_t which;

    (void) attempt;
    if (!variant_get(v, "activation", &which) || !which || !activation_as(v, 0))
        return false;
    for (size_t i = 0; i < v->s->n; i++) {
        lo = fmin(lo, v->s->value[i]);
        hi = fmax(hi, v->s->value[i]);
    }
    for (size_t i = 0; i < v->s->n; i++) {
        const double to = fmin(fmax(v->real[i], lo), hi);
        clamps = clamps || fabs(to - v->real[i]) > v->bound[i];
        v->real[i] = to;
    }
    snprintf(v->note, sizeof v->note, "to %.6g .. %.6g", lo, hi);
    return clamps;
}

/* ---- scalars by their kind */

/* The n-th scalar role that the call can have, of a type for which is() holds. */
static const struct role *scalar_at(const struct variant *v, int n,
                                    bool (*is)(const struct role *, enum dtype))
{
    const struct form *f = v->s->call.form;

    for (int i = 0; i < form_len(f); i++) {
        const struct role *r = &v->s->op->in[f->role[i]];
        if (!r->dims && !r->many && is(r, role_type(r, v->s->call.typing)) && n-- == 0)
            return r;
    }
    return NULL;
}

static bool is_flag(const struct role *r, enum dtype type)
{
    return type == DT_BOOL && strcmp(r->name, "nchw") != 0;
}

static bool is_factor(const struct role *r, enum dtype type)
{
    (void) r;
    return type == DT_FLOAT32 || type == DT_FLOAT16;
}

static bool is_mask(const struct role *r, enum dtype type)
{
    return type == DT_INT32 && strstr(r->name, "_mask");
}

/* Integers that other hypotheses do not change. */
static bool is_count(const struct role *r, enum dtype type)
{
    static const char *const other[] = { "pad",    "stride", "dilation", "activation",
                                         "filter", "axis",   "mask" };

    for (int i = 0; i < COUNT(other); i++)
        if (strstr(r->name, other[i]))
            return false;
    return type == DT_INT32;
}

static bool flag_flipped(struct variant *v, int attempt)
{
    const struct role *r = scalar_at(v, attempt, is_flag);

    if (!r)
        return false;
    const bool was = call_int(&v->s->call, subject_role(v->s, r->name)) != 0;
    snprintf(v->note, sizeof v->note, "%s is taken as %s", r->name, was ? "false" : "true");
    return variant_set(v, r->name, !was) && variant_run(v);
}

/* Where an element of an image lies if it is laid out as NHWC instead of NCHW, or the reverse. */
static size_t in_other_layout(const struct shape *s, bool nchw, size_t i)
{
    uint32_t at[MAX_RANK];

    shape_place(s, i, at);
    if (nchw)
        return ((size_t) (at[0] * s->dim[2] + at[2]) * s->dim[3] + at[3]) * s->dim[1] + at[1];
    return ((size_t) (at[0] * s->dim[3] + at[3]) * s->dim[1] + at[1]) * s->dim[2] + at[2];
}

/* The sizes are read as they are, the elements as if in the other layout. */
static bool read_in_other_layout(struct variant *v)
{
    const struct shape *s = &v->s->arg[0]->shape;
    const size_t n = shape_count(s);
    size_t *from = arena_alloc(v->arena, n + 1, sizeof *from);

    for (size_t i = 0; from && i < n; i++)
        from[i] = in_other_layout(s, v->s->call.nchw, i);
    return from && variant_gather(v, 0, s, from, 0);
}

static bool write_in_other_layout(struct variant *v)
{
    double *real = arena_copy(v->arena, v->real, v->s->n * sizeof *real);
    double *bound = arena_copy(v->arena, v->bound, v->s->n * sizeof *bound);

    for (size_t i = 0; real && bound && i < v->s->n; i++) {
        const size_t at = in_other_layout(&v->s->expected->shape, v->s->call.nchw, i);
        v->real[at] = real[i];
        v->bound[at] = bound[i];
    }
    return real && bound;
}

static bool layout_flipped(struct variant *v, int attempt)
{
    static const char *const text[] = { "", "elements of input and output, but not the sizes",
                                        "elements of the input, but not the sizes",
                                        "elements of the output, but not the sizes" };
    const bool is_image = subject_role(v->s, "nchw") >= 0 && subject_dimension(v->s, 0) &&
                          v->s->arg[0] && v->s->arg[0]->shape.rank == 4 && v->s->op->in[0].image;

    strcpy(v->note, text[attempt]);
    if (attempt == 0)
        return variant_set(v, "nchw", !v->s->call.nchw) && variant_run(v);
    return is_image && (attempt == 3 || read_in_other_layout(v)) && variant_run(v) &&
           (attempt == 2 || write_in_other_layout(v));
}

/* PAD_V2 in a quantised type: its value is a stored number. */
static bool pad_value(struct variant *v, int attempt)
{
    static const char *const text[] = { "the zero point is subtracted", "the zero point is added",
                                        "it is taken as a real number", "it is taken as 0",
                                        "real 0 is used instead" };
    const struct tensor *t = v->s->operation->n_in ? v->s->arg[0] : NULL;
    int32_t is;

    if (!t || t->scale == 0 || !variant_get(v, "pad_value", &is))
        return false;
    const struct codec *c = dtype_info[t->dtype].codec;
    const double to[] = { (double) is - t->zero, (double) is + t->zero,
                          floor(is / (double) t->scale + 0.5) + t->zero, 0, t->zero };
    double q = to[attempt / 2];
    if (attempt % 2) /* the lowest byte, instead of saturating */
        q -= floor((q - c->min) / 256) * 256;
    snprintf(v->note, sizeof v->note, "%s", text[attempt / 2]);
    return variant_set(v, "pad_value", fmin(fmax(q, c->min), c->max)) && variant_run(v);
}

static bool factor_ignored(struct variant *v, int attempt)
{
    static const double to[] = { 1, 0, -1, 0x1p-20 };
    const struct role *r = scalar_at(v, attempt / COUNT(to), is_factor);

    if (!r)
        return false;
    snprintf(v->note, sizeof v->note, "%s is taken as %g", r->name, to[attempt % COUNT(to)]);
    return variant_set(v, r->name, to[attempt % COUNT(to)]) && variant_run(v);
}

static bool factor_inverted(struct variant *v, int attempt)
{
    const struct role *r = scalar_at(v, attempt, is_factor);
    const double x = r ? call_real(&v->s->call, subject_role(v->s, r->name)) : 0;

    if (x == 0)
        return false;
    snprintf(v->note, sizeof v->note, "%s", r->name);
    return variant_set(v, r->name, 1 / x) && variant_run(v);
}

static bool mask_ignored(struct variant *v, int attempt)
{
    const struct role *r = scalar_at(v, attempt, is_mask);

    if (!r)
        return false;
    snprintf(v->note, sizeof v->note, "%s", r->name);
    return variant_set(v, r->name, 0) && variant_run(v);
}

static bool count_off(struct variant *v, int attempt)
{
    static const int by[] = { 1, -1 };
    const struct role *r = scalar_at(v, attempt / 2, is_count);

    if (!r)
        return false;
    const int32_t is = call_int(&v->s->call, subject_role(v->s, r->name));
    snprintf(v->note, sizeof v->note, "%s is taken as %d", r->name, is + by[attempt % 2]);
    return variant_set(v, r->name, is + by[attempt % 2]) && variant_run(v);
}

/* Scalars that come in pairs of width and height; the strides of windows belong to try_window.c. */
static bool pair_swapped(struct variant *v, int attempt)
{
    static const char *const pair[][2] = {
        { "output_width", "output_height" },
        { "width_scale", "height_scale" },
        { "width", "height" },
        { "sampling_ratio_width", "sampling_ratio_height" },
        { "stride_width", "stride_height" },
    };
    const char *const *name = pair[attempt];
    const int a = subject_role(v->s, name[0]), b = subject_role(v->s, name[1]);
    struct window_geometry g;

    if (a < 0 || b < 0 || v->s->op->in[a].dims || window_of_subject(v->s, &g))
        return false;
    const double w = call_real(&v->s->call, a), h = call_real(&v->s->call, b);
    snprintf(v->note, sizeof v->note, "%s and %s", name[0], name[1]);
    return w != h && variant_set(v, name[0], h) && variant_set(v, name[1], w) && variant_run(v);
}

/* ---- axes */

static bool axis_moved(struct variant *v, int32_t (*to)(int32_t axis, int32_t rank, int attempt),
                       int attempt)
{
    const struct tensor *in = v->s->arg[0];
    const int32_t rank = in ? (int32_t) in->shape.rank : 0;
    struct tensor *axes;
    int32_t axis;

    if (rank < 2)
        return false;
    if (variant_get(v, "axis", &axis)) {
        const int32_t is = axis < 0 ? axis + rank : axis, moved = to(is, rank, attempt);
        snprintf(v->note, sizeof v->note, "dimension %d for %d", moved, is);
        return moved != is && moved >= 0 && moved < rank && variant_set(v, "axis", moved) &&
               variant_run(v);
    }
    axes = variant_own_named(v, "axes");
    int32_t *x = axes && axes->dtype == DT_I32 ? axes->data : NULL;
    for (size_t i = 0; x && i < tensor_count(axes); i++) {
        x[i] = to(x[i] < 0 ? x[i] + rank : x[i], rank, attempt);
        if (x[i] < 0 || x[i] >= rank)
            return false;
    }
    return x && variant_run(v);
}

static int32_t next_axis(int32_t axis, int32_t rank, int attempt)
{
    (void) rank;
    return axis + (attempt ? -1 : 1);
}

static int32_t mirrored_axis(int32_t axis, int32_t rank, int attempt)
{
    (void) attempt;
    return rank - 1 - axis;
}

static int32_t any_axis(int32_t axis, int32_t rank, int attempt)
{
    (void) axis, (void) rank;
    return attempt;
}

static bool axis_off(struct variant *v, int attempt)
{
    return axis_moved(v, next_axis, attempt);
}

static bool axis_from_end(struct variant *v, int attempt)
{
    return axis_moved(v, mirrored_axis, attempt);
}

static bool other_axis(struct variant *v, int attempt)
{
    return axis_moved(v, any_axis, attempt);
}

/* ---- lists: tensors of INT32 that are not the values computed with */

static struct tensor *list_at(struct variant *v, int n, const char **ret_name)
{
    for (uint32_t i = 1; i < v->s->operation->n_in; i++) {
        const struct tensor *t = v->s->arg[i];
        const struct role *r = call_role(&v->s->call, i);
        if (!t || t->dtype != DT_I32 || !r->dims || r->slot != FIXED(DT_I32) || n-- > 0)
            continue;
        *ret_name = r->name;
        return variant_own(v, i);
    }
    return NULL;
}

static bool list_reversed(struct variant *v, int attempt)
{
    const char *name;
    struct tensor *t = list_at(v, attempt, &name);

    if (!t || t->shape.rank != 1)
        return false;
    int32_t *x = t->data;
    for (size_t i = 0, n = tensor_count(t); i < n / 2; i++) {
        const int32_t was = x[i];
        x[i] = x[n - 1 - i];
        x[n - 1 - i] = was;
    }
    snprintf(v->note, sizeof v->note, "%s", name);
    return variant_run(v);
}

/* Paddings and crops: before and after exchanged, or the rows reversed. */
static bool pairs_exchanged(struct variant *v, int attempt)
{
    const char *name;
    struct tensor *t = list_at(v, attempt / 2, &name);

    if (!t || t->shape.rank != 2 || t->shape.dim[1] != 2)
        return false;
    int32_t *x = t->data, was[2 * MAX_RANK];
    const size_t n = t->shape.dim[0];
    if (n > MAX_RANK)
        return false;
    memcpy(was, x, 2 * n * sizeof *x);
    for (size_t i = 0; i < n; i++) {
        x[2 * i] = attempt % 2 ? was[2 * (n - 1 - i)] : was[2 * i + 1];
        x[2 * i + 1] = attempt % 2 ? was[2 * (n - 1 - i) + 1] : was[2 * i];
    }
    snprintf(v->note, sizeof v->note, "%s: %s", name,
             attempt % 2 ? "the dimensions in reverse" : "before and after");
    return variant_run(v);
}

static bool list_inverted(struct variant *v, int attempt)
{
    struct tensor *t = variant_own_named(v, "perm");
    int32_t was[MAX_RANK];

    (void) attempt;
    if (!t || tensor_count(t) > MAX_RANK)
        return false;
    memcpy(was, t->data, tensor_bytes(t));
    for (size_t i = 0; i < tensor_count(t); i++)
        ((int32_t *) t->data)[was[i]] = (int32_t) i;
    return variant_run(v);
}

static bool list_filled(struct variant *v, int attempt)
{
    const char *name;
    struct tensor *t = list_at(v, attempt / 2, &name);

    if (!t)
        return false;
    for (size_t i = 0; i < tensor_count(t); i++)
        ((int32_t *) t->data)[i] = attempt % 2;
    snprintf(v->note, sizeof v->note, "%s is taken as %d", name, attempt % 2);
    return variant_run(v);
}

static bool index_off(struct variant *v, int attempt)
{
    const char *name;
    struct tensor *t = list_at(v, attempt / 2, &name);

    if (!t)
        return false;
    for (size_t i = 0; i < tensor_count(t); i++)
        ((int32_t *) t->data)[i] += attempt % 2 ? -1 : 1;
    snprintf(v->note, sizeof v->note, "%s: %s", name, attempt % 2 ? "one less" : "one more");
    return variant_run(v);
}

const struct hypothesis attribute_hypotheses[] = {
    { "activation-ignored", "the fused activation is left out", 4, .make = activation_ignored },
    { "other-activation", "another fused activation is applied", 9, .make = other_activation },
    { "activation-on-stored", "the limits of the activation are applied to stored numbers",
      .make = activation_on_stored },
    { "activation-limits", "the fused activation clamps at other limits", .loose = true,
      .make = activation_limits },
    { "flag-flipped", "a flag is taken as its opposite", 4, .make = flag_flipped },
    { "layout-flipped", "NCHW is taken for NHWC, or the reverse", 4, .make = layout_flipped },
    { "pad-value", "the padding value is stored wrongly", 10, .make = pad_value },
    { "factor-ignored", "a factor is ignored", 12, .make = factor_ignored },
    { "factor-inverted", "a factor divides instead of multiplying", 3, .make = factor_inverted },
    { "mask-ignored", "a mask is ignored", 3, .make = mask_ignored },
    { "count-off-by-one", "an integer attribute is off by one", 8, .make = count_off },
    { "width-height-swapped", "width and height are exchanged", 5, .make = pair_swapped },
    { "axis-off-by-one", "the axis is off by one", 2, .make = axis_off },
    { "axis-from-the-end", "the axis is counted from the other end", .make = axis_from_end },
    { "other-axis", "another axis is used", 4, .make = other_axis },
    { "list-reversed", "a list is read in reverse", 4, .make = list_reversed },
    { "pairs-exchanged", "the two numbers for each dimension are exchanged", 4,
      .make = pairs_exchanged },
    { "permutation-inverted", "the inverse of the permutation is applied", .make = list_inverted },
    { "list-ignored", "a list is taken as all 0 or all 1", 8, .make = list_filled },
    { "index-off-by-one", "indexes are off by one", 8, .make = index_off },
    { 0 },
};
