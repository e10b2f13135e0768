/* A plan as JSON. */
#include <float.h>
#include <jansson.h>

#include "golden/base/text_escape.h"
#include "golden/model/extension.h"
#include "harness/cli/options.h"
#include "harness/plan/shown_plan.h"

static json_t *argument_list(const struct step_argument *list, uint32_t n)
{
    static const char *const from[] = { [ARGUMENT_SOURCE_INPUT] = "input",
                                        [ARGUMENT_SOURCE_OUTPUT] = "output",
                                        [ARGUMENT_TEMPORARY] = "temporary" };
    json_t *to = json_array();
    for (uint32_t i = 0; i < n; i++)
        json_array_append_new(to, json_pack("{s:s, s:I}", "is", from[list[i].from], "operand",
                                            (json_int_t) list[i].operand.operand));
    return to;
}

static json_t *step_json(const struct shown_plan *p, const struct plan_step *s)
{
    static const char *const kinds[] = {
        [STEP_EXECUTE] = "EXECUTE", [STEP_IF] = "IF", [STEP_WHILE] = "WHILE", [STEP_GOTO] = "GOTO"
    };
    json_t *to =
        json_pack("{s:s, s:I, s:I}", "kind", kinds[s->kind], "source", (json_int_t) s->source,
                  "subgraph", (json_int_t) p->partition.source[s->source].graph);
    switch (s->kind) {
    case STEP_EXECUTE: {
        json_t *operations = json_array();
        for (uint32_t i = 0; i < s->n_operations; i++)
            json_array_append_new(operations, json_integer((json_int_t) s->operation[i]));
        json_object_set_new(to, "device", json_string(s->device->name));
        json_object_set_new(to, "operations", operations);
        json_object_set_new(to, "inputs", argument_list(s->input, s->n_inputs));
        json_object_set_new(to, "outputs", argument_list(s->output, s->n_outputs));
        break;
    }
    case STEP_IF:
    case STEP_WHILE:
        json_object_set_new(to, "operation", json_integer((json_int_t) s->construct));
        json_object_set_new(
            to, "parts",
            json_pack("[I, I]", (json_int_t) s->first_part, (json_int_t) s->second_part));
        json_object_set_new(to, "to", json_integer((json_int_t) s->to));
        break;
    case STEP_GOTO: json_object_set_new(to, "to", json_integer((json_int_t) s->to)); break;
    }
    return to;
}

static json_t *operation_json(const struct shown_plan *p, uint32_t graph, uint32_t operation)
{
    const uint32_t n = p->devices->n;
    json_t *candidates = json_array();
    char text[REASON_TEXT], name[EXTENSION_TEXT];

    for (uint32_t d = 0; d < n; d++) {
        const struct device_candidate *c =
            &p->chooser.graph[graph].candidate[(size_t) operation * n + d];
        json_t *o = json_pack("{s:s, s:b, s:s}", "device", p->devices->device[d]->name, "can",
                              c->ability == ABILITY_CAN, "why",
                              shown_plan_reason(p, graph, operation, d, text));
        if (c->ability == ABILITY_CAN && c->cost < FLT_MAX)
            json_object_set_new(o, "cost", json_real((double) c->cost));
        json_array_append_new(candidates, o);
    }
    return json_pack("{s:I, s:I, s:s, s:s, s:o}", "subgraph", (json_int_t) graph, "operation",
                     (json_int_t) operation, "name",
                     shown_operation_name(p, graph, operation, name), "type",
                     shown_operation_type(p, graph, operation), "candidates", candidates);
}

static json_t *operations_json(const struct shown_plan *p)
{
    json_t *to = json_array();
    for (uint32_t g = 0; g < p->model.model.n_graphs; g++)
        for (uint32_t i = 0; i < p->model.model.graph[g].n_operations; i++)
            if (shown_plan_has_graph(p, g))
                json_array_append_new(to, operation_json(p, g, i));
    return to;
}

static json_t *devices_json(const struct shown_plan *p)
{
    json_t *to = json_array();
    for (uint32_t i = 0; i < p->devices->n; i++) {
        const ANeuralNetworksDevice *d = p->devices->device[i];
        json_array_append_new(to, json_pack("{s:s, s:s, s:i}", "device", d->name, "target",
                                            p->devices->uri[i], "level", (int) d->level));
    }
    return to;
}

void shown_plan_print_json(const struct shown_plan *p, FILE *to)
{
    char *name = text_escaped(TEXT_JSON, p->name);
    json_t *o =
        json_pack("{s:s, s:s, s:o}", "case", name ? name : "", "preference",
                  value_word(VALUE_PREFERENCE, p->chooser.preference), "devices", devices_json(p));
    if (p->result == ANEURALNETWORKS_NO_ERROR) {
        json_t *steps = json_array();
        for (uint32_t i = 0; i < p->partition.n_steps; i++)
            json_array_append_new(steps, step_json(p, &p->partition.step[i]));
        json_object_set_new(o, "plan",
                            json_string(p->partition.kind == PLAN_SIMPLE ? "simple" : "compound"));
        json_object_set_new(o, "steps", steps);
    } else {
        json_object_set_new(o, "plan", json_null());
        json_object_set_new(o, "why", json_string(p->why.text));
        json_object_set_new(o, "outcome", json_string(shown_plan_outcome(p)));
    }
    json_object_set_new(o, "operations", operations_json(p));
    json_dumpf(o, to, JSON_COMPACT | JSON_ENSURE_ASCII | JSON_REAL_PRECISION(7));
    putc('\n', to);
    json_decref(o);
    free(name);
}
