#include "harness/plan/shown_plan.h"

#include <string.h>

#include "harness/run/devices.h"
#include "runtime/compile/operation_text.h"
#include "runtime/model/ready_model.h"

/* ---- devices */

static int open_device(const char *uri, bool is_reference, double timeout, struct plan_devices *d,
                       struct why *w)
{
    struct target_host host = harness_host;
    struct target *t;

    host.is_served = true;
    host.reply_timeout = timeout;
    TRY(target_open(uri, &host, &t, w));
    ANeuralNetworksDevice *device = device_of_target(t, is_reference, w);
    if (!device)
        return -1;
    d->uri[d->n] = uri;
    d->device[d->n++] = device;
    for (uint32_t i = 0; i + 1 < d->n; i++)
        REQUIRE(w, strcmp(d->device[i]->name, device->name),
                "%s and %s have the same name, %s: the runtime would use the first one only",
                d->uri[i], uri, device->name);
    return 0;
}

int plan_devices_open(const char *const *uri, uint32_t n, double timeout,
                      struct plan_devices *ret_devices, struct why *w)
{
    *ret_devices = (struct plan_devices){ 0 };
    for (uint32_t i = 0; i < n; i++)
        if (open_device(uri[i], false, timeout, ret_devices, w) < 0) {
            plan_devices_close(ret_devices);
            return -1;
        }
    if (open_device("golden", true, timeout, ret_devices, w) < 0) {
        plan_devices_close(ret_devices);
        return -1;
    }
    return 0;
}

void plan_devices_close(struct plan_devices *d)
{
    for (uint32_t i = 0; i < d->n; i++)
        device_free(d->device[i]);
    d->n = 0;
}

/* ---- the plan */

int shown_plan_make(const char *name, const struct model *m, const struct plan_devices *devices,
                    int32_t preference, struct arena *a, struct shown_plan *ret_plan, struct why *w)
{
    struct shown_plan *p = ret_plan;
    const struct graph_choice *choice;

    *p = (struct shown_plan){ .name = name, .devices = devices };
    TRY(ready_model_make(m, a, &p->model, w));
    TRY(device_chooser_init(&p->chooser, &p->model, devices->n,
                            (const ANeuralNetworksDevice *const *) devices->device, preference, a,
                            w));
    TRY(device_chooser_graph(&p->chooser, 0, &choice, w));
    p->result = partition_make_chosen(&p->chooser, a, &p->partition, &p->why);
    if (p->result == ANEURALNETWORKS_OUT_OF_MEMORY) {
        *w = p->why;
        return -1;
    }
    return 0;
}

bool shown_plan_has_graph(const struct shown_plan *p, uint32_t graph)
{
    return p->chooser.graph[graph].candidate != NULL;
}

const char *shown_plan_outcome(const struct shown_plan *p)
{
    switch (p->result) {
    case ANEURALNETWORKS_NO_ERROR: return "";
    case ANEURALNETWORKS_BAD_DATA: return "a compilation fails with BAD_DATA";
    default:
        return "a compilation falls back to nnapi-reference for the whole model; one without "
               "fallback, or for devices that the client lists, fails with OP_FAILED";
    }
}

const char *shown_operation_name(const struct shown_plan *p, uint32_t graph, uint32_t operation,
                                 char text[EXTENSION_TEXT])
{
    const struct model *m = &p->model.model;
    return operation_text(m, m->graph[graph].operation[operation].code, text);
}

const char *shown_operation_type(const struct shown_plan *p, uint32_t graph, uint32_t operation)
{
    const struct graph *g = &p->model.model.graph[graph];
    const struct operation *o = &g->operation[operation];
    return o->n_in ? dtype_info[g->operand[o->in[0]].tensor.dtype].name : "";
}

/* The best one of the reference's IF and WHILE is to interpret them. */
static uint32_t best_device(const struct shown_plan *p, const struct graph_choice *c,
                            uint32_t operation)
{
    uint32_t best = c->best[operation];
    return best == p->devices->n ? p->devices->n - 1 : best;
}

const char *shown_plan_reason(const struct shown_plan *p, uint32_t graph, uint32_t operation,
                              uint32_t device, char text[REASON_TEXT])
{
    const struct graph_choice *c = &p->chooser.graph[graph];
    const struct device_candidate *row = &c->candidate[(size_t) operation * p->devices->n];
    uint32_t best = best_device(p, c, operation);

    if (row[device].ability == ABILITY_LEVEL) {
        snprintf(text, REASON_TEXT, "needs level %d",
                 p->chooser.abilities.levels.operation[graph][operation]);
        return text;
    }
    if (row[device].ability != ABILITY_CAN)
        return ability_text[row[device].ability];
    if (device == best)
        return c->best[operation] == p->devices->n ? "interpreted" : "chosen";
    if (row[device].cost == row[best].cost)
        return "tie";
    return p->chooser.preference == ANEURALNETWORKS_PREFER_LOW_POWER ? "more power" : "slower";
}
