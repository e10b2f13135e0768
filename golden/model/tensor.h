/* Tensors and element types.  Kernels never see an element type: operands are widened to double at
 * the edge (exact), computed in double, and narrowed once.  Operations that only move data use the
 * raw bytes. */
#ifndef GOLDEN_TENSOR_H
#define GOLDEN_TENSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct arena;
struct why;

enum { MAX_RANK = 10 };

/* DT_F32 is TENSOR_FLOAT32, DT_FLOAT32 the scalar.  Below DT_COUNT the value is the NNAPI code;
 * those from there on are Halcyon's own numbers (golden/model/extension.h). */
enum dtype {
#define DTYPE(code, id, name, brief, codec, quant, since) DT_##id = code,
#include "golden/model/dtype.def"
#undef DTYPE
    DT_COUNT,
    DT_FOREIGN = DT_COUNT, /* of an extension that nobody here knows: nothing is known of it */
#define EXTENSION(id, name)
#define EXTENSION_TYPE(extension, number, id, name, brief, codec, since) DT_##id,
#include "golden/extension.def"
#undef EXTENSION
#undef EXTENSION_TYPE
    DT_END
};

/* How stored integers mean real numbers: BIAS: scale may be 0 (plain integers); AFFINE:
 * scale * (q - zero); SYMM: zero is 0; CHANNEL: one scale per index of a dimension. */
enum quant { QUANT_NONE, QUANT_BIAS, QUANT_AFFINE, QUANT_SYMM, QUANT_CHANNEL };

struct codec {
    size_t size; /* bytes an element; 0: none */
    double min, max;
    bool integer;
    /* to = (from - zero) * scale, exact but for a scaled 32-bit bias */
    void (*widen)(const void *from, size_t n, double zero, double scale, double *to);
    /* to = round(from / scale) + zero, saturated; zero lies within min..max; floats round to
     * nearest even and do not scale */
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

/* NULL unless code is one of enum dtype: codes come from files and wires. */
const struct dtype_info *dtype_find(int64_t code);
/* The type of that NNAPI name, or -1; types of extensions are found by extension_type_by_name(). */
int dtype_by_name(const char *name);

/* In a model, dimension 0 means unknown, and a tensor of rank 0 has unknown rank.  In an execution
 * every dimension is known, and 0 is a tensor without elements. */
struct shape {
    uint32_t rank;
    uint32_t dim[MAX_RANK];
};

bool shape_equal(const struct shape *a, const struct shape *b);
/* Number of elements; 1 for rank 0.  Meaningful after shape_check_size(). */
size_t shape_count(const struct shape *s);
/* Whether rank and every dimension are known (model) */
bool shape_known(const struct shape *s);
/* Whether it is one of those that a declared shape leaves open. */
bool shape_matches(const struct shape *s, const struct shape *declared);
/* -1 when elements times size would pass 2^32 - 1, as NNAPI limits them. */
int shape_check_size(const struct shape *s, size_t size);
/* "[2,3,0]" into text; returns text. */
enum { SHAPE_TEXT = 128 };
char *shape_text(const struct shape *s, char text[SHAPE_TEXT]);

struct tensor {
    enum dtype dtype; /* int32 from the wild: check with dtype_find() */
    struct shape shape;
    float scale; /* 0 when the type is not quantised */
    int32_t zero;
    uint32_t channel_dim; /* QUANT_CHANNEL only */
    uint32_t n_channels;
    const float *channel_scale; /* n_channels of them */
    void *data;                 /* row-major, dense; NULL: omitted or not there yet */
    const void *extension;      /* what an extension attaches to its types; NULL: nothing */
    size_t extension_length;
};

size_t tensor_count(const struct tensor *t);
size_t tensor_bytes(const struct tensor *t);
bool tensor_same_quant(const struct tensor *a, const struct tensor *b);

/* Exact: scale * (q - zero).  Without scale (QUANT_NONE, bias with scale 0): the value itself. */
void tensor_widen(const struct tensor *t, double *ret_values);
/* q - zero, no scale: what dot products sum, exact in double whatever the scales. */
void tensor_widen_units(const struct tensor *t, double *ret_values);
/* The only rounding step in the executor: half away from zero, then the zero point is added, then
 * saturate. */
void tensor_narrow(const double *values, struct tensor *t);
/* Real value of one step (1 for types without scale), for channel c where there are several. */
double tensor_step(const struct tensor *t, uint32_t channel);
/* A real number as the type's range lets it through: integers saturate, floats stay. */
double tensor_saturate(const struct tensor *t, double real);
/* Element i as a real number. */
double tensor_at(const struct tensor *t, size_t i);
/* Kernels read elements in place: data that is not aligned to its elements is replaced by a copy in
 * `a`. */
int tensor_align(struct tensor *t, struct arena *a, struct why *w);

double f16_to_double(uint16_t h);
uint16_t f16_from_double(double x); /* one rounding, to nearest even */

#endif
