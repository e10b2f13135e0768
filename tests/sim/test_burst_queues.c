/* The queues of bursts, and the server that reads them: the other side may write anything at any
 * time, close the connection, not read, or not reply. */
#define _GNU_SOURCE
#include <check.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "harness/corrupt/raw_burst.h"
#include "sim/remote/burst_client.h"
#include "tests/support/check_main.h"
#include "tests/support/hal_client.h"

enum { LENGTH = 10, ROUND_TRIPS = 20000, SECOND = 1000000000 };

static struct why w;

/* ---- queues alone */

struct pair {
    struct ring writer, reader;
    int socket[2];
};

static void open_pair(struct pair *p)
{
    int fd = -1;

    ck_assert_int_eq(ring_make(LENGTH, sizeof(uint32_t), &fd, &p->writer, &w), 0);
    ck_assert_int_eq(ring_open(fd, LENGTH, sizeof(uint32_t), &p->reader, &w), 0);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, p->socket), 0);
    close(fd);
}

static void close_pair(struct pair *p)
{
    ring_close(&p->writer);
    ring_close(&p->reader);
    close(p->socket[0]);
    close(p->socket[1]);
}

static void write_n(struct ring *r, uint32_t first, uint32_t n, int expected)
{
    uint32_t datum[2 * LENGTH];

    for (uint32_t i = 0; i < n; i++)
        datum[i] = first + i;
    ck_assert_int_eq(ring_write(r, datum, n), expected);
}

static void expect_n(struct ring *r, uint32_t first, uint32_t n)
{
    uint32_t datum[LENGTH];

    ck_assert_uint_eq(ring_read(r, datum), n);
    for (uint32_t i = 0; i < n; i++)
        ck_assert_uint_eq(datum[i], first + i);
}

START_TEST(written_datums_are_read_in_order)
{
    struct pair p;
    uint32_t first = 0;

    open_pair(&p);
    expect_n(&p.reader, 0, 0);
    for (uint32_t n = 1; n <= LENGTH; n++) {
        write_n(&p.writer, first, n, 0);
        write_n(&p.writer, first, LENGTH - n + 1, -1);
        ck_assert_int_eq(ring_wait(&p.reader, p.socket[0], UINT64_MAX), 1);
        expect_n(&p.reader, first, n);
        first += n;
    }
    write_n(&p.writer, first, LENGTH / 2, 0);
    write_n(&p.writer, first + LENGTH / 2, LENGTH / 2, 0);
    expect_n(&p.reader, first, LENGTH);
    close_pair(&p);
}
END_TEST

/* Overwrites a position in the shared memory: the writer's is at byte 0, the reader's at 64. */
static void set_position(const struct ring *r, size_t at, uint64_t position)
{
    memcpy((char *) r->memory + at, &position, sizeof position);
}

START_TEST(impossible_positions_are_ignored)
{
    static const uint64_t distances[] = { UINT64_MAX, INT64_MAX, LENGTH + 1, UINT64_MAX / 2 + 5 };
    uint32_t datum[LENGTH];
    struct pair p;

    open_pair(&p);
    for (int i = 0; i < (int) (sizeof distances / sizeof *distances); i++) {
        write_n(&p.writer, 0, 3, 0);
        expect_n(&p.reader, 0, 3);
        set_position(&p.reader, 0, p.reader.position + distances[i]);
        ck_assert_int_eq(ring_wait(&p.reader, p.socket[0], UINT64_MAX), 1);
        expect_n(&p.reader, 0, 0);
        set_position(&p.writer, 64, p.writer.position - distances[i]);
        write_n(&p.writer, 0, 1, -1);
        set_position(&p.writer, 64, p.writer.position);
        write_n(&p.writer, 0, 1, 0);
        (void) ring_read(&p.reader, datum);
    }
    write_n(&p.writer, 7, LENGTH, 0);
    expect_n(&p.reader, 7, LENGTH);
    close_pair(&p);
}
END_TEST

