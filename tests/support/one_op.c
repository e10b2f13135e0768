#include "tests/support/one_op.h"

#include <check.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const dtype_id[DT_COUNT] = {
#define DTYPE(code, id, name, brief, codec, quant, since) [DT_##id] = #id,
#include "golden/model/dtype.def"
#undef DTYPE
};

static enum dtype parse_dtype(const char **p)
{
    size_t n = strcspn(*p, "[:*");

    for (int i = 0; i < DT_COUNT; i++)
        if (strlen(dtype_id[i]) == n && !strncmp(dtype_id[i], *p, n)) {
            *p += n;
            return (enum dtype) i;
        }
    abort();
}

static struct shape parse_shape(const char **p)
{
    struct shape s = { 0 };

    if (**p != '[')
        return s;
    while (**p != ']') {
        char *end;
        s.dim[s.rank++] = (uint32_t) strtoul(*p + 1, &end, 10);
        *p = end;
    }
    ++*p;
    return s;
}

/* Parses "*scale@zero" or "*scale,scale,..|dimension". */
static void parse_quant(struct build *b, const char **p, struct tensor *t)
{
    float scale[16];
    uint32_t n = 0;
    char *end = (char *) *p;

    if (**p != '*')
        return;
    do {
        scale[n++] = strtof(end + 1, &end);
    } while (*end == ',');
    if (*end == '|') {
        t->channel_dim = (uint32_t) strtoul(end + 1, &end, 10);
        t->n_channels = n;
        t->channel_scale = arena_copy(b->arena, scale, n * sizeof *scale);
    } else {
        t->scale = scale[0];
        t->zero = *end == '@' ? (int32_t) strtol(end + 1, &end, 10) : 0;
    }
    *p = end;
}

static bool starts_with(const char *text, const char *with)
{
    return !strncmp(text, with, strlen(with));
}

struct tensor one_op_tensor(struct build *b, const char *text)
{
    const char *p = starts_with(text, "const ")  ? text + 6
                    : starts_with(text, "none ") ? text + 5
                                                 : text;
    struct tensor t = { .dtype = parse_dtype(&p) };

    t.shape = parse_shape(&p);
    parse_quant(b, &p, &t);
    if (*p++ != ':')
        abort();
    size_t n = starts_with(text, "none ") ? 0 : tensor_count(&t);
    double *x = arena_alloc(b->arena, n, sizeof *x);
    for (size_t i = 0; i < n; i++) {
        char *end;
        x[i] = strtod(p, &end);
        if (end == p)
            abort();
        p = end;
    }
    t.data = arena_alloc(b->arena, tensor_bytes(&t), 1);
    dtype_info[t.dtype].codec->narrow(x, n, 0, 1, t.data);
    return t;
}

static uint32_t add_operand(struct build *b, enum lifetime life, const struct tensor *t)
{
    uint32_t i = build_quant(b, life, t->dtype, t->shape, t->scale, t->zero);
    struct operand *o = &b->graph->operand[i];

    o->tensor.channel_dim = t->channel_dim;
    o->tensor.n_channels = t->n_channels;
    o->tensor.channel_scale = t->channel_scale;
    if (life == LIFE_CONSTANT_COPY) {
        o->tensor.data = t->data;
        o->length = tensor_bytes(t);
    }
    return i;
}

static uint32_t add_outputs(struct one_op_run *r, const char *text, uint32_t id[ONE_OP_OUTPUTS])
{
    while (text) {
        r->expected[r->n_expected] = one_op_tensor(&r->b, text + strspn(text, "; "));
        id[r->n_expected] = add_operand(&r->b, LIFE_OUTPUT, &r->expected[r->n_expected]);
        r->n_expected++;
        text = strchr(text + 1, ';');
    }
    return r->n_expected;
}

