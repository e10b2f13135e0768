/* What is wrong: one card for each bug, with the case that shows it best: the shrunk model, the
 * worst element, the line that replays it.  The first cards are in the page, the others in data
 * files. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "golden/base/arena.h"
#include "golden/base/text_escape.h"
#include "reports/site/site.h"

enum {
    CARDS_INSIDE = 20,         /* bugs in the page itself, at most */
    BYTES_INSIDE = 150 * 1000, /* likewise; the rest is loaded on demand */
    CARDS_IN_FILE = 25,
    MOST_CARDS = 2000,
    CARDS_AT_A_GLANCE = 3, /* more can be filtered */
    MOST_GRAPHS = 60,
    LARGEST_GRAPH = 400 * 1000, /* bytes of DOT */
    LARGEST_SPEC = 6000,        /* bytes shown in a card */
};

void site_slug(const char *key, char slug[BUG_SLUG])
{
    uint32_t hash = 2166136261u; /* FNV-1a */
    for (const unsigned char *at = (const unsigned char *) key; *at; at++)
        hash = (hash ^ *at) * 16777619u;
    snprintf(slug, BUG_SLUG, "bug-%08x", hash);
}

/* Whether the row is of failures that are not sorted into bugs. */
static bool is_unsorted(sqlite3_stmt *row)
{
    return site_column(row, BUG_KEY)[0] == 2;
}

/* Writes the name of a bucket with a space before each list of types. */
static void put_spaced(const char *bucket, FILE *to)
{
    for (const char *at = bucket; *at; at++) {
        if (*at == '(' && at > bucket && at[-1] != ' ')
            fputc(' ', to);
        fputc(*at, to);
    }
}

char *site_bug_title(sqlite3_stmt *row)
{
    const int c = BUG_CASE;
    const char *verdict = site_column(row, c + CASE_VERDICT),
               *bucket = site_column(row, BUG_BUCKET), *why = site_column(row, c + CASE_WHY);
    int from =
        site_is_null(row, c + CASE_BLAMED_OPERATION) ? CASE_OPERATION : CASE_BLAMED_OPERATION;
    const char *operation = site_column(row, c + from), *type = site_column(row, c + from + 1);
    char *title = NULL;
    size_t length = 0, n = strlen(verdict);
    FILE *to = open_memstream(&title, &length);
    if (!to)
        return NULL;
    if (is_unsorted(row))
        fprintf(to, "not sorted into bugs: the time for shrinking was over");
    else if (*bucket)
        put_spaced(!strncmp(bucket, verdict, n) && bucket[n] == ' ' ? bucket + n + 1 : bucket, to);
    else if (*operation)
        fprintf(to, "%s%s%s%s", operation, *type ? " (" : "", type, *type ? ")" : "");
    else
        fprintf(to, "%.*s", (int) strcspn(why, "\n"), why);
    fclose(to);
    return title;
}

/* ---- the model: stored values and graph */

struct stored {
    bool known;
    double scale;
    int32_t zero;
    const char *type; /* of the element */
};

static int load(struct site *s, const char *spec, struct arena *a, struct example *e)
{
    struct why w;
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    if (!s->o->load || !spec || !*spec || s->n_graphs >= MOST_GRAPHS ||
        (double) t.tv_sec + 1e-9 * (double) t.tv_nsec > s->graphs_until)
        return -1;
    return s->o->load(s->o->user, spec, a, e, &w);
}

/* Finds the quantisation of an output of an operation, or, without an operation, of the model. */
static void find_stored(const struct model *m, int64_t graph, int64_t operation, int64_t output,
                        struct stored *ret)
{
    const struct graph *g = graph >= 0 && graph < m->n_graphs ? &m->graph[graph] : NULL;
    const uint32_t *list = g ? g->output : NULL;
    int64_t n = g ? g->n_outputs : 0;
    if (g && operation >= 0) {
        const struct operation *o = operation < g->n_operations ? &g->operation[operation] : NULL;
        list = o ? o->out : NULL;
        n = o ? o->n_out : 0;
    }
    if (!list || output < 0 || output >= n || list[output] >= g->n_operands)
        return;
    const struct tensor *t = &g->operand[list[output]].tensor;
    ret->known = t->scale > 0;
    ret->scale = t->scale;
    ret->zero = t->zero;
}

