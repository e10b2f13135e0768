#include "sim/wire/burst_packet.h"

#include <string.h>

atomic_uint burst_packet_faults;

bool burst_packet_has_fault(enum burst_packet_fault f)
{
    return (atomic_load_explicit(&burst_packet_faults, memory_order_relaxed) & f) != 0;
}

/* ---- writing requests */

struct writer {
    struct request_datum *at;
    uint32_t left;
    bool is_full;
};

/* Appends a datum, zero except for its tag; a scratch datum if the buffer is full. */
static struct request_datum *put(struct writer *w, enum request_tag tag)
{
    static _Thread_local struct request_datum spare;
    struct request_datum *d = w->left ? w->at++ : &spare;

    w->is_full |= !w->left;
    w->left -= w->left > 0;
    memset(d, 0, sizeof(*d));
    d->tag = tag;
    return d;
}

static void put_arguments(struct writer *w, uint32_t n, const struct hal_argument *a,
                          enum request_tag tag, enum request_tag dimension)
{
    for (uint32_t i = 0; i < n && !w->is_full; i++) {
        struct request_datum *d = put(w, tag);
        d->of.operand.has_no_value = a[i].has_no_value;
        d->of.operand.pool = a[i].location.pool;
        d->of.operand.offset = a[i].location.offset;
        d->of.operand.length = a[i].location.length;
        d->of.operand.padding = a[i].location.padding;
        d->of.operand.n_dims = a[i].n_dims;
        for (uint32_t k = 0; k < a[i].n_dims && !w->is_full; k++)
            put(w, dimension)->of.dimension = a[i].dims[k];
    }
}

static bool has_padding(uint32_t n, const struct hal_argument *a)
{
    for (uint32_t i = 0; i < n; i++)
        if (a[i].location.padding)
            return true;
    return false;
}

/* Whether the request is representable in packets of HAL 1.2. */
static bool fits_hal_1_2(const struct burst_packet_request *r)
{
    for (uint32_t i = 0; i < r->n_pools; i++)
        if (r->pools[i].kind != REQUEST_POOL)
            return false;
    return r->config.deadline == HAL_NO_DEADLINE && r->config.loop_timeout == HAL_NO_TIME &&
           !has_padding(r->n_inputs, r->inputs) && !has_padding(r->n_outputs, r->outputs);
}

int burst_packet_put_request(const struct burst_packet_request *r, enum hal_version version,
                             struct request_datum *datums, uint32_t most, uint32_t *ret_n)
{
    struct writer w = { datums, most, false };
    struct request_datum *d = put(&w, REQUEST_PACKET);

    if (r->config.n_hints || r->config.n_extension_prefixes ||
        (version < HAL_FL5 && !fits_hal_1_2(r)))
        return -1;
    put_arguments(&w, r->n_inputs, r->inputs, REQUEST_INPUT, REQUEST_INPUT_DIMENSION);
    put_arguments(&w, r->n_outputs, r->outputs, REQUEST_OUTPUT, REQUEST_OUTPUT_DIMENSION);
    for (uint32_t i = 0; i < r->n_pools && !w.is_full; i++) {
        struct request_datum *pool = put(&w, r->pools[i].kind);
        if (r->pools[i].kind == REQUEST_TOKEN)
            pool->of.token = r->pools[i].token;
        else
            pool->of.slot = r->pools[i].slot;
    }
    put(&w, REQUEST_MEASURE)->of.measure = r->config.measure;
    if (r->config.deadline != HAL_NO_DEADLINE)
        put(&w, REQUEST_DEADLINE)->of.ns = r->config.deadline;
    if (r->config.loop_timeout != HAL_NO_TIME)
        put(&w, REQUEST_LOOP_TIMEOUT)->of.ns = r->config.loop_timeout;
    if (w.is_full)
        return -1;
    d->of.packet.size = most - w.left;
    d->of.packet.n_inputs = r->n_inputs;
    d->of.packet.n_outputs = r->n_outputs;
    d->of.packet.n_pools = r->n_pools;
    *ret_n = most - w.left;
    return 0;
}

/* ---- reading requests */

