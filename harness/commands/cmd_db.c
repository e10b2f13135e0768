/* halcyon db: looks after a results database; halcyon merge: several in one. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "golden/base/output_file.h"
#include "golden/base/parse_number.h"
#include "golden/base/suggest.h"
#include "golden/base/text_escape.h"
#include "golden/math/farmhash.h"
#include "harness/check/json_value.h"
#include "harness/check/nearest_case.h"
#include "harness/commands/commands.h"
#include "harness/server/pull.h"
#include "harness/server/push.h"
#include "harness/server/server_url.h"
#include "harness/store/merge.h"
#include "harness/store/summary.h"
#include "harness/store/upkeep.h"
#include "reports/database.h"

static int open_database(const struct options *o, enum results_mode mode, struct results **ret_r,
                         struct why *w)
{
    TRY(results_look_for(o->db, w));
    return results_open(o->db, mode, ret_r, w);
}

/* "4.2 MB" */
static const char *size_text(uint64_t bytes, char text[32])
{
    static const char *const unit[] = { "bytes", "kB", "MB", "GB", "TB" };
    double size = (double) bytes;
    int i = 0;
    for (; size >= 1000 && i < COUNT(unit) - 1; i++)
        size /= 1000;
    snprintf(text, 32, i ? "%.1f %s" : "%.0f %s", size, unit[i]);
    return text;
}

/* ---- list and prune */

struct listing {
    bool json;
    size_t n;
    uint64_t n_cases;
};

