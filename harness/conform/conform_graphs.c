#include "harness/conform/conform_graphs.h"

#include <string.h>

#include "sim/hal/convert.h"

static uint32_t operand(struct build *b, const struct conform_tensor_type *l, enum lifetime life)
{
    return build_quant(b, life, l->type, l->shape, l->scale, l->zero);
}

/* ---- RESHAPE to the same shape: the identity in every type */

static void add_reshape(struct build *b, const struct conform_tensor_type *l)
{
    int32_t to[MAX_RANK];

    for (uint32_t d = 0; d < l->shape.rank; d++)
        to[d] = l->shape.dim[d] ? (int32_t) l->shape.dim[d] : -1;
    uint32_t x = operand(b, l, LIFE_INPUT);
    uint32_t s = build_constant(b, DT_I32, DIMS(l->shape.rank), to);
    uint32_t y = operand(b, l, LIFE_OUTPUT);
    OPERATION(b, "RESHAPE", IDS(x, s), IDS(y));
}

static void add_reshapes(struct build *b, const struct conform_tensor_type *l)
{
    add_reshape(b, l);
    add_reshape(b, l);
}

/* ---- CONV_2D that is the identity: a 1x1 filter, each channel from itself */

static uint32_t add_filter(struct build *b, const struct conform_tensor_type *l, uint32_t channels)
{
    const struct codec *c = dtype_info[l->type].codec;
    struct shape s = DIMS(channels, 1, 1, channels);
    double x[64];
    char stored[64 * sizeof(float)];
    bool quantised = l->scale > 0;

    conform_must(channels * channels <= 64, "too many channels");
    for (uint32_t i = 0; i < channels * channels; i++)
        x[i] = (quantised ? l->zero : 0) + (i % (channels + 1) == 0);
    c->narrow(x, channels * channels, 0, 1, stored);
    uint32_t filter = build_constant(b, l->type, s, stored);
    b->graph->operand[filter].tensor.scale = quantised ? 1 : 0;
    b->graph->operand[filter].tensor.zero = quantised ? l->zero : 0;
    return filter;
}

static uint32_t add_bias(struct build *b, const struct conform_tensor_type *l, uint32_t channels)
{
    static const char zeros[8 * sizeof(float)];
    uint32_t bias = build_constant(b, l->scale > 0 ? DT_I32 : l->type, DIMS(channels), zeros);

    b->graph->operand[bias].tensor.scale = l->scale;
    return bias;
}

static void add_conv(struct build *b, const struct conform_tensor_type *l)
{
    uint32_t channels = l->shape.dim[3], x = operand(b, l, LIFE_INPUT);
    uint32_t filter = add_filter(b, l, channels), bias = add_bias(b, l, channels);
    uint32_t zero = build_int(b, 0), same = build_int(b, 1), one = build_int(b, 1);
    uint32_t y = operand(b, l, LIFE_OUTPUT);

    OPERATION(b, "CONV_2D", IDS(x, filter, bias, same, one, one, zero), IDS(y));
}

static void add_convs(struct build *b, const struct conform_tensor_type *l)
{
    add_conv(b, l);
    add_conv(b, l);
}

static void add_sum(struct build *b, const struct conform_tensor_type *l)
{
    uint32_t x = operand(b, l, LIFE_INPUT), y = operand(b, l, LIFE_INPUT);
    uint32_t act = build_int(b, 0), z = operand(b, l, LIFE_OUTPUT);

    OPERATION(b, "ADD", IDS(x, y, act), IDS(z));
}

const struct conform_graph conform_graphs[] = {
    { "RESHAPE", 1, 1, true, add_reshape }, { "two of RESHAPE", 2, 2, true, add_reshapes },
    { "CONV_2D", 1, 1, false, add_conv },   { "two of CONV_2D", 2, 2, false, add_convs },
    { "ADD", 2, 1, true, add_sum },
};
const int conform_n_graphs = sizeof conform_graphs / sizeof *conform_graphs;

/* ---- values */

static void fill_input(struct build *b, const struct operand *o, uint32_t batch, uint32_t seed,
                       struct tensor *ret)
{
    struct tensor t = o->tensor;

    if (t.shape.rank && !t.shape.dim[0])
        t.shape.dim[0] = batch;
    size_t n = tensor_count(&t);
    double *x = arena_alloc(b->arena, n, sizeof *x);
    t.data = arena_alloc(b->arena, tensor_bytes(&t), 1);
    conform_must(x && t.data, "out of memory");
    for (size_t i = 0; i < n; i++)
        x[i] = t.zero + (double) ((i + seed) % 5);
    dtype_info[t.dtype].codec->narrow(x, n, 0, 1, t.data);
    *ret = t;
}

