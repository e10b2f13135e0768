/* Serves a driver to other processes: clients connect to a Unix socket and call the driver's
 * methods by messages (sim/wire/wire.proto).
 *
 * One client cannot see, stall or crash another.  Each connection is a session with its own
 * handles, which become invalid when it ends; everything that a client sends is checked; a client
 * is identified by the credentials of its socket. */
#ifndef SIM_SERVICE_H
#define SIM_SERVICE_H

#include "golden/base/why.h"
#include "sim/hal.h"

struct service;

/* Creates a service at a socket of that path.  Takes ownership of the driver, also on failure.  A
 * socket that no process listens on any more is replaced.  WHY_INVALID: the path is in use by
 * something else, or unusable. */
int service_new(struct hal_driver *driver, const char *path, struct service **ret_service,
                struct why *w);
/* Accepts connections until service_stop(); then returns 0.  WHY_SYSTEM. */
int service_run(struct service *s, struct why *w);
/* Callable from any thread and from signal handlers. */
void service_stop(struct service *s);
/* Removes the socket, ends every session and waits for it, closes the driver. */
void service_free(struct service *s);

#endif
