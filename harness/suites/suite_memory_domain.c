/* Memory domains: invalid arguments of allocate, copy_from and copy_to, in the types and graphs of
 * harness/conform/conform_graphs.h. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness/conform/conform_graphs.h"
#include "harness/conform/conform_requests.h"
#include "harness/corrupt/bad_memory.h"
#include "sim/client/hal_calls.h"
#include "sim/hal/convert.h"

static size_t bytes_of(const struct conform_tensor_type *tensor_type)
{
    struct tensor t = { .dtype = tensor_type->type, .shape = conform_tensor_types[0].shape };

    return tensor_bytes(&t);
}

/* ---- allocate: model 1 disagrees with model 0 in one property */

enum which { BASE, RANK, PREFIX, DIMENSION, SCALE, ZERO, TYPE };

static struct conform_tensor_type disagreeing(const struct conform_tensor_type *tensor_type,
                                              enum which which)
{
    struct conform_tensor_type l = *tensor_type;

    switch (which) {
    case RANK: l.shape = DIMS(1 * 32 * 32 * 8); break;
    case PREFIX: l.shape = DIMS(1, 32, 32); break;
    case DIMENSION: l.shape.dim[3] = 4; break;
    case SCALE: l.scale *= 2; break;
    case ZERO: l.zero += 1; break;
    case TYPE: l = conform_tensor_types[(tensor_type - conform_tensor_types) ^ 1]; break;
    case BASE: break;
    }
    return l;
}

#define END                                                                                        \
    {                                                                                              \
        CONFORM_NO_MODEL, 0, 1                                                                     \
    }

static const struct bad_allocation {
    const char *rule;
    enum which other; /* model 1 */
    struct conform_allocation allocation;
} allocations[] = {
    { "A1", BASE, { "no roles", { END }, { END } } },
    { "A4", BASE, { "an input of model 2 of 2", { { 2, 0, 1 }, END }, { END } } },
    { "A4", BASE, { "an output of model 2 of 2", { END }, { { 2, 0, 1 }, END } } },
    { "A5", BASE, { "input 1 of 1", { { 0, 1, 1 }, END }, { END } } },
    { "A5", BASE, { "output 1 of 1", { END }, { { 0, 1, 1 }, END } } },
    { "A6", BASE, { "input, probability 10", { { 0, 0, 10 }, END }, { END } } },
    { "A6", BASE, { "input, probability 0", { { 0, 0, 0 }, END }, { END } } },
    { "A6", BASE, { "input, probability -0.5", { { 0, 0, -0.5f }, END }, { END } } },
    { "A6", BASE, { "input, probability NaN", { { 0, 0, NAN }, END }, { END } } },
    { "A6", BASE, { "output, probability 10", { END }, { { 0, 0, 10 }, END } } },
    { "A6", BASE, { "output, probability 0", { END }, { { 0, 0, 0 }, END } } },
    { "A6", BASE, { "output, probability -0.5", { END }, { { 0, 0, -0.5f }, END } } },
    { "A7", BASE, { "an input twice", { { 0, 0, 1 }, { 0, 0, 1 }, END }, { END } } },
    { "A7", BASE, { "an output twice", { END }, { { 0, 0, 1 }, { 0, 0, 1 }, END } } },
    { "A8", TYPE, { "two inputs", { { 0, 0, 1 }, { 1, 0, 1 }, END }, { END } } },
    { "A8", TYPE, { "two outputs", { END }, { { 0, 0, 1 }, { 1, 0, 1 }, END } } },
    { "A8", TYPE, { "input and output", { { 0, 0, 1 }, END }, { { 1, 0, 1 }, END } } },
    { "A9", SCALE, { "two inputs", { { 0, 0, 1 }, { 1, 0, 1 }, END }, { END } } },
    { "A9", SCALE, { "two outputs", { END }, { { 0, 0, 1 }, { 1, 0, 1 }, END } } },
    { "A9", SCALE, { "input and output", { { 0, 0, 1 }, END }, { { 1, 0, 1 }, END } } },
    { "A10", ZERO, { "two inputs", { { 0, 0, 1 }, { 1, 0, 1 }, END }, { END } } },
    { "A10", ZERO, { "two outputs", { END }, { { 0, 0, 1 }, { 1, 0, 1 }, END } } },
    { "A10", ZERO, { "input and output", { { 0, 0, 1 }, END }, { { 1, 0, 1 }, END } } },
    { "A11", RANK, { "two inputs", { { 0, 0, 1 }, { 1, 0, 1 }, END }, { END } } },
    { "A11", RANK, { "two outputs", { END }, { { 0, 0, 1 }, { 1, 0, 1 }, END } } },
    { "A11", RANK, { "input and output", { { 0, 0, 1 }, END }, { { 1, 0, 1 }, END } } },
    { "A11", PREFIX, { "two inputs", { { 0, 0, 1 }, { 1, 0, 1 }, END }, { END } } },
    { "A11", PREFIX, { "input and output", { { 0, 0, 1 }, END }, { { 1, 0, 1 }, END } } },
    { "A12", DIMENSION, { "two inputs", { { 0, 0, 1 }, { 1, 0, 1 }, END }, { END } } },
    { "A12", DIMENSION, { "two outputs", { END }, { { 0, 0, 1 }, { 1, 0, 1 }, END } } },
    { "A12", DIMENSION, { "input and output", { { 0, 0, 1 }, END }, { { 1, 0, 1 }, END } } },
    { "A13", BASE, { "input", { { 0, 0, 1 }, END }, { END }, 1, { 8192 } } },
    { "A13", BASE, { "output", { END }, { { 0, 0, 1 }, END }, 3, { 32, 32, 8 } } },
    { "A13", BASE, { "input", { { 0, 0, 1 }, END }, { END }, 3, { 1, 32, 32 } } },
    { "A14", BASE, { "input", { { 0, 0, 1 }, END }, { END }, 4, { 1, 32, 32, 4 } } },
    { "A14", BASE, { "output", { END }, { { 0, 0, 1 }, END }, 4, { 2, 32, 32, 8 } } },
};

