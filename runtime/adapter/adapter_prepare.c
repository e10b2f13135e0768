/* Compiles models. */
#include <stdlib.h>
#include <string.h>

#include "runtime/adapter/adapter.h"
#include "sim/base/failure_text.h"
#include "sim/hal/hal_result.h"
#include "sim/hal_validate.h"

/* ---- what requests are checked against */

static const uint32_t *copy_dims(struct arena *a, const struct hal_operand *o)
{
    return o->n_dims ? arena_copy(a, o->dims, o->n_dims * sizeof(*o->dims)) : NULL;
}

/* Copies operand `from` of the HAL model as argument number `to` of the prepared one. */
static bool copy_operand(struct adapter_prepared *p, const struct hal_operand *from, int32_t code,
                         struct hal_operand *ret_operand, ANeuralNetworksOperandType *ret_type)
{
    const uint32_t *dims = copy_dims(p->model.arena, from);

    *ret_operand = (struct hal_operand){ .type = from->type,
                                         .n_dims = from->n_dims,
                                         .dims = dims,
                                         .scale = from->scale,
                                         .zero = from->zero,
                                         .lifetime = from->lifetime };
    *ret_type = (ANeuralNetworksOperandType){ .type = code,
                                              .dimensionCount = from->n_dims,
                                              .dimensions = dims,
                                              .scale = from->scale,
                                              .zeroPoint = from->zero };
    return dims || !from->n_dims;
}

/* The inputs, then the outputs are the operands. */
static bool copy_arguments(struct adapter_prepared *p, const struct hal_subgraph *g)
{
    struct arena *a = p->model.arena;
    const uint32_t n = g->n_inputs + g->n_outputs;
    struct hal_operand *operand = arena_alloc(a, n, sizeof(*operand));
    ANeuralNetworksOperandType *type = arena_alloc(a, n, sizeof(*type));
    uint32_t *index = arena_alloc(a, n, sizeof(*index));

    if (!operand || !type || !index)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t from = i < g->n_inputs ? g->inputs[i] : g->outputs[i - g->n_inputs];
        index[i] = i;
        if (!copy_operand(p, &g->operands[from], p->model.code[from], &operand[i], &type[i]))
            return false;
    }
    p->main = (struct hal_subgraph){ .n_operands = n,
                                     .operands = operand,
                                     .n_inputs = g->n_inputs,
                                     .n_outputs = g->n_outputs,
                                     .inputs = index,
                                     .outputs = index + g->n_inputs };
    p->input = type;
    p->output = type + g->n_inputs;
    return true;
}

/* ---- compiling */

static const char *hint_extension(const struct hal_prepare_config *config, int32_t token)
{
    for (uint32_t i = 0; i < config->n_extension_prefixes; i++)
        if (config->extension_name_to_prefix[i].prefix == (uint32_t) token >> 16)
            return config->extension_name_to_prefix[i].name;
    return NULL;
}

/* Hints of extensions that the device does not have are ignored, as the HAL demands. */
static bool set_hints(struct adapter_prepared *p, const struct hal_prepare_config *config,
                      enum hal_status *ret_status)
{
    const struct api_library *api = &p->adapter->api;

    for (uint32_t i = 0; i < config->n_hints; i++) {
        const struct hal_token_value *h = &config->hints[i];
        const char *name = hint_extension(config, h->token);
        if (!name || !adapter_has_extension(p->adapter, name) ||
            !api->Compilation_addExtensionAttribute)
            continue;
        if (!adapter_ok(ret_status,
                        api->Compilation_addExtensionAttribute(
                            p->compilation, name, (uint16_t) ((uint32_t) h->token & UINT16_MAX),
                            h->value, h->length),
                        "Compilation_addExtensionAttribute", "%s", name))
            return false;
    }
    return true;
}

/* The runtime chooses among all its devices. */
static int create_compilation(struct adapter_prepared *p)
{
    const struct adapter *a = p->adapter;

    if (a->is_runtime)
        return a->api.Compilation_create(p->model.main, &p->compilation);
    return a->api.Compilation_createForDevices(p->model.main, a->device, a->n_devices,
                                               &p->compilation);
}

/* The C API passes a time-out to a chosen device only; under rt: what takes too long is noticed
 * afterwards. */
static bool set_time(struct adapter_prepared *p, const struct hal_prepare_config *config,
                     enum hal_status *ret_status)
{
    const uint64_t left = adapter_time_left(config->deadline);

    if (left == HAL_NO_TIME)
        return true;
    if (!left) {
        *ret_status = adapter_missed_deadline("the preparation");
        return false;
    }
    return p->adapter->is_runtime ||
           adapter_ok(ret_status, p->adapter->api.Compilation_setTimeout(p->compilation, left),
                      "Compilation_setTimeout", "%llu ns", (unsigned long long) left);
}

