/* The cost model: how long a device would take for an operation. */
#include "sim/device.h"

static double bytes_of(const struct tensor *t)
{
    return t ? (double) tensor_count(t) * (double) dtype_info[t->dtype].codec->size : 0;
}

/* Multiplications of an operation with a filter: each result sums its share of the filter. */
static double products(const struct kernel_call *k, const struct tensor *filter, double results)
{
    const struct tensor *bias = kernel_in(k, "bias");
    double channels = bias ? (double) tensor_count(bias) : 1;

    return channels > 0 ? results * (double) tensor_count(filter) / channels : 0;
}

static double operations(const struct kernel_call *k)
{
    const struct tensor *filter = kernel_in(k, "filter");
    double results = 0, operands = 0;

    if (!filter)
        filter = kernel_in(k, "weights");
    for (uint32_t i = 0; i < k->call.n_out; i++)
        results += (double) tensor_count(k->out[i]);
    if (filter)
        return products(k, filter, results);
    for (uint32_t i = 0; i < k->call.n_in; i++)
        operands += k->arg[i] ? (double) tensor_count(k->arg[i]) : 0;
    results *= kernel_int(k, "filter_height", 1);
    results *= kernel_int(k, "filter_width", 1);
    return results > operands ? results : operands;
}

double device_cost(const struct profile *p, const struct kernel_call *k)
{
    enum dtype type = k->call.n_in && k->arg[0] ? k->arg[0]->dtype : DT_F32;
    double bytes = 0;

    for (uint32_t i = 0; i < k->call.n_in; i++)
        bytes += bytes_of(k->arg[i]);
    for (uint32_t i = 0; i < k->call.n_out; i++)
        bytes += bytes_of(k->out[i]);
    return p->operation_ns + 1e9 * (operations(k) / p->rate[type] + bytes / p->bandwidth);
}