static void refuse_allocation(struct conform *c, const struct conform_allocation *a,
                              struct hal_prepared_model *const *models, uint32_t n_models)
{
    enum hal_status status;
    uint32_t token;

    if (!c->driver->allocate) {
        conform_not_applicable(c, "the driver has no buffers");
        return;
    }
    struct hal_buffer *b = conform_allocate(c, a, models, n_models, &token, &status);
    EXPECT(c, status == HAL_INVALID_ARGUMENT || status == HAL_GENERAL_FAILURE,
           "allocate for %s: %s, expected INVALID_ARGUMENT or GENERAL_FAILURE", a->what,
           hal_status_name(status));
    if (b)
        b->methods->release(b);
}

/* The first graph that the driver supports in this type, with inputs and outputs of that type;
 * NULL: none. */
static struct hal_prepared_model *prepare_tensor_type(struct conform *c,
                                                      const struct conform_tensor_type *tensor_type,
                                                      struct conform_model *m)
{
    struct hal_prepared_model *p = NULL;

    m->arena = NULL;
    for (int g = 0; !p && g < conform_n_graphs; g++) {
        if (!conform_graphs[g].any_rank && tensor_type->shape.rank != 4)
            continue;
        if (m->arena)
            conform_model_done(m);
        conform_graph_model(m, &conform_graphs[g], tensor_type, 1);
        conform_doing(c, "%s of %s", conform_graphs[g].name, tensor_type->name);
        p = conform_prepare_supported(c, &m->hal);
    }
    return p;
}

static void release(struct hal_prepared_model *p)
{
    if (p)
        p->methods->release(p);
}

static void refuse_with_type(struct conform *c, const struct bad_allocation *a,
                             const struct conform_tensor_type *tensor_type)
{
    struct conform_tensor_type other = disagreeing(tensor_type, a->other);
    struct hal_prepared_model *p[2];
    struct conform_model m[2];

    p[0] = prepare_tensor_type(c, tensor_type, &m[0]);
    p[1] = prepare_tensor_type(c, &other, &m[1]);
    if (p[0] && p[1])
        refuse_allocation(c, &a->allocation, p, 2);
    for (int i = 0; i < 2; i++) {
        release(p[i]);
        conform_model_done(&m[i]);
    }
}

static void refused(struct conform *c, const void *data)
{
    const char *rule = data;

    for (int k = 0; k < COUNT(allocations); k++)
        for (int t = 0; t < CONFORM_TENSOR_TYPES && strcmp(allocations[k].rule, rule) == 0; t++) {
            bool quantised = allocations[k].other == SCALE || allocations[k].other == ZERO;
            if (!quantised || conform_tensor_types[t].scale > 0)
                refuse_with_type(c, &allocations[k], &conform_tensor_types[t]);
        }
}

