/* Actions on what a method is lent and on what it answers: memory, structures, callbacks, objects.
 * All writes go through volatile pointers, one byte at a time. */
#include "tests/harness/hostile/hostile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* ---- memory of a request */

struct span {
    volatile uint8_t *at; /* NULL: none */
    size_t size;
};

static struct span argument_bytes(const struct hal_request *q, const struct hal_argument *a)
{
    const struct hal_memory *m = &q->pools[a->location.pool].memory;
    uint8_t *base = m->address;

    if (a->has_no_value || q->pools[a->location.pool].is_token)
        return (struct span){ NULL, 0 };
    if (m->kind != HAL_MEMORY_ADDRESS) {
        int protection = m->protection & HAL_MEMORY_WRITE ? PROT_READ | PROT_WRITE : PROT_READ;
        base = mmap(NULL, m->size, protection, MAP_SHARED, m->fd, (off_t) m->offset);
        if (base == MAP_FAILED)
            return (struct span){ NULL, 0 };
    }
    return (struct span){ base + a->location.offset, a->location.length };
}

static struct span output_of(const struct hostile_call *c)
{
    return argument_bytes(c->request, &c->request->outputs[0]);
}

static struct span input_of(const struct hostile_call *c)
{
    return argument_bytes(c->request, &c->request->inputs[0]);
}

static void flip(volatile uint8_t *at, size_t n)
{
    for (size_t i = 0; at && i < n; i++)
        at[i] = (uint8_t) ~at[i];
}

/* The n-th byte after the output. */
static void write_after_output(struct hostile_call *c, long n)
{
    struct span o = output_of(c);

    if (o.at)
        flip(o.at + o.size + n, 1);
}

static void fill_after_output(struct hostile_call *c, long n)
{
    struct span o = output_of(c);

    if (o.at)
        flip(o.at + o.size, (size_t) n);
}

/* The n-th byte before it. */
static void write_before_output(struct hostile_call *c, long n)
{
    struct span o = output_of(c);

    if (o.at)
        flip(o.at - n, 1);
}

static void fill_before_output(struct hostile_call *c, long n)
{
    struct span o = output_of(c);

    for (long i = 1; o.at && i <= n; i++)
        flip(o.at - i, 1);
}

/* A byte of every page that is shared with another process, outside of the output. */
static void write_all_shared(struct hostile_call *c, long n)
{
    struct span o = output_of(c);
    FILE *maps = fopen("/proc/self/maps", "re");
    char line[512];

    while (maps && n > 0 && fgets(line, sizeof(line), maps)) {
        unsigned long from, to;
        char mode[5];
        if (sscanf(line, "%lx-%lx %4s", &from, &to, mode) != 3 || strcmp(mode, "rw-s") != 0)
            continue;
        for (unsigned long at = from + 8; at < to && n > 0; at += 4096, n--) {
            volatile uint8_t *p = (volatile uint8_t *) at; // NOLINT
            if (p + 1 <= o.at || p >= o.at + o.size)
                flip(p, 1);
        }
    }
    if (maps)
        fclose(maps);
}

static void write_input(struct hostile_call *c, long n)
{
    struct span i = input_of(c);

    if (i.at)
        flip(n < 0 ? i.at + n : i.at + (n ? i.size + (size_t) n - 1 : 0), 1);
}

/* Makes the input writable first.  Where that is impossible it leaves it alone. */
static void unprotect_input(struct hostile_call *c, long n)
{
    struct span i = input_of(c);
    uintptr_t page = (uintptr_t) i.at & ~(uintptr_t) 4095;

    (void) n;
    if (i.at && mprotect((void *) page, 4096, PROT_READ | PROT_WRITE) == 0)
        flip(i.at, 1);
}

static void unmap_input(struct hostile_call *c, long n)
{
    struct span i = input_of(c);

    (void) n;
    if (i.at)
        munmap((void *) ((uintptr_t) i.at & ~(uintptr_t) 4095), 4096);
}

