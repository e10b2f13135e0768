/* Compilation caches: what a driver keeps in files of its client, and does not trust when it comes
 * back.
 *
 * The model files hold the model's graph, the data files its constants; where a driver has but one
 * kind, that holds both.  Each kind is divided evenly among its files.  Every file begins with
 *
 *     magic, format, HAL version, priority
 *     index, number of files, length of the contents, of the graph
 *     digest
 *
 * The digest is a SHA-256 of the driver's name and version, the client's token, and the headers and
 * contents of all files, and the same in each: what was changed, cut, appended to, exchanged
 * between compilations or written by another driver does not pass. */
#ifndef SIM_CACHE_H
#define SIM_CACHE_H

#include "golden/base/arena.h"
#include "golden/base/why.h"
#include "sim/hal.h"

/* Whose cache it is, and how many files of each kind that driver asks for. */
struct cache_owner {
    const char *name, *version;
    uint32_t n_model, n_data;
};

struct cache_entry {
    enum hal_version version; /* of the entry point through which the model came */
    enum hal_priority priority;
    const uint8_t *graph, *constants;
    uint64_t n_graph, n_constants;
};

/* Whether the numbers of files are what the owner asks for. */
bool cache_has_files(const struct cache_owner *o, const struct hal_cache *c);

/* The files are ordinary ones, open for reading and writing; whatever they held is replaced. After
 * a failure none of them holds anything that cache_read() would take. */
int cache_write(const struct cache_owner *o, const struct hal_cache *c, const struct cache_entry *e,
                struct why *w);

/* Reads every file once, into the arena, and checks what was read.  The entry is what its owner
 * wrote, unless somebody forged the digest as well: whoever uses it checks it as a client's. */
int cache_read(const struct cache_owner *o, const struct hal_cache *c, struct arena *a,
               struct cache_entry *ret_entry, struct why *w);

#endif
