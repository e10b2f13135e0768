/* Draws one call: the value that it reads is given, the other operands follow in the form's order.
 */
#include <math.h>
#include <string.h>

#include "randgraph/randgraph_internal.h"

enum { TRIES_SCALAR = 8 };

static const double least_divisor = 0.05, small = 8, spread = 0.05;

/* Chooses which operands are given: optional ones may be omitted at the end, and variadic roles are
 * repeated. */
static int list_roles(struct draft *d, uint8_t primary)
{
    static const uint8_t many[] = { 1, 2, 2, 2, 3, 3, 4, 5 };
    const struct builder *b = d->b;
    int n = form_len(d->form), least = 1;

    for (int i = 0; i < n; i++) {
        const struct role *r = &d->op->in[d->form->role[i]];
        if (!r->optional || r->placed || d->form->role[i] == primary)
            least = i + 1;
    }
    for (int i = least; i < n; i++)
        if ((int) d->op->in[d->form->role[i]].since > b->options->max_level)
            n = i;
    while (n > least && rng_percent(b->rng, b->weights->omit))
        n--;
    for (int i = 0; i < n; i++) {
        uint8_t role = d->form->role[i];
        uint32_t times = d->op->in[role].many ? many[rng_below(b->rng, COUNT(many))] : 1;
        if (role == primary)
            d->primary = d->n_in;
        if (d->n_in + times > MAX_CALL)
            return -1;
        while (times-- > 0)
            d->role[d->n_in++] = role;
    }
    d->call.n_inputs_total = d->n_in;
    return 0;
}

void draft_set(struct draft *d, uint32_t at, struct graph_value *k)
{
    struct call *c = &d->call;
    const struct role *r = &d->op->in[d->role[at]];
    const struct tensor *seen = &k->t;

    d->in[at] = k;
    d->arg[at] = &k->t;
    d->drawn[at] = true;
    if (c->nchw && r->image)
        for (int v = 0; v < MAX_VIEWS; v++)
            if (c->view[v].shape.rank == 0) {
                c->view[v] = k->t;
                c->view[v].shape = shape_nhwc(d, r, &k->t.shape);
                seen = &c->view[v];
                break;
            }
    if (!c->in[d->role[at]])
        c->in[d->role[at]] = seen;
    if (r->many) {
        c->many_at = c->n_many ? c->many_at : at;
        c->n_many++;
    }
    if (at == 0) {
        c->bound['R'] = true;
        c->letter['R'] = k->t.shape.rank;
    }
    if (!d->same && (at == 0 || r->q == Q_SAME))
        d->same = &k->t;
}

/* Whether the values meet the role's needs. */
static bool needs_met(const struct draft *d, const struct role *r, const struct graph_value *k)
{
    double largest = fmax(fabs(k->lo), fabs(k->hi));

    if (!graph_value_usable(d->b, k))
        return false;
    /* its shape may differ between implementations: other operands might not fit it */
    if (k->open && d->n_in > 1)
        return false;
    /* what has been computed from NaN may be any number or NaN: it may only be moved */
    if (k->nonfinite && (k->result ? !d->op->move || d->op->moves : !takes_nonfinite(d->op)))
        return false;
    if (d->b->nonfinite && takes_nonfinite(d->op))
        return !(r->needs & NEEDS_CONST) || rng_percent(d->b->rng, d->b->weights->vary_constant);
    if ((r->needs & NEEDS_NONZERO) && graph_value_least(k) < least_divisor)
        return false;
    if ((r->needs & NEEDS_NONNEG) && k->lo < 0)
        return false;
    if ((r->needs & NEEDS_SMALL) && largest > small)
        return false;
    if ((r->needs & NEEDS_SPREAD) && largest < spread)
        return false;
    return !(r->needs & NEEDS_CONST) || rng_percent(d->b->rng, d->b->weights->vary_constant);
}

/* In a role with a pattern only the first dimension, the batch or the number of boxes, may be 0. */
static bool takes_empty(const struct draft *d, uint32_t at, const struct graph_value *k)
{
    const char *dims = d->op->in[d->role[at]].dims;
    bool any = !strcmp(dims, "?") || !strcmp(dims, "*");

    for (uint32_t i = 1; i < k->t.shape.rank && !any; i++)
        if (k->t.shape.dim[i] == 0)
            return false;
    return d->op->takes_empty >> d->role[at] & 1;
}

