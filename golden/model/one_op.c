#include "golden/model/one_op.h"

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

uint32_t one_op_build(struct build *b, const struct one_op *o, struct tensor in[ONE_OP_INPUTS],
                      struct tensor expected[ONE_OP_OUTPUTS])
{
    uint32_t id[ONE_OP_INPUTS], out[ONE_OP_OUTPUTS], n = 0, n_in = 0, n_out = 0;

    build_init(b, 1);
    for (; n < ONE_OP_INPUTS && o->in[n]; n++) {
        struct tensor t = one_op_tensor(b, o->in[n]);
        bool constant = !dtype_info[t.dtype].tensor || starts_with(o->in[n], "const ");
        bool none = starts_with(o->in[n], "none ");
        enum lifetime life = none ? LIFE_NO_VALUE : constant ? LIFE_CONSTANT_COPY : LIFE_INPUT;
        id[n] = add_operand(b, life, &t);
        if (life == LIFE_INPUT)
            in[n_in++] = t;
    }
    for (const char *text = o->out; text; text = strchr(text + 1, ';')) {
        expected[n_out] = one_op_tensor(b, text + strspn(text, "; "));
        out[n_out] = add_operand(b, LIFE_OUTPUT, &expected[n_out]);
        n_out++;
    }
    build_operation(b, o->op, id, n, out, n_out);
    model_count_consumers(&b->model);
    return n_out;
}
