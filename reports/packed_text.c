#include "reports/packed_text.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "reports/packed_bytes.h"
#include "reports/packed_spec.h"

enum {
    SHORTEST = 64,     /* shorter texts are not worth it */
    LONGEST = 1 << 29, /* a text that a BLOB may unpack to */
    LEVEL = 6,         /* a higher one takes thrice the time for 1 % */
};

/* What texts have in common, the most frequent last: a preset dictionary of zlib, whose
 * checksum is in the header of each BLOB.  It must never change, as stored texts could not be read
 * any more; another version would be another dictionary beside it, chosen by that checksum. */
static const char dictionary[] =
    "LSH_PROJECTION FILL RANDOM_MULTINOMIAL REDUCE_ALL WHILE SPACE_TO_DEPTH ARGMAX AXIS_A"
    "LIGNED_BBOX_TRANSFORM BATCH_TO_SPACE_ND DENSIFY SQUEEZE GENERATE_PROPOSALS LOG LOGIC"
    "AL_NOT DETECTION_POSTPROCESSING LOGICAL_AND CONCATENATION EQUAL IF PAD REDUCE_ANY RS"
    "QRT SPACE_TO_BATCH_ND ARGMIN DEPTH_TO_SPACE LESS_EQUAL LOGICAL_OR SQRT EXPAND_DIMS F"
    "LOOR GREATER_EQUAL POW ROI_ALIGN LESS REDUCE_PROD REDUCE_SUM REVERSE SVDF TILE UNIDI"
    "RECTIONAL_SEQUENCE_RNN ABS GATHER LOG_SOFTMAX NOT_EQUAL PACK RANK RESIZE_BILINEAR RN"
    "N SPLIT DEQUANTIZE GREATER HEATMAP_MAX_KEYPOINT L2_NORMALIZATION QUANTIZED_LSTM TRAN"
    "SPOSE EMBEDDING_LOOKUP LSTM QUANTIZED_16BIT_LSTM RESIZE_NEAREST_NEIGHBOR BOX_WITH_NM"
    "S_LIMIT NEG BIDIRECTIONAL_SEQUENCE_RNN MIRROR_PAD RELU UNIDIRECTIONAL_SEQUENCE_LSTM "
    "BATCH_MATMUL BIDIRECTIONAL_SEQUENCE_LSTM CONV_2D ELU FULLY_CONNECTED GROUPED_CONV_2D"
    " HASHTABLE_LOOKUP INSTANCE_NORMALIZATION L2_POOL_2D PAD_V2 SIN TANH EXP MAX_POOL_2D "
    "REDUCE_MAX DEPTHWISE_CONV_2D DIV PRELU CHANNEL_SHUFFLE RELU1 LOGISTIC MAXIMUM QUANTI"
    "ZE ROI_POOLING SOFTMAX MUL MEAN RELU6 TOPK_V2 HARD_SWISH SLICE MINIMUM TRANSPOSE_CON"
    "V_2D RESHAPE SUB STRIDED_SLICE REDUCE_MIN SELECT LOCAL_RESPONSE_NORMALIZATION AVERAG"
    "E_POOL_2D ADD CAST\n"
    "SymmPerChannelQuantParams(channelDim=0, scales=[0.5, 0.25]), SubgraphReference(main."
    "RelaxedExecution(True)\n"
    "Configuration.use_shm_for_weights = True\n"
    "t10 = Internal(\"t10\", (\"TENSOR_QUANT8_SYMM_PER_CHANNEL\", [1, 4]))\n"
    "t11 = Internal(\"t11\", (\"TENSOR_QUANT16_SYMM\", [1, 4]))\n"
    "t12 = Internal(\"t12\", (\"TENSOR_QUANT16_ASYMM\", [1, 4]))\n"
    "t13 = Internal(\"t13\", (\"TENSOR_QUANT8_SYMM\", [1, 4]))\n"
    "t14 = Internal(\"t14\", (\"TENSOR_BOOL8\", [1, 4]))\n"
    "t15 = Internal(\"t15\", (\"FLOAT16\", [1, 4]))\n"
    "t16 = Internal(\"t16\", (\"BOOL\", [1, 4]))\n"
    "o16 = IgnoredOutput(\"o16\", (\"BOOL\", [2, 3], 0.00390625, 128))\n"
    "t17 = Internal(\"t17\", (\"TENSOR_QUANT8_ASYMM_SIGNED\", [1, 4]))\n"
    "o17 = IgnoredOutput(\"o17\", (\"TENSOR_QUANT8_ASYMM_SIGNED\", [2, 3], 0.00390625, 128))\n"
    "t18 = Internal(\"t18\", (\"TENSOR_QUANT8_ASYMM\", [1, 4]))\n"
    "o18 = IgnoredOutput(\"o18\", (\"TENSOR_QUANT8_ASYMM\", [2, 3], 0.00390625, 128))\n"
    "t19 = Internal(\"t19\", (\"TENSOR_INT32\", [1, 4]))\n"
    "o19 = IgnoredOutput(\"o19\", (\"TENSOR_INT32\", [2, 3], 0.00390625, 128))\n"
    "t20 = Internal(\"t20\", (\"TENSOR_FLOAT16\", [1, 4]))\n"
    "o20 = IgnoredOutput(\"o20\", (\"TENSOR_FLOAT16\", [2, 3], 0.00390625, 128))\n"
    "t21 = Internal(\"t21\", (\"INT32\", [1, 4]))\n"
    "o21 = IgnoredOutput(\"o21\", (\"INT32\", [2, 3], 0.00390625, 128))\n"
    "t22 = Internal(\"t22\", (\"FLOAT32\", [1, 4]))\n"
    "o22 = IgnoredOutput(\"o22\", (\"FLOAT32\", [2, 3], 0.00390625, 128))\n"
    "t23 = Internal(\"t23\", (\"TENSOR_FLOAT32\", [1, 4]))\n"
    "o23 = IgnoredOutput(\"o23\", (\"TENSOR_FLOAT32\", [2, 3], 0.00390625, 128))\n"
    "c1 = Parameter(\"c1\", (\"FLOAT32\", []), [1.5])\n"
    "i0 = Input(\"i0\", (\"FLOAT32\", [1, 2, 3, 4]))\n"
    "c2 = Parameter(\"c2\", (\"BOOL\", []), [False])\n"
    "i1 = Input(\"i1\", (\"BOOL\", [1, 2, 3, 4]))\n"
    "c3 = Parameter(\"c3\", (\"INT32\", []), [0])\n"
    "i2 = Input(\"i2\", (\"INT32\", [1, 2, 3, 4]))\n"
    "c4 = Parameter(\"c4\", (\"TENSOR_INT32\", []), [0])\n"
    "i3 = Input(\"i3\", (\"TENSOR_INT32\", [1, 2, 3, 4]))\n"
    "c5 = Parameter(\"c5\", (\"TENSOR_FLOAT16\", []), [1.5])\n"
    "i4 = Input(\"i4\", (\"TENSOR_FLOAT16\", [1, 2, 3, 4]))\n"
    "c6 = Parameter(\"c6\", (\"TENSOR_FLOAT32\", []), [1.5])\n"
    "i5 = Input(\"i5\", (\"TENSOR_FLOAT32\", [1, 2, 3, 4]))\n"
    ", -0.0, -0.00, 0.000, 0.00, 0.0, 1.0, 255, 254, 128, -128, 127, 65535, nan, inf, -1."
    "5, 2.0, 0, 0, 1, 1,\n"
    "    main = Model()\n"
    "main.IdentifyInputs(i0, i1)\n"
    "main.IdentifyOutputs(o4, o5)\n"
    "main.Operation(\"ADD\", i0, c1, c2).To(o3)\n"
    "main.IntroducedIn(None)\n"
    "\n"
    "Example(({i0: [-0.0012, 0.034], i1: [1.0, 2.0]}, {}), model=main).DisableLifeTimeVar"
    "iation()\n";

