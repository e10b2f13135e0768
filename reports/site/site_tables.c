/* The sections that are tables: targets, coverage, times, flakes and waivers, trend, what was not
 * compared, and the runs with what belongs to them. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "golden/model/op.h"
#include "reports/site/site.h"

/* Drivers report FLT_MAX for what they do not support. */
#define LARGEST_PERFORMANCE 1e30

enum { MOST_TARGETS = 64 }; /* in the tables that have a column or a sum for each */

static int mark_any(struct site *s, sqlite3_stmt *row, void *user, struct why *w)
{
    (void) s, (void) row, (void) w;
    *(bool *) user = true;
    return 0;
}

/* Whether a query has rows. */
static int has_rows(struct site *s, enum site_query query, int64_t number, bool *ret, struct why *w)
{
    *ret = false;
    return site_each(s, query, number, 0, mark_any, ret, w);
}

static void put_cell(struct site *s, sqlite3_stmt *row, int i, const char *class)
{
    fprintf(s->to, "<td class=\"%s\">", class);
    site_put(s, row, i);
    fputs("</td>", s->to);
}

static void put_count_cell(struct site *s, int64_t n, const char *class)
{
    fprintf(s->to, "<td class=\"n %s\">", class);
    site_count(s, n);
    fputs("</td>", s->to);
}

static void put_uri(struct site *s, sqlite3_stmt *row, int i)
{
    fputs("<th scope=\"row\">", s->to);
    site_put(s, row, i);
    fputs("</th>", s->to);
}

/* ---- targets */

struct by_target {
    int64_t (*n)[N_VERDICTS]; /* by tid */
};

static int take_totals(struct site *s, sqlite3_stmt *row, void *user, struct why *w)
{
    struct by_target *t = user;
    int64_t tid = sqlite3_column_int64(row, 0);
    (void) w;
    if (tid >= 0 && tid < s->n_targets)
        t->n[tid][site_verdict_index(site_column(row, 1))] += sqlite3_column_int64(row, 2);
    return 0;
}

/* tid, uri, name, version, type, hal, checked, ms, device_ns, bugs */
static int put_target(struct site *s, sqlite3_stmt *row, void *user, struct why *w)
{
    struct by_target *t = user;
    const int64_t *n = t->n[sqlite3_column_int64(row, 0)], bugs = sqlite3_column_int64(row, 9);
    (void) w;
    fputs("<tr><th scope=\"row\">", s->to);
    site_put(s, row, 1);
    fputs("<small>", s->to);
    if (!strcmp(site_column(row, 2), "?")) { /* harness/run/devices.c */
        fputs("did not report what it is", s->to);
    } else {
        site_put(s, row, 2);
        fputs(" ", s->to);
        site_put(s, row, 3);
        fputs(", ", s->to);
        site_put(s, row, 4);
    }
    fputs(", HAL ", s->to);
    site_put(s, row, 5);
    fputs("</small></th>", s->to);
    fprintf(s->to, "<td class=\"n%s\">", bugs ? " hot" : " zero");
    site_count(s, bugs);
    fputs("</td><td class=\"barcell\">", s->to);
    site_bar(s, n);
    fputs("</td>", s->to);
    for (int i = 0; i < N_VERDICTS; i++)
        if (s->count[i])
            put_count_cell(s, n[i], !n[i] ? "zero" : s->conforming[i] ? "" : "hot");
    put_count_cell(s, sqlite3_column_int64(row, 6), "soft");
    fputs("</tr>\n", s->to);
    return 0;
}

int site_put_targets(struct site *s, struct why *w)
{
    if (!s->n_targets)
        return 0;
    struct by_target t = { calloc((size_t) s->n_targets, sizeof(*t.n)) };
    if (!t.n)
        return why_no_memory(w);
    char headings[400] = "target|#bugs|verdicts";
    for (int i = 0; i < N_VERDICTS; i++)
        if (s->count[i]) {
            strcat(headings, "|#");
            strcat(headings, site_verdict[i]);
        }
    strcat(headings, "|#elements compared");
    int failed = site_each(s, QUERY_TARGET_TOTALS, 0, 0, take_totals, &t, w);
    site_begin(s, "targets", "Targets",
               "pass, undecided (no element could be compared), waived and unsupported conform.");
    site_table(s, headings);
    if (!failed)
        failed = site_each(s, QUERY_TARGETS, 0, 0, put_target, &t, w);
    site_table_end(s);
    site_end(s);
    free(t.n);
    return failed;
}

