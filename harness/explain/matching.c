#include "harness/explain/matching.h"

#include "golden/edit/edit.h"
#include "harness/check/part.h"
#include "harness/explain/hypotheses.h"

static void try_all(const struct check *c, const struct tensor *actual, uint32_t output,
                    struct matching *ret)
{
    struct hypothesis_results all = { 0 };
    struct subject s;
    struct why why;

    if (subject_init(&s, c->example, &c->result, actual, output, c->arena, &why) < 0 ||
        hypotheses_try(&s, NULL, &all, &why) < 0)
        return;
    ret->tried = true;
    for (int i = 0; i < all.n && all.best[i].matches && ret->n < MATCHING_MOST; i++)
        if (!all.best[i].hypothesis->loose)
            ret->name[ret->n++] = all.best[i].hypothesis->name;
}

static void find(const struct example *e, struct target *t, const struct variation *way,
                 struct matching *ret)
{
    struct check_result r;
    struct tensor *out = NULL;
    struct check c;
    struct why why;

    if (check_begin(&c, e, JUDGE_BOUND, &why) < 0)
        return;
    c.is_varied = way != NULL;
    if (way)
        c.variation = *way;
    variation_check(&c, t, &r, NULL, &out);
    if (r.died)
        target_restart(t);
    if (r.verdict == VERDICT_FAIL && r.output >= 0 && out && c.have_result)
        try_all(&c, out, (uint32_t) r.output, ret);
    check_done(&c);
}

void matching_find(const struct example *e, struct target *t, const struct variation *way,
                   struct matching *ret)
{
    const uint32_t first = 0;
    struct arena *arena;
    struct example alone; /* all results are outputs */
    struct parts p;
    struct why why;

    *ret = (struct matching){ 0 };
    if (edit_operations(e) != 1 || edit_largest(e) > MATCHING_ELEMENTS || !(arena = arena_new(0)))
        return;
    if (parts_find(e, arena, &p, &why) == 0 && part_make(&p, &first, 1, arena, &alone, &why) == 0)
        find(&alone, t, way, ret);
    arena_free(arena);
}
