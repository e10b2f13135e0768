/* make_seeds DIRECTORY: writes the generated seeds of the fuzz targets, each target's to the
 * subdirectory of its name.  Deletes what the directory contained. */
#include <check.h>
#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "randgraph/randgraph.h"
#include "tests/fuzz/seeds/seeds.h"
#include "tests/support/check_main.h"

static const char *directory;

void seed_begin(struct seed *s)
{
    s->n = 0;
}

void seed_put(struct seed *s, const void *bytes, size_t n)
{
    ck_assert_uint_le(n, sizeof s->bytes - s->n);
    memcpy(s->bytes + s->n, bytes, n);
    s->n += n;
}

void seed_length(struct seed *s, size_t n)
{
    ck_assert_uint_le(n, UINT16_MAX);
    seed_put(s, (const uint8_t[]){ (uint8_t) n, (uint8_t) (n >> 8) }, 2);
}

void seed_packet(struct seed *s, unsigned flags, const ProtobufCMessage *m)
{
    size_t n = protobuf_c_message_get_packed_size(m);

    seed_length(s, n);
    seed_put(s, &(uint8_t){ (uint8_t) flags }, 1);
    ck_assert_uint_le(n, sizeof s->bytes - s->n);
    s->n += protobuf_c_message_pack(m, s->bytes + s->n);
}

void seed_write(const struct seed *s, const char *target, const char *name)
{
    char path[4096];

    snprintf(path, sizeof path, "%s/%s", directory, target);
    mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/%s/%s", directory, target, name);
    FILE *f = fopen(path, "wb");
    ck_assert_msg(f, "%s cannot be written", path);
    ck_assert_uint_eq(fwrite(s->bytes, 1, s->n, f), s->n);
    ck_assert_int_eq(fclose(f), 0);
}

/* Random bytes, for targets that draw their whole input from the bytes. */
void seeds_of_bytes(void)
{
    static const char *const targets[] = { "fuzz_extension", "fuzz_generator" };
    enum { SEEDS = 128, MAX_BYTES = 64 };
    struct seed s;
    char name[32];
    struct rng r;

    for (int t = 0; t < COUNT(targets); t++)
        for (uint32_t i = 0; i < SEEDS; i++) {
            rng_seed(&r, (uint64_t) t, i);
            seed_begin(&s);
            for (uint32_t n = 3 + rng_below(&r, MAX_BYTES - 2); n > 0; n--)
                seed_put(&s, &(uint8_t){ (uint8_t) rng_next(&r) }, 1);
            snprintf(name, sizeof name, "drawn%u", i);
            seed_write(&s, targets[t], name);
        }
}

START_TEST(bytes)
{
    seeds_of_bytes();
}
END_TEST

START_TEST(caches)
{
    seeds_of_caches();
}
END_TEST

START_TEST(cases)
{
    seeds_of_cases();
}
END_TEST

START_TEST(children)
{
    seeds_of_children();
}
END_TEST

START_TEST(clients)
{
    seeds_of_clients();
}
END_TEST

START_TEST(files)
{
    seeds_of_files();
}
END_TEST

START_TEST(hosts)
{
    seeds_of_hosts();
}
END_TEST

START_TEST(packets)
{
    seeds_of_packets();
}
END_TEST

START_TEST(services)
{
    seeds_of_services();
}
END_TEST

START_TEST(workers)
{
    seeds_of_workers();
}
END_TEST

/* Removes the seeds of an earlier build, which may have had other names. */
static int remove_files(const char *path)
{
    DIR *d = opendir(path);
    char name[4096];

    for (struct dirent *e; d && (e = readdir(d));)
        if (e->d_name[0] != '.') {
            snprintf(name, sizeof name, "%s/%s", path, e->d_name);
            if (unlink(name) < 0 && remove_files(name) < 0)
                perror(name);
        }
    return d ? closedir(d) : -1;
}

int main(int argc, char **argv)
{
    TCase *t = tcase_create("seeds");

    if (argc != 2)
        return 2;
    directory = argv[1];
    remove_files(directory);
    mkdir(directory, 0777);
    tcase_set_timeout(t, 0); /* part of the build, on a machine that may be busy */
    tcase_add_test(t, bytes);
    tcase_add_test(t, caches);
    tcase_add_test(t, cases);
    tcase_add_test(t, children);
    tcase_add_test(t, clients);
    tcase_add_test(t, files);
    tcase_add_test(t, hosts);
    tcase_add_test(t, packets);
    tcase_add_test(t, services);
    tcase_add_test(t, workers);
    return run_suite(make_suite("seeds", t, NULL));
}