static void no_model(struct conform *c, const void *data)
{
    struct hal_prepared_model *none = NULL;

    (void) data;
    refuse_allocation(c, &conform_one_input, &none, 1);
    refuse_allocation(c, &conform_one_output, &none, 1);
}

/* A prepared model of another driver, and an object that the client made itself. */
static void foreign_model(struct conform *c, const void *data)
{
    const struct hal_prepared_model_methods methods = { 0 };
    struct hal_prepared_model own = { &methods }, *forged = &own;
    struct hal_driver *driver = c->driver;
    struct conform_model m;

    (void) data;
    c->driver = conform_open(c);
    struct hal_prepared_model *p = prepare_tensor_type(c, &conform_tensor_types[0], &m);
    struct hal_driver *other = c->driver;
    c->driver = driver;
    if (p) {
        refuse_allocation(c, &conform_one_input, &p, 1);
        refuse_allocation(c, &conform_one_output, &p, 1);
    }
    refuse_allocation(c, &conform_one_input, &forged, 1);
    release(p);
    other->close(other);
    conform_model_done(&m);
}

/* RANK has a scalar result. */
static void scalar_role(struct conform *c, const void *data)
{
    static const struct one_op rank = {
        "rank", "RANK", 4, { "I32[2,3]: 1 2 3 4 5 6" }, "INT32: 2"
    };
    struct conform_allocation a = conform_one_output;
    enum hal_status status;
    struct conform_model m;
    uint32_t token;

    (void) data;
    conform_model_of(&m, &rank);
    conform_doing(c, "%s", m.name);
    struct hal_prepared_model *p = conform_prepare_supported(c, &m.hal);
    if (p) {
        struct hal_buffer *b = conform_allocate(c, &a, &p, 1, &token, &status);
        EXPECT(c, b || status == HAL_GENERAL_FAILURE || status == HAL_INVALID_ARGUMENT,
               "allocate for a scalar: %s", hal_status_name(status));
        if (b)
            b->methods->release(b);
        a.n_dims = 1;
        a.dims[0] = 1;
        refuse_allocation(c, &a, &p, 1);
    }
    release(p);
    conform_model_done(&m);
}

/* ---- copies */

static uint8_t bytes[2][1 << 17];

static struct hal_memory memory_of(uint8_t *at, size_t size)
{
    return (struct hal_memory){ .kind = HAL_MEMORY_ADDRESS,
                                .protection = HAL_MEMORY_READ | HAL_MEMORY_WRITE,
                                .address = at,
                                .fd = -1,
                                .size = size };
}

/* halves: size of the memory, in halves of the buffer's size */
static const struct copy {
    const char *rule;
    unsigned halves;
    uint32_t n_dims, dims[5];
    enum hal_status status;
} copies[] = {
    { "K1", 1, 0, { 0 }, HAL_INVALID_ARGUMENT },
    { "K1", 4, 0, { 0 }, HAL_INVALID_ARGUMENT },
    { "K2", 1, 4, { 1, 32, 32, 8 }, HAL_INVALID_ARGUMENT },
    { "K2", 4, 4, { 1, 32, 32, 8 }, HAL_INVALID_ARGUMENT },
    { "K2", 2, 4, { 2, 32, 32, 8 }, HAL_INVALID_ARGUMENT },
    { "K2", 2, 4, { 1, 32, 32, 8 }, HAL_NONE },
    { "K3", 2, 3, { 32, 32, 8 }, HAL_INVALID_ARGUMENT },
    { "K3", 2, 5, { 1, 32, 32, 8, 1 }, HAL_INVALID_ARGUMENT },
    { "K3", 2, 4, { 2, 32, 32, 8 }, HAL_INVALID_ARGUMENT },
    { "K3", 2, 4, { 0, 32, 32, 8 }, HAL_INVALID_ARGUMENT },
    { "K3", 2, 0, { 0 }, HAL_NONE },
    { "K3", 2, 4, { 1, 32, 32, 8 }, HAL_NONE },
    { "K4", 2, 3, { 32, 32, 8 }, HAL_INVALID_ARGUMENT },
    { "K4", 2, 5, { 1, 32, 32, 8, 1 }, HAL_INVALID_ARGUMENT },
    { "K4", 2, 4, { 2, 32, 32, 4 }, HAL_INVALID_ARGUMENT },
    { "K4", 2, 4, { 1, 32, 32, 0 }, HAL_INVALID_ARGUMENT },
    { "K4", 2, 0, { 0 }, HAL_INVALID_ARGUMENT },
    { "K4", 2, 4, { 1, 32, 32, 8 }, HAL_NONE },
};

