#define _GNU_SOURCE
#include "specs/python_child.h"

#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <jansson.h>

#include "specs/python_zygote.h"

enum { DEFAULT_TIMEOUT = 60, MAX_TIMEOUT = 1000000, MAX_TRACE = 1 << 16, MAX_TAIL = 4096 };
static const uint64_t default_memory = 4ull << 30;

/* The Python zygote of this process.  owner: the process that started it; a fork inherits the
 * socket but must not use it. */
static struct {
    pthread_mutex_t lock;
    pid_t owner;
    int socket;
} zygote = { .lock = PTHREAD_MUTEX_INITIALIZER, .socket = -1 };

/* Forks twice: the zygote is no child of the caller, so that none of its waitpid() calls reaps it.
 */
static int spawn(int socket, int other, struct why *w)
{
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        close(other);
        if (fork() == 0)
            python_zygote_serve(socket);
        _exit(0);
    }
    if (pid < 0)
        return why_fail(w, WHY_SYSTEM, "fork: %s", strerror(errno));
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return 0;
}

static void python_zygote_close(void)
{
    if (zygote.socket >= 0)
        close(zygote.socket);
    zygote.socket = -1;
}

static int python_zygote_open(struct why *w)
{
    struct python_zygote_greeting greeting;
    int pair[2];

    if (zygote.socket >= 0 && zygote.owner == getpid())
        return 0;
    python_zygote_close();
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
        return why_fail(w, WHY_SYSTEM, "socketpair: %s", strerror(errno));
    int spawned = spawn(pair[1], pair[0], w);
    close(pair[1]);
    zygote.socket = pair[0];
    zygote.owner = getpid();
    if (spawned == 0 && recv(pair[0], &greeting, sizeof greeting, 0) == sizeof greeting &&
        greeting.ready)
        return 0;
    if (spawned == 0)
        why_fail(w, WHY_SYSTEM, "%s", "the Python process did not start");
    python_zygote_close();
    return -1;
}

/* Sends the request with the child's two descriptors and waits for the reply. */
static int exchange(const struct python_zygote_request *r, int lines, int trace,
                    struct python_zygote_reply *ret_reply, struct why *w)
{
    const int fd[2] = { lines, trace };
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(sizeof fd)];
    } control = { .header = { .cmsg_len = CMSG_LEN(sizeof fd),
                              .cmsg_level = SOL_SOCKET,
                              .cmsg_type = SCM_RIGHTS } };
    struct iovec iov = { .iov_base = (void *) r, .iov_len = sizeof *r };
    struct msghdr msg = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control
    };
    ssize_t n = -1;

    memcpy(CMSG_DATA(&control.header), fd, sizeof fd);
    TRY(python_zygote_open(w));
    if (sendmsg(zygote.socket, &msg, MSG_NOSIGNAL) == (ssize_t) sizeof *r)
        do
            n = recv(zygote.socket, ret_reply, sizeof *ret_reply, 0);
        while (n < 0 && errno == EINTR);
    if (n == (ssize_t) sizeof *ret_reply)
        return 0;
    python_zygote_close();
    return why_fail(w, WHY_SYSTEM, "%s: the Python process ended unexpectedly", r->path);
}

static int make_request(const char *kind, const char *path, const struct specs_options *options,
                        struct python_zygote_request *ret_request, struct why *w)
{
    struct python_zygote_request *r = ret_request;
    char here[PATH_MAX] = "";
    double timeout = options ? options->timeout : 0;
    uint64_t memory = options ? options->memory_limit : 0;

    if (path[0] != '/' && !getcwd(here, sizeof here))
        return why_fail(w, WHY_SYSTEM, "current directory: %s", strerror(errno));
    int n = snprintf(r->path, sizeof r->path, "%s%s%s", here, *here ? "/" : "", path);
    REQUIRE(w, n > 0 && (size_t) n < sizeof r->path, "%s: the path is too long", path);
    snprintf(r->kind, sizeof r->kind, "%s", kind);
    r->timeout = timeout > 0 ? fmin(timeout, MAX_TIMEOUT) : DEFAULT_TIMEOUT;
    r->memory_limit = memory > 0 ? memory : default_memory;
    return 0;
}

/* The innermost line of `path` in the stack trace that faulthandler wrote, or 0. */
static long traced_line(int trace, const char *path)
{
    static const char opening[] = "File \"";
    char *text = calloc(1, MAX_TRACE + 1);
    long line = 0;

    if (!text || pread(trace, text, MAX_TRACE, 0) < 0) {
        free(text);
        return 0;
    }
    for (char *at = text; line == 0 && (at = strstr(at, opening)); at++) {
        const char *file = at + strlen(opening);
        size_t n = strlen(path);
        if (strncmp(file, path, n) == 0 && sscanf(file + n, "\", line %ld", &line) != 1)
            line = 0;
    }
    free(text);
    return line;
}

