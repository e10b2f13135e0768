/* Specifications as the results database stores them: the same text again, also from BLOBs of
 * earlier versions; what is damaged is rejected with the reason. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "randgraph/randgraph.h"
#include "reports/packed_spec.h"
#include "reports/spec_tokens.h"
#include "specs/specs.h"
#include "tests/support/check_main.h"

/* The packed text, malloced, of exactly its size, so that AddressSanitizer detects reads after the
 * end; NULL: it was not packed. */
static unsigned char *pack(const char *text, size_t *ret_size)
{
    size_t length = strlen(text), room = 2 * length + 100;
    unsigned char *bytes = malloc(room);
    ck_assert_ptr_nonnull(bytes);
    *ret_size = packed_spec(text, length, bytes, room);
    unsigned char *exact = *ret_size ? malloc(*ret_size) : NULL;
    if (exact)
        memcpy(exact, bytes, *ret_size);
    free(bytes);
    return exact;
}

static size_t expect_same(const char *text)
{
    size_t size = 0, length = 0;
    const char *why = "";
    unsigned char *bytes = pack(text, &size);
    ck_assert_ptr_nonnull(bytes);
    char *again = packed_spec_text(bytes, size, 1 << 26, &length, &why);
    ck_assert_msg(again != NULL, "%s", why);
    ck_assert_uint_eq(length, strlen(text));
    ck_assert_str_eq(again, text);
    free(again);
    free(bytes);
    return size;
}

static char *random_spec(uint64_t index)
{
    struct arena *a = arena_new(0);
    struct example e;
    struct why w;
    char *text = NULL;
    size_t n = 0;
    FILE *to = open_memstream(&text, &n);
    ck_assert_int_eq(randgraph_make(NULL, 1, index, a, &e, &w), 0);
    ck_assert_int_eq(specs_write_modpy(&e, "a comment", to, &w), 0);
    fclose(to);
    arena_free(a);
    return text;
}

START_TEST(random_graphs)
{
    size_t text = 0, packed = 0;
    for (uint64_t i = 0; i < 200; i++) {
        char *spec = random_spec(i);
        text += strlen(spec);
        packed += expect_same(spec);
        free(spec);
    }
    ck_assert_uint_lt(packed, text / 4);
}
END_TEST

/* Lists that are packed from tensors give the bytes that they give as text. */
START_TEST(marked_lists)
{
    struct spec_packer *k = spec_packer_new();
    ck_assert_ptr_nonnull(k);
    for (uint64_t i = 0; i < 300; i++) {
        struct arena *a = arena_new(0);
        struct example e;
        struct modpy_lists lists = { 0 };
        struct why w;
        char *text = NULL, *marked = NULL;
        size_t n_text = 0, n_marked = 0, expected = 0;
        FILE *to = open_memstream(&text, &n_text), *to_marked = open_memstream(&marked, &n_marked);
        ck_assert_int_eq(randgraph_make(NULL, 2, i, a, &e, &w), 0);
        ck_assert_int_eq(specs_write_modpy(&e, NULL, to, &w), 0);
        ck_assert_int_eq(specs_write_modpy_marked(&e, to_marked, &lists, &w), 0);
        fclose(to);
        fclose(to_marked);
        unsigned char *bytes = pack(text, &expected), *again = malloc(expected);
        ck_assert_ptr_nonnull(bytes);
        ck_assert_uint_eq(
            packed_spec_marked(k, marked, n_marked, lists.list, lists.n, again, expected),
            expected);
        ck_assert_mem_eq(again, bytes, expected);
        ck_assert_uint_eq(
            packed_spec_marked(k, marked, n_marked, lists.list, lists.n, again, expected - 1), 0);
        if (lists.n) /* a mark without a list */
            ck_assert_uint_eq(
                packed_spec_marked(k, marked, n_marked, lists.list, lists.n - 1, again, expected),
                0);
        free(bytes);
        free(again);
        free(text);
        free(marked);
        free(lists.list);
        arena_free(a);
    }
    spec_packer_free(k);
}
END_TEST