static void copy_in(struct conform_graph_subject *s, struct hal_buffer *b, const struct copy *k)
{
    struct hal_memory m = memory_of(bytes[0], bytes_of(s->tensor_type) / 2 * k->halves);
    enum hal_status status = b->methods->copy_from(b, &m, k->n_dims, k->dims);

    EXPECT(s->conform, status == k->status,
           "%s of %s, copy_from %u halves of the size, rank %u, dimension 0 %u: %s, expected %s",
           s->graph->name, s->tensor_type->name, k->halves, k->n_dims, k->dims[0],
           hal_status_name(status), hal_status_name(k->status));
}

static const char *copy_rule; /* the current rule */

static void copy_in_all(struct conform_graph_subject *s)
{
    const struct conform_allocation *roles[] = { &conform_one_input, &conform_one_output };
    uint32_t token;

    for (int r = 0; r < 2; r++) {
        struct hal_buffer *b = conform_must_allocate(s, roles[r], &token);
        for (int k = 0; b && k < COUNT(copies); k++)
            if (strcmp(copies[k].rule, copy_rule) == 0)
                copy_in(s, b, &copies[k]);
        if (b)
            b->methods->release(b);
    }
}

static void copied_in(struct conform *c, const void *rule)
{
    copy_rule = rule;
    conform_each_graph(c, strcmp(rule, "K2") == 0 || strcmp(rule, "K4") == 0, copy_in_all);
}

/* Memory of the right size that cannot be used. */
static void copy_unusable(struct conform_graph_subject *s)
{
    const size_t size = bytes_of(s->tensor_type);
    uint32_t token;
    struct hal_buffer *b = conform_must_allocate(s, &conform_one_input, &token);

    if (!b)
        return;
    struct hal_memory m = memory_of(bytes[0], size);
    EXPECT_STATUS(s->conform, b->methods->copy_from(b, &m, 0, NULL), HAL_NONE, "copy_from");
    for (int k = 0; k < 2 * n_bad_memories; k++) {
        const struct bad_memory *bad = &bad_memories[k / 2];
        m = memory_of(bytes[0], size);
        bad->change(&m);
        conform_doing(s->conform, "copy_%s %s", k % 2 ? "to" : "from", bad->what);
        enum hal_status status =
            k % 2 ? b->methods->copy_to(b, &m) : b->methods->copy_from(b, &m, 0, NULL);
        EXPECT_STATUS(s->conform, status, HAL_INVALID_ARGUMENT, bad->what);
    }
    b->methods->release(b);
}

static void copied_unusable(struct conform *c, const void *data)
{
    (void) data;
    conform_each_graph(c, false, copy_unusable);
}

static void expect_copy_out(struct conform_graph_subject *s, struct hal_buffer *b, unsigned halves,
                            enum hal_status expected)
{
    struct hal_memory m = memory_of(bytes[1], bytes_of(s->tensor_type) / 2 * halves);
    enum hal_status status = b->methods->copy_to(b, &m);

    EXPECT(s->conform, status == expected,
           "%s of %s, copy_to %u halves of the size: %s, expected %s", s->graph->name,
           s->tensor_type->name, halves, hal_status_name(status), hal_status_name(expected));
}

static void copy_out_without_contents(struct conform_graph_subject *s)
{
    uint32_t token;
    struct hal_buffer *b = conform_must_allocate(s, &conform_one_input, &token);

    if (!b)
        return;
    expect_copy_out(s, b, 2, HAL_GENERAL_FAILURE);
    struct hal_memory half = memory_of(bytes[0], bytes_of(s->tensor_type) / 2);
    EXPECT_STATUS(s->conform, b->methods->copy_from(b, &half, 0, NULL), HAL_INVALID_ARGUMENT,
                  "copy_from half of the size");
    expect_copy_out(s, b, 2, HAL_GENERAL_FAILURE);
    b->methods->release(b);
}

static void copied_out_without_contents(struct conform *c, const void *data)
{
    (void) data;
    conform_each_graph(c, false, copy_out_without_contents);
    conform_each_graph(c, true, copy_out_without_contents);
}

