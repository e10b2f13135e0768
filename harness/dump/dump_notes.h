/* Notes about the operations and operands of a model, for drawing it (reports/graph/graph_dump.h):
 * results of a target, values, the runtime's plan. */
#ifndef HARNESS_DUMP_NOTES_H
#define HARNESS_DUMP_NOTES_H

#include "harness/check/check.h"
#include "harness/plan/shown_plan.h"
#include "reports/graph/graph_dump.h"

struct dump_notes {
    const struct example *e;
    struct arena *arena;                      /* of all that the notes point to */
    struct graph_note **operation, **operand; /* by graph and index */
    struct graph_dump_options options;        /* for drawing; the notes are in it */
    bool is_wrong;                            /* an operation is marked as wrong */
};

/* Without notes yet.  Example and arena must outlive it. */
int dump_notes_begin(struct dump_notes *n, const struct example *e, struct arena *a, struct why *w);
/* Adds lines to a note; text is copied. */
__attribute__((format(printf, 3, 4))) int
dump_note_add(struct dump_notes *n, struct graph_note *note, const char *fmt, ...);

/* Runs the example on the target, then each of its operations alone on the values of the reference
 * (harness/check/per_op_check.h); marks them by error and bound, and the first wrong one.  Where
 * none is wrong alone, the smallest part that fails is marked.  values: also notes what the target
 * computes for each operand.  -1: an error of Halcyon's own. */
struct dump_run {
    struct target *target;
    struct ways ways; /* in which the case is also run, if plainly it conforms */
    bool values;
};
int dump_notes_run(struct dump_notes *n, const struct dump_run *run, struct why *w);
/* Notes the values that the reference computes for each operand, and those of constants.  -1: the
 * reference cannot run the example. */
int dump_notes_values(struct dump_notes *n, struct why *w);
/* Marks the operations that the newest verdict of a case in the database blames, on one of the
 * targets where it does not conform.  0: none is recorded. */
int dump_notes_recorded(struct dump_notes *n, const char *db, const char *name, const char *uri,
                        struct why *w);
/* Boxes around the operations of each step of the runtime's plan.  -1: there is no plan. */
int dump_notes_plan(struct dump_notes *n, const struct plan_devices *devices, struct why *w);

/* "min -1.5, max 3.25, mean 0.1" of the real values of a tensor, or all of them if there are few.
 */
enum { VALUES_TEXT = 320 };
const char *values_text(const struct tensor *t, char text[VALUES_TEXT]);

#endif
