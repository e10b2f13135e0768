#include "runtime/compile/compilation.h"

#include <errno.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "golden/base/clock.h"
#include "golden/model/extension.h"
#include "runtime/base/failure.h"
#include "runtime/compile/caching.h"
#include "runtime/compile/compilation_report.h"

#define LOG_TAG "CompilationBuilder"

/* ---- creation */

static int check_model(const ANeuralNetworksModel *m)
{
    if (m->state == MODEL_VALID)
        return ANEURALNETWORKS_NO_ERROR;
    return FAIL(BAD_STATE, "the model is %s",
                m->state == MODEL_BUILDING ? "not finished" : "invalid");
}

/* No device twice, all of the list. */
static int check_devices(const ANeuralNetworksDevice *const *device, uint32_t n)
{
    const struct device_list *all = devices();

    if (!n)
        return FAIL(BAD_DATA, "no devices");
    for (uint32_t i = 0; i < n; i++) {
        bool is_known = false;
        if (!device[i])
            return FAIL(UNEXPECTED_NULL, "device %u is NULL", i);
        for (uint32_t k = i + 1; k < n; k++)
            if (device[k] == device[i])
                return FAIL(BAD_DATA, "%s comes twice", device[i]->name);
        for (uint32_t k = 0; k < all->n; k++)
            is_known = is_known || all->device[k] == device[i];
        if (!is_known)
            return FAIL(BAD_DATA, "device %u is not one of ANeuralNetworks_getDevice()", i);
    }
    return ANEURALNETWORKS_NO_ERROR;
}

static int compilation_new(const ANeuralNetworksModel *m,
                           const ANeuralNetworksDevice *const *device, uint32_t n, bool is_explicit,
                           ANeuralNetworksCompilation **ret)
{
    static atomic_uint_fast64_t last;
    ANeuralNetworksCompilation *c = calloc(1, sizeof(*c));

    if (c)
        c->device = calloc(n + 1, sizeof(ANeuralNetworksDevice *));
    if (!c || !c->device) {
        free(c);
        return FAIL(OUT_OF_MEMORY, "no memory for a compilation");
    }
    for (uint32_t i = 0; i < n; i++)
        c->device[i] = device[i];
    c->number = atomic_fetch_add(&last, 1);
    c->n_devices = n;
    c->is_explicit = is_explicit;
    c->model = m;
    c->preference = plain_preparation.preference;
    c->priority = plain_preparation.priority;
    pthread_mutex_init(&c->lock, NULL);
    *ret = c;
    return ANEURALNETWORKS_NO_ERROR;
}

int compilation_create(const ANeuralNetworksModel *m, ANeuralNetworksCompilation **ret)
{
    REQUIRE_GIVEN(ret);
    *ret = NULL;
    REQUIRE_GIVEN(m);
    PASS(check_model(m));
    const struct device_list *all = devices();
    if (!all->n)
        return FAIL(OUT_OF_MEMORY, "there is no device, not even nnapi-reference");
    uint32_t first = runtime_settings()->cpu_only ? all->n - 1 : 0;
    return compilation_new(m, (const ANeuralNetworksDevice *const *) all->device + first,
                           all->n - first, false, ret);
}

int compilation_create_for(const ANeuralNetworksModel *m,
                           const ANeuralNetworksDevice *const *device, uint32_t n,
                           ANeuralNetworksCompilation **ret)
{
    REQUIRE_GIVEN(ret);
    *ret = NULL;
    REQUIRE_GIVEN(m);
    REQUIRE_GIVEN(device);
    PASS(check_devices(device, n));
    PASS(check_model(m));
    return compilation_new(m, device, n, true, ret);
}

static void release(struct hal_prepared_model *p)
{
    if (p)
        p->methods->release(p);
}

