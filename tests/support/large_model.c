#define _GNU_SOURCE
#include "tests/support/large_model.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static const size_t BYTES = (size_t) LARGE_DEPTH * LARGE_UNITS * sizeof(float);

/* Weights and inputs are small integers, so that every sum is exact. */
static float weight(size_t i)
{
    return (float) (i % 7);
}

static float input(size_t i)
{
    return (float) (i % 3);
}

static void make_weights(struct large_model *l, bool in_file)
{
    l->fd = in_file ? memfd_create("weights", MFD_CLOEXEC) : -1;
    ck_assert(!in_file || ftruncate(l->fd, (off_t) BYTES) == 0);
    l->weights = mmap(NULL, BYTES, PROT_READ | PROT_WRITE,
                      in_file ? MAP_SHARED : MAP_PRIVATE | MAP_ANONYMOUS, l->fd, 0);
    ck_assert(l->weights != MAP_FAILED);
    for (size_t i = 0; i < BYTES / sizeof(float); i++)
        l->weights[i] = weight(i);
}

static uint32_t weights_operand(struct large_model *l, enum large_kind kind)
{
    struct build *b = &l->m.b;
    uint32_t w = build_operand(b, kind == LARGE_COPY ? LIFE_CONSTANT_COPY : LIFE_CONSTANT_REFERENCE,
                               DT_F32, DIMS(LARGE_UNITS, LARGE_DEPTH));

    b->graph->operand[w].tensor.data = l->weights;
    b->graph->operand[w].length = BYTES;
    return w;
}

void large_model_init(struct large_model *l, enum large_kind kind)
{
    static const float zeros[LARGE_UNITS];
    static struct pool pool;
    struct build *b = &l->m.b;

    *l = (struct large_model){ .fd = -1 };
    make_weights(l, kind == LARGE_FILE);
    build_init(b, 1);
    uint32_t x = build_operand(b, LIFE_INPUT, DT_F32, DIMS(1, LARGE_DEPTH));
    uint32_t weights = weights_operand(l, kind);
    uint32_t bias = build_constant(b, DT_F32, DIMS(LARGE_UNITS), zeros);
    uint32_t act = build_int(b, 0);
    uint32_t z = build_operand(b, LIFE_OUTPUT, DT_F32, DIMS(1, LARGE_UNITS));
    OPERATION(b, "FULLY_CONNECTED", IDS(x, weights, bias, act), IDS(z));
    pool = (struct pool){ l->weights, BYTES };
    b->model.pool = &pool;
    b->model.n_pools = kind != LARGE_COPY;
    client_convert(&l->m);
    l->pool = (struct hal_memory){
        .kind = HAL_MEMORY_FD, .protection = HAL_MEMORY_READ, .fd = l->fd, .size = BYTES
    };
    if (kind == LARGE_FILE)
        l->m.hal.pools = &l->pool;
}

void large_model_done(struct large_model *l)
{
    client_done(&l->m);
    munmap(l->weights, BYTES);
    if (l->fd >= 0)
        close(l->fd);
}

static float expected(size_t unit)
{
    double sum = 0;

    for (size_t i = 0; i < LARGE_DEPTH; i++)
        sum += (double) weight(unit * LARGE_DEPTH + i) * (double) input(i);
    return (float) sum;
}

void large_model_run(struct large_model *l)
{
    static float x[LARGE_DEPTH], z[LARGE_UNITS];
    const struct hal_argument in = { .location = { .pool = 0, .length = sizeof x } },
                              out = { .location = { .pool = 1, .length = sizeof z } };
    struct hal_request_pool pools[2] = { 0 };
    const struct hal_request request = { 1, 1, 2, &in, &out, pools };
    struct hal_output_shape shape;
    struct hal_result result = { .shapes = &shape, .capacity = 1 };

    for (size_t i = 0; i < LARGE_DEPTH; i++)
        x[i] = input(i);
    for (int i = 0; i < 2; i++)
        pools[i].memory = (struct hal_memory){ .kind = HAL_MEMORY_ADDRESS,
                                               .protection = HAL_MEMORY_READ | HAL_MEMORY_WRITE,
                                               .address = i ? z : x,
                                               .fd = -1,
                                               .size = i ? sizeof z : sizeof x };
    ck_assert_int_eq(client_execute(l->m.prepared, HAL_1_3, &request, &result), HAL_NONE);
    for (size_t unit = 0; unit < LARGE_UNITS; unit += LARGE_UNITS - 1)
        ck_assert_float_eq(z[unit], expected(unit));
}

/* ---- memory */

static double field(const char *text, const char *name)
{
    const char *at = strstr(text, name);

    ck_assert_msg(at, "no %s", name);
    return strtod(at + strlen(name), NULL) / 1024;
}

struct memory_use memory_use(pid_t pid)
{
    char name[64], text[4096];

    snprintf(name, sizeof name, "/proc/%d/status", (int) pid);
    FILE *f = fopen(name, "r");
    ck_assert_ptr_nonnull(f);
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    return (struct memory_use){ field(text, "VmHWM:"), field(text, "VmRSS:"),
                                field(text, "RssShmem:") };
}

void memory_mark(pid_t pid)
{
    char name[64];

    snprintf(name, sizeof name, "/proc/%d/clear_refs", (int) pid);
    FILE *f = fopen(name, "w");
    ck_assert_ptr_nonnull(f);
    fputs("5", f); /* sets VmHWM to the current VmRSS (proc(5)) */
    ck_assert_int_eq(fclose(f), 0);
}
