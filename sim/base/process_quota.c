#include "sim/base/process_quota.h"

#include <sys/resource.h>
#include <unistd.h>

#include "sim/base/memory.h"

/* RESERVE: descriptors for the process itself, and for messages that are being received.  Limits of
 * one client: threads and objects. */
enum { RESERVE = 64, MOST_THREADS = 512, MOST_OBJECTS = 1 << 14 };

static struct accounts shares = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* Raises the limit of descriptors to the hard limit; returns how many clients may use. */
static uint64_t raise_descriptor_limit(void)
{
    struct rlimit files;

    if (getrlimit(RLIMIT_NOFILE, &files) < 0)
        return RESERVE;
    struct rlimit all = { files.rlim_max, files.rlim_max };
    if (setrlimit(RLIMIT_NOFILE, &all) == 0)
        files.rlim_cur = files.rlim_max;
    return files.rlim_cur > 2 * RESERVE ? files.rlim_cur - RESERVE : RESERVE;
}

void share_limit(enum account_kind kind, uint64_t total)
{
    pthread_mutex_lock(&shares.lock);
    if (!shares.total[kind] || total < shares.total[kind])
        shares.total[kind] = total;
    pthread_mutex_unlock(&shares.lock);
}

void shares_begin(uint64_t most_message_bytes)
{
    share_limit(ACCOUNT_FILES, raise_descriptor_limit());
    share_limit(ACCOUNT_MAPPINGS, MEMORY_MOST_MAPPED);
    share_limit(ACCOUNT_MESSAGES,
                (uint64_t) sysconf(_SC_PHYS_PAGES) * (uint64_t) sysconf(_SC_PAGESIZE));
    pthread_mutex_lock(&shares.lock);
    shares.limits.most[ACCOUNT_MESSAGES] = most_message_bytes;
    shares.limits.most[ACCOUNT_THREADS] = MOST_THREADS;
    shares.limits.most[ACCOUNT_OBJECTS] = MOST_OBJECTS;
    pthread_mutex_unlock(&shares.lock);
}

bool share_take(enum account_kind kind, uint32_t client, uint64_t n)
{
    return client == 0 || account_take(&shares, client, kind, n) == HAL_NONE;
}

void share_give(enum account_kind kind, uint32_t client, uint64_t n)
{
    if (client != 0)
        account_give(&shares, client, kind, n);
}
