#include "harness/conform/conform_threads.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

struct thread {
    struct conform *conform;
    unsigned index;
    conform_work *work;
    void *user;
    pthread_barrier_t *start;
    const char *failed; /* text of the condition that ended the work; NULL: none */
    pthread_t id;
};

static void work_or_leave(struct thread *t)
{
    sigjmp_buf here;

    if (sigsetjmp(here, 0) == 0) {
        conform_must_return = &here;
        t->work(t->conform, t->index, t->user);
    } else {
        t->failed = conform_must_text;
    }
    conform_must_return = NULL;
}

static void *run(void *user)
{
    struct thread *t = user;

    pthread_barrier_wait(t->start);
    work_or_leave(t);
    return NULL;
}

void conform_in_threads(struct conform *c, unsigned n, conform_work *work, void *user)
{
    struct thread thread[CONFORM_MAX_THREADS];
    const char *failed = NULL;
    pthread_barrier_t start;

    conform_must(n <= CONFORM_MAX_THREADS, "too many threads");
    conform_must(pthread_barrier_init(&start, NULL, n) == 0, "out of memory");
    for (unsigned i = 0; i < n; i++) {
        thread[i] = (struct thread){ c, i, work, user, &start, NULL, 0 };
        if (pthread_create(&thread[i].id, NULL, run, &thread[i]) != 0)
            abort(); /* the threads before it wait for this one */
    }
    for (unsigned i = 0; i < n; i++) {
        pthread_join(thread[i].id, NULL);
        failed = thread[i].failed ? thread[i].failed : failed;
    }
    pthread_barrier_destroy(&start);
    conform_must(!failed, failed);
}

struct hal_prepared_model *conform_thread_prepare(struct conform *c, struct hal_driver *d,
                                                  struct client_prepare_wait *wait,
                                                  const struct hal_model *model)
{
    unsigned calls = wait->calls + 1;
    enum hal_status launched =
        d->prepare_model(d, c->version, model, &client_default_preparation, &wait->base);

    client_prepare_await(wait, calls, 0);
    EXPECT(c, launched == HAL_NONE && wait->status == HAL_NONE && wait->prepared,
           "prepare_model: %s, its callback gets %s %s a prepared model", hal_status_name(launched),
           hal_status_name(wait->status), wait->prepared ? "with" : "without");
    return wait->prepared;
}

bool conform_is_exhausted(enum hal_status s, enum hal_version version)
{
    return s == (version < HAL_1_3 ? HAL_GENERAL_FAILURE : HAL_RESOURCE_EXHAUSTED_TRANSIENT);
}

bool conform_try_again(struct conform_retry *r, enum hal_status s, enum hal_version version)
{
    enum { TURNS = 500, TURN_US = 1000 };
    static atomic_uint ended; /* tries of all threads that had the resources */

    if (!conform_is_exhausted(s, version)) {
        ended++;
        return false;
    }
    if (r->seen != ended)
        *r = (struct conform_retry){ .seen = ended };
    usleep(TURN_US);
    return r->turns++ < TURNS;
}

enum hal_status conform_run_beside(const struct conform_kind *kind, struct hal_prepared_model *p,
                                   enum hal_version version, struct conform_request *r,
                                   const struct hal_execution_config *config)
{
    struct conform_retry retry = { 0 };
    enum hal_status s;

    do
        s = kind->run(p, version, r, config);
    while (conform_try_again(&retry, s, version));
    return s;
}
