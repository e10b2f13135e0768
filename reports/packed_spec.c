#include "reports/packed_spec.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

#include "golden/golden.h"
#include "reports/spec_tokens.h"

enum { WINDOW_BITS = 15 }; /* of deflate */

/* What first planes have in common, the most frequent last: a preset dictionary.  It must never
 * change; another one would be that of another format. */
static const char *const dictionary[] = {
    /* clang-format off */
    "# Shrunk from random/v2/for=0123456789abcdef/s1/i1\n"
    "# target: sim:cpu\n# verdict: fail: output 0: 1 of 1 elements wrong; worst [0]: expe"
    "cted 1, actual 0, bound 1.06e-05\n# worst element: output 0 [0,0,0,0]: expected 1, g"
    "ot 0, allowed error 1.06e-05\n# this test:     halcyon run FILE -d 'sim:cpu'\n"
    "# the whole case: halcyon replay random/v2/for=0123456789abcdef/s1/i1 -d 'sim:cpu'\n"
    "stride_width = Parameter(\"stride_width\", (\"INT32\", []), [1])  # columns between "
    "windows\noutput = Output(\"output\", (\"TENSOR_FLOAT32\", \0024]))\n"
    "g1 = Model(\"g1\")\ng1.IdentifyInputs(\032\031)\ng1.IdentifyOutputs(\032\031)\n"
    "s4 = SubgraphReference(\"s4\", g1)\n, extraParams=SymmPerChannelQuantParams(channelD"
    "im=0, scales=\nWHILE\"\031\031, \0335, \0338, \0332).To(\0339)\n"
    "CONCATENATION\", \0333, \03312\031\031).To(\032)\nIF\"\031\031\031, \03329, \03325, "
    "\0334).To(\03333)\nNOT_EQUAL\", \03349\031).To(\032)\n"
    "RELU1\", \03361).To(\033101)\nABS\", \03326).To(\032)\n"
    "HARD_SWISH\"\031).To(\032)\nMAXIMUM\", \0330\031).To(\032)\n"
    "PRELU\"\031\031).To(\032)\nRELU6\", \0337).To(\032)\n"
    "SPLIT\", \0330\031\031).To(\032\031\031\031\031)\nTRANSPOSE\"\031\031).To(\032)\n"
    "ARGMAX\"\031\031).To(\032)\nARGMIN\"\031\031).To(\032)\n"
    "EXPAND_DIMS\", \0330\031).To(\032)\nFLOOR\"\031).To(\032)\n"
    "FULLY_CONNECTED\", \0330\031\031\031).To(\032)\nGREATER\"\031\031).To(\032)\n"
    "L2_NORMALIZATION\"\031\031).To(\032)\nLESS\"\031\031).To(\032)\n"
    "LOGICAL_NOT\", \0330).To(\032)\nMINIMUM\", \0330\031).To(\032)\n"
    "NEG\"\031).To(\032)\nPACK\", \0330\031\031).To(\032)\n"
    "POW\"\031\031).To(\032)\nREDUCE_ALL\"\031\031\031).To(\032)\n"
    "REDUCE_ANY\"\031\031\031).To(\032)\nREDUCE_MAX\"\031\031\031).To(\032)\n"
    "RELU\"\031).To(\032)\nREVERSE\", \0330\031).To(\032)\n"
    "SIN\", \0333).To(\032)\nSQRT\"\031).To(\032)\nSQUEEZE\", \0330\031).To(\032)\n"
    "AVERAGE_POOL_2D\"\031\031\031\031\031\031\031\031).To(\032)\n"
    "BIDIRECTIONAL_SEQUENCE_LSTM\"\031\031\031\031\031\031\031\031\031\031\031\031\031"
    "\031\031\031\031\031\031\031\031\031\031\031\031\031\031\031\031\031\031\031\031\031"
    "\031\031\031\031\031\031\031\031\031\031\031\031\031\031\031\031\031\031\031\031\031"
    "\031\031\031\031\031\031).To(\032)\nELU\"\031\031).To(\032)\n"
    "EXP\", \0330).To(\032)\nGATHER\", \0330\031\031).To(\032)\n"
    "GREATER_EQUAL\", \0330\031).To(\032)\nL2_POOL_2D\"\031\031\031\031\031\031\031\031)."
    "To(\032)\nLOG\"\031).To(\032)\nLOGISTIC\"\031).To(\032)\n"
    "MAX_POOL_2D\"\031\031\031\031\031\031\031\031).To(\032)\n"
    "PAD\", \0330\031).To(\032)\nQUANTIZE\", \0330).To(\032)\n"
    "RANK\"\031).To(\032)\nRESIZE_BILINEAR\"\031\031\031\031\031).To(\032)\n"
    "RESIZE_NEAREST_NEIGHBOR\"\031\031\031\031\031\031).To(\032)\n"
    "RSQRT\"\031).To(\032)\nSUB\", \0330\031\031).To(\032)\n"
    "TILE\"\031\031).To(\032)\nBIDIRECTIONAL_SEQUENCE_RNN\"\031\031\031\031\031\031\031"
    "\031\031\031\031\031\031\031\031).To(\032\031\031\031)\n"
    "CAST\"\031).To(\032)\nDENSIFY\"\031\031\031\031\031\031\031).To(\032)\n"
    "DEPTH_TO_SPACE\"\031\031\031).To(\032)\nDEQUANTIZE\"\031).To(\032)\n"
    "EMBEDDING_LOOKUP\"\031\031).To(\032)\nEQUAL\"\031\031).To(\032)\n"
    "HEATMAP_MAX_KEYPOINT\"\031\031\031).To(\032\031)\nLSH_PROJECTION\"\031\031\031\031)."
    "To(\032)\nREDUCE_PROD\"\031\031\031).To(\032)\nRESHAPE\"\031\031).To(\032)\n"
    "SELECT\"\031\031\031).To(\032)\nSLICE\"\031\031\031).To(\032)\n"
    "SPACE_TO_BATCH_ND\"\031\031\031\031).To(\032)\nSPACE_TO_DEPTH\"\031\031\031).To(\032"
    ")\nTANH\"\031).To(\032)\nTOPK_V2\", \0330\031).To(\032\031)\n"
    "TRANSPOSE_CONV_2D\"\031\031\031\031\031\031\031\031\031).To(\032)\n"
    "BATCH_MATMUL\"\031\031\031\031).To(\032)\nBATCH_TO_SPACE_ND\"\031\031\031).To(\032)"
    "\nDEPTHWISE_CONV_2D\"\031\031\031\031\031\031\031\031\031\031\031).To(\032)\n"
    "GROUPED_CONV_2D\"\031\031\031\031\031\031\031\031\031\031\031\031).To(\032)\n"
    "HASHTABLE_LOOKUP\"\031\031\031).To(\032\031)\nLESS_EQUAL\"\031\031).To(\032)\n"
    "LOGICAL_AND\"\031\031).To(\032)\nLSTM\"\031\031\031\031\031\031\031\031\031\031\031"
    "\031\031\031\031\031\031\031\031\031\031\031\031).To(\032\031\031\031)\n"
    "MEAN\", \0330\031\031).To(\032)\nMUL\"\031\031\031).To(\032)\n"
    "RANDOM_MULTINOMIAL\"\031\031\031).To(\032)\nSTRIDED_SLICE\"\031\031\031\031\031\031"
    "\031).To(\032)\nCHANNEL_SHUFFLE\"\031\031\031).To(\032)\n"
    "LOCAL_RESPONSE_NORMALIZATION\"\031\031\031\031\031\031).To(\032)\n"
    "ROI_ALIGN\"\031\031\031\031\031\031\031\031\031\031).To(\032)\n"
    "UNIDIRECTIONAL_SEQUENCE_LSTM\"\031\031\031\031\031\031\031\031\031\031\031\031\031"
    "\031\031\031\031\031\031\031\031\031\031\031\031\031\031\031).To(\032\031\031)\n"
    "DIV\", \0330\031\031).To(\032)\nFILL\"\031\031).To(\032)\n"
    "LOGICAL_OR\"\031\031).To(\032)\nLOG_SOFTMAX\"\031\031\031).To(\032)\n"
    "REDUCE_MIN\"\031\031\031).To(\032)\nREDUCE_SUM\"\031\031\031).To(\032)\n"
    "ROI_POOLING\"\031\031\031\031\031\031\031\031).To(\032)\n"
    "SOFTMAX\"\031\031\031).To(\032)\nUNIDIRECTIONAL_SEQUENCE_RNN\"\031\031\031\031\031"
    "\031\031).To(\032)\nADD\", \0330\031\031).To(\032)\n"
    "MIRROR_PAD\"\031\031\031).To(\032)\nQUANTIZED_16BIT_LSTM\"\031\031\031\031\031\031"
    "\031\031\031\031\031\031\031\031\031).To(\032\031)\n"
    "QUANTIZED_LSTM\"\031\031\031\031\031\031\031\031\031\031\031\031\031\031\031\031\031"
    "\031\031\031\031\031\031\031\031\031\031\031\031\031\031\031).To(\032\031\031)\n"
    "GENERATE_PROPOSALS\"\031\031\031\031\031\031\031\031\031\031\031).To(\032\031\031)\n"
    "PAD_V2\"\031\031\031).To(\032)\nSVDF\"\031\031\031\031\031\031\031).To(\032\031)\n"
    "INSTANCE_NORMALIZATION\"\031\031\031\031\031).To(\032)\n"
    "RNN\"\031\031\031\031\031\031).To(\032\031)\nAXIS_ALIGNED_BBOX_TRANSFORM\"\031\031"
    "\031\031).To(\032)\nDETECTION_POSTPROCESSING\"\031\031\031\031\031\031\031\031\031"
    "\031\031\031\031\031).To(\032\031\031\031)\nBOX_WITH_NMS_LIMIT\"\031\031\031\031\031"
    "\031\031\031\031).To(\032\031\031\031)\nCONV_2D\", \0330\031\031\031\031\031\031\031"
    "\031\031).To(\032)\n",
    "\023\"TENSOR_QUANT8_SYMM_PER_CHANNEL\", \"{3, 1, 1, 2}\", \0036], extraParams=SymmPe"
    "rChannelQuantParams(channelDim=0, scales=\0103]))\n"
    "\023\"TENSOR_QUANT8_SYMM_PER_CHANNEL\", \"{5, 1, 1, 8}\", \00340], extraParams=SymmP"
    "erChannelQuantParams(channelDim=0, scales=\0225]))\n"
    "\023\"TENSOR_QUANT8_SYMM_PER_CHANNEL\", \"{6, 1, 1, 1}\", \0036], extraParams=SymmPe"
    "rChannelQuantParams(channelDim=0, scales=\0226]))\n"
    "\023\"TENSOR_QUANT8_SYMM_PER_CHANNEL\", \"{8, 1, 1, 1}\", \0038], extraParams=SymmPe"
    "rChannelQuantParams(channelDim=0, scales=\0228]))\n"
    "\023\"TENSOR_QUANT8_SYMM_PER_CHANNEL\", \"{3, 1, 1, 8}\", \00324], extraParams=SymmP"
    "erChannelQuantParams(channelDim=0, scales=\0103]))\n"
    "\023\"TENSOR_QUANT8_SYMM_PER_CHANNEL\", \"{7, 1, 1, 1}\", \0037], extraParams=SymmPe"
    "rChannelQuantParams(channelDim=0, scales=\0227]))\n"
    "\027(\"TENSOR_QUANT16_SYMM\", \0022], 0.00048828125, 0))\n"
    "\027(\"TENSOR_QUANT16_ASYMM\", \0022], 0.125, 0))\n"
    "\023(\"TENSOR_FLOAT32\", \0024]), \01036])\n\023(\"TENSOR_FLOAT32\", \0022]), \0078]"
    ")\n\023(\"TENSOR_FLOAT32\", \0022]), \01025])\n\023(\"TENSOR_INT32\", \0022]), \0026"
    "])\n\023(\"TENSOR_INT32\", [1]), [-1])\nmain.RelaxedExecution(True)\n"
    "\023(\"TENSOR_FLOAT32\", \0022]), \00712])\n\023(\"TENSOR_FLOAT32\", \0022]), \00716"
    "])\n\023(\"TENSOR_FLOAT32\", \0024]), \01032])\n\023(\"TENSOR_FLOAT16\", [6]), \0076"
    "])\n\023(\"TENSOR_FLOAT16\", [7]), \0077])\n\023(\"TENSOR_FLOAT32\", \0022]), \01036"
    "])\n\023(\"TENSOR_FLOAT32\", \0024]), \01012])\n\023(\"TENSOR_FLOAT32\", \0024]), "
    "\01024])\n\027(\"TENSOR_FLOAT32\", [0]))\n\023(\"TENSOR_FLOAT32\", \0022]), \0074])"
    "\n\023(\"TENSOR_FLOAT32\", \0022]), \0106])\n\023(\"TENSOR_FLOAT32\", \0024]), \0101"
    "5])\n\023(\"TENSOR_FLOAT32\", \0024]), \0106])\n\023(\"TENSOR_FLOAT16\", [3]), \0073"
    "])\n\023(\"TENSOR_FLOAT16\", [4]), \0074])\n\023(\"TENSOR_FLOAT32\", \0022]), \01010"
    "])\n\023(\"TENSOR_FLOAT32\", [8]), \0078])\n\023(\"TENSOR_INT32\", \0022]), \0028])"
    "\n\027(\"TENSOR_BOOL8\", \0022]))\n\023(\"TENSOR_FLOAT16\", [5]), \0075])\n"
    "\023(\"TENSOR_FLOAT32\", \0024]), \01016])\n\025(\"TENSOR_FLOAT16\", \0022]))\n"
    "\023(\"TENSOR_FLOAT32\", \0022]), \01016])\n\023(\"TENSOR_INT32\", [2]), \0052])\n"
    "\027(\"TENSOR_INT32\", \0022]))\n\023(\"INT32\", []), [-2])\n"
    "\023(\"TENSOR_INT32\", [7]), \0057])\n\024(\"TENSOR_FLOAT16\", \0024]))\n"
    "\023(\"FLOAT32\", []), [3.0])\n\023(\"INT32\", []), [8])\n"
    "\023(\"TENSOR_FLOAT32\", [3]), \0073])\n\023(\"TENSOR_FLOAT32\", \0022]), \0104])\n"
    "\023(\"TENSOR_INT32\", [5]), \0055])\n\023(\"TENSOR_FLOAT32\", \0022]), \0076])\n"
    "\023(\"TENSOR_INT32\", \0022]), \0024])\n\023(\"TENSOR_INT32\", [1]), [1])\n"
    "\027(\"TENSOR_FLOAT16\", \0022]))\n\023(\"TENSOR_INT32\", [3]), \0053])\n"
    "\023(\"TENSOR_INT32\", [4]), \0054])\n\023(\"TENSOR_INT32\", [8]), \0058])\n"
    "\024(\"TENSOR_FLOAT32\", \0023]))\n\023(\"TENSOR_FLOAT32\", \0022]), \01012])\n"
    "\023(\"TENSOR_INT32\", [6]), \0056])\n\027(\"TENSOR_BOOL8\", \0024]))\n"
    "\023(\"FLOAT32\", []), [2.0])\n\023(\"TENSOR_FLOAT32\", [5]), \0075])\n"
    "\030(\"TENSOR_INT32\", [0]), None)\n\023(\"INT32\", []), [7])\n"
    "\027(\"TENSOR_FLOAT32\", [1]))\n\023(\"FLOAT32\", []), [4.0])\n"
    "\027(\"TENSOR_INT32\", [0]))\n\023(\"FLOAT32\", []), [5.0])\n"
    "\023(\"INT32\", []), [-1])\n\023(\"TENSOR_FLOAT32\", [6]), \0076])\n"
    "\023(\"TENSOR_FLOAT32\", [4]), \0074])\n\023(\"TENSOR_FLOAT32\", [2]), \0072])\n"
    "\023(\"FLOAT32\", []), [1.0])\n\023(\"TENSOR_INT32\", [3]), \0023])\n"
    "\023(\"TENSOR_INT32\", [3]), \0033])\n\023(\"TENSOR_INT32\", [4]), \0034])\n"
    "\023(\"TENSOR_FLOAT32\", [8]), \0108])\n\023(\"FLOAT32\", []), [0.0])\n"
    "\023(\"TENSOR_FLOAT32\", [7]), \0107])\n\023(\"TENSOR_INT32\", [2]), \0032])\n"
    "\025(\"INT32\", []))\n\023(\"INT32\", []), [6])\n\025(\"TENSOR_FLOAT16\", \0024]))\n"
    "\023(\"TENSOR_INT32\", [4]), \0024])\n\023(\"TENSOR_INT32\", [1]), [0])\n"
    "\027(\"TENSOR_FLOAT16\", \0024]))\n\024(\"TENSOR_FLOAT32\", \0022]))\n"
    "\023(\"INT32\", []), [5])\n\023(\"TENSOR_FLOAT32\", [2]), \0102])\n"
    "\023(\"TENSOR_FLOAT32\", [3]), \0103])\n\023(\"TENSOR_FLOAT32\", [4]), \0104])\n"
    "\030(\"TENSOR_FLOAT32\", [0]), None)\n\023(\"TENSOR_FLOAT32\", [5]), \0105])\n"
    "\023(\"TENSOR_FLOAT32\", [6]), \0106])\n\023(\"TENSOR_INT32\", [2]), \0022])\n"
    "\025(\"TENSOR_FLOAT32\", \0023]))\n\027(\"TENSOR_FLOAT32\", \0023]))\n"
    "\023(\"INT32\", []), [4])\n\024(\"TENSOR_FLOAT32\", \0024]))\n"
    "Configuration.use_shm_for_weights = False\n\025(\"TENSOR_FLOAT32\", \0022]))\n"
    "Configuration.use_shm_for_weights = True\n\027(\"TENSOR_FLOAT32\", \0022]))\n"
    "\025(\"TENSOR_FLOAT32\", \0024]))\n\027(\"TENSOR_FLOAT32\", \0024]))\n"
    "\023(\"BOOL\", []), [True])\n\023(\"BOOL\", []), [False])\n"
    "\023(\"INT32\", []), [3])\n\023(\"INT32\", []), [0])\n"
    "\023(\"INT32\", []), [2])\n\023(\"INT32\", []), [1])\n"
    "main.IntroducedIn(None)\n\nmain = Model()\nmain.IdentifyInputs(\032\031\031\031)\n"
    "main.IdentifyOutputs(\03310\031\031)\nmain.RelaxedExecution(True)\n"
    "main.IntroducedIn(None)\n\nExample(({\032: \0104],\n"
    "    \032: \0106],\n    \03310: \002100]}, {}), model=main).DisableLifeTimeVariation("
    ")\n"
    /* clang-format on */
};

