/* What the parts of the matrix kernel share.
 *
 * A product is cut into blocks of BLOCK_N outputs by BLOCK_K products.  The weights of a block are
 * packed into panels of PANEL outputs, [panel][k][PANEL], which stay in the second-level cache
 * while all output pixels pass over them in tiles of at most TILE rows by PANEL columns, held in
 * registers.  Between blocks of k the partial sums rest in the output, as doubles: the same bits.
 */
#ifndef GOLDEN_MATMUL_INTERNAL_H
#define GOLDEN_MATMUL_INTERNAL_H

#include "golden/math/matmul.h"

enum {
    TILE = 6,
    PANEL = 8,
    BLOCK_N = 32,
    BLOCK_K = 256,
};

/* Of the integer kernel: a panel of weights is [pair of products][INT_PANEL][2].  Taps of depthwise
 * ones are [block of INT_PANEL channels][pair of taps][INT_PANEL][2], channels in the order in
 * which interleaving two rows leaves them. */
enum {
    INT_TILE = 6,
    INT_PANEL = 16,
};
extern const unsigned char matmul_int_order[INT_PANEL];

struct int_rows {
    size_t count;               /* 1..INT_TILE */
    const int16_t *a[INT_TILE]; /* 2 * pairs */
    int32_t *c[INT_TILE];       /* INT_PANEL results */
};

/* A run of products contiguous in memory: elements a[offset..] meet weights k.. of the block. */
struct run {
    size_t offset, k, length;
};

/* Pixels, or rows of a matrix, that a kernel handles at once. */
struct rows {
    size_t count;
    const double *a[TILE]; /* input element that offsets count from */
    double *c[TILE];       /* first output */
};

/* Columns of outputs whose rows share one list of runs. */
struct tile {
    const struct run *runs;
    size_t n_runs;
    const double *panels;
    size_t depth;       /* products of the block: the height of a panel */
    size_t columns;     /* of the block, 1..BLOCK_N */
    const double *init; /* [BLOCK_N]; NULL: continue from c */
};

/* Channels of a depthwise convolution whose pixels share one list of taps. */
struct taps {
    const size_t *offset; /* of the tap in the image, [n_taps] */
    const size_t *weight; /* of the tap in the weights */
    size_t n_taps;
    const double *weights;
    size_t channels, multiplier;
    const double *init; /* [channels * multiplier]; NULL: continue from c, or from 0 */
    bool zero;
};

/* For loops that are written for a constant number of turns. */
#define INLINE static inline __attribute__((always_inline))
#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif

/* One instance of golden/math/matmul_kernel.inc. */
struct kernel {
    void (*tile)(const struct tile *t, const struct rows *r);
    void (*taps)(const struct taps *t, const struct rows *r);
    /* rows (1..PANEL) of b, `stride` apart, to one panel of `depth` products */
    void (*pack)(size_t rows, size_t depth, const double *b, size_t stride, double *ret_panel);
    /* a row of A times a panel, for each row */
    void (*int_tile)(size_t pairs, const int16_t *panel, const struct int_rows *r);
    /* channels c.. of a depthwise pixel: x[tap][c..c+INT_PANEL-1] */
    void (*int_taps)(size_t pairs, size_t c, const int16_t *const *x, const int16_t *block,
                     int32_t *out);
    void (*int_finish)(const struct matmul_finish *f, const int32_t *sums, uint8_t *to);
};
extern const struct kernel matmul_kernel_base;
extern const struct kernel matmul_kernel_avx2;
const struct kernel *matmul_kernel(void);

/* Consecutive outputs o0..o1-1 of an axis for which the same taps t0..t1-1 lie inside the input. */
struct span {
    size_t o0, o1, t0, t1;
};
struct span axis_span(const struct matmul_axis *a, size_t first);

/* A walk over the output pixels of a batch of images that lie within two spans and within lines
 * l0..l1-1, where line l is row l % y.out of image l / y.out; from left to right, line by line. */
struct walk {
    const struct matmul_axis *ya, *xa;
    const struct span *y, *x;
    const double *image; /* first element of pixel 0 */
    double *out;
    size_t in_pixel, out_pixel; /* doubles from pixel to pixel */

    size_t left, picture, oy, ox; /* pixels to come, and the first of them */
};
/* Sets the last four from the rest. */
void walk_begin(struct walk *w, size_t l0, size_t l1);
/* The next rows; their a points at tap t0 of both spans, at nothing when there is no tap.  False
 * when there are no more. */
bool walk_next(struct walk *w, struct rows *ret_rows);

/* Calls job(context, part, l0, l1) for each part 0..parts-1 and each chunk of lines, on the pool
 * when `products` is worth it. */
struct share {
    void (*job)(const void *context, size_t part, size_t l0, size_t l1);
    const void *context;
    size_t parts, lines, products;
};
void matmul_share(const struct share *s, struct matmul_pool *pool);

#endif
