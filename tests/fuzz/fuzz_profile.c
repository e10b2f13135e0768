/* Device profiles: the JSON that a profile in TOML becomes.  A profile is rejected with a reason,
 * or makes a device that can be asked for everything. */
#include <stdlib.h>
#include <string.h>

#include "sim/device/engine.h"
#include "sim/device/profile.h"
#include "tests/fuzz/common/fuzz_client.h"
#include "tests/fuzz/mutate/mutate.h"

static void use(struct profile *p)
{
    struct hal_capabilities capabilities;
    const struct hal_operand operand = { .n_dims = 0 };
    const struct hal_operation operation = { 0 };
    const struct hal_model model = { .main = { 1, 1, 0, 0, &operand, &operation, NULL, NULL } };
    struct hal_driver *d;
    struct engine *e;
    struct why w;
    bool supported[1];
    uint32_t n;

    if (engine_device(p, NULL, &e, &w) < 0 || driver_new(e, &d, &w) < 0)
        return;
    d->get_capabilities(d, d->hal_version, &capabilities);
    d->get_supported_operations(d, d->hal_version, &model, supported, &n);
    d->close(d);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct profile *p = NULL;
    struct why w = { 0 };
    char *json = malloc(length + 1);

    fuzz_must(json);
    memcpy(json, bytes, length);
    json[length] = 0;
    if (profile_parse(json, "fuzz", &p, &w) == 0)
        use(p);
    else
        fuzz_must(w.text[0] && !p);
    free(json);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t length, size_t max, unsigned seed)
{
    return mutate_json(bytes, length, max, seed);
}
