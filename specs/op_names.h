/* Names and codes of operations and operand types in files, from the catalogue. */
#ifndef SPECS_OP_NAMES_H
#define SPECS_OP_NAMES_H

#include <stdint.h>

#include "golden/model/extension.h"

/* The code of the operation of NNAPI or an extension with this name, or -1. */
int32_t op_name_code(const char *name);
/* The name of an operation, or NULL.  An extension's is composed in `text`. */
const char *op_name(int32_t code, char text[EXTENSION_TEXT]);

/* The same for operand types: an enum dtype, or -1. */
int type_name_dtype(const char *name);
const char *type_name(enum dtype type, char text[EXTENSION_TEXT]);

#endif
