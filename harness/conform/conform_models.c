#include "harness/conform/conform_models.h"
#include "harness/conform/must.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "randgraph/randgraph.h"
#include "sim/hal/convert.h"

/* Of the models at conform_seed 1.  With another one some differences from the lists of the vendor
 * suite may be shown by none of them (tests/harness/test_exempt.c). */
static const uint64_t FIRST_SEED = 45;
enum { PER_OP = 2, LARGER = 24, MAX_CALL_INPUTS = 128 };

struct conform_model *conform_models;
int conform_n_models, conform_n_built_in;
struct conform_rows conform_rows;
const struct cases *conform_cases;
static int capacity;

static struct why w;

static bool init_model(struct conform_model *m, const struct example *e, struct arena *a)
{
    *m = (struct conform_model){ .arena = a, .example = *e };
    m->level = model_prepare(&m->example.model, NULL, &w);
    snprintf(m->name, sizeof m->name, "%s (level %d)", e->name, m->level);
    return m->level > 0 && convert_to_hal(&m->example.model, a, &m->hal, &w) == 0;
}

void conform_model_init(struct conform_model *m, const struct example *e, struct arena *a)
{
    MUST(init_model(m, e, a));
}

void conform_model_of(struct conform_model *m, const struct one_op *o)
{
    struct tensor in[ONE_OP_INPUTS], expected[ONE_OP_OUTPUTS];
    struct build b;

    if (!o)
        conform_leave();
    one_op_build(&b, o, in, expected);
    struct example e = { .name = o->name,
                         .model = b.model,
                         .in = arena_copy(b.arena, in, sizeof in),
                         .expected = arena_copy(b.arena, expected, sizeof expected) };
    conform_model_init(m, &e, b.arena);
    m->is_exact = true;
}

void conform_model_done(struct conform_model *m)
{
    arena_free(m->arena);
}

static bool compute_expected(struct conform_model *m)
{
    struct exec_options options = { .arena = m->arena };
    struct plan *plan = NULL;
    struct result r;

    if (plan_new(&m->example.model, &plan, &w) < 0)
        return false;
    bool ok = plan_run(plan, m->example.in, &options, &r, &w) == 0;
    if (ok)
        m->example.expected = arena_copy(m->arena, r.out, r.n * sizeof *r.out);
    plan_free(plan);
    return ok;
}

void conform_model_expect(struct conform_model *m)
{
    MUST(compute_expected(m));
}

/* The first small operation that the driver supports; op: of these only (NULL: all). */
static const struct one_op *choose(struct conform *c, const char *op)
{
    const struct one_op *last = NULL;
    int n = 0;

    for (int i = 0; i < conform_n_small_texts; i++) {
        const struct one_op *o = &conform_texts[i];
        struct conform_model m;
        if (op && strcmp(o->op, op) != 0)
            continue;
        conform_model_of(&m, o);
        bool is_supported = conform_model_is_of(&m, c) && conform_supports(c, c->version, &m.hal);
        conform_model_done(&m);
        if (is_supported)
            return o;
        last = o;
        n++;
    }
    conform_not_applicable(c, "the driver supports none of %d small operations, such as %s", n,
                           last ? last->name : "?");
    return NULL;
}

const struct one_op *conform_relu(struct conform *c)
{
    return choose(c, NULL);
}

const struct one_op *conform_sum(struct conform *c)
{
    return choose(c, "ADD");
}

bool conform_model_is_of(const struct conform_model *m, const struct conform *c)
{
    return m->level <= hal_level(c->version);
}

/* Room for n more models at the end of the list. */
static struct conform_model *add_model(void)
{
    if (conform_n_models == capacity) {
        capacity = capacity ? 2 * capacity : 512;
        conform_models = realloc(conform_models, (size_t) capacity * sizeof *conform_models);
        conform_must(conform_models, "out of memory");
    }
    return &conform_models[conform_n_models++];
}

/* -1: no such model can be drawn. */
static int draw(const char *only, int max_level, uint32_t dtypes, uint32_t ops, uint64_t index)
{
    struct randgraph_options options = randgraph_default;
    struct arena *a = arena_new(0);
    struct example e;

    options.only = randgraph_only(only);
    options.max_level = max_level;
    options.dtypes = dtypes;
    options.relaxed = max_level > 1 ? options.relaxed : 0;
    options.min_ops = options.max_ops = ops;
    options.control_flow = max_level >= 4 ? 0.5 : 0;
    options.max_dim = 5;
    if (randgraph_make(&options, FIRST_SEED + conform_seed - 1, index, a, &e, &w) < 0) {
        arena_free(a);
        return -1;
    }
    struct conform_model *m = add_model();
    conform_model_init(m, &e, a);
    snprintf(m->name, sizeof m->name, "%s (%s, level %d)", e.name, only ? only : "any", m->level);
    return 0;
}

