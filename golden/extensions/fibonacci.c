/* The example extension: 64-bit integer types, which NNAPI does not have, quantised with a double
 * scale and a 64-bit zero point, which its operands cannot store, and the Fibonacci numbers.
 * docs/extensions.md describes it. */
#include <math.h>
#include <string.h>

#include "golden/model/extension.h"

/* Extension data of every TENSOR_QUANT64_ASYMM: element q has the value (q - zero) * scale. */
struct quant64 {
    double scale;
    int64_t zero;
};

__extension__ typedef unsigned __int128 wide;
__extension__ typedef __int128 wide_signed;

enum { MOST_NUMBERS = 93 }; /* F(92) is the largest that fits into int64 */

static struct quant64 quant64_of(const struct tensor *t)
{
    struct quant64 q;

    memcpy(&q, t->extension, sizeof(q));
    return q;
}

static int check_data(const struct tensor *t, struct why *w)
{
    const char *name = dtype_info[t->dtype].name;
    size_t want = t->dtype == DT_FIBONACCI_QUANT64 ? sizeof(struct quant64) : 0;

    REQUIRE(w, t->extension_length == want, "%s has %zu bytes of extension data, must have %zu",
            name, t->extension_length, want);
    if (!want)
        return 0;
    double scale = quant64_of(t).scale;
    REQUIRE(w, isfinite(scale) && scale > 0, "%s has scale %g, must be positive and finite", name,
            scale);
    return 0;
}

/* ---- FIBONACCI */

enum { N, N_TENSOR };

static const struct role fibonacci_inputs[] = {
    [N] = { "n", "number of elements, 0 to 93" },
    [N_TENSOR] = { "n", "the same, as a tensor of one element", "1", .slot = FIXED(DT_I32) },
};

static const struct role fibonacci_outputs[] = {
    { "output", "0, 1, 1, 2, 3, 5, ... quantised", "n", .slot = 1 },
};

static const struct form fibonacci_forms[] = {
    { "scalar", { N, END } },
    { "tensor", { N_TENSOR, END } },
};

static const struct typing fibonacci_typings[] = {
    { L3, RANK(1), { DT_INT32, DT_FIBONACCI_QUANT64 } },
    { L3, RANK(1), { DT_FIBONACCI_INT64, DT_FIBONACCI_QUANT64 } },
};

static int64_t number_of(const struct tensor *n)
{
    int64_t value = 0;
    int32_t half;

    if (n->dtype == DT_FIBONACCI_INT64) {
        memcpy(&value, n->data, sizeof(value));
        return value;
    }
    memcpy(&half, n->data, sizeof(half));
    return half;
}

static int fibonacci_infer(struct call *c, struct why *w)
{
    if (!c->arg[0]->data)
        return 0;
    int64_t n = number_of(c->arg[0]);
    REQUIRE(w, n >= 0 && n <= MOST_NUMBERS, "FIBONACCI: %lld numbers, must be 0 to %d",
            (long long) n, MOST_NUMBERS);
    c->out[0]->shape = (struct shape){ 1, { (uint32_t) n } };
    return 0;
}

/* number / scale, rounded to the nearest, half away from zero, plus zero.  Exact for every scale,
 * which is an integer of 53 bits times a power of two.  -1: overflow. */
static int quantise(uint64_t number, const struct quant64 *q, int64_t *ret_stored)
{
    int exponent;
    wide divisor = (wide) ldexp(frexp(q->scale, &exponent), 53), dividend = number;
    int shift = 53 - exponent;

    if (shift > 0) {
        if (number && (shift > 126 || dividend > ((wide) 1 << 127) >> shift))
            return -1; /* over 2^127 / 2^53 */
        dividend = number ? dividend << shift : 0;
    } else {
        divisor = shift < -73 ? 0 : divisor << -shift;
    }
    /* divisor 0: it exceeds 2 * dividend */
    wide rounded = divisor ? (dividend + divisor / 2) / divisor : 0;
    return rounded > INT64_MAX || __builtin_add_overflow((int64_t) rounded, q->zero, ret_stored)
               ? -1
               : 0;
}

