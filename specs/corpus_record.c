/* Reads a record and checks its structure: the range of every number and of every index.  Whether
 * the model is legal NNAPI is checked by model_validate(). */
#include "specs/corpus_record.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "golden/base/suggest.h"
#include "specs/op_names.h"
#include "specs/values.h"

enum { WHERE = 96, POOL_ALIGN = 8 };

struct reader {
    struct arena *arena;
    uint32_t n_referenced;
    struct values *values; /* of the main graph's operands */
    bool *ignored;         /* of the main graph's operands */
};

static void *take(struct arena *a, size_t n, size_t size, struct why *w)
{
    void *p = arena_alloc(a, n, size);
    if (!p)
        why_no_memory_for(w, "%zu times %zu bytes", n, size);
    return p;
}

/* Whether the object has no other members than those named; names end with NULL. */
static int check_members(const json_t *object, const char *where, const char *const *names,
                         struct why *w)
{
    const char *key;
    json_t *value;

    REQUIRE(w, json_is_object(object), "%s: not an object", where);
    json_object_foreach((json_t *) object, key, value)
    {
        const char *const *name = names;
        struct suggestion s = suggest_for(key);
        char near[SUGGEST_TEXT];
        for (; *name && strcmp(*name, key) != 0; name++)
            suggest_candidate(&s, *name);
        REQUIRE(w, *name, "%s: unknown member \"%.40s\"%s", where, key, suggest_text(&s, "", near));
    }
    return 0;
}

/* The read_ functions leave the default of an absent member; a present one must have the type and
 * lie in its range. */
static int read_string(const json_t *object, const char *key, const char *where, const char **text,
                       struct why *w)
{
    const json_t *value = json_object_get(object, key);

    if (!value)
        return 0;
    REQUIRE(w, json_is_string(value), "%s.%s: not a string", where, key);
    *text = json_string_value(value);
    return 0;
}

static int read_flag(const json_t *object, const char *key, const char *where, bool *flag,
                     struct why *w)
{
    const json_t *value = json_object_get(object, key);

    if (!value)
        return 0;
    REQUIRE(w, json_is_boolean(value), "%s.%s: not true or false", where, key);
    *flag = json_is_true(value);
    return 0;
}

static int read_int(const json_t *object, const char *key, const char *where, int64_t min,
                    int64_t max, int64_t *number, struct why *w)
{
    const json_t *value = json_object_get(object, key);

    if (!value)
        return 0;
    REQUIRE(w, json_is_integer(value), "%s.%s: not an integer", where, key);
    json_int_t got = json_integer_value(value);
    REQUIRE(w, got >= min && got <= max, "%s.%s: %lld is not in %lld..%lld", where, key,
            (long long) got, (long long) min, (long long) max);
    *number = got;
    return 0;
}

static int to_scale(const json_t *value, const char *where, float *ret_scale, struct why *w)
{
    double scale = json_number_value(value);

    REQUIRE(w, json_is_number(value), "%s: not a number", where);
    REQUIRE(w, scale >= 0 && scale <= FLT_MAX, "%s: %g is no scale: must be finite, at least 0",
            where, scale);
    *ret_scale = (float) scale;
    return 0;
}

static int read_channel(const json_t *object, const char *where, struct arena *a, struct tensor *t,
                        struct why *w)
{
    static const char *const members[] = { "dim", "scales", NULL };
    const json_t *channel = json_object_get(object, "channel");
    char here[WHERE + 48];
    int64_t dim = -1;

    if (!channel)
        return 0;
    snprintf(here, sizeof here, "%s.channel", where);
    TRY(check_members(channel, here, members, w));
    TRY(read_int(channel, "dim", here, 0, MAX_RANK - 1, &dim, w));
    const json_t *scales = json_object_get(channel, "scales");
    REQUIRE(w, dim >= 0 && json_is_array(scales), "%s: dim or scales missing", here);
    size_t n = json_array_size(scales);
    float *scale = take(a, n, sizeof *scale, w);
    if (!scale)
        return -1;
    for (size_t i = 0; i < n; i++) {
        snprintf(here, sizeof here, "%s.channel.scales[%zu]", where, i);
        TRY(to_scale(json_array_get(scales, i), here, &scale[i], w));
    }
    t->channel_dim = (uint32_t) dim;
    t->n_channels = (uint32_t) n;
    t->channel_scale = scale;
    return 0;
}

