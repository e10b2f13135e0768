/* An example that is edited: made smaller by harness/shrink, changed at random by randgraph/mutate.
 *
 * An edit changes the lists, values and constants of a copy; edit_settle() then removes what
 * nothing reads any more and computes all shapes anew by running the reference, so that an edit
 * need not keep the model consistent. */
#ifndef GOLDEN_EDIT_H
#define GOLDEN_EDIT_H

#include "golden/exec/exec.h"
#include "golden/model/model.h"
#include "golden/model/op.h"

struct edit {
    struct example e;
    struct arena *arena; /* owns all of e */
    bool specify;        /* unknown dimensions become those of this execution */
    uint32_t next;       /* set by a reduction: no site before this one applies; 0: not known */
    /* Called by edit_settle() for each operation that the reference runs; may be NULL. */
    void (*on_operation)(const struct exec_event *e, void *user);
    void *user;
};

/* A tensor or scalar whose value the example gives: an input of the main graph or a constant. */
struct value_ref {
    uint32_t graph, operand;
    int64_t input; /* position among the main graph's inputs; -1: a constant */
};

/* Copies an example into the arena; its outputs lose their expected values. */
int edit_copy(const struct example *from, struct arena *arena, struct edit *ret, struct why *w);

/* Where an operation of the main graph does not fit its record any more, such as a RESHAPE whose
 * input has become smaller, looks for a smaller value of one of its integer constants with which it
 * does. */
void edit_repair(struct edit *c);

/* Removes operations without effect, unused operands and subgraphs, and sets the shapes of all
 * operands that operations write.  -1: the model is not valid, or the reference cannot run it.  An
 * example with .expect_failure must be one that the reference cannot execute; operands that it does
 * not compute keep their shapes. */
int edit_settle(struct edit *c, struct why *w);

/* Binds an operation of a graph to its record as validation does, with the shapes of its outputs
 * open, in the arena.  False: it is not in the catalogue, does not fit, or memory ran out. */
bool bind_operation(const struct graph *g, const struct operation *o, struct arena *a,
                    struct call *ret_call);
/* The same for an operation of the example.  The call is valid until the example changes. */
bool edit_bind(const struct edit *c, uint32_t graph, uint32_t operation, struct call *ret_call);

/* All values of the example, inputs first; omitted ones are left out.  In the arena. */
uint32_t edit_values(const struct edit *c, struct value_ref **ret_refs);
struct tensor *edit_tensor(struct edit *c, const struct value_ref *ref);
/* Gives a value another shape, type or data (in the arena): tensor has all of them. */
void edit_set_value(struct edit *c, const struct value_ref *ref, const struct tensor *tensor);

/* Number of operations of all graphs. */
uint32_t edit_operations(const struct example *e);
/* Elements of the largest operand of the main graph. */
size_t edit_largest(const struct example *e);

/* Makes an operand an input of the main graph with that value. */
int edit_add_input(struct edit *c, uint32_t operand, const struct tensor *value);
/* Makes input k of the main graph a constant.  False: it is omitted, or the only input. */
bool edit_make_constant(struct edit *c, uint32_t k);
/* Removes output k from the list of the main graph; its operand becomes a temporary. */
void edit_remove_output(struct edit *c, uint32_t k);
/* Makes an operand that an operation writes an output of the main graph. */
int edit_add_output(struct edit *c, uint32_t operand);
/* Appends an operand to a graph: its index; UINT32_MAX: out of memory. */
uint32_t edit_add_operand(struct edit *c, uint32_t graph, const struct operand *o);
/* The same for a constant scalar. */
uint32_t edit_add_scalar(struct edit *c, uint32_t graph, enum dtype dtype, double value);
/* Gives an operation of that graph a new operand without value as input k. */
int edit_omit(struct edit *c, uint32_t graph, struct operation *o, uint32_t k);
/* Sets scale and zero point of an operand of the main graph, and of its value; codes stay. */
void edit_set_quant(struct edit *c, uint32_t operand, float scale, int32_t zero);

#endif
