/* Random models over random devices, executed: the results are those that C computes, bit for bit.
 */
#define _GNU_SOURCE
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/runtime/client_job.h"
#include "tests/support/check_main.h"

enum { SETS = 5, MODELS = 10, DEVICES = 3, MOST_OPERATIONS = 40, ELEMENTS = 4, MOST = 128 };

static uint64_t state;

static uint32_t below(uint32_t n)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t) (state >> 33) % n;
}

/* ---- operations, which are exact in float but for one rounding */

static const struct {
    int32_t code, activation; /* -1: it has none */
} kinds[] = { { ANEURALNETWORKS_ADD, 0 },      { ANEURALNETWORKS_ADD, 1 },
              { ANEURALNETWORKS_ADD, 2 },      { ANEURALNETWORKS_MUL, 0 },
              { ANEURALNETWORKS_MUL, 2 },      { ANEURALNETWORKS_SUB, 0 },
              { ANEURALNETWORKS_SUB, 3 },      { ANEURALNETWORKS_MAXIMUM, -1 },
              { ANEURALNETWORKS_MINIMUM, -1 }, { ANEURALNETWORKS_DIV, 1 } };
enum { KINDS = sizeof kinds / sizeof *kinds };

static float limited(float x, float low, float high)
{
    return x < low ? low : x > high ? high : x;
}

static float value_of(uint32_t kind, float x, float y)
{
    float r = 0;

    switch (kinds[kind].code) {
    case ANEURALNETWORKS_ADD: r = x + y; break;
    case ANEURALNETWORKS_SUB: r = x - y; break;
    case ANEURALNETWORKS_MUL: r = x * y; break;
    case ANEURALNETWORKS_DIV: r = x / y; break;
    case ANEURALNETWORKS_MAXIMUM: return x > y ? x : y;
    case ANEURALNETWORKS_MINIMUM: return x < y ? x : y;
    default: ck_abort();
    }
    switch (kinds[kind].activation) {
    case ANEURALNETWORKS_FUSED_RELU: return limited(r, 0, INFINITY);
    case ANEURALNETWORKS_FUSED_RELU1: return limited(r, -1, 1);
    case ANEURALNETWORKS_FUSED_RELU6: return limited(r, 0, 6);
    default: return r;
    }
}

/* ---- devices: each kind is that of exactly one */

static uint32_t device_of_kind[KINDS];

static void use_random_devices(void)
{
    char text[2048], *to = text;

    for (uint32_t k = 0; k < KINDS; k++)
        device_of_kind[k] = below(DEVICES);
    for (uint32_t d = 0; d < DEVICES; d++) {
        to += sprintf(to, "%s%%c?name=%c&hal=%d&row=0.%u&ops=1000", d ? "," : "", 'a' + (int) d,
                      (int[]){ 12, 13, 18 }[below(3)], 1 + below(9));
        for (uint32_t k = 0; k < KINDS; k++)
            if (device_of_kind[k] == d && kinds[k].activation >= 0)
                to += sprintf(to, "-%d.%d", kinds[k].code, kinds[k].activation);
            else if (device_of_kind[k] == d)
                to += sprintf(to, "-%d", kinds[k].code);
    }
    use_devices(text);
}

/* ---- models */

struct random_model {
    struct net net;
    uint32_t n, n_inputs, n_outputs, n_readable;
    uint32_t input[MOST], output[MOST], readable[MOST];
    float value[MOST][ELEMENTS]; /* by operand, as C computes it */
    bool used[DEVICES];
};

static void draw_values(float *to)
{
    for (int i = 0; i < ELEMENTS; i++)
        to[i] = (float) below(1000) / 128 - 4;
}

static void add_source(struct random_model *r, bool is_constant)
{
    uint32_t i = operand(&r->net, ANEURALNETWORKS_TENSOR_FLOAT32, 2, (uint32_t[]){ 2, 2 });

    draw_values(r->value[i]);
    if (is_constant)
        constant(&r->net, i, r->value[i], sizeof r->value[i]);
    else
        r->input[r->n_inputs++] = i;
    r->readable[r->n_readable++] = i;
}

static void add_operation(struct random_model *r, bool is_last)
{
    const uint32_t kind = below(KINDS), first = r->readable[below(r->n_readable)],
                   second = r->readable[below(r->n_readable)];
    const bool is_output = is_last || below(5) == 0;
    const bool is_known = is_output || below(6);
    uint32_t o = operand(&r->net, ANEURALNETWORKS_TENSOR_FLOAT32, 2,
                         is_known ? (uint32_t[]){ 2, 2 } : (uint32_t[]){ 0, 2 });

    if (kinds[kind].activation >= 0)
        fused(&r->net, kinds[kind].code, kinds[kind].activation, first, second, o);
    else
        operate(&r->net, kinds[kind].code, LIST(first, second), LIST(o));
    for (int i = 0; i < ELEMENTS; i++)
        r->value[o][i] = value_of(kind, r->value[first][i], r->value[second][i]);
    if (is_output)
        r->output[r->n_outputs++] = o;
    r->readable[r->n_readable++] = o;
    r->used[device_of_kind[kind]] = true;
}

static void draw_model(struct random_model *r)
{
    *r = (struct random_model){ .net = net_new(), .n = 2 + below(MOST_OPERATIONS - 2) };
    add_source(r, false);
    for (uint32_t i = 0; i < r->n; i++) {
        if (below(6) == 0)
            add_source(r, below(2));
        add_operation(r, i + 1 == r->n);
    }
    finish(&r->net, r->n_inputs, r->input, r->n_outputs, r->output);
}

/* ---- executions */

