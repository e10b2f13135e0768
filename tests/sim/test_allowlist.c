/* The list of applications and binaries that may use vendor extensions. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sim/client/allowlist.h"
#include "tests/support/check_main.h"

static struct why w;
static char file[64];

static void make_file(void)
{
    snprintf(file, sizeof file, "/tmp/allowlist-XXXXXX");
    int fd = mkstemp(file);
    ck_assert_int_ge(fd, 0);
    close(fd);
}

static void remove_file(void)
{
    unlink(file);
}

static void write_file(const char *text, size_t length)
{
    FILE *to = fopen(file, "w");

    ck_assert_ptr_nonnull(to);
    ck_assert_uint_eq(fwrite(text, 1, length, to), length);
    ck_assert_int_eq(fclose(to), 0);
}

static bool allows_at(const char *text, const char *who, bool anywhere)
{
    bool allowed = false;

    write_file(text, strlen(text));
    ck_assert_msg(allowlist_allows(file, who, anywhere, &allowed, &w) == 0, "%s", w.text);
    return allowed;
}

static bool allows(const char *text, const char *who)
{
    return allows_at(text, who, false);
}

START_TEST(listed_names_are_allowed)
{
    static const char list[] = "/vendor/bin/nn\n\ncom.example.camera\n/data/local/tmp/my test\n"
                               "org.a_b.C9";

    ck_assert(allows(list, "/vendor/bin/nn"));
    ck_assert(allows(list, "com.example.camera"));
    ck_assert(allows(list, "/data/local/tmp/my test"));
    ck_assert(allows(list, "org.a_b.C9"));
    ck_assert(!allows(list, "/vendor/bin"));
    ck_assert(!allows(list, "/vendor/bin/nn2"));
    ck_assert(!allows(list, "com.example.cameras"));
    ck_assert(!allows(list, ""));
    ck_assert(!allows("", "com.example.camera"));
}
END_TEST

/* Binaries of the vendor's partitions and of /data are allowed, those of the system partitions not.
 */
START_TEST(binaries_are_allowed_by_partition)
{
    static const struct {
        const char *path;
        bool allowed;
    } binaries[] = {
        { "/product/bin/nn", true },
        { "/vendor/bin/nn", true },
        { "/odm/nn", true },
        { "/data/local/tmp/nn", true },
        { "/system/bin/nn", false },
        { "/system/product/nn", false },
        { "/system_ext/bin/nn", false },
        { "/apex/com.android.x/bin/nn", false },
        { "/vendors/nn", false },
        { "/datum", false },
    };
    char list[80];

    for (size_t i = 0; i < sizeof binaries / sizeof *binaries; i++) {
        snprintf(list, sizeof list, "%s\n", binaries[i].path);
        ck_assert_msg(allows(list, binaries[i].path) == binaries[i].allowed, "%s",
                      binaries[i].path);
        ck_assert(allows_at(list, binaries[i].path, true));
    }
}
END_TEST

START_TEST(invalid_lines_are_reported_by_number)
{
    static const char *const bad[] = {
        "vendor/bin/nn",
        "/vendor//nn",
        "/vendor/nn/",
        "/",
        "/vendor/../system/nn",
        "/vendor/./nn",
        "camera",
        "com.",
        ".com",
        "com..camera",
        "com.9camera",
        "com.cam-era",
        "# a comment",
        " com.example.camera",
        "com.example.camera ",
        "com.example.camera\r",
        "/vendor/b\tin",
        "com.\xc3\xa4.b",
    };
    bool allowed = true;
    char text[200];

    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        int n = snprintf(text, sizeof text, "/vendor/nn\ncom.example.camera\n%s\n", bad[i]);
        write_file(text, (size_t) n);
        ck_assert_msg(allowlist_allows(file, "/vendor/nn", false, &allowed, &w) < 0, "%s", bad[i]);
        ck_assert_int_eq(w.code, WHY_INVALID);
        snprintf(text, sizeof text, "%s:3: expected the path", file);
        ck_assert_msg(!strncmp(w.text, text, strlen(text)), "%s", w.text);
    }
    write_file("/vendor/a\0b\n", 12);
    ck_assert_int_lt(allowlist_allows(file, "/vendor/a", false, &allowed, &w), 0);
    ck_assert(allowed);
}
END_TEST

START_TEST(unreadable_file_is_an_error)
{
    bool allowed;

    ck_assert_int_lt(allowlist_allows("/tmp/absent/list", "/a", false, &allowed, &w), 0);
    ck_assert_str_eq(w.text, "/tmp/absent/list: No such file or directory");
    ck_assert_int_lt(allowlist_allows("/tmp", "/a", false, &allowed, &w), 0);
    ck_assert_str_eq(w.text, "/tmp: Is a directory; expected a file");
}
END_TEST

START_TEST(own_binary_is_identified_by_path)
{
    char *self = allowlist_this_binary();

    ck_assert(self && *self == '/' && strstr(self, "/sim_tests"));
    free(self);
}
END_TEST

Suite *allowlist_suite(void)
{
    TCase *t = tcase_create("all");

    tcase_add_checked_fixture(t, make_file, remove_file);
    tcase_add_test(t, listed_names_are_allowed);
    tcase_add_test(t, binaries_are_allowed_by_partition);
    tcase_add_test(t, invalid_lines_are_reported_by_number);
    tcase_add_test(t, unreadable_file_is_an_error);
    tcase_add_test(t, own_binary_is_identified_by_path);
    return make_suite("allowlist", t, NULL);
}
