/* The section of benchmarks: latency and accuracy of each model on each target, in the newest run
 * that has them, and how they differ from a baseline run, or from the run before. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/bench_change.h"
#include "reports/site/site.h"

/* Columns of QUERY_BENCH. */
enum {
    BENCH_MODEL,
    BENCH_URI,
    BENCH_VERDICT,
    BENCH_WHY_,
    BENCH_MEAN,
    BENCH_MEDIAN,
    BENCH_P90,
    BENCH_P99,
    BENCH_DEVIATION,
    BENCH_HISTOGRAM,
    BENCH_BEFORE, /* median, parts, low and high; then parts, low and high now */
    BENCH_PARTS_NOW = BENCH_BEFORE + 4,
    BENCH_BURST_MEAN = BENCH_PARTS_NOW + 3,
    BENCH_DEVICE_MEAN,
    BENCH_COMPILE_MEAN,
    BENCH_LOAD_MEAN,
    BENCH_CACHE,
    BENCH_MEMORY
};

/* Changes of accuracy of less are shown without a colour, as on the public page. */
#define SAME 0.01

/* Four digits: a benchmark is looked at for small differences. */
static void put_ns(struct site *s, sqlite3_stmt *row, int i)
{
    static const struct {
        double ns;
        const char *name;
    } units[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "\xc2\xb5s" }, { 1, "ns" } };
    const double ns = sqlite3_column_double(row, i);
    int u = 0;

    while (u < COUNT(units) - 1 && ns < units[u].ns)
        u++;
    fputs("<td class=\"n\">", s->to);
    if (!site_is_null(row, i))
        fprintf(s->to, "%.4g %s", ns / units[u].ns, units[u].name);
    fputs("</td>", s->to);
}

/* JSON, a list of counts, as bars. */
static void put_histogram(struct site *s, const char *json)
{
    enum { MOST = 64, HEIGHT = 18, WIDTH = 3 };
    unsigned long n[MOST], most = 0;
    int count = 0;

    while (*json == '[' || *json == ',')
        if (count < MOST) {
            char *end;
            n[count] = strtoul(json + 1, &end, 10);
            if (end == json + 1)
                break;
            most = n[count] > most ? n[count] : most;
            json = end;
            count++;
        }
    fputs("<td>", s->to);
    if (most) {
        fprintf(s->to,
                "<svg width=\"%d\" height=\"%d\" role=\"img\" aria-label=\"histogram\" "
                "fill=\"currentColor\">",
                count * WIDTH, HEIGHT);
        for (int i = 0; i < count; i++) {
            const double height = HEIGHT * (double) n[i] / (double) most;
            if (n[i])
                fprintf(s->to, "<rect x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%.1f\"/>",
                        i * WIDTH, HEIGHT - fmax(height, 1), WIDTH - 1, fmax(height, 1));
        }
        fputs("</svg>", s->to);
    }
    fputs("</td>", s->to);
}

static double number(sqlite3_stmt *row, int i)
{
    return site_is_null(row, i) ? NAN : sqlite3_column_double(row, i);
}

/* The columns parts, low and high from i on. */
static struct bench_median median_of(sqlite3_stmt *row, double median, int i)
{
    return (struct bench_median){ .median = median,
                                  .parts = sqlite3_column_int64(row, i),
                                  .low = sqlite3_column_double(row, i + 1),
                                  .high = sqlite3_column_double(row, i + 2) };
}

static void put_change(struct site *s, double before, double now, bool is_worse)
{
    if (isnan(before) || isnan(now) || before == 0) {
        fputs("<td class=\"n zero\"></td>", s->to);
        return;
    }
    fprintf(s->to, "<td class=\"n%s\">%+.1f %%</td>", is_worse ? " hot" : " soft",
            100 * (now / before - 1));
}

/* In colour beyond the noise only. */
static void put_latency_change(struct site *s, sqlite3_stmt *row)
{
    const struct bench_median before = median_of(row, number(row, BENCH_BEFORE), BENCH_BEFORE + 1),
                              now = median_of(row, number(row, BENCH_MEDIAN), BENCH_PARTS_NOW);

    put_change(s, before.median, now.median, bench_change_of(&before, &now) == BENCH_SLOWER);
}

