#include "harness/check/variation.h"

#include <stdio.h>
#include <string.h>

#include "golden/math/farmhash.h"
#include "randgraph/randgraph.h"
#include "sim/client/driver_client.h"

/* ---- drawing */

/* A stream of its own: the graph stays what it is.  Returns whether the case is drawn. */
static bool begin_stream(const char *name, double share, struct rng *ret)
{
    const uint64_t salt = 0x76617269616e7473;
    struct randgraph_options options;
    uint64_t seed = farmhash64(name, strlen(name)), index = 0;
    struct why ignored;

    if (randgraph_parse_name(name, &options, &seed, &index, &ignored) == 0)
        share = options.ways;
    rng_seed(ret, seed ^ salt, index);
    return rng_unit(ret) < share;
}

bool variation_is_drawn(const char *name, double share)
{
    struct rng r;

    return begin_stream(name, share, &r);
}

/* What is drawn; every choice is made, so that none depends on the driver. */
struct variation {
    enum execution_way way;
    struct target_variation vary;
};

/* A way that reports no shapes takes only models that declare those of all outputs. */
static bool outputs_are_known(const struct graph *g)
{
    for (uint32_t i = 0; i < g->n_outputs; i++) {
        const struct tensor *t = &g->operand[g->output[i]].tensor;
        if (dtype_info[t->dtype].tensor && !shape_known(&t->shape))
            return false;
    }
    return true;
}

static struct variation draw(const char *name, double share, enum hal_version version,
                             const struct graph *g)
{
    enum { MOST_SHIFT = 31, SHIFT_UNIT = 4 };
    struct rng r;
    struct variation v;

    begin_stream(name, share, &r);
    v.way = (enum execution_way) rng_below(&r, EXECUTION_WAYS);
    v.vary.preference = (enum hal_preference) rng_below(&r, HAL_SUSTAINED_SPEED + 1);
    v.vary.priority = (enum hal_priority) rng_below(&r, HAL_PRIORITY_HIGH + 1);
    v.vary.after_other = rng_below(&r, 2);
    v.vary.from_cache = rng_below(&r, 4) == 0;
    v.vary.shift = rng_below(&r, 2) ? SHIFT_UNIT * (1 + rng_below(&r, MOST_SHIFT)) : 0;
    if (!execution_way_is_of(v.way, version) ||
        (!execution_ways[v.way].reports && !outputs_are_known(g)))
        v.way = EXECUTION_SYNCHRONOUS; /* asynchronous before 1.2 */
    return v;
}

static char *variation_text(const struct variation *v, enum hal_version version, char *text,
                            size_t size)
{
    static const char *const preference[] = { "low power", "fast single answer",
                                              "sustained speed" };
    static const char *const priority[] = { "low", "medium", "high" };

    snprintf(text, size, "%s", execution_ways[v->way].name);
    if (version >= HAL_1_1)
        text_append(text, size, ", %s", preference[v->vary.preference]);
    if (version >= HAL_1_3)
        text_append(text, size, ", %s priority", priority[v->vary.priority]);
    if (v->vary.from_cache && version >= HAL_1_2)
        text_append(text, size, ", from the cache");
    if (v->vary.after_other)
        text_append(text, size, ", after other inputs");
    if (v->vary.shift)
        text_append(text, size, ", arguments %u bytes farther behind", v->vary.shift);
    return text;
}

/* ---- comparing */

bool run_outputs_take(const struct outcome *o, struct arena *a, struct run_outputs *ret)
{
    struct run_outputs r = { .n = o->n_out };

    if (o->stage != STAGE_DONE || o->violation[0])
        return false;
    r.shape = arena_alloc(a, r.n + (size_t) 1, sizeof *r.shape);
    r.digest = arena_alloc(a, r.n + (size_t) 1, sizeof *r.digest);
    if (!r.shape || !r.digest)
        return false;
    for (uint32_t i = 0; i < r.n; i++) {
        r.shape[i] = o->out[i].shape;
        r.digest[i] = farmhash64(o->out[i].data, tensor_bytes(&o->out[i]));
    }
    *ret = r;
    return true;
}

