#include "harness/conform/conform.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/conform/conform_answers.h"
#include "harness/conform/conform_requests.h"

/* The callback of a preparation whose launch has failed comes at once, on a loaded machine too. */
static const double FAILED_LAUNCH_SECONDS = 20;

uint64_t conform_seed = 1;
double conform_stress_seconds = 2;

bool conform_applies(const struct conform_rule *r, enum hal_version version)
{
    return version >= r->since && (!r->until || version <= r->until);
}

int conform_first(const struct conform *c, int at_least)
{
    int lowest = hal_level(c->driver->lowest_version) - 1;

    return lowest > at_least ? lowest : at_least;
}

bool conform_has_entry(const struct conform *c, enum hal_version version)
{
    return version >= c->lowest && version <= c->version;
}

bool conform_is_mine(const struct conform *c, uint32_t index)
{
    return c->n_parts <= 1 || index % c->n_parts == c->part;
}

/* ---- checks */

/* From any thread. */
static void add_finding(struct conform_result *r, const char *format, va_list ap)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

    pthread_mutex_lock(&lock);
    r->failures++;
    if (r->n_findings < CONFORM_FINDINGS)
        vsnprintf(r->finding[r->n_findings++], CONFORM_TEXT, format, ap);
    pthread_mutex_unlock(&lock);
}

static void count(struct conform *c)
{
    __atomic_fetch_add(&c->state->progress->checks, 1, __ATOMIC_RELAXED);
    if (c->state->keep_alive)
        c->state->keep_alive(c->state->user);
}

bool conform_expect(struct conform *c, bool ok, const char *file, int line, const char *format, ...)
{
    va_list ap;

    (void) file, (void) line;
    count(c);
    if (ok)
        return true;
    va_start(ap, format);
    add_finding(c->state->result, format, ap);
    va_end(ap);
    return false;
}

bool conform_expect_status(struct conform *c, enum hal_status status, enum hal_status expected,
                           const char *file, int line, const char *what)
{
    return conform_expect(c, status == expected, file, line, "%s: %s, expected %s", what,
                          hal_status_name(status), hal_status_name(expected));
}

/* A condition of the helpers: a finding if it fails, but not counted as a check of the rule. */
__attribute__((format(printf, 3, 4))) static void require(struct conform *c, bool ok,
                                                          const char *format, ...)
{
    va_list ap;

    if (ok)
        return;
    va_start(ap, format);
    add_finding(c->state->result, format, ap);
    va_end(ap);
}

void conform_doing(struct conform *c, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    vsnprintf(c->state->progress->doing, CONFORM_TEXT, format, ap);
    va_end(ap);
}

void conform_not_applicable(struct conform *c, const char *format, ...)
{
    va_list ap;

    va_start(ap, format);
    vsnprintf(c->state->result->reason, CONFORM_TEXT, format, ap);
    va_end(ap);
}

/* ---- preparing */

static struct conform_prepared prepare_by(struct conform *c, enum hal_version entry,
                                          const struct hal_model *model,
                                          const struct hal_prepare_config *config,
                                          bool is_restoring)
{
    struct driver_client *client = &c->state->client;
    struct client_end end;

    client->driver = c->driver; /* a rule may use several */
    struct hal_prepared_model *p =
        (is_restoring ? driver_client_prepare_cached : driver_client_prepare)(client, entry, model,
                                                                              config, &end);
    conform_must(!end.lacks_callback, "prepare_model fails and does not call its callback");
    const char *doing = c->state->progress->doing;
    require(c, !end.violation[0], "%s%s%s", doing, *doing ? ": " : "", end.violation);
    return (struct conform_prepared){ end.launched, end.status, p };
}

struct conform_prepared conform_prepare(struct conform *c, enum hal_version entry,
                                        const struct hal_model *model,
                                        const struct hal_prepare_config *config)
{
    return prepare_by(c, entry, model, config, false);
}

