#include "tests/fuzz/common/fuzz_client.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sim/device/engine.h"
#include "sim/device/profile.h"
#include "sim/hal/hal_convert.h"

enum { MEMORY = 1 << 22, ROOM = 1 << 14, MAX_IO = 64 };

void fuzz_must(bool holds)
{
    if (!holds)
        abort();
}

uint64_t fuzz_hostile(struct rng *r)
{
    static const uint64_t number[] = {
        0,          1,          2,          3,          8,       255,    65535,
        0x7fffffff, 0x80000000, 0xffffffff, UINT64_MAX, 1 << 20, 100000, UINT64_MAX - 7
    };
    uint32_t k = rng_below(r, 32);

    return k < COUNT(number) ? number[k] : rng_below(r, 64);
}

const struct hal_prepare_config fuzz_prepare_config = { .preference = HAL_FAST_SINGLE_ANSWER,
                                                        .priority = HAL_PRIORITY_MEDIUM,
                                                        .deadline = HAL_NO_DEADLINE };

struct hal_driver *fuzz_open_driver(const char *profile, extension_set extensions)
{
    struct hal_driver *d = NULL;
    struct profile *p = NULL;
    struct engine *e = NULL;
    struct why w;

    fuzz_must(profile_parse(profile_shipped(profile), profile, &p, &w) == 0);
    p->memory = MEMORY;
    p->extensions |= extensions;
    fuzz_must(engine_device(p, NULL, &e, &w) == 0 && driver_new(e, &d, &w) == 0);
    return d;
}

/* ---- damage */

void *fuzz_own(struct arena *a, const void *from, size_t n, size_t size)
{
    void *to = arena_copy(a, from, n * size);

    fuzz_must(to);
    return to;
}

static void damage_location(struct rng *r, struct hal_location *l)
{
    switch (rng_below(r, 4)) {
    case 0: l->pool = (uint32_t) fuzz_hostile(r); break;
    case 1: l->offset = fuzz_hostile(r); break;
    case 2: l->length = fuzz_hostile(r); break;
    default: l->padding = fuzz_hostile(r);
    }
}

static void damage_dims(struct rng *r, struct arena *a, struct hal_operand *o)
{
    uint32_t *dims = arena_alloc(a, MAX_RANK + 2, sizeof *dims);

    fuzz_must(dims);
    if (o->n_dims)
        memcpy(dims, o->dims, o->n_dims * sizeof *dims);
    dims[rng_below(r, MAX_RANK + 2)] = (uint32_t) fuzz_hostile(r);
    o->dims = dims;
    o->n_dims = rng_below(r, 4) ? o->n_dims : rng_below(r, MAX_RANK + 3);
}

static void damage_operand(struct rng *r, struct arena *a, struct hal_operand *o)
{
    static const float scale[] = { 0, -1, 1, NAN, INFINITY, 1e-45f, 3e38f, 0.5f };

    switch (rng_below(r, 9)) {
    case 0: o->type = (int32_t) fuzz_hostile(r); break;
    case 1: o->type = (int32_t) rng_below(r, DT_COUNT); break;
    case 2: damage_dims(r, a, o); break;
    case 3: o->n_consumers = (uint32_t) fuzz_hostile(r); break;
    case 4: o->scale = scale[rng_below(r, COUNT(scale))]; break;
    case 5: o->zero = (int32_t) fuzz_hostile(r); break;
    case 6: o->lifetime = (enum hal_lifetime) rng_below(r, 9); break;
    case 7: o->extra = (enum hal_extra_kind) rng_below(r, 3); break;
    default: damage_location(r, &o->location);
    }
}

static void damage_operation(struct rng *r, struct arena *a, struct hal_operation *o)
{
    uint32_t *in = fuzz_own(a, o->inputs, o->n_inputs, sizeof *in);
    uint32_t *out = fuzz_own(a, o->outputs, o->n_outputs, sizeof *out);

    o->inputs = in;
    o->outputs = out;
    switch (rng_below(r, 5)) {
    case 0: o->type = (int32_t) fuzz_hostile(r); break;
    case 1: o->n_inputs -= o->n_inputs > 0; break;
    case 2: o->n_outputs -= o->n_outputs > 0; break;
    case 3:
        if (o->n_inputs)
            in[rng_below(r, o->n_inputs)] = (uint32_t) fuzz_hostile(r);
        break;
    default:
        if (o->n_outputs)
            out[rng_below(r, o->n_outputs)] = (uint32_t) fuzz_hostile(r);
    }
}

static void damage_graph(struct rng *r, struct arena *a, struct hal_subgraph *g)
{
    struct hal_operand *operands = fuzz_own(a, g->operands, g->n_operands, sizeof *operands);
    struct hal_operation *operations =
        fuzz_own(a, g->operations, g->n_operations, sizeof *operations);

    g->operands = operands;
    g->operations = operations;
    uint32_t kind = rng_below(r, 12);
    if (kind < 7 && g->n_operands)
        damage_operand(r, a, &operands[rng_below(r, g->n_operands)]);
    else if (kind < 9 && g->n_operations)
        damage_operation(r, a, &operations[rng_below(r, g->n_operations)]);
    else if (kind == 9)
        g->n_inputs -= g->n_inputs > 0;
    else if (kind == 10)
        g->n_operands -= g->n_operands > 0;
    else
        g->n_outputs -= g->n_outputs > 0;
}

