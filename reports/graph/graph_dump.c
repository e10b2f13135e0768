/* graphDump: a model as Graphviz text.
 *
 * Operation i of the main graph is node n<i>, operand i, where it is one, node d<i>; subgraph k is
 * a cluster whose nodes are g<k>_n<i> and g<k>_d<i>.  Inputs, outputs and large constants with
 * several readers are nodes.  All other constants and references to subgraphs are lines of the
 * operations that read them; intermediate results are lines of the operation that writes them, and
 * edges from there to the readers.  Roles of operands are named only if the model is valid, as
 * binding requires it.  The text depends only on the model and the options; an invalid model is
 * drawn as far as possible. */
#include "reports/graph/graph_dump.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "golden/base/logging.h"
#include "golden/base/text_escape.h"
#include "reports/graph/graph_android.h"
#include "reports/graph/graph_fold.h"
#include "reports/graph/graph_layout.h"
#include "reports/graph/graph_parts.h"

#define LOG_TAG "GraphDump"
#define GREY    "#64748b"

enum { NAME_MOST = 40, VALUES_MOST = 6 };

/* How an operand is shown. */
enum shown { SHOWN_NODE, SHOWN_LINE, SHOWN_EDGE, SHOWN_NOT };

struct dump {
    FILE *to;
    const struct model *m;
    const struct graph_dump_options *options;
    bool valid; /* the operations of the model obey the rules */

    /* Of the graph that is written. */
    const struct graph *g;
    uint32_t index;                  /* of g in m */
    const struct graph_notes *notes; /* NULL: none */
    bool *well_formed;               /* per operation */
    enum shown *shown;               /* per operand */
    uint32_t *writer;                /* graph_writers() */
    uint32_t *reader, *readers;      /* per operand: the first shown operation that reads it, or
                                        GRAPH_NONE; how often shown operations read it */
    int64_t *in, *out;               /* list_positions() of the graph's inputs and outputs */
    struct graph_fold fold;
};

/* ---- colours */

const char *const graph_tone_name[TONE_COUNT] = {
    [TONE_NONE] = "none",       [TONE_GOOD] = "good",       [TONE_FAIR] = "fair",
    [TONE_CLOSE] = "close",     [TONE_WRONG] = "wrong",     [TONE_FIRST_WRONG] = "first wrong",
    [TONE_SKIPPED] = "skipped", [TONE_SAME] = "same",       [TONE_ADDED] = "added",
    [TONE_REMOVED] = "removed", [TONE_CHANGED] = "changed",
};

/* Of the head of an operation, whose text is white, and of an operand's frame; fill: of operands.
 */
static const struct {
    const char *head, *fill;
} color_of[TONE_COUNT] = {
    [TONE_NONE] = { "#1e293b", "#ffffff" },
    [TONE_GOOD] = { "#166534", "#dcfce7" },
    [TONE_FAIR] = { "#3f6212", "#ecfccb" },
    [TONE_CLOSE] = { "#92400e", "#fef3c7" },
    [TONE_WRONG] = { "#b91c1c", GRAPH_MARK_FILL },
    [TONE_FIRST_WRONG] = { "#b91c1c", GRAPH_MARK_FILL },
    [TONE_SKIPPED] = { "#64748b", "#f1f5f9" },
    [TONE_SAME] = { "#64748b", "#f8fafc" },
    [TONE_ADDED] = { "#166534", "#dcfce7" },
    [TONE_REMOVED] = { "#b91c1c", "#fee2e2" },
    [TONE_CHANGED] = { "#92400e", "#fef3c7" },
};

/* Of boxes. */
static const struct {
    const char *line, *fill;
} box_color[] = {
    { "#2563eb", "#dbeafe" }, { "#15803d", "#dcfce7" }, { "#b45309", "#fef3c7" },
    { "#9333ea", "#f3e8ff" }, { "#be123c", "#ffe4e6" }, { "#0f766e", "#ccfbf1" },
};

enum graph_tone graph_tone_of(double ratio)
{
    if (isnan(ratio))
        return TONE_SKIPPED;
    return ratio <= 0.25   ? TONE_GOOD
           : ratio <= 0.75 ? TONE_FAIR
           : ratio <= 1    ? TONE_CLOSE
                           : TONE_WRONG;
}

static const struct graph_note *operation_note(const struct dump *d, uint32_t i)
{
    static const struct graph_note none = { .ratio = NAN };
    return d->notes && d->notes->operation ? &d->notes->operation[i] : &none;
}

