/* Which rule of the contract invalid arguments break. */
#include "sim/faulty/unchecked.h"

#include <math.h>
#include <stdlib.h>

#include "golden/model/op.h"

#define BIT(id) (UINT64_C(1) << UNCHECKED_##id)

/* ---- models */

static bool is_extension(int32_t code)
{
    return (uint32_t) code >> 16 != 0;
}

static uint64_t in_quantisation(const struct hal_operand *o, const struct dtype_info *type)
{
    bool is_affine = type->quant == QUANT_AFFINE, is_symmetric = type->quant == QUANT_SYMM;
    double low = is_affine ? type->codec->min : 0, high = is_affine ? type->codec->max : 0;
    double scale = (double) o->scale;
    bool fits = is_affine || is_symmetric   ? scale > 0 && isfinite(scale)
                : type->quant == QUANT_BIAS ? scale >= 0 && isfinite(scale)
                                            : scale == 0;

    return (fits ? 0 : BIT(SCALE)) | (o->zero >= low && o->zero <= high ? 0 : BIT(ZERO_POINT));
}

static uint64_t in_channels(const struct hal_operand *o)
{
    bool fits = o->channel_dim < o->n_dims && o->n_channel_scales == o->dims[o->channel_dim];

    for (uint32_t i = 0; fits && i < o->n_channel_scales; i++)
        fits = o->channel_scales[i] > 0 && isfinite(o->channel_scales[i]);
    return fits ? 0 : BIT(CHANNELS);
}

static uint64_t in_operand(const struct hal_model *m, const struct hal_operand *o,
                           enum hal_version version)
{
    const struct dtype_info *type = dtype_find(o->type);
    uint64_t bytes = o->lifetime == HAL_CONSTANT_COPY ? m->operand_values_length : UINT64_MAX;
    uint64_t found = 0;

    if (o->lifetime == HAL_CONSTANT_REFERENCE)
        bytes = o->location.pool < m->n_pools ? m->pools[o->location.pool].size : 0;
    if (o->location.offset > bytes || o->location.length > bytes - o->location.offset)
        found = BIT(CONSTANT);
    if (is_extension(o->type))
        return found;
    if (!type)
        return found | BIT(TYPE);
    if (type->tensor ? !o->n_dims && version < HAL_1_2 : o->n_dims != 0)
        found |= BIT(RANK);
    if (o->extra == HAL_EXTRA_CHANNEL_QUANT)
        found |= in_channels(o);
    return found | in_quantisation(o, type);
}

/* How often each operand is read and written. */
struct uses {
    uint32_t *reads, *writes, *listed_in, *listed_out;
};

static uint64_t in_operation(const struct hal_subgraph *g, const struct hal_operation *o,
                             struct uses *u)
{
    uint64_t found = is_extension(o->type) || op_find(o->type) ? 0 : BIT(OPERATION);

    for (uint32_t i = 0; i < o->n_inputs; i++) {
        if (o->inputs[i] >= g->n_operands) {
            found |= BIT(INPUT_INDEX);
            continue;
        }
        enum hal_lifetime life = g->operands[o->inputs[i]].lifetime;
        bool is_computed = life == HAL_TEMPORARY_VARIABLE || life == HAL_SUBGRAPH_OUTPUT;
        u->reads[o->inputs[i]]++;
        if (is_computed && !u->writes[o->inputs[i]])
            found |= BIT(ORDER);
    }
    for (uint32_t i = 0; i < o->n_outputs; i++) {
        if (o->outputs[i] >= g->n_operands)
            found |= BIT(OUTPUT_INDEX);
        else
            u->writes[o->outputs[i]]++;
    }
    return found;
}

static uint64_t in_uses(const struct hal_subgraph *g, const struct uses *u,
                        enum hal_version version)
{
    uint64_t found = 0;

    for (uint32_t i = 0; i < g->n_operands; i++) {
        const struct hal_operand *o = &g->operands[i];
        bool is_computed =
            o->lifetime == HAL_TEMPORARY_VARIABLE || o->lifetime == HAL_SUBGRAPH_OUTPUT;
        if (u->writes[i] > 1)
            found |= BIT(WRITERS);
        if (is_computed != (u->writes[i] > 0))
            found |= BIT(LIFETIME);
        if (u->listed_in[i] != (o->lifetime == HAL_SUBGRAPH_INPUT) ||
            u->listed_out[i] != (o->lifetime == HAL_SUBGRAPH_OUTPUT))
            found |= BIT(LISTS);
        if (version <= HAL_1_3 && o->n_consumers != u->reads[i])
            found |= BIT(CONSUMERS);
    }
    return found;
}

static uint64_t count_listed(const uint32_t *list, uint32_t n, uint32_t n_operands,
                             uint32_t *counts)
{
    uint64_t found = 0;

    for (uint32_t i = 0; i < n; i++)
        if (list[i] < n_operands)
            counts[list[i]]++;
        else
            found = BIT(LISTS);
    return found;
}

