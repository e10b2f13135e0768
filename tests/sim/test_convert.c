/* Conversion of models to HAL structures and back; validation of models and requests from hostile
 * clients. */
#define _GNU_SOURCE
#include <check.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "golden/model/build.h"
#include "sim/hal/convert.h"
#include "sim/sim.h"
#include "tests/support/check_main.h"

static struct why w;
static struct build b;
static struct hal_model hal;
static struct target *target;

static float pool_values[] = { 0.5f, 1, 1.5f, 2 };

/* Graph 0: z = if (c) then x * k else x + k; graphs 1 and 2 are the branches; k lies in a pool. */
static void set_up(void)
{
    static struct pool pool = { pool_values, sizeof pool_values };
    static const uint8_t truth[] = { 1 };

    build_init(&b, 3);
    for (uint32_t g = 1; g <= 2; g++) {
        build_graph(&b, g);
        uint32_t x = build_operand(&b, LIFE_INPUT, DT_F32, DIMS(2));
        uint32_t k = build_operand(&b, LIFE_CONSTANT_REFERENCE, DT_F32, DIMS(2));
        b.graph->operand[k].tensor.data = pool_values + 1;
        b.graph->operand[k].length = 8;
        uint32_t act = build_int(&b, 0);
        uint32_t z = build_operand(&b, LIFE_OUTPUT, DT_F32, DIMS(2));
        OPERATION(&b, g == 1 ? "MUL" : "ADD", IDS(x, k, act), IDS(z));
    }
    build_graph(&b, 0);
    uint32_t c = build_constant(&b, DT_B8, DIMS(1), truth);
    uint32_t yes = build_subgraph(&b, 1), no = build_subgraph(&b, 2);
    uint32_t x = build_operand(&b, LIFE_INPUT, DT_F32, DIMS(2));
    uint32_t z = build_operand(&b, LIFE_OUTPUT, DT_F32, DIMS(2));
    OPERATION(&b, "IF", IDS(c, yes, no, x), IDS(z));
    b.model.pool = &pool;
    b.model.n_pools = 1;
    ck_assert_msg(model_validate(&b.model, &w) == 4, "%s", w.text);
    ck_assert_int_eq(convert_to_hal(&b.model, b.arena, &hal, &w), 0);
    ck_assert_int_eq(target_open("sim:cpu", NULL, &target, &w), 0);
}

static void tear_down(void)
{
    target_free(target);
    build_done(&b);
}

START_TEST(conversion_and_back_preserve_a_model)
{
    struct mapping pool = { (uint8_t *) pool_values, sizeof pool_values, false };
    struct model m;

    ck_assert_uint_eq(hal.n_referenced, 2);
    ck_assert_uint_eq(hal.main.operands[3].n_consumers, 1);
    ck_assert_uint_eq(hal.referenced[0].operands[1].location.offset, 4);
    ck_assert_msg(convert_from_hal(&hal, HAL_1_3, EXTENSIONS_NAMED, &pool, b.arena, &m, &w) == 0,
                  "%s", w.text);
    ck_assert_int_eq(model_validate(&m, &w), 4);
    ck_assert_uint_eq(m.n_graphs, b.model.n_graphs);
    for (uint32_t g = 0; g < m.n_graphs; g++) {
        const struct graph *one = &b.model.graph[g], *two = &m.graph[g];
        ck_assert_uint_eq(one->n_operands, two->n_operands);
        for (uint32_t i = 0; i < one->n_operands; i++) {
            const struct operand *p = &one->operand[i], *q = &two->operand[i];
            ck_assert(p->life == q->life && p->length == q->length && p->pool == q->pool &&
                      p->subgraph == q->subgraph && p->tensor.dtype == q->tensor.dtype);
            ck_assert(shape_equal(&p->tensor.shape, &q->tensor.shape));
            if (p->length)
                ck_assert_mem_eq(p->tensor.data, q->tensor.data, p->length);
        }
    }
    ck_assert_ptr_eq(m.graph[1].operand[1].tensor.data, pool_values + 1);
}
END_TEST

/* ---- hostile models */

struct notified {
    struct hal_prepare_callback base;
    int calls;
    enum hal_status status;
    struct hal_prepared_model *prepared;
};

