/* The cost model: virtual time of operations and of preparing a model. */
#include <math.h>

#include "golden/base/clock.h"
#include "sim/device/device.h"

uint64_t device_whole_ns(double ns)
{
    return (uint64_t) fmin(rint(ns), 0x1p62);
}

static double bytes_of(const struct tensor *t)
{
    return t ? (double) tensor_count(t) * (double) dtype_info[t->dtype].codec->size : 0;
}

/* The operand of any operation that has one of this role; else NULL. */
static const struct tensor *operand(const struct kernel_call *k, enum kernel_role role)
{
    int i = kernel_role_operand(k->call.op, role);

    return i < 0 ? NULL : k->call.in[i];
}

static int32_t size_of(const struct kernel_call *k, enum kernel_role role)
{
    const struct tensor *t = operand(k, role);

    return t && t->data ? *(const int32_t *) t->data : 1;
}

/* With a filter: filter elements per output channel, for each result.  Else one for each result and
 * element of a window, or one for each operand's element if those are more. */
static double operations(const struct kernel_call *k)
{
    const struct tensor *filter = operand(k, ROLE_FILTER);
    double results = 0, operands = 0;

    if (!filter)
        filter = operand(k, ROLE_WEIGHTS);
    for (uint32_t i = 0; i < k->call.n_out; i++)
        results += (double) tensor_count(k->out[i]);
    if (filter) {
        const struct tensor *bias = operand(k, ROLE_BIAS);
        double channels = bias ? (double) tensor_count(bias) : 1;
        return channels > 0 ? results * (double) tensor_count(filter) / channels : 0;
    }
    for (uint32_t i = 0; i < k->call.n_in; i++)
        operands += k->arg[i] ? (double) tensor_count(k->arg[i]) : 0;
    results *= size_of(k, ROLE_FILTER_HEIGHT);
    results *= size_of(k, ROLE_FILTER_WIDTH);
    return results > operands ? results : operands;
}

uint64_t device_cost(const struct profile *p, const struct kernel_call *k)
{
    enum dtype type = k->call.n_in && k->arg[0] ? k->arg[0]->dtype : DT_F32;
    double bytes = 0;

    for (uint32_t i = 0; i < k->call.n_in; i++)
        bytes += bytes_of(k->arg[i]);
    for (uint32_t i = 0; i < k->call.n_out; i++)
        bytes += bytes_of(k->out[i]);
    const double seconds = operations(k) / p->rate[type] + bytes / p->bandwidth;
    return device_whole_ns(fmax(1, p->operation_ns + 1e9 * seconds));
}

static bool shapes_known(const struct kernel_call *k)
{
    for (uint32_t i = 0; i < k->call.n_in; i++)
        if (k->arg[i] && dtype_info[k->arg[i]->dtype].tensor && !shape_known(&k->arg[i]->shape))
            return false;
    for (uint32_t i = 0; i < k->call.n_out; i++)
        if (dtype_info[k->out[i]->dtype].tensor && !shape_known(&k->out[i]->shape))
            return false;
    return true;
}

/* Cost of an operation before the run; 0 if its shapes are not known, or for IF and WHILE. */
static uint64_t known_cost(const struct program *p, const struct graph_values *v,
                           uint32_t operation, struct arena *a)
{
    struct bound_operation s;
    struct why w;

    if (operation_bind(v, operation, false, a, &s, &w) < 0 ||
        s.k.call.op->control_kind != CONTROL_NONE || !shapes_known(&s.k))
        return 0;
    return device_cost(p->device->profile, &s.k);
}

int device_estimate(struct program *p, struct why *w)
{
    const struct graph *g = &p->model->graph[0];
    struct arena *a = arena_new(0);
    struct graph_values v = { p->model, 0, NULL };

    p->ahead = arena_alloc(p->arena, (size_t) g->n_operations + 1, sizeof(*p->ahead));
    if (a)
        v.tensor = arena_copy(a, p->constants[0], g->n_operands * sizeof(struct tensor));
    if (!p->ahead || !v.tensor) {
        arena_free(a);
        return why_no_memory(w);
    }
    for (uint32_t i = g->n_operations; i-- > 0;)
        p->ahead[i] = clock_sum(p->ahead[i + 1], known_cost(p, &v, i, a));
    arena_free(a);
    return 0;
}

uint64_t device_preparation_ns(const struct engine *e, const struct model *m,
                               uint64_t constant_bytes, bool is_cached)
{
    const struct profile *p = ((const struct device *) e)->profile;
    double ns = p->prepare_ns + 1e9 * ((double) constant_bytes / p->bandwidth);

    for (uint32_t g = 0; g < m->n_graphs && !is_cached; g++)
        ns += m->graph[g].n_operations * p->prepare_operation_ns;
    return device_whole_ns(ns);
}
