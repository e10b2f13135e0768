/* Random graphs of operations that the driver supports: they prepare, execute in every kind of
 * execution with the same results, and the results are right. */
#include <stdlib.h>
#include <string.h>

#include "golden/model/op.h"
#include "harness/conform/conform_judge.h"
#include "randgraph/randgraph.h"

/* ---- one graph */

/* Every kind of execution of the version. */
static void run_kinds(struct conform *c, const struct conform_model *m,
                      struct hal_prepared_model *p)
{
    bool specified = conform_request_is_specified(&m->example);
    struct hal_execution_config config = client_config();
    struct conform_judge judge;

    conform_judge_init(&judge, m);
    for (int k = 0; k < conform_n_kinds; k++) {
        const struct conform_kind *kind = &conform_kinds[k];
        struct conform_request r;
        if (!conform_can_run(c, p, kind, c->version) ||
            (!specified && (kind->needs_shapes || c->version < HAL_1_2)))
            continue;
        config.measure = c->version >= HAL_1_2 && k % 2;
        conform_request(&m->example, m->arena, &r);
        enum hal_status s = kind->run(p, c->version, &r, &config);
        if (EXPECT(c, s == HAL_NONE || (s == HAL_GENERAL_FAILURE && !specified), "%s, %s: %s",
                   m->name, kind->name, hal_status_name(s)) &&
            s == HAL_NONE)
            conform_judge(c, &judge, &r, kind->name);
    }
    conform_judge_done(&judge);
}

/* False: the driver does not support the graph. */
static bool run_graph(struct conform *c, const struct conform_model *m)
{
    conform_doing(c, "%s", m->name);
    struct hal_prepared_model *p = conform_prepare_supported(c, &m->hal);

    if (!p)
        return false;
    run_kinds(c, m, p);
    p->methods->release(p);
    return true;
}

/* ---- the rules */

struct of_graphs {
    uint32_t n, min_ops, max_ops;
    double control_flow;
};

/* Graphs are drawn until n of them are supported, but at most so many times n. */
enum { DRAWS = 16, REMOTE_PART = 2 };

static void graphs(struct conform *c, const void *data)
{
    const struct of_graphs *o = data;
    uint32_t wanted = c->is_remote ? o->n / REMOTE_PART : o->n, run = 0;
    struct randgraph_options options = randgraph_default;
    struct randgraph_weights weights;

    if (!conform_supported_operations(c, &weights)) {
        conform_not_applicable(c, "no operation of this version is supported");
        return;
    }
    options.weights = &weights;
    options.min_ops = o->min_ops;
    options.max_ops = o->max_ops;
    options.max_level = hal_level(c->version);
    options.relaxed = c->version >= HAL_1_1 ? options.relaxed : 0;
    options.control_flow = c->version >= HAL_1_3 ? o->control_flow : 0;
    options.max_dim = 8;
    for (uint32_t i = 0; run < wanted && i < DRAWS * wanted; i++) {
        struct arena *a = arena_new(0);
        struct conform_model m;
        struct example e;
        struct why w = { 0 };
        if (randgraph_make(&options, conform_seed, i, a, &e, &w) < 0) {
            arena_free(a);
            continue;
        }
        conform_model_init(&m, &e, a);
        conform_model_expect(&m);
        run += run_graph(c, &m);
        conform_model_done(&m);
    }
    if (!run)
        conform_not_applicable(c, "none of %u graphs is supported", DRAWS * wanted);
}

#define GRAPHS(...)                                                                                \
    &(const struct of_graphs)                                                                      \
    {                                                                                              \
        __VA_ARGS__                                                                                \
    }

static const struct conform_rule rules_of_file[] = {
    { "random", "operations", HAL_1_0, 0, "random models of one operation have the right results",
      graphs, GRAPHS(1000, 1, 1, 0) },
    { "random", "graphs", HAL_1_0, 0, "random graphs of 2 to 8 operations have the right results",
      graphs, GRAPHS(100, 2, 8, 0) },
    { "random", "large", HAL_1_0, 0, "random graphs of 15 to 30 operations have the right results",
      graphs, GRAPHS(12, 15, 30, 0) },
    { "random", "control-flow", HAL_1_3, 0, "random graphs with IF and WHILE", graphs,
      GRAPHS(30, 2, 6, 1) },
};
const struct conform_rules conform_rules_random = { rules_of_file, COUNT(rules_of_file),
                                                    conform_models_draw, conform_models_free };
