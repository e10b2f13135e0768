/* The main() of a room's test program: runs the suites that its arguments name, or all.
 *
 *     golden_tests [SUITE...]
 *
 * CK_RUN_SUITE and CK_RUN_CASE select among them further.  Exit status 0 if all tests have passed,
 * 1 if one has failed, 2 if there is no such suite. */
#include <stdio.h>
#include <string.h>

#include "tests/support/check_main.h"

struct entry {
    const char *name;
    Suite *(*make)(void);
};

#define SUITE(name) { #name, name##_suite },
static const struct entry entries[] = { SUITES };
#undef SUITE

enum { ENTRIES = sizeof entries / sizeof *entries };

/* The suite of this name, or NULL. */
static Suite *make_named(const char *name)
{
    for (int i = 0; i < ENTRIES; i++)
        if (strcmp(entries[i].name, name) == 0)
            return entries[i].make();
    return NULL;
}

static int report_unknown(const char *wrong)
{
    fprintf(stderr, "unknown suite %s; the suites are:", wrong);
    for (int i = 0; i < ENTRIES; i++)
        fprintf(stderr, " %s", entries[i].name);
    fputc('\n', stderr);
    return 2;
}

int main(int argc, char **argv)
{
    SRunner *runner = srunner_create(NULL);

    for (int i = 1; i < argc; i++) {
        Suite *suite = make_named(argv[i]);

        if (!suite) {
            srunner_free(runner);
            return report_unknown(argv[i]);
        }
        srunner_add_suite(runner, suite);
    }
    for (int i = 0; i < ENTRIES && argc < 2; i++)
        srunner_add_suite(runner, entries[i].make());
    return run_suites(runner);
}
