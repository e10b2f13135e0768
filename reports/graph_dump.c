/* graphDump: a model as Graphviz text.
 *
 * Operand i of the main graph is node d<i>, operation i is node n<i>; subgraph k is a cluster whose
 * nodes are g<k>_d<i> and g<k>_n<i>.  Constant scalars, omitted operands and references to
 * subgraphs are not nodes but rows in the operations that read them, with their operand index: a
 * convolution has up to ten.  Roles of operands are named only if the model is valid, as binding
 * requires it. The text depends only on the model; an invalid model is drawn as far as possible. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "golden/base/logging.h"
#include "golden/base/text_escape.h"
#include "reports/graph_layout.h"
#include "reports/reports.h"

#define LOG_TAG "GraphDump"

enum { NAME_MOST = 40, VALUES_MOST = 6 };

struct dump {
    FILE *to;
    const struct model *m;
    const struct graph *g;
    uint32_t index;    /* of g in m */
    int64_t mark;      /* main graph output */
    bool valid;        /* the model obeys the rules */
    bool *row;         /* per operand of g: shown in rows of operations, not as a node */
    int64_t *in, *out; /* list_positions() of the graph's inputs and outputs */
};

/* --- operands */

static bool is_constant(const struct operand *o)
{
    return o->life == LIFE_CONSTANT_COPY || o->life == LIFE_CONSTANT_REFERENCE;
}

static bool is_row(const struct operand *o)
{
    const struct dtype_info *type = dtype_find(o->tensor.dtype);
    return o->life == LIFE_NO_VALUE || o->life == LIFE_SUBGRAPH ||
           (is_constant(o) && type && !type->tensor);
}

static void put_type(const struct operand *o, FILE *to)
{
    const struct dtype_info *type = dtype_find(o->tensor.dtype);
    if (type && o->tensor.dtype == DT_FOREIGN) {
        fprintf(to, "type %" PRId32, o->foreign);
        return;
    }
    if (!type) {
        fprintf(to, "type %" PRId32, (int32_t) o->tensor.dtype);
        return;
    }
    fputs(type->name, to);
    if (!type->tensor)
        return;
    char text[SHAPE_TEXT];
    bool sane = o->tensor.shape.rank <= MAX_RANK;
    fprintf(to, " %s",
            !sane                   ? "[bad rank]"
            : !o->tensor.shape.rank ? "[rank ?]"
                                    : shape_text(&o->tensor.shape, text));
}

static void put_quantisation(const struct tensor *t, FILE *to)
{
    const struct dtype_info *type = dtype_find(t->dtype);
    if (t->extension_length)
        fprintf(to, "<BR/>%zu bytes of extension data", t->extension_length);
    if (!type || type->quant == QUANT_NONE)
        return;
    if (type->quant == QUANT_CHANNEL)
        fprintf(to, "<BR/>%" PRIu32 " scales along dimension %" PRIu32, t->n_channels,
                t->channel_dim);
    else if (type->quant != QUANT_BIAS || t->scale != 0)
        fprintf(to, "<BR/>scale %.7g, zero %" PRId32, (double) t->scale, t->zero);
}

/* Whether the value can be read: known type, shape and all bytes present. */
static bool is_readable(const struct operand *o)
{
    const struct tensor *t = &o->tensor;
    const struct dtype_info *type = dtype_find(t->dtype);
    return type && type->codec && type->codec->size && t->data && t->shape.rank <= MAX_RANK &&
           shape_check_size(&t->shape, type->codec->size) >= 0 && o->length &&
           o->length == tensor_bytes(t);
}

/* As stored: quantised values are integers. */
static void put_value(const struct operand *o, size_t i, FILE *to)
{
    struct tensor stored = o->tensor;
    stored.scale = 1;
    stored.zero = 0;
    stored.channel_scale = NULL;
    double value = tensor_at(&stored, i);
    if (o->tensor.dtype == DT_BOOL)
        fputs(value != 0 ? "true" : "false", to);
    else
        fprintf(to, "%.9g", value);
}

