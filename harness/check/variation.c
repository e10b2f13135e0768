#include "harness/check/variation.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/base/suggest.h"
#include "golden/math/farmhash.h"
#include "harness/check/check.h"
#include "randgraph/randgraph.h"
#include "sim/client/driver_client.h"
#include "sim/hal/hal_convert.h"

enum { MOST_AT_ONCE = 1 + TARGET_MOST_BESIDE, SHIFT_UNIT = 4, MOST_SHIFT = 31 };

static const struct variation plain_way = {
    .vary = { .preference = HAL_FAST_SINGLE_ANSWER, .priority = HAL_PRIORITY_MEDIUM }, .at_once = 1
};

/* ---- as text */

static const char *const preference_word[] = { "low-power", "fast-single-answer",
                                               "sustained-speed" };
static const char *const priority_word[] = { "low-priority", "medium-priority", "high-priority" };
static const struct {
    const char *word;
    size_t member; /* bool, in struct target_variation */
} flags[] = { { "from-cache", offsetof(struct target_variation, from_cache) },
              { "after-other", offsetof(struct target_variation, after_other) },
              { "other-pools", offsetof(struct target_variation, other_pools) },
              { "input-buffers", offsetof(struct target_variation, input_buffers) },
              { "output-buffers", offsetof(struct target_variation, output_buffers) } };

static bool *flag_of(struct variation *v, int i)
{
    return (bool *) (void *) ((char *) &v->vary + flags[i].member);
}

/* "reusable-fenced": without the comma of the name. */
static void way_word(enum execution_way way, char ret[32])
{
    const char *from = execution_ways[way].name;
    size_t n = 0;

    for (; *from && n + 1 < 32; from++)
        if (*from != ',')
            ret[n++] = *from == ' ' ? '-' : *from;
    ret[n] = 0;
}

char *variation_text(const struct variation *v, char ret[VARIATION_TEXT])
{
    struct variation copy = *v;
    char way[32];

    way_word(v->way, way);
    snprintf(ret, VARIATION_TEXT, "%s", way);
    if (v->vary.preference != plain_way.vary.preference)
        text_append(ret, VARIATION_TEXT, ",%s", preference_word[v->vary.preference]);
    if (v->vary.priority != plain_way.vary.priority)
        text_append(ret, VARIATION_TEXT, ",%s", priority_word[v->vary.priority]);
    for (int i = 0; i < COUNT(flags); i++)
        if (*flag_of(&copy, i))
            text_append(ret, VARIATION_TEXT, ",%s", flags[i].word);
    if (v->vary.shift)
        text_append(ret, VARIATION_TEXT, ",shift=%u", v->vary.shift);
    if (v->at_once > 1)
        text_append(ret, VARIATION_TEXT, ",at-once=%u", v->at_once);
    return ret;
}

/* "shift=36".  1: the word is not of this kind. */
static int read_number(const char *word, const char *key, unsigned unit, unsigned low,
                       unsigned high, uint32_t *ret, struct why *w)
{
    const size_t n = strlen(key);
    char *end;

    if (strncmp(word, key, n) != 0 || word[n] != '=')
        return 1;
    unsigned long x = strtoul(word + n + 1, &end, 10);
    REQUIRE(w, end != word + n + 1 && !*end && x >= low && x <= high && x % unit == 0,
            "'%.60s': expected %s=N, %u to %u%s", word, key, low, high,
            unit > 1 ? ", a multiple of 4" : "");
    *ret = (uint32_t) x;
    return 0;
}

static int unknown_word(const char *word, struct why *w)
{
    static char ways[EXECUTION_WAYS][32];
    char text[SUGGEST_TEXT], key[64];
    snprintf(key, sizeof key, "%.*s", (int) strcspn(word, "="), word);
    struct suggestion s = suggest_for(key);

    for (int i = 0; i < EXECUTION_WAYS; i++) {
        way_word((enum execution_way) i, ways[i]);
        suggest_candidate(&s, ways[i]);
    }
    for (int i = 0; i < 3; i++) {
        suggest_candidate(&s, preference_word[i]);
        suggest_candidate(&s, priority_word[i]);
    }
    for (int i = 0; i < COUNT(flags); i++)
        suggest_candidate(&s, flags[i].word);
    suggest_candidate(&s, "shift=");
    suggest_candidate(&s, "at-once=");
    return why_fail(w, WHY_INVALID,
                    "'%.60s': expected a share from 0 to 1, or a way of execution such as "
                    "burst,low-power,at-once=2%s",
                    word, suggest_text(&s, "", text));
}

