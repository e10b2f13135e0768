/* A main() for fuzz targets without libFuzzer: runs every file in the given directories.  Of those
 * before the argument --whole also prefixes of the shorter files, since truncated files are the
 * most common invalid input, and a mutant of each file, if the target has a mutator. */
#include <dirent.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

enum { PREFIXES_OF = 2048, MUTANT_ROOM = 4096 };

/* Only targets with a mutator of their own define it. */
__attribute__((weak)) size_t LLVMFuzzerCustomMutator(uint8_t *bytes, size_t length, size_t max,
                                                     unsigned seed);

/* A stand-in for libFuzzer's: changes one byte, or appends the first one. */
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t length, size_t max);
size_t LLVMFuzzerMutate(uint8_t *bytes, size_t length, size_t max)
{
    if (!length && !max)
        return 0;
    bytes[length ? length / 2 : 0] = (uint8_t) (length * 37 + 11);
    return length ? length : 1;
}

/* Copies the prefix to memory of exactly its size, so that AddressSanitizer detects reads after the
 * end. */
static void run_prefix(const uint8_t *bytes, size_t length)
{
    uint8_t *copy = malloc(length ? length : 1);
    if (!copy)
        abort();
    memcpy(copy, bytes, length);
    LLVMFuzzerTestOneInput(copy, length);
    free(copy);
}

/* Twice, which must give the same bytes. */
static void run_mutant(const uint8_t *bytes, size_t length)
{
    uint8_t *mutant[2];
    size_t n[2];

    if (!LLVMFuzzerCustomMutator)
        return;
    for (int i = 0; i < 2; i++) {
        mutant[i] = malloc(length + MUTANT_ROOM);
        if (!mutant[i])
            abort();
        memcpy(mutant[i], bytes, length);
        n[i] = LLVMFuzzerCustomMutator(mutant[i], length, length + MUTANT_ROOM, (unsigned) length);
    }
    if (n[0] != n[1] || memcmp(mutant[0], mutant[1], n[0]) != 0) {
        fprintf(stderr, "the mutator gives two results for one seed\n");
        abort();
    }
    run_prefix(mutant[0], n[0]);
    free(mutant[0]);
    free(mutant[1]);
}

static int run_file(const char *path, bool whole)
{
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = NULL;
    size_t length = 0, room = 0;
    if (!file) {
        perror(path);
        return 1;
    }
    do {
        room = 2 * room + 4096;
        bytes = realloc(bytes, room);
        if (!bytes)
            abort();
        length += fread(bytes + length, 1, room - length, file);
    } while (length == room);
    fclose(file);
    for (size_t n = 0; !whole && length <= PREFIXES_OF && n < length; n += 1 + length / 64)
        run_prefix(bytes, n);
    if (!whole)
        run_mutant(bytes, length);
    run_prefix(bytes, length);
    free(bytes);
    return 0;
}

static int run_directory(const char *path, bool whole, int *ret_files)
{
    struct dirent **entries;
    int failed = 0, n = scandir(path, &entries, NULL, alphasort);
    if (n < 0) {
        perror(path);
        return 1;
    }
    for (int i = 0; i < n; i++) {
        char name[4096];
        if (entries[i]->d_name[0] != '.') {
            snprintf(name, sizeof(name), "%s/%s", path, entries[i]->d_name);
            failed |= run_file(name, whole);
            ++*ret_files;
        }
        free(entries[i]);
    }
    free(entries);
    return failed;
}

int main(int argc, char **argv)
{
    int failed = 0, files = 0;
    bool whole = false;
    for (int i = 1; i < argc; i++)
        if (strcmp(argv[i], "--whole") == 0)
            whole = true;
        else
            failed |= run_directory(argv[i], whole, &files);
    printf("%d inputs\n", files);
    return failed || !files;
}