static void put_constant(const struct operand *o, FILE *to)
{
    size_t n = is_readable(o) ? tensor_count(&o->tensor) : 0;
    if (!n || n > VALUES_MOST) {
        fprintf(to, "<BR/>%zu bytes", o->length);
        return;
    }
    for (size_t i = 0; i < n; i++) {
        fputs(i ? ", " : "<BR/>= ", to);
        put_value(o, i, to);
    }
}

struct look {
    const char *lifetime, *class, *shape, *style, *color, *fill;
};

static struct look operand_look(const struct dump *d, uint32_t i)
{
    static const struct look looks[] = {
        { "input", "input", "box", "rounded,filled", "#2563eb", "#dbeafe" },
        { "output", "output", "box", "rounded,filled", "#15803d", "#dcfce7" },
        { "constant (copy)", "constant", "box", "filled", "#94a3b8", "#f1f5f9" },
        { "constant (reference)", "constant", "box", "filled", "#94a3b8", "#f1f5f9" },
        { "temporary", "temporary", "box", "rounded,filled", "#94a3b8", "#ffffff" },
        { "odd", "odd", "box", "dashed", "#94a3b8", "#ffffff" },
    };
    switch (d->g->operand[i].life) {
    case LIFE_INPUT: return looks[0];
    case LIFE_OUTPUT: return looks[1];
    case LIFE_CONSTANT_COPY: return looks[2];
    case LIFE_CONSTANT_REFERENCE: return looks[3];
    case LIFE_TEMPORARY: return looks[4];
    default: return looks[5];
    }
}

static void put_id(const struct dump *d, char kind, uint32_t i)
{
    if (d->index)
        fprintf(d->to, "g%" PRIu32 "_", d->index);
    fprintf(d->to, "%c%" PRIu32, kind, i);
}

static void put_operand(const struct dump *d, uint32_t i)
{
    const struct operand *o = &d->g->operand[i];
    struct look look = operand_look(d, i);
    int64_t in = d->in[i], out = d->out[i];
    bool marked = !d->index && out >= 0 && out == d->mark;

    fputs("    ", d->to);
    put_id(d, 'd', i);
    fprintf(d->to, " [shape=%s, style=\"%s\", color=\"%s\", fillcolor=\"%s\", penwidth=%s",
            look.shape, look.style, marked ? GRAPH_MARK_COLOR : look.color,
            marked ? GRAPH_MARK_FILL : look.fill, marked ? GRAPH_MARK_WIDTH : "1");
    fprintf(d->to, ", class=\"operand %s", look.class);
    if (out >= 0 && !d->index)
        fprintf(d->to, " output%" PRId64, out);
    fprintf(d->to, "\",\n        label=<<B>d%" PRIu32 "</B>&#160;%s", i, look.lifetime);
    if (o->life == LIFE_CONSTANT_REFERENCE)
        fprintf(d->to, " pool %" PRIu32, o->pool);
    if (in >= 0)
        fprintf(d->to, "[%" PRId64 "]", in);
    if (out >= 0)
        fprintf(d->to, in >= 0 ? " output[%" PRId64 "]" : "[%" PRId64 "]", out);
    if (o->name && *o->name) {
        fputs("<BR/><I>", d->to);
        text_put(d->to, TEXT_XML, o->name, NAME_MOST);
        fputs("</I>", d->to);
    }
    fputs("<BR/>", d->to);
    put_type(o, d->to);
    put_quantisation(&o->tensor, d->to);
    if (is_constant(o))
        put_constant(o, d->to);
    fputs(">];\n", d->to);
}

/* --- operations */

/* An operation with its record and, if they can be determined, the roles of its operands. */
struct described {
    const struct operation *call;
    const struct op *op; /* NULL: not in the catalogue */
    struct call bound;   /* form NULL: roles are not known */
};

