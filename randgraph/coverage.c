/* Counts of what has been executed. */
#include "randgraph/coverage.h"

#include <stdlib.h>
#include <string.h>

#include "randgraph/coverage_internal.h"

const char *const randgraph_facet_name[RANDGRAPH_FACETS] = {
    [FACET_OPERATION] = "operation", [FACET_ROW] = "row",       [FACET_RANK] = "rank",
    [FACET_OPTION] = "option",       [FACET_VALUES] = "values", [FACET_NEIGHBOURS] = "neighbours",
};

uint32_t op_first_row(const struct rows *rows, int op, uint32_t *ret_first)
{
    uint32_t low = 0, high = rows->n_ids;

    while (low < high) { /* rows are sorted as op_table, by code */
        uint32_t at = (low + high) / 2;
        if (rows->by_id[at]->op->code < op_table[op]->code)
            low = at + 1;
        else
            high = at;
    }
    *ret_first = low;
    if (low == rows->n_ids || rows->by_id[low]->op != op_table[op])
        return 0;
    return (uint32_t) (op_table[op]->n_forms * op_table[op]->n_typings);
}

/* Whether form and typing row have these texts. */
static bool has_text(const struct row *row, const char *form, const char *types)
{
    char text[TYPES_TEXT];

    return !strcmp(form_text(&row->op->forms[row->form]), form) &&
           !strcmp(typing_text(row->op, &row->op->typings[row->typing], text), types);
}

/* The first row of the operation with these texts; UINT32_MAX: none. */
static uint32_t find_row(const struct rows *rows, int op, const char *form, const char *types)
{
    uint32_t first, n = op_first_row(rows, op, &first);

    for (uint32_t i = first; i < first + n; i++)
        if (has_text(rows->by_id[i], form, types))
            return i;
    return UINT32_MAX;
}

static int make_rows(struct randgraph_coverage *c)
{
    char types[TYPES_TEXT];

    for (uint32_t i = 0; i < c->rows->n_ids; i++) {
        const struct row *row = c->rows->by_id[i];
        typing_text(row->op, &row->op->typings[row->typing], types);
        c->repeated[i] =
            find_row(c->rows, op_index(row->op), form_text(&row->op->forms[row->form]), types) != i;
        c->row[i].option =
            arena_alloc(c->arena, (size_t) row->op->n_in + 1, sizeof *c->row[i].option);
        if (!c->row[i].option)
            return -1;
    }
    return 0;
}

struct randgraph_coverage *randgraph_coverage_new(void)
{
    struct arena *a = arena_new(0);
    struct randgraph_coverage *c = a ? arena_alloc(a, 1, sizeof *c) : NULL;
    size_t ops = (size_t) op_table_n;

    if (c)
        *c = (struct randgraph_coverage){ .arena = a, .rows = rows_get() };
    if (c && c->rows) {
        c->op = arena_alloc(a, ops, sizeof *c->op);
        c->next = arena_alloc(a, ops * ops, sizeof *c->next);
        c->row = arena_alloc(a, c->rows->n_ids, sizeof *c->row);
        c->repeated = arena_alloc(a, c->rows->n_ids, sizeof *c->repeated);
        if (c->op && c->next && c->row && c->repeated && make_rows(c) == 0)
            return c;
    }
    arena_free(a);
    return NULL;
}

void randgraph_coverage_free(struct randgraph_coverage *c)
{
    if (c)
        arena_free(c->arena);
}

/* ---- counting */

static void add(struct randgraph_count *to, struct randgraph_count n)
{
    to->ran += n.ran;
    to->not_run += n.not_run;
}

/* option: "padding=same stride_width=more". */
static void add_options(struct row_counts *row, const struct op *op, const char *options,
                        struct randgraph_count n)
{
    char copy[OPTIONS_TEXT], *rest = copy, *word;

