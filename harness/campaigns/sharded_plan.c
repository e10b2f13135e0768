#include "harness/campaigns/sharded_plan.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden/base/arena.h"
#include "golden/base/suggest.h"
#include "harness/campaigns/sharded_engine.h"
#include "harness/campaigns/sharded_keys.h"
#include "harness/check/buffer.h"
#include "specs/specs.h"

enum { DEFAULT_CASES = 100000 /* of a shard: one to five minutes */, DEFAULT_SECONDS = 3600 };

/* ---- options of the command */

/* Options that have no meaning in [options], and why. */
static const struct {
    const char *name, *why;
} refused[] = {
    { "target", "is the key targets" },
    { "count", "is the key cases" },
    { "summary", "is the key summary, before the tables" },
    { "for", "belongs into [stop]" },
    { "shard", "is set by the campaign" },
    { "atomic", "is set by the campaign" },
    { "db", "is set by the campaign" },
    { "resume", "has no meaning here: a campaign that is started again continues" },
    { "failed", "has no meaning here: a shard has a database of its own" },
    { "steer", "has no meaning here: a shard does not know what the others have executed" },
    { "max-failures", "has no meaning here; stop.max_buckets ends a campaign" },
    { "list", "runs nothing" },
    { "junit", "is written by 'halcyon report' from the merged database" },
    { "json-file", "is written by 'halcyon report' from the merged database" },
    { "tap", "is written by 'halcyon report' from the merged database" },
    { "csv", "is written by 'halcyon report' from the merged database" },
    { "help", "runs nothing" },
};

/* The words of a plan while they are collected. */
struct words {
    const char **word;
    uint32_t n;
};

static int find_option(const struct sharded_plan *p, const char *key, struct option_facts *ret,
                       struct why *w)
{
    struct suggestion s = suggest_for(key);
    char text[SUGGEST_TEXT];
    for (int i = 0; i < COUNT(refused); i++)
        REQUIRE(w, strcmp(refused[i].name, key), "%s: options.%s: %s %s", p->file, key, key,
                refused[i].why);
    for (int at = 0; options_next(p->command, &at, ret);) {
        if (!strcmp(ret->name, key))
            return 0;
        suggest_candidate(&s, ret->name);
    }
    return why_fail(w, WHY_INVALID, "%s: options.%s: unknown option of halcyon %s%s", p->file, key,
                    p->command->name,
                    s.name ? suggest_text(&s, "", text) : "; its --help lists them");
}

/* Adds "--NAME VALUE" and checks it as the command would. */
static int add_option(const struct sharded_plan *p, struct words *words, const char *path,
                      const char *name, const char *value, struct why *w)
{
    struct options o;
    const char *option = arena_printf(p->arena, "--%s", name);
    if (!option)
        return why_no_memory(w);
    char *argv[] = { (char *) p->command->name, (char *) (uintptr_t) option,
                     (char *) (uintptr_t) value, NULL };
    if (options_parse(p->command, value ? 3 : 2, argv, &o, w) < 0) {
        const size_t n = strlen(option);
        if (!strncmp(w->text, option, n) && !strncmp(w->text + n, ": ", 2))
            memmove(w->text, w->text + n + 2, strlen(w->text + n + 2) + 1);
        return why_prefix(w, "%s: %s", p->file, path);
    }
    words->word[words->n++] = option;
    if (value)
        words->word[words->n++] = value;
    return 0;
}

static int add_key(const struct sharded_plan *p, struct words *words, const char *key,
                   const json_t *value, struct why *w)
{
    struct option_facts f;
    char path[128];
    TRY(find_option(p, key, &f, w));
    snprintf(path, sizeof path, "options.%s", key);
    if (!f.argument) {
        if (!json_is_boolean(value))
            return sharded_key_fail(p, path, "true or false", value, w);
        return json_is_true(value) ? add_option(p, words, path, key, NULL, w) : 0;
    }
    const bool list = json_is_array(value);
    char expected[80];
    snprintf(expected, sizeof expected, "%s %s",
             f.repeats ? "one or several" : "one value:", f.argument);
    if (list && !f.repeats)
        return sharded_key_fail(p, path, expected, value, w);
    for (size_t i = 0; i < (list ? json_array_size(value) : 1); i++) {
        const char *text = sharded_value_text(p, list ? json_array_get(value, i) : value);
        if (!text)
            return sharded_key_fail(p, path, expected, value, w);
        TRY(add_option(p, words, path, key, text, w));
    }
    return 0;
}