void fuzz_damage(struct rng *r, struct arena *a, struct hal_model *h)
{
    struct hal_subgraph *referenced =
        fuzz_own(a, h->referenced, h->n_referenced, sizeof *referenced);
    uint32_t which = rng_below(r, h->n_referenced + 2);

    h->referenced = referenced;
    if (which == 0)
        damage_graph(r, a, &h->main);
    else if (which <= h->n_referenced)
        damage_graph(r, a, &referenced[which - 1]);
    else if (rng_below(r, 2))
        h->operand_values_length -= h->operand_values_length > 0;
    else
        h->n_referenced -= h->n_referenced > 0;
}

/* ---- the client */

static void notify(struct hal_prepare_callback *self, enum hal_status status,
                   struct hal_prepared_model *model)
{
    struct fuzz_prepared *p = (struct fuzz_prepared *) self;

    p->calls++;
    p->status = status;
    p->model = model;
}

void fuzz_prepared_init(struct fuzz_prepared *p)
{
    *p = (struct fuzz_prepared){ .base = { notify } };
}

void fuzz_prepared_check(const struct fuzz_prepared *p, enum hal_status launched)
{
    fuzz_must((unsigned) launched < HAL_STATUS_COUNT && (unsigned) p->status < HAL_STATUS_COUNT);
    fuzz_must(p->calls == 1 && (p->status == HAL_NONE) == (p->model != NULL));
    fuzz_must(launched == HAL_NONE || launched == p->status);
}

static struct fuzz_prepared prepare(struct hal_driver *d, enum hal_version version,
                                    const struct hal_model *h,
                                    const struct hal_prepare_config *config)
{
    struct fuzz_prepared p;

    fuzz_prepared_init(&p);
    enum hal_status launched = d->prepare_model(d, version, h, config, &p.base);
    fuzz_prepared_check(&p, launched);
    return p;
}

/* Places arguments one after another in a pool, and damages some of them. */
static void draw_arguments(struct rng *r, const struct hal_subgraph *g, const uint32_t *list,
                           uint32_t n, uint32_t pool, struct hal_argument *to)
{
    uint64_t at = 0;

    for (uint32_t i = 0; i < n; i++) {
        const struct hal_operand *o = list[i] < g->n_operands ? &g->operands[list[i]] : NULL;
        const struct dtype_info *info = o ? dtype_find(o->type) : NULL;
        uint64_t length = info ? info->codec->size : 1;
        for (uint32_t d = 0; o && d < o->n_dims; d++)
            length *= o->dims[d] ? o->dims[d] : 1;
        to[i] = (struct hal_argument){ .location = { pool, at, length, 0 } };
        at += length;
        if (rng_below(r, 8) == 0)
            damage_location(r, &to[i].location);
        if (rng_below(r, 16) == 0)
            to[i].has_no_value = true;
    }
}

const struct hal_request *fuzz_draw_request(struct rng *r, struct arena *a,
                                            const struct hal_model *h)
{
    const struct hal_subgraph *g = &h->main;
    struct hal_request *q = arena_alloc(a, 1, sizeof *q);
    struct hal_argument *in = arena_alloc(a, g->n_inputs, sizeof *in);
    struct hal_argument *out = arena_alloc(a, g->n_outputs, sizeof *out);
    struct hal_request_pool *pools = arena_alloc(a, 2, sizeof *pools);
    uint8_t *memory = arena_alloc(a, 2, ROOM);

    fuzz_must(q && in && out && pools && memory);
    for (uint32_t i = 0; i < 2; i++)
        pools[i].memory = (struct hal_memory){ HAL_MEMORY_ADDRESS,
                                               HAL_MEMORY_READ | (i ? HAL_MEMORY_WRITE : 0),
                                               memory + i * ROOM,
                                               -1,
                                               0,
                                               ROOM };
    draw_arguments(r, g, g->inputs, g->n_inputs, 0, in);
    draw_arguments(r, g, g->outputs, g->n_outputs, 1, out);
    *q = (struct hal_request){ g->n_inputs, g->n_outputs, 2, in, out, pools };
    return q;
}

static void execute(enum hal_version version, struct hal_prepared_model *p,
                    const struct hal_request *q, bool measure)
{
    struct hal_output_shape shapes[MAX_IO];
    struct hal_result result = { .shapes = shapes, .capacity = MAX_IO };
    const struct hal_execution_config config = { .measure = measure && version >= HAL_1_2,
                                                 .deadline = HAL_NO_DEADLINE,
                                                 .loop_timeout =
                                                     version < HAL_1_3 ? HAL_NO_TIME : 1000000 };

    enum hal_status status = p->methods->execute_synchronously(p, version, q, &config, &result);
    fuzz_must(hal_status_complies(status, version));
    fuzz_must(status == HAL_NONE || status == HAL_OUTPUT_INSUFFICIENT_SIZE
                  ? result.n_shapes == q->n_outputs
                  : result.n_shapes == 0);
}

void fuzz_converse(struct arena *a, struct hal_driver *d, enum hal_version version,
                   const struct hal_model *h, const struct hal_prepare_config *config,
                   const struct hal_request *q)
{
    bool *supported = arena_alloc(a, h->main.n_operations, sizeof(bool));
    uint32_t n = UINT32_MAX;

    fuzz_must(supported);
    enum hal_status status = d->get_supported_operations(d, version, h, supported, &n);
    fuzz_must(hal_status_complies(status, version));
    fuzz_must(n == (status == HAL_NONE ? h->main.n_operations : UINT32_MAX));
    struct fuzz_prepared p = prepare(d, version, h, config);
    fuzz_must(status == HAL_NONE || p.status != HAL_NONE);
    if (!p.model)
        return;
    if (q && q->n_outputs <= MAX_IO)
        for (int i = 0; i < 2; i++)
            execute(version, p.model, q, i);
    p.model->methods->release(p.model);
}
