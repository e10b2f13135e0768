/* Targets: drivers named by URIs. */
#define _GNU_SOURCE
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "golden/base/clock.h"
#include "golden/base/logging.h"
#include "golden/base/suggest.h"
#include "golden/base/trace.h"
#include "sim/base/failure_text.h"
#include "sim/base/own_file.h"
#include "sim/client/runtime.h"
#include "sim/device/engine.h"
#include "sim/device/profile.h"
#include "sim/faulty/faulty.h"
#include "sim/hal/hal_convert.h"
#include "sim/remote/remote.h"

#define LOG_TAG "Manager"

const char *const target_shipped[] = { "sim:cpu", "sim:gpu", "sim:dsp", NULL };

/* A URI taken apart: scheme:path?query */
struct uri {
    char *scheme, *path, *query; /* path and query may be empty */
};

static int split_uri(const char *text, struct uri *ret_uri, struct why *w)
{
    struct uri u = { .scheme = strdup(text) };
    char *query = u.scheme ? strchr(u.scheme, '?') : NULL;

    if (!u.scheme)
        return why_no_memory(w);
    u.query = query ? query + 1 : u.scheme + strlen(u.scheme);
    if (query)
        *query = 0;
    u.path = strchr(u.scheme, ':');
    if (u.path)
        *u.path++ = 0;
    else
        u.path = u.scheme + strlen(u.scheme);
    *ret_uri = u;
    return 0;
}

/* What may follow the '?' of a simulated device. */
struct sim_options {
    const struct fault *fault;
    enum hal_version hal, lowest; /* 0: as its profile says */
    bool is_realtime;
};

static int parse_hal(const char *uri, const char *text, enum hal_version *ret, struct why *w)
{
    const char *name = strchr(text, '=') + 1;
    struct suggestion s = suggest_for(name);
    char near[SUGGEST_TEXT];

    for (int i = 0; i < HAL_VERSIONS; i++) {
        if (strcmp(name, hal_version_names[i]) == 0) {
            *ret = hal_versions[i];
            return 0;
        }
        suggest_candidate(&s, hal_version_names[i]);
    }
    return why_fail(w, WHY_INVALID,
                    "%s: expected %.*s1.0, 1.1, 1.2, 1.3, fl5, fl6, fl7 or fl8, found %s%s", uri,
                    (int) (name - text), text, name, suggest_text(&s, "", near));
}

static int unknown_fault(const char *uri, const char *name, struct why *w)
{
    struct suggestion s = suggest_for(name);
    char text[SUGGEST_TEXT];

    for (int i = 0; fault_at(i); i++)
        suggest_candidate(&s, fault_at(i)->name);
    return why_fail(w, WHY_INVALID, "%s: unknown fault '%s'%s", uri, name,
                    s.name ? suggest_text(&s, "", text)
                           : " ('halcyon devices --faults' lists them)");
}

static int unknown_option(const char *uri, const char *text, struct why *w)
{
    static const char *const keys[] = { "fault=", "hal=", "lowest=", "realtime" };
    char key[32], near[SUGGEST_TEXT];
    const size_t n = strcspn(text, "=:");

    snprintf(key, sizeof key, "%.*s%s", (int) (n < 30 ? n : 30), text, text[n] ? "=" : "");
    struct suggestion s = suggest_for(key);
    for (int i = 0; i < COUNT(keys); i++)
        suggest_candidate(&s, keys[i]);
    if (!s.name && fault_find(text))
        return why_fail(w, WHY_INVALID, "%s: unknown option '%s'; did you mean fault=%s?", uri,
                        text, text);
    return why_fail(w, WHY_INVALID, "%s: unknown option '%s'%s", uri, text,
                    s.name ? suggest_text(&s, "", near)
                           : "; expected fault=NAME, hal=VERSION, lowest=VERSION or realtime, with "
                             "& between several");
}

static int parse_option(const char *uri, const char *text, struct sim_options *o, struct why *w)
{
    if (strcmp(text, "realtime") == 0) {
        o->is_realtime = true;
        return 0;
    }
    if (strncmp(text, "hal=", 4) == 0)
        return parse_hal(uri, text, &o->hal, w);
    if (strncmp(text, "lowest=", 7) == 0)
        return parse_hal(uri, text, &o->lowest, w);
    if (strncmp(text, "fault=", 6) != 0)
        return unknown_option(uri, text, w);
    o->fault = fault_find(text + 6);
    return o->fault ? 0 : unknown_fault(uri, text + 6, w);
}

