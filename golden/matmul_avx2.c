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

#define KERNEL matmul_kernel_avx2
#include "golden/matmul_kernel.h"
