#define _GNU_SOURCE
#include "specs/python_child.h"

#include <errno.h>
#include <fcntl.h>
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

#include "golden/base/sandbox.h"
#include "specs/python_zygote.h"

enum {
    DEFAULT_TIMEOUT = 60,
    MAX_TIMEOUT = 1000000,
    MAX_TRACE = 1 << 16,
    MAX_TAIL = 4096,
    MAX_ERROR = 300
};
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
static int spawn(int socket, struct why *w)
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0)
        _exit(python_zygote_start(socket));
    if (pid < 0)
        return why_fail(w, WHY_SYSTEM, "fork: %s", strerror(errno));
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    if (WIFEXITED(status) && WEXITSTATUS(status) != 0)
        return why_fail(w, WHY_SYSTEM, "fork: %s", strerror(WEXITSTATUS(status)));
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
    int spawned = spawn(pair[1], w);
    close(pair[1]);
    zygote.socket = pair[0];
    zygote.owner = getpid();
    ssize_t n = -1;
    if (spawned == 0)
        do
            n = recv(pair[0], &greeting, sizeof greeting, 0);
        while (n < 0 && errno == EINTR);
    if (n == (ssize_t) sizeof greeting && greeting.ready)
        return 0;
    if (n == (ssize_t) sizeof greeting)
        *w = greeting.why;
    else if (spawned == 0)
        why_fail(w, WHY_SYSTEM, "the Python process did not start");
    python_zygote_close();
    return -1;
}

/* Sends the request with the child's descriptors and waits for the reply. */
static int exchange(const struct python_zygote_request *r, const int fd[ZYGOTE_FDS],
                    struct python_zygote_reply *ret_reply, struct why *w)
{
    enum { BYTES = ZYGOTE_FDS * sizeof *fd };
    union {
        struct cmsghdr header;
        char space[CMSG_SPACE(BYTES)];
    } control = {
        .header = { .cmsg_len = CMSG_LEN(BYTES), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS }
    };
    struct iovec iov = { .iov_base = (void *) r, .iov_len = sizeof *r };
    struct msghdr msg = {
        .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &control, .msg_controllen = sizeof control
    };
    ssize_t n = -1;

