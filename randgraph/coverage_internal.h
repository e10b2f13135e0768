/* Internal to randgraph: what a call is counted under, and the weights by the counts.
 *
 *   call_class.c   the class of a call, as numbers and as text
 *   coverage.c     counts by class
 *   steering.c     weights by the counts, and what is drawn by them */
#ifndef RANDGRAPH_COVERAGE_INTERNAL_H
#define RANDGRAPH_COVERAGE_INTERNAL_H

#include "randgraph/coverage.h"
#include "randgraph/randgraph_internal.h"

enum operand_state { OPERAND_OMITTED, OPERAND_RESULT, OPERAND_INPUT, OPERAND_CONSTANT };

/* A call that is legal.  state: an operand is omitted, the result of another operation, an input of
 * the model, or constant; the last two have their values, if at all. */
struct call_facts {
    const struct op *op;
    const struct form *form;
    const struct typing *typing;
    uint32_t n_in;
    const struct tensor *arg[MAX_CALL];
    enum operand_state state[MAX_CALL];
    uint8_t role[MAX_CALL];
};

/* Classes of an option: an operand that is omitted, or a scalar that is no constant, else its
 * value. The numbers that are not listed are OPTION_MORE. */
enum option_class {
    OPTION_OMITTED,
    OPTION_INPUT,
    OPTION_NEGATIVE,
    OPTION_0,
    OPTION_1,
    OPTION_2, /* of activations and padding schemes, as OPTION_3 */
    OPTION_3,
    OPTION_MORE,
    OPTION_CLASSES,
    NO_OPTION = 255
};
enum { COVERAGE_RANKS = MAX_RANK + 1, TYPES_TEXT = 40 * MAX_SLOTS, OPTIONS_TEXT = 4096 };

struct call_class {
    uint8_t rank, values;
    uint8_t option[MAX_ROLES]; /* by role; NO_OPTION: the role is no option of this call */
};
void class_of_call(const struct call_facts *f, struct call_class *ret);
/* The class of a scalar's value, or NO_OPTION. */
enum option_class option_of_value(const struct role *r, enum dtype type, double x);
/* Bit per class that the role can have, if that is known before a call is drawn. */
unsigned options_possible(const struct op *op, const struct form *f, const struct typing *t,
                          int role);
/* The class as text, and back; -1: there is none. */
const char *option_word(const struct role *r, enum option_class c);
int option_by_word(const struct role *r, const char *word);
/* Bit per enum randgraph_value_class that the operation's tensors can have in this typing row. */
unsigned values_possible(const struct op *op, const struct typing *t);
/* The types of the typing row, by slot; returns text. */
char *typing_text(const struct op *op, const struct typing *t, char text[TYPES_TEXT]);
const char *form_text(const struct form *f);

/* Index in op_table; -1: not in the catalogue. */
int op_index(const struct op *op);
/* Rows of an operation: *ret_first and the following ones.  0 for IF and WHILE. */
uint32_t op_first_row(const struct rows *rows, int op, uint32_t *ret_first);

/* The counts of a row. */
struct row_counts {
    struct randgraph_count all, rank[COVERAGE_RANKS], values[RANDGRAPH_VALUE_CLASSES];
    struct randgraph_count (*option)[OPTION_CLASSES]; /* by role */
};

struct randgraph_coverage {
    struct arena *arena; /* owns it all */
    const struct rows *rows;
    struct randgraph_count *op;   /* by index in op_table */
    struct row_counts *row;       /* by id; of rows with equal text the first */
    bool *repeated;               /* by id: an earlier row of the operation has the same text */
    struct randgraph_count *next; /* [producer * op_table_n + consumer] */
};

/* Whether an operation can read what another one writes, by its types. */
bool can_follow(const struct op *from, const struct op *to);

/* ---- drawing */

/* The operation that a graph or another chain begins with; sets its row, b->first_row, and its
 * type.  Types of the graph are preferred, if they are drawn already.  NULL: there is none. */
const struct op *steer_first(struct builder *b);
/* An operation of the list; it is to follow the writer of k, unless that is NULL. */
const struct op_rows *steer_op(struct builder *b, const struct op_list *list);
const struct row *steer_row(struct builder *b, const struct op_rows *rows);
/* Whether to keep a call that was drawn: less likely, the more often calls of its class were
 * executed. */
bool steer_keeps(const struct draft *d);

#endif
