/* The options as text: parameters key=value in the names of graphs, and on the command line, whose
 * options have the same keys.
 *
 * A new option gets a row here, whose place in the table is its place in names.  As a row is left
 * out of a name where its value is the default, names without it stay what they were. */
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/base/parse_number.h"
#include "golden/base/suggest.h"
#include "randgraph/randgraph_internal.h"

struct parameter {
    const char *key;
    int (*set)(const struct parameter *p, struct randgraph_options *o, const char *value,
               struct why *w);
    /* Writes the value.  False: it is the default, and the text is not used. */
    bool (*put)(const struct parameter *p, const struct randgraph_options *o,
                char value[RANDGRAPH_VALUE]);
    size_t member; /* in struct randgraph_options */
    uint32_t least, most;
};

/* ---- numbers */

static int set_number(const struct parameter *p, struct randgraph_options *o, const char *value,
                      struct why *w)
{
    uint64_t n = 0;
    TRY(parse_u64(value, p->least, p->most, &n, w));
    uint32_t number = (uint32_t) n;
    memcpy((char *) o + p->member, &number, sizeof number);
    return 0;
}

static bool put_number(const struct parameter *p, const struct randgraph_options *o,
                       char value[RANDGRAPH_VALUE])
{
    uint32_t number, usual;
    memcpy(&number, (const char *) o + p->member, sizeof number);
    memcpy(&usual, (const char *) &randgraph_default + p->member, sizeof usual);
    if (number == usual)
        return false;
    snprintf(value, RANDGRAPH_VALUE, "%" PRIu32, number);
    return true;
}

/* A share, 0 to 1. */
static int set_share(const struct parameter *p, struct randgraph_options *o, const char *value,
                     struct why *w)
{
    char *end;
    double share = strtod(value, &end);
    REQUIRE(w, end != value && !*end && share >= 0 && share <= 1,
            "'%s' is not a number from 0 to 1", value);
    memcpy((char *) o + p->member, &share, sizeof share);
    return 0;
}

/* With as few digits as give the same number again. */
static bool put_share(const struct parameter *p, const struct randgraph_options *o,
                      char value[RANDGRAPH_VALUE])
{
    double share;
    memcpy(&share, (const char *) o + p->member, sizeof share);
    if (!memcmp(&share, (const char *) &randgraph_default + p->member, sizeof share))
        return false;
    for (int digits = 1; digits <= 17; digits++) {
        snprintf(value, RANDGRAPH_VALUE, "%.*g", digits, share);
        double same = strtod(value, NULL);
        if (!memcmp(&same, &share, sizeof share))
            break;
    }
    return true;
}

/* ---- the others */

/* "3-5", or "3" alone for both. */
static int set_ops(const struct parameter *p, struct randgraph_options *o, const char *value,
                   struct why *w)
{
    char first[32];
    const char *dash = strchr(value, '-');
    uint64_t least = 0, most = 0;
    size_t length = dash ? (size_t) (dash - value) : strlen(value);
    snprintf(first, sizeof first, "%.*s", (int) (length < sizeof first ? length : sizeof first),
             value);
    TRY(parse_u64(first, p->least, p->most, &least, w));
    TRY(parse_u64(dash ? dash + 1 : first, p->least, p->most, &most, w));
    REQUIRE(w, least <= most, "expected MIN-MAX with MIN not above MAX, found '%s'", value);
    o->min_ops = (uint32_t) least;
    o->max_ops = (uint32_t) most;
    return 0;
}

static bool put_ops(const struct parameter *p, const struct randgraph_options *o,
                    char value[RANDGRAPH_VALUE])
{
    (void) p;
    if (o->min_ops == randgraph_default.min_ops && o->max_ops == randgraph_default.max_ops)
        return false;
    snprintf(value, RANDGRAPH_VALUE, "%" PRIu32 "-%" PRIu32, o->min_ops, o->max_ops);
    return true;
}

static int unknown_op(const char *name, struct why *w)
{
    struct suggestion s = suggest_for(name);
    char text[SUGGEST_TEXT];
    for (int i = 0; i < op_table_n; i++)
        suggest_candidate(&s, op_table[i]->name);
    return why_fail(w, WHY_INVALID, "unknown operation '%s'%s", name,
                    s.name ? suggest_text(&s, "", text) : " ('halcyon ops' lists them)");
}