/* ---- coverage */

struct covered {
    int64_t rows; /* forms and types of the catalogue */
    int64_t pairs[MOST_TARGETS];
    char uri[MOST_TARGETS][200];
    bool *seen; /* by position in op_table */
};

static int take_pairs(struct site *s, sqlite3_stmt *row, void *user, struct why *w)
{
    struct covered *c = user;
    int64_t tid = sqlite3_column_int64(row, 0);
    (void) s, (void) w;
    if (tid >= 0 && tid < MOST_TARGETS)
        c->pairs[tid] = sqlite3_column_int64(row, 1);
    return 0;
}

static int take_uri(struct site *s, sqlite3_stmt *row, void *user, struct why *w)
{
    struct covered *c = user;
    int64_t tid = sqlite3_column_int64(row, 0);
    (void) s, (void) w;
    if (tid >= 0 && tid < MOST_TARGETS)
        snprintf(c->uri[tid], sizeof(c->uri[tid]), "%s", site_column(row, 1));
    return 0;
}

static void put_share(struct site *s, int64_t n, int64_t of)
{
    double share = of ? 100 * (double) n / (double) of : 0;
    fputs("<td class=\"n\">", s->to);
    site_count(s, n);
    fputs(" of ", s->to);
    site_count(s, of);
    fprintf(s->to,
            "<svg class=\"meter\" viewBox=\"0 0 100 4\" preserveAspectRatio=\"none\" "
            "aria-hidden=\"true\"><rect class=\"in\" width=\"%.1f\" height=\"4\"/></svg></td>",
            share > 100 ? 100 : share);
}

/* tid, operations, rows, ranks, options, values, ran, not_run */
static int put_covered(struct site *s, sqlite3_stmt *row, void *user, struct why *w)
{
    struct covered *c = user;
    int64_t tid = sqlite3_column_int64(row, 0);
    bool known = tid >= 0 && tid < MOST_TARGETS;
    (void) w;
    fputs("<tr><th scope=\"row\">", s->to);
    site_text(s, known ? c->uri[tid] : "?", 0);
    fputs("</th>", s->to);
    put_share(s, sqlite3_column_int64(row, 1), op_table_n);
    put_share(s, sqlite3_column_int64(row, 2), c->rows);
    for (int i = 3; i <= 5; i++)
        put_count_cell(s, sqlite3_column_int64(row, i), "");
    put_count_cell(s, known ? c->pairs[tid] : 0, "");
    put_count_cell(s, sqlite3_column_int64(row, 6), "");
    put_count_cell(s, sqlite3_column_int64(row, 7), "soft");
    fputs("</tr>\n", s->to);
    return 0;
}

static int64_t rows_of(const struct op *op)
{
    return (int64_t) op->n_typings * (op->n_forms ? op->n_forms : 1);
}

/* operation, rows, ran, not_run, targets */
static int put_covered_operation(struct site *s, sqlite3_stmt *row, void *user, struct why *w)
{
    struct covered *c = user;
    (void) w;
    int64_t of = 0;
    for (int i = 0; i < op_table_n; i++)
        if (!strcmp(op_table[i]->name, site_column(row, 0))) {
            c->seen[i] = sqlite3_column_int64(row, 2) > 0;
            of = rows_of(op_table[i]);
        }
    fputs("<tr>", s->to);
    put_uri(s, row, 0);
    put_share(s, sqlite3_column_int64(row, 1), of);
    put_count_cell(s, sqlite3_column_int64(row, 2), "");
    put_count_cell(s, sqlite3_column_int64(row, 3), "soft");
    put_count_cell(s, sqlite3_column_int64(row, 4), "soft");
    fputs("</tr>\n", s->to);
    return 0;
}

