/* Builds models of the C API from models of the HAL. */

#include "runtime/adapter/adapter.h"
#include "sim/base/failure_text.h"
#include "sim/hal_validate.h"

struct building {
    const struct adapter *a;
    const struct hal_model *hal;
    struct adapter_model *m;
    ANeuralNetworksModel **referenced; /* NULL: not built, as yet or because main does not use it */
    const uint8_t *values;  /* operand_values, or a copy that lives as long as the models */
    enum hal_status status; /* of the first failure */
};

/* A subgraph on its way into a model.  Operands that nothing uses are left out: the C API rejects
 * those without a value. */
struct subgraph {
    struct building *b;
    const struct hal_subgraph *hal;
    ANeuralNetworksModel *model;
    uint32_t *index; /* of each operand in the model */
    bool *is_used;
    int32_t *code; /* type in the C API */
};

#define NO_INDEX UINT32_MAX

static void *allocate(struct building *b, size_t n, size_t size)
{
    void *p = arena_alloc(b->m->arena, n, size);

    if (!p)
        b->status = adapter_fail(HAL_RESOURCE_EXHAUSTED_TRANSIENT, "out of memory for a model");
    return p;
}

/* ---- extensions */

static const char *extension_name(const struct hal_model *hal, int32_t code)
{
    for (uint32_t i = 0; i < hal->n_extension_prefixes; i++)
        if (hal->extension_name_to_prefix[i].prefix == (uint32_t) code >> 16)
            return hal->extension_name_to_prefix[i].name;
    return NULL;
}

/* Operations of the C API have the codes up to the newest one; the others are experimental. */
static bool knows_operation(const struct adapter *a, const struct hal_model *hal, int32_t code)
{
    if ((uint32_t) code >> 16)
        return adapter_has_extension(a, extension_name(hal, code));
    return code <= ANEURALNETWORKS_REVERSE;
}

static bool knows_type(const struct adapter *a, const struct hal_model *hal, int32_t code)
{
    return !((uint32_t) code >> 16) || adapter_has_extension(a, extension_name(hal, code));
}

static bool knows_subgraph(const struct adapter *a, const struct hal_model *hal,
                           const struct hal_subgraph *g);

static bool knows_operand(const struct adapter *a, const struct hal_model *hal,
                          const struct hal_operand *o)
{
    return knows_type(a, hal, o->type) &&
           (o->lifetime != HAL_SUBGRAPH ||
            knows_subgraph(a, hal, &hal->referenced[o->location.offset]));
}

/* Whether the C API can express an operation with this device's extensions. */
static bool knows(const struct adapter *a, const struct hal_model *hal,
                  const struct hal_subgraph *g, const struct hal_operation *o)
{
    bool ok = knows_operation(a, hal, o->type);

    for (uint32_t i = 0; ok && i < o->n_inputs; i++)
        ok = knows_operand(a, hal, &g->operands[o->inputs[i]]);
    for (uint32_t i = 0; ok && i < o->n_outputs; i++)
        ok = knows_operand(a, hal, &g->operands[o->outputs[i]]);
    return ok;
}

static bool knows_subgraph(const struct adapter *a, const struct hal_model *hal,
                           const struct hal_subgraph *g)
{
    bool ok = true;

    for (uint32_t i = 0; ok && i < g->n_operations; i++)
        ok = knows(a, hal, g, &g->operations[i]);
    for (uint32_t i = 0; ok && i < g->n_inputs; i++)
        ok = knows_type(a, hal, g->operands[g->inputs[i]].type);
    return ok;
}

bool adapter_model_is_known(const struct adapter *a, const struct hal_model *hal)
{
    return knows_subgraph(a, hal, &hal->main);
}

static bool operand_code(struct subgraph *s, uint32_t i)
{
    int32_t type = s->hal->operands[i].type;

    s->code[i] = type;
    if (!((uint32_t) type >> 16))
        return true;
    return adapter_ok(&s->b->status,
                      s->b->a->api.Model_getExtensionOperandType(
                          s->model, extension_name(s->b->hal, type),
                          (uint16_t) ((uint32_t) type & UINT16_MAX), &s->code[i]),
                      "Model_getExtensionOperandType", "operand %u", i);
}