static int read_word(const char *word, struct variation *v, struct why *w)
{
    char way[32];

    for (int i = 0; i < EXECUTION_WAYS; i++) {
        way_word((enum execution_way) i, way);
        if (!strcmp(word, way)) {
            v->way = (enum execution_way) i;
            return 0;
        }
    }
    for (int i = 0; i < 3; i++) {
        if (!strcmp(word, preference_word[i]))
            v->vary.preference = (enum hal_preference) i;
        else if (!strcmp(word, priority_word[i]))
            v->vary.priority = (enum hal_priority) i;
        else
            continue;
        return 0;
    }
    for (int i = 0; i < COUNT(flags); i++)
        if (!strcmp(word, flags[i].word)) {
            *flag_of(v, i) = true;
            return 0;
        }
    int r = read_number(word, "shift", SHIFT_UNIT, 0, SHIFT_UNIT * MOST_SHIFT, &v->vary.shift, w);
    if (r > 0)
        r = read_number(word, "at-once", 1, 1, MOST_AT_ONCE, &v->at_once, w);
    return r > 0 ? unknown_word(word, w) : r;
}

int variation_parse(const char *text, struct variation *ret, struct why *w)
{
    struct variation v = plain_way;
    char copy[VARIATION_TEXT], *next = copy;

    REQUIRE(w, snprintf(copy, sizeof copy, "%s", text) < (int) sizeof copy,
            "a way of execution has at most %d characters", VARIATION_TEXT - 1);
    do {
        char *word = next;
        next = strchr(word, ',');
        if (next)
            *next++ = 0;
        TRY(read_word(word, &v, w));
    } while (next);
    *ret = v;
    return 0;
}

bool variation_simplify(struct variation *v, uint32_t i)
{
    struct variation was = *v;

    switch (i) {
    case 0: /* all but the first word at once: where a driver hangs, each attempt takes long */
        *v = plain_way;
        v->way = was.way;
        break;
    case 1: v->at_once = plain_way.at_once; break;
    case 2: v->vary.shift = 0; break;
    case 3: v->vary.preference = plain_way.vary.preference; break;
    case 4: v->vary.priority = plain_way.vary.priority; break;
    case 5: v->way = plain_way.way; break;
    case 6: v->at_once = v->at_once > 2 ? 2 : v->at_once; break;
    default:
        if (i - 7 < (uint32_t) COUNT(flags))
            *flag_of(v, (int) i - 7) = false;
    }
    return memcmp(&was, v, sizeof was) != 0;
}

/* ---- which cases, and how */

int ways_parse(const char *text, struct ways *ret, struct why *w)
{
    struct randgraph_options share = randgraph_default;
    struct ways ways = { 0 };

    if (*text >= 'a' && *text <= 'z') {
        TRY(variation_parse(text, &ways.given, w));
        ways.is_given = true;
    } else {
        TRY(randgraph_set(&share, "ways", text, w));
        ways.share = share.ways;
    }
    *ret = ways;
    return 0;
}

char *ways_text(const struct ways *ways, char ret[VARIATION_TEXT])
{
    if (ways->is_given)
        return variation_text(&ways->given, ret);
    snprintf(ret, VARIATION_TEXT, "%.17g", ways->share);
    return ret;
}

bool ways_any(const struct ways *ways)
{
    return ways->is_given || ways->share > 0;
}

/* Every choice is made, so that none depends on the driver. */
static struct variation draw(struct rng *r)
{
    struct variation v = plain_way;

    v.way = (enum execution_way) rng_below(r, EXECUTION_WAYS);
    const enum hal_preference preference =
        (enum hal_preference) rng_below(r, HAL_SUSTAINED_SPEED + 1);
    const enum hal_priority priority = (enum hal_priority) rng_below(r, HAL_PRIORITY_HIGH + 1);
    v.vary.after_other = rng_below(r, 2);
    const bool from_cache = rng_below(r, 2);
    v.vary.shift = rng_below(r, 2) ? SHIFT_UNIT * (1 + rng_below(r, MOST_SHIFT)) : 0;
    if (rng_below(r, 2)) { /* prepared again */
        v.vary.preference = preference;
        v.vary.priority = priority;
        v.vary.from_cache = from_cache;
    }
    v.at_once = rng_below(r, 4) ? 1 : 2 + rng_below(r, TARGET_MOST_BESIDE);
    v.vary.other_pools = rng_below(r, 3) == 0;
    v.vary.input_buffers = rng_below(r, 4) == 0;
    v.vary.output_buffers = rng_below(r, 4) == 0;
    return v;
}

