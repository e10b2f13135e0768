/* Hypotheses about sliding windows: padding, strides, dilations, sizes.
 *
 * A changed window is computed on an image that is padded beforehand, so that any geometry can be
 * expressed and the output keeps its size.  Poolings, which do not count padding, get explicit
 * padding instead. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "golden/ops/shared/elementwise/activation.h"
#include "harness/explain/hypotheses.h"
#include "harness/explain/image_window.h"

static bool begin(const struct variant *v, struct window_geometry *ret)
{
    return window_of_subject(v->s, ret);
}

static int64_t most(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t reach(const struct matmul_axis *a)
{
    return (int64_t) ((a->kernel - 1) * a->dilation + 1);
}

/* Padding after the image that keeps the number of outputs. */
static int64_t after(const struct matmul_axis *a)
{
    return most(0, (int64_t) ((a->out - 1) * a->stride) + reach(a) - (int64_t) a->in - a->pad);
}

/* What the padded image holds around the image: a stored number, or the nearest element. */
enum around { FILLED, EDGE };

static size_t source(const struct matmul_axis *a, int64_t at, enum around around)
{
    const int64_t last = (int64_t) a->in - 1, i = at - a->pad;

    if (i >= 0 && i <= last)
        return (size_t) i;
    return around == EDGE ? (size_t) (i < 0 ? 0 : last) : VARIANT_FILL;
}

static bool pad_image(struct variant *v, const struct window_geometry *g, enum around around,
                      double fill)
{
    const struct tensor *image = v->s->arg[0];
    struct shape padded = image->shape;
    uint32_t at[MAX_RANK];

    padded.dim[g->h] = (uint32_t) most(1, (int64_t) g->y.in + g->y.pad + after(&g->y));
    padded.dim[g->w] = (uint32_t) most(1, (int64_t) g->x.in + g->x.pad + after(&g->x));
    const size_t n = shape_count(&padded);
    size_t *map = arena_alloc(v->arena, n + 1, sizeof *map);
    if (!map)
        return false;
    for (size_t i = 0; i < n; i++) {
        shape_place(&padded, i, at);
        const size_t y = source(&g->y, at[g->h], around), x = source(&g->x, at[g->w], around);
        at[g->h] = (uint32_t) y;
        at[g->w] = (uint32_t) x;
        map[i] =
            y == VARIANT_FILL || x == VARIANT_FILL ? VARIANT_FILL : shape_index(&image->shape, at);
    }
    return variant_gather(v, 0, &padded, map, fill);
}

static void set_geometry(struct variant *v, const struct window_geometry *g)
{
    variant_set(v, "stride_height", (double) g->y.stride);
    variant_set(v, "stride_width", (double) g->x.stride);
    variant_set(v, "dilation_height", (double) g->y.dilation);
    variant_set(v, "dilation_width", (double) g->x.dilation);
    variant_set(v, "filter_height", (double) g->y.kernel);
    variant_set(v, "filter_width", (double) g->x.kernel);
}

static bool run_padded(struct variant *v, const struct window_geometry *g, enum around around,
                       double fill)
{
    if (!pad_image(v, g, around, fill))
        return false;
    set_geometry(v, g);
    if (subject_arg(v->s, "padding") >= 0) {
        variant_set(v, "padding", 2); /* VALID */
    } else {
        variant_set(v, "pad_top", 0);
        variant_set(v, "pad_bottom", 0);
        variant_set(v, "pad_left", 0);
        variant_set(v, "pad_right", 0);
    }
    return variant_run(v);
}

/* Poolings have no window outside the image: outputs of such windows are left out. */
static int64_t after_last_inside(const struct matmul_axis *a)
{
    struct matmul_axis inside = *a;
    const size_t n = (a->in - 1 + (size_t) most(0, a->pad)) / a->stride + 1;

    inside.out = a->out < n ? a->out : n;
    return after(&inside);
}

/* What a driver may write for a window without elements: 0, stored or real, NaN, the limits of the
 * type or of the activation. */
static bool is_of_no_elements(const struct subject *s, size_t i)
{
    const double x = s->value[i], q = tensor_stored(&s->actual[s->output], i);
    const struct codec *c = dtype_info[s->expected->dtype].codec;
    const int activation = subject_role(s, "activation");
    const struct activation_range r =
        activation_range(activation < 0 ? 0 : call_int(&s->call, activation));

    return x == 0 || isnan(x) || isinf(x) || x == r.lo || x == r.hi ||
           (s->expected->scale != 0 && (q == 0 || q == c->min || q == c->max));
}

/* Accepts such values for the windows that were left out. */
static bool fill_left_out(struct variant *v)
{
    for (size_t i = 0; i < v->s->n; i++)
        if (isinf(v->bound[i]) && !isinf(v->s->bound[i]) && is_of_no_elements(v->s, i)) {
            v->real[i] = v->s->value[i];
            v->bound[i] = 0;
        }
    return true;
}