static bool operation_code(struct subgraph *s, uint32_t i, int32_t *ret_code)
{
    int32_t type = s->hal->operations[i].type;

    *ret_code = type;
    if (!((uint32_t) type >> 16))
        return true;
    return adapter_ok(&s->b->status,
                      s->b->a->api.Model_getExtensionOperationType(
                          s->model, extension_name(s->b->hal, type),
                          (uint16_t) ((uint32_t) type & UINT16_MAX), ret_code),
                      "Model_getExtensionOperationType", "operation %u", i);
}

/* ---- operands */

static void find_used(struct subgraph *s)
{
    const struct hal_subgraph *g = s->hal;

    for (uint32_t i = 0; i < g->n_inputs; i++)
        s->is_used[g->inputs[i]] = true;
    for (uint32_t i = 0; i < g->n_outputs; i++)
        s->is_used[g->outputs[i]] = true;
    for (uint32_t o = 0; o < g->n_operations; o++) {
        for (uint32_t i = 0; i < g->operations[o].n_inputs; i++)
            s->is_used[g->operations[o].inputs[i]] = true;
        for (uint32_t i = 0; i < g->operations[o].n_outputs; i++)
            s->is_used[g->operations[o].outputs[i]] = true;
    }
}

static bool add_operand(struct subgraph *s, uint32_t i)
{
    const struct hal_operand *o = &s->hal->operands[i];
    const struct api_library *api = &s->b->a->api;

    if (!operand_code(s, i))
        return false;
    const ANeuralNetworksOperandType type = { .type = s->code[i],
                                              .dimensionCount = o->n_dims,
                                              .dimensions = o->n_dims ? o->dims : NULL,
                                              .scale = o->scale,
                                              .zeroPoint = o->zero };
    return adapter_ok(&s->b->status, api->Model_addOperand(s->model, &type), "Model_addOperand",
                      "operand %u", i);
}

static bool set_extra(struct subgraph *s, uint32_t i)
{
    const struct hal_operand *o = &s->hal->operands[i];
    const struct api_library *api = &s->b->a->api;
    const ANeuralNetworksSymmPerChannelQuantParams channels = { .channelDim = o->channel_dim,
                                                                .scaleCount = o->n_channel_scales,
                                                                .scales = o->channel_scales };
    const int32_t index = (int32_t) s->index[i];

    switch (o->extra) {
    case HAL_EXTRA_NONE: return true;
    case HAL_EXTRA_CHANNEL_QUANT:
        return adapter_ok(
            &s->b->status,
            api->Model_setOperandSymmPerChannelQuantParams(s->model, index, &channels),
            "Model_setOperandSymmPerChannelQuantParams", "operand %u", i);
    case HAL_EXTRA_EXTENSION:
        return adapter_ok(
            &s->b->status,
            api->Model_setOperandExtensionData(s->model, index, o->extension, o->extension_length),
            "Model_setOperandExtensionData", "operand %u", i);
    }
    return true;
}

static ANeuralNetworksModel *referenced_model(struct building *b, uint64_t index);

static int set_from_pool(struct building *b, const struct subgraph *s, int32_t index,
                         const struct hal_location *at)
{
    const struct api_library *api = &b->a->api;
    const struct hal_memory *pool = &b->hal->pools[at->pool];

    if (b->m->pool[at->pool])
        return api->Model_setOperandValueFromMemory(s->model, index, b->m->pool[at->pool],
                                                    at->offset, at->length);
    return api->Model_setOperandValue(s->model, index, (const uint8_t *) pool->address + at->offset,
                                      at->length);
}

