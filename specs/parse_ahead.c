/* A ring buffer of lines.  The caller reads lines into it and takes examples out; threads parse the
 * lines in between:
 *
 *     taken <= parsing <= read        (numbers of lines; line n is in slot n % SLOTS)
 */
#include "specs/parse_ahead.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS = 64, MOST_THREADS = 16, MOST_WAITING = 16 << 20 };

struct slot {
    char *text;
    size_t n, capacity, line; /* line: its number in the file */
    struct arena *arena;
    struct example example;
    struct why why;
    int result;
    bool done;
};

struct parse_ahead {
    const struct parse_ahead_work *work;
    pthread_mutex_t lock;
    pthread_cond_t line_read, line_parsed;
    struct slot slot[SLOTS];
    size_t taken, parsing, read;
    size_t waiting; /* bytes of text in the ring */
    bool stop;
};

static struct slot *slot_of(struct parse_ahead *a, size_t number)
{
    return &a->slot[number % SLOTS];
}

/* Thread: parses the next line that is not yet parsed, until a->stop. */
static void *parse_lines(void *user)
{
    struct parse_ahead *a = user;

    pthread_mutex_lock(&a->lock);
    for (;;) {
        while (!a->stop && a->parsing == a->read)
            pthread_cond_wait(&a->line_read, &a->lock);
        if (a->stop)
            break;
        size_t number = a->parsing++;
        struct slot *s = slot_of(a, number);
        pthread_mutex_unlock(&a->lock);
        s->result =
            a->work->parse(s->text, s->n, s->line, s->arena, &s->example, a->work->user, &s->why);
        pthread_mutex_lock(&a->lock);
        s->done = true;
        pthread_cond_signal(&a->line_parsed);
    }
    pthread_mutex_unlock(&a->lock);
    return NULL;
}

/* Reads lines until the ring is full (1) or there are no more (0). */
static int read_ahead(struct parse_ahead *a, struct line_reader *lines, struct why *w)
{
    const char *text; /* without a terminating zero */
    size_t n;

    while (a->read - a->taken < SLOTS && (a->read == a->taken || a->waiting < MOST_WAITING)) {
        struct slot *s = slot_of(a, a->read);
        int got = line_reader_next(lines, &text, &n, w);
        if (got <= 0)
            return got;
        if (!s->arena)
            s->arena = arena_new(0);
        if (s->capacity <= n) {
            free(s->text);
            s->capacity = n + 1;
            s->text = malloc(s->capacity);
        }
        if (!s->arena || !s->text) {
            s->capacity = 0;
            return why_no_memory_for(w, "a line of %zu bytes", n);
        }
        memcpy(s->text, text, n);
        s->n = n;
        s->line = line_reader_count(lines);
        s->done = false;
        a->waiting += n;
        pthread_mutex_lock(&a->lock);
        a->read++;
        pthread_cond_signal(&a->line_read);
        pthread_mutex_unlock(&a->lock);
    }
    return 1;
}

/* Waits until the oldest line is parsed and passes its example to the caller. */
static int take_line(struct parse_ahead *a, struct why *w)
{
    struct slot *s = slot_of(a, a->taken);

    pthread_mutex_lock(&a->lock);
    while (!s->done)
        pthread_cond_wait(&a->line_parsed, &a->lock);
    pthread_mutex_unlock(&a->lock);
    a->taken++;
    a->waiting -= s->n;
    if (s->result < 0) {
        *w = s->why;
        return -1;
    }
    int result = s->result > 0 ? a->work->take(&s->example, a->work->user, w) : 0;
    arena_rewind(s->arena, (struct arena_mark){ 0 });
    return result < 0 ? -1 : 0;
}

/* A line that cannot be read is reported after all lines before it. */
static int run_ring(struct parse_ahead *a, struct line_reader *lines, struct why *w)
{
    struct why unread;
    int more = 1;

    while (more > 0 || a->taken < a->read) {
        if (more > 0)
            more = read_ahead(a, lines, &unread);
        if (a->taken < a->read)
            TRY(take_line(a, w));
    }
    if (more < 0)
        *w = unread;
    return more < 0 ? PARSE_AHEAD_UNREAD : 0;
}

static int run_alone(struct line_reader *lines, const struct parse_ahead_work *work, struct why *w)
{
    struct arena *arena = arena_new(0);
    struct example e;
    const char *text;
    size_t n;
    int got = 0, result = 0;

    if (!arena)
        return why_no_memory(w);
    for (; result >= 0 && (got = line_reader_next(lines, &text, &n, w)) > 0;) {
        result = work->parse(text, n, line_reader_count(lines), arena, &e, work->user, w);
        if (result > 0)
            result = work->take(&e, work->user, w);
        arena_rewind(arena, (struct arena_mark){ 0 });
    }
    arena_free(arena);
    return result < 0 ? -1 : got < 0 ? PARSE_AHEAD_UNREAD : 0;
}

int parse_ahead_run(struct line_reader *lines, const struct parse_ahead_work *work,
                    unsigned threads, struct why *w)
{
    pthread_t thread[MOST_THREADS];
    unsigned n = 0, most = threads < MOST_THREADS ? threads : MOST_THREADS;
    struct parse_ahead *a = threads > 1 ? calloc(1, sizeof *a) : NULL;

    if (!a)
        return run_alone(lines, work, w);
    a->work = work;
    pthread_mutex_init(&a->lock, NULL);
    pthread_cond_init(&a->line_read, NULL);
    pthread_cond_init(&a->line_parsed, NULL);
    while (n < most && pthread_create(&thread[n], NULL, parse_lines, a) == 0)
        n++;
    int result = n ? run_ring(a, lines, w) : run_alone(lines, work, w);

    pthread_mutex_lock(&a->lock);
    a->stop = true;
    pthread_cond_broadcast(&a->line_read);
    pthread_mutex_unlock(&a->lock);
    for (unsigned i = 0; i < n; i++)
        pthread_join(thread[i], NULL);
    pthread_mutex_destroy(&a->lock);
    pthread_cond_destroy(&a->line_read);
    pthread_cond_destroy(&a->line_parsed);
    for (int i = 0; i < SLOTS; i++) {
        free(a->slot[i].text);
        arena_free(a->slot[i].arena);
    }
    free(a);
    return result;
}
