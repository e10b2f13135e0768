/* How many mutated models the rules of suite model (halcyon conform) check per second on one core,
 * with the built-in models, on sim:cpu at its own version. */
#include <stdio.h>

#include "harness/conform/conform_models.h"
#include "harness/corrupt/conform_mutations.h"
#include "sim/client/hal_calls.h"
#include "tests/bench/bench.h"

enum { MAX_OPERATIONS = 64 };

struct counting {
    struct hal_driver *driver;
    struct client_prepare_wait wait;
    uint64_t accepted;
};

/* The two calls of the rules. */
static void check_mutant(const struct conform_mutant *m, void *user)
{
    struct counting *c = user;
    bool supported[MAX_OPERATIONS];
    uint32_t n = 0;

    if (c->driver->get_supported_operations(c->driver, HAL_FL8, &m->model, supported, &n) !=
            HAL_INVALID_ARGUMENT &&
        m->config.preference == HAL_FAST_SINGLE_ANSWER && m->config.priority == HAL_PRIORITY_MEDIUM)
        c->accepted++;
    c->driver->prepare_model(c->driver, HAL_FL8, &m->model, &m->config, &c->wait.base);
}

int main(void)
{
    struct target *t = NULL;
    struct counting c = { NULL };
    struct why w = { 0 };
    uint64_t n = 0;

    if (target_open("sim:cpu", NULL, &t, &w) < 0) {
        fprintf(stderr, "%s\n", w.text);
        return 1;
    }
    c.driver = target_take_driver(t);
    client_prepare_wait_init(&c.wait);
    conform_models_draw();
    double begun = bench_now();
    for (int k = 0; k < conform_n_mutations; k++)
        for (int i = 0; i < conform_n_models; i++)
            if (!conform_mutations[k].until || conform_mutations[k].until >= HAL_FL8)
                n += conform_walk(&conform_mutations[k], &conform_models[i].hal, HAL_FL8,
                                  check_mutant, &c);
    double seconds = bench_now() - begun;
    printf("suite model: %llu mutants of %d models in %.2f s: %.0f mutants per second per core\n",
           (unsigned long long) n, conform_n_models, seconds, (double) n / seconds);
    conform_models_free();
    c.driver->close(c.driver);
    return c.accepted ? 1 : 0;
}
