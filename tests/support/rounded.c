#include "tests/support/rounded.h"

double rounded_single(double x)
{
    return (double) (float) x;
}

double rounded_half(double x)
{
    return f16_to_double(f16_from_double(x));
}

void rounded_fill(uint32_t seed, double lo, double hi, double (*r)(double x), double *x, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        seed = seed * 1664525 + 1013904223;
        x[i] = r(lo + (hi - lo) * (double) (seed >> 8) / 0x1p24);
    }
}

struct tensor rounded_tensor(struct build *b, enum dtype type, struct shape shape, const double *x)
{
    struct tensor t = { .dtype = type, .shape = shape };

    t.data = arena_alloc(b->arena, tensor_bytes(&t), 1);
    tensor_narrow(x, &t);
    return t;
}

struct judgement rounded_judge(struct build *b, const struct result *r, uint32_t i, const double *y)
{
    struct tensor actual = rounded_tensor(b, r->out[i].dtype, r->out[i].shape, y);

    return judge_result(r, i, &actual);
}
