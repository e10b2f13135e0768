#include "runtime/execute/burst.h"

#include <stdlib.h>

#include "runtime/base/failure.h"

#define LOG_TAG "BurstBuilder"

/* A memory that the driver may have mapped, or a free entry of the list. */
struct kept_memory {
    struct memory_watcher base;
    struct kept_memory *next;
    struct burst_controller *burst;
    bool is_used;
    uint64_t number; /* of the memory: its identifier */
};

static void controller_init(struct burst_controller *b, const ANeuralNetworksDevice *d,
                            struct hal_prepared_model *p)
{
    static atomic_uint_fast64_t last;

    b->number = atomic_fetch_add(&last, 1) + 1;
    pthread_mutex_init(&b->lock, NULL);
    /* The reference gains nothing from one. */
    if (!p || d->is_reference || d->level < L3 || !p->methods->configure_burst)
        return;
    enum hal_status status = p->methods->configure_burst(p, d->entry, &b->hal);
    if (status == HAL_NONE && b->hal)
        return;
    b->hal = NULL;
    VLOG(EXECUTION, "%s has no burst for the model: executions go the ordinary way", d->name);
}

int burst_create(const ANeuralNetworksCompilation *c, ANeuralNetworksBurst **ret)
{
    REQUIRE_GIVEN(ret);
    *ret = NULL;
    REQUIRE_GIVEN(c);
    PASS(compilation_check_finished(c));
    const uint32_t n_steps = c->plan ? c->plan->partition.n_steps : 1;
    ANeuralNetworksBurst *b = calloc(1, sizeof(*b) + n_steps * sizeof(*b->controller));
    if (!b)
        return FAIL(OUT_OF_MEMORY, "no memory for a burst");
    b->compilation = c;
    b->n_steps = n_steps;
    for (uint32_t i = 0; i < n_steps; i++)
        if (c->plan)
            controller_init(&b->controller[i], c->plan->partition.step[i].device,
                            c->plan->step[i].prepared);
        else
            controller_init(&b->controller[i], c->on, c->prepared);
    *ret = b;
    return ANEURALNETWORKS_NO_ERROR;
}

static void controller_done(struct burst_controller *b)
{
    while (b->kept) {
        struct kept_memory *k = b->kept;
        b->kept = k->next;
        memory_unwatch(&k->base);
        free(k);
    }
    if (b->hal)
        b->hal->methods->release(b->hal);
    pthread_mutex_destroy(&b->lock);
}

void burst_free(ANeuralNetworksBurst *b)
{
    if (!b)
        return;
    for (uint32_t i = 0; i < b->n_steps; i++)
        controller_done(&b->controller[i]);
    free(b);
}

struct burst_controller *burst_of_step(ANeuralNetworksBurst *b, uint32_t step)
{
    return b && b->controller[step].hal ? &b->controller[step] : NULL;
}

static void memory_freed(struct memory_watcher *self, const ANeuralNetworksMemory *m)
{
    struct kept_memory *k = (struct kept_memory *) self;

    k->burst->hal->methods->release_memory(k->burst->hal, (int64_t) m->number);
    pthread_mutex_lock(&k->burst->lock);
    k->is_used = false;
    pthread_mutex_unlock(&k->burst->lock);
}

/* An entry for the memory: *ret_is_known, or to be watched. */
static struct kept_memory *find(struct burst_controller *b, uint64_t number, bool *ret_is_known)
{
    struct kept_memory *unused = NULL;

    *ret_is_known = true;
    for (struct kept_memory *k = b->kept; k; k = k->next) {
        if (k->is_used && k->number == number)
            return k;
        unused = k->is_used ? unused : k;
    }
    *ret_is_known = false;
    if (!unused) {
        unused = calloc(1, sizeof(*unused));
        if (!unused)
            return NULL;
        unused->burst = b;
        unused->base.freed = memory_freed;
        unused->next = b->kept;
        b->kept = unused;
    }
    unused->is_used = true;
    unused->number = number;
    return unused;
}

bool burst_keep(struct burst_controller *b, struct driver_request *q)
{
    if (q->burst == b->number)
        return true;
    for (uint32_t i = 0; i < q->hal.n_pools; i++) {
        bool is_known;
        if (!q->memory[i])
            continue;
        pthread_mutex_lock(&b->lock);
        struct kept_memory *k = find(b, q->memory[i]->number, &is_known);
        pthread_mutex_unlock(&b->lock);
        if (!k)
            return false;
        /* Without the lock, which memory_freed() takes. */
        if (!is_known)
            memory_watch(q->memory[i], &k->base);
    }
    q->burst = b->number;
    return true;
}
