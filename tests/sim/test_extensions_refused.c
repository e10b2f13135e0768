/* Models with extensions that drivers must reject: invalid models through every entry point, the
 * suites' mutations, prefixes by version, OEM operations and types. */
#include <check.h>
#include <math.h>
#include <string.h>

#include "harness/corrupt/conform_mutations.h"
#include "sim/device/engine.h"
#include "sim/device/profile.h"
#include "tests/support/check_main.h"
#include "tests/support/extension_model.h"

static const struct extension_scale plain = { 0.5, 3 };

/* ---- mutations of the mixed model: ADD, FIBONACCI, DEQUANTIZE64, RESHAPE */

enum { X, Y, ACT, N, Q, REAL, ROW, OUT, LONE, OPERANDS = LONE };
enum { ADDITION, NUMBERS, REALS };

/* A copy of a model whose lists may be changed, with room for one more of each. */
struct changed {
    struct hal_operand operand[OPERANDS + 1];
    struct hal_operation operation[8];
    struct hal_extension_prefix name[4];
    struct extension_scale scale;
    uint8_t blob[64];
    uint32_t index[8];
    struct hal_model hal;
};

static int32_t code(uint16_t prefix, int number)
{
    return (int32_t) ((uint32_t) prefix << 16 | (uint32_t) number);
}

static void add_name(struct changed *b, const char *name, uint16_t prefix)
{
    b->name[b->hal.n_extension_prefixes++] = (struct hal_extension_prefix){ name, prefix };
}

static void attach(struct changed *b, uint32_t operand, uint64_t length)
{
    b->operand[operand].extra = HAL_EXTRA_EXTENSION;
    b->operand[operand].extension = b->blob;
    b->operand[operand].extension_length = length;
}

static void rescale(struct changed *b, double scale)
{
    b->scale.scale = scale;
    b->operand[Q].extension = &b->scale;
}

/* Appends an input to the operation. */
static void add_input(struct changed *b, uint32_t operation, uint32_t operand)
{
    struct hal_operation *o = &b->operation[operation];

    memcpy(b->index, o->inputs, o->n_inputs * sizeof(*b->index));
    b->index[o->n_inputs++] = operand;
    b->operand[operand].n_consumers++;
    o->inputs = b->index;
}

static void add_output(struct changed *b, uint32_t operation)
{
    struct hal_operation *o = &b->operation[operation];

    b->operand[LONE] = b->operand[Q];
    b->operand[LONE].n_consumers = 0;
    b->hal.main.n_operands++;
    memcpy(b->index, o->outputs, o->n_outputs * sizeof(*b->index));
    b->index[o->n_outputs++] = LONE;
    o->outputs = b->index;
}

/* Defines a function that makes the model invalid. */
#define CHANGE(id, ...)                                                                            \
    static void change_##id(struct changed *b)                                                     \
    {                                                                                              \
        __VA_ARGS__;                                                                               \
    }
