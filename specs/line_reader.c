#include "specs/line_reader.h"

#include <errno.h>
#include <lzma.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 1 << 16 };
static const uint64_t xz_memory = 256u << 20;
static const uint64_t most_inflated = 1ull << 30; /* bytes of a compressed file */
static const size_t most_lines = 16u << 20;

struct line_reader {
    FILE *from;
    size_t limit;
    char *text; /* [start, end) has been read and not yet returned */
    size_t start, end, size;
    bool ended;
    size_t count; /* of lines returned */
    bool xz;
    lzma_stream stream;
    uint8_t in[CHUNK];
};

int line_reader_new(FILE *from, bool xz, size_t limit, struct line_reader **ret_lines,
                    struct why *w)
{
    struct line_reader *l = calloc(1, sizeof *l);

    if (!l) {
        fclose(from);
        return why_no_memory(w);
    }
    *l = (struct line_reader){ .from = from, .limit = limit, .xz = xz, .stream = LZMA_STREAM_INIT };
    if (xz && lzma_stream_decoder(&l->stream, xz_memory, LZMA_CONCATENATED) != LZMA_OK) {
        line_reader_free(l);
        return why_fail(w, WHY_MEMORY, "cannot start the xz decoder");
    }
    *ret_lines = l;
    return 0;
}

void line_reader_free(struct line_reader *l)
{
    if (!l)
        return;
    lzma_end(&l->stream);
    fclose(l->from);
    free(l->text);
    free(l);
}

static int fail_xz(const struct line_reader *l, lzma_ret code, struct why *w)
{
    const char *reason = code == LZMA_BUF_ERROR      ? "is truncated"
                         : code == LZMA_FORMAT_ERROR ? "is not in xz format"
                         : code == LZMA_MEM_ERROR || code == LZMA_MEMLIMIT_ERROR
                             ? "needs too much memory"
                             : "is damaged";
    return why_fail(w, WHY_INVALID, "byte %llu: the compressed data %s",
                    (unsigned long long) l->stream.total_in, reason);
}

/* Fills `to` with up to n bytes; 0 at the end. */
static ssize_t read_xz(struct line_reader *l, char *to, size_t n, struct why *w)
{
    lzma_stream *s = &l->stream;

    if (s->total_out > most_inflated)
        return why_fail(
            w, WHY_INVALID,
            "the compressed data inflate to more than the limit of %llu bytes; expected "
            "several smaller files, or one that is not compressed",
            (unsigned long long) most_inflated);
    s->next_out = (uint8_t *) to;
    s->avail_out = n;
    while (s->avail_out == n) {
        if (s->avail_in == 0 && !feof(l->from)) {
            s->next_in = l->in;
            s->avail_in = fread(l->in, 1, sizeof l->in, l->from);
            if (ferror(l->from))
                return why_fail(w, WHY_SYSTEM, "reading: %s", strerror(errno));
        }
        lzma_ret code = lzma_code(s, feof(l->from) ? LZMA_FINISH : LZMA_RUN);
        if (code == LZMA_STREAM_END)
            break;
        if (code != LZMA_OK)
            return fail_xz(l, code, w);
    }
    return (ssize_t) (n - s->avail_out);
}

/* Reads another chunk after the text read so far, which moves to the start of the buffer. */
static int read_more(struct line_reader *l, struct why *w)
{
    if (l->end - l->start > l->limit)
        return why_fail(w, WHY_INVALID, "a line is longer than %zu bytes", l->limit);
    if (l->start > 0) {
        memmove(l->text, l->text + l->start, l->end - l->start);
        l->end -= l->start;
        l->start = 0;
    }
    if (l->size - l->end < CHUNK) {
        size_t size = l->size * 2 + CHUNK;
        char *text = realloc(l->text, size);
        if (!text)
            return why_no_memory_for(w, "a line of %zu bytes", l->end);
        l->text = text;
        l->size = size;
    }

    char *to = l->text + l->end;
    ssize_t n = l->xz ? read_xz(l, to, CHUNK, w) : (ssize_t) fread(to, 1, CHUNK, l->from);
    if (n < 0)
        return -1;
    if (n == 0 && !l->xz && ferror(l->from))
        return why_fail(w, WHY_SYSTEM, "reading: %s", strerror(errno));
    l->ended = n == 0;
    l->end += (size_t) n;
    return 0;
}

/* Finds the next line, blank or not. */
static int next_line(struct line_reader *l, const char **ret_text, size_t *ret_length,
                     struct why *w)
{
    size_t searched = 0;
    char *newline = NULL;

    while (l->end - l->start > searched || !l->ended) {
        size_t rest = l->end - l->start - searched;
        newline = rest ? memchr(l->text + l->start + searched, '\n', rest) : NULL;
        if (newline || l->ended)
            break;
        searched += rest;
        TRY(read_more(l, w));
    }
    if (l->end == l->start)
        return 0;
    size_t length = newline ? (size_t) (newline - (l->text + l->start)) : l->end - l->start;
    *ret_text = l->text + l->start;
    *ret_length = length;
    l->start += length + (newline ? 1 : 0);
    l->count++;
    return 1;
}

static bool is_blank(const char *text, size_t length)
{
    for (size_t i = 0; i < length; i++)
        if (text[i] != ' ' && text[i] != '\t' && text[i] != '\r')
            return false;
    return true;
}

int line_reader_next(struct line_reader *l, const char **ret_text, size_t *ret_length,
                     struct why *w)
{
    int got;

    do {
        got = next_line(l, ret_text, ret_length, w);
        if (got > 0 && l->count > most_lines) {
            l->count--;
            return why_fail(w, WHY_INVALID,
                            "more lines than the limit of %zu for one file, blank ones included",
                            most_lines);
        }
    } while (got > 0 && is_blank(*ret_text, *ret_length));
    return got;
}

size_t line_reader_count(const struct line_reader *l)
{
    return l->count;
}
