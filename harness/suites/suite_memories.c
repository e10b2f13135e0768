/* Locations of values: constants by copy and by reference, arguments in every kind of memory and in
 * device buffers. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness/conform/conform_graphs.h"
#include "harness/conform/conform_requests.h"
#include "harness/conform/must.h"
#include "harness/corrupt/conform_mutations.h"
#include "sim/client/hal_calls.h"
#include "sim/hal/convert.h"

/* ---- kinds of memory */

static const struct memory_kind {
    const char *name;
    enum hal_version since;
    enum hal_memory_kind kind;
    uint64_t offset;
    bool is_mapped; /* the client gives the address of the file, too */
} memory_kinds[] = {
    { "addresses", HAL_1_0, HAL_MEMORY_ADDRESS, 0 },
    { "a file", HAL_1_0, HAL_MEMORY_FD, 0 },
    { "a file at an offset", HAL_1_0, HAL_MEMORY_FD, 8192 },
    { "a mapped file", HAL_1_0, HAL_MEMORY_FD, 8192, true },
    { "a hardware buffer", HAL_1_2, HAL_MEMORY_HARDWARE_BUFFER, 0 },
};

/* Memory of that kind with a copy of the bytes; HAL_MEMORY_ADDRESS refers to the bytes themselves.
 */
static struct hal_memory memory_of(const struct memory_kind *k, void *bytes, uint64_t size)
{
    struct hal_memory m = { .kind = k->kind,
                            .protection = HAL_MEMORY_READ | HAL_MEMORY_WRITE,
                            .fd = -1,
                            .offset = k->offset,
                            .size = size };

    if (k->kind == HAL_MEMORY_ADDRESS) {
        m.address = bytes;
        return m;
    }
    m.fd = memfd_create("pool", MFD_CLOEXEC);
    MUST(ftruncate(m.fd, (off_t) (k->offset + size)) == 0);
    MUST(pwrite(m.fd, bytes, size, (off_t) k->offset) == (ssize_t) size);
    if (k->is_mapped) {
        m.address = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, m.fd, (off_t) k->offset);
        MUST(m.address != MAP_FAILED);
    }
    return m;
}

/* Copies the memory's contents back into the bytes. */
static void read_memory(const struct hal_memory *m, void *bytes)
{
    if (m->fd >= 0)
        MUST(pread(m->fd, bytes, m->size, (off_t) m->offset) == (ssize_t) m->size);
}

static void close_memory(const struct hal_memory *m)
{
    if (m->fd >= 0 && m->address)
        munmap(m->address, m->size);
    if (m->fd >= 0)
        close(m->fd);
}

/* ---- pools */

/* The model with all its constants in a pool; false: it has none. */
static bool refer_to_constants(const struct conform_model *m, const struct memory_kind *k,
                               struct hal_memory *ret_pool, struct hal_model *ret)
{
    uint32_t n = m->hal.main.n_operands;
    struct hal_operand *o = arena_copy(m->arena, m->hal.main.operands, n * sizeof *o);

    *ret = m->hal;
    if (!m->hal.operand_values_length)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (o[i].lifetime == HAL_CONSTANT_COPY)
            o[i].lifetime = HAL_CONSTANT_REFERENCE;
    *ret_pool =
        memory_of(k, (void *) (uintptr_t) m->hal.operand_values, m->hal.operand_values_length);
    ret->main.operands = o;
    ret->operand_values = NULL;
    ret->operand_values_length = 0;
    ret->n_pools = 1;
    ret->pools = ret_pool;
    return true;
}

