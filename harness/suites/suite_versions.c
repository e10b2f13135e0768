/* Differences between versions: device information and capabilities, operand types, units of
 * durations, width of numbers, hints. */
#include <string.h>

#include "harness/conform/conform_requests.h"
#include "harness/corrupt/conform_mutations.h"
#include "sim/client/hal_calls.h"
#include "sim/hal/hal_convert.h"

/* ---- device information and capabilities */

static void expect_info(struct conform *c, const char *what, enum hal_status status, bool written)
{
    bool available = c->driver->hal_version >= HAL_1_2;

    EXPECT(c, status == (available ? HAL_NONE : HAL_GENERAL_FAILURE) && written == available,
           "%s of a driver of HAL %s: %s, and its result is %s", what,
           hal_version_name(c->driver->hal_version), hal_status_name(status),
           written ? "written" : "not written");
}

static void device_info(struct conform *c, const void *data)
{
    struct hal_driver *d = c->driver;
    enum hal_device_type type = (enum hal_device_type) 99;
    const char *text = NULL;
    uint32_t n_model = 99, n_data = 99;

    (void) data;
    enum hal_status s = HAL_GENERAL_FAILURE;
    if (d->get_type)
        s = d->get_type(d, &type);
    expect_info(c, "get_type", s, (int) type != 99);
    s = HAL_GENERAL_FAILURE;
    if (d->get_version_string)
        s = d->get_version_string(d, &text);
    expect_info(c, "get_version_string", s, text);
    if (conform_cache_files_needed(c, &n_model, &n_data, &s))
        expect_info(c, "get_number_of_cache_files_needed", s, n_model != 99 && n_data != 99);
}

/* First version of each operand type, by code; SUBGRAPH, which has no performance, is not listed.
 */
static const enum hal_version type_since[] = {
    HAL_1_0, HAL_1_0, HAL_1_0, HAL_1_0, HAL_1_0, HAL_1_0, HAL_1_2, HAL_1_2,
    HAL_1_2, HAL_1_2, HAL_1_2, HAL_1_2, HAL_1_2, HAL_1_2, HAL_1_3,
};

static bool is_reported(struct hal_performance p)
{
    return p.exec_time != 0 || p.power_usage != 0;
}

static void expect_rows(struct conform *c, const struct hal_capabilities *caps, enum hal_version v)
{
    for (uint32_t i = 0; i < caps->n_operands; i++) {
        int32_t type = caps->operand[i].type;
        bool old = type == DT_F32 || type == DT_U8;
        EXPECT(c,
               type >= 0 && type < COUNT(type_since) && type_since[type] <= v &&
                   (v >= HAL_1_2 || old),
               "get_capabilities of HAL %s: a performance of operand type %d, which that version "
               "does not list",
               hal_version_name(v), type);
    }
    EXPECT(c, v >= HAL_1_2 || caps->n_operands == 2,
           "get_capabilities of HAL %s: %u operand types, expected TENSOR_FLOAT32 and "
           "TENSOR_QUANT8_ASYMM",
           hal_version_name(v), caps->n_operands);
}

static void capabilities(struct conform *c, const void *data)
{
    (void) data;
    for (int i = 0; i < HAL_VERSIONS; i++) {
        enum hal_version v = hal_versions[i];
        struct hal_capabilities caps;
        if (!conform_has_entry(c, v))
            continue;
        EXPECT_STATUS(c, c->driver->get_capabilities(c->driver, v, &caps), HAL_NONE,
                      "get_capabilities");
        EXPECT(c,
               is_reported(caps.relaxed_tensor) == (v >= HAL_1_1) &&
                   is_reported(caps.relaxed_scalar) == (v >= HAL_1_2) &&
                   is_reported(caps.if_performance) == (v >= HAL_1_3) &&
                   is_reported(caps.while_performance) == (v >= HAL_1_3),
               "get_capabilities of HAL %s: a performance that the version has is 0, or one of a "
               "later version is not",
               hal_version_name(v));
        expect_rows(c, &caps, v);
    }
}

/* ---- operand types: an additional input that no operation reads */

static struct hal_operand operand_of(int32_t type)
{
    static const uint32_t dims[] = { 1 };
    static const float scale = 1;
    const struct dtype_info *info = &dtype_info[type];
    bool has_scale = info->quant == QUANT_AFFINE || info->quant == QUANT_SYMM;
    struct hal_operand o = { .type = type,
                             .n_dims = info->tensor,
                             .dims = dims,
                             .scale = has_scale ? 1 : 0,
                             .lifetime = HAL_SUBGRAPH_INPUT };

