#include "golden/base/parse_number.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>

int parse_u64(const char *text, uint64_t least, uint64_t most, uint64_t *ret_number, struct why *w)
{
    char *end;
    errno = 0;
    bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    unsigned long long value = strtoull(text, &end, hex ? 16 : 10);
    if (errno || !isdigit((unsigned char) *text) || *end || value < least || value > most)
        return why_fail(w, WHY_INVALID, "'%s' is not a whole number from %llu to %llu", text,
                        (unsigned long long) least, (unsigned long long) most);
    *ret_number = value;
    return 0;
}