static void put_names(struct site *s, sqlite3_stmt *row)
{
    fputs("<tr><th scope=\"row\">", s->to);
    site_put(s, row, BENCH_MODEL);
    fputs("</th><td class=\"mono\">", s->to);
    site_put(s, row, BENCH_URI);
    fputs("</td>", s->to);
}

static void put_bytes(struct site *s, sqlite3_stmt *row, int i)
{
    fputs("<td class=\"n\">", s->to);
    if (!site_is_null(row, i))
        fprintf(s->to, "%.2f MB", sqlite3_column_double(row, i) / 1e6);
    fputs("</td>", s->to);
}

static int put_latency(struct site *s, sqlite3_stmt *row, void *user, struct why *w)
{
    (void) user, (void) w;
    put_names(s, row);
    fputs("<td>", s->to);
    site_badge(s, site_column(row, BENCH_VERDICT));
    fputs("</td>", s->to);
    for (int i = BENCH_MEAN; i <= BENCH_DEVIATION; i++)
        put_ns(s, row, i);
    put_histogram(s, site_column(row, BENCH_HISTOGRAM));
    put_latency_change(s, row);
    for (int i = BENCH_BURST_MEAN; i <= BENCH_LOAD_MEAN; i++)
        put_ns(s, row, i);
    put_bytes(s, row, BENCH_CACHE);
    put_bytes(s, row, BENCH_MEMORY);
    fputs("</tr>\n", s->to);
    return 0;
}

/* model, uri, key, value, reference, expected, allowed, worse, before, more_is_better */
static int put_accuracy(struct site *s, sqlite3_stmt *row, void *user, struct why *w)
{
    (void) user, (void) w;
    put_names(s, row);
    fputs("<td>", s->to);
    site_put(s, row, 2);
    fputs("</td>", s->to);
    for (int i = 3; i <= 6; i++) {
        fprintf(s->to, "<td class=\"n%s\">", i == 3 && *site_column(row, 7) ? " hot" : "");
        if (!site_is_null(row, i))
            fprintf(s->to, "%.6g", sqlite3_column_double(row, i));
        fputs("</td>", s->to);
    }
    const double before = number(row, 8), now = number(row, 3), change = now / before - 1;
    put_change(s, before, now, (sqlite3_column_int(row, 9) ? -change : change) >= SAME);
    fputs("<td>", s->to);
    site_put(s, row, 7);
    fputs("</td></tr>\n", s->to);
    return 0;
}

/* ---- what has changed */

enum { CHANGE_RUN = 4, CHANGE_BEFORE, CHANGE_NOW = CHANGE_BEFORE + 4 };

static enum bench_change change_of(sqlite3_stmt *row)
{
    const struct bench_median before =
                                  median_of(row, number(row, CHANGE_BEFORE), CHANGE_BEFORE + 1),
                              now = median_of(row, number(row, CHANGE_NOW), CHANGE_NOW + 1);
    return bench_change_of(&before, &now);
}

static int count_changed(struct site *s, sqlite3_stmt *row, void *user, struct why *w)
{
    (void) s, (void) w;
    ((int64_t *) user)[change_of(row)]++;
    return 0;
}

/* Writes the row if it is of the kind that is shown. */
static int put_changed(struct site *s, sqlite3_stmt *row, void *user, struct why *w)
{
    const enum bench_change change = change_of(row);

    (void) w;
    if (change != *(const enum bench_change *) user)
        return 0;
    put_names(s, row);
    for (int i = 2; i < CHANGE_RUN; i++) {
        fputs("<td>", s->to);
        site_put(s, row, i);
        fputs("</td>", s->to);
    }
    fprintf(s->to, "<td>%s</td>", bench_change_name[change]);
    put_change(s, number(row, CHANGE_BEFORE), number(row, CHANGE_NOW), change == BENCH_SLOWER);
    put_ns(s, row, CHANGE_BEFORE);
    put_ns(s, row, CHANGE_NOW);
    fprintf(s->to, "<td class=\"n\">%" PRId64 "</td></tr>\n",
            (int64_t) sqlite3_column_int64(row, CHANGE_RUN));
    return 0;
}

/* "run 3 of base.db (2026-11-28 00:12:52)"; several runs: the first and the last. */
struct base_runs {
    int64_t n, first, last;
    char started[32];
};

