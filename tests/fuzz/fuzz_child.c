/* What the process that runs specifications in Python returns: a hostile file may have written
 * anything to its two memory files.  The caller (specs/python_child.c) is the real one; the calls
 * that start the process and talk to it are replaced here (linked with --wrap).  Every line is read
 * as a record, or rejected with a reason.
 *
 * How the child ended (one byte), with which value (one byte), length of its stack trace (two
 * bytes, the lower one first), the trace, lines. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "specs/load_internal.h"
#include "specs/python_child.h"
#include "specs/python_zygote.h"
#include "tests/fuzz/common/fuzz_client.h"
#include "tests/fuzz/mutate/mutate.h"

enum { PID = 0x7ffffff0, HEAD = 4, FDS = 2 };

static struct {
    const uint8_t *bytes;
    size_t length, trace;
} output;

/* ---- the process */

pid_t __real_fork(void);
pid_t __wrap_fork(void);
pid_t __real_waitpid(pid_t pid, int *status, int options);
pid_t __wrap_waitpid(pid_t pid, int *status, int options);
ssize_t __wrap_sendmsg(int socket, const struct msghdr *m, int flags);
ssize_t __wrap_recv(int socket, void *to, size_t n, int flags);

pid_t __wrap_fork(void)
{
    return output.bytes ? PID : __real_fork();
}

pid_t __wrap_waitpid(pid_t pid, int *status, int options)
{
    if (pid != PID)
        return __real_waitpid(pid, status, options);
    *status = 0;
    return pid;
}

/* A request: writes the lines and the trace to its first two descriptors. */
ssize_t __wrap_sendmsg(int socket, const struct msghdr *m, int flags)
{
    const struct cmsghdr *c = CMSG_FIRSTHDR(m);
    const uint8_t *trace = output.bytes + HEAD, *lines = trace + output.trace;
    size_t n = output.length - HEAD - output.trace;
    int fd[FDS];

    (void) socket, (void) flags;
    fuzz_must(c && c->cmsg_len >= CMSG_LEN(sizeof fd));
    memcpy(fd, CMSG_DATA(c), sizeof fd);
    fuzz_must(pwrite(fd[0], lines, n, 0) == (ssize_t) n &&
              pwrite(fd[1], trace, output.trace, 0) == (ssize_t) output.trace);
    return (ssize_t) m->msg_iov[0].iov_len;
}

ssize_t __wrap_recv(int socket, void *to, size_t n, int flags)
{
    (void) socket, (void) flags;
    memset(to, 0, n);
    if (n == sizeof(struct python_zygote_greeting)) {
        ((struct python_zygote_greeting *) to)->ready = 1;
    } else {
        ((struct python_zygote_reply *) to)->end = output.bytes[0] % (ENDED_UNSTARTED + 1);
        ((struct python_zygote_reply *) to)->value = output.bytes[1];
    }
    return (ssize_t) n;
}

/* ---- the caller */

static int each(const struct example *e, void *user, struct why *w)
{
    struct why reason;

    (void) user, (void) w;
    model_validate(&e->model, &reason);
    return 0;
}

/* A file for the request to name. */
static const char *file(void)
{
    static char path[] = "/tmp/halcyon-fuzz-XXXXXX";
    static bool exists;

    if (!exists) {
        int fd = mkstemp(path);
        fuzz_must(fd >= 0);
        close(fd);
    }
    exists = true;
    return path;
}

static void delete_file(void)
{
    unlink(file());
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static bool has_begun;
    struct python_child_output o = { 0 };
    struct why w = { 0 };

    if (length < HEAD)
        return 0;
    if (!has_begun)
        fuzz_must(atexit(delete_file) == 0);
    has_begun = true;
    output.trace = bytes[2] | (size_t) bytes[3] << 8;
    if (output.trace > length - HEAD)
        output.trace = length - HEAD;
    output.length = length;
    output.bytes = bytes;
    if (python_child_load("modpy", file(), NULL, &o, &w) == 0) {
        fuzz_must(!o.failed || o.why.text[0]);
        int lines = dup(fileno(o.lines));
        FILE *from = fdopen(lines, "r");
        fuzz_must(from);
        rewind(from);
        if (load_stream(from, false, each, NULL, &w) < 0)
            fuzz_must(w.text[0]);
        python_child_output_done(&o);
    } else {
        fuzz_must(w.text[0]);
    }
    output.bytes = NULL;
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t length, size_t max, unsigned seed)
{
    size_t head = length >= HEAD ? HEAD + (bytes[2] | (size_t) bytes[3] << 8) : length;

    if (head >= length || seed % 8 == 0)
        return LLVMFuzzerMutate(bytes, length, max);
    return head + mutate_json(bytes + head, length - head, max - head, seed);
}