static int put_coverage(struct site *s, struct covered *c, struct why *w)
{
    for (int i = 0; i < op_table_n; i++)
        c->rows += rows_of(op_table[i]);
    TRY(site_each(s, QUERY_PAIRS_COVERED, s->o->run, 0, take_pairs, c, w));
    TRY(site_each(s, QUERY_TARGETS, 0, 0, take_uri, c, w));
    site_table(s, "target|#operations|#forms and types|#with ranks|#with options|#with values|"
                  "#neighbours|#calls run|#not run");
    TRY(site_each(s, QUERY_COVERED, 0, 0, put_covered, c, w));
    site_table_end(s);
    fputs("<details class=\"fold\"><summary>By operation, least first</summary>\n", s->to);
    site_table(s, "operation|#forms and types|#calls run|#not run|#targets");
    TRY(site_each(s, QUERY_COVERED_OPERATIONS, 0, 0, put_covered_operation, c, w));
    site_table_end(s);
    fputs("</details>\n", s->to);
    int n = 0;
    for (int i = 0; i < op_table_n; i++)
        n += !c->seen[i];
    if (n)
        fprintf(s->to, "<p><b>%d of %d operations were never executed</b>: ", n, op_table_n);
    else
        fprintf(s->to, "<p><b>All %d operations were executed</b>", op_table_n);
    for (int i = 0, put = 0; i < op_table_n; i++)
        if (!c->seen[i])
            fprintf(s->to, "%s<code>%s</code>", put++ ? ", " : "", op_table[i]->name);
    fputs(".</p>\n", s->to);
    return 0;
}

int site_put_coverage(struct site *s, struct why *w)
{
    bool any;
    TRY(has_rows(s, QUERY_COVERED_OPERATIONS, 0, &any, w));
    if (!any)
        return 0;
    site_begin(s, "coverage", "Coverage",
               "Calls of operations in the cases that were executed, whatever the verdict. halcyon "
               "coverage lists what can occur, item by item.");
    struct covered *c = calloc(1, sizeof(*c));
    bool *seen = calloc((size_t) op_table_n, sizeof(*seen));
    int failed = -1;
    if (c && seen) {
        c->seen = seen;
        failed = put_coverage(s, c, w);
    } else {
        why_no_memory(w);
    }
    free(c);
    free(seen);
    site_end(s);
    return failed;
}

/* ---- times */

struct times {
    int64_t n[MOST_TARGETS][TIME_BINS];
};

static int take_time(struct site *s, sqlite3_stmt *row, void *user, struct why *w)
{
    struct times *t = user;
    int64_t tid = sqlite3_column_int64(row, 0), bin = sqlite3_column_int64(row, 1);
    (void) s, (void) w;
    if (tid >= 0 && tid < MOST_TARGETS && bin >= 0 && bin < TIME_BINS)
        t->n[tid][bin] += sqlite3_column_int64(row, 2);
    return 0;
}

/* The time that a share of the executions did not exceed, to a power of two, in ms. */
static double quantile(const int64_t n[TIME_BINS], double share)
{
    int64_t all = 0, below = 0;
    for (int i = 0; i < TIME_BINS; i++)
        all += n[i];
    for (int i = 0; i < TIME_BINS; i++) {
        below += n[i];
        if ((double) below >= share * (double) all)
            return (double) (UINT64_C(2) << i) / 1000;
    }
    return 0;
}

/* tid, uri, name, version, type, hal, checked, ms, device_ns, bugs */
static int put_time(struct site *s, sqlite3_stmt *row, void *user, struct why *w)
{
    struct times *t = user;
    int64_t tid = sqlite3_column_int64(row, 0), most = 1;
    (void) w;
    if (tid < 0 || tid >= MOST_TARGETS)
        return 0;
    const int64_t *n = t->n[tid];
    for (int i = 0; i < TIME_BINS; i++)
        most = n[i] > most ? n[i] : most;
    fputs("<tr>", s->to);
    put_uri(s, row, 1);
    fputs("<td><svg class=\"hist times\" viewBox=\"0 0 156 24\" aria-hidden=\"true\">"
          "<path class=\"axis\" d=\"M0 23.5H156\"/><path class=\"in\" d=\"",
          s->to);
    for (int i = 0; i < TIME_BINS; i++)
        if (n[i])
            fprintf(s->to, "M%d 23v-%.1fh5V23z", i * 6, 1.5 + 20 * (double) n[i] / (double) most);
    fputs("\"/></svg></td><td class=\"n\">", s->to);
    site_ms(s, quantile(n, 0.5));
    fputs("</td><td class=\"n\">", s->to);
    site_ms(s, quantile(n, 0.99));
    fputs("</td><td class=\"n\">", s->to);
    site_ms(s, sqlite3_column_double(row, 7));
    fputs("</td><td class=\"n\">", s->to);
    if (!site_is_null(row, 8))
        site_ms(s, sqlite3_column_double(row, 8) / 1e6);
    fputs("</td></tr>\n", s->to);
    return 0;
}

