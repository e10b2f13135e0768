/* Values of operands as short text. */
#include <math.h>
#include <stdio.h>

#include "harness/check/part.h"
#include "harness/check/per_op_check.h"
#include "harness/dump/dump_notes.h"
#include "harness/explain/value_text.h"

enum { SHOWN = 4 };

const char *values_text(const struct tensor *t, char text[VALUES_TEXT])
{
    const size_t n = tensor_count(t);
    size_t finite = 0, not_finite = 0;
    double least = INFINITY, most = -INFINITY, sum = 0;
    char value[VALUE_TEXT];

    text[0] = 0;
    if (!n)
        return text_append(text, VALUES_TEXT, "no elements");
    for (size_t i = 0; i < n && n <= SHOWN; i++)
        text_append(text, VALUES_TEXT, "%s%s", i ? ", " : "", value_text(t, i, value));
    if (n <= SHOWN)
        return text;
    for (size_t i = 0; i < n; i++) {
        const double v = tensor_at(t, i);
        if (!isfinite(v)) {
            not_finite++;
            continue;
        }
        finite++;
        least = fmin(least, v);
        most = fmax(most, v);
        sum += v;
    }
    if (finite)
        text_append(text, VALUES_TEXT, "min %.4g, max %.4g, mean %.4g", least, most,
                    sum / (double) finite);
    if (not_finite)
        text_append(text, VALUES_TEXT, "%s%zu infinite or NaN", finite ? ", " : "", not_finite);
    return text;
}

static bool has_values(const struct tensor *t)
{
    return t->data && dtype_info[t->dtype].codec->size;
}

/* Constants whose few values the graph shows anyway are left out. */
static bool is_shown_anyway(const struct operand *o)
{
    enum { IN_GRAPH = 6 };
    return operand_constant(o) &&
           (!dtype_info[o->tensor.dtype].tensor || tensor_count(&o->tensor) <= IN_GRAPH);
}

int dump_notes_values(struct dump_notes *n, struct why *w)
{
    struct check c;
    char text[VALUES_TEXT];
    const struct graph *g = &n->e->model.graph[0];

    TRY(check_begin(&c, n->e, JUDGE_BOUND, w));
    check_reference(&c);
    int failed = check_parts(&c, w);
    for (uint32_t i = 0; !failed && i < g->n_operands; i++) {
        const struct operand *o = &g->operand[i];
        const struct tensor *t = operand_constant(o) ? &o->tensor : &c.parts->value[i];
        if (has_values(t) && !is_shown_anyway(o) && o->life != LIFE_SUBGRAPH)
            dump_note_add(n, &n->operand[0][i], "%s%s",
                          operand_constant(o)     ? ""
                          : o->life == LIFE_INPUT ? "= "
                                                  : "reference: ",
                          values_text(t, text));
    }
    check_done(&c);
    return failed;
}