static const struct graph_note *operand_note(const struct dump *d, uint32_t i)
{
    static const struct graph_note none = { .ratio = NAN };
    return d->notes && d->notes->operand ? &d->notes->operand[i] : &none;
}

/* Each line of text, with something before each. */
static void put_lines(FILE *to, const char *before, const char *text, const char *after)
{
    for (const char *end; text && *text; text = *end ? end + 1 : end) {
        end = text + strcspn(text, "\n");
        char *line = strndup(text, (size_t) (end - text));
        fputs(before, to);
        text_put(to, TEXT_XML, line, 0);
        fputs(after, to);
        free(line);
    }
}

/* ---- operands */

/* The values of a short constant, else how many bytes it has. */
static void put_constant(const struct operand *o, const char *before, FILE *to)
{
    size_t n = operand_is_readable(o) ? tensor_count(&o->tensor) : 0;
    fputs(before, to);
    if (!n || n > VALUES_MOST)
        fprintf(to, "%zu bytes", o->length);
    for (size_t i = 0; i < n && n <= VALUES_MOST; i++) {
        fputs(i ? ", " : "= ", to);
        operand_put_value(o, i, to);
    }
}

struct look {
    const char *lifetime, *class, *style, *color, *fill;
};

static struct look operand_look(const struct dump *d, uint32_t i)
{
    static const struct look looks[] = {
        { "input", "input", "rounded,filled", "#2563eb", "#dbeafe" },
        { "output", "output", "rounded,filled", "#15803d", "#dcfce7" },
        { "constant (copy)", "constant", "filled", "#94a3b8", "#f1f5f9" },
        { "constant (reference)", "constant", "filled", "#94a3b8", "#f1f5f9" },
        { "temporary", "temporary", "rounded,filled", "#94a3b8", "#ffffff" },
        { "odd", "odd", "dashed", "#94a3b8", "#ffffff" },
    };
    struct look look = looks[5];
    switch (d->g->operand[i].life) {
    case LIFE_INPUT: look = looks[0]; break;
    case LIFE_OUTPUT: look = looks[1]; break;
    case LIFE_CONSTANT_COPY: look = looks[2]; break;
    case LIFE_CONSTANT_REFERENCE: look = looks[3]; break;
    case LIFE_TEMPORARY: look = looks[4]; break;
    default: break;
    }
    const enum graph_tone tone = operand_note(d, i)->tone;
    if (tone != TONE_NONE) {
        look.color = color_of[tone].head;
        look.fill = color_of[tone].fill;
    }
    return look;
}

static void put_id(const struct dump *d, char kind, uint32_t i)
{
    if (d->index)
        fprintf(d->to, "g%" PRIu32 "_", d->index);
    fprintf(d->to, "%c%" PRIu32, kind, i);
}

static void put_name(const struct operand *o, const char *before, FILE *to)
{
    if (!o->name || !*o->name)
        return;
    fprintf(to, "%s<I>", before);
    text_put(to, TEXT_XML, o->name, NAME_MOST);
    fputs("</I>", to);
}

/* The role of a constant in the first operation that reads it. */
static const char *first_role(const struct dump *d, uint32_t operand)
{
    if (d->reader[operand] == GRAPH_NONE)
        return NULL;
    const struct operation *p = &d->g->operation[d->reader[operand]];
    struct described s = graph_describe(d->g, p, d->valid);
    for (uint32_t k = 0; k < p->n_in; k++)
        if (p->in[k] == operand && described_in(&s, k))
            return described_in(&s, k)->name;
    return NULL;
}

static void put_operand(const struct dump *d, uint32_t i)
{
    const struct operand *o = &d->g->operand[i];
    struct look look = operand_look(d, i);
    int64_t in = d->in[i], out = d->out[i];
    bool marked = !d->index && out >= 0 && out == d->options->mark_output;
    const char *role = operand_constant(o) ? first_role(d, i) : NULL;

    fputs("    ", d->to);
    put_id(d, 'd', i);
    fprintf(d->to, " [shape=box, style=\"%s\", color=\"%s\", fillcolor=\"%s\", penwidth=%s",
            look.style, marked ? GRAPH_MARK_COLOR : look.color,
            marked ? GRAPH_MARK_FILL : look.fill, marked ? GRAPH_MARK_WIDTH : "1");
    fprintf(d->to, ", class=\"operand %s", look.class);
    if (out >= 0 && !d->index)
        fprintf(d->to, " output%" PRId64, out);
    fprintf(d->to, "\",\n        label=<<B>d%" PRIu32 "</B>&#160;", i);
    if (role)
        fprintf(d->to, "<B>%s</B>, ", role);
    fputs(look.lifetime, d->to);
    if (o->life == LIFE_CONSTANT_REFERENCE)
        fprintf(d->to, " pool %" PRIu32, o->pool);
    if (in >= 0)
        fprintf(d->to, "[%" PRId64 "]", in);
    if (out >= 0)
        fprintf(d->to, in >= 0 ? " output[%" PRId64 "]" : "[%" PRId64 "]", out);
    put_name(o, "<BR/>", d->to);
    fputs("<BR/>", d->to);
    operand_put_type(o, d->to);
    operand_put_quantisation(o, "<BR/>", d->to);
    if (operand_constant(o))
        put_constant(o, "<BR/>", d->to);
    put_lines(d->to, "<BR/>", operand_note(d, i)->text, "");
    fputs(">];\n", d->to);
}

