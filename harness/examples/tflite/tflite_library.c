#include "tflite_library.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tflite_failure.h"

/* The functions of TensorFlow Lite's c_api.h that the driver calls, and those of its XNNPACK
 * delegate.  A status is 0 for success. */
typedef void report_fn(void *user, const char *format, va_list arguments);

struct tfl_api {
    const char *(*version)(void);
    void *(*model_create)(const void *bytes, size_t size);
    void (*model_delete)(void *model);
    void *(*options_create)(void);
    void (*options_delete)(void *options);
    void (*options_set_threads)(void *options, int32_t n);
    void (*options_set_reporter)(void *options, report_fn *report, void *user);
    void *(*create)(const void *model, const void *options);
    void (*delete)(void *interpreter);
    int (*resize_input)(void *interpreter, int32_t i, const int *dims, int32_t n);
    int (*allocate_tensors)(void *interpreter);
    int (*invoke)(void *interpreter);
    void *(*input_tensor)(const void *interpreter, int32_t i);
    const void *(*output_tensor)(const void *interpreter, int32_t i);
    int32_t (*tensor_rank)(const void *tensor);
    int32_t (*tensor_dim)(const void *tensor, int32_t i);
    size_t (*tensor_size)(const void *tensor);
    void *(*tensor_data)(const void *tensor);
    int (*modify_graph)(void *interpreter, void *delegate);
    void *(*xnnpack_create)(const void *options);
    void (*xnnpack_delete)(void *delegate);
};

/* Where dlsym() puts the address of each function, in the order of struct tfl_api. */
static const char *const symbols[] = {
    "TfLiteVersion",
    "TfLiteModelCreate",
    "TfLiteModelDelete",
    "TfLiteInterpreterOptionsCreate",
    "TfLiteInterpreterOptionsDelete",
    "TfLiteInterpreterOptionsSetNumThreads",
    "TfLiteInterpreterOptionsSetErrorReporter",
    "TfLiteInterpreterCreate",
    "TfLiteInterpreterDelete",
    "TfLiteInterpreterResizeInputTensor",
    "TfLiteInterpreterAllocateTensors",
    "TfLiteInterpreterInvoke",
    "TfLiteInterpreterGetInputTensor",
    "TfLiteInterpreterGetOutputTensor",
    "TfLiteTensorNumDims",
    "TfLiteTensorDim",
    "TfLiteTensorByteSize",
    "TfLiteTensorData",
    "TfLiteInterpreterModifyGraphWithDelegate",
    "TfLiteXNNPackDelegateCreate",
    "TfLiteXNNPackDelegateDelete",
};
enum { N_SYMBOLS = sizeof(symbols) / sizeof(symbols[0]), FIRST_OF_XNNPACK = N_SYMBOLS - 3 };

_Static_assert(sizeof(struct tfl_api) == N_SYMBOLS * sizeof(void *), "a symbol for each function");

bool tfl_open_library(struct tfl_library *l, const char *path, char *why, size_t why_size)
{
    void *address[N_SYMBOLS];
    struct tfl_api *api = malloc(sizeof(*api));

    l->handle = api ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!l->handle) {
        const char *reason = api ? dlerror() : "out of memory";
        snprintf(why, why_size, "library: %s", reason ? reason : path);
        free(api);
        return false;
    }
    for (int i = 0; i < N_SYMBOLS; i++) {
        address[i] = dlsym(l->handle, symbols[i]);
        if (!address[i] && (i < FIRST_OF_XNNPACK || l->xnnpack)) {
            snprintf(why, why_size, "%s has no function %s: %s", path, symbols[i],
                     i < FIRST_OF_XNNPACK ? "it is not TensorFlow Lite's C library"
                                          : "use xnnpack=0");
            dlclose(l->handle);
            free(api);
            return false;
        }
    }
    memcpy(api, address, sizeof(*api));
    l->api = api;
    l->version = api->version();
    return true;
}