/* Whether every operation is supported; *ret_status: of the query. */
static bool query(const struct conform *c, enum hal_version version, const struct hal_model *model,
                  enum hal_status *ret_status, uint32_t *ret_n)
{
    uint32_t n_operations = model->main.n_operations;
    bool *supported = calloc(n_operations + 1, sizeof *supported), all = true;

    conform_must(supported, "out of memory");
    *ret_n = UINT32_MAX;
    *ret_status = c->driver->get_supported_operations(c->driver, version, model, supported, ret_n);
    for (uint32_t i = 0; i < n_operations; i++)
        all = all && supported[i];
    free(supported);
    return all && *ret_status == HAL_NONE && *ret_n == n_operations;
}

bool conform_supports(const struct conform *c, enum hal_version version,
                      const struct hal_model *model)
{
    enum hal_status s;
    uint32_t n;

    return query(c, version, model, &s, &n);
}

/* A driver may prepare a model that it does not report as supported. */
struct hal_prepared_model *conform_prepare_supported(struct conform *c,
                                                     const struct hal_model *model)
{
    struct hal_prepare_config config = client_default_preparation;
    const char *doing = c->state->progress->doing;
    enum hal_status s;
    uint32_t n;
    bool all = query(c, c->version, model, &s, &n);

    require(c, s == HAL_NONE && n == model->main.n_operations,
            "%s, a valid model: get_supported_operations returns %s, for %u of %u operations",
            doing, hal_status_name(s), n == UINT32_MAX ? 0 : n, model->main.n_operations);
    config.priority = c->state->priority;
    struct conform_prepared p = prepare_by(c, c->version, model, &config, c->state->is_restoring);
    require(c, p.launched == HAL_NONE,
            "%s, a valid model: prepare_model returns %s, expected NONE (the callback gets the "
            "failure of a model that is not supported)",
            doing, hal_status_name(p.launched));
    require(c, !all || p.status == HAL_NONE,
            "%s: reported as supported, but the callback of prepare_model gets %s", doing,
            hal_status_name(p.status));
    if (!p.model && !c->state->unsupported++)
        snprintf(c->state->one_unsupported, CONFORM_NAME, "%.*s", CONFORM_NAME - 1, doing);
    return p.model;
}

/* A service returns GENERAL_FAILURE for a method that its driver does not have. */
bool conform_cache_files_needed(struct conform *c, uint32_t *ret_n_model, uint32_t *ret_n_data,
                                enum hal_status *ret_status)
{
    struct hal_driver *d = c->driver;

    *ret_status = d->get_number_of_cache_files_needed
                      ? d->get_number_of_cache_files_needed(d, ret_n_model, ret_n_data)
                      : HAL_GENERAL_FAILURE;
    if (d->get_number_of_cache_files_needed && (!c->is_remote || *ret_status == HAL_NONE))
        return true;
    conform_not_applicable(c, "the driver has no compilation cache");
    return false;
}

/* ---- one rule */

struct hal_driver *conform_open(const struct conform *c)
{
    struct hal_driver *d = NULL;
    struct why w = { 0 };
    bool is_remote;

    conform_must(c->state->open(c->state->user, &d, &is_remote, &w) == 0,
                 "the target cannot be opened once more");
    return d;
}

int conform_begin(struct conform *c, struct conform_state *s, enum hal_version version,
                  struct why *w)
{
    *c = (struct conform){ .state = s };
    s->missing = s->known = 0;
    TRY(s->open(s->user, &c->driver, &c->is_remote, w));
    driver_client_init(&s->client, NULL);
    s->client.patience = FAILED_LAUNCH_SECONDS;
    c->version = version ? version : c->driver->hal_version;
    c->lowest = c->driver->lowest_version;
    return 0;
}

void conform_end(struct conform *c)
{
    c->driver->close(c->driver);
    driver_client_done(&c->state->client);
    if (c->state->first)
        conform_answers_done(c->state->first);
    free(c->state->first);
    c->state->first = NULL;
}