static void copy_in_and_out(struct conform_graph_subject *s)
{
    const struct copy valid = { "", 2, 4, { 1, 32, 32, 8 }, HAL_NONE };
    uint32_t token;
    struct hal_buffer *b = conform_must_allocate(s, &conform_one_input, &token);

    if (!b)
        return;
    for (size_t i = 0; i < bytes_of(s->tensor_type); i++)
        bytes[0][i] = (uint8_t) (7 * i);
    copy_in(s, b, &valid);
    expect_copy_out(s, b, 1, HAL_INVALID_ARGUMENT);
    expect_copy_out(s, b, 4, HAL_INVALID_ARGUMENT);
    memset(bytes[1], 0, sizeof bytes[1]);
    expect_copy_out(s, b, 2, HAL_NONE);
    EXPECT(s->conform, memcmp(bytes[0], bytes[1], bytes_of(s->tensor_type)) == 0,
           "copy_to returns other bytes than were copied in");
    b->methods->release(b);
}

static void copied_out(struct conform *c, const void *rule)
{
    conform_each_graph(c, strcmp(rule, "K7") == 0, copy_in_and_out);
}

/* ---- contents: of each buffer its own, whatever memory they are copied from and to, and as long
 * as nothing else is written */

enum { CONTENTS = 3, FILE_OFFSET = 8192 };

static uint8_t content(int buffer, size_t i)
{
    return (uint8_t) ((size_t) buffer * 50 + 7 * i);
}

/* A file whose bytes begin at FILE_OFFSET. */
static struct hal_memory file_of(size_t size)
{
    struct hal_memory m = { .kind = HAL_MEMORY_FD,
                            .protection = HAL_MEMORY_READ | HAL_MEMORY_WRITE,
                            .fd = memfd_create("copy", MFD_CLOEXEC),
                            .offset = FILE_OFFSET,
                            .size = size };

    MUST(m.fd >= 0 && ftruncate(m.fd, (off_t) (FILE_OFFSET + size)) == 0);
    return m;
}

static void fill_buffer(struct conform_graph_subject *s, struct hal_buffer *b, int number)
{
    static const uint32_t dims[4] = { 1, 32, 32, 8 };
    size_t size = bytes_of(s->tensor_type);
    struct hal_memory file = file_of(size), plain = memory_of(bytes[0], size);

    for (size_t i = 0; i < size; i++)
        bytes[0][i] = content(number, i);
    MUST(pwrite(file.fd, bytes[0], size, FILE_OFFSET) == (ssize_t) size);
    EXPECT_STATUS(s->conform, b->methods->copy_from(b, number % 2 ? &file : &plain, 4, dims),
                  HAL_NONE, number % 2 ? "copy_from a file at an offset" : "copy_from");
    close(file.fd);
}

static void expect_contents(struct conform_graph_subject *s, struct hal_buffer *b, int number,
                            const char *when)
{
    size_t size = bytes_of(s->tensor_type), i = 0;
    struct hal_memory file = file_of(size), plain = memory_of(bytes[1], size);
    bool is_file = number % 2 == 0;
    enum hal_status status = b->methods->copy_to(b, is_file ? &file : &plain);

    if (is_file)
        MUST(pread(file.fd, bytes[1], size, FILE_OFFSET) == (ssize_t) size);
    close(file.fd);
    while (i < size && bytes[1][i] == content(number, i))
        i++;
    EXPECT(s->conform, status == HAL_NONE && i == size,
           "%s of %s, copy_to from buffer %d, %s: %s, byte %zu of %zu differs", s->graph->name,
           s->tensor_type->name, number, when, hal_status_name(status), i, size);
}

static void run_on_buffer(struct conform_graph_subject *s, uint32_t token)
{
    const struct hal_execution_config config = client_config();
    struct arena *a = arena_new(0);
    struct conform_request r;

    for (int run = 0; run < 2; run++) {
        conform_request(&s->model.example, a, &r);
        r.inputs[0].n_dims = 4;
        conform_request_use_token(&r, &r.inputs[0], token);
        enum hal_status status =
            conform_kinds[0].run(s->prepared, s->conform->version, &r, &config);
        EXPECT_STATUS(s->conform, status, HAL_NONE, "execution on a buffer");
    }
    arena_free(a);
}