static bool set_value(struct subgraph *s, uint32_t i)
{
    const struct hal_operand *o = &s->hal->operands[i];
    const struct api_library *api = &s->b->a->api;
    const struct hal_location *at = &o->location;
    const int32_t index = (int32_t) s->index[i];
    const ANeuralNetworksModel *value;
    enum hal_status *status = &s->b->status;

    switch (o->lifetime) {
    case HAL_CONSTANT_COPY:
        return adapter_ok(
            status,
            api->Model_setOperandValue(s->model, index, s->b->values + at->offset, at->length),
            "Model_setOperandValue", "operand %u", i);
    case HAL_CONSTANT_REFERENCE:
        return adapter_ok(status, set_from_pool(s->b, s, index, at),
                          "Model_setOperandValueFromMemory", "operand %u", i);
    case HAL_NO_VALUE:
        return adapter_ok(status, api->Model_setOperandValue(s->model, index, NULL, 0),
                          "Model_setOperandValue", "operand %u", i);
    case HAL_SUBGRAPH:
        value = referenced_model(s->b, at->offset);
        return value &&
               adapter_ok(status, api->Model_setOperandValueFromModel(s->model, index, value),
                          "Model_setOperandValueFromModel", "operand %u", i);
    case HAL_TEMPORARY_VARIABLE:
    case HAL_SUBGRAPH_INPUT:
    case HAL_SUBGRAPH_OUTPUT: break;
    }
    return true;
}

static bool add_operands(struct subgraph *s)
{
    uint32_t n = 0;

    find_used(s);
    for (uint32_t i = 0; i < s->hal->n_operands; i++) {
        s->index[i] = s->is_used[i] ? n++ : NO_INDEX;
        if (s->is_used[i] && (!add_operand(s, i) || !set_extra(s, i) || !set_value(s, i)))
            return false;
    }
    return true;
}

/* ---- operations, inputs and outputs */

static const uint32_t *map_indexes(struct subgraph *s, uint32_t n, const uint32_t *from)
{
    uint32_t *to = allocate(s->b, n, sizeof(*to));

    for (uint32_t i = 0; to && i < n; i++)
        to[i] = s->index[from[i]];
    return to;
}

static bool add_operation(struct subgraph *s, uint32_t i)
{
    const struct hal_operation *o = &s->hal->operations[i];
    const uint32_t *inputs = map_indexes(s, o->n_inputs, o->inputs);
    const uint32_t *outputs = map_indexes(s, o->n_outputs, o->outputs);
    int32_t code;

    return inputs && outputs && operation_code(s, i, &code) &&
           adapter_ok(&s->b->status,
                      s->b->a->api.Model_addOperation(s->model, code, o->n_inputs, inputs,
                                                      o->n_outputs, outputs),
                      "Model_addOperation", "operation %u of type %d", i, o->type);
}

static bool finish(struct subgraph *s)
{
    const struct hal_subgraph *g = s->hal;
    const struct api_library *api = &s->b->a->api;
    enum hal_status *status = &s->b->status;
    const uint32_t *inputs = map_indexes(s, g->n_inputs, g->inputs);
    const uint32_t *outputs = map_indexes(s, g->n_outputs, g->outputs);

    return inputs && outputs &&
           adapter_ok(status,
                      api->Model_identifyInputsAndOutputs(s->model, g->n_inputs, inputs,
                                                          g->n_outputs, outputs),
                      "Model_identifyInputsAndOutputs", "%u inputs, %u outputs", g->n_inputs,
                      g->n_outputs) &&
           adapter_ok(status,
                      api->Model_relaxComputationFloat32toFloat16(s->model, s->b->hal->relaxed),
                      "Model_relaxComputationFloat32toFloat16", "%d", s->b->hal->relaxed) &&
           adapter_ok(status, api->Model_finish(s->model), "Model_finish", "%u operations",
                      g->n_operations);
}

/* ---- models */

static bool fill(struct subgraph *s)
{
    if (!add_operands(s))
        return false;
    for (uint32_t i = 0; i < s->hal->n_operations; i++)
        if (!add_operation(s, i))
            return false;
    return finish(s);
}

static bool build_subgraph(struct building *b, const struct hal_subgraph *g,
                           ANeuralNetworksModel **ret_model, int32_t **ret_code)
{
    struct subgraph s = { .b = b,
                          .hal = g,
                          .index = allocate(b, g->n_operands, sizeof(*s.index)),
                          .is_used = allocate(b, g->n_operands, sizeof(*s.is_used)),
                          .code = allocate(b, g->n_operands, sizeof(*s.code)) };

    if (!s.index || !s.is_used || !s.code ||
        !adapter_ok(&b->status, b->a->api.Model_create(&s.model), "Model_create", "a model"))
        return false;
    bool ok = fill(&s);
    b->m->built[b->m->n_built++] = s.model; /* after those that it refers to */
    *ret_model = s.model;
    *ret_code = s.code;
    return ok;
}

