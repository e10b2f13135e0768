#define _GNU_SOURCE
#include "sim/client/allowlist.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* An absolute path such as "/vendor/bin/x", without empty, "." or ".." components and control
 * characters. */
static bool is_path(const char *text)
{
    while (*text == '/') {
        size_t n = strcspn(++text, "/");
        bool dots = (n == 1 && text[0] == '.') || (n == 2 && !strncmp(text, "..", 2));
        if (!n || dots)
            return false;
        for (size_t i = 0; i < n; i++)
            if ((unsigned char) text[i] < ' ' || text[i] == 0x7f)
                return false;
        text += n;
    }
    return !*text;
}

/* A package name such as "com.example.app": at least two names of letters, digits and '_' that
 * begin with a letter. */
static bool is_package(const char *text)
{
    for (int names = 1;; names++) {
        if (!is_letter(*text))
            return false;
        while (is_letter(*text) || is_digit(*text) || *text == '_')
            text++;
        if (!*text)
            return names > 1;
        if (*text++ != '.')
            return false;
    }
}

static bool is_entry(const char *line, size_t length)
{
    if (strlen(line) != length || length >= PATH_MAX)
        return false;
    return *line == '/' ? is_path(line) : is_package(line);
}

/* Whether a binary is in one of the folders from which extensions may be used. */
static bool is_in_place(const char *path)
{
    static const char *const folders[] = { "/product/", "/vendor/", "/odm/", "/data/" };

    for (size_t i = 0; i < sizeof(folders) / sizeof(*folders); i++)
        if (strncmp(path, folders[i], strlen(folders[i])) == 0)
            return true;
    return false;
}

static int read_lines(FILE *from, const char *file, const char *who, bool *found, struct why *w)
{
    char *line = NULL;
    size_t room = 0;
    int rc = 0;
    ssize_t n;

    for (unsigned number = 1; rc == 0 && (n = getline(&line, &room, from)) >= 0; number++) {
        if (n > 0 && line[n - 1] == '\n')
            line[--n] = '\0';
        if (n > 0 && !is_entry(line, (size_t) n))
            rc = why_fail(w, WHY_INVALID,
                          "%s:%u: expected the path of a binary or the name of a package, found "
                          "\"%.80s\"",
                          file, number, line);
        *found |= n > 0 && strcmp(line, who) == 0;
    }
    if (rc == 0 && ferror(from))
        rc = why_file(w, file, errno);
    free(line);
    return rc;
}

int allowlist_allows(const char *file, const char *who, bool anywhere, bool *ret_allowed,
                     struct why *w)
{
    FILE *from = fopen(file, "re");
    bool found = false;

    if (!from)
        return why_file(w, file, errno);
    int rc = read_lines(from, file, who, &found, w);
    fclose(from);
    TRY(rc);
    *ret_allowed = found && (anywhere || *who != '/' || is_in_place(who));
    return 0;
}

char *allowlist_this_binary(void)
{
    return realpath("/proc/self/exe", NULL);
}
