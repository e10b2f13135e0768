/* Internal to the matrix kernel.
 *
 * A product is cut into blocks of BLOCK_N outputs by BLOCK_K products.  The weights of a block are
 * packed into panels of PANEL outputs, [panel][k][PANEL], which stay in the second-level cache
 * while all output pixels are computed in tiles of at most TILE rows by PANEL columns, held in
 * registers.  Between blocks of k the partial sums are stored in the output, as doubles: the same
 * bits. */
#ifndef GOLDEN_MATMUL_INTERNAL_H
#define GOLDEN_MATMUL_INTERNAL_H

#include "golden/math/matmul.h"

enum {
    TILE = 6,
    PANEL = 8,
    BLOCK_N = 32,
    BLOCK_K = 256,
};

/* Integer kernel: a panel of weights is [pair of products][INT_PANEL][2].  Weights of depthwise
 * taps are [block of INT_PANEL channels][pair of taps][INT_PANEL][2], with the channels of a block
 * in the order in which interleaving two rows leaves them (matmul_int_order). */
enum {
    INT_TILE = 6,
    INT_PANEL = 16,
};
extern const unsigned char matmul_int_order[INT_PANEL];

struct matmul_int_rows {
    size_t count;               /* 1..INT_TILE */
    const int16_t *a[INT_TILE]; /* 2 * pairs */
    int32_t *c[INT_TILE];       /* INT_PANEL results */
};

/* Products contiguous in memory: elements a[offset..] times weights k.. of the block. */
struct matmul_run {
    size_t offset, k, length;
};

/* Pixels, or rows of a matrix, that one kernel call computes. */
struct matmul_rows {
    size_t count;
    const double *a[TILE]; /* input element that offsets are relative to */
    double *c[TILE];       /* first output element */
};

/* A block of weights, and the list of runs that all rows of a tile share. */
struct matmul_tile {
    const struct matmul_run *runs;
    size_t n_runs;
    const double *panels;
    size_t depth;       /* products of the block: the height of a panel */
    size_t columns;     /* of the block, 1..BLOCK_N */
    const double *init; /* [BLOCK_N]; NULL: continue from c */
};

/* Depthwise: the list of taps that all pixels of a tile share. */
struct matmul_taps {
    const size_t *offset; /* of the tap in the image, [n_taps] */
    const size_t *weight; /* of the tap in the weights */
    size_t n_taps;
    const double *weights;
    size_t channels, multiplier;
    const double *init; /* [channels * multiplier]; NULL: start from 0 or continue from c */
    bool zero;          /* with init NULL: start from 0 */
};

/* For loops with a constant number of iterations. */
#define INLINE static inline __attribute__((always_inline))
#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif

/* One instance of golden/math/matmul_kernel.inc. */
struct matmul_kernel {
    void (*tile)(const struct matmul_tile *t, const struct matmul_rows *r);
    void (*taps)(const struct matmul_taps *t, const struct matmul_rows *r);
    /* rows (1..PANEL) of b, `stride` apart, to one panel of `depth` products */
    void (*pack)(size_t rows, size_t depth, const double *b, size_t stride, double *ret_panel);
    /* each row of r times a panel */
    void (*int_tile)(size_t pairs, const int16_t *panel, const struct matmul_int_rows *r);
    /* channels c.. of a depthwise pixel: x[tap][c..c+INT_PANEL-1] */
    void (*int_taps)(size_t pairs, size_t c, const int16_t *const *x, const int16_t *block,
                     int32_t *out);
    void (*int_finish)(const struct matmul_finish *f, const int32_t *sums, uint8_t *to);
};
extern const struct matmul_kernel matmul_kernel_base;
extern const struct matmul_kernel matmul_kernel_avx2;
const struct matmul_kernel *matmul_kernel(void);

/* Outputs o0..o1-1 of an axis, for all of which exactly the taps t0..t1-1 lie inside the input. */
struct matmul_span {
    size_t o0, o1, t0, t1;
};
/* The longest span that starts at output `first`. */
struct matmul_span matmul_axis_span(const struct matmul_axis *a, size_t first);

/* Iteration over the output pixels of a batch of images that lie within two spans and within lines
 * l0..l1-1, where line l is row l % y.out of image l / y.out; left to right, line by line. */
struct matmul_walk {
    const struct matmul_axis *ya, *xa;
    const struct matmul_span *y, *x;
    const double *image; /* first element of pixel 0 */
    double *out;
    size_t in_pixel, out_pixel; /* doubles from pixel to pixel */

    size_t left, image_index, oy, ox; /* number of remaining pixels, and the first of them */
};
/* Sets the last four members from the others. */
void matmul_walk_begin(struct matmul_walk *w, size_t l0, size_t l1);
/* Returns the next rows; their a points to tap t0 of both spans, NULL if there is no tap.  False if
 * there are no more. */
bool matmul_walk_next(struct matmul_walk *w, struct matmul_rows *ret_rows);

/* Calls job(context, part, l0, l1) for each part 0..parts-1 and each chunk l0..l1-1 of `lines`; on
 * the pool if `products`, their total number, is large enough. */
struct matmul_jobs {
    void (*job)(const void *context, size_t part, size_t l0, size_t l1);
    const void *context;
    size_t parts, lines, products;
};
void matmul_run_jobs(const struct matmul_jobs *s, struct matmul_pool *pool);

#endif
