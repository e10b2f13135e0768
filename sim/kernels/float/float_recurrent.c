/* Recurrent operations in floats: a cell (float_cell.h) run over batches and sequences. */
#include <string.h>

#include "sim/kernels/float/float_cell.h"

/* ---- operands */

/* Selects the operands of a cell: the only one, or one of a bidirectional operation's two. */
enum cell_side { ONLY = 0, FORWARD = ROLE_FORWARD, BACKWARD = ROLE_BACKWARD };

static const struct tensor *cell_in(const struct kernel_call *k, enum cell_side side,
                                    enum kernel_role role)
{
    return kernel_in(k, (enum kernel_role)((unsigned) side | role));
}

/* A copy of a state input, which the cell updates; NULL: out of memory. */
static float *copy_state(const struct kernel_call *k, enum cell_side side, enum kernel_role role)
{
    const struct tensor *t = cell_in(k, side, role);
    const float *from = floats_load(k, t);
    float *to = floats_new(k, tensor_count(t));

    if (from && to)
        memcpy(to, from, tensor_count(t) * sizeof(*to));
    return from ? to : NULL;
}

/* The values of t, NULL if it is omitted; an allocation failure is counted in *failed. */
static const float *load(const struct kernel_call *k, const struct tensor *t, int *failed)
{
    const float *x = t ? floats_load(k, t) : NULL;

    *failed += t && !x;
    return x;
}

static struct cell_part load_part(const struct kernel_call *k, const struct tensor *t, int *failed)
{
    return (struct cell_part){ load(k, t, failed), t ? t->shape.dim[1] : 0 };
}

/* ---- sequences */

/* A sequence of rows, of x and y alike: batch item b at time t is row b * batch_step + t *
 * time_step. */
struct sequence {
    size_t batch, time, batch_step, time_step;
    bool backward;
    const float *x, *aux; /* [row][size]; aux NULL: none */
    size_t x_size, aux_size;
    float *y;      /* of the first row */
    size_t stride; /* from the result of a row to that of the next */
};

static struct sequence sequence_of(const struct kernel_call *k, int *failed)
{
    const struct tensor *x = k->arg[0];
    const uint32_t *dim = x->shape.dim;
    bool time_major = kernel_int(k, ROLE_TIME_MAJOR, 0) != 0, one = x->shape.rank == 2;
    struct sequence s = { .x = load(k, x, failed), .x_size = dim[one ? 1 : 2] };

    s.batch = one ? dim[0] : dim[time_major ? 1 : 0];
    s.time = one ? 1 : dim[time_major ? 0 : 1];
    s.batch_step = time_major ? 1 : s.time;
    s.time_step = time_major ? s.batch : 1;
    return s;
}

/* The row that the cell processes at `step` for batch item b. */
static size_t row_of(const struct sequence *s, size_t b, size_t step)
{
    size_t t = s->backward ? s->time - 1 - step : step;

    return b * s->batch_step + t * s->time_step;
}

/* ---- RNN cells */

static int run_rnn_cell(const struct kernel_call *k, const struct sequence *s, enum cell_side side,
                        const struct tensor *aux_weights, float **ret_state)
{
    int32_t activation = kernel_int(k, ROLE_ACTIVATION, 0);
    int failed = 0;
    struct cell_layer l = {
        .bias = load(k, cell_in(k, side, ROLE_BIAS), &failed),
        .part = { load_part(k, cell_in(k, side, ROLE_WEIGHTS), &failed),
                  load_part(k, aux_weights, &failed),
                  load_part(k, cell_in(k, side, ROLE_RECURRENT_WEIGHTS), &failed) },
    };
    float *state = copy_state(k, side, ROLE_HIDDEN_STATE);

    l.units = l.part[2].n;
    float *sum = floats_new(k, l.units);
    if (failed || !state || !sum)
        return -1;
    for (size_t b = 0; b < s->batch; b++)
        for (size_t i = 0; i < s->time; i++) {
            size_t row = row_of(s, b, i);
            float *h = state + b * l.units;
            const float *const x[MAX_PARTS] = { s->x + row * s->x_size,
                                                s->aux ? s->aux + row * s->aux_size : NULL, h };
            cell_layer_apply(k, &l, x, sum);
            for (size_t u = 0; u < l.units; u++)
                s->y[row * s->stride + u] = h[u] = cell_activation(activation, sum[u]);
        }
    *ret_state = state;
    return 0;
}

