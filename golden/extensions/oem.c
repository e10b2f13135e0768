/* OEM_OPERATION of devices whose profile has oem = true: copies bytes.  Real devices define its
 * meaning themselves; extensions have replaced it. */
#include <string.h>

#include "golden/model/extension.h"

static const struct role inputs[] = {
    { "input", "bytes", "*" },
};

static const struct role outputs[] = {
    { "output", "the same bytes", "*" },
};

static const struct form forms[] = {
    { "", { 0, END } },
};

static const struct typing typings[] = {
    { L1, RANKS(1, MAX_RANK), { DT_OEM_BYTE } },
};

static void move(const struct call *c, const struct movement *m)
{
    memcpy(m->to[0], m->from[0], tensor_count(c->arg[0]) * m->size);
}

static const struct op operations[] = {
    {
        .code = EXTENSION_CODE(oem, 0),
        .name = "OEM_OPERATION",
        .summary = "Copies its bytes.",
        .formula = "output[i] = input[i]",
        .since = L1,
        .in = inputs,
        .n_in = COUNT(inputs),
        .out = outputs,
        .n_out = COUNT(outputs),
        .forms = forms,
        .n_forms = COUNT(forms),
        .typings = typings,
        .n_typings = COUNT(typings),
        .error = { ERROR_EXACT, .text = "none" },
        .move = move,
    },
};

/* The device's vendor defines the data of OEM types: all of it is valid. */
static int check_data(const struct tensor *t, struct why *w)
{
    (void) t, (void) w;
    return 0;
}

const struct extension_record extension_oem = {
    .summary = "OEM_OPERATION: copies bytes",
    .op = operations,
    .n_ops = COUNT(operations),
    .check_data = check_data,
};
