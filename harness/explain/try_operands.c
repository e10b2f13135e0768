/* Hypotheses about operands: their scales, zero points, types, order, broadcasting; weights and
 * bias. */
#include <stdio.h>
#include <string.h>

#include "harness/explain/hypotheses.h"
#include "harness/explain/image_window.h"
#include "harness/explain/permutation.h"

static bool is_tensor(const struct variant *v, uint32_t arg)
{
    return arg < v->s->operation->n_in && v->s->arg[arg] &&
           dtype_info[v->s->arg[arg]->dtype].tensor && tensor_count(v->s->arg[arg]);
}

/* The weights of an operation that has them: the role filter or weights; -1: it has none, or they
 * are omitted (LSH_PROJECTION). */
static int weights_of(const struct variant *v)
{
    const int filter = subject_arg(v->s, "filter"),
              arg = filter >= 0 ? filter : subject_arg(v->s, "weights");

    return arg >= 0 && is_tensor(v, (uint32_t) arg) ? arg : -1;
}

static void note_role(struct variant *v, uint32_t arg)
{
    char name[64];

    snprintf(v->note, sizeof v->note, "%s", subject_arg_name(v->s, arg, name));
}

/* ---- zero points and scales */

/* Hypotheses about one input or, as the last attempt, all of them. */
enum { INPUTS_TRIED = 8 };

static bool is_tried(int attempt, uint32_t arg)
{
    return attempt == INPUTS_TRIED || attempt == (int) arg;
}

static void note_tried(struct variant *v, int attempt)
{
    if (attempt == INPUTS_TRIED)
        strcpy(v->note, "all inputs");
    else
        note_role(v, (uint32_t) attempt);
}

static bool input_zero_point(struct variant *v, int attempt)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < v->s->operation->n_in; i++) {
        if (!is_tried(attempt, i) || !is_tensor(v, i) || (int) i == weights_of(v) ||
            v->s->arg[i]->zero == 0)
            continue;
        struct tensor *t = variant_own(v, i);
        if (!t)
            return false;
        t->zero = 0;
        n++;
    }
    if (!n)
        return false;
    if (v->s->op->out[0].q == Q_SAME) /* the reference demands it; real results stay */
        v->graph.operand[v->s->operation->out[0]].tensor.zero = 0;
    note_tried(v, attempt);
    return variant_run(v);
}

static bool weights_zero_point(struct variant *v, int attempt)
{
    const int arg = weights_of(v);
    struct tensor *t;

    (void) attempt;
    if (arg < 0 || v->s->arg[arg]->zero == 0 || !(t = variant_own(v, (uint32_t) arg)))
        return false;
    t->zero = 0;
    return variant_run(v);
}

static double own_bias_scale(const struct subject *s, size_t bias, int attempt)
{
    const struct tensor *filter = s->arg[1];

    (void) attempt;
    return filter->channel_scale && bias < filter->n_channels
               ? (double) s->arg[0]->scale * (double) filter->channel_scale[bias]
               : 0;
}

/* Of the weights and the bias, or of the weights only. */
static bool scale_of_channel_0(struct variant *v, int attempt)
{
    static const char *const text[] = { "", "that of the last channel", "but not for the bias",
                                        "that of the last channel, but not for the bias" };
    const int arg = weights_of(v);
    struct tensor *t;

    if (arg < 0 || !v->s->arg[arg]->channel_scale || !(t = variant_own(v, (uint32_t) arg)))
        return false;
    const uint32_t n = t->n_channels, from = attempt % 2 ? n - 1 : 0;
    float *scale = arena_alloc(v->arena, n, sizeof *scale);
    if (!scale)
        return false;
    for (uint32_t i = 0; i < n; i++)
        scale[i] = t->channel_scale[from];
    t->channel_scale = scale;
    strcpy(v->note, text[attempt]);
    return attempt < 2 ? variant_run(v) : variant_run_bias(v, own_bias_scale, attempt);
}

/* The scale of a quantised bias is the product of the scales: units of the sum stay units. */
static void set_bias_scale(struct variant *v, double product)
{
    struct tensor *bias = variant_own_named(v, "bias");

    if (bias && bias->scale != 0)
        bias->scale = (float) product;
}

