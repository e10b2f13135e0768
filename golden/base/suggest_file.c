#define _GNU_SOURCE
#include <dirent.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden/base/suggest.h"

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name); /* alphasort() follows the locale */
}

static int not_hidden(const struct dirent *d)
{
    return d->d_name[0] != '.';
}

/* Length of the name without the ending that it shares with the other one: "same" of same.mod.py
 * beside none.mod.py. */
static size_t own_part(const char *name, const char *other)
{
    for (const char *dot = strchr(name + 1, '.'); dot; dot = strchr(dot + 1, '.')) {
        const size_t n = strlen(dot), m = strlen(other);
        if (m > n && strcmp(other + m - n, dot) == 0)
            return (size_t) (dot - name);
    }
    return strlen(name);
}

/* SIZE_MAX: not near. */
static size_t distance_of(const char *name, const char *entry)
{
    char word[NAME_MAX + 1], candidate[NAME_MAX + 1];

    snprintf(word, sizeof word, "%.*s", (int) own_part(name, entry), name);
    snprintf(candidate, sizeof candidate, "%.*s", (int) own_part(entry, name), entry);
    struct suggestion s = suggest_for(word);
    suggest_candidate(&s, candidate);
    return s.name ? s.distance : SIZE_MAX;
}

/* folder: what the entries' paths begin with: "", or ends with a slash. */
static void nearest_in(const char *folder, const char *name, char text[SUGGEST_FILE])
{
    struct dirent **entry;
    const char *nearest = NULL;
    size_t least = SIZE_MAX;
    int n = scandir(*folder ? folder : ".", &entry, not_hidden, by_name);

    for (int i = 0; i < n; i++) {
        size_t distance = distance_of(name, entry[i]->d_name);
        if (distance < least) {
            nearest = entry[i]->d_name;
            least = distance;
        }
    }
    if (nearest &&
        snprintf(text, SUGGEST_FILE, "; did you mean %s%s?", folder, nearest) >= SUGGEST_FILE)
        text[0] = 0;
    for (int i = 0; i < n; i++)
        free(entry[i]);
    if (n >= 0)
        free(entry);
}

const char *suggest_file(const char *path, char text[SUGGEST_FILE])
{
    char copy[PATH_MAX], *name = copy, *slash;
    char folder[PATH_MAX] = "";

    text[0] = 0;
    if (strlen(path) >= sizeof copy)
        return text;
    strcpy(copy, path);
    while ((slash = strchr(name, '/'))) {
        *slash = 0;
        if (*copy && access(copy, F_OK) != 0)
            break;
        *slash = '/';
        name = slash + 1;
        memcpy(folder, copy, (size_t) (name - copy));
        folder[name - copy] = 0;
    }
    if (*name)
        nearest_in(folder, name, text);
    return text;
}