static void read_stored(struct site *s, sqlite3_stmt *row, bool blamed, int c, struct stored *ret)
{
    const char *type = site_column(row, c + (blamed ? CASE_BLAMED_TYPE : CASE_TYPE));
    struct example e;
    *ret = (struct stored){ .type = type };
    if (!strstr(type, "QUANT"))
        return;
    struct arena *a = arena_new(0);
    if (a && load(s, site_column(row, c + CASE_SPEC), a, &e) == 0)
        find_stored(&e.model, blamed ? sqlite3_column_int64(row, c + CASE_BLAMED_GRAPH) : 0,
                    blamed ? sqlite3_column_int64(row, c + CASE_BLAMED_INDEX) : -1,
                    sqlite3_column_int64(row, c + (blamed ? CASE_BLAMED_OUTPUT : CASE_OUTPUT)),
                    ret);
    arena_free(a);
}

/* Marks the first wrong operation: in the whole model by its index, in a shrunk one by its name, if
 * it is there once. */
static void mark_first_wrong(sqlite3_stmt *row, const struct model *m, struct arena *a,
                             struct graph_dump_options *options)
{
    const int c = BUG_CASE;
    const char *name = site_column(row, c + CASE_BLAMED_OPERATION);
    bool whole = !*site_column(row, BUG_SHRUNK);
    struct graph_notes *notes = arena_alloc(a, m->n_graphs, sizeof(*notes));
    struct graph_note *found = NULL;
    int n = 0;
    if (sqlite3_column_int64(row, c + CASE_BLAMED_COUNT) != 1 || !notes)
        return;
    for (uint32_t g = 0; g < m->n_graphs; g++) {
        const struct graph *graph = &m->graph[g];
        struct graph_note *note = arena_alloc(a, graph->n_operations, sizeof(*note));
        if (!note)
            return;
        notes[g] = (struct graph_notes){ .operation = note };
        for (uint32_t i = 0; i < graph->n_operations; i++) {
            const struct op *op = op_find(graph->operation[i].code);
            note[i] = (struct graph_note){ .ratio = (double) NAN };
            bool is_it = whole ? g == sqlite3_column_int64(row, c + CASE_BLAMED_GRAPH) &&
                                     i == sqlite3_column_int64(row, c + CASE_BLAMED_INDEX)
                               : op && !strcmp(op->name, name);
            if (is_it) {
                found = &note[i];
                n++;
            }
        }
    }
    if (n != 1)
        return;
    found->tone = TONE_FIRST_WRONG;
    options->notes = notes;
}

/* Writes the graph of the bug's shrunk case, else of the whole one, to graphs/SLUG.svg.
 * *ret_shown: whether there is one. */
static int write_graph(struct site *s, sqlite3_stmt *row, const char *slug, bool *ret_shown,
                       struct why *w)
{
    const char *shrunk = site_column(row, BUG_SHRUNK);
    struct arena *a = arena_new(0);
    struct example e;
    struct why why;
    char *dot = NULL, *svg = NULL, name[64];
    *ret_shown = false;
    if (!a)
        return why_no_memory(w);
    if (load(s, *shrunk ? shrunk : site_column(row, BUG_CASE + CASE_SPEC), a, &e) == 0) {
        struct graph_dump_options options = { .mark_output = -1 };
        bool one = e.model.n_graphs && e.model.graph[0].n_outputs == 1;
        int64_t mark = one ? 0
                       : *shrunk || site_is_null(row, BUG_CASE + CASE_OUTPUT)
                           ? -1
                           : sqlite3_column_int64(row, BUG_CASE + CASE_OUTPUT);
        mark_first_wrong(row, &e.model, a, &options);
        if (graph_dump_text(&e.model, "", &options, &dot, &why) == 0 &&
            strlen(dot) <= LARGEST_GRAPH)
            graph_layout_svg(dot, mark, &s->layout, &svg, &why);
    }
    arena_free(a);
    free(dot);
    if (!svg)
        return 0;
    snprintf(name, sizeof(name), "graphs/%s.svg", slug);
    int failed = folder_write(s->folder, name, svg, w);
    free(svg);
    s->n_graphs++;
    *ret_shown = !failed;
    return failed;
}

/* ---- the worst element */

static void put_value(struct site *s, const char *name, const char *class, int digits, double real,
                      double step, bool stored)
{
    fprintf(s->to, "<tr><th scope=\"row\">%s</th><td class=\"n%s\">", name, class);
    if (isnan(real))
        fputs("NaN", s->to);
    else
        fprintf(s->to, "%.*g", digits, real);
    fputs("</td>", s->to);
    if (stored)
        fprintf(s->to, "<td class=\"n%s\">%.*f</td>", class, step == rint(step) ? 0 : 2, step);
    fputs("</tr>\n", s->to);
}

