#include "golden/ops/shared/image/blocks.h"

enum { INPUT, BLOCK, LAYOUT };

static const struct role inputs[] = {
    [INPUT] = { "input", "images", "?HWC", .slot = 0, .image = true, .draw = DRAW_SHAPE },
    [BLOCK] = { "block_sizes", "height and width of a block; their product divides the batch", "2",
                .slot = FIXED(DT_I32), .draw = DRAW_OP, .needs = NEEDS_CONST },
    [LAYOUT] = { "nchw", "true: input and output are NCHW", .slot = FIXED(DT_BOOL), .since = L3,
                 .optional = true, .draw = DRAW_FLAG },
};

static const struct role outputs[] = {
    { "output", "fewer and larger images", "???C", .slot = 0, .image = true, .q = Q_SAME },
};

static const struct form forms[] = {
    { "", { INPUT, BLOCK, LAYOUT, END } },
};

static const struct typing typings[] = {
    { L2, RANK(4), { DT_F32 } },
    { L2, RANK(4), { DT_U8 } },
    { L3, RANK(4), { DT_F16 } },
    { L4, RANK(4), { DT_S8 } },
};

static int infer(struct call *c, struct why *w)
{
    const struct shape *in = &c->in[INPUT]->shape;
    const int32_t *block = c->in[BLOCK]->data;

    TRY(batch_check(c, BLOCK, w));
    if (!block)
        return 0;
    uint64_t pixels = (uint64_t) block[0] * (uint64_t) block[1];
    uint64_t height = in->dim[1] * (uint64_t) block[0], width = in->dim[2] * (uint64_t) block[1];
    REQUIRE(w, in->dim[0] % pixels == 0, "batch %u is no multiple of the block of %d x %d",
            in->dim[0], block[0], block[1]);
    REQUIRE(w, height <= UINT32_MAX && width <= UINT32_MAX,
            "an image of %llu x %llu pixels is too large", (unsigned long long) height,
            (unsigned long long) width);
    c->out[0]->shape = (struct shape){
        4, { (uint32_t) (in->dim[0] / pixels), (uint32_t) height, (uint32_t) width, in->dim[3] }
    };
    return 0;
}

static void move(const struct call *c, const struct movement *m)
{
    const int32_t *block = c->in[BLOCK]->data;
    struct batch_blocks b = {
        c->out[0]->shape, c->in[INPUT]->shape, (uint32_t) block[0], (uint32_t) block[1], 0, 0
    };

    if (tensor_count(c->out[0]))
        batch_to_space(&b, m->size, m->from[INPUT], m->to[0]);
}

static bool draw(const struct call *c, int role, struct drawer *d, struct tensor *to)
{
    if (role == INPUT) {
        uint32_t batch = (1 + d->below(d, 3)) * (1 + d->below(d, 3)) * (1 + d->below(d, 2));
        to->shape =
            (struct shape){ 4, { batch, 1 + d->below(d, 4), 1 + d->below(d, 4), d->size(d, 4) } };
        return true;
    }
    int32_t *block = to->data, batch = (int32_t) c->in[INPUT]->shape.dim[0];
    batch_draw_blocks(d, to);
    while (batch % block[0])
        block[0]--;
    while (batch / block[0] % block[1])
        block[1]--;
    return block[0] * block[1] > 1 || d->below(d, 4) == 0; /* else a copy */
}

const struct op op_BATCH_TO_SPACE_ND = {
    .code = OP_BATCH_TO_SPACE_ND,
    .name = "BATCH_TO_SPACE_ND",
    .summary = "Rearranges groups of images of the batch into blocks of pixels.",
    .formula = "output[n, y*b_0 + i, x*b_1 + j, c] = input[(i*b_1 + j) * images + n, y, x, c], b = "
               "block_sizes, images those of the output",
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
