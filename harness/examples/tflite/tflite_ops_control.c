/* Rules of IF and WHILE. */
#include "tflite_convert.h"

/* The subgraph that an input names, with that many inputs and outputs, converted. */
static int32_t branch(struct converter *c, uint32_t i, uint32_t n_in, uint32_t n_out)
{
    const struct value *v = input_of(c, i);

    if (!require(c, v && v->type == HAL_TYPE_SUBGRAPH && v->subgraph < c->model->n_graphs &&
                        c->model->graph[v->subgraph].n_in == n_in))
        return 0;
    return convert_subgraph(c, v->subgraph, n_out);
}

static void arguments(struct converter *c, uint32_t from, uint32_t n, int32_t *ret)
{
    for (uint32_t i = 0; i < n; i++) {
        require(c, !is_omitted(c, from + i));
        ret[i] = in(c, from + i);
    }
}

static void convert_if(struct converter *c, const struct rule *r)
{
    const uint32_t n = c->step->n_in - 3, n_out = c->step->n_out;
    const int32_t values[] = { branch(c, 1, n, n_out), branch(c, 2, n, n_out) };
    int32_t *x = arena_take(c->to->arena, n + 1, sizeof(*x));
    int32_t *y = arena_take(c->to->arena, n_out, sizeof(*y));

    if (!x || !y)
        return;
    x[0] = in(c, 0);
    arguments(c, 3, n, x + 1);
    for (uint32_t i = 0; i < n_out; i++)
        y[i] = out(c, i);
    emit(c, r->code, r->options, values, n + 1, x, n_out, y);
}

/* All arguments of TensorFlow Lite's loop are state, and outputs.  It has no time limit, which a
 * driver has to keep: loops are supported on request only. */
static void convert_while(struct converter *c, const struct rule *r)
{
    const uint32_t n = c->step->n_in - 2;
    const int32_t values[] = { branch(c, 0, n, 1), branch(c, 1, n, n) };
    int32_t *x = arena_take(c->to->arena, n, sizeof(*x)),
            *y = arena_take(c->to->arena, n, sizeof(*y));

    if (!x || !y || !require(c, c->model->loops && c->step->n_out <= n))
        return;
    arguments(c, 2, n, x);
    for (uint32_t i = 0; i < n; i++)
        y[i] = i < c->step->n_out ? out(c, i) : like(c, x[i]);
    emit(c, r->code, r->options, values, n, x, n, y);
}

const struct rule control_rules[] = {
    { HAL_OP_IF, 3, 255, 0, B8, 0, TFL_IF, OPTIONS_IF, convert_if },
    { HAL_OP_WHILE, 3, 255, 2, REAL | I32 | B8, 0, TFL_WHILE, OPTIONS_WHILE, convert_while },
    { 0 },
};
