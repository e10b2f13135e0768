/* The runtime's plan as boxes around operations. */
#include "harness/dump/dump_notes.h"

static uint32_t color_of_device(const struct plan_devices *all, const ANeuralNetworksDevice *d)
{
    uint32_t i = 0;
    while (i < all->n && all->device[i] != d)
        i++;
    return d->is_reference ? UINT32_MAX : i;
}

int dump_notes_plan(struct dump_notes *n, const struct plan_devices *devices, struct why *w)
{
    const struct model *m = &n->e->model;
    struct shown_plan plan;
    TRY(shown_plan_make(n->e->name, m, devices, ANEURALNETWORKS_PREFER_FAST_SINGLE_ANSWER, n->arena,
                        &plan, w));
    if (plan.result)
        return why_fail(w, WHY_INVALID, "no plan: %s", plan.why.text);
    const struct partition *p = &plan.partition;
    struct graph_box *box = arena_alloc(n->arena, (size_t) p->n_steps + 1, sizeof *box);
    struct graph_notes *notes = arena_copy(n->arena, n->options.notes, m->n_graphs * sizeof *notes);
    if (!box || !notes)
        return why_no_memory(w);
    for (uint32_t g = 0; g < m->n_graphs; g++) {
        uint32_t *of = arena_alloc(n->arena, (size_t) m->graph[g].n_operations + 1, sizeof *of);
        if (!of)
            return why_no_memory(w);
        for (uint32_t i = 0; i < m->graph[g].n_operations; i++)
            of[i] = UINT32_MAX;
        for (uint32_t i = 0; i < p->n_steps; i++) {
            const struct plan_step *s = &p->step[i];
            if (s->kind != STEP_EXECUTE || p->source[s->source].graph != g)
                continue;
            box[i].label = arena_printf(n->arena, "step %u: %s", i, s->device->name);
            box[i].color = color_of_device(devices, s->device);
            if (!box[i].label)
                return why_no_memory(w);
            for (uint32_t k = 0; k < s->n_operations; k++)
                of[s->operation[k]] = i;
        }
        notes[g].box = of;
    }
    n->options.notes = notes;
    n->options.box = box;
    n->options.n_boxes = p->n_steps;
    return 0;
}
