/* Memory descriptors, memories made from them and copies: results by hand. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "runtime/include/NeuralNetworksOEM.h"
#include "tests/runtime/nnapi_client.h"
#include "tests/support/check_main.h"

enum { INPUT, OUTPUT };

static int add_role(ANeuralNetworksMemoryDesc *d, const ANeuralNetworksCompilation *c, int kind,
                    uint32_t index, float frequency)
{
    return kind == INPUT ? ANeuralNetworksMemoryDesc_addInputRole(d, c, index, frequency)
                         : ANeuralNetworksMemoryDesc_addOutputRole(d, c, index, frequency);
}

static ANeuralNetworksMemoryDesc *new_desc(void)
{
    ANeuralNetworksMemoryDesc *d;

    OK(ANeuralNetworksMemoryDesc_create(&d));
    return d;
}

/* Of one role. */
static ANeuralNetworksMemory *memory_for(const ANeuralNetworksCompilation *c, int kind,
                                         uint32_t index)
{
    ANeuralNetworksMemoryDesc *d = new_desc();
    ANeuralNetworksMemory *m;

    OK(add_role(d, c, kind, index, 1));
    OK(ANeuralNetworksMemoryDesc_finish(d));
    OK(ANeuralNetworksMemory_createFromDesc(d, &m));
    ANeuralNetworksMemoryDesc_free(d);
    return m;
}

/* Shared memory with these floats; *ret_address (may be NULL): where they are. */
static ANeuralNetworksMemory *host_memory(const float *values, size_t n, float **ret_address)
{
    const size_t size = n * sizeof *values;
    int fd = memfd_create("test", MFD_CLOEXEC);
    ANeuralNetworksMemory *m;

    ck_assert_int_eq(ftruncate(fd, (off_t) size), 0);
    float *at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    ck_assert_ptr_ne(at, MAP_FAILED);
    memcpy(at, values, size);
    OK(ANeuralNetworksMemory_createFromFd(size, PROT_READ | PROT_WRITE, fd, 0, &m));
    close(fd);
    if (ret_address)
        *ret_address = at;
    else
        munmap(at, size);
    return m;
}

/* ---- descriptors */

START_TEST(null_arguments)
{
    ANeuralNetworksMemoryDesc *d = new_desc();
    ANeuralNetworksModel *m = add_model(3);
    ANeuralNetworksCompilation *c = compile_on(m, NULL);
    ANeuralNetworksMemory *memory = (ANeuralNetworksMemory *) d;

    EXPECT(ANeuralNetworksMemoryDesc_create(NULL), UNEXPECTED_NULL);
    for (int kind = INPUT; kind <= OUTPUT; kind++) {
        EXPECT(add_role(NULL, c, kind, 0, 1), UNEXPECTED_NULL);
        EXPECT(add_role(d, NULL, kind, 0, 1), UNEXPECTED_NULL);
    }
    EXPECT(ANeuralNetworksMemoryDesc_setDimensions(NULL, 0, NULL), UNEXPECTED_NULL);
    EXPECT(ANeuralNetworksMemoryDesc_setDimensions(d, 1, NULL), UNEXPECTED_NULL);
    OK(ANeuralNetworksMemoryDesc_setDimensions(d, 0, NULL));
    EXPECT(ANeuralNetworksMemoryDesc_finish(NULL), UNEXPECTED_NULL);
    EXPECT(ANeuralNetworksMemory_createFromDesc(NULL, &memory), UNEXPECTED_NULL);
    ck_assert_ptr_null(memory);
    EXPECT(ANeuralNetworksMemory_createFromDesc(d, NULL), UNEXPECTED_NULL);
    EXPECT(ANeuralNetworksMemory_createFromDesc(d, &memory), BAD_STATE);
    memory = host_memory((float[]){ 1 }, 1, NULL);
    EXPECT(ANeuralNetworksMemory_copy(NULL, memory), UNEXPECTED_NULL);
    EXPECT(ANeuralNetworksMemory_copy(memory, NULL), UNEXPECTED_NULL);
    OK(ANeuralNetworksMemory_copy(memory, memory));
    ANeuralNetworksMemory_free(memory);
    ANeuralNetworksMemoryDesc_free(NULL);
    ANeuralNetworksMemoryDesc_free(d);
    ANeuralNetworksCompilation_free(c);
    ANeuralNetworksModel_free(m);
}
END_TEST

