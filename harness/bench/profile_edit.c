#include "harness/bench/profile_edit.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct editing {
    const struct calibration *c;
    struct buffer *to;
    int section; /* that lines belong to: 0: another one, 1: performance, 2: performance.operand */
    bool done[MOST_CALIBRATED];
    bool seen[3];
};

static const char *const section_name[] = { "", "performance", "performance.operand" };

static const char *after_blanks(const char *at)
{
    return at + strspn(at, " \t");
}

/* The section that a line begins, or -1. */
static int section_of(const char *line)
{
    const char *at = after_blanks(line);

    if (*at != '[')
        return -1;
    for (int i = 1; i < 3; i++) {
        const size_t n = strlen(section_name[i]);
        const char *name = after_blanks(at + 1);
        if (strncmp(name, section_name[i], n) == 0 && *after_blanks(name + n) == ']')
            return i;
    }
    return 0;
}

static bool belongs(const struct calibrated *r, int section)
{
    return r->n && section == (r->is_operand ? 2 : 1);
}

/* Entries of the section that were not there. */
static void add_missing(struct editing *e)
{
    for (uint32_t i = 0; e->section && i < e->c->n; i++)
        if (belongs(&e->c->row[i], e->section) && !e->done[i]) {
            buffer_printf(e->to, "%s = { time = %.4g, power = 1.0 }\n", e->c->row[i].key,
                          e->c->row[i].ratio);
            e->done[i] = true;
        }
}

/* The row that a line sets, or -1. */
static int row_of(const struct editing *e, const char *line)
{
    const char *at = after_blanks(line);

    for (uint32_t i = 0; i < e->c->n; i++) {
        const size_t n = strlen(e->c->row[i].key);
        if (belongs(&e->c->row[i], e->section) && strncmp(at, e->c->row[i].key, n) == 0 &&
            *after_blanks(at + n) == '=')
            return (int) i;
    }
    return -1;
}

static int replace_time(struct editing *e, const char *line, size_t length, int row, int number,
                        struct why *w)
{
    const char *brace = memchr(line, '{', length);
    const char *time = brace ? strstr(brace, "time") : NULL;
    const char *equals = time && time < line + length ? after_blanks(time + 4) : NULL;
    char *end = NULL;

    if (equals && *equals == '=')
        strtod(equals + 1, &end);
    REQUIRE(w, end && end > equals + 1 && end <= line + length,
            "line %d: %s must be written as %s = { time = T, power = P }", number,
            e->c->row[row].key, e->c->row[row].key);
    buffer_printf(e->to, "%.*s %.4g%.*s\n", (int) (equals + 1 - line), line, e->c->row[row].ratio,
                  (int) (line + length - end), end);
    e->done[row] = true;
    return 0;
}

/* Blank lines and comments before the next section belong to it: what is missing comes before them.
 */
static bool is_filling(const char *line, size_t length)
{
    while (length && isspace((unsigned char) *line)) {
        line++;
        length--;
    }
    return !length || *line == '#';
}

static int edit_line(struct editing *e, const char *line, size_t length, int number, struct why *w)
{
    const int section = section_of(line), row = section < 0 ? row_of(e, line) : -1;

    if (row >= 0)
        return replace_time(e, line, length, row, number, w);
    if (section >= 0) {
        e->section = section;
        e->seen[section] = true;
    }
    buffer_printf(e->to, "%.*s\n", (int) length, line);
    return 0;
}

int profile_edit(const char *text, const struct calibration *c, struct buffer *ret_text,
                 struct why *w)
{
    struct editing e = { .c = c, .to = ret_text };
    const char *filling = NULL; /* its first line, not written yet */
    int number = 1;

    for (const char *line = text; *line; number++) {
        const size_t length = strcspn(line, "\n");
        const char *next = line + length + (line[length] == '\n');
        if (is_filling(line, length)) {
            filling = filling ? filling : line;
        } else {
            if (section_of(line) >= 0)
                add_missing(&e);
            if (filling)
                buffer_printf(e.to, "%.*s", (int) (line - filling), filling);
            filling = NULL;
            TRY(edit_line(&e, line, length, number, w));
        }
        line = next;
    }
    add_missing(&e);
    if (filling)
        buffer_puts(e.to, filling);
    for (e.section = 1; e.section < 3; e.section++)
        if (!e.seen[e.section]) {
            buffer_printf(e.to, "\n[%s]\n", section_name[e.section]);
            add_missing(&e);
        }
    return ret_text->failed ? why_no_memory(w) : 0;
}