static int read_type(const json_t *object, const char *where, struct arena *a,
                     struct tensor *ret_tensor, struct why *w)
{
    const json_t *dims = json_object_get(object, "dims"), *scale = json_object_get(object, "scale");
    struct tensor t = { 0 };
    const char *type = NULL, *extension = NULL;
    char here[WHERE + 48], suggested[SUGGEST_TEXT];
    int64_t zero = 0;
    void *data = NULL;

    TRY(read_string(object, "type", where, &type, w));
    REQUIRE(w, type, "%s.type: missing", where);
    int dtype = type_name_dtype(type);
    REQUIRE(w, dtype >= 0, "%s.type: %.60s is not an operand type%s", where, type,
            type_name_suggestion(type, suggested));
    t.dtype = (enum dtype) dtype;

    REQUIRE(w, !dims || json_is_array(dims), "%s.dims: not a list", where);
    REQUIRE(w, json_array_size(dims) <= MAX_RANK, "%s.dims: rank %zu is more than %d", where,
            json_array_size(dims), MAX_RANK);
    t.shape.rank = (uint32_t) json_array_size(dims);
    for (uint32_t i = 0; i < t.shape.rank; i++) {
        const json_t *dim = json_array_get(dims, i);
        json_int_t size = json_integer_value(dim);
        REQUIRE(w, json_is_integer(dim) && size >= 0 && size <= UINT32_MAX,
                "%s.dims[%u]: not a dimension", where, i);
        t.shape.dim[i] = (uint32_t) size;
    }
    REQUIRE(w, dtype_info[dtype].tensor || t.shape.rank == 0, "%s: %s with dimensions", where,
            type);
    REQUIRE(w, shape_check_size(&t.shape, dtype_info[dtype].codec->size) == 0,
            "%s.dims: more than 2^32 bytes", where);

    TRY(read_int(object, "zero", where, INT32_MIN, INT32_MAX, &zero, w));
    t.zero = (int32_t) zero;
    snprintf(here, sizeof here, "%s.scale", where);
    if (scale)
        TRY(to_scale(scale, here, &t.scale, w));
    TRY(read_channel(object, where, a, &t, w));

    TRY(read_string(object, "extension", where, &extension, w));
    if (extension &&
        base64_decode(extension, strlen(extension), a, &data, &t.extension_length, w) < 0)
        return why_prefix(w, "%s.extension", where);
    t.extension = data;
    *ret_tensor = t;
    return 0;
}

static int read_life(const json_t *object, const char *where, enum lifetime *ret_life,
                     struct why *w)
{
    const char *name = NULL;

    TRY(read_string(object, "life", where, &name, w));
    for (int i = 0; name && i < LIFE_COUNT; i++) {
        if (strcmp(lifetime_name[i], name) == 0) {
            *ret_life = (enum lifetime) i;
            return 0;
        }
    }
    return why_fail(w, WHY_INVALID, "%s.life: %.60s is not a lifetime", where,
                    name ? name : "missing");
}

static int read_subgraph(const struct reader *r, const json_t *object, const char *where,
                         struct operand *o, struct why *w)
{
    const json_t *data = json_object_get(object, "data");
    const json_t *index = json_array_get(data, 0);

    REQUIRE(w, json_array_size(data) == 1 && json_is_integer(index),
            "%s.data: not a list with the index of one referenced model", where);
    json_int_t i = json_integer_value(index);
    REQUIRE(w, i >= 0 && i < r->n_referenced, "%s.data[0]: %lld is not one of %u referenced models",
            where, (long long) i, r->n_referenced);
    o->subgraph = (uint32_t) i + 1;
    return 0;
}

/* Stores the values of a constant in the operand; those of inputs and outputs stay in *v. */
static int place_values(struct operand *o, const struct values *v, bool main, const char *where,
                        struct why *w)
{
    const struct tensor *t = &o->tensor;
    char text[SHAPE_TEXT];

