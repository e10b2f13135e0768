#include "sim/wire/wire_methods.h"

#include <stddef.h>

static const struct wire_method methods[] = {
    [WIRE__METHOD__OPEN_CHANNEL] = { NULL, HAL_1_0, HAL_FL8, OBJECT_NONE, TRACE_PU },
    [WIRE__METHOD__SET_STAGING] = { NULL, HAL_1_0, HAL_FL8, OBJECT_NONE, TRACE_PU },
    [WIRE__METHOD__GET_INFO] = { NULL, HAL_1_0, HAL_FL8, OBJECT_NONE, TRACE_PI },
    [WIRE__METHOD__GET_STATUS] = { "get_status", HAL_1_0, HAL_FL8, OBJECT_NONE, TRACE_PI },
    [WIRE__METHOD__GET_CAPABILITIES] = { "get_capabilities", HAL_1_0, HAL_FL8, OBJECT_NONE,
                                         TRACE_PI },
    [WIRE__METHOD__GET_SUPPORTED_OPERATIONS] = { "get_supported_operations", HAL_1_0, HAL_FL8,
                                                 OBJECT_NONE, TRACE_PC },
    [WIRE__METHOD__PREPARE_MODEL] = { "prepare_model", HAL_1_0, HAL_FL8, OBJECT_NONE, TRACE_PC },
    [WIRE__METHOD__PREPARE_MODEL_FROM_CACHE] = { "prepare_model_from_cache", HAL_1_2, HAL_FL8,
                                                 OBJECT_NONE, TRACE_PC },
    [WIRE__METHOD__ALLOCATE] = { "allocate", HAL_1_3, HAL_FL8, OBJECT_NONE, TRACE_PU },
    [WIRE__METHOD__EXECUTE_SYNCHRONOUSLY] = { "execute_synchronously", HAL_1_2, HAL_FL8,
                                              OBJECT_PREPARED, TRACE_PE },
    [WIRE__METHOD__EXECUTE] = { "execute", HAL_1_0, HAL_1_3, OBJECT_PREPARED, TRACE_PE },
    [WIRE__METHOD__EXECUTE_FENCED] = { "execute_fenced", HAL_1_3, HAL_FL8, OBJECT_PREPARED,
                                       TRACE_PE },
    [WIRE__METHOD__CONFIGURE_BURST] = { "configure_burst", HAL_1_2, HAL_FL8, OBJECT_PREPARED,
                                        TRACE_PU },
    [WIRE__METHOD__CREATE_REUSABLE_EXECUTION] = { "create_reusable_execution", HAL_FL8, HAL_FL8,
                                                  OBJECT_PREPARED, TRACE_PU },
    [WIRE__METHOD__RELEASE] = { "release", HAL_1_0, HAL_FL8, OBJECT_NONE, TRACE_PT },
    [WIRE__METHOD__BURST_EXECUTE] = { "execute_synchronously", HAL_1_2, HAL_FL8, OBJECT_BURST,
                                      TRACE_PE },
    [WIRE__METHOD__BURST_RELEASE_MEMORY] = { "release_memory", HAL_1_2, HAL_FL8, OBJECT_BURST,
                                             TRACE_PU },
    [WIRE__METHOD__REUSABLE_EXECUTE] = { "execute_synchronously", HAL_FL8, HAL_FL8,
                                         OBJECT_EXECUTION, TRACE_PE },
    [WIRE__METHOD__REUSABLE_EXECUTE_FENCED] = { "execute_fenced", HAL_FL8, HAL_FL8,
                                                OBJECT_EXECUTION, TRACE_PE },
    [WIRE__METHOD__GET_EXECUTION_INFO] = { "get_execution_info", HAL_1_3, HAL_FL8, OBJECT_INFO,
                                           TRACE_PE },
    [WIRE__METHOD__COPY_TO] = { "copy_to", HAL_1_3, HAL_FL8, OBJECT_BUFFER, TRACE_PU },
    [WIRE__METHOD__COPY_FROM] = { "copy_from", HAL_1_3, HAL_FL8, OBJECT_BUFFER, TRACE_PU },
    [WIRE__METHOD__OPEN_EVENTS] = { NULL, HAL_1_0, HAL_FL8, OBJECT_NONE, TRACE_PU },
};

const struct wire_method *wire_method(Wire__Method method)
{
    const unsigned code = (unsigned) method;

    return code < sizeof(methods) / sizeof(*methods) && methods[code].since ? &methods[code] : NULL;
}

const char *wire_method_name(Wire__Method method)
{
    const ProtobufCEnumValue *v =
        protobuf_c_enum_descriptor_get_value(&wire__method__descriptor, (int) method);

    return v ? v->name : "?";
}
