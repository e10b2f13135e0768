/* Weights by the counts of what has been executed, their text, and what is drawn by them.
 *
 *     halcyon-steering 1
 *     ADD 2 rows=3343 values=333336333 option.activation=33013333 next=33333...
 *     CONV_2D 4
 *
 * Each operation has a level from 0 to 6: its weight is 2^level times its share (grow_share()), and
 * 3 is that of an operation that was executed as often as the mean of all (count_by_share()).  Its
 * rows, ranks, classes of values, options and the operations that read its results have levels
 * relative to each other, one digit each, in the order of the catalogue; those that are not listed
 * are all 3. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/math/farmhash.h"
#include "randgraph/coverage_internal.h"

/* MOST_LEVEL: of an operation and its neighbour together, so that the sum of all weights fits. */
enum { LEVELS = 7, MEAN_LEVEL = 3, MOST_LEVEL = 11 };

/* The levels of one operation. */
struct op_levels {
    uint8_t op, rank[COVERAGE_RANKS], values[RANDGRAPH_VALUE_CLASSES];
    uint8_t (*option)[OPTION_CLASSES]; /* by role */
    uint8_t *row;                      /* by id, from first_row on */
    uint8_t *next;                     /* by index in op_table */
    uint32_t first_row, n_rows;
};

struct randgraph_steering {
    struct arena *arena; /* owns it all */
    struct op_levels *op;
    uint8_t *op_of; /* by row: index in op_table */
    const char *text;
};

/* All levels are those of the mean.  NULL: out of memory. */
static struct randgraph_steering *steering_alloc(void)
{
    const struct rows *rows = rows_get();
    struct arena *a = rows ? arena_new(0) : NULL;
    struct randgraph_steering *s = a ? arena_alloc(a, 1, sizeof *s) : NULL;
    bool ok = s != NULL;

    if (ok) {
        s->arena = a;
        s->op = arena_alloc(a, (size_t) op_table_n, sizeof *s->op);
        s->op_of = arena_alloc(a, rows->n_ids + 1, 1);
        ok = s->op && s->op_of;
    }
    for (int i = 0; ok && i < op_table_n; i++) {
        struct op_levels *l = &s->op[i];
        size_t roles = (size_t) op_table[i]->n_in + 1;
        l->n_rows = op_first_row(rows, i, &l->first_row);
        l->option = arena_alloc(a, roles, sizeof *l->option);
        l->row = arena_alloc(a, l->n_rows + 1, 1);
        l->next = arena_alloc(a, (size_t) op_table_n, 1);
        if (!l->option || !l->row || !l->next) {
            ok = false;
            break;
        }
        l->op = MEAN_LEVEL;
        memset(l->rank, MEAN_LEVEL, sizeof l->rank);
        memset(l->values, MEAN_LEVEL, sizeof l->values);
        memset(l->option, MEAN_LEVEL, roles * sizeof *l->option);
        memset(l->row, MEAN_LEVEL, l->n_rows);
        memset(l->next, MEAN_LEVEL, (size_t) op_table_n);
        for (uint32_t k = 0; k < l->n_rows; k++)
            s->op_of[l->first_row + k] = (uint8_t) i;
    }
    if (ok)
        return s;
    arena_free(a);
    return NULL;
}

void randgraph_steering_free(const struct randgraph_steering *s)
{
    if (s)
        arena_free(s->arena);
}

/* ---- from counts */

enum { MOST_GROUP = 512 };

/* Things of which the weights are relative to each other. */
struct group {
    uint8_t *level[MOST_GROUP];
    uint64_t n[MOST_GROUP];
    uint32_t size;
};

static uint64_t drawn(const struct randgraph_count *n)
{
    return n->ran + n->not_run;
}

static void join(struct group *g, uint8_t *level, uint64_t n)
{
    if (g->size == MOST_GROUP)
        return;
    g->level[g->size] = level;
    g->n[g->size++] = n;
}

