/* Table of changes to the files of a compilation cache, made before saving or between saving and
 * restoring, with the status that the driver must return when it restores.  Each row names the
 * rule of the VTS that it belongs to. */
#ifndef HARNESS_CACHE_EVENTS_H
#define HARNESS_CACHE_EVENTS_H

#include "harness/conform/cache_files.h"

struct cache_event {
    const char *rule; /* "": not in the VTS */
    const char *what;
    bool before_saving; /* apply before saving; false: between saving and restoring */
    /* Applies variant `turn` (a file, byte or bit) of the change, counted from 0; returns whether
     * variant turn + 1 exists.  Fails the test if a system call fails. */
    bool (*happen)(struct files *f, uint32_t turn);
    enum hal_status status; /* that restoring must return afterwards */
};
extern const struct cache_event cache_events[];
extern const int cache_n_events;

#endif
