/* Counts of what has been executed. */
#include "randgraph/coverage.h"

#include <ctype.h>
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
 * A facet begins with its name in brackets.  A line with what items belong to, their place, is
 * before them; a place that was written before is '#', if it is the one after the last place, or
 * '#N', N further.  The counts follow at the end, in the order of the items: one with the next one
 * compresses better than each beside its item.
 *
 *     [row]
 *     =CONV_2D<tab>implicit padding<tab>TENSOR_FLOAT32,...
 *
 *     [rank]
 *     #-1
 *     4
 *     [counts]
 *     123             how often it ran
 *     119 4           also, how often it was not run */

static const char counts_mark[] = "[counts]\n";

struct writing {
    FILE *names, *counts;
    struct arena *places;
    const char **place; /* [n_places] that were written */
    uint32_t n_places, capacity;
    uint32_t last; /* the place that was written last */
    bool failed;
};

static void write_new_place(struct writing *x, const char *place)
{
    if (x->n_places == x->capacity) {
        uint32_t capacity = x->capacity ? 2 * x->capacity : 1024;
        const char **more = realloc(x->place, capacity * sizeof *more);
        x->failed = x->failed || !more;
        if (!more)
            return;
        x->place = more;
        x->capacity = capacity;
    }
    char *copy = arena_strdup(x->places, place);
    x->failed = x->failed || !copy;
    if (copy)
        x->place[x->last = x->n_places++] = copy;
    fprintf(x->names, "=%s\n", place);
}

static void write_place(struct writing *x, const char *place)
{
    for (uint32_t i = 0; i < x->n_places; i++) { /* from the last one on */
        const uint32_t at = (x->last + i) % x->n_places;
        if (strcmp(x->place[at], place) != 0)
            continue;
        if (at == x->last + 1)
            fputs("#\n", x->names);
        else if (at != x->last)
            fprintf(x->names, "#%d\n", (int) at - (int) x->last);
        x->last = at;
        return;
    }
    write_new_place(x, place);
}

static void write_item(const struct randgraph_item *i, void *user)
{
    struct writing *x = user;
    char place[2 * TYPES_TEXT];
    if (!is_counted(&i->n) || x->failed)
        return;
    snprintf(place, sizeof place, "%s\t%s\t%s", i->operation, i->form, i->types);
    write_place(x, place);
    fprintf(x->names, "%s\n", i->what);
    fprintf(x->counts, "%llu", (unsigned long long) i->n.ran);
    if (i->n.not_run)
        fprintf(x->counts, " %llu", (unsigned long long) i->n.not_run);
    fputc('\n', x->counts);
}

int randgraph_coverage_write(const struct randgraph_coverage *c, FILE *to)
{
    char *counts = NULL;
    size_t length = 0;
    struct writing x = { .names = to,
                         .counts = open_memstream(&counts, &length),
                         .places = arena_new(0) };
    x.failed = !x.counts || !x.places;
    for (int f = 0; f < RANDGRAPH_FACETS && !x.failed; f++) {
        fprintf(to, "[%s]\n", randgraph_facet_name[f]);
        randgraph_coverage_each(c, (enum randgraph_facet) f, write_item, &x);
    }
    if (x.counts && fclose(x.counts) != 0)
        x.failed = true;
    if (!x.failed)
        fprintf(to, "%s%s", counts_mark, counts);
    free(counts);
    free(x.place);
    arena_free(x.places);
    return x.failed || ferror(to) ? -1 : 0;
}

/* Where the items of the lines that are being read belong. */
struct place {
    int op;
    struct row_counts *row; /* NULL: none */
};
struct reading {
    struct randgraph_coverage *c;
    int facet;    /* -1: not known */
    int consumer; /* the last one */
    struct place *place;
    uint32_t n_places, capacity;
    uint32_t next_row;  /* after that of the last place */
    int64_t at;         /* the present place; -1: none */
    const char *counts; /* the next one */
};

/* line: "OPERATION<tab>FORM<tab>TYPES". */
static int read_place(struct reading *r, char *line, struct why *w)
{
    const char *operation = strsep(&line, "\t"), *form = strsep(&line, "\t");
    if (r->n_places == r->capacity) {
        uint32_t capacity = r->capacity ? 2 * r->capacity : 1024;
        struct place *more = realloc(r->place, capacity * sizeof *more);
        if (!more)
            return why_no_memory(w);
        r->place = more;
        r->capacity = capacity;
    }
    struct place *p = &r->place[r->at = r->n_places++];
    *p = (struct place){ .op = find_op(operation) };
    if (p->op < 0 || !form || !line || !*line)
        return 0;
    const struct rows *rows = r->c->rows;
    uint32_t id = r->next_row; /* mostly, as rows have the order of the catalogue */
    if (id >= rows->n_ids || rows->by_id[id]->op != op_table[p->op] || r->c->repeated[id] ||
        !has_text(rows->by_id[id], form, line))
        id = find_row(rows, p->op, form, line);
    p->row = id == UINT32_MAX ? NULL : &r->c->row[id];
    r->next_row = id + 1;
    return 0;
}

