/* Lists of models: JSON as the public benchmark's, a .tflite file, or a folder of such files.
 *
 * Files that a list names are looked for in the list's folder, then in the folders `data`, by the
 * path as written and then by its last part; of images also as an archive (PATH.tar). */
#ifndef HARNESS_BENCH_LIST_H
#define HARNESS_BENCH_LIST_H

#include "harness/bench/bench_types.h"

struct bench_list {
    struct arena *arena;
    uint32_t n;
    struct bench_entry *entry;
};

/* WHY_INVALID: file, entry, key, what was found and what would be right. */
int bench_list_read(const char *path, const char *const *data, uint32_t n_data,
                    struct bench_list *ret_list, struct why *w);
void bench_list_done(struct bench_list *l);

#endif
