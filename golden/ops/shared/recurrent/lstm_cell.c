#include "golden/ops/shared/recurrent/lstm_cell.h"

#include "golden/ops/shared/elementwise/activation.h"

static bool has(const struct call *c, const struct lstm *l, enum lstm_operand operand)
{
    return c->in[l->cell + (int) operand] != NULL;
}

/* --- rules */

static int check_with(const struct call *c, int role, bool expected, int other, struct why *w)
{
    static const char *const word[] = { "omitted", "given" };
    bool given = c->in[role] != NULL;

    REQUIRE(w, given == expected, "%s: %s is %s, but %s is %s", c->op->name, c->op->in[role].name,
            word[given], c->op->in[other].name, word[c->in[other] != NULL]);
    return 0;
}

/* Input roles of one kind of operand, one per gate.  All are given if that of the output gate is,
 * except that the input gate has none with CIFG.  The cell gate's may be NO_OPERAND. */
struct group {
    int input, forget, cell, output;
};

static int check_group(const struct call *c, const struct lstm *l, struct group g, struct why *w)
{
    bool given = c->in[g.output] != NULL, cifg = !has(c, l, LSTM_INPUT_TO_INPUT);

    TRY(check_with(c, g.forget, given, g.output, w));
    if (g.cell != NO_OPERAND)
        TRY(check_with(c, g.cell, given, g.output, w));
    return check_with(c, g.input, given && !cifg, cifg ? l->cell + LSTM_INPUT_TO_INPUT : g.output,
                      w);
}

static int check_clip(const struct call *c, int role, struct why *w)
{
    REQUIRE(w, !call_known(c, role) || call_real(c, role) >= 0,
            "%s: %s is %g, must not be negative", c->op->name, c->op->in[role].name,
            call_real(c, role));
    return 0;
}

int lstm_check(const struct call *c, const struct lstm *l, struct why *w)
{
    const unsigned activations = 1u << CELL_NONE | 1u << CELL_RELU | 1u << CELL_RELU6 |
                                 1u << CELL_TANH | 1u << CELL_LOGISTIC;
    int r = l->cell, leader = r + LSTM_INPUT_TO_INPUT, aux = l->aux_weights;
    const struct tensor *recurrent = c->in[r + LSTM_RECURRENT_TO_OUTPUT];
    bool full = has(c, l, LSTM_INPUT_TO_INPUT);
    const struct group peephole = { r + LSTM_CELL_TO_INPUT, r + LSTM_CELL_TO_FORGET, NO_OPERAND,
                                    r + LSTM_CELL_TO_OUTPUT };
    const struct group norm = { r + LSTM_INPUT_NORM, r + LSTM_FORGET_NORM, r + LSTM_CELL_NORM,
                                r + LSTM_OUTPUT_NORM };

    TRY(check_with(c, r + LSTM_RECURRENT_TO_INPUT, full, leader, w));
    TRY(check_with(c, r + LSTM_INPUT_BIAS, full, leader, w));
    TRY(check_group(c, l, peephole, w));
    TRY(check_group(c, l, norm, w));
    if (l->aux != NO_OPERAND)
        TRY(check_group(c, l, (struct group){ aux, aux + 1, aux + 2, aux + 3 }, w));
    if (!has(c, l, LSTM_PROJECTION)) {
        uint32_t units = recurrent->shape.dim[0], outputs = recurrent->shape.dim[1];
        TRY(check_with(c, r + LSTM_PROJECTION_BIAS, false, r + LSTM_PROJECTION, w));
        REQUIRE(w, units == outputs,
                "%s: %s is omitted, but there are %u units for an output of size %u", c->op->name,
                c->op->in[r + LSTM_PROJECTION].name, units, outputs);
    }
    TRY(check_clip(c, l->cell_clip, w));
    TRY(check_clip(c, l->projection_clip, w));
    return l->activation == NO_OPERAND ? 0
                                       : cell_check_activation(c, l->activation, activations, w);
}

/* --- the cell */

struct run {
    struct cell k;
    const struct lstm *l;
    struct cell_gate gate[LSTM_GATES];
    bool cifg;
    size_t units, outputs;
    int32_t activation;
    double cell_clip, projection_clip;
    struct cell_matrix projection;
    struct ball_array projection_bias;
    struct ball_array state, cell; /* of the previous step, [batch][outputs], [batch][units] */
    struct ball_array value[LSTM_GATES]; /* of one batch, [units] */
    struct ball_array hidden;            /* o activation(c'), [batch][units] */
};

static struct cell_gate_roles gate_roles(const struct lstm *l, int gate)
{
    static const int peephole[] = { LSTM_CELL_TO_INPUT, LSTM_CELL_TO_FORGET, NO_OPERAND,
                                    LSTM_CELL_TO_OUTPUT };
    int aux_weights = l->aux == NO_OPERAND ? NO_OPERAND : l->aux_weights + gate;

