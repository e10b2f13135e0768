/* Why a connection ends, as both sides report it; and failures that must not end it: of memory, of
 * descriptors, of the kernel's calls.  Calls of the kernel fail in the process and as often as
 * `failing` says: the linker puts failing_*() between Halcyon and the C library (--wrap). */
#define _GNU_SOURCE
#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/failure_text.h"
#include "sim/remote/remote.h"
#include "tests/sim/service/service_lab.h"
#include "tests/support/check_main.h"

enum { N = 4, ALWAYS = 1 << 30 };

static struct why w;

/* ---- calls that fail */

enum failing_call { NO_CALL, SEND, SEND_FILES, SEND_EVENT, SEAL };

/* In memory that the service's process shares. */
struct failing {
    atomic_int pid, call, error, left;
};
static struct failing *failing;

static bool fails(enum failing_call call)
{
    if (!failing || failing->call != (int) call || failing->pid != getpid() ||
        atomic_fetch_sub(&failing->left, 1) <= 0)
        return false;
    errno = failing->error;
    return true;
}

static void fail_next(int times, enum failing_call call, pid_t pid, int error)
{
    failing->call = NO_CALL;
    failing->pid = pid;
    failing->error = error;
    failing->left = times;
    failing->call = (int) call;
}

ssize_t __real_sendmsg(int socket, const struct msghdr *m, int flags);
ssize_t __wrap_sendmsg(int socket, const struct msghdr *m, int flags);
int __real_fcntl64(int fd, int command, ...);
int __wrap_fcntl64(int fd, int command, ...);

ssize_t __wrap_sendmsg(int socket, const struct msghdr *m, int flags)
{
    if (fails(SEND) || (m->msg_control && fails(SEND_FILES)) ||
        (flags & MSG_DONTWAIT && fails(SEND_EVENT)))
        return -1;
    return __real_sendmsg(socket, m, flags);
}

int __wrap_fcntl64(int fd, int command, ...)
{
    va_list ap;

    va_start(ap, command);
    int argument = va_arg(ap, int);
    va_end(ap);
    if (command == F_ADD_SEALS && argument & F_SEAL_WRITE && fails(SEAL))
        return -1;
    return __real_fcntl64(fd, command, argument);
}