static void notify(struct hal_prepare_callback *self, enum hal_status status,
                   struct hal_prepared_model *prepared)
{
    struct notified *n = (struct notified *) self;

    n->calls++;
    n->status = status;
    n->prepared = prepared;
}

static struct notified prepare(enum hal_version version, const struct hal_prepare_config *config)
{
    struct hal_driver *d = (struct hal_driver *) (uintptr_t) target_driver(target);
    struct notified n = { { notify }, 0, HAL_NONE, NULL };
    enum hal_status status = d->prepare_model(d, version, &hal, config, &n.base);

    ck_assert_int_eq(n.calls, 1);
    ck_assert(status == HAL_NONE || status == n.status);
    ck_assert((n.status == HAL_NONE) == (n.prepared != NULL));
    return n;
}

static const struct hal_prepare_config default_config = { .preference = HAL_FAST_SINGLE_ANSWER,
                                                          .priority = HAL_PRIORITY_MEDIUM,
                                                          .deadline = HAL_NO_DEADLINE };

/* get_supported_operations, prepare_model and its callback must report INVALID_ARGUMENT. */
static void check_invalid(const char *what)
{
    struct hal_driver *d = (struct hal_driver *) (uintptr_t) target_driver(target);
    bool supported[8];
    uint32_t n = 99;

    ck_assert_msg(d->get_supported_operations(d, HAL_1_3, &hal, supported, &n) ==
                      HAL_INVALID_ARGUMENT,
                  "%s: get_supported_operations", what);
    ck_assert_uint_eq(n, 99);
    ck_assert_msg(prepare(HAL_1_3, &default_config).status == HAL_INVALID_ARGUMENT,
                  "%s: prepare_model", what);
}

/* Writable copies of the parts that a test changes. */
static struct hal_operand *operands(struct hal_subgraph *g)
{
    struct hal_operand *o = arena_copy(b.arena, g->operands, g->n_operands * sizeof *o);

    g->operands = o;
    return o;
}

static struct hal_operation *operations(struct hal_subgraph *g)
{
    struct hal_operation *o = arena_copy(b.arena, g->operations, g->n_operations * sizeof *o);

    g->operations = o;
    return o;
}

/* Changes the model, checks that it is rejected, and restores it. */
#define REJECTED(what, code)                                                                       \
    do {                                                                                           \
        struct hal_model original = hal;                                                           \
        code;                                                                                      \
        check_invalid(what);                                                                       \
        hal = original;                                                                            \
    } while (0)

static struct hal_subgraph *branch(void)
{
    struct hal_subgraph *g = arena_copy(b.arena, hal.referenced, 2 * sizeof *g);

    hal.referenced = g;
    return g;
}

START_TEST(invalid_operands_are_rejected)
{
    static const uint32_t zeros[MAX_RANK + 1];

    REJECTED("type", operands(&hal.main)[3].type = 16);
    REJECTED("type", operands(&hal.main)[3].type = -1);
    REJECTED("lifetime", operands(&hal.main)[3].lifetime = (enum hal_lifetime) 7);
    REJECTED("no dimensions", operands(&hal.main)[3].dims = NULL);
    REJECTED("rank",
             (operands(&hal.main)[3].n_dims = MAX_RANK + 1, operands(&hal.main)[3].dims = zeros));
    REJECTED("location", operands(&hal.main)[3].location.offset = 1);
    REJECTED("consumers", operands(&hal.main)[3].n_consumers++);
    REJECTED("scale", operands(&hal.main)[3].scale = 1);
    REJECTED("zero", operands(&hal.main)[3].zero = 1);
    REJECTED("extra", operands(&hal.main)[3].extra = HAL_EXTRA_CHANNEL_QUANT);
    REJECTED("extra", operands(&hal.main)[3].extra = HAL_EXTRA_EXTENSION);
    REJECTED("subgraph", operands(&hal.main)[1].location.offset = 2);
    REJECTED("subgraph", operands(&hal.main)[1].location.offset = UINT32_MAX);
}
END_TEST

