/* A TensorFlow Lite model under construction, and its serialisation as a .tflite file in memory.
 *
 * The codes, the positions of members and the layout are those of TensorFlow Lite's schema.fbs. */
#ifndef TFLITE_GRAPH_H
#define TFLITE_GRAPH_H

#include <stdint.h>

#include "tflite_arena.h"

enum tfl_type {
    TFL_FLOAT32 = 0,
    TFL_FLOAT16 = 1,
    TFL_INT32 = 2,
    TFL_UINT8 = 3,
    TFL_BOOL = 6,
    TFL_INT16 = 7,
    TFL_INT8 = 9
};

/* Builtin operators that the driver uses. */
enum tfl_code {
    TFL_ADD = 0,
    TFL_AVERAGE_POOL_2D = 1,
    TFL_CONCATENATION = 2,
    TFL_CONV_2D = 3,
    TFL_DEPTHWISE_CONV_2D = 4,
    TFL_DEPTH_TO_SPACE = 5,
    TFL_DEQUANTIZE = 6,
    TFL_EMBEDDING_LOOKUP = 7,
    TFL_FLOOR = 8,
    TFL_FULLY_CONNECTED = 9,
    TFL_HASHTABLE_LOOKUP = 10,
    TFL_L2_NORMALIZATION = 11,
    TFL_L2_POOL_2D = 12,
    TFL_LOCAL_RESPONSE_NORMALIZATION = 13,
    TFL_LOGISTIC = 14,
    TFL_LSH_PROJECTION = 15,
    TFL_LSTM = 16,
    TFL_MAX_POOL_2D = 17,
    TFL_MUL = 18,
    TFL_RELU = 19,
    TFL_RELU_N1_TO_1 = 20,
    TFL_RELU6 = 21,
    TFL_RESHAPE = 22,
    TFL_RESIZE_BILINEAR = 23,
    TFL_RNN = 24,
    TFL_SOFTMAX = 25,
    TFL_SPACE_TO_DEPTH = 26,
    TFL_SVDF = 27,
    TFL_TANH = 28,
    TFL_PAD = 34,
    TFL_UNIDIRECTIONAL_SEQUENCE_RNN = 35,
    TFL_GATHER = 36,
    TFL_BATCH_TO_SPACE_ND = 37,
    TFL_SPACE_TO_BATCH_ND = 38,
    TFL_TRANSPOSE = 39,
    TFL_MEAN = 40,
    TFL_SUB = 41,
    TFL_DIV = 42,
    TFL_SQUEEZE = 43,
    TFL_UNIDIRECTIONAL_SEQUENCE_LSTM = 44,
    TFL_STRIDED_SLICE = 45,
    TFL_BIDIRECTIONAL_SEQUENCE_RNN = 46,
    TFL_EXP = 47,
    TFL_TOPK_V2 = 48,
    TFL_SPLIT = 49,
    TFL_LOG_SOFTMAX = 50,
    TFL_BIDIRECTIONAL_SEQUENCE_LSTM = 52,
    TFL_CAST = 53,
    TFL_PRELU = 54,
    TFL_MAXIMUM = 55,
    TFL_ARG_MAX = 56,
    TFL_MINIMUM = 57,
    TFL_LESS = 58,
    TFL_NEG = 59,
    TFL_PADV2 = 60,
    TFL_GREATER = 61,
    TFL_GREATER_EQUAL = 62,
    TFL_LESS_EQUAL = 63,
    TFL_SELECT = 64,
    TFL_SLICE = 65,
    TFL_SIN = 66,
    TFL_TRANSPOSE_CONV = 67,
    TFL_TILE = 69,
    TFL_EXPAND_DIMS = 70,
    TFL_EQUAL = 71,
    TFL_NOT_EQUAL = 72,
    TFL_LOG = 73,
    TFL_SUM = 74,
    TFL_SQRT = 75,
    TFL_RSQRT = 76,
    TFL_POW = 78,
    TFL_ARG_MIN = 79,
    TFL_REDUCE_PROD = 81,
    TFL_REDUCE_MAX = 82,
    TFL_PACK = 83,
    TFL_LOGICAL_OR = 84,
    TFL_LOGICAL_AND = 86,
    TFL_LOGICAL_NOT = 87,
    TFL_REDUCE_MIN = 89,
    TFL_FLOOR_DIV = 90,
    TFL_REDUCE_ANY = 91,
    TFL_FILL = 94,
    TFL_RESIZE_NEAREST_NEIGHBOR = 97,
    TFL_SQUARED_DIFFERENCE = 99,
    TFL_MIRROR_PAD = 100,
    TFL_ABS = 101,
    TFL_REVERSE_V2 = 105,
    TFL_RANK = 110,
    TFL_ELU = 111,
    TFL_QUANTIZE = 114,
    TFL_HARD_SWISH = 117,
    TFL_IF = 118,
    TFL_WHILE = 119,
    TFL_BATCH_MATMUL = 126,
    TFL_REDUCE_ALL = 140
};