    memcpy(CMSG_DATA(&control.header), fd, BYTES);
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

/* A file may read its own folder, but not if that contains the user's home folder. */
static void find_own_folder(struct python_zygote_request *r)
{
    char own[PATH_MAX], home[PATH_MAX];
    const char *given = getenv("HOME");

    snprintf(r->folder, sizeof r->folder, "%s", r->path);
    *(strrchr(r->folder, '/') + 1) = 0;
    if (!realpath(r->folder, own))
        *r->folder = 0;
    if (!given || !realpath(given, home))
        strcpy(home, "/");
    size_t n = strlen(own);
    if (*r->folder && strncmp(home, own, n) == 0 && (n == 1 || !home[n] || home[n] == '/'))
        *r->folder = 0;
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
    find_own_folder(r);
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

/* What a denied system call was for; the calls of a row are separated by spaces. */
static const struct {
    const char *calls, *purpose;
} purposes[] = {
    { " clone fork vfork execve execveat ", "start processes or threads" },
    { " socket socketpair connect bind ", "use the network" },
    { " kill tkill rt_sigqueueinfo rt_tgsigqueueinfo pidfd_send_signal ", "send signals" },
    { " ptrace process_vm_readv process_vm_writev kcmp pidfd_open pidfd_getfd ",
      "access other processes" },
    { " open openat creat mkdir mkdirat mknod mknodat rmdir unlink unlinkat rename renameat "
      "renameat2 link linkat symlink symlinkat truncate ftruncate fallocate memfd_create ",
      "create, change or remove files" },
    { " chmod fchmod fchmodat fchmodat2 chown lchown fchown fchownat utime utimes futimesat "
      "utimensat setxattr lsetxattr fsetxattr removexattr lremovexattr fremovexattr ",
      "change attributes of files" },
    { " setrlimit prlimit64 ", "change limits" },
    { " exit_group ", "end its process" },
    { " close ", "close descriptors that it has not opened" },
};

static void explain_denied(const char *place, int number, struct why *w)
{
    char name[40], key[48];

    snprintf(key, sizeof key, " %s ", sandbox_call_name(number, name, sizeof name));
    for (size_t i = 0; i < sizeof purposes / sizeof *purposes; i++)
        if (strstr(purposes[i].calls, key)) {
            why_fail(w, WHY_INVALID, "%s: a specification may not %s (system call %s)", place,
                     purposes[i].purpose, name);
            return;
        }
    why_fail(w, WHY_INVALID, "%s: a specification may not use the system call %s", place, name);
}

/* The number of the system call that ended the child, or -1. */
static int denied_call(int trace)
{
    char start[sizeof DENIED_CALL + 16] = "";
    int number = -1;

    return pread(trace, start, sizeof start - 1, 0) > 0 &&
                   sscanf(start, DENIED_CALL "%d", &number) == 1
               ? number
               : -1;
}

/* Composes the reason for a child that did not end as it should. */
static void explain_end(const struct python_zygote_request *r,
                        const struct python_zygote_reply *reply, const char *path, int trace,
                        struct why *w)
{
    char place[PATH_MAX + 32];
    long line = traced_line(trace, r->path);
    char start[64] = "", fatal[40] = "";
    int denied = denied_call(trace);

    if (pread(trace, start, sizeof start - 1, 0) > 0)
        sscanf(start, "Fatal Python error: %39[A-Za-z ]", fatal);
    if (line > 0)
        snprintf(place, sizeof place, "%s:%ld", path, line);
    else
        snprintf(place, sizeof place, "%s", path);
    if (reply->end == ENDED_UNSTARTED)
        why_fail(w, WHY_SYSTEM, "%s: fork: %s", place, strerror(reply->value));
    else if (reply->end == ENDED_OVERTIME)
        why_fail(w, WHY_TIMEOUT, "%s: not loaded within %g s; --load-timeout raises the limit",
                 place, r->timeout);
    else if (denied >= 0)
        explain_denied(place, denied, w);
    else if (*fatal)
        why_fail(w, WHY_INVALID, "%s: the file's process crashed (%s)", place, fatal);
    else if (reply->end == ENDED_SIGNAL)
        why_fail(w, WHY_INVALID, "%s: the file's process was killed by signal %d (%s)", place,
                 reply->value, strsignal(reply->value));
    else if (reply->value == CHILD_DONE)
        why_fail(w, WHY_INVALID, "%s: the file has damaged the loader: there is no result", place);
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
static int read_final_record(const char *text, size_t n, const char *path,
                             const struct python_zygote_request *r, struct why *w)
{
    char limit[96] = "";
    const char *error = NULL, *kind = "invalid";
    json_int_t line = 0, end = -1;
    json_t *o = json_loadb(text, n, 0, NULL);
    int result = -1;

    if (o && json_unpack(o, "{s:I}", "end", &end) == 0) {
        result = 1;
    } else if (o && json_unpack(o, "{s:s, s?s, s?I}", "error", &error, "kind", &kind, "line",
                                &line) == 0) {
        result = 0;
        if (strcmp(kind, "memory") == 0)
            snprintf(limit, sizeof limit, "; the limit is %g MiB, --load-memory raises it",
                     (double) r->memory_limit / (1 << 20));
        if (line > 0)
            why_fail(w, code_of(kind), "%s:%lld: %.*s%s", path, (long long) line, MAX_ERROR, error,
                     limit);
        else
            why_fail(w, code_of(kind), "%s: %.*s%s", path, MAX_ERROR, error, limit);
    }
    json_decref(o);
    return result;
}

/* Removes the final record from the lines, and a line without end.  Result as of
 * read_final_record(). */
static int cut_final_record(int lines, const char *path, const struct python_zygote_request *r,
                            struct why *w)
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
    int result = read_final_record(start, (size_t) (end - start), path, r, w);
    off_t keep = from + (result < 0 ? end + 1 - tail : start - tail);
    return ftruncate(lines, keep) < 0 ? -1 : result;
}

static int load(const struct python_zygote_request *r, const char *path, const int fd[ZYGOTE_FDS],
                struct python_child_output *ret_output, struct why *w)
{
    struct python_zygote_reply reply;
    struct python_child_output o = { 0 };

    pthread_mutex_lock(&zygote.lock);
    int done = exchange(r, fd, &reply, w);
    pthread_mutex_unlock(&zygote.lock);
    TRY(done);
    int result = cut_final_record(fd[ZYGOTE_LINES], path, r, &o.why);
    bool is_regular =
        reply.end == ENDED_EXIT && reply.value == CHILD_DONE && denied_call(fd[ZYGOTE_TRACE]) < 0;
    if (result < 0 || !is_regular)
        explain_end(r, &reply, path, fd[ZYGOTE_TRACE], &o.why);
    o.failed = result != 1 || !is_regular;
    snprintf(o.prefix, sizeof o.prefix, "%s", reply.prefix);
    o.lines = fdopen(dup(fd[ZYGOTE_LINES]), "r");
    if (!o.lines)
        return why_fail(w, WHY_SYSTEM, "%s: %s", path, strerror(errno));
    rewind(o.lines);
    *ret_output = o;
    return 0;
}

/* Opens the file for the child, which can open only what lies in its folder.  Does not wait for the
 * other end of a FIFO. */
static int open_file(const char *path, uint64_t memory_limit, struct why *w)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    struct stat st;

    if (fd < 0 || fstat(fd, &st) < 0) {
        why_file(w, path, errno);
    } else if (!S_ISREG(st.st_mode)) {
        why_fail(w, WHY_INVALID, "%s: %s, not a regular file", path,
                 S_ISDIR(st.st_mode)    ? "a folder"
                 : S_ISFIFO(st.st_mode) ? "a pipe"
                                        : "a device");
    } else if ((uint64_t) st.st_size > memory_limit) {
        why_fail(w, WHY_INVALID,
                 "%s: %lld bytes are more than the memory limit of %g MiB; --load-memory raises it",
                 path, (long long) st.st_size, (double) memory_limit / (1 << 20));
    } else {
        return fd;
    }
    if (fd >= 0)
        close(fd);
    return -1;
}

/* A file in memory for stack traces, which cannot grow. */
static int make_trace(void)
{
    int fd = memfd_create("halcyon-trace", MFD_CLOEXEC | MFD_ALLOW_SEALING);

    if (fd >= 0 && ftruncate(fd, MAX_TRACE) == 0 &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL) == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    return -1;
}

int python_child_load(const char *kind, const char *path, const struct specs_options *options,
                      struct python_child_output *ret_output, struct why *w)
{
    struct python_zygote_request *r = calloc(1, sizeof *r);
    int fd[ZYGOTE_FDS] = { -1, -1, -1 }, result = -1;

    if (!r) {
        why_no_memory(w);
    } else if (make_request(kind, path, options, r, w) == 0) {
        fd[ZYGOTE_FILE] = open_file(path, r->memory_limit, w);
        fd[ZYGOTE_LINES] = memfd_create("halcyon-lines", MFD_CLOEXEC);
        fd[ZYGOTE_TRACE] = make_trace();
        if (fd[ZYGOTE_FILE] >= 0 && (fd[ZYGOTE_LINES] < 0 || fd[ZYGOTE_TRACE] < 0))
            why_fail(w, WHY_SYSTEM, "%s: %s", path, strerror(errno));
        else if (fd[ZYGOTE_FILE] >= 0)
            result = load(r, path, fd, ret_output, w);
    }
    free(r);
    for (int i = 0; i < ZYGOTE_FDS; i++)
        if (fd[i] >= 0)
            close(fd[i]);
    return result;
}

void python_child_output_done(struct python_child_output *o)
{
    if (o && o->lines)
        fclose(o->lines);
    if (o)
        o->lines = NULL;
}
