/* Names of result codes, for logs and messages. */
#ifndef RUNTIME_RESULT_NAME_H
#define RUNTIME_RESULT_NAME_H

/* "BAD_DATA"; "?" for a number that is no ResultCode. */
const char *result_name(int code);

#endif
