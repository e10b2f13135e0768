#include "golden/matmul.h"

#include <math.h>
#include <pthreadpool.h>
#include <stdlib.h>

struct matmul_pool *matmul_pool_new(size_t threads)
{
    return (struct matmul_pool *) pthreadpool_create(threads);
}

void matmul_pool_free(struct matmul_pool *p)
{
    if (p)
        pthreadpool_destroy((pthreadpool_t) p);
}

void matmul(const struct matmul *p, struct matmul_pool *pool)
{
    (void) pool;
    size_t lda = p->lda ? p->lda : p->k, ldc = p->ldc ? p->ldc : p->n;
    for (size_t i = 0; i < p->m; i++)
        for (size_t j = 0; j < p->n; j++) {
            double acc = p->add ? p->c[i * ldc + j] : p->init ? p->init[j] : 0;
            for (size_t k = 0; k < p->k; k++)
                acc = fma(p->a[i * lda + k], p->b[j * p->k + k], acc);
            p->c[i * ldc + j] = acc;
        }
}

/* Input coordinate of tap t of output o; false in padding. */
static bool tap(const struct matmul_axis *a, size_t o, size_t t, size_t *ret_i)
{
    ptrdiff_t i = (ptrdiff_t) (o * a->stride + t * a->dilation) - a->pad;
    *ret_i = (size_t) i;
    return i >= 0 && (size_t) i < a->in;
}

static double conv_at(const struct matmul_conv *p, size_t b, size_t oy, size_t ox, size_t o)
{
    size_t groups = p->groups ? p->groups : 1, depth = p->in_c / groups, iy, ix;
    const double *w = p->weights + o * p->y.kernel * p->x.kernel * depth;
    double acc = p->init ? p->init[o] : 0;
    for (size_t ty = 0; ty < p->y.kernel; ty++)
        for (size_t tx = 0; tx < p->x.kernel; tx++, w += depth) {
            if (!tap(&p->y, oy, ty, &iy) || !tap(&p->x, ox, tx, &ix))
                continue;
            const double *x = p->image + ((b * p->y.in + iy) * p->x.in + ix) * p->in_c +
                              o / (p->out_c / groups) * depth;
            for (size_t c = 0; c < depth; c++)
                acc = fma(x[c], w[c], acc);
        }
    return acc;
}

void matmul_conv(const struct matmul_conv *p, struct matmul_pool *pool)
{
    (void) pool;
    double *out = p->out;
    for (size_t b = 0; b < p->batch; b++)
        for (size_t oy = 0; oy < p->y.out; oy++)
            for (size_t ox = 0; ox < p->x.out; ox++)
                for (size_t o = 0; o < p->out_c; o++)
                    *out++ = conv_at(p, b, oy, ox, o);
}

static double depthwise_at(const struct matmul_depthwise *p, size_t b, size_t oy, size_t ox,
                           size_t o)
{
    size_t n = p->in_c * p->multiplier, iy, ix;
    double acc = p->init ? p->init[o] : 0;
    for (size_t ty = 0; ty < p->y.kernel; ty++)
        for (size_t tx = 0; tx < p->x.kernel; tx++)
            if (tap(&p->y, oy, ty, &iy) && tap(&p->x, ox, tx, &ix))
                acc =
                    fma(p->image[((b * p->y.in + iy) * p->x.in + ix) * p->in_c + o / p->multiplier],
                        p->weights[(ty * p->x.kernel + tx) * n + o], acc);
    return acc;
}

void matmul_depthwise(const struct matmul_depthwise *p, struct matmul_pool *pool)
{
    (void) pool;
    double *out = p->out;
    for (size_t b = 0; b < p->batch; b++)
        for (size_t oy = 0; oy < p->y.out; oy++)
            for (size_t ox = 0; ox < p->x.out; ox++)
                for (size_t o = 0; o < p->in_c * p->multiplier; o++)
                    *out++ = depthwise_at(p, b, oy, ox, o);
}
