#include "runtime/compile/caching.h"

#include <errno.h>
#include <fcntl.h>
#include <sha2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "runtime/base/failure.h"

#define LOG_TAG "ExecutionPlan"

/* ---- tokens */

static const char *extension_of(const struct hal_token_value *v)
{
    return extension_of_prefix((uint16_t) ((uint32_t) v->token >> 16));
}

static uint16_t code_of(const struct hal_token_value *v)
{
    return (uint16_t) v->token;
}

static int by_name_and_code(const void *a, const void *b)
{
    const struct hal_token_value *x = a, *y = b;
    int order = strcmp(extension_of(x), extension_of(y));

    return order ? order : (int) code_of(x) - (int) code_of(y);
}

static bool is_known(const char *extension)
{
    const struct device_list *all = devices();

    for (uint32_t i = 0; i < all->n; i++)
        if (device_has_extension(all->device[i], extension))
            return true;
    return false;
}

/* Adds the attributes, which may have been added in any order. */
static bool add_attributes(SHA2_CTX *c, const struct attributes *a)
{
    struct hal_token_value *sorted;

    if (!a || !a->n)
        return true;
    for (uint32_t i = 0; i < a->n; i++)
        if (!is_known(extension_of(&a->value[i]))) {
            VLOG(COMPILATION, "not cached: no device knows the extension %s of an attribute",
                 extension_of(&a->value[i]));
            return false;
        }
    sorted = malloc(a->n * sizeof(*sorted));
    if (!sorted)
        return false;
    memcpy(sorted, a->value, a->n * sizeof(*sorted));
    qsort(sorted, a->n, sizeof(*sorted), by_name_and_code);
    for (uint32_t i = 0; i < a->n; i++) {
        const uint16_t code = code_of(&sorted[i]);
        SHA256Update(c, (const uint8_t *) extension_of(&sorted[i]),
                     strlen(extension_of(&sorted[i])));
        SHA256Update(c, (const uint8_t *) &code, sizeof(code));
        SHA256Update(c, sorted[i].value, sorted[i].length);
    }
    free(sorted);
    return true;
}

bool cache_token(const ANeuralNetworksDevice *d, const struct preparation *how,
                 uint8_t ret_token[HAL_TOKEN_BYTES])
{
    const struct cache_place *place = &how->cache;
    SHA2_CTX c;

    if (!place->token || !(d->n_model_cache || d->n_data_cache))
        return false;
    SHA256Init(&c);
    SHA256Update(&c, place->token, ANEURALNETWORKS_BYTE_SIZE_OF_CACHE_TOKEN);
    if (place->part_length)
        SHA256Update(&c, place->part, place->part_length);
    SHA256Update(&c, (const uint8_t *) d->name, strlen(d->name));
    SHA256Update(&c, (const uint8_t *) d->version, strlen(d->version));
    SHA256Update(&c, (const uint8_t *) &how->preference, sizeof(how->preference));
    SHA256Update(&c, (const uint8_t *) &how->priority, sizeof(how->priority));
    if (!add_attributes(&c, how->attributes))
        return false;
    SHA256Final(ret_token, &c);
    return true;
}

/* ---- files */

/* The token as letters, the lower half of each byte first; then '1' or '2', and the number. */
static char *path_of(const char *folder, const uint8_t token[HAL_TOKEN_BYTES], bool is_data,
                     uint32_t number)
{
    const size_t size = strlen(folder) + 2 * (size_t) HAL_TOKEN_BYTES + 16;
    char *path = malloc(size), *to = path;

    if (!path)
        return NULL;
    to = stpcpy(to, folder);
    for (int i = 0; i < HAL_TOKEN_BYTES; i++) {
        *to++ = (char) ('A' + (token[i] & 15));
        *to++ = (char) ('A' + (token[i] >> 4));
    }
    snprintf(to, size - (size_t) (to - path), "%c%u", is_data ? '2' : '1', number);
    return path;
}

static int open_file(const char *folder, const uint8_t token[HAL_TOKEN_BYTES], bool is_data,
                     uint32_t number, bool create)
{
    char *path = path_of(folder, token, is_data, number);
    int fd = path ? open(path, O_RDWR | O_CLOEXEC | (create ? O_CREAT : 0), 0600) : -1;

    if (fd < 0 && create)
        log_write(LOG_WARNING, LOG_TAG, "not cached: %s: %s", path ? path : folder,
                  strerror(path ? errno : ENOMEM));
    free(path);
    return fd;
}

static bool open_folder(const ANeuralNetworksDevice *d, const char *folder,
                        const uint8_t token[HAL_TOKEN_BYTES], bool create, struct cache_files *ret)
{
    for (uint32_t n = 0; n < d->n_model_cache + d->n_data_cache; n++) {
        const bool is_data = n >= d->n_model_cache;
        ret->fd[n] = open_file(folder, token, is_data, is_data ? n - d->n_model_cache : n, create);
        if (ret->fd[n] < 0) {
            cache_files_close(ret);
            return false;
        }
        ++*(is_data ? &ret->n_data : &ret->n_model);
    }
    return true;
}

static bool open_given(const ANeuralNetworksDevice *d, const struct cache_files *given, bool create,
                       struct cache_files *ret)
{
    if (given->n_model != d->n_model_cache || given->n_data != d->n_data_cache) {
        if (create)
            log_write(LOG_WARNING, LOG_TAG,
                      "not cached: %u model and %u data files are given, %s needs %u and %u",
                      given->n_model, given->n_data, d->name, d->n_model_cache, d->n_data_cache);
        return false;
    }
    if (!cache_files_copy(given, ret)) {
        if (create)
            log_write(LOG_WARNING, LOG_TAG, "not cached: a descriptor: %s", strerror(errno));
        return false;
    }
    for (uint32_t i = 0; i < ret->n_model + ret->n_data; i++)
        lseek(ret->fd[i], 0, SEEK_SET);
    return true;
}

bool cache_files_open(const ANeuralNetworksDevice *d, const struct cache_place *place,
                      const uint8_t token[HAL_TOKEN_BYTES], bool create, struct cache_files *ret,
                      struct hal_cache *ret_cache)
{
    ret->n_model = ret->n_data = 0;
    if (!(place->folder ? open_folder(d, place->folder, token, create, ret)
                        : open_given(d, place->given, create, ret)))
        return false;
    ret_cache->n_model = ret->n_model;
    ret_cache->n_data = ret->n_data;
    ret_cache->model = ret->fd;
    ret_cache->data = ret->fd + ret->n_model;
    return true;
}

bool cache_files_copy(const struct cache_files *f, struct cache_files *ret)
{
    struct cache_files copy = { .n_model = 0 };

    if (f->n_model > HAL_MAX_CACHE_FILES || f->n_data > HAL_MAX_CACHE_FILES) {
        errno = E2BIG;
        return false;
    }
    for (uint32_t n = 0; n < f->n_model + f->n_data; n++) {
        copy.fd[n] = fcntl(f->fd[n], F_DUPFD_CLOEXEC, 0);
        if (copy.fd[n] < 0) {
            int error = errno;
            cache_files_close(&copy);
            errno = error;
            return false;
        }
        copy.n_model++; /* as cache_files_close() counts */
    }
    copy.n_model = f->n_model;
    copy.n_data = f->n_data;
    *ret = copy;
    return true;
}

void cache_files_close(struct cache_files *f)
{
    for (uint32_t i = 0; i < f->n_model + f->n_data; i++)
        close(f->fd[i]);
    f->n_model = f->n_data = 0;
}
