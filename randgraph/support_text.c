/* A support set as text: one line per supported probe row, with its limits.
 *
 *     halcyon-support 1
 *     level 3
 *     models operations=6 outputs=1 without=pools,read-outputs
 *     IF TENSOR_FLOAT32,TENSOR_BOOL8
 *     CONV_2D/0/1 TENSOR_FLOAT32,TENSOR_FLOAT32,TENSOR_FLOAT32 window=1x1,3x3 filter.is=constant
 * nchw=0 RELU/0/0 TENSOR_FLOAT32 rank=1..4 without=relaxed
 *
 * The numbers after an operation are its form and typing row, the types those of its tensors in
 * that form.  A trait that is not listed has no limit. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/base/parse_number.h"
#include "randgraph/support.h"

static const char *const trait_name[] = {
    [TRAIT_RANK] = "rank",
    [TRAIT_MOST_RANK] = "most-rank",
    [TRAIT_INPUTS] = "inputs",
    [TRAIT_MANY] = "variadic",
    [TRAIT_OUTPUTS] = "outputs",
    [TRAIT_SHAPES] = "shapes",
    [TRAIT_WINDOW] = "window",
    [TRAIT_SIDE] = "side",
    [TRAIT_SIZE] = "size",
    [TRAIT_BATCH] = "batch",
    [TRAIT_ALIGN] = "alignment",
    [TRAIT_ZERO] = "zero",
    [TRAIT_SCALES] = "scales",
    [TRAIT_CHANNELS] = "channels",
    [TRAIT_OUT_CHANNELS] = "out-channels",
    [TRAIT_IN_SIZE] = "in-size",
    [TRAIT_ZEROS] = "other-zeros",
    [TRAIT_OUT_ZERO] = "out-zero",
    [TRAIT_OUT_SCALE] = "out-scale",
};
_Static_assert(COUNT(trait_name) == TRAIT_STATE, "each trait has a name");

/* The words of the traits that have them. */
static const char *const state_name[] = { "variable", "constant", "mixed", "no-value", "left-off" };
static const char *const shapes_name[] = { "same", "same-rank", "different" };
static const char *const zero_name[] = { "0", "128", "other" };
static const char *const zeros_name[] = { "middle", "any" };
static const char *const scales_name[] = { "same", "different" };

static const char *const variant_name[] = {
    [VARIANT_RELAXED] = "relaxed",
    [VARIANT_UNKNOWN_DIMS] = "unknown-dims",
    [VARIANT_UNKNOWN_RANK] = "unknown-rank",
    [VARIANT_UNKNOWN_INPUT_DIMS] = "unknown-input-dims",
    [VARIANT_UNKNOWN_INPUT_RANK] = "unknown-input-rank",
};

static const char *const measure_name[] = {
    [MODEL_OPERATIONS] = "operations", [MODEL_INPUTS] = "inputs",
    [MODEL_OUTPUTS] = "outputs",       [MODEL_OPERANDS] = "operands",
    [MODEL_TYPES] = "types",           [MODEL_SAME] = "same-operation",
    [MODEL_READS] = "reads",           [MODEL_PARTS] = "parts",
    [MODEL_POOLS] = "pools",           [MODEL_READ_OUTPUTS] = "read-outputs",
};
_Static_assert(COUNT(measure_name) == RANDGRAPH_MODEL_MEASURES, "each measure has a name");

enum { TRAIT_NAME = 80, WORD = 2000 };

static void name_trait(const struct op *op, int t, char name[TRAIT_NAME])
{
    if (t < TRAIT_STATE)
        snprintf(name, TRAIT_NAME, "%s", trait_name[t]);
    else if (t < TRAIT_VALUE)
        snprintf(name, TRAIT_NAME, "%s.is", op->in[t - TRAIT_STATE].name);
    else
        snprintf(name, TRAIT_NAME, "%s.value", op->in[t - TRAIT_VALUE].name);
}

static bool has_trait(const struct op *op, int t)
{
    return t < TRAIT_STATE || (t - TRAIT_STATE) % MAX_ROLES < op->n_in;
}

