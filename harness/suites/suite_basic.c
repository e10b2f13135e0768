/* The status, capabilities and description of a driver, and a cyclic model, which it must reject.
 */
#include <pthread.h>
#include <string.h>

#include "golden/base/text_escape.h"
#include "harness/conform/conform_models.h"
#include "harness/conform/conform_threads.h"
#include "sim/client/hal_calls.h"
#include "sim/hal/convert.h"

static void created(struct conform *c, const void *data)
{
    (void) data;
    EXPECT(c, c->driver->hal_version >= c->version, "the driver has HAL version %d",
           (int) c->driver->hal_version);
    EXPECT(c, c->driver->get_status(c->driver) <= HAL_DEVICE_UNKNOWN,
           "get_status returns no defined status");
}

static void expect_available(struct conform *c, const char *when)
{
    enum hal_device_status s = c->driver->get_status(c->driver);

    EXPECT(c, s == HAL_DEVICE_AVAILABLE, "get_status %s: %d, expected HAL_DEVICE_AVAILABLE", when,
           (int) s);
}

/* A request or a model that is rejected does not change it. */
static void available(struct conform *c, const void *data)
{
    const struct hal_execution_config config = client_config();
    struct hal_model invalid;
    struct conform_subject s;

    (void) data;
    expect_available(c, "of a driver that was opened");
    if (conform_subject_open(c, conform_relu(c), &s)) {
        const struct conform_kind *kind = &conform_kinds[c->version < HAL_1_2];
        kind->run(s.prepared, c->version, &s.request, &config);
        expect_available(c, "after an execution");
        s.request.hal.n_outputs = 0;
        kind->run(s.prepared, c->version, &s.request, &config);
        expect_available(c, "after a request that was rejected");
        invalid = s.model.hal;
        invalid.main.n_outputs = 0;
        conform_prepare(c, c->version, &invalid, &client_default_preparation);
        expect_available(c, "after a model that was rejected");
    }
    conform_subject_close(&s);
}

/* ---- capabilities */

static void expect_above_0(struct conform *c, struct hal_performance p, const char *what)
{
    EXPECT(c, p.exec_time > 0 && p.power_usage > 0,
           "%s: execution time %g, power usage %g, expected above 0", what, (double) p.exec_time,
           (double) p.power_usage);
}

static bool get_capabilities(struct conform *c, enum hal_version entry,
                             struct hal_capabilities *ret)
{
    if (!conform_has_entry(c, entry)) {
        conform_not_applicable(c, "the driver has no entry points of HAL %s",
                               hal_version_name(entry));
        return false;
    }
    enum hal_status s = c->driver->get_capabilities(c->driver, entry, ret);
    return EXPECT(c, s == HAL_NONE, "get_capabilities of HAL %s: %s, expected NONE",
                  hal_version_name(entry), hal_status_name(s));
}

static void expect_operand(struct conform *c, const struct hal_capabilities *caps, int32_t type)
{
    bool found = false;

    for (uint32_t i = 0; i < caps->n_operands; i++)
        if (caps->operand[i].type == type) {
            found = true;
            expect_above_0(c, caps->operand[i].info, dtype_info[type].name);
        }
    EXPECT(c, found, "get_capabilities of HAL 1.0 and 1.1 has no performance of %s",
           dtype_info[type].name);
}

/* The members that HAL 1.0 has. */
static void capabilities_1_0(struct conform *c, const void *data)
{
    struct hal_capabilities caps;

    (void) data;
    if (!get_capabilities(c, HAL_1_0, &caps))
        return;
    expect_operand(c, &caps, DT_F32);
    expect_operand(c, &caps, DT_U8);
}

static void capabilities_1_1(struct conform *c, const void *data)
{
    struct hal_capabilities caps;

    (void) data;
    if (!get_capabilities(c, HAL_1_1, &caps))
        return;
    expect_operand(c, &caps, DT_F32);
    expect_operand(c, &caps, DT_U8);
    expect_above_0(c, caps.relaxed_tensor, "relaxed float");
}

