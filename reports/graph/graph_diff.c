#include "reports/graph/graph_diff.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "golden/base/text_escape.h"
#include "golden/math/farmhash.h"
#include "reports/graph/graph_parts.h"

enum { MOST_CELLS = 64 * 1000 * 1000 };

/* A comparison in progress. */
struct comparing {
    const struct model *a, *b;
    struct graph_pair *p;
    struct arena *arena;
    char *text;  /* of the operation or graph: lines so far */
    bool failed; /* out of memory */
};

__attribute__((format(printf, 2, 3))) static void add_line(struct comparing *c, const char *fmt,
                                                           ...)
{
    char line[640];
    va_list args;
    va_start(args, fmt);
    vsnprintf(line, sizeof line, fmt, args);
    va_end(args);
    text_clean(line);
    c->text =
        c->text ? arena_printf(c->arena, "%s\n%s", c->text, line) : arena_strdup(c->arena, line);
    c->failed = c->failed || !c->text;
}

/* ---- pairing */

/* What operations are compared by, the most telling first. */
struct looks {
    uint64_t all, attributes, shapes, name;
};

static uint64_t mix(uint64_t hash, const void *bytes, size_t n)
{
    return farmhash64(bytes, n) + hash * 0x9e3779b97f4a7c15u;
}

static struct looks looks_of(const struct graph *g, const struct operation *p)
{
    struct looks l = { 1, 1, 1, 0 };
    for (uint32_t k = 0; k < p->n_in + p->n_out; k++) {
        const struct operand *o = &g->operand[k < p->n_in ? p->in[k] : p->out[k - p->n_in]];
        uint32_t type[2] = { (uint32_t) o->tensor.dtype, o->tensor.shape.rank };
        l.shapes = mix(l.shapes, type, sizeof type);
        l.shapes = mix(l.shapes, o->tensor.shape.dim, type[1] * sizeof(uint32_t));
        if (operand_is_scalar(o) && o->tensor.data)
            l.attributes = mix(l.attributes, o->tensor.data, o->length);
        else if (operand_constant(o) && o->tensor.data)
            l.all = mix(l.all, o->tensor.data, o->length);
        float scale = o->tensor.scale;
        l.all = mix(l.all, &scale, sizeof scale);
        l.all = mix(l.all, &o->tensor.zero, sizeof o->tensor.zero);
        if (k == p->n_in && o->name && *o->name)
            l.name = mix(1, o->name, strlen(o->name));
    }
    l.all = mix(l.all, &l.attributes, sizeof l.attributes);
    l.all = mix(l.all, &l.shapes, sizeof l.shapes);
    return l;
}

static struct looks *all_looks(const struct graph *g)
{
    struct looks *l = calloc((size_t) g->n_operations + 1, sizeof *l);
    for (uint32_t i = 0; l && i < g->n_operations; i++)
        l[i] = looks_of(g, &g->operation[i]);
    return l;
}

/* 0: no pair. */
static uint32_t likeness(const struct graph_pair *p, const struct looks *a, const struct looks *b,
                         uint32_t i, uint32_t k)
{
    if (p->a->operation[i].code != p->b->operation[k].code)
        return 0;
    return 2u + (a[i].all == b[k].all ? 4 : 0) + (a[i].attributes == b[k].attributes ? 2 : 0) +
           (a[i].shapes == b[k].shapes ? 1 : 0) + (a[i].name && a[i].name == b[k].name ? 3 : 0);
}

static bool is_equal(const struct graph_pair *p, const struct looks *a, const struct looks *b,
                     uint32_t i, uint32_t k)
{
    return p->a->operation[i].code == p->b->operation[k].code && a[i].all == b[k].all;
}

static void make_pair(struct graph_pair *p, uint32_t i, uint32_t k)
{
    p->to_b[i] = k;
    p->to_a[k] = i;
}

/* The pairs with the greatest likeness in all that keep the order, of a's operations from..to_a and
 * b's from..to_b: a table of the best sum for each two beginnings. */
