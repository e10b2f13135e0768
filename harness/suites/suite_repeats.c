/* Results of the same model on the same inputs: the same bits whatever was executed before or is
 * executed meanwhile, wherever the memory lies, whichever preparation and driver computes them, and
 * whichever operands the model has that nothing reads. */
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness/conform/conform_graphs.h"
#include "harness/conform/conform_judge.h"
#include "harness/conform/conform_requests.h"
#include "harness/conform/conform_threads.h"

/* Over a socket one model in so many, each version others. */
enum { REMOTE_EVERY = 2, NEIGHBOURS = 4, NEIGHBOUR_RUNS = 6 };

struct repeat {
    struct conform *conform;
    const struct conform_model *model;
    struct hal_prepared_model *prepared;
    struct arena *arena;
    const struct conform_kind *kind;
    struct tensor *first; /* results of the first execution */
};

static enum hal_status run(const struct repeat *r, struct hal_prepared_model *p,
                           struct conform_request *request)
{
    const struct hal_execution_config config = client_config();

    return conform_run_beside(r->kind, p, r->conform->version, request, &config);
}

/* Its status is of no interest. */
static void run_once(const struct repeat *r, struct conform_request *request)
{
    const struct hal_execution_config config = client_config();

    r->kind->run(r->prepared, r->conform->version, request, &config);
}

/* The elements that were written: other inputs may have fewer results than the model's example, and
 * what is behind them in the memory is no result. */
static struct tensor *keep_outputs(const struct repeat *r, const struct conform_request *request)
{
    uint32_t n = r->model->hal.main.n_outputs;
    struct tensor *t = arena_copy(r->arena, r->model->example.expected, n * sizeof *t);

    conform_must(t, "out of memory");
    for (uint32_t i = 0; i < n; i++) {
        struct tensor written = t[i];
        conform_reported_shape(request, i, &written.shape);
        if (tensor_bytes(&written) < tensor_bytes(&t[i]))
            t[i].shape = written.shape;
        t[i].data = arena_copy(r->arena, conform_request_value(request, &request->outputs[i]),
                               tensor_bytes(&t[i]));
    }
    return t;
}

static void expect_same(const struct repeat *r, struct hal_prepared_model *p,
                        struct conform_request *request, const char *what)
{
    enum hal_status s = run(r, p, request);

    EXPECT(r->conform, s == HAL_NONE && conform_outputs_are(request, r->first), "%s %s: %s%s",
           r->model->name, what, hal_status_name(s), s == HAL_NONE ? ", but other results" : "");
}

typedef void visit_repeat(struct repeat *r);

static void with_prepared(struct conform *c, const struct conform_model *m, visit_repeat *visit)
{
    struct repeat r = { .conform = c, .model = m, .kind = &conform_kinds[c->version < HAL_1_2] };
    struct conform_request request;

    r.prepared = conform_prepare_supported(c, &m->hal);
    if (!r.prepared)
        return;
    r.arena = arena_new(0);
    conform_request(&m->example, r.arena, &request);
    if (run(&r, r.prepared, &request) == HAL_NONE) {
        r.first = keep_outputs(&r, &request);
        visit(&r);
    }
    arena_free(r.arena);
    r.prepared->methods->release(r.prepared);
}

static bool is_chosen(const struct conform *c, int i)
{
    const struct conform_model *m = &conform_models[i];

    return conform_model_is_of(m, c) &&
           (conform_request_is_specified(&m->example) || c->version >= HAL_1_2) &&
           (!c->is_remote || (i + hal_level(c->version)) % REMOTE_EVERY == 0);
}

struct of_repeats {
    visit_repeat *visit;
    int every; /* one model in so many */
};

static void repeats(struct conform *c, const void *data)
{
    const struct of_repeats *o = data;

    conform_not_applicable(c, "no model of this version is supported");
    for (int i = 0; i < conform_n_models; i++)
        if (is_chosen(c, i) && (c->is_remote || i % o->every == 0))
            with_prepared(c, &conform_models[i], o->visit);
}

/* ---- earlier requests */

/* The same request with other bytes as inputs, which may be invalid values: any status is right. */
static void run_disturbed(const struct repeat *r, uint8_t mask)
{
    struct conform_request request;

    conform_request(&r->model->example, r->arena, &request);
    uint8_t *in = request.pool[0].memory.address;
    for (uint64_t i = 0; i < request.pool[0].memory.size; i++)
        in[i] ^= mask;
    run_once(r, &request);
}

