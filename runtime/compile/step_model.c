#include "runtime/compile/step_model.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/compile/model_part.h"
#include "runtime/model/known_sizes.h"

struct number_list {
    uint32_t n;
    uint32_t *number;
};

/* The operands that cross the border of an execution step. */
struct step_border {
    const struct graph *graph;
    const struct placed_source *source;
    uint32_t at;                                      /* number of the step */
    struct number_list input, temporary, read_output; /* its inputs */
    struct number_list output, written;               /* its outputs: the source's, temporaries */
};

static int compare_numbers(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *) a, y = *(const uint32_t *) b;
    return (x > y) - (x < y);
}

static void number_add(struct number_list *l, uint32_t number)
{
    l->number[l->n++] = number;
}

static int border_init(struct step_border *b, const struct plan_step *step, struct arena *a,
                       struct why *w)
{
    size_t n_in = 0, n_out = 0;
    for (uint32_t i = 0; i < step->n_operations; i++) {
        n_in += b->graph->operation[step->operation[i]].n_in;
        n_out += b->graph->operation[step->operation[i]].n_out;
    }
    struct number_list *inputs[] = { &b->input, &b->temporary, &b->read_output };
    struct number_list *outputs[] = { &b->output, &b->written };
    bool ok = true;
    for (int i = 0; i < COUNT(inputs); i++)
        ok &= (inputs[i]->number = arena_alloc(a, n_in, sizeof(uint32_t))) != NULL;
    for (int i = 0; i < COUNT(outputs); i++)
        ok &= (outputs[i]->number = arena_alloc(a, n_out, sizeof(uint32_t))) != NULL;
    return ok ? 0 : why_no_memory(w);
}

/* Whether a step other than this one reads the operand. */
static bool is_read_elsewhere(const struct step_border *b, uint32_t operand)
{
    const struct readiness *r = &b->source->readiness;
    for (uint32_t i = r->first[operand]; i < r->first[operand + 1]; i++)
        if (b->source->step_of_operation[r->reader[i]] != b->at)
            return true;
    return false;
}

/* An operand that occurs for the first time, as an input: no operation of this step writes it. */
static void note_input(struct step_border *b, uint32_t operand)
{
    switch (b->graph->operand[operand].life) {
    case LIFE_INPUT: number_add(&b->input, operand); break;
    case LIFE_TEMPORARY: number_add(&b->temporary, operand); break;
    case LIFE_OUTPUT: number_add(&b->read_output, operand); break;
    default: break;
    }
}

static void note_output(struct step_border *b, uint32_t operand)
{
    if (b->graph->operand[operand].life == LIFE_OUTPUT)
        number_add(&b->output, operand);
    else if (is_read_elsewhere(b, operand))
        number_add(&b->written, operand);
}

static void border_find(struct step_border *b, const struct plan_step *step)
{
    uint32_t *seen = b->source->seen;
    for (uint32_t i = 0; i < step->n_operations; i++) {
        const struct operation *o = &b->graph->operation[step->operation[i]];
        for (uint32_t k = 0; k < o->n_in; k++)
            if (seen[o->in[k]] != b->at + 1) {
                seen[o->in[k]] = b->at + 1;
                note_input(b, o->in[k]);
            }
        for (uint32_t k = 0; k < o->n_out; k++) {
            seen[o->out[k]] = b->at + 1;
            note_output(b, o->out[k]);
        }
    }
    qsort(b->written.number, b->written.n, sizeof(uint32_t), compare_numbers);
}

static int list_add(struct operand_list *l, struct source_operand o, struct arena *a, struct why *w)
{
    if (l->n == l->room) {
        uint32_t room = 2 * l->room + 8;
        struct source_operand *more = arena_alloc(a, room, sizeof *more);
        if (!more)
            return why_no_memory(w);
        if (l->n)
            memcpy(more, l->operand, l->n * sizeof *more);
        l->operand = more;
        l->room = room;
    }
    l->operand[l->n++] = o;
    return 0;
}

/* A step without inputs or outputs fails, so that the whole model can fall back to the reference:
 * drivers need not take such models. */
static int check_step(const struct step_border *b, const struct plan_step *step, struct why *w)
{
    if (!(b->input.n + b->temporary.n + b->read_output.n))
        return why_fail(w, WHY_EXECUTION, "step %u, on %s, has no inputs", b->at,
                        step->device->name);
    if (!(b->output.n + b->written.n))
        return why_fail(w, WHY_EXECUTION, "step %u, on %s, has no outputs", b->at,
                        step->device->name);
    return 0;
}

