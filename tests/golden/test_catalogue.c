/* Properties that every operation record must have; a new operation is checked as soon as ops.def
 * lists it. */
#include <check.h>
#include <string.h>

#include "golden/golden.h"
#include "tests/support/check_main.h"

/* Index of the loop tests: the operations of NNAPI, then those of the extensions. */
static const struct op *op_of(int i)
{
    if (i < op_table_n)
        return op_table[i];
    i -= op_table_n;
    for (int x = EXTENSION_NONE + 1; x < EXTENSION_END; i -= extension_table[x++]->n_ops)
        if (i < extension_table[x]->n_ops)
            return &extension_table[x]->op[i];
    return NULL;
}

START_TEST(operations_are_found_by_code_and_name)
{
    const struct op *op = op_of(_i);

    ck_assert_ptr_eq(op_find(op->code), op);
    if (_i >= op_table_n)
        return;
    ck_assert_ptr_eq(op_by_name(op->name), op);
    if (_i > 0)
        ck_assert_msg(op_of(_i - 1)->code < op->code, "%s: ops.def is not sorted", op->name);
}
END_TEST

START_TEST(records_have_their_texts)
{
    const struct op *op = op_of(_i);

    ck_assert_msg(op->summary && *op->summary, "%s: no summary", op->name);
    ck_assert_msg(op->formula && *op->formula, "%s: no formula", op->name);
    ck_assert_msg(op->error.text && *op->error.text, "%s: error model without text", op->name);
    ck_assert_int_ge((int) op->since, L1);
    ck_assert_int_le((int) op->since, L8);
    for (int r = 0; r < op->n_in; r++)
        ck_assert_msg(op->in[r].name && *op->in[r].doc, "%s: input %d", op->name, r);
    for (int r = 0; r < op->n_out; r++)
        ck_assert_msg(op->out[r].name && *op->out[r].doc, "%s: output %d", op->name, r);
}
END_TEST

START_TEST(records_have_one_kernel)
{
    const struct op *op = op_of(_i);
    int ways = !!op->eval + !!op->eval_exact + !!op->control + (op->move && !op->moves);

    ck_assert_msg(ways == 1 || (op->move && op->moves && op->eval), "%s: %d ways", op->name, ways);
    ck_assert_msg(!op->control == (op->control_kind == CONTROL_NONE), "%s: control", op->name);
    if (op->eval)
        ck_assert_msg(op->bound, "%s: eval() without bound()", op->name);
}
END_TEST

static void check_slot(const struct op *op, const struct role *r)
{
    ck_assert_msg(r->slot < MAX_SLOTS, "%s: %s: slot %d", op->name, r->name, r->slot);
    if (r->slot < 0)
        ck_assert_ptr_nonnull(dtype_find(-1 - r->slot));
    for (int t = 0; t < op->n_typings; t++) {
        bool tensor = dtype_info[role_type(r, &op->typings[t])].tensor;
        bool model = role_type(r, &op->typings[t]) == DT_MODEL;
        ck_assert_msg(model || tensor == (r->dims != NULL),
                      "%s, %s: row %d assigns %s to a role %s shape", op->name, r->name, t,
                      dtype_info[role_type(r, &op->typings[t])].name, r->dims ? "with" : "without");
    }
    ck_assert_msg(r->draw != DRAW_OP || op->draw,
                  "%s: %s: DRAW_OP, but the operation has no draw()", op->name, r->name);
    ck_assert_msg(!r->dims || *r->dims, "%s: %s: empty pattern", op->name, r->name);
}

START_TEST(roles_have_types_and_patterns)
{
    const struct op *op = op_of(_i);

    for (int r = 0; r < op->n_in; r++)
        check_slot(op, &op->in[r]);
    for (int r = 0; r < op->n_out; r++)
        check_slot(op, &op->out[r]);
    if (op->layout)
        ck_assert_int_eq(op->in[op->layout - 1].slot, FIXED(DT_BOOL));
}
END_TEST

START_TEST(forms_name_each_role_once)
{
    const struct op *op = op_of(_i);
    bool used[MAX_ROLES] = { false };

    ck_assert_int_gt(op->n_forms, 0);
    for (int f = 0; f < op->n_forms; f++) {
        bool seen[MAX_ROLES] = { false };
        int many = 0;
        for (const unsigned char *r = op->forms[f].role; *r != END; r++) {
            ck_assert_int_lt(*r, op->n_in);
            ck_assert_msg(!seen[*r], "%s, form %d: %s twice", op->name, f, op->in[*r].name);
            seen[*r] = used[*r] = true;
            many += op->in[*r].many;
        }
        ck_assert_int_le(many, 1);
    }
    for (int r = 0; r < op->n_in; r++)
        ck_assert_msg(used[r], "%s: %s is in no form", op->name, op->in[r].name);
}
END_TEST

static bool same_types(const struct op *op, const struct typing *a, const struct typing *b)
{
    for (int r = 0; r < op->n_in; r++)
        if (role_type(&op->in[r], a) != role_type(&op->in[r], b))
            return false;
    for (int r = 0; r < op->n_out; r++)
        if (role_type(&op->out[r], a) != role_type(&op->out[r], b))
            return false;
    return true;
}

