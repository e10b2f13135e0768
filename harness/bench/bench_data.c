#include "harness/bench/bench_data.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "harness/bench/image_input.h"
#include "harness/check/cases.h"

enum { SPEECH_VALUES = 196 };
static const int64_t most_of_file = (int64_t) 1 << 31;

/* ---- files */

static int read_file(const char *path, struct arena *a, uint8_t **ret_data, size_t *ret_size,
                     struct why *w)
{
    struct stat s;
    FILE *file = fopen(path, "rbe");
    uint8_t *data = NULL;
    int failed = 0;

    if (!file)
        return why_file(w, path, errno);
    if (fstat(fileno(file), &s) < 0 || !S_ISREG(s.st_mode) || s.st_size > most_of_file)
        failed = why_fail(w, WHY_INVALID, "%s: must be a file of at most %" PRId64 " bytes", path,
                          most_of_file);
    else if (!(data = arena_alloc_raw(a, (size_t) s.st_size + 1, 1)))
        failed = why_no_memory(w);
    else if (fread(data, 1, (size_t) s.st_size, file) != (size_t) s.st_size)
        failed = why_fail(w, WHY_INVALID, "%s: cannot be read", path);
    fclose(file);
    TRY(failed);
    data[s.st_size] = 0;
    *ret_data = data;
    *ret_size = (size_t) s.st_size;
    return 0;
}

/* The lines of a text, in place; a last one that is empty does not count. */
static int read_lines(const char *path, struct arena *a, char ***ret_line, uint32_t *ret_n,
                      struct why *w)
{
    uint8_t *text;
    size_t size, most = 2;

    TRY(read_file(path, a, &text, &size, w));
    for (size_t i = 0; i < size; i++)
        most += text[i] == '\n';
    char **line = arena_alloc(a, most, sizeof(*line));
    if (!line)
        return why_no_memory(w);
    uint32_t n = 0;
    for (char *rest = (char *) text, *at; (at = strsep(&rest, "\n")) && (*at || rest);) {
        at[strcspn(at, "\r")] = 0;
        line[n++] = at;
    }
    *ret_line = line;
    *ret_n = n;
    return 0;
}

static int get_files(const struct bench_data *d, uint32_t i, struct arena *a,
                     struct bench_sequence *s, struct why *w)
{
    const struct bench_model *m = d->model;
    const struct bench_entry *e = d->entry;
    const size_t step = tensor_bytes(&m->in[m->data[0]]);
    uint8_t *data;
    size_t size;

    TRY(read_file(e->file[i], a, &data, &size, w));
    REQUIRE(w, size && size % step == 0,
            "%s: %zu bytes are not a multiple of %zu, the size of input 0", e->file[i], size, step);
    s->n = (uint32_t) (size / step);
    s->in[0] = data;
    for (uint32_t k = 1; k < m->n_data; k++) {
        const struct tensor *t = &m->in[m->data[k]];
        const size_t bytes = tensor_bytes(t);
        uint8_t *zero = arena_alloc(a, s->n, bytes);
        if (!zero)
            return why_no_memory(w);
        for (uint32_t j = 0; j < s->n; j++)
            bench_model_reset(t, zero + j * bytes);
        s->in[k] = zero;
    }
    if (!e->n_golden)
        return 0;
    s->golden = arena_alloc(a, e->n_golden, sizeof(*s->golden));
    if (!s->golden)
        return why_no_memory(w);
    for (uint32_t k = 0; k < e->n_golden; k++) {
        const size_t bytes = tensor_bytes(&m->out[m->results[k]]);
        TRY(read_file(e->golden[i][k], a, &data, &size, w));
        REQUIRE(w, size == s->n * bytes,
                "%s: %zu bytes; %u inferences of %zu, the size of output %u, have %zu",
                e->golden[i][k], size, s->n, bytes, k, s->n * bytes);
        s->golden[k] = data;
    }
    return 0;
}

/* ---- images */

static int get_image(const struct bench_data *d, uint32_t i, struct arena *a,
                     struct bench_sequence *s, struct why *w)
{
    const struct bench_entry *e = d->entry;
    struct tensor t = d->model->in[d->model->data[0]];
    const uint32_t size = t.shape.dim[1];
    uint8_t *pixel = arena_alloc_raw(a, tensor_count(&t), 1);
    struct image image;

