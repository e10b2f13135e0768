/* Results of the same model on the same inputs: the same bits whatever was executed before or is
 * executed meanwhile, wherever the memory lies, whichever preparation and driver computes them, and
 * whichever operands the model has that nothing reads. */
#include <string.h>

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

static struct tensor *keep_outputs(const struct repeat *r, const struct conform_request *request)
{
    uint32_t n = r->model->hal.main.n_outputs;
    struct tensor *t = arena_copy(r->arena, r->model->example.expected, n * sizeof *t);

    conform_must(t, "out of memory");
    for (uint32_t i = 0; i < n; i++)
        t[i].data = arena_copy(r->arena, conform_request_value(request, &request->outputs[i]),
                               tensor_bytes(&t[i]));
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

/* ---- neighbours */

struct neighbour {
    const struct repeat *repeat;
    struct conform_request request[NEIGHBOURS * NEIGHBOUR_RUNS];
};

static void run_beside(struct conform *c, unsigned index, void *user)
{
    struct neighbour *n = user;

    (void) c;
    for (unsigned i = 0; i < NEIGHBOUR_RUNS; i++)
        expect_same(n->repeat, n->repeat->prepared, &n->request[index * NEIGHBOUR_RUNS + i],
                    "beside other executions");
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

/* Every argument is moved by so many bytes, to an address that no element type needs. */
static void shift_arguments(const struct repeat *r, struct conform_request *q, uint64_t by)
{
    for (int pool = 0; pool < 2; pool++) {
        struct hal_memory *m = &q->pool[pool].memory;
        uint32_t n = pool ? q->hal.n_outputs : q->hal.n_inputs;
        struct hal_argument *a = pool ? q->outputs : q->inputs;
        uint64_t size = m->size + (n + 1) * by + 64;
        char *to = arena_alloc(r->arena, size, 1);
        conform_must(to, "out of memory");
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

static void placed_elsewhere(struct repeat *r)
{
    struct conform_request q;

    for (uint64_t by = 1; by <= 64; by *= 4) {
        conform_request(&r->model->example, r->arena, &q);
        shift_arguments(r, &q, by);
        expect_same(r, r->prepared, &q, "at other offsets");
    }
    conform_request(&r->model->example, r->arena, &q);
    join_pools(r, &q);
    expect_same(r, r->prepared, &q, "with all arguments in one pool");
    expect_in_files(r);
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
      "results do not depend on offsets, pools, kinds of memory and padding of a request", repeats,
      REPEATS(placed_elsewhere, 1) },
    { "consistency", "prepared-twice", HAL_1_0, 0,
      "several preparations of a model give the same results, and do not affect each other",
      repeats, REPEATS(prepared_again, 1) },
    { "consistency", "unread", HAL_1_0, 0,
      "constants that no operation reads change neither support nor results", repeats,
      REPEATS(with_unread_operands, 1) },
};
const struct conform_rules conform_rules_repeats = { rules_of_file, COUNT(rules_of_file),
                                                     conform_models_draw, conform_models_free };
