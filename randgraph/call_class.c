/* What a call is counted under: its form, typing row, rank, options and the class of its values. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "randgraph/coverage_internal.h"

const char *const randgraph_value_class[RANDGRAPH_VALUE_CLASSES] = {
    [CLASS_EMPTY] = "empty",         [CLASS_NONFINITE] = "nonfinite", [CLASS_LARGE] = "large",
    [CLASS_SUBNORMAL] = "subnormal", [CLASS_LIMITS] = "limits",       [CLASS_ZEROS] = "zeros",
    [CLASS_WHOLE] = "whole",         [CLASS_OTHER] = "other",         [CLASS_COMPUTED] = "computed",
};

/* ---- values */

enum { CHUNK = 256, MOST_EXAMINED = 512, MOST_SIZE = 8 };
static const double large_float = 1e4, large_integer = 32768;

/* What is common to all values.  Of floats: their magnitudes as integers, which are ordered as the
 * numbers are; of integers: the codes. */
struct value_range {
    uint64_t least, most; /* least: of magnitudes above 0, less 1 */
    bool fraction;        /* one is not a whole number */
    double low, high;
    size_t limits; /* how many are the least or the greatest of the type */
};

static uint64_t magnitude(double x)
{
    uint64_t bits;

    memcpy(&bits, &x, sizeof bits);
    return bits & UINT64_MAX >> 1;
}

static void add_floats(const double *x, size_t n, struct value_range *r)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t m = magnitude(x[i]);
        r->most = m > r->most ? m : r->most;
        r->least = m - 1 < r->least ? m - 1 : r->least;
    }
    for (size_t i = 0; i < n && !r->fraction; i++)
        r->fraction = !(fabs(x[i] - rint(x[i])) <= 0);
}

static void add_integers(const double *x, size_t n, const struct codec *codec,
                         struct value_range *r)
{
    for (size_t i = 0; i < n; i++) {
        r->low = x[i] < r->low ? x[i] : r->low;
        r->high = x[i] > r->high ? x[i] : r->high;
        r->limits += (x[i] <= codec->min) | (x[i] >= codec->max);
    }
}

static enum randgraph_value_class class_of_floats(const struct value_range *r, double normal)
{
    return r->most >= magnitude(INFINITY)      ? CLASS_NONFINITE
           : r->most >= magnitude(large_float) ? CLASS_LARGE
           : r->least < magnitude(normal) - 1  ? CLASS_SUBNORMAL
           : r->most == 0                      ? CLASS_ZEROS
           : !r->fraction                      ? CLASS_WHOLE
                                               : CLASS_OTHER;
}

static enum randgraph_value_class class_of_integers(const struct value_range *r, size_t n,
                                                    double zero, bool scaled)
{
    bool large = -r->low >= large_integer || r->high >= large_integer;

    return !scaled && large                    ? CLASS_LARGE
           : scaled && 2 * r->limits >= n      ? CLASS_LIMITS
           : r->low >= zero && r->high <= zero ? CLASS_ZEROS
                                               : CLASS_OTHER;
}

/* The class of a tensor with data.  Only the first elements of a large one count. */
static enum randgraph_value_class class_of_tensor(const struct tensor *t)
{
    const struct dtype_info *info = &dtype_info[t->dtype];
    const struct codec *codec = info->codec;
    size_t n = tensor_count(t);
    bool scaled = info->quant == QUANT_CHANNEL || t->scale != 0;
    struct value_range r = { .least = UINT64_MAX, .low = INFINITY, .high = -INFINITY };
    _Alignas(MOST_SIZE) char raw[CHUNK * MOST_SIZE]; /* constants may not be aligned */
    double x[CHUNK];

    n = n < MOST_EXAMINED ? n : MOST_EXAMINED;
    for (size_t at = 0; at < n; at += CHUNK) {
        size_t k = n - at < CHUNK ? n - at : CHUNK;
        memcpy(raw, (const char *) t->data + at * codec->size, k * codec->size);
        codec->widen(raw, k, 0, 1, x);
        if (codec->integer)
            add_integers(x, k, codec, &r);
        else
            add_floats(x, k, &r);
    }
    if (n == 0)
        return CLASS_EMPTY;
    return codec->integer ? class_of_integers(&r, n, t->zero, scaled)
                          : class_of_floats(&r, codec->size == 2 ? 0x1p-14 : 0x1p-126);
}

/* Shapes, axes and the like are no values. */
static bool has_values(const struct role *r, enum dtype type)
{
    return r->dims && r->draw != DRAW_OP && type < DT_COUNT && dtype_info[type].tensor &&
           dtype_info[type].codec->size;
}

