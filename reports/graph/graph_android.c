#include "reports/graph/graph_android.h"

#include <inttypes.h>
#include <stdlib.h>

#include "golden/base/text_escape.h"
#include "reports/graph/graph_parts.h"

/* Types that have a short name there; all others have their full one. */
static const char *short_type(const struct operand *o)
{
    switch ((int) o->tensor.dtype) {
    case DT_FLOAT32:
    case DT_INT32:
    case DT_UINT32:
    case DT_F32:
    case DT_I32:
    case DT_U8: return dtype_info[o->tensor.dtype].brief;
    default: return NULL;
    }
}

static void put_life(const struct operand *o, int64_t in, int64_t out, FILE *to)
{
    if (in >= 0)
        fprintf(to, " = input[%" PRId64 "]", in);
    if (out >= 0)
        fprintf(to, " = output[%" PRId64 "]", out);
    if (in >= 0 || out >= 0)
        return;
    switch (o->life) {
    case LIFE_CONSTANT_COPY: fputs(": COPY", to); break;
    case LIFE_CONSTANT_REFERENCE: fputs(": REF", to); break;
    case LIFE_NO_VALUE: fputs(": NO", to); break;
    case LIFE_SUBGRAPH: fputs(": SUBGRAPH", to); break;
    default: break;
    }
}

static void put_operand(const struct operand *o, uint32_t i, int64_t in, int64_t out, FILE *to)
{
    const struct dtype_info *type = dtype_find(o->tensor.dtype);
    const char *brief = short_type(o);

    fprintf(to, "    d%" PRIu32 " [", i);
    if (in >= 0 || out >= 0)
        fputs("style=filled fillcolor=black fontcolor=white ", to);
    fprintf(to, "label=\"%" PRIu32, i);
    put_life(o, in, out, to);
    fputs("\\n", to);
    if (brief)
        fputs(brief, to);
    else if (type && o->tensor.dtype != DT_FOREIGN)
        fputs(type->name, to);
    else
        operand_put_type(o, to);
    if (o->life == LIFE_CONSTANT_COPY && operand_is_scalar(o) && o->length == 4 &&
        operand_is_readable(o)) {
        fputs(" = ", to);
        operand_put_value(o, 0, to);
    }
    if (type && type->tensor && o->tensor.shape.rank && o->tensor.shape.rank <= MAX_RANK) {
        fputs("(", to);
        for (uint32_t k = 0; k < o->tensor.shape.rank; k++)
            fprintf(to, "%s%" PRIu32, k ? "x" : "", o->tensor.shape.dim[k]);
        fputs(")", to);
    }
    fputs("\"]\n", to);
}

static void put_operation(const struct model *m, const struct operation *p, uint32_t i, FILE *to)
{
    const struct operation_title title = operation_title(m, p);

    fprintf(to, "    n%" PRIu32 " [shape=box", i);
    if (p->n_in > 1 || p->n_out > 1)
        fprintf(to, " ordering=%s", p->n_in > p->n_out ? "in" : "out");
    fprintf(to, " label=\"%" PRIu32 ": ", i);
    text_put(to, TEXT_XML, title.name, 0);
    fputs("\"]\n", to);
    for (uint32_t k = 0; k < p->n_in; k++) {
        fprintf(to, "    d%" PRIu32 " -> n%" PRIu32, p->in[k], i);
        fprintf(to, p->n_in > 1 ? " [label=%" PRIu32 "]\n" : "\n", k);
    }
    for (uint32_t k = 0; k < p->n_out; k++) {
        fprintf(to, "    n%" PRIu32 " -> d%" PRIu32, i, p->out[k]);
        fprintf(to, p->n_out > 1 ? " [label=%" PRIu32 "]\n" : "\n", k);
    }
}

int graph_android_dot(const struct model *m, const char *name, FILE *to, struct why *w)
{
    const struct graph *g = &m->graph[0];
    int64_t *in = list_positions(g->input, g->n_inputs, g->n_operands);
    int64_t *out = list_positions(g->output, g->n_outputs, g->n_operands);
    bool ok = in && out;

    fputs("// ", to);
    text_put(to, TEXT_TERMINAL, name, 0);
    fputs("\ndigraph {\n", to);
    if (m->n_graphs > 1)
        fprintf(to, "// %" PRIu32 " subgraphs are left out;\n// only the main graph is drawn\n",
                m->n_graphs - 1);
    for (uint32_t i = 0; ok && i < g->n_operands; i++)
        put_operand(&g->operand[i], i, in[i], out[i], to);
    for (uint32_t i = 0; ok && i < g->n_operations; i++)
        put_operation(m, &g->operation[i], i, to);
    fputs("}\n", to);
    free(in);
    free(out);
    if (!ok)
        return why_no_memory_for(w, "%" PRIu32 " operands", g->n_operands);
    return ferror(to) ? why_fail(w, WHY_SYSTEM, "graph cannot be written") : 0;
}
