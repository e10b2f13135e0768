/* The mutants that harness/corrupt/conform_exempt.h leaves out, against the lists of Android's
 * vendor test suite: for every model of every operation, at every version.  Each difference has a
 * written reason. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "golden/golden.h"
#include "harness/conform/conform_models.h"
#include "harness/corrupt/conform_mutations.h"
#include "tests/support/check_main.h"

enum { ANY = -100, ALL_TYPES = 0xffff, MAX_OPERANDS = 256, MAX_SECOND = 128 };
#define OUTPUT(k) (-1 - (k))
#define TYPE(t)   (1u << DT_##t)
#define TENSORS                                                                                    \
    (TYPE(F32) | TYPE(I32) | TYPE(U8) | TYPE(Q16S) | TYPE(F16) | TYPE(B8) | TYPE(PC8) |            \
     TYPE(Q16A) | TYPE(Q8S) | TYPE(S8))

/* ---- the lists of the vendor test suite */

/* Operands whose type may be replaced by one of `types`, since an HAL version. */
static const struct multi_type {
    int32_t code;
    int operand; /* an input's index, OUTPUT(k), or ANY operand of a model with such an operation */
    uint32_t types;
    enum hal_version since;
} multi_type[] = {
    { OP_LSH_PROJECTION, 1, ALL_TYPES, HAL_1_0 },
    { OP_CAST, ANY, TYPE(F16) | TYPE(F32) | TYPE(I32) | TYPE(U8), HAL_1_2 },
    { OP_ARGMAX, ANY, TYPE(F16) | TYPE(F32) | TYPE(I32) | TYPE(U8), HAL_1_2 },
    { OP_ARGMIN, ANY, TYPE(F16) | TYPE(F32) | TYPE(I32) | TYPE(U8), HAL_1_2 },
    { OP_CAST, ANY, TYPE(S8), HAL_1_3 },
    { OP_ARGMAX, ANY, TYPE(S8), HAL_1_3 },
    { OP_ARGMIN, ANY, TYPE(S8), HAL_1_3 },
    { OP_QUANTIZE, 0, TYPE(F16) | TYPE(F32), HAL_1_2 },
    { OP_QUANTIZE, OUTPUT(0), TYPE(U8) | TYPE(S8), HAL_1_3 },
    { OP_RANDOM_MULTINOMIAL, 0, TYPE(F16) | TYPE(F32), HAL_1_2 },
    { OP_DEQUANTIZE, 0, TYPE(U8) | TYPE(Q8S) | TYPE(PC8), HAL_1_2 },
    { OP_DEQUANTIZE, 0, TYPE(S8), HAL_1_3 },
    { OP_DEQUANTIZE, OUTPUT(0), TYPE(F16) | TYPE(F32), HAL_1_2 },
    { OP_CONV_2D, 1, TYPE(U8) | TYPE(PC8), HAL_1_2 },
    { OP_DEPTHWISE_CONV_2D, 1, TYPE(U8) | TYPE(PC8), HAL_1_2 },
    { OP_GROUPED_CONV_2D, 1, TYPE(U8) | TYPE(PC8), HAL_1_2 },
    { OP_TRANSPOSE_CONV_2D, 1, TYPE(U8) | TYPE(PC8), HAL_1_2 },
    { OP_AXIS_ALIGNED_BBOX_TRANSFORM, 1, TYPE(U8) | TYPE(S8), HAL_1_3 },
    { OP_RANK, 0, TENSORS, HAL_1_3 },
};

/* An operation with `least` to `most` inputs may lose any input from `first` on, except the last
 * `tail`. */
