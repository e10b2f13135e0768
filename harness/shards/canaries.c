#include "harness/shards/canaries.h"

#include <inttypes.h>
#include <stdbool.h>

#include "golden/math/farmhash.h"
#include "randgraph/randgraph.h"

enum { CANARY_SEED = 20 };

static uint64_t extend(uint64_t digest, const void *bytes, size_t n)
{
    const uint64_t both[2] = { digest, farmhash64(bytes, n) };
    return farmhash64(both, sizeof both);
}

static uint64_t digest_of(const struct example *e, const struct result *r)
{
    uint64_t digest = randgraph_example_digest(e);
    for (uint32_t i = 0; i < r->n; i++) {
        const struct tensor *t = &r->out[i];
        digest = extend(digest, t->shape.dim, t->shape.rank * sizeof t->shape.dim[0]);
        digest = extend(digest, t->data, tensor_bytes(t));
        digest = extend(digest, r->bound[i], shape_count(&t->shape) * sizeof r->bound[i][0]);
    }
    return digest;
}

int canary_compute(int i, uint64_t *ret_digest, struct why *w)
{
    struct arena *arena = arena_new(0);
    struct example e;
    struct plan *plan = NULL;
    struct result result;
    int failed = arena ? 0 : why_no_memory(w);
    if (!failed)
        failed = randgraph_make(NULL, CANARY_SEED, (uint64_t) i, arena, &e, w);
    if (!failed)
        failed = plan_new(&e.model, &plan, w);
    if (!failed)
        failed = plan_run(plan, e.in, &(struct exec_options){ .bounds = true }, &result, w);
    if (!failed) {
        *ret_digest = digest_of(&e, &result);
        result_done(&result);
    }
    plan_free(plan);
    arena_free(arena);
    return failed;
}

int canaries_check(struct why *w)
{
    for (int i = 0; i < CANARIES; i++) {
        uint64_t digest = 0;
        struct why why = { 0 };
        if (canary_compute(i, &digest, &why) < 0)
            return why_fail(w, WHY_SYSTEM, "this machine computes wrongly: canary %d of %d: %.300s",
                            i, CANARIES, why.text);
        if (digest != canary_digests[i])
            return why_fail(w, WHY_SYSTEM,
                            "this machine computes wrongly: canary %d of %d has the digest "
                            "%016" PRIx64 ", expected %016" PRIx64
                            " (bad memory, a bad processor, or a build that changes arithmetic)",
                            i, CANARIES, digest, canary_digests[i]);
    }
    return 0;
}

uint64_t canaries_digest(void)
{
    return farmhash64(canary_digests, sizeof canary_digests);
}
