/* Seeds of fuzz_model and fuzz_driver: a valid model around each operation of the catalogue, and
 * random ones with control flow. */
#include <check.h>
#include <stdio.h>

#include "randgraph/randgraph.h"
#include "sim/hal/convert.h"
#include "sim/hal/hal_convert.h"
#include "sim/wire/wire.h"
#include "tests/fuzz/common/fuzz_case.h"
#include "tests/fuzz/seeds/seeds.h"
#include "tests/support/hal_client.h"

enum { GRAPHS = 16, MEMORY_BYTES = 64, DEVICES = 3, DRAWS = 6 };

static const char *const device_name[DEVICES] = { "cpu", "gpu", "dsp" }; /* as in fuzz_driver.c */

static bool is_supported(struct hal_driver *d, const struct hal_model *h, struct arena *a)
{
    bool *supported = arena_alloc(a, h->main.n_operations, sizeof *supported);
    bool all = true;
    uint32_t n = 0;

    if (d->get_supported_operations(d, d->hal_version, h, supported, &n) != HAL_NONE)
        return false;
    for (uint32_t i = 0; i < n; i++)
        all = all && supported[i];
    return all;
}

static uint32_t index_of(enum hal_version version)
{
    uint32_t i = 0;

    while (hal_versions[i] != version)
        i++;
    return i;
}

/* False: the device does not support the model. */
static bool write_case(const struct example *e, uint32_t i, uint32_t device, struct hal_driver *d,
                       const char *name)
{
    struct arena *a = arena_new(0);
    Fuzz__Case c = FUZZ__CASE__INIT;
    uint8_t memory[MEMORY_BYTES];
    struct wire_fds fds = { 0 };
    struct hal_model hal;
    static struct seed s;
    struct rng r;
    struct why w;

    rng_seed(&r, 7, i);
    for (int k = 0; k < MEMORY_BYTES; k++)
        memory[k] = (uint8_t) rng_below(&r, i % 2 ? 4 : 256);
    ck_assert_msg(convert_to_hal(&e->model, a, &hal, &w) == 0, "%s", w.text);
    if (!is_supported(d, &hal, a)) {
        arena_free(a);
        return false;
    }
    ck_assert_msg(wire_encode_model(&hal, a, &fds, &c.model, &w) == 0, "%s", w.text);
    c.device = device;
    c.version = index_of(d->hal_version);
    c.repairs = FUZZ_REPAIRS & ~(uint32_t) FUZZ_REPAIR_RESULTS;
    c.preference = HAL_FAST_SINGLE_ANSWER;
    c.priority = HAL_PRIORITY_MEDIUM;
    c.memory = (ProtobufCBinaryData){ sizeof memory, memory };
    s.n = fuzz__case__get_packed_size(&c);
    ck_assert_uint_le(s.n, sizeof s.bytes);
    fuzz__case__pack(&c, s.bytes);
    seed_write(&s, "fuzz_case", name);
    arena_free(a);
    return true;
}

/* Draws models until the device supports one. */
static void draw_case(const struct randgraph_options *o, const char *what, uint32_t i,
                      uint32_t device, struct hal_driver *d)
{
    bool found = false;
    char name[64];
    struct why w;

    snprintf(name, sizeof name, "%s_%s%u", device_name[device], what, i);
    for (uint32_t k = 0; k < DRAWS && !found; k++) {
        struct arena *a = arena_new(0);
        struct example e;
        found = randgraph_make(o, 5, i * DRAWS + k, a, &e, &w) == 0 &&
                write_case(&e, i, device, d, name);
        arena_free(a);
    }
}

void seeds_of_cases(void)
{
    struct randgraph_options o = randgraph_default;

    o.max_dim = 4;
    o.max_elements = 64;
    for (uint32_t device = 0; device < DEVICES; device++) {
        struct hal_driver *d = client_open(device_name[device], 0);
        for (int i = 0; i < op_table_n + GRAPHS; i++) {
            bool is_graph = i >= op_table_n;
            const char *only = is_graph ? NULL : op_table[i]->name;
            o.only = randgraph_only(only);
            o.max_ops = is_graph ? 4 : 1;
            o.control_flow = is_graph ? 0.5 : 0;
            draw_case(&o, only ? only : "graph", (uint32_t) i, device, d);
        }
        d->close(d);
    }
}
