#define _GNU_SOURCE
#include "reports/site/site_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* What a report consists of; everything else in its folder is somebody else's. */
static const char *const parts[] = { "index.html", "site.css", "site.js", "data", "graphs", NULL };
static const char *const folders[] = { "data", "graphs", NULL };

static bool is_part(const char *name)
{
    for (int i = 0; parts[i]; i++)
        if (!strcmp(name, parts[i]))
            return true;
    return false;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
    (void) st, (void) type, (void) ftw;
    return remove(path);
}

/* Removes a file, or a folder with all that is in it; links are not followed. */
static int remove_tree(const char *path)
{
    return nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Calls each() for the entries of a folder until it returns true, which is returned. */
static bool any_entry(const char *path, bool (*each)(const char *name, void *user), void *user)
{
    DIR *dir = opendir(path);
    bool found = false;
    if (!dir)
        return false;
    for (struct dirent *e; !found && (e = readdir(dir));)
        found = strcmp(e->d_name, ".") && strcmp(e->d_name, "..") && each(e->d_name, user);
    closedir(dir);
    return found;
}

static bool is_any(const char *name, void *user)
{
    (void) name, (void) user;
    return true;
}

/* Whether the folder has a page that Halcyon wrote; older versions wrote no mark. */
static bool is_report(const char *path)
{
    char *page = NULL, head[512] = "";
    if (asprintf(&page, "%s/index.html", path) < 0)
        return false;
    FILE *file = fopen(page, "r");
    free(page);
    if (!file)
        return false;
    size_t n = fread(head, 1, sizeof(head) - 1, file);
    fclose(file);
    head[n] = 0;
    return strstr(head, FOLDER_MARK) || strstr(head, "<title>Halcyon report</title>");
}

static int check_place(const char *path, struct why *w)
{
    struct stat st;
    if (lstat(path, &st) < 0)
        return errno == ENOENT ? 0 : why_file(w, path, errno);
    if (S_ISLNK(st.st_mode) && stat(path, &st) < 0)
        return why_file(w, path, errno);
    REQUIRE(w, S_ISDIR(st.st_mode), "%s: exists and is not a folder", path);
    REQUIRE(
        w, is_report(path) || !any_entry(path, is_any, NULL),
        "%s: this folder has files, but no report of halcyon; name another one, or an empty one",
        path);
    return 0;
}

static int make_folders(struct folder *f, struct why *w)
{
    if (mkdir(f->part, 0777) < 0)
        return why_file(w, f->path, errno);
    for (int i = 0; folders[i]; i++) {
        char *path = NULL;
        if (asprintf(&path, "%s/%s", f->part, folders[i]) < 0)
            return why_no_memory(w);
        int made = mkdir(path, 0777);
        free(path);
        if (made < 0)
            return why_file(w, f->path, errno);
    }
    return 0;
}

int folder_begin(struct folder *f, const char *path, struct why *w)
{
    *f = (struct folder){ 0 };
    TRY(check_place(path, w));
    f->path = access(path, F_OK) == 0 ? realpath(path, NULL) : strdup(path);
    if (!f->path)
        return why_file(w, path, errno);
    for (size_t n = strlen(f->path); n > 1 && f->path[n - 1] == '/'; n--)
        f->path[n - 1] = 0;
    int failed = 0;
    if (asprintf(&f->part, "%s.halcyon-part", f->path) < 0) {
        failed = why_no_memory(w);
        f->part = NULL;
    } else {
        remove_tree(f->part); /* of a command that was killed */
        failed = make_folders(f, w);
        if (failed)
            remove_tree(f->part);
    }
    if (failed) {
        free(f->path);
        free(f->part);
        *f = (struct folder){ 0 };
    }
    return failed;
}

int folder_open(struct folder *f, const char *name, FILE **ret_file, struct why *w)
{
    char *path = NULL;
    if (asprintf(&path, "%s/%s", f->part, name) < 0)
        return why_no_memory(w);
    *ret_file = fopen(path, "w");
    int error = errno;
    free(path);
    return *ret_file ? 0 : why_file(w, name, error);
}

int folder_close(struct folder *f, const char *name, FILE *file, struct why *w)
{
    long length = ftell(file);
    bool failed = ferror(file);
    f->bytes += length > 0 ? length : 0;
    errno = 0;
    if (fclose(file) != 0 || failed)
        return why_fail(w, WHY_SYSTEM, "%s/%s: cannot be written: %s", f->path, name,
                        strerror(errno ? errno : ENOSPC));
    return 0;
}

int folder_write(struct folder *f, const char *name, const char *text, struct why *w)
{
    FILE *file;
    TRY(folder_open(f, name, &file, w));
    fputs(text, file);
    return folder_close(f, name, file, w);
}

/* Moves an entry that is no part of the report from the replaced folder to the new one. */
static bool keep_entry(const char *name, void *user)
{
    const struct folder *f = user;
    char *from = NULL, *to = NULL;
    bool failed = false;
    if (!is_part(name))
        failed = asprintf(&from, "%s/%s", f->part, name) < 0 ||
                 asprintf(&to, "%s/%s", f->path, name) < 0 || rename(from, to) < 0;
    free(from);
    free(to);
    return failed;
}

/* Exchanges the new folder and the existing one, and removes that.  Where the file system cannot
 * exchange folders, there is a moment without either. */
static int replace(struct folder *f, struct why *w)
{
    if (renameat2(AT_FDCWD, f->part, AT_FDCWD, f->path, RENAME_EXCHANGE) < 0) {
        char *old = NULL;
        if (asprintf(&old, "%s.halcyon-old", f->path) < 0)
            return why_no_memory(w);
        remove_tree(old);
        int failed =
            rename(f->path, old) < 0 || rename(f->part, f->path) < 0 || rename(old, f->part) < 0;
        int error = errno;
        free(old);
        if (failed)
            return why_file(w, f->path, error);
    }
    if (any_entry(f->part, keep_entry, f))
        return why_fail(w, WHY_SYSTEM, "%s: other files of the replaced report are left in %s",
                        f->path, f->part);
    remove_tree(f->part);
    return 0;
}

int folder_end(struct folder *f, int keep, struct why *w)
{
    int failed = 0;
    if (!f->part)
        return 0;
    if (!keep)
        remove_tree(f->part);
    else if (rename(f->part, f->path) < 0)
        failed =
            errno == ENOTEMPTY || errno == EEXIST ? replace(f, w) : why_file(w, f->path, errno);
    if (failed && !any_entry(f->part, is_any, NULL))
        remove_tree(f->part);
    free(f->path);
    free(f->part);
    *f = (struct folder){ 0 };
    return failed;
}
