/* Seeds of fuzz_service (the messages of a client) and of fuzz_remote (the messages of a service).
 */
#include <check.h>

#include "sim/wire/wire.h"
#include "tests/fuzz/common/fuzz_packets.h"
#include "tests/fuzz/seeds/seeds.h"
#include "tests/support/extension_model.h"

enum {
    N = 2,
    SOCKET = PACKET_ONE_FD | FD_IS_SOCKET * PACKET_FD_KINDS,
    MEMORY = PACKET_ONE_FD | (FD_IS_LONG | FD_IS_SEALED) * PACKET_FD_KINDS,
    STAGING = 4096,
    QUEUE = 1024
};

/* Handles that a session assigns, in this order. */
enum { MODEL = 1, CHILD = 2 };

static struct seed seed;

/* ---- calls */

static Wire__Call call_of(Wire__Method method, uint64_t object)
{
    Wire__Call c = WIRE__CALL__INIT;

    c.method = method;
    c.object = object;
    return c;
}

static void call(Wire__Method method, uint64_t object)
{
    Wire__Call c = call_of(method, object);

    c.version = HAL_1_3;
    seed_packet(&seed, 0, &c.base);
}

/* A call that passes a descriptor; what: its flags. */
static void call_with_fd(Wire__Method method, unsigned what, uint64_t size)
{
    Wire__Call c = call_of(method, 0);

    c.fd = 1;
    c.size = size;
    seed_packet(&seed, what, &c.base);
}

static void call_with_model(Wire__Method method, enum hal_version version,
                            const struct hal_model *hal)
{
    Wire__PrepareConfig config = WIRE__PREPARE_CONFIG__INIT;
    struct arena *a = arena_new(0);
    Wire__Call c = call_of(method, 0);
    struct wire_fds fds = { 0 };
    struct why w;

    ck_assert_int_eq(wire_encode_model(hal, a, &fds, &c.model, &w), 0);
    c.version = (int32_t) version;
    c.callback = 5;
    config.preference = HAL_FAST_SINGLE_ANSWER;
    config.priority = HAL_PRIORITY_MEDIUM;
    config.deadline = HAL_NO_DEADLINE;
    c.prepare = method == WIRE__METHOD__PREPARE_MODEL ? &config : NULL;
    seed_packet(&seed, 0, &c.base);
    arena_free(a);
}

/* flags: of the descriptor that it waits for as fence, or 0. */
static void execute(Wire__Method method, enum hal_version version, uint64_t object,
                    const struct hal_request *hal, unsigned flags)
{
    static const uint64_t staged[] = { 0, 64, 128 };
    static int64_t identifiers[] = { 1, 2, -1 };
    Wire__ExecutionConfig config = WIRE__EXECUTION_CONFIG__INIT;
    struct arena *a = arena_new(0);
    Wire__Call c = call_of(method, object);
    struct wire_fds fds = { 0 };
    struct why w;

    ck_assert_int_eq(wire_encode_request(hal, staged, a, &fds, &c.request, &w), 0);
    config.deadline = HAL_NO_DEADLINE;
    config.loop_timeout = HAL_NO_TIME;
    c.version = (int32_t) version;
    c.callback = 9;
    c.execution = &config;
    c.duration = HAL_NO_TIME;
    c.n_wait_for = flags != 0;
    c.wait_for = &(uint32_t){ 1 };
    c.n_identifiers = method == WIRE__METHOD__BURST_EXECUTE ? hal->n_pools : 0;
    c.identifiers = identifiers;
    seed_packet(&seed, flags, &c.base);
    arena_free(a);
}

/* Opens the events, prepares a model, sets the staging memory. */
static void begin_prepared(enum hal_version version, const struct hal_model *hal)
{
    seed_begin(&seed);
    call_with_fd(WIRE__METHOD__OPEN_EVENTS, SOCKET, 0);
    call_with_model(WIRE__METHOD__GET_SUPPORTED_OPERATIONS, version, hal);
    call_with_model(WIRE__METHOD__PREPARE_MODEL, version, hal);
    call_with_fd(WIRE__METHOD__SET_STAGING, MEMORY, STAGING);
}

static void write_service(const char *name)
{
    seed_write(&seed, "fuzz_service", name);
}

/* ---- sessions with an ADD model */

