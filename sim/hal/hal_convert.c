#include "sim/hal/hal_convert.h"

#include <float.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "golden/base/clock.h"
#include "golden/model/extension.h"
#include "sim/base/memory.h"

const enum hal_version hal_versions[HAL_VERSIONS] = { HAL_1_0, HAL_1_1, HAL_1_2, HAL_1_3,
                                                      HAL_FL5, HAL_FL6, HAL_FL7, HAL_FL8 };
const char *const hal_version_names[HAL_VERSIONS + 1] = { "1.0", "1.1", "1.2", "1.3", "fl5",
                                                          "fl6", "fl7", "fl8", NULL };

int hal_level(enum hal_version version)
{
    for (int i = 0; i < HAL_VERSIONS; i++)
        if (hal_versions[i] == version)
            return i + 1;
    return 0;
}

const char *hal_version_name(enum hal_version version)
{
    int level = hal_level(version);

    return level ? hal_version_names[level - 1] : "?";
}

enum hal_version hal_version_by_name(const char *name)
{
    for (int i = 0; i < HAL_VERSIONS; i++)
        if (strcmp(hal_version_names[i], name) == 0)
            return hal_versions[i];
    return (enum hal_version) 0;
}

/* ---- statuses */

const char *hal_status_name(enum hal_status status)
{
    static const char *const names[HAL_STATUS_COUNT] = {
        [HAL_NONE] = "NONE",
        [HAL_DEVICE_UNAVAILABLE] = "DEVICE_UNAVAILABLE",
        [HAL_GENERAL_FAILURE] = "GENERAL_FAILURE",
        [HAL_OUTPUT_INSUFFICIENT_SIZE] = "OUTPUT_INSUFFICIENT_SIZE",
        [HAL_INVALID_ARGUMENT] = "INVALID_ARGUMENT",
        [HAL_MISSED_DEADLINE_TRANSIENT] = "MISSED_DEADLINE_TRANSIENT",
        [HAL_MISSED_DEADLINE_PERSISTENT] = "MISSED_DEADLINE_PERSISTENT",
        [HAL_RESOURCE_EXHAUSTED_TRANSIENT] = "RESOURCE_EXHAUSTED_TRANSIENT",
        [HAL_RESOURCE_EXHAUSTED_PERSISTENT] = "RESOURCE_EXHAUSTED_PERSISTENT",
    };

    return (unsigned) status < HAL_STATUS_COUNT ? names[status] : "?";
}

bool hal_status_complies(enum hal_status status, enum hal_version version)
{
    return (unsigned) status <
           (version < HAL_1_3 ? (unsigned) HAL_MISSED_DEADLINE_TRANSIENT : HAL_STATUS_COUNT);
}

enum hal_status hal_status_at(enum hal_status status, enum hal_version version)
{
    return hal_status_complies(status, version) ? status : HAL_GENERAL_FAILURE;
}

enum hal_status hal_status_exhausted(enum hal_version version)
{
    return hal_status_at(HAL_RESOURCE_EXHAUSTED_TRANSIENT, version);
}

static enum hal_status status_of(enum why_code code)
{
    switch (code) {
    case WHY_INVALID:
    case WHY_UNSUPPORTED: return HAL_INVALID_ARGUMENT;
    case WHY_TIMEOUT: return HAL_MISSED_DEADLINE_PERSISTENT;
    case WHY_MEMORY: return HAL_RESOURCE_EXHAUSTED_PERSISTENT;
    case WHY_EXECUTION:
    case WHY_SYSTEM: break;
    }
    return HAL_GENERAL_FAILURE;
}

enum hal_status hal_status_from_why(const struct why *w, enum hal_version version)
{
    return hal_status_at(status_of(w->code), version);
}

/* ---- durations */

static uint64_t duration_at(uint64_t ns, enum hal_version version)
{
    return version > HAL_1_3 || ns == HAL_NO_TIME ? ns : ns / 1000 * 1000;
}

struct hal_timing hal_timing_at(struct hal_timing t, enum hal_version version)
{
    return (struct hal_timing){ duration_at(t.on_device, version),
                                duration_at(t.in_driver, version) };
}

bool hal_timing_complies(struct hal_timing t, enum hal_version version)
{
    struct hal_timing converted = hal_timing_at(t, version);

    return converted.on_device == t.on_device && converted.in_driver == t.in_driver;
}

/* ---- members that a version does not have, by the rows of sim/hal/hal_records.h */

/* The number that shows whether the member is set: of an array, its count. */
static uint16_t place_of(const struct hal_member *m, uint16_t *ret_size)
{
    *ret_size = m->count_size ? m->count_size : m->size;
    return m->count_size ? m->count_at : m->at;
}