static void run_rejected(const struct repeat *r)
{
    struct conform_request request;

    conform_request(&r->model->example, r->arena, &request);
    request.hal.n_outputs--;
    run_once(r, &request);
}

static void after_others(struct repeat *r)
{
    static const uint8_t masks[] = { 0x01, 0x40, 0xff };
    struct conform_request request;

    for (int i = 0; i < COUNT(masks); i++) {
        run_disturbed(r, masks[i]);
        conform_request(&r->model->example, r->arena, &request);
        expect_same(r, r->prepared, &request, "after a request with other inputs");
    }
    run_rejected(r);
    conform_request(&r->model->example, r->arena, &request);
    expect_same(r, r->prepared, &request, "after a request that was rejected");
}

/* ---- other inputs at the same place */

/* Changes the last element of every tensor by little, so that valid values mostly stay valid. */
static void change_last_elements(const struct repeat *r, const struct conform_request *q)
{
    for (uint32_t i = 0; i < q->hal.n_inputs; i++) {
        const struct tensor *t = &r->model->example.in[i];
        size_t size = dtype_info[t->dtype].codec->size, length = q->inputs[i].location.length;
        bool is_float = t->dtype == DT_F32 || t->dtype == DT_F16;
        uint8_t *at = conform_request_value(q, &q->inputs[i]);
        if (q->inputs[i].has_no_value || length < 2 * size || !dtype_info[t->dtype].tensor)
            continue;
        at[length - size + (is_float ? size - 2 : 0)] ^= is_float ? 0x40 : 1;
    }
}

/* The same request again after its inputs have changed, and after they have changed back; what is
 * right is taken from a second preparation, which has executed nothing else. */
static void with_changed_inputs(struct repeat *r)
{
    struct hal_prepared_model *p = conform_prepare_supported(r->conform, &r->model->hal);
    struct repeat changed = *r;
    struct conform_request q;

    if (!p)
        return;
    conform_request(&r->model->example, r->arena, &q);
    change_last_elements(r, &q);
    enum hal_status s = run(r, p, &q);
    changed.first = keep_outputs(r, &q);
    p->methods->release(p);
    if (s != HAL_NONE)
        return;
    conform_request(&r->model->example, r->arena, &q);
    expect_same(r, r->prepared, &q, "again");
    change_last_elements(r, &q);
    expect_same(&changed, r->prepared, &q, "after its inputs have changed in their place");
    change_last_elements(r, &q);
    expect_same(r, r->prepared, &q, "after its inputs have changed back");
}

/* ---- other shapes: one prepared model, whose dimension 0 is unknown, with other batches */

static void with_batches(struct conform_graph_subject *s)
{
    static const uint32_t batches[] = { 1, 3, 2, 1 };
    const struct hal_execution_config config = client_config();
    enum hal_status status = HAL_NONE;

    for (int i = 0; i < COUNT(batches) && status != HAL_GENERAL_FAILURE; i++) {
        struct conform_model m;
        struct conform_request r;
        conform_graph_model(&m, s->graph, s->tensor_type, batches[i]);
        conform_request(&m.example, m.arena, &r);
        status = conform_kinds[0].run(s->prepared, s->conform->version, &r, &config);
        if (status == HAL_GENERAL_FAILURE && i == 0)
            conform_not_applicable(s->conform,
                                   "the driver does not support outputs of unknown shape");
        else
            EXPECT(s->conform,
                   status == HAL_NONE && r.result.n_shapes == s->graph->n_outputs &&
                       r.result.shapes[0].dims[0] == batches[i] &&
                       conform_outputs_are(&r, m.example.expected),
                   "%s of %s, a batch of %u after others: %s, or wrong results", s->graph->name,
                   s->tensor_type->name, batches[i], hal_status_name(status));
        conform_model_done(&m);
    }
}

static void with_other_shapes(struct conform *c, const void *data)
{
    (void) data;
    conform_each_graph(c, true, with_batches);
}

/* ---- writes after the end */

enum { LATE_MODELS = 16, LATE_US = 20000 };

