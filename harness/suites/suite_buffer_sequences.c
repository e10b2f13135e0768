/* Random sequences of calls on several buffers of the driver: allocating them for roles of two
 * prepared models, copies, executions of every kind that read and write them, releases.  Each
 * buffer has the contents that were written to it last.  */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness/conform/conform_graphs.h"
#include "harness/conform/conform_requests.h"
#include "harness/conform/conform_steps.h"
#include "harness/conform/conform_threads.h"
#include "randgraph/randgraph.h"

enum {
    MODELS = 2,
    BUFFERS = 6,
    INPUTS = 2,
    ARGUMENTS = INPUTS + 1,
    STEPS = 500,
    REMOTE_STEPS = 150
};
enum { MOST_BYTES = 64 };

/* What is in a buffer. */
enum contents {
    NOTHING,
    INPUT_0,
    INPUT_1,
    RESULT, /* of the two inputs */
    OTHER   /* the result of other values */
};

struct kept_buffer {
    struct hal_buffer *hal; /* NULL: none */
    uint32_t token;
    bool has_role[MODELS][ARGUMENTS]; /* argument INPUTS: the output */
    enum contents contents;
};

struct sequence {
    struct conform *conform;
    struct rng rng;
    struct conform_subject subject[MODELS]; /* of the same operation */
    struct kept_buffer buffer[BUFFERS];
    uint32_t released; /* a token; 0: none */
    bool is_refused;   /* the driver provides no buffers */
};

static uint32_t draw(struct sequence *q, uint32_t n)
{
    return rng_below(&q->rng, n);
}

static const struct tensor *value_of(const struct sequence *q, enum contents contents)
{
    const struct example *e = &q->subject[0].model.example;

    return contents == RESULT ? &e->expected[0] : &e->in[contents - INPUT_0];
}

static size_t bytes_of(const struct sequence *q)
{
    return tensor_bytes(value_of(q, RESULT));
}

/* ---- allocating and releasing */

static void release(void *sequence)
{
    struct sequence *q = sequence;
    struct kept_buffer *b = &q->buffer[draw(q, BUFFERS)];

    if (!b->hal)
        return;
    b->hal->methods->release(b->hal);
    q->released = b->token;
    *b = (struct kept_buffer){ NULL };
}

static void allocate(void *sequence)
{
    struct sequence *q = sequence;
    struct hal_prepared_model *const models[MODELS] = { q->subject[0].prepared,
                                                        q->subject[1].prepared };
    struct kept_buffer *b = &q->buffer[draw(q, BUFFERS)];
    struct conform_allocation a = { .what = "random roles" };
    uint32_t n_in = 0, n_out = 0;
    enum hal_status status;

    if (b->hal)
        return;
    for (uint32_t i = 0; i < CONFORM_ROLES; i++) {
        uint32_t m = draw(q, MODELS), k = draw(q, ARGUMENTS);
        if (b->has_role[m][k])
            continue;
        b->has_role[m][k] = true;
        *(k == INPUTS ? &a.out[n_out++] : &a.in[n_in++]) =
            (struct hal_buffer_role){ m, k == INPUTS ? 0 : k, 1 };
    }
    a.in[n_in] = a.out[n_out] = (struct hal_buffer_role){ CONFORM_NO_MODEL, 0, 1 };
    b->hal = conform_allocate(q->conform, &a, models, MODELS, &b->token, &status);
    for (int i = 0; i < BUFFERS && b->hal; i++)
        EXPECT(q->conform,
               &q->buffer[i] == b || !q->buffer[i].hal || q->buffer[i].token != b->token,
               "allocate gives a buffer the token %u of another one", b->token);
    q->released = b->token == q->released ? 0 : q->released;
    q->is_refused = status == HAL_GENERAL_FAILURE;
    EXPECT(q->conform, b->hal || q->is_refused,
           "allocate for roles of equal operands: %s, expected NONE or GENERAL_FAILURE",
           hal_status_name(status));
    if (!b->hal)
        *b = (struct kept_buffer){ NULL };
}

/* ---- copies */

