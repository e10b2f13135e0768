/* What is written loads again as the same example: every example of the files given, or of the
 * specifications in this tree, both as a specification and as a corpus line. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "specs/specs.h"
#include "tests/specs/example_text.h"

struct trip {
    char path[64];
    unsigned long done, stride;
};

struct again {
    const struct example *e;
    unsigned seen;
};

static int each_again(const struct example *e, void *user, struct why *w)
{
    struct again *again = user;
    again->seen++;
    return example_same(again->e, e, w);
}

static int read_back(const struct example *e, const char *path, struct why *w)
{
    struct again again = { .e = e };

    if (specs_load(path, NULL, each_again, &again, w) < 0)
        return why_prefix(w, "%s", e->name);
    REQUIRE(w, again.seen == 1, "%s: %u examples instead of one", e->name, again.seen);
    return 0;
}

static int there_and_back(const struct example *e, const char *path, struct why *w)
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
    struct trip *trip = user;
    char path[96];

    if (trip->done++ % trip->stride != 0)
        return 0;
    snprintf(path, sizeof path, "%s/again.mod.py", trip->path);
    TRY(there_and_back(e, path, w));
    snprintf(path, sizeof path, "%s/again.jsonl", trip->path);
    return there_and_back(e, path, w);
}

/* Arguments: [-every N] PATH...; 77 where a path is not there. */
int main(int argc, char **argv)
{
    struct trip trip = { .path = "/tmp/halcyon-write-XXXXXX", .stride = 1 };
    struct why w;
    int first = 1;

    if (argc > 2 && strcmp(argv[1], "-every") == 0) {
        trip.stride = strtoul(argv[2], NULL, 10);
        first = 3;
    }
    if (!mkdtemp(trip.path))
        return 1;
    for (int i = first; i < argc; i++) {
        if (access(argv[i], R_OK) < 0)
            return rmdir(trip.path) < 0 ? 1 : 77;
        if (specs_load(argv[i], NULL, each, &trip, &w) < 0) {
            fprintf(stderr, "%s\n", w.text);
            return 1;
        }
    }
    printf("%lu examples\n", trip.done);
    return rmdir(trip.path) < 0;
}
