#include "tests/runtime/plans/plan_case.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/model/extension.h"
#include "runtime/compile/operation_text.h"
#include "runtime/model/ready_model.h"
#include "sim/hal/convert.h"
#include "sim/hal/hal_convert.h"

static const int32_t codes[KINDS] = {
    [MAXIMUM_] = OP_MAXIMUM,
    [MINIMUM_] = OP_MINIMUM,
    [POW_] = OP_POW,
    [PRELU_] = OP_PRELU,
    [HARD_SWISH_] = OP_HARD_SWISH,
    [EQUAL_] = OP_EQUAL,
    [PAD_] = OP_PAD,
    [CAST_] = OP_CAST,
    [SQRT_] = OP_SQRT,
    [RELU_] = OP_RELU,
    [OEM_] = OEM_CODE,
    [IF_] = OP_IF,
    [WHILE_] = OP_WHILE,
};

static bool is_fused(enum kind k)
{
    return k < MAXIMUM_;
}

static int32_t kind_code(enum kind k)
{
    static const int32_t fused[] = { OP_ADD, OP_MUL, OP_DIV, OP_SUB };
    return is_fused(k) ? fused[k / 4] : codes[k];
}

int kind_level(enum kind k)
{
    return k < DIV_0 ? 1 : k < MAXIMUM_ ? 2 : k < HARD_SWISH_ ? 3 : 4;
}

/* ---- drivers */

static enum kind kind_of(const struct hal_model *m, const struct hal_subgraph *g,
                         const struct hal_operation *o)
{
    int32_t activation = 0;
    for (int k = 0; k < KINDS; k++)
        if (kind_code((enum kind) k) == o->type) {
            if (is_fused((enum kind) k))
                memcpy(&activation, m->operand_values + g->operands[o->inputs[2]].location.offset,
                       sizeof activation);
            return (enum kind)(k + activation);
        }
    ck_abort_msg("the driver was asked about operation %d", o->type);
}

static bool supports(const struct scripted_device *d, const struct hal_model *m,
                     const struct hal_subgraph *g, const struct hal_operation *o)
{
    if (!(d->kinds & SET(kind_of(m, g, o))))
        return false;
    for (uint32_t k = 0; k < o->n_inputs; k++) {
        const struct hal_operand *in = &g->operands[o->inputs[k]];
        if (in->lifetime != HAL_SUBGRAPH)
            continue;
        const struct hal_subgraph *sub = &m->referenced[in->location.offset];
        for (uint32_t i = 0; i < sub->n_operations; i++)
            if (!supports(d, m, sub, &sub->operations[i]))
                return false;
    }
    return true;
}

/* The model must be valid, and have nothing above the driver's level. */
static void check_model(const struct scripted_device *d, const struct hal_model *hal)
{
    struct arena *a = arena_new(0);
    struct mapping pools[4] = { { 0 } };
    struct model m;
    struct why w = { 0 };

    ck_assert_uint_le(hal->n_pools, 4);
    for (uint32_t i = 0; i < hal->n_pools; i++) {
        pools[i].address = hal->pools[i].address;
        pools[i].size = hal->pools[i].size;
    }
    ck_assert_msg(convert_from_hal(hal, d->base.entry, 0, pools, a, &m, &w) >= 0, "%s: %s", d->name,
                  w.text);
    int level = model_prepare(&m, NULL, &w);
    ck_assert_msg(level >= 0, "%s: %s", d->name, w.text);
    ck_assert_int_le(level, (int) d->base.level);
    arena_free(a);
}

static enum hal_status get_supported(struct hal_driver *self, enum hal_version version,
                                     const struct hal_model *m, bool *supported, uint32_t *ret_n)
{
    struct scripted_device *d =
        (struct scripted_device *) ((char *) self - offsetof(struct scripted_device, driver));
    ck_assert_int_eq(version, d->base.entry);
    d->asked++;
    d->n_inputs = m->main.n_inputs;
    d->n_outputs = m->main.n_outputs;
    check_model(d, m);
    if (d->status != HAL_NONE)
        return d->status;
    for (uint32_t i = 0; i < m->main.n_operations; i++)
        supported[i] = supports(d, m, &m->main, &m->main.operations[i]);
    *ret_n = m->main.n_operations + d->answers_more;
    return HAL_NONE;
}

void scripted_device_set_level(struct scripted_device *d, int level)
{
    d->base.level = (enum level) level;
    d->base.entry = hal_versions[level - 1];
}

void scripted_device_set_type(struct scripted_device *d, int32_t type, float performance)
{
    for (int i = 0; i < CASE_ROWS; i++)
        if (d->row[i].type == type)
            d->row[i].info = (struct hal_performance){ performance, performance };
}

struct scripted_device *plan_case_device(struct plan_case *c, const char *name, float performance,
                                         unsigned kinds)
{
    ck_assert_uint_lt(c->n_devices, CASE_DEVICES);
    struct scripted_device *d = &c->device[c->n_devices++];
    struct hal_performance p = { performance, performance };

    *d = (struct scripted_device){ .kinds = kinds };
    snprintf(d->name, sizeof d->name, "%s", name);
    for (int i = 0; i < CASE_ROWS; i++)
        d->row[i] = (struct hal_operand_performance){ i < 15 ? i : HAL_TYPE_OEM + i - 15, p };
    d->driver.get_supported_operations = get_supported;
    d->base = (ANeuralNetworksDevice){
        .name = d->name,
        .version = "1",
        .driver = &d->driver,
        .performance = { .relaxed_scalar = p,
                         .relaxed_tensor = p,
                         .if_performance = p,
                         .while_performance = p,
                         .n_operands = CASE_ROWS,
                         .operand = d->row },
    };
    scripted_device_set_level(d, L4);
    return d;
}

