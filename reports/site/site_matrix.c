/* Operations: the matrix operation x type x target, of which the script makes a heat map, the
 * tables of operations and types, and how near to their bounds results were. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "golden/model/op.h"
#include "reports/site/site.h"

enum { TARGETS_APART = 4 }; /* targets that have a distribution each; more share one */

/* ---- tables of operations and types */

static const char *role_title(int role)
{
    static const char *const title[N_ROLES] = {
        [ROLE_FAILED] = "failed",       [ROLE_SUSPECT] = "suspect",
        [ROLE_OTHER] = "others failed", [ROLE_PASSED] = "passed",
        [ROLE_UNDECIDED] = "undecided", [ROLE_UNSUPPORTED] = "unsupported",
        [ROLE_NOT_RUN] = "not run",
    };
    return title[role] ? title[role] : site_verdict[SITE_WAIVED];
}

struct role_table {
    const char *key;
    enum site_query query;
    int64_t total[N_ROLES];
    bool counting;
};

static bool has_role(const struct role_table *t, int role)
{
    return t->total[role] || role == ROLE_FAILED || role == ROLE_PASSED;
}

static int put_role_row(struct site *s, sqlite3_stmt *row, void *user, struct why *w)
{
    struct role_table *t = user;
    (void) w;
    for (int i = 0; i < N_ROLES && t->counting; i++)
        t->total[i] += sqlite3_column_int64(row, 1 + i);
    if (t->counting)
        return 0;
    fputs("<tr><th scope=\"row\">", s->to);
    site_put(s, row, 0);
    fputs("</th>", s->to);
    for (int i = 0; i <= ROLE_NOT_RUN; i++) {
        int64_t n = sqlite3_column_int64(row, 1 + i);
        if (!has_role(t, i))
            continue;
        fprintf(s->to, "<td class=\"n%s\">",
                !n                  ? " zero"
                : i == ROLE_FAILED  ? " hot"
                : i == ROLE_SUSPECT ? " warm"
                                    : "");
        site_count(s, n);
        fputs("</td>", s->to);
    }
    fputs("<td class=\"n soft\">", s->to);
    site_count(s, sqlite3_column_int64(row, 1 + ROLE_CHECKED));
    fputs("</td><td class=\"n soft\">", s->to);
    site_ms(s, sqlite3_column_double(row, 1 + ROLE_MS));
    fputs("</td></tr>\n", s->to);
    return 0;
}

static int put_roles(struct site *s, struct role_table *t, struct why *w)
{
    char headings[400];
    t->counting = true;
    TRY(site_each(s, t->query, 0, 0, put_role_row, t, w));
    t->counting = false;
    int n = snprintf(headings, sizeof(headings), "%s", t->key);
    for (int i = 0; i <= ROLE_NOT_RUN; i++)
        if (has_role(t, i))
            n += snprintf(headings + n, sizeof(headings) - (size_t) n, "|#%s", role_title(i));
    snprintf(headings + n, sizeof(headings) - (size_t) n, "|#elements compared|#time");
    site_table(s, headings);
    TRY(site_each(s, t->query, 0, 0, put_role_row, t, w));
    site_table_end(s);
    return 0;
}

/* ---- suites of rules */

struct suite {
    char name[128];
    int64_t n[N_VERDICTS], checked;
    double ms;
};

static void put_suite(struct site *s, const struct suite *x)
{
    if (!*x->name)
        return;
    fputs("<tr><th scope=\"row\">", s->to);
    site_text(s, x->name, 0);
    fputs("</th><td class=\"barcell\">", s->to);
    site_bar(s, x->n);
    fputs("</td>", s->to);
    for (int i = 0; i < N_VERDICTS; i++) {
        if (!s->count[i])
            continue;
        fprintf(s->to, "<td class=\"n%s\">", !x->n[i] ? " zero" : s->conforming[i] ? "" : " hot");
        site_count(s, x->n[i]);
        fputs("</td>", s->to);
    }
    fputs("<td class=\"n soft\">", s->to);
    site_count(s, x->checked);
    fputs("</td><td class=\"n soft\">", s->to);
    site_ms(s, x->ms);
    fputs("</td></tr>\n", s->to);
}

/* suite, verdict, n, checked, ms: the rows of a suite follow each other */
static int take_suite(struct site *s, sqlite3_stmt *row, void *user, struct why *w)
{
    struct suite *x = user;
    (void) w;
    if (strncmp(x->name, site_column(row, 0), sizeof(x->name) - 1) != 0) {
        put_suite(s, x);
        *x = (struct suite){ 0 };
        snprintf(x->name, sizeof(x->name), "%s", site_column(row, 0));
    }
    x->n[site_verdict_index(site_column(row, 1))] += sqlite3_column_int64(row, 2);
    x->checked += sqlite3_column_int64(row, 3);
    x->ms += sqlite3_column_double(row, 4);
    return 0;
}

