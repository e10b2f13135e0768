/* The conformance programs in one executable: vts_tests PROGRAM [CELLS [RULE]] (vts_matrix.h). */
#include <stdio.h>
#include <string.h>

#include "tests/vts_matrix.h"

struct entry {
    const char *name;
    int (*main)(int argc, char **argv);
};

#define PROGRAM(name) { #name, vts_##name##_main },
static const struct entry entries[] = { VTS_PROGRAMS };
#undef PROGRAM

enum { ENTRIES = sizeof entries / sizeof *entries };

int main(int argc, char **argv)
{
    for (int i = 0; argc > 1 && i < ENTRIES; i++)
        if (strcmp(entries[i].name, argv[1]) == 0)
            return entries[i].main(argc - 1, argv + 1);
    fprintf(stderr, "usage: vts_tests PROGRAM [CELLS [RULE]]; the programs are:");
    for (int i = 0; i < ENTRIES; i++)
        fprintf(stderr, " %s", entries[i].name);
    fputc('\n', stderr);
    return 2;
}
