/* Depthwise convolutions: vector lanes run over channels; weights are not packed. */
#include "golden/math/matmul_internal.h"

enum { MAX_TAPS = 256 }; /* of one pass; partial sums are stored in the output */

/* Lists the taps first.. of spans y and x, up to MAX_TAPS; returns their number. */
static size_t list_taps(const struct matmul_depthwise *p, const struct matmul_span *y,
                        const struct matmul_span *x, size_t first, size_t *ret_offset,
                        size_t *ret_weight)
{
    size_t width = x->t1 - x->t0, count = (y->t1 - y->t0) * width, n = 0;
    size_t dy = first ? first / width : 0, dx = first ? first % width : 0;
    for (; first + n < count && n < MAX_TAPS; n++) {
        ret_offset[n] = (dy * p->y.dilation * p->x.in + dx * p->x.dilation) * p->in_c;
        ret_weight[n] = ((y->t0 + dy) * p->x.kernel + x->t0 + dx) * p->in_c * p->multiplier;
        if (++dx == width) {
            dx = 0;
            dy++;
        }
    }
    return n;
}

/* All pixels of lines l0..l1-1 whose taps are those of spans y and x. */
static void run_taps(const struct matmul_depthwise *p, const struct matmul_span *y,
                     const struct matmul_span *x, size_t l0, size_t l1)
{
    size_t offset[MAX_TAPS], weight[MAX_TAPS], first = 0;
    struct matmul_rows rows;
    struct matmul_taps t = { .offset = offset,
                             .weight = weight,
                             .weights = p->weights,
                             .channels = p->in_c,
                             .multiplier = p->multiplier,
                             .init = p->init,
                             .zero = !p->init };
    struct matmul_walk w = { .ya = &p->y,
                             .xa = &p->x,
                             .y = y,
                             .x = x,
                             .image = p->image,
                             .in_pixel = p->in_c,
                             .out = p->out,
                             .out_pixel = p->in_c * p->multiplier };
    do {
        t.n_taps = list_taps(p, y, x, first, offset, weight);
        matmul_walk_begin(&w, l0, l1);
        while (matmul_walk_next(&w, &rows))
            matmul_kernel()->taps(&t, &rows);
        first += t.n_taps;
        t.init = NULL;
        t.zero = false;
    } while (t.n_taps == MAX_TAPS);
}

static void run_lines(const void *context, size_t part, size_t l0, size_t l1)
{
    const struct matmul_depthwise *p = context;
    struct matmul_span y, x;
    (void) part;
    for (size_t oy = 0; oy < p->y.out; oy = y.o1) {
        y = matmul_axis_span(&p->y, oy);
        for (size_t ox = 0; ox < p->x.out; ox = x.o1) {
            x = matmul_axis_span(&p->x, ox);
            run_taps(p, &y, &x, l0, l1);
        }
    }
}

void matmul_depthwise(const struct matmul_depthwise *p, struct matmul_pool *pool)
{
    size_t channels = p->in_c * p->multiplier;
    if (!channels || !p->batch || !p->y.out || !p->x.out)
        return;
    struct matmul_jobs s = {
        .job = run_lines, .context = p, .parts = 1, .lines = p->batch * p->y.out
    };
    s.products = s.lines * p->x.out * channels * p->y.kernel * p->x.kernel;
    matmul_run_jobs(&s, pool);
}
