#include "golden/compare.h"

/* Reach of a tie that comes from the way in which quantised operands are brought to one scale. */
static double requantising_slack(const struct tensor *a, const struct tensor *b)
{
    bool quantised = dtype_info[a->dtype].quant == QUANT_AFFINE;
    return quantised && !tensor_same_quant(a, b) ? tensor_step(a, 0) : 0;
}

int compare_bound(struct call *c, struct why *w)
{
    (void) w;
    struct broadcast it;
    const struct tensor *ta = c->arg[0], *tb = c->arg[1];
    double slack = requantising_slack(ta, tb);

    for (bool more = broadcast_first(&it, &ta->shape, &tb->shape); more; more = broadcast_next(&it))
        for (size_t i = 0; i < it.run; i++) {
            size_t a = it.a + i * it.step_a, b = it.b + i * it.step_b;
            double reach = slack + (c->ex[0] ? c->ex[0][a] : 0) + (c->ex[1] ? c->ex[1][b] : 0);
            bool decided = reach == 0 || fabs(c->x[0][a] - c->x[1][b]) > reach;
            c->ey[0][it.at + i] = decided ? 0 : 1;
        }
    return 0;
}