START_TEST(memory_of_queues_is_checked)
{
    int fd = memfd_create("queue", MFD_CLOEXEC | MFD_ALLOW_SEALING), whole;
    struct ring r, r2;

    ck_assert_int_lt(ring_open(-1, LENGTH, 4, &r, &w), 0);
    ck_assert_int_eq(ftruncate(fd, 4096), 0);
    ck_assert_int_lt(ring_open(fd, LENGTH, 4, &r, &w), 0);
    ck_assert_int_eq(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK), 0);
    ck_assert_int_eq(ring_open(fd, LENGTH, 4, &r, &w), 0);
    ring_close(&r);
    ck_assert_int_lt(ring_open(fd, 1024, 4, &r, &w), 0);
    ck_assert_int_lt(ring_open(fd, 0, 4, &r, &w), 0);
    ck_assert_int_lt(ring_make(0, 4, &whole, &r, &w), 0);
    ck_assert_int_lt(ring_make(RING_LENGTH_MAX + 1, 4, &whole, &r, &w), 0);
    ck_assert_int_eq(ring_make(LENGTH, 4, &whole, &r, &w), 0);
    ck_assert_int_lt(ring_open(whole, LENGTH + 1, 4096, &r2, &w), 0);
    ring_close(&r);
    close(whole);
    close(fd);
}
END_TEST

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t) t.tv_sec * SECOND + (uint64_t) t.tv_nsec;
}

START_TEST(waits_end_by_data_timeout_or_hangup)
{
    struct pair p;
    uint64_t begin = now_ns();

    open_pair(&p);
    ck_assert_int_eq(ring_wait(&p.reader, p.socket[0], 0), 0);
    ck_assert_int_eq(ring_wait(&p.reader, p.socket[0], 2000000), 0);
    ck_assert_uint_ge(now_ns() - begin, 2000000);
    ring_bell(&p.writer);
    ck_assert_int_eq(ring_wait(&p.reader, p.socket[0], UINT64_MAX), 0);
    ring_bell(&p.writer);
    write_n(&p.writer, 0, 1, 0);
    ck_assert_int_eq(ring_wait(&p.reader, p.socket[0], UINT64_MAX), 1);
    expect_n(&p.reader, 0, 1);
    ck_assert_int_eq(ring_wait(&p.reader, p.socket[0], UINT64_MAX), 0);
    shutdown(p.socket[1], SHUT_RDWR);
    ck_assert_int_eq(ring_wait(&p.reader, p.socket[0], UINT64_MAX), -1);
    close_pair(&p);
}
END_TEST

static bool count_polls(void *user)
{
    unsigned *polls = user;

    ++*polls;
    return false;
}

static bool spins(struct spin *s)
{
    unsigned polls = 0;

    spin_until(s, count_polls, &polls);
    return polls > 0;
}

/* After four unsuccessful spins only one wait in 32 spins. */
static bool becomes_rare(void)
{
    struct spin s = { 0 };
    unsigned spun = 0;

    for (int i = 0; i < 4; i++)
        if (!spins(&s))
            return false;
    for (int i = 0; i < 320; i++)
        spun += spins(&s);
    return spun == 10;
}

/* A wait that loses the processor may end before its first poll. */
START_TEST(unsuccessful_spinning_becomes_rare)
{
    int tries = 10;

    while (!becomes_rare())
        ck_assert_int_gt(tries--, 0);
}
END_TEST

static bool is_there(void *user)
{
    (void) user;
    return true;
}

START_TEST(successful_spin_restores_spinning)
{
    struct spin s = { .misses = 64 };

    spin_until(&s, is_there, NULL);
    ck_assert_uint_eq(s.misses, 0);
    ck_assert(spins(&s));
}
END_TEST

/* Both sides on one processor: a spinning side keeps the other from running. */
START_TEST(sides_on_the_same_processor_do_not_spin)
{
    struct spin s = { 0 };
    cpu_set_t all, mine;
    unsigned spun = 0;

    ck_assert_int_eq(sched_getaffinity(0, sizeof all, &all), 0);
    CPU_ZERO(&mine);
    CPU_SET((size_t) sched_getcpu(), &mine);
    ck_assert_int_eq(sched_setaffinity(0, sizeof mine, &mine), 0);
    s.other = spin_processor();
    for (int i = 0; i < 512; i++)
        spun += spins(&s);
    ck_assert_uint_eq(spun, 2);
    s.other++;
    ck_assert(spins(&s));
    ck_assert_int_eq(sched_setaffinity(0, sizeof all, &all), 0);
}
END_TEST

/* Sends back what it receives, until the bell rings without data. */
struct echo {
    struct pair to, back;
};

static void *echo(void *argument)
{
    struct echo *e = argument;
    uint32_t datum[LENGTH];

    while (ring_wait(&e->to.reader, e->to.socket[0], UINT64_MAX) > 0)
        (void) ring_write(&e->back.writer, datum, ring_read(&e->to.reader, datum));
    return NULL;
}

