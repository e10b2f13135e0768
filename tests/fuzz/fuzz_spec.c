/* Specifications as the results database stores them: bytes as a stored one, as a text to store,
 * and as tokens with numbers that need not fit them.  What is packed gives the same text again. */
#include <stdlib.h>
#include <string.h>

#include "reports/packed_spec.h"
#include "reports/spec_tokens.h"
#include "tests/fuzz/common/fuzz_client.h"

enum { MOST = 1 << 20 };

static void check_text(const char *text, size_t length)
{
    size_t room = 2 * length + 100, n = 0;
    unsigned char *bytes = malloc(room);
    const char *why = NULL;
    fuzz_must(bytes);
    size_t size = packed_spec(text, length, bytes, room);
    if (size) {
        char *again = packed_spec_text(bytes, size, length, &n, &why);
        fuzz_must(again && n == length && !memcmp(again, text, length));
        free(again);
    }
    free(bytes);
}

static void check_planes(const uint8_t *bytes, size_t length)
{
    struct spec_planes p = { 0 };
    size_t n = 0;
    const char *why = NULL;
    for (int i = 0; i < SPEC_PLANES; i++)
        p.plane[i] =
            (struct spec_bytes){ (uint8_t *) bytes, i ? bytes[0] % (length + 1) : length, 0 };
    char *text = spec_tokens_join(&p, MOST, &n, &why);
    fuzz_must(text ? n <= MOST : why != NULL);
    free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    const char *why = NULL;
    size_t n = 0;
    char *text = packed_spec_text(bytes, length, MOST, &n, &why);
    fuzz_must(text ? n <= MOST : why != NULL);
    if (text)
        check_text(text, n);
    free(text);
    if (length)
        check_planes(bytes, length);
    text = malloc(length + 1);
    fuzz_must(text);
    memcpy(text, bytes, length);
    text[length] = 0;
    check_text(text, length);
    free(text);
    return 0;
}
