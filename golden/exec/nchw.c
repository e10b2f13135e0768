#include "golden/exec/nchw.h"

#include "golden/model/copy_elements.h"

/* Copies elements between NCHW and NHWC; s is the NHWC shape. */
static void permute(const struct shape *s, size_t size, const char *from, char *to, bool to_nhwc)
{
    size_t plane = (size_t) s->dim[1] * s->dim[2], channels = s->dim[3];
    ptrdiff_t p = (ptrdiff_t) plane, c = (ptrdiff_t) channels;
    const struct copy_axis box[][3] = {
        { { s->dim[0], p * c, p * c }, { channels, 1, p }, { plane, c, 1 } },
        { { s->dim[0], p * c, p * c }, { plane, 1, c }, { channels, p, 1 } },
    };

    copy_elements(size, box[to_nhwc], 3, from, to);
}

static void *permuted(const struct shape *nhwc, size_t size, const void *from, struct arena *a,
                      bool to_nhwc)
{
    char *to = from ? arena_alloc_raw(a, shape_count(nhwc) + 1, size) : NULL;

    if (to)
        permute(nhwc, size, from, to, to_nhwc);
    return to;
}

int nchw_permute(struct value *v, const struct shape *nhwc, struct arena *a, bool to_nhwc,
                 struct why *w)
{
    size_t size = dtype_info[v->tensor.dtype].codec->size;
    struct value old = *v;

    v->tensor.data = permuted(nhwc, size, old.tensor.data, a, to_nhwc);
    v->real = permuted(nhwc, sizeof(double), old.real, a, to_nhwc);
    v->bound = permuted(nhwc, sizeof(double), old.bound, a, to_nhwc);
    if (!v->tensor.data != !old.tensor.data || !v->real != !old.real || !v->bound != !old.bound)
        return why_no_memory(w);
    return 0;
}