CHANGE(name_empty, b->name[0].name = "")
CHANGE(name_missing, b->name[0].name = NULL)
CHANGE(name_without_dot, b->name[0].name = "fibonacci")
CHANGE(name_in_capitals, b->name[0].name = "org.halcyon.example.Fibonacci")
CHANGE(name_with_space, b->name[0].name = "org.halcyon.example.fibonacci ")
CHANGE(name_twice, add_name(b, b->name[0].name, 77))
CHANGE(prefix_zero, b->name[0].prefix = 0)
CHANGE(prefix_of_two, add_name(b, "com.elsewhere.x", EXTENSION_PREFIX))
CHANGE(prefix_another, b->name[0].prefix = EXTENSION_PREFIX + 1)
CHANGE(prefix_not_named, b->hal.n_extension_prefixes = 0)
CHANGE(prefixes_gone, b->hal.extension_name_to_prefix = NULL)
CHANGE(operation_prefix, b->operation[NUMBERS].type = code(0x4321, 0))
CHANGE(operation_number, b->operation[NUMBERS].type = code(EXTENSION_PREFIX, 2))
CHANGE(operation_negative, b->operation[NUMBERS].type = -1)
CHANGE(operation_swapped, b->operation[NUMBERS].type = code(EXTENSION_PREFIX, 1))
CHANGE(operation_ordinary, b->operation[NUMBERS].type = b->operation[ADDITION].type)
CHANGE(type_prefix, b->operand[Q].type = code(0x4321, 1))
CHANGE(type_number, b->operand[Q].type = code(EXTENSION_PREFIX, 2))
CHANGE(type_scalar, b->operand[Q].type = code(EXTENSION_PREFIX, 0))
CHANGE(type_negative, b->operand[Q].type = (int32_t) 0xffff0001)
CHANGE(type_ordinary, b->operand[Q].type = DT_I32)
CHANGE(type_internal, b->operand[Q].type = DT_FIBONACCI_QUANT64)
CHANGE(type_of_n, b->operand[N].type = DT_F32)
CHANGE(type_of_reals, b->operand[REAL].type = DT_F16)
CHANGE(type_of_sum, attach(b, X, 16); b->operand[X].type = code(EXTENSION_PREFIX, 1))
CHANGE(scale_of_hal, b->operand[Q].scale = 1)
CHANGE(zero_of_hal, b->operand[Q].zero = 1)
CHANGE(data_missing, b->operand[Q].extra = HAL_EXTRA_NONE)
CHANGE(data_of_channels, b->operand[Q].extra = HAL_EXTRA_CHANNEL_QUANT)
CHANGE(data_of_unknown_kind, b->operand[Q].extra = (enum hal_extra_kind) 3)
CHANGE(data_null, b->operand[Q].extension = NULL)
CHANGE(data_empty, attach(b, Q, 0))
CHANGE(data_short, b->operand[Q].extension_length = 15)
CHANGE(data_long, attach(b, Q, 17))
CHANGE(data_of_ordinary, attach(b, N, 16))
CHANGE(data_of_ordinary_empty, attach(b, REAL, 0))
CHANGE(data_scale_zero, rescale(b, 0))
CHANGE(data_scale_negative, rescale(b, -1))
CHANGE(data_scale_nan, rescale(b, (double) NAN))
CHANGE(data_scale_infinite, rescale(b, (double) INFINITY))
CHANGE(input_none, b->operation[NUMBERS].n_inputs = 0; b->operand[N].n_consumers = 0)
CHANGE(input_more, add_input(b, NUMBERS, N))
CHANGE(output_none, b->operation[NUMBERS].n_outputs = 0)
CHANGE(output_more, add_output(b, NUMBERS))
CHANGE(rank_of_reals, b->operand[REAL].n_dims = 11)
#undef CHANGE

static const struct change {
    const char *name;
    void (*apply)(struct changed *b);
} changes[] = {
#define ROW(id)                                                                                    \
    {                                                                                              \
#id, change_##id                                                                           \
    }
    ROW(name_empty),          ROW(name_missing),        ROW(name_without_dot),
    ROW(name_in_capitals),    ROW(name_with_space),     ROW(name_twice),
    ROW(prefix_zero),         ROW(prefix_of_two),       ROW(prefix_another),
    ROW(prefix_not_named),    ROW(prefixes_gone),       ROW(operation_prefix),
    ROW(operation_number),    ROW(operation_negative),  ROW(operation_swapped),
    ROW(operation_ordinary),  ROW(type_prefix),         ROW(type_number),
    ROW(type_scalar),         ROW(type_negative),       ROW(type_ordinary),
    ROW(type_internal),       ROW(type_of_n),           ROW(type_of_reals),
    ROW(type_of_sum),         ROW(scale_of_hal),        ROW(zero_of_hal),
    ROW(data_missing),        ROW(data_of_channels),    ROW(data_of_unknown_kind),
    ROW(data_null),           ROW(data_empty),          ROW(data_short),
    ROW(data_long),           ROW(data_of_ordinary),    ROW(data_of_ordinary_empty),
    ROW(data_scale_zero),     ROW(data_scale_negative), ROW(data_scale_nan),
    ROW(data_scale_infinite), ROW(input_none),          ROW(input_more),
    ROW(output_none),         ROW(output_more),         ROW(rank_of_reals),
#undef ROW
};

