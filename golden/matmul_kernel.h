/* The innermost loops, compiled once for each instruction set.  The file that includes this defines
 * KERNEL, the name of its `struct kernel`, and the vector type below:
 *
 *   vec                       LANES doubles
 *   vec_load, vec_store       unaligned
 *   vec_all(x)                x in each lane
 *   vec_fma(x, w, acc)        one fused multiply-add per lane
 *   vec_transpose(x)          x[i][j] and x[j][i] of a square of LANES vectors change places
 *
 * Tile loops are written for a constant number of rows and inlined into one function per number,
 * so that the accumulators live in registers: 6 rows by 8 columns are 12 of the 16 of AVX2. */
#include "golden/matmul_internal.h"

enum { VECS = PANEL / LANES };

#define INLINE static inline __attribute__((always_inline))
#ifdef __clang__
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 8")
#endif

INLINE void load_panel(vec *ret, const double *from)
{
    UNROLL for (size_t v = 0; v < VECS; v++) ret[v] = vec_load(from + v * LANES);
}

INLINE void store_panel(double *to, const vec *x)
{
    UNROLL for (size_t v = 0; v < VECS; v++) vec_store(to + v * LANES, x[v]);
}

/* acc += a[][run] * panel[run] */
INLINE void tile_run(size_t rows, vec acc[][VECS], const double *const *a, const struct run *run,
                     const double *panel)
{
    const double *x[TILE], *w = panel + run->k * PANEL;
    UNROLL for (size_t r = 0; r < rows; r++) x[r] = a[r] + run->offset;
    for (size_t k = 0; k < run->length; k++, w += PANEL) {
        vec b[VECS];
        load_panel(b, w);
        UNROLL for (size_t r = 0; r < rows; r++)
        {
            vec xk = vec_all(x[r][k]);
            UNROLL for (size_t v = 0; v < VECS; v++) acc[r][v] = vec_fma(xk, b[v], acc[r][v]);
        }
    }
}

/* One panel: c[r][0..PANEL-1], starting from from[r]. */
INLINE void tile_panel(size_t rows, const struct tile *t, const struct rows *at,
                       const double *panel, const double *const *from, double *const *c)
{
    vec acc[TILE][VECS];
    UNROLL for (size_t r = 0; r < rows; r++) load_panel(acc[r], from[r]);
    for (size_t i = 0; i < t->n_runs; i++)
        tile_run(rows, acc, at->a, &t->runs[i], panel);
    UNROLL for (size_t r = 0; r < rows; r++) store_panel(c[r], acc[r]);
}

/* The last panel when it is narrower: by way of a copy. */
INLINE void tile_edge(size_t rows, const struct tile *t, const struct rows *at, size_t j)
{
    double copy[TILE][PANEL] = { 0 }, *c[TILE];
    const double *from[TILE];
    for (size_t r = 0; r < rows; r++) {
        const double *start = t->init ? t->init + j : at->c[r] + j;
        c[r] = copy[r];
        from[r] = copy[r];
        for (size_t l = 0; j + l < t->columns; l++)
            copy[r][l] = start[l];
    }
    tile_panel(rows, t, at, t->panels + j * t->depth, from, c);
    for (size_t r = 0; r < rows; r++)
        for (size_t l = 0; j + l < t->columns; l++)
            at->c[r][j + l] = copy[r][l];
}

INLINE void tile_rows(size_t rows, const struct tile *t, const struct rows *at)
{
    size_t j = 0;
    for (; j + PANEL <= t->columns; j += PANEL) {
        double *c[TILE];
        const double *from[TILE];
        UNROLL for (size_t r = 0; r < rows; r++)
        {
            c[r] = at->c[r] + j;
            from[r] = t->init ? t->init + j : c[r];
        }
        tile_panel(rows, t, at, t->panels + j * t->depth, from, c);
    }
    if (j < t->columns)
        tile_edge(rows, t, at, j);
}

static void tile_any(const struct tile *t, const struct rows *at)
{
    switch (at->count) {
    case 1: tile_rows(1, t, at); break;
    case 2: tile_rows(2, t, at); break;
    case 3: tile_rows(3, t, at); break;
    case 4: tile_rows(4, t, at); break;
    case 5: tile_rows(5, t, at); break;
    case 6: tile_rows(6, t, at); break;
    default: break;
    }
}