static void executions(const struct client_model *m, const struct hal_request *r)
{
    begin_prepared(HAL_1_3, &m->hal);
    execute(WIRE__METHOD__EXECUTE_SYNCHRONOUSLY, HAL_1_3, MODEL, r, 0);
    execute(WIRE__METHOD__EXECUTE, HAL_1_3, MODEL, r, 0);
    execute(WIRE__METHOD__EXECUTE_FENCED, HAL_1_3, MODEL, r, MEMORY);
    call(WIRE__METHOD__GET_EXECUTION_INFO, CHILD);
    call(WIRE__METHOD__RELEASE, MODEL);
    write_service("executions");
}

static void bursts(const struct client_model *m, const struct hal_request *r, uint32_t queue)
{
    Wire__Call c = call_of(WIRE__METHOD__CONFIGURE_BURST, MODEL);

    begin_prepared(HAL_1_3, &m->hal);
    c.version = HAL_1_3;
    c.request_length = queue;
    c.result_length = queue / 128;
    seed_packet(&seed, 0, &c.base);
    execute(WIRE__METHOD__BURST_EXECUTE, HAL_1_3, CHILD, r, 0);
    c = call_of(WIRE__METHOD__BURST_RELEASE_MEMORY, CHILD);
    c.identifier = 2;
    seed_packet(&seed, 0, &c.base);
    call(WIRE__METHOD__RELEASE, CHILD);
    write_service(queue ? "burst_queues" : "burst");
}

static void reusable(const struct client_model *m, const struct hal_request *r)
{
    Wire__Call c = call_of(WIRE__METHOD__REUSABLE_EXECUTE, CHILD);

    begin_prepared(HAL_FL8, &m->hal);
    execute(WIRE__METHOD__CREATE_REUSABLE_EXECUTION, HAL_FL8, MODEL, r, 0);
    c.execution = &(Wire__ExecutionConfig) WIRE__EXECUTION_CONFIG__INIT;
    c.execution->deadline = HAL_NO_DEADLINE;
    seed_packet(&seed, 0, &c.base);
    c.method = WIRE__METHOD__REUSABLE_EXECUTE_FENCED;
    c.duration = HAL_NO_TIME;
    seed_packet(&seed, 0, &c.base);
    write_service("reusable");
}

static void buffers(const struct client_model *m)
{
    Wire__Call c = call_of(WIRE__METHOD__ALLOCATE, 0);
    Wire__BufferRole role = WIRE__BUFFER_ROLE__INIT, *roles[] = { &role };
    Wire__BufferDesc desc = WIRE__BUFFER_DESC__INIT;
    Wire__Memory memory = WIRE__MEMORY__INIT;

    begin_prepared(HAL_1_3, &m->hal);
    role.probability = 1;
    c.n_models = c.n_input_roles = 1;
    c.models = &(uint64_t){ MODEL };
    c.input_roles = roles;
    c.desc = &desc;
    seed_packet(&seed, 0, &c.base);
    memory.protection = HAL_MEMORY_READ | HAL_MEMORY_WRITE;
    memory.size = N * sizeof(float);
    for (Wire__Method k = WIRE__METHOD__COPY_FROM; k >= WIRE__METHOD__COPY_TO; k--) {
        c = call_of(k, CHILD);
        c.memory = &memory;
        seed_packet(&seed, 0, &c.base);
    }
    write_service("buffer");
}

static void queries(void)
{
    Wire__Call c = call_of(WIRE__METHOD__GET_INFO, 0);

    seed_begin(&seed);
    call_with_fd(WIRE__METHOD__OPEN_CHANNEL, SOCKET, 0);
    call(WIRE__METHOD__GET_INFO, 0);
    call(WIRE__METHOD__GET_STATUS, 0);
    call(WIRE__METHOD__GET_CAPABILITIES, 0);
    write_service("queries");
    seed_begin(&seed);
    seed_packet(&seed, PACKET_CLAIMS_MORE_BYTES | MEMORY, &c.base);
    write_service("claims_more_bytes");
    seed_begin(&seed);
    seed_packet(&seed, PACKET_CLAIMS_MORE_FDS, &c.base);
    write_service("claims_more_descriptors");
}

