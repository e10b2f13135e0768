#include "harness/conform_run/conform_check.h"

#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/conform/conform_answers.h"
#include "harness/conform/conform_requests.h"

/* The callback of a preparation whose launch has failed comes at once, on a loaded machine too. */
static const double FAILED_LAUNCH_SECONDS = 20;

int conform_begin(struct conform *c, struct conform_state *s, enum hal_version version,
                  struct why *w)
{
    *c = (struct conform){ .state = s };
    s->missing = s->known = 0;
    s->right = s->wrong = 0;
    conform_forget_executed();
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

/* Executes a small model in each way in which an execution has succeeded in this process.  Wrong
 * results are a finding only if that way gave right ones after an earlier rule: a driver that has
 * always computed wrongly fails the rules about results. */
static void execute_as_before(struct conform *c)
{
    const struct hal_execution_config config = client_config();
    struct conform_subject subject;
    struct conform_state *s = c->state;
    const unsigned ways = conform_executed() & ~s->wrong;

    if (!ways)
        return;
    conform_subject_open(c, conform_sum(c), &subject);
    for (int k = 0; subject.prepared && k < conform_n_kinds; k++) {
        const struct conform_kind *kind = &conform_kinds[k];
        const unsigned bit = 1u << kind->way;
        if (!(ways & bit) || !conform_can_run(c, subject.prepared, kind, c->version))
            continue;
        conform_subject_reset(&subject);
        enum hal_status status = kind->run(subject.prepared, c->version, &subject.request, &config);
        const bool right = status == HAL_NONE && conform_subject_is_correct(&subject);
        conform_require(c, right || !(s->right & bit),
                        "after the rule, %s execution of %s: %s, or wrong results", kind->name,
                        subject.model.name, hal_status_name(status));
        *(right ? &s->right : &s->wrong) |= bit;
    }
    conform_subject_close(&subject);
}

static void expect_as_before(struct conform *c)
{
    struct conform_state *s = c->state;
    const struct conform_result so_far = *s->result;
    const unsigned unsupported = s->unsupported;
    char text[CONFORM_TEXT];

    conform_require(c, conform_answers_agree(c->driver, c->version, s->first, text),
                    "after the rule, %s", text);
    conform_require(c, becomes_available(c->driver), "after the rule, get_status is %s",
                    "not AVAILABLE for a second");
    execute_as_before(c);
    s->unsupported = unsupported; /* what this model lacks is nothing that the rule is about */
    memcpy(s->result->reason, so_far.reason, sizeof so_far.reason);
}

/* As a finding, whatever else has been found: the others are its consequences. */
static void expect_connection(struct conform *c)
{
    struct conform_result *r = c->state->result;
    struct why why;

    if (!conform_is_cut_off(c, &why))
        return;
    r->n_findings -= r->n_findings == CONFORM_FINDINGS;
    conform_require(c, false, "%s", why.text);
}

static void check_or_leave(struct conform *c, const struct conform_rule *r)
{
    sigjmp_buf here;

    if (sigsetjmp(here, 0) == 0) {
        conform_must_return = &here;
        r->check(c, r->data);
        expect_as_before(c);
        conform_must_return = NULL;
        expect_connection(c);
        return;
    }
    conform_must_return = NULL;
    if (conform_must_text)
        conform_require(c, false, "%s: %s", c->state->progress->doing, conform_must_text);
    expect_connection(c);
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
        conform_require(c, false, "%s called back more than once", method);
    ret_result->checks = progress->checks;
    if (!ret_result->reason[0] && c->state->unsupported)
        conform_not_applicable(c, "the driver supports none of the %u models, such as %s",
                               c->state->unsupported, c->state->one_unsupported);
    ret_result->end = ret_result->failures     ? CONFORM_FAILED
                      : ret_result->checks > 0 ? CONFORM_PASSED
                      : ret_result->reason[0]  ? CONFORM_NOT_APPLICABLE
                                               : CONFORM_UNDECIDED;
}
