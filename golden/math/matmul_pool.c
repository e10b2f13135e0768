/* Thread pools, and the choice of the kernel's instance. */
#include <pthreadpool.h>
#include <stdatomic.h>

#include "golden/math/matmul_internal.h"

/* Fewer products than this take less time than waking up other threads. */
enum { MIN_PARALLEL = 1 << 17 };

struct matmul_pool *matmul_pool_new(size_t threads)
{
    return (struct matmul_pool *) pthreadpool_create(threads);
}

void matmul_pool_free(struct matmul_pool *p)
{
    if (p)
        pthreadpool_destroy((pthreadpool_t) p);
}

struct chunks {
    const struct matmul_jobs *jobs;
    size_t count; /* chunks of lines */
};

static void run_chunk(void *context, size_t part, size_t chunk)
{
    const struct chunks *c = context;
    size_t lines = c->jobs->lines;
    c->jobs->job(c->jobs->context, part, lines * chunk / c->count, lines * (chunk + 1) / c->count);
}

/* Twice as many jobs as threads, so that one slow thread does not delay the others. */
void matmul_run_jobs(const struct matmul_jobs *s, struct matmul_pool *pool)
{
    pthreadpool_t threads = (pthreadpool_t) pool;
    size_t jobs = 2 * pthreadpool_get_threads_count(threads);
    struct chunks c = { .jobs = s, .count = 1 };
    if (!pool || s->products < MIN_PARALLEL) {
        for (size_t part = 0; part < s->parts; part++)
            s->job(s->context, part, 0, s->lines);
        return;
    }
    if (s->parts < jobs)
        c.count = (jobs + s->parts - 1) / s->parts;
    if (c.count > s->lines)
        c.count = s->lines;
    pthreadpool_parallelize_2d(threads, run_chunk, &c, s->parts, c.count, 0);
}

size_t matmul_slots(struct matmul_pool *pool)
{
    return pool ? pthreadpool_get_threads_count((pthreadpool_t) pool) : 1;
}

struct each {
    void (*job)(const void *context, size_t slot, size_t i);
    const void *context;
    size_t n;
    atomic_size_t next;
};

static void run_slot(void *context, size_t slot)
{
    struct each *e = context;
    for (size_t i; (i = atomic_fetch_add(&e->next, 1)) < e->n;)
        e->job(e->context, slot, i);
}

void matmul_each(void (*job)(const void *context, size_t slot, size_t i), const void *context,
                 size_t n, struct matmul_pool *pool)
{
    struct each e = { .job = job, .context = context, .n = n };
    if (matmul_slots(pool) > 1 && n > 1)
        pthreadpool_parallelize_1d((pthreadpool_t) pool, run_slot, &e, matmul_slots(pool), 0);
    else
        run_slot(&e, 0);
}

static _Atomic(const struct matmul_kernel *) chosen;

#ifdef HAVE_MATMUL_AVX2
static bool have_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#else
static bool have_avx2(void)
{
    return false;
}
#endif

bool matmul_use(enum matmul_isa isa)
{
    const struct matmul_kernel *k = &matmul_kernel_base;
    if (isa == MATMUL_AVX2 && !have_avx2())
        return false;
#ifdef HAVE_MATMUL_AVX2
    if (isa != MATMUL_BASE && have_avx2())
        k = &matmul_kernel_avx2;
#endif
    atomic_store_explicit(&chosen, k, memory_order_relaxed);
    return true;
}

const struct matmul_kernel *matmul_kernel(void)
{
    const struct matmul_kernel *k = atomic_load_explicit(&chosen, memory_order_relaxed);
    if (!k) {
        matmul_use(MATMUL_BEST);
        k = atomic_load_explicit(&chosen, memory_order_relaxed);
    }
    return k;
}
