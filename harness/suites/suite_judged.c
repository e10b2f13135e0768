/* The built-in models, judged against the reference: in every kind of execution, with outputs whose
 * shapes are known and unknown, and with inputs and outputs in buffers of the driver. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "golden/model/op.h"
#include "harness/conform/conform_graphs.h"
#include "harness/conform/conform_judge.h"
#include "sim/client/hal_calls.h"

/* Over a socket one model in so many, each version others. */
enum { REMOTE_EVERY = 4 };

static bool is_chosen(const struct conform *c, int i)
{
    return conform_model_is_of(&conform_models[i], c) &&
           (!c->is_remote || (i + hal_level(c->version)) % REMOTE_EVERY == 0);
}

typedef void visit_judged(struct conform *c, const struct conform_model *m,
                          struct hal_prepared_model *p, struct conform_judge *j);

struct of_models {
    visit_judged *visit;
};

static void models(struct conform *c, const void *data)
{
    visit_judged *visit = ((const struct of_models *) data)->visit;

    conform_not_applicable(c, "no model of this version is supported");
    for (int i = 0; i < conform_n_models; i++) {
        const struct conform_model *m = &conform_models[i];
        struct hal_prepared_model *p =
            is_chosen(c, i) ? conform_prepare_supported(c, &m->hal) : NULL;
        struct conform_judge judge;
        if (!p)
            continue;
        conform_doing(c, "%s", m->name);
        conform_judge_init(&judge, m);
        visit(c, m, p, &judge);
        conform_judge_done(&judge);
        p->methods->release(p);
    }
}

/* ---- every kind of execution, with and without measurement */

static void judge_kinds(struct conform *c, const struct conform_model *m,
                        struct hal_prepared_model *p, struct conform_judge *j)
{
    bool specified = conform_request_is_specified(&m->example);
    struct hal_execution_config config = client_config();
    struct arena *a = arena_new(0);

    for (int k = 0; k < 2 * conform_n_kinds; k++) {
        const struct conform_kind *kind = &conform_kinds[k / 2];
        struct conform_request r;
        config.measure = k % 2;
        if (!conform_can_run(c, p, kind, c->version) || (config.measure && c->version < HAL_1_2) ||
            (!specified && (kind->needs_shapes || c->version < HAL_1_2)))
            continue;
        conform_request(&m->example, a, &r);
        if (kind->run(p, c->version, &r, &config) == HAL_NONE)
            conform_judge(c, j, &r, kind->name);
    }
    arena_free(a);
}

/* Whether the results of the example itself are right: generated/judged reports those that are
 * not, and other rules leave the model out. */
static bool is_right(struct conform *c, const struct conform_model *m, struct hal_prepared_model *p,
                     struct conform_judge *j)
{
    const struct conform_kind *kind = &conform_kinds[c->version < HAL_1_2];
    const struct hal_execution_config config = client_config();
    struct arena *a = arena_new(0);
    struct conform_request r;
    bool right = false;

    if (c->version >= HAL_1_2 || conform_request_is_specified(&m->example)) {
        conform_request(&m->example, a, &r);
        right = kind->run(p, c->version, &r, &config) == HAL_NONE && conform_judge_agrees(j, &r);
    }
    arena_free(a);
    return right;
}

/* ---- every execution preference */

static void judge_preferences(struct conform *c, const struct conform_model *m,
                              struct hal_prepared_model *p, struct conform_judge *j)
{
    const struct conform_kind *kind = &conform_kinds[c->version < HAL_1_2];
    const struct hal_execution_config run = client_config();
    struct hal_prepare_config config = client_default_preparation;