static int take_base(struct site *s, sqlite3_stmt *row, void *user, struct why *w)
{
    struct base_runs *b = user;
    (void) s, (void) w;
    b->last = sqlite3_column_int64(row, 0);
    b->first = b->n++ ? b->first : b->last;
    snprintf(b->started, sizeof b->started, "%.10s %.8s", site_column(row, 1),
             strlen(site_column(row, 1)) > 11 ? site_column(row, 1) + 11 : "");
    return 0;
}

static void put_base(struct site *s, const struct base_runs *b)
{
    if (!s->o->against && !b->n) {
        fputs("<p>No earlier run has these models and targets.</p>\n", s->to);
        return;
    }
    fputs("<p>Compared with ", s->to);
    if (s->o->against)
        fprintf(s->to, "run %" PRId64 " of ", s->o->against_run);
    if (s->o->against)
        site_text(s, s->o->against, 0);
    else if (b->n == 1)
        fprintf(s->to, "run %" PRId64, b->first);
    else
        fprintf(s->to, "the run before of each model and target, runs %" PRId64 " to %" PRId64,
                b->first, b->last);
    if (b->n == 1) {
        fputs(" (", s->to);
        site_text(s, b->started, 0);
        putc(')', s->to);
    }
    fputs(b->n ? ". " : ", which has none of these models on these targets.</p>\n", s->to);
}

static int put_changes(struct site *s, struct why *w)
{
    struct base_runs base = { 0 };
    int64_t n[BENCH_SLOWER + 1] = { 0 };

    fputs("<h3 id=\"bench-changes\">Changes</h3>\n", s->to);
    TRY(site_each(s, QUERY_BENCH_BASE, 0, 0, take_base, &base, w));
    put_base(s, &base);
    if (!base.n)
        return 0;
    TRY(site_each(s, QUERY_BENCH_CHANGES, s->o->run, 0, count_changed, n, w));
    fputs("Of ", s->to);
    site_counted(s, n[BENCH_UNKNOWN] + n[BENCH_SAME] + n[BENCH_FASTER] + n[BENCH_SLOWER], "time",
                 "times");
    fprintf(s->to,
            ", %" PRId64 " %s slower and %" PRId64 " %s faster beyond the noise of both runs; "
            "%" PRId64 " %s within it",
            n[BENCH_SLOWER], n[BENCH_SLOWER] == 1 ? "is" : "are", n[BENCH_FASTER],
            n[BENCH_FASTER] == 1 ? "is" : "are", n[BENCH_SAME], n[BENCH_SAME] == 1 ? "is" : "are");
    if (n[BENCH_UNKNOWN])
        fprintf(s->to, "; of %" PRId64 " the noise is not known", n[BENCH_UNKNOWN]);
    fputs(".</p>\n", s->to);
    if (!n[BENCH_SLOWER] && !n[BENCH_FASTER])
        return 0;
    site_table(s, "model|target|time|clock|change|#by|#before|#now|#run before");
    for (enum bench_change shown = BENCH_SLOWER; shown >= BENCH_FASTER; shown--)
        TRY(site_each(s, QUERY_BENCH_CHANGES, s->o->run, 0, put_changed, &shown, w));
    site_table_end(s);
    return 0;
}

static int note_row(struct site *s, sqlite3_stmt *row, void *user, struct why *w)
{
    (void) s, (void) row, (void) w;
    *(bool *) user = true;
    return 0;
}

int site_put_bench(struct site *s, struct why *w)
{
    bool has_rows = false;

    TRY(site_each(s, QUERY_BENCH, s->o->run, 0, note_row, &has_rows, w));
    if (!has_rows)
        return 0;
    site_begin(
        s, "bench", "Benchmark",
        "The newest run of each model and target. Executions are synchronous, by the wall clock, "
        "where nothing else is said; before is the change of the median.");
    TRY(put_changes(s, w));
    fputs("<h3>Latency</h3>\n", s->to);
    site_table(s, "model|target|verdict|#mean|#median|#90 %|#99 %|#deviation|histogram|#before|"
                  "#burst|#on the device|#compile|#from cache|#cache|#memory");
    TRY(site_each(s, QUERY_BENCH, s->o->run, 0, put_latency, NULL, w));
    site_table_end(s);
    fputs("<h3>Accuracy</h3>\n", s->to);
    site_table(
        s, "model|target|metric|#value|#reference|#published|#allowed|#before|worse than allowed");
    TRY(site_each(s, QUERY_BENCH_METRICS, s->o->run, 0, put_accuracy, NULL, w));
    site_table_end(s);
    site_end(s);
    return 0;
}
