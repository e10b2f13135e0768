#include "harness/conform/conform.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_OPERATIONS = 1024 };
/* A preparation whose launch has failed calls back at once. */
static const double FAILED_LAUNCH_SECONDS = 5;

bool conform_applies(const struct conform_rule *r, enum hal_version version)
{
    return version >= r->since && (!r->until || version <= r->until);
}

int conform_first(const struct conform *c, int at_least)
{
    int lowest = hal_level(c->driver->lowest_version) - 1;

    return lowest > at_least ? lowest : at_least;
}

/* ---- checks */

static void add_finding(struct conform_result *r, const char *format, va_list ap)
{
    r->failures++;
    if (r->n_findings < CONFORM_FINDINGS)
        vsnprintf(r->finding[r->n_findings++], CONFORM_TEXT, format, ap);
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

struct conform_prepared conform_prepare(struct conform *c, enum hal_version entry,
                                        const struct hal_model *model,
                                        const struct hal_prepare_config *config)
{
    struct hal_driver *d = c->driver;
    struct client_prepare_wait *wait = c->state->wait;
    unsigned calls = ++c->state->prepared;
    enum hal_status launched = model ? d->prepare_model(d, entry, model, config, &wait->base)
                                     : d->prepare_model_from_cache(d, entry, config, &wait->base);

    bool is_called =
        client_prepare_await(wait, calls, launched == HAL_NONE ? 0 : FAILED_LAUNCH_SECONDS);
    conform_must(is_called, "prepare_model fails and does not call its callback");
    struct conform_prepared p = { launched, wait->status, wait->prepared };
    require(c, launched == HAL_NONE || launched == p.status,
            "prepare_model returns %s, its callback gets %s", hal_status_name(launched),
            hal_status_name(p.status));
    require(c, (p.status == HAL_NONE) == (p.model != NULL),
            "the callback gets %s %s a prepared model", hal_status_name(p.status),
            p.model ? "with" : "without");
    return p;
}

struct hal_prepared_model *conform_prepare_supported(struct conform *c,
                                                     const struct hal_model *model)
{
    uint32_t n_operations = model->main.n_operations, n = 0;
    bool supported[MAX_OPERATIONS], all = true;

    conform_must(n_operations <= MAX_OPERATIONS, "too many operations");
    enum hal_status s =
        c->driver->get_supported_operations(c->driver, c->version, model, supported, &n);
    require(c, s == HAL_NONE && n == n_operations,
            "get_supported_operations: %s, for %u operations", hal_status_name(s), n);
    for (uint32_t i = 0; i < n_operations; i++)
        all = all && i < n && supported[i];
    struct conform_prepared p = conform_prepare(c, c->version, model, &client_default_preparation);
    require(c, p.launched == HAL_NONE, "a legal model: prepare_model returns %s",
            hal_status_name(p.launched));
    require(c, (p.status == HAL_NONE) == (s == HAL_NONE && all), "%s, but prepare_model: %s",
            all ? "supported" : "not supported", hal_status_name(p.status));
    return p.model;
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
    s->wait = malloc(sizeof *s->wait);
    if (!s->wait)
        return why_no_memory(w);
    client_prepare_wait_init(s->wait);
    s->prepared = 0;
    if (s->open(s->user, &c->driver, &c->is_remote, w) < 0) {
        free(s->wait);
        return -1;
    }
    c->version = version ? version : c->driver->hal_version;
    return 0;
}

void conform_end(struct conform *c)
{
    c->driver->close(c->driver);
    free(c->state->wait);
}

/* After a rule was left: its objects of the driver are not released, so this driver is not closed,
 * and the next rule gets another one. */
static void replace_driver(struct conform *c)
{
    struct why w = { 0 };
    enum hal_version version = c->version;

    if (conform_begin(c, c->state, version, &w) < 0) {
        fprintf(stderr, "%s\n", w.text);
        abort();
    }
}

static void check_or_leave(struct conform *c, const struct conform_rule *r)
{
    sigjmp_buf here;

    if (sigsetjmp(here, 0) == 0) {
        conform_must_return = &here;
        r->check(c, r->data);
        conform_must_return = NULL;
        return;
    }
    conform_must_return = NULL;
    require(c, false, "%s", conform_must_text);
    replace_driver(c);
}

void conform_check(struct conform *c, const struct conform_rule *r,
                   struct conform_progress *progress, struct conform_result *ret_result)
{
    *ret_result = (struct conform_result){ 0 };
    c->state->result = ret_result;
    c->state->progress = progress;
    conform_doing(c, "%s", "");
    check_or_leave(c, r);
    require(c, c->state->wait->calls == c->state->prepared, "%u preparations, but %u callbacks",
            c->state->prepared, c->state->wait->calls);
    c->state->prepared = c->state->wait->calls;
    ret_result->checks = progress->checks;
    ret_result->end = ret_result->failures     ? CONFORM_FAILED
                      : ret_result->checks > 0 ? CONFORM_PASSED
                      : ret_result->reason[0]  ? CONFORM_NOT_APPLICABLE
                                               : CONFORM_UNDECIDED;
}
