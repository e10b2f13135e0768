/* Writing and updating baselines. */
#include <stdlib.h>
#include <string.h>

#include "golden/base/output_file.h"
#include "golden/base/text_escape.h"
#include "golden/golden.h"
#include "harness/policy/baseline.h"

/* ---- text */

/* Writes a word of a line, in quotes where it needs them. */
static void put_word(FILE *to, const char *word)
{
    char *shown = text_escaped(TEXT_TERMINAL, word);
    bool visible = shown && !strcmp(shown, word);
    free(shown);
    if (visible && *word && !strpbrk(word, " \"")) {
        fputs(word, to);
        return;
    }
    putc('"', to);
    for (const char *at = word; *at; at++) {
        unsigned char c = (unsigned char) *at;
        if (c == '"' || c == '\\')
            fprintf(to, "\\%c", c);
        else if (c < 0x20 || c == 0x7f || (c >= 0x80 && !visible))
            fprintf(to, "\\x%02x", c);
        else
            putc(c, to);
    }
    putc('"', to);
}

static void put_pair(FILE *to, const char *key, const char *value)
{
    if (!value)
        return;
    fprintf(to, " %s=", key);
    put_word(to, value);
}

void entry_put(FILE *to, const struct baseline_entry *e)
{
    enum { VERDICT_WIDTH = 11 };
    int width = entry_is_skip(e) ? fprintf(to, "skip") : 0;
    for (int v = 0; v < VERDICT_COUNT; v++)
        if (e->verdicts >> v & 1)
            width += fprintf(to, "%s%s", width ? "|" : "", verdict_name[v]);
    fprintf(to, "%*s ", width < VERDICT_WIDTH ? VERDICT_WIDTH - width : 0, "");
    put_word(to, e->name);
    put_pair(to, "stage", e->stage);
    put_pair(to, "status", e->status);
    put_pair(to, "op", e->operation);
    put_pair(to, "reason", e->reason);
    put_pair(to, "link", e->link);
    if (e->until)
        fprintf(to, " until=%04d-%02d-%02d", (int) e->until / 10000, (int) e->until / 100 % 100,
                (int) e->until % 100);
}

/* By group and name, numbers in names by their values. */
static int by_group_and_name(const void *x, const void *y)
{
    const struct baseline_entry *e = *(const struct baseline_entry *const *) x,
                                *f = *(const struct baseline_entry *const *) y;
    if (e->group != f->group)
        return e->group < f->group ? -1 : 1;
    int order = strverscmp(e->name, f->name);
    return order ? order : strcmp(e->name, f->name);
}

static void put_group(FILE *to, const struct baseline_entry *const *sorted, uint32_t n,
                      const char *end)
{
    if (!n && !end)
        return;
    putc('\n', to);
    for (uint32_t i = 0; i < n; i++) {
        fputs(sorted[i]->comment ? sorted[i]->comment : "", to);
        entry_put(to, sorted[i]);
        putc('\n', to);
    }
    fputs(end ? end : "", to);
}

int baseline_put(FILE *to, const struct baseline *b, struct why *w)
{
    const struct baseline_entry **sorted = calloc((size_t) b->n + 1, sizeof *sorted);
    uint32_t n = 0, from = 0;
    if (!sorted)
        return why_no_memory(w);
    for (uint32_t i = 0; i < b->n; i++)
        if (!b->entry[i].removed)
            sorted[n++] = &b->entry[i];
    qsort(sorted, n, sizeof(const struct baseline_entry *), by_group_and_name);
    fprintf(to, "halcyon-baseline 1\n%s", b->head ? b->head : "");
    if (b->target) {
        fputs("target ", to);
        put_word(to, b->target);
        putc('\n', to);
    }
    for (uint32_t g = 0; g < b->n_groups; g++) {
        uint32_t end = from;
        while (end < n && sorted[end]->group == g)
            end++;
        put_group(to, sorted + from, end - from, b->group_end[g]);
        from = end;
    }
    free(sorted);
    return 0;
}

int baseline_save(const struct baseline *b, struct why *w)
{
    struct output_file f;
    TRY(output_file_open(b->path, &f, w));
    int failed = baseline_put(f.to, b, w);
    return output_file_close(&f, !failed, w) < 0 ? -1 : failed;
}