/* Compresses a text to at most `size` bytes.  Returns how many; 0: they do not suffice, or out of
 * memory. */
static size_t deflated(const char *text, size_t length, unsigned char *bytes, size_t size)
{
    enum { WINDOW_BITS = 15, MEMORY = 9 };
    z_stream z = { .next_in = (unsigned char *) text,
                   .avail_in = (uInt) length,
                   .next_out = bytes,
                   .avail_out = (uInt) size };
    /* Z_FILTERED: most of a text are digits, for which short repetitions do not pay. */
    if (deflateInit2(&z, LEVEL, Z_DEFLATED, WINDOW_BITS, MEMORY, Z_FILTERED) != Z_OK)
        return 0;
    bool done = deflateSetDictionary(&z, (const unsigned char *) dictionary,
                                     sizeof dictionary - 1) == Z_OK &&
                deflate(&z, Z_FINISH) == Z_STREAM_END;
    deflateEnd(&z);
    return done ? z.total_out : 0;
}

/* Returns the text in the zlib format, for sqlite3_free(); NULL: it is malformed, or out of memory.
 */
static char *inflated(const void *bytes, size_t size, sqlite3_uint64 *ret_length)
{
    z_stream z = { .next_in = (unsigned char *) bytes, .avail_in = (uInt) size };
    sqlite3_uint64 room = 8 * (sqlite3_uint64) size + 1024;
    char *text = NULL;
    int code = inflateInit(&z);
    while (code == Z_OK && z.total_out < LONGEST) {
        char *larger = sqlite3_realloc64(text, room);
        if (!larger)
            break;
        text = larger;
        z.next_out = (unsigned char *) text + z.total_out;
        z.avail_out = (uInt) (room - z.total_out);
        code = inflate(&z, Z_NO_FLUSH);
        if (code == Z_NEED_DICT)
            code = inflateSetDictionary(&z, (const unsigned char *) dictionary,
                                        sizeof dictionary - 1); /* fails for another one */
        if (code == Z_OK && z.avail_out && !z.avail_in)         /* the end is missing */
            break;
        room *= 2;
    }
    *ret_length = z.total_out;
    inflateEnd(&z);
    if (code == Z_STREAM_END && !z.avail_in)
        return text;
    sqlite3_free(text);
    return NULL;
}

