/* What chosen_driver.c remembers of preparations: the exported variable `chosen_record`. */
#ifndef TESTS_CHOSEN_DRIVER_H
#define TESTS_CHOSEN_DRIVER_H

#include "sim/hal.h"

enum { CHOSEN_MOST_PREPARATIONS = 32 };

struct chosen_preparation {
    char name[16];    /* of the driver */
    bool is_restored; /* by prepare_model_from_cache, which has succeeded */
    uint32_t n_files; /* of the cache */
    uint8_t token[HAL_TOKEN_BYTES];
};

struct chosen_record {
    uint32_t n; /* further ones are not remembered */
    struct chosen_preparation preparation[CHOSEN_MOST_PREPARATIONS];
};

#endif