/* Moves *at behind the next name of a list with commas, which it copies.  1: there is one; 0: the
 * list has ended; -1: the name is empty or too long. */
static int next_name(const char **at, char name[64])
{
    size_t length = *at ? strcspn(*at, ",") : 0;
    if (!*at)
        return 0;
    if (!length || length >= 64)
        return -1;
    memcpy(name, *at, length);
    name[length] = 0;
    *at = (*at)[length] ? *at + length + 1 : NULL;
    return 1;
}

/* "ADD,CONV_2D" */
static int set_only(const struct parameter *p, struct randgraph_options *o, const char *value,
                    struct why *w)
{
    struct randgraph_ops only = { { 0 } };
    const char *at = value;
    char name[64];
    int more;
    (void) p;
    while ((more = next_name(&at, name)) == 1) {
        const struct op *op = op_by_name(name);
        if (!op)
            return unknown_op(name, w);
        randgraph_ops_add(&only, op);
    }
    REQUIRE(w, more == 0, "expected operations separated by commas, found '%s'", value);
    o->only = only;
    return 0;
}

static bool put_only(const struct parameter *p, const struct randgraph_options *o,
                     char value[RANDGRAPH_VALUE])
{
    size_t used = 0;
    (void) p;
    value[0] = 0;
    for (int i = 0; i < op_table_n && randgraph_ops_count(&o->only); i++)
        if (randgraph_ops_has(&o->only, op_table[i]) && used < RANDGRAPH_VALUE)
            used += (size_t) snprintf(value + used, RANDGRAPH_VALUE - used, "%s%s", used ? "," : "",
                                      op_table[i]->name);
    return used != 0;
}

static const char *const value_names[VALUES_END] = { [VALUES_MIX] = "mix",
                                                     [VALUES_UNIFORM] = "uniform",
                                                     [VALUES_EDGE] = "edge",
                                                     [VALUES_EXACT] = "exact",
                                                     [VALUES_ADVERSARIAL] = "adversarial" };

static int set_values(const struct parameter *p, struct randgraph_options *o, const char *value,
                      struct why *w)
{
    struct suggestion s = suggest_for(value);
    char text[SUGGEST_TEXT];
    (void) p;
    for (int i = 0; i < VALUES_END; i++) {
        if (!strcmp(value, value_names[i])) {
            o->values = (enum randgraph_values) i;
            return 0;
        }
        suggest_candidate(&s, value_names[i]);
    }
    return why_fail(w, WHY_INVALID, "unknown profile of values '%s'%s", value,
                    s.name ? suggest_text(&s, "", text)
                           : "; expected mix, uniform, edge, exact or adversarial");
}

static bool put_values(const struct parameter *p, const struct randgraph_options *o,
                       char value[RANDGRAPH_VALUE])
{
    (void) p;
    if (o->values == randgraph_default.values)
        return false;
    snprintf(value, RANDGRAPH_VALUE, "%s", value_names[o->values]);
    return true;
}

static int unknown_type(const char *name, struct why *w)
{
    struct suggestion s = suggest_for(name);
    char text[SUGGEST_TEXT];
    for (int t = 0; t < DT_COUNT; t++)
        if (dtype_info[t].tensor)
            suggest_candidate(&s, dtype_info[t].name);
    return why_fail(w, WHY_INVALID, "unknown operand type '%s'%s", name,
                    s.name ? suggest_text(&s, "", text) : " (expected such as TENSOR_FLOAT32)");
}

/* "TENSOR_FLOAT32,TENSOR_FLOAT16" */
static int set_types(const struct parameter *p, struct randgraph_options *o, const char *value,
                     struct why *w)
{
    const char *at = value;
    uint32_t types = 0;
    char name[64];
    int more;
    (void) p;
    while ((more = next_name(&at, name)) == 1) {
        int type = dtype_by_name(name);
        if (type < 0)
            return unknown_type(name, w);
        types |= 1u << type;
    }
    REQUIRE(w, more == 0, "expected operand types separated by commas, found '%s'", value);
    o->dtypes = types;
    return 0;
}