static int pair_rest(struct graph_pair *p, const struct looks *a, const struct looks *b,
                     uint32_t from, uint32_t end_a, uint32_t end_b, struct why *w)
{
    const size_t n = end_a - from, m = end_b - from, width = m + 1;
    if (n && m && n > MOST_CELLS / m)
        return why_fail(w, WHY_UNSUPPORTED,
                        "%zu and %zu operations differ; at most %d pairs of them are compared", n,
                        m, MOST_CELLS);
    uint32_t *best = calloc((n + 1) * width, sizeof *best);
    if (!best)
        return why_no_memory_for(w, "%zu times %zu operations", n, m);
    for (size_t i = n; i-- > 0;)
        for (size_t k = m; k-- > 0;) {
            uint32_t like = likeness(p, a, b, from + (uint32_t) i, from + (uint32_t) k);
            uint32_t skip = best[(i + 1) * width + k], other = best[i * width + k + 1];
            uint32_t both = like ? like + best[(i + 1) * width + k + 1] : 0;
            skip = skip > other ? skip : other;
            best[i * width + k] = both > skip ? both : skip;
        }
    for (size_t i = 0, k = 0; i < n && k < m;) {
        uint32_t like = likeness(p, a, b, from + (uint32_t) i, from + (uint32_t) k);
        if (like && best[i * width + k] == like + best[(i + 1) * width + k + 1])
            make_pair(p, from + (uint32_t) i++, from + (uint32_t) k++);
        else if (best[i * width + k] == best[(i + 1) * width + k])
            i++;
        else
            k++;
    }
    free(best);
    return 0;
}

static int pair_operations(struct graph_pair *p, struct why *w)
{
    struct looks *a = all_looks(p->a), *b = all_looks(p->b);
    uint32_t from = 0, end_a = p->a->n_operations, end_b = p->b->n_operations;
    int failed = a && b ? 0 : why_no_memory(w);
    while (!failed && from < end_a && from < end_b && is_equal(p, a, b, from, from)) {
        make_pair(p, from, from);
        from++;
    }
    while (!failed && end_a > from && end_b > from && is_equal(p, a, b, end_a - 1, end_b - 1))
        make_pair(p, --end_a, --end_b);
    if (!failed)
        failed = pair_rest(p, a, b, from, end_a, end_b, w);
    free(a);
    free(b);
    return failed;
}

/* ---- what changed */

static char *described_text(void (*put)(const struct operand *o, FILE *to), const struct operand *o)
{
    char *text = NULL;
    size_t length;
    FILE *to = open_memstream(&text, &length);
    if (!to)
        return NULL;
    put(o, to);
    return fclose(to) ? NULL : text;
}

static void put_type_and_scale(const struct operand *o, FILE *to)
{
    operand_put_type(o, to);
    operand_put_quantisation(o, ", ", to);
}

static void put_scalar(const struct operand *o, FILE *to)
{
    if (operand_is_readable(o))
        operand_put_value(o, 0, to);
    else
        fprintf(to, "%zu bytes", o->length);
}

/* Adds "what: A -> B" where the texts differ. */
static bool add_change(struct comparing *c, const char *what,
                       void (*put)(const struct operand *o, FILE *to), const struct operand *a,
                       const struct operand *b)
{
    char *was = described_text(put, a), *is = described_text(put, b);
    bool differ = was && is && strcmp(was, is) != 0;
    c->failed = c->failed || !was || !is;
    if (differ)
        add_line(c, "%s: %s -> %s", what, was, is);
    free(was);
    free(is);
    return differ;
}

static void compare_scalars(struct comparing *c, const char *what, const struct role *role,
                            const struct operand *a, const struct operand *b)
{
    const char *was = role_meaning(role, a), *is = role_meaning(role, b);
    if (a->length == b->length &&
        (!a->length || !memcmp(a->tensor.data, b->tensor.data, a->length)))
        return;
    if (was && is)
        add_line(c, "%s: %s -> %s", what, was, is);
    else
        add_change(c, what, put_scalar, a, b);
}

static void compare_constants(struct comparing *c, const char *what, const struct operand *a,
                              const struct operand *b)
{
    if (a->length == b->length &&
        (!a->length || !memcmp(a->tensor.data, b->tensor.data, a->length)))
        return;
    if (!operand_is_readable(a) || !operand_is_readable(b) ||
        tensor_count(&a->tensor) != tensor_count(&b->tensor)) {
        add_line(c, "%s: another value", what);
        return;
    }
    const size_t n = tensor_count(&a->tensor);
    size_t differ = 0;
    double most = 0;
    for (size_t i = 0; i < n; i++) {
        double off = fabs(tensor_at(&a->tensor, i) - tensor_at(&b->tensor, i));
        differ += !(off == 0);
        most = off > most ? off : most;
    }
    add_line(c, "%s: %zu of %zu values differ, by up to %.4g", what, differ, n, most);
}

