/* The cases of a campaign: examples from files, loaded before the workers are forked so that all
 * share their memory; or random graphs, generated when they are run; or names, of something else
 * that is run (the rules of `halcyon conform`). */
#ifndef HARNESS_CASES_H
#define HARNESS_CASES_H

#include "golden/golden.h"
#include "harness/check/variation.h"
#include "randgraph/randgraph.h"

struct spec_case {
    struct example example;
    const char *file;
    bool may_be_bad; /* its file is in a folder: a model that is not legal is left out */
};

/* A file that could not be loaded, or only up to the place that `why` names. */
struct unloaded_file {
    const char *file, *why; /* in the arena of the cases; why begins with the file's path */
};

struct nearest_case;
struct cases {
    uint64_t n;
    struct spec_case *spec;         /* NULL: random graphs, or names */
    const char **name;              /* NULL: no names */
    struct arena *arena;            /* owns the examples, names and their array */
    struct unloaded_file *unloaded; /* in the order of loading */
    size_t n_unloaded;
    bool keep_going;  /* a bad file that the user names is treated like one in a folder, too */
    unsigned threads; /* threads that load a file; 0: the calling one */
    struct randgraph_options graphs;
    struct ways ways;     /* which cases from files are also run in another way, and how; random
                             graphs have their share in their options */
    uint64_t seed, first; /* case i is graph first + i */
    /* What the graphs are drawn for: case i for support[i % n_supports], of which NULL is any
     * driver.  0: all for graphs.support.  Not owned. */
    const struct randgraph_support *const *support;
    uint32_t n_supports;
    struct randgraph_support *own_support; /* freed by cases_done(); may be NULL */
    /* What the graphs are mutations of: case i of from->spec[i % from->n], the digest of which is
     * from_digest[i % from->n].  NULL: of graphs.from, or of nothing.  Both are malloced, and freed
     * by cases_done(). */
    struct cases *from;
    uint64_t *from_digest;
    /* What the graphs are drawn by, likewise; NULL: no weights. */
    const struct randgraph_steering *const *steering;
    uint32_t n_steerings;
    struct randgraph_steering *own_steering;
    uint64_t *index;   /* after cases_select(): case i is graph or name index[i]; else NULL */
    uint64_t n_before; /* cases before cases_select(); spec[] has those that it left out behind */
    struct nearest_case *nearest; /* of those that cases_load() left out; NULL: without a glob */
};

enum { CASE_NAME = RANDGRAPH_NAME }; /* bytes; folder, file and example have up to 255 each */

/* n random graphs of one seed, from index `first` on.  Allocates nothing. */
struct cases cases_random(const struct randgraph_options *graphs, uint64_t seed, uint64_t first,
                          uint64_t n);

/* The options that case i, a random graph, is generated with. */
struct randgraph_options cases_graphs(const struct cases *c, uint64_t i);

/* Whether the cases are random graphs. */
bool cases_are_random(const struct cases *c);

/* Adds the examples of a file, or of all specs in and below a folder, sorted by path.  A bad file
 * in a folder is added to `unloaded`, the examples before the error are used; anything else that is
 * bad is an error.  glob: only cases whose name matches, with or without its prefix "spec/"; NULL:
 * all.  *c is zeroed before the first call.  A file without examples, or a folder without any file
 * to load, is an error unless there is a glob. */
int cases_load(struct cases *c, const char *path, const char *glob, struct why *w);
/* Limits for each .mod.py and .tflite file that cases_load() loads from now on; 0: the defaults of
 * specs_load(). */
void cases_limit_loading(double seconds, size_t bytes);
/* The one random case of that name if `what` begins with "random/" and is no file
 * (randgraph_parse_name()); else as cases_load(), and an error if no case matches the glob. */
int cases_open(struct cases *c, const char *what, const char *glob, struct why *w);
/* After cases_load() with a glob: fails if no case of `what` matches it. */
int cases_check_found(const struct cases *c, const char *what, const char *glob, struct why *w);
/* After cases_select(): "; did you mean NAME?" with the nearest of all names, or "".  text: of
 * NEAREST_CASE_TEXT bytes.  Returns text. */
const char *cases_nearest(const struct cases *c, const char *wanted, char text[]);
/* Fails with the file and example of the first model that is not legal NNAPI, so that a bad file
 * is reported as bad input and not as a target's failure; such an example of a folder is removed
 * and its file added to `unloaded`.  Operations that the catalogue does not have are accepted.
 * Random graphs are not checked. */
int cases_validate(struct cases *c, struct why *w);
/* The same with another check of each example.  lenient: no example that fails it is an error. */
int cases_check(struct cases *c, bool lenient,
                int (*check)(const struct example *e, const void *user, struct why *w),
                const void *user, struct why *w);
void cases_done(struct cases *c);

/* Leaves only the cases for which keep() is true, in their order. */
int cases_select(struct cases *c, bool (*keep)(const char *name, void *user), void *user,
                 struct why *w);
/* Whether a name is this one or matches it as a pattern; either may lack the prefix "spec/". */
bool case_name_matches(const char *glob, const char *name);
/* The name without "spec/", which names on the command line may leave out. */
const char *case_without_prefix(const char *name);

/* Fills every input that has no data, as those of models in .tflite files, with random values
 * allocated in arena: floats in [-1, 1), quantised types over their whole range, other integers 0
 * to 9, BOOL 0 or 1.  The generator is seeded by name and position, so that a name always gives the
 * same values.  Dimensions of 0 (unspecified) are set to 1. */
int inputs_generate(const char *name, struct tensor *in, uint32_t n, struct arena *arena,
                    struct why *w);

/* "random/v2/s7/i123", "spec/V1_2/add_v1_2/add_v1_2_2".  The name of a random case holds all that
 * it is generated from (randgraph/randgraph.h); how it is run and judged belongs to the run. */
void cases_name(const struct cases *c, uint64_t i, char name[CASE_NAME]);
/* Index of case i among the graphs of its seed; meaningless for a case from a file. */
uint64_t cases_index(const struct cases *c, uint64_t i);
/* Path of the file that a case came from; NULL for a random graph or a name. */
const char *cases_file(const struct cases *c, uint64_t i);

/* Case i: a shallow copy of a loaded example, or a random graph generated in arena. */
int cases_get(const struct cases *c, uint64_t i, struct arena *arena, struct example *ret_example,
              struct why *w);

#endif
