/* Threads for computations that a client does not wait for. */
#ifndef RUNTIME_TASK_THREADS_H
#define RUNTIME_TASK_THREADS_H

#include <stdbool.h>

/* Runs the task soon, in a thread that is idle or new: a task never waits for another one, which it
 * might depend on.  Threads that stay idle end.  False: no thread can be started. */
bool task_start(void (*run)(void *argument), void *argument);

#endif