/* The dictionary in one piece, malloced; NULL: out of memory. */
static char *joined_dictionary(size_t *ret_n)
{
    size_t n = 0;
    for (int i = 0; i < COUNT(dictionary); i++)
        n += strlen(dictionary[i]);
    char *text = malloc(n + 1), *end = text;
    for (int i = 0; text && i < COUNT(dictionary); i++)
        end = stpcpy(end, dictionary[i]);
    *ret_n = n;
    return text;
}

/* Of the Zstandard format, before each frame; not stored. */
static const unsigned char magic[] = { 0x28, 0xb5, 0x2f, 0xfd };

struct spec_packer {
    ZSTD_CCtx *context;
    ZSTD_CDict *dictionary;
};

struct spec_packer *spec_packer_new(void)
{
    /* A level above 5 takes 20 % more time for 2 % of a small text, and one above 1 makes numbers
     * longer. */
    enum { LEVEL = 5 };
    struct spec_packer *k = calloc(1, sizeof *k);
    size_t n = 0;
    char *text = joined_dictionary(&n);
    if (k && text) {
        k->context = ZSTD_createCCtx();
        k->dictionary = ZSTD_createCDict(text, n, LEVEL);
    }
    free(text);
    if (k && k->context && k->dictionary)
        return k;
    spec_packer_free(k);
    return NULL;
}