START_TEST(roles_are_checked)
{
    ANeuralNetworksMemoryDesc *d = new_desc();
    ANeuralNetworksModel *three = add_model(3), *four = add_model(4), *one = floor_model();
    ANeuralNetworksCompilation *c = compile_on(three, NULL), *other = compile_on(four, NULL),
                               *rest = compile_on(one, NULL), *open;
    static const float bad[] = { 0, -1, 1.5f };

    OK(ANeuralNetworksCompilation_create(three, &open));
    EXPECT(ANeuralNetworksMemoryDesc_finish(d), BAD_DATA); /* no role; it stays open */
    EXPECT(add_role(d, open, INPUT, 0, 1), BAD_DATA);
    EXPECT(add_role(d, c, INPUT, 2, 1), BAD_DATA);
    EXPECT(add_role(d, c, OUTPUT, 1, 1), BAD_DATA);
    for (int i = 0; i < 3; i++)
        EXPECT(add_role(d, c, INPUT, 0, bad[i]), BAD_DATA);
    OK(add_role(d, c, INPUT, 0, 0.5f));
    EXPECT(add_role(d, c, INPUT, 0, 0.5f), BAD_DATA);     /* there already */
    EXPECT(add_role(d, other, INPUT, 0, 0.5f), BAD_DATA); /* {4} is not {3} */
    EXPECT(add_role(d, rest, INPUT, 0, 0.5f), BAD_DATA);
    OK(add_role(d, c, OUTPUT, 0, 1));
    EXPECT(ANeuralNetworksMemoryDesc_setDimensions(d, 2, (uint32_t[]){ 3, 1 }), BAD_DATA);
    EXPECT(ANeuralNetworksMemoryDesc_setDimensions(d, 1, (uint32_t[]){ 4 }), BAD_DATA);
    OK(ANeuralNetworksMemoryDesc_setDimensions(d, 1, (uint32_t[]){ 0 }));
    OK(ANeuralNetworksMemoryDesc_setDimensions(d, 1, (uint32_t[]){ 3 }));
    OK(ANeuralNetworksMemoryDesc_finish(d));
    EXPECT(ANeuralNetworksMemoryDesc_finish(d), BAD_STATE);
    EXPECT(add_role(d, c, INPUT, 1, 1), BAD_STATE);
    EXPECT(ANeuralNetworksMemoryDesc_setDimensions(d, 0, NULL), BAD_STATE);
    ANeuralNetworksMemoryDesc_free(d);
    d = new_desc(); /* dimensions before roles */
    OK(ANeuralNetworksMemoryDesc_setDimensions(d, 1, (uint32_t[]){ 4 }));
    EXPECT(add_role(d, c, INPUT, 0, 1), BAD_DATA);
    OK(add_role(d, other, INPUT, 0, 1));
    ANeuralNetworksMemoryDesc_free(d);
    ANeuralNetworksCompilation_free(open);
    ANeuralNetworksCompilation_free(rest);
    ANeuralNetworksCompilation_free(other);
    ANeuralNetworksCompilation_free(c);
    ANeuralNetworksModel_free(one);
    ANeuralNetworksModel_free(four);
    ANeuralNetworksModel_free(three);
}
END_TEST

