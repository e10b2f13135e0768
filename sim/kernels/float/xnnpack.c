/* Convolutions, pools and matrix products of the cpu device by XNNPACK; the only file in sim/ that
 * includes its header. */
#include <pthread.h>
#include <string.h>
#include <xnnpack.h>

#include "sim/kernels/float/float_operands.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static enum xnn_status ready = xnn_status_uninitialized;

static void initialize(void)
{
    ready = xnn_initialize(NULL);
}

static int start(struct why *w)
{
    pthread_once(&once, initialize);
    return ready == xnn_status_success
               ? 0
               : why_fail(w, WHY_SYSTEM, "xnn_initialize: status %d", (int) ready);
}

/* Runs an operator that has been created and set up, and frees it.  1: XNNPACK does not support its
 * parameters (such as a window of one element, or some bounds of an activation). */
static int finish(xnn_operator_t op, enum xnn_status created, enum xnn_status set_up, struct why *w)
{
    enum xnn_status status = created != xnn_status_success ? created : set_up;

    if (status == xnn_status_success)
        status = xnn_run_operator(op, NULL);
    if (op)
        xnn_delete_operator(op);
    if (status == xnn_status_success)
        return 0;
    if (status == xnn_status_out_of_memory)
        return why_no_memory(w);
    return 1;
}

/* A copy with XNN_EXTRA_BYTES behind it: XNNPACK reads past the end of its inputs. */
static const float *with_slack(const struct kernel_call *k, const float *x, size_t n)
{
    float *copy = arena_alloc_raw(k->scratch, n * sizeof(float) + XNN_EXTRA_BYTES, 1);

    if (copy) {
        memcpy(copy, x, n * sizeof(float));
        memset(copy + n, 0, XNN_EXTRA_BYTES);
    }
    return copy;
}

static const float *image_with_slack(const struct kernel_call *k, const struct image_window *v,
                                     const float *x)
{
    return with_slack(k, x, v->batch * (size_t) v->y.in * (size_t) v->x.in * v->in_c);
}

/* The padding after the last element that the last window needs.  XNNPACK derives the number of
 * windows from it, so that it must not be larger. */
static int pad_after(const struct window_axis *s)
{
    int after = (s->out - 1) * s->stride + (s->kernel - 1) * s->dilation + 1 - s->pad - s->in;

    return after > 0 ? after : 0;
}

static uint32_t u(int x)
{
    return (uint32_t) x;
}

/* Whether XNNPACK derives the same number of windows; not with the windows of some planted faults.
 */
static bool fits(const struct window_axis *s)
{
    int padded = s->in + s->pad + pad_after(s), window = (s->kernel - 1) * s->dilation + 1;

    return padded >= window && (padded - window) / s->stride + 1 == s->out;
}

int xnn_conv(const struct kernel_call *k, const struct float_conv *c, struct why *w)
{
    const struct image_window *v = &c->win;
    const float *x = image_with_slack(k, v, c->x);
    xnn_operator_t op = NULL;
    enum xnn_status created, set_up = xnn_status_success;

    TRY(start(w));
    if (!x)
        return why_no_memory(w);
    if (!fits(&v->y) || !fits(&v->x) || c->groups > UINT32_MAX)
        return 1;
    created = xnn_create_convolution2d_nhwc_f32(
        u(v->y.pad), u(pad_after(&v->x)), u(pad_after(&v->y)), u(v->x.pad), u(v->y.kernel),
        u(v->x.kernel), u(v->y.stride), u(v->x.stride), u(v->y.dilation), u(v->x.dilation),
        (uint32_t) c->groups, v->in_c / c->groups, v->out_c / c->groups, v->in_c, v->out_c,
        c->filter, c->bias, c->clamp.lo, c->clamp.hi,
        c->depthwise ? XNN_FLAG_DEPTHWISE_CONVOLUTION : 0, &op);
    if (created == xnn_status_success)
        set_up = xnn_setup_convolution2d_nhwc_f32(op, v->batch, (size_t) v->y.in, (size_t) v->x.in,
                                                  x, c->y, NULL);
    return finish(op, created, set_up, w);
}

int xnn_matrix(const struct kernel_call *k, const struct float_matrix *m, struct why *w)
{
    const float *x = with_slack(k, m->x, m->rows * m->in);
    xnn_operator_t op = NULL;
    enum xnn_status created, set_up = xnn_status_success;

    TRY(start(w));
    if (!x)
        return why_no_memory(w);
    created = xnn_create_fully_connected_nc_f32(m->in, m->out, m->in, m->out, m->weights, m->bias,
                                                m->clamp.lo, m->clamp.hi, 0, &op);
    if (created == xnn_status_success)
        set_up = xnn_setup_fully_connected_nc_f32(op, m->rows, x, m->y, NULL);
    return finish(op, created, set_up, w);
}

/* Whether XNNPACK can pool these windows: it has none of one element, and allocates a pointer for
 * each element of each window, whose number it computes in 32 bits. */
static bool is_pool(const struct image_window *v)
{
    enum { MOST = 1 << 14 };
    int64_t n = (int64_t) v->y.kernel * v->x.kernel;

    return n > 1 && n <= MOST;
}

int xnn_average_pool(const struct kernel_call *k, const struct float_pool *p, struct why *w)
{
    const struct image_window *v = &p->win;
    const float *x = image_with_slack(k, v, p->x);
    xnn_operator_t op = NULL;
    enum xnn_status created, set_up = xnn_status_success;

    TRY(start(w));
    if (!x)
        return why_no_memory(w);
    if (!fits(&v->y) || !fits(&v->x) || !is_pool(v))
        return 1;
    created = xnn_create_average_pooling2d_nhwc_f32(
        u(v->y.pad), u(pad_after(&v->x)), u(pad_after(&v->y)), u(v->x.pad), u(v->y.kernel),
        u(v->x.kernel), u(v->y.stride), u(v->x.stride), v->in_c, v->in_c, v->in_c, p->clamp.lo,
        p->clamp.hi, 0, &op);
    if (created == xnn_status_success)
        set_up = xnn_setup_average_pooling2d_nhwc_f32(op, v->batch, (size_t) v->y.in,
                                                      (size_t) v->x.in, x, p->y, NULL);
    return finish(op, created, set_up, w);
}

int xnn_max_pool(const struct kernel_call *k, const struct float_pool *p, struct why *w)
{
    const struct image_window *v = &p->win;
    const float *x = image_with_slack(k, v, p->x);
    xnn_operator_t op = NULL;
    enum xnn_status created, set_up = xnn_status_success;

    TRY(start(w));
    if (!x)
        return why_no_memory(w);
    if (!fits(&v->y) || !fits(&v->x) || !is_pool(v))
        return 1;
    created = xnn_create_max_pooling2d_nhwc_f32(
        u(v->y.pad), u(pad_after(&v->x)), u(pad_after(&v->y)), u(v->x.pad), u(v->y.kernel),
        u(v->x.kernel), u(v->y.stride), u(v->x.stride), 1, 1, v->in_c, v->in_c, v->in_c,
        p->clamp.lo, p->clamp.hi, 0, &op);
    if (created == xnn_status_success)
        set_up = xnn_setup_max_pooling2d_nhwc_f32(op, v->batch, (size_t) v->y.in, (size_t) v->x.in,
                                                  x, p->y, NULL);
    return finish(op, created, set_up, w);
}
