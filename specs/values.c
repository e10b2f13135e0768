#include "specs/values.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* 1 + the value of a base64 digit; 0: no digit. */
static const unsigned char sextet[256] = {
    ['A'] = 1,  ['B'] = 2,  ['C'] = 3,  ['D'] = 4,  ['E'] = 5,  ['F'] = 6,  ['G'] = 7,  ['H'] = 8,
    ['I'] = 9,  ['J'] = 10, ['K'] = 11, ['L'] = 12, ['M'] = 13, ['N'] = 14, ['O'] = 15, ['P'] = 16,
    ['Q'] = 17, ['R'] = 18, ['S'] = 19, ['T'] = 20, ['U'] = 21, ['V'] = 22, ['W'] = 23, ['X'] = 24,
    ['Y'] = 25, ['Z'] = 26, ['a'] = 27, ['b'] = 28, ['c'] = 29, ['d'] = 30, ['e'] = 31, ['f'] = 32,
    ['g'] = 33, ['h'] = 34, ['i'] = 35, ['j'] = 36, ['k'] = 37, ['l'] = 38, ['m'] = 39, ['n'] = 40,
    ['o'] = 41, ['p'] = 42, ['q'] = 43, ['r'] = 44, ['s'] = 45, ['t'] = 46, ['u'] = 47, ['v'] = 48,
    ['w'] = 49, ['x'] = 50, ['y'] = 51, ['z'] = 52, ['0'] = 53, ['1'] = 54, ['2'] = 55, ['3'] = 56,
    ['4'] = 57, ['5'] = 58, ['6'] = 59, ['7'] = 60, ['8'] = 61, ['9'] = 62, ['+'] = 63, ['/'] = 64,
};

int base64_decode(const char *text, size_t n, struct arena *a, void **ret_data, size_t *ret_length,
                  struct why *w)
{
    size_t pad = n > 0 && text[n - 1] == '=' ? 1u + (n > 1 && text[n - 2] == '=') : 0;
    REQUIRE(w, n % 4 == 0, "base64 of %zu characters is truncated", n);
    size_t length = n / 4 * 3 - pad;
    uint8_t *out = arena_alloc_raw(a, n / 4 + 1, 3);
    if (!out)
        return why_no_memory_for(w, "%zu bytes", length);

    uint8_t *to = out;
    for (size_t i = 0; i < n; i += 4) {
        uint32_t group = 0;
        for (size_t k = i; k < i + 4; k++) {
            int value = k >= n - pad ? 0 : sextet[(unsigned char) text[k]] - 1;
            REQUIRE(w, value >= 0, "character %zu is not base64", k);
            group = group << 6 | (uint32_t) value;
        }
        *to++ = (uint8_t) (group >> 16);
        *to++ = (uint8_t) (group >> 8);
        *to++ = (uint8_t) group;
    }
    *ret_data = out;
    *ret_length = length;
    return 0;
}

static bool is_bool(enum dtype dtype)
{
    return dtype == DT_BOOL || dtype == DT_B8;
}

/* Stores one value; -1: it is not a value of the type. */
static int read_element(const json_t *number, enum dtype dtype, void *to)
{
    const struct codec *c = dtype_info[dtype].codec;
    bool boolean = is_bool(dtype), integer = c->integer || boolean;

    if (c->integer && c->size == sizeof(int64_t)) { /* double does not represent it exactly */
        int64_t value = json_integer_value(number);
        memcpy(to, &value, sizeof(value));
        return json_is_integer(number) ? 0 : -1;
    }
    if (!json_is_number(number) && !(integer && json_is_boolean(number)))
        return -1;
    double value = json_is_true(number) ? 1 : json_is_false(number) ? 0 : json_number_value(number);
    if (integer &&
        (value != trunc(value) || (dtype != DT_B8 && !(value >= c->min && value <= c->max))))
        return -1;
    if (dtype == DT_B8 && value >= 0 && value <= UINT8_MAX) { /* as stored: all but 0 are true */
        *(uint8_t *) to = (uint8_t) value;
        return 0;
    }
    if (boolean && value != 0 && value != 1)
        return -1;
    if (!integer) {
        if (!(fabs(value) <= FLT_MAX))
            return -1;
        value = (float) value; /* fp16 values are rounded twice, through binary32 */
    }
    c->narrow(&value, 1, 0, 1, to);
    return 0;
}