/* An operation of which an input is written by itself or by one that depends on it. */
static bool has_cycle(const struct hal_subgraph *g)
{
    bool *is_known = calloc(g->n_operands + 1, sizeof *is_known), *is_done, grows = true;
    uint32_t n_done = 0;

    is_done = calloc(g->n_operations + 1, sizeof *is_done);
    for (uint32_t i = 0; i < g->n_operations && is_known; i++)
        for (uint32_t k = 0; k < g->operations[i].n_outputs; k++)
            if (g->operations[i].outputs[k] < g->n_operands)
                is_known[g->operations[i].outputs[k]] = true; /* not yet: inverted below */
    for (uint32_t i = 0; i < g->n_operands && is_known; i++)
        is_known[i] = !is_known[i];
    while (grows && is_known && is_done) {
        grows = false;
        for (uint32_t i = 0; i < g->n_operations; i++) {
            const struct hal_operation *o = &g->operations[i];
            bool ready = !is_done[i];
            for (uint32_t k = 0; k < o->n_inputs && ready; k++)
                ready = o->inputs[k] >= g->n_operands || is_known[o->inputs[k]];
            if (!ready)
                continue;
            is_done[i] = grows = true;
            n_done++;
            for (uint32_t k = 0; k < o->n_outputs; k++)
                if (o->outputs[k] < g->n_operands)
                    is_known[o->outputs[k]] = true;
        }
    }
    free(is_known);
    free(is_done);
    return n_done < g->n_operations;
}

uint64_t unchecked_in_model(const struct hal_model *model, enum hal_version version)
{
    const struct hal_subgraph *g = &model->main;
    uint32_t n = g->n_operands, *counts = calloc(4 * (size_t) n + 1, sizeof *counts);
    struct uses u = { counts, counts + n, counts + 2 * (size_t) n, counts + 3 * (size_t) n };
    uint64_t found = 0;

    if (!counts)
        return BIT(SIGNATURE);
    for (uint32_t i = 0; i < n; i++)
        found |= in_operand(model, &g->operands[i], version);
    for (uint32_t i = 0; i < g->n_operations; i++)
        found |= in_operation(g, &g->operations[i], &u);
    found |= count_listed(g->inputs, g->n_inputs, n, u.listed_in);
    found |= count_listed(g->outputs, g->n_outputs, n, u.listed_out);
    found |= in_uses(g, &u, version);
    free(counts);
    if (found & BIT(ORDER) && has_cycle(g))
        found |= BIT(CYCLE);
    return found ? found : BIT(SIGNATURE);
}

/* ---- allocations */

static uint64_t in_roles(uint32_t n, const struct hal_buffer_role *role, uint32_t n_models,
                         struct hal_prepared_model *const *models)
{
    uint64_t found = 0;

    for (uint32_t i = 0; i < n; i++) {
        if (role[i].model_index >= n_models || !models[role[i].model_index])
            found |= BIT(ROLE_MODEL);
        if (!(role[i].probability > 0 && role[i].probability <= 1))
            found |= BIT(PROBABILITY);
        for (uint32_t k = 0; k < i; k++)
            if (role[k].model_index == role[i].model_index && role[k].io_index == role[i].io_index)
                found |= BIT(ROLE_TWICE);
    }
    return found;
}

uint64_t unchecked_in_allocation(const struct hal_buffer_desc *desc, uint32_t n_models,
                                 struct hal_prepared_model *const *models, uint32_t n_inputs,
                                 const struct hal_buffer_role *inputs, uint32_t n_outputs,
                                 const struct hal_buffer_role *outputs)
{
    uint64_t found = in_roles(n_inputs, inputs, n_models, models) |
                     in_roles(n_outputs, outputs, n_models, models);

    if (!n_inputs && !n_outputs)
        return BIT(ROLES_NONE);
    if (found)
        return found;
    if (desc->n_dims)
        return BIT(DESC);
    return n_inputs + n_outputs > 1 ? BIT(ROLES_DIFFER) : BIT(ROLE_INDEX);
}

/* ---- requests */

static uint64_t in_arguments(const struct hal_request *r, const struct hal_argument *a, uint32_t n)
{
    uint64_t found = 0;

    for (uint32_t i = 0; i < n; i++) {
        const struct hal_location *at = &a[i].location;
        if (a[i].has_no_value)
            continue;
        if (at->pool >= r->n_pools) {
            found |= BIT(POOL);
            continue;
        }
        const struct hal_request_pool *p = &r->pools[at->pool];
        if (p->is_token)
            found |= BIT(BUFFER_ROLE);
        else if (at->offset > p->memory.size || at->length > p->memory.size - at->offset)
            found |= BIT(REGION);
        if (a[i].n_dims)
            found |= BIT(DIMENSIONS);
    }
    return found;
}

uint64_t unchecked_in_request(const struct hal_request *r, uint32_t n_inputs, uint32_t n_outputs,
                              bool has_unknown_token, enum hal_status status)
{
    uint64_t found;

    if (r->n_inputs != n_inputs || r->n_outputs != n_outputs)
        return BIT(ARGUMENTS);
    if (has_unknown_token)
        return BIT(TOKEN);
    found = in_arguments(r, r->inputs, r->n_inputs) | in_arguments(r, r->outputs, r->n_outputs);
    if (found & BIT(BUFFER_ROLE))
        return status == HAL_GENERAL_FAILURE ? BIT(BUFFER_EMPTY) : BIT(BUFFER_ROLE);
    if (found & (BIT(POOL) | BIT(REGION)))
        return found & (BIT(POOL) | BIT(REGION));
    return found ? found : BIT(REQUEST);
}