const ANeuralNetworksDevice *scripted_reference(void)
{
    static const ANeuralNetworksDevice reference = {
        .name = "CPU", .level = L8, .entry = HAL_FL8, .is_reference = true
    };
    return &reference;
}

/* ---- models */

void plan_case_init(struct plan_case *c, uint32_t n_graphs)
{
    *c =
        (struct plan_case){ .arena = arena_new(0), .preference = ANEURALNETWORKS_PREFER_LOW_POWER };
    build_init(&c->b, n_graphs);
}

void plan_case_done(struct plan_case *c)
{
    arena_free(c->arena);
    build_done(&c->b);
}

void plan_case_tensors(struct plan_case *c, const char *letters)
{
    const float one = 1;
    for (; *letters; letters++) {
        char l = *letters;
        bool is_known = l >= 'a', is_bool = l == 'b' || l == 'B';
        char life = is_bool ? (is_known ? 'i' : 'o') : (char) (l | 0x20);
        struct shape shape = is_known || is_bool ? DIMS(1) : DIMS(0);
        if (life == 'c')
            build_constant(&c->b, DT_F32, shape, &one);
        else
            build_operand(&c->b,
                          life == 'i'   ? LIFE_INPUT
                          : life == 'o' ? LIFE_OUTPUT
                                        : LIFE_TEMPORARY,
                          is_bool ? DT_B8 : DT_F32, shape);
    }
}

void plan_case_op(struct plan_case *c, enum kind kind, uint32_t first, uint32_t second,
                  uint32_t out)
{
    uint32_t in[3] = { first, second }, n = 2;
    if (is_fused(kind))
        in[n++] = build_int(&c->b, kind % 4);
    else if (kind == HARD_SWISH_ || kind == CAST_ || kind == SQRT_ || kind == RELU_ || kind == OEM_)
        n = 1;
    build_code(&c->b, kind_code(kind), in, n, &out, 1);
}

void plan_case_control(struct plan_case *c, enum kind kind, uint32_t first_graph,
                       uint32_t second_graph, const uint32_t *in, uint32_t n_in,
                       const uint32_t *out, uint32_t n_out)
{
    uint32_t list[8], n = 0, models_at = kind == IF_ ? 1 : 0;
    for (uint32_t i = 0; i < n_in + 1; i++) {
        if (i == models_at) {
            list[n++] = build_subgraph(&c->b, first_graph);
            list[n++] = build_subgraph(&c->b, second_graph);
        }
        if (i < n_in)
            list[n++] = in[i];
    }
    build_code(&c->b, kind_code(kind), list, n, out, n_out);
}

/* ---- plans */

int plan_case_make(struct plan_case *c)
{
    const ANeuralNetworksDevice *list[CASE_DEVICES + 1];
    uint32_t n = c->n_devices;

    for (uint32_t i = 0; i < n; i++)
        list[i] = &c->device[i].base;
    if (!c->without_reference)
        list[n++] = scripted_reference();
    model_count_consumers(&c->b.model);
    ck_assert_msg(ready_model_make(&c->b.model, c->arena, &c->m, &c->w) >= 0, "%s", c->w.text);
    return partition_make(&c->m, n, list, c->preference, c->arena, &c->p, &c->w);
}

static void put_list(const struct step_argument *list, uint32_t n, FILE *to)
{
    for (uint32_t i = 0; i < n; i++)
        fprintf(to, " %c%u",
                list[i].from == ARGUMENT_SOURCE_INPUT    ? 'i'
                : list[i].from == ARGUMENT_SOURCE_OUTPUT ? 'o'
                                                         : 't',
                list[i].operand.operand);
}

static void put_step(const struct plan_step *s, FILE *to)
{
    switch (s->kind) {
    case STEP_IF: fprintf(to, "IF"); break;
    case STEP_WHILE: fprintf(to, "WHILE"); break;
    case STEP_GOTO: fprintf(to, "GOTO %u", s->to); break;
    case STEP_EXECUTE:
        fprintf(to, "%s:", s->device->name);
        put_list(s->input, s->n_inputs, to);
        fputs(" >", to);
        put_list(s->output, s->n_outputs, to);
        break;
    }
}

const char *plan_case_text(struct plan_case *c)
{
    char *text = NULL;
    size_t length;
    FILE *to = open_memstream(&text, &length);

    if (c->p.kind == PLAN_SIMPLE)
        fprintf(to, "SIMPLE %s", c->p.step[0].device->name);
    for (uint32_t i = 0; i < c->p.n_steps && c->p.kind == PLAN_COMPOUND; i++) {
        fputs(i ? "; " : "", to);
        put_step(&c->p.step[i], to);
    }
    fclose(to);
    const char *copy = arena_strdup(c->arena, text);
    free(text);
    return copy;
}

void plan_case_expect(struct plan_case *c, const char *text)
{
    int result = plan_case_make(c);
    ck_assert_msg(result == ANEURALNETWORKS_NO_ERROR, "result %d: %s", result, c->w.text);
    ck_assert_str_eq(plan_case_text(c), text);
    if (c->p.kind == PLAN_SIMPLE)
        ck_assert_uint_eq(c->p.n_steps, 1);
    for (uint32_t i = 0; i < c->p.n_steps; i++)
        if (c->p.step[i].kind == STEP_EXECUTE && !model_uses_oem(&c->p.step[i].model))
            ck_assert_msg(model_prepare(&c->p.step[i].model, NULL, &c->w) >= 0, "step %u: %s", i,
                          c->w.text);
}

void plan_case_expect_failure(struct plan_case *c, int result, const char *why)
{
    ck_assert_int_eq(plan_case_make(c), result);
    ck_assert_str_eq(c->w.text, why);
}
