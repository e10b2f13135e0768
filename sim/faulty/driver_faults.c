/* Faults of the driver's properties, of preparations and of the compilation cache. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "sim/faulty/faulty.h"

/* ---- properties */

static enum hal_device_status is_busy(struct hal_driver *self)
{
    (void) self;
    return HAL_DEVICE_BUSY;
}

static enum hal_device_status no_such_status(struct hal_driver *self)
{
    (void) self;
    return (enum hal_device_status) 7;
}

static enum hal_status inner_capabilities(struct hal_driver *self, enum hal_version version,
                                          struct hal_capabilities *ret)
{
    struct hal_driver *d = faulty_driver_of(self)->inner;

    return d->get_capabilities(d, version, ret);
}

/* The rows as a copy that lives as long as the process, as the driver's must. */
static struct hal_operand_performance *own_rows(struct hal_capabilities *c)
{
    struct hal_operand_performance *rows = calloc(c->n_operands + 1, sizeof *rows);

    if (!rows)
        abort();
    memcpy(rows, c->operand, c->n_operands * sizeof *rows);
    c->operand = rows;
    return rows;
}

static enum hal_status no_performance(struct hal_driver *self, enum hal_version version,
                                      struct hal_capabilities *ret)
{
    enum hal_status status = inner_capabilities(self, version, ret);

    if (status == HAL_NONE)
        own_rows(ret)[0].info.exec_time = 0;
    return status;
}

static enum hal_status no_relaxed_performance(struct hal_driver *self, enum hal_version version,
                                              struct hal_capabilities *ret)
{
    enum hal_status status = inner_capabilities(self, version, ret);

    ret->relaxed_tensor.power_usage = 0;
    return status;
}

static enum hal_status no_control_performance(struct hal_driver *self, enum hal_version version,
                                              struct hal_capabilities *ret)
{
    enum hal_status status = inner_capabilities(self, version, ret);

    ret->while_performance.exec_time = 0;
    return status;
}

static enum hal_status unsorted_performance(struct hal_driver *self, enum hal_version version,
                                            struct hal_capabilities *ret)
{
    enum hal_status status = inner_capabilities(self, version, ret);

    if (status == HAL_NONE && ret->n_operands > 1) {
        struct hal_operand_performance *rows = own_rows(ret), first = rows[0];
        rows[0] = rows[ret->n_operands - 1];
        rows[ret->n_operands - 1] = first;
    }
    return status;
}

enum { SUBGRAPH_TYPE = 15 };

static enum hal_status subgraph_performance(struct hal_driver *self, enum hal_version version,
                                            struct hal_capabilities *ret)
{
    enum hal_status status = inner_capabilities(self, version, ret);

    if (status == HAL_NONE && version >= HAL_1_3) {
        struct hal_operand_performance *rows = own_rows(ret);
        rows[ret->n_operands] = rows[ret->n_operands - 1];
        rows[ret->n_operands++].type = SUBGRAPH_TYPE;
    }
    return status;
}

static enum hal_status newest_capabilities(struct hal_driver *self, enum hal_version version,
                                           struct hal_capabilities *ret)
{
    return inner_capabilities(self, version <= self->hal_version ? self->hal_version : version,
                              ret);
}

static enum hal_status empty_version(struct hal_driver *self, const char **ret_version)
{
    (void) self;
    *ret_version = "";
    return HAL_NONE;
}

static enum hal_status no_such_type(struct hal_driver *self, enum hal_device_type *ret_type)
{
    (void) self;
    *ret_type = (enum hal_device_type) 0;
    return HAL_NONE;
}

static enum hal_status type_fails(struct hal_driver *self, enum hal_device_type *ret_type)
{
    (void) self, (void) ret_type;
    return HAL_GENERAL_FAILURE;
}

static enum hal_status one_extension(const struct hal_extension *extension, uint32_t *ret_n,
                                     const struct hal_extension **ret_extension)
{
    *ret_n = 1;
    *ret_extension = extension;
    return HAL_NONE;
}

