/* Lists of models of `halcyon bench`: rejected with the list's name and a reason, or all files that
 * an entry names exist.  The list lies in a folder of its own, beside the files that seeds name. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/bench/bench_list.h"
#include "tests/fuzz/common/fuzz_client.h"
#include "tests/fuzz/mutate/mutate.h"

enum { PATH = 128 };
static bool has_folder;
static char folder[] = "/tmp/halcyon-fuzz-models-XXXXXX";
static const char *const beside[] = { "one.tflite", "two.tflite", "x", "y", "z" };

static const char *path_of(const char *name, char path[PATH])
{
    snprintf(path, PATH, "%s/%s", folder, name);
    return path;
}

static void write_file(const char *name, const void *bytes, size_t length)
{
    char path[PATH];
    FILE *f = fopen(path_of(name, path), "wb");

    fuzz_must(f && fwrite(bytes, 1, length, f) == length && fclose(f) == 0);
}

static void remove_folder(void)
{
    char path[PATH];

    for (int i = 0; i < COUNT(beside); i++)
        unlink(path_of(beside[i], path));
    unlink(path_of("list.json", path));
    rmdir(path_of("images", path));
    rmdir(folder);
}

static void make_folder(void)
{
    char path[PATH];

    fuzz_must(mkdtemp(folder) && mkdir(path_of("images", path), 0777) == 0);
    for (int i = 0; i < COUNT(beside); i++)
        write_file(beside[i], "", 0);
    has_folder = true;
    atexit(remove_folder);
}

static void check_file(const char *path)
{
    fuzz_must(!path || access(path, F_OK) == 0);
}

static void use(const struct bench_list *l)
{
    fuzz_must(l->n > 0);
    for (uint32_t i = 0; i < l->n; i++) {
        const struct bench_entry *e = &l->entry[i];
        fuzz_must(e->name && *e->name && e->path && e->input.rank <= MAX_RANK);
        check_file(e->path);
        check_file(e->images);
        check_file(e->truth);
        check_file(e->labels);
        check_file(e->mean_std);
        for (uint32_t f = 0; f < e->n_files; f++) {
            check_file(e->file[f]);
            for (uint32_t k = 0; k < e->n_golden; k++)
                check_file(e->golden[f][k]);
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t length)
{
    struct bench_list l = { 0 };
    struct why w = { 0 };
    char path[PATH];

    if (!has_folder)
        make_folder();
    write_file("list.json", bytes, length);
    if (bench_list_read(path_of("list.json", path), NULL, 0, &l, &w) == 0) {
        use(&l);
        bench_list_done(&l);
    } else {
        fuzz_must(strstr(w.text, path) && !l.arena);
    }
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t length, size_t max, unsigned seed)
{
    return mutate_json(bytes, length, max, seed);
}
