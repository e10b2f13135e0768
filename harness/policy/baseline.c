#include "harness/policy/baseline.h"

#include <ctype.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "golden/base/array.h"
#include "golden/base/suggest.h"
#include "golden/golden.h"

static const char first_line[] = "halcyon-baseline 1", skip_word[] = "skip";

/* ---- entries */

int32_t baseline_today(void)
{
    time_t now = time(NULL);
    struct tm day;
    gmtime_r(&now, &day);
    return (day.tm_year + 1900) * 10000 + (day.tm_mon + 1) * 100 + day.tm_mday;
}

bool entry_is_expired(const struct baseline_entry *e, int32_t today)
{
    return e->until && e->until < today;
}

static bool expects_kind(const struct baseline_entry *e, bool conforming)
{
    for (int v = 0; v < VERDICT_COUNT; v++)
        if (e->verdicts >> v & 1 && verdict_conforming((enum verdict) v) == conforming)
            return true;
    return false;
}

bool entry_expects_conforming(const struct baseline_entry *e)
{
    return expects_kind(e, true);
}

bool entry_expects_failure(const struct baseline_entry *e)
{
    return expects_kind(e, false);
}

static bool is_in_class(const char *expected, const char *found)
{
    return !expected || strcmp(expected, found ? found : "") == 0;
}

uint32_t verdicts_of(const struct verdict_class *c)
{
    return c->verdict == VERDICT_FLAKY ? 1u << VERDICT_PASS | 1u << c->first : 1u << c->verdict;
}

bool entry_expects(const struct baseline_entry *e, const struct verdict_class *c)
{
    uint32_t given = verdicts_of(c);
    if ((e->verdicts & given) != given)
        return false;
    return verdict_conforming(c->verdict) ||
           (is_in_class(e->stage, c->stage) && is_in_class(e->status, c->status) &&
            is_in_class(e->operation, c->operation));
}

const struct baseline_entry *baseline_nearer(const struct baseline_entry *a,
                                             const struct baseline_entry *b)
{
    if (!a || !b)
        return a ? a : b;
    if (a->exact || b->exact)
        return a->exact ? a : b;
    return b->n_literal > a->n_literal ? b : a;
}

/* ---- finding */

bool baseline_is_for(const struct baseline *b, const char *uri)
{
    return !b->target || !strcmp(b->target, uri) || fnmatch(b->target, uri, 0) == 0;
}

const struct baseline_entry *baseline_find(const struct baseline *b, const char *name)
{
    uint32_t from = 0, to = b->n_exact;
    while (from < to) {
        uint32_t middle = from + (to - from) / 2;
        const struct baseline_entry *e = &b->entry[b->by_name[middle]];
        int order = strcmp(name, e->exact);
        if (order == 0)
            return e->removed ? NULL : e;
        if (order < 0)
            to = middle;
        else
            from = middle + 1;
    }
    const struct baseline_entry *found = NULL;
    for (uint32_t i = b->n_exact; i < b->n_found; i++) {
        const struct baseline_entry *e = &b->entry[b->by_name[i]];
        if (!e->removed && baseline_nearer(found, e) == e && fnmatch(e->name, name, 0) == 0)
            found = e;
    }
    return found;
}

/* ---- reading a line */

/* Where the reader is, for its messages. */
struct place {
    const char *path;
    unsigned line;
};

__attribute__((format(printf, 3, 4))) static int bad_line(const struct place *p, struct why *w,
                                                          const char *fmt, ...)
{
    char text[300];
    va_list args;
    va_start(args, fmt);
    vsnprintf(text, sizeof text, fmt, args);
    va_end(args);
    return why_fail(w, WHY_INVALID, "%.150s:%u: %s", p->path, p->line, text);
}

static int hex_digit(char c)
{
    return isdigit((unsigned char) c) ? c - '0'
           : c >= 'a' && c <= 'f'     ? c - 'a' + 10
           : c >= 'A' && c <= 'F'     ? c - 'A' + 10
                                      : -1;
}

