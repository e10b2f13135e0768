#include "harness/check/case_choice.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/base/array.h"
#include "golden/math/farmhash.h"
#include "harness/check/cases.h"

struct name {
    char *text;       /* without the prefix "spec/" */
    const char *file; /* of a list, as in case_choice_read(); NULL: an option */
    unsigned line;
    bool is_pattern, used;
};

struct names {
    struct name *list; /* once the first case is looked up: patterns, then the others sorted */
    size_t n, n_patterns;
    bool sorted;
};

struct case_choice {
    struct names of[CHOICE_KINDS];
    uint64_t digest;
};

struct case_choice *case_choice_new(void)
{
    return calloc(1, sizeof(struct case_choice));
}

void case_choice_free(struct case_choice *c)
{
    for (int k = 0; c && k < CHOICE_KINDS; k++) {
        for (size_t i = 0; i < c->of[k].n; i++)
            free(c->of[k].list[i].text);
        free(c->of[k].list);
    }
    free(c);
}

static int add(struct case_choice *c, enum choice_kind kind, const char *text, const char *file,
               unsigned line, struct why *w)
{
    struct names *names = &c->of[kind];
    struct name *list = array_room(names->list, names->n, sizeof *list);
    if (!list)
        return why_no_memory_for(w, "%zu names of cases", names->n + 1);
    names->list = list;
    char *copy = strdup(case_without_prefix(text));
    if (!copy)
        return why_no_memory(w);
    bool is_pattern = strpbrk(copy, "*?[");
    names->list[names->n++] = (struct name){ copy, file, line, is_pattern, false };
    names->n_patterns += is_pattern;
    names->sorted = false;
    return 0;
}

int case_choice_add(struct case_choice *c, enum choice_kind kind, const char *pattern,
                    struct why *w)
{
    return add(c, kind, pattern, NULL, 0, w);
}

static int read_lines(struct case_choice *c, FILE *file, const char *name, struct why *w)
{
    size_t size = 0, before = c->of[CHOICE_ONLY].n;
    int failed = 0;
    char *line = NULL;
    ssize_t n;
    for (unsigned number = 1; !failed && (n = getline(&line, &size, file)) >= 0; number++) {
        if (strlen(line) < (size_t) n) {
            failed =
                why_fail(w, WHY_INVALID, "%s:%u: a null byte: not a list of cases", name, number);
            break;
        }
        char *at = line + strspn(line, " \t"), *end = at + strlen(at);
        while (end > at && strchr(" \t\r\n", end[-1]))
            *--end = 0;
        if (!*at || *at == '#')
            continue;
        failed = add(c, CHOICE_ONLY, at, name, number, w);
        c->digest = farmhash64(at, strlen(at)) + 31 * c->digest;
    }
    if (!failed && ferror(file))
        failed = why_file(w, name, errno);
    free(line);
    if (failed)
        return -1;
    REQUIRE(w, c->of[CHOICE_ONLY].n > before,
            "%s: names no case; expected one name or pattern in a line", name);
    return 0;
}

int case_choice_read(struct case_choice *c, const char *path, struct why *w)
{
    if (!strcmp(path, "-"))
        return read_lines(c, stdin, "stdin", w);
    FILE *file = fopen(path, "re");
    if (!file)
        return why_file(w, path, errno);
    int failed = read_lines(c, file, path, w);
    fclose(file);
    return failed;
}

/* ---- looking up */

static int patterns_first(const void *a, const void *b)
{
    const struct name *x = a, *y = b;
    return x->is_pattern != y->is_pattern ? (int) y->is_pattern - (int) x->is_pattern
                                          : strcmp(x->text, y->text);
}

/* Patterns one by one, the others by binary search.  Marks all that match. */
static bool matches(struct names *names, const char *name)
{
    bool found = false;
    if (!names->sorted && names->n)
        qsort(names->list, names->n, sizeof *names->list, patterns_first);
    names->sorted = true;
    for (size_t i = 0; i < names->n_patterns; i++)
        if (case_name_matches(names->list[i].text, name))
            found = names->list[i].used = true;
    size_t low = names->n_patterns, high = names->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (strcmp(names->list[middle].text, case_without_prefix(name)) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    for (; low < names->n && !strcmp(names->list[low].text, case_without_prefix(name)); low++)
        found = names->list[low].used = true;
    return found;
}

bool case_choice_takes(const char *name, void *user)
{
    struct case_choice *c = user;
    bool taken = true;
    for (enum choice_kind k = CHOICE_ONLY; k < CHOICE_EXCLUDE; k++)
        if (c->of[k].n && !matches(&c->of[k], name))
            taken = false;
    return taken && !matches(&c->of[CHOICE_EXCLUDE], name);
}

uint64_t case_choice_count(const struct case_choice *c, enum choice_kind kind, uint64_t *ret_unused)
{
    *ret_unused = 0;
    for (size_t i = 0; i < c->of[kind].n; i++)
        *ret_unused += !c->of[kind].list[i].used;
    return c->of[kind].n;
}

/* The first --case that no case matches, else the first such line of a file; NULL: there is none.
 */
static const struct name *first_unused(const struct names *names)
{
    const struct name *first = NULL;
    for (size_t i = 0; i < names->n; i++) {
        const struct name *name = &names->list[i];
        if (name->used)
            continue;
        if (!name->file)
            return name;
        first = !first || name->line < first->line ? name : first;
    }
    return first;
}

const char *case_choice_unused(const struct case_choice *c)
{
    const struct name *first = first_unused(&c->of[CHOICE_ONLY]);
    return first ? first->text : NULL;
}

int case_choice_check(const struct case_choice *c, const char *hint, struct why *w)
{
    const struct name *first = first_unused(&c->of[CHOICE_ONLY]);
    uint64_t n = 0;
    if (!first)
        return 0;
    if (!first->file)
        return why_fail(w, WHY_INVALID, "no case matches --case '%s'%s", first->text, hint);
    for (size_t i = 0; i < c->of[CHOICE_ONLY].n; i++)
        n += !c->of[CHOICE_ONLY].list[i].used;
    return why_fail(w, WHY_INVALID, "%s:%u: no case matches '%s'%s (%llu such line%s)", first->file,
                    first->line, first->text, hint, (unsigned long long) n, n == 1 ? "" : "s");
}

uint64_t case_choice_digest(const struct case_choice *c)
{
    return c->digest;
}