static int mark_found(struct site *s, sqlite3_stmt *row, void *user, struct why *w)
{
    (void) s, (void) row, (void) w;
    *(bool *) user = true;
    return 0;
}

static int put_suites(struct site *s, struct why *w)
{
    struct suite x = { 0 };
    bool found = false;
    TRY(site_each(s, QUERY_SUITES, 0, 0, mark_found, &found, w));
    if (!found)
        return 0;
    char headings[400] = "suite|verdicts";
    for (int i = 0; i < N_VERDICTS; i++)
        if (s->count[i]) {
            strcat(headings, "|#");
            strcat(headings, site_verdict[i]);
        }
    strcat(headings, "|#checks|#time");
    fputs(
        "<h3 id=\"suites\">Conformance suites</h3>\n<p class=\"remark\">Rules of halcyon conform, "
        "in all HAL versions that were checked.</p>\n",
        s->to);
    site_table(s, headings);
    TRY(site_each(s, QUERY_SUITES, 0, 0, take_suite, &x, w));
    put_suite(s, &x);
    site_table_end(s);
    return 0;
}

int site_put_matrix(struct site *s, struct why *w)
{
    struct role_table operations = { .key = "operation", .query = QUERY_OPERATIONS },
                      types = { .key = "type", .query = QUERY_TYPES };
    if (!s->n)
        return 0;
    site_begin(
        s, "operations", "Operations",
        "Operation by type by target. A failure counts for the operation that is blamed; the "
        "other operations of its case are not painted. Select a field for its verdicts, bugs "
        "and cases.");
    fputs(
        "<div class=\"tools\" id=\"heat-tools\"></div>\n"
        "<ul class=\"legend\"><li><i class=\"h-fail\"></i>failed</li>"
        "<li><i class=\"h-suspect\"></i>suspect: none of several operations is blamed</li>"
        "<li><i class=\"h-pass\"></i>passed</li><li><i class=\"h-undecided\"></i>undecided</li>"
        "<li><i class=\"h-waived\"></i>waived</li>"
        "<li><i class=\"h-unsupported\"></i>unsupported</li>"
        "<li><i class=\"h-none\"></i>not run</li></ul>\n"
        "<p id=\"heat-targets\" class=\"soft small\"></p>\n"
        "<div id=\"heat\" class=\"scroll\" tabindex=\"0\"></div>\n"
        "<noscript><p>The map needs JavaScript; the table below has its numbers.</p></noscript>\n"
        "<details class=\"fold\" id=\"operation-table\"><summary>Table of operations</summary>\n"
        "<p class=\"remark\">Cases by what they tell of an operation: <b>failed</b>: it is blamed, "
        "or the only one; <b>suspect</b>: the case fails and none of its operations is blamed; "
        "<b>others failed</b>: another one is blamed; <b>not run</b>: another operation of the "
        "case is not supported. Elements and times are those of whole cases.</p>\n",
        s->to);
    TRY(put_roles(s, &operations, w));
    fputs("</details>\n<details class=\"fold\" id=\"type-table\"><summary>Table of element types"
          "</summary>\n<p class=\"remark\">Of the first tensor of each operation.</p>\n",
          s->to);
    TRY(put_roles(s, &types, w));
    fputs("</details>\n", s->to);
    TRY(put_suites(s, w));
    site_end(s);
    return 0;
}

/* ---- distributions */

struct spread {
    int64_t n[RATIO_BINS], all, beyond;
    double greatest;
};

struct ratios {
    char operation[96];
    struct spread *of; /* by target, or one */
    int64_t columns, all;
};

/* Bars of a bin each: within the bound, and beyond it. */
static void put_histogram(struct site *s, const struct spread *d)
{
    int64_t most = 1;
    for (int i = 0; i < RATIO_BINS; i++)
        most = d->n[i] > most ? d->n[i] : most;
    fputs("<svg class=\"hist\" viewBox=\"0 0 96 24\" aria-hidden=\"true\">"
          "<path class=\"axis\" d=\"M0 23.5H96M66 0V24\"/>",
          s->to);
    for (int beyond = 0; beyond < 2; beyond++) {
        bool any = false;
        for (int i = beyond ? RATIO_WITHIN : 0; i < (beyond ? RATIO_BINS : RATIO_WITHIN); i++) {
            if (!d->n[i])
                continue;
            double height = 22 * (double) d->n[i] / (double) most;
            fprintf(s->to, "%sM%d 23v-%.1fh5V23z",
                    any      ? ""
                    : beyond ? "<path class=\"over\" d=\""
                             : "<path class=\"in\" d=\"",
                    i * 6, height < 1.5 ? 1.5 : height);
            any = true;
        }
        fputs(any ? "\"/>" : "", s->to);
    }
    fputs("</svg>", s->to);
}

