/* Compilation caching, with float32 and quant8 models.  A driver that needs no cache files must
 * ignore them: it prepares and executes models, and restores none.  One that needs them may fail to
 * save a model. */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/conform/conform_models.h"
#include "harness/conform/conform_requests.h"
#include "harness/conform/conform_threads.h"
#include "harness/conform/must.h"
#include "harness/corrupt/cache_events.h"
#include "sim/client/hal_calls.h"
#include "sim/hal/convert.h"

enum { N = 4, SHORT = 6, LONG = 100 };

/* ---- models: a chain of operations, each with a constant; the last constant is in a pool */

struct chain {
    const char *name, *op,
        *opposite; /* opposite: gives a chain of the same size with other results */
    enum dtype type;
    bool swapped; /* the opposite has its two operands exchanged */
};

static const struct chain chains[] = {
    { "ADD of float32", "ADD", "MUL", DT_F32 },
    { "ADD of quant8", "ADD", "MUL", DT_U8 },
    { "CONCATENATION of float32", "CONCATENATION", "CONCATENATION", DT_F32, true },
};

static uint32_t add_constant(struct build *b, const struct chain *k, float scale)
{
    static const double values[N] = { 1, 2, 1, 2 };
    char stored[N * sizeof(float)];

    dtype_info[k->type].codec->narrow(values, N, 0, 1, stored);
    uint32_t c = build_constant(b, k->type, DIMS(N), stored);
    b->graph->operand[c].tensor.scale = scale;
    return c;
}

/* Moves a constant into the pool of the model. */
static void move_to_pool(struct build *b, uint32_t constant)
{
    struct operand *o = &b->graph->operand[constant];
    struct pool pool = { o->tensor.data, o->length };

    o->life = LIFE_CONSTANT_REFERENCE;
    b->model.pool = arena_copy(b->arena, &pool, sizeof pool);
    b->model.n_pools = 1;
}

static void build_chain(struct build *b, const struct chain *k, bool opposite, uint32_t length)
{
    bool grows = strcmp(k->op, "CONCATENATION") == 0;
    float scale = k->type == DT_U8;
    uint32_t x = build_quant(b, LIFE_INPUT, k->type, DIMS(N), scale, 0), c = 0;
    uint32_t extra = build_int(b, 0); /* activation, axis */

    for (uint32_t i = 0; i < length; i++) {
        uint32_t dim = grows ? (i + 2) * N : N;
        c = add_constant(b, k, grows ? scale : scale / 2);
        uint32_t y = build_quant(b, i + 1 < length ? LIFE_TEMPORARY : LIFE_OUTPUT, k->type,
                                 DIMS(dim), scale, 0);
        uint32_t first = opposite && k->swapped ? c : x, second = first == x ? c : x;
        OPERATION(b, opposite ? k->opposite : k->op, IDS(first, second, extra), IDS(y));
        x = y;
    }
    move_to_pool(b, c);
}

struct subject {
    struct conform_model model;
    struct tensor *expected; /* outputs of the model prepared without a cache */
};

static void chain_model(struct conform_model *m, const struct chain *k, bool opposite,
                        uint32_t length)
{
    static const double values[N] = { 0, 1, 2, 3 };
    struct build b;

    build_init(&b, 1);
    build_chain(&b, k, opposite, length);
    model_count_consumers(&b.model);
    struct tensor *in = arena_copy(b.arena, &b.graph->operand[0].tensor, sizeof *in);
    in->data = arena_alloc(b.arena, N, sizeof(float));
    dtype_info[k->type].codec->narrow(values, N, 0, 1, in->data);
    struct example e = { .name = k->name, .model = b.model, .in = in };
    conform_model_init(m, &e, b.arena);
    conform_model_expect(m);
}

