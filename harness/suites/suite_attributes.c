/* Whether every argument of an operation has its effect: random models of one operation in which a
 * wrong value of one argument changes the results, judged against the reference. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/model/op.h"
#include "harness/conform/conform_judge.h"
#include "harness/explain/subject.h"
#include "harness/explain/variant.h"
#include "randgraph/randgraph.h"

/* How a driver may take an argument. */
enum mistake {
    AS_0,
    AS_1,
    AS_MINUS_1,
    MINUS_1,
    PLUS_1,
    EXCHANGED,
    ZERO_POINT_0,
    FIRST_SCALE,
    MISTAKES
};
static const char *const mistake_text[MISTAKES] = {
    "taken as 0",
    "taken as 1",
    "taken as -1",
    "too small by 1",
    "too large by 1",
    "exchanged with the next argument",
    "taken with zero point 0",
    "taken with the first channel's scale",
};

/* A mistake is sought in models of an operation until ENOUGH show it: in at most ATTEMPTS models
 * that have the argument, of at most DRAWS, the last LATER of which show nothing new. */
enum { MOST_FORMS = 16, MOST_TYPINGS = 64, ATTEMPTS = 40, DRAWS = 400, LATER = 25, ENOUGH = 2 };

/* A mistake in a role: the models in which it has been sought, and those that show it. */
struct sought {
    unsigned char tried, shown;
};

/* By role and mistake, of each form and of each typing row. */
struct effects {
    const struct op *op;
    struct sought form[MOST_FORMS][MAX_ROLES][MISTAKES];
    struct sought typing[MOST_TYPINGS][MAX_ROLES][MISTAKES];
};

static bool is_scalar(const struct subject *s, uint32_t arg)
{
    const struct role *r = call_role(&s->call, arg);

    return r && !r->dims && !r->many;
}

static bool is_int(const struct subject *s, uint32_t arg)
{
    return arg < s->call.n_in && s->arg[arg] && is_scalar(s, arg) && s->arg[arg]->dtype == DT_INT32;
}

/* False: the scalar has this value already, or cannot have it. */
static bool mistake_scalar(struct variant *v, uint32_t arg, enum mistake mistake)
{
    const struct subject *s = v->s;
    const struct role *r = call_role(&s->call, arg);
    const double is = call_real(&s->call, (int) (r - s->op->in));
    const double to[] = {
        [AS_0] = 0, [AS_1] = 1, [AS_MINUS_1] = -1, [MINUS_1] = is - 1, [PLUS_1] = is + 1
    };

    if (mistake == EXCHANGED) {
        const struct role *next = is_int(s, arg + 1) ? call_role(&s->call, arg + 1) : NULL;
        return next && is_int(s, arg) &&
               variant_set(v, r->name, call_real(&s->call, (int) (next - s->op->in))) &&
               variant_set(v, next->name, is);
    }
    if (mistake > PLUS_1 || (s->arg[arg]->dtype == DT_BOOL && mistake > AS_1))
        return false;
    return variant_set(v, r->name, to[mistake]);
}

static bool mistake_tensor(struct variant *v, uint32_t arg, enum mistake mistake)
{
    struct tensor *t = variant_own(v, arg);

    if (!t)
        return false;
    if (mistake == AS_0) {
        double *zeros = arena_alloc(v->arena, tensor_count(t), sizeof *zeros);
        conform_must(zeros, "out of memory");
        tensor_narrow(zeros, t);
        return true;
    }
    if (mistake == ZERO_POINT_0 && t->zero) {
        t->zero = 0;
        return true;
    }
    if (mistake == FIRST_SCALE && t->n_channels > 1) {
        float *scale = arena_alloc(v->arena, t->n_channels, sizeof *scale);
        conform_must(scale, "out of memory");
        for (uint32_t i = 0; i < t->n_channels; i++)
            scale[i] = t->channel_scale[0];
        t->channel_scale = scale;
        return true;
    }
    return false;
}

/* Whether the mistake puts an element out of its bound.  Not if it changes the shape, which a
 * driver would notice. */
