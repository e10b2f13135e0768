#include "tests/support/check_main.h"

#include <stdarg.h>

int check_main(const char *name, TCase *first, ...)
{
    Suite *suite = suite_create(name);
    va_list more;

    va_start(more, first);
    for (TCase *c = first; c; c = va_arg(more, TCase *))
        suite_add_tcase(suite, c);
    va_end(more);
    SRunner *runner = srunner_create(suite);
    srunner_run_all(runner, CK_ENV);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed != 0;
}
