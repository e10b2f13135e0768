/* AHardwareBuffers: libnativewindow.so, and as memory of NNAPI. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/include/hardware_buffer.h"
#include "tests/runtime/client_job.h"
#include "tests/support/check_main.h"

enum {
    READ = AHARDWAREBUFFER_USAGE_CPU_READ_OFTEN,
    WRITE = AHARDWAREBUFFER_USAGE_CPU_WRITE_OFTEN,
    BLOB = AHARDWAREBUFFER_FORMAT_BLOB,
    RGBA = AHARDWAREBUFFER_FORMAT_R8G8B8A8_UNORM
};

static AHardwareBuffer *buffer_new(uint32_t format, uint32_t width, uint32_t height)
{
    const AHardwareBuffer_Desc d = { width, height, 1, format, READ | WRITE, 0, 0, 0 };
    AHardwareBuffer *b;

    ck_assert_int_eq(AHardwareBuffer_allocate(&d, &b), 0);
    return b;
}

static void put(AHardwareBuffer *b, const void *value, size_t size)
{
    void *at;

    ck_assert_int_eq(AHardwareBuffer_lock(b, WRITE, -1, NULL, &at), 0);
    memcpy(at, value, size);
    ck_assert_int_eq(AHardwareBuffer_unlock(b, NULL), 0);
}

static void get(AHardwareBuffer *b, void *value, size_t size)
{
    int32_t fence = 3;
    void *at;

    ck_assert_int_eq(AHardwareBuffer_lock(b, READ, -1, NULL, &at), 0);
    memcpy(value, at, size);
    ck_assert_int_eq(AHardwareBuffer_unlock(b, &fence), 0);
    ck_assert_int_eq(fence, -1);
}

/* ---- the buffers alone */

static const struct {
    AHardwareBuffer_Desc desc;
    bool is_supported;
} descriptions[] = {
    { { 16, 1, 1, BLOB, READ | WRITE, 0, 0, 0 }, true },
    { { 16, 1, 1, BLOB, 0, 99, 0, 0 }, true }, /* the stride is not read */
    { { 16, 1, 1, BLOB, READ | AHARDWAREBUFFER_USAGE_GPU_DATA_BUFFER, 0, 0, 0 }, true },
    { { 0, 1, 1, BLOB, READ, 0, 0, 0 }, false },
    { { 16, 2, 1, BLOB, READ, 0, 0, 0 }, false },
    { { 16, 0, 1, BLOB, READ, 0, 0, 0 }, false },
    { { 16, 1, 2, BLOB, READ, 0, 0, 0 }, false },
    { { 16, 1, 1, BLOB, READ | AHARDWAREBUFFER_USAGE_PROTECTED_CONTENT, 0, 0, 0 }, false },
    { { 16, 1, 1, BLOB, READ, 0, 1, 0 }, false },
    { { 16, 1, 1, BLOB, READ, 0, 0, 1 }, false },
    { { 16, 4, 3, RGBA, READ, 0, 0, 0 }, true },
    { { UINT32_MAX, UINT32_MAX, UINT32_MAX, RGBA, READ, 0, 0, 0 }, false },
    { { 16, 4, 1, 0x23, READ, 0, 0, 0 }, false }, /* YCbCr */
    { { 16, 4, 1, 0, READ, 0, 0, 0 }, false },
};
enum { DESCRIPTIONS = sizeof descriptions / sizeof *descriptions };

START_TEST(allocation)
{
    const AHardwareBuffer_Desc *d = &descriptions[_i].desc;
    const bool is_supported = descriptions[_i].is_supported;
    AHardwareBuffer *b = (AHardwareBuffer *) &b;
    AHardwareBuffer_Desc of_buffer;

    ck_assert_int_eq(AHardwareBuffer_isSupported(d), is_supported);
    ck_assert_int_eq(AHardwareBuffer_allocate(d, &b), is_supported ? 0 : -EINVAL);
    if (!is_supported) {
        ck_assert_ptr_null(b);
        return;
    }
    AHardwareBuffer_describe(b, &of_buffer);
    ck_assert_uint_eq(of_buffer.stride, d->width);
    of_buffer.stride = d->stride;
    ck_assert_mem_eq(&of_buffer, d, sizeof *d);
    AHardwareBuffer_release(b);
}
END_TEST

