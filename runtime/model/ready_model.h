/* Models from elsewhere than the C API: what ANeuralNetworksModel_finish() would have made of them.
 */
#ifndef RUNTIME_READY_MODEL_H
#define RUNTIME_READY_MODEL_H

#include "runtime/model/runtime_model.h"

/* A valid model with its operations sorted and without trailing default arguments, in `a`; operands
 * and values stay where they are.  WHY_INVALID: it breaks a rule. */
int ready_model_make(const struct model *from, struct arena *a, ANeuralNetworksModel *ret_model,
                     struct why *w);

#endif