/* Inputs and outputs by turns in one memory, with gaps that nothing writes to. */
struct slots {
    ANeuralNetworksMemory *memory;
    float *at;
    size_t size;
};
enum { SLOT = 64, GAP = 0x5a };

static void slots_open(struct slots *s, const struct random_model *r)
{
    s->size = (size_t) (r->n_inputs + r->n_outputs) * SLOT;
    int fd = memfd_create("test", MFD_CLOEXEC);
    ck_assert_int_eq(ftruncate(fd, (off_t) s->size), 0);
    s->at = mmap(NULL, s->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    OK(ANeuralNetworksMemory_createFromFd(s->size, PROT_READ | PROT_WRITE, fd, 0, &s->memory));
    close(fd);
}

static float *slot(const struct slots *s, uint32_t i)
{
    return s->at + i * SLOT / sizeof(float);
}

/* The slot of an input or output: inputs have the even ones while there are both. */
static uint32_t slot_of(const struct random_model *r, bool is_output, uint32_t i)
{
    const uint32_t other = is_output ? r->n_inputs : r->n_outputs;

    return i < other ? 2 * i + is_output : other + i;
}

static void execute(const struct random_model *r, ANeuralNetworksCompilation *c, enum way way)
{
    float result[MOST][ELEMENTS], given[MOST][ELEMENTS];
    ANeuralNetworksExecution *e;
    ANeuralNetworksBurst *burst;
    struct slots s;

    slots_open(&s, r);
    memset(s.at, GAP, s.size);
    OK(ANeuralNetworksExecution_create(c, &e));
    OK(ANeuralNetworksBurst_create(c, &burst));
    for (uint32_t i = 0; i < r->n_inputs; i++) {
        const uint32_t at = slot_of(r, false, i);
        float *to = i % 3 == 2 ? given[i] : slot(&s, at);
        memcpy(to, r->value[r->input[i]], sizeof r->value[0]);
        if (i % 3 == 2)
            OK(ANeuralNetworksExecution_setInput(e, (int32_t) i, NULL, to, sizeof given[i]));
        else
            OK(ANeuralNetworksExecution_setInputFromMemory(e, (int32_t) i, NULL, s.memory,
                                                           at * SLOT, sizeof given[i]));
    }
    for (uint32_t i = 0; i < r->n_outputs; i++)
        if (i % 3 == 2)
            OK(ANeuralNetworksExecution_setOutput(e, (int32_t) i, NULL, result[i],
                                                  sizeof result[i]));
        else
            OK(ANeuralNetworksExecution_setOutputFromMemory(
                e, (int32_t) i, NULL, s.memory, slot_of(r, true, i) * SLOT, sizeof result[i]));
    OK(job_run(e, way, burst));
    for (uint32_t i = 0; i < r->n_outputs; i++) {
        const float *at = i % 3 == 2 ? result[i] : slot(&s, slot_of(r, true, i));
        for (int k = 0; k < ELEMENTS; k++) {
            const float expected = r->value[r->output[i]][k];
            ck_assert_msg(at[k] == expected || (isnan(at[k]) && isnan(expected)),
                          "output %u, element %d: %a, expected %a", i, k, (double) at[k],
                          (double) expected);
        }
    }
    for (uint32_t i = 0; i < r->n_inputs + r->n_outputs; i++)
        for (size_t k = ELEMENTS * sizeof(float); k < SLOT; k++)
            ck_assert_uint_eq(((const uint8_t *) slot(&s, i))[k], GAP);
    ANeuralNetworksBurst_free(burst);
    ANeuralNetworksExecution_free(e);
    ANeuralNetworksMemory_free(s.memory);
    munmap(s.at, s.size);
}

/* Without the reference: fails with OP_FAILED where a step lacks inputs or outputs; then all runs
 * on the reference.  True: it ran on the devices. */
static bool on_devices(const struct random_model *r, enum way way)
{
    const ANeuralNetworksDevice *list[DEVICES] = { device_named("a"), device_named("b"),
                                                   device_named("c") };
    ANeuralNetworksCompilation *c;

    OK(ANeuralNetworksCompilation_createForDevices(r->net.m, list, DEVICES, &c));
    int result = ANeuralNetworksCompilation_finish(c);
    if (result == ANEURALNETWORKS_NO_ERROR) {
        execute(r, c, way);
        const char *log = executed();
        for (uint32_t d = 0; d < DEVICES; d++)
            ck_assert(r->used[d] == (strchr(log, 'a' + (int) d) != NULL));
    } else {
        ck_assert_int_eq(result, ANEURALNETWORKS_OP_FAILED);
    }
    ANeuralNetworksCompilation_free(c);
    c = compile_on(r->net.m, NULL);
    execute(r, c, way);
    if (result != ANEURALNETWORKS_NO_ERROR)
        ck_assert_str_eq(executed(), "");
    executed();
    ANeuralNetworksCompilation_free(c);
    return result == ANEURALNETWORKS_NO_ERROR;
}

START_TEST(random_models)
{
    struct random_model *r = malloc(sizeof *r);
    int n_on_devices = 0;

    state = (uint64_t) _i + 1;
    use_random_devices();
    for (int i = 0; i < MODELS; i++) {
        draw_model(r);
        n_on_devices += on_devices(r, (enum way)(i % WAYS));
        ANeuralNetworksModel_free(r->net.m);
    }
    ck_assert_int_gt(n_on_devices, 0);
    free(r);
}
END_TEST

Suite *api_parts_suite(void)
{
    TCase *random = tcase_create("random");

    tcase_add_loop_test(random, random_models, 0, SETS);
    return make_suite("api_parts", random, NULL);
}
