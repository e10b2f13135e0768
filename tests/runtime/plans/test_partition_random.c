/* Plans of random models over random drivers, against a plain restatement of the rules: which
 * operations each step has, in which order; what crosses between steps; when there is no plan. */
#include <check.h>
#include <string.h>

#include "runtime/model/ready_model.h"
#include "tests/runtime/plans/plan_case.h"
#include "tests/support/check_main.h"

enum { MOST_OPERATIONS = 100, SEEDS = 225 };

static uint64_t state;

static uint32_t below(uint32_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t) (state >> 33) % n;
}

/* An operand of N x N, whose shape is sometimes not known. */
static uint32_t square(struct plan_case *c, enum lifetime life)
{
    static const float value[4] = { 1, 2, 3, 4 };
    if (life == LIFE_CONSTANT_COPY) {
        uint32_t i = build_constant(&c->b, DT_F32, DIMS(2, 2), value);
        if (below(2)) {
            struct operand *o = &c->b.graph->operand[i];
            o->life = LIFE_CONSTANT_REFERENCE;
            o->pool = 0;
            o->tensor.data =
                c->b.model.pool[0].data ? (void *) (uintptr_t) c->b.model.pool[0].data : NULL;
        }
        return i;
    }
    bool unknown = life != LIFE_INPUT && below(12) == 0;
    return build_operand(&c->b, life, DT_F32,
                         !unknown   ? DIMS(2, 2)
                         : below(2) ? DIMS(0, 2)
                                    : (struct shape){ 0 });
}

/* The kinds of the operations by the number of their output. */
static enum kind kind_of_output[BUILD_MAX];

static void random_model(struct plan_case *c, uint32_t n, uint32_t n_kinds)
{
    static const float pool[4] = { 4, 3, 2, 1 };
    uint32_t readable[2 * MOST_OPERATIONS], n_readable = 0;

    plan_case_init(c, 1);
    c->b.model.pool = arena_alloc(c->arena, 1, sizeof(struct pool));
    c->b.model.pool[0] = (struct pool){ pool, sizeof pool };
    c->b.model.n_pools = 1;
    readable[n_readable++] = square(c, LIFE_INPUT);
    for (uint32_t i = 0; i < n; i++) {
        if (below(6) == 0)
            readable[n_readable++] = square(c, below(2) ? LIFE_INPUT : LIFE_CONSTANT_COPY);
        enum kind kind = (enum kind) below(n_kinds);
        uint32_t first = readable[below(n_readable)], second = readable[below(n_readable)];
        bool is_output = i + 1 == n || below(5) == 0;
        uint32_t out = square(c, is_output ? LIFE_OUTPUT : LIFE_TEMPORARY);
        plan_case_op(c, kind, first, second, out);
        kind_of_output[out] = kind;
        readable[n_readable++] = out;
    }
}

static bool size_unknown(const struct graph *g, uint32_t operand)
{
    const struct shape *s = &g->operand[operand].tensor.shape;
    return s->rank == 0 || !s->dim[0] || !s->dim[1];
}

/* Level of an operation: that of its kind, 3 with operands of unknown rank. */
static int level_of(const struct graph *g, const struct operation *o)
{
    int level = kind_level(kind_of_output[o->out[0]]);
    for (uint32_t k = 0; k < 2; k++)
        if (level < L3 &&
            (!g->operand[o->in[k]].tensor.shape.rank || !g->operand[o->out[0]].tensor.shape.rank))
            level = L3;
    return level;
}

/* Gives each kind to one of the drivers, each of a level that suffices. */
static void random_drivers(struct plan_case *c, uint32_t n)
{
    const struct graph *g = &c->b.model.graph[0];
    unsigned kinds[CASE_DEVICES] = { 0 };
    static const char *const names[] = { "d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7" };

    for (int k = 0; k < RANDOM_KINDS; k++)
        kinds[below(n)] |= SET(k);
    for (uint32_t d = 0; d < n; d++) {
        int level = L1;
        for (uint32_t i = 0; i < g->n_operations; i++)
            if (kinds[d] & SET(kind_of_output[g->operation[i].out[0]]) &&
                level_of(g, &g->operation[i]) > level)
                level = level_of(g, &g->operation[i]);
        level += (int) below((uint32_t) (L4 - level) + 1);
        /* As fast as the reference, or slower, where only one can do it: not with the reference. */
        scripted_device_set_level(
            plan_case_device(c, names[d], 0.1f + 0.1f * (float) below(9), kinds[d]), level);
    }
}

/* ---- the rules again, plainly */

struct restated {
    uint32_t n_steps, device[MOST_OPERATIONS], n[MOST_OPERATIONS];
    uint32_t operation[MOST_OPERATIONS][MOST_OPERATIONS];
    uint32_t step_of_output[BUILD_MAX]; /* 1 + step; 0: not written */
};

static uint32_t driver_of(const struct plan_case *c, const struct operation *o)
{
    for (uint32_t d = 0; d < c->n_devices; d++)
        if (c->device[d].kinds & SET(kind_of_output[o->out[0]]))
            return d;
    ck_abort_msg("no driver has this kind");
}

