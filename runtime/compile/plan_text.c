#include "runtime/compile/plan_text.h"

#include <inttypes.h>
#include <stdlib.h>

#include "golden/base/logging.h"
#include "runtime/compile/operation_text.h"

#define LOG_TAG "ExecutionPlan"

static const char *const kind_name[] = {
    [STEP_EXECUTE] = "EXECUTE", [STEP_IF] = "IF", [STEP_WHILE] = "WHILE", [STEP_GOTO] = "GOTO"
};

void plan_put_step(const ANeuralNetworksModel *m, const struct partition *p, uint32_t step,
                   FILE *to)
{
    const struct plan_step *s = &p->step[step];
    const struct graph *g = &m->model.graph[p->source[s->source].graph];
    char name[EXTENSION_TEXT];

    fputs(kind_name[s->kind], to);
    switch (s->kind) {
    case STEP_EXECUTE:
        fprintf(to, " on %s:", s->device->name);
        for (uint32_t i = 0; i < s->n_operations; i++)
            fprintf(to, " %s:%" PRIu32,
                    operation_text(&m->model, g->operation[s->operation[i]].code, name),
                    s->operation[i]);
        break;
    case STEP_IF:
    case STEP_WHILE:
        fprintf(to, " (operation %" PRIu32 "): %s %" PRIu32 ", %s %" PRIu32 ", after it %" PRIu32,
                s->construct, s->kind == STEP_IF ? "then" : "condition", s->first_part,
                s->kind == STEP_IF ? "else" : "body", s->second_part, s->to);
        break;
    case STEP_GOTO: fprintf(to, " %" PRIu32, s->to); break;
    }
}

static uint32_t position(const uint32_t *list, uint32_t n, uint32_t operand)
{
    uint32_t i = 0;
    while (i < n && list[i] != operand)
        i++;
    return i;
}

void plan_put_arguments(const ANeuralNetworksModel *m, const struct partition *p,
                        const struct step_argument *list, uint32_t n, FILE *to)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct source_operand *o = &list[i].operand;
        const struct graph *g = &m->model.graph[p->source[o->source].graph];
        fputs(i ? ", " : "", to);
        switch (list[i].from) {
        case ARGUMENT_SOURCE_INPUT:
            fprintf(to, "input %" PRIu32, position(g->input, g->n_inputs, o->operand));
            break;
        case ARGUMENT_SOURCE_OUTPUT:
            fprintf(to, "output %" PRIu32, position(g->output, g->n_outputs, o->operand));
            break;
        case ARGUMENT_TEMPORARY: fprintf(to, "temporary %" PRIu32, o->operand); break;
        }
    }
    if (!n)
        fputs("none", to);
}

void plan_log(const ANeuralNetworksModel *m, const struct partition *p)
{
    log_write(LOG_INFO, LOG_TAG, "%s plan: %" PRIu32 " steps",
              p->kind == PLAN_SIMPLE ? "SIMPLE" : "COMPOUND", p->n_steps);
    for (uint32_t i = 0; i < p->n_steps; i++) {
        char *text = NULL;
        size_t length;
        FILE *to = open_memstream(&text, &length);
        if (!to)
            return;
        plan_put_step(m, p, i, to);
        if (!fclose(to))
            log_write(LOG_INFO, LOG_TAG, "step %" PRIu32 ", source %" PRIu32 ": %s", i,
                      p->step[i].source, text);
        free(text);
    }
}
