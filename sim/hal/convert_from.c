/* HAL model -> golden model; checks every index, count and location of the untrusted client. */
#include "sim/hal/convert.h"

#include <inttypes.h>
#include <string.h>

struct from_hal {
    const struct hal_model *hal;
    enum hal_version version;
    struct extension_codes names;
    const struct mapping *pools;
    const uint8_t *values; /* copy of operand_values in the arena */
    struct arena *a;
    struct why *w;
};

#define CHECK(f, cond, ...) REQUIRE((f)->w, cond, __VA_ARGS__)

/* The data of an extension operand, whose contents the extension defines. */
static int convert_extension_data(const struct from_hal *f, const struct hal_operand *h,
                                  struct operand *o)
{
    bool oem = extension_prefix_of(extension_codes_hal_type(o)) == 0;

    if (h->extra == HAL_EXTRA_NONE || (oem && h->extra != HAL_EXTRA_EXTENSION))
        return 0;
    CHECK(f, h->extra == HAL_EXTRA_EXTENSION, "an extension type with extra parameters of kind %d",
          (int) h->extra);
    CHECK(f, !h->extension_length || h->extension, "the extension data is NULL");
    o->tensor.extension_length = (size_t) h->extension_length;
    o->tensor.extension = arena_copy(f->a, h->extension, o->tensor.extension_length);
    return o->tensor.extension ? 0 : why_no_memory_for(f->w, "the model on the device");
}

static int convert_channels(const struct from_hal *f, const struct hal_operand *h, struct tensor *t)
{
    bool channels = dtype_info[t->dtype].quant == QUANT_CHANNEL;

    CHECK(f, channels == (h->extra == HAL_EXTRA_CHANNEL_QUANT),
          "%s with extra parameters of kind %d", dtype_info[t->dtype].name, (int) h->extra);
    CHECK(f, h->extra == HAL_EXTRA_NONE || channels, "extension data for a type of NNAPI");
    if (!channels)
        return 0;
    CHECK(f, h->n_channel_scales && h->channel_scales, "the list of channel scales is empty");
    CHECK(f, h->channel_dim < h->n_dims && h->dims[h->channel_dim] == h->n_channel_scales,
          "%u channel scales do not match dimension %u", h->n_channel_scales, h->channel_dim);
    t->channel_dim = h->channel_dim;
    t->n_channels = h->n_channel_scales;
    t->channel_scale =
        arena_copy(f->a, h->channel_scales, h->n_channel_scales * sizeof(*h->channel_scales));
    return t->channel_scale ? 0 : why_no_memory_for(f->w, "the model on the device");
}

static int check_constant(const struct from_hal *f, const struct hal_location *l,
                          const struct mapping *in)
{
    CHECK(f, mapping_contains(in, l->offset, l->length),
          "constant: %" PRIu64 " bytes at %" PRIu64 " of %" PRIu64, l->length, l->offset, in->size);
    return 0;
}

/* Sets a constant's value: used in place if it cannot change and is aligned, else copied. */
static int take_value(const struct from_hal *f, const uint8_t *at, uint64_t length, bool may_change,
                      struct operand *o)
{
    size_t element = dtype_info[o->tensor.dtype].codec->size;
    bool in_place = !may_change && (!element || (uintptr_t) at % element == 0);

    o->life = in_place ? o->life : LIFE_CONSTANT_COPY;
    o->length = (size_t) length;
    o->tensor.data = in_place ? (void *) (uintptr_t) at : arena_copy(f->a, at, (size_t) length);
    return o->tensor.data ? 0 : why_no_memory_for(f->w, "the model on the device");
}

/* Real-valued and quantised tensors may change while an operation runs without making it access
 * memory out of bounds.  Others may be axes, sizes or indexes and must not change once checked. */
static bool is_safe_in_place(enum dtype type)
{
    const struct dtype_info *info = &dtype_info[type];

    return type < DT_COUNT && info->tensor && (!info->codec->integer || info->quant > QUANT_BIAS);
}

