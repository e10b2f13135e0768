#include "harness/campaigns/sharded_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "golden/base/output_file.h"
#include "harness/campaigns/sharded_engine.h"
#include "harness/check/buffer.h"

/* Seconds after the time limit of a shard in which it ends by itself. */
enum { GRACE_SECONDS = 30 };

void sharded_folder_path(const struct sharded_plan *p, const char *name, char ret_path[PATH_MAX])
{
    snprintf(ret_path, PATH_MAX, "%s/%s", p->output, name);
}

/* ---- opening */

static int make_folder(const char *path, struct why *w)
{
    struct stat st;
    if (mkdir(path, 0777) < 0 && errno != EEXIST)
        return why_file(w, path, errno);
    REQUIRE(w, stat(path, &st) == 0 && S_ISDIR(st.st_mode), "%s: exists and is not a folder", path);
    return 0;
}

static int take_lock(const struct sharded_plan *p, int *ret_lock, struct why *w)
{
    char path[PATH_MAX], owner[128] = "";
    sharded_folder_path(p, "lock", path);
    int lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (lock < 0)
        return why_file(w, path, errno);
    if (flock(lock, LOCK_EX | LOCK_NB) < 0) {
        int error = errno;
        ssize_t n = read(lock, owner, sizeof owner - 1);
        owner[n > 0 ? n : 0] = 0;
        close(lock);
        return error == EWOULDBLOCK
                   ? why_fail(w, WHY_INVALID, "%s: another campaign is running in this folder (%s)",
                              p->output, owner)
                   : why_file(w, path, error);
    }
    char host[64] = "";
    gethostname(host, sizeof host - 1);
    int n = snprintf(owner, sizeof owner, "process %ld on %s", (long) getpid(), host);
    if (ftruncate(lock, 0) < 0 || pwrite(lock, owner, (size_t) n, 0) < 0) {
        int error = errno;
        close(lock);
        return why_file(w, path, error);
    }
    *ret_lock = lock;
    return 0;
}

static int write_text(const struct sharded_plan *p, const char *name, const char *text, bool runs,
                      struct why *w)
{
    char path[PATH_MAX];
    sharded_folder_path(p, name, path);
    TRY(output_file_write(path, text, strlen(text), w));
    return runs && chmod(path, 0777) < 0 ? why_file(w, path, errno) : 0;
}

/* The script ends a shard when the process that runs the script dies, and after the time limit.
 * Graphs are drawn for the support set of the folder, if it has one.
 * What it prints is kept until it succeeds: status 0 and 1 are verdicts. */
static int write_script(const struct sharded_plan *p, struct why *w)
{
    struct buffer b = { 0 };
    buffer_puts(&b, "#!/bin/sh\n"
                    "# Runs one shard of a campaign: shard I. Written by halcyon campaign, for its "
                    "engines.\n"
                    "[ \"$CAMPAIGN_TIED\" = $$ ] ||\n"
                    "  CAMPAIGN_TIED=$$ exec setpriv --pdeathsig TERM \"$0\" \"$@\"\n"
                    "i=$1 folder=");
    buffer_put_quoted(&b, p->output);
    buffer_puts(&b, "\n[ -e \"$folder/stop\" ] && exit 0\n"
                    "log=$folder/logs/$i support=$folder/support\n"
                    "[ -e \"$support\" ] || support=\n"
                    "cd ");
    buffer_put_quoted(&b, p->home);
    buffer_printf(&b,
                  " || exit 3\n"
                  "setpriv --pdeathsig TERM timeout --kill-after=%d %llu setpriv --pdeathsig TERM "
                  "\\\n  ",
                  GRACE_SECONDS, (unsigned long long) p->seconds);
    buffer_put_quoted(&b, p->program);
    for (uint32_t i = 0; i < p->n_words; i++) {
        buffer_puts(&b, " ");
        buffer_put_quoted(&b, p->word[i]);
    }
    char shard[32];
    snprintf(shard, sizeof shard, "\"$i/%llu\"", (unsigned long long) p->n_shards);
    buffer_puts(&b, " ${support:+--support \"$support\"}");
    sharded_plan_put_shard(p, shard, "\"$folder/shards/$i.db\"", &b);
    buffer_puts(&b, " </dev/null >\"$log.running\" 2>&1\n"
                    "status=$?\n"
                    "if [ $status -le 1 ]; then\n"
                    "  rm -f \"$log.running\" \"$log.failed\"\n"
                    "else\n"
                    "  echo \"exit status $status\" >>\"$log.running\"\n"
                    "  mv -f \"$log.running\" \"$log.failed\"\n"
                    "fi\n"
                    "exit $status\n");
    int failed = b.failed ? why_no_memory(w) : write_text(p, "shard", buffer_text(&b), true, w);
    buffer_done(&b);
    return failed;
}