static const struct removable {
    int32_t code;
    uint32_t least, most;
    uint32_t first, tail;
    enum hal_version since;
} removable[] = {
    { OP_CONCATENATION, 3, UINT32_MAX, 0, 1, HAL_1_0 },
    { OP_CONV_2D, 8, 8, 7, 0, HAL_1_0 },
    { OP_CONV_2D, 11, 11, 10, 0, HAL_1_0 },
    { OP_DEPTHWISE_CONV_2D, 9, 9, 8, 0, HAL_1_0 },
    { OP_DEPTHWISE_CONV_2D, 12, 12, 11, 0, HAL_1_0 },
    { OP_AVERAGE_POOL_2D, 8, 8, 7, 0, HAL_1_0 },
    { OP_AVERAGE_POOL_2D, 11, 11, 10, 0, HAL_1_0 },
    { OP_MAX_POOL_2D, 8, 8, 7, 0, HAL_1_0 },
    { OP_MAX_POOL_2D, 11, 11, 10, 0, HAL_1_0 },
    { OP_L2_POOL_2D, 8, 8, 7, 0, HAL_1_0 },
    { OP_L2_POOL_2D, 11, 11, 10, 0, HAL_1_0 },
    { OP_RESIZE_BILINEAR, 4, 6, 3, 0, HAL_1_0 },
    { OP_RESIZE_NEAREST_NEIGHBOR, 5, 6, 3, 0, HAL_1_0 },
    { OP_SPACE_TO_DEPTH, 3, 3, 2, 0, HAL_1_0 },
    { OP_DEPTH_TO_SPACE, 3, 3, 2, 0, HAL_1_0 },
    { OP_BATCH_TO_SPACE_ND, 3, 3, 2, 0, HAL_1_0 },
    { OP_SPACE_TO_BATCH_ND, 4, 4, 3, 0, HAL_1_0 },
    { OP_L2_NORMALIZATION, 2, 2, 1, 0, HAL_1_0 },
    { OP_LOCAL_RESPONSE_NORMALIZATION, 6, 6, 5, 0, HAL_1_0 },
    { OP_SOFTMAX, 3, 3, 2, 0, HAL_1_0 },
    { OP_PACK, 3, UINT32_MAX, 1, 0, HAL_FL5 },
};

/* Operations with `least` to `most` inputs that may have another INT32 input. */
static const struct extensible {
    int32_t code;
    uint32_t least, most;
    enum hal_version since;
} extensible[] = {
    { OP_L2_NORMALIZATION, 1, 1, HAL_1_2 },
    { OP_LOCAL_RESPONSE_NORMALIZATION, 5, 5, HAL_1_2 },
    { OP_SOFTMAX, 2, 2, HAL_1_2 },
    { OP_RESIZE_BILINEAR, 0, 5, HAL_1_3 },
    { OP_RESIZE_NEAREST_NEIGHBOR, 0, 5, HAL_1_3 },
};

/* Operations whose outputs may be removed. */
static const struct variable_outputs {
    int32_t code;
    enum hal_version since;
} variable_outputs[] = {
    { OP_SPLIT, HAL_1_2 },
    { OP_BIDIRECTIONAL_SEQUENCE_LSTM, HAL_1_2 },
    { OP_BIDIRECTIONAL_SEQUENCE_RNN, HAL_1_2 },
    { OP_UNIDIRECTIONAL_SEQUENCE_LSTM, HAL_1_3 },
    { OP_UNIDIRECTIONAL_SEQUENCE_RNN, HAL_1_3 },
};

/* ---- one mutant */

enum kind { OPERAND_TYPE, OPERAND_GAP, INPUT_GAP, INPUT_MORE, OUTPUT_MORE, KINDS };
static const char *const rules[KINDS] = { "M10", "M15", "M17", "M19", "M20" };

struct candidate {
    const struct hal_model *model;
    enum hal_version version;
    enum kind kind;
    uint32_t first;  /* operand; of the last three kinds operation */
    uint32_t second; /* OPERAND_TYPE: type; INPUT_GAP: input */
};

static bool is_at(const struct hal_operation *o, int place, uint32_t operand)
{
    if (place == ANY)
        return true;
    if (place < 0)
        return (uint32_t) (-1 - place) < o->n_outputs && o->outputs[-1 - place] == operand;
    return (uint32_t) place < o->n_inputs && o->inputs[place] == operand;
}

static bool has(const uint32_t *list, uint32_t n, uint32_t operand)
{
    for (uint32_t k = 0; k < n; k++)
        if (list[k] == operand)
            return true;
    return false;
}

static bool type_is_listed(const struct candidate *c, const struct hal_operation *o)
{
    for (int k = 0; k < COUNT(multi_type); k++)
        if (multi_type[k].code == o->type && c->version >= multi_type[k].since &&
            multi_type[k].types >> c->second & 1 && is_at(o, multi_type[k].operand, c->first))
            return true;
    return false;
}

/* Since 1.3 also every operand that no operation reads. */
static bool operand_gap_is_listed(const struct candidate *c, const struct hal_operation *o)
{
    if (c->version >= HAL_1_3 && !c->model->main.operands[c->first].n_consumers)
        return true;
    for (int k = 0; k < COUNT(variable_outputs); k++)
        if (variable_outputs[k].code == o->type && c->version >= variable_outputs[k].since &&
            has(o->outputs, o->n_outputs, c->first))
            return true;
    return false;
}

