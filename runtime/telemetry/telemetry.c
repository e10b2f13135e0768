#define _GNU_SOURCE
#include "runtime/telemetry/telemetry.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden/base/clock.h"
#include "golden/base/trace.h"
#include "runtime/telemetry/telemetry_file.h"

/* ---- where records go */

struct callbacks {
    ANeuralNetworksDiagnosticCompilationFinishedCallback compilation;
    ANeuralNetworksDiagnosticExecutionFinishedCallback execution;
    void *context;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct callbacks registered; /* under lock */
static atomic_bool has_callbacks;

bool telemetry_is_on(void)
{
    return atomic_load_explicit(&has_callbacks, memory_order_relaxed) || telemetry_file_is_open();
}

void telemetry_register(ANeuralNetworksDiagnosticCompilationFinishedCallback compilation,
                        ANeuralNetworksDiagnosticExecutionFinishedCallback execution, void *context)
{
    pthread_mutex_lock(&lock);
    registered = (struct callbacks){ compilation, execution, context };
    atomic_store(&has_callbacks, compilation || execution);
    pthread_mutex_unlock(&lock);
}

/* They are called without the lock, so that a callback may register others. */
static struct callbacks callbacks_now(void)
{
    pthread_mutex_lock(&lock);
    struct callbacks now = registered;
    pthread_mutex_unlock(&lock);
    return now;
}

void telemetry_compilation(const struct ANeuralNetworksDiagnosticCompilationInfo *info)
{
    TRACE(LR, PU, "telemetry");
    const struct callbacks to = callbacks_now();

    if (to.compilation)
        to.compilation(to.context, info);
    telemetry_file_compilation(info);
}

void telemetry_execution(const struct ANeuralNetworksDiagnosticExecutionInfo *info)
{
    TRACE(LR, PU, "telemetry");
    const struct callbacks to = callbacks_now();

    if (to.execution)
        to.execution(to.context, info);
    telemetry_file_execution(info);
}

/* ---- facts */

static int32_t session;

/* Processes that run at once have different numbers, mostly. */
static void make_session(void)
{
    const uint64_t ms = clock_ns(CLOCK_REALTIME) / 1000000;

    session = (int32_t) (((uint64_t) getpid() * 123 + ms) % 999983);
}

static int32_t session_id(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, make_session);
    return session;
}

static ANeuralNetworksDiagnosticDataClass class_of(const struct tensor *t)
{
    if (!dtype_find(t->dtype) || !dtype_info[t->dtype].tensor)
        return ANNDIAG_DATA_CLASS_OTHER;
    switch (dtype_info[t->dtype].quant) {
    case QUANT_AFFINE:
    case QUANT_SYMM:
    case QUANT_CHANNEL: return ANNDIAG_DATA_CLASS_QUANT;
    case QUANT_BIAS: /* TENSOR_INT32 */
    case QUANT_NONE: break;
    }
    return t->dtype == DT_F32   ? ANNDIAG_DATA_CLASS_FLOAT32
           : t->dtype == DT_F16 ? ANNDIAG_DATA_CLASS_FLOAT16
                                : ANNDIAG_DATA_CLASS_OTHER;
}

static ANeuralNetworksDiagnosticDataClass class_of_all(const struct graph *g, const uint32_t *index,
                                                       uint32_t n)
{
    ANeuralNetworksDiagnosticDataClass all = ANNDIAG_DATA_CLASS_UNKNOWN;

    for (uint32_t i = 0; i < n; i++) {
        const ANeuralNetworksDiagnosticDataClass one = class_of(&g->operand[index[i]].tensor);
        if (all == ANNDIAG_DATA_CLASS_UNKNOWN || all == ANNDIAG_DATA_CLASS_OTHER)
            all = one;
        else if (one != ANNDIAG_DATA_CLASS_OTHER && one != all)
            all = ANNDIAG_DATA_CLASS_MIXED;
    }
    return all;
}

static bool has_control_flow(const struct graph *g)
{
    for (uint32_t i = 0; i < g->n_operations; i++) {
        const struct op *op = op_find(g->operation[i].code);
        if (op && op->control_kind != CONTROL_NONE)
            return true;
    }
    return false;
}

struct telemetry_facts telemetry_facts_of(const ANeuralNetworksModel *m)
{
    const struct graph *g = &m->model.graph[0];

    return (struct telemetry_facts){ .session = session_id(),
                                     .level = level_code(runtime_level()),
                                     .hash = model_hash(m),
                                     .devices = "",
                                     .inputs = class_of_all(g, g->input, g->n_inputs),
                                     .outputs = class_of_all(g, g->output, g->n_outputs),
                                     .has_control_flow = has_control_flow(g) };
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *) a, *(char *const *) b);
}

/* The texts, sorted, each once, with commas between. */
static char *joined(char **text, uint32_t n)
{
    size_t size = 1;

    for (uint32_t i = 0; i < n; i++)
        size += strlen(text[i]) + 1;
    char *all = malloc(size), *to = all;
    if (!all)
        return NULL;
    qsort(text, n, sizeof(*text), by_text);
    *to = 0;
    for (uint32_t i = 0; i < n; i++)
        if (!i || strcmp(text[i], text[i - 1]) != 0)
            to = stpcpy(stpcpy(to, i ? "," : ""), text[i]);
    return all;
}

static char *text_of(const ANeuralNetworksDevice *d)
{
    char *text = malloc(strlen(d->name) + strlen(d->version) + 2);

    if (text)
        stpcpy(stpcpy(stpcpy(text, d->name), "="), d->version);
    return text;
}

char *telemetry_devices(const ANeuralNetworksDevice *const *device, uint32_t n)
{
    char **text = calloc((size_t) n + 1, sizeof(*text));
    char *all = NULL;
    uint32_t made = 0;

    while (text && made < n && (text[made] = text_of(device[made])))
        made++;
    if (text && made == n)
        all = joined(text, n);
    while (made)
        free(text[--made]);
    free(text);
    return all;
}
