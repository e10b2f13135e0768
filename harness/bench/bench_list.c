/* Reads lists of models.  Every key of the public lists is known; an unknown one is an error, so
 * that a misspelt one is not ignored. */
#include "harness/bench/bench_list.h"

#include <dirent.h>
#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "golden/base/suggest.h"

enum { MOST_ENTRIES = 4096, MOST_FILES = 1 << 20 };

const char *const bench_evaluator_name[BENCH_EVALUATORS] = {
    [EVALUATE_TOPK] = "TopK",
    [EVALUATE_SPEECH] = "MelCepLogF0",
    [EVALUATE_PHONES] = "PhoneErrorRate",
    [EVALUATE_DETECTION] = "MeanAveragePrecision",
};

const char *const bench_preprocessor_name[BENCH_PREPROCESSORS] = {
    [PREPROCESS_INCEPTION] = "Inception",
    [PREPROCESS_INCEPTION_SATURATED] = "InceptionSaturated",
    [PREPROCESS_RESIZE] = "Resize",
};

struct reading {
    struct bench_list *list;
    const char *path; /* of the list */
    const char *folder;
    const char *const *data;
    uint32_t n_data;
    char where[200]; /* the entry, for messages */
};

/* ---- members */

static int bad(const struct reading *r, struct why *w, const char *key, const char *must)
{
    return why_fail(w, WHY_INVALID, "%s: %s: \"%s\" must be %s", r->path, r->where, key, must);
}

static int check_keys(const struct reading *r, const json_t *o, const char *const *known,
                      struct why *w)
{
    const char *key;
    json_t *value;
    char text[SUGGEST_TEXT];

    json_object_foreach((json_t *) (uintptr_t) o, key, value)
    {
        struct suggestion s = suggest_for(key);
        bool found = false;
        for (int i = 0; known[i]; i++) {
            found = found || strcmp(known[i], key) == 0;
            suggest_candidate(&s, known[i]);
        }
        REQUIRE(w, found, "%s: %s: unknown key \"%s\"%s", r->path, r->where, key,
                suggest_text(&s, "", text));
    }
    return 0;
}

/* NULL where it is absent. */
static int get_text(struct reading *r, const json_t *o, const char *key, const char **ret,
                    struct why *w)
{
    const json_t *v = json_object_get(o, key);

    *ret = NULL;
    if (!v)
        return 0;
    if (!json_is_string(v) || !*json_string_value(v))
        return bad(r, w, key, "a string that is not empty");
    *ret = arena_strdup(r->list->arena, json_string_value(v));
    return *ret ? 0 : why_no_memory(w);
}

static int get_number(const struct reading *r, const json_t *o, const char *key, double least,
                      double most, double *ret, struct why *w)
{
    const json_t *v = json_object_get(o, key);
    char must[80];

    if (!v)
        return 0;
    if (!json_is_number(v) || !(json_number_value(v) >= least && json_number_value(v) <= most)) {
        snprintf(must, sizeof must, "a number from %g to %g", least, most);
        return bad(r, w, key, must);
    }
    *ret = json_number_value(v);
    return 0;
}

/* ---- files */

static bool exists(const char *path)
{
    struct stat s;
    return stat(path, &s) == 0;
}

static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Tries folder/name with each suffix; NULL: none exists. */
static const char *try_in(struct arena *a, const char *folder, const char *name,
                          const char *const *suffix)
{
    for (int i = 0; suffix[i]; i++) {
        const char *path = *name == '/' ? arena_printf(a, "%s%s", name, suffix[i])
                                        : arena_printf(a, "%s/%s%s", folder, name, suffix[i]);
        if (path && exists(path))
            return path;
    }
    return NULL;
}

