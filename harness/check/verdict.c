#include "harness/check/verdict.h"

#include <string.h>

const char *const verdict_name[VERDICT_COUNT] = {
    [VERDICT_PASS] = "pass",       [VERDICT_UNDECIDED] = "undecided",
    [VERDICT_FAIL] = "fail",       [VERDICT_VIOLATION] = "violation",
    [VERDICT_REFUSED] = "refused", [VERDICT_UNSUPPORTED] = "unsupported",
    [VERDICT_CRASH] = "crash",     [VERDICT_HANG] = "hang",
    [VERDICT_FLAKY] = "flaky",     [VERDICT_WAIVED] = "waived",
    [VERDICT_ERROR] = "error",
};

bool verdict_conforming(enum verdict v)
{
    return v == VERDICT_PASS || v == VERDICT_UNDECIDED || v == VERDICT_UNSUPPORTED ||
           v == VERDICT_WAIVED;
}

int verdict_by_name(const char *name)
{
    for (int v = 0; v < VERDICT_COUNT; v++)
        if (!strcmp(name, verdict_name[v]))
            return v;
    return -1;
}