/* Composes the reason for a child that ended without its final record. */
static void explain_end(const struct python_zygote_request *r,
                        const struct python_zygote_reply *reply, const char *path, int trace,
                        struct why *w)
{
    char place[PATH_MAX + 32], start[64] = ""; /* of the trace */
    long line = traced_line(trace, r->path);
    bool timeout = pread(trace, start, sizeof start - 1, 0) > 0 && strstr(start, "Timeout");

    if (line > 0)
        snprintf(place, sizeof place, "%s:%ld", path, line);
    else
        snprintf(place, sizeof place, "%s", path);
    if (reply->end == ENDED_UNSTARTED)
        why_fail(w, WHY_SYSTEM, "%s: fork: %s", place, strerror(reply->value));
    else if (reply->end == ENDED_OVERTIME || timeout)
        why_fail(w, WHY_TIMEOUT, "%s: not loaded within %g s", place, r->timeout);
    else if (reply->end == ENDED_SIGNAL)
        why_fail(w, WHY_INVALID, "%s: killed by signal %d (%s)", place, reply->value,
                 strsignal(reply->value));
    else
        why_fail(w, WHY_INVALID, "%s: the file ended its process with status %d", place,
                 reply->value);
}

static enum why_code code_of(const char *kind)
{
    if (strcmp(kind, "unsupported") == 0)
        return WHY_UNSUPPORTED;
    return strcmp(kind, "system") == 0 ? WHY_SYSTEM : WHY_INVALID;
}

/* Reads the child's final record.  1: success, 0: a failure, described in *w, -1: it is none. */
static int read_final_record(const char *text, size_t n, const char *path, struct why *w)
{
    const char *error = NULL, *kind = "invalid";
    json_int_t line = 0, end = -1;
    json_t *o = json_loadb(text, n, 0, NULL);
    int result = -1;

    if (o && json_unpack(o, "{s:I}", "end", &end) == 0) {
        result = 1;
    } else if (o && json_unpack(o, "{s:s, s?s, s?I}", "error", &error, "kind", &kind, "line",
                                &line) == 0) {
        result = 0;
        if (line > 0)
            why_fail(w, code_of(kind), "%s:%lld: %s", path, (long long) line, error);
        else
            why_fail(w, code_of(kind), "%s: %s", path, error);
    }
    json_decref(o);
    return result;
}

/* Removes the final record from the lines, and a line without end.  Result as of
 * read_final_record(). */
static int cut_final_record(int lines, const char *path, struct why *w)
{
    char tail[MAX_TAIL];
    off_t size = lseek(lines, 0, SEEK_END);
    off_t from = size > MAX_TAIL ? size - MAX_TAIL : 0;
    ssize_t n = size > 0 ? pread(lines, tail, (size_t) (size - from), from) : 0;

    if (n <= 0)
        return -1;
    const char *end = memrchr(tail, '\n', (size_t) n);
    if (!end) /* longer than any final record */
        return -1;
    const char *before = end > tail ? memrchr(tail, '\n', (size_t) (end - tail)) : NULL;
    const char *start = before ? before + 1 : tail;
    int result = read_final_record(start, (size_t) (end - start), path, w);
    off_t keep = from + (result < 0 ? end + 1 - tail : start - tail);
    return ftruncate(lines, keep) < 0 ? -1 : result;
}

static int load(const struct python_zygote_request *r, const char *path, int lines, int trace,
                struct python_child_output *ret_output, struct why *w)
{
    struct python_zygote_reply reply;
    struct python_child_output o = { 0 };

    pthread_mutex_lock(&zygote.lock);
    int done = exchange(r, lines, trace, &reply, w);
    pthread_mutex_unlock(&zygote.lock);
    TRY(done);
    int result = cut_final_record(lines, path, &o.why);
    if (result < 0)
        explain_end(r, &reply, path, trace, &o.why);
    o.failed = result != 1;
    o.lines = fdopen(dup(lines), "r");
    if (!o.lines)
        return why_fail(w, WHY_SYSTEM, "%s: %s", path, strerror(errno));
    rewind(o.lines);
    *ret_output = o;
    return 0;
}

int python_child_load(const char *kind, const char *path, const struct specs_options *options,
                      struct python_child_output *ret_output, struct why *w)
{
    struct python_zygote_request *r = calloc(1, sizeof *r);
    int lines = memfd_create("halcyon-lines", MFD_CLOEXEC);
    int trace = memfd_create("halcyon-trace", MFD_CLOEXEC);
    int result = -1;

    if (!r || lines < 0 || trace < 0)
        why_fail(w, WHY_SYSTEM, "%s: %s", path, strerror(errno));
    else if (make_request(kind, path, options, r, w) == 0)
        result = load(r, path, lines, trace, ret_output, w);
    free(r);
    if (lines >= 0)
        close(lines);
    if (trace >= 0)
        close(trace);
    return result;
}

void python_child_output_done(struct python_child_output *o)
{
    if (o && o->lines)
        fclose(o->lines);
    if (o)
        o->lines = NULL;
}
