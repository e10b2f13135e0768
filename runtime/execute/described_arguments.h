/* Arguments in memory from descriptors: their contents before and after an execution, and copies in
 * host memory for the reference executor. */
#ifndef RUNTIME_DESCRIBED_ARGUMENTS_H
#define RUNTIME_DESCRIBED_ARGUMENTS_H

#include "runtime/execute/execution.h"

/* Whether the value is in a buffer of a driver, which has no address. */
bool argument_in_driver(const struct argument *a);

/* Before a computation: OP_FAILED where an input has no contents, or such of another shape than the
 * argument's. */
int described_inputs_check(ANeuralNetworksExecution *e);
/* After it: outputs have contents with the shapes of the execution, or none if it has failed.  The
 * execution's lock is held. */
void described_outputs_mark(ANeuralNetworksExecution *e);

/* The arguments of an execution, inputs and then outputs, with host memory in place of buffers of
 * drivers.  OP_FAILED: an output of unknown size; others: the buffer cannot be copied. */
int host_copies_make(const ANeuralNetworksExecution *e, struct argument **ret);
/* Copies the outputs to the buffers.  shape: of the outputs, NULL: those of the arguments. */
int host_copies_store(const ANeuralNetworksExecution *e, const struct argument *copy,
                      const struct hal_output_shape *shape);
void host_copies_free(const ANeuralNetworksExecution *e, struct argument *copy);

#endif
