/* Files of commands: under the user's name only when complete. */
#include "golden/base/output_file.h"

#include <check.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/check_main.h"

static char folder[] = "/tmp/halcyon-test-XXXXXX";
static char path[64], part[80];

static void setup(void)
{
    strcpy(folder, "/tmp/halcyon-test-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/out", folder);
    snprintf(part, sizeof part, "%s.halcyon-part", path);
}

static void teardown(void)
{
    unlink(path);
    ck_assert_int_eq(rmdir(folder), 0); /* nothing else is left */
}

static int write_file(const char *text, bool keep, struct why *w)
{
    struct output_file f;
    if (output_file_open(path, &f, w) < 0)
        return -1;
    fputs(text, f.to);
    fflush(f.to);
    return output_file_close(&f, keep, w);
}

static void expect_content(const char *expected)
{
    char text[64] = "";
    FILE *file = fopen(path, "r");
    ck_assert_ptr_nonnull(file);
    ck_assert_uint_eq(fread(text, 1, sizeof text - 1, file), strlen(expected));
    fclose(file);
    ck_assert_str_eq(text, expected);
}

START_TEST(the_name_is_given_at_the_end)
{
    struct output_file f;
    struct why w;
    ck_assert_int_eq(output_file_open(path, &f, &w), 0);
    fputs("text", f.to);
    ck_assert_int_eq(access(path, F_OK), -1);
    ck_assert_int_eq(access(part, F_OK), 0);
    ck_assert_int_eq(output_file_open(path, &f, &w), -1);
    ck_assert_msg(strstr(w.text, "another process is writing it"), "%s", w.text);
    ck_assert_int_eq(output_file_close(&f, true, &w), 0);
    expect_content("text");
}
END_TEST

START_TEST(an_abandoned_file_leaves_the_old_one)
{
    struct why w;
    ck_assert_int_eq(write_file("old", true, &w), 0);
    ck_assert_int_eq(chmod(path, 0640), 0);
    ck_assert_int_eq(write_file("new", false, &w), 0);
    expect_content("old");
    struct stat about;
    ck_assert_int_eq(write_file("new", true, &w), 0);
    ck_assert_int_eq(stat(path, &about), 0);
    ck_assert_int_eq(about.st_mode & 07777, 0640);
    expect_content("new");
}
END_TEST

START_TEST(a_part_of_a_killed_process_is_used_again)
{
    struct why w;
    FILE *file = fopen(part, "w");
    ck_assert_ptr_nonnull(file);
    fputs("a longer text than that", file);
    fclose(file);
    ck_assert_int_eq(write_file("text", true, &w), 0);
    expect_content("text");
}
END_TEST

START_TEST(links_stay)
{
    struct stat about;
    struct why w;
    char name[80];
    snprintf(name, sizeof name, "%s/real", folder);
    FILE *file = fopen(name, "w");
    ck_assert_ptr_nonnull(file);
    fclose(file);
    ck_assert_int_eq(symlink("real", path), 0);
    ck_assert_int_eq(write_file("text", true, &w), 0);
    ck_assert(lstat(path, &about) == 0 && S_ISLNK(about.st_mode));
    expect_content("text");
    unlink(name);
}
END_TEST

START_TEST(bad_paths_are_the_users_fault)
{
    static const char *const name[] = { "/nonexistent/out", "/tmp", "/dev/null/out", "" };
    struct output_file f;
    struct why w;
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(output_file_check(name[i], &w), -1);
        ck_assert_int_eq(output_file_open(name[i], &f, &w), -1);
        ck_assert_int_eq(w.code, WHY_INVALID);
    }
}
END_TEST

START_TEST(devices_are_written_in_place)
{
    struct output_file f;
    struct why w;
    struct stat about;
    ck_assert_int_eq(output_file_open("/dev/null", &f, &w), 0);
    ck_assert_int_eq(output_file_close(&f, true, &w), 0);
    ck_assert(stat("/dev/null", &about) == 0 && S_ISCHR(about.st_mode));
    ck_assert_int_eq(output_file_open("/dev/full", &f, &w), 0);
    fputs("text", f.to);
    ck_assert_int_eq(output_file_close(&f, true, &w), -1);
    ck_assert_msg(strstr(w.text, "No space left"), "%s", w.text);
    ck_assert_int_eq(w.code, WHY_SYSTEM);
}
END_TEST

START_TEST(a_file_that_cannot_be_complete_is_removed)
{
    static char text[5000];
    struct rlimit limit = { 1000, 1000 };
    struct why w;
    ck_assert_int_eq(write_file("old", true, &w), 0);
    memset(text, 'x', sizeof text - 1);
    signal(SIGXFSZ, SIG_IGN);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    ck_assert_int_eq(write_file(text, true, &w), -1);
    ck_assert_msg(strstr(w.text, "File too large"), "%s", w.text);
    ck_assert_int_eq(w.code, WHY_SYSTEM);
    expect_content("old");
}
END_TEST

Suite *output_file_suite(void)
{
    TCase *t = tcase_create("output_file");
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, the_name_is_given_at_the_end);
    tcase_add_test(t, an_abandoned_file_leaves_the_old_one);
    tcase_add_test(t, a_part_of_a_killed_process_is_used_again);
    tcase_add_test(t, links_stay);
    tcase_add_test(t, bad_paths_are_the_users_fault);
    tcase_add_test(t, devices_are_written_in_place);
    tcase_add_test(t, a_file_that_cannot_be_complete_is_removed);
    return make_suite("output_file", t, NULL);
}