static bool is_ready(const struct graph *g, const struct restated *r, const struct operation *o)
{
    for (uint32_t k = 0; k < o->n_in; k++) {
        enum lifetime life = g->operand[o->in[k]].life;
        if ((life == LIFE_TEMPORARY || life == LIFE_OUTPUT) && !r->step_of_output[o->in[k]])
            return false;
    }
    return true;
}

/* Appends operations to the queues that are ready and in none: all of the graph, or the readers of
 * `written`, by ascending number. */
static void enqueue_ready(const struct plan_case *c, const struct restated *r, bool *queued,
                          uint32_t queue[CASE_DEVICES][MOST_OPERATIONS], uint32_t *tail)
{
    const struct graph *g = &c->m.model.graph[0];
    for (uint32_t i = 0; i < g->n_operations; i++)
        if (!queued[i] && is_ready(g, r, &g->operation[i])) {
            uint32_t d = driver_of(c, &g->operation[i]);
            queue[d][tail[d]++] = i;
            queued[i] = true;
        }
}

static void restate(const struct plan_case *c, struct restated *r)
{
    static uint32_t queue[CASE_DEVICES][MOST_OPERATIONS];
    uint32_t head[CASE_DEVICES] = { 0 }, tail[CASE_DEVICES] = { 0 };
    bool queued[MOST_OPERATIONS] = { false };
    const struct graph *g = &c->m.model.graph[0];

    memset(r, 0, sizeof *r);
    enqueue_ready(c, r, queued, queue, tail);
    for (;;) {
        uint32_t d = c->n_devices;
        while (d > 0 && head[d - 1] == tail[d - 1])
            d--;
        if (d-- == 0)
            return;
        uint32_t s = r->n_steps++;
        r->device[s] = d;
        while (head[d] < tail[d]) {
            uint32_t i = queue[d][head[d]++];
            r->operation[s][r->n[s]++] = i;
            r->step_of_output[g->operation[i].out[0]] = s + 1;
            enqueue_ready(c, r, queued, queue, tail);
        }
    }
}

/* Whether operand o crosses into step s: it reads, and another one or none writes. */
static bool enters(const struct plan_case *c, const struct restated *r, uint32_t o, uint32_t s)
{
    const struct graph *g = &c->m.model.graph[0];
    if (operand_constant(&g->operand[o]) || r->step_of_output[o] == s + 1)
        return false;
    for (uint32_t i = 0; i < r->n[s]; i++) {
        const struct operation *op = &g->operation[r->operation[s][i]];
        for (uint32_t k = 0; k < op->n_in; k++)
            if (op->in[k] == o)
                return true;
    }
    return false;
}

static bool is_read_elsewhere(const struct plan_case *c, const struct restated *r, uint32_t o)
{
    for (uint32_t s = 0; s < r->n_steps; s++)
        if (r->step_of_output[o] != s + 1 && enters(c, r, o, s))
            return true;
    return false;
}

static bool leaves(const struct plan_case *c, const struct restated *r, uint32_t o, uint32_t s)
{
    const struct graph *g = &c->m.model.graph[0];
    return r->step_of_output[o] == s + 1 &&
           (g->operand[o].life == LIFE_OUTPUT || is_read_elsewhere(c, r, o));
}

/* Whether runtime.md permits that there is no plan. */
static bool may_fail(const struct plan_case *c, const struct restated *r)
{
    const struct graph *g = &c->m.model.graph[0];
    for (uint32_t s = 0; s < r->n_steps && r->n_steps > 1; s++) {
        uint32_t in = 0, out = 0;
        for (uint32_t o = 0; o < g->n_operands; o++) {
            in += enters(c, r, o, s);
            out += leaves(c, r, o, s);
            if (leaves(c, r, o, s) && is_read_elsewhere(c, r, o) && size_unknown(g, o) &&
                c->device[r->device[s]].base.level < L3)
                return true;
        }
        if (!in || !out)
            return true;
    }
    return false;
}

static uint32_t find_argument(const struct step_argument *list, uint32_t n, uint32_t operand)
{
    uint32_t found = 0;
    for (uint32_t i = 0; i < n; i++)
        found += list[i].operand.operand == operand;
    return found;
}

/* Each argument once; inputs written by an earlier step. */
static void check_arguments(const struct plan_case *c, const struct restated *r, uint32_t s)
{
    const struct graph *g = &c->m.model.graph[0];
    const struct plan_step *step = &c->p.step[s];
    for (uint32_t o = 0; o < g->n_operands; o++) {
        ck_assert_uint_eq(find_argument(step->input, step->n_inputs, o), enters(c, r, o, s));
        ck_assert_uint_eq(find_argument(step->output, step->n_outputs, o), leaves(c, r, o, s));
        if (enters(c, r, o, s) && g->operand[o].life != LIFE_INPUT)
            ck_assert(r->step_of_output[o] && r->step_of_output[o] <= s);
    }
    for (uint32_t i = 1; i < step->n_inputs; i++) /* in groups */
        ck_assert(step->input[i - 1].from == ARGUMENT_SOURCE_INPUT ||
                  step->input[i].from == step->input[i - 1].from ||
                  (step->input[i - 1].from == ARGUMENT_TEMPORARY &&
                   step->input[i].from == ARGUMENT_SOURCE_OUTPUT));
}

