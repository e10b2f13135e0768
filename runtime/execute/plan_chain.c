#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/base/failure.h"
#include "runtime/execute/plan_run.h"
#include "sim/base/failure_text.h"
#include "sim/base/fence.h"
#include "sim/client/driver_client.h"
#include "sim/hal/hal_convert.h"

#define LOG_TAG "ExecutionPlan"

/* A step that has been launched.  Its fence stays open while the next one may wait for it. */
struct chain_link {
    const ANeuralNetworksDevice *device;
    struct hal_fenced_info *info;
    int fence;
};

struct plan_chain {
    struct hal_fenced_info base; /* of the whole chain, for its event */
    struct plan_run *run;
    uint32_t n_fds; /* that the first step waits for */
    const int *fds; /* the client's */
    uint32_t n;     /* each step of the plan once at most: loops wait */
    struct chain_link link[];
};

/* ---- ends */

/* The first failure of what was launched; afterwards there are no links.  Waits for each link: the
 * last fence may have failed while steps before it still write to their temporaries. */
static enum hal_status settle(struct plan_chain *c)
{
    enum hal_status first = HAL_NONE;

    for (uint32_t i = 0; i < c->n; i++) {
        struct chain_link *l = &c->link[i];
        struct hal_timing launched, fenced;
        if (l->fence >= 0)
            fence_wait(1, &l->fence, HAL_NO_TIME);
        enum hal_status status = l->info->methods->get_execution_info(l->info, &launched, &fenced);
        if (first == HAL_NONE && status != HAL_NONE) {
            char reason[HAL_TEXT_BYTES] = "";
            first = status;
            failure_text_of(l->device->driver, reason);
            log_write(LOG_ERROR, LOG_TAG, "%s ends a step with %s%s%s", l->device->name,
                      hal_status_name(status), *reason ? ": " : "", reason);
        }
        DRIVER_RELEASE(l->info);
        if (l->fence >= 0)
            close(l->fence);
    }
    c->n = 0;
    return first;
}

static enum hal_status get_info(struct hal_fenced_info *self, struct hal_timing *ret_launched,
                                struct hal_timing *ret_fenced)
{
    *ret_launched = *ret_fenced = (struct hal_timing){ HAL_NO_TIME, HAL_NO_TIME };
    return settle((struct plan_chain *) self);
}

static void release(struct hal_fenced_info *self)
{
    settle((struct plan_chain *) self);
    free(self);
}

struct plan_chain *plan_chain_new(struct plan_run *r, const struct device_launch *l)
{
    static const struct hal_fenced_info_methods methods = { get_info, release };
    const size_t n_steps = r->plan->partition.n_steps;
    struct plan_chain *c = calloc(1, sizeof(*c) + n_steps * sizeof(*c->link));

    if (c) {
        c->base.methods = &methods;
        c->run = r;
        c->n_fds = l->n_fds;
        c->fds = l->fds;
    }
    return c;
}

void plan_chain_end(struct plan_chain *c, struct device_launch *l)
{
    const int last = c->n ? c->link[c->n - 1].fence : HAL_NO_FENCE;

    l->info = NULL;
    l->fence = last < 0 ? HAL_NO_FENCE : fcntl(last, F_DUPFD_CLOEXEC, 0);
    if (last >= 0 && l->fence < 0)
        fence_wait(1, &last, HAL_NO_TIME); /* no descriptor is left: the end has come */
    if (c->n)
        l->info = &c->base;
    else
        free(c);
}

/* ---- steps */

/* What the next step waits for. */
static void find_fences(const struct plan_chain *c, uint32_t *ret_n, const int **ret_fds)
{
    *ret_n = c->n_fds;
    *ret_fds = c->fds;
    if (c->n) {
        *ret_n = c->link[c->n - 1].fence >= 0;
        *ret_fds = &c->link[c->n - 1].fence;
    }
}

int plan_chain_add(struct plan_chain *c, uint32_t step)
{
    struct device_launch l = { .duration = HAL_NO_TIME, .fence = HAL_NO_FENCE };

    VLOG(EXECUTION, "step %u: on %s, with fences", step,
         c->run->plan->partition.step[step].device->name);
    find_fences(c, &l.n_fds, &l.fds);
    PASS(plan_step_launch(c->run, step, &l));
    c->link[c->n++] =
        (struct chain_link){ c->run->plan->partition.step[step].device, l.info, l.fence };
    c->n_fds = 0;
    return ANEURALNETWORKS_NO_ERROR;
}

int plan_chain_wait(struct plan_chain *c)
{
    const int *fds;
    uint32_t n;

    find_fences(c, &n, &fds);
    const bool is_clients = !c->n;
    const bool is_signalled = fence_wait(n, fds, HAL_NO_TIME) == 1;
    const enum hal_status status = settle(c);
    c->n_fds = 0;
    if (status != HAL_NONE)
        return result_of_status(status);
    if (is_signalled)
        return ANEURALNETWORKS_NO_ERROR;
    c->run->is_final = is_clients;
    return FAIL(OP_FAILED, "a fence that a step depends on reports an error");
}