static void keep_contents(struct conform_graph_subject *s)
{
    struct hal_buffer *b[CONTENTS];
    uint32_t token[CONTENTS];
    bool all = true;

    for (int i = 0; i < CONTENTS; i++) {
        b[i] = conform_must_allocate(s, &conform_one_input, &token[i]);
        all = all && b[i];
    }
    for (int i = 0; all && i < CONTENTS; i++)
        fill_buffer(s, b[i], i);
    for (int i = 0; all && i < CONTENTS; i++)
        expect_contents(s, b[i], i, "after others were filled");
    for (int i = 0; all && i < CONTENTS; i++) {
        run_on_buffer(s, token[i]);
        expect_contents(s, b[i], i, "after executions have read it");
    }
    for (int i = 0; i < CONTENTS; i++)
        if (b[i])
            b[i]->methods->release(b[i]);
}

/* The output of RESHAPE in one buffer, executed with other inputs each time. */
static void rewrite_output(struct conform_graph_subject *s)
{
    const struct hal_execution_config config = client_config();
    uint32_t token = 0;
    struct hal_buffer *b = s->graph == &conform_graphs[0]
                               ? conform_must_allocate(s, &conform_one_output, &token)
                               : NULL;
    struct arena *a = arena_new(0);
    struct conform_request r;

    for (int run = 0; b && run < CONTENTS; run++) {
        conform_request(&s->model.example, a, &r);
        uint8_t *in = conform_request_value(&r, &r.inputs[0]);
        for (size_t i = 0; i < bytes_of(s->tensor_type); i++)
            in[i] = content(run, i);
        conform_request_use_token(&r, &r.outputs[0], token);
        enum hal_status status =
            conform_kinds[0].run(s->prepared, s->conform->version, &r, &config);
        EXPECT_STATUS(s->conform, status, HAL_NONE, "execution with a buffer as output");
        expect_contents(s, b, run, "after an execution has written it");
    }
    if (b)
        b->methods->release(b);
    arena_free(a);
}

/* ---- many buffers */

enum { MANY_BUFFERS = 20 };

static void release_buffer(struct hal_buffer **b)
{
    if (*b)
        (*b)->methods->release(*b);
    *b = NULL;
}

/* Buffers of one model; some are released, then the model: the others keep their contents.  A
 * driver may refuse some of them. */
static void keep_many(struct conform_graph_subject *s)
{
    struct hal_prepared_model *p = s->graph == &conform_graphs[0]
                                       ? conform_prepare_supported(s->conform, &s->model.hal)
                                       : NULL;
    struct hal_buffer *b[MANY_BUFFERS] = { NULL };
    uint32_t token[MANY_BUFFERS];
    enum hal_status status;

    if (!p)
        return;
    for (int i = 0; i < MANY_BUFFERS; i++) {
        b[i] = conform_allocate(s->conform, &conform_one_input, &p, 1, &token[i], &status);
        for (int k = 0; b[i] && k < i; k++)
            EXPECT(s->conform, !b[k] || token[k] != token[i], "buffers %d and %d have token %u", k,
                   i, token[i]);
        if (b[i])
            fill_buffer(s, b[i], i);
    }
    for (int i = 0; i < MANY_BUFFERS; i++)
        if (b[i])
            expect_contents(s, b[i], i, "beside many others");
    struct hal_driver *other = conform_open(s->conform);
    for (int i = 0; i < MANY_BUFFERS; i++)
        if (b[i])
            expect_contents(s, b[i], i, "while another client has opened the driver");
    other->close(other);
    for (int i = 0; i < MANY_BUFFERS; i += 3)
        release_buffer(&b[i]);
    for (int i = 0; i < MANY_BUFFERS; i++)
        if (b[i])
            expect_contents(s, b[i], i, "after others were released");
    p->methods->release(p);
    for (int i = 0; i < MANY_BUFFERS; i++)
        if (b[i])
            expect_contents(s, b[i], i, "after its model was released");
    for (int i = 0; i < MANY_BUFFERS; i++)
        release_buffer(&b[i]);
}

