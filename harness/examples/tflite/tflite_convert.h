/* Conversion of a HAL model to a TensorFlow Lite model: the rules, one for each operation, and what
 * they are written with. */
#ifndef TFLITE_CONVERT_H
#define TFLITE_CONVERT_H

#include "tflite_graph.h"
#include "tflite_hal_model.h"

/* The subgraphs of a converted model, the main one first. */
enum { MAX_GRAPHS = 64 };
struct graphs {
    uint32_t n;
    struct tfl_graph graph[MAX_GRAPHS];
};

/* The subgraph that is being converted, and the operation. */
struct converter {
    const struct model *model;
    struct graphs *all;
    uint32_t depth; /* of subgraphs within subgraphs */
    const struct subgraph *from;
    const struct step *step;
    struct tfl_graph *to;
    int32_t *tensor_of; /* of each value of `from`; TFL_OMITTED: none yet */
    bool supported;     /* cleared by the first thing that TensorFlow Lite does not have */
};

/* Types of tensors, as bits, with the TensorFlow Lite types that they become. */
enum {
    F32 = 1 << 0,
    I32 = 1 << 1,
    U8 = 1 << 2,  /* TENSOR_QUANT8_ASYMM */
    S8 = 1 << 3,  /* TENSOR_QUANT8_ASYMM_SIGNED */
    B8 = 1 << 4,  /* TENSOR_BOOL8 */
    S16 = 1 << 5, /* TENSOR_QUANT16_SYMM */
    Y8 = 1 << 6,  /* TENSOR_QUANT8_SYMM: INT8 with the zero point 0 */
    C8 = 1 << 7,  /* TENSOR_QUANT8_SYMM_PER_CHANNEL: INT8 with a scale for each channel */
    F16 = 1 << 8
};
enum { REAL = F32 | U8 | S8 };

/* How an operation is converted.  A rule is chosen by the operation, the number of inputs, and the
 * type and rank of the input `of`. */
struct rule {
    int32_t operation;
    uint8_t least, most; /* number of inputs */
    uint8_t of;
    uint16_t types;
    uint8_t rank;       /* highest; 0: any, also unknown */
    enum tfl_code code; /* for the functions that convert several operations */
    enum tfl_options options;
    void (*convert)(struct converter *c, const struct rule *r);
};

/* The tables of rules; each ends with a rule without a function. */
extern const struct rule element_rules[], move_rules[], image_rules[], sequence_rules[],
    control_rules[];

/* Converts a model.  NULL: an operation is not supported, or out of memory. */
const struct graphs *convert_model(const struct model *m);

/* Converts operation i of the main subgraph alone, its non-constant operands being the inputs and
 * outputs of the result. */
const struct graphs *convert_operation(const struct model *m, uint32_t i);

/* Converts subgraph i of the model, and returns its index among the converted ones.  It gets n_out
 * outputs: its own, then the inputs of the positions that follow. */
int32_t convert_subgraph(struct converter *c, uint32_t i, uint32_t n_out);

/* ---- operands of the operation */

/* NULL: omitted. */
const struct value *input_of(struct converter *c, uint32_t i);
const struct value *output_of(struct converter *c, uint32_t i);
bool is_omitted(struct converter *c, uint32_t i);

/* The tensor of an operand; TFL_OMITTED for an omitted one. */
int32_t in(struct converter *c, uint32_t i);
int32_t out(struct converter *c, uint32_t i);

/* A constant scalar, or `otherwise` if it is omitted.  One that is not constant is not supported.
 */
int32_t number(struct converter *c, uint32_t i, int32_t otherwise);
float real(struct converter *c, uint32_t i, float otherwise);
/* The elements of a constant TENSOR_INT32; NULL: not constant. */
const int32_t *numbers(struct converter *c, uint32_t i, uint32_t *ret_n);

/* Clears c->supported unless the condition holds. */
bool require(struct converter *c, bool condition);
/* The bits of a float, as a value of options. */
int32_t bits_of(float x);

/* An operand's dimension, negative ones counted from the end; not supported if the rank is not
 * known or does not have it. */
uint32_t axis_of(struct converter *c, const struct value *v, int32_t axis);
bool is_shape_known(const struct value *v);
bool is_quantised(const struct value *v);
bool has_same_scale(const struct value *a, const struct value *b);
/* Whether no sum of n products of 8-bit numbers overflows when it is converted to the scale of the
 * output: TensorFlow Lite shifts it left in 32 bits if that scale is smaller than that of a
 * product. */
bool fits_products(const struct value *x, const struct value *weights, const struct value *y,
                   double n);
/* Type bit of a value, as in struct rule. */
uint16_t type_bit(int32_t type);

/* ---- new tensors */

/* The address of a tensor; valid until the next one is added. */
const struct tfl_tensor *tensor_at(struct converter *c, int32_t tensor);
/* An intermediate tensor of the type, scale and zero point of another one, of unknown shape. */
int32_t like(struct converter *c, int32_t tensor);
int32_t constant_ints(struct converter *c, uint32_t n, const int32_t *values);
int32_t constant_int_matrix(struct converter *c, uint32_t rows, uint32_t columns,
                            const int32_t *values);
/* A scalar. */
int32_t constant_int(struct converter *c, int32_t value);
int32_t constant_real(struct converter *c, float value);

/* ---- new operators */

void emit(struct converter *c, enum tfl_code code, enum tfl_options options, const int32_t *values,
          uint32_t n_in, const int32_t *inputs, uint32_t n_out, const int32_t *outputs);
/* Operators without options, of one output. */
void emit1(struct converter *c, enum tfl_code code, int32_t x, int32_t to);
void emit2(struct converter *c, enum tfl_code code, int32_t x, int32_t y, int32_t to);

/* Each writes to the tensor `to`, or to a new one if that is TFL_OMITTED, and returns it. */
int32_t transpose(struct converter *c, int32_t x, uint32_t n, const int32_t *perm, int32_t to);
int32_t reshape(struct converter *c, int32_t x, uint32_t n, const int32_t *dims, int32_t to);
int32_t slice(struct converter *c, int32_t x, uint32_t n, const int32_t *begin, const int32_t *size,
              int32_t to);
int32_t activate(struct converter *c, int32_t x, int32_t activation, int32_t to);
int32_t copy(struct converter *c, int32_t x, int32_t to);
/* The same numbers with the scale, zero point and type of another tensor. */
int32_t requantise(struct converter *c, int32_t x, int32_t as, int32_t to);
/* The same numbers, signed instead of unsigned or the reverse: all stored numbers and the zero
 * point are shifted by 128. */
int32_t other_sign(struct converter *c, int32_t x);
/* An intermediate tensor like x with its type changed by other_sign(). */
int32_t like_other_sign(struct converter *c, int32_t x);

/* The input of an image operation as NHWC; where its output is to go.  finish_image() brings that
 * to the layout of the operation. */
int32_t image_in(struct converter *c, uint32_t i, bool nchw);
int32_t image_out(struct converter *c, bool nchw);
void finish_image(struct converter *c, bool nchw, int32_t image);

#endif