static int run_rnn(struct kernel_call *k, struct why *w)
{
    bool one = k->arg[0]->shape.rank == 2;
    struct tensor *output = k->out[one ? 1 : 0], *next = one ? k->out[0] : NULL;
    int failed = 0;
    struct sequence s = sequence_of(k, &failed);
    float *state;

    if (!one && k->call.n_out > 1)
        next = k->out[1];
    s.y = floats_new(k, tensor_count(output));
    s.stride = output->shape.dim[output->shape.rank - 1];
    if (failed || !s.y || run_rnn_cell(k, &s, ONLY, NULL, &state) < 0)
        return why_no_memory(w);
    floats_store(k, s.y, output);
    if (next)
        floats_store(k, state, next);
    return 0;
}

/* ---- SVDF */

/* memory[units][steps] = before, with the last step replaced by the feature filters' activations
 * for x; followed by scratch for [units]. */
static void remember(const struct kernel_call *k, const struct cell_layer *feature, size_t steps,
                     const float *x, const float *before, float *memory)
{
    const float *const from[MAX_PARTS] = { x };
    float *newest = memory + feature->units * steps;

    memcpy(memory, before, feature->units * steps * sizeof(*memory));
    cell_layer_apply(k, feature, from, newest);
    for (size_t f = 0; f < feature->units; f++)
        memory[f * steps + steps - 1] = newest[f];
}

static int run_svdf(struct kernel_call *k, struct why *w)
{
    const struct tensor *time = kernel_in(k, ROLE_WEIGHTS_TIME);
    size_t steps = time->shape.dim[1], batch = k->arg[0]->shape.dim[0];
    size_t units = k->out[1]->shape.dim[1], rank = (size_t) kernel_int(k, ROLE_RANK, 1);
    int32_t activation = kernel_int(k, ROLE_ACTIVATION, 0);
    int failed = 0;
    struct cell_layer feature = { .part = {
                                      load_part(k, kernel_in(k, ROLE_WEIGHTS_FEATURE), &failed) } };
    const float *x = load(k, k->arg[0], &failed), *weights = load(k, time, &failed);
    const float *bias = load(k, kernel_in(k, ROLE_BIAS), &failed);
    const float *state = load(k, kernel_in(k, ROLE_STATE), &failed);
    float *next = floats_new(k, tensor_count(k->out[0]));
    float *y = floats_new(k, tensor_count(k->out[1]));

    feature.units = time->shape.dim[0];
    size_t n = feature.units * steps;
    float *memory = floats_new(k, n + feature.units);
    if (failed || !next || !y || !memory)
        return why_no_memory(w);
    for (size_t b = 0; b < batch; b++) {
        remember(k, &feature, steps, x + b * feature.part[0].n, state + b * n, memory);
        for (size_t u = 0; u < units; u++) {
            struct sum s = { .half = k->half_sums };
            sum_dot(&s, memory + u * rank * steps, 1, weights + u * rank * steps, 1, rank * steps);
            y[b * units + u] = cell_activation(activation, sum_value(&s) + (bias ? bias[u] : 0));
        }
        for (size_t i = 0; i < n; i++)
            next[b * n + i] = (i + 1) % steps ? memory[i + 1] : 0;
    }
    floats_store(k, next, k->out[0]);
    floats_store(k, y, k->out[1]);
    return 0;
}

/* ---- LSTM cells */

static struct lstm_weights load_lstm(const struct kernel_call *k, enum cell_side side, int *failed)
{
    struct lstm_weights l = {
        .cells = cell_in(k, side, ROLE_CELL_STATE)->shape.dim[1],
        .outputs = cell_in(k, side, ROLE_OUTPUT_STATE)->shape.dim[1],
        .projection = load(k, cell_in(k, side, ROLE_PROJECTION_WEIGHTS), failed),
        .projection_bias = load(k, cell_in(k, side, ROLE_PROJECTION_BIAS), failed),
        .activation = kernel_int(k, ROLE_ACTIVATION, 4),
        .cell_clip = kernel_float(k, ROLE_CELL_CLIP, 0),
        .projection_clip = kernel_float(k, ROLE_PROJECTION_CLIP, 0),
    };

