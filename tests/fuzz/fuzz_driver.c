/* Drivers with hostile clients: a model and a request for it (case.proto), as a service gets them
 * from another process.  Properties: see fuzz_converse(). */
#define _GNU_SOURCE
#include "tests/fuzz/common/fuzz_client.h"

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "sim/hal/hal_convert.h"
#include "sim/wire/wire.h"
#include "tests/fuzz/common/fuzz_case.h"

/* MAX_ELEMENTS: larger models are prepared, but not executed, which would take milliseconds. */
enum { ARENA = 1 << 24, STAGING = 2 * FUZZ_POOL, FILE_SIZE = 4096, MAX_ELEMENTS = 1 << 14 };

/* Opened once: a driver must work after any earlier input. */
static struct hal_driver *driver_of(uint32_t which)
{
    static const char *const names[] = { "cpu", "gpu", "dsp" };
    static struct hal_driver *opened[COUNT(names)];

    which %= COUNT(names);
    if (!opened[which])
        opened[which] = fuzz_open_driver(names[which], 0);
    return opened[which];
}

/* Descriptors that memories may name: a sealed memory file, and one that can shrink. */
static const struct wire_fds *files(void)
{
    static struct wire_fds fds;

    for (; fds.n < 2; fds.n++) {
        int fd = memfd_create("fuzz", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        fuzz_must(fd >= 0 && ftruncate(fd, FILE_SIZE) == 0);
        if (!fds.n)
            fuzz_must(fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0);
        fds.fd[fds.n] = fd;
    }
    return &fds;
}

/* What earlier inputs wrote to files is not read by later ones. */
static void clear_files(void)
{
    static const uint8_t zeros[FILE_SIZE];

    for (uint32_t i = 0; i < files()->n; i++)
        fuzz_must(pwrite(files()->fd[i], zeros, FILE_SIZE, 0) == FILE_SIZE);
}

static void fill_staging(uint8_t *staging, const ProtobufCBinaryData *from)
{
    memset(staging, 1, STAGING);
    for (size_t at = 0; from->len && at < STAGING; at += from->len)
        memcpy(staging + at, from->data, from->len < STAGING - at ? from->len : STAGING - at);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct arena *a = arena_new(ARENA);
    const Fuzz__Case *c = a ? fuzz_case_read(bytes, length, a) : NULL;
    struct wire_staging staging = { a ? arena_alloc_raw(a, STAGING, 1) : NULL, STAGING };
    struct hal_request request;
    struct hal_model model;
    struct why w;

    if (c && staging.address && wire_decode_model(c->model, files(), a, &model, &w) == 0 &&
        wire_decode_request(c->request, files(), &staging, a, &request, &w) == 0) {
        struct hal_prepare_config config = fuzz_prepare_config;
        config.preference = (enum hal_preference) c->preference;
        config.priority = (enum hal_priority) c->priority;
        clear_files();
        fill_staging(staging.address, &c->memory);
        fuzz_converse(a, driver_of(c->device), hal_versions[c->version % HAL_VERSIONS], &model,
                      &config, fuzz_case_elements(c->model) <= MAX_ELEMENTS ? &request : NULL);
    }
    arena_free(a);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t length, size_t max, unsigned seed)
{
    return fuzz_case_mutate(bytes, length, max, seed);
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *a, size_t n_a, const uint8_t *b, size_t n_b,
                                 uint8_t *to, size_t max, unsigned seed)
{
    return fuzz_case_cross(a, n_a, b, n_b, to, max, seed);
}
