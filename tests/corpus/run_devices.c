/* Runs the examples of files on devices, in this process.
 *
 *     run_devices cts|bound TARGET[,TARGET...] FILE...
 *
 * cts: compares with the expected values of the example, with the tolerances of the NNAPI suites.
 * bound: compares with the reference on generated inputs, by its bounds; every model must pass on
 * at least one target.  Exit status: 0, 1 if a result is wrong, 77 (skipped) if a file does not
 * exist. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/sim.h"
#include "specs/specs.h"

enum { MAX_TARGETS = 8, SHOWN = 20 };

struct job {
    bool cts;
    struct target *target[MAX_TARGETS];
    int n_targets;
    unsigned pass, unsupported, wrong, unplaced; /* unplaced: models that pass on no target */
};

/* Fills t with random values: floats in [-1, 1), integers over their range. */
static void fill(struct tensor *t, uint64_t *state)
{
    size_t n = tensor_bytes(t);
    uint8_t *bytes = t->data;

    for (size_t i = 0; i < n; i++) {
        *state = *state * 6364136223846793005u + 1442695040888963407u;
        bytes[i] = (uint8_t) (*state >> 56);
    }
    if (t->dtype != DT_F32)
        return;
    for (size_t i = 0; i < tensor_count(t); i++)
        ((float *) t->data)[i] = (float) bytes[4 * i] / 128 - 1;
}

static struct tensor *inputs_of(const struct job *job, const struct example *e, struct arena *a)
{
    uint32_t n = e->model.graph[0].n_inputs;
    struct tensor *in = arena_copy(a, e->in, n * sizeof *in);
    uint64_t state = 1;

    for (uint32_t i = 0; in && !job->cts && i < n; i++) {
        in[i].data = arena_alloc(a, tensor_bytes(&in[i]) + 1, 1);
        if (in[i].data)
            fill(&in[i], &state);
    }
    return in;
}

/* The judgement of output i. */
static struct judgement judge(const struct job *job, const struct example *e,
                              const struct result *r, uint32_t i, const struct tensor *actual)
{
    int steps = strstr(e->name, "mobilenet_quantized") ? 3 : 1;

    if (!job->cts)
        return judge_result(r, i, actual);
    if (e->ignored && e->ignored[i])
        return (struct judgement){ .ok = true };
    return judge_cts(e->expected[i].data ? &e->expected[i] : &r->out[i], actual,
                     model_is_half(&e->model), steps);
}

/* Returns 1 for pass, 0 for unsupported, -1 for wrong with the reason in text. */
static int verdict(const struct job *job, const struct example *e, const struct result *r,
                   const struct outcome *o, char *text, size_t size)
{
    text[0] = 0;
    if (o->violation[0])
        snprintf(text, size, "%s", o->violation);
    else if (o->stage == STAGE_SUPPORTED && o->status == HAL_NONE)
        return 0;
    else if (o->stage != STAGE_DONE)
        snprintf(text, size, "stage %d ended with status %d", (int) o->stage, (int) o->status);
    for (uint32_t i = 0; !text[0] && i < o->n_out; i++) {
        struct judgement j = judge(job, e, r, i, &o->out[i]);
        if (!j.ok)
            snprintf(text, size, "output %u: %s", i, j.why);
    }
    return text[0] ? -1 : 1;
}

static int run_targets(struct job *job, const struct example *e, const struct tensor *in,
                       const struct result *r, struct arena *a, struct why *w)
{
    struct shape *shapes = arena_alloc(a, r->n, sizeof *shapes);
    bool passed = false;
    char text[400];

    for (uint32_t i = 0; i < r->n; i++)
        shapes[i] = r->out[i].shape;
    for (int t = 0; t < job->n_targets; t++) {
        struct outcome o;
        TRY(target_run(job->target[t], &e->model, in, shapes, NULL, &o, w));
        int v = verdict(job, e, r, &o, text, sizeof text);
        if (v < 0 && job->wrong < SHOWN)
            printf("%s on %s: %s\n", e->name, target_uri(job->target[t]), text);
        passed |= v > 0;
        job->pass += v > 0;
        job->unsupported += v == 0;
        job->wrong += v < 0;
        outcome_done(&o);
    }
    if (!passed && !job->cts) {
        printf("%s passes on no target\n", e->name);
        job->unplaced++;
    }
    return 0;
}

/* Runs an example on the targets; skips those that the reference cannot run. */
static int run_example(const struct example *e, void *user, struct why *w)
{
    struct exec_options options = { .bounds = true };
    struct arena *a = arena_new(0);
    struct job *job = user;
    struct plan *plan = NULL;
    struct result r = { 0 };
    struct tensor *in = inputs_of(job, e, a);
    int rc = 0;

    if (in && plan_new(&e->model, &plan, w) == 0 && plan_run(plan, in, &options, &r, w) == 0)
        rc = run_targets(job, e, in, &r, a, w);
    result_done(&r);
    plan_free(plan);
    arena_free(a);
    return rc;
}

static int open_targets(struct job *job, char *list, struct why *w)
{
    char *rest = NULL;

    for (char *uri = strtok_r(list, ",", &rest); uri; uri = strtok_r(NULL, ",", &rest)) {
        REQUIRE(w, job->n_targets < MAX_TARGETS, "too many targets");
        TRY(target_open(uri, NULL, &job->target[job->n_targets], w));
        job->n_targets++;
    }
    return 0;
}

static int run(struct job *job, int n, char **files, struct why *w)
{
    for (int i = 0; i < n; i++)
        TRY(specs_load(files[i], NULL, run_example, job, w));
    return 0;
}

int main(int argc, char **argv)
{
    struct job job = { 0 };
    struct why w = { 0 };

    if (argc < 4)
        return 2;
    for (int i = 3; i < argc; i++)
        if (access(argv[i], R_OK) < 0)
            return 77;
    job.cts = strcmp(argv[1], "cts") == 0;
    int rc = open_targets(&job, argv[2], &w);
    if (rc == 0)
        rc = run(&job, argc - 3, argv + 3, &w);
    for (int t = 0; t < job.n_targets; t++)
        target_free(job.target[t]);
    if (rc < 0)
        printf("%s\n", w.text);
    printf("pass %u, unsupported %u, wrong %u\n", job.pass, job.unsupported, job.wrong);
    return rc < 0 || job.wrong || job.unplaced;
}
