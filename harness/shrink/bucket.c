#include "harness/shrink/bucket.h"

#include <stdio.h>
#include <string.h>

#include "harness/check/buffer.h"

static bool has_default(const struct role *r)
{
    return r->optional || r->otherwise > 0 || r->otherwise < 0;
}

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
    default: return has_default(r) ? r->otherwise : -1;
    }
}

static void put_attributes(const struct call *call, char *text)
{
    bool any = false;
    for (uint32_t k = 0; k < call->n_in; k++) {
        const struct role *r = call_role(call, k);
        const struct tensor *t = call->arg[k];
        double plain = plain_value(r);
        if (r->dims || !t || !t->data || (plain < 0 && !has_default(r)))
            continue;
        double value = tensor_at(t, 0);
        if (value >= plain && value <= plain)
            continue;
        text_append(text, SHRINK_BUCKET, "%s%s", any ? ", " : "; ", r->name);
        any = true;
    }
}

/* "; in the way burst,shift": without numbers. */
static void put_way(const struct variation *v, char *text)
{
    char way[VARIATION_TEXT], *to = way;
    for (const char *at = variation_text(v, way); *at; at++)
        if (*at == '=')
            at += strcspn(at, ",") - 1;
        else
            *to++ = *at;
    *to = 0;
    text_append(text, SHRINK_BUCKET, " in the way %s", way);
}

void bucket_name(const struct shrink_candidate *c, const struct check_result *r,
                 const struct shrunk *s, char name[SHRINK_BUCKET])
{
    snprintf(name, SHRINK_BUCKET, "%s", verdict_name[r->verdict]);
    const struct graph *g = &c->e.model.graph[0];
    for (uint32_t i = 0; i < g->n_operations && !s->is_any; i++) {
        char text[48];
        struct call call;
        text_append(name, SHRINK_BUCKET, " %s(%s", operation_name(g->operation[i].code, text),
                    operation_type(g, &g->operation[i]));
        if (candidate_bind(c, 0, i, &call))
            put_attributes(&call, name);
        text_append(name, SHRINK_BUCKET, ")");
    }
    if (s->is_varied)
        put_way(&s->variation, name);
}