/* The model of a step: the same operations on operands of the same types. */
static void check_step_model(struct plan_case *c, uint32_t s)
{
    const struct graph *g = &c->m.model.graph[0];
    const struct plan_step *step = &c->p.step[s];
    const struct graph *part = &step->model.graph[0];
    ck_assert_msg(model_prepare(&step->model, NULL, &c->w) >= 0, "step %u: %s", s, c->w.text);
    ck_assert_int_le(model_prepare(&step->model, NULL, &c->w), (int) step->device->level);
    ck_assert_uint_eq(part->n_operations, step->n_operations);
    ck_assert_uint_eq(part->n_inputs, step->n_inputs);
    ck_assert_uint_eq(part->n_outputs, step->n_outputs);
    for (uint32_t i = 0; i < part->n_operations; i++) {
        const struct operation *from = &g->operation[step->operation[i]], *to = &part->operation[i];
        ck_assert_int_eq(from->code, to->code);
        for (uint32_t k = 0; k < from->n_in; k++) {
            const struct operand *a = &g->operand[from->in[k]], *b = &part->operand[to->in[k]];
            ck_assert(a->tensor.dtype == b->tensor.dtype && a->tensor.data == b->tensor.data &&
                      a->length == b->length &&
                      !memcmp(&a->tensor.shape, &b->tensor.shape, sizeof a->tensor.shape));
        }
    }
}

static void check_plan(struct plan_case *c, const struct restated *r)
{
    uint32_t n_dynamic = 0;
    const struct graph *g = &c->m.model.graph[0];

    ck_assert_int_eq(c->p.kind, r->n_steps == 1 ? PLAN_SIMPLE : PLAN_COMPOUND);
    ck_assert_uint_eq(c->p.n_steps, r->n_steps);
    for (uint32_t s = 0; s < r->n_steps; s++) {
        const struct plan_step *step = &c->p.step[s];
        ck_assert_ptr_eq(step->device, &c->device[r->device[s]].base);
        ck_assert_uint_eq(step->n_operations, r->n[s]);
        for (uint32_t i = 0; i < r->n[s] && c->p.kind == PLAN_COMPOUND; i++)
            ck_assert_uint_eq(step->operation[i], r->operation[s][i]);
        if (c->p.kind == PLAN_COMPOUND)
            check_arguments(c, r, s);
        check_step_model(c, s);
    }
    for (uint32_t o = 0; o < g->n_operands; o++)
        n_dynamic += g->operand[o].life == LIFE_TEMPORARY && r->step_of_output[o] &&
                     size_unknown(g, o) && is_read_elsewhere(c, r, o);
    ck_assert_uint_eq(c->p.n_dynamic, n_dynamic);
}

/* Of a seed: 0: OP_FAILED, 1: a simple plan, 2: a compound one. */
static int check_seed(int seed)
{
    static struct restated r;
    struct plan_case c;
    state = (uint64_t) seed * 2654435761u + 1;
    for (int i = 0; i < 4; i++)
        below(2);
    uint32_t n_devices = 1 + below(CASE_DEVICES - 1);
    /* A few kinds, often: else each plan has a step for nearly every operation. */
    random_model(&c, 2 + below(below(2) ? MOST_OPERATIONS - 1 : 8), 1 + below(RANDOM_KINDS));
    random_drivers(&c, n_devices);
    int result = plan_case_make(&c);
    restate(&c, &r);
    if (may_fail(&c, &r)) {
        ck_assert_msg(result == ANEURALNETWORKS_OP_FAILED, "seed %d: result %d", seed, result);
    } else {
        ck_assert_msg(result == ANEURALNETWORKS_NO_ERROR, "seed %d: result %d: %s", seed, result,
                      c.w.text);
        check_plan(&c, &r);
    }
    int kind = result ? 0 : c.p.kind == PLAN_SIMPLE ? 1 : 2;
    plan_case_done(&c);
    return kind;
}

START_TEST(random_partitions)
{
    int n[3] = { 0 };
    for (int seed = 0; seed < SEEDS; seed++)
        n[check_seed(seed)]++;
    /* Every kind of result is common. */
    for (int i = 0; i < 3; i++)
        ck_assert_msg(n[i] >= SEEDS / 10, "failed %d, simple %d, compound %d", n[0], n[1], n[2]);
}
END_TEST

Suite *partition_random_suite(void)
{
    TCase *t = tcase_create("random");
    Suite *s = suite_create("partition_random");
    tcase_add_test(t, random_partitions);
    suite_add_tcase(s, t);
    return s;
}