/* Whether both inputs are quantised, with scales or zero points that differ. */
static bool are_scaled(const struct variant *v)
{
    return is_tensor(v, 0) && is_tensor(v, 1) && v->s->arg[0]->scale != 0 &&
           v->s->arg[1]->scale != 0 && !tensor_same_quant(v->s->arg[0], v->s->arg[1]);
}

static bool scales_exchanged(struct variant *v, int attempt)
{
    struct tensor *a = are_scaled(v) ? variant_own(v, 0) : NULL, *b = a ? variant_own(v, 1) : NULL;

    if (!b)
        return false;
    const struct tensor x = *a, y = *b;
    a->scale = y.scale;
    b->scale = x.scale;
    a->zero = attempt == 1 ? x.zero : y.zero;
    b->zero = attempt == 1 ? y.zero : x.zero;
    set_bias_scale(v, (double) a->scale * (double) b->scale);
    strcpy(v->note, attempt == 0 ? "scales and zero points" : "scales only");
    return variant_run(v);
}

/* Of the first or of the second input: scale and zero point, only the scale, only the zero point.
 */
static bool scale_of_other(struct variant *v, int attempt)
{
    static const char *const what[] = { "", ", the scale only", ", the zero point only" };
    struct tensor *a = are_scaled(v) ? variant_own(v, 0) : NULL, *b = a ? variant_own(v, 1) : NULL;

    if (!b)
        return false;
    const struct tensor *from = attempt % 2 ? b : a;
    struct tensor *to = attempt % 2 ? a : b;
    const bool differs = (attempt / 2 != 2 && to->scale != from->scale) ||
                         (attempt / 2 != 1 && to->zero != from->zero);
    to->scale = attempt / 2 == 2 ? to->scale : from->scale;
    to->zero = attempt / 2 == 1 ? to->zero : from->zero;
    set_bias_scale(v, (double) a->scale * (double) b->scale);
    snprintf(v->note, sizeof v->note, "those of the %s%s", attempt % 2 ? "second" : "first",
             what[attempt / 2]);
    return differs && variant_run(v);
}

/* ---- types */

/* Stored bytes of an 8-bit operand are read with the other signedness: all of the operation is
 * computed in that type, where only this operand keeps its bytes. */
static bool signedness(struct variant *v, int attempt)
{
    const uint32_t first = attempt == INPUTS_TRIED ? 0 : (uint32_t) attempt;

    if (!is_tensor(v, first) ||
        (v->s->arg[first]->dtype != DT_S8 && v->s->arg[first]->dtype != DT_U8))
        return false;
    const enum dtype from = v->s->arg[first]->dtype, to = from == DT_S8 ? DT_U8 : DT_S8;
    const int32_t shift = to == DT_U8 ? 128 : -128;
    for (uint32_t i = 0; i < v->s->operation->n_in; i++) {
        if (!is_tensor(v, i) || v->s->arg[i]->dtype != from)
            continue;
        struct tensor *t = variant_own(v, i);
        if (!t)
            return false;
        t->dtype = to;
        t->zero += is_tried(attempt, i) ? 0 : shift;
        for (size_t k = 0; !is_tried(attempt, i) && k < tensor_count(t); k++)
            ((uint8_t *) t->data)[k] ^= 0x80;
    }
    for (uint32_t i = 0; i < v->s->operation->n_out; i++) {
        struct tensor *t = &v->graph.operand[v->s->operation->out[i]].tensor;
        if (t->dtype == from) {
            t->dtype = to;
            t->zero += shift;
        }
    }
    note_tried(v, attempt);
    return variant_run(v);
}

static bool operands_in_half(struct variant *v, int attempt)
{
    bool any = false;

    if (v->s->example->model.relaxed)
        return false;
    for (uint32_t i = 0; i < v->s->operation->n_in; i++) {
        struct tensor *t =
            is_tensor(v, i) && v->s->arg[i]->dtype == DT_F32 ? variant_own(v, i) : NULL;
        float *x = t ? t->data : NULL;
        for (size_t k = 0; t && k < tensor_count(t); k++) {
            const float was = x[k];
            uint32_t bits;
            memcpy(&bits, &x[k], sizeof bits);
            bits = (bits + 0x7fff + (bits >> 16 & 1)) & 0xffff0000;
            if (attempt == 0)
                x[k] = (float) f16_to_double(f16_from_double(x[k]));
            else
                memcpy(&x[k], &bits, sizeof bits);
            any = any || x[k] != was;
        }
    }
    strcpy(v->note, attempt ? "bfloat16" : "fp16");
    return any && variant_run(v);
}

