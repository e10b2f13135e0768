/* Matrix products and convolutions: split into blocks, whose weights are packed and whose output
 * pixels are passed to the kernel in tiles.  A matrix product is a 1x1 convolution of a column of m
 * pixels. */
#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "golden/math/matmul_internal.h"

struct product {
    struct matmul_axis y, x;
    size_t batch, groups;
    size_t depth;               /* input channels of a group: products of one tap */
    size_t n, k;                /* outputs of a group, products of an output */
    size_t in_pixel, out_pixel; /* doubles from pixel to pixel */
    const double *image, *weights, *packed, *init;
    bool add;
    double *out;
};

/* One block of weights, for the tiles that use it. */
struct block {
    size_t group, n0, n1, k0, k1;
    const double *panels;
    const double *init; /* NULL: continue from the output */
};

static size_t min(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t divide_up(size_t a, size_t b)
{
    return a ? (a - 1) / b + 1 : 0;
}

/* Size of equal parts of `total` of at most `most`; all but the last are multiples of `unit`. */
static size_t part_size(size_t total, size_t most, size_t unit)
{
    size_t parts = divide_up(total, most);
    return parts < 2 ? total : divide_up(divide_up(total, parts), unit) * unit;
}

static size_t block_n(size_t n)
{
    return part_size(n, BLOCK_N, PANEL);
}

static size_t block_k(size_t k)
{
    return part_size(k, BLOCK_K, 4);
}

/* Packs columns k0..k1-1 of rows n0..n1-1 of b, which has rows of k, into panels. */
static void pack_block(const double *b, size_t k, const struct block *at, double *ret_panels)
{
    size_t depth = at->k1 - at->k0;
    for (size_t j = at->n0; j < at->n1; j += PANEL) {
        matmul_kernel()->pack(min(PANEL, at->n1 - j), depth, b + j * k + at->k0, k, ret_panels);
        ret_panels += PANEL * depth;
    }
}

struct matmul_packed {
    alignas(64) double panels[1];
};

/* Packed weights are [group][block of k][panel][k][PANEL]; the number of doubles in a group. */
static size_t packed_group(size_t n, size_t k)
{
    return divide_up(n, PANEL) * PANEL * k;
}

size_t matmul_packed_bytes(size_t n, size_t k, size_t groups)
{
    groups = groups ? groups : 1;
    return divide_up(packed_group(n / groups, k) * groups * sizeof(double) + 1, 64) * 64;
}

void matmul_pack_into(size_t n, size_t k, size_t groups, const double *b, struct matmul_packed *ret)
{
    groups = groups ? groups : 1;
    size_t each = n / groups;
    for (size_t g = 0; g < groups; g++)
        for (size_t k0 = 0; k0 < k; k0 += block_k(k)) {
            struct block at = { .n1 = each, .k0 = k0, .k1 = min(k, k0 + block_k(k)) };
            pack_block(b + g * each * k, k, &at,
                       ret->panels + g * packed_group(each, k) + k0 * packed_group(each, 1));
        }
}

struct matmul_packed *matmul_pack(size_t n, size_t k, size_t groups, const double *b)
{
    struct matmul_packed *p = aligned_alloc(64, matmul_packed_bytes(n, k, groups));
    if (p)
        matmul_pack_into(n, k, groups, b, p);
    return p;
}

void matmul_packed_free(struct matmul_packed *p)
{
    free(p);
}

/* Appends a run for those of the products from..to-1, contiguous in memory from `offset`, that are
 * in block b; returns the number of runs, 0 or 1. */
static size_t add_run(const struct block *b, size_t from, size_t to, size_t offset,
                      struct matmul_run *to_run)
{
    size_t k0 = from > b->k0 ? from : b->k0, k1 = min(to, b->k1);
    if (k0 >= k1)
        return 0;
    *to_run =
        (struct matmul_run){ .offset = offset + k0 - from, .k = k0 - b->k0, .length = k1 - k0 };
    return 1;
}

/* The products of block b for pixels of spans y and x, as runs; at most one per product. */
static size_t runs_of(const struct product *p, const struct block *b, const struct matmul_span *y,
                      const struct matmul_span *x, struct matmul_run *ret_run)
{
    bool whole_rows = p->depth == p->in_pixel && p->x.dilation == 1;
    size_t n = 0, step = whole_rows ? x->t1 - x->t0 : 1;
    for (size_t ty = y->t0; ty < y->t1; ty++)
        for (size_t tx = x->t0; tx < x->t1; tx += step) {
            size_t k = (ty * p->x.kernel + tx) * p->depth;
            size_t iy = (ty - y->t0) * p->y.dilation, ix = (tx - x->t0) * p->x.dilation;
            n += add_run(b, k, k + step * p->depth, (iy * p->x.in + ix) * p->in_pixel, &ret_run[n]);
        }
    return n;
}

/* All pixels of lines l0..l1-1 whose taps are those of spans y and x. */
static void run_tiles(const struct product *p, const struct block *b, const struct matmul_span *y,
                      const struct matmul_span *x, size_t l0, size_t l1)
{
    struct matmul_run runs[BLOCK_K];
    struct matmul_rows rows;
    struct matmul_tile t = { .runs = runs,
                             .n_runs = runs_of(p, b, y, x, runs),
                             .panels = b->panels,
                             .depth = b->k1 - b->k0,
                             .columns = b->n1 - b->n0,
                             .init = b->init };
    struct matmul_walk w = { .ya = &p->y,
                             .xa = &p->x,
                             .y = y,
                             .x = x,
                             .image = p->image + b->group * p->depth,
                             .in_pixel = p->in_pixel,
                             .out = p->out + b->group * p->n + b->n0,
                             .out_pixel = p->out_pixel };
    if (!t.n_runs && !t.init)
        return;
    matmul_walk_begin(&w, l0, l1);
    while (matmul_walk_next(&w, &rows))
        matmul_kernel()->tile(&t, &rows);
}

static void run_block(const struct product *p, const struct block *b, size_t l0, size_t l1)
{
    struct matmul_span y, x;
    for (size_t oy = 0; oy < p->y.out; oy = y.o1) {
        y = matmul_axis_span(&p->y, oy);
        for (size_t ox = 0; ox < p->x.out; ox = x.o1) {
            x = matmul_axis_span(&p->x, ox);
            run_tiles(p, b, &y, &x, l0, l1);
        }
    }
}

_Static_assert(BLOCK_N *BLOCK_K * sizeof(double) + BLOCK_K * sizeof(struct matmul_run) + 8192 <=
                   MATMUL_STACK,
               "scratch memory of a thread, and stack frames");

/* matmul_jobs.job: a part is a block of outputs of a group. */
static void run_part(const void *context, size_t part, size_t l0, size_t l1)
{
    alignas(64) double panels[BLOCK_N * BLOCK_K];
    double init[BLOCK_N] = { 0 };
    const struct product *p = context;
    size_t width = block_n(p->n), depth = block_k(p->k), blocks = divide_up(p->n, width);
    struct block b = { .group = part / blocks, .n0 = part % blocks * width };
    b.n1 = min(p->n, b.n0 + width);
    b.init = p->add ? NULL : init;
    if (p->init)
        memcpy(init, p->init + b.group * p->n + b.n0, (b.n1 - b.n0) * sizeof(double));
    do {
        b.k1 = min(p->k, b.k0 + depth);
        if (p->packed) {
            b.panels = p->packed + b.group * packed_group(p->n, p->k) +
                       b.k0 * packed_group(p->n, 1) + b.n0 * (b.k1 - b.k0);
        } else {
            pack_block(p->weights + b.group * p->n * p->k, p->k, &b, panels);
            b.panels = panels;
        }
        run_block(p, &b, l0, l1);
        b.init = NULL;
        b.k0 = b.k1;
    } while (b.k0 < p->k);
}

static void product_run(const struct product *p, struct matmul_pool *pool)
{
    if (!p->n || !p->batch || !p->y.out || !p->x.out)
        return;
    struct matmul_jobs s = { .job = run_part, .context = p, .lines = p->batch * p->y.out };
    s.parts = p->groups * divide_up(p->n, block_n(p->n));
    s.products = s.lines * p->x.out * p->groups * p->n * p->k;
    matmul_run_jobs(&s, pool);
}

void matmul(const struct matmul *p, struct matmul_pool *pool)
{
    struct product g = { .y = { .in = p->m, .out = p->m, .kernel = 1, .stride = 1, .dilation = 1 },
                         .x = { .in = 1, .out = 1, .kernel = 1, .stride = 1, .dilation = 1 },
                         .batch = 1,
                         .groups = 1,
                         .depth = p->k,
                         .n = p->n,
                         .k = p->k,
                         .in_pixel = p->lda ? p->lda : p->k,
                         .out_pixel = p->ldc ? p->ldc : p->n,
                         .image = p->a,
                         .weights = p->b,
                         .init = p->init,
                         .add = p->add,
                         .packed = p->packed ? p->packed->panels : NULL,
                         .out = p->c };
    product_run(&g, pool);
}

void matmul_conv(const struct matmul_conv *p, struct matmul_pool *pool)
{
    size_t groups = p->groups ? p->groups : 1;
    struct product g = { .y = p->y,
                         .x = p->x,
                         .batch = p->batch,
                         .groups = groups,
                         .depth = p->in_c / groups,
                         .n = p->out_c / groups,
                         .in_pixel = p->in_c,
                         .out_pixel = p->out_c,
                         .image = p->image,
                         .weights = p->weights,
                         .init = p->init,
                         .packed = p->packed ? p->packed->panels : NULL,
                         .out = p->out };
    g.k = p->y.kernel * p->x.kernel * g.depth;
    product_run(&g, pool);
}