static bool shows(const struct variant *v)
{
    const struct subject *s = v->s;

    bool is_far = false;

    for (size_t i = 0; i < s->n; i++) {
        if (isinf(v->bound[i]))
            return false;
        is_far = is_far || fabs(v->real[i] - s->real[i]) >
                               s->bound[i] + v->bound[i] + 2 * tensor_step_of(s->expected, i);
    }
    return is_far;
}

/* A scalar that is no constant is read when the model is executed: another matter. */
static bool is_fixed(const struct subject *s, uint32_t arg)
{
    const enum lifetime life = s->example->model.graph[0].operand[s->operation->in[arg]].life;

    return !is_scalar(s, arg) || life == LIFE_CONSTANT_COPY || life == LIFE_CONSTANT_REFERENCE;
}

/* 1: the mistake shows; 0: not; -1: the argument cannot be mistaken so. */
static int try_mistake(const struct subject *s, uint32_t arg, enum mistake mistake)
{
    struct arena *a = arena_new(0);
    struct variant v;
    int ret = -1;

    conform_must(variant_begin(&v, s, a) == 0, "out of memory");
    if (is_scalar(s, arg) ? mistake_scalar(&v, arg, mistake) : mistake_tensor(&v, arg, mistake))
        ret = variant_run(&v) && shows(&v);
    arena_free(a);
    return ret;
}

static bool is_wanted(const struct sought *s)
{
    return s->tried < ATTEMPTS && s->shown < ENOUGH;
}

static void note(struct sought *s, bool shown)
{
    s->tried = (unsigned char) (s->tried + (s->tried < ATTEMPTS));
    s->shown = (unsigned char) (s->shown + (shown && s->shown < ENOUGH));
}

/* Notes the mistakes that the model shows; true: one that too few models before it do, which `text`
 * names. */
static bool note_effects(struct effects *e, const struct subject *s, char *text, size_t size)
{
    const long form = s->call.form - s->op->forms, typing = s->call.typing - s->op->typings;
    bool is_new = false;

    for (uint32_t arg = 0; form < MOST_FORMS && typing < MOST_TYPINGS && arg < s->call.n_in;
         arg++) {
        const struct role *r = s->arg[arg] && is_fixed(s, arg) ? call_role(&s->call, arg) : NULL;
        for (int k = 0; r && k < MISTAKES; k++) {
            struct sought *of_form = &e->form[form][r - s->op->in][k];
            struct sought *of_typing = &e->typing[typing][r - s->op->in][k];
            if (!is_wanted(of_form) && !is_wanted(of_typing))
                continue;
            const int shown = try_mistake(s, arg, (enum mistake) k);
            if (shown < 0)
                continue;
            note(of_form, shown);
            note(of_typing, shown);
            if (shown && !is_new)
                snprintf(text, size, "; %s %s would show", r->name, mistake_text[k]);
            is_new = is_new || shown;
        }
    }
    return is_new;
}

/* The example's operation with all its results as outputs, as a subject needs it. */
static struct example with_all_outputs(const struct conform_model *m, struct arena *a)
{
    const struct graph *from = &m->example.model.graph[0];
    struct example e = m->example;
    struct graph *g = arena_copy(a, from, sizeof *g);

    conform_must(g, "out of memory");
    g->operand = arena_copy(a, from->operand, from->n_operands * sizeof *from->operand);
    conform_must(g->operand, "out of memory");
    g->output = from->operation[0].out;
    g->n_outputs = from->operation[0].n_out;
    for (uint32_t i = 0; i < g->n_outputs; i++)
        g->operand[g->output[i]].life = LIFE_OUTPUT;
    e.model.graph = g;
    return e;
}