static int convert_value(const struct from_hal *f, const struct hal_operand *h, struct operand *o)
{
    const struct hal_location *l = &h->location;

    TRY(hal_location_complies(l, f->version, f->w));
    CHECK(f, l->padding == 0, "padding of %" PRIu64 " bytes in a model, must be 0", l->padding);
    switch (h->lifetime) {
    case HAL_TEMPORARY_VARIABLE:
    case HAL_SUBGRAPH_INPUT:
    case HAL_SUBGRAPH_OUTPUT:
    case HAL_NO_VALUE:
        CHECK(f, !l->pool && !l->offset && !l->length, "%s with a location, which must be 0",
              lifetime_name[h->lifetime]);
        return 0;
    case HAL_CONSTANT_COPY: {
        const struct mapping values = { .size = f->hal->operand_values_length };
        CHECK(f, l->pool == 0, "constant by copy in pool %u, must be 0", l->pool);
        TRY(check_constant(f, l, &values));
        return take_value(f, f->values + l->offset, l->length, false, o);
    }
    case HAL_CONSTANT_REFERENCE:
        CHECK(f, l->pool < f->hal->n_pools, "constant in pool %u of %u", l->pool, f->hal->n_pools);
        TRY(check_constant(f, l, &f->pools[l->pool]));
        o->pool = l->pool;
        /* The client can write to its pools at any time. */
        return take_value(f, f->pools[l->pool].address + l->offset, l->length,
                          !is_safe_in_place(o->tensor.dtype), o);
    case HAL_SUBGRAPH:
        CHECK(f, l->offset < f->hal->n_referenced && !l->length && !l->pool,
              "subgraph %" PRIu64 " of %u", l->offset, f->hal->n_referenced);
        o->subgraph = (uint32_t) l->offset + 1;
        return 0;
    }
    return why_fail(f->w, WHY_INVALID, "unknown lifetime %d", (int) h->lifetime);
}

static int convert_operand(const struct from_hal *f, const struct hal_operand *h,
                           struct operand *ret)
{
    const struct dtype_info *info;
    struct operand o = { 0 };

    if (h->type >= 0 && h->type < DT_COUNT)
        o.tensor.dtype = (enum dtype) h->type;
    else
        TRY(extension_codes_type(&f->names, h->type, &o, f->w));
    info = &dtype_info[o.tensor.dtype];
    CHECK(f, o.tensor.dtype >= DT_COUNT || info->since <= hal_level(f->version),
          "type %s in a model of HAL %s, needs feature level %d", info->name,
          hal_version_name(f->version), info->since);
    CHECK(f, h->n_dims <= MAX_RANK, "rank %u, at most %d", h->n_dims, MAX_RANK);
    CHECK(f, !h->n_dims || h->dims, "the list of dimensions is NULL");
    CHECK(f, info->tensor || !h->n_dims, "scalar %s with %u dimensions", info->name, h->n_dims);
    TRY(hal_dims_comply(h->dims, h->n_dims, f->version, f->w));
    o.tensor.shape.rank = h->n_dims;
    for (uint32_t d = 0; d < h->n_dims; d++)
        o.tensor.shape.dim[d] = h->dims[d];
    o.tensor.scale = h->scale;
    o.tensor.zero = h->zero;
    TRY(o.tensor.dtype < DT_COUNT ? convert_channels(f, h, &o.tensor)
                                  : convert_extension_data(f, h, &o));
    o.life = (enum lifetime) h->lifetime;
    TRY(convert_value(f, h, &o));
    *ret = o;
    return 0;
}

static int convert_indexes(const struct from_hal *f, const uint32_t *from, uint32_t n,
                           uint32_t n_operands, uint32_t **ret_indexes)
{
    CHECK(f, !n || from, "the list of operand indexes is NULL");
    for (uint32_t i = 0; i < n; i++)
        CHECK(f, from[i] < n_operands, "operand %u of %u", from[i], n_operands);
    *ret_indexes = arena_copy(f->a, from, n * sizeof(*from));
    return *ret_indexes ? 0 : why_no_memory_for(f->w, "the model on the device");
}

static int convert_code(const struct from_hal *f, int32_t code, int32_t *ret_code)
{
    const struct op *op = extension_prefix_of(code) ? NULL : op_find(code);

    if (!op || op->since > (enum level) hal_level(f->version))
        return extension_codes_operation(&f->names, code, ret_code, f->w);
    *ret_code = code;
    return 0;
}

static int convert_operations(const struct from_hal *f, const struct hal_subgraph *h,
                              struct graph *g)
{
    g->n_operations = h->n_operations;
    g->operation = arena_alloc(f->a, h->n_operations, sizeof(*g->operation));
    if (!g->operation)
        return why_no_memory_for(f->w, "the model on the device");
    for (uint32_t i = 0; i < h->n_operations; i++) {
        const struct hal_operation *from = &h->operations[i];
        struct operation *to = &g->operation[i];
        *to = (struct operation){ from->type, from->n_inputs, from->n_outputs, NULL, NULL };
        if (convert_code(f, from->type, &to->code) < 0 ||
            convert_indexes(f, from->inputs, from->n_inputs, g->n_operands, &to->in) < 0 ||
            convert_indexes(f, from->outputs, from->n_outputs, g->n_operands, &to->out) < 0)
            return why_prefix(f->w, "operation %u", i);
    }
    return 0;
}

