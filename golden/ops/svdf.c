#include <string.h>

#include "golden/ops/shared/elementwise/activation.h"
#include "golden/ops/shared/recurrent/cell.h"

enum { INPUT, FEATURE, TIME, BIAS, STATE, RANK_PARAM, ACTIVATION };
enum { STATE_OUT, OUTPUT };

static const struct role inputs[] = {
    [INPUT] = { "input", "[batch_size, input_size]", "BI" },
    [FEATURE] = { "weights_feature", "one filter per row, `rank` filters per unit", "FI",
                  .draw = DRAW_SHAPE, .needs = NEEDS_CONST },
    [TIME] = { "weights_time", "weights of each filter's memory, the newest step last", "FM",
               .draw = DRAW_SHAPE, .needs = NEEDS_CONST },
    [BIAS] = { "bias", "one per unit", "U", .optional = true, .draw = DRAW_SHAPE,
               .needs = NEEDS_CONST },
    [STATE] = { "state", "memory_size numbers per filter; the last one of each is not read", "B?",
                .draw = DRAW_SHAPE },
    [RANK_PARAM] = { "rank", "number of filters per unit", .slot = FIXED(DT_INT32), .draw = DRAW_OP,
                     .needs = NEEDS_CONST },
    [ACTIVATION] = { "activation", "0 none, 1 RELU, 2 RELU1, 3 RELU6, 4 TANH, 6 LOGISTIC",
                     .slot = FIXED(DT_INT32), .draw = DRAW_OP },
};

static const struct role outputs[] = {
    [STATE_OUT] = { "state", "memories shifted by one step; the last number of each is 0", "B?" },
    [OUTPUT] = { "output", "[batch_size, num_units]", "B?" },
};

static const struct form forms[] = {
    { "", { INPUT, FEATURE, TIME, BIAS, STATE, RANK_PARAM, ACTIVATION, END } },
};

static const struct typing typings[] = {
    { L1, RANK(2), { DT_F32 } },
    { L3, RANK(2), { DT_F16 } },
};

static int infer(struct call *c, struct why *w)
{
    const unsigned allowed = 1u << CELL_NONE | 1u << CELL_RELU | 1u << CELL_RELU1 |
                             1u << CELL_RELU6 | 1u << CELL_TANH | 1u << CELL_LOGISTIC;
    uint32_t filters = c->letter['F'], memory = c->letter['M'];
    uint64_t state = (uint64_t) filters * memory;

    REQUIRE(w, memory > 0, "%s: memory_size is 0", c->op->name);
    REQUIRE(w, c->in[STATE]->shape.dim[1] == state,
            "%s: state has %u numbers per batch, %u filters of %u steps need %llu", c->op->name,
            c->in[STATE]->shape.dim[1], filters, memory, (unsigned long long) state);
    c->out[STATE_OUT]->shape = c->in[STATE]->shape;
    TRY(cell_check_activation(c, ACTIVATION, allowed, w));
    if (!call_known(c, RANK_PARAM))
        return 0;
    int32_t rank = call_int(c, RANK_PARAM);
    REQUIRE(w, rank > 0 && filters % (uint32_t) rank == 0, "%s: rank %d does not divide %u filters",
            c->op->name, rank, filters);
    uint32_t units = filters / (uint32_t) rank;
    REQUIRE(w, !c->in[BIAS] || c->letter['U'] == units, "%s: bias has %u values for %u units",
            c->op->name, c->letter['U'], units);
    c->out[OUTPUT]->shape = (struct shape){ 2, { c->letter['B'], units } };
    return 0;
}

/* A sum that may have overflowed has no bound: it may be multiplied by 0. */
static struct ball checked(const struct cell *k, struct ball sum)
{
    return cell_check_overflow(k, sum, sum);
}

/* The memory of the filters, [batch][filter][step], with the newest step computed from the input.
 */
static int update_memory(const struct cell *k, struct ball_array *ret_memory, struct why *w)
{
    size_t filters = k->c->letter['F'], steps = k->c->letter['M'], batch = k->rows.batch;
    struct cell_rows from = { cell_operand(k, INPUT), batch, k->c->letter['I'] };
    struct cell_rows newest = { .n = batch, .stride = filters };
    struct cell_matrix feature;

    TRY(cell_state(k, STATE, batch * filters * steps, ret_memory, w));
    TRY(cell_array(k, batch * filters, &newest.at, w));
    for (size_t i = 0; i < batch * filters; i++)
        ball_put(&newest.at, i, (struct ball){ 0, (double) from.stride * bound_tiny(k->unit) });
    TRY(cell_matrix_init(k, FEATURE, false, &feature, w));
    TRY(cell_product(k, &from, &feature, from.stride, &newest, w));
    for (size_t i = 0; i < batch * filters; i++)
        ball_put(ret_memory, i * steps + steps - 1, checked(k, ball_at(&newest.at, i)));
    return 0;
}

/* The output of each filter: the dot product of its memory and its weights_time. */
static int apply_time_weights(const struct cell *k, const struct ball_array *memory,
                              struct ball_array *ret_filtered, struct why *w)
{
    size_t filters = k->c->letter['F'], steps = k->c->letter['M'], batch = k->rows.batch;
    struct ball_array filtered;
    struct cell_matrix time = { .n = filters, .k = steps, .weights = cell_operand(k, TIME) };

