#include "harness/corrupt/conform_mutations.h"

#include <string.h>

#include "harness/conform/conform.h"
#include "harness/corrupt/conform_exempt.h"
#include "harness/corrupt/conform_mutant.h"

static uint32_t n_operands(const struct conform_walk *w)
{
    return w->original->main.n_operands;
}

static uint32_t n_operations(const struct conform_walk *w)
{
    return w->original->main.n_operations;
}

static const struct hal_operand *original_operand(const struct conform_walk *w, uint32_t i)
{
    return &w->original->main.operands[i];
}

static const struct hal_operation *original_operation(const struct conform_walk *w, uint32_t i)
{
    return &w->original->main.operations[i];
}

static bool is_written(const struct hal_operand *o)
{
    return o->lifetime == HAL_TEMPORARY_VARIABLE || o->lifetime == HAL_SUBGRAPH_OUTPUT;
}

static bool is_constant(const struct hal_operand *o)
{
    return o->lifetime == HAL_CONSTANT_COPY || o->lifetime == HAL_CONSTANT_REFERENCE;
}

/* ---- execution order */

static bool reads_written(const struct conform_walk *w, const struct hal_operation *o)
{
    for (uint32_t k = 0; k < o->n_inputs; k++)
        if (is_written(original_operand(w, o->inputs[k])))
            return true;
    return false;
}

static bool writes_read(const struct conform_walk *w, const struct hal_operation *o)
{
    for (uint32_t k = 0; k < o->n_outputs; k++)
        if (original_operand(w, o->outputs[k])->n_consumers)
            return true;
    return false;
}

static void each_order(struct conform_walk *w)
{
    for (uint32_t i = 0; i < n_operations(w); i++) {
        struct hal_operation o = *original_operation(w, i);
        if (reads_written(w, &o)) {
            mutant_begin(w);
            memmove(w->operation + 1, w->operation, i * sizeof o);
            w->operation[0] = o;
            mutant_emit(w, "operation %u comes first", i);
        }
        if (writes_read(w, &o)) {
            mutant_begin(w);
            memmove(w->operation + i, w->operation + i + 1, (n_operations(w) - i - 1) * sizeof o);
            w->operation[n_operations(w) - 1] = o;
            mutant_emit(w, "operation %u comes last", i);
        }
    }
}

/* ---- operands */

static void each_type(struct conform_walk *w)
{
    static const int32_t oldest[] = { -1, 6, 9999, 10002 }, of_1_2[] = { -1, 14, 9999, 10002 },
                         of_1_3[] = { -1, 16, 9999, 10002 };
    const int32_t *types = w->version < HAL_1_2 ? oldest : w->version == HAL_1_2 ? of_1_2 : of_1_3;

    for (uint32_t i = 0; i < n_operands(w); i++)
        for (int k = 0; k < 4; k++) {
            mutant_begin(w);
            w->operand[i].type = types[k];
            mutant_emit(w, "operand %u: type %d", i, types[k]);
        }
}

static void each_rank(struct conform_walk *w)
{
    static const uint32_t unknown[] = { 0 };

    for (uint32_t i = 0; i < n_operands(w); i++) {
        bool tensor = mutant_type_of(original_operand(w, i)->type)->tensor;
        if ((tensor && w->version >= HAL_1_2) || original_operand(w, i)->type == DT_MODEL)
            continue;
        mutant_begin(w);
        w->operand[i].n_dims = tensor ? 0 : 1;
        w->operand[i].dims = tensor ? NULL : unknown;
        mutant_emit(w, "operand %u: rank %d", i, !tensor);
    }
}

static float bad_scale(enum quant quant)
{
    switch (quant) {
    case QUANT_AFFINE:
    case QUANT_SYMM: return 0;
    case QUANT_BIAS: return -1;
    default: return 1;
    }
}

static void each_scale(struct conform_walk *w)
{
    for (uint32_t i = 0; i < n_operands(w); i++) {
        mutant_begin(w);
        w->operand[i].scale = bad_scale(mutant_type_of(w->operand[i].type)->quant);
        mutant_emit(w, "operand %u: scale %g", i, (double) w->operand[i].scale);
    }
}

static const struct bad_zero {
    enum dtype type;
    int n;
    int32_t zero[4];
} bad_zeros[] = {
    { DT_U8, 2, { -1, 256 } },     { DT_Q8S, 4, { -129, -1, 1, 128 } },
    { DT_Q16A, 2, { -1, 65536 } }, { DT_Q16S, 4, { -32769, -1, 1, 32768 } },
    { DT_S8, 2, { -129, 128 } },
};