START_TEST(packets_are_echoed_between_threads)
{
    struct echo e;
    pthread_t thread;

    open_pair(&e.to);
    open_pair(&e.back);
    ck_assert_int_eq(pthread_create(&thread, NULL, echo, &e), 0);
    for (uint32_t i = 0; i < ROUND_TRIPS; i++) {
        write_n(&e.to.writer, i, 1 + i % LENGTH, 0);
        ck_assert_int_eq(ring_wait(&e.back.reader, e.back.socket[0], UINT64_MAX), 1);
        expect_n(&e.back.reader, i, 1 + i % LENGTH);
    }
    ring_bell(&e.to.writer);
    pthread_join(thread, NULL);
    close_pair(&e.to);
    close_pair(&e.back);
}
END_TEST

/* ---- queues with a burst server */

enum { N = 4 };

static struct hal_driver *driver;
static struct client_model model;
static struct client_request request;
static struct raw_burst b;
static struct request_datum datums[BURST_QUEUE_LENGTH];
static uint32_t n_datums;

static void fill(void)
{
    struct hal_execution_config config = client_config();
    float *memory[] = { request.x, request.y, request.z };

    client_fill(&request, N);
    for (int32_t i = 0; i < 3; i++)
        memcpy(raw_burst_memory(&b, i, sizeof request.x), memory[i], sizeof request.x);
    n_datums = raw_burst_packet(&request.hal, HAL_FL7, &config, datums);
}

static void open_burst(bool is_remote, uint32_t result_length)
{
    driver = client_open("cpu", HAL_FL8);
    driver = is_remote ? client_over_socket(driver) : driver;
    client_add_model(&model, N, false);
    client_prepare(&model, driver, HAL_PRIORITY_MEDIUM);
    ck_assert_int_eq(raw_burst_open(&b, model.prepared, is_remote, HAL_FL7, result_length),
                     HAL_NONE);
    fill();
}

static void close_burst(void)
{
    raw_burst_close(&b);
    for (int32_t i = 0; i < 3; i++)
        raw_burst_drop(&b, i);
    client_done(&model);
    driver->close(driver);
}

static enum hal_status run(void)
{
    return raw_burst_run(&b, datums, n_datums, &request.result);
}

static void check_run(void)
{
    const float *x = b.memory[0].address, *y = b.memory[1].address;
    float *z = b.memory[2].address;

    memset(z, 0, sizeof request.z);
    ck_assert_int_eq(run(), HAL_NONE);
    for (int i = 0; i < N; i++)
        ck_assert_float_eq(z[i], x[i] + y[i]);
}

START_TEST(missing_memory_fails_only_that_request)
{
    open_burst(_i, BURST_QUEUE_LENGTH);
    struct hal_memory original = b.memory[1];
    b.memory[1].size = 0;
    ck_assert_int_ne(run(), HAL_NONE);
    ck_assert_uint_eq(b.n_results, BURST_PACKET_MIN_RESULT);
    b.memory[1] = original;
    check_run();
    ck_assert_uint_eq(b.questions, 2);
    close_burst();
}
END_TEST

/* The driver, not the queues' code, rejects memory that is smaller than its size. */
START_TEST(memory_is_checked_by_the_driver)
{
    open_burst(_i, BURST_QUEUE_LENGTH);
    b.memory[1].size = 1 << 20;
    ck_assert_int_eq(run(), HAL_INVALID_ARGUMENT);
    b.memory[1].size = sizeof request.x;
    ck_assert_int_eq(raw_burst_free_memory(&b, 1), HAL_NONE);
    check_run();
    close_burst();
}
END_TEST

START_TEST(wrong_positions_do_not_end_the_burst)
{
    open_burst(_i, BURST_QUEUE_LENGTH);
    check_run();
    for (uint64_t k = 1; k < 40; k++) {
        set_position(&b.link.request, 0, k << (k * 3 % 60));
        ring_bell(&b.link.request);
        set_position(&b.link.result, 64, k << (k * 5 % 60));
        while (raw_burst_await(&b, 100000))
            ck_assert_uint_le(b.n_results, BURST_PACKET_MIN_RESULT);
    }
    set_position(&b.link.result, 64, b.link.result.position);
    set_position(&b.link.request, 0, b.link.request.position);
    ring_bell(&b.link.request);
    while (raw_burst_await(&b, 20000000))
        ;
    check_run();
    close_burst();
}
END_TEST

