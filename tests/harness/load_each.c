/* Loads files in one process, for check_mutants.py.
 *
 *     load_each SECONDS
 *
 * Reads one path per line from stdin and prints one line for each: "loaded", or the number of its
 * enum why_code and the message.  Files are what specs_load() reads, with models validated, or
 * .toml device profiles.  SECONDS is the time limit of each. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/device/profile.h"
#include "specs/specs.h"

enum { MEMORY = 1u << 30 };

static int validate(const struct example *e, void *user, struct why *w)
{
    const char *path = user;

    return model_validate(&e->model, w) < 0 ? why_prefix(w, "%s:%zu: %s", path, e->line, e->name)
                                            : 0;
}

static int load_profile(const char *path, struct why *w)
{
    struct profile *p = NULL;
    char *json = NULL;

    TRY(specs_read_toml(path, &json, w));
    int result = profile_parse(json, path, &p, w);
    profile_free(p);
    free(json);
    return result;
}

static int load(char *path, double seconds, struct why *w)
{
    const struct specs_options options = { .timeout = seconds, .memory_limit = MEMORY };

    if (strstr(path, ".toml"))
        return load_profile(path, w);
    return specs_load(path, &options, validate, path, w);
}

int main(int argc, char **argv)
{
    double seconds = argc > 1 ? strtod(argv[1], NULL) : 60;
    char *path = NULL;
    size_t size = 0;
    ssize_t n;

    while ((n = getline(&path, &size, stdin)) > 0) {
        struct why w = { 0 };
        path[strcspn(path, "\n")] = '\0';
        if (load(path, seconds, &w) < 0)
            printf("%d %s\n", (int) w.code, w.text);
        else
            puts("loaded");
        fflush(stdout);
    }
    free(path);
    return 0;
}
