/* The methods of the hostile driver, and the action that it was told to do in one of them. */
#ifndef TESTS_HOSTILE_METHODS_H
#define TESTS_HOSTILE_METHODS_H

#include "tests/harness/hostile/hostile.h"

enum at {
    AT_OPEN,
    AT_GET_CAPABILITIES,
    AT_GET_TYPE,
    AT_GET_VERSION_STRING,
    AT_GET_SUPPORTED_EXTENSIONS,
    AT_GET_NUMBER_OF_CACHE_FILES_NEEDED,
    AT_GET_STATUS,
    AT_GET_SUPPORTED_OPERATIONS,
    AT_PREPARE_MODEL,
    AT_PREPARE_CALLBACK,
    AT_PREPARE_MODEL_FROM_CACHE,
    AT_ALLOCATE,
    AT_EXECUTE_SYNCHRONOUSLY,
    AT_EXECUTE,
    AT_EXECUTE_CALLBACK,
    AT_EXECUTE_FENCED,
    AT_GET_EXECUTION_INFO,
    AT_CONFIGURE_BURST,
    AT_BURST_EXECUTE,
    AT_BURST_RELEASE_MEMORY,
    AT_CREATE_REUSABLE_EXECUTION,
    AT_REUSABLE_EXECUTE,
    AT_REUSABLE_EXECUTE_FENCED,
    AT_COPY_TO,
    AT_COPY_FROM,
    AT_RELEASE_MODEL,
    AT_RELEASE_BURST,
    AT_RELEASE_BUFFER,
    AT_RELEASE_INFO,
    AT_RELEASE_EXECUTION,
    AT_CLOSE,
    AT_DESTRUCTOR,
    METHODS
};

/* Parses ACTION@METHOD[:N][&FOLDER].  False: there is no such action or method. */
bool hostile_choose(const char *arguments);
/* Whether the action is to be done in that method. */
bool hostile_is_chosen(enum at at);

/* Does the action, if it is that of this method, and returns the status to answer: of a method in
 * general, of one that only has a status, of one with results of `size` bytes at `value`. */
long hostile_act(enum at at, struct hostile_call *c);
enum hal_status hostile_act_status(enum at at, enum hal_status status);
enum hal_status hostile_act_value(enum at at, enum hal_status status, void *value, size_t size);
/* Ends a method that calls back, after its action. */
enum hal_status hostile_finish(enum at at, struct hostile_call *c);

#endif
