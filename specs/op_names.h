/* Names and codes of operations and operand types in files, from the catalogue. */
#ifndef SPECS_OP_NAMES_H
#define SPECS_OP_NAMES_H

#include <stdint.h>

#include "golden/base/suggest.h"
#include "golden/model/extension.h"

/* The code of the operation of NNAPI or an extension with this name, or -1. */
int32_t op_name_code(const char *name);
/* The name of an operation, or NULL.  An extension's is composed in `text`. */
const char *op_name(int32_t code, char text[EXTENSION_TEXT]);

/* The same for operand types: an enum dtype, or -1. */
int type_name_dtype(const char *name);

/* "; did you mean NAME?" with the nearest name of an NNAPI operation or operand type, or "". */
const char *op_name_suggestion(const char *name, char text[SUGGEST_TEXT]);
const char *type_name_suggestion(const char *name, char text[SUGGEST_TEXT]);
const char *type_name(enum dtype type, char text[EXTENSION_TEXT]);

#endif