static bool fits(const struct draft *d, uint32_t at, const struct graph_value *k)
{
    const struct role *r = &d->op->in[d->role[at]];

    if (graph_value_empty(k) && !takes_empty(d, at, k))
        return false;
    /* some of its dimensions are unknown in the model */
    if ((k->open || graph_value_empty(k)) && d->limits &&
        (support_unknown_inputs(d->limits->without) >> VARIANT_UNKNOWN_DIMS & 1))
        return false;
    if (k->t.dtype != role_type(r, d->typing) || !scale_fits(d, r, &k->t))
        return false;
    struct shape s = shape_nhwc(d, r, &k->t.shape);
    return shape_fits(d, r, &s) && needs_met(d, r, k);
}

/* An existing value that can be operand `at`, or NULL.  shape: the one it must have; NULL: any. */
static struct graph_value *find_live(struct draft *d, uint32_t at, const struct shape *shape)
{
    struct builder *b = d->b;
    uint32_t start = b->n_live ? rng_below(b->rng, b->n_live) : 0;
    bool twice = rng_percent(b->rng, b->weights->twice);

    for (uint32_t i = 0; i < b->n_live; i++) {
        struct graph_value *k = b->live[(start + i) % b->n_live];
        if ((k == d->in[d->primary] && !twice) || (shape && !shape_equal(shape, &k->t.shape)))
            continue;
        if (fits(d, at, k))
            return k;
    }
    return NULL;
}

/* An existing value without elements that can be operand `at`, or NULL. */
static struct graph_value *find_empty(struct draft *d, uint32_t at)
{
    struct builder *b = d->b;

    for (uint32_t i = b->n_live; b->empty && i-- > 0;)
        if (graph_value_empty(b->live[i]) && fits(d, at, b->live[i]))
            return b->live[i];
    return NULL;
}

bool draft_may_be(const struct draft *d, int trait, uint32_t value)
{
    return !d->limits || (d->limits->allowed[trait] >> value & 1);
}

static enum lifetime draw_lifetime(struct draft *d, const struct role *r)
{
    struct builder *b = d->b;
    int state = TRAIT_STATE + (int) (r - d->op->in);

    if (!draft_may_be(d, state, STATE_VARIABLE))
        return LIFE_CONSTANT_COPY;
    if (b->depth == 0 && !draft_may_be(d, state, STATE_CONSTANT))
        return LIFE_INPUT;
    if (b->depth > 0 || dtype_info[role_type(r, d->typing)].quant == QUANT_CHANNEL ||
        model_room(b, d, MODEL_INPUTS) == 0)
        return LIFE_CONSTANT_COPY;
    if (r->needs & NEEDS_CONST)
        return rng_percent(b->rng, b->weights->vary_constant) ? LIFE_INPUT : LIFE_CONSTANT_COPY;
    return rng_unit(b->rng) < b->options->constant ? LIFE_CONSTANT_COPY : LIFE_INPUT;
}

/* An operand that is not computed and whose elements may be compared with those of k. */
static const struct tensor *find_alike(const struct draft *d, const struct graph_value *k)
{
    for (uint32_t i = 0; i < d->n_in; i++) {
        const struct graph_value *other = d->in[i];
        if (other && !other->result && dtype_info[other->t.dtype].tensor &&
            other->t.dtype == k->t.dtype && shape_equal(&other->t.shape, &k->t.shape) &&
            tensor_same_quant(&other->t, &k->t))
            return &other->t;
    }
    return NULL;
}

/* In some calls elements equal or next to those of another operand. */
static void draw_alike(struct draft *d, const struct role *r, struct graph_value *k)
{
    const uint32_t weight = d->b->weights->equal_elements;
    const struct tensor *like = NULL;
    enum { ALIKE = 45 };

    if (!r->needs && takes_nonfinite(d->op) && rng_percent_aside(d->b->rng, ALIKE, weight))
        like = find_alike(d, k);
    if (like)
        fill_alike(d->b, like, &k->t);
}

