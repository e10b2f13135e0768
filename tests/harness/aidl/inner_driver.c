/* The device that aidl_round_trip.cpp wraps: sim:cpu at the feature level of an interface version.
 */
#include <stdio.h>

#include "sim/device/profile.h"
#include "sim/driver/driver.h"

struct hal_driver *inner_driver_open(int version, char *why, size_t why_size);

struct hal_driver *inner_driver_open(int version, char *why, size_t why_size)
{
    static const enum hal_version versions[] = { HAL_FL5, HAL_FL6, HAL_FL7, HAL_FL8 };
    struct hal_driver *driver = NULL;
    struct profile *p = NULL;
    struct engine *e = NULL;
    struct why w = { 0 };

    if (version < 1 || version > 4) {
        snprintf(why, why_size, "expected an interface version from 1 to 4");
        return NULL;
    }
    if (profile_parse(profile_shipped("cpu"), "cpu", &p, &w) == 0) {
        p->hal = versions[version - 1];
        if (engine_device(p, NULL, &e, &w) == 0 && driver_new(e, &driver, &w) == 0)
            return driver;
    }
    snprintf(why, why_size, "%s", w.text);
    return NULL;
}
