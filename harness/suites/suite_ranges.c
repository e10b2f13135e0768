/* Numbers out of range in requests and models are rejected; padding is accepted where it is
 * allowed. */
#include <math.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness/conform/conform_requests.h"
#include "harness/conform/must.h"
#include "harness/corrupt/bad_memory.h"
#include "harness/corrupt/conform_mutations.h"
#include "sim/client/hal_calls.h"

/* ---- in requests */

static const uint32_t huge[17] = { UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX }, five[] = { 5 };

static struct hal_argument *input(struct conform_request *r)
{
    return &r->inputs[0];
}

static void bad_pool(struct conform_request *r)
{
    input(r)->location.pool = 2;
}

static void last_pool(struct conform_request *r)
{
    input(r)->location.pool = UINT32_MAX;
}

static void output_pool(struct conform_request *r)
{
    r->outputs[0].location.pool = 2;
}

static void huge_offset(struct conform_request *r)
{
    input(r)->location.offset = UINT64_MAX - 8;
}

static void far_offset(struct conform_request *r)
{
    input(r)->location.offset = r->pool[0].memory.size;
}

static void far_output(struct conform_request *r)
{
    r->outputs[0].location.offset = r->pool[1].memory.size - 1;
}

static void huge_length(struct conform_request *r)
{
    input(r)->location.length = UINT64_MAX;
}

static void no_length(struct conform_request *r)
{
    input(r)->location.length = 0;
}

static void long_input(struct conform_request *r)
{
    input(r)->location.length++;
}

static void short_input(struct conform_request *r)
{
    input(r)->location.length--;
}

static void long_output(struct conform_request *r)
{
    r->outputs[0].location.length = UINT64_MAX;
}

static void huge_padding(struct conform_request *r)
{
    input(r)->location.padding = UINT64_MAX;
}

static void far_padding(struct conform_request *r)
{
    r->outputs[0].location.padding = r->pool[1].memory.size;
}

static void other_dimension(struct conform_request *r)
{
    input(r)->n_dims = 1;
    input(r)->dims = five;
}

static void huge_dimensions(struct conform_request *r)
{
    input(r)->n_dims = 4;
    input(r)->dims = huge;
}

static void high_rank(struct conform_request *r)
{
    r->outputs[0].n_dims = 17;
    r->outputs[0].dims = huge;
}

static void no_value(struct conform_request *r)
{
    input(r)->has_no_value = true;
    input(r)->location = (struct hal_location){ 0 };
}

static void no_pools(struct conform_request *r)
{
    r->hal.n_pools = 0;
}

static void read_only(struct conform_request *r)
{
    r->pool[1].memory.protection = HAL_MEMORY_READ;
}

static void unreadable(struct conform_request *r)
{
    r->pool[0].memory.protection = HAL_MEMORY_WRITE;
}

static void a_token(struct conform_request *r)
{
    r->pool[0] = (struct hal_request_pool){ .is_token = true, .token = UINT32_MAX };
}

static const struct invalid_request {
    const char *what;
    enum hal_version since;
    void (*change)(struct conform_request *r);
} invalid_requests[] = {
    { "pool 2 of 2", HAL_1_0, bad_pool },
    { "pool 2^32 - 1", HAL_1_0, last_pool },
    { "an output in pool 2 of 2", HAL_1_0, output_pool },
    { "an offset near 2^64", HAL_1_0, huge_offset },
    { "an offset after the pool's end", HAL_1_0, far_offset },
    { "an output after the pool's end", HAL_1_0, far_output },
    { "a length of 2^64 - 1", HAL_1_0, huge_length },
    { "length 0", HAL_1_0, no_length },
    { "an input that is too long", HAL_1_0, long_input },
    { "an input that is too short", HAL_1_0, short_input },
    { "an output length of 2^64 - 1", HAL_1_0, long_output },
    { "padding of 2^64 - 1", HAL_FL5, huge_padding },
    { "padding after the pool's end", HAL_FL5, far_padding },
    { "another dimension", HAL_1_0, other_dimension },
    { "huge dimensions", HAL_1_0, huge_dimensions },
    { "an output of rank 17", HAL_1_0, high_rank },
    { "an omitted input", HAL_1_0, no_value },
    { "no pools", HAL_1_0, no_pools },
    { "outputs that cannot be written", HAL_1_0, read_only },
    { "memory that cannot be read", HAL_1_0, unreadable },
    { "an unknown token", HAL_1_0, a_token },
};

