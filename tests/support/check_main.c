#include "tests/support/check_main.h"

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