/* A row with the types of an earlier row must allow another rank. */
START_TEST(typing_rows_differ)
{
    const struct op *op = op_of(_i);

    ck_assert_int_gt(op->n_typings, 0);
    for (int a = 0; a < op->n_typings; a++) {
        const struct typing *t = &op->typings[a];
        ck_assert_msg(t->ranks != 0, "%s: row %d allows no rank", op->name, a);
        ck_assert_msg(t->since >= op->since, "%s: row %d is older than the operation", op->name, a);
        for (int b = 0; b < a; b++)
            ck_assert_msg(
                !same_types(op, t, &op->typings[b]) || (t->ranks & ~op->typings[b].ranks) != 0,
                "%s: rows %d and %d have the same types, and %d adds no rank", op->name, b, a, a);
    }
}
END_TEST

/* ---- extensions */

START_TEST(extensions_are_found_by_name)
{
    enum extension_prefix x = (enum extension_prefix) _i;
    const struct extension_record *e = extension_table[x];
    char text[EXTENSION_TEXT];

    if (x == EXTENSION_oem) {
        ck_assert_str_eq(extension_name[x], "");
        ck_assert_str_eq(extension_op_text(&e->op[0], text), "OEM_OPERATION");
    } else {
        ck_assert_msg(extension_name_is_legal(extension_name[x]), "%s", extension_name[x]);
        ck_assert_int_eq(extension_by_name(extension_name[x]), x);
    }
    ck_assert(e->summary && *e->summary);
    for (int i = 0; i < e->n_ops; i++) {
        ck_assert_int_eq(e->op[i].code >> 16, x);
        ck_assert(i == 0 || e->op[i - 1].code < e->op[i].code);
        ck_assert_ptr_eq(extension_op_by_name(x, e->op[i].name), &e->op[i]);
        ck_assert_ptr_eq(extension_op_of_text(extension_op_text(&e->op[i], text)), &e->op[i]);
    }
}
END_TEST

START_TEST(extension_types_are_consistent)
{
    enum dtype type = (enum dtype) _i;
    const struct dtype_info *d = &dtype_info[type];
    char text[EXTENSION_TEXT];
    uint16_t number;

    enum extension_prefix x = extension_of_type(type, &number);
    ck_assert_int_ne(x, EXTENSION_NONE);
    ck_assert_int_eq(extension_type(x, number), type);
    ck_assert_int_eq(extension_type_by_name(x, d->name), type);
    ck_assert_uint_gt(d->codec->size, 0);
    ck_assert(d->tensor == !strncmp(d->name, "TENSOR_", 7));
    ck_assert(d->since == (x == EXTENSION_oem ? 1 : 3));
    ck_assert_int_lt(dtype_by_name(d->name), 0); /* no type of NNAPI has this name */
    ck_assert_int_eq(extension_type_of_text(extension_type_text(type, text)), type);
}
END_TEST

START_TEST(unknown_extension_names_are_not_found)
{
    static const char *const none[] = { "",
                                        ".",
                                        "FIBONACCI",
                                        ".FIBONACCI",
                                        "org.halcyon.example.fibonacci",
                                        "org.halcyon.example.fibonacci.",
                                        "org.halcyon.example.fibonacci.FIBONACC",
                                        "org.halcyon.example.fibonacci.FIBONACCI2",
                                        "rg.halcyon.example.fibonacci.FIBONACCI",
                                        "org.halcyon.example.fibonacci..FIBONACCI",
                                        ".OEM_OPERATION" };

    for (int i = 0; i < COUNT(none); i++) {
        ck_assert_ptr_null(extension_op_of_text(none[i]));
        ck_assert_int_eq(extension_type_of_text(none[i]), DT_FOREIGN);
        ck_assert_int_eq(extension_by_name(none[i]), i == 4 ? EXTENSION_fibonacci : EXTENSION_NONE);
    }
    ck_assert_ptr_null(op_find(EXTENSION_CODE(fibonacci, 7)));
    ck_assert_ptr_null(op_find(EXTENSION_END << 16));
    ck_assert_ptr_null(op_find((int32_t) 0xffff0000));
    ck_assert_ptr_null(op_find(OEM_CODE));
}
END_TEST

static int count_ops(void)
{
    int n = op_table_n;

    for (int x = EXTENSION_NONE + 1; x < EXTENSION_END; x++)
        n += extension_table[x]->n_ops;
    return n;
}

Suite *catalogue_suite(void)
{
    TCase *t = tcase_create("records");
    int n = count_ops();

    tcase_add_loop_test(t, operations_are_found_by_code_and_name, 0, n);
    tcase_add_loop_test(t, records_have_their_texts, 0, n);
    tcase_add_loop_test(t, records_have_one_kernel, 0, n);
    tcase_add_loop_test(t, roles_have_types_and_patterns, 0, n);
    tcase_add_loop_test(t, forms_name_each_role_once, 0, n);
    tcase_add_loop_test(t, typing_rows_differ, 0, n);
    tcase_add_loop_test(t, extensions_are_found_by_name, EXTENSION_NONE + 1, EXTENSION_END);
    tcase_add_loop_test(t, extension_types_are_consistent, DT_FOREIGN + 1, DT_END);
    tcase_add_test(t, unknown_extension_names_are_not_found);
    return make_suite("catalogue", t, NULL);
}