/* change: of the request, or (NULL) of the memory of pool 0. */
static void refuse_request(struct conform *c, struct conform_subject *s, const char *what,
                           void (*change)(struct conform_request *r), const struct bad_memory *bad)
{
    struct hal_execution_config config = client_config();

    for (int k = 0; k < conform_n_kinds; k++) {
        if (!conform_can_run(c, s->prepared, &conform_kinds[k], c->version))
            continue;
        conform_subject_reset(s);
        if (change)
            change(&s->request);
        else
            bad->change(&s->request.pool[0].memory);
        enum hal_status status =
            conform_kinds[k].run(s->prepared, c->version, &s->request, &config);
        EXPECT(c, status == HAL_INVALID_ARGUMENT && conform_result_is_empty(&s->request.result),
               "%s, %s execution, %s: %s, expected INVALID_ARGUMENT without shapes and durations",
               s->model.name, conform_kinds[k].name, what, hal_status_name(status));
        EXPECT(c, !conform_kinds[k].launches || s->request.launch == HAL_INVALID_ARGUMENT,
               "%s, %s execution, %s: the call returns %s, expected INVALID_ARGUMENT",
               s->model.name, conform_kinds[k].name, what, hal_status_name(s->request.launch));
    }
}

static void refuse_negative_duration(struct conform *c, struct conform_subject *s)
{
    const struct hal_execution_config config = client_config();
    struct hal_fenced_info *info = (struct hal_fenced_info *) c;
    int fence = 99;

    if (!conform_can_run(c, s->prepared, conform_kind_named("fenced"), c->version))
        return;
    conform_subject_reset(s);
    enum hal_status status = s->prepared->methods->execute_fenced(
        s->prepared, c->version, &s->request.hal, 0, NULL, &config, (uint64_t) -2, &fence, &info);
    EXPECT(c, status == HAL_INVALID_ARGUMENT && fence == HAL_NO_FENCE && !info,
           "execute_fenced with a duration of -2 ns: %s, fence %d, expected INVALID_ARGUMENT",
           hal_status_name(status), fence);
}

/* Deadlines and durations below 0, which are signed since feature level 5. */
static void refuse_negative_times(struct conform *c, struct conform_subject *s)
{
    struct hal_prepare_config prepare = client_default_preparation;
    struct hal_execution_config config[2] = { client_config(), client_config() };

    prepare.deadline = (uint64_t) -2;
    struct conform_prepared p = conform_prepare(c, c->version, &s->model.hal, &prepare);
    EXPECT_STATUS(c, p.status, HAL_INVALID_ARGUMENT, "prepare_model with deadline -2 ns");
    refuse_negative_duration(c, s);
    config[0].deadline = config[1].loop_timeout = (uint64_t) -2;
    for (int k = 0; k < 2 * conform_n_kinds; k++) {
        const struct conform_kind *kind = &conform_kinds[k / 2];
        if (!conform_can_run(c, s->prepared, kind, c->version))
            continue;
        conform_subject_reset(s);
        enum hal_status status = kind->run(s->prepared, c->version, &s->request, &config[k % 2]);
        EXPECT(c, status == HAL_INVALID_ARGUMENT && conform_result_is_empty(&s->request.result),
               "%s of -2 ns, %s: %s", k % 2 ? "a loop time-out" : "a deadline", kind->name,
               hal_status_name(status));
    }
}

/* ---- in models */

struct model_copy {
    struct hal_model hal;
    struct hal_operand operands[8];
    uint32_t constant;       /* index of a constant operand */
    struct hal_memory *pool; /* that it was moved to; NULL: it was not */
};

