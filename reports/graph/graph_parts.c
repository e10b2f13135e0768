#include "reports/graph/graph_parts.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "golden/base/text_escape.h"

/* ---- roles */

bool operation_is_well_formed(const struct graph *g, const struct operation *call)
{
    for (uint32_t i = 0; i < call->n_in + call->n_out; i++) {
        uint32_t at = i < call->n_in ? call->in[i] : call->out[i - call->n_in];
        if (at >= g->n_operands)
            return false;
        const struct tensor *t = &g->operand[at].tensor;
        if (!dtype_find(t->dtype) || t->shape.rank > MAX_RANK)
            return false;
    }
    return true;
}

struct described graph_describe(const struct graph *g, const struct operation *call,
                                bool well_formed)
{
    struct described s = { .call = call, .op = op_find(call->code) };
    uint32_t n = call->n_in, m = call->n_out;
    if (!s.op || !well_formed)
        return s;
    const struct tensor **in = calloc((size_t) n + 1, sizeof *in);
    struct tensor *shapes = calloc((size_t) m + 1, sizeof *shapes);
    struct tensor **out = calloc((size_t) m + 1, sizeof *out);
    if (in && shapes && out) {
        for (uint32_t i = 0; i < n; i++) {
            const struct operand *o = &g->operand[call->in[i]];
            in[i] = operand_omitted(o) ? NULL : &o->tensor;
        }
        for (uint32_t i = 0; i < m; i++) {
            shapes[i] = g->operand[call->out[i]].tensor;
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

const struct role *described_in(const struct described *s, uint32_t i)
{
    const struct call *b = &s->bound;
    if (!b->form)
        return NULL;
    if (b->n_many > 0 && i > b->many_at)
        i = i < b->many_at + b->n_many ? b->many_at : i - b->n_many + 1;
    return i < (uint32_t) form_len(b->form) ? &s->op->in[b->form->role[i]] : NULL;
}

const struct role *described_out(const struct described *s, uint32_t i)
{
    if (!s->bound.form || s->op->n_out < 1)
        return NULL;
    uint32_t last = (uint32_t) s->op->n_out - 1;
    return &s->op->out[i < last ? i : last];
}

const char *role_meaning(const struct role *role, const struct operand *o)
{
    static const char *const activation[] = { "none", "RELU", "RELU1", "RELU6" };
    static const char *const scheme[] = { NULL, "SAME", "VALID" };
    if (!role || o->tensor.dtype != DT_INT32 || o->length != sizeof(int32_t) || !o->tensor.data)
        return NULL;
    int32_t value;
    memcpy(&value, o->tensor.data, sizeof(value));
    if (role->draw == DRAW_ACTIVATION && value >= 0 && value < COUNT(activation))
        return activation[value];
    if (role->draw == DRAW_SCHEME && value >= 0 && value < COUNT(scheme))
        return scheme[value];
    return NULL;
}

/* ---- operands */

bool operand_is_readable(const struct operand *o)
{
    const struct tensor *t = &o->tensor;
    const struct dtype_info *type = dtype_find(t->dtype);
    return type && type->codec && type->codec->size && t->data && t->shape.rank <= MAX_RANK &&
           shape_check_size(&t->shape, type->codec->size) >= 0 && o->length &&
           o->length == tensor_bytes(t);
}

bool operand_is_scalar(const struct operand *o)
{
    const struct dtype_info *type = dtype_find(o->tensor.dtype);
    return operand_constant(o) && type && !type->tensor;
}

double operand_stored(const struct operand *o, size_t i)
{
    struct tensor stored = o->tensor;
    stored.scale = 1;
    stored.zero = 0;
    stored.channel_scale = NULL;
    return tensor_at(&stored, i);
}

void operand_put_value(const struct operand *o, size_t i, FILE *to)
{
    double value = operand_stored(o, i);
    if (o->tensor.dtype == DT_BOOL)
        fputs(value != 0 ? "true" : "false", to);
    else
        fprintf(to, "%.9g", value);
}

void operand_put_type(const struct operand *o, FILE *to)
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

void operand_put_quantisation(const struct operand *o, const char *before, FILE *to)
{
    const struct tensor *t = &o->tensor;
    const struct dtype_info *type = dtype_find(t->dtype);
    if (t->extension_length)
        fprintf(to, "%s%zu bytes of extension data", before, t->extension_length);
    if (!type || type->quant == QUANT_NONE)
        return;
    if (type->quant == QUANT_CHANNEL)
        fprintf(to, "%s%" PRIu32 " scales along dimension %" PRIu32, before, t->n_channels,
                t->channel_dim);
    else if (type->quant != QUANT_BIAS || t->scale != 0)
        fprintf(to, "%sscale %.7g, zero %" PRId32, before, (double) t->scale, t->zero);
}

/* ---- operations */

struct operation_title operation_title(const struct model *m, const struct operation *call)
{
    struct operation_title t = { "", "" };
    const struct op *op = op_find(call->code);
    const uint32_t code = (uint32_t) call->code;

    if (op) {
        snprintf(t.name, sizeof t.name, "%s", op->name);
        if (code >> 16)
            snprintf(t.extension, sizeof t.extension, "%s", extension_name[code >> 16]);
        return t;
    }
    if (code == OEM_CODE) {
        snprintf(t.name, sizeof t.name, "%s", extension_op(EXTENSION_CODE(oem, 0))->name);
        return t;
    }
    snprintf(t.name, sizeof t.name, "operation %" PRId32, call->code);
    for (uint32_t i = 0; i < m->n_extensions; i++)
        if (m->extension[i].prefix && m->extension[i].prefix == code >> 16) {
            const char *of = m->extension[i].name;
            snprintf(t.name, sizeof t.name, "%.40s %" PRIu32, of ? of : "", code & 0xffff);
            text_clean(t.name);
            break;
        }
    return t;
}

uint32_t *graph_writers(const struct graph *g)
{
    uint32_t *writer = malloc(((size_t) g->n_operands + 1) * sizeof *writer);
    for (uint32_t i = 0; writer && i <= g->n_operands; i++)
        writer[i] = GRAPH_NONE;
    for (uint32_t i = 0; writer && i < g->n_operations; i++)
        for (uint32_t k = 0; k < g->operation[i].n_out; k++) {
            uint32_t o = g->operation[i].out[k];
            if (o < g->n_operands)
                writer[o] = writer[o] == GRAPH_NONE ? i : GRAPH_SEVERAL;
        }
    return writer;
}

uint32_t *graph_readers(const struct graph *g)
{
    uint32_t *n = calloc((size_t) g->n_operands + 1, sizeof *n);
    for (uint32_t i = 0; n && i < g->n_operations; i++)
        for (uint32_t k = 0; k < g->operation[i].n_in; k++)
            if (g->operation[i].in[k] < g->n_operands)
                n[g->operation[i].in[k]]++;
    return n;
}
