#include "harness/cli/progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden/base/clock.h"
#include "golden/base/text_escape.h"
#include "harness/cli/colour.h"
#include "harness/cli/screen.h"

struct progress progress_start(const struct options *o, uint64_t n_cases)
{
    struct progress p = {
        .hidden =
            o->verbosity<0, .terminal = screen_is_terminal(),
                         .colour = colour_wanted(STDERR_FILENO), .many_targets = o->n_targets> 1,
        .n_cases = n_cases,
        .begun = (double) clock_steady_ns() * 1e-9,
        .duration = (double) o->duration
    };
    if (p.terminal && !p.hidden)
        screen_start();
    return p;
}

static uint64_t ms_since(const struct progress *p)
{
    double ms = ((double) clock_steady_ns() * 1e-9 - p->begun) * 1e3;
    return ms > 0 ? (uint64_t) ms : 0;
}

/* ---- kinds of failures */

static struct progress_kind *find_kind(struct progress *p, const char *target, enum verdict v,
                                       const char *what)
{
    for (uint32_t i = 0; i < p->n_kinds; i++)
        if (p->kind[i].verdict == v && !strcmp(p->kind[i].target, target) &&
            !strncmp(p->kind[i].text, what, PROGRESS_TEXT - 1))
            return &p->kind[i];
    return NULL;
}

void progress_failure(struct progress *p, const char *target, enum verdict v, const char *what,
                      const char *replay)
{
    struct progress_kind *k = find_kind(p, target, v, what);
    p->failures++;
    if (replay)
        snprintf(p->last, sizeof p->last, "%s", replay);
    if (!k && p->n_kinds < PROGRESS_KINDS) {
        k = &p->kind[p->n_kinds++];
        *k = (struct progress_kind){ .target = target, .verdict = v };
        snprintf(k->text, sizeof k->text, "%s", what);
    }
    if (k)
        k->n++;
}

void progress_shrinking(struct progress *p, uint32_t shrunk, uint32_t to_shrink)
{
    p->shrunk = shrunk;
    p->to_shrink = to_shrink;
    p->shown_ms = 0;
}

void progress_bucket(struct progress *p, const char *target, enum verdict v, const char *what,
                     const char *bucket)
{
    struct progress_kind *k = find_kind(p, target, v, what);
    if (!k)
        return;
    snprintf(k->bucket, sizeof k->bucket, "%s", bucket);
    for (uint32_t i = 0; i < p->n_kinds; i++)
        if (&p->kind[i] != k && p->kind[i].verdict == v && !strcmp(p->kind[i].target, target) &&
            !strcmp(p->kind[i].bucket, k->bucket)) {
            p->kind[i].n += k->n;
            *k = p->kind[--p->n_kinds];
            return;
        }
}

/* ---- rate and time */

/* Weighs the cases of the last 20 s most. */
static void update_rate(struct progress *p, uint64_t ms)
{
    if (ms <= p->rate_ms || p->done < p->rate_done)
        return;
    double seconds = (double) (ms - p->rate_ms) * 1e-3;
    double now = (double) (p->done - p->rate_done) / seconds;
    double weight = p->rate_ms ? 1 - exp(-seconds / 20) : 1;
    p->rate += (now - p->rate) * weight;
    p->rate_done = p->done;
    p->rate_ms = ms;
}

/* "512/s, 11 s left", or "" before the first case is complete. */
static const char *speed_text(const struct progress *p, uint64_t ms, char text[64])
{
    char left_text[32];
    text[0] = 0;
    if (!p->done || !(p->rate > 0))
        return text;
    uint64_t left = p->n_cases > p->done ? p->n_cases - p->done : 0;
    double seconds = (double) left / p->rate;
    if (p->duration > 0)
        seconds = fmin(seconds, fmax(p->duration - (double) ms * 1e-3, 0));
    text_append(text, 64, p->rate < 10 ? "%.1f/s, " : "%.0f/s, ", p->rate);
    return text_append(text, 64, "%s left", text_duration(seconds, left_text));
}

/* ---- lines of the block */

struct block {
    struct screen_line line[SCREEN_LINES];
    unsigned n, columns;
    bool colour;
};

static void begin_line(struct block *b)
{
    b->line[b->n++] = (struct screen_line){ .cells = 0 };
}

/* Appends to the last line what fits of a text, without what could control a terminal. */
static void put(struct block *b, const char *sequence, const char *text)
{
    struct screen_line *line = &b->line[b->n - 1];
    char *escaped = text_escaped(TEXT_TERMINAL, text);
    const char *at = escaped;
    if (b->colour && *sequence)
        buffer_puts(&line->text, sequence);
    while (at && *at && line->cells + 1 < b->columns) {
        uint32_t code;
        size_t n = text_utf8(at, &code);
        buffer_put(&line->text, at, n ? n : 1);
        at += n ? n : 1;
        line->cells++;
    }
    if (b->colour && *sequence)
        buffer_puts(&line->text, colour_end);
    free(escaped);
}

