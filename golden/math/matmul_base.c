/* The kernel's portable instance: one double at a time.  Without an instruction for it, fma() is
 * the C library's function, exact on every machine. */
#include <math.h>
#include <stddef.h>

#include "golden/math/matmul_internal.h"

enum { LANES = 1 };
typedef double vec;

static inline vec vec_load(const double *p)
{
    return *p;
}

static inline void vec_store(double *p, vec x)
{
    *p = x;
}

static inline vec vec_load_first(const double *p, size_t n)
{
    return n ? *p : 0;
}

static inline void vec_store_first(double *p, vec x, size_t n)
{
    if (n)
        *p = x;
}

static inline vec vec_all(double x)
{
    return x;
}

static inline vec vec_fma(vec x, vec w, vec acc)
{
    return fma(x, w, acc);
}

static inline void vec_transpose(vec x[LANES])
{
    (void) x;
}

INLINE void int_tile_rows(size_t rows, size_t pairs, const int16_t *panel,
                          const struct matmul_int_rows *r)
{
    for (size_t i = 0; i < rows; i++) {
        const int16_t *w = panel, *a = r->a[i];
        int32_t acc[INT_PANEL] = { 0 };
        for (size_t p = 0; p < pairs; p++, w += 2 * INT_PANEL)
            for (size_t j = 0; j < INT_PANEL; j++)
                acc[j] += a[2 * p] * w[2 * j] + a[2 * p + 1] * w[2 * j + 1];
        for (size_t j = 0; j < INT_PANEL; j++)
            r->c[i][j] = acc[j];
    }
}

static void int_taps(size_t pairs, size_t c, const int16_t *const *x, const int16_t *block,
                     int32_t *out)
{
    for (size_t j = 0; j < INT_PANEL; j++)
        out[j] = 0;
    for (size_t p = 0; p < pairs; p++, block += 2 * INT_PANEL)
        for (size_t j = 0; j < INT_PANEL; j++) {
            size_t at = matmul_int_order[j];
            out[at] += x[2 * p][c + at] * block[2 * j] + x[2 * p + 1][c + at] * block[2 * j + 1];
        }
}

#define KERNEL matmul_kernel_base
#include "golden/math/matmul_kernel.inc"
