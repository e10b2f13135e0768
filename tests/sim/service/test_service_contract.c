/* Violations of the contract by a driver must be visible over a socket as in its process: objects
 * that it does not return, descriptors that are no fences. */
#include <check.h>
#include <fcntl.h>
#include <string.h>

#include "sim/remote/remote.h"
#include "tests/sim/service/stub_driver.h"
#include "tests/support/check_main.h"
#include "tests/support/hal_client.h"

enum { N = 4, BAD_FENCE = 1 << 24 };

/* ---- the driver, which returns HAL_NONE without the object */

static int fence_of_driver;
static bool has_info;

static enum hal_status execute_fenced(struct hal_prepared_model *self, enum hal_version version,
                                      const struct hal_request *request, uint32_t n_wait_for,
                                      const int *wait_for,
                                      const struct hal_execution_config *config, uint64_t duration,
                                      int *ret_fence, struct hal_fenced_info **ret_info)
{
    (void) self, (void) version, (void) request, (void) n_wait_for, (void) wait_for;
    (void) config, (void) duration;
    *ret_fence = fence_of_driver;
    *ret_info = has_info ? stub_info() : NULL;
    return HAL_NONE;
}

static enum hal_status configure_burst(struct hal_prepared_model *self, enum hal_version version,
                                       struct hal_burst **ret_burst)
{
    (void) self, (void) version, (void) ret_burst;
    return HAL_NONE;
}

static enum hal_status create(struct hal_prepared_model *self, const struct hal_request *request,
                              const struct hal_execution_config *config,
                              struct hal_execution **ret_execution)
{
    (void) self, (void) request, (void) config, (void) ret_execution;
    return HAL_NONE;
}

static const struct hal_prepared_model_methods methods = {
    .execute_fenced = execute_fenced,
    .configure_burst = configure_burst,
    .create_reusable_execution = create,
    .release = stub_release,
};

static enum hal_status allocate(struct hal_driver *self, const struct hal_buffer_desc *desc,
                                uint32_t n_models, struct hal_prepared_model *const *models,
                                uint32_t n_input_roles, const struct hal_buffer_role *input_roles,
                                uint32_t n_output_roles, const struct hal_buffer_role *output_roles,
                                struct hal_buffer **ret_buffer, uint32_t *ret_token)
{
    (void) self, (void) desc, (void) n_models, (void) models, (void) n_input_roles;
    (void) input_roles, (void) n_output_roles, (void) output_roles;
    *ret_buffer = NULL;
    *ret_token = 7;
    return HAL_NONE;
}

/* ---- the client; i even: in process, odd: over a socket */

static struct hal_driver *driver;
static struct client_model m;

static void open_as(int i)
{
    driver = stub_driver(&methods);
    driver->allocate = allocate;
    driver = i % 2 ? client_over_socket(driver) : driver;
    client_add_model(&m, N, false);
    client_prepare(&m, driver, HAL_PRIORITY_MEDIUM);
}

static void close_all(void)
{
    client_done(&m);
    driver->close(driver);
}

START_TEST(missing_objects_stay_missing)
{
    const struct hal_buffer_role role = { 0, 0, 1 };
    const struct hal_execution_config config = client_config();
    struct hal_execution *execution = NULL;
    struct hal_buffer *buffer = NULL;
    struct hal_burst *burst = NULL;
    struct client_request r;
    uint32_t token = 0;

    open_as(_i);
    client_fill(&r, N);
    ck_assert_int_eq(m.prepared->methods->configure_burst(m.prepared, HAL_FL8, &burst), HAL_NONE);
    ck_assert_ptr_null(burst);
    ck_assert_int_eq(
        m.prepared->methods->create_reusable_execution(m.prepared, &r.hal, &config, &execution),
        HAL_NONE);
    ck_assert_ptr_null(execution);
    ck_assert_int_eq(driver->allocate(driver, &(struct hal_buffer_desc){ 0 }, 1, &m.prepared, 1,
                                      &role, 0, NULL, &buffer, &token),
                     HAL_NONE);
    ck_assert_ptr_null(buffer);
    ck_assert_uint_eq(token, 7);
    close_all();
}
END_TEST

static const struct {
    int fence;
    bool has_info;
} fenced[] = { { HAL_NO_FENCE, true },
               { HAL_NO_FENCE, false },
               { BAD_FENCE, true },
               { BAD_FENCE, false },
               { -7, true } };