START_TEST(arguments_of_functions)
{
    AHardwareBuffer *b;
    uint64_t id;
    void *at;

    ck_assert_int_eq(AHardwareBuffer_allocate(NULL, &b), -EINVAL);
    ck_assert_int_eq(AHardwareBuffer_allocate(&descriptions[0].desc, NULL), -EINVAL);
    ck_assert_int_eq(AHardwareBuffer_isSupported(NULL), 0);
    ck_assert_int_eq(AHardwareBuffer_lock(NULL, READ, -1, NULL, &at), -EINVAL);
    ck_assert_int_eq(AHardwareBuffer_unlock(NULL, NULL), -EINVAL);
    ck_assert_int_eq(AHardwareBuffer_getId(NULL, &id), -EINVAL);
    ck_assert_int_eq(AHardwareBuffer_sendHandleToUnixSocket(NULL, 0), -EINVAL);
    ck_assert_int_eq(AHardwareBuffer_recvHandleFromUnixSocket(0, NULL), -EINVAL);
    AHardwareBuffer_release(NULL);
    AHardwareBuffer_acquire(NULL);
}
END_TEST

START_TEST(locks)
{
    const AHardwareBuffer_Desc d = { 8, 4, 1, RGBA, READ, 0, 0, 0 };
    const ARect good = { 0, 0, 8, 4 }, bad[] = {
        { -1, 0, 8, 4 }, { 0, 0, 9, 4 }, { 0, 0, 8, 5 }, { 4, 0, 4, 4 }, { 0, 3, 8, 2 }
    };
    int32_t pixel, row;
    AHardwareBuffer *b;
    void *at, *again;

    ck_assert_int_eq(AHardwareBuffer_allocate(&d, &b), 0);
    ck_assert_int_eq(AHardwareBuffer_unlock(b, NULL), -EINVAL);
    ck_assert_int_eq(AHardwareBuffer_lock(b, WRITE, -1, NULL, &at), -EINVAL); /* made for reading */
    ck_assert_ptr_null(at);
    ck_assert_int_eq(AHardwareBuffer_lock(b, 0, -1, NULL, &at), -EINVAL);
    ck_assert_int_eq(AHardwareBuffer_lock(b, READ | 0x100, -1, NULL, &at), -EINVAL);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_int_eq(AHardwareBuffer_lock(b, READ, -1, &bad[i], &at), -EINVAL);
    ck_assert_int_eq(AHardwareBuffer_lockAndGetInfo(b, READ, -1, &good, &at, &pixel, &row), 0);
    ck_assert_int_eq(pixel, 4);
    ck_assert_int_eq(row, 32);
    ck_assert_int_eq(AHardwareBuffer_lock(b, READ, -1, NULL, &again), 0);
    ck_assert_ptr_eq(at, again);
    ck_assert_int_eq(((uint8_t *) at)[8 * 4 * 4 - 1], 0);
    ck_assert_int_eq(AHardwareBuffer_unlock(b, NULL), 0);
    ck_assert_int_eq(AHardwareBuffer_unlock(b, NULL), 0);
    ck_assert_int_eq(AHardwareBuffer_unlock(b, NULL), -EINVAL);
    AHardwareBuffer_acquire(b);
    AHardwareBuffer_release(b);
    ck_assert_int_eq(AHardwareBuffer_lock(b, READ, -1, NULL, &at), 0); /* and released locked */
    AHardwareBuffer_release(b);
}
END_TEST