    snprintf(copy, sizeof copy, "%s", options);
    while ((word = strsep(&rest, " "))) {
        char *value = strchr(word, '=');
        if (!value)
            continue;
        *value++ = 0;
        for (int i = 0; i < op->n_in; i++) {
            int class = strcmp(op->in[i].name, word) ? -1 : option_by_word(&op->in[i], value);
            if (class >= 0)
                add(&row->option[i][class], n);
        }
    }
}

static int find_op(const char *name)
{
    const struct op *op = op_by_name(name);

    return op ? op_index(op) : -1;
}

void randgraph_coverage_add(struct randgraph_coverage *c, const struct randgraph_cell *cell,
                            struct randgraph_count n)
{
    int op = find_op(cell->operation);
    uint32_t id = op < 0 ? UINT32_MAX : find_row(c->rows, op, cell->form, cell->types);

    if (op >= 0)
        add(&c->op[op], n);
    if (id == UINT32_MAX)
        return;
    struct row_counts *row = &c->row[id];
    add(&row->all, n);
    if (cell->rank < COVERAGE_RANKS)
        add(&row->rank[cell->rank], n);
    for (int v = 0; v < RANDGRAPH_VALUE_CLASSES; v++)
        if (!strcmp(randgraph_value_class[v], cell->values))
            add(&row->values[v], n);
    add_options(row, op_table[op], cell->options, n);
}

void randgraph_coverage_add_pair(struct randgraph_coverage *c, const char *producer,
                                 const char *consumer, struct randgraph_count n)
{
    int from = find_op(producer), to = find_op(consumer);

    if (from >= 0 && to >= 0)
        add(&c->next[from * op_table_n + to], n);
}

bool randgraph_coverage_is_empty(const struct randgraph_coverage *c)
{
    for (int i = 0; i < op_table_n; i++)
        if (c->op[i].ran || c->op[i].not_run)
            return false;
    return true;
}

/* ---- what there is */

struct listing {
    const struct randgraph_coverage *c;
    enum randgraph_facet facet;
    void (*each)(const struct randgraph_item *i, void *user);
    void *user;
};

static bool is_counted(const struct randgraph_count *n)
{
    return n->ran || n->not_run;
}

static void put_item(const struct listing *l, const struct row *row, const char *types,
                     const char *what, const struct randgraph_count *n)
{
    struct randgraph_item i = { .facet = l->facet,
                                .operation = row->op->name,
                                .form = form_text(&row->op->forms[row->form]),
                                .types = types,
                                .what = what,
                                .n = *n };
    l->each(&i, l->user);
}

static void put_ranks(const struct listing *l, const struct row *row, const char *types)
{
    const struct row_counts *counts = &l->c->row[row->id];
    const struct form *f = &row->op->forms[row->form];
    unsigned ranks = row->op->typings[row->typing].ranks;
    char what[8];

    if (row->pattern && f->role[0] == row->role)
        ranks &= 1u << row->pattern;
    for (unsigned r = 0; r < COVERAGE_RANKS; r++) {
        bool possible = (ranks >> r & 1) && r > 0;
        snprintf(what, sizeof what, "%u", r);
        if (possible || is_counted(&counts->rank[r]))
            put_item(l, row, types, what, &counts->rank[r]);
    }
}

static void put_options(const struct listing *l, const struct row *row, const char *types)
{
    const struct op *op = row->op;
    char what[128];

    for (int i = 0; i < op->n_in; i++) {
        unsigned possible =
            options_possible(op, &op->forms[row->form], &op->typings[row->typing], i);
        for (int k = 0; k < OPTION_CLASSES; k++) {
            const struct randgraph_count *n = &l->c->row[row->id].option[i][k];
            if (!(possible >> k & 1) && !is_counted(n))
                continue;
            snprintf(what, sizeof what, "%s=%s", op->in[i].name,
                     option_word(&op->in[i], (enum option_class) k));
            put_item(l, row, types, what, n);
        }
    }
}

