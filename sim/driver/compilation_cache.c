#include "sim/driver/compilation_cache.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sha2.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC     "HalcyonC"
#define MAX_BYTES (UINT64_C(1) << 30) /* of all files together */

enum { FORMAT = 2, MAX_FILES = 2 * HAL_MAX_CACHE_FILES };

/* In the machine's byte order: with the other one, `format` does not match. */
struct header {
    char magic[8];
    uint32_t format, version, priority, reserved; /* 0 */
    uint32_t index, n_files;
    uint64_t length, n_graph;
    uint8_t digest[SHA256_DIGEST_LENGTH];
};

/* The files of a cache, model files first, with the contents of each. */
struct files {
    uint32_t n;
    int fd[MAX_FILES];
    struct header header[MAX_FILES];
    const uint8_t *contents[MAX_FILES];
};

bool cache_has_files(const struct cache_owner *o, const struct hal_cache *c)
{
    return c->n_model == o->n_model && c->n_data == o->n_data && (o->n_model || o->n_data);
}

static int open_files(const struct cache_owner *o, const struct hal_cache *c, struct files *f,
                      struct why *w)
{
    REQUIRE(w, cache_has_files(o, c), "%u model and %u data cache files, expected %u and %u",
            c->n_model, c->n_data, o->n_model, o->n_data);
    REQUIRE(w, o->n_model <= HAL_MAX_CACHE_FILES && o->n_data <= HAL_MAX_CACHE_FILES,
            "%u model and %u data cache files, at most %d each", o->n_model, o->n_data,
            HAL_MAX_CACHE_FILES);
    f->n = o->n_model + o->n_data;
    for (uint32_t i = 0; i < f->n; i++) {
        int fd = i < o->n_model ? c->model[i] : c->data[i - o->n_model];
        int flags = fcntl(fd, F_GETFL);
        struct stat st;
        f->fd[i] = fd;
        REQUIRE(w, flags >= 0, "cache file %u: %s", i, strerror(errno));
        REQUIRE(w, (flags & O_ACCMODE) == O_RDWR,
                "cache file %u is not open for reading and writing", i);
        REQUIRE(w, fstat(fd, &st) == 0 && S_ISREG(st.st_mode),
                "cache file %u is not a regular file", i);
    }
    return 0;
}

/* Strings are hashed with their terminating zero, so that their boundaries are unambiguous. */
static void digest_of(const struct cache_owner *o, const uint8_t *token, const struct files *f,
                      uint8_t ret_digest[SHA256_DIGEST_LENGTH])
{
    SHA2_CTX s;

    SHA256Init(&s);
    SHA256Update(&s, (const uint8_t *) o->name, strlen(o->name) + 1);
    SHA256Update(&s, (const uint8_t *) o->version, strlen(o->version) + 1);
    SHA256Update(&s, token, HAL_TOKEN_BYTES);
    for (uint32_t i = 0; i < f->n; i++) {
        SHA256Update(&s, (const uint8_t *) &f->header[i], offsetof(struct header, digest));
        SHA256Update(&s, f->contents[i], f->header[i].length);
    }
    SHA256Final(ret_digest, &s);
}

/* ---- writing */

static int write_all(int fd, const void *bytes, uint64_t n, uint64_t offset, struct why *w)
{
    const uint8_t *from = bytes;

    while (n) {
        ssize_t done = pwrite(fd, from, n, (off_t) offset);
        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return why_fail(w, WHY_SYSTEM, "writing a cache file: %s", strerror(errno));
        from += done;
        offset += (uint64_t) done;
        n -= (uint64_t) done;
    }
    return 0;
}

/* Truncates the file and writes it in order, so that one opened with O_APPEND gets the same bytes.
 */
static int write_file(const struct files *f, uint32_t i, struct why *w)
{
    if (ftruncate(f->fd[i], 0) < 0)
        return why_fail(w, WHY_SYSTEM, "emptying a cache file: %s", strerror(errno));
    TRY(write_all(f->fd[i], &f->header[i], sizeof(f->header[i]), 0, w));
    return write_all(f->fd[i], f->contents[i], f->header[i].length, sizeof(f->header[i]), w);
}

/* Divides `length` bytes evenly among the files [first, first + n). */
static void divide(struct files *f, uint32_t first, uint32_t n, const uint8_t *bytes,
                   uint64_t length)
{
    for (uint32_t i = 0; i < n; i++) {
        uint64_t from = length * i / n, to = length * (i + 1) / n;
        f->contents[first + i] = bytes + from;
        f->header[first + i].length = to - from;
    }
}

static void describe(const struct cache_owner *o, const struct hal_cache *c,
                     const struct cache_entry *e, struct files *f)
{
    uint8_t digest[SHA256_DIGEST_LENGTH];

    for (uint32_t i = 0; i < f->n; i++) {
        struct header *h = &f->header[i];
        memcpy(h->magic, MAGIC, sizeof(h->magic));
        h->format = FORMAT;
        h->version = (uint32_t) e->version;
        h->priority = (uint32_t) e->priority;
        h->index = i;
        h->n_files = f->n;
        h->n_graph = e->n_graph;
    }
    digest_of(o, c->token, f, digest);
    for (uint32_t i = 0; i < f->n; i++)
        memcpy(f->header[i].digest, digest, sizeof(digest));
}

