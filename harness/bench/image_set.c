#include "harness/bench/image_set.h"

#include <archive.h>
#include <archive_entry.h>
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <turbojpeg.h>

/* Limits of what an archive or an image, which are untrusted, may take. */
enum { MOST_IMAGES = 1 << 20, MOST_PIXELS = 1 << 26 };
static const size_t most_bytes = (size_t) 1 << 32, most_of_file = (size_t) 1 << 27;

struct adding {
    struct arena *a;
    struct image_set set;
    uint32_t room;
    size_t bytes;
};

static bool is_image(const char *name)
{
    const char *dot = strrchr(name, '.');
    return dot && dot != name && (strcasecmp(dot, ".jpeg") == 0 || strcasecmp(dot, ".jpg") == 0);
}

static int add(struct adding *g, struct image_file file, struct why *w)
{
    REQUIRE(w, g->set.n < MOST_IMAGES, "more than %d images", MOST_IMAGES);
    if (g->set.n == g->room) {
        const uint32_t room = g->room ? 2 * g->room : 256;
        struct image_file *larger = arena_alloc(g->a, room, sizeof(*larger));
        if (!larger)
            return why_no_memory(w);
        if (g->set.n)
            memcpy(larger, g->set.file, g->set.n * sizeof(*larger));
        g->set.file = larger;
        g->room = room;
    }
    if (!file.name)
        return why_no_memory(w);
    g->set.file[g->set.n++] = file;
    return 0;
}

static int add_folder(struct adding *g, const char *path, struct why *w)
{
    DIR *folder = opendir(path);
    int failed = 0;

    if (!folder)
        return why_file(w, path, errno);
    for (struct dirent *d; !failed && (d = readdir(folder));) {
        if (!is_image(d->d_name))
            continue;
        struct image_file f = { .name = arena_strdup(g->a, d->d_name),
                                .path = arena_printf(g->a, "%s/%s", path, d->d_name) };
        failed = f.path ? add(g, f, w) : why_no_memory(w);
    }
    closedir(folder);
    return failed;
}

static int add_member(struct adding *g, struct archive *from, struct archive_entry *e,
                      struct why *w)
{
    const char *path = archive_entry_pathname(e);
    const char *slash = path ? strrchr(path, '/') : NULL;
    const char *name = slash ? slash + 1 : path;

    if (!name || archive_entry_filetype(e) != AE_IFREG || !is_image(name))
        return 0;
    const la_int64_t size = archive_entry_size(e);
    REQUIRE(w, archive_entry_size_is_set(e) && size > 0 && (size_t) size <= most_of_file,
            "%s: an image of %lld bytes; 1 to %zu are allowed", name, (long long) size,
            most_of_file);
    g->bytes += (size_t) size;
    REQUIRE(w, g->bytes <= most_bytes, "more than %zu bytes of images", most_bytes);
    uint8_t *data = arena_alloc_raw(g->a, (size_t) size, 1);
    if (!data)
        return why_no_memory(w);
    REQUIRE(w, archive_read_data(from, data, (size_t) size) == (la_ssize_t) size,
            "%s: cannot be read: %s", name,
            archive_error_string(from) ? archive_error_string(from) : "it ends early");
    return add(g,
               (struct image_file){
                   .name = arena_strdup(g->a, name), .data = data, .size = (size_t) size },
               w);
}

static int add_archive(struct adding *g, const char *path, struct why *w)
{
    struct archive *from = archive_read_new();
    struct archive_entry *e;
    int failed = 0, status;

    if (!from)
        return why_no_memory(w);
    archive_read_support_filter_all(from);
    archive_read_support_format_tar(from);
    archive_read_support_format_zip(from);
    if (archive_read_open_filename(from, path, 1 << 16) != ARCHIVE_OK)
        failed = why_fail(w, WHY_INVALID, "must be a folder of images, or a tar or zip archive: %s",
                          archive_error_string(from));
    while (!failed && (status = archive_read_next_header(from, &e)) != ARCHIVE_EOF) {
        if (status != ARCHIVE_OK && status != ARCHIVE_WARN)
            failed =
                why_fail(w, WHY_INVALID, "not a complete archive: %s", archive_error_string(from));
        else
            failed = add_member(g, from, e, w);
    }
    archive_read_free(from);
    return failed ? why_prefix(w, "%s", path) : 0;
}

/* ---- their order */

/* The last number in a name; -1: none. */
static long long number_in(const char *name)
{
    const char *end = name + strlen(name);

    while (end > name && (end[-1] < '0' || end[-1] > '9'))
        end--;
    const char *at = end;
    while (at > name && at[-1] >= '0' && at[-1] <= '9' && end - at < 18)
        at--;
    return at < end ? strtoll(at, NULL, 10) : -1;
}

