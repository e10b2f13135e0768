/* Defects of single calls of a driver, for tests of what the runtime makes of them: rows for the
 * layer of sim/faulty around the driver of chosen_driver.c. */
#ifndef TESTS_CALL_FAULTS_H
#define TESTS_CALL_FAULTS_H

#include "sim/hal.h"

/* Puts the layer around the driver, which it then owns.  text: NAME or NAME.STATUS, where STATUS
 * (enum hal_status) is what the call fails with, GENERAL_FAILURE otherwise; STATUS
 * "die": it ends the process.  One driver of a process may have a layer.  NULL: there is no such
 * row. */
struct hal_driver *call_fault_add(struct hal_driver *inner, const char *text);

/* Calls that a fault has changed, of the driver in the shared library: exported as
 * `call_faults_met`. */
extern uint32_t call_faults_met;

#endif