static int fibonacci_eval(struct call *c, struct why *w)
{
    struct quant64 q = quant64_of(c->out[0]);
    int64_t *to = c->out[0]->data;
    uint64_t number = 0, next = 1;

    for (uint32_t i = 0; i < c->out[0]->shape.dim[0]; i++) {
        if (quantise(number, &q, &to[i]) < 0)
            return why_fail(w, WHY_EXECUTION,
                            "FIBONACCI: number %u, %llu, does not fit into 64 bits with scale %g, "
                            "zero point %lld",
                            i, (unsigned long long) number, q.scale, (long long) q.zero);
        uint64_t sum = number + next;
        number = next;
        next = sum;
    }
    return 0;
}

/* ---- DEQUANTIZE64 */

static const struct role dequantize_inputs[] = {
    { "input", "quantised numbers", "*" },
};

static const struct role dequantize_outputs[] = {
    { "output", "real numbers", "*", .slot = 1 },
};

static const struct form dequantize_forms[] = {
    { "", { 0, END } },
};

static const struct typing dequantize_typings[] = {
    { L3, RANKS(1, MAX_RANK), { DT_FIBONACCI_QUANT64, DT_F32 } },
};

/* Reads the stored integers, which are rounded in x[]. */
static int dequantize_eval(struct call *c, struct why *w)
{
    struct quant64 q = quant64_of(c->arg[0]);
    const int64_t *from = c->arg[0]->data;

    (void) w;
    for (size_t i = 0; i < tensor_count(c->arg[0]); i++)
        c->y[0][i] = (double) ((wide_signed) from[i] - q.zero) * q.scale;
    return 0;
}

static int dequantize_bound(struct call *c, struct why *w)
{
    double scale = quant64_of(c->arg[0]).scale;

    (void) w;
    for (size_t i = 0; i < tensor_count(c->arg[0]); i++)
        c->ey[0][i] = c->ex[0] ? c->ex[0][i] * scale : 0;
    return 0;
}

static const struct op operations[] = {
    {
        .code = EXTENSION_CODE(fibonacci, 0),
        .name = "FIBONACCI",
        .summary = "The first n Fibonacci numbers.",
        .formula = "output[i] = round(F(i) / scale) + zero; F(0) = 0, F(1) = 1, F(i) = F(i - 1) + "
                   "F(i - 2)",
        .since = L3,
        .in = fibonacci_inputs,
        .n_in = COUNT(fibonacci_inputs),
        .out = fibonacci_outputs,
        .n_out = COUNT(fibonacci_outputs),
        .forms = fibonacci_forms,
        .n_forms = COUNT(fibonacci_forms),
        .typings = fibonacci_typings,
        .n_typings = COUNT(fibonacci_typings),
        .error = { ERROR_EXACT, .text = "none" },
        .infer = fibonacci_infer,
        .eval_exact = fibonacci_eval,
    },
    {
        .code = EXTENSION_CODE(fibonacci, 1),
        .name = "DEQUANTIZE64",
        .summary = "Converts 64-bit quantised numbers to real ones.",
        .formula = "output = (input - zero) * scale",
        .since = L3,
        .in = dequantize_inputs,
        .n_in = COUNT(dequantize_inputs),
        .out = dequantize_outputs,
        .n_out = COUNT(dequantize_outputs),
        .forms = dequantize_forms,
        .n_forms = COUNT(dequantize_forms),
        .typings = dequantize_typings,
        .n_typings = COUNT(dequantize_typings),
        .error = { ERROR_ELEMENT, .ulps = 2, .text = "the input's error" },
        .eval = dequantize_eval,
        .bound = dequantize_bound,
    },
};

const struct extension_record extension_fibonacci = {
    .summary = "64-bit quantised integers and Fibonacci numbers",
    .op = operations,
    .n_ops = COUNT(operations),
    .check_data = check_data,
};
