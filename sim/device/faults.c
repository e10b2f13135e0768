/* The part of the fault table with defects inside a simulated device. */
#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden/base/clock.h"
#include "sim/device/fault.h"
#include "sim/hal/hal_result.h"
#include "sim/kernels/half.h"
#include "sim/sim.h"

/* ---- wrong operands */

/* Replaces input i by a copy with its own data, and returns it; NULL: out of memory. */
static struct tensor *own_input(struct kernel_call *k, uint32_t i)
{
    struct tensor *t = arena_copy(k->scratch, k->arg[i], sizeof(*t));

    if (!t)
        return NULL;
    t->data = arena_copy(k->scratch, t->data, tensor_bytes(t));
    kernel_replace_input(k, i, t);
    return t->data ? t : NULL;
}

static bool is_op(const struct kernel_call *k, const char *name)
{
    return strcmp(k->call.op->name, name) == 0;
}

static float float_at(const struct tensor *t, size_t i)
{
    return t->dtype == DT_F16 ? half_to_float(((const uint16_t *) t->data)[i])
                              : ((const float *) t->data)[i];
}

static void put_float(struct tensor *t, size_t i, float x)
{
    if (t->dtype == DT_F16)
        ((uint16_t *) t->data)[i] = half_from_float(x);
    else
        ((float *) t->data)[i] = x;
}

static bool is_float(const struct tensor *t)
{
    return t->dtype == DT_F32 || t->dtype == DT_F16;
}

static int32_t byte_at(const struct tensor *t, size_t i)
{
    return t->dtype == DT_U8 ? ((const uint8_t *) t->data)[i] : ((const int8_t *) t->data)[i];
}

enum { STEPS_OFF = 3 };

/* Increases the magnitude of element i by 1 % (float) or STEPS_OFF steps (quantised; decreases it
 * if the result would overflow). */
static void enlarge(struct tensor *t, size_t i)
{
    uint8_t *bytes = t->data;

    if (is_float(t)) {
        put_float(t, i, float_at(t, i) * 1.01f);
        return;
    }
    int32_t q = byte_at(t, i), lowest = t->dtype == DT_U8 ? 0 : -128;
    int32_t more = q >= t->zero ? q + STEPS_OFF : q - STEPS_OFF;
    bytes[i] = (uint8_t) (more < lowest || more > lowest + 255 ? q - (more - q) : more);
}

static double magnitude(const struct tensor *t, size_t i)
{
    return is_float(t) ? fabs((double) float_at(t, i)) : fabs((double) (byte_at(t, i) - t->zero));
}

static int weight_off(struct kernel_call *k, struct why *w)
{
    size_t most = 0;

    if (!is_op(k, "CONV_2D") || !tensor_count(k->arg[1]))
        return 0;
    struct tensor *t = own_input(k, 1);
    if (!t)
        return why_no_memory(w);
    for (size_t i = 1; i < tensor_count(t); i++)
        if (magnitude(t, i) > magnitude(t, most))
            most = i;
    enlarge(t, most);
    return 0;
}

/* Zeroes the last weight of every filter of CONV_2D, and of DEPTHWISE_CONV_2D all channels of the
 * last tap. */
static int drop_tap(struct kernel_call *k, struct why *w)
{
    bool depthwise = is_op(k, "DEPTHWISE_CONV_2D");

    if ((!is_op(k, "CONV_2D") && !depthwise) || !tensor_count(k->arg[1]))
        return 0;
    struct tensor *t = own_input(k, 1);
    if (!t)
        return why_no_memory(w);
    size_t n = tensor_count(t), taps = depthwise ? 1 : n / t->shape.dim[0];
    size_t first = depthwise ? n - t->shape.dim[3] : taps - 1;
    for (size_t i = first; i < n; i += taps)
        if (is_float(t))
            put_float(t, i, 0);
        else
            ((uint8_t *) t->data)[i] = (uint8_t) t->zero;
    return 0;
}