static void put_values(const struct listing *l, const struct row *row, const char *types)
{
    unsigned possible = values_possible(row->op, &row->op->typings[row->typing]);

    for (int v = 0; v < RANDGRAPH_VALUE_CLASSES; v++) {
        const struct randgraph_count *n = &l->c->row[row->id].values[v];
        if ((possible >> v & 1) || is_counted(n))
            put_item(l, row, types, randgraph_value_class[v], n);
    }
}

static void put_rows(const struct listing *l)
{
    char types[TYPES_TEXT];

    for (uint32_t i = 0; i < l->c->rows->n_ids; i++) {
        const struct row *row = l->c->rows->by_id[i];
        if (l->c->repeated[i])
            continue;
        typing_text(row->op, &row->op->typings[row->typing], types);
        if (l->facet == FACET_ROW)
            put_item(l, row, types, "", &l->c->row[i].all);
        else if (l->facet == FACET_RANK)
            put_ranks(l, row, types);
        else if (l->facet == FACET_OPTION)
            put_options(l, row, types);
        else
            put_values(l, row, types);
    }
}

bool can_follow(const struct op *from, const struct op *to)
{
    uint32_t written = 0, read = 0;
    bool any = from->control_kind != CONTROL_NONE || to->control_kind != CONTROL_NONE;

    for (int t = 0; t < from->n_typings; t++)
        for (int i = 0; i < from->n_out; i++)
            written |= 1u << role_type(&from->out[i], &from->typings[t]);
    for (int t = 0; t < to->n_typings; t++)
        for (int i = 0; i < to->n_in; i++)
            read |= to->in[i].dims ? 1u << role_type(&to->in[i], &to->typings[t]) : 0;
    return any || (written & read);
}

static void put_neighbours(const struct listing *l)
{
    for (int p = 0; p < op_table_n; p++)
        for (int k = 0; k < op_table_n; k++) {
            struct randgraph_item i = { .facet = FACET_NEIGHBOURS,
                                        .operation = op_table[p]->name,
                                        .form = "",
                                        .types = "",
                                        .what = op_table[k]->name,
                                        .n = l->c->next[p * op_table_n + k] };
            bool possible =
                op_table[p]->error.kind != ERROR_RANDOM && can_follow(op_table[p], op_table[k]);
            if (possible || is_counted(&i.n))
                l->each(&i, l->user);
        }
}

void randgraph_coverage_each(const struct randgraph_coverage *c, enum randgraph_facet facet,
                             void (*each)(const struct randgraph_item *i, void *user), void *user)
{
    struct listing l = { c, facet, each, user };

    if (facet == FACET_NEIGHBOURS)
        put_neighbours(&l);
    else if (facet != FACET_OPERATION)
        put_rows(&l);
    for (int i = 0; facet == FACET_OPERATION && i < op_table_n; i++) {
        struct randgraph_item item = { .facet = facet,
                                       .operation = op_table[i]->name,
                                       .form = "",
                                       .types = "",
                                       .what = "",
                                       .n = c->op[i] };
        each(&item, user);
    }
}

/* ---- as text
 *
 * A facet begins with its name in brackets; an item of an operation, or of a row, is preceded by a
 * line with what it belongs to, unless that is the same as before:
 *
 *     [rank]
 *     =CONV_2D<tab>implicit padding<tab>TENSOR_FLOAT32,...
 *     4<tab>123<tab>0 */

struct writing {
    FILE *to;
    char place[2 * TYPES_TEXT]; /* the line that was written last */
};

static void write_item(const struct randgraph_item *i, void *user)
{
    struct writing *x = user;
    char place[2 * TYPES_TEXT];
    if (!is_counted(&i->n))
        return;
    snprintf(place, sizeof place, "=%s\t%s\t%s\n", i->operation, i->form, i->types);
    if (strcmp(place, x->place) != 0)
        fputs(strcpy(x->place, place), x->to);
    fprintf(x->to, "%s\t%llu\t%llu\n", i->what, (unsigned long long) i->n.ran,
            (unsigned long long) i->n.not_run);
}