/* The lock waits for the fence and closes it. */
START_TEST(lock_with_a_fence)
{
    AHardwareBuffer *b = buffer_new(BLOB, 4, 1);
    int ends[2];
    void *at;

    ck_assert_int_eq(pipe2(ends, O_CLOEXEC), 0);
    ck_assert_int_eq(write(ends[1], "", 1), 1);
    ck_assert_int_eq(AHardwareBuffer_lock(b, READ, ends[0], NULL, &at), 0);
    ck_assert_int_eq(fcntl(ends[0], F_GETFD), -1);
    ck_assert_int_eq(AHardwareBuffer_unlock(b, NULL), 0);
    ck_assert_int_eq(AHardwareBuffer_lock(b, READ, 12345, NULL, &at), -EINVAL);
    close(ends[1]);
    AHardwareBuffer_release(b);
}
END_TEST

START_TEST(through_a_socket)
{
    AHardwareBuffer *b = buffer_new(BLOB, 5, 1), *other;
    AHardwareBuffer_Desc first, second;
    uint64_t id, other_id;
    char text[5];
    int ends[2];

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    ck_assert_int_eq(AHardwareBuffer_sendHandleToUnixSocket(b, ends[0]), 0);
    ck_assert_int_eq(AHardwareBuffer_recvHandleFromUnixSocket(ends[1], &other), 0);
    put(b, "abcd", 5);
    get(other, text, 5);
    ck_assert_str_eq(text, "abcd");
    ck_assert_int_eq(AHardwareBuffer_getId(b, &id), 0);
    ck_assert_int_eq(AHardwareBuffer_getId(other, &other_id), 0);
    ck_assert_uint_eq(id, other_id);
    AHardwareBuffer_describe(b, &first);
    AHardwareBuffer_describe(other, &second);
    ck_assert_mem_eq(&first, &second, sizeof first);
    AHardwareBuffer_release(other);
    AHardwareBuffer_release(b);

    /* Not sent by send(): no descriptor, a short message, a closed socket. */
    char noise[sizeof(AHardwareBuffer_Desc) + 8] = { 1 };
    ck_assert_int_eq(write(ends[0], noise, sizeof noise), sizeof noise);
    ck_assert_int_eq(AHardwareBuffer_recvHandleFromUnixSocket(ends[1], &other), -EBADMSG);
    ck_assert_ptr_null(other);
    ck_assert_int_eq(write(ends[0], noise, 3), 3);
    close(ends[0]);
    ck_assert_int_eq(AHardwareBuffer_recvHandleFromUnixSocket(ends[1], &other), -EBADMSG);
    ck_assert_int_eq(AHardwareBuffer_recvHandleFromUnixSocket(ends[1], &other), -EBADMSG);
    close(ends[1]);
    ck_assert_int_eq(AHardwareBuffer_recvHandleFromUnixSocket(ends[1], &other), -EBADF);
}
END_TEST

/* ---- as memory */

START_TEST(creation)
{
    ANeuralNetworksMemory *memory = (ANeuralNetworksMemory *) &memory;
    AHardwareBuffer *b = buffer_new(BLOB, 8, 1);
    uint64_t no_buffer[16] = { 0 };

    EXPECT(ANeuralNetworksMemory_createFromAHardwareBuffer(b, NULL), UNEXPECTED_NULL);
    EXPECT(ANeuralNetworksMemory_createFromAHardwareBuffer(NULL, &memory), UNEXPECTED_NULL);
    ck_assert_ptr_null(memory);
    EXPECT(ANeuralNetworksMemory_createFromAHardwareBuffer((const AHardwareBuffer *) no_buffer,
                                                           &memory),
           BAD_DATA);
    OK(ANeuralNetworksMemory_createFromAHardwareBuffer(b, &memory));
    AHardwareBuffer_release(b);
    ANeuralNetworksMemory_free(memory);
}
END_TEST

static ANeuralNetworksMemory *memory_of(const AHardwareBuffer *b)
{
    ANeuralNetworksMemory *memory;

    OK(ANeuralNetworksMemory_createFromAHardwareBuffer(b, &memory));
    return memory;
}