static void run_in(struct conform *c, const struct conform_model *m, struct hal_prepared_model *p,
                   const struct memory_kind *k, const struct conform_kind *kind)
{
    struct hal_execution_config config = client_config();
    struct arena *a = arena_new(0);
    struct conform_request r;
    void *bytes[2];

    conform_request(&m->example, a, &r);
    for (int i = 0; i < 2; i++) {
        bytes[i] = r.pool[i].memory.address;
        r.pool[i].memory = memory_of(k, bytes[i], r.pool[i].memory.size);
    }
    enum hal_status s = kind->run(p, c->version, &r, &config);
    for (int i = 0; i < 2; i++) {
        read_memory(&r.pool[i].memory, bytes[i]);
        close_memory(&r.pool[i].memory);
        r.pool[i].memory.address = bytes[i];
    }
    enum hal_status expected = c->version >= k->since ? HAL_NONE : HAL_INVALID_ARGUMENT;
    EXPECT(c, s == expected && (s != HAL_NONE || conform_outputs_are(&r, m->example.expected)),
           "%s with arguments in %s, %s execution: %s, or wrong results; expected %s", m->name,
           k->name, kind->name, hal_status_name(s), hal_status_name(expected));
    arena_free(a);
}

static void run_kinds(struct conform *c, const struct conform_model *m,
                      struct hal_prepared_model *p, const struct memory_kind *k)
{
    for (int e = 0; e < conform_n_kinds; e++)
        if (conform_can_run(c, p, &conform_kinds[e], c->version))
            run_in(c, m, p, k, &conform_kinds[e]);
}

/* A pool in memory of a kind of later versions must be rejected; NULL. */
static struct hal_prepared_model *refuse_pool(struct conform *c, const struct hal_model *hal,
                                              const struct memory_kind *k)
{
    struct conform_prepared p = conform_prepare(c, c->version, hal, &client_default_preparation);

    EXPECT(c, p.status == HAL_INVALID_ARGUMENT,
           "constants in %s, which HAL %s does not have: prepare_model: %s, expected "
           "INVALID_ARGUMENT",
           k->name, hal_version_name(c->version), hal_status_name(p.status));
    return p.model;
}

/* With constants in memory of that kind, or by copy (NULL).  Over a socket, arguments only in the
 * same kind of memory. */
static void run_with_constants(struct conform *c, const struct conform_model *m,
                               const struct memory_kind *constants)
{
    struct hal_memory pool = { .fd = -1 };
    struct hal_model hal = m->hal;

    if (constants && !refer_to_constants(m, constants, &pool, &hal))
        return;
    conform_doing(c, "%s with constants in %s", m->name,
                  constants ? constants->name : "the model's values");
    struct hal_prepared_model *p = constants && c->version < constants->since
                                       ? refuse_pool(c, &hal, constants)
                                       : conform_prepare_supported(c, &hal);
    if (pool.fd >= 0)
        close(pool.fd); /* the driver has duplicated what it needs; an address stays valid */
    pool.fd = -1;
    for (int k = 0; p && k < COUNT(memory_kinds); k++)
        if (!c->is_remote || !constants || constants == &memory_kinds[k])
            run_kinds(c, m, p, &memory_kinds[k]);
    if (p)
        p->methods->release(p);
    if (constants && constants->is_mapped)
        munmap(pool.address, pool.size);
}

static void pools(struct conform *c, const void *data)
{
    struct conform_model m;

    (void) data;
    for (int i = 0; i < conform_n_texts; i++) {
        conform_model_of(&m, &conform_texts[i]);
        if (conform_is_mine(c, (uint32_t) i) && conform_model_is_of(&m, c)) {
            run_with_constants(c, &m, NULL);
            for (int k = 0; k < COUNT(memory_kinds); k++)
                run_with_constants(c, &m, &memory_kinds[k]);
        }
        conform_model_done(&m);
    }
}

/* ---- memory domains: each argument in a buffer of its own */

enum { MAX_ARGUMENTS = 2 };

struct arguments {
    struct conform_graph_subject *subject;
    struct conform_request request;
    struct hal_buffer *in[MAX_ARGUMENTS], *out[MAX_ARGUMENTS];
};

static struct hal_memory plain(const struct tensor *t)
{
    return memory_of(&memory_kinds[0], t->data, tensor_bytes(t));
}

