/* Device buffers as arguments of requests, in every kind of execution: tokens, roles, contents,
 * shapes.
 */
#include <stdlib.h>
#include <string.h>

#include "harness/conform/conform_graphs.h"
#include "harness/conform/conform_requests.h"
#include "sim/client/hal_calls.h"
#include "sim/hal/convert.h"

#define END                                                                                        \
    {                                                                                              \
        CONFORM_NO_MODEL, 0, 1                                                                     \
    }

static const struct conform_allocation
    in_and_out = { "input and output", { { 0, 0, 1 }, END }, { { 0, 0, 1 }, END } },
    both_inputs = { "both inputs", { { 0, 0, 1 }, { 0, 1, 1 }, END }, { END } },
    both_outputs = { "both outputs", { END }, { { 0, 0, 1 }, { 0, 1, 1 }, END } },
    known_input = { "an input of known shape", { { 0, 0, 1 }, END }, { END }, 4, { 1, 32, 32, 8 } },
    known_output = {
        "an output of known shape", { END }, { { 0, 0, 1 }, END }, 4, { 1, 32, 32, 8 }
    };

/* An argument of a request that is in the buffer with this token. */
struct use {
    bool is_output;
    uint32_t index, token;
};

static void set_uses(struct conform_request *r, const struct use *use, int n)
{
    for (int i = 0; i < n; i++)
        conform_request_use_token(r, &(use[i].is_output ? r->outputs : r->inputs)[use[i].index],
                                  use[i].token);
}

/* Executes with these arguments in buffers; a failure must come without shapes and durations. */
static void run_kind(struct conform_graph_subject *s, const struct conform_kind *kind,
                     const struct use *use, int n, enum hal_status expected, const char *what)
{
    struct hal_execution_config config = client_config();
    struct arena *a = arena_new(0);
    struct conform_request r;

    conform_request(&s->model.example, a, &r);
    set_uses(&r, use, n);
    enum hal_status status = kind->run(s->prepared, s->conform->version, &r, &config);
    EXPECT(s->conform,
           status == expected && (status == HAL_NONE || conform_result_is_empty(&r.result)),
           "%s, %s of %s, %s: %s, expected %s", what, s->graph->name, s->tensor_type->name,
           kind->name, hal_status_name(status), hal_status_name(expected));
    arena_free(a);
}

static void run_all(struct conform_graph_subject *s, const struct use *use, int n,
                    enum hal_status expected, const char *what)
{
    for (int k = 0; k < conform_n_kinds; k++)
        if (conform_can_run(s->conform, s->prepared, &conform_kinds[k], s->conform->version))
            run_kind(s, &conform_kinds[k], use, n, expected, what);
}

static void fill(struct conform_graph_subject *s, struct hal_buffer *b)
{
    const struct tensor *t = &s->model.example.in[0];
    struct hal_memory m = { .kind = HAL_MEMORY_ADDRESS,
                            .protection = HAL_MEMORY_READ,
                            .address = t->data,
                            .fd = -1,
                            .size = tensor_bytes(t) };

    EXPECT_STATUS(s->conform, b->methods->copy_from(b, &m, t->shape.rank, t->shape.dim), HAL_NONE,
                  "copy_from");
}

/* An allocated buffer that contains the values of input 0. */
static struct hal_buffer *allocate_filled(struct conform_graph_subject *s,
                                          const struct conform_allocation *a, uint32_t *ret_token)
{
    struct hal_buffer *b = conform_must_allocate(s, a, ret_token);

    if (b)
        fill(s, b);
    return b;
}

static void release(struct hal_buffer *b)
{
    if (b)
        b->methods->release(b);
}

/* ---- X1 to X4: unknown tokens, and buffers with other roles */

/* Tokens that were never issued, and one of a released buffer, while another buffer exists. */
static void use_unknown(struct conform_graph_subject *s)
{
    uint32_t tokens[] = { 0, 100, UINT32_MAX, 0 }, valid_token = 0;
    struct hal_buffer *b = allocate_filled(s, &in_and_out, &valid_token);

    release(conform_must_allocate(s, &conform_one_input, &tokens[3]));
    for (int t = 0; t < COUNT(tokens); t++) {
        if (tokens[t] == valid_token)
            continue;
        run_all(s, &(struct use){ false, 0, tokens[t] }, 1, HAL_INVALID_ARGUMENT, "unknown input");
        run_all(s, &(struct use){ true, 0, tokens[t] }, 1, HAL_INVALID_ARGUMENT, "unknown output");
    }
    release(b);
}

static void move_argument(struct hal_location *l, int k)
{
    *(k == 0 ? &l->offset : k == 1 ? &l->length : &l->padding) = 4;
}