START_TEST(locations_outside_memory_are_rejected)
{
    REJECTED("copy", operands(&hal.main)[0].location.offset = hal.operand_values_length);
    REJECTED("copy", operands(&hal.main)[0].location.offset = UINT64_MAX);
    REJECTED("copy", operands(&hal.main)[0].location.length = UINT64_MAX);
    REJECTED("copy", operands(&hal.main)[0].location.pool = 1);
    REJECTED("padding", operands(&hal.main)[0].location.padding = 1);
    REJECTED("values", hal.operand_values = NULL);
    REJECTED("reference", operands(branch())[1].location.pool = 1);
    REJECTED("reference", operands(branch())[1].location.offset = 12);
    REJECTED("reference", operands(branch())[1].location.offset = UINT64_MAX - 3);
    REJECTED("reference", operands(branch())[1].location.length = 4);
    REJECTED("pools", hal.pools = NULL);
}
END_TEST

START_TEST(invalid_lists_are_rejected)
{
    static const uint32_t far[] = { 0, 1, 2, 99 }, twice[] = { 4, 4 };

    REJECTED("input index", operations(&hal.main)->inputs = far);
    REJECTED("output index", operations(&hal.main)->outputs = far + 3);
    REJECTED("no inputs", operations(&hal.main)->inputs = NULL);
    REJECTED("operation type", operations(&hal.main)->type = 102);
    REJECTED("operation type", operations(&hal.main)->type = -1);
    REJECTED("graph inputs", hal.main.inputs = far + 3);
    REJECTED("graph outputs", (hal.main.outputs = twice, hal.main.n_outputs = 2));
    REJECTED("no operations", hal.main.n_operations = 0);
    REJECTED("no operands", hal.main.operands = NULL);
    REJECTED("no subgraphs", hal.referenced = NULL);
    REJECTED("a cycle", operations(branch())[0] = hal.main.operations[0]);
}
END_TEST

START_TEST(unaligned_constants_are_read)
{
    uint8_t *shifted = arena_alloc(b.arena, hal.operand_values_length + 17, 1);
    struct hal_operand *o = operands(branch());
    struct notified n;

    memcpy(shifted + 1, hal.operand_values, hal.operand_values_length);
    hal.operand_values = shifted;
    hal.operand_values_length += 1;
    operands(&hal.main)[0].location.offset++;
    o[2].location.offset++; /* a scalar, now at an odd address */
    struct hal_operand *other = operands(&((struct hal_subgraph *) (uintptr_t) hal.referenced)[1]);
    other[2].location.offset++;
    n = prepare(HAL_1_3, &default_config);
    ck_assert_int_eq(n.status, HAL_NONE);
    n.prepared->methods->release(n.prepared);
}
END_TEST

START_TEST(versions_and_configurations_are_checked)
{
    struct hal_prepare_config bad = default_config, late = default_config;
    struct notified n;

    ck_assert_int_eq(prepare(HAL_1_2, &default_config).status,
                     HAL_INVALID_ARGUMENT); /* IF is of 1.3 */
    ck_assert_int_eq(prepare((enum hal_version)(HAL_FL8 + 1), &default_config).status,
                     HAL_INVALID_ARGUMENT);
    ck_assert_int_eq(prepare((enum hal_version) 0, &default_config).status, HAL_INVALID_ARGUMENT);
    bad.preference = (enum hal_preference) 3;
    ck_assert_int_eq(prepare(HAL_1_3, &bad).status, HAL_INVALID_ARGUMENT);
    bad = default_config;
    bad.priority = (enum hal_priority) - 1;
    ck_assert_int_eq(prepare(HAL_1_3, &bad).status, HAL_INVALID_ARGUMENT);
    late.deadline = 1;
    ck_assert_int_eq(prepare(HAL_1_3, &late).status, HAL_MISSED_DEADLINE_PERSISTENT);
    n = prepare(HAL_1_3, &default_config);
    ck_assert_int_eq(n.status, HAL_NONE);
    n.prepared->methods->release(n.prepared);
}
END_TEST

/* ---- memory and requests */

/* Prepares with the branches' constants in a file of `size` bytes, and a memory of 16 bytes at the
 * offset. */
static enum hal_status prepare_from_file(off_t size, uint64_t offset)
{
    struct hal_memory memory = { HAL_MEMORY_FD, HAL_MEMORY_READ,
                                 NULL,          memfd_create("pool", MFD_CLOEXEC),
                                 offset,        sizeof pool_values };
    struct hal_model original = hal;