static int write_files(const struct files *f, struct why *w)
{
    for (uint32_t i = 0; i < f->n; i++)
        if (write_file(f, i, w) < 0) {
            for (uint32_t k = 0; k < f->n; k++)
                (void) !ftruncate(f->fd[k], 0);
            return -1;
        }
    return 0;
}

int cache_write(const struct cache_owner *o, const struct hal_cache *c, const struct cache_entry *e,
                struct why *w)
{
    struct files f = { 0 };
    struct arena *a;

    TRY(open_files(o, c, &f, w));
    REQUIRE(w, e->n_graph <= MAX_BYTES && e->n_constants <= MAX_BYTES - e->n_graph,
            "a model with a graph of %" PRIu64 " and constants of %" PRIu64
            " bytes is too large for a cache",
            e->n_graph, e->n_constants);
    if (o->n_model && o->n_data) {
        divide(&f, 0, o->n_model, e->graph, e->n_graph);
        divide(&f, o->n_model, o->n_data, e->constants, e->n_constants);
        describe(o, c, e, &f);
        return write_files(&f, w);
    }
    a = arena_new(0);
    uint8_t *both = a ? arena_alloc_raw(a, e->n_graph + e->n_constants, 1) : NULL;
    if (!both) {
        arena_free(a);
        return why_no_memory(w);
    }
    memcpy(both, e->graph, e->n_graph);
    memcpy(both + e->n_graph, e->constants, e->n_constants);
    divide(&f, 0, f.n, both, e->n_graph + e->n_constants);
    describe(o, c, e, &f);
    int rc = write_files(&f, w);
    arena_free(a);
    return rc;
}

/* ---- reading */

static int read_all(int fd, void *bytes, uint64_t n, uint64_t offset, struct why *w)
{
    uint8_t *to = bytes;

    while (n) {
        ssize_t done = pread(fd, to, n, (off_t) offset);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return why_fail(w, WHY_SYSTEM, "reading a cache file: %s", strerror(errno));
        REQUIRE(w, done, "cache file is too short");
        to += done;
        offset += (uint64_t) done;
        n -= (uint64_t) done;
    }
    return 0;
}

/* Reads the headers; *ret_length: bytes of all contents. */
static int read_headers(struct files *f, uint64_t *ret_length, struct why *w)
{
    const struct header *first = &f->header[0];
    uint64_t length = 0;

    for (uint32_t i = 0; i < f->n; i++) {
        const struct header *h = &f->header[i];
        struct stat st;
        TRY(read_all(f->fd[i], &f->header[i], sizeof(*h), 0, w));
        REQUIRE(w, memcmp(h->magic, MAGIC, sizeof(h->magic)) == 0 && h->format == FORMAT,
                "cache file %u has an unknown format", i);
        REQUIRE(w, h->index == i && h->n_files == f->n, "cache file %u is file %u of %u", i,
                h->index, h->n_files);
        REQUIRE(w,
                h->version == first->version && h->priority == first->priority &&
                    h->n_graph == first->n_graph &&
                    memcmp(h->digest, first->digest, sizeof(h->digest)) == 0,
                "cache file %u belongs to another compilation", i);
        REQUIRE(w,
                fstat(f->fd[i], &st) == 0 && st.st_size >= (off_t) sizeof(*h) &&
                    h->length == (uint64_t) st.st_size - sizeof(*h),
                "cache file %u has another length than its header", i);
        REQUIRE(w, h->length <= MAX_BYTES - length, "cache files of more than %" PRIu64 " bytes",
                MAX_BYTES);
        length += h->length;
    }
    REQUIRE(w, first->n_graph <= length, "cache files do not contain the whole graph");
    REQUIRE(w, first->priority <= HAL_PRIORITY_HIGH, "cache with invalid priority %u",
            first->priority);
    *ret_length = length;
    return 0;
}

int cache_read(const struct cache_owner *o, const struct hal_cache *c, struct arena *a,
               struct cache_entry *ret_entry, struct why *w)
{
    struct files f = { 0 };
    uint8_t digest[SHA256_DIGEST_LENGTH], *bytes;
    uint64_t length = 0, at = 0;

    TRY(open_files(o, c, &f, w));
    TRY(read_headers(&f, &length, w));
    bytes = arena_alloc_raw(a, length, 1);
    if (!bytes)
        return why_no_memory(w);
    for (uint32_t i = 0; i < f.n; at += f.header[i++].length) {
        f.contents[i] = bytes + at;
        TRY(read_all(f.fd[i], bytes + at, f.header[i].length, sizeof(struct header), w));
    }
    digest_of(o, c->token, &f, digest);
    REQUIRE(w, memcmp(digest, f.header[0].digest, sizeof(digest)) == 0,
            "cache digest does not match: contents, token or driver differ");
    uint64_t n_graph = f.header[0].n_graph;
    *ret_entry = (struct cache_entry){ (enum hal_version) f.header[0].version,
                                       (enum hal_priority) f.header[0].priority,
                                       bytes,
                                       bytes + n_graph,
                                       n_graph,
                                       length - n_graph };
    return 0;
}
