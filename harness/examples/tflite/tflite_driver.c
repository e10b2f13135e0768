/* A driver that runs models on TensorFlow Lite:
 *
 *     lib:./tflite_driver.so?library=PATH&threads=N&xnnpack=0|1&loops=0|1&verbose=0|1
 *
 * hal.h is the contract.  A model is checked and copied (tflite_hal_model.c), converted to a
 * .tflite model in memory by one rule for each operation (tflite_convert.c, tflite_ops_*.c), and
 * run by an interpreter (tflite_library.c) on the memory of a request (tflite_prepared.c). */
#include <errno.h>
#include <float.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hal_validate.h"
#include "tflite_convert.h"
#include "tflite_failure.h"
#include "tflite_prepared.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

struct driver {
    struct hal_driver base;
    struct tfl_library library;
    bool loops;
    char version[64];
};

static const struct hal_operand_performance performance[] = {
    { HAL_TYPE_FLOAT32, { 1, 1 } },
    { HAL_TYPE_INT32, { 1, 1 } },
    { HAL_TYPE_TENSOR_FLOAT32, { 1, 1 } },
    { HAL_TYPE_TENSOR_INT32, { 1, 1 } },
    { HAL_TYPE_TENSOR_QUANT8_ASYMM, { 1, 1 } },
    { HAL_TYPE_BOOL, { 1, 1 } },
    { HAL_TYPE_TENSOR_QUANT16_SYMM, { 1, 1 } },
    { HAL_TYPE_TENSOR_BOOL8, { 1, 1 } },
    { HAL_TYPE_TENSOR_QUANT8_SYMM_PER_CHANNEL, { 1, 1 } },
    { HAL_TYPE_TENSOR_QUANT8_SYMM, { 1, 1 } },
    { HAL_TYPE_TENSOR_QUANT8_ASYMM_SIGNED, { 1, 1 } },
};
static const struct hal_operand_performance performance_1_0[] = {
    { HAL_TYPE_TENSOR_FLOAT32, { 1, 1 } },
    { HAL_TYPE_TENSOR_QUANT8_ASYMM, { 1, 1 } },
};
static const struct hal_capabilities capabilities = {
    { 1, 1 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, COUNT(performance), performance,
};

/* Members that the version does not have are 0; types that it does not have get no row. */
static enum hal_status get_capabilities(struct hal_driver *self, enum hal_version version,
                                        struct hal_capabilities *ret_capabilities)
{
    const struct hal_performance none = { 0, 0 };

    (void) self;
    failure_clear();
    if (!has_entry(version, HAL_1_0))
        return failure_of(HAL_INVALID_ARGUMENT, "the driver lacks this HAL version");
    *ret_capabilities = capabilities;
    if (version < HAL_1_3) {
        ret_capabilities->if_performance = ret_capabilities->while_performance = none;
        ret_capabilities->n_operands--; /* TENSOR_QUANT8_ASYMM_SIGNED */
    }
    if (version < HAL_1_2) {
        ret_capabilities->relaxed_scalar = none;
        ret_capabilities->operand = performance_1_0;
        ret_capabilities->n_operands = COUNT(performance_1_0);
    }
    if (version < HAL_1_1)
        ret_capabilities->relaxed_tensor = none;
    return HAL_NONE;
}

static enum hal_status get_type(struct hal_driver *self, enum hal_device_type *ret_type)
{
    (void) self;
    *ret_type = HAL_DEVICE_CPU;
    return HAL_NONE;
}

static enum hal_status get_version_string(struct hal_driver *self, const char **ret_version)
{
    *ret_version = ((struct driver *) self)->version;
    return HAL_NONE;
}

static enum hal_device_status get_status(struct hal_driver *self)
{
    (void) self;
    return HAL_DEVICE_AVAILABLE;
}

static void get_failure_text(struct hal_driver *self, char *ret_text, size_t size)
{
    (void) self;
    failure_get(ret_text, size);
}

/* ---- models */

/* The shapes of the inputs of a converted model; false: not all are known. */
static bool input_shapes(const struct tfl_graph *g, struct tfl_shape *ret)
{
    bool is_known = true;

    for (uint32_t i = 0; i < g->n_in; i++) {
        const struct tfl_tensor *t = &g->tensor[g->in[i]];
        ret[i].n_dims = t->n_dims;
        memcpy(ret[i].dims, t->dims, sizeof(ret[i].dims));
        is_known = is_known && t->rank_known;
        for (uint32_t k = 0; k < t->n_dims; k++)
            is_known = is_known && t->dims[k] > 0;
    }
    return is_known;
}

enum answer { REJECTED, ACCEPTED, SHAPES_UNKNOWN };

/* Asks TensorFlow Lite whether it accepts a converted model, for these shapes. */
static enum answer try_model(const struct driver *d, const struct graphs *g)
{
    size_t size = 0;
    uint8_t *bytes = tfl_serialise(g->graph, g->n, &size);
    struct tfl_shape *shapes = calloc((size_t) g->graph[0].n_in + 1, sizeof(*shapes));
    enum answer answer = REJECTED;

    if (bytes && shapes && !input_shapes(&g->graph[0], shapes)) {
        answer = SHAPES_UNKNOWN;
    } else if (bytes && shapes) {
        struct tfl_interpreter *t = tfl_new_interpreter(&d->library, bytes, size, g->graph[0].n_in,
                                                        shapes, !tfl_has_variables(g->graph, g->n));
        answer = t ? ACCEPTED : REJECTED;
        tfl_free_interpreter(t);
    }
    free(shapes);
    free(bytes);
    return answer;
}

/* An operation is supported if it has a rule, and TensorFlow Lite accepts the result alone.  It can
 * be asked only where the shapes of all operands are known; else it is asked about the whole model,
 * and if it rejects that, the operations that it was not asked about are not supported. */
static enum hal_status find_supported(const struct driver *d, const struct model *m,
                                      bool *supported)
{
    const uint32_t n = m->graph[0].n_steps;
    enum answer *answers = arena_take(m->arena, n, sizeof(*answers));
    bool all = true, asked = true;

    for (uint32_t i = 0; answers && i < n; i++) {
        const struct graphs *g = convert_operation(m, i);
        answers[i] = g ? try_model(d, g) : REJECTED;
        supported[i] = answers[i] != REJECTED;
        all = all && supported[i];
        asked = asked && answers[i] != SHAPES_UNKNOWN;
    }
    const struct graphs *whole = answers && all && !asked ? convert_model(m) : NULL;
    if (whole && try_model(d, whole) == REJECTED)
        for (uint32_t i = 0; i < n; i++)
            supported[i] = answers[i] == ACCEPTED;
    return m->arena->failed ? HAL_GENERAL_FAILURE : HAL_NONE;
}

static enum hal_status get_supported_operations(struct hal_driver *self, enum hal_version version,
                                                const struct hal_model *model, bool *supported,
                                                uint32_t *ret_n)
{
    struct arena arena = { 0 };
    struct model m = { 0 };
    enum hal_status status;

    failure_clear();
    status = load_model(version, model, &arena, &m);
    m.loops = ((struct driver *) self)->loops;
    if (status == HAL_NONE)
        status = find_supported((struct driver *) self, &m, supported);
    if (status == HAL_NONE)
        *ret_n = m.graph[0].n_steps;
    arena_free(&arena);
    return status;
}

/* A valid model that the driver does not support launches; the callback gets the error. */
static enum hal_status prepare_model(struct hal_driver *self, enum hal_version version,
                                     const struct hal_model *model,
                                     const struct hal_prepare_config *config,
                                     struct hal_prepare_callback *callback)
{
    struct arena arena = { 0 };
    struct model m = { 0 };
    struct hal_prepared_model *prepared = NULL;
    enum hal_status launched, status;
    char text[HAL_TEXT_BYTES];

    failure_clear();
    launched = failure_of(hal_validate_prepare_config(version, config, text, sizeof(text)), text);
    if (launched == HAL_NONE)
        launched = load_model(version, model, &arena, &m);
    status = launched;
    m.loops = ((struct driver *) self)->loops;
    if (status == HAL_NONE && is_past_deadline(version, config->deadline))
        status = HAL_MISSED_DEADLINE_PERSISTENT;
    if (status == HAL_NONE)
        status = new_prepared_model(&((struct driver *) self)->library, &arena, &m, &prepared);
    arena_free(&arena);
    callback->notify(callback, status, prepared);
    return launched;
}

/* ---- opening */

static void close_driver(struct hal_driver *self)
{
    struct driver *d = (struct driver *) self;

    tfl_close_library(&d->library);
    free(d);
}

static const struct hal_driver methods = {
    .abi_version = HAL_ABI_VERSION,
    .hal_version = HAL_FL8,
    .lowest_version = HAL_1_0,
    .name = "tflite",
    .get_capabilities = get_capabilities,
    .get_type = get_type,
    .get_version_string = get_version_string,
    .get_status = get_status,
    .get_failure_text = get_failure_text,
    .get_supported_operations = get_supported_operations,
    .prepare_model = prepare_model,
    .close = close_driver,
};

static bool parse_number(const char *text, long low, long high, int *ret)
{
    char *end;

    errno = 0;
    const long value = strtol(text, &end, 10);
    if (end == text || *end || errno || value < low || value > high)
        return false;
    *ret = (int) value;
    return true;
}

/* Reads the arguments of the target's URI; cuts the text into its parts. */
static bool parse_arguments(char *text, struct driver *d, const char **ret_path, char *why,
                            size_t why_size)
{
    int xnnpack = 0, verbose = 0, loops = 0;
    const struct {
        const char *name;
        int low, high, *to;
    } numbers[] = { { "threads", 1, 64, &d->library.threads },
                    { "xnnpack", 0, 1, &xnnpack },
                    { "verbose", 0, 1, &verbose },
                    { "loops", 0, 1, &loops } };

    *ret_path = NULL;
    d->library.threads = 1;
    for (char *part = text, *next; part && *part; part = next) {
        next = strchr(part, '&');
        if (next)
            *next++ = 0;
        char *value = strchr(part, '=');
        if (value)
            *value++ = 0;
        size_t i = 0;
        while (i < COUNT(numbers) && strcmp(part, numbers[i].name) != 0)
            i++;
        if (value && strcmp(part, "library") == 0) {
            *ret_path = value;
        } else if (!value || i == COUNT(numbers)) {
            snprintf(why, why_size,
                     "unknown argument %s; the arguments are library=PATH, threads=N, xnnpack=0|1, "
                     "loops=0|1 and verbose=0|1",
                     part);
            return false;
        } else if (!parse_number(value, numbers[i].low, numbers[i].high, numbers[i].to)) {
            snprintf(why, why_size, "%s=%s: a number from %d to %d is expected", part, value,
                     numbers[i].low, numbers[i].high);
            return false;
        }
    }
    d->library.xnnpack = xnnpack;
    d->library.verbose = verbose;
    d->loops = loops;
    if (!*ret_path || !**ret_path)
        snprintf(why, why_size, "library=PATH is missing: the path of libtensorflowlite_c.so");
    return *ret_path && **ret_path;
}

/* The only symbol that the library exports: it is built with -fvisibility=hidden, so that its
 * functions are not confused with those of the program that loads it. */
__attribute__((visibility("default"))) hal_driver_open_fn hal_driver_open;
struct hal_driver *hal_driver_open(uint32_t abi_version, const char *arguments, char *why,
                                   size_t why_size)
{
    struct driver *d = abi_version == HAL_ABI_VERSION ? calloc(1, sizeof(*d)) : NULL;
    char *text = d ? strdup(arguments) : NULL;
    const char *path;

    if (!text) {
        snprintf(why, why_size, "%s",
                 abi_version == HAL_ABI_VERSION ? "out of memory"
                                                : "it was built with another version of hal.h");
    } else if (parse_arguments(text, d, &path, why, why_size) &&
               tfl_open_library(&d->library, path, why, why_size)) {
        d->base = methods;
        snprintf(d->version, sizeof(d->version), "TensorFlow Lite %s", d->library.version);
        free(text);
        return &d->base;
    }
    free(text);
    free(d);
    return NULL;
}