/* Where the sums of output channels o.. of row r start. */
INLINE const double *taps_start(const struct taps *t, const struct rows *at, size_t r, size_t o)
{
    static const double zeros[PANEL];
    if (t->init)
        return t->init + o;
    return t->zero ? zeros : at->c[r] + o;
}

/* Depthwise: channels o..o+PANEL-1 of each row. */
INLINE void taps_panel(size_t rows, const struct taps *t, const struct rows *at, size_t o)
{
    vec acc[TILE][VECS];
    UNROLL for (size_t r = 0; r < rows; r++) load_panel(acc[r], taps_start(t, at, r, o));
    for (size_t i = 0; i < t->n_taps; i++) {
        vec w[VECS];
        load_panel(w, t->weights + t->weight[i] + o);
        UNROLL for (size_t r = 0; r < rows; r++)
        {
            const double *x = at->a[r] + t->offset[i] + o;
            UNROLL for (size_t v = 0; v < VECS; v++) acc[r][v] =
                vec_fma(vec_load(x + v * LANES), w[v], acc[r][v]);
        }
    }
    UNROLL for (size_t r = 0; r < rows; r++) store_panel(at->c[r] + o, acc[r]);
}

/* Output channel o of each row: lanes do not cover it, or its inputs do not lie side by side. */
INLINE void taps_channel(size_t rows, const struct taps *t, const struct rows *at, size_t o)
{
    size_t c = t->multiplier == 1 ? o : o / t->multiplier;
    double acc[TILE];
    UNROLL for (size_t r = 0; r < rows; r++) acc[r] = *taps_start(t, at, r, o);
    for (size_t i = 0; i < t->n_taps; i++) {
        double w = t->weights[t->weight[i] + o];
        UNROLL for (size_t r = 0; r < rows; r++) acc[r] =
            __builtin_fma(at->a[r][t->offset[i] + c], w, acc[r]);
    }
    UNROLL for (size_t r = 0; r < rows; r++) at->c[r][o] = acc[r];
}

INLINE void taps_rows(size_t rows, const struct taps *t, const struct rows *at)
{
    size_t o = 0, whole = t->multiplier == 1 ? t->channels / PANEL * PANEL : 0;
    for (; o < whole; o += PANEL)
        taps_panel(rows, t, at, o);
    for (; o < t->channels * t->multiplier; o++)
        taps_channel(rows, t, at, o);
}

static void taps_any(const struct taps *t, const struct rows *at)
{
    switch (at->count) {
    case 1: taps_rows(1, t, at); break;
    case 2: taps_rows(2, t, at); break;
    case 3: taps_rows(3, t, at); break;
    case 4: taps_rows(4, t, at); break;
    case 5: taps_rows(5, t, at); break;
    case 6: taps_rows(6, t, at); break;
    default: break;
    }
}

/* Products k..k+LANES-1 of a panel. */
INLINE void pack_square(const double *const *row, size_t k, double *ret_panel)
{
    for (size_t v = 0; v < VECS; v++) {
        vec x[LANES];
        UNROLL for (size_t l = 0; l < LANES; l++) x[l] = vec_load(row[v * LANES + l] + k);
        vec_transpose(x);
        UNROLL for (size_t l = 0; l < LANES; l++)
            vec_store(ret_panel + (k + l) * PANEL + v * LANES, x[l]);
    }
}

static void pack_any(size_t rows, size_t depth, const double *b, size_t stride, double *ret_panel)
{
    static const double zeros[BLOCK_K];
    const double *row[PANEL];
    size_t k = 0;
    for (size_t l = 0; l < PANEL; l++)
        row[l] = l < rows ? b + l * stride : zeros;
    for (; k + LANES <= depth; k += LANES)
        pack_square(row, k, ret_panel);
    for (; k < depth; k++)
        for (size_t l = 0; l < PANEL; l++)
            ret_panel[k * PANEL + l] = row[l][k];
}

const struct kernel KERNEL = { .tile = tile_any, .taps = taps_any, .pack = pack_any };
