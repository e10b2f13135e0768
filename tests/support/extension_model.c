#include "tests/support/extension_model.h"

#include <stdlib.h>
#include <string.h>

/* Aborts instead of failing a Check test, because fuzz targets use these models too. */
static void must(bool holds)
{
    if (!holds)
        abort();
}

/* The numbers 0, 10, 20 ..., each with the number before it. */
int64_t fibonacci(uint32_t i)
{
    static const struct {
        int64_t before, value;
    } table[] = {
        { 1, 0 },
        { 34, 55 },
        { 4181, 6765 },
        { 514229, 832040 },
        { 63245986, 102334155 },
        { 7778742049, 12586269025 },
        { 956722026041, 1548008755920 },
        { 117669030460994, 190392490709135 },
        { 14472334024676221, 23416728348467685 },
        { 1779979416004714189, 2880067194370816120 },
    };
    int64_t a = table[i / 10].before, b = table[i / 10].value;

    for (uint32_t k = i / 10 * 10; k < i; k++) {
        int64_t sum = a + b;
        a = b;
        b = sum;
    }
    return b;
}

static void name_extension(struct build *b)
{
    b->model.extension = arena_alloc(b->arena, 1, sizeof(*b->model.extension));
    must(b->model.extension);
    *b->model.extension =
        (struct extension){ extension_name[EXTENSION_fibonacci], EXTENSION_fibonacci };
    b->model.n_extensions = 1;
}

static uint32_t quant64(struct build *b, enum lifetime life, uint32_t n, struct extension_scale s)
{
    uint32_t i = build_operand(b, life, DT_FIBONACCI_QUANT64, DIMS(n));
    struct tensor *t = &b->graph->operand[i].tensor;

    t->extension = arena_copy(b->arena, &s, sizeof(s));
    t->extension_length = sizeof(s);
    return i;
}

static void finish(struct client_model *m)
{
    name_extension(&m->b);
    client_convert(m);
    extension_model_renumber(m, EXTENSION_PREFIX);
}

void extension_model_plain(struct client_model *m, struct extension_scale s)
{
    build_init(&m->b, 1);
    uint32_t n = build_operand(&m->b, LIFE_INPUT, DT_I32, DIMS(1));
    uint32_t out = quant64(&m->b, LIFE_OUTPUT, 0, s);
    build_code(&m->b, EXTENSION_CODE(fibonacci, 0), IDS(n), IDS(out));
    finish(m);
}

void extension_model_mixed(struct client_model *m, struct extension_scale s, uint32_t columns)
{
    const int32_t row[] = { 1, (int32_t) columns };

    build_init(&m->b, 1);
    uint32_t x = build_operand(&m->b, LIFE_INPUT, DT_I32, DIMS(1));
    uint32_t y = build_operand(&m->b, LIFE_INPUT, DT_I32, DIMS(1));
    uint32_t act = build_int(&m->b, 0);
    uint32_t n = build_operand(&m->b, LIFE_TEMPORARY, DT_I32, DIMS(1));
    uint32_t q = quant64(&m->b, LIFE_TEMPORARY, columns, s);
    uint32_t real = build_operand(&m->b, LIFE_TEMPORARY, DT_F32, DIMS(columns));
    uint32_t dims = build_constant(&m->b, DT_I32, DIMS(2), row);
    uint32_t out = build_operand(&m->b, LIFE_OUTPUT, DT_F32, DIMS(1, columns));
    OPERATION(&m->b, "ADD", IDS(x, y, act), IDS(n));
    build_code(&m->b, EXTENSION_CODE(fibonacci, 0), IDS(n), IDS(q));
    build_code(&m->b, EXTENSION_CODE(fibonacci, 1), IDS(q), IDS(real));
    OPERATION(&m->b, "RESHAPE", IDS(real, dims), IDS(out));
    finish(m);
}

void extension_model_branch(struct client_model *m)
{
    const struct extension_scale s = { 1, 0 };

    build_init(&m->b, 3);
    uint32_t condition = build_operand(&m->b, LIFE_INPUT, DT_B8, DIMS(1));
    uint32_t x = build_operand(&m->b, LIFE_INPUT, DT_INT32, (struct shape){ 0 });
    uint32_t y = build_operand(&m->b, LIFE_INPUT, DT_INT32, (struct shape){ 0 });
    uint32_t yes = build_subgraph(&m->b, 1), no = build_subgraph(&m->b, 2);
    uint32_t out = quant64(&m->b, LIFE_OUTPUT, 5, s);
    OPERATION(&m->b, "IF", IDS(condition, yes, no, x, y), IDS(out));
    for (uint32_t g = 1; g <= 2; g++) {
        build_graph(&m->b, g);
        uint32_t a = build_operand(&m->b, LIFE_INPUT, DT_INT32, (struct shape){ 0 });
        uint32_t b = build_operand(&m->b, LIFE_INPUT, DT_INT32, (struct shape){ 0 });
        uint32_t q = quant64(&m->b, LIFE_OUTPUT, 5, s);
        build_code(&m->b, EXTENSION_CODE(fibonacci, 0), IDS(g == 1 ? a : b), IDS(q));
    }
    build_graph(&m->b, 0);
    finish(m);
}

static int32_t renumbered(int32_t code, uint16_t prefix)
{
    return code >> 16 ? (int32_t) ((uint32_t) prefix << 16 | ((uint32_t) code & 0xffff)) : code;
}

static void renumber_graph(const struct hal_subgraph *g, uint16_t prefix)
{
    struct hal_operand *operand = (struct hal_operand *) g->operands;
    struct hal_operation *operation = (struct hal_operation *) g->operations;

    for (uint32_t i = 0; i < g->n_operands; i++)
        operand[i].type = renumbered(operand[i].type, prefix);
    for (uint32_t i = 0; i < g->n_operations; i++)
        operation[i].type = renumbered(operation[i].type, prefix);
}

void extension_model_renumber(struct client_model *m, uint16_t prefix)
{
    renumber_graph(&m->hal.main, prefix);
    for (uint32_t i = 0; i < m->hal.n_referenced; i++)
        renumber_graph(&m->hal.referenced[i], prefix);
    ((struct hal_extension_prefix *) m->hal.extension_name_to_prefix)->prefix = prefix;
}

void extension_request_fill(struct extension_request *r, uint32_t n_inputs, uint64_t out_bytes)
{
    void *memory[] = { r->in, r->q };
    uint64_t size[] = { sizeof(r->in), sizeof(r->q) };

    *r = (struct extension_request){ 0 };
    for (uint32_t i = 0; i < n_inputs; i++)
        r->arg[i].location = (struct hal_location){ .offset = 4 * i, .length = 4 };
    r->out[0].location = (struct hal_location){ .pool = 1, .length = out_bytes };
    for (int i = 0; i < 2; i++)
        r->pool[i].memory = (struct hal_memory){ .kind = HAL_MEMORY_ADDRESS,
                                                 .protection = HAL_MEMORY_READ | HAL_MEMORY_WRITE,
                                                 .address = memory[i],
                                                 .fd = -1,
                                                 .size = size[i] };
    r->hal = (struct hal_request){ n_inputs, 1, 2, r->arg, r->out, r->pool };
    r->result = (struct hal_result){ .shapes = r->shape, .capacity = 1 };
}