/* ---- which forms and typing rows of an operation the list has */

enum { MAX_FORMS = 16, MAX_TYPINGS = 64, TRIES = 40, ATTEMPTS = 5 };

struct seen {
    const struct op *op;
    bool form[MAX_FORMS], typing[MAX_TYPINGS];
};

static bool note(struct seen *seen, const struct conform_model *m)
{
    const struct graph *g = &m->example.model.graph[0];
    bool is_new = false;

    for (uint32_t i = 0; i < g->n_operations; i++) {
        const struct operation *o = &g->operation[i];
        const struct tensor *in[MAX_CALL_INPUTS];
        struct tensor out[MAX_OUT_ROLES], *outs[MAX_OUT_ROLES];
        struct call call;
        if (o->code != seen->op->code || o->n_in > MAX_CALL_INPUTS || o->n_out > MAX_OUT_ROLES)
            continue;
        for (uint32_t k = 0; k < o->n_in; k++) {
            const struct operand *operand = &g->operand[o->in[k]];
            in[k] = operand->life == LIFE_NO_VALUE ? NULL : &operand->tensor;
        }
        for (uint32_t k = 0; k < o->n_out; k++) {
            out[k] = g->operand[o->out[k]].tensor;
            outs[k] = &out[k];
        }
        if (op_bind(seen->op, in, o->n_in, outs, o->n_out, false, &call, &w) < 0)
            continue;
        long form = call.form - seen->op->forms, typing = call.typing - seen->op->typings;
        if (form < MAX_FORMS && typing < MAX_TYPINGS) {
            is_new = is_new || !seen->form[form] || !seen->typing[typing];
            seen->form[form] = seen->typing[typing] = true;
        }
    }
    return is_new;
}

/* The main types to try for a typing row: that of the first output, of an input, any. */
static uint32_t main_type(const struct op *op, int typing, int attempt)
{
    const struct typing *t = &op->typings[typing];

    if (attempt == 0)
        return 1u << role_type(&op->out[0], t);
    return attempt <= op->n_in && attempt < ATTEMPTS - 1 ? 1u << role_type(&op->in[attempt - 1], t)
                                                         : 0;
}

/* Draws models of one operation at a level and with a main type until one has a form or typing row
 * that no other model has. */
static void draw_new(struct seen *seen, int max_level, uint32_t dtypes)
{
    static uint64_t index = 1000;

    for (int t = 0; t < TRIES; t++) {
        if (draw(seen->op->name, max_level, dtypes, 1, index++) < 0)
            return;
        if (note(seen, &conform_models[conform_n_models - 1]))
            return;
        conform_model_done(&conform_models[--conform_n_models]);
    }
}

static void draw_rows(const struct op *op)
{
    struct seen seen = { .op = op };

    for (int k = 0; k < PER_OP; k++)
        if (draw(op->name, k ? 8 : (int) op->since, 0, 1, (uint64_t) k) == 0)
            note(&seen, &conform_models[conform_n_models - 1]);
    for (int t = 0; t < op->n_typings && t < MAX_TYPINGS; t++)
        for (int k = 0; k < 2 * ATTEMPTS && !seen.typing[t]; k++)
            draw_new(&seen, k % 2 ? 8 : (int) op->typings[t].since, main_type(op, t, k / 2));
    for (int f = 0; f < op->n_forms && f < MAX_FORMS; f++)
        if (!seen.form[f])
            draw_new(&seen, op->forms[f].since > op->since ? (int) op->forms[f].since : 8, 0);
    conform_rows.operations++;
    for (int f = 0; f < op->n_forms && f < MAX_FORMS; f++) {
        conform_rows.forms++;
        conform_rows.drawn_forms += seen.form[f];
    }
    for (int t = 0; t < op->n_typings && t < MAX_TYPINGS; t++) {
        conform_rows.typings++;
        conform_rows.drawn_typings += seen.typing[t];
    }
}

static int users; /* of the list */

static void add_texts(void)
{
    for (int i = 0; i < conform_n_texts; i++)
        conform_model_of(add_model(), &conform_texts[i]);
}

/* Whether all inputs are to be generated, as of models in .tflite files; else an input without data
 * is omitted. */
static bool lacks_inputs(const struct example *e)
{
    bool lacks = e->model.graph[0].n_inputs > 0;

    for (uint32_t k = 0; k < e->model.graph[0].n_inputs; k++)
        lacks = lacks && !e->in[k].data;
    return lacks;
}

static bool has_expected(const struct example *e)
{
    bool has = e->expected != NULL;

    for (uint32_t k = 0; has && k < e->model.graph[0].n_outputs; k++)
        has = e->expected[k].data || !tensor_count(&e->expected[k]);
    return has;
}

