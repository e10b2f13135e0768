/* Random graphs over two to four random devices, through the C API.
 *
 *     random_partitions SEED FIRST COUNT
 *
 * Runs the graphs FIRST to FIRST + COUNT - 1 of the seed; everything that is random about a graph
 * follows from the seed and its number.  The results of an execution must be those of the parts of
 * its plan, each run alone (plan_parts.h), bit by bit, and within the bounds of the reference.  A
 * compilation may fail for the documented reasons only, for which the model must give cause.  The
 * line that replays a failure is printed with it, also when the process dies.  Exit status 1: there
 * was one. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden/base/logging.h"
#include "golden/golden.h"
#include "runtime/include/NeuralNetworksOEM.h"
#include "tests/runtime/random/plan_parts.h"
#include "tests/runtime/random/random_devices.h"
#include "tests/runtime/random/random_execution.h"
#include "tests/runtime/random/rebuilt_model.h"

enum { SECONDS = 120 /* that a graph may take */, MOST_SHOWN = 20 };

static struct totals {
    unsigned graphs, failed, simple, compound, several, not_compiled;
    unsigned control, loops, dynamic, whole, fallback, fails, illegal, undecided;
    unsigned steps, parts, way[START_WAYS];
} total;

/* ---- replay lines */

static char replay[128];
static char last_error[480]; /* of the runtime's log */

static void keep_errors(enum log_level level, const char *tag, const char *text, void *user)
{
    (void) tag;
    (void) user;
    if (level == LOG_ERROR)
        snprintf(last_error, sizeof last_error, "%s", text);
}

static void print_replay(void)
{
    ssize_t ignored = write(STDERR_FILENO, replay, strlen(replay));

    (void) ignored;
}

static void die(int signal_number)
{
    print_replay();
    signal(signal_number, SIG_DFL);
    raise(signal_number);
}

/* Of sanitizers, which end the process themselves. */
__attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)(void));

static void watch_deaths(void)
{
    static const int signals[] = { SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGALRM };

    if (__sanitizer_set_death_callback)
        __sanitizer_set_death_callback(print_replay);
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
        signal(signals[i], die);
}

/* ---- one graph */

struct graph_run {
    struct rng rng;
    struct arena *a;
    struct example e;
    struct rebuilt_model model;
    const ANeuralNetworksDevice *device[RANDOM_DEVICES + 1];
    uint32_t n_devices;
    bool is_explicit, has_reference;
    int32_t preference;
    struct random_execution x;
    ANeuralNetworksCompilation *c; /* NULL: it may fail, and did */
    struct why *w;
};

static bool has_unknown(const struct graph *g, const uint32_t *list, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const struct tensor *t = &g->operand[list ? list[i] : i].tensor;
        if (dtype_info[t->dtype].tensor && !shape_known(&t->shape))
            return true;
    }
    return false;
}

/* The defaults, without the operations that no application can add, and with longer chains. */
static struct randgraph_weights weights;

static void set_weights(void)
{
    weights = randgraph_weights_default;
    weights.any_next = 25;
    weights.short_graph = 25;
    weights.control = 25;
    weights.extra_output = 15;
    for (int i = 0; i < op_table_n; i++)
        if (op_table[i]->code >= ANEURALNETWORKS_OEM_OPERATION)
            weights.op[weights.n_ops++] = (struct randgraph_op_weight){ op_table[i], 0 };
}

static int draw_graph(struct graph_run *g, uint64_t seed, uint64_t index)
{
    struct randgraph_options o = randgraph_default;

    rng_seed(&g->rng, seed ^ UINT64_C(0x7061727469746f6e), index);
    o.min_ops = 2;
    o.max_ops = rng_below(&g->rng, 4) ? 12 : 40;
    o.max_dim = 12;
    o.max_elements = 4096;
    o.constant = 0.3;
    o.control_flow = 0.4;
    o.extremes = true;
    o.weights = &weights;
    TRY(randgraph_make(&o, seed, index, g->a, &g->e, g->w));
    random_devices_draw(&g->rng, g->device, &g->n_devices);
    g->is_explicit = rng_below(&g->rng, 2);
    g->has_reference = !g->is_explicit || rng_below(&g->rng, 4) != 0;
    if (g->is_explicit && g->has_reference)
        g->device[g->n_devices++] = reference_device();
    g->preference = (int32_t) rng_below(&g->rng, 3);
    g->x = random_execution_draw(&g->rng);
    const struct graph *main_graph = &g->e.model.graph[0];
    /* Fenced executions take no outputs of unknown size. */
    if (g->x.way == START_FENCED &&
        has_unknown(main_graph, main_graph->output, main_graph->n_outputs))
        g->x.way = START_ASYNC;
    return 0;
}

