#include "golden/ops/shared/elementwise/compare.h"

const struct role compare_in[2] = {
    { "a", "left side", "?" },
    { "b", "right side", "?", .draw = DRAW_BROADCAST },
};

const struct role compare_out[1] = {
    { "output", "the results, in the broadcast shape of both operands", "?", .slot = FIXED(DT_B8) },
};

const struct typing compare_typings[6] = {
    /* since, ranks, operands */
    { L3, RANKS(1, MAX_RANK), { DT_B8 } },  { L3, RANKS(1, MAX_RANK), { DT_F16 } },
    { L3, RANKS(1, MAX_RANK), { DT_F32 } }, { L3, RANKS(1, MAX_RANK), { DT_I32 } },
    { L3, RANKS(1, MAX_RANK), { DT_U8 } },  { L4, RANKS(1, MAX_RANK), { DT_S8 } },
};

/* Error of comparing quantised operands after requantisation to the scale of the first. */
static double requantisation_error(const struct tensor *a, const struct tensor *b)
{
    bool quantised = dtype_info[a->dtype].quant == QUANT_AFFINE;
    return quantised && !tensor_same_quant(a, b) ? tensor_step(a, 0) : 0;
}

/* Two different values of BOOL8 that are both true: implementations compare the stored values, or
 * whether they are true. */
static bool both_true(const struct tensor *a, size_t i, const struct tensor *b, size_t k)
{
    if (a->dtype != DT_B8)
        return false;
    uint8_t x = ((const uint8_t *) a->data)[i], y = ((const uint8_t *) b->data)[k];
    return x && y && x != y;
}

int compare_bound(struct call *c, struct why *w)
{
    (void) w;
    struct broadcast it;
    const struct tensor *ta = c->arg[0], *tb = c->arg[1];
    double slack = requantisation_error(ta, tb);

    for (bool more = broadcast_first(&it, &ta->shape, &tb->shape); more; more = broadcast_next(&it))
        for (size_t i = 0; i < it.run; i++) {
            size_t a = it.a + i * it.step_a, b = it.b + i * it.step_b;
            double reach = slack + (c->ex[0] ? c->ex[0][a] : 0) + (c->ex[1] ? c->ex[1][b] : 0);
            bool decided =
                (reach == 0 && !both_true(ta, a, tb, b)) || fabs(c->x[0][a] - c->x[1][b]) > reach;
            c->ey[0][it.at + i] = decided ? 0 : 1;
        }
    return 0;
}