static void violate(struct check_result *r, const char *what)
{
    r->verdict = VERDICT_VIOLATION;
    snprintf(r->why, sizeof r->why, "%s", what);
}

static bool is_shipped(const char *uri)
{
    return strncmp(uri, "sim:", 4) == 0;
}

/* Against the plain run, which succeeded; r: the judged result of the other one. */
static void compare(const struct run_outputs *plain, const struct run_outputs *other, bool done,
                    const char *uri, struct check_result *r, char *note, size_t size)
{
    char a[SHAPE_TEXT], b[SHAPE_TEXT], what[320];

    if (!done) {
        if (r->verdict == VERDICT_REFUSED || verdict_conforming(r->verdict)) {
            snprintf(what, sizeof what, "ends with %s, the plain execution with NONE", r->status);
            violate(r, what);
        }
        return;
    }
    for (uint32_t i = 0; i < plain->n && i < other->n; i++) {
        if (!shape_equal(&plain->shape[i], &other->shape[i])) {
            snprintf(what, sizeof what, "output %u has shape %s, and %s in the plain execution", i,
                     shape_text(&other->shape[i], a), shape_text(&plain->shape[i], b));
            violate(r, what);
            return;
        }
        if (plain->digest[i] == other->digest[i] || note[0])
            continue;
        snprintf(note, size, "output %u has other bits than in the plain execution", i);
        if (is_shipped(uri) && verdict_conforming(r->verdict))
            violate(r, note);
    }
}

/* ---- the run */

/* The failure of the other run becomes the result, which keeps what was measured plainly. */
static void take_failure(const struct check_result *other, const char *text, struct check_result *r)
{
    const double ms = r->ms;
    const uint64_t device_ns = r->device_ns, checked = r->checked;

    *r = *other;
    r->ms = ms;
    r->device_ns = device_ns;
    r->checked = checked > other->checked ? checked : other->checked;
    snprintf(r->why, sizeof r->why, "executed in another way (%s): %.2000s", text, other->why);
    r->varied = true;
    r->blamed = (struct blamed){ .output = -1 };
    snprintf(r->blamed.why, sizeof r->blamed.why,
             "the plain execution conforms, the one in another way does not");
}

void variation_run(struct check *c, struct target *t, const struct run_outputs *plain,
                   struct check_result *r, struct buffer *detail)
{
    const enum hal_version version = target_version(t);
    const struct variation v =
        draw(c->example->name, c->ways, version, &c->example->model.graph[0]);
    struct target_run_options options = {
        .measure = true, .vary = &v.vary, .way = v.way, .allowance_ns = 4 * check_extra_ns(c)
    };
    struct run_outputs other = { 0 };
    struct check_result judged;
    struct outcome o;
    char text[160], note[96] = "";

    variation_text(&v, version, text, sizeof text);
    if (check_run_as(c, t, &options, &o, &judged) < 0) {
        *r = judged;
        return;
    }
    if (o.stage == STAGE_SUPPORTED && o.status == HAL_NONE && !o.violation[0]) {
        if (detail) /* the driver lacks the way */
            buffer_printf(detail, "another way (%s): %s\n", text, o.not_passed);
        outcome_done(&o);
        return;
    }
    const bool done = run_outputs_take(&o, c->arena, &other);
    check_judge(c, &o, &judged, NULL);
    compare(plain, &other, done, target_uri(t), &judged, note, sizeof note);
    if (detail)
        buffer_printf(detail, "another way (%s): %s%s%s\n", text, verdict_name[judged.verdict],
                      note[0] ? "; " : "", note);
    if (!verdict_conforming(judged.verdict))
        take_failure(&judged, text, r);
    else if (note[0])
        text_append(r->why, sizeof r->why, "%s%s (%s)", r->why[0] ? "; " : "", note, text);
}