static int parse_query(const char *uri, char *query, struct sim_options *ret_options, struct why *w)
{
    char *rest = NULL;

    for (char *at = strtok_r(query, "&", &rest); at; at = strtok_r(NULL, "&", &rest)) {
        const struct sim_options before = *ret_options;
        TRY(parse_option(uri, at, ret_options, w));
        REQUIRE(w, !before.fault || before.fault == ret_options->fault,
                "%s: two faults, %s and %s; a target can have one", uri, before.fault->name,
                ret_options->fault->name);
    }
    return 0;
}

static bool ends_with(const char *text, const char *end)
{
    const size_t n = strlen(text), m = strlen(end);

    return n >= m && strcmp(text + n - m, end) == 0;
}

/* The scheme of a target that was given as a path only; NULL: it is none. */
static const char *scheme_of_path(const char *path)
{
    struct stat about;

    if (ends_with(path, ".so"))
        return "lib:";
    if (ends_with(path, ".toml") || ends_with(path, ".json"))
        return "sim:";
    return stat(path, &about) == 0 && S_ISSOCK(about.st_mode) ? "unix:" : NULL;
}

/* What the target may have been meant to be, as "; did you mean sim:cpu?", or "": one with neither
 * a path nor options; a path without its scheme; another scheme. */
static const char *nearest_target(const struct uri *u, char text[SUGGEST_TEXT])
{
    static const char *const schemes[] = { "sim", "lib", "sl", "rt", "unix" };
    char name[64];
    snprintf(name, sizeof name, "%s%s%s", u->scheme, *u->path ? ":" : "", u->path);
    struct suggestion s = suggest_for(name),
                      without_scheme = suggest_for(*u->path ? u->path : name),
                      scheme = suggest_for(u->scheme);
    const char *path_scheme = scheme_of_path(*u->path ? u->path : u->scheme);

    for (int i = 0; target_shipped[i]; i++)
        suggest_candidate(&s, target_shipped[i]);
    suggest_candidate(&s, "golden");
    suggest_candidate(&s, "null");
    for (int i = 0; target_shipped[i]; i++)
        suggest_candidate(&without_scheme, target_shipped[i] + strlen("sim:"));
    for (int i = 0; i < COUNT(schemes); i++)
        suggest_candidate(&scheme, schemes[i]);
    text[0] = 0;
    if (s.name || without_scheme.name)
        return s.name ? suggest_text(&s, "", text) : suggest_text(&without_scheme, "sim:", text);
    if (path_scheme && strcmp(u->scheme, "sim") != 0)
        snprintf(text, SUGGEST_TEXT, "; did you mean %s%.80s?", path_scheme,
                 *u->path ? u->path : u->scheme);
    else if (*u->path && scheme.name && scheme.distance)
        snprintf(text, SUGGEST_TEXT, "; did you mean %s:%.80s?", scheme.name, u->path);
    return text;
}

static int read_json(const char *path, char **ret_json, struct why *w)
{
    FILE *file = fopen(path, "re");
    char *text = NULL;
    size_t size = 0;

    if (!file)
        return why_file(w, path, errno);
    const ssize_t n = getdelim(&text, &size, 0, file);
    fclose(file);
    if (n < 0) {
        free(text);
        return why_fail(w, WHY_INVALID, "%s: the file is empty or cannot be read", path);
    }
    *ret_json = text;
    return 0;
}

/* The text of a profile that is not a shipped one: malloc()ed JSON. */
static int read_profile_text(const struct uri *u, const char *uri, const struct target_host *host,
                             char **ret_json, struct why *w)
{
    const char *dot = strrchr(u->path, '.');
    char text[SUGGEST_TEXT];

    if (host && host->profile) {
        *ret_json = strdup(host->profile);
        return *ret_json ? 0 : why_no_memory(w);
    }
    if (dot && strcmp(dot, ".json") == 0)
        return read_json(u->path, ret_json, w);
    REQUIRE(w, dot && strcmp(dot, ".toml") == 0,
            "%s: expected sim:cpu, sim:gpu, sim:dsp, sim:PATH.toml or sim:PATH.json%s", uri,
            nearest_target(u, text));
    REQUIRE(
        w, host && host->read_profile,
        "%s: this program reads no TOML; halcyon devices --profile-json %s writes the profile as "
        "JSON, for sim:PATH.json",
        uri, u->path);
    return host->read_profile(u->path, ret_json, w);
}

static int read_profile(const struct uri *u, const char *uri, const struct target_host *host,
                        struct profile **ret_profile, struct why *w)
{
    const char *shipped = profile_shipped(u->path);
    char *json = NULL;

