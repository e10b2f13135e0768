/* Optional operands that are inputs of the model and that the request omits. */
#include <string.h>

#include "harness/conform/conform_models.h"
#include "harness/conform/conform_requests.h"

static const struct one_op texts[] = {
    { "BIDIRECTIONAL_SEQUENCE_RNN without auxiliary inputs",
      "BIDIRECTIONAL_SEQUENCE_RNN",
      3,
      { "F32[1,1,1]: 2", "F32[1,1]: 3", "F32[1,1]: 1", "F32[1]: 1", "F32[1,1]: 0", "F32[1,1]: 4",
        "F32[1,1]: 1", "F32[1]: 1", "F32[1,1]: 0", "F32[0]:", "F32[0]:", "F32[0]:", "INT32: 0",
        "BOOL: 0", "BOOL: 0" },
      "F32[1,1,1]: 7; F32[1,1,1]: 9" },
    { "BIDIRECTIONAL_SEQUENCE_RNN without auxiliary inputs, in float16",
      "BIDIRECTIONAL_SEQUENCE_RNN",
      3,
      { "F16[1,1,1]: 2", "F16[1,1]: 3", "F16[1,1]: 1", "F16[1]: 1", "F16[1,1]: 0", "F16[1,1]: 4",
        "F16[1,1]: 1", "F16[1]: 1", "F16[1,1]: 0", "F16[0]:", "F16[0]:", "F16[0]:", "INT32: 0",
        "BOOL: 0", "BOOL: 0" },
      "F16[1,1,1]: 7; F16[1,1,1]: 9" },
};

static void omit_empty_inputs(struct conform_subject *s)
{
    for (uint32_t i = 0; i < s->request.hal.n_inputs; i++)
        if (!tensor_count(&s->model.example.in[i]))
            s->request.inputs[i] = (struct hal_argument){ .has_no_value = true };
}

static void run_without(struct conform *c, struct conform_subject *s)
{
    const struct hal_execution_config config = client_config();

    for (int k = 0; k < conform_n_kinds; k++) {
        const struct conform_kind *kind = &conform_kinds[k];
        if (!conform_can_run(c, s->prepared, kind, c->version))
            continue;
        conform_subject_reset(s);
        omit_empty_inputs(s);
        enum hal_status status = kind->run(s->prepared, c->version, &s->request, &config);
        EXPECT(c, status == HAL_NONE && conform_subject_is_correct(s), "%s, %s: %s%s",
               s->model.name, kind->name, hal_status_name(status),
               status == HAL_NONE ? ", wrong results" : "");
    }
}

static void omitted(struct conform *c, const void *data)
{
    bool any = false;

    (void) data;
    for (int i = 0; i < COUNT(texts); i++) {
        struct conform_subject s;
        conform_subject_open(c, &texts[i], &s);
        any = any || s.prepared;
        if (s.prepared)
            run_without(c, &s);
        conform_subject_close(&s);
    }
    if (!any)
        conform_not_applicable(c, "the driver does not support BIDIRECTIONAL_SEQUENCE_RNN");
}

static const struct conform_rule rules_of_file[] = {
    { "request", "omitted", HAL_1_2, 0,
      "optional operands that are inputs of the model may be omitted by the request", omitted },
};
const struct conform_rules conform_rules_omitted = { rules_of_file, COUNT(rules_of_file), NULL,
                                                     NULL };