/* ---- updating */

/* The glob that matches this text only. */
static char *escape_glob(struct arena *a, const char *text)
{
    char *glob = arena_alloc(a, 2 * strlen(text) + 1, 1), *to = glob;
    for (; glob && *text; text++) {
        if (strchr("*?[\\", *text))
            *to++ = '\\';
        *to++ = *text;
    }
    return glob;
}

/* Replaces a verdict and class.  What every failure of its kind has is left out. */
static int set_class(struct baseline *b, struct baseline_entry *e, const struct verdict_class *c,
                     struct why *w)
{
    enum verdict verdict = c->verdict == VERDICT_FLAKY ? c->first : c->verdict;
    bool fails = !verdict_conforming(verdict);
    bool has_status = verdict == VERDICT_VIOLATION || verdict == VERDICT_REFUSED;
    struct {
        char **member;
        const char *text, *usual;
    } parts[] = {
        { &e->stage, c->stage, verdict == VERDICT_FAIL ? "done" : "none" },
        { &e->status, c->status, has_status ? "" : "NONE" },
        { &e->operation, c->operation, "" },
    };
    e->verdicts = verdicts_of(c);
    for (int i = 0; i < COUNT(parts); i++) {
        *parts[i].member = NULL;
        if (!fails || !parts[i].text || !*parts[i].text || !strcmp(parts[i].text, parts[i].usual))
            continue;
        if (!(*parts[i].member = arena_strdup(b->arena, parts[i].text)))
            return why_no_memory(w);
    }
    return 0;
}

/* Whether entries without reason and comment can join the last group. */
static bool last_group_is_plain(const struct baseline *b)
{
    uint32_t last = b->n_groups - 1, n = 0;
    if (!b->n_groups || b->group_end[last])
        return false;
    for (uint32_t i = 0; i < b->n; i++) {
        const struct baseline_entry *e = &b->entry[i];
        if (e->group == last && (e->comment || e->reason))
            return false;
        n += e->group == last;
    }
    return n > 0;
}

static int add_entry(struct baseline *b, const char *name, const struct verdict_class *c,
                     struct baseline_changes *changes, struct why *w)
{
    struct baseline_entry e = { .name = escape_glob(b->arena, name) };
    if (!e.name)
        return why_no_memory(w);
    if (!changes->has_group && !last_group_is_plain(b))
        TRY(baseline_add_group(b, w));
    changes->has_group = true;
    e.group = b->n_groups - 1;
    TRY(set_class(b, &e, c, w));
    changes->added++;
    return baseline_append(b, &e, w);
}

/* A verdict that a flake did not have yet: the class stays only where all its failures have it. */
static void widen_entry(struct baseline_entry *e, const struct verdict_class *c)
{
    e->verdicts |= verdicts_of(c);
    if (!entry_expects(e, c))
        e->stage = e->status = e->operation = NULL;
}

static int change_entry(struct baseline *b, struct baseline_entry *e, const struct verdict_class *c,
                        unsigned flags, struct baseline_changes *changes, struct why *w)
{
    bool is_flake = e->verdicts & (e->verdicts - 1);
    if (entry_is_waiver(e) && c->verdict != VERDICT_PASS) {
        changes->kept++;
        return 0;
    }
    if (entry_is_waiver(e) || (verdict_conforming(c->verdict) && !entry_expects_conforming(e) &&
                               !(flags & (BASELINE_ALL | BASELINE_FLAKES)))) {
        e->removed = true;
        changes->removed++;
        return 0;
    }
    changes->changed++;
    if (!is_flake && !(flags & BASELINE_FLAKES))
        return set_class(b, e, c, w);
    widen_entry(e, c);
    return 0;
}

int baseline_update(struct baseline *b, const char *name, const struct verdict_class *c,
                    unsigned flags, struct baseline_changes *changes, struct why *w)
{
    const struct baseline_entry *found = baseline_find(b, name);
    if (found && (entry_is_skip(found) || entry_expects(found, c)))
        return 0;
    if (found && found->exact)
        return change_entry(b, &b->entry[found - b->entry], c, flags, changes, w);
    if (verdict_conforming(c->verdict) && !(flags & BASELINE_ALL))
        return 0;
    return add_entry(b, name, c, changes, w);
}