/* Members of the union BuiltinOptions that the driver writes; the values of each are listed in
 * tflite_graph.c.  Operators whose options have no members do without. */
enum tfl_options {
    OPTIONS_NONE = 0,
    OPTIONS_CONV_2D = 1,
    OPTIONS_DEPTHWISE_CONV_2D = 2,
    OPTIONS_LSH_PROJECTION = 4,
    OPTIONS_POOL_2D = 5,
    OPTIONS_SVDF = 6,
    OPTIONS_RNN = 7,
    OPTIONS_FULLY_CONNECTED = 8,
    OPTIONS_SOFTMAX = 9,
    OPTIONS_CONCATENATION = 10,
    OPTIONS_ADD = 11,
    OPTIONS_L2_NORM = 12,
    OPTIONS_LOCAL_RESPONSE_NORMALIZATION = 13,
    OPTIONS_LSTM = 14,
    OPTIONS_RESIZE_BILINEAR = 15,
    OPTIONS_SPACE_TO_DEPTH = 19,
    OPTIONS_MUL = 21,
    OPTIONS_GATHER = 23,
    OPTIONS_REDUCER = 27,
    OPTIONS_SUB = 28,
    OPTIONS_DIV = 29,
    OPTIONS_SQUEEZE = 30,
    OPTIONS_SEQUENCE_RNN = 31,
    OPTIONS_STRIDED_SLICE = 32,
    OPTIONS_SPLIT = 35,
    OPTIONS_ARG_MAX = 40,
    OPTIONS_TRANSPOSE_CONV = 49,
    OPTIONS_ARG_MIN = 57,
    OPTIONS_PACK = 59,
    OPTIONS_BIDIRECTIONAL_SEQUENCE_LSTM = 69,
    OPTIONS_BIDIRECTIONAL_SEQUENCE_RNN = 70,
    OPTIONS_UNIDIRECTIONAL_SEQUENCE_LSTM = 71,
    OPTIONS_RESIZE_NEAREST_NEIGHBOR = 74,
    OPTIONS_MIRROR_PAD = 77,
    OPTIONS_IF = 92,
    OPTIONS_WHILE = 93,
    OPTIONS_DEPTH_TO_SPACE = 94,
    OPTIONS_BATCH_MATMUL = 101
};

enum { TFL_MAX_RANK = 16, TFL_OMITTED = -1 };

struct tfl_tensor {
    enum tfl_type type;
    bool rank_known;
    uint32_t n_dims;
    int32_t dims[TFL_MAX_RANK]; /* -1: unknown */
    uint32_t n_scales, channel_dim;
    const float *scales; /* n_scales of them: 0 none, 1 of the tensor, else of each channel */
    int32_t zero;
    bool is_variable; /* keeps its value between two operators, one of which changes it */
    const void *data; /* a constant's value, of `length` bytes; NULL: not a constant */
    size_t length;
};

struct tfl_operator {
    enum tfl_code code;
    enum tfl_options options;
    const int32_t *values; /* of the options */
    uint32_t n_in, n_out, n_intermediates;
    const int32_t *in, *out, *intermediates; /* tensors, or TFL_OMITTED */
};

/* A subgraph.  Everything that it points to lies in the arena. */
struct tfl_graph {
    struct arena *arena;
    struct tfl_tensor *tensor;
    struct tfl_operator *op;
    uint32_t n_tensors, n_ops, tensor_capacity, op_capacity;
    uint32_t n_in, n_out;
    const int32_t *in, *out;
};

/* Both copy what they are given; a failure sets arena->failed, and the tensor is TFL_OMITTED. */
int32_t tfl_add_tensor(struct tfl_graph *g, const struct tfl_tensor *t);
void tfl_add_operator(struct tfl_graph *g, const struct tfl_operator *op);

/* Whether a tensor is a variable.  Operators that a delegate takes over are not run in order with
 * those that change a variable. */
bool tfl_has_variables(const struct tfl_graph *graph, uint32_t n_graphs);

/* The model of these subgraphs, the first one being the main one, as malloc()ed bytes.  NULL: out
 * of memory, or larger than 2 GiB. */
uint8_t *tfl_serialise(const struct tfl_graph *graph, uint32_t n_graphs, size_t *ret_size);

#endif