static int find_file(struct reading *r, const char *key, const char *name,
                     const char *const *suffix, const char **ret_path, struct why *w)
{
    for (int part = 0; part < 2; part++)
        for (uint32_t i = 0; i <= r->n_data; i++) {
            const char *folder = i ? r->data[i - 1] : r->folder;
            *ret_path = try_in(r->list->arena, folder, part ? last_part(name) : name, suffix);
            if (*ret_path)
                return 0;
        }
    return why_fail(w, WHY_INVALID,
                    "%s: %s: \"%s\": %s is neither in %s nor in a folder given with --data",
                    r->path, r->where, key, name, r->folder);
}

static const char *const plain[] = { "", NULL };
static const char *const model_file[] = { ".tflite", "", NULL };
static const char *const image_folder[] = { "", ".tar", ".tar.gz", ".tar.xz", ".zip", NULL };

/* A file that a member names; NULL where it is absent. */
static int get_file(struct reading *r, const json_t *o, const char *key, const char *const *suffix,
                    const char **ret_path, struct why *w)
{
    const char *name;

    TRY(get_text(r, o, key, &name, w));
    *ret_path = NULL;
    return name ? find_file(r, key, name, suffix, ret_path, w) : 0;
}

/* ---- parts of an entry */

static int read_input_size(const struct reading *r, const json_t *o, struct bench_entry *e,
                           struct why *w)
{
    const json_t *list = json_object_get(o, "inputSize");
    const json_t *v;
    size_t i;

    if (!list)
        return 0;
    if (!json_is_array(list) || json_array_size(list) < 1 || json_array_size(list) > MAX_RANK)
        return bad(r, w, "inputSize", "a list of 1 to 10 dimensions");
    json_array_foreach(list, i, v)
    {
        if (!json_is_integer(v) || json_integer_value(v) < 1 || json_integer_value(v) > 1 << 24)
            return bad(r, w, "inputSize", "a list of dimensions from 1 to 16777216");
        e->input.dim[i] = (uint32_t) json_integer_value(v);
    }
    e->input.rank = (uint32_t) json_array_size(list);
    return 0;
}

/* "TopK", or with a Java package before it. */
static int read_evaluator(struct reading *r, const json_t *o, struct bench_entry *e, struct why *w)
{
    static const char *const known[] = { "className", "expectedTop1", "outputMeanStdDev", "iou",
                                         NULL };
    const json_t *v = json_object_get(o, "evaluator");
    const char *name;

    if (!v)
        return 0;
    if (!json_is_object(v))
        return bad(r, w, "evaluator", "an object");
    TRY(check_keys(r, v, known, w));
    TRY(get_text(r, v, "className", &name, w));
    if (!name)
        return bad(r, w, "evaluator", "an object with \"className\"");
    const char *dot = strrchr(name, '.');
    for (int i = 1; i < BENCH_EVALUATORS; i++)
        if (strcmp(dot ? dot + 1 : name, bench_evaluator_name[i]) == 0)
            e->evaluator = (enum bench_evaluator) i;
    if (e->evaluator == EVALUATE_OUTPUTS)
        return bad(r, w, "className", "TopK, MelCepLogF0, PhoneErrorRate or MeanAveragePrecision");
    TRY(get_number(r, v, "expectedTop1", 0, 1, &e->expected_top1, w));
    TRY(get_number(r, v, "iou", 0.01, 1, &e->iou, w));
    TRY(get_file(r, v, "outputMeanStdDev", plain, &e->mean_std, w));
    if (e->evaluator == EVALUATE_SPEECH && !e->mean_std)
        return bad(r, w, "evaluator", "an object with \"outputMeanStdDev\" for MelCepLogF0");
    return 0;
}

static int read_golden(struct reading *r, const json_t *o, struct bench_entry *e, uint32_t i,
                       struct why *w)
{
    const json_t *list = json_object_get(o, "outputs");
    const json_t *one = json_object_get(o, "output");
    const uint32_t n = list ? (uint32_t) json_array_size(list) : one ? 1 : 0;

