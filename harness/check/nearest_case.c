#include "harness/check/nearest_case.h"

#include <stdio.h>
#include <string.h>

#include "golden/base/suggest.h"

static const char wildcards[] = "*?[]";

struct nearest_case nearest_case_to(const char *wanted)
{
    struct nearest_case n = { .is_part = strpbrk(wanted, wildcards) || !strchr(wanted, '/'),
                              .distance = SIZE_MAX };
    size_t longest = 0;

    if (!strpbrk(wanted, wildcards)) {
        snprintf(n.word, sizeof n.word, "%s", case_without_prefix(wanted));
        return n;
    }
    for (const char *at = wanted; *at; at++) {
        size_t length = strcspn(at, "*?[]/");
        if (length > longest && length < sizeof n.word) {
            snprintf(n.word, sizeof n.word, "%.*s", (int) length, at);
            longest = length;
        }
        at += length ? length - 1 : 0;
    }
    return n;
}

static void consider(struct nearest_case *n, const char *text, const char *name)
{
    struct suggestion s = suggest_for(n->word);

    suggest_candidate(&s, text);
    if (!s.name || s.distance >= n->distance)
        return;
    n->distance = s.distance;
    snprintf(n->name, sizeof n->name, "%s", name);
}

void nearest_case_consider(struct nearest_case *n, const char *name)
{
    char part[256];

    consider(n, case_without_prefix(name), name);
    for (const char *at = name; n->is_part && *at; at += *at == '/') {
        size_t length = strcspn(at, "/");
        snprintf(part, sizeof part, "%.*s", (int) (length < sizeof part ? length : 0), at);
        consider(n, part, name);
        at += length;
    }
}

const char *nearest_case_text(const struct nearest_case *n, char text[NEAREST_CASE_TEXT])
{
    text[0] = 0;
    if (n->name[0])
        snprintf(text, NEAREST_CASE_TEXT, "; did you mean %s?", n->name);
    return text;
}