/* ---- operations */

static bool is_line_input(const struct dump *d, const struct described *s, uint32_t i)
{
    uint32_t operand = s->call->in[i];
    return operand < d->g->n_operands && d->shown[operand] == SHOWN_LINE;
}

/* A line across the table. */
static void put_wide(FILE *to, const char *background, const char *color, const char *text)
{
    char before[160];
    snprintf(before, sizeof before,
             "<TR><TD COLSPAN=\"3\" ALIGN=\"LEFT\"%s%s%s><FONT COLOR=\"%s\">",
             *background ? " BGCOLOR=\"" : "", background, *background ? "\"" : "", color);
    put_lines(to, before, text, "&#160;</FONT></TD></TR>");
}

/* An input that is not a node: position and role, value, index and type. */
static void put_input_line(const struct dump *d, const struct described *s, uint32_t i)
{
    const struct operand *o = &d->g->operand[s->call->in[i]];
    const struct role *role = described_in(s, i);
    const struct dtype_info *type = dtype_find(o->tensor.dtype);
    const bool tensor = operand_constant(o) && !operand_is_scalar(o);
    fprintf(d->to, "<TR><TD ALIGN=\"LEFT\">%" PRIu32 " %s&#160;</TD><TD ALIGN=\"LEFT\">", i,
            role ? role->name : "");
    if (o->life == LIFE_NO_VALUE) {
        fputs("no value", d->to);
    } else if (o->life == LIFE_SUBGRAPH) {
        fprintf(d->to, "subgraph %" PRIu32, o->subgraph);
    } else if (tensor) {
        operand_put_type(o, d->to);
        put_constant(o, " ", d->to);
    } else if (operand_is_readable(o)) {
        const char *means = role_meaning(role, o);
        operand_put_value(o, 0, d->to);
        if (means)
            fprintf(d->to, " (%s)", means);
    } else {
        fprintf(d->to, "%zu bytes", o->length);
    }
    fprintf(d->to, "&#160;</TD><TD ALIGN=\"LEFT\"><FONT COLOR=\"" GREY "\">d%" PRIu32,
            s->call->in[i]);
    if (operand_is_scalar(o) && type)
        fprintf(d->to, " %s", type->brief);
    else if (tensor)
        operand_put_quantisation(o, " ", d->to);
    if (o->life == LIFE_CONSTANT_REFERENCE)
        fprintf(d->to, " pool %" PRIu32, o->pool);
    fputs("</FONT></TD></TR>", d->to);
    put_wide(d->to, "", GREY, operand_note(d, s->call->in[i])->text);
}

/* How many inputs from `i` on are omitted, one after another. */
static uint32_t count_omitted(const struct dump *d, const struct described *s, uint32_t i)
{
    uint32_t n = 0;
    while (i + n < s->call->n_in && is_line_input(d, s, i + n) &&
           d->g->operand[s->call->in[i + n]].life == LIFE_NO_VALUE)
        n++;
    return n;
}

/* The inputs that are not nodes.  Several that are omitted one after another share a line. */
static void put_input_lines(const struct dump *d, const struct described *s)
{
    for (uint32_t i = 0; i < s->call->n_in; i++) {
        const uint32_t omitted = count_omitted(d, s, i);
        if (omitted > 1) {
            fprintf(d->to,
                    "<TR><TD ALIGN=\"LEFT\">%" PRIu32 " to %" PRIu32 "&#160;</TD>"
                    "<TD ALIGN=\"LEFT\">no value</TD><TD></TD></TR>",
                    i, i + omitted - 1);
            i += omitted - 1;
        } else if (is_line_input(d, s, i)) {
            put_input_line(d, s, i);
        }
    }
}