/* Roles are bound as validation did; the model must be valid. */
static struct described describe(const struct dump *d, const struct operation *call)
{
    struct described s = { .call = call, .op = op_find(call->code) };
    uint32_t n = call->n_in, m = call->n_out;
    if (!s.op || !d->valid)
        return s;
    const struct tensor **in = calloc((size_t) n + 1, sizeof(*in));
    struct tensor *shapes = calloc((size_t) m + 1, sizeof(*shapes));
    struct tensor **out = calloc((size_t) m + 1, sizeof(*out));
    if (in && shapes && out) {
        for (uint32_t i = 0; i < n; i++) {
            const struct operand *o = &d->g->operand[call->in[i]];
            in[i] = operand_omitted(o) ? NULL : &o->tensor;
        }
        for (uint32_t i = 0; i < m; i++) {
            shapes[i] = d->g->operand[call->out[i]].tensor;
            out[i] = &shapes[i];
        }
        if (op_bind(s.op, in, n, out, m, false, &s.bound, NULL) < 0)
            s.bound.form = NULL;
    }
    free(in);
    free(shapes);
    free(out);
    return s;
}

static const struct role *in_role(const struct described *s, uint32_t i)
{
    const struct call *b = &s->bound;
    if (!b->form)
        return NULL;
    if (b->n_many > 0 && i > b->many_at)
        i = i < b->many_at + b->n_many ? b->many_at : i - b->n_many + 1;
    return i < (uint32_t) form_len(b->form) ? &s->op->in[b->form->role[i]] : NULL;
}

static const struct role *out_role(const struct described *s, uint32_t i)
{
    if (!s->bound.form || s->op->n_out < 1)
        return NULL;
    uint32_t last = (uint32_t) s->op->n_out - 1;
    return &s->op->out[i < last ? i : last];
}

/* Name of an enumerated value: a fused activation or padding scheme; else NULL. */
static const char *meaning(const struct role *role, const struct operand *o)
{
    static const char *const activation[] = { "none", "RELU", "RELU1", "RELU6" };
    static const char *const scheme[] = { NULL, "SAME", "VALID" };
    if (!role || o->tensor.dtype != DT_INT32 || o->length != sizeof(int32_t))
        return NULL;
    int32_t value;
    memcpy(&value, o->tensor.data, sizeof(value));
    if (role->draw == DRAW_ACTIVATION && value >= 0 && value < COUNT(activation))
        return activation[value];
    if (role->draw == DRAW_SCHEME && value >= 0 && value < COUNT(scheme))
        return scheme[value];
    return NULL;
}

static bool is_row_input(const struct dump *d, const struct described *s, uint32_t i)
{
    uint32_t operand = s->call->in[i];
    return operand < d->g->n_operands && d->row[operand];
}

/* An input that is not a node: position and role, value, index and type. */
static void put_row(const struct dump *d, const struct described *s, uint32_t i)
{
    const struct operand *o = &d->g->operand[s->call->in[i]];
    const struct role *role = in_role(s, i);
    const struct dtype_info *type = dtype_find(o->tensor.dtype);
    fprintf(d->to, "<TR><TD ALIGN=\"LEFT\">%" PRIu32 " %s&#160;</TD><TD ALIGN=\"LEFT\">", i,
            role ? role->name : "");
    if (o->life == LIFE_NO_VALUE) {
        fputs("no value", d->to);
    } else if (o->life == LIFE_SUBGRAPH) {
        fprintf(d->to, "subgraph %" PRIu32, o->subgraph);
    } else if (is_readable(o)) {
        const char *means = meaning(role, o);
        put_value(o, 0, d->to);
        if (means)
            fprintf(d->to, " (%s)", means);
    } else {
        fprintf(d->to, "%zu bytes", o->length);
    }
    fprintf(d->to, "&#160;</TD><TD ALIGN=\"LEFT\"><FONT COLOR=\"#94a3b8\">d%" PRIu32,
            s->call->in[i]);
    if (is_constant(o) && type)
        fprintf(d->to, " %s", type->brief);
    if (o->life == LIFE_CONSTANT_REFERENCE)
        fprintf(d->to, " pool %" PRIu32, o->pool);
    fputs("</FONT></TD></TR>", d->to);
}