/* A scalar of an OEM type is one like any other. */
START_TEST(dimensions_of_a_vendors_scalar)
{
    const uint32_t four = 4, in = 0, out = 1;
    const ANeuralNetworksOperandType scalar = { ANEURALNETWORKS_OEM_SCALAR, 0, NULL, 0, 0 },
                                     tensor = { ANEURALNETWORKS_TENSOR_OEM_BYTE, 1, &four, 0, 0 };
    ANeuralNetworksMemoryDesc *d = new_desc();
    ANeuralNetworksModel *m;

    use_devices("%s");
    OK(ANeuralNetworksModel_create(&m));
    OK(ANeuralNetworksModel_addOperand(m, &scalar));
    OK(ANeuralNetworksModel_addOperand(m, &tensor));
    OK(ANeuralNetworksModel_addOperation(m, ANEURALNETWORKS_OEM_OPERATION, 1, &in, 1, &out));
    OK(ANeuralNetworksModel_identifyInputsAndOutputs(m, 1, &in, 1, &out));
    OK(ANeuralNetworksModel_finish(m));
    ANeuralNetworksCompilation *c = compile_on(m, device_at(0));
    OK(ANeuralNetworksMemoryDesc_setDimensions(d, 1, &four));
    EXPECT(add_role(d, c, INPUT, 0, 1), BAD_DATA);
    ANeuralNetworksMemoryDesc_free(d);
    d = new_desc();
    OK(add_role(d, c, INPUT, 0, 1));
    EXPECT(ANeuralNetworksMemoryDesc_setDimensions(d, 1, &four), BAD_DATA);
    OK(ANeuralNetworksMemoryDesc_setDimensions(d, 0, NULL));
    ANeuralNetworksMemoryDesc_free(d);
    ANeuralNetworksCompilation_free(c);
    ANeuralNetworksModel_free(m);
}
END_TEST

/* ---- memories and copies, on the reference (shared memory) and on devices with buffers */

static const char *const configured[] = { "", "sim:cpu", "sim:gpu", "sim:cpu?hal=1.3" };
enum { CONFIGURED = sizeof configured / sizeof *configured };

static const float a[3] = { 1, 2, 3 }, b[3] = { 10, 20, 30 };

/* Adds with arguments in memories of the compilation, and copies between them. */
static void add_in_memories(bool is_explicit)
{
    ANeuralNetworksModel *model = add_model(3);
    ANeuralNetworksCompilation *c = compile_on(model, is_explicit ? device_at(0) : NULL);
    ANeuralNetworksMemory *x = memory_for(c, INPUT, 0), *y = memory_for(c, INPUT, 1),
                          *z = memory_for(c, OUTPUT, 0);
    float *at, out[3];
    ANeuralNetworksMemory *first = host_memory(a, 3, NULL), *second = host_memory(b, 3, NULL),
                          *sum = host_memory(out, 3, &at);
    ANeuralNetworksExecution *e;

    EXPECT(ANeuralNetworksMemory_copy(x, sum), BAD_DATA); /* no contents */
    OK(ANeuralNetworksMemory_copy(first, x));
    OK(ANeuralNetworksMemory_copy(second, y));
    OK(ANeuralNetworksExecution_create(c, &e));
    EXPECT(ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, x, 0, 12), BAD_DATA);
    EXPECT(ANeuralNetworksExecution_setInputFromMemory(e, 1, NULL, x, 0, 0), BAD_DATA);
    EXPECT(ANeuralNetworksExecution_setOutputFromMemory(e, 0, NULL, x, 0, 0), BAD_DATA);
    EXPECT(ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, first, 0, 0), BAD_DATA);
    OK(ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, x, 0, 0));
    OK(ANeuralNetworksExecution_setInputFromMemory(e, 1, NULL, y, 0, 0));
    OK(ANeuralNetworksExecution_setOutputFromMemory(e, 0, NULL, z, 0, 0));
    OK(ANeuralNetworksExecution_compute(e));
    OK(ANeuralNetworksMemory_copy(z, sum));
    ck_assert(at[0] == 11 && at[1] == 22 && at[2] == 33);
    OK(ANeuralNetworksMemory_copy(z, y)); /* from buffer to buffer, of another role */
    ANeuralNetworksExecution_free(e);
    OK(ANeuralNetworksExecution_create(c, &e));
    OK(ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, x, 0, 0));
    OK(ANeuralNetworksExecution_setInputFromMemory(e, 1, NULL, y, 0, 0));
    OK(ANeuralNetworksExecution_setOutput(e, 0, NULL, out, sizeof out));
    OK(ANeuralNetworksExecution_compute(e));
    ck_assert(out[0] == 12 && out[1] == 24 && out[2] == 36);
    ANeuralNetworksExecution_free(e);
    ANeuralNetworksMemory_free(first);
    ANeuralNetworksMemory_free(second);
    ANeuralNetworksMemory_free(sum);
    ANeuralNetworksMemory_free(x);
    ANeuralNetworksMemory_free(y);
    ANeuralNetworksMemory_free(z);
    munmap(at, sizeof out);
    ANeuralNetworksCompilation_free(c);
    ANeuralNetworksModel_free(model);
}

