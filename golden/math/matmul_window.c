/* The taps of a sliding window that lie inside the image.  Outputs are grouped into spans with the
 * same taps, so that the kernel never handles padding. */
#include "golden/math/matmul_internal.h"

static size_t min(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* The taps of output o that lie inside the input; both ends decrease as o grows. */
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

struct matmul_span matmul_axis_span(const struct matmul_axis *a, size_t first)
{
    struct matmul_span s = { .o0 = first };
    size_t t0, t1, low = first, high = a->out;
    if (a->kernel == 1 && a->pad == 0 && (high - 1) * a->stride < a->in) /* always inside */
        return (struct matmul_span){ .o0 = first, .o1 = high, .t1 = 1 };
    inside(a, first, &s.t0, &s.t1);
    inside(a, high - 1, &t0, &t1);
    if (t0 == s.t0 && t1 == s.t1) /* as without padding */
        low = high - 1;
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

/* Number of lines before line l, of all images, that lie in the span. */
static size_t lines_before(size_t l, size_t height, const struct matmul_span *y)
{
    size_t row = l % height, inside_last = row < y->o0 ? 0 : min(row, y->o1) - y->o0;
    return l / height * (y->o1 - y->o0) + inside_last;
}

void matmul_walk_begin(struct matmul_walk *w, size_t l0, size_t l1)
{
    size_t height = w->y->o1 - w->y->o0, first = lines_before(l0, w->ya->out, w->y);
    size_t lines = lines_before(l1, w->ya->out, w->y) - first;
    w->left = lines * (w->x->o1 - w->x->o0);
    w->image_index = first / height;
    w->oy = w->y->o0 + first % height;
    w->ox = w->x->o0;
}

/* The input that tap s->t0 of output o reads. */
static size_t axis_input(const struct matmul_axis *a, const struct matmul_span *s, size_t o)
{
    return (size_t) ((ptrdiff_t) (o * a->stride + s->t0 * a->dilation) - a->pad);
}

/* Where the first tap of the current line's first pixel lies in the input. */
static size_t walk_input(const struct matmul_walk *w)
{
    size_t iy = w->image_index * w->ya->in + axis_input(w->ya, w->y, w->oy);

    return (iy * w->xa->in + axis_input(w->xa, w->x, w->x->o0)) * w->in_pixel;
}

/* Where that pixel lies in the output. */
static size_t walk_output(const struct matmul_walk *w)
{
    size_t oy = w->image_index * w->ya->out + w->oy;

    return (oy * w->xa->out + w->x->o0) * w->out_pixel;
}

/* Splits evenly, 7 pixels into 4 and 3 instead of 6 and 1: a single row does not use the vector
 * units well. */
bool matmul_walk_next(struct matmul_walk *w, struct matmul_rows *ret_rows)
{
    if (!w->left)
        return false;
    size_t tiles = (w->left - 1) / TILE + 1;
    size_t count = tiles == 1 ? w->left : (w->left - 1) / tiles + 1;
    const bool taps = w->y->t0 != w->y->t1 && w->x->t0 != w->x->t1;
    const size_t in_pixel = w->xa->stride * w->in_pixel;
    const size_t in_line = w->ya->stride * w->xa->in * w->in_pixel;
    const size_t out_line = w->xa->out * w->out_pixel;
    const size_t width = w->x->o1 - w->x->o0;
    size_t in = walk_input(w), out = walk_output(w); /* of the current line's first pixel */
    size_t x = w->ox - w->x->o0, a = in + x * in_pixel, c = out + x * w->out_pixel;
    for (size_t r = 0; r < count; r++) {
        ret_rows->a[r] = taps ? w->image + a : NULL;
        ret_rows->c[r] = w->out + c;
        a += in_pixel;
        c += w->out_pixel;
        if (++x < width)
            continue;
        x = 0;
        in += in_line;
        out += out_line;
        if (++w->oy == w->y->o1) {
            w->oy = w->y->o0;
            w->image_index++;
            in = walk_input(w);
            out = walk_output(w);
        }
        a = in;
        c = out;
    }
    w->ox = w->x->o0 + x;
    ret_rows->count = count;
    w->left -= count;
    return true;
}