static void each_zero(struct conform_walk *w)
{
    static const struct bad_zero other = { .n = 1, .zero = { 1 } };

    for (uint32_t i = 0; i < n_operands(w); i++) {
        const struct bad_zero *bad = &other;
        for (int k = 0; k < (int) (sizeof bad_zeros / sizeof *bad_zeros); k++)
            if ((int32_t) bad_zeros[k].type == original_operand(w, i)->type)
                bad = &bad_zeros[k];
        for (int k = 0; k < bad->n; k++) {
            mutant_begin(w);
            w->operand[i].zero = bad->zero[k];
            mutant_emit(w, "operand %u: zero point %d", i, bad->zero[k]);
        }
    }
}

/* ---- lifetimes */

static void each_lifetime(struct conform_walk *w)
{
    static const enum hal_lifetime of_written[] = { HAL_SUBGRAPH_INPUT, HAL_CONSTANT_COPY },
                                   of_others[] = { HAL_TEMPORARY_VARIABLE, HAL_SUBGRAPH_OUTPUT };

    for (uint32_t i = 0; i < n_operands(w); i++) {
        const struct hal_operand *o = original_operand(w, i);
        bool other = is_constant(o) || o->lifetime == HAL_SUBGRAPH_INPUT;
        for (int k = 0; k < 2 && (other || is_written(o)); k++) {
            mutant_begin(w);
            if (!mutant_set_lifetime(w, i, other ? of_others[k] : of_written[k]))
                continue;
            mutant_update_lists(w, i);
            mutant_emit(w, "operand %u: lifetime %d", i, (int) w->operand[i].lifetime);
        }
    }
}

static void each_unlisted(struct conform_walk *w)
{
    static const enum hal_lifetime to[] = {
        [HAL_TEMPORARY_VARIABLE] = HAL_SUBGRAPH_OUTPUT, [HAL_SUBGRAPH_INPUT] = HAL_CONSTANT_COPY,
        [HAL_SUBGRAPH_OUTPUT] = HAL_TEMPORARY_VARIABLE, [HAL_CONSTANT_COPY] = HAL_SUBGRAPH_INPUT,
        [HAL_CONSTANT_REFERENCE] = HAL_SUBGRAPH_INPUT,
    };

    for (uint32_t i = 0; i < n_operands(w); i++) {
        enum hal_lifetime from = original_operand(w, i)->lifetime;
        if (from == HAL_NO_VALUE || from == HAL_SUBGRAPH)
            continue;
        mutant_begin(w);
        if (mutant_set_lifetime(w, i, to[from]))
            mutant_emit(w, "operand %u: lifetime %d, lists unchanged", i, (int) to[from]);
    }
}

/* A list of unchanged length that contains one operand twice and another not at all. */
static void each_repeated(struct conform_walk *w)
{
    struct hal_subgraph *g = &w->mutant.model.main;

    for (uint32_t i = 1; i < w->original->main.n_inputs; i++) {
        mutant_begin(w);
        mutant_own_list(w, &g->inputs, g->n_inputs)[i] = g->inputs[0];
        mutant_emit(w, "input 0 is also input %u", i);
    }
    for (uint32_t i = 1; i < w->original->main.n_outputs; i++) {
        mutant_begin(w);
        mutant_own_list(w, &g->outputs, g->n_outputs)[i] = g->outputs[0];
        mutant_emit(w, "output 0 is also output %u", i);
    }
}

/* The first input and a constant exchange lifetimes; the lists stay unchanged. */
static void each_exchange(struct conform_walk *w)
{
    if (!w->original->main.n_inputs)
        return;
    for (uint32_t i = 0; i < n_operands(w); i++) {
        uint32_t input = w->original->main.inputs[0];
        if (!is_constant(original_operand(w, i)))
            continue;
        mutant_begin(w);
        if (mutant_set_lifetime(w, i, HAL_SUBGRAPH_INPUT) &&
            mutant_set_lifetime(w, input, HAL_CONSTANT_COPY))
            mutant_emit(w, "operands %u and %u exchange lifetimes", i, input);
    }
}

static void each_wrong_list(struct conform_walk *w)
{
    each_unlisted(w);
    each_repeated(w);
    each_exchange(w);
}

static void each_consumers(struct conform_walk *w)
{
    for (uint32_t i = 0; i < n_operands(w); i++)
        for (int step = original_operand(w, i)->n_consumers ? -1 : 1; step <= 1; step += 2) {
            mutant_begin(w);
            w->operand[i].n_consumers += (uint32_t) step;
            mutant_emit(w, "operand %u: %u consumers", i, w->operand[i].n_consumers);
        }
}

