#include "harness/trace/trace_marks.h"

#include <stddef.h>
#include <string.h>

bool trace_phase_is_of_execution(enum trace_phase phase)
{
    return phase == TRACE_PIO || phase == TRACE_PTR || phase == TRACE_PCO || phase == TRACE_PR;
}

bool trace_phase_is_within(enum trace_phase phase, enum trace_phase outer)
{
    bool is_main = phase == TRACE_PI || phase == TRACE_PP || phase == TRACE_PC ||
                   phase == TRACE_PE || phase == TRACE_PT;

    switch (outer) {
    case TRACE_PE: return trace_phase_is_of_execution(phase);
    case TRACE_PO: return is_main || phase == TRACE_PWU || phase == TRACE_PBM;
    case TRACE_PWU:
    case TRACE_PBM: return is_main;
    default: return false;
    }
}

/* ---- NNAPI's own */

static bool take(const char **at, const char *text)
{
    size_t n = strlen(text);
    bool is_there = strncmp(*at, text, n) == 0;

    *at += is_there ? n : 0;
    return is_there;
}

/* Index of the name that is followed by `end`; -1: none. */
static int take_name(const char **at, const char *const *names, int n, char end)
{
    for (int i = 0; i < n; i++) {
        size_t length = strlen(names[i]);
        if (strncmp(*at, names[i], length) == 0 && (*at)[length] == end) {
            *at += length + 1;
            return i;
        }
    }
    return -1;
}

static enum trace_mode take_mode(const char **at)
{
    for (int mode = TRACE_SW; mode <= TRACE_SUB; mode++)
        if (take(at, trace_mode_prefix[mode]))
            return (enum trace_mode) mode;
    return TRACE_NEST;
}

/* Phases as they should have been in marks of NNAPI and of its benchmark: the function frees what
 * belongs to an execution, or asks the device, not for a model. */
static enum trace_phase repair(const char *mark, enum trace_phase phase)
{
    bool frees =
        strstr(mark, "ANeuralNetworksEvent_free") || strstr(mark, "ANeuralNetworksExecution_free");

    if (phase == TRACE_PT && frees)
        return TRACE_PE;
    return phase == TRACE_PC && strstr(mark, "getSupportedExtensions") ? TRACE_PI : phase;
}

/* "[SW][NN_LD_PCO]run"; false: another tag, or none. */
static bool parse_tag(const char *mark, struct trace_mark *ret)
{
    const char *at = mark;

    ret->mode = take_mode(&at);
    if (!take(&at, "[NN_"))
        return false;
    int layer = take_name(&at, trace_layer_name, TRACE_LAYERS, '_');
    int phase = layer < 0           ? -1
                : take(&at, "PWM]") ? (int) TRACE_PWU /* how the public benchmark writes it */
                                    : take_name(&at, trace_phase_name, TRACE_PHASES, ']');
    if (phase < 0)
        return false;
    ret->layer = (enum trace_layer) layer;
    ret->phase = repair(mark, (enum trace_phase) phase);
    if (ret->mode == TRACE_SW && layer == TRACE_LA && phase == TRACE_PR &&
        strcmp(at, "executeWithCompilation") == 0)
        ret->mode = TRACE_NEST; /* it only encloses the section that it claims to follow */
    return true;
}

/* ---- HIDL and AIDL */

static bool is_interface(const char *mark)
{
    return strncmp(mark, "HIDL::", 6) == 0 || strncmp(mark, "AIDL::", 6) == 0;
}

/* Phases of calls by a part of their name, the first that is found; others initialise. */
static enum trace_phase phase_of_call(const char *mark)
{
    static const struct {
        const char *part;
        enum trace_phase phase;
    } phases[] = {
        { "IAllocator", TRACE_PU },
        { "getCapabilities", TRACE_PI },
        { "prepareModel", TRACE_PC },
        { "getSupportedOperations", TRACE_PC },
        { "IPreparedModelCallback", TRACE_PC },
        { "execute", TRACE_PE },
        { "IExecutionCallback", TRACE_PE },
        { "IPreparedModel::", TRACE_PE }, /* bursts, reusable executions */
        { "IBurst", TRACE_PE },
        { "IBuffer", TRACE_PU }, /* copies, between executions or within them */
        { "", TRACE_PI },
    };
    size_t i = 0;

    while (!strstr(mark, phases[i].part))
        i++;
    return phases[i].phase;
}

/* A notification goes up, and its time is already in that of the call. */
static bool parse_call(const char *mark, struct trace_mark *ret)
{
    bool asks = strstr(mark, "getCapabilities") || strstr(mark, "getSupportedOperations");

    if (!is_interface(mark) || strstr(mark, "notify"))
        return false;
    ret->mode = TRACE_NEST;
    ret->phase = phase_of_call(mark);
    if (strstr(mark, "::client") || strstr(mark, "::passthrough"))
        ret->layer = TRACE_LI;
    else if (strstr(mark, "::server") || asks)
        ret->layer = TRACE_LD;
    else
        return false;
    return true;
}

/* ---- both */

bool trace_mark_parse(const char *mark, struct trace_mark *ret)
{
    if (!parse_tag(mark, ret) && !parse_call(mark, ret))
        return false;
    return ret->layer != TRACE_LO && ret->layer != TRACE_LU;
}

const char *trace_mark_text(const char *mark)
{
    struct trace_mark parsed;
    const char *at = mark;

    if (!parse_tag(mark, &parsed))
        return mark;
    take_mode(&at);
    return strchr(at, ']') + 1;
}

bool trace_mark_is_served(const char *mark)
{
    return is_interface(mark) && strstr(mark, "::server") &&
           (strstr(mark, "::IDevice::") || strstr(mark, "::IPreparedModel::") ||
            strstr(mark, "::IBurst::") || strstr(mark, "::IExecution::"));
}

/* "execute::server", and "execute_1_2::server" unless `exact` */
static bool is_call(const char *text, const char *call, const char *side, bool exact)
{
    if (!take(&text, call))
        return false;
    if (!exact && *text == '_')
        text += strcspn(text, ":");
    return strcmp(text, side) == 0;
}

int trace_mark_span_end(const char *mark, bool exact)
{
    const char *text = trace_mark_text(mark);

    if (strcmp(text, "ANeuralNetworksExecution_startCompute") == 0)
        return SPAN_START;
    if (strcmp(text, "ANeuralNetworksEvent_wait") == 0)
        return SPAN_WAIT;
    if (is_call(text, "HIDL::IPreparedModel::execute", "::server", exact))
        return SPAN_EXECUTE;
    return is_call(text, "HIDL::IExecutionCallback::notify", "::client", exact) ? SPAN_NOTIFY : -1;
}