START_TEST(values_arrive)
{
    use_devices(configured[_i]);
    add_in_memories(true);
}
END_TEST

/* The device prepares and provides buffers, but does not execute: the reference gets copies. */
START_TEST(values_arrive_by_fallback)
{
    use_devices("sim:cpu?fault=refused-late");
    add_in_memories(false);
}
END_TEST

START_TEST(copies_are_checked)
{
    use_devices(configured[_i]);
    ANeuralNetworksModel *model = add_model(3), *other = add_model(5);
    ANeuralNetworksCompilation *c = compile_on(model, device_at(0)),
                               *d = compile_on(other, device_at(0));
    ANeuralNetworksMemory *x = memory_for(c, INPUT, 0), *five = memory_for(d, INPUT, 0),
                          *host = host_memory(a, 3, NULL), *two = host_memory(a, 2, NULL),
                          *twin = host_memory(b, 3, NULL);

    OK(ANeuralNetworksMemory_copy(host, twin));
    EXPECT(ANeuralNetworksMemory_copy(host, two), BAD_DATA);
    EXPECT(ANeuralNetworksMemory_copy(two, host), BAD_DATA);
    EXPECT(ANeuralNetworksMemory_copy(two, x), BAD_DATA);
    OK(ANeuralNetworksMemory_copy(host, x));
    OK(ANeuralNetworksMemory_copy(x, twin));
    EXPECT(ANeuralNetworksMemory_copy(x, two), BAD_DATA);
    EXPECT(ANeuralNetworksMemory_copy(x, five), BAD_DATA);
    EXPECT(ANeuralNetworksMemory_copy(two, x), BAD_DATA); /* takes x's contents */
    EXPECT(ANeuralNetworksMemory_copy(x, twin), BAD_DATA);
    ANeuralNetworksMemory_free(twin);
    ANeuralNetworksMemory_free(two);
    ANeuralNetworksMemory_free(host);
    ANeuralNetworksMemory_free(five);
    ANeuralNetworksMemory_free(x);
    ANeuralNetworksCompilation_free(d);
    ANeuralNetworksCompilation_free(c);
    ANeuralNetworksModel_free(other);
    ANeuralNetworksModel_free(model);
}
END_TEST

START_TEST(executions_need_contents)
{
    use_devices(configured[_i]);
    ANeuralNetworksModel *model = add_model(3);
    ANeuralNetworksCompilation *c = compile_on(model, device_at(0));
    ANeuralNetworksMemory *x = memory_for(c, INPUT, 0), *z = memory_for(c, OUTPUT, 0),
                          *host = host_memory(a, 3, NULL);
    ANeuralNetworksExecution *e;

    OK(ANeuralNetworksMemory_copy(host, z));
    OK(ANeuralNetworksExecution_create(c, &e));
    OK(ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, x, 0, 0));
    OK(ANeuralNetworksExecution_setInput(e, 1, NULL, b, sizeof b));
    OK(ANeuralNetworksExecution_setOutputFromMemory(e, 0, NULL, z, 0, 0));
    EXPECT(ANeuralNetworksExecution_compute(e), OP_FAILED);
    EXPECT(ANeuralNetworksMemory_copy(z, host), BAD_DATA); /* a failed execution takes them */
    ANeuralNetworksExecution_free(e);
    ANeuralNetworksMemory_free(host);
    ANeuralNetworksMemory_free(z);
    ANeuralNetworksMemory_free(x);
    ANeuralNetworksCompilation_free(c);
    ANeuralNetworksModel_free(model);
}
END_TEST