void spec_packer_free(struct spec_packer *k)
{
    if (!k)
        return;
    ZSTD_freeCCtx(k->context);
    ZSTD_freeCDict(k->dictionary);
    free(k);
}

/* Compresses to at most `size` bytes.  Returns how many; 0: they do not suffice. */
static size_t compressed(const struct spec_packer *k, const struct spec_bytes *plane, bool is_text,
                         unsigned char *bytes, size_t size)
{
    enum { LEVEL = 1 };
    const size_t n =
        is_text
            ? ZSTD_compress_usingCDict(k->context, bytes, size, plane->at, plane->n, k->dictionary)
            : ZSTD_compressCCtx(k->context, bytes, size, plane->at, plane->n, LEVEL);
    return ZSTD_isError(n) ? 0 : n;
}

struct out {
    unsigned char *at, *end;
};

static bool put_byte(struct out *o, unsigned byte)
{
    if (o->at == o->end)
        return false;
    *o->at++ = (unsigned char) byte;
    return true;
}

/* Seven bits a byte, the lowest first; the last byte is below 128. */
static bool put_size(struct out *o, size_t n)
{
    while (n >= 128) {
        if (!put_byte(o, n % 128 + 128))
            return false;
        n /= 128;
    }
    return put_byte(o, (unsigned) n);
}

