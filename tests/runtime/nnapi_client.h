/* Models and compilations for tests, as an application makes them.
 *
 * The devices of a process do not change: each test sets them first, in the process that Check
 * forks for it. */
#ifndef TESTS_NNAPI_CLIENT_H
#define TESTS_NNAPI_CLIENT_H

#include "runtime/include/NeuralNetworks.h"

/* Sets HALCYON_DEVICES, with "%s" replaced by the URI of scripted_driver.c up to its arguments,
 * "%c" by that of chosen_driver.c. */
void use_devices(const char *format);
/* The device of that name; fails the test if there is none. */
ANeuralNetworksDevice *device_named(const char *name);
/* That at `index` of the list. */
ANeuralNetworksDevice *device_at(uint32_t index);

/* A finished model: out = a + b, FLOAT32 of shape {n}; n 0: the dimension is not known. */
ANeuralNetworksModel *add_model(uint32_t n);
/* A finished model: out = floor(in), FLOAT32 {1}. */
ANeuralNetworksModel *floor_model(void);

/* Made for the device (NULL: for all) and finished. */
ANeuralNetworksCompilation *compile_on(ANeuralNetworksModel *m, const ANeuralNetworksDevice *d);

/* Stops the test unless the call gives that result. */
#define EXPECT(call, result) ck_assert_int_eq((call), ANEURALNETWORKS_##result)
#define OK(call)             EXPECT(call, NO_ERROR)

#endif