/* "297,019", "40.5", "inf", "NaN" */
static void put_ratio(struct site *s, double ratio)
{
    if (ratio >= 1000 && ratio < 1e15)
        site_count(s, llrint(ratio));
    else if (isnan(ratio))
        fputs("NaN", s->to);
    else
        fprintf(s->to, "%.3g", ratio);
}

static double column_real(sqlite3_stmt *row, int i)
{
    return site_is_null(row, i) ? (double) NAN : sqlite3_column_double(row, i);
}

/* Reals, and of a quantised type the stored values; differences and bounds in steps. */
static void put_worst(struct site *s, sqlite3_stmt *row)
{
    const int c = BUG_CASE;
    bool blamed = !site_is_null(row, c + CASE_BLAMED_OUTPUT);
    if (!blamed && site_is_null(row, c + CASE_OUTPUT))
        return;
    struct stored q;
    read_stored(s, row, blamed, c, &q);
    int at = c + (blamed ? CASE_BLAMED_EXPECTED : CASE_EXPECTED);
    double expected = column_real(row, at), actual = column_real(row, at + 1),
           bound = column_real(row, at + 2);
    double scale = q.known ? q.scale : 1, zero = q.known ? q.zero : 0;
    fprintf(s->to, "<p class=\"soft small\">Worst element%s: output %" PRId64 " ",
            site_is_null(row, BUG_SHRUNK) ? "" : " before shrinking",
            (int64_t) sqlite3_column_int64(row, c + (blamed ? CASE_BLAMED_OUTPUT : CASE_OUTPUT)));
    site_put(s, row, c + (blamed ? CASE_BLAMED_PLACE : CASE_PLACE));
    fputs(" of ", s->to);
    if (blamed)
        site_put(s, row, c + CASE_BLAMED_OPERATION);
    else
        fputs("the model", s->to);
    fputs(", ", s->to);
    site_text(s, q.type, 0);
    fputs("</p>\n<div class=\"scroll\" tabindex=\"0\"><table class=\"worst\">", s->to);
    if (q.known)
        fputs("<thead><tr><td></td><th scope=\"col\" class=\"n\">real</th>"
              "<th scope=\"col\" class=\"n\">stored</th></tr></thead>",
              s->to);
    fputs("<tbody>\n", s->to);
    put_value(s, "expected", "", 9, expected, rint(expected / scale) + zero, q.known);
    put_value(s, "actual", " wrong", 9, actual, rint(actual / scale) + zero, q.known);
    put_value(s, "difference", "", 9, actual - expected, (actual - expected) / scale, q.known);
    put_value(s, "allowed error", "", 3, bound, bound / scale, q.known);
    fputs("<tr><th scope=\"row\">error / allowed</th><td class=\"n\">", s->to);
    put_ratio(s, column_real(row, at + 3));
    fprintf(s->to, "</td>%s</tr>\n</tbody></table></div>\n", q.known ? "<td></td>" : "");
    if (q.known)
        fprintf(s->to,
                "<p class=\"soft small\">scale %.9g, zero point %d; differences in steps.</p>\n",
                q.scale, q.zero);
}

/* ---- the explanation */

static int put_part(struct site *s, sqlite3_stmt *row, void *user, struct why *w)
{
    int *n = user;
    (void) w;
    fputs((*n)++ ? ", " : "", s->to);
    site_put(s, row, 0);
    if (sqlite3_column_count(row) > 2 && *site_column(row, 1)) {
        fputs(" (", s->to);
        site_put(s, row, 1);
        fputs(")", s->to);
    }
    fputs(" <b>", s->to);
    site_count(s, sqlite3_column_int64(row, sqlite3_column_count(row) - 1));
    fputs("</b>", s->to);
    return 0;
}

static int put_runs_of_bug(struct site *s, sqlite3_stmt *row, void *user, struct why *w)
{
    (void) user, (void) w;
    if (site_is_null(row, 0))
        return 0;
    fputs("<dt>first seen</dt><dd>run ", s->to);
    site_put(s, row, 0);
    fputs(", ", s->to);
    site_put(s, row, 1);
    fputs("; in ", s->to);
    site_counted(s, sqlite3_column_int64(row, 2), "run", "runs");
    fputs("</dd>\n", s->to);
    return 0;
}

