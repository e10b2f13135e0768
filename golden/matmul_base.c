/* The kernel for any machine: one double at a time.  Where the compiler may not assume an
 * instruction for it, fma() is the C library's, exact on every machine. */
#include <math.h>
#include <stddef.h>

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

#define KERNEL matmul_kernel_base
#include "golden/matmul_kernel.inc"
