/* Every driver rejects every mutant (harness/corrupt/conform_mutations.h) of every model.  In
 * process all mutants are tried; over a socket, and through the entry points of older versions,
 * every nth of each mutation. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/conform/conform_models.h"
#include "harness/corrupt/conform_mutations.h"
#include "sim/hal/convert.h"

enum { REMOTE_EVERY = 11, OLDER_EVERY = 59, OPERATIONS = 128 };

struct walk {
    struct conform *conform;
    enum hal_version entry;
    const struct conform_model *model;
    const struct conform_mutation *mutation;
    unsigned at, every; /* mutants so far; one in `every` is tried */
};

static void refuse_supported(const struct walk *w, const struct conform_mutant *m)
{
    struct hal_driver *d = w->conform->driver;
    uint32_t n_operations = m->model.main.n_operations, n = 99;
    bool few[OPERATIONS],
        *supported = n_operations <= OPERATIONS ? few : calloc(n_operations, sizeof *supported);

    conform_must(supported, "out of memory");
    enum hal_status s = d->get_supported_operations(d, w->entry, &m->model, supported, &n);
    if (supported != few)
        free(supported);
    EXPECT(w->conform, s == HAL_INVALID_ARGUMENT && n == 99,
           "%s with %s: get_supported_operations of HAL %s returns %s, expected INVALID_ARGUMENT%s",
           w->model->name, m->what, hal_version_name(w->entry), hal_status_name(s),
           n == 99 ? "" : "; it writes *ret_n");
}

static void refuse_mutant(const struct conform_mutant *m, void *user)
{
    struct walk *w = user;

    if (w->at++ % w->every)
        return;
    if (!w->mutation->is_config)
        refuse_supported(w, m);
    struct conform_prepared p = conform_prepare(w->conform, w->entry, &m->model, &m->config);
    EXPECT(w->conform,
           p.launched == HAL_INVALID_ARGUMENT && p.status == HAL_INVALID_ARGUMENT && !p.model,
           "%s with %s: prepare_model of HAL %s returns %s and its callback gets %s, expected "
           "INVALID_ARGUMENT twice",
           w->model->name, m->what, hal_version_name(w->entry), hal_status_name(p.launched),
           hal_status_name(p.status));
    if (p.model)
        p.model->methods->release(p.model);
}

/* The count runs on from model to model, so that a sample contains mutants of all kinds. */
static void walk_models(struct walk *w)
{
    for (int i = 0; i < conform_n_models; i++) {
        w->model = &conform_models[i];
        if (w->model->level > hal_level(w->entry) || !conform_is_mine(w->conform, (uint32_t) i))
            continue;
        conform_doing(w->conform, "%s, mutated", w->model->name);
        conform_walk(w->mutation, &w->model->hal, w->entry, refuse_mutant, w);
        conform_walk_referenced(w->mutation, &w->model->hal, w->entry, refuse_mutant, w);
    }
}

static const struct conform_mutation *mutation_of(const char *rule)
{
    for (int k = 0; k < conform_n_mutations; k++)
        if (strcmp(conform_mutations[k].rule, rule) == 0)
            return &conform_mutations[k];
    abort();
}

static void refuse_mutants(struct conform *c, const void *rule)
{
    const struct conform_mutation *mutation = mutation_of(rule);

    if ((mutation->until && c->lowest > mutation->until) || c->version < mutation->since)
        conform_not_applicable(c, "the driver has no entry points of HAL %s to %s",
                               hal_version_name(mutation->since),
                               hal_version_name(mutation->until));
    for (int v = 0; v < HAL_VERSIONS; v++) {
        if (!conform_has_entry(c, hal_versions[v]))
            continue;
        unsigned every = c->is_remote ? REMOTE_EVERY : 1;
        struct walk w = { c, hal_versions[v], NULL, mutation, 0, every };
        if (w.entry < c->version)
            w.every *= OLDER_EVERY;
        walk_models(&w);
    }
}

static void ignore_mutant(const struct conform_mutant *m, void *user)
{
    (void) m, (void) user;
}

