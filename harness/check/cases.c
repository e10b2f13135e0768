#include "harness/check/cases.h"

#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "golden/base/array.h"
#include "harness/check/nearest_case.h"
#include "randgraph/coverage.h"
#include "specs/specs.h"

struct cases cases_random(const struct randgraph_options *graphs, uint64_t seed, uint64_t first,
                          uint64_t n)
{
    return (struct cases){ .n = n, .graphs = *graphs, .seed = seed, .first = first };
}

struct randgraph_options cases_graphs(const struct cases *c, uint64_t i)
{
    struct randgraph_options o = c->graphs;
    if (c->from_digest) {
        uint64_t k = cases_index(c, i) % c->from->n;
        o.from = &c->from->spec[k].example;
        o.from_digest = c->from_digest[k];
    }
    if (c->n_supports) {
        o.support = c->support[cases_index(c, i) % c->n_supports];
        o.support_digest = o.support ? randgraph_support_digest(o.support) : 0;
    }
    if (c->n_steerings) {
        o.steering = c->steering[cases_index(c, i) % c->n_steerings];
        o.steering_digest = o.steering ? randgraph_steering_digest(o.steering) : 0;
    }
    return o;
}

bool cases_are_random(const struct cases *c)
{
    return !c->spec && !c->name;
}

void cases_done(struct cases *c)
{
    free(c->spec);
    free(c->unloaded);
    free(c->index);
    arena_free(c->arena);
    randgraph_support_free(c->own_support);
    if (c->from)
        cases_done(c->from);
    free(c->from);
    free(c->from_digest);
    randgraph_steering_free(c->own_steering);
    *c = (struct cases){ 0 };
}

uint64_t cases_index(const struct cases *c, uint64_t i)
{
    return c->index ? c->index[i] : c->first + i;
}

void cases_name(const struct cases *c, uint64_t i, char name[CASE_NAME])
{
    if (c->spec)
        snprintf(name, CASE_NAME, "%s", c->spec[i].example.name);
    else if (c->name)
        snprintf(name, CASE_NAME, "%s", c->name[cases_index(c, i)]);
    else {
        struct randgraph_options o = cases_graphs(c, i);
        randgraph_name(&o, c->seed, cases_index(c, i), name);
    }
}

const char *cases_file(const struct cases *c, uint64_t i)
{
    return c->spec ? c->spec[i].file : NULL;
}

int cases_get(const struct cases *c, uint64_t i, struct arena *arena, struct example *ret_example,
              struct why *w)
{
    if (!c->spec) {
        struct randgraph_options o = cases_graphs(c, i);
        o.extremes = true;
        return randgraph_make(&o, c->seed, cases_index(c, i), arena, ret_example, w);
    }
    *ret_example = c->spec[i].example;
    return 0;
}

/* ---- input values */

static double draw_value(struct rng *r, const struct tensor *t)
{
    const struct dtype_info *d = &dtype_info[t->dtype];
    if (d->codec->max == 1 && d->codec->integer) /* BOOL */
        return rng_below(r, 2);
    if (!d->codec->integer)
        return 2 * rng_unit(r) - 1;
    if (t->scale == 0)
        return rng_below(r, 10);
    double range = d->codec->max - d->codec->min + 1;
    double q = d->codec->min + (double) rng_below(r, (uint32_t) range);
    return (double) t->scale * (q - t->zero);
}

int inputs_generate(const char *name, struct tensor *in, uint32_t n, struct arena *arena,
                    struct why *w)
{
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a */
    for (const char *c = name; *c; c++)
        hash = (hash ^ (unsigned char) *c) * 0x100000001b3u;
    for (uint32_t i = 0; i < n; i++) {
        struct tensor *t = &in[i];
        if (t->data)
            continue;
        for (uint32_t d = 0; d < t->shape.rank; d++)
            if (!t->shape.dim[d])
                t->shape.dim[d] = 1;
        REQUIRE(w, dtype_find((int32_t) t->dtype), "an input has the unknown type %d",
                (int) t->dtype);
        if (shape_check_size(&t->shape, dtype_info[t->dtype].codec->size) < 0)
            return why_fail(w, WHY_INVALID, "an input has more than 4 GiB");
        size_t count = tensor_count(t);
        t->data = arena_alloc(arena, tensor_bytes(t), 1);
        struct arena_mark mark = arena_mark(arena);
        double *value = arena_alloc(arena, count, sizeof *value);
        if (!t->data || !value)
            return why_no_memory_for(w, "an input of %zu elements", count);
        struct rng r;
        rng_seed(&r, hash, i);
        for (size_t k = 0; k < count; k++)
            value[k] = draw_value(&r, t);
        tensor_narrow(value, t);
        arena_rewind(arena, mark);
    }
    return 0;
}

