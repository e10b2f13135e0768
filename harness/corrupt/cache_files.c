#include "harness/corrupt/cache_files.h"
#include "harness/conform/must.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

void files_init(struct files *f, uint32_t n_model, uint32_t n_data)
{
    *f = (struct files){ .n_model = n_model, .n_data = n_data };
    MUST(n_model < MAX_FILES && n_data < MAX_FILES);
    for (uint32_t i = 0; i < MAX_FILES; i++) {
        f->model[i] = i <= n_model ? memfd_create("model cache", MFD_CLOEXEC) : -1;
        f->data[i] = i <= n_data ? memfd_create("data cache", MFD_CLOEXEC) : -1;
    }
    for (int i = 0; i < HAL_TOKEN_BYTES; i++)
        f->token[i] = (uint8_t) (7 * i);
}

void files_done(struct files *f)
{
    for (int i = 0; i < MAX_FILES; i++) {
        close(f->model[i]);
        close(f->data[i]);
    }
}

struct hal_prepare_config files_config(const struct files *f)
{
    struct hal_prepare_config c = { .preference = HAL_FAST_SINGLE_ANSWER,
                                    .priority = HAL_PRIORITY_MEDIUM,
                                    .deadline = HAL_NO_DEADLINE,
                                    .cache = { f->n_model, f->n_data, f->model, f->data, { 0 } } };

    memcpy(c.cache.token, f->token, sizeof f->token);
    return c;
}

int *files_any(struct files *f, uint32_t k)
{
    return k < f->n_model ? &f->model[k] : &f->data[k - f->n_model];
}

void files_reopen(int *fd, int flags)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/self/fd/%d", *fd);
    int again = open(path, flags | O_CLOEXEC);
    MUST(again >= 0);
    close(*fd);
    *fd = again;
}

off_t files_length(int fd)
{
    struct stat st;

    MUST(fstat(fd, &st) == 0);
    return st.st_size;
}

void files_flip(int fd, off_t at)
{
    uint8_t byte = 0;

    MUST(pread(fd, &byte, 1, at) == 1);
    byte ^= (uint8_t) (1 << at % 8);
    MUST(pwrite(fd, &byte, 1, at) == 1);
}

void files_copy(int from, int to)
{
    static char bytes[1 << 16];
    ssize_t n = pread(from, bytes, sizeof bytes, 0);

    MUST(n >= 0 && n < (ssize_t) sizeof bytes);
    (void) !ftruncate(to, 0);
    MUST(pwrite(to, bytes, (size_t) n, 0) == n);
}