/* What is in the outputs' memory after an execution has ended stays there. */
static void without_late_writes(struct conform *c, const void *data)
{
    struct {
        struct conform_subject subject;
        const struct conform_kind *kind;
        bool is_file;
    } late[LATE_MODELS];
    int n = 0;

    (void) data;
    for (int i = 0; i < 2 * conform_n_kinds && n < LATE_MODELS; i++) {
        const struct hal_execution_config config = client_config();
        struct conform_subject *s = &late[n].subject;
        late[n].kind = &conform_kinds[i / 2];
        late[n].is_file = i % 2;
        if (!conform_subject_open(c, conform_sum(c), s) ||
            !conform_can_run(c, s->prepared, late[n].kind, c->version)) {
            conform_subject_close(s);
            continue;
        }
        if (late[n].is_file)
            conform_request_use_files(&s->request);
        enum hal_status status = late[n].kind->run(s->prepared, c->version, &s->request, &config);
        EXPECT_STATUS(c, status, HAL_NONE, late[n].kind->name);
        memset(conform_request_value(&s->request, &s->request.outputs[0]), 0x5a,
               s->request.outputs[0].location.length);
        n++;
    }
    usleep(LATE_US);
    for (int i = 0; i < n; i++) {
        struct conform_request *q = &late[i].subject.request;
        const uint8_t *at = conform_request_value(q, &q->outputs[0]);
        uint64_t length = q->outputs[0].location.length, same = 0;
        while (same < length && at[same] == 0x5a)
            same++;
        EXPECT(c, same == length, "%s execution: byte %llu of output 0 is written after its end",
               late[i].kind->name, (unsigned long long) same);
        if (late[i].is_file)
            conform_request_close_files(q);
        conform_subject_close(&late[i].subject);
    }
}

/* ---- neighbours */

struct neighbour {
    const struct repeat *repeat;
    struct conform_request request[NEIGHBOURS * NEIGHBOUR_RUNS];
};

static void run_beside(struct conform *c, unsigned index, void *user)
{
    struct neighbour *n = user;
    const struct repeat *r = n->repeat;

    for (unsigned i = 0; i < NEIGHBOUR_RUNS; i++) {
        struct conform_request *q = &n->request[index * NEIGHBOUR_RUNS + i];
        enum hal_status s = run(r, r->prepared, q);
        EXPECT(c, s == HAL_NONE && conform_judge_beside(c, r->model, q, r->first),
               "%s beside other executions: %s%s", r->model->name, hal_status_name(s),
               s == HAL_NONE ? ", but other results" : "");
    }
}

/* Half of the threads change the inputs of others; theirs are not compared. */
static void disturb_beside(struct conform *c, unsigned index, void *user)
{
    struct neighbour *n = user;

    if (index % 2 == 0) {
        run_beside(c, index, user);
        return;
    }
    for (unsigned i = 0; i < NEIGHBOUR_RUNS; i++)
        run_once(n->repeat, &n->request[index * NEIGHBOUR_RUNS + i]);
}

static void beside_others(struct repeat *r)
{
    struct neighbour *n = arena_alloc(r->arena, 1, sizeof *n);

    conform_must(n, "out of memory");
    n->repeat = r;
    for (unsigned i = 0; i < NEIGHBOURS * NEIGHBOUR_RUNS; i++) {
        struct conform_request *q = &n->request[i];
        conform_request(&r->model->example, r->arena, q);
        if (i / NEIGHBOUR_RUNS % 2)
            for (uint64_t k = 0; k < q->pool[0].memory.size; k++)
                ((uint8_t *) q->pool[0].memory.address)[k] ^= 0x15;
    }
    conform_in_threads(r->conform, NEIGHBOURS, disturb_beside, n);
}

/* ---- memory: where the values of a request lie */

static uint64_t page_size(void)
{
    return (uint64_t) sysconf(_SC_PAGESIZE);
}

/* Zeros that begin at a page. */
static char *pages(struct arena *a, uint64_t size)
{
    char *at = arena_alloc(a, size + page_size(), 1);

    conform_must(at, "out of memory");
    return at + (page_size() - (uintptr_t) at % page_size()) % page_size();
}

