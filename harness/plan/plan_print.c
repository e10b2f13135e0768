/* A plan as text: devices, steps, and for each operation what every device would cost. */
#include <float.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "golden/base/text_escape.h"
#include "golden/model/compliance.h"
#include "golden/model/extension.h"
#include "harness/cli/options.h"
#include "harness/plan/shown_plan.h"
#include "runtime/compile/plan_text.h"

enum { CELL = 32 };

static void print_devices(const struct shown_plan *p, FILE *to)
{
    fputs("devices:\n", to);
    for (uint32_t i = 0; i < p->devices->n; i++) {
        const ANeuralNetworksDevice *d = p->devices->device[i];
        fprintf(to, "  %2" PRIu32 "  %-24s feature level %d (%s)", i, d->name, (int) d->level,
                level_name((int) d->level));
        fputs(d->is_reference ? "" : ", ", to);
        text_put(to, TEXT_TERMINAL, d->is_reference ? "" : p->devices->uri[i], 0);
        putc('\n', to);
    }
}

static void print_steps(const struct shown_plan *p, FILE *to)
{
    const struct partition *t = &p->partition;
    if (t->kind == PLAN_SIMPLE) {
        fprintf(to, "plan: the whole model on %s\n", t->step[0].device->name);
        return;
    }
    fprintf(to, "plan: %" PRIu32 " step%s\n", t->n_steps, t->n_steps == 1 ? "" : "s");
    for (uint32_t i = 0; i < t->n_steps; i++) {
        const struct plan_step *s = &t->step[i];
        fprintf(to, "  %2" PRIu32 "  ", i);
        if (t->source[s->source].graph)
            fprintf(to, "[subgraph %" PRIu32 "] ", t->source[s->source].graph);
        plan_put_step(&p->model, t, i, to);
        if (s->kind == STEP_EXECUTE) {
            fputs("\n        reads ", to);
            plan_put_arguments(&p->model, t, s->input, s->n_inputs, to);
            fputs("; writes ", to);
            plan_put_arguments(&p->model, t, s->output, s->n_outputs, to);
        }
        putc('\n', to);
    }
    for (uint32_t i = 0; i < t->n_dynamic; i++)
        fprintf(to,
                "  temporary %" PRIu32
                " is allocated during the execution: its size is not known\n",
                t->dynamic[i].operand);
}

/* What stands in the table for an operation on a device: "* 0.3 chosen", "0.5 slower". */
static void write_cell(const struct shown_plan *p, uint32_t graph, uint32_t operation,
                       uint32_t device, char cell[CELL])
{
    const struct device_candidate *c =
        &p->chooser.graph[graph].candidate[(size_t) operation * p->devices->n + device];
    char text[REASON_TEXT], cost[16];
    const char *reason = shown_plan_reason(p, graph, operation, device, text);
    snprintf(cost, sizeof cost, c->cost >= FLT_MAX ? "unstated" : "%.3g", (double) c->cost);
    if (c->ability == ABILITY_CAN)
        snprintf(cell, CELL, "%s %s", cost, reason);
    else
        snprintf(cell, CELL, "%s", reason);
}

/* The widths of the table's columns: operation, type, devices. */
static void find_widths(const struct shown_plan *p, uint32_t graph, int *width)
{
    const struct graph *g = &p->model.model.graph[graph];
    char cell[CELL], name[EXTENSION_TEXT];

    for (uint32_t i = 0; i < g->n_operations; i++) {
        int n = (int) strlen(shown_operation_name(p, graph, i, name));
        int t = (int) strlen(shown_operation_type(p, graph, i));
        width[0] = n > width[0] ? n : width[0];
        width[1] = t > width[1] ? t : width[1];
    }
    for (uint32_t d = 0; d < p->devices->n; d++) {
        width[2 + d] = (int) strlen(p->devices->device[d]->name);
        for (uint32_t i = 0; i < g->n_operations; i++) {
            write_cell(p, graph, i, d, cell);
            int n = (int) strlen(cell);
            width[2 + d] = n > width[2 + d] ? n : width[2 + d];
        }
    }
}

static void print_table(const struct shown_plan *p, uint32_t graph, FILE *to)
{
    const struct graph *g = &p->model.model.graph[graph];
    const uint32_t n = p->devices->n;
    int width[2 + MOST_PLAN_DEVICES] = { 9, 0 };
    char cell[CELL], name[EXTENSION_TEXT];

    find_widths(p, graph, width);
    if (graph)
        fprintf(to, "subgraph %" PRIu32 ":\n", graph);
    fprintf(to, "      %-*s  %*s", width[0], "operation", width[1], "");
    for (uint32_t d = 0; d < n; d++)
        fprintf(to, "  %-*s", d + 1 < n ? width[2 + d] : 0, p->devices->device[d]->name);
    putc('\n', to);
    for (uint32_t i = 0; i < g->n_operations; i++) {
        fprintf(to, "  %2" PRIu32 "  %-*s  %-*s", i, width[0],
                shown_operation_name(p, graph, i, name), width[1],
                shown_operation_type(p, graph, i));
        for (uint32_t d = 0; d < n; d++) {
            write_cell(p, graph, i, d, cell);
            fprintf(to, "  %-*s", d + 1 < n ? width[2 + d] : 0, cell);
        }
        putc('\n', to);
    }
}

/* The operations that end on the reference although there are drivers: those that no driver can do,
 * and those at which it is faster. */
static void print_on_reference(const struct shown_plan *p, uint32_t graph, bool can, FILE *to)
{
    const struct graph *g = &p->model.model.graph[graph];
    const struct graph_choice *c = &p->chooser.graph[graph];
    const uint32_t n = p->devices->n, reference = n - 1;
    bool any = false;

    for (uint32_t i = 0; i < g->n_operations; i++) {
        bool driver_can = false;
        char name[EXTENSION_TEXT];
        for (uint32_t d = 0; d < reference; d++)
            driver_can |= c->candidate[(size_t) i * n + d].ability == ABILITY_CAN;
        if (c->best[i] != reference || driver_can != can)
            continue;
        if (!any)
            fprintf(to, "on %s because %s:", p->devices->device[reference]->name,
                    can ? "no driver is better" : "no driver can do them");
        fprintf(to, " %s:%" PRIu32, shown_operation_name(p, graph, i, name), i);
        any = true;
    }
    if (any)
        putc('\n', to);
}

void shown_plan_print(const struct shown_plan *p, FILE *to)
{
    text_put(to, TEXT_TERMINAL, p->name, 0);
    int level = (int) p->model.level;
    if (level == RUNTIME_ONLY)
        fputs(": control flow with operands of unknown size", to);
    else
        fprintf(to, ": feature level %d (%s)", level, level_name(level));
    fprintf(to, "; preference %s\n", value_word(VALUE_PREFERENCE, p->chooser.preference));
    print_devices(p, to);
    if (p->result == ANEURALNETWORKS_NO_ERROR) {
        print_steps(p, to);
    } else {
        fputs("no plan: ", to);
        text_put(to, TEXT_TERMINAL, p->why.text, 0);
        fprintf(to, ";\n  %s\n", shown_plan_outcome(p));
    }
    fprintf(to, "%s of each operation, by device:\n",
            p->chooser.preference == ANEURALNETWORKS_PREFER_LOW_POWER ? "relative power"
                                                                      : "relative time");
    for (uint32_t g = 0; g < p->model.model.n_graphs; g++) {
        if (!shown_plan_has_graph(p, g))
            continue;
        print_table(p, g, to);
        for (int can = 0; can < 2; can++)
            print_on_reference(p, g, can, to);
    }
}
