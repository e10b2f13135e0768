/* The cache files that a client of the HAL passes to prepare_model() and
 * prepare_model_from_cache(), as memory files, and functions that change them.  Every function
 * fails the test if a system call fails. */
#ifndef HARNESS_CACHE_FILES_H
#define HARNESS_CACHE_FILES_H

#include <sys/types.h>

#include "sim/hal.h"

enum { MAX_FILES = 8 }; /* of each kind */

struct files {
    uint32_t n_model, n_data;              /* the numbers that files_config() passes */
    int model[MAX_FILES], data[MAX_FILES]; /* owned descriptors, -1: none */
    uint8_t token[HAL_TOKEN_BYTES];
};

/* Opens n_model + 1 and n_data + 1 empty files (one spare of each kind, for tests that pass a wrong
 * number) and sets the token.  Both numbers are below MAX_FILES. */
void files_init(struct files *f, uint32_t n_model, uint32_t n_data);
/* Closes all files. */
void files_done(struct files *f);
/* Preparation with these files and this token; points into f. */
struct hal_prepare_config files_config(const struct files *f);

/* The descriptor of file k: model files first, then data files. */
int *files_any(struct files *f, uint32_t k);

/* Replaces the descriptor by a new one of the same file, opened with these flags of open(). */
void files_reopen(int *fd, int flags);
/* Length in bytes. */
off_t files_length(int fd);
/* Inverts one bit of the byte at this offset. */
void files_flip(int fd, off_t at);
/* Replaces the contents of `to` by those of `from`, which has less than 64 KB. */
void files_copy(int from, int to);

#endif
