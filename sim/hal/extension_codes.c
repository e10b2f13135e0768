#include "sim/hal/extension_codes.h"

#include <stdlib.h>
#include <string.h>

#include "sim/hal/hal_convert.h"

struct extension_codes_row {
    uint16_t from, to;
};

/* Golden's prefixes have 15 bits, as in the stable-interface versions. */
enum { MAX_EXTENSIONS = 0x7fff - EXTENSION_END };

static int compare_rows(const void *a, const void *b)
{
    return ((const struct extension_codes_row *) a)->from -
           ((const struct extension_codes_row *) b)->from;
}

static int compare_names(const void *a, const void *b)
{
    return strcmp(*(const char *const *) a, *(const char *const *) b);
}

/* Checks that names and prefixes are unique. */
static int check_distinct(const struct extension_codes *n, const struct model *m, struct arena *a,
                          struct why *w)
{
    const char **name = arena_alloc(a, n->n, sizeof(*name));

    if (!name)
        return why_no_memory_for(w, "the model on the device");
    for (uint32_t i = 0; i < n->n; i++)
        name[i] = m->extension[i].name;
    qsort(name, n->n, sizeof(*name), compare_names);
    for (uint32_t i = 1; i < n->n; i++) {
        REQUIRE(w, strcmp(name[i - 1], name[i]), "extension %.80s occurs twice", name[i]);
        REQUIRE(w, n->row[i - 1].from != n->row[i].from, "prefix %u belongs to two extensions",
                n->row[i].from);
    }
    return 0;
}

int extension_codes_read(const struct hal_model *hal, enum hal_version version, extension_set known,
                         struct arena *a, struct extension_codes *ret_names, struct model *m,
                         struct why *w)
{
    struct extension_codes n = { .version = version,
                                 .known = known,
                                 .n = hal->n_extension_prefixes };

    REQUIRE(w, !n.n || version >= HAL_1_2, "extensions in a model of HAL %s, they need HAL 1.2",
            hal_version_name(version));
    REQUIRE(w, !n.n || hal->extension_name_to_prefix, "the list of extension names is NULL");
    REQUIRE(w, n.n <= MAX_EXTENSIONS, "%u extensions, at most %d", n.n, (int) MAX_EXTENSIONS);
    n.row = arena_alloc(a, n.n, sizeof(*n.row));
    m->extension = arena_alloc(a, n.n, sizeof(*m->extension));
    if (!n.row || !m->extension)
        return why_no_memory_for(w, "the model on the device");
    m->n_extensions = n.n;
    for (uint32_t i = 0; i < n.n; i++) {
        const struct hal_extension_prefix *x = &hal->extension_name_to_prefix[i];
        REQUIRE(w, x->name && extension_name_is_legal(x->name),
                "extension %u has the name \"%.80s\": expected a-z 0-9 _ . and at least one dot", i,
                x->name ? x->name : "");
        REQUIRE(w, x->prefix, "extension %u, %.80s, has prefix 0", i, x->name);
        REQUIRE(w, version < HAL_FL5 || x->prefix <= 0x7fff,
                "extension %u, %.80s, has prefix %u, above 32767", i, x->name, x->prefix);
        /* Golden's prefix: that of a known extension, else a number after those. */
        enum extension_prefix prefix = extension_by_name(x->name);
        bool is_known = prefix != EXTENSION_NONE && known & EXTENSION_BIT(prefix);
        uint16_t to = (uint16_t) (is_known ? (uint32_t) prefix : EXTENSION_END + i);
        n.row[i] = (struct extension_codes_row){ x->prefix, to };
        m->extension[i] = (struct extension){ arena_strdup(a, x->name), to };
        if (!m->extension[i].name)
            return why_no_memory_for(w, "the model on the device");
    }
    qsort(n.row, n.n, sizeof(*n.row), compare_rows);
    TRY(check_distinct(&n, m, a, w));
    *ret_names = n;
    return 0;
}

/* Replaces the client's prefix in a code by golden's. */
static int translate(const struct extension_codes *n, const char *what, int32_t code,
                     int32_t *ret_code, struct why *w)
{
    struct extension_codes_row key = { .from = (uint16_t) extension_prefix_of(code) };
    const struct extension_codes_row *row = NULL;

    REQUIRE(w, n->version >= HAL_1_2 && key.from, "unknown %s %d in HAL %s", what, code,
            hal_version_name(n->version));
    if (n->n)
        row = bsearch(&key, n->row, n->n, sizeof(*n->row), compare_rows);
    REQUIRE(w, row, "%s %d has prefix %u, which no extension has", what, code, key.from);
    *ret_code = (int32_t) ((uint32_t) row->to << 16 | ((uint32_t) code & 0xffff));
    return 0;
}

