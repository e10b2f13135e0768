#include "tflite_graph.h"

#include <stdlib.h>
#include <string.h>

#include "tflite_flatbuffer.h"

/* The members of each options table, a letter for each as for flatbuffer_table(): activations,
 * paddings and booleans are bytes.  'l': a list, given as its length and its elements. */
static const char *const members_of[] = {
    [OPTIONS_NONE] = "",
    [OPTIONS_CONV_2D] = "biibii", /* padding, strides, activation, dilations; width first */
    [OPTIONS_DEPTHWISE_CONV_2D] = "biiibii", /* as CONV_2D, the multiplier before the activation */
    [OPTIONS_LSH_PROJECTION] = "b",          /* type */
    [OPTIONS_POOL_2D] = "biiiib",            /* padding, strides, filter, activation; width first */
    [OPTIONS_SVDF] = "ib",                   /* rank, activation */
    [OPTIONS_RNN] = "b",                     /* activation */
    [OPTIONS_FULLY_CONNECTED] = "b",         /* activation */
    [OPTIONS_SOFTMAX] = "i",                 /* beta */
    [OPTIONS_CONCATENATION] = "ib",          /* axis, activation */
    [OPTIONS_ADD] = "b",                     /* activation */
    [OPTIONS_L2_NORM] = "b",                 /* activation */
    [OPTIONS_LOCAL_RESPONSE_NORMALIZATION] = "iiii", /* radius, bias, alpha, beta */
    [OPTIONS_LSTM] = "biib",            /* activation, clip of cell, of projection, kernel */
    [OPTIONS_RESIZE_BILINEAR] = "--bb", /* align_corners, half_pixel_centers */
    [OPTIONS_SPACE_TO_DEPTH] = "i",     /* block_size */
    [OPTIONS_MUL] = "b",                /* activation */
    [OPTIONS_GATHER] = "i",             /* axis */
    [OPTIONS_REDUCER] = "b",            /* keep_dims */
    [OPTIONS_SUB] = "b",                /* activation */
    [OPTIONS_DIV] = "b",                /* activation */
    [OPTIONS_SQUEEZE] = "l",            /* dimensions */
    [OPTIONS_SEQUENCE_RNN] = "bb",      /* time_major, activation */
    [OPTIONS_STRIDED_SLICE] = "iiiii",  /* masks: begin, end, ellipsis, new axis, shrink */
    [OPTIONS_SPLIT] = "i",              /* number of parts */
    [OPTIONS_ARG_MAX] = "b",            /* type of the indexes */
    [OPTIONS_TRANSPOSE_CONV] = "bii",   /* padding, strides; width first */
    [OPTIONS_ARG_MIN] = "b",            /* type of the indexes */
    [OPTIONS_PACK] = "ii",              /* number of inputs, axis */
    [OPTIONS_BIDIRECTIONAL_SEQUENCE_LSTM] = "biibb", /* activation, clips, merge, time_major */
    [OPTIONS_BIDIRECTIONAL_SEQUENCE_RNN] = "bbb",    /* time_major, activation, merge */
    [OPTIONS_UNIDIRECTIONAL_SEQUENCE_LSTM] = "biib", /* activation, clips, time_major */
    [OPTIONS_RESIZE_NEAREST_NEIGHBOR] = "bb",        /* align_corners, half_pixel_centers */
    [OPTIONS_MIRROR_PAD] = "b",                      /* 0 REFLECT, 1 SYMMETRIC */
    [OPTIONS_IF] = "ii",                             /* subgraphs: then, else */
    [OPTIONS_WHILE] = "ii",                          /* subgraphs: condition, body */
    [OPTIONS_DEPTH_TO_SPACE] = "i",                  /* block_size */
    [OPTIONS_BATCH_MATMUL] = "bb",                   /* adj_x, adj_y */
};

/* Makes room for one more element. */
static bool grow(struct arena *a, void **array, uint32_t n, uint32_t *capacity, size_t size)
{
    if (n < *capacity)
        return true;
    const uint32_t larger = *capacity ? 2 * *capacity : 16;
    void *made = arena_take(a, larger, size);
    if (!made)
        return false;
    if (n)
        memcpy(made, *array, n * size);
    *array = made;
    *capacity = larger;
    return true;
}