/* NULL: the status has been set.  The subgraphs have no cycles. */
static ANeuralNetworksModel *referenced_model(struct building *b, uint64_t index)
{
    ANeuralNetworksModel **to = &b->referenced[index], *model;
    int32_t *code;

    if (!*to && build_subgraph(b, &b->hal->referenced[index], &model, &code))
        *to = model;
    return *to;
}

/* Those with a descriptor; constants in the others are given by address. */
static bool make_pools(struct building *b)
{
    for (uint32_t i = 0; i < b->m->n_pools; i++)
        if (b->hal->pools[i].kind != HAL_MEMORY_ADDRESS) {
            b->status = adapter_memory_new(b->a, &b->hal->pools[i], &b->m->pool[i]);
            if (b->status != HAL_NONE)
                return false;
        }
    return true;
}

static bool build(struct building *b, bool keep)
{
    const struct hal_model *hal = b->hal;
    struct adapter_model *m = b->m;

    b->referenced = allocate(b, hal->n_referenced, sizeof(*b->referenced));
    m->built = allocate(b, (size_t) hal->n_referenced + 1, sizeof(*m->built));
    m->pool = allocate(b, hal->n_pools, sizeof(*m->pool));
    if (!b->referenced || !m->built || !m->pool)
        return false;
    m->n_pools = hal->n_pools;
    b->values = hal->operand_values;
    if (keep && hal->operand_values_length &&
        !(b->values =
              arena_copy(m->arena, hal->operand_values, (size_t) hal->operand_values_length))) {
        b->status = adapter_fail(HAL_RESOURCE_EXHAUSTED_TRANSIENT, "out of memory for constants");
        return false;
    }
    return make_pools(b) && build_subgraph(b, &hal->main, &m->main, &m->code);
}

enum hal_status adapter_model_build(const struct adapter *a, const struct hal_model *hal, bool keep,
                                    struct adapter_model *ret_model)
{
    struct adapter_model m = { .arena = arena_new(0) };
    struct building b = { .a = a, .hal = hal, .m = &m };

    if (!m.arena)
        return adapter_fail(HAL_RESOURCE_EXHAUSTED_TRANSIENT, "out of memory for a model");
    if (!build(&b, keep)) {
        adapter_model_done(a, &m);
        return b.status;
    }
    *ret_model = m;
    return HAL_NONE;
}

/* A model is freed before those that it refers to. */
void adapter_model_done(const struct adapter *a, struct adapter_model *m)
{
    for (uint32_t i = m->n_built; i > 0; i--)
        a->api.Model_free(m->built[i - 1]);
    for (uint32_t i = 0; i < m->n_pools; i++)
        a->api.Memory_free(m->pool[i]);
    arena_free(m->arena);
    *m = (struct adapter_model){ .arena = NULL };
}

/* ---- supported operations */

/* Parts of a model without the operations that the C API does not know. */
struct known_part {
    struct hal_model model;
    uint32_t *operation; /* of each of its operations: the number in the whole model */
};

/* Operands that only operations that are left out write are inputs of the part. */
static void find_ends(const struct hal_subgraph *g, struct hal_subgraph *part, bool *is_written,
                      bool *is_read, uint32_t *inputs, uint32_t *outputs)
{
    for (uint32_t o = 0; o < part->n_operations; o++) {
        for (uint32_t i = 0; i < part->operations[o].n_inputs; i++)
            is_read[part->operations[o].inputs[i]] = true;
        for (uint32_t i = 0; i < part->operations[o].n_outputs; i++)
            is_written[part->operations[o].outputs[i]] = true;
    }
    for (uint32_t i = 0; i < g->n_operands; i++) {
        enum hal_lifetime l = g->operands[i].lifetime;
        bool has_writer = l == HAL_TEMPORARY_VARIABLE || l == HAL_SUBGRAPH_OUTPUT;
        if (is_read[i] && !is_written[i] && (has_writer || l == HAL_SUBGRAPH_INPUT))
            inputs[part->n_inputs++] = i;
        else if (is_written[i] && l == HAL_SUBGRAPH_OUTPUT)
            outputs[part->n_outputs++] = i;
    }
    part->inputs = inputs;
    part->outputs = outputs;
}