/* The client writes random bytes at random places of both queues while the service reads. */
START_TEST(random_queue_contents_do_not_end_the_burst)
{
    uint32_t state = 7;

    open_burst(_i, BURST_QUEUE_LENGTH);
    for (int k = 0; k < 4000; k++) {
        (void) ring_write(&b.link.request, datums, n_datums);
        for (int i = 0; i < 8; i++) {
            struct ring *r = i % 4 ? &b.link.request : &b.link.result;
            state = state * 1664525 + 1013904223;
            ((volatile uint8_t *) r->memory)[(state >> 8) % (i % 2 ? 192 : r->size)] =
                (uint8_t) (state >> 24);
        }
        ring_bell(&b.link.request);
        (void) raw_burst_await(&b, k % 8 ? 1000 : 100000);
    }
    memset(b.link.result.memory, 0, b.link.result.size);
    set_position(&b.link.result, 64, b.link.result.position);
    set_position(&b.link.request, 0, b.link.request.position);
    ring_bell(&b.link.request);
    while (raw_burst_await(&b, 50000000))
        ;
    (void) ring_write(&b.link.request, datums,
                      n_datums); /* its result shows the service's position */
    (void) raw_burst_await(&b, SECOND);
    check_run();
    close_burst();
}
END_TEST

START_TEST(unread_results_do_not_block_the_service)
{
    open_burst(_i, 8);
    check_run();
    for (int i = 0; i < 300; i++) {
        while (ring_write(&b.link.request, datums, n_datums) < 0)
            sched_yield();
        if (i % 100 == 0) /* both with and without time for the service to read it */
            usleep(1000);
    }
    while (raw_burst_await(&b, 50000000))
        ck_assert_uint_le(b.n_results, 8);
    check_run();
    close_burst();
}
END_TEST

START_TEST(disconnected_client_is_released)
{
    open_burst(_i, BURST_QUEUE_LENGTH);
    check_run();
    (void) raw_burst_free_memory(&b, 0);
    ck_assert_int_eq(ring_write(&b.link.request, datums, n_datums),
                     0); /* the service asks for memory and gets no reply */
    shutdown(b.link.socket, SHUT_RDWR);
    close_burst();
}
END_TEST

/* ---- idle */

START_TEST(idle_burst_unmaps_memory_and_asks_again)
{
    struct burst_fds fds;
    struct hal_burst *burst;
    int before;

    driver = client_open("cpu", HAL_FL8);
    client_add_model(&model, N, false);
    client_prepare(&model, driver, HAL_PRIORITY_MEDIUM);
    b = (struct raw_burst){ .model = model.prepared, .version = HAL_FL7 };
    ck_assert_int_eq(model.prepared->methods->configure_burst(model.prepared, HAL_FL7, &burst),
                     HAL_NONE);
    b.server = burst_server_new(burst, HAL_FL7, NULL);
    burst_server_set_idle_time(b.server, 20000000);
    ck_assert_int_eq(burst_server_open(b.server, BURST_QUEUE_LENGTH, BURST_QUEUE_LENGTH, &fds, &w),
                     0);
    ck_assert_int_eq(burst_link_open(&fds, BURST_QUEUE_LENGTH, BURST_QUEUE_LENGTH, &b.link, &w), 0);
    fill();
    before = client_mappings(getpid(), "halcyon");
    for (unsigned round = 1; round <= 3; round++) {
        check_run();
        ck_assert_uint_eq(b.questions, round);
        for (int ms = 0; ms < 5000 && client_mappings(getpid(), "halcyon") != before; ms++)
            usleep(1000);
        ck_assert_int_eq(client_mappings(getpid(), "halcyon"), before);
    }
    close_burst();
}
END_TEST

/* ---- a client with a faulty service */

enum defect { SILENT, HANGS_UP, GARBAGE, INVALID_QUESTIONS, DEFECTS };

/* The service's ends of the client's queues. */
struct fake {
    enum defect defect;
    struct ring request, result;
    int socket;
};

static void ask_invalid_questions(struct fake *f)
{
    static int32_t slots[] = { 0, 5, -1, INT32_MAX };
    Wire__MemoriesWanted question = WIRE__MEMORIES_WANTED__INIT;
    struct arena *a = arena_new(0);
    struct wire_fds fds;
    ProtobufCMessage *m;

    question.slots = slots;
    for (question.n_slots = 1; question.n_slots <= 4; question.n_slots++) {
        ck_assert_int_eq(wire_send(f->socket, &question.base, NULL, &w), 0);
        ring_bell(&f->result);
        ck_assert_int_eq(wire_receive(f->socket, &wire__memories__descriptor, a, &m, &fds, &w), 1);
        size_t n = ((const Wire__Memories *) m)->n_memories;
        ck_assert_uint_eq(n, question.n_slots == 1); /* the request uses slot 0 only */
        ck_assert_uint_eq(fds.n, n);
        wire_close_fds(&fds);
    }
    arena_free(a);
}

