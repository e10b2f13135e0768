/* What every entry point of the library begins with.
 *
 *     int ANeuralNetworksModel_create(ANeuralNetworksModel **model)
 *     {
 *         ENTER(PP);
 *         return model_create(model);
 *     }
 */
#ifndef RUNTIME_ENTRY_H
#define RUNTIME_ENTRY_H

#include "golden/base/trace.h"

/* Notes the function for the log. */
void entry_begin(const char *function);
/* Enables the verbose lines of HALCYON_DEBUG_NN_VLOG, which is debug.nn.vlog. */
void entry_read_vlog(void);
/* Opens a trace section of the runtime, of this phase, with the function's name. */
#define ENTER(phase)                                                                               \
    entry_begin(__func__);                                                                         \
    TRACE(LR, phase, __func__)

#endif