/* ---- operand types against operations */

/* Sets the type; rank, scale and zero point become valid for it. */
static void retype(struct conform_walk *w, struct hal_operand *o, int type)
{
    static const uint32_t one[] = { 1 };
    const struct dtype_info *info = &dtype_info[type];

    o->type = type;
    o->n_dims = !info->tensor ? 0 : o->n_dims ? o->n_dims : 1;
    o->dims = !info->tensor ? NULL : o->dims && o->n_dims ? o->dims : one;
    o->zero = 0;
    o->extra = HAL_EXTRA_NONE;
    if (info->quant == QUANT_AFFINE || info->quant == QUANT_SYMM)
        o->scale = o->scale > 0 ? o->scale : 1;
    else if (info->quant != QUANT_BIAS)
        o->scale = 0;
    if (info->quant != QUANT_CHANNEL)
        return;
    float *scales = arena_alloc(w->arena, o->dims[0] + 1, sizeof *scales);
    for (uint32_t i = 0; i < o->dims[0]; i++)
        scales[i] = 1;
    o->extra = HAL_EXTRA_CHANNEL_QUANT;
    o->channel_dim = 0;
    o->n_channel_scales = o->dims[0];
    o->channel_scales = scales;
}

static void each_operand_type(struct conform_walk *w)
{
    int n = w->version < HAL_1_2 ? 6 : w->version == HAL_1_2 ? 14 : 16;

    for (uint32_t i = 0; i < n_operands(w); i++)
        for (int type = 0; type < n; type++) {
            if (type == original_operand(w, i)->type)
                continue;
            mutant_begin(w);
            retype(w, &w->operand[i], type);
            if (!conform_is_exempt(w))
                mutant_emit(w, "operand %u: %s", i, dtype_info[type].name);
        }
}

/* ---- operations */

static void each_operation_type(struct conform_walk *w)
{
    static const struct {
        enum hal_version version;
        int32_t end;
    } ends[8] = { { HAL_1_0, 29 },  { HAL_1_1, 38 },  { HAL_1_2, 95 },  { HAL_1_3, 102 },
                  { HAL_FL5, 102 }, { HAL_FL6, 104 }, { HAL_FL7, 106 }, { HAL_FL8, 106 } };
    int32_t code[] = { -1, 0, 9999, 10001 };

    for (int k = 0; k < 8; k++)
        if (ends[k].version == w->version)
            code[1] = ends[k].end;
    for (uint32_t i = 0; i < n_operations(w); i++)
        for (int k = 0; k < 4; k++) {
            mutant_begin(w);
            w->operation[i].type = code[k];
            mutant_emit(w, "operation %u: code %d", i, code[k]);
        }
}

static void each_input_index(struct conform_walk *w)
{
    for (uint32_t i = 0; i < n_operations(w); i++)
        for (uint32_t k = 0; k < original_operation(w, i)->n_inputs; k++) {
            mutant_begin(w);
            mutant_inputs(w, i)[k] = n_operands(w);
            mutant_emit(w, "operation %u: input %u out of range", i, k);
        }
}

static void each_output_index(struct conform_walk *w)
{
    for (uint32_t i = 0; i < n_operations(w); i++)
        for (uint32_t k = 0; k < original_operation(w, i)->n_outputs; k++) {
            mutant_begin(w);
            mutant_outputs(w, i)[k] = n_operands(w);
            mutant_emit(w, "operation %u: output %u out of range", i, k);
        }
}

static void each_writer(struct conform_walk *w)
{
    uint32_t n = n_operations(w);

    for (uint32_t i = 0; i < n; i++)
        for (uint32_t k = 0; k < original_operation(w, i)->n_outputs; k++) {
            mutant_begin(w);
            w->operation[n] = w->operation[i];
            w->mutant.model.main.n_operations = n + 1;
            uint32_t *out = mutant_outputs(w, n);
            for (uint32_t j = 0; j < w->operation[n].n_outputs; j++)
                out[j] = j == k ? out[j] : mutant_add_like(w, out[j]);
            for (uint32_t j = 0; j < w->operation[n].n_inputs; j++)
                w->operand[w->operation[n].inputs[j]].n_consumers++;
            mutant_emit(w, "operation %u: output %u is written twice", i, k);
        }
}

