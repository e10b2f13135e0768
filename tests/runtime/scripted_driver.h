/* What scripted_driver.c remembers of preparations: the exported variable `scripted_record`. */
#ifndef TESTS_SCRIPTED_DRIVER_H
#define TESTS_SCRIPTED_DRIVER_H

#include "sim/hal.h"

struct scripted_record {
    uint32_t prepared, restored; /* calls of prepare_model and prepare_model_from_cache */
    uint32_t n_model, n_data;    /* cache files of the last call of either, and its token */
    uint8_t token[HAL_TOKEN_BYTES];
    uint32_t n_inputs, n_outputs; /* of the model prepared last, or what a test writes here */
};

#endif
