#include "tests/fuzz/common/fuzz_reference.h"

#include <stdio.h>
#include <stdlib.h>

#include "golden/model/compliance.h"

/* Small enough that an input takes about a millisecond. */
static const struct exec_options limits = {
    .bounds = true,
    .loop_timeout = 1,
    .max_iterations = 8,
    .max_operations = 200,
    .memory_limit = 1 << 20,
};

/* The reference's results must pass when judged by their own bounds. */
static void judge(const struct result *result)
{
    for (uint32_t i = 0; i < result->n; i++) {
        const struct tensor *t = &result->out[i];
        struct judgement j = judge_bound(t, result->real[i], result->bound[i], result->kind[i], t);
        if (j.ok)
            continue;
        fprintf(stderr, "the reference fails by its own bound: output %u: %s\n", i, j.why);
        abort();
    }
}

int fuzz_reference_run(const struct plan *plan, const struct tensor *in, struct why *w)
{
    struct result result;

    TRY(plan_run(plan, in, &limits, &result, w));
    judge(&result);
    result_done(&result);
    return 0;
}

void fuzz_reference_must(int rc, const struct why *w)
{
    if (rc >= 0)
        return;
    fprintf(stderr, "a generated model is rejected: %s\n", w->text);
    abort();
}

void fuzz_reference_convert(struct arena *a, const struct model *m, int level)
{
    struct conversion c;
    struct why w;

    if (model_prepare(m, NULL, &w) <= level)
        return;
    if (model_convert(m, level, a, &c, &w) == 0) {
        fuzz_reference_must(model_complies(&c.model, level, &w), &w);
    } else if (w.code != WHY_UNSUPPORTED && w.code != WHY_MEMORY) {
        fprintf(stderr, "conversion of a valid model to level %d: %s\n", level, w.text);
        abort();
    }
}
