/* Tensors and element types.  Kernels do not depend on the element type: operands are widened to
 * double (exactly), computed in double, and narrowed once.  Operations that only move data copy the
 * stored elements. */
#ifndef GOLDEN_TENSOR_H
#define GOLDEN_TENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct why;

enum { MAX_RANK = 10 };

/* DT_F32 is TENSOR_FLOAT32, DT_FLOAT32 the scalar.  Values below DT_COUNT are NNAPI codes; from
 * there on they are Halcyon's own numbers for extension types (golden/model/extension.h). */
enum dtype {
#define DTYPE(code, id, name, brief, codec, quant, since) DT_##id = code,
#include "golden/model/dtype.def"
#undef DTYPE
    DT_COUNT,
    DT_FOREIGN = DT_COUNT, /* a type of an extension or OEM that is not listed */
#define EXTENSION(id, name)
#define EXTENSION_TYPE(extension, number, id, name, brief, codec, since) DT_##id,
#include "golden/extension.def"
#undef EXTENSION
#undef EXTENSION_TYPE
    DT_END
};

/* How stored integers q represent real numbers.  AFFINE: scale * (q - zero); SYMM: the same, zero
 * is 0; BIAS: scale * q, or plain integers if scale is 0; CHANNEL: scale * q, with one scale per
 * index of a dimension. */
enum quant { QUANT_NONE, QUANT_BIAS, QUANT_AFFINE, QUANT_SYMM, QUANT_CHANNEL };

struct codec {
    size_t size;     /* bytes per element; 0: the type has no data */
    double min, max; /* of the stored type */
    bool integer;
    /* to = (from - zero) * scale; exact except for a scaled 32-bit bias */
    void (*widen)(const void *from, size_t n, double zero, double scale, double *to);
    /* to = round(from / scale) + zero, saturated; zero is in min..max.  Floats are rounded to
     * nearest even and not scaled. */
    void (*narrow)(const double *from, size_t n, double zero, double scale, void *to);
};

struct dtype_info {
    const char *name;  /* NNAPI's */
    const char *brief; /* graphDump's */
    const struct codec *codec;
    enum quant quant;
    int since; /* feature level */
    bool tensor;
};

extern const struct dtype_info dtype_info[DT_END];

/* NULL unless code is in enum dtype.  For codes from files and from other processes. */
const struct dtype_info *dtype_find(int64_t code);
/* The type of that NNAPI name, or -1; for types of extensions, extension_type_by_name(). */
int dtype_by_name(const char *name);

/* In a model, dimension 0 is unknown, and a tensor of rank 0 has unknown rank.  In an execution
 * every dimension is known, and a dimension of 0 means that there are no elements. */
struct shape {
    uint32_t rank;
    uint32_t dim[MAX_RANK];
};

bool shape_equal(const struct shape *a, const struct shape *b);
/* Number of elements; 1 for rank 0.  Does not overflow if shape_check_size() has succeeded. */
size_t shape_count(const struct shape *s);
/* Whether rank and every dimension are known, in a model. */
bool shape_known(const struct shape *s);
/* Whether s agrees with a declared shape in all that the latter specifies. */
bool shape_matches(const struct shape *s, const struct shape *declared);
/* -1 if the elements take more than NNAPI's limit of 2^32 - 1 bytes.  size: bytes per element. */
int shape_check_size(const struct shape *s, size_t size);
/* Writes "[2,3,0]" to text; returns text. */
enum { SHAPE_TEXT = 128 };
char *shape_text(const struct shape *s, char text[SHAPE_TEXT]);

struct tensor {
    enum dtype dtype; /* in unvalidated models any int32: check with dtype_find() */
    struct shape shape;
    float scale;          /* 0 if the type is not quantised */
    int32_t zero;         /* zero point */
    uint32_t channel_dim; /* QUANT_CHANNEL only */
    uint32_t n_channels;
    const float *channel_scale; /* n_channels of them */
    void *data;                 /* row-major, dense; NULL: omitted or not available yet */
    const void *extension;      /* extension data of the operand (extraParams); NULL: none */
    size_t extension_length;    /* in bytes */
};

size_t tensor_count(const struct tensor *t);
size_t tensor_bytes(const struct tensor *t);
/* Whether scale, zero point, channel scales and extension data are the same. */
bool tensor_same_quant(const struct tensor *a, const struct tensor *b);

/* Real values, scale * (q - zero), exact; without scale (QUANT_NONE, bias with scale 0) the stored
 * values. */
void tensor_widen(const struct tensor *t, double *ret_values);
/* The same of the n elements from `at` on. */
void tensor_widen_part(const struct tensor *t, size_t at, size_t n, double *ret_values);
/* Units, q - zero without scale: the factors of dot products, exact in double for every scale. */
void tensor_widen_units(const struct tensor *t, double *ret_values);
/* Stores real values: rounds half away from zero, adds the zero point, saturates.  The executor's
 * only rounding step. */
void tensor_narrow(const double *values, struct tensor *t);
/* Real value of one quantisation step, of the channel if there are channel scales; 1 for types
 * without scale. */
double tensor_step(const struct tensor *t, uint32_t channel);
/* The real number clamped to the range of an integer type; floats are unchanged. */
double tensor_saturate(const struct tensor *t, double real);
/* Element i as a real number. */
double tensor_at(const struct tensor *t, size_t i);
/* Kernels read elements in place: copies data that is not aligned to its element size into `a`. */
int tensor_align(struct tensor *t, struct arena *a, struct why *w);

double f16_to_double(uint16_t h);
uint16_t f16_from_double(double x); /* one rounding, to nearest even */

#endif