static enum hal_status bad_extension_name(struct hal_driver *self, uint32_t *ret_n,
                                          const struct hal_extension **ret_extension)
{
    static const struct hal_extension extension = { "Vendor-Extension", 0, NULL };

    (void) self;
    return one_extension(&extension, ret_n, ret_extension);
}

/* As a driver that measures its performance for every answer. */
static enum hal_status measured_performance(struct hal_driver *self, enum hal_version version,
                                            struct hal_capabilities *ret)
{
    enum hal_status status = inner_capabilities(self, version, ret);

    if (status == HAL_NONE)
        ret->relaxed_tensor.exec_time *=
            1 + 0.01f * (float) (atomic_fetch_add(&faulty_driver_of(self)->state, 1) % 7);
    return status;
}

static enum hal_status type_without_size(struct hal_driver *self, uint32_t *ret_n,
                                         const struct hal_extension **ret_extension)
{
    static const struct hal_extension_type type = { 0, true, 0 };
    static const struct hal_extension extension = { "com.example.sizes", 1, &type };

    (void) self;
    return one_extension(&extension, ret_n, ret_extension);
}

static enum hal_status own_extension(struct hal_driver *self, uint32_t *ret_n,
                                     const struct hal_extension **ret_extension)
{
    static const struct hal_extension extension = { "com.example.own", 0, NULL };

    (void) self;
    return one_extension(&extension, ret_n, ret_extension);
}

/* Cuts texts that are longer than the buffer without ending them. */
static void text_without_end(struct hal_driver *self, char *ret_text, size_t size)
{
    struct hal_driver *d = faulty_driver_of(self)->inner;
    char text[HAL_TEXT_BYTES] = "";

    d->get_failure_text(d, text, sizeof text);
    size_t length = strlen(text) + 1;
    memcpy(ret_text, text, length < size ? length : size);
}

/* Bytes that are no UTF-8. */
static void text_in_latin_1(struct hal_driver *self, char *ret_text, size_t size)
{
    (void) self;
    snprintf(ret_text, size, "ung\xfcltig");
}

/* One text for all threads. */
static void text_of_any_thread(struct hal_driver *self, char *ret_text, size_t size)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static char text[HAL_TEXT_BYTES];
    struct faulty_driver *d = faulty_driver_of(self);

    pthread_mutex_lock(&lock);
    d->inner->get_failure_text(d->inner, text, sizeof text);
    pthread_mutex_unlock(&lock);
    nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
    pthread_mutex_lock(&lock);
    snprintf(ret_text, size, "%s", text);
    pthread_mutex_unlock(&lock);
}

static enum hal_status too_many_files(struct hal_driver *self, uint32_t *ret_n_model,
                                      uint32_t *ret_n_data)
{
    (void) self;
    *ret_n_model = *ret_n_data = HAL_MAX_CACHE_FILES + 1;
    return HAL_NONE;
}

/* ---- support */

static enum hal_status inner_support(struct hal_driver *self, enum hal_version version,
                                     const struct hal_model *model, bool *supported,
                                     uint32_t *ret_n)
{
    struct hal_driver *d = faulty_driver_of(self)->inner;

    return d->get_supported_operations(d, version, model, supported, ret_n);
}

/* The answer of the previous model for the operations that it had. */
static enum hal_status previous_support(struct hal_driver *self, enum hal_version version,
                                        const struct hal_model *model, bool *supported,
                                        uint32_t *ret_n)
{
    struct faulty_driver *d = faulty_driver_of(self);
    enum hal_status status = inner_support(self, version, model, supported, ret_n);
    int first = status == HAL_NONE && *ret_n ? supported[0] + 1 : 0;
    int previous = first ? atomic_exchange(&d->state, first) : 0;

    if (previous)
        supported[0] = previous == 2;
    return status;
}