    return (struct cell_gate_roles){
        .input = l->input,
        .weights = l->cell + LSTM_INPUT_TO_INPUT + gate,
        .aux = l->aux,
        .aux_weights = aux_weights,
        .recurrent = l->cell + LSTM_RECURRENT_TO_INPUT + gate,
        .bias = l->cell + LSTM_INPUT_BIAS + gate,
        .peephole = peephole[gate] == NO_OPERAND ? NO_OPERAND : l->cell + peephole[gate],
        .norm = l->cell + LSTM_INPUT_NORM + gate,
    };
}

static int run_init(struct run *r, struct why *w)
{
    const struct call *c = r->k.c;
    const struct lstm *l = r->l;
    const struct tensor *recurrent = c->in[l->cell + LSTM_RECURRENT_TO_OUTPUT];
    size_t batch = r->k.rows.batch;

    r->cifg = !has(c, l, LSTM_INPUT_TO_INPUT);
    r->units = recurrent->shape.dim[0];
    r->outputs = recurrent->shape.dim[1];
    r->activation = l->activation == NO_OPERAND ? CELL_TANH : call_int(c, l->activation);
    r->cell_clip = call_real(c, l->cell_clip);
    r->projection_clip = call_real(c, l->projection_clip);
    r->projection_bias = cell_operand(&r->k, l->cell + LSTM_PROJECTION_BIAS);
    for (int g = r->cifg ? LSTM_GATE_FORGET : 0; g < LSTM_GATES; g++) {
        struct cell_gate_roles roles = gate_roles(l, g);
        TRY(cell_gate_init(&r->k, &roles, &r->gate[g], w));
    }
    for (int g = 0; g < LSTM_GATES; g++)
        TRY(cell_array(&r->k, r->units, &r->value[g], w));
    TRY(cell_array(&r->k, batch * r->units, &r->hidden, w));
    TRY(cell_state(&r->k, l->cell + LSTM_STATE, batch * r->outputs, &r->state, w));
    TRY(cell_state(&r->k, l->cell + LSTM_CELL_STATE, batch * r->units, &r->cell, w));
    return has(c, l, LSTM_PROJECTION) ? cell_matrix_init(&r->k, l->cell + LSTM_PROJECTION,
                                                         r->k.rows.time > 1, &r->projection, w)
                                      : 0;
}

static void finish_gate(const struct run *r, int gate, size_t t, size_t b, int32_t activation)
{
    struct ball_array cell = ball_from(&r->cell, b * r->units);

    cell_gate_finish(&r->k, &r->gate[gate], t, b, &cell, activation, &r->value[gate]);
}

/* c' = clip(f c + i g) */
static void update_cell(const struct run *r, size_t b)
{
    struct ball_array cell = ball_from(&r->cell, b * r->units);
    double u = r->k.unit;

    for (size_t i = 0; i < r->units; i++) {
        struct ball f = ball_at(&r->value[LSTM_GATE_FORGET], i), one = { 1, 0 }, minus = f;
        minus.x = -f.x;
        struct ball in = r->cifg ? ball_sum(one, minus, u) : ball_at(&r->value[LSTM_GATE_INPUT], i);
        struct ball kept = ball_product(f, ball_at(&cell, i), u);
        struct ball added = ball_product(in, ball_at(&r->value[LSTM_GATE_CELL], i), u);
        struct ball sum = ball_sum(kept, added, u);
        ball_put(&cell, i, cell_check_overflow(&r->k, sum, ball_clip(sum, r->cell_clip)));
    }
}

/* h' = o activation(c') */
static void update_hidden(const struct run *r, size_t b)
{
    double u = r->k.unit;

    for (size_t i = 0; i < r->units; i++) {
        struct ball cell = ball_at(&r->cell, b * r->units + i);
        struct ball c =
            cell_check_overflow(&r->k, cell, activation_of_cell(cell, r->activation, u));
        ball_put(&r->hidden, b * r->units + i,
                 ball_product(ball_at(&r->value[LSTM_GATE_OUTPUT], i), c, u));
    }
}

/* Computes the state from hidden, with or without a projection. */
static int project(const struct run *r, struct why *w)
{
    size_t batch = r->k.rows.batch, n = batch * r->outputs;
    struct cell_rows from = { r->hidden, batch, r->units }, to = { r->state, batch, r->outputs };

    if (!r->projection.weights.x) {
        for (size_t i = 0; i < n; i++)
            ball_put(&r->state, i, ball_at(&r->hidden, i));
        return 0;
    }
    for (size_t i = 0; i < n; i++)
        ball_put(&r->state, i,
                 r->projection_bias.x ? ball_at(&r->projection_bias, i % r->outputs)
                                      : (struct ball){ 0, 0 });
    TRY(cell_product(&r->k, &from, &r->projection, r->units + 1, &to, w));
    for (size_t i = 0; i < n; i++) {
        struct ball rounded = ball_sum(ball_at(&r->state, i), (struct ball){ 0, 0 }, r->k.unit);
        ball_put(&r->state, i,
                 cell_check_overflow(&r->k, rounded, ball_clip(rounded, r->projection_clip)));
    }
    return 0;
}

