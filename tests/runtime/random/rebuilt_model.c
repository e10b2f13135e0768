#define _GNU_SOURCE
#include "tests/runtime/random/rebuilt_model.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "golden/model/op.h"

#define CALL(call)                                                                                 \
    do {                                                                                           \
        int call_result = (call);                                                                  \
        REQUIRE(w, call_result == ANEURALNETWORKS_NO_ERROR, "%s gives %d", #call, call_result);    \
    } while (0)

ANeuralNetworksMemory *test_memory(const void *from, size_t n, size_t size, void **ret_address)
{
    ANeuralNetworksMemory *m = NULL;
    int fd = memfd_create("test", MFD_CLOEXEC);
    void *at = fd >= 0 && ftruncate(fd, (off_t) size) == 0
                   ? mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0)
                   : MAP_FAILED;

    if (at != MAP_FAILED) {
        if (from)
            memcpy(at, from, n);
        if (ANeuralNetworksMemory_createFromFd(size, PROT_READ | PROT_WRITE, fd, 0, &m) ==
            ANEURALNETWORKS_NO_ERROR)
            *ret_address = at;
        else
            munmap(at, size);
    }
    if (fd >= 0)
        close(fd);
    return m;
}

static int build(const struct model *m, uint32_t graph, struct rebuilt_model *to, struct why *w);

static int put_operand(const struct model *m, const struct operand *o, uint32_t at,
                       ANeuralNetworksModel *to, struct rebuilt_model *all, struct why *w)
{
    const struct tensor *t = &o->tensor;
    const ANeuralNetworksOperandType type = { (int32_t) t->dtype, t->shape.rank,
                                              t->shape.rank ? t->shape.dim : NULL, t->scale,
                                              t->zero };
    const int32_t index = (int32_t) at;

    CALL(ANeuralNetworksModel_addOperand(to, &type));
    if (dtype_info[t->dtype].quant == QUANT_CHANNEL) {
        const ANeuralNetworksSymmPerChannelQuantParams channels = { t->channel_dim, t->n_channels,
                                                                    t->channel_scale };
        CALL(ANeuralNetworksModel_setOperandSymmPerChannelQuantParams(to, index, &channels));
    }
    if (o->life == LIFE_SUBGRAPH) {
        TRY(build(m, o->subgraph, all, w));
        CALL(ANeuralNetworksModel_setOperandValueFromModel(to, index, all->graph[o->subgraph]));
    } else if (operand_omitted(o)) {
        CALL(ANeuralNetworksModel_setOperandValue(to, index, NULL, 0));
    } else if (o->life == LIFE_CONSTANT_COPY) {
        CALL(ANeuralNetworksModel_setOperandValue(to, index, t->data, o->length));
    } else if (o->life == LIFE_CONSTANT_REFERENCE) {
        size_t offset =
            (size_t) ((const uint8_t *) t->data - (const uint8_t *) m->pool[o->pool].data);
        CALL(ANeuralNetworksModel_setOperandValueFromMemory(to, index, all->pool[o->pool], offset,
                                                            o->length));
    }
    return 0;
}

static int build_graph(const struct model *m, uint32_t graph, ANeuralNetworksModel *to,
                       struct rebuilt_model *all, struct why *w)
{
    const struct graph *g = &m->graph[graph];

    for (uint32_t i = 0; i < g->n_operands; i++)
        TRY(put_operand(m, &g->operand[i], i, to, all, w));
    for (uint32_t i = 0; i < g->n_operations; i++) {
        const struct operation *o = &g->operation[i];
        CALL(ANeuralNetworksModel_addOperation(to, o->code, o->n_in, o->in, o->n_out, o->out));
    }
    CALL(ANeuralNetworksModel_identifyInputsAndOutputs(to, g->n_inputs, g->input, g->n_outputs,
                                                       g->output));
    CALL(ANeuralNetworksModel_relaxComputationFloat32toFloat16(to, m->relaxed));
    CALL(ANeuralNetworksModel_finish(to));
    return 0;
}

/* Recursion is as deep as constructs are nested. */
static int build(const struct model *m, uint32_t graph, struct rebuilt_model *to, struct why *w)
{
    if (to->graph[graph])
        return 0;
    CALL(ANeuralNetworksModel_create(&to->graph[graph]));
    return build_graph(m, graph, to->graph[graph], to, w);
}

int rebuilt_model_make(const struct model *m, struct rebuilt_model *ret, struct why *w)
{
    struct rebuilt_model to = {
        .n = m->n_graphs,
        .n_pools = m->n_pools,
        .graph = calloc(m->n_graphs, sizeof(ANeuralNetworksModel *)),
        .pool = calloc((size_t) m->n_pools + 1, sizeof(ANeuralNetworksMemory *)),
    };
    int failed = to.graph && to.pool ? 0 : why_no_memory(w);

    for (uint32_t i = 0; i < m->n_pools && !failed; i++) {
        void *at;
        to.pool[i] = test_memory(m->pool[i].data, m->pool[i].length, m->pool[i].length, &at);
        if (to.pool[i])
            munmap(at, m->pool[i].length);
        else
            failed = why_fail(w, WHY_SYSTEM, "memory for pool %u cannot be made", i);
    }
    if (!failed)
        failed = build(m, 0, &to, w);
    if (failed)
        rebuilt_model_done(&to);
    else
        *ret = to;
    return failed;
}

void rebuilt_model_done(struct rebuilt_model *m)
{
    /* Models refer to those with higher numbers or lower ones: none is used any more. */
    for (uint32_t i = 0; m->graph && i < m->n; i++)
        ANeuralNetworksModel_free(m->graph[i]);
    for (uint32_t i = 0; m->pool && i < m->n_pools; i++)
        ANeuralNetworksMemory_free(m->pool[i]);
    free(m->graph);
    free(m->pool);
}
