#include "sim/base/process_quota.h"

#include <sys/resource.h>
#include <unistd.h>

#include "sim/base/memory.h"

/* RESERVE: descriptors for the process itself, and for messages that are being received.  Limits of
 * one client: threads and objects. */
enum { RESERVE = 64, MOST_THREADS = 512, MOST_OBJECTS = 1 << 14 };

static struct client_quotas quotas = { .lock = PTHREAD_MUTEX_INITIALIZER };

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

void process_quota_limit(enum quota_kind kind, uint64_t total)
{
    pthread_mutex_lock(&quotas.lock);
    if (!quotas.total[kind] || total < quotas.total[kind])
        quotas.total[kind] = total;
    pthread_mutex_unlock(&quotas.lock);
}

void process_quotas_enable(uint64_t most_message_bytes)
{
    process_quota_limit(QUOTA_FILES, raise_descriptor_limit());
    process_quota_limit(QUOTA_MAPPINGS, MEMORY_MAX_MAPPED);
    process_quota_limit(QUOTA_MESSAGES,
                        (uint64_t) sysconf(_SC_PHYS_PAGES) * (uint64_t) sysconf(_SC_PAGESIZE));
    pthread_mutex_lock(&quotas.lock);
    quotas.limits.most[QUOTA_MESSAGES] = most_message_bytes;
    quotas.limits.most[QUOTA_THREADS] = MOST_THREADS;
    quotas.limits.most[QUOTA_OBJECTS] = MOST_OBJECTS;
    pthread_mutex_unlock(&quotas.lock);
}

bool process_quota_charge(enum quota_kind kind, uint32_t client, uint64_t n)
{
    return client == 0 || client_quota_charge(&quotas, client, kind, n) == HAL_NONE;
}

void process_quota_release(enum quota_kind kind, uint32_t client, uint64_t n)
{
    if (client != 0)
        client_quota_release(&quotas, client, kind, n);
}