static enum hal_status support_sometimes(struct hal_driver *self, enum hal_version version,
                                         const struct hal_model *model, bool *supported,
                                         uint32_t *ret_n)
{
    enum hal_status status = inner_support(self, version, model, supported, ret_n);

    if (status == HAL_NONE && *ret_n &&
        atomic_fetch_add(&faulty_driver_of(self)->state, 1) % 5 == 4)
        supported[0] = false;
    return status;
}

static enum hal_status support_everything(struct hal_driver *self, enum hal_version version,
                                          const struct hal_model *model, bool *supported,
                                          uint32_t *ret_n)
{
    enum hal_status status = inner_support(self, version, model, supported, ret_n);

    for (uint32_t i = 0; status == HAL_NONE && i < *ret_n; i++)
        supported[i] = true;
    return status;
}

/* Takes operations of every extension for its own. */
static enum hal_status support_extensions(struct hal_driver *self, enum hal_version version,
                                          const struct hal_model *model, bool *supported,
                                          uint32_t *ret_n)
{
    enum hal_status status = inner_support(self, version, model, supported, ret_n);

    for (uint32_t i = 0; status == HAL_NONE && i < *ret_n; i++)
        supported[i] = supported[i] || (uint32_t) model->main.operations[i].type >> 16;
    return status;
}

static enum hal_status support_any_prefix(struct hal_driver *self, enum hal_version version,
                                          const struct hal_model *model, bool *supported,
                                          uint32_t *ret_n)
{
    enum hal_status status = inner_support(self, version, model, supported, ret_n);
    struct hal_model unnamed = *model;

    unnamed.n_extension_prefixes = 0;
    return status == HAL_INVALID_ARGUMENT && model->n_extension_prefixes
               ? inner_support(self, version, &unnamed, supported, ret_n)
               : status;
}

/* ---- versions */

/* Takes the entry point of the driver's own version for every other. */
static enum hal_status supported_at_own_version(struct hal_driver *self, enum hal_version version,
                                                const struct hal_model *model, bool *supported,
                                                uint32_t *ret_n)
{
    (void) version;
    return inner_support(self, self->hal_version, model, supported, ret_n);
}

static void prepare_at_own_version(struct faulty_preparation *p)
{
    p->version = p->driver->base.hal_version;
}

static enum hal_status crash_on_old_model(struct hal_driver *self, enum hal_version version,
                                          const struct hal_model *model, bool *supported,
                                          uint32_t *ret_n)
{
    if (version < HAL_1_2)
        raise(SIGABRT);
    return inner_support(self, version, model, supported, ret_n);
}

/* ---- preparing */

static void any_preference(struct faulty_preparation *p)
{
    p->config.preference = HAL_FAST_SINGLE_ANSWER;
}

static void any_priority(struct faulty_preparation *p)
{
    p->config.priority = HAL_PRIORITY_MEDIUM;
}

static void no_high_priority(struct faulty_preparation *p)
{
    if (p->config.priority == HAL_PRIORITY_HIGH)
        p->config.priority = (enum hal_priority)(HAL_PRIORITY_HIGH + 1);
}

static void no_deadline(struct faulty_preparation *p)
{
    p->config.deadline = HAL_NO_DEADLINE;
}

/* Takes every deadline as a time that has passed. */
static void missed_deadline(struct faulty_preparation *p)
{
    if (p->config.deadline != HAL_NO_DEADLINE)
        p->config.deadline = 1;
}

void faulty_refuse_model(struct faulty_preparation *p)
{
    static struct hal_model invalid; /* without operations */

    p->model = &invalid;
}

static void no_relaxed(struct faulty_preparation *p)
{
    if (p->model && p->model->relaxed)
        faulty_refuse_model(p);
}

static bool is_read(const struct hal_subgraph *g, uint32_t operand)
{
    for (uint32_t i = 0; i < g->n_operations; i++)
        for (uint32_t k = 0; k < g->operations[i].n_inputs; k++)
            if (g->operations[i].inputs[k] == operand)
                return true;
    return false;
}