/* Options in the order of their names, so that equal plans have equal command lines. */
static int by_name(const void *a, const void *b)
{
    return strcmp(*(const char *const *) a, *(const char *const *) b);
}

static int add_options(const struct sharded_plan *p, struct words *words, struct why *w)
{
    const json_t *options = sharded_key(p, "options");
    const size_t n = json_object_size(options);
    const char **name = arena_alloc(p->arena, n + 1, sizeof *name), *key;
    json_t *value;
    size_t i = 0;
    if (!name)
        return why_no_memory(w);
    json_object_foreach((json_t *) (uintptr_t) options, key, value) name[i++] = key;
    qsort(name, n, sizeof *name, by_name);
    for (i = 0; i < n; i++)
        TRY(add_key(p, words, name[i], json_object_get(options, name[i]), w));
    if (!json_object_get(options, "jobs"))
        TRY(add_option(p, words, "options.jobs", "jobs", "1", w));
    return 0;
}

static int add_targets(const struct sharded_plan *p, struct words *words, struct why *w)
{
    const json_t *targets = sharded_key(p, "targets");
    char path[32];
    REQUIRE(w, targets, "%s: missing key 'targets', such as targets = [\"sim:cpu\"]", p->file);
    REQUIRE(w, json_array_size(targets) <= MAX_TARGETS, "%s: targets: more than %d", p->file,
            MAX_TARGETS);
    for (size_t i = 0; i < json_array_size(targets); i++) {
        snprintf(path, sizeof path, "targets[%zu]", i);
        TRY(add_option(p, words, path, "target", json_string_value(json_array_get(targets, i)), w));
    }
    return 0;
}

/* More words than all keys together can give. */
static size_t most_words(const struct sharded_plan *p)
{
    const char *key;
    json_t *value;
    size_t n = 16 + 2 * json_array_size(sharded_key(p, "targets")) +
               json_array_size(sharded_key(p, "paths"));
    json_object_foreach((json_t *) (uintptr_t) sharded_key(p, "options"), key, value) n +=
        2 + 2 * json_array_size(value);
    return n;
}

/* What depends on several options: targets that are given twice, options that exclude each other.
 * Keeps them. */
static int check_words(struct sharded_plan *p, const struct words *words, struct why *w)
{
    char **argv = arena_alloc(p->arena, words->n + 1, sizeof *argv);
    p->options = arena_alloc(p->arena, 1, sizeof *p->options);
    if (!argv || !p->options)
        return why_no_memory(w);
    for (uint32_t i = 0; i < words->n; i++)
        argv[i] = (char *) (uintptr_t) words->word[i];
    return options_parse(p->command, (int) words->n, argv, p->options, w) < 0
               ? why_prefix(w, "%s", p->file)
               : 0;
}

static int make_words(struct sharded_plan *p, struct why *w)
{
    struct words words = { arena_alloc(p->arena, most_words(p), sizeof *words.word), 0 };
    const json_t *paths = sharded_key(p, "paths");
    const bool of_files = !strcmp(p->command->name, "run");
    if (!words.word)
        return why_no_memory(w);
    REQUIRE(w, !of_files || paths, "%s: missing key 'paths': what to run", p->file);
    REQUIRE(w, of_files || !paths, "%s: paths: halcyon %s takes none", p->file, p->command->name);
    words.word[words.n++] = p->command->name;
    for (size_t i = 0; i < json_array_size(paths); i++)
        words.word[words.n++] = json_string_value(json_array_get(paths, i));
    TRY(add_targets(p, &words, w));
    if (p->n_cases) {
        const char *cases = arena_printf(p->arena, "%llu", (unsigned long long) p->n_cases);
        TRY(add_option(p, &words, "cases", "count", cases, w));
    }
    TRY(add_options(p, &words, w));
    TRY(check_words(p, &words, w));
    p->word = words.word;
    p->n_words = words.n;
    return 0;
}

/* ---- numbers of cases and shards */

static int choose_command(struct sharded_plan *p, struct why *w)
{
    static const char *const names[] = { "random", "conform", "run" };
    const char *name = sharded_key_text(p, "command");
    char text[SUGGEST_TEXT];
    struct suggestion s = suggest_for(name ? name : "random");
    for (int i = 0; i < COUNT(names); i++)
        suggest_candidate(&s, names[i]);
    for (int i = 0; i < COUNT(names); i++)
        for (int k = 0; k < command_table_n; k++)
            if (!strcmp(names[i], name ? name : "random") &&
                !strcmp(command_table[k].name, names[i]))
                p->command = &command_table[k];
    REQUIRE(w, p->command, "%s: command: expected random, conform or run, found '%s'%s", p->file,
            name, suggest_text(&s, "", text));
    return 0;
}