/* Sets the levels of the group; it is empty then. */
static void set_levels(struct group *g)
{
    double sum = 0;

    for (uint32_t i = 0; i < g->size; i++)
        sum += (double) g->n[i];
    for (uint32_t i = 0; i < g->size; i++) {
        double ratio = (sum / g->size + 1) / ((double) g->n[i] + 1);
        uint8_t level = 0;
        /* to the nearest power of two, without a logarithm that libraries could round otherwise */
        for (double step = 0x1p-5; level < LEVELS - 1 && ratio * ratio >= step; step *= 4)
            level++;
        *g->level[i] = level;
    }
    g->size = 0;
}

/* The counts of an operation, summed over its rows, give levels that hold for all of them. */
static void set_classes(const struct randgraph_coverage *c, struct op_levels *l,
                        const struct op *op, struct group *g)
{
    unsigned ranks = 0, values = 0, options[MAX_ROLES] = { 0 };
    struct row_counts sum = { .option = NULL };
    uint64_t option[MAX_ROLES][OPTION_CLASSES] = { { 0 } };

    for (uint32_t k = l->first_row; k < l->first_row + l->n_rows; k++) {
        const struct row *row = c->rows->by_id[k];
        const struct typing *t = &op->typings[row->typing];
        ranks |= t->ranks & ~1u;
        values |= values_possible(op, t);
        for (int i = 0; i < COVERAGE_RANKS; i++)
            sum.rank[i].ran += drawn(&c->row[k].rank[i]);
        for (int i = 0; i < RANDGRAPH_VALUE_CLASSES; i++)
            sum.values[i].ran += drawn(&c->row[k].values[i]);
        for (int i = 0; i < op->n_in; i++) {
            options[i] |= options_possible(op, &op->forms[row->form], t, i);
            for (int v = 0; v < OPTION_CLASSES; v++)
                option[i][v] += drawn(&c->row[k].option[i][v]);
        }
    }
    for (int i = 0; i < COVERAGE_RANKS; i++)
        if ((ranks >> i & 1) || sum.rank[i].ran)
            join(g, &l->rank[i], sum.rank[i].ran);
    set_levels(g);
    for (int i = 0; i < RANDGRAPH_VALUE_CLASSES; i++)
        if ((values >> i & 1) || sum.values[i].ran)
            join(g, &l->values[i], sum.values[i].ran);
    set_levels(g);
    for (int i = 0; i < op->n_in; i++) {
        for (int v = 0; v < OPTION_CLASSES; v++)
            if ((options[i] >> v & 1) || option[i][v])
                join(g, &l->option[i][v], option[i][v]);
        set_levels(g);
    }
}

/* Whether a row can be drawn; without a support set all can. */
static bool is_drawn(const struct randgraph_support *support, uint32_t id)
{
    return !support || support_row(support, id);
}

static bool op_is_drawn(const struct randgraph_support *support, const struct op_levels *l)
{
    for (uint32_t k = 0; k < l->n_rows; k++)
        if (is_drawn(support, l->first_row + k))
            return true;
    return false;
}

/* What the count of an operation amounts to beside those of others: it is to be drawn more often,
 * but each of its rows less often, the more rows it has. */
static uint64_t count_by_share(const struct op *op, uint64_t n)
{
    return (uint64_t) ((double) n * sqrt((double) MOST_SHARE / grow_share(op)));
}

static void set_all(const struct randgraph_coverage *c, const struct randgraph_support *support,
                    struct randgraph_steering *s)
{
    struct group g = { .size = 0 };