/* What has no text of that type: the whole specification is stored as text. */
START_TEST(lists_that_are_not_packed)
{
    static const int64_t wide[] = { 1, 2 };
    static const uint32_t large[] = { 1, UINT32_MAX };
    const struct tensor tensors[] = {
        { .dtype = DT_FIBONACCI_INT64, .shape = { 1, { 2 } }, .data = (void *) wide },
        { .dtype = DT_UINT32, .shape = { 1, { 2 } }, .data = (void *) large },
    };
    unsigned char bytes[100];
    struct spec_packer *k = spec_packer_new();
    ck_assert_ptr_nonnull(k);
    for (int i = 0; i < COUNT(tensors); i++)
        ck_assert_uint_eq(packed_spec_marked(k, "x\x01", 2, &(const struct tensor *){ &tensors[i] },
                                             1, bytes, sizeof bytes),
                          0);
    spec_packer_free(k);
}
END_TEST

/* Texts that are not quite what specs/write_modpy.c writes, or not at all. */
static const char *const texts[] = {
    "",
    "\n",
    "[1, 2, 3]",
    "[1,2, 3]",
    "[1, 2, 3",
    "[1, 2 , 3]",
    "[01, 2]",
    "[+1, 2]",
    "[1, 2.0]",
    "[1e5, 1.0]",
    "[100000.0, 1e+06]",
    "[1, -1, 127, -128]",
    "[1, -1, 32767]",
    "[0, 65535]",
    "[-2147483648, 2147483647]",
    "[0, 2147483648]",
    "[0, 99999999999999999999]",
    "[True, False, True]",
    "[True, 1]",
    "[true, false]",
    "[0.5, -0.0, 0.0, 65504.0, 5.9604645e-08]",
    "[0.1, 3.4028235e+38, 1e-45, -1.1754944e-38]",
    "[0.1, 1e+39]",
    "[float(\"nan\"), float(\"inf\"), float(\"-inf\"), float(\"-nan\"), 1.0]",
    "[float(\"nan\"), 0.1, float(\"-nan\")]",
    "[float(\"nan, 1.0]",
    "[0.10000000149, 2.0]",
    "[nan, inf]",
    "[[1, 2], [3, 4]]",
    "[1,\n    2]",
    "scales=[0.1, 0.2, 0.3, 0.123456789, 0.12345678, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 0.11]",
    "[100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100,\n    100, 100]",
    "i0 = Input(\"i0\", (\"TENSOR_FLOAT32\", [2]))\ni1 = Input(\"i1\", (\"A\", [2]))\nc2 = "
    "Parameter(\"c3\", ())\n"
    "f(i0, i1, c2, i3, i00, i1x, xi1, \"i1\", i0)\n",
    "g1_i0 = Input(\"g1_i0\", (\"A\", []))\ng1_o1 = Output(\"g1_o1\", (\"A\", []))\ng1 = "
    "Model(\"g1\")\n"
    "g1.IdentifyInputs(g1_i0, g1_o1)\n\ni0 = Input(\"i0\", (\"A\", []))\ns1 = "
    "SubgraphReference(\"s1\", g1)\n"
    "n2 = Parameter(\"n2\", (\"A\", [0]), None)\nt3 = Internal(\"t3\", (\"A\", "
    "[]))\nm.Operation(\"IF\", i0, s1, g1_i0).To(t3)",
    "c16383 = Parameter(\"c16383\", ())\nc16384 = Parameter(\"c16384\", ())\nc16383, c16384, "
    "c99999999999\n",
    "g16383_c1 = 2\ng16383_c2 = Parameter(\"g16383_c2\", x)\ng123456789_c1 = 2\ng123456789_c2 = "
    "Parameter(\"g123456789_c2\", x)",
    "# \xc3\xa9 \xff i0\n",
};

START_TEST(other_texts)
{
    expect_same(texts[_i]);
}
END_TEST

START_TEST(control_characters_are_not_packed)
{
    static const char *const with[] = { "Model()\t", "Model()\r\n", "\x01Model()", "Model(\x1b)" };
    size_t size = 0;
    for (int i = 0; i < COUNT(with); i++)
        ck_assert_ptr_null(pack(with[i], &size));
}
END_TEST

/* Every prefix, and every byte with one bit changed, gives the same text or the reason. */
START_TEST(damage)
{
    char *text = random_spec(2);
    size_t size = 0, length = 0;
    const char *why = NULL;
    unsigned char *bytes = pack(text, &size);
    ck_assert_ptr_nonnull(bytes);
    for (size_t n = 0; n < size; n++) {
        unsigned char *prefix = malloc(n + !n);
        memcpy(prefix, bytes, n);
        ck_assert_ptr_null(packed_spec_text(prefix, n, 1 << 20, &length, &why));
        ck_assert_ptr_nonnull(why);
        free(prefix);
    }
    for (size_t i = 1; i < size; i++) {
        bytes[i] ^= (unsigned char) (1 << i % 8);
        why = NULL;
        char *again = packed_spec_text(bytes, size, 1 << 20, &length, &why);
        ck_assert_msg(again ? strcmp(again, text) == 0 : why != NULL, "byte %zu", i);
        free(again);
        bytes[i] ^= (unsigned char) (1 << i % 8);
    }
    ck_assert_ptr_null(packed_spec_text(bytes, size, strlen(text) - 1, &length, &why));
    free(bytes);
    free(text);
}
END_TEST