static void open_lab(void)
{
    failing =
        mmap(NULL, sizeof *failing, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    ck_assert_ptr_ne(failing, MAP_FAILED);
    lab_open();
}

static void close_lab(void)
{
    failing->call = NO_CALL;
    lab_close();
}

/* ---- what a connection is used for */

/* Prepares a model whose message is longer than WIRE_INLINE, which is sent in a memory file. */
static enum hal_status prepare_long(struct hal_driver *d)
{
    const struct hal_prepare_config config = { .priority = HAL_PRIORITY_MEDIUM,
                                               .deadline = HAL_NO_TIME };
    static uint8_t values[WIRE_INLINE * 3];
    struct hal_prepared_model *prepared = NULL;
    struct client_model m;

    client_add_model(&m, N, false);
    memcpy(values, m.hal.operand_values, m.hal.operand_values_length);
    m.hal.operand_values = values;
    m.hal.operand_values_length = sizeof values;
    enum hal_status s = client_prepare_with(d, HAL_FL8, &m.hal, &config, &prepared);
    if (prepared)
        prepared->methods->release(prepared);
    client_done(&m);
    return s;
}

static void expect_alive(struct hal_driver *d)
{
    struct client_request r;
    struct client_model m;

    ck_assert(!remote_is_dead(d, &w));
    client_add_model(&m, N, false);
    client_prepare(&m, d, HAL_PRIORITY_MEDIUM);
    client_fill(&r, N);
    ck_assert_int_eq(client_execute(m.prepared, HAL_FL8, &r.hal, &r.result), HAL_NONE);
    client_check(&r, N);
    client_done(&m);
}

/* Waits for the end of the connection; %d in the text: the service's process. */
static void expect_dead(struct hal_driver *d, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void expect_dead(struct hal_driver *d, const char *format, ...)
{
    char text[sizeof w.text];
    va_list ap;

    for (int i = 0; i < 1000 && !remote_is_dead(d, &w); i++)
        lab_sleep_ms(10);
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    ck_assert(remote_is_dead(d, &w));
    ck_assert_str_eq(w.text, text);
    ck_assert_int_eq(d->get_status(d), HAL_DEVICE_OFFLINE);
}

static const char *failure_text(struct hal_driver *d)
{
    static char text[HAL_TEXT_BYTES];

    failure_text_of(d, text);
    return text;
}

/* ---- ends of the service */

START_TEST(a_killed_service_has_ended)
{
    struct hal_driver *d = lab_connect();

    kill(lab_service, SIGKILL);
    expect_dead(d, "the driver's process has ended");
    d->close(d);
    waitpid(lab_service, NULL, 0);
    lab_start_service();
}
END_TEST

START_TEST(a_service_that_is_stopped_says_so)
{
    struct hal_driver *d = lab_connect();
    int status;

    kill(lab_service, SIGTERM);
    expect_dead(d, "the service has closed the connection: it is stopped");
    d->close(d);
    ck_assert_int_eq(waitpid(lab_service, &status, 0), lab_service);
    ck_assert_int_eq(status, 0);
    lab_start_service();
}
END_TEST

/* A service of this process's other end: it answers nothing. */
START_TEST(a_peer_that_closes_its_end_and_lives)
{
    static const char *const how[] = { "end of file", "Connection reset by peer" };
    const bool reads = _i == 0;
    struct hal_driver *d = NULL;
    char byte;
    int pair[2];

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    pid_t peer = fork();
    ck_assert_int_ge(peer, 0);
    if (peer == 0) {
        struct pollfd p = { .fd = pair[1], .events = POLLIN };
        close(pair[0]);
        poll(&p, 1, 10000);
        if (reads)
            recv(pair[1], &byte, 1, 0);
        close(pair[1]);
        pause();
    }
    close(pair[1]);
    const struct reply_timeout timeout = { .process = peer };
    ck_assert_int_lt(remote_open_socket(pair[0], &timeout, &d, &w), 0);
    char text[sizeof w.text];
    snprintf(text, sizeof text,
             "the service has closed the connection (%s): its process %d still runs", how[_i],
             (int) peer);
    ck_assert_str_eq(w.text, text);
    kill(peer, SIGKILL);
    waitpid(peer, NULL, 0);
}
END_TEST

/* ---- calls of the kernel that fail */

static const int shortages[] = { ENOMEM, ENOBUFS, ETOOMANYREFS };

START_TEST(a_shortage_that_passes_is_not_noticed)
{
    struct hal_driver *d = lab_connect();

    fail_next(3, SEND, getpid(), shortages[_i]);
    expect_alive(d);
    fail_next(3, SEND_FILES, getpid(), shortages[_i]);
    ck_assert_int_eq(prepare_long(d), HAL_NONE);
    fail_next(3, SEND, lab_service, shortages[_i]);
    expect_alive(d);
    fail_next(3, SEAL, getpid(), EBUSY);
    ck_assert_int_eq(prepare_long(d), HAL_NONE);
    ck_assert_int_le(failing->left, 0);
    d->close(d);
}
END_TEST

START_TEST(a_shortage_fails_the_call_only)
{
    struct hal_driver *d = lab_connect();

    expect_alive(d); /* its channel is open */
    fail_next(ALWAYS, SEND_FILES, getpid(), shortages[_i]);
    ck_assert_int_eq(prepare_long(d), HAL_RESOURCE_EXHAUSTED_TRANSIENT);
    ck_assert_ptr_nonnull(strstr(failure_text(d), strerror(shortages[_i])));
    fail_next(0, NO_CALL, 0, 0);
    expect_alive(d);
    fail_next(ALWAYS, SEAL, getpid(), EBUSY);
    ck_assert_int_eq(prepare_long(d), HAL_RESOURCE_EXHAUSTED_TRANSIENT);
    ck_assert_str_eq(failure_text(d), "memory file: Device or resource busy");
    expect_alive(d);
    d->close(d);
}
END_TEST

START_TEST(any_other_failure_to_send_ends_the_connection)
{
    struct hal_driver *d = lab_connect();

    expect_alive(d);
    fail_next(ALWAYS, SEND_FILES, getpid(), EPERM);
    ck_assert_int_eq(prepare_long(d), HAL_DEVICE_UNAVAILABLE);
    expect_dead(d, "sending a message of %d bytes with 1 descriptors: Operation not permitted",
                (int) strtol(strstr(failure_text(d), "of ") + 3, NULL, 10));
    d->close(d);
}
END_TEST

/* The fence of a reply cannot be sent: the call fails, and what it created is released. */
START_TEST(a_reply_that_cannot_be_sent_is_replaced)
{
    struct hal_driver *d = lab_connect();
    struct hal_fenced_info *info = NULL;
    struct client_request r;
    struct client_model m;
    int before[2], fence;

    ck_assert_int_eq(pipe(before), 0);
    client_add_model(&m, N, false);
    client_prepare(&m, d, HAL_PRIORITY_MEDIUM);
    client_fill(&r, N);
    const struct hal_execution_config config = client_config();
    fail_next(ALWAYS, SEND_FILES, lab_service, ETOOMANYREFS);
    enum hal_status s = m.prepared->methods->execute_fenced(m.prepared, HAL_FL8, &r.hal, 1, before,
                                                            &config, HAL_NO_TIME, &fence, &info);
    ck_assert_int_eq(s, HAL_RESOURCE_EXHAUSTED_TRANSIENT);
    ck_assert_ptr_nonnull(strstr(failure_text(d), strerror(ETOOMANYREFS)));
    ck_assert_int_eq(fence, HAL_NO_FENCE);
    ck_assert_ptr_null(info);
    fail_next(0, NO_CALL, 0, 0);
    close(before[0]);
    close(before[1]);
    client_done(&m);
    expect_alive(d);
    d->close(d);
}
END_TEST

/* Times: until after the attempts for the event, but not those for the farewell. */
START_TEST(an_event_that_cannot_be_sent_ends_the_connection)
{
    struct hal_driver *d = lab_connect();
    const struct hal_prepare_config config = { .priority = HAL_PRIORITY_MEDIUM,
                                               .deadline = HAL_NO_TIME };
    struct hal_prepared_model *prepared = NULL;
    struct client_model m;

    client_add_model(&m, N, false);
    fail_next(1, SEND_EVENT, lab_service, EAGAIN);
    ck_assert_int_eq(client_prepare_with(d, HAL_FL8, &m.hal, &config, &prepared),
                     HAL_DEVICE_UNAVAILABLE);
    char text[sizeof w.text];
    ck_assert(remote_is_dead(d, &w));
    snprintf(text, sizeof text, "%s", w.text);
    ck_assert_ptr_nonnull(
        strstr(text, "the service has closed the connection: an event: sending a message"));
    ck_assert_ptr_nonnull(strstr(text, strerror(EAGAIN)));
    client_done(&m);
    d->close(d);
}
END_TEST

/* ---- limits of the service's process */

static void limit(pid_t pid, __rlimit_resource_t which, rlim_t most, struct rlimit *ret_before)
{
    ck_assert_int_eq(prlimit(pid, which, NULL, ret_before), 0);
    const struct rlimit now = { most, ret_before->rlim_max };
    ck_assert_int_eq(prlimit(pid, which, &now, NULL), 0);
}

START_TEST(a_service_without_descriptors_fails_the_call_only)
{
    struct hal_driver *d = lab_connect();
    struct rlimit before;

    expect_alive(d);
    limit(lab_service, RLIMIT_NOFILE, 3, &before);
    ck_assert_int_eq(prepare_long(d), HAL_RESOURCE_EXHAUSTED_TRANSIENT);
    ck_assert_str_eq(failure_text(d),
                     "the service lacks memory or descriptors for the call: out of file "
                     "descriptors: 0 received of the 1 of a message");
    ck_assert_int_eq(prlimit(lab_service, RLIMIT_NOFILE, &before, NULL), 0);
    ck_assert_int_eq(prepare_long(d), HAL_NONE);
    expect_alive(d);
    d->close(d);
}
END_TEST

/* Bytes of the address space of a process. */
static uint64_t address_space(pid_t pid)
{
    unsigned long pages = 0;
    char path[32];

    snprintf(path, sizeof path, "/proc/%d/statm", (int) pid);
    FILE *file = fopen(path, "r");
    ck_assert(file && fscanf(file, "%lu", &pages) == 1);
    fclose(file);
    return (uint64_t) pages * (uint64_t) sysconf(_SC_PAGESIZE);
}

START_TEST(staging_memory_that_cannot_be_mapped_fails_the_call_only)
{
    const uint64_t size = UINT64_C(1) << 32;
    Wire__Call call = WIRE__CALL__INIT;
    struct wire_fds fds = { 0 };
    struct rlimit before;
    int fd = memfd_create("staging", MFD_CLOEXEC | MFD_ALLOW_SEALING), socket = lab_connect_raw();

    ck_assert_int_eq(ftruncate(fd, (off_t) size), 0);
    ck_assert_int_eq(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
    call.method = WIRE__METHOD__SET_STAGING;
    call.version = HAL_FL8;
    call.fd = wire_put_fd(&fds, fd);
    call.size = size;
    limit(lab_service, RLIMIT_AS, address_space(lab_service) + size / 4, &before);
    ck_assert_int_eq(lab_call(socket, &call, &fds), HAL_RESOURCE_EXHAUSTED_TRANSIENT);
    ck_assert_int_eq(prlimit(lab_service, RLIMIT_AS, &before, NULL), 0);
    ck_assert_int_eq(lab_call(socket, &call, &fds), HAL_NONE);
    close(socket);
    close(fd);
}
END_TEST

Suite *service_reasons_suite(void)
{
    Suite *s = suite_create("service_reasons");
    TCase *c = tcase_create("reasons");

    tcase_add_checked_fixture(c, open_lab, close_lab);
    tcase_set_timeout(c, 60);
    tcase_add_test(c, a_killed_service_has_ended);
    tcase_add_test(c, a_service_that_is_stopped_says_so);
    tcase_add_loop_test(c, a_peer_that_closes_its_end_and_lives, 0, 2);
    tcase_add_loop_test(c, a_shortage_that_passes_is_not_noticed, 0, COUNT(shortages));
    tcase_add_loop_test(c, a_shortage_fails_the_call_only, 0, COUNT(shortages));
    tcase_add_test(c, any_other_failure_to_send_ends_the_connection);
    tcase_add_test(c, a_reply_that_cannot_be_sent_is_replaced);
    tcase_add_test(c, an_event_that_cannot_be_sent_ends_the_connection);
    tcase_add_test(c, a_service_without_descriptors_fails_the_call_only);
    tcase_add_test(c, staging_memory_that_cannot_be_mapped_fails_the_call_only);
    suite_add_tcase(s, c);
    return s;
}
