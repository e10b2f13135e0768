/* Names and codes of operations in files. */
#ifndef SPECS_OP_NAMES_H
#define SPECS_OP_NAMES_H

#include <stdint.h>

#include "golden/model/extension.h"

/* The code of an operation, or -1 if neither NNAPI nor an extension has one of that name. */
int32_t op_name_code(const char *name);
/* The name of an operation, which may be made in `text`, or NULL. */
const char *op_name(int32_t code, char text[EXTENSION_TEXT]);

/* The same of operand types; -1 where there is none. */
int type_name_dtype(const char *name);
const char *type_name(enum dtype type, char text[EXTENSION_TEXT]);

#endif