static struct graph_value *draw_fresh(struct draft *d, uint32_t at, const struct shape *shape)
{
    const struct role *r = &d->op->in[d->role[at]];
    enum dtype type = role_type(r, d->typing);
    bool first_of_graph = d->b->n_operations == 0 && at == d->primary && d->b->depth == 0;
    struct graph_value *k =
        graph_value_new(d->b, type, first_of_graph ? LIFE_INPUT : draw_lifetime(d, r));

    if (!k)
        return NULL;
    k->t.shape = shape_in_layout(d, r, shape);
    if (graph_value_empty(k) || tensor_count(&k->t) > d->b->max_elements ||
        scale_for_operand(d, at, &k->t) < 0 || graph_value_allocate(d->b, k) < 0 ||
        fill_values(d->b, d->op, r, &k->t) < 0)
        return NULL;
    draw_alike(d, r, k);
    graph_value_measure(k);
    k->nonfinite = !(k->hi - k->lo < INFINITY);
    return k;
}

static bool draw_shape(struct draft *d, uint32_t at, struct shape *ret_shape)
{
    const struct role *r = &d->op->in[d->role[at]];
    struct tensor t = { .dtype = role_type(r, d->typing) };

    if (r->draw != DRAW_SHAPE || !d->op->draw)
        return shape_draw(d, at, ret_shape);
    if (!d->op->draw(&d->call, d->role[at], &d->b->rng->drawer, &t) || t.shape.rank == 0)
        return false;
    *ret_shape = t.shape;
    return shape_bind(d, r, ret_shape);
}

/* Makes an existing value operand `at`. */
static int use_existing(struct draft *d, uint32_t at, struct graph_value *k)
{
    const struct role *r = &d->op->in[d->role[at]];
    struct shape shape = shape_nhwc(d, r, &k->t.shape);

    if (!shape_bind(d, r, &shape))
        return -1;
    draft_set(d, at, k);
    return 0;
}

static int draw_tensor(struct draft *d, uint32_t at)
{
    const struct role *r = &d->op->in[d->role[at]];
    struct builder *b = d->b;
    struct graph_value *k = NULL;
    struct shape shape, outside;
    bool reuse = rng_percent(b->rng, b->weights->reuse) &&
                 draft_may_be(d, TRAIT_STATE + d->role[at], STATE_VARIABLE);

    if (reuse && r->draw != DRAW_SHAPE && (k = find_live(d, at, NULL)))
        return use_existing(d, at, k);
    if (!draw_shape(d, at, &shape))
        return -1;
    outside = shape_in_layout(d, r, &shape);
    if (reuse)
        k = find_live(d, at, &outside);
    if (!k)
        k = draw_fresh(d, at, &shape);
    if (!k)
        return -1;
    draft_set(d, at, k);
    return 0;
}

/* Draws a scalar, a few times more while its value is beyond the limits. */
static int draw_scalar(struct draft *d, uint32_t at)
{
    const struct role *r = &d->op->in[d->role[at]];
    int trait = TRAIT_VALUE + d->role[at];

    TRY(scalar_draw(d, at));
    for (int i = 0; d->limits && !r->dims && i < TRIES_SCALAR; i++) {
        uint8_t value = trait_of_scalar(d->in[at]);
        if (value == NO_TRAIT || draft_may_be(d, trait, value))
            break;
        TRY(scalar_draw(d, at));
    }
    return 0;
}

/* Draws operand `at`, or omits it where it is optional. */
static int draw_operand(struct draft *d, uint32_t at)
{
    const struct role *r = &d->op->in[d->role[at]];
    bool omit = false;

    d->call.n_in = at;
    if (r->optional && r->dims && at > 0)
        omit = d->op->omits ? d->op->omits(&d->call, d->role[at], &d->b->rng->drawer)
                            : rng_percent(d->b->rng, d->b->weights->omit);
    if (omit) {
        d->drawn[at] = true;
        return 0;
    }
    struct graph_value *empty = r->dims ? find_empty(d, at) : NULL;
    if (empty)
        return use_existing(d, at, empty);
    if (r->dims && r->draw != DRAW_OP)
        return draw_tensor(d, at);
    if (draw_scalar(d, at) < 0) {
        d->drawn[at] = r->optional && at > 0;
        return d->drawn[at] ? 0 : -1;
    }
    draft_set(d, at, d->in[at]);
    return 0;
}