/* name, uri, verdict, ms, device_ns, n_operations */
static int put_slow(struct site *s, sqlite3_stmt *row, void *user, struct why *w)
{
    (void) user, (void) w;
    fputs("<tr>", s->to);
    put_uri(s, row, 0);
    put_cell(s, row, 1, "mono");
    fputs("<td>", s->to);
    site_badge(s, site_column(row, 2));
    fputs("</td><td class=\"n\">", s->to);
    site_ms(s, sqlite3_column_double(row, 3));
    fputs("</td><td class=\"n\">", s->to);
    if (!site_is_null(row, 4))
        site_ms(s, sqlite3_column_double(row, 4) / 1e6);
    fputs("</td>", s->to);
    put_cell(s, row, 5, "n");
    fputs("</tr>\n", s->to);
    return 0;
}

struct vectors {
    char what[96];
    double time[MOST_TARGETS], power[MOST_TARGETS];
    bool has[MOST_TARGETS];
};

static void put_vectors(struct site *s, struct vectors *v)
{
    if (!*v->what)
        return;
    fputs("<tr><th scope=\"row\">", s->to);
    site_text(s, v->what, 0);
    fputs("</th>", s->to);
    for (int64_t t = 0; t < s->n_targets && t < MOST_TARGETS; t++)
        if (v->has[t] && v->time[t] < LARGEST_PERFORMANCE)
            fprintf(s->to, "<td class=\"n\">%.3g</td><td class=\"n soft\">%.3g</td>", v->time[t],
                    v->power[t]);
        else
            fputs("<td class=\"n zero\">\xe2\x80\x93</td><td></td>", s->to);
    fputs("</tr>\n", s->to);
    *v = (struct vectors){ 0 };
}

/* tid, what, time, power: the rows of one kind of operand follow each other */
static int take_vector(struct site *s, sqlite3_stmt *row, void *user, struct why *w)
{
    struct vectors *v = user;
    int64_t t = sqlite3_column_int64(row, 0);
    (void) w;
    if (strncmp(v->what, site_column(row, 1), sizeof(v->what) - 1) != 0) {
        put_vectors(s, v);
        snprintf(v->what, sizeof(v->what), "%s", site_column(row, 1));
    }
    if (t >= 0 && t < MOST_TARGETS) {
        v->time[t] = sqlite3_column_double(row, 2);
        v->power[t] = sqlite3_column_double(row, 3);
        v->has[t] = true;
    }
    return 0;
}

static int put_vector_heading(struct site *s, sqlite3_stmt *row, void *user, struct why *w)
{
    (void) user, (void) w;
    fputs("<th scope=\"colgroup\" colspan=\"2\">", s->to);
    site_put(s, row, 1);
    fputs("</th>", s->to);
    return 0;
}

static int put_performance(struct site *s, struct why *w)
{
    bool any;
    TRY(has_rows(s, QUERY_PERFORMANCE, 0, &any, w));
    if (!any || s->n_targets > MOST_TARGETS)
        return 0;
    struct vectors v = { 0 };
    fputs("<h3>Performance that the drivers report</h3>\n<p class=\"remark\">Execution time and "
          "power relative to the CPU (1): less is better.</p>\n<div class=\"scroll\" "
          "tabindex=\"0\"><table class=\"narrow\"><thead><tr><th scope=\"col\" "
          "rowspan=\"2\">operand type</th>",
          s->to);
    TRY(site_each(s, QUERY_TARGETS, 0, 0, put_vector_heading, NULL, w));
    fputs("</tr><tr>", s->to);
    for (int64_t t = 0; t < s->n_targets; t++)
        fputs("<th scope=\"col\" class=\"n\">time</th><th scope=\"col\" class=\"n\">power</th>",
              s->to);
    fputs("</tr></thead><tbody>\n", s->to);
    TRY(site_each(s, QUERY_PERFORMANCE, 0, 0, take_vector, &v, w));
    put_vectors(s, &v);
    site_table_end(s);
    return 0;
}

