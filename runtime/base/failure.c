/* Failed calls of the API in the log. */
#include <stdarg.h>
#include <stdio.h>

#include "runtime/base/failure.h"

_Thread_local const char *called_function;

int fail_with(const char *tag, int code, const char *fmt, ...)
{
    char text[480];
    va_list arguments;

    va_start(arguments, fmt);
    vsnprintf(text, sizeof text, fmt, arguments);
    va_end(arguments);
    log_write(LOG_ERROR, tag, "%s%s%s (%s)", called_function ? called_function : "",
              called_function ? ": " : "", text, result_name(code));
    return code;
}

int fail_because(const char *tag, const struct why *w)
{
    int code = ANEURALNETWORKS_BAD_DATA;

    switch (w->code) {
    case WHY_MEMORY: code = ANEURALNETWORKS_OUT_OF_MEMORY; break;
    case WHY_SYSTEM:
    case WHY_EXECUTION: code = ANEURALNETWORKS_OP_FAILED; break;
    case WHY_TIMEOUT: code = ANEURALNETWORKS_MISSED_DEADLINE_PERSISTENT; break;
    case WHY_INVALID:
    case WHY_UNSUPPORTED: break;
    }
    return fail_with(tag, code, "%s", w->text);
}