static const char *life_of(const struct operand *o)
{
    return operand_constant(o) ? "a constant" : o->life == LIFE_NO_VALUE ? "omitted" : "computed";
}

/* Where a value that is not a constant comes from: "n3", "input 0". */
static void put_source(const struct graph *g, uint32_t operand, const uint32_t *writer, char *text,
                       size_t size)
{
    if (writer[operand] < g->n_operations) {
        snprintf(text, size, "n%" PRIu32, writer[operand]);
        return;
    }
    for (uint32_t i = 0; i < g->n_inputs; i++)
        if (g->input[i] == operand) {
            snprintf(text, size, "input %" PRIu32, i);
            return;
        }
    snprintf(text, size, "d%" PRIu32, operand);
}

static void compare_sources(struct comparing *c, const char *what, uint32_t a, uint32_t b,
                            const uint32_t *writer_a, const uint32_t *writer_b)
{
    char was[32], is[32], mapped[32];
    put_source(c->p->a, a, writer_a, was, sizeof was);
    put_source(c->p->b, b, writer_b, is, sizeof is);
    const uint32_t w = writer_a[a];
    if (w < c->p->a->n_operations)
        snprintf(mapped, sizeof mapped, "n%" PRIu32, c->p->to_b[w]);
    else
        snprintf(mapped, sizeof mapped, "%s", was);
    if (strcmp(mapped, is) != 0)
        add_line(c, "%s: from %s of A -> from %s of B", what, was, is);
}

/* An operand in the same place of both operations. */
static void compare_operands(struct comparing *c, const char *what, const struct role *role,
                             uint32_t at_a, uint32_t at_b, const uint32_t *writer_a,
                             const uint32_t *writer_b, bool reads)
{
    const struct operand *a = &c->p->a->operand[at_a], *b = &c->p->b->operand[at_b];
    if (reads && strcmp(life_of(a), life_of(b)) != 0) {
        add_line(c, "%s: %s -> %s", what, life_of(a), life_of(b));
        return;
    }
    bool other_type = add_change(c, what, put_type_and_scale, a, b);
    if (!reads || a->life == LIFE_SUBGRAPH || a->life == LIFE_NO_VALUE)
        return;
    if (!operand_constant(a))
        compare_sources(c, what, at_a, at_b, writer_a, writer_b);
    else if (operand_is_scalar(a) && operand_is_scalar(b))
        compare_scalars(c, what, role, a, b);
    else if (!other_type)
        compare_constants(c, what, a, b);
}

static void compare_pair(struct comparing *c, uint32_t k, const uint32_t *writer_a,
                         const uint32_t *writer_b)
{
    const struct operation *p = &c->p->a->operation[c->p->to_a[k]], *q = &c->p->b->operation[k];
    struct described s = graph_describe(c->p->b, q, true);
    char what[80];
    c->text = NULL;
    for (uint32_t i = 0; i < p->n_in && i < q->n_in; i++) {
        const struct role *role = described_in(&s, i);
        snprintf(what, sizeof what, role ? "%s" : "input %s%u", role ? role->name : "", i);
        compare_operands(c, what, role, p->in[i], q->in[i], writer_a, writer_b, true);
    }
    for (uint32_t i = 0; i < p->n_out && i < q->n_out; i++) {
        snprintf(what, sizeof what, "output %" PRIu32, i);
        compare_operands(c, what, NULL, p->out[i], q->out[i], writer_a, writer_b, false);
    }
    if (p->n_in != q->n_in)
        add_line(c, "inputs: %" PRIu32 " -> %" PRIu32, p->n_in, q->n_in);
    if (p->n_out != q->n_out)
        add_line(c, "outputs: %" PRIu32 " -> %" PRIu32, p->n_out, q->n_out);
    c->p->changes[k] = c->text;
}

/* The graph's own inputs, or outputs. */
static void compare_lists(struct comparing *c, const char *name, const uint32_t *a, uint32_t n,
                          const uint32_t *b, uint32_t m)
{
    char what[40];
    if (n != m)
        add_line(c, "%ss: %" PRIu32 " -> %" PRIu32, name, n, m);
    for (uint32_t i = 0; i < n && i < m; i++) {
        snprintf(what, sizeof what, "%s %" PRIu32, name, i);
        add_change(c, what, put_type_and_scale, &c->p->a->operand[a[i]], &c->p->b->operand[b[i]]);
    }
}