static void put_first_wrong(struct site *s, sqlite3_stmt *row)
{
    const int c = BUG_CASE;
    int64_t count = sqlite3_column_int64(row, c + CASE_BLAMED_COUNT);
    if (!count) {
        fputs(site_is_null(row, c + CASE_OPERATION) ? "no operation is blamed"
                                                    : "no single operation is blamed",
              s->to);
        return;
    }
    fprintf(s->to, "%s%s: ", count > 1 ? "wrong only together" : "first wrong",
            site_is_null(row, BUG_SHRUNK) ? "" : " before shrinking");
    fputs("<b>", s->to);
    site_put(s, row, c + CASE_BLAMED_OPERATION);
    fputs("</b>", s->to);
    if (*site_column(row, c + CASE_BLAMED_TYPE)) {
        fputs(" ", s->to);
        site_put(s, row, c + CASE_BLAMED_TYPE);
    }
}

static int put_explanation(struct site *s, sqlite3_stmt *row, struct why *w)
{
    const int c = BUG_CASE;
    int64_t bug = sqlite3_column_int64(row, BUG_INDEX), n = sqlite3_column_int64(row, BUG_CASES);
    int parts = 0;
    fputs("<dl>\n<dt>reason</dt><dd>", s->to);
    site_text(
        s,
        site_column(row, c + (site_is_null(row, c + CASE_BLAMED_WHY) ? CASE_WHY : CASE_BLAMED_WHY)),
        1000);
    fputs("</dd>\n<dt>bucket</dt><dd>", s->to);
    if (is_unsorted(row))
        fputs("none: this is one of these cases; 'halcyon shrink' names the bucket of a case",
              s->to);
    else if (site_is_null(row, BUG_BUCKET))
        fputs("none: grouped by target, verdict, operation, type and reason", s->to);
    else
        site_put(s, row, BUG_BUCKET);
    fputs("</dd>\n<dt>targets</dt><dd>", s->to);
    TRY(site_each(s, QUERY_BUG_TARGETS, bug, 0, put_part, &parts, w));
    fputs("</dd>\n<dt>wrong operations</dt><dd>", s->to);
    parts = 0;
    TRY(site_each(s, QUERY_BUG_BLAMED, bug, 0, put_part, &parts, w));
    fputs("</dd>\n", s->to);
    if (!site_is_null(row, BUG_GREATEST))
        fprintf(s->to, "<dt>greatest error</dt><dd>%.4g times the bound</dd>\n",
                sqlite3_column_double(row, BUG_GREATEST));
    TRY(site_each(s, QUERY_BUG_RUNS, bug, 0, put_runs_of_bug, NULL, w));
    fputs("<dt>shown by</dt><dd>", s->to);
    site_put(s, row, c + CASE_NAME_);
    fputs(" on ", s->to);
    site_put(s, row, c + CASE_URI);
    fputs("</dd>\n</dl>\n", s->to);
    fprintf(s->to, "<p><a href=\"#cases?bug=%" PRId64 "\">", bug);
    fputs(n == 1 ? "Its case" : "All its ", s->to);
    if (n > 1)
        site_counted(s, n, "case", "cases");
    fputs("</a></p>\n", s->to);
    const char *replay = site_column(row, c + CASE_REPLAY);
    static const char word[] = "halcyon replay ";
    if (!strncmp(replay, word, sizeof(word) - 1)) { /* explain takes the same arguments */
        char *command = NULL;
        size_t length = 0;
        FILE *to = open_memstream(&command, &length);
        if (!to)
            return why_no_memory(w);
        fprintf(to, "halcyon explain %s", replay + sizeof(word) - 1);
        fclose(to);
        fputs("<p class=\"soft small\">The sums and hypotheses behind it:</p>", s->to);
        site_command(s, command);
        free(command);
    }
    bool shrunk = !site_is_null(row, BUG_SHRUNK);
    const char *spec = site_column(row, shrunk ? BUG_SHRUNK : c + CASE_SPEC);
    site_folded(s, shrunk ? "shrunk specification" : "specification", spec, LARGEST_SPEC);
    site_folded(s, "printed by the driver", site_column(row, c + CASE_PRINTED), LARGEST_SPEC);
    site_folded(s, "backtrace", site_column(row, c + CASE_BACKTRACE), LARGEST_SPEC);
    return 0;
}

/* ---- a card */

/* Below the graph: what it shows, and the worst element of a shrunk case, whose specification has
 * it as a comment (harness/shrink/shrunk_spec.c). */