static void from_cache(void)
{
    Wire__Call c = call_of(WIRE__METHOD__PREPARE_MODEL_FROM_CACHE, 0);
    uint8_t token[HAL_TOKEN_BYTES] = { 0 };
    Wire__PrepareConfig config = WIRE__PREPARE_CONFIG__INIT;

    seed_begin(&seed);
    call_with_fd(WIRE__METHOD__OPEN_EVENTS, SOCKET, 0);
    config.preference = HAL_FAST_SINGLE_ANSWER;
    config.deadline = HAL_NO_DEADLINE;
    config.n_model_cache = config.n_data_cache = 1;
    config.model_cache = config.data_cache = &(uint32_t){ 1 };
    config.token = (ProtobufCBinaryData){ sizeof token, token };
    c.version = HAL_1_3;
    c.callback = 5;
    c.prepare = &config;
    seed_packet(&seed, MEMORY, &c.base);
    write_service("from_cache");
}

/* ---- extensions: a valid model, and invalid ones */

static void extensions(void)
{
    static const struct hal_extension_prefix named[] = {
        { "org.halcyon.example.fibonacci", EXTENSION_PREFIX }, { "com.x", EXTENSION_PREFIX }
    };
    static const struct {
        const char *name;
        uint32_t at, n; /* range of `named` */
        uint32_t bytes; /* attached to an operand */
    } variants[] = { { "extension", 0, 1, sizeof(struct extension_scale) },
                     { "extension_unnamed", 0, 0, sizeof(struct extension_scale) },
                     { "extension_named_twice", 0, 2, sizeof(struct extension_scale) },
                     { "extension_elsewhere", 1, 1, sizeof(struct extension_scale) },
                     { "extension_short", 0, 1, 5 } };
    struct extension_request r;
    struct client_model m;

    extension_model_plain(&m, (struct extension_scale){ 0.5, 3 });
    extension_request_fill(&r, 1, 7 * sizeof(int64_t));
    for (int i = 0; i < COUNT(variants); i++) {
        struct hal_model h = m.hal;
        struct hal_operand operands[] = { h.main.operands[FIBONACCI_N],
                                          h.main.operands[FIBONACCI_OUT] };
        ck_assert_uint_eq(h.main.n_operands, COUNT(operands));
        operands[FIBONACCI_OUT].extension_length = variants[i].bytes;
        h.main.operands = operands;
        h.n_extension_prefixes = variants[i].n;
        h.extension_name_to_prefix = named + variants[i].at;
        begin_prepared(HAL_1_3, &h);
        execute(WIRE__METHOD__EXECUTE_SYNCHRONOUSLY, HAL_1_3, MODEL, &r.hal, 0);
        write_service(variants[i].name);
    }
    client_done(&m);
}

void seeds_of_services(void)
{
    struct client_request r;
    struct client_model m;

    client_add_model(&m, N, false);
    client_fill(&r, N);
    executions(&m, &r.hal);
    bursts(&m, &r.hal, 0);
    bursts(&m, &r.hal, QUEUE);
    reusable(&m, &r.hal);
    buffers(&m);
    queries();
    from_cache();
    extensions();
    client_done(&m);
}

/* ---- replies and events for the calls of fuzz_remote.c, in their order */

static void reply(unsigned flags, uint64_t object)
{
    Wire__Reply r = WIRE__REPLY__INIT;

    r.object = object;
    seed_packet(&seed, flags, &r.base);
}

static void reply_status(int32_t status)
{
    Wire__Reply r = WIRE__REPLY__INIT;

    r.status = status;
    seed_packet(&seed, 0, &r.base);
}

/* Three shapes, all the same. */
static Wire__OutputShape **shapes(void)
{
    static uint32_t four = 4;
    static Wire__OutputShape shape = WIRE__OUTPUT_SHAPE__INIT, *list[] = { &shape, &shape, &shape };

    shape.n_dims = 1;
    shape.dims = &four;
    shape.is_sufficient = true;
    return list;
}

static Wire__Timing *timing(void)
{
    static Wire__Timing t = WIRE__TIMING__INIT;

    t.on_device = 5;
    t.in_driver = 6;
    return &t;
}

static void reply_result(uint32_t n_shapes)
{
    Wire__Reply r = WIRE__REPLY__INIT;

    r.n_shapes = n_shapes;
    r.shapes = shapes();
    r.timing = timing();
    seed_packet(&seed, 0, &r.base);
}