/* Through the newest entry point that has the mutation. */
static uint64_t count_mutants(const void *rule)
{
    const struct conform_mutation *m = mutation_of(rule);
    enum hal_version version = m->until ? m->until : HAL_FL8;
    uint64_t n = 0;

    for (int i = 0; i < conform_n_models; i++)
        if (conform_models[i].level <= hal_level(version))
            n += conform_walk(m, &conform_models[i].hal, version, ignore_mutant, NULL) +
                 conform_walk_referenced(m, &conform_models[i].hal, version, ignore_mutant, NULL);
    return n;
}

static const struct conform_rule rules_of_file[] = {
    { "model", "M1", HAL_1_0, 0, "rejects a model whose operations are not in execution order",
      refuse_mutants, "M1", true, count_mutants },
    { "model", "M2", HAL_1_0, 0, "rejects an operand type code that does not exist", refuse_mutants,
      "M2", true, count_mutants },
    { "model", "M3", HAL_1_0, 0,
      "rejects a scalar with a dimension; before HAL 1.2 also a tensor without", refuse_mutants,
      "M3", true, count_mutants },
    { "model", "M4", HAL_1_0, 0, "rejects an operand scale that its type does not allow",
      refuse_mutants, "M4", true, count_mutants },
    { "model", "M5", HAL_1_0, 0, "rejects a zero point outside the range of the operand's type",
      refuse_mutants, "M5", true, count_mutants },
    { "model", "M6", HAL_1_0, 0,
      "rejects a written operand as input or constant, an unwritten one as temporary or output",
      refuse_mutants, "M6", true, count_mutants },
    { "model", "M7", HAL_1_0, 0,
      "rejects lists of inputs and outputs that contradict the operands' lifetimes", refuse_mutants,
      "M7", true, count_mutants },
    { "model", "M8", HAL_1_0, 0,
      "rejects a wrong number of consumers (up to HAL 1.3, which transmit it)", refuse_mutants,
      "M8", true, count_mutants },
    { "model", "M9", HAL_1_0, 0, "rejects an operand that two operations write", refuse_mutants,
      "M9", true, count_mutants },
    { "model", "M10", HAL_1_0, 0, "rejects an operand type that the operation does not accept",
      refuse_mutants, "M10", true, count_mutants },
    { "model", "M11", HAL_1_0, 0, "rejects an operation code that does not exist at this version",
      refuse_mutants, "M11", true, count_mutants },
    { "model", "M12", HAL_1_0, 0, "rejects an operation whose input index is out of range",
      refuse_mutants, "M12", true, count_mutants },
    { "model", "M13", HAL_1_0, 0, "rejects an operation whose output index is out of range",
      refuse_mutants, "M13", true, count_mutants },
    { "model", "M14", HAL_1_0, 0, "rejects a temporary or output that no operation writes",
      refuse_mutants, "M14", true, count_mutants },
    { "model", "M15", HAL_1_0, 0, "rejects a model with one operand removed", refuse_mutants, "M15",
      true },
    { "model", "M16", HAL_1_0, 0, "rejects a model with one operation removed", refuse_mutants,
      "M16", true, count_mutants },
    { "model", "M17", HAL_1_0, 0, "rejects an operation with a required input removed",
      refuse_mutants, "M17", true, count_mutants },
    { "model", "M18", HAL_1_0, 0, "rejects an operation with an output removed", refuse_mutants,
      "M18", true, count_mutants },
    { "model", "M19", HAL_1_0, 0, "rejects an operation with an additional input", refuse_mutants,
      "M19", true, count_mutants },
    { "model", "M20", HAL_1_0, 0, "rejects an operation with an additional output", refuse_mutants,
      "M20", true, count_mutants },
    { "model", "M21", HAL_1_1, 0, "prepare_model rejects an invalid execution preference",
      refuse_mutants, "M21", true, count_mutants },
    { "model", "M22", HAL_1_3, 0, "prepare_model rejects an invalid priority", refuse_mutants,
      "M22", true, count_mutants },
};
const struct conform_rules conform_rules_model = { rules_of_file, COUNT(rules_of_file),
                                                   conform_models_draw, conform_models_free };
