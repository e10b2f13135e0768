/* Rules of other suites, on models that are prepared in another way: restored from a compilation
 * cache, at low and at high priority.  What holds of a prepared model holds of these. */
#include <string.h>

#include "harness/conform/conform_models.h"

/* As "suite/rule"; of files of which every begin() is conform_models_draw(), or which have none. */
static const char *const rules_of_models[] = {
    "request/R1",
    "request/R2",
    "request/fails",
    "consistency/earlier",
    "consistency/shapes",
    "generated/judged",
    "loop-timeout/prompt",
    "deadline/past",
    "fenced/failed",
    "fenced/signalled",
    "burst/identifiers",
    "burst/memories",
    "memory-domain/device-memory",
    "memory-domain/X1",
    "memory-domain/X5",
};

static const struct conform_rule *find(const char *name)
{
    const size_t n = strcspn(name, "/");

    for (int f = 0; f < conform_n_rules; f++)
        for (int k = 0; k < conform_rules[f]->n; k++) {
            const struct conform_rule *r = &conform_rules[f]->rule[k];
            if (strlen(r->suite) == n && strncmp(r->suite, name, n) == 0 &&
                strcmp(r->name, name + n + 1) == 0)
                return r;
        }
    conform_must(false, name);
    return NULL;
}

/* How models are prepared. */
struct variant {
    const char *what;
    bool is_restoring;
    enum hal_priority priority;
};
static const struct variant plain = { "that are prepared plainly", false, HAL_PRIORITY_MEDIUM };

/* Checks the rule on models that are prepared so.  Returns whether a part of it was not applicable:
 * a driver may say by a status that it does not support something. */
static bool check_rule(struct conform *c, const struct conform_rule *r, const struct variant *v)
{
    struct conform_result *result = c->state->result;

    result->reason[0] = '\0';
    c->state->is_restoring = v->is_restoring;
    c->state->priority = v->priority;
    r->check(c, r->data);
    c->state->is_restoring = plain.is_restoring;
    c->state->priority = plain.priority;
    return result->reason[0];
}

/* A rule that applies to models prepared in the default way applies to these, too. */
static void check_rules(struct conform *c, const struct variant *v)
{
    for (int i = 0; i < COUNT(rules_of_models); i++) {
        const struct conform_rule *r = find(rules_of_models[i]);
        const uint32_t before = c->state->result->failures;
        char reason[CONFORM_TEXT];
        if (!conform_applies(r, c->version))
            continue;
        const bool lacks = check_rule(c, r, v);
        EXPECT(c, c->state->result->failures == before, "%s does not hold for models %s",
               rules_of_models[i], v->what);
        if (!lacks)
            continue;
        memcpy(reason, c->state->result->reason, sizeof reason);
        EXPECT(c, check_rule(c, r, &plain), "%s, models %s: %s; but not of models %s",
               rules_of_models[i], v->what, reason, plain.what);
        memcpy(c->state->result->reason, reason, sizeof reason);
    }
}

static const struct variant restored_models = { "that are restored from a cache", true,
                                                HAL_PRIORITY_MEDIUM };

static void restored(struct conform *c, const void *data)
{
    uint32_t n_model = 0, n_data = 0;
    enum hal_status status;

    (void) data;
    if (!conform_cache_files_needed(c, &n_model, &n_data, &status))
        return;
    if (status != HAL_NONE || n_model + n_data == 0) {
        conform_not_applicable(c, "the driver has no compilation cache");
        return;
    }
    check_rules(c, &restored_models);
}

static void at_priority(struct conform *c, const void *data)
{
    check_rules(c, data);
}

static const struct variant low = { "at low priority", false, HAL_PRIORITY_LOW },
                            high = { "at high priority", false, HAL_PRIORITY_HIGH };

static const struct conform_rule rules_of_file[] = {
    { "cache", "restored", HAL_1_2, 0, "rules of other suites hold for restored models", restored },
    { "priority", "low", HAL_1_3, 0, "rules of other suites hold for models at low priority",
      at_priority, &low },
    { "priority", "high", HAL_1_3, 0, "rules of other suites hold for models at high priority",
      at_priority, &high },
};
const struct conform_rules conform_rules_variants = { rules_of_file, COUNT(rules_of_file),
                                                      conform_models_draw, conform_models_free };
