#define _GNU_SOURCE
#include "tests/vts_matrix.h"

#include <check.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/support/check_main.h"
#include "tests/support/hal_client.h"
#include "tests/vts_mutations.h"
#include "tests/vts_rules.h"

enum { DEVICES = 3, TRANSPORTS = 2, CELLS = DEVICES * TRANSPORTS * HAL_VERSIONS };
enum { MAX_CHECKS = 48, MAX_PRINTED = 6, MAX_OPERATIONS = 256 };

static const char *const devices[DEVICES] = { "cpu", "gpu", "dsp" };

static const struct vts_program *program;
static const struct vts_rule *rules[MAX_CHECKS]; /* of the program's checks */
static const char *only_cells, *only_rule;       /* from the arguments; NULL: all */

/* Number of checks of each rule in each cell; shared with the cells' processes. */
static unsigned (*tally)[MAX_CHECKS];

/* ---- cells */

struct prepare_calls {
    struct hal_prepare_callback base;
    pthread_mutex_t lock;
    pthread_cond_t called;
    unsigned calls;
    enum hal_status status;
    struct hal_prepared_model *prepared;
};

struct vts_cell_state {
    char name[32];
    int index, rule;
    unsigned prepared, failures, n_printed; /* n_printed: failures of the current rule */
    struct prepare_calls seen;
};

static void notify(struct hal_prepare_callback *self, enum hal_status status,
                   struct hal_prepared_model *prepared)
{
    struct prepare_calls *s = (struct prepare_calls *) self;

    pthread_mutex_lock(&s->lock);
    s->calls++;
    s->status = status;
    s->prepared = prepared;
    pthread_cond_signal(&s->called);
    pthread_mutex_unlock(&s->lock);
}

static int version_of(int index)
{
    return index % HAL_VERSIONS;
}

static const char *device_of(int index)
{
    return devices[index / HAL_VERSIONS / TRANSPORTS];
}

static bool is_remote(int index)
{
    return index / HAL_VERSIONS % TRANSPORTS;
}

static void cell_name(int index, char *ret_name, size_t size)
{
    snprintf(ret_name, size, "%s/%s/%s", device_of(index), is_remote(index) ? "socket" : "process",
             hal_version_names[version_of(index)]);
}

struct hal_driver *vts_open(const struct vts_cell *c, enum hal_version version)
{
    struct hal_driver *d = client_open(c->device, version);

    return c->is_remote ? client_over_socket(d) : d;
}

/* ---- checks */

static void print_error(struct vts_cell *c, const char *file, int line, const char *format,
                        va_list ap)
{
    const struct vts_cell_state *s = c->state;
    char text[300];

    c->state->failures++;
    if (c->state->n_printed++ >= MAX_PRINTED)
        return;
    vsnprintf(text, sizeof text, format, ap);
    fprintf(stderr, "%s on %s: %s (%s:%d)\n    vts_tests %s %s %s\n", rules[s->rule]->name, s->name,
            text, file, line, program->name, s->name, rules[s->rule]->name);
}

bool vts_expect(struct vts_cell *c, bool ok, const char *file, int line, const char *format, ...)
{
    va_list ap;

    tally[c->state->index][c->state->rule]++;
    if (ok)
        return true;
    va_start(ap, format);
    print_error(c, file, line, format, ap);
    va_end(ap);
    return false;
}

bool vts_expect_status(struct vts_cell *c, enum hal_status status, enum hal_status expected,
                       const char *file, int line, const char *what)
{
    return vts_expect(c, status == expected, file, line, "%s: %s, expected %s", what,
                      hal_status_name(status), hal_status_name(expected));
}

/* A condition of the helpers: printed if it fails, but not counted as a check of the rule. */
__attribute__((format(printf, 3, 4))) static void require(struct vts_cell *c, bool ok,
                                                          const char *format, ...)
{
    va_list ap;

    if (ok)
        return;
    va_start(ap, format);
    print_error(c, __FILE__, __LINE__, format, ap);
    va_end(ap);
}

void vts_must(bool ok, const char *what)
{
    if (!ok)
        ck_abort_msg("%s", what);
}

/* ---- preparing */

struct vts_prepared vts_prepare(struct vts_cell *c, enum hal_version entry,
                                const struct hal_model *model,
                                const struct hal_prepare_config *config)
{
    struct hal_driver *d = c->driver;
    struct prepare_calls *s = &c->state->seen;
    unsigned before = c->state->prepared++;
    enum hal_status launched = model ? d->prepare_model(d, entry, model, config, &s->base)
                                     : d->prepare_model_from_cache(d, entry, config, &s->base);

    pthread_mutex_lock(&s->lock);
    while (s->calls <= before)
        pthread_cond_wait(&s->called, &s->lock);
    struct vts_prepared p = { launched, s->status, s->prepared };
    pthread_mutex_unlock(&s->lock);
    require(c, launched == HAL_NONE || launched == p.status,
            "prepare_model returns %s, its callback gets %s", hal_status_name(launched),
            hal_status_name(p.status));
    require(c, (p.status == HAL_NONE) == (p.model != NULL),
            "the callback gets %s %s a prepared model", hal_status_name(p.status),
            p.model ? "with" : "without");
    return p;
}

struct hal_prepared_model *vts_prepare_supported(struct vts_cell *c, const struct hal_model *model)
{
    uint32_t n_operations = model->main.n_operations, n = 0;
    bool supported[MAX_OPERATIONS], all = true;

