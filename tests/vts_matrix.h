/* The matrix of conformance tests: every rule of a program (tests/vts_rules.h) on every shipped
 * device, in this process and over a socket, at every HAL version.
 *
 * A cell is one device, one transport and one version.  Each cell is a test case with a process of
 * its own, which opens the driver and checks the program's rules.  Every check is counted; a rule
 * that applies to a cell and was not checked there fails the cell, so that no rule is skipped
 * unnoticed.  At the end the program prints how often each rule was checked, and in how many cells.
 *
 * The programs are linked into one, vts_tests; its arguments select the program, the cells (parts
 * of their names, separated by commas) and a rule: vts_tests domain dsp/socket/1.3,gpu/process K2
 */
#ifndef TESTS_VTS_MATRIX_H
#define TESTS_VTS_MATRIX_H

#include "sim/hal/hal_convert.h"

struct vts_cell {
    const char *device;
    bool is_remote;
    enum hal_version
        version; /* of the driver, and of the entry points unless a rule names others */
    struct hal_driver *driver;
    struct vts_cell_state *state; /* private */
};

/* The function that checks a rule, with EXPECT. */
struct vts_check {
    const char *rule;
    void (*check)(struct vts_cell *c, const void *data);
    const void *data; /* passed to check() */
};

struct vts_program {
    const char *name; /* as in the rules */
    const struct vts_check *checks;
    int n_checks;
    void (*begin)(void); /* before the first cell, in the parent of all cells; may be NULL */
    void (*end)(void);   /* after the last; may be NULL */
};

/* Checks the program's rules in the cells that the arguments select: argv[1] cells, argv[2] a rule.
 * Returns the exit status: 0 if every selected rule was checked and holds in each of its cells. */
int vts_main(const struct vts_program *p, int argc, char **argv);

/* test_vts_x.c defines vts_x_main(); the build defines VTS_PROGRAMS as PROGRAM(x) for each of them.
 */
#ifdef VTS_PROGRAMS
#define PROGRAM(name) int vts_##name##_main(int argc, char **argv);
VTS_PROGRAMS
#undef PROGRAM
#endif

/* One check of the current rule: counted, and printed if it fails, with the arguments that repeat
 * it. The format describes the case and what was found.  Returns whether the check holds. */
#define EXPECT(c, ok, ...)           vts_expect(c, ok, __FILE__, __LINE__, __VA_ARGS__)
#define EXPECT_STATUS(c, s, e, what) vts_expect_status(c, s, e, __FILE__, __LINE__, what)
__attribute__((format(printf, 5, 6))) bool vts_expect(struct vts_cell *c, bool ok, const char *file,
                                                      int line, const char *format, ...);
bool vts_expect_status(struct vts_cell *c, enum hal_status status, enum hal_status expected,
                       const char *file, int line, const char *what);

/* Ends the cell unless ok: for conditions without which the rule cannot be checked.  Used instead
 * of Check's assertions, which send a message to another process for every line that they pass. */
void vts_must(bool ok, const char *what);

/* Prepares the model through the entry point of that version, or (model NULL) restores it from the
 * cache of the configuration, and waits for the callback.  Returns the status of the call, that of
 * the callback, and the model (NULL unless HAL_NONE; released by the caller).  Checks that both
 * statuses agree; that the callback is called once is checked when the cell ends. */
struct vts_prepared {
    enum hal_status launched, status;
    struct hal_prepared_model *model;
};
struct vts_prepared vts_prepare(struct vts_cell *c, enum hal_version entry,
                                const struct hal_model *model,
                                const struct hal_prepare_config *config);

/* The same with the default configuration at the cell's version.  Returns NULL if the driver does
 * not support every operation.  Checks that the preparation of a legal model launches, and succeeds
 * for exactly those models that it supports. */
struct hal_prepared_model *vts_prepare_supported(struct vts_cell *c, const struct hal_model *model);

/* Opens another driver of the cell's device and transport, at that version; closed by the caller.
 */
struct hal_driver *vts_open(const struct vts_cell *c, enum hal_version version);

#endif
