/* Random graphs on the shipped devices: correct devices cause no false alarm, and every fault of
 * the fault table is found. */
#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "randgraph/randgraph.h"
#include "sim/sim.h"
#include "tests/support/check_main.h"

enum { GRAPHS = 1000, MOST_GRAPHS = 4000, SEED = 11 };

static struct why w;

static int fault_count(void)
{
    int n = 0;

    while (fault_at(n))
        n++;
    return n;
}

/* A random graph with the reference's results. */
struct random_case {
    struct arena *arena;
    struct example example;
    struct plan *plan;
    struct result result;
    struct shape *shapes;
};

/* only: NULL, or the one operation that the graph has. */
static void draw(struct random_case *r, uint64_t index, const char *only)
{
    struct exec_options options = { .bounds = true };
    struct randgraph_options graphs = randgraph_default;

    *r = (struct random_case){ .arena = arena_new(0) };
    graphs.only = randgraph_only(only);
    graphs.max_ops = 5; /* every device is to support some graphs whole */
    ck_assert_int_eq(randgraph_make(&graphs, SEED, index, r->arena, &r->example, &w), 0);
    ck_assert_int_ge(plan_new(&r->example.model, &r->plan, &w), 0);
    ck_assert_int_ge(plan_run(r->plan, r->example.in, &options, &r->result, &w), 0);
    r->shapes = arena_alloc(r->arena, r->result.n, sizeof *r->shapes);
    for (uint32_t i = 0; i < r->result.n; i++)
        r->shapes[i] = r->result.out[i].shape;
}

static void drop(struct random_case *r)
{
    result_done(&r->result);
    plan_free(r->plan);
    arena_free(r->arena);
}

enum verdict { CORRECT, UNSUPPORTED, WRONG };

/* The verdict on one execution; text: what is wrong. */
static enum verdict judge(const struct random_case *r, const struct outcome *o, char text[300])
{
    if (o->violation[0]) {
        snprintf(text, 300, "%s", o->violation);
        return WRONG;
    }
    if (o->stage == STAGE_SUPPORTED && o->status == HAL_NONE)
        return UNSUPPORTED;
    if (o->stage != STAGE_DONE) {
        snprintf(text, 300, "stage %d ended with status %d", (int) o->stage, (int) o->status);
        return WRONG;
    }
    for (uint32_t i = 0; i < r->result.n; i++) {
        struct judgement j = judge_result(&r->result, i, &o->out[i]);
        if (!j.ok) {
            snprintf(text, 300, "output %u: %s", i, j.why);
            return WRONG;
        }
    }
    return CORRECT;
}

static enum verdict run(struct target *t, const struct random_case *r, bool measure, char text[300])
{
    struct target_run_options options = { .measure = measure };
    struct outcome o;

    ck_assert_msg(target_run(t, &r->example.model, r->example.in, r->shapes, &options, &o, &w) == 0,
                  "%s", w.text);
    enum verdict f = judge(r, &o, text);
    outcome_done(&o);
    return f;
}

static struct target *open_target(const char *device, const char *fault)
{
    struct target *t = NULL;
    char uri[128];

    snprintf(uri, sizeof uri, "%s%s%s", device, fault ? "?fault=" : "", fault ? fault : "");
    ck_assert_msg(target_open(uri, NULL, &t, &w) == 0, "%s", w.text);
    return t;
}

START_TEST(no_device_causes_a_false_alarm)
{
    struct target *t = open_target(target_shipped[_i], NULL);
    int correct = 0;
    char text[300];

    for (uint64_t i = 0; i < GRAPHS; i++) {
        struct random_case r;
        draw(&r, i, NULL);
        enum verdict f = run(t, &r, i % 2, text);
        ck_assert_msg(f != WRONG, "%s on %s: %s", r.example.name, target_shipped[_i], text);
        correct += f == CORRECT;
        drop(&r);
    }
    ck_assert_int_gt(correct, GRAPHS / 8);
    target_free(t);
}
END_TEST

