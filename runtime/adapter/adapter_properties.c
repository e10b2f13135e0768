/* Reads what a device, or the runtime as a whole, states of itself. */
#include <stdio.h>
#include <string.h>

#include "runtime/adapter/adapter.h"
#include "runtime/include/NeuralNetworksSupportLibraryImpl.h"

/* ---- identity */

/* A driver of an older level has entry points of level 5, as the lowest that a support library can
 * have; what it cannot do, it does not support. */
static enum hal_version version_of_level(int64_t level)
{
    if (level >= ANEURALNETWORKS_FEATURE_LEVEL_8)
        return HAL_FL8;
    if (level >= ANEURALNETWORKS_FEATURE_LEVEL_7)
        return HAL_FL7;
    return level >= ANEURALNETWORKS_FEATURE_LEVEL_6 ? HAL_FL6 : HAL_FL5;
}

static int identify_runtime(struct adapter *a, struct why *w)
{
    a->base.hal_version = version_of_level(a->api._getRuntimeFeatureLevel());
    snprintf(a->name, sizeof(a->name), "nnapi-runtime");
    a->type = HAL_DEVICE_OTHER;
    a->version = arena_printf(a->arena, "%u devices", a->n_devices);
    for (uint32_t i = 0; a->version && i < a->n_devices; i++) {
        const char *name = NULL;
        REQUIRE(w, a->api.Device_getName(a->device[i], &name) == ANEURALNETWORKS_NO_ERROR && name,
                "device %u has no name", i);
        a->version = arena_printf(a->arena, "%s%s %s", a->version, i ? "," : ":", name);
    }
    return a->version ? 0 : why_no_memory(w);
}

static int identify_device(struct adapter *a, struct why *w)
{
    const ANeuralNetworksDevice *d = a->device[0];
    const char *name = NULL, *version = NULL;
    int32_t type = 0;
    int64_t level = 0;

    REQUIRE(w, a->api.Device_getName(d, &name) == ANEURALNETWORKS_NO_ERROR && name,
            "the device has no name");
    REQUIRE(w, a->api.Device_getVersion(d, &version) == ANEURALNETWORKS_NO_ERROR && version,
            "%s has no version", name);
    REQUIRE(w, a->api.Device_getType(d, &type) == ANEURALNETWORKS_NO_ERROR, "%s has no type", name);
    REQUIRE(w, a->api.Device_getFeatureLevel(d, &level) == ANEURALNETWORKS_NO_ERROR,
            "%s has no feature level", name);
    snprintf(a->name, sizeof(a->name), "%s", name);
    a->version = version;
    a->type =
        type == ANEURALNETWORKS_DEVICE_UNKNOWN ? HAL_DEVICE_OTHER : (enum hal_device_type) type;
    a->base.hal_version = version_of_level(level);
    return 0;
}

/* ---- performance */

struct rows {
    struct adapter *a;
    struct hal_operand_performance *row;
    uint32_t n, capacity;
    bool has_no_memory;
};

/* Keeps the rows in ascending order. */
static void add_row(struct rows *r, int32_t type, struct hal_performance info)
{
    if (r->n == r->capacity) {
        uint32_t capacity = r->capacity ? r->capacity * 2 : 32;
        struct hal_operand_performance *more = arena_alloc(r->a->arena, capacity, sizeof(*r->row));
        if (!more) {
            r->has_no_memory = true;
            return;
        }
        if (r->n)
            memcpy(more, r->row, r->n * sizeof(*r->row));
        r->row = more;
        r->capacity = capacity;
    }
    uint32_t at = r->n++;
    for (; at > 0 && r->row[at - 1].type > type; at--)
        r->row[at] = r->row[at - 1];
    r->row[at] = (struct hal_operand_performance){ type, info };
}

static void add_device_row(SL_ANeuralNetworksOperandPerformanceInfo info, void *rows)
{
    add_row(
        rows, info.operandType,
        (struct hal_performance){ info.performanceInfo.execTime, info.performanceInfo.powerUsage });
}

static int take_rows(struct adapter *a, const struct rows *r, struct why *w)
{
    if (r->has_no_memory)
        return why_no_memory(w);
    a->capabilities.operand = r->row;
    a->capabilities.n_operands = r->n;
    return 0;
}

/* The C API does not tell: everything is as fast as the CPU. */
static int runtime_performance(struct adapter *a, struct why *w)
{
    const struct hal_performance one = { 1, 1 };
    struct rows r = { .a = a };

    for (int32_t t = HAL_TYPE_FLOAT32; t <= HAL_TYPE_TENSOR_QUANT8_ASYMM_SIGNED; t++)
        add_row(&r, t, one);
    a->capabilities = (struct hal_capabilities){ one, one, one, one, 0, NULL };
    return take_rows(a, &r, w);
}