/* ---- compilations that fail */

/* Whether an operation has no inputs but constants. */
static bool has_constant_operation(const struct model *m)
{
    for (uint32_t k = 0; k < m->n_graphs; k++)
        for (uint32_t i = 0; i < m->graph[k].n_operations; i++) {
            const struct operation *o = &m->graph[k].operation[i];
            bool all = true;
            for (uint32_t n = 0; n < o->n_in; n++) {
                const struct operand *in = &m->graph[k].operand[o->in[n]];
                all &= operand_constant(in) || operand_omitted(in) || in->life == LIFE_SUBGRAPH;
            }
            if (all)
                return true;
        }
    return false;
}

/* Whether nothing uses the results of an operation. */
static bool has_unused_operation(const struct model *m)
{
    for (uint32_t k = 0; k < m->n_graphs; k++)
        for (uint32_t i = 0; i < m->graph[k].n_operations; i++) {
            const struct operation *o = &m->graph[k].operation[i];
            bool used = false;
            for (uint32_t n = 0; n < o->n_out; n++) {
                const struct operand *out = &m->graph[k].operand[o->out[n]];
                used |= out->consumers || out->life == LIFE_OUTPUT;
            }
            if (!used)
                return true;
        }
    return false;
}

/* Whether the devices together do not support all operations of the main graph. */
static bool lacks_support(const struct graph_run *g)
{
    bool supported[128];
    const uint32_t n = g->e.model.graph[0].n_operations;

    if (n > COUNT(supported) ||
        ANeuralNetworksModel_getSupportedOperationsForDevices(
            g->model.graph[0], g->device, g->n_devices, supported) != ANEURALNETWORKS_NO_ERROR)
        return false;
    for (uint32_t i = 0; i < n; i++)
        if (!supported[i])
            return true;
    return false;
}

/* Whether a partition may fail so; the reason is in the log. */
static bool may_fail(const struct graph_run *g, int result)
{
    const struct model *m = &g->e.model;
    char reason[sizeof last_error];

    memcpy(reason, last_error, sizeof reason);
    if (result == ANEURALNETWORKS_BAD_DATA)
        return strstr(reason, "No driver can do operation") && !g->has_reference &&
               (m->n_graphs > 1 || lacks_support(g));
    if (result != ANEURALNETWORKS_OP_FAILED)
        return false;
    return (strstr(reason, "has no inputs") && has_constant_operation(m)) ||
           (strstr(reason, "has no outputs") && has_unused_operation(m)) ||
           (strstr(reason, "needs feature level 3") &&
            has_unknown(&m->graph[0], NULL, m->graph[0].n_operands));
}

static int compile(struct graph_run *g)
{
    ANeuralNetworksModel *m = g->model.graph[0];
    ANeuralNetworksCompilation *c;

    last_error[0] = 0;
    int result = g->is_explicit
                     ? ANeuralNetworksCompilation_createForDevices(m, g->device, g->n_devices, &c)
                     : ANeuralNetworksCompilation_create(m, &c);
    REQUIRE(g->w, result == ANEURALNETWORKS_NO_ERROR, "create gives %d: %s", result, last_error);
    g->c = c;
    result = ANeuralNetworksCompilation_setPreference(c, g->preference);
    REQUIRE(g->w, result == ANEURALNETWORKS_NO_ERROR, "setPreference gives %d", result);
    result = ANeuralNetworksCompilation_finish(c);
    if (result == ANEURALNETWORKS_NO_ERROR)
        return 0;
    REQUIRE(g->w, g->is_explicit && may_fail(g, result), "finish gives %d: %s", result, last_error);
    ANeuralNetworksCompilation_free(c);
    g->c = NULL;
    return 0;
}

/* ---- results */