static void operand_offset(struct model_copy *m)
{
    m->operands[m->constant].location.offset = UINT64_MAX - 1;
}

static void operand_length(struct model_copy *m)
{
    m->operands[m->constant].location.length = UINT64_MAX;
}

/* Moves the constant, of 4 bytes, to a pool. */
static void refer_to_constant(struct model_copy *m, uint64_t length)
{
    static uint8_t bytes[64];
    static struct hal_memory pool;

    pool =
        (struct hal_memory){ HAL_MEMORY_ADDRESS, HAL_MEMORY_READ | HAL_MEMORY_WRITE, bytes, -1, 0,
                             sizeof bytes };
    m->operands[m->constant].lifetime = HAL_CONSTANT_REFERENCE;
    m->operands[m->constant].location = (struct hal_location){ .length = length };
    m->hal.n_pools = 1;
    m->hal.pools = &pool;
    m->pool = &pool;
}

static void reference_longer(struct model_copy *m)
{
    refer_to_constant(m, 8);
}

static void reference_shorter(struct model_copy *m)
{
    refer_to_constant(m, 3);
}

static void reference_far(struct model_copy *m)
{
    refer_to_constant(m, 4);
    m->operands[m->constant].location.offset = 61;
}

static void operand_shorter(struct model_copy *m)
{
    m->operands[m->constant].location.length--;
}

static void input_offset(struct model_copy *m)
{
    m->operands[0].location.offset = 4;
}

static void input_length(struct model_copy *m)
{
    m->operands[0].location.length = 16;
}

static void input_pool(struct model_copy *m)
{
    m->operands[0].location.pool = 1;
}

static void operand_behind(struct model_copy *m)
{
    m->operands[m->constant].location.offset = m->hal.operand_values_length;
}

static void operand_pool(struct model_copy *m)
{
    m->operands[m->constant].lifetime = HAL_CONSTANT_REFERENCE;
    m->operands[m->constant].location.pool = 99;
}

static void operand_padding(struct model_copy *m)
{
    m->operands[m->constant].location.padding = 1;
}

static void operand_rank(struct model_copy *m)
{
    m->operands[0].n_dims = 17;
    m->operands[0].dims = huge;
}

static void operand_nan_scale(struct model_copy *m)
{
    m->operands[0].scale = NAN;
}

static void operand_infinite_scale(struct model_copy *m)
{
    m->operands[0].scale = INFINITY;
}

static void operand_dimensions(struct model_copy *m)
{
    m->operands[0].n_dims = 4;
    m->operands[0].dims = huge;
}

static void operand_lifetime(struct model_copy *m)
{
    m->operands[m->constant].lifetime = (enum hal_lifetime) 8;
}

static void operand_subgraph(struct model_copy *m)
{
    m->operands[m->constant].lifetime = HAL_SUBGRAPH;
    m->operands[m->constant].location = (struct hal_location){ .offset = UINT64_MAX };
}

static void no_values(struct model_copy *m)
{
    m->hal.operand_values_length = 0;
}

static const struct invalid_model {
    const char *what;
    void (*change)(struct model_copy *m);
} invalid_models[] = {
    { "a constant at an offset near 2^64", operand_offset },
    { "a constant of length 2^64 - 1", operand_length },
    { "a constant after the end of the values", operand_behind },
    { "a constant in pool 99", operand_pool },
    { "a constant that is too short", operand_shorter },
    { "a constant in a pool that is too long", reference_longer },
    { "a constant in a pool that is too short", reference_shorter },
    { "a constant that ends after its pool", reference_far },
    { "an input with an offset", input_offset },
    { "an input with a length", input_length },
    { "an input in a pool", input_pool },
    { "padding", operand_padding },
    { "an input of rank 17", operand_rank },
    { "an input of huge dimensions", operand_dimensions },
    { "a scale that is not a number", operand_nan_scale },
    { "an infinite scale", operand_infinite_scale },
    { "a lifetime out of range", operand_lifetime },
    { "a subgraph out of range", operand_subgraph },
    { "no operand values", no_values },
};