static void unmap_output(struct hostile_call *c, long n)
{
    struct span o = output_of(c);

    (void) n;
    if (o.at)
        munmap((void *) ((uintptr_t) o.at & ~(uintptr_t) 4095), 4096);
}

/* Private memory in place of the page that is lent: what is written there is lost. */
static void replace_output(struct hostile_call *c, long n)
{
    struct span o = output_of(c);
    uintptr_t page = (uintptr_t) o.at & ~(uintptr_t) 4095;

    (void) n;
    if (o.at)
        mmap((void *) page, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED,
             -1, 0);
}

static void wrong_numbers(struct hostile_call *c, long n)
{
    struct span o = output_of(c);

    (void) n;
    flip(o.at, o.size);
}

/* ---- structures of a request or a model; const is cast away */

enum part { PART_OUTPUTS, PART_INPUTS, PART_POOLS, PART_COUNTS };

static void write_request(struct hostile_call *c, long n)
{
    struct hal_request *q = (struct hal_request *) (uintptr_t) c->request;

    switch ((enum part) n) {
    case PART_OUTPUTS:
        ((struct hal_argument *) (uintptr_t) q->outputs)->location.offset += 4;
        break;
    case PART_INPUTS: ((struct hal_argument *) (uintptr_t) q->inputs)->n_dims = 99; break;
    case PART_POOLS:
        ((struct hal_request_pool *) (uintptr_t) q->pools)->memory.size = UINT64_MAX;
        break;
    case PART_COUNTS: q->n_outputs = 1000; break;
    }
}

enum model_part { MODEL_COUNT, MODEL_OPERAND, MODEL_DIMS, MODEL_OPERATION, MODEL_VALUES };

/* The first constant's bytes; NULL: there is none. */
static volatile uint8_t *constant_of(const struct hal_model *m)
{
    if (m->operand_values_length)
        return (volatile uint8_t *) (uintptr_t) m->operand_values;
    return m->n_pools ? m->pools->address : NULL;
}

static void write_model(struct hostile_call *c, long n)
{
    struct hal_model *m = (struct hal_model *) (uintptr_t) c->model;
    struct hal_operand *o = (struct hal_operand *) (uintptr_t) m->main.operands;

    switch ((enum model_part) n) {
    case MODEL_COUNT: m->main.n_operations += 7; break;
    case MODEL_OPERAND: o->type = 99; break;
    case MODEL_DIMS:
        if (o->n_dims)
            *(uint32_t *) (uintptr_t) o->dims += 1;
        break;
    case MODEL_OPERATION:
        ((struct hal_operation *) (uintptr_t) m->main.operations)->type = 99;
        break;
    case MODEL_VALUES: flip(constant_of(m), 1); break;
    }
}

/* ---- results */

static void write_after_supported(struct hostile_call *c, long n)
{
    flip((volatile uint8_t *) (c->supported + c->model->main.n_operations), (size_t) n);
}

static void forge_supported(struct hostile_call *c, long n)
{
    memset(c->supported, (int) n, c->model->main.n_operations);
}

static void forge_count(struct hostile_call *c, long n)
{
    if (c->supported)
        *(uint32_t *) c->value = (uint32_t) n;
    else
        memset(c->value, 0xff, c->value_size);
}

static void write_after_value(struct hostile_call *c, long n)
{
    flip((volatile uint8_t *) c->value + c->value_size, (size_t) n);
}

static void zero_value(struct hostile_call *c, long n)
{
    (void) n;
    memset(c->value, 0, c->value_size);
}

static void write_after_shapes(struct hostile_call *c, long n)
{
    flip((volatile uint8_t *) (c->result->shapes + c->result->capacity), (size_t) n);
}

static void forge_shapes(struct hostile_call *c, long n)
{
    c->result->n_shapes = (uint32_t) n;
}

static void forge_rank(struct hostile_call *c, long n)
{
    c->result->n_shapes = c->result->capacity;
    c->result->shapes[0].n_dims = (uint32_t) n;
}

