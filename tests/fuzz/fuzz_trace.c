/* Traces that `halcyon trace` reads, in each format: rejected with file and line, or summed up and
 * exported. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness/trace/trace_export.h"
#include "harness/trace/trace_times.h"
#include "tests/fuzz/common/fuzz_client.h"
#include "tests/fuzz/mutate/mutate.h"

static void check_run(struct trace_sections *s, const struct trace_run *r)
{
    struct trace_table times[TRACE_PARTS], self[TRACE_PARTS];
    size_t first;

    trace_tables(s, r, times, self);
    for (const struct trace_thread *t = s->threads; t; t = t->next)
        fuzz_must(trace_run_sections(s, r, t, &first) <= t->n);
}

static void sum_up(struct trace_sections *s)
{
    struct trace_run *runs;
    struct why w;
    size_t n, kept = 0;

    if (trace_runs(s, &n, &runs, &w) < 0)
        return;
    for (size_t i = 0; i < n; i++)
        if (!runs[i].open) {
            check_run(s, &runs[i]);
            runs[kept++] = runs[i];
        }
    fuzz_must(trace_runs_sum(s, &kept, runs, &w) == 0 && kept <= n);
}

/* The exported text; malloced.  NULL: it has numbers that it cannot hold. */
static char *export_text(struct trace_sections *s, size_t *ret_length)
{
    char *text = NULL;
    struct why w;
    FILE *to = open_memstream(&text, ret_length);

    fuzz_must(to);
    const int failed = trace_export(s, to, &w);
    fuzz_must(fclose(to) == 0 && (!failed || strstr(w.text, "not representable")));
    if (failed)
        free(text);
    return failed ? NULL : text;
}

static void in_memory(const void *bytes, size_t length, void (*use)(const char *path, void *user),
                      void *user)
{
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    char path[64];

    fuzz_must(fd >= 0 && pwrite(fd, bytes, length, 0) == (ssize_t) length);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    use(path, user);
    close(fd);
}

struct exported {
    char *text;
    bool is_public;
};

/* What was exported is read, and exported as the same text.  What calls of HIDL and AIDL count as
 * depends on other marks of their process, which may be among those that are left out. */
static void read_again(const char *path, void *user)
{
    const struct exported *x = user;
    const char *before = x->text;
    struct trace_sections s = { .is_public = x->is_public };
    struct why w = { 0 };
    size_t length;

    const bool is_read =
        trace_sections_read(&s, path, &w) == 0 && trace_sections_close(&s, &w) == 0;
    if (!is_read)
        fprintf(stderr, "%s\n%s", w.text, before);
    fuzz_must(is_read);
    char *again = export_text(&s, &length);
    fuzz_must(again);
    const bool is_same = strcmp(before, again) == 0;
    if (!is_same && !strstr(before, "IDL::")) {
        fprintf(stderr, "%s----\n%s", before, again);
        fuzz_must(is_same);
    }
    free(again);
    trace_sections_done(&s);
}

static void export_all(struct trace_sections *s)
{
    size_t length;
    struct exported x = { export_text(s, &length), s->is_public };

    if (x.text && strstr(x.text, "|[NN_")) /* else all sections lack an end */
        in_memory(x.text, length, read_again, &x);
    free(x.text);
}

static void read_as(const char *path, bool is_public)
{
    struct trace_sections s = { .is_public = is_public };
    struct why w = { 0 };

    if (trace_sections_read(&s, path, &w) == 0 && trace_sections_close(&s, &w) == 0) {
        sum_up(&s);
        export_all(&s);
    } else {
        fuzz_must(w.text[0]);
    }
    trace_sections_done(&s);
}

static void read_both(const char *path, void *user)
{
    (void) user;
    read_as(path, false);
    read_as(path, true);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    in_memory(bytes, length, read_both, NULL);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t length, size_t max, unsigned seed)
{
    return mutate_json(bytes, length, max, seed);
}
