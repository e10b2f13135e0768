/* halcyon new-driver: a driver skeleton, to be filled in. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/check/buffer.h"
#include "harness/commands/commands.h"

/* The files of harness/skeleton/, and the headers of sim/, embedded as strings. */
extern const char skeleton_c[], kernels_c[], kernels_h[], kernel_conv_2d_c[], skeleton_mk[],
    skeleton_build[], skeleton_md[], hal_h[], hal_validate_h[];

static const struct {
    const char *name, *text;
    const char *special; /* characters of a path that `escape` precedes in this file */
    char escape;
} files[] = {
    { "driver.c", skeleton_c, "", 0 },
    { "kernels.c", kernels_c, "", 0 },
    { "kernel_conv_2d.c", kernel_conv_2d_c, "", 0 },
    { "kernels.h", kernels_h, "", 0 },
    { "hal.h", hal_h, "", 0 },
    { "hal_validate.h", hal_validate_h, "", 0 },
    { "Makefile", skeleton_mk, "$", '$' },
    { "meson.build", skeleton_build, "'", '\\' },
    { "README.md", skeleton_md, "", 0 },
};

/* What the placeholders of the files stand for. */
struct driver_words {
    char name[64];          /* @NAME@ */
    char word[64];          /* @WORD@: the same with _ for each -, for the name of a service */
    char halcyon[PATH_MAX]; /* @HALCYON@: the program that is running */
};

/* The name of a driver in C, make and shell: that of its folder, with _ for each space. */
static int make_name(const char *folder, struct driver_words *words, struct why *w)
{
    const char *slash = strrchr(folder, '/'), *base = slash ? slash + 1 : folder;
    size_t n = strlen(base);
    bool good = isalpha((unsigned char) *base) && n < 64;

    for (const char *c = base; *c; c++)
        good = good && (isalnum((unsigned char) *c) || strchr("_- ", *c));
    REQUIRE(w, good,
            "expected a driver name of up to 63 letters, digits, _, - and spaces, beginning with a "
            "letter, found '%s'",
            base);
    for (size_t i = 0; i <= n; i++) {
        words->name[i] = base[i] == ' ' ? '_' : base[i];
        words->word[i] = base[i] == '-' ? '_' : words->name[i];
    }
    return 0;
}

/* The path of this program. "halcyon", which is looked up on PATH, where the path is not known or
 * has a character that no Makefile can hold in a variable. */
static void find_program(char ret_path[PATH_MAX])
{
    ssize_t n = readlink("/proc/self/exe", ret_path, PATH_MAX - 1);

    ret_path[n < 0 ? 0 : n] = 0;
    if (n <= 0 || n == PATH_MAX - 1 || strpbrk(ret_path, "\\#\n"))
        strcpy(ret_path, "halcyon");
}

static void put_path(FILE *f, const char *path, const char *special, char escape)
{
    for (; *path; path++) {
        if (strchr(special, *path))
            fputc(escape, f);
        fputc(*path, f);
    }
}

static bool skip(const char **at, const char *placeholder)
{
    const size_t n = strlen(placeholder);

    if (strncmp(*at, placeholder, n) != 0)
        return false;
    *at += n;
    return true;
}

/* Writes files[i] with the placeholders replaced. */
static int write_file(const char *path, int i, const struct driver_words *words, struct why *w)
{
    FILE *f = fopen(path, "wx");

    if (!f)
        return why_file(w, path, errno);
    for (const char *at = files[i].text; *at;) {
        if (skip(&at, "@NAME@"))
            fputs(words->name, f);
        else if (skip(&at, "@WORD@"))
            fputs(words->word, f);
        else if (skip(&at, "@HALCYON@"))
            put_path(f, words->halcyon, files[i].special, files[i].escape);
        else
            fputc(*at++, f);
    }
    bool bad = ferror(f);
    if (fclose(f) || bad)
        return why_fail(w, WHY_SYSTEM, "%s: write error", path);
    return 0;
}

static int write_driver(const struct options *o, struct why *w)
{
    char path[4200];
    struct driver_words words;

    TRY(options_expect(o, 1, 1, "NAME", w));
    const char *folder = o->argument[0];
    TRY(make_name(folder, &words, w));
    find_program(words.halcyon);
    REQUIRE(w, strlen(folder) < 4096, "the path is too long");
    const int error = mkdir(folder, 0777) < 0 ? errno : 0;
    REQUIRE(w, error != EEXIST, "%s: already exists; expected the name of a new folder", folder);
    if (error)
        return why_file(w, folder, error);
    for (int i = 0; i < COUNT(files); i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i].name);
        if (write_file(path, i, &words, w) == 0)
            continue;
        for (int k = 0; k <= i; k++) { /* leaves no incomplete driver */
            snprintf(path, sizeof path, "%s/%s", folder, files[k].name);
            unlink(path);
        }
        rmdir(folder);
        return -1;
    }

    struct buffer quoted = { 0 };
    buffer_put_quoted(&quoted, folder);
    printf("%s/driver.c is a driver that runs ADD, CONV_2D and SVDF\n"
           "  make -C %s          builds %s.so there\n"
           "  make -C %s check    runs it on random graphs\n"
           "  make -C %s conform  checks it against the HAL contract\n",
           folder, buffer_text(&quoted), words.name, buffer_text(&quoted), buffer_text(&quoted));
    buffer_done(&quoted);
    return 0;
}

int cmd_new_driver(const struct options *o)
{
    struct why why = { 0 };

    return write_driver(o, &why) < 0 ? print_error(o, &why) : EXIT_CONFORMING;
}
