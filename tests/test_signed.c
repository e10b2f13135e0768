/* The two asymmetric 8-bit types say the same: with zero points and values less by 128, an
 * operation on TENSOR_QUANT8_ASYMM_SIGNED gives what it gives on TENSOR_QUANT8_ASYMM, less by 128.
 */
#include <check.h>
#include <string.h>

#include "golden/golden.h"
#include "randgraph/randgraph.h"

enum { TRIES = 300, ENOUGH = 5 };

/* Operations that look at stored numbers, whatever they mean. */
static const char *const exempt[] = {
    "CAST",             /* stored numbers to stored numbers */
    "HASHTABLE_LOOKUP", /* hits are 0 and 1 as they are stored */
    "PAD_V2",           /* the value that fills is a stored number, in a scalar */
};

static bool is_exempt(const struct op *op)
{
    for (int i = 0; i < COUNT(exempt); i++)
        if (!strcmp(op->name, exempt[i]))
            return true;
    return false;
}

static enum dtype signed_type(enum dtype t)
{
    return t == DT_U8 ? DT_S8 : t;
}

static bool same_signed(const struct typing *a, const struct typing *b)
{
    bool differ = false;

    for (int s = 0; s < MAX_SLOTS; s++) {
        if (b->slot[s] != signed_type(a->slot[s]))
            return false;
        differ |= a->slot[s] != b->slot[s];
    }
    return differ;
}

/* Whether some row stands in the record with either type. */
static bool has_both(const struct op *op)
{
    for (int a = 0; a < op->n_typings; a++)
        for (int b = 0; b < op->n_typings; b++)
            if (same_signed(&op->typings[a], &op->typings[b]))
                return true;
    return false;
}

static int shift_tensor(struct tensor *t, size_t length, struct arena *a)
{
    if (t->dtype != DT_U8)
        return 0;
    t->dtype = DT_S8;
    t->zero -= 128;
    if (!t->data)
        return 0;
    uint8_t *bytes = arena_copy(a, t->data, length);
    if (!bytes)
        return -1;
    for (size_t i = 0; i < length; i++)
        bytes[i] ^= 0x80; /* less by 128, in two's complement */
    t->data = bytes;
    return 0;
}

/* Turns an example over; constants by reference become copies. */
static bool shift_example(const struct example *e, struct arena *a, struct example *ret)
{
    bool any = false;

    *ret = *e;
    ck_assert_int_eq(model_copy(&e->model, a, &ret->model), 0);
    for (uint32_t g = 0; g < ret->model.n_graphs; g++)
        for (uint32_t i = 0; i < ret->model.graph[g].n_operands; i++) {
            struct operand *o = &ret->model.graph[g].operand[i];
            any |= o->tensor.dtype == DT_U8;
            if (o->tensor.dtype == DT_U8 && o->life == LIFE_CONSTANT_REFERENCE)
                o->life = LIFE_CONSTANT_COPY;
            ck_assert_int_eq(shift_tensor(&o->tensor, o->length, a), 0);
        }
    uint32_t n = e->model.graph[0].n_inputs;
    ret->in = arena_copy(a, e->in, n * sizeof *e->in);
    ck_assert_ptr_nonnull(ret->in);
    for (uint32_t i = 0; i < n; i++)
        ck_assert_int_eq(shift_tensor(&ret->in[i], tensor_bytes(&ret->in[i]), a), 0);
    return any;
}

static int run(const struct example *e, struct arena *a, struct result *ret, struct why *w)
{
    const struct exec_options options = { .arena = a, .max_iterations = 1000 };
    struct plan *plan;

    TRY(plan_new(&e->model, &plan, w));
    int rc = plan_run(plan, e->in, &options, ret, w);
    plan_free(plan);
    return rc;
}

static void check_same(const struct example *e, const struct result *u, const struct result *s,
                       struct arena *a)
{
    for (uint32_t i = 0; i < u->n; i++) {
        struct tensor t = u->out[i];
        size_t length = tensor_bytes(&t);
        ck_assert_int_eq(shift_tensor(&t, length, a), 0);
        ck_assert_int_eq(t.dtype, s->out[i].dtype);
        ck_assert_msg(shape_equal(&t.shape, &s->out[i].shape), "%s", e->name);
        ck_assert_msg(memcmp(t.data, s->out[i].data, length) == 0, "%s: output %u differs", e->name,
                      i);
    }
}

/* Whether the example could be compared: neighbours of the operation may lack the signed type. */
static bool compare(const struct op *op, uint64_t index, struct arena *a)
{
    struct randgraph_options options = randgraph_default;
    struct example e, turned;
    struct result u, s;
    struct why w = { 0 };

    options.min_ops = options.max_ops = 1;
    options.only = op->name;
    options.dtypes = index % 2 ? 1u << DT_U8 : 0; /* where it is not the main type: any */
    if (randgraph_make(&options, 128, index, a, &e, &w) < 0 || !shift_example(&e, a, &turned))
        return false;
    struct why refused;
    if (model_prepare(&turned.model, NULL, &refused) < 0)
        return false;
    ck_assert_msg(run(&e, a, &u, &w) == 0, "%s: %s", e.name, w.text);
    ck_assert_msg(run(&turned, a, &s, &w) == 0, "%s: %s", e.name, w.text);
    check_same(&e, &u, &s, a);
    return true;
}

START_TEST(signed_agrees_with_unsigned)
{
    const struct op *op = op_table[_i];
    struct arena *a = arena_new(0);
    int compared = 0;

    if (has_both(op) && !is_exempt(op)) {
        for (uint64_t i = 0; i < TRIES; i++) {
            compared += compare(op, i, a);
            arena_rewind(a, (struct arena_mark){ 0 });
        }
        ck_assert_msg(compared >= ENOUGH, "%s: only %d of %d graphs were compared", op->name,
                      compared, TRIES);
    }
    arena_free(a);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("signed");
    TCase *t = tcase_create("operations");
    SRunner *r = srunner_create(s);

    suite_add_tcase(s, t);
    tcase_add_loop_test(t, signed_agrees_with_unsigned, 0, op_table_n);
    srunner_run_all(r, CK_ENV);
    int failed = srunner_ntests_failed(r);
    srunner_free(r);
    return failed != 0;
}