/* Computes s->expected on the device, without a cache; false: not supported. */
static bool run_uncached(struct conform *c, struct subject *s)
{
    struct hal_execution_config config = client_config();
    struct conform_request r;

    conform_doing(c, "a chain of %s", s->model.name);
    struct hal_prepared_model *p = conform_prepare_supported(c, &s->model.hal);
    if (!p)
        return false;
    conform_request(&s->model.example, s->model.arena, &r);
    EXPECT_STATUS(c, conform_kinds[0].run(p, c->version, &r, &config), HAL_NONE,
                  "execution without a cache");
    s->expected = arena_copy(s->model.arena, s->model.example.expected, sizeof *s->expected);
    s->expected->data = r.pool[1].memory.address;
    p->methods->release(p);
    return true;
}

static bool open_subject(struct conform *c, struct subject *s, const struct chain *k, bool opposite,
                         uint32_t length)
{
    chain_model(&s->model, k, opposite, length);
    return run_uncached(c, s);
}

/* Executes the prepared model twice, compares its outputs, and releases it. */
static void expect_correct(struct conform *c, const struct subject *s, struct hal_prepared_model *p)
{
    struct hal_execution_config config = client_config();
    struct arena *a = arena_new(0);
    struct conform_request r;

    EXPECT(c, p->n_inputs == 1 && p->n_outputs == 1,
           "%s, saved to or restored from a cache: %u inputs and %u outputs, expected 1 of each",
           s->model.name, p->n_inputs, p->n_outputs);
    for (int run = 0; run < 2; run++) {
        conform_request(&s->model.example, a, &r);
        enum hal_status status = conform_kinds[0].run(p, c->version, &r, &config);
        EXPECT(c, status == HAL_NONE && conform_outputs_are(&r, s->expected),
               "%s, saved to or restored from a cache: its execution returns %s, or other results "
               "than without a cache",
               s->model.name, hal_status_name(status));
    }
    p->methods->release(p);
    arena_free(a);
}

static bool are_open(const int *fd, uint32_t n)
{
    bool open = true;

    for (uint32_t i = 0; i < n; i++)
        open = open && (fd[i] < 0 || fcntl(fd[i], F_GETFD) >= 0);
    return open;
}

static void save(struct conform *c, const struct files *f, const struct subject *s)
{
    struct hal_prepare_config config = files_config(f);
    struct conform_prepared p = conform_prepare(c, c->version, &s->model.hal, &config);

    EXPECT(c, are_open(f->model, f->n_model) && are_open(f->data, f->n_data),
           "%s: prepare_model closes cache files of its caller", s->model.name);
    if (EXPECT(c, p.launched == HAL_NONE && p.model,
               "%s: prepare_model with cache files: %s, expected NONE (it need not save the model)",
               s->model.name, hal_status_name(p.status)))
        expect_correct(c, s, p.model);
}

/* s: NULL: the restored model is not executed. */
static enum hal_status restore(struct conform *c, const struct files *f, const struct subject *s)
{
    struct hal_prepare_config config = files_config(f);
    struct conform_prepared p = conform_prepare(c, c->version, NULL, &config);

    if (p.model && s)
        expect_correct(c, s, p.model);
    else if (p.model)
        p.model->methods->release(p.model);
    return p.status;
}

enum { LATE_US = 300000 };

/* Whether the driver saves the model: one that it saved without a failure is restored, any number
 * of times, as soon as it is prepared. */
static bool saves(struct conform *c, const struct files *like, const struct subject *s)
{
    struct files f;

    files_init(&f, like->n_model, like->n_data);
    save(c, &f, s);
    enum hal_status status = restore(c, &f, s);
    if (status != HAL_NONE)
        usleep(LATE_US);
    enum hal_status again = restore(c, &f, s);
    EXPECT(c, status == again, "%s: prepare_model_from_cache: %s, %s of the same files: %s",
           s->model.name, hal_status_name(status),
           status == HAL_NONE ? "the second time" : "0.3 s later", hal_status_name(again));
    files_done(&f);
    EXPECT(
        c, status == HAL_NONE || status == HAL_GENERAL_FAILURE,
        "%s: prepare_model_from_cache: %s, expected NONE, or GENERAL_FAILURE if the driver could "
        "not save it",
        s->model.name, hal_status_name(status));
    if (status != HAL_NONE)
        conform_not_applicable(c, "the driver does not save %s", s->model.name);
    return status == HAL_NONE;
}