void compilation_free(ANeuralNetworksCompilation *c)
{
    if (!c)
        return;
    release(c->prepared);
    release(c->fallback);
    if (c->plan)
        compiled_plan_release(c->plan);
    attributes_done(&c->attributes);
    pthread_mutex_destroy(&c->lock);
    free(c->cache_folder);
    cache_files_close(&c->cache_files);
    free(c->device);
    arena_free(c->arena);
    free(c);
}

/* ---- settings */

static int check_open(const ANeuralNetworksCompilation *c)
{
    return c->state == COMPILATION_OPEN ? ANEURALNETWORKS_NO_ERROR
                                        : FAIL(BAD_STATE, "the compilation is finished");
}

bool compilation_is_for_one(const ANeuralNetworksCompilation *c)
{
    return c->is_explicit && c->n_devices == 1;
}

int compilation_set_preference(ANeuralNetworksCompilation *c, int32_t preference)
{
    REQUIRE_GIVEN(c);
    PASS(check_open(c));
    if (preference < ANEURALNETWORKS_PREFER_LOW_POWER ||
        preference > ANEURALNETWORKS_PREFER_SUSTAINED_SPEED)
        return FAIL(BAD_DATA, "preference %d, expected 0 to 2", preference);
    c->preference = preference;
    return ANEURALNETWORKS_NO_ERROR;
}

int compilation_set_caching(ANeuralNetworksCompilation *c, const char *folder, const uint8_t *token)
{
    REQUIRE_GIVEN(c);
    REQUIRE_GIVEN(folder);
    REQUIRE_GIVEN(token);
    PASS(check_open(c));
    size_t n = strlen(folder);
    char *copy = malloc(n + 2);
    if (!copy)
        return FAIL(OUT_OF_MEMORY, "no memory for the path of the cache");
    memcpy(copy, folder, n);
    if (!n || copy[n - 1] != '/')
        copy[n++] = '/';
    copy[n] = 0;
    free(c->cache_folder);
    cache_files_close(&c->cache_files);
    c->cache_folder = copy;
    memcpy(c->token, token, sizeof(c->token));
    c->is_cached = true;
    return ANEURALNETWORKS_NO_ERROR;
}

int compilation_set_caching_from_fds(ANeuralNetworksCompilation *c, const int *model_fds,
                                     uint32_t n_model, const int *data_fds, uint32_t n_data,
                                     const uint8_t *token)
{
    struct cache_files given = { .n_model = n_model, .n_data = n_data }, own;

    REQUIRE_GIVEN(c);
    REQUIRE_GIVEN(token);
    if ((!model_fds && n_model) || (!data_fds && n_data))
        return FAIL(UNEXPECTED_NULL, "%u model files at %p, %u data files at %p", n_model,
                    (const void *) model_fds, n_data, (const void *) data_fds);
    PASS(check_open(c));
    if (n_model > HAL_MAX_CACHE_FILES || n_data > HAL_MAX_CACHE_FILES)
        return FAIL(BAD_DATA, "%u model and %u data files, at most %d each", n_model, n_data,
                    HAL_MAX_CACHE_FILES);
    for (uint32_t i = 0; i < n_model + n_data; i++)
        given.fd[i] = i < n_model ? model_fds[i] : data_fds[i - n_model];
    if (!cache_files_copy(&given, &own))
        return FAIL(BAD_DATA, "descriptors of cache files: %s", strerror(errno));
    free(c->cache_folder);
    cache_files_close(&c->cache_files);
    c->cache_folder = NULL;
    c->cache_files = own;
    memcpy(c->token, token, sizeof(c->token));
    c->is_cached = true;
    return ANEURALNETWORKS_NO_ERROR;
}

int compilation_set_priority(ANeuralNetworksCompilation *c, int priority)
{
    REQUIRE_GIVEN(c);
    PASS(check_open(c));
    if (priority != ANEURALNETWORKS_PRIORITY_LOW && priority != ANEURALNETWORKS_PRIORITY_MEDIUM &&
        priority != ANEURALNETWORKS_PRIORITY_HIGH)
        return FAIL(BAD_DATA, "priority %d, expected 90, 100 or 110", priority);
    c->priority = priority;
    return ANEURALNETWORKS_NO_ERROR;
}

