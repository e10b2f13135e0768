/* The section of benchmarks: latency and accuracy of each model on each target, in the newest run
 * that has them, and how they differ from the run before. */
#include <math.h>
#include <stdlib.h>

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
    BENCH_BEFORE, /* median of the run before */
    BENCH_BURST_MEAN,
    BENCH_DEVICE_MEAN,
    BENCH_COMPILE_MEAN,
    BENCH_LOAD_MEAN,
    BENCH_CACHE,
    BENCH_MEMORY
};

/* Changes of less are shown without a colour, as on the public page. */
#define SAME 0.01

static void put_ns(struct site *s, sqlite3_stmt *row, int i)
{
    fputs("<td class=\"n\">", s->to);
    if (!site_is_null(row, i))
        site_ms(s, sqlite3_column_double(row, i) / 1e6);
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

/* share: the change; is_better: in colour. */
static void put_change(struct site *s, double before, double now, bool more_is_better)
{
    const double change = before != 0 ? now / before - 1 : 0;
    const bool worse = (more_is_better ? -change : change) >= SAME;

    if (isnan(before) || isnan(now)) {
        fputs("<td class=\"n zero\"></td>", s->to);
        return;
    }
    fprintf(s->to, "<td class=\"n%s\">%+.1f %%</td>", worse ? " hot" : " soft", 100 * change);
}

static double number(sqlite3_stmt *row, int i)
{
    return site_is_null(row, i) ? NAN : sqlite3_column_double(row, i);
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
    put_change(s, number(row, BENCH_BEFORE), number(row, BENCH_MEDIAN), false);
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
    put_change(s, number(row, 8), number(row, 3), sqlite3_column_int(row, 9));
    fputs("<td>", s->to);
    site_put(s, row, 7);
    fputs("</td></tr>\n", s->to);
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
        "where nothing else is said; before is the change since the run before.");
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
