#include "harness/shrink/symptom.h"

#include <stdio.h>
#include <string.h>

#include "harness/shrink/shrink.h"
#include "harness/shrink/trial.h"

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

bool has_attribute(const struct call_attributes *a, const char *name)
{
    for (int i = 0; i < a->n; i++)
        if (!strcmp(a->name[i], name))
            return true;
    return false;
}

bool has_hypothesis(const struct matching *m, const char *name)
{
    for (int i = 0; i < m->n; i++)
        if (!strcmp(m->name[i], name))
            return true;
    return false;
}

static void add_attribute(struct call_attributes *a, const char *role)
{
    char name[SYMPTOM_ATTRIBUTE];
    snprintf(name, sizeof name, "%.*s", (int) name_length(role), role);
    if (a->n < SYMPTOM_ATTRIBUTES && !has_attribute(a, name))
        memcpy(a->name[a->n++], name, sizeof name);
}

/* Whether an operand has another shape than the first one, and not both have one element. */
static bool is_broadcast(const struct call *call, uint32_t k)
{
    const struct tensor *a = call->arg[0], *b = call->arg[k];
    return call_role(call, k)->draw == DRAW_BROADCAST && a && b &&
           (tensor_count(a) > 1 || tensor_count(b) > 1) && !shape_equal(&a->shape, &b->shape);
}

/* Whether an attribute decides how many outputs there are: a search that only makes cases smaller
 * keeps it as it was drawn, whether it matters or not. */
static bool decides_outputs(const struct role *r)
{
    return !strcmp(r->name, "merge_outputs");
}

/* Whether an operation has several sequences of several steps, which a mistake about their order
 * needs. */
static bool has_sequences(const struct call *call, uint32_t k)
{
    const struct shape *s = call->arg[0] ? &call->arg[0]->shape : NULL;
    return !strcmp(call_role(call, k)->name, "time_major") && s && s->rank == 3 && s->dim[0] > 1 &&
           s->dim[1] > 1;
}

void attributes_of(const struct call *call, struct call_attributes *ret)
{
    *ret = (struct call_attributes){ 0 };
    for (uint32_t k = 0; k < call->n_in; k++) {
        const struct role *r = call_role(call, k);
        const struct tensor *t = call->arg[k];
        double plain = plain_value(r);
        if (is_broadcast(call, k))
            add_attribute(ret, "broadcast");
        if (has_sequences(call, k))
            add_attribute(ret, "sequences");
        if (r->dims || decides_outputs(r) || !t || !t->data || (plain < 0 && !has_default(r)))
            continue;
        double value = tensor_at(t, 0);
        if (value < plain || value > plain)
            add_attribute(ret, r->name);
    }
}

const char *symptom_type(const struct graph *g, const struct operation *o)
{
    const char *type = operation_type(g, o);
    return !strcmp(type, "TENSOR_QUANT8_ASYMM_SIGNED") ? "TENSOR_QUANT8_ASYMM" : type;
}

/* Constants of integers mostly are attributes. */
static void put_shapes(const struct edit *c, const struct call *call, struct symptom *s)
{
    const struct graph *g = &c->e.model.graph[0];
    for (uint32_t k = 0; k < call->n_in; k++) {
        const struct operand *o = &g->operand[g->operation[0].in[k]];
        const struct role *r = call_role(call, k);
        char text[SHAPE_TEXT];
        if (r->dims && call->arg[k] && tensor_count(call->arg[k]) > 1 &&
            !(operand_constant(o) && o->tensor.dtype == DT_I32))
            text_append(s->shapes, sizeof s->shapes, "%s%s ", r->name,
                        shape_text(&call->arg[k]->shape, text));
    }
}

char *symptom_way(const struct variation *v, char ret[VARIATION_TEXT])
{
    char *to = ret;
    for (const char *at = variation_text(v, ret); *at; at++)
        if (*at == '=')
            at += strcspn(at, ",") - 1;
        else
            *to++ = *at;
    *to = 0;
    return ret;
}

void symptom_of(const struct edit *c, const struct shrunk *s, struct symptom *ret)
{
    const struct graph *g = &c->e.model.graph[0];
    const struct trial_kind kind = trial_kind_of(&s->result);
    struct call call;

    *ret = (struct symptom){ .code = -1,
                             .verdict = kind.verdict,
                             .is_accepted = !strcmp(s->result.stage, "execute") ||
                                            !strcmp(s->result.stage, "done"),
                             .is_any = s->is_any,
                             .everywhere = s->everywhere };
    if (s->is_varied)
        symptom_way(&s->variation, ret->way);
    snprintf(ret->failure, sizeof ret->failure, "%s%s %s", verdict_name[kind.verdict],
             c->e.expect_failure && kind.verdict == VERDICT_FAIL ? " to reject" : "", kind.text);
    if (g->n_outputs > 1 && s->result.output > 0)
        ret->later_output = s->result.output;
    for (uint32_t i = 0; g->n_operations > 1 && i < g->n_operations && i < SYMPTOM_SEVERAL; i++)
        ret->several[ret->n_several++] = g->operation[i].code;
    if (g->n_operations != 1 || s->is_any || !edit_bind(c, 0, 0, &call))
        return;
    ret->code = g->operation[0].code;
    snprintf(ret->type, sizeof ret->type, "%s", symptom_type(g, &g->operation[0]));
    for (uint32_t i = 1; i < c->e.model.n_graphs; i++)
        ret->is_compound = ret->is_compound || c->e.model.graph[i].n_operations > 1;
    attributes_of(&call, &ret->attributes);
    put_shapes(c, &call, ret);
}
