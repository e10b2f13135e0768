#include "tflite_convert.h"

#include <string.h>

/* ---- types */

static const struct {
    uint16_t bit;
    enum tfl_type type;
} types[N_TYPES] = {
    [HAL_TYPE_FLOAT32] = { F32, TFL_FLOAT32 },
    [HAL_TYPE_INT32] = { I32, TFL_INT32 },
    [HAL_TYPE_BOOL] = { B8, TFL_BOOL },
    [HAL_TYPE_TENSOR_FLOAT32] = { F32, TFL_FLOAT32 },
    [HAL_TYPE_TENSOR_INT32] = { I32, TFL_INT32 },
    [HAL_TYPE_TENSOR_QUANT8_ASYMM] = { U8, TFL_UINT8 },
    [HAL_TYPE_TENSOR_QUANT16_SYMM] = { S16, TFL_INT16 },
    [HAL_TYPE_TENSOR_FLOAT16] = { F16, TFL_FLOAT16 },
    [HAL_TYPE_TENSOR_BOOL8] = { B8, TFL_BOOL },
    [HAL_TYPE_TENSOR_QUANT8_SYMM_PER_CHANNEL] = { C8, TFL_INT8 },
    [HAL_TYPE_TENSOR_QUANT8_SYMM] = { Y8, TFL_INT8 },
    [HAL_TYPE_TENSOR_QUANT8_ASYMM_SIGNED] = { S8, TFL_INT8 },
};

uint16_t type_bit(int32_t type)
{
    return type >= 0 && type < N_TYPES ? types[type].bit : 0;
}

bool is_shape_known(const struct value *v)
{
    for (uint32_t i = 0; i < v->n_dims; i++)
        if (!v->dims[i])
            return false;
    return v->n_dims || is_scalar_type(v->type);
}

bool is_quantised(const struct value *v)
{
    return type_bit(v->type) & (U8 | S8);
}

bool has_same_scale(const struct value *a, const struct value *b)
{
    return a->type == b->type && a->scale == b->scale && a->zero == b->zero;
}

bool fits_products(const struct value *x, const struct value *weights, const struct value *y,
                   double n)
{
    float scale = weights->scale;

    for (uint32_t i = 0; i < weights->n_channel_scales; i++)
        if (weights->channel_scales[i] > scale)
            scale = weights->channel_scales[i];
    const double factor = (double) x->scale * (double) scale / (double) y->scale;
    return !is_quantised(x) || factor < 1 || 2 * factor * n * 255 * 255 < 0x1p31;
}

bool require(struct converter *c, bool condition)
{
    if (!condition)
        c->supported = false;
    return condition;
}

int32_t bits_of(float x)
{
    int32_t bits;
    memcpy(&bits, &x, sizeof(bits));
    return bits;
}

/* ---- operands */

static const struct value *value_of(struct converter *c, uint32_t n, const uint32_t *list,
                                    uint32_t i)
{
    const struct value *v = i < n ? &c->from->value[list[i]] : NULL;

    return v && v->lifetime != HAL_NO_VALUE ? v : NULL;
}

const struct value *input_of(struct converter *c, uint32_t i)
{
    return value_of(c, c->step->n_in, c->step->in, i);
}

const struct value *output_of(struct converter *c, uint32_t i)
{
    return value_of(c, c->step->n_out, c->step->out, i);
}

/* A constant without elements stands for an omitted one. */
bool is_omitted(struct converter *c, uint32_t i)
{
    const struct value *v = input_of(c, i);
    return !v || (v->constant && !v->length);
}

/* The constant's bytes; booleans are 0 or 1 in TensorFlow Lite, 0 or not in NNAPI.  NULL: it is
 * none, or out of memory. */
static const uint8_t *constant_bytes(struct converter *c, const struct value *v)
{
    if (!v->constant || v->type != HAL_TYPE_TENSOR_BOOL8)
        return v->constant;
    uint8_t *bytes = arena_copy(c->to->arena, v->constant, v->length, 1);
    for (size_t i = 0; bytes && i < v->length; i++)
        bytes[i] = bytes[i] != 0;
    return bytes;
}

static int32_t add_value(struct converter *c, const struct value *v)
{
    const uint16_t bit = type_bit(v->type);
    struct tfl_tensor t = { .rank_known = v->n_dims || is_scalar_type(v->type),
                            .n_dims = v->n_dims,
                            .zero = v->zero,
                            .data = constant_bytes(c, v),
                            .length = v->length };

    if (!require(c, bit && !t.data == !v->constant))
        return TFL_OMITTED;
    t.type = types[v->type].type;
    for (uint32_t i = 0; i < v->n_dims; i++)
        t.dims[i] = v->dims[i] && v->dims[i] <= INT32_MAX ? (int32_t) v->dims[i] : -1;
    if (bit & C8) {
        t.n_scales = v->n_channel_scales;
        t.scales = v->channel_scales;
        t.channel_dim = v->channel_dim;
    } else if (v->scale != 0) {
        t.n_scales = 1;
        t.scales = &v->scale;
    }
    return tfl_add_tensor(c->to, &t);
}

