/* specs_load(): selects a loader by the file name's ending and passes on one example at a time. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "golden/base/text_escape.h"
#include "specs/corpus_record.h"
#include "specs/line_reader.h"
#include "specs/load_internal.h"
#include "specs/parse_ahead.h"
#include "specs/python_child.h"
#include "specs/specs.h"

enum { MAX_LINE = 64 << 20, MAX_CHILD_LINE = 1 << 30, MAX_CHILD_EXAMPLES = 1 << 16 };

struct load {
    const char *path;
    const struct specs_options *options;
    specs_each *each;
    void *user;
};

static int fail_at_line(const char *path, size_t number, struct why *w)
{
    return number ? why_prefix(w, "%s:%zu", path, number) : why_prefix(w, "%s", path);
}

static bool is_printable(const char *name)
{
    char *cleaned = strdup(name);
    if (cleaned)
        text_clean(cleaned);
    bool same = cleaned && strcmp(cleaned, name) == 0 && !strchr(name, '\n');
    free(cleaned);
    return same;
}

struct load_lines {
    const struct load *load;
    bool numbered; /* messages have the line's number; else that in the record's member "line" */
    const char *prefix; /* with which each name must begin; NULL: any name */
    size_t taken;       /* examples */
};

/* Removes the member "line" of a record that a child process made: the line of the file that the
 * example is from.  0: none. */
static size_t take_line_member(json_t *record)
{
    json_int_t line = json_integer_value(json_object_get(record, "line"));

    json_object_del(record, "line");
    return line > 0 ? (size_t) line : 0;
}

/* For parse_ahead_run(). */
static int parse_line(const char *text, size_t n, size_t number, struct arena *a,
                      struct example *ret_example, void *user, struct why *w)
{
    const struct load_lines *l = user;
    size_t shown = l->numbered ? number : 0; /* 0: none in messages */
    json_error_t error;

    json_t *record = json_loadb(text, n, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
    if (!record) {
        why_fail(w, WHY_INVALID, "column %d: %s", error.column, error.text);
        return fail_at_line(l->load->path, shown, w);
    }
    if (!l->numbered)
        shown = take_line_member(record);
    int result = corpus_record_read(record, a, ret_example, w);
    ret_example->line = shown;
    if (result < 0) {
        const char *name = json_string_value(json_object_get(record, "name"));
        why_prefix(w, "%.120s", name ? name : "record without name");
        fail_at_line(l->load->path, shown, w);
    } else if (!is_printable(ret_example->name)) {
        result =
            why_fail(w, WHY_INVALID, "%.120s: a name with control characters", ret_example->name);
        fail_at_line(l->load->path, shown, w);
    } else if (l->prefix && (strncmp(ret_example->name, l->prefix, strlen(l->prefix)) != 0 ||
                             strstr(ret_example->name, "/../"))) {
        result = why_fail(w, WHY_INVALID, "%s: an example of this file is named %.120s, not %s...",
                          l->load->path, ret_example->name, l->prefix);
    }
    json_decref(record);
    return result < 0 ? -1 : 1;
}

static int take_line(const struct example *e, void *user, struct why *w)
{
    struct load_lines *l = user;

    REQUIRE(w, !l->prefix || l->taken++ < MAX_CHILD_EXAMPLES, "%s: more than %d examples",
            l->load->path, MAX_CHILD_EXAMPLES);
    return l->load->each(e, l->load->user, w);
}

/* prefix: NULL for a corpus, whose line numbers appear in messages. */
static int load_lines(const struct load *l, FILE *from, bool xz, const char *prefix, struct why *w)
{
    const bool numbered = !prefix;
    struct load_lines user = { l, numbered, prefix, 0 };
    const struct parse_ahead_work work = { parse_line, take_line, &user };
    struct line_reader *lines = NULL;

    TRY(line_reader_new(from, xz, numbered ? MAX_LINE : MAX_CHILD_LINE, &lines, w));
    int result = parse_ahead_run(lines, &work, numbered && l->options ? l->options->threads : 0, w);
    if (result == PARSE_AHEAD_UNREAD)
        fail_at_line(l->path, numbered ? line_reader_count(lines) + 1 : 0, w);
    line_reader_free(lines);
    return result < 0 ? -1 : 0;
}

static int load_jsonl(const struct load *l, bool xz, struct why *w)
{
    FILE *from = fopen(l->path, "re");

    if (!from)
        return why_file(w, l->path, errno);
    return load_lines(l, from, xz, NULL, w);
}

static int load_in_child(const struct load *l, const char *kind, struct why *w)
{
    struct python_child_output o;

    TRY(python_child_load(kind, l->path, l->options, &o, w));
    TRY(load_lines(l, o.lines, false, o.prefix, w));
    if (!o.failed)
        return 0;
    *w = o.why;
    return -1;
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), k = strlen(end);
    return n > k && strcmp(text + n - k, end) == 0;
}