static void no_unread_constant(struct faulty_preparation *p)
{
    const struct hal_subgraph *g = p->model ? &p->model->main : NULL;

    for (uint32_t i = 0; g && i < g->n_operands; i++)
        if ((g->operands[i].lifetime == HAL_CONSTANT_COPY ||
             g->operands[i].lifetime == HAL_CONSTANT_REFERENCE) &&
            !is_read(g, i)) {
            faulty_refuse_model(p);
            return;
        }
}

/* As a driver that never gives back a resource of its prepared models. */
static void few_models(struct faulty_preparation *p)
{
    enum { MOST = 64 };

    if (p->model && atomic_fetch_add(&p->driver->state, 1) >= MOST)
        faulty_refuse_model(p);
}

static struct hal_prepared_model *base_of(struct faulty_model *m)
{
    return m ? &m->base : NULL;
}

static void notify_twice(struct hal_prepare_callback *client, enum hal_status status,
                         struct faulty_model *m)
{
    client->notify(client, status, base_of(m));
    client->notify(client, HAL_GENERAL_FAILURE, NULL);
}

static void notify_never(struct hal_prepare_callback *client, enum hal_status status,
                         struct faulty_model *m)
{
    if (status == HAL_NONE)
        client->notify(client, status, base_of(m));
}

static void notify_other_status(struct hal_prepare_callback *client, enum hal_status status,
                                struct faulty_model *m)
{
    client->notify(client, status == HAL_INVALID_ARGUMENT ? HAL_DEVICE_UNAVAILABLE : status,
                   base_of(m));
}

static void notify_model_with_error(struct hal_prepare_callback *client, enum hal_status status,
                                    struct faulty_model *m)
{
    client->notify(client, HAL_GENERAL_FAILURE, base_of(m));
    (void) status;
}

static void notify_no_model(struct hal_prepare_callback *client, enum hal_status status,
                            struct faulty_model *m)
{
    if (m)
        m->base.methods->release(&m->base);
    client->notify(client, status, NULL);
}

static void ignore_hints_rules(struct faulty_preparation *p)
{
    p->config.n_hints = 0;
}

static void refuse_hints(struct faulty_preparation *p)
{
    static const struct hal_token_value none[2];

    if (p->config.n_hints)
        p->config.hints = none, p->config.n_hints = COUNT(none); /* the same token twice */
}

/* ---- compilation caching */

static void ignore_token(struct faulty_preparation *p)
{
    memset(p->config.cache.token, 7, HAL_TOKEN_BYTES);
}

static int *file_list(const struct hal_cache *c, struct arena *a)
{
    int *list = arena_alloc(a, c->n_model + c->n_data + 1, sizeof *list);

    if (!list)
        abort();
    memcpy(list, c->model, c->n_model * sizeof *list);
    memcpy(list + c->n_model, c->data, c->n_data * sizeof *list);
    return list;
}

static struct saved_file read_file(int fd)
{
    struct stat s;
    struct saved_file f = { 0 };

    if (fstat(fd, &s) < 0 || !S_ISREG(s.st_mode) || s.st_size <= 0)
        return f;
    f.bytes = malloc((size_t) s.st_size);
    ssize_t n = f.bytes ? pread(fd, f.bytes, (size_t) s.st_size, 0) : -1;
    f.length = n > 0 ? (size_t) n : 0;
    return f;
}

/* Keeps copies of the files: of every save, or only of the first. */
static void keep_saved(struct faulty_driver *d, const struct hal_cache *cache, bool first_only)
{
    pthread_mutex_lock(&d->lock);
    for (uint32_t i = 0; i < cache->n_model && i < MAX_SAVED_FILES; i++) {
        if (first_only && d->saved[i].bytes)
            continue;
        free(d->saved[i].bytes);
        d->saved[i] = read_file(cache->model[i]);
    }
    pthread_mutex_unlock(&d->lock);
}

static void keep_last_saved(struct faulty_driver *d, const struct hal_cache *cache)
{
    keep_saved(d, cache, false);
}