int site_put_times(struct site *s, struct why *w)
{
    if (!s->n)
        return 0;
    struct times *t = calloc(1, sizeof(*t));
    if (!t)
        return why_no_memory(w);
    site_begin(s, "times", "Performance and times",
               "Wall clock in the driver, from 1 \xc2\xb5s in powers of two; of models that the "
               "target supports.");
    site_table(s, "target|distribution|#half within|#99 % within|#in all|#on the device");
    int failed = site_each(s, QUERY_WALL_TIMES, 0, 0, take_time, t, w);
    if (!failed)
        failed = site_each(s, QUERY_TARGETS, 0, 0, put_time, t, w);
    free(t);
    site_table_end(s);
    TRY(failed);
    TRY(put_performance(s, w));
    fputs("<h3>Slowest cases</h3>\n", s->to);
    site_table(s, "case|target|verdict|#wall clock|#on the device|#operations");
    TRY(site_each(s, QUERY_SLOWEST, 0, 0, put_slow, NULL, w));
    site_table_end(s);
    site_end(s);
    return 0;
}

/* ---- flakes and waivers */

static void put_age(struct site *s, sqlite3_stmt *row, int since)
{
    int64_t days = sqlite3_column_int64(row, since + 1);
    put_cell(s, row, since, "n");
    fputs("<td class=\"n\">", s->to);
    site_counted(s, days, "day", "days");
    fputs("</td>", s->to);
    put_count_cell(s, sqlite3_column_int64(row, since + 2), "");
}

/* name, uri, was, failed_attempts, attempts, since, days, runs */
static int put_flake(struct site *s, sqlite3_stmt *row, void *user, struct why *w)
{
    (void) user, (void) w;
    fputs("<tr>", s->to);
    put_uri(s, row, 0);
    put_cell(s, row, 1, "mono");
    fputs("<td>", s->to);
    if (!site_is_null(row, 2))
        site_badge(s, site_column(row, 2));
    fputs("</td><td class=\"n\">", s->to);
    site_put(s, row, 3);
    fputs(" of ", s->to);
    site_put(s, row, 4);
    fputs("</td>", s->to);
    put_age(s, row, 5);
    fputs("</tr>\n", s->to);
    return 0;
}

/* why, uri, was, n, a name, since, days, runs */
static int put_waiver(struct site *s, sqlite3_stmt *row, void *user, struct why *w)
{
    (void) user, (void) w;
    fputs("<tr>", s->to);
    put_cell(s, row, 0, "wide");
    put_cell(s, row, 1, "mono");
    fputs("<td>", s->to);
    if (!site_is_null(row, 2))
        site_badge(s, site_column(row, 2));
    fputs("</td>", s->to);
    put_count_cell(s, sqlite3_column_int64(row, 3), "");
    put_cell(s, row, 4, "mono");
    put_age(s, row, 5);
    fputs("</tr>\n", s->to);
    return 0;
}

int site_put_flakes(struct site *s, struct why *w)
{
    if (!s->n)
        return 0;
    bool flakes = s->count[SITE_FLAKY] > 0, waivers = s->count[SITE_WAIVED] > 0;
    site_begin(s, "flakes", "Flakes and waivers", "Ages are counted in the runs of this database.");
    if (flakes) {
        fputs("<h3>Flakes</h3>\n", s->to);
        site_table(s, "case|target|first verdict|#failed|#since|#age|#runs");
        TRY(site_each(s, QUERY_FLAKES, 0, 0, put_flake, NULL, w));
        site_table_end(s);
    } else {
        fputs("<p class=\"none\">No case is flaky.</p>\n", s->to);
    }
    if (waivers) {
        fputs("<h3>Waivers</h3>\n", s->to);
        site_table(s, "reason|target|waived|#cases|a case|#since|#age|#runs");
        TRY(site_each(s, QUERY_WAIVERS, 0, 0, put_waiver, NULL, w));
        site_table_end(s);
    } else {
        fputs("<p class=\"none\">Nothing is waived.</p>\n", s->to);
    }
    site_end(s);
    return 0;
}

/* ---- trend */

enum { MOST_RUNS = 60 };

struct trend {
    struct trend_run {
        int64_t run, n[N_VERDICTS], all, bad, new_bugs;
        char started[32], kind[16];
    } of[MOST_RUNS];
    int n;
};

/* run, started, kind, verdict, n, conforming; by run */
static int take_trend(struct site *s, sqlite3_stmt *row, void *user, struct why *w)
{
    struct trend *t = user;
    int64_t run = sqlite3_column_int64(row, 0), n = sqlite3_column_int64(row, 4);
    (void) s, (void) w;
    if (!t->n || t->of[t->n - 1].run != run) {
        if (t->n == MOST_RUNS)
            return 0;
        t->of[t->n++].run = run;
        snprintf(t->of[t->n - 1].started, sizeof(t->of[0].started), "%s", site_column(row, 1));
        snprintf(t->of[t->n - 1].kind, sizeof(t->of[0].kind), "%s", site_column(row, 2));
    }
    struct trend_run *r = &t->of[t->n - 1];
    r->n[site_verdict_index(site_column(row, 3))] += n;
    r->all += n;
    r->bad += sqlite3_column_int(row, 5) ? 0 : n;
    return 0;
}