/* An intermediate result. */
static void put_result_line(const struct dump *d, const struct described *s, uint32_t i)
{
    const uint32_t operand = s->call->out[i];
    const struct operand *o = &d->g->operand[operand];
    const struct role *role = described_out(s, i);
    const struct graph_note *note = operand_note(d, operand);
    const char *fill = note->tone == TONE_NONE ? "#eef2f7" : color_of[note->tone].fill;
    fprintf(d->to, "<TR><TD COLSPAN=\"3\" ALIGN=\"LEFT\" BGCOLOR=\"%s\"><FONT COLOR=\"" GREY "\">",
            fill);
    if (s->call->n_out > 1)
        fprintf(d->to, "%" PRIu32 " %s ", i, role ? role->name : "");
    fprintf(d->to, "d%" PRIu32 "&#160;</FONT>", operand);
    operand_put_type(o, d->to);
    operand_put_quantisation(o, ", ", d->to);
    fputs("&#160;", d->to);
    if (o->name && *o->name)
        fputs("<BR ALIGN=\"LEFT\"/>", d->to);
    put_name(o, "", d->to);
    fputs("<BR ALIGN=\"LEFT\"/></TD></TR>", d->to);
    put_wide(d->to, fill, "#334155", note->text);
}

/* The operations of a folded block that an operation stands for, and the worst of them. */
static void put_repeats(const struct dump *d, uint32_t i)
{
    const uint32_t k = d->fold.block_of[i];
    if (k == UINT32_MAX)
        return;
    const struct graph_block *b = &d->fold.block[k];
    const uint32_t last = i + (b->count - 1) * b->length;
    uint32_t worst = i;
    char text[128];
    for (uint32_t at = i; at <= last; at += b->length)
        if (operation_note(d, at)->ratio > operation_note(d, worst)->ratio)
            worst = at;
    snprintf(text, sizeof text, "%" PRIu32 " times: n%" PRIu32 ", n%" PRIu32 "%s", b->count, i,
             i + b->length, b->count > 3 ? ", ..." : "");
    if (b->count > 2)
        snprintf(text + strlen(text), sizeof text - strlen(text), ", n%" PRIu32, last);
    put_wide(d->to, "#e2e8f0", "#334155", text);
    if (worst == i)
        return;
    snprintf(text, sizeof text, "above: n%" PRIu32 "; error / bound up to %.3g, in n%" PRIu32, i,
             operation_note(d, worst)->ratio, worst);
    put_wide(d->to, "#e2e8f0", "#334155", text);
}

static void put_operation(const struct dump *d, uint32_t i, const struct described *s)
{
    const struct graph_note *note = operation_note(d, i);
    const struct operation_title title = operation_title(d->m, s->call);
    const bool first = note->tone == TONE_FIRST_WRONG;
    const bool wrong = note->tone == TONE_WRONG || first;
    fputs("    ", d->to);
    put_id(d, 'n', i);
    fprintf(d->to,
            " [shape=plain, class=\"operation %s\",\n        label=<<TABLE BORDER=\"%d\" "
            "CELLBORDER=\"0\" CELLSPACING=\"0\" CELLPADDING=\"2\" COLOR=\"%s\" "
            "BGCOLOR=\"#ffffff\"><TR><TD COLSPAN=\"3\" BGCOLOR=\"%s\"><FONT "
            "COLOR=\"#e2e8f0\">n%" PRIu32 "</FONT> <FONT COLOR=\"#ffffff\" "
            "POINT-SIZE=\"11\"><B>",
            first ? "first-wrong" : graph_tone_name[note->tone],
            first   ? 4
            : wrong ? 2
                    : 1,
            color_of[note->tone].head, color_of[note->tone].head, i);
    text_put(d->to, TEXT_XML, title.name, 0);
    fputs("</B></FONT>", d->to);
    if (*title.extension) {
        fputs(" <FONT COLOR=\"#cbd5e1\">", d->to);
        text_put(d->to, TEXT_XML, title.extension, 0);
        fputs("</FONT>", d->to);
    }
    fputs("</TD></TR>", d->to);
    if (first)
        put_wide(d->to, GRAPH_MARK_COLOR, "#ffffff", "THE FIRST WRONG OPERATION");
    put_wide(d->to, color_of[note->tone].fill, "#0f172a", note->text);
    put_repeats(d, i);
    put_input_lines(d, s);
    for (uint32_t k = 0; k < s->call->n_out; k++)
        if (s->call->out[k] < d->g->n_operands && d->shown[s->call->out[k]] == SHOWN_EDGE)
            put_result_line(d, s, k);
    uint32_t hidden = 0;
    for (uint32_t k = 0; k < s->call->n_out; k++)
        hidden += s->call->out[k] < d->g->n_operands && d->shown[s->call->out[k]] == SHOWN_NOT;
    if (hidden)
        fprintf(d->to,
                "<TR><TD COLSPAN=\"3\" ALIGN=\"LEFT\" BGCOLOR=\"#eef2f7\">and %" PRIu32
                " more for the other blocks&#160;</TD></TR>",
                hidden);
    fputs("</TABLE>>];\n", d->to);
}

