#define _GNU_SOURCE
#include "sim/isolation/scratch_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static const char scratch_name[] = "halcyon-driver-";

static const char *scratch_parent(void)
{
    const char *tmp = getenv("TMPDIR");

    return tmp && *tmp ? tmp : "/tmp";
}

int scratch_folder_make(struct scratch_folder *f, struct why *w)
{
    if (asprintf(&f->path, "%s/%sXXXXXX", scratch_parent(), scratch_name) < 0) {
        f->path = NULL;
        return why_no_memory(w);
    }
    if (!mkdtemp(f->path)) {
        int rc =
            why_fail(w, WHY_SYSTEM, "%s: cannot create a folder: %s", f->path, strerror(errno));
        free(f->path);
        f->path = NULL;
        return rc;
    }
    f->fd = open(f->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (f->fd < 0 || flock(f->fd, LOCK_EX) < 0)
        return why_fail(w, WHY_SYSTEM, "%s: cannot be locked: %s", f->path, strerror(errno));
    return 0;
}

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *place)
{
    (void) st, (void) type, (void) place;
    remove(path);
    return 0;
}

static void remove_folder(const char *path)
{
    nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

void scratch_folder_remove(struct scratch_folder *f)
{
    if (f->path)
        remove_folder(f->path);
    if (f->fd >= 0)
        close(f->fd);
    free(f->path);
    f->path = NULL;
    f->fd = -1;
}

/* Whether a scratch folder is left over: it belongs to this user and no process holds its lock.
 * Folders younger than a minute are kept, since their process may not have locked them yet. */
static bool is_stale(int parent, const char *name)
{
    enum { MINUTE = 60 };
    int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;

    if (fd < 0)
        return false;
    bool stale = fstat(fd, &st) == 0 && st.st_uid == geteuid() &&
                 time(NULL) - st.st_ctime > MINUTE && flock(fd, LOCK_EX | LOCK_NB) == 0;
    close(fd);
    return stale;
}

void scratch_folder_remove_stale(void)
{
    DIR *dir = opendir(scratch_parent());
    char path[PATH_MAX];

    for (struct dirent *e; dir && (e = readdir(dir));) {
        if (strncmp(e->d_name, scratch_name, strlen(scratch_name)) != 0 ||
            !is_stale(dirfd(dir), e->d_name))
            continue;
        snprintf(path, sizeof path, "%s/%s", scratch_parent(), e->d_name);
        remove_folder(path);
    }
    if (dir)
        closedir(dir);
}
