/* halcyon new-driver: the beginning of a driver, to be filled in. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/check/buffer.h"
#include "harness/commands/commands.h"

/* The files of harness/skeleton/, and the contract. */
extern const char skeleton_c[], kernels_c[], kernels_h[], skeleton_mk[], skeleton_md[], hal_h[];

static const struct {
    const char *name, *text;
} files[] = {
    { "driver.c", skeleton_c }, { "kernels.c", kernels_c },  { "kernels.h", kernels_h },
    { "hal.h", hal_h },         { "Makefile", skeleton_mk }, { "README.md", skeleton_md },
};

/* The name goes into C, make and shell. */
static int check_name(const char *name, struct why *w)
{
    bool good = isalpha((unsigned char) *name);

    for (const char *c = name; *c; c++)
        good = good && (isalnum((unsigned char) *c) || *c == '_' || *c == '-');
    REQUIRE(w, good && strlen(name) < 64,
            "'%s' is no name for a driver: letters, digits, _ and -, a letter first", name);
    return 0;
}

static int write_file(const char *path, const char *text, const char *name, struct why *w)
{
    FILE *f = fopen(path, "wx");
    const char *at;

    if (!f)
        return why_fail(w, WHY_SYSTEM, "%s: %s", path, strerror(errno));
    while ((at = strstr(text, "@NAME@"))) {
        fwrite(text, 1, (size_t) (at - text), f);
        fputs(name, f);
        text = at + strlen("@NAME@");
    }
    fputs(text, f);
    bool bad = ferror(f);
    if (fclose(f) || bad)
        return why_fail(w, WHY_SYSTEM, "%s: not all was written", path);
    return 0;
}

/* A driver that could not be written whole, up to its last file. */
static void remove_driver(const char *folder, int last)
{
    char path[4200];

    for (int i = 0; i <= last; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i].name);
        unlink(path);
    }
    rmdir(folder);
}

static int write_driver(const struct options *o, struct why *w)
{
    char path[4200];

    TRY(options_expect(o, 1, 1, "NAME", w));
    const char *folder = o->argument[0], *slash = strrchr(folder, '/');
    const char *name = slash ? slash + 1 : folder;
    TRY(check_name(name, w));
    REQUIRE(w, strlen(folder) < 4096, "the path is too long");
    if (mkdir(folder, 0777) < 0)
        return why_fail(w, errno == EEXIST || errno == ENOENT ? WHY_INVALID : WHY_SYSTEM, "%s: %s",
                        folder, errno == EEXIST ? "is there already" : strerror(errno));
    for (int i = 0; i < COUNT(files); i++) {
        snprintf(path, sizeof path, "%s/%s", folder, files[i].name);
        if (write_file(path, files[i].text, name, w) < 0) {
            remove_driver(folder, i);
            return -1;
        }
    }
    printf("%s/driver.c is a driver that runs ADD; 'make -C %s' builds it, 'make -C %s check' runs "
           "it\n",
           folder, folder, folder);
    return 0;
}

int cmd_new_driver(const struct options *o)
{
    struct why why = { 0 };

    return write_driver(o, &why) < 0 ? complain(o, &why) : EXIT_CONFORMING;
}
