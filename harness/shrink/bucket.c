#include "harness/shrink/bucket.h"

#include <stdio.h>

#include "harness/check/buffer.h"

/* The value of a scalar attribute that does nothing; -1: a value that an operation cannot be
 * without, such as the size of a window. */
static double plain_value(const struct role *r)
{
    switch (r->draw) {
    case DRAW_STRIDE:
    case DRAW_DILATION:
    case DRAW_MULTIPLIER: return 1;
    case DRAW_PAD:
    case DRAW_ACTIVATION:
    case DRAW_FLAG: return 0;
    default: return r->optional ? r->otherwise : -1;
    }
}

static void put_attributes(const struct call *call, char *text)
{
    bool any = false;
    for (uint32_t k = 0; k < call->n_in; k++) {
        const struct role *r = candidate_role(call, k);
        const struct tensor *t = call->arg[k];
        double plain = plain_value(r);
        if (r->dims || !t || !t->data || (plain < 0 && !r->optional))
            continue;
        double value = tensor_at(t, 0);
        if (value >= plain && value <= plain)
            continue;
        text_append(text, SHRINK_BUCKET, "%s%s", any ? ", " : "; ", r->name);
        any = true;
    }
}

void bucket_name(const struct candidate *c, const struct check_result *r, char name[SHRINK_BUCKET])
{
    snprintf(name, SHRINK_BUCKET, "%s", verdict_name[r->verdict]);
    for (uint32_t g = 0; g < c->e.model.n_graphs; g++) {
        const struct graph *graph = &c->e.model.graph[g];
        for (uint32_t i = 0; i < graph->n_operations; i++) {
            char text[48];
            struct call call;
            text_append(name, SHRINK_BUCKET, " %s(%s",
                        operation_name(graph->operation[i].code, text),
                        operation_type(graph, &graph->operation[i]));
            if (candidate_bind(c, g, i, &call))
                put_attributes(&call, name);
            text_append(name, SHRINK_BUCKET, ")");
        }
    }
}