/* ---- the order of operands and their elements */

static bool inputs_exchanged(struct variant *v, int attempt)
{
    uint32_t *in = v->graph.operation->in;

    (void) attempt;
    if (!is_tensor(v, 0) || !is_tensor(v, 1) || v->s->arg[0]->dtype != v->s->arg[1]->dtype)
        return false;
    const uint32_t first = in[0];
    in[0] = in[1];
    in[1] = first;
    return variant_run(v);
}

/* Whether the operation has two operands that may be broadcast. */
static bool is_pair(const struct variant *v)
{
    return is_tensor(v, 0) && is_tensor(v, 1) && v->s->op->n_in <= 3 &&
           v->s->op->in[1].draw == DRAW_BROADCAST;
}

/* Of these one that is smaller than the result. */
static bool is_broadcast(const struct variant *v, uint32_t arg)
{
    return is_pair(v) && is_tensor(v, arg) &&
           !shape_equal(&v->s->arg[arg]->shape, &v->s->expected->shape);
}

/* The element of an operand that element `at` of the output takes, by a wrong rule. */
static size_t broadcast_place(const struct shape *from, const struct shape *to, size_t i, int rule)
{
    const size_t n = shape_count(from), all = shape_count(to);
    uint32_t at[MAX_RANK], place[MAX_RANK] = { 0 };
    size_t sum = 0, stride = 1;

    shape_place(to, i, at);
    switch (rule) {
    case 0: return 0;
    case 1: return i % n;
    case 2: return i / (all / n);
    case 3: /* aligned at the first dimension */
        for (uint32_t d = 0; d < from->rank; d++)
            place[d] = d < to->rank ? at[d] % from->dim[d] : 0;
        return shape_index(from, place);
    case 4: /* only the last dimension counts */ return at[to->rank - 1] % n;
    case 5: /* a dimension of 1 has a stride nevertheless */
        for (uint32_t d = from->rank; d-- > 0; stride *= from->dim[d])
            sum += at[to->rank - from->rank + d] * stride;
        return sum % n;
    case 6: /* sizes in reverse order */
        for (uint32_t d = from->rank; d-- > 0; stride *= from->dim[from->rank - 1 - d])
            if (from->dim[from->rank - 1 - d] != 1)
                sum += at[to->rank - from->rank + d] * stride;
        return sum % n;
    case 7: return i < n ? i : n - 1;
    default: /* its dimensions belong to those of the output in reverse order */
        for (uint32_t d = 0; d < from->rank; d++)
            place[d] = at[from->rank - 1 - d] % from->dim[d];
        return shape_index(from, place);
    }
}

enum { BROADCAST_RULES = 9 };

static bool broadcast_one(struct variant *v, uint32_t arg, int rule)
{
    const struct shape *to = &v->s->expected->shape;

    if (to->rank < v->s->arg[arg]->shape.rank)
        return false;
    size_t *map = arena_alloc(v->arena, v->s->n + 1, sizeof *map);
    for (size_t i = 0; map && i < v->s->n; i++)
        map[i] = broadcast_place(&v->s->arg[arg]->shape, to, i, rule);
    return map && variant_gather(v, arg, to, map, 0);
}