static void forge_dimension(struct hostile_call *c, long n)
{
    c->result->shapes[0].dims[0] += (uint32_t) n;
}

static void forge_timing(struct hostile_call *c, long n)
{
    c->result->timing = (struct hal_timing){ 2000, (uint64_t) n };
}

static void forge_result_pointer(struct hostile_call *c, long n)
{
    c->result->shapes = (struct hal_output_shape *) (uintptr_t) n; // NOLINT
    c->result->capacity = UINT32_MAX;
}

static void forge_status(struct hostile_call *c, long n)
{
    c->status = n;
}

/* ---- late writes, from a thread after the method has returned */

struct late {
    volatile uint8_t *at;
    size_t size;
    long ms, times;
};

static void *write_late(void *argument)
{
    struct late *l = argument;

    for (long i = 0; i < l->times; i++) {
        hostile_sleep_ms(l->ms);
        flip(l->at, l->size);
    }
    free(l);
    return NULL;
}

static void start_late(volatile uint8_t *at, size_t size, long ms, long times)
{
    struct late *l = at ? malloc(sizeof(*l)) : NULL;

    if (!l)
        return;
    *l = (struct late){ at, size, ms, times };
    hostile_thread(write_late, l);
}

static void late_write_output(struct hostile_call *c, long ms)
{
    struct span o = output_of(c);

    start_late(o.at, o.size, ms, 1);
}

static void late_write_outside(struct hostile_call *c, long ms)
{
    struct span o = output_of(c);

    start_late(o.at ? o.at + o.size : NULL, 8, ms, 1);
}

static void late_write_input(struct hostile_call *c, long ms)
{
    struct span i = input_of(c);

    start_late(i.at, 1, ms, 1);
}

static void late_write_shapes(struct hostile_call *c, long ms)
{
    start_late((volatile uint8_t *) c->result->shapes, sizeof(*c->result->shapes), ms, 1);
}

static void late_write_result(struct hostile_call *c, long ms)
{
    start_late((volatile uint8_t *) &c->result->n_shapes, sizeof(uint32_t), ms, 1);
}

static void late_write_supported(struct hostile_call *c, long ms)
{
    start_late((volatile uint8_t *) c->supported, c->model->main.n_operations, ms, 1);
}

static void late_write_value(struct hostile_call *c, long ms)
{
    start_late(c->value, c->value_size, ms, 1);
}

static void write_on_and_on(struct hostile_call *c, long ms)
{
    struct span o = output_of(c);

    start_late(o.at, o.size, ms, 501);
}

/* ---- callbacks */

static void call_back_first(struct hostile_call *c, long status)
{
    hostile_call_back(c, status < 0 ? c->status : status, status > 0 ? NULL : c->object);
}

struct late_call {
    struct hostile_call call;
    long ms;
};

static void *call_late(void *argument)
{
    struct late_call *l = argument;

    hostile_sleep_ms(l->ms);
    hostile_call_back(&l->call, l->call.status, l->call.object);
    free(l);
    return NULL;
}

static void call_back_late(struct hostile_call *c, long ms)
{
    struct late_call *l = malloc(sizeof(*l));

    if (!l)
        return;
    *l = (struct late_call){ *c, ms };
    hostile_thread(call_late, l);
}

/* The only callback, from another thread: this is legal. */
static void call_back_from_thread(struct hostile_call *c, long ms)
{
    call_back_late(c, ms);
    c->is_mute = true;
}

static void no_callback(struct hostile_call *c, long n)
{
    (void) n;
    c->is_mute = true;
}

static void call_back_garbage(struct hostile_call *c, long n)
{
    uintptr_t garbage[64];

    memset(garbage, (int) n, sizeof(garbage));
    if (c->prepare)
        c->prepare->notify((struct hal_prepare_callback *) garbage, HAL_NONE, c->object);
    else
        c->execution->notify((struct hal_execution_callback *) garbage, HAL_NONE, 0, NULL,
                             (struct hal_timing){ HAL_NO_TIME, HAL_NO_TIME });
}

