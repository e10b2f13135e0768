/* Compilation caches: the driver's file format for prepared models in files that the client owns,
 * and whose contents are not trusted when they are read.
 *
 * The model files hold the model's graph, the data files its constants; a driver with files of one
 * kind stores both there.  Contents are divided evenly among the files of a kind.  Every file
 * begins with a header
 *
 *     magic, format, HAL version, priority
 *     index, number of files, length of the contents, of the graph
 *     digest
 *
 * The digest, the same in all files, is a SHA-256 of the driver's name and version, the client's
 * token, and the headers and contents of all files.  Files that were changed, truncated, extended,
 * swapped between compilations or written by another driver are rejected. */
#ifndef SIM_COMPILATION_CACHE_H
#define SIM_COMPILATION_CACHE_H

#include "golden/base/arena.h"
#include "golden/base/why.h"
#include "sim/hal.h"

/* The driver, and how many files of each kind it requests. */
struct cache_owner {
    const char *name, *version;
    uint32_t n_model, n_data;
};

struct cache_entry {
    enum hal_version version; /* of the entry point that prepared the model */
    enum hal_priority priority;
    const uint8_t *graph, *constants;
    uint64_t n_graph, n_constants; /* bytes */
};

/* Whether c has the numbers of files that the owner requests, and they are not both 0. */
bool cache_has_files(const struct cache_owner *o, const struct hal_cache *c);

/* Replaces the contents of the files, which must be regular and open for reading and writing.
 * After a failure cache_read() rejects them. */
int cache_write(const struct cache_owner *o, const struct hal_cache *c, const struct cache_entry *e,
                struct why *w);

/* Reads every file once, into the arena, and checks it; the entry points into the arena.  A
 * matching digest can be forged: the caller must validate the entry like any model of a client. */
int cache_read(const struct cache_owner *o, const struct hal_cache *c, struct arena *a,
               struct cache_entry *ret_entry, struct why *w);

#endif