struct reader {
    const struct request_datum *at;
    uint32_t left;
    enum hal_version version;
    struct arena *arena;
    struct why *w;
    const struct request_datum *early; /* of a fault: REQUEST_MEASURE among the pools */
};

static bool is_next(const struct reader *t, enum request_tag tag)
{
    const uint32_t bits = burst_packet_has_fault(PACKET_FAULT_TAG_BITS) ? UINT8_MAX : UINT32_MAX;

    return t->left && (t->at->tag & bits) == tag;
}

static bool has_later_data(const struct reader *t)
{
    return t->version >= HAL_FL5 || burst_packet_has_fault(PACKET_FAULT_LATER);
}

/* The next datum; NULL, with the reason: it has another tag, or there is none. */
static const struct request_datum *take(struct reader *t, enum request_tag tag)
{
    if (!is_next(t, tag) && !(t->left && burst_packet_has_fault(PACKET_FAULT_TAGS))) {
        if (t->left)
            why_fail(t->w, WHY_INVALID, "datum with tag %u, expected %d", t->at->tag, (int) tag);
        else
            why_fail(t->w, WHY_INVALID, "packet ends before a datum with tag %d", (int) tag);
        return NULL;
    }
    t->left--;
    return t->at++;
}

static int take_argument(struct reader *t, enum request_tag tag, enum request_tag dimension,
                         struct hal_argument *ret)
{
    const struct request_datum *d = take(t, tag);

    if (!d)
        return -1;
    REQUIRE(t->w, d->of.operand.has_no_value <= 1 || burst_packet_has_fault(PACKET_FAULT_FLAGS),
            "has_no_value is %u, expected 0 or 1", d->of.operand.has_no_value);
    REQUIRE(t->w, has_later_data(t) || !d->of.operand.padding,
            "padding, which needs feature level 5");
    *ret = (struct hal_argument){
        .has_no_value = d->of.operand.has_no_value,
        .location = { d->of.operand.pool, d->of.operand.offset, d->of.operand.length,
                      d->of.operand.padding },
        .n_dims = d->of.operand.n_dims,
    };
    if (!ret->n_dims)
        return 0;
    REQUIRE(t->w, ret->n_dims <= t->left, "%u dimensions, %u datums left", ret->n_dims, t->left);
    uint32_t *dims = arena_alloc(t->arena, ret->n_dims, sizeof(*dims));
    if (!dims)
        return why_no_memory(t->w);
    for (uint32_t i = 0; i < ret->n_dims; i++) {
        d = take(t, dimension);
        if (!d)
            return -1;
        dims[i] = d->of.dimension;
    }
    ret->dims = dims;
    return 0;
}

static int take_arguments(struct reader *t, uint32_t n, enum request_tag tag,
                          enum request_tag dimension, const struct hal_argument **ret)
{
    struct hal_argument *a;

    REQUIRE(t->w, n <= t->left, "%u operands, %u datums left", n, t->left);
    a = arena_alloc(t->arena, n, sizeof(*a));
    if (!a)
        return why_no_memory(t->w);
    for (uint32_t i = 0; i < n; i++)
        TRY(take_argument(t, tag, dimension, &a[i]));
    *ret = a;
    return 0;
}

static int take_pools(struct reader *t, uint32_t n, const struct burst_packet_pool **ret)
{
    struct burst_packet_pool *p;

    REQUIRE(t->w, n <= t->left || burst_packet_has_fault(PACKET_FAULT_CUT),
            "%u pools, %u datums left", n, t->left);
    p = arena_alloc(t->arena, n, sizeof(*p));
    if (!p)
        return why_no_memory(t->w);
    for (uint32_t i = 0; i < n; i++) {
        p[i] = (struct burst_packet_pool){ .kind = REQUEST_POOL, .slot = (int32_t) i };
        if (!t->left && burst_packet_has_fault(PACKET_FAULT_CUT))
            continue;
        if (is_next(t, REQUEST_MEASURE) && burst_packet_has_fault(PACKET_FAULT_ORDER))
            t->early = take(t, REQUEST_MEASURE);
        bool is_new = is_next(t, REQUEST_UNCACHED_POOL) || is_next(t, REQUEST_TOKEN);
        enum request_tag tag =
            is_new && has_later_data(t) ? (enum request_tag) t->at->tag : REQUEST_POOL;
        const struct request_datum *d = take(t, tag);
        if (!d)
            return -1;
        if (tag == REQUEST_TOKEN)
            p[i] = (struct burst_packet_pool){ .kind = tag, .token = d->of.token };
        else
            p[i] = (struct burst_packet_pool){ .kind = tag, .slot = d->of.slot };
    }
    *ret = p;
    return 0;
}

