#include "harness/check/signature.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "golden/edit/edit.h"
#include "harness/check/check.h"

/* ---- the text */

/* A list in which equal neighbours are one item: "2 x TENSOR_FLOAT32[4]". */
struct list {
    char *text;
    size_t size;
    const char *before; /* what precedes the next item */
    char item[96];
    uint32_t n; /* times that the item was added, and is not written yet */
};

static void write_item(struct list *l)
{
    char times[16] = "";

    if (!l->n)
        return;
    if (l->n > 1)
        snprintf(times, sizeof times, "%u x ", l->n);
    text_append(l->text, l->size, "%s%s%s", l->before, times, l->item);
    l->before = ", ";
    l->n = 0;
}

static void add_item(struct list *l, const char *item)
{
    if (l->n && strcmp(l->item, item) != 0)
        write_item(l);
    snprintf(l->item, sizeof l->item, "%s", item);
    l->n++;
}

static bool is_constant(const struct operand *o)
{
    return o->life == LIFE_CONSTANT_COPY || o->life == LIFE_CONSTANT_REFERENCE;
}

static void add_tensor(struct list *l, const struct operand *o)
{
    const struct dtype_info *d = dtype_find((int32_t) o->tensor.dtype);
    char item[96], rank[16] = "?";

    if (o->tensor.shape.rank)
        snprintf(rank, sizeof rank, "%u", o->tensor.shape.rank);
    snprintf(item, sizeof item, "%s%s[%s]", is_constant(o) ? "constant " : "",
             d ? d->name : "of an extension", rank);
    add_item(l, item);
}

/* The value that a driver supports if it supports any; NAN: each is as plain as any other. */
static double plainest(const struct role *r, bool is_layout)
{
    switch (r->draw) {
    case DRAW_DILATION:
    case DRAW_MULTIPLIER: return 1;
    case DRAW_ACTIVATION:
    case DRAW_FLAG: return 0;
    default: return is_layout ? 0 : (double) NAN;
    }
}

/* A scalar, where it is not constant or not plain. */
static void add_scalar(struct list *l, const struct operand *o, const struct op *op,
                       const struct role *r)
{
    const double plain = plainest(r, op->layout && r == &op->in[op->layout - 1]);
    char item[96];

    if (!o->tensor.data) {
        snprintf(item, sizeof item, "%s not constant", r->name);
        add_item(l, item);
        return;
    }
    const double value = tensor_at(&o->tensor, 0);
    snprintf(item, sizeof item, "%s %g", r->name, value);
    if (!isnan(plain) && (value < plain || value > plain))
        add_item(l, item);
}

static void add_input(struct list *l, const struct operand *o, const struct op *op,
                      const struct role *r)
{
    const struct dtype_info *d = dtype_find((int32_t) o->tensor.dtype);

    if (operand_omitted(o))
        add_item(l, "none");
    else if (o->life == LIFE_SUBGRAPH)
        add_item(l, "subgraph");
    else if (r && !r->dims && d && !d->tensor)
        add_scalar(l, o, op, r);
    else if (r || !d || d->tensor)
        add_tensor(l, o);
    else
        add_item(l, d->name);
}

/* What holds of any tensor of the call. */
static void put_remarks(const struct model *m, const struct graph *g, const struct operation *o,
                        char *text, size_t size)
{
    bool unknown = false, is_float = false;

    for (uint32_t i = 0; i < o->n_in + o->n_out; i++) {
        const struct operand *k = &g->operand[i < o->n_in ? o->in[i] : o->out[i - o->n_in]];
        const struct dtype_info *d = dtype_find((int32_t) k->tensor.dtype);
        if (!d || !d->tensor || operand_omitted(k))
            continue;
        is_float |= k->tensor.dtype == DT_F32;
        unknown |= !is_constant(k) && !shape_known(&k->tensor.shape);
    }
    if (m->relaxed && is_float)
        text_append(text, size, "; relaxed");
    if (unknown)
        text_append(text, size, "; unknown dimensions");
}

void operation_signature(const struct model *m, const struct graph *g, const struct operation *o,
                         char *ret_text, size_t size)
{
    struct arena *a = arena_new(0);
    struct list in = { .text = ret_text, .size = size, .before = ": " };
    struct list out = { .text = ret_text, .size = size, .before = " -> " };
    struct call call;
    char name[48];
    const bool bound = a && bind_operation(g, o, a, &call);

    snprintf(ret_text, size, "%s", operation_name(o->code, name));
    if (bound && call.op->n_forms > 1 && call.form->name)
        text_append(ret_text, size, " (%s)", call.form->name);
    for (uint32_t i = 0; i < o->n_in; i++)
        add_input(&in, &g->operand[o->in[i]], bound ? call.op : NULL,
                  bound ? call_role(&call, i) : NULL);
    write_item(&in);
    for (uint32_t i = 0; i < o->n_out; i++)
        add_tensor(&out, &g->operand[o->out[i]]);
    write_item(&out);
    put_remarks(m, g, o, ret_text, size);
    if (strlen(ret_text) + 1 == size)
        memcpy(ret_text + size - 4, "...", 4);
    arena_free(a);
}
