/* Who is at the other end of a socket: a process, as the kernel says.  Processes that have no
 * number here, because they are in another namespace, are told apart by what their descriptor shows
 * (Linux 6.9 and later); where that says nothing, each connection stands for itself. */
#ifndef SIM_PEER_H
#define SIM_PEER_H

#include <stdbool.h>
#include <stdint.h>

struct peer {
    uint32_t process; /* its number; 0: it has none here */
    uint64_t object;  /* that the kernel knows it by as long as it lives; 0: unknown */
    uint32_t user;
};

struct peer peer_of(int socket);
/* Whether two connections are known to be of one process. */
bool peer_is_same(const struct peer *a, const struct peer *b);

#endif
