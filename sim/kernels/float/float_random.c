/* RANDOM_MULTINOMIAL, by a random generator of the device's own. */
#include <math.h>

#include "sim/kernels/float/float_operands.h"

/* Uniform in [0, 1), from an xorshift generator (Marsaglia, 2003); its state is never 0. */
static float next_uniform(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return (float) (*state >> 40) * 0x1p-24f;
}

/* sums: cumulative sums of exp(logit - maximum), 0 for logits that are not finite; returns the
 * last. */
static float running_sums(const float *logits, size_t n, float *sums)
{
    float top = -INFINITY, sum = 0;

    for (size_t i = 0; i < n; i++)
        top = isfinite(logits[i]) && logits[i] > top ? logits[i] : top;
    for (size_t i = 0; i < n; i++)
        sums[i] = sum += isfinite(logits[i]) ? expf(logits[i] - top) : 0;
    return sum;
}

static int run_multinomial(struct kernel_call *k, struct why *w)
{
    const float *logits = floats_load(k, k->arg[0]);
    const int32_t *seed = k->arg[2]->data;
    size_t rows = k->arg[0]->shape.dim[0], classes = k->arg[0]->shape.dim[1];
    size_t samples = k->out[0]->shape.dim[1];
    uint64_t state =
        ((uint64_t) (uint32_t) seed[0] << 32 | (uint32_t) seed[1]) ^ UINT64_C(0x2545f4914f6cdd1d);
    float *sums = floats_new(k, classes);
    int32_t *y = k->out[0]->data;

    if (!logits || !sums)
        return why_no_memory(w);
    if (!state)
        state = 1;
    for (int i = 0; i < 16; i++)
        next_uniform(&state);
    for (size_t r = 0; r < rows; r++) {
        float whole = running_sums(logits + r * classes, classes, sums);
        if (!(whole > 0))
            return why_fail(w, WHY_EXECUTION, "row %zu has no finite logit", r);
        for (size_t i = 0; i < samples; i++) {
            float x = next_uniform(&state) * whole;
            size_t c = 0;
            while (c + 1 < classes && sums[c] <= x)
                c++;
            *y++ = (int32_t) c;
        }
    }
    return 0;
}

const struct device_kernel float_random_kernels[] = {
    { "RANDOM_MULTINOMIAL", FLOATS, run_multinomial },
    { NULL },
};
