/* A service in a process of its own, processes and threads that are its clients, and the resources
 * that a process holds: for tests that kill some of them.  The functions end the test on failure
 * unless they return a result that says otherwise. */
#ifndef TESTS_SERVICE_LAB_H
#define TESTS_SERVICE_LAB_H

#include <sys/types.h>

#include "sim/wire/wire.h"
#include "tests/support/hal_client.h"

/* Starts of a service per test; executions of a client's thread. */
enum { LAB_LIVES = 4, LAB_RUNS = 12 };

extern char lab_path[80]; /* of the service's socket */
extern pid_t lab_service; /* the service that runs now */

/* Starts a service of sim:cpu, or of the driver that `make` returns.  It can be started `lives`
 * times in all: its processes are forked here, before the test has threads, and wait for
 * lab_start_service(). */
void lab_open(void);
void lab_open_of(struct hal_driver *(*make)(void), int lives);
void lab_start_service(void);
/* Ends the service; fails the test unless its exit status is 0 and it has no leaks. */
void lab_close(void);

/* A client's driver, closed by the caller; waits up to 10 s for the service. */
struct hal_driver *lab_connect(void);
/* A socket without a client, and one call over it, which returns the status of the reply, -1
 * without one. */
int lab_connect_raw(void);
int lab_call(int socket, Wire__Call *call, const struct wire_fds *fds);
/* Runs threads that execute in every kind of execution and check the results, `runs` times each;
 * runs 0: kills the service after 50 ms and runs until they notice.  False: a wrong status or
 * result. */
bool lab_work(uint32_t seed, int runs);
/* Starts a process that calls lab_work(seed, LAB_RUNS); its exit status is 0 if that returns true.
 */
pid_t lab_start_client(uint32_t seed);

/* Numbers of descriptors, threads and mappings of memory files that a process has. */
struct holdings {
    int fds, threads, memory;
};
struct holdings lab_holdings(pid_t pid);
/* Waits until they are unchanged for 100 ms. */
struct holdings lab_at_rest(pid_t pid);
/* Waits up to 5 s until they are as before, since sessions end some time after their clients; else
 * fails. */
void lab_check_at_rest(pid_t pid, struct holdings before);

/* Whether LeakSanitizer finds a leak in this process; false in builds without it. */
bool lab_leaks(void);

void lab_sleep_ms(long ms);
/* A number below 2^24 of a linear congruential generator. */
uint32_t lab_random(uint32_t *state);

#endif