/* An operand that others read and whose size is known only when the step has run: drivers report
 * shapes since level 3. */
static int check_unknown(const struct step_border *b, const struct plan_step *step,
                         uint32_t operand, struct why *w)
{
    if (operand_size_known(&b->graph->operand[operand]) || step->device->level >= L3)
        return 0;
    return why_fail(w, WHY_EXECUTION,
                    "step %u, on %s of feature level %d, writes operand %u, which another step "
                    "reads and whose size is not known; that needs feature level 3",
                    b->at, step->device->name, (int) step->device->level, operand);
}

static int note_crossing(const struct step_border *b, const struct plan_step *step, struct arena *a,
                         struct operand_list *dynamic, struct operand_list *downstream,
                         struct why *w)
{
    for (uint32_t i = 0; i < b->output.n; i++) {
        uint32_t operand = b->output.number[i];
        if (!is_read_elsewhere(b, operand))
            continue;
        TRY(check_unknown(b, step, operand, w));
        TRY(list_add(downstream, (struct source_operand){ step->source, operand }, a, w));
    }
    for (uint32_t i = 0; i < b->written.n; i++) {
        uint32_t operand = b->written.number[i];
        TRY(check_unknown(b, step, operand, w));
        if (!operand_size_known(&b->graph->operand[operand]))
            TRY(list_add(dynamic, (struct source_operand){ step->source, operand }, a, w));
    }
    return 0;
}

/* Appends a list to a step's arguments and to the operands of a request. */
static void put_arguments(const struct number_list *l, enum argument_from from, uint32_t source,
                          uint32_t *n, struct step_argument *to, uint32_t *operand)
{
    for (uint32_t i = 0; i < l->n; i++) {
        operand[*n] = l->number[i];
        to[(*n)++] = (struct step_argument){ from, { source, l->number[i] } };
    }
}

static int make_model(const ANeuralNetworksModel *m, const struct step_border *b,
                      struct plan_step *step, struct arena *a, struct why *w)
{
    uint32_t n_in = b->input.n + b->temporary.n + b->read_output.n, n = 0;
    uint32_t n_out = b->output.n + b->written.n;
    uint32_t *in = arena_alloc(a, n_in, sizeof *in), *out = arena_alloc(a, n_out, sizeof *out);
    struct step_argument *input = arena_alloc(a, n_in, sizeof *input);
    struct step_argument *output = arena_alloc(a, n_out, sizeof *output);
    uint32_t source = step->source;
    struct model_part part;

    if (!in || !out || !input || !output)
        return why_no_memory(w);
    put_arguments(&b->input, ARGUMENT_SOURCE_INPUT, source, &n, input, in);
    put_arguments(&b->temporary, ARGUMENT_TEMPORARY, source, &n, input, in);
    put_arguments(&b->read_output, ARGUMENT_SOURCE_OUTPUT, source, &n, input, in);
    n = 0;
    put_arguments(&b->output, ARGUMENT_SOURCE_OUTPUT, source, &n, output, out);
    put_arguments(&b->written, ARGUMENT_TEMPORARY, source, &n, output, out);
    struct part_request request = { .graph = b->source->graph,
                                    .n_operations = step->n_operations,
                                    .operation = step->operation,
                                    .n_inputs = n_in,
                                    .input = in,
                                    .n_outputs = n_out,
                                    .output = out };
    TRY(model_part_make(m, &request, a, &part, w));
    step->model = part.model;
    step->model.relaxed = part.model.relaxed && step->device->level >= L2;
    step->pool = part.pool;
    step->n_inputs = n_in;
    step->input = input;
    step->n_outputs = n_out;
    step->output = output;
    return 0;
}

int step_model_make(const ANeuralNetworksModel *m, const struct placed_source *source, uint32_t at,
                    struct plan_step *step, struct arena *a, struct operand_list *dynamic,
                    struct operand_list *downstream, struct why *w)
{
    struct step_border b = { .graph = &m->model.graph[source->graph], .source = source, .at = at };

    TRY(border_init(&b, step, a, w));
    border_find(&b, step);
    TRY(check_step(&b, step, w));
    TRY(note_crossing(&b, step, a, dynamic, downstream, w));
    return make_model(m, &b, step, a, w);
}