static int read_data(const json_t *list, enum dtype dtype, const char *where, struct arena *a,
                     struct values *ret_values, struct why *w)
{
    REQUIRE(w, json_is_array(list), "%s.data: not a list", where);
    size_t n = json_array_size(list), size = dtype_info[dtype].codec->size;
    char *data = arena_alloc_raw(a, n, size);
    if (!data)
        return why_no_memory_for(w, "%s.data: %zu values", where, n);
    for (size_t i = 0; i < n; i++) {
        const json_t *number = json_array_get(list, i);
        if (read_element(number, dtype, data + i * size) == 0)
            continue;
        char *text = json_dumps(number, JSON_ENCODE_ANY | JSON_COMPACT);
        why_fail(w, WHY_INVALID, "%s.data[%zu]: %.40s is not a value of %s", where, i,
                 text ? text : "this", dtype_info[dtype].name);
        free(text);
        return -1;
    }
    *ret_values = (struct values){ .given = true, .data = data, .count = n };
    return 0;
}

/* Stored bytes are not checked, except that a BOOL is 0 or 1. */
static int read_bytes(const json_t *text, enum dtype dtype, const char *where, struct arena *a,
                      struct values *ret_values, struct why *w)
{
    size_t size = dtype_info[dtype].codec->size, length = 0;
    void *data = NULL;

    REQUIRE(w, json_is_string(text), "%s.bytes: not a string", where);
    if (base64_decode(json_string_value(text), json_string_length(text), a, &data, &length, w) < 0)
        return why_prefix(w, "%s.bytes", where);
    REQUIRE(w, length % size == 0, "%s.bytes: %zu bytes are no whole number of elements of %s",
            where, length, dtype_info[dtype].name);
    const uint8_t *byte = data;
    for (size_t i = 0; dtype == DT_BOOL && i < length; i++)
        REQUIRE(w, byte[i] <= 1, "%s.bytes: byte %zu of a boolean is %d: must be 0 or 1", where, i,
                byte[i]);
    *ret_values = (struct values){ .given = true, .data = data, .count = length / size };
    return 0;
}

int values_read(const json_t *operand, enum dtype dtype, const char *where, struct arena *a,
                struct values *ret_values, struct why *w)
{
    const json_t *data = json_object_get(operand, "data");
    const json_t *bytes = json_object_get(operand, "bytes");

    *ret_values = (struct values){ .given = false };
    REQUIRE(w, !data || !bytes, "%s: both data and bytes", where);
    if (data)
        return read_data(data, dtype, where, a, ret_values, w);
    return bytes ? read_bytes(bytes, dtype, where, a, ret_values, w) : 0;
}

int values_shape(const struct tensor *declared, size_t n, struct shape *ret_shape, struct why *w)
{
    struct shape s = declared->shape;
    char text[SHAPE_TEXT];
    size_t known = 1;
    int unknown = -1;
    bool overflow = false;

    if (dtype_info[declared->dtype].tensor && s.rank == 0)
        s = (struct shape){ .rank = 1, .dim = { 0 } };
    for (uint32_t i = 0; i < s.rank; i++) {
        if (s.dim[i] == 0)
            unknown = unknown < 0 ? (int) i : (int) s.rank;
        else
            overflow |= __builtin_mul_overflow(known, (size_t) s.dim[i], &known);
    }
    REQUIRE(w, !overflow, "%s is too large", shape_text(&declared->shape, text));
    bool fits = unknown < 0 ? n == known : n == 0 || (unknown < (int) s.rank && n % known == 0);
    REQUIRE(w, fits, "%zu values for %s", n, shape_text(&declared->shape, text));
    if (n > 0 && unknown >= 0)
        s.dim[unknown] = (uint32_t) (n / known);
    *ret_shape = s;
    return 0;
}