/* Of the first input, of the second, of each that is broadcast, or of both. */
static bool broadcast(struct variant *v, int attempt)
{
    static const char *const text[BROADCAST_RULES] = {
        "only its first element is used",
        "its elements are repeated in their order",
        "each of its elements is repeated in place",
        "its dimensions are aligned at the first one",
        "only the last dimension counts",
        "dimensions of size 1 advance",
        "its sizes are read in reverse order",
        "after its last element, that one is used",
        "its dimensions are taken in reverse order",
    };
    const int which = attempt / BROADCAST_RULES, rule = attempt % BROADCAST_RULES;

    bool any = false;

    /* equal shapes are read in another way by this rule only */
    if (which == 3 && (rule != BROADCAST_RULES - 1 || v->s->expected->shape.rank < 2))
        return false;
    for (uint32_t arg = 0; arg < 2; arg++)
        if ((int) arg == which || (which == 2 && is_broadcast(v, arg)) || which == 3) {
            if (!(which == 3 ? is_pair(v) : is_broadcast(v, arg)) || !broadcast_one(v, arg, rule))
                return false;
            any = true;
        }
    snprintf(v->note, sizeof v->note, "%s: %s",
             which == 0   ? "the first"
             : which == 1 ? "the second"
             : which == 2 ? "whichever is smaller"
                          : "each",
             text[rule]);
    return any && variant_run(v);
}

/* An operand is read as if its dimensions were in another order. */
static bool read_permuted(struct variant *v, uint32_t arg, int index)
{
    const struct shape *shape = &v->s->arg[arg]->shape;
    struct permutation p;
    size_t *map, *inverse;

    if (!permutation_at(shape->rank, index, &p))
        return false;
    const size_t n = shape_count(shape);
    map = arena_alloc(v->arena, n + 1, sizeof *map);
    inverse = arena_alloc(v->arena, n + 1, sizeof *inverse);
    if (!map || !inverse)
        return false;
    permutation_map(&p, shape, map);
    for (size_t i = 0; i < n; i++)
        inverse[map[i]] = i;
    permutation_text(&p, v->note, sizeof v->note);
    return variant_gather(v, arg, shape, inverse, 0) && variant_run(v);
}

static bool weights_permuted(struct variant *v, int attempt)
{
    const int arg = weights_of(v);

    return arg >= 0 && read_permuted(v, (uint32_t) arg, attempt);
}

static bool input_permuted(struct variant *v, int attempt)
{
    return is_tensor(v, 0) && read_permuted(v, 0, attempt);
}

static bool second_permuted(struct variant *v, int attempt)
{
    return is_tensor(v, 1) && weights_of(v) != 1 && v->s->arg[1]->dtype == v->s->arg[0]->dtype &&
           read_permuted(v, 1, attempt);
}

/* ---- weights and bias */

static bool weights_flipped(struct variant *v, int attempt)
{
    const int arg = weights_of(v);
    const struct shape *s = arg < 0 ? NULL : &v->s->arg[arg]->shape;
    uint32_t at[MAX_RANK];

    if (!s || s->rank != 4)
        return false;
    size_t *map = arena_alloc(v->arena, shape_count(s) + 1, sizeof *map);
    for (size_t i = 0; map && i < shape_count(s); i++) {
        shape_place(s, i, at);
        if (attempt != 2)
            at[1] = s->dim[1] - 1 - at[1];
        if (attempt != 1)
            at[2] = s->dim[2] - 1 - at[2];
        map[i] = shape_index(s, at);
    }
    strcpy(v->note, attempt == 1 ? "rows only" : attempt == 2 ? "columns only" : "");
    return map && variant_gather(v, (uint32_t) arg, s, map, 0) && variant_run(v);
}

static bool is_in_part(const struct shape *s, const uint32_t *at, int part)
{
    const bool image = s->rank == 4;

    switch (part) {
    case 0: /* the last tap */ return image && at[1] == s->dim[1] - 1 && at[2] == s->dim[2] - 1;
    case 1: return image && at[1] == 0 && at[2] == 0;
    case 2: /* the last input */ return at[s->rank - 1] == s->dim[s->rank - 1] - 1;
    case 3: return at[s->rank - 1] == 0;
    case 4: return image && at[1] == s->dim[1] - 1;
    case 5: return image && at[2] == s->dim[2] - 1;
    default: /* the last term of the sum */
        return at[s->rank - 1] == s->dim[s->rank - 1] - 1 &&
               (!image || (at[1] == s->dim[1] - 1 && at[2] == s->dim[2] - 1));
    }
}