/* ---- edges */

/* Label: position and role, if the operation has several operands on that side; how often a folded
 * block has the edge.  Weights keep computed values in straight lines and move constants to the
 * side. */
static void put_edge_label(const struct dump *d, uint32_t operand, uint32_t i, uint32_t n,
                           const struct role *role, uint32_t times, bool carried)
{
    bool aside = operand < d->g->n_operands && operand_constant(&d->g->operand[operand]);
    fprintf(d->to, " [weight=%d", aside ? 1 : 10);
    if (n > 1 || times > 1) {
        fprintf(d->to, ", label=\"%s", carried ? "to the next: " : "");
        if (n > 1)
            fprintf(d->to, "%" PRIu32 "%s%s", i, role ? " " : "", role ? role->name : "");
        if (times > 1)
            fprintf(d->to, "%sx %" PRIu32, n > 1 ? " " : "", times);
        fputs("\"", d->to);
    }
    if (carried)
        fputs(", style=dashed, constraint=false", d->to);
    fputs("];\n", d->to);
}

/* What an input is drawn from: the node of its operand, or the operation that writes it. */
struct tail {
    char kind;
    uint32_t index;
};

static struct tail tail_of(const struct dump *d, uint32_t operand)
{
    if (operand < d->g->n_operands) {
        const uint32_t behind = d->fold.operand[operand];
        if (d->shown[operand] == SHOWN_EDGE || d->shown[operand] == SHOWN_NOT)
            return (struct tail){ 'n', d->fold.operation[d->writer[behind]] };
        return (struct tail){ 'd', behind };
    }
    return (struct tail){ 'd', operand };
}

static bool is_same_tail(struct tail a, struct tail b)
{
    return a.kind == b.kind && a.index == b.index;
}

/* An edge cannot end at a cluster: it leads to one of its nodes and lhead clips it. */
static void put_subgraph_edge(const struct dump *d, uint32_t operation, const struct operand *o)
{
    if (o->life != LIFE_SUBGRAPH || !o->subgraph || o->subgraph >= d->m->n_graphs ||
        !d->m->graph[o->subgraph].n_operations)
        return;
    fputs("    ", d->to);
    put_id(d, 'n', operation);
    fprintf(d->to, " -> g%" PRIu32 "_n0 [lhead=cluster_%" PRIu32 ", style=dashed];\n", o->subgraph,
            o->subgraph);
}

/* How many inputs of an operation are edges. */
static uint32_t count_edges(const struct dump *d, const struct described *s)
{
    uint32_t n = 0;
    for (uint32_t k = 0; k < s->call->n_in; k++)
        n += !is_line_input(d, s, k);
    return n;
}

/* Input k of an operation.  Of several results of hidden operations only the first is drawn. */
static void put_input_edge(const struct dump *d, uint32_t i, const struct described *s, uint32_t k)
{
    const struct operation *call = s->call;
    const struct tail tail = tail_of(d, call->in[k]);
    const bool hides = call->in[k] < d->g->n_operands && d->shown[call->in[k]] == SHOWN_NOT;
    uint32_t times = 1;
    for (uint32_t other = 0; other < call->n_in; other++) {
        bool other_hides =
            call->in[other] < d->g->n_operands && d->shown[call->in[other]] == SHOWN_NOT;
        if (other == k || is_line_input(d, s, other) || (!hides && !other_hides) ||
            !is_same_tail(tail_of(d, call->in[other]), tail))
            continue;
        if (other < k)
            return;
        times++;
    }
    fputs("    ", d->to);
    put_id(d, tail.kind, tail.index);
    fputs(" -> ", d->to);
    put_id(d, 'n', i);
    put_edge_label(d, call->in[k], k, count_edges(d, s), described_in(s, k), times, false);
}

