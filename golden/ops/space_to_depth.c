#include "golden/ops/shared/image/blocks.h"

static int infer(struct call *c, struct why *w)
{
    const struct shape *in = &c->in[DEPTH_INPUT]->shape;
    struct shape *out = &c->out[0]->shape;
    int32_t block;

    TRY(depth_block(c, &block, w));
    if (block == 0)
        return 0;
    uint64_t b = (uint64_t) block;
    REQUIRE(w, in->dim[1] % b == 0 && in->dim[2] % b == 0,
            "%u x %u pixels cannot be cut into blocks of %d x %d", in->dim[1], in->dim[2], block,
            block);
    uint64_t depth = in->dim[3] && b * b <= UINT32_MAX ? in->dim[3] * b * b : 0;
    REQUIRE(w, b * b <= UINT32_MAX && depth <= UINT32_MAX, "block_size %d makes too many channels",
            block);
    *out = (struct shape){ 4,
                           { in->dim[0], (uint32_t) (in->dim[1] / b), (uint32_t) (in->dim[2] / b),
                             (uint32_t) depth } };
    return 0;
}

static void move(const struct call *c, const struct movement *m)
{
    depth_move(c, false, m);
}

static bool draw(const struct call *c, int role, struct drawer *d, struct tensor *to)
{
    uint32_t block = 2 + d->below(d, 3);

    if (role == DEPTH_INPUT) {
        to->shape = (struct shape){ 4,
                                    { 1 + d->below(d, 2), (1 + d->below(d, 3)) * block,
                                      (1 + d->below(d, 3)) * block, d->size(d, 4) } };
        return true;
    }
    const struct shape *in = &c->in[DEPTH_INPUT]->shape;
    while (in->dim[1] % block || in->dim[2] % block)
        block--;
    if (block == 1 && d->below(d, 4) > 0) /* a copy */
        return false;
    *(int32_t *) to->data = (int32_t) block;
    return true;
}

const struct op op_SPACE_TO_DEPTH = {
    .code = OP_SPACE_TO_DEPTH,
    .name = "SPACE_TO_DEPTH",
    .summary = "Rearranges blocks of pixels into groups of channels.",
    .formula = "output[n, y, x, (i*b + j) * channels + c] = input[n, y*b + i, x*b + j, c], b = "
               "block_size, "
               "channels those of the input",
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
