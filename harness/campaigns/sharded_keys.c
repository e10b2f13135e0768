#include "harness/campaigns/sharded_keys.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/base/arena.h"
#include "golden/base/suggest.h"
#include "harness/cli/option_table.h"

enum key_kind { KEY_TEXT, KEY_TEXTS, KEY_COUNT, KEY_FLAG, KEY_TIME, KEY_TABLE };

#define AT(member) offsetof(struct sharded_plan, member)
static const struct key_row {
    const char *table, *key; /* table "": the root */
    enum key_kind kind;
    size_t member; /* of counts and times (uint64_t) and flags; 0: read by sharded_plan.c */
    uint64_t least, most;
} keys[] = {
    { "", "command", KEY_TEXT },
    { "", "targets", KEY_TEXTS },
    { "", "paths", KEY_TEXTS },
    { "", "cases", KEY_COUNT, AT(n_cases), 1, 1000000000 },
    { "", "shards", KEY_COUNT, AT(n_shards), 1, MOST_SHARDS },
    { "", "cases_per_shard", KEY_COUNT, 0, 1, 1000000000 },
    { "", "summary", KEY_FLAG, AT(summary) },
    { "", "output", KEY_TEXT },
    { "", "corpus", KEY_TEXT },
    { "", "options", KEY_TABLE },
    { "", "engine", KEY_TABLE },
    { "", "limits", KEY_TABLE },
    { "", "stop", KEY_TABLE },
    { "engine", "name", KEY_TEXT },
    { "engine", "program", KEY_TEXT },
    { "limits", "jobs", KEY_COUNT, AT(jobs), 1, 100000 },
    { "limits", "time", KEY_TIME, AT(seconds) },
    { "limits", "retries", KEY_COUNT, AT(retries), 0, 1000 },
    { "stop", "for", KEY_TIME, AT(stop_seconds) },
    { "stop", "max_buckets", KEY_COUNT, AT(stop_buckets), 1, 1000000 },
    { "stop", "coverage", KEY_COUNT, AT(stop_coverage), 1, MOST_SHARDS },
};
#undef AT

int sharded_key_fail(const struct sharded_plan *p, const char *path, const char *expected,
                     const json_t *found, struct why *w)
{
    char *text = found ? json_dumps(found, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
    why_fail(w, WHY_INVALID, "%s: %s: expected %s, found %.80s", p->file, path, expected,
             text ? text : "nothing");
    free(text);
    return -1;
}

const json_t *sharded_key(const struct sharded_plan *p, const char *path)
{
    const char *dot = strchr(path, '.');
    char table[16];
    if (!dot)
        return json_object_get(p->json, path);
    snprintf(table, sizeof table, "%.*s", (int) (dot - path), path);
    return json_object_get(json_object_get(p->json, table), dot + 1);
}

const char *sharded_key_text(const struct sharded_plan *p, const char *path)
{
    return json_string_value(sharded_key(p, path));
}

const char *sharded_value_text(const struct sharded_plan *p, const json_t *value)
{
    if (json_is_string(value))
        return json_string_value(value);
    if (json_is_integer(value))
        return arena_printf(p->arena, "%lld", (long long) json_integer_value(value));
    return json_is_real(value) ? arena_printf(p->arena, "%.17g", json_real_value(value)) : NULL;
}

/* ---- unknown keys */

static const struct key_row *find_key(const char *table, const char *key)
{
    for (int i = 0; i < COUNT(keys); i++)
        if (!strcmp(keys[i].table, table) && !strcmp(keys[i].key, key))
            return &keys[i];
    return NULL;
}

/* Suggests a key of the same table, else the same key of another one. */
static int unknown_key(const struct sharded_plan *p, const char *table, const char *key,
                       struct why *w)
{
    struct suggestion s = suggest_for(key);
    char text[SUGGEST_TEXT];
    const char *dot = *table ? "." : "";
    for (int i = 0; i < COUNT(keys); i++)
        if (!strcmp(keys[i].table, table))
            suggest_candidate(&s, keys[i].key);
    for (int i = 0; !s.name && i < COUNT(keys); i++)
        if (!strcmp(keys[i].key, key))
            return why_fail(w, WHY_INVALID, "%s: unknown key '%s%s%s'; %s belongs %s%s%s", p->file,
                            table, dot, key, key, *keys[i].table ? "into [" : "before the tables",
                            keys[i].table, *keys[i].table ? "]" : "");
    return why_fail(w, WHY_INVALID, "%s: unknown key '%s%s%s'%s", p->file, table, dot, key,
                    s.name ? suggest_text(&s, "", text)
                           : " (docs/campaigns.md lists the keys; options of the command belong "
                             "into [options])");
}

static int check_table(const struct sharded_plan *p, const char *table, const json_t *object,
                       struct why *w)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *) object, key,
                        value) if (!find_key(table, key)) return unknown_key(p, table, key, w);
    return 0;
}