static void changed_init(struct changed *b, const struct client_model *m)
{
    const struct hal_subgraph *g = &m->hal.main;

    *b = (struct changed){ .hal = m->hal };
    memcpy(b->operand, g->operands, g->n_operands * sizeof(*g->operands));
    memcpy(b->operation, g->operations, g->n_operations * sizeof(*g->operations));
    if (m->hal.n_extension_prefixes)
        b->name[0] = m->hal.extension_name_to_prefix[0];
    b->hal.main.operands = b->operand;
    b->hal.main.operations = b->operation;
    b->hal.extension_name_to_prefix = b->name;
}

static enum hal_status query_support(struct hal_driver *d, enum hal_version version,
                                     const struct hal_model *m)
{
    bool supported[8];
    uint32_t n;

    return d->get_supported_operations(d, version, m, supported, &n);
}

static enum hal_status prepare(struct hal_driver *d, enum hal_version version,
                               const struct hal_model *m)
{
    struct hal_prepare_config config = { .preference = HAL_FAST_SINGLE_ANSWER,
                                         .priority = HAL_PRIORITY_MEDIUM,
                                         .deadline = HAL_NO_DEADLINE };
    struct hal_prepared_model *p;
    enum hal_status status = client_prepare_with(d, version, m, &config, &p);

    if (p)
        p->methods->release(p);
    return status;
}

static void check_status(const char *what, enum hal_version version, enum hal_status status,
                         enum hal_status expected)
{
    ck_assert_msg(status == expected, "%s, HAL version %d: %s", what, (int) version,
                  hal_status_name(status));
}

START_TEST(invalid_models_are_rejected)
{
    static const enum hal_version versions[] = { HAL_1_3, HAL_FL5, HAL_FL8 };
    struct hal_driver *d = client_open("dsp", HAL_FL8);
    struct client_model m;
    struct changed b;

    d = _i ? client_over_socket(d) : d;
    extension_model_mixed(&m, plain, 7);
    for (int v = 0; v < COUNT(versions); v++) {
        changed_init(&b, &m);
        check_status("the unchanged model", versions[v], prepare(d, versions[v], &b.hal), HAL_NONE);
        for (int i = 0; i < COUNT(changes); i++) {
            changed_init(&b, &m);
            changes[i].apply(&b);
            check_status(changes[i].name, versions[v], query_support(d, versions[v], &b.hal),
                         HAL_INVALID_ARGUMENT);
            check_status(changes[i].name, versions[v], prepare(d, versions[v], &b.hal),
                         HAL_INVALID_ARGUMENT);
        }
    }
    client_done(&m);
    d->close(d);
}
END_TEST

/* ---- the mutations of conformance suites */

struct suite {
    struct hal_driver *driver;
    enum hal_version version;
    const struct conform_mutation *mutation;
};

static void refuse_mutant(const struct conform_mutant *m, void *user)
{
    const struct suite *s = user;
    struct hal_prepared_model *p;

    if (!s->mutation->is_config)
        check_status(m->what, s->version, query_support(s->driver, s->version, &m->model),
                     HAL_INVALID_ARGUMENT);
    check_status(m->what, s->version,
                 client_prepare_with(s->driver, s->version, &m->model, &m->config, &p),
                 HAL_INVALID_ARGUMENT);
}

START_TEST(mutants_of_models_with_extensions_are_rejected)
{
    static const enum hal_version versions[] = { HAL_1_3, HAL_FL7 };
    struct hal_driver *d = client_open("dsp", HAL_FL8);
    struct client_model models[2];
    unsigned n = 0;

    d = _i ? client_over_socket(d) : d;
    extension_model_mixed(&models[0], plain, 7);
    extension_model_branch(&models[1]);
    for (int v = 0; v < COUNT(versions); v++)
        for (int k = 0; k < conform_n_mutations; k++)
            for (int m = 0; m < COUNT(models); m++) {
                struct suite s = { d, versions[v], &conform_mutations[k] };
                n += conform_walk(s.mutation, &models[m].hal, s.version, refuse_mutant, &s);
            }
    ck_assert_uint_gt(n, 800);
    for (int m = 0; m < COUNT(models); m++)
        client_done(&models[m]);
    d->close(d);
}
END_TEST

