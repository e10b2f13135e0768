/* Every driver rejects every mutant (tests/vts_mutations.h) of every model.  In process all mutants
 * are tried; over a socket, and through the entry points of older versions, every nth of each
 * mutation. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/hal/convert.h"
#include "tests/vts_models.h"
#include "tests/vts_mutations.h"

enum { REMOTE_EVERY = 11, OLDER_EVERY = 59, MAX_OPERATIONS = 128 };

struct walk {
    struct vts_cell *cell;
    enum hal_version entry;
    const struct vts_model *model;
    const struct vts_mutation *mutation;
    unsigned at, every; /* mutants so far; one in `every` is tried */
};

static void refuse_supported(const struct walk *w, const struct vts_mutant *m)
{
    struct hal_driver *d = w->cell->driver;
    bool supported[MAX_OPERATIONS];
    uint32_t n = 99;

    enum hal_status s = d->get_supported_operations(d, w->entry, &m->model, supported, &n);
    EXPECT(w->cell, s == HAL_INVALID_ARGUMENT && n == 99, "%s, %s: get_supported_operations: %s",
           w->model->name, m->what, hal_status_name(s));
}

static void refuse_mutant(const struct vts_mutant *m, void *user)
{
    struct walk *w = user;

    if (w->at++ % w->every)
        return;
    if (!w->mutation->is_config)
        refuse_supported(w, m);
    struct vts_prepared p = vts_prepare(w->cell, w->entry, &m->model, &m->config);
    EXPECT(w->cell,
           p.launched == HAL_INVALID_ARGUMENT && p.status == HAL_INVALID_ARGUMENT && !p.model,
           "%s, %s: prepare_model: %s, callback: %s", w->model->name, m->what,
           hal_status_name(p.launched), hal_status_name(p.status));
    if (p.model)
        p.model->methods->release(p.model);
}

/* The count runs on from model to model, so that a sample contains mutants of all kinds. */
static void walk_models(struct walk *w)
{
    for (int i = 0; i < vts_n_models; i++) {
        w->model = &vts_models[i];
        if (w->model->level <= hal_level(w->entry))
            vts_walk(w->mutation, &w->model->hal, w->entry, refuse_mutant, w);
    }
}

static void refuse_mutants(struct vts_cell *c, const void *mutation)
{
    for (int v = 0; v < HAL_VERSIONS && hal_versions[v] <= c->version; v++) {
        unsigned every = c->is_remote ? REMOTE_EVERY : 1;
        struct walk w = { c, hal_versions[v], NULL, mutation, 0, every };
        if (w.entry < c->version)
            w.every *= OLDER_EVERY;
        walk_models(&w);
    }
}

int vts_models_main(int argc, char **argv)
{
    struct vts_check checks[32];
    struct vts_program p = { "models", checks, vts_n_mutations, vts_models_draw, vts_models_free };

    for (int k = 0; k < vts_n_mutations; k++)
        checks[k] = (struct vts_check){ vts_mutations[k].rule, refuse_mutants, &vts_mutations[k] };
    return vts_main(&p, argc, argv);
}
