/* driver_service URI SOCKET: serves a driver at the socket until it is killed, or its parent ends.
 * Writes one byte to standard output when clients can connect. */
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "sim/service/service.h"
#include "sim/sim.h"

int main(int argc, char **argv)
{
    const struct target_host host = { .isolation = ISOLATE_NONE };
    struct service *service;
    struct target *t;
    struct why w;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (argc != 3 || target_open(argv[1], &host, &t, &w) < 0 ||
        service_new(target_take_driver(t), argv[2], &service, &w) < 0) {
        fprintf(stderr, "driver_service: %s\n", argc == 3 ? w.text : "usage: URI SOCKET");
        return 2;
    }
    if (write(STDOUT_FILENO, "", 1) != 1 || service_run(service, &w) < 0)
        return 1;
    service_free(service);
    return 0;
}
