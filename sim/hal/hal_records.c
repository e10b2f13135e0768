/* The rows; TYPE is the structure that they belong to. */
#include "sim/hal/hal_records.h"

#include <string.h>

/* MEMBER_FILES are arrays of int; other arrays of numbers are unsigned or float. */
#define KIND(member)                                                                               \
    _Generic(((struct TYPE *) 0)->member,                                                          \
        bool: MEMBER_BOOL,                                                                         \
        uint16_t: MEMBER_16,                                                                       \
        int32_t: MEMBER_32,                                                                        \
        uint32_t: MEMBER_32,                                                                       \
        float: MEMBER_32,                                                                          \
        uint64_t: MEMBER_64,                                                                       \
        const char *: MEMBER_TEXT,                                                                 \
        const uint32_t *: MEMBER_NUMBERS,                                                          \
        const float *: MEMBER_NUMBERS,                                                             \
        const uint8_t *: MEMBER_BYTES,                                                             \
        const void *: MEMBER_BYTES,                                                                \
        uint8_t *: MEMBER_TOKEN,                                                                   \
        uint32_t *: MEMBER_DIMS,                                                                   \
        const int *: MEMBER_FILES)
#define SIZE(member)          sizeof(((struct TYPE *) 0)->member)
#define COUNT(number)         .count_at = offsetof(struct TYPE, number), .count_size = SIZE(number)
#define OF(record)            .of = &(record)
#define SINCE(version, value) .since = (version), .neutral = (value)
#define WHEN(other, value)                                                                         \
    .when_at = offsetof(struct TYPE, other), .when_size = SIZE(other), .when = (value)

#define ROW(name, kind, member, ...)                                                               \
    {                                                                                              \
        name, kind, offsetof(struct TYPE, member), SIZE(member), __VA_ARGS__                       \
    }
/* A member and its properties; NAMED: its field has another name. */
#define MEMBER(...)                    WITH(__VA_ARGS__, )
#define WITH(member, ...)              ROW(#member, KIND(member), member, __VA_ARGS__)
#define NAMED(name, ...)               NAMED_WITH(name, __VA_ARGS__, )
#define NAMED_WITH(name, member, ...)  ROW(name, KIND(member), member, __VA_ARGS__)
#define ONE(member, ...)               ROW(#member, MEMBER_ONE, member, __VA_ARGS__)
#define LIST(name, member, count, ...) ROW(name, MEMBER_LIST, member, COUNT(count), __VA_ARGS__)

#define RECORD(rows)                                                                               \
    {                                                                                              \
        sizeof(struct TYPE), sizeof(rows) / sizeof(*(rows)), rows                                  \
    }

/* ---- memory and models */

const struct hal_record hal_memory_record = { .size = sizeof(struct hal_memory) };

#define TYPE hal_location
static const struct hal_member location_rows[] = { MEMBER(pool), MEMBER(offset), MEMBER(length),
                                                   MEMBER(padding, SINCE(HAL_FL5, 0)) };
const struct hal_record hal_location_record = RECORD(location_rows);
#undef TYPE

#define TYPE hal_operand
static const struct hal_member operand_rows[] = {
    MEMBER(type),
    MEMBER(dims, COUNT(n_dims)),
    MEMBER(n_consumers),
    MEMBER(scale),
    MEMBER(zero),
    MEMBER(lifetime),
    ONE(location, OF(hal_location_record)),
    MEMBER(extra),
    MEMBER(channel_dim),
    MEMBER(channel_scales, COUNT(n_channel_scales), WHEN(extra, HAL_EXTRA_CHANNEL_QUANT)),
    MEMBER(extension, COUNT(extension_length), WHEN(extra, HAL_EXTRA_EXTENSION)),
};
static const struct hal_record operand_record = RECORD(operand_rows);
#undef TYPE

#define TYPE hal_operation
static const struct hal_member operation_rows[] = { MEMBER(type), MEMBER(inputs, COUNT(n_inputs)),
                                                    MEMBER(outputs, COUNT(n_outputs)) };
static const struct hal_record operation_record = RECORD(operation_rows);
#undef TYPE

