/* Client of a service (sim/service/service.h): a driver whose methods are calls to another process.
 */
#ifndef SIM_REMOTE_H
#define SIM_REMOTE_H

#include "golden/base/why.h"
#include "sim/hal.h"
#include "sim/remote/reply_wait.h"

/* Connects to the socket of a service.  timeout: of a reply; NULL: none.  WHY_INVALID: no service
 * listens there, or another protocol; WHY_TIMEOUT: it does not reply. */
int remote_open(const char *path, const struct reply_timeout *timeout,
                struct hal_driver **ret_driver, struct why *w);
/* As remote_open(), over a connected socket.  Takes ownership of the socket, also on failure. */
int remote_open_socket(int socket, const struct reply_timeout *timeout,
                       struct hal_driver **ret_driver, struct why *w);

/* Adds ns to the time-out of replies, instead of what was added before. */
void remote_allow(struct hal_driver *driver, uint64_t ns);

/* For a caller that gives a callback no more time than a reply: remote_await_callback() begins, and
 * remote_look_for_callback() is called after each PROCESS_CLOCK_LOOK_MS without the callback.  When
 * the time is over, the connection has failed (WHY_TIMEOUT), and the callback comes. */
void remote_await_callback(struct hal_driver *driver, struct reply_wait *ret_wait);
void remote_look_for_callback(struct hal_driver *driver, struct reply_wait *wait);

/* Whether the connection has failed: the service's process has ended, violated the protocol, or
 * (WHY_TIMEOUT) not replied in time to a call or, while a callback or fence is pending, to a status
 * query.  From then on every call returns HAL_DEVICE_UNAVAILABLE.  ret_why may be NULL. */
bool remote_is_dead(struct hal_driver *driver, struct why *ret_why);

/* Returns and clears the first contract violation that the driver has committed since the last call
 * and that no result shows: a second callback, a write to read-only memory.  False: none. */
bool remote_take_violation(struct hal_driver *driver, char *ret_text, size_t size);

#endif