/* Begins a campaign, or compares with the one that was begun. */
static int check_identity(const struct sharded_plan *p, struct why *w)
{
    char path[PATH_MAX];
    json_error_t error;
    sharded_folder_path(p, "campaign.json", path);
    if (access(path, F_OK) == 0) {
        json_t *old = json_load_file(path, 0, &error);
        REQUIRE(w, old, "%s: line %d: %s", path, error.line, error.text);
        int failed = sharded_plan_compare(p, old, w);
        json_decref(old);
        return failed;
    }
    char *text = json_dumps(p->identity, JSON_INDENT(2) | JSON_SORT_KEYS);
    int failed = text ? write_text(p, "campaign.json", text, false, w) : why_no_memory(w);
    free(text);
    return failed;
}

/* A folder that no campaign has begun must be empty. */
static int check_empty(const struct sharded_plan *p, struct why *w)
{
    char path[PATH_MAX];
    sharded_folder_path(p, "campaign.json", path);
    DIR *d = access(path, F_OK) == 0 ? NULL : opendir(p->output);
    const struct dirent *e;
    int failed = 0;
    while (d && !failed && (e = readdir(d)))
        if (*e->d_name != '.' && strcmp(e->d_name, "lock") != 0)
            failed = why_fail(w, WHY_INVALID,
                              "%s: has files, such as %s, and no campaign; expected a new folder, "
                              "an empty one or that of this campaign",
                              p->output, e->d_name);
    if (d)
        closedir(d);
    return failed;
}

static int prepare(const struct sharded_plan *p, struct why *w)
{
    static const char *const folders[] = { "shards", "logs" };
    const struct shipped_engine *e = shipped_engine_find(p->engine);
    char path[PATH_MAX];
    TRY(check_identity(p, w));
    for (int i = 0; i < COUNT(folders); i++) {
        sharded_folder_path(p, folders[i], path);
        TRY(make_folder(path, w));
    }
    sharded_folder_path(p, "stop", path);
    unlink(path);
    TRY(write_script(p, w));
    return e ? write_text(p, "engine", e->text, true, w) : 0;
}

int sharded_folder_open(const struct sharded_plan *p, int *ret_lock, struct why *w)
{
    int lock;
    TRY(make_folder(p->output, w));
    TRY(check_empty(p, w));
    TRY(take_lock(p, &lock, w));
    if (prepare(p, w) < 0) {
        close(lock);
        return -1;
    }
    *ret_lock = lock;
    return 0;
}

void sharded_folder_close(int lock)
{
    close(lock);
}

/* ---- shards */

/* The number before the ending; 0: the name is another one. */
static uint64_t number_of(const char *name, const char *ending)
{
    char *end;
    unsigned long long n = *name >= '1' && *name <= '9' ? strtoull(name, &end, 10) : 0;
    return n && !strcmp(end, ending) ? n : 0;
}

static int open_folder(const struct sharded_plan *p, const char *name, DIR **ret, struct why *w)
{
    char path[PATH_MAX];
    sharded_folder_path(p, name, path);
    *ret = opendir(path);
    return *ret || errno == ENOENT ? 0 : why_file(w, path, errno);
}

