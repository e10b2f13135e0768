/* The reference executor (golden) as an engine, so that it can be called through the HAL. */
#include <stdlib.h>

#include "golden/exec/exec.h"
#include "sim/device/engine.h"

struct reference {
    struct engine base;
    struct hal_operand_performance operand[DT_COUNT];
};

struct program {
    struct plan *plan;
};

/* In a model with operations or operands of unknown extensions (is_foreign) IF and WHILE are not
 * supported, even if their subgraphs contain no such operation. */
static bool supports(const struct model *m, const struct operation *o, bool is_foreign)
{
    const struct graph *g = &m->graph[0];

    for (uint32_t i = 0; i < o->n_in && is_foreign; i++)
        if (g->operand[o->in[i]].life == LIFE_SUBGRAPH)
            return false;
    return !operation_is_foreign(g, o);
}

/* Every valid operation is supported, except those of unknown extensions. */
static int supported(struct engine *e, const struct model *m, bool *ret_supported, struct why *w)
{
    bool is_foreign = model_is_foreign(m, NULL);

    (void) e, (void) w;
    for (uint32_t i = 0; i < m->graph[0].n_operations; i++)
        ret_supported[i] = supports(m, &m->graph[0].operation[i], is_foreign);
    return 0;
}

static int prepare(struct engine *e, const struct model *m, struct program **ret_program,
                   struct why *w)
{
    struct program *p = calloc(1, sizeof(*p));

    (void) e;
    if (!p)
        return why_no_memory(w);
    if (plan_new(m, &p->plan, w) < 0) {
        free(p);
        return -1;
    }
    *ret_program = p;
    return 0;
}

static void program_free(struct program *p)
{
    plan_free(p->plan);
    free(p);
}

static int run(struct program *p, const struct tensor *in, const struct run_limits *limits,
               struct arena *a, struct run_output *ret_output, struct why *w)
{
    struct exec_options options = { .arena = a, .loop_timeout = (double) limits->loop_ns * 1e-9 };
    struct result result;

    TRY(plan_run(p->plan, in, &options, &result, w));
    *ret_output = (struct run_output){ result.out, HAL_NO_TIME, HAL_NO_TIME };
    return 0;
}

/* There is no cost model: the virtual clock does not advance. */
static double estimate(const struct program *p)
{
    (void) p;
    return 0;
}

static void engine_free(struct engine *e)
{
    free(e);
}

int engine_reference(struct engine **ret_engine, struct why *w)
{
    static const struct engine_methods methods = { supported, prepare, program_free,
                                                   estimate,  run,     engine_free };
    struct reference *r = calloc(1, sizeof(*r));
    uint32_t n = 0;

    if (!r)
        return why_no_memory(w);
    for (int32_t type = 0; type < DT_COUNT; type++)
        if (type != DT_MODEL)
            r->operand[n++] = (struct hal_operand_performance){ type, { 1, 1 } };
    r->base = (struct engine){
        .methods = &methods,
        .name = "halcyon-golden",
        .version = "reference",
        .type = HAL_DEVICE_CPU,
        .hal = HAL_FL8,
        .priorities = 3,
        .limits = client_limits_default,
        .extensions = EXTENSIONS_NAMED,
        .capabilities = { { 1, 1 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, n, r->operand },
    };
    *ret_engine = &r->base;
    return 0;
}
