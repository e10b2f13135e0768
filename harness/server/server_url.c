#include "harness/server/server_url.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const schemes[] = { "postgresql://", "postgres://" };

/* Behind the scheme; NULL: the text is no such URL. */
static const char *after_scheme(const char *text)
{
    for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
        if (!strncmp(text, schemes[i], strlen(schemes[i])))
            return text + strlen(schemes[i]);
    return NULL;
}

bool server_is_url(const char *text)
{
    return after_scheme(text) != NULL;
}

/* Where user and password end, at the "@"; NULL: there are none. */
static const char *end_of_user(const char *authority)
{
    const char *end = authority + strcspn(authority, "@/");
    return *end == '@' ? end : NULL;
}

static int hex(char c)
{
    return isdigit((unsigned char) c)    ? c - '0'
           : isxdigit((unsigned char) c) ? tolower((unsigned char) c) - 'a' + 10
                                         : -1;
}

/* Whether a parameter, whose name may have escapes (%70assword), is a password. */
static bool is_password(const char *parameter, size_t length)
{
    static const char *const secret[] = { "password", "sslpassword" };
    char name[16] = "";
    size_t n = 0;
    for (size_t i = 0; i < length && parameter[i] != '=' && n < sizeof name - 1; i++) {
        bool escaped = parameter[i] == '%' && i + 2 < length && hex(parameter[i + 1]) >= 0 &&
                       hex(parameter[i + 2]) >= 0;
        name[n++] =
            escaped ? (char) (16 * hex(parameter[i + 1]) + hex(parameter[i + 2])) : parameter[i];
        i += escaped ? 2 : 0;
    }
    return !strcasecmp(name, secret[0]) || !strcasecmp(name, secret[1]);
}

char *server_shown_url(const char *url)
{
    const char *at = after_scheme(url), *user_end = at ? end_of_user(at) : NULL;
    char *shown = malloc(strlen(url) + 1), *to = shown;
    if (!shown || !at)
        return shown ? strcpy(shown, url) : NULL;
    to = mempcpy(to, url, (size_t) (at - url));
    if (user_end) {
        to = mempcpy(to, at, strcspn(at, ":@"));
        at = user_end;
    }
    size_t n = strcspn(at, "?");
    to = mempcpy(to, at, n);
    at += n;
    for (char separator = '?'; *at; at += n) {
        n = strcspn(++at, "&");
        if (is_password(at, n))
            continue;
        *to++ = separator;
        to = mempcpy(to, at, n);
        separator = '&';
    }
    *to = 0;
    return shown;
}

int server_check_url(const char *url, struct why *w)
{
    const char *at = after_scheme(url), *user_end = at ? end_of_user(at) : NULL;
    const char *rest = user_end ? user_end + 1 : at;
    REQUIRE(w, at,
            "'%s': expected the URL of a PostgreSQL server, such as "
            "postgresql://user@host/database",
            url);
    if (!memchr(rest, '@', strcspn(rest, "?")))
        return 0;
    return why_fail(w, WHY_INVALID,
                    "the password or a name in the URL has an '@' or '/'; expected %%40 and %%2F "
                    "(better: the password in ~/.pgpass or PGPASSWORD)");
}

int server_refuse_url(const char *argument, const char *hint, struct why *w)
{
    if (!server_is_url(argument))
        return 0;
    char *shown = server_shown_url(argument);
    if (!shown)
        return why_no_memory(w);
    why_fail(w, WHY_INVALID, "%.200s: expected a file; %s", shown, hint);
    free(shown);
    return -1;
}