static int make_results(struct draft *d)
{
    d->n_out = (uint32_t) d->op->n_out;
    if (d->op->fanout && d->call.in[d->op->fanout - 1])
        d->n_out = (uint32_t) call_int(&d->call, d->op->fanout - 1);
    if (d->op->results)
        d->n_out = d->op->results(&d->call, &d->b->rng->drawer);
    if (d->n_out == 0 || d->n_out > MAX_RESULTS)
        return -1;
    for (uint32_t i = 0; i < d->n_out; i++) {
        int role = (int) i < d->op->n_out ? (int) i : d->op->n_out - 1;
        const struct role *r = &d->op->out[role];
        struct graph_value *k = graph_value_new(d->b, role_type(r, d->typing), LIFE_TEMPORARY);
        if (!k)
            return -1;
        k->result = !r->unspecified;
        k->random = d->op->error.kind == ERROR_RANDOM;
        scale_preliminary(d, r, &k->t);
        d->out[i] = k;
        d->result[i] = &k->t;
    }
    return 0;
}

bool may_be_empty(const struct draft *d)
{
    return d->b->empty && !(d->limits && d->limits->without >> VARIANT_UNKNOWN_DIMS & 1);
}

int draft_bind(struct draft *d)
{
    struct builder *b = d->b;
    int level = op_bind(d->op, d->arg, d->n_in, d->result, d->n_out, true, &d->call, NULL);

    if (level < 0 || level > b->options->max_level)
        return -1;
    /* the element types may need a higher feature level than the operation */
    for (uint32_t i = 0; i < d->n_in + d->n_out; i++) {
        const struct tensor *t = i < d->n_in ? d->arg[i] : d->result[i - d->n_in];
        if (t && dtype_info[t->dtype].since > b->options->max_level)
            return -1;
    }
    bool from_open = false; /* another implementation may compute other shapes */
    for (uint32_t i = 0; i < d->n_in; i++)
        from_open |= d->in[i] && d->in[i]->open;
    for (uint32_t i = 0; i < d->n_out; i++) {
        struct graph_value *k = d->out[i];
        const struct shape *s = &k->t.shape;
        size_t n = tensor_count(&k->t);
        k->open = from_open ? (1u << s->rank) - 1 : 0;
        for (uint32_t j = 0; d->op->measure && j < s->rank; j++)
            if (s->dim[j] == 0) /* known only after execution */
                k->open |= 1u << j;
        if (!d->op->measure && ((n == 0 && !may_be_empty(d)) || n > b->max_elements))
            return -1;
        if (dtype_info[k->t.dtype].tensor && !s->rank)
            return -1;
    }
    return 0;
}

static bool draw_nchw(const struct draft *d)
{
    int trait = TRAIT_VALUE + d->op->layout - 1;

    if (!draft_may_be(d, trait, VALUE_OFFSET + 1))
        return false;
    return rng_percent(d->b->rng, d->b->weights->nchw) || !draft_may_be(d, trait, VALUE_OFFSET);
}

/* Whether the call may read any integers.  Results beyond 16 bits are not read by others. */
static bool takes_wide_integers(const struct draft *d)
{
    const struct op *op = d->op;
    uint32_t weight = d->b->weights->wide_integers;
    enum { WIDE = 14 };

    if (d->typing->slot[0] != DT_I32 || d->b->depth > 0 || !weight)
        return false;
    return op->move || op->error.kind == ERROR_EXACT || op->error.kind == ERROR_DISCRETE ||
           rng_percent_aside(d->b->rng, WIDE, weight);
}

/* Whether results are as exact whatever the operands' values are. */
static bool takes_any_values(const struct op *op)
{
    return takes_nonfinite(op) || (op->error.kind == ERROR_EXACT && !op->move && op->n_out == 1);
}

/* Whether the result and all operands that are tensors have the type or are BOOL8; but for axes,
 * sizes and the like. */
