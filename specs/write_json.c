#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <jansson.h>

#include "specs/element_text.h"
#include "specs/op_names.h"
#include "specs/specs.h"

static void put_string(const char *text, FILE *to)
{
    json_t *string = json_string(text);

    if (!string || json_dumpf(string, to, JSON_ENCODE_ANY) < 0)
        fputs("\"\"", to);
    json_decref(string);
}

static void put_base64(const uint8_t *data, size_t n, FILE *to)
{
    static const char digit[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    fputc('"', to);
    for (size_t i = 0; i < n; i += 3) {
        size_t k = n - i < 3 ? n - i : 3;
        uint32_t group = (uint32_t) data[i] << 16 | (k > 1 ? (uint32_t) data[i + 1] << 8 : 0) |
                         (k > 2 ? data[i + 2] : 0);
        fputc(digit[group >> 18], to);
        fputc(digit[group >> 12 & 63], to);
        fputc(k > 1 ? digit[group >> 6 & 63] : '=', to);
        fputc(k > 2 ? digit[group & 63] : '=', to);
    }
    fputc('"', to);
}

/* Numbers, or base64 where a value is infinite or NaN, which JSON cannot represent. */
static void put_values(const struct tensor *t, FILE *to)
{
    char text[ELEMENT_TEXT];
    size_t n = tensor_count(t);

    if (!all_finite(t)) {
        fputs(",\"bytes\":", to);
        put_base64(t->data, tensor_bytes(t), to);
        return;
    }
    fputs(",\"data\":[", to);
    for (size_t i = 0; i < n; i++) {
        bool real = element_kind(t->dtype) == ELEMENT_REAL;
        fprintf(to, "%s%s", i ? "," : "",
                real ? real_text(element_value(t, i), text) : integer_text(t, i, text));
    }
    fputc(']', to);
}

static void put_indexes(const char *key, const uint32_t *index, uint32_t n, FILE *to)
{
    fprintf(to, ",\"%s\":[", key);
    for (uint32_t i = 0; i < n; i++)
        fprintf(to, "%s%" PRIu32, i ? "," : "", index[i]);
    fputc(']', to);
}

static void put_quantisation(const struct tensor *t, FILE *to)
{
    char text[ELEMENT_TEXT];

    if (t->scale != 0)
        fprintf(to, ",\"scale\":%s", real_text((double) t->scale, text));
    if (t->zero != 0)
        fprintf(to, ",\"zero\":%" PRId32, t->zero);
    if (t->extension_length) {
        fputs(",\"extension\":", to);
        put_base64(t->extension, t->extension_length, to);
    }
    if (!t->channel_scale)
        return;
    fprintf(to, ",\"channel\":{\"dim\":%" PRIu32 ",\"scales\":[", t->channel_dim);
    for (uint32_t i = 0; i < t->n_channels; i++)
        fprintf(to, "%s%s", i ? "," : "", real_text((double) t->channel_scale[i], text));
    fputs("]}", to);
}

/* value: that of an input or output; NULL: none. */
static void put_operand(const struct operand *o, const struct tensor *value, bool ignored, FILE *to)
{
    const struct tensor *t = &o->tensor;
    char text[EXTENSION_TEXT];

    fprintf(to, "{\"type\":\"%s\"", type_name(t->dtype, text));
    if (o->name) {
        fputs(",\"name\":", to);
        put_string(o->name, to);
    }
    if (t->shape.rank > 0)
        put_indexes("dims", t->shape.dim, t->shape.rank, to);
    put_quantisation(t, to);
    fprintf(to, ",\"life\":\"%s\"", lifetime_name[o->life]);
    if (ignored)
        fputs(",\"ignored\":true", to);
    if (o->life == LIFE_SUBGRAPH)
        fprintf(to, ",\"data\":[%" PRIu32 "]", o->subgraph - 1);
    else if (value && value->data)
        put_values(value, to);
    else if (t->data)
        put_values(t, to);
    else if (o->life == LIFE_CONSTANT_COPY || o->life == LIFE_CONSTANT_REFERENCE)
        fputs(",\"data\":[]", to);
    fputc('}', to);
}

/* e: provides the values of inputs and outputs; NULL for a subgraph. */
static int put_operands(const struct graph *g, const struct example *e, FILE *to, struct why *w)
{
    int64_t *ins = list_positions(g->input, g->n_inputs, g->n_operands);
    int64_t *outs = list_positions(g->output, g->n_outputs, g->n_operands);
    for (uint32_t i = 0; ins && outs && i < g->n_operands; i++) {
        int64_t in = e && e->in ? ins[i] : -1, out = e && e->expected ? outs[i] : -1;
        const struct tensor *value = in >= 0 ? &e->in[in] : out >= 0 ? &e->expected[out] : NULL;
        fputs(i ? "," : "", to);
        put_operand(&g->operand[i], value, out >= 0 && e->ignored && e->ignored[out], to);
    }
    int failed = ins && outs ? 0 : why_no_memory_for(w, "%" PRIu32 " operands", g->n_operands);
    free(ins);
    free(outs);
    return failed;
}

/* e: as above. */
static int put_graph(const struct graph *g, const struct example *e, FILE *to, struct why *w)
{
    fputs("{\"operands\":[", to);
    TRY(put_operands(g, e, to, w));
    fputs("],\"operations\":[", to);
    for (uint32_t i = 0; i < g->n_operations; i++) {
        const struct operation *op = &g->operation[i];
        char text[EXTENSION_TEXT];
        const char *name = op_name(op->code, text);
        if (!name)
            return why_fail(w, WHY_UNSUPPORTED,
                            "operation %" PRIu32 ": code %" PRId32 " has no name", i, op->code);
        fprintf(to, "%s{\"op\":\"%s\"", i ? "," : "", name);
        put_indexes("in", op->in, op->n_in, to);
        put_indexes("out", op->out, op->n_out, to);
        fputc('}', to);
    }
    fputc(']', to);
    put_indexes("inputs", g->input, g->n_inputs, to);
    put_indexes("outputs", g->output, g->n_outputs, to);
    fputc('}', to);
    return 0;
}

int specs_write_json(const struct example *e, FILE *to, struct why *w)
{
    fputs("{\"name\":", to);
    put_string(e->name ? e->name : "", to);
    fputs(",\"since\":", to);
    put_string(e->since ? e->since : "UNKNOWN", to);
    if (e->model.relaxed)
        fputs(",\"relaxed\":true", to);
    if (e->expect_failure)
        fputs(",\"expect_failure\":true", to);
    if (e->multinomial_tolerance > 0)
        fprintf(to, ",\"multinomial_tolerance\":%.17g", e->multinomial_tolerance);
    fputs(",\"main\":", to);
    TRY(put_graph(&e->model.graph[0], e, to, w));
    for (uint32_t i = 1; i < e->model.n_graphs; i++) {
        fputs(i == 1 ? ",\"referenced\":[" : ",", to);
        TRY(put_graph(&e->model.graph[i], NULL, to, w));
    }
    fputs(e->model.n_graphs > 1 ? "]}" : "}", to);
    return ferror(to) ? why_fail(w, WHY_SYSTEM, "writing: %s", strerror(errno)) : 0;
}