unsigned values_possible(const struct op *op, const struct typing *t)
{
    unsigned nonfinite = takes_nonfinite(op) ? 1u << CLASS_NONFINITE : 0;
    unsigned all = 1u << CLASS_EMPTY | 1u << CLASS_ZEROS | 1u << CLASS_OTHER | 1u << CLASS_COMPUTED;
    unsigned any = 0;

    for (int i = 0; i < op->n_in; i++) {
        enum dtype type = role_type(&op->in[i], t);
        if (!has_values(&op->in[i], type))
            continue;
        any |= all;
        if (!dtype_info[type].codec->integer)
            any |= nonfinite | 1u << CLASS_LARGE | 1u << CLASS_SUBNORMAL | 1u << CLASS_WHOLE;
        else if (type == DT_I32)
            any |= 1u << CLASS_LARGE;
        else if (dtype_info[type].quant != QUANT_NONE)
            any |= 1u << CLASS_LIMITS;
    }
    return any;
}

/* ---- options */

static bool is_whole(enum dtype type)
{
    return type == DT_INT32 || type == DT_UINT32 || type == DT_BOOL;
}

enum option_class option_of_value(const struct role *r, enum dtype type, double x)
{
    if (!is_whole(type))
        return NO_OPTION;
    if (x < 0)
        return OPTION_NEGATIVE;
    if (x < 2)
        return x < 1 ? OPTION_0 : r->draw == DRAW_PAD ? OPTION_MORE : OPTION_1;
    if (r->draw == DRAW_ACTIVATION || r->draw == DRAW_SCHEME)
        return x < 3 ? OPTION_2 : x < 4 ? OPTION_3 : OPTION_MORE;
    return type == DT_BOOL ? OPTION_1 : OPTION_MORE;
}

unsigned options_possible(const struct op *op, const struct form *f, const struct typing *t,
                          int role)
{
    const struct role *r = &op->in[role];
    bool integers = role_type(&op->out[0], t) == DT_I32, in_form = false;
    unsigned possible = r->optional ? 1u << OPTION_OMITTED : 0;

    for (int i = 0; f->role[i] != END; i++)
        in_form |= f->role[i] == role;
    if (!in_form)
        return 0;
    switch (r->draw) {
    case DRAW_AXIS: return possible | 1u << OPTION_NEGATIVE | 1u << OPTION_0 | 1u << OPTION_1;
    case DRAW_STRIDE:
    case DRAW_DILATION:
    case DRAW_MULTIPLIER:
    case DRAW_KERNEL: return possible | 1u << OPTION_1 | 1u << OPTION_MORE;
    case DRAW_PAD: return possible | 1u << OPTION_0 | 1u << OPTION_MORE;
    case DRAW_SCHEME: return possible | 1u << OPTION_1 | 1u << OPTION_2;
    case DRAW_ACTIVATION:
        return possible | 1u << OPTION_0 |
               (integers ? 0 : 1u << OPTION_1 | 1u << OPTION_2 | 1u << OPTION_3);
    case DRAW_FLAG: return possible | 1u << OPTION_0 | 1u << OPTION_1;
    case DRAW_VALUES:
    case DRAW_BROADCAST:
    case DRAW_POSITIVE:
    case DRAW_SHAPE:
    case DRAW_OP: break;
    }
    return possible;
}

static const char *const number_word[OPTION_CLASSES] = {
    [OPTION_OMITTED] = "omitted",
    [OPTION_INPUT] = "input",
    [OPTION_NEGATIVE] = "negative",
    [OPTION_0] = "0",
    [OPTION_1] = "1",
    [OPTION_2] = "2",
    [OPTION_3] = "3",
    [OPTION_MORE] = "more",
};

const char *option_word(const struct role *r, enum option_class c)
{
    static const char *const activation[] = { "none", "relu", "relu1", "relu6" };
    static const char *const scheme[] = { "same", "valid" };
    static const char *const flag[] = { "false", "true" };

    if (r->draw == DRAW_ACTIVATION && c >= OPTION_0 && c <= OPTION_3)
        return activation[c - OPTION_0];
    if (r->draw == DRAW_SCHEME && c >= OPTION_1 && c <= OPTION_2)
        return scheme[c - OPTION_1];
    if ((r->draw == DRAW_FLAG || r->slot == FIXED(DT_BOOL)) && c >= OPTION_0 && c <= OPTION_1)
        return flag[c - OPTION_0];
    return number_word[c];
}

int option_by_word(const struct role *r, const char *word)
{
    for (int c = 0; c < OPTION_CLASSES; c++)
        if (!strcmp(option_word(r, (enum option_class) c), word))
            return c;
    return -1;
}

