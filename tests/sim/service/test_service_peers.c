/* Identity of a service's clients: processes, also those that have no process number in the
 * service's namespace. */
#define _GNU_SOURCE
#include <check.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/base/peer_credentials.h"
#include "sim/remote/remote.h"
#include "sim/service/service.h"
#include "tests/sim/service/service_lab.h"
#include "tests/support/check_main.h"

enum { SESSIONS = 64 };

/* NULL: the keeper, which starts the service, has ended. */
static struct hal_driver *connect_to(const char *path, pid_t keeper)
{
    struct hal_driver *d = NULL;
    struct why w;

    for (int i = 0; i < 1000 && remote_open(path, NULL, &d, &w) < 0; i++) {
        if (waitpid(keeper, NULL, WNOHANG) != 0)
            return NULL;
        lab_sleep_ms(5);
    }
    ck_assert_msg(d, "%s", w.text);
    return d;
}

/* A process that opens one session after a byte in `when`; its exit status is 0 if that works. */
static pid_t start_outsider(const char *path, const int *when)
{
    pid_t pid = fork();
    struct hal_driver *d = NULL;
    struct why w;
    char byte;

    ck_assert_int_ge(pid, 0);
    if (pid == 0)
        _exit(read(when[0], &byte, 1) != 1 || remote_open(path, NULL, &d, &w) < 0 ||
              d->get_status(d) != HAL_DEVICE_AVAILABLE);
    return pid;
}

static void serve_at(const char *path)
{
    struct service *s;
    struct why w;

    _exit(service_new(client_open("cpu", HAL_FL8), path, &s, &w) < 0 || service_run(s, &w));
}

/* Starts a service in a process namespace of its own, in which this process has no number, until
 * `go_on` is closed.  Returns its parent, whose exit status is 1 where namespaces are not allowed.
 */
static pid_t serve_in_namespace(const char *path, const int *go_on)
{
    pid_t keeper = fork();
    char byte;

    ck_assert_int_ge(keeper, 0);
    if (keeper > 0)
        return keeper;
    close(go_on[1]);
    if (unshare(CLONE_NEWPID) < 0 && unshare(CLONE_NEWUSER | CLONE_NEWPID) < 0)
        _exit(1);
    pid_t service = fork();
    if (service == 0)
        serve_at(path);
    (void) !read(go_on[0], &byte, 1);
    kill(service, SIGKILL);
    _exit(service < 0 || waitpid(service, NULL, 0) != service);
}

START_TEST(clients_without_a_process_number_are_distinguished)
{
    char folder[] = "/tmp/halcyon-service-XXXXXX", path[sizeof folder + 2];
    struct hal_driver *d[SESSIONS], *more = NULL;
    int when[2], go_on[2], status;
    struct why w;

    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/s", folder);
    ck_assert(pipe2(when, O_CLOEXEC) == 0 && pipe2(go_on, O_CLOEXEC) == 0);
    pid_t outsider = start_outsider(path, when), keeper = serve_in_namespace(path, go_on);
    if (!(d[0] = connect_to(path, keeper))) {
        fprintf(stderr, "NOT TESTED: process namespaces are not allowed\n");
        kill(outsider, SIGKILL);
        rmdir(folder);
        return;
    }
    for (int i = 1; i < SESSIONS; i++)
        ck_assert_ptr_nonnull(d[i] = connect_to(path, keeper));
    ck_assert_int_lt(remote_open(path, NULL, &more, &w), 0);
    ck_assert_int_eq(write(when[1], "", 1), 1);
    ck_assert_int_eq(waitpid(outsider, &status, 0), outsider);
    ck_assert_int_eq(status, 0);
    for (int i = 0; i < SESSIONS; i++)
        d[i]->close(d[i]);
    close(go_on[1]);
    ck_assert_int_eq(waitpid(keeper, &status, 0), keeper);
    ck_assert_int_eq(status, 0);
    unlink(path);
    rmdir(folder);
}
END_TEST

static const struct {
    struct peer_credentials a, b;
    bool same;
} peers[] = {
    { { 7, 0, 1 }, { 7, 0, 1 }, true },  { { 7, 0, 1 }, { 8, 0, 1 }, false },
    { { 0, 5, 1 }, { 0, 5, 1 }, true },  { { 0, 5, 1 }, { 0, 6, 1 }, false },
    { { 0, 0, 1 }, { 0, 0, 1 }, false }, { { 7, 0, 1 }, { 0, 0, 1 }, false },
};

START_TEST(peers_are_compared_by_process)
{
    int pair[2];

    ck_assert_int_eq(peer_credentials_are_same(&peers[_i].a, &peers[_i].b), peers[_i].same);
    ck_assert_int_eq(peer_credentials_are_same(&peers[_i].b, &peers[_i].a), peers[_i].same);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    ck_assert_uint_eq(peer_credentials_of(pair[0]).process, (uint32_t) getpid());
    close(pair[0]);
    close(pair[1]);
}
END_TEST

Suite *service_peers_suite(void)
{
    TCase *c = tcase_create("clients");

    tcase_add_test(c, clients_without_a_process_number_are_distinguished);
    tcase_add_loop_test(c, peers_are_compared_by_process, 0, COUNT(peers));
    return make_suite("service_peers", c, NULL);
}
