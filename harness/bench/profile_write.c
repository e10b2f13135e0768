#include "harness/bench/profile_write.h"

#include <jansson.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_list_of_tables(const json_t *v)
{
    return json_is_array(v) && json_array_size(v) && json_is_object(json_array_get(v, 0));
}

/* A section, not an inline table: at the top, or with objects inside. */
static bool is_section(const json_t *v, bool is_top)
{
    const char *key;
    json_t *inner;

    if (!json_is_object(v))
        return false;
    json_object_foreach((json_t *) (uintptr_t) v, key,
                        inner) if (json_is_object(inner)) return true;
    return is_top;
}

static void put_value(const json_t *v, struct buffer *to)
{
    const char *key;
    json_t *inner;
    size_t i;
    bool is_first = true;

    if (json_is_object(v)) {
        buffer_puts(to, "{ ");
        json_object_foreach((json_t *) (uintptr_t) v, key, inner)
        {
            buffer_printf(to, "%s%s = ", is_first ? "" : ", ", key);
            put_value(inner, to);
            is_first = false;
        }
        buffer_puts(to, " }");
    } else if (json_is_array(v)) {
        buffer_puts(to, "[");
        json_array_foreach((json_t *) (uintptr_t) v, i, inner)
        {
            buffer_puts(to, i ? ", " : "");
            put_value(inner, to);
        }
        buffer_puts(to, "]");
    } else {
        char *text = json_dumps(v, JSON_ENCODE_ANY | JSON_REAL_PRECISION(17));
        if (text)
            buffer_puts(to, text);
        else
            to->failed = true;
        free(text);
    }
}

static void put_section(const json_t *v, const char *path, struct buffer *to)
{
    const char *key;
    json_t *inner;
    char name[256];
    size_t i;

    json_object_foreach((json_t *) (uintptr_t) v, key, inner)
    {
        if (is_section(inner, !*path) || is_list_of_tables(inner) || json_is_null(inner))
            continue;
        buffer_printf(to, "%s = ", key);
        put_value(inner, to);
        buffer_puts(to, "\n");
    }
    json_object_foreach((json_t *) (uintptr_t) v, key, inner)
    {
        snprintf(name, sizeof name, "%.100s%s%.100s", path, *path ? "." : "", key);
        if (is_section(inner, !*path)) {
            buffer_printf(to, "\n[%s]\n", name);
            put_section(inner, name, to);
        } else if (is_list_of_tables(inner)) {
            json_t *table;
            json_array_foreach(inner, i, table)
            {
                buffer_printf(to, "\n[[%s]]\n", name);
                put_section(table, name, to);
            }
        }
    }
}

void profile_write(const json_t *profile, struct buffer *to)
{
    put_section(profile, "", to);
}
