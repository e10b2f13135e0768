/* Writes a specification that yields exactly one test, with operands and operations in the model's
 * order:
 *
 *     g1_i0 = Input("g1_i0", ("TENSOR_FLOAT32", [2, 3]))   one line per operand
 *     g1 = Model("g1")                                     subgraphs before graphs that use them
 *     g1.IdentifyInputs(g1_i0)
 *     g1.Operation("ADD", g1_i0, g1_c2, g1_c3).To(g1_o1)
 *     main = Model()
 *     Example(({i0: [...]}, {o1: [...]}), model=main).DisableLifeTimeVariation()
 *
 * It uses only the documented language, and float("nan") or float("inf") where needed. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "golden/base/array.h"
#include "specs/element_text.h"
#include "specs/op_names.h"
#include "specs/specs.h"
#include "specs/values.h"

enum { WIDTH = 100, NAME = MODPY_NAME };

struct writer {
    const struct example *e;
    const struct modpy_names *names; /* NULL: none */
    struct modpy_lists *lists;       /* NULL: written as text */
    FILE *to;
    bool shared;   /* current value of Configuration.use_shm_for_weights */
    uint8_t *seen; /* per graph: 0 not yet, 1 being written, 2 written */
    int64_t *out;  /* of the main graph: list_positions() of its outputs */
};

/* An operand's variable: its given name, or a letter for the lifetime and the index; in subgraphs
 * after "g<graph>_". */
static const char *variable(const struct writer *w, uint32_t g, uint32_t i, char name[NAME])
{
    static const char letter[LIFE_COUNT] = { 't', 'i', 'o', 'c', 'c', 'n', 's' };
    char of = letter[w->e->model.graph[g].operand[i].life], text[REAL_TEXT];

    if (g == 0 && w->names) {
        snprintf(name, NAME, "%s", w->names->name[i]);
        return name;
    }
    char *at = name;
    if (g > 0) {
        *at++ = 'g';
        at = stpcpy(at, whole_text(g, text));
        *at++ = '_';
    }
    *at++ = of;
    strcpy(at, whole_text(i, text));
    return name;
}

/* Most of a specification is written without formats, which take ten times as long. */
static void put_texts(FILE *to, const char *const *text, int n)
{
    for (int i = 0; i < n; i++)
        fputs(text[i], to);
}

static bool is_plain_name(const char *name)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    return name && *name && strlen(name) < 64 && strspn(name, letters) == strlen(name);
}

/* An element as a Python expression. */
static const char *python_element(const struct tensor *t, size_t i, char text[ELEMENT_TEXT])
{
    double value = element_value(t, i);

    switch (element_kind(t->dtype)) {
    case ELEMENT_BOOL:
        if (t->dtype == DT_B8 && ((const uint8_t *) t->data)[i] > 1)
            return integer_text(t, i, text);
        return value != 0 ? "True" : "False";
    case ELEMENT_INTEGER: return integer_text(t, i, text);
    case ELEMENT_REAL: break;
    }
    if (isfinite(value))
        return real_text(value, text);
    snprintf(text, ELEMENT_TEXT, "float(\"%s%s\")", signbit(value) ? "-" : "",
             isnan(value) ? "nan" : "inf");
    return text;
}

/* Writes a mark for the list of t. */
static void put_mark(struct writer *w, const struct tensor *t)
{
    struct modpy_lists *l = w->lists;

    const struct tensor **list = array_room(l->list, l->n, sizeof(*list));
    if (!list) {
        l->failed = true;
        return;
    }
    l->list = list;
    l->list[l->n++] = t;
    fputc(MODPY_LIST, w->to);
}

/* [1, 2, ...], wrapped at WIDTH columns. */
static void put_values(struct writer *w, const struct tensor *t)
{
    size_t n = t->data ? tensor_count(t) : 0, column = WIDTH / 2;
    char text[ELEMENT_TEXT];

    if (w->lists && n > 1 && !has_other_truths(t)) {
        put_mark(w, t);
        return;
    }
    fputc('[', w->to);
    for (size_t i = 0; i < n; i++) {
        const char *element = python_element(t, i, text);
        bool wrap = column + strlen(element) + 2 > WIDTH;
        fputs(!i ? (wrap ? "\n    " : "") : wrap ? ",\n    " : ", ", w->to);
        fputs(element, w->to);
        column = (wrap ? 4 : column) + strlen(element) + 2;
    }
    fputc(']', w->to);
}

