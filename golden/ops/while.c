#include <string.h>

#include "golden/base/arena.h"
#include "golden/ops/shared/control.h"

enum { CONDITION, BODY, ARGUMENTS };

static const struct role inputs[] = {
    [CONDITION] = { "condition",
                    "the model whose output, one TENSOR_BOOL8, continues the loop if true",
                    .slot = FIXED(DT_MODEL) },
    [BODY] = { "body", "the model that computes the state of the next iteration",
               .slot = FIXED(DT_MODEL) },
    [ARGUMENTS] = { "arguments",
                    "inputs of both models; any type: first the state that is also an output, then "
                    "state that is not, then values that no iteration changes",
                    "?", .optional = true, .many = true },
};

static const struct role outputs[] = {
    { "outputs", "the first part of the state, after the last iteration", "?", .many = true },
};

static const struct form forms[] = {
    { "", { CONDITION, BODY, ARGUMENTS, END } },
};

static const struct typing typings[] = {
    { L4, RANKS(0, MAX_RANK), { DT_F32 } }, /* any types: those that the models declare */
};

static int control(struct call *c, struct exec_frame *f, struct why *w)
{
    uint32_t test = frame_subgraph(f, CONDITION), body = frame_subgraph(f, BODY);
    uint32_t n = c->n_in - ARGUMENTS, n_state = frame_n_outputs(f, body);
    struct value *state = control_arguments(c, f, ARGUMENTS, n);
    struct value *next = arena_alloc(c->scratch, n_state, sizeof *next), go_on;
    double since = frame_now();
    bool truth;

    if (!state || !next)
        return why_no_memory(w);
    for (uint64_t turns = 0;; turns++) {
        TRY(frame_check_loop(f, since, turns, w));
        TRY(frame_call(f, test, state, n, &go_on, 1, w));
        TRY(control_read_condition(f, &go_on, &truth, w));
        if (!truth)
            break;
        TRY(frame_call(f, body, state, n, next, n_state, w));
        memcpy(state, next, n_state * sizeof *state);
    }
    for (uint32_t i = 0; i < c->n_out; i++)
        *frame_out(f, i) = state[i];
    return 0;
}

const struct op op_WHILE = {
    .code = OP_WHILE,
    .name = "WHILE",
    .summary = "Executes a model repeatedly while a condition model returns true.",
    .formula = "while condition(state, rest): state = body(state, rest); outputs = state[0..m-1]",
    .since = L4,
    .in = inputs,
    .n_in = COUNT(inputs),
    .out = outputs,
    .n_out = COUNT(outputs),
    .forms = forms,
    .n_forms = COUNT(forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .control_kind = CONTROL_LOOP,
    .error = { ERROR_EXACT, .text = "carried from iteration to iteration; a condition that may be "
                                    "different within its error leaves the outputs undecided" },
    .control = control,
};