/* A plane: its size, twice, + 1 if it is compressed; then that size, too; its bytes. */
static bool put_plane(struct out *o, const struct spec_packer *k, const struct spec_bytes *plane,
                      bool is_text)
{
    enum { FEWEST = 16 }; /* fewer bytes do not get shorter */
    const size_t room = plane->n + sizeof magic - 1;
    unsigned char *bytes = malloc(room);
    size_t size = bytes && plane->n >= FEWEST ? compressed(k, plane, is_text, bytes, room) : 0;
    const void *from = size ? bytes + sizeof magic : plane->at;
    size -= size ? sizeof magic : 0;
    bool done = bytes && put_size(o, 2 * plane->n + (size > 0)) && (!size || put_size(o, size));
    size = size ? size : plane->n;
    done = done && (size_t) (o->end - o->at) >= size;
    if (done) {
        memcpy(o->at, from, size);
        o->at += size;
    }
    free(bytes);
    return done;
}

static uLong sum_of(uLong sum, const void *bytes, size_t n)
{
    return adler32(sum, bytes, (uInt) n);
}

static uLong sum_of_planes(const unsigned char present[2], const struct spec_planes *p)
{
    uLong sum = sum_of(adler32(0, NULL, 0), present, 2);
    for (int i = 0; i < SPEC_PLANES; i++)
        if (p->plane[i].n)
            sum = sum_of(sum, p->plane[i].at, p->plane[i].n);
    return sum;
}

