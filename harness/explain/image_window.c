#include "harness/explain/image_window.h"

#include <string.h>

#include "golden/ops/shared/image/window.h"

/* A role of the record, whether the form has it or not. */
static int role(const struct subject *s, const char *name)
{
    const int r = subject_role(s, name);

    return r < 0 ? NO_ROLE : r;
}

static ptrdiff_t needed(const struct matmul_axis *a)
{
    const ptrdiff_t reach = (ptrdiff_t) ((a->kernel - 1) * a->dilation + 1);
    const ptrdiff_t n = (ptrdiff_t) ((a->out - 1) * a->stride) + reach - (ptrdiff_t) a->in - a->pad;

    return n > 0 ? n : 0;
}

static ptrdiff_t after(const struct subject *s, const char *name, const struct matmul_axis *a)
{
    return subject_arg(s, name) < 0 ? needed(a) : call_int(&s->call, subject_role(s, name));
}

/* The dimensions of an image: height, width and channels. */
static void dimensions_of(const struct subject *s, uint32_t *ret_h, uint32_t *ret_w,
                          uint32_t *ret_c)
{
    *ret_h = s->call.nchw ? 2 : 1;
    *ret_w = s->call.nchw ? 3 : 2;
    *ret_c = s->call.nchw ? 1 : 3;
}

bool window_of_subject(const struct subject *s, struct window_geometry *ret)
{
    const bool pools = subject_role(s, "filter_height") >= 0;

    if (subject_role(s, "stride_height") < 0 || subject_role(s, "pad_top") < 0 ||
        subject_role(s, "output_shape") >= 0 || !s->op->in[0].image)
        return false;
    const struct window_roles roles = {
        .scheme = role(s, "padding"),
        .y = { role(s, "pad_top"), role(s, "pad_bottom"), role(s, "stride_height"),
               role(s, "filter_height"), role(s, "dilation_height") },
        .x = { role(s, "pad_left"), role(s, "pad_right"), role(s, "stride_width"),
               role(s, "filter_width"), role(s, "dilation_width") },
        .activation = role(s, "activation"),
    };
    const struct window w = window_of(&s->call, &roles);
    *ret = (struct window_geometry){ .y = w.y,
                                     .x = w.x,
                                     .after_y = after(s, "pad_bottom", &w.y),
                                     .after_x = after(s, "pad_right", &w.x),
                                     .pools = pools };
    dimensions_of(s, &ret->h, &ret->w, &ret->c);
    return true;
}

/* The rows or columns that padding SAME cuts off before the output; VALID: none. */
static int64_t cut_by_scheme(const struct subject *s, const struct transposed_axis *a)
{
    const int64_t steps = (a->out + a->stride - 1) / a->stride;
    const int64_t cut = (steps - 1) * a->stride + a->kernel - a->out;

    return call_int(&s->call, subject_role(s, "padding")) == 1 && cut > 0 ? cut / 2 : 0;
}

static struct transposed_axis transposed_axis_of(const struct subject *s, uint32_t d, bool vertical)
{
    const char *const pad = vertical ? "pad_top" : "pad_left";
    struct transposed_axis a = {
        .in = s->arg[0]->shape.dim[d],
        .out = s->expected->shape.dim[d],
        .kernel = s->arg[subject_arg(s, "filter")]->shape.dim[vertical ? 1 : 2],
        .stride = call_int(&s->call, subject_role(s, vertical ? "stride_height" : "stride_width")),
    };

    a.before =
        subject_arg(s, pad) < 0 ? cut_by_scheme(s, &a) : call_int(&s->call, subject_role(s, pad));
    a.after = (a.in - 1) * a.stride + a.kernel - a.out - a.before;
    return a;
}

bool transposed_window_of_subject(const struct subject *s, struct transposed_geometry *ret)
{
    if (subject_role(s, "output_shape") < 0 || subject_role(s, "stride_height") < 0 ||
        subject_arg(s, "filter") < 0 || !s->op->in[0].image)
        return false;
    dimensions_of(s, &ret->h, &ret->w, &ret->c);
    ret->y = transposed_axis_of(s, ret->h, true);
    ret->x = transposed_axis_of(s, ret->w, false);
    return true;
}