/* The words of a trait's values; NULL: they are numbers. */
static const char *const *words_of(int t, int *ret_n)
{
    *ret_n = t == TRAIT_SHAPES                        ? COUNT(shapes_name)
             : t == TRAIT_ZERO || t == TRAIT_OUT_ZERO ? COUNT(zero_name)
             : t == TRAIT_ZEROS                       ? COUNT(zeros_name)
             : t == TRAIT_SCALES                      ? COUNT(scales_name)
             : t >= TRAIT_STATE && t < TRAIT_VALUE    ? COUNT(state_name)
                                                      : 0;
    return t == TRAIT_SHAPES                        ? shapes_name
           : t == TRAIT_ZERO || t == TRAIT_OUT_ZERO ? zero_name
           : t == TRAIT_ZEROS                       ? zeros_name
           : t == TRAIT_SCALES                      ? scales_name
           : *ret_n                                 ? state_name
                                                    : NULL;
}

/* By how much the values of a trait that are numbers exceed those of the text. */
static int offset_of(int t)
{
    return t >= TRAIT_VALUE ? VALUE_OFFSET : t == TRAIT_OUT_SCALE ? SCALE_OFFSET : 0;
}

/* ---- writing */

static void put_types(FILE *f, uint32_t types)
{
    const char *comma = "";

    for (int t = 0; t < DT_COUNT; t++)
        if (types >> t & 1) {
            fprintf(f, "%s%s", comma, dtype_info[t].name);
            comma = ",";
        }
}

static void put_values(FILE *f, int t, uint64_t allowed)
{
    int n, offset = offset_of(t);
    const char *const *word = words_of(t, &n), *comma = "";

    if (word && __builtin_popcountll(~allowed) == 1 && __builtin_ctzll(~allowed) < n) {
        fprintf(f, "-%s", word[__builtin_ctzll(~allowed)]);
        return;
    }
    for (int v = 0; v <= MOST_TRAIT; v++) {
        int to = v;
        if (!(allowed >> v & 1) || (word && v >= n))
            continue;
        while (!word && t != TRAIT_WINDOW && to < MOST_TRAIT && (allowed >> (to + 1) & 1))
            to++;
        if (word)
            fprintf(f, "%s%s", comma, word[v]);
        else if (t == TRAIT_WINDOW)
            fprintf(f, "%s%dx%d", comma, v / 8, v % 8);
        else if (to > v)
            fprintf(f, "%s%d..%d", comma, v - offset, to - offset);
        else
            fprintf(f, "%s%d", comma, v - offset);
        comma = ",";
        v = to;
    }
}

/* The types of the form's tensors. */
static void put_row_types(FILE *f, const struct row *row)
{
    const uint8_t *role = row->op->forms[row->form].role;
    const char *comma = "";

    for (int i = 0; role[i] != END; i++)
        if (row->op->in[role[i]].dims) {
            enum dtype type = role_type(&row->op->in[role[i]], &row->op->typings[row->typing]);
            fprintf(f, "%s%s", comma, dtype_info[type].name);
            comma = ",";
        }
    if (!*comma)
        fputs("-", f);
}

static void put_row(FILE *f, const struct row *row, const struct randgraph_limits *l)
{
    char name[TRAIT_NAME];
    const char *comma = "";

    fprintf(f, "%s/%d/%d ", row->op->name, row->form, row->typing);
    put_row_types(f, row);
    for (int t = 0; t < RANDGRAPH_TRAITS; t++)
        if (l->allowed[t] != UINT64_MAX && has_trait(row->op, t)) {
            name_trait(row->op, t, name);
            fprintf(f, " %s=", name);
            put_values(f, t, l->allowed[t]);
        }
    if (l->without)
        fputs(" without=", f);
    for (int v = 0; v < COUNT(variant_name); v++)
        if (l->without >> v & 1) {
            fprintf(f, "%s%s", comma, variant_name[v]);
            comma = ",";
        }
    putc('\n', f);
}

static void put_models(FILE *f, const struct randgraph_model_limits *l)
{
    const char *before = " without=";
    bool any = false;

    for (int m = 0; m < RANDGRAPH_MODEL_MEASURES; m++)
        any |= l->above[m] != 0;
    if (!any)
        return;
    fputs("models", f);
    for (int m = 0; m < RANDGRAPH_MODEL_MEASURES; m++)
        if (l->above[m] > 1 || (l->above[m] && m < MODEL_POOLS))
            fprintf(f, " %s=%" PRIu32, measure_name[m], l->above[m] - 1);
    for (int m = MODEL_POOLS; m < RANDGRAPH_MODEL_MEASURES; m++)
        if (l->above[m] == 1) {
            fprintf(f, "%s%s", before, measure_name[m]);
            before = ",";
        }
    putc('\n', f);
}