/* ---- values */

static bool is_texts(const json_t *value)
{
    for (size_t i = 0; i < json_array_size(value); i++)
        if (!json_string_length(json_array_get(value, i)))
            return false;
    return json_array_size(value) > 0;
}

static int read_count_key(struct sharded_plan *p, const struct key_row *k, const char *path,
                          const json_t *value, struct why *w)
{
    const json_int_t n = json_integer_value(value);
    char expected[80];
    snprintf(expected, sizeof expected, "a whole number from %llu to %llu",
             (unsigned long long) k->least, (unsigned long long) k->most);
    if (!json_is_integer(value) || n < (json_int_t) k->least || (uint64_t) n > k->most)
        return sharded_key_fail(p, path, expected, value, w);
    if (k->member)
        *(uint64_t *) ((char *) p + k->member) = (uint64_t) n;
    return 0;
}

static int read_time_key(struct sharded_plan *p, const struct key_row *k, const char *path,
                         const json_t *value, struct why *w)
{
    struct options o;
    if (!json_is_string(value))
        return sharded_key_fail(p, path, "a time such as \"90s\", \"10m\" or \"2h\"", value, w);
    if (option_set_duration(&o, json_string_value(value), w) < 0)
        return why_prefix(w, "%s: %s", p->file, path);
    *(uint64_t *) ((char *) p + k->member) = o.duration;
    return 0;
}

static int read_key(struct sharded_plan *p, const struct key_row *k, struct why *w)
{
    char path[64];
    snprintf(path, sizeof path, "%s%s%s", k->table, *k->table ? "." : "", k->key);
    const json_t *value = sharded_key(p, path);
    if (!value)
        return 0;
    switch (k->kind) {
    case KEY_TEXT:
        return json_string_length(value) ? 0 : sharded_key_fail(p, path, "a text", value, w);
    case KEY_TEXTS:
        return is_texts(value) ? 0 : sharded_key_fail(p, path, "a list of texts", value, w);
    case KEY_TABLE:
        return json_is_object(value) ? 0 : sharded_key_fail(p, path, "a table", value, w);
    case KEY_FLAG:
        if (!json_is_boolean(value))
            return sharded_key_fail(p, path, "true or false", value, w);
        *(bool *) ((char *) p + k->member) = json_is_true(value);
        return 0;
    case KEY_COUNT: return read_count_key(p, k, path, value, w);
    case KEY_TIME: return read_time_key(p, k, path, value, w);
    }
    return 0;
}

int sharded_keys_read(struct sharded_plan *p, struct why *w)
{
    TRY(check_table(p, "", p->json, w));
    for (int i = 0; i < COUNT(keys); i++)
        TRY(read_key(p, &keys[i], w));
    TRY(check_table(p, "limits", sharded_key(p, "limits"), w));
    return check_table(p, "stop", sharded_key(p, "stop"), w);
}
