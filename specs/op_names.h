/* Names and codes of operations in files. */
#ifndef SPECS_OP_NAMES_H
#define SPECS_OP_NAMES_H

#include <stdint.h>

/* The code of an operation, or -1 if NNAPI has none of that name. */
int32_t op_name_code(const char *name);
/* The name of an operation, or NULL. */
const char *op_name(int32_t code);

#endif
