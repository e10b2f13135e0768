/* The client's end of a service: a driver whose methods are calls to another process. */
#ifndef SIM_REMOTE_H
#define SIM_REMOTE_H

#include "golden/base/why.h"
#include "sim/hal.h"

/* Connects to the socket of a service.  patience: most seconds for an answer, 0: any number.
 * WHY_INVALID: nobody listens there; WHY_TIMEOUT: whoever does so does not answer. */
int remote_open(const char *path, double patience, struct hal_driver **ret_driver, struct why *w);
/* Over a connected socket, which it takes over, also on failure. */
int remote_open_socket(int socket, double patience, struct hal_driver **ret_driver, struct why *w);

/* Whether the other process has ended, broken the protocol, or (WHY_TIMEOUT) not answered in time:
 * a call, or, while a callback or a fence is due, the question whether it is still there.  Every
 * call is answered DEVICE_UNAVAILABLE from then on.  ret_why may be NULL. */
bool remote_is_dead(struct hal_driver *driver, struct why *ret_why);

/* What the driver has done there against the contract, and what no answer shows: a callback that
 * came once more, memory written to that is read only.  False: nothing since it was asked last. */
bool remote_take_breach(struct hal_driver *driver, char *ret_text, size_t size);

#endif
