/* How the runtime would partition a model over given targets, and why: what `halcyon plan` shows.
 */
#ifndef HARNESS_SHOWN_PLAN_H
#define HARNESS_SHOWN_PLAN_H

#include <stdio.h>

#include "runtime/compile/choose_device.h"
#include "runtime/compile/partition.h"

enum { MOST_PLAN_DEVICES = 33 };

/* The targets as devices of the runtime, and last the reference. */
struct plan_devices {
    uint32_t n;
    ANeuralNetworksDevice *device[MOST_PLAN_DEVICES];
    const char *uri[MOST_PLAN_DEVICES];
};
/* timeout: seconds for each reply of a driver in another process.  WHY_INVALID: a target cannot be
 * opened, violates the contract, or has the name of another. */
int plan_devices_open(const char *const *uri, uint32_t n, double timeout,
                      struct plan_devices *ret_devices, struct why *w);
void plan_devices_close(struct plan_devices *d);

/* The plan of one model. */
struct shown_plan {
    const char *name; /* the case */
    const struct plan_devices *devices;
    ANeuralNetworksModel model;
    struct device_chooser chooser;
    int result;                 /* ResultCode of making the plan */
    struct why why;             /* where there is none */
    struct partition partition; /* where there is one */
};
/* In `a`, which must outlive it.  -1: the model is not valid, or out of memory; that there is no
 * plan is no failure. */
int shown_plan_make(const char *name, const struct model *m, const struct plan_devices *devices,
                    int32_t preference, struct arena *a, struct shown_plan *ret_plan,
                    struct why *w);

/* Why a device does an operation or not: "chosen", "slower", "tie", "needs level 4", ...  Returns
 * text, or a constant. */
enum { REASON_TEXT = 48 };
const char *shown_plan_reason(const struct shown_plan *p, uint32_t graph, uint32_t operation,
                              uint32_t device, char text[REASON_TEXT]);
/* Whether graph `graph` was looked at: the main graph, and those of IF and WHILE that are
 * interpreted. */
bool shown_plan_has_graph(const struct shown_plan *p, uint32_t graph);
/* What happens to a compilation without a plan: a sentence.  "": there is a plan. */
const char *shown_plan_outcome(const struct shown_plan *p);
/* Name of an operation (runtime/compile/operation_text.h), type of its first input or "". */
const char *shown_operation_name(const struct shown_plan *p, uint32_t graph, uint32_t operation,
                                 char text[EXTENSION_TEXT]);
const char *shown_operation_type(const struct shown_plan *p, uint32_t graph, uint32_t operation);

/* Writes the plan as text; as a JSON object on a line; as DOT, with a cluster for each step in the
 * colour of its device. */
void shown_plan_print(const struct shown_plan *p, FILE *to);
void shown_plan_print_json(const struct shown_plan *p, FILE *to);
int shown_plan_print_dot(const struct shown_plan *p, struct arena *scratch, FILE *to,
                         struct why *w);

#endif