static int ignore_zero(struct kernel_call *k, struct why *w)
{
    if (!k->call.n_in || !k->arg[0] || !k->arg[0]->zero || kernel_only_moves(k))
        return 0;
    struct tensor *t = arena_copy(k->scratch, k->arg[0], sizeof(*t));
    if (!t)
        return why_no_memory(w);
    t->zero = 0;
    kernel_replace_input(k, 0, t);
    return 0;
}

/* A quantised result of a float operand is stored without its zero point. */
static void store_without_zero(struct kernel_call *k)
{
    struct tensor *t = k->out[0];
    int32_t lowest = t->dtype == DT_U8 ? 0 : -128;

    if (!t->zero || !k->call.n_in || !k->arg[0] || !is_float(k->arg[0]))
        return;
    for (size_t i = 0; i < tensor_count(t); i++) {
        int32_t q = byte_at(t, i) - t->zero;
        q = q < lowest ? lowest : q > lowest + 255 ? lowest + 255 : q;
        ((uint8_t *) t->data)[i] = (uint8_t) q;
    }
}

static int ignore_channels(struct kernel_call *k, struct why *w)
{
    for (uint32_t i = 0; i < k->call.n_in; i++) {
        if (!k->arg[i] || !k->arg[i]->n_channels)
            continue;
        struct tensor *t = arena_copy(k->scratch, k->arg[i], sizeof(*t));
        float *scales = t ? arena_alloc(k->scratch, t->n_channels, sizeof(*scales)) : NULL;
        if (!scales)
            return why_no_memory(w);
        for (uint32_t c = 0; c < t->n_channels; c++)
            scales[c] = t->channel_scale[0];
        t->channel_scale = scales;
        kernel_replace_input(k, i, t);
    }
    return 0;
}

/* ---- wrong results */

static void store_half(struct kernel_call *k)
{
    for (uint32_t i = 0; i < k->call.n_out; i++)
        for (size_t e = 0; k->out[i]->dtype == DT_F32 && e < tensor_count(k->out[i]); e++)
            put_float(k->out[i], e, half_round(float_at(k->out[i], e)));
}

static void put_nan(struct kernel_call *k)
{
    struct tensor *t = k->out[0];

    if (is_float(t) && tensor_count(t))
        put_float(t, tensor_count(t) / 2, NAN);
}

/* Changes one element, chosen by the steady clock. */
static void disturb(struct kernel_call *k)
{
    struct tensor *t = k->out[0];
    size_t n = tensor_count(t), at = n ? (size_t) clock_steady_ns() / 64 % n : 0;

    if (!n)
        return;
    if (is_float(t))
        put_float(t, at, float_at(t, at) * 1.25f + 0.25f);
    else if (t->dtype == DT_U8 || t->dtype == DT_S8)
        ((uint8_t *) t->data)[at] ^= 16;
}

/* ---- wrong scalars */

/* The input of this role, as an index in calling order; -1: it has none. */
static int input_of(const struct kernel_call *k, enum kernel_role role)
{
    int operand = kernel_role_operand(k->call.op, role);
    const struct tensor *t = operand < 0 ? NULL : k->call.in[operand];

    for (uint32_t i = 0; t && t->data && i < k->call.n_in; i++)
        if (k->arg[i] == t)
            return (int) i;
    return -1;
}

/* Replaces an integer or boolean scalar of this role by `value`, if the operation has it. */
static int put_scalar(struct kernel_call *k, enum kernel_role role, int32_t value, struct why *w)
{
    int i = input_of(k, role);

    if (i < 0)
        return 0;
    struct tensor *t = own_input(k, (uint32_t) i);
    if (!t)
        return why_no_memory(w);
    if (t->dtype == DT_INT32)
        *(int32_t *) t->data = value;
    else if (t->dtype == DT_BOOL)
        *(uint8_t *) t->data = (uint8_t) value;
    return 0;
}

