/* An application whose log and trace check_observed.py reads: o = relu((a + b) * b) or, with the
 * argument "while", the loop x = x + 1 while x < 3; computed in each of the four ways. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/include/NeuralNetworks.h"

#define OK(call)                                                                                   \
    do {                                                                                           \
        int result = (call);                                                                       \
        if (result != ANEURALNETWORKS_NO_ERROR) {                                                  \
            printf("%s: %d\n", #call, result);                                                     \
            exit(EXIT_FAILURE);                                                                    \
        }                                                                                          \
    } while (0)
#define LIST(...)                                                                                  \
    sizeof((uint32_t[]){ __VA_ARGS__ }) / sizeof(uint32_t), (uint32_t[])                           \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static void add_operand(ANeuralNetworksModel *m, int32_t code)
{
    const uint32_t one = 1;
    const bool is_scalar = code == ANEURALNETWORKS_INT32 || code == ANEURALNETWORKS_MODEL;
    const ANeuralNetworksOperandType t = { code, !is_scalar, is_scalar ? NULL : &one, 0, 0 };

    OK(ANeuralNetworksModel_addOperand(m, &t));
}

/* Operands 0, 1: inputs; 2: fuse code 0; 3: 0 + 1; 4: fuse code 1; 5: relu(3 * 1). */
static ANeuralNetworksModel *plain_model(void)
{
    const int32_t none = 0, relu = 1;
    ANeuralNetworksModel *m;

    OK(ANeuralNetworksModel_create(&m));
    for (int i = 0; i < 6; i++)
        add_operand(m, i == 2 || i == 4 ? ANEURALNETWORKS_INT32 : ANEURALNETWORKS_TENSOR_FLOAT32);
    OK(ANeuralNetworksModel_setOperandValue(m, 2, &none, sizeof none));
    OK(ANeuralNetworksModel_setOperandValue(m, 4, &relu, sizeof relu));
    OK(ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_ADD, LIST(0, 1, 2), LIST(3)));
    OK(ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_MUL, LIST(3, 1, 4), LIST(5)));
    OK(ANeuralNetworksModel_identifyInputsAndOutputs(m, LIST(0, 1), LIST(5)));
    OK(ANeuralNetworksModel_finish(m));
    return m;
}

/* Operands 0, 1: inputs x and limit; 2: x < limit, or x + 1. */
static ANeuralNetworksModel *part(bool is_condition)
{
    const int32_t none = 0;
    const float one = 1;
    ANeuralNetworksModel *m;

    OK(ANeuralNetworksModel_create(&m));
    for (int i = 0; i < 4; i++)
        add_operand(m, is_condition && i == 2 ? ANEURALNETWORKS_TENSOR_BOOL8
                                              : ANEURALNETWORKS_TENSOR_FLOAT32);
    add_operand(m, ANEURALNETWORKS_INT32);
    OK(ANeuralNetworksModel_setOperandValue(m, 3, &one, sizeof one));
    OK(ANeuralNetworksModel_setOperandValue(m, 4, &none, sizeof none));
    if (is_condition)
        OK(ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_LESS, LIST(0, 1), LIST(2)));
    else
        OK(ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_ADD, LIST(0, 3, 4), LIST(2)));
    OK(ANeuralNetworksModel_identifyInputsAndOutputs(m, LIST(0, 1), LIST(2)));
    OK(ANeuralNetworksModel_finish(m));
    return m;
}

static ANeuralNetworksModel *loop_model(ANeuralNetworksModel *cond, ANeuralNetworksModel *body)
{
    ANeuralNetworksModel *m;

    OK(ANeuralNetworksModel_create(&m));
    for (int i = 0; i < 5; i++)
        add_operand(m, i < 2 ? ANEURALNETWORKS_MODEL : ANEURALNETWORKS_TENSOR_FLOAT32);
    OK(ANeuralNetworksModel_setOperandValueFromModel(m, 0, cond));
    OK(ANeuralNetworksModel_setOperandValueFromModel(m, 1, body));
    OK(ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_WHILE, LIST(0, 1, 2, 3), LIST(4)));
    OK(ANeuralNetworksModel_identifyInputsAndOutputs(m, LIST(2, 3), LIST(4)));
    OK(ANeuralNetworksModel_finish(m));
    return m;
}

static float compute(ANeuralNetworksCompilation *c, ANeuralNetworksBurst *burst, int way)
{
    const float a = 1, b = 3;
    ANeuralNetworksExecution *e;
    ANeuralNetworksEvent *ev = NULL;
    float o = 0;

    OK(ANeuralNetworksExecution_create(c, &e));
    OK(ANeuralNetworksExecution_setInput(e, 0, NULL, &a, sizeof a));
    OK(ANeuralNetworksExecution_setInput(e, 1, NULL, &b, sizeof b));
    OK(ANeuralNetworksExecution_setOutput(e, 0, NULL, &o, sizeof o));
    switch (way) {
    case 0: OK(ANeuralNetworksExecution_compute(e)); break;
    case 1: OK(ANeuralNetworksExecution_burstCompute(e, burst)); break;
    case 2: OK(ANeuralNetworksExecution_startCompute(e, &ev)); break;
    default: OK(ANeuralNetworksExecution_startComputeWithDependencies(e, NULL, 0, 0, &ev));
    }
    if (ev)
        OK(ANeuralNetworksEvent_wait(ev));
    ANeuralNetworksEvent_free(ev);
    ANeuralNetworksExecution_free(e);
    return o;
}

int main(int argc, char **argv)
{
    const bool is_loop = argc > 1 && strcmp(argv[1], "while") == 0;
    ANeuralNetworksModel *cond = is_loop ? part(true) : NULL, *body = is_loop ? part(false) : NULL;
    ANeuralNetworksModel *m = is_loop ? loop_model(cond, body) : plain_model();
    ANeuralNetworksCompilation *c;
    ANeuralNetworksBurst *burst;

    OK(ANeuralNetworksCompilation_create(m, &c));
    OK(ANeuralNetworksCompilation_finish(c));
    OK(ANeuralNetworksBurst_create(c, &burst));
    for (int way = 0; way < 4; way++)
        printf("%g\n", (double) compute(c, burst, way));
    ANeuralNetworksBurst_free(burst);
    ANeuralNetworksCompilation_free(c);
    ANeuralNetworksModel_free(m);
    ANeuralNetworksModel_free(cond);
    ANeuralNetworksModel_free(body);
    return EXIT_SUCCESS;
}
