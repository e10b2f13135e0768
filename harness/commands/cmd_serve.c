/* halcyon serve: a driver as a service in its own process. */
#include <signal.h>
#include <stdio.h>

#include "harness/commands/commands.h"
#include "harness/run/devices.h"
#include "sim/service/service.h"

static struct service *served;

static void on_signal(int number)
{
    (void) number;
    service_stop(served);
}

static int serve(const struct options *o, struct why *w)
{
    struct sigaction action = { .sa_handler = on_signal, .sa_flags = (int) SA_RESETHAND };
    sigset_t ends;
    struct target *t;

    TRY(options_expect(o, 1, 1, "TARGET", w));
    REQUIRE(w, o->listen, "missing option --listen unix:PATH");
    struct target_host host = harness_host;
    host.isolation = ISOLATE_NONE; /* this process serves it */
    TRY(target_open(o->argument[0], &host, &t, w));
    /* Blocked until the handlers can remove the socket that service_new() creates. */
    sigemptyset(&ends);
    sigaddset(&ends, SIGINT);
    sigaddset(&ends, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &ends, NULL);
    TRY(service_new(target_take_driver(t), o->listen, &served, w));
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    pthread_sigmask(SIG_UNBLOCK, &ends, NULL);
    fprintf(stderr, "serving %s at unix:%s\n", o->argument[0], o->listen);
    int rc = service_run(served, w);
    signal(SIGINT, SIG_DFL);
    signal(SIGTERM, SIG_DFL);
    service_free(served);
    return rc;
}

int cmd_serve(const struct options *o)
{
    struct why why = { 0 };

    return serve(o, &why) < 0 ? print_error(o, &why) : EXIT_CONFORMING;
}