static bool put_types(const struct parameter *p, const struct randgraph_options *o,
                      char value[RANDGRAPH_VALUE])
{
    size_t used = 0;
    (void) p;
    value[0] = 0;
    for (int t = 0; t < DT_COUNT; t++)
        if (o->dtypes & (1u << t))
            used += (size_t) snprintf(value + used, RANDGRAPH_VALUE - used, "%s%s", used ? "," : "",
                                      dtype_info[t].name);
    return o->dtypes != 0;
}

static int set_weights(const struct parameter *p, struct randgraph_options *o, const char *value,
                       struct why *w)
{
    (void) p, (void) o, (void) value;
    return why_fail(w, WHY_UNSUPPORTED,
                    "the name has only a digest of the weights that this case "
                    "was generated with");
}

static bool put_weights(const struct parameter *p, const struct randgraph_options *o,
                        char value[RANDGRAPH_VALUE])
{
    (void) p;
    if (!o->weights)
        return false;
    uint64_t digest = randgraph_weights_digest(o->weights);
    snprintf(value, RANDGRAPH_VALUE, "%016" PRIx64, digest);
    return digest != randgraph_weights_digest(&randgraph_weights_default);
}

/* The digest of a set that graphs are drawn for or by; the set is to be found by it. */
static int set_digest(const struct parameter *p, struct randgraph_options *o, const char *value,
                      struct why *w)
{
    uint64_t digest;
    REQUIRE(w, strlen(value) == 16 && strspn(value, "0123456789abcdef") == 16,
            "expected the 16 hexadecimal digits of a digest, found '%s'", value);
    digest = strtoull(value, NULL, 16);
    memcpy((char *) o + p->member, &digest, sizeof digest);
    return 0;
}

static bool put_digest(const struct parameter *p, const struct randgraph_options *o,
                       char value[RANDGRAPH_VALUE])
{
    uint64_t digest;
    memcpy(&digest, (const char *) o + p->member, sizeof digest);
    if (digest == 0)
        return false;
    snprintf(value, RANDGRAPH_VALUE, "%016" PRIx64, digest);
    return true;
}

#define MEMBER(name) offsetof(struct randgraph_options, name)
static const struct parameter table[] = {
    { "ops", set_ops, put_ops, 0, 1, MAX_OPS },
    { .key = "op", .set = set_only, .put = put_only },
    { .key = "types", .set = set_types, .put = put_types },
    { "max-dim", set_number, put_number, MEMBER(max_dim), 1, MAX_SIDE },
    { "level", set_number, put_number, MEMBER(max_level), 1, MAX_LEVEL },
    { .key = "values", .set = set_values, .put = put_values },
    /* Not on the command line. */
    { "max-elements", set_number, put_number, MEMBER(max_elements), 1, UINT32_MAX },
    { .key = "relaxed", .set = set_share, .put = put_share, .member = MEMBER(relaxed) },
    { .key = "constant", .set = set_share, .put = put_share, .member = MEMBER(constant) },
    { .key = "control-flow", .set = set_share, .put = put_share, .member = MEMBER(control_flow) },
    { .key = "weights", .set = set_weights, .put = put_weights },
    { .key = "ways", .set = set_share, .put = put_share, .member = MEMBER(ways) },
    { .key = "for", .set = set_digest, .put = put_digest, .member = MEMBER(support_digest) },
    { .key = "cov", .set = set_digest, .put = put_digest, .member = MEMBER(steering_digest) },
    { .key = "from", .set = set_digest, .put = put_digest, .member = MEMBER(from_digest) },
};
#undef MEMBER

int randgraph_set(struct randgraph_options *o, const char *key, const char *value, struct why *w)
{
    struct suggestion s = suggest_for(key);
    char text[SUGGEST_TEXT];
    for (int i = 0; i < COUNT(table); i++) {
        if (!strcmp(table[i].key, key))
            return table[i].set(&table[i], o, value, w);
        suggest_candidate(&s, table[i].key);
    }
    return why_fail(w, WHY_INVALID, "unknown parameter '%s'%s", key, suggest_text(&s, "", text));
}

const char *randgraph_next(const struct randgraph_options *o, int *position,
                           char value[RANDGRAPH_VALUE])
{
    while (*position < COUNT(table)) {
        const struct parameter *p = &table[(*position)++];
        if (p->put(p, o, value))
            return p->key;
    }
    return NULL;
}

/* ---- names */

