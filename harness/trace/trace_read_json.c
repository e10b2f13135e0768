/* Chrome's JSON.  A file may be larger than memory, and its array may have no end: the reader finds
 * the text of one event after the other, which the JSON library then parses. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "harness/trace/trace_events.h"

/* Bytes of one event, or of what stands before the array of events. */
enum { MOST_TEXT = 1 << 26 };

struct json_reader {
    struct trace_file *file;
    uint32_t line; /* that the next character is on */
    char *text;    /* of the value that is being read */
    size_t n, room;
};

/* ---- characters */

static int next(struct json_reader *r)
{
    int c = getc_unlocked(r->file->from);

    r->line += c == '\n';
    return c;
}

/* The next character that is neither a blank nor in `others`. */
static int next_but(struct json_reader *r, const char *others)
{
    int c = next(r);

    while (c != EOF && c && (strchr(" \t\r\n", c) || strchr(others, c)))
        c = next(r);
    return c;
}

static int keep(struct json_reader *r, int c, struct why *w)
{
    if (r->n + 1 >= r->room) {
        size_t room = 2 * r->room + 4096;
        char *more = room <= MOST_TEXT ? realloc(r->text, room) : NULL;
        if (!more)
            return why_fail(w, WHY_INVALID, "a value is longer than %d MiB", MOST_TEXT >> 20);
        r->text = more;
        r->room = room;
    }
    r->text[r->n++] = (char) c;
    r->text[r->n] = 0;
    return 0;
}

static int end_of_file(struct why *w)
{
    return why_fail(w, WHY_INVALID, "the file ends within the value that begins here");
}

/* Adds the rest of a string to the text, after its quote. */
static int keep_string(struct json_reader *r, struct why *w)
{
    for (int c = 0; c != '"';) {
        if ((c = next(r)) == EOF)
            return end_of_file(w);
        TRY(keep(r, c, w));
        if (c != '\\')
            continue;
        int escaped = next(r);
        if (escaped == EOF)
            return end_of_file(w);
        TRY(keep(r, escaped, w));
    }
    return 0;
}

/* Adds a value that begins with `c` to the text.  Returns the character after it. */
static int keep_value(struct json_reader *r, int c, int *ret_after, struct why *w)
{
    int depth = 0;

    for (;; c = next(r)) {
        if (c == EOF)
            return end_of_file(w);
        if (!depth && (c == ',' || c == '}' || c == ']'))
            break; /* after a number or a word */
        TRY(keep(r, c, w));
        depth += (c == '{' || c == '[') - (c == '}' || c == ']');
        if (c == '"')
            TRY(keep_string(r, w));
        if (!depth && (c == '}' || c == ']' || c == '"')) {
            c = next_but(r, "");
            break;
        }
    }
    *ret_after = c;
    return 0;
}

/* ---- events */

static int number_of(const json_t *e, const char *key, double *ret, struct why *w)
{
    const json_t *value = json_object_get(e, key);

    REQUIRE(w, json_is_number(value), "\"%s\" of an event is %s; expected a number", key,
            value ? "no number" : "missing");
    *ret = json_number_value(value);
    return 0;
}

/* A process or thread: 0 where it is not given. */
static int id_of(const json_t *e, const char *key, int64_t *ret, struct why *w)
{
    const json_t *value = json_object_get(e, key);

    REQUIRE(w, !value || json_is_integer(value), "\"%s\" of an event is no whole number", key);
    *ret = value ? (int64_t) json_integer_value(value) : 0;
    return 0;
}

static int take_name(struct trace_file *f, const json_t *e, struct trace_thread_events *t,
                     struct why *w)
{
    const char *what = json_string_value(json_object_get(e, "name"));
    const char *name = json_string_value(json_object_get(json_object_get(e, "args"), "name"));

    if (what && name && strcmp(what, "thread_name") == 0 &&
        !(t->name = arena_strdup(f->events->arena, name)))
        return why_no_memory_for(w, "a trace");
    return 0;
}

