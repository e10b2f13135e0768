/* Which taps of a sliding window lie inside the image: outputs are grouped into spans with the same
 * taps, so that the kernel never meets padding. */
#include "golden/matmul_internal.h"

static size_t min(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* Both ends fall as o grows. */
static void inside(const struct matmul_axis *a, size_t o, size_t *ret_t0, size_t *ret_t1)
{
    ptrdiff_t first = (ptrdiff_t) (o * a->stride) - a->pad;
    size_t before = first < 0 ? (size_t) -first : 0, t0 = 0, t1 = 0;
    if (before)
        t0 = (before - 1) / a->dilation + 1;
    if (first < (ptrdiff_t) a->in)
        t1 = (size_t) ((ptrdiff_t) a->in - 1 - first) / a->dilation + 1;
    *ret_t0 = min(t0, a->kernel);
    *ret_t1 = min(t1, a->kernel);
}

struct span axis_span(const struct matmul_axis *a, size_t first)
{
    struct span s = { .o0 = first };
    size_t t0, t1, low = first, high = a->out;
    inside(a, first, &s.t0, &s.t1);
    while (high - low > 1) { /* low is in the span, high is not */
        size_t middle = low + (high - low) / 2;
        inside(a, middle, &t0, &t1);
        if (t0 == s.t0 && t1 == s.t1)
            low = middle;
        else
            high = middle;
    }
    s.o1 = low + 1;
    return s;
}

size_t axis_input(const struct matmul_axis *a, const struct span *s, size_t o)
{
    return (size_t) ((ptrdiff_t) (o * a->stride + s->t0 * a->dilation) - a->pad);
}

/* Lines before line l that lie in the span, in all images. */
static size_t lines_before(size_t l, size_t height, const struct span *y)
{
    size_t row = l % height, inside_last = row < y->o0 ? 0 : min(row, y->o1) - y->o0;
    return l / height * (y->o1 - y->o0) + inside_last;
}

size_t walk_begin(struct walk *w, const struct matmul_axis *ya, const struct matmul_axis *xa,
                  const struct span *y, const struct span *x, size_t l0, size_t l1)
{
    size_t height = y->o1 - y->o0, first = lines_before(l0, ya->out, y);
    *w = (struct walk){ .ya = ya, .xa = xa, .y = *y, .x = *x, .ox = x->o0 };
    w->oy = y->o0 + first % height;
    w->image = first / height;
    return (lines_before(l1, ya->out, y) - first) * (x->o1 - x->o0);
}

void walk_take(struct walk *w, size_t count, size_t *ret_in, size_t *ret_out)
{
    for (size_t i = 0; i < count; i++) {
        size_t iy = w->image * w->ya->in + axis_input(w->ya, &w->y, w->oy);
        ret_in[i] = iy * w->xa->in + axis_input(w->xa, &w->x, w->ox);
        ret_out[i] = (w->image * w->ya->out + w->oy) * w->xa->out + w->ox;
        if (++w->ox < w->x.o1)
            continue;
        w->ox = w->x.o0;
        if (++w->oy == w->y.o1) {
            w->oy = w->y.o0;
            w->image++;
        }
    }
}
