#include "golden/base/arena.h"
#include "golden/ops/shared/control.h"

enum { CONDITION, THEN, ELSE, ARGUMENTS };

/* An omitted condition is accepted at preparation, as the conformance suites require; execution
 * fails. */
static const struct role inputs[] = {
    [CONDITION] = { "condition", "selects the branch that is executed", "1", .slot = FIXED(DT_B8),
                    .optional = true },
    [THEN] = { "then", "the model that is executed if the condition is true",
               .slot = FIXED(DT_MODEL) },
    [ELSE] = { "else", "the model that is executed otherwise", .slot = FIXED(DT_MODEL) },
    [ARGUMENTS] = { "arguments", "inputs of both models; any type", "?", .optional = true,
                    .many = true },
};

static const struct role outputs[] = {
    { "outputs", "outputs of the executed model", "?", .many = true },
};

static const struct form forms[] = {
    { "", { CONDITION, THEN, ELSE, ARGUMENTS, END } },
    { "no arguments", { CONDITION, THEN, ELSE, END } },
};

static const struct typing typings[] = {
    { L4, RANKS(0, MAX_RANK), { DT_F32 } }, /* any types: those that the models declare */
};

static int control(struct call *c, struct exec_frame *f, struct why *w)
{
    struct value *in = control_arguments(c, f, ARGUMENTS, c->n_in);
    struct value *out = arena_alloc(c->scratch, c->n_out, sizeof *out);
    bool truth;

    if (!in || !out)
        return why_no_memory(w);
    TRY(control_read_condition(f, frame_in(f, CONDITION), &truth, w));
    TRY(frame_call(f, frame_subgraph(f, truth ? THEN : ELSE), in, c->n_in - ARGUMENTS, out,
                   c->n_out, w));
    for (uint32_t i = 0; i < c->n_out; i++)
        *frame_out(f, i) = out[i];
    return 0;
}

const struct op op_IF = {
    .code = OP_IF,
    .name = "IF",
    .summary = "Executes one of two models.",
    .formula = "outputs = condition ? then(arguments) : else(arguments)",
    .since = L4,
    .in = inputs,
    .n_in = COUNT(inputs),
    .out = outputs,
    .n_out = COUNT(outputs),
    .forms = forms,
    .n_forms = COUNT(forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .control_kind = CONTROL_BRANCH,
    .error = { ERROR_EXACT, .text =
                                "those of the executed model; a condition that may be different "
                                "within its error leaves the outputs undecided" },
    .control = control,
};