static bool run(struct variant *v, const struct window_geometry *g)
{
    if (!g->pools)
        return run_padded(v, g, FILLED, v->s->arg[0]->zero);
    set_geometry(v, g);
    const struct variant_padding p = { g->y.pad, after_last_inside(&g->y), g->x.pad,
                                       after_last_inside(&g->x) };
    return variant_pad(v, &p) && variant_run(v) && fill_left_out(v);
}

/* ---- padding */

/* The padding of TRANSPOSE_CONV_2D on the other side. */
static bool transposed_other_side(struct variant *v)
{
    struct transposed_geometry g;

    if (!transposed_window_of_subject(v->s, &g) ||
        (g.y.before == g.y.after && g.x.before == g.x.after) || g.y.after < 0 || g.x.after < 0)
        return false;
    const struct variant_padding p = { g.y.after, g.y.before, g.x.after, g.x.before };
    return variant_pad(v, &p) && variant_run(v);
}

static bool other_side(struct variant *v, int attempt)
{
    struct window_geometry g;

    if (!begin(v, &g))
        return attempt == 0 && transposed_other_side(v);
    const ptrdiff_t y = g.after_y - g.y.pad, x = g.after_x - g.x.pad;
    const bool all = attempt == 3;
    if (attempt != 2)
        g.y.pad = g.after_y + (all ? g.y.pad : 0);
    if (attempt != 1)
        g.x.pad = g.after_x + (all ? g.x.pad : 0);
    strcpy(v->note, attempt == 1   ? "rows only"
                    : attempt == 2 ? "columns only"
                    : all          ? "all of it is before the image"
                                   : "");
    return (all ? g.after_y || g.after_x : attempt ? y && x : y || x) && run(v, &g);
}

static bool no_padding(struct variant *v, int attempt)
{
    struct window_geometry g;

    (void) attempt;
    if (!begin(v, &g) || (!g.y.pad && !g.x.pad))
        return false;
    g.y.pad = g.x.pad = 0;
    return run(v, &g);
}

static bool padding_swapped(struct variant *v, int attempt)
{
    struct window_geometry g;

    (void) attempt;
    if (!begin(v, &g) || g.y.pad == g.x.pad)
        return false;
    const ptrdiff_t y = g.y.pad;
    g.y.pad = g.x.pad;
    g.x.pad = y;
    return run(v, &g);
}

static bool padding_shifted(struct variant *v, int attempt)
{
    static const int dy[] = { 1, -1, 1, -1, 0, 0 }, dx[] = { 1, -1, 0, 0, 1, -1 };
    struct window_geometry g;

    if (!begin(v, &g))
        return false;
    g.y.pad += dy[attempt];
    g.x.pad += dx[attempt];
    snprintf(v->note, sizeof v->note, "by %+d rows and %+d columns", dy[attempt], dx[attempt]);
    return run(v, &g);
}

/* Padding in all that the outputs need, of a filter that reaches so far. */
static int64_t padding_needed(const struct matmul_axis *a, int64_t reach)
{
    return most(0, (int64_t) ((a->out - 1) * a->stride) + reach - (int64_t) a->in);
}

static ptrdiff_t undilated(const struct matmul_axis *a)
{
    return (ptrdiff_t) (padding_needed(a, (int64_t) a->kernel) / 2);
}

static bool padding_undilated(struct variant *v, int attempt)
{
    struct window_geometry g;
    int32_t scheme;

    (void) attempt;
    if (!begin(v, &g) || !variant_get(v, "padding", &scheme) || scheme != 1 ||
        (g.y.dilation == 1 && g.x.dilation == 1))
        return false;
    g.y.pad = undilated(&g.y);
    g.x.pad = undilated(&g.x);
    return run(v, &g);
}

/* Of PAD and SPACE_TO_BATCH_ND, which copy stored numbers: with other zero points, real 0 is stored
 * as these. */
static bool list_padding_with(struct variant *v, int32_t stored)
{
    struct tensor *in = variant_own(v, 0);

    if (!in)
        return false;
    const double zero = in->zero;
    in->zero = stored;
    v->graph.operand[v->s->operation->out[v->s->output]].tensor.zero = stored;
    if (!variant_run(v))
        return false;
    for (size_t i = 0; i < v->s->n; i++)
        v->real[i] += (stored - zero) * (double) in->scale;
    return true;
}

static bool padding_without_zero_point(struct variant *v, int attempt)
{
    struct window_geometry g;

    if (!v->s->operation->n_in || !v->s->arg[0] || v->s->arg[0]->scale == 0 ||
        (attempt && v->s->arg[0]->dtype != DT_U8 && v->s->arg[0]->dtype != DT_S8))
        return false;
    const bool is_signed = v->s->arg[0]->dtype == DT_S8;
    const int32_t zero = v->s->arg[0]->zero, byte = -zero & 0xff;
    const int32_t to[] = { 0, is_signed ? -128 : 128, is_signed && byte > 127 ? byte - 256 : byte };
    strcpy(v->note, ((const char *[]){ "0", is_signed ? "-128" : "128",
                                       "that with the other sign" })[attempt]);
    if (to[attempt] == zero)
        return false;
    if (subject_arg(v->s, "paddings") >= 0 && subject_arg(v->s, "pad_value") < 0)
        return list_padding_with(v, to[attempt]);
    return begin(v, &g) && run_padded(v, &g, FILLED, to[attempt]);
}

