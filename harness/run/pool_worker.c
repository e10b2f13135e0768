/* The worker's end of the worker pool, and running all items in process instead. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden/base/clock.h"
#include "harness/run/worker_pool_internal.h"

void worker_pool_mark(struct worker_pool_link *l, uint32_t mark)
{
    atomic_store(&l->slot->since, clock_steady_ns());
    atomic_store(&l->slot->allowed, 0);
    atomic_store(&l->slot->mark, mark);
    atomic_store(&l->slot->step, 0);
}

void worker_pool_keep_alive(struct worker_pool_link *l)
{
    atomic_store(&l->slot->since, clock_steady_ns());
}

void worker_pool_allow(struct worker_pool_link *l, uint64_t ns)
{
    atomic_store(&l->slot->allowed, ns);
}

_Atomic uint32_t *worker_pool_step(struct worker_pool_link *l)
{
    return &l->slot->step;
}

/* A worker without a parent has nothing left to do. */
static void write_all(int fd, const void *bytes, size_t length)
{
    for (const char *at = bytes; length;) {
        ssize_t n = write(fd, at, length);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            _exit(0);
        at += n;
        length -= (size_t) n;
    }
}

static void send_frame(struct worker_pool_link *l, uint32_t kind, const void *bytes, size_t length)
{
    struct worker_pool_frame frame = { kind, (uint32_t) length };
    write_all(l->fd, &frame, sizeof frame);
    write_all(l->fd, bytes, length);
    atomic_store(&l->slot->since, clock_steady_ns());
}

void worker_pool_send(struct worker_pool_link *l, const void *bytes, size_t length)
{
    if (length > FRAME_LIMIT)
        length = 0;
    if (l->fd >= 0)
        send_frame(l, FRAME_MESSAGE, bytes, length);
    else if (!l->failed)
        l->failed = l->work->message(l->item, bytes, length, l->user, &l->why);
}

size_t worker_pool_read_end(int file, char *text, size_t size)
{
    off_t end = file >= 0 ? lseek(file, 0, SEEK_END) : 0;
    off_t from = end > (off_t) size - 1 ? end - (off_t) size + 1 : 0;
    ssize_t n = end > 0 ? pread(file, text, size - 1, from) : 0;
    text[n > 0 ? n : 0] = 0;
    return n > 0 ? (size_t) n : 0;
}

size_t worker_pool_printed(const struct worker_pool_link *l, char *text, size_t size)
{
    fflush(stdout);
    fflush(stderr);
    return worker_pool_read_end(l->prints, text, size);
}

static bool read_job(int fd, struct worker_pool_job *ret_job)
{
    char *at = (char *) ret_job;
    for (size_t left = sizeof *ret_job; left;) {
        ssize_t n = read(fd, at, left);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return false;
        at += n;
        left -= (size_t) n;
    }
    return true;
}

/* What was printed for the items before is of no use when this one kills. */
static void forget_prints(const struct worker_pool_link *l)
{
    if (l->prints >= 0 && lseek(l->prints, 0, SEEK_END) > 0 && ftruncate(l->prints, 0) < 0)
        _exit(1);
}

void worker_pool_worker(struct worker_pool_link *l, const struct worker_pool_work *work, void *user)
{
    void *state = NULL;
    struct why why = { 0 };
    if (work->start && work->start(user, &state, &why) < 0) {
        send_frame(l, FRAME_START_FAILED, why.text, strlen(why.text));
        _exit(0);
    }
    send_frame(l, FRAME_STARTED, NULL, 0);
    for (struct worker_pool_job job; read_job(l->fd, &job);) {
        for (; job.item < job.end; job.item++, job.step = 0) {
            worker_pool_mark(l, 0);
            forget_prints(l);
            work->item(l, job.item, job.step, state, user);
            send_frame(l, FRAME_COMPLETE, NULL, 0);
        }
    }
    if (work->end)
        work->end(l, state, user);
    _exit(0);
}

static int run_items(struct worker_pool_link *l, const struct worker_pool_options *options,
                     uint64_t n_items, void *state, struct why *w)
{
    for (l->item = 0; l->item < n_items; l->item++) {
        if (options->stop && *options->stop)
            return 1;
        if (l->work->enough && l->work->enough(l->user))
            return 2;
        l->work->item(l, l->item, 0, state, l->user);
        if (l->failed) {
            *w = l->why;
            return -1;
        }
        if (l->work->complete(l->item, l->user, w) != 0)
            return -1;
        if (l->work->tick)
            TRY(l->work->tick(l->user, w));
    }
    return 0;
}

int worker_pool_run_in_process(const struct worker_pool_options *options,
                               const struct worker_pool_work *work, uint64_t n_items, void *user,
                               struct why *w)
{
    struct worker_pool_slot slot = { 0 };
    struct worker_pool_link link = {
        .fd = -1, .slot = &slot, .prints = -1, .work = work, .user = user
    };
    void *state = NULL;
    if (work->start)
        TRY(work->start(user, &state, w));
    int r = run_items(&link, options, n_items, state, w);
    link.item = WORKER_POOL_NO_ITEM;
    if (work->end)
        work->end(&link, state, user);
    if (r >= 0 && link.failed) {
        *w = link.why;
        return -1;
    }
    return r;
}