static int32_t scalar_of(const struct kernel_call *k, enum kernel_role role)
{
    int i = input_of(k, role);

    return i >= 0 && k->arg[i]->dtype == DT_INT32 ? *(const int32_t *) k->arg[i]->data : 1;
}

static int exchange_strides(struct kernel_call *k, struct why *w)
{
    int32_t width = scalar_of(k, ROLE_STRIDE_WIDTH), height = scalar_of(k, ROLE_STRIDE_HEIGHT);

    TRY(put_scalar(k, ROLE_STRIDE_WIDTH, height, w));
    return put_scalar(k, ROLE_STRIDE_HEIGHT, width, w);
}

static int ignore_dilation(struct kernel_call *k, struct why *w)
{
    TRY(put_scalar(k, ROLE_DILATION_WIDTH, 1, w));
    return put_scalar(k, ROLE_DILATION_HEIGHT, 1, w);
}

static int lose_activation(struct kernel_call *k, struct why *w)
{
    return put_scalar(k, ROLE_ACTIVATION, 0, w);
}

static int ignore_corners(struct kernel_call *k, struct why *w)
{
    return put_scalar(k, ROLE_ALIGN_CORNERS, 0, w);
}

/* Takes a tensor of this role as all zero. */
static int zero_input(struct kernel_call *k, enum kernel_role role, struct why *w)
{
    int i = input_of(k, role);

    if (i < 0)
        return 0;
    struct tensor *t = own_input(k, (uint32_t) i);
    if (!t)
        return why_no_memory(w);
    memset(t->data, 0, tensor_bytes(t));
    return 0;
}

static int lose_bias(struct kernel_call *k, struct why *w)
{
    return zero_input(k, ROLE_BIAS, w);
}

static int lose_state(struct kernel_call *k, struct why *w)
{
    TRY(zero_input(k, ROLE_CELL_STATE, w));
    return zero_input(k, ROLE_HIDDEN_STATE, w);
}

static bool is_byte(const struct tensor *t)
{
    return t->dtype == DT_U8 || t->dtype == DT_S8;
}

/* The second operand of an element-wise operation is read with the quantisation of the first. */
static int use_first_scale(struct kernel_call *k, struct why *w)
{
    if (k->call.n_in < 2 || !k->arg[0] || !k->arg[1] || !is_byte(k->arg[0]) ||
        k->arg[1]->dtype != k->arg[0]->dtype || kernel_role_operand(k->call.op, ROLE_FILTER) >= 0)
        return 0;
    struct tensor *t = own_input(k, 1);
    if (!t)
        return why_no_memory(w);
    t->scale = k->arg[0]->scale;
    t->zero = k->arg[0]->zero;
    return 0;
}

/* ---- wrong for some shapes */

static void zero_from(struct tensor *t, size_t first)
{
    size_t n = tensor_count(t), size = n ? tensor_bytes(t) / n : 0;

    for (size_t i = first; i < n; i++)
        if (is_byte(t))
            ((uint8_t *) t->data)[i] = (uint8_t) t->zero;
        else
            memset((uint8_t *) t->data + i * size, 0, size);
}

static void odd_channels(struct kernel_call *k)
{
    struct tensor *t = k->out[0];
    size_t n = tensor_count(t), c = t->shape.rank ? t->shape.dim[t->shape.rank - 1] : 0;

    if (c < 3 || c % 2 == 0 || !is_float(t))
        return;
    for (size_t i = c - 1; i < n; i += c)
        put_float(t, i, 0);
}

static void later_batches(struct kernel_call *k)
{
    struct tensor *t = k->out[0];

    if (t->shape.rank == 4 && t->shape.dim[0] > 1)
        zero_from(t, tensor_count(t) / t->shape.dim[0]);
}

static void large_shapes(struct kernel_call *k)
{
    enum { LARGE = 64 };

    if (tensor_count(k->out[0]) > LARGE)
        zero_from(k->out[0], tensor_count(k->out[0]) - 1);
}