/* Whether, by the table, the fault can be seen on this device. */
static bool shows(const struct fault *f, const char *device)
{
    return strstr(f->doc, "all devices") || strstr(f->doc, device);
}

/* The operation with the fault, if its description begins with one's name; else NULL. */
static const struct op *op_of(const struct fault *f)
{
    char name[64];

    snprintf(name, sizeof name, "%.*s", (int) strcspn(f->doc, " ,:"), f->doc);
    return op_by_name(name);
}

static bool campaign_finds(const struct fault *f, const char *device, const char *only)
{
    struct target *t = open_target(device, f->name);
    bool found = false;
    char text[300];

    for (uint64_t i = 0; i < MOST_GRAPHS && !found; i++) {
        struct random_case r;
        draw(&r, i, only);
        found = run(t, &r, i % 2, text) == WRONG;
        drop(&r);
    }
    target_free(t);
    return found;
}

/* Tries graphs of all operations, then graphs of the fault's operation alone. */
static bool is_found(const struct fault *f, const char *device)
{
    const struct op *op = op_of(f);

    return campaign_finds(f, device, NULL) || (op && campaign_finds(f, device, op->name));
}

/* Whether a child process crashes (a fault of kind crash), or does not end within a second (hang).
 */
static bool is_lethal(const struct fault *f, const char *device)
{
    struct random_case r;
    char text[300];
    int status;
    pid_t child = fork();

    ck_assert_int_ge(child, 0);
    if (child == 0) {
        struct target *t = open_target(device, f->name);
        signal(SIGALRM, SIG_DFL); /* replaces Check's handler */
        alarm(1);
        for (uint64_t i = 0; i < GRAPHS; i++) {
            draw(&r, i, NULL);
            run(t, &r, false, text);
        }
        _exit(0);
    }
    ck_assert_int_eq(waitpid(child, &status, 0), child);
    bool hangs = WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM;
    return strcmp(f->kind, "hang") == 0 ? hangs : WIFSIGNALED(status) && !hangs;
}

/* Random graphs have small tensors and small numbers. */
static bool needs_large_inputs(const struct fault *f)
{
    return strncmp(f->rules[0], "generated/large-", strlen("generated/large-")) == 0;
}

START_TEST(every_fault_is_found)
{
    const struct fault *f = fault_at(_i);
    if (!f->hooks || needs_large_inputs(f))
        return; /* found by halcyon selftest */
    bool lethal = strcmp(f->kind, "crash") == 0 || strcmp(f->kind, "hang") == 0;

    for (int d = 0; target_shipped[d]; d++)
        if (shows(f, target_shipped[d]))
            ck_assert_msg(lethal ? is_lethal(f, target_shipped[d]) : is_found(f, target_shipped[d]),
                          "%s on %s is not found", f->name, target_shipped[d]);
}
END_TEST

START_TEST(the_table_is_complete)
{
    ck_assert_int_ge(fault_count(), 110);
    for (int i = 0; i < fault_count(); i++) {
        const struct fault *f = fault_at(i);
        ck_assert(*f->name && *f->kind && *f->rules && *f->doc);
        ck_assert_msg((f->hooks != NULL) != (f->contract != NULL), "%s: no hooks, or two", f->name);
        ck_assert_msg(!f->hooks || strstr(f->doc, "devices") || strstr(f->doc, "sim:"),
                      "%s: the description does not name the devices", f->name);
        for (int k = 0; k < i; k++)
            ck_assert_str_ne(f->name, fault_at(k)->name);
    }
}
END_TEST

Suite *faults_suite(void)
{
    TCase *c = tcase_create("faults");

    tcase_set_timeout(c, 200);
    tcase_add_loop_test(c, no_device_causes_a_false_alarm, 0, 3);
    tcase_add_loop_test(c, every_fault_is_found, 0, fault_count());
    tcase_add_test(c, the_table_is_complete);
    return make_suite("faults", c, NULL);
}