void variation_choose(struct check *c, const struct ways *ways)
{
    const uint64_t salt = 0x76617269616e7473; /* a stream of its own: the graph stays what it is */
    const char *name = c->example->name;
    struct randgraph_options options;
    uint64_t seed = farmhash64(name, strlen(name)), index = 0;
    double share = ways->share;
    struct why ignored;
    struct rng r;

    if (randgraph_parse_name(name, &options, &seed, &index, &ignored) == 0)
        share = options.ways;
    rng_seed(&r, seed ^ salt, index);
    c->is_varied = rng_unit(&r) < share || ways->is_given;
    c->variation = ways->is_given ? ways->given : draw(&r);
}

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

/* The way without what the version lacks. */
static struct variation fit(const struct variation *drawn, enum hal_version version,
                            const struct graph *g)
{
    struct variation v = *drawn;

    if (!execution_way_is_of(v.way, version) ||
        (!execution_ways[v.way].reports && !outputs_are_known(g)))
        v.way = EXECUTION_SYNCHRONOUS; /* asynchronous before 1.2 */
    if (version < HAL_1_1)
        v.vary.preference = plain_way.vary.preference;
    if (version < HAL_1_2)
        v.vary.from_cache = false;
    if (version < HAL_1_3) {
        v.vary.priority = plain_way.vary.priority;
        v.vary.input_buffers = v.vary.output_buffers = false;
    }
    return v;
}

bool variation_uses_prepared(const struct variation *v)
{
    return v->vary.preference == plain_way.vary.preference &&
           v->vary.priority == plain_way.vary.priority && !v->vary.from_cache;
}

/* ---- executions at once */

/* An execution beside the first one.  has_inputs: it has other inputs, which the reference takes;
 * else those of the case. */
struct beside {
    bool has_inputs;
    struct example example;
    struct check check;
};

int variation_other_inputs(const struct example *of, uint32_t k, struct arena *a,
                           struct example *ret, struct why *w)
{
    const struct graph *g = &of->model.graph[0];
    struct example e = *of;

    e.in = arena_copy(a, e.in, g->n_inputs * sizeof *e.in);
    e.expected = arena_alloc(a, g->n_outputs, sizeof *e.expected);
    if (!e.in || !e.expected)
        return why_no_memory(w);
    for (uint32_t i = 0; i < g->n_inputs; i++) {
        uint8_t *at = arena_alloc(a, tensor_bytes(&e.in[i]), 1);
        if (!at)
            return why_no_memory(w);
        if (e.in[i].data) {
            target_put_other(&e.in[i], k, at);
            e.in[i].data = at;
        }
    }
    e.ignored = NULL;
    *ret = e;
    return 0;
}

static void begin_beside(const struct check *c, uint32_t k, struct beside *b)
{
    struct why ignored;

    b->has_inputs = false;
    if (variation_other_inputs(c->example, k, c->arena, &b->example, &ignored) < 0 ||
        check_begin(&b->check, &b->example, JUDGE_BOUND, &ignored) < 0)
        return;
    check_reference(&b->check);
    b->has_inputs = b->check.have_result;
    if (!b->has_inputs)
        check_done(&b->check);
}

/* ---- comparing */