/* Planes that contradict each other. */
START_TEST(hostile_planes)
{
    static const struct {
        const char *text, *numbers, *why;
    } rows[] = {
        { "\x02"
          "3]",
          "ab", "a list has more elements than there are numbers" },
        { "\x02"
          "99999999999999999999]",
          "ab", "a list has more elements than there are numbers" },
        { "\x02"
          "1]",
          "ab", "it has numbers of no list" },
        { "\x02"
          "2]\x19",
          "ab", "an operand is named that is not declared" },
        { "i0 = \n\x1b"
          "0\x1a",
          "", "an operand is named that is not declared" },
        { "i0 = \n\x1bx", "", "the number of an operand is missing" },
        { "i0 = \n\x1b"
          "99999",
          "", "the number of an operand is missing" },
        { "i16383 = \n\x13", "", "an operand has too large a number" },
        { "\x09", "", "an unknown code" },
        { "\x1f", "", "an unknown code" },
        { "01234567890", "", "it is too long" },
        { "\x02"
          "8]",
          "aaaaaaaa", "it is too long, or out of memory" },
    };
    for (int i = 0; i < COUNT(rows); i++) {
        struct spec_planes p = { 0 };
        size_t n = 0;
        const char *why = "";
        p.plane[0] = (struct spec_bytes){ (unsigned char *) rows[i].text, strlen(rows[i].text), 0 };
        p.plane[1] =
            (struct spec_bytes){ (unsigned char *) rows[i].numbers, strlen(rows[i].numbers), 0 };
        ck_assert_ptr_null(spec_tokens_join(&p, i < 10 ? 100 : 10, &n, &why));
        ck_assert_str_eq(why, rows[i].why);
    }
}
END_TEST

/* A specification as each format was first written: it can always be read. */
static const char first_text[] =
    "# a comment\n"
    "\n"
    "g1_i0 = Input(\"g1_i0\", (\"TENSOR_FLOAT32\", [2]))\n"
    "g1_o1 = Output(\"g1_o1\", (\"TENSOR_FLOAT32\", [2]))\n"
    "g1 = Model(\"g1\")\n"
    "g1.IdentifyInputs(g1_i0)\n"
    "g1.IdentifyOutputs(g1_o1)\n"
    "g1.Operation(\"RELU\", g1_i0).To(g1_o1)\n"
    "\n"
    "i0 = Input(\"i0\", (\"TENSOR_FLOAT32\", [2, 3]))\n"
    "c1 = Parameter(\"c1\", \"TENSOR_QUANT8_SYMM_PER_CHANNEL\", \"{2, 3}\", [-3, 100, 7, 8, 9, "
    "-128], extraParams=SymmPerChannelQuantParams(channelDim=0, scales=[0.1, 0.25]))\n"
    "c2 = Parameter(\"c2\", (\"TENSOR_INT32\", [3]), [-70000, 2, 3])\n"
    "c3 = Parameter(\"c3\", (\"TENSOR_FLOAT16\", [3]), [0.5, -0.0, float(\"nan\")])\n"
    "c4 = Parameter(\"c4\", (\"TENSOR_BOOL8\", [3]), [True, False, True])\n"
    "c5 = Parameter(\"c5\", (\"TENSOR_QUANT16_SYMM\", [3], 0.5, 0), [-300, 2, 3])\n"
    "c6 = Parameter(\"c6\", (\"TENSOR_QUANT16_ASYMM\", [3], 0.5, 3), [300, 2, 65535])\n"
    "n7 = Parameter(\"n7\", (\"TENSOR_FLOAT32\", [0]), None)\n"
    "o8 = IgnoredOutput(\"o8\", (\"TENSOR_FLOAT32\", [2, 3]))\n"
    "main = Model()\n"
    "main.IdentifyInputs(i0)\n"
    "main.IdentifyOutputs(o8)\n"
    "main.Operation(\"ADD\", i0, c1, c2, n7).To(o8)\n"
    "main.IntroducedIn(None)\n"
    "\n"
    "Example(({i0: [0.1, 1.17549435e-38, 123.456, -7.0, float(\"-inf\"), 1e-45]}, {}), "
    "model=main).DisableLifeTimeVariation()\n";
