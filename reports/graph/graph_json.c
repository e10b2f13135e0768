/* A model as JSON, in the format of docs/graphs.md. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "golden/base/text_escape.h"
#include "reports/graph/graph_dump.h"
#include "reports/graph/graph_fold.h"
#include "reports/graph/graph_parts.h"

enum { FORMAT_VERSION = 1, MOST_VALUES = 64 };

/* Of one graph. */
struct context {
    const struct model *m;
    const struct graph *g;
    const struct graph_dump_options *options;
    const struct graph_notes *notes; /* NULL: none */
    bool valid;
    uint32_t *writer;
};

/* Text that may not be UTF-8. */
static json_t *text_of(const char *text)
{
    char *clean = text_escaped(TEXT_JSON, text);
    json_t *json = json_string(clean ? clean : "");
    free(clean);
    return json;
}

static json_t *number_of(double value)
{
    return isfinite(value) ? json_real(value)
                           : json_string(isnan(value) ? "NaN"
                                         : value > 0  ? "Infinity"
                                                      : "-Infinity");
}

static void set_note(json_t *to, const struct graph_note *note)
{
    if (note->tone != TONE_NONE)
        json_object_set_new(to, "mark", json_string(graph_tone_name[note->tone]));
    if (!isnan(note->ratio))
        json_object_set_new(to, "ratio", number_of(note->ratio));
    if (!note->text)
        return;
    json_t *lines = json_array();
    for (const char *at = note->text, *end; *at; at = *end ? end + 1 : end) {
        end = at + strcspn(at, "\n");
        char *line = strndup(at, (size_t) (end - at));
        json_array_append_new(lines, text_of(line ? line : ""));
        free(line);
    }
    json_object_set_new(to, "notes", lines);
}

static void set_quantisation(json_t *to, const struct tensor *t)
{
    const struct dtype_info *type = dtype_find(t->dtype);
    if (!type || type->quant == QUANT_NONE)
        return;
    if (type->quant != QUANT_CHANNEL) {
        json_object_set_new(to, "scale", number_of((double) t->scale));
        json_object_set_new(to, "zero_point", json_integer(t->zero));
        return;
    }
    json_t *scales = json_array();
    for (uint32_t i = 0; t->channel_scale && i < t->n_channels; i++)
        json_array_append_new(scales, number_of((double) t->channel_scale[i]));
    json_object_set_new(to, "channel_dimension", json_integer(t->channel_dim));
    json_object_set_new(to, "scales", scales);
}

static void set_value(json_t *to, const struct operand *o)
{
    if (!operand_constant(o))
        return;
    json_object_set_new(to, "bytes", json_integer((json_int_t) o->length));
    if (o->life == LIFE_CONSTANT_REFERENCE)
        json_object_set_new(to, "pool", json_integer(o->pool));
    size_t n = operand_is_readable(o) ? tensor_count(&o->tensor) : 0;
    if (!n || n > MOST_VALUES)
        return;
    json_t *values = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(values, number_of(operand_stored(o, i)));
    json_object_set_new(to, "values", values);
}

static json_t *operand_json(const struct context *c, uint32_t i)
{
    const struct operand *o = &c->g->operand[i];
    const struct dtype_info *type = dtype_find(o->tensor.dtype);
    json_t *to = json_object();

    json_object_set_new(to, "operand", json_integer(i));
    if ((unsigned) o->life < LIFE_COUNT)
        json_object_set_new(to, "lifetime", json_string(lifetime_name[o->life]));
    if (o->name && *o->name)
        json_object_set_new(to, "name", text_of(o->name));
    if (type && o->tensor.dtype != DT_FOREIGN)
        json_object_set_new(to, "type", json_string(type->name));
    else
        json_object_set_new(to, "type_code",
                            json_integer(type ? o->foreign : (json_int_t) o->tensor.dtype));
    if ((!type || type->tensor) && o->tensor.shape.rank <= MAX_RANK) {
        json_t *dimensions = json_array();
        for (uint32_t k = 0; k < o->tensor.shape.rank; k++)
            json_array_append_new(dimensions, json_integer(o->tensor.shape.dim[k]));
        json_object_set_new(to, "dimensions", dimensions);
    }
    set_quantisation(to, &o->tensor);
    set_value(to, o);
    if (o->life == LIFE_SUBGRAPH)
        json_object_set_new(to, "graph", json_integer(o->subgraph));
    if (c->writer[i] < c->g->n_operations)
        json_object_set_new(to, "writer", json_integer(c->writer[i]));
    if (c->notes && c->notes->operand)
        set_note(to, &c->notes->operand[i]);
    return to;
}

static json_t *argument_json(const struct context *c, uint32_t operand, const struct role *role)
{
    json_t *to = json_object();
    json_object_set_new(to, "operand", json_integer(operand));
    if (role)
        json_object_set_new(to, "role", json_string(role->name));
    const char *meaning =
        operand < c->g->n_operands ? role_meaning(role, &c->g->operand[operand]) : NULL;
    if (meaning)
        json_object_set_new(to, "meaning", json_string(meaning));
    return to;
}