/* ---- damaged and unsuitable files */

struct needed {
    uint32_t n_model, n_data;
};

static struct needed files_needed(struct conform *c)
{
    struct needed n = { 0, 0 };
    enum hal_status s;

    if (conform_cache_files_needed(c, &n.n_model, &n.n_data, &s))
        EXPECT_STATUS(c, s, HAL_NONE, "get_number_of_cache_files_needed");
    return n;
}

/* A device without caching: prepares with any number of files, and restores no model. */
static void expect_no_cache(struct conform *c, const struct subject *s)
{
    struct files f;

    for (uint32_t n = 0; n < 4; n++) {
        files_init(&f, n & 1, n >> 1);
        save(c, &f, s);
        enum hal_status status = restore(c, &f, s);
        EXPECT(c, status == HAL_GENERAL_FAILURE || (n && status == HAL_INVALID_ARGUMENT),
               "%s: prepare_model_from_cache with %u model and %u data files, of a driver that "
               "needs none: %s, expected a failure",
               s->model.name, f.n_model, f.n_data, hal_status_name(status));
        files_done(&f);
    }
}

static bool files_have_contents(struct files *f)
{
    bool all = true;

    for (uint32_t k = 0; k < f->n_model + f->n_data; k++)
        all = all && files_length(*files_any(f, k)) > 0;
    return all;
}

static bool run_event(struct conform *c, const struct needed *n, const struct subject *s,
                      const struct cache_event *e, uint32_t round)
{
    struct files f;
    bool more = false;

    files_init(&f, n->n_model, n->n_data);
    if (e->before_saving)
        more = e->happen(&f, round);
    save(c, &f, s);
    if (e->changes_contents && !files_have_contents(&f)) {
        conform_not_applicable(c, "the driver leaves a cache file empty");
        files_done(&f);
        return false;
    }
    if (!e->before_saving)
        more = e->happen(&f, round);
    bool is_any = e->outcome == CACHE_ANY && n->n_data;
    enum hal_status status = restore(c, &f, is_any ? NULL : s);
    bool fails = status == HAL_INVALID_ARGUMENT || status == HAL_GENERAL_FAILURE;
    EXPECT(c, status == e->status || is_any || (e->outcome == CACHE_FAILURE && fails),
           "%s: prepare_model_from_cache after %s (%u): %s, expected %s", s->model.name, e->what,
           round, hal_status_name(status),
           e->outcome == CACHE_FAILURE ? "INVALID_ARGUMENT or GENERAL_FAILURE"
                                       : hal_status_name(e->status));
    files_done(&f);
    return more;
}

static void run_events(struct conform *c, const struct subject *s, const char *rule)
{
    struct needed n = files_needed(c);

    if (!n.n_model && !n.n_data) {
        expect_no_cache(c, s);
        return;
    }
    const struct files like = { .n_model = n.n_model, .n_data = n.n_data };
    bool is_saved = saves(c, &like, s);
    for (int i = 0; i < cache_n_events && is_saved; i++)
        if (strcmp(cache_events[i].rule, rule) == 0)
            for (uint32_t round = 0; run_event(c, &n, s, &cache_events[i], round);)
                round++;
}

/* A driver without caching may lack the methods. */
static bool has_cache_methods(struct conform *c)
{
    bool has = c->driver->get_number_of_cache_files_needed && c->driver->prepare_model_from_cache;

    if (!has)
        conform_not_applicable(c, "the driver has no compilation cache");
    return has;
}

/* With every chain that the driver supports. */
static void check_events(struct conform *c, const void *rule)
{
    struct subject s;

    if (!has_cache_methods(c))
        return;
    for (int k = 0; k < COUNT(chains); k++) {
        if (open_subject(c, &s, &chains[k], false, SHORT))
            run_events(c, &s, rule);
        conform_model_done(&s.model);
    }
}