static void put_edges(const struct dump *d, uint32_t i, const struct described *s)
{
    const struct operation *call = s->call;
    for (uint32_t k = 0; k < call->n_in; k++)
        if (is_line_input(d, s, k))
            put_subgraph_edge(d, i, &d->g->operand[call->in[k]]);
        else
            put_input_edge(d, i, s, k);
    for (uint32_t k = 0; k < call->n_out; k++) {
        if (call->out[k] < d->g->n_operands &&
            (d->shown[call->out[k]] == SHOWN_EDGE || d->shown[call->out[k]] == SHOWN_NOT))
            continue;
        fputs("    ", d->to);
        put_id(d, 'n', i);
        fputs(" -> ", d->to);
        put_id(d, 'd', call->out[k]);
        put_edge_label(d, call->out[k], k, call->n_out, described_out(s, k), 1, false);
    }
}

/* Of a hidden operation: to its outputs that are nodes; and in the second block what it reads from
 * the first one, as an edge back into the one that is shown. */
static void put_hidden_edges(const struct dump *d, uint32_t i, const struct described *s)
{
    const struct operation *call = s->call;
    const uint32_t shown = d->fold.operation[i];
    for (uint32_t k = 0; k < call->n_out; k++)
        if (d->shown[call->out[k]] == SHOWN_NODE) {
            fputs("    ", d->to);
            put_id(d, 'n', shown);
            fputs(" -> ", d->to);
            put_id(d, 'd', call->out[k]);
            put_edge_label(d, call->out[k], k, call->n_out, described_out(s, k), 1, false);
        }
    if (i - shown != d->fold.block[d->fold.block_of[i]].length)
        return;
    for (uint32_t k = 0; k < call->n_in; k++) {
        const uint32_t writer = d->writer[call->in[k]];
        if (writer >= d->g->n_operations || !graph_fold_is_carried(&d->fold, writer, i))
            continue;
        fputs("    ", d->to);
        put_id(d, 'n', d->fold.operation[writer]);
        fputs(" -> ", d->to);
        put_id(d, 'n', shown);
        put_edge_label(d, call->in[k], k, 2, described_in(s, k), 1, true);
    }
}

/* ---- boxes */

/* Names the members of a box, which are nodes already.  The layout in layers removes what begins
 * with "cluster_box". */
static void put_boxes(const struct dump *d)
{
    const uint32_t *box = d->notes ? d->notes->box : NULL;
    for (uint32_t b = 0; box && b < d->options->n_boxes; b++) {
        bool any = false;
        for (uint32_t i = 0; i < d->g->n_operations; i++) {
            if (box[i] != b || d->fold.operation[i] != i)
                continue;
            if (!any) {
                const struct graph_box *look = &d->options->box[b];
                const bool grey = look->color == UINT32_MAX;
                const uint32_t c = grey ? 0 : look->color % COUNT(box_color);
                fprintf(d->to, "subgraph cluster_box%" PRIu32 "_%" PRIu32 " {\n    label=<<B>",
                        d->index, b);
                text_put(d->to, TEXT_XML, look->label, 0);
                fprintf(d->to,
                        "</B>>; labeljust=l; style=\"rounded,filled\"; color=\"%s\"; "
                        "fillcolor=\"%s\"; fontcolor=\"%s\";\n   ",
                        grey ? GREY : box_color[c].line, grey ? "#f1f5f9" : box_color[c].fill,
                        grey ? GREY : box_color[c].line);
            }
            any = true;
            fputc(' ', d->to);
            put_id(d, 'n', i);
            fputc(';', d->to);
        }
        if (any)
            fputs("\n}\n", d->to);
    }
}

static void put_blocks(const struct dump *d)
{
    const uint32_t *box = d->notes ? d->notes->box : NULL;
    for (uint32_t k = 0; k < d->fold.n_blocks; k++) {
        const struct graph_block *b = &d->fold.block[k];
        if (box && box[b->first] != UINT32_MAX)
            fprintf(d->to, "subgraph cluster_box%" PRIu32 "_%" PRIu32 " {\n", d->index,
                    box[b->first]);
        fprintf(d->to,
                "subgraph cluster_box%" PRIu32 "_block%" PRIu32
                " {\n    label=<<FONT POINT-SIZE=\"14\"><B>x %" PRIu32 "</B>&#160;</FONT>n%" PRIu32
                " to n%" PRIu32 ">; labeljust=l; style=\"rounded,dashed\"; color=\"" GREY
                "\"; penwidth=2;\n   ",
                d->index, k, b->count, b->first, b->first + b->count * b->length - 1);
        for (uint32_t i = b->first; i < b->first + b->length; i++) {
            fputc(' ', d->to);
            put_id(d, 'n', i);
            fputc(';', d->to);
        }
        fputs("\n}\n", d->to);
        if (box && box[b->first] != UINT32_MAX)
            fputs("}\n", d->to);
    }
}