    ck_assert_int_ge(memory.fd, 0);
    ck_assert_int_eq((int) write(memory.fd, pool_values, sizeof pool_values), sizeof pool_values);
    ck_assert_int_eq(ftruncate(memory.fd, size), 0);
    hal.pools = &memory;
    struct notified n = prepare(HAL_1_3, &default_config);
    if (n.prepared)
        n.prepared->methods->release(n.prepared);
    close(memory.fd);
    hal = original;
    return n.status;
}

START_TEST(descriptors_are_mapped_and_checked)
{
    ck_assert_int_eq(prepare_from_file(sizeof pool_values, 0), HAL_NONE);
    ck_assert_int_eq(prepare_from_file(sizeof pool_values - 1, 0), HAL_INVALID_ARGUMENT);
    ck_assert_int_eq(prepare_from_file(sizeof pool_values, 1), HAL_INVALID_ARGUMENT);
    ck_assert_int_eq(prepare_from_file(sizeof pool_values, 1 << 20), HAL_INVALID_ARGUMENT);
    struct hal_memory bad = { HAL_MEMORY_FD, HAL_MEMORY_READ, NULL, -1, 0, 16 };
    REJECTED("no descriptor", hal.pools = &bad);
    struct hal_memory unreadable = { HAL_MEMORY_ADDRESS, HAL_MEMORY_WRITE, pool_values, -1, 0, 16 };
    REJECTED("not readable", hal.pools = &unreadable);
}
END_TEST

static float in_values[] = { 3, 4 }, out_values[2];

/* A valid request, which each test changes. */
static struct hal_request_pool pools[] = {
    { false, 0, { HAL_MEMORY_ADDRESS, HAL_MEMORY_READ, in_values, -1, 0, sizeof in_values } },
    { false,
      0,
      { HAL_MEMORY_ADDRESS, HAL_MEMORY_READ | HAL_MEMORY_WRITE, out_values, -1, 0,
        sizeof out_values } },
};
static const struct hal_argument valid_in = { .location = { .pool = 0, .length = 8 } };
static const struct hal_argument valid_out = { .location = { .pool = 1, .length = 8 } };

static enum hal_status execute(struct hal_prepared_model *p, struct hal_argument in,
                               struct hal_argument out, struct hal_result *result)
{
    struct hal_request q = { 1, 1, 2, &in, &out, pools };
    struct hal_execution_config config = { .deadline = HAL_NO_DEADLINE,
                                           .loop_timeout = HAL_NO_TIME };
    enum hal_status status = p->methods->execute_synchronously(p, HAL_1_3, &q, &config, result);

    ck_assert(result->timing.on_device == HAL_NO_TIME && result->timing.in_driver == HAL_NO_TIME);
    ck_assert_uint_eq(result->n_shapes,
                      status == HAL_NONE || status == HAL_OUTPUT_INSUFFICIENT_SIZE);
    return status;
}

#define EXECUTED(status, in_change, out_change)                                                    \
    do {                                                                                           \
        struct hal_argument in = valid_in, out = valid_out;                                        \
        (void) (in_change), (void) (out_change);                                                   \
        ck_assert_int_eq(execute(n.prepared, in, out, &result), status);                           \
    } while (0)

START_TEST(requests_are_checked)
{
    static const uint32_t two[] = { 2 }, three[] = { 3 }, zero[] = { 0 };
    struct hal_output_shape shape;
    struct hal_result result = { .shapes = &shape, .capacity = 1 };
    struct notified n = prepare(HAL_1_3, &default_config);

    EXECUTED(HAL_NONE, 0, 0);
    ck_assert(out_values[0] == 3 && out_values[1] == 6); /* 3 * 1 and 4 * 1.5 */
    EXECUTED(HAL_NONE, (in.n_dims = 1, in.dims = two), 0);
    EXECUTED(HAL_INVALID_ARGUMENT, (in.n_dims = 1, in.dims = three), 0);
    EXECUTED(HAL_NONE, 0, (out.n_dims = 1, out.dims = zero));
    EXECUTED(HAL_INVALID_ARGUMENT, (in.n_dims = 1, in.dims = NULL), 0);
    EXECUTED(HAL_INVALID_ARGUMENT, in.n_dims = MAX_RANK + 1, 0);
    EXECUTED(HAL_INVALID_ARGUMENT, in.location.pool = 2, 0);
    EXECUTED(HAL_INVALID_ARGUMENT, in.location.offset = 4, 0);
    EXECUTED(HAL_INVALID_ARGUMENT, in.location.offset = UINT64_MAX - 3, 0);
    EXECUTED(HAL_INVALID_ARGUMENT, in.location.length = 4, 0);
    EXECUTED(HAL_INVALID_ARGUMENT, in.has_no_value = true, 0);
    EXECUTED(HAL_INVALID_ARGUMENT, 0, out.location.length = 9);
    EXECUTED(HAL_INVALID_ARGUMENT, 0, out.location.pool = 0); /* read-only */
    EXECUTED(HAL_OUTPUT_INSUFFICIENT_SIZE, 0, out.location.length = 4);
    ck_assert(!shape.is_sufficient && shape.n_dims == 1 && shape.dims[0] == 2);
    result.capacity = 0;
    EXECUTED(HAL_INVALID_ARGUMENT, 0, 0);
    n.prepared->methods->release(n.prepared);
}
END_TEST