/* Saves and restores through the entry points of all versions that have caching. */
static void run_entries(struct conform *c, const struct subject *s)
{
    struct needed n = files_needed(c);
    struct files f;

    files_init(&f, n.n_model, n.n_data);
    bool is_saved = !n.n_model + !n.n_data == 2 || saves(c, &f, s);
    for (int v = 0; v < HAL_VERSIONS && is_saved; v++) {
        struct hal_prepare_config config = files_config(&f);
        if (hal_versions[v] < HAL_1_2 || !conform_has_entry(c, hal_versions[v]))
            continue;
        struct conform_prepared saved = conform_prepare(c, hal_versions[v], &s->model.hal, &config);
        if (EXPECT(c, saved.model, "%s: prepare_model of HAL %s with cache files: %s",
                   s->model.name, hal_version_names[v], hal_status_name(saved.status)))
            expect_correct(c, s, saved.model);
        struct conform_prepared p = conform_prepare(c, hal_versions[v], NULL, &config);
        EXPECT(c, p.status == (n.n_model + n.n_data ? HAL_NONE : HAL_GENERAL_FAILURE),
               "%s: prepare_model_from_cache of HAL %s: %s, expected %s", s->model.name,
               hal_version_names[v], hal_status_name(p.status),
               n.n_model + n.n_data ? "NONE" : "GENERAL_FAILURE");
        if (p.model)
            expect_correct(c, s, p.model);
    }
    files_done(&f);
}

/* ---- another thread overwrites the model cache files during saving or restoring with those of a
 * long chain of other operations: during saving the whole files and then their second halves,
 * during restoring these and the saved files in turns, so that the driver may read parts of both */

/* The suite's number, on its own model: the first chain, in process.  The other chains and the
 * socket use the same code to read files; there the suite's number would take most of the time of
 * all rules. */
enum { RACES = 100, FEWER_RACES = 12 };

struct race {
    const struct files *other, *saved, *to; /* saved: NULL during saving */
    atomic_bool stop;
};

static void copy_models(const struct files *from, const struct files *to, bool second_half)
{
    char bytes[1 << 14];

    for (uint32_t k = 0; k < to->n_model; k++) {
        ssize_t n = pread(from->model[k], bytes, sizeof bytes, 0), first = second_half ? n / 2 : 0;
        (void) !pwrite(to->model[k], bytes + first, n > 0 ? (size_t) (n - first) : 0, first);
    }
}

static void *overwrite(void *argument)
{
    struct race *r = argument;

    for (int round = 0; !atomic_load(&r->stop); round ^= 1)
        copy_models(round && r->saved ? r->saved : r->other, r->to, round && !r->saved);
    return NULL;
}

/* A model that is restored in spite of the race must compute the results of the saved one. */
static void run_race(struct conform *c, const struct files *g, const struct subject *s,
                     bool while_saving)
{
    struct files f, saved;
    pthread_t thread;

    files_init(&f, g->n_model, g->n_data);
    files_init(&saved, g->n_model, g->n_data);
    f.token[0] ^= 1;
    struct race r = { g, while_saving ? NULL : &saved, &f, false };
    if (!while_saving) {
        save(c, &f, s);
        copy_models(&f, &saved, false);
    }
    MUST(pthread_create(&thread, NULL, overwrite, &r) == 0);
    enum hal_status status = HAL_NONE;
    if (while_saving)
        save(c, &f, s);
    else
        status = restore(c, &f, s);
    atomic_store(&r.stop, true);
    pthread_join(thread, NULL);
    if (while_saving)
        status = restore(c, &f, s);
    EXPECT(c, status == HAL_NONE || status == HAL_GENERAL_FAILURE,
           "%s: prepare_model_from_cache, files overwritten meanwhile: %s, expected NONE or "
           "GENERAL_FAILURE",
           s->model.name, hal_status_name(status));
    files_done(&saved);
    files_done(&f);
}