    for (int i = 0; i < op_table_n; i++)
        if (op_is_drawn(support, &s->op[i]))
            join(&g, &s->op[i].op, count_by_share(op_table[i], drawn(&c->op[i])));
    set_levels(&g);
    for (int i = 0; i < op_table_n; i++) {
        struct op_levels *l = &s->op[i];
        for (uint32_t k = 0; k < l->n_rows; k++)
            if (is_drawn(support, l->first_row + k) && !c->repeated[l->first_row + k])
                join(&g, &l->row[k], drawn(&c->row[l->first_row + k].all));
        set_levels(&g);
        for (int k = 0; k < op_table_n; k++)
            if (op_is_drawn(support, &s->op[k]) && can_follow(op_table[i], op_table[k]))
                join(&g, &l->next[k], drawn(&c->next[i * op_table_n + k]));
        set_levels(&g);
        set_classes(c, l, op_table[i], &g);
    }
}

/* ---- as text */

static void put_digits(FILE *f, const char *name, const char *role, const uint8_t *level, size_t n)
{
    size_t mean = 0;

    for (size_t i = 0; i < n; i++)
        mean += level[i] == MEAN_LEVEL;
    if (mean == n)
        return;
    fprintf(f, " %s%s=", name, role);
    for (size_t i = 0; i < n; i++)
        putc('0' + level[i], f);
}

/* In the arena of the set.  NULL: out of memory. */
static char *steering_write(const struct randgraph_steering *s)
{
    char *text = NULL, *kept = NULL;
    size_t size;
    FILE *f = open_memstream(&text, &size);

    if (!f)
        return NULL;
    fputs("halcyon-steering 1\n", f);
    for (int i = 0; i < op_table_n; i++) {
        const struct op_levels *l = &s->op[i];
        fprintf(f, "%s %d", op_table[i]->name, l->op);
        put_digits(f, "rows", "", l->row, l->n_rows);
        put_digits(f, "ranks", "", l->rank, COVERAGE_RANKS);
        put_digits(f, "values", "", l->values, RANDGRAPH_VALUE_CLASSES);
        for (int k = 0; k < op_table[i]->n_in; k++)
            put_digits(f, "option.", op_table[i]->in[k].name, l->option[k], OPTION_CLASSES);
        put_digits(f, "next", "", l->next, (size_t) op_table_n);
        putc('\n', f);
    }
    if (fclose(f) == 0)
        kept = arena_strdup(s->arena, text);
    free(text);
    return kept;
}

int randgraph_steering_new(const struct randgraph_coverage *c,
                           const struct randgraph_support *support,
                           struct randgraph_steering **ret_steering, struct why *w)
{
    struct randgraph_steering *s = steering_alloc();

    if (s) {
        set_all(c, support, s);
        s->text = steering_write(s);
    }
    if (!s || !s->text) {
        randgraph_steering_free(s);
        return why_no_memory(w);
    }
    *ret_steering = s;
    return 0;
}

const char *randgraph_steering_text(const struct randgraph_steering *s)
{
    return s->text;
}

uint64_t randgraph_steering_digest(const struct randgraph_steering *s)
{
    uint64_t digest = farmhash64(s->text, strlen(s->text));

    return digest ? digest : 1;
}

static int parse_digits(const char *text, uint8_t *level, size_t n, struct why *w)
{
    REQUIRE(w, strlen(text) == n && strspn(text, "0123456") == n, "expected %zu digits from 0 to 6",
            n);
    for (size_t i = 0; i < n; i++)
        level[i] = (uint8_t) (text[i] - '0');
    return 0;
}

static int parse_word(char *word, const struct op *op, struct op_levels *l, struct why *w)
{
    char *digits = strchr(word, '=');

    REQUIRE(w, digits, "expected NAME=LEVELS, found '%s'", word);
    *digits++ = 0;
    if (!strcmp(word, "rows"))
        return parse_digits(digits, l->row, l->n_rows, w);
    if (!strcmp(word, "ranks"))
        return parse_digits(digits, l->rank, COVERAGE_RANKS, w);
    if (!strcmp(word, "values"))
        return parse_digits(digits, l->values, RANDGRAPH_VALUE_CLASSES, w);
    if (!strcmp(word, "next"))
        return parse_digits(digits, l->next, (size_t) op_table_n, w);
    for (int k = 0; !strncmp(word, "option.", 7) && k < op->n_in; k++)
        if (!strcmp(word + 7, op->in[k].name))
            return parse_digits(digits, l->option[k], OPTION_CLASSES, w);
    return why_fail(w, WHY_INVALID, "unknown name '%s'", word);
}