    if (shipped)
        return profile_parse(shipped, uri, ret_profile, w);
    TRY(read_profile_text(u, uri, host, &json, w));
    int rc = profile_parse(json, u->path, ret_profile, w);
    free(json);
    return rc;
}

static int open_sim(const struct uri *u, const char *uri, const struct target_host *host,
                    struct engine **ret_engine, struct why *w)
{
    struct sim_options options = { 0 };
    struct profile *p = NULL;

    TRY(parse_query(uri, u->query, &options, w));
    TRY(read_profile(u, uri, host, &p, w));
    TRY(engine_device(p, options.fault, ret_engine, w));
    (*ret_engine)->is_realtime = options.is_realtime;
    if (options.hal)
        (*ret_engine)->hal = options.hal;
    if (options.lowest > (*ret_engine)->hal) {
        why_fail(w, WHY_INVALID, "%s: lowest=%s is above the device's HAL %s", uri,
                 hal_version_name(options.lowest), hal_version_name((*ret_engine)->hal));
        (*ret_engine)->methods->free(*ret_engine);
        return -1;
    }
    (*ret_engine)->lowest_hal = options.lowest;
    return 0;
}

static bool is_plain(const struct uri *u, const char *scheme)
{
    return strcmp(u->scheme, scheme) == 0 && !*u->path && !*u->query;
}

static int open_engine(const struct uri *u, const char *uri, const struct target_host *host,
                       struct engine **ret_engine, struct why *w)
{
    char text[SUGGEST_TEXT];

    if (strcmp(u->scheme, "sim") == 0)
        return open_sim(u, uri, host, ret_engine, w);
    if (is_plain(u, "null"))
        return engine_null(ret_engine, w);
    if (is_plain(u, "golden"))
        return engine_reference(ret_engine, w);
    return why_fail(w, WHY_INVALID, "unknown target '%s'%s", uri,
                    *nearest_target(u, text)
                        ? text
                        : "; expected sim:NAME, sim:PATH.toml, sim:PATH.json, lib:PATH.so, "
                          "sl:PATH.so, rt:, unix:PATH, null or golden");
}

/* Of the C API: the runtime, or a support library.  Their driver is a library that is opened as any
 * other one, with the URI as its arguments: this folder knows its file name, not its sources. */
static bool is_of_api(const char *uri)
{
    return strncmp(uri, "rt:", 3) == 0 || strncmp(uri, "sl:", 3) == 0;
}

static int open_api(const char *uri, struct hal_driver **ret_driver, void **ret_library,
                    struct why *w)
{
    char path[PATH_MAX];

    REQUIRE(w, uri[3] || strncmp(uri, "sl:", 3) != 0, "expected sl:PATH.so");
    TRY(own_file("libhalcyon_nnapi.so", "runtime", "HALCYON_NNAPI_DRIVER", path, w));
    return library_open(path, uri, ret_driver, ret_library, w);
}

static int open_driver(const struct uri *u, const char *uri, const struct target_host *host,
                       struct hal_driver **ret_driver, void **ret_library, struct why *w)
{
    struct engine *e = NULL;

    if (strcmp(u->scheme, "lib") == 0) {
        REQUIRE(w, *u->path, "%s: expected lib:PATH.so", uri);
        if (library_open(u->path, u->query, ret_driver, ret_library, w) < 0)
            return why_prefix(w, "%s", uri);
        return 0;
    }
    if (is_of_api(uri)) {
        if (open_api(uri, ret_driver, ret_library, w) < 0)
            return why_prefix(w, "%s", uri);
        return 0;
    }
    TRY(open_engine(u, uri, host, &e, w));
    const struct fault *fault = e->fault;
    TRY(driver_new(e, ret_driver, w));
    return fault && fault->contract ? faulty_driver_new(*ret_driver, fault, ret_driver, w) : 0;
}

int target_of_driver(const char *uri, struct hal_driver *driver, struct target **ret_target,
                     struct why *w)
{
    struct target *t = calloc(1, sizeof(*t));

    if (t) {
        *t = (struct target){ .uri = strdup(uri), .driver = driver };
        driver_client_init(&t->client, driver);
    }
    if (!t || !t->uri) {
        free(t);
        if (driver)
            driver->close(driver);
        return why_no_memory(w);
    }
    *ret_target = t;
    return 0;
}

/* Of a driver in another process.  Without the driver it is as good as dead: the next run looks for
 * it. */