int sharded_folder_scan(const struct sharded_plan *p, struct shard_set *set,
                        void (*arrived)(uint64_t shard, void *user), void *user, struct why *w)
{
    const struct dirent *e;
    DIR *d;
    TRY(open_folder(p, "shards", &d, w));
    while (d && (e = readdir(d))) {
        uint64_t i = number_of(e->d_name, ".db");
        if (!i || i > p->n_shards || set->done[i])
            continue;
        set->done[i] = true;
        set->n_done++;
        if (arrived)
            arrived(i, user);
    }
    if (d)
        closedir(d);
    TRY(open_folder(p, "logs", &d, w));
    set->n_running = 0;
    while (d && (e = readdir(d))) {
        uint64_t i = number_of(e->d_name, ".running");
        set->n_running += i && i <= p->n_shards && !set->done[i];
    }
    if (d)
        closedir(d);
    return 0;
}

/* Removes parts of databases, which processes that were killed have left: older than a shard may
 * take, for another process may still write one. */
static int remove_parts(const struct sharded_plan *p, struct why *w)
{
    const time_t before = time(NULL) - (time_t) p->seconds - 2 * GRACE_SECONDS;
    const struct dirent *e;
    struct stat st;
    DIR *d;
    TRY(open_folder(p, "shards", &d, w));
    while (d && (e = readdir(d))) {
        bool kept = *e->d_name == '.' || number_of(e->d_name, ".db") ||
                    fstatat(dirfd(d), e->d_name, &st, 0) < 0;
        if (!kept && st.st_mtime < before)
            unlinkat(dirfd(d), e->d_name, 0);
    }
    if (d)
        closedir(d);
    return 0;
}

static const char *const log_endings[] = { "failed", "running" };

static void log_path(const struct sharded_plan *p, uint64_t shard, const char *ending,
                     char ret_path[PATH_MAX])
{
    char name[64];
    snprintf(name, sizeof name, "logs/%llu.%s", (unsigned long long) shard, ending);
    sharded_folder_path(p, name, ret_path);
}

int sharded_folder_submit(const struct sharded_plan *p, const uint64_t *shard, size_t n,
                          struct why *w)
{
    struct buffer b = { 0 };
    char path[PATH_MAX];
    TRY(remove_parts(p, w));
    for (size_t i = 0; i < n; i++) {
        buffer_printf(&b, "%llu\n", (unsigned long long) shard[i]);
        for (int k = 0; k < COUNT(log_endings); k++) {
            log_path(p, shard[i], log_endings[k], path);
            unlink(path);
        }
    }
    int failed = b.failed ? why_no_memory(w) : write_text(p, "list", buffer_text(&b), false, w);
    buffer_done(&b);
    return failed;
}

/* The last line of a log that is not its exit status, and that status. */
static void read_attempt(FILE *f, struct attempt *a)
{
    char line[sizeof a->last];
    while (fgets(line, sizeof line, f)) {
        line[strcspn(line, "\n")] = 0;
        if (sscanf(line, "exit status %d", &a->status) != 1 && *line)
            memcpy(a->last, line, sizeof line);
    }
}

struct attempt sharded_folder_attempt(const struct sharded_plan *p, uint64_t shard)
{
    static const enum attempt_state state[] = { ATTEMPT_FAILED, ATTEMPT_KILLED };
    char path[PATH_MAX];
    for (int i = 0; i < COUNT(log_endings); i++) {
        struct attempt a = { .state = state[i] };
        log_path(p, shard, log_endings[i], path);
        FILE *f = fopen(path, "re");
        if (!f)
            continue;
        read_attempt(f, &a);
        fclose(f);
        return a;
    }
    return (struct attempt){ .state = ATTEMPT_NONE };
}

int sharded_folder_stop(const struct sharded_plan *p, struct why *w)
{
    return write_text(p, "stop", "the campaign has ended\n", false, w);
}
