/* Device buffers as arguments of requests, in every kind of execution: tokens, roles, contents,
 * shapes.
 */
#include <stdlib.h>
#include <string.h>

#include "sim/hal/convert.h"
#include "tests/support/hal_client.h"
#include "tests/vts_graphs.h"
#include "tests/vts_requests.h"

#define END                                                                                        \
    {                                                                                              \
        VTS_NO_MODEL, 0, 1                                                                         \
    }

static const struct vts_allocation
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

static void set_uses(struct vts_request *r, const struct use *use, int n)
{
    for (int i = 0; i < n; i++)
        vts_request_use_token(r, &(use[i].is_output ? r->outputs : r->inputs)[use[i].index],
                              use[i].token);
}

/* Executes with these arguments in buffers; a failure must come without shapes and durations. */
static void run_kind(struct vts_graph_subject *s, const struct vts_kind *kind,
                     const struct use *use, int n, enum hal_status expected, const char *what)
{
    struct hal_execution_config config = client_config();
    struct arena *a = arena_new(0);
    struct vts_request r;

    vts_request(&s->model.example, a, &r);
    set_uses(&r, use, n);
    enum hal_status status = kind->run(s->prepared, s->cell->version, &r, &config);
    EXPECT(s->cell, status == expected && (status == HAL_NONE || vts_result_is_empty(&r.result)),
           "%s, %s of %s, %s: %s, expected %s", what, s->graph->name, s->tensor_type->name,
           kind->name, hal_status_name(status), hal_status_name(expected));
    arena_free(a);
}

static void run_all(struct vts_graph_subject *s, const struct use *use, int n,
                    enum hal_status expected, const char *what)
{
    for (int k = 0; k < vts_n_kinds; k++)
        if (vts_kind_is_of(&vts_kinds[k], s->cell->version))
            run_kind(s, &vts_kinds[k], use, n, expected, what);
}

static void fill(struct vts_graph_subject *s, struct hal_buffer *b)
{
    const struct tensor *t = &s->model.example.in[0];
    struct hal_memory m = { .kind = HAL_MEMORY_ADDRESS,
                            .protection = HAL_MEMORY_READ,
                            .address = t->data,
                            .fd = -1,
                            .size = tensor_bytes(t) };

    EXPECT_STATUS(s->cell, b->methods->copy_from(b, &m, t->shape.rank, t->shape.dim), HAL_NONE,
                  "copy_from");
}