    if (info->quant == QUANT_CHANNEL) {
        o.extra = HAL_EXTRA_CHANNEL_QUANT;
        o.n_channel_scales = 1;
        o.channel_scales = &scale;
    }
    return o;
}

static void add_input(struct conform_model *m, int32_t type)
{
    struct hal_subgraph *g = &m->hal.main;
    struct hal_operand *operands = arena_alloc(m->arena, g->n_operands + 1, sizeof *operands);
    uint32_t *inputs = arena_alloc(m->arena, g->n_inputs + 1, sizeof *inputs);

    memcpy(operands, g->operands, g->n_operands * sizeof *operands);
    memcpy(inputs, g->inputs, g->n_inputs * sizeof *inputs);
    operands[g->n_operands] = operand_of(type);
    inputs[g->n_inputs++] = g->n_operands++;
    g->operands = operands;
    g->inputs = inputs;
}

static void types(struct conform *c, const void *data)
{
    const struct one_op *o = conform_relu(c);

    (void) data;
    for (int32_t type = 0; o && type < COUNT(type_since); type++) {
        struct conform_model m;
        conform_model_of(&m, o);
        add_input(&m, type);
        conform_doing(c, "%s with an input of type %s", m.name, dtype_info[type].name);
        for (int i = 0; i < HAL_VERSIONS; i++) {
            enum hal_version v = hal_versions[i];
            bool has_type = v >= type_since[type] && hal_level(v) >= m.level;
            enum hal_status expected = has_type ? HAL_NONE : HAL_INVALID_ARGUMENT;
            if (!conform_has_entry(c, v))
                continue;
            bool supported;
            uint32_t n;
            enum hal_status s =
                c->driver->get_supported_operations(c->driver, v, &m.hal, &supported, &n);
            EXPECT(c, s == expected,
                   "%s with an input of type %s: get_supported_operations of HAL %s: %s, expected "
                   "%s",
                   m.name, dtype_info[type].name, hal_version_name(v), hal_status_name(s),
                   hal_status_name(expected));
            struct conform_prepared p = conform_prepare(c, v, &m.hal, &client_default_preparation);
            EXPECT(c, p.launched == expected,
                   "%s with an input of type %s: prepare_model of HAL %s: %s, expected %s", m.name,
                   dtype_info[type].name, hal_version_name(v), hal_status_name(p.launched),
                   hal_status_name(expected));
            if (p.model)
                p.model->methods->release(p.model);
        }
        conform_model_done(&m);
    }
}

/* ---- durations, in the unit of the entry point's version */

static bool is_ordered(struct hal_timing t)
{
    return t.on_device == HAL_NO_TIME || t.in_driver == HAL_NO_TIME || t.on_device <= t.in_driver;
}

static bool is_unit(uint64_t ns, enum hal_version v)
{
    return v > HAL_1_3 || ns == HAL_NO_TIME || ns % 1000 == 0;
}

static void measure(struct conform *c, struct conform_subject *s, const struct conform_kind *kind,
                    enum hal_version v)
{
    struct hal_execution_config config = client_config();

    config.measure = true;
    conform_subject_reset(s);
    s->request.launched = (struct hal_timing){ HAL_NO_TIME, HAL_NO_TIME };
    enum hal_status status = kind->run(s->prepared, v, &s->request, &config);
    struct hal_timing t = s->request.result.timing, l = s->request.launched;
    EXPECT(c, status == HAL_NONE, "%s, %s execution of HAL %s, measured: %s, expected NONE",
           s->model.name, kind->name, hal_version_name(v), hal_status_name(status));
    EXPECT(c, is_unit(t.on_device, v) && is_unit(t.in_driver, v) && is_ordered(t),
           "%s, %s execution of HAL %s: %llu ns on the device, %llu ns in the driver",
           s->model.name, kind->name, hal_version_name(v), (unsigned long long) t.on_device,
           (unsigned long long) t.in_driver);
    EXPECT(c, is_unit(l.on_device, v) && is_unit(l.in_driver, v) && is_ordered(l),
           "%s, %s execution of HAL %s, since its launch: %llu ns on the device, %llu ns in the "
           "driver",
           s->model.name, kind->name, hal_version_name(v), (unsigned long long) l.on_device,
           (unsigned long long) l.in_driver);
}