static bool is_set(const struct hal_member *m, const void *structure)
{
    uint16_t size, at = place_of(m, &size);

    if (m->kind != MEMBER_ONE)
        return hal_number_at(structure, at, size) != m->neutral;
    for (uint16_t i = 0; i < size; i++)
        if (((const uint8_t *) structure)[at + i])
            return true;
    return false;
}

static int check_members(const struct hal_record *r, const void *structure,
                         enum hal_version version, bool in_burst, struct why *w)
{
    for (const struct hal_member *m = r->member; m < r->member + r->n; m++) {
        const enum hal_version since =
            in_burst && m->since_in_bursts ? m->since_in_bursts : m->since;
        REQUIRE(w, version >= since || !is_set(m, structure),
                "%s in a call of HAL %s, needs HAL %s%s", m->name, hal_version_name(version),
                hal_version_name(since), since != m->since ? " in a burst" : "");
    }
    return 0;
}

int hal_members_comply(const struct hal_record *r, const void *structure, enum hal_version version,
                       struct why *w)
{
    return check_members(r, structure, version, false, w);
}

/* Sets members newer than the version to their neutral values.  Each one that was set is noted as a
 * loss, with `where` before its name, unless notes is NULL. */
static int reset_members(const struct hal_record *r, void *structure, enum hal_version version,
                         const char *where, struct arena *a, struct conversion *notes,
                         struct why *w)
{
    for (const struct hal_member *m = r->member; m < r->member + r->n; m++) {
        uint16_t size, at = place_of(m, &size);
        char *to = (char *) structure + at;
        if (version >= m->since || !is_set(m, structure))
            continue;
        if (notes)
            TRY(conversion_add_note(notes, a, true, w, "%s%s is not representable in HAL %s", where,
                                    m->name, hal_version_name(version)));
        if (m->kind == MEMBER_ONE)
            memset(to, 0, size);
        else
            hal_set_number(structure, at, size, m->neutral);
    }
    return 0;
}

/* ---- capabilities */

/* Whether a version's capabilities can have a row for that type. */
static bool has_row(int32_t type, enum hal_version version)
{
    const struct dtype_info *info = dtype_find(type);

    if (version < HAL_1_2)
        return type == DT_F32 || type == DT_U8;
    return type != DT_MODEL && (!info || info->since <= hal_level(version));
}

const struct hal_performance hal_unreported_performance = { FLT_MAX, FLT_MAX };

static struct hal_performance row_of(const struct hal_capabilities *c, int32_t type)
{
    for (uint32_t i = 0; i < c->n_operands; i++)
        if (c->operand[i].type == type)
            return c->operand[i].info;
    return hal_unreported_performance;
}

void hal_capabilities_at(const struct hal_capabilities *c, enum hal_version version,
                         struct hal_operand_performance *rows, struct hal_capabilities *ret)
{
    struct hal_capabilities converted = *c;

    reset_members(&hal_capabilities_record, &converted, version, "", NULL, NULL, NULL);
    converted.n_operands = 0;
    converted.operand = rows;
    if (version < HAL_1_2) {
        rows[converted.n_operands++] =
            (struct hal_operand_performance){ DT_F32, row_of(c, DT_F32) };
        rows[converted.n_operands++] = (struct hal_operand_performance){ DT_U8, row_of(c, DT_U8) };
    } else {
        for (uint32_t i = 0; i < c->n_operands; i++)
            if (has_row(c->operand[i].type, version))
                rows[converted.n_operands++] = c->operand[i];
    }
    *ret = converted;
}

void hal_capabilities_to_newest(const struct hal_capabilities *c, enum hal_version from,
                                struct hal_operand_performance *rows, struct hal_capabilities *ret)
{
    /* The rows that replace the two of 1.0 and 1.1; as: the type whose performance is taken. */
    static const struct {
        int32_t type, as;
    } raised[HAL_NEWEST_ROWS] = { { DT_FLOAT32, DT_F32 }, { DT_INT32, DT_U8 },
                                  { DT_UINT32, DT_U8 },   { DT_F32, DT_F32 },
                                  { DT_I32, DT_U8 },      { DT_U8, DT_U8 },
                                  { OEM_CODE, DT_U8 },    { OEM_CODE + 1, DT_U8 } };
    struct hal_capabilities converted = *c;

