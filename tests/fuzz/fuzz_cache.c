/* Forged compilation caches: the bytes are the cache files, or (bit 0 of the first byte) the graph
 * and the constants in files with valid digests, as an attacker who knows the format would write
 * them.  The driver must return a valid status, call back once, and execute every model that it
 * restores. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sim/device/engine.h"
#include "sim/device/profile.h"
#include "sim/driver/compilation_cache.h"
#include "tests/fuzz/common/fuzz_client.h"

enum { N_MODEL = 2, N_DATA = 1, N_FILES = N_MODEL + N_DATA };
enum { IS_FORGED = 1, MEMORY = 1 << 22 };

static struct hal_driver *driver(struct cache_owner *ret_owner)
{
    static struct hal_driver *d;
    static struct cache_owner owner;
    struct profile *p = NULL;
    struct engine *e = NULL;
    struct why w;

    if (!d) {
        fuzz_must(profile_parse(profile_shipped("cpu"), "cpu", &p, &w) == 0);
        p->memory = MEMORY;
        p->model_cache_files = N_MODEL;
        p->data_cache_files = N_DATA;
        fuzz_must(engine_device(p, NULL, &e, &w) == 0);
        owner = (struct cache_owner){ e->name, e->version, N_MODEL, N_DATA };
        fuzz_must(driver_new(e, &d, &w) == 0);
    }
    *ret_owner = owner;
    return d;
}

/* ---- files: two bytes of length before each, except the last, which gets the remaining bytes */

static size_t take_length(const uint8_t **bytes, size_t *left)
{
    size_t n = *left >= 2 ? (*bytes)[0] | (size_t) (*bytes)[1] << 8 : 0;

    *bytes += *left >= 2 ? 2 : *left;
    *left -= *left >= 2 ? 2 : *left;
    return n < *left ? n : *left;
}

static void fill_files(const int *fd, const uint8_t *bytes, size_t left)
{
    for (int i = 0; i < N_FILES; i++) {
        size_t n = i + 1 < N_FILES ? take_length(&bytes, &left) : left;
        fuzz_must(pwrite(fd[i], bytes, n, 0) == (ssize_t) n);
        bytes += n;
        left -= n;
    }
}

/* Version, two bytes of the graph's length, graph, constants. */
static void forge_files(const struct cache_owner *o, const struct hal_cache *c,
                        const uint8_t *bytes, size_t left)
{
    struct why w;
    enum hal_version version = left ? (enum hal_version) bytes[0] : HAL_1_3;

    bytes += left > 0;
    left -= left > 0;
    size_t n = take_length(&bytes, &left);
    const struct cache_entry e = { .version = version,
                                   .priority = HAL_PRIORITY_MEDIUM,
                                   .graph = bytes,
                                   .constants = bytes + n,
                                   .n_graph = n,
                                   .n_constants = left - n };
    fuzz_must(cache_write(o, c, &e, &w) == 0);
}

/* ---- restoring and executing */

/* An empty request: valid for few models, but no model may crash on it. */
static void execute(struct hal_prepared_model *p)
{
    const struct hal_execution_config config = { .deadline = HAL_NO_DEADLINE,
                                                 .loop_timeout = 1000000 };
    const struct hal_request request = { 0 };
    struct hal_output_shape shapes[64];
    struct hal_result result = { .shapes = shapes, .capacity = 64 };

    fuzz_must((unsigned) p->methods->execute_synchronously(p, HAL_1_3, &request, &config, &result) <
              HAL_STATUS_COUNT);
}

static void restore(struct hal_driver *d, const struct hal_cache *c)
{
    const struct hal_prepare_config config = { .preference = HAL_FAST_SINGLE_ANSWER,
                                               .priority = HAL_PRIORITY_MEDIUM,
                                               .deadline = HAL_NO_DEADLINE,
                                               .cache = *c };
    struct fuzz_prepared p;

    fuzz_prepared_init(&p);
    enum hal_status launched = d->prepare_model_from_cache(d, HAL_1_3, &config, &p.base);
    fuzz_prepared_check(&p, launched);
    if (!p.model)
        return;
    execute(p.model);
    p.model->methods->release(p.model);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct cache_owner owner;
    struct hal_driver *d = driver(&owner);
    int fd[N_FILES];

    if (!length)
        return 0;
    for (int i = 0; i < N_FILES; i++)
        fuzz_must((fd[i] = memfd_create("fuzz", MFD_CLOEXEC)) >= 0);
    const struct hal_cache c = { N_MODEL, N_DATA, fd, fd + N_MODEL, { 0 } };
    if (bytes[0] & IS_FORGED)
        forge_files(&owner, &c, bytes + 1, length - 1);
    else
        fill_files(fd, bytes + 1, length - 1);
    restore(d, &c);
    for (int i = 0; i < N_FILES; i++)
        close(fd[i]);
    return 0;
}