    if (!is_right(c, m, p, j))
        return;
    struct arena *a = arena_new(0);
    for (int k = HAL_LOW_POWER; k <= HAL_SUSTAINED_SPEED; k++) {
        static const char *const names[] = { "low power", "fast single answer", "sustained speed" };
        struct conform_request r;
        config.preference = (enum hal_preference) k;
        struct conform_prepared prepared = conform_prepare(c, c->version, &m->hal, &config);
        if (!EXPECT(c, prepared.model, "%s, prepared for %s: %s", m->name, names[k],
                    hal_status_name(prepared.status)))
            continue;
        conform_request(&m->example, a, &r);
        if (kind->run(prepared.model, c->version, &r, &run) == HAL_NONE)
            conform_judge(c, j, &r, names[k]);
        prepared.model->methods->release(prepared.model);
    }
    arena_free(a);
}

/* ---- large numbers: float32 inputs times 2^20, which fp16 cannot represent, float16 inputs times
 * a power of two, so that the largest is between 16384 and 32768, 2^24 + 1 in int32; and an
 * infinity as the last element of each float input */

typedef void change_value(const struct tensor *t);

static double largest(const struct tensor *t)
{
    const struct codec *codec = dtype_info[t->dtype].codec;
    double most = 0, value;

    for (size_t k = 0; k < tensor_count(t); k++) {
        codec->widen((const char *) t->data + k * codec->size, 1, 0, 1, &value);
        most = fmax(most, fabs(value));
    }
    return most;
}

static void scale(const struct tensor *t, double factor)
{
    const struct codec *codec = dtype_info[t->dtype].codec;
    double value;

    for (size_t k = 0; k < tensor_count(t); k++) {
        char *at = (char *) t->data + k * codec->size;
        codec->widen(at, 1, 0, 1, &value);
        value *= factor;
        codec->narrow(&value, 1, 0, 1, at);
    }
}

static void enlarge(const struct tensor *t)
{
    int exponent = 0;

    if (t->dtype == DT_F32)
        scale(t, 0x1p20);
    if (t->dtype == DT_F16) {
        frexp(largest(t), &exponent);
        scale(t, ldexp(1, 15 - exponent));
    }
    for (size_t k = 0; t->dtype == DT_I32 && k < tensor_count(t); k++)
        ((uint32_t *) t->data)[k] += (1u << 24) + 1; /* wraps */
}

static void make_infinite(const struct tensor *t)
{
    const struct codec *codec = dtype_info[t->dtype].codec;
    const double infinity = INFINITY;

    if (t->dtype == DT_F32 || t->dtype == DT_F16)
        codec->narrow(&infinity, 1, 0, 1, (char *) t->data + (tensor_count(t) - 1) * codec->size);
}

/* Whether the model has an input of a type that the change is for.  float16 only where results are
 * exact: in others a driver may overflow in between, as the reference does not. */
static bool change_inputs(const struct conform_model *m, struct arena *a, struct tensor *in,
                          change_value *change)
{
    const struct graph *g = &m->example.model.graph[0];
    bool changed = false;

    for (uint32_t i = 0; i < g->n_inputs; i++) {
        struct tensor *t = &in[i];
        *t = m->example.in[i];
        if (!t->data || !tensor_count(t) || !dtype_info[t->dtype].tensor ||
            (t->dtype != DT_F32 && t->dtype != DT_I32 && (t->dtype != DT_F16 || !m->is_exact)))
            continue;
        t->data = arena_copy(a, t->data, tensor_bytes(t));
        conform_must(t->data, "out of memory");
        change(t);
        changed = true;
    }
    return changed;
}

/* Whether the reference has a result that is not a number. */
static bool has_nan(const struct conform_judge *j)
{
    const struct result *r = &j->check.result;
    bool found = false;

    for (uint32_t i = 0; j->check.have_result && i < r->n; i++) {
        const struct tensor *t = &r->out[i];
        const struct codec *codec = dtype_info[t->dtype].codec;
        double value = 0;
        for (size_t k = 0; t->data && k < tensor_count(t); k++) {
            codec->widen((const char *) t->data + k * codec->size, 1, 0, 1, &value);
            found = found || isnan(value);
        }
    }
    return found;
}

