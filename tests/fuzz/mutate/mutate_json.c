/* Mutation of JSON: values are changed, removed, copied and exchanged within their tree. */
#include <jansson.h>
#include <string.h>

#include "tests/fuzz/mutate/mutate.h"

enum { BYTES_IN = 8, MAX_TEXT = 64, MAX_MUTATIONS = 3, MAX_LINES = 32 };

struct json_mutator {
    struct rng rng;
    json_t *root;
};

/* ---- choosing values */

/* Chooses a value in the tree, each with the same probability. */
static json_t *choose(struct json_mutator *u, json_t *in, uint32_t *seen)
{
    json_t *found = rng_below(&u->rng, ++*seen) == 0 ? in : NULL, *value, *deeper;
    const char *key;
    size_t i;

    if (json_is_array(in)) {
        json_array_foreach(in, i, value)
        {
            deeper = choose(u, value, seen);
            found = deeper ? deeper : found;
        }
    } else if (json_is_object(in)) {
        json_object_foreach(in, key, value)
        {
            deeper = choose(u, value, seen);
            found = deeper ? deeper : found;
        }
    }
    return found;
}

static json_t *copy_of_any(struct json_mutator *u)
{
    uint32_t seen = 0;

    return json_deep_copy(choose(u, u->root, &seen));
}

/* A key of the object; NULL: it is empty. */
static const char *any_key(struct json_mutator *u, json_t *object)
{
    uint32_t left =
        json_object_size(object) ? rng_below(&u->rng, (uint32_t) json_object_size(object)) : 0;
    const char *key;
    json_t *value;

    json_object_foreach(object, key, value)
    {
        if (!left--)
            return key;
    }
    return NULL;
}

/* ---- new values */

static json_t *new_number(struct json_mutator *u)
{
    static const double real[] = { 0.5, -1.5, 1e-300, 1e300, 3.4e38, 1e-45, 1e19, -0.0 };

    if (rng_below(&u->rng, 3) == 0)
        return json_real(real[rng_below(&u->rng, COUNT(real))]);
    return json_integer((json_int_t) mutate_number(&u->rng));
}

static json_t *new_text(const char *from)
{
    uint8_t text[MAX_TEXT + 1] = "";
    size_t n = strnlen(from, MAX_TEXT);

    memcpy(text, from, n);
    n = LLVMFuzzerMutate(text, n, MAX_TEXT);
    json_t *changed = json_stringn((char *) text, n);
    return changed ? changed : json_string("");
}

static json_t *new_value(struct json_mutator *u, const json_t *old)
{
    switch (rng_below(&u->rng, 8)) {
    case 0: return json_null();
    case 1: return json_boolean(rng_below(&u->rng, 2));
    case 2: return rng_below(&u->rng, 2) ? json_array() : json_object();
    case 3: return copy_of_any(u);
    case 4: return new_text(json_is_string(old) ? json_string_value(old) : "");
    default:
        if (json_is_string(old) && rng_below(&u->rng, 2))
            return new_text(json_string_value(old));
        if (json_is_integer(old) && rng_below(&u->rng, 2))
            return json_integer(
                (json_int_t) ((uint64_t) json_integer_value(old) + rng_below(&u->rng, 9) - 4));
        return new_number(u);
    }
}

/* ---- changes */

static void mutate_array(struct json_mutator *u, json_t *a)
{
    size_t n = json_array_size(a), at = n ? rng_below(&u->rng, (uint32_t) n) : 0;

    switch (n ? rng_below(&u->rng, 5) : 0) {
    case 0: json_array_append_new(a, copy_of_any(u)); break;
    case 1: json_array_remove(a, at); break;
    case 2: json_array_insert_new(a, at, json_deep_copy(json_array_get(a, at))); break;
    default: json_array_set_new(a, at, new_value(u, json_array_get(a, at)));
    }
}

static void mutate_object(struct json_mutator *u, json_t *o)
{
    char key[MAX_TEXT + 1];
    const char *any = any_key(u, o);
    uint32_t seen = 0;

    if (!any)
        return;
    snprintf(key, sizeof key, "%s", any);
    switch (rng_below(&u->rng, 6)) {
    case 0: json_object_del(o, key); break;
    case 1: json_object_set_new(o, any_key(u, o), copy_of_any(u)); break;
    case 2: { /* a member of another object */
        json_t *from = choose(u, u->root, &seen);
        const char *name = json_is_object(from) ? any_key(u, from) : NULL;
        if (name)
            json_object_set_new(o, name, json_deep_copy(json_object_get(from, name)));
        break;
    }
    default: json_object_set_new(o, key, new_value(u, json_object_get(o, key)));
    }
}

/* Changes a value of the tree, or all of it. */
static void mutate_tree(struct json_mutator *u)
{
    uint32_t seen = 0;
    json_t *at = choose(u, u->root, &seen);

    /* a scalar has no members to change: take a container */
    for (int i = 0; i < 16 && !json_is_array(at) && !json_is_object(at); i++) {
        seen = 0;
        at = choose(u, u->root, &seen);
    }
    if (json_is_array(at)) {
        mutate_array(u, at);
    } else if (json_is_object(at)) {
        mutate_object(u, at);
    } else {
        json_t *changed = new_value(u, u->root);
        json_decref(u->root);
        u->root = changed;
    }
}

/* Replaces bytes[at, at + n) by a mutant; returns the new length, 0: it does not fit. */
static size_t mutate_value(struct rng *r, uint8_t *bytes, size_t length, size_t max, size_t at,
                           size_t n, json_t *value)
{
    struct json_mutator u = { .rng = *r, .root = value };

    for (uint32_t i = 1 + rng_below(&u.rng, MAX_MUTATIONS); i > 0; i--)
        mutate_tree(&u);
    char *text = json_dumps(u.root, JSON_COMPACT | JSON_ENCODE_ANY);
    size_t m = text ? strlen(text) : 0;
    json_decref(u.root);
    if (!text || length - n + m > max) {
        free(text);
        return 0;
    }
    memmove(bytes + at + m, bytes + at + n, length - at - n);
    memcpy(bytes + at, text, m);
    free(text);
    return length - n + m;
}

/* ---- lines */

/* Chooses a line; returns its begin. */
static size_t choose_line(struct rng *r, const uint8_t *bytes, size_t length, size_t *ret_n)
{
    size_t start[MAX_LINES] = { 0 }, n = 1;

    for (size_t i = 0; i + 1 < length && n < MAX_LINES; i++)
        if (bytes[i] == '\n')
            start[n++] = i + 1;
    size_t at = start[rng_below(r, (uint32_t) n)];
    const uint8_t *end = memchr(bytes + at, '\n', length - at);
    *ret_n = end ? (size_t) (end - bytes) - at : length - at;
    return at;
}

size_t mutate_json(uint8_t *bytes, size_t length, size_t max, unsigned seed)
{
    static bool seeded;
    size_t at = 0, n = length;
    struct rng r;

    if (!seeded)
        json_object_seed(1); /* else drawn from the time */
    seeded = true;
    rng_seed(&r, seed, 0);
    if (!length || rng_below(&r, BYTES_IN) == 0)
        return LLVMFuzzerMutate(bytes, length, max);
    json_t *value = json_loadb((char *) bytes, length, JSON_DECODE_ANY, NULL);
    if (!value) {
        at = choose_line(&r, bytes, length, &n);
        value = json_loadb((char *) bytes + at, n, JSON_DECODE_ANY, NULL);
    }
    size_t changed = value ? mutate_value(&r, bytes, length, max, at, n, value) : 0;
    return changed ? changed : LLVMFuzzerMutate(bytes, length, max);
}