static void race(struct conform *c, const struct chain *k, bool while_saving)
{
    const int times = k == chains && !c->is_remote ? RACES : FEWER_RACES;
    struct needed n = files_needed(c);
    struct subject s, other;
    struct files g;
    bool ok = open_subject(c, &s, k, false, LONG);

    if (open_subject(c, &other, k, true, LONG) && ok && n.n_model) {
        files_init(&g, n.n_model, n.n_data);
        save(c, &g, &other);
        for (int round = 0; round < times; round++)
            run_race(c, &g, &s, while_saving);
        files_done(&g);
    } else if (ok && !n.n_model)
        expect_no_cache(c, &s);
    conform_model_done(&s.model);
    conform_model_done(&other.model);
}

static void races(struct conform *c, const void *rule)
{
    for (int k = 0; k < COUNT(chains) && has_cache_methods(c); k++)
        race(c, &chains[k], strcmp(rule, "C9") == 0);
}

/* ---- the files of another model */

static void replace(struct conform *c, const struct chain *k)
{
    struct needed n = files_needed(c);
    struct subject s, other;
    struct files f, g;
    bool ok = open_subject(c, &s, k, false, SHORT);

    files_init(&f, n.n_model, n.n_data);
    files_init(&g, n.n_model, n.n_data);
    g.token[5] ^= 1;
    if (open_subject(c, &other, k, true, SHORT) && ok && n.n_model && saves(c, &f, &s) &&
        saves(c, &g, &other)) {
        save(c, &f, &s);
        save(c, &g, &other);
        for (uint32_t i = 0; i < n.n_model; i++)
            files_copy(g.model[i], f.model[i]);
        EXPECT_STATUS(c, restore(c, &f, &s), HAL_GENERAL_FAILURE, "the files of another model");
        EXPECT_STATUS(c, restore(c, &g, &other), HAL_NONE, "the other model's own files");
    }
    files_done(&f);
    files_done(&g);
    conform_model_done(&s.model);
    conform_model_done(&other.model);
}

static void replaced(struct conform *c, const void *rule)
{
    for (int k = 0; k < COUNT(chains) && has_cache_methods(c); k++)
        replace(c, &chains[k]);
    check_events(c, rule);
}

/* ---- files that no model was saved to, under the token of a model that was saved */

enum { JUNK = 4096 };

static void write_each(const struct files *f, int byte, const struct files *like)
{
    char bytes[JUNK];

    memset(bytes, byte, sizeof bytes);
    for (uint32_t k = 0; k < f->n_model + f->n_data; k++) {
        int fd = k < f->n_model ? f->model[k] : f->data[k - f->n_model];
        off_t length = files_length(k < f->n_model ? like->model[k] : like->data[k - f->n_model]);
        size_t n = length > 0 && length < JUNK ? (size_t) length : JUNK;
        MUST(pwrite(fd, bytes, n, 0) == (ssize_t) n);
    }
}

/* Checked also if the driver does not save the model: then no token restores it. */
static void expect_unsaved(struct conform *c, const struct subject *s)
{
    static const struct contents {
        const char *what;
        int byte; /* -1: none */
    } contents[] = { { "empty files", -1 }, { "files of zeros", 0 }, { "files of junk", 0xa5 } };
    struct needed n = files_needed(c);
    struct files saved, f;

    if (n.n_model + n.n_data == 0) {
        expect_no_cache(c, s);
        return;
    }
    files_init(&saved, n.n_model, n.n_data);
    save(c, &saved, s);
    for (int i = 0; i < 2 * COUNT(contents); i++) {
        files_init(&f, n.n_model, n.n_data);
        if (i < COUNT(contents))
            memcpy(f.token, saved.token, sizeof f.token);
        else
            memset(f.token, 0, sizeof f.token);
        if (contents[i % COUNT(contents)].byte >= 0)
            write_each(&f, contents[i % COUNT(contents)].byte, &saved);
        enum hal_status status = restore(c, &f, s);
        EXPECT(c, status == HAL_GENERAL_FAILURE,
               "%s: prepare_model_from_cache with %s, under %s token: %s, expected GENERAL_FAILURE",
               s->model.name, contents[i % COUNT(contents)].what,
               i < COUNT(contents) ? "a saved model's" : "the zero", hal_status_name(status));
        files_done(&f);
    }
    files_done(&saved);
}