static void each_lost_write(struct conform_walk *w)
{
    for (uint32_t i = 0; i < n_operations(w); i++)
        for (uint32_t k = 0; k < original_operation(w, i)->n_outputs; k++) {
            mutant_begin(w);
            uint32_t *out = mutant_outputs(w, i);
            out[k] = mutant_add_like(w, out[k]);
            mutant_emit(w, "operation %u: output %u is written to another operand", i, k);
        }
}

/* ---- removed and additional parts */

/* As in the suites, the indexes of the operands after the removed one are not shifted. */
static void each_operand_gap(struct conform_walk *w)
{
    for (uint32_t i = 0; i < n_operands(w); i++) {
        struct hal_subgraph *g = &w->mutant.model.main;
        mutant_begin(w);
        memmove(w->operand + i, w->operand + i + 1, (n_operands(w) - i - 1) * sizeof *w->operand);
        g->n_operands--;
        mutant_drop_value(w, &g->inputs, &g->n_inputs, i);
        mutant_drop_value(w, &g->outputs, &g->n_outputs, i);
        for (uint32_t k = 0; k < g->n_operations; k++) {
            mutant_drop_value(w, &w->operation[k].inputs, &w->operation[k].n_inputs, i);
            mutant_drop_value(w, &w->operation[k].outputs, &w->operation[k].n_outputs, i);
        }
        if (!conform_is_exempt(w))
            mutant_emit(w, "operand %u removed", i);
    }
}

static void each_operation_gap(struct conform_walk *w)
{
    for (uint32_t i = 0; i < n_operations(w); i++) {
        const struct hal_operation *o = original_operation(w, i);
        mutant_begin(w);
        for (uint32_t k = 0; k < o->n_inputs; k++)
            w->operand[o->inputs[k]].n_consumers--;
        w->mutant.model.main.n_operations--;
        memmove(w->operation + i, w->operation + i + 1, (n_operations(w) - i - 1) * sizeof *o);
        mutant_emit(w, "operation %u removed", i);
    }
}

static void each_input_gap(struct conform_walk *w)
{
    for (uint32_t i = 0; i < n_operations(w); i++)
        for (uint32_t k = 0; k < original_operation(w, i)->n_inputs; k++) {
            mutant_begin(w);
            w->operand[w->operation[i].inputs[k]].n_consumers--;
            mutant_drop(w, &w->operation[i].inputs, &w->operation[i].n_inputs, k);
            if (!conform_is_exempt(w))
                mutant_emit(w, "operation %u: input %u removed", i, k);
        }
}

static void each_output_gap(struct conform_walk *w)
{
    for (uint32_t i = 0; i < n_operations(w); i++)
        for (uint32_t k = 0; k < original_operation(w, i)->n_outputs; k++) {
            mutant_begin(w);
            mutant_drop(w, &w->operation[i].outputs, &w->operation[i].n_outputs, k);
            mutant_emit(w, "operation %u: output %u removed", i, k);
        }
}

static const struct hal_operand new_input = { .type = DT_INT32,
                                              .lifetime = HAL_SUBGRAPH_INPUT,
                                              .n_consumers = 1 },
                                new_output = { .type = DT_INT32, .lifetime = HAL_SUBGRAPH_OUTPUT };

static void each_input_more(struct conform_walk *w)
{
    struct hal_subgraph *g = &w->mutant.model.main;

    for (uint32_t i = 0; i < n_operations(w); i++) {
        mutant_begin(w);
        mutant_append(w, &w->operation[i].inputs, &w->operation[i].n_inputs,
                      mutant_add(w, &new_input));
        mutant_append(w, &g->inputs, &g->n_inputs, n_operands(w));
        if (!conform_is_exempt(w))
            mutant_emit(w, "operation %u: an additional INT32 input", i);
    }
}

static void each_output_more(struct conform_walk *w)
{
    struct hal_subgraph *g = &w->mutant.model.main;

    for (uint32_t i = 0; i < n_operations(w); i++) {
        mutant_begin(w);
        mutant_append(w, &w->operation[i].outputs, &w->operation[i].n_outputs,
                      mutant_add(w, &new_output));
        mutant_append(w, &g->outputs, &g->n_outputs, n_operands(w));
        if (!conform_is_exempt(w))
            mutant_emit(w, "operation %u: an additional INT32 output", i);
    }
}

/* ---- configurations */

static const int bad_choices[] = { -1, 3 };

static void each_preference(struct conform_walk *w)
{
    for (int k = 0; k < 2; k++) {
        mutant_begin(w);
        w->mutant.config.preference = (enum hal_preference) bad_choices[k];
        mutant_emit(w, "preference %d", bad_choices[k]);
    }
}

