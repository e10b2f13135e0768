/* Checks the properties that a driver reports (name, type, capabilities) against the contract. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "golden/base/logging.h"
#include "golden/base/trace.h"
#include "sim/base/failure_text.h"
#include "sim/client/runtime.h"
#include "sim/hal/hal_convert.h"

#define LOG_TAG "Manager"

static int check_status(struct hal_driver *d, const char *method, enum hal_status status,
                        struct why *w)
{
    char reason[HAL_TEXT_BYTES] = "";

    if (status == HAL_NONE)
        return 0;
    failure_text_of(d, reason);
    return why_fail(w, WHY_INVALID, "%s answered %s%s%s", method, hal_status_name(status),
                    *reason ? ": " : "", reason);
}

static int check_pair(const char *what, struct hal_performance p, struct why *w)
{
    REQUIRE(
        w, p.exec_time > 0 && p.power_usage > 0 && isfinite(p.exec_time) && isfinite(p.power_usage),
        "capabilities: %s is %g/%g, must be above 0", what, (double) p.exec_time,
        (double) p.power_usage);
    return 0;
}

static int check_capabilities(const struct hal_capabilities *c, enum hal_version version,
                              struct why *w)
{
    char what[64];

    REQUIRE(w, !c->n_operands || c->operand, "capabilities: no operand performance");
    TRY(hal_capabilities_comply(c, version, w));
    if (version >= HAL_1_1)
        TRY(check_pair("relaxed tensor", c->relaxed_tensor, w));
    if (version >= HAL_1_2)
        TRY(check_pair("relaxed scalar", c->relaxed_scalar, w));
    if (version >= HAL_1_3) {
        TRY(check_pair("IF", c->if_performance, w));
        TRY(check_pair("WHILE", c->while_performance, w));
    }
    for (uint32_t i = 0; i < c->n_operands; i++) {
        const struct hal_operand_performance *p = &c->operand[i];
        REQUIRE(w, !i || p[-1].type < p->type,
                "capabilities: operand types %d and %d are not in ascending order", p[-1].type,
                p->type);
        snprintf(what, sizeof(what), "operand type %d", p->type);
        TRY(check_pair(what, p->info, w));
    }
    return 0;
}

static int check_extension_types(const struct hal_extension *e, struct why *w)
{
    REQUIRE(w, !e->n_types || e->type, "extension %.80s: no types", e->name);
    for (uint32_t i = 0; i < e->n_types; i++) {
        REQUIRE(w, e->type[i].byte_size, "extension %.80s: type %u has 0 bytes", e->name,
                e->type[i].type);
        for (uint32_t k = 0; k < i; k++)
            REQUIRE(w, e->type[k].type != e->type[i].type, "extension %.80s: type %u comes twice",
                    e->name, e->type[i].type);
    }
    return 0;
}

static int check_extension(const struct hal_extension *e, uint32_t i, struct why *w)
{
    REQUIRE(w, e[i].name && extension_name_is_legal(e[i].name),
            "extension name \"%.80s\": expected a-z 0-9 _ and at least one dot",
            e[i].name ? e[i].name : "");
    for (uint32_t k = 0; k < i; k++)
        REQUIRE(w, strcmp(e[k].name, e[i].name), "extension %.80s comes twice", e[i].name);
    return check_extension_types(&e[i], w);
}

static int check_extensions(struct hal_driver *d, struct target_info *to, struct why *w)
{
    const struct hal_extension *e = NULL;
    uint32_t n = 0;

    if (d->get_supported_extensions && d->hal_version >= HAL_1_2)
        TRY(check_status(d, "get_supported_extensions", d->get_supported_extensions(d, &n, &e), w));
    REQUIRE(w, e || !n, "%u extensions, but none are given", n);
    for (uint32_t i = 0; i < n; i++)
        TRY(check_extension(e, i, w));
    to->n_extensions = n;
    to->extensions = e;
    return 0;
}

int target_check_table(const struct hal_driver *d, struct why *w)
{
    REQUIRE(
        w, d->abi_version == HAL_ABI_VERSION,
        "built with hal.h of ABI version %u, expected %d: rebuild the driver with the hal.h that "
        "is installed with this program (include/halcyon/hal.h); docs/devices.md lists what to "
        "change",
        d->abi_version, HAL_ABI_VERSION);
    REQUIRE(w, hal_level(d->hal_version),
            "hal_version is %d, which is none of enum hal_version (hal.h)", (int) d->hal_version);
    REQUIRE(w, hal_level(d->lowest_version) && d->lowest_version <= d->hal_version,
            "lowest_version is %d, expected one of enum hal_version (hal.h) up to hal_version, %d",
            (int) d->lowest_version, (int) d->hal_version);
    const struct {
        const char *name;
        bool is_there;
    } methods[] = { { "get_capabilities", d->get_capabilities },
                    { "get_status", d->get_status },
                    { "get_supported_operations", d->get_supported_operations },
                    { "prepare_model", d->prepare_model },
                    { "close", d->close },
                    { "get_type", d->get_type || d->hal_version < HAL_1_2 },
                    { "get_version_string", d->get_version_string || d->hal_version < HAL_1_2 } };
    for (size_t i = 0; i < sizeof(methods) / sizeof(*methods); i++)
        REQUIRE(w, methods[i].is_there, "a method that every driver has is missing: %s is NULL",
                methods[i].name);
    REQUIRE(w, d->name && *d->name, "the driver has no name");
    for (const char *c = d->name; *c; c++)
        REQUIRE(w, *c >= ' ' && *c <= '~', "the driver has a name that is not printable");
    return 0;
}

/* Those of every entry point that the driver answers; what the newest says is kept. */
static int ask_capabilities(struct hal_driver *d, struct hal_capabilities *ret, struct why *w)
{
    for (int i = hal_level(d->lowest_version) - 1; i < hal_level(d->hal_version); i++) {
        TRY(check_status(d, "get_capabilities", d->get_capabilities(d, hal_versions[i], ret), w));
        TRY(check_capabilities(ret, hal_versions[i], w));
    }
    return 0;
}

