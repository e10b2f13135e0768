/* What hostile_methods.h declares: the tables of methods and actions, choosing one, doing it. */
#define _GNU_SOURCE
#include "tests/harness/hostile/hostile_methods.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

const char *hostile_list(void);

char hostile_folder[4096] = ".";

/* ---- the methods */

#define HAS_EXECUTION (HAS_REQUEST | HAS_RESULT | HAS_STATUS)

/* execute() is reached in drivers of HAL 1.0 and 1.1 only: the driver is one of 1.1 for it. */
static const struct method methods[METHODS] = {
    [AT_OPEN] = { "open", HAS_OBJECT },
    [AT_GET_CAPABILITIES] = { "get_capabilities", HAS_VALUE | HAS_STATUS },
    [AT_GET_TYPE] = { "get_type", HAS_VALUE | HAS_STATUS },
    [AT_GET_VERSION_STRING] = { "get_version_string", HAS_VALUE | HAS_STATUS },
    [AT_GET_SUPPORTED_EXTENSIONS] = { "get_supported_extensions", HAS_VALUE | HAS_STATUS },
    [AT_GET_NUMBER_OF_CACHE_FILES_NEEDED] = { "get_number_of_cache_files_needed",
                                              HAS_VALUE | HAS_STATUS },
    [AT_GET_STATUS] = { "get_status", HAS_STATUS },
    [AT_GET_SUPPORTED_OPERATIONS] = { "get_supported_operations",
                                      HAS_MODEL | HAS_SUPPORTED | HAS_VALUE | HAS_STATUS },
    [AT_PREPARE_MODEL] = { "prepare_model", HAS_MODEL | HAS_CALLBACK | HAS_OBJECT | HAS_STATUS },
    [AT_PREPARE_CALLBACK] = { "prepare_callback", HAS_CALLBACK | HAS_OBJECT | HAS_STATUS },
    [AT_PREPARE_MODEL_FROM_CACHE] = { "prepare_model_from_cache",
                                      HAS_CALLBACK | HAS_OBJECT | HAS_STATUS },
    [AT_ALLOCATE] = { "allocate", HAS_VALUE | HAS_OBJECT | HAS_STATUS },
    [AT_EXECUTE_SYNCHRONOUSLY] = { "execute_synchronously", HAS_EXECUTION },
    [AT_EXECUTE] = { "execute", HAS_REQUEST | HAS_CALLBACK | HAS_STATUS },
    [AT_EXECUTE_CALLBACK] = { "execute_callback", HAS_REQUEST | HAS_CALLBACK | HAS_STATUS },
    [AT_EXECUTE_FENCED] = { "execute_fenced", HAS_REQUEST | HAS_VALUE | HAS_OBJECT | HAS_STATUS },
    [AT_GET_EXECUTION_INFO] = { "get_execution_info", HAS_VALUE | HAS_STATUS },
    [AT_CONFIGURE_BURST] = { "configure_burst", HAS_OBJECT | HAS_STATUS },
    [AT_BURST_EXECUTE] = { "burst_execute", HAS_EXECUTION },
    [AT_BURST_RELEASE_MEMORY] = { "burst_release_memory", HAS_STATUS },
    [AT_CREATE_REUSABLE_EXECUTION] = { "create_reusable_execution",
                                       HAS_REQUEST | HAS_OBJECT | HAS_STATUS },
    [AT_REUSABLE_EXECUTE] = { "reusable_execute", HAS_EXECUTION },
    [AT_REUSABLE_EXECUTE_FENCED] = { "reusable_execute_fenced",
                                     HAS_REQUEST | HAS_VALUE | HAS_OBJECT | HAS_STATUS },
    [AT_COPY_TO] = { "copy_to", HAS_STATUS },
    [AT_COPY_FROM] = { "copy_from", HAS_STATUS },
    [AT_RELEASE_MODEL] = { "release_model", 0 },
    [AT_RELEASE_BURST] = { "release_burst", 0 },
    [AT_RELEASE_BUFFER] = { "release_buffer", 0 },
    [AT_RELEASE_INFO] = { "release_info", 0 },
    [AT_RELEASE_EXECUTION] = { "release_execution", 0 },
    [AT_CLOSE] = { "close", 0 },
    [AT_DESTRUCTOR] = { "destructor", 0 },
};

/* ---- the action */

static const struct action *chosen; /* NULL: none */
static enum at chosen_at;
static unsigned chosen_call; /* 0: every call */
static atomic_uint calls;    /* of the chosen method */

bool hostile_is_chosen(enum at at)
{
    return chosen && at == chosen_at;
}

long hostile_act(enum at at, struct hostile_call *c)
{
    char line[160];

    if (!hostile_is_chosen(at))
        return c->status;
    c->method = &methods[at];
    c->number = atomic_fetch_add(&calls, 1) + 1;
    if (chosen_call && c->number != chosen_call)
        return c->status;
    int n = snprintf(line, sizeof(line), "hostile: %s in %s call %u\n", chosen->name,
                     c->method->name, c->number);
    if (write(STDERR_FILENO, line, (size_t) n) < 0)
        c->number = 0; /* it is closed: done anyway */
    chosen->act(c, chosen->n);
    return c->status;
}