/* After a rule was left: its objects of the driver are not released, so this driver is not closed,
 * its callbacks are kept, and the next rule gets another one. */
static void replace_driver(struct conform *c)
{
    struct why w = { 0 };
    struct conform left = *c;

    if (conform_begin(c, c->state, left.version, &w) < 0) {
        fprintf(stderr, "%s\n", w.text);
        abort();
    }
    c->part = left.part;
    c->n_parts = left.n_parts;
}

/* ---- after every rule: the driver answers and executes as before */

static bool becomes_available(struct hal_driver *d)
{
    enum { LOOKS = 200, LOOK_US = 5000 };

    for (int i = 0; i < LOOKS; i++) {
        if (d->get_status(d) == HAL_DEVICE_AVAILABLE)
            return true;
        usleep(LOOK_US);
    }
    return false;
}

static void execute_as_before(struct conform *c)
{
    const struct hal_execution_config config = client_config();
    struct conform_subject s;

    conform_subject_open(c, conform_sum(c), &s);
    for (int k = 0; s.prepared && k < conform_n_kinds; k++) {
        if (!conform_can_run(c, s.prepared, &conform_kinds[k], c->version))
            continue;
        conform_subject_reset(&s);
        enum hal_status status = conform_kinds[k].run(s.prepared, c->version, &s.request, &config);
        require(c, status == HAL_NONE && conform_subject_is_correct(&s),
                "after the rule, %s execution of %s: %s, or wrong results", conform_kinds[k].name,
                s.model.name, hal_status_name(status));
    }
    conform_subject_close(&s);
}

static void expect_as_before(struct conform *c)
{
    struct conform_state *s = c->state;
    const struct conform_result so_far = *s->result;
    const unsigned unsupported = s->unsupported;
    char text[CONFORM_TEXT];

    require(c, conform_answers_agree(c->driver, c->version, s->first, text), "after the rule, %s",
            text);
    require(c, becomes_available(c->driver), "after the rule, get_status is %s",
            "not AVAILABLE for a second");
    execute_as_before(c);
    s->unsupported = unsupported; /* what this model lacks is nothing that the rule is about */
    memcpy(s->result->reason, so_far.reason, sizeof so_far.reason);
}

static void check_or_leave(struct conform *c, const struct conform_rule *r)
{
    sigjmp_buf here;

    if (sigsetjmp(here, 0) == 0) {
        conform_must_return = &here;
        r->check(c, r->data);
        expect_as_before(c);
        conform_must_return = NULL;
        return;
    }
    conform_must_return = NULL;
    if (conform_must_text)
        require(c, false, "%s: %s", c->state->progress->doing, conform_must_text);
    replace_driver(c);
}

void conform_check(struct conform *c, const struct conform_rule *r,
                   struct conform_progress *progress, struct conform_result *ret_result)
{
    *ret_result = (struct conform_result){ 0 };
    c->state->result = ret_result;
    c->state->progress = progress;
    conform_doing(c, "%s", "");
    c->state->unsupported = 0;
    c->state->is_restoring = false;
    c->state->priority = HAL_PRIORITY_MEDIUM;
    if (!c->state->first) {
        c->state->first = calloc(1, sizeof *c->state->first);
        conform_must(c->state->first, "out of memory");
        conform_answers_ask(c->driver, c->version, c->state->first);
    }
    check_or_leave(c, r);
    for (const char *method; (method = driver_client_repeated(&c->state->client, NULL));)
        require(c, false, "%s called back more than once", method);
    ret_result->checks = progress->checks;
    if (!ret_result->reason[0] && c->state->unsupported)
        conform_not_applicable(c, "the driver supports none of the %u models, such as %s",
                               c->state->unsupported, c->state->one_unsupported);
    ret_result->end = ret_result->failures     ? CONFORM_FAILED
                      : ret_result->checks > 0 ? CONFORM_PASSED
                      : ret_result->reason[0]  ? CONFORM_NOT_APPLICABLE
                                               : CONFORM_UNDECIDED;
}