/* Every argument is moved by so many bytes, to an address that no element type needs. */
static void shift_arguments(const struct repeat *r, struct conform_request *q, uint64_t by)
{
    for (int pool = 0; pool < 2; pool++) {
        struct hal_memory *m = &q->pool[pool].memory;
        uint32_t n = pool ? q->hal.n_outputs : q->hal.n_inputs;
        struct hal_argument *a = pool ? q->outputs : q->inputs;
        uint64_t size = m->size + (n + 1) * by + 64;
        char *to = pages(r->arena, size);
        for (uint32_t i = 0; i < n; i++) {
            if (a[i].has_no_value)
                continue;
            const char *from = (char *) m->address + a[i].location.offset;
            uint64_t length = a[i].location.length;
            a[i].location.offset += (i + 1) * by;
            memcpy(to + a[i].location.offset, from, length);
        }
        m->address = to;
        m->size = size;
    }
}

/* Inputs and outputs in one pool, the outputs behind the inputs. */
static void join_pools(const struct repeat *r, struct conform_request *q)
{
    struct hal_memory *in = &q->pool[0].memory, *out = &q->pool[1].memory;
    uint64_t start = (in->size + 63) / 64 * 64;
    char *both = arena_alloc(r->arena, start + out->size, 1);

    conform_must(both, "out of memory");
    memcpy(both, in->address, in->size);
    in->address = both;
    in->size = start + out->size;
    for (uint32_t i = 0; i < q->hal.n_outputs; i++) {
        q->outputs[i].location.pool = 0;
        q->outputs[i].location.offset += start;
    }
    q->hal.n_pools = 1;
}

static void expect_in_files(struct repeat *r)
{
    struct conform_request q;

    conform_request(&r->model->example, r->arena, &q);
    conform_request_use_files(&q);
    expect_same(r, r->prepared, &q, "with pools in files");
    conform_request_close_files(&q);
}

static void expect_read_only(struct repeat *r)
{
    struct conform_request q;

    conform_request(&r->model->example, r->arena, &q);
    q.pool[0].memory.protection = HAL_MEMORY_READ;
    expect_same(r, r->prepared, &q, "with inputs in memory that is only readable");
}

/* Both pools in one sparse file, the outputs' 4 GiB behind the inputs'. */
static void expect_in_one_file(struct repeat *r)
{
    const uint64_t start[2] = { page_size(), (UINT64_C(1) << 32) + page_size() };
    struct conform_request q;
    int fd = memfd_create("pools", MFD_CLOEXEC);

    conform_request(&r->model->example, r->arena, &q);
    conform_must(fd >= 0, "too many open files");
    bool ok = true;
    for (int i = 0; i < 2; i++) {
        struct hal_memory *m = &q.pool[i].memory;
        uint64_t size = (m->size + page_size() - 1) / page_size() * page_size();
        ok = ok && ftruncate(fd, (off_t) (start[i] + size)) == 0 &&
             pwrite(fd, m->address, m->size, (off_t) start[i]) == (ssize_t) m->size;
        q.map[i] = mmap(NULL, m->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t) start[i]);
        *m = (struct hal_memory){ HAL_MEMORY_FD, m->protection, NULL, fd, start[i], m->size };
    }
    if (ok && q.map[0] != MAP_FAILED && q.map[1] != MAP_FAILED)
        expect_same(r, r->prepared, &q, "with both pools in one file, 4 GiB apart");
    for (int i = 0; i < 2; i++)
        if (q.map[i] != MAP_FAILED)
            munmap(q.map[i], q.pool[i].memory.size);
    close(fd);
}

/* A pool that no argument lies in. */
static void add_pool(const struct repeat *r, struct conform_request *q)
{
    q->pool[q->hal.n_pools] = q->pool[0];
    q->pool[q->hal.n_pools].memory.size = 64;
    q->pool[q->hal.n_pools++].memory.address = pages(r->arena, 64);
}

/* The memory that `place` returns for each argument, as a pool of its own, the last argument's
 * first; false: there are too many. */
static bool separate_pools(const struct repeat *r, struct conform_request *q,
                           void *(*place)(struct arena *a, uint64_t length))
{
    const uint32_t n_in = q->hal.n_inputs, n = n_in + q->hal.n_outputs;
    const struct hal_request_pool before[2] = { q->pool[0], q->pool[1] };

    if (n > CONFORM_POOLS)
        return false;
    for (uint32_t i = 0; i < n; i++) {
        bool is_output = i >= n_in;
        struct hal_argument *a = is_output ? &q->outputs[i - n_in] : &q->inputs[i];
        struct hal_memory *m = &q->pool[n - 1 - i].memory;
        uint64_t length =
            is_output ? tensor_bytes(&r->model->example.expected[i - n_in]) : a->location.length;
        const char *from = (const char *) before[is_output].memory.address + a->location.offset;
        *m = before[is_output].memory;
        m->size = length ? length : 1;
        m->address = place(r->arena, m->size);
        if (a->has_no_value)
            continue;
        memcpy(m->address, from, is_output ? 0 : length);
        a->location =
            (struct hal_location){ .pool = n - 1 - i, .length = is_output ? m->size : length };
    }
    q->hal.n_pools = n;
    return true;
}

