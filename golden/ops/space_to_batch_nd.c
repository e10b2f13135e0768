#include "golden/model/copy_elements.h"
#include "golden/ops/shared/image/blocks.h"

enum { INPUT, BLOCK, PADDINGS, LAYOUT };

static const struct role inputs[] = {
    [INPUT] = { "input", "images", "?HWC", .slot = 0, .image = true },
    [BLOCK] = { "block_sizes", "height and width of a block; they divide the padded image", "2",
                .slot = FIXED(DT_I32), .draw = DRAW_OP, .needs = NEEDS_CONST },
    [PADDINGS] = { "paddings", "rows above and below, columns left and right, of real zeros", "22",
                   .slot = FIXED(DT_I32), .draw = DRAW_OP, .needs = NEEDS_CONST },
    [LAYOUT] = { "nchw", "true: input and output are NCHW", .slot = FIXED(DT_BOOL), .since = L3,
                 .optional = true, .draw = DRAW_FLAG },
};

static const struct role outputs[] = {
    { "output", "more and smaller images", "???C", .slot = 0, .image = true, .q = Q_SAME },
};

static const struct form forms[] = {
    { "", { INPUT, BLOCK, PADDINGS, LAYOUT, END } },
};

static const struct typing typings[] = {
    { L2, RANK(4), { DT_F32 } },
    { L2, RANK(4), { DT_U8 } },
    { L3, RANK(4), { DT_F16 } },
    { L4, RANK(4), { DT_S8 } },
};

/* Number of blocks along the height (axis 0) or width (axis 1) of the padded image. */
static int count_blocks(const struct call *c, int axis, uint32_t *ret_blocks, struct why *w)
{
    const int32_t *pad = (const int32_t *) c->in[PADDINGS]->data + (ptrdiff_t) 2 * axis;
    int64_t block = ((const int32_t *) c->in[BLOCK]->data)[axis];

    REQUIRE(w, pad[0] >= 0 && pad[1] >= 0, "paddings %d, %d must not be negative", pad[0], pad[1]);
    int64_t size = (int64_t) c->in[INPUT]->shape.dim[1 + axis] + pad[0] + pad[1];
    REQUIRE(w, size % block == 0 && size / block <= UINT32_MAX,
            "%lld pixels with padding cannot be cut into blocks of %d", (long long) size,
            (int) block);
    *ret_blocks = (uint32_t) (size / block);
    return 0;
}

static int infer(struct call *c, struct why *w)
{
    const struct tensor *in = c->in[INPUT];
    const int32_t *block = c->in[BLOCK]->data;
    struct shape out = { 4, { 0, 0, 0, in->shape.dim[3] } };

    if (in->dtype == DT_U8 && in->zero != 0) /* lower levels do not define the padding value */
        c->level = L3;
    TRY(batch_check(c, BLOCK, w));
    if (!block || !call_known(c, PADDINGS))
        return 0;
    TRY(count_blocks(c, 0, &out.dim[1], w));
    TRY(count_blocks(c, 1, &out.dim[2], w));
    uint64_t pixels = (uint64_t) block[0] * (uint64_t) block[1];
    REQUIRE(w, pixels <= UINT32_MAX && in->shape.dim[0] * pixels <= UINT32_MAX,
            "blocks of %d x %d make too many images", block[0], block[1]);
    out.dim[0] = (uint32_t) (in->shape.dim[0] * pixels);
    c->out[0]->shape = out;
    return 0;
}

static void move(const struct call *c, const struct movement *m)
{
    const int32_t *block = c->in[BLOCK]->data, *pad = c->in[PADDINGS]->data;
    struct batch_blocks b = { c->in[INPUT]->shape, c->out[0]->shape, (uint32_t) block[0],
                              (uint32_t) block[1], pad[0],           pad[2] };
    size_t n = tensor_count(c->out[0]);

    if (n > tensor_count(c->in[INPUT]))
        fill_elements(m->size, m->fill, n, m->to[0]);
    if (n)
        batch_from_space(&b, m->size, m->from[INPUT], m->to[0]);
}

/* Pads after the image up to a whole number of blocks, sometimes one block more. */
static bool draw(const struct call *c, int role, struct drawer *d, struct tensor *to)
{
    int32_t *value = to->data;

    if (role == BLOCK)
        return batch_draw_blocks(d, to);
    to->shape = (struct shape){ 2, { 2, 2 } };
    for (int axis = 0; axis < 2; axis++) {
        uint32_t block = (uint32_t) ((const int32_t *) c->in[BLOCK]->data)[axis];
        uint32_t before = d->below(d, 2) ? 0 : d->below(d, 3);
        uint32_t size = c->in[INPUT]->shape.dim[1 + axis] + before;
        uint32_t after = (block - size % block) % block + (d->below(d, 4) ? 0 : block);
        value[2 * axis] = (int32_t) before;
        value[2 * axis + 1] = (int32_t) after;
    }
    return true;
}

const struct op op_SPACE_TO_BATCH_ND = {
    .code = OP_SPACE_TO_BATCH_ND,
    .name = "SPACE_TO_BATCH_ND",
    .summary = "Rearranges blocks of pixels into the batch dimension, after padding with zeros.",
    .formula =
        "output[(i*b_1 + j) * images + n, y, x, c] = padded[n, y*b_0 + i, x*b_1 + j, c], b = "
        "block_sizes, images those of the input",
    .since = L2,
    .in = inputs,
    .n_in = COUNT(inputs),
    .out = outputs,
    .n_out = COUNT(outputs),
    .forms = forms,
    .n_forms = COUNT(forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .layout = 1 + LAYOUT,
    .fails_above = ROLE_BIT(BLOCK),
    .error = { ERROR_EXACT, .text = "the errors of the elements move with them" },
    .infer = infer,
    .move = move,
    .draw = draw,
};