/* A buffer whose dimension 0 is unknown takes another one with each copy. */
static void copy_batches(struct conform_graph_subject *s)
{
    static const uint32_t batches[] = { 1, 2, 1 };
    uint32_t token;
    struct hal_buffer *b = s->graph == &conform_graphs[0]
                               ? conform_must_allocate(s, &conform_one_input, &token)
                               : NULL;

    for (int i = 0; b && i < COUNT(batches); i++) {
        const uint32_t dims[4] = { batches[i], 32, 32, 8 };
        const size_t size = batches[i] * bytes_of(s->tensor_type);
        struct hal_memory from = memory_of(bytes[0], size), to = memory_of(bytes[1], size);
        memset(bytes[0], 0x31 + i, size);
        EXPECT_STATUS(s->conform, b->methods->copy_from(b, &from, 4, dims), HAL_NONE,
                      "copy_from with another batch than before");
        EXPECT_STATUS(s->conform, b->methods->copy_to(b, &to), HAL_NONE,
                      "copy_to after a copy of another batch");
        EXPECT(s->conform, memcmp(bytes[0], bytes[1], size) == 0,
               "copy_to returns other bytes than were copied in, of a batch of %u", batches[i]);
    }
    if (b)
        b->methods->release(b);
}

static void many(struct conform *c, const void *data)
{
    (void) data;
    conform_not_applicable(c, "the driver provides no buffers");
    conform_each_graph(c, false, keep_many);
}

static void contents(struct conform *c, const void *data)
{
    (void) data;
    conform_each_graph(c, false, keep_contents);
    conform_each_graph(c, true, keep_contents);
    conform_each_graph(c, false, rewrite_output);
    conform_each_graph(c, true, copy_batches);
}

/* ---- indexes, dimensions and memories out of range */

static const uint32_t huge[17] = { UINT32_MAX, 32, 32, 8 }, large[4] = { INT32_MAX, 32, 32, 8 };

static void refuse_ranges(struct conform_graph_subject *s)
{
    static const struct hal_buffer_role last_model = { UINT32_MAX, 0, 1 },
                                        last_operand = { 0, UINT32_MAX, 1 }, valid = { 0, 0, 1 };
    static const struct {
        const char *what;
        struct hal_buffer_desc desc;
        const struct hal_buffer_role *role;
    } rows[] = {
        { "model 2^32 - 1", { 0, NULL }, &last_model },
        { "operand 2^32 - 1", { 0, NULL }, &last_operand },
        { "rank 17", { 17, huge }, &valid },
        { "dimension 2^32 - 1", { 4, huge }, &valid },
        { "dimension 2^31 - 1", { 4, large }, &valid },
    };

    for (int k = 0; k < 2 * COUNT(rows) && s->conform->driver->allocate; k++) {
        struct hal_driver *d = s->conform->driver;
        struct hal_buffer *b = (struct hal_buffer *) s;
        uint32_t token = 99, n_in = (uint32_t) k % 2;
        enum hal_status status =
            d->allocate(d, &rows[k / 2].desc, 1, &s->prepared, n_in, rows[k / 2].role, 1 - n_in,
                        rows[k / 2].role, &b, &token);
        EXPECT(s->conform,
               (status == HAL_INVALID_ARGUMENT || status == HAL_GENERAL_FAILURE) && !b && !token,
               "allocate for %s, %s: %s, token %u", k % 2 ? "input" : "output", rows[k / 2].what,
               hal_status_name(status), token);
    }
}

static void refuse_copies(struct conform_graph_subject *s)
{
    const size_t size = bytes_of(s->tensor_type);
    const struct hal_memory valid = memory_of(bytes[0], size);
    struct hal_memory invalid[7];
    uint32_t token;
    struct hal_buffer *b = conform_must_allocate(s, &conform_one_input, &token);

    for (int k = 0; k < COUNT(invalid); k++)
        invalid[k] = valid;
    invalid[0].size = UINT64_MAX;
    invalid[1].size = 0;
    invalid[2].address = NULL;
    invalid[3].protection = 0;
    invalid[4].kind = (enum hal_memory_kind) 7;
    invalid[5].kind = HAL_MEMORY_FD;
    invalid[6].kind = HAL_MEMORY_HARDWARE_BUFFER;
    invalid[5].address = invalid[6].address = NULL;
    for (int k = 0; b && k < COUNT(invalid); k++) {
        EXPECT_STATUS(s->conform,
                      b->methods->copy_from(b, &invalid[k], 4, s->model.example.in[0].shape.dim),
                      HAL_INVALID_ARGUMENT, "copy_from");
        EXPECT_STATUS(s->conform, b->methods->copy_to(b, &invalid[k]), HAL_INVALID_ARGUMENT,
                      "copy_to");
    }
    if (b) {
        EXPECT_STATUS(s->conform, b->methods->copy_from(b, &valid, 17, huge), HAL_INVALID_ARGUMENT,
                      "copy_from with rank 17");
        EXPECT_STATUS(s->conform, b->methods->copy_from(b, &valid, 4, huge), HAL_INVALID_ARGUMENT,
                      "copy_from with dimension 2^32 - 1");
        EXPECT_STATUS(s->conform, b->methods->copy_from(b, &valid, 4, large), HAL_INVALID_ARGUMENT,
                      "copy_from with dimension 2^31 - 1");
        b->methods->release(b);
    }
}

