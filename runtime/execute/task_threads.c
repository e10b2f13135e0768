#include "runtime/execute/task_threads.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

enum { IDLE_SECONDS = 5 };

struct task {
    struct task *next;
    void (*run)(void *argument);
    void *argument;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t added = PTHREAD_COND_INITIALIZER;
static struct task *first, **end = &first;
static unsigned n_tasks, n_idle; /* tasks that no thread has taken; threads that wait for one */

/* Waits for a task; NULL: none came in time.  The lock is held. */
static struct task *take(void)
{
    struct timespec until;
    int rc = 0;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += IDLE_SECONDS;
    n_idle++;
    while (!first && rc != ETIMEDOUT)
        rc = pthread_cond_timedwait(&added, &lock, &until);
    n_idle--;
    struct task *t = first;
    if (!t)
        return NULL;
    first = t->next;
    if (!first)
        end = &first;
    n_tasks--;
    return t;
}

static void *serve(void *unused)
{
    (void) unused;
    pthread_mutex_lock(&lock);
    for (struct task *t = take(); t; t = take()) {
        pthread_mutex_unlock(&lock);
        t->run(t->argument);
        free(t);
        pthread_mutex_lock(&lock);
    }
    pthread_mutex_unlock(&lock);
    return NULL;
}

/* Signals are for the client's threads. */
static bool start_thread(void)
{
    sigset_t all, before;
    pthread_attr_t detached;
    pthread_t thread;

    sigfillset(&all);
    pthread_attr_init(&detached);
    pthread_attr_setdetachstate(&detached, PTHREAD_CREATE_DETACHED);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int rc = pthread_create(&thread, &detached, serve, NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&detached);
    return rc == 0;
}

bool task_start(void (*run)(void *argument), void *argument)
{
    struct task *t = malloc(sizeof(*t));

    if (!t)
        return false;
    *t = (struct task){ NULL, run, argument };
    pthread_mutex_lock(&lock);
    bool ok = n_idle > n_tasks || start_thread();
    if (ok) {
        *end = t;
        end = &t->next;
        n_tasks++;
        pthread_cond_signal(&added);
    }
    pthread_mutex_unlock(&lock);
    if (!ok)
        free(t);
    return ok;
}