/* ---- graphs */

static bool is_short(const struct operand *o)
{
    return operand_is_readable(o) && tensor_count(&o->tensor) <= VALUES_MOST;
}

/* Which of the operations that are shown read each operand. */
static void find_readers(struct dump *d)
{
    const struct graph *g = d->g;
    for (uint32_t i = 0; i <= g->n_operands; i++)
        d->reader[i] = GRAPH_NONE;
    for (uint32_t i = g->n_operations; i-- > 0;)
        for (uint32_t k = 0; d->fold.operation[i] == i && k < g->operation[i].n_in; k++)
            if (g->operation[i].in[k] < g->n_operands) {
                d->reader[g->operation[i].in[k]] = i;
                d->readers[g->operation[i].in[k]]++;
            }
}

/* How each operand is shown.  n_readers: of all operations. */
static void choose_shown(struct dump *d, const uint32_t *n_readers)
{
    const struct graph *g = d->g;
    for (uint32_t i = 0; i < g->n_operands; i++) {
        const struct operand *o = &g->operand[i];
        const bool written_once = d->writer[i] < g->n_operations;
        const bool constant = operand_constant(o);
        const bool known = dtype_find(o->tensor.dtype);
        d->shown[i] = SHOWN_NODE;
        if (n_readers[i] && (o->life == LIFE_NO_VALUE || o->life == LIFE_SUBGRAPH))
            d->shown[i] = SHOWN_LINE;
        else if (n_readers[i] && constant && known && d->out[i] < 0 &&
                 (operand_is_scalar(o) || d->readers[i] <= 1 || is_short(o)))
            d->shown[i] = SHOWN_LINE;
        else if (o->life == LIFE_TEMPORARY && written_once && d->out[i] < 0)
            d->shown[i] = d->fold.operand[i] == i ? SHOWN_EDGE : SHOWN_NOT;
    }
}

static void put_nodes(struct dump *d, const uint32_t *n_readers)
{
    const struct graph *g = d->g;
    find_readers(d);
    choose_shown(d, n_readers);
    for (uint32_t i = 0; i < g->n_operands; i++)
        if (d->shown[i] == SHOWN_NODE &&
            (!operand_constant(&g->operand[i]) || !n_readers[i] || d->reader[i] != GRAPH_NONE))
            put_operand(d, i);
    for (uint32_t i = 0; i < g->n_operations; i++) {
        struct described s = graph_describe(g, &g->operation[i], d->valid && d->well_formed[i]);
        if (d->fold.operation[i] != i) {
            put_hidden_edges(d, i, &s);
            continue;
        }
        put_operation(d, i, &s);
        put_edges(d, i, &s);
    }
    put_boxes(d);
    put_blocks(d);
}

/* Operations in different boxes or of different tones are not folded into one. */
static int find_fold(struct dump *d, struct why *w)
{
    const struct graph *g = d->g;
    if (!d->options->fold || !d->valid)
        return graph_fold_none(g, &d->fold, w);
    uint32_t *kind = calloc((size_t) g->n_operations + 1, sizeof *kind);
    if (!kind)
        return why_no_memory_for(w, "%" PRIu32 " operations", g->n_operations);
    for (uint32_t i = 0; i < g->n_operations; i++) {
        enum graph_tone tone = operation_note(d, i)->tone;
        kind[i] = d->notes && d->notes->box ? (d->notes->box[i] + 1) * TONE_COUNT : 0;
        kind[i] += tone == TONE_FAIR ? TONE_GOOD : tone;
    }
    int r = graph_fold_find(g, kind, d->well_formed, &d->fold, w);
    free(kind);
    return r;
}

