/* Names of operations, for logs and plans. */
#ifndef RUNTIME_OPERATION_TEXT_H
#define RUNTIME_OPERATION_TEXT_H

#include "golden/model/extension.h"

/* "ADD"; of an extension "org.halcyon.example.fibonacci.FIBONACCI", or its name and the number of
 * the operation where nothing else is known of it.  Returns text, or a constant. */
const char *operation_text(const struct model *m, int32_t code, char text[EXTENSION_TEXT]);

#endif