static int open_service(const char *uri, const struct target_host *host, struct target **ret_target,
                        struct why *w)
{
    const char *path = strchr(uri, ':') + 1;
    struct reply_timeout timeout = { 0 };
    struct hal_driver *driver = NULL;
    struct target *t;

    REQUIRE(w, *path && !strchr(path, '?'), "%s: expected unix:PATH", uri);
    if (host)
        timeout = (struct reply_timeout){ .seconds = host->reply_timeout,
                                          .waiting = host->waiting,
                                          .user = host->user };
    if ((!host || !host->is_known) && remote_open(path, &timeout, &driver, w) < 0)
        return why_prefix(w, "%s", uri);
    TRY(target_of_driver(uri, driver, &t, w));
    t->timeout = timeout;
    t->socket = strchr(t->uri, ':') + 1;
    *ret_target = t;
    return 0;
}

bool target_is_isolated(const char *uri, enum isolation isolation)
{
    bool has_fault = strncmp(uri, "sim:", 4) == 0 && strstr(uri, "fault=");
    bool is_library = strncmp(uri, "lib:", 4) == 0 || is_of_api(uri);

    return (isolation >= ISOLATE_FOREIGN && (is_library || has_fault)) ||
           (isolation == ISOLATE_ALL && strncmp(uri, "sim:", 4) == 0);
}

/* The driver's process reads neither TOML nor files: it gets the profile as JSON. */
static int open_hosted(const struct uri *u, const char *uri, const struct target_host *host,
                       struct target **ret_target, struct why *w)
{
    char *profile = NULL;
    int rc = 0;

    if (strcmp(u->scheme, "sim") == 0 && !profile_shipped(u->path))
        rc = read_profile_text(u, uri, host, &profile, w);
    if (rc == 0)
        rc = hosted_open(uri, profile, host, ret_target, w);
    free(profile);
    return rc;
}

/* A driver that is opened later, by the first run, has been asked before (target_host.is_known). */
static int enter(struct target *t, enum hal_version entry, struct why *w)
{
    const struct hal_driver *d = t->driver;

    t->entry = entry;
    REQUIRE(w, !d || !d->hal_version || (entry >= d->lowest_version && entry <= d->hal_version),
            "%s has the entry points of HAL %s to %s, not of %s", t->uri,
            hal_version_name(d->lowest_version), hal_version_name(d->hal_version),
            hal_version_name(entry));
    return 0;
}

int target_open(const char *uri, const struct target_host *host, struct target **ret_target,
                struct why *w)
{
    struct hal_driver *driver = NULL;
    void *library = NULL;
    struct target *t = NULL;
    struct uri u = { 0 };
    int rc;

    TRACE(LR, PI, "target_open");
    TRY(split_uri(uri, &u, w));
    if (strcmp(u.scheme, "unix") == 0) {
        rc = open_service(uri, host, &t, w);
    } else if (host && target_is_isolated(uri, host->isolation)) {
        rc = open_hosted(&u, uri, host, &t, w);
    } else {
        rc = open_driver(&u, uri, host, &driver, &library, w);
        if (rc == 0)
            rc = target_of_driver(uri, driver, &t, w);
        if (rc == 0)
            t->library = library;
        else
            library_close(library);
    }
    free(u.scheme);
    if (rc == 0 && host && host->entry && enter(t, host->entry, w) < 0) {
        target_free(t);
        rc = -1;
    }
    if (rc < 0) {
        VLOG(MANAGER, "%s cannot be opened: %s", uri, w->text);
        return -1;
    }
    t->no_extensions = host ? host->no_extensions : NULL;
    if (t->driver)
        VLOG(MANAGER, "%s is open: %s of HAL %s", uri, t->driver->name,
             hal_version_name(t->driver->hal_version));
    *ret_target = t;
    return 0;
}

struct hal_driver *target_take_driver(struct target *t)
{
    struct hal_driver *d = t->driver;

    target_forget(t);
    return d;
}

void target_forget(struct target *t)
{
    driver_client_done(&t->client);
    free(t->uri);
    free(t);
}

void target_free(struct target *t)
{
    if (!t)
        return;
    TRACE(LR, PT, "target_free");
    VLOG(MANAGER, "%s is closed", t->uri);
    if (t->hosted) {
        hosted_free(t);
        return;
    }
    if (t->driver)
        t->driver->close(t->driver);
    library_close(t->library);
    target_forget(t);
}

/* ---- what a target is at */

