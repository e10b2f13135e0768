/* Constants of a hundred megabytes in a model for a service: the number of copies, measured by the
 * peak memory of client and service. */
#include <check.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/sim/service/service_lab.h"
#include "tests/support/check_main.h"
#include "tests/support/large_model.h"

/* Allowed in addition, as a share of the constants: for the processes and sanitizers. */
static const double SLACK = 0.25;

static const struct {
    const char *name;
    enum large_kind kind;
    double client, service; /* number of copies in each process */
} kinds[] = {
    { "a memory file", LARGE_FILE, 0, 0 },
    { "plain memory", LARGE_ADDRESS, 1, 0 },
    { "by copy", LARGE_COPY, 1, 2 },
};

/* Growth of the peak in MB since memory_mark(); with_files: including shared memory files. */
static double peak_growth(pid_t pid, const struct memory_use *before, bool with_files)
{
    const struct memory_use now = memory_use(pid);
    double files = with_files ? 0 : now.shared - before->shared;

    return now.peak - before->now - files;
}

static void check_held(const char *who, double mb, double times)
{
    ck_assert_msg(mb <= (times + SLACK * (1 + times)) * LARGE_MB,
                  "%s holds %.0f MB more, allowed are %g x %d MB", who, mb, times, LARGE_MB);
}

START_TEST(constants_are_copied_no_more_than_needed)
{
    struct hal_driver *d = lab_connect();
    struct large_model l;

    large_model_init(&l, kinds[_i].kind);
    struct memory_use client = memory_use(getpid()), service = memory_use(lab_service);
    memory_mark(getpid());
    memory_mark(lab_service);
    client_prepare(&l.m, d, HAL_PRIORITY_MEDIUM);
    double by_client = peak_growth(getpid(), &client, true),
           by_service = peak_growth(lab_service, &service, false);
    printf("%-14s client %4.0f MB, service %4.0f MB\n", kinds[_i].name, by_client, by_service);
    check_held("the client", by_client, kinds[_i].client);
    check_held("the service", by_service, kinds[_i].service);
    large_model_run(&l);
    large_model_done(&l);
    d->close(d);
}
END_TEST

Suite *service_constants_suite(void)
{
    TCase *c = tcase_create("constants");

    tcase_add_checked_fixture(c, lab_open, lab_close);
    tcase_add_loop_test(c, constants_are_copied_no_more_than_needed, 0, COUNT(kinds));
    return make_suite("service_constants", c, NULL);
}
