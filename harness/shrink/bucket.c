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

/* The length of an attribute's name without its side or dimension, which mostly share a mistake:
 * of "stride" in "stride_width". */
static size_t name_length(const char *name)
{
    static const char *const sides[] = {
        "_width", "_height", "_left", "_right", "_top", "_bottom"
    };
    const char *end = strrchr(name, '_');
    for (int i = 0; end && i < COUNT(sides); i++)
        if (!strcmp(end, sides[i]))
            return (size_t) (end - name);
    return strlen(name);
}

static void put_attributes(const struct call *call, char *text)
{
    char last[48] = ""; /* name */
    for (uint32_t k = 0; k < call->n_in; k++) {
        const struct role *r = call_role(call, k);
        const struct tensor *t = call->arg[k];
        double plain = plain_value(r);
        if (r->dims || !t || !t->data || (plain < 0 && !has_default(r)))
            continue;
        double value = tensor_at(t, 0);
        if (value >= plain && value <= plain)
            continue;
        const size_t length = name_length(r->name);
        if (length != strlen(last) || strncmp(r->name, last, length) != 0)
            text_append(text, SHRINK_BUCKET, "%s%.*s", *last ? ", " : "; ", (int) length, r->name);
        snprintf(last, sizeof last, "%.*s", (int) length, r->name);
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

/* One mistake mostly concerns signed and unsigned values alike. */
static const char *type_name(const struct graph *g, const struct operation *o)
{
    const char *type = operation_type(g, o);
    return !strcmp(type, "TENSOR_QUANT8_ASYMM_SIGNED") ? "TENSOR_QUANT8_ASYMM" : type;
}

void bucket_name(const struct edit *c, const struct check_result *r, const struct shrunk *s,
                 char name[SHRINK_BUCKET])
{
    snprintf(name, SHRINK_BUCKET, "%s", verdict_name[r->verdict]);
    const struct graph *g = &c->e.model.graph[0];
    for (uint32_t i = 0; i < g->n_operations && !s->is_any; i++) {
        char text[48];
        struct call call;
        text_append(name, SHRINK_BUCKET, " %s(%s", operation_name(g->operation[i].code, text),
                    type_name(g, &g->operation[i]));
        if (edit_bind(c, 0, i, &call))
            put_attributes(&call, name);
        text_append(name, SHRINK_BUCKET, ")");
    }
    if (s->is_varied)
        put_way(&s->variation, name);
}
