/* A driver as a service: clients connect to a local socket and call its methods by messages
 * (sim/wire/wire.proto).  One client cannot see, stall or crash another: each connection is a
 * session with handles of its own, which end with it; whatever it sends is checked; who it is, its
 * socket says.
 */
#ifndef SIM_SERVICE_H
#define SIM_SERVICE_H

#include "golden/base/why.h"
#include "sim/hal.h"

struct service;

/* Serves a driver, which it takes over, also on failure, at a socket of that path. A path that
 * something else occupies is WHY_INVALID; a socket that nobody listens on any more is replaced. */
int service_new(struct hal_driver *driver, const char *path, struct service **ret_service,
                struct why *w);
/* Accepts connections until service_stop(). */
int service_run(struct service *s, struct why *w);
/* From any thread or signal handler. */
void service_stop(struct service *s);
/* Ends every session, removes the socket and closes the driver. */
void service_free(struct service *s);

#endif
