#define _GNU_SOURCE
#include "runtime/execute/event.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/failure.h"
#include "runtime/execute/on_driver.h"
#include "sim/base/failure_text.h"
#include "sim/base/fence.h"
#include "sim/client/driver_client.h"

#define LOG_TAG "Event"

ANeuralNetworksEvent *event_new(void)
{
    ANeuralNetworksEvent *ev = calloc(1, sizeof(*ev));

    if (!ev)
        return NULL;
    ev->references = 1;
    ev->fence = -1;
    pthread_mutex_init(&ev->lock, NULL);
    pthread_cond_init(&ev->done, NULL);
    return ev;
}

void event_unref(ANeuralNetworksEvent *ev)
{
    if (atomic_fetch_sub(&ev->references, 1) != 1)
        return;
    if (ev->fence >= 0)
        close(ev->fence);
    pthread_cond_destroy(&ev->done);
    pthread_mutex_destroy(&ev->lock);
    free(ev);
}

/* The lock is held. */
static void complete(ANeuralNetworksEvent *ev, int result)
{
    ev->result = result;
    ev->is_done = true;
    pthread_cond_broadcast(&ev->done);
}

void event_complete(ANeuralNetworksEvent *ev, int result)
{
    pthread_mutex_lock(&ev->lock);
    complete(ev, result);
    pthread_mutex_unlock(&ev->lock);
}

/* ---- fences */

/* The status of a fenced execution whose fence has signalled, or failed. */
static int read_info(ANeuralNetworksEvent *ev, bool is_signalled, struct durations *ret_durations)
{
    const ANeuralNetworksExecution *e = ev->execution;
    const ANeuralNetworksDevice *d = e->compilation->on; /* NULL: of a plan, which logs itself */
    struct hal_timing launched = { HAL_NO_TIME, HAL_NO_TIME }, fenced = launched;
    char reason[HAL_TEXT_BYTES] = "";
    enum hal_status status = ev->info->methods->get_execution_info(ev->info, &launched, &fenced);

    if (status != HAL_NONE && d)
        failure_text_of(d->driver, reason);
    DRIVER_RELEASE(ev->info);
    ev->info = NULL;
    if (e->is_measured && status == HAL_NONE)
        *ret_durations = (struct durations){ { launched.on_device, launched.in_driver,
                                               fenced.on_device, fenced.in_driver } };
    if (status == HAL_NONE && !is_signalled)
        return FAIL(OP_FAILED, "the fence of %s reports an error", d ? d->name : "a plan");
    return d ? result_of_call(d, status, reason) : result_of_status(status);
}

/* The lock is held. */
static void settle(ANeuralNetworksEvent *ev, bool is_signalled)
{
    struct durations durations = unknown_durations;
    int result;

    if (!ev->info) {
        complete(ev, is_signalled ? ANEURALNETWORKS_NO_ERROR
                                  : FAIL(OP_FAILED, "the fence reports an error"));
        return;
    }
    result = read_info(ev, is_signalled, &durations);
    execution_end(ev->execution, result, NULL, &durations);
    execution_unref(ev->execution);
    ev->execution = NULL;
    complete(ev, result);
}

/* Whether its fence decides when it is done, not another thread. */
static bool is_of_fence(const ANeuralNetworksEvent *ev)
{
    return ev->fence >= 0 || ev->info;
}

static int wait_for(ANeuralNetworksEvent *ev)
{
    pthread_mutex_lock(&ev->lock);
    if (!ev->is_done && is_of_fence(ev)) {
        /* Several threads may wait: for the fence without the lock. */
        pthread_mutex_unlock(&ev->lock);
        bool is_signalled = ev->fence < 0 || fence_wait(1, &ev->fence, HAL_NO_TIME) == 1;
        pthread_mutex_lock(&ev->lock);
        if (!ev->is_done)
            settle(ev, is_signalled);
    }
    while (!ev->is_done)
        pthread_cond_wait(&ev->done, &ev->lock);
    int result = ev->result;
    pthread_mutex_unlock(&ev->lock);
    return result;
}

/* ---- the API */

int event_wait(ANeuralNetworksEvent *ev)
{
    REQUIRE_GIVEN(ev);
    int result = wait_for(ev);
    if (result != ANEURALNETWORKS_NO_ERROR)
        return fail_with(LOG_TAG, result, "the execution has failed");
    return result;
}

void event_free(ANeuralNetworksEvent *ev)
{
    if (!ev)
        return;
    /* Nothing depends on a fence of the client. */
    if (ev->fence < 0 || ev->execution)
        wait_for(ev);
    event_unref(ev);
}

int event_of_fence(int fd, ANeuralNetworksEvent **ret)
{
    REQUIRE_GIVEN(ret);
    *ret = NULL;
    if (fd <= 0)
        return FAIL(BAD_DATA, "descriptor %d", fd);
    ANeuralNetworksEvent *ev = event_new();
    if (!ev)
        return FAIL(OUT_OF_MEMORY, "no memory for an event");
    ev->fence = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (ev->fence < 0) {
        event_unref(ev);
        return FAIL(OP_FAILED, "descriptor %d: %s", fd, strerror(errno));
    }
    *ret = ev;
    return ANEURALNETWORKS_NO_ERROR;
}

int event_fence(const ANeuralNetworksEvent *ev, int *ret_fd)
{
    REQUIRE_GIVEN(ret_fd);
    *ret_fd = -1;
    REQUIRE_GIVEN(ev);
    if (ev->fence < 0)
        return FAIL(BAD_DATA, "the event has no fence");
    *ret_fd = fcntl(ev->fence, F_DUPFD_CLOEXEC, 0);
    if (*ret_fd < 0)
        return FAIL(OP_FAILED, "fence %d: %s", ev->fence, strerror(errno));
    return ANEURALNETWORKS_NO_ERROR;
}