/* An input whose shape is that of the contents; the contents change between the computations. */
START_TEST(contents_of_other_shapes)
{
    const float five[] = { 1, 2, 3, 4, 5 };
    const uint32_t one = 1;
    const ANeuralNetworksOperandType scalar = { ANEURALNETWORKS_TENSOR_FLOAT32, 1, &one, 0, 0 };

    use_devices(configured[_i]);
    ANeuralNetworksModel *any = add_model(0), *models[] = { add_model(3), add_model(5) };
    ANeuralNetworksCompilation *c = compile_on(any, device_at(0)), *of[2];
    ANeuralNetworksMemory *x = memory_for(c, INPUT, 0), *source[2];
    for (int i = 0; i < 2; i++) {
        of[i] = compile_on(models[i], device_at(0));
        source[i] = memory_for(of[i], INPUT, 0);
        ANeuralNetworksMemory *host = host_memory(five, i ? 5 : 3, NULL);
        OK(ANeuralNetworksMemory_copy(host, source[i]));
        ANeuralNetworksMemory_free(host);
    }
    ANeuralNetworksExecution *e;
    float out[8];
    OK(ANeuralNetworksExecution_create(c, &e));
    OK(ANeuralNetworksExecution_setReusable(e, true));
    OK(ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, x, 0, 0));
    OK(ANeuralNetworksExecution_setInput(e, 1, &scalar, b, sizeof *b));
    OK(ANeuralNetworksExecution_setOutput(e, 0, NULL, out, sizeof out));
    for (int i = 0; i < 4; i++) {
        const uint32_t n = i % 2 ? 5 : 3;
        uint32_t dimension;
        OK(ANeuralNetworksMemory_copy(source[i % 2], x));
        OK(ANeuralNetworksExecution_compute(e));
        OK(ANeuralNetworksExecution_getOutputOperandDimensions(e, 0, &dimension));
        ck_assert_uint_eq(dimension, n);
        for (uint32_t k = 0; k < n; k++)
            ck_assert_float_eq(out[k], five[k] + b[0]);
    }
    ANeuralNetworksExecution_free(e);
    ANeuralNetworksMemory_free(x);
    for (int i = 0; i < 2; i++) {
        ANeuralNetworksMemory_free(source[i]);
        ANeuralNetworksCompilation_free(of[i]);
        ANeuralNetworksModel_free(models[i]);
    }
    ANeuralNetworksCompilation_free(c);
    ANeuralNetworksModel_free(any);
}
END_TEST

Suite *api_memory_desc_suite(void);
Suite *api_memory_desc_suite(void)
{
    TCase *descriptors = tcase_create("descriptors"), *contents = tcase_create("contents");

    tcase_add_test(descriptors, null_arguments);
    tcase_add_test(descriptors, roles_are_checked);
    tcase_add_test(descriptors, dimensions_of_a_vendors_scalar);
    tcase_add_loop_test(contents, values_arrive, 0, CONFIGURED);
    tcase_add_test(contents, values_arrive_by_fallback);
    tcase_add_loop_test(contents, copies_are_checked, 0, CONFIGURED);
    tcase_add_loop_test(contents, executions_need_contents, 0, CONFIGURED);
    /* the reference allocates no memory of unknown size */
    tcase_add_loop_test(contents, contents_of_other_shapes, 1, CONFIGURED);
    return make_suite("api_memory_desc", descriptors, contents, NULL);
}
