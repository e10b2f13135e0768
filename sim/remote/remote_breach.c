/* Contract violations of a driver at the service that no result shows. */
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "sim/remote/remote_internal.h"

void remote_record_violation(struct remote *r, const char *fmt, ...)
{
    va_list ap;

    va_start(ap, fmt);
    pthread_mutex_lock(&r->lock);
    if (!r->breach[0])
        vsnprintf(r->breach, sizeof(r->breach), fmt, ap);
    pthread_mutex_unlock(&r->lock);
    va_end(ap);
}

/* Gives the event thread time to read what the service has already sent. */
static void drain_events(const struct remote *r)
{
    struct pollfd p = { .fd = r->events, .events = POLLIN };
    enum { TURNS = 100, TURN_US = 1000 };

    for (int i = 0; i < TURNS && poll(&p, 1, 0) == 1 && !(p.revents & ~POLLIN); i++)
        usleep(TURN_US);
}

bool remote_take_violation(struct hal_driver *driver, char *ret_text, size_t size)
{
    struct remote *r = (struct remote *) driver;

    drain_events(r);
    pthread_mutex_lock(&r->lock);
    bool any = r->breach[0];
    if (any)
        snprintf(ret_text, size, "%s", r->breach);
    r->breach[0] = 0;
    pthread_mutex_unlock(&r->lock);
    return any;
}
