/* Traces that `halcyon trace` reads: rejected with file and line, or summed up. */
#define _GNU_SOURCE
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness/trace/trace_times.h"
#include "tests/fuzz/common/fuzz_client.h"
#include "tests/fuzz/mutate/mutate.h"

static void sum_up(struct trace_sections *s, bool sum)
{
    struct trace_table times, self;
    struct trace_run *runs;
    struct why w;
    size_t n, first;

    if (trace_runs(s, sum, &n, &runs, &w) < 0)
        return;
    for (size_t i = 0; i < n; i++) {
        trace_tables(&runs[i], &times, &self);
        for (const struct trace_thread *t = sum ? NULL : s->threads; t; t = t->next)
            fuzz_must(trace_run_sections(s, &runs[i], t, &first) <= t->n);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    struct trace_sections s = { 0 };
    struct why w = { 0 };
    char path[64];

    fuzz_must(fd >= 0 && pwrite(fd, bytes, length, 0) == (ssize_t) length);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (trace_sections_read(&s, path, &w) == 0 && trace_sections_close(&s, &w) == 0) {
        sum_up(&s, false);
        sum_up(&s, true);
    } else {
        fuzz_must(w.text[0]);
    }
    trace_sections_done(&s);
    close(fd);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t length, size_t max, unsigned seed)
{
    return mutate_json(bytes, length, max, seed);
}
