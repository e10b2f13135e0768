/* Constants of a hundred megabytes on their way through a service: how often they are copied, by
 * what the two processes hold at most. */
#include <check.h>
#include <stdio.h>
#include <unistd.h>

#include "tests/sim/service/service_lab.h"
#include "tests/support/check_main.h"
#include "tests/support/large_model.h"

/* Besides constants: what processes and sanitizers need. */
static const double SLACK = 0.25;

static const struct {
    const char *name;
    enum large_kind kind;
    double client, service; /* how many times they are held anew */
} ways[] = {
    { "a memory file", LARGE_FILE, 0, 0 },
    { "plain memory", LARGE_ADDRESS, 1, 0 },
    { "by copy", LARGE_COPY, 1, 2 },
};

/* Held at most since the mark, without files that others have made. */
static double held_anew(pid_t pid, const struct memory_use *before, bool with_files)
{
    const struct memory_use now = memory_use(pid);
    double files = with_files ? 0 : now.shared - before->shared;

    return now.peak - before->now - files;
}

static void check_held(const char *who, double mb, double times)
{
    ck_assert_msg(mb <= (times + SLACK * (1 + times)) * LARGE_MB,
                  "%s holds %.0f MB, %g x %d MB are allowed", who, mb, times, LARGE_MB);
}

START_TEST(constants_are_copied_as_often_as_they_must)
{
    struct hal_driver *d = lab_connect();
    struct large_model l;

    large_model_init(&l, ways[_i].kind);
    struct memory_use client = memory_use(getpid()), service = memory_use(lab_service);
    memory_mark(getpid());
    memory_mark(lab_service);
    client_prepare(&l.m, d, HAL_PRIORITY_MEDIUM);
    double by_client = held_anew(getpid(), &client, true),
           by_service = held_anew(lab_service, &service, false);
    printf("%-14s client %4.0f MB, service %4.0f MB\n", ways[_i].name, by_client, by_service);
    check_held("the client", by_client, ways[_i].client);
    check_held("the service", by_service, ways[_i].service);
    large_model_run(&l);
    large_model_done(&l);
    d->close(d);
}
END_TEST

Suite *service_constants_suite(void)
{
    TCase *c = tcase_create("constants");

    tcase_add_checked_fixture(c, lab_open, lab_close);
    tcase_add_loop_test(c, constants_are_copied_as_often_as_they_must, 0, COUNT(ways));
    return make_suite("service_constants", c, NULL);
}
