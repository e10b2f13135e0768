/* randgraph with choices from bytes: every model that it draws is valid, runs, and agrees with its
 * own bounds. */
#include "randgraph/randgraph.h"
#include "tests/fuzz/common/fuzz_reference.h"
#include "tests/fuzz/fuzz.h"

enum { ARENA = 1 << 25 };

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct randgraph_options o = randgraph_default;
    struct arena *a = arena_new(ARENA);
    struct plan *plan;
    struct example e;
    struct rng r;
    struct why w;

    if (!a)
        return 0;
    rng_bytes(&r, bytes, length);
    o.max_ops = 4;
    o.max_dim = 4;
    o.max_elements = 64;
    o.control_flow = 0.5;
    o.max_level = 1 + (int) rng_below(&r, 8);
    fuzz_reference_must(randgraph_from(&o, &r, a, &e, &w), &w);
    fuzz_reference_must(model_validate(&e.model, &w), &w);
    fuzz_reference_must(plan_new(&e.model, &plan, &w), &w);
    if (fuzz_reference_run(plan, e.in, &w) < 0)
        fuzz_reference_must(w.code == WHY_TIMEOUT || w.code == WHY_MEMORY ? 0 : -1, &w);
    plan_free(plan);
    for (int level = 1; level < o.max_level; level++)
        fuzz_reference_convert(a, &e.model, level);
    arena_free(a);
    return 0;
}