int compilation_set_timeout(ANeuralNetworksCompilation *c, uint64_t ns)
{
    REQUIRE_GIVEN(c);
    PASS(check_open(c));
    if (!compilation_is_for_one(c))
        return FAIL(BAD_DATA, "the compilation is not for exactly one device");
    c->timeout = ns;
    return ANEURALNETWORKS_NO_ERROR;
}

int compilation_add_attribute(ANeuralNetworksCompilation *c, const char *extension, uint16_t code,
                              const void *data, size_t length)
{
    REQUIRE_GIVEN(c);
    REQUIRE_GIVEN(extension);
    if (!data && length)
        return FAIL(UNEXPECTED_NULL, "data is NULL, its length %zu", length);
    PASS(check_open(c));
    if (!compilation_is_for_one(c))
        return FAIL(BAD_DATA, "the compilation is not for exactly one device");
    return attributes_add(&c->attributes, extension, code, data, length);
}

/* ---- finish */

/* Whether the plan needs no other device than the reference, which interprets control flow itself.
 */
static bool is_all_reference(const struct partition *p)
{
    for (uint32_t i = 0; i < p->n_steps; i++)
        if (p->step[i].kind == STEP_EXECUTE && !p->step[i].device->is_reference)
            return false;
    return true;
}

static int prepare_reference(const ANeuralNetworksCompilation *c, const struct preparation *how,
                             struct hal_prepared_model **ret)
{
    return prepare_on_device(reference_device(), &c->model->model, c->model->pool, how, ret);
}

static struct cache_place cache_place_of(const ANeuralNetworksCompilation *c)
{
    return (struct cache_place){ .token = c->is_cached ? c->token : NULL,
                                 .folder = c->cache_folder,
                                 .given = &c->cache_files };
}

/* Steps have neither time-out nor attributes (runtime.md 3.1), and cannot share descriptors. */
static int prepare_steps(ANeuralNetworksCompilation *c, const struct partition *p)
{
    struct preparation how = { .preference = c->preference, .priority = c->priority };
    struct why w;

    if (c->cache_folder)
        how.cache = cache_place_of(c);
    else if (c->is_cached)
        log_write(LOG_WARNING, LOG_TAG,
                  "not cached: a plan of %u steps cannot share descriptors of cache files",
                  p->n_steps);
    if (compiled_plan_make(c->model, p, c->arena, &c->plan, &w) < 0)
        return FAIL_WHY(&w);
    int result = compiled_plan_prepare(c->plan, &how);
    if (result != ANEURALNETWORKS_NO_ERROR) {
        compiled_plan_release(c->plan);
        c->plan = NULL;
    }
    return result;
}

static int prepare(ANeuralNetworksCompilation *c)
{
    const struct preparation how = { .preference = c->preference,
                                     .priority = c->priority,
                                     .timeout = c->timeout,
                                     .attributes = &c->attributes,
                                     .cache = cache_place_of(c) };
    struct partition p;
    struct why w = { .text = "" };

    int result = partition_make(c->model, c->n_devices, c->device, c->preference, c->arena, &p, &w);
    if (result != ANEURALNETWORKS_NO_ERROR)
        return fail_with(LOG_TAG, result, "%s", w.text);
    if (is_all_reference(&p)) {
        c->on = reference_device();
        return prepare_reference(c, &how, &c->prepared);
    }
    if (p.kind != PLAN_SIMPLE)
        return prepare_steps(c, &p);
    c->on = p.step->device;
    return prepare_on_device(c->on, &p.step->model, p.step->pool, &how, &c->prepared);
}

