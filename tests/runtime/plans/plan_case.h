/* Plans of small models over scripted devices: the scenarios of runtime.md 4.7.
 *
 * Operations have kinds, an operation type with a fused activation; a scripted driver supports a
 * set of kinds.  Its get_supported_operations() fails the test if the model that it is given is not
 * valid at its level. */
#ifndef TESTS_PLAN_CASE_H
#define TESTS_PLAN_CASE_H

#include "golden/model/build.h"
#include "runtime/compile/partition.h"

enum kind {
    ADD_0, /* fused activation 0 to 3 */
    MUL_0 = 4,
    DIV_0 = 8, /* since feature level 2 */
    SUB_0 = 12,
    MAXIMUM_ = 16, /* since 3, without activation from here on */
    MINIMUM_,
    POW_,
    PRELU_,
    HARD_SWISH_, /* since 4, one input */
    RANDOM_KINDS,
    EQUAL_ = RANDOM_KINDS,
    PAD_,
    CAST_,
    SQRT_,
    RELU_,
    OEM_,
    IF_,
    WHILE_,
    KINDS
};
#define SET(kind) (1u << (kind))
#define ALL_KINDS (SET(RANDOM_KINDS) - 1)
/* Feature level of a kind. */
int kind_level(enum kind k);

enum { CASE_DEVICES = 8, CASE_ROWS = 17 };

struct scripted_device {
    ANeuralNetworksDevice base;
    struct hal_driver driver;
    struct hal_operand_performance row[CASE_ROWS];
    char name[32];
    unsigned kinds; /* SET() of those that it supports */
    enum hal_status status;
    uint32_t answers_more;        /* wrong number of answers: so many more */
    unsigned asked;               /* calls of get_supported_operations() */
    uint32_t n_inputs, n_outputs; /* of the last model that it was asked about */
};

struct plan_case {
    struct build b;
    struct arena *arena;
    ANeuralNetworksModel m; /* of plan_case_make() */
    struct scripted_device device[CASE_DEVICES];
    uint32_t n_devices;
    bool without_reference; /* it is not appended to the devices */
    int32_t preference;     /* low power, unless changed */
    struct partition p;     /* of plan_case_make() */
    struct why w;
};

void plan_case_init(struct plan_case *c, uint32_t n_graphs);
void plan_case_done(struct plan_case *c);

/* Adds operands of TENSOR_FLOAT32 [1], one for each letter: (i)nput, (o)utput, (t)emporary,
 * (c)onstant; a capital letter: of unknown dimension; b, B: inputs and outputs of TENSOR_BOOL8 [1].
 */
void plan_case_tensors(struct plan_case *c, const char *letters);
/* Adds an operation; its activation becomes a constant operand.  `second` is ignored by kinds with
 * one input. */
void plan_case_op(struct plan_case *c, enum kind kind, uint32_t first, uint32_t second,
                  uint32_t out);

/* Adds an IF or WHILE with two subgraphs (then and else; condition and body) and the operands that
 * they take; in[0] of IF is its condition. */
void plan_case_control(struct plan_case *c, enum kind kind, uint32_t first_graph,
                       uint32_t second_graph, const uint32_t *in, uint32_t n_in,
                       const uint32_t *out, uint32_t n_out);

/* Adds a device of feature level 4, time and power of which are this number for all types, IF and
 * WHILE. */
struct scripted_device *plan_case_device(struct plan_case *c, const char *name, float performance,
                                         unsigned kinds);
void scripted_device_set_level(struct scripted_device *d, int level);
/* The performance of one operand type. */
void scripted_device_set_type(struct scripted_device *d, int32_t type, float performance);
/* The reference executor; it is never called. */
const ANeuralNetworksDevice *scripted_reference(void);

/* Sorts the model and partitions it. */
int plan_case_make(struct plan_case *c);
/* The plan: "SIMPLE good", or steps with their operands, "0: i0 i1 > t2; 1: i3 t2 > o4": inputs and
 * outputs of the source model and temporaries, with the numbers of their operands; control flow as
 * "IF; A: ...; GOTO 4". */
const char *plan_case_text(struct plan_case *c);

/* Makes the plan and compares its text. */
void plan_case_expect(struct plan_case *c, const char *text);
/* Makes it and expects this result instead. */
void plan_case_expect_failure(struct plan_case *c, int result, const char *why);

#endif