static enum hal_status compile(struct adapter_prepared *p, const struct hal_prepare_config *config)
{
    static const int priorities[] = { [HAL_PRIORITY_LOW] = ANEURALNETWORKS_PRIORITY_LOW,
                                      [HAL_PRIORITY_MEDIUM] = ANEURALNETWORKS_PRIORITY_MEDIUM,
                                      [HAL_PRIORITY_HIGH] = ANEURALNETWORKS_PRIORITY_HIGH };
    const struct api_library *api = &p->adapter->api;
    enum hal_status status = HAL_NONE;

    if (!adapter_ok(&status, create_compilation(p), "Compilation_create", "a model") ||
        !adapter_ok(&status,
                    api->Compilation_setPreference(p->compilation, (int32_t) config->preference),
                    "Compilation_setPreference", "%d", (int) config->preference) ||
        !adapter_ok(&status,
                    api->Compilation_setPriority(p->compilation, priorities[config->priority]),
                    "Compilation_setPriority", "%d", priorities[config->priority]) ||
        !set_hints(p, config, &status) || !set_time(p, config, &status) ||
        !adapter_ok(&status, api->Compilation_finish(p->compilation), "Compilation_finish",
                    "a model"))
        return status;
    if (p->adapter->is_runtime && !adapter_time_left(config->deadline))
        return adapter_missed_deadline("the preparation");
    return HAL_NONE;
}

/* ---- the prepared model */

void adapter_prepared_unref(struct adapter_prepared *p)
{
    if (!p || atomic_fetch_sub(&p->references, 1) != 1)
        return;
    p->adapter->api.Compilation_free(p->compilation);
    adapter_model_done(p->adapter, &p->model);
    free(p);
}

static void release(struct hal_prepared_model *self)
{
    struct adapter_prepared *p = (struct adapter_prepared *) self;

    adapter_free_ended(p->adapter);
    adapter_prepared_unref(p);
}

static const struct hal_prepared_model_methods methods = {
    .execute_synchronously = adapter_execute_synchronously,
    .execute_fenced = adapter_execute_fenced,
    .configure_burst = adapter_configure_burst,
    .create_reusable_execution = adapter_create_reusable,
    .release = release,
};
/* Of drivers before feature level 8. */
static const struct hal_prepared_model_methods older_methods = {
    .execute_synchronously = adapter_execute_synchronously,
    .execute_fenced = adapter_execute_fenced,
    .configure_burst = adapter_configure_burst,
    .release = release,
};

static enum hal_status prepare(struct adapter *a, const struct hal_model *hal,
                               const struct hal_prepare_config *config,
                               struct adapter_prepared **ret_prepared)
{
    struct adapter_prepared *p = calloc(1, sizeof(*p));

    if (!p)
        return adapter_fail(HAL_RESOURCE_EXHAUSTED_TRANSIENT, "out of memory for a model");
    *p = (struct adapter_prepared){
        .base = { .methods = a->base.hal_version >= HAL_FL8 ? &methods : &older_methods,
                  .n_inputs = hal->main.n_inputs,
                  .n_outputs = hal->main.n_outputs },
        .adapter = a,
        .references = 1
    };
    enum hal_status status = adapter_model_build(a, hal, true, &p->model);
    if (status != HAL_NONE) {
        free(p);
        return status;
    }
    status = copy_arguments(p, &hal->main)
                 ? compile(p, config)
                 : adapter_fail(HAL_RESOURCE_EXHAUSTED_TRANSIENT, "out of memory for a model");
    if (status == HAL_NONE)
        *ret_prepared = p;
    else
        adapter_prepared_unref(p);
    return status;
}

static enum hal_status check(const struct adapter *a, enum hal_version version,
                             const struct hal_model *model, const struct hal_prepare_config *config)
{
    char text[HAL_TEXT_BYTES];

    if (!adapter_has_entry(a, version))
        return HAL_INVALID_ARGUMENT;
    enum hal_status status = hal_validate_model(version, model, text, sizeof(text));
    if (status == HAL_NONE)
        status = hal_validate_prepare_config(version, config, text, sizeof(text));
    return status == HAL_NONE ? HAL_NONE : adapter_fail(status, "%s", text);
}

enum hal_status adapter_prepare_model(struct hal_driver *self, enum hal_version version,
                                      const struct hal_model *model,
                                      const struct hal_prepare_config *config,
                                      struct hal_prepare_callback *callback)
{
    struct adapter *a = (struct adapter *) self;
    struct adapter_prepared *p = NULL;

    failure_text_clear();
    enum hal_status status = check(a, version, model, config);
    if (status != HAL_NONE)
        return hal_fail_preparation(callback, status);
    status = adapter_model_is_known(a, model)
                 ? prepare(a, model, config, &p)
                 : adapter_fail(HAL_INVALID_ARGUMENT, "an operation that is not supported");
    callback->notify(callback, status, p ? &p->base : NULL);
    return HAL_NONE;
}
