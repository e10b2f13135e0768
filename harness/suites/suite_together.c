/* Several of the same at once: queries, buffers, executions that are never refused, models of one
 * priority. */
#include <stdlib.h>
#include <string.h>

#include "harness/conform/conform_graphs.h"
#include "harness/conform/conform_judge.h"
#include "harness/conform/conform_requests.h"
#include "harness/conform/conform_threads.h"

/* ---- queries of supported operations: valid, unsupported and invalid models */

enum { ASKING = 4, QUESTIONS = 24, TURNS = 12, MOST_OPERATIONS = 64 };

struct question {
    struct hal_model model;
    const char *name;
    enum hal_status status; /* the answer to the only one who asks */
    uint32_t n;
    bool supported[MOST_OPERATIONS];
};

static void ask(struct conform *c, struct hal_driver *d, struct question *q)
{
    memset(q->supported, 0, sizeof q->supported);
    q->n = 0;
    q->status = d->get_supported_operations(d, c->version, &q->model, q->supported, &q->n);
}

struct questions {
    struct question q[2 * QUESTIONS];
    unsigned n;
};

/* The first operation becomes one that no driver has: of an unknown extension, or before them an
 * OEM operation. */
static void make_unsupported(struct conform *c, struct hal_model *m, struct arena *a)
{
    static const struct hal_extension_prefix prefix = { "org.example.conform.unknown", 0x123 };
    struct hal_operation *o =
        arena_copy(a, m->main.operations, m->main.n_operations * sizeof *m->main.operations);

    m->main.operations = o;
    o[0].type = HAL_OP_OEM_OPERATION;
    if (c->version < HAL_1_2 || m->n_extension_prefixes)
        return;
    o[0].type = prefix.prefix << 16 | 1;
    m->extension_name_to_prefix = &prefix;
    m->n_extension_prefixes = 1;
}

/* Every other one of them with an operation that no driver has. */
static void choose_questions(struct conform *c, struct questions *ret, struct arena *a)
{
    const int step = conform_n_built_in / QUESTIONS + 1;

    ret->n = 0;
    for (int i = 0; i < conform_n_built_in; i += step)
        for (int k = 0; k < 2; k++) {
            const struct conform_model *m = &conform_models[i];
            struct question *q = &ret->q[ret->n];
            if (!conform_model_is_of(m, c) || m->hal.main.n_operations > MOST_OPERATIONS)
                continue;
            *q = (struct question){ .model = m->hal, .name = m->name };
            if (k)
                make_unsupported(c, &q->model, a);
            ask(c, c->driver, q);
            ret->n++;
        }
}

static void ask_in_turn(struct conform *c, unsigned index, void *user)
{
    const struct questions *all = user;

    for (unsigned k = 0; k < TURNS * all->n; k++) {
        const struct question *first = &all->q[(k * (2 * index + 1) + index) % all->n];
        struct question now = { .model = first->model };
        ask(c, c->driver, &now);
        EXPECT(c,
               now.status == first->status && now.n == first->n &&
                   memcmp(now.supported, first->supported, sizeof now.supported) == 0,
               "%s: get_supported_operations beside queries of other models: %s, or other answers; "
               "alone: %s",
               first->name, hal_status_name(now.status), hal_status_name(first->status));
    }
}

static void questions(struct conform *c, const void *data)
{
    struct arena *a = arena_new(0);
    struct questions *all = calloc(1, sizeof *all);

    (void) data;
    conform_must(all, "out of memory");
    choose_questions(c, all, a);
    if (all->n)
        conform_in_threads(c, ASKING, ask_in_turn, all);
    else
        conform_not_applicable(c, "no model of this version is built in");
    free(all);
    arena_free(a);
}

/* ---- executions of all models: the same one, and others, on several threads */

enum { EXECUTING = 4, AT_ONCE = 6 };

struct models_at_once {
    const struct conform_model *model[AT_ONCE];
    struct hal_prepared_model *prepared[AT_ONCE];
    const struct conform_kind *kind;
    struct tensor *first[AT_ONCE]; /* the outputs of an execution alone */
    struct conform_request request[EXECUTING][AT_ONCE];
    int n;
};

static void execute_beside(struct conform *c, const struct models_at_once *m,
                           struct conform_request *r, int i)
{
    const struct hal_execution_config config = client_config();

    memset(r->pool[1].memory.address, 0x55, r->pool[1].memory.size);
    enum hal_status s = conform_run_beside(m->kind, m->prepared[i], c->version, r, &config);
    EXPECT(c, s == HAL_NONE && conform_judge_beside(c, m->model[i], r, m->first[i]),
           "%s beside executions of this and other models: %s, or other results than alone",
           m->model[i]->name, hal_status_name(s));
}