/* An input may be an index, whose large values are invalid: the execution may fail if the reference
 * has no result. */
static void judge_changed(struct conform *c, const struct conform_model *m,
                          struct hal_prepared_model *p, struct conform_judge *j,
                          change_value *change, const char *what)
{
    const struct conform_kind *kind = &conform_kinds[c->version < HAL_1_2];
    const struct hal_execution_config config = client_config();
    const struct graph *g = &m->example.model.graph[0];
    struct arena *a = arena_new(0);
    struct tensor *in = arena_alloc(a, g->n_inputs + 1, sizeof *in);
    struct conform_model changed = *m;
    struct conform_judge judge;
    struct conform_request r;

    changed.example.in = in;
    if (!m->hal.relaxed && in && change_inputs(m, a, in, change) && is_right(c, m, p, j)) {
        conform_judge_init(&judge, &changed);
        conform_request(&changed.example, a, &r);
        if (!judge.check.reference_why[0] && !has_nan(&judge) &&
            kind->run(p, c->version, &r, &config) == HAL_NONE)
            conform_judge(c, &judge, &r, what);
        conform_judge_done(&judge);
    }
    arena_free(a);
}

static void judge_large(struct conform *c, const struct conform_model *m,
                        struct hal_prepared_model *p, struct conform_judge *j)
{
    judge_changed(c, m, p, j, enlarge, "large inputs");
}

/* Whether the model is a single operation of one input and one output, both in floating point: it
 * computes each element by itself. */
static bool is_unary(const struct conform_model *m)
{
    const struct hal_subgraph *g = &m->hal.main;
    const struct op *op = g->n_operations == 1 ? op_find(g->operations[0].type) : NULL;

    return op && op->n_in == 1 && op->n_out == 1 && g->n_inputs == 1 && g->n_outputs == 1 &&
           g->operands[g->inputs[0]].type == g->operands[g->outputs[0]].type;
}

/* Models with exact results and unary operations only: in others an infinity may become a number
 * that is none, of which NNAPI does not say what it is compared or converted to. */
static void judge_infinite(struct conform *c, const struct conform_model *m,
                           struct hal_prepared_model *p, struct conform_judge *j)
{
    if (m->is_exact || is_unary(m))
        judge_changed(c, m, p, j, make_infinite, "infinite inputs");
}

/* ---- large models: of many operations, or many inputs and outputs */

enum { LENGTH = 300, WIDTH = 40, ELEMENTS = 4 };

/* y = x + 1 + 1 ... */
static void build_long(struct build *b, enum dtype type)
{
    static const double ones[ELEMENTS] = { 1, 1, 1, 1 };
    const float unit = type == DT_U8;
    char stored[ELEMENTS * sizeof(float)];

    build_init(b, 1);
    dtype_info[type].codec->narrow(ones, ELEMENTS, 0, 1, stored);
    uint32_t x = build_quant(b, LIFE_INPUT, type, DIMS(ELEMENTS), unit, 0);
    uint32_t one = build_constant(b, type, DIMS(ELEMENTS), stored), act = build_int(b, 0);
    b->graph->operand[one].tensor.scale = unit;
    for (int i = 0; i < LENGTH; i++) {
        uint32_t y = build_quant(b, i + 1 < LENGTH ? LIFE_TEMPORARY : LIFE_OUTPUT, type,
                                 DIMS(ELEMENTS), unit, 0);
        OPERATION(b, "ADD", IDS(x, one, act), IDS(y));
        x = y;
    }
}

/* Output i is the sum of inputs i and i + 1. */
static void build_wide(struct build *b, enum dtype type)
{
    const float unit = type == DT_U8;
    uint32_t x[WIDTH], y[WIDTH];

    build_init(b, 1);
    for (int i = 0; i < WIDTH; i++)
        x[i] = build_quant(b, LIFE_INPUT, type, DIMS(ELEMENTS), unit, 0);
    uint32_t act = build_int(b, 0);
    for (int i = 0; i < WIDTH; i++)
        y[i] = build_quant(b, LIFE_OUTPUT, type, DIMS(ELEMENTS), unit, 0);
    for (int i = 0; i < WIDTH; i++)
        OPERATION(b, "ADD", IDS(x[i], x[(i + 1) % WIDTH], act), IDS(y[i]));
}

