/* The engines without a profile: the null device, which implements the HAL and supports no
 * operation, and the reference executor (golden), so that it can be called through the HAL. */
#include <stdlib.h>

#include "golden/exec/exec.h"
#include "sim/device/engine.h"

/* There is no cost model: the virtual clock does not advance. */
static uint64_t estimate(const struct program *p)
{
    (void) p;
    return 0;
}

static void engine_free(struct engine *e)
{
    free(e);
}

/* ---- the null device */

static int null_supported(struct engine *e, const struct model *m, bool *ret_supported,
                          struct why *w)
{
    (void) e, (void) m, (void) ret_supported, (void) w;
    return 0; /* all false, as the driver initialised them */
}

static int null_prepare(struct engine *e, const struct model *m, struct program **ret_program,
                        struct why *w)
{
    (void) e, (void) m, (void) ret_program;
    return why_fail(w, WHY_UNSUPPORTED, "the null device supports no operation");
}

static int null_run(struct program *p, const struct tensor *in, const struct run_limits *limits,
                    struct arena *a, struct run_output *ret_output, struct why *w)
{
    (void) p, (void) in, (void) limits, (void) a, (void) ret_output;
    return why_fail(w, WHY_UNSUPPORTED, "the null device supports no operation");
}

static void null_program_free(struct program *p)
{
    (void) p;
}

int engine_null(struct engine **ret_engine, struct why *w)
{
    static const struct engine_methods methods = { null_supported, null_prepare, null_program_free,
                                                   estimate,       null_run,     engine_free };
    static const struct hal_operand_performance operand[] = { { DT_F32, { 1, 1 } } };
    struct engine *e = calloc(1, sizeof(*e));

    if (!e)
        return why_no_memory(w);
    *e = (struct engine){
        .methods = &methods,
        .name = "halcyon-null",
        .version = "null",
        .type = HAL_DEVICE_OTHER,
        .hal = HAL_1_3,
        .priorities = 3,
        .limits = client_limits_default,
        .capabilities = { { 1, 1 }, { 1, 1 }, { 1, 1 }, { 1, 1 }, COUNT(operand), operand },
    };
    *ret_engine = e;
    return 0;
}

/* ---- the reference executor */

struct reference {
    struct engine base;
    struct hal_operand_performance operand[DT_COUNT];
};

struct program {
    struct plan *plan;
};

/* Every valid operation is supported, except those of unknown extensions.  In a model with
 * operations or operands of unknown extensions IF and WHILE are not supported, whatever their
 * subgraphs contain. */
static int reference_supported(struct engine *e, const struct model *m, bool *ret_supported,
                               struct why *w)
{
    const struct graph *g = &m->graph[0];
    bool is_foreign = model_is_foreign(m, NULL);

    (void) e, (void) w;
    for (uint32_t i = 0; i < g->n_operations; i++) {
        const struct operation *o = &g->operation[i];
        ret_supported[i] = !operation_is_foreign(g, o);
        for (uint32_t k = 0; k < o->n_in && is_foreign; k++)
            if (g->operand[o->in[k]].life == LIFE_SUBGRAPH)
                ret_supported[i] = false;
    }
    return 0;
}

static int reference_prepare(struct engine *e, const struct model *m, struct program **ret_program,
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

static void reference_program_free(struct program *p)
{
    plan_free(p->plan);
    free(p);
}

static int reference_run(struct program *p, const struct tensor *in,
                         const struct run_limits *limits, struct arena *a,
                         struct run_output *ret_output, struct why *w)
{
    struct exec_options options = { .arena = a,
                                    .loop_timeout =
                                        limits->loop_ns ? (double) limits->loop_ns * 1e-9 : 1e-9 };
    struct result result;

    TRY(plan_run(p->plan, in, &options, &result, w));
    *ret_output = (struct run_output){ result.out, HAL_NO_TIME, HAL_NO_TIME };
    return 0;
}

int engine_reference(struct engine **ret_engine, struct why *w)
{
    static const struct engine_methods methods = { reference_supported,    reference_prepare,
                                                   reference_program_free, estimate,
                                                   reference_run,          engine_free };
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
