#define _GNU_SOURCE
#include "golden/base/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static bool folder_is_writable(const char *path)
{
    char folder[PATH_MAX];
    return snprintf(folder, sizeof folder, "%s", path) < PATH_MAX &&
           access(dirname(folder), W_OK) == 0;
}

int output_file_check(const char *path, struct why *w)
{
    char folder[PATH_MAX];
    struct stat about;
    REQUIRE(w, *path && strlen(path) < sizeof folder, "'%.100s': not the path of a file", path);
    strcpy(folder, path);
    bool exists = stat(path, &about) == 0;
    if (!exists && errno != ENOENT)
        return why_file(w, path, errno);
    if (exists && S_ISDIR(about.st_mode))
        return why_file(w, path, EISDIR);
    return access(exists ? path : dirname(folder), W_OK) < 0 ? why_file(w, path, errno) : 0;
}

/* The name of the file until it is complete, malloced; cut off where a name has a limit. */
static char *part_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    int folder = slash ? (int) (slash + 1 - path) : 0;
    char *part;
    return asprintf(&part, "%.*s%.230s.halcyon-part", folder, path, path + folder) < 0 ? NULL
                                                                                       : part;
}

/* Returns the descriptor, or -1. */
static int open_part(struct output_file *f, const char *path, const struct stat *old, struct why *w)
{
    if (!(f->part = part_name(f->path)))
        return why_no_memory(w);
    int fd = open(f->part, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
    if (fd < 0)
        return why_file(w, path, errno);
    if (flock(fd, LOCK_EX | LOCK_NB) < 0 && errno == EWOULDBLOCK) {
        close(fd);
        return why_fail(w, WHY_INVALID, "%s: another process is writing it", path);
    }
    if (ftruncate(fd, 0) < 0 || (old && fchmod(fd, old->st_mode & 07777) < 0)) {
        why_file(w, path, errno);
        close(fd);
        return -1;
    }
    return fd;
}

static void forget(struct output_file *f)
{
    free(f->path);
    free(f->part);
    *f = (struct output_file){ 0 };
}

int output_file_open(const char *path, struct output_file *ret_file, struct why *w)
{
    struct output_file f = { 0 };
    struct stat old;
    TRY(output_file_check(path, w));
    bool exists = stat(path, &old) == 0, regular = !exists || S_ISREG(old.st_mode);
    f.path = exists && regular ? realpath(path, NULL) : strdup(path);
    if (!f.path)
        return why_file(w, path, errno);
    bool in_place = !regular || (exists && !folder_is_writable(f.path));
    int fd;
    if (in_place)
        fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC | O_NOCTTY);
    else
        fd = open_part(&f, path, exists ? &old : NULL, w);
    if (fd >= 0 && !(f.to = fdopen(fd, in_place ? "w" : "w+")))
        close(fd);
    if (f.to) {
        *ret_file = f;
        return 0;
    }
    if (in_place || fd >= 0)
        why_file(w, path, errno);
    forget(&f);
    return -1;
}

int output_file_close(struct output_file *f, bool keep, struct why *w)
{
    int error = 0, failed = 0;
    if (fflush(f->to) != 0)
        error = errno;
    else if (ferror(f->to)) /* an earlier write failed: one more gives its errno again */
        error = f->part && write(fileno(f->to), "", 1) < 0 ? errno : EIO;
    if (keep && !error && f->part && rename(f->part, f->path) < 0)
        error = errno;
    if (fclose(f->to) != 0 && !error) /* last: this releases the lock */
        error = errno;
    if (f->part && (!keep || error))
        unlink(f->part);
    if (keep && error)
        failed = why_fail(w, WHY_SYSTEM, "%s: cannot be written: %s", f->path, strerror(error));
    forget(f);
    return failed;
}

int output_file_write(const char *path, const char *text, size_t length, struct why *w)
{
    struct output_file f = { .to = stdout };
    int failed = 0;
    if (path)
        TRY(output_file_open(path, &f, w));
    if (fwrite(text, 1, length, f.to) != length || fflush(f.to) != 0)
        failed = why_fail(w, WHY_SYSTEM, "%s: cannot be written: %s", path ? path : "stdout",
                          strerror(errno));
    if (path && output_file_close(&f, !failed, w) < 0)
        return -1;
    return failed;
}