/* ---- loading */

struct loading {
    struct cases *cases;
    const char *file; /* in the arena */
    const char *glob;
    bool may_be_bad;
    bool fill; /* generate input values: the file has none */
};

const char *case_without_prefix(const char *name)
{
    return strncmp(name, "spec/", 5) ? name : name + 5;
}

/* The exact name matches too, as names may contain wildcard characters. */
bool case_name_matches(const char *glob, const char *name)
{
    glob = case_without_prefix(glob);
    name = case_without_prefix(name);
    return !strcmp(glob, name) || !fnmatch(glob, name, 0);
}

static int copy_tensors(const struct tensor *from, uint32_t n, struct arena *a,
                        struct tensor **ret_to)
{
    struct tensor *to = arena_alloc(a, n, sizeof *to);
    if (!to)
        return -1;
    for (uint32_t i = 0; i < n; i++) {
        to[i] = from[i];
        if (from[i].data && !(to[i].data = arena_copy(a, from[i].data, tensor_bytes(&from[i]))))
            return -1;
        if (from[i].channel_scale &&
            !(to[i].channel_scale = arena_copy(a, from[i].channel_scale,
                                               from[i].n_channels * sizeof *from[i].channel_scale)))
            return -1;
    }
    *ret_to = to;
    return 0;
}

static int copy_example(const struct example *from, struct arena *a, struct example *ret_to)
{
    struct example to = *from;
    uint32_t n_in = from->model.graph[0].n_inputs, n_out = from->model.graph[0].n_outputs;
    TRY(model_copy(&from->model, a, &to.model));
    TRY(copy_tensors(from->in, n_in, a, &to.in));
    TRY(copy_tensors(from->expected, n_out, a, &to.expected));
    if (from->ignored && !(to.ignored = arena_copy(a, from->ignored, n_out * sizeof *to.ignored)))
        return -1;
    to.name = strncmp(from->name, "spec/", 5) && strncmp(from->name, "random/", 7)
                  ? arena_printf(a, "spec/%s", from->name)
                  : arena_strdup(a, from->name);
    to.since = from->since ? arena_strdup(a, from->since) : NULL;
    *ret_to = to;
    return to.name ? 0 : -1;
}

static int take_example(const struct example *e, void *user, struct why *w)
{
    struct loading *l = user;
    struct cases *c = l->cases;
    struct spec_case taken = { .file = l->file, .may_be_bad = l->may_be_bad };
    if (l->glob && !case_name_matches(l->glob, e->name)) {
        char name[CASE_NAME];
        snprintf(name, sizeof name, "spec/%s", e->name);
        nearest_case_consider(c->nearest, name);
        return 0;
    }
    REQUIRE(w, strlen(e->name) < CASE_NAME - strlen("spec/"),
            "%s: the name of an example has %zu bytes, expected less than %zu", l->file,
            strlen(e->name), CASE_NAME - strlen("spec/"));
    struct spec_case *spec = array_room(c->spec, c->n, sizeof *spec);
    if (!spec)
        return why_no_memory_for(w, "%s", e->name);
    c->spec = spec;
    if (copy_example(e, c->arena, &taken.example) < 0)
        return why_no_memory_for(w, "%s", e->name);
    if (l->fill)
        TRY(inputs_generate(e->name, taken.example.in, e->model.graph[0].n_inputs, c->arena, w));
    c->spec[c->n++] = taken;
    return 0;
}

static int keep_unloaded(struct cases *c, const char *file, const char *text, struct why *w)
{
    struct unloaded_file *list = array_room(c->unloaded, c->n_unloaded, sizeof *list);
    if (!list)
        return why_no_memory(w);
    c->unloaded = list;
    struct unloaded_file f = { file, arena_strdup(c->arena, text) };
    if (!f.why)
        return why_no_memory(w);
    list[c->n_unloaded++] = f;
    return 0;
}

