#include "sim/device/profile.h"

#include <stdio.h>
#include <string.h>

#include "sim/device/profile_read.h"
#include "sim/hal/hal_convert.h"

/* ---- identity */

static int parse_identity(const struct profile_reader *r, const json_t *root, struct profile *p)
{
    static const char *const types[] = { "other", "cpu", "gpu", "accelerator", NULL };
    static const char *const kinds[] = { "fp32", "fp16", "fixed", "exact", NULL };
    int type = 0, version = 0, kind = 0;

    TRY(read_text(r, (struct key){ NULL, root, "name", true }, &p->name));
    TRY(read_text(r, (struct key){ NULL, root, "version", true }, &p->version));
    TRY(read_word(r, (struct key){ NULL, root, "type", true }, types, &type));
    TRY(read_word(r, (struct key){ NULL, root, "hal", true }, hal_version_names, &version));
    TRY(read_word(r, (struct key){ NULL, root, "arithmetic", true }, kinds, &kind));
    p->type = (enum hal_device_type)(type + 1);
    p->hal = hal_versions[version];
    p->arithmetic = (enum arithmetic_kind) kind;
    return 0;
}

/* ---- performance */

static int parse_pair(const struct profile_reader *r, struct key m, struct hal_performance *ret)
{
    static const char *const keys[] = { "time", "power", NULL };
    struct key_path here = { m.at, m.key, 0 };
    const json_t *pair = NULL;
    double time = 0, power = 0;

    TRY(read_object(r, m, &pair));
    TRY(read_check_keys(r, &here, pair, keys));
    TRY(read_number(r, (struct key){ &here, pair, "time", true }, 1e-30, &time));
    TRY(read_number(r, (struct key){ &here, pair, "power", true }, 1e-30, &power));
    *ret = (struct hal_performance){ (float) time, (float) power };
    return 0;
}

static int parse_operand_types(const struct profile_reader *r, const struct key_path *at,
                               const json_t *operands, struct hal_capabilities *c)
{
    struct hal_operand_performance *row =
        arena_alloc(r->arena, json_object_size(operands) + 1, sizeof(*row));
    const char *key;
    json_t *value;

    if (!row)
        return why_no_memory_for(r->w, "%s", r->file);
    json_object_foreach((json_t *) (uintptr_t) operands, key, value)
    {
        struct key_path here = { at, key, 0 };
        if (dtype_by_name(key) < 0 || dtype_by_name(key) == DT_MODEL)
            return read_fail(r, &here, "an operand type as the key", value);
    }
    for (int32_t type = 0; type < DT_COUNT; type++) {
        const char *name = dtype_info[type].name;
        if (!json_object_get(operands, name))
            continue;
        row[c->n_operands].type = type;
        TRY(parse_pair(r, (struct key){ at, operands, name, true }, &row[c->n_operands++].info));
    }
    c->operand = row;
    return 0;
}

static int parse_performance(const struct profile_reader *r, const json_t *root, struct profile *p)
{
    static const char *const keys[] = { "relaxed_scalar", "relaxed_tensor", "if",
                                        "while",          "operand",        NULL };
    struct key_path here = { NULL, "performance", 0 }, operand = { &here, "operand", 0 };
    struct hal_capabilities *c = &p->capabilities;
    const json_t *table, *operands;

    TRY(read_object(r, (struct key){ NULL, root, "performance", true }, &table));
    TRY(read_check_keys(r, &here, table, keys));
    TRY(parse_pair(r, (struct key){ &here, table, "relaxed_scalar", true }, &c->relaxed_scalar));
    TRY(parse_pair(r, (struct key){ &here, table, "relaxed_tensor", true }, &c->relaxed_tensor));
    TRY(parse_pair(r, (struct key){ &here, table, "if", true }, &c->if_performance));
    TRY(parse_pair(r, (struct key){ &here, table, "while", true }, &c->while_performance));
    TRY(read_object(r, (struct key){ &here, table, "operand", true }, &operands));
    return parse_operand_types(r, &operand, operands, c);
}

/* ---- cost, queue, cache */

static int parse_rates(const struct profile_reader *r, const struct key_path *at,
                       const json_t *cost, struct profile *p)
{
    struct key_path here = { at, "rate", 0 };
    double otherwise = 1e9;
    const json_t *table;
    const char *key;
    json_t *value;

    TRY(read_object(r, (struct key){ at, cost, "rate", true }, &table));
    TRY(read_number(r, (struct key){ &here, table, "default", true }, 1e-30, &otherwise));
    for (int i = 0; i < DT_END; i++)
        p->rate[i] = otherwise;
    json_object_foreach((json_t *) (uintptr_t) table, key, value)
    {
        struct key_path row = { &here, key, 0 };
        int type = dtype_by_name(key);
        if (type < 0 && strcmp(key, "default"))
            return read_fail(r, &row, "an operand type or \"default\" as the key", value);
        if (type >= 0)
            TRY(read_number(r, (struct key){ &here, table, key, true }, 1e-30, &p->rate[type]));
    }
    return 0;
}