    switch (o->life) {
    case LIFE_CONSTANT_COPY:
    case LIFE_CONSTANT_REFERENCE:
        if (v->count == 0)
            return 0;
        REQUIRE(w, v->count == shape_count(&t->shape), "%s: %zu values for %s", where, v->count,
                shape_text(&t->shape, text));
        o->tensor.data = v->data;
        o->length = v->count * dtype_info[t->dtype].codec->size;
        return 0;
    case LIFE_INPUT:
    case LIFE_OUTPUT:
        REQUIRE(w, !v->given || main, "%s: values for a subgraph's input or output", where);
        return 0;
    default: REQUIRE(w, !v->given, "%s: values for %s", where, lifetime_name[o->life]); return 0;
    }
}

static int read_operand(const struct reader *r, const json_t *object, const char *where, bool main,
                        uint32_t index, struct operand *ret_operand, struct why *w)
{
    static const char *const members[] = { "name", "type",    "dims",  "scale",
                                           "zero", "channel", "bytes", "extension",
                                           "life", "ignored", "data",  NULL };
    struct operand o = { 0 };
    struct values values = { 0 };
    const char *name = NULL;
    bool ignored = false;

    TRY(check_members(object, where, members, w));
    TRY(read_type(object, where, r->arena, &o.tensor, w));
    TRY(read_life(object, where, &o.life, w));
    TRY(read_string(object, "name", where, &name, w));
    TRY(read_flag(object, "ignored", where, &ignored, w));
    REQUIRE(w, (o.tensor.dtype == DT_MODEL) == (o.life == LIFE_SUBGRAPH), "%s: %s with lifetime %s",
            where, dtype_info[o.tensor.dtype].name, lifetime_name[o.life]);
    REQUIRE(w, !ignored || (main && o.life == LIFE_OUTPUT), "%s.ignored: not an output", where);
    if (o.life == LIFE_SUBGRAPH) {
        TRY(read_subgraph(r, object, where, &o, w));
    } else {
        TRY(values_read(object, o.tensor.dtype, where, r->arena, &values, w));
        TRY(place_values(&o, &values, main, where, w));
    }
    o.name = name ? arena_strdup(r->arena, name) : NULL;
    if (main) {
        r->values[index] = values;
        r->ignored[index] = ignored;
    }
    *ret_operand = o;
    return 0;
}

/* A list of indexes below `limit`. */
static int read_indexes(const json_t *object, const char *key, const char *where, uint32_t limit,
                        struct arena *a, uint32_t **ret_index, uint32_t *ret_n, struct why *w)
{
    const json_t *list = json_object_get(object, key);
    size_t n = json_array_size(list);

    REQUIRE(w, json_is_array(list) && n <= UINT32_MAX, "%s.%s: not a list", where, key);
    uint32_t *index = take(a, n, sizeof *index, w);
    if (!index)
        return -1;
    for (size_t i = 0; i < n; i++) {
        const json_t *value = json_array_get(list, i);
        json_int_t at = json_integer_value(value);
        REQUIRE(w, json_is_integer(value) && at >= 0 && at < limit,
                "%s.%s[%zu]: not the index of one of %u operands", where, key, i, limit);
        index[i] = (uint32_t) at;
    }
    *ret_index = index;
    *ret_n = (uint32_t) n;
    return 0;
}

static int read_operation(const struct reader *r, const json_t *object, const char *where,
                          uint32_t n_operands, struct operation *op, struct why *w)
{
    static const char *const members[] = { "op", "in", "out", NULL };
    const char *name = NULL;
    char text[SUGGEST_TEXT];

    TRY(check_members(object, where, members, w));
    TRY(read_string(object, "op", where, &name, w));
    REQUIRE(w, name, "%s.op: missing", where);
    op->code = op_name_code(name);
    REQUIRE(w, op->code >= 0, "%s.op: %.60s is not an operation%s", where, name,
            op_name_suggestion(name, text));
    TRY(read_indexes(object, "in", where, n_operands, r->arena, &op->in, &op->n_in, w));
    return read_indexes(object, "out", where, n_operands, r->arena, &op->out, &op->n_out, w);
}

