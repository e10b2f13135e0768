/* Images as inputs of models: the public benchmark's preprocessing. */
#ifndef HARNESS_IMAGE_INPUT_H
#define HARNESS_IMAGE_INPUT_H

#include "harness/bench/bench_types.h"
#include "harness/bench/image_set.h"

/* Cuts the middle square out of the image, of which a side is 7/8 of the shorter side (RESIZE: the
 * whole image), scales it bilinearly to size x size pixels, and writes size * size * 3 bytes. */
void image_scale(const struct image *from, enum bench_preprocessor how, uint32_t size, uint8_t *to);

/* Writes each byte p as the value x = 2 p / 255 - 1 to a tensor of as many elements: real types x,
 * quantised ones x / scale + zero, rounded towards zero, which saturates, or with INCEPTION wraps.
 */
void image_store(const uint8_t *pixel, enum bench_preprocessor how, double scale, int32_t zero,
                 struct tensor *to);

#endif