static void keep_first_saved(struct faulty_driver *d, const struct hal_cache *cache)
{
    keep_saved(d, cache, true);
}

/* Restores from the kept copies where `fits` holds for the file and its copy. */
static void restore_kept(struct faulty_preparation *p, bool (*fits)(const struct saved_file *found,
                                                                    const struct saved_file *kept))
{
    struct hal_cache *c = &p->config.cache;
    int *list = p->model ? NULL : file_list(c, p->arena);

    for (uint32_t i = 0; list && i < c->n_model + c->n_data && i < MAX_SAVED_FILES; i++) {
        const struct saved_file *kept = &p->driver->saved[i];
        struct saved_file found = read_file(list[i]);
        if (kept->bytes && fits(&found, kept)) {
            int fd = memfd_create("kept", MFD_CLOEXEC); /* stays open: the fault leaks it */
            if (fd >= 0 && pwrite(fd, kept->bytes, kept->length, 0) == (ssize_t) kept->length)
                list[i] = fd;
        }
        free(found.bytes);
    }
    if (list) {
        c->model = list;
        c->data = list + c->n_model;
    }
}

static bool same_length(const struct saved_file *found, const struct saved_file *kept)
{
    return found->length == kept->length;
}

static bool same_beginning(const struct saved_file *found, const struct saved_file *kept)
{
    return found->length >= kept->length && memcmp(found->bytes, kept->bytes, kept->length) == 0;
}

static bool shorter(const struct saved_file *found, const struct saved_file *kept)
{
    return found->length > 0 && found->length < kept->length &&
           memcmp(found->bytes, kept->bytes, found->length) == 0;
}

static bool always(const struct saved_file *found, const struct saved_file *kept)
{
    (void) found, (void) kept;
    return true;
}

static void ignore_flipped_bits(struct faulty_preparation *p)
{
    restore_kept(p, same_length);
}

static void ignore_appended_bytes(struct faulty_preparation *p)
{
    restore_kept(p, same_beginning);
}

static void ignore_missing_bytes(struct faulty_preparation *p)
{
    restore_kept(p, shorter);
}

static void restore_other_model(struct faulty_preparation *p)
{
    restore_kept(p, always);
}

static bool unreadable(const struct saved_file *found, const struct saved_file *kept)
{
    (void) kept;
    return !found->bytes;
}

static bool zeros(const struct saved_file *found, const struct saved_file *kept)
{
    size_t i = 0;

    (void) kept;
    while (i < found->length && !found->bytes[i])
        i++;
    return i == found->length;
}

/* Takes files without contents, or of zeros, for those that were saved last. */
static void restore_from_zeros(struct faulty_preparation *p)
{
    restore_kept(p, zeros);
}

static void refuse_unknown_preference(struct faulty_preparation *p)
{
    if (!p->model && p->config.preference > HAL_SUSTAINED_SPEED)
        p->config.cache.n_model = p->config.cache.n_data = 0;
}

/* Restores what was saved last under any token, if the files cannot be read. */
static void restore_from_memory(struct faulty_preparation *p)
{
    ignore_token(p);
    restore_kept(p, unreadable);
}

/* Restores the model that was saved first, whatever files and token are. */
static void restore_unchecked(struct faulty_preparation *p)
{
    ignore_token(p);
    restore_kept(p, always);
}

static bool crash_if_changed(const struct saved_file *found, const struct saved_file *kept)
{
    if (found->length != kept->length || memcmp(found->bytes, kept->bytes, kept->length) != 0)
        raise(SIGSEGV);
    return false;
}

/* Reads files as they were saved, without checks. */
static void crash_on_changed_file(struct faulty_preparation *p)
{
    restore_kept(p, crash_if_changed);
}

static void refuse_moved_files(struct faulty_preparation *p)
{
    struct hal_cache *c = &p->config.cache;

    for (uint32_t i = 0; !p->model && i < c->n_model; i++)
        if (lseek(c->model[i], 0, SEEK_CUR) > 0)
            c->n_model = 0;
}

