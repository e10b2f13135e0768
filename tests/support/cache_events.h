/* What may happen to the files of a compilation cache between saving and restoring, or before, as
 * data: by the rule of the suites that it belongs to. */
#ifndef TESTS_CACHE_EVENTS_H
#define TESTS_CACHE_EVENTS_H

#include "tests/support/cache_files.h"

struct cache_event {
    const char *rule; /* "" where the suites have none */
    const char *what;
    bool before_saving;
    /* turn: which file, byte or bit, counted up as long as there is another one. */
    bool (*happen)(struct files *f, uint32_t turn);
    enum hal_status status; /* of what is restored then */
};
extern const struct cache_event cache_events[];
extern const int cache_n_events;

#endif
