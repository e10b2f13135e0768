/* Traces of everything that runs: sections of time, for whoever wants to see them.  They go to a
 * sink, set by the program; while there is none a section costs one branch.
 *
 * A section lasts to the end of the block that it stands in.  It has a layer, a phase and a text,
 * in the grammar of NNAPI's traces: "[NN_LD_PC]prepare_model".
 *
 *     TRACE(LD, PC, "prepare_model");        time of this layer in this phase
 *     TRACE_SWITCH(LR, PR, "take outputs");  ... ends the time of the section around it
 *     TRACE_SUBTRACT(LR, PE, "again");       ... counts for itself, not for those around it
 *
 * Layers: LA application, LR runtime, LI between processes, LD driver, LC reference on the CPU, LO
 * others, LU utility (counts for whoever calls it).  Phases: PO overall, PWU warm-up, PBM
 * benchmark, PI initialisation, PP preparation, PC compilation, PE execution, PT termination, PU
 * that of whoever calls; within an execution PIO inputs and outputs, PTR transformation, PCO
 * computation, PR results.  Sections within others are of the same phase, of one within it, or
 * subtracted. */
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
    TRACE_BEGIN,      /* a section of the calling thread, or of a track */
    TRACE_END,        /* the innermost one */
    TRACE_TRACK,      /* a track of its own, with its own clock: its name */
    TRACE_SLICE,      /* on a track: from `ns` on, `duration` long */
    TRACE_SPAN_BEGIN, /* on a track: spans of one id nest, others overlap */
    TRACE_SPAN_END
};

/* What a sink is told. */
struct trace_event {
    enum trace_kind kind;
    enum trace_mode mode; /* of a section, as layer and phase */
    enum trace_layer layer;
    enum trace_phase phase;
    uint32_t track;      /* 0: the calling thread */
    double ns, duration; /* monotonic clock */
    uint64_t id;         /* of a span */
    const char *name;    /* any text */
    const char *detail;  /* more of it; NULL: nothing */
};

/* Called from any thread, several at once. */
typedef void trace_sink(const struct trace_event *e, void *user);
/* NULL: nobody looks.  To be set before there are threads. */
void trace_set_sink(trace_sink *sink, void *user);

extern atomic_bool trace_is_on;
#define TRACE_IS_ON() atomic_load_explicit(&trace_is_on, memory_order_relaxed)

void trace_begin(enum trace_mode mode, enum trace_layer layer, enum trace_phase phase,
                 const char *name);
void trace_end(void);

/* A track with a clock of its own, which stands at 0 now. */
struct trace_track {
    uint32_t id;   /* 0: none, nobody looked when it was made */
    double origin; /* monotonic clock */
};
struct trace_track trace_track_new(const char *name);
/* e->ns: by the track's clock.  Beginnings and ends come out as whole nanoseconds, those of one
 * time as the same. */
void trace_put(const struct trace_track *t, const struct trace_event *e);

/* ---- sections that last as long as a block */

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
/* Phase and name are expressions, of interest only when somebody looks. */
#define TRACE_COMPUTED(layer, phase, name)                                                         \
    __attribute__((cleanup(trace_leave), unused)) const bool TRACE_NAME(__COUNTER__) =             \
        TRACE_IS_ON() && (trace_begin(TRACE_NEST, TRACE_##layer, phase, name), true)

#endif