/* Reads text in quotes: \" \\ and \xHH stand for characters.  at: behind the opening quote.
 * Returns the place behind the closing one; NULL: it is not well-formed. */
static char *unquote(char *at, char **to)
{
    for (; *at && *at != '"'; at++) {
        int high, low;
        if (*at != '\\') {
            *(*to)++ = *at;
        } else if (at[1] == '"' || at[1] == '\\') {
            *(*to)++ = *++at;
        } else if (at[1] == 'x' && (high = hex_digit(at[2])) >= 0 &&
                   (low = hex_digit(at[3])) >= 0 && high + low) {
            *(*to)++ = (char) (high << 4 | low);
            at += 3;
        } else {
            return NULL;
        }
    }
    return *at ? at + 1 : NULL;
}

/* Cuts off the next word, in which what follows a quote at its beginning or after the first '=' is
 * in quotes.  1: *ret_word; 0: the line has no more. */
static int next_word(char **line, char **ret_word, const struct place *p, struct why *w)
{
    char *at = *line + strspn(*line, " \t"), *word = at, *to = at;
    bool may_quote = true;
    if (!*at)
        return 0;
    while (*at && !strchr(" \t", *at)) {
        if (*at == '"' && may_quote) {
            at = unquote(at + 1, &to);
            if (!at || (*at && !strchr(" \t", *at)))
                return bad_line(
                    p, w,
                    "expected text in quotes, with \\\", \\\\ and \\xHH for characters, "
                    "and a blank behind it");
            break;
        }
        may_quote = *at == '=' && !memchr(word, '=', (size_t) (to - word));
        *to++ = *at++;
    }
    *line = *at ? at + 1 : at;
    *to = 0;
    *ret_word = word;
    return 1;
}

static int read_verdict(char *word, uint32_t *ret_verdicts, const struct place *p, struct why *w)
{
    struct suggestion s = suggest_for(word);
    char text[SUGGEST_TEXT];
    int v = verdict_by_name(word);
    if (v == VERDICT_FLAKY)
        return bad_line(p, w, "expected the verdicts of a flaky case, such as pass|fail");
    if (v >= 0 && v != VERDICT_WAIVED) {
        if (*ret_verdicts >> v & 1)
            return bad_line(p, w, "the verdict %s is listed twice", word);
        *ret_verdicts |= 1u << v;
        return 0;
    }
    for (v = 0; v < VERDICT_COUNT; v++)
        if (v != VERDICT_WAIVED && v != VERDICT_FLAKY)
            suggest_candidate(&s, verdict_name[v]);
    suggest_candidate(&s, skip_word);
    return bad_line(p, w, "expected skip or verdicts, such as fail or pass|fail, found '%.60s'%s",
                    word, suggest_text(&s, "", text));
}

static int read_verdicts(char *word, uint32_t *ret_verdicts, const struct place *p, struct why *w)
{
    *ret_verdicts = 0;
    if (!strcmp(word, skip_word))
        return 0;
    for (char *next = word; next; word = next) {
        next = strchr(word, '|');
        if (next)
            *next++ = 0;
        TRY(read_verdict(word, ret_verdicts, p, w));
    }
    return 0;
}

/* "2027-03-31" as 20270331 */
static int read_day(const char *text, int32_t *ret_day, const struct place *p, struct why *w)
{
    static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };
    int year, month, day, end = 0;
    bool ok = strlen(text) == 10 && strspn(text, "0123456789-") == 10 &&
              sscanf(text, "%4d-%2d-%2d%n", &year, &month, &day, &end) == 3 && end == 10 &&
              year > 0 && month >= 1 && month <= 12 && day >= 1;
    if (ok) {
        bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
        ok = day <= days[month - 1] + (month == 2 && leap);
    }
    if (!ok)
        return bad_line(p, w, "until: expected a day such as 2027-03-31, found '%.60s'", text);
    *ret_day = year * 10000 + month * 100 + day;
    return 0;
}