    if (from < HAL_1_1)
        converted.relaxed_tensor = row_of(c, DT_F32);
    if (from < HAL_1_2) {
        converted.relaxed_scalar = converted.relaxed_tensor;
        for (int i = 0; i < HAL_NEWEST_ROWS; i++)
            rows[i] = (struct hal_operand_performance){ raised[i].type, row_of(c, raised[i].as) };
        converted.n_operands = HAL_NEWEST_ROWS;
        converted.operand = rows;
    }
    if (from < HAL_1_3)
        converted.if_performance = converted.while_performance = hal_unreported_performance;
    *ret = converted;
}

static bool is_same(struct hal_performance a, struct hal_performance b)
{
    return a.exec_time == b.exec_time && a.power_usage == b.power_usage;
}

bool hal_capabilities_are_lossless(const struct hal_capabilities *c, enum hal_version version)
{
    if (version < HAL_1_3 && (!is_same(c->if_performance, hal_unreported_performance) ||
                              !is_same(c->while_performance, hal_unreported_performance)))
        return false;
    if (version >= HAL_1_2) {
        for (uint32_t i = 0; i < c->n_operands; i++)
            if (!has_row(c->operand[i].type, version))
                return false;
        return true;
    }

    /* The two rows of 1.0 and 1.1 must determine the others. */
    struct hal_operand_performance two[2], rows[HAL_NEWEST_ROWS];
    struct hal_capabilities converted, raised;
    hal_capabilities_at(c, version, two, &converted);
    hal_capabilities_to_newest(&converted, version, rows, &raised);
    for (uint32_t i = 0; i < c->n_operands; i++)
        if (!is_same(c->operand[i].info, row_of(&raised, c->operand[i].type)))
            return false;
    return is_same(c->relaxed_tensor, raised.relaxed_tensor) &&
           is_same(c->relaxed_scalar, raised.relaxed_scalar);
}

int hal_capabilities_comply(const struct hal_capabilities *c, enum hal_version version,
                            struct why *w)
{
    const char *name = hal_version_name(version);

    if (hal_members_comply(&hal_capabilities_record, c, version, w) < 0)
        return why_prefix(w, "capabilities");
    for (uint32_t i = 0; i < c->n_operands; i++) {
        int32_t type = c->operand[i].type;
        const struct dtype_info *info = dtype_find(type);
        REQUIRE(w, has_row(type, version),
                "capabilities of HAL %s: a row for type %d%s%s, which that version cannot have",
                name, type, info ? ", " : "", info ? info->name : "");
    }
    REQUIRE(w, version >= HAL_1_2 || c->n_operands == 2,
            "capabilities of HAL %s: %u rows, expected TENSOR_FLOAT32 and TENSOR_QUANT8_ASYMM",
            name, c->n_operands);
    return 0;
}

/* ---- arguments */

uint64_t hal_now(enum hal_version version)
{
    return clock_ns(version >= HAL_FL5 ? CLOCK_BOOTTIME : CLOCK_MONOTONIC);
}

bool hal_time_complies(uint64_t ns, enum hal_version version)
{
    return version < HAL_FL5 || ns == HAL_NO_TIME || ns <= INT64_MAX;
}

int hal_check_time(const char *what, uint64_t ns, enum hal_version version, struct why *w)
{
    REQUIRE(w, hal_time_complies(ns, version), "%s of %" PRIi64 " ns", what, (int64_t) ns);
    return 0;
}

int hal_prepare_config_complies(const struct hal_prepare_config *c, enum hal_version version,
                                struct why *w)
{
    TRY(hal_members_comply(&hal_prepare_config_record, c, version, w));
    return hal_check_time("a deadline", c->deadline, version, w);
}

static int check_times(const struct hal_execution_config *c, enum hal_version version,
                       struct why *w)
{
    TRY(hal_check_time("a deadline", c->deadline, version, w));
    return hal_check_time("a loop timeout", c->loop_timeout, version, w);
}

int hal_execution_config_complies(const struct hal_execution_config *c, enum hal_version version,
                                  struct why *w)
{
    TRY(hal_members_comply(&hal_execution_config_record, c, version, w));
    return check_times(c, version, w);
}

int hal_burst_config_complies(const struct hal_execution_config *c, enum hal_version version,
                              struct why *w)
{
    TRY(check_members(&hal_execution_config_record, c, version, true, w));
    return check_times(c, version, w);
}

int hal_prepare_config_at(const struct hal_prepare_config *c, enum hal_version version,
                          struct arena *a, struct conversion *notes, struct hal_prepare_config *ret,
                          struct why *w)
{
    struct hal_prepare_config converted = *c;

    TRY(reset_members(&hal_prepare_config_record, &converted, version, "", a, notes, w));
    *ret = converted;
    return 0;
}

int hal_execution_config_at(const struct hal_execution_config *c, enum hal_version version,
                            struct arena *a, struct conversion *notes,
                            struct hal_execution_config *ret, struct why *w)
{
    struct hal_execution_config converted = *c;