static int take_config(struct reader *t, struct hal_execution_config *ret)
{
    static const struct request_datum unmeasured;
    const bool may_end =
        burst_packet_has_fault(PACKET_FAULT_NO_END) || burst_packet_has_fault(PACKET_FAULT_CUT);
    const struct request_datum *d = t->early              ? t->early
                                    : !t->left && may_end ? &unmeasured
                                                          : take(t, REQUEST_MEASURE);

    if (!d)
        return -1;
    REQUIRE(t->w, d->of.measure <= 1 || burst_packet_has_fault(PACKET_FAULT_FLAGS),
            "measure is %u, expected 0 or 1", d->of.measure);
    *ret = (struct hal_execution_config){ .measure = d->of.measure != 0,
                                          .deadline = HAL_NO_DEADLINE,
                                          .loop_timeout = HAL_NO_TIME };
    REQUIRE(t->w, has_later_data(t) || !t->left || burst_packet_has_fault(PACKET_FAULT_END),
            "%u datums after the end of the request", t->left);
    if (is_next(t, REQUEST_DEADLINE))
        ret->deadline = take(t, REQUEST_DEADLINE)->of.ns;
    if (is_next(t, REQUEST_LOOP_TIMEOUT))
        ret->loop_timeout = take(t, REQUEST_LOOP_TIMEOUT)->of.ns;
    REQUIRE(t->w, !t->left || burst_packet_has_fault(PACKET_FAULT_END),
            "%u datums after the end of the request", t->left);
    return 0;
}

int burst_packet_take_request(const struct request_datum *datums, uint32_t n,
                              enum hal_version version, struct arena *a,
                              struct burst_packet_request *ret_request, struct why *w)
{
    struct reader t = { datums, n, version, a, w, NULL };
    const struct request_datum *d = take(&t, REQUEST_PACKET);
    struct burst_packet_request r = { .n_inputs = 0 };

    if (!d)
        return -1;
    REQUIRE(w, d->of.packet.size == n || burst_packet_has_fault(PACKET_FAULT_SIZE),
            "a packet of %u datums, %u received", d->of.packet.size, n);
    r.n_inputs = d->of.packet.n_inputs;
    r.n_outputs = d->of.packet.n_outputs;
    r.n_pools = d->of.packet.n_pools;
    TRY(take_arguments(&t, r.n_inputs, REQUEST_INPUT, REQUEST_INPUT_DIMENSION, &r.inputs));
    TRY(take_arguments(&t, r.n_outputs, REQUEST_OUTPUT, REQUEST_OUTPUT_DIMENSION, &r.outputs));
    TRY(take_pools(&t, r.n_pools, &r.pools));
    TRY(take_config(&t, &r.config));
    *ret_request = r;
    return 0;
}

/* ---- results */

static uint32_t result_size(const struct hal_result *r)
{
    uint32_t n = BURST_PACKET_MIN_RESULT + r->n_shapes;

    for (uint32_t i = 0; i < r->n_shapes; i++)
        n += r->shapes[i].n_dims < HAL_MAX_RANK ? r->shapes[i].n_dims : HAL_MAX_RANK;
    return n;
}

/* The planted faults of a packet of n data. */
static void spoil_result(struct result_datum *datums, uint32_t n)
{
    const struct result_datum timing = datums[n - 1];

    if (burst_packet_has_fault(PACKET_FAULT_RESULT_COUNT) && datums->of.packet.n_operands)
        datums->of.packet.n_operands--;
    if (burst_packet_has_fault(PACKET_FAULT_RESULT_ORDER)) {
        memmove(datums + 2, datums + 1, (n - 2) * sizeof(*datums));
        datums[1] = timing;
    }
}