/* As note_effects(), in each output whose values are specified. */
static bool has_effects(struct effects *e, const struct conform_model *m, char *text, size_t size)
{
    struct arena *a = arena_new(0);
    const struct exec_options options = { .bounds = true, .arena = a };
    const struct example all = with_all_outputs(m, a);
    struct plan *plan = NULL;
    struct result r;
    struct why w;
    bool is_new = false;

    if (all.model.n_graphs == 1 && plan_new(&all.model, &plan, &w) == 0 &&
        plan_run(plan, all.in, &options, &r, &w) == 0)
        for (uint32_t i = 0; i < r.n; i++) {
            struct subject s;
            if ((int) i < e->op->n_out && e->op->out[i].unspecified)
                continue;
            if (subject_init(&s, &all, &r, r.out, i, a, &w) == 0)
                is_new = note_effects(e, &s, text, size) || is_new;
        }
    plan_free(plan);
    arena_free(a);
    return is_new;
}

/* ---- the rule */

/* False: the driver does not support the model. */
static bool run(struct conform *c, const struct conform_model *m, const char *text)
{
    const struct conform_kind *kind = &conform_kinds[c->version < HAL_1_2];
    const struct hal_execution_config config = client_config();
    struct conform_judge judge;
    struct conform_request r;
    char what[160];
    const bool specified = conform_request_is_specified(&m->example);

    conform_doing(c, "%s", m->name);
    if (c->version < HAL_1_2 && !specified)
        return true;
    struct hal_prepared_model *p = conform_prepare_supported(c, &m->hal);
    if (!p)
        return false;
    snprintf(what, sizeof what, "%s%s", kind->name, text);
    conform_judge_init(&judge, m);
    conform_request(&m->example, m->arena, &r);
    enum hal_status s = kind->run(p, c->version, &r, &config);
    if (EXPECT(c, s == HAL_NONE || (s == HAL_GENERAL_FAILURE && !specified), "%s: %s", m->name,
               hal_status_name(s)) &&
        s == HAL_NONE)
        conform_judge(c, &judge, &r, what);
    conform_judge_done(&judge);
    p->methods->release(p);
    return true;
}

/* Over a socket fewer models. */
enum { UNSUPPORTED = 8, REMOTE_LATER = 10 };

static void operation(struct conform *c, const struct op *op)
{
    struct randgraph_options options = randgraph_default;
    struct effects *e = calloc(1, sizeof *e);
    int later = 0, refused = 0;

    conform_must(e, "out of memory");
    e->op = op;
    options.only = randgraph_only(op->name);
    options.min_ops = options.max_ops = 1;
    options.max_level = hal_level(c->version);
    options.relaxed = 0;
    options.control_flow = 0;
    options.max_dim = 5;
    for (uint64_t i = 0;
         i < DRAWS && later < (c->is_remote ? REMOTE_LATER : LATER) && refused < UNSUPPORTED; i++) {
        struct arena *a = arena_new(0);
        struct conform_model m;
        struct example example;
        struct why w;
        char text[100];
        if (randgraph_make(&options, conform_seed, i, a, &example, &w) < 0) {
            arena_free(a);
            break;
        }
        conform_model_init(&m, &example, a);
        later++;
        if (has_effects(e, &m, text, sizeof text)) {
            conform_model_expect(&m);
            snprintf(m.name, sizeof m.name, "%s", example.name);
            refused += !run(c, &m, text);
            later = 0;
        }
        conform_model_done(&m);
    }
    free(e);
}

static void attributes(struct conform *c, const void *data)
{
    (void) data;
    conform_not_applicable(c, "no operation of this version is supported");
    for (int i = 0; i < op_table_n; i++)
        if (conform_is_mine(c, (uint32_t) i) && (int) op_table[i]->since <= hal_level(c->version) &&
            op_table[i]->error.kind != ERROR_RANDOM && !op_table[i]->control_kind)
            operation(c, op_table[i]);
}

static const struct conform_rule rules_of_file[] = {
    { "generated", "arguments", HAL_1_0, 0,
      "every argument of an operation has its effect: models in which a wrong value would show",
      attributes, .is_split = true },
};
const struct conform_rules conform_rules_attributes = { rules_of_file, COUNT(rules_of_file), NULL,
                                                        NULL };