static bool take_known(const struct adapter *a, const struct hal_model *hal, struct arena *arena,
                       struct known_part *ret_part)
{
    const struct hal_subgraph *g = &hal->main;
    struct hal_operation *operations = arena_alloc(arena, g->n_operations, sizeof(*operations));
    uint32_t *numbers = arena_alloc(arena, g->n_operations, sizeof(*numbers));
    uint32_t *ends = arena_alloc(arena, (size_t) g->n_operands * 2, sizeof(*ends));
    bool *flags = arena_alloc(arena, (size_t) g->n_operands * 2, sizeof(*flags));

    if (!operations || !numbers || !ends || !flags)
        return false;
    struct hal_subgraph part = { .n_operands = g->n_operands,
                                 .operands = g->operands,
                                 .operations = operations };
    for (uint32_t i = 0; i < g->n_operations; i++)
        if (knows(a, hal, g, &g->operations[i])) {
            numbers[part.n_operations] = i;
            operations[part.n_operations++] = g->operations[i];
        }
    find_ends(g, &part, flags, flags + g->n_operands, ends, ends + g->n_operands);
    *ret_part = (struct known_part){ .model = *hal, .operation = numbers };
    ret_part->model.main = part;
    return true;
}

static enum hal_status ask(struct adapter *a, const struct hal_model *hal, bool *supported)
{
    struct adapter_model m;
    enum hal_status status = adapter_model_build(a, hal, false, &m);

    if (status != HAL_NONE)
        return status;
    adapter_ok(
        &status,
        a->api.Model_getSupportedOperationsForDevices(m.main, a->device, a->n_devices, supported),
        "Model_getSupportedOperationsForDevices", "%u devices", a->n_devices);
    adapter_model_done(a, &m);
    return status;
}

/* A model that is unknown for another reason than its operations, such as the type of an input that
 * none reads, cannot be prepared: none is supported. */
static enum hal_status ask_known(struct adapter *a, const struct hal_model *hal, bool *supported)
{
    struct arena *arena = arena_new(0);
    struct known_part part;
    enum hal_status status = HAL_NONE;
    bool *answers = NULL;

    for (uint32_t i = 0; i < hal->main.n_operations; i++)
        supported[i] = false;
    if (!arena || !take_known(a, hal, arena, &part) ||
        !(answers = arena_alloc(arena, hal->main.n_operations, sizeof(*answers))))
        status = adapter_fail(HAL_RESOURCE_EXHAUSTED_TRANSIENT, "out of memory for a model");
    else if (part.model.main.n_operations < hal->main.n_operations && part.model.main.n_operations)
        status = ask(a, &part.model, answers);
    for (uint32_t i = 0; answers && status == HAL_NONE && i < part.model.main.n_operations; i++)
        supported[part.operation[i]] = answers[i];
    arena_free(arena);
    return status;
}

enum hal_status adapter_get_supported_operations(struct hal_driver *self, enum hal_version version,
                                                 const struct hal_model *model, bool *supported,
                                                 uint32_t *ret_n)
{
    struct adapter *a = (struct adapter *) self;
    char text[HAL_TEXT_BYTES];

    failure_text_clear();
    if (!adapter_has_entry(a, version))
        return HAL_INVALID_ARGUMENT;
    enum hal_status status = hal_validate_model(version, model, text, sizeof(text));
    if (status != HAL_NONE)
        return adapter_fail(status, "%s", text);
    status = adapter_model_is_known(a, model) ? ask(a, model, supported)
                                              : ask_known(a, model, supported);
    if (status == HAL_NONE)
        *ret_n = model->main.n_operations;
    return status;
}