static int compare_graphs(struct comparing *c, struct why *w)
{
    struct graph_pair *p = c->p;
    TRY(pair_operations(p, w));
    uint32_t *writer_a = graph_writers(p->a), *writer_b = graph_writers(p->b);
    c->failed = !writer_a || !writer_b;
    for (uint32_t k = 0; !c->failed && k < p->b->n_operations; k++)
        if (p->to_a[k] != UINT32_MAX)
            compare_pair(c, k, writer_a, writer_b);
    free(writer_a);
    free(writer_b);
    c->text = NULL;
    if (!c->failed) {
        compare_lists(c, "input", p->a->input, p->a->n_inputs, p->b->input, p->b->n_inputs);
        compare_lists(c, "output", p->a->output, p->a->n_outputs, p->b->output, p->b->n_outputs);
    }
    p->of_graph = c->text;
    return c->failed ? why_no_memory(w) : 0;
}

static void count(struct graph_difference *d)
{
    for (uint32_t g = 0; g < d->n_pairs; g++) {
        const struct graph_pair *p = &d->pair[g];
        for (uint32_t i = 0; i < p->a->n_operations; i++)
            d->n_removed += p->to_b[i] == UINT32_MAX;
        for (uint32_t k = 0; k < p->b->n_operations; k++) {
            d->n_added += p->to_a[k] == UINT32_MAX;
            d->n_changed += p->to_a[k] != UINT32_MAX && p->changes[k];
            d->n_same += p->to_a[k] != UINT32_MAX && !p->changes[k];
        }
        d->is_different = d->is_different || p->of_graph;
    }
    d->is_different = d->is_different || d->of_model || d->n_added || d->n_removed || d->n_changed;
}

int graph_diff(const struct model *a, const struct model *b, struct arena *arena,
               struct graph_difference *ret, struct why *w)
{
    static const struct graph none;
    const uint32_t n = a->n_graphs > b->n_graphs ? a->n_graphs : b->n_graphs;
    struct graph_difference d = {
        .a = a, .b = b, .n_pairs = n, .pair = arena_alloc(arena, n, sizeof *d.pair)
    };
    struct comparing c = { .a = a, .b = b, .arena = arena };
    if (!d.pair)
        return why_no_memory(w);
    for (uint32_t g = 0; g < n; g++) {
        struct graph_pair *p = &d.pair[g];
        p->a = g < a->n_graphs ? &a->graph[g] : &none;
        p->b = g < b->n_graphs ? &b->graph[g] : &none;
        p->to_b = arena_alloc(arena, (size_t) p->a->n_operations + 1, sizeof *p->to_b);
        p->to_a = arena_alloc(arena, (size_t) p->b->n_operations + 1, sizeof *p->to_a);
        p->changes = arena_alloc(arena, (size_t) p->b->n_operations + 1, sizeof *p->changes);
        if (!p->to_b || !p->to_a || !p->changes)
            return why_no_memory(w);
        memset(p->to_b, 0xff, p->a->n_operations * sizeof *p->to_b);
        memset(p->to_a, 0xff, p->b->n_operations * sizeof *p->to_a);
        c.p = p;
        TRY(compare_graphs(&c, w));
    }
    c.text = NULL;
    if (a->relaxed != b->relaxed)
        add_line(&c, "relaxed: %s -> %s", a->relaxed ? "yes" : "no", b->relaxed ? "yes" : "no");
    if (a->n_graphs != b->n_graphs)
        add_line(&c, "graphs: %" PRIu32 " -> %" PRIu32, a->n_graphs, b->n_graphs);
    d.of_model = c.text;
    if (c.failed)
        return why_no_memory(w);
    count(&d);
    *ret = d;
    return 0;
}

/* ---- as text */

static void put_lines(const char *text, FILE *to)
{
    for (const char *end; text && *text; text = *end ? end + 1 : end) {
        end = text + strcspn(text, "\n");
        fputs("      ", to);
        fwrite(text, 1, (size_t) (end - text), to);
        fputc('\n', to);
    }
}

static void put_operation(const struct model *m, const struct graph *g, uint32_t i, char sign,
                          FILE *to)
{
    const struct operation_title title = operation_title(m, &g->operation[i]);
    fprintf(to, "  %c n%" PRIu32 " ", sign, i);
    text_put(to, TEXT_TERMINAL, title.name, 0);
    for (uint32_t k = 0; k < g->operation[i].n_out; k++) {
        fputs(k ? ", " : ": ", to);
        operand_put_type(&g->operand[g->operation[i].out[k]], to);
    }
    fputc('\n', to);
}

