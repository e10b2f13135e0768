#include "harness/explain/variant.h"

#include <math.h>
#include <string.h>

enum { SPARE = 2 * MAX_ROLES }; /* operands that changes may add */

/* Makes every input a constant, so that values and types are in one place. */
static void make_constant(struct operand *o, const struct tensor *value)
{
    if (!value) {
        o->life = LIFE_NO_VALUE;
        return;
    }
    o->tensor.shape = value->shape;
    o->tensor.data = value->data;
    o->life = LIFE_CONSTANT_COPY;
    o->length = tensor_bytes(value);
}

static int copy_graph(struct variant *v)
{
    const struct graph *from = &v->s->example->model.graph[0];
    const struct operation *o = v->s->operation;
    struct operation *p = arena_copy(v->arena, o, sizeof *o);

    v->graph = *from;
    v->graph.operand = arena_alloc(v->arena, from->n_operands + SPARE, sizeof *from->operand);
    v->graph.operation = p;
    v->graph.n_inputs = 0;
    if (!v->graph.operand || !p)
        return -1;
    memcpy(v->graph.operand, from->operand, from->n_operands * sizeof *from->operand);
    p->in = arena_alloc(v->arena, MAX_ROLES + o->n_in, sizeof *p->in);
    if (!p->in)
        return -1;
    memcpy(p->in, o->in, o->n_in * sizeof *p->in);
    for (uint32_t i = 0; i < o->n_in; i++)
        make_constant(&v->graph.operand[o->in[i]], v->s->arg[i]);
    for (uint32_t i = 0; i < o->n_out; i++)
        memset(v->graph.operand[o->out[i]].tensor.shape.dim, 0, sizeof(uint32_t) * MAX_RANK);
    return 0;
}

int variant_begin(struct variant *v, const struct subject *s, struct arena *a)
{
    *v = (struct variant){ .s = s, .arena = a, .example = *s->example, .options.bounds = true };
    v->real = arena_copy(a, s->real, s->n * sizeof *v->real);
    v->bound = arena_copy(a, s->bound, s->n * sizeof *v->bound);
    if (!v->real || !v->bound || copy_graph(v) < 0)
        return -1;
    v->example.model.graph = &v->graph;
    v->example.model.n_graphs = 1;
    return 0;
}

/* A new operand, with the given tensor, in place of an argument. */
static struct tensor *replace(struct variant *v, uint32_t arg, const struct tensor *t)
{
    struct operand *o = &v->graph.operand[v->graph.n_operands];

    if (v->graph.n_operands >= v->s->example->model.graph[0].n_operands + SPARE)
        return NULL;
    *o = (struct operand){ .tensor = *t, .life = LIFE_CONSTANT_COPY, .length = tensor_bytes(t) };
    v->graph.operation->in[arg] = v->graph.n_operands++;
    return &o->tensor;
}

struct tensor *variant_own(struct variant *v, uint32_t arg)
{
    const struct operand *o = &v->graph.operand[v->graph.operation->in[arg]];
    struct tensor t = o->tensor;

    if (o->life == LIFE_NO_VALUE || !o->length)
        return NULL;
    t.data = arena_copy(v->arena, t.data, tensor_bytes(&t));
    return t.data ? replace(v, arg, &t) : NULL;
}

struct tensor *variant_own_named(struct variant *v, const char *role)
{
    int arg = subject_arg(v->s, role);

    return arg < 0 ? NULL : variant_own(v, (uint32_t) arg);
}

bool variant_get(const struct variant *v, const char *role, int32_t *ret_value)
{
    int r = subject_role(v->s, role);

    if (r < 0 || v->s->op->in[r].dims)
        return false;
    *ret_value = call_int(&v->s->call, r);
    return true;
}

/* A scalar operand of a role. */
static bool make_scalar(struct variant *v, const struct role *r, double value, struct tensor *ret)
{
    *ret = (struct tensor){ .dtype = role_type(r, v->s->call.typing) };
    ret->data = arena_alloc(v->arena, 1, sizeof(double));
    if (!ret->data)
        return false;
    dtype_info[ret->dtype].codec->narrow(&value, 1, 0, 1, ret->data);
    return true;
}

/* Appends optional arguments of the form up to `role`, with their defaults. */
static bool append(struct variant *v, int role, double value)
{
    const struct form *f = v->s->call.form;
    struct operation *o = v->graph.operation;
    uint32_t last = 0;

    while (f->role[last] != END && f->role[last] != role)
        last++;
    if (f->role[last] == END || v->s->call.n_many > 1 || last < o->n_in)
        return false;
    for (uint32_t i = o->n_in; i <= last; i++) {
        const struct role *r = &v->s->op->in[f->role[i]];
        struct tensor t;
        if (r->dims || !make_scalar(v, r, i == last ? value : r->otherwise, &t) ||
            !replace(v, i, &t))
            return false;
        o->n_in = i + 1;
    }
    return true;
}