static void check_ranges(struct conform_graph_subject *s)
{
    refuse_ranges(s);
    refuse_copies(s);
}

static void ranges(struct conform *c, const void *data)
{
    (void) data;
    conform_each_graph(c, false, check_ranges);
    conform_each_graph(c, true, check_ranges);
}

static const struct conform_rule rules_of_file[] = {
    { "memory-domain", "A1", HAL_1_3, 0, "allocate rejects an empty list of roles", refused, "A1" },
    { "memory-domain", "A2", HAL_1_3, 0, "allocate rejects a null prepared model", no_model },
    { "memory-domain", "A3", HAL_1_3, 0, "allocate rejects a prepared model of another driver",
      foreign_model },
    { "memory-domain", "A4", HAL_1_3, 0, "allocate rejects a model index out of range", refused,
      "A4" },
    { "memory-domain", "A5", HAL_1_3, 0, "allocate rejects an input or output index out of range",
      refused, "A5" },
    { "memory-domain", "A6", HAL_1_3, 0,
      "allocate rejects a probability that is not above 0 and at most 1", refused, "A6" },
    { "memory-domain", "A7", HAL_1_3, 0, "allocate rejects the same role twice", refused, "A7" },
    { "memory-domain", "A8", HAL_1_3, 0, "allocate rejects roles of different operand types",
      refused, "A8" },
    { "memory-domain", "A9", HAL_1_3, 0, "allocate rejects roles of different scales", refused,
      "A9" },
    { "memory-domain", "A10", HAL_1_3, 0, "allocate rejects roles of different zero points",
      refused, "A10" },
    { "memory-domain", "A11", HAL_1_3, 0, "allocate rejects roles of different ranks", refused,
      "A11" },
    { "memory-domain", "A12", HAL_1_3, 0, "allocate rejects roles of different dimensions", refused,
      "A12" },
    { "memory-domain", "A13", HAL_1_3, 0,
      "allocate rejects a description whose rank differs from the role's", refused, "A13" },
    { "memory-domain", "A14", HAL_1_3, 0,
      "allocate rejects a description whose dimensions differ from the role's", refused, "A14" },
    { "memory-domain", "A15", HAL_1_3, 0, "allocate rejects dimensions for a scalar", scalar_role },
    { "memory-domain", "K1", HAL_1_3, 0, "copy_from rejects a memory of another size", copied_in,
      "K1" },
    { "memory-domain", "K2", HAL_1_3, 0,
      "copy_from rejects a memory of another size when dimension 0 is unknown", copied_in, "K2" },
    { "memory-domain", "K3", HAL_1_3, 0, "copy_from rejects other dimensions", copied_in, "K3" },
    { "memory-domain", "K4", HAL_1_3, 0,
      "copy_from rejects other or incomplete dimensions when dimension 0 is unknown", copied_in,
      "K4" },
    { "memory-domain", "K5", HAL_1_3, 0,
      "copy_to from a buffer without contents returns GENERAL_FAILURE",
      copied_out_without_contents },
    { "memory-domain", "K6", HAL_1_3, 0, "copy_to rejects a memory of another size", copied_out,
      "K6" },
    { "memory-domain", "K7", HAL_1_3, 0,
      "copy_to rejects a memory of another size when dimension 0 is unknown", copied_out, "K7" },
    { "memory-domain", "unusable", HAL_1_3, 0,
      "copies reject memory that cannot be used, and files that are too short", copied_unusable },
    { "memory-domain", "contents", HAL_1_3, 0,
      "each buffer keeps its own contents, copied from and to memory of every kind", contents },
    { "memory-domain", "many", HAL_1_3, 0,
      "many buffers at once; they keep their contents when others, and their model, are released",
      many },
    { "memory-domain", "ranges", HAL_1_3, 0,
      "allocate, copy_from and copy_to reject indexes, dimensions and memories out of range",
      ranges },
};
const struct conform_rules conform_rules_memory_domain = { rules_of_file, COUNT(rules_of_file),
                                                           NULL, NULL };
