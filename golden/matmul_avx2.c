/* The kernel with AVX2 and FMA; compiled with the flags for them. */
#include <immintrin.h>
#include <stddef.h>

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

#define KERNEL matmul_kernel_avx2
#include "golden/matmul_kernel.inc"
