/* The matrix of conformance tests: every rule of a program on every device, in this process and
 * over a socket, at every HAL version.
 *
 * A cell is one device, one transport, one version.  Each cell is a test of its own, in a process
 * of its own: it opens the driver and walks the program's rules.  Every check is counted; a rule
 * that was checked in none of its cells' ways fails the cell, so that nothing is left out in
 * silence.  At the end the program prints how often each rule was checked, and in how many cells.
 *
 * The programs are linked into one, vts_tests; arguments choose the program, cells (parts of their
 * names, separated by commas) and a rule: vts_tests domain dsp/socket/1.3,gpu/process K2 */
#ifndef TESTS_VTS_MATRIX_H
#define TESTS_VTS_MATRIX_H

#include "sim/hal/hal_convert.h"

struct vts_cell {
    const char *device;
    bool is_remote;
    enum hal_version version; /* of the driver, and of the calls unless a rule says otherwise */
    struct hal_driver *driver;
    struct vts_cell_state *state; /* private */
};

/* What tests a rule, which fails by EXPECT. */
struct vts_check {
    const char *rule;
    void (*check)(struct vts_cell *c, const void *data);
    const void *data; /* a row of the program's own */
};

struct vts_program {
    const char *name; /* as in the rules */
    const struct vts_check *checks;
    int n_checks;
    void (*begin)(void); /* before the first cell, in all cells' parent; may be NULL */
    void (*end)(void);
};

/* Walks the program's rules over the cells that the arguments choose: argv[1] cells, argv[2] a
 * rule. Returns the exit status: 0 if every rule holds in each of its cells. */
int vts_main(const struct vts_program *p, int argc, char **argv);

/* test_vts_x.c defines vts_x_main(), and the build VTS_PROGRAMS as PROGRAM(x) of each of them. */
#ifdef VTS_PROGRAMS
#define PROGRAM(name) int vts_##name##_main(int argc, char **argv);
VTS_PROGRAMS
#undef PROGRAM
#endif

/* One check of the rule under way: counted, and told where it fails.  Returns `ok`. */
#define EXPECT(c, ok, ...)           vts_expect(c, ok, __FILE__, __LINE__, __VA_ARGS__)
#define EXPECT_STATUS(c, s, e, what) vts_expect_status(c, s, e, __FILE__, __LINE__, what)
__attribute__((format(printf, 5, 6))) bool vts_expect(struct vts_cell *c, bool ok, const char *file,
                                                      int line, const char *format, ...);
bool vts_expect_status(struct vts_cell *c, enum hal_status status, enum hal_status expected,
                       const char *file, int line, const char *what);

/* What holds unless the tests or the driver are broken beyond use: ends the cell.  Check's own
 * assertions tell another process of every line that they pass, which takes longer than the line.
 */
void vts_must(bool ok, const char *what);

/* The end of a preparation, or (model NULL) of one from the cache, through that version's entry.
 * That callback and launch agree and that it comes once is checked on the way. */
struct vts_prepared {
    enum hal_status launched, status;
    struct hal_prepared_model *model;
};
struct vts_prepared vts_prepare(struct vts_cell *c, enum hal_version entry,
                                const struct hal_model *model,
                                const struct hal_prepare_config *config);

/* The same with the usual configuration at the cell's version, where the driver supports every
 * operation; NULL where it does not, and then it must not prepare either.  Other answers fail. */
struct hal_prepared_model *vts_prepare_supported(struct vts_cell *c, const struct hal_model *model);

/* Another driver of the cell's device, transport and version, closed by the caller. */
struct hal_driver *vts_open(const struct vts_cell *c, enum hal_version version);

#endif
