/* Operations of vendor extensions, computed by their records' kernels. */
#include "golden/exec/call.h"
#include "golden/model/extension.h"
#include "sim/kernels/kernel.h"

bool kernel_is_extension(const struct kernel_call *k)
{
    return extension_prefix_of(k->call.op->code) != 0;
}

/* call_evaluate() allocates the results again; those that the device allocated are not used. */
int kernel_extension(struct kernel_call *k, struct why *w)
{
    static const struct exec_options options;
    struct evaluation e = { .options = &options, .keep = k->keep, .scratch = k->scratch };
    uint32_t n_in = k->call.n_in, n_out = k->call.n_out;
    struct value *v = arena_alloc(k->scratch, n_in + n_out, sizeof(*v));
    struct value **list = arena_alloc(k->scratch, n_in + n_out, sizeof(*list));

    if (!v || !list)
        return why_no_memory(w);
    for (uint32_t i = 0; i < n_in; i++)
        if (k->arg[i]) {
            v[i].tensor = *k->arg[i];
            list[i] = &v[i];
        }
    for (uint32_t i = 0; i < n_out; i++) {
        v[n_in + i].tensor = *k->out[i];
        list[n_in + i] = &v[n_in + i];
    }
    TRY(call_evaluate(&k->call, list, list + n_in, &e, w));
    for (uint32_t i = 0; i < n_out; i++)
        *k->out[i] = v[n_in + i].tensor;
    return 0;
}