static void prepared(uint64_t object)
{
    Wire__Event e = WIRE__EVENT__INIT;

    e.callback = 1;
    e.object = object;
    seed_packet(&seed, PACKET_IS_EVENT, &e.base);
}

static void executed(void)
{
    Wire__Event e = WIRE__EVENT__INIT;

    e.callback = 2;
    e.n_shapes = 1;
    e.shapes = shapes();
    e.timing = timing();
    seed_packet(&seed, PACKET_IS_EVENT, &e.base);
}

/* Replies until a model is prepared and was executed once. */
static void begin_replies(int times_prepared, uint32_t n_shapes)
{
    Wire__Capabilities capabilities = WIRE__CAPABILITIES__INIT;
    Wire__Performance p = WIRE__PERFORMANCE__INIT;
    Wire__OperandPerformance row = WIRE__OPERAND_PERFORMANCE__INIT, *rows[] = { &row };
    Wire__Reply r = WIRE__REPLY__INIT;
    const uint8_t introduces_itself = 1;

    seed_begin(&seed);
    seed_put(&seed, &introduces_itself, 1);
    p.exec_time = p.power_usage = 1;
    row.info = &p;
    capabilities.relaxed_scalar = capabilities.relaxed_tensor = &p;
    capabilities.n_operands = 1;
    capabilities.operands = rows;
    r.capabilities = &capabilities;
    seed_packet(&seed, 0, &r.base);
    r.capabilities = NULL;
    r.n_supported = 1;
    r.supported = &(protobuf_c_boolean){ true };
    seed_packet(&seed, 0, &r.base);
    for (int i = 0; i < times_prepared; i++)
        prepared(9);
    reply(0, 0);
    reply(0, 0); /* to the staging memory */
    reply_result(n_shapes);
}

static void burst(uint32_t request, uint32_t result)
{
    Wire__Queues queues = WIRE__QUEUES__INIT;
    Wire__Reply r = WIRE__REPLY__INIT;

    executed();
    reply(0, 0);
    queues.request = request;
    queues.result = result;
    queues.socket = 1;
    r.object = 3;
    r.queues = request || result ? &queues : NULL;
    seed_packet(&seed, PACKET_HAS_FD, &r.base);
    reply_result(1);
    reply(0, 0); /* release of memory and burst */
    reply(0, 0);
}

/* Replies to a reusable execution, a fenced one, and a buffer. */
static void reply_to_rest(void)
{
    Wire__Reply r = WIRE__REPLY__INIT;

    reply(0, 4);
    reply_result(1);
    reply(0, 0);
    r.fd = 1;
    r.info_object = 5;
    seed_packet(&seed, PACKET_HAS_FD, &r.base);
    reply_result(0);
    reply(0, 0);
    r = (Wire__Reply) WIRE__REPLY__INIT;
    r.object = 6;
    r.token = 1;
    seed_packet(&seed, 0, &r.base);
    reply(0, 0);
    reply(0, 0);
}

void seeds_of_clients(void)
{
    static const struct {
        const char *name;
        uint32_t request, result;
    } queues[] = { { "whole", 0, 0 }, { "queues_are_one", 1, 1 }, { "queues_are_none", 0, 9 } };
    Wire__Reply unknown_version = WIRE__REPLY__INIT;
    Wire__DriverInfo info = WIRE__DRIVER_INFO__INIT;

    for (int i = 0; i < COUNT(queues); i++) {
        begin_replies(1, 1);
        burst(queues[i].request, queues[i].result);
        reply_to_rest();
        seed_write(&seed, "fuzz_remote", queues[i].name);
    }
    begin_replies(1, 1);
    seed_write(&seed, "fuzz_remote", "dies");
    begin_replies(1, 3);
    seed_write(&seed, "fuzz_remote", "too_many_shapes");
    begin_replies(2, 1);
    seed_write(&seed, "fuzz_remote", "called_back_twice");
    seed_begin(&seed);
    seed_put(&seed, &(uint8_t){ 1 }, 1);
    reply_status(77);
    seed_write(&seed, "fuzz_remote", "invalid_status");
    seed_begin(&seed);
    seed_put(&seed, &(uint8_t){ 0 }, 1);
    info.abi_version = HAL_ABI_VERSION;
    info.hal_version = 99;
    unknown_version.info = &info;
    seed_packet(&seed, 0, &unknown_version.base);
    seed_write(&seed, "fuzz_remote", "unknown_version");
}