/* Memory of the buffers' size, or of another one, with these bytes: an address, or a file. */
struct copied {
    uint8_t bytes[2 * MOST_BYTES];
    struct hal_memory memory;
};

static void open_copied(struct sequence *q, struct copied *m, const void *bytes, size_t size)
{
    const uint64_t page = (uint64_t) sysconf(_SC_PAGESIZE), offset = page * draw(q, 2);

    memset(m->bytes, 0x5a, sizeof m->bytes);
    if (bytes)
        memcpy(m->bytes, bytes, size < bytes_of(q) ? size : bytes_of(q));
    m->memory = (struct hal_memory){
        HAL_MEMORY_ADDRESS, HAL_MEMORY_READ | HAL_MEMORY_WRITE, m->bytes, -1, 0, size
    };
    if (draw(q, 2))
        return;
    m->memory.kind = HAL_MEMORY_FD;
    m->memory.address = NULL;
    m->memory.offset = offset;
    m->memory.fd = memfd_create("copied", MFD_CLOEXEC);
    conform_must(m->memory.fd >= 0 && ftruncate(m->memory.fd, (off_t) (offset + size)) == 0 &&
                     pwrite(m->memory.fd, m->bytes, size, (off_t) offset) == (ssize_t) size,
                 "memfd_create fails");
}

static void close_copied(struct copied *m)
{
    if (m->memory.fd < 0)
        return;
    conform_must(pread(m->memory.fd, m->bytes, m->memory.size, (off_t) m->memory.offset) ==
                     (ssize_t) m->memory.size,
                 "pread fails");
    close(m->memory.fd);
}

/* Now and then another size than the buffer's, which is rejected. */
static size_t draw_size(struct sequence *q)
{
    return draw(q, 6) ? bytes_of(q) : bytes_of(q) * (draw(q, 2) ? 2 : 1) - 1;
}

static void copy_from(void *sequence)
{
    struct sequence *q = sequence;
    struct kept_buffer *b = &q->buffer[draw(q, BUFFERS)];
    const enum contents contents = draw(q, 2) ? INPUT_0 : INPUT_1;
    const struct tensor *t = value_of(q, contents);
    const size_t size = draw_size(q);
    const bool is_right = size == bytes_of(q);
    struct copied m;

    if (!b->hal)
        return;
    open_copied(q, &m, t->data, size);
    enum hal_status s =
        b->hal->methods->copy_from(b->hal, &m.memory, draw(q, 2) ? t->shape.rank : 0, t->shape.dim);
    EXPECT(q->conform, s == (is_right ? HAL_NONE : HAL_INVALID_ARGUMENT),
           "copy_from of %zu bytes to a buffer of %zu: %s", size, bytes_of(q), hal_status_name(s));
    b->contents = is_right ? contents : b->contents;
    close_copied(&m);
}

static void copy_to(void *sequence)
{
    struct sequence *q = sequence;
    struct kept_buffer *b = &q->buffer[draw(q, BUFFERS)];
    const size_t size = draw_size(q);
    enum hal_status expected = size == bytes_of(q) ? HAL_NONE : HAL_INVALID_ARGUMENT;
    struct copied m;

    if (!b->hal || (b->contents == NOTHING && expected != HAL_NONE))
        return;
    expected = b->contents == NOTHING ? HAL_GENERAL_FAILURE : expected;
    open_copied(q, &m, NULL, size);
    enum hal_status s = b->hal->methods->copy_to(b->hal, &m.memory);
    close_copied(&m);
    EXPECT(q->conform, s == expected, "copy_to of %zu bytes from a buffer of %zu%s: %s", size,
           bytes_of(q), b->contents == NOTHING ? " without contents" : "", hal_status_name(s));
    if (expected == HAL_NONE && b->contents != OTHER)
        EXPECT(q->conform, memcmp(m.bytes, value_of(q, b->contents)->data, size) == 0,
               "copy_to copies other %s", b->contents == RESULT ? "results" : "values");
}

/* ---- executions */

/* A buffer with that role, or NULL: the argument stays in its pool. */
static struct kept_buffer *draw_buffer(struct sequence *q, uint32_t model, uint32_t argument,
                                       const struct kept_buffer * not )
{
    struct kept_buffer *b = &q->buffer[draw(q, BUFFERS)];

    return b->hal && b != not &&b->has_role[model][argument] ? b : NULL;
}

