/* The cases of a campaign: examples of files, loaded before any worker exists so that all share
 * them, or random graphs, made where they are needed. */
#ifndef HARNESS_CASES_H
#define HARNESS_CASES_H

#include "golden/golden.h"
#include "randgraph/randgraph.h"

struct spec_case {
    struct example example;
    const char *file;
};

struct cases {
    uint64_t n;
    struct spec_case *spec; /* NULL: random */
    struct arena *arena;
    size_t capacity;
    unsigned threads; /* that files are loaded with; 0: this one */
    struct randgraph_options graphs;
    uint64_t seed, first; /* case i is graph first + i */
};

enum { CASE_NAME = 1024 }; /* folder, file and example have up to 255 bytes each */

struct cases cases_random(const struct randgraph_options *graphs, uint64_t seed, uint64_t first,
                          uint64_t n);

/* Adds the examples of a file, or of all specs in and below a folder, sorted by path.  glob: only
 * cases of this name (NULL: all), with or without "spec/" before it. */
int cases_load(struct cases *c, const char *path, const char *glob, struct why *w);
/* That the models of files are legal NNAPI, as far as the catalogue knows their operations: what is
 * not is the file's fault, not a target's. */
int cases_validate(const struct cases *c, struct why *w);
void cases_done(struct cases *c);

/* "random/s7/i123", "spec/V1_2/add_v1_2/add_v1_2_2" */
void cases_name(const struct cases *c, uint64_t i, char name[CASE_NAME]);
const char *cases_file(const struct cases *c, uint64_t i); /* NULL: random */

/* The example, in place or made in arena. */
int cases_make(const struct cases *c, uint64_t i, struct arena *arena, struct example *ret_example,
               struct why *w);

/* Reads "random/s7/i123". */
bool case_is_random(const char *name, uint64_t *ret_seed, uint64_t *ret_index);

#endif