/* Returns the size of the packed planes, 0: `size` bytes do not suffice, or out of memory. */
static size_t pack(const struct spec_packer *k, const struct spec_planes *p, unsigned char *bytes,
                   size_t size)
{
    struct out o = { bytes, bytes + size };
    unsigned present = 0;
    for (int i = 0; i < SPEC_PLANES; i++)
        present |= (unsigned) (p->plane[i].n > 0) << i;
    bool done =
        put_byte(&o, PACKED_SPEC) && put_byte(&o, present % 256) && put_byte(&o, present / 256);
    for (int i = 0; i < SPEC_PLANES && done; i++)
        done = !p->plane[i].n || put_plane(&o, k, &p->plane[i], i == 0);
    uLong sum = done ? sum_of_planes(bytes + 1, p) : 0;
    for (int shift = 24; shift >= 0 && done; shift -= 8)
        done = put_byte(&o, sum >> shift & 255);
    return done ? (size_t) (o.at - bytes) : 0;
}

size_t packed_spec_marked(struct spec_packer *k, const char *text, size_t length,
                          const struct tensor *const *list, size_t n_lists, unsigned char *bytes,
                          size_t size)
{
    struct spec_planes p = { 0 };
    bool done = spec_tokens_split_marked(text, length, list, n_lists, &p);
    size_t packed = done ? pack(k, &p, bytes, size) : 0;
    spec_planes_free(&p);
    return packed;
}