static int parse_line(char *line, int number, struct randgraph_steering *s, struct why *w)
{
    char *name = number ? strsep(&line, " ") : line, *level;
    const struct op *op = number ? op_by_name(name) : NULL;

    if (number == 0) {
        REQUIRE(w, !strcmp(name, "halcyon-steering 1"), "expected 'halcyon-steering 1', found '%s'",
                name);
        return 0;
    }
    REQUIRE(w, op && line, "expected OPERATION LEVEL, found '%s'", name);
    struct op_levels *l = &s->op[op_index(op)];
    level = strsep(&line, " ");
    TRY(parse_digits(level, &l->op, 1, w));
    for (char *word; (word = strsep(&line, " "));)
        if (parse_word(word, op, l, w) < 0)
            return why_prefix(w, "%s", op->name);
    return 0;
}

static int read_lines(char *text, struct randgraph_steering *s, struct why *w)
{
    char *line;

    for (int number = 0; (line = strsep(&text, "\n")) && (text || *line); number++)
        if (parse_line(line, number, s, w) < 0)
            return why_prefix(w, "line %d", number + 1);
    return 0;
}

int randgraph_steering_parse(const char *text, struct randgraph_steering **ret_steering,
                             struct why *w)
{
    struct randgraph_steering *s = steering_alloc();
    char *copy = strdup(text);
    int rc = s && copy ? read_lines(copy, s, w) : why_no_memory(w);

    free(copy);
    if (rc == 0 && !(s->text = steering_write(s)))
        rc = why_no_memory(w);
    if (rc == 0 && strcmp(s->text, text) != 0)
        rc = why_fail(w, WHY_INVALID, "not as this version of Halcyon writes it");
    if (rc < 0) {
        randgraph_steering_free(s);
        return -1;
    }
    *ret_steering = s;
    return 0;
}

/* ---- drawing */

const struct row *steer_row(struct builder *b, const struct op_rows *rows)
{
    const struct randgraph_steering *s = b->options->steering;
    uint32_t weight[MOST_GROUP], n = rows->n < MOST_GROUP ? rows->n : MOST_GROUP;

    for (uint32_t i = 0; i < n; i++) {
        const struct op_levels *l = &s->op[s->op_of[rows->row[i].id]];
        weight[i] = 1u << l->row[rows->row[i].id - l->first_row];
    }
    return &rows->row[draw_weighted(b->rng, weight, n)];
}

const struct op_rows *steer_op(struct builder *b, const struct op_list *list)
{
    const struct randgraph_steering *s = b->options->steering;
    const uint8_t *next = b->follows ? s->op[op_index(b->follows)].next : NULL;
    uint32_t weight[MOST_GROUP], n = list->n < MOST_GROUP ? list->n : MOST_GROUP;

    for (uint32_t i = 0; i < n; i++) {
        int op = s->op_of[list->op[i].row[0].id];
        uint32_t level = (uint32_t) s->op[op].op + (next ? next[op] : 0);
        weight[i] = randgraph_weight_of(b->weights, op_table[op])
                    << (level < MOST_LEVEL ? level : MOST_LEVEL);
    }
    return n ? &list->op[draw_weighted(b->rng, weight, n)] : NULL;
}

/* A row that a graph or another chain can begin with, and the type of its first tensor. */
struct beginning {
    const struct row *row;
    enum dtype type;
};

static bool type_is_usable(const struct randgraph_options *o, int type)
{
    return dtype_info[type].since <= o->max_level && (!o->dtypes || (o->dtypes >> type & 1));
}