static void put_json(const struct run_facts *f)
{
    json_t *j = json_object(), *targets = json_array();
    for (const char *at = f->targets; *at; at += strcspn(at, "\n") + 1) {
        char *uri = strndup(at, strcspn(at, "\n"));
        json_array_append_new(targets, json_value_text(uri ? uri : ""));
        free(uri);
    }
    json_object_set_new(j, "run", json_integer((json_int_t) f->run));
    json_object_set_new(j, "kind", json_value_text(f->kind));
    json_object_set_new(j, "started", json_value_text(f->started));
    json_object_set_new(j, "finished", *f->finished ? json_value_text(f->finished) : json_null());
    json_object_set_new(j, "planned", json_integer((json_int_t) f->n_cases));
    json_object_set_new(j, "cases", json_integer((json_int_t) f->n_recorded));
    json_object_set_new(j, "verdicts", json_integer((json_int_t) f->n_verdicts));
    json_object_set_new(j, "failing", json_integer((json_int_t) f->n_failing));
    json_object_set_new(j, "text_bytes", json_integer((json_int_t) f->text_bytes));
    json_object_set_new(j, "targets", targets);
    json_object_set_new(j, "command", json_value_text(f->command));
    json_dumpf(j, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(j);
}

static int print_run(const struct run_facts *f, void *user, struct why *w)
{
    struct listing *l = user;
    char size[32];
    (void) w;
    l->n_cases += f->n_recorded;
    l->n++;
    if (l->json) {
        put_json(f);
        return 0;
    }
    if (l->n == 1)
        printf("%6s  %-8s %-19s  %-10s %9s %9s %9s  %-10s %s\n", "run", "kind", "started", "state",
               "cases", "verdicts", "failing", "texts", "targets");
    printf("%6lld  %-8s %-19.19s  %-10s %9llu %9llu %9llu  %-10s ", (long long) f->run, f->kind,
           f->started, *f->finished ? "finished" : "unfinished", (unsigned long long) f->n_recorded,
           (unsigned long long) f->n_verdicts, (unsigned long long) f->n_failing,
           size_text(f->text_bytes, size));
    for (const char *at = f->targets; *at; at += strcspn(at, "\n") + 1) {
        char *uri = strndup(at, strcspn(at, "\n"));
        printf("%s", at == f->targets ? "" : ", ");
        text_put(stdout, TEXT_TERMINAL, uri, 0);
        free(uri);
    }
    putchar('\n');
    return 0;
}

static void print_counts(const struct listing *l)
{
    printf("%zu run%s, %llu case%s", l->n, l->n == 1 ? "" : "s", (unsigned long long) l->n_cases,
           l->n_cases == 1 ? "" : "s");
}

static int print_size(struct results *r, const struct options *o, const struct listing *l,
                      struct why *w)
{
    struct file_size size;
    char bytes[32], more[32];
    TRY(results_file_size(r, &size, w));
    text_put(stdout, TEXT_TERMINAL, o->db_shown, 0);
    printf(": schema version %d, ", size.version);
    print_counts(l);
    printf(", %s, %s of them free\n", size_text(size.bytes, bytes),
           size_text(size.free_bytes, more));
    return 0;
}

static int list_server(const struct options *o, struct listing *l, struct why *w)
{
    TRY(server_each_run(o->db, print_run, l, w));
    char *shown = server_shown_url(o->db);
    if (!shown)
        return why_no_memory(w);
    if (!l->json) {
        text_put(stdout, TEXT_TERMINAL, shown, 0);
        fputs(": ", stdout);
        print_counts(l);
        putchar('\n');
    }
    free(shown);
    return 0;
}

static int db_list(const struct options *o, struct why *w)
{
    struct listing l = { .json = o->json };
    struct results *r;
    TRY(options_expect(o, 1, 1, "list", w));
    if (server_is_url(o->db))
        return list_server(o, &l, w);
    TRY(open_database(o, RESULTS_READ, &r, w));
    int failed = results_each_run(r, NULL, print_run, &l, w);
    if (!failed && !o->json)
        failed = print_size(r, o, &l, w);
    results_close(r);
    return failed;
}

static int prune(const struct options *o, const struct prune_rule *rule, struct why *w)
{
    struct listing l = { .json = false };
    struct results *r;
    TRY(open_database(o, o->dry_run ? RESULTS_READ : RESULTS_WRITE, &r, w));
    int failed = o->dry_run ? results_each_run(r, rule, print_run, &l, w)
                            : results_prune(r, rule, print_run, &l, w);
    results_close(r);
    TRY(failed);
    printf("%zu run%s with %llu case%s %s%s\n", l.n, l.n == 1 ? "" : "s",
           (unsigned long long) l.n_cases, l.n_cases == 1 ? "" : "s",
           o->dry_run ? "would be removed" : "removed",
           l.n && !o->dry_run ? "; 'halcyon db compact' gives their space back" : "");
    return 0;
}

static int db_prune(const struct options *o, struct why *w)
{
    const size_t n = (size_t) o->n_arguments - 1;
    int64_t run[64];
    struct prune_rule rule = { .run = run,
                               .n_runs = n,
                               .older_than = o->older_than,
                               .keeps_last = o->keeps_last,
                               .keep_last = o->keep_last };
    REQUIRE(w, n || o->older_than || o->keeps_last,
            "nothing to remove: expected numbers of runs, --older-than AGE or --keep-last N");
    REQUIRE(w, !n || (!o->older_than && !o->keeps_last),
            "numbers of runs exclude --older-than and --keep-last");
    REQUIRE(w, n <= COUNT(run), "expected at most %d runs, found %zu", COUNT(run), n);
    for (size_t i = 0; i < n; i++) {
        uint64_t number = 0;
        if (parse_u64(o->argument[i + 1], 1, INT64_MAX, &number, w) < 0)
            return why_prefix(w, "RUN");
        run[i] = (int64_t) number;
    }
    return prune(o, &rule, w);
}

/* ---- compact and check */

static int compact(struct results *r, const struct options *o, struct why *w)
{
    struct file_size before, after;
    char from[32], to[32];
    TRY(results_file_size(r, &before, w));
    TRY(results_compact(r, w));
    TRY(results_file_size(r, &after, w));
    text_put(stdout, TEXT_TERMINAL, o->db_shown, 0);
    printf(": %s, before %s\n", size_text(after.bytes, to), size_text(before.bytes, from));
    return 0;
}

static int db_compact(const struct options *o, struct why *w)
{
    struct results *r;
    TRY(options_expect(o, 1, 1, "compact", w));
    TRY(open_database(o, RESULTS_WRITE, &r, w));
    int failed = compact(r, o, w);
    results_close(r);
    return failed;
}

static void print_problem(const char *text, void *user)
{
    (void) user;
    text_put(stdout, TEXT_TERMINAL, text, 0);
    putchar('\n');
}

static int db_check(const struct options *o, struct why *w)
{
    struct results *r;
    struct file_size size;
    TRY(options_expect(o, 1, 1, "check", w));
    TRY(open_database(o, RESULTS_READ, &r, w));
    int failed = results_file_size(r, &size, w), n = 0;
    if (!failed)
        failed = n = results_check(r, print_problem, NULL, w);
    results_close(r);
    if (failed < 0)
        return -1;
    text_put(stdout, TEXT_TERMINAL, o->db_shown, 0);
    printf(": schema version %d", size.version);
    if (size.version < DATABASE_VERSION)
        printf(" (this is version %d; 'halcyon db compact' upgrades it)", DATABASE_VERSION);
    printf(n ? ", %d problem%s\n" : ", no problem found\n", n, n == 1 ? "" : "s");
    return n ? EXIT_NOT_CONFORMING : 0;
}

/* ---- export and spec */

static int db_export(const struct options *o, struct why *w)
{
    struct output_file f = { .to = stdout };
    struct results *r;
    TRY(options_expect(o, 2, 2, "TABLE or VIEW", w));
    REQUIRE(w, !o->format || strcmp(o->format, "parquet") != 0,
            "--format parquet: not supported, as no library that writes Parquet is among the "
            "dependencies; expected csv, which tools for Parquet read");
    REQUIRE(w, !o->format || !strcmp(o->format, "csv"), "--format: expected csv, found '%s'",
            o->format);
    TRY(open_database(o, RESULTS_READ, &r, w));
    int failed = o->output ? output_file_open(o->output, &f, w) : 0;
    if (!failed) {
        failed = results_export(r, o->argument[1], o->run, f.to, w);
        if (o->output && output_file_close(&f, !failed, failed ? NULL : w) < 0)
            failed = -1;
    }
    results_close(r);
    return failed;
}

static int write_spec(struct results *r, const struct options *o, struct why *w)
{
    struct recorded_case c;
    const char *name = o->argument[1];
    int found = results_find_case(r, name, &c, w);
    TRY(found);
    char near[NEAREST_CASE_TEXT] = "";
    if (!found)
        results_nearest_case(r, name, near);
    REQUIRE(w, found, "%s: there is no case '%s'%s", o->db, name,
            *near ? near : " ('halcyon db export cases' has their names)");
    int failed =
        c.spec
            ? output_file_write(o->output, c.spec, strlen(c.spec), w)
            : why_fail(w, WHY_INVALID,
                       "%s: has no specification of '%s', as it conforms on every target%s", o->db,
                       name, c.file ? "" : " ('halcyon dump CASE --format spec' generates it)");
    recorded_case_done(&c);
    return failed;
}

static int db_spec(const struct options *o, struct why *w)
{
    struct results *r;
    TRY(options_expect(o, 2, 2, "CASE", w));
    TRY(open_database(o, RESULTS_READ, &r, w));
    int failed = write_spec(r, o, w);
    results_close(r);
    return failed;
}

/* ---- a server */

static void print_pushed(int64_t run, int64_t there, uint64_t n_cases, void *user)
{
    (void) user;
    printf("run %lld with %llu case%s: run %lld there\n", (long long) run,
           (unsigned long long) n_cases, n_cases == 1 ? "" : "s", (long long) there);
}

static int db_push(const struct options *o, struct why *w)
{
    struct push_counts n;
    TRY(options_expect(o, 2, 2, "URL", w));
    TRY(server_check_url(o->argument[1], w));
    REQUIRE(w, access(o->db, F_OK) == 0,
            "%s: %s ('halcyon run' and 'halcyon random' write it; --db names another)", o->db,
            strerror(errno));
    TRY(server_push(o->db, o->argument[1], o->run, print_pushed, NULL, &n, w));
    printf("%llu run%s with %llu case%s copied", (unsigned long long) n.n_runs,
           n.n_runs == 1 ? "" : "s", (unsigned long long) n.n_cases, n.n_cases == 1 ? "" : "s");
    if (n.n_repeated)
        printf("; %llu there before", (unsigned long long) n.n_repeated);
    putchar('\n');
    return 0;
}

static int db_pull(const struct options *o, struct why *w)
{
    const struct pull_filter filter = { .run = &o->run, .n_runs = o->run ? 1 : 0 };
    TRY(options_expect(o, 2, 2, "URL", w));
    TRY(server_check_url(o->argument[1], w));
    REQUIRE(w, o->output, "missing option -o FILE, the database to write");
    REQUIRE(w, !o->db_given, "--db: expected the server as an argument, and the file as -o FILE");
    TRY(server_pull(o->argument[1], &filter, o->output, w));
    text_put(stdout, TEXT_TERMINAL, o->output, 0);
    puts(": written");
    return 0;
}

/* ---- corpus */

struct corpus {
    const char *folder;
    size_t n, n_there;
};

static int make_folder(const char *path, struct why *w)
{
    return mkdir(path, 0777) < 0 && errno != EEXIST ? why_file(w, path, errno) : 0;
}

/* "fail-CONV_2D-TENSOR_FLOAT32-0123456789abcdef": a name for people, and the digest. */
static void folder_name(const struct known_failure *f, char name[128])
{
    char *at = name;
    for (const char *key = f->key; *key && at < name + 100; key++)
        *at++ = *key;
    for (char *c = name; c < at; c++)
        if (!isalnum((unsigned char) *c) && *c != '_')
            *c = '-';
    snprintf(at, 20, "-%s", f->bucket);
}

/* Two databases with the same failure write the same file. */
static int write_failure(const struct known_failure *f, void *user, struct why *w)
{
    struct corpus *c = user;
    char folder[PATH_MAX], path[PATH_MAX], name[128];
    const size_t length = strlen(f->spec);
    folder_name(f, name);
    REQUIRE(w, snprintf(folder, sizeof folder, "%s/%s", c->folder, name) < PATH_MAX - 32,
            "%.100s...: the path is too long", c->folder);
    snprintf(path, sizeof path, "%.*s/case_%016" PRIx64 ".mod.py", PATH_MAX - 40, folder,
             farmhash64(f->spec, length));
    TRY(make_folder(folder, w));
    c->n++;
    if (access(path, F_OK) == 0) {
        c->n_there++;
        return 0;
    }
    return output_file_write(path, f->spec, length, w);
}

static int db_corpus(const struct options *o, struct why *w)
{
    struct corpus c = { 0 };
    struct results *r;
    TRY(options_expect(o, 2, 2, "DIR", w));
    c.folder = o->argument[1];
    TRY(open_database(o, RESULTS_READ, &r, w));
    int failed = make_folder(c.folder, w);
    if (!failed)
        failed = results_each_known_failure(r, o->run, o->keep, write_failure, &c, w);
    results_close(r);
    TRY(failed);
    text_put(stdout, TEXT_TERMINAL, c.folder, 0);
    printf(": %zu failure%s, %zu of them new\n", c.n, c.n == 1 ? "" : "s", c.n - c.n_there);
    return 0;
}

/* ---- merge */

static int merge(const struct options *o, int first, struct merge_counts *ret_counts, struct why *w)
{
    TRY(options_expect(o, first + 1, 1 << 20, "DB", w));
    REQUIRE(w, o->output, "missing option -o OUT, the database to write");
    for (int i = first; i < o->n_arguments; i++)
        TRY(server_refuse_url(o->argument[i], "'halcyon db pull URL -o FILE' copies it to a file",
                              w));
    return results_merge((const char *const *) o->argument + first,
                         (size_t) (o->n_arguments - first), o->output, ret_counts, w);
}

/* first: the first argument that is a database. */
static int merge_all(const struct options *o, int first, struct why *w)
{
    const int n = o->n_arguments - first;
    struct merge_counts counts;
    TRY(merge(o, first, &counts, w));
    text_put(stdout, TEXT_TERMINAL, o->output, 0);
    printf(": %zu run%s of %d database%s", counts.n_runs, counts.n_runs == 1 ? "" : "s", n,
           n == 1 ? "" : "s");
    if (counts.n_parts)
        printf(", %zu shard%s in summaries", counts.n_parts, counts.n_parts == 1 ? "" : "s");
    if (counts.n_repeated)
        printf("; %zu repeated and left out", counts.n_repeated);
    putchar('\n');
    for (const char *at = counts.missing; *at; at += strcspn(at, "\n") + 1)
        fprintf(stderr, "halcyon %s: warning: %.*s\n", o->command, (int) strcspn(at, "\n"), at);
    free(counts.missing);
    return 0;
}

int cmd_merge(const struct options *o)
{
    struct why why = { 0 };
    return merge_all(o, 0, &why) < 0 ? print_error(o, &why) : EXIT_CONFORMING;
}

static int db_merge(const struct options *o, struct why *w)
{
    REQUIRE(w, !o->db_given, "--db: expected the databases to merge as arguments");
    return merge_all(o, 1, w);
}

/* ---- the command */

static const struct action {
    const char *name;
    /* Returns an exit status, or -1. */
    int (*run)(const struct options *o, struct why *w);
    bool json, prunes, output, one_run, export, keep; /* which of the options it takes */
} actions[] = {
    { "list", db_list, .json = true },
    { "prune", db_prune, .prunes = true },
    { "compact", db_compact },
    { "check", db_check },
    { "export", db_export, .output = true, .one_run = true, .export = true },
    { "spec", db_spec, .output = true },
    { "corpus", db_corpus, .one_run = true, .keep = true },
    { "merge", db_merge, .output = true },
    { "push", db_push, .one_run = true },
    { "pull", db_pull, .output = true, .one_run = true },
};

static int check_options(const struct options *o, const struct action *a, struct why *w)
{
    const struct {
        const char *name;
        bool given, taken;
    } options[] = {
        { "--json", o->json, a->json },
        { "--older-than", o->older_than != 0, a->prunes },
        { "--keep-last", o->keeps_last, a->prunes },
        { "--dry-run", o->dry_run, a->prunes },
        { "--output", o->output != NULL, a->output },
        { "--format", o->format != NULL, a->export },
        { "--run", o->run != 0, a->one_run },
        { "--keep", o->keep_given, a->keep },
    };
    for (int i = 0; i < COUNT(options); i++)
        REQUIRE(w, !options[i].given || options[i].taken, "%s is not an option of 'halcyon db %s'",
                options[i].name, a->name);
    return 0;
}

static int run_action(const struct options *o, struct why *w)
{
    char text[SUGGEST_TEXT];
    REQUIRE(w, o->n_arguments,
            "missing argument: expected list, prune, compact, check, export, spec, corpus, merge, "
            "push or pull");
    struct suggestion near = suggest_for(o->argument[0]);
    for (int i = 0; i < COUNT(actions); i++) {
        if (!strcmp(actions[i].name, o->argument[0])) {
            TRY(check_options(o, &actions[i], w));
            return actions[i].run(o, w);
        }
        suggest_candidate(&near, actions[i].name);
    }
    return why_fail(w, WHY_INVALID, "unknown action '%s'%s", o->argument[0],
                    near.name ? suggest_text(&near, "", text)
                              : "; expected list, prune, compact, check, export, spec, corpus, "
                                "merge, push or pull");
}

int cmd_db(const struct options *o)
{
    struct why why = { 0 };
    int status = run_action(o, &why);
    return status < 0 ? print_error(o, &why) : status;
}