static int choose_shards(struct sharded_plan *p, struct why *w)
{
    const json_t *each = sharded_key(p, "cases_per_shard");
    if (strcmp(p->command->name, "random")) {
        REQUIRE(w, !p->n_cases, "%s: cases: halcyon %s runs all cases that it finds", p->file,
                p->command->name);
        REQUIRE(w, !each,
                "%s: cases_per_shard: expected shards, for the number of cases of "
                "halcyon %s is not known beforehand",
                p->file, p->command->name);
        REQUIRE(w, p->n_shards, "%s: missing key 'shards': the number of parts", p->file);
        return 0;
    }
    REQUIRE(w, p->n_cases, "%s: missing key 'cases': the number of random graphs", p->file);
    REQUIRE(w, !p->n_shards || !each, "%s: shards and cases_per_shard exclude each other", p->file);
    const uint64_t size = each ? (uint64_t) json_integer_value(each) : DEFAULT_CASES;
    if (!p->n_shards)
        p->n_shards = (p->n_cases - 1) / size + 1;
    REQUIRE(w, p->n_shards <= MOST_SHARDS,
            "%s: cases_per_shard: %llu shards, at most %d are possible", p->file,
            (unsigned long long) p->n_shards, MOST_SHARDS);
    REQUIRE(w, p->n_shards <= p->n_cases, "%s: shards: %llu for %llu cases", p->file,
            (unsigned long long) p->n_shards, (unsigned long long) p->n_cases);
    return 0;
}

/* ---- the engine */

static int add_setting(struct sharded_plan *p, const char *key, const json_t *value, struct why *w)
{
    char path[96];
    struct buffer list = { 0 };
    snprintf(path, sizeof path, "engine.%s", key);
    REQUIRE(w, p->n_settings < MOST_SETTINGS, "%s: engine: more than %d settings", p->file,
            MOST_SETTINGS);
    for (size_t i = 0; i < json_array_size(value); i++) {
        const char *text = sharded_value_text(p, json_array_get(value, i));
        buffer_printf(&list, "%s%s", i ? "," : "", text ? text : "");
    }
    const char *text = json_is_array(value) ? arena_strdup(p->arena, buffer_text(&list))
                                            : sharded_value_text(p, value);
    buffer_done(&list);
    if (!text)
        return sharded_key_fail(p, path, "a text, a number or a list of them", value, w);
    p->setting[p->n_settings++] = (struct engine_setting){ key, text };
    return 0;
}

static int check_setting(const struct sharded_plan *p, const struct shipped_engine *e,
                         const char *key, struct why *w)
{
    struct suggestion s = suggest_for(key);
    char text[SUGGEST_TEXT];
    suggest_candidate(&s, "name");
    suggest_candidate(&s, "program");
    for (int i = 0; e->keys[i]; i++) {
        if (!strcmp(e->keys[i], key))
            return 0;
        suggest_candidate(&s, e->keys[i]);
    }
    return why_fail(w, WHY_INVALID, "%s: unknown key 'engine.%s' of the engine %s%s", p->file, key,
                    e->name, suggest_text(&s, "", text));
}

/* A path of the file, relative to its folder.  NULL: out of memory. */
static const char *absolute(const struct sharded_plan *p, const char *path)
{
    while (!strncmp(path, "./", 2))
        path += 2;
    return *path == '/'
               ? arena_strdup(p->arena, path)
               : arena_printf(p->arena, "%s/%s", strcmp(p->home, "/") ? p->home : "", path);
}