static void crash_on_empty_file(struct faulty_preparation *p)
{
    const struct hal_cache *c = &p->config.cache;
    struct stat s;

    for (uint32_t i = 0; !p->model && i < c->n_model; i++)
        if (fstat(c->model[i], &s) == 0 && S_ISREG(s.st_mode) && !s.st_size)
            raise(SIGSEGV);
}

static void need_cache_files(struct faulty_preparation *p)
{
    const struct hal_cache *c = &p->config.cache;

    for (uint32_t i = 0; p->model && i < c->n_model; i++)
        if (lseek(c->model[i], 0, SEEK_CUR) < 0)
            faulty_refuse_model(p);
}

/* Restores from one file too many or too few by using those that it expects. */
static void ignore_file_count(struct faulty_preparation *p)
{
    uint32_t n_model = 0, n_data = 0;
    struct hal_cache *c = &p->config.cache;
    struct hal_driver *d = p->driver->inner;

    d->get_number_of_cache_files_needed(d, &n_model, &n_data);
    if (c->n_model > n_model)
        c->n_model = n_model;
    if (c->n_data > n_data)
        c->n_data = n_data;
}

/* Finds the model of one restore at a time. */
static void restore_one_at_a_time(struct faulty_preparation *p)
{
    enum { RESTORING_US = 2000 };
    atomic_int *restoring = &p->driver->state;

    if (p->model)
        return;
    if (atomic_fetch_add(restoring, 1) > 0)
        memset(p->config.cache.token, 0, sizeof p->config.cache.token);
    usleep(RESTORING_US);
    atomic_fetch_sub(restoring, 1);
}

static void save_at_older_version(struct faulty_preparation *p)
{
    if (!p->model && p->version < p->driver->base.hal_version)
        p->config.cache.n_model = p->config.cache.n_data = 0;
}

/* ---- the rows */

#define PROPERTY(name, rules, doc, ...)                                                            \
    BREAKS(name, "property", rules, doc, .driver = { __VA_ARGS__ })