size_t packed_spec(const char *text, size_t length, unsigned char *bytes, size_t size)
{
    struct spec_packer *k = spec_packer_new();
    struct spec_planes p = { 0 };
    size_t again = 0;
    const char *why;
    bool done = k && spec_tokens_split(text, length, &p);
    char *same = done ? spec_tokens_join(&p, length, &again, &why) : NULL;
    done = same && again == length && !memcmp(same, text, length);
    free(same);
    size_t packed = done ? pack(k, &p, bytes, size) : 0;
    spec_planes_free(&p);
    spec_packer_free(k);
    return packed;
}

bool is_packed_spec(const void *bytes, size_t size)
{
    const unsigned char *first = bytes;
    return size && *first >= PACKED_SPEC; /* that and larger ones are the formats */
}

struct in {
    const unsigned char *at, *end;
};

static bool get_size(struct in *in, size_t *ret_n)
{
    size_t n = 0;
    for (int shift = 0; in->at < in->end && shift <= 28; shift += 7) {
        unsigned char byte = *in->at++;
        n |= (size_t) (byte & 127) << shift;
        if (byte < 128) {
            *ret_n = n;
            return true;
        }
    }
    return false;
}

/* Decompresses a whole part. */
static bool inflated(const unsigned char *bytes, size_t size, bool is_text,
                     const struct spec_bytes *plane)
{
    z_stream z = { .next_in = (unsigned char *) bytes,
                   .avail_in = (uInt) size,
                   .next_out = plane->at,
                   .avail_out = (uInt) plane->n };
    if (inflateInit2(&z, -WINDOW_BITS) != Z_OK)
        return false;
    bool done = true;
    for (int i = 0; is_text && done && i < COUNT(dictionary); i++)
        done = inflateSetDictionary(&z, (const unsigned char *) dictionary[i],
                                    (uInt) strlen(dictionary[i])) == Z_OK;
    done = done && inflate(&z, Z_FINISH) == Z_STREAM_END && z.total_out == plane->n && !z.avail_in;
    inflateEnd(&z);
    return done;
}