static json_t *operation_json(const struct context *c, uint32_t i)
{
    const struct operation *p = &c->g->operation[i];
    const struct operation_title title = operation_title(c->m, p);
    struct described s = graph_describe(c->g, p, c->valid && operation_is_well_formed(c->g, p));
    json_t *to = json_object(), *inputs = json_array(), *outputs = json_array();
    const uint32_t *box = c->notes ? c->notes->box : NULL;

    json_object_set_new(to, "operation", json_integer(i));
    json_object_set_new(to, "name", text_of(title.name));
    json_object_set_new(to, "code", json_integer(p->code));
    if (*title.extension)
        json_object_set_new(to, "extension", text_of(title.extension));
    for (uint32_t k = 0; k < p->n_in; k++)
        json_array_append_new(inputs, argument_json(c, p->in[k], described_in(&s, k)));
    for (uint32_t k = 0; k < p->n_out; k++)
        json_array_append_new(outputs, argument_json(c, p->out[k], described_out(&s, k)));
    json_object_set_new(to, "inputs", inputs);
    json_object_set_new(to, "outputs", outputs);
    if (box && box[i] < c->options->n_boxes)
        json_object_set_new(to, "box", text_of(c->options->box[box[i]].label));
    if (c->notes && c->notes->operation)
        set_note(to, &c->notes->operation[i]);
    return to;
}

static json_t *list_json(const uint32_t *list, uint32_t n)
{
    json_t *to = json_array();
    for (uint32_t i = 0; i < n; i++)
        json_array_append_new(to, json_integer(list[i]));
    return to;
}

/* Repeated blocks. */
static int set_blocks(json_t *to, const struct context *c, struct why *w)
{
    const struct graph *g = c->g;
    struct graph_fold f;
    bool *well_formed = calloc((size_t) g->n_operations + 1, sizeof *well_formed);
    if (!well_formed)
        return why_no_memory(w);
    for (uint32_t i = 0; i < g->n_operations; i++)
        well_formed[i] = operation_is_well_formed(g, &g->operation[i]);
    int failed = graph_fold_find(g, NULL, well_formed, &f, w);
    free(well_formed);
    if (failed)
        return -1;
    json_t *blocks = json_array();
    for (uint32_t i = 0; i < f.n_blocks; i++)
        json_array_append_new(blocks,
                              json_pack("{s:i,s:i,s:i}", "first", (int) f.block[i].first, "length",
                                        (int) f.block[i].length, "count", (int) f.block[i].count));
    json_object_set_new(to, "repeated", blocks);
    graph_fold_done(&f);
    return 0;
}

static int add_graph(json_t *graphs, struct context *c, struct why *w)
{
    const struct graph *g = c->g;
    json_t *to = json_object(), *operands = json_array(), *operations = json_array();

    json_array_append_new(graphs, to);
    c->writer = graph_writers(g);
    if (!c->writer)
        return why_no_memory(w);
    for (uint32_t i = 0; i < g->n_operands; i++)
        json_array_append_new(operands, operand_json(c, i));
    for (uint32_t i = 0; i < g->n_operations; i++)
        json_array_append_new(operations, operation_json(c, i));
    free(c->writer);
    json_object_set_new(to, "inputs", list_json(g->input, g->n_inputs));
    json_object_set_new(to, "outputs", list_json(g->output, g->n_outputs));
    json_object_set_new(to, "operands", operands);
    json_object_set_new(to, "operations", operations);
    return set_blocks(to, c, w);
}

int graph_dump_json(const struct model *m, const char *name,
                    const struct graph_dump_options *options, FILE *to, struct why *w)
{
    static const struct graph_dump_options defaults = { .mark_output = -1 };
    json_t *all = json_object(), *graphs = json_array();
    int level = model_validate(m, NULL), failed = 0;
    options = options ? options : &defaults;

    json_object_set_new(all, "version", json_integer(FORMAT_VERSION));
    json_object_set_new(all, "name", text_of(name));
    if (level > 0)
        json_object_set_new(all, "level", json_integer(level));
    json_object_set_new(all, "relaxed", json_boolean(m->relaxed));
    if (options->subtitle)
        json_object_set_new(all, "about", text_of(options->subtitle));
    if (options->mark_output >= 0)
        json_object_set_new(all, "failing_output", json_integer(options->mark_output));
    for (uint32_t i = 0; !failed && i < m->n_graphs; i++) {
        struct context c = { .m = m,
                             .g = &m->graph[i],
                             .options = options,
                             .notes = options->notes ? &options->notes[i] : NULL,
                             .valid = level >= 0 || options->is_merged };
        failed = add_graph(graphs, &c, w);
    }
    json_object_set_new(all, "graphs", graphs);
    if (!failed && json_dumpf(all, to, JSON_COMPACT | JSON_REAL_PRECISION(17) | JSON_ENSURE_ASCII))
        failed = why_fail(w, WHY_SYSTEM, "graph cannot be written");
    fputc('\n', to);
    json_decref(all);
    return failed;
}
