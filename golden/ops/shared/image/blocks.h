/* Rearranging blocks of pixels into channels (depth) or batches and back: DEPTH_TO_SPACE,
 * SPACE_TO_DEPTH, BATCH_TO_SPACE_ND, SPACE_TO_BATCH_ND.  The pixels of a block of height x width,
 * in row-major order, become height * width consecutive groups of channels, or images. */
#ifndef GOLDEN_BLOCKS_H
#define GOLDEN_BLOCKS_H

#include "golden/model/op.h"

/* --- depth: DEPTH_TO_SPACE and SPACE_TO_DEPTH have the same operands */

enum depth_role { DEPTH_INPUT, DEPTH_BLOCK, DEPTH_LAYOUT, DEPTH_ROLES };
enum { DEPTH_FORMS = 1, DEPTH_TYPINGS = 4 };

extern const struct role depth_in[DEPTH_ROLES];
extern const struct role depth_out[1];
extern const struct form depth_forms[DEPTH_FORMS];
extern const struct typing depth_typings[DEPTH_TYPINGS];

/* For infer(): checks that the block size is at least 1 and returns it; 0: not known. */
int depth_block(const struct call *c, int32_t *ret_block, struct why *w);

/* For move(): channels of the input to pixels of output 0 (to_space), or the reverse. */
void depth_move(const struct call *c, bool to_space, const struct movement *m);

/* --- batch: operand `role`, of shape [2], holds the height and width of a block */

/* For infer(): checks that both block sizes, if known, are at least 1. */
int batch_check(const struct call *c, int role, struct why *w);

/* Copies between a batch of images and the larger batch of their blocks' pixels.  pad: rows above
 * and columns left of the image that only the larger batch holds. */
struct batch_blocks {
    struct shape image;  /* [n, height, width, channels] */
    struct shape blocks; /* [block height * block width * n, rows, columns, channels] */
    uint32_t height, width;
    int64_t pad_top, pad_left;
};
/* size: bytes of an element. */
void batch_to_space(const struct batch_blocks *b, size_t size, const void *blocks, void *image);
void batch_from_space(const struct batch_blocks *b, size_t size, const void *image, void *blocks);

/* For draw(): both block sizes, 1..3. */
bool batch_draw_blocks(struct drawer *d, struct tensor *to);

#endif