/* Where two tensors of one type differ. */
static int compare(uint32_t output, const struct tensor *part, const struct tensor *actual,
                   struct why *w)
{
    char expected[SHAPE_TEXT], found[SHAPE_TEXT];

    REQUIRE(w, shape_equal(&part->shape, &actual->shape), "output %u has shape %s, of the parts %s",
            output, shape_text(&actual->shape, found), shape_text(&part->shape, expected));
    size_t size = dtype_info[part->dtype].codec->size, n = tensor_count(part);
    const uint8_t *a = part->data, *b = actual->data;
    for (size_t i = 0; i < n; i++)
        REQUIRE(w, !memcmp(a + i * size, b + i * size, size),
                "element %zu of output %u is %.9g, of the parts %.9g", i, output,
                tensor_at(actual, i), tensor_at(part, i));
    return 0;
}

static int judge(const struct graph_run *g, const struct result *r, const struct tensor *out)
{
    for (uint32_t i = 0; i < r->n; i++) {
        if (r->open[i]) {
            total.undecided++;
            continue;
        }
        struct judgement j = r->distribution[i] ? judge_distribution(r->distribution[i], 0, &out[i])
                                                : judge_result(r, i, &out[i]);
        REQUIRE(g->w, j.ok,
                "output %u is not within the bound of the reference: %s: element %zu is %.9g, "
                "expected %.9g +- %.3g",
                i, j.why, j.worst, j.actual, j.expected, j.bound);
    }
    return 0;
}

static void count_plan(const struct graph_run *g, const struct parts_result *p)
{
    const ANeuralNetworksDevice *first = NULL;
    bool several = false;

    total.fallback += p->n_fallback > 0;
    total.fails += p->fails;
    total.whole += p->is_whole;
    total.parts += p->n_parts;
    total.way[g->x.way]++;
    if (!g->c->plan) {
        total.simple++;
        return;
    }
    total.compound++;
    total.dynamic += g->c->plan->partition.n_dynamic > 0;
    total.control += g->c->plan->partition.n_sources > 1;
    for (uint32_t i = 0; i < g->c->plan->partition.n_steps; i++) {
        const struct plan_step *s = &g->c->plan->partition.step[i];
        total.loops += s->kind == STEP_WHILE;
        if (s->kind != STEP_EXECUTE)
            continue;
        total.steps++;
        several |= first && s->device != first;
        first = s->device;
    }
    total.several += several;
}

static int run_and_judge(struct graph_run *g, const struct result *r)
{
    struct parts_result parts;
    struct tensor *out = arena_alloc(g->a, r->n, sizeof *out);
    int result;

    if (!out)
        return why_no_memory(g->w);
    for (uint32_t i = 0; i < r->n; i++)
        g->x.shapes_given &= !r->open[i] && tensor_count(&r->out[i]);
    random_devices_open_up(true);
    int failed = plan_parts_run(g->c, g->e.in, g->x.shapes_given, g->a, &parts, g->w);
    random_devices_open_up(false);
    TRY(failed);
    count_plan(g, &parts);
    TRY(random_execution_run(&g->x, g->c, &g->e.model, g->e.in, r->out, g->a, out, &result, g->w));
    const int expected = parts.fails ? ANEURALNETWORKS_OP_FAILED : ANEURALNETWORKS_NO_ERROR;
    REQUIRE(g->w, result == expected, "%s gives %d, expected %d", way_name[g->x.way], result,
            expected);
    if (parts.fails)
        return 0;
    for (uint32_t i = 0; i < r->n; i++)
        TRY(compare(i, &parts.out[i], &out[i], g->w));
    return judge(g, r, out);
}

static int run_reference(struct graph_run *g, struct result *ret)
{
    const struct exec_options options = { .bounds = true, .arena = g->a };
    struct plan *plan;

    TRY(plan_new(&g->e.model, &plan, g->w));
    int failed = plan_run(plan, g->e.in, &options, ret, g->w);
    plan_free(plan);
    return failed;
}