/* Drivers before 1.2 do not say what they are. */
static int ask_identity(struct hal_driver *d, struct target_info *i, struct why *w)
{
    const char *version = NULL;

    i->type = HAL_DEVICE_OTHER;
    snprintf(i->version, sizeof(i->version), "UNKNOWN");
    if (d->hal_version < HAL_1_2)
        return 0;
    TRY(check_status(d, "get_type", d->get_type(d, &i->type), w));
    REQUIRE(w, i->type >= HAL_DEVICE_OTHER && i->type <= HAL_DEVICE_ACCELERATOR, "device type %d",
            (int) i->type);
    TRY(check_status(d, "get_version_string", d->get_version_string(d, &version), w));
    REQUIRE(w, version && *version, "version string is empty");
    snprintf(i->version, sizeof(i->version), "%s", version);
    return 0;
}

static int ask_cache_files(struct hal_driver *d, struct target_info *i, struct why *w)
{
    if (d->hal_version < HAL_1_2 || !d->get_number_of_cache_files_needed)
        return 0;
    TRY(check_status(d, "get_number_of_cache_files_needed",
                     d->get_number_of_cache_files_needed(d, &i->n_model_cache, &i->n_data_cache),
                     w));
    REQUIRE(w, i->n_model_cache <= HAL_MAX_CACHE_FILES && i->n_data_cache <= HAL_MAX_CACHE_FILES,
            "%u and %u cache files, at most %d of each", i->n_model_cache, i->n_data_cache,
            HAL_MAX_CACHE_FILES);
    return 0;
}

static int gather(struct hal_driver *d, struct target_info *i, struct why *w)
{
    TRY(target_check_table(d, w));
    snprintf(i->name, sizeof(i->name), "%s", d->name);
    i->hal_version = d->hal_version;
    i->lowest_version = d->lowest_version;
    TRY(ask_capabilities(d, &i->capabilities, w));
    TRY(ask_identity(d, i, w));
    TRY(ask_cache_files(d, i, w));
    TRY(check_extensions(d, i, w));
    enum hal_device_status status = d->get_status(d);
    static const char *const names[] = { "AVAILABLE", "BUSY", "OFFLINE", "UNKNOWN" };
    REQUIRE(w, status == HAL_DEVICE_AVAILABLE, "get_status answered %d, %s; expected AVAILABLE",
            (int) status,
            (unsigned) status <= HAL_DEVICE_UNKNOWN ? names[status] : "which does not exist");
    return 0;
}

int target_info(struct target *t, struct target_info *ret_info, struct why *w)
{
    struct target_info i = { 0 };

    TRACE(LR, PI, "target_info");
    if (gather(t->driver, &i, w) < 0) {
        target_is_dead(t, w); /* then that is why */
        VLOG(MANAGER, "%s breaks the contract: %s", t->uri, w->text);
        return why_prefix(w, "%s", t->uri);
    }
    VLOG(MANAGER,
         "%s: %s, version %s, type %d; %u operand types, %u extensions, %u and %u cache files",
         t->uri, i.name, i.version, (int) i.type, i.capabilities.n_operands, i.n_extensions,
         i.n_model_cache, i.n_data_cache);
    if (t->no_extensions)
        i.n_extensions = 0;
    *ret_info = i;
    return 0;
}