/* Each model several times on all threads, then every thread another one. */
static void execute_all(struct conform *c, unsigned index, void *user)
{
    enum { OF_ONE = 10 };
    struct models_at_once *m = user;

    for (int k = 0; k < OF_ONE * m->n; k++)
        execute_beside(c, m, &m->request[index][k / OF_ONE], k / OF_ONE);
    for (int k = 0; k < m->n; k++) {
        const int i = (k + (int) index) % m->n;
        execute_beside(c, m, &m->request[index][i], i);
    }
}

/* Adds the model, unless it cannot be executed or its results change by themselves. */
static void add_model(struct conform *c, struct models_at_once *m,
                      const struct conform_model *model, struct arena *a)
{
    const struct hal_execution_config config = client_config();
    const uint32_t n_outputs = model->hal.main.n_outputs;
    const int i = m->n;
    struct hal_prepared_model *p = conform_prepare_supported(c, &model->hal);

    if (!p)
        return;
    for (unsigned t = 0; t < EXECUTING; t++)
        conform_request(&model->example, a, &m->request[t][i]);
    struct conform_request *r = &m->request[0][i];
    if (m->kind->run(p, c->version, r, &config) != HAL_NONE) {
        p->methods->release(p);
        return;
    }
    m->first[i] = arena_copy(a, model->example.expected, n_outputs * sizeof *m->first[i]);
    for (uint32_t k = 0; k < n_outputs; k++)
        m->first[i][k].data = arena_copy(a, conform_request_value(r, &r->outputs[k]),
                                         tensor_bytes(&model->example.expected[k]));
    m->model[i] = model;
    m->prepared[i] = p;
    m->n++;
}

static void models_at_once(struct conform *c, const void *data)
{
    struct models_at_once m = { .kind = &conform_kinds[c->version < HAL_1_2] };
    struct arena *a = arena_new(0);

    (void) data;
    for (int i = 0; i < conform_n_built_in; i++) {
        const struct conform_model *model = &conform_models[i];
        if (conform_is_mine(c, (uint32_t) i / AT_ONCE) && conform_model_is_of(model, c) &&
            conform_request_is_specified(&model->example) &&
            (!c->is_remote || i / AT_ONCE % 8 == 0))
            add_model(c, &m, model, a);
        if (m.n < AT_ONCE && i + 1 < conform_n_built_in)
            continue;
        if (m.n)
            conform_in_threads(c, EXECUTING, execute_all, &m);
        while (m.n > 0) {
            m.n--;
            m.prepared[m.n]->methods->release(m.prepared[m.n]);
        }
        arena_free(a);
        a = arena_new(0);
    }
    arena_free(a);
}

/* ---- two executions at once: both must succeed */

enum { PAIR = 2, PAIR_RUNS = 60 };

struct pair {
    struct conform_subject subject[PAIR];
    const struct conform_kind *kind[PAIR];
};

static void run_one_of_two(struct conform *c, unsigned index, void *user)
{
    struct pair *p = user;
    struct conform_subject *s = &p->subject[index];
    const struct hal_execution_config config = client_config();

    for (int run = 0; run < PAIR_RUNS; run++) {
        conform_subject_reset(s);
        enum hal_status status =
            p->kind[index]->run(p->subject[0].prepared, c->version, &s->request, &config);
        EXPECT(c, status == HAL_NONE && conform_subject_is_correct(s),
               "%s execution beside one other, %s: %s, or wrong results", p->kind[index]->name,
               p->kind[!index]->name, hal_status_name(status));
    }
}

static void pairs(struct conform *c, const void *data)
{
    struct pair p;

    (void) data;
    conform_subject_open(c, conform_sum(c), &p.subject[0]);
    conform_subject_open(c, conform_sum(c), &p.subject[1]);
    for (int i = 0; p.subject[0].prepared && i < conform_n_kinds; i++)
        for (int k = i; k < conform_n_kinds; k++) {
            p.kind[0] = &conform_kinds[i];
            p.kind[1] = &conform_kinds[k];
            if (conform_can_run(c, p.subject[0].prepared, p.kind[0], c->version) &&
                conform_can_run(c, p.subject[0].prepared, p.kind[1], c->version))
                conform_in_threads(c, PAIR, run_one_of_two, &p);
        }
    for (int i = 0; i < PAIR; i++)
        conform_subject_close(&p.subject[i]);
}

/* ---- buffers: allocated, filled, used and released by several threads */

enum { ALLOCATING = 4, ALLOCATIONS = 20 };

struct allocating {
    struct conform_graph_subject *subject;
    pthread_mutex_t lock;
    uint32_t token[ALLOCATING]; /* of the buffer that the thread has; 0: none */
};

/* Whether no other thread has a buffer with that token. */
static bool take_token(struct allocating *a, unsigned index, uint32_t token)
{
    bool is_other = true;

    pthread_mutex_lock(&a->lock);
    for (unsigned i = 0; i < ALLOCATING; i++)
        is_other = is_other && (i == index || !token || a->token[i] != token);
    a->token[index] = token;
    pthread_mutex_unlock(&a->lock);
    return is_other;
}

