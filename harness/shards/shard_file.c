#include "harness/shards/shard_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "golden/base/output_file.h"
#include "golden/math/farmhash.h"
#include "golden/model/op.h"
#include "harness/store/run_owner.h"

static const char suffix[] = ".halcyon-part";
/* What may be left beside a part: by SQLite; the summary of it. */
static const char *const beside[] = { "",     "-journal", "-wal",
                                      "-shm", ".small",   ".small.halcyon-part" };
enum { FORGOTTEN_SECONDS = 3600 };

static uint64_t place_digest(const struct run_owner *o)
{
    return farmhash64(o->place, strlen(o->place));
}

/* ---- parts of other processes */

/* "FILE.PID-START-PLACE.halcyon-part", perhaps with what SQLite appends.  base: FILE. */
static bool parse_part(const char *name, const char *base, struct run_owner *ret_owner,
                       uint64_t *ret_place)
{
    size_t n = strlen(base);
    int end = 0;
    if (strncmp(name, base, n) != 0 ||
        sscanf(name + n, ".%" SCNd64 "-%" SCNd64 "-%16" SCNx64 "%n", &ret_owner->pid,
               &ret_owner->start, ret_place, &end) != 3)
        return false;
    return end && !strncmp(name + n + end, suffix, strlen(suffix));
}

static bool is_forgotten(int folder, const char *name)
{
    struct stat about;
    return fstatat(folder, name, &about, AT_SYMLINK_NOFOLLOW) == 0 &&
           time(NULL) - about.st_mtime > FORGOTTEN_SECONDS;
}

static void remove_dead_parts(const char *path)
{
    const char *slash = strrchr(path, '/'), *base = slash ? slash + 1 : path;
    char *name = slash ? strndup(path, (size_t) (slash + 1 - path)) : strdup(".");
    DIR *folder = name ? opendir(name) : NULL;
    const struct run_owner self = run_owner_self();
    free(name);
    if (!folder)
        return; /* opening the part will say why */
    for (struct dirent *e; (e = readdir(folder));) {
        struct run_owner o = { .heartbeat = self.heartbeat };
        uint64_t place = 0;
        if (!parse_part(e->d_name, base, &o, &place))
            continue;
        memcpy(o.place, self.place, sizeof o.place);
        bool dead = place == place_digest(&self) ? !run_owner_is_alive(&o)
                                                 : is_forgotten(dirfd(folder), e->d_name);
        if (dead)
            unlinkat(dirfd(folder), e->d_name, 0);
    }
    closedir(folder);
}

/* ---- the own one */

int shard_file_begin(const char *path, struct shard_file *ret_file, struct why *w)
{
    struct shard_file f = { 0 };
    const struct run_owner self = run_owner_self();
    TRY(output_file_check(path, w));
    remove_dead_parts(path);
    f.path = strdup(path);
    if (!f.path || asprintf(&f.part, "%s.%" PRId64 "-%" PRId64 "-%016" PRIx64 "%s", path, self.pid,
                            self.start, place_digest(&self), suffix) < 0) {
        free(f.path);
        return why_no_memory(w);
    }
    *ret_file = f;
    return 0;
}

/* On the disk before it has its name, so that a machine that loses power leaves no empty file. */
static int sync_path(const char *path, int flags, struct why *w)
{
    int fd = open(path, flags | O_CLOEXEC);
    if (fd < 0)
        return why_file(w, path, errno);
    int failed = fsync(fd) < 0 ? why_file(w, path, errno) : 0;
    close(fd);
    return failed;
}

int shard_file_publish(struct shard_file *f, struct why *w)
{
    TRY(sync_path(f->part, O_RDONLY, w));
    int failed = renameat2(AT_FDCWD, f->part, AT_FDCWD, f->path, RENAME_NOREPLACE);
    if (failed < 0 && (errno == EINVAL || errno == ENOSYS)) /* a file system without it */
        failed = link(f->part, f->path) < 0 ? -1 : unlink(f->part);
    if (failed < 0 && errno == EEXIST) {
        unlink(f->part);
        return 1;
    }
    return failed < 0 ? why_file(w, f->path, errno) : 0;
}

int shard_file_shorten(struct shard_file *f,
                       int (*write)(const char *from, const char *to, struct why *w), struct why *w)
{
    char *small;
    if (asprintf(&small, "%s.small", f->part) < 0)
        return why_no_memory(w);
    int failed = write(f->part, small, w);
    if (!failed && rename(small, f->part) < 0)
        failed = why_file(w, small, errno);
    free(small);
    return failed;
}

void shard_file_done(struct shard_file *f)
{
    for (int i = 0; f->part && i < COUNT(beside); i++) {
        char *name;
        if (asprintf(&name, "%s%s", f->part, beside[i]) < 0)
            continue;
        unlink(name);
        free(name);
    }
    free(f->path);
    free(f->part);
    *f = (struct shard_file){ 0 };
}