static void expect_operands(struct conform *c, const struct hal_capabilities *caps)
{
    EXPECT(c, caps->n_operands > 0, "no performance of any operand type");
    for (uint32_t i = 0; i < caps->n_operands; i++) {
        int32_t type = caps->operand[i].type;
        expect_above_0(c, caps->operand[i].info, "an operand type");
        EXPECT(c, !i || caps->operand[i - 1].type < type, "operand type %d is out of order", type);
        EXPECT(c, type != DT_MODEL, "SUBGRAPH has a performance");
    }
}

static void capabilities_1_2(struct conform *c, const void *data)
{
    struct hal_capabilities caps;

    (void) data;
    if (!get_capabilities(c, HAL_1_2, &caps))
        return;
    expect_above_0(c, caps.relaxed_scalar, "a relaxed scalar");
    expect_above_0(c, caps.relaxed_tensor, "a relaxed tensor");
    expect_operands(c, &caps);
}

static void capabilities_1_3(struct conform *c, const void *data)
{
    struct hal_capabilities caps;

    (void) data;
    for (int v = 3; v < HAL_VERSIONS; v++) {
        if (!conform_has_entry(c, hal_versions[v]) || !get_capabilities(c, hal_versions[v], &caps))
            continue;
        expect_above_0(c, caps.relaxed_scalar, "a relaxed scalar");
        expect_above_0(c, caps.relaxed_tensor, "a relaxed tensor");
        expect_above_0(c, caps.if_performance, "IF");
        expect_above_0(c, caps.while_performance, "WHILE");
        expect_operands(c, &caps);
    }
}

/* ---- names, types, files */

static bool is_printable(const char *text)
{
    bool ok = *text != 0;
    uint32_t code;

    for (size_t n = 0; ok && *text; text += n) {
        n = text_utf8(text, &code);
        ok = n && code >= ' ' && code != 0x7f;
    }
    return ok;
}

static void version_string(struct conform *c, const void *data)
{
    const char *text = NULL;

    (void) data;
    EXPECT_STATUS(c, c->driver->get_version_string(c->driver, &text), HAL_NONE, "version string");
    EXPECT(c, text && is_printable(text), "the version string is %s",
           text && *text ? "not printable" : "empty");
}

/* The reason for a failure, in a buffer of this size and of a smaller one. */
static void failure_text(struct conform *c, const void *data)
{
    static const size_t sizes[] = { HAL_TEXT_BYTES, 16, 1 };
    struct hal_driver *d = c->driver;
    struct hal_capabilities caps;
    char text[HAL_TEXT_BYTES + 1];

    (void) data;
    if (!d->get_failure_text) {
        conform_not_applicable(c, "the driver gives no reasons for failures");
        return;
    }
    for (int i = 0; i < COUNT(sizes); i++) {
        memset(text, 0x7e, sizeof text);
        enum hal_status s = d->get_capabilities(d, (enum hal_version) 9, &caps);
        d->get_failure_text(d, text, sizes[i]);
        bool ends = memchr(text, 0, sizes[i]) != NULL;
        EXPECT(c, s != HAL_NONE && ends && text[sizes[i]] == 0x7e && (!*text || is_printable(text)),
               "get_failure_text of %zu bytes, after get_capabilities of an unknown version: %s",
               sizes[i],
               !ends                    ? "no NUL"
               : text[sizes[i]] != 0x7e ? "more bytes are written"
                                        : "not printable");
    }
}

/* ---- reasons of failures on several threads: two calls that fail differently */

enum { FAILING_THREADS = 4, FAILING_TURNS = 40 };
typedef char failing_text[HAL_TEXT_BYTES];

/* False: the call succeeds, after which there is no reason. */
static bool fail_and_ask(struct hal_driver *d, unsigned which, failing_text ret)
{
    struct hal_capabilities caps;
    struct hal_model empty = { 0 };
    bool supported[1];
    uint32_t n;

    enum hal_status s = which % 2
                            ? d->get_capabilities(d, (enum hal_version) 9, &caps)
                            : d->get_supported_operations(d, d->hal_version, &empty, supported, &n);
    ret[0] = 0;
    if (s != HAL_NONE)
        d->get_failure_text(d, ret, sizeof(failing_text));
    return s != HAL_NONE;
}

