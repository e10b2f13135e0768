/* The matrix kernel: computes every sum of products of the reference; the only part of golden/ that
 * is optimised for speed.
 *
 * What pins the result: an output element starts at its initial value and accumulates its products
 * in the order of the index k (for convolutions: kernel row, kernel column, input channel), each
 * with one fused multiply-add in double, acc = fma(x, w, acc).  Vector lanes, register blocks and
 * threads run over outputs only, so the bits are the same for every thread count, machine and
 * compiler.  Taps that fall into padding are skipped, not multiplied by zero: an infinite or NaN
 * weight at a padded position has no effect.
 *
 * Nothing here fails or allocates, except matmul_pack() and matmul_pool_new(); each thread uses at
 * most MATMUL_STACK bytes of stack as scratch memory.  Sizes may be zero; a sum of no products is
 * its initial value.  Outputs must not overlap inputs. */
#ifndef GOLDEN_MATMUL_H
#define GOLDEN_MATMUL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MATMUL_STACK (96 * 1024)

/* A thread pool; wherever one is expected, NULL means the calling thread alone.  A pool serves one
 * call at a time.  Threads do not survive fork(): create the pool in the process that uses it. */
struct matmul_pool;
struct matmul_pool *matmul_pool_new(size_t threads); /* NULL: out of memory or threads */
void matmul_pool_free(struct matmul_pool *p);

/* Weights packed in the order in which the kernel reads them, for several calls with the same
 * weights.  b: n rows of k; groups as in struct matmul_conv, else 1.  NULL when out of memory. */
struct matmul_packed;
struct matmul_packed *matmul_pack(size_t n, size_t k, size_t groups, const double *b);
void matmul_packed_free(struct matmul_packed *p);
/* The same into the caller's memory, aligned to 64. */
size_t matmul_packed_bytes(size_t n, size_t k, size_t groups);
void matmul_pack_into(size_t n, size_t k, size_t groups, const double *b,
                      struct matmul_packed *ret);

/* c[i][j] = init[j] + sum over k of a[i][k] * b[j][k] */
struct matmul {
    size_t m, n, k;
    const double *a; /* m rows of k, lda doubles apart (0: k) */
    size_t lda;
    const double *b;                    /* n rows of k, dense */
    const struct matmul_packed *packed; /* b packed with groups 1; NULL: packed block by block */
    const double *init;                 /* [n]; NULL: 0 */
    bool add;                           /* start from what c holds instead of from init */
    double *c;                          /* m rows of n, ldc doubles apart (0: n) */
    size_t ldc;
};
void matmul(const struct matmul *p, struct matmul_pool *pool);

/* One spatial axis of a sliding window: output o reads the inputs o * stride - pad + t * dilation,
 * t = 0..kernel-1, that lie in 0..in-1.  stride and dilation are at least 1. */
struct matmul_axis {
    size_t in, out, kernel, stride, dilation;
    ptrdiff_t pad; /* before the first element; that after the last follows from `out` */
};

/* Convolution of an NHWC image.  Channels are split into `groups` equal groups (0: 1); output group
 * g reads only input group g. */
struct matmul_conv {
    size_t batch, in_c, out_c, groups;
    struct matmul_axis y, x;
    const double *image;   /* [batch][y.in][x.in][in_c] */
    const double *weights; /* [out_c][y.kernel][x.kernel][in_c / groups] */
    const struct matmul_packed
        *packed;        /* matmul_pack(out_c, kernel size * in_c / groups, groups, weights) */
    const double *init; /* [out_c]; NULL: 0 */
    double *out;        /* [batch][y.out][x.out][out_c] */
};
void matmul_conv(const struct matmul_conv *p, struct matmul_pool *pool);

/* Depthwise convolution: out[..][c * multiplier + q] = init + sum over taps of image[tap][c] *
 * weights[tap][c * multiplier + q]. */
struct matmul_depthwise {
    size_t batch, in_c, multiplier;
    struct matmul_axis y, x;
    const double *image;   /* [batch][y.in][x.in][in_c] */
    const double *weights; /* [y.kernel][x.kernel][in_c * multiplier] */
    const double *init;    /* [in_c * multiplier]; NULL: 0 */
    double *out;           /* [batch][y.out][x.out][in_c * multiplier] */
};
void matmul_depthwise(const struct matmul_depthwise *p, struct matmul_pool *pool);

/* The same sums in 32-bit integers, for units of quantised operands (q - zero point).  If no |a| or
 * |b| exceeds MATMUL_INT_UNIT and k is at most MATMUL_INT_DEPTH, no partial sum in any order
 * reaches 2^31, so the results are the exact sums; the double kernel, exact below 2^53, gives the
 * same. */
enum { MATMUL_INT_UNIT = 255, MATMUL_INT_DEPTH = INT32_MAX / (255 * 255) };

/* k rounded up: the length of the rows of a and of packed b, padded with zeros. */
size_t matmul_int_depth(size_t k);
/* Packs n rows of k weights for matmul_int(); *ret has matmul_int_bytes() and is aligned to 64. */
size_t matmul_int_bytes(size_t n, size_t k);
void matmul_int_pack(size_t n, size_t k, const int16_t *b, int16_t *ret);

/* c[i][j] = sum over k of a[i][k] * b[j][k], on the calling thread */
struct matmul_int {
    size_t m, n, k;
    const int16_t *a; /* m rows, lda elements apart */
    size_t lda;
    const int16_t *packed;
    int32_t *c; /* m rows of n, ldc elements apart */
    size_t ldc;
};
void matmul_int(const struct matmul_int *p);

/* Depthwise, one pixel: out[c] = sum over taps of x[tap][c] * weights[tap][c].  x points to
 * matmul_int_depth(taps) rows, of which a last one beyond `taps` is read but has no effect; rows
 * are readable up to the next multiple of 16 channels. */
size_t matmul_int_taps_bytes(size_t channels, size_t taps);
void matmul_int_pack_taps(size_t channels, size_t taps, const int16_t *weights, int16_t *ret);
void matmul_int_taps(size_t channels, size_t taps, const int16_t *const *x, const int16_t *packed,
                     int32_t *out);

/* Converts the sums of pixels to an 8-bit type: to[c] = narrow(clamp((sum[c] + init[c]) * scale[c],
 * least, most)), in double, rounded as by tensor_narrow(). */
struct matmul_finish {
    size_t channels;
    const double *init, *scale; /* [channels] */
    double least, most;         /* of the activation; may be infinite */
    double step, zero;          /* scale and zero point of the output */
    double lowest, highest;     /* smallest and largest integer of its type */
};
void matmul_int_finish(const struct matmul_finish *f, size_t pixels, const int32_t *sums,
                       uint8_t *to);

/* Calls job(context, slot, i) for i = 0..n-1 on the pool's threads.  Concurrent jobs have different
 * slots, 0..matmul_slots()-1, so a slot can index scratch memory. */
size_t matmul_slots(struct matmul_pool *pool);
void matmul_each(void (*job)(const void *context, size_t slot, size_t i), const void *context,
                 size_t n, struct matmul_pool *pool);

/* The kernel's instances, one per instruction set.  All compute the same bits; tests compare them.
 * matmul_use() returns false if this machine cannot run the instance; it must not be called while
 * another call is running. */
enum matmul_isa { MATMUL_BEST, MATMUL_BASE, MATMUL_AVX2 };
bool matmul_use(enum matmul_isa isa);

#endif