static void run_large_model(struct conform *c, const struct conform_model *m)
{
    const struct hal_execution_config config = client_config();
    struct hal_prepared_model *p = conform_prepare_supported(c, &m->hal);
    struct arena *a = arena_new(0);
    struct conform_request r;

    for (int k = 0; p && k < conform_n_kinds; k++) {
        if (!conform_can_run(c, p, &conform_kinds[k], c->version))
            continue;
        conform_request(&m->example, a, &r);
        enum hal_status s = conform_kinds[k].run(p, c->version, &r, &config);
        EXPECT(c, s == HAL_NONE && conform_outputs_are(&r, m->example.expected),
               "%s, %u operations, %u inputs, %s: %s, or wrong results", m->name,
               m->hal.main.n_operations, m->hal.main.n_inputs, conform_kinds[k].name,
               hal_status_name(s));
    }
    arena_free(a);
    if (p)
        p->methods->release(p);
}

static void large_models(struct conform *c, const void *data)
{
    static const struct {
        const char *name;
        enum dtype type;
        void (*build)(struct build *b, enum dtype type);
    } rows[] = { { "a chain of ADD of float32", DT_F32, build_long },
                 { "a chain of ADD of quant8", DT_U8, build_long },
                 { "ADD of float32 side by side", DT_F32, build_wide },
                 { "ADD of quant8 side by side", DT_U8, build_wide } };

    (void) data;
    for (int i = 0; i < COUNT(rows); i++) {
        struct conform_model m;
        struct build b;
        rows[i].build(&b, rows[i].type);
        model_count_consumers(&b.model);
        struct tensor *in = arena_alloc(b.arena, WIDTH, sizeof *in);
        conform_must(in, "out of memory");
        for (uint32_t k = 0; k < b.graph->n_inputs; k++) {
            const double values[ELEMENTS] = { k, 0, 1, 2 };
            in[k] = b.graph->operand[b.graph->input[k]].tensor;
            in[k].data = arena_alloc(b.arena, ELEMENTS, sizeof(float));
            dtype_info[rows[i].type].codec->narrow(values, ELEMENTS, 0, 1, in[k].data);
        }
        const struct example e = { .name = rows[i].name, .model = b.model, .in = in };
        conform_model_init(&m, &e, b.arena);
        conform_model_expect(&m);
        conform_doing(c, "%s", m.name);
        run_large_model(c, &m);
        conform_model_done(&m);
    }
}

/* ---- large tensors: 163840 elements, more than 16 bits count */

static void run_large(struct conform *c, const struct conform_model *m,
                      struct hal_prepared_model *p)
{
    const struct hal_execution_config config = client_config();
    struct arena *a = arena_new(0);
    struct conform_request r;

    for (int k = 0; k < conform_n_kinds; k++) {
        if (!conform_can_run(c, p, &conform_kinds[k], c->version))
            continue;
        conform_request(&m->example, a, &r);
        enum hal_status s = conform_kinds[k].run(p, c->version, &r, &config);
        EXPECT(c, s == HAL_NONE && conform_outputs_are(&r, m->example.expected),
               "%s with tensors of %zu elements, %s: %s, or wrong results", m->name,
               tensor_count(&m->example.expected[0]), conform_kinds[k].name, hal_status_name(s));
    }
    arena_free(a);
}

