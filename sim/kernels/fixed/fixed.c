#include "sim/kernels/fixed/fixed.h"

#include <math.h>

struct factor factor_of(double real)
{
    int exponent;
    double fraction = frexp(real, &exponent); /* in [0.5, 1) */
    struct factor f = { llround(ldexp(fraction, 31)), 31 - exponent };

    if (f.mantissa == INT64_C(1) << 31) {
        f.mantissa /= 2;
        f.shift--;
    }
    return f;
}

int64_t shift_round(int64_t value, int shift, bool truncate)
{
    const int64_t most = INT64_C(1) << 40; /* beyond the range of every type */
    int64_t magnitude = value < 0 ? -value : value;

    if (shift <= 0) {
        bool fits = shift > -40 && magnitude < most >> -shift;
        magnitude = fits ? (int64_t) ((uint64_t) magnitude << -shift) : magnitude ? most : 0;
    } else if (shift > 62) {
        magnitude = 0;
    } else {
        magnitude = (magnitude + (truncate ? 0 : INT64_C(1) << (shift - 1))) >> shift;
    }
    return value < 0 ? -magnitude : magnitude;
}

int64_t factor_apply(int64_t x, struct factor f, bool truncate)
{
    return shift_round(x * f.mantissa, f.shift, truncate);
}

struct factor_pair factor_pair_of(double a, double b)
{
    int exponent;

    frexp(a > b ? a : b, &exponent);
    return (struct factor_pair){
        { llround(ldexp(a, 31 - exponent)), llround(ldexp(b, 31 - exponent)) }, 31 - exponent
    };
}

uint64_t integer_root(uint64_t x)
{
    uint64_t root = 0;

    for (uint64_t bit = UINT64_C(1) << 31; bit; bit >>= 1)
        if ((root + bit) * (root + bit) <= x)
            root += bit;
    return root;
}

struct fixed_range fixed_range(const struct tensor *t)
{
    return t->dtype == DT_U8 ? (struct fixed_range){ -t->zero, 255 - t->zero }
                             : (struct fixed_range){ -128 - t->zero, 127 - t->zero };
}

/* A real bound in steps of t's scale, saturated beyond the 8-bit range. */
static int32_t bound_at(const struct tensor *t, double real)
{
    double q = round(real / (double) t->scale);

    return q > 1000 ? 1000 : q < -1000 ? -1000 : (int32_t) q;
}

struct fixed_range fixed_fused_range(const struct kernel_call *k, const struct tensor *out)
{
    static const struct {
        double lo, hi;
    } real[4] = { { -1e30, 1e30 }, { 0, 1e30 }, { -1, 1 }, { 0, 6 } };
    struct fixed_range r = fixed_range(out);
    int32_t code = kernel_int(k, ROLE_ACTIVATION, 0);

    if (code < 0 || code > 3)
        return r;
    int32_t lo = bound_at(out, real[code].lo), hi = bound_at(out, real[code].hi);
    if (k->kernel_faults & KERNEL_FAULT_ACTIVATION && code) {
        lo -= 4;
        hi -= hi > 4 ? 4 : 0;
    }
    /* If the ranges do not overlap, the nearest value of the type remains. */
    r.lo = lo > r.hi ? r.hi : lo > r.lo ? lo : r.lo;
    r.hi = hi < r.lo ? r.lo : hi < r.hi ? hi : r.hi;
    return r;
}

void fixed_store(struct tensor *t, size_t i, int64_t q, struct fixed_range r)
{
    int32_t stored = (int32_t) (q < r.lo ? r.lo : q > r.hi ? r.hi : q) + t->zero;

    if (t->dtype == DT_U8)
        ((uint8_t *) t->data)[i] = (uint8_t) stored;
    else
        ((int8_t *) t->data)[i] = (int8_t) stored;
}