enum hal_status hostile_act_status(enum at at, enum hal_status status)
{
    return (enum hal_status) hostile_act(at, &(struct hostile_call){ .status = status });
}

enum hal_status hostile_act_value(enum at at, enum hal_status status, void *value, size_t size)
{
    return (enum hal_status) hostile_act(
        at, &(struct hostile_call){ .status = status, .value = value, .value_size = size });
}

void hostile_call_back(const struct hostile_call *c, long status, void *model)
{
    const struct hal_timing unknown = { HAL_NO_TIME, HAL_NO_TIME };

    if (c->prepare)
        c->prepare->notify(c->prepare, (enum hal_status) status, model);
    else if (c->execution)
        c->execution->notify(c->execution, (enum hal_status) status, 0, NULL, unknown);
}

void hostile_stay(void)
{
    Dl_info info;

    if (dladdr((void *) (uintptr_t) hostile_stay, &info))
        dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE);
}

void hostile_thread(void *(*run)(void *argument), void *argument)
{
    pthread_t thread;

    hostile_stay();

    if (pthread_create(&thread, NULL, run, argument) == 0)
        pthread_detach(thread);
}

void hostile_sleep_ms(long ms)
{
    struct timespec left = { ms / 1000, ms % 1000 * 1000000 };

    while (nanosleep(&left, &left) < 0) {
    }
}

/* The callback, from a thread when the action is done in it. */
static void *call_back(void *argument)
{
    struct hostile_call *c = argument;

    hostile_act(c->prepare ? AT_PREPARE_CALLBACK : AT_EXECUTE_CALLBACK, c);
    if (!c->is_mute)
        hostile_call_back(c, c->status, c->object);
    free(c);
    return NULL;
}

enum hal_status hostile_finish(enum at at, struct hostile_call *c)
{
    bool is_late = hostile_is_chosen(AT_PREPARE_CALLBACK) || hostile_is_chosen(AT_EXECUTE_CALLBACK);
    long status = hostile_act(at, c);
    struct hostile_call *own = c->is_mute ? NULL : malloc(sizeof(*own));

    if (own)
        *own = *c;
    if (own && is_late && status == HAL_NONE)
        hostile_thread(call_back, own);
    else if (own)
        call_back(own);
    return (enum hal_status) status;
}

/* ---- choosing */

static const struct action_list *const lists[] = { &hostile_call_actions, &hostile_process_actions,
                                                   &hostile_outside_actions };

static const struct action *find_action(const char *name)
{
    for (size_t k = 0; k < COUNT(lists); k++)
        for (size_t i = 0; i < lists[k]->n; i++)
            if (strcmp(lists[k]->action[i].name, name) == 0)
                return &lists[k]->action[i];
    return NULL;
}

bool hostile_choose(const char *arguments)
{
    char name[64], method[64];
    int n = 0;

    if (sscanf(arguments, "%63[^@]@%63[^:&]%n", name, method, &n) != 2)
        return false;
    if (arguments[n] == ':') {
        char *end;
        chosen_call = (unsigned) strtoul(arguments + n + 1, &end, 10);
        n = (int) (end - arguments);
    }
    if (arguments[n] == '&')
        snprintf(hostile_folder, sizeof(hostile_folder), "%s", arguments + n + 1);
    chosen = find_action(name);
    while (chosen_at < METHODS && strcmp(methods[chosen_at].name, method) != 0)
        chosen_at++;
    return chosen && chosen_at < METHODS &&
           (chosen->needs & methods[chosen_at].has) == chosen->needs;
}

/* ---- the list */

static void list_actions(FILE *to, const struct action_list *list)
{
    static const char *const expectations[] = {
        [EXPECT_VIOLATION] = "violation", [EXPECT_DEATH] = "death", [EXPECT_LEGAL] = "legal",
        [EXPECT_CONTAINED] = "contained", [EXPECT_HANG] = "hang",   [EXPECT_LATE] = "late",
    };

    for (size_t i = 0; i < list->n; i++)
        fprintf(to, "action\t%s\t%u\t%s\t%s\n", list->action[i].name, list->action[i].needs,
                expectations[list->action[i].expect], list->action[i].doc);
}

/* Lines "action NAME NEEDS EXPECTATION DOC" and "method NAME HAS", separated by tabs. */
const char *hostile_list(void)
{
    static char *text;
    size_t length;
    FILE *to = text ? NULL : open_memstream(&text, &length);

    if (!to)
        return text ? text : "";
    for (size_t k = 0; k < COUNT(lists); k++)
        list_actions(to, lists[k]);
    for (int i = 0; i < METHODS; i++)
        fprintf(to, "method\t%s\t%u\n", methods[i].name, methods[i].has);
    fclose(to);
    return text;
}
