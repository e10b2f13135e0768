/* Invalid and hostile files are rejected with an error that names the file.
 *
 *     test_hostile DIRECTORY FILE...
 *
 * The first line of each specification in DIRECTORY contains the expected error.  Corpus lines and
 * TOML files are made here.  Each FILE is truncated and damaged in many ways, and must then either
 * load or be rejected. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "specs/specs.h"

enum {
    MAX_PATH = 4096,
    SHORT = 1,
    LONG = 60
}; /* timeouts in seconds: for files that do not end, and for others */

static char scratch[64] = "/tmp/halcyon-hostile-XXXXXX";
static int failures;

static void fail(const char *path, const char *found, const char *expected)
{
    fprintf(stderr, "%s: %s\n  expected: %s\n", path, found, expected);
    failures++;
}

static int count(const struct example *e, void *user, struct why *w)
{
    (void) e;
    (void) w;
    ++*(int *) user;
    return 0;
}

static int load_with(const char *path, double timeout, unsigned threads, int *ret_examples,
                     struct why *w)
{
    const struct specs_options options = { timeout, 512u << 20, threads };

    *w = (struct why){ 0 };
    *ret_examples = 0;
    return specs_load(path, &options, count, ret_examples, w);
}

/* Loads a file; lines that threads parse ahead must give the same result. */
static int load(const char *path, double timeout, struct why *w)
{
    struct why ahead;
    int alone_n, ahead_n, result = load_with(path, timeout, 0, &alone_n, w);

    if (strstr(path, ".jsonl")) {
        int again = load_with(path, timeout, 3, &ahead_n, &ahead);
        if (again != result || ahead_n != alone_n || strcmp(ahead.text, w->text) != 0)
            fail(path, ahead.text, w->text);
    }
    return result;
}

static void check_specification(const char *directory, const char *name)
{
    static const char opening[] = "# expect: ";
    char path[MAX_PATH], expected[256] = "";
    struct why w;

    snprintf(path, sizeof path, "%s/%s", directory, name);
    FILE *from = fopen(path, "r");
    if (from && !fgets(expected, sizeof expected, from))
        *expected = '\0';
    if (from)
        fclose(from);
    expected[strcspn(expected, "\n")] = '\0';
    int timeout = strstr(expected, "not loaded within") ? SHORT : LONG;
    if (strncmp(expected, opening, strlen(opening)) != 0)
        fail(path, expected, "a first line with the expected error");
    else if (load(path, timeout, &w) == 0)
        fail(path, "loaded", expected);
    else if (!strstr(w.text, expected + strlen(opening)) ||
             strncmp(w.text, path, strlen(path)) != 0)
        fail(path, w.text, expected);
    else if (w.code != WHY_INVALID && w.code != WHY_TIMEOUT && w.code != WHY_UNSUPPORTED)
        fail(path, w.text, "WHY_INVALID, WHY_TIMEOUT or WHY_UNSUPPORTED");
}

static int is_modpy(const struct dirent *entry)
{
    return strstr(entry->d_name, ".mod.py") != NULL;
}

static void check_specifications(const char *directory)
{
    struct dirent **entry = NULL;
    int n = scandir(directory, &entry, is_modpy, alphasort);

    for (int i = 0; i < n; i++) {
        check_specification(directory, entry[i]->d_name);
        free(entry[i]);
    }
    free(entry);
    if (n <= 0)
        fail(directory, "no files", "specifications");
    if (access("/tmp/halcyon-must-not-exist", F_OK) == 0)
        fail(directory, "a specification has written a file", "none");
}

static const char *write_scratch(const char *name, const void *bytes, size_t n)
{
    static char path[MAX_PATH];
    snprintf(path, sizeof path, "%s/%s", scratch, name);
    FILE *to = fopen(path, "wb");
    if (to) {
        fwrite(bytes, 1, n, to);
        fclose(to);
    }
    return path;
}

/* A valid record; each row of the table below replaces a part of it. */
static const char pattern[] =
    "{\"name\":\"n\",\"main\":{\"operands\":[{\"type\":\"TENSOR_FLOAT32\",\"dims\":[2],"
    "\"life\":\"SUBGRAPH_INPUT\",\"data\":[1,2]},{\"type\":\"TENSOR_FLOAT32\",\"dims\":[2],"
    "\"life\":\"SUBGRAPH_OUTPUT\",\"data\":[1,2.5]}],\"operations\":[{\"op\":\"RELU\",\"in\":[0],"
    "\"out\":[1]}],\"inputs\":[0],\"outputs\":[1]}}";

