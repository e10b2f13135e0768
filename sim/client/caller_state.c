/* Restores what belongs to the calling thread and a driver may have changed. */
#include <pthread.h>

#include "sim/client/runtime.h"

void caller_state_save(struct caller_state *s)
{
    fegetenv(&s->floating_point);
    pthread_sigmask(SIG_SETMASK, NULL, &s->signals);
}

void caller_state_restore(const struct caller_state *s)
{
    fesetenv(&s->floating_point);
    pthread_sigmask(SIG_SETMASK, &s->signals, NULL);
}