int32_t tfl_add_tensor(struct tfl_graph *g, const struct tfl_tensor *t)
{
    struct tfl_tensor copy = *t;
    void *array = g->tensor;

    copy.scales = t->n_scales ? arena_copy(g->arena, t->scales, t->n_scales, sizeof(float)) : NULL;
    copy.data = t->data ? arena_copy(g->arena, t->data, t->length, 1) : NULL;
    if (g->arena->failed ||
        !grow(g->arena, &array, g->n_tensors, &g->tensor_capacity, sizeof(copy)))
        return TFL_OMITTED;
    g->tensor = array;
    g->tensor[g->n_tensors] = copy;
    return (int32_t) g->n_tensors++;
}

static uint32_t count_values(const struct tfl_operator *op)
{
    const char *members = members_of[op->options];

    return *members == 'l' ? 1 + (uint32_t) op->values[0] : (uint32_t) strlen(members);
}

void tfl_add_operator(struct tfl_graph *g, const struct tfl_operator *op)
{
    struct tfl_operator copy = *op;
    void *array = g->op;

    copy.in = arena_copy(g->arena, op->in, op->n_in, sizeof(*op->in));
    copy.out = arena_copy(g->arena, op->out, op->n_out, sizeof(*op->out));
    copy.intermediates =
        arena_copy(g->arena, op->intermediates, op->n_intermediates, sizeof(*op->intermediates));
    copy.values = arena_copy(g->arena, op->values, count_values(op), sizeof(*op->values));
    if (g->arena->failed || !grow(g->arena, &array, g->n_ops, &g->op_capacity, sizeof(copy)))
        return;
    g->op = array;
    g->op[g->n_ops++] = copy;
}

bool tfl_has_variables(const struct tfl_graph *graph, uint32_t n_graphs)
{
    for (uint32_t i = 0; i < n_graphs; i++)
        for (uint32_t k = 0; k < graph[i].n_tensors; k++)
            if (graph[i].tensor[k].is_variable)
                return true;
    return false;
}

/* ---- serialisation */

/* The operator codes in use, and the constants: buffer 0 is the empty one. */
struct writer {
    struct flatbuffer b;
    const struct tfl_graph *graph;
    uint32_t n_graphs, n_codes;
    int32_t index_of[256];
    uint8_t code[256];
};

static size_t ints(struct writer *w, const int32_t *list, uint32_t n)
{
    return flatbuffer_vector(&w->b, list, n, sizeof(*list), 4);
}

static size_t offsets(struct writer *w, uint32_t n)
{
    return flatbuffer_vector(&w->b, NULL, n, 4, 4);
}

static void write_quantisation(struct writer *w, const struct tfl_tensor *t, size_t tensor)
{
    const size_t made = flatbuffer_table(&w->b, "--oo--i",
                                         (int32_t[]){ 0, 0, 0, 0, 0, 0, (int32_t) t->channel_dim });

    flatbuffer_link(&w->b, tensor, 4, made);
    flatbuffer_link(&w->b, made, 2,
                    flatbuffer_vector(&w->b, t->scales, t->n_scales, sizeof(float), 4));
    const size_t zeros = flatbuffer_vector(&w->b, NULL, t->n_scales, sizeof(int64_t), 8);
    flatbuffer_link(&w->b, made, 3, zeros);
    for (uint32_t i = 0; i < t->n_scales && !w->b.failed; i++)
        memcpy(w->b.bytes + zeros + 4 + i * sizeof(int64_t), &(int64_t){ t->zero },
               sizeof(int64_t));
}

/* The runtime computes the shapes of all tensors but constants and inputs; inputs are resized. */
static void write_tensor(struct writer *w, const struct tfl_tensor *t, int32_t buffer,
                         size_t tensors, uint32_t index)
{
    const char *fields = t->n_scales ? "obi-ob" : "obi--b";
    const size_t made = flatbuffer_table(
        &w->b, fields, (int32_t[]){ 0, (int32_t) t->type, buffer, 0, 0, t->is_variable });
    int32_t dims[TFL_MAX_RANK];

    flatbuffer_link_element(&w->b, tensors, index, made);
    for (uint32_t i = 0; i < t->n_dims; i++)
        dims[i] = t->dims[i] < 0 ? 1 : t->dims[i];
    flatbuffer_link(&w->b, made, 0, ints(w, dims, t->n_dims));
    if (t->n_scales)
        write_quantisation(w, t, made);
}

static void write_options(struct writer *w, const struct tfl_operator *op, size_t table)
{
    const char *members = members_of[op->options];
    const bool is_list = *members == 'l';
    const size_t options = flatbuffer_table(&w->b, is_list ? "o" : members, op->values);

    flatbuffer_link(&w->b, table, 4, options);
    if (is_list)
        flatbuffer_link(&w->b, options, 0, ints(w, op->values + 1, (uint32_t) op->values[0]));
}

