/* The checks that drivers in shared libraries call. */
#include "sim/hal_validate.h"

#include <stdio.h>

#include "golden/base/text_escape.h"
#include "sim/hal/argument_check.h"

/* The status of a check that returned rc, and its reason. */
static enum hal_status answer(int rc, const struct why *w, enum hal_version version, char *ret_text,
                              size_t size)
{
    if (size)
        snprintf(ret_text, size, "%s", rc < 0 ? w->text : "");
    if (size)
        text_clean(ret_text);
    return rc < 0 ? hal_status_from_why(w, version) : HAL_NONE;
}

static int check_version(enum hal_version version, struct why *w)
{
    REQUIRE(w, hal_level(version), "there is no HAL version %d", (int) version);
    return 0;
}

static int check_model(enum hal_version version, const struct hal_model *model, struct why *w)
{
    struct loaded_model l;

    TRY(check_version(version, w));
    TRY(loaded_model_open(model, version, 0, &l, w));
    loaded_model_close(&l);
    return 0;
}

enum hal_status hal_validate_model(enum hal_version version, const struct hal_model *model,
                                   char *ret_text, size_t size)
{
    struct why w;
    int rc = check_model(version, model, &w);

    return answer(rc, &w, version, ret_text, size);
}

enum hal_status hal_validate_prepare_config(enum hal_version version,
                                            const struct hal_prepare_config *config, char *ret_text,
                                            size_t size)
{
    struct why w;
    int rc = check_version(version, &w) < 0 ? -1 : hal_prepare_config_check(config, version, &w);

    return answer(rc, &w, version, ret_text, size);
}

enum hal_status hal_validate_execution_config(enum hal_version version,
                                              const struct hal_execution_config *config,
                                              char *ret_text, size_t size)
{
    struct why w;
    int rc = check_version(version, &w) < 0 ? -1 : hal_execution_config_check(config, version, &w);

    return answer(rc, &w, version, ret_text, size);
}

/* Type and shape of the operand at *index of a main subgraph. */
static int declared_by(const struct hal_subgraph *main, const uint32_t *index,
                       struct tensor *ret_declared, struct why *w)
{
    REQUIRE(w, *index < main->n_operands, "operand %u of %u", *index, main->n_operands);
    const struct hal_operand *o = &main->operands[*index];
    struct tensor t = { .dtype = o->type >= 0 && o->type < DT_COUNT ? (enum dtype) o->type
                                                                    : DT_FOREIGN };

    REQUIRE(w, o->n_dims <= MAX_RANK && (!o->n_dims || o->dims), "rank %u of operand %u", o->n_dims,
            *index);
    t.shape.rank = o->n_dims;
    for (uint32_t d = 0; d < o->n_dims; d++)
        t.shape.dim[d] = o->dims[d];
    *ret_declared = t;
    return 0;
}

static int check_request(enum hal_version version, const struct hal_subgraph *main,
                         const struct hal_request *request, struct why *w)
{
    struct tensor declared;
    struct shape shape;

    TRY(check_version(version, w));
    TRY(hal_request_check_lists(request, main->n_inputs, main->n_outputs, version, w));
    for (uint32_t i = 0; i < main->n_inputs; i++)
        if (declared_by(main, &main->inputs[i], &declared, w) < 0 ||
            hal_request_check_input(request, i, &declared, version, &shape, w) < 0)
            return why_prefix(w, "input %u", i);
    for (uint32_t i = 0; i < main->n_outputs; i++)
        if (declared_by(main, &main->outputs[i], &declared, w) < 0 ||
            hal_request_check_output(request, i, &declared, version, &shape, w) < 0)
            return why_prefix(w, "output %u", i);
    return 0;
}

enum hal_status hal_validate_request(enum hal_version version, const struct hal_subgraph *main,
                                     const struct hal_request *request, char *ret_text, size_t size)
{
    struct why w;
    int rc = check_request(version, main, request, &w);

    return answer(rc, &w, version, ret_text, size);
}