static void put_changed(const struct graph_difference *d, const struct graph_pair *p, uint32_t k,
                        FILE *to)
{
    const struct operation_title title = operation_title(d->b, &p->b->operation[k]);
    fprintf(to, "  ~ n%" PRIu32, p->to_a[k]);
    if (p->to_a[k] != k)
        fprintf(to, " -> n%" PRIu32, k);
    fputc(' ', to);
    text_put(to, TEXT_TERMINAL, title.name, 0);
    fputc('\n', to);
    put_lines(p->changes[k], to);
}

/* In the order of both models: what is removed comes before what is in its place. */
static void put_pair(const struct graph_difference *d, const struct graph_pair *p, FILE *to)
{
    uint32_t i = 0;
    for (uint32_t k = 0; k <= p->b->n_operations; k++) {
        const bool end = k == p->b->n_operations;
        if (!end && p->to_a[k] == UINT32_MAX) {
            for (; i < p->a->n_operations && p->to_b[i] == UINT32_MAX; i++)
                put_operation(d->a, p->a, i, '-', to);
            put_operation(d->b, p->b, k, '+', to);
            continue;
        }
        for (; i < (end ? p->a->n_operations : p->to_a[k]); i++)
            if (p->to_b[i] == UINT32_MAX)
                put_operation(d->a, p->a, i, '-', to);
        i += !end;
        if (!end && p->changes[k])
            put_changed(d, p, k, to);
    }
}

void graph_diff_print(const struct graph_difference *d, FILE *to)
{
    fprintf(to,
            "operations: %" PRIu32 " the same, %" PRIu32 " changed, %" PRIu32 " added, %" PRIu32
            " removed\n",
            d->n_same, d->n_changed, d->n_added, d->n_removed);
    put_lines(d->of_model, to);
    for (uint32_t g = 0; g < d->n_pairs; g++) {
        if (g)
            fprintf(to, "  graph %" PRIu32 "\n", g);
        put_lines(d->pair[g].of_graph, to);
        put_pair(d, &d->pair[g], to);
    }
}

/* ---- as one model */

/* A graph that is built from b's and what only a has. */
struct merging {
    const struct graph_pair *p;
    struct graph *g;
    uint32_t *of_a; /* by operand of a: its index in *g; UINT32_MAX: not in it yet */
    struct graph_note *operation, *operand;
};

static void map(struct merging *m, uint32_t a, uint32_t b)
{
    if (m->of_a[a] == UINT32_MAX)
        m->of_a[a] = b;
}

/* Results of operations in both, and inputs of the graph, are the same operands. */
static void map_operands(struct merging *m)
{
    const struct graph *a = m->p->a, *b = m->p->b;
    for (uint32_t i = 0; i < a->n_inputs && i < b->n_inputs; i++)
        map(m, a->input[i], b->input[i]);
    for (uint32_t i = 0; i < a->n_operations; i++) {
        if (m->p->to_b[i] == UINT32_MAX)
            continue;
        const struct operation *p = &a->operation[i], *q = &b->operation[m->p->to_b[i]];
        for (uint32_t k = 0; k < p->n_out && k < q->n_out; k++)
            map(m, p->out[k], q->out[k]);
    }
}

static uint32_t merged_operand(struct merging *m, uint32_t a)
{
    if (m->of_a[a] != UINT32_MAX)
        return m->of_a[a];
    const uint32_t i = m->g->n_operands++;
    m->g->operand[i] = m->p->a->operand[a];
    m->of_a[a] = i;
    const enum lifetime life = m->g->operand[i].life;
    if (life == LIFE_INPUT || life == LIFE_OUTPUT)
        m->operand[i].tone = TONE_REMOVED;
    if (life == LIFE_INPUT)
        m->g->input[m->g->n_inputs++] = i;
    if (life == LIFE_OUTPUT)
        m->g->output[m->g->n_outputs++] = i;
    return i;
}