/* Checks that operations are in execution order. */
static int check_order(const struct from_hal *f, const struct graph *g)
{
    bool *written = arena_alloc(f->a, g->n_operands, sizeof(*written));

    if (!written)
        return why_no_memory_for(f->w, "the model on the device");
    for (uint32_t i = 0; i < g->n_operands; i++)
        written[i] = g->operand[i].life != LIFE_TEMPORARY && g->operand[i].life != LIFE_OUTPUT;
    for (uint32_t i = 0; i < g->n_operations; i++) {
        const struct operation *o = &g->operation[i];
        for (uint32_t k = 0; k < o->n_in; k++)
            CHECK(f, written[o->in[k]], "operation %u reads operand %u before it is written", i,
                  o->in[k]);
        for (uint32_t k = 0; k < o->n_out; k++)
            written[o->out[k]] = true;
    }
    return 0;
}

static int convert_subgraph(const struct from_hal *f, const struct hal_subgraph *h,
                            struct graph *ret)
{
    struct graph g = { .n_operands = h->n_operands,
                       .n_inputs = h->n_inputs,
                       .n_outputs = h->n_outputs };

    CHECK(f, h->n_operands && h->operands, "the list of operands is empty");
    CHECK(f, h->n_operations && h->operations, "the list of operations is empty");
    g.operand = arena_alloc(f->a, g.n_operands, sizeof(*g.operand));
    if (!g.operand)
        return why_no_memory_for(f->w, "the model on the device");
    for (uint32_t i = 0; i < g.n_operands; i++)
        if (convert_operand(f, &h->operands[i], &g.operand[i]) < 0)
            return why_prefix(f->w, "operand %u", i);
    TRY(convert_operations(f, h, &g));
    TRY(convert_indexes(f, h->inputs, h->n_inputs, g.n_operands, &g.input));
    TRY(convert_indexes(f, h->outputs, h->n_outputs, g.n_operands, &g.output));
    TRY(check_order(f, &g));
    *ret = g;
    return 0;
}

/* The stable-interface versions do not have numberOfConsumers. */
static int check_consumers(const struct from_hal *f, const struct hal_subgraph *h,
                           const struct graph *g)
{
    if (f->version > HAL_1_3)
        return 0;
    for (uint32_t i = 0; i < g->n_operands; i++)
        CHECK(f, h->operands[i].n_consumers == g->operand[i].consumers,
              "operand %u: number of consumers is %u, expected %u", i, h->operands[i].n_consumers,
              g->operand[i].consumers);
    return 0;
}

int convert_from_hal(const struct hal_model *hal, enum hal_version version, extension_set known,
                     const struct mapping *pools, struct arena *a, struct model *ret_model,
                     struct why *w)
{
    struct from_hal f = { .hal = hal, .version = version, .pools = pools, .a = a, .w = w };
    struct model m = { .relaxed = hal->relaxed };

    TRY(hal_members_comply(&hal_model_record, hal, version, w));
    CHECK(&f, !hal->n_referenced || hal->referenced, "the list of subgraphs is NULL");
    CHECK(&f, hal->n_referenced < UINT32_MAX, "%u subgraphs", hal->n_referenced);
    CHECK(&f, !hal->operand_values_length || hal->operand_values, "the operand values are NULL");
    f.values = arena_copy(a, hal->operand_values, (size_t) hal->operand_values_length);
    if (!f.values)
        return why_no_memory_for(f.w, "the model on the device");
    m.n_pools = hal->n_pools;
    m.pool = arena_alloc(a, m.n_pools, sizeof(*m.pool));
    if (!m.pool)
        return why_no_memory_for(f.w, "the model on the device");
    for (uint32_t i = 0; i < m.n_pools; i++)
        m.pool[i] = (struct pool){ pools[i].address, (size_t) pools[i].size };
    TRY(extension_codes_read(hal, version, known, a, &f.names, &m, w));

    m.n_graphs = hal->n_referenced + 1;
    m.graph = arena_alloc(a, m.n_graphs, sizeof(*m.graph));
    if (!m.graph)
        return why_no_memory_for(f.w, "the model on the device");
    for (uint32_t i = 0; i < m.n_graphs; i++)
        if (convert_subgraph(&f, i ? &hal->referenced[i - 1] : &hal->main, &m.graph[i]) < 0)
            return why_prefix(f.w, "subgraph %u", i);
    model_count_consumers(&m);
    for (uint32_t i = 0; i < m.n_graphs; i++)
        TRY(check_consumers(&f, i ? &hal->referenced[i - 1] : &hal->main, &m.graph[i]));
    *ret_model = m;
    return 0;
}