static bool part_left_out(struct variant *v, int attempt)
{
    static const char *const text[] = { "the last tap",         "the first tap",
                                        "the last input",       "the first input",
                                        "the last row of taps", "the last column of taps",
                                        "the last term" };
    const int arg = weights_of(v);
    const struct tensor *w = arg < 0 ? NULL : v->s->arg[arg];
    const bool depthwise = subject_arg(v->s, "multiplier") >= 0;
    uint32_t at[MAX_RANK];

    if (!w || (depthwise && (attempt == 2 || attempt == 3 || attempt == 6)))
        return false;
    size_t *map = arena_alloc(v->arena, tensor_count(w) + 1, sizeof *map);
    for (size_t i = 0; map && i < tensor_count(w); i++) {
        shape_place(&w->shape, i, at);
        map[i] = is_in_part(&w->shape, at, attempt) ? VARIANT_FILL : i;
    }
    strcpy(v->note, text[attempt]);
    return map && variant_gather(v, (uint32_t) arg, &w->shape, map, w->zero) && variant_run(v);
}

static bool bias_ignored(struct variant *v, int attempt)
{
    struct tensor *t = variant_own_named(v, "bias");

    (void) attempt;
    if (!t)
        return false;
    memset(t->data, 0, tensor_bytes(t));
    return variant_run(v);
}

static bool bias_of_one_channel(struct variant *v, int attempt)
{
    const int arg = subject_arg(v->s, "bias");

    (void) attempt;
    if (arg < 0 || !is_tensor(v, (uint32_t) arg))
        return false;
    const struct shape *s = &v->s->arg[arg]->shape;
    size_t *map = arena_alloc(v->arena, shape_count(s) + 1, sizeof *map);
    return map && variant_gather(v, (uint32_t) arg, s, map, 0) && variant_run(v);
}

/* Scales by channel, if there are any, in another order. */
static bool order_scales(struct variant *v, uint32_t arg, const size_t *from)
{
    struct tensor *t = &v->graph.operand[v->graph.operation->in[arg]].tensor;
    float *scale = arena_alloc(v->arena, t->n_channels + 1, sizeof *scale);

    if (!t->channel_scale)
        return true;
    for (uint32_t i = 0; scale && i < t->n_channels; i++)
        scale[i] = t->channel_scale[from[i]];
    t->channel_scale = scale;
    return scale != NULL;
}

/* DEPTHWISE_CONV_2D: output channel o takes input channel o % I in place of o / multiplier.  The
 * filter is computed in the order in which the right rule meets those channels. */
static bool multiplier_order(struct variant *v, int attempt)
{
    const int filter = weights_of(v), bias = subject_arg(v->s, "bias");
    struct window_geometry g;
    int32_t m;

    (void) attempt;
    if (!variant_get(v, "multiplier", &m) || m <= 1 || filter < 0 || bias < 0 ||
        !window_of_subject(v->s, &g))
        return false;
    const struct shape *f = &v->s->arg[filter]->shape, *out = &v->s->expected->shape;
    const uint32_t channels = f->dim[3], inputs = channels / (uint32_t) m;
    size_t *map = arena_alloc(v->arena, shape_count(f) + 1, sizeof *map);
    size_t *of_bias = arena_alloc(v->arena, channels, sizeof *of_bias);
    double *real = arena_alloc(v->arena, v->s->n + 1, sizeof *real);
    double *bound = arena_alloc(v->arena, v->s->n + 1, sizeof *bound);
    uint32_t at[MAX_RANK];
    if (!map || !of_bias || !real || !bound)
        return false;
    for (uint32_t o = 0; o < channels; o++)
        of_bias[o % inputs * (uint32_t) m + o / inputs] = o;
    for (size_t i = 0; i < shape_count(f); i++)
        map[i] = i - i % channels + of_bias[i % channels];
    if (!variant_gather(v, (uint32_t) filter, f, map, 0) ||
        !order_scales(v, (uint32_t) filter, of_bias) ||
        !variant_gather(v, (uint32_t) bias, &v->s->arg[bias]->shape, of_bias, 0) || !variant_run(v))
        return false;
    for (size_t i = 0; i < v->s->n; i++) {
        shape_place(out, i, at);
        const uint32_t slot = at[g.c];
        at[g.c] = (uint32_t) of_bias[slot];
        real[shape_index(out, at)] = v->real[i];
        bound[shape_index(out, at)] = v->bound[i];
    }
    v->real = real;
    v->bound = bound;
    return true;
}