static void put_caption(struct site *s, sqlite3_stmt *row)
{
    static const char comment[] = "\n# worst element: ";
    const char *shrunk = site_column(row, BUG_SHRUNK), *worst = strstr(shrunk, comment);
    fprintf(s->to, "<figcaption class=\"soft small\">%s",
            *shrunk ? "the shrunk model" : "the smallest model");
    if (worst) {
        char line[256];
        worst += sizeof(comment) - 1;
        snprintf(line, sizeof(line), "; %.*s", (int) strcspn(worst, "\n"), worst);
        site_text(s, line, 0);
    }
    fputs("</figcaption>", s->to);
}

/* What the driver probably does: the hypothesis at the end of the bucket's name, in words. */
static void put_meaning(struct site *s, sqlite3_stmt *row)
{
    const char *bucket = site_column(row, BUG_BUCKET), *colon = strrchr(bucket, ':');
    const char *meaning =
        s->o->meaning && colon && colon[1] == ' ' ? s->o->meaning(colon + 2) : NULL;
    if (!meaning)
        return;
    fputs("<p class=\"meta\">probably: <b>", s->to);
    site_text(s, meaning, 0);
    fputs("</b></p>\n", s->to);
}

static void put_meta(struct site *s, sqlite3_stmt *row)
{
    fputs("<p class=\"meta\">", s->to);
    put_first_wrong(s, row);
    fputs(" <span class=\"sep\">\xc2\xb7</span> ", s->to);
    if (sqlite3_column_int64(row, BUG_TARGETS) > 1)
        site_counted(s, sqlite3_column_int64(row, BUG_TARGETS), "target", "targets");
    else
        site_put(s, row, BUG_CASE + CASE_URI);
    if (!site_is_null(row, BUG_CASE + CASE_CONFIRMED)) {
        fputs(" <span class=\"sep\">\xc2\xb7</span> ", s->to);
        site_put(s, row, BUG_CASE + CASE_CONFIRMED);
    }
    fputs("</p>\n", s->to);
}

/* Writes a title that may be broken behind "_". */
static void put_title(struct site *s, const char *title)
{
    while (*title) {
        size_t length = strcspn(title, "_");
        length += title[length] == '_';
        char *part = strndup(title, length);
        site_text(s, part ? part : "", 0);
        free(part);
        title += length;
        fputs(*title ? "<wbr>" : "", s->to);
    }
}

static int put_card(struct site *s, sqlite3_stmt *row, struct why *w)
{
    const int c = BUG_CASE;
    char slug[BUG_SLUG];
    bool drawn;
    site_slug(site_column(row, BUG_KEY), slug);
    const char *verdict = site_column(row, c + CASE_VERDICT);
    const char *why = site_column(row, c + CASE_WHY);
    char *title = site_bug_title(row);
    if (!title)
        return why_no_memory(w);
    TRY(write_graph(s, row, slug, &drawn, w));

    fprintf(s->to, "<article class=\"bug%s\" id=\"%s\" tabindex=\"-1\">\n<header>",
            drawn ? "" : " bare", slug);
    site_badge(s, verdict);
    fprintf(s->to, "<h3><a href=\"#%s\">", slug);
    put_title(s, title);
    free(title);
    fputs("</a></h3><span class=\"cases\"><b>", s->to);
    site_count(s, sqlite3_column_int64(row, BUG_CASES));
    fprintf(s->to, "</b> %s</span></header>\n",
            sqlite3_column_int64(row, BUG_CASES) == 1 ? "case" : "cases");
    fputs("<div class=\"body\"><div class=\"facts\">\n", s->to);
    put_meta(s, row);
    put_meaning(s, row);
    put_worst(s, row);
    if (site_is_null(row, c + CASE_OUTPUT)) {
        fputs("<p class=\"why\">", s->to);
        site_text(s, why, 600);
        fputs("</p>\n", s->to);
    }
    if (!site_is_null(row, c + CASE_REPLAY))
        site_command(s, site_column(row, c + CASE_REPLAY));
    fputs("<details class=\"more\"><summary>Explanation, specification, cases</summary>\n", s->to);
    TRY(put_explanation(s, row, w));
    fputs("</details>\n</div>\n", s->to);
    if (drawn) {
        fprintf(s->to,
                "<figure><a class=\"graph\" href=\"graphs/%s.svg\"><img src=\"graphs/%s.svg\" "
                "loading=\"lazy\" alt=\"the %s model as a graph\"></a>",
                slug, slug, site_is_null(row, BUG_SHRUNK) ? "smallest" : "shrunk");
        put_caption(s, row);
        fputs("</figure>\n", s->to);
    }
    fputs("</div>\n</article>\n", s->to);
    return 0;
}