static int take_new_bugs(struct site *s, sqlite3_stmt *row, void *user, struct why *w)
{
    struct trend *t = user;
    (void) s, (void) w;
    for (int i = 0; i < t->n; i++)
        if (t->of[i].run == sqlite3_column_int64(row, 0))
            t->of[i].new_bugs = sqlite3_column_int64(row, 1);
    return 0;
}

static void put_trend_row(struct site *s, const struct trend_run *r, const struct trend_run *before)
{
    double share = r->all ? 100 * (double) r->bad / (double) r->all : 0;
    fprintf(s->to, "<tr><th scope=\"row\">%" PRId64 "</th><td class=\"time\">", r->run);
    site_text(s, r->started, 0);
    fputs("</td><td>", s->to);
    site_text(s, r->kind, 0);
    fputs("</td><td class=\"barcell\">", s->to);
    site_bar(s, r->n);
    fputs("</td>", s->to);
    put_count_cell(s, r->all, "");
    put_count_cell(s, r->bad, r->bad ? "hot" : "zero");
    fprintf(s->to, "<td class=\"n\">%.2f %%</td>", share);
    if (before && before->all)
        fprintf(s->to, "<td class=\"n\">%+.2f</td>",
                share - 100 * (double) before->bad / (double) before->all);
    else
        fputs("<td class=\"n zero\">\xe2\x80\x93</td>", s->to);
    put_count_cell(s, r->new_bugs, r->new_bugs ? "" : "zero");
    fputs("</tr>\n", s->to);
}

/* The newest run of the same kind before run i; NULL: there is none. */
static const struct trend_run *run_before(const struct trend *t, int i)
{
    for (int k = i - 1; k >= 0; k--)
        if (!strcmp(t->of[k].kind, t->of[i].kind))
            return &t->of[k];
    return NULL;
}

int site_put_trend(struct site *s, struct why *w)
{
    struct trend *t = calloc(1, sizeof(*t));
    if (!t)
        return why_no_memory(w);
    int failed = site_each(s, QUERY_TREND, 0, 0, take_trend, t, w);
    if (!failed)
        failed = site_each(s, QUERY_NEW_BUGS, 0, 0, take_new_bugs, t, w);
    if (!failed && t->n) {
        site_begin(
            s, "trend", "Trend",
            "The newest 60 runs of the database, newest first. The change is that of the share "
            "of verdicts that do not conform, against the run of the same kind before it; "
            "halcyon diff compares two runs case by case.");
        site_table(s, "run|started|kind|verdicts|#all|#wrong|#share|#change|#new bugs");
        for (int i = t->n - 1; i >= 0; i--)
            put_trend_row(s, &t->of[i], run_before(t, i));
        site_table_end(s);
        site_end(s);
    }
    free(t);
    return failed;
}

/* ---- what was not compared */

/* uri, why, a name, n */
static int put_gap(struct site *s, sqlite3_stmt *row, void *user, struct why *w)
{
    (void) user, (void) w;
    fputs("<tr>", s->to);
    put_uri(s, row, 0);
    put_cell(s, row, 1, "wide");
    put_cell(s, row, 2, "mono");
    put_count_cell(s, sqlite3_column_int64(row, 3), "");
    fputs("</tr>\n", s->to);
    return 0;
}