int burst_packet_put_result(enum hal_status status, const struct hal_result *result,
                            struct result_datum *datums, uint32_t most, uint32_t *ret_n)
{
    struct result_datum *d = datums;
    uint32_t n = result->n_shapes < most ? result_size(result) : UINT32_MAX;

    if (n > most && result->n_shapes && burst_packet_has_fault(PACKET_FAULT_TRUNCATES))
        return burst_packet_put_result(
            status, &(const struct hal_result){ .timing = result->timing }, datums, most, ret_n);
    if (n > most)
        return -1;
    memset(datums, burst_packet_has_fault(PACKET_FAULT_GARBAGE) ? 0xaa : 0, n * sizeof(*datums));
    d->tag = RESULT_PACKET;
    d->of.packet.size = n;
    d->of.packet.status = (uint32_t) status;
    d++->of.packet.n_operands = result->n_shapes;
    for (uint32_t i = 0; i < result->n_shapes; i++) {
        const struct hal_output_shape *s = &result->shapes[i];
        uint32_t n_dims = s->n_dims < HAL_MAX_RANK ? s->n_dims : HAL_MAX_RANK;
        d->tag = RESULT_OPERAND;
        d->of.operand.is_sufficient = s->is_sufficient;
        d++->of.operand.n_dims = n_dims;
        for (uint32_t k = 0; k < n_dims; k++) {
            d->tag = RESULT_DIMENSION;
            d++->of.dimension = s->dims[k];
        }
    }
    d->tag = RESULT_TIMING;
    d->of.timing = result->timing;
    spoil_result(datums, n);
    *ret_n = n;
    return 0;
}

/* Decodes one shape; returns the number of its datums.  -1: malformed. */
static int take_shape(const struct result_datum *d, uint32_t left, struct hal_output_shape *ret,
                      struct why *w)
{
    uint32_t n_dims = d->of.operand.n_dims;

    REQUIRE(w, d->tag == RESULT_OPERAND && d->of.operand.is_sufficient <= 1,
            "datum with tag %u is not a valid output shape", d->tag);
    REQUIRE(w, n_dims <= HAL_MAX_RANK && n_dims < left, "an output shape of rank %u", n_dims);
    *ret =
        (struct hal_output_shape){ .n_dims = n_dims, .is_sufficient = d->of.operand.is_sufficient };
    for (uint32_t i = 0; i < n_dims; i++) {
        REQUIRE(w, d[1 + i].tag == RESULT_DIMENSION, "datum with tag %u, expected a dimension",
                d[1 + i].tag);
        ret->dims[i] = d[1 + i].of.dimension;
    }
    return (int) n_dims + 1;
}

int burst_packet_take_result(const struct result_datum *datums, uint32_t n,
                             enum hal_status *ret_status, struct hal_result *result, struct why *w)
{
    REQUIRE(w,
            n >= BURST_PACKET_MIN_RESULT && datums->tag == RESULT_PACKET &&
                datums->of.packet.size == n,
            "%u datums that are not a result packet", n);
    REQUIRE(w, datums->of.packet.status < HAL_STATUS_COUNT, "unknown status %u",
            datums->of.packet.status);
    const struct result_datum *d = datums + 1;
    uint32_t left = n - 1, n_shapes = datums->of.packet.n_operands;
    REQUIRE(w, n_shapes <= result->capacity, "%u shapes for %u outputs", n_shapes,
            result->capacity);
    for (uint32_t i = 0; i < n_shapes; i++) {
        REQUIRE(w, left > 1, "%u shapes, packet ends after %u", n_shapes, i);
        int taken = take_shape(d, left, &result->shapes[i], w);
        TRY(taken);
        d += taken;
        left -= (uint32_t) taken;
    }
    REQUIRE(w, left == 1 && d->tag == RESULT_TIMING, "a result does not end with its timing");
    result->n_shapes = n_shapes;
    result->timing = datums[n - 1].of.timing;
    *ret_status = (enum hal_status) datums->of.packet.status;
    return 0;
}
