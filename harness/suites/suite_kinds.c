/* What single kinds of execution promise: the memories of bursts, the durations of fenced
 * executions. */
#include <string.h>

#include "harness/conform/conform_models.h"
#include "harness/conform/conform_requests.h"
#include "sim/client/hal_calls.h"
#include "sim/hal/convert.h"

/* ---- bursts */

enum { MEMORIES = 3 };

/* Executes on other memories under the same identifiers: each result goes to the memories of its
 * own request, and the outputs of the others stay as they are. */
static void run_on_memories(struct conform *c, struct conform_subject *s, struct hal_burst *b,
                            int64_t identifier)
{
    const int64_t identifiers[2] = { identifier, identifier < 0 ? identifier : identifier + 1 };
    struct hal_execution_config config = client_config();
    struct conform_request r[MEMORIES];

    for (int i = 0; i < MEMORIES; i++)
        conform_request(&s->model.example, s->model.arena, &r[i]);
    for (int i = 0; i < MEMORIES; i++) {
        enum hal_status status = b->methods->execute_synchronously(
            b, &r[i].hal, r[i].hal.n_pools, identifiers, &config, &r[i].result);
        EXPECT(c, status == HAL_NONE && conform_outputs_are(&r[i], s->model.example.expected),
               "memory %d under identifier %d: %s, or wrong results", i, (int) identifier,
               hal_status_name(status));
        for (int k = 0; identifier >= 0 && k < 2; k++)
            EXPECT_STATUS(c, b->methods->release_memory(b, identifiers[k]), HAL_NONE,
                          "release_memory");
    }
}

/* The inputs' memory stays under its identifier; the outputs' is another one each time. */
static void run_on_new_outputs(struct conform *c, struct conform_subject *s, struct hal_burst *b)
{
    const struct hal_execution_config config = client_config();
    struct conform_request r[MEMORIES];

    for (int i = 0; i < MEMORIES; i++)
        conform_request(&s->model.example, s->model.arena, &r[i]);
    for (int i = 0; i < MEMORIES; i++) {
        const int64_t identifiers[2] = { 100, 101 + i };
        r[i].pool[0] = r[0].pool[0];
        enum hal_status status = b->methods->execute_synchronously(
            b, &r[i].hal, r[i].hal.n_pools, identifiers, &config, &r[i].result);
        EXPECT(c, status == HAL_NONE && conform_outputs_are(&r[i], s->model.example.expected),
               "memory %d under a new identifier, beside a known one: %s, or wrong results", i,
               hal_status_name(status));
    }
}

/* Files that follow each other under the same descriptor numbers, and under the same identifiers,
 * which are released after each of them. */
static void run_on_files(struct conform *c, struct conform_subject *s, struct hal_burst *b,
                         int64_t identifier)
{
    const int64_t identifiers[2] = { identifier, identifier < 0 ? identifier : identifier + 1 };
    const struct hal_execution_config config = client_config();

    for (int i = 0; i < 2 * MEMORIES; i++) {
        struct conform_request r;
        conform_request(&s->model.example, s->model.arena, &r);
        conform_request_use_files(&r);
        enum hal_status status = b->methods->execute_synchronously(b, &r.hal, r.hal.n_pools,
                                                                   identifiers, &config, &r.result);
        EXPECT(c, status == HAL_NONE && conform_outputs_are(&r, s->model.example.expected),
               "files of descriptors %d and %d, the %d. under identifier %d: %s, or wrong results",
               r.pool[0].memory.fd, r.pool[1].memory.fd, i, (int) identifier,
               hal_status_name(status));
        for (int k = 0; identifier >= 0 && k < 2; k++)
            EXPECT_STATUS(c, b->methods->release_memory(b, identifiers[k]), HAL_NONE,
                          "release_memory");
        conform_request_close_files(&r);
    }
}

static void memories(struct conform *c, const void *data)
{
    struct hal_burst *b = NULL;
    struct conform_subject s;

    (void) data;
    if (conform_subject_open(c, conform_sum(c), &s) &&
        conform_can_run(c, s.prepared, conform_kind_named("burst"), c->version)) {
        EXPECT_STATUS(c, s.prepared->methods->configure_burst(s.prepared, c->version, &b), HAL_NONE,
                      "configure_burst");
        if (b) {
            run_on_memories(c, &s, b, -1);
            run_on_memories(c, &s, b, 5);
            run_on_new_outputs(c, &s, b);
            run_on_files(c, &s, b, -1);
            run_on_files(c, &s, b, 300);
            b->methods->release(b);
        }
    }
    conform_subject_close(&s);
}

