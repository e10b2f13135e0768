#include "harness/conform/conform_judge.h"

#include <string.h>

void conform_judge_init(struct conform_judge *j, const struct conform_model *m)
{
    struct why w = { 0 };

    j->model = m;
    conform_must(check_begin(&j->check, &m->example, JUDGE_BOUND, &w) == 0, "out of memory");
    check_reference(&j->check);
}

void conform_judge_done(struct conform_judge *j)
{
    check_done(&j->check);
}

static uint32_t n_outputs(const struct conform_judge *j)
{
    return j->model->hal.main.n_outputs;
}

/* The outputs' tensors, with the shapes of the reference, without data. */
static struct tensor *outputs_of(const struct conform_judge *j, struct arena *a)
{
    const struct graph *g = &j->model->example.model.graph[0];
    struct tensor *t = arena_alloc(a, n_outputs(j), sizeof *t);

    conform_must(t, "out of memory");
    for (uint32_t i = 0; i < n_outputs(j); i++) {
        t[i] = g->operand[g->output[i]].tensor;
        t[i].shape = j->check.out_shape[i];
        t[i].data = NULL;
    }
    return t;
}

/* Takes the arena, in which the tensors lie. */
static void compare(struct conform_judge *j, struct tensor *out, struct arena *a,
                    struct check_result *ret)
{
    struct outcome o = {
        .stage = STAGE_DONE, .status = HAL_NONE, .arena = a, .out = out, .n_out = n_outputs(j)
    };

    *ret = check_without_outcome(VERDICT_ERROR, JUDGE_BOUND);
    check_judge(&j->check, &o, ret, NULL);
}

static bool is_decided(const struct check_result *r)
{
    return r->verdict != VERDICT_ERROR && r->verdict != VERDICT_UNDECIDED;
}

static bool judge(struct conform *c, struct conform_judge *j, struct tensor *out, struct arena *a,
                  const char *kind)
{
    struct check_result r;

    compare(j, out, a, &r);
    return !is_decided(&r) ||
           EXPECT(c, r.verdict == VERDICT_PASS, "%s, %s: %s; %llu elements of %llu wrong, ratio %g",
                  j->model->name, kind, r.why, (unsigned long long) r.wrong,
                  (unsigned long long) r.checked, r.ratio);
}

/* The request's outputs, of the shapes that are reported or else those of the reference. */
static struct tensor *outputs_in(const struct conform_judge *j, const struct conform_request *r,
                                 struct arena *a)
{
    struct tensor *t = outputs_of(j, a);

    for (uint32_t i = 0; i < n_outputs(j); i++) {
        t[i].data = conform_request_value(r, &r->outputs[i]);
        conform_reported_shape(r, i, &t[i].shape);
    }
    return t;
}

bool conform_judge(struct conform *c, struct conform_judge *j, const struct conform_request *r,
                   const char *kind)
{
    struct arena *a = arena_new(0);

    return judge(c, j, outputs_in(j, r, a), a, kind);
}

bool conform_judge_agrees(struct conform_judge *j, const struct conform_request *r)
{
    struct arena *a = arena_new(0);
    struct check_result result;

    compare(j, outputs_in(j, r, a), a, &result);
    return !is_decided(&result) || result.verdict == VERDICT_PASS;
}

bool conform_judge_beside(struct conform *c, const struct conform_model *m,
                          const struct conform_request *r, const struct tensor *alone)
{
    struct conform_judge j;

    if (conform_outputs_are(r, alone))
        return true;
    if (!c->state->may_fall_back)
        return false;
    conform_judge_init(&j, m);
    bool agrees = conform_judge_agrees(&j, r);
    conform_judge_done(&j);
    return agrees;
}

bool conform_judge_values(struct conform *c, struct conform_judge *j, void *const *value,
                          const char *kind)
{
    struct arena *a = arena_new(0);
    struct tensor *t = outputs_of(j, a);

    for (uint32_t i = 0; i < n_outputs(j); i++)
        t[i].data = value[i];
    return judge(c, j, t, a, kind);
}
