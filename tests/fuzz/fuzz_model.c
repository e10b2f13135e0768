/* Validation, execution and conversion of models: the operands, operations and lists are those of a
 * message (case.proto), taken over without any check.  If validation accepts the model, it must run
 * within its limits or fail with a reason. */
#include "golden/golden.h"
#include "sim/hal/hal_convert.h"
#include "tests/fuzz/common/fuzz_case.h"
#include "tests/fuzz/common/fuzz_reference.h"
#include "tests/fuzz/fuzz.h"

enum { ARENA = 1 << 24, MAX_ELEMENTS = 1 << 13, MAX_ARGUMENT = 1 << 12 };

/* ---- the model; a count whose list is missing is left as it is */

/* `length` bytes of the model's values; NULL: there are not as many. */
static void *values_at(const Wire__Model *m, uint64_t offset, uint64_t length)
{
    const ProtobufCBinaryData *v = &m->operand_values;

    return v->len && offset <= v->len && length <= v->len - offset ? v->data + offset : NULL;
}

static void take_constant(const Wire__Model *m, const Wire__Location *l, struct operand *o)
{
    uint64_t base = 0;

    o->length = (size_t) l->length;
    o->pool = l->pool;
    if (o->life == LIFE_CONSTANT_REFERENCE)
        base = l->pool < m->n_pools ? m->pools[l->pool]->offset : UINT64_MAX / 2;
    o->tensor.data = values_at(m, base + l->offset, l->length);
}

static void take_operand(const Wire__Model *m, const Wire__Operand *from, struct operand *o)
{
    const Wire__Location none = WIRE__LOCATION__INIT, *l = from->location ? from->location : &none;
    struct tensor *t = &o->tensor;

    o->life = (enum lifetime) from->lifetime;
    o->consumers = from->n_consumers;
    t->dtype = (enum dtype) from->type;
    t->shape.rank = (uint32_t) from->n_dims;
    for (size_t i = 0; i < from->n_dims && i < MAX_RANK; i++)
        t->shape.dim[i] = from->dims[i];
    t->scale = from->scale;
    t->zero = from->zero;
    t->channel_dim = from->channel_dim;
    t->n_channels = (uint32_t) from->n_channel_scales;
    t->channel_scale = from->channel_scales;
    t->extension = from->extension.data;
    t->extension_length = from->extension.len;
    if (o->life == LIFE_SUBGRAPH)
        o->subgraph = (uint32_t) l->offset + 1;
    else if (o->life == LIFE_CONSTANT_COPY || o->life == LIFE_CONSTANT_REFERENCE)
        take_constant(m, l, o);
}

static struct graph take_graph(const Wire__Model *m, const Wire__Subgraph *from, struct arena *a)
{
    struct graph g = { .operand = arena_alloc(a, from->n_operands, sizeof *g.operand),
                       .operation = arena_alloc(a, from->n_operations, sizeof *g.operation),
                       .input = from->inputs,
                       .output = from->outputs,
                       .n_operands = (uint32_t) from->n_operands,
                       .n_operations = (uint32_t) from->n_operations,
                       .n_inputs = (uint32_t) from->n_inputs,
                       .n_outputs = (uint32_t) from->n_outputs };

    for (uint32_t i = 0; g.operand && i < g.n_operands; i++)
        take_operand(m, from->operands[i], &g.operand[i]);
    for (uint32_t i = 0; g.operation && i < g.n_operations; i++) {
        const Wire__Operation *o = from->operations[i];
        g.operation[i] = (struct operation){ o->type, (uint32_t) o->n_inputs,
                                             (uint32_t) o->n_outputs, o->inputs, o->outputs };
    }
    return g;
}

static struct model take_model(const Wire__Model *from, struct arena *a)
{
    struct model m = { .n_graphs = (uint32_t) from->n_referenced + 1,
                       .n_pools = (uint32_t) from->n_pools,
                       .n_extensions = (uint32_t) from->n_prefixes,
                       .relaxed = from->relaxed };