/* Bursts that exist at the same time, of one prepared model and of another, and identifiers whose
 * lower 32 bits are equal: each names its own memory. */
static void run_side_by_side(struct conform *c, struct conform_subject *s,
                             struct hal_prepared_model *other)
{
    static const int64_t first[] = { 5, 5 + (INT64_C(1) << 32), INT64_MAX - 7 };
    struct hal_prepared_model *const models[] = { s->prepared, s->prepared, other };
    struct conform_request r[COUNT(models)][COUNT(first)];
    struct hal_execution_config config = client_config();
    struct hal_burst *b[COUNT(models)] = { NULL };

    for (int i = 0; i < COUNT(models); i++)
        EXPECT_STATUS(c, models[i]->methods->configure_burst(models[i], c->version, &b[i]),
                      HAL_NONE, "configure_burst beside others");
    for (int turn = 0; turn < 2; turn++)
        for (int k = 0; k < COUNT(models) * COUNT(first); k++) {
            int i = k % COUNT(models), j = k / COUNT(models);
            const int64_t identifiers[2] = { first[j], first[j] + 1 };
            struct conform_request *q = &r[i][j];
            if (turn == 0)
                conform_request(&s->model.example, s->model.arena, q);
            else
                memset(q->pool[1].memory.address, 0x55, q->pool[1].memory.size);
            enum hal_status status =
                b[i] ? b[i]->methods->execute_synchronously(b[i], &q->hal, q->hal.n_pools,
                                                            identifiers, &config, &q->result)
                     : HAL_GENERAL_FAILURE;
            EXPECT(c, status == HAL_NONE && conform_outputs_are(q, s->model.example.expected),
                   "burst %d of %d, identifiers %lld and %lld, turn %d: %s, or wrong results", i,
                   COUNT(models), (long long) identifiers[0], (long long) identifiers[1], turn,
                   hal_status_name(status));
        }
    for (int i = 0; i < COUNT(models); i++)
        if (b[i])
            b[i]->methods->release(b[i]);
}

static void side_by_side(struct conform *c, const void *data)
{
    struct conform_subject s;

    (void) data;
    if (conform_subject_open(c, conform_sum(c), &s) &&
        conform_can_run(c, s.prepared, conform_kind_named("burst"), c->version)) {
        struct hal_prepared_model *other = conform_prepare_supported(c, &s.model.hal);
        conform_must(other, "prepared once, but not a second time");
        run_side_by_side(c, &s, other);
        other->methods->release(other);
        conform_subject_reset(&s);
        struct hal_execution_config config = client_config();
        EXPECT(c,
               conform_kinds[0].run(s.prepared, c->version, &s.request, &config) == HAL_NONE &&
                   conform_subject_is_correct(&s),
               "%s fails, or has wrong results, after its bursts were released", s.model.name);
    }
    conform_subject_close(&s);
}

/* ---- fenced executions */

static bool is_at_least(uint64_t longer, uint64_t shorter)
{
    return longer == HAL_NO_TIME || shorter == HAL_NO_TIME || longer >= shorter;
}

static void launched(struct conform *c, const void *data)
{
    struct hal_execution_config config = client_config();
    struct conform_subject s;

    (void) data;
    config.measure = true;
    if (conform_subject_open(c, conform_sum(c), &s))
        for (int k = 0; k < conform_n_kinds; k++) {
            const struct hal_timing *since_launch = &s.request.launched;
            const struct hal_timing *since_fences = &s.request.result.timing;
            if (!conform_kinds[k].needs_shapes ||
                !conform_can_run(c, s.prepared, &conform_kinds[k], c->version))
                continue;
            conform_subject_reset(&s);
            EXPECT_STATUS(c, conform_kinds[k].run(s.prepared, c->version, &s.request, &config),
                          HAL_NONE, conform_kinds[k].name);
            EXPECT(c,
                   is_at_least(since_launch->on_device, since_fences->on_device) &&
                       is_at_least(since_launch->in_driver, since_fences->in_driver),
                   "%s: shorter since the launch than since the fences", conform_kinds[k].name);
        }
    conform_subject_close(&s);
}

static const struct conform_rule rules_of_file[] = {
    { "burst", "memories", HAL_1_2, 0,
      "other memories under identifier -1, and under one that was released, are used", memories },
    { "burst", "side-by-side", HAL_1_2, 0,
      "each burst has its own memories under the same identifiers", side_by_side },
    { "fenced", "launched", HAL_1_3, 0,
      "durations since the launch are not shorter than since the fences", launched },
};
const struct conform_rules conform_rules_kinds = { rules_of_file, COUNT(rules_of_file), NULL,
                                                   NULL };
