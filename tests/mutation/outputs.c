/* Digests of a device's results on models of some operations, to find out whether a changed kernel
 * computes other bits (tests/mutation/mutate.py).
 *
 *     outputs TARGET OP[,OP...] COUNT DIGESTS [FILE...]
 *
 * Runs COUNT random models of one operation each, the named ones in turn, then the examples of the
 * corpus files that contain one of them.  The first run writes the digests to the file DIGESTS;
 * if it exists, they are compared with it.  Exit status: 0, 1 at the first difference with the
 * model's name on stdout, 2 for an error. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "randgraph/randgraph.h"
#include "sim/sim.h"
#include "specs/specs.h"
#include "tests/support/digest.h"

enum { SEED = 20260, MAX_OPS = 128, DIFFERS = 1, BROKEN = 2 };

struct job {
    struct target *target;
    const char *op[MAX_OPS];
    size_t n_ops;
    FILE *digests;
    bool writes, differs;
};

static uint64_t digest_outcome(const struct outcome *o)
{
    uint64_t d = digest_bytes(DIGEST_NONE, &o->stage, sizeof o->stage);

    d = digest_bytes(d, &o->status, sizeof o->status);
    for (uint32_t i = 0; o->stage == STAGE_DONE && i < o->n_out; i++) {
        d = digest_bytes(d, o->out[i].shape.dim, o->out[i].shape.rank * sizeof(uint32_t));
        d = digest_bytes(d, o->out[i].data, tensor_bytes(&o->out[i]));
    }
    return d;
}

static struct shape *result_shapes(const struct example *e, struct arena *a)
{
    uint32_t n = e->model.graph[0].n_outputs;
    struct shape *s = arena_alloc(a, n + 1, sizeof *s);

    for (uint32_t i = 0; s && i < n; i++)
        s[i] = e->expected[i].shape;
    return s;
}

static int run(struct job *job, const struct example *e, struct why *w)
{
    struct arena *a = arena_new(0);
    struct shape *shapes = a ? result_shapes(e, a) : NULL;
    struct outcome o;
    uint64_t digest, before;

    if (!shapes || target_run(job->target, &e->model, e->in, shapes, NULL, &o, w) < 0) {
        arena_free(a);
        return shapes ? -1 : why_no_memory(w);
    }
    digest = digest_outcome(&o);
    outcome_done(&o);
    arena_free(a);
    if (job->writes)
        return fwrite(&digest, sizeof digest, 1, job->digests) == 1
                   ? 0
                   : why_fail(w, WHY_SYSTEM, "cannot write the digests");
    if (fread(&before, sizeof before, 1, job->digests) != 1)
        return why_fail(w, WHY_SYSTEM, "the digests are of fewer models");
    if (digest == before)
        return 0;
    job->differs = true;
    printf("%s\n", e->name);
    return why_fail(w, WHY_EXECUTION, "differs");
}

static int run_random(struct job *job, unsigned long count, struct why *w)
{
    struct arena *a = arena_new(0);
    struct arena_mark empty = arena_mark(a);
    struct randgraph_options options = randgraph_default;
    int rc = 0;

    options.min_ops = options.max_ops = 1;
    for (unsigned long i = 0; i < count && rc >= 0; i++) {
        struct example e;
        options.only = randgraph_only(job->op[i % job->n_ops]);
        rc = randgraph_make(&options, SEED, i / job->n_ops, a, &e, w);
        if (rc >= 0)
            rc = run(job, &e, w);
        arena_rewind(a, empty);
    }
    arena_free(a);
    return rc;
}

static int run_example(const struct example *e, void *user, struct why *w)
{
    struct job *job = user;
    const struct graph *g = &e->model.graph[0];

    for (uint32_t i = 0; i < g->n_operations; i++) {
        const struct op *op = op_find(g->operation[i].code);
        for (size_t k = 0; op && k < job->n_ops; k++)
            if (!strcmp(op->name, job->op[k]))
                return run(job, e, w);
    }
    return 0;
}

static int open_job(struct job *job, char **argv, struct why *w)
{
    static const struct target_host host = { .reply_timeout = 60, .isolation = ISOLATE_NONE };

    for (char *name = strtok(argv[2], ","); name && job->n_ops < MAX_OPS; name = strtok(NULL, ","))
        job->op[job->n_ops++] = name;
    if (!job->n_ops)
        return why_fail(w, WHY_INVALID, "no operations");
    for (size_t i = 0; i < job->n_ops; i++)
        if (!op_by_name(job->op[i]))
            return why_fail(w, WHY_INVALID, "unknown operation %s", job->op[i]);
    job->digests = fopen(argv[4], "rb");
    job->writes = !job->digests;
    if (job->writes)
        job->digests = fopen(argv[4], "wb");
    if (!job->digests)
        return why_fail(w, WHY_SYSTEM, "cannot open %s", argv[4]);
    return target_open(argv[1], &host, &job->target, w);
}

int main(int argc, char **argv)
{
    struct job job = { 0 };
    struct why w = { 0 };
    int rc;

    if (argc < 5) {
        fprintf(stderr, "usage: outputs TARGET OP[,OP...] COUNT DIGESTS [FILE...]\n");
        return BROKEN;
    }
    rc = open_job(&job, argv, &w);
    if (rc >= 0)
        rc = run_random(&job, strtoul(argv[3], NULL, 10), &w);
    for (int i = 5; i < argc && rc >= 0; i++)
        rc = specs_load(argv[i], NULL, run_example, &job, &w);
    target_free(job.target);
    if (job.digests && fclose(job.digests) != 0 && rc >= 0)
        rc = why_fail(&w, WHY_SYSTEM, "cannot write %s", argv[4]);
    if (rc < 0 && job.writes)
        remove(argv[4]);
    if (rc < 0 && !job.differs)
        fprintf(stderr, "outputs: %s\n", w.text);
    return rc >= 0 ? 0 : job.differs ? DIFFERS : BROKEN;
}