    TRY(cell_array(k, batch * filters, &filtered, w));
    for (size_t i = 0; i < batch * filters; i++)
        ball_put(&filtered, i, (struct ball){ 0, (double) steps * bound_tiny(k->unit) });
    TRY(cell_matrix_measure(k, &time, w));
    for (size_t f = 0; f < filters; f++) {
        struct cell_rows from = { ball_from(memory, f * steps), batch, filters * steps };
        struct cell_rows to = { ball_from(&filtered, f), batch, filters };
        struct cell_matrix row = { 1, steps, .weights = ball_from(&time.weights, f * steps) };
        row.magnitude = time.magnitude ? time.magnitude + f * steps : NULL;
        row.largest = time.largest;
        TRY(cell_product(k, &from, &row, steps, &to, w));
    }
    *ret_filtered = filtered;
    return 0;
}

/* output = act(bias + sum over the filters of each unit) */
static void sum_filters(const struct cell *k, const struct ball_array *filtered,
                        const struct ball_array *to)
{
    size_t units = k->c->out[OUTPUT]->shape.dim[1];
    size_t rank = units ? k->c->letter['F'] / units : 0;
    struct ball_array bias = cell_operand(k, BIAS);

    for (size_t i = 0; i < k->rows.batch * units; i++) {
        struct ball sum = { 0, 0 };
        if (bias.x)
            sum = ball_at(&bias, i % units);
        for (size_t r = 0; r < rank; r++)
            sum = ball_sum(sum, checked(k, ball_at(filtered, i * rank + r)), k->unit);
        struct ball y = activation_of_cell(sum, call_int(k->c, ACTIVATION), k->unit);
        ball_put(to, i, cell_check_overflow(k, sum, y));
    }
}

static int run(struct call *c, double unit, struct why *w)
{
    struct cell k = { .c = c, .rows = cell_sequence_of(c->in[INPUT], false), .unit = unit };
    size_t steps = c->letter['M'], n = k.rows.batch * c->letter['F'] * steps;
    struct ball_array state = cell_result(c, STATE_OUT, unit), to = cell_result(c, OUTPUT, unit);
    struct ball_array memory, filtered;

    TRY(update_memory(&k, &memory, w));
    TRY(apply_time_weights(&k, &memory, &filtered, w));
    sum_filters(&k, &filtered, &to);
    for (size_t i = 0; i < n; i++)
        ball_put(&state, i, (i + 1) % steps ? ball_at(&memory, i + 1) : (struct ball){ 0, 0 });
    return 0;
}

/* With bounds, bound() computes the results, too. */
static int eval(struct call *c, struct why *w)
{
    return c->unit > 0 ? 0 : run(c, 0, w);
}

static int bound(struct call *c, struct why *w)
{
    return run(c, c->unit, w);
}

/* Draws a rank that divides the number of filters; a bias determines it. */
static int32_t draw_rank(const struct call *c, struct drawer *d)
{
    uint32_t filters = c->letter['F'], rank = 1 + d->below(d, 3);

    if (c->in[BIAS])
        return (int32_t) (filters / c->letter['U']);
    return (int32_t) (filters % rank ? 1 : rank);
}

static bool draw(const struct call *c, int role, struct drawer *d, struct tensor *to)
{
    static const int32_t activation[] = { CELL_NONE,  CELL_NONE, CELL_RELU,    CELL_RELU1,
                                          CELL_RELU6, CELL_TANH, CELL_LOGISTIC };

    switch (role) {
    case BIAS:
        to->shape = (struct shape){ 1, { c->letter['F'] } };
        if (c->letter['F'] % 2 == 0 && d->below(d, 2))
            to->shape.dim[0] /= 2;
        return true;
    case STATE:
        to->shape = (struct shape){ 2, { c->letter['B'], c->letter['F'] * c->letter['M'] } };
        return true;
    case RANK_PARAM: *(int32_t *) to->data = draw_rank(c, d); return true;
    case ACTIVATION:
        *(int32_t *) to->data = activation[d->below(d, COUNT(activation))];
        return true;
    default: return cell_draw_shape(c, INPUT, role, d, to);
    }
}

const struct op op_SVDF = {
    .code = OP_SVDF,
    .name = "SVDF",
    .summary = "A layer factored into filters over the input's features and filters over time (low "
               "rank), with their memory as input and output.",
    .formula = "memory[b,f,last] = sum over i of weights_feature[f,i] * input[b,i]; "
               "output[b,u] = act(bias[u] + sum over the filters f of u and t of "
               "weights_time[f,t] * memory[b,f,t]); state'[b,f,t] = memory[b,f,t+1]",
    .since = L1,
    .in = inputs,
    .n_in = COUNT(inputs),
    .out = outputs,
    .n_out = COUNT(outputs),
    .forms = forms,
    .n_forms = COUNT(forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .error = { ERROR_ELEMENT, .ulps = 1,
               .text = "min(factor * sqrt(K), K + 2) * u * sum |w*x| of both sums and the errors "
                       "of the operands, through the activation by interval" },
    .infer = infer,
    .eval = eval,
    .bound = bound,
    .draw = draw,
};