/* ---- several models that are saved before the first is restored */

enum { SEVERAL = 2 * COUNT(chains) };

/* Restores at the same time, each thread the same model; it may be short of resources. */
enum { RESTORING = 4, RESTORES = 6 };

struct restoring {
    const struct files *files;
    struct client_prepare_wait wait[RESTORING];
};

static void restore_beside(struct conform *c, unsigned index, void *user)
{
    struct restoring *r = user;
    struct client_prepare_wait *wait = &r->wait[index];
    const struct hal_prepare_config config = files_config(r->files);
    struct conform_retry retry = { 0 };

    for (unsigned i = 1; i <= RESTORES;) {
        unsigned calls = wait->calls + 1;
        c->driver->prepare_model_from_cache(c->driver, c->version, &config, &wait->base);
        client_prepare_await(wait, calls, 0);
        bool again = c->version >= HAL_1_3 && conform_try_again(&retry, wait->status, c->version);
        if (again)
            continue;
        EXPECT(c, wait->status == HAL_NONE && wait->prepared,
               "prepare_model_from_cache on several threads: %s", hal_status_name(wait->status));
        if (wait->prepared)
            wait->prepared->methods->release(wait->prepared);
        i++;
    }
}

static void restore_at_once(struct conform *c, const struct files *f)
{
    static struct restoring r; /* the driver may call its callbacks late */

    r.files = f;
    for (int i = 0; i < RESTORING; i++)
        client_prepare_wait_init(&r.wait[i]);
    conform_in_threads(c, RESTORING, restore_beside, &r);
}

static void several(struct conform *c, const void *data)
{
    static const int order[] = { 2, 0, 1, 2, 5, 3, 4, 0 };
    struct needed n = files_needed(c);
    struct subject s[SEVERAL];
    struct files f[SEVERAL];
    bool saved[SEVERAL];

    (void) data;
    if (!has_cache_methods(c))
        return;
    conform_not_applicable(c, "the driver needs no cache files");
    for (int i = 0; i < SEVERAL; i++) {
        files_init(&f[i], n.n_model, n.n_data);
        f[i].token[HAL_TOKEN_BYTES - 1] ^= (uint8_t) i;
        saved[i] = open_subject(c, &s[i], &chains[i / 2], i % 2, SHORT) && n.n_model + n.n_data &&
                   saves(c, &f[i], &s[i]);
    }
    for (int i = 0; i < SEVERAL; i++)
        if (saved[i])
            save(c, &f[i], &s[i]);
    for (int i = 0; i < COUNT(order); i++)
        if (saved[order[i]])
            EXPECT_STATUS(c, restore(c, &f[order[i]], &s[order[i]]), HAL_NONE,
                          "prepare_model_from_cache of one of several saved models");
    if (saved[0])
        restore_at_once(c, &f[0]);
    for (int i = 0; i < SEVERAL; i++) {
        files_done(&f[i]);
        conform_model_done(&s[i].model);
    }
}

/* ---- arguments that the HAL's prepareModelFromCache does not have */

static void expect_ignored(struct conform *c, const struct subject *s)
{
    struct needed n = files_needed(c);
    struct files f;

    if (n.n_model + n.n_data == 0) {
        expect_no_cache(c, s);
        return;
    }
    files_init(&f, n.n_model, n.n_data);
    if (saves(c, &f, s)) {
        save(c, &f, s);
        for (int k = 0; k < 4; k++) {
            struct hal_prepare_config config = files_config(&f);
            config.preference = (enum hal_preference)(k == 3 ? 99 : k);
            config.priority = (enum hal_priority)(k == 3 ? 99 : k);
            struct conform_prepared p = conform_prepare(c, c->version, NULL, &config);
            EXPECT(c, p.status == HAL_NONE,
                   "%s: prepare_model_from_cache with preference and priority %d: %s, expected "
                   "NONE: the model keeps its own",
                   s->model.name, (int) config.preference, hal_status_name(p.status));
            if (p.model)
                expect_correct(c, s, p.model);
        }
    }
    files_done(&f);
}

