/* A main() for fuzz targets without libFuzzer: runs every file in the given directories, and
 * prefixes of the shorter ones, since truncated files are the most common invalid input. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/fuzz/fuzz.h"

enum { PREFIXES_OF = 2048 };

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

static int run_file(const char *path)
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
    for (size_t n = 0; length <= PREFIXES_OF && n < length; n += 1 + length / 64)
        run_prefix(bytes, n);
    run_prefix(bytes, length);
    free(bytes);
    return 0;
}

static int run_directory(const char *path, int *ret_files)
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
            failed |= run_file(name);
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
    for (int i = 1; i < argc; i++)
        failed |= run_directory(argv[i], &files);
    printf("%d inputs\n", files);
    return failed || !files;
}