static void put_operation_name(const struct dump *d, const struct described *s)
{
    uint32_t code = (uint32_t) s->call->code;
    if (s->op && code >> 16) {
        fprintf(d->to, "%s</B> <FONT COLOR=\"#94a3b8\">%s</FONT><B>", s->op->name,
                extension_name[code >> 16]);
        return;
    }
    if (s->op) {
        fputs(s->op->name, d->to);
        return;
    }
    if (code == OEM_CODE) {
        fputs(extension_op(EXTENSION_CODE(oem, 0))->name, d->to);
        return;
    }
    for (uint32_t i = 0; i < d->m->n_extensions; i++)
        if (d->m->extension[i].prefix && d->m->extension[i].prefix == code >> 16) {
            text_put(d->to, TEXT_XML, d->m->extension[i].name, NAME_MOST);
            fprintf(d->to, " %" PRIu32, code & 0xffff);
            return;
        }
    fprintf(d->to, "operation %" PRId32, s->call->code);
}

static void put_operation(const struct dump *d, uint32_t i, const struct described *s)
{
    fputs("    ", d->to);
    put_id(d, 'n', i);
    fputs(" [shape=box, style=\"filled\", color=\"#1e293b\", fillcolor=\"#1e293b\", "
          "fontcolor=\"#f8fafc\", class=\"operation\",\n        label=<<TABLE BORDER=\"0\" "
          "CELLSPACING=\"0\" CELLPADDING=\"1\"><TR><TD COLSPAN=\"3\">",
          d->to);
    fprintf(d->to, "<FONT COLOR=\"#94a3b8\">n%" PRIu32 "</FONT> <B>", i);
    put_operation_name(d, s);
    fputs("</B></TD></TR>", d->to);
    for (uint32_t k = 0; k < s->call->n_in; k++)
        if (is_row_input(d, s, k))
            put_row(d, s, k);
    fputs("</TABLE>>];\n", d->to);
}

/* --- edges */

static void put_edge(const struct dump *d, uint32_t operation, uint32_t operand, bool reads)
{
    fputs("    ", d->to);
    put_id(d, reads ? 'd' : 'n', reads ? operand : operation);
    fputs(" -> ", d->to);
    put_id(d, reads ? 'n' : 'd', reads ? operation : operand);
}

/* Labels an edge with position and role if the operation has several operands on that side. Weights
 * keep computed values in straight lines and move constants to the side. */
static void put_edge_label(const struct dump *d, uint32_t operand, uint32_t i, uint32_t n,
                           const struct role *role)
{
    bool aside = operand < d->g->n_operands && is_constant(&d->g->operand[operand]);
    fprintf(d->to, " [weight=%d", aside ? 1 : 10);
    if (n > 1)
        fprintf(d->to, ", label=\"%" PRIu32 "%s%s\"", i, role ? " " : "", role ? role->name : "");
    fputs("];\n", d->to);
}

static void put_edges(const struct dump *d, uint32_t i, const struct described *s)
{
    const struct operation *call = s->call;
    for (uint32_t k = 0; k < call->n_in; k++) {
        if (!is_row_input(d, s, k)) {
            put_edge(d, i, call->in[k], true);
            put_edge_label(d, call->in[k], k, call->n_in, in_role(s, k));
            continue;
        }
        const struct operand *o = &d->g->operand[call->in[k]];
        if (o->life != LIFE_SUBGRAPH || !o->subgraph || o->subgraph >= d->m->n_graphs ||
            !d->m->graph[o->subgraph].n_operations)
            continue;
        /* An edge cannot end at a cluster: it leads to one of its nodes and lhead clips it. */
        fputs("    ", d->to);
        put_id(d, 'n', i);
        fprintf(d->to, " -> g%" PRIu32 "_n0 [lhead=cluster_%" PRIu32 ", style=dashed];\n",
                o->subgraph, o->subgraph);
    }
    for (uint32_t k = 0; k < call->n_out; k++) {
        put_edge(d, i, call->out[k], false);
        put_edge_label(d, call->out[k], k, call->n_out, out_role(s, k));
    }
}