    vts_must(n_operations <= MAX_OPERATIONS, "too many operations");
    enum hal_status s =
        c->driver->get_supported_operations(c->driver, c->version, model, supported, &n);
    require(c, s == HAL_NONE && n == n_operations,
            "get_supported_operations: %s, for %u operations", hal_status_name(s), n);
    for (uint32_t i = 0; i < n; i++)
        all = all && supported[i];
    struct vts_prepared p = vts_prepare(c, c->version, model, &vts_default_config);
    require(c, p.launched == HAL_NONE, "a legal model: prepare_model returns %s",
            hal_status_name(p.launched));
    require(c, (p.status == HAL_NONE) == (s == HAL_NONE && all), "%s, but prepare_model: %s",
            all ? "supported" : "not supported", hal_status_name(p.status));
    return p.model;
}

/* ---- one cell */

static bool applies(const struct vts_rule *r, enum hal_version version)
{
    return version >= r->since && (!r->until || version <= r->until);
}

/* Whether the name contains one of the parts that only_cells lists. */
static bool is_selected_cell(const char *name)
{
    size_t length;

    for (const char *part = only_cells; part; part += length + (part[length] == ',')) {
        length = strcspn(part, ",");
        if (length == 0)
            return false;
        if (memmem(name, strlen(name), part, length))
            return true;
    }
    return !only_cells;
}

static bool is_selected(int cell, int rule)
{
    char name[32];

    cell_name(cell, name, sizeof name);
    return applies(rules[rule], hal_versions[version_of(cell)]) && is_selected_cell(name) &&
           (!only_rule || strcmp(rules[rule]->name, only_rule) == 0);
}

static void run_rule(struct vts_cell *c, int rule)
{
    c->state->rule = rule;
    c->state->n_printed = 0;
    program->checks[rule].check(c, program->checks[rule].data);
    require(c, tally[c->state->index][rule] > 0, "the rule applies and was not checked");
}

static bool is_selected_by_any_rule(int cell)
{
    for (int k = 0; k < program->n_checks; k++)
        if (is_selected(cell, k))
            return true;
    return false;
}

static void run_cell(int index)
{
    struct vts_cell_state s = { .index = index, .seen.base = { notify } };
    struct vts_cell c = { device_of(index), is_remote(index), hal_versions[version_of(index)], NULL,
                          &s };

    if (only_cells && !is_selected_by_any_rule(index))
        return;
    cell_name(index, s.name, sizeof s.name);
    pthread_mutex_init(&s.seen.lock, NULL);
    pthread_cond_init(&s.seen.called, NULL);
    c.driver = vts_open(&c, c.version);
    for (int k = 0; k < program->n_checks; k++)
        if (is_selected(index, k))
            run_rule(&c, k);
    c.driver->close(c.driver);
    ck_assert_msg(s.seen.calls == s.prepared, "%s: %u preparations, %u callbacks", s.name,
                  s.prepared, s.seen.calls);
    ck_assert_msg(s.failures == 0, "%s: %u checks failed", s.name, s.failures);
}

START_TEST(rules_hold)
{
    run_cell(_i);
}
END_TEST

/* ---- the program */

static bool is_of_program(const struct vts_rule *r)
{
    return strcmp(r->program, program->name) == 0;
}

static const struct vts_rule *rule_named(const char *name)
{
    for (int i = 0; i < vts_n_rules; i++)
        if (is_of_program(&vts_rules[i]) && strcmp(vts_rules[i].name, name) == 0)
            return &vts_rules[i];
    return NULL;
}

/* Finds the rule of each check; false, with a message, unless rules and checks match one to one. */
static bool bind_rules(void)
{
    int n = 0;

    for (int i = 0; i < vts_n_rules; i++)
        n += is_of_program(&vts_rules[i]);
    for (int k = 0; k < program->n_checks; k++) {
        rules[k] = rule_named(program->checks[k].rule);
        for (int j = 0; j < k; j++)
            if (rules[j] == rules[k])
                rules[k] = NULL;
        if (!rules[k])
            fprintf(stderr, "%s: not a rule of this program, or checked twice\n",
                    program->checks[k].rule);
        if (!rules[k])
            return false;
    }
    if (n != program->n_checks)
        fprintf(stderr, "%d rules in vts_rules.c, but %d checks\n", n, program->n_checks);
    return n == program->n_checks;
}

/* Prints a rule's line; returns the number of selected cells in which it was not checked. */
static int report_rule(int rule)
{
    unsigned checks = 0;
    int cells = 0, selected = 0;

    for (int i = 0; i < CELLS; i++) {
        checks += tally[i][rule];
        cells += tally[i][rule] > 0;
        selected += is_selected(i, rule);
    }
    if (selected)
        printf("%9u in %2d of %2d cells  %-5s %s\n", checks, cells, selected, rules[rule]->name,
               rules[rule]->text);
    return selected - cells;
}

static int report(void)
{
    int missing = 0;

    for (int k = 0; k < program->n_checks; k++)
        missing += report_rule(k);
    if (missing)
        printf("%d times a rule was not checked in one of its cells\n", missing);
    return missing;
}

static int run_cells(void)
{
    TCase *c = tcase_create("cells");

    if (program->begin)
        tcase_add_unchecked_fixture(c, program->begin, program->end);
    tcase_set_timeout(c, 100);
    tcase_add_loop_test(c, rules_hold, 0, CELLS);
    return run_suite(make_suite(program->name, c, NULL));
}

int vts_main(const struct vts_program *p, int argc, char **argv)
{
    size_t size = sizeof(*tally) * CELLS;

    program = p;
    only_cells = argc > 1 ? argv[1] : NULL;
    only_rule = argc > 2 ? argv[2] : NULL;
    if (p->n_checks > MAX_CHECKS || !bind_rules())
        return 1;
    tally = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (tally == MAP_FAILED)
        return 1;
    int failed = run_cells(), missing = report();
    munmap(tally, size);
    return failed || missing;
}