/* change: of the model, or (NULL) of the memory of its pool. */
static void refuse_model(struct conform *c, const struct conform_model *original, const char *what,
                         void (*change)(struct model_copy *m), const struct bad_memory *bad)
{
    struct model_copy m = { .hal = original->hal };
    bool supported[4];
    uint32_t n = 99;

    MUST(m.hal.main.n_operands <= COUNT(m.operands));
    memcpy(m.operands, m.hal.main.operands, m.hal.main.n_operands * sizeof *m.operands);
    m.hal.main.operands = m.operands;
    while (m.operands[m.constant].lifetime != HAL_CONSTANT_COPY)
        m.constant++;
    if (change) {
        change(&m);
    } else {
        refer_to_constant(&m, 4);
        bad->change(m.pool);
    }
    enum hal_status s =
        c->driver->get_supported_operations(c->driver, c->version, &m.hal, supported, &n);
    EXPECT(c, s == HAL_INVALID_ARGUMENT && n == 99,
           "a model with %s: get_supported_operations: %s, expected INVALID_ARGUMENT%s", what,
           hal_status_name(s), n == 99 ? "" : "; it writes *ret_n");
    struct conform_prepared p = conform_prepare(c, c->version, &m.hal, &client_default_preparation);
    EXPECT(c, p.status == HAL_INVALID_ARGUMENT && !p.model,
           "a model with %s: prepare_model: %s, expected INVALID_ARGUMENT", what,
           hal_status_name(p.status));
}

/* An invalid model is rejected whether or not the driver supports its operations. */
static void refuse_models(struct conform *c, const struct invalid_model *invalid, int n)
{
    static const struct one_op list[] = {
        { "ADD of float32",
          "ADD",
          1,
          { "F32[4]: 0 1 2 3", "F32[4]: 1 1 1 1", "INT32: 0" },
          "F32[4]: 1 2 3 4" },
    };
    struct conform_model m;

    conform_model_of(&m, &list[0]);
    for (int k = 0; k < n; k++) {
        conform_doing(c, "%s with %s", m.name, invalid[k].what);
        refuse_model(c, &m, invalid[k].what, invalid[k].change, NULL);
    }
    for (int k = 0; k < n_bad_memories; k++) {
        conform_doing(c, "%s with a constant in %s", m.name, bad_memories[k].what);
        refuse_model(c, &m, bad_memories[k].what, NULL, &bad_memories[k]);
    }
    conform_model_done(&m);
}

static void negative_times(struct conform *c, const void *data)
{
    struct conform_subject s;

    (void) data;
    if (conform_subject_open(c, conform_relu(c), &s))
        refuse_negative_times(c, &s);
    conform_subject_close(&s);
}

static void requests(struct conform *c, const void *data)
{
    struct conform_subject s;

    (void) data;
    if (conform_subject_open(c, conform_relu(c), &s)) {
        for (int k = 0; k < COUNT(invalid_requests); k++)
            if (c->version >= invalid_requests[k].since)
                refuse_request(c, &s, invalid_requests[k].what, invalid_requests[k].change, NULL);
        for (int k = 0; k < n_bad_memories; k++)
            refuse_request(c, &s, bad_memories[k].what, NULL, &bad_memories[k]);
    }
    conform_subject_close(&s);
}

/* ---- scales of channels, in the first built-in model that has some */

static void one_scale_more(struct hal_operand *o, float *scale)
{
    scale[o->n_channel_scales++] = 1;
}

static void one_scale_less(struct hal_operand *o, float *scale)
{
    (void) scale;
    o->n_channel_scales--;
}

static void no_channel(struct hal_operand *o, float *scale)
{
    (void) scale;
    o->channel_dim = o->n_dims;
}

static void scale_zero(struct hal_operand *o, float *scale)
{
    (void) o;
    scale[0] = 0;
}

static void scale_nan(struct hal_operand *o, float *scale)
{
    (void) o;
    scale[0] = NAN;
}