static void units(struct conform *c, const void *data)
{
    struct conform_subject s;

    (void) data;
    bool is_open = conform_subject_open(c, conform_relu(c), &s);
    for (int k = 0; k < conform_n_kinds && is_open; k++)
        for (int i = 0; i < HAL_VERSIONS; i++)
            if (hal_versions[i] >= HAL_1_2 && hal_level(hal_versions[i]) >= s.model.level &&
                conform_has_entry(c, hal_versions[i]) &&
                conform_can_run(c, s.prepared, &conform_kinds[k], hal_versions[i]))
                measure(c, &s, &conform_kinds[k], hal_versions[i]);
    conform_subject_close(&s);
}

/* ---- numbers */

static void set_padding(struct conform_request *r, struct hal_execution_config *config)
{
    (void) config;
    r->inputs[0].location.padding = 1;
}

static void high_deadline(struct conform_request *r, struct hal_execution_config *config)
{
    (void) r;
    config->deadline = UINT64_C(1) << 63;
}

static void high_loop_timeout(struct conform_request *r, struct hal_execution_config *config)
{
    (void) r;
    config->loop_timeout = UINT64_C(1) << 63;
}

static void negative_loop_timeout(struct conform_request *r, struct hal_execution_config *config)
{
    (void) r;
    config->loop_timeout = UINT64_MAX - 1;
}

static void positive_deadline(struct conform_request *r, struct hal_execution_config *config)
{
    (void) r;
    config->deadline = INT64_MAX;
}

/* Expected status up to 1.3, and since feature level 5.  is_time: only for kinds that have
 * deadlines. */
static const struct number {
    const char *what;
    void (*set)(struct conform_request *r, struct hal_execution_config *config);
    bool is_time;
    enum hal_status before, since;
} numbers[] = {
    { "padding", set_padding, false, HAL_INVALID_ARGUMENT, HAL_NONE },
    { "a deadline of 2^63", high_deadline, true, HAL_NONE, HAL_INVALID_ARGUMENT },
    { "a deadline of 2^63 - 1", positive_deadline, true, HAL_NONE, HAL_NONE },
    { "a loop time-out of 2^63", high_loop_timeout, true, HAL_NONE, HAL_INVALID_ARGUMENT },
    { "a loop time-out of -2", negative_loop_timeout, true, HAL_NONE, HAL_INVALID_ARGUMENT },
};

static void expect_number(struct conform *c, struct conform_subject *s, const struct number *n)
{
    for (int k = 0; k < conform_n_kinds; k++) {
        struct hal_execution_config config = client_config();
        const struct conform_kind *kind = &conform_kinds[k];
        if ((n->is_time && c->version < kind->deadlines) ||
            !conform_can_run(c, s->prepared, kind, c->version))
            continue;
        conform_subject_reset(s);
        n->set(&s->request, &config);
        enum hal_status status = kind->run(s->prepared, c->version, &s->request, &config);
        EXPECT(c, status == (c->version < HAL_FL5 ? n->before : n->since),
               "%s, %s execution with %s: %s, expected %s", s->model.name, kind->name, n->what,
               hal_status_name(status),
               hal_status_name(c->version < HAL_FL5 ? n->before : n->since));
    }
}

static void widths(struct conform *c, const void *data)
{
    struct conform_subject s;

    (void) data;
    bool is_open = conform_subject_open(c, conform_relu(c), &s);
    for (int i = 0; i < COUNT(numbers) && is_open; i++)
        expect_number(c, &s, &numbers[i]);
    conform_subject_close(&s);
}

/* ---- hints for an extension that the model names */

enum { PREFIX = 5 };

static const struct hal_extension_prefix extensions[] = { { "com.example.hints", PREFIX },
                                                          { "com.example.more", 0 } };