static int32_t tensor_of(struct converter *c, uint32_t index)
{
    if (c->tensor_of[index] == TFL_OMITTED)
        c->tensor_of[index] = add_value(c, &c->from->value[index]);
    return c->tensor_of[index];
}

int32_t in(struct converter *c, uint32_t i)
{
    return is_omitted(c, i) ? TFL_OMITTED : tensor_of(c, c->step->in[i]);
}

int32_t out(struct converter *c, uint32_t i)
{
    return require(c, output_of(c, i)) ? tensor_of(c, c->step->out[i]) : TFL_OMITTED;
}

int32_t number(struct converter *c, uint32_t i, int32_t otherwise)
{
    const struct value *v = input_of(c, i);
    int32_t value;

    if (!v || !require(c, v->constant && (v->type == HAL_TYPE_BOOL || v->type == HAL_TYPE_INT32)))
        return otherwise;
    if (v->type == HAL_TYPE_BOOL)
        return *v->constant != 0;
    memcpy(&value, v->constant, sizeof(value));
    return value;
}

float real(struct converter *c, uint32_t i, float otherwise)
{
    const struct value *v = input_of(c, i);
    float value;

    if (!v || !require(c, v->constant && v->type == HAL_TYPE_FLOAT32))
        return otherwise;
    memcpy(&value, v->constant, sizeof(value));
    return value;
}

const int32_t *numbers(struct converter *c, uint32_t i, uint32_t *ret_n)
{
    const struct value *v = input_of(c, i);

    if (!v || !v->constant || v->type != HAL_TYPE_TENSOR_INT32)
        return NULL;
    *ret_n = (uint32_t) (v->length / sizeof(int32_t));
    return arena_copy(c->to->arena, v->constant, *ret_n, sizeof(int32_t));
}

uint32_t axis_of(struct converter *c, const struct value *v, int32_t axis)
{
    const int64_t n = v->n_dims, at = axis < 0 ? axis + n : axis;

    return require(c, at >= 0 && at < n) ? (uint32_t) at : 0;
}

/* ---- new tensors */

static const struct tfl_tensor nothing;

const struct tfl_tensor *tensor_at(struct converter *c, int32_t tensor)
{
    return tensor < 0 ? &nothing : &c->to->tensor[tensor];
}

int32_t like(struct converter *c, int32_t tensor)
{
    struct tfl_tensor t = *tensor_at(c, tensor);

    t.rank_known = t.is_variable = false;
    t.n_dims = 0;
    t.data = NULL;
    return tfl_add_tensor(c->to, &t);
}

static int32_t constant(struct converter *c, enum tfl_type type, uint32_t n_dims,
                        const int32_t *dims, const void *data)
{
    struct tfl_tensor t = { .type = type, .rank_known = true, .n_dims = n_dims, .data = data };

    t.length = sizeof(int32_t);
    for (uint32_t i = 0; i < n_dims; i++) {
        t.dims[i] = dims[i];
        t.length *= (size_t) dims[i];
    }
    return tfl_add_tensor(c->to, &t);
}

int32_t constant_ints(struct converter *c, uint32_t n, const int32_t *values)
{
    return constant(c, TFL_INT32, 1, &(int32_t){ (int32_t) n }, values);
}

int32_t constant_int_matrix(struct converter *c, uint32_t rows, uint32_t columns,
                            const int32_t *values)
{
    return constant(c, TFL_INT32, 2, (int32_t[]){ (int32_t) rows, (int32_t) columns }, values);
}

int32_t constant_int(struct converter *c, int32_t value)
{
    return constant(c, TFL_INT32, 0, NULL, &value);
}

int32_t constant_real(struct converter *c, float value)
{
    return constant(c, TFL_FLOAT32, 0, NULL, &value);
}

/* ---- new operators */

void emit(struct converter *c, enum tfl_code code, enum tfl_options options, const int32_t *values,
          uint32_t n_in, const int32_t *inputs, uint32_t n_out, const int32_t *outputs)
{
    const struct tfl_operator op = { .code = code,
                                     .options = options,
                                     .values = values,
                                     .n_in = n_in,
                                     .n_out = n_out,
                                     .in = inputs,
                                     .out = outputs };

    if (c->supported)
        tfl_add_operator(c->to, &op);
}