/* The operation of that name: mostly the one after the last one, as items have the order of the
 * catalogue. */
static int find_next_op(const char *name, struct reading *r)
{
    for (int i = r->consumer + 1; i < op_table_n && i <= r->consumer + 4; i++)
        if (!strcmp(op_table[i]->name, name))
            return r->consumer = i;
    int found = find_op(name);
    r->consumer = found < 0 ? r->consumer : found;
    return found;
}

static void add_item(struct reading *r, const struct place *p, const char *what,
                     struct randgraph_count n)
{
    struct randgraph_coverage *c = r->c;
    const int rank = atoi(what);
    if (p->op < 0)
        return;
    if (r->facet == FACET_OPERATION)
        add(&c->op[p->op], n);
    int consumer = r->facet == FACET_NEIGHBOURS ? find_next_op(what, r) : -1;
    if (consumer >= 0)
        add(&c->next[p->op * op_table_n + consumer], n);
    if (!p->row)
        return;
    if (r->facet == FACET_ROW)
        add(&p->row->all, n);
    if (r->facet == FACET_RANK && rank >= 0 && rank < COVERAGE_RANKS)
        add(&p->row->rank[rank], n);
    for (int v = 0; r->facet == FACET_VALUES && v < RANDGRAPH_VALUE_CLASSES; v++)
        if (!strcmp(randgraph_value_class[v], what))
            add(&p->row->values[v], n);
    if (r->facet == FACET_OPTION)
        add_options(p->row, op_table[p->op], what, n);
}

static int read_item(struct reading *r, const char *what, struct why *w)
{
    char *end;
    REQUIRE(w, r->at >= 0, "coverage: '%.60s' belongs to nothing", what);
    REQUIRE(w, isdigit((unsigned char) *r->counts), "coverage: '%.60s' has no count", what);
    struct randgraph_count n = { .ran = strtoull(r->counts, &end, 10) };
    if (*end == ' ')
        n.not_run = strtoull(end, &end, 10);
    REQUIRE(w, *end == '\n', "coverage: '%.20s' is not a count, or two", r->counts);
    r->counts = end + 1;
    add_item(r, &r->place[r->at], what, n);
    return 0;
}

static int read_line(struct reading *r, char *line, struct why *w)
{
    if (*line == '[') {
        line[strcspn(line, "]")] = 0;
        for (r->facet = RANDGRAPH_FACETS - 1;
             r->facet >= 0 && strcmp(randgraph_facet_name[r->facet], line + 1) != 0; r->facet--)
            ;
        return 0;
    }
    if (*line != '=' && *line != '#')
        return read_item(r, line, w);
    r->consumer = -1;
    if (*line == '=')
        return read_place(r, line + 1, w);
    const int64_t by = line[1] ? strtol(line + 1, NULL, 10) : 1, n = r->n_places;
    REQUIRE(w, by > -n && by < n && r->at + by >= 0 && r->at + by < n,
            "coverage: '%.60s' leads to no place", line);
    r->at += by;
    return 0;
}

int randgraph_coverage_read(struct randgraph_coverage *c, const char *text, struct why *w)
{
    char line[2 * TYPES_TEXT + OPTIONS_TEXT];
    const char *mark = strstr(text, counts_mark);
    struct reading r = { .c = c, .facet = -1, .consumer = -1, .at = -1 };
    int failed = 0;
    REQUIRE(w, mark || !*text, "coverage: no counts");
    r.counts = mark ? mark + strlen(counts_mark) : text;
    for (const char *at = text, *end; !failed && at < mark; at = end + 1) {
        end = strchr(at, '\n'); /* there is one, as the mark begins a line */
        if ((size_t) (end - at) >= sizeof line) {
            failed = why_fail(w, WHY_INVALID, "coverage: a line of %zu bytes", (size_t) (end - at));
            continue;
        }
        memcpy(line, at, (size_t) (end - at));
        line[end - at] = 0;
        failed = read_line(&r, line, w);
    }
    free(r.place);
    return failed;
}