START_TEST(missing_fences_and_infos_are_passed_on)
{
    const struct hal_execution_config config = client_config();
    struct hal_fenced_info *info = NULL;
    struct client_request r;
    int fence = 0;

    fence_of_driver = fenced[_i / 2].fence;
    has_info = fenced[_i / 2].has_info;
    open_as(_i);
    client_fill(&r, N);
    ck_assert_int_eq(m.prepared->methods->execute_fenced(m.prepared, HAL_FL8, &r.hal, 0, NULL,
                                                         &config, HAL_NO_TIME, &fence, &info),
                     HAL_NONE);
    ck_assert_int_eq(info != NULL, has_info);
    if (fence_of_driver == HAL_NO_FENCE)
        ck_assert_int_eq(fence, HAL_NO_FENCE);
    else
        ck_assert(fence != HAL_NO_FENCE && fcntl(fence, F_GETFD) < 0);
    if (info)
        info->methods->release(info);
    close_all();
}
END_TEST

/* ---- properties */

static const struct hal_operand_performance *rows;
static const struct hal_extension *listed;

static enum hal_status get_capabilities(struct hal_driver *self, enum hal_version version,
                                        struct hal_capabilities *ret_capabilities)
{
    (void) self, (void) version;
    *ret_capabilities = (struct hal_capabilities){ .relaxed_scalar = { 1, 2 },
                                                   .if_performance = { 5, 0 },
                                                   .while_performance = { 7, 8 },
                                                   .n_operands = 2,
                                                   .operand = rows };
    return HAL_NONE;
}

static enum hal_status get_extensions(struct hal_driver *self, uint32_t *ret_n,
                                      const struct hal_extension **ret_extension)
{
    (void) self;
    *ret_n = 1;
    *ret_extension = listed;
    return HAL_NONE;
}

static void open_with_properties(const struct hal_operand_performance *operand,
                                 const struct hal_extension *extension)
{
    rows = operand;
    listed = extension;
    driver = stub_driver(&methods);
    driver->get_capabilities = get_capabilities;
    driver->get_supported_extensions = get_extensions;
    driver = client_over_socket(driver);
}

START_TEST(properties_are_passed_on)
{
    static const struct hal_operand_performance operand[] = { { 3, { 9, 10 } }, { 5, { 0, 0 } } };
    static const struct hal_extension_type type[] = { { 7, false, 4 }, { 65535, true, 12 } };
    static const struct hal_extension extension = { "com.example.extension", 2, type };
    const struct hal_extension *e = NULL;
    struct hal_capabilities c;
    uint32_t n = 0;

    open_with_properties(operand, &extension);
    ck_assert_str_eq(driver->name, "stub");
    ck_assert_int_eq(driver->get_capabilities(driver, HAL_FL8, &c), HAL_NONE);
    ck_assert(c.relaxed_scalar.exec_time == 1 && c.relaxed_scalar.power_usage == 2);
    ck_assert(c.relaxed_tensor.exec_time == 0 && c.relaxed_tensor.power_usage == 0);
    ck_assert(c.if_performance.exec_time == 5 && c.if_performance.power_usage == 0);
    ck_assert(c.while_performance.exec_time == 7 && c.while_performance.power_usage == 8);
    ck_assert_uint_eq(c.n_operands, 2);
    ck_assert_mem_eq(c.operand, operand, sizeof(operand));
    ck_assert_int_eq(driver->get_supported_extensions(driver, &n, &e), HAL_NONE);
    ck_assert(n == 1 && e->n_types == 2);
    ck_assert_str_eq(e->name, extension.name);
    for (int i = 0; i < 2; i++)
        ck_assert(e->type[i].type == type[i].type && e->type[i].is_tensor == type[i].is_tensor &&
                  e->type[i].byte_size == type[i].byte_size);
    driver->close(driver);
}
END_TEST

/* They have crashed the service. */
START_TEST(properties_with_null_are_violations)
{
    static const struct hal_extension extension = { "com.example.extension", 2, NULL };
    const struct hal_extension *e = NULL;
    struct hal_capabilities c;
    char text[160] = "";
    uint32_t n = 0;

    open_with_properties(NULL, _i ? &extension : NULL);
    ck_assert_int_eq(driver->get_supported_extensions(driver, &n, &e), HAL_GENERAL_FAILURE);
    ck_assert(remote_take_violation(driver, text, sizeof(text)));
    ck_assert_msg(
        strstr(text, _i ? "types is NULL, with 2 elements" : "extensions is NULL, with 1 elements"),
        "%s", text);
    ck_assert_int_eq(driver->get_capabilities(driver, HAL_FL8, &c), HAL_GENERAL_FAILURE);
    ck_assert(remote_take_violation(driver, text, sizeof(text)));
    ck_assert_msg(strstr(text, "operands is NULL, with 2 elements"), "%s", text);
    driver->close(driver);
}
END_TEST

Suite *service_contract_suite(void)
{
    TCase *c = tcase_create("contract");

    tcase_add_loop_test(c, missing_objects_stay_missing, 0, 2);
    tcase_add_loop_test(c, missing_fences_and_infos_are_passed_on, 0, 2 * COUNT(fenced));
    tcase_add_test(c, properties_are_passed_on);
    tcase_add_loop_test(c, properties_with_null_are_violations, 0, 2);
    return make_suite("service_contract", c, NULL);
}