static int choose_engine(struct sharded_plan *p, struct why *w)
{
    const char *name = sharded_key_text(p, "engine.name"), *key;
    const struct shipped_engine *shipped = shipped_engine_find(name ? name : "local");
    struct suggestion s = suggest_for(name ? name : "");
    char text[SUGGEST_TEXT];
    json_t *value;
    for (int i = 0; i < shipped_engines_n; i++)
        suggest_candidate(&s, shipped_engines[i].name);
    REQUIRE(w, shipped || strchr(name, '/'), "%s: engine.name: unknown engine '%s'%s", p->file,
            name,
            s.name ? suggest_text(&s, "", text)
                   : "; expected local, dask, slurm, parallel, kubernetes or the path of a "
                     "program, such as ./engine");
    p->engine = shipped ? shipped->name : absolute(p, name);
    REQUIRE(w, shipped || access(p->engine, X_OK) == 0,
            "%s: engine.name: %s is not a program that can be executed", p->file, p->engine);
    json_object_foreach((json_t *) (uintptr_t) sharded_key(p, "engine"), key, value)
    {
        if (!strcmp(key, "name") || !strcmp(key, "program"))
            continue;
        if (shipped)
            TRY(check_setting(p, shipped, key, w));
        TRY(add_setting(p, key, value, w));
    }
    return 0;
}

/* The halcyon that runs the shards: a path is relative to the file, a name is looked up by the
 * machine that runs the shard. */
