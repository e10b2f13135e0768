/* Random sequences of executions in several bursts, on memories of several sizes and kinds that
 * come and go under the same identifiers, in any order: each execution uses the memories of its own
 * request. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness/conform/conform_requests.h"
#include "harness/conform/conform_steps.h"
#include "randgraph/randgraph.h"

enum { MODELS = 2, BURSTS = 3, MEMORIES = 6, POOLS = 3, STEPS = 600, REMOTE_STEPS = 150 };

static const int64_t identifiers[] = { 0, 1, 2, 7, (INT64_C(1) << 32) + 1, INT64_MAX };
enum { IDENTIFIERS = COUNT(identifiers), NOT_BOUND = -1 };

struct memory {
    struct hal_memory hal;
    uint8_t *at, *before; /* its bytes here, and a copy from before an execution */
};

struct sequence {
    struct conform *conform;
    struct rng rng;
    struct conform_subject subject[MODELS];
    struct hal_burst *burst[BURSTS];
    int bound[BURSTS][IDENTIFIERS]; /* the memory that the identifier names in the burst */
    struct memory memory[MEMORIES];
};

static uint32_t draw(struct sequence *q, uint32_t n)
{
    return rng_below(&q->rng, n);
}

static struct conform_subject *subject_of(struct sequence *q, uint32_t burst)
{
    return &q->subject[burst % MODELS];
}

/* ---- memories */

static void open_memory(struct sequence *q, struct memory *m)
{
    const uint64_t page = (uint64_t) sysconf(_SC_PAGESIZE), size = page * (1 + draw(q, 3));
    const uint64_t offset = page * draw(q, 2);
    int fd = memfd_create("memory", MFD_CLOEXEC);

    conform_must(fd >= 0 && ftruncate(fd, (off_t) (offset + size)) == 0, "memfd_create fails");
    m->at = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t) offset);
    m->before = malloc(size);
    conform_must(m->at != MAP_FAILED && m->before, "out of memory");
    m->hal = (struct hal_memory){ .kind = HAL_MEMORY_FD,
                                  .protection = HAL_MEMORY_READ | HAL_MEMORY_WRITE,
                                  .fd = fd,
                                  .offset = offset,
                                  .size = size };
    if (draw(q, 2)) {
        close(fd);
        m->hal = (struct hal_memory){ HAL_MEMORY_ADDRESS, m->hal.protection, m->at, -1, 0, size };
    }
}

static void close_memory(struct memory *m)
{
    munmap(m->at, m->hal.size);
    if (m->hal.fd >= 0)
        close(m->hal.fd);
    free(m->before);
}

static bool is_bound(const struct sequence *q, int memory)
{
    for (int b = 0; b < BURSTS; b++)
        for (int i = 0; i < IDENTIFIERS; i++)
            if (q->bound[b][i] == memory)
                return true;
    return false;
}

/* A memory that no burst keeps is replaced by another one, often under the same descriptor. */
static void replace_memory(void *sequence)
{
    struct sequence *q = sequence;
    const int m = (int) draw(q, MEMORIES);

    if (is_bound(q, m))
        return;
    close_memory(&q->memory[m]);
    open_memory(q, &q->memory[m]);
}

/* ---- requests */

struct burst_request {
    struct conform_request request;
    struct hal_request_pool pool[POOLS];
    int64_t identifier[POOLS];
    int memory[POOLS];
    uint32_t n;
};

/* A further pool, any memory, or the one that its identifier names; returns its index. */
static uint32_t add_pool(struct sequence *q, uint32_t burst, struct burst_request *r)
{
    const uint32_t i = draw(q, IDENTIFIERS), at = r->n++;
    int m = (int) draw(q, MEMORIES);

    r->identifier[at] = -1;
    if (draw(q, 3)) {
        r->identifier[at] = identifiers[i];
        m = q->bound[burst][i] = q->bound[burst][i] == NOT_BOUND ? m : q->bound[burst][i];
    }
    r->memory[at] = m;
    r->pool[at] = (struct hal_request_pool){ .memory = q->memory[m].hal };
    return at;
}