static const uint8_t some[] = { 1, 2, 3 };
static const struct hint_row {
    const char *what;
    uint32_t n;
    struct hal_token_value hint[2];
    bool is_legal;
    uint32_t n_prefixes; /* of `extensions`: the first is good, the second is not */
} hint_rows[] = {
    { "a hint", 1, { { PREFIX << 16 | 1, some, sizeof some } }, true, 1 },
    { "two hints", 2, { { PREFIX << 16 | 1, some, 1 }, { PREFIX << 16 | 2, some, 3 } }, true, 1 },
    { "a hint without a value", 1, { { PREFIX << 16, NULL, 0 } }, true, 1 },
    { "prefix 0", 1, { { 1, some, sizeof some } }, false, 1 },
    { "another prefix", 1, { { (PREFIX + 1) << 16 | 1, some, sizeof some } }, false, 1 },
    { "a negative token", 1, { { INT32_MIN | PREFIX << 16 | 1, some, sizeof some } }, false, 1 },
    { "a token twice",
      2,
      { { PREFIX << 16 | 1, some, 1 }, { PREFIX << 16 | 1, some, 3 } },
      false,
      1 },
    { "an extension that the configuration does not name",
      1,
      { { PREFIX << 16 | 1, some, 1 } },
      false,
      0 },
    { "an extension with prefix 0", 1, { { PREFIX << 16 | 1, some, 1 } }, false, 2 },
    { "extensions without hints", 0, { { 0 } }, true, 1 },
};

static void expect_hints(struct conform *c, struct conform_subject *s, const struct hint_row *h,
                         enum hal_version v)
{
    enum hal_status expected = h->is_legal && v >= HAL_FL8 ? HAL_NONE : HAL_INVALID_ARGUMENT;
    struct hal_prepare_config prepare = client_default_preparation;

    prepare.n_hints = h->n;
    prepare.hints = h->hint;
    prepare.n_extension_prefixes = h->n_prefixes;
    prepare.extension_name_to_prefix = extensions;
    struct conform_prepared p = conform_prepare(c, v, &s->model.hal, &prepare);
    EXPECT(c, p.status == expected, "%s, %s, prepare_model of HAL %s: %s, expected %s",
           s->model.name, h->what, hal_version_name(v), hal_status_name(p.status),
           hal_status_name(expected));
    if (p.model)
        p.model->methods->release(p.model);
    for (int k = 0; k < conform_n_kinds; k++) {
        struct hal_execution_config config = client_config();
        if (!conform_can_run(c, s->prepared, &conform_kinds[k], v))
            continue;
        config.n_hints = h->n;
        config.hints = h->hint;
        config.n_extension_prefixes = h->n_prefixes;
        config.extension_name_to_prefix = extensions;
        conform_subject_reset(s);
        enum hal_status status = conform_kinds[k].run(s->prepared, v, &s->request, &config);
        EXPECT(c, status == expected, "%s, %s, %s execution of HAL %s: %s, expected %s",
               s->model.name, h->what, conform_kinds[k].name, hal_version_name(v),
               hal_status_name(status), hal_status_name(expected));
        EXPECT(c, status != HAL_NONE || conform_subject_is_correct(s),
               "%s, %s, %s execution of HAL %s: wrong results", s->model.name, h->what,
               conform_kinds[k].name, hal_version_name(v));
    }
}

static void hints(struct conform *c, const void *data)
{
    struct conform_subject s;

    (void) data;
    const struct one_op *o = conform_relu(c);
    if (!o)
        return;
    conform_model_of(&s.model, o);
    conform_doing(c, "%s", s.model.name);
    s.prepared = conform_prepare_supported(c, &s.model.hal);
    for (int i = 0; i < COUNT(hint_rows) && s.prepared; i++)
        for (int v = 2; v < HAL_VERSIONS; v++)
            if (conform_has_entry(c, hal_versions[v]) &&
                hal_level(hal_versions[v]) >= s.model.level)
                expect_hints(c, &s, &hint_rows[i], hal_versions[v]);
    conform_subject_close(&s);
}

static const struct conform_rule rules_of_file[] = {
    { "version", "device-info", HAL_1_0, 0,
      "device type, version string and number of cache files are available since HAL 1.2",
      device_info },
    { "version", "capabilities", HAL_1_0, 0,
      "get_capabilities fills the members that the entry point's version has", capabilities },
    { "version", "types", HAL_1_0, 0,
      "an entry point accepts the operand types that its version has", types },
    { "version", "units", HAL_1_2, 0,
      "durations are whole microseconds up to HAL 1.3, nanoseconds since feature level 5", units },
    { "version", "widths", HAL_1_0, 0,
      "64-bit numbers are unsigned up to HAL 1.3, signed since feature level 5", widths },
    { "extension", "hints", HAL_1_2, 0,
      "hints are accepted since feature level 8, for extensions that the model names", hints },
};
const struct conform_rules conform_rules_versions = { rules_of_file, COUNT(rules_of_file), NULL,
                                                      NULL };