/* ---- objects */

static void wild_object(struct hostile_call *c, long n)
{
    c->object = (void *) (uintptr_t) n; // NOLINT
    c->status = HAL_NONE;
}

/* An object whose table of functions is at n: for 0 there is none; -1: the table is all NULL. */
static void wild_methods(struct hostile_call *c, long n)
{
    static const uintptr_t none[64];
    static uintptr_t object[64];

    object[0] = n < 0 ? (uintptr_t) none : (uintptr_t) n;
    c->object = object;
    c->status = HAL_NONE;
}

static void freed_object(struct hostile_call *c, long n)
{
    c->object = malloc((size_t) n);
    c->status = HAL_NONE;
    free(c->object);
}

/* ---- the table */

static const struct action actions[] = {
    { "write_after_output", write_after_output, 0, HAS_REQUEST, EXPECT_VIOLATION,
      "the byte after an output" },
    { "write_63_after_output", write_after_output, 63, HAS_REQUEST, EXPECT_VIOLATION,
      "the 64th byte after an output" },
    { "write_page_after_output", write_after_output, 4096, HAS_REQUEST, EXPECT_VIOLATION,
      "a byte a page after an output" },
    { "write_1m_after_output", write_after_output, 1 << 20, HAS_REQUEST, EXPECT_VIOLATION,
      "a byte 1 MB after an output" },
    { "fill_64k_after_output", fill_after_output, 65536, HAS_REQUEST, EXPECT_VIOLATION,
      "64 KB after an output" },
    { "write_before_output", write_before_output, 1, HAS_REQUEST, EXPECT_VIOLATION,
      "the byte before an output" },
    { "write_page_before_output", write_before_output, 4096, HAS_REQUEST, EXPECT_VIOLATION,
      "a byte a page before an output" },
    { "write_1m_before_output", write_before_output, 1 << 20, HAS_REQUEST, EXPECT_VIOLATION,
      "a byte 1 MB before an output" },
    { "fill_64k_before_output", fill_before_output, 65536, HAS_REQUEST, EXPECT_VIOLATION,
      "64 KB before an output" },
    { "write_all_shared", write_all_shared, 16384, HAS_REQUEST, EXPECT_VIOLATION,
      "a byte of each page of shared memory" },
    { "write_input", write_input, 0, HAS_REQUEST, EXPECT_VIOLATION, "the first byte of an input" },
    { "write_after_input", write_input, 1, HAS_REQUEST, EXPECT_VIOLATION,
      "the byte after an input" },
    { "write_before_input", write_input, -1, HAS_REQUEST, EXPECT_VIOLATION,
      "the byte before an input" },
    { "unprotect_input", unprotect_input, 0, HAS_REQUEST, EXPECT_CONTAINED,
      "an input, after mprotect()" },
    { "unmap_input", unmap_input, 0, HAS_REQUEST, EXPECT_CONTAINED, "munmap() of an input" },
    { "unmap_output", unmap_output, 0, HAS_REQUEST, EXPECT_CONTAINED, "munmap() of an output" },
    { "replace_output", replace_output, 0, HAS_REQUEST, EXPECT_CONTAINED,
      "other memory in place of an output" },
    { "wrong_numbers", wrong_numbers, 0, HAS_REQUEST, EXPECT_VIOLATION, "wrong output" },

    { "write_request_outputs", write_request, PART_OUTPUTS, HAS_REQUEST, EXPECT_VIOLATION,
      "the location of an output" },
    { "write_request_inputs", write_request, PART_INPUTS, HAS_REQUEST, EXPECT_VIOLATION,
      "the rank of an input" },
    { "write_request_pools", write_request, PART_POOLS, HAS_REQUEST, EXPECT_VIOLATION,
      "the size of a pool" },
    { "write_request_counts", write_request, PART_COUNTS, HAS_REQUEST, EXPECT_VIOLATION,
      "the number of outputs" },
    { "write_model_count", write_model, MODEL_COUNT, HAS_MODEL, EXPECT_VIOLATION,
      "the number of operations" },
    { "write_model_operand", write_model, MODEL_OPERAND, HAS_MODEL, EXPECT_VIOLATION,
      "the type of an operand" },
    { "write_model_dims", write_model, MODEL_DIMS, HAS_MODEL, EXPECT_VIOLATION,
      "a dimension of an operand" },
    { "write_model_operation", write_model, MODEL_OPERATION, HAS_MODEL, EXPECT_VIOLATION,
      "the code of an operation" },
    { "write_model_values", write_model, MODEL_VALUES, HAS_MODEL, EXPECT_VIOLATION,
      "the value of a constant" },

    { "write_after_supported", write_after_supported, 1, HAS_SUPPORTED, EXPECT_VIOLATION,
      "the element after `supported`" },
    { "fill_after_supported", write_after_supported, 65536, HAS_SUPPORTED, EXPECT_VIOLATION,
      "64 KB after `supported`" },
    { "forge_supported", forge_supported, 0x5a, HAS_SUPPORTED, EXPECT_CONTAINED,
      "answers that are neither true nor false" },
    { "forge_count_huge", forge_count, -1, HAS_SUPPORTED, EXPECT_VIOLATION, "ret_n is 4294967295" },
    { "forge_count_0", forge_count, 0, HAS_SUPPORTED, EXPECT_VIOLATION, "ret_n is 0" },
    { "garbage_value", forge_count, -1, HAS_VALUE, EXPECT_CONTAINED, "a result of all bits set" },
    { "zero_value", zero_value, 0, HAS_VALUE, EXPECT_CONTAINED, "a result of all bits clear" },
    { "write_after_value", write_after_value, 8, HAS_VALUE, EXPECT_CONTAINED,
      "8 bytes after a result" },
    { "fill_after_value", write_after_value, 65536, HAS_VALUE, EXPECT_CONTAINED,
      "64 KB after a result" },
    { "write_after_shapes", write_after_shapes, 4, HAS_RESULT, EXPECT_VIOLATION,
      "the number after result.shapes" },
    { "fill_after_shapes", write_after_shapes, 65536, HAS_RESULT, EXPECT_VIOLATION,
      "64 KB after result.shapes" },
    { "forge_shapes_huge", forge_shapes, -2, HAS_RESULT, EXPECT_VIOLATION,
      "n_shapes is 4294967294" },
    { "forge_shapes_9", forge_shapes, 9, HAS_RESULT, EXPECT_VIOLATION, "n_shapes is 9" },
    { "forge_rank_huge", forge_rank, -1, HAS_RESULT, EXPECT_VIOLATION,
      "an output shape of rank 4294967295" },
    { "forge_rank_17", forge_rank, 17, HAS_RESULT, EXPECT_VIOLATION, "an output shape of rank 17" },
    { "forge_dimension", forge_dimension, 1, HAS_RESULT, EXPECT_VIOLATION,
      "an output shape that is wrong by one" },
    { "forge_timing", forge_timing, 1000, HAS_RESULT, EXPECT_VIOLATION,
      "longer on the device than in the driver" },
    { "forge_result_pointer", forge_result_pointer, 16, HAS_RESULT, EXPECT_CONTAINED,
      "result.shapes points to address 16" },
    { "forge_status_99", forge_status, 99, HAS_STATUS, EXPECT_VIOLATION, "status 99" },
    { "forge_status_negative", forge_status, -1, HAS_STATUS, EXPECT_VIOLATION, "status -1" },
    { "fail", forge_status, HAL_GENERAL_FAILURE, HAS_STATUS, EXPECT_VIOLATION,
      "fails without a reason" },
    { "fail_insufficient", forge_status, HAL_OUTPUT_INSUFFICIENT_SIZE, HAS_STATUS, EXPECT_VIOLATION,
      "reports outputs as too small" },

    { "late_write_0", late_write_output, 0, HAS_REQUEST, EXPECT_LATE,
      "an output, from a thread at once" },
    { "late_write_1", late_write_output, 1, HAS_REQUEST, EXPECT_LATE,
      "an output, 1 ms after the call" },
    { "late_write_20", late_write_output, 20, HAS_REQUEST, EXPECT_LATE,
      "an output, 20 ms after the call" },
    { "late_write_200", late_write_output, 200, HAS_REQUEST, EXPECT_CONTAINED,
      "an output, 200 ms after the call" },
    { "late_write_outside_1", late_write_outside, 1, HAS_REQUEST, EXPECT_LATE,
      "after an output, 1 ms after the call" },
    { "late_write_outside_20", late_write_outside, 20, HAS_REQUEST, EXPECT_LATE,
      "after an output, 20 ms after the call" },
    { "late_write_input_1", late_write_input, 1, HAS_REQUEST, EXPECT_LATE,
      "an input, 1 ms after the call" },
    { "late_write_shapes_1", late_write_shapes, 1, HAS_RESULT, EXPECT_LATE,
      "result.shapes, 1 ms after the call" },
    { "late_write_shapes_20", late_write_shapes, 20, HAS_RESULT, EXPECT_LATE,
      "result.shapes, 20 ms after the call" },
    { "late_write_result_1", late_write_result, 1, HAS_RESULT, EXPECT_CONTAINED,
      "result.n_shapes, 1 ms after the call" },
    { "late_write_supported_1", late_write_supported, 1, HAS_SUPPORTED, EXPECT_LATE,
      "`supported`, 1 ms after the call" },
    { "late_write_supported_20", late_write_supported, 20, HAS_SUPPORTED, EXPECT_LATE,
      "`supported`, 20 ms after the call" },
    { "late_write_value_1", late_write_value, 1, HAS_VALUE, EXPECT_CONTAINED,
      "a result, 1 ms after the call" },
    { "write_on_and_on", write_on_and_on, 1, HAS_REQUEST, EXPECT_LATE,
      "an output, each millisecond for half a second" },

    { "call_back_twice", call_back_first, -1, HAS_CALLBACK, EXPECT_VIOLATION,
      "calls back twice at once" },
    { "call_back_fail_first", call_back_first, HAL_GENERAL_FAILURE, HAS_CALLBACK, EXPECT_VIOLATION,
      "calls back with a failure, then with success" },
    { "call_back_again_1", call_back_late, 1, HAS_CALLBACK, EXPECT_LATE,
      "calls back again after 1 ms, from another thread" },
    { "call_back_again_20", call_back_late, 20, HAS_CALLBACK, EXPECT_LATE,
      "calls back again after 20 ms, from another thread" },
    { "call_back_from_thread", call_back_from_thread, 1, HAS_CALLBACK, EXPECT_LEGAL,
      "calls back once, from another thread" },
    { "no_callback", no_callback, 0, HAS_CALLBACK, EXPECT_HANG, "does not call back" },
    { "call_back_garbage", call_back_garbage, 0x5a, HAS_CALLBACK, EXPECT_VIOLATION,
      "calls back with another callback object" },

    { "null_object", wild_object, 0, HAS_OBJECT, EXPECT_VIOLATION, "success with a NULL object" },
    { "wild_object", wild_object, 16, HAS_OBJECT, EXPECT_VIOLATION, "an object at address 16" },
    { "no_methods", wild_methods, 0, HAS_OBJECT, EXPECT_VIOLATION, "an object without methods" },
    { "null_methods", wild_methods, -1, HAS_OBJECT, EXPECT_VIOLATION,
      "an object whose methods are NULL" },
    { "wild_methods", wild_methods, 16, HAS_OBJECT, EXPECT_VIOLATION,
      "an object whose methods are at address 16" },
    { "freed_object", freed_object, 4096, HAS_OBJECT, EXPECT_CONTAINED, "a freed object" },
};
const struct action_list hostile_call_actions = { actions, COUNT(actions) };