/* The argument lies somewhere in half `half` of the pool's memory. */
static uint8_t *place(struct sequence *q, const struct burst_request *r, uint32_t pool, int half,
                      uint64_t length, struct hal_argument *a)
{
    const uint64_t room = r->pool[pool].memory.size / 2;

    a->location = (struct hal_location){ .pool = pool,
                                         .offset = (uint64_t) half * room +
                                                   draw(q, (uint32_t) (room - length) / 8) * 8,
                                         .length = length };
    return q->memory[r->memory[pool]].at + a->location.offset;
}

/* A valid request, with up to three pools in any order.  Inputs that overlap would spoil each
 * other: the model has at most one, or each has a part of the half. */
static const uint8_t *make_request(struct sequence *q, uint32_t burst, struct burst_request *r)
{
    const struct conform_subject *s = subject_of(q, burst);
    const struct example *e = &s->model.example;
    uint32_t out, in[2];

    *r = (struct burst_request){ .n = 0 };
    conform_request(e, s->model.arena, &r->request);
    bool is_out_first = draw(q, 2);
    out = is_out_first ? add_pool(q, burst, r) : 0;
    in[0] = in[1] = add_pool(q, burst, r);
    if (!is_out_first)
        out = add_pool(q, burst, r);
    if (draw(q, 3) == 0)
        in[1] = add_pool(q, burst, r);
    uint8_t *value[2] = { NULL, NULL };
    for (uint32_t i = 0; i < r->request.hal.n_inputs && i < 2; i++) {
        do
            value[i] = place(q, r, in[i], 0, tensor_bytes(&e->in[i]), &r->request.inputs[i]);
        while (i == 1 && value[1] < value[0] + tensor_bytes(&e->in[0]) &&
               value[0] < value[1] + tensor_bytes(&e->in[1]));
        memcpy(value[i], e->in[i].data, tensor_bytes(&e->in[i]));
    }
    r->request.hal.pools = r->pool;
    r->request.hal.n_pools = r->n;
    return place(q, r, out, 1, tensor_bytes(&e->expected[0]), &r->request.outputs[0]);
}

static enum hal_status execute(struct sequence *q, uint32_t burst, struct burst_request *r,
                               uint32_t n_identifiers)
{
    struct hal_execution_config config = client_config();
    struct hal_burst *b = q->burst[burst];

    config.measure = draw(q, 4) == 0;
    return b->methods->execute_synchronously(b, &r->request.hal, n_identifiers, r->identifier,
                                             &config, &r->request.result);
}

/* ---- steps */

static void take_copies(struct sequence *q)
{
    for (int m = 0; m < MEMORIES; m++)
        memcpy(q->memory[m].before, q->memory[m].at, q->memory[m].hal.size);
}

/* Whether nothing has been written but `length` bytes at `out`. */
static bool are_kept(struct sequence *q, const uint8_t *out, uint64_t length)
{
    for (int m = 0; m < MEMORIES; m++) {
        struct memory *x = &q->memory[m];
        if (out >= x->at && out < x->at + x->hal.size)
            memcpy(x->before + (out - x->at), out, length);
        if (memcmp(x->before, x->at, x->hal.size) != 0)
            return false;
    }
    return true;
}

static void run_valid(void *sequence)
{
    struct sequence *q = sequence;
    const uint32_t burst = draw(q, BURSTS);
    const struct tensor *expected = subject_of(q, burst)->model.example.expected;
    const uint64_t length = tensor_bytes(expected);
    struct burst_request r;
    uint8_t *out = (uint8_t *) (uintptr_t) make_request(q, burst, &r);

    memset(out, 0x5a, length);
    take_copies(q);
    enum hal_status s = execute(q, burst, &r, r.n);
    EXPECT(q->conform, s == HAL_NONE && memcmp(out, expected->data, length) == 0,
           "burst %u, %u pools, identifiers %lld, %lld, ...: %s, or wrong results", burst, r.n,
           (long long) r.identifier[0], (long long) r.identifier[1], hal_status_name(s));
    EXPECT(q->conform, are_kept(q, out, length),
           "burst %u, identifiers %lld, %lld, ...: memory outside of the output is written", burst,
           (long long) r.identifier[0], (long long) r.identifier[1]);
}