#define TYPE hal_subgraph
static const struct hal_member subgraph_rows[] = {
    LIST("operands", operands, n_operands, OF(operand_record)),
    LIST("operations", operations, n_operations, OF(operation_record)),
    MEMBER(inputs, COUNT(n_inputs)),
    MEMBER(outputs, COUNT(n_outputs)),
};
static const struct hal_record subgraph_record = RECORD(subgraph_rows);
#undef TYPE

#define TYPE hal_extension_prefix
static const struct hal_member extension_prefix_rows[] = { MEMBER(name), MEMBER(prefix) };
static const struct hal_record extension_prefix_record = RECORD(extension_prefix_rows);
#undef TYPE

#define TYPE hal_model
static const struct hal_member model_rows[] = {
    ONE(main, OF(subgraph_record)),
    LIST("referenced", referenced, n_referenced, OF(subgraph_record), SINCE(HAL_1_3, 0)),
    MEMBER(operand_values, COUNT(operand_values_length)),
    LIST("pools", pools, n_pools, OF(hal_memory_record)),
    MEMBER(relaxed, SINCE(HAL_1_1, false)),
    LIST("prefixes", extension_name_to_prefix, n_extension_prefixes, OF(extension_prefix_record)),
};
const struct hal_record hal_model_record = RECORD(model_rows);
#undef TYPE

#define TYPE hal_token_value
static const struct hal_member token_value_rows[] = { MEMBER(token), MEMBER(value, COUNT(length)) };
static const struct hal_record token_value_record = RECORD(token_value_rows);
#undef TYPE

/* ---- executions */

#define TYPE hal_argument
static const struct hal_member argument_rows[] = {
    MEMBER(has_no_value),
    ONE(location, OF(hal_location_record)),
    MEMBER(dims, COUNT(n_dims)),
};
static const struct hal_record argument_record = RECORD(argument_rows);
#undef TYPE

#define TYPE hal_request_pool
static const struct hal_member request_pool_rows[] = {
    MEMBER(is_token, SINCE(HAL_1_3, false)),
    MEMBER(token),
    ONE(memory, OF(hal_memory_record), WHEN(is_token, false)),
};
const struct hal_record hal_request_pool_record = RECORD(request_pool_rows);
#undef TYPE

#define TYPE hal_request
static const struct hal_member request_rows[] = {
    LIST("inputs", inputs, n_inputs, OF(argument_record)),
    LIST("outputs", outputs, n_outputs, OF(argument_record)),
    LIST("pools", pools, n_pools, OF(hal_request_pool_record)),
};
const struct hal_record hal_request_record = RECORD(request_rows);
#undef TYPE

#define TYPE hal_execution_config
static const struct hal_member execution_config_rows[] = {
    MEMBER(measure, SINCE(HAL_1_2, false)),
    MEMBER(deadline, SINCE(HAL_1_3, HAL_NO_DEADLINE), .since_in_bursts = HAL_FL5),
    MEMBER(loop_timeout, SINCE(HAL_1_3, HAL_NO_TIME), .since_in_bursts = HAL_FL5),
    LIST("hints", hints, n_hints, OF(token_value_record), SINCE(HAL_FL8, 0)),
    LIST("prefixes", extension_name_to_prefix, n_extension_prefixes, OF(extension_prefix_record),
         SINCE(HAL_FL8, 0)),
};
const struct hal_record hal_execution_config_record = RECORD(execution_config_rows);
#undef TYPE

#define TYPE hal_output_shape
static const struct hal_member output_shape_rows[] = { MEMBER(dims, COUNT(n_dims)),
                                                       MEMBER(is_sufficient) };
const struct hal_record hal_output_shape_record = RECORD(output_shape_rows);
#undef TYPE

#define TYPE hal_timing
static const struct hal_member timing_rows[] = { MEMBER(on_device), MEMBER(in_driver) };
const struct hal_record hal_timing_record = RECORD(timing_rows);
#undef TYPE

/* ---- preparation and buffers */