/* The type as a tuple; per-channel types in the older form, which takes extraParams. */
static void put_type(struct writer *w, const struct tensor *t)
{
    char text[ELEMENT_TEXT], name[EXTENSION_TEXT];

    const char *const head[] = { t->channel_scale ? "\"" : "(\"", type_name(t->dtype, name),
                                 t->channel_scale ? "\", \"{" : "\", [" };
    put_texts(w->to, head, COUNT(head));
    for (uint32_t i = 0; i < t->shape.rank; i++) {
        whole_text(t->shape.dim[i], text);
        put_texts(w->to, (const char *[]){ i ? ", " : "", text }, 2);
    }
    if (t->channel_scale) {
        fputs("}\"", w->to);
        return;
    }
    fputc(']', w->to);
    if (t->scale != 0 || t->zero != 0)
        fprintf(w->to, ", %s, %" PRId32, real_text((double) t->scale, text), t->zero);
    fputc(')', w->to);
}

/* Channel scales and the data of extensions. */
static void put_extra_params(struct writer *w, const struct tensor *t)
{
    const uint8_t *data = t->extension;
    char text[ELEMENT_TEXT];

    if (t->channel_scale) {
        fprintf(w->to, ", extraParams=SymmPerChannelQuantParams(channelDim=%" PRIu32 ", scales=[",
                t->channel_dim);
        for (uint32_t i = 0; i < t->n_channels; i++)
            fprintf(w->to, "%s%s", i ? ", " : "", real_text((double) t->channel_scale[i], text));
        fputs("])", w->to);
    }
    if (t->extension_length) {
        fputs(", extraParams=ExtensionData(bytes.fromhex(\"", w->to);
        for (size_t i = 0; i < t->extension_length; i++)
            fprintf(w->to, "%02x", data[i]);
        fputs("\"))", w->to);
    }
}

/* The constructor by lifetime; an output without expected value is an IgnoredOutput. */
static const char *constructor(const struct writer *w, uint32_t g, uint32_t i)
{
    const struct graph *graph = &w->e->model.graph[g];

    switch (graph->operand[i].life) {
    case LIFE_INPUT: return "Input";
    case LIFE_TEMPORARY: return "Internal";
    case LIFE_OUTPUT: break;
    default: return "Parameter";
    }
    int64_t k = g == 0 ? w->out[i] : -1;
    return k >= 0 && (w->e->ignored[k] || !w->e->expected[k].data) ? "IgnoredOutput" : "Output";
}

static void put_operand(struct writer *w, uint32_t g, uint32_t i)
{
    const struct operand *o = &w->e->model.graph[g].operand[i];
    bool shared = o->life == LIFE_CONSTANT_REFERENCE;
    bool constant = o->life == LIFE_CONSTANT_COPY || shared;
    char name[NAME];

    if (constant && shared != w->shared) {
        fprintf(w->to, "Configuration.use_shm_for_weights = %s\n", shared ? "True" : "False");
        w->shared = shared;
    }
    variable(w, g, i, name);
    if (o->life == LIFE_SUBGRAPH) {
        fprintf(w->to, "%s = SubgraphReference(\"%s\", g%" PRIu32 ")\n", name, name, o->subgraph);
        return;
    }
    const char *const head[] = { name,
                                 " = ",
                                 constructor(w, g, i),
                                 "(\"",
                                 is_plain_name(o->name) && !w->names ? o->name : name,
                                 "\", " };
    put_texts(w->to, head, COUNT(head));
    put_type(w, &o->tensor);
    if (constant) {
        fputs(", ", w->to);
        put_values(w, &o->tensor);
    } else if (o->life == LIFE_NO_VALUE) {
        fputs(", None", w->to);
    }
    put_extra_params(w, &o->tensor);
    if (g == 0 && w->names && w->names->note[i])
        fprintf(w->to, ")  # %s\n", w->names->note[i]);
    else
        fputs(")\n", w->to);
}

static void put_list(struct writer *w, uint32_t g, const uint32_t *index, uint32_t n, bool first)
{
    char name[NAME];

    for (uint32_t i = 0; i < n; i++)
        put_texts(w->to,
                  (const char *[]){ i || !first ? ", " : "", variable(w, g, index[i], name) }, 2);
}

/* Writes the graph, after those that it refers to and that are not written yet. */
static int put_graph(struct writer *w, uint32_t g, struct why *why)
{
    const struct graph *graph = &w->e->model.graph[g];
    char model[NAME] = "main";

    w->seen[g] = 1;
    for (uint32_t i = 0; i < graph->n_operands; i++) {
        uint32_t other = graph->operand[i].subgraph;
        if (graph->operand[i].life != LIFE_SUBGRAPH || w->seen[other] == 2)
            continue;
        REQUIRE(why, w->seen[other] == 0, "subgraph %" PRIu32 " refers to itself", other);
        TRY(put_graph(w, other, why));
    }
    w->seen[g] = 2;

    fputc('\n', w->to);
    for (uint32_t i = 0; i < graph->n_operands; i++)
        put_operand(w, g, i);
    if (g > 0)
        snprintf(model, sizeof model, "g%" PRIu32, g);
    fprintf(w->to, g ? "%s = Model(\"%s\")\n" : "%s = Model()\n", model, model);
    fprintf(w->to, "%s.IdentifyInputs(", model);
    put_list(w, g, graph->input, graph->n_inputs, true);
    fprintf(w->to, ")\n%s.IdentifyOutputs(", model);
    put_list(w, g, graph->output, graph->n_outputs, true);
    fputs(")\n", w->to);
    for (uint32_t i = 0; i < graph->n_operations; i++) {
        const struct operation *op = &graph->operation[i];
        char text[EXTENSION_TEXT];
        const char *name = op_name(op->code, text);
        if (!name)
            return why_fail(why, WHY_UNSUPPORTED, "operation code %" PRId32 " has no name",
                            op->code);
        const char *const head[] = { model, ".Operation(\"", name, "\"" };
        put_texts(w->to, head, COUNT(head));
        put_list(w, g, op->in, op->n_in, false);
        fputs(").To(", w->to);
        put_list(w, g, op->out, op->n_out, true);
        fputs(")\n", w->to);
    }
    return 0;
}

