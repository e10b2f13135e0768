/* Plans as text: for the log, and for `halcyon plan`. */
#ifndef RUNTIME_PLAN_TEXT_H
#define RUNTIME_PLAN_TEXT_H

#include <stdio.h>

#include "runtime/compile/partition.h"

/* Writes what a step does, in a few words: "EXECUTE on dsp: CONV_2D:0 RELU:1"; "GOTO 7".  Numbers
 * after operations are theirs in the source's graph. */
void plan_put_step(const ANeuralNetworksModel *m, const struct partition *p, uint32_t step,
                   FILE *to);
/* Writes the inputs or outputs of an execution step: "input 0, temporary 5"; "none".  Inputs and
 * outputs of the source have their positions, temporaries the numbers of their operands. */
void plan_put_arguments(const ANeuralNetworksModel *m, const struct partition *p,
                        const struct step_argument *list, uint32_t n, FILE *to);
/* Writes the plan to the log, a line for each step. */
void plan_log(const ANeuralNetworksModel *m, const struct partition *p);

#endif