enum kind { KIND_NONE, KIND_MODPY, KIND_JSONL, KIND_JSONL_XZ, KIND_TFLITE };

static enum kind kind_of(const char *path)
{
    static const struct {
        const char *end;
        enum kind kind;
    } kinds[] = {
        { ".mod.py", KIND_MODPY },
        { ".jsonl", KIND_JSONL },
        { ".jsonl.xz", KIND_JSONL_XZ },
        { ".tflite", KIND_TFLITE },
    };
    for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
        if (ends_with(path, kinds[i].end))
            return kinds[i].kind;
    return KIND_NONE;
}

static int load_file(const struct load *l, struct why *w)
{
    switch (kind_of(l->path)) {
    case KIND_MODPY: return load_in_child(l, "modpy", w);
    case KIND_TFLITE: return load_in_child(l, "tflite", w);
    case KIND_JSONL: return load_jsonl(l, false, w);
    case KIND_JSONL_XZ: return load_jsonl(l, true, w);
    case KIND_NONE: break;
    }
    return why_fail(w, WHY_INVALID, "%s: not a .mod.py, .jsonl, .jsonl.xz or .tflite file",
                    l->path);
}

static int is_wanted(const struct dirent *entry)
{
    return entry->d_type != DT_DIR && kind_of(entry->d_name) != KIND_NONE;
}

static int by_bytes(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int load_entry(const struct load *l, const char *name, struct why *w)
{
    struct load inner = *l;
    char *path = NULL;

    if (asprintf(&path, "%s%s%s", l->path, ends_with(l->path, "/") ? "" : "/", name) < 0)
        return why_no_memory(w);
    inner.path = path;
    int result = load_file(&inner, w);
    free(path);
    return result;
}

static int load_directory(const struct load *l, struct why *w)
{
    struct dirent **entry = NULL;
    int n = scandir(l->path, &entry, is_wanted, by_bytes), result = 0;

    if (n < 0)
        return why_file(w, l->path, errno);
    for (int i = 0; i < n; i++) {
        if (result == 0)
            result = load_entry(l, entry[i]->d_name, w);
        free(entry[i]);
    }
    free(entry);
    REQUIRE(w, n > 0, "%s: no .mod.py, .jsonl, .jsonl.xz or .tflite file in this directory",
            l->path);
    return result;
}

int specs_load(const char *path, const struct specs_options *options, specs_each *each, void *user,
               struct why *w)
{
    struct load l = { .path = path, .options = options, .each = each, .user = user };
    struct why ignored;
    struct stat st;

    w = w ? w : &ignored;
    if (stat(path, &st) < 0)
        return why_file(w, path, errno);
    int result = S_ISDIR(st.st_mode) ? load_directory(&l, w) : load_file(&l, w);
    if (result < 0) /* it may quote the file */
        text_clean(w->text);
    for (char *at = w->text; result < 0 && (at = strchr(at, '\n'));)
        *at = '?';
    return result;
}

int load_stream(FILE *from, bool xz, specs_each *each, void *user, struct why *w)
{
    struct load l = { .path = "stream", .each = each, .user = user };
    return load_lines(&l, from, xz, NULL, w);
}

int specs_read_toml(const char *path, char **ret_json, struct why *w)
{
    struct python_child_output o;
    char *line = NULL;
    size_t size = 0;

    TRY(python_child_load("toml", path, NULL, &o, w));
    ssize_t n = o.failed ? -1 : getline(&line, &size, o.lines);
    python_child_output_done(&o);
    if (n > 0) {
        *ret_json = line;
        return 0;
    }
    free(line);
    if (!o.failed)
        return why_fail(w, WHY_SYSTEM, "%s: the Python process returned no data", path);
    if (w)
        *w = o.why;
    return -1;
}