static enum option_class option_of_operand(const struct role *r, const struct tensor *t,
                                           enum operand_state state)
{
    if (state == OPERAND_OMITTED)
        return r->optional ? OPTION_OMITTED : NO_OPTION;
    if (r->dims || !t || !is_whole(t->dtype))
        return NO_OPTION;
    if (state != OPERAND_CONSTANT || !t->data)
        return OPTION_INPUT;
    double x;
    char raw[MOST_SIZE];
    memcpy(raw, t->data, dtype_info[t->dtype].codec->size);
    dtype_info[t->dtype].codec->widen(raw, 1, 0, 1, &x);
    return option_of_value(r, t->dtype, x);
}

/* ---- a call */

void class_of_call(const struct call_facts *f, struct call_class *ret)
{
    const struct tensor *first = NULL;
    int values = CLASS_COMPUTED;

    memset(ret->option, NO_OPTION, sizeof ret->option);
    for (int i = 0; f->form && f->form->role[i] != END; i++)
        if (f->op->in[f->form->role[i]].optional)
            ret->option[f->form->role[i]] = OPTION_OMITTED; /* left off, unless it follows */
    for (uint32_t i = 0; i < f->n_in; i++) {
        const struct role *r = &f->op->in[f->role[i]];
        const struct tensor *t = f->arg[i];
        bool known = t && t->data && f->state[i] >= OPERAND_INPUT;
        if (f->form)
            ret->option[f->role[i]] = (uint8_t) option_of_operand(r, t, f->state[i]);
        if (!t || f->state[i] == OPERAND_OMITTED)
            continue;
        if (!first && t->dtype < DT_COUNT && dtype_info[t->dtype].tensor)
            first = t;
        if (known && has_values(r, t->dtype)) {
            int class = (int) class_of_tensor(t);
            values = class < values ? class : values;
        }
    }
    ret->rank = first && first->shape.rank < COVERAGE_RANKS ? (uint8_t) first->shape.rank : 0;
    ret->values = (uint8_t) values;
}

/* Appends a text to what ends at `at`; returns the new end.  Cut off at `end`. */
static char *append(char *at, const char *end, const char *text)
{
    while (*text && at < end)
        *at++ = *text++;
    *at = 0;
    return at;
}

char *typing_text(const struct op *op, const struct typing *t, char text[TYPES_TEXT])
{
    int slots = 1;
    char *at = text;

    for (int i = 0; i < op->n_in + op->n_out; i++) {
        int slot = i < op->n_in ? op->in[i].slot : op->out[i - op->n_in].slot;
        slots = slot >= slots ? slot + 1 : slots;
    }
    *at = 0;
    for (int i = 0; i < slots; i++) {
        at = append(at, text + TYPES_TEXT - 1, i ? "," : "");
        at = append(at, text + TYPES_TEXT - 1, dtype_info[t->slot[i]].name);
    }
    return text;
}

const char *form_text(const struct form *f)
{
    return f->name ? f->name : "";
}

int op_index(const struct op *op)
{
    int i = op->code >= 0 && op->code < op_table_n ? op->code : 0; /* as a rule */

    if (op_table[i] != op)
        for (i = 0; i < op_table_n && op_table[i] != op;)
            i++;
    return i < op_table_n ? i : -1;
}

/* ---- an example */

/* The cell of a call as text; options: of that size. */
static struct randgraph_cell cell_of(const struct call_facts *f, const struct call_class *c,
                                     char types[TYPES_TEXT], char options[OPTIONS_TEXT])
{
    const char *end = options + OPTIONS_TEXT - 1;
    char *at = options;

    types[0] = options[0] = 0;
    if (f->typing)
        typing_text(f->op, f->typing, types);
    for (int i = 0; i < f->op->n_in; i++) {
        const struct role *r = &f->op->in[i];
        if (c->option[i] == NO_OPTION)
            continue;
        at = append(at, end, at > options ? " " : "");
        at = append(append(at, end, r->name), end, "=");
        at = append(at, end, option_word(r, (enum option_class) c->option[i]));
    }
    return (struct randgraph_cell){ .operation = f->op->name,
                                    .form = f->form ? form_text(f->form) : "",
                                    .types = types,
                                    .rank = c->rank,
                                    .options = options,
                                    .values = randgraph_value_class[c->values] };
}

/* A graph of the example: for each operand its tensor, with the values that are known, and its
 * writer. */
struct graph_facts {
    const struct graph *g;
    const struct tensor **tensor; /* NULL: omitted */
    enum operand_state *state;
    const struct op **writer; /* NULL: none, or one that is not in the catalogue */
};

static int graph_facts(const struct example *e, uint32_t index, struct arena *a,
                       struct graph_facts *ret)
{
    const struct graph *g = &e->model.graph[index];
    struct graph_facts f = { .g = g,
                             .tensor = arena_alloc(a, g->n_operands, sizeof *f.tensor),
                             .state = arena_alloc(a, g->n_operands, sizeof *f.state),
                             .writer = arena_alloc(a, g->n_operands, sizeof *f.writer) };