static void *in_pages(struct arena *a, uint64_t length)
{
    return pages(a, length);
}

/* Memory that ends where a page without access begins; unmap_guarded() unmaps
 * it. */
static void *before_guard(struct arena *a, uint64_t length)
{
    uint64_t page = page_size(), size = (length + page - 1) / page * page;
    char *at = mmap(NULL, size + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    (void) a;
    conform_must(at != MAP_FAILED && mprotect(at + size, page, PROT_NONE) == 0, "out of memory");
    return at + size - length;
}

static void unmap_guarded(void *memory, uint64_t length)
{
    uint64_t page = page_size();
    char *at = memory, *start = at - (uintptr_t) at % page;

    munmap(start, (uint64_t) (at - start) + length + page);
}

static void take_away(const struct conform_request *q)
{
    for (uint32_t i = 0; i < q->hal.n_pools; i++)
        unmap_guarded(q->pool[i].memory.address, q->pool[i].memory.size);
}

static void in_pools(struct repeat *r)
{
    struct conform_request q;

    conform_request(&r->model->example, r->arena, &q);
    add_pool(r, &q);
    expect_same(r, r->prepared, &q, "with a pool that no argument lies in");
    conform_request(&r->model->example, r->arena, &q);
    if (separate_pools(r, &q, in_pages))
        expect_same(r, r->prepared, &q, "with a pool for each argument");
    conform_request(&r->model->example, r->arena, &q);
    if (r->conform->is_remote || !separate_pools(r, &q, before_guard))
        return;
    conform_doing(r->conform, "%s with arguments that end before memory without access",
                  r->model->name);
    expect_same(r, r->prepared, &q, "with arguments that end before memory without access");
    take_away(&q);
}

/* The outputs' memory contains something else before. */
static void in_used_memory(struct repeat *r)
{
    static const uint8_t bytes[] = { 0x00, 0x3f, 0xff };
    struct conform_request q;

    for (int i = 0; i < COUNT(bytes); i++) {
        conform_request(&r->model->example, r->arena, &q);
        memset(q.pool[1].memory.address, bytes[i], q.pool[1].memory.size);
        expect_same(r, r->prepared, &q, "with other contents of the outputs' memory before");
    }
}

/* The first two inputs of the same type and shape; false: there are none. */
static bool find_alike(const struct example *e, uint32_t n, uint32_t *ret_i, uint32_t *ret_k)
{
    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = i + 1; k < n; k++)
            if (e->in[i].data && e->in[k].data && e->in[i].dtype == e->in[k].dtype &&
                e->in[i].shape.rank == e->in[k].shape.rank &&
                tensor_bytes(&e->in[i]) == tensor_bytes(&e->in[k]) && tensor_bytes(&e->in[i]) &&
                e->in[i].scale == e->in[k].scale && e->in[i].zero == e->in[k].zero) {
                *ret_i = i;
                *ret_k = k;
                return true;
            }
    return false;
}

/* Two inputs of the same value at one location, and at two.  The value may be invalid for one of
 * them: then nothing is compared. */
static void with_one_location(struct repeat *r)
{
    struct repeat alike = *r;
    struct conform_request q;
    uint32_t i, k;

    conform_request(&r->model->example, r->arena, &q);
    if (!find_alike(&r->model->example, q.hal.n_inputs, &i, &k))
        return;
    memcpy(conform_request_value(&q, &q.inputs[k]), conform_request_value(&q, &q.inputs[i]),
           q.inputs[i].location.length);
    if (run(r, r->prepared, &q) != HAL_NONE)
        return;
    alike.first = keep_outputs(r, &q);
    conform_request(&r->model->example, r->arena, &q);
    q.inputs[k].location = q.inputs[i].location;
    expect_same(&alike, r->prepared, &q, "with two inputs at one location");
}

