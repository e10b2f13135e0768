/* array_room(): elements stay, the array moves only when it is full, and sizes that do not fit are
 * refused. */
#include <check.h>
#include <stdint.h>
#include <stdlib.h>

#include "golden/base/array.h"
#include "golden/model/op.h"
#include "tests/support/check_main.h"

START_TEST(elements_stay)
{
    enum { N = 1000 };
    uint32_t *all = NULL;

    for (uint32_t n = 0; n < N; n++) {
        uint32_t *more = array_room(all, n, sizeof *more);
        ck_assert_ptr_nonnull(more);
        if (n > 0 && n != 8 && n != 16 && n != 32 && n != 64 && n != 128 && n != 256 && n != 512)
            ck_assert_ptr_eq(more, all);
        all = more;
        all[n] = 3 * n;
    }
    for (uint32_t n = 0; n < N; n++)
        ck_assert_uint_eq(all[n], 3 * n);
    free(all);
}
END_TEST

/* As a stack: removed elements leave their room. */
START_TEST(elements_may_be_removed)
{
    char *all = NULL;
    size_t n = 0;

    for (int turn = 0; turn < 3; turn++) {
        for (; n < 40; n++) {
            char *more = array_room(all, n, sizeof *more);
            ck_assert_ptr_nonnull(more);
            all = more;
            all[n] = 1;
        }
        n = turn ? 0 : 8;
        ck_assert_ptr_nonnull(all = array_room(all, n, 1));
        all[n] = 2;
    }
    free(all);
}
END_TEST

START_TEST(sizes_that_do_not_fit_are_refused)
{
    static const size_t n[] = { SIZE_MAX / 2 + 1, SIZE_MAX / 4 + 1, SIZE_MAX / 8 + 1 };
    char *all = array_room(NULL, 0, 1);

    ck_assert_ptr_nonnull(all);
    for (int i = 0; i < COUNT(n); i++)
        ck_assert_ptr_null(array_room(all, n[i], 16));
    ck_assert_ptr_null(array_room(NULL, 0, SIZE_MAX / 4));
    all[7] = 1; /* there is still room for 8 */
    free(all);
}
END_TEST

Suite *array_suite(void)
{
    TCase *t = tcase_create("array");
    tcase_add_test(t, elements_stay);
    tcase_add_test(t, elements_may_be_removed);
    tcase_add_test(t, sizes_that_do_not_fit_are_refused);
    return make_suite("array", t, NULL);
}