void emit1(struct converter *c, enum tfl_code code, int32_t x, int32_t to)
{
    emit(c, code, OPTIONS_NONE, NULL, 1, &x, 1, &to);
}

void emit2(struct converter *c, enum tfl_code code, int32_t x, int32_t y, int32_t to)
{
    emit(c, code, OPTIONS_NONE, NULL, 2, (int32_t[]){ x, y }, 1, &to);
}

static int32_t place(struct converter *c, int32_t x, int32_t to)
{
    return to == TFL_OMITTED ? like(c, x) : to;
}

int32_t transpose(struct converter *c, int32_t x, uint32_t n, const int32_t *perm, int32_t to)
{
    to = place(c, x, to);
    emit2(c, TFL_TRANSPOSE, x, constant_ints(c, n, perm), to);
    return to;
}

int32_t reshape(struct converter *c, int32_t x, uint32_t n, const int32_t *dims, int32_t to)
{
    to = place(c, x, to);
    emit2(c, TFL_RESHAPE, x, constant_ints(c, n, dims), to);
    return to;
}

int32_t slice(struct converter *c, int32_t x, uint32_t n, const int32_t *begin, const int32_t *size,
              int32_t to)
{
    to = place(c, x, to);
    emit(c, TFL_SLICE, OPTIONS_NONE, NULL, 3,
         (int32_t[]){ x, constant_ints(c, n, begin), constant_ints(c, n, size) }, 1, &to);
    return to;
}

int32_t activate(struct converter *c, int32_t x, int32_t activation, int32_t to)
{
    static const enum tfl_code codes[] = { TFL_RELU, TFL_RELU, TFL_RELU_N1_TO_1, TFL_RELU6 };

    if (!require(c, activation >= 0 && activation <= 3) || !activation)
        return to == TFL_OMITTED ? x : copy(c, x, to);
    to = place(c, x, to);
    emit1(c, codes[activation], x, to);
    return to;
}

int32_t copy(struct converter *c, int32_t x, int32_t to)
{
    /* The maximum with itself.  Operators that move elements are run when the model is prepared if
     * their input is constant, and then cannot write to a variable. */
    to = place(c, x, to);
    emit2(c, TFL_MAXIMUM, x, x, to);
    return to;
}

int32_t requantise(struct converter *c, int32_t x, int32_t as, int32_t to)
{
    const struct tfl_tensor *a = tensor_at(c, x), *b = tensor_at(c, as);

    if (a->type == b->type && a->zero == b->zero && a->n_scales && b->n_scales &&
        a->scales[0] == b->scales[0])
        return to == TFL_OMITTED ? x : copy(c, x, to);
    to = to == TFL_OMITTED ? like(c, as) : to;
    emit1(c, TFL_QUANTIZE, x, to);
    return to;
}

int32_t like_other_sign(struct converter *c, int32_t x)
{
    struct tfl_tensor t = *tensor_at(c, x);
    const bool is_signed = t.type == TFL_INT8;

    t.type = is_signed ? TFL_UINT8 : TFL_INT8;
    t.zero += is_signed ? 128 : -128;
    t.data = NULL;
    return tfl_add_tensor(c->to, &t);
}

int32_t other_sign(struct converter *c, int32_t x)
{
    struct tfl_tensor t = *tensor_at(c, x);
    uint8_t *bytes = t.data ? arena_copy(c->to->arena, t.data, t.length, 1) : NULL;

    if (!bytes) {
        const int32_t to = like_other_sign(c, x);
        emit1(c, TFL_QUANTIZE, x, to);
        return to;
    }
    for (size_t i = 0; i < t.length; i++)
        bytes[i] ^= 0x80;
    t.zero += t.type == TFL_INT8 ? 128 : -128;
    t.type = t.type == TFL_INT8 ? TFL_UINT8 : TFL_INT8;
    t.data = bytes;
    return tfl_add_tensor(c->to, &t);
}

/* ---- images */

int32_t image_in(struct converter *c, uint32_t i, bool nchw)
{
    const int32_t x = in(c, i);
    return nchw ? transpose(c, x, 4, (int32_t[]){ 0, 2, 3, 1 }, TFL_OMITTED) : x;
}

int32_t image_out(struct converter *c, bool nchw)
{
    const int32_t to = out(c, 0);
    return nchw ? like(c, to) : to;
}

void finish_image(struct converter *c, bool nchw, int32_t image)
{
    if (nchw)
        transpose(c, image, 4, (int32_t[]){ 0, 3, 1, 2 }, out(c, 0));
}

