#include "golden/base/trace.h"

#include <math.h>

#include "golden/base/clock.h"

const char *const trace_layer_name[] = { "LA", "LR", "LI", "LD", "LC", "LO", "LU" };
const char *const trace_phase_name[] = { "PO", "PWU", "PBM", "PI",  "PP",  "PC", "PE",
                                         "PT", "PU",  "PIO", "PTR", "PCO", "PR" };
const char *const trace_mode_prefix[] = { "", "[SW]", "[SUB]" };

atomic_bool trace_is_on;

static trace_sink *trace_to;
static void *trace_user;
static atomic_uint tracks;

void trace_set_sink(trace_sink *sink, void *user)
{
    trace_user = user;
    trace_to = sink;
    atomic_store(&trace_is_on, sink);
}

static double now_ns(void)
{
    return (double) clock_steady_ns();
}

static void send(const struct trace_event *e)
{
    if (trace_to)
        trace_to(e, trace_user);
}

void trace_begin(enum trace_mode mode, enum trace_layer layer, enum trace_phase phase,
                 const char *name)
{
    send(&(struct trace_event){ .kind = TRACE_BEGIN,
                                .mode = mode,
                                .layer = layer,
                                .phase = phase,
                                .ns = now_ns(),
                                .name = name });
}

void trace_end(void)
{
    send(&(struct trace_event){ .kind = TRACE_END, .ns = now_ns(), .name = "" });
}

void trace_past(enum trace_layer layer, enum trace_phase phase, const char *name, uint64_t begin,
                uint64_t end)
{
    send(&(struct trace_event){
        .kind = TRACE_BEGIN, .layer = layer, .phase = phase, .ns = (double) begin, .name = name });
    send(&(struct trace_event){ .kind = TRACE_END, .ns = (double) end, .name = "" });
}

struct trace_track trace_track_new(const char *name)
{
    struct trace_track t = { .origin = now_ns() };

    if (!TRACE_IS_ON())
        return t;
    t.id = atomic_fetch_add(&tracks, 1) + 1;
    send(&(struct trace_event){ .kind = TRACE_TRACK, .track = t.id, .ns = t.origin, .name = name });
    return t;
}

void trace_put(const struct trace_track *t, const struct trace_event *e)
{
    struct trace_event put = *e;

    put.track = t->id;
    put.ns = t->origin + round(e->ns);
    put.duration = round(e->ns + e->duration) - round(e->ns);
    if (t->id)
        send(&put);
}