static void allocate_and_release(struct conform *c, unsigned index, void *user)
{
    struct allocating *a = user;
    const struct tensor *t = &a->subject->model.example.in[0];
    const size_t n = tensor_bytes(t);
    const uint32_t rw = HAL_MEMORY_READ | HAL_MEMORY_WRITE;
    uint8_t *bytes = malloc(2 * n);

    conform_must(bytes, "out of memory");
    for (int run = 0; run < ALLOCATIONS; run++) {
        struct hal_memory from = { HAL_MEMORY_ADDRESS, rw, bytes, -1, 0, n }, to = from;
        enum hal_status status;
        uint32_t token;

        to.address = bytes + n;
        struct hal_buffer *b =
            conform_allocate(c, &conform_one_input, &a->subject->prepared, 1, &token, &status);
        if (!b)
            continue; /* refused: reported by the rule's first allocation, else for lack of memory
                       */
        EXPECT(c, take_token(a, index, token), "two buffers that exist have token %u", token);
        memset(bytes, (int) (index * 16) + run, n);
        EXPECT_STATUS(c, b->methods->copy_from(b, &from, t->shape.rank, t->shape.dim), HAL_NONE,
                      "copy_from beside other threads");
        EXPECT_STATUS(c, b->methods->copy_to(b, &to), HAL_NONE, "copy_to beside other threads");
        EXPECT(c, memcmp(bytes, bytes + n, n) == 0,
               "a buffer has other contents than its thread has copied %s", "to it");
        take_token(a, index, 0);
        b->methods->release(b);
    }
    free(bytes);
}

static void buffers_of_threads(struct conform_graph_subject *s)
{
    struct allocating a = { .subject = s, .lock = PTHREAD_MUTEX_INITIALIZER };
    uint32_t token;
    struct hal_buffer *b = conform_must_allocate(s, &conform_one_input, &token);

    if (!b)
        return;
    b->methods->release(b);
    conform_in_threads(s->conform, ALLOCATING, allocate_and_release, &a);
}

static void allocating(struct conform *c, const void *data)
{
    (void) data;
    conform_each_graph(c, false, buffers_of_threads);
}

/* ---- several models of each priority */

enum { PRIORITIES = 3, OF_EACH = 3 };

static void several_of_each(struct conform *c, const void *data)
{
    struct hal_prepare_config config = client_default_preparation;
    const struct hal_execution_config run = client_config();
    struct hal_prepared_model *model[PRIORITIES * OF_EACH] = { NULL };
    struct conform_subject s;

    (void) data;
    conform_subject_open(c, conform_sum(c), &s);
    for (int i = 0; s.prepared && i < COUNT(model); i++) {
        config.priority = (enum hal_priority)(HAL_PRIORITY_LOW + i % PRIORITIES);
        struct conform_prepared p = conform_prepare(c, c->version, &s.model.hal, &config);
        EXPECT(c, p.model, "prepare_model with priority %d, beside %d others of that priority: %s",
               (int) config.priority, i / PRIORITIES, hal_status_name(p.status));
        model[i] = p.model;
    }
    for (int i = 0; i < COUNT(model) * conform_n_kinds; i++) {
        const struct conform_kind *kind = &conform_kinds[i / COUNT(model)];
        struct hal_prepared_model *p = model[i % COUNT(model)];
        if (!p || !conform_can_run(c, p, kind, c->version))
            continue;
        conform_subject_reset(&s);
        enum hal_status status = kind->run(p, c->version, &s.request, &run);
        EXPECT(c, status == HAL_NONE && conform_subject_is_correct(&s),
               "%s execution, priority %d: %s, or wrong results", kind->name, i % PRIORITIES,
               hal_status_name(status));
    }
    for (int i = 0; i < COUNT(model); i++)
        if (model[i])
            model[i]->methods->release(model[i]);
    conform_subject_close(&s);
}

static const struct conform_rule rules_of_file[] = {
    { "concurrency", "questions", HAL_1_0, 0,
      "the supported operations of a model do not depend on what other threads ask about",
      questions },
    { "concurrency", "models", HAL_1_0, 0,
      "results of every model do not depend on executions of this and other models", models_at_once,
      NULL, true },
    { "concurrency", "pairs", HAL_1_0, 0,
      "two executions of one model at once succeed, in each pair of kinds", pairs },
    { "concurrency", "allocating", HAL_1_3, 0,
      "buffers of several threads: each has its own token and contents", allocating },
    { "priority", "several", HAL_1_3, 0, "several models of each priority exist and execute",
      several_of_each },
};
const struct conform_rules conform_rules_together = { rules_of_file, COUNT(rules_of_file),
                                                      conform_models_draw, conform_models_free };
