#define _GNU_SOURCE
#include "tests/support/check_main.h"

#include <sched.h>
#include <stdarg.h>

Suite *make_suite(const char *name, TCase *first, ...)
{
    Suite *suite = suite_create(name);
    va_list more;

    va_start(more, first);
    for (TCase *c = first; c; c = va_arg(more, TCase *))
        suite_add_tcase(suite, c);
    va_end(more);
    return suite;
}

int run_suites(SRunner *runner)
{
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}

int run_suite(Suite *suite)
{
    return run_suites(srunner_create(suite));
}

void pin_to_one_processor(void)
{
    cpu_set_t all, one;
    size_t cpu = 0;

    ck_assert_int_eq(sched_getaffinity(0, sizeof all, &all), 0);
    while (!CPU_ISSET(cpu, &all))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    ck_assert_int_eq(sched_setaffinity(0, sizeof one, &one), 0);
}
