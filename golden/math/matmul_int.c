/* Sums of products of small integers, in 32-bit integers. */
#include <string.h>

#include "golden/math/matmul_internal.h"

const unsigned char matmul_int_order[INT_PANEL] = { 0, 1, 2, 3, 8,  9,  10, 11,
                                                    4, 5, 6, 7, 12, 13, 14, 15 };

static size_t min(size_t a, size_t b)
{
    return a < b ? a : b;
}

static size_t panels(size_t n)
{
    return (n + INT_PANEL - 1) / INT_PANEL;
}

size_t matmul_int_depth(size_t k)
{
    return k + k % 2;
}

static size_t panel_size(size_t k)
{
    return INT_PANEL * matmul_int_depth(k);
}

size_t matmul_int_bytes(size_t n, size_t k)
{
    return panels(n) * panel_size(k) * sizeof(int16_t);
}

void matmul_int_pack(size_t n, size_t k, const int16_t *b, int16_t *ret)
{
    memset(ret, 0, matmul_int_bytes(n, k));
    for (size_t j = 0; j < n; j++) {
        int16_t *panel = ret + j / INT_PANEL * panel_size(k);
        for (size_t i = 0; i < k; i++)
            panel[i / 2 * 2 * INT_PANEL + j % INT_PANEL * 2 + i % 2] = b[j * k + i];
    }
}

/* Computes columns j.. of rows i..; the last panel, if it is narrower, through a buffer. */
static void run_tile(const struct matmul_int *p, size_t i, size_t count, size_t j)
{
    const int16_t *panel = p->packed + j / INT_PANEL * panel_size(p->k);
    int32_t copy[INT_TILE][INT_PANEL];
    size_t width = min(INT_PANEL, p->n - j);
    struct matmul_int_rows r = { .count = count };
    for (size_t l = 0; l < count; l++) {
        r.a[l] = p->a + (i + l) * p->lda;
        r.c[l] = width < INT_PANEL ? copy[l] : p->c + (i + l) * p->ldc + j;
    }
    matmul_kernel()->int_tile(matmul_int_depth(p->k) / 2, panel, &r);
    for (size_t l = 0; l < count && width < INT_PANEL; l++)
        memcpy(p->c + (i + l) * p->ldc + j, copy[l], width * sizeof(int32_t));
}

void matmul_int(const struct matmul_int *p)
{
    for (size_t j = 0; j < p->n; j += INT_PANEL)
        for (size_t i = 0, count; i < p->m; i += count) {
            size_t tiles = (p->m - i + INT_TILE - 1) / INT_TILE;
            count = (p->m - i + tiles - 1) / tiles;
            run_tile(p, i, count, j);
        }
}

size_t matmul_int_taps_bytes(size_t channels, size_t taps)
{
    return panels(channels) * panel_size(taps) * sizeof(int16_t);
}

void matmul_int_pack_taps(size_t channels, size_t taps, const int16_t *weights, int16_t *ret)
{
    memset(ret, 0, matmul_int_taps_bytes(channels, taps));
    for (size_t b = 0; b < panels(channels); b++)
        for (size_t t = 0; t < taps; t++)
            for (size_t j = 0; j < INT_PANEL; j++) {
                size_t c = b * INT_PANEL + matmul_int_order[j];
                if (c < channels)
                    ret[b * panel_size(taps) + t / 2 * 2 * INT_PANEL + 2 * j + t % 2] =
                        weights[t * channels + c];
            }
}

void matmul_int_taps(size_t channels, size_t taps, const int16_t *const *x, const int16_t *packed,
                     int32_t *out)
{
    const struct matmul_kernel *k = matmul_kernel();
    size_t pairs = matmul_int_depth(taps) / 2, c = 0;
    for (; c + INT_PANEL <= channels; c += INT_PANEL, packed += panel_size(taps))
        k->int_taps(pairs, c, x, packed, out + c);
    if (c < channels) {
        int32_t copy[INT_PANEL];
        k->int_taps(pairs, c, x, packed, copy);
        memcpy(out + c, copy, (channels - c) * sizeof *copy);
    }
}

void matmul_int_finish(const struct matmul_finish *f, size_t pixels, const int32_t *sums,
                       uint8_t *to)
{
    for (size_t i = 0; i < pixels; i++)
        matmul_kernel()->int_finish(f, sums + i * f->channels, to + i * f->channels);
}