static bool knows_oem(const struct extension_codes *n)
{
    return n->known & EXTENSION_BIT(EXTENSION_oem);
}

/* The stable-interface versions have no OEM types and operations. */
static bool is_oem(const struct extension_codes *n, int32_t code, int32_t codes)
{
    return n->version < HAL_FL5 && code >= OEM_CODE && code < OEM_CODE + codes;
}

int extension_codes_operation(const struct extension_codes *n, int32_t code, int32_t *ret_code,
                              struct why *w)
{
    if (is_oem(n, code, OEM_CODES_OPERATIONS)) {
        *ret_code = knows_oem(n) ? EXTENSION_CODE(oem, code - OEM_CODE) : code;
        return 0;
    }
    TRY(translate(n, "operation type", code, ret_code, w));
    uint32_t prefix = extension_prefix_of(*ret_code);
    REQUIRE(w, prefix >= EXTENSION_END || extension_op(*ret_code), "%s has no operation %d",
            extension_name[prefix], code & 0xffff);
    return 0;
}

int extension_codes_type(const struct extension_codes *n, int32_t code, struct operand *ret_operand,
                         struct why *w)
{
    int32_t known;

    ret_operand->tensor.dtype = DT_FOREIGN;
    ret_operand->foreign = code;
    if (is_oem(n, code, OEM_CODES_TYPES)) {
        known = EXTENSION_CODE(oem, code - OEM_CODE);
        if (!knows_oem(n))
            return 0;
    } else {
        TRY(translate(n, "type", code, &known, w));
    }
    uint32_t prefix = extension_prefix_of(known);
    if (prefix >= EXTENSION_END) {
        ret_operand->foreign = known;
        return 0;
    }
    enum dtype type = extension_type((enum extension_prefix) prefix, (uint16_t) known);
    REQUIRE(w, type != DT_FOREIGN || prefix == EXTENSION_oem, "%s has no type %d",
            extension_name[prefix], code & 0xffff);
    ret_operand->tensor.dtype = type;
    ret_operand->foreign = type == DT_FOREIGN ? code : 0;
    return 0;
}

static int compare_tokens(const void *a, const void *b)
{
    const int32_t *x = a, *y = b;

    return (*x > *y) - (*x < *y);
}

static int check_hints(uint32_t n, const struct hal_token_value *hints,
                       const struct extension_codes *codes, struct arena *a, struct why *w)
{
    int32_t *tokens = arena_alloc(a, n, sizeof(*tokens)), unused;

    if (!tokens)
        return why_no_memory(w);
    for (uint32_t i = 0; i < n; i++) {
        if (translate(codes, "token", hints[i].token, &unused, w) < 0)
            return why_prefix(w, "hint %u", i);
        REQUIRE(w, !hints[i].length || hints[i].value, "hint %u: the value is NULL", i);
        tokens[i] = hints[i].token;
    }
    qsort(tokens, n, sizeof(*tokens), compare_tokens);
    for (uint32_t i = 1; i < n; i++)
        REQUIRE(w, tokens[i - 1] != tokens[i], "two hints with token %d", tokens[i]);
    return 0;
}

int extension_codes_check_hints(uint32_t n, const struct hal_token_value *hints,
                                uint32_t n_prefixes, const struct hal_extension_prefix *prefixes,
                                struct why *w)
{
    const struct hal_model names = { .n_extension_prefixes = n_prefixes,
                                     .extension_name_to_prefix = prefixes };
    struct extension_codes codes;
    struct model unused = { 0 };

    REQUIRE(w, !n || hints, "the list of hints is NULL");
    if (!n && !n_prefixes)
        return 0;
    struct arena *a = arena_new(0);
    int rc = a ? extension_codes_read(&names, HAL_FL8, 0, a, &codes, &unused, w) : why_no_memory(w);
    if (rc == 0)
        rc = check_hints(n, hints, &codes, a, w);
    arena_free(a);
    return rc;
}

int32_t extension_codes_hal_operation(int32_t code)
{
    return extension_prefix_of(code) == EXTENSION_oem ? OEM_CODE + (code & 0xffff) : code;
}

int32_t extension_codes_hal_type(const struct operand *o)
{
    enum dtype type = o->tensor.dtype;
    uint16_t number;

    if (type < DT_COUNT || type >= DT_END)
        return (int32_t) type;
    if (type == DT_FOREIGN)
        return o->foreign;
    uint32_t prefix = extension_of_type(type, &number);
    return prefix == EXTENSION_oem ? OEM_CODE + number : (int32_t) (prefix << 16 | number);
}
