#include "harness/bench/bench_base.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "golden/base/text_escape.h"
#include "harness/bench/bench_print.h"
#include "harness/check/json_value.h"
#include "harness/store/bench_rows.h"
#include "harness/store/named_run.h"

int bench_base_open(const char *text, const char *db, struct bench_base *ret_base, struct why *w)
{
    struct bench_base b = { 0 };
    int failed = named_run_parse(text, strlen(text), db, &b.path, &b.run, w);

    if (!failed)
        failed = named_run_check(b.path, "", w);
    if (!failed)
        failed = results_open(b.path, RESULTS_READ, &b.results, w);
    if (!failed)
        failed = results_find_bench(b.results, &b.run, b.started, w);
    if (failed) {
        bench_base_close(&b);
        return -1;
    }
    *ret_base = b;
    return 0;
}

void bench_base_close(struct bench_base *b)
{
    results_close(b->results);
    free(b->path);
    *b = (struct bench_base){ 0 };
}

int bench_base_compare(struct bench_base *b, const char *model, const char *uri,
                       const struct bench_result *now, struct bench_time_changes *ret,
                       struct why *w)
{
    struct bench_time_changes d = { 0 };

    for (int what = 0; what < BENCH_WHATS; what++)
        for (int c = 0; c < BENCH_CLOCKS; c++) {
            const struct bench_times *t = &now->times[what][c];
            struct bench_time_change *x = &d.row[d.n];
            *x = (struct bench_time_change){ .what = (enum bench_what) what,
                                             .clock = (enum bench_clock) c,
                                             .now = { t->median, t->low, t->high, t->parts } };
            const int found =
                t->n ? results_bench_median(b->results, b->run, uri, model, bench_what_name[what],
                                            bench_clock_name[c], &x->before, w)
                     : 0;
            TRY(found);
            if (!found)
                continue;
            x->change = bench_change_of(&x->before, &x->now);
            d.is_known = true;
            d.n++;
        }
    *ret = d;
    return 0;
}

/* ---- output */

static void print_change(const struct bench_time_change *x, FILE *to)
{
    char before[BENCH_DURATION], now[BENCH_DURATION];

    fprintf(to, "    %-18s %-7s %12s before, %12s now: %+.1f %%, %s\n", bench_what_name[x->what],
            bench_clock_name[x->clock], bench_duration(x->before.median, before),
            bench_duration(x->now.median, now), 100 * (x->now.median / x->before.median - 1),
            bench_change_name[x->change]);
}

void bench_changes_print(const struct bench_base *b, const struct bench_time_changes *d, FILE *to)
{
    uint32_t n[BENCH_SLOWER + 1] = { 0 };

    fprintf(to, "    against run %" PRId64 " of ", b->run);
    text_put(to, TEXT_TERMINAL, b->path, 0);
    if (!d->is_known) {
        fputs(", which has no times of this model and target\n", to);
        return;
    }
    for (uint32_t i = 0; i < d->n; i++)
        n[d->row[i].change]++;
    fprintf(to, ": %u slower, %u faster, %u within the noise", n[BENCH_SLOWER], n[BENCH_FASTER],
            n[BENCH_SAME]);
    if (n[BENCH_UNKNOWN])
        fprintf(to, ", %u of which the noise is not known", n[BENCH_UNKNOWN]);
    fputc('\n', to);
    for (uint32_t i = 0; i < d->n; i++)
        if (d->row[i].change >= BENCH_FASTER)
            print_change(&d->row[i], to);
}

static json_t *median_json(const struct bench_median *m)
{
    json_t *o = json_pack("{s:f}", "median_ns", m->median);

    if (m->parts) {
        json_object_set_new(o, "low_ns", json_real(m->low));
        json_object_set_new(o, "high_ns", json_real(m->high));
    }
    return o;
}

json_t *bench_changes_json(const struct bench_base *b, const struct bench_time_changes *d)
{
    json_t *rows = json_array(), *o = json_object();

    for (uint32_t i = 0; i < d->n; i++) {
        const struct bench_time_change *x = &d->row[i];
        json_array_append_new(
            rows, json_pack("{s:s, s:s, s:o, s:o, s:s}", "what", bench_what_name[x->what], "clock",
                            bench_clock_name[x->clock], "before", median_json(&x->before), "now",
                            median_json(&x->now), "change", bench_change_name[x->change]));
    }
    json_object_set_new(o, "database", json_value_text(b->path));
    json_object_set_new(o, "run", json_integer((json_int_t) b->run));
    json_object_set_new(o, "started", json_value_text(b->started));
    json_object_set_new(o, "times", rows);
    return o;
}
