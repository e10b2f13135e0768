#include "sim/device/profile_read.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/base/suggest.h"

enum { PLACE_TEXT = 160, VALUE_TEXT = 60, LIST_TEXT = 200 };

static void place_text(const struct key_path *at, char *text, size_t size)
{
    size_t used;

    text[0] = 0;
    if (!at)
        return;
    place_text(at->parent, text, size);
    used = strlen(text);
    if (!at->key)
        snprintf(text + used, size - used, "[%zu]", at->index);
    else
        snprintf(text + used, size - used, "%s%s", used ? "." : "", at->key);
}

static void value_text(const json_t *v, char text[VALUE_TEXT])
{
    char *dump = v ? json_dumps(v, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;

    snprintf(text, VALUE_TEXT, "%s", dump ? dump : "nothing");
    if (dump && strlen(dump) >= VALUE_TEXT)
        memcpy(text + VALUE_TEXT - 4, "...", 4);
    free(dump);
}

int read_fail(const struct profile_reader *r, const struct key_path *at, const char *expected,
              const json_t *found)
{
    char where[PLACE_TEXT], value[VALUE_TEXT];

    place_text(at, where, sizeof(where));
    value_text(found, value);
    return why_fail(r->w, WHY_INVALID, "%s: %s: expected %s, found %s", r->file,
                    where[0] ? where : "the profile", expected, value);
}

static void list_text(const char *const *words, char text[LIST_TEXT])
{
    size_t used = 0;

    text[0] = 0;
    for (; *words && used < LIST_TEXT - 1; words++) {
        int n = snprintf(text + used, LIST_TEXT - used, "%s%s", used ? ", " : "", *words);
        used += n > 0 ? (size_t) n : 0;
    }
}

int read_check_keys(const struct profile_reader *r, const struct key_path *at, const json_t *object,
                    const char *const *known)
{
    char list[LIST_TEXT], where[PLACE_TEXT];
    const char *key;
    json_t *value;

    json_object_foreach((json_t *) (uintptr_t) object, key, value)
    {
        const char *const *k = known;
        while (*k && strcmp(*k, key))
            k++;
        if (*k)
            continue;
        struct key_path here = { at, key, 0 };
        place_text(&here, where, sizeof(where));
        list_text(known, list);
        struct suggestion s = suggest_for(key);
        char near[SUGGEST_TEXT];
        for (k = known; *k; k++)
            suggest_candidate(&s, *k);
        if (s.name)
            return why_fail(r->w, WHY_INVALID, "%s: %s: unknown key%s", r->file, where,
                            suggest_text(&s, "", near));
        return why_fail(r->w, WHY_INVALID, "%s: %s: unknown key, expected one of %s", r->file,
                        where, list);
    }
    return 0;
}

/* 1: found, 0: absent and not required, -1: absent but required. */
static int find(const struct profile_reader *r, const struct key *m, const char *expected,
                const json_t **ret)
{
    struct key_path here = { m->at, m->key, 0 };

    *ret = json_object_get(m->object, m->key);
    if (*ret)
        return 1;
    return m->required ? read_fail(r, &here, expected, NULL) : 0;
}

static int wrong(const struct profile_reader *r, const struct key *m, const char *expected,
                 const json_t *found)
{
    struct key_path here = { m->at, m->key, 0 };

    return read_fail(r, &here, expected, found);
}

int read_text(const struct profile_reader *r, struct key m, const char **ret)
{
    const json_t *v;
    int rc = find(r, &m, "a string", &v);

    if (rc <= 0)
        return rc;
    if (!json_is_string(v) || !json_string_length(v) ||
        strlen(json_string_value(v)) != json_string_length(v))
        return wrong(r, &m, "a string that is not empty", v);
    *ret = arena_strdup(r->arena, json_string_value(v));
    return *ret ? 0 : why_no_memory_for(r->w, "%s", r->file);
}

int read_number(const struct profile_reader *r, struct key m, double least, double *ret)
{
    const json_t *v;
    char expected[64];

    if (least > 0)
        snprintf(expected, sizeof(expected), "a number above 0");
    else
        snprintf(expected, sizeof(expected), "a number >= %g", least);
    int rc = find(r, &m, expected, &v);
    if (rc <= 0)
        return rc;
    if (!json_is_number(v) || !(json_number_value(v) >= least) || isinf(json_number_value(v)))
        return wrong(r, &m, expected, v);
    *ret = json_number_value(v);
    return 0;
}

int read_count(const struct profile_reader *r, struct key m, uint64_t most, uint64_t *ret)
{
    const json_t *v;
    char expected[64];

    snprintf(expected, sizeof(expected), "an integer from 0 to %" PRIu64, most);
    int rc = find(r, &m, expected, &v);
    if (rc <= 0)
        return rc;
    if (!json_is_integer(v) || json_integer_value(v) < 0 || (uint64_t) json_integer_value(v) > most)
        return wrong(r, &m, expected, v);
    *ret = (uint64_t) json_integer_value(v);
    return 0;
}

int read_count32(const struct profile_reader *r, struct key m, uint32_t most, uint32_t *ret)
{
    uint64_t value = *ret;

    TRY(read_count(r, m, most, &value));
    *ret = (uint32_t) value;
    return 0;
}

int read_flag(const struct profile_reader *r, struct key m, bool *ret)
{
    const json_t *v;
    int rc = find(r, &m, "true or false", &v);

    if (rc <= 0)
        return rc;
    if (!json_is_boolean(v))
        return wrong(r, &m, "true or false", v);
    *ret = json_is_true(v);
    return 0;
}

int read_object(const struct profile_reader *r, struct key m, const json_t **ret)
{
    int rc = find(r, &m, "a table", ret);

    if (rc > 0 && !json_is_object(*ret))
        return wrong(r, &m, "a table", *ret);
    return rc < 0 ? rc : 0;
}

int read_array(const struct profile_reader *r, struct key m, const json_t **ret)
{
    int rc = find(r, &m, "a list", ret);

    if (rc > 0 && !json_is_array(*ret))
        return wrong(r, &m, "a list", *ret);
    return rc < 0 ? rc : 0;
}

int read_word(const struct profile_reader *r, struct key m, const char *const *words, int *ret)
{
    char list[LIST_TEXT], expected[LIST_TEXT + 10];
    const json_t *v;

    list_text(words, list);
    snprintf(expected, sizeof(expected), "one of %s", list);
    int rc = find(r, &m, expected, &v);
    if (rc <= 0)
        return rc;
    for (int i = 0; json_is_string(v) && words[i]; i++)
        if (strcmp(words[i], json_string_value(v)) == 0) {
            *ret = i;
            return 0;
        }
    return wrong(r, &m, expected, v);
}
