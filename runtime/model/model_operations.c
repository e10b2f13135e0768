/* Adding operations: their operands must have the types of the operation's record by then. */
#include "golden/model/extension.h"
#include "runtime/base/failure.h"
#include "runtime/devices/runtime_device.h"
#include "runtime/model/known_sizes.h"
#include "runtime/model/model_builder.h"

#define LOG_TAG "ModelBuilder"

static const uint32_t most_operations = 0xfffffffe;
enum { MOST_OPERANDS = 1 << 20 }; /* of an operation */

/* Vendor extensions and the OEM operation are the drivers' to check. */
static int check_code(int32_t code, const struct op **ret_op)
{
    uint16_t prefix = (uint16_t) extension_prefix_of(code);

    *ret_op = NULL;
    if (prefix) {
        const char *name = extension_of_prefix(prefix);
        if (!name || !*name)
            return FAIL(BAD_DATA, "operation %d: no extension has prefix %u", code, prefix);
        return ANEURALNETWORKS_NO_ERROR;
    }
    if (code == OEM_CODE)
        return ANEURALNETWORKS_NO_ERROR;
    /* Codes above are experimental operations. */
    *ret_op = code < OEM_CODE ? op_find(code) : NULL;
    if (!*ret_op)
        return FAIL(BAD_DATA, "operation %d is not known", code);
    return ANEURALNETWORKS_NO_ERROR;
}

static int check_indexes(const ANeuralNetworksModel *m, const uint32_t *list, uint32_t n)
{
    if (n > MOST_OPERANDS)
        return FAIL(BAD_DATA, "%u operands, an operation may have %d at most", n, MOST_OPERANDS);
    for (uint32_t i = 0; i < n; i++)
        PASS(model_check_operand(m, list[i]));
    return ANEURALNETWORKS_NO_ERROR;
}

/* Whether a condition, a TENSOR_BOOL8, can have the shape {1}. */
static int check_condition(const struct operand *o, const char *what, struct why *w)
{
    const struct shape *s = &o->tensor.shape;
    char text[SHAPE_TEXT];

    REQUIRE(w, s->rank == 0 || (s->rank == 1 && s->dim[0] <= 1), "%s has shape %s, must be [1]",
            what, shape_text(s, text));
    return 0;
}

/* IF and WHILE, whose operands have the right types. */
static int check_control(const ANeuralNetworksModel *m, const struct op *op,
                         const struct operation *o, struct why *w)
{
    const struct model_builder *b = m->builder;
    const struct graph *g = &b->graph[0];
    const struct model view = { .graph = b->graph, .n_graphs = 1 + b->n_values };

    for (uint32_t k = 0; k < o->n_in; k++) {
        const struct operand *in = &g->operand[o->in[k]];
        REQUIRE(w, (in->tensor.dtype == DT_MODEL) == (in->life == LIFE_SUBGRAPH),
                "input %u, operand %u, has type %s and lifetime %s", k, o->in[k],
                dtype_info[in->tensor.dtype].name, lifetime_name[in->life]);
    }
    TRY(operation_check_control(&view, g, o, w));
    if (op->control_kind == CONTROL_BRANCH)
        return check_condition(&g->operand[o->in[0]], "the condition", w);
    const struct graph *condition = &b->graph[g->operand[o->in[0]].subgraph];
    return check_condition(&condition->operand[condition->output[0]], "the condition's output", w);
}

enum { FEW = 32 };

/* scratch: for many operands; freed by the caller. */
static int check_signature(const ANeuralNetworksModel *m, const struct op *op,
                           const struct operation *o, struct arena *scratch)
{
    struct operand *operand = m->builder->graph[0].operand;
    const struct tensor *few_in[FEW], **in = few_in;
    struct tensor *few_out[FEW], **out = few_out;
    struct why w;

    if (o->n_in > FEW)
        in = arena_alloc_raw(scratch, o->n_in, sizeof *in);
    if (o->n_out > FEW)
        out = arena_alloc_raw(scratch, o->n_out, sizeof *out);
    if (!in || !out)
        return FAIL(OUT_OF_MEMORY, "out of memory for an operation");
    for (uint32_t k = 0; k < o->n_in; k++)
        in[k] = &operand[o->in[k]].tensor;
    for (uint32_t k = 0; k < o->n_out; k++)
        out[k] = &operand[o->out[k]].tensor;
    if (op_check_signature(op, in, o->n_in, out, o->n_out, &w) < 0)
        return FAIL_WHY(&w);
    if (operation_has_subgraphs(o) && check_control(m, op, o, &w) < 0) {
        why_prefix(&w, "%s", op->name);
        return FAIL_WHY(&w);
    }
    return ANEURALNETWORKS_NO_ERROR;
}

int model_add_operation(ANeuralNetworksModel *m, int32_t code, uint32_t n_in, const uint32_t *in,
                        uint32_t n_out, const uint32_t *out)
{
    REQUIRE_GIVEN(m);
    REQUIRE_GIVEN(in);
    REQUIRE_GIVEN(out);
    PASS(model_check_building(m));
    struct model_builder *b = m->builder;
    struct graph *g = &b->graph[0];
    struct operation o = {
        .code = code, .n_in = n_in, .n_out = n_out, .in = (uint32_t *) in, .out = (uint32_t *) out
    };
    const struct op *op;

    PASS(check_code(code, &op));
    PASS(check_indexes(m, in, n_in));
    PASS(check_indexes(m, out, n_out));
    if (op) {
        struct arena_mark mark = arena_mark(b->arena);
        int result = check_signature(m, op, &o, b->arena);
        arena_rewind(b->arena, mark);
        PASS(result);
    }
    if (g->n_operations >= most_operations)
        return FAIL(BAD_DATA, "a model may have %u operations at most", most_operations);
    o.in = arena_copy(b->arena, in, n_in * sizeof *in);
    o.out = arena_copy(b->arena, out, n_out * sizeof *out);
    if (!o.in || !o.out ||
        !list_grow(&g->operation, g->n_operations, &b->operation_room, sizeof *g->operation))
        return FAIL(OUT_OF_MEMORY, "out of memory for operation %u", g->n_operations);
    g->operation[g->n_operations++] = o;
    return ANEURALNETWORKS_NO_ERROR;
}

int model_extension_code(const ANeuralNetworksModel *m, const char *extension, uint16_t number,
                         int32_t *ret)
{
    REQUIRE_GIVEN(m);
    REQUIRE_GIVEN(extension);
    REQUIRE_GIVEN(ret);
    uint16_t prefix = extension_prefix_for(extension);

    if (!prefix)
        return FAIL(BAD_DATA, "%.80s: no prefix is left for an extension", extension);
    *ret = (int32_t) ((uint32_t) prefix << 16 | number);
    return ANEURALNETWORKS_NO_ERROR;
}