const char *const target_step_text[TARGET_STEPS] = {
    [TARGET_AT_NOTHING] = "",
    [TARGET_AT_SUPPORTED] = "in get_supported_operations",
    [TARGET_AT_PREPARE] = "in prepare_model",
    [TARGET_AT_PREPARED] = "between prepare_model and its callback",
    [TARGET_AT_EXECUTE_SYNCHRONOUSLY] = "in execute_synchronously",
    [TARGET_AT_EXECUTE] = "in execute",
    [TARGET_AT_EXECUTED] = "between execute and its callback",
    [TARGET_AT_BURST] = "in an execution of a burst",
    [TARGET_AT_FENCED] = "in execute_fenced",
    [TARGET_AT_FENCE] = "between execute_fenced and its fence",
    [TARGET_AT_REUSABLE] = "in a reusable execution",
    [TARGET_AT_BUFFERS] = "with buffers of the driver",
    [TARGET_AT_ONCE] = "in executions at once",
    [TARGET_AT_RELEASE] = "in the prepared model's release",
};

const enum stage target_stage_of[TARGET_STEPS] = {
    [TARGET_AT_SUPPORTED] = STAGE_SUPPORTED, [TARGET_AT_PREPARE] = STAGE_PREPARE,
    [TARGET_AT_PREPARED] = STAGE_PREPARE,    [TARGET_AT_EXECUTE_SYNCHRONOUSLY] = STAGE_EXECUTE,
    [TARGET_AT_EXECUTE] = STAGE_EXECUTE,     [TARGET_AT_EXECUTED] = STAGE_EXECUTE,
    [TARGET_AT_BURST] = STAGE_EXECUTE,       [TARGET_AT_FENCED] = STAGE_EXECUTE,
    [TARGET_AT_FENCE] = STAGE_EXECUTE,       [TARGET_AT_REUSABLE] = STAGE_EXECUTE,
    [TARGET_AT_BUFFERS] = STAGE_EXECUTE,     [TARGET_AT_ONCE] = STAGE_EXECUTE,
    [TARGET_AT_RELEASE] = STAGE_DONE,
};

void target_watch(struct target *t, _Atomic uint32_t *ret_step)
{
    t->watched = ret_step;
}

/* Before and after each call: the state of the calling thread that the driver before it may have
 * changed is as at the start of the run. */
void target_at(struct target *t, enum target_step step)
{
    if (t->step != TARGET_AT_NOTHING)
        caller_state_restore(&t->state);
    t->step = step;
    if (t->begun)
        t->begun[step] = clock_steady_ns();
    if (t->watched)
        *t->watched = step;
}

static void client_at(enum target_step step, void *user)
{
    target_at(user, step);
}

void target_begin_client(struct target *t)
{
    t->client.driver = t->driver;
    t->client.is_service = t->socket;
    t->client.run = t->runs;
    t->client.at = client_at;
    t->client.user = t;
}

enum hal_status target_note_failure(struct target *t, enum hal_status status)
{
    if (status != HAL_NONE)
        failure_text_of(t->driver, t->failure_text);
    return status;
}

/* ---- drivers that die in a process of their own */

bool target_is_dead(struct target *t, struct why *w)
{
    return t->socket && (!t->driver || remote_is_dead(t->driver, w));
}

/* Whoever starts services anew needs a moment, which a target that has died is given once. */
static int find_service(struct target *t, struct hal_driver **ret_driver, struct why *w)
{
    enum { TURNS = 50, TURN_US = 20000 };
    int rc = remote_open(t->socket, &t->timeout, ret_driver, w);

    for (int i = 0; i < TURNS && rc < 0 && w->code == WHY_INVALID && !t->is_lost; i++) {
        usleep(TURN_US);
        rc = remote_open(t->socket, &t->timeout, ret_driver, w);
    }
    t->is_lost = rc < 0;
    return rc;
}

int target_reconnect(struct target *t, struct why *w)
{
    struct hal_driver *d;

    if (!target_is_dead(t, NULL))
        return 0;
    TRACE_SUBTRACT(LR, PI, "target_reconnect");
    if (find_service(t, &d, w) < 0)
        return why_prefix(w, "the driver's process has ended, and no other one serves it");
    if (t->driver)
        t->driver->close(t->driver);
    t->driver = d;
    VLOG(MANAGER, "%s: there is a new process of the driver", t->uri);
    return 0;
}

const char *target_uri(const struct target *t)
{
    return t->uri;
}

const struct hal_driver *target_driver(const struct target *t)
{
    return t->driver;
}

enum hal_version target_version(const struct target *t)
{
    return t->entry ? t->entry : t->driver ? t->driver->hal_version : 0;
}