struct arguments {
    struct kept_buffer *in[INPUTS], *out; /* NULL: in a pool */
    bool is_empty;                        /* an input without contents */
    bool is_example;                      /* the inputs are those of the example */
};

static struct arguments draw_arguments(struct sequence *q, uint32_t model,
                                       struct conform_request *r)
{
    struct arguments a = { .is_example = true };

    for (uint32_t i = 0; i < INPUTS; i++) {
        a.in[i] = draw_buffer(q, model, i, NULL);
        if (!a.in[i])
            continue;
        conform_request_use_token(r, &r->inputs[i], a.in[i]->token);
        a.is_empty = a.is_empty || a.in[i]->contents == NOTHING;
        a.is_example = a.is_example && a.in[i]->contents == (enum contents)(INPUT_0 + i);
    }
    a.out = draw_buffer(q, model, INPUTS, a.in[0]);
    a.out = a.out == a.in[1] ? NULL : a.out;
    if (a.out)
        conform_request_use_token(r, &r->outputs[0], a.out->token);
    return a;
}

static const struct conform_kind *draw_kind(struct sequence *q, uint32_t model)
{
    const struct conform_kind *k = &conform_kinds[draw(q, (uint32_t) conform_n_kinds)];

    return conform_can_run(q->conform, q->subject[model].prepared, k, q->conform->version)
               ? k
               : conform_kinds;
}

static void execute(void *sequence)
{
    struct sequence *q = sequence;
    const struct hal_execution_config config = client_config();
    const uint32_t model = draw(q, MODELS);
    struct conform_subject *s = &q->subject[model];
    const struct conform_kind *k = draw_kind(q, model);

    conform_subject_reset(s);
    struct arguments a = draw_arguments(q, model, &s->request);
    enum hal_status expected = a.is_empty ? HAL_GENERAL_FAILURE : HAL_NONE;
    enum hal_status status = k->run(s->prepared, q->conform->version, &s->request, &config);
    EXPECT(q->conform, status == expected, "%s, %s execution with arguments in buffers%s: %s",
           s->model.name, k->name, a.is_empty ? ", of which one has no contents" : "",
           hal_status_name(status));
    if (status == HAL_NONE && !a.out && a.is_example)
        EXPECT(q->conform, conform_subject_is_correct(s),
               "%s, %s execution with arguments in buffers: wrong results", s->model.name, k->name);
    if (status == HAL_NONE && a.out)
        a.out->contents = a.is_example ? RESULT : OTHER;
    else if (a.out && a.out->contents != NOTHING)
        a.out->contents = OTHER; /* undefined after a failure */
}

/* An argument in a buffer that has been released, or that has no such role. */
static void execute_invalid(void *sequence)
{
    struct sequence *q = sequence;
    const struct hal_execution_config config = client_config();
    const uint32_t model = draw(q, MODELS), argument = draw(q, INPUTS);
    const struct kept_buffer *b = &q->buffer[draw(q, BUFFERS)];
    struct conform_subject *s = &q->subject[model];
    const struct conform_kind *k = draw_kind(q, model);
    const uint32_t token = b->hal && !b->has_role[model][argument] ? b->token : q->released;

    if (!token)
        return;
    conform_subject_reset(s);
    conform_request_use_token(&s->request, &s->request.inputs[argument], token);
    enum hal_status status = k->run(s->prepared, q->conform->version, &s->request, &config);
    EXPECT(q->conform, status == HAL_INVALID_ARGUMENT,
           "%s, %s execution with an input in a buffer %s: %s, expected INVALID_ARGUMENT",
           s->model.name, k->name, token == q->released ? "that was released" : "of another role",
           hal_status_name(status));
}

/* ---- the rule */

static void run_steps(struct sequence *q)
{
    static const struct conform_step step[] = { { allocate, 15 },  { release, 7 },
                                                { copy_from, 20 }, { copy_to, 20 },
                                                { execute, 32 },   { execute_invalid, 6 } };
    const int steps = q->conform->is_remote ? REMOTE_STEPS : STEPS;

    conform_run_steps(q->conform, &q->rng, step, steps, "a sequence of calls on buffers",
                      &q->is_refused, q);
}