    TRY(reset_members(&hal_execution_config_record, &converted, version, "", a, notes, w));
    *ret = converted;
    return 0;
}

/* ---- requests: 32-bit unsigned integers up to HAL 1.3, signed ones since feature level 5 */

int hal_dims_comply(const uint32_t *dims, uint32_t n, enum hal_version version, struct why *w)
{
    for (uint32_t i = 0; i < n && version >= HAL_FL5; i++)
        REQUIRE(w, dims[i] <= INT32_MAX, "dimension %u is negative: %" PRIi32, i,
                (int32_t) dims[i]);
    return 0;
}

int hal_memory_complies(const struct hal_memory *m, enum hal_version version, struct why *w)
{
    REQUIRE(w, m->kind != HAL_MEMORY_HARDWARE_BUFFER || version >= HAL_1_2,
            "memory: HAL %s has no hardware buffers", hal_version_name(version));
    return 0;
}

int hal_location_complies(const struct hal_location *l, enum hal_version version, struct why *w)
{
    const uint64_t most = version >= HAL_FL5 ? INT64_MAX : UINT32_MAX;

    REQUIRE(w, version < HAL_FL5 || l->pool <= INT32_MAX, "the pool index is negative: %" PRIi32,
            (int32_t) l->pool);
    REQUIRE(w, l->offset <= most && l->length <= most && l->padding <= most,
            "%" PRIi64 " bytes at %" PRIi64 ", %" PRIi64 " of padding: out of range in HAL %s",
            (int64_t) l->length, (int64_t) l->offset, (int64_t) l->padding,
            hal_version_name(version));
    return hal_members_comply(&hal_location_record, l, version, w);
}

static int check_arguments(const char *what, const struct hal_argument *a, uint32_t n,
                           enum hal_version version, struct why *w)
{
    for (uint32_t i = 0; i < n; i++)
        if (hal_location_complies(&a[i].location, version, w) < 0 ||
            (a[i].dims && hal_dims_comply(a[i].dims, a[i].n_dims, version, w) < 0))
            return why_prefix(w, "%s %u", what, i);
    return 0;
}

static int check_pool(const struct hal_request_pool *p, enum hal_version version, struct why *w)
{
    TRY(hal_members_comply(&hal_request_pool_record, p, version, w));
    REQUIRE(w, !p->is_token || version < HAL_FL5 || p->token <= INT32_MAX,
            "the token is negative: %" PRIi32, (int32_t) p->token);
    return 0;
}

int hal_request_complies(const struct hal_request *r, enum hal_version version, struct why *w)
{
    for (uint32_t i = 0; i < r->n_pools; i++)
        if (check_pool(&r->pools[i], version, w) < 0)
            return why_prefix(w, "pool %u", i);
    TRY(check_arguments("input", r->inputs, r->n_inputs, version, w));
    return check_arguments("output", r->outputs, r->n_outputs, version, w);
}

/* Copies arguments to the arena, without padding where the version has none. */
static int drop_padding(const char *what, const struct hal_argument *from, uint32_t n,
                        enum hal_version version, struct arena *a, struct conversion *notes,
                        const struct hal_argument **ret, struct why *w)
{
    struct hal_argument *converted = arena_copy(a, from, n * sizeof(*from));
    char where[32];

    if (!converted)
        return why_no_memory(w);
    for (uint32_t i = 0; i < n; i++) {
        snprintf(where, sizeof(where), "%s %u: ", what, i);
        TRY(reset_members(&hal_location_record, &converted[i].location, version, where, a, notes,
                          w));
    }
    *ret = converted;
    return 0;
}

static int check_request(const struct hal_request *r, enum hal_version version, struct why *w)
{
    for (uint32_t i = 0; i < r->n_pools; i++)
        if (!r->pools[i].is_token && hal_memory_complies(&r->pools[i].memory, version, w) < 0)
            return why_prefix(w, "pool %u", i);
    return hal_request_complies(r, version, w);
}

int hal_request_at(const struct hal_request *r, enum hal_version version, struct arena *a,
                   struct conversion *notes, struct hal_request *ret, struct why *w)
{
    struct hal_request converted = *r;

    TRY(drop_padding("input", r->inputs, r->n_inputs, version, a, notes, &converted.inputs, w));
    TRY(drop_padding("output", r->outputs, r->n_outputs, version, a, notes, &converted.outputs, w));
    if (check_request(&converted, version, w) < 0) {
        w->code = WHY_UNSUPPORTED;
        return -1;
    }
    *ret = converted;
    return 0;
}
