#include "harness/explain/terms.h"

#include <string.h>

#include "harness/explain/image_window.h"
#include "harness/explain/value_text.h"

enum { SHOWN = 32, HEAD = 20, TAIL = 8 };

static bool room_for(const struct subject *s, size_t most, struct element_sum *ret)
{
    ret->term = arena_alloc(s->arena, most + 1, sizeof *ret->term);
    return ret->term != NULL;
}

static const struct shape *shape_of(const struct subject *s, int arg)
{
    return &s->arg[arg]->shape;
}

/* ---- windows */

/* Input channels that an output channel reads: first, and how many. */
struct channels {
    uint32_t first, n;
};

static struct channels channels_of(const struct subject *s, const struct window_geometry *g,
                                   uint32_t out)
{
    const uint32_t in = shape_of(s, 0)->dim[g->c];
    const int multiplier = subject_role(s, "multiplier"), groups = subject_role(s, "groups");

    if (g->pools)
        return (struct channels){ out, 1 };
    if (multiplier >= 0)
        return (struct channels){ out / (uint32_t) call_int(&s->call, multiplier), 1 };
    if (groups < 0)
        return (struct channels){ 0, in };
    const uint32_t n = (uint32_t) call_int(&s->call, groups);
    return (struct channels){ out / (s->expected->shape.dim[g->c] / n) * (in / n), in / n };
}

static int64_t input_at(const struct matmul_axis *a, uint32_t out, size_t tap)
{
    const int64_t i = (int64_t) (out * a->stride + tap * a->dilation) - a->pad;

    return i >= 0 && i < (int64_t) a->in ? i : -1;
}

static bool window_terms(const struct subject *s, size_t element, struct element_sum *ret)
{
    struct window_geometry g;
    uint32_t at[MAX_RANK], from[MAX_RANK];

    if (!window_of_subject(s, &g))
        return false;
    const int filter = g.pools ? -1 : subject_arg(s, "filter");
    shape_place(&s->expected->shape, element, at);
    const struct channels c = channels_of(s, &g, at[g.c]);
    const bool depthwise = subject_role(s, "multiplier") >= 0;
    *ret = (struct element_sum){ .arg_b = filter,
                                 .arg_bias = subject_arg(s, "bias"),
                                 .bias = at[g.c] };
    if (!room_for(s, g.y.kernel * g.x.kernel * c.n, ret))
        return false;
    memcpy(from, at, sizeof from);
    for (uint32_t i = 0; i < g.y.kernel; i++)
        for (uint32_t j = 0; j < g.x.kernel; j++) {
            const int64_t y = input_at(&g.y, at[g.h], i), x = input_at(&g.x, at[g.w], j);
            for (uint32_t k = 0; y >= 0 && x >= 0 && k < c.n; k++) {
                const uint32_t w[] = { depthwise ? 0 : at[g.c], i, j, depthwise ? at[g.c] : k };
                from[g.h] = (uint32_t) y;
                from[g.w] = (uint32_t) x;
                from[g.c] = c.first + k;
                ret->term[ret->n++] =
                    (struct term){ shape_index(shape_of(s, 0), from),
                                   filter < 0 ? 0 : shape_index(shape_of(s, filter), w) };
            }
        }
    return true;
}

/* Input and tap that an output takes in step k of an axis; -1: no input. */
static int64_t transposed_input(const struct transposed_axis *a, uint32_t out, int64_t tap)
{
    const int64_t at = (int64_t) out + a->before - tap;

    return at >= 0 && at % a->stride == 0 && at / a->stride < a->in ? at / a->stride : -1;
}

static bool transposed_terms(const struct subject *s, size_t element, struct element_sum *ret)
{
    struct transposed_geometry g;
    uint32_t at[MAX_RANK], from[MAX_RANK];

    if (!transposed_window_of_subject(s, &g))
        return false;
    const int filter = subject_arg(s, "filter");
    const uint32_t channels = shape_of(s, 0)->dim[g.c];
    shape_place(&s->expected->shape, element, at);
    *ret = (struct element_sum){ .arg_b = filter,
                                 .arg_bias = subject_arg(s, "bias"),
                                 .bias = at[g.c] };
    if (!room_for(s, (size_t) (g.y.kernel * g.x.kernel) * channels, ret))
        return false;
    memcpy(from, at, sizeof from);
    for (int64_t i = g.y.kernel; i-- > 0;)
        for (int64_t j = g.x.kernel; j-- > 0;) {
            const int64_t y = transposed_input(&g.y, at[g.h], i),
                          x = transposed_input(&g.x, at[g.w], j);
            for (uint32_t k = 0; y >= 0 && x >= 0 && k < channels; k++) {
                const uint32_t w[] = { at[g.c], (uint32_t) i, (uint32_t) j, k };
                from[g.h] = (uint32_t) y;
                from[g.w] = (uint32_t) x;
                from[g.c] = k;
                ret->term[ret->n++] = (struct term){ shape_index(shape_of(s, 0), from),
                                                     shape_index(shape_of(s, filter), w) };
            }
        }
    return true;
}

/* ---- matrix products */

static bool fully_connected_terms(const struct subject *s, size_t element, struct element_sum *ret)
{
    const int weights = subject_arg(s, "weights");

    if (weights != 1 || s->op->error.kind != ERROR_DOT || s->op->n_out != 1 ||
        shape_of(s, 1)->rank != 2 || s->expected->shape.rank != 2)
        return false;
    const size_t units = shape_of(s, 1)->dim[0], n = shape_of(s, 1)->dim[1];
    *ret = (struct element_sum){ .arg_b = 1,
                                 .arg_bias = subject_arg(s, "bias"),
                                 .bias = element % units };
    if (!room_for(s, n, ret))
        return false;
    for (ret->n = 0; ret->n < n; ret->n++)
        ret->term[ret->n] =
            (struct term){ element / units * n + ret->n, element % units * n + ret->n };
    return true;
}

