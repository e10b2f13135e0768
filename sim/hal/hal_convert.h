/* HAL versions: what each version can represent, and conversion of structures between versions.
 *
 * hal_x_complies() checks that a structure is representable in a version, that is, contains nothing
 * newer.  hal_x_at() converts a structure to a version.  For models, golden/model/compliance.h does
 * both; it has the feature levels of operands and operations. */
#ifndef SIM_HAL_CONVERT_H
#define SIM_HAL_CONVERT_H

#include "golden/model/compliance.h"
#include "sim/hal/hal_records.h"

enum { HAL_VERSIONS = 8 };
extern const enum hal_version hal_versions[HAL_VERSIONS]; /* ascending */
/* As profiles write them: "1.0" ... "1.3", "fl5" ... "fl8"; NULL at the end. */
extern const char *const hal_version_names[HAL_VERSIONS + 1];

/* The feature level of a version, 1 to 8; 0: no such version. */
int hal_level(enum hal_version version);
/* The version with that name; 0: none. */
enum hal_version hal_version_by_name(const char *name);
const char *hal_version_name(enum hal_version version); /* as above; "?": no such version */

const char *hal_status_name(enum hal_status status); /* "INVALID_ARGUMENT"; "?" out of range */
bool hal_status_complies(enum hal_status status, enum hal_version version);
/* The status, or HAL_GENERAL_FAILURE if the version does not have that code. */
enum hal_status hal_status_at(enum hal_status status, enum hal_version version);
/* Status for transient resource exhaustion, in the codes of the version. */
enum hal_status hal_status_exhausted(enum hal_version version);
/* The status that a driver returns for a failure described by `w`, in the codes of the version. */
enum hal_status hal_status_from_why(const struct why *w, enum hal_version version);

/* Up to HAL 1.3 times are whole microseconds.  hal_timing_at() rounds both down, which preserves
 * on_device <= in_driver. */
bool hal_timing_complies(struct hal_timing t, enum hal_version version);
struct hal_timing hal_timing_at(struct hal_timing t, enum hal_version version);

/* Members newer than the version must have their neutral values; not those of structures within.
 * WHY_INVALID. */
int hal_members_comply(const struct hal_record *r, const void *structure, enum hal_version version,
                       struct why *w);

/* -1: a member or row that the version's structure does not have, or a missing required row. */
int hal_capabilities_comply(const struct hal_capabilities *c, enum hal_version version,
                            struct why *w);
/* Drops what the version does not have.  rows: array of c->n_operands + 2 elements owned by the
 * caller, to which ret->operand points. */
void hal_capabilities_at(const struct hal_capabilities *c, enum hal_version version,
                         struct hal_operand_performance *rows, struct hal_capabilities *ret);

/* Default performance when not reported: FLT_MAX. */
extern const struct hal_performance hal_unreported_performance;
enum { HAL_NEWEST_ROWS = 8 };
/* Converts capabilities of version `from` to the newest version.  Types without a row before 1.2
 * take the performance of TENSOR_FLOAT32 (floats) or TENSOR_QUANT8_ASYMM (integers, OEM); relaxed
 * fp32 before 1.1 takes that of fp32.  rows: array of HAL_NEWEST_ROWS elements owned by the caller,
 * to which ret->operand points if from < HAL_1_2. */
void hal_capabilities_to_newest(const struct hal_capabilities *c, enum hal_version from,
                                struct hal_operand_performance *rows, struct hal_capabilities *ret);
/* Whether hal_capabilities_at() is lossless: hal_capabilities_to_newest() restores its input. */
bool hal_capabilities_are_lossless(const struct hal_capabilities *c, enum hal_version version);

/* Arguments newer than the version must have their neutral values (sim/hal.h).  WHY_INVALID. */
int hal_prepare_config_complies(const struct hal_prepare_config *c, enum hal_version version,
                                struct why *w);
int hal_execution_config_complies(const struct hal_execution_config *c, enum hal_version version,
                                  struct why *w);
/* For executions in a burst, which got some of the arguments later. */
int hal_burst_config_complies(const struct hal_execution_config *c, enum hal_version version,
                              struct why *w);
/* Resets arguments newer than the version to their neutral values; each one that was set is added
 * to `notes` as a loss.  Notes are allocated in the arena.  WHY_MEMORY. */
int hal_prepare_config_at(const struct hal_prepare_config *c, enum hal_version version,
                          struct arena *a, struct conversion *notes, struct hal_prepare_config *ret,
                          struct why *w);
int hal_execution_config_at(const struct hal_execution_config *c, enum hal_version version,
                            struct arena *a, struct conversion *notes,
                            struct hal_execution_config *ret, struct why *w);
/* Checks that the version has the kinds of pools, and the ranges of its integers; not whether the
 * values fit the memory or the model.  The request's arrays are not NULL.  WHY_INVALID. */
int hal_request_complies(const struct hal_request *r, enum hal_version version, struct why *w);
/* Whether the version has memory of this kind. */
int hal_memory_complies(const struct hal_memory *m, enum hal_version version, struct why *w);
int hal_location_complies(const struct hal_location *l, enum hal_version version, struct why *w);
int hal_dims_comply(const uint32_t *dims, uint32_t n, enum hal_version version, struct why *w);
/* The current time in ns on the clock of that version's deadlines. */
uint64_t hal_now(enum hal_version version);
/* Whether a point in time or duration is representable: since feature level 5 times are signed, and
 * the only negative value is -1, HAL_NO_TIME. */
bool hal_time_complies(uint64_t ns, enum hal_version version);
int hal_check_time(const char *what, uint64_t ns, enum hal_version version, struct why *w);
/* Removes padding where the version has none and adds each to `notes` as a loss.  Anything else
 * that the version cannot represent: WHY_UNSUPPORTED. */
int hal_request_at(const struct hal_request *r, enum hal_version version, struct arena *a,
                   struct conversion *notes, struct hal_request *ret, struct why *w);

#endif