/* The same of a frame without its magic number. */
static bool decompressed(const unsigned char *bytes, size_t size, bool is_text,
                         const struct spec_bytes *plane)
{
    ZSTD_DCtx *context = ZSTD_createDCtx();
    unsigned char *frame = malloc(sizeof magic + size);
    size_t n_dictionary = 0, n = 0;
    char *text = is_text ? joined_dictionary(&n_dictionary) : NULL;
    if (context && frame && (text || !is_text)) {
        memcpy(frame, magic, sizeof magic);
        memcpy(frame + sizeof magic, bytes, size);
        n = ZSTD_decompress_usingDict(context, plane->at, plane->n, frame, sizeof magic + size,
                                      text, n_dictionary);
    }
    free(text);
    free(frame);
    ZSTD_freeDCtx(context);
    return n == plane->n;
}

/* Unpacks a part of known size.  Deflate makes 1,032 bytes of one at most, Zstandard 131,072 of
 * four: a small BLOB takes little memory, whatever its sizes are. */
static bool get_plane(struct in *in, bool is_deflated, bool is_text, size_t most,
                      struct spec_bytes *ret_plane, const char **ret_why)
{
    const size_t most_of_one = is_deflated ? 1032 : 32768;
    size_t n = 0, size = 0;
    *ret_why = "the size of a part is wrong";
    if (!get_size(in, &n) || (n % 2 && !get_size(in, &size)))
        return false;
    const bool is_compressed = n % 2;
    n /= 2;
    size = is_compressed ? size : n;
    if (!n || size > (size_t) (in->end - in->at) || n > most || n / most_of_one > size)
        return false;
    ret_plane->at = malloc(n);
    ret_plane->n = ret_plane->at ? n : 0;
    *ret_why = "out of memory";
    if (!ret_plane->at)
        return false;
    const unsigned char *from = in->at;
    in->at += size;
    *ret_why = "a part does not unpack to its size";
    if (is_compressed)
        return (is_deflated ? inflated : decompressed)(from, size, is_text, ret_plane);
    memcpy(ret_plane->at, from, n);
    return true;
}

char *packed_spec_text(const unsigned char *bytes, size_t size, size_t most, size_t *ret_length,
                       const char **ret_why)
{
    enum { HEAD = 3, SUM = 4 };
    struct spec_planes p = { 0 };
    *ret_why = "its end is missing";
    if (size < HEAD + SUM || !is_packed_spec(bytes, size))
        return NULL;
    struct in in = { bytes + HEAD, bytes + size - SUM };
    const unsigned present = bytes[1] + 256u * bytes[2];
    bool done = !(present >> SPEC_PLANES);
    if (!done)
        *ret_why = "it has parts of a later version";
    for (int i = 0; i < SPEC_PLANES && done; i++)
        done = !(present >> i & 1) ||
               get_plane(&in, bytes[0] != PACKED_SPEC, i == 0, most, &p.plane[i], ret_why);
    if (done && in.at != in.end) {
        *ret_why = "bytes follow its last part";
        done = false;
    }
    char *text = done ? spec_tokens_join(&p, most, ret_length, ret_why) : NULL;
    uLong sum = 0, expected = 0;
    for (int i = 0; i < SUM; i++)
        sum = sum << 8 | bytes[size - SUM + (size_t) i];
    if (text)
        expected = bytes[0] == PACKED_SPEC_OF_TEXT ? sum_of(adler32(0, NULL, 0), text, *ret_length)
                                                   : sum_of_planes(bytes + 1, &p);
    spec_planes_free(&p);
    if (text && sum != expected) {
        *ret_why = "its sum is wrong";
        free(text);
        return NULL;
    }
    return text;
}