/* Whether an error is the file's own, so that the others of its folder can be loaded. */
static bool is_bad_file(const struct why *w)
{
    return w->code == WHY_INVALID || w->code == WHY_UNSUPPORTED || w->code == WHY_TIMEOUT;
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n > m && !strcmp(text + n - m, end);
}

static bool is_spec(const char *path)
{
    return ends_with(path, ".mod.py") || ends_with(path, ".jsonl") ||
           ends_with(path, ".jsonl.xz") || ends_with(path, ".tflite");
}

/* A folder being read, and the one that contains it: to detect links in a circle. */
struct folder {
    const struct folder *above;
    dev_t device;
    ino_t inode;
};

static int load_path(struct cases *c, const char *path, const char *glob,
                     const struct folder *above, struct why *w);

/* An entry of a folder: a bad one is kept in the list of them. */
static int load_entry(struct cases *c, const char *path, const char *glob,
                      const struct folder *above, struct why *w)
{
    if (load_path(c, path, glob, above, w) == 0)
        return 0;
    if (!is_bad_file(w))
        return -1;
    const char *file = arena_strdup(c->arena, path);
    return file ? keep_unloaded(c, file, w->text, w) : why_no_memory(w);
}

static int not_hidden(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name); /* alphasort() follows the locale */
}

static int load_folder(struct cases *c, const char *path, const char *glob,
                       const struct folder *here, struct why *w)
{
    struct dirent **entry;
    for (const struct folder *f = here->above; f; f = f->above)
        REQUIRE(w, f->device != here->device || f->inode != here->inode,
                "%s: is a link to a folder that contains it", path);
    int n = scandir(path, &entry, not_hidden, by_name), failed = 0;
    if (n < 0)
        return why_file(w, path, errno);
    for (int i = 0; i < n; i++) {
        char *below = NULL;
        if (!failed && asprintf(&below, "%s/%s", path, entry[i]->d_name) < 0)
            failed = why_no_memory(w);
        else if (!failed)
            failed = load_entry(c, below, glob, here, w);
        free(below);
        free(entry[i]);
    }
    free(entry);
    return failed;
}

static bool is_random_name(const char *path)
{
    return strncmp(path, "random/", 7) == 0;
}

static struct specs_options limits;

void cases_limit_loading(double seconds, size_t bytes)
{
    limits.timeout = seconds;
    limits.memory_limit = bytes;
}

/* above: the folder that contains it; NULL: given by the user, and an error if it cannot be loaded.
 */
static int load_path(struct cases *c, const char *path, const char *glob,
                     const struct folder *above, struct why *w)
{
    struct stat about;
    bool there = stat(path, &about) == 0;
    int error = errno;
    if (there && S_ISDIR(about.st_mode)) {
        struct folder here = { above, about.st_dev, about.st_ino };
        return load_folder(c, path, glob, &here, w);
    }
    if (above && !is_spec(path))
        return 0;
    if (!there)
        return why_file_or(w, path, error,
                           is_random_name(path) ? " ('halcyon replay' runs a random case)" : "");
    REQUIRE(w, S_ISREG(about.st_mode), "%s: neither a regular file nor a folder", path);
    REQUIRE(w, is_spec(path), "%s: expected a file .mod.py, .jsonl, .jsonl.xz or .tflite", path);
    struct loading l = { .cases = c,
                         .file = arena_strdup(c->arena, path),
                         .glob = glob,
                         .may_be_bad = above || c->keep_going,
                         .fill = ends_with(path, ".tflite") };
    const struct specs_options options = { limits.timeout, limits.memory_limit, c->threads };
    if (!l.file)
        return why_no_memory(w);
    return specs_load(path, &options, take_example, &l, w);
}

int cases_load(struct cases *c, const char *path, const char *glob, struct why *w)
{
    if (!c->arena && !(c->arena = arena_new(0)))
        return why_no_memory(w);
    if (glob && !c->nearest) {
        c->nearest = arena_alloc(c->arena, 1, sizeof *c->nearest);
        if (!c->nearest)
            return why_no_memory(w);
        *c->nearest = nearest_case_to(glob);
    }
    uint64_t before = c->n;
    size_t bad_before = c->n_unloaded;
    TRY(c->keep_going ? load_entry(c, path, glob, NULL, w) : load_path(c, path, glob, NULL, w));
    REQUIRE(w, c->n > before || glob || c->n_unloaded > bad_before, "%s: %s", path,
            is_spec(path) ? "expected at least one example, found none"
                          : "expected a folder with files .mod.py, .jsonl, .jsonl.xz or .tflite, "
                            "found no examples");
    return 0;
}