static int device_performance_of(const struct adapter *a, int32_t kind, struct hal_performance *ret,
                                 struct why *w)
{
    SL_ANeuralNetworksPerformanceInfo info = { 0, 0 };

    REQUIRE(w,
            a->api.support->SL_ANeuralNetworksDevice_getPerformanceInfo(
                a->device[0], kind, &info) == ANEURALNETWORKS_NO_ERROR,
            "SL_ANeuralNetworksDevice_getPerformanceInfo(%d) fails", kind);
    *ret = (struct hal_performance){ info.execTime, info.powerUsage };
    return 0;
}

static int device_performance(struct adapter *a, struct why *w)
{
    struct hal_capabilities *c = &a->capabilities;
    struct rows r = { .a = a };

    TRY(device_performance_of(a, SL_ANEURALNETWORKS_CAPABILITIES_PERFORMANCE_RELAXED_SCALAR,
                              &c->relaxed_scalar, w));
    TRY(device_performance_of(a, SL_ANEURALNETWORKS_CAPABILITIES_PERFORMANCE_RELAXED_TENSOR,
                              &c->relaxed_tensor, w));
    TRY(device_performance_of(a, SL_ANEURALNETWORKS_CAPABILITIES_PERFORMANCE_IF, &c->if_performance,
                              w));
    TRY(device_performance_of(a, SL_ANEURALNETWORKS_CAPABILITIES_PERFORMANCE_WHILE,
                              &c->while_performance, w));
    REQUIRE(w,
            a->api.support->SL_ANeuralNetworksDevice_forEachOperandPerformanceInfo(
                a->device[0], &r, add_device_row) == ANEURALNETWORKS_NO_ERROR,
            "SL_ANeuralNetworksDevice_forEachOperandPerformanceInfo fails");
    return take_rows(a, &r, w);
}

/* ---- extensions */

struct types {
    struct hal_extension_type *type; /* NULL: they are only counted */
    uint32_t n, capacity;
};

static void add_type(SL_ANeuralNetworksExtensionOperandTypeInformation info, void *types)
{
    struct types *t = types;

    if (t->n < t->capacity)
        t->type[t->n] = (struct hal_extension_type){ info.type, info.isTensor, info.byteSize };
    t->n++;
}

static int list_types(const struct adapter *a, uint32_t i, struct types *to, struct why *w)
{
    to->n = 0;
    REQUIRE(w,
            a->api.support->SL_ANeuralNetworksDevice_forEachVendorExtensionOperandTypeInformation(
                a->device[0], i, to, add_type) == ANEURALNETWORKS_NO_ERROR,
            "the types of extension %u cannot be listed", i);
    return 0;
}

static int read_extension(struct adapter *a, uint32_t i, struct hal_extension *to, struct why *w)
{
    struct types t = { .type = NULL };

    REQUIRE(w,
            a->api.support->SL_ANeuralNetworksDevice_getVendorExtensionName(
                a->device[0], i, &to->name) == ANEURALNETWORKS_NO_ERROR &&
                to->name,
            "extension %u has no name", i);
    TRY(list_types(a, i, &t, w));
    t.capacity = t.n;
    to->type = t.type = arena_alloc(a->arena, t.n, sizeof(*t.type));
    if (!t.type)
        return why_no_memory(w);
    TRY(list_types(a, i, &t, w));
    REQUIRE(w, t.n == t.capacity, "extension %s: the number of its types changes", to->name);
    to->n_types = t.n;
    return 0;
}

static int read_extensions(struct adapter *a, struct why *w)
{
    struct hal_extension *e;

    REQUIRE(w,
            a->api.support->SL_ANeuralNetworksDevice_getVendorExtensionCount(
                a->device[0], &a->n_extensions) == ANEURALNETWORKS_NO_ERROR,
            "SL_ANeuralNetworksDevice_getVendorExtensionCount fails");
    a->extension = e = arena_alloc(a->arena, a->n_extensions, sizeof(*e));
    if (!e)
        return why_no_memory(w);
    for (uint32_t i = 0; i < a->n_extensions; i++)
        TRY(read_extension(a, i, &e[i], w));
    return 0;
}

int adapter_read_properties(struct adapter *a, struct why *w)
{
    if (a->is_runtime) {
        TRY(identify_runtime(a, w));
        return runtime_performance(a, w);
    }
    TRY(identify_device(a, w));
    TRY(device_performance(a, w));
    return read_extensions(a, w);
}
