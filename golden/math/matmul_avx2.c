/* The kernel's instance for AVX2 and FMA; compiled with the flags for them. */
#include <immintrin.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "golden/math/matmul_internal.h"

enum { LANES = 4 };
typedef __m256d vec;

static inline vec vec_load(const double *p)
{
    return _mm256_loadu_pd(p);
}

static inline void vec_store(double *p, vec x)
{
    _mm256_storeu_pd(p, x);
}

/* All bits of the first n of LANES lanes. */
static inline __m256i first_lanes(size_t n)
{
    static const int64_t mask[2 * LANES] = { -1, -1, -1, -1 };

    return _mm256_loadu_si256((const __m256i *) (mask + LANES - n));
}

static inline vec vec_load_first(const double *p, size_t n)
{
    return _mm256_maskload_pd(p, first_lanes(n));
}

static inline void vec_store_first(double *p, vec x, size_t n)
{
    _mm256_maskstore_pd(p, first_lanes(n), x);
}

static inline vec vec_all(double x)
{
    return _mm256_set1_pd(x);
}

static inline vec vec_fma(vec x, vec w, vec acc)
{
    return _mm256_fmadd_pd(x, w, acc);
}

static inline void vec_transpose(vec x[LANES])
{
    vec even01 = _mm256_unpacklo_pd(x[0], x[1]), odd01 = _mm256_unpackhi_pd(x[0], x[1]);
    vec even23 = _mm256_unpacklo_pd(x[2], x[3]), odd23 = _mm256_unpackhi_pd(x[2], x[3]);
    x[0] = _mm256_permute2f128_pd(even01, even23, 0x20);
    x[1] = _mm256_permute2f128_pd(odd01, odd23, 0x20);
    x[2] = _mm256_permute2f128_pd(even01, even23, 0x31);
    x[3] = _mm256_permute2f128_pd(odd01, odd23, 0x31);
}

static inline __m256i int_load(const int16_t *p)
{
    return _mm256_loadu_si256((const __m256i *) p);
}

static inline void int_store(int32_t *p, __m256i x)
{
    _mm256_storeu_si256((__m256i *) p, x);
}

/* acc += the sums of each pair of products */
static inline __m256i int_pairs(__m256i x, __m256i w, __m256i acc)
{
    return _mm256_add_epi32(acc, _mm256_madd_epi16(x, w));
}

/* 6 rows by 16 columns: 12 accumulators of 8 results. */
INLINE void int_tile_rows(size_t rows, size_t pairs, const int16_t *panel,
                          const struct matmul_int_rows *r)
{
    __m256i acc[INT_TILE][2];
    UNROLL for (size_t i = 0; i < rows; i++) acc[i][0] = acc[i][1] = _mm256_setzero_si256();
    for (size_t p = 0; p < pairs; p++, panel += 2 * INT_PANEL) {
        __m256i w0 = int_load(panel), w1 = int_load(panel + INT_PANEL);
        UNROLL for (size_t i = 0; i < rows; i++)
        {
            int32_t pair;
            memcpy(&pair, r->a[i] + 2 * p, sizeof pair);
            __m256i x = _mm256_set1_epi32(pair);
            acc[i][0] = int_pairs(x, w0, acc[i][0]);
            acc[i][1] = int_pairs(x, w1, acc[i][1]);
        }
    }
    UNROLL for (size_t i = 0; i < rows; i++)
    {
        int_store(r->c[i], acc[i][0]);
        int_store(r->c[i] + INT_PANEL / 2, acc[i][1]);
    }
}

/* Instructions interleave within halves of a vector, in the order of matmul_int_order, which is
 * undone at the end. */
static void int_taps(size_t pairs, size_t c, const int16_t *const *x, const int16_t *block,
                     int32_t *out)
{
    __m256i lo = _mm256_setzero_si256(), hi = lo;
    for (size_t p = 0; p < pairs; p++, block += 2 * INT_PANEL) {
        __m256i x0 = int_load(x[2 * p] + c), x1 = int_load(x[2 * p + 1] + c);
        lo = int_pairs(_mm256_unpacklo_epi16(x0, x1), int_load(block), lo);
        hi = int_pairs(_mm256_unpackhi_epi16(x0, x1), int_load(block + INT_PANEL), hi);
    }
    int_store(out, _mm256_permute2x128_si256(lo, hi, 0x20));
    int_store(out + INT_PANEL / 2, _mm256_permute2x128_si256(lo, hi, 0x31));
}

#define KERNEL matmul_kernel_avx2
#include "golden/math/matmul_kernel.inc"