static struct hal_buffer *place_argument(struct arguments *a, uint32_t index, bool is_output)
{
    struct conform_allocation one = is_output ? conform_one_output : conform_one_input;
    uint32_t token = 0;

    (is_output ? one.out : one.in)[0].io_index = index;
    struct hal_buffer *b = conform_must_allocate(a->subject, &one, &token);
    conform_request_use_token(&a->request,
                              &(is_output ? a->request.outputs : a->request.inputs)[index], token);
    return b;
}

static bool place_arguments(struct arguments *a)
{
    const struct conform_graph_subject *s = a->subject;
    bool ok = true;

    for (uint32_t i = 0; i < s->graph->n_inputs; i++) {
        struct hal_memory from = plain(&s->model.example.in[i]);
        a->in[i] = place_argument(a, i, false);
        ok = ok && a->in[i] &&
             EXPECT_STATUS(s->conform, a->in[i]->methods->copy_from(a->in[i], &from, 0, NULL),
                           HAL_NONE, "copy_from");
    }
    for (uint32_t i = 0; i < s->graph->n_outputs; i++)
        ok = (a->out[i] = place_argument(a, i, true)) && ok;
    return ok;
}

static void expect_outputs(struct arguments *a, const struct conform_kind *kind,
                           struct arena *arena)
{
    const struct conform_graph_subject *s = a->subject;

    for (uint32_t i = 0; i < s->graph->n_outputs; i++) {
        struct tensor t = s->model.example.expected[i];
        t.data = arena_alloc(arena, tensor_bytes(&t), 1);
        struct hal_memory to = plain(&t);
        EXPECT_STATUS(s->conform, a->out[i]->methods->copy_to(a->out[i], &to), HAL_NONE, "copy_to");
        EXPECT(s->conform, memcmp(t.data, s->model.example.expected[i].data, to.size) == 0,
               "%s of %s, %s: wrong results", s->graph->name, s->tensor_type->name, kind->name);
    }
}

static void release_arguments(struct arguments *a)
{
    for (int i = 0; i < MAX_ARGUMENTS; i++) {
        if (a->in[i])
            a->in[i]->methods->release(a->in[i]);
        if (a->out[i])
            a->out[i]->methods->release(a->out[i]);
    }
}

static void run_in_buffers(struct conform_graph_subject *s, const struct conform_kind *kind)
{
    struct hal_execution_config config = client_config();
    struct arguments a = { .subject = s };
    struct arena *arena = arena_new(0);

    conform_request(&s->model.example, arena, &a.request);
    if (place_arguments(&a)) {
        enum hal_status status = kind->run(s->prepared, s->conform->version, &a.request, &config);
        if (EXPECT(s->conform, status == HAL_NONE,
                   "%s of %s with all arguments in buffers, %s execution: %s, expected NONE",
                   s->graph->name, s->tensor_type->name, kind->name, hal_status_name(status)))
            expect_outputs(&a, kind, arena);
    }
    release_arguments(&a);
    arena_free(arena);
}

static void run_in_domain(struct conform_graph_subject *s)
{
    for (int k = 0; k < conform_n_kinds; k++)
        if (conform_can_run(s->conform, s->prepared, &conform_kinds[k], s->conform->version)) {
            run_in_buffers(s, &conform_kinds[k]);
            run_in(s->conform, &s->model, s->prepared, &memory_kinds[COUNT(memory_kinds) - 1],
                   &conform_kinds[k]);
        }
}

static void memory_domain(struct conform *c, const void *data)
{
    (void) data;
    conform_each_graph(c, false, run_in_domain);
}

static const struct conform_rule rules_of_file[] = {
    { "generated", "pools", HAL_1_0, 0,
      "constants by copy and by reference, arguments in every kind of memory", pools, NULL, true },
    { "memory-domain", "device-memory", HAL_1_3, 0,
      "arguments in device buffers and in BLOB hardware buffers", memory_domain },
};
const struct conform_rules conform_rules_memories = { rules_of_file, COUNT(rules_of_file), NULL,
                                                      NULL };
