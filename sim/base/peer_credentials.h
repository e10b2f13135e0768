/* The process at the other end of a socket, as reported by the kernel.  Processes of other pid
 * namespaces have no pid here; they are distinguished by the inode of their pidfd (Linux 6.9 and
 * later), otherwise each connection counts as a process of its own. */
#ifndef SIM_PEER_CREDENTIALS_H
#define SIM_PEER_CREDENTIALS_H

#include <stdbool.h>
#include <stdint.h>

struct peer_credentials {
    uint32_t process; /* pid; 0: none in this namespace */
    uint64_t object;  /* inode of its pidfd, looked up without a pid; 0: unknown */
    uint32_t user;    /* uid; UINT32_MAX: unknown */
};

/* socket: connected, of AF_UNIX. */
struct peer_credentials peer_credentials_of(int socket);
/* Whether two connections are known to be of one process. */
bool peer_credentials_are_same(const struct peer_credentials *a, const struct peer_credentials *b);

#endif
