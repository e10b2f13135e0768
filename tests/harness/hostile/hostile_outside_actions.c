/* Actions on what is outside of the driver's process: descriptors that it shares, the harness's
 * processes, files.
 *
 * Attacks on processes are aimed at ancestors whose name begins with "halcyon" only.  Actions that
 * would reach others are done only where is_contained(). */
#define _GNU_SOURCE
#include "tests/harness/hostile/hostile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { DESCRIPTORS = 1024, ANSWERS = 1 << 15 };

/* ---- descriptors of others */

static void forge_frames(struct hostile_call *c, long n)
{
    unsigned char frame[256];

    (void) c;
    memset(frame, (int) n, sizeof(frame));
    for (int i = 3; i < DESCRIPTORS; i++)
        if (send(i, frame, sizeof(frame), MSG_DONTWAIT | MSG_NOSIGNAL) < 0 && errno == ENOTSOCK) {
            fcntl(i, F_SETFL, fcntl(i, F_GETFL) | O_NONBLOCK);
            if (write(i, frame, sizeof(frame)) < 0)
                continue;
        }
}

static void read_descriptors(struct hostile_call *c, long n)
{
    static char taken[65536];

    (void) c;
    for (int i = 3; i < DESCRIPTORS; i++)
        if (recv(i, taken, (size_t) n, MSG_DONTWAIT) < 0 && errno == ENOTSOCK) {
            fcntl(i, F_SETFL, fcntl(i, F_GETFL) | O_NONBLOCK);
            if (read(i, taken, (size_t) n) < 0)
                continue;
        }
}

static void shut_sockets(struct hostile_call *c, long n)
{
    (void) c;
    for (int i = 0; i < DESCRIPTORS; i++)
        shutdown(i, (int) n);
}

static void truncate_descriptors(struct hostile_call *c, long n)
{
    (void) c;
    for (int i = 3; i < DESCRIPTORS; i++)
        if (ftruncate(i, n) < 0)
            continue;
}

static void seal_descriptors(struct hostile_call *c, long n)
{
    (void) c;
    for (int i = 3; i < DESCRIPTORS; i++)
        fcntl(i, F_ADD_SEALS, (int) n);
}

/* Memory files that are mapped, through /proc/self/map_files; only root may. */
static void truncate_mapped(struct hostile_call *c, long n)
{
    DIR *folder = opendir("/proc/self/map_files");
    struct dirent *e;

    (void) c;
    while (folder && (e = readdir(folder))) {
        char to[64];
        ssize_t length = readlinkat(dirfd(folder), e->d_name, to, sizeof(to));
        if (length < 7 || memcmp(to, "/memfd:", 7) != 0)
            continue;
        int file = openat(dirfd(folder), e->d_name, O_RDWR | O_CLOEXEC);
        if (file >= 0 && ftruncate(file, n) < 0)
            perror("ftruncate");
        if (file >= 0)
            close(file);
    }
    if (folder)
        closedir(folder);
}

/* Opens what the descriptors stand for once more, writable. */
static void reopen_descriptors(struct hostile_call *c, long n)
{
    char path[64], garbage[64];

    (void) c;
    memset(garbage, (int) n, sizeof(garbage));
    for (int i = 3; i < DESCRIPTORS; i++) {
        snprintf(path, sizeof(path), "/proc/self/fd/%d", i);
        int file = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
        if (file >= 0 && pwrite(file, garbage, sizeof(garbage), 0) < 0)
            perror("pwrite");
        if (file >= 0)
            close(file);
    }
}

/* What is first in the memory that this process shares with the harness: its answers. */
static volatile uint8_t *find_answers(size_t *ret_size)
{
    FILE *maps = fopen("/proc/self/maps", "re");
    unsigned long from = 0, to = 0;
    char line[512], mode[5] = "";

    while (maps && strcmp(mode, "rw-s") != 0 && fgets(line, sizeof(line), maps))
        if (sscanf(line, "%lx-%lx %4s", &from, &to, mode) != 3)
            break;
    if (maps)
        fclose(maps);
    *ret_size = to - from < ANSWERS ? to - from : ANSWERS;
    return strcmp(mode, "rw-s") == 0 ? (volatile uint8_t *) from : NULL; // NOLINT
}

static void forge_answers(struct hostile_call *c, long n)
{
    size_t size;
    volatile uint8_t *at = find_answers(&size);

    (void) c;
    for (size_t i = 0; at && i < size; i++)
        at[i] = (uint8_t) n;
}

/* Every bit again and again, for half a second. */
static void *toggle_answers(void *argument)
{
    size_t size;
    volatile uint8_t *at = find_answers(&size);

    (void) argument;
    for (int k = 0; at && k < 500; k++, hostile_sleep_ms(1))
        for (size_t i = 0; i < size; i++)
            at[i] = (uint8_t) ~at[i];
    return NULL;
}