static int parse_cost(const struct profile_reader *r, const json_t *root, struct profile *p)
{
    static const char *const keys[] = {
        "launch_ns", "driver_ns", "operation_ns", "prepare_ns", "prepare_operation_ns", "bandwidth",
        "rate",      NULL
    };
    struct key_path here = { NULL, "cost", 0 };
    const json_t *table;

    TRY(read_object(r, (struct key){ NULL, root, "cost", true }, &table));
    TRY(read_check_keys(r, &here, table, keys));
    TRY(read_number(r, (struct key){ &here, table, "launch_ns", true }, 0, &p->launch_ns));
    TRY(read_number(r, (struct key){ &here, table, "driver_ns", true }, 0, &p->driver_ns));
    TRY(read_number(r, (struct key){ &here, table, "operation_ns", true }, 1e-30,
                    &p->operation_ns));
    TRY(read_number(r, (struct key){ &here, table, "prepare_ns", false }, 0, &p->prepare_ns));
    TRY(read_number(r, (struct key){ &here, table, "prepare_operation_ns", false }, 0,
                    &p->prepare_operation_ns));
    TRY(read_number(r, (struct key){ &here, table, "bandwidth", true }, 1e-30, &p->bandwidth));
    return parse_rates(r, &here, table, p);
}

static int parse_resources(const struct profile_reader *r, const json_t *root, struct profile *p)
{
    static const char *const queue_keys[] = { "depth", "priorities", NULL };
    static const char *const cache_keys[] = { "model_files", "data_files", NULL };
    struct key_path queue_at = { NULL, "queue", 0 }, cache_at = { NULL, "cache", 0 };
    const json_t *queue, *cache;

    p->memory = UINT64_C(1) << 30;
    p->queue_depth = 1;
    p->priorities = 3;
    TRY(read_count(r, (struct key){ NULL, root, "memory", false }, UINT64_C(1) << 40, &p->memory));
    TRY(read_object(r, (struct key){ NULL, root, "queue", false }, &queue));
    TRY(read_object(r, (struct key){ NULL, root, "cache", false }, &cache));
    TRY(read_check_keys(r, &queue_at, queue, queue_keys));
    TRY(read_check_keys(r, &cache_at, cache, cache_keys));
    TRY(read_count32(r, (struct key){ &queue_at, queue, "depth" }, 1024, &p->queue_depth));
    TRY(read_count32(r, (struct key){ &queue_at, queue, "priorities" }, 3, &p->priorities));
    TRY(read_count32(r, (struct key){ &cache_at, cache, "model_files" }, HAL_MAX_CACHE_FILES,
                     &p->model_cache_files));
    return read_count32(r, (struct key){ &cache_at, cache, "data_files" }, HAL_MAX_CACHE_FILES,
                        &p->data_cache_files);
}

/* Quotas of one client. */
static int parse_limits(const struct profile_reader *r, const json_t *root,
                        struct client_limits *ret)
{
    static const char *const keys[] = { "models", "memory", "executions", "sessions", NULL };
    struct key_path here = { NULL, "limits", 0 };
    const json_t *table;

    *ret = client_limits_default;
    TRY(read_object(r, (struct key){ NULL, root, "limits", false }, &table));
    TRY(read_check_keys(r, &here, table, keys));
    TRY(read_count(r, (struct key){ &here, table, "models" }, UINT32_MAX,
                   &ret->most[QUOTA_MODELS]));
    TRY(read_count(r, (struct key){ &here, table, "memory" }, UINT64_C(1) << 40,
                   &ret->most[QUOTA_MEMORY]));
    TRY(read_count(r, (struct key){ &here, table, "executions" }, 1024,
                   &ret->most[QUOTA_EXECUTIONS]));
    return read_count32(r, (struct key){ &here, table, "sessions" }, 256, &ret->sessions);
}

static int parse_burst(const struct profile_reader *r, const json_t *root, struct profile *p)
{
    static const char *const keys[] = { "idle_ms", NULL };
    struct key_path here = { NULL, "burst", 0 };
    const json_t *table;
    uint64_t ms = 0;

    TRY(read_object(r, (struct key){ NULL, root, "burst", false }, &table));
    TRY(read_check_keys(r, &here, table, keys));
    TRY(read_count(r, (struct key){ &here, table, "idle_ms", false }, 3600000, &ms));
    p->burst_idle_ns = ms * 1000000;
    return 0;
}

/* ---- rules */