    if ((list && (one || !json_is_array(list))) || (one && !json_is_string(one)))
        return bad(
            r, w, "inputOutputs",
            "a list of objects with \"input\" and \"output\", a file, or \"outputs\", a list");
    if (i && n != e->n_golden)
        return bad(r, w, "inputOutputs", "a list of objects with equally many outputs");
    e->n_golden = n;
    e->golden[i] = arena_alloc(r->list->arena, n, sizeof(char *));
    if (!e->golden[i])
        return why_no_memory(w);
    for (uint32_t k = 0; k < n; k++) {
        const json_t *v = list ? json_array_get(list, k) : one;
        if (!json_is_string(v))
            return bad(r, w, "outputs", "a list of files");
        TRY(find_file(r, "output", json_string_value(v), plain, &e->golden[i][k], w));
    }
    return 0;
}

static int read_files(struct reading *r, const json_t *list, struct bench_entry *e, struct why *w)
{
    static const char *const known[] = { "input", "output", "outputs", NULL };
    const json_t *v;
    size_t i;

    if (!json_is_array(list) || !json_array_size(list) || json_array_size(list) > MOST_FILES)
        return bad(r, w, "inputOutputs", "a list of objects that is not empty");
    e->n_files = (uint32_t) json_array_size(list);
    e->file = arena_alloc(r->list->arena, e->n_files, sizeof(*e->file));
    e->golden = arena_alloc(r->list->arena, e->n_files, sizeof(*e->golden));
    if (!e->file || !e->golden)
        return why_no_memory(w);
    json_array_foreach(list, i, v)
    {
        if (!json_is_object(v))
            return bad(r, w, "inputOutputs", "a list of objects");
        TRY(check_keys(r, v, known, w));
        TRY(get_file(r, v, "input", plain, &e->file[i], w));
        if (!e->file[i])
            return bad(r, w, "inputOutputs", "a list of objects with \"input\"");
        TRY(read_golden(r, v, e, (uint32_t) i, w));
    }
    return 0;
}

static int read_data_set(struct reading *r, const json_t *o, struct bench_entry *e, struct why *w)
{
    static const char *const known[] = { "inputPath", "groundTruth", "labels", "preprocessor",
                                         NULL };
    const char *name;

    if (!json_is_object(o))
        return bad(r, w, "dataset", "an object");
    TRY(check_keys(r, o, known, w));
    TRY(get_file(r, o, "inputPath", image_folder, &e->images, w));
    TRY(get_file(r, o, "groundTruth", plain, &e->truth, w));
    TRY(get_file(r, o, "labels", plain, &e->labels, w));
    TRY(get_text(r, o, "preprocessor", &name, w));
    if (!e->images || !e->truth)
        return bad(r, w, "dataset", "an object with \"inputPath\" and \"groundTruth\"");
    int how = 0;
    while (name && how < BENCH_PREPROCESSORS && strcmp(name, bench_preprocessor_name[how]) != 0)
        how++;
    if (!name || how == BENCH_PREPROCESSORS)
        return bad(r, w, "preprocessor", "Inception, InceptionSaturated or Resize");
    e->preprocessor = (enum bench_preprocessor) how;
    if (e->evaluator == EVALUATE_TOPK && !e->labels)
        return bad(r, w, "dataset", "an object with \"labels\" for TopK");
    if (e->evaluator != EVALUATE_TOPK && e->evaluator != EVALUATE_DETECTION)
        return bad(r, w, "evaluator", "TopK or MeanAveragePrecision for a data set of images");
    return 0;
}

static int read_data(struct reading *r, const json_t *o, struct bench_entry *e, struct why *w)
{
    const json_t *files = json_object_get(o, "inputOutputs"), *set = json_object_get(o, "dataset");

    REQUIRE(w, !files || !set, "%s: %s: either \"inputOutputs\" or \"dataset\" must be given",
            r->path, r->where);
    if (files)
        TRY(read_files(r, files, e, w));
    if (set)
        TRY(read_data_set(r, set, e, w));
    if ((e->evaluator == EVALUATE_TOPK || e->evaluator == EVALUATE_DETECTION) && !set)
        return bad(r, w, "evaluator", "that of a \"dataset\", which is missing");
    if ((e->evaluator == EVALUATE_SPEECH || e->evaluator == EVALUATE_PHONES) && !e->n_golden)
        return bad(r, w, "evaluator", "that of \"inputOutputs\" with outputs, which are missing");
    return 0;
}