static void forge_answers_late(struct hostile_call *c, long n)
{
    (void) n;
    if (c->number == 1)
        hostile_thread(toggle_answers, NULL);
}

/* ---- other processes */

/* Whether the kernel keeps this process from others. */
static bool is_contained(void)
{
    FILE *status = fopen("/proc/self/status", "re");
    char line[256];
    int value;
    bool found = false;

    while (status && fgets(line, sizeof(line), status))
        if ((sscanf(line, "NoNewPrivs: %d", &value) == 1 && value == 1) ||
            (sscanf(line, "Seccomp: %d", &value) == 1 && value == 2))
            found = true;
    if (status)
        fclose(status);
    if (!found)
        fprintf(stderr, "not contained: skipped\n");
    return found;
}

static pid_t parent_of(pid_t of)
{
    char path[64], line[256];
    int parent = 0;

    snprintf(path, sizeof(path), "/proc/%d/status", (int) of);
    FILE *status = fopen(path, "re");
    while (status && fgets(line, sizeof(line), status))
        if (sscanf(line, "PPid: %d", &parent) == 1)
            break;
    if (status)
        fclose(status);
    return parent;
}

static bool is_harness(pid_t of)
{
    char path[64], name[32] = "";

    snprintf(path, sizeof(path), "/proc/%d/comm", (int) of);
    FILE *comm = fopen(path, "re");
    if (comm && !fgets(name, sizeof(name), comm))
        *name = 0;
    if (comm)
        fclose(comm);
    return strncmp(name, "halcyon", 7) == 0;
}

/* Calls attack() for each ancestor that belongs to the harness, the nearest first. */
static void attack_ancestors(void (*attack)(pid_t victim, long n), long n)
{
    for (pid_t p = parent_of(getpid()); p > 1 && is_harness(p);) {
        pid_t next = parent_of(p);
        attack(p, n);
        p = next;
    }
}

static void send_signal(pid_t victim, long n)
{
    kill(victim, (int) n);
}

static void kill_ancestors(struct hostile_call *c, long n)
{
    (void) c;
    attack_ancestors(send_signal, n);
}

/* A process group that is not the harness's own would contain others. */
static void kill_group(struct hostile_call *c, long n)
{
    (void) c;
    kill(0, (int) n);
}

static void kill_all(struct hostile_call *c, long n)
{
    (void) c;
    if (is_contained())
        kill(-1, (int) n);
}

static void send_by_descriptor(pid_t victim, long n)
{
    int descriptor = (int) syscall(SYS_pidfd_open, victim, 0);

    if (descriptor < 0)
        return;
    syscall(SYS_pidfd_send_signal, descriptor, (int) n, NULL, 0);
    close(descriptor);
}

static void kill_by_descriptor(struct hostile_call *c, long n)
{
    (void) c;
    attack_ancestors(send_by_descriptor, n);
}

static void attach(pid_t victim, long n)
{
    (void) n;
    if (ptrace(PTRACE_ATTACH, victim, NULL, NULL) == 0)
        fprintf(stderr, "attached\n");
}

static void trace_ancestors(struct hostile_call *c, long n)
{
    (void) c;
    attack_ancestors(attach, n);
}

/* The first writable mapping of a process whose line contains `name`. */
static uintptr_t find_mapping(pid_t of, const char *name, size_t *ret_size)
{
    char path[64], line[512];
    unsigned long from = 0, to = 0;
    uintptr_t found = 0;

    snprintf(path, sizeof(path), "/proc/%d/maps", (int) of);
    FILE *maps = fopen(path, "re");
    while (maps && !found && fgets(line, sizeof(line), maps))
        if (sscanf(line, "%lx-%lx rw", &from, &to) == 2 && strstr(line, " rw") &&
            strstr(line, name)) {
            found = from;
            *ret_size = to - from;
        }
    if (maps)
        fclose(maps);
    return found;
}

static void overwrite(pid_t victim, long n)
{
    static char zeros[4096];
    size_t size = 0;
    uintptr_t at = find_mapping(victim, n ? "[stack]" : "[heap]", &size);
    struct iovec from = { zeros, sizeof(zeros) };
    struct iovec to = { (void *) (n ? at + size - 3 * sizeof(zeros) : at), sizeof(zeros) };

    if (at && process_vm_writev(victim, &from, 1, &to, 1, 0) > 0)
        fprintf(stderr, "written\n");
}

static void write_ancestors(struct hostile_call *c, long n)
{
    (void) c;
    attack_ancestors(overwrite, n);
}