static int parse_ops(const struct profile_reader *r, const struct key_path *at, const json_t *table,
                     struct rule *rule)
{
    struct key_path here = { at, "names", 0 };
    const json_t *names;
    size_t i;
    json_t *v;

    TRY(read_array(r, (struct key){ at, table, "names", true }, &names));
    rule->op = arena_alloc(r->arena, json_array_size(names), sizeof(const struct op *));
    if (!rule->op)
        return why_no_memory_for(r->w, "%s", r->file);
    json_array_foreach(names, i, v)
    {
        struct key_path entry = { &here, NULL, i };
        const struct op *op = json_is_string(v) ? op_by_name(json_string_value(v)) : NULL;
        if (!op)
            return read_fail(r, &entry, "the name of an operation of the catalogue", v);
        rule->op[rule->n_ops++] = op;
    }
    return 0;
}

static int parse_types(const struct profile_reader *r, const struct key_path *at,
                       const json_t *table, struct rule *rule)
{
    struct key_path here = { at, "types", 0 };
    const json_t *types;
    size_t i;
    json_t *v;

    TRY(read_array(r, (struct key){ at, table, "types", true }, &types));
    json_array_foreach(types, i, v)
    {
        struct key_path entry = { &here, NULL, i };
        int type = json_is_string(v) ? dtype_by_name(json_string_value(v)) : -1;
        if (type < 0)
            return read_fail(r, &entry, "the name of an operand type", v);
        rule->types |= 1u << type;
    }
    return 0;
}

static int parse_windows(const struct profile_reader *r, const struct key_path *at,
                         const json_t *table, struct rule *rule)
{
    struct key_path here = { at, "windows", 0 };
    const json_t *windows;
    struct window_size *size;
    size_t i;
    json_t *v;

    TRY(read_array(r, (struct key){ at, table, "windows", false }, &windows));
    size = arena_alloc(r->arena, json_array_size(windows), sizeof(*size));
    if (!size)
        return why_no_memory_for(r->w, "%s", r->file);
    json_array_foreach(windows, i, v)
    {
        struct key_path entry = { &here, NULL, i };
        json_int_t h = json_integer_value(json_array_get(v, 0));
        json_int_t w = json_integer_value(json_array_get(v, 1));
        if (json_array_size(v) != 2 || h < 1 || w < 1 || h > 65535 || w > 65535)
            return read_fail(r, &entry, "a pair of height and width", v);
        size[rule->n_windows++] = (struct window_size){ (uint32_t) h, (uint32_t) w };
    }
    rule->windows = size;
    return 0;
}

static bool has_role(const struct rule *rule, const char *name)
{
    for (uint32_t o = 0; o < rule->n_ops; o++)
        for (int i = 0; i < rule->op[o]->n_in; i++)
            if (strcmp(rule->op[o]->in[i].name, name) == 0)
                return true;
    return false;
}

static int parse_constants(const struct profile_reader *r, const struct key_path *at,
                           const json_t *table, struct rule *rule)
{
    struct key_path here = { at, "constant", 0 };
    const json_t *roles;
    size_t i;
    json_t *v;

    TRY(read_array(r, (struct key){ at, table, "constant", false }, &roles));
    rule->constants = arena_alloc(r->arena, json_array_size(roles), sizeof(const char *));
    if (!rule->constants)
        return why_no_memory_for(r->w, "%s", r->file);
    json_array_foreach(roles, i, v)
    {
        struct key_path entry = { &here, NULL, i };
        if (!json_is_string(v) || !has_role(rule, json_string_value(v)))
            return read_fail(r, &entry, "the name of an operand of these operations", v);
        rule->constants[rule->n_constants] = arena_strdup(r->arena, json_string_value(v));
        if (!rule->constants[rule->n_constants++])
            return why_no_memory_for(r->w, "%s", r->file);
    }
    return 0;
}

static int parse_rule(const struct profile_reader *r, const struct key_path *at,
                      const json_t *table, struct rule *rule)
{
    static const char *const keys[] = { "names",        "types",      "windows",    "constant",
                                        "max_rank",     "max_window", "max_stride", "max_dilation",
                                        "max_elements", "nchw",       "broadcast",  NULL };

    if (!json_is_object(table))
        return read_fail(r, at, "a table", table);
    TRY(read_check_keys(r, at, table, keys));
    rule->nchw = rule->broadcast = true;
    TRY(parse_ops(r, at, table, rule));
    TRY(parse_types(r, at, table, rule));
    TRY(parse_windows(r, at, table, rule));
    TRY(parse_constants(r, at, table, rule));
    TRY(read_count32(r, (struct key){ at, table, "max_rank" }, MAX_RANK, &rule->max_rank));
    TRY(read_count32(r, (struct key){ at, table, "max_window" }, 65535, &rule->max_window));
    TRY(read_count32(r, (struct key){ at, table, "max_stride" }, 65535, &rule->max_stride));
    TRY(read_count32(r, (struct key){ at, table, "max_dilation" }, 65535, &rule->max_dilation));
    TRY(read_count(r, (struct key){ at, table, "max_elements" }, UINT32_MAX, &rule->max_elements));
    TRY(read_flag(r, (struct key){ at, table, "nchw" }, &rule->nchw));
    return read_flag(r, (struct key){ at, table, "broadcast" }, &rule->broadcast);
}

