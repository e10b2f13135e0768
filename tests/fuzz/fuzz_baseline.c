/* Baselines: rejected with file and line, or what is written of one is read as the same again, and
 * updates give one that can be read. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness/policy/baseline.h"
#include "tests/fuzz/common/fuzz_client.h"

static struct baseline *load(const void *bytes, size_t length, struct why *w)
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    struct baseline *b = NULL;
    char path[64];
    fuzz_must(fd >= 0 && pwrite(fd, bytes, length, 0) == (ssize_t) length);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (baseline_load(path, &b, w) < 0)
        fuzz_must(strstr(w->text, path) && !b);
    close(fd);
    return b;
}

/* The text of the baseline; malloced. */
static char *write_text(const struct baseline *b)
{
    char *text = NULL;
    size_t length = 0;
    struct why w;
    FILE *to = open_memstream(&text, &length);
    fuzz_must(to && baseline_put(to, b, &w) == 0 && fclose(to) == 0);
    return text;
}

/* Writing what was read again gives the same text. */
static void check_text(const struct baseline *b)
{
    struct why w = { 0 };
    char *text = write_text(b);
    struct baseline *again = load(text, strlen(text), &w);
    fuzz_must(again);
    char *same = write_text(again);
    fuzz_must(strcmp(text, same) == 0);
    baseline_free(again);
    free(text);
    free(same);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    static const char *const names[] = { "spec/V1_2/add_v1_2/add_v1_2_2", "random/s1/i0", "a", "" };
    struct why w = { 0 };
    struct baseline *b = load(bytes, length, &w);
    struct baseline_changes changes = { 0 };
    if (!b)
        return 0;
    check_text(b);
    for (int i = 0; i < COUNT(names); i++) {
        const struct baseline_entry *e = baseline_find(b, names[i]);
        fuzz_must(!e || e->verdicts || e->reason);
        struct verdict_class c = { (enum verdict)(length % VERDICT_COUNT), "execute", "NONE",
                                   "ADD" };
        if (*names[i] && c.verdict != VERDICT_WAIVED)
            fuzz_must(baseline_update(b, names[i], &c, (unsigned) length % 4, &changes, &w) == 0);
    }
    check_text(b);
    baseline_free(b);
    return 0;
}