static void overwrite_by_file(pid_t victim, long n)
{
    static char zeros[4096];
    char path[64];
    size_t size = 0;
    uintptr_t at = find_mapping(victim, "[heap]", &size);

    (void) n;
    snprintf(path, sizeof(path), "/proc/%d/mem", (int) victim);
    int file = at ? open(path, O_RDWR | O_CLOEXEC) : -1;
    if (file >= 0 && pwrite(file, zeros, sizeof(zeros), (off_t) at) > 0)
        fprintf(stderr, "written\n");
    if (file >= 0)
        close(file);
}

static void write_ancestors_mem(struct hostile_call *c, long n)
{
    (void) c;
    attack_ancestors(overwrite_by_file, n);
}

static void slow_down(pid_t victim, long n)
{
    cpu_set_t one;

    CPU_ZERO(&one);
    CPU_SET(0, &one);
    setpriority(PRIO_PROCESS, (id_t) victim, (int) n);
    sched_setaffinity(victim, sizeof(one), &one);
}

static void slow_ancestors(struct hostile_call *c, long n)
{
    (void) c;
    attack_ancestors(slow_down, n);
}

static void offer_to_killer(pid_t victim, long n)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/oom_score_adj", (int) victim);
    int file = open(path, O_WRONLY | O_CLOEXEC);
    if (file >= 0 && dprintf(file, "%ld", n) < 0)
        perror("oom_score_adj");
    if (file >= 0)
        close(file);
}

static void offer_ancestors(struct hostile_call *c, long n)
{
    (void) c;
    attack_ancestors(offer_to_killer, n);
}

static void limit_other(pid_t victim, long n)
{
    prlimit(victim, (__rlimit_resource_t) n, &(struct rlimit){ 8, 8 }, NULL);
}

static void limit_ancestors(struct hostile_call *c, long n)
{
    (void) c;
    attack_ancestors(limit_other, n);
}

/* Writes to each descriptor that an ancestor has open. */
static void write_descriptors_of(pid_t victim, long n)
{
    char path[64];

    for (int i = 0; i < 64; i++) {
        snprintf(path, sizeof(path), "/proc/%d/fd/%d", (int) victim, i);
        int file = open(path, O_WRONLY | O_CLOEXEC | O_NONBLOCK);
        if (file >= 0 && dprintf(file, "%ld\n", n) < 0)
            perror("write");
        if (file >= 0)
            close(file);
    }
}

static void write_ancestors_files(struct hostile_call *c, long n)
{
    (void) c;
    attack_ancestors(write_descriptors_of, n);
}

/* ---- files */

enum file_action { FILE_CREATE, FILE_TRUNCATE, FILE_OVERWRITE, FILE_REMOVE, FILE_LOCK, FILE_MODE };

static void harm_file(const char *name, enum file_action what)
{
    char path[sizeof(hostile_folder) + 32];
    struct flock all = { .l_type = F_WRLCK, .l_whence = SEEK_SET };

    snprintf(path, sizeof(path), "%s/%s", hostile_folder, name);
    if (what == FILE_REMOVE && remove(path) < 0)
        perror(path);
    if (what == FILE_MODE && chmod(path, 0) < 0)
        perror(path);
    if (what == FILE_REMOVE || what == FILE_MODE)
        return;
    int file = open(path, O_RDWR | O_CLOEXEC | (what == FILE_CREATE ? O_CREAT : 0), 0666);
    if (file < 0)
        return;
    if (what == FILE_TRUNCATE && ftruncate(file, 0) < 0)
        perror(path);
    if ((what == FILE_OVERWRITE || what == FILE_CREATE) && pwrite(file, "hostile", 7, 0) < 0)
        perror(path);
    if (what == FILE_LOCK)
        fcntl(file, F_SETLK, &all);
    else
        close(file);
}

static void harm_database(struct hostile_call *c, long n)
{
    (void) c;
    harm_file("h.db", (enum file_action) n);
}

static void harm_canary(struct hostile_call *c, long n)
{
    (void) c;
    harm_file("canary", (enum file_action) n);
}

static void create_file(struct hostile_call *c, long n)
{
    (void) c;
    harm_file("h.db-wal", FILE_OVERWRITE);
    harm_file("stray", (enum file_action) n);
}

static void shared_memory_file(struct hostile_call *c, long n)
{
    char name[64];

    (void) n;
    snprintf(name, sizeof(name), "/hostile-%s", c->method->name);
    int file = shm_open(name, O_RDWR | O_CREAT, 0600);
    if (file >= 0)
        close(file);
}

/* ---- the table */