/* A counter of 16 bits. */
static void count_in_16_bits(struct kernel_call *k)
{
    if (tensor_count(k->out[0]) > UINT16_MAX)
        zero_from(k->out[0], UINT16_MAX + 1);
}

/* The first operand, where it is the smaller one, is not repeated. */
static void first_not_broadcast(struct kernel_call *k)
{
    if (k->call.n_in >= 2 && k->arg[0] && k->arg[1] && k->arg[0]->dtype == k->arg[1]->dtype &&
        dtype_info[k->arg[0]->dtype].tensor && kernel_role_operand(k->call.op, ROLE_FILTER) < 0 &&
        tensor_count(k->arg[1]) == tensor_count(k->out[0]) &&
        tensor_count(k->arg[0]) < tensor_count(k->out[0]))
        zero_from(k->out[0], tensor_count(k->arg[0]));
}

/* ---- wrong for some values */

static void wrap_around(struct kernel_call *k)
{
    struct tensor *t = k->out[0];
    uint8_t most = t->dtype == DT_U8 ? 255 : 127, least = t->dtype == DT_U8 ? 0 : 128;

    for (size_t i = 0; is_byte(t) && !kernel_only_moves(k) && i < tensor_count(t); i++)
        if (((uint8_t *) t->data)[i] == most)
            ((uint8_t *) t->data)[i] = least;
}

static void overflow_half(struct kernel_call *k)
{
    const float largest = 65504; /* of fp16 */
    struct tensor *t = k->out[0];

    for (size_t i = 0; t->dtype == DT_F32 && i < tensor_count(t); i++)
        if (fabsf(float_at(t, i)) > largest)
            put_float(t, i, copysignf(INFINITY, float_at(t, i)));
}

static void symmetric_range(struct kernel_call *k)
{
    struct tensor *t = k->out[0];

    for (size_t i = 0; t->dtype == DT_S8 && i < tensor_count(t); i++)
        if (((int8_t *) t->data)[i] == -128)
            ((int8_t *) t->data)[i] = -127;
}

static void shift_signed(struct kernel_call *k)
{
    struct tensor *t = k->out[0];

    for (size_t i = 0; t->dtype == DT_S8 && !kernel_only_moves(k) && i < tensor_count(t); i++)
        if (((int8_t *) t->data)[i] <= 127 - STEPS_OFF)
            ((int8_t *) t->data)[i] = (int8_t) (((int8_t *) t->data)[i] + STEPS_OFF);
}

/* ---- wrong memory */

/* Computes in place, whatever else reads the operand. */
static void in_place(struct kernel_call *k)
{
    const struct tensor *a = k->call.n_in ? k->arg[0] : NULL;
    struct tensor *t = k->out[0];

    if (a && a->data && a->dtype == t->dtype && tensor_bytes(a) == tensor_bytes(t))
        memcpy(a->data, t->data, tensor_bytes(t));
}

/* ---- answers that break the contract */

static void drop_answer(bool *supported, uint32_t *n)
{
    (void) supported;
    *n -= *n > 0;
}

static enum hal_status fail_preparation(void)
{
    return HAL_GENERAL_FAILURE;
}

static void fail_execution(struct faulty_execution *a)
{
    a->status = HAL_GENERAL_FAILURE;
    hal_clear_result(a->result);
}

static void unknown_status(struct faulty_execution *a)
{
    a->status = (enum hal_status) 77;
}

static void grow_shape(struct faulty_execution *a)
{
    if (a->result->n_shapes && a->result->shapes[0].n_dims)
        a->result->shapes[0].dims[a->result->shapes[0].n_dims - 1]++;
}

static void reverse_timing(struct faulty_execution *a)
{
    a->result->timing = (struct hal_timing){ .on_device = 2000, .in_driver = 1000 };
}