/* A graph that the reference does not compute: the execution must fail, too. */
static int run_illegal(struct graph_run *g)
{
    const struct graph *main_graph = &g->e.model.graph[0];
    struct tensor *like = arena_alloc(g->a, main_graph->n_outputs, sizeof *like);
    struct tensor *out = arena_alloc(g->a, main_graph->n_outputs, sizeof *out);
    int result;

    if (!like || !out)
        return why_no_memory(g->w);
    for (uint32_t i = 0; i < main_graph->n_outputs; i++)
        like[i] = main_graph->operand[main_graph->output[i]].tensor;
    g->x.shapes_given = false;
    TRY(random_execution_run(&g->x, g->c, &g->e.model, g->e.in, like, g->a, out, &result, g->w));
    REQUIRE(g->w, result != ANEURALNETWORKS_NO_ERROR, "%s computes what the reference does not",
            way_name[g->x.way]);
    total.illegal++;
    return 0;
}

static int run_compiled(struct graph_run *g)
{
    struct result r;

    if (g->e.expect_failure)
        return run_illegal(g);
    TRY(run_reference(g, &r));
    int failed = run_and_judge(g, &r);
    result_done(&r);
    return failed;
}

static int run_graph(struct graph_run *g, uint64_t seed, uint64_t index)
{
    TRY(draw_graph(g, seed, index));
    int failed = rebuilt_model_make(&g->e.model, &g->model, g->w);
    if (!failed)
        failed = compile(g);
    if (!failed && g->c)
        failed = run_compiled(g);
    total.not_compiled += !failed && !g->c;
    ANeuralNetworksCompilation_free(g->c);
    rebuilt_model_done(&g->model);
    return failed;
}

static void run_one(uint64_t seed, uint64_t index)
{
    struct why w = { .text = "" };
    struct graph_run g = { .a = arena_new(0), .w = &w };

    if (!g.a)
        exit(EXIT_FAILURE);
    snprintf(replay, sizeof replay, "replay: random_partitions %llu %llu 1\n",
             (unsigned long long) seed, (unsigned long long) index);
    alarm(SECONDS);
    total.graphs++;
    if (run_graph(&g, seed, index) < 0 && total.failed++ < MOST_SHOWN)
        fprintf(stderr, "graph %llu, %s%s, %s%s%s%s, on %s: %s\n  last error: %s\n%s",
                (unsigned long long) index, g.is_explicit ? "explicit" : "all devices",
                g.is_explicit && g.has_reference ? " and reference" : "", way_name[g.x.way],
                g.x.is_reusable ? ", reusable" : "", g.x.is_padded ? ", padded" : "",
                g.x.in_memory ? ", in memory" : "", random_devices_text(g.a), w.text, last_error,
                replay);
    arena_free(g.a);
}

static int print_totals(void)
{
    printf("%u graphs, %u failed: %u plans of one step, %u of several, of which %u on several "
           "devices; %u not compiled\n",
           total.graphs, total.failed, total.simple, total.compound, total.several,
           total.not_compiled);
    printf("plans with IF or WHILE %u (%u loops), with values of unknown size %u; %u steps, %u "
           "parts run\n",
           total.control, total.loops, total.dynamic, total.steps, total.parts);
    printf("%u fell back in a part, %u as a whole, %u failed as they must, %u illegal; %u outputs "
           "undecided\n",
           total.fallback, total.whole, total.fails, total.illegal, total.undecided);
    for (int i = 0; i < START_WAYS; i++)
        printf("%s %u%s", way_name[i], total.way[i], i + 1 < START_WAYS ? ", " : "\n");
    /* Of many graphs half test something. */
    if (total.graphs >= 100 &&
        (total.several < total.graphs / 4 || !total.loops || !total.dynamic)) {
        fprintf(stderr, "too few plans of several devices\n");
        return EXIT_FAILURE;
    }
    return total.failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
    if (argc != 4) {
        fprintf(stderr, "usage: random_partitions SEED FIRST COUNT\n");
        return 2;
    }
    const uint64_t seed = strtoull(argv[1], NULL, 10), first = strtoull(argv[2], NULL, 10);
    const uint64_t n = strtoull(argv[3], NULL, 10);
    watch_deaths();
    set_weights();
    random_devices_open();
    uint32_t n_devices;
    ANeuralNetworks_getDeviceCount(&n_devices); /* the first entry sets the sink of the log */
    log_set_sink(keep_errors, NULL);
    for (uint64_t i = 0; i < n; i++)
        run_one(seed, first + i);
    return print_totals();
}
