#include "golden/ops/shared/image/blocks.h"

static int infer(struct call *c, struct why *w)
{
    const struct shape *in = &c->in[DEPTH_INPUT]->shape;
    struct shape *out = &c->out[0]->shape;
    int32_t block;

    TRY(depth_block(c, &block, w));
    if (block == 0)
        return 0;
    uint64_t b = (uint64_t) block, height = in->dim[1] * b, width = in->dim[2] * b;
    REQUIRE(w, in->dim[3] % (b * b) == 0, "%u channels cannot fill blocks of %d x %d pixels",
            in->dim[3], block, block);
    REQUIRE(w, height <= UINT32_MAX && width <= UINT32_MAX,
            "an image of %llu x %llu pixels is too large", (unsigned long long) height,
            (unsigned long long) width);
    *out = (struct shape){
        4, { in->dim[0], (uint32_t) height, (uint32_t) width, (uint32_t) (in->dim[3] / (b * b)) }
    };
    return 0;
}

static void move(const struct call *c, const struct movement *m)
{
    depth_move(c, true, m);
}

/* Draws depths that are multiples of a square, so that block sizes over 1 are frequent. */
static bool draw(const struct call *c, int role, struct drawer *d, struct tensor *to)
{
    uint32_t block = 2 + d->below(d, 3);

    if (role == DEPTH_INPUT) {
        to->shape = (struct shape){ 4,
                                    { 1 + d->below(d, 2), 1 + d->below(d, 4), 1 + d->below(d, 4),
                                      (1 + d->below(d, 2)) * block * block } };
        return true;
    }
    while (c->in[DEPTH_INPUT]->shape.dim[3] % (block * block))
        block--;
    if (block == 1 && d->below(d, 4) > 0) /* a copy */
        return false;
    *(int32_t *) to->data = (int32_t) block;
    return true;
}

const struct op op_DEPTH_TO_SPACE = {
    .code = OP_DEPTH_TO_SPACE,
    .name = "DEPTH_TO_SPACE",
    .summary = "Rearranges groups of channels into blocks of pixels.",
    .formula = "output[n, y*b + i, x*b + j, c] = input[n, y, x, (i*b + j) * channels + c], b = "
               "block_size, "
               "channels those of the output",
    .since = L1,
    .in = depth_in,
    .n_in = DEPTH_ROLES,
    .out = depth_out,
    .n_out = COUNT(depth_out),
    .forms = depth_forms,
    .n_forms = DEPTH_FORMS,
    .typings = depth_typings,
    .n_typings = DEPTH_TYPINGS,
    .layout = 1 + DEPTH_LAYOUT,
    .error = { ERROR_EXACT, .text = "the errors of the elements move with them" },
    .infer = infer,
    .move = move,
    .draw = draw,
};