static bool is_vendors(const ANeuralNetworksCompilation *c)
{
    return model_uses_extensions(&c->model->model) || model_uses_oem(&c->model->model);
}

static int compile(ANeuralNetworksCompilation *c)
{
    const int partition = c->is_explicit ? 2 : runtime_settings()->partition;
    int result = ANEURALNETWORKS_NO_ERROR;

    if (partition != 0) {
        result = prepare(c);
        c->may_fall_back = partition == 1 && (c->plan || (c->on && !c->on->is_reference));
        if (result == ANEURALNETWORKS_NO_ERROR || result == ANEURALNETWORKS_UNEXPECTED_NULL ||
            result == ANEURALNETWORKS_BAD_DATA || partition != 1 || is_vendors(c))
            return result;
        log_write(LOG_WARNING, LOG_TAG, "compilation fails with %s: falls back to nnapi-reference",
                  result_name(result));
    }
    c->on = reference_device();
    c->may_fall_back = false;
    c->fell_back = true;
    return prepare_reference(c, &plain_preparation, &c->prepared);
}

/* Of a plan of one step: each argument has one role. */
static int list_simple_roles(ANeuralNetworksCompilation *c)
{
    const struct graph *g = &c->model->model.graph[0];
    const size_t n = (size_t) g->n_inputs + g->n_outputs;
    struct argument_roles *of = arena_alloc(c->arena, n + 1, sizeof(*of));
    struct step_role *role = arena_alloc(c->arena, n + 1, sizeof(*role));

    if (!of || !role)
        return FAIL(OUT_OF_MEMORY, "no memory for the roles of %zu arguments", n);
    for (uint32_t i = 0; i < n; i++) {
        const bool is_output = i >= g->n_inputs;
        role[i] =
            (struct step_role){ c->on, c->prepared, is_output, is_output ? i - g->n_inputs : i };
        of[i] = (struct argument_roles){ 1, &role[i] };
    }
    c->role = of;
    return ANEURALNETWORKS_NO_ERROR;
}

static int list_roles(ANeuralNetworksCompilation *c)
{
    struct why w;

    if (!c->plan)
        return list_simple_roles(c);
    return compiled_plan_roles(c->plan, c->arena, &c->role, &w) < 0 ? FAIL_WHY(&w)
                                                                    : ANEURALNETWORKS_NO_ERROR;
}

int compilation_finish(ANeuralNetworksCompilation *c)
{
    REQUIRE_GIVEN(c);
    PASS(check_open(c));
    PASS(check_model(c->model));
    const uint64_t begun = clock_steady_ns();
    c->arena = arena_new(0);
    int result = c->arena ? compile(c) : FAIL(OUT_OF_MEMORY, "no memory for a plan");
    if (result == ANEURALNETWORKS_NO_ERROR)
        result = list_roles(c);
    c->state = result == ANEURALNETWORKS_NO_ERROR ? COMPILATION_VALID : COMPILATION_INVALID;
    if (telemetry_is_on())
        compilation_report(c, result, clock_steady_ns() - begun);
    return result;
}

int compilation_check_finished(const ANeuralNetworksCompilation *c)
{
    if (c->state == COMPILATION_VALID)
        return ANEURALNETWORKS_NO_ERROR;
    return FAIL(BAD_STATE, "the compilation is %s",
                c->state == COMPILATION_OPEN ? "not finished" : "invalid: its finish has failed");
}

int compilation_fallback(ANeuralNetworksCompilation *c, struct hal_prepared_model **ret)
{
    int result = ANEURALNETWORKS_NO_ERROR;

    if (is_vendors(c))
        return FAIL(OP_FAILED, "nnapi-reference has no vendors' operations");
    pthread_mutex_lock(&c->lock);
    if (!c->fallback)
        result = prepare_reference(c, &plain_preparation, &c->fallback);
    *ret = c->fallback;
    pthread_mutex_unlock(&c->lock);
    return result;
}