static void put_bar(struct block *b, double share)
{
    enum { WIDTH = 30 };
    char bar[WIDTH + 3] = "[";
    const int full = (int) (fmin(fmax(share, 0), 1) * WIDTH);
    memset(bar + 1, '#', (size_t) full);
    memset(bar + 1 + full, '.', (size_t) (WIDTH - full));
    bar[WIDTH + 1] = ']';
    begin_line(b);
    if (b->columns >= 60) /* else the numbers only */
        put(b, "", bar), put(b, "", " ");
}

static void put_head(struct block *b, const struct progress *p, uint64_t ms)
{
    char text[160], speed[64];
    if (p->to_shrink) {
        put_bar(b, (double) p->shrunk / (double) p->to_shrink);
        snprintf(text, sizeof text, "shrinking: %u of %u kinds of failures, Ctrl-C ends it",
                 p->shrunk, p->to_shrink);
    } else {
        put_bar(b, (double) p->done / (double) p->n_cases);
        snprintf(text, sizeof text, "%llu/%llu  %s", (unsigned long long) p->done,
                 (unsigned long long) p->n_cases, speed_text(p, ms, speed));
    }
    put(b, "", text);
}

/* Those that conform first. */
static void put_verdicts(struct block *b, const struct progress *p)
{
    bool is_first = true;
    begin_line(b);
    for (int pass = 0; pass < 2; pass++)
        for (int v = 0; v < VERDICT_COUNT; v++) {
            char text[64];
            if (!p->n[v] || verdict_conforming((enum verdict) v) != (pass == 0))
                continue;
            snprintf(text, sizeof text, "%llu %s", (unsigned long long) p->n[v], verdict_name[v]);
            put(b, "", is_first ? "" : ", ");
            put(b, colour_of((enum verdict) v), text);
            is_first = false;
        }
    if (is_first)
        b->n--;
    else if (p->n_kinds > 1) {
        char text[64];
        snprintf(text, sizeof text, ": %u%s kinds of failures", p->n_kinds,
                 p->n_kinds == PROGRESS_KINDS ? " or more" : "");
        put(b, "", text);
    }
}

static void put_kind(struct block *b, const struct progress *p, const struct progress_kind *k)
{
    char text[64];
    begin_line(b);
    snprintf(text, sizeof text, "%8llu ", (unsigned long long) k->n);
    put(b, "", text);
    if (k->bucket[0]) { /* begins with the verdict */
        put(b, "", k->bucket);
    } else {
        put(b, colour_of(k->verdict), verdict_name[k->verdict]);
        put(b, "", "  ");
        put(b, "", k->text);
    }
    if (p->many_targets)
        put(b, "", "  on "), put(b, "", k->target);
}

/* The most frequent kinds. */
static void put_kinds(struct block *b, const struct progress *p, unsigned most)
{
    bool is_shown[PROGRESS_KINDS] = { 0 };
    unsigned n = 0;
    for (; n < most && n < p->n_kinds; n++) {
        uint32_t best = PROGRESS_KINDS;
        for (uint32_t i = 0; i < p->n_kinds; i++)
            if (!is_shown[i] && (best == PROGRESS_KINDS || p->kind[i].n > p->kind[best].n))
                best = i;
        is_shown[best] = true;
        put_kind(b, p, &p->kind[best]);
    }
}

static void draw(struct progress *p)
{
    enum { MOST_KINDS = 6, OTHER_LINES = 3 };
    const struct screen_size size = screen_size();
    struct block b = { .columns = size.columns, .colour = p->colour };
    const uint64_t ms = ms_since(p);
    put_head(&b, p, ms);
    /* The line below the block needs room, too. */
    if (size.lines > OTHER_LINES + 1) {
        const unsigned room = size.lines - OTHER_LINES - 1;
        put_verdicts(&b, p);
        put_kinds(&b, p, room < MOST_KINDS ? room : MOST_KINDS);
        if (p->last[0]) {
            begin_line(&b);
            put(&b, colour_dim, "last: ");
            put(&b, colour_dim, p->last);
        }
    }
    screen_draw(b.line, b.n);
    for (unsigned i = 0; i < b.n; i++)
        buffer_done(&b.line[i].text);
    p->shown_ms = ms;
}

/* ---- showing */

static void print_line(const struct progress *p, uint64_t ms)
{
    char speed[64];
    fprintf(stderr, "progress: %llu of %llu cases", (unsigned long long) p->done,
            (unsigned long long) p->n_cases);
    if (p->failures)
        fprintf(stderr, "  %llu not conforming", (unsigned long long) p->failures);
    fprintf(stderr, "%s%s\n", p->done ? "  " : "", speed_text(p, ms, speed));
}

void progress_show(struct progress *p, uint64_t done, const uint64_t n[VERDICT_COUNT])
{
    const uint64_t ms = ms_since(p);
    if (p->hidden || !p->n_cases || ms < p->shown_ms + (p->terminal ? 100 : 60000))
        return;
    p->done = done;
    memcpy(p->n, n, sizeof p->n);
    update_rate(p, ms);
    if (p->terminal) {
        draw(p);
        return;
    }
    p->shown_ms = ms;
    print_line(p, ms);
}

void progress_again(struct progress *p)
{
    if (p->terminal && !p->hidden && p->n_cases && p->shown_ms)
        draw(p);
}