/* A request that fails: the identifiers of its pools stay what they are. */
static void run_invalid(void *sequence)
{
    struct sequence *q = sequence;
    const uint32_t burst = draw(q, BURSTS);
    enum hal_status expected = HAL_INVALID_ARGUMENT;
    struct burst_request r;
    uint32_t n;

    make_request(q, burst, &r);
    n = r.n;
    switch (draw(q, 4)) {
    case 0: n--; break;
    case 1: r.request.outputs[0].location.pool = r.n; break;
    case 2: r.request.inputs[0].location.length--; break;
    default: r.request.outputs[0].location.length--; expected = HAL_OUTPUT_INSUFFICIENT_SIZE;
    }
    enum hal_status s = execute(q, burst, &r, n);
    EXPECT(q->conform, s == expected, "burst %u, an invalid or too short argument: %s, expected %s",
           burst, hal_status_name(s), hal_status_name(expected));
}

static void release_identifier(void *sequence)
{
    struct sequence *q = sequence;
    const uint32_t burst = draw(q, BURSTS), i = draw(q, IDENTIFIERS);
    struct hal_burst *b = q->burst[burst];

    EXPECT_STATUS(q->conform, b->methods->release_memory(b, identifiers[i]), HAL_NONE,
                  "release_memory");
    q->bound[burst][i] = NOT_BOUND;
}

static void open_burst(struct sequence *q, uint32_t burst)
{
    struct hal_prepared_model *p = subject_of(q, burst)->prepared;

    for (int i = 0; i < IDENTIFIERS; i++)
        q->bound[burst][i] = NOT_BOUND;
    EXPECT_STATUS(q->conform, p->methods->configure_burst(p, q->conform->version, &q->burst[burst]),
                  HAL_NONE, "configure_burst");
    conform_must(q->burst[burst], "configure_burst gives no burst");
}

static void reopen_burst(void *sequence)
{
    struct sequence *q = sequence;
    const uint32_t burst = draw(q, BURSTS);

    q->burst[burst]->methods->release(q->burst[burst]);
    open_burst(q, burst);
}

static void run_synchronously(void *sequence)
{
    struct sequence *q = sequence;
    const struct hal_execution_config config = client_config();
    struct conform_subject *s = &q->subject[draw(q, MODELS)];

    conform_subject_reset(s);
    enum hal_status status =
        conform_kinds[0].run(s->prepared, q->conform->version, &s->request, &config);
    EXPECT(q->conform, status == HAL_NONE && conform_subject_is_correct(s),
           "a synchronous execution beside bursts: %s, or wrong results", hal_status_name(status));
}

static void run_steps(struct sequence *q)
{
    static const struct conform_step step[] = {
        { run_valid, 60 },     { run_invalid, 12 }, { release_identifier, 14 },
        { replace_memory, 7 }, { reopen_burst, 2 }, { run_synchronously, 5 }
    };
    const int steps = q->conform->is_remote ? REMOTE_STEPS : STEPS;

    conform_run_steps(q->conform, &q->rng, step, steps, "a sequence of executions in bursts", NULL,
                      q);
}

/* Up to two supported operations that have one or two inputs; false: there is none. */
static bool open_subjects(struct sequence *q)
{
    const struct one_op *const texts[MODELS] = { conform_sum(q->conform),
                                                 conform_relu(q->conform) };
    bool all = true;

    for (int i = 0; i < MODELS; i++)
        all = conform_subject_open(q->conform, texts[i], &q->subject[i]) && all &&
              conform_can_run(q->conform, q->subject[i].prepared, conform_kind_named("burst"),
                              q->conform->version);
    return all;
}

static void sequences(struct conform *c, const void *data)
{
    struct sequence q = { .conform = c };

    (void) data;
    rng_seed(&q.rng, conform_seed, 0);
    if (open_subjects(&q)) {
        for (uint32_t b = 0; b < BURSTS; b++)
            open_burst(&q, b);
        for (int m = 0; m < MEMORIES; m++)
            open_memory(&q, &q.memory[m]);
        run_steps(&q);
        for (uint32_t b = 0; b < BURSTS; b++)
            q.burst[b]->methods->release(q.burst[b]);
        for (int m = 0; m < MEMORIES; m++)
            close_memory(&q.memory[m]);
    }
    for (int i = 0; i < MODELS; i++)
        conform_subject_close(&q.subject[i]);
}

static const struct conform_rule rules_of_file[] = {
    { "burst", "sequences", HAL_1_2, 0,
      "random executions in several bursts use the memories of their own requests", sequences },
};
const struct conform_rules conform_rules_burst_sequences = { rules_of_file, COUNT(rules_of_file),
                                                             NULL, NULL };