/* ---- models */

static const struct rule *find_rule(struct converter *c, const struct rule *rules)
{
    for (const struct rule *r = rules; r->convert; r++) {
        const struct value *v = input_of(c, r->of);
        if (r->operation == c->step->operation && c->step->n_in >= r->least &&
            c->step->n_in <= r->most && v && (type_bit(v->type) & r->types) &&
            (!r->rank || is_scalar_type(v->type) || (v->n_dims && v->n_dims <= r->rank)))
            return r;
    }
    return NULL;
}

static bool convert_step(struct converter *c, const struct step *s)
{
    const struct rule *const tables[] = { element_rules, move_rules, image_rules, sequence_rules,
                                          control_rules };

    c->step = s;
    for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
        const struct rule *r = find_rule(c, tables[i]);
        if (r) {
            r->convert(c, r);
            return c->supported && !c->to->arena->failed;
        }
    }
    return false;
}

static bool start(struct converter *c, struct tfl_graph *to)
{
    to->arena = c->model->arena;
    c->to = to;
    c->supported = true;
    c->tensor_of = arena_take(to->arena, c->from->n_values, sizeof(*c->tensor_of));
    for (uint32_t i = 0; c->tensor_of && i < c->from->n_values; i++)
        c->tensor_of[i] = TFL_OMITTED;
    return c->tensor_of;
}

static const int32_t *tensors_of(struct converter *c, const uint32_t *list, uint32_t n)
{
    int32_t *tensors = arena_take(c->to->arena, n, sizeof(*tensors));

    for (uint32_t i = 0; tensors && i < n; i++)
        tensors[i] = tensor_of(c, list[i]);
    return tensors;
}

/* Converts g to graph `index`, which has been counted.  n_out: as for convert_subgraph(). */
static bool convert_graph(struct converter c, const struct subgraph *g, uint32_t index,
                          uint32_t n_out)
{
    struct tfl_graph to = { 0 };

    c.from = g;
    if (n_out < g->n_out || (n_out > g->n_out && n_out > g->n_in) || !start(&c, &to))
        return false;
    to.n_in = g->n_in;
    to.in = tensors_of(&c, g->in, g->n_in);
    for (uint32_t i = 0; c.supported && i < g->n_steps; i++)
        if (!convert_step(&c, &g->step[i]))
            return false;
    int32_t *outputs = arena_take(to.arena, n_out, sizeof(*outputs));
    for (uint32_t i = 0; outputs && i < n_out; i++)
        outputs[i] = tensor_of(&c, i < g->n_out ? g->out[i] : g->in[i]);
    to.n_out = n_out;
    to.out = outputs;
    c.all->graph[index] = to;
    return c.supported && !to.arena->failed;
}

int32_t convert_subgraph(struct converter *c, uint32_t i, uint32_t n_out)
{
    struct converter inner = *c;
    const uint32_t index = c->all->n;

    inner.depth++;
    if (!require(c, inner.depth < MAX_GRAPHS && index < MAX_GRAPHS))
        return 0;
    c->all->n++;
    require(c, convert_graph(inner, &c->model->graph[i], index, n_out));
    return (int32_t) index;
}

static const struct graphs *convert(const struct model *m, const struct subgraph *g)
{
    struct converter c = { .model = m, .all = arena_take(m->arena, 1, sizeof(*c.all)) };

    if (!c.all)
        return NULL;
    c.all->n = 1;
    return convert_graph(c, g, 0, g->n_out) ? c.all : NULL;
}

const struct graphs *convert_model(const struct model *m)
{
    return convert(m, &m->graph[0]);
}

const struct graphs *convert_operation(const struct model *m, uint32_t i)
{
    const struct subgraph *g = &m->graph[0];
    struct subgraph one = *g;
    uint32_t *list = arena_take(m->arena, g->step[i].n_in, sizeof(*list));

    if (!list)
        return NULL;
    one.n_steps = 1;
    one.step = &g->step[i];
    one.in = list;
    one.out = one.step->out;
    one.n_out = one.step->n_out;
    one.n_in = 0;
    for (uint32_t k = 0; k < one.step->n_in; k++) {
        const struct value *v = &g->value[one.step->in[k]];
        bool is_new = !v->constant && v->lifetime != HAL_NO_VALUE && v->lifetime != HAL_SUBGRAPH;
        for (uint32_t j = 0; j < one.n_in; j++)
            is_new = is_new && list[j] != one.step->in[k];
        if (is_new)
            list[one.n_in++] = one.step->in[k];
    }
    return convert(m, &one);
}