static const struct {
    const char *what;
    void (*change)(struct hal_operand *o, float *scale);
} invalid_channels[] = {
    { "one scale more than channels", one_scale_more },
    { "one scale less than channels", one_scale_less },
    { "a channel dimension out of range", no_channel },
    { "a scale of 0", scale_zero },
    { "a scale that is not a number", scale_nan },
};

static void refuse_channels(struct conform *c, const struct conform_model *m, uint32_t operand)
{
    const struct hal_subgraph *g = &m->hal.main;

    for (int k = 0; k < COUNT(invalid_channels); k++) {
        struct hal_model hal = m->hal;
        struct hal_operand *o =
            arena_copy(m->arena, g->operands, g->n_operands * sizeof *g->operands);
        uint32_t n = g->operands[operand].n_channel_scales;
        float *scale = arena_alloc(m->arena, n + 1, sizeof *scale);
        conform_must(o && scale, "out of memory");
        memcpy(scale, o[operand].channel_scales, n * sizeof *scale);
        o[operand].channel_scales = scale;
        invalid_channels[k].change(&o[operand], scale);
        hal.main.operands = o;
        conform_doing(c, "%s with %s", m->name, invalid_channels[k].what);
        struct conform_prepared p =
            conform_prepare(c, c->version, &hal, &client_default_preparation);
        EXPECT(c, p.status == HAL_INVALID_ARGUMENT && !p.model,
               "%s, an operand with %s: prepare_model: %s, expected INVALID_ARGUMENT", m->name,
               invalid_channels[k].what, hal_status_name(p.status));
        if (p.model)
            p.model->methods->release(p.model);
    }
}

static void channels(struct conform *c)
{
    for (int i = 0; i < conform_n_models; i++) {
        const struct hal_subgraph *g = &conform_models[i].hal.main;
        for (uint32_t k = 0; conform_model_is_of(&conform_models[i], c) && k < g->n_operands; k++)
            if (g->operands[k].extra == HAL_EXTRA_CHANNEL_QUANT &&
                g->operands[k].n_channel_scales) {
                refuse_channels(c, &conform_models[i], k);
                return;
            }
    }
}

static void models(struct conform *c, const void *data)
{
    (void) data;
    refuse_models(c, invalid_models, COUNT(invalid_models));
    channels(c);
}

/* ---- valid padding */

static void run_padded(struct conform *c, struct conform_subject *s,
                       const struct conform_kind *kind)
{
    struct hal_execution_config config = client_config();

    conform_subject_reset(s);
    s->request.inputs[0].location.padding = 16;
    s->request.outputs[0].location.padding =
        s->request.pool[1].memory.size - s->request.outputs[0].location.length;
    enum hal_status status = kind->run(s->prepared, c->version, &s->request, &config);
    EXPECT(c, status == HAL_NONE && conform_subject_is_correct(s),
           "%s, %s execution with padding after the arguments: %s, or wrong results", s->model.name,
           kind->name, hal_status_name(status));
}

static void padding(struct conform *c, const void *data)
{
    const struct invalid_model in_model = { "padding", operand_padding };
    struct conform_subject s;

    (void) data;
    if (conform_subject_open(c, conform_relu(c), &s))
        for (int k = 0; k < conform_n_kinds; k++)
            if (conform_can_run(c, s.prepared, &conform_kinds[k], c->version))
                run_padded(c, &s, &conform_kinds[k]);
    conform_subject_close(&s);
    refuse_models(c, &in_model, 1);
}

static const struct conform_rule rules_of_file[] = {
    { "deadline", "range", HAL_FL5, 0,
      "deadlines, maximum durations and time-outs of loops below 0 are rejected", negative_times },
    { "request", "ranges", HAL_1_0, 0,
      "rejects numbers out of range, unsuitable memory, and arguments of another size or shape",
      requests },
    { "model", "ranges", HAL_1_0, 0, "rejects numbers out of range", models },
    { "version", "padding", HAL_FL5, 0, "padding is rejected in models and accepted in requests",
      padding },
};
const struct conform_rules conform_rules_ranges = { rules_of_file, COUNT(rules_of_file),
                                                    conform_models_draw, conform_models_free };