static void placed_elsewhere(struct repeat *r)
{
    struct conform_request q;

    in_pools(r);
    in_used_memory(r);
    with_one_location(r);
    for (uint64_t by = 1; by <= 64; by *= 4) {
        conform_request(&r->model->example, r->arena, &q);
        shift_arguments(r, &q, by);
        expect_same(r, r->prepared, &q, "at other offsets");
    }
    conform_request(&r->model->example, r->arena, &q);
    join_pools(r, &q);
    expect_same(r, r->prepared, &q, "with all arguments in one pool");
    expect_in_files(r);
    expect_read_only(r);
    if (r->conform->version >= HAL_FL5) /* before, offsets have 32 bits */
        expect_in_one_file(r);
    if (r->conform->version < HAL_FL5)
        return;
    conform_request(&r->model->example, r->arena, &q);
    for (uint32_t i = 0; i < q.hal.n_inputs; i++)
        q.inputs[i].location.padding = q.inputs[i].has_no_value ? 0 : 16;
    expect_same(r, r->prepared, &q, "with padding behind the inputs");
}

/* ---- preparations */

static void prepared_again(struct repeat *r)
{
    struct hal_prepared_model *p = conform_prepare_supported(r->conform, &r->model->hal);
    struct conform_request q;

    if (!EXPECT(r->conform, p, "%s: prepared once, but not a second time", r->model->name))
        return;
    conform_request(&r->model->example, r->arena, &q);
    expect_same(r, p, &q, "prepared a second time");
    conform_request(&r->model->example, r->arena, &q);
    expect_same(r, r->prepared, &q, "after a second preparation");
    p->methods->release(p);
    conform_request(&r->model->example, r->arena, &q);
    expect_same(r, r->prepared, &q, "after the second preparation was released");
}

/* ---- a model that its client overwrites and frees once it is prepared */

/* What the model consists of, except for dimensions, as a copy of its own.  The values, filled up
 * to a multiple of 16 bytes, end where a page without access begins. */
struct model_copy {
    struct hal_model hal;
    struct hal_operand *operands;
    struct hal_operation *operations;
    uint32_t *inputs, *outputs;
    uint8_t *values;
};

static void copy_model(const struct hal_model *m, struct arena *a, struct model_copy *ret)
{
    const struct hal_subgraph *g = &m->main;

    *ret = (struct model_copy){ *m };
    ret->operands = arena_copy(a, g->operands, g->n_operands * sizeof *g->operands);
    ret->operations = arena_copy(a, g->operations, g->n_operations * sizeof *g->operations);
    ret->inputs = arena_copy(a, g->inputs, g->n_inputs * sizeof *g->inputs);
    ret->outputs = arena_copy(a, g->outputs, g->n_outputs * sizeof *g->outputs);
    ret->hal.operand_values_length = (m->operand_values_length + 15) / 16 * 16;
    if (m->operand_values_length) {
        ret->values = before_guard(a, ret->hal.operand_values_length);
        memcpy(ret->values, m->operand_values, m->operand_values_length);
    }
    ret->hal.main.operands = ret->operands;
    ret->hal.main.operations = ret->operations;
    ret->hal.main.inputs = ret->inputs;
    ret->hal.main.outputs = ret->outputs;
    ret->hal.operand_values = ret->values;
}

static void overwrite_model(struct model_copy *m)
{
    const struct hal_subgraph g = m->hal.main;

    if (m->values)
        unmap_guarded(m->values, m->hal.operand_values_length);
    memset(m->operands, 0xa5, g.n_operands * sizeof *m->operands);
    memset(m->operations, 0xa5, g.n_operations * sizeof *m->operations);
    memset(m->inputs, 0xa5, g.n_inputs * sizeof *m->inputs);
    memset(m->outputs, 0xa5, g.n_outputs * sizeof *m->outputs);
    memset(&m->hal, 0xa5, sizeof m->hal);
}

static void with_model_overwritten(struct repeat *r)
{
    struct model_copy copy;
    struct conform_request q;

    copy_model(&r->model->hal, r->arena, &copy);
    struct hal_prepared_model *p = conform_prepare_supported(r->conform, &copy.hal);
    EXPECT(r->conform,
           !copy.values || memcmp(copy.values, r->model->hal.operand_values,
                                  r->model->hal.operand_values_length) == 0,
           "%s: prepare_model changes constants of its argument", r->model->name);
    overwrite_model(&copy);
    if (!EXPECT(r->conform, p, "%s: prepared once, but not a second time", r->model->name))
        return;
    conform_request(&r->model->example, r->arena, &q);
    expect_same(r, p, &q, "after its client has overwritten the model that it prepared");
    p->methods->release(p);
}

