/* Remote reusable executions: a second run during the first is rejected and does not disturb it;
 * the driver gets room for all shapes. */
#include <check.h>
#include <semaphore.h>
#include <stdatomic.h>

#include "sim/base/memory.h"
#include "sim/remote/remote_internal.h"
#include "tests/sim/service/stub_driver.h"
#include "tests/support/check_main.h"
#include "tests/support/hal_client.h"

enum { N = 4, OUTPUTS = 2 /* index of client_fill()'s pool with z */ };

/* A driver that writes its output and then waits for the test. */
static struct mapping output;
static atomic_bool is_busy;
static atomic_uint room; /* for shapes, as the driver got it */
static sem_t written, go_on;
static struct why w;

static enum hal_status execute(struct hal_execution *self, uint64_t deadline,
                               struct hal_result *result)
{
    (void) self, (void) deadline;
    atomic_store(&room, result->capacity);
    result->n_shapes = 0;
    result->timing = (struct hal_timing){ HAL_NO_TIME, HAL_NO_TIME };
    if (atomic_exchange(&is_busy, true))
        return HAL_GENERAL_FAILURE;
    for (int i = 0; i < N; i++)
        ((float *) (void *) output.address)[i] = 7;
    sem_post(&written);
    sem_wait(&go_on);
    atomic_store(&is_busy, false);
    return HAL_NONE;
}

static void release_execution(struct hal_execution *self)
{
    (void) self;
    memory_unmap(&output);
}

static enum hal_status create(struct hal_prepared_model *self, const struct hal_request *request,
                              const struct hal_execution_config *config,
                              struct hal_execution **ret_execution)
{
    static const struct hal_execution_methods methods = { execute, NULL, release_execution };
    static struct hal_execution execution = { &methods };

    (void) self, (void) config;
    if (memory_map(&request->pools[OUTPUTS].memory, true, &output, &w) < 0)
        return HAL_GENERAL_FAILURE;
    *ret_execution = &execution;
    return HAL_NONE;
}

static const struct hal_prepared_model_methods methods = {
    .create_reusable_execution = create,
    .release = stub_release,
};

/* An execution in a thread of its own. */
struct runner {
    struct hal_execution *execution;
    struct client_request *request;
    enum hal_status status;
};

static void *run(void *argument)
{
    struct runner *r = argument;

    r->status = r->execution->methods->execute_synchronously(r->execution, HAL_NO_DEADLINE,
                                                             &r->request->result);
    return NULL;
}

START_TEST(a_second_run_does_not_disturb_the_first)
{
    struct hal_driver *d = client_over_socket(stub_driver(&methods));
    struct hal_execution_config config = client_config();
    struct hal_output_shape shape;
    struct hal_result second = { .shapes = &shape, .capacity = 1 };
    struct client_request request;
    struct client_model m;
    pthread_t thread;

    ck_assert(sem_init(&written, 0, 0) == 0 && sem_init(&go_on, 0, 0) == 0);
    client_add_model(&m, N, false);
    client_prepare(&m, d, HAL_PRIORITY_MEDIUM);
    client_fill(&request, N);
    struct runner r = { .request = &request };
    ck_assert_int_eq(m.prepared->methods->create_reusable_execution(m.prepared, &request.hal,
                                                                    &config, &r.execution),
                     HAL_NONE);
    ck_assert_int_eq(pthread_create(&thread, NULL, run, &r), 0);
    sem_wait(&written);
    ck_assert_int_eq(
        r.execution->methods->execute_synchronously(r.execution, HAL_NO_DEADLINE, &second),
        HAL_GENERAL_FAILURE);
    ck_assert(request.z[0] != 7);
    sem_post(&go_on);
    pthread_join(thread, NULL);
    ck_assert_int_eq(r.status, HAL_NONE);
    for (int i = 0; i < N; i++)
        ck_assert(request.z[i] == 7);
    r.execution->methods->release(r.execution);
    client_done(&m);
    d->close(d);
}
END_TEST

/* The service computes the room for shapes itself: the client claims none. */
START_TEST(the_driver_has_room_for_all_shapes)
{
    struct hal_driver *d = client_over_socket(stub_driver(&methods));
    struct hal_execution_config config = client_config();
    struct hal_execution *x;
    struct client_request request;
    struct client_model m;
    struct remote_call q;

    ck_assert(sem_init(&written, 0, 0) == 0 && sem_init(&go_on, 0, 1) == 0);
    client_add_model(&m, N, false);
    client_prepare(&m, d, HAL_PRIORITY_MEDIUM);
    client_fill(&request, N);
    ck_assert_int_eq(
        m.prepared->methods->create_reusable_execution(m.prepared, &request.hal, &config, &x),
        HAL_NONE);
    ck_assert_int_eq(remote_begin((struct remote *) d, WIRE__METHOD__REUSABLE_EXECUTE, 0, &q), 0);
    q.call.object = 2; /* the object after the model */
    q.call.size = 0;
    ck_assert_int_eq(remote_run(&q), HAL_NONE);
    remote_end(&q);
    ck_assert_uint_eq(atomic_load(&room), request.hal.n_outputs);
    x->methods->release(x);
    client_done(&m);
    d->close(d);
}
END_TEST

Suite *service_reusable_suite(void)
{
    TCase *c = tcase_create("reusable executions of a service");

    tcase_add_test(c, a_second_run_does_not_disturb_the_first);
    tcase_add_test(c, the_driver_has_room_for_all_shapes);
    return make_suite("service_reusable", c, NULL);
}