/* False: not a model of this catalogue, or the reference cannot execute it. */
static bool add_case(const struct example *example, const char *name)
{
    uint32_t n_in = example->model.graph[0].n_inputs;
    struct arena *a = arena_new(0);
    struct example e = *example;
    struct conform_model m;

    if (lacks_inputs(&e)) {
        e.in = arena_copy(a, e.in, n_in * sizeof *e.in);
        conform_must(inputs_generate(name, e.in, n_in, a, &w) == 0, w.text);
    }
    if (!init_model(&m, &e, a) || (!has_expected(&e) && !compute_expected(&m))) {
        arena_free(a);
        return false;
    }
    snprintf(m.name, sizeof m.name, "%.80s (level %d)", name, m.level);
    *add_model() = m;
    return true;
}

/* Examples whose execution must fail are not added. */
static void add_cases(void)
{
    char name[CASE_NAME];

    for (uint64_t i = 0; conform_cases && i < conform_cases->n; i++) {
        cases_name(conform_cases, i, name);
        if (!conform_cases->spec[i].example.expect_failure)
            add_case(&conform_cases->spec[i].example, name + strlen("spec/"));
    }
}

void conform_models_draw(void)
{
    if (users++)
        return;
    conform_rows = (struct conform_rows){ 0 };
    add_texts();
    for (int i = 0; i < op_table_n; i++)
        draw_rows(op_table[i]);
    for (uint64_t i = 0; i < LARGER; i++)
        draw(NULL, 1 + (int) (i % 8), 0, 3 + (uint32_t) i % 5, i);
    conform_n_built_in = conform_n_models;
    add_cases();
}

void conform_models_free(void)
{
    users--;
    while (!users && conform_n_models)
        conform_model_done(&conform_models[--conform_n_models]);
    if (!users) {
        free(conform_models);
        conform_models = NULL;
        capacity = 0;
    }
}

/* ---- a large one */

void conform_model_large(struct conform_model *m, enum dtype type, uint32_t elements)
{
    const float scale = type == DT_U8 ? 1 : 0;
    const enum lifetime life[] = { LIFE_INPUT, LIFE_CONSTANT_COPY, LIFE_OUTPUT };
    struct build b;
    uint32_t id[COUNT(life)];

    build_init(&b, 1);
    void *values = arena_alloc(b.arena, elements, sizeof(float));
    conform_must(values, "out of memory");
    for (int i = 0; i < COUNT(life); i++) {
        id[i] = build_quant(&b, life[i], type, DIMS(elements), scale, 0);
        struct operand *o = &b.graph->operand[id[i]];
        o->tensor.data = values;
        o->length = life[i] == LIFE_CONSTANT_COPY ? tensor_bytes(&o->tensor) : 0;
    }
    OPERATION(&b, "ADD", IDS(id[0], id[1], build_int(&b, 0)), IDS(id[2]));
    model_count_consumers(&b.model);
    struct tensor *in = arena_copy(b.arena, &b.graph->operand[id[0]].tensor, sizeof *in),
                  *out = arena_copy(b.arena, &b.graph->operand[id[2]].tensor, sizeof *out);
    conform_must(in && out, "out of memory");
    b.graph->operand[id[0]].tensor.data = b.graph->operand[id[2]].tensor.data = NULL;
    const struct example e = {
        .name = "ADD of a large constant", .model = b.model, .in = in, .expected = out
    };
    conform_model_init(m, &e, b.arena);
}

/* ---- what the driver supports, from the built-in models of one operation */

static bool is_supported(struct conform *c, const struct conform_model *m)
{
    bool supported = false;
    uint32_t n = 0;
    enum hal_status s =
        c->driver->get_supported_operations(c->driver, c->version, &m->hal, &supported, &n);

    return s == HAL_NONE && n == 1 && supported;
}

static bool any_supported(struct conform *c, const struct op *op)
{
    for (int i = 0; i < conform_n_models; i++) {
        const struct conform_model *m = &conform_models[i];
        const struct graph *g = &m->example.model.graph[0];
        if (g->n_operations == 1 && g->operation[0].code == op->code && conform_model_is_of(m, c) &&
            is_supported(c, m))
            return true;
    }
    return false;
}

int conform_supported_operations(struct conform *c, struct randgraph_weights *ret)
{
    int n = 0;

    *ret = randgraph_weights_default;
    for (int i = 0; i < op_table_n; i++) {
        if (any_supported(c, op_table[i]))
            n++;
        else if (ret->n_ops < RANDGRAPH_MAX_OP_WEIGHTS)
            ret->op[ret->n_ops++] = (struct randgraph_op_weight){ op_table[i], 0 };
    }
    return n;
}
