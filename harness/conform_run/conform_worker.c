#include "harness/conform_run/conform_worker.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden/base/clock.h"
#include "golden/base/sandbox.h"
#include "harness/check/buffer.h"
#include "harness/conform_run/conform_check.h"
#include "harness/run/devices.h"

struct worker {
    const struct conform_work *work;
    struct worker_pool_link *link;
    pid_t pid;
    struct conform_progress *progress; /* of the current job */
    struct conform conform;
    struct conform_state state;
    const struct conform_item *open; /* whose version the driver is open for; NULL: none */
};

static int open_target(void *user, struct hal_driver **ret_driver, bool *ret_is_remote,
                       struct why *w)
{
    const struct conform_work *work = ((const struct worker *) user)->work;
    struct target_host host = harness_host;
    struct target *t = NULL;

    host.isolation = ISOLATE_NONE;
    host.reply_timeout = work->timeout;
    TRY(target_open(work->uri, &host, &t, w));
    *ret_is_remote = strncmp(work->uri, "unix:", 5) == 0;
    *ret_driver = target_take_driver(t);
    return 0;
}

/* The runtime's property (docs/runtime.md): 1 or not set: with fallback. */
static bool falls_back(const char *uri)
{
    const char *partition = getenv("HALCYON_DEBUG_NN_PARTITION");

    return strncmp(uri, "rt:", 3) == 0 &&
           (!partition || !*partition || strcmp(partition, "1") == 0);
}

/* With every check.  A process that a driver forks inside of a call, and in which the call returns,
 * ends here. */
static void keep_alive(void *user)
{
    struct worker *k = user;

    if (getpid() != k->pid) {
        k->progress->is_doubled = true;
        _exit(0);
    }
    worker_pool_keep_alive(k->link);
}

/* Before the driver is loaded: it may write to the scratch folder only, and do nothing to other
 * processes. */
static int contain(const struct conform_work *work, struct why *w)
{
    const struct sandbox_options options = { .scratch = work->scratch,
                                             .allow_processes = true,
                                             .allow_network = harness_host.may_use_devices,
                                             .allow_devices = harness_host.may_use_devices };

    if (!work->scratch)
        return 0;
    setenv("TMPDIR", work->scratch, 1);
    sandbox_be_first_to_go();
    return sandbox_enter(&options, NULL, w);
}

int conform_worker_start(void *user, void **ret_state, struct why *w)
{
    struct worker *k = calloc(1, sizeof *k);

    if (!k)
        return why_no_memory(w);
    k->work = user;
    k->pid = getpid();
    k->state = (struct conform_state){ .open = open_target,
                                       .keep_alive = keep_alive,
                                       .user = k,
                                       .may_fall_back = falls_back(k->work->uri) };
    *ret_state = k;
    return contain(k->work, w);
}

void conform_worker_end(struct worker_pool_link *l, void *state, void *user)
{
    struct worker *k = state;

    (void) user;
    k->link = l;
    if (k->open)
        conform_end(&k->conform);
    free(k);
}

static int open_for(struct worker *k, const struct conform_item *item, struct why *w)
{
    if (k->open && k->open->version == item->version)
        return 0;
    if (k->open)
        conform_end(&k->conform);
    k->open = item;
    if (conform_begin(&k->conform, &k->state, item->version, w) == 0)
        return 0;
    k->open = NULL;
    return -1;
}

void conform_worker_item(struct worker_pool_link *l, uint64_t index, uint32_t step, void *state,
                         void *user)
{
    struct worker *k = state;
    const struct conform_work *work = user;
    const struct conform_job *job = &work->job[index];
    struct sent {
        struct conform_message message;
        char printed[CONFORM_PRINTED];
    } sent = { .message.result = { .end = CONFORM_FAILED, .failures = 1, .n_findings = 1 } };
    struct conform_result *result = &sent.message.result;
    struct why why = { 0 };

    (void) step;
    k->link = l;
    k->progress = &work->progress[index];
    k->progress->begun = clock_steady_ns();
    worker_pool_mark(l, 1);
    snprintf(k->progress->doing, CONFORM_TEXT, "opening the driver");
    if (open_for(k, job->item, &why) < 0)
        text_append(result->finding[0], CONFORM_TEXT, "%s", why.text);
    else {
        k->conform.part = job->part;
        k->conform.n_parts = job->item->n_parts;
        conform_check(&k->conform, job->item->rule, k->progress, result);
    }
    keep_alive(k);
    sent.message.ms = (double) (clock_steady_ns() - k->progress->begun) * 1e-6;
    size_t n = worker_pool_printed(l, sent.printed, sizeof sent.printed);
    worker_pool_send(l, &sent, offsetof(struct sent, printed) + n);
}
