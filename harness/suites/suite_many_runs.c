/* Many executions of one model: the results stay right, and nothing is lost that the process has
 * only so much of. */
#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

#include "harness/conform/conform_models.h"
#include "harness/conform/conform_requests.h"
#include "sim/client/hal_calls.h"
#include "sim/hal/convert.h"

enum { RUNS = 300, WARM_RUNS = 60 };

/* The n-th kind of execution that the version and the driver have, counted round and round. */
static const struct conform_kind *kind_of(struct conform *c, const struct conform_subject *s, int n)
{
    const struct conform_kind *kind[8];
    int n_kinds = 0;

    for (int i = 0; i < conform_n_kinds && n_kinds < COUNT(kind); i++)
        if (conform_can_run(c, s->prepared, &conform_kinds[i], c->version))
            kind[n_kinds++] = &conform_kinds[i];
    conform_must(n_kinds > 0, "the driver has no kind of execution");
    return kind[n % n_kinds];
}

static void run_once(struct conform *c, struct conform_subject *s, int run)
{
    const struct conform_kind *kind = kind_of(c, s, run);
    struct hal_execution_config config = client_config();

    conform_subject_reset(s);
    enum hal_status status = kind->run(s->prepared, c->version, &s->request, &config);
    EXPECT(c, status == HAL_NONE && conform_subject_is_correct(s),
           "execution %d, %s: %s, or wrong results", run, kind->name, hal_status_name(status));
}

static void results(struct conform *c, const void *data)
{
    struct conform_subject s;

    (void) data;
    if (conform_subject_open(c, conform_sum(c), &s))
        for (int run = 0; run < RUNS; run++)
            run_once(c, &s, run);
    conform_subject_close(&s);
}

/* ---- what the process has only so much of */

struct usage {
    long descriptors, mappings, resident_mib;
};

static long count_descriptors(void)
{
    DIR *d = opendir("/proc/self/fd");
    long n = 0;

    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n;
}

static long count_mappings(void)
{
    FILE *f = fopen("/proc/self/maps", "r");
    long n = 0;

    for (int byte; f && (byte = fgetc(f)) != EOF;)
        n += byte == '\n';
    if (f)
        fclose(f);
    return n;
}

static long count_resident_mib(void)
{
    FILE *f = fopen("/proc/self/statm", "r");
    long size, resident = 0;

    if (f && fscanf(f, "%ld %ld", &size, &resident) != 2)
        resident = 0;
    if (f)
        fclose(f);
    return resident * sysconf(_SC_PAGESIZE) >> 20;
}

static struct usage usage(void)
{
    return (struct usage){ count_descriptors(), count_mappings(), count_resident_mib() };
}

/* Fewer than one descriptor and mapping in ten executions; memory: allocators keep some. */
static void resources(struct conform *c, const void *data)
{
    const long most = RUNS / 10, most_mib = 128;
    struct conform_subject s;

    (void) data;
    if (c->is_remote) {
        conform_not_applicable(c, "the driver is in another process");
        return;
    }
    if (conform_subject_open(c, conform_sum(c), &s)) {
        for (int run = 0; run < WARM_RUNS; run++)
            run_once(c, &s, run);
        struct usage before = usage();
        for (int run = 0; run < RUNS; run++)
            run_once(c, &s, run);
        struct usage after = usage();
        EXPECT(c, after.descriptors - before.descriptors < most,
               "%d executions: %ld descriptors more", RUNS, after.descriptors - before.descriptors);
        EXPECT(c, after.mappings - before.mappings < most, "%d executions: %ld mappings more", RUNS,
               after.mappings - before.mappings);
        EXPECT(c, after.resident_mib - before.resident_mib < most_mib,
               "%d executions: %ld MiB more", RUNS, after.resident_mib - before.resident_mib);
    }
    conform_subject_close(&s);
}

static const struct conform_rule rules_of_file[] = {
    { "stress", "results", HAL_1_0, 0, "hundreds of executions of one model: all results are right",
      results },
    { "stress", "resources", HAL_1_0, 0,
      "hundreds of executions of one model: no descriptors, mappings or memory are lost",
      resources },
};
const struct conform_rules conform_rules_many_runs = { rules_of_file, COUNT(rules_of_file), NULL,
                                                       NULL };
