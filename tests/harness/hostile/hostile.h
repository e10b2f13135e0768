/* A driver that does one wrong or unusual ACTION in one METHOD, and computes correctly otherwise:
 *
 *     lib:hostile_driver.so?ACTION@METHOD[:N][&FOLDER]
 *
 * N: only in the N-th call of that method in a process; else in every call.  FOLDER: where actions
 * on files find the results database (h.db) and another file (canary); the current one if absent.
 * Without arguments it does nothing wrong.  Each time, it prints "hostile: ACTION in METHOD call I"
 * to stderr first.  hostile_list() has the text of both tables, for check_hostile.py. */
#ifndef TESTS_HOSTILE_H
#define TESTS_HOSTILE_H

#include "sim/hal.h"

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

/* What a method gives to the driver and takes from it.  An action needs some of them. */
enum {
    HAS_MODEL = 1,     /* lends a model */
    HAS_SUPPORTED = 2, /* lends the array of get_supported_operations() */
    HAS_REQUEST = 4,   /* lends a request and its memory */
    HAS_RESULT = 8,    /* lends a hal_result */
    HAS_VALUE = 16,    /* lends a structure for a result, ret_x */
    HAS_STATUS = 32,   /* takes a status */
    HAS_CALLBACK = 64, /* takes a callback */
    HAS_OBJECT = 128,  /* takes an object of the driver: driver, model, burst, ... */
};

struct method {
    const char *name;
    unsigned has;
};

/* A call in which the action is done, when the method has done its own work: everything that it was
 * lent (NULL: nothing), and what it is going to answer, which an action may change. */
struct hostile_call {
    const struct method *method;
    unsigned number; /* of this method's call, from 1 */

    const struct hal_model *model;
    bool *supported;
    const struct hal_request *request;
    struct hal_result *result;
    void *value; /* bytes: value_size */
    size_t value_size;
    struct hal_prepare_callback *prepare;
    struct hal_execution_callback *execution;

    long status;
    void *object;
    bool is_mute; /* it does not call back */
};

/* Calls back, with this status and, of a preparation, this model. */
void hostile_call_back(const struct hostile_call *c, long status, void *model);

/* Keeps the library loaded when it is closed: threads or signal handlers in it are left. */
void hostile_stay(void);
/* Runs act(argument) in a thread of its own. */
void hostile_thread(void *(*act)(void *argument), void *argument);
void hostile_sleep_ms(long ms);

/* What the harness must make of a case in which the action was done. */
enum expectation {
    EXPECT_VIOLATION, /* a verdict that does not conform: written memory, wrong answers */
    EXPECT_DEATH,     /* crash or hang */
    EXPECT_LEGAL,     /* nothing: the verdict is that of the numbers */
    EXPECT_CONTAINED, /* any verdict: the driver harms at most itself */
    EXPECT_HANG,      /* hang */
    EXPECT_LATE,      /* a violation in some of the cases: it comes after the call */
};

struct action {
    const char *name;
    void (*act)(struct hostile_call *c, long n);
    long n;
    unsigned needs;
    enum expectation expect;
    const char *doc;
};

struct action_list {
    const struct action *action;
    size_t n;
};
/* Actions on what a method is lent or answers; on the driver's own process; on what is outside. */
extern const struct action_list hostile_call_actions, hostile_process_actions,
    hostile_outside_actions;
/* FOLDER. */
extern char hostile_folder[4096];

#endif