/* Checks that a reader can compute the value's shape from the number of its elements. */
static int check_shape(const struct operand *o, const struct tensor *value, struct why *w)
{
    char text[SHAPE_TEXT];
    struct shape s;

    if (!value->data || tensor_count(value) == 0)
        return 0;
    TRY(values_shape(&o->tensor, tensor_count(value), &s, w));
    if (shape_equal(&s, &value->shape))
        return 0;
    return why_fail(w, WHY_UNSUPPORTED, "a value of shape %s for an operand of unknown shape",
                    shape_text(&value->shape, text));
}

static int put_feed(struct writer *w, const uint32_t *index, uint32_t n, const struct tensor *value,
                    const bool *ignored, struct why *why)
{
    char name[NAME];
    bool first = true;

    fputc('{', w->to);
    for (uint32_t i = 0; i < n; i++) {
        if (ignored && (ignored[i] || !value[i].data))
            continue;
        if (check_shape(&w->e->model.graph[0].operand[index[i]], &value[i], why) < 0)
            return why_prefix(why, "operand %" PRIu32, index[i]);
        fprintf(w->to, "%s%s: ", first ? "" : ",\n    ", variable(w, 0, index[i], name));
        put_values(w, &value[i]);
        first = false;
    }
    fputc('}', w->to);
    return 0;
}

static int put_example(struct writer *w, struct why *why)
{
    const struct example *e = w->e;
    const struct graph *g = &e->model.graph[0];

    if (e->model.relaxed)
        fputs("main.RelaxedExecution(True)\n", w->to);
    if (e->since && strcmp(e->since, "UNKNOWN") != 0)
        fprintf(w->to, "main.IntroducedIn(\"%s\")\n", e->since);
    else
        fputs("main.IntroducedIn(None)\n", w->to);
    fputs("\nExample((", w->to);
    TRY(put_feed(w, g->input, g->n_inputs, e->in, NULL, why));
    fputs(", ", w->to);
    TRY(put_feed(w, g->output, g->n_outputs, e->expected, e->ignored, why));
    fputs("), model=main).DisableLifeTimeVariation()", w->to);
    if (e->expect_failure)
        fputs(".ExpectFailure()", w->to);
    if (e->multinomial_tolerance > 0)
        fprintf(w->to, ".WithMultinomialDistributionTolerance(%.17g)", e->multinomial_tolerance);
    fputc('\n', w->to);
    return 0;
}

static int write_modpy(struct writer *w, const char *comment, struct why *why)
{
    const struct example *e = w->e;
    const struct graph *main = &e->model.graph[0];

    w->seen = calloc(e->model.n_graphs, 1);
    w->out = list_positions(main->output, main->n_outputs, main->n_operands);
    while (comment && *comment) {
        size_t n = strcspn(comment, "\r\n");
        fprintf(w->to, "# %.*s\n", (int) n, comment);
        comment += n + (comment[n] != '\0');
    }
    int result = w->seen && w->out ? put_graph(w, 0, why) : why_no_memory(why);
    if (result == 0)
        result = put_example(w, why);
    free(w->seen);
    free(w->out);
    if (result == 0 && ferror(w->to))
        return why_fail(why, WHY_SYSTEM, "writing: %s", strerror(errno));
    return result == 0 && w->lists && w->lists->failed ? why_no_memory(why) : result;
}

int specs_write_modpy(const struct example *e, const char *comment, FILE *to, struct why *why)
{
    return specs_write_modpy_named(e, comment, NULL, to, why);
}

int specs_write_modpy_named(const struct example *e, const char *comment,
                            const struct modpy_names *names, FILE *to, struct why *why)
{
    struct writer w = { .e = e, .names = names, .to = to };

    return write_modpy(&w, comment, why);
}

int specs_write_modpy_marked(const struct example *e, FILE *to, struct modpy_lists *lists,
                             struct why *why)
{
    struct writer w = { .e = e, .lists = lists, .to = to };

    return write_modpy(&w, NULL, why);
}
