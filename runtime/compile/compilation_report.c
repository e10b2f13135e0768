#include "runtime/compile/compilation_report.h"

#include <stdlib.h>

/* Those of the plan; NULL: out of memory. */
static char *devices_of(const ANeuralNetworksCompilation *c)
{
    const struct partition *p = c->plan ? &c->plan->partition : NULL;
    const ANeuralNetworksDevice **device;
    uint32_t n = 0;

    if (!p)
        return telemetry_devices(&c->on, c->on ? 1 : 0);
    device = calloc((size_t) p->n_steps + 1, sizeof(ANeuralNetworksDevice *));
    for (uint32_t i = 0; i < p->n_steps && device; i++)
        if (p->step[i].kind == STEP_EXECUTE)
            device[n++] = p->step[i].device;
    char *text = device ? telemetry_devices(device, n) : NULL;
    free(device);
    return text;
}

struct telemetry_facts compilation_facts(const ANeuralNetworksCompilation *c, char **ret_devices)
{
    struct telemetry_facts f = telemetry_facts_of(c->model);

    *ret_devices = devices_of(c);
    if (*ret_devices)
        f.devices = *ret_devices;
    f.fell_back = c->fell_back;
    f.is_explicit = c->is_explicit;
    f.is_cached = c->is_cached;
    f.is_dynamic = c->plan && c->plan->partition.n_dynamic;
    return f;
}

void compilation_report(const ANeuralNetworksCompilation *c, int result, uint64_t ns)
{
    char *devices;
    struct ANeuralNetworksDiagnosticCompilationInfo info = {
        .facts = compilation_facts(c, &devices),
        .ns = ns,
    };

    info.facts.result = result;
    telemetry_compilation(&info);
    free(devices);
}