    if (!f.tensor || !f.state || !f.writer)
        return -1;
    for (uint32_t i = 0; i < g->n_operands; i++) {
        const struct operand *o = &g->operand[i];
        f.tensor[i] = operand_omitted(o) ? NULL : &o->tensor;
        f.state[i] = operand_omitted(o)    ? OPERAND_OMITTED
                     : operand_constant(o) ? OPERAND_CONSTANT
                                           : OPERAND_RESULT;
    }
    for (uint32_t i = 0; index == 0 && i < g->n_inputs; i++) {
        f.state[g->input[i]] = e->in[i].data ? OPERAND_INPUT : OPERAND_OMITTED;
        f.tensor[g->input[i]] = e->in[i].data ? &e->in[i] : NULL;
    }
    for (uint32_t i = 0; i < g->n_operations; i++)
        for (uint32_t k = 0; k < g->operation[i].n_out; k++)
            f.writer[g->operation[i].out[k]] = op_find(g->operation[i].code);
    *ret = f;
    return 0;
}

/* The call of an operation; without form and typing row where it is not legal by the shapes that
 * are known.  op: its record.  -1: out of memory. */
static int call_facts(const struct graph_facts *f, const struct operation *p, const struct op *op,
                      struct arena *a, struct call_facts *ret)
{
    const struct tensor **in = arena_alloc(a, p->n_in + 1, sizeof *in);
    struct tensor *result = arena_alloc(a, p->n_out + 1, sizeof *result);
    struct tensor **out = arena_alloc(a, p->n_out + 1, sizeof *out);
    struct call *c = arena_alloc(a, 1, sizeof *c);

    if (!in || !result || !out || !c)
        return -1;
    for (uint32_t i = 0; i < p->n_in; i++)
        in[i] = f->tensor[p->in[i]];
    for (uint32_t i = 0; i < p->n_out; i++) {
        result[i] = f->g->operand[p->out[i]].tensor;
        out[i] = &result[i];
    }
    bool bound = op_bind(op, in, p->n_in, out, p->n_out, false, c, NULL) >= 0;
    *ret = (struct call_facts){ .op = op,
                                .form = bound ? c->form : NULL,
                                .typing = bound ? c->typing : NULL,
                                .n_in = p->n_in < MAX_CALL ? p->n_in : MAX_CALL };
    for (uint32_t i = 0; i < ret->n_in; i++) {
        uint32_t last = op->n_in ? (uint32_t) op->n_in - 1 : 0;
        ret->arg[i] = in[i];
        ret->state[i] = f->state[p->in[i]];
        ret->role[i] = (uint8_t) (bound      ? (uint32_t) (call_role(c, i) - op->in)
                                  : i < last ? i
                                             : last);
    }
    return 0;
}

static void each_pair(const struct graph_facts *f, const struct operation *p, const struct op *op,
                      void (*pair)(const char *producer, const char *consumer, void *user),
                      void *user)
{
    for (uint32_t i = 0; i < p->n_in; i++)
        if (f->writer[p->in[i]])
            pair(f->writer[p->in[i]]->name, op->name, user);
}

static int each_cell(const struct example *e, uint32_t graph, struct arena *a,
                     void (*cell)(const struct randgraph_cell *c, void *user),
                     void (*pair)(const char *producer, const char *consumer, void *user),
                     void *user)
{
    struct graph_facts g;
    char types[TYPES_TEXT], options[OPTIONS_TEXT];

    TRY(graph_facts(e, graph, a, &g));
    for (uint32_t i = 0; i < g.g->n_operations; i++) {
        const struct operation *p = &g.g->operation[i];
        const struct op *op = op_find(p->code);
        struct arena_mark mark = arena_mark(a);
        struct call_facts facts;
        struct call_class class;
        if (!op)
            continue;
        TRY(call_facts(&g, p, op, a, &facts));
        class_of_call(&facts, &class);
        struct randgraph_cell c = cell_of(&facts, &class, types, options);
        cell(&c, user);
        each_pair(&g, p, op, pair, user);
        arena_rewind(a, mark);
    }
    return 0;
}

int randgraph_each_cell(const struct example *e, struct arena *scratch,
                        void (*cell)(const struct randgraph_cell *c, void *user),
                        void (*pair)(const char *producer, const char *consumer, void *user),
                        void *user)
{
    struct arena_mark mark = arena_mark(scratch);
    int rc = 0;

    for (uint32_t k = 0; rc == 0 && k < e->model.n_graphs; k++)
        rc = each_cell(e, k, scratch, cell, pair, user);
    arena_rewind(scratch, mark);
    return rc;
}
