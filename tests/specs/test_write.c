/* Writes the examples of the given files as a specification and as a corpus line, and checks that
 * each loads again as the same example.
 *
 *     test_write [-every N] PATH...
 *
 * N: every Nth example only.  Exit status 77 (skipped) if a path does not exist. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "specs/specs.h"
#include "tests/specs/example_text.h"

struct round_trip {
    char path[64];
    unsigned long done, stride;
};

struct again {
    const struct example *e;
    unsigned seen;
};

static int compare_example(const struct example *e, void *user, struct why *w)
{
    struct again *again = user;
    again->seen++;
    return example_same(again->e, e, w);
}

static int read_back(const struct example *e, const char *path, struct why *w)
{
    struct again again = { .e = e };

    if (specs_load(path, NULL, compare_example, &again, w) < 0)
        return why_prefix(w, "%s", e->name);
    REQUIRE(w, again.seen == 1, "%s: %u examples instead of one", e->name, again.seen);
    return 0;
}

static int write_and_read_back(const struct example *e, const char *path, struct why *w)
{
    FILE *to = fopen(path, "w");
    bool python = strstr(path, ".mod.py");

    if (!to)
        return why_fail(w, WHY_SYSTEM, "%s cannot be written", path);
    int written = python ? specs_write_modpy(e, "made by a test\ntwo lines", to, w)
                         : specs_write_json(e, to, w);
    fclose(to);
    TRY(written);
    TRY(read_back(e, path, w));
    return unlink(path);
}

static int each(const struct example *e, void *user, struct why *w)
{
    struct round_trip *round_trip = user;
    char path[96];

    if (round_trip->done++ % round_trip->stride != 0)
        return 0;
    snprintf(path, sizeof path, "%s/again.mod.py", round_trip->path);
    TRY(write_and_read_back(e, path, w));
    snprintf(path, sizeof path, "%s/again.jsonl", round_trip->path);
    return write_and_read_back(e, path, w);
}

int main(int argc, char **argv)
{
    struct round_trip round_trip = { .path = "/tmp/halcyon-write-XXXXXX", .stride = 1 };
    struct why w;
    int first = 1;

    if (argc > 2 && strcmp(argv[1], "-every") == 0) {
        round_trip.stride = strtoul(argv[2], NULL, 10);
        first = 3;
    }
    if (!mkdtemp(round_trip.path))
        return 1;
    for (int i = first; i < argc; i++) {
        if (access(argv[i], R_OK) < 0)
            return rmdir(round_trip.path) < 0 ? 1 : 77;
        if (specs_load(argv[i], NULL, each, &round_trip, &w) < 0) {
            fprintf(stderr, "%s\n", w.text);
            return 1;
        }
    }
    printf("%lu examples\n", round_trip.done);
    return rmdir(round_trip.path) < 0;
}