static int read_pair(struct baseline *b, struct baseline_entry *e, char *word,
                     const struct place *p, struct why *w)
{
    struct {
        const char *key;
        char **value;
    } texts[] = { { "stage", &e->stage },
                  { "status", &e->status },
                  { "op", &e->operation },
                  { "reason", &e->reason },
                  { "link", &e->link } };
    char *value = strchr(word, '='), text[SUGGEST_TEXT];
    struct suggestion s = suggest_for(word);
    if (!value)
        return bad_line(p, w, "expected KEY=VALUE, found '%.60s'%s", word,
                        *word == '#' ? ": a comment is a line of its own"
                                     : " (text with blanks is put in \"quotes\")");
    *value++ = 0;
    if (!*value)
        return bad_line(p, w, "%.60s: expected a value, found nothing", word);
    if (!strcmp(word, "until")) {
        if (e->until)
            return bad_line(p, w, "until is given twice");
        return read_day(value, &e->until, p, w);
    }
    suggest_candidate(&s, "until");
    for (int i = 0; i < COUNT(texts); i++) {
        suggest_candidate(&s, texts[i].key);
        if (strcmp(word, texts[i].key))
            continue;
        if (*texts[i].value)
            return bad_line(p, w, "%s is given twice", word);
        *texts[i].value = arena_strdup(b->arena, value);
        return *texts[i].value ? 0 : why_no_memory(w);
    }
    return bad_line(p, w, "unknown key '%.60s'%s", word, suggest_text(&s, "", text));
}

static int check_entry(const struct baseline_entry *e, const struct place *p, struct why *w)
{
    if ((e->stage || e->status || e->operation) && !entry_expects_failure(e))
        return bad_line(p, w,
                        "stage, status and op describe a verdict that does not conform, which is "
                        "not listed");
    if ((e->link || e->until) && !e->reason)
        return bad_line(p, w, "%s belongs to a waiver, which has reason=\"...\"",
                        e->link ? "link" : "until");
    if (entry_is_skip(e) && !e->reason)
        return bad_line(p, w, "skip needs reason=\"...\"");
    return 0;
}

/* ---- a growing baseline */

/* Sets what follows from the name: whether it is exact, and how many of its characters are. */
static int measure_name(struct baseline *b, struct baseline_entry *e, struct why *w)
{
    char *exact = arena_strdup(b->arena, e->name), *to = exact;
    bool is_glob = false;
    if (!exact)
        return why_no_memory(w);
    e->n_literal = 0;
    for (const char *at = e->name; *at; at++) {
        if (*at == '[' && strchr(at, ']')) {
            is_glob = true;
            at = strchr(at, ']');
        } else if (*at == '*' || *at == '?') {
            is_glob = true;
        } else {
            at += *at == '\\' && at[1];
            *to++ = *at;
            e->n_literal++;
        }
    }
    *to = 0;
    e->exact = is_glob ? NULL : exact;
    return 0;
}

int baseline_append(struct baseline *b, const struct baseline_entry *e, struct why *w)
{
    struct baseline_entry *entry = array_room(b->entry, b->n, sizeof *entry);
    if (entry)
        b->entry = entry;
    uint32_t *by_name = entry ? array_room(b->by_name, b->n, sizeof *by_name) : NULL;
    if (!by_name)
        return why_no_memory(w);
    b->by_name = by_name;
    b->entry[b->n] = *e;
    TRY(measure_name(b, &b->entry[b->n], w));
    b->n++;
    return 0;
}

int baseline_add_group(struct baseline *b, struct why *w)
{
    char **end = array_room(b->group_end, b->n_groups, sizeof *end);
    if (!end)
        return why_no_memory(w);
    b->group_end = end;
    end[b->n_groups++] = NULL;
    return 0;
}

/* Exact names come first, then globs. */
static int by_kind_and_name(const void *x, const void *y, void *user)
{
    const struct baseline *b = user;
    uint32_t i = *(const uint32_t *) x, k = *(const uint32_t *) y;
    const struct baseline_entry *e = &b->entry[i], *f = &b->entry[k];
    if (!e->exact != !f->exact)
        return e->exact ? -1 : 1;
    int order = strcmp(e->exact ? e->exact : e->name, f->exact ? f->exact : f->name);
    return order ? order : (i > k) - (i < k);
}

