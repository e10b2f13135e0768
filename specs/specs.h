/* specs: models in and out.
 *
 * In: .mod.py specifications (embedded Python, run in a child process so that a wild one hurts
 * nothing), the JSON-lines corpus (plain or .xz), .tflite models.  All of them arrive as `struct
 * example`: a model, the values of its inputs, what must come out.  Out: the same example as a
 * .mod.py that loads and replays to the same bits, or as a corpus line.
 * Files lie: whatever is wrong with one is refused with the file, the place and the reason. */
#ifndef SPECS_SPECS_H
#define SPECS_SPECS_H

#include <stdio.h>

#include "golden/golden.h"

struct specs_options {
    double timeout;      /* seconds for one file; 0: 60 */
    size_t memory_limit; /* bytes of the child process; 0: 4 GiB */
    unsigned threads;    /* that parse lines ahead; 0: the caller's alone */
};

/* Called for each example in order; what it points to dies with the call unless model_copy()ed.
 * Return -1 to stop. */
typedef int specs_each(const struct example *e, void *user, struct why *w);

/* Loads a file (.mod.py, .jsonl, .jsonl.xz, .tflite) or the entries of a directory, sorted.  Does
 * not descend.  options may be NULL.  -1 with file, place and reason: examples before it were
 * delivered. */
int specs_load(const char *path, const struct specs_options *options, specs_each *each, void *user,
               struct why *w);

/* A TOML file as JSON text (malloced). */
int specs_read_toml(const char *path, char **ret_json, struct why *w);

/* Writes e as a specification.  comment: lines put at its head, may be NULL. */
int specs_write_modpy(const struct example *e, const char *comment, FILE *to, struct why *w);
/* Writes e as one corpus line (without line end). */
int specs_write_json(const struct example *e, FILE *to, struct why *w);

#endif
