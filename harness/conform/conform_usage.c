#include "harness/conform/conform_usage.h"

#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

static long count_entries(const char *folder)
{
    DIR *d = opendir(folder);
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

struct conform_usage conform_usage_now(void)
{
    return (struct conform_usage){ count_entries("/proc/self/fd"), count_entries("/proc/self/task"),
                                   count_mappings(), count_resident_mib() };
}

void conform_expect_usage(struct conform *c, const struct conform_usage *before, long n,
                          const char *what)
{
    const long most = n / 10, most_mib = 128;
    struct conform_usage after = conform_usage_now();

    EXPECT(c, after.descriptors - before->descriptors < most, "%ld %s: %ld descriptors more", n,
           what, after.descriptors - before->descriptors);
    EXPECT(c, after.threads - before->threads < most, "%ld %s: %ld threads more", n, what,
           after.threads - before->threads);
    EXPECT(c, after.mappings - before->mappings < most, "%ld %s: %ld mappings more", n, what,
           after.mappings - before->mappings);
    EXPECT(c, after.resident_mib - before->resident_mib < most_mib, "%ld %s: %ld MiB more", n, what,
           after.resident_mib - before->resident_mib);
}