static int by_number(const void *a, const void *b)
{
    const struct image_file *x = a, *y = b;
    const long long i = number_in(x->name), k = number_in(y->name);
    return i != k ? (i < k ? -1 : 1) : strcmp(x->name, y->name);
}

int image_set_read(const char *path, struct arena *a, struct image_set *ret_set, struct why *w)
{
    struct adding g = { .a = a };
    struct stat s;

    if (stat(path, &s) < 0)
        return why_file(w, path, errno);
    TRY(S_ISDIR(s.st_mode) ? add_folder(&g, path, w) : add_archive(&g, path, w));
    REQUIRE(w, g.set.n, "%s: there is no image in it (NAME.jpeg or NAME.jpg)", path);
    qsort(g.set.file, g.set.n, sizeof(*g.set.file), by_number);
    *ret_set = g.set;
    return 0;
}

/* ---- decoding */

static int load(const struct image_file *f, struct arena *a, const uint8_t **ret_data,
                size_t *ret_size, struct why *w)
{
    if (!f->path) {
        *ret_data = f->data;
        *ret_size = f->size;
        return 0;
    }
    struct stat s;
    FILE *file = fopen(f->path, "rbe");
    if (!file)
        return why_file(w, f->path, errno);
    uint8_t *data = NULL;
    int failed = 0;
    if (fstat(fileno(file), &s) < 0 || s.st_size <= 0 || (size_t) s.st_size > most_of_file)
        failed = why_fail(w, WHY_INVALID, "%s: must have 1 to %zu bytes", f->path, most_of_file);
    else if (!(data = arena_alloc_raw(a, (size_t) s.st_size, 1)))
        failed = why_no_memory(w);
    else if (fread(data, 1, (size_t) s.st_size, file) != (size_t) s.st_size)
        failed = why_fail(w, WHY_INVALID, "%s: cannot be read", f->path);
    fclose(file);
    TRY(failed);
    *ret_data = data;
    *ret_size = (size_t) s.st_size;
    return 0;
}

/* Four colours as Adobe stores them, inverted: 255 is no ink. */
static void from_inks(const uint8_t *ink, size_t n, uint8_t *rgb)
{
    for (size_t i = 0; i < n; i++)
        for (size_t c = 0; c < 3; c++)
            rgb[3 * i + c] = (uint8_t) ((ink[4 * i + c] * ink[4 * i + 3] + 127) / 255);
}

/* 32 bits are enough for the size of a file that load() accepts.  A file that is damaged at its end
 * is decoded as far as it goes, with a warning. */
static int decode(tjhandle jpeg, const uint8_t *data, size_t size, struct arena *a,
                  struct image *ret, struct why *w)
{
    int width = 0, height = 0, sampling, space;

    const int read =
        tjDecompressHeader3(jpeg, data, (unsigned long) size, &width, &height, &sampling, &space);
    REQUIRE(w, read == 0 && width > 0 && height > 0, "not a JPEG image: %s", tjGetErrorStr2(jpeg));
    REQUIRE(w, height <= MOST_PIXELS / width, "%d x %d pixels; at most %d are allowed", width,
            height, MOST_PIXELS);
    const bool has_inks = space == TJCS_CMYK || space == TJCS_YCCK;
    const size_t n = (size_t) width * (size_t) height;
    uint8_t *pixel = arena_alloc_raw(a, n, 3), *to = has_inks ? arena_alloc_raw(a, n, 4) : pixel;
    if (!pixel || !to)
        return why_no_memory(w);
    REQUIRE(w,
            tjDecompress2(jpeg, data, (unsigned long) size, to, width, 0, height,
                          has_inks ? TJPF_CMYK : TJPF_RGB, TJFLAG_FASTDCT) == 0 ||
                tjGetErrorCode(jpeg) == TJERR_WARNING,
            "cannot be decoded: %s", tjGetErrorStr2(jpeg));
    if (has_inks)
        from_inks(to, n, pixel);
    *ret = (struct image){ (uint32_t) width, (uint32_t) height, pixel };
    return 0;
}

int image_decode(const struct image_file *f, struct arena *a, struct image *ret_image,
                 struct why *w)
{
    const uint8_t *data;
    size_t size;

    TRY(load(f, a, &data, &size, w));
    tjhandle jpeg = tjInitDecompress();
    if (!jpeg)
        return why_no_memory(w);
    int failed = decode(jpeg, data, size, a, ret_image, w);
    tjDestroy(jpeg);
    return failed ? why_prefix(w, "%s", f->name) : 0;
}
