#include "golden/model/copy_elements.h"

#include <string.h>

enum { TILE = 16, MAX_TILED = 8 };

/* Copies n single elements; inlined for common sizes, so that memcpy() compiles to plain loads and
 * stores. */
static inline __attribute__((always_inline)) void copy_steps(size_t size, size_t n,
                                                             ptrdiff_t from_step, ptrdiff_t to_step,
                                                             const char *from, char *to)
{
    from_step *= (ptrdiff_t) size;
    to_step *= (ptrdiff_t) size;
    for (size_t i = 0; i < n; i++, from += from_step, to += to_step)
        memcpy(to, from, size);
}

static void copy_run(size_t size, const struct copy_axis *a, size_t n, const char *from, char *to)
{
    if (a->from == 1 && a->to == 1)
        memcpy(to, from, n * size);
    else if (size == 1)
        copy_steps(1, n, a->from, a->to, from, to);
    else if (size == 2)
        copy_steps(2, n, a->from, a->to, from, to);
    else if (size == 4)
        copy_steps(4, n, a->from, a->to, from, to);
    else if (size == 8)
        copy_steps(8, n, a->from, a->to, from, to);
    else
        copy_steps(size, n, a->from, a->to, from, to);
}

/* One tile of a transposition, read along the rows of the source and written along those of the
 * destination, so that each cache line is loaded only once. */
static void copy_tile(size_t size, const struct copy_axis *rows, const struct copy_axis *run,
                      size_t n_rows, size_t n_run, const char *from, char *to)
{
    char tile[TILE * TILE * MAX_TILED];
    struct copy_axis read = { n_rows, rows->from, TILE }, write = { n_run, 1, run->to };

    for (size_t j = 0; j < n_run; j++)
        copy_run(size, &read, n_rows, from + (ptrdiff_t) j * run->from * (ptrdiff_t) size,
                 tile + j * size);
    for (size_t i = 0; i < n_rows; i++)
        copy_run(size, &write, n_run, tile + i * TILE * size,
                 to + (ptrdiff_t) i * rows->to * (ptrdiff_t) size);
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void copy_rows(size_t size, const struct copy_axis *rows, const struct copy_axis *run,
                      const char *from, char *to)
{
    ptrdiff_t row_from = rows->from * (ptrdiff_t) size, row_to = rows->to * (ptrdiff_t) size;

    for (size_t i = 0; i < rows->n; i++)
        copy_run(size, run, run->n, from + (ptrdiff_t) i * row_from, to + (ptrdiff_t) i * row_to);
}

/* A transposition: neighbours in the source are in different rows of the destination.  A small one
 * fits into the cache and is copied along the longer axis. */
static void copy_transposed(size_t size, const struct copy_axis *rows, const struct copy_axis *run,
                            const char *from, char *to)
{
    ptrdiff_t row_to = rows->to * (ptrdiff_t) size;
    ptrdiff_t run_from = run->from * (ptrdiff_t) size, run_to = run->to * (ptrdiff_t) size;

    if (rows->n * run->n <= TILE * TILE) {
        bool longer = rows->n > run->n;
        copy_rows(size, longer ? run : rows, longer ? rows : run, from, to);
        return;
    }
    for (size_t i = 0; i < rows->n; i += TILE)
        for (size_t j = 0; j < run->n; j += TILE)
            copy_tile(size, rows, run, smaller(rows->n - i, TILE), smaller(run->n - j, TILE),
                      from + (ptrdiff_t) (i * size) + (ptrdiff_t) j * run_from,
                      to + (ptrdiff_t) i * row_to + (ptrdiff_t) j * run_to);
}

static void copy_box(size_t size, const struct copy_axis *a, uint32_t rank, const char *from,
                     char *to)
{
    if (rank == 2) {
        const struct copy_axis *rows = &a[0], *run = &a[1];
        bool transposed = rows->n > 1 && rows->from == 1 && run->from != 1 && run->from != 0;
        if (transposed && size <= MAX_TILED)
            copy_transposed(size, rows, run, from, to);
        else
            copy_rows(size, rows, run, from, to);
        return;
    }
    for (size_t i = 0; i < a->n; i++) {
        copy_box(size, a + 1, rank - 1, from, to);
        from += a->from * (ptrdiff_t) size;
        to += a->to * (ptrdiff_t) size;
    }
}

void copy_elements(size_t size, const struct copy_axis *axis, uint32_t rank, const void *from,
                   void *to)
{
    /* Without axes of one element; adjacent axes that are contiguous in both arrays are merged. The
     * first two axes have one element, so that at least two are left. */
    struct copy_axis a[MAX_COPY_AXES + 2] = { { 1, 1, 1 }, { 1, 1, 1 } }, *last = NULL;
    uint32_t n = 2;

    for (uint32_t i = 0; i < rank; i++)
        if (axis[i].n == 0)
            return;
    for (uint32_t i = 0; i < rank; i++) {
        const struct copy_axis *next = &axis[i];
        if (next->n == 1)
            continue;
        if (last && last->from == next->from * (ptrdiff_t) next->n &&
            last->to == next->to * (ptrdiff_t) next->n) {
            *last = (struct copy_axis){ last->n * next->n, next->from, next->to };
        } else {
            a[n] = *next;
            last = &a[n++];
        }
    }
    uint32_t skip = n - 2 < 2 ? n - 2 : 2;
    copy_box(size, a + skip, n - skip, from, to);
}

void fill_elements(size_t size, const void *value, size_t n, void *to)
{
    if (n == 0)
        return;
    if (size == 1) {
        memset(to, *(const unsigned char *) value, n);
        return;
    }
    memcpy(to, value, size);
    for (size_t done = 1; done < n;) { /* doubling: copies the part already filled */
        size_t more = done < n - done ? done : n - done;
        memcpy((char *) to + done * size, to, more * size);
        done += more;
    }
}

void element_strides(const struct shape *s, ptrdiff_t ret_stride[MAX_RANK])
{
    ptrdiff_t step = 1;

    for (uint32_t i = s->rank; i-- > 0; step *= (ptrdiff_t) s->dim[i])
        ret_stride[i] = step;
}

size_t element_count(const struct shape *s, uint32_t lo, uint32_t hi)
{
    size_t n = 1;

    for (uint32_t i = lo; i < hi; i++)
        n *= s->dim[i];
    return n;
}