char *support_write(const struct randgraph_support *s)
{
    static const char *const control[] = { "IF", "WHILE" };
    const struct rows *rows = rows_get();
    char *text = NULL, *kept = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);

    if (!f)
        return NULL;
    fprintf(f, "halcyon-support 1\nlevel %d\n", s->level);
    put_models(f, &s->models);
    for (int i = 0; i < COUNT(control); i++)
        if (s->control[i]) {
            fprintf(f, "%s ", control[i]);
            put_types(f, s->control[i]);
            putc('\n', f);
        }
    for (uint32_t i = 0; i < rows->n_ids; i++)
        if (s->limits[i].supported)
            put_row(f, rows->by_id[i], &s->limits[i]);
    if (fclose(f) == 0)
        kept = arena_strdup(s->arena, text);
    free(text);
    return kept;
}

/* ---- reading */

static int find_word(const char *const *list, int n, const char *word)
{
    for (int i = 0; i < n; i++)
        if (strcmp(list[i], word) == 0)
            return i;
    return -1;
}

static int parse_types(char *text, uint32_t *ret_types, struct why *w)
{
    *ret_types = 0;
    for (char *word; (word = strsep(&text, ","));) {
        int type = dtype_by_name(word);
        REQUIRE(w, type >= 0, "unknown operand type '%s'", word);
        *ret_types |= 1u << type;
    }
    return 0;
}

/* "7", "-8..3", "3x3" or a word. */
static int parse_value(int t, const char *text, int *ret_from, int *ret_to, struct why *w)
{
    int n, offset = offset_of(t), from, to, used = 0;
    const char *const *word = words_of(t, &n);

    if (word) {
        from = to = find_word(word, n, text);
    } else if (t == TRAIT_WINDOW) {
        if (sscanf(text, "%1dx%1d%n", &from, &to, &used) != 2 || text[used] || from > 7 || to > 7)
            return why_fail(w, WHY_INVALID, "'%s' is not a window from 0x0 to 7x7", text);
        from = to = 8 * from + to;
    } else if (sscanf(text, "%3d..%3d%n", &from, &to, &used) == 2 && used && !text[used]) {
        from += offset;
        to += offset;
    } else if (sscanf(text, "%3d%n", &from, &used) == 1 && used && !text[used]) {
        to = from += offset;
    } else {
        from = to = -1;
    }
    REQUIRE(w, from >= 0 && from <= to && to <= MOST_TRAIT, "'%s' is not a value of it", text);
    *ret_from = from;
    *ret_to = to;
    return 0;
}

static int parse_limit(const struct op *op, char *word, struct randgraph_limits *l, struct why *w)
{
    char name[TRAIT_NAME], *values = strchr(word, '=');
    int t = 0, from = 0, to = 0, n;

    REQUIRE(w, values, "expected TRAIT=VALUES, found '%s'", word);
    *values++ = 0;
    if (strcmp(word, "without") == 0) {
        for (char *v; (v = strsep(&values, ","));) {
            int variant = find_word(variant_name, COUNT(variant_name), v);
            REQUIRE(w, variant >= 0, "unknown variant '%s'", v);
            l->without |= (uint8_t) (1u << variant);
        }
        return 0;
    }
    for (; t < RANDGRAPH_TRAITS; t++) {
        if (!has_trait(op, t))
            continue;
        name_trait(op, t, name);
        if (strcmp(name, word) == 0)
            break;
    }
    REQUIRE(w, t < RANDGRAPH_TRAITS, "%s has no trait '%s'", op->name, word);
    if (*values == '-' && words_of(t, &n)) {
        int without = find_word(words_of(t, &n), n, values + 1);
        REQUIRE(w, without >= 0, "%s: '%s' is not a value of it", word, values + 1);
        l->allowed[t] = ~((uint64_t) 1 << without);
        return 0;
    }
    l->allowed[t] = 0;
    for (char *v; (v = strsep(&values, ","));) {
        if (!*v) /* no value at all is allowed */
            continue;
        if (parse_value(t, v, &from, &to, w) < 0)
            return why_prefix(w, "%s", word);
        for (int i = from; i <= to; i++)
            l->allowed[t] |= (uint64_t) 1 << i;
    }
    return 0;
}

static int parse_row(char *line, const struct rows *rows, struct randgraph_limits *limits,
                     struct why *w)
{
    char *name = strsep(&line, " "), *form = name, *types, *right = NULL;
    size_t size;
    uint64_t f = 0, t = 0;
    const struct row *row = NULL;

