#include "golden/judge/bounds.h"

enum { CONDITION, A, B };

static const struct role inputs[] = {
    [CONDITION] = { "condition", "truth values", "*", .slot = FIXED(DT_B8) },
    [A] = { "a", "elements where the condition is true", "*" },
    [B] = { "b", "elements where it is false", "*" },
};

static const struct role outputs[] = {
    { "output", "the chosen elements", "*" },
};

static const struct form forms[] = {
    { "", { CONDITION, A, B, END } },
};

static const struct typing typings[] = {
    /* since, ranks, both choices and result */
    { L3, RANKS(1, MAX_RANK), { DT_F16 } }, { L3, RANKS(1, MAX_RANK), { DT_F32 } },
    { L3, RANKS(1, MAX_RANK), { DT_I32 } }, { L3, RANKS(1, MAX_RANK), { DT_U8 } },
    { L3, RANKS(1, MAX_RANK), { DT_S8 } },
};

static int eval(struct call *c, struct why *w)
{
    (void) w;
    size_t n = tensor_count(c->out[0]);

    for (size_t i = 0; i < n; i++)
        c->y[0][i] = c->x[CONDITION][i] != 0 ? c->x[A][i] : c->x[B][i];
    return 0;
}

static double error_at(const struct call *c, int role, size_t i)
{
    return c->ex[role] ? c->ex[role][i] : 0;
}

/* With an undecided condition either element may be the result. */
static int bound(struct call *c, struct why *w)
{
    (void) w;
    size_t n = tensor_count(c->out[0]);

    for (size_t i = 0; i < n; i++) {
        bool chosen = c->x[CONDITION][i] != 0;
        double other = c->x[chosen ? B : A][i], y = c->y[0][i];
        double e = error_at(c, chosen ? A : B, i);
        double off = other == y ? 0 : fabs(other - y); /* equal infinities too */
        if (error_at(c, CONDITION, i) > 0)
            e = fmax(e, off + error_at(c, chosen ? B : A, i));
        c->ey[0][i] = bound_clean(e);
    }
    bound_requantisation(c);
    return 0;
}

const struct op op_SELECT = {
    .code = OP_SELECT,
    .name = "SELECT",
    .summary = "Selects elements from one of two tensors by a third one.",
    .formula = "out = condition ? a : b",
    .since = L3,
    .in = inputs,
    .n_in = COUNT(inputs),
    .out = outputs,
    .n_out = COUNT(outputs),
    .forms = forms,
    .n_forms = COUNT(forms),
    .typings = typings,
    .n_typings = COUNT(typings),
    .error = { ERROR_EXACT,
               .text = "that of the chosen element; of both, where the condition is undecided" },
    .eval = eval,
    .bound = bound,
};
