/* A service in a process of its own, processes and threads that are its clients, and what a process
 * holds: for tests that kill some of them. */
#ifndef TESTS_SERVICE_LAB_H
#define TESTS_SERVICE_LAB_H

#include <sys/types.h>

#include "sim/wire/wire.h"
#include "tests/support/hal_client.h"

enum { LAB_LIVES = 4, LAB_TURNS = 12 };

extern char lab_path[80];
extern pid_t lab_service;

/* Starts a service of sim:cpu, or of what `make` makes, that can be started so many times in all:
 * its processes are made before there are threads, and wait until they are wanted. */
void lab_open(void);
void lab_open_of(struct hal_driver *(*make)(void), int lives);
void lab_start_service(void);
/* Fails the test unless the service ends well, without leaks. */
void lab_close(void);

struct hal_driver *lab_connect(void);
/* A bare connection, and one call over it: the status of its reply, -1 where none comes. */
int lab_connect_raw(void);
int lab_call(int socket, Wire__Call *call, const struct wire_fds *fds);
/* Threads that execute in every way, with results that are checked; turns 0: until the service has
 * gone, which is killed then.  False: something was wrong. */
bool lab_work(uint32_t seed, int turns);
/* The same in a process of its own, whose status is 0 when all was right. */
pid_t lab_start_client(uint32_t seed);

/* What a process has: descriptors, threads, mappings of memory files. */
struct holdings {
    int fds, threads, memory;
};
struct holdings lab_holdings(pid_t pid);
/* Once they are the same for a while. */
struct holdings lab_at_rest(pid_t pid);
/* Sessions end soon after their clients, not at once. */
void lab_check_at_rest(pid_t pid, struct holdings before);

/* Whether this process has lost memory, in builds that look for it. */
bool lab_leaks(void);

void lab_sleep_ms(long ms);
uint32_t lab_random(uint32_t *state);

#endif
