/* Priorities and deadlines: what is launched ends in time or says that it does not. */
#include <time.h>

#include "sim/convert.h"
#include "tests/hal_client.h"
#include "tests/vts_models.h"
#include "tests/vts_mutations.h"
#include "tests/vts_requests.h"

enum which { PASSED, SHORT, UNLIMITED, DEADLINES };

static const char *const names[DEADLINES] = { "passed", "short", "unlimited" };

/* By the version's clock; a short one is in 5 ms. */
static uint64_t deadline(enum which which, enum hal_version version)
{
    struct timespec t;

    clock_gettime(version >= HAL_FL5 ? CLOCK_BOOTTIME : CLOCK_MONOTONIC, &t);
    uint64_t now = (uint64_t) t.tv_sec * UINT64_C(1000000000) + (uint64_t) t.tv_nsec;
    return which == PASSED ? now : which == SHORT ? now + 5000000 : HAL_NO_DEADLINE;
}

/* One that has passed is missed on these devices; a short one may be kept. */
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

typedef void visit_model(struct cell *c, const struct vts_model *m);

/* Over a socket one of four will do. */
enum { REMOTE_EVERY = 4 };

static void each_supported(struct cell *c, visit_model *visit)
{
    for (int i = 0; i < vts_n_models; i++) {
        const struct vts_model *m = &vts_models[i];
        if (!vts_model_is_of(m, c) || (c->is_remote && i % REMOTE_EVERY))
            continue;
        struct hal_prepared_model *p = vts_prepare_supported(c, &m->hal);
        if (p)
            visit(c, m);
        release(p);
    }
}

static void prepare_at_priorities(struct cell *c, const struct vts_model *m)
{
    struct hal_prepare_config config = vts_usual;

    for (int k = HAL_PRIORITY_LOW; k <= HAL_PRIORITY_HIGH; k++) {
        config.priority = (enum hal_priority) k;
        struct vts_prepared p = vts_prepare(c, c->version, &m->hal, &config);
        EXPECT(c, p.launched == HAL_NONE && p.status == HAL_NONE && p.model, "%s, priority %d: %s",
               m->name, k, hal_status_name(p.status));
        release(p.model);
    }
}

static void prepare_until(struct cell *c, const struct vts_model *m)
{
    struct hal_prepare_config config = vts_usual;

    for (enum which k = 0; k < DEADLINES; k++) {
        config.deadline = deadline(k, c->version);
        struct vts_prepared p = vts_prepare(c, c->version, &m->hal, &config);
        EXPECT(c, p.launched == HAL_NONE && is_allowed(p.status, k), "%s, %s: %s, then %s", m->name,
               names[k], hal_status_name(p.launched), hal_status_name(p.status));
        release(p.model);
    }
}

static void priorities(struct cell *c, const void *data)
{
    (void) data;
    each_supported(c, prepare_at_priorities);
}

static void preparing(struct cell *c, const void *data)
{
    (void) data;
    each_supported(c, prepare_until);
}

/* ---- executing */

static void expect_end(struct cell *c, const struct vts_subject *s, const struct vts_kind *kind,
                       enum which which, enum hal_status status)
{
    const struct hal_result *r = &s->request.result;

    EXPECT(c, is_allowed(status, which), "%s, %s: %s", kind->name, names[which],
           hal_status_name(status));
    EXPECT(c, r->timing.on_device == HAL_NO_TIME && r->timing.in_driver == HAL_NO_TIME,
           "%s, %s: timed", kind->name, names[which]);
    EXPECT(c, status == HAL_NONE ? r->n_shapes == kind->reports : r->n_shapes == 0,
           "%s, %s: %u shapes", kind->name, names[which], r->n_shapes);
    if (status == HAL_NONE && r->n_shapes)
        EXPECT(c,
               r->shapes[0].is_sufficient && r->shapes[0].n_dims == 1 && r->shapes[0].dims[0] == 4,
               "%s, %s: another shape", kind->name, names[which]);
    if (status == HAL_NONE)
        EXPECT(c, vts_subject_is_right(s), "%s, %s: wrong results", kind->name, names[which]);
}

static void executing(struct cell *c, const void *data)
{
    struct hal_execution_config config = client_config();
    struct vts_subject s;

    (void) data;
    vts_subject_open(c, vts_relu(c), &s);
    for (int k = 0; k < vts_n_kinds && EXPECT(c, s.prepared, "not prepared"); k++)
        for (enum which d = 0; d < DEADLINES; d++) {
            if (!vts_kind_is_of(&vts_kinds[k], c->version) || c->version < vts_kinds[k].deadlines)
                continue;
            vts_subject_renew(&s);
            config.deadline = deadline(d, c->version);
            expect_end(c, &s, &vts_kinds[k], d,
                       vts_kinds[k].run(s.prepared, c->version, &s.request, &config));
        }
    vts_subject_close(&s);
}

int main(int argc, char **argv)
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
