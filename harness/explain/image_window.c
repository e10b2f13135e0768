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
    const bool nchw = s->call.nchw;
    *ret = (struct window_geometry){ .y = w.y,
                                     .x = w.x,
                                     .after_y = after(s, "pad_bottom", &w.y),
                                     .after_x = after(s, "pad_right", &w.x),
                                     .pools = pools,
                                     .h = nchw ? 2 : 1,
                                     .w = nchw ? 3 : 2,
                                     .c = nchw ? 1 : 3 };
    return true;
}
