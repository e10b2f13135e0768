#include "harness/bench/image_input.h"

#include <math.h>
#include <string.h>

/* Where output pixel i of `size` lies on an axis of `length` pixels: between pixels low and high,
 * at so many 256ths of the way.  Centres of pixels correspond; the image's edge is continued.
 */
struct between {
    uint32_t low, high, share;
};

enum { SHARES = 256 };

static struct between place(uint32_t i, uint32_t size, uint32_t length)
{
    /* (i + 1/2) * length / size - 1/2, in units of 1 / (2 * size) */
    const int64_t unit = 2 * (int64_t) size;
    const int64_t at = (2 * (int64_t) i + 1) * length - size;
    const int64_t last = (int64_t) (length - 1) * unit;
    const int64_t inside = at < 0 ? 0 : at > last ? last : at;
    const uint32_t low = (uint32_t) (inside / unit);

    return (struct between){ low, low + 1 < length ? low + 1 : low,
                             (uint32_t) (inside % unit * SHARES / unit) };
}

void image_scale(const struct image *from, enum bench_preprocessor how, uint32_t size, uint8_t *to)
{
    const uint32_t shorter = from->width < from->height ? from->width : from->height;
    uint32_t width = from->width, height = from->height, left = 0, top = 0;

    if (how != PREPROCESS_RESIZE) {
        const uint32_t side = shorter * 7 / 8 ? shorter * 7 / 8 : 1;
        left = width / 2 - side / 2;
        top = height / 2 - side / 2;
        width = height = side;
    }
    for (uint32_t y = 0; y < size; y++) {
        const struct between v = place(y, size, height);
        const uint8_t *low = from->pixel + (size_t) (top + v.low) * from->width * 3;
        const uint8_t *high = from->pixel + (size_t) (top + v.high) * from->width * 3;
        for (uint32_t x = 0; x < size; x++) {
            const struct between h = place(x, size, width);
            const size_t a = (size_t) (left + h.low) * 3, b = (size_t) (left + h.high) * 3;
            for (size_t c = 0; c < 3; c++) {
                const uint32_t upper = (SHARES - h.share) * low[a + c] + h.share * low[b + c];
                const uint32_t lower = (SHARES - h.share) * high[a + c] + h.share * high[b + c];
                *to++ =
                    (uint8_t) (((SHARES - v.share) * upper + v.share * lower) / (SHARES * SHARES));
            }
        }
    }
}

/* The value with the same low bits that the type has. */
static double wrapped(double x, const struct codec *codec)
{
    const double values = codec->max - codec->min + 1;

    return x - values * floor((x - codec->min) / values);
}

void image_store(const uint8_t *pixel, enum bench_preprocessor how, double scale, int32_t zero,
                 struct tensor *to)
{
    enum { LARGEST = 8 }; /* bytes of an element */
    const struct codec *codec = dtype_info[to->dtype].codec;
    const size_t n = tensor_count(to), size = codec->size;
    _Alignas(16) uint8_t stored[256 * LARGEST];
    uint8_t *at = to->data;
    double value[256];

    for (int p = 0; p < 256; p++) {
        const double x = 2.0 * p / 255 - 1;
        value[p] = codec->integer ? trunc(x / scale + zero) : x;
        if (codec->integer && how == PREPROCESS_INCEPTION)
            value[p] = wrapped(value[p], codec);
    }
    codec->narrow(value, 256, 0, 1, stored);
    for (size_t i = 0; i < n; i++)
        memcpy(at + i * size, stored + pixel[i] * size, size);
}