bool run_outputs_take(const struct outcome *o, struct arena *a, struct run_outputs *ret)
{
    struct run_outputs r = { .is_done = o->stage == STAGE_DONE,
                             .status = o->status,
                             .n = o->stage == STAGE_DONE ? o->n_out : 0 };

    if ((o->stage != STAGE_DONE && o->stage != STAGE_EXECUTE) || o->violation[0])
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

/* The status of an execution against that of the plain one. */
static bool compare_status(bool plain_is_done, bool done, struct check_result *r,
                           enum hal_status plain)
{
    char what[160];

    if (done == plain_is_done || (!verdict_conforming(r->verdict) && r->verdict != VERDICT_REFUSED))
        return done == plain_is_done;
    snprintf(what, sizeof what, "ends with %s, the plain execution with %s",
             done ? "NONE" : r->status, plain_is_done ? "NONE" : hal_status_name(plain));
    violate(r, what);
    return false;
}

/* Against the plain run; r: the judged result of the other one. */
static void compare(const struct check *c, const struct run_outputs *plain,
                    const struct run_outputs *other, const char *uri, struct check_result *r,
                    char *note, size_t size)
{
    char a[SHAPE_TEXT], b[SHAPE_TEXT], what[320];

    for (uint32_t i = 0; c->have_result && i < c->result.n; i++)
        if (c->result.open[i])
            return; /* a tie decides shape and status, and either side is right */
    if (!compare_status(plain->is_done, other->is_done, r, plain->status))
        return;
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

/* A run in another way. */
struct other_run {
    struct check *c;
    struct target *t;
    const struct run_outputs *plain;
    struct variation v;
    struct beside *beside;
    struct outcome o;
    struct check_result judged;
    struct tensor *out; /* of the case's own inputs */
    char note[96];
    struct variation_texts *texts; /* or NULL */
};

static const char prefix[] = "executed in another way (";

const char *variation_reason(const struct check_result *r)
{
    const char *at =
        r->varied && !strncmp(r->why, prefix, strlen(prefix)) ? strstr(r->why, "): ") : NULL;

    return at ? at + 3 : r->why;
}

/* The failure of the other run becomes the result, which keeps what was measured plainly. */
static void take_failure(const struct check_result *other, const char *text, struct check_result *r)
{
    const double ms = r->ms;
    const uint64_t device_ns = r->device_ns, checked = r->checked;

    *r = *other;
    r->ms = ms;
    r->device_ns = device_ns;
    r->checked = checked > other->checked ? checked : other->checked;
    snprintf(r->why, sizeof r->why, "%s%s): %.2000s", prefix, text, other->why);
    r->varied = true;
    r->blamed = (struct blamed){ .output = -1 };
}

/* Copies the outputs of an outcome, which check_judge() frees.  NULL: none, or out of memory. */
static struct tensor *keep_outputs(const struct outcome *o, struct arena *a)
{
    struct tensor *out =
        o->stage == STAGE_DONE ? arena_alloc(a, o->n_out + (size_t) 1, sizeof *out) : NULL;

    for (uint32_t i = 0; out && i < o->n_out; i++) {
        out[i] = o->out[i];
        out[i].data = arena_copy(a, o->out[i].data, tensor_bytes(&o->out[i]));
        if (!out[i].data)
            return NULL;
    }
    return out;
}

/* Judges execution k + 2 of those at once; a failure becomes the verdict. */
static void judge_beside(struct other_run *x, uint32_t k)
{
    struct beside *b = &x->beside[k];
    struct check *c = b->has_inputs ? &b->check : x->c;
    struct check_result r = check_without_outcome(VERDICT_ERROR, c->judge);
    struct run_outputs other = { 0 };
    bool taken = run_outputs_take(&x->o.beside[k], x->c->arena, &other);
    char why[sizeof r.why];

    check_judge(c, &x->o.beside[k], &r, NULL);
    if (taken && !b->has_inputs)
        compare(c, x->plain, &other, target_uri(x->t), &r, x->note, sizeof x->note);
    else if (taken)
        compare_status(true, other.is_done, &r, HAL_NONE);
    if (verdict_conforming(r.verdict))
        return;
    snprintf(why, sizeof why, "execution %u of %u at once%s: %.2000s", k + 2, x->v.at_once,
             b->has_inputs ? ", with other inputs" : "", r.why);
    x->judged = r;
    memcpy(x->judged.why, why, sizeof why);
    x->out = b->has_inputs ? NULL : x->out;
}

/* Keeps the texts of an outcome, which check_judge() frees. */
static void keep_texts(struct variation_texts *texts, const struct outcome *o)
{
    if (!texts)
        return;
    texts->printed = o->prints ? strdup(o->prints) : NULL;
    texts->backtrace = o->backtrace ? strdup(o->backtrace) : NULL;
}

static void drop_texts(struct variation_texts *texts)
{
    if (!texts)
        return;
    free(texts->printed);
    free(texts->backtrace);
    *texts = (struct variation_texts){ NULL, NULL };
}

/* 1: the driver lacks the way. */
static int judge_all(struct other_run *x, struct buffer *detail, const char *text)
{
    struct check *c = x->c;
    struct run_outputs other = { 0 };

    if (x->o.stage == STAGE_SUPPORTED && x->o.status == HAL_NONE && !x->o.violation[0]) {
        if (detail)
            buffer_printf(detail, "another way (%s): %s\n", text, x->o.not_passed);
        outcome_done(&x->o);
        return 1;
    }
    const bool taken = run_outputs_take(&x->o, c->arena, &other);
    const uint32_t n_beside = x->o.n_beside, n_buffers = x->o.n_buffers;
    struct arena *arena = x->o.arena; /* of the others, too */
    x->out = keep_outputs(&x->o, c->arena);
    keep_texts(x->texts, &x->o);
    x->o.arena = NULL;
    struct outcome first = x->o;
    check_judge(c, &first, &x->judged, NULL);
    if (taken)
        compare(c, x->plain, &other, target_uri(x->t), &x->judged, x->note, sizeof x->note);
    for (uint32_t k = 0; k < n_beside && verdict_conforming(x->judged.verdict); k++)
        judge_beside(x, k);
    arena_free(arena);
    if (detail)
        buffer_printf(detail, "another way (%s): %s%s%s", text, verdict_name[x->judged.verdict],
                      x->note[0] ? "; " : "", x->note);
    if (detail && n_buffers)
        buffer_printf(detail, "; arguments in buffers of the driver: %u", n_buffers);
    if (detail)
        buffer_puts(detail, "\n");
    return 0;
}

static int run_other(struct other_run *x)
{
    struct check *c = x->c;
    struct target_inputs *inputs = arena_alloc(c->arena, TARGET_MOST_BESIDE, sizeof *inputs);
    struct target_run_options options = { .measure = true,
                                          .vary = &x->v.vary,
                                          .way = x->v.way,
                                          .use_prepared = variation_uses_prepared(&c->variation),
                                          .allowance_ns = (3 + x->v.at_once) * check_extra_ns(c) };

    if (!inputs) {
        x->judged = check_without_outcome(VERDICT_ERROR, c->judge);
        snprintf(x->judged.why, sizeof x->judged.why, "out of memory");
        return -1;
    }
    for (uint32_t k = 0; k + 1 < x->v.at_once; k++) {
        struct beside *b = &x->beside[k];
        begin_beside(c, k, b);
        inputs[k] = b->has_inputs ? (struct target_inputs){ b->example.in, b->check.out_shape }
                                  : (struct target_inputs){ c->example->in, c->out_shape };
    }
    x->v.vary.n_beside = x->v.at_once - 1;
    x->v.vary.beside = inputs;
    return check_run_as(c, x->t, &options, &x->o, &x->judged);
}

static void run_and_judge(struct other_run *x, struct check_result *r, struct buffer *detail,
                          struct tensor **ret_out)
{
    struct beside beside[TARGET_MOST_BESIDE] = { { .has_inputs = false } };
    char text[VARIATION_TEXT];

    x->v = fit(&x->c->variation, target_version(x->t), &x->c->example->model.graph[0]);
    if (!x->plain->is_done)
        x->v.at_once = 1; /* it must fail */
    x->beside = beside;
    variation_text(&x->v, text);
    int ran = run_other(x);
    if (ran < 0)
        *r = x->judged;
    else if (judge_all(x, detail, text) == 0) {
        if (!verdict_conforming(x->judged.verdict)) {
            take_failure(&x->judged, text, r);
            if (ret_out)
                *ret_out = x->out;
        } else {
            drop_texts(x->texts);
            if (x->note[0])
                text_append(r->why, sizeof r->why, "%s%s (%s)", r->why[0] ? "; " : "", x->note,
                            text);
        }
    }
    for (uint32_t k = 0; k < TARGET_MOST_BESIDE; k++)
        if (beside[k].has_inputs)
            check_done(&beside[k].check);
}

/* A driver that dies when it releases the model fails plainly. */
static void release(struct check *c, struct target *t, struct check_result *r,
                    struct variation_texts *texts)
{
    struct outcome o;

    if (!target_release_prepared(t, &o))
        return;
    if (verdict_conforming(r->verdict)) {
        *r = check_without_outcome(VERDICT_ERROR, c->judge);
        keep_texts(texts, &o);
        check_judge(c, &o, r, NULL);
    } else {
        outcome_done(&o);
    }
}

void variation_run(struct check *c, struct target *t, const struct run_outputs *plain,
                   struct check_result *r, struct buffer *detail, struct tensor **ret_out,
                   struct variation_texts *ret_texts)
{
    struct other_run x = { .c = c, .t = t, .plain = plain, .texts = ret_texts };

    if (plain && verdict_conforming(r->verdict))
        run_and_judge(&x, r, detail, ret_out);
    release(c, t, r, ret_texts);
}

void variation_check(struct check *c, struct target *t, struct check_result *r,
                     struct buffer *detail, struct tensor **ret_out)
{
    struct run_outputs plain;
    struct tensor *out = NULL;
    struct outcome o;

    check_reference(c);
    if (check_run(c, t, &o, r) >= 0) {
        bool taken = c->is_varied && run_outputs_take(&o, c->arena, &plain);
        if (ret_out)
            out = keep_outputs(&o, c->arena);
        check_judge(c, &o, r, detail);
        if (c->is_varied)
            variation_run(c, t, taken ? &plain : NULL, r, detail, &out, NULL);
    }
    if (ret_out)
        *ret_out = out;
}
