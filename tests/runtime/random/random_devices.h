/* Devices whose supported operations, level and performance are drawn for each graph.
 *
 * They are the shipped devices and the reference as a driver, so that most of them round in their
 * own way.  What they support is limited to a random set. */
#ifndef TESTS_RANDOM_DEVICES_H
#define TESTS_RANDOM_DEVICES_H

#include "randgraph/randgraph.h"
#include "runtime/devices/runtime_device.h"

/* The devices of the process but nnapi-reference. */
enum { RANDOM_DEVICES = 4 };

/* Sets HALCYON_DEVICES and opens them.  Before any other call of the API. */
void random_devices_open(void);

/* Draws two to four devices: *ret_n of them, in random order, in ret[].  The others support
 * nothing from then on. */
void random_devices_draw(struct rng *r, const ANeuralNetworksDevice *ret[RANDOM_DEVICES],
                         uint32_t *ret_n);
/* Whether the drivers support what they are able to, as when a part is run alone. */
void random_devices_open_up(bool all);
/* "halcyon-gpu at level 4 supports 50 % of operations; ...": of the drawn ones, in the arena. */
const char *random_devices_text(struct arena *a);

#endif