/* ---- versions */

START_TEST(extensions_exist_since_1_2)
{
    static const enum hal_version versions[] = { HAL_1_0, HAL_1_1, HAL_1_2, HAL_1_3,
                                                 HAL_FL5, HAL_FL6, HAL_FL7, HAL_FL8 };
    struct hal_driver *d = client_open("dsp", HAL_FL8);
    struct client_model m;

    d = _i ? client_over_socket(d) : d;
    extension_model_plain(&m, plain);
    for (int v = 0; v < COUNT(versions); v++) {
        enum hal_status expected = versions[v] < HAL_1_2 ? HAL_INVALID_ARGUMENT : HAL_NONE;
        check_status("get_supported_operations", versions[v], query_support(d, versions[v], &m.hal),
                     expected);
        check_status("prepare_model", versions[v], prepare(d, versions[v], &m.hal), expected);
    }
    extension_model_renumber(&m, 0x8001); /* the sign bit is free since feature level 5 */
    for (int v = 0; v < COUNT(versions); v++) {
        bool legal = versions[v] >= HAL_1_2 && versions[v] < HAL_FL5;
        check_status("a prefix of 16 bits", versions[v], prepare(d, versions[v], &m.hal),
                     legal ? HAL_NONE : HAL_INVALID_ARGUMENT);
    }
    client_done(&m);
    d->close(d);
}
END_TEST

/* ---- OEM */

static const char oem_profile[] =
    "{\"name\": \"halcyon-oem\", \"version\": \"1\", \"type\": \"gpu\", \"hal\": \"fl8\", "
    "\"arithmetic\": \"fp32\", \"oem\": true, \"cost\": {\"launch_ns\": 1, \"driver_ns\": 1, "
    "\"operation_ns\": 1, \"bandwidth\": 1e9, \"rate\": {\"default\": 1e9}}, "
    "\"performance\": {\"relaxed_scalar\": {\"time\": 1, \"power\": 1}, "
    "\"relaxed_tensor\": {\"time\": 1, \"power\": 1}, \"if\": {\"time\": 1, \"power\": 1}, "
    "\"while\": {\"time\": 1, \"power\": 1}, \"operand\": {}}, \"operations\": []}";

static struct hal_driver *open_oem(void)
{
    struct profile *p = NULL;
    struct engine *e = NULL;
    struct hal_driver *d = NULL;
    struct why w;

    ck_assert_msg(profile_parse(oem_profile, "oem", &p, &w) == 0, "%s", w.text);
    ck_assert_int_eq(engine_device(p, NULL, &e, &w), 0);
    ck_assert_int_eq(driver_new(e, &d, &w), 0);
    return d;
}

/* An OEM operation that copies eight bytes; scale and zero point are arbitrary. */
static void oem_model(struct client_model *m)
{
    build_init(&m->b, 1);
    uint32_t x = build_quant(&m->b, LIFE_INPUT, DT_OEM_BYTE, DIMS(8), 7, -3);
    uint32_t y = build_operand(&m->b, LIFE_OUTPUT, DT_OEM_BYTE, DIMS(8));
    build_code(&m->b, EXTENSION_CODE(oem, 0), IDS(x), IDS(y));
    client_convert(m);
    ck_assert_int_eq(m->hal.main.operations[0].type, 10000);
    ck_assert_int_eq(m->hal.main.operands[0].type, 10001);
}