static const struct {
    const char *old, *new, *error;
} lines[] = {
    { "2.5", "2.5.1", ":1: column" },
    { "2.5", "1e39", ":1: n: main.operands[1].data[1]: 9.9" },
    { "2.5", "NaN", ":1: column" },
    { "2.5", "\"x\"", "main.operands[1].data[1]: \"x\" is not a value" },
    { "2.5", "1e999", ":1: column" },
    { "[1,2.5]", "[1,2,3]", "main.operands[1]: 3 values for [2]" },
    { "[1,2.5]", "7", "main.operands[1].data: not a list" },
    { "\"data\":[1,2.5]", "\"bytes\":\"AAAA\"", "main.operands[1].bytes: 3 bytes are no whole" },
    { "\"data\":[1,2.5]", "\"bytes\":\"A?AA\"", "main.operands[1].bytes: character 1 is not" },
    { "\"data\":[1,2.5]", "\"bytes\":\"AAA\"", "base64 of 3 characters is truncated" },
    { "\"data\":[1,2.5]", "\"data\":[],\"bytes\":\"\"", "main.operands[1]: both data and bytes" },
    { "[2],\"life\":\"SUBGRAPH_INPUT\"", "[-1],\"life\":\"SUBGRAPH_INPUT\"",
      "operands[0].dims[0]" },
    { "[2],\"life\":\"SUBGRAPH_INPUT\"", "[4294967296],\"life\":\"SUBGRAPH_INPUT\"",
      "operands[0].dims[0]: not a dimension" },
    { "[2],\"life\":\"SUBGRAPH_INPUT\"", "[4294967295,65535],\"life\":\"SUBGRAPH_INPUT\"",
      "operands[0].dims: more than 2^32 bytes" },
    { "[2],\"life\":\"SUBGRAPH_INPUT\"", "[1,1,1,1,1,1,1,1,1,1,2],\"life\":\"SUBGRAPH_INPUT\"",
      "operands[0].dims: rank 11" },
    { "[2],\"life\":\"SUBGRAPH_INPUT\"", "[0,4294967295,4294967295,2],\"life\":\"SUBGRAPH_INPUT\"",
      "main.operands[0]" },
    { "TENSOR_FLOAT32", "FLOAT32", "operands[0]: FLOAT32 with dimensions" },
    { "TENSOR_FLOAT32", "TENSOR_FLOAT64", "operands[0].type: TENSOR_FLOAT64 is not" },
    { "TENSOR_FLOAT32", "TENSOR_QUANT8_ASYMM\",\"zero\":2.5,\"scale\":\"1", "operands[0].zero" },
    { "TENSOR_FLOAT32\"", "TENSOR_FLOAT32\",\"scale\":-1", "operands[0].scale: -1 is no scale" },
    { "SUBGRAPH_INPUT", "SUBGRAPH", "operands[0]: TENSOR_FLOAT32 with lifetime SUBGRAPH" },
    { "SUBGRAPH_INPUT", "CONSTANT_COPY", "main.inputs[0]: operand 0 is a CONSTANT_COPY" },
    { "SUBGRAPH_INPUT", "PARAMETER", "operands[0].life: PARAMETER is not a lifetime" },
    { "\"in\":[0]", "\"in\":[2]", "operations[0].in[0]: not the index of one of 2" },
    { "\"in\":[0]", "\"in\":[-1]", "operations[0].in[0]: not the index" },
    { "\"in\":[0]", "\"in\":[0.5]", "operations[0].in[0]: not the index" },
    { "\"inputs\":[0]", "\"inputs\":7", "main.inputs: not a list" },
    { "RELU", "RELU7", "operations[0].op: RELU7 is not an operation" },
    { "\"name\":", "\"nmae\":", "unknown member \"nmae\"" },
    { "{\"name\"", "[{\"name\"", ":1: column" },
    { "\"name\":\"n\"", "\"name\":\"n\",\"name\":\"n\"", "duplicate" },
};

static void check_line(size_t i)
{
    char text[2048];
    const char *at = strstr(pattern, lines[i].old);
    struct why w;

    snprintf(text, sizeof text, "%.*s%s%s\n", (int) (at - pattern), pattern, lines[i].new,
             at + strlen(lines[i].old));
    const char *path = write_scratch("bad.jsonl", text, strlen(text));
    if (load(path, LONG, &w) == 0)
        fail(lines[i].new, "loaded", lines[i].error);
    else if (!strstr(w.text, lines[i].error))
        fail(lines[i].new, w.text, lines[i].error);
}