int cases_open(struct cases *c, const char *what, const char *glob, struct why *w)
{
    struct randgraph_options graphs;
    uint64_t seed, index;
    if (is_random_name(what) && access(what, F_OK) != 0) {
        TRY(randgraph_parse_name(what, &graphs, &seed, &index, w));
        *c = cases_random(&graphs, seed, index, 1);
        return 0;
    }
    TRY(cases_load(c, what, glob, w));
    return cases_check_found(c, what, glob, w);
}

int cases_check_found(const struct cases *c, const char *what, const char *glob, struct why *w)
{
    char near[NEAREST_CASE_TEXT] = "";
    if (c->nearest)
        nearest_case_text(c->nearest, near);
    REQUIRE(w, c->n || c->n_unloaded, "%s: no case in it matches --case '%s'%s", what, glob,
            *near ? near : " ('halcyon levels PATH' lists the names)");
    return 0;
}

const char *cases_nearest(const struct cases *c, const char *wanted, char text[])
{
    struct nearest_case n = nearest_case_to(wanted);
    for (uint64_t i = 0; i < c->n_before; i++)
        if (c->spec || c->name)
            nearest_case_consider(&n, c->spec ? c->spec[i].example.name : c->name[i]);
    return nearest_case_text(&n, text);
}

static int select_indexes(struct cases *c, bool (*keep)(const char *name, void *user), void *user,
                          struct why *w)
{
    uint64_t *index = NULL, kept = 0;
    for (uint64_t i = 0; i < c->n; i++) {
        char name[CASE_NAME];
        cases_name(c, i, name);
        if (!keep(name, user))
            continue;
        uint64_t *larger = array_room(index, kept, sizeof *index);
        if (!larger) {
            free(index);
            return why_no_memory_for(w, "%llu cases", (unsigned long long) kept + 1);
        }
        index = larger;
        index[kept++] = cases_index(c, i);
    }
    free(c->index);
    c->index = index;
    c->n = kept;
    return 0;
}

int cases_select(struct cases *c, bool (*keep)(const char *name, void *user), void *user,
                 struct why *w)
{
    uint64_t kept = 0;
    c->n_before = c->n;
    if (!c->spec)
        return select_indexes(c, keep, user, w);
    for (uint64_t i = 0; i < c->n; i++)
        if (keep(c->spec[i].example.name, user)) {
            const struct spec_case taken = c->spec[i];
            c->spec[i] = c->spec[kept];
            c->spec[kept++] = taken;
        }
    c->n = kept;
    return 0;
}

/* Adds file, line and name of an example to an error. */
static int fail_example(const struct spec_case *s, struct why *w)
{
    const char *file = s->file ? s->file : "stored";

    why_prefix(w, "%s", s->example.name);
    return s->example.line ? why_prefix(w, "%s:%zu", file, s->example.line)
                           : why_prefix(w, "%s", file);
}

static int check_legal(const struct example *e, const void *user, struct why *w)
{
    (void) user;
    return model_prepare(&e->model, NULL, w) < 0 && w->code != WHY_UNSUPPORTED ? -1 : 0;
}

int cases_validate(struct cases *c, struct why *w)
{
    return cases_check(c, false, check_legal, NULL, w);
}

int cases_check(struct cases *c, bool lenient,
                int (*check)(const struct example *e, const void *user, struct why *w),
                const void *user, struct why *w)
{
    uint64_t kept = 0;
    for (uint64_t i = 0; c->spec && i < c->n; i++) {
        const struct spec_case *s = &c->spec[i];
        if (check(&s->example, user, w) < 0) {
            fail_example(s, w);
            bool is_left_out = lenient ? w->code != WHY_MEMORY && w->code != WHY_SYSTEM
                                       : s->may_be_bad && is_bad_file(w);
            if (!is_left_out)
                return -1;
            TRY(keep_unloaded(c, s->file, w->text, w));
            continue;
        }
        c->spec[kept++] = *s;
    }
    if (c->spec)
        c->n = kept;
    return 0;
}
