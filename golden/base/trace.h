/* Tracing: timed sections, reported to a sink that the program sets; without a sink a section costs
 * one branch.
 *
 * A section lasts until the end of the enclosing block.  It has a layer, a phase and a text, in the
 * notation of NNAPI's traces: "[NN_LD_PC]prepare_model".
 *
 *     TRACE(LD, PC, "prepare_model");        time of this layer in this phase
 *     TRACE_SWITCH(LR, PR, "take outputs");  ... ends the time of the enclosing section
 *     TRACE_SUBTRACT(LR, PE, "again");       ... is subtracted from the enclosing sections
 *
 * Layers: LA application, LR runtime, LI inter-process communication, LD driver, LC reference on
 * the CPU, LO others, LU utility (counted for the calling layer).  Phases: PO overall, PWU warm-up,
 * PBM benchmark, PI initialisation, PP preparation, PC compilation, PE execution, PT termination,
 * PU the caller's phase; within an execution PIO inputs and outputs, PTR transformation, PCO
 * computation, PR results.  A nested section has the phase of the enclosing one or one within it,
 * or is subtracted. */
#ifndef GOLDEN_TRACE_H
#define GOLDEN_TRACE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

enum trace_layer { TRACE_LA, TRACE_LR, TRACE_LI, TRACE_LD, TRACE_LC, TRACE_LO, TRACE_LU };
enum trace_phase {
    TRACE_PO,
    TRACE_PWU,
    TRACE_PBM,
    TRACE_PI,
    TRACE_PP,
    TRACE_PC,
    TRACE_PE,
    TRACE_PT,
    TRACE_PU,
    TRACE_PIO,
    TRACE_PTR,
    TRACE_PCO,
    TRACE_PR
};
enum trace_mode { TRACE_NEST, TRACE_SW, TRACE_SUB };

extern const char *const trace_layer_name[];  /* "LA", ... */
extern const char *const trace_phase_name[];  /* "PO", ... */
extern const char *const trace_mode_prefix[]; /* "", "[SW]", "[SUB]" */
enum { TRACE_LAYERS = TRACE_LU + 1, TRACE_PHASES = TRACE_PR + 1, TRACE_MODES = TRACE_SUB + 1 };

enum trace_kind {
    TRACE_BEGIN,      /* a section of the calling thread begins, or one of a track */
    TRACE_END,        /* the innermost section ends */
    TRACE_TRACK,      /* declares a track: `name` */
    TRACE_SLICE,      /* on a track: starts at `ns`, takes `duration` */
    TRACE_SPAN_BEGIN, /* on a track: spans with the same id nest, others may overlap */
    TRACE_SPAN_END
};

/* An event reported to the sink. */
struct trace_event {
    enum trace_kind kind;
    enum trace_mode mode; /* of a section, as layer and phase */
    enum trace_layer layer;
    enum trace_phase phase;
    uint32_t track;      /* 0: the calling thread */
    double ns, duration; /* nanoseconds, monotonic clock */
    uint64_t id;         /* of a span */
    const char *name;    /* any text */
    const char *detail;  /* further text; NULL: none */
};

/* Called from any thread, concurrently. */
typedef void trace_sink(const struct trace_event *e, void *user);
/* NULL: tracing is off.  Set it before other threads start. */
void trace_set_sink(trace_sink *sink, void *user);

extern atomic_bool trace_is_on;
#define TRACE_IS_ON() atomic_load_explicit(&trace_is_on, memory_order_relaxed)

void trace_begin(enum trace_mode mode, enum trace_layer layer, enum trace_phase phase,
                 const char *name);
void trace_end(void);
/* A section of this layer that is over: times of the steady clock in ns, not before the last event
 * of this thread. */
void trace_past(enum trace_layer layer, enum trace_phase phase, const char *name, uint64_t begin,
                uint64_t end);

/* A track: a separate time line, whose clock is 0 when it is created. */
struct trace_track {
    uint32_t id;   /* 0: none, tracing was off when it was created */
    double origin; /* monotonic clock, nanoseconds */
};
struct trace_track trace_track_new(const char *name);
/* Reports an event on the track; e->ns: by the track's clock.  Begin and end times are rounded to
 * whole nanoseconds, so that equal times stay equal. */
void trace_put(const struct trace_track *t, const struct trace_event *e);

/* ---- sections of a block */

static inline bool trace_enter(enum trace_mode mode, enum trace_layer layer, enum trace_phase phase,
                               const char *name)
{
    bool on = TRACE_IS_ON();

    if (__builtin_expect(on, false))
        trace_begin(mode, layer, phase, name);
    return on;
}

static inline void trace_leave(const bool *on)
{
    if (__builtin_expect(*on, false))
        trace_end();
}

#define TRACE_JOIN(a, b)  a##b
#define TRACE_NAME(count) TRACE_JOIN(trace_section_, count)
#define TRACE_SECTION(mode, layer, phase, name)                                                    \
    __attribute__((cleanup(trace_leave), unused)) const bool TRACE_NAME(__COUNTER__) =             \
        trace_enter(mode, TRACE_##layer, TRACE_##phase, name)
#define TRACE(layer, phase, name)          TRACE_SECTION(TRACE_NEST, layer, phase, name)
#define TRACE_SWITCH(layer, phase, name)   TRACE_SECTION(TRACE_SW, layer, phase, name)
#define TRACE_SUBTRACT(layer, phase, name) TRACE_SECTION(TRACE_SUB, layer, phase, name)
/* Phase and name are expressions, evaluated only while tracing is on. */
#define TRACE_COMPUTED(layer, phase, name)                                                         \
    __attribute__((cleanup(trace_leave), unused)) const bool TRACE_NAME(__COUNTER__) =             \
        TRACE_IS_ON() && (trace_begin(TRACE_NEST, TRACE_##layer, phase, name), true)

#endif