static int parse_rules(const struct profile_reader *r, const json_t *root, struct profile *p)
{
    struct key_path here = { NULL, "operations", 0 };
    const json_t *list;
    struct rule *rules;
    size_t i;
    json_t *v;

    TRY(read_array(r, (struct key){ NULL, root, "operations", true }, &list));
    p->rules = rules = arena_alloc(r->arena, json_array_size(list), sizeof(*rules));
    if (!rules)
        return why_no_memory_for(r->w, "%s", r->file);
    json_array_foreach(list, i, v)
    {
        struct key_path entry = { &here, NULL, i };
        TRY(parse_rule(r, &entry, v, &rules[p->n_rules++]));
    }
    return 0;
}

/* ---- vendor extensions */

static int complain_of_extension(const struct profile_reader *r, const struct key_path *at,
                                 const json_t *name)
{
    char text[400] = "the name of an extension: one of";
    const char *before = " ";

    for (int x = EXTENSION_NONE + 1; x < EXTENSION_END; x++)
        if (EXTENSIONS_NAMED & EXTENSION_BIT(x)) {
            size_t n = strlen(text);
            snprintf(text + n, sizeof(text) - n, "%s%s", before, extension_name[x]);
            before = ", ";
        }
    return read_fail(r, at, text, name);
}

static int parse_extensions(const struct profile_reader *r, const json_t *root, struct profile *p)
{
    struct key_path here = { NULL, "extensions", 0 };
    const json_t *list;
    bool oem = false;
    size_t i;
    json_t *v;

    TRY(read_array(r, (struct key){ NULL, root, "extensions", false }, &list));
    json_array_foreach(list, i, v)
    {
        struct key_path entry = { &here, NULL, i };
        enum extension_prefix x =
            json_is_string(v) ? extension_by_name(json_string_value(v)) : EXTENSION_NONE;
        if (x == EXTENSION_NONE)
            return complain_of_extension(r, &entry, v);
        if (p->hal < HAL_1_2)
            return read_fail(r, &entry, "no extensions before HAL 1.2", v);
        p->extensions |= EXTENSION_BIT(x);
    }
    TRY(read_flag(r, (struct key){ NULL, root, "oem" }, &oem));
    if (oem)
        p->extensions |= EXTENSION_BIT(EXTENSION_oem);
    return 0;
}

/* ---- the profile */

static int parse_root(const struct profile_reader *r, const json_t *root, struct profile *p)
{
    static const char *const keys[] = { "name",       "version",    "type",  "hal",
                                        "arithmetic", "memory",     "queue", "limits",
                                        "cache",      "burst",      "cost",  "performance",
                                        "operations", "extensions", "oem",   NULL };

    if (!json_is_object(root))
        return read_fail(r, NULL, "a table", root);
    TRY(read_check_keys(r, NULL, root, keys));
    TRY(parse_identity(r, root, p));
    TRY(parse_performance(r, root, p));
    TRY(parse_resources(r, root, p));
    TRY(parse_limits(r, root, &p->limits));
    TRY(parse_burst(r, root, p));
    TRY(parse_cost(r, root, p));
    TRY(parse_rules(r, root, p));
    return parse_extensions(r, root, p);
}

int profile_parse(const char *json, const char *file, struct profile **ret_profile, struct why *w)
{
    struct arena *a = arena_new(0);
    struct profile_reader r = { file, a, w };
    struct profile *p = a ? arena_alloc(a, 1, sizeof(*p)) : NULL;
    json_error_t error;
    json_t *root;
    int rc;

    if (!p) {
        arena_free(a);
        return why_no_memory_for(r.w, "%s", r.file);
    }
    p->arena = a;
    root = json_loads(json, JSON_REJECT_DUPLICATES, &error);
    rc = root ? parse_root(&r, root, p)
              : why_fail(w, WHY_INVALID, "%s: line %d: %s", file, error.line, error.text);
    json_decref(root);
    if (rc < 0) {
        arena_free(a);
        return -1;
    }
    *ret_profile = p;
    return 0;
}

void profile_free(struct profile *p)
{
    if (p)
        arena_free(p->arena);
}
