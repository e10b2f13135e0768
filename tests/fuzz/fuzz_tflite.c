/* The importer of .tflite models, in this process: for any bytes it returns a record or an error.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "specs/load_internal.h"
#include "specs/python_host.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/mutate/mutate.h"

static int each(const struct example *e, void *user, struct why *w)
{
    (void) user;
    (void) w;
    struct why reason;
    model_validate(&e->model, &reason);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static bool started;
    struct why w = { 0 };
    char *json = NULL;

    if (!started && python_host_start(&w) < 0) {
        fprintf(stderr, "%s\n", w.text);
        abort();
    }
    started = true;
    if (python_host_convert(bytes, length, &json, &w) < 0) {
        fprintf(stderr, "%s\n", w.text);
        abort();
    }
    FILE *from = json ? fmemopen(json, strlen(json), "rb") : NULL;
    if (from)
        load_stream(from, false, each, NULL, &w);
    free(json);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t length, size_t max, unsigned seed)
{
    return mutate_flatbuffer(bytes, length, max, seed);
}
