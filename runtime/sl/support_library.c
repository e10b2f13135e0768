/* What libhalcyon_sl.so exports. */
#include <pthread.h>

#include "runtime/api/entry.h"
#include "runtime/devices/runtime_device.h"
#include "runtime/sl/sl_table.h"

static NnApiSLDriverImplFL8 table;

static void make_table(void)
{
    entry_begin("ANeuralNetworks_getSLDriverImpl");
    devices_of_support_library();
    sl_table_fill(level_code(runtime_level()), &table);
}

NnApiSLDriverImpl *ANeuralNetworks_getSLDriverImpl(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, make_table);
    return &table.base.base;
}