static void check_lines(void)
{
    char deep[4096];
    struct why w;

    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
        check_line(i);
    memset(deep, '[', sizeof deep);
    if (load(write_scratch("deep.jsonl", deep, sizeof deep), LONG, &w) == 0 ||
        !strstr(w.text, "depth"))
        fail("deep.jsonl", w.text, "depth");
    if (load(write_scratch("good.jsonl", pattern, sizeof pattern - 1), LONG, &w) < 0)
        fail("good.jsonl", w.text, "no error");
}

/* The file must load, or be rejected with an error that begins with its path. */
static void check_damaged(const char *name, const void *bytes, size_t n)
{
    const char *path = write_scratch(name, bytes, n);
    struct why w;
    char *json = NULL;
    bool toml = strstr(name, ".toml");
    int result = toml ? specs_read_toml(path, &json, &w) : load(path, LONG, &w);

    if (result < 0 && strncmp(w.text, path, strlen(path)) != 0)
        fail(name, w.text, "the name of the file");
    free(json);
}

static void damage(const char *path, unsigned steps)
{
    static uint8_t bytes[1 << 16], copy[1 << 16];
    const char *name = strrchr(path, '/') + 1;
    FILE *from = fopen(path, "rb");
    size_t n = from ? fread(bytes, 1, sizeof bytes, from) : 0;

    if (from)
        fclose(from);
    if (n == 0)
        fail(path, "empty or unreadable", "a file");
    for (unsigned i = 0; i < steps; i++) {
        check_damaged(name, bytes, n * i / steps);
        memcpy(copy, bytes, n);
        copy[(n * i + i * 7919) / steps % n] ^= (uint8_t) (1u << i % 8);
        check_damaged(name, copy, n);
    }
}

static void check_toml(void)
{
    static const char bad[] = "a = 1\nb = [1, 2\nc = 3\n";
    static const char good[] = "a = 1\n[b]\nc = [1.5, \"x\"]\n";
    struct why w;
    char *json = NULL;

    if (specs_read_toml(write_scratch("bad.toml", bad, sizeof bad - 1), &json, &w) == 0 ||
        !strstr(w.text, "bad.toml:3:"))
        fail("bad.toml", w.text, "bad.toml:3:");
    if (specs_read_toml(write_scratch("good.toml", good, sizeof good - 1), &json, &w) < 0 ||
        strcmp(json, "{\"a\": 1, \"b\": {\"c\": [1.5, \"x\"]}}\n") != 0)
        fail("good.toml", json ? json : w.text, "its JSON");
    free(json);
}

/* Examples are passed in the order of the lines, and before the error of a later line. */
static int in_order(const struct example *e, void *user, struct why *w)
{
    (void) w;
    int *n = user;
    if (atoi(e->name) != ++*n)
        fail("order.jsonl", e->name, "the next example");
    return 0;
}

static void check_order(unsigned threads)
{
    enum { LINES = 400, BROKEN = 371 };
    const struct specs_options options = { .threads = threads };
    char *text = NULL, place[32];
    size_t length = 0;
    struct why w;
    int n = 0;
    FILE *to = open_memstream(&text, &length);

    for (int i = 1; to && i <= LINES; i++)
        fprintf(to, "{\"name\":\"%d\"%s\n\n", i, i == BROKEN ? "" : strchr(pattern, ','));
    if (!to || fclose(to) != 0)
        exit(1);
    const char *path = write_scratch("order.jsonl", text, length);
    snprintf(place, sizeof place, ":%d: column", 2 * BROKEN - 1);
    if (specs_load(path, &options, in_order, &n, &w) == 0 || n != BROKEN - 1 ||
        !strstr(w.text, place))
        fail(path, w.text, place);
    free(text);
}

int main(int argc, char **argv)
{
    char command[128];

    if (argc < 2 || !mkdtemp(scratch))
        return 1;
    check_specifications(argv[1]);
    check_lines();
    check_toml();
    for (unsigned threads = 0; threads < 5; threads++)
        check_order(threads);
    for (int i = 2; i < argc; i++)
        damage(argv[i], strstr(argv[i], ".jsonl") ? 200 : 25);
    snprintf(command, sizeof command, "rm -r %s", scratch);
    if (system(command) != 0)
        return 1;
    printf("%d failures\n", failures);
    return failures > 0;
}