int site_put_gaps(struct site *s, struct why *w)
{
    if (!s->n)
        return 0;
    bool undecided = s->count[SITE_UNDECIDED] > 0, unsupported = s->count[SITE_UNSUPPORTED] > 0;
    site_begin(s, "gaps", "Not compared", NULL);
    fputs("<h3>Undecided</h3>\n", s->to);
    if (undecided) {
        fputs("<p class=\"remark\">Executed, but no element could be compared.</p>\n", s->to);
        site_table(s, "target|why|a case|#cases");
        TRY(site_each(s, QUERY_UNDECIDED, 0, 0, put_gap, NULL, w));
        site_table_end(s);
    } else {
        fputs("<p class=\"none\">Every result that was executed was compared.</p>\n", s->to);
    }
    fputs("<h3>Not supported</h3>\n", s->to);
    if (unsupported) {
        fputs("<p class=\"remark\">The first operation that the target does not support; the 100 "
              "most frequent. Of summaries one for each operation and type, with the signature of "
              "its first case.</p>\n",
              s->to);
        site_table(s, "target|signature|a case|#cases");
        TRY(site_each(s, QUERY_UNSUPPORTED, 0, 0, put_gap, NULL, w));
        site_table_end(s);
    } else {
        fputs("<p class=\"none\">The targets support every model.</p>\n", s->to);
    }
    site_end(s);
    return 0;
}

/* ---- runs */

/* run, started, command, judge, version, seconds, n_cases, done, finished */
static int put_run(struct site *s, sqlite3_stmt *row, void *user, struct why *w)
{
    (void) user, (void) w;
    int64_t planned = sqlite3_column_int64(row, 6), done = sqlite3_column_int64(row, 7);
    fputs("<tr>", s->to);
    put_uri(s, row, 0);
    put_cell(s, row, 1, "time");
    put_cell(s, row, 2, "mono wide");
    put_cell(s, row, 3, "");
    put_cell(s, row, 4, "");
    fputs("<td class=\"n\">", s->to);
    site_count(s, done);
    if (done < planned) {
        fputs(" of ", s->to);
        site_count(s, planned);
    }
    fputs("</td><td class=\"n\">", s->to);
    site_ms(s, sqlite3_column_double(row, 5) * 1000);
    fputs(site_is_null(row, 8) ? "<br>not finished" : "", s->to);
    fputs("</td></tr>\n", s->to);
    return 0;
}

/* uri, digest, text */
static int put_support(struct site *s, sqlite3_stmt *row, void *user, struct why *w)
{
    (void) user, (void) w;
    fputs("<details class=\"fold\"><summary>", s->to);
    site_put(s, row, 0);
    fputs(": support set ", s->to);
    site_put(s, row, 1);
    fputs("</summary><pre tabindex=\"0\">", s->to);
    site_text(s, site_column(row, 2), 20 * 1000);
    fputs("</pre></details>\n", s->to);
    return 0;
}

/* run, text; or run, uri, text */
static int put_note(struct site *s, sqlite3_stmt *row, void *user, struct why *w)
{
    (void) user, (void) w;
    int n = sqlite3_column_count(row);
    fputs("<tr>", s->to);
    put_uri(s, row, 0);
    for (int i = 1; i < n; i++)
        put_cell(s, row, i, i == n - 1 ? "wide" : "mono");
    fputs("</tr>\n", s->to);
    return 0;
}

static int put_if_any(struct site *s, enum site_query query, const char *heading,
                      const char *columns, site_row *each, struct why *w)
{
    bool any;
    TRY(has_rows(s, query, s->o->run, &any, w));
    if (!any)
        return 0;
    fputs(heading, s->to);
    if (columns)
        site_table(s, columns);
    TRY(site_each(s, query, s->o->run, 0, each, NULL, w));
    if (columns)
        site_table_end(s);
    return 0;
}

int site_put_runs(struct site *s, struct why *w)
{
    int64_t unloaded;
    TRY(site_number(s, QUERY_N_UNLOADED, s->o->run, &unloaded, w));
    site_begin(s, "runs", "Runs", NULL);
    site_table(s, "run|started|command|judge|version|#cases|#time");
    TRY(site_each(s, QUERY_RUNS, s->o->run, 0, put_run, NULL, w));
    site_table_end(s);
    TRY(put_if_any(s, QUERY_NOTES, "<h3>Notes about targets</h3>\n", "run|target|note", put_note,
                   w));
    TRY(put_if_any(s, QUERY_UNLOADED, "<h3 id=\"unloaded\">Files that could not be loaded</h3>\n",
                   "run|file, place and reason", put_note, w));
    if (unloaded > 1000)
        fputs("<p class=\"soft\">The first 1,000; the database has all of them.</p>\n", s->to);
    TRY(put_if_any(s, QUERY_SUPPORT,
                   "<h3>Drawn for</h3>\n<p class=\"remark\">What targets support; random graphs "
                   "whose names have for=DIGEST were drawn for it.</p>\n",
                   NULL, put_support, w));
    site_end(s);
    return 0;
}