START_TEST(an_oem_device_copies_bytes)
{
    struct hal_driver *d = open_oem();
    struct extension_request r;
    const struct hal_extension *e;
    struct client_model m;
    uint32_t n = 9;

    d = _i ? client_over_socket(d) : d;
    oem_model(&m);
    ck_assert_int_eq(d->get_supported_extensions(d, &n, &e), HAL_NONE);
    ck_assert_uint_eq(n, 0);
    for (int v = HAL_1_0; v <= HAL_1_3; v++)
        check_status("OEM", (enum hal_version) v, prepare(d, (enum hal_version) v, &m.hal),
                     HAL_NONE);
    check_status("OEM", HAL_FL5, prepare(d, HAL_FL5, &m.hal), HAL_INVALID_ARGUMENT);
    struct hal_prepare_config config = { .preference = HAL_FAST_SINGLE_ANSWER,
                                         .priority = HAL_PRIORITY_MEDIUM,
                                         .deadline = HAL_NO_DEADLINE };
    ck_assert_int_eq(client_prepare_with(d, HAL_1_3, &m.hal, &config, &m.prepared), HAL_NONE);
    extension_request_fill(&r, 1, 8);
    r.arg[0].location.length = 8;
    r.in[0] = 0x01020304;
    r.in[1] = 0x7f00ff80;
    ck_assert_int_eq(client_execute(m.prepared, HAL_1_3, &r.hal, &r.result), HAL_NONE);
    ck_assert_mem_eq(r.q, r.in, 8);
    client_done(&m);
    d->close(d);
}
END_TEST

START_TEST(shipped_devices_do_not_support_oem)
{
    static const char *const devices[] = { "cpu", "gpu", "dsp", "golden" };
    struct client_model m;

    oem_model(&m);
    for (int i = 0; i < COUNT(devices); i++) {
        struct hal_driver *d = client_open(devices[i], 0);
        for (int v = HAL_1_0; v <= HAL_1_3; v++) {
            bool supported = true;
            uint32_t n = 0;
            ck_assert_int_eq(
                d->get_supported_operations(d, (enum hal_version) v, &m.hal, &supported, &n),
                HAL_NONE);
            ck_assert_uint_eq(n, 1);
            ck_assert(!supported);
            check_status(devices[i], (enum hal_version) v, prepare(d, (enum hal_version) v, &m.hal),
                         HAL_INVALID_ARGUMENT);
        }
        d->close(d);
    }
    client_done(&m);
}
END_TEST

/* The OEM's scalar type has a size that only the OEM knows. */
START_TEST(oem_scalars_are_valid_but_not_supported)
{
    struct hal_driver *d = open_oem();
    struct client_model m;
    struct changed b;

    oem_model(&m);
    changed_init(&b, &m);
    b.hal.n_extension_prefixes = 0;
    b.operand[0].type = 10000;
    b.operand[0].n_dims = 0;
    check_status("scalar", HAL_1_3, query_support(d, HAL_1_3, &b.hal), HAL_INVALID_ARGUMENT);
    struct hal_driver *other = client_open("cpu", 0);
    check_status("scalar", HAL_1_3, query_support(other, HAL_1_3, &b.hal), HAL_NONE);
    b.operand[0].type = 10002;
    check_status("a type that does not exist", HAL_1_3, query_support(other, HAL_1_3, &b.hal),
                 HAL_INVALID_ARGUMENT);
    b.operand[0].type = 10001;
    b.operation[0].type = 10001;
    check_status("an operation that does not exist", HAL_1_3, query_support(other, HAL_1_3, &b.hal),
                 HAL_INVALID_ARGUMENT);
    other->close(other);
    client_done(&m);
    d->close(d);
}
END_TEST

Suite *extensions_refused_suite(void)
{
    TCase *t = tcase_create("all");

    tcase_add_loop_test(t, invalid_models_are_rejected, 0, 2);
    tcase_add_loop_test(t, mutants_of_models_with_extensions_are_rejected, 0, 2);
    tcase_add_loop_test(t, extensions_exist_since_1_2, 0, 2);
    tcase_add_loop_test(t, an_oem_device_copies_bytes, 0, 2);
    tcase_add_test(t, shipped_devices_do_not_support_oem);
    tcase_add_test(t, oem_scalars_are_valid_but_not_supported);
    return make_suite("extensions_refused", t, NULL);
}
