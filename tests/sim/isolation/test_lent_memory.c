/* Memory that is lent to another process: what it may write, what traps, what is noticed later. */
#include <check.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "sim/isolation/lent_memory.h"
#include "tests/support/check_main.h"

static struct lent_memory m;
static struct why w;

static void setup(void)
{
    ck_assert_msg(lent_memory_init(&m, 1 << 16, 1 << 16, 0, &w) == 0, "%s", w.text);
}

static void teardown(void)
{
    lent_memory_done(&m);
}

static struct lent_region take(size_t length)
{
    struct lent_region r;
    uint64_t late = 0;

    ck_assert(lent_memory_take(&m, length, &r, &late));
    ck_assert_uint_eq(late, 0);
    return r;
}

/* Does something in a child that has attached the memory as a driver's process does; returns the
 * signal that it dies of. */
static int in_child(void (*action)(uint8_t *at), uint8_t *at)
{
    int status = 0;
    pid_t pid = fork();

    if (pid == 0) {
        const struct lent_layout l = m.layout;
        signal(SIGSEGV, SIG_DFL);
        signal(SIGBUS, SIG_DFL);
        munmap(l.in, l.in_size);
        munmap(l.out, l.out_size);
        if (lent_memory_attach(&l, m.in_fd, m.out_fd, &w) < 0)
            _exit(1);
        action(at);
        _exit(0);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(!WIFEXITED(status) || WEXITSTATUS(status) == 0);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

static void write_byte(uint8_t *at)
{
    *(volatile uint8_t *) at = (uint8_t) (*at + 1);
}

static void read_byte(uint8_t *at)
{
    (void) *(volatile uint8_t *) at;
}

static void make_writable(uint8_t *at)
{
    uint8_t *page = at - (uintptr_t) at % LENT_PAGE;

    if (mprotect(page, LENT_PAGE, PROT_READ | PROT_WRITE) == 0)
        _exit(2);
}

START_TEST(regions_end_at_a_page_without_access)
{
    static const size_t lengths[] = { 0, 1, 7, 4096, 4097, 60000 };

    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct lent_region r = take(lengths[i]);
        size_t length = lengths[i] ? lengths[i] : 1;
        ck_assert_int_eq(in_child(write_byte, r.at), 0);
        ck_assert_int_eq(in_child(write_byte, r.at + length - 1), 0);
        ck_assert_int_eq(in_child(write_byte, r.at + length), SIGSEGV);
        ck_assert_int_eq(in_child(read_byte, r.at + length), SIGSEGV);
    }
}
END_TEST

START_TEST(inputs_can_only_be_read)
{
    uint8_t *in = arena_alloc(m.arena, 100, 1), *trapping = lent_memory_take_input(&m, 10);

    ck_assert_int_eq(in_child(read_byte, in), 0);
    ck_assert_int_eq(in_child(write_byte, in), SIGSEGV);
    ck_assert_int_eq(in_child(make_writable, in), 0);
    ck_assert_int_eq(in_child(read_byte, trapping + 9), 0);
    ck_assert_int_eq(in_child(read_byte, trapping + 10), SIGSEGV);
    ck_assert_ptr_null(lent_memory_take_input(&m, 1 << 17));
}
END_TEST

START_TEST(writes_before_a_region_are_seen)
{
    struct lent_region r = take(100);

    ck_assert_uint_eq(lent_region_changed_before(&r), 0);
    ck_assert_int_eq(in_child(write_byte, r.at), 0);
    ck_assert_uint_eq(lent_region_changed_before(&r), 0);
    ck_assert_int_eq(in_child(write_byte, r.at - 3), 0);
    ck_assert_uint_eq(lent_region_changed_before(&r), 3);
    ck_assert_int_eq(in_child(write_byte, r.slot), 0);
    ck_assert_uint_eq(lent_region_changed_before(&r), 3);
}
END_TEST

START_TEST(late_writes_are_seen_by_a_sweep)
{
    struct lent_region first, second;

    m.user = 7;
    first = take(10);
    m.user = 8;
    second = take(5000);
    memset(first.at, 1, 10);
    memset(second.at, 2, 5000);
    lent_region_fill(&first, false);
    lent_region_fill(&second, false);
    ck_assert_uint_eq(lent_memory_sweep(&m), 0);
    second.at[4000]++;
    ck_assert_uint_eq(lent_memory_sweep(&m), 8);
    ck_assert_uint_eq(lent_memory_sweep(&m), 0); /* restored */
    second.at[1]++;
    first.slot[0]++;
    ck_assert_uint_eq(lent_memory_sweep(&m), 7);
}
END_TEST

START_TEST(late_writes_are_seen_when_the_slot_is_used_again)
{
    struct lent_region r;
    uint64_t late = 0;

    m.user = 1;
    r = take(10);
    lent_region_fill(&r, false);
    r.at[9]++;
    for (m.user = 2; !late; m.user++) {
        ck_assert_uint_lt(m.user, 2000);
        ck_assert(lent_memory_take(&m, 10, &r, &late));
        ck_assert(lent_region_is_pattern(&r, 9, false));
    }
    ck_assert_uint_eq(late, 1);
    ck_assert_uint_eq(lent_memory_sweep(&m), 1);
    ck_assert_uint_eq(lent_memory_sweep(&m), 0);
}
END_TEST

/* A case may have more outputs than there are small slots; it takes larger ones, not its own. */
START_TEST(slots_of_one_user_do_not_overlap)
{
    uint8_t *at[400];
    struct lent_region r;
    uint64_t late;
    int n = 0;

    while (n < 400 && lent_memory_take(&m, 10, &r, &late)) {
        for (int i = 0; i < n; i++)
            ck_assert_ptr_ne(at[i], r.at);
        at[n++] = r.at;
    }
    ck_assert_int_gt(n, 300);
    ck_assert_int_lt(n, 400);
}
END_TEST

START_TEST(as_many_large_regions_as_asked_for)
{
    enum { REGIONS = 500, LARGEST = 1 << 16 };
    struct lent_region r;
    uint64_t late;

    lent_memory_done(&m);
    ck_assert_msg(lent_memory_init(&m, 1 << 16, LARGEST, REGIONS, &w) == 0, "%s", w.text);
    for (int i = 0; i < REGIONS; i++)
        ck_assert(lent_memory_take(&m, LARGEST, &r, &late));
}
END_TEST

START_TEST(the_second_pattern_differs_everywhere)
{
    struct lent_region r = take(9000);

    for (size_t i = 0; i < 9000; i++)
        ck_assert(lent_region_is_pattern(&r, i, false) && !lent_region_is_pattern(&r, i, true));
    lent_region_fill(&r, true);
    for (size_t i = 0; i < 9000; i++)
        ck_assert(!lent_region_is_pattern(&r, i, false) && lent_region_is_pattern(&r, i, true));
    ck_assert_uint_eq(lent_region_changed_before(&r), 0);
}
END_TEST

Suite *lent_memory_suite(void)
{
    TCase *c = tcase_create("lent_memory");

    tcase_add_checked_fixture(c, setup, teardown);
    tcase_add_test(c, regions_end_at_a_page_without_access);
    tcase_add_test(c, inputs_can_only_be_read);
    tcase_add_test(c, writes_before_a_region_are_seen);
    tcase_add_test(c, late_writes_are_seen_by_a_sweep);
    tcase_add_test(c, late_writes_are_seen_when_the_slot_is_used_again);
    tcase_add_test(c, slots_of_one_user_do_not_overlap);
    tcase_add_test(c, as_many_large_regions_as_asked_for);
    tcase_add_test(c, the_second_pattern_differs_everywhere);
    return make_suite("lent_memory", c, NULL);
}
