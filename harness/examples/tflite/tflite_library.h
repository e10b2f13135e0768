/* The TensorFlow Lite library: opened by its path, used through its C interface. */
#ifndef TFLITE_LIBRARY_H
#define TFLITE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct tfl_api;

struct tfl_library {
    void *handle;
    const struct tfl_api *api;
    const char *version;
    int threads;
    bool xnnpack;
    bool verbose; /* prints what TensorFlow Lite reports */
};

/* Opens the library.  Returns false, with the reason in `why`: not a TensorFlow Lite C library. */
bool tfl_open_library(struct tfl_library *l, const char *path, char *why, size_t why_size);
void tfl_close_library(struct tfl_library *l);

struct tfl_shape {
    uint32_t n_dims;
    int32_t dims[16];
};

/* A model ready to run on inputs of given shapes.  One execution at a time. */
struct tfl_interpreter;

/* bytes: a .tflite file, which must outlive the interpreter.  shapes: of each input.  delegates:
 * whether XNNPACK may run operators, if the library is opened with it.  NULL:
 * TensorFlow Lite rejects the model; what it reports is the reason of the failure. */
struct tfl_interpreter *tfl_new_interpreter(const struct tfl_library *l, const uint8_t *bytes,
                                            size_t size, uint32_t n_inputs,
                                            const struct tfl_shape *shapes, bool delegates);
void tfl_free_interpreter(struct tfl_interpreter *t);

/* Address and size of an input; NULL: it has no memory. */
void *tfl_input(struct tfl_interpreter *t, uint32_t i, size_t *ret_size);
bool tfl_invoke(struct tfl_interpreter *t);
/* After tfl_invoke(): address, size and shape of an output. */
const void *tfl_output(struct tfl_interpreter *t, uint32_t i, size_t *ret_size,
                       struct tfl_shape *ret_shape);

#endif