/* GROUPED_CONV_2D with its input channels in another order: channel c of the variant is channel
 * place(c) of the input, of n groups with `each` channels. */
static bool groups_from(struct variant *v, uint32_t (*place)(uint32_t c, uint32_t n, uint32_t each))
{
    struct window_geometry g;
    int32_t groups;
    uint32_t at[MAX_RANK];

    if (!variant_get(v, "groups", &groups) || groups <= 1 || !window_of_subject(v->s, &g))
        return false;
    const struct shape *s = &v->s->arg[0]->shape;
    const uint32_t n = (uint32_t) groups;
    size_t *map = arena_alloc(v->arena, shape_count(s) + 1, sizeof *map);
    for (size_t i = 0; map && i < shape_count(s); i++) {
        shape_place(s, i, at);
        at[g.c] = place(at[g.c], n, s->dim[g.c] / n);
        map[i] = shape_index(s, at);
    }
    return map && variant_gather(v, 0, s, map, 0) && variant_run(v);
}

static uint32_t every_nth(uint32_t c, uint32_t n, uint32_t each)
{
    return c % each * n + c / each;
}

static bool groups_interleaved(struct variant *v, int attempt)
{
    (void) attempt;
    return groups_from(v, every_nth);
}

static uint32_t in_the_first(uint32_t c, uint32_t n, uint32_t each)
{
    (void) n;
    return c % each;
}

static bool groups_ignored(struct variant *v, int attempt)
{
    (void) attempt;
    return groups_from(v, in_the_first);
}

static uint32_t from_the_last(uint32_t c, uint32_t n, uint32_t each)
{
    return (n - 1 - c / each) * each + c % each;
}

static bool groups_reversed(struct variant *v, int attempt)
{
    (void) attempt;
    return groups_from(v, from_the_last);
}

const struct hypothesis operand_hypotheses[] = {
    { "input-zero-point", "the zero point of an input is taken as 0", INPUTS_TRIED + 1,
      .make = input_zero_point },
    { "weights-zero-point", "the zero point of the weights is taken as 0",
      .make = weights_zero_point },
    { "scale-of-channel-0", "one channel's scale is used for all channels", 4,
      .make = scale_of_channel_0 },
    { "scales-exchanged", "the scales of the two inputs are exchanged", 2,
      .make = scales_exchanged },
    { "scale-of-other-input", "scale and zero point of one input are used for both", 6,
      .make = scale_of_other },
    { "signedness", "an int8 operand is read as uint8, or the reverse", INPUTS_TRIED + 1,
      .make = signedness },
    { "operands-in-half", "operands are rounded to 16 bits", 2, .make = operands_in_half },
    { "inputs-exchanged", "the two inputs are exchanged", .make = inputs_exchanged },
    { "broadcast", "an input is broadcast in a wrong way", 4 * BROADCAST_RULES, .make = broadcast },
    { "input-dimensions-permuted", "the input is read with its dimensions in another order", 23,
      .make = input_permuted },
    { "second-input-permuted", "the second input is read with its dimensions in another order", 23,
      .make = second_permuted },
    { "weights-permuted", "the weights are read with their dimensions in another order", 23,
      .make = weights_permuted },
    { "weights-flipped", "the filter is flipped", 3, .make = weights_flipped },
    { "term-left-out", "some terms of each sum are left out", 7, .make = part_left_out },
    { "bias-ignored", "the bias is left out", .make = bias_ignored },
    { "bias-of-channel-0", "the bias of channel 0 is used for all channels",
      .make = bias_of_one_channel },
    { "multiplier-order", "output channels take input channels in the wrong order",
      .make = multiplier_order },
    { "groups-ignored", "every group takes the input channels of the first",
      .make = groups_ignored },
    { "groups-interleaved", "a group takes every n-th input channel, not consecutive ones",
      .make = groups_interleaved },
    { "groups-reversed", "the groups of the input are taken in reverse order",
      .make = groups_reversed },
    { 0 },
};