    m.graph = arena_alloc(a, m.n_graphs, sizeof *m.graph);
    m.pool = arena_alloc(a, m.n_pools, sizeof *m.pool);
    m.extension = arena_alloc(a, m.n_extensions, sizeof *m.extension);
    for (uint32_t i = 0; m.graph && i < m.n_graphs; i++)
        m.graph[i] = take_graph(from, i ? from->referenced[i - 1] : from->main, a);
    for (uint32_t i = 0; m.pool && i < m.n_pools; i++)
        m.pool[i] = (struct pool){ values_at(from, from->pools[i]->offset, from->pools[i]->size),
                                   (size_t) from->pools[i]->size };
    for (uint32_t i = 0; m.extension && i < m.n_extensions; i++)
        m.extension[i] =
            (struct extension){ from->prefixes[i]->name, (uint16_t) from->prefixes[i]->prefix };
    return m;
}

/* A list of the main graph or of the model is NULL, with its count unchanged. */
static void leave_out(struct model *m, uint32_t which)
{
    struct graph *g = &m->graph[0];

    switch (which) {
    case 1: g->operand = NULL; break;
    case 2: g->operation = NULL; break;
    case 3: g->input = NULL; break;
    case 4: g->output = NULL; break;
    case 5: m->pool = NULL; break;
    case 6: m->extension = NULL; break;
    case 7: m->graph = NULL; break;
    case 8:
        if (g->n_operations)
            g->operation[0].in = NULL;
        break;
    default: break;
    }
}

/* ---- what is done with it */

/* Arguments for the declared inputs, with these bytes; NULL: they are too large. */
static struct tensor *arguments(const struct model *m, const ProtobufCBinaryData *from,
                                struct arena *a)
{
    const struct graph *g = &m->graph[0];
    struct tensor *in = arena_alloc(a, g->n_inputs + 1, sizeof *in);
    size_t at = 0;

    for (uint32_t i = 0; in && i < g->n_inputs; i++) {
        struct tensor *t = &in[i];
        *t = g->operand[g->input[i]].tensor;
        for (uint32_t k = 0; k < t->shape.rank; k++)
            if (t->shape.dim[k] == 0)
                t->shape.dim[k] = from->len ? from->data[at++ % from->len] % 4 : 1;
        uint64_t size = shape_check_size(&t->shape, dtype_info[t->dtype].codec->size) < 0
                            ? UINT64_MAX
                            : tensor_bytes(t);
        uint8_t *bytes = size <= MAX_ARGUMENT ? arena_alloc_raw(a, size, 1) : NULL;
        if (!bytes)
            return NULL;
        for (size_t k = 0; k < size; k++)
            bytes[k] = from->len ? from->data[at++ % from->len] : 0;
        t->data = bytes;
    }
    return in;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct arena *a = arena_new(ARENA);
    const Fuzz__Case *c = a ? fuzz_case_read(bytes, length, a) : NULL;
    struct plan *plan;
    struct why w;

    if (c) {
        struct model m = take_model(c->model, a);
        leave_out(&m, c->missing);
        if (plan_new(&m, &plan, &w) == 0) {
            struct tensor *in =
                fuzz_case_elements(c->model) <= MAX_ELEMENTS ? arguments(&m, &c->memory, a) : NULL;
            if (in)
                fuzz_reference_run(plan, in, &w);
            plan_free(plan);
            fuzz_reference_convert(a, &m, 1 + (int) (c->version % HAL_VERSIONS));
        }
    }
    arena_free(a);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t length, size_t max, unsigned seed)
{
    return fuzz_case_mutate(bytes, length, max, seed);
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t n_a, const uint8_t *b, size_t n_b,
                                 uint8_t *to, size_t max, unsigned seed)
{
    return fuzz_case_cross(a, n_a, b, n_b, to, max, seed);
}