    t.data = arena_alloc_raw(a, tensor_bytes(&t), 1);
    if (!pixel || !t.data)
        return why_no_memory(w);
    if (image_decode(&d->images.file[i], a, &image, w) < 0)
        return why_prefix(w, "%s", e->images);
    image_scale(&image, e->preprocessor, size, pixel);
    image_store(pixel, e->preprocessor, e->has_scale ? e->input_scale : (double) t.scale,
                e->has_scale ? e->input_zero : t.zero, &t);
    s->n = 1;
    s->in[0] = t.data;
    return 0;
}

static int read_classes(struct bench_data *d, struct why *w)
{
    const struct bench_entry *e = d->entry;
    char **label, **truth;
    uint32_t n_truth;

    TRY(read_lines(e->labels, d->arena, &label, &d->n_classes, w));
    TRY(read_lines(e->truth, d->arena, &truth, &n_truth, w));
    REQUIRE(w, n_truth == d->images.n, "%s: %u lines for the %u images in %s", e->truth, n_truth,
            d->images.n, e->images);
    d->class = arena_alloc(d->arena, n_truth, sizeof(*d->class));
    if (!d->class)
        return why_no_memory(w);
    for (uint32_t i = 0; i < n_truth; i++) {
        int32_t class = -1;
        for (uint32_t k = 0; k < d->n_classes && class < 0; k++)
            if (strcmp(label[k], truth[i]) == 0)
                class = (int32_t) k;
        REQUIRE(w, class >= 0, "%s:%u: '%.100s' is no line of %s", e->truth, i + 1, truth[i],
                e->labels);
        d->class[i] = class;
    }
    return 0;
}

static int read_box(const json_t *v, struct bench_box *ret)
{
    const json_t *box = json_object_get(v, "box"), *class = json_object_get(v, "class");

    if (!json_is_integer(class) || json_array_size(box) != 4)
        return -1;
    ret->class = (int32_t) json_integer_value(class);
    for (size_t i = 0; i < 4; i++) {
        if (!json_is_number(json_array_get(box, i)))
            return -1;
        ret->side[i] = json_number_value(json_array_get(box, i));
    }
    return 0;
}

/* {"NAME.jpeg": [{"class": 3, "box": [ymin, xmin, ymax, xmax]}, ...], ...} */
static int take_boxes(struct bench_data *d, const json_t *root, struct why *w)
{
    d->boxes = arena_alloc(d->arena, d->images.n, sizeof(*d->boxes));
    if (!d->boxes)
        return why_no_memory(w);
    for (uint32_t i = 0; i < d->images.n; i++) {
        const char *name = d->images.file[i].name;
        const json_t *list = json_object_get(root, name);
        REQUIRE(w, json_is_array(list), "%s: \"%s\" must be a list of boxes, or []",
                d->entry->truth, name);
        d->boxes[i].n = (uint32_t) json_array_size(list);
        d->boxes[i].box = arena_alloc(d->arena, d->boxes[i].n, sizeof(struct bench_box));
        if (!d->boxes[i].box)
            return why_no_memory(w);
        for (uint32_t k = 0; k < d->boxes[i].n; k++)
            REQUIRE(w, read_box(json_array_get(list, k), &d->boxes[i].box[k]) == 0,
                    "%s: \"%s\"[%u] must be {\"class\": N, \"box\": [ymin, xmin, ymax, xmax]}",
                    d->entry->truth, name, k);
    }
    return 0;
}

static int read_boxes(struct bench_data *d, struct why *w)
{
    json_error_t error;
    json_t *root = json_load_file(d->entry->truth, JSON_REJECT_DUPLICATES, &error);

    if (!root)
        return why_fail(w, WHY_INVALID, "%s:%d:%d: %s", d->entry->truth, error.line, error.column,
                        error.text);
    int failed = take_boxes(d, root, w);
    json_decref(root);
    return failed;
}