static void pack(sqlite3_context *context, int n, sqlite3_value **value)
{
    (void) n;
    if (sqlite3_value_type(value[0]) == SQLITE_BLOB) {
        sqlite3_result_value(context, value[0]);
        return;
    }
    const char *text = (const char *) sqlite3_value_text(value[0]);
    size_t length = (size_t) sqlite3_value_bytes(value[0]), size = 0;
    bool worth = text && length >= SHORTEST && length <= LONGEST;
    unsigned char *bytes = worth ? sqlite3_malloc64(length) : NULL;
    if (bytes && strstr(text, "Model("))
        size = packed_spec(text, length, bytes, length - 1);
    if (bytes && !size)
        size = deflated(text, length, bytes, length - 1);
    if (worth && !bytes)
        sqlite3_result_error_nomem(context);
    else if (size)
        sqlite3_result_blob64(context, bytes, size, SQLITE_TRANSIENT);
    else
        sqlite3_result_value(context, value[0]);
    sqlite3_free(bytes);
}

/* packed_small(TEXT), packed_quick(TEXT) */
static void pack_zstd(sqlite3_context *context, int n, sqlite3_value **value)
{
    (void) n;
    const int *level = sqlite3_user_data(context);
    const void *text = sqlite3_value_text(value[0]);
    size_t size = 0;
    if (!text)
        return;
    void *bytes = bytes_packed(text, (size_t) sqlite3_value_bytes(value[0]), *level, &size);
    if (bytes)
        sqlite3_result_blob64(context, bytes, size, sqlite3_free);
    else
        sqlite3_result_error_nomem(context);
}

static void unpack(sqlite3_context *context, int n, sqlite3_value **value)
{
    (void) n;
    if (sqlite3_value_type(value[0]) != SQLITE_BLOB) {
        sqlite3_result_value(context, value[0]);
        return;
    }
    const unsigned char *bytes = sqlite3_value_blob(value[0]);
    size_t size = (size_t) sqlite3_value_bytes(value[0]), length = 0;
    const char *why = "it is not in the zlib format, or out of memory";
    if (bytes && is_packed_spec(bytes, size)) {
        char *text = packed_spec_text(bytes, size, LONGEST, &length, &why);
        if (text) {
            sqlite3_result_text64(context, text, length, free, SQLITE_UTF8);
            return;
        }
    } else if (bytes && bytes_are_packed(bytes, size)) {
        char *text = bytes_unpacked(bytes, size, &length);
        if (text) {
            sqlite3_result_text64(context, text, length, sqlite3_free, SQLITE_UTF8);
            return;
        }
        why = "it is not whole, or out of memory";
    } else {
        sqlite3_uint64 n_text = 0;
        char *text = bytes ? inflated(bytes, size, &n_text) : NULL;
        if (text) {
            sqlite3_result_text64(context, text, n_text, sqlite3_free, SQLITE_UTF8);
            return;
        }
    }
    char *message = sqlite3_mprintf(
        "a compressed text is damaged: %s ('halcyon db check' names its case)", why);
    sqlite3_result_error(context, message ? message : "a compressed text is damaged", -1);
    sqlite3_free(message);
}

int packed_text_functions(sqlite3 *db)
{
    enum { FLAGS = SQLITE_UTF8 | SQLITE_DETERMINISTIC };
    static const int quick = PACKED_QUICK, small = PACKED_SMALL;
    int code = sqlite3_create_function(db, "packed", 1, FLAGS, NULL, pack, NULL, NULL);
    code = code ? code
                : sqlite3_create_function(db, "packed_quick", 1, FLAGS, (void *) &quick, pack_zstd,
                                          NULL, NULL);
    code = code ? code
                : sqlite3_create_function(db, "packed_small", 1, FLAGS, (void *) &small, pack_zstd,
                                          NULL, NULL);
    return code ? code : sqlite3_create_function(db, "text_of", 1, FLAGS, NULL, unpack, NULL, NULL);
}
