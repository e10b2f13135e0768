#include "harness/cli/colour.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum colour_when chosen;

const char colour_dim[] = "\033[2m", colour_end[] = "\033[0m";

void colour_choose(enum colour_when when)
{
    chosen = when;
}

static bool is_empty(const char *text)
{
    return !text || !*text;
}

bool colour_wanted(int fd)
{
    if (chosen != COLOUR_AUTO)
        return chosen == COLOUR_ALWAYS;
    const char *force = getenv("CLICOLOR_FORCE"), *use = getenv("CLICOLOR"), *term = getenv("TERM");
    if (!is_empty(getenv("NO_COLOR")))
        return false;
    if (!is_empty(force) && strcmp(force, "0") != 0)
        return true;
    return isatty(fd) == 1 && !is_empty(term) && strcmp(term, "dumb") != 0 &&
           (is_empty(use) || strcmp(use, "0") != 0);
}

/* What conforms without having been compared is not green. */
const char *colour_of(enum verdict v)
{
    static const char green[] = "\033[32m", yellow[] = "\033[33m", red[] = "\033[1;31m",
                      magenta[] = "\033[1;35m";
    switch (v) {
    case VERDICT_PASS: return green;
    case VERDICT_UNDECIDED:
    case VERDICT_UNSUPPORTED:
    case VERDICT_WAIVED: return yellow;
    case VERDICT_CRASH:
    case VERDICT_HANG:
    case VERDICT_ERROR: return magenta;
    case VERDICT_FAIL:
    case VERDICT_VIOLATION:
    case VERDICT_REFUSED:
    case VERDICT_FLAKY:
    case VERDICT_COUNT: break;
    }
    return red;
}

void colour_print_verdict(enum verdict v, const char *name, int width)
{
    const bool wanted = colour_wanted(STDOUT_FILENO);
    const int blanks = width - (int) strlen(name);
    printf("%s%s%s%*s", wanted ? colour_of(v) : "", name, wanted ? colour_end : "",
           blanks > 0 ? blanks : 0, "");
}
