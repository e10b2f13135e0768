/* The driver of a device whose URI is unix:PATH: it passes every call on to the service, and after
 * the service has ended connects to the one that is at the path then.
 *
 * The calls that begin something new connect: get_supported_operations(), preparations,
 * get_status().  What was made before stays with the connection that it was made by, whose calls
 * return DEVICE_UNAVAILABLE.  A connection is closed when all that it has made is released. */
#ifndef RUNTIME_SERVICE_DRIVER_H
#define RUNTIME_SERVICE_DRIVER_H

#include "sim/sim.h"

/* t: open, of such a URI, and of these properties; it is the first connection, and the caller's as
 * long as the driver exists.  A service with other properties is not connected to.  NULL: out of
 * memory. */
struct hal_driver *service_driver_new(struct target *t, const struct target_info *info);

/* Identifies the connection that has made a prepared model of such a driver. */
const void *service_driver_connection(const struct hal_prepared_model *p);

#endif
