/* Events of the C API: the end of a computation, or a sync fence of the client. */
#ifndef RUNTIME_EVENT_H
#define RUNTIME_EVENT_H

#include "runtime/execute/execution.h"

struct ANeuralNetworksEvent {
    atomic_uint references; /* the client's, and that of the thread that computes */
    pthread_mutex_t lock;
    pthread_cond_t done;
    bool is_done; /* under lock, as `result` and `info` */
    int result;
    int fence;                           /* that the event owns; -1: none */
    struct hal_fenced_info *info;        /* of a fenced execution that has not been waited for */
    ANeuralNetworksExecution *execution; /* that computes until then; NULL: none */
};

/* Each is the function of the C API with its name. */
int event_wait(ANeuralNetworksEvent *ev);
void event_free(ANeuralNetworksEvent *ev);
int event_of_fence(int fd, ANeuralNetworksEvent **ret);
int event_fence(const ANeuralNetworksEvent *ev, int *ret_fd);

/* An event that is not done; NULL: out of memory. */
ANeuralNetworksEvent *event_new(void);
/* Sets the result, once. */
void event_complete(ANeuralNetworksEvent *ev, int result);
void event_unref(ANeuralNetworksEvent *ev);

#endif