int compilation_step_fallback(ANeuralNetworksCompilation *c, uint32_t step,
                              struct hal_prepared_model **ret)
{
    pthread_mutex_lock(&c->lock);
    int result = compiled_plan_prepare_fallback(c->plan, step);
    *ret = c->plan->step[step].fallback;
    pthread_mutex_unlock(&c->lock);
    return result;
}

/* ---- arguments */

const struct operand *compilation_argument(const ANeuralNetworksCompilation *c, bool is_output,
                                           uint32_t index)
{
    const struct graph *g = &c->model->model.graph[0];

    if (index >= (is_output ? g->n_outputs : g->n_inputs))
        return NULL;
    return &g->operand[is_output ? g->output[index] : g->input[index]];
}

uint32_t compilation_roles(const ANeuralNetworksCompilation *c, bool is_output, uint32_t index,
                           const struct step_role **ret)
{
    const struct argument_roles *roles =
        &c->role[is_output ? c->model->model.graph[0].n_inputs + index : index];

    *ret = roles->role;
    return roles->n;
}

/* ---- preferred memory */

static int check_preference(const ANeuralNetworksCompilation *c, bool is_output, uint32_t index,
                            const uint32_t *ret)
{
    REQUIRE_GIVEN(c);
    REQUIRE_GIVEN(ret);
    PASS(compilation_check_finished(c));
    if (!compilation_argument(c, is_output, index))
        return FAIL(BAD_DATA, "there is no %s %u", is_output ? "output" : "input", index);
    return ANEURALNETWORKS_NO_ERROR;
}

int compilation_alignment(const ANeuralNetworksCompilation *c, bool is_output, uint32_t index,
                          uint32_t *ret)
{
    PASS(check_preference(c, is_output, index, ret));
    const struct step_role *role;

    *ret =
        compilation_roles(c, is_output, index, &role) ? PREFERRED_ALIGNMENT : _Alignof(max_align_t);
    return ANEURALNETWORKS_NO_ERROR;
}

int compilation_padding(const ANeuralNetworksCompilation *c, bool is_output, uint32_t index,
                        uint32_t *ret)
{
    PASS(check_preference(c, is_output, index, ret));
    const struct step_role *role;

    *ret = 1;
    for (uint32_t n = compilation_roles(c, is_output, index, &role); n-- > 0;)
        if (device_padding(role[n].device) > *ret)
            *ret = device_padding(role[n].device);
    return ANEURALNETWORKS_NO_ERROR;
}

/* ---- supported operations */

static int add_supported(const ANeuralNetworksModel *m, const ANeuralNetworksDevice *d,
                         bool *supported)
{
    struct arena *a = arena_new(0);
    const bool *of_device;
    struct why w;

    if (!a)
        return FAIL(OUT_OF_MEMORY, "no memory for the operations of %s", d->name);
    int result = ANEURALNETWORKS_NO_ERROR;
    if (partition_supported(m, 0, d, a, &of_device, &w) < 0)
        result = FAIL_WHY(&w);
    for (uint32_t i = 0; i < m->model.graph[0].n_operations && !result; i++)
        supported[m->order[i]] = supported[m->order[i]] || of_device[i];
    arena_free(a);
    return result;
}

int supported_operations(const ANeuralNetworksModel *m, const ANeuralNetworksDevice *const *device,
                         uint32_t n, bool *supported)
{
    REQUIRE_GIVEN(m);
    REQUIRE_GIVEN(device);
    REQUIRE_GIVEN(supported);
    if (!n)
        return FAIL(BAD_DATA, "no devices");
    PASS(check_model(m));
    for (uint32_t i = 0; i < m->model.graph[0].n_operations; i++)
        supported[i] = false;
    PASS(check_devices(device, n));
    for (uint32_t i = 0; i < n; i++)
        PASS(add_supported(m, device[i], supported));
    return ANEURALNETWORKS_NO_ERROR;
}