static bool input_gap_is_listed(const struct candidate *c, const struct hal_operation *o)
{
    for (int k = 0; k < COUNT(removable); k++) {
        const struct removable *r = &removable[k];
        if (r->code == o->type && o->n_inputs >= r->least && o->n_inputs <= r->most &&
            c->version >= r->since && c->second >= r->first && c->second < o->n_inputs - r->tail)
            return true;
    }
    return false;
}

static bool input_more_is_listed(const struct candidate *c, const struct hal_operation *o)
{
    for (int k = 0; k < COUNT(extensible); k++)
        if (extensible[k].code == o->type && o->n_inputs >= extensible[k].least &&
            o->n_inputs <= extensible[k].most && c->version >= extensible[k].since)
            return true;
    return false;
}

/* Whether the lists exempt the mutant because of the operation. */
static bool is_listed(const struct candidate *c, const struct hal_operation *o)
{
    switch (c->kind) {
    case OPERAND_TYPE: return type_is_listed(c, o);
    case OPERAND_GAP: return operand_gap_is_listed(c, o);
    case INPUT_GAP: return input_gap_is_listed(c, o);
    case INPUT_MORE: return input_more_is_listed(c, o);
    default: return false;
    }
}

/* ---- reasons */

/* Whether another operation than the listed one uses the operand. */
static bool has_other_user(const struct candidate *c, const struct hal_operation *listed)
{
    const struct hal_subgraph *g = &c->model->main;

    for (uint32_t i = 0; i < g->n_operations; i++) {
        const struct hal_operation *o = &g->operations[i];
        if (o != listed &&
            (has(o->inputs, o->n_inputs, c->first) || has(o->outputs, o->n_outputs, c->first)))
            return true;
    }
    return false;
}

static bool is_used_twice(const struct candidate *c, const struct hal_operation *o)
{
    return has_other_user(c, o) || (is_at(o, 0, c->first) && is_at(o, OUTPUT(0), c->first));
}

/* The operand's type is fixed, or that of another operation's operand. */
static bool is_not_first_input(const struct candidate *c, const struct hal_operation *o)
{
    return !is_at(o, 0, c->first) || has_other_user(c, o);
}

static bool is_like_the_other(const struct candidate *c, const struct hal_operation *o)
{
    bool is_input = is_at(o, 0, c->first);
    int32_t other = c->model->main.operands[is_input ? o->outputs[0] : o->inputs[0]].type;
    bool is_own = is_input || is_at(o, OUTPUT(0), c->first);
    uint32_t numbers = TYPE(F16) | TYPE(F32) | TYPE(I32) | TYPE(U8);

    return !is_own || has_other_user(c, o) || !(numbers >> other & 1) || c->second == DT_S8;
}

static uint32_t type_of_input(const struct candidate *c, const struct hal_operation *o, int k)
{
    return (uint32_t) c->model->main.operands[o->inputs[k]].type;
}

static bool is_not_of_filter(const struct candidate *c, const struct hal_operation *o)
{
    uint32_t image = type_of_input(c, o, 0);

    return has_other_user(c, o) ||
           (c->second == DT_PC8 ? image != DT_U8 && image != DT_S8 : c->second != image);
}

static bool is_filter_of_image(const struct candidate *c, const struct hal_operation *o)
{
    return is_at(o, 1, c->first) && c->second == type_of_input(c, o, 0);
}

/* The eighth input distinguishes the forms; ten inputs are enough for both. */
static bool changes_padding(const struct candidate *c, const struct hal_operation *o)
{
    return c->second == DT_INT32 || c->second == DT_BOOL ? o->n_inputs >= 10 : false;
}

static bool has_float_boxes(const struct candidate *c, const struct hal_operation *o)
{
    return type_of_input(c, o, 0) != DT_Q16A;
}

static bool leaves_a_gap(const struct candidate *c, const struct hal_operation *o)
{
    (void) o;
    return c->first + 1 < c->model->main.n_operands;
}

static bool is_last(const struct candidate *c, const struct hal_operation *o)
{
    return !leaves_a_gap(c, o);
}

/* Why mutants of an operation are exempt here and not in the lists (more), or the reverse; and what
 * is true of all of them (NULL: nothing else).  "Android" is the validation of its runtime, which
 * its drivers call too. */
