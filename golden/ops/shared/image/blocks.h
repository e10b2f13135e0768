/* Blocks of pixels that trade places with channels (depth) or with batches: DEPTH_TO_SPACE,
 * BATCH_TO_SPACE_ND and the ways back.  A block of height x width pixels is, in row-major order,
 * height * width neighbours in depth, or as many images in the batch. */
#ifndef GOLDEN_BLOCKS_H
#define GOLDEN_BLOCKS_H

#include "golden/model/op.h"

/* --- depth: one list of operands both ways */

enum depth_role { DEPTH_INPUT, DEPTH_BLOCK, DEPTH_LAYOUT, DEPTH_ROLES };
enum { DEPTH_FORMS = 1, DEPTH_TYPINGS = 4 };

extern const struct role depth_in[DEPTH_ROLES];
extern const struct role depth_out[1];
extern const struct form depth_forms[DEPTH_FORMS];
extern const struct typing depth_typings[DEPTH_TYPINGS];

/* For infer(): the block size, where it is known, is at least 1; 0: not known. */
int depth_block(const struct call *c, int32_t *ret_block, struct why *w);

/* For move(): output 0 has the space, or the input. */
void depth_move(const struct call *c, bool to_space, const struct movement *m);

/* --- batch: operand `role`, of shape [2], is the height and width of blocks */

/* For infer(): block sizes, where they are known, are at least 1. */
int batch_check(const struct call *c, int role, struct why *w);

/* Copies between images of one batch and of the larger one that has their pixels apart.  pad: rows
 * and columns around the image that the larger batch has besides. */
struct batch_blocks {
    struct shape image;  /* [n, height, width, channels] */
    struct shape blocks; /* [block height * block width * n, ...] */
    uint32_t height, width;
    int64_t pad_top, pad_left;
};
void batch_to_space(const struct batch_blocks *b, size_t size, const void *blocks, void *image);
void batch_from_space(const struct batch_blocks *b, size_t size, const void *image, void *blocks);

/* For draw(): 1..3 each. */
bool batch_draw_blocks(struct drawer *d, struct tensor *to);

#endif