int randgraph_coverage_write(const struct randgraph_coverage *c, FILE *to)
{
    for (int f = 0; f < RANDGRAPH_FACETS; f++) {
        struct writing x = { .to = to };
        fprintf(to, "[%s]\n", randgraph_facet_name[f]);
        randgraph_coverage_each(c, (enum randgraph_facet) f, write_item, &x);
    }
    return ferror(to) ? -1 : 0;
}

/* Where the items of the lines that are being read belong. */
struct place {
    int facet, op;
    int consumer;           /* the last one */
    struct row_counts *row; /* NULL: none */
};

/* line: "OPERATION<tab>FORM<tab>TYPES". */
static void read_place(struct randgraph_coverage *c, char *line, struct place *p)
{
    const char *operation = strsep(&line, "\t"), *form = strsep(&line, "\t");
    p->op = find_op(operation);
    p->consumer = -1;
    p->row = NULL;
    if (p->op < 0 || !form || !line || !*line)
        return;
    uint32_t id = find_row(c->rows, p->op, form, line);
    p->row = id == UINT32_MAX ? NULL : &c->row[id];
}

/* The operation of that name: mostly the one after the last one, as items have the order of the
 * catalogue. */
static int find_next_op(const char *name, struct place *p)
{
    for (int i = p->consumer + 1; i < op_table_n && i <= p->consumer + 4; i++)
        if (!strcmp(op_table[i]->name, name))
            return p->consumer = i;
    int found = find_op(name);
    p->consumer = found < 0 ? p->consumer : found;
    return found;
}

static void add_item(struct randgraph_coverage *c, struct place *p, const char *what,
                     struct randgraph_count n)
{
    const int rank = atoi(what);
    if (p->op < 0)
        return;
    if (p->facet == FACET_OPERATION)
        add(&c->op[p->op], n);
    int consumer = p->facet == FACET_NEIGHBOURS ? find_next_op(what, p) : -1;
    if (consumer >= 0)
        add(&c->next[p->op * op_table_n + consumer], n);
    if (!p->row)
        return;
    if (p->facet == FACET_ROW)
        add(&p->row->all, n);
    if (p->facet == FACET_RANK && rank >= 0 && rank < COVERAGE_RANKS)
        add(&p->row->rank[rank], n);
    for (int v = 0; p->facet == FACET_VALUES && v < RANDGRAPH_VALUE_CLASSES; v++)
        if (!strcmp(randgraph_value_class[v], what))
            add(&p->row->values[v], n);
    if (p->facet == FACET_OPTION)
        add_options(p->row, op_table[p->op], what, n);
}

int randgraph_coverage_read(struct randgraph_coverage *c, const char *text, struct why *w)
{
    char line[2 * TYPES_TEXT + OPTIONS_TEXT];
    struct place p = { .facet = -1, .op = -1, .consumer = -1 };
    for (const char *at = text, *end; *at; at = end + (*end == '\n')) {
        end = at + strcspn(at, "\n");
        REQUIRE(w, (size_t) (end - at) < sizeof line, "coverage: a line of %zu bytes",
                (size_t) (end - at));
        memcpy(line, at, (size_t) (end - at));
        line[end - at] = 0;
        if (*line == '[') {
            line[strcspn(line, "]")] = 0;
            for (p.facet = RANDGRAPH_FACETS - 1;
                 p.facet >= 0 && strcmp(randgraph_facet_name[p.facet], line + 1) != 0; p.facet--)
                ;
            continue;
        }
        if (*line == '=') {
            read_place(c, line + 1, &p);
            continue;
        }
        char *tab = strchr(line, '\t'), *second = tab ? strchr(tab + 1, '\t') : NULL;
        REQUIRE(w, second, "coverage: '%.60s' is not an item with two counts", line);
        *tab = 0;
        add_item(c, &p, line,
                 (struct randgraph_count){ strtoull(tab + 1, NULL, 10),
                                           strtoull(second + 1, NULL, 10) });
    }
    return 0;
}
