/* An execution of a plan of several steps: where each operand's value is, and what the steps need
 * besides (runtime.md 5.3, 5.4).
 *
 *     plan_run.c        from step to step
 *     plan_step.c       one step on its device, with room for results of unknown size
 *     plan_control.c    IF and WHILE
 *     plan_chain.c      executions with fences: each step waits for the one before */
#ifndef RUNTIME_PLAN_RUN_H
#define RUNTIME_PLAN_RUN_H

#include "runtime/execute/on_driver.h"

enum loop_position { LOOP_OUTSIDE, LOOP_IN_CONDITION, LOOP_IN_BODY };

/* What belongs to a step of the plan. */
struct step_run {
    /* STEP_EXECUTE */
    struct argument *input, *output;
    struct driver_request request;
    /* Of each output of unknown size that other steps read: bytes in `block`, one behind the other;
     * 0: the output is none. */
    size_t *room;
    ANeuralNetworksMemory *block; /* NULL: not yet */

    /* STEP_WHILE */
    enum loop_position position;
    uint64_t begun; /* clock_steady_ns() of the entry */
    uint64_t iteration;
};

struct plan_run {
    ANeuralNetworksExecution *execution;
    const struct compiled_plan *plan;
    struct arena *arena;              /* owns this and what it points to, except memories */
    ANeuralNetworksMemory *temporary; /* those of known size; NULL: none */
    struct argument *location;        /* by plan_operand(): the value, or room for it */
    uint32_t *main_output;            /* by plan_operand(): 1 + index of the main output that is
                                         computed there; 0: none */
    struct hal_output_shape *shape;   /* of the main outputs, as far as they are known */
    struct step_run *step;

    /* Of one computation. */
    ANeuralNetworksBurst *burst; /* NULL: none */
    struct plan_chain *chain;    /* of steps that have been launched with fences; NULL: none */
    bool is_final;               /* after a failure: the reference need not try */
};

/* Computes a begun execution whose compilation has a plan, in e->plan_run, which is made at the
 * first call.  Such executions have no time-out: it needs a compilation for one device, which does
 * all in one step.  *ret_is_final: a failure after which the reference does not repeat it. */
void plan_run_compute(ANeuralNetworksExecution *e, ANeuralNetworksBurst *burst,
                      struct computed *ret, bool *ret_is_final);
/* Launches it, where no value between steps is of unknown size: it has ended when the fence has
 * signalled and the info tells its status.  What cannot be launched is waited for. */
int plan_run_launch(ANeuralNetworksExecution *e, struct device_launch *l, bool *ret_is_final);
void plan_run_free(struct plan_run *r);

/* ---- for the parts that are named above */

/* A STEP_EXECUTE: with the fallback to the reference. */
int plan_step_run(struct plan_run *r, uint32_t step);
/* The same with fences, as the next one of the chain. */
int plan_step_launch(struct plan_run *r, uint32_t step, struct device_launch *l);
/* STEP_IF, STEP_WHILE: *ret_next is the step that follows. */
int plan_branch(struct plan_run *r, uint32_t step, uint32_t *ret_next);
int plan_loop(struct plan_run *r, uint32_t step, uint32_t *ret_next);

/* ret: NULL: out of memory.  Freed by release() of its info, or plan_chain_free(). */
struct plan_chain *plan_chain_new(struct plan_run *r, const struct device_launch *l);
/* Launches a step on a device that takes fences. */
int plan_chain_add(struct plan_chain *c, uint32_t step);
/* Waits for all that has been launched: their first failure. */
int plan_chain_wait(struct plan_chain *c);
/* The end's fence and info; both none where all has ended. */
void plan_chain_end(struct plan_chain *c, struct device_launch *l);

#endif
