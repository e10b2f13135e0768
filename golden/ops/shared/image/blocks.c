#include "golden/ops/shared/image/blocks.h"

#include "golden/model/copy_elements.h"

const struct role depth_in[DEPTH_ROLES] = {
    [DEPTH_INPUT] = { "input", "the image", "NHWC", .slot = 0, .image = true, .draw = DRAW_SHAPE },
    [DEPTH_BLOCK] = { "block_size", "height and width of a block", .slot = FIXED(DT_INT32),
                      .draw = DRAW_OP, .needs = NEEDS_CONST },
    [DEPTH_LAYOUT] = { "nchw", "true: input and output are NCHW", .slot = FIXED(DT_BOOL),
                       .since = L3, .optional = true, .draw = DRAW_FLAG },
};

const struct role depth_out[1] = {
    { "output", "the rearranged image", "N???", .slot = 0, .image = true, .q = Q_SAME },
};

const struct form depth_forms[DEPTH_FORMS] = {
    { "", { DEPTH_INPUT, DEPTH_BLOCK, DEPTH_LAYOUT, END } },
};

const struct typing depth_typings[DEPTH_TYPINGS] = {
    { L1, RANK(4), { DT_F32 } },
    { L1, RANK(4), { DT_U8 } },
    { L3, RANK(4), { DT_F16 } },
    { L4, RANK(4), { DT_S8 } },
};

int depth_block(const struct call *c, int32_t *ret_block, struct why *w)
{
    int32_t block = call_known(c, DEPTH_BLOCK) ? call_int(c, DEPTH_BLOCK) : 0;

    if (call_known(c, DEPTH_BLOCK))
        REQUIRE(w, block >= 1, "block_size is %d, must be at least 1", block);
    *ret_block = block;
    return 0;
}

/* The axes of the copy, in the order of the image with more pixels: batch, row of blocks, row in
 * the block, column of blocks, column in the block, channel. */
void depth_move(const struct call *c, bool to_space, const struct movement *m)
{
    const struct shape *deep = to_space ? &c->in[DEPTH_INPUT]->shape : &c->out[0]->shape;
    ptrdiff_t block = call_int(c, DEPTH_BLOCK), h = deep->dim[1], w = deep->dim[2];
    ptrdiff_t depth = deep->dim[3], channels = depth / (block * block), row = w * depth;
    struct copy_axis box[] = {
        { deep->dim[0], h * row, h * row },
        { (size_t) h, row, row },
        { (size_t) block, block * channels, w * block * channels },
        { (size_t) w, depth, block * channels },
        { (size_t) block, channels, channels },
        { (size_t) channels, 1, 1 },
    };

    for (int i = 0; i < COUNT(box) && !to_space; i++)
        box[i] = (struct copy_axis){ box[i].n, box[i].to, box[i].from };
    copy_elements(m->size, box, COUNT(box), m->from[DEPTH_INPUT], m->to[0]);
}

int batch_check(const struct call *c, int role, struct why *w)
{
    const int32_t *block = c->in[role]->data;

    if (block)
        REQUIRE(w, block[0] >= 1 && block[1] >= 1, "block sizes are %d and %d, must be at least 1",
                block[0], block[1]);
    return 0;
}

/* The rows (or columns) of blocks whose pixel `at` lies in the image. */
struct batch_range {
    int64_t first, end; /* in blocks */
    int64_t image;      /* row or column of the image for the first block */
};

static struct batch_range range_of(int64_t at, int64_t pad, int64_t block, int64_t n_blocks,
                                   int64_t n_image)
{
    int64_t first = at < pad ? (pad - at + block - 1) / block : 0;
    int64_t end = (n_image + pad - at + block - 1) / block;

    end = end < 0 ? 0 : end > n_blocks ? n_blocks : end;
    return (struct batch_range){ first, first < end ? end : first, first * block + at - pad };
}

/* The copy of pixel (y, x) of every block: its axes from blocks to image, and the first element in
 * both arrays.  false: no such pixel lies in the image. */
static bool batch_box(const struct batch_blocks *b, uint32_t y, uint32_t x,
                      struct copy_axis ret_box[4], size_t *ret_blocks, size_t *ret_image)
{
    struct batch_range h = range_of(y, b->pad_top, b->height, b->blocks.dim[1], b->image.dim[1]);
    struct batch_range w = range_of(x, b->pad_left, b->width, b->blocks.dim[2], b->image.dim[2]);
    ptrdiff_t from[MAX_RANK], to[MAX_RANK];

    if (h.first == h.end || w.first == w.end)
        return false;
    element_strides(&b->blocks, from);
    element_strides(&b->image, to);
    ret_box[0] = (struct copy_axis){ b->image.dim[0], from[0], to[0] };
    ret_box[1] =
        (struct copy_axis){ (size_t) (h.end - h.first), from[1], (ptrdiff_t) b->height * to[1] };
    ret_box[2] =
        (struct copy_axis){ (size_t) (w.end - w.first), from[2], (ptrdiff_t) b->width * to[2] };
    ret_box[3] = (struct copy_axis){ b->image.dim[3], 1, 1 };
    size_t batch = ((size_t) y * b->width + x) * b->image.dim[0];
    *ret_blocks = batch * (size_t) from[0] + (size_t) (h.first * from[1] + w.first * from[2]);
    *ret_image = (size_t) (h.image * to[1] + w.image * to[2]);
    return true;
}

void batch_to_space(const struct batch_blocks *b, size_t size, const void *blocks, void *image)
{
    struct copy_axis box[4];
    size_t from, to;

    for (uint32_t y = 0; y < b->height; y++)
        for (uint32_t x = 0; x < b->width; x++)
            if (batch_box(b, y, x, box, &from, &to))
                copy_elements(size, box, 4, (const char *) blocks + from * size,
                              (char *) image + to * size);
}

void batch_from_space(const struct batch_blocks *b, size_t size, const void *image, void *blocks)
{
    struct copy_axis box[4];
    size_t from, to;

    for (uint32_t y = 0; y < b->height; y++)
        for (uint32_t x = 0; x < b->width; x++) {
            if (!batch_box(b, y, x, box, &to, &from))
                continue;
            for (int i = 0; i < 4; i++)
                box[i] = (struct copy_axis){ box[i].n, box[i].to, box[i].from };
            copy_elements(size, box, 4, (const char *) image + from * size,
                          (char *) blocks + to * size);
        }
}

bool batch_draw_blocks(struct drawer *d, struct tensor *to)
{
    int32_t *block = to->data;

    to->shape = (struct shape){ 1, { 2 } };
    block[0] = 1 + (int32_t) d->below(d, 4);
    block[1] = 1 + (int32_t) d->below(d, 4);
    return true;
}
