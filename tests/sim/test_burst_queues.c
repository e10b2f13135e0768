/* The queues of bursts, and what serves them: the other side may write anything at any time, hang
 * up, not read, not answer. */
#define _GNU_SOURCE
#include <check.h>
#include <fcntl.h>
#include <sched.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "sim/remote/burst_client.h"
#include "tests/support/check_main.h"
#include "tests/support/raw_burst.h"

enum { LENGTH = 10, TURNS = 20000, SECOND = 1000000000 };

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

START_TEST(what_is_written_is_read)
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

/* The positions lie at 0 and 64. */
static void claim(const struct ring *r, size_t at, uint64_t position)
{
    memcpy((char *) r->memory + at, &position, sizeof position);
}

START_TEST(claims_that_cannot_be_do_no_harm)
{
    static const uint64_t claims[] = { UINT64_MAX, INT64_MAX, LENGTH + 1, UINT64_MAX / 2 + 5 };
    uint32_t datum[LENGTH];
    struct pair p;

    open_pair(&p);
    for (int i = 0; i < (int) (sizeof claims / sizeof *claims); i++) {
        write_n(&p.writer, 0, 3, 0);
        expect_n(&p.reader, 0, 3);
        claim(&p.reader, 0, p.reader.position + claims[i]);
        ck_assert_int_eq(ring_wait(&p.reader, p.socket[0], UINT64_MAX), 1);
        expect_n(&p.reader, 0, 0);
        claim(&p.writer, 64, p.writer.position - claims[i]);
        write_n(&p.writer, 0, 1, -1);
        claim(&p.writer, 64, p.writer.position);
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

START_TEST(waits_end)
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

static bool count_looks(void *user)
{
    unsigned *looks = user;

    ++*looks;
    return false;
}

static bool spins(struct spin *s)
{
    unsigned looks = 0;

    spin_until(s, count_looks, &looks);
    return looks > 0;
}

/* Where it has not paid four times it is tried now and then. */
START_TEST(spinning_ends_where_it_does_not_pay)
{
    struct spin s = { 0 };
    unsigned spun = 0;

    for (int i = 0; i < 4; i++)
        ck_assert(spins(&s));
    for (int i = 0; i < 320; i++)
        spun += spins(&s);
    ck_assert_uint_eq(spun, 10);
}
END_TEST

static bool is_there(void *user)
{
    (void) user;
    return true;
}

START_TEST(spinning_begins_again_where_it_pays)
{
    struct spin s = { .misses = 64 };

    spin_until(&s, is_there, NULL);
    ck_assert_uint_eq(s.misses, 0);
    ck_assert(spins(&s));
}
END_TEST

/* Neither side would let the other one run. */
START_TEST(nobody_spins_on_the_processor_of_the_other_side)
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

/* What comes goes back, until the bell rings. */
struct echo {
    struct pair there, back;
};

static void *echo(void *argument)
{
    struct echo *e = argument;
    uint32_t datum[LENGTH];

    while (ring_wait(&e->there.reader, e->there.socket[0], UINT64_MAX) > 0)
        (void) ring_write(&e->back.writer, datum, ring_read(&e->there.reader, datum));
    return NULL;
}

START_TEST(two_sides_take_turns)
{
    struct echo e;
    pthread_t thread;

    open_pair(&e.there);
    open_pair(&e.back);
    ck_assert_int_eq(pthread_create(&thread, NULL, echo, &e), 0);
    for (uint32_t i = 0; i < TURNS; i++) {
        write_n(&e.there.writer, i, 1 + i % LENGTH, 0);
        ck_assert_int_eq(ring_wait(&e.back.reader, e.back.socket[0], UINT64_MAX), 1);
        expect_n(&e.back.reader, i, 1 + i % LENGTH);
    }
    ring_bell(&e.there.writer);
    pthread_join(thread, NULL);
    close_pair(&e.there);
    close_pair(&e.back);
}
END_TEST

/* ---- served */

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

START_TEST(a_client_without_its_memories_fails_alone)
{
    open_burst(_i, BURST_QUEUE_LENGTH);
    struct hal_memory honest = b.memory[1];
    b.memory[1].size = 0;
    ck_assert_int_ne(run(), HAL_NONE);
    ck_assert_uint_eq(b.n_results, BURST_PACKET_MIN_RESULT);
    b.memory[1] = honest;
    check_run();
    ck_assert_uint_eq(b.questions, 2);
    close_burst();
}
END_TEST

/* Memory that is not what it says is the driver's to refuse. */
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

START_TEST(claims_of_a_client_do_not_end_its_burst)
{
    open_burst(_i, BURST_QUEUE_LENGTH);
    check_run();
    for (uint64_t k = 1; k < 40; k++) {
        claim(&b.link.request, 0, k << (k * 3 % 60));
        ring_bell(&b.link.request);
        claim(&b.link.result, 64, k << (k * 5 % 60));
        while (raw_burst_await(&b, 100000))
            ck_assert_uint_le(b.n_results, BURST_PACKET_MIN_RESULT);
    }
    claim(&b.link.result, 64, b.link.result.position);
    claim(&b.link.request, 0, b.link.request.position);
    ring_bell(&b.link.request);
    while (raw_burst_await(&b, 20000000))
        ;
    check_run();
    close_burst();
}
END_TEST

/* Anything, anywhere, while the service reads. */
START_TEST(a_client_that_scribbles_on_its_queues)
{
    uint32_t state = 7;

    open_burst(_i, BURST_QUEUE_LENGTH);
    for (int turn = 0; turn < 4000; turn++) {
        (void) ring_write(&b.link.request, datums, n_datums);
        for (int k = 0; k < 8; k++) {
            struct ring *r = k % 4 ? &b.link.request : &b.link.result;
            state = state * 1664525 + 1013904223;
            ((volatile uint8_t *) r->memory)[(state >> 8) % (k % 2 ? 192 : r->size)] =
                (uint8_t) (state >> 24);
        }
        ring_bell(&b.link.request);
        (void) raw_burst_await(&b, turn % 8 ? 1000 : 100000);
    }
    memset(b.link.result.memory, 0, b.link.result.size);
    claim(&b.link.result, 64, b.link.result.position);
    claim(&b.link.request, 0, b.link.request.position);
    ring_bell(&b.link.request);
    while (raw_burst_await(&b, 50000000))
        ;
    (void) ring_write(&b.link.request, datums, n_datums); /* whose result says where we are */
    (void) raw_burst_await(&b, SECOND);
    check_run();
    close_burst();
}
END_TEST

START_TEST(a_client_that_does_not_read_results_blocks_nobody)
{
    open_burst(_i, 8);
    check_run();
    for (int i = 0; i < 300; i++) {
        while (ring_write(&b.link.request, datums, n_datums) < 0)
            sched_yield();
        if (i % 100 == 0) /* the service may have read it, or not */
            usleep(1000);
    }
    while (raw_burst_await(&b, 50000000))
        ck_assert_uint_le(b.n_results, 8);
    check_run();
    close_burst();
}
END_TEST

START_TEST(a_client_that_hangs_up_is_forgotten)
{
    open_burst(_i, BURST_QUEUE_LENGTH);
    check_run();
    (void) raw_burst_free_memory(&b, 0);
    ck_assert_int_eq(ring_write(&b.link.request, datums, n_datums), 0); /* asks, and gets nothing */
    shutdown(b.link.socket, SHUT_RDWR);
    close_burst();
}
END_TEST

/* ---- idle */

START_TEST(an_idle_burst_gives_its_memories_up_and_asks_again)
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
    for (unsigned turn = 1; turn <= 3; turn++) {
        check_run();
        ck_assert_uint_eq(b.questions, turn);
        for (int ms = 0; ms < 5000 && client_mappings(getpid(), "halcyon") != before; ms++)
            usleep(1000);
        ck_assert_int_eq(client_mappings(getpid(), "halcyon"), before);
    }
    close_burst();
}
END_TEST

/* ---- a client and a service that is none */

enum nonsense { SILENT, HANGS_UP, GARBAGE, STRANGE_QUESTIONS, NONSENSES };

/* The service's ends of a client's queues. */
struct fake {
    enum nonsense what;
    struct ring request, result;
    int socket;
};

static void ask_strange_questions(struct fake *f)
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
        ck_assert_uint_eq(n, question.n_slots == 1); /* slot 0 alone is the request's */
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
    switch (f->what) {
    case HANGS_UP: shutdown(f->socket, SHUT_RDWR); break;
    case GARBAGE: (void) ring_write(&f->result, packet, 2); break;
    case STRANGE_QUESTIONS:
        ask_strange_questions(f);
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

static enum hal_status nothing_to_release(void *user, int64_t identifier)
{
    (void) user, (void) identifier;
    return HAL_NONE;
}

START_TEST(a_service_that_is_none_does_not_hold_its_client)
{
    static const int64_t identifiers[] = { 1, 2, 3 };
    static const enum why_code codes[] = { WHY_TIMEOUT, WHY_SYSTEM, WHY_INVALID };
    struct burst_host host = { nothing_to_release, NULL, 30000000 };
    struct hal_execution_config config = client_config();
    struct fake f = { .what = (enum nonsense) _i };
    enum hal_status status = HAL_NONE;
    struct burst_client *client;
    struct burst_link link;
    pthread_t thread;

    host.reply_timeout = _i == SILENT ? 30000000 : UINT64_MAX;
    open_fake(&f, &link);
    client_fill(&request, 1);
    request.hal.n_pools = 1;
    client = burst_client_new(&link, HAL_FL7, &host);
    ck_assert_int_eq(pthread_create(&thread, NULL, fake_service, &f), 0);
    enum burst_outcome way = burst_client_execute(client, &request.hal, 1, identifiers, &config,
                                                  &request.result, &status, &w);
    pthread_join(thread, NULL);
    if (_i == STRANGE_QUESTIONS)
        ck_assert(way == BURST_EXECUTED && status == HAL_GENERAL_FAILURE);
    else
        ck_assert(way == BURST_DISCONNECTED && w.code == codes[_i]);
    burst_client_free(client);
    ring_close(&f.request);
    ring_close(&f.result);
    close(f.socket);
}
END_TEST

Suite *burst_queues_suite(void)
{
    TCase *c = tcase_create("alone"), *d = tcase_create("served");

    tcase_add_test(c, what_is_written_is_read);
    tcase_add_test(c, claims_that_cannot_be_do_no_harm);
    tcase_add_test(c, memory_of_queues_is_checked);
    tcase_add_test(c, waits_end);
    tcase_add_test(c, spinning_ends_where_it_does_not_pay);
    tcase_add_test(c, spinning_begins_again_where_it_pays);
    tcase_add_test(c, nobody_spins_on_the_processor_of_the_other_side);
    tcase_add_test(c, two_sides_take_turns);
    tcase_add_loop_test(d, a_client_without_its_memories_fails_alone, 0, 2);
    tcase_add_loop_test(d, memory_is_checked_by_the_driver, 0, 2);
    tcase_add_loop_test(d, claims_of_a_client_do_not_end_its_burst, 0, 2);
    tcase_add_loop_test(d, a_client_that_scribbles_on_its_queues, 0, 2);
    tcase_add_loop_test(d, a_client_that_does_not_read_results_blocks_nobody, 0, 2);
    tcase_add_loop_test(d, a_client_that_hangs_up_is_forgotten, 0, 2);
    tcase_add_test(d, an_idle_burst_gives_its_memories_up_and_asks_again);
    tcase_add_loop_test(d, a_service_that_is_none_does_not_hold_its_client, 0, NONSENSES);
    return make_suite("burst_queues", c, d, NULL);
}