/* Marks the operations that can begin, by index in op_table. */
static void mark_beginning(const struct builder *b, bool any[MOST_GROUP])
{
    const struct randgraph_options *o = b->options;

    for (int t = 0; t < DT_COUNT; t++) {
        const struct op_list *list = &b->rows->first[t];
        for (uint32_t i = 0; type_is_usable(o, t) && i < list->n; i++)
            for (uint32_t k = 0; k < list->op[i].n; k++)
                if (list->op[i].row[k].level <= o->max_level)
                    any[o->steering->op_of[list->op[i].row[k].id]] = true;
    }
}

/* The rows of the types, bit per type, with which the operation can begin. */
static uint32_t beginnings_of(const struct builder *b, const struct op *op, uint32_t types,
                              struct beginning *ret)
{
    uint32_t n = 0;

    for (int t = 0; t < DT_COUNT; t++) {
        const struct op_list *list = &b->rows->first[t];
        bool usable = (types >> t & 1) && type_is_usable(b->options, t);
        for (uint32_t i = 0; usable && i < list->n; i++)
            for (uint32_t k = 0; list->op[i].op == op && k < list->op[i].n; k++)
                if (list->op[i].row[k].level <= b->options->max_level && n < MOST_GROUP)
                    ret[n++] = (struct beginning){ &list->op[i].row[k], (enum dtype) t };
    }
    return n;
}

const struct op *steer_first(struct builder *b)
{
    const struct randgraph_steering *s = b->options->steering;
    bool any[MOST_GROUP] = { false };
    uint32_t weight[MOST_GROUP] = { 0 };
    struct beginning begin[MOST_GROUP];

    mark_beginning(b, any);
    for (int i = 0; i < op_table_n; i++)
        if (any[i] && randgraph_weight_of(b->weights, op_table[i]))
            weight[i] = grow_share(op_table[i]) << s->op[i].op;
    uint32_t i = draw_weighted(b->rng, weight, (uint32_t) op_table_n);
    uint32_t n = weight[i] ? beginnings_of(b, op_table[i], b->types, begin) : 0;
    if (weight[i] && n == 0)
        n = beginnings_of(b, op_table[i], UINT32_MAX, begin);
    if (n == 0)
        return NULL;
    for (uint32_t k = 0; k < n; k++) {
        const struct op_levels *l = &s->op[i];
        weight[k] = 1u << l->row[begin[k].row->id - l->first_row];
    }
    const struct beginning *chosen = &begin[draw_weighted(b->rng, weight, n)];
    b->first_row = chosen->row;
    b->first_type = chosen->type;
    return op_table[i];
}

bool steer_keeps(const struct draft *d)
{
    const struct builder *b = d->b;
    const struct op_levels *l = &b->options->steering->op[op_index(d->op)];
    struct call_facts f = { .op = d->op, .form = d->form, .typing = d->typing, .n_in = d->n_in };
    struct call_class c;

    for (uint32_t i = 0; i < d->n_in; i++) {
        enum lifetime life = d->in[i] ? d->in[i]->life : LIFE_NO_VALUE;
        f.arg[i] = d->arg[i];
        f.role[i] = d->role[i];
        f.state[i] = !d->in[i]                    ? OPERAND_OMITTED
                     : life == LIFE_CONSTANT_COPY ? OPERAND_CONSTANT
                     : life == LIFE_INPUT         ? OPERAND_INPUT
                                                  : OPERAND_RESULT;
    }
    class_of_call(&f, &c);
    uint8_t least = l->rank[c.rank] < l->values[c.values] ? l->rank[c.rank] : l->values[c.values];
    for (int i = 0; i < d->op->n_in; i++)
        if (c.option[i] != NO_OPTION && l->option[i][c.option[i]] < least)
            least = l->option[i][c.option[i]];
    return least >= MEAN_LEVEL || rng_below(b->rng, 1u << (MEAN_LEVEL - least)) == 0;
}