static const unsigned char packed_of_text[] = {
    0xff, 0xff, 0x0f, 0xe3, 0x0c, 0xdf, 0x01, 0xad, 0x59, 0xbb, 0x0a, 0xc2, 0x30, 0x14, 0x45, 0x10,
    0x87, 0x7c, 0x80, 0x8b, 0xcb, 0xa5, 0x2e, 0x0d, 0xdc, 0x84, 0xa4, 0x49, 0xac, 0x0a, 0x8e, 0x0e,
    0x82, 0x20, 0x08, 0x4e, 0x45, 0xa4, 0x48, 0x5b, 0x0a, 0xf6, 0x31, 0xd4, 0xff, 0x77, 0x50, 0xb1,
    0xad, 0xad, 0xa4, 0xe0, 0x7c, 0x32, 0x5c, 0x48, 0xce, 0xcd, 0x79, 0xcc, 0x21, 0x84, 0x6b, 0x91,
    0x65, 0x51, 0x5e, 0x11, 0x92, 0xc8, 0x4b, 0x2a, 0x60, 0x03, 0xbb, 0xbc, 0xbc, 0x57, 0xae, 0x93,
    0xc8, 0x4b, 0x2a, 0xba, 0xab, 0xab, 0xc0, 0x3b, 0x53, 0x4a, 0xa6, 0xbd, 0x88, 0x4d, 0xa9, 0xd5,
    0xdd, 0x69, 0x51, 0x92, 0x48, 0x7e, 0x28, 0xa3, 0xe7, 0xcb, 0x73, 0x9d, 0xe3, 0x76, 0x7f, 0x6a,
    0xa4, 0xd3, 0xa4, 0x3e, 0x62, 0xdf, 0x7c, 0xaf, 0xc5, 0x62, 0xe3, 0xdc, 0x3c, 0x04, 0xf5, 0x97,
    0x48, 0xe0, 0xa7, 0xc8, 0x98, 0xa8, 0x21, 0x52, 0xf9, 0xfd, 0xe5, 0x3f, 0xc1, 0x51, 0x13, 0x6c,
    0x99, 0xc1, 0x40, 0x9d, 0x11, 0x04, 0x37, 0x08, 0xe2, 0x5b, 0xcc, 0xb4, 0x7d, 0xe0, 0xe7, 0xb0,
    0xa2, 0x08, 0x63, 0x65, 0xb1, 0x0b, 0xfb, 0x09, 0x6e, 0x43, 0x88, 0x3e, 0x36, 0x2c, 0x5f, 0x40,
    0xed, 0xa6, 0x3f, 0xc1, 0x5b, 0xbd, 0x9b, 0xb3, 0x20, 0xc5, 0x4c, 0xac, 0x21, 0x10, 0x5c, 0x22,
    0x48, 0x2e, 0x7d, 0xa3, 0x57, 0x5a, 0x99, 0x88, 0xa9, 0x25, 0x82, 0xf4, 0x14, 0xd7, 0x66, 0x81,
    0xc0, 0x7c, 0x2e, 0x10, 0xe2, 0x5b, 0x11, 0x56, 0xae, 0xc3, 0xd2, 0x3c, 0x76, 0x28, 0x82, 0x8c,
    0x98, 0x36, 0x43, 0x09, 0xf3, 0x00, 0x1a, 0x02, 0x03, 0xfd, 0x64, 0x07, 0x08, 0x09, 0x80, 0x01,
    0x00, 0x01, 0x02, 0x03, 0x12, 0x00, 0x00, 0x00, 0xd4, 0x02, 0x03, 0x2c, 0x02, 0xff, 0x12, 0x38,
    0x80, 0x7e, 0xfe, 0x00, 0x00, 0x01, 0x00, 0xff, 0x06, 0x90, 0x02, 0x03, 0x06, 0xee, 0x00, 0x00,
    0x06, 0xfe, 0x00, 0x00, 0x06, 0xff, 0x00, 0x00, 0x04, 0x9a, 0x00, 0x04, 0x99, 0x00, 0x04, 0x99,
    0x00, 0x04, 0x7b, 0x7d, 0x75, 0x60, 0x3b, 0x41,
};
static const unsigned char deflated_planes[] = {
    0xfe, 0xff, 0x0f, 0xe3, 0x0c, 0xcc, 0x01, 0x53, 0x56, 0x48, 0x54, 0x48, 0xce, 0xcf, 0x05, 0xcd,
    0xea, 0x71, 0x71, 0xa5, 0x1b, 0xc6, 0x67, 0x1a, 0x00, 0xbd, 0x08, 0xf6, 0x0d, 0x68, 0x36, 0x0a,
    0xc8, 0x55, 0xc2, 0x3a, 0x75, 0x15, 0x0d, 0x8e, 0x61, 0x31, 0x9c, 0x32, 0xc4, 0x4c, 0x6a, 0x61,
    0x9f, 0xd3, 0x02, 0x8b, 0xfa, 0x17, 0xa4, 0x42, 0x52, 0x9e, 0x86, 0x12, 0x78, 0xb6, 0x00, 0x79,
    0x74, 0x9a, 0x0b, 0xd9, 0x89, 0xb8, 0xdc, 0x07, 0x2d, 0x58, 0x88, 0xe9, 0xb9, 0x19, 0xe9, 0x28,
    0x18, 0x53, 0x65, 0x48, 0x00, 0x6f, 0x23, 0x83, 0x0d, 0x67, 0x5b, 0x18, 0x5b, 0x7b, 0x0a, 0x56,
    0xe5, 0x43, 0x24, 0x19, 0x51, 0x25, 0xd1, 0x3a, 0x83, 0x40, 0x35, 0xa0, 0xae, 0x1d, 0xb8, 0x63,
    0x87, 0xd1, 0x98, 0x41, 0xef, 0x07, 0x22, 0x14, 0x1b, 0x03, 0x15, 0xb3, 0x18, 0x13, 0x51, 0x16,
    0xe2, 0xce, 0xe0, 0xc4, 0x64, 0x08, 0x5c, 0xb9, 0xc1, 0x02, 0x2a, 0x81, 0x14, 0xd3, 0x88, 0x81,
    0x37, 0xe4, 0xb9, 0x39, 0x22, 0x32, 0x85, 0x34, 0x30, 0xed, 0x03, 0xeb, 0x4c, 0x50, 0xe7, 0x5b,
    0xcf, 0xd0, 0xdc, 0xd4, 0xc4, 0xd2, 0xc4, 0xd8, 0x34, 0x55, 0xd7, 0x18, 0x34, 0x0a, 0x61, 0x64,
    0xac, 0x67, 0x62, 0x6a, 0xa6, 0xa3, 0xa0, 0x6b, 0xae, 0x07, 0x8c, 0xa9, 0xb4, 0x9c, 0xfc, 0x44,
    0x60, 0xa2, 0xd1, 0xcd, 0xcc, 0x4b, 0x53, 0x02, 0xfa, 0xcf, 0x30, 0x55, 0xd7, 0xc4, 0x94, 0xd4,
    0x0c, 0x03, 0x00, 0x1a, 0x02, 0x03, 0xfd, 0x64, 0x07, 0x08, 0x09, 0x80, 0x01, 0x00, 0x01, 0x02,
    0x03, 0x12, 0x00, 0x00, 0x00, 0xd4, 0x02, 0x03, 0x2c, 0x02, 0xff, 0x12, 0x38, 0x80, 0x7e, 0xfe,
    0x00, 0x00, 0x01, 0x00, 0xff, 0x06, 0x90, 0x02, 0x03, 0x06, 0xee, 0x00, 0x00, 0x06, 0xfe, 0x00,
    0x00, 0x06, 0xff, 0x00, 0x00, 0x04, 0x9a, 0x00, 0x04, 0x99, 0x00, 0x04, 0x99, 0x00, 0x04, 0x7b,
    0x7d, 0x6b, 0x66, 0xed, 0xf0,
};