static int open_images(struct bench_data *d, struct why *w)
{
    const struct bench_model *m = d->model;
    const struct tensor *t = &m->in[m->data[0]];
    const struct codec *codec = dtype_info[t->dtype].codec;
    char text[SHAPE_TEXT];

    REQUIRE(w,
            m->n_data == 1 && t->shape.rank == 4 && t->shape.dim[0] == 1 &&
                t->shape.dim[1] == t->shape.dim[2] && t->shape.dim[3] == 3,
            "a data set of images needs a model with one input of shape [1,D,D,3]; input 0 has %s",
            shape_text(&t->shape, text));
    REQUIRE(w, !codec->integer || d->entry->has_scale || t->scale > 0,
            "an input of type %s needs \"inputScale\"", dtype_info[t->dtype].name);
    TRY(image_set_read(d->entry->images, d->arena, &d->images, w));
    d->n = d->images.n;
    return d->entry->evaluator == EVALUATE_TOPK ? read_classes(d, w) : read_boxes(d, w);
}

/* ---- speech */

static int read_mean_std(struct bench_data *d, struct why *w)
{
    const struct bench_model *m = d->model;
    const struct tensor *t = &m->out[m->results[0]];
    uint8_t *data;
    size_t size;

    REQUIRE(w, m->n_results == 1 && tensor_count(t) == SPEECH_VALUES && t->dtype == DT_F32,
            "MelCepLogF0 needs a model with one output of %d TENSOR_FLOAT32", SPEECH_VALUES);
    TRY(read_file(d->entry->mean_std, d->arena, &data, &size, w));
    REQUIRE(w, size == SPEECH_VALUES * 2 * sizeof(float),
            "%s: %zu bytes; %d pairs of float32 have %zu", d->entry->mean_std, size, SPEECH_VALUES,
            SPEECH_VALUES * 2 * sizeof(float));
    d->mean_std = arena_alloc(d->arena, SPEECH_VALUES * 2, sizeof(double));
    if (!d->mean_std)
        return why_no_memory(w);
    for (size_t i = 0; i < SPEECH_VALUES * 2; i++) {
        float x;
        memcpy(&x, data + i * sizeof x, sizeof x);
        d->mean_std[i] = (double) x;
    }
    return 0;
}

/* ---- generated */

static int get_generated(const struct bench_data *d, uint32_t i, struct arena *a,
                         struct bench_sequence *s, struct why *w)
{
    const struct bench_model *m = d->model;
    const uint32_t n = m->model.graph[0].n_inputs;
    struct tensor *in = arena_copy(a, m->in, n * sizeof(*in));
    char *name = arena_printf(a, "%s/%u", m->name, i);

    if (!in || !name)
        return why_no_memory(w);
    TRY(inputs_generate(name, in, n, a, w));
    s->n = 1;
    for (uint32_t k = 0; k < m->n_data; k++)
        s->in[k] = in[m->data[k]].data;
    return 0;
}

/* ---- all kinds */

static int open_data(struct bench_data *d, struct why *w)
{
    const struct bench_entry *e = d->entry;

    REQUIRE(w, d->model->n_data, "the model has no input for data");
    REQUIRE(w, !e->n_golden || e->n_golden == d->model->n_results,
            "the list has %u golden outputs, the model %u outputs", e->n_golden,
            d->model->n_results);
    if (e->images)
        return open_images(d, w);
    d->n = e->n_files ? e->n_files : GENERATED_SEQUENCES;
    return e->evaluator == EVALUATE_SPEECH ? read_mean_std(d, w) : 0;
}

int bench_data_open(const struct bench_entry *e, const struct bench_model *m, uint32_t samples,
                    struct bench_data *ret_data, struct why *w)
{
    struct bench_data d = { .arena = arena_new(0), .entry = e, .model = m };

    if (!d.arena)
        return why_no_memory(w);
    if (open_data(&d, w) < 0) {
        arena_free(d.arena);
        return -1;
    }
    d.n_used = samples && samples < d.n ? samples : d.n;
    *ret_data = d;
    return 0;
}

void bench_data_done(struct bench_data *d)
{
    arena_free(d->arena);
    *d = (struct bench_data){ 0 };
}

int bench_data_get(const struct bench_data *d, uint32_t i, struct arena *a,
                   struct bench_sequence *ret_sequence, struct why *w)
{
    const uint32_t index = (uint32_t) ((uint64_t) i * d->n / d->n_used);
    struct bench_sequence s = { .index = index };

    s.in = arena_alloc(a, d->model->n_data, sizeof(*s.in));
    if (!s.in)
        return why_no_memory(w);
    TRY(d->entry->images    ? get_image(d, index, a, &s, w)
        : d->entry->n_files ? get_files(d, index, a, &s, w)
                            : get_generated(d, index, a, &s, w));
    *ret_sequence = s;
    return 0;
}
