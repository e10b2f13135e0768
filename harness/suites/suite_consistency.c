/* Answers of a driver: the same whenever and from whichever thread it is asked, and true: what it
 * claims to support prepares and runs. */
#include <stdlib.h>
#include <string.h>

#include "harness/conform/conform_answers.h"
#include "harness/conform/conform_requests.h"
#include "harness/conform/conform_threads.h"

enum { THREADS = 2, TURNS = 8 };

/* ---- queries */

static void expect_answers(struct conform *c, struct hal_driver *d,
                           const struct conform_answers *first, const char *when)
{
    char text[CONFORM_TEXT];

    EXPECT(c, conform_answers_agree(d, c->version, first, text), "%s: %s", when, text);
}

/* The rows of every version stay as they are while the driver exists. */
static void expect_kept(struct conform *c)
{
    struct hal_capabilities caps[HAL_VERSIONS];
    struct buffer first[HAL_VERSIONS];

    memset(caps, 0, sizeof caps);
    memset(first, 0, sizeof first);
    for (int i = conform_first(c, 0); i < HAL_VERSIONS && conform_has_entry(c, hal_versions[i]);
         i++)
        if (c->driver->get_capabilities(c->driver, hal_versions[i], &caps[i]) == HAL_NONE)
            conform_put_performance(&caps[i], &first[i]);
    for (int i = 0; i < HAL_VERSIONS; i++) {
        struct buffer now = { 0 };
        if (caps[i].n_operands) {
            conform_put_performance(&caps[i], &now);
            EXPECT(c, strcmp(buffer_text(&now), buffer_text(&first[i])) == 0,
                   "get_capabilities of HAL %s, read again after it was called for other versions: "
                   "'%s', first it was '%s'",
                   hal_version_names[i], buffer_text(&now), buffer_text(&first[i]));
        }
        buffer_done(&now);
        buffer_done(&first[i]);
    }
}

static void ask_again(struct conform *c, unsigned index, void *user)
{
    (void) index;
    for (int i = 0; i < TURNS; i++)
        expect_answers(c, c->driver, user, "from several threads");
}

static void queries_agree(struct conform *c, const void *data)
{
    struct conform_subject s;
    struct conform_answers first;

    (void) data;
    conform_answers_ask(c->driver, c->version, &first);
    for (int i = 0; i < TURNS; i++)
        expect_answers(c, c->driver, &first, "again");
    expect_kept(c);
    conform_in_threads(c, THREADS, ask_again, &first);
    conform_subject_open(c, conform_relu(c), &s);
    expect_answers(c, c->driver, &first, "after preparing a model");
    if (s.prepared) {
        const struct hal_execution_config config = client_config();
        conform_kinds[c->version < HAL_1_2].run(s.prepared, c->version, &s.request, &config);
        expect_answers(c, c->driver, &first, "after an execution");
    }
    conform_subject_close(&s);
    struct hal_driver *other = conform_open(c);
    expect_answers(c, other, &first, "of the target opened once more");
    other->close(other);
    conform_answers_done(&first);
}

/* ---- supported operations: one bit per operation of every model */

static bool is_of(const struct conform *c, int i)
{
    return conform_model_is_of(&conform_models[i], c);
}

/* A word per model; operations from 64 on are not compared. */
static uint64_t ask_model(struct conform *c, struct hal_driver *d, const struct conform_model *m)
{
    uint32_t n_operations = m->hal.main.n_operations, n = 0;
    bool *supported = calloc(n_operations + 1, sizeof *supported);
    uint64_t answer = 0;

    conform_must(supported, "out of memory");
    enum hal_status s = d->get_supported_operations(d, c->version, &m->hal, supported, &n);
    EXPECT(c, s == HAL_NONE && n == n_operations, "%s: get_supported_operations: %s for %u of %u",
           m->name, hal_status_name(s), n, n_operations);
    EXPECT(c, !supported[n_operations], "%s: get_supported_operations writes more than %u answers",
           m->name, n_operations);
    for (uint32_t i = 0; i < n_operations && i < 64; i++)
        answer |= (uint64_t) supported[i] << i;
    free(supported);
    return answer;
}

struct supported {
    struct hal_driver *driver;
    uint64_t *first; /* by model */
    const char *when;
    int step; /* 1: in order, -1: in the reverse order */
};

