/* How functions fail that return a ResultCode: one line in the log, at level ERROR, with the
 * function of the API that was called and the reason.
 *
 *     #define LOG_TAG "ModelBuilder"
 *     if (index >= n)
 *         return FAIL(BAD_DATA, "operand %d: the model has %u operands", index, n);
 */
#ifndef RUNTIME_FAILURE_H
#define RUNTIME_FAILURE_H

#include "golden/base/logging.h"
#include "runtime/base/result_name.h"
#include "runtime/include/NeuralNetworksTypes.h"

/* The function of the API that this thread executes, for the log; NULL: none. */
extern _Thread_local const char *called_function;

/* Writes the line; returns code. */
__attribute__((format(printf, 3, 4))) int fail_with(const char *tag, int code, const char *fmt,
                                                    ...);
/* The same for a reason from golden/ or sim/: BAD_DATA, or what its code corresponds to. */
int fail_because(const char *tag, const struct why *w);

#define FAIL(code, ...) fail_with(LOG_TAG, ANEURALNETWORKS_##code, __VA_ARGS__)
#define FAIL_WHY(w)     fail_because(LOG_TAG, w)
/* Returns UNEXPECTED_NULL from the function if the pointer is NULL. */
#define REQUIRE_GIVEN(pointer)                                                                     \
    do {                                                                                           \
        if (!(pointer))                                                                            \
            return FAIL(UNEXPECTED_NULL, #pointer " is NULL");                                     \
    } while (0)
/* Returns the result of the call from the function unless it is NO_ERROR. */
#define PASS(call)                                                                                 \
    do {                                                                                           \
        int pass_result = (call);                                                                  \
        if (pass_result != ANEURALNETWORKS_NO_ERROR)                                               \
            return pass_result;                                                                    \
    } while (0)

#endif