static int read_entry(struct reading *r, const json_t *o, struct bench_entry *e, struct why *w)
{
    static const char *const known[] = { "name",        "testName",       "modelFile",
                                         "baselineSec", "inputSize",      "dataSize",
                                         "inputScale",  "inputZeroPoint", "minSdkVersion",
                                         "evaluator",   "inputOutputs",   "dataset",
                                         NULL };
    const char *name, *test, *file;
    double size = 0, zero = 0;

    REQUIRE(w, json_is_object(o), "%s: %s: must be an object", r->path, r->where);
    *e = (struct bench_entry){ .expected_top1 = -1, .iou = 0.5 };
    TRY(get_text(r, o, "name", &name, w));
    REQUIRE(w, name, "%s: %s: there is no \"name\"", r->path, r->where);
    snprintf(r->where, sizeof r->where, "model %.150s", name);
    TRY(check_keys(r, o, known, w));
    TRY(get_text(r, o, "testName", &test, w));
    e->name = test ? test : name;
    TRY(get_text(r, o, "modelFile", &file, w));
    TRY(find_file(r, "modelFile", file ? file : name, model_file, &e->path, w));
    TRY(get_number(r, o, "baselineSec", 0, 1e6, &e->baseline_seconds, w));
    TRY(read_input_size(r, o, e, w));
    TRY(get_number(r, o, "dataSize", 1, 8, &size, w));
    e->data_size = (uint32_t) size;
    TRY(get_number(r, o, "inputScale", 1e-30, 1e30, &e->input_scale, w));
    TRY(get_number(r, o, "inputZeroPoint", -32768, 65535, &zero, w));
    e->has_scale = json_object_get(o, "inputScale");
    e->input_zero = (int32_t) zero;
    TRY(read_evaluator(r, o, e, w));
    return read_data(r, o, e, w);
}

/* ---- the list */

/* Golden outputs that an entry shares with another model of which the file has the name are that
 * model's. */
static void drop_foreign_golden(struct bench_list *l)
{
    for (uint32_t i = 0; i < l->n; i++)
        for (uint32_t k = 0; k < l->n; k++) {
            struct bench_entry *e = &l->entry[i], *other = &l->entry[k];
            if (!e->n_golden || !other->n_golden || strcmp(e->path, other->path) == 0 ||
                strcmp(e->golden[0][0], other->golden[0][0]) != 0)
                continue;
            const char *file = last_part(e->golden[0][0]);
            if (strncmp(file, other->name, strlen(other->name)) != 0 ||
                strncmp(file, e->name, strlen(e->name)) == 0)
                continue;
            e->n_golden = 0;
            e->golden_remark = arena_printf(
                l->arena, "the golden outputs of the list are those of %s", other->name);
        }
}

static int check_names(const struct reading *r, struct why *w)
{
    const struct bench_list *l = r->list;

    for (uint32_t i = 0; i < l->n; i++)
        for (uint32_t k = 0; k < i; k++)
            REQUIRE(w, strcmp(l->entry[i].name, l->entry[k].name) != 0,
                    "%s: two models have the name %s", r->path, l->entry[i].name);
    return 0;
}