static void note_pairs(struct merging *m)
{
    const struct graph *b = m->p->b;
    for (uint32_t k = 0; k < b->n_operations; k++) {
        m->operation[k].text = m->p->changes[k];
        m->operation[k].tone = m->p->to_a[k] == UINT32_MAX ? TONE_ADDED
                               : m->p->changes[k]          ? TONE_CHANGED
                                                           : TONE_SAME;
    }
    for (uint32_t i = m->p->a->n_inputs; i < b->n_inputs; i++)
        m->operand[b->input[i]].tone = TONE_ADDED;
    for (uint32_t i = m->p->a->n_outputs; i < b->n_outputs; i++)
        m->operand[b->output[i]].tone = TONE_ADDED;
}

static int add_removed(struct merging *m, struct arena *arena)
{
    const struct graph *a = m->p->a;
    for (uint32_t i = 0; i < a->n_operations; i++) {
        if (m->p->to_b[i] != UINT32_MAX)
            continue;
        const struct operation *p = &a->operation[i];
        struct operation *q = &m->g->operation[m->g->n_operations];
        *q = *p;
        q->in = arena_alloc(arena, (size_t) p->n_in + 1, sizeof *q->in);
        q->out = arena_alloc(arena, (size_t) p->n_out + 1, sizeof *q->out);
        if (!q->in || !q->out)
            return -1;
        for (uint32_t k = 0; k < p->n_in; k++)
            q->in[k] = merged_operand(m, p->in[k]);
        for (uint32_t k = 0; k < p->n_out; k++)
            q->out[k] = merged_operand(m, p->out[k]);
        struct graph_note *note = &m->operation[m->g->n_operations++];
        note->tone = TONE_REMOVED;
        note->text = arena_printf(arena, "n%" PRIu32 " of A", i);
        if (!note->text)
            return -1;
    }
    return 0;
}

static void *longer(struct arena *arena, const void *from, size_t n, size_t more, size_t size)
{
    void *to = arena_alloc(arena, n + more + 1, size);
    if (to && n)
        memcpy(to, from, n * size);
    return to;
}

static int merge_graph(const struct graph_pair *p, struct arena *arena, struct graph *ret,
                       struct graph_notes *notes)
{
    const struct graph *a = p->a, *b = p->b;
    struct graph g = *b;
    g.operand = longer(arena, b->operand, b->n_operands, a->n_operands, sizeof *g.operand);
    g.operation =
        longer(arena, b->operation, b->n_operations, a->n_operations, sizeof *g.operation);
    g.input = longer(arena, b->input, b->n_inputs, a->n_operands, sizeof *g.input);
    g.output = longer(arena, b->output, b->n_outputs, a->n_operands, sizeof *g.output);
    const size_t n_operations = (size_t) a->n_operations + b->n_operations + 1;
    const size_t n_operands = (size_t) a->n_operands + b->n_operands + 1;
    struct merging m = { .p = p,
                         .g = &g,
                         .of_a = arena_alloc(arena, (size_t) a->n_operands + 1, sizeof *m.of_a),
                         .operation = arena_alloc(arena, n_operations, sizeof *m.operation),
                         .operand = arena_alloc(arena, n_operands, sizeof *m.operand) };
    if (!g.operand || !g.operation || !g.input || !g.output || !m.of_a || !m.operation ||
        !m.operand)
        return -1;
    memset(m.of_a, 0xff, a->n_operands * sizeof *m.of_a);
    for (size_t i = 0; i < n_operations; i++)
        m.operation[i].ratio = NAN;
    for (size_t i = 0; i < n_operands; i++)
        m.operand[i].ratio = NAN;
    map_operands(&m);
    note_pairs(&m);
    TRY(add_removed(&m, arena));
    *ret = g;
    *notes = (struct graph_notes){ .operation = m.operation, .operand = m.operand };
    return 0;
}

int graph_diff_merge(const struct graph_difference *d, struct arena *arena, struct model *ret_model,
                     struct graph_dump_options *ret_options, struct why *w)
{
    struct model m = *d->b;
    struct graph_notes *notes = arena_alloc(arena, d->n_pairs, sizeof *notes);
    m.n_graphs = d->n_pairs;
    m.graph = arena_alloc(arena, d->n_pairs, sizeof *m.graph);
    if (!m.graph || !notes)
        return why_no_memory(w);
    for (uint32_t g = 0; g < d->n_pairs; g++)
        if (merge_graph(&d->pair[g], arena, &m.graph[g], &notes[g]) < 0)
            return why_no_memory(w);
    *ret_model = m;
    *ret_options = (struct graph_dump_options){
        .mark_output = -1, .is_merged = true, .notes = notes, .key = GRAPH_KEY_CHANGE
    };
    return 0;
}