static void ask_models(struct conform *c, unsigned index, void *user)
{
    const struct supported *s = user;
    int step = index % 2 ? -s->step : s->step;

    for (int k = 0; k < conform_n_models; k++) {
        int i = step > 0 ? k : conform_n_models - 1 - k;
        if (!is_of(c, i))
            continue;
        uint64_t now = ask_model(c, s->driver, &conform_models[i]);
        EXPECT(c, now == s->first[i], "%s: %s, the supported operations are %llx, first %llx",
               conform_models[i].name, s->when, (unsigned long long) now,
               (unsigned long long) s->first[i]);
    }
}

enum { SOME = 80 };

/* Returns their number. */
static int prepare_some(struct conform *c, struct hal_prepared_model *ret[SOME])
{
    int n = 0;

    for (int i = 0; i < conform_n_models && n < SOME; i += 8)
        if (is_of(c, i)) {
            ret[n] = conform_prepare_supported(c, &conform_models[i].hal);
            n += ret[n] != NULL;
        }
    return n;
}

static void supported_agree(struct conform *c, const void *data)
{
    uint64_t *first = calloc((size_t) conform_n_models + 1, sizeof *first);
    struct supported s = { c->driver, first, "asked in the reverse order", -1 };
    struct hal_prepared_model *prepared[SOME];

    (void) data;
    conform_must(first, "out of memory");
    for (int i = 0; i < conform_n_models; i++)
        if (is_of(c, i))
            first[i] = ask_model(c, c->driver, &conform_models[i]);
    ask_models(c, 0, &s);
    s.when = "asked from several threads";
    conform_in_threads(c, THREADS, ask_models, &s);
    int n = prepare_some(c, prepared);
    s.when = "asked while models are prepared";
    ask_models(c, 0, &s);
    for (int i = 0; i < n; i++)
        prepared[i]->methods->release(prepared[i]);
    s.when = "asked after they were released";
    ask_models(c, 0, &s);
    s.driver = conform_open(c);
    s.when = "asked at the target opened once more";
    ask_models(c, 0, &s);
    s.driver->close(s.driver);
    free(first);
}

/* ---- claims */

/* Over a socket one model in so many. */
enum { REMOTE_EVERY = 4 };

/* Outputs of unknown shape may be more than a driver can do: HAL_GENERAL_FAILURE. */
static void run_claimed(struct conform *c, const struct conform_model *m,
                        struct hal_prepared_model *p)
{
    const struct conform_kind *kind = &conform_kinds[c->version < HAL_1_2];
    const struct hal_execution_config config = client_config();
    bool specified = conform_request_is_specified(&m->example);
    struct arena *a = arena_new(0);
    struct conform_request r;

    if (specified || c->version >= HAL_1_2) {
        conform_request(&m->example, a, &r);
        enum hal_status s = kind->run(p, c->version, &r, &config);
        EXPECT(c, s == HAL_NONE || (s == HAL_GENERAL_FAILURE && !specified),
               "%s is supported and prepared, but its execution: %s", m->name, hal_status_name(s));
    }
    arena_free(a);
}

static void claims(struct conform *c, const void *data)
{
    (void) data;
    for (int i = 0; i < conform_n_models; i++) {
        if (!is_of(c, i) || (c->is_remote && i % REMOTE_EVERY))
            continue;
        struct hal_prepared_model *p = conform_prepare_supported(c, &conform_models[i].hal);
        if (!p)
            continue;
        run_claimed(c, &conform_models[i], p);
        p->methods->release(p);
    }
}

static const struct conform_rule rules_of_file[] = {
    { "consistency", "queries", HAL_1_0, 0,
      "queries always have the same answer: repeated, from several threads, after preparing, at "
      "the target opened once more",
      queries_agree },
    { "consistency", "supported", HAL_1_0, 0,
      "the supported operations of a model depend neither on models asked about before nor on "
      "models prepared",
      supported_agree },
    { "consistency", "claims", HAL_1_0, 0, "a model that is supported prepares and runs", claims },
};
const struct conform_rules conform_rules_consistency = { rules_of_file, COUNT(rules_of_file),
                                                         conform_models_draw, conform_models_free };
