/* Priorities and deadlines: a started preparation or execution succeeds, or ends with
 * MISSED_DEADLINE. */
#include <string.h>
#include <time.h>

#include "sim/hal/convert.h"
#include "tests/support/hal_client.h"
#include "tests/vts_models.h"
#include "tests/vts_mutations.h"
#include "tests/vts_requests.h"

enum which { PASSED, SHORT, FAR, UNLIMITED, DEADLINES };

static const char *const names[DEADLINES] = { "passed", "short", "far", "unlimited" };

/* In ns of the version's clock: in 5 ms (short), in an hour (far).  Far detects a driver that reads
 * another clock, by which it may have passed. */
static uint64_t deadline(enum which which, enum hal_version version)
{
    struct timespec t;

    clock_gettime(version >= HAL_FL5 ? CLOCK_BOOTTIME : CLOCK_MONOTONIC, &t);
    uint64_t now = (uint64_t) t.tv_sec * UINT64_C(1000000000) + (uint64_t) t.tv_nsec;
    switch (which) {
    case PASSED: return now;
    case SHORT: return now + 5000000;
    case FAR: return now + UINT64_C(3600000000000);
    default: return HAL_NO_DEADLINE;
    }
}

/* The shipped devices always miss a deadline that has passed; they may or may not meet a short one.
 */
static bool is_allowed(enum hal_status s, enum which which)
{
    bool missed = s == HAL_MISSED_DEADLINE_TRANSIENT || s == HAL_MISSED_DEADLINE_PERSISTENT;

    return which == PASSED ? missed : s == HAL_NONE || (which == SHORT && missed);
}

static void release(struct hal_prepared_model *p)
{
    if (p)
        p->methods->release(p);
}

/* ---- preparing */

typedef void visit_model(struct vts_cell *c, const struct vts_model *m,
                         struct hal_prepared_model *p);

/* Over a socket one in four models is tried. */
enum { REMOTE_EVERY = 4 };

static void with_supported(struct vts_cell *c, const struct vts_model *m, visit_model *visit)
{
    struct hal_prepared_model *p = vts_prepare_supported(c, &m->hal);

    if (p)
        visit(c, m, p);
    release(p);
}

static void each_supported(struct vts_cell *c, visit_model *visit)
{
    for (int i = 0; i < vts_n_models; i++)
        if (vts_model_is_of(&vts_models[i], c) && (!c->is_remote || i % REMOTE_EVERY == 0))
            with_supported(c, &vts_models[i], visit);
}

static void prepare_at_priorities(struct vts_cell *c, const struct vts_model *m,
                                  struct hal_prepared_model *prepared)
{
    struct hal_prepare_config config = vts_default_config;

    (void) prepared;
    for (int k = HAL_PRIORITY_LOW; k <= HAL_PRIORITY_HIGH; k++) {
        config.priority = (enum hal_priority) k;
        struct vts_prepared p = vts_prepare(c, c->version, &m->hal, &config);
        EXPECT(c, p.launched == HAL_NONE && p.status == HAL_NONE && p.model, "%s, priority %d: %s",
               m->name, k, hal_status_name(p.status));
        release(p.model);
    }
}

static void prepare_until(struct vts_cell *c, const struct vts_model *m,
                          struct hal_prepared_model *prepared)
{
    struct hal_prepare_config config = vts_default_config;

    (void) prepared;
    for (enum which k = 0; k < DEADLINES; k++) {
        config.deadline = deadline(k, c->version);
        struct vts_prepared p = vts_prepare(c, c->version, &m->hal, &config);
        EXPECT(c, p.launched == HAL_NONE && is_allowed(p.status, k),
               "%s, deadline %s: prepare_model: %s, callback: %s", m->name, names[k],
               hal_status_name(p.launched), hal_status_name(p.status));
        release(p.model);
    }
}

static void priorities(struct vts_cell *c, const void *data)
{
    (void) data;
    each_supported(c, prepare_at_priorities);
}

static void preparing(struct vts_cell *c, const void *data)
{
    (void) data;
    each_supported(c, prepare_until);
}

/* ---- executing */

static bool are_shapes_exact(const struct hal_result *r, const struct vts_model *m)
{
    for (uint32_t i = 0; i < r->n_shapes; i++) {
        const struct shape *s = &m->example.expected[i].shape;
        if (!r->shapes[i].is_sufficient || r->shapes[i].n_dims != s->rank ||
            memcmp(r->shapes[i].dims, s->dim, s->rank * sizeof *s->dim) != 0)
            return false;
    }
    return true;
}

static void expect_end(struct vts_cell *c, const struct vts_model *m,
                       const struct vts_request *request, const struct vts_kind *kind,
                       enum which which, enum hal_status status)
{
    const struct hal_result *r = &request->result;
    bool reports = status == HAL_NONE && kind->reports;

    EXPECT(c, is_allowed(status, which), "%s, %s, deadline %s: %s", m->name, kind->name,
           names[which], hal_status_name(status));
    EXPECT(c, !kind->launches || request->launch == HAL_NONE,
           "%s, %s, deadline %s: the call itself returns %s", m->name, kind->name, names[which],
           hal_status_name(request->launch));
    EXPECT(c, r->timing.on_device == HAL_NO_TIME && r->timing.in_driver == HAL_NO_TIME,
           "%s, %s, deadline %s: durations without measurement", m->name, kind->name, names[which]);
    EXPECT(c, r->n_shapes == (reports ? m->hal.main.n_outputs : 0) && are_shapes_exact(r, m),
           "%s, %s, deadline %s: %u shapes, or wrong ones", m->name, kind->name, names[which],
           r->n_shapes);
    if (status == HAL_NONE && m->example.expected[0].data)
        EXPECT(c, vts_outputs_are(request, m->example.expected),
               "%s, %s, deadline %s: wrong results", m->name, kind->name, names[which]);
}

static void execute_until(struct vts_cell *c, const struct vts_model *m,
                          struct hal_prepared_model *p)
{
    bool specified = vts_request_is_specified(&m->example);
    struct hal_execution_config config = client_config();
    struct arena *a = arena_new(0);
    struct vts_request r;

    for (int k = 0; k < vts_n_kinds * DEADLINES; k++) {
        const struct vts_kind *kind = &vts_kinds[k / DEADLINES];
        enum which which = (enum which)(k % DEADLINES);
        if (!vts_kind_is_of(kind, c->version) || c->version < kind->deadlines ||
            (kind->needs_shapes && !specified))
            continue;
        vts_request(&m->example, a, &r);
        config.deadline = deadline(which, c->version);
        expect_end(c, m, &r, kind, which, kind->run(p, c->version, &r, &config));
    }
    arena_free(a);
}

/* Single operations with expected results, and random models. */
static void executing(struct vts_cell *c, const void *data)
{
    (void) data;
    for (int i = 0; i < vts_n_texts; i++) {
        struct vts_model m;
        vts_model_of(&m, &vts_texts[i]);
        if (vts_model_is_of(&m, c))
            with_supported(c, &m, execute_until);
        vts_model_done(&m);
    }
    each_supported(c, execute_until);
}

int vts_deadlines_main(int argc, char **argv)
{
    static const struct vts_check checks[] = {
        { "Q1", priorities },
        { "Q2", preparing },
        { "Q3", executing },
    };
    static const struct vts_program p = { "deadlines", checks, COUNT(checks), vts_models_draw,
                                          vts_models_free };

    return vts_main(&p, argc, argv);
}
