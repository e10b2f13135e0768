/* Operations that every device computes by their records: those that only move bytes, and those of
 * vendor extensions. */
#include <string.h>

#include "golden/exec/call.h"
#include "golden/model/extension.h"
#include "sim/kernels/kernel.h"

/* ---- moves, by the record's move(), which works on NHWC: NCHW images are permuted before and
 * after
 */

bool kernel_only_moves(const struct kernel_call *k)
{
    const struct op *op = k->call.op;

    return op->move && (!op->moves || op->moves(&k->call));
}

static size_t size_of(const struct tensor *t)
{
    return dtype_info[t->dtype].codec->size;
}

/* Whether input i is an NCHW image, which has to be permuted. */
static bool is_image(const struct kernel_call *k, uint32_t i)
{
    for (int r = 0; k->call.nchw && r < k->call.op->n_in; r++)
        if (k->call.op->in[r].image && k->call.in[r] && call_arg(&k->call, r) == (int) i)
            return k->arg[i]->shape.rank == 4;
    return false;
}

static int load(const struct kernel_call *k, uint32_t i, const void **ret_bytes)
{
    const struct tensor *t = k->arg[i];

    *ret_bytes = t ? t->data : NULL;
    if (!*ret_bytes || !is_image(k, i))
        return 0;
    void *to = arena_alloc_raw(k->scratch, tensor_count(t) + 1, size_of(t));
    if (to)
        image_to_nhwc(&t->shape, size_of(t), t->data, to);
    *ret_bytes = to;
    return to ? 0 : -1;
}

/* Whether result i is an NCHW image: it is computed in scratch memory and then permuted. */
static bool is_image_result(const struct kernel_call *k, uint32_t i)
{
    int role = (int) i < k->call.op->n_out ? (int) i : k->call.op->n_out - 1;

    return k->call.nchw && k->call.op->out[role].image && k->out[i]->shape.rank == 4;
}

static int move(const struct kernel_call *k, const void **from, void **to)
{
    int32_t fill = k->out[0]->zero;
    struct movement m = { size_of(k->out[0]), &fill, from, to };

    for (uint32_t i = 0; i < k->call.n_in; i++)
        TRY(load(k, i, &from[i]));
    for (uint32_t i = 0; i < k->call.n_out; i++) {
        const struct tensor *t = k->out[i];
        to[i] = is_image_result(k, i) ? arena_alloc_raw(k->scratch, tensor_count(t) + 1, size_of(t))
                                      : t->data;
        if (!to[i])
            return -1;
    }
    k->call.op->move(&k->call, &m);
    for (uint32_t i = 0; i < k->call.n_out; i++)
        if (is_image_result(k, i))
            image_to_nchw(&k->out[i]->shape, size_of(k->out[i]), to[i], k->out[i]->data);
    return 0;
}

int kernel_move(const struct kernel_call *k, struct why *w)
{
    const void **from = arena_alloc(k->scratch, k->call.n_in + 1, sizeof(*from));
    void **to = arena_alloc(k->scratch, k->call.n_out + 1, sizeof(*to));

    return from && to && move(k, from, to) == 0 ? 0 : why_no_memory(w);
}

/* ---- vendor extensions, by the record's kernel */

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