static int take_event(struct trace_file *f, const json_t *e, struct why *w)
{
    const char *kind = json_string_value(json_object_get(e, "ph"));
    const char *mark = json_string_value(json_object_get(e, "name"));
    const char *category = json_string_value(json_object_get(e, "cat"));
    int64_t process, thread;
    double us, duration = 0;

    REQUIRE(w, kind, "an event without a kind: \"ph\" is missing or no text");
    if (strlen(kind) != 1 || !strchr("BEXM", *kind) ||
        (category && strcmp(category, "device") == 0))
        return 0;
    TRY(id_of(e, "pid", &process, w));
    TRY(id_of(e, "tid", &thread, w));
    struct trace_thread_events *t = trace_file_thread(f, process, thread);
    if (!t)
        return why_no_memory_for(w, "a trace");
    if (*kind == 'M')
        return take_name(f, e, t, w);
    TRY(number_of(e, "ts", &us, w));
    if (*kind == 'E')
        return trace_file_event(f, t, us * 1e-3, NULL, w);
    mark = mark ? mark : "";
    if (*kind == 'B')
        return trace_file_event(f, t, us * 1e-3, mark, w);
    TRY(number_of(e, "dur", &duration, w));
    REQUIRE(w, duration >= 0, "\"dur\" of an event is %g; expected 0 or more", duration);
    return trace_file_slice(f, t, us * 1e-3, (us + duration) * 1e-3, mark, w);
}

/* Parses the text, an event, and takes it. */
static int take_text(struct json_reader *r, struct why *w)
{
    json_error_t error;
    json_t *e = json_loadb(r->text, r->n, 0, &error);
    int rc = json_is_object(e) ? take_event(r->file, e, w)
                               : why_fail(w, WHY_INVALID, "expected an event, a JSON object%s%s",
                                          e ? "" : ": ", e ? "" : error.text);
    json_decref(e);
    r->n = 0;
    return rc;
}

/* ---- files */

/* The elements of an array of events, until its end or that of the file. */
static int read_array(struct json_reader *r, struct why *w)
{
    int c = next_but(r, ","), after;

    while (c != ']' && c != EOF) {
        r->file->line = r->line;
        TRY(keep_value(r, c, &after, w));
        TRY(take_text(r, w));
        c = after == ',' ? next_but(r, ",") : after;
    }
    return 0;
}

/* A member of an object, from its quote on.  An array "traceEvents" is read, anything else added to
 * the text. */
static int read_member(struct json_reader *r, bool *is_around, int *ret_after, struct why *w)
{
    static const char events[] = "\"traceEvents\"";
    size_t key = r->n;

    TRY(keep(r, '"', w));
    TRY(keep_string(r, w));
    int c = next_but(r, "");
    REQUIRE(w, c == ':', "expected ':' after %.40s", r->text + key);
    TRY(keep(r, c, w));
    c = next_but(r, "");
    if (c != '[' || strncmp(r->text + key, events, strlen(events)) != 0)
        return keep_value(r, c, ret_after, w);
    *is_around = true;
    r->n = 0;
    TRY(read_array(r, w));
    *ret_after = next_but(r, "");
    return 0;
}

/* An object, after its brace: an event, or one that holds the array of events. */
static int read_object(struct json_reader *r, struct why *w)
{
    bool is_around = false;
    int c = next_but(r, "");

    r->file->line = r->line;
    TRY(keep(r, '{', w));
    while (c == '"') {
        TRY(read_member(r, &is_around, &c, w));
        if (c != ',')
            break;
        TRY(keep(r, c, w));
        c = next_but(r, "");
    }
    if (c == EOF && is_around) /* not closed, as an array need not be */
        return 0;
    REQUIRE(w, c == '}', "expected '}' or a member of the object that begins on line %u",
            r->file->line);
    TRY(keep(r, c, w));
    if (!is_around)
        return take_text(r, w);
    r->n = 0;
    return 0;
}

static int read_file(struct json_reader *r, struct why *w)
{
    for (int c; (c = next_but(r, ",")) != EOF;) {
        r->file->line = r->line;
        REQUIRE(w, c == '[' || c == '{', "expected an event, a JSON object");
        TRY(c == '[' ? read_array(r, w) : read_object(r, w));
    }
    return 0;
}

int trace_read_json(struct trace_file *f, struct why *w)
{
    struct json_reader r = { .file = f, .line = f->line };
    int rc = read_file(&r, w);

    if (rc < 0)
        why_prefix(w, "line %u", f->line);
    free(r.text);
    return rc;
}
