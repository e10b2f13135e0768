/* Prefixes of extensions' names, and what the devices state of their types. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "golden/base/array.h"
#include "golden/model/extension.h"
#include "runtime/base/failure.h"
#include "runtime/devices/runtime_device.h"

#define LOG_TAG "TypeManager"

/* Prefixes of HAL versions with signed codes have 15 bits. */
enum { PREFIX_END = 0x8000 };

/* Names that are not listed, in the order of their first use: [i] has prefix EXTENSION_END + i. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char **given;
static size_t n_given;

/* A free prefix for the name.  The lock is held. */
static uint16_t give(const char *name)
{
    if (EXTENSION_END + n_given >= PREFIX_END)
        return 0;
    char **more = array_room(given, n_given, sizeof(*more));
    if (!more)
        return 0;
    given = more;
    given[n_given] = strdup(name);
    if (!given[n_given])
        return 0;
    return (uint16_t) (EXTENSION_END + n_given++);
}

uint16_t extension_prefix_for(const char *name)
{
    enum extension_prefix listed = extension_by_name(name);
    uint16_t prefix = 0;

    if (listed != EXTENSION_NONE)
        return (uint16_t) listed;
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < n_given && !prefix; i++)
        if (strcmp(given[i], name) == 0)
            prefix = (uint16_t) (EXTENSION_END + i);
    if (!prefix)
        prefix = give(name);
    pthread_mutex_unlock(&lock);
    return prefix;
}

const char *extension_of_prefix(uint16_t prefix)
{
    const char *name = NULL;

    if (prefix < EXTENSION_END)
        return prefix ? extension_name[prefix] : NULL;
    pthread_mutex_lock(&lock);
    if (prefix - EXTENSION_END < (int) n_given)
        name = given[prefix - EXTENSION_END];
    pthread_mutex_unlock(&lock);
    return name;
}

/* ---- types */

static const struct hal_extension *extension_in(const ANeuralNetworksDevice *d, const char *name)
{
    for (uint32_t i = 0; i < d->n_extensions; i++)
        if (strcmp(d->extension[i].name, name) == 0)
            return &d->extension[i];
    return NULL;
}

static const struct hal_extension_type *type_in(const struct hal_extension *e, uint16_t number)
{
    for (uint32_t i = 0; i < e->n_types; i++)
        if (e->type[i].type == number)
            return &e->type[i];
    return NULL;
}

/* Whether two devices state the same types, in any order: no type comes twice in a table. */
static bool is_same_extension(const struct hal_extension *a, const struct hal_extension *b)
{
    if (a->n_types != b->n_types)
        return false;
    for (uint32_t i = 0; i < a->n_types; i++) {
        const struct hal_extension_type *t = type_in(b, a->type[i].type);
        if (!t || t->is_tensor != a->type[i].is_tensor || t->byte_size != a->type[i].byte_size)
            return false;
    }
    return true;
}

const struct hal_extension_type *extension_type_stated(int32_t type)
{
    const char *name = extension_of_prefix((uint16_t) extension_prefix_of(type));
    const struct device_list *all = devices();
    const struct hal_extension *stated = NULL;

    for (uint32_t i = 0; i < all->n && name; i++) {
        const struct hal_extension *e = extension_in(all->device[i], name);
        if (e && stated && !is_same_extension(e, stated)) {
            log_write(LOG_ERROR, LOG_TAG, "devices state different types of the extension %s",
                      name);
            return NULL;
        }
        stated = e ? e : stated;
    }
    return stated ? type_in(stated, (uint16_t) type) : NULL;
}
