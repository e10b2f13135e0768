#include "harness/corrupt/burst_subject.h"

#include <string.h>

#include "sim/client/hal_calls.h"
#include "sim/hal/convert.h"

/* Each cell tries one model in so many: in process, and over a socket. */
enum { LOCAL_EVERY = 3, REMOTE_EVERY = 9 };

/* Gives dimensions only where the model leaves them unknown. */
static void omit_known_dimensions(struct burst_subject *s)
{
    const struct graph *g = &s->m->example.model.graph[0];

    for (uint32_t i = 0; i < g->n_inputs; i++)
        if (shape_known(&g->operand[g->input[i]].tensor.shape))
            s->r.inputs[i].n_dims = 0;
}

/* The dimensions of all inputs are given already. */
static void give_all_dimensions(struct burst_subject *s)
{
    for (uint32_t i = 0; i < s->r.hal.n_outputs; i++) {
        s->r.outputs[i].n_dims = s->m->example.expected[i].shape.rank;
        s->r.outputs[i].dims = s->m->example.expected[i].shape.dim;
    }
}

/* Opens the burst; the expected outputs are those of a synchronous execution.  False: no burst, or
 * outputs of unknown shape, which a driver need not support. */
static bool begin(struct conform *c, struct burst_subject *s, struct hal_prepared_model *p)
{
    struct hal_execution_config config = client_config();
    struct hal_memory *in = &s->r.pool[0].memory, *out = &s->r.pool[1].memory;
    enum hal_status status =
        p->methods->execute_synchronously(p, c->version, &s->r.hal, &config, &s->r.result);

    if (status == HAL_GENERAL_FAILURE && !conform_request_is_specified(&s->m->example))
        return false;
    if (!EXPECT(c, status == HAL_NONE, "%s, synchronous execution: %s, expected NONE", s->m->name,
                hal_status_name(status)))
        return false;
    status = raw_burst_open(&s->b, p, c->is_remote, c->version, BURST_QUEUE_LENGTH);
    EXPECT(c, status == HAL_NONE, "%s: configure_burst returns %s, expected NONE", s->m->name,
           hal_status_name(status));
    if (status != HAL_NONE)
        return false;
    memcpy(raw_burst_memory(&s->b, 0, in->size), in->address, in->size);
    s->room = out->size;
    s->out = raw_burst_memory(&s->b, 1, out->size);
    (s->has_all_dims ? give_all_dimensions : omit_known_dimensions)(s);
    config.measure = true;
    s->n = raw_burst_packet(&s->r.hal, c->version, &config, s->datums);
    return true;
}

static void end(struct burst_subject *s)
{
    raw_burst_drop(&s->b, 0);
    raw_burst_drop(&s->b, 1);
    raw_burst_close(&s->b);
}

void burst_subject_expect_correct(struct conform *c, struct burst_subject *s)
{
    enum hal_status status;

    memset(s->out, 0, s->room);
    status = raw_burst_run(&s->b, s->datums, s->n, &s->r.result);
    EXPECT(c, status == HAL_NONE && memcmp(s->out, s->r.pool[1].memory.address, s->room) == 0,
           "%s: the valid request through the burst: %s, or other results than those of a "
           "synchronous execution",
           s->m->name, hal_status_name(status));
}

static void run(struct conform *c, const struct conform_model *m, bool has_all_dims,
                visit_burst *visit)
{
    const struct conform_kind *burst = conform_kind_named("burst"),
                              *synchronous = conform_kind_named("synchronous");
    struct burst_subject *s;

    conform_doing(c, "%s", m->name);
    struct hal_prepared_model *p = conform_prepare_supported(c, &m->hal);
    if (!p)
        return;
    if (!conform_can_run(c, p, burst, c->version) ||
        !conform_can_run(c, p, synchronous, c->version)) {
        p->methods->release(p);
        return;
    }
    struct arena *a = arena_new(0);
    s = arena_alloc(a, 1, sizeof *s);
    s->m = m;
    s->has_all_dims = has_all_dims;
    conform_request(&m->example, a, &s->r);
    if (begin(c, s, p)) {
        burst_subject_expect_correct(c, s);
        visit(c, s);
        burst_subject_expect_correct(c, s);
        end(s);
    }
    p->methods->release(p);
    arena_free(a);
}

void burst_subject_each(struct conform *c, visit_burst *visit)
{
    int every = c->is_remote ? REMOTE_EVERY : LOCAL_EVERY;

    for (int i = 0; i < conform_n_models; i++)
        if (conform_is_mine(c, (uint32_t) i) && conform_model_is_of(&conform_models[i], c) &&
            (i + (int) c->version) % every == 0)
            run(c, &conform_models[i], i % 2, visit);
}

void burst_subject_one(struct conform *c, visit_burst *visit)
{
    const struct one_op *o = conform_relu(c);
    struct conform_model m;

    if (!o)
        return;
    conform_model_of(&m, o);
    run(c, &m, false, visit);
    conform_model_done(&m);
}