/* --- graphs */

static void put_nodes(struct dump *d)
{
    const struct graph *g = d->g;
    /* Which operands are rows of operations; all others become nodes. */
    for (uint32_t i = 0; i < g->n_operations; i++)
        for (uint32_t k = 0; k < g->operation[i].n_in; k++) {
            uint32_t o = g->operation[i].in[k];
            if (o < g->n_operands && is_row(&g->operand[o]))
                d->row[o] = true;
        }
    for (uint32_t i = 0; i < g->n_operands; i++)
        if (!d->row[i])
            put_operand(d, i);
    for (uint32_t i = 0; i < g->n_operations; i++) {
        struct described s = describe(d, &g->operation[i]);
        put_operation(d, i, &s);
        put_edges(d, i, &s);
    }
}

static int put_graph(struct dump *d, uint32_t index, struct why *w)
{
    const struct graph *g = &d->m->graph[index];
    d->index = index;
    d->g = g;
    d->row = calloc((size_t) g->n_operands + 1, sizeof(*d->row));
    d->in = list_positions(g->input, g->n_inputs, g->n_operands);
    d->out = list_positions(g->output, g->n_outputs, g->n_operands);
    bool ok = d->row && d->in && d->out;
    if (ok)
        put_nodes(d);
    free(d->row);
    free(d->in);
    free(d->out);
    return ok ? 0 : why_no_memory_for(w, "%" PRIu32 " operands", g->n_operands);
}

int graph_dump_dot(const struct model *m, const char *name,
                   const struct graph_dump_options *options, FILE *to, struct why *w)
{
    struct dump d = {
        .to = to,
        .m = m,
        .mark = options ? options->mark_output : -1,
        .valid = model_validate(m, NULL) >= 0,
    };
    /* A fixed-width font, whose text Graphviz can measure without knowing the reader's fonts. */
    fputs("digraph model {\n"
          "    graph [fontname=\"Courier\", fontsize=11, labelloc=t, rankdir=TB, compound=true,\n"
          "        nodesep=0.2, ranksep=0.35, bgcolor=\"transparent\",\n        label=<<B>",
          to);
    text_put(to, TEXT_XML, name, 2 * NAME_MOST);
    fprintf(to, "%s</B>>];\n", m->relaxed ? " (relaxed)" : "");
    fputs("    node [fontname=\"Courier\", fontsize=9, margin=\"0.12,0.06\", height=0.3];\n"
          "    edge [fontname=\"Courier\", fontsize=8, color=\"#64748b\", "
          "fontcolor=\"#64748b\", arrowsize=0.6];\n",
          to);
    for (uint32_t i = 0; i < m->n_graphs; i++) {
        if (i)
            fprintf(to,
                    "subgraph cluster_%" PRIu32 " {\n    label=\"subgraph %" PRIu32
                    "\"; style=\"rounded,filled\"; color=\"#cbd5e1\"; fillcolor=\"#f8fafc\";\n",
                    i, i);
        TRY(put_graph(&d, i, w));
        if (i)
            fputs("}\n", to);
    }
    fputs("}\n", to);
    return ferror(to) ? why_fail(w, WHY_SYSTEM, "graph cannot be written") : 0;
}

int graph_dump_text(const struct model *m, const char *name,
                    const struct graph_dump_options *options, char **ret_dot, struct why *w)
{
    size_t length;
    FILE *to = open_memstream(ret_dot, &length);
    if (!to)
        return why_no_memory_for(w, "a graph");
    int r = graph_dump_dot(m, name, options, to, w);
    if (fclose(to) && r >= 0)
        r = why_no_memory_for(w, "a graph");
    return r;
}

int graph_dump_log(const struct model *m, const char *name, struct why *w)
{
    char *dot = NULL, *rest, *line;
    int r = graph_dump_text(m, name, NULL, &dot, w);
    for (rest = dot; r >= 0 && (line = strsep(&rest, "\n"));)
        if (*line)
            log_write(LOG_INFO, LOG_TAG, "%s", line);
    free(dot);
    return r;
}