/* Sorts the index.  Fails if a case or a glob has two entries. */
static int make_index(struct baseline *b, struct why *w)
{
    for (uint32_t i = 0; i < b->n; i++) {
        b->by_name[i] = i;
        b->n_exact += b->entry[i].exact != NULL;
    }
    b->n_found = b->n;
    if (b->n)
        qsort_r(b->by_name, b->n, sizeof *b->by_name, by_kind_and_name, b);
    for (uint32_t i = 1; i < b->n; i++) {
        const struct baseline_entry *e = &b->entry[b->by_name[i - 1]],
                                    *f = &b->entry[b->by_name[i]];
        struct place p = { b->path, f->line };
        if (e->exact && f->exact ? !strcmp(e->exact, f->exact)
                                 : !e->exact && !f->exact && !strcmp(e->name, f->name))
            return bad_line(&p, w, "line %u has an entry for '%.150s' already", e->line, f->name);
    }
    return 0;
}

/* ---- reading a file */

struct reader {
    struct baseline *baseline;
    struct place place;
    char *comment;       /* lines that no entry follows yet */
    size_t length, room; /* of it */
    bool in_group, has_first, has_entries;
};

static int keep_comment(struct reader *r, const char *line, struct why *w)
{
    size_t n = strlen(line);
    if (r->length + n + 2 > r->room) {
        size_t room = 2 * (r->length + n + 2);
        char *comment = realloc(r->comment, room);
        if (!comment)
            return why_no_memory(w);
        r->comment = comment;
        r->room = room;
    }
    memcpy(r->comment + r->length, line, n);
    memcpy(r->comment + r->length + n, "\n", 2);
    r->length += n + 1;
    return 0;
}

/* Moves the comment read so far to *ret; NULL if there is none. */
static int take_comment(struct reader *r, char **ret, struct why *w)
{
    *ret = NULL;
    if (r->length && !(*ret = arena_strdup(r->baseline->arena, r->comment)))
        return why_no_memory(w);
    r->length = 0;
    return 0;
}

static int begin_group(struct reader *r, struct why *w)
{
    if (!r->in_group)
        TRY(baseline_add_group(r->baseline, w));
    r->in_group = true;
    return 0;
}

static int end_group(struct reader *r, struct why *w)
{
    struct baseline *b = r->baseline;
    if (r->length)
        TRY(begin_group(r, w));
    if (r->in_group)
        TRY(take_comment(r, &b->group_end[b->n_groups - 1], w));
    r->in_group = false;
    return 0;
}

/* Comments above the line `target`, in whatever groups, are the head of the file. */
static int take_head(struct reader *r, struct why *w)
{
    struct baseline *b = r->baseline;
    TRY(end_group(r, w));
    for (uint32_t g = 0; g < b->n_groups; g++) {
        b->head =
            b->head ? arena_printf(b->arena, "%s%s", b->head, b->group_end[g]) : b->group_end[g];
        if (!b->head)
            return why_no_memory(w);
    }
    b->n_groups = 0;
    return 0;
}

static int read_target(struct reader *r, char *line, struct why *w)
{
    struct baseline *b = r->baseline;
    const struct place *p = &r->place;
    char *word = NULL, *more = NULL;
    if (b->target || r->has_entries)
        return bad_line(p, w, "expected one line 'target URI-GLOB', above all entries");
    TRY(take_head(r, w));
    TRY(next_word(&line, &word, p, w));
    TRY(next_word(&line, &more, p, w));
    if (!word || !*word || more)
        return bad_line(p, w, "expected target URI-GLOB, found %s",
                        more ? "more than one word" : "no URI-GLOB");
    b->target = arena_strdup(b->arena, word);
    return b->target ? 0 : why_no_memory(w);
}

