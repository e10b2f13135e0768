/* Models for two devices: "a" does ADD, "b" does ADD with RELU.  Functions fail the test if a call
 * that must succeed does not. */
#ifndef TESTS_TWO_DEVICES_H
#define TESTS_TWO_DEVICES_H

#include "tests/runtime/client_job.h"

/* Values of debug.nn.partition, and 1 with a list of devices that the application gives. */
enum mode { NO_DEVICES, WITH_FALLBACK, WITHOUT_FALLBACK, LISTED, MODES };
/* The step of "a". */
enum plan { ONE_STEP, FIRST_STEP, LAST_STEP, PLANS };

/* Before the first call of the API. */
void set_mode(enum mode mode);
/* Inputs and output are one memory for all jobs. */
struct client_job two_devices_job(enum plan plan);
/* Makes j->compilation, which is not finished. */
void two_devices_begin(struct client_job *j, enum mode mode, enum plan plan);
/* The same, and the result of its finish. */
int two_devices_compile(struct client_job *j, enum mode mode, enum plan plan);
/* The output has the values that the model's has. */
void two_devices_check(const struct client_job *j, enum plan plan);

/* Number of the process's descriptors. */
int open_files(void);
/* Whether there are at most so many, or will be soon: what runs with fences, and connections that
 * have ended, may be closed a little later. */
bool open_files_settle(int n_files);

#endif