static void put_ratios_row(struct site *s, struct ratios *r)
{
    if (!*r->operation)
        return;
    fputs("<tr><th scope=\"row\">", s->to);
    site_text(s, r->operation, 0);
    fputs("</th>", s->to);
    for (int64_t t = 0; t < r->columns; t++) {
        struct spread *d = &r->of[t];
        if (!d->all) {
            fputs("<td colspan=\"3\" class=\"zero\">\xe2\x80\x93</td>", s->to);
            continue;
        }
        fputs("<td>", s->to);
        put_histogram(s, d);
        fprintf(s->to, "</td><td class=\"n%s\">%.3g</td><td class=\"n%s\">",
                d->greatest > 1 ? " hot" : "", d->greatest, d->beyond ? " hot" : " zero");
        site_count(s, d->beyond);
        fputs("</td>", s->to);
    }
    fputs("</tr>\n", s->to);
    memset(r->of, 0, (size_t) r->columns * sizeof(*r->of));
}

/* operation, tid, bin, n, greatest */
static int take_ratio(struct site *s, sqlite3_stmt *row, void *user, struct why *w)
{
    struct ratios *r = user;
    (void) w;
    if (strncmp(r->operation, site_column(row, 0), sizeof(r->operation) - 1) != 0) {
        put_ratios_row(s, r);
        snprintf(r->operation, sizeof(r->operation), "%s", site_column(row, 0));
    }
    int64_t t = sqlite3_column_int64(row, 1), n = sqlite3_column_int64(row, 3);
    int bin = sqlite3_column_int(row, 2);
    struct spread *d = &r->of[t >= 0 && t < r->columns ? t : 0];
    double greatest = sqlite3_column_double(row, 4);
    if (bin < 0 || bin >= RATIO_BINS)
        return 0;
    d->n[bin] += n;
    d->all += n;
    d->beyond += bin >= RATIO_WITHIN ? n : 0;
    d->greatest = greatest > d->greatest ? greatest : d->greatest;
    return 0;
}

/* uri, of the column headings */
static int put_target_heading(struct site *s, sqlite3_stmt *row, void *user, struct why *w)
{
    (void) user, (void) w;
    fputs("<th scope=\"colgroup\" colspan=\"3\">", s->to);
    site_put(s, row, 1);
    fputs("</th>", s->to);
    return 0;
}

int site_put_ratios(struct site *s, struct why *w)
{
    bool found = false;
    TRY(site_each(s, QUERY_RATIOS, 0, 0, mark_found, &found, w));
    if (!found)
        return 0;
    bool apart = s->n_targets <= TARGETS_APART;
    struct ratios r = { .columns = apart ? s->n_targets : 1 };
    r.of = calloc((size_t) r.columns, sizeof(*r.of));
    if (!r.of)
        return why_no_memory(w);
    site_begin(
        s, "ratios", "Error by operation",
        "The worst error of each result as a share of its bound. The left bar is exact, then "
        "powers of two from under 1/512 up to the bound (the line); beyond it, 1 to 2, 2 to "
        "4, and so on. A result counts for the operation that writes it, a failure for the "
        "one that is blamed.");
    fputs("<div class=\"scroll tall\" tabindex=\"0\"><table class=\"ratios\"><thead><tr>"
          "<th scope=\"col\" rowspan=\"2\">operation</th>",
          s->to);
    int failed = 0;
    if (apart)
        failed = site_each(s, QUERY_TARGETS, 0, 0, put_target_heading, NULL, w);
    else
        fputs("<th scope=\"colgroup\" colspan=\"3\">all targets</th>", s->to);
    fputs("</tr><tr>", s->to);
    for (int64_t t = 0; t < r.columns; t++)
        fputs("<th scope=\"col\">distribution</th><th scope=\"col\" class=\"n\">greatest</th>"
              "<th scope=\"col\" class=\"n\">beyond</th>",
              s->to);
    fputs("</tr></thead><tbody>\n", s->to);
    if (!failed)
        failed = site_each(s, QUERY_RATIOS, 0, 0, take_ratio, &r, w);
    put_ratios_row(s, &r);
    free(r.of);
    site_table_end(s);
    site_end(s);
    return failed;
}
