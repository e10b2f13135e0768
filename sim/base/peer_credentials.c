#define _GNU_SOURCE
#include "sim/base/peer_credentials.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* Linux 6.5 and 6.9; older headers do not have them. */
#ifndef SO_PEERPIDFD
#define SO_PEERPIDFD 77
#endif
#ifndef PID_FS_MAGIC
#define PID_FS_MAGIC 0x50494446
#endif

/* Inode of the process's pidfd; before Linux 6.9 all pidfds share one inode. */
static uint64_t object_of(int socket)
{
    struct statfs fs;
    struct stat st;
    socklen_t n = sizeof(int);
    int fd = -1;

    if (getsockopt(socket, SOL_SOCKET, SO_PEERPIDFD, &fd, &n) < 0)
        return 0;
    bool ok = fstatfs(fd, &fs) == 0 && fs.f_type == PID_FS_MAGIC && fstat(fd, &st) == 0;
    close(fd);
    return ok ? (uint64_t) st.st_ino : 0;
}

struct peer_credentials peer_credentials_of(int socket)
{
    struct ucred c = { .uid = UINT32_MAX };
    socklen_t n = sizeof(c);

    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &c, &n) < 0)
        return (struct peer_credentials){ .user = UINT32_MAX };
    return (struct peer_credentials){ (uint32_t) c.pid, c.pid ? 0 : object_of(socket),
                                      (uint32_t) c.uid };
}

bool peer_credentials_are_same(const struct peer_credentials *a, const struct peer_credentials *b)
{
    return a->process ? a->process == b->process
                      : !b->process && a->object && a->object == b->object;
}