static int choose_program(struct sharded_plan *p, struct why *w)
{
    const char *given = sharded_key_text(p, "engine.program");
    char self[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
    self[n > 0 ? n : 0] = 0;
    p->self = n > 0 ? arena_strdup(p->arena, self) : "halcyon";
    p->program = !given ? p->self : strchr(given, '/') ? absolute(p, given) : given;
    return p->self && p->program ? 0 : why_no_memory(w);
}

/* ---- the whole */

static int find_home(struct sharded_plan *p, struct why *w)
{
    char whole[PATH_MAX];
    if (!realpath(p->file, whole)) /* it was just read */
        return why_fail(w, WHY_INVALID, "%s: its folder cannot be found", p->file);
    char *slash = strrchr(whole, '/');
    slash[slash == whole] = 0;
    p->home = arena_strdup(p->arena, whole);
    return p->home ? 0 : why_no_memory(w);
}

static int choose_folders(struct sharded_plan *p, struct why *w)
{
    const char *output = sharded_key_text(p, "output"), *corpus = sharded_key_text(p, "corpus");
    const char *slash = strrchr(p->file, '/'), *base = slash ? slash + 1 : p->file,
               *dot = strrchr(base, '.');
    REQUIRE(w, output || (dot && dot > base), "%s: missing key 'output': a folder", p->file);
    p->output =
        absolute(p, output ? output : arena_printf(p->arena, "%.*s", (int) (dot - base), base));
    p->corpus = corpus ? absolute(p, corpus) : NULL;
    REQUIRE(w, p->output && strlen(p->output) < PATH_MAX - 64, "%s: output: the path is too long",
            p->file);
    return 0;
}

/* Shards run in the folder of the file, and the campaign holds their sum against the same files. */
static int find_baselines(struct sharded_plan *p, struct why *w)
{
    const uint32_t n = p->options->n_baselines;
    const char **path = arena_alloc(p->arena, n + 1, sizeof *path);
    if (!path)
        return why_no_memory(w);
    for (uint32_t i = 0; i < n; i++)
        if (!(path[i] = absolute(p, p->options->baseline[i])))
            return why_no_memory(w);
    p->baseline = path;
    return 0;
}

static int set_identity(struct sharded_plan *p, struct why *w)
{
    static const char *const keys[] = { "targets", "paths", "options" };
    json_t *j = p->identity = json_object();
    json_object_set_new(j, "version", json_string(HALCYON_VERSION));
    json_object_set_new(j, "command", json_string(p->command->name));
    json_object_set_new(j, "cases", json_integer((json_int_t) p->n_cases));
    json_object_set_new(j, "shards", json_integer((json_int_t) p->n_shards));
    json_object_set_new(j, "summary", json_boolean(p->summary));
    for (int i = 0; i < COUNT(keys); i++)
        if (sharded_key(p, keys[i]))
            json_object_set(j, keys[i], (json_t *) (uintptr_t) sharded_key(p, keys[i]));
    return j ? 0 : why_no_memory(w);
}

/* What the words of a shell script cannot hold. */
static int check_script(const struct sharded_plan *p, struct why *w)
{
    struct buffer b = { 0 };
    sharded_plan_put_command(p, 1, &b);
    buffer_puts(&b, " ");
    buffer_put_quoted(&b, p->home);
    bool bad = strstr(buffer_text(&b), "$'");
    buffer_done(&b);
    REQUIRE(w, !bad, "%s: a value or a path has characters that a shell script cannot hold",
            p->file);
    return 0;
}

static int read_plan(struct sharded_plan *p, const char *json, struct why *w)
{
    json_error_t error;
    p->json = json_loads(json, 0, &error);
    REQUIRE(w, p->json, "%s: %s", p->file, error.text);
    TRY(find_home(p, w));
    TRY(sharded_keys_read(p, w));
    TRY(choose_command(p, w));
    TRY(choose_shards(p, w));
    TRY(make_words(p, w));
    TRY(choose_engine(p, w));
    TRY(choose_program(p, w));
    TRY(choose_folders(p, w));
    TRY(find_baselines(p, w));
    TRY(set_identity(p, w));
    return check_script(p, w);
}

int sharded_plan_parse(const char *json, const char *file, struct sharded_plan *ret_plan,
                       struct why *w)
{
    const long cores = sysconf(_SC_NPROCESSORS_ONLN);
    struct sharded_plan p = { .file = file,
                              .jobs = cores < 1 ? 1 : (uint64_t) cores,
                              .seconds = DEFAULT_SECONDS,
                              .retries = 3,
                              .arena = arena_new(0) };
    if (!p.arena)
        return why_no_memory(w);
    if (read_plan(&p, json, w) < 0) {
        sharded_plan_done(&p);
        return -1;
    }
    *ret_plan = p;
    return 0;
}

int sharded_plan_read(const char *file, struct sharded_plan *ret_plan, struct why *w)
{
    char *json = NULL;
    TRY(specs_read_toml(file, &json, w));
    int failed = sharded_plan_parse(json, file, ret_plan, w);
    free(json);
    return failed;
}

void sharded_plan_done(struct sharded_plan *p)
{
    json_decref(p->json);
    json_decref(p->identity);
    arena_free(p->arena);
}

void sharded_plan_put_shard(const struct sharded_plan *p, const char *shard, const char *db,
                            struct buffer *b)
{
    buffer_printf(b, " --shard %s --atomic%s --db %s", shard, p->summary ? " --summary" : "", db);
}

void sharded_plan_put_command(const struct sharded_plan *p, uint64_t i, struct buffer *b)
{
    char shard[48];
    struct buffer db = { 0 }, path = { 0 };
    buffer_put_quoted(b, p->program);
    for (uint32_t k = 0; k < p->n_words; k++) {
        buffer_puts(b, " ");
        buffer_put_quoted(b, p->word[k]);
    }
    snprintf(shard, sizeof shard, "%llu/%llu", (unsigned long long) i,
             (unsigned long long) p->n_shards);
    buffer_printf(&path, "%s/shards/%llu.db", p->output, (unsigned long long) i);
    buffer_put_quoted(&db, buffer_text(&path));
    sharded_plan_put_shard(p, shard, buffer_text(&db), b);
    buffer_done(&db);
    buffer_done(&path);
}

/* ---- comparison */

static int differs(const struct sharded_plan *p, const char *path, const json_t *now,
                   const json_t *was, struct why *w)
{
    char *a = now ? json_dumps(now, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
    char *b = was ? json_dumps(was, JSON_ENCODE_ANY | JSON_COMPACT) : NULL;
    why_fail(
        w, WHY_INVALID,
        "%s: %s is %.100s, and %.100s in the campaign that was begun in %s; expected the same, "
        "or another output folder",
        p->file, path, a ? a : "not set", b ? b : "was not set", p->output);
    free(a);
    free(b);
    return -1;
}

static int compare_objects(const struct sharded_plan *p, const char *prefix, const json_t *now,
                           const json_t *was, struct why *w)
{
    const char *key;
    json_t *value;
    char path[128];
    json_object_foreach((json_t *) (uintptr_t) now, key, value)
    {
        const json_t *other = json_object_get(was, key);
        snprintf(path, sizeof path, "%s%s", prefix, key);
        if (json_equal(value, other))
            continue;
        if (json_is_object(value) && json_is_object(other))
            TRY(compare_objects(p, "options.", value, other, w));
        return differs(p, path, value, other, w);
    }
    json_object_foreach((json_t *) (uintptr_t) was, key, value)
    {
        snprintf(path, sizeof path, "%s%s", prefix, key);
        if (!json_object_get(now, key))
            return differs(p, path, NULL, value, w);
    }
    return 0;
}

int sharded_plan_compare(const struct sharded_plan *p, const json_t *old, struct why *w)
{
    return compare_objects(p, "", p->identity, old, w);
}