    for (int g = 0; g < GATES; g++) {
        const struct gate_roles *role = &gate_roles[g];
        struct cell_layer *gate = &l.gate[g];
        gate->units = l.cells;
        gate->bias = load(k, cell_in(k, side, role->bias), failed);
        gate->part[0] = load_part(k, cell_in(k, side, role->input), failed);
        if (side != ONLY) /* auxiliary inputs are those of one of two cells */
            gate->part[1] = load_part(k, cell_in(k, side, role->aux), failed);
        gate->part[2] = load_part(k, cell_in(k, side, role->recurrent), failed);
        if (g != GATE_CELL)
            l.peephole[g] = load(k, cell_in(k, side, role->peephole), failed);
        l.norm[g] = load(k, cell_in(k, side, role->norm), failed);
        if (k->kernel_faults & KERNEL_FAULT_FORGET && g == GATE_FORGET)
            gate->bias = arena_alloc(k->scratch, l.cells + 1, sizeof(float));
    }
    l.scratch = floats_new(k, (GATES + 1) * l.cells);
    *failed += !l.scratch;
    return l;
}

struct lstm_state {
    float *output, *cell;
};

static int run_lstm_cell(const struct kernel_call *k, const struct sequence *s, enum cell_side side,
                         struct lstm_state *ret_state)
{
    int failed = 0;
    struct lstm_weights l = load_lstm(k, side, &failed);
    struct lstm_state state = { copy_state(k, side, ROLE_OUTPUT_STATE),
                                copy_state(k, side, ROLE_CELL_STATE) };

    if (failed || !state.output || !state.cell)
        return -1;
    for (size_t b = 0; b < s->batch; b++)
        for (size_t i = 0; i < s->time; i++) {
            size_t row = row_of(s, b, i);
            float *h = state.output + b * l.outputs;
            lstm_step(k, &l, s->x + row * s->x_size, s->aux ? s->aux + row * s->aux_size : NULL, h,
                      state.cell + b * l.cells);
            memcpy(s->y + row * s->stride, h, l.outputs * sizeof(*h));
        }
    *ret_state = state;
    return 0;
}

/* Results of LSTM (rank 2): scratch buffer, here zeroed, output state, cell state, output; of the
 * sequence operation: output, and optionally both states. */
static int run_lstm(struct kernel_call *k, struct why *w)
{
    bool one = k->arg[0]->shape.rank == 2;
    struct tensor *output = k->out[one ? 3 : 0];
    int failed = 0;
    struct sequence s = sequence_of(k, &failed);
    struct lstm_state state;

    s.y = floats_new(k, tensor_count(output));
    s.stride = output->shape.dim[output->shape.rank - 1];
    if (failed || !s.y || run_lstm_cell(k, &s, ONLY, &state) < 0)
        return why_no_memory(w);
    floats_store(k, s.y, output);
    if (one)
        memset(k->out[0]->data, 0, tensor_bytes(k->out[0]));
    if (k->call.n_out > 1) {
        floats_store(k, state.output, k->out[1]);
        floats_store(k, state.cell, k->out[2]);
    }
    return 0;
}

/* ---- bidirectional operations */

enum { MOST_STATES = 2 };
enum cells { SIMPLE, GATED };

struct direction {
    struct sequence s;
    enum cell_side side;
    float *state[MOST_STATES];
};

static int run_direction(const struct kernel_call *k, struct direction *d, bool gates)
{
    struct lstm_state state;

    if (!gates)
        return run_rnn_cell(k, &d->s, d->side, cell_in(k, d->side, ROLE_AUX_WEIGHTS), &d->state[0]);
    TRY(run_lstm_cell(k, &d->s, d->side, &state));
    d->state[0] = state.output;
    d->state[1] = state.cell;
    return 0;
}

/* With auxiliary weights (cross-linking), the auxiliary input is a second input of both cells;
 * without (parallel linking), it replaces the input of the backward cell. */
static void link_inputs(const struct kernel_call *k, struct direction d[2], bool gates, int *failed)
{
    const struct tensor *aux = kernel_in(k, ROLE_AUX_INPUT);
    const struct tensor *weights =
        cell_in(k, d[0].side, gates ? ROLE_AUX_INPUT_TO_FORGET_WEIGHTS : ROLE_AUX_WEIGHTS);

    if (!aux)
        return;
    const float *x = load(k, aux, failed);
    for (int i = 0; i < 2 && weights; i++) {
        d[i].s.aux = x;
        d[i].s.aux_size = aux->shape.dim[2];
    }
    if (!weights) {
        d[1].s.x = x;
        d[1].s.x_size = aux->shape.dim[2];
    }
}