/* An allocated buffer that contains the values of input 0. */
static struct hal_buffer *allocate_filled(struct vts_graph_subject *s,
                                          const struct vts_allocation *a, uint32_t *ret_token)
{
    struct hal_buffer *b = vts_must_allocate(s, a, ret_token);

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
static void use_unknown(struct vts_graph_subject *s)
{
    uint32_t tokens[] = { 0, 100, UINT32_MAX, 0 }, valid_token = 0;
    struct hal_buffer *b = allocate_filled(s, &in_and_out, &valid_token);

    release(vts_must_allocate(s, &vts_one_input, &tokens[3]));
    for (int t = 0; t < COUNT(tokens); t++) {
        if (tokens[t] == valid_token)
            continue;
        run_all(s, &(struct use){ false, 0, tokens[t] }, 1, HAL_INVALID_ARGUMENT, "unknown input");
        run_all(s, &(struct use){ true, 0, tokens[t] }, 1, HAL_INVALID_ARGUMENT, "unknown output");
    }
    release(b);
}

/* The same model prepared a second time does not share buffers with the first. */
static void use_of_other_model(struct vts_graph_subject *s)
{
    struct hal_prepared_model *first = s->prepared;
    uint32_t in = 0, out = 0;
    struct hal_buffer *b = allocate_filled(s, &vts_one_input, &in),
                      *d = vts_must_allocate(s, &vts_one_output, &out);

    run_all(s, &(struct use){ false, 0, in }, 1, HAL_NONE, "the model's own buffer");
    s->prepared = vts_prepare_supported(s->cell, &s->model.hal);
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

static void use_at_other_index(struct vts_graph_subject *s)
{
    uint32_t in = 0, out = 0;
    struct hal_buffer *b = allocate_filled(s, &vts_one_input, &in),
                      *d = vts_must_allocate(s, &vts_one_output, &out);

    if (s->graph->n_inputs > 1)
        run_all(s, &(struct use){ false, 1, in }, 1, HAL_INVALID_ARGUMENT, "input 0 as input 1");
    if (s->graph->n_outputs > 1)
        run_all(s, &(struct use){ true, 1, out }, 1, HAL_INVALID_ARGUMENT, "output 0 as output 1");
    release(b);
    release(d);
}

static void use_in_other_direction(struct vts_graph_subject *s)
{
    uint32_t in = 0, out = 0;
    struct hal_buffer *b = allocate_filled(s, &vts_one_input, &in),
                      *d = allocate_filled(s, &vts_one_output, &out);

    run_all(s, &(struct use){ true, 0, in }, 1, HAL_INVALID_ARGUMENT, "an input as output");
    run_all(s, &(struct use){ false, 0, out }, 1, HAL_INVALID_ARGUMENT, "an output as input");
    release(b);
    release(d);
}

/* ---- X5: contents */

static void use_uninitialised(struct vts_graph_subject *s)
{
    for (int k = 0; k < vts_n_kinds; k++) {
        const struct vts_kind *kind = &vts_kinds[k];
        uint32_t token = 0;
        if (!vts_kind_is_of(kind, s->cell->version))
            continue;
        struct hal_buffer *b = vts_must_allocate(s, &in_and_out, &token);
        const struct use in = { false, 0, token }, out = { true, 0, token };
        run_kind(s, kind, &in, 1, HAL_GENERAL_FAILURE, "a buffer without contents");
        run_kind(s, kind, &out, 1, HAL_NONE, "a buffer as output");
        run_kind(s, kind, &in, 1, HAL_NONE, "a buffer with a result");
        release(b);
    }
}

/* ---- X6: several roles in one request */

static void use_in_two_roles(struct vts_graph_subject *s)
{
    uint32_t t[3] = { 0 };
    struct hal_buffer *b[3] = { NULL };

    b[0] = allocate_filled(s, &in_and_out, &t[0]);
    run_all(s, (struct use[]){ { false, 0, t[0] }, { true, 0, t[0] } }, 2, HAL_INVALID_ARGUMENT,
            "input and output");
    if (s->graph->n_outputs > 1) {
        b[1] = allocate_filled(s, &both_outputs, &t[1]);
        run_all(s, (struct use[]){ { true, 0, t[1] }, { true, 1, t[1] } }, 2, HAL_INVALID_ARGUMENT,
                "two outputs");
    }
    if (s->graph->n_inputs > 1) {
        b[2] = allocate_filled(s, &both_inputs, &t[2]);
        run_all(s, (struct use[]){ { false, 0, t[2] }, { false, 1, t[2] } }, 2, HAL_NONE,
                "two inputs");
    }
    for (int i = 0; i < 3; i++)
        release(b[i]);
}

/* ---- X7: shapes; dimension 0 is unknown in the model, and known in the buffer */

static void run_shaped(struct vts_graph_subject *s, const struct vts_kind *kind,
                       const struct use *use, const struct shape *shape, enum hal_status expected)
{
    struct hal_execution_config config = client_config();
    struct arena *a = arena_new(0);
    struct vts_request r;

    vts_request(&s->model.example, a, &r);
    set_uses(&r, use, 1);
    struct hal_argument *of = &(use->is_output ? r.outputs : r.inputs)[use->index];
    of->n_dims = shape->rank;
    of->dims = shape->dim;
    enum hal_status status = kind->run(s->prepared, s->cell->version, &r, &config);
    EXPECT(s->cell, status == expected && vts_result_is_empty(&r.result),
           "%s of %s, %s, %s of rank %u: %s, expected %s", s->graph->name, s->tensor_type->name,
           kind->name, use->is_output ? "output" : "input", shape->rank, hal_status_name(status),
           hal_status_name(expected));
    arena_free(a);
}

/* The same with inputs of two batches: the result does not fit the buffer. */
static void run_too_large(struct vts_graph_subject *s, const struct vts_kind *kind,
                          const struct use *use)
{
    struct vts_graph_subject two_batches = *s;

    vts_graph_model(&two_batches.model, s->graph, s->tensor_type, 2);
    run_shaped(&two_batches, kind, use, &(struct shape){ 0 }, HAL_GENERAL_FAILURE);
    vts_model_done(&two_batches.model);
}

static void use_other_shape(struct vts_graph_subject *s)
{
    const struct shape two = DIMS(2, 32, 32, 8), flat = DIMS(1, 32, 32);
    uint32_t in = 0, out = 0;
    struct hal_buffer *b = allocate_filled(s, &known_input, &in),
                      *d = vts_must_allocate(s, &known_output, &out);
    const struct use as_input = { false, 0, in }, as_output = { true, 0, out };

    for (int k = 0; k < vts_n_kinds; k++) {
        const struct vts_kind *kind = &vts_kinds[k];
        if (kind->needs_shapes || !vts_kind_is_of(kind, s->cell->version))
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
    vts_with_graph *with;
    bool open;
};

static void check_rule(struct vts_cell *c, const void *data)
{
    const struct buffer_rule *w = data;

    vts_each_graph(c, w->open, w->with);
}

int vts_buffers_main(int argc, char **argv)
{
    static const struct buffer_rule rules[] = {
        { use_unknown },           { use_of_other_model },
        { use_at_other_index },    { use_in_other_direction },
        { use_uninitialised },     { use_in_two_roles },
        { use_other_shape, true },
    };
    static const struct vts_check checks[] = {
        { "X1", check_rule, &rules[0] }, { "X2", check_rule, &rules[1] },
        { "X3", check_rule, &rules[2] }, { "X4", check_rule, &rules[3] },
        { "X5", check_rule, &rules[4] }, { "X6", check_rule, &rules[5] },
        { "X7", check_rule, &rules[6] },
    };
    static const struct vts_program p = { "buffers", checks, COUNT(checks), NULL, NULL };

    return vts_main(&p, argc, argv);
}