void conform_graph_model(struct conform_model *m, const struct conform_graph *g,
                         const struct conform_tensor_type *tensor_type, uint32_t batch)
{
    struct build b;
    struct tensor *in;

    build_init(&b, 1);
    g->build(&b, tensor_type);
    model_count_consumers(&b.model);
    in = arena_alloc(b.arena, g->n_inputs, sizeof *in);
    for (uint32_t i = 0; i < g->n_inputs; i++)
        fill_input(&b, &b.graph->operand[b.graph->input[i]], batch, i, &in[i]);
    struct example e = { .name = g->name, .model = b.model, .in = in };
    conform_model_init(m, &e, b.arena);
    conform_model_expect(m);
}

/* ---- tensor types */

#define SHAPE                                                                                      \
    {                                                                                              \
        4,                                                                                         \
        {                                                                                          \
            1, 32, 32, 8                                                                           \
        }                                                                                          \
    }

const struct conform_tensor_type conform_tensor_types[CONFORM_TENSOR_TYPES] = {
    { "float32", DT_F32, 0, 0, SHAPE },
    { "float16", DT_F16, 0, 0, SHAPE },
    { "quant8", DT_U8, 1, 128, SHAPE },
    { "quant8_signed", DT_S8, 1, 0, SHAPE },
};

struct conform_tensor_type conform_tensor_type_open(const struct conform_tensor_type *tensor_type)
{
    struct conform_tensor_type open = *tensor_type;

    open.shape.dim[0] = 0;
    return open;
}

static void with_graph(struct conform *c, const struct conform_tensor_type *tensor_type,
                       const struct conform_graph *graph, conform_with_graph *with)
{
    struct conform_graph_subject s = { c, tensor_type, graph };

    conform_graph_model(&s.model, graph, tensor_type, 1);
    conform_doing(c, "%s of %s", graph->name, tensor_type->name);
    s.prepared =
        conform_model_is_of(&s.model, c) ? conform_prepare_supported(c, &s.model.hal) : NULL;
    if (s.prepared) {
        with(&s);
        s.prepared->methods->release(s.prepared);
    }
    conform_model_done(&s.model);
}

void conform_each_graph(struct conform *c, bool open, conform_with_graph *with)
{
    for (int k = 0; k < CONFORM_TENSOR_TYPES; k++)
        for (int g = 0; g < conform_n_graphs; g++) {
            struct conform_tensor_type tensor_type =
                open ? conform_tensor_type_open(&conform_tensor_types[k]) : conform_tensor_types[k];
            with_graph(c, &tensor_type, &conform_graphs[g], with);
        }
}

/* ---- buffers */

#define END                                                                                        \
    {                                                                                              \
        CONFORM_NO_MODEL, 0, 1                                                                     \
    }

const struct conform_allocation conform_one_input = { "an input", { { 0, 0, 1 }, END }, { END } },
                                conform_one_output = { "an output", { END }, { { 0, 0, 1 }, END } };

static uint32_t count_roles(const struct hal_buffer_role *r)
{
    uint32_t n = 0;

    while (r[n].model_index != CONFORM_NO_MODEL)
        n++;
    return n;
}

struct hal_buffer *conform_allocate(struct conform *c, const struct conform_allocation *a,
                                    struct hal_prepared_model *const *models, uint32_t n_models,
                                    uint32_t *ret_token, enum hal_status *ret_status)
{
    const struct hal_buffer_desc desc = { a->n_dims, a->dims };
    struct hal_buffer *b = (struct hal_buffer *) c;

    *ret_token = 99;
    *ret_status = HAL_GENERAL_FAILURE;
    if (!c->driver->allocate)
        return NULL;
    *ret_status = c->driver->allocate(c->driver, &desc, n_models, models, count_roles(a->in), a->in,
                                      count_roles(a->out), a->out, &b, ret_token);
    EXPECT(c, (*ret_status == HAL_NONE) == (b != NULL) && !b == !*ret_token,
           "allocate for %s: %s %s a buffer, with token %u", a->what, hal_status_name(*ret_status),
           b ? "with" : "without", *ret_token);
    return b;
}

struct hal_buffer *conform_must_allocate(struct conform_graph_subject *s,
                                         const struct conform_allocation *a, uint32_t *ret_token)
{
    enum hal_status status;
    struct hal_buffer *b = conform_allocate(s->conform, a, &s->prepared, 1, ret_token, &status);

    if (status == HAL_GENERAL_FAILURE)
        conform_not_applicable(s->conform, "the driver provides no buffer, such as for %s of %s",
                               s->graph->name, s->tensor_type->name);
    else
        EXPECT(s->conform, b, "allocate for %s, %s of %s: %s, expected NONE or GENERAL_FAILURE",
               a->what, s->graph->name, s->tensor_type->name, hal_status_name(status));
    return b;
}
