#define _GNU_SOURCE
#include "golden/base/trace_file.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "golden/base/output_file.h"
#include "golden/base/trace.h"

/* A piece of the file belongs to one process.  It begins with a line end, holds complete events,
 * one per line, and is padded with blanks. */
enum { PIECE = 1 << 16, MOST_NAME = 600, MOST_LINE = 2048 };
#define DEFAULT_LIMIT (UINT64_C(2) << 30)

/* In memory shared by all processes. */
struct shared {
    atomic_uint_least64_t end; /* file offset after the last piece in use */
    uint64_t limit;            /* that `end` may not exceed */
    atomic_bool is_full;       /* the limit was reached */
    atomic_bool is_cut;        /* a process ran out of disk space or memory */
};

static struct {
    int fd;
    struct output_file output;
    struct shared *shared;
    pthread_mutex_t lock; /* protects piece, its content, and used */
    char *piece;          /* of this process; NULL: none */
    size_t used;          /* bytes of it */
} file = { .fd = -1, .lock = PTHREAD_MUTEX_INITIALIZER };

static pid_t process;
static _Thread_local pid_t thread; /* 0: not determined yet */

/* ---- pieces */

static char blank[PIECE];

/* Maps the next piece.  Blanks are written first: a full disk is an error here instead of a SIGBUS
 * later, and the unused rest is valid JSON.  On failure this process stops tracing. */
static bool next_piece(void)
{
    if (file.piece)
        munmap(file.piece, PIECE);
    uint64_t at = atomic_fetch_add(&file.shared->end, PIECE);
    void *piece = MAP_FAILED;
    bool is_full = at + PIECE > file.shared->limit;
    if (!is_full && pwrite(file.fd, blank, PIECE, (off_t) at) == PIECE)
        piece = mmap(NULL, PIECE, PROT_READ | PROT_WRITE, MAP_SHARED, file.fd, (off_t) at);
    file.piece = piece == MAP_FAILED ? NULL : piece;
    if (!file.piece) {
        atomic_store(is_full ? &file.shared->is_full : &file.shared->is_cut, true);
        atomic_store(&trace_is_on, false);
        return false;
    }
    file.used = at ? 1 : 2;
    memcpy(file.piece, at ? "\n" : "[\n", file.used);
    return true;
}

static void before_fork(void)
{
    pthread_mutex_lock(&file.lock);
}

static void after_fork(void)
{
    pthread_mutex_unlock(&file.lock);
}

/* The current piece belongs to the parent. */
static void in_child(void)
{
    if (file.piece)
        munmap(file.piece, PIECE);
    file.piece = NULL;
    process = getpid();
    thread = 0;
    pthread_mutex_unlock(&file.lock);
}

/* ---- events */

/* Escapes text for a JSON string.  Closing braces are escaped too, so that "}" at the end of a line
 * marks a complete event. */
static void escape(const char *text, char *ret, size_t size)
{
    size_t n = 0;

    for (const unsigned char *c = (const unsigned char *) text; *c && n + 7 < size; c++) {
        if (*c < ' ' || *c == 0x7f || *c == '"' || *c == '\\' || *c == '}')
            n += (size_t) snprintf(ret + n, size - n, "\\u%04x", *c);
        else
            ret[n++] = *c < 0x80 ? (char) *c : '?';
    }
    ret[n] = 0;
}

/* Writes a line into this process's piece. */
__attribute__((format(printf, 1, 2))) static void put(const char *fmt, ...)
{
    char line[MOST_LINE];
    va_list ap;

    va_start(ap, fmt);
    int n = vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    if (n <= 0 || (size_t) n >= sizeof line)
        return;
    pthread_mutex_lock(&file.lock);
    if ((file.piece && file.used + (size_t) n <= PIECE) || next_piece()) {
        memcpy(file.piece + file.used, line, (size_t) n);
        file.used += (size_t) n;
    }
    pthread_mutex_unlock(&file.lock);
}

static void name_it(const char *what, uint32_t pid, uint32_t tid, const char *name)
{
    char text[MOST_NAME];

    escape(name, text, sizeof text);
    put("{\"ph\":\"M\",\"pid\":%u,\"tid\":%u,\"name\":\"%s\",\"args\":{\"name\":\"%s\"}},\n", pid,
        tid, what, text);
}

/* Viewers show a track as a process of its own; bit 30 keeps its number apart from process ids. */
static uint32_t track_process(uint32_t track)
{
    return UINT32_C(1) << 30 | (uint32_t) process << 7 | (track & 127);
}

static void put_on_track(const struct trace_event *e)
{
    static const char *const kind[] = { [TRACE_BEGIN] = "B",
                                        [TRACE_END] = "E",
                                        [TRACE_SLICE] = "X",
                                        [TRACE_SPAN_BEGIN] = "b",
                                        [TRACE_SPAN_END] = "e" };
    char name[MOST_NAME], detail[MOST_NAME], more[64] = "";

    escape(e->name, name, sizeof name);
    escape(e->detail ? e->detail : "", detail, sizeof detail);
    if (e->kind == TRACE_SLICE)
        snprintf(more, sizeof more, "\"dur\":%.3f,\"cat\":\"device\"", e->duration * 1e-3);
    else if (e->kind == TRACE_BEGIN || e->kind == TRACE_END)
        snprintf(more, sizeof more, "\"cat\":\"device\"");
    else
        snprintf(more, sizeof more, "\"cat\":\"execution\",\"id\":\"0x%x%08x\"",
                 track_process(e->track), (uint32_t) e->id);
    put("{\"ph\":\"%s\",\"pid\":%u,\"tid\":1,\"ts\":%.3f,%s,\"name\":\"%s\",\"args\":{\"detail\":"
        "\"%s\"}},\n",
        kind[e->kind], track_process(e->track), e->ns * 1e-3, more, name, detail);
}