static int step(const struct run *r, size_t t, struct why *w)
{
    for (int g = r->cifg ? LSTM_GATE_FORGET : 0; g < LSTM_GATES; g++)
        TRY(cell_gate_recur(&r->k, &r->gate[g], &r->state, t, w));
    for (size_t b = 0; b < r->k.rows.batch; b++) {
        if (!r->cifg)
            finish_gate(r, LSTM_GATE_INPUT, t, b, CELL_LOGISTIC);
        finish_gate(r, LSTM_GATE_FORGET, t, b, CELL_LOGISTIC);
        finish_gate(r, LSTM_GATE_CELL, t, b, r->activation);
        update_cell(r, b);
        finish_gate(r, LSTM_GATE_OUTPUT, t, b, CELL_LOGISTIC);
        update_hidden(r, b);
    }
    return project(r, w);
}

static void put_all(const struct ball_array *from, size_t n, const struct ball_array *to)
{
    for (size_t i = 0; to->x && i < n; i++)
        ball_put(to, i, ball_at(from, i));
}

int lstm_run(const struct call *c, const struct lstm *l, struct cell_sequence rows, bool backward,
             double unit, const struct lstm_result *result, struct why *w)
{
    struct run r = { .k = { c, rows, unit }, .l = l };

    TRY(run_init(&r, w));
    bool nothing = rows.batch == 0 || r.units + r.outputs == 0;
    size_t steps = nothing ? 0 : rows.time;
    for (size_t s = 0; s < steps; s++) {
        size_t t = backward ? rows.time - 1 - s : s;
        TRY(step(&r, t, w));
        for (size_t b = 0; b < rows.batch; b++) {
            size_t row = b * rows.batch_step + t * rows.time_step;
            struct ball_array from = ball_from(&r.state, b * r.outputs);
            struct ball_array to = ball_from(&result->output, row * result->stride);
            put_all(&from, r.outputs, &to);
        }
    }
    put_all(&r.state, rows.batch * r.outputs, &result->state);
    put_all(&r.cell, rows.batch * r.units, &result->cell);
    return 0;
}

/* --- drawing */

static uint32_t letter_of(const struct call *c, char letter, uint32_t otherwise)
{
    return c->bound[(unsigned char) letter] ? c->letter[(unsigned char) letter] : otherwise;
}

bool lstm_draw(const struct call *c, const struct lstm *l, int role, struct drawer *d,
               struct tensor *to)
{
    static const int32_t activation[] = { CELL_TANH, CELL_TANH,  CELL_TANH, CELL_LOGISTIC,
                                          CELL_RELU, CELL_RELU6, CELL_NONE };
    static const int32_t clip[] = { 0, 0, 1, 2, 5 };
    const char *dims = c->op->in[role].dims;
    int operand = role - l->cell;

    if (!dims) {
        *(int32_t *) to->data = role == l->activation ? activation[d->below(d, COUNT(activation))]
                                                      : clip[d->below(d, COUNT(clip))];
        return true;
    }
    if (!cell_draw_shape(c, l->input, role, d, to))
        return false;
    /* in half of the cells the output has the size required without a projection */
    if (operand >= LSTM_RECURRENT_TO_INPUT && operand <= LSTM_RECURRENT_TO_OUTPUT && d->below(d, 2))
        to->shape.dim[1] = letter_of(c, dims[1], to->shape.dim[0]);
    return true;
}

/* Whether to omit the first of a group of operands. */
static bool omits_group(struct drawer *d)
{
    return d->below(d, 3) == 0;
}

bool lstm_omits(const struct call *c, const struct lstm *l, int role, struct drawer *d)
{
    const char *recurrent = c->op->in[l->cell + LSTM_RECURRENT_TO_OUTPUT].dims;
    bool cifg = !has(c, l, LSTM_INPUT_TO_INPUT);

    switch (role - l->cell) {
    case LSTM_INPUT_TO_INPUT: return omits_group(d);
    case LSTM_RECURRENT_TO_INPUT:
    case LSTM_INPUT_BIAS: return cifg;
    case LSTM_CELL_TO_INPUT:
    case LSTM_INPUT_NORM: return cifg || omits_group(d);
    case LSTM_CELL_TO_FORGET: return cifg ? omits_group(d) : !has(c, l, LSTM_CELL_TO_INPUT);
    case LSTM_CELL_TO_OUTPUT: return !has(c, l, LSTM_CELL_TO_FORGET);
    case LSTM_PROJECTION: /* needed where the sizes differ */
        return letter_of(c, recurrent[0], 0) == letter_of(c, recurrent[1], 0) && omits_group(d);
    case LSTM_PROJECTION_BIAS: return !has(c, l, LSTM_PROJECTION) || omits_group(d);
    case LSTM_FORGET_NORM: return cifg ? omits_group(d) : !has(c, l, LSTM_INPUT_NORM);
    case LSTM_CELL_NORM:
    case LSTM_OUTPUT_NORM: return !has(c, l, LSTM_FORGET_NORM);
    default: return omits_group(d);
    }
}
