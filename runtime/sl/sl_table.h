/* The entry points of this runtime as the table of a support library. */
#ifndef RUNTIME_SL_TABLE_H
#define RUNTIME_SL_TABLE_H

#include "runtime/include/NeuralNetworksSupportLibraryImpl.h"

/* All functions of the table of that level (FeatureLevelCode, 5 to 8); the two that begin with
 * level 8 are NULL below it. */
void sl_table_fill(int64_t level, NnApiSLDriverImplFL8 *ret);

#endif