static void each_priority(struct conform_walk *w)
{
    for (int k = 0; k < 2; k++) {
        mutant_begin(w);
        w->mutant.config.priority = (enum hal_priority) bad_choices[k];
        mutant_emit(w, "priority %d", bad_choices[k]);
    }
}

/* ---- the table */

const struct conform_mutation conform_mutations[] = {
    { .rule = "M1",
      .name = "execution order",
      .each = each_order,
      .except = "operations that neither read another's output nor feed another" },
    { .rule = "M2", .name = "operand type", .each = each_type },
    { .rule = "M3",
      .name = "operand rank",
      .each = each_rank,
      .except = "tensors since 1.2: without dimensions their rank is unknown" },
    { .rule = "M4", .name = "operand scale", .each = each_scale },
    { .rule = "M5", .name = "operand zero point", .each = each_zero },
    { .rule = "M6",
      .name = "operand lifetime",
      .each = each_lifetime,
      .except = "omitted operands and subgraphs; constants of unknown size or over 32 KiB" },
    { .rule = "M7",
      .name = "operand lists",
      .each = each_wrong_list,
      .except = "omitted operands and subgraphs; constants of unknown size or over 32 KiB" },
    { .rule = "M8",
      .name = "consumers",
      .until = HAL_1_3,
      .each = each_consumers,
      .except = "feature levels 5 and later do not transmit the number" },
    { .rule = "M9", .name = "second writer", .each = each_writer },
    { .rule = "M10",
      .name = "operand type of operation",
      .each = each_operand_type,
      .except = "types that all operations accept: conform_is_exempt()" },
    { .rule = "M11", .name = "operation type", .each = each_operation_type },
    { .rule = "M12", .name = "input index", .each = each_input_index },
    { .rule = "M13", .name = "output index", .each = each_output_index },
    { .rule = "M14", .name = "lost write", .each = each_lost_write },
    { .rule = "M15",
      .name = "operand removed",
      .each = each_operand_gap,
      .except = "operands without which all operations are accepted: conform_is_exempt()" },
    { .rule = "M16", .name = "operation removed", .each = each_operation_gap },
    { .rule = "M17",
      .name = "input removed",
      .each = each_input_gap,
      .except = "optional inputs: conform_is_exempt()" },
    { .rule = "M18", .name = "output removed", .each = each_output_gap },
    { .rule = "M19",
      .name = "additional input",
      .each = each_input_more,
      .except = "operations whose next input is an optional INT32: conform_is_exempt()" },
    { .rule = "M20", .name = "additional output", .each = each_output_more },
    { .rule = "M21",
      .name = "preference",
      .since = HAL_1_1,
      .is_config = true,
      .each = each_preference },
    { .rule = "M22",
      .name = "priority",
      .since = HAL_1_3,
      .is_config = true,
      .each = each_priority },
};
const int conform_n_mutations = sizeof conform_mutations / sizeof *conform_mutations;

struct counted {
    conform_visit *visit;
    void *user;
    unsigned n;
};

static void count(const struct conform_mutant *mutant, void *user)
{
    struct counted *c = user;

    c->n++;
    c->visit(mutant, c->user);
}

static unsigned walk(const struct conform_mutation *m, const struct hal_model *original,
                     uint32_t subgraph, enum hal_version version, conform_visit *visit, void *user)
{
    struct counted c = { visit, user, 0 };
    struct hal_model exchanged = *original;
    struct conform_walk w = { .original = &exchanged,
                              .version = version,
                              .subgraph = subgraph,
                              .arena = arena_new(0),
                              .visit = count,
                              .user = &c };

    conform_must(w.arena, "out of memory");
    if (subgraph)
        mutant_exchange(&exchanged, subgraph, w.arena);
    w.start = arena_mark(w.arena);
    if (version >= m->since && (!m->until || version <= m->until))
        m->each(&w);
    arena_free(w.arena);
    return c.n;
}

unsigned conform_walk(const struct conform_mutation *m, const struct hal_model *original,
                      enum hal_version version, conform_visit *visit, void *user)
{
    return walk(m, original, 0, version, visit, user);
}

unsigned conform_walk_referenced(const struct conform_mutation *m, const struct hal_model *original,
                                 enum hal_version version, conform_visit *visit, void *user)
{
    unsigned n = 0;

    for (uint32_t i = 1; !m->is_config && i <= original->n_referenced; i++)
        n += walk(m, original, i, version, visit, user);
    return n;
}