/* In a model without operations: the checks of constants. */
START_TEST(range_of_a_constant)
{
    AHardwareBuffer *blob = buffer_new(BLOB, 16, 1), *image = buffer_new(RGBA, 4, 1);
    ANeuralNetworksMemory *memory = memory_of(blob), *opaque = memory_of(image);
    struct net t = net_new();
    int32_t i = (int32_t) floats(&t, 2);

    EXPECT(ANeuralNetworksModel_setOperandValueFromMemory(t.m, i, memory, 12, 8), BAD_DATA);
    EXPECT(ANeuralNetworksModel_setOperandValueFromMemory(t.m, i, memory, 0, 0), BAD_DATA);
    EXPECT(ANeuralNetworksModel_setOperandValueFromMemory(t.m, i, memory, 0, 4), BAD_DATA);
    EXPECT(ANeuralNetworksModel_setOperandValueFromMemory(t.m, i, opaque, 0, 8), BAD_DATA);
    EXPECT(ANeuralNetworksModel_setOperandValueFromMemory(t.m, i, opaque, 0, 0), BAD_DATA);
    OK(ANeuralNetworksModel_setOperandValueFromMemory(t.m, i, memory, 8, 8));
    ANeuralNetworksModel_free(t.m);
    ANeuralNetworksMemory_free(memory);
    ANeuralNetworksMemory_free(opaque);
    AHardwareBuffer_release(blob);
    AHardwareBuffer_release(image);
}
END_TEST

/* Devices of each level, and a plan of two steps. */
static const char *const devices_of_blobs[] = {
    "",
    "sim:cpu",
    "%c?name=a&ops=0&hal=10",
    "%c?name=a&ops=0&hal=11",
    "%c?name=a&ops=0&hal=12",
    "%c?name=a&ops=0&hal=13",
    "%c?name=a&ops=0.0,%c?name=b&ops=0.1",
};
enum { BLOB_DEVICES = sizeof devices_of_blobs / sizeof *devices_of_blobs };

/* o = relu((a + constant) + b), where everything is in one buffer: constant, a, b, o. */
START_TEST(constant_inputs_and_output)
{
    const float values[8] = { 100, 200, 1, -2, 10, -900, 7, 7 };
    AHardwareBuffer *b = buffer_new(BLOB, sizeof values, 1);
    float result[2];

    use_devices(devices_of_blobs[_i]);
    put(b, values, sizeof values);
    ANeuralNetworksMemory *memory = memory_of(b);
    struct net t = net_new();
    uint32_t k = floats(&t, 2), x = floats(&t, 2), y = floats(&t, 2);
    OK(ANeuralNetworksModel_setOperandValueFromMemory(t.m, (int32_t) k, memory, 0, 8));
    uint32_t sum = fused(&t, ANEURALNETWORKS_ADD, 0, x, k, floats(&t, 2));
    uint32_t o = fused(&t, ANEURALNETWORKS_ADD, 1, sum, y, floats(&t, 2));
    finish(&t, LIST(x, y), LIST(o));
    ANeuralNetworksCompilation *c = compile_on(t.m, NULL);
    ANeuralNetworksBurst *burst;
    OK(ANeuralNetworksBurst_create(c, &burst));
    for (enum way way = 0; way < WAYS; way++) {
        ANeuralNetworksExecution *e;
        put(b, values, sizeof values);
        OK(ANeuralNetworksExecution_create(c, &e));
        EXPECT(ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, memory, 28, 8), BAD_DATA);
        EXPECT(ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, memory, 0, 0), BAD_DATA);
        OK(ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, memory, 8, 8));
        OK(ANeuralNetworksExecution_setInputFromMemory(e, 1, NULL, memory, 16, 8));
        OK(ANeuralNetworksExecution_setOutputFromMemory(e, 0, NULL, memory, 24, 8));
        OK(job_run(e, way, burst));
        ANeuralNetworksExecution_free(e);
        AHardwareBuffer *const all = b;
        float now[8];
        get(all, now, sizeof now);
        memcpy(result, now + 6, sizeof result);
        expect_floats(result, 111, 0);
    }
    ANeuralNetworksBurst_free(burst);
    ANeuralNetworksCompilation_free(c);
    ANeuralNetworksModel_free(t.m);
    ANeuralNetworksMemory_free(memory);
    AHardwareBuffer_release(b);
}
END_TEST