static int put_graph(struct dump *d, uint32_t index, struct why *w)
{
    const struct graph *g = &d->m->graph[index];
    d->index = index;
    d->g = g;
    d->notes = d->options->notes ? &d->options->notes[index] : NULL;
    d->fold = (struct graph_fold){ 0 };
    d->shown = calloc((size_t) g->n_operands + 1, sizeof *d->shown);
    d->reader = calloc((size_t) g->n_operands + 1, sizeof *d->reader);
    d->readers = calloc((size_t) g->n_operands + 1, sizeof *d->readers);
    d->well_formed = calloc((size_t) g->n_operations + 1, sizeof *d->well_formed);
    d->writer = graph_writers(g);
    d->in = list_positions(g->input, g->n_inputs, g->n_operands);
    d->out = list_positions(g->output, g->n_outputs, g->n_operands);
    uint32_t *n_readers = graph_readers(g);
    bool ok = d->shown && d->reader && d->readers && d->well_formed && d->writer && d->in &&
              d->out && n_readers;
    for (uint32_t i = 0; ok && i < g->n_operations; i++)
        d->well_formed[i] = operation_is_well_formed(g, &g->operation[i]);
    int failed = ok ? find_fold(d, w) : why_no_memory_for(w, "%" PRIu32 " operands", g->n_operands);
    if (!failed)
        put_nodes(d, n_readers);
    graph_fold_done(&d->fold);
    free(d->shown);
    free(d->reader);
    free(d->readers);
    free(d->well_formed);
    free(d->writer);
    free(d->in);
    free(d->out);
    free(n_readers);
    return failed;
}

/* ---- the whole */

static void put_key(enum graph_key key, FILE *to)
{
    static const struct {
        enum graph_key key;
        enum graph_tone tone;
        const char *text;
    } entries[] = {
        { GRAPH_KEY_RATIO, TONE_GOOD, "at most 1/4" },
        { GRAPH_KEY_RATIO, TONE_FAIR, "at most 3/4" },
        { GRAPH_KEY_RATIO, TONE_CLOSE, "at most 1" },
        { GRAPH_KEY_RATIO, TONE_WRONG, "wrong" },
        { GRAPH_KEY_RATIO, TONE_SKIPPED, "not compared" },
        { GRAPH_KEY_CHANGE, TONE_ADDED, "added" },
        { GRAPH_KEY_CHANGE, TONE_REMOVED, "removed" },
        { GRAPH_KEY_CHANGE, TONE_CHANGED, "changed" },
        { GRAPH_KEY_CHANGE, TONE_SAME, "the same" },
    };
    if (key == GRAPH_KEY_NONE)
        return;
    fprintf(to, "<BR/><FONT POINT-SIZE=\"9\">%s",
            key == GRAPH_KEY_RATIO ? "error / bound of each operation alone:" : "");
    for (int i = 0; i < COUNT(entries); i++)
        if (entries[i].key == key)
            fprintf(to, " <FONT COLOR=\"%s\">&#9632;</FONT> %s", color_of[entries[i].tone].head,
                    entries[i].text);
    fputs("</FONT>", to);
}

static void put_head(const struct dump *d, const char *name)
{
    /* A fixed-width font, whose text Graphviz can measure without knowing the reader's fonts. */
    fputs("digraph model {\n"
          "    graph [fontname=\"Courier\", fontsize=11, labelloc=t, labeljust=l, rankdir=TB, "
          "compound=true,\n"
          "        nodesep=0.2, ranksep=0.35, bgcolor=\"transparent\",\n        label=",
          d->to);
    const bool untitled = !*name && !d->m->relaxed && !d->options->subtitle && !d->options->key;
    fputs(untitled ? "\"" : "<<B>", d->to);
    text_put(d->to, TEXT_XML, name, 2 * NAME_MOST);
    fprintf(d->to, "%s%s", d->m->relaxed ? " (relaxed)" : "", untitled ? "" : "</B>");
    put_lines(d->to, "<BR/><FONT POINT-SIZE=\"9\">", d->options->subtitle, "</FONT>");
    put_key(d->options->key, d->to);
    fputs(untitled ? "\"" : ">", d->to);
    fputs("];\n    node [fontname=\"Courier\", fontsize=9, margin=\"0.12,0.06\", height=0.3];\n"
          "    edge [fontname=\"Courier\", fontsize=8, color=\"" GREY "\", "
          "fontcolor=\"" GREY "\", arrowsize=0.6];\n",
          d->to);
}

int graph_dump_dot(const struct model *m, const char *name,
                   const struct graph_dump_options *options, FILE *to, struct why *w)
{
    static const struct graph_dump_options defaults = { .mark_output = -1 };
    struct dump d = {
        .to = to,
        .m = m,
        .options = options ? options : &defaults,
        .valid = (options && options->is_merged) || model_validate(m, NULL) >= 0,
    };
    if (d.options->style == GRAPH_STYLE_ANDROID)
        return graph_android_dot(m, name, to, w);
    put_head(&d, name);
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
