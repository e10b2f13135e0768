/* Versions of the HAL: what each of them can say, and how something is said at another one.
 *
 * hal_x_complies() asks whether a client or a driver of a version can say a thing as it is: whether
 * it holds nothing that came later.  hal_x_at() says it in the words of a version.  Models comply
 * by golden/model/compliance.h, which knows the levels of operands and operations. */
#ifndef SIM_HAL_CONVERT_H
#define SIM_HAL_CONVERT_H

#include "golden/model/compliance.h"
#include "sim/hal.h"

enum { HAL_VERSIONS = 8 };
extern const enum hal_version hal_versions[HAL_VERSIONS]; /* ascending */
/* As profiles write them: "1.0" ... "1.3", "fl5" ... "fl8"; NULL at the end. */
extern const char *const hal_version_names[HAL_VERSIONS + 1];

/* Feature level that a version speaks, 1 to 8; 0: there is no such version. */
int hal_level(enum hal_version version);
const char *hal_version_name(enum hal_version version); /* "?" where there is no such version */

const char *hal_status_name(enum hal_status status); /* "INVALID_ARGUMENT"; "?" out of range */
bool hal_status_complies(enum hal_status status, enum hal_version version);
/* Codes that the version does not have become HAL_GENERAL_FAILURE. */
enum hal_status hal_status_in(enum hal_status status, enum hal_version version);
/* For want of something that there may be soon. */
enum hal_status hal_exhausted(enum hal_version version);
/* What a driver answers for a failure of ours. */
enum hal_status hal_status_of(const struct why *w, enum hal_version version);

/* Up to HAL 1.3 durations are whole microseconds: rounded down, both, so that their order stays. */
bool hal_timing_complies(struct hal_timing t, enum hal_version version);
struct hal_timing hal_timing_at(struct hal_timing t, enum hal_version version);

/* -1: what the version's own structure has no room for, or misses. */
int hal_capabilities_comply(const struct hal_capabilities *c, enum hal_version version,
                            struct why *w);
/* rows: room for c->n_operands + 2 of them, where ret->operand points. */
void hal_capabilities_at(const struct hal_capabilities *c, enum hal_version version,
                         struct hal_operand_performance *rows, struct hal_capabilities *ret);

/* Of what nobody has said anything: FLT_MAX, the slowest that there is. */
extern const struct hal_performance hal_no_performance;
enum { HAL_RAISED_ROWS = 8 };
/* What the newest clients take capabilities of version `from` for.  Before 1.2 integers are as fast
 * as quantised numbers of 8 bits, before 1.1 relaxed fp32 as fp32.  rows: room for HAL_RAISED_ROWS.
 */
void hal_capabilities_raise(const struct hal_capabilities *c, enum hal_version from,
                            struct hal_operand_performance *rows, struct hal_capabilities *ret);
/* Whether hal_capabilities_at() loses nothing: raised again they are what they were. */
bool hal_capabilities_survive(const struct hal_capabilities *c, enum hal_version version);

/* Arguments that came later are complied with by being left at what says nothing. */
int hal_prepare_config_complies(const struct hal_prepare_config *c, enum hal_version version,
                                struct why *w);
int hal_execution_config_complies(const struct hal_execution_config *c, enum hal_version version,
                                  struct why *w);
/* Of executions in a burst, which have fewer arguments. */
int hal_burst_config_complies(const struct hal_execution_config *c, enum hal_version version,
                              struct why *w);
/* Leaves out what came later; each thing that was said is a note of a loss. */
int hal_prepare_config_at(const struct hal_prepare_config *c, enum hal_version version,
                          struct arena *a, struct conversion *notes, struct hal_prepare_config *ret,
                          struct why *w);
int hal_execution_config_at(const struct hal_execution_config *c, enum hal_version version,
                            struct arena *a, struct conversion *notes,
                            struct hal_execution_config *ret, struct why *w);
/* Types and widths of numbers; whether they fit memory and model is another question.  The lists of
 * the request are there. */
int hal_request_complies(const struct hal_request *r, enum hal_version version, struct why *w);
/* Whether the version has memory of this kind. */
int hal_memory_complies(const struct hal_memory *m, enum hal_version version, struct why *w);
int hal_location_complies(const struct hal_location *l, enum hal_version version, struct why *w);
int hal_dims_comply(const uint32_t *dims, uint32_t n, enum hal_version version, struct why *w);
/* Now, on the clock of which that version's deadlines are points. */
uint64_t hal_now(enum hal_version version);
/* Points in time and durations: from feature level 5 on they are signed, and only -1 says none. */
bool hal_time_complies(uint64_t ns, enum hal_version version);
/* Without padding where there is none, a note of a loss for each.  Whatever else the version does
 * not have stands in the way: WHY_UNSUPPORTED. */
int hal_request_at(const struct hal_request *r, enum hal_version version, struct arena *a,
                   struct conversion *notes, struct hal_request *ret, struct why *w);

#endif
