#include "harness/store/run_export.h"

#include <string.h>

#include "golden/base/output_file.h"

static const struct export_writer *const writers[EXPORT_FORMATS] = {
    [EXPORT_JUNIT] = &export_junit,
    [EXPORT_JSON] = &export_json,
    [EXPORT_TAP] = &export_tap,
    [EXPORT_CSV] = &export_csv,
};

/* The file that the options name for a format; NULL: none. */
static const char *path_of(const struct options *o, enum export_format f)
{
    return f == EXPORT_JUNIT  ? o->junit
           : f == EXPORT_JSON ? o->json_file
           : f == EXPORT_TAP  ? o->tap
                              : o->csv;
}

int export_check(const struct options *o, struct why *w)
{
    for (int f = 0; f < EXPORT_FORMATS; f++) {
        const char *path = path_of(o, (enum export_format) f);
        if (!path)
            continue;
        for (int i = 0; i < f; i++) {
            const char *other = path_of(o, (enum export_format) i);
            REQUIRE(w, !other || strcmp(other, path) != 0, "%s: given for two formats", path);
        }
        TRY(output_file_check(path, w));
    }
    return 0;
}

int export_write(struct results *r, const struct options *o, int64_t run, const char *host,
                 struct why *w)
{
    for (int f = 0; f < EXPORT_FORMATS; f++)
        if (path_of(o, (enum export_format) f))
            TRY(export_write_one(r, (enum export_format) f, path_of(o, (enum export_format) f), run,
                                 host, w));
    return 0;
}

/* ---- one file */

struct counting {
    struct described_run *run;
    struct totals totals[MAX_TARGETS];
    double seconds[MAX_TARGETS];
    uint64_t n_unloaded;
};

static int count_verdict(const struct recorded_verdict *v, void *user, struct why *w)
{
    (void) w;
    struct counting *c = user;
    for (uint32_t t = 0; t < c->run->n_targets; t++)
        if (!strcmp(c->run->target[t].uri, v->target)) {
            c->totals[t].n[v->verdict]++;
            c->totals[t].compared += v->checked;
            c->seconds[t] += v->ms * 1e-3;
        }
    return 0;
}

static int count_unloaded(const char *file, const char *why, void *user, struct why *w)
{
    (void) file, (void) why, (void) w;
    ((struct counting *) user)->n_unloaded++;
    return 0;
}

struct writing {
    const struct export_writer *writer;
    struct export_run export;
};

static int put_verdict(const struct recorded_verdict *v, void *user, struct why *w)
{
    (void) w;
    struct writing *x = user;
    x->writer->verdict(&x->export, v);
    x->export.n++;
    return 0;
}

static int put_unloaded(const char *file, const char *why, void *user, struct why *w)
{
    (void) w;
    struct writing *x = user;
    if (x->writer->unloaded)
        x->writer->unloaded(&x->export, file, why);
    x->export.n++;
    return 0;
}

static int put_all(struct results *r, struct writing *x, const struct recorded_filter *filter,
                   struct why *w)
{
    const struct export_writer *writer = x->writer;
    const struct described_run *run = x->export.run;
    if (writer->begin)
        writer->begin(&x->export);
    for (uint32_t t = 0; t < run->n_targets; t++) {
        struct recorded_filter f = { .run = filter->run, .target = run->target[t].uri };
        x->export.target = t;
        if (writer->begin_target)
            writer->begin_target(&x->export);
        TRY(results_each_recorded(r, &f, put_verdict, x, w));
        if (writer->end_target)
            writer->end_target(&x->export);
    }
    TRY(results_each_unloaded(r, run->run, put_unloaded, x, w));
    if (writer->end)
        writer->end(&x->export);
    return 0;
}

int export_write_one(struct results *r, enum export_format format, const char *path, int64_t run,
                     const char *host, struct why *w)
{
    struct recorded_filter filter = { .run = run };
    struct described_run described;
    struct output_file f;
    TRY(results_check_rows(r, filter.run, w));
    TRY(results_describe(r, &filter, &described, w));
    struct counting counted = { .run = &described };
    struct writing x = {
        writers[format],
        { .run = &described, .host = host, .totals = counted.totals, .seconds = counted.seconds }
    };
    int failed = results_each_recorded(r, &filter, count_verdict, &counted, w);
    if (!failed)
        failed = results_each_unloaded(r, described.run, count_unloaded, &counted, w);
    x.export.n_unloaded = counted.n_unloaded;
    if (!failed)
        failed = output_file_open(path, &f, w);
    if (!failed) {
        x.export.to = f.to;
        failed = put_all(r, &x, &filter, w);
        failed = output_file_close(&f, !failed, w) < 0 ? -1 : failed;
    }
    described_run_done(&described);
    return failed;
}