/* ---- files of cards */

struct cards {
    long begun; /* where the section begins in the page */
    FILE *file; /* the current one; NULL: none */
    int number; /* of the current file, from 1 on */
    int in_file;
    char name[64];
};

static int end_file(struct site *s, struct cards *c, struct why *w)
{
    if (!c->file)
        return 0;
    fputs("]);\n", c->file);
    int failed = folder_close(s->folder, c->name, c->file, w);
    c->file = NULL;
    c->in_file = 0;
    return failed;
}

/* Writes a card as a string of the current file. */
static int put_in_file(struct site *s, sqlite3_stmt *row, struct cards *c, struct why *w)
{
    char *html = NULL;
    size_t length = 0;
    if (c->in_file == CARDS_IN_FILE)
        TRY(end_file(s, c, w));
    if (!c->file) {
        snprintf(c->name, sizeof(c->name), "data/bugs-%04d.js", ++c->number);
        TRY(folder_open(s->folder, c->name, &c->file, w));
        fprintf(c->file, "halcyon(\"bugs-%04d\",[\n", c->number);
    }
    FILE *page = s->to;
    s->to = open_memstream(&html, &length);
    if (!s->to) {
        s->to = page;
        return why_no_memory(w);
    }
    int failed = put_card(s, row, w);
    fclose(s->to);
    s->to = page;
    fputs(c->in_file++ ? ",\n" : "", c->file);
    if (!failed)
        site_js_html(c->file, html);
    free(html);
    return failed;
}

static int put_bug(struct site *s, sqlite3_stmt *row, void *user, struct why *w)
{
    struct cards *c = user;
    int64_t bug = sqlite3_column_int64(row, BUG_INDEX);
    bool inside =
        bug == s->n_bugs_inside && bug < CARDS_INSIDE && ftell(s->to) - c->begun < BYTES_INSIDE;
    if (!inside)
        return put_in_file(s, row, c, w);
    s->n_bugs_inside++;
    return put_card(s, row, w);
}

int site_put_bugs(struct site *s, struct why *w)
{
    struct cards c = { .begun = ftell(s->to) };
    site_begin(s, "bugs", "What is wrong",
               s->n_cards
                   ? "Failures that probably have one cause are one bug, shown by its smallest "
                     "case; the most frequent first."
                   : NULL);
    if (!s->n_cards) {
        fputs("<div class=\"nothing\"><p class=\"big\">", s->to);
        if (s->n) {
            fputs("Nothing is wrong in ", s->to);
            site_counted(s, s->n, "verdict", "verdicts");
            fputs(".</p><p>Every verdict conforms. What was not compared is listed under <a "
                  "href=\"#gaps\">Not compared</a>, how near results came to their bounds under <a "
                  "href=\"#ratios\">Error</a>.</p></div>\n",
                  s->to);
        } else if (s->n_benchmarks) {
            fputs("No case was run.</p><p>There are results of <a href=\"#bench\">benchmarks</a> "
                  "only.</p></div>\n",
                  s->to);
        } else {
            fputs("Nothing was run.</p><p>The database has no verdicts.</p></div>\n", s->to);
        }
        site_end(s);
        return 0;
    }
    if (s->n_cards > CARDS_AT_A_GLANCE)
        fputs("<div class=\"tools\"><label>Filter <input type=\"search\" id=\"filter\" "
              "placeholder=\"operation, type, target, verdict\" autocomplete=\"off\"></label>"
              "<span id=\"filtered\" class=\"soft\"></span></div>\n",
              s->to);
    fputs("<div id=\"list\">\n", s->to);
    int failed = site_each(s, QUERY_BUGS, 0, MOST_CARDS, put_bug, &c, w);
    TRY(end_file(s, &c, failed ? NULL : w) | failed);
    s->n_bug_files = c.number;
    fputs("</div>\n", s->to);
    if (s->n_cards > s->n_bugs_inside)
        fputs("<button type=\"button\" id=\"more-bugs\" class=\"wide\">Show more bugs</button>\n",
              s->to);
    if (s->n_cards > MOST_CARDS)
        fprintf(s->to,
                "<p class=\"soft\">The %d most frequent bugs have cards; the cases of all "
                "are below.</p>\n",
                MOST_CARDS);
    fputs("<noscript><p>Further bugs and the list of cases need JavaScript.</p></noscript>\n",
          s->to);
    site_end(s);
    return 0;
}