/* The location of an argument in a buffer is 0 except for the pool. */
static void use_part(struct conform_graph_subject *s)
{
    const int n_changes = s->conform->version >= HAL_FL5 ? 3 : 2;
    const struct hal_execution_config config = client_config();
    uint32_t token = 0;
    struct hal_buffer *b = allocate_filled(s, &in_and_out, &token);

    for (int i = 0; b && i < 2 * n_changes * conform_n_kinds; i++) {
        const struct conform_kind *kind = &conform_kinds[i % conform_n_kinds];
        const int change = i / conform_n_kinds;
        struct arena *a = arena_new(0);
        struct conform_request r;
        conform_request(&s->model.example, a, &r);
        set_uses(&r, &(struct use){ change % 2, 0, token }, 1);
        move_argument(change % 2 ? &r.outputs[0].location : &r.inputs[0].location, change / 2);
        if (conform_can_run(s->conform, s->prepared, kind, s->conform->version))
            EXPECT_STATUS(s->conform, kind->run(s->prepared, s->conform->version, &r, &config),
                          HAL_INVALID_ARGUMENT, "an argument in a buffer with a location");
        arena_free(a);
    }
    release(b);
}

/* The same model prepared a second time does not share buffers with the first. */
static void use_of_other_model(struct conform_graph_subject *s)
{
    struct hal_prepared_model *first = s->prepared;
    uint32_t in = 0, out = 0;
    struct hal_buffer *b = allocate_filled(s, &conform_one_input, &in),
                      *d = conform_must_allocate(s, &conform_one_output, &out);

    if (!b || !d) {
        release(b);
        release(d);
        return;
    }
    run_all(s, &(struct use){ false, 0, in }, 1, HAL_NONE, "the model's own buffer");
    s->prepared = conform_prepare_supported(s->conform, &s->model.hal);
    if (s->prepared) {
        run_all(s, &(struct use){ false, 0, in }, 1, HAL_INVALID_ARGUMENT,
                "another prepared model's input");
        run_all(s, &(struct use){ true, 0, out }, 1, HAL_INVALID_ARGUMENT,
                "another prepared model's output");
        s->prepared->methods->release(s->prepared);
    }
    s->prepared = first;
    release(b);
    release(d);
}

static void use_at_other_index(struct conform_graph_subject *s)
{
    uint32_t in = 0, out = 0;
    struct hal_buffer *b = allocate_filled(s, &conform_one_input, &in),
                      *d = conform_must_allocate(s, &conform_one_output, &out);

    if (b && s->graph->n_inputs > 1)
        run_all(s, &(struct use){ false, 1, in }, 1, HAL_INVALID_ARGUMENT, "input 0 as input 1");
    if (d && s->graph->n_outputs > 1)
        run_all(s, &(struct use){ true, 1, out }, 1, HAL_INVALID_ARGUMENT, "output 0 as output 1");
    release(b);
    release(d);
}

static void use_in_other_direction(struct conform_graph_subject *s)
{
    uint32_t in = 0, out = 0;
    struct hal_buffer *b = allocate_filled(s, &conform_one_input, &in),
                      *d = allocate_filled(s, &conform_one_output, &out);

    if (b)
        run_all(s, &(struct use){ true, 0, in }, 1, HAL_INVALID_ARGUMENT, "an input as output");
    if (d)
        run_all(s, &(struct use){ false, 0, out }, 1, HAL_INVALID_ARGUMENT, "an output as input");
    release(b);
    release(d);
}

/* ---- X5: contents */

static void use_uninitialised(struct conform_graph_subject *s)
{
    for (int k = 0; k < conform_n_kinds; k++) {
        const struct conform_kind *kind = &conform_kinds[k];
        uint32_t token = 0;
        if (!conform_can_run(s->conform, s->prepared, kind, s->conform->version))
            continue;
        struct hal_buffer *b = conform_must_allocate(s, &in_and_out, &token);
        const struct use in = { false, 0, token }, out = { true, 0, token };
        if (!b)
            return;
        run_kind(s, kind, &in, 1, HAL_GENERAL_FAILURE, "a buffer without contents");
        run_kind(s, kind, &out, 1, HAL_NONE, "a buffer as output");
        run_kind(s, kind, &in, 1, HAL_NONE, "a buffer with a result");
        release(b);
    }
}

/* ---- X6: several roles in one request */

static void use_in_two_roles(struct conform_graph_subject *s)
{
    uint32_t t[3] = { 0 };
    struct hal_buffer *b[3] = { NULL };

    b[0] = allocate_filled(s, &in_and_out, &t[0]);
    if (b[0])
        run_all(s, (struct use[]){ { false, 0, t[0] }, { true, 0, t[0] } }, 2, HAL_INVALID_ARGUMENT,
                "input and output");
    if (s->graph->n_outputs > 1 && (b[1] = allocate_filled(s, &both_outputs, &t[1])))
        run_all(s, (struct use[]){ { true, 0, t[1] }, { true, 1, t[1] } }, 2, HAL_INVALID_ARGUMENT,
                "two outputs");
    if (s->graph->n_inputs > 1 && (b[2] = allocate_filled(s, &both_inputs, &t[2])))
        run_all(s, (struct use[]){ { false, 0, t[2] }, { false, 1, t[2] } }, 2, HAL_NONE,
                "two inputs");
    for (int i = 0; i < 3; i++)
        release(b[i]);
}

