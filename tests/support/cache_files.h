/* Cache files of a client of the HAL, for tests, and what may be done to them. */
#ifndef TESTS_CACHE_FILES_H
#define TESTS_CACHE_FILES_H

#include <sys/types.h>

#include "sim/hal.h"

enum { MAX_FILES = 8 }; /* of each kind */

struct files {
    uint32_t n_model, n_data;
    int model[MAX_FILES], data[MAX_FILES];
    uint8_t token[HAL_TOKEN_BYTES];
};

/* Opens empty ones, one more of each kind than these numbers, which are passed on. */
void files_init(struct files *f, uint32_t n_model, uint32_t n_data);
void files_done(struct files *f);
struct hal_prepare_config files_config(const struct files *f);

/* Model files first, then data files. */
int *files_any(struct files *f, uint32_t k);

/* In place of the descriptor: the same file, opened again. */
void files_reopen(int *fd, int flags);
off_t files_length(int fd);
/* Turns one bit of the byte there. */
void files_flip(int fd, off_t at);
void files_copy(int from, int to);

#endif