/* No driver takes another format: the argument may be set, whole, and the execution fails. */
START_TEST(other_formats_as_arguments)
{
    static const char *const device[] = { "", "%c?name=a&ops=0" };
    AHardwareBuffer *image = buffer_new(RGBA, 1, 1);
    ANeuralNetworksMemory *opaque = memory_of(image);
    ANeuralNetworksExecution *e;
    float a = 1, o;

    use_devices(device[_i]);
    ANeuralNetworksModel *m = add_model(1);
    ANeuralNetworksCompilation *c = compile_on(m, NULL);
    OK(ANeuralNetworksExecution_create(c, &e));
    EXPECT(ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, opaque, 0, 4), BAD_DATA);
    EXPECT(ANeuralNetworksExecution_setOutputFromMemory(e, 0, NULL, opaque, 4, 0), BAD_DATA);
    OK(ANeuralNetworksExecution_setInputFromMemory(e, 0, NULL, opaque, 0, 0));
    OK(ANeuralNetworksExecution_setInput(e, 1, NULL, &a, sizeof a));
    OK(ANeuralNetworksExecution_setOutput(e, 0, NULL, &o, sizeof o));
    EXPECT(ANeuralNetworksExecution_compute(e), UNMAPPABLE);
    ANeuralNetworksExecution_free(e);
    ANeuralNetworksCompilation_free(c);
    ANeuralNetworksModel_free(m);
    ANeuralNetworksMemory_free(opaque);
    AHardwareBuffer_release(image);
}
END_TEST

START_TEST(copies)
{
    AHardwareBuffer *blob = buffer_new(BLOB, 8, 1), *longer = buffer_new(BLOB, 12, 1),
                    *image = buffer_new(RGBA, 2, 1);
    ANeuralNetworksMemory *to = memory_of(blob), *large = memory_of(longer),
                          *opaque = memory_of(image), *from;
    const float value[2] = { 3, 4 };
    float copied[2];
    int fd = memfd_create("values", MFD_CLOEXEC);

    ck_assert_int_eq(write(fd, value, sizeof value), sizeof value);
    OK(ANeuralNetworksMemory_createFromFd(8, PROT_READ, fd, 0, &from));
    close(fd);
    OK(ANeuralNetworksMemory_copy(from, to));
    get(blob, copied, sizeof copied);
    expect_floats(copied, 3, 4);
    EXPECT(ANeuralNetworksMemory_copy(from, large), BAD_DATA);
    EXPECT(ANeuralNetworksMemory_copy(from, opaque), UNMAPPABLE);
    ANeuralNetworksMemory_free(from);
    ANeuralNetworksMemory_free(to);
    ANeuralNetworksMemory_free(large);
    ANeuralNetworksMemory_free(opaque);
    AHardwareBuffer_release(blob);
    AHardwareBuffer_release(longer);
    AHardwareBuffer_release(image);
}
END_TEST

Suite *api_hardware_buffer_suite(void)
{
    TCase *buffers = tcase_create("buffers"), *memory = tcase_create("memory");

    tcase_add_loop_test(buffers, allocation, 0, DESCRIPTIONS);
    tcase_add_test(buffers, arguments_of_functions);
    tcase_add_test(buffers, locks);
    tcase_add_test(buffers, lock_with_a_fence);
    tcase_add_test(buffers, through_a_socket);
    tcase_add_test(memory, creation);
    tcase_add_test(memory, range_of_a_constant);
    tcase_add_loop_test(memory, constant_inputs_and_output, 0, BLOB_DEVICES);
    tcase_add_loop_test(memory, other_formats_as_arguments, 0, 2);
    tcase_add_test(memory, copies);
    return make_suite("api_hardware_buffer", buffers, memory, NULL);
}