static void take(const struct trace_event *e, void *user)
{
    char name[MOST_NAME];

    (void) user;
    if (!thread) { /* the first event of this thread: its name, if it has one */
        char thread_name[32] = "";
        thread = gettid();
        if (pthread_getname_np(pthread_self(), thread_name, sizeof thread_name) == 0)
            name_it("thread_name", (uint32_t) process, (uint32_t) thread, thread_name);
    }
    if (e->kind == TRACE_TRACK) {
        snprintf(name, sizeof name, "%s (virtual clock of process %d)", e->name, (int) process);
        name_it("process_name", track_process(e->track), 1, name);
        name_it("thread_name", track_process(e->track), 1, "device");
    } else if (e->track) {
        put_on_track(e);
    } else if (e->kind == TRACE_BEGIN) {
        escape(e->name, name, sizeof name);
        put("{\"ph\":\"B\",\"pid\":%d,\"tid\":%d,\"ts\":%.3f,\"cat\":\"nnapi\",\"name\":"
            "\"%s[NN_%s_%s]%s\"},\n",
            (int) process, (int) thread, e->ns * 1e-3, trace_mode_prefix[e->mode],
            trace_layer_name[e->layer], trace_phase_name[e->phase], name);
    } else {
        put("{\"ph\":\"E\",\"pid\":%d,\"tid\":%d,\"ts\":%.3f},\n", (int) process, (int) thread,
            e->ns * 1e-3);
    }
}

void trace_file_name_process(const char *name)
{
    if (TRACE_IS_ON())
        name_it("process_name", (uint32_t) process, 0, name);
}

/* ---- beginning and end */

int trace_file_start(const char *path, uint64_t limit, struct why *w)
{
    struct stat st;

    TRY(output_file_check(path, w));
    REQUIRE(w, stat(path, &st) < 0 || S_ISREG(st.st_mode), "%s: not a regular file", path);
    TRY(output_file_open(path, &file.output, w));
    file.shared =
        mmap(NULL, sizeof *file.shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (file.shared == MAP_FAILED || pthread_atfork(before_fork, after_fork, in_child) != 0)
        return why_no_memory_for(w, "a trace");
    file.shared->limit = limit ? limit : DEFAULT_LIMIT;
    file.fd = fileno(file.output.to);
    process = getpid();
    memset(blank, ' ', sizeof blank);
    trace_set_sink(take, NULL);
    return 0;
}

/* Moves the complete lines of a piece to its front, dropping padding and a line that a killed
 * process left incomplete.  Returns their bytes. */
static size_t keep_lines(char *piece, size_t bytes)
{
    size_t n = 0, length;

    for (char *at = piece, *end; at < piece + bytes; at += length) {
        end = memchr(at, '\n', (size_t) (piece + bytes - at));
        length = end ? (size_t) (end + 1 - at) : (size_t) (piece + bytes - at);
        if (!end || length < 4 || *at != '{' || memcmp(end - 2, "},", 2) != 0)
            continue;
        memmove(piece + n, at, length);
        n += length;
    }
    return n;
}

static int write_at(const char *bytes, size_t n, uint64_t at, struct why *w)
{
    if (pwrite(file.fd, bytes, n, (off_t) at) == (ssize_t) n)
        return 0;
    return why_fail(w, WHY_SYSTEM, "%s: cannot be written: %s", file.output.path, strerror(errno));
}

/* Moves the complete lines of all pieces together, and closes the array without a comma after its
 * last event. */
static int complete(struct why *w)
{
    uint64_t begin = strlen("[\n"), end = begin;
    char *room = blank; /* reused as a buffer: no more pieces are mapped */

    TRY(write_at("[\n", begin, 0, w));
    for (uint64_t at = 0; at < atomic_load(&file.shared->end); at += PIECE) {
        ssize_t bytes = pread(file.fd, room, PIECE, (off_t) at);
        if (bytes < 0)
            return why_file(w, file.output.path, errno);
        size_t n = keep_lines(room, (size_t) bytes);
        TRY(write_at(room, n, end, w));
        end += n;
    }
    const char *rest = end > begin ? "\n]\n" : "]\n";
    uint64_t at = end > begin ? end - strlen(",\n") : end;
    TRY(write_at(rest, strlen(rest), at, w));
    bool cut = ftruncate(file.fd, (off_t) (at + strlen(rest))) == 0;
    return cut ? 0 : why_file(w, file.output.path, errno);
}

int trace_file_end(bool keep, struct why *w)
{
    if (file.fd < 0)
        return 0;
    trace_set_sink(NULL, NULL);
    pthread_mutex_lock(&file.lock); /* other threads may be writing an event */
    int failed = keep ? complete(w) : 0;
    if (file.piece)
        munmap(file.piece, PIECE);
    file.piece = NULL;
    file.fd = -1; /* there is no next piece */
    pthread_mutex_unlock(&file.lock);
    bool is_full = atomic_load(&file.shared->is_full);
    bool is_cut = keep && !failed && (is_full || atomic_load(&file.shared->is_cut));
    if (is_cut) /* what there is of it is kept */
        why_fail(w, WHY_SYSTEM, "%s: the trace is incomplete: %s", file.output.path,
                 is_full ? "it has reached the limit of --trace-size"
                         : "out of disk space or memory");
    if (output_file_close(&file.output, keep && !failed, w) < 0)
        return -1;
    return is_cut ? -1 : failed;
}