struct failing {
    failing_text expected[2]; /* of each call, when it is the only one of its thread */
    unsigned first;           /* the one that is being asked for; 2: none */
    unsigned n_failing;       /* of the two calls */
    pthread_barrier_t barrier;
};

static bool is_differing(const struct failing *f)
{
    return strcmp(f->expected[0], f->expected[1]) != 0;
}

static void fail_on_thread(struct conform *c, unsigned index, void *user)
{
    struct failing *f = user;
    failing_text text;

    if (f->first < 2) {
        f->n_failing += fail_and_ask(c->driver, f->first, f->expected[f->first]);
        return;
    }
    for (unsigned i = 0; i < FAILING_TURNS; i++) {
        unsigned which = index + i / 2;
        pthread_barrier_wait(&f->barrier);
        fail_and_ask(c->driver, which, text);
        EXPECT(c, !is_differing(f) || strcmp(text, f->expected[(which + 1) % 2]) != 0,
               "get_failure_text of a thread: '%.80s', the reason of another thread's failure; "
               "expected such as '%.80s'",
               text, f->expected[which % 2]);
    }
}

static void texts_of_threads(struct conform *c, const void *data)
{
    static struct failing f; /* static: threads of a driver that hangs */

    (void) data;
    if (!c->driver->get_failure_text) {
        conform_not_applicable(c, "the driver gives no reasons for failures");
        return;
    }
    memset(&f, 0, sizeof f);
    for (; f.first < 2; f.first++)
        conform_in_threads(c, 1, fail_on_thread, &f);
    if (f.n_failing < 2) {
        conform_not_applicable(c, "an empty model is accepted, or an unknown version");
        return;
    }
    pthread_barrier_init(&f.barrier, NULL, FAILING_THREADS);
    conform_in_threads(c, FAILING_THREADS, fail_on_thread, &f);
    pthread_barrier_destroy(&f.barrier);
}

static void device_type(struct conform *c, const void *data)
{
    enum hal_device_type type = (enum hal_device_type) 0;

    (void) data;
    EXPECT_STATUS(c, c->driver->get_type(c->driver, &type), HAL_NONE, "type");
    EXPECT(c, type >= HAL_DEVICE_OTHER && type <= HAL_DEVICE_ACCELERATOR, "device type %d",
           (int) type);
}

static void device_name(struct conform *c, const void *data)
{
    const char *name = c->driver->name, *dash = strchr(name, '-');

    (void) data;
    EXPECT(c, dash && dash != name && dash[1] && !strchr(dash + 1, '-'),
           "the driver's name is \"%s\", expected one such as \"vendor-device\"", name);
}

static void extensions(struct conform *c, const void *data)
{
    static const char legal[] = "abcdefghijklmnopqrstuvwxyz0123456789_.";
    const struct hal_extension *e = NULL;
    uint32_t n = 0;

    (void) data;
    enum hal_status s = c->driver->get_supported_extensions
                            ? c->driver->get_supported_extensions(c->driver, &n, &e)
                            : HAL_NONE;
    EXPECT_STATUS(c, s, HAL_NONE, "extensions");
    for (uint32_t i = 0; i < n; i++) {
        EXPECT(c, strspn(e[i].name, legal) == strlen(e[i].name) && strchr(e[i].name, '.'),
               "extension name \"%s\"", e[i].name);
        for (uint32_t k = 0; k < e[i].n_types; k++)
            EXPECT(c, e[i].type[k].byte_size > 0, "type %u of %s has byte size 0",
                   e[i].type[k].type, e[i].name);
    }
}

static void cache_files(struct conform *c, const void *data)
{
    uint32_t n_model = 99, n_data = 99;
    enum hal_status s;

    (void) data;
    if (!conform_cache_files_needed(c, &n_model, &n_data, &s))
        return;
    EXPECT_STATUS(c, s, HAL_NONE, "get_number_of_cache_files_needed");
    EXPECT(c, n_model <= HAL_MAX_CACHE_FILES && n_data <= HAL_MAX_CACHE_FILES,
           "%u model and %u data cache files", n_model, n_data);
}

/* ---- a cycle: a = x + c, b = a + y, c = b + y; c is the output */