void tfl_close_library(struct tfl_library *l)
{
    /* The library stays loaded: its threads and its static objects may still be in use. */
    free((void *) (uintptr_t) l->api);
    l->api = NULL;
}

/* ---- interpreters */

struct tfl_interpreter {
    const struct tfl_api *api;
    void *model, *options, *delegate, *interpreter;
};

/* user: the library. */
static void report(void *user, const char *format, va_list arguments)
{
    const struct tfl_library *l = user;
    va_list again;

    va_copy(again, arguments);
    failure_set_list(format, arguments);
    if (l->verbose) {
        fputs("TensorFlow Lite: ", stderr);
        vfprintf(stderr, format, again);
        fputc('\n', stderr);
    }
    va_end(again);
}

static bool set_up(struct tfl_interpreter *t, const struct tfl_library *l, uint32_t n_inputs,
                   const struct tfl_shape *shapes, bool delegates)
{
    const struct tfl_api *api = t->api;

    t->interpreter = api->create(t->model, t->options);
    if (!t->interpreter)
        return false;
    for (uint32_t i = 0; i < n_inputs; i++)
        if (api->resize_input(t->interpreter, (int32_t) i, shapes[i].dims,
                              (int32_t) shapes[i].n_dims) != 0)
            return false;
    if (l->xnnpack && delegates) {
        /* The options begin with the number of threads, and grow from version to version: the
         * members that follow are 0, which are the defaults but for the quantised operators. */
        const int32_t options[32] = { l->threads };
        t->delegate = api->xnnpack_create(options);
        if (!t->delegate || api->modify_graph(t->interpreter, t->delegate) != 0)
            return false;
    }
    return api->allocate_tensors(t->interpreter) == 0;
}

struct tfl_interpreter *tfl_new_interpreter(const struct tfl_library *l, const uint8_t *bytes,
                                            size_t size, uint32_t n_inputs,
                                            const struct tfl_shape *shapes, bool delegates)
{
    struct tfl_interpreter *t = calloc(1, sizeof(*t));

    if (!t)
        return NULL;
    t->api = l->api;
    t->model = t->api->model_create(bytes, size);
    t->options = t->api->options_create();
    if (t->model && t->options) {
        t->api->options_set_threads(t->options, l->threads);
        t->api->options_set_reporter(t->options, report, (void *) (uintptr_t) l);
        if (set_up(t, l, n_inputs, shapes, delegates))
            return t;
    }
    tfl_free_interpreter(t);
    return NULL;
}

void tfl_free_interpreter(struct tfl_interpreter *t)
{
    if (!t)
        return;
    if (t->interpreter)
        t->api->delete (t->interpreter);
    if (t->delegate)
        t->api->xnnpack_delete(t->delegate);
    if (t->options)
        t->api->options_delete(t->options);
    if (t->model)
        t->api->model_delete(t->model);
    free(t);
}

void *tfl_input(struct tfl_interpreter *t, uint32_t i, size_t *ret_size)
{
    const void *tensor = t->api->input_tensor(t->interpreter, (int32_t) i);

    *ret_size = t->api->tensor_size(tensor);
    return t->api->tensor_data(tensor);
}

bool tfl_invoke(struct tfl_interpreter *t)
{
    return t->api->invoke(t->interpreter) == 0;
}

const void *tfl_output(struct tfl_interpreter *t, uint32_t i, size_t *ret_size,
                       struct tfl_shape *ret_shape)
{
    const void *tensor = t->api->output_tensor(t->interpreter, (int32_t) i);
    const int32_t rank = t->api->tensor_rank(tensor);

    *ret_size = t->api->tensor_size(tensor);
    ret_shape->n_dims = rank > 0 && rank <= 16 ? (uint32_t) rank : 0;
    for (int32_t k = 0; k < (int32_t) ret_shape->n_dims; k++)
        ret_shape->dims[k] = t->api->tensor_dim(tensor, k);
    return t->api->tensor_data(tensor);
}