/* Checks that the graph's inputs or outputs are operands of that lifetime. */
static int check_roles(const struct graph *g, const uint32_t *index, uint32_t n, enum lifetime life,
                       const char *where, const char *key, struct why *w)
{
    for (uint32_t i = 0; i < n; i++)
        REQUIRE(w, g->operand[index[i]].life == life, "%s.%s[%u]: operand %u is a %s", where, key,
                i, index[i], lifetime_name[g->operand[index[i]].life]);
    return 0;
}

static int read_graph(struct reader *r, const json_t *object, const char *where, bool main,
                      struct graph *ret_graph, struct why *w)
{
    static const char *const members[] = { "operands", "operations", "inputs", "outputs", NULL };
    struct graph g = { 0 };
    char here[WHERE];

    TRY(check_members(object, where, members, w));
    const json_t *operands = json_object_get(object, "operands");
    const json_t *operations = json_object_get(object, "operations");
    REQUIRE(w, json_is_array(operands) && json_is_array(operations),
            "%s: operands or operations missing, or not a list", where);
    g.n_operands = (uint32_t) json_array_size(operands);
    g.n_operations = (uint32_t) json_array_size(operations);
    g.operand = take(r->arena, g.n_operands, sizeof *g.operand, w);
    g.operation = take(r->arena, g.n_operations, sizeof *g.operation, w);
    if (main) {
        r->values = take(r->arena, g.n_operands, sizeof *r->values, w);
        r->ignored = take(r->arena, g.n_operands, sizeof *r->ignored, w);
    }
    if (!g.operand || !g.operation || !r->values || !r->ignored)
        return -1;
    for (uint32_t i = 0; i < g.n_operands; i++) {
        snprintf(here, sizeof here, "%s.operands[%u]", where, i);
        TRY(read_operand(r, json_array_get(operands, i), here, main, i, &g.operand[i], w));
    }
    for (uint32_t i = 0; i < g.n_operations; i++) {
        snprintf(here, sizeof here, "%s.operations[%u]", where, i);
        TRY(read_operation(r, json_array_get(operations, i), here, g.n_operands, &g.operation[i],
                           w));
    }
    TRY(read_indexes(object, "inputs", where, g.n_operands, r->arena, &g.input, &g.n_inputs, w));
    TRY(read_indexes(object, "outputs", where, g.n_operands, r->arena, &g.output, &g.n_outputs, w));
    TRY(check_roles(&g, g.input, g.n_inputs, LIFE_INPUT, where, "inputs", w));
    TRY(check_roles(&g, g.output, g.n_outputs, LIFE_OUTPUT, where, "outputs", w));
    *ret_graph = g;
    return 0;
}

static size_t padded(size_t length)
{
    return (length + POOL_ALIGN - 1) / POOL_ALIGN * POOL_ALIGN;
}

/* Moves CONSTANT_REFERENCE operands into one memory pool. */
static int make_pool(struct model *m, struct arena *a, struct why *w)
{
    size_t total = 0, used = 0;

    for (uint32_t g = 0; g < m->n_graphs; g++)
        for (uint32_t i = 0; i < m->graph[g].n_operands; i++)
            if (m->graph[g].operand[i].life == LIFE_CONSTANT_REFERENCE)
                total += padded(m->graph[g].operand[i].length);
    if (total == 0)
        return 0;
    char *bytes = take(a, total, 1, w);
    m->pool = take(a, 1, sizeof *m->pool, w);
    if (!bytes || !m->pool)
        return -1;
    for (uint32_t g = 0; g < m->n_graphs; g++) {
        for (uint32_t i = 0; i < m->graph[g].n_operands; i++) {
            struct operand *o = &m->graph[g].operand[i];
            if (o->life != LIFE_CONSTANT_REFERENCE || o->length == 0)
                continue;
            o->tensor.data = memcpy(bytes + used, o->tensor.data, o->length);
            used += padded(o->length);
        }
    }
    m->pool[0] = (struct pool){ .data = bytes, .length = total };
    m->n_pools = 1;
    return 0;
}