static void write_operator(struct writer *w, const struct tfl_operator *op, size_t operators,
                           uint32_t index)
{
    const char *fields = op->options != OPTIONS_NONE ? "ioobo---o" : "ioo-----o";
    const size_t made = flatbuffer_table(
        &w->b, fields, (int32_t[]){ w->index_of[op->code], 0, 0, (int32_t) op->options });

    flatbuffer_link_element(&w->b, operators, index, made);
    flatbuffer_link(&w->b, made, 1, ints(w, op->in, op->n_in));
    flatbuffer_link(&w->b, made, 2, ints(w, op->out, op->n_out));
    flatbuffer_link(&w->b, made, 8, ints(w, op->intermediates, op->n_intermediates));
    if (op->options != OPTIONS_NONE)
        write_options(w, op, made);
}

static void write_graph(struct writer *w, const struct tfl_graph *g, int32_t *buffer, size_t graphs,
                        uint32_t index)
{
    const size_t made = flatbuffer_table(&w->b, "oooo", (int32_t[4]){ 0 });

    flatbuffer_link_element(&w->b, graphs, index, made);
    const size_t tensors = offsets(w, g->n_tensors);
    flatbuffer_link(&w->b, made, 0, tensors);
    for (uint32_t i = 0; i < g->n_tensors; i++)
        write_tensor(w, &g->tensor[i], g->tensor[i].data ? ++*buffer : 0, tensors, i);
    flatbuffer_link(&w->b, made, 1, ints(w, g->in, g->n_in));
    flatbuffer_link(&w->b, made, 2, ints(w, g->out, g->n_out));
    const size_t operators = offsets(w, g->n_ops);
    flatbuffer_link(&w->b, made, 3, operators);
    for (uint32_t i = 0; i < g->n_ops; i++)
        write_operator(w, &g->op[i], operators, i);
}

static void write_codes(struct writer *w, size_t model)
{
    for (uint32_t g = 0; g < w->n_graphs; g++)
        for (uint32_t i = 0; i < w->graph[g].n_ops; i++) {
            const enum tfl_code code = w->graph[g].op[i].code;
            if (w->index_of[code] < 0) {
                w->code[w->n_codes] = (uint8_t) code;
                w->index_of[code] = (int32_t) w->n_codes++;
            }
        }
    const size_t codes = offsets(w, w->n_codes);
    flatbuffer_link(&w->b, model, 1, codes);
    for (uint32_t i = 0; i < w->n_codes; i++) {
        /* The first member is of one byte, from when there were fewer operators. */
        const int32_t code = w->code[i];
        flatbuffer_link_element(
            &w->b, codes, i,
            flatbuffer_table(&w->b, "b-ii", (int32_t[]){ code < 127 ? code : 127, 0, 1, code }));
    }
}

static void write_buffers(struct writer *w, size_t model, uint32_t n)
{
    const size_t buffers = offsets(w, n);
    uint32_t at = 1;

    flatbuffer_link(&w->b, model, 4, buffers);
    flatbuffer_link_element(&w->b, buffers, 0, flatbuffer_table(&w->b, "", NULL));
    for (uint32_t g = 0; g < w->n_graphs; g++)
        for (uint32_t i = 0; i < w->graph[g].n_tensors; i++) {
            const struct tfl_tensor *t = &w->graph[g].tensor[i];
            if (!t->data)
                continue;
            const size_t made = flatbuffer_table(&w->b, "o", (int32_t[1]){ 0 });
            flatbuffer_link_element(&w->b, buffers, at++, made);
            flatbuffer_link(&w->b, made, 0, flatbuffer_vector(&w->b, t->data, t->length, 1, 16));
        }
}

uint8_t *tfl_serialise(const struct tfl_graph *graph, uint32_t n_graphs, size_t *ret_size)
{
    struct writer w = { .graph = graph, .n_graphs = n_graphs };
    int32_t buffer = 0;

    memset(w.index_of, 0xff, sizeof(w.index_of));
    flatbuffer_begin(&w.b, "TFL3");
    const size_t model = flatbuffer_table(&w.b, "ioo-o", (int32_t[]){ 3, 0, 0, 0, 0 });
    write_codes(&w, model);
    const size_t graphs = offsets(&w, n_graphs);
    flatbuffer_link(&w.b, model, 2, graphs);
    for (uint32_t i = 0; i < n_graphs; i++)
        write_graph(&w, &graph[i], &buffer, graphs, i);
    write_buffers(&w, model, (uint32_t) buffer + 1);
    if (w.b.failed) {
        free(w.b.bytes);
        return NULL;
    }
    *ret_size = w.b.size;
    return w.b.bytes;
}