bool variant_set(struct variant *v, const char *role, double value)
{
    const int r = subject_role(v->s, role);

    if (r < 0 || v->s->op->in[r].dims || call_real(&v->s->call, r) == value)
        return false;
    if (subject_arg(v->s, role) < 0)
        return append(v, r, value);
    struct tensor *t = variant_own_named(v, role);
    if (t)
        dtype_info[t->dtype].codec->narrow(&value, 1, 0, 1, t->data);
    return t;
}

static bool is_in_form(const struct form *f, int role)
{
    for (int i = 0; i < form_len(f); i++)
        if (f->role[i] == role)
            return true;
    return false;
}

/* A form with explicit padding and all other roles of the call. */
static const struct form *padded_form(const struct variant *v)
{
    const struct op *op = v->s->op;
    const int left = subject_role(v->s, "pad_left");

    for (int f = 0; left >= 0 && f < op->n_forms; f++) {
        bool fits = is_in_form(&op->forms[f], left);
        for (uint32_t i = 0; i < v->s->call.n_in && fits; i++) {
            const struct role *r = call_role(&v->s->call, i);
            fits = !strcmp(r->name, "padding") || !strcmp(r->name, "output_shape") ||
                   is_in_form(&op->forms[f], (int) (r - op->in));
        }
        if (fits)
            return &op->forms[f];
    }
    return NULL;
}

static bool padding_of(const struct variant_padding *p, const char *role, int64_t *ret)
{
    const char *const name[] = { "pad_top", "pad_bottom", "pad_left", "pad_right" };
    const int64_t value[] = { p->top, p->bottom, p->left, p->right };

    for (int i = 0; i < 4; i++)
        if (!strcmp(role, name[i])) {
            *ret = value[i];
            return true;
        }
    return false;
}

bool variant_pad(struct variant *v, const struct variant_padding *p)
{
    struct operation *o = v->graph.operation;
    const struct form *f = padded_form(v);
    const uint32_t *old = o->in;
    uint32_t *in = arena_alloc(v->arena, MAX_ROLES, sizeof *in), n = 0;

    if (!f || !in)
        return false;
    o->in = in;
    for (int i = 0; i < form_len(f); i++) {
        const struct role *r = &v->s->op->in[f->role[i]];
        const int at = call_arg(&v->s->call, f->role[i]);
        struct tensor t;
        int64_t amount;
        if (padding_of(p, r->name, &amount)) {
            if (!make_scalar(v, r, (double) amount, &t) || !replace(v, n++, &t))
                return false;
        } else if (at >= 0) {
            in[n++] = old[at];
        } else {
            break; /* left off at the end */
        }
    }
    o->n_in = n;
    return true;
}

bool variant_gather(struct variant *v, uint32_t arg, const struct shape *shape, const size_t *map,
                    double fill)
{
    struct tensor *t = variant_own(v, arg);

    if (!t)
        return false;
    const struct codec *c = dtype_info[t->dtype].codec;
    const size_t n = shape_count(shape);
    const char *from = t->data;
    char *to = arena_alloc(v->arena, n + 1, c->size);
    if (!to)
        return false;
    for (size_t i = 0; i < n; i++)
        if (map[i] == VARIANT_FILL)
            c->narrow(&fill, 1, 0, 1, to + i * c->size);
        else
            memcpy(to + i * c->size, from + map[i] * c->size, c->size);
    t->data = to;
    t->shape = *shape;
    v->graph.operand[v->graph.operation->in[arg]].length = n * c->size;
    return true;
}

/* Takes the results of the same places. */
static bool take(struct variant *v, const struct result *r)
{
    const struct shape *to = &v->s->expected->shape;
    const struct shape *from = &r->out[v->s->output].shape;
    const double *real = r->real[v->s->output], *bound = r->bound[v->s->output];
    uint32_t at[MAX_RANK];

    if (from->rank != to->rank)
        return false;
    for (size_t i = 0; i < v->s->n; i++) {
        bool inside = true;
        shape_place(to, i, at);
        for (uint32_t d = 0; d < to->rank; d++)
            inside = inside && at[d] < from->dim[d];
        size_t j = inside ? shape_index(from, at) : 0;
        v->real[i] = inside ? real[j] : 0;
        v->bound[i] = inside ? bound[j] : INFINITY;
    }
    return true;
}

bool variant_run(struct variant *v)
{
    struct plan *plan;
    struct result r;
    struct why w;

    model_count_consumers(&v->example.model);
    if (plan_new(&v->example.model, &plan, &w) < 0)
        return false;
    v->options.arena = v->arena;
    bool ran = plan_run(plan, v->example.in, &v->options, &r, &w) == 0;
    plan_free(plan);
    if (!ran)
        return false;
    ran = take(v, &r);
    result_done(&r);
    return ran;
}