/* Values of inputs (empty: omitted) and of outputs (missing: not compared). */
static int read_values(const struct reader *r, const struct graph *g, const uint32_t *index,
                       uint32_t n, bool input, struct tensor **ret_tensors, struct why *w)
{
    struct tensor *tensors = take(r->arena, n, sizeof *tensors, w);

    if (!tensors)
        return -1;
    for (uint32_t i = 0; i < n; i++) {
        const struct values *v = &r->values[index[i]];
        struct tensor *t = &tensors[i];
        *t = g->operand[index[i]].tensor;
        if (!v->given || (input && v->count == 0))
            continue;
        if (values_shape(&g->operand[index[i]].tensor, v->count, &t->shape, w) < 0)
            return why_prefix(w, "main.operands[%u]", index[i]);
        t->data = v->data;
    }
    *ret_tensors = tensors;
    return 0;
}

static int read_header(const json_t *record, struct arena *a, struct example *e, struct why *w)
{
    static const char *const members[] = { "name",       "since",
                                           "relaxed",    "expect_failure",
                                           "level",      "multinomial_tolerance",
                                           "accuracy",   "main",
                                           "referenced", NULL };
    /* by feature level, for records that give only its number */
    static const char *const origin[] = { "UNKNOWN", "V1_0",    "V1_1",    "V1_2",   "V1_3",
                                          "AIDL_V1", "AIDL_V2", "AIDL_V3", "AIDL_V4" };
    const json_t *tolerance = json_object_get(record, "multinomial_tolerance");
    const char *name = "", *accuracy = NULL;
    int64_t level = 0;

    TRY(check_members(record, "record", members, w));
    TRY(read_int(record, "level", "record", 1, 8, &level, w));
    e->since = origin[level];
    TRY(read_string(record, "name", "record", &name, w));
    TRY(read_string(record, "since", "record", &e->since, w));
    TRY(read_string(record, "accuracy", "record", &accuracy, w));
    TRY(read_flag(record, "relaxed", "record", &e->model.relaxed, w));
    TRY(read_flag(record, "expect_failure", "record", &e->expect_failure, w));
    REQUIRE(w, !tolerance || json_number_value(tolerance) > 0,
            "record.multinomial_tolerance: not a positive number");
    e->multinomial_tolerance = json_number_value(tolerance);
    e->name = arena_strdup(a, name);
    e->since = arena_strdup(a, e->since);
    return e->name && e->since ? 0 : why_no_memory(w);
}

int corpus_record_read(const json_t *record, struct arena *a, struct example *ret_example,
                       struct why *w)
{
    struct example e = { 0 };
    struct model *m = &e.model;
    char where[WHERE];

    TRY(read_header(record, a, &e, w));
    const json_t *referenced = json_object_get(record, "referenced");
    REQUIRE(w, !referenced || json_is_array(referenced), "referenced: not a list");
    struct reader r = { .arena = a, .n_referenced = (uint32_t) json_array_size(referenced) };
    m->n_graphs = r.n_referenced + 1;
    m->graph = take(a, m->n_graphs, sizeof *m->graph, w);
    if (!m->graph)
        return -1;
    TRY(read_graph(&r, json_object_get(record, "main"), "main", true, &m->graph[0], w));
    for (uint32_t i = 0; i < r.n_referenced; i++) {
        snprintf(where, sizeof where, "referenced[%u]", i);
        TRY(read_graph(&r, json_array_get(referenced, i), where, false, &m->graph[i + 1], w));
    }
    TRY(make_pool(m, a, w));

    const struct graph *g = &m->graph[0];
    TRY(read_values(&r, g, g->input, g->n_inputs, true, &e.in, w));
    TRY(read_values(&r, g, g->output, g->n_outputs, false, &e.expected, w));
    e.ignored = take(a, g->n_outputs, sizeof *e.ignored, w);
    if (!e.ignored)
        return -1;
    for (uint32_t i = 0; i < g->n_outputs; i++)
        e.ignored[i] = r.ignored[g->output[i]];
    model_count_consumers(m);
    if (model_name_extensions(m, a) < 0)
        return why_no_memory(w);
    *ret_example = e;
    return 0;
}
