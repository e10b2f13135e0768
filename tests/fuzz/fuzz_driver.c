/* Drivers with hostile clients: the bytes choose a valid model and damage it, as HAL structures,
 * and the requests for it.  Properties: see fuzz_converse(). */
#include "tests/fuzz/fuzz_client.h"

#include "sim/hal/convert.h"

enum { MAX_DAMAGE = 12 };

/* Opened once: a driver must work after any earlier input. */
static struct hal_driver *driver_of(uint32_t which)
{
    static struct hal_driver *opened[3];
    static const char *const names[] = { "cpu", "gpu", "dsp" };

    if (!opened[which])
        opened[which] = fuzz_open_driver(names[which], 0);
    return opened[which];
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct randgraph_options o = randgraph_default;
    struct arena *a = arena_new(1 << 24);
    struct example e;
    struct hal_model h;
    struct rng r;
    struct why w;

    if (!a)
        return 0;
    rng_bytes(&r, bytes, length);
    o.max_ops = 4;
    o.max_dim = 4;
    o.max_elements = 256;
    o.control_flow = 0.5;
    struct hal_driver *d = driver_of(rng_below(&r, 3));
    if (randgraph_make(&o, 1, rng_below(&r, 65536), a, &e, &w) == 0 &&
        convert_to_hal(&e.model, a, &h, &w) == 0) {
        for (uint32_t n = rng_below(&r, MAX_DAMAGE); n > 0; n--)
            fuzz_damage(&r, a, &h);
        fuzz_converse(&r, a, d, HAL_1_3, &h);
        fuzz_converse(&r, a, d, hal_versions[length ? bytes[length - 1] % HAL_VERSIONS : 0], &h);
    }
    arena_free(a);
    return 0;
}