static int read_json(struct reading *r, struct why *w)
{
    json_error_t error;
    json_t *root = json_load_file(r->path, JSON_REJECT_DUPLICATES, &error);

    if (!root)
        return why_fail(w, WHY_INVALID, "%s:%d:%d: %s", r->path, error.line, error.column,
                        error.text);
    json_t *models = json_object_get(root, "models");
    struct bench_list *l = r->list;
    int failed = 0;
    if (!json_is_array(models) || !json_array_size(models) ||
        json_array_size(models) > MOST_ENTRIES)
        failed = why_fail(w, WHY_INVALID,
                          "%s: must be an object with \"models\", a list of 1 to %d models",
                          r->path, MOST_ENTRIES);
    if (!failed)
        l->entry = arena_alloc(l->arena, json_array_size(models), sizeof(*l->entry));
    if (!failed && !l->entry)
        failed = why_no_memory(w);
    for (size_t i = 0; !failed && i < json_array_size(models); i++) {
        snprintf(r->where, sizeof r->where, "model %zu", i);
        failed = read_entry(r, json_array_get(models, i), &l->entry[l->n++], w);
    }
    json_decref(root);
    TRY(failed);
    TRY(check_names(r, w));
    drop_foreign_golden(l);
    return 0;
}

/* ---- models without a list */

static bool has_suffix(const char *name, const char *suffix)
{
    const size_t n = strlen(name), m = strlen(suffix);
    return n > m && strcmp(name + n - m, suffix) == 0;
}

static int add_model(struct bench_list *l, const char *path, struct why *w)
{
    struct bench_entry *e = &l->entry[l->n];
    const char *name = last_part(path);

    *e = (struct bench_entry){ .expected_top1 = -1, .iou = 0.5 };
    e->path = arena_strdup(l->arena, path);
    e->name = arena_printf(l->arena, "%.*s", (int) (strlen(name) - strlen(".tflite")), name);
    if (!e->path || !e->name)
        return why_no_memory(w);
    l->n++;
    return 0;
}

static int is_model(const struct dirent *d)
{
    return has_suffix(d->d_name, ".tflite");
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

static int read_folder(struct reading *r, struct why *w)
{
    struct bench_list *l = r->list;
    struct dirent **found;
    int n = scandir(r->path, &found, is_model, by_name), failed = 0;

    if (n < 0)
        return why_file(w, r->path, errno);
    if (n == 0)
        failed = why_fail(w, WHY_INVALID, "%s: there is no .tflite file in the folder", r->path);
    l->entry = arena_alloc(l->arena, (size_t) n, sizeof(*l->entry));
    if (!failed && !l->entry)
        failed = why_no_memory(w);
    for (int i = 0; i < n; i++) {
        const char *path = arena_printf(l->arena, "%s/%s", r->path, found[i]->d_name);
        if (!failed)
            failed = path ? add_model(l, path, w) : why_no_memory(w);
        free(found[i]);
    }
    free(found);
    return failed;
}

static int read_model(struct reading *r, struct why *w)
{
    r->list->entry = arena_alloc(r->list->arena, 1, sizeof(*r->list->entry));
    return r->list->entry ? add_model(r->list, r->path, w) : why_no_memory(w);
}

int bench_list_read(const char *path, const char *const *data, uint32_t n_data,
                    struct bench_list *ret_list, struct why *w)
{
    struct bench_list l = { .arena = arena_new(0) };
    const char *slash = strrchr(path, '/');
    struct stat s;

    if (!l.arena)
        return why_no_memory(w);
    struct reading r = { .list = &l, .path = path, .data = data, .n_data = n_data };
    r.folder = slash ? arena_printf(l.arena, "%.*s", (int) (slash - path), path) : ".";
    if (slash == path)
        r.folder = "/";
    int failed = 0;
    if (!r.folder)
        failed = why_no_memory(w);
    else if (stat(path, &s) < 0)
        failed = why_file(w, path, errno);
    else if (S_ISDIR(s.st_mode))
        failed = read_folder(&r, w);
    else if (has_suffix(path, ".tflite"))
        failed = read_model(&r, w);
    else if (has_suffix(path, ".json"))
        failed = read_json(&r, w);
    else
        failed = why_fail(w, WHY_INVALID,
                          "%s: must be a list of models (.json), a model (.tflite) or a folder of "
                          "models",
                          path);
    if (failed) {
        arena_free(l.arena);
        return -1;
    }
    *ret_list = l;
    return 0;
}

void bench_list_done(struct bench_list *l)
{
    arena_free(l->arena);
    *l = (struct bench_list){ 0 };
}