struct of_chains {
    void (*check)(struct conform *c, const struct subject *s);
};

static void each_chain(struct conform *c, const void *data)
{
    struct subject s;

    for (int k = 0; k < COUNT(chains) && has_cache_methods(c); k++) {
        if (open_subject(c, &s, &chains[k], false, SHORT))
            ((const struct of_chains *) data)->check(c, &s);
        conform_model_done(&s.model);
    }
}

#define CHAINS(check)                                                                              \
    &(const struct of_chains)                                                                      \
    {                                                                                              \
        check                                                                                      \
    }

static const struct conform_rule rules_of_file[] = {
    { "cache", "C1", HAL_1_2, 0, "a saved model is restored and computes the same", check_events,
      "C1" },
    { "cache", "C2", HAL_1_2, 0, "the same with files at an offset, over earlier contents",
      check_events, "C2" },
    { "cache", "C3", HAL_1_2, 0,
      "saving with a wrong number of files: the model prepares; no model from these files",
      check_events, "C3" },
    { "cache", "C4", HAL_1_2, 0, "restoring with a wrong number of files: no model", check_events,
      "C4" },
    { "cache", "C5", HAL_1_2, 0,
      "saving without a file, or to a pipe: the model prepares; no model from these files",
      check_events, "C5" },
    { "cache", "C6", HAL_1_2, 0, "restoring without a file, or from a pipe: no model", check_events,
      "C6" },
    { "cache", "C7", HAL_1_2, 0,
      "files open for reading only: saving prepares the model, restoring gives none", check_events,
      "C7" },
    { "cache", "C8", HAL_1_2, 0,
      "files open for writing only: saving prepares the model, restoring gives none", check_events,
      "C8" },
    { "cache", "C9", HAL_1_2, 0,
      "files overwritten during saving: the saved model or no model is restored", races, "C9" },
    { "cache", "C10", HAL_1_2, 0,
      "files overwritten during restoring: the saved model or no model is restored", races, "C10" },
    { "cache", "C11", HAL_1_2, 0,
      "model cache files of another model, or in another order: no model", replaced, "C11" },
    { "cache", "S1", HAL_1_2, 0, "a flipped bit in a model cache file: no model", check_events,
      "S1" },
    { "cache", "S2", HAL_1_2, 0, "bytes appended to a model cache file: no model", check_events,
      "S2" },
    { "cache", "shorter", HAL_1_2, 0, "a model cache file that is cut or zeroed: no model",
      check_events, "shorter" },
    { "cache", "S3", HAL_1_2, 0, "a flipped bit in a data cache file: no model", check_events,
      "S3" },
    { "cache", "S4", HAL_1_2, 0, "bytes appended to a data cache file: no model", check_events,
      "S4" },
    { "cache", "S5", HAL_1_2, 0, "another token: no model", check_events, "S5" },
    { "cache", "entries", HAL_1_2, 0,
      "saving and restoring work through the entry points of all versions since HAL 1.2",
      each_chain, CHAINS(run_entries) },
    { "cache", "unsaved", HAL_1_2, 0,
      "files that no model was saved to: no model, whatever the token", each_chain,
      CHAINS(expect_unsaved) },
    { "cache", "several", HAL_1_2, 0,
      "of several saved models, each computes its own results; several threads restore one",
      several },
    { "cache", "ignored", HAL_1_2, 0,
      "restoring ignores preference and priority: the model keeps those it was saved with",
      each_chain, CHAINS(expect_ignored) },
};
const struct conform_rules conform_rules_cache = { rules_of_file, COUNT(rules_of_file), NULL,
                                                   NULL };
