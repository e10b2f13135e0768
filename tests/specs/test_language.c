/* The specification language: each file of a directory yields the examples, or the error, in the
 * .expected file beside it.
 *
 *     test_language DIRECTORY...
 *
 * With HALCYON_BLESS set it writes the .expected files instead. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#include "specs/specs.h"
#include "tests/specs/example_text.h"

static int print_one(const struct example *e, void *user, struct why *w)
{
    (void) w;
    example_print(e, user);
    return 0;
}

static char *load_text(const char *path)
{
    char *text = NULL;
    size_t size;
    struct why w;
    FILE *to = open_memstream(&text, &size);

    if (to && specs_load(path, NULL, print_one, to, &w) < 0)
        fprintf(to, "error: %s\n", w.text);
    if (to)
        fclose(to);
    return text;
}

static char *read_text(const char *path)
{
    FILE *from = fopen(path, "r");
    char *text = NULL;
    size_t size = 0;

    if (from) {
        if (getdelim(&text, &size, '\0', from) < 0 && text)
            *text = '\0';
        fclose(from);
    }
    return text;
}

static int bless(const char *path, const char *text)
{
    FILE *to = fopen(path, "w");
    if (!to)
        return 1;
    fputs(text, to);
    return fclose(to) != 0;
}

static void show_difference(const char *path, const char *found, const char *expected)
{
    int line = 1;

    while (*found && *found == *expected) {
        line += *found == '\n';
        found++;
        expected++;
    }
    fprintf(stderr, "%s:%d: differs\n  found:    %.120s\n  expected: %.120s\n", path, line, found,
            expected);
}

static int check_file(const char *directory, const char *name)
{
    char path[4096], expected_path[4096];
    int failed = 1;

    snprintf(path, sizeof path, "%s/%s", directory, name);
    snprintf(expected_path, sizeof expected_path, "%s/%.*s.expected", directory,
             (int) strcspn(name, "."), name);
    char *found = load_text(path), *expected = read_text(expected_path);
    if (found && getenv("HALCYON_BLESS"))
        failed = bless(expected_path, found);
    else if (found && expected && strcmp(found, expected) == 0)
        failed = 0;
    else
        show_difference(expected_path, found ? found : "", expected ? expected : "");
    free(found);
    free(expected);
    return failed;
}

static int is_specification(const struct dirent *entry)
{
    const char *dot = strchr(entry->d_name, '.');
    return dot && (strcmp(dot, ".mod.py") == 0 || strcmp(dot, ".tflite") == 0);
}

int main(int argc, char **argv)
{
    int failed = 0, files = 0;

    for (int i = 1; i < argc; i++) {
        struct dirent **entry = NULL;
        int n = scandir(argv[i], &entry, is_specification, alphasort);
        for (int k = 0; k < n; k++, files++) {
            failed += check_file(argv[i], entry[k]->d_name);
            free(entry[k]);
        }
        free(entry);
    }
    printf("%d files, %d differ\n", files, failed);
    return failed > 0 || files == 0;
}