static struct reason {
    enum kind kind;
    bool more;
    const char *op; /* names, with spaces between; NULL: any */
    bool (*holds)(const struct candidate *c, const struct hal_operation *o);
    const char *text;
    unsigned n; /* mutants that it explains */
} reasons[] = {
    { OPERAND_TYPE, false, "ARGMAX", is_not_first_input,
      "The list has every operand of the model; in Android axis and output have fixed types, and "
      "other operations keep theirs." },
    { OPERAND_TYPE, false, "ARGMIN", is_not_first_input, "As ARGMAX." },
    { OPERAND_TYPE, false, "CAST", is_like_the_other,
      "The list has every operand of the model; Android checks the other operations, and casts "
      "between different types only float16, float32, int32 and quant8." },
    { OPERAND_TYPE, false, "DEQUANTIZE QUANTIZE LSH_PROJECTION", is_used_twice,
      "Another operation that uses the operand does not accept the type." },
    { OPERAND_TYPE, false, "AXIS_ALIGNED_BBOX_TRANSFORM", has_float_boxes,
      "Android accepts quant8 deltas only with quant16 boxes." },
    { OPERAND_TYPE, false, "CONV_2D", is_not_of_filter,
      "In Android a filter has the type of the image, or is per-channel and the image quant8." },
    { OPERAND_TYPE, false, "DEPTHWISE_CONV_2D", is_not_of_filter, "As CONV_2D." },
    { OPERAND_TYPE, false, "GROUPED_CONV_2D", is_not_of_filter, "As CONV_2D." },
    { OPERAND_TYPE, false, "TRANSPOSE_CONV_2D", is_not_of_filter, "As CONV_2D." },
    { OPERAND_TYPE, true, "CONV_2D", is_filter_of_image,
      "Android accepts a quant8_signed filter with a quant8_signed image." },
    { OPERAND_TYPE, true, "DEPTHWISE_CONV_2D", is_filter_of_image, "As CONV_2D." },
    { OPERAND_TYPE, true, "GROUPED_CONV_2D", is_filter_of_image, "As CONV_2D." },
    { OPERAND_TYPE, true, "TRANSPOSE_CONV_2D", is_filter_of_image, "As CONV_2D." },
    { OPERAND_TYPE, true, "CONV_2D", changes_padding,
      "With another type of the eighth input the operands are those of the form with the other "
      "kind of padding; Android does not compare the constant's length with its type." },
    { OPERAND_TYPE, true, "DEPTHWISE_CONV_2D", changes_padding, "As CONV_2D." },
    { OPERAND_GAP, false, NULL, leaves_a_gap,
      "An index equals the number of operands, which M12 and M13 demand to reject." },
    { OPERAND_GAP, false, NULL, is_last,
      "The operation has too few outputs, which M18 demands to reject." },
    { INPUT_GAP, true, "DENSIFY", NULL,
      "Experimental and in no vendor suite: takes any number of lists." },
    { INPUT_MORE, false, "RESIZE_BILINEAR", NULL,
      "The inputs after the third are BOOL, which Android checks; the new one is INT32." },
    { INPUT_MORE, false, "RESIZE_NEAREST_NEIGHBOR", NULL, "As RESIZE_BILINEAR." },
};

static bool is_among(const char *names, const char *name)
{
    const size_t n = strlen(name);

    for (const char *at = names; (at = strstr(at, name)) != NULL; at += n)
        if ((at == names || at[-1] == ' ') && (at[n] == ' ' || !at[n]))
            return true;
    return false;
}

static bool explain(const struct candidate *c, const struct hal_operation *o, bool more)
{
    for (int k = 0; k < COUNT(reasons); k++) {
        struct reason *r = &reasons[k];
        if (r->kind == c->kind && r->more == more &&
            (!r->op || is_among(r->op, op_find(o->type)->name)) && (!r->holds || r->holds(c, o))) {
            r->n++;
            return true;
        }
    }
    return false;
}

/* ---- the comparison */

/* By the numbers of a candidate: whether the walk has the mutant. */
static bool visited[MAX_OPERANDS][MAX_SECOND];

static uint32_t type_number(const char *name)
{
    for (uint32_t t = 0; t < DT_COUNT; t++)
        if (strcmp(dtype_info[t].name, name) == 0)
            return t;
    ck_abort_msg("no type %s", name);
    return 0;
}

