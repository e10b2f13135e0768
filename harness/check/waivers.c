#include "harness/check/waivers.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "randgraph/randgraph.h"

struct waiver {
    char *name, *target, *reason;
};

struct waivers {
    struct waiver *list;
    size_t n;
};

void waivers_free(struct waivers *v)
{
    if (!v)
        return;
    for (size_t i = 0; i < v->n; i++)
        free(v->list[i].name); /* one allocation per line */
    free(v->list);
    free(v);
}

/* Cuts off the next word; NULL at the end of the line. */
static char *next_word(char **at)
{
    char *word = *at + strspn(*at, " \t");
    if (!*word)
        return NULL;
    char *end = word + strcspn(word, " \t");
    *at = *end ? end + 1 : end;
    *end = 0;
    return word;
}

/* -1: the line lacks a word, or its glob can match no case. */
static int check_line(const char *name, const char *target, const char *reason, bool random,
                      struct why *w)
{
    REQUIRE(w, target && *reason, "expected CASE-GLOB TARGET-GLOB REASON, found no %s",
            target ? "REASON" : "TARGET-GLOB");
    REQUIRE(w, !random || !randgraph_is_old_name(name),
            "'%s' matches no random case: their names begin with the version of the generator and "
            "have its options, such as random/v%d/s7/i123 or random/v%d/op=ADD/s7/i123",
            name, RANDGRAPH_VERSION, RANDGRAPH_VERSION);
    return 0;
}

int waivers_load(const char *path, bool random, struct waivers **ret_waivers, struct why *w)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return why_fail(w, WHY_INVALID, "%s: %s", path, strerror(errno));
    struct waivers *v = calloc(1, sizeof *v);
    int failed = v ? 0 : why_no_memory(w);
    char *line = NULL, *name, *target;
    size_t size = 0;
    for (unsigned number = 1; !failed && getline(&line, &size, file) >= 0; number++) {
        line[strcspn(line, "\r\n")] = 0;
        char *at = line;
        if (line[strspn(line, " \t")] == '#' || !(name = next_word(&at)))
            continue;
        target = next_word(&at);
        char *reason = at + strspn(at, " \t");
        if (check_line(name, target, reason, random, w) < 0) {
            failed = why_prefix(w, "%s:%u", path, number);
            break;
        }
        struct waiver *list = realloc(v->list, (v->n + 1) * sizeof *list);
        if (!list) {
            failed = why_no_memory(w);
            break;
        }
        v->list = list;
        memmove(line, name, strlen(name) + 1); /* so that freeing the name frees the line */
        list[v->n++] = (struct waiver){ line, target, reason };
        line = NULL;
        size = 0;
    }
    if (!failed && ferror(file))
        failed = why_fail(w, WHY_INVALID, "%s: %s", path, strerror(errno));
    free(line);
    fclose(file);
    if (failed) {
        waivers_free(v);
        return -1;
    }
    *ret_waivers = v;
    return 0;
}

const char *waivers_find(const struct waivers *v, const char *name, const char *target)
{
    for (size_t i = 0; v && i < v->n; i++)
        if (!fnmatch(v->list[i].name, name, 0) && !fnmatch(v->list[i].target, target, 0))
            return v->list[i].reason;
    return NULL;
}
