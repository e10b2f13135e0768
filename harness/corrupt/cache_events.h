/* Table of changes to the files of a compilation cache, made before saving or between saving and
 * restoring, with the driver's answer when it restores.  Each row names the
 * rule of the VTS that it belongs to. */
#ifndef HARNESS_CACHE_EVENTS_H
#define HARNESS_CACHE_EVENTS_H

#include "harness/corrupt/cache_files.h"

/* What the HAL demands of restoring afterwards. */
enum cache_outcome {
    CACHE_STATUS,  /* the status of the row */
    CACHE_FAILURE, /* INVALID_ARGUMENT or GENERAL_FAILURE */
    CACHE_ANY      /* any status; of changed data files, which may change the results */
};

struct cache_event {
    const char *rule; /* "": not in the VTS */
    const char *what;
    bool before_saving; /* apply before saving; false: between saving and restoring */
    /* Applies variant `turn` (a file, byte or bit) of the change, counted from 0; returns whether
     * variant turn + 1 exists.  Fails the test if a system call fails. */
    bool (*happen)(struct files *f, uint32_t turn);
    enum hal_status status; /* that restoring returns on the shipped devices */
    enum cache_outcome outcome;
    bool changes_contents; /* of files that must not be empty */
};
extern const struct cache_event cache_events[];
extern const int cache_n_events;

#endif