/* ---- X7: shapes; dimension 0 is unknown in the model, and known in the buffer */

static void run_shaped(struct conform_graph_subject *s, const struct conform_kind *kind,
                       const struct use *use, const struct shape *shape, enum hal_status expected)
{
    struct hal_execution_config config = client_config();
    struct arena *a = arena_new(0);
    struct conform_request r;

    conform_request(&s->model.example, a, &r);
    set_uses(&r, use, 1);
    struct hal_argument *of = &(use->is_output ? r.outputs : r.inputs)[use->index];
    of->n_dims = shape->rank;
    of->dims = shape->dim;
    enum hal_status status = kind->run(s->prepared, s->conform->version, &r, &config);
    EXPECT(s->conform, status == expected && conform_result_is_empty(&r.result),
           "%s of %s, %s, %s of rank %u: %s, expected %s", s->graph->name, s->tensor_type->name,
           kind->name, use->is_output ? "output" : "input", shape->rank, hal_status_name(status),
           hal_status_name(expected));
    arena_free(a);
}

/* The same with inputs of two batches: the result does not fit the buffer. */
static void run_too_large(struct conform_graph_subject *s, const struct conform_kind *kind,
                          const struct use *use)
{
    struct conform_graph_subject two_batches = *s;

    conform_graph_model(&two_batches.model, s->graph, s->tensor_type, 2);
    run_shaped(&two_batches, kind, use, &(struct shape){ 0 }, HAL_GENERAL_FAILURE);
    conform_model_done(&two_batches.model);
}

static void use_other_shape(struct conform_graph_subject *s)
{
    const struct shape two = DIMS(2, 32, 32, 8), flat = DIMS(1, 32, 32);
    uint32_t in = 0, out = 0;
    struct hal_buffer *b = allocate_filled(s, &known_input, &in),
                      *d = conform_must_allocate(s, &known_output, &out);
    const struct use as_input = { false, 0, in }, as_output = { true, 0, out };

    for (int k = 0; b && d && k < conform_n_kinds; k++) {
        const struct conform_kind *kind = &conform_kinds[k];
        if (kind->needs_shapes ||
            !conform_can_run(s->conform, s->prepared, kind, s->conform->version))
            continue;
        run_shaped(s, kind, &as_input, &two, HAL_INVALID_ARGUMENT);
        run_shaped(s, kind, &as_input, &flat, HAL_INVALID_ARGUMENT);
        run_shaped(s, kind, &as_output, &two, HAL_INVALID_ARGUMENT);
        run_shaped(s, kind, &as_output, &flat, HAL_INVALID_ARGUMENT);
        run_too_large(s, kind, &as_output);
    }
    release(b);
    release(d);
}

/* ---- the rules */

struct buffer_rule {
    conform_with_graph *with;
    bool open;
};

static void check_rule(struct conform *c, const void *data)
{
    const struct buffer_rule *w = data;

    conform_each_graph(c, w->open, w->with);
}

static const struct buffer_rule rules[] = {
    { use_unknown },           { use_of_other_model },
    { use_at_other_index },    { use_in_other_direction },
    { use_uninitialised },     { use_in_two_roles },
    { use_other_shape, true }, { use_part },
};

static const struct conform_rule rules_of_file[] = {
    { "memory-domain", "X1", HAL_1_3, 0, "executions reject an unknown or released token",
      check_rule, &rules[0] },
    { "memory-domain", "X2", HAL_1_3, 0, "executions reject a buffer of another prepared model",
      check_rule, &rules[1] },
    { "memory-domain", "X3", HAL_1_3, 0, "executions reject a buffer of another input or output",
      check_rule, &rules[2] },
    { "memory-domain", "X4", HAL_1_3, 0,
      "executions reject an input's buffer as output, and the reverse", check_rule, &rules[3] },
    { "memory-domain", "X5", HAL_1_3, 0,
      "a buffer without contents as input: GENERAL_FAILURE; an execution's result is contents",
      check_rule, &rules[4] },
    { "memory-domain", "X6", HAL_1_3, 0,
      "a buffer may be several inputs of a request, but not two outputs or input and output",
      check_rule, &rules[5] },
    { "memory-domain", "X7", HAL_1_3, 0, "executions fail when a shape does not fit the buffer",
      check_rule, &rules[6] },
    { "memory-domain", "location", HAL_1_3, 0,
      "executions reject an argument in a buffer with an offset, a length or padding", check_rule,
      &rules[7] },
};
const struct conform_rules conform_rules_buffers = { rules_of_file, COUNT(rules_of_file), NULL,
                                                     NULL };
