/* The list of all planted faults: those inside a simulated device, then those of the contract. */
#include <string.h>

#include "sim/faulty/faulty.h"

static const struct fault_group *const groups[] = {
    &device_faults, &driver_faults, &model_faults,    &execution_faults, &burst_faults,
    &state_faults,  &repeat_faults, &sequence_faults, &memory_faults,    &crowd_faults,
};

const struct fault *fault_at(int index)
{
    for (size_t g = 0; g < COUNT(groups) && index >= 0; index -= groups[g++]->n)
        if (index < groups[g]->n)
            return &groups[g]->fault[index];
    return NULL;
}

const struct fault *fault_find(const char *name)
{
    const struct fault *f;

    for (int i = 0; (f = fault_at(i)); i++)
        if (strcmp(f->name, name) == 0)
            return f;
    return NULL;
}