static void crash(struct faulty_execution *a)
{
    (void) a;
    signal(SIGSEGV, SIG_DFL);
    raise(SIGSEGV);
}

static void hang(struct faulty_execution *a)
{
    (void) a;
    for (;;)
        pause();
}

static size_t output_bytes(const struct faulty_execution *a)
{
    size_t n = 0;

    for (uint32_t i = 0; i < a->n_outputs; i++)
        n += a->out[i].length;
    return n;
}

/* Replaces the outputs in client memory by those of the previous execution. */
static void repeat_last(struct faulty_execution *a)
{
    size_t n = output_bytes(a), at = 0;
    uint8_t *now = malloc(n + 1);

    for (uint32_t i = 0; now && i < a->n_outputs; i++) {
        const struct fault_region *o = &a->out[i];
        if (!o->address)
            continue;
        memcpy(now + at, o->address, o->length);
        for (size_t b = 0; b < o->length; b++, at++)
            o->address[b] = at < a->memory->last_length ? a->memory->last[at] : 0;
    }
    free(a->memory->last);
    a->memory->last = now;
    a->memory->last_length = now ? at : 0;
}

static void write_past(struct faulty_execution *a)
{
    for (uint32_t i = 0; i < a->n_outputs; i++)
        if (a->out[i].address)
            a->out[i].address[a->out[i].length] = 0;
}

static void write_before(struct faulty_execution *a)
{
    for (uint32_t i = 0; i < a->n_outputs; i++)
        if (a->out[i].address)
            a->out[i].address[-1] = 0;
}

static void change_input(struct faulty_execution *a)
{
    for (uint32_t i = 0; i < a->n_inputs; i++)
        if (a->in[i].address && a->in[i].length)
            a->in[i].address[0] ^= 1;
}

/* ---- the table */

#define FAULT(name, kind, rules, doc, ...)                                                         \
    {                                                                                              \
        name, kind, rules, doc, &(const struct fault_hooks)                                        \
        {                                                                                          \
            __VA_ARGS__                                                                            \
        }                                                                                          \
    }

