/* The null device: implements the HAL and supports no operation. */
#include <stdlib.h>

#include "sim/device/engine.h"

static int supported(struct engine *e, const struct model *m, bool *ret_supported, struct why *w)
{
    (void) e, (void) m, (void) ret_supported, (void) w;
    return 0; /* all false, as the driver initialised them */
}

static int prepare(struct engine *e, const struct model *m, struct program **ret_program,
                   struct why *w)
{
    (void) e, (void) m, (void) ret_program;
    return why_fail(w, WHY_UNSUPPORTED, "the null device supports no operation");
}

static int run(struct program *p, const struct tensor *in, const struct run_limits *limits,
               struct arena *a, struct run_output *ret_output, struct why *w)
{
    (void) p, (void) in, (void) limits, (void) a, (void) ret_output;
    return why_fail(w, WHY_UNSUPPORTED, "the null device supports no operation");
}

static void program_free(struct program *p)
{
    (void) p;
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

int engine_null(struct engine **ret_engine, struct why *w)
{
    static const struct engine_methods methods = { supported, prepare, program_free,
                                                   estimate,  run,     engine_free };
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
