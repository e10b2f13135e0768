/* Drivers with hostile clients that use vendor extensions: the bytes damage a model in its
 * extension names, prefixes, codes and attached data, and as fuzz_damage() does. */
#include <math.h>
#include <string.h>

#include "tests/fuzz/common/fuzz_client.h"
#include "tests/support/extension_model.h"

enum { MAX_DAMAGE = 10, MAX_NAMES = 5, BLOB = 70000 };

/* 0: a driver with the extension and OEM operations, 1: one without. */
static struct hal_driver *driver_of(uint32_t which)
{
    static struct hal_driver *opened[2];

    if (!opened[which])
        opened[which] = which ? fuzz_open_driver("cpu", 0)
                              : fuzz_open_driver("dsp", EXTENSION_BIT(EXTENSION_oem));
    return opened[which];
}

static double hostile_double(struct rng *r)
{
    static const double number[] = { 1,      0.5,   3,      0,   -1,       NAN,
                                     1e-300, 1e300, 5e-324, 256, INFINITY, 0x1p-62 };

    return number[rng_below(r, COUNT(number))];
}

static void draw_model(struct rng *r, struct client_model *m)
{
    struct extension_scale s = { 1, 0 };

    if (rng_below(r, 2))
        s = (struct extension_scale){ fabs(hostile_double(r)), (int64_t) fuzz_hostile(r) };
    switch (rng_below(r, 3)) {
    case 0: extension_model_plain(m, s); break;
    case 1: extension_model_mixed(m, s, rng_below(r, 7)); break;
    default: extension_model_branch(m);
    }
}

static int32_t hostile_code(struct rng *r)
{
    static const uint32_t prefix[] = {
        EXTENSION_PREFIX, EXTENSION_PREFIX, 1, 2, 3, 0x7fff, 0xffff
    };

    if (rng_below(r, 4) == 0)
        return OEM_CODE + (int32_t) rng_below(r, 3);
    return (int32_t) (prefix[rng_below(r, COUNT(prefix))] << 16 | rng_below(r, 4));
}

static void damage_names(struct rng *r, struct arena *a, struct hal_model *h)
{
    static const char *const name[] = {
        "org.halcyon.example.fibonacci", "com.elsewhere.x", "", "x", "Org.x", "."
    };
    struct hal_extension_prefix *to = arena_alloc(a, MAX_NAMES, sizeof *to);

    fuzz_must(to);
    memcpy(to, h->extension_name_to_prefix, h->n_extension_prefixes * sizeof *to);
    if (h->n_extension_prefixes < MAX_NAMES)
        h->n_extension_prefixes += rng_below(r, 2);
    for (uint32_t i = 0; i < h->n_extension_prefixes; i++) {
        if (!to[i].name || rng_below(r, 4) == 0)
            to[i].name = name[rng_below(r, COUNT(name))];
        if (!to[i].prefix || rng_below(r, 4) == 0)
            to[i].prefix = (uint16_t) ((uint32_t) hostile_code(r) >> 16);
    }
    h->extension_name_to_prefix = to;
}

static void damage_data(struct rng *r, struct arena *a, struct hal_operand *o)
{
    static const uint8_t blob[BLOB];
    struct extension_scale *s = fuzz_own(a, &(struct extension_scale){ 1, 0 }, 1, sizeof *s);

    s->scale = hostile_double(r);
    s->zero = (int64_t) fuzz_hostile(r);
    o->extra = (enum hal_extra_kind) rng_below(r, 4);
    o->n_channel_scales = 0;
    o->extension = s;
    o->extension_length = rng_below(r, 3) ? sizeof *s : rng_below(r, sizeof *s);
    if (rng_below(r, 8) == 0) {
        o->extension = blob;
        o->extension_length = rng_below(r, BLOB + 1);
    }
}

static void damage_graph(struct rng *r, struct arena *a, struct hal_subgraph *g)
{
    struct hal_operand *operand = fuzz_own(a, g->operands, g->n_operands, sizeof *operand);
    struct hal_operation *operation =
        fuzz_own(a, g->operations, g->n_operations, sizeof *operation);
    struct hal_operand *o = &operand[rng_below(r, g->n_operands)];

    g->operands = operand;
    g->operations = operation;
    switch (rng_below(r, 4)) {
    case 0: operation[rng_below(r, g->n_operations)].type = hostile_code(r); break;
    case 1: damage_data(r, a, o); break;
    default: o->type = rng_below(r, 4) ? hostile_code(r) : (int32_t) rng_below(r, DT_END + 1);
    }
}

static void damage(struct rng *r, struct arena *a, struct hal_model *h)
{
    uint32_t kind = rng_below(r, 8);

    if (kind == 0)
        fuzz_damage(r, a, h);
    else if (kind < 3)
        damage_names(r, a, h);
    else if (h->main.n_operands && h->main.n_operations)
        damage_graph(r, a, &h->main);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static const enum hal_version versions[] = { HAL_1_3, HAL_1_3, HAL_1_2,
                                                 HAL_1_1, HAL_FL5, HAL_FL7 };
    struct arena *a = arena_new(1 << 24);
    struct client_model m;
    struct rng r;

    if (!a)
        return 0;
    rng_bytes(&r, bytes, length);
    struct hal_driver *d = driver_of(rng_below(&r, 4) == 0);
    enum hal_version version = versions[rng_below(&r, COUNT(versions))];
    draw_model(&r, &m);
    struct hal_model h = m.hal;
    for (uint32_t n = rng_below(&r, MAX_DAMAGE); n > 0; n--)
        damage(&r, a, &h);
    fuzz_converse(a, d, version, &h, &fuzz_prepare_config, fuzz_draw_request(&r, a, &h));
    client_done(&m);
    arena_free(a);
    return 0;
}
