#include "harness/conform_run/selftest_service.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness/run/devices.h"
#include "sim/service/service.h"

/* In the child: closes `ready` after writing a byte to it, once clients can connect. */
static int serve(const char *uri, const char *path, int ready, struct why *w)
{
    struct target_host host = harness_host;
    struct service *service;
    struct target *t;

    host.isolation = ISOLATE_NONE;
    TRY(target_open(uri, &host, &t, w));
    TRY(service_new(target_take_driver(t), path, &service, w));
    if (write(ready, "", 1) != 1)
        return -1;
    close(ready);
    return service_run(service, w);
}

int selftest_serve(const char *target, struct selftest_service *s, struct why *w)
{
    int ready[2];
    char byte;

    *s = (struct selftest_service){ .folder = SCRATCH_FOLDER_NONE };
    TRY(scratch_folder_make(&s->folder, w));
    snprintf(s->uri, sizeof s->uri, "unix:%s/socket", s->folder.path);
    if (pipe(ready) < 0)
        return why_fail(w, WHY_SYSTEM, "pipe: %s", strerror(errno));
    s->process = fork();
    if (s->process == 0) {
        serve(target, s->uri + strlen("unix:"), ready[1], w);
        _exit(1);
    }
    close(ready[1]);
    ssize_t n = s->process > 0 ? read(ready[0], &byte, 1) : -1;
    close(ready[0]);
    return n == 1 ? 0 : why_fail(w, WHY_SYSTEM, "%s cannot be served at %s", target, s->uri);
}

void selftest_serve_end(struct selftest_service *s)
{
    if (s->process > 0) {
        kill(s->process, SIGKILL);
        waitpid(s->process, NULL, 0);
    }
    s->process = 0;
    scratch_folder_remove(&s->folder);
}