/* Sets where the cells write: into one tensor of both widths (merged), or one each. */
static int place_outputs(const struct kernel_call *k, struct direction d[2], const size_t width[2],
                         bool merged)
{
    size_t rows = d[0].s.batch * d[0].s.time;
    float *first = floats_new(k, rows * (width[0] + width[1]));

    d[0].s.y = first;
    d[1].s.y = merged ? first + width[0] : first + rows * width[0];
    d[0].s.stride = merged ? width[0] + width[1] : width[0];
    d[1].s.stride = merged ? d[0].s.stride : width[1];
    return first ? 0 : -1;
}

static int run_bidirectional(struct kernel_call *k, struct why *w)
{
    bool gates = k->kernel->kind == GATED, merged = kernel_int(k, ROLE_MERGE_OUTPUTS, 0) != 0;
    enum kernel_role state = gates ? ROLE_OUTPUT_STATE : ROLE_HIDDEN_STATE;
    uint32_t n_states = gates ? 2 : 1, at = merged ? 1 : 2;
    int failed = 0;
    struct sequence s = sequence_of(k, &failed);
    struct direction d[2] = { { .s = s, .side = FORWARD }, { .s = s, .side = BACKWARD } };
    const size_t width[2] = { cell_in(k, FORWARD, state)->shape.dim[1],
                              cell_in(k, BACKWARD, state)->shape.dim[1] };

    d[1].s.backward = !(k->kernel_faults & KERNEL_FAULT_BACKWARD);
    link_inputs(k, d, gates, &failed);
    if (failed || place_outputs(k, d, width, merged) < 0 || run_direction(k, &d[0], gates) < 0 ||
        run_direction(k, &d[1], gates) < 0)
        return why_no_memory(w);
    floats_store(k, d[0].s.y, k->out[0]);
    if (!merged)
        floats_store(k, d[1].s.y, k->out[1]);
    for (uint32_t i = 0; i < 2 && at < k->call.n_out; i++)
        for (uint32_t j = 0; j < n_states; j++)
            floats_store(k, d[i].state[j], k->out[at++]);
    return 0;
}

static const struct kernel_roles rnn_roles = {
    .role = { ROLE_TIME_MAJOR, ROLE_ACTIVATION, ROLE_BIAS, ROLE_WEIGHTS, ROLE_RECURRENT_WEIGHTS,
              ROLE_HIDDEN_STATE },
};

static const struct kernel_roles svdf_roles = {
    .role = { ROLE_WEIGHTS_TIME, ROLE_WEIGHTS_FEATURE, ROLE_RANK, ROLE_ACTIVATION, ROLE_BIAS,
              ROLE_STATE },
};

static const struct kernel_roles lstm_roles = {
    &lstm_cell_roles,
    { ROLE_TIME_MAJOR, ROLE_ACTIVATION },
};

static const struct kernel_roles two_rnn_roles = {
    &rnn_roles,
    { ROLE_MERGE_OUTPUTS, ROLE_AUX_INPUT, ROLE_AUX_WEIGHTS },
};

static const struct kernel_roles two_lstm_roles = {
    &lstm_roles,
    { ROLE_MERGE_OUTPUTS, ROLE_AUX_INPUT, ROLE_AUX_INPUT_TO_INPUT_WEIGHTS,
      ROLE_AUX_INPUT_TO_FORGET_WEIGHTS, ROLE_AUX_INPUT_TO_CELL_WEIGHTS,
      ROLE_AUX_INPUT_TO_OUTPUT_WEIGHTS },
};

const struct device_kernel float_recurrent_kernels[] = {
    { "RNN", FLOATS, run_rnn, &rnn_roles },
    { "UNIDIRECTIONAL_SEQUENCE_RNN", FLOATS, run_rnn, &rnn_roles },
    { "BIDIRECTIONAL_SEQUENCE_RNN", FLOATS, run_bidirectional, &two_rnn_roles, .kind = SIMPLE },
    { "SVDF", FLOATS, run_svdf, &svdf_roles },
    { "LSTM", FLOATS, run_lstm, &lstm_roles },
    { "UNIDIRECTIONAL_SEQUENCE_LSTM", FLOATS, run_lstm, &lstm_roles },
    { "BIDIRECTIONAL_SEQUENCE_LSTM", FLOATS, run_bidirectional, &two_lstm_roles, .kind = GATED },
    { NULL },
};