static void large_tensors(struct conform *c, const void *data)
{
    (void) data;
    for (int i = 0; i < CONFORM_TENSOR_TYPES * conform_n_graphs; i++) {
        struct conform_tensor_type type = conform_tensor_types[i % CONFORM_TENSOR_TYPES];
        const struct conform_graph *g = &conform_graphs[i / CONFORM_TENSOR_TYPES];
        struct conform_model m;
        if (g->n_outputs > 1)
            continue;
        type.shape = DIMS(1, 128, 160, 8);
        conform_graph_model(&m, g, &type, 1);
        conform_doing(c, "%s of %s with large tensors", g->name, type.name);
        struct hal_prepared_model *p =
            conform_model_is_of(&m, c) ? conform_prepare_supported(c, &m.hal) : NULL;
        if (p) {
            run_large(c, &m, p);
            p->methods->release(p);
        }
        conform_model_done(&m);
    }
}

/* ---- buffers of the driver: one for each input and output */

enum { MAX_BUFFERS = CONFORM_POOLS - 2 };

struct buffers {
    struct hal_buffer *buffer[MAX_BUFFERS];
    uint32_t n;
};

static void release_buffers(struct buffers *b)
{
    for (uint32_t i = 0; i < b->n; i++)
        b->buffer[i]->methods->release(b->buffer[i]);
    b->n = 0;
}

/* Places the argument in a buffer; false: the driver provides none for it, or there is no room for
 * more. */
static bool use_buffer(struct conform *c, struct buffers *b, struct hal_prepared_model *p,
                       struct conform_request *r, bool is_output, uint32_t index)
{
    const struct hal_buffer_role role = { 0, index, 1 };
    const struct hal_buffer_desc desc = { 0 };
    struct hal_buffer *buffer = NULL;
    uint32_t token = 0;

    if (b->n == MAX_BUFFERS || !c->driver->allocate)
        return false;
    enum hal_status s = c->driver->allocate(c->driver, &desc, 1, &p, !is_output, &role, is_output,
                                            &role, &buffer, &token);
    if (s != HAL_NONE) {
        EXPECT(c, s != HAL_INVALID_ARGUMENT && !buffer && !token,
               "allocate for one %s of a prepared model: %s", is_output ? "output" : "input",
               hal_status_name(s));
        return false;
    }
    b->buffer[b->n++] = buffer;
    conform_request_use_token(r, is_output ? &r->outputs[index] : &r->inputs[index], token);
    return true;
}

static struct hal_memory memory_of(void *address, uint64_t size)
{
    return (struct hal_memory){
        HAL_MEMORY_ADDRESS, HAL_MEMORY_READ | HAL_MEMORY_WRITE, address, -1, 0, size
    };
}

static bool use_input(struct conform *c, struct buffers *b, struct hal_prepared_model *p,
                      struct conform_request *r, uint32_t index)
{
    struct hal_argument *a = &r->inputs[index];
    const struct hal_memory from = memory_of(conform_request_value(r, a), a->location.length);

    if (a->has_no_value || !a->location.length || !use_buffer(c, b, p, r, false, index))
        return false;
    enum hal_status s =
        b->buffer[b->n - 1]->methods->copy_from(b->buffer[b->n - 1], &from, a->n_dims, a->dims);
    return EXPECT(c, s == HAL_NONE, "copy_from of an input's own values: %s", hal_status_name(s));
}

static bool are_shapes_known(const struct conform_model *m)
{
    const struct graph *g = &m->example.model.graph[0];

    for (uint32_t i = 0; i < g->n_inputs; i++) {
        const struct tensor *t = &g->operand[g->input[i]].tensor;
        if (!dtype_info[t->dtype].tensor || !shape_known(&t->shape))
            return false;
    }
    for (uint32_t i = 0; i < g->n_outputs; i++)
        if (!tensor_bytes(&m->example.expected[i]))
            return false;
    return conform_request_is_specified(&m->example);
}

