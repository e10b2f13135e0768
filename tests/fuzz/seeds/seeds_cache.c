/* Seeds of fuzz_cache: compilation caches of random models as a driver saves them, as whole files,
 * and as graph and constants, from which the target forges files. */
#include <check.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "harness/corrupt/cache_files.h"
#include "randgraph/randgraph.h"
#include "sim/driver/compilation_cache.h"
#include "sim/hal/convert.h"
#include "sim/hal/extension_codes.h"
#include "tests/fuzz/seeds/seeds.h"
#include "tests/support/hal_client.h"

/* As in fuzz_cache.c. */
enum { N_MODEL = 2, N_DATA = 1, IS_FORGED = 1 };

enum { MODELS = 16, MAX_BYTES = 4096, DAMAGED = 3, DAMAGED_BYTES = 2 };

static void draw_model(uint32_t i, struct arena *a, struct hal_model *ret_hal)
{
    struct randgraph_options o = randgraph_default;
    struct example e;
    struct why w;

    o.max_level = 4;
    o.max_ops = 1 + i % 8;
    o.max_dim = 3;
    o.max_elements = 32;
    o.control_flow = i % 2;
    ck_assert_int_eq(randgraph_make(&o, 3, i, a, &e, &w), 0);
    ck_assert_msg(convert_to_hal(&e.model, a, ret_hal, &w) == 0, "%s", w.text);
}

static void write_files(struct files *f, uint32_t i)
{
    static uint8_t bytes[MAX_BYTES];
    struct seed s;
    char name[32];

    seed_begin(&s);
    seed_put(&s, &(uint8_t){ 0 }, 1);
    for (uint32_t k = 0; k < N_MODEL + N_DATA; k++) {
        ssize_t n = pread(*files_any(f, k), bytes, sizeof bytes, 0);
        ck_assert(n > 0 && n < MAX_BYTES);
        if (k + 1 < N_MODEL + N_DATA)
            seed_length(&s, (size_t) n);
        seed_put(&s, bytes, (size_t) n);
    }
    snprintf(name, sizeof name, "files%u", i);
    seed_write(&s, "fuzz_cache", name);
}

/* damage: damage * DAMAGED_BYTES bytes of the graph are random. */
static void write_forged(const struct cache_entry *e, uint32_t i, uint32_t damage)
{
    const uint8_t head[] = { IS_FORGED, (uint8_t) hal_versions[i % HAL_VERSIONS] };
    struct seed s;
    struct rng r;
    char name[32];

    rng_seed(&r, i, damage);
    seed_begin(&s);
    seed_put(&s, head, sizeof head);
    seed_length(&s, e->n_graph);
    size_t graph = s.n;
    seed_put(&s, e->graph, e->n_graph);
    seed_put(&s, e->constants, e->n_constants);
    for (uint32_t k = 0; k < damage * DAMAGED_BYTES; k++)
        s.bytes[graph + rng_below(&r, (uint32_t) e->n_graph)] = (uint8_t) rng_below(&r, 256);
    snprintf(name, sizeof name, "forged%u_%u", i, damage);
    seed_write(&s, "fuzz_cache", name);
}

/* False: the device does not support the model. */
static bool write_seeds(struct hal_driver *d, const struct cache_owner *o, uint32_t i)
{
    struct arena *a = arena_new(0);
    struct hal_prepared_model *p;
    struct cache_entry e;
    struct hal_model h;
    struct files f;
    struct why w;

    files_init(&f, N_MODEL, N_DATA);
    memset(f.token, 0, sizeof f.token);
    const struct hal_prepare_config config = files_config(&f);
    draw_model(i, a, &h);
    bool is_supported = client_prepare_with(d, HAL_1_3, &h, &config, &p) == HAL_NONE;
    if (is_supported) {
        ck_assert_msg(cache_read(o, &config.cache, a, &e, &w) == 0, "%s", w.text);
        write_files(&f, i);
        for (uint32_t damage = 0; damage <= DAMAGED; damage++)
            write_forged(&e, i, damage);
        p->methods->release(p);
    }
    files_done(&f);
    arena_free(a);
    return is_supported;
}

void seeds_of_caches(void)
{
    struct hal_driver *d = client_open_cached("cpu", N_MODEL, N_DATA, NULL);
    struct cache_owner owner = { d->name, NULL, N_MODEL, N_DATA };

    ck_assert_int_eq(d->get_version_string(d, &owner.version), HAL_NONE);
    for (uint32_t i = 0, n = 0; n < MODELS; i++)
        n += write_seeds(d, &owner, i);
    d->close(d);
}