static void sequences(struct conform *c, const void *data)
{
    struct sequence q = { .conform = c };
    bool all = c->driver->allocate;

    (void) data;
    if (!all)
        conform_not_applicable(c, "the driver has no buffers");
    rng_seed(&q.rng, conform_seed, 0);
    for (int i = 0; i < MODELS && all; i++)
        all = conform_subject_open(c, conform_sum(c), &q.subject[i]) && bytes_of(&q) <= MOST_BYTES;
    if (all)
        run_steps(&q);
    if (q.is_refused)
        conform_not_applicable(c, "the driver provides no buffer");
    for (int i = 0; i < BUFFERS; i++)
        if (q.buffer[i].hal)
            q.buffer[i].hal->methods->release(q.buffer[i].hal);
    for (int i = 0; i < MODELS; i++)
        conform_subject_close(&q.subject[i]);
}

/* ---- one buffer that several threads read at once */

enum { THREADS = 4, RUNS = 60 };

struct shared {
    struct sequence *sequence;
    uint32_t token;
    bool has_kind[EXECUTION_WAYS]; /* by conform_kinds */
    struct conform_request request[THREADS][RUNS];
};

static void read_beside(struct conform *c, unsigned index, void *user)
{
    const struct hal_execution_config config = client_config();
    struct shared *x = user;
    struct conform_subject *s = &x->sequence->subject[0];

    for (int i = 0; i < RUNS; i++) {
        struct conform_request *r = &x->request[index][i];
        const struct conform_kind *k = &conform_kinds[i % conform_n_kinds];
        if (!x->has_kind[i % conform_n_kinds])
            continue;
        conform_request_use_token(r, &r->inputs[0], x->token);
        enum hal_status status = conform_run_beside(k, s->prepared, c->version, r, &config);
        EXPECT(c, status == HAL_NONE && conform_outputs_are(r, s->model.example.expected),
               "%s executions at once that read one buffer: %s, or wrong results", k->name,
               hal_status_name(status));
    }
}

static void shared_buffer(struct conform *c, const void *data)
{
    struct sequence q = { .conform = c };
    struct conform_subject *s = &q.subject[0];
    enum hal_status status;

    (void) data;
    if (!c->driver->allocate)
        conform_not_applicable(c, "the driver has no buffers");
    else if (conform_subject_open(c, conform_sum(c), s)) {
        struct shared *x = arena_alloc(s->model.arena, 1, sizeof *x);
        conform_must(x, "out of memory");
        x->sequence = &q;
        for (int k = 0; k < conform_n_kinds; k++)
            x->has_kind[k] = conform_can_run(c, s->prepared, &conform_kinds[k], c->version);
        for (int i = 0; i < THREADS * RUNS; i++)
            conform_request(&s->model.example, s->model.arena, &x->request[i / RUNS][i % RUNS]);
        struct hal_buffer *b =
            conform_allocate(c, &conform_one_input, &s->prepared, 1, &x->token, &status);
        if (b) {
            const struct tensor *t = &s->model.example.in[0];
            const struct hal_memory m = { HAL_MEMORY_ADDRESS, HAL_MEMORY_READ, t->data, -1, 0,
                                          tensor_bytes(t) };
            EXPECT_STATUS(c, b->methods->copy_from(b, &m, 0, NULL), HAL_NONE, "copy_from");
            conform_in_threads(c, THREADS, read_beside, x);
            b->methods->release(b);
        } else {
            conform_not_applicable(c, "the driver provides no buffer");
        }
    }
    conform_subject_close(s);
}

static const struct conform_rule rules_of_file[] = {
    { "memory-domain", "sequences", HAL_1_3, 0,
      "in random sequences of calls, buffers have what was written to them last", sequences },
    { "concurrency", "shared-buffer", HAL_1_3, 0, "executions at once may read one buffer",
      shared_buffer },
};
const struct conform_rules conform_rules_buffer_sequences = { rules_of_file, COUNT(rules_of_file),
                                                              NULL, NULL };