/* The values of all outputs, those in buffers copied out; false: a copy fails. */
static bool take_outputs(struct conform *c, const struct conform_model *m,
                         const struct conform_request *r, struct hal_buffer *const *buffer,
                         struct arena *a, void **ret_value)
{
    for (uint32_t i = 0; i < m->hal.main.n_outputs; i++) {
        const struct tensor *t = &m->example.expected[i];
        ret_value[i] = arena_alloc(a, tensor_bytes(t), 1);
        if (!buffer[i]) {
            memcpy(ret_value[i], conform_request_value(r, &r->outputs[i]), tensor_bytes(t));
            continue;
        }
        const struct hal_memory to = memory_of(ret_value[i], tensor_bytes(t));
        enum hal_status s = buffer[i]->methods->copy_to(buffer[i], &to);
        if (!EXPECT(c, s == HAL_NONE, "%s, copy_to of output %u: %s", m->name, i,
                    hal_status_name(s)))
            return false;
    }
    return true;
}

static void judge_in_buffers(struct conform *c, const struct conform_model *m,
                             struct hal_prepared_model *p, struct conform_judge *j,
                             const struct conform_kind *kind)
{
    const struct hal_execution_config config = client_config();
    uint32_t n_outputs = m->hal.main.n_outputs;
    struct arena *a = arena_new(0);
    struct hal_buffer **of_output = arena_alloc(a, n_outputs, sizeof *of_output);
    void **value = arena_alloc(a, n_outputs, sizeof *value);
    struct buffers b = { .n = 0 };
    struct conform_request r;

    conform_must(of_output && value, "out of memory");
    conform_request(&m->example, a, &r);
    for (uint32_t i = 0; i < n_outputs; i++)
        if (use_buffer(c, &b, p, &r, true, i))
            of_output[i] = b.buffer[b.n - 1];
    for (uint32_t i = 0; i < m->hal.main.n_inputs; i++)
        use_input(c, &b, p, &r, i);
    if (b.n) {
        enum hal_status s = kind->run(p, c->version, &r, &config);
        if (EXPECT(c, s == HAL_NONE, "%s, %s, %u arguments in buffers: %s", m->name, kind->name,
                   b.n, hal_status_name(s)) &&
            take_outputs(c, m, &r, of_output, a, value))
            conform_judge_values(c, j, value, kind->name);
    }
    release_buffers(&b);
    arena_free(a);
}

static void judge_buffers(struct conform *c, const struct conform_model *m,
                          struct hal_prepared_model *p, struct conform_judge *j)
{
    if (!are_shapes_known(m) || j->check.reference_why[0])
        return;
    for (int k = 0; k < conform_n_kinds; k++)
        if (conform_can_run(c, p, &conform_kinds[k], c->version))
            judge_in_buffers(c, m, p, j, &conform_kinds[k]);
}

#define VISIT(visit)                                                                               \
    &(const struct of_models)                                                                      \
    {                                                                                              \
        visit                                                                                      \
    }

static const struct conform_rule rules_of_file[] = {
    { "generated", "judged", HAL_1_0, 0,
      "results of every kind of execution agree with the reference", models, VISIT(judge_kinds) },
    { "generated", "preferences", HAL_1_1, 0,
      "results at every execution preference agree with the reference", models,
      VISIT(judge_preferences) },
    { "generated", "large-numbers", HAL_1_0, 0,
      "results of inputs that are large numbers agree with the reference", models,
      VISIT(judge_large) },
    { "generated", "infinities", HAL_1_0, 0,
      "results of inputs with an infinity agree with the reference", models,
      VISIT(judge_infinite) },
    { "generated", "large-models", HAL_1_0, 0,
      "models of 300 operations, and of 40 inputs and outputs, have the right results",
      large_models },
    { "generated", "large-tensors", HAL_1_0, 0,
      "tensors of more than 100000 elements have the right results", large_tensors },
    { "generated", "buffers", HAL_1_3, 0,
      "results with inputs and outputs in buffers of the driver agree with the reference", models,
      VISIT(judge_buffers) },
};
const struct conform_rules conform_rules_judged = { rules_of_file, COUNT(rules_of_file),
                                                    conform_models_draw, conform_models_free };
