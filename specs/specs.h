/* specs: reads and writes models.
 *
 * Reads .mod.py specifications (Python programs), the JSON-lines corpus (plain or .xz) and .tflite
 * models.  .mod.py, .tflite and .toml files are read in a confined child process (python_child.h),
 * so that a hostile one can only fail to load; docs/security.md has what confines it.  Each becomes
 * a `struct example`: a model, values of its inputs, expected values of its outputs.  Writes an
 * example as a .mod.py that loads to the same bits, or as a line of the corpus.  Files are not
 * trusted: an invalid one is rejected with its name, the place and the reason. */
#ifndef SPECS_SPECS_H
#define SPECS_SPECS_H

#include <stdio.h>

#include "golden/base/sandbox.h"
#include "golden/golden.h"

/* Namespaces that the processes which read such files have where the kernel allows it. */
enum { SPECS_NAMESPACES = SANDBOX_PROCESSES | SANDBOX_NETWORK | SANDBOX_IPC };

struct specs_options {
    double timeout;      /* seconds for one .mod.py, .tflite or .toml file; 0: 60 */
    size_t memory_limit; /* bytes that its child process may allocate; 0: 4 GiB */
    unsigned threads;    /* that parse lines of a corpus; 0: the caller's only */
};

/* Called for each example in order.  The example is valid during the call; model_copy() copies its
 * model.  Return -1 to stop. */
typedef int specs_each(const struct example *e, void *user, struct why *w);

/* Loads a file (.mod.py, .jsonl, .jsonl.xz, .tflite) or such files in a directory, in byte order of
 * their names, without its subdirectories.  options may be NULL.  -1: file, place and reason; the
 * examples before it have been passed to each(). */
int specs_load(const char *path, const struct specs_options *options, specs_each *each, void *user,
               struct why *w);

/* Reads a TOML file as JSON text (malloced). */
int specs_read_toml(const char *path, char **ret_json, struct why *w);

/* Writes e as a specification.  comment: lines written at its top as comments, may be NULL.  -1: e
 * cannot be represented (WHY_UNSUPPORTED), or writing failed. */
int specs_write_modpy(const struct example *e, const char *comment, FILE *to, struct why *w);

/* For each operand of the main graph its variable, a Python name below MODPY_NAME bytes that no
 * other operand has, and what the comment after it says; NULL: no comment. */
enum { MODPY_NAME = 40 };
struct modpy_names {
    const char *const *name, *const *note;
};
/* The same with these names. */
int specs_write_modpy_named(const struct example *e, const char *comment,
                            const struct modpy_names *names, FILE *to, struct why *w);

/* What the bytes MODPY_LIST in a text stand for, in order: lists of the elements of these tensors,
 * which have two or more. */
enum { MODPY_LIST = 1 };
struct modpy_lists {
    const struct tensor **list; /* to be freed; the tensors are those of the example */
    size_t n;
    bool failed; /* out of memory */
};
/* The same without a comment, with marks in place of these lists (reports/packed_spec.h).  lists:
 * {0} before. */
int specs_write_modpy_marked(const struct example *e, FILE *to, struct modpy_lists *lists,
                             struct why *w);

/* Writes e as one line of the corpus, without the newline.  Errors as above. */
int specs_write_json(const struct example *e, FILE *to, struct why *w);

#endif
