/* The images of a data set: files of a folder, or of an archive that libarchive reads (tar, zip),
 * in the order of the last number in their names, as the lines of the ground truth are. */
#ifndef HARNESS_IMAGE_SET_H
#define HARNESS_IMAGE_SET_H

#include <stddef.h>
#include <stdint.h>

#include "golden/base/arena.h"
#include "golden/base/why.h"

struct image_file {
    const char *name;    /* for messages and ground truths: the last part of the path */
    const char *path;    /* of a file in a folder; NULL: data is in memory */
    const uint8_t *data; /* of a member of an archive */
    size_t size;
};
struct image_set {
    uint32_t n;
    struct image_file *file;
};

/* Files whose names end in .jpeg or .jpg, in `a`. */
int image_set_read(const char *path, struct arena *a, struct image_set *ret_set, struct why *w);

/* An image as 8-bit R, G, B. */
struct image {
    uint32_t width, height;
    const uint8_t *pixel;
};
/* Decodes one, in `a`.  Thread-safe. */
int image_decode(const struct image_file *f, struct arena *a, struct image *ret_image,
                 struct why *w);

#endif