static const unsigned char packed_planes[] = {
    0xfd, 0xff, 0x0f, 0xe3, 0x0c, 0xdc, 0x01, 0x60, 0x31, 0x02, 0xb5, 0x06, 0x00, 0xd2, 0x45, 0x16,
    0x1c, 0x50, 0x6d, 0xdb, 0x50, 0x0e, 0x02, 0x57, 0x3d, 0xb6, 0x89, 0x2a, 0xaa, 0x2a, 0x88, 0x3f,
    0x7a, 0xe5, 0xaf, 0x34, 0x77, 0x76, 0x10, 0x85, 0xa5, 0xfa, 0x3b, 0xed, 0x83, 0xad, 0xd5, 0xb1,
    0xa7, 0x4a, 0x50, 0xe4, 0x69, 0x5a, 0x26, 0x4f, 0xf4, 0x80, 0x9e, 0xbb, 0x1a, 0x7d, 0x1a, 0x5a,
    0x2f, 0x66, 0x58, 0x5d, 0xe3, 0x46, 0x74, 0x6b, 0xd8, 0x4a, 0x2c, 0xe1, 0x10, 0x78, 0x2a, 0x66,
    0x86, 0x22, 0xe0, 0x27, 0x03, 0xc0, 0xb4, 0x38, 0xc9, 0x62, 0x80, 0x6a, 0x9f, 0x73, 0xc5, 0xf7,
    0x39, 0xcc, 0x81, 0x08, 0x89, 0x1a, 0x7f, 0x5e, 0x08, 0x2b, 0xa0, 0x51, 0x22, 0xba, 0x59, 0x58,
    0x5a, 0xac, 0x77, 0x40, 0x82, 0x63, 0x04, 0x33, 0x35, 0xf8, 0x8a, 0xa6, 0x51, 0x13, 0x01, 0x03,
    0x78, 0x36, 0xdf, 0x0c, 0x2b, 0x8c, 0x90, 0x3e, 0x57, 0x8e, 0x6f, 0x6c, 0xb7, 0xbf, 0x39, 0x37,
    0x13, 0x51, 0xe0, 0x14, 0x45, 0x26, 0x2f, 0xf6, 0x87, 0x00, 0x01, 0x30, 0x50, 0x78, 0xc1, 0x21,
    0xa0, 0xa1, 0x89, 0xbb, 0x13, 0xf3, 0x0a, 0xe1, 0xea, 0x06, 0x12, 0x50, 0xdc, 0x7e, 0x88, 0x53,
    0x11, 0x9d, 0x87, 0xbd, 0x40, 0xc3, 0xf7, 0x10, 0x0b, 0x00, 0xad, 0xb7, 0xf1, 0x81, 0xeb, 0x28,
    0xc0, 0x9b, 0xe2, 0x84, 0x1a, 0x7c, 0x31, 0x88, 0x96, 0x7d, 0x16, 0x67, 0xed, 0xb5, 0xa2, 0x8c,
    0xad, 0x49, 0xbe, 0x6b, 0x0b, 0x19, 0xb0, 0xaf, 0xa2, 0x22, 0x35, 0x83, 0x44, 0xbb, 0x94, 0xbd,
    0x16, 0x41, 0x03, 0x1a, 0x02, 0x03, 0xfd, 0x64, 0x07, 0x08, 0x09, 0x80, 0x01, 0x00, 0x01, 0x02,
    0x03, 0x12, 0x00, 0x00, 0x00, 0xd4, 0x02, 0x03, 0x2c, 0x02, 0xff, 0x12, 0x38, 0x80, 0x7e, 0xfe,
    0x00, 0x00, 0x01, 0x00, 0xff, 0x06, 0x90, 0x02, 0x03, 0x06, 0xee, 0x00, 0x00, 0x06, 0xfe, 0x00,
    0x00, 0x06, 0xff, 0x00, 0x00, 0x04, 0x9a, 0x00, 0x04, 0x99, 0x00, 0x04, 0x99, 0x00, 0x04, 0x7b,
    0x7d, 0x6b, 0x66, 0xed, 0xf0,
};

static void expect_first_text(const unsigned char *bytes, size_t size)
{
    size_t length = 0;
    const char *why = "";
    char *again = packed_spec_text(bytes, size, 1 << 20, &length, &why);
    ck_assert_msg(again != NULL, "%s", why);
    ck_assert_str_eq(again, first_text);
    free(again);
}

START_TEST(formats_do_not_change)
{
    expect_first_text(packed_of_text, sizeof packed_of_text);
    expect_first_text(deflated_planes, sizeof deflated_planes);
    expect_first_text(packed_planes, sizeof packed_planes);
}
END_TEST

Suite *packed_spec_suite(void)
{
    TCase *t = tcase_create("all");
    tcase_add_test(t, random_graphs);
    tcase_add_test(t, marked_lists);
    tcase_add_test(t, lists_that_are_not_packed);
    tcase_add_loop_test(t, other_texts, 0, COUNT(texts));
    tcase_add_test(t, control_characters_are_not_packed);
    tcase_add_test(t, damage);
    tcase_add_test(t, hostile_planes);
    tcase_add_test(t, formats_do_not_change);
    tcase_set_timeout(t, 100);
    return make_suite("packed_spec", t, NULL);
}
