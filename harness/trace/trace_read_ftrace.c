/* Text of ftrace, as systrace has it in its pages:
 *
 *     #           TASK-PID    TGID   CPU#  ||||    TIMESTAMP  FUNCTION
 *          app.name-5143  ( 5143) [005] ...1   142.924145: tracing_mark_write: B|5143|[NN_LR_PC]x
 *             <...>-5149  (-----) [000] ...1   142.934145: tracing_mark_write: E|5143
 *
 * An older kernel has no column TGID.  The rows of all other kernel events are skipped. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "harness/trace/trace_events.h"

static const char function[] = "tracing_mark_write: ";

/* Task, thread and process of a row. */
struct row {
    char task[32];
    long long thread, process; /* process -1: not given */
    double ms;
    char kind;        /* 'B', 'E', or of no interest */
    const char *mark; /* of a begin */
};

static const char *skip_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

/* Digits; NULL: none. */
static const char *skip_digits(const char *at)
{
    size_t n = strspn(at, "0123456789");

    return n ? at + n : NULL;
}

/* "5143  ( 5143) [005]", the rest of a task's column and those that follow. */
static bool parse_thread(const char *at, struct row *ret)
{
    const char *after = skip_digits(at);

    if (!after || after - at > 10)
        return false;
    ret->thread = strtoll(at, NULL, 10);
    ret->process = -1;
    at = skip_blanks(after);
    if (at == after)
        return false;
    if (*at == '(') {
        const char *id = skip_blanks(at + 1);
        at = id + strspn(id, "-0123456789");
        if (*at != ')' || at - id > 10)
            return false;
        if (*id != '-')
            ret->process = strtoll(id, NULL, 10);
        at = skip_blanks(at + 1);
    }
    const char *cpu = *at == '[' ? skip_digits(at + 1) : NULL;
    return cpu && *cpu == ']';
}

/* The task: its name may have blanks and dashes, up to 16 characters. */
static bool parse_task(const char *row, struct row *ret)
{
    const char *begin = skip_blanks(row);

    for (size_t n = 16; n > 0; n--) {
        if (strnlen(begin, n + 1) <= n || begin[n] != '-' || !parse_thread(begin + n + 1, ret))
            continue;
        memcpy(ret->task, begin, n);
        ret->task[n] = 0;
        return true;
    }
    return false;
}

/* "142.924145: ", the last of its kind before `at`. */
static bool parse_time(const char *row, const char *at, struct row *ret)
{
    const char *begin, *point = NULL;

    while (at - row >= 3 && !(at[-1] == ' ' && at[-2] == ':' && isdigit((unsigned char) at[-3])))
        at--;
    if (at - row < 3)
        return false;
    for (begin = at - 2; begin > row && (isdigit((unsigned char) begin[-1]) || begin[-1] == '.');
         begin--)
        point = begin[-1] == '.' ? begin - 1 : point;
    ret->ms = strtod(begin, NULL) * 1e3;
    return point && point > begin && at - begin < 40;
}

/* "B|5143|[NN_LR_PC]x", "E|5143", "E" */
static bool parse_mark(const char *at, struct row *ret)
{
    const char *after;

    ret->kind = *at;
    if (*at != 'B' && *at != 'E')
        return *at && at[1] == '|'; /* an asynchronous section, a counter, an instant */
    if (*at == 'E' && !at[1])
        return true;
    if (at[1] != '|' || !(after = skip_digits(at + 2)) || after - at > 12)
        return *at == 'E' && at[1] == '|' && !at[2];
    ret->process = strtoll(at + 2, NULL, 10);
    ret->mark = after + 1;
    return *at == 'E' || *after == '|';
}

/* The mark in a row, after the time and the function's name; NULL: it is of another event. */
static const char *find_mark(const char *row, const char **ret_function)
{
    const char *at = strstr(row, function);
    const char *print = at ? NULL : strstr(row, ": print: ");

    *ret_function = at ? at : print ? print + 2 : NULL;
    if (at)
        return at + strlen(function);
    if (!print)
        return NULL;
    print += strlen(": print: "); /* newer kernels: an address follows */
    at = strstr(print, ": ");
    return at ? at + 2 : print;
}

static bool is_section(const char *mark)
{
    return (*mark == 'B' || *mark == 'E') && mark[1] == '|';
}

static bool is_of_nnapi(const char *row)
{
    return strstr(row, "[NN_") || strstr(row, "HIDL::IDevice");
}

static int take_row(struct trace_file *f, const char *line, struct why *w)
{
    struct row row = { .kind = 0 };
    const char *name, *mark = find_mark(line, &name);
    bool is_row =
        mark && parse_task(line, &row) && parse_time(line, name, &row) && parse_mark(mark, &row);

    REQUIRE(w, is_row || (!is_of_nnapi(line) && !(mark && is_section(mark))),
            "expected 'TASK-PID (TGID) [CPU] FLAGS SECONDS: tracing_mark_write: B|TGID|NAME' or "
            "'... E|TGID', found '%.120s'",
            line);
    if (!is_row || (row.kind != 'B' && row.kind != 'E'))
        return 0;
    struct trace_thread_events *t = trace_file_thread(f, row.process, row.thread);
    if (t && strcmp(t->name, row.task) != 0 && strcmp(row.task, "<...>") != 0)
        t->name = arena_strdup(f->events->arena, row.task);
    if (!t || !t->name)
        return why_no_memory_for(w, "a trace");
    return trace_file_event(f, t, row.ms, row.kind == 'B' ? row.mark : NULL, w);
}

/* Comments: "# entries-in-buffer/entries-written: 17/40   #P:4" */
static bool has_lost(const char *line)
{
    const char *at = strstr(line, "entries-in-buffer/entries-written: ");
    unsigned long long kept, written;

    if (strstr(line, "LOST") && strstr(line, "EVENTS]"))
        return true;
    return at && sscanf(at + 35, "%llu/%llu", &kept, &written) == 2 && kept < written;
}

static bool is_header(const char *line)
{
    return *line == '#' && strstr(line, "TASK-PID") && strstr(line, "FUNCTION");
}

int trace_read_ftrace(struct trace_file *f, struct why *w)
{
    bool begun = false, ended = false;
    char *line = NULL;
    size_t room = 0;
    int rc = 0;

    for (; rc == 0 && !ended && getline(&line, &room, f->from) >= 0; f->line++) {
        line[strcspn(line, "\r\n")] = 0;
        f->events->is_partial |= has_lost(line);
        begun |= is_header(line);
        ended = begun && strstr(line, "</script>");
        if (begun && !ended && *line != '#' && (rc = take_row(f, line, w)) < 0)
            why_prefix(w, "line %u", f->line);
    }
    free(line);
    if (rc == 0 && !begun)
        rc = why_fail(
            w, WHY_INVALID,
            "neither JSON nor ftrace's text: expected a trace of --trace, of systrace (with "
            "the line '# TASK-PID ... FUNCTION') or of Perfetto, converted with 'traceconv "
            "json' or 'traceconv systrace'");
    return rc;
}