void one_op_build(struct one_op_run *r, const struct one_op *c)
{
    uint32_t id[ONE_OP_INPUTS], out[ONE_OP_OUTPUTS], n = 0, n_args = 0;

    *r = (struct one_op_run){ 0 };
    build_init(&r->b, 1);
    for (; n < ONE_OP_INPUTS && c->in[n]; n++) {
        struct tensor t = one_op_tensor(&r->b, c->in[n]);
        bool constant = !dtype_info[t.dtype].tensor || starts_with(c->in[n], "const ");
        bool none = starts_with(c->in[n], "none ");
        enum lifetime life = none ? LIFE_NO_VALUE : constant ? LIFE_CONSTANT_COPY : LIFE_INPUT;
        id[n] = add_operand(&r->b, life, &t);
        if (life == LIFE_INPUT)
            r->arg[n_args++] = t;
    }
    uint32_t n_out = add_outputs(r, c->out, out);
    build_operation(&r->b, c->op, id, n, out, n_out);
    model_count_consumers(&r->b.model);
}

int one_op_start(struct one_op_run *r, const struct one_op *c, const struct exec_options *options,
                 struct why *w)
{
    one_op_build(r, c);
    TRY(plan_new(&r->b.model, &r->plan, w));
    return plan_run(r->plan, r->arg, options, &r->result, w);
}

void one_op_done(struct one_op_run *r)
{
    result_done(&r->result);
    plan_free(r->plan);
    build_done(&r->b);
}

static double stored_at(const struct tensor *t, size_t i)
{
    const struct codec *c = dtype_info[t->dtype].codec;
    double x;

    c->widen((const char *) t->data + i * c->size, 1, 0, 1, &x);
    return x;
}

static void check_tensor(const struct one_op *c, const struct tensor *got,
                         const struct tensor *want)
{
    char a[SHAPE_TEXT], b[SHAPE_TEXT];

    ck_assert_msg(shape_equal(&got->shape, &want->shape), "%s: shape %s, expected %s", c->name,
                  shape_text(&got->shape, a), shape_text(&want->shape, b));
    for (size_t i = 0; i < tensor_count(want); i++) {
        double x = stored_at(got, i), y = stored_at(want, i);
        ck_assert_msg(x == y || (isnan(x) && isnan(y)), "%s: element %zu is %.17g, expected %.17g",
                      c->name, i, x, y);
    }
}

void one_op_check(const struct one_op *c)
{
    struct one_op_run r;
    struct why w = { 0 };

    ck_assert_msg(one_op_start(&r, c, NULL, &w) == 0, "%s: %s", c->name, w.text);
    ck_assert_msg(!c->level || plan_level(r.plan) == c->level, "%s: level %d, expected %d", c->name,
                  plan_level(r.plan), c->level);
    for (uint32_t i = 0; i < r.n_expected; i++)
        check_tensor(c, &r.result.out[i], &r.expected[i]);
    one_op_done(&r);
}

void one_op_check_rejected(const struct one_op *c, enum why_code code, const char *text)
{
    struct one_op_run r;
    struct why w = { 0 };

    ck_assert_msg(one_op_start(&r, c, NULL, &w) < 0, "%s: accepted", c->name);
    ck_assert_msg(w.code == code && strstr(w.text, text), "%s: rejected with %d: %s", c->name,
                  (int) w.code, w.text);
    one_op_done(&r);
}

void one_op_bind(const struct graph *g, const struct operation *o, struct call *ret_call)
{
    const struct op *op = op_find(o->code);
    const struct tensor *in[MAX_ROLES];
    struct tensor result[MAX_ROLES], *out[MAX_ROLES];
    struct why w;

    for (uint32_t i = 0; i < o->n_in; i++)
        in[i] = operand_omitted(&g->operand[o->in[i]]) ? NULL : &g->operand[o->in[i]].tensor;
    for (uint32_t i = 0; i < o->n_out; i++) {
        result[i] = g->operand[o->out[i]].tensor;
        out[i] = &result[i];
    }
    ck_assert_msg(op_bind(op, in, o->n_in, out, o->n_out, false, ret_call, &w) >= 0, "%s: %s",
                  op->name, w.text);
}
