#include "harness/explain/subject.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* The value of operand `index` of the example's graph, NULL if it is omitted. */
static const struct tensor *value_of(const struct example *e, uint32_t index)
{
    const struct graph *g = &e->model.graph[0];
    const struct operand *o = &g->operand[index];

    if (operand_omitted(o))
        return NULL;
    if (operand_constant(o))
        return &o->tensor;
    for (uint32_t i = 0; i < g->n_inputs; i++)
        if (g->input[i] == index)
            return e->in[i].data ? &e->in[i] : NULL;
    return NULL;
}

static int bind(struct subject *s, struct why *w)
{
    const struct operation *o = s->operation;
    struct tensor *out = arena_copy(s->arena, s->reference->out, o->n_out * sizeof *out);
    struct tensor **to = arena_alloc(s->arena, o->n_out + 1, sizeof *to);

    s->arg = arena_alloc(s->arena, o->n_in + 1, sizeof *s->arg);
    if (!out || !to || !s->arg)
        return why_no_memory(w);
    for (uint32_t i = 0; i < o->n_in; i++)
        s->arg[i] = value_of(s->example, o->in[i]);
    for (uint32_t i = 0; i < o->n_out; i++)
        to[i] = &out[i];
    return op_bind(s->op, s->arg, o->n_in, to, o->n_out, true, &s->call, w) < 0 ? -1 : 0;
}

/* How bad an element's error is: a multiple of its bound, larger for NaN and exact elements. */
static double badness(const struct subject *s, size_t i)
{
    double d = fabs(s->value[i] - tensor_saturate(s->expected, s->real[i]));

    return isnan(d) || !(s->bound[i] > 0) ? INFINITY : d / s->bound[i];
}

static void judge(struct subject *s)
{
    double most = -1;

    for (size_t i = 0; i < s->n; i++) {
        enum element_verdict v = judge_result_value(s->reference, s->output, i, s->value[i]);
        s->verdict[i] = (unsigned char) v;
        s->n_wrong += v == ELEMENT_WRONG;
        s->n_right += v == ELEMENT_RIGHT;
        if (v == ELEMENT_WRONG && badness(s, i) > most) {
            most = badness(s, i);
            s->worst = i;
        }
    }
}

int subject_init(struct subject *s, const struct example *e, const struct result *reference,
                 const struct tensor *actual, uint32_t output, struct arena *a, struct why *w)
{
    *s = (struct subject){ .example = e,
                           .operation = &e->model.graph[0].operation[0],
                           .reference = reference,
                           .actual = actual,
                           .output = output,
                           .expected = &reference->out[output],
                           .real = reference->real[output],
                           .bound = reference->bound[output],
                           .arena = a };
    s->op = op_find(s->operation->code);
    TRY(bind(s, w));
    s->n = tensor_count(s->expected);
    REQUIRE(w, shape_equal(&actual[output].shape, &s->expected->shape),
            "output %u has not the shape that is expected", output);
    s->value = arena_alloc_raw(a, s->n + 1, sizeof *s->value);
    s->verdict = arena_alloc_raw(a, s->n + 1, 1);
    if (!s->value || !s->verdict)
        return why_no_memory(w);
    tensor_widen(&actual[output], s->value);
    judge(s);
    return 0;
}

int subject_role(const struct subject *s, const char *name)
{
    for (int r = 0; r < s->op->n_in; r++)
        if (!strcmp(s->op->in[r].name, name))
            return r;
    return -1;
}

int subject_arg(const struct subject *s, const char *name)
{
    int role = subject_role(s, name);

    return role < 0 ? -1 : call_arg(&s->call, role);
}

const char *subject_arg_name(const struct subject *s, uint32_t arg, char text[64])
{
    const struct call *c = &s->call;
    const char *name = call_role(c, arg)->name;

    if (c->n_many && arg >= c->many_at && arg < c->many_at + c->n_many)
        snprintf(text, 64, "%s %u", name, arg - c->many_at);
    else
        snprintf(text, 64, "%s", name);
    return text;
}

size_t subject_elements(const struct subject *s)
{
    size_t n = s->n;

    for (uint32_t i = 0; i < s->operation->n_in; i++)
        n += s->arg[i] ? tensor_count(s->arg[i]) : 0;
    return n;
}

double tensor_step_of(const struct tensor *t, size_t element)
{
    size_t inner = 1;

    if (!t->channel_scale)
        return t->scale != 0 ? (double) t->scale : 0;
    for (uint32_t d = t->channel_dim + 1; d < t->shape.rank; d++)
        inner *= t->shape.dim[d];
    return tensor_step(t, (uint32_t) (element / inner % t->n_channels));
}

double tensor_stored(const struct tensor *t, size_t element)
{
    const struct codec *c = dtype_info[t->dtype].codec;
    double q = 0;

    c->widen((const char *) t->data + element * c->size, 1, 0, 1, &q);
    return q;
}

void shape_place(const struct shape *s, size_t index, uint32_t *ret_at)
{
    for (uint32_t d = s->rank; d-- > 0;) {
        ret_at[d] = s->dim[d] ? (uint32_t) (index % s->dim[d]) : 0;
        index = s->dim[d] ? index / s->dim[d] : 0;
    }
}

size_t shape_index(const struct shape *s, const uint32_t *at)
{
    size_t index = 0;

    for (uint32_t d = 0; d < s->rank; d++)
        index = index * s->dim[d] + at[d];
    return index;
}

char *place_text(const struct shape *s, size_t index, char text[SHAPE_TEXT])
{
    struct shape at = { .rank = s->rank };

    shape_place(s, index, at.dim);
    return shape_text(&at, text);
}

const char *subject_dimension(const struct subject *s, uint32_t d)
{
    static const char *const nhwc[] = { "image", "row", "column", "channel" };
    static const char *const nchw[] = { "image", "channel", "row", "column" };
    const struct role *out = s->output < (uint32_t) s->op->n_out ? &s->op->out[s->output] : NULL;

    if (!out || !out->image || s->expected->shape.rank != 4)
        return NULL;
    return s->call.nchw ? nchw[d] : nhwc[d];
}