static void cycle_model(struct build *m, struct hal_model *ret_hal)
{
    struct why w;

    build_init(m, 1);
    uint32_t x = build_operand(m, LIFE_INPUT, DT_F32, DIMS(4));
    uint32_t y = build_operand(m, LIFE_INPUT, DT_F32, DIMS(4));
    uint32_t a = build_operand(m, LIFE_TEMPORARY, DT_F32, DIMS(4));
    uint32_t b = build_operand(m, LIFE_TEMPORARY, DT_F32, DIMS(4));
    uint32_t c = build_operand(m, LIFE_OUTPUT, DT_F32, DIMS(4));
    uint32_t act = build_int(m, 0);
    OPERATION(m, "ADD", IDS(x, c, act), IDS(a));
    OPERATION(m, "ADD", IDS(a, y, act), IDS(b));
    OPERATION(m, "ADD", IDS(b, y, act), IDS(c));
    model_count_consumers(&m->model);
    MUST(convert_to_hal(&m->model, m->arena, ret_hal, &w) == 0);
}

/* Through the entry points of all versions that the driver has. */
static void cycle(struct conform *c, const void *data)
{
    struct hal_model hal;
    struct build m;

    (void) data;
    cycle_model(&m, &hal);
    for (int v = 0; v < HAL_VERSIONS; v++) {
        bool supported[3];
        if (!conform_has_entry(c, hal_versions[v]))
            continue;
        uint32_t n = 99;
        enum hal_status s =
            c->driver->get_supported_operations(c->driver, hal_versions[v], &hal, supported, &n);
        EXPECT_STATUS(c, s, HAL_INVALID_ARGUMENT, "get_supported_operations");
        struct conform_prepared p =
            conform_prepare(c, hal_versions[v], &hal, &client_default_preparation);
        EXPECT(c, p.launched != HAL_NONE && p.status != HAL_NONE && !p.model,
               "entry point %s: prepare_model: %s, callback: %s", hal_version_names[v],
               hal_status_name(p.launched), hal_status_name(p.status));
    }
    build_done(&m);
}

static const struct conform_rule rules_of_file[] = {
    { "basic", "B1", HAL_1_0, 0,
      "the driver opens, with the HAL version asked for and a defined status", created },
    { "basic", "B2", HAL_1_0, 0,
      "get_status reports HAL_DEVICE_AVAILABLE, also after calls that were rejected", available },
    { "basic", "B3", HAL_1_0, 0,
      "capabilities at HAL 1.0: time and power of float32 and quant8 tensors are above 0",
      capabilities_1_0 },
    { "basic", "B4", HAL_1_1, 0, "capabilities at HAL 1.1: as B3, and relaxed float32 is above 0",
      capabilities_1_1 },
    { "basic", "B5", HAL_1_2, 0,
      "capabilities at HAL 1.2: operand types in ascending order, every performance above 0",
      capabilities_1_2 },
    { "basic", "B6", HAL_1_3, 0,
      "capabilities since HAL 1.3: as B5, IF and WHILE above 0, no entry for SUBGRAPH",
      capabilities_1_3 },
    { "basic", "B7", HAL_1_2, 0, "the version string is printable, not empty", version_string },
    { "basic", "B8", HAL_1_2, 0, "the device type is OTHER, CPU, GPU or ACCELERATOR", device_type },
    { "basic", "B9", HAL_1_2, HAL_1_3,
      "the driver's name contains exactly one '-', neither first nor last", device_name },
    { "basic", "B10", HAL_1_2, 0,
      "extension names consist of a-z, 0-9, '_' and '.', with at least one '.'", extensions },
    { "basic", "B11", HAL_1_2, 0, "at most 32 model cache files and 32 data cache files are needed",
      cache_files },
    { "basic", "B12", HAL_1_0, 0, "a model with a cyclic data flow is rejected", cycle },
    { "basic", "B13", HAL_1_0, 0,
      "reasons for failures are printable UTF-8, and end within their buffer", failure_text },
    { "basic", "B14", HAL_1_0, 0, "each thread gets the reason of its own last failure",
      texts_of_threads },
};
const struct conform_rules conform_rules_basic = { rules_of_file, COUNT(rules_of_file), NULL,
                                                   NULL };