static const struct fault rows[] = {
    FAULT("weight-off", "numbers", RULES("random/operations"),
          "CONV_2D: the largest weight is too large, by 1 % or three steps; all devices",
          .before = weight_off),
    FAULT("last-tap-dropped", "numbers", RULES("random/operations"),
          "CONV_2D, DEPTHWISE_CONV_2D: the last tap of each filter is not summed; all devices",
          .before = drop_tap),
    FAULT("padding-off-by-one", "numbers", RULES("random/graphs"),
          "convolutions and pools: windows start one row and one column too early; all devices",
          .kernel_faults = KERNEL_FAULT_PADDING),
    FAULT("activation-bound", "numbers", RULES("random/graphs"),
          "fused activations clamp at wrong values (5.5 for 6, -0.25 for 0); all devices",
          .kernel_faults = KERNEL_FAULT_ACTIVATION),
    FAULT("requantise-truncates", "numbers", RULES("random/graphs"),
          "8-bit results are truncated, not rounded; all devices (on sim:gpu only QUANTIZE)",
          .kernel_faults = KERNEL_FAULT_TRUNCATE),
    FAULT(
        "zero-point-ignored", "numbers", RULES("random/operations"),
        "the zero points of the first operand and of QUANTIZE's result are taken as 0; all devices",
        .before = ignore_zero, .after = store_without_zero),
    FAULT("channel-scales-ignored", "numbers", RULES("random/operations"),
          "per-channel weights all use the scale of channel 0; sim:cpu, sim:dsp",
          .before = ignore_channels),
    FAULT("half-sums", "numbers", RULES("random/operations"),
          "sums of fp32 products are accumulated in fp16; sim:cpu, sim:gpu",
          .kernel_faults = KERNEL_FAULT_HALF_SUMS),
    FAULT("half-values", "numbers", RULES("random/operations"),
          "fp32 results are rounded to fp16, relaxed or not; all devices (on sim:dsp only "
          "DEQUANTIZE)",
          .after = store_half),
    FAULT("nan", "numbers", RULES("random/operations"),
          "one float element of every result is NaN; all devices", .after = put_nan),
    FAULT("nondeterministic", "numbers", RULES("random/operations"),
          "one element of every result is far off, a different one each time; all devices",
          .after = disturb),
    FAULT("argmax-last-element", "numbers", RULES("random/large"),
          "ARGMAX and ARGMIN ignore the last element; all devices",
          .kernel_faults = KERNEL_FAULT_ARGMAX),
    FAULT("equality-inverted", "numbers", RULES("loop-timeout/zero", "random/graphs"),
          "comparisons of equal elements give the wrong result; all devices",
          .kernel_faults = KERNEL_FAULT_EQUALITY),
    FAULT("topk-ascending", "numbers", RULES("random/operations"),
          "TOPK_V2 returns the largest elements in ascending order; all devices",
          .kernel_faults = KERNEL_FAULT_TOPK),
    FAULT("groups-reversed", "numbers", RULES("random/operations"),
          "GROUPED_CONV_2D reads the groups of its input in reverse order; all devices",
          .kernel_faults = KERNEL_FAULT_GROUPS),
    FAULT("transposed-padding-side", "numbers", RULES("random/operations"),
          "TRANSPOSE_CONV_2D: the odd element of SAME padding is before, not after; all devices",
          .kernel_faults = KERNEL_FAULT_SIDE),
    FAULT("half-pixel-ignored", "numbers", RULES("random/operations"),
          "RESIZE_BILINEAR ignores half_pixel_centers; all devices",
          .kernel_faults = KERNEL_FAULT_HALF_PIXEL),
    FAULT("roi-sampled-once", "numbers", RULES("random/operations"),
          "ROI_ALIGN takes one sample per bin, whatever the sampling ratio; sim:cpu, sim:gpu",
          .kernel_faults = KERNEL_FAULT_SAMPLING),
    FAULT("forget-bias-dropped", "numbers", RULES("random/operations"),
          "LSTM operations: the forget gate has no bias; sim:cpu, sim:gpu",
          .kernel_faults = KERNEL_FAULT_FORGET),
    FAULT("backward-reads-forward", "numbers", RULES("random/operations"),
          "BIDIRECTIONAL_SEQUENCE_RNN and _LSTM: the backward cell runs forwards; sim:cpu, sim:gpu",
          .kernel_faults = KERNEL_FAULT_BACKWARD),
    FAULT("branches-swapped", "numbers", RULES("random/control-flow"),
          "IF runs the other branch; all devices", .kernel_faults = KERNEL_FAULT_BRANCH),
    FAULT("loop-one-short", "numbers", RULES("loop-timeout/finite", "random/control-flow"),
          "WHILE discards its last iteration; all devices", .kernel_faults = KERNEL_FAULT_LOOP),
    FAULT("stale-output", "numbers", RULES("generated/results"),
          "outputs are those of the previous execution; all devices", .answer = repeat_last),
    FAULT("output-not-written", "memory", RULES("generated/results"),
          "the last four bytes of every output are not written; all devices", .unwritten_bytes = 4),
    FAULT("overrun", "memory", RULES("generated/results"),
          "one byte is written past every output; all devices", .answer = write_past),
    FAULT("underrun", "memory", RULES("generated/pools"),
          "one byte is written before every output; all devices", .answer = write_before),
    FAULT("input-changed", "memory", RULES("generated/status"),
          "inputs are written to; all devices", .answer = change_input),
    FAULT("wrong-shape", "shape", RULES("generated/specified"),
          "the first output's last dimension is reported one too large; all devices",
          .answer = grow_shape),
    FAULT("wrong-status", "status", RULES("request/valid"),
          "executions return a status that does not exist; all devices", .answer = unknown_status),
    FAULT("supported-one-short", "status", RULES("request/valid"),
          "get_supported_operations returns one answer too few; all devices",
          .supported = drop_answer),
    FAULT("timing-reversed", "timing", RULES("generated/untimed"),
          "time in the driver is less than on the device, and reported unrequested; all devices",
          .answer = reverse_timing),
    FAULT("refused", "refused", RULES("request/valid"),
          "reports support, then fails to prepare; all devices", .prepare = fail_preparation),
    FAULT("refused-late", "refused", RULES("request/valid", "consistency/claims"),
          "reports support, prepares, then fails to execute; all devices",
          .answer = fail_execution),
    FAULT("crash", "crash", RULES("request/fails"), "crashes during an execution; all devices",
          .answer = crash),
    FAULT("hang", "hang", RULES("version/entries"), "never returns from an execution; all devices",
          .answer = hang),
    FAULT("strides-exchanged", "numbers", RULES("random/operations"),
          "windows: the strides of height and width are exchanged; all devices",
          .before = exchange_strides),
    FAULT("dilation-ignored", "numbers", RULES("random/operations"),
          "convolutions: dilation is taken as 1; all devices", .before = ignore_dilation),
    FAULT("activation-lost", "numbers", RULES("random/operations"),
          "fused activations are not applied; all devices", .before = lose_activation),
    FAULT("corners-ignored", "numbers", RULES("random/operations"),
          "RESIZE_BILINEAR ignores align_corners; all devices", .before = ignore_corners),
    FAULT("bias-lost", "numbers", RULES("random/operations"),
          "convolutions and matrix products add no bias; all devices", .before = lose_bias),
    FAULT("state-lost", "numbers", RULES("random/operations"),
          "LSTM operations begin with a state of zero; sim:cpu, sim:gpu", .before = lose_state),
    FAULT("second-scale-ignored", "numbers", RULES("random/operations"),
          "8-bit operations with two operands read both with the first's quantisation; sim:cpu, "
          "sim:dsp",
          .before = use_first_scale),
    FAULT("odd-channels", "numbers", RULES("random/operations"),
          "float results with an odd number of channels: the last one is zero; all devices",
          .after = odd_channels),
    FAULT("later-batches", "numbers", RULES("random/operations"),
          "results of rank 4: only the first batch is computed; all devices",
          .after = later_batches),
    FAULT("large-shapes", "numbers", RULES("generated/judged"),
          "results of more than 64 elements: the last one is zero; all devices",
          .after = large_shapes),
    FAULT("count-16-bit", "numbers", RULES("generated/large-tensors"),
          "results of more than 65536 elements: those after them are zero; all devices",
          .after = count_in_16_bits),
    FAULT("first-not-broadcast", "numbers", RULES("random/operations"),
          "a first operand that is smaller than the second is not repeated; all devices",
          .after = first_not_broadcast),
    FAULT("saturation-wraps", "numbers", RULES("random/operations"),
          "8-bit results that saturate at the maximum wrap around; all devices",
          .after = wrap_around),
    FAULT("half-overflow", "numbers", RULES("generated/large-numbers"),
          "fp32 results above the range of fp16 are infinite; all devices", .after = overflow_half),
    FAULT("minimum-clamped", "numbers", RULES("random/operations"),
          "signed 8-bit results are never -128; sim:cpu, sim:dsp", .after = symmetric_range),
    FAULT("signed-shifted", "numbers", RULES("quant-coupling/coupling"),
          "signed 8-bit results are three steps too high; sim:cpu, sim:dsp", .after = shift_signed),
    FAULT("in-place", "numbers", RULES("random/operations"),
          "results overwrite an operand of the same size that later operations read; all devices",
          .after = in_place),
};
const struct fault_group device_faults = { rows, COUNT(rows) };

const struct fault_hooks *fault_hooks(const struct fault *f)
{
    static const struct fault_hooks none;

    return f && f->hooks ? f->hooks : &none;
}
