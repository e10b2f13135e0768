/* The methods of the HAL as data: one row per code of wire.proto.  The functions of both sides are
 * in sim/service/session_calls.h and sim/remote/; tests check that the rows cover sim/hal.h. */
#ifndef SIM_WIRE_METHODS_H
#define SIM_WIRE_METHODS_H

#include "golden/base/trace.h"
#include "sim/hal.h"
#include "wire.pb-c.h"

/* What a method acts on. */
enum object_kind {
    OBJECT_NONE, /* the driver */
    OBJECT_PREPARED,
    OBJECT_BUFFER,
    OBJECT_BURST,
    OBJECT_EXECUTION, /* reusable */
    OBJECT_INFO       /* of a fenced execution */
};

struct wire_method {
    const char *name;              /* of the function in sim/hal.h; NULL: of the protocol only */
    enum hal_version since, until; /* versions of the HAL that have it */
    enum object_kind object;
    enum trace_phase phase; /* of its time in traces */
};

/* NULL: no such method. */
const struct wire_method *wire_method(Wire__Method method);
/* Its code's name, as in logs and traces; "?": none. */
const char *wire_method_name(Wire__Method method);

#endif