/* ---- operands that nothing reads */

static bool is_constant(const struct hal_operand *o)
{
    return o->lifetime == HAL_CONSTANT_COPY || o->lifetime == HAL_CONSTANT_REFERENCE;
}

/* Every constant twice, with the same location: operations read the second one. */
static void double_constants(const struct conform_model *m, struct arena *a, struct hal_model *ret)
{
    uint32_t n = m->hal.main.n_operands, n_operations = m->hal.main.n_operations;
    struct hal_operand *o = arena_alloc(a, 2 * n + 1, sizeof *o);
    uint32_t *copy = arena_alloc(a, n + 1, sizeof *copy);
    struct hal_operation *operation =
        arena_copy(a, m->hal.main.operations, n_operations * sizeof *operation);

    conform_must(o && copy && operation, "out of memory");
    *ret = m->hal;
    memcpy(o, m->hal.main.operands, n * sizeof *o);
    for (uint32_t i = 0; i < n; i++) {
        copy[i] = i;
        if (!is_constant(&o[i]))
            continue;
        copy[i] = ret->main.n_operands++;
        o[copy[i]] = o[i];
        o[i].n_consumers = 0;
    }
    for (uint32_t i = 0; i < n_operations; i++) {
        uint32_t n_inputs = operation[i].n_inputs;
        uint32_t *in = arena_copy(a, operation[i].inputs, n_inputs * sizeof *in);
        for (uint32_t k = 0; k < n_inputs; k++)
            in[k] = copy[in[k]];
        operation[i].inputs = in;
    }
    ret->main.operands = o;
    ret->main.operations = operation;
}

static void with_unread_operands(struct repeat *r)
{
    struct hal_model doubled;
    struct conform_request q;

    double_constants(r->model, r->arena, &doubled);
    if (doubled.main.n_operands == r->model->hal.main.n_operands)
        return;
    struct hal_prepared_model *p = conform_prepare_supported(r->conform, &doubled);
    if (!EXPECT(r->conform, p, "%s: supported, but not with constants that nothing reads",
                r->model->name))
        return;
    conform_request(&r->model->example, r->arena, &q);
    expect_same(r, p, &q, "with constants that nothing reads");
    p->methods->release(p);
}

#define REPEATS(...)                                                                               \
    &(const struct of_repeats)                                                                     \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static const struct conform_rule rules_of_file[] = {
    { "consistency", "earlier", HAL_1_0, 0,
      "results do not depend on earlier requests, successful, failed or rejected", repeats,
      REPEATS(after_others, 1) },
    { "consistency", "neighbours", HAL_1_0, 0, "results do not depend on concurrent executions",
      repeats, REPEATS(beside_others, 3) },
    { "consistency", "memory", HAL_1_0, 0,
      "results do not depend on offsets, pools, kinds of memory, earlier contents and padding",
      repeats, REPEATS(placed_elsewhere, 1) },
    { "consistency", "prepared-twice", HAL_1_0, 0,
      "several preparations of a model give the same results, and do not affect each other",
      repeats, REPEATS(prepared_again, 1) },
    { "consistency", "changed-inputs", HAL_1_0, 0,
      "a request whose inputs have changed in their place is computed anew", repeats,
      REPEATS(with_changed_inputs, 1) },
    { "consistency", "shapes", HAL_1_2, 0,
      "inputs of unknown shape may have another shape in each execution", with_other_shapes },
    { "consistency", "late-writes", HAL_1_0, 0, "nothing is written after the end of an execution",
      without_late_writes },
    { "consistency", "model-overwritten", HAL_1_0, 0,
      "a prepared model needs nothing of the model that its client passed", repeats,
      REPEATS(with_model_overwritten, 1) },
    { "consistency", "unread", HAL_1_0, 0,
      "constants that no operation reads change neither support nor results", repeats,
      REPEATS(with_unread_operands, 1) },
};
const struct conform_rules conform_rules_repeats = { rules_of_file, COUNT(rules_of_file),
                                                     conform_models_draw, conform_models_free };
