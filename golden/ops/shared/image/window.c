#include "golden/ops/shared/image/window.h"

/* One spatial axis of a call, in 64 bits so that no int32 operands overflow. */
struct spatial_axis {
    const struct window_axis_roles *roles;
    const char *name;
    int64_t in, before, after, kernel, stride, dilation;
    int64_t reach; /* size of the dilated kernel */
    bool known;    /* the values of all operands are known */
};

static uint32_t letter(const struct call *c, char l)
{
    return c->letter[(unsigned char) l];
}

static int64_t read(const struct call *c, int role, int64_t otherwise, bool *known)
{
    if (role == NO_ROLE)
        return otherwise;
    *known = *known && call_known(c, role);
    return call_known(c, role) ? call_int(c, role) : otherwise;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Sets the padding to that for ceil(in / stride) outputs; an odd element is added after. */
static void pad_same(struct spatial_axis *a)
{
    int64_t out = (a->in + a->stride - 1) / a->stride;
    int64_t need = larger((out - 1) * a->stride + a->reach - a->in, 0);

    a->before = need / 2;
    a->after = need - need / 2;
}

/* Reads the operands of an axis, legal or not. */
static struct spatial_axis axis_read(const struct call *c, const struct window_roles *r,
                                     bool vertical)
{
    const struct window_axis_roles *roles = vertical ? &r->y : &r->x;
    struct spatial_axis a = { .roles = roles,
                              .name = vertical ? "height" : "width",
                              .known = true };

    a.in = letter(c, vertical ? 'H' : 'W');
    a.before = read(c, roles->before, 0, &a.known);
    a.after = read(c, roles->after, 0, &a.known);
    a.stride = read(c, roles->stride, 1, &a.known);
    a.dilation = read(c, roles->dilation, 1, &a.known);
    a.kernel = read(c, roles->kernel, letter(c, vertical ? 'h' : 'w'), &a.known);
    a.reach = (a.kernel - 1) * a.dilation + 1;
    if (read(c, r->scheme, SCHEME_VALID, &a.known) == SCHEME_SAME && a.stride > 0)
        pad_same(&a);
    return a;
}

static int axis_check(const struct spatial_axis *a, struct why *w)
{
    REQUIRE(w, a->in > 0, "%s of the image is 0", a->name);
    REQUIRE(w, a->stride > 0, "%s: stride %lld must be positive", a->name, (long long) a->stride);
    REQUIRE(w, a->dilation > 0, "%s: dilation %lld must be positive", a->name,
            (long long) a->dilation);
    REQUIRE(w, a->before >= 0 && a->after >= 0, "%s: padding %lld, %lld must not be negative",
            a->name, (long long) a->before, (long long) a->after);
    if (!a->known)
        return 0;
    REQUIRE(w, a->kernel > 0, "%s of the kernel is %lld", a->name, (long long) a->kernel);
    REQUIRE(w, a->before < a->reach && a->after < a->reach,
            "%s: padding %lld, %lld must be less than the dilated kernel size %lld", a->name,
            (long long) a->before, (long long) a->after, (long long) a->reach);
    REQUIRE(w, a->in + a->before + a->after >= a->reach,
            "%s: the dilated kernel size %lld exceeds the padded image size %lld", a->name,
            (long long) a->reach, (long long) (a->in + a->before + a->after));
    return 0;
}

static int64_t axis_out(const struct spatial_axis *a)
{
    return (a->in + a->before + a->after - a->reach) / a->stride + 1;
}

static int axis_infer(const struct call *c, const struct window_roles *r, bool vertical,
                      uint32_t *ret_out, struct why *w)
{
    struct spatial_axis a = axis_read(c, r, vertical);

    TRY(axis_check(&a, w));
    if (!a.known)
        return 0;
    REQUIRE(w, axis_out(&a) <= UINT32_MAX, "%s of the output is %lld", a.name,
            (long long) axis_out(&a));
    *ret_out = (uint32_t) axis_out(&a);
    return 0;
}

int window_infer(struct call *c, const struct window_roles *r, struct why *w)
{
    struct shape *out = &c->out[0]->shape;

    if (c->in[r->scheme] && call_known(c, r->scheme)) {
        int32_t scheme = call_int(c, r->scheme);
        REQUIRE(w, scheme == SCHEME_SAME || scheme == SCHEME_VALID,
                "padding scheme %d is neither 1 (SAME) nor 2 (VALID)", scheme);
    }
    TRY(axis_infer(c, r, true, &out->dim[1], w));
    TRY(axis_infer(c, r, false, &out->dim[2], w));
    return activation_check(c, r->activation, w);
}

static struct matmul_axis geometry(const struct spatial_axis *a)
{
    return (struct matmul_axis){ .in = (size_t) a->in,
                                 .out = (size_t) axis_out(a),
                                 .kernel = (size_t) a->kernel,
                                 .stride = (size_t) a->stride,
                                 .dilation = (size_t) a->dilation,
                                 .pad = (ptrdiff_t) a->before };
}

struct window window_of(const struct call *c, const struct window_roles *r)
{
    struct spatial_axis y = axis_read(c, r, true), x = axis_read(c, r, false);

    return (struct window){ geometry(&y), geometry(&x) };
}

/* Draws from lo..hi; lo if that is empty. */
static int32_t pick(struct drawer *d, int64_t lo, int64_t hi)
{
    return (int32_t) lo + (int32_t) d->below(d, hi > lo ? (uint32_t) (hi - lo) + 1 : 1);
}

enum { DRAWN_KERNEL = 5, LARGE_KERNEL = 12, DRAWN_PAD = 2, DRAWN_DILATION = 3 };

/* From lo..hi; one in eight covers all of the image. */
static int32_t pick_window(struct drawer *d, int64_t lo, int64_t hi, int64_t all)
{
    int32_t eighths = pick(d, 0, 8 * (larger(hi, lo) - lo + 1) - 1);

    return eighths % 8 == 0 && all > hi ? (int32_t) all : (int32_t) lo + eighths / 8;
}

static bool draw_axis(const struct spatial_axis *a, bool same, int role, struct drawer *d,
                      int32_t *ret)
{
    int64_t padded = a->in + a->before + a->after;

    if (role == a->roles->before || role == a->roles->after) {
        /* A scalar kernel size is drawn later, larger than the padding. */
        bool later = a->roles->kernel != NO_ROLE;
        *ret = pick(d, 0, later ? DRAWN_PAD : smaller(DRAWN_PAD, a->kernel - 1));
    } else if (role == a->roles->kernel) {
        int64_t lo = same ? 1 : larger(a->before, a->after) + 1;
        *ret = pick_window(d, lo, smaller(DRAWN_KERNEL, same ? DRAWN_KERNEL : padded),
                           same ? a->in : padded);
    } else if (role == a->roles->dilation) {
        int64_t most = same || a->kernel < 2 ? DRAWN_DILATION : (padded - 1) / (a->kernel - 1);
        *ret = pick(d, 1, smaller(DRAWN_DILATION, most));
    } else {
        return false;
    }
    return true;
}

bool window_draw(const struct call *c, const struct window_roles *r, int role, struct drawer *d,
                 struct tensor *to)
{
    struct spatial_axis y = axis_read(c, r, true), x = axis_read(c, r, false);
    bool same = c->in[r->scheme] && call_int(c, r->scheme) == SCHEME_SAME;
    int32_t value;

    if (!draw_axis(&y, same, role, d, &value) && !draw_axis(&x, same, role, d, &value))
        return false;
    *(int32_t *) to->data = value;
    return true;
}

uint32_t window_draw_filter(const struct call *c, char image_letter, struct drawer *d)
{
    const int64_t most = d->below(d, 16) ? DRAWN_KERNEL : LARGE_KERNEL;

    return (uint32_t) pick(d, 1, smaller(most, letter(c, image_letter)));
}