static bool matmul_terms(const struct subject *s, size_t element, struct element_sum *ret)
{
    const int adj_x = subject_role(s, "adj_x"), adj_y = subject_role(s, "adj_y");
    uint32_t at[MAX_RANK], x[MAX_RANK], y[MAX_RANK];

    if (adj_x < 0 || adj_y < 0)
        return false;
    const bool turn_x = call_int(&s->call, adj_x), turn_y = call_int(&s->call, adj_y);
    const uint32_t r = s->expected->shape.rank, depth = shape_of(s, 0)->dim[turn_x ? r - 2 : r - 1];
    *ret = (struct element_sum){ .arg_b = 1, .arg_bias = -1 };
    if (!room_for(s, depth, ret))
        return false;
    shape_place(&s->expected->shape, element, at);
    memcpy(x, at, sizeof x);
    memcpy(y, at, sizeof y);
    for (uint32_t k = 0; k < depth; k++) {
        x[r - 2] = turn_x ? k : at[r - 2];
        x[r - 1] = turn_x ? at[r - 2] : k;
        y[r - 2] = turn_y ? at[r - 1] : k;
        y[r - 1] = turn_y ? k : at[r - 1];
        ret->term[ret->n++] =
            (struct term){ shape_index(shape_of(s, 0), x), shape_index(shape_of(s, 1), y) };
    }
    return true;
}

/* ---- reductions */

static bool reduction_terms(const struct subject *s, size_t element, struct element_sum *ret)
{
    const int axes = subject_arg(s, "axes");
    uint32_t at[MAX_RANK];

    if (axes < 0 || s->op->n_out != 1 || tensor_count(s->arg[0]) == 0)
        return false;
    const struct shape *in = shape_of(s, 0);
    struct shape kept = *in;
    const int32_t *axis = s->arg[axes]->data;
    for (size_t i = 0; i < tensor_count(s->arg[axes]); i++)
        kept.dim[axis[i] < 0 ? axis[i] + (int32_t) in->rank : axis[i]] = 1;
    *ret = (struct element_sum){ .arg_b = -1, .arg_bias = -1 };
    if (!room_for(s, tensor_count(s->arg[0]) / (shape_count(&kept) ? shape_count(&kept) : 1), ret))
        return false;
    for (size_t i = 0; i < tensor_count(s->arg[0]); i++) {
        shape_place(in, i, at);
        for (uint32_t d = 0; d < in->rank; d++)
            at[d] = kept.dim[d] == 1 ? 0 : at[d];
        if (shape_index(&kept, at) == element)
            ret->term[ret->n++] = (struct term){ i, 0 };
    }
    return true;
}

bool terms_of(const struct subject *s, size_t element, struct element_sum *ret)
{
    return s->operation->n_in && s->arg[0] &&
           (window_terms(s, element, ret) || transposed_terms(s, element, ret) ||
            fully_connected_terms(s, element, ret) || matmul_terms(s, element, ret) ||
            reduction_terms(s, element, ret));
}

/* ---- printing */

static void put_operand(const struct subject *s, uint32_t arg, size_t element, struct buffer *to)
{
    char name[64], place[SHAPE_TEXT], value[VALUE_TEXT];

    buffer_printf(to, "%s%s %s", subject_arg_name(s, arg, name),
                  place_text(&s->arg[arg]->shape, element, place),
                  value_text(s->arg[arg], element, value));
}

static double product(const struct subject *s, const struct element_sum *sum, size_t i)
{
    const double a = tensor_at(s->arg[sum->arg_a], sum->term[i].a);

    return sum->arg_b < 0 ? a : a * tensor_at(s->arg[sum->arg_b], sum->term[i].b);
}

void terms_print(const struct subject *s, const struct element_sum *sum, bool all,
                 struct buffer *to)
{
    double partial = 0;

    if (sum->arg_bias >= 0 && s->arg[sum->arg_bias]) {
        /* the scale of a bias may be that of the product, by channel: the reference's real value */
        const struct tensor *b = s->arg[sum->arg_bias];
        double scale = 1;
        if (dtype_info[b->dtype].codec->integer && b->scale == 0 && sum->arg_b >= 0 &&
            s->arg[sum->arg_b]->channel_scale)
            scale = (double) s->arg[sum->arg_a]->scale *
                    (double) s->arg[sum->arg_b]->channel_scale[sum->bias];
        partial = tensor_at(b, sum->bias) * scale;
        buffer_puts(to, "    ");
        put_operand(s, (uint32_t) sum->arg_bias, sum->bias, to);
        buffer_printf(to, " = %.9g\n", partial);
    }
    for (size_t i = 0; i < sum->n; i++) {
        partial += product(s, sum, i);
        if (!all && sum->n > SHOWN && i >= HEAD && i < sum->n - TAIL) {
            if (i == HEAD)
                buffer_printf(to, "    ... %zu more terms (--values shows all)\n",
                              sum->n - HEAD - TAIL);
            continue;
        }
        buffer_puts(to, "    ");
        put_operand(s, sum->arg_a, sum->term[i].a, to);
        if (sum->arg_b >= 0) {
            buffer_puts(to, " x ");
            put_operand(s, (uint32_t) sum->arg_b, sum->term[i].b, to);
        }
        buffer_printf(to, " = %.9g, sum %.9g\n", product(s, sum, i), partial);
    }
    if (sum->arg_b < 0 && sum->n)
        buffer_printf(to, "    sum %.9g of %zu, mean %.9g\n", partial, sum->n,
                      partial / (double) sum->n);
}
