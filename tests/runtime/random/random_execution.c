#include "tests/runtime/random/random_execution.h"

#include <string.h>
#include <sys/mman.h>

#include "tests/runtime/random/rebuilt_model.h"

const char *const way_name[START_WAYS] = { "compute", "startCompute", "burstCompute",
                                           "startComputeWithDependencies" };

/* GUARD: bytes behind each argument, of a value that outputs begin with, too. */
enum { PADDING = 64, GUARD = 64, FILL = 0xee, ROOM = 16 };

struct random_execution random_execution_draw(struct rng *r)
{
    struct random_execution x = { .way = (enum start_way) rng_below(r, START_WAYS),
                                  .is_reusable = rng_below(r, 2),
                                  .is_padded = rng_below(r, 4) == 0,
                                  .in_memory = rng_below(r, 3) == 0,
                                  .shapes_given = rng_below(r, 3) == 0 };

    x.n_runs = x.is_reusable ? 1 + rng_below(r, 3) : 1;
    return x;
}

#define CALL(call)                                                                                 \
    do {                                                                                           \
        int call_result = (call);                                                                  \
        REQUIRE(w, call_result == ANEURALNETWORKS_NO_ERROR, "%s gives %d", #call, call_result);    \
    } while (0)

/* All arguments, one behind the other. */
struct block {
    uint8_t *at;
    size_t size;
    ANeuralNetworksMemory *memory; /* NULL: the arena's */
    size_t *offset, *length;       /* by argument: inputs, then outputs */
};

struct run {
    const struct random_execution *x;
    const struct graph *graph;
    const struct tensor *in, *like;
    struct arena *a;
    struct why *w;
    struct block block;
};

static size_t rounded(size_t n)
{
    return (n + PADDING - 1) / PADDING * PADDING;
}

static bool is_known(const struct tensor *declared)
{
    return !dtype_info[declared->dtype].tensor || shape_known(&declared->shape);
}

/* Bytes that argument i is given; 0: it is omitted. */
static size_t length_of(const struct run *r, uint32_t i)
{
    const struct graph *g = r->graph;
    size_t length;

    if (i < g->n_inputs) {
        length = r->in[i].data ? tensor_bytes(&r->in[i]) : 0;
    } else {
        const uint32_t k = i - g->n_inputs;
        const struct tensor *declared = &g->operand[g->output[k]].tensor;
        length = is_known(declared) || r->x->shapes_given
                     ? tensor_bytes(&r->like[k])
                     : ROOM * (tensor_bytes(&r->like[k]) + PADDING);
    }
    return r->x->is_padded ? rounded(length) : length;
}

static int make_block(struct run *r)
{
    const uint32_t n = r->graph->n_inputs + r->graph->n_outputs;
    struct block *b = &r->block;
    void *at = NULL;

    b->offset = arena_alloc(r->a, n, sizeof *b->offset);
    b->length = arena_alloc(r->a, n, sizeof *b->length);
    if (!b->offset || !b->length)
        return why_no_memory(r->w);
    b->size = GUARD;
    for (uint32_t i = 0; i < n; i++) {
        b->offset[i] = b->size;
        b->length[i] = length_of(r, i);
        b->size += rounded(b->length[i]) + GUARD;
    }
    if (r->x->in_memory)
        b->memory = test_memory(NULL, 0, b->size, &at);
    b->at = r->x->in_memory ? at : arena_alloc(r->a, b->size, 1);
    return b->at ? 0 : why_no_memory(r->w);
}

static void fill_block(struct run *r)
{
    memset(r->block.at, FILL, r->block.size);
    for (uint32_t i = 0; i < r->graph->n_inputs; i++)
        if (r->in[i].data)
            memcpy(r->block.at + r->block.offset[i], r->in[i].data, tensor_bytes(&r->in[i]));
}

/* Whether nothing but outputs has been written. */
static int check_block(const struct run *r)
{
    const uint32_t n = r->graph->n_inputs + r->graph->n_outputs;
    const struct block *b = &r->block;

    for (uint32_t i = 0; i < n; i++) {
        size_t end = i + 1 < n ? b->offset[i + 1] : b->size;
        for (size_t k = b->offset[i] + b->length[i]; k < end; k++)
            REQUIRE(r->w, b->at[k] == FILL, "byte %zu behind argument %u is written",
                    k - b->offset[i] - b->length[i], i);
    }
    return 0;
}

static ANeuralNetworksOperandType type_of(const struct tensor *t)
{
    return (ANeuralNetworksOperandType){ (int32_t) t->dtype, t->shape.rank,
                                         t->shape.rank ? t->shape.dim : NULL, t->scale, t->zero };
}

static int set_arguments(const struct run *r, ANeuralNetworksExecution *e)
{
    const struct block *b = &r->block;
    struct why *w = r->w;

    for (uint32_t i = 0; i < r->graph->n_inputs; i++) {
        const struct tensor *declared = &r->graph->operand[r->graph->input[i]].tensor;
        const ANeuralNetworksOperandType type = type_of(&r->in[i]);
        const ANeuralNetworksOperandType *given = is_known(declared) ? NULL : &type;
        if (b->memory && b->length[i])
            CALL(ANeuralNetworksExecution_setInputFromMemory(e, (int32_t) i, given, b->memory,
                                                             b->offset[i], b->length[i]));
        else
            CALL(ANeuralNetworksExecution_setInput(
                e, (int32_t) i, given, b->length[i] ? b->at + b->offset[i] : NULL, b->length[i]));
    }
    for (uint32_t i = 0; i < r->graph->n_outputs; i++) {
        const uint32_t k = r->graph->n_inputs + i;
        const ANeuralNetworksOperandType type = type_of(&r->like[i]);
        const bool is_given =
            !is_known(&r->graph->operand[r->graph->output[i]].tensor) && r->x->shapes_given;
        const ANeuralNetworksOperandType *given = is_given ? &type : NULL;
        if (b->memory)
            CALL(ANeuralNetworksExecution_setOutputFromMemory(e, (int32_t) i, given, b->memory,
                                                              b->offset[k], b->length[k]));
        else
            CALL(ANeuralNetworksExecution_setOutput(e, (int32_t) i, given, b->at + b->offset[k],
                                                    b->length[k]));
    }
    return 0;
}

static int start(const struct random_execution *x, ANeuralNetworksExecution *e,
                 ANeuralNetworksBurst *burst)
{
    ANeuralNetworksEvent *ev = NULL;
    int result;

    if (x->way == START_COMPUTE)
        return ANeuralNetworksExecution_compute(e);
    if (x->way == START_BURST)
        return ANeuralNetworksExecution_burstCompute(e, burst);
    result = x->way == START_ASYNC
                 ? ANeuralNetworksExecution_startCompute(e, &ev)
                 : ANeuralNetworksExecution_startComputeWithDependencies(e, NULL, 0, 0, &ev);
    if (result == ANEURALNETWORKS_NO_ERROR)
        result = ANeuralNetworksEvent_wait(ev);
    ANeuralNetworksEvent_free(ev);
    return result;
}

static int read_output(const struct run *r, ANeuralNetworksExecution *e, uint32_t i,
                       struct tensor *ret)
{
    const uint32_t k = r->graph->n_inputs + i;
    struct tensor t = r->like[i];
    struct why *w = r->w;

    CALL(ANeuralNetworksExecution_getOutputOperandRank(e, (int32_t) i, &t.shape.rank));
    REQUIRE(w, t.shape.rank <= MAX_RANK, "output %u has rank %u", i, t.shape.rank);
    if (t.shape.rank)
        CALL(ANeuralNetworksExecution_getOutputOperandDimensions(e, (int32_t) i, t.shape.dim));
    REQUIRE(w, tensor_bytes(&t) <= r->block.length[k], "output %u of %zu bytes has %zu", i,
            r->block.length[k], tensor_bytes(&t));
    t.data = arena_copy(r->a, r->block.at + r->block.offset[k], tensor_bytes(&t));
    *ret = t;
    return t.data ? 0 : why_no_memory(w);
}

static int run(struct run *r, ANeuralNetworksExecution *e, ANeuralNetworksBurst *burst,
               struct tensor *ret_out, int *ret_result)
{
    struct why *w = r->w;

    CALL(ANeuralNetworksExecution_setReusable(e, r->x->is_reusable));
    CALL(ANeuralNetworksExecution_enableInputAndOutputPadding(e, r->x->is_padded));
    CALL(ANeuralNetworksExecution_setLoopTimeout(e, ANeuralNetworks_getMaximumLoopTimeout()));
    TRY(set_arguments(r, e));
    for (uint32_t turn = 0; turn < r->x->n_runs; turn++) {
        fill_block(r);
        *ret_result = start(r->x, e, burst);
        TRY(check_block(r));
        if (*ret_result != ANEURALNETWORKS_NO_ERROR)
            return 0;
        for (uint32_t i = 0; i < r->graph->n_outputs; i++) {
            struct tensor before = ret_out[i];
            TRY(read_output(r, e, i, &ret_out[i]));
            REQUIRE(w,
                    !turn || (shape_equal(&before.shape, &ret_out[i].shape) &&
                              !memcmp(before.data, ret_out[i].data, tensor_bytes(&before))),
                    "output %u differs in run %u of a reusable execution", i, turn + 1);
        }
    }
    return 0;
}

static int create_and_run(struct run *r, ANeuralNetworksCompilation *c, struct tensor *ret_out,
                          int *ret_result)
{
    ANeuralNetworksBurst *burst = NULL;
    ANeuralNetworksExecution *e;
    struct why *w = r->w;

    TRY(make_block(r));
    CALL(ANeuralNetworksExecution_create(c, &e));
    int failed = 0;
    if (r->x->way == START_BURST &&
        ANeuralNetworksBurst_create(c, &burst) != ANEURALNETWORKS_NO_ERROR)
        failed = why_fail(w, WHY_INVALID, "ANeuralNetworksBurst_create() fails");
    if (!failed)
        failed = run(r, e, burst, ret_out, ret_result);
    ANeuralNetworksBurst_free(burst);
    ANeuralNetworksExecution_free(e);
    return failed;
}

int random_execution_run(const struct random_execution *x, ANeuralNetworksCompilation *c,
                         const struct model *m, const struct tensor *in, const struct tensor *like,
                         struct arena *a, struct tensor *ret_out, int *ret_result, struct why *w)
{
    struct run r = { .x = x, .graph = &m->graph[0], .in = in, .like = like, .a = a, .w = w };
    int failed = create_and_run(&r, c, ret_out, ret_result);

    ANeuralNetworksMemory_free(r.block.memory);
    if (r.block.memory)
        munmap(r.block.at, r.block.size);
    return failed;
}