static const struct action actions[] = {
    { "forge_frames", forge_frames, 1, 0, EXPECT_CONTAINED, "writes to all descriptors" },
    { "read_descriptors", read_descriptors, 65536, 0, EXPECT_CONTAINED,
      "reads from all descriptors" },
    { "shut_sockets", shut_sockets, SHUT_RDWR, 0, EXPECT_CONTAINED, "shutdown() of all sockets" },
    { "truncate_descriptors", truncate_descriptors, 0, 0, EXPECT_CONTAINED,
      "ftruncate() of all descriptors" },
    { "seal_descriptors", seal_descriptors, F_SEAL_WRITE | F_SEAL_FUTURE_WRITE | F_SEAL_GROW, 0,
      EXPECT_CONTAINED, "seals all memory files" },
    { "truncate_mapped", truncate_mapped, 0, 0, EXPECT_CONTAINED,
      "ftruncate() of the memory files that are mapped" },
    { "reopen_descriptors", reopen_descriptors, 0x5a, 0, EXPECT_CONTAINED,
      "opens all descriptors again and writes" },
    { "forge_answers_0", forge_answers, 0, 0, EXPECT_CONTAINED, "shared answers of zeros" },
    { "forge_answers_1", forge_answers, 1, 0, EXPECT_CONTAINED, "shared answers of ones" },
    { "forge_answers_text", forge_answers, 'A', 0, EXPECT_CONTAINED,
      "shared answers whose texts do not end" },
    { "forge_answers_max", forge_answers, 255, 0, EXPECT_CONTAINED, "shared answers of all bits" },
    { "forge_answers_late", forge_answers_late, 0, 0, EXPECT_CONTAINED,
      "shared answers that change for half a second" },
    { "kill_harness", kill_ancestors, SIGKILL, 0, EXPECT_CONTAINED, "SIGKILL to the harness" },
    { "terminate_harness", kill_ancestors, SIGTERM, 0, EXPECT_CONTAINED, "SIGTERM to the harness" },
    { "stop_harness", kill_ancestors, SIGSTOP, 0, EXPECT_CONTAINED, "SIGSTOP to the harness" },
    { "interrupt_harness", kill_ancestors, SIGINT, 0, EXPECT_CONTAINED, "SIGINT to the harness" },
    { "kill_by_descriptor", kill_by_descriptor, SIGKILL, 0, EXPECT_CONTAINED,
      "SIGKILL to the harness by pidfd" },
    { "kill_group", kill_group, SIGKILL, 0, EXPECT_CONTAINED, "SIGKILL to its process group" },
    { "kill_all", kill_all, SIGTERM, 0, EXPECT_CONTAINED,
      "SIGTERM to all processes, if it is contained" },
    { "trace_harness", trace_ancestors, 0, 0, EXPECT_CONTAINED, "PTRACE_ATTACH to the harness" },
    { "write_harness_heap", write_ancestors, 0, 0, EXPECT_CONTAINED,
      "process_vm_writev() to the harness's heap" },
    { "write_harness_stack", write_ancestors, 1, 0, EXPECT_CONTAINED,
      "process_vm_writev() to the harness's stack" },
    { "write_harness_mem", write_ancestors_mem, 0, 0, EXPECT_CONTAINED,
      "/proc/PID/mem of the harness" },
    { "write_harness_files", write_ancestors_files, 1, 0, EXPECT_CONTAINED,
      "the harness's descriptors by /proc/PID/fd" },
    { "slow_harness", slow_ancestors, 19, 0, EXPECT_CONTAINED,
      "priority and processors of the harness" },
    { "offer_harness", offer_ancestors, 1000, 0, EXPECT_CONTAINED, "oom_score_adj of the harness" },
    { "limit_harness", limit_ancestors, RLIMIT_NOFILE, 0, EXPECT_CONTAINED,
      "RLIMIT_NOFILE of the harness" },
    { "truncate_database", harm_database, FILE_TRUNCATE, 0, EXPECT_CONTAINED,
      "truncates the results database" },
    { "overwrite_database", harm_database, FILE_OVERWRITE, 0, EXPECT_CONTAINED,
      "overwrites the results database" },
    { "remove_database", harm_database, FILE_REMOVE, 0, EXPECT_CONTAINED,
      "removes the results database" },
    { "lock_database", harm_database, FILE_LOCK, 0, EXPECT_CONTAINED,
      "locks the results database" },
    { "chmod_database", harm_database, FILE_MODE, 0, EXPECT_CONTAINED,
      "forbids access to the results database" },
    { "remove_file", harm_canary, FILE_REMOVE, 0, EXPECT_CONTAINED, "removes a file" },
    { "overwrite_file", harm_canary, FILE_OVERWRITE, 0, EXPECT_CONTAINED, "overwrites a file" },
    { "create_file", create_file, FILE_CREATE, 0, EXPECT_CONTAINED, "creates a file" },
    { "shared_memory_file", shared_memory_file, 0, 0, EXPECT_CONTAINED,
      "creates a shared memory file" },
};
const struct action_list hostile_outside_actions = { actions, COUNT(actions) };