static const struct fault rows[] = {
    PROPERTY("busy", RULES("basic/B2"), "get_status reports BUSY", .get_status = is_busy),
    PROPERTY("status-undefined", RULES("basic/B1"),
             "get_status reports a value that does not exist", .get_status = no_such_status),
    PROPERTY("performance-zero", RULES("basic/B3"), "a capability is 0",
             .get_capabilities = no_performance),
    PROPERTY("performance-relaxed-zero", RULES("basic/B4"),
             "the performance of relaxed float32 is 0", .get_capabilities = no_relaxed_performance),
    PROPERTY("performance-while-zero", RULES("basic/B6"), "the performance of WHILE is 0",
             .get_capabilities = no_control_performance),
    PROPERTY("performance-unsorted", RULES("basic/B5"),
             "capabilities are not in ascending order of types",
             .get_capabilities = unsorted_performance),
    PROPERTY("performance-subgraph", RULES("basic/B6"), "capabilities have a row for SUBGRAPH",
             .get_capabilities = subgraph_performance),
    PROPERTY("version-string-empty", RULES("basic/B7"), "the version string is empty",
             .get_version_string = empty_version),
    PROPERTY("device-type-zero", RULES("basic/B8"), "the device type does not exist",
             .get_type = no_such_type),
    PROPERTY("device-type-fails", RULES("version/device-info"), "get_type fails",
             .get_type = type_fails),
    PROPERTY("name-without-hyphen", RULES("basic/B9"), "the driver's name has no instance part",
             .name = "faulty"),
    PROPERTY("extension-name-invalid", RULES("basic/B10"),
             "the name of an extension has capitals and no dot",
             .get_supported_extensions = bad_extension_name),
    PROPERTY("cache-files-too-many", RULES("basic/B11"), "needs 33 cache files of each kind",
             .get_number_of_cache_files_needed = too_many_files),
    PROPERTY("failure-text-unterminated", RULES("basic/B13"),
             "a reason that is longer than the buffer does not end with NUL",
             .get_failure_text = text_without_end),
    PROPERTY("text-latin-1", RULES("basic/B13"), "reasons of failures are not UTF-8",
             .get_failure_text = text_in_latin_1),
    PROPERTY("text-shared", RULES("basic/B14"), "all threads share the reason of the last failure",
             .get_failure_text = text_of_any_thread),

    PROPERTY("performance-varies", RULES("consistency/queries"),
             "capabilities differ from answer to answer", .get_capabilities = measured_performance),
    PROPERTY("extension-type-empty", RULES("extension/types"),
             "a type of an extension has no bytes", .get_supported_extensions = type_without_size),
    PROPERTY("extension-codes-confused", RULES("extension/own", "extension/unknown"),
             "reports support for the operations of every extension",
             .get_supported_extensions = own_extension,
             .get_supported_operations = support_extensions),
    PROPERTY("prefixes-unchecked", RULES("extension/prefixes"),
             "accepts wrong prefixes of extensions",
             .get_supported_operations = support_any_prefix),

    BREAKS("unread-refused", "support", RULES("consistency/unread"),
           "refuses models with a constant that no operation reads",
           .preparing = no_unread_constant),
    BREAKS("models-limited", "resources", RULES("stress/many-models", "stress/killed-clients"),
           "prepares no more models after the 64th", .preparing = few_models),
    BREAKS("support-previous", "support", RULES("request/fails"),
           "the first operation is supported if the previous model's was",
           .driver = { .get_supported_operations = previous_support }),
    BREAKS("support-varies", "support", RULES("consistency/supported"),
           "in every fifth answer the first operation is not supported",
           .driver = { .get_supported_operations = support_sometimes }),
    BREAKS("support-claimed", "support", RULES("request/fails"),
           "reports support for every operation, then fails to prepare",
           .driver = { .get_supported_operations = support_everything }),
    BREAKS("relaxed-refused", "support", RULES("generated/relaxed"),
           "refuses models with relaxed computation", .preparing = no_relaxed),

    BREAKS("preference-unchecked", "model", RULES("model/M21"), "accepts unknown preferences",
           .preparing = any_preference),
    BREAKS("priority-unchecked", "model", RULES("model/M22"), "accepts unknown priorities",
           .preparing = any_priority),
    BREAKS("priority-high-refused", "priority", RULES("priority/Q1"),
           "refuses models of high priority", .preparing = no_high_priority),
    BREAKS("preparation-deadline-ignored", "deadline", RULES("deadline/range"),
           "preparations take no notice of deadlines, not even of invalid ones",
           .preparing = no_deadline),
    BREAKS("preparation-deadline-missed", "deadline", RULES("deadline/Q2", "deadline/cache"),
           "preparations with any deadline miss it", .preparing = missed_deadline),
    BREAKS("hints-unchecked", "extension", RULES("extension/hints"),
           "accepts hints of extensions that the model does not name, and repeated ones",
           .preparing = ignore_hints_rules),
    BREAKS("hints-refused", "extension", RULES("extension/hints"), "refuses models with hints",
           .preparing = refuse_hints),

    BREAKS("prepared-twice", "callback", RULES("concurrency/callbacks"),
           "calls the callback of a preparation twice", .prepared = notify_twice),
    BREAKS("prepared-never", "callback", RULES("basic/B12"),
           "does not call the callback of a preparation that fails", .prepared = notify_never),
    BREAKS("prepared-other-status", "callback", RULES("model/M1"),
           "the callback of a failed launch gets another status", .prepared = notify_other_status),
    BREAKS("prepared-with-error", "callback", RULES("request/valid"),
           "the callback gets a prepared model and an error", .prepared = notify_model_with_error),
    BREAKS("prepared-without-model", "callback", RULES("request/valid"),
           "the callback gets HAL_NONE without a prepared model", .prepared = notify_no_model),

    BREAKS("own-version-supported", "version", RULES("version/gates", "version/newer"),
           "get_supported_operations takes every entry point for its newest",
           .driver = { .get_supported_operations = supported_at_own_version }),
    BREAKS("own-version-prepared", "version", RULES("version/types"),
           "prepare_model takes every entry point for its newest",
           .preparing = prepare_at_own_version),
    BREAKS("own-version-capabilities", "version", RULES("version/capabilities"),
           "get_capabilities takes every entry point for its newest",
           .driver = { .get_capabilities = newest_capabilities }),
    BREAKS("old-model-crash", "version", RULES("version/gates"),
           "crashes on models through the entry points of HAL 1.0 and 1.1",
           .driver = { .get_supported_operations = crash_on_old_model }),

    BREAKS("cache-token-ignored", "cache", RULES("cache/S5"), "restores with any token",
           .preparing = ignore_token),
    BREAKS("cache-bits-unchecked", "cache", RULES("cache/S1"),
           "restores from model cache files with flipped bits", .saved = keep_last_saved,
           .preparing = ignore_flipped_bits),
    BREAKS("cache-length-unchecked", "cache", RULES("cache/S2", "cache/C7"),
           "restores from model cache files with bytes appended", .saved = keep_last_saved,
           .preparing = ignore_appended_bytes),
    BREAKS("cache-shorter-accepted", "cache", RULES("cache/shorter"),
           "restores from model cache files that are cut", .saved = keep_last_saved,
           .preparing = ignore_missing_bytes),
    BREAKS("cache-other-model", "cache", RULES("cache/C11"),
           "restores the model that was saved first", .saved = keep_first_saved,
           .preparing = restore_other_model),
    BREAKS("cache-empty-crash", "cache", RULES("cache/C8"), "crashes on an empty cache file",
           .preparing = crash_on_empty_file),
    BREAKS("cache-needed", "cache", RULES("cache/C5"),
           "a cache that cannot be written makes the preparation fail",
           .preparing = need_cache_files),
    BREAKS("cache-count-unchecked", "cache", RULES("cache/C3", "cache/C4"),
           "restores from more cache files than it needs", .preparing = ignore_file_count),
    BREAKS("cache-in-memory", "cache", RULES("cache/C6"),
           "restores from memory where the files cannot be read", .saved = keep_last_saved,
           .preparing = restore_from_memory),
    BREAKS("cache-unchecked", "cache", RULES("cache/C9", "cache/C10"),
           "restores what it has saved first, whatever files and token are",
           .saved = keep_first_saved, .preparing = restore_unchecked),
    BREAKS("cache-changed-crash", "cache", RULES("cache/S3", "cache/S4"),
           "crashes on a changed cache file", .saved = keep_last_saved,
           .preparing = crash_on_changed_file),
    BREAKS("cache-offset-refused", "cache", RULES("cache/C2"),
           "restores nothing from files whose offset is not 0", .preparing = refuse_moved_files),
    BREAKS("cache-zeros-accepted", "cache", RULES("cache/unsaved"),
           "restores the model that was saved last from files of zeros or without contents",
           .saved = keep_last_saved, .preparing = restore_from_zeros),
    BREAKS("cache-latest", "cache", RULES("cache/several"),
           "restores what it has saved last, whatever files and token are",
           .saved = keep_last_saved, .preparing = restore_unchecked),
    BREAKS("cache-one-restore", "cache", RULES("cache/several"),
           "restores nothing while it restores for another thread",
           .preparing = restore_one_at_a_time),
    BREAKS("cache-preference-checked", "cache", RULES("cache/ignored"),
           "restores nothing with a preference that does not exist",
           .preparing = refuse_unknown_preference),
    BREAKS("cache-older-entry", "cache", RULES("cache/entries"),
           "restores only through the entry point of its own version",
           .preparing = save_at_older_version),
};
const struct fault_group driver_faults = { rows, COUNT(rows) };