static void *fake_service(void *argument)
{
    static const struct result_datum none[] = {
        { RESULT_PACKET, 0, .of.packet = { 2, HAL_GENERAL_FAILURE, 0 } },
        { RESULT_TIMING, 0, .of.timing = { HAL_NO_TIME, HAL_NO_TIME } },
    };
    struct request_datum packet[BURST_QUEUE_LENGTH];
    struct fake *f = argument;

    ck_assert_int_eq(ring_wait(&f->request, f->socket, UINT64_MAX), 1);
    (void) ring_read(&f->request, packet);
    switch (f->defect) {
    case HANGS_UP: shutdown(f->socket, SHUT_RDWR); break;
    case GARBAGE: (void) ring_write(&f->result, packet, 2); break;
    case INVALID_QUESTIONS:
        ask_invalid_questions(f);
        (void) ring_write(&f->result, none, 2);
        break;
    default: break;
    }
    return NULL;
}

static void open_fake(struct fake *f, struct burst_link *ret_link)
{
    struct burst_fds fds = { -1, -1, -1 };
    int pair[2];

    ck_assert_int_eq(
        ring_make(BURST_QUEUE_LENGTH, sizeof(struct request_datum), &fds.request, &f->request, &w),
        0);
    ck_assert_int_eq(
        ring_make(BURST_QUEUE_LENGTH, sizeof(struct result_datum), &fds.result, &f->result, &w), 0);
    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair), 0);
    f->socket = pair[0];
    fds.socket = pair[1];
    ck_assert_int_eq(burst_link_open(&fds, BURST_QUEUE_LENGTH, BURST_QUEUE_LENGTH, ret_link, &w),
                     0);
}

static enum hal_status release_nothing(void *user, int64_t identifier)
{
    (void) user, (void) identifier;
    return HAL_NONE;
}

START_TEST(client_reports_a_faulty_service)
{
    static const int64_t identifiers[] = { 1, 2, 3 };
    static const enum why_code codes[] = { WHY_TIMEOUT, WHY_SYSTEM, WHY_INVALID };
    const struct reply_limit limit = { .timeout.seconds = _i == SILENT ? 0.03 : 0 };
    const struct burst_host host = { release_nothing, NULL, &limit };
    struct hal_execution_config config = client_config();
    struct fake f = { .defect = (enum defect) _i };
    enum hal_status status = HAL_NONE;
    struct burst_client *client;
    struct burst_link link;
    pthread_t thread;

    open_fake(&f, &link);
    client_fill(&request, 1);
    request.hal.n_pools = 1;
    client = burst_client_new(&link, HAL_FL7, &host);
    ck_assert_int_eq(pthread_create(&thread, NULL, fake_service, &f), 0);
    enum burst_outcome outcome = burst_client_execute(client, &request.hal, 1, identifiers, &config,
                                                      &request.result, &status, &w);
    pthread_join(thread, NULL);
    if (_i == INVALID_QUESTIONS)
        ck_assert(outcome == BURST_EXECUTED && status == HAL_GENERAL_FAILURE);
    else
        ck_assert(outcome == BURST_DISCONNECTED && w.code == codes[_i]);
    burst_client_free(client);
    ring_close(&f.request);
    ring_close(&f.result);
    close(f.socket);
}
END_TEST

Suite *burst_queues_suite(void)
{
    TCase *c = tcase_create("queues"), *d = tcase_create("server");

    tcase_add_test(c, written_datums_are_read_in_order);
    tcase_add_test(c, impossible_positions_are_ignored);
    tcase_add_test(c, memory_of_queues_is_checked);
    tcase_add_test(c, waits_end_by_data_timeout_or_hangup);
    tcase_add_test(c, unsuccessful_spinning_becomes_rare);
    tcase_add_test(c, successful_spin_restores_spinning);
    tcase_add_test(c, sides_on_the_same_processor_do_not_spin);
    tcase_add_test(c, packets_are_echoed_between_threads);
    tcase_add_loop_test(d, missing_memory_fails_only_that_request, 0, 2);
    tcase_add_loop_test(d, memory_is_checked_by_the_driver, 0, 2);
    tcase_add_loop_test(d, wrong_positions_do_not_end_the_burst, 0, 2);
    tcase_add_loop_test(d, random_queue_contents_do_not_end_the_burst, 0, 2);
    tcase_add_loop_test(d, unread_results_do_not_block_the_service, 0, 2);
    tcase_add_loop_test(d, disconnected_client_is_released, 0, 2);
    tcase_add_test(d, idle_burst_unmaps_memory_and_asks_again);
    tcase_add_loop_test(d, client_reports_a_faulty_service, 0, DEFECTS);
    return make_suite("burst_queues", c, d, NULL);
}