static int read_entry(struct reader *r, char *word, char *line, struct why *w)
{
    struct baseline *b = r->baseline;
    const struct place *p = &r->place;
    struct baseline_entry e = { .line = p->line };
    TRY(begin_group(r, w));
    e.group = b->n_groups - 1;
    TRY(take_comment(r, &e.comment, w));
    TRY(read_verdicts(word, &e.verdicts, p, w));
    int found = next_word(&line, &word, p, w);
    TRY(found);
    if (!found || !*word)
        return bad_line(p, w, "expected VERDICT CASE [KEY=VALUE...], found no CASE");
    if (!(e.name = arena_strdup(b->arena, word)))
        return why_no_memory(w);
    while ((found = next_word(&line, &word, p, w)) > 0)
        TRY(read_pair(b, &e, word, p, w));
    TRY(found);
    TRY(check_entry(&e, p, w));
    r->has_entries = true;
    return baseline_append(b, &e, w);
}

static int read_line(struct reader *r, char *line, struct why *w)
{
    const char *text = line + strspn(line, " \t");
    char *word;
    if (!r->has_first) {
        r->has_first = true;
        if (strcmp(line, first_line))
            return bad_line(
                &r->place, w,
                "expected the line '%s'; a file of waivers of older versions (CASE-GLOB "
                "TARGET-GLOB REASON) becomes one of lines 'fail CASE-GLOB "
                "reason=\"REASON\"'",
                first_line);
        return 0;
    }
    if (*text == '#')
        return keep_comment(r, text, w);
    if (!*text)
        return end_group(r, w);
    TRY(next_word(&line, &word, &r->place, w));
    return !strcmp(word, "target") ? read_target(r, line, w) : read_entry(r, word, line, w);
}

static int read_lines(struct reader *r, FILE *file, struct why *w)
{
    char *line = NULL;
    size_t size = 0;
    ssize_t n = 0;
    int failed = 0;
    while (!failed && (n = getline(&line, &size, file)) >= 0) {
        r->place.line++;
        if (strlen(line) != (size_t) n) {
            failed = bad_line(&r->place, w, "the line has a NUL byte; expected text");
            break;
        }
        while (n && strchr("\r\n", line[n - 1]))
            line[--n] = 0;
        failed = read_line(r, line, w);
    }
    free(line);
    if (!failed && ferror(file))
        failed = why_file(w, r->place.path, errno);
    if (!failed && !r->has_first) {
        r->place.line = 1;
        failed = bad_line(&r->place, w, "the file is empty; expected the line '%s'", first_line);
    }
    return failed ? -1 : end_group(r, w);
}

static struct baseline *empty_baseline(const char *path)
{
    struct baseline *b = calloc(1, sizeof *b);
    if (b && (b->arena = arena_new(0)) && (b->path = arena_strdup(b->arena, path)))
        return b;
    baseline_free(b);
    return NULL;
}

int baseline_load(const char *path, struct baseline **ret_baseline, struct why *w)
{
    FILE *file = fopen(path, "re");
    if (!file)
        return why_file(w, path, errno);
    struct reader r = { .baseline = empty_baseline(path), .place.path = path };
    int failed = r.baseline ? read_lines(&r, file, w) : why_no_memory(w);
    free(r.comment);
    fclose(file);
    if (!failed)
        failed = make_index(r.baseline, w);
    if (failed) {
        baseline_free(r.baseline);
        return -1;
    }
    *ret_baseline = r.baseline;
    return 0;
}

int baseline_new(const char *path, const char *target, struct baseline **ret_baseline,
                 struct why *w)
{
    struct baseline *b = empty_baseline(path);
    if (!b || !(b->target = arena_strdup(b->arena, target))) {
        baseline_free(b);
        return why_no_memory(w);
    }
    *ret_baseline = b;
    return 0;
}

void baseline_free(struct baseline *b)
{
    if (!b)
        return;
    arena_free(b->arena);
    free(b->group_end);
    free(b->entry);
    free(b->by_name);
    free(b);
}
