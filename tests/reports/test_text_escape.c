/* Text from outside in every medium; the expectations are written by hand. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "golden/base/text_escape.h"
#include "tests/support/check_main.h"

struct row {
    const char *text, *terminal, *lines, *xml, *html, *json, *shell;
};

static const struct row rows[] = {
    { "spec/a_1", "spec/a_1", "spec/a_1", "spec/a_1", "spec/a_1", "spec/a_1", "spec/a_1" },
    { "", "", "", "", "", "", "''" },
    { "it's", "it's", "it's", "it&#39;s", "it&#39;s", "it's", "'it'\\''s'" },
    { "\x1b[31mred", "\\x1b[31mred", "\\x1b[31mred", "\\x1b[31mred", "\\x1b[31mred", "\x1b[31mred",
      "$'\\033[31mred'" },
    { "a\nb\tc\r", "a\\nb\\tc\\r", "a\nb\tc\\r", "a&#10;b&#9;c\\r", "a\nb\tc\\r", "a\nb\tc\r",
      "$'a\\012b\\011c\\015'" },
    { "<script>\"&\"]]>", "<script>\"&\"]]>", "<script>\"&\"]]>",
      "&lt;script&gt;&quot;&amp;&quot;]]&gt;", "&lt;script&gt;&quot;&amp;&quot;]]&gt;",
      "<script>\"&\"]]>", "'<script>\"&\"]]>'" },
    /* Not UTF-8: a lone byte, an overlong slash, a lone surrogate, a cut off character. */
    { "\xff", "\\xff", "\\xff", "\\xff", "\\xff", "\\xff", "$'\\377'" },
    { "\xc0\xaf", "\\xc0\\xaf", "\\xc0\\xaf", "\\xc0\\xaf", "\\xc0\\xaf", "\\xc0\\xaf",
      "$'\\300\\257'" },
    { "\xed\xa0\x80", "\\xed\\xa0\\x80", "\\xed\\xa0\\x80", "\\xed\\xa0\\x80", "\\xed\\xa0\\x80",
      "\\xed\\xa0\\x80", "$'\\355\\240\\200'" },
    { "\xe2\x82", "\\xe2\\x82", "\\xe2\\x82", "\\xe2\\x82", "\\xe2\\x82", "\\xe2\\x82",
      "$'\\342\\202'" },
    /* U+009B, which begins a control sequence; U+202E, which reverses what follows; U+FFFE. */
    { "\xc2\x9b", "\\x9b", "\\x9b", "\\x9b", "\\x9b", "\xc2\x9b", "$'\\302\\233'" },
    { "a\xe2\x80\xae'b", "a\\u202e'b", "a\\u202e'b", "a\\u202e&#39;b", "a\\u202e&#39;b",
      "a\xe2\x80\xae'b", "$'a\\342\\200\\256\\'b'" },
    { "\xef\xbf\xbe", "\\ufffe", "\\ufffe", "\\ufffe", "\\ufffe", "\xef\xbf\xbe",
      "$'\\357\\277\\276'" },
    { "\xf0\x9f\xbf\xbe", "\\U0001fffe", "\\U0001fffe", "\\U0001fffe", "\\U0001fffe",
      "\xf0\x9f\xbf\xbe", "$'\\360\\237\\277\\276'" },
    { "\x7f", "\\x7f", "\\x7f", "\\x7f", "\\x7f", "\x7f", "$'\\177'" },
    { "\xc3\xa9 \xf0\x9f\x98\x80", "\xc3\xa9 \xf0\x9f\x98\x80", "\xc3\xa9 \xf0\x9f\x98\x80",
      "\xc3\xa9 \xf0\x9f\x98\x80", "\xc3\xa9 \xf0\x9f\x98\x80", "\xc3\xa9 \xf0\x9f\x98\x80",
      "'\xc3\xa9 \xf0\x9f\x98\x80'" },
};

static void expect(enum text_medium medium, const char *text, const char *expected)
{
    char *found = text_escaped(medium, text);
    ck_assert_str_eq(found, expected);
    free(found);
}

START_TEST(every_medium)
{
    const struct row *r = &rows[_i];
    expect(TEXT_TERMINAL, r->text, r->terminal);
    expect(TEXT_LINES, r->text, r->lines);
    expect(TEXT_XML, r->text, r->xml);
    expect(TEXT_HTML, r->text, r->html);
    expect(TEXT_JSON, r->text, r->json);
    expect(TEXT_SHELL, r->text, r->shell);
}
END_TEST

START_TEST(csv_doubles_quotes_and_tap_escapes_its_marks)
{
    expect(TEXT_CSV, "a \"b\", c\n\td\x1b\xff", "a \"\"b\"\", c\n\td\\x1b\\xff");
    expect(TEXT_TAP, "a # b \\# c\nd\x1b\xff", "a \\# b \\\\\\# c\\\\nd\\\\x1b\\\\xff");
}
END_TEST

START_TEST(cuts_off_after_characters)
{
    char *text = NULL;
    size_t length = 0;
    FILE *to = open_memstream(&text, &length);
    text_put(to, TEXT_XML, "\xc3\xa9<b", 2);
    text_put(to, TEXT_XML, "ab", 2);
    text_put(to, TEXT_XML, NULL, 0);
    fclose(to);
    ck_assert_str_eq(text, "\xc3\xa9&lt;\xe2\x80\xa6"
                           "ab");
    free(text);
}
END_TEST

START_TEST(cleans_in_place)
{
    char text[] = "a\x1b\n\xff\xe2\x80\xae\xc3\xa9";
    text_clean(text);
    ck_assert_str_eq(text, "a?\n????\xc3\xa9");
}
END_TEST

Suite *text_escape_suite(void)
{
    TCase *t = tcase_create("all");
    tcase_add_loop_test(t, every_medium, 0, (int) (sizeof rows / sizeof *rows));
    tcase_add_test(t, csv_doubles_quotes_and_tap_escapes_its_marks);
    tcase_add_test(t, cuts_off_after_characters);
    tcase_add_test(t, cleans_in_place);
    return make_suite("text_escape", t, NULL);
}
