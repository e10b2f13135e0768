/* Depthwise convolutions: lanes run over channels; weights are used as they lie. */
#include "golden/matmul_internal.h"

enum { MOST_TAPS = 256 }; /* of one pass; partial sums rest in the output */

/* Taps first.. of spans y and x, up to MOST_TAPS. */
static size_t list_taps(const struct matmul_depthwise *p, const struct span *y,
                        const struct span *x, size_t first, size_t *ret_offset, size_t *ret_weight)
{
    size_t width = x->t1 - x->t0, count = (y->t1 - y->t0) * width, n = 0;
    for (size_t i = first; i < count && n < MOST_TAPS; i++, n++) {
        size_t dy = i / width, dx = i % width;
        ret_offset[n] = (dy * p->y.dilation * p->x.in + dx * p->x.dilation) * p->in_c;
        ret_weight[n] = ((y->t0 + dy) * p->x.kernel + x->t0 + dx) * p->in_c * p->multiplier;
    }
    return n;
}

static void run_pass(const struct matmul_depthwise *p, struct walk *w, size_t pixels,
                     struct taps *t)
{
    size_t tiles = (pixels + TILE - 1) / TILE;
    for (size_t i = 0; i < tiles; i++) {
        size_t in_at[TILE], out_at[TILE];
        t->rows = pixels * (i + 1) / tiles - pixels * i / tiles;
        walk_take(w, t->rows, in_at, out_at);
        for (size_t r = 0; r < t->rows; r++) {
            t->a[r] = t->n_taps ? p->image + in_at[r] * p->in_c : NULL;
            t->c[r] = p->out + out_at[r] * p->in_c * p->multiplier;
        }
        matmul_kernel()->taps(t);
    }
}

/* All pixels of lines l0..l1-1 whose taps are those of spans y and x. */
static void run_taps(const struct matmul_depthwise *p, const struct span *y, const struct span *x,
                     size_t l0, size_t l1)
{
    size_t offset[MOST_TAPS], weight[MOST_TAPS], first = 0;
    struct taps t = { .offset = offset,
                      .weight = weight,
                      .weights = p->weights,
                      .channels = p->in_c,
                      .multiplier = p->multiplier,
                      .init = p->init };
    t.zero = !p->init;
    do {
        struct walk w;
        size_t pixels = walk_begin(&w, &p->y, &p->x, y, x, l0, l1);
        t.n_taps = list_taps(p, y, x, first, offset, weight);
        run_pass(p, &w, pixels, &t);
        first += t.n_taps;
        t.init = NULL;
        t.zero = false;
    } while (t.n_taps == MOST_TAPS);
}

static void run_lines(const void *context, size_t part, size_t l0, size_t l1)
{
    const struct matmul_depthwise *p = context;
    struct span y, x;
    (void) part;
    for (size_t oy = 0; oy < p->y.out; oy = y.o1) {
        y = axis_span(&p->y, oy);
        for (size_t ox = 0; ox < p->x.out; ox = x.o1) {
            x = axis_span(&p->x, ox);
            run_taps(p, &y, &x, l0, l1);
        }
    }
}

void matmul_depthwise(const struct matmul_depthwise *p, struct matmul_pool *pool)
{
    size_t channels = p->in_c * p->multiplier;
    if (!channels || !p->batch || !p->y.out || !p->x.out)
        return;
    struct share s = { .job = run_lines, .context = p, .parts = 1, .lines = p->batch * p->y.out };
    s.products = s.lines * p->x.out * channels * p->y.kernel * p->x.kernel;
    matmul_share(&s, pool);
}