/* Each subgraph is used twice, so that visiting every use would take 2^60 steps. */
START_TEST(shared_subgraphs_are_checked_once)
{
    enum { DEPTH = 60 };
    struct hal_driver *d = (struct hal_driver *) (uintptr_t) target_driver(target);
    bool supported = false;
    uint32_t n = 0;

    build_done(&b);
    build_init(&b, DEPTH + 1);
    for (uint32_t g = 0; g <= DEPTH; g++) {
        build_graph(&b, g);
        uint32_t c = build_operand(&b, LIFE_INPUT, DT_B8, DIMS(1));
        uint32_t x = build_operand(&b, LIFE_INPUT, DT_F32, DIMS(2));
        uint32_t yes = g < DEPTH ? build_subgraph(&b, g + 1) : build_int(&b, 0);
        uint32_t z = build_operand(&b, LIFE_OUTPUT, DT_F32, DIMS(2));
        if (g < DEPTH)
            OPERATION(&b, "IF", IDS(c, yes, build_subgraph(&b, g + 1), c, x), IDS(z));
        else
            OPERATION(&b, "ADD", IDS(x, x, yes), IDS(z));
    }
    ck_assert_int_eq(convert_to_hal(&b.model, b.arena, &hal, &w), 0);
    ck_assert_int_eq(d->get_supported_operations(d, HAL_1_3, &hal, &supported, &n), HAL_NONE);
    ck_assert(n == 1 && supported);
}
END_TEST

/* ---- caching */

START_TEST(a_driver_without_caching_needs_no_files)
{
    struct target *golden;
    struct notified cached = { { notify }, 0, HAL_NONE, NULL };
    uint32_t n_model = 9, n_data = 9;

    ck_assert_int_eq(target_open("golden", NULL, &golden, &w), 0);
    struct hal_driver *d = (struct hal_driver *) (uintptr_t) target_driver(golden);
    ck_assert_int_eq(d->get_number_of_cache_files_needed(d, &n_model, &n_data), HAL_NONE);
    ck_assert(n_model == 0 && n_data == 0);
    ck_assert_int_eq(d->prepare_model_from_cache(d, HAL_1_3, &default_config, &cached.base),
                     HAL_GENERAL_FAILURE);
    ck_assert(cached.calls == 1 && cached.status == HAL_GENERAL_FAILURE && !cached.prepared);
    target_free(golden);
}
END_TEST

Suite *convert_suite(void)
{
    TCase *c = tcase_create("convert");

    tcase_add_checked_fixture(c, set_up, tear_down);
    tcase_add_test(c, conversion_and_back_preserve_a_model);
    tcase_add_test(c, invalid_operands_are_rejected);
    tcase_add_test(c, locations_outside_memory_are_rejected);
    tcase_add_test(c, invalid_lists_are_rejected);
    tcase_add_test(c, unaligned_constants_are_read);
    tcase_add_test(c, versions_and_configurations_are_checked);
    tcase_add_test(c, descriptors_are_mapped_and_checked);
    tcase_add_test(c, requests_are_checked);
    tcase_add_test(c, shared_subgraphs_are_checked_once);
    tcase_add_test(c, a_driver_without_caching_needs_no_files);
    return make_suite("convert", c, NULL);
}