static void note_mutant(const struct conform_mutant *mutant, void *user)
{
    uint32_t first = 0, second = 0;
    char type[64];

    (void) user;
    if (sscanf(mutant->what, "operation %u: input %u", &first, &second) < 1 &&
        sscanf(mutant->what, "operand %u: %63s", &first, type) == 2)
        second = type_number(type);
    else
        sscanf(mutant->what, "operand %u", &first);
    ck_assert(first < MAX_OPERANDS && second < MAX_SECOND);
    visited[first][second] = true;
}

/* The operation because of which the lists exempt the mutant; NULL: they do not. */
static const struct hal_operation *find_listed(const struct candidate *c)
{
    const struct hal_subgraph *g = &c->model->main;

    for (uint32_t i = 0; i < g->n_operations; i++)
        if ((c->kind <= OPERAND_GAP || i == c->first) && is_listed(c, &g->operations[i]))
            return &g->operations[i];
    return NULL;
}

/* The operation that the mutation changes; of an operand, the last that reads it. */
static const struct hal_operation *find_changed(const struct candidate *c)
{
    const struct hal_subgraph *g = &c->model->main;

    for (uint32_t i = g->n_operations; i-- > 0;)
        if (c->kind <= OPERAND_GAP
                ? has(g->operations[i].inputs, g->operations[i].n_inputs, c->first)
                : i == c->first)
            return &g->operations[i];
    return &g->operations[0];
}

static void compare(const struct candidate *c, const char *name)
{
    bool is_exempt = !visited[c->first][c->second];
    const struct hal_operation *listed = find_listed(c), *o = listed ? listed : find_changed(c);

    if (is_exempt != (listed != NULL))
        ck_assert_msg(explain(c, o, is_exempt),
                      "%s of HAL %s, %s, %u %u: %s by %s, %s by the lists", rules[c->kind],
                      hal_version_name(c->version), name, c->first, c->second,
                      is_exempt ? "exempt" : "demanded", op_find(o->type)->name,
                      listed ? "exempt" : "demanded");
}

static void compare_kind(const struct candidate *of, uint32_t n_first, const char *name)
{
    struct candidate c = *of;

    for (c.first = 0; c.first < n_first; c.first++) {
        const struct hal_subgraph *g = &c.model->main;
        uint32_t n = 1;
        if (c.kind == INPUT_GAP)
            n = g->operations[c.first].n_inputs;
        if (c.kind == OPERAND_TYPE)
            n = c.version < HAL_1_2 ? 6 : c.version == HAL_1_2 ? 14 : 16;
        for (c.second = 0; c.second < n; c.second++)
            if (c.kind != OPERAND_TYPE || (int32_t) c.second != g->operands[c.first].type)
                compare(&c, name);
    }
}

static void compare_model(const struct conform_model *m, enum hal_version version)
{
    for (int kind = 0; kind < KINDS; kind++) {
        struct candidate c = { &m->hal, version, (enum kind) kind, 0, 0 };
        const struct hal_subgraph *g = &m->hal.main;
        memset(visited, 0, sizeof visited);
        for (int k = 0; k < conform_n_mutations; k++)
            if (strcmp(conform_mutations[k].rule, rules[kind]) == 0)
                conform_walk(&conform_mutations[k], &m->hal, version, note_mutant, NULL);
        compare_kind(&c, kind <= OPERAND_GAP ? g->n_operands : g->n_operations, m->name);
    }
}

START_TEST(exemptions_are_those_of_the_vendor_suite)
{
    conform_models_draw();
    for (int i = 0; i < conform_n_models; i++)
        for (int v = 0; v < HAL_VERSIONS; v++)
            if (conform_models[i].level <= hal_level(hal_versions[v]))
                compare_model(&conform_models[i], hal_versions[v]);
    conform_models_free();
    for (int k = 0; k < COUNT(reasons); k++)
        ck_assert_msg(reasons[k].n, "%s of %s: no difference has the reason: %s",
                      rules[reasons[k].kind], reasons[k].op ? reasons[k].op : "any operation",
                      reasons[k].text);
}
END_TEST

Suite *exempt_suite(void)
{
    TCase *t = tcase_create("exempt");

    tcase_set_timeout(t, 150);
    tcase_add_test(t, exemptions_are_those_of_the_vendor_suite);
    return make_suite("exempt", t, NULL);
}