void randgraph_name(const struct randgraph_options *options, uint64_t seed, uint64_t index,
                    char name[RANDGRAPH_NAME])
{
    char value[RANDGRAPH_VALUE];
    const char *key;
    int used = snprintf(name, RANDGRAPH_NAME, "random/v%d", RANDGRAPH_VERSION);
    for (int i = 0; (key = randgraph_next(options, &i, value));)
        used += snprintf(name + used, (size_t) (RANDGRAPH_NAME - used), "/%s=%s", key, value);
    snprintf(name + used, (size_t) (RANDGRAPH_NAME - used), "/s%" PRIu64 "/i%" PRIu64, seed, index);
}

bool randgraph_is_old_name(const char *name)
{
    static const char number[] = "0123456789*?[]-!^"; /* of a pattern, too */
    static const char begin[] = "random/s";
    if (strncmp(name, begin, strlen(begin)) != 0)
        return false;
    const char *seed = name + strlen(begin), *end = seed + strspn(seed, number);
    return end > seed && !strncmp(end, "/i", 2) && end[2 + strspn(end + 2, number)] == 0;
}

/* What follows the version: "/op=ADD", or "/s7/i123" at the end. */
static int parse_part(char *part, const char *rest, struct randgraph_options *o, uint64_t *ret_seed,
                      struct why *w)
{
    char *equals = strchr(part, '=');
    if (!equals) {
        REQUIRE(w, *part == 's' && rest && !strchr(rest, '/'),
                "expected PARAMETER=VALUE, or sSEED/iINDEX at the end");
        return parse_u64(part + 1, 0, UINT64_MAX, ret_seed, w);
    }
    REQUIRE(w, rest, "expected sSEED/iINDEX after it");
    *equals = 0;
    int failed = randgraph_set(o, part, equals + 1, w);
    *equals = '=';
    return failed;
}

static int expect_form(const char *name, struct why *w)
{
    return why_fail(w, WHY_INVALID, "%s: expected random/v%d[/PARAMETER=VALUE...]/sSEED/iINDEX",
                    name, RANDGRAPH_VERSION);
}

static int parse_version(const char *name, const char *part, struct why *w)
{
    uint64_t version = 0;
    struct why ignored;
    REQUIRE(w, !randgraph_is_old_name(name),
            "%s: the name of a random case has the version and options of its generator, such as "
            "random/v%d/op=ADD/s7/i123; this one, of Halcyon 0.3 or older, does not determine a "
            "case (a database that was upgraded has it as random/v0/...)",
            name, RANDGRAPH_VERSION);
    if (!part || *part != 'v' || parse_u64(part + 1, 0, 1000000, &version, &ignored) < 0)
        return expect_form(name, w);
    if (version != RANDGRAPH_VERSION)
        return why_fail(
            w, WHY_UNSUPPORTED,
            "%s: a case of version %" PRIu64
            " of the generator; this Halcyon has version %d, which may give another model",
            name, version, RANDGRAPH_VERSION);
    return 0;
}

int randgraph_parse_name(const char *name, struct randgraph_options *ret_options,
                         uint64_t *ret_seed, uint64_t *ret_index, struct why *w)
{
    struct randgraph_options o = randgraph_default;
    uint64_t seed = 0, index = 0;
    char copy[RANDGRAPH_NAME], right[RANDGRAPH_NAME], *rest = copy, *part;
    REQUIRE(w, strlen(name) < sizeof copy, "the name of a random case has %zu bytes, at most %zu",
            strlen(name), sizeof copy - 1);
    strcpy(copy, name);
    part = strsep(&rest, "/");
    REQUIRE(w, !strcmp(part, "random"), "%s: not the name of a random case", name);
    TRY(parse_version(name, strsep(&rest, "/"), w));
    do {
        if (!(part = strsep(&rest, "/")))
            return expect_form(name, w);
        if (parse_part(part, rest, &o, &seed, w) < 0)
            return why_prefix(w, "%s: '%s'", name, part);
    } while (strchr(part, '='));
    if (*rest != 'i')
        return expect_form(name, w);
    if (parse_u64(rest + 1, 0, UINT64_MAX, &index, w) < 0)
        return why_prefix(w, "%s: '%s'", name, rest);
    randgraph_name(&o, seed, index, right);
    REQUIRE(w, !strcmp(name, right), "%s: expected %s (each case has one name)", name, right);
    *ret_options = o;
    *ret_seed = seed;
    *ret_index = index;
    return 0;
}