static bool padding_of_edge(struct variant *v, int attempt)
{
    struct window_geometry g;

    (void) attempt;
    return begin(v, &g) && run_padded(v, &g, EDGE, 0);
}

static bool padding_counts(struct variant *v, int attempt)
{
    struct window_geometry g;

    (void) attempt;
    return begin(v, &g) && g.pools && run_padded(v, &g, FILLED, v->s->arg[0]->zero);
}

/* ---- steps and sizes */

static void swap(size_t *a, size_t *b)
{
    const size_t was = *a;

    *a = *b;
    *b = was;
}

/* Exchanges two members of the axes, or uses one for both. */
static bool set_pair(size_t *y, size_t *x, int attempt, char *note)
{
    if (*y == *x)
        return false;
    if (attempt == 0)
        swap(y, x);
    else if (attempt == 1)
        *x = *y;
    else
        *y = *x;
    strcpy(note, attempt == 1 ? "that of rows" : attempt == 2 ? "that of columns" : "");
    return true;
}

/* Padding SAME as it is for these strides and dilations; other paddings stay. */
static void pad_same(struct variant *v, struct window_geometry *g)
{
    int32_t scheme;

    strcat(v->note, *v->note ? ", also for padding SAME" : "also for padding SAME");
    if (!variant_get(v, "padding", &scheme) || scheme != 1)
        return;
    g->y.pad = (ptrdiff_t) (padding_needed(&g->y, reach(&g->y)) / 2);
    g->x.pad = (ptrdiff_t) (padding_needed(&g->x, reach(&g->x)) / 2);
}

static bool dilations_swapped(struct variant *v, int attempt)
{
    struct window_geometry g;

    if (!begin(v, &g) || !set_pair(&g.y.dilation, &g.x.dilation, attempt / 2, v->note))
        return false;
    if (attempt % 2)
        pad_same(v, &g);
    return run(v, &g);
}

static bool dilation_one_for_both(struct variant *v, int attempt)
{
    return dilations_swapped(v, attempt + 2);
}

static bool dilation_ignored(struct variant *v, int attempt)
{
    struct window_geometry g;

    if (!begin(v, &g) || (g.y.dilation == 1 && g.x.dilation == 1))
        return false;
    g.y.dilation = g.x.dilation = 1;
    if (attempt)
        pad_same(v, &g);
    return run(v, &g);
}

static bool strides_swapped(struct variant *v, int attempt)
{
    struct window_geometry g;

    if (!begin(v, &g) || !set_pair(&g.y.stride, &g.x.stride, attempt / 2, v->note))
        return false;
    if (attempt % 2)
        pad_same(v, &g);
    return run(v, &g);
}

static bool stride_one_for_both(struct variant *v, int attempt)
{
    return strides_swapped(v, attempt + 2);
}

static bool stride_ignored(struct variant *v, int attempt)
{
    struct window_geometry g;

    (void) attempt;
    if (!begin(v, &g) || (g.y.stride == 1 && g.x.stride == 1))
        return false;
    g.y.stride = g.x.stride = 1;
    return run(v, &g);
}

static bool kernel_swapped(struct variant *v, int attempt)
{
    struct window_geometry g;

    return begin(v, &g) && g.pools && set_pair(&g.y.kernel, &g.x.kernel, attempt, v->note) &&
           run(v, &g);
}

const struct hypothesis window_hypotheses[] = {
    { "padding-other-side", "the padding is on the other side of the image", 4,
      .make = other_side },
    { "padding-ignored", "there is no padding before the image", .make = no_padding },
    { "padding-rows-columns-swapped", "the padding of rows and that of columns are exchanged",
      .make = padding_swapped },
    { "padding-off-by-one", "the image is shifted: padding is one more or less", 6,
      .make = padding_shifted },
    { "padding-undilated", "padding SAME is computed from the filter without its dilation",
      .make = padding_undilated },
    { "padding-zero-point", "padding holds another stored value than the zero point", 3,
      .make = padding_without_zero_point },
    { "padding-edge", "padding repeats the edge of the image", .make = padding_of_edge },
    { "padding-counted", "padding takes part in the pooling", .make = padding_counts },
    { "dilations-swapped", "the dilations of rows and columns are exchanged", 2,
      .make = dilations_swapped },
    { "dilation-one-for-both", "one dilation is used for both axes", 4,
      .make = dilation_one_for_both },
    { "dilation-ignored", "the dilations are taken as 1", 2, .make = dilation_ignored },
    { "strides-swapped", "the strides of rows and columns are exchanged", 2,
      .make = strides_swapped },
    { "stride-one-for-both", "one stride is used for both axes", 4, .make = stride_one_for_both },
    { "stride-ignored", "the strides are taken as 1", .make = stride_ignored },
    { "window-swapped", "the height and width of the window are exchanged",
      .make = kernel_swapped },
    { 0 },
};