    name = strsep(&form, "/");
    char *typing = form;
    form = typing ? strsep(&typing, "/") : NULL;
    const struct op *op = op_by_name(name);
    REQUIRE(
        w, op && form && typing && line,
        "expected OPERATION/FORM/ROW TYPES or a line with level, models, IF or WHILE, found '%s'",
        name);
    TRY(parse_u64(form, 0, (uint64_t) op->n_forms - 1, &f, w));
    TRY(parse_u64(typing, 0, (uint64_t) op->n_typings - 1, &t, w));
    for (uint32_t i = 0; i < rows->n_ids && !row; i++)
        if (rows->by_id[i]->op == op && rows->by_id[i]->form == f && rows->by_id[i]->typing == t)
            row = rows->by_id[i];
    REQUIRE(w, row, "%s has no calls to draw", name);
    FILE *file = open_memstream(&right, &size);
    if (!file)
        return why_no_memory(w);
    put_row_types(file, row);
    fclose(file);
    types = strsep(&line, " ");
    bool same = strcmp(types, right) == 0;
    free(right);
    REQUIRE(w, same, "%s has other types in this version of Halcyon than %s", name, types);
    struct randgraph_limits *l = &limits[row->id];
    l->supported = true;
    memset(l->allowed, 0xff, sizeof l->allowed);
    for (char *word; (word = strsep(&line, " "));)
        TRY(parse_limit(op, word, l, w));
    return 0;
}

static int parse_models(char *line, struct randgraph_model_limits *l, struct why *w)
{
    for (char *word; (word = strsep(&line, " "));) {
        char *values = strchr(word, '=');
        uint64_t n = 0;
        REQUIRE(w, values, "expected MEASURE=N or without=LIST, found '%s'", word);
        *values++ = 0;
        int m = find_word(measure_name, RANDGRAPH_MODEL_MEASURES, word);
        if (m >= 0) {
            TRY(parse_u64(values, m < MODEL_POOLS, 1 << 20, &n, w));
            l->above[m] = (uint32_t) n + 1;
            continue;
        }
        REQUIRE(w, strcmp(word, "without") == 0, "models have no measure '%s'", word);
        for (char *v; (v = strsep(&values, ","));) {
            m = find_word(measure_name, RANDGRAPH_MODEL_MEASURES, v);
            REQUIRE(w, m >= MODEL_POOLS, "models can be without pools and read-outputs, found '%s'",
                    v);
            l->above[m] = 1;
        }
    }
    return 0;
}

struct reading {
    struct randgraph_limits *limits;
    struct randgraph_model_limits models;
    uint32_t control[2];
    uint64_t level;
};

static int parse_line(char *line, int number, struct reading *r, struct why *w)
{
    if (number == 1) {
        REQUIRE(w, !strcmp(line, "halcyon-support 1"), "expected 'halcyon-support 1', found '%s'",
                line);
        return 0;
    }
    if (strncmp(line, "level ", 6) == 0)
        return parse_u64(line + 6, 1, MAX_LEVEL, &r->level, w);
    if (strncmp(line, "models ", 7) == 0)
        return parse_models(line + 7, &r->models, w);
    if (strncmp(line, "IF ", 3) == 0)
        return parse_types(line + 3, &r->control[0], w);
    if (strncmp(line, "WHILE ", 6) == 0)
        return parse_types(line + 6, &r->control[1], w);
    return parse_row(line, rows_get(), r->limits, w);
}

static int read_lines(char *text, struct reading *r, struct why *w)
{
    char *line;

    for (int number = 1; (line = strsep(&text, "\n")); number++) {
        if (!text) { /* after the last line */
            REQUIRE(w, !*line, "line %d does not end", number);
            break;
        }
        if (parse_line(line, number, r, w) < 0)
            return why_prefix(w, "line %d", number);
    }
    REQUIRE(w, r->level, "there is no line with the level");
    return 0;
}

int randgraph_support_parse(const char *text, struct randgraph_support **ret_support, struct why *w)
{
    const struct rows *rows = rows_get();
    struct reading r = { .limits = rows ? calloc(rows->n_ids + 1, sizeof *r.limits) : NULL };
    char *copy = strdup(text);
    struct randgraph_support *s = NULL;
    int rc = r.limits && copy ? read_lines(copy, &r, w) : why_no_memory(w);

    if (rc == 0)
        rc = randgraph_support_new((int) r.level, r.limits, r.control[0], r.control[1], &r.models,
                                   &s, w);
    if (rc == 0 && strcmp(s->text, text) != 0) {
        randgraph_support_free(s);
        rc = why_fail(w, WHY_INVALID, "not as this version of Halcyon writes it");
    }
    free(copy);
    free(r.limits);
    if (rc == 0)
        *ret_support = s;
    return rc;
}
