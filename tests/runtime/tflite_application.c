/* An application of TensorFlow Lite whose models run on NNAPI: for check_tflite_delegate.py.
 *
 *     tflite_application LIBRARY MODEL DIR CASE...
 *
 * LIBRARY: libtensorflowlite_c.so, which opens libneuralnetworks.so by its name.  For each CASE it
 * reads DIR/CASE.in0, .in1 ... and writes DIR/CASE.out0, .out1 ... (raw bytes).  States of the
 * model are zero at first; a case seq_* after another seq_* continues with the states of that. */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Functions of TensorFlow Lite's C interface, which has no header here. */
static struct {
    void *(*load)(const char *path);
    void *(*new_options)(void);
    void (*use_nnapi)(void *options, bool enable);
    void *(*new_interpreter)(const void *model, const void *options);
    int (*allocate)(void *interpreter);
    int (*reset_states)(void *interpreter);
    int32_t (*n_inputs)(const void *interpreter);
    int32_t (*n_outputs)(const void *interpreter);
    void *(*input)(const void *interpreter, int32_t index);
    void *(*output)(const void *interpreter, int32_t index);
    size_t (*size)(const void *tensor);
    void *(*data)(const void *tensor);
    int (*invoke)(void *interpreter);
    void (*free_interpreter)(void *interpreter);
    void (*free_options)(void *options);
    void (*free_model)(void *model);
} tflite;

/* In the order of the structure. */
static const char *const names[] = {
    "ModelCreateFromFile",
    "InterpreterOptionsCreate",
    "InterpreterOptionsSetUseNNAPI",
    "InterpreterCreate",
    "InterpreterAllocateTensors",
    "InterpreterResetVariableTensors",
    "InterpreterGetInputTensorCount",
    "InterpreterGetOutputTensorCount",
    "InterpreterGetInputTensor",
    "InterpreterGetOutputTensor",
    "TensorByteSize",
    "TensorData",
    "InterpreterInvoke",
    "InterpreterDelete",
    "InterpreterOptionsDelete",
    "ModelDelete",
};
enum { FUNCTIONS = sizeof(names) / sizeof(names[0]) };
_Static_assert(sizeof(tflite) == FUNCTIONS * sizeof(void *), "a name for each function");

static void need(bool ok, const char *what)
{
    if (ok)
        return;
    fprintf(stderr, "tflite_application: %s\n", what);
    exit(EXIT_FAILURE);
}

static void open_library(const char *path)
{
    void *address[FUNCTIONS], *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);

    need(library, dlerror());
    for (int i = 0; i < FUNCTIONS; i++) {
        char symbol[64];
        snprintf(symbol, sizeof(symbol), "TfLite%s", names[i]);
        need((address[i] = dlsym(library, symbol)), symbol);
    }
    memcpy(&tflite, address, sizeof(tflite));
}

static void transfer(const char *dir, const char *name, const char *kind, int32_t index,
                     const void *tensor)
{
    char path[4096];
    bool write = strcmp(kind, "out") == 0;
    size_t size = tflite.size(tensor);

    snprintf(path, sizeof(path), "%s/%s.%s%d", dir, name, kind, index);
    FILE *f = fopen(path, write ? "wb" : "rb");
    need(f, path);
    size_t n =
        write ? fwrite(tflite.data(tensor), 1, size, f) : fread(tflite.data(tensor), 1, size, f);
    need(n == size && (write || fgetc(f) == EOF) && fclose(f) == 0, path);
}

static void run_case(void *interpreter, const char *dir, const char *name)
{
    for (int32_t i = 0; i < tflite.n_inputs(interpreter); i++)
        transfer(dir, name, "in", i, tflite.input(interpreter, i));
    need(tflite.invoke(interpreter) == 0, "Invoke fails");
    for (int32_t i = 0; i < tflite.n_outputs(interpreter); i++)
        transfer(dir, name, "out", i, tflite.output(interpreter, i));
}

int main(int argc, char **argv)
{
    need(argc > 4, "usage: tflite_application LIBRARY MODEL DIR CASE...");
    open_library(argv[1]);
    void *model = tflite.load(argv[2]), *options = tflite.new_options();
    need(model && options, "the model is not loaded");
    tflite.use_nnapi(options, true);
    void *interpreter = tflite.new_interpreter(model, options);
    need(interpreter, "InterpreterCreate fails");
    need(tflite.allocate(interpreter) == 0, "AllocateTensors fails");
    for (int i = 4; i < argc; i++) {
        bool continues = strncmp(argv[i], "seq_", 4) == 0 && strncmp(argv[i - 1], "seq_", 4) == 0;
        if (!continues)
            need(tflite.reset_states(interpreter) == 0, "ResetVariableTensors fails");
        run_case(interpreter, argv[3], argv[i]);
    }
    tflite.free_interpreter(interpreter);
    tflite.free_options(options);
    tflite.free_model(model);
    return 0;
}