#define TYPE hal_prepare_config
static const struct hal_member prepare_config_rows[] = {
    MEMBER(preference, SINCE(HAL_1_1, HAL_FAST_SINGLE_ANSWER)),
    MEMBER(priority, SINCE(HAL_1_3, HAL_PRIORITY_MEDIUM)),
    MEMBER(deadline, SINCE(HAL_1_3, HAL_NO_DEADLINE)),
    NAMED("model_cache", cache.model, COUNT(cache.n_model), SINCE(HAL_1_2, 0)),
    NAMED("data_cache", cache.data, COUNT(cache.n_data), SINCE(HAL_1_2, 0)),
    NAMED("token", cache.token),
    LIST("hints", hints, n_hints, OF(token_value_record), SINCE(HAL_FL8, 0)),
    LIST("prefixes", extension_name_to_prefix, n_extension_prefixes, OF(extension_prefix_record),
         SINCE(HAL_FL8, 0)),
};
const struct hal_record hal_prepare_config_record = RECORD(prepare_config_rows);
#undef TYPE

#define TYPE hal_buffer_desc
static const struct hal_member buffer_desc_rows[] = { MEMBER(dims, COUNT(n_dims)) };
const struct hal_record hal_buffer_desc_record = RECORD(buffer_desc_rows);
#undef TYPE

#define TYPE hal_buffer_role
static const struct hal_member buffer_role_rows[] = { MEMBER(model_index), MEMBER(io_index),
                                                      MEMBER(probability) };
const struct hal_record hal_buffer_role_record = RECORD(buffer_role_rows);
#undef TYPE

/* ---- properties of a driver */

#define TYPE hal_performance
static const struct hal_member performance_rows[] = { MEMBER(exec_time), MEMBER(power_usage) };
static const struct hal_record performance_record = RECORD(performance_rows);
#undef TYPE

#define TYPE hal_operand_performance
static const struct hal_member operand_performance_rows[] = { MEMBER(type),
                                                              ONE(info, OF(performance_record)) };
static const struct hal_record operand_performance_record = RECORD(operand_performance_rows);
#undef TYPE

#define TYPE hal_capabilities
static const struct hal_member capabilities_rows[] = {
    ONE(relaxed_scalar, OF(performance_record), SINCE(HAL_1_2, 0)),
    ONE(relaxed_tensor, OF(performance_record), SINCE(HAL_1_1, 0)),
    ONE(if_performance, OF(performance_record), SINCE(HAL_1_3, 0)),
    ONE(while_performance, OF(performance_record), SINCE(HAL_1_3, 0)),
    LIST("operands", operand, n_operands, OF(operand_performance_record)),
};
const struct hal_record hal_capabilities_record = RECORD(capabilities_rows);
#undef TYPE

#define TYPE hal_extension_type
static const struct hal_member extension_type_rows[] = { MEMBER(type), MEMBER(is_tensor),
                                                         MEMBER(byte_size) };
static const struct hal_record extension_type_record = RECORD(extension_type_rows);
#undef TYPE

#define TYPE hal_extension
static const struct hal_member extension_rows[] = { MEMBER(name), LIST("types", type, n_types,
                                                                       OF(extension_type_record)) };
static const struct hal_record extension_record = RECORD(extension_rows);
#undef TYPE

#define TYPE hal_driver_info
static const struct hal_member driver_info_rows[] = {
    MEMBER(abi_version),
    MEMBER(hal_version),
    MEMBER(name),
    MEMBER(version),
    MEMBER(type),
    MEMBER(type_status),
    MEMBER(version_status),
    MEMBER(extensions_status),
    LIST("extensions", extensions, n_extensions, OF(extension_record)),
    MEMBER(cache_status),
    MEMBER(n_model_cache),
    MEMBER(n_data_cache),
    MEMBER(protocol),
    MEMBER(lowest_version),
};
const struct hal_record hal_driver_info_record = RECORD(driver_info_rows);
#undef TYPE

uint64_t hal_number_at(const void *structure, uint16_t at, uint16_t size)
{
    const char *from = (const char *) structure + at;
    uint64_t eight = 0;
    uint32_t four = 0;

    if (size == sizeof(bool))
        return *(const uint8_t *) from;
    if (size == sizeof(four))
        return memcpy(&four, from, sizeof(four)), four;
    return memcpy(&eight, from, sizeof(eight)), eight;
}

void hal_set_number(void *structure, uint16_t at, uint16_t size, uint64_t value)
{
    char *to = (char *) structure + at;
    const uint32_t four = (uint32_t) value;

    if (size == sizeof(bool))
        *to = (char) value;
    else if (size == sizeof(four))
        memcpy(to, &four, sizeof(four));
    else
        memcpy(to, &value, sizeof(value));
}
