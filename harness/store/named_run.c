#include "harness/store/named_run.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool is_number(const char *text, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!isdigit((unsigned char) text[i]))
            return false;
    return n > 0 && n <= 18;
}

int named_run_parse(const char *text, size_t n, const char *db, char **ret_path, int64_t *ret_run,
                    struct why *w)
{
    size_t path = n;
    *ret_run = 0;
    *ret_path = strndup(text, n);
    if (!*ret_path)
        return why_no_memory(w);
    if (n && !is_number(text, n) && access(*ret_path, F_OK) == 0)
        return 0;
    while (path && isdigit((unsigned char) text[path - 1]))
        path--;
    bool has_run = path < n && (!path || text[path - 1] == ':') && is_number(text + path, n - path);
    if (has_run) {
        *ret_run = strtoll(text + path, NULL, 10);
        n = path ? path - 1 : 0;
        (*ret_path)[n] = 0;
        REQUIRE(w, *ret_run, "'%s': expected a run from 1 on", text);
    }
    if (!n) {
        free(*ret_path);
        *ret_path = strdup(db);
    }
    return *ret_path ? 0 : why_no_memory(w);
}

int named_run_check(const char *path, const char *more, struct why *w)
{
    char expected[120];
    if (access(path, F_OK) == 0)
        return 0;
    const int error = errno;
    snprintf(expected, sizeof expected, " (expected RUN, DATABASE or DATABASE:RUN%s)", more);
    return why_file_or(w, path, error, expected);
}
