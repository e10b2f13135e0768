/* Readers of the corpus format, plain and compressed: every record that is accepted can be
 * validated and written again; every rejection has a reason. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "specs/load_internal.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/mutate/mutate.h"

static int each(const struct example *e, void *user, struct why *w)
{
    (void) user;
    struct why reason;
    FILE *to = fopen("/dev/null", "w");
    if (!to)
        return why_fail(w, WHY_SYSTEM, "no /dev/null");
    model_validate(&e->model, &reason);
    if (specs_write_json(e, to, &reason) < 0)
        abort();
    specs_write_modpy(e, "fuzz", to, &reason);
    fclose(to);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static const char magic[] = "\xfd"
                                "7zXZ";
    bool xz = length >= 5 && memcmp(bytes, magic, 5) == 0;
    FILE *from = length > 0 ? fmemopen((void *) bytes, length, "rb") : NULL;
    struct why w = { 0 };

    if (from && load_stream(from, xz, each, NULL, &w) < 0 && !*w.text)
        abort();
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t length, size_t max, unsigned seed)
{
    return mutate_json(bytes, length, max, seed);
}
