#include "harness/conform/conform.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/remote/remote.h"

uint64_t conform_seed = 1;
double conform_stress_seconds = 2;
unsigned conform_crash_threads = 8, conform_crash_processes = 4;

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

void conform_require(struct conform *c, bool ok, const char *format, ...)
{
    va_list ap;

    if (ok)
        return;
    va_start(ap, format);
    add_finding(c->state->result, format, ap);
    va_end(ap);
}

bool conform_is_cut_off(const struct conform *c, struct why *ret_why)
{
    if (!c->is_remote || !remote_is_dead(c->driver, ret_why))
        return false;
    why_prefix(ret_why, "the connection to the driver's service has failed");
    return true;
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
    conform_require(c, !end.violation[0], "%s%s%s", doing, *doing ? ": " : "", end.violation);
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

    conform_require(
        c, s == HAL_NONE && n == model->main.n_operations,
        "%s, a valid model: get_supported_operations returns %s, for %u of %u operations", doing,
        hal_status_name(s), n == UINT32_MAX ? 0 : n, model->main.n_operations);
    config.priority = c->state->priority;
    struct conform_prepared p = prepare_by(c, c->version, model, &config, c->state->is_restoring);
    conform_require(
        c, p.launched == HAL_NONE,
        "%s, a valid model: prepare_model returns %s, expected NONE (the callback gets the "
        "failure of a model that is not supported)",
        doing, hal_status_name(p.launched));
    conform_require(c, !all || p.status == HAL_NONE,
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

/* ---- the target once more */

struct hal_driver *conform_open(const struct conform *c)
{
    struct hal_driver *d = NULL;
    struct why w = { 0 };
    bool is_remote;

    conform_must(c->state->open(c->state->user, &d, &is_remote, &w) == 0,
                 "the target cannot be opened once more");
    return d;
}