static bool all_of_type(const struct draft *d, enum dtype type)
{
    const struct op *op = d->op;
    enum dtype result = role_type(&op->out[0], d->typing);
    bool all = result == type || result == DT_B8;

    for (int i = 0; i < op->n_in && all; i++) {
        enum dtype of = role_type(&op->in[i], d->typing);
        all = !op->in[i].dims || op->in[i].draw == DRAW_OP || of == type || of == DT_B8;
    }
    return all;
}

/* Whether the call may read any finite floats: its results are then as exact as others.  They are
 * not read by others, which could leave the range of floats. */
static bool takes_wide_floats(const struct draft *d)
{
    const struct op *op = d->op;
    uint32_t weight = d->b->weights->wide_floats;
    enum { WIDE = 40 };

    if (d->b->model->relaxed || d->b->depth > 0 || !takes_any_values(op) ||
        !(all_of_type(d, DT_F32) || all_of_type(d, DT_F16)))
        return false;
    return (op->move || op->error.kind == ERROR_EXACT || op->error.kind == ERROR_DISCRETE) &&
           rng_percent_aside(d->b->rng, WIDE, op->move ? weight / 4 : weight);
}

static bool mixes_values(const struct draft *d)
{
    enum { MIXES = 41 };

    return d->b->values == VALUES_MIX && takes_any_values(d->op) &&
           rng_percent_aside(d->b->rng, MIXES, d->b->weights->mixed_values);
}

/* Whether the call may read infinities and NaN, in a graph that has none otherwise. */
static bool takes_any_floats(const struct draft *d)
{
    const struct builder *b = d->b;
    enum { ANY = 48 };

    return b->mixes_values && takes_nonfinite(d->op) && b->depth == 0 && !b->control &&
           !b->only_control && (all_of_type(d, DT_F32) || all_of_type(d, DT_F16)) &&
           rng_percent_aside(b->rng, ANY, b->weights->nonfinite_call);
}

int draft_call(struct builder *b, const struct row *row, struct graph_value *primary,
               struct draft *d)
{
    /* drivers reject control flow with operands of unknown size */
    if (row->op->measure && (b->control || b->depth > 0))
        return -1;
    memset(d, 0, sizeof *d);
    d->b = b;
    d->op = row->op;
    d->form = &row->op->forms[row->form];
    d->typing = &row->op->typings[row->typing];
    d->call.op = d->op;
    d->call.form = d->form;
    d->call.typing = d->typing;
    d->call.arg = d->arg;
    d->limits = b->support ? support_row(b->support, row->id) : b->within;
    b->call_values = rng_percent(b->rng, b->weights->call_profile) ? profile_any(b) : VALUES_MIX;
    b->wide_integers = takes_wide_integers(d);
    b->mixes_values = mixes_values(d);
    b->nonfinite_call = b->nonfinite || takes_any_floats(d);
    b->wide_floats = !primary && takes_wide_floats(d);
    TRY(list_roles(d, row->role));

    /* the layout before all operands: the pattern letters of images depend on it */
    for (uint32_t i = 0; i < d->n_in; i++)
        if (d->op->layout && d->role[i] == d->op->layout - 1)
            d->call.nchw = draw_nchw(d);

    /* then the given value, then what other operands depend on, then the others */
    if (primary && (!fits(d, d->primary, primary) || use_existing(d, d->primary, primary) < 0))
        return -1;
    scalar_kernels(d);
    for (uint32_t i = 0; i < d->n_in; i++)
        if (!d->drawn[i])
            TRY(draw_operand(d, i));
    TRY(make_results(d));
    TRY(draft_bind(d));
    if (!d->limits)
        return 0;
    uint8_t trait[RANDGRAPH_TRAITS];
    traits_of(d, trait);
    if (!b->traits) /* they are chosen from the values of the result */
        trait[TRAIT_OUT_ZERO] = trait[TRAIT_OUT_SCALE] = NO_TRAIT;
    return support_allows(d->limits, trait) ? 0 : -1;
}

bool draft_result_allowed(const struct draft *d)
{
    const struct tensor *t = d->result[0];

    if (dtype_info[t->dtype].quant != QUANT_AFFINE || t->scale == 0)
        return true;
    return draft_may_be(d, TRAIT_OUT_ZERO, trait_of_zero(t)) &&
           draft_may_be(d, TRAIT_OUT_SCALE, trait_of_scale(t));
}
