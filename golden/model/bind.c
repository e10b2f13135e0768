/* Binding a call to its operation's record, in this order: arity selects the possible forms,
 * element types and ranks the form and typing row; then operands are assigned to roles,
 * quantisation is checked, NCHW shapes are converted to NHWC, shape patterns are unified and output
 * shapes inferred. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "golden/model/op.h"

/* The operands of one call, before they are bound. */
struct operands {
    const struct op *op;
    const struct tensor *const *in;
    struct tensor *const *out;
    uint32_t n_in, n_out;
    bool runtime;
    bool any_type; /* roles that NNAPI does not restrict fit every type */
};

/* Number of operands of a form's variadic role; 0 if it has none, -1 if the arity does not fit. */
static int form_spread(const struct operands *o, const struct form *f)
{
    int len = form_len(f), many = -1;

    for (int i = 0; i < len; i++)
        if (o->op->in[f->role[i]].many)
            many = i;
    if (many >= 0)
        return (int) o->n_in - (len - 1) >= 1 ? (int) o->n_in - (len - 1) : -1;
    if ((int) o->n_in > len)
        return -1;
    for (int i = (int) o->n_in; i < len; i++)
        if (!o->op->in[f->role[i]].optional || o->op->in[f->role[i]].placed)
            return -1;
    return 0;
}

/* Role of operand i if the variadic role has `spread` operands. */
static const struct role *role_at(const struct op *op, const struct form *f, uint32_t i, int spread)
{
    uint32_t at = 0;

    if (spread == 0)
        return &op->in[f->role[i]];
    for (int k = 0; f->role[k] != END; k++) {
        const struct role *r = &op->in[f->role[k]];
        at += r->many ? (uint32_t) spread : 1;
        if (i < at)
            return r;
    }
    return NULL;
}

const struct role *call_role(const struct call *c, uint32_t arg)
{
    return role_at(c->op, c->form, arg, (int) c->n_many);
}

static const struct role *out_role_at(const struct op *op, uint32_t i)
{
    return &op->out[(int) i < op->n_out ? (int) i : op->n_out - 1];
}

static bool out_arity_fits(const struct operands *o)
{
    const struct op *op = o->op;

    if (op->out_counts)
        return o->n_out < 32 && (op->out_counts >> o->n_out & 1);
    if ((int) o->n_out > op->n_out)
        return op->n_out > 0 && op->out[op->n_out - 1].many;
    for (int i = (int) o->n_out; i < op->n_out; i++)
        if (!op->out[i].optional)
            return false;
    return o->n_out > 0;
}

/* The arguments of control flow operations may have any type, as may roles that NNAPI does not
 * restrict if the caller wants that. */
static bool type_fits(const struct operands *o, const struct role *r, const struct typing *t,
                      enum dtype dtype)
{
    if ((o->op->control_kind != CONTROL_NONE && r->many) || (o->any_type && r->unrestricted))
        return true;
    return role_type(r, t) == dtype;
}

static bool rank_fits(const struct operands *o, const struct typing *t)
{
    const struct tensor *first = o->n_in ? o->in[0] : NULL;
    bool known = first && dtype_info[first->dtype].tensor && (o->runtime || first->shape.rank);

    return !known || (t->ranks >> first->shape.rank & 1);
}

/* The feature level at which both exist. */
static int later(const struct form *f, const struct typing *t)
{
    return (int) t->since > (int) f->since ? (int) t->since : (int) f->since;
}

/* Feature level of this form and typing row; 0: the operands' types do not fit. */
static int fit(const struct operands *o, const struct form *f, const struct typing *t, int spread)
{
    int level = later(f, t);

    for (uint32_t i = 0; i < o->n_in; i++) {
        const struct role *r = role_at(o->op, f, i, spread);
        if (!o->in[i] ? !r->optional : !type_fits(o, r, t, o->in[i]->dtype))
            return 0;
        if ((int) r->since > level)
            level = (int) r->since;
    }
    for (uint32_t i = 0; i < o->n_out; i++) {
        const struct role *r = out_role_at(o->op, i);
        if (!type_fits(o, r, t, o->out[i]->dtype))
            return 0;
        if ((int) r->since > level)
            level = (int) r->since;
    }
    return level;
}

static const char *type_list(const struct operands *o, char *text, size_t size)
{
    size_t n = 0;

    text[0] = 0;
    for (uint32_t i = 0; i < o->n_in && n + 48 < size; i++) {
        char shape[SHAPE_TEXT] = "";
        if (o->in[i] && o->in[i]->shape.rank && i == 0)
            shape_text(&o->in[i]->shape, shape);
        n += (size_t) snprintf(text + n, size - n, "%s%s%.24s", i ? ", " : "",
                               o->in[i] ? dtype_info[o->in[i]->dtype].name : "none", shape);
    }
    for (uint32_t i = 0; i < o->n_out && n + 48 < size; i++)
        n += (size_t) snprintf(text + n, size - n, "%s%s", i ? ", " : " -> ",
                               dtype_info[o->out[i]->dtype].name);
    return text;
}

/* Which rows of a record fit the operands of a call. */
struct fitting {
    bool arity, types; /* whether a form has the number of operands, and a row also their types */
    int level;         /* the lowest feature level at which a row fits, ranks included; 0: none */
    const struct form *form;
    const struct typing *typing;
    uint32_t n_many;
};

/* The form and typing row that need the lowest feature level. */
static struct fitting find_rows(const struct operands *o)
{
    const struct op *op = o->op;
    struct fitting best = { .level = 0 };

    for (int f = 0; f < op->n_forms && best.level != L1; f++) {
        int spread = form_spread(o, &op->forms[f]);
        if (spread < 0)
            continue;
        best.arity = true;
        for (int t = 0; t < op->n_typings; t++) {
            if (best.level && later(&op->forms[f], &op->typings[t]) >= best.level)
                continue;
            int level = fit(o, &op->forms[f], &op->typings[t], spread);
            best.types |= level > 0;
            if (level && rank_fits(o, &op->typings[t]) && (!best.level || level < best.level)) {
                best.level = level;
                best.form = &op->forms[f];
                best.typing = &op->typings[t];
                best.n_many = (uint32_t) spread;
            }
        }
    }
    if (best.level && best.level < (int) op->since)
        best.level = (int) op->since;
    return best;
}

int op_level_of_types(const struct op *op, const struct tensor *const *in, uint32_t n_in,
                      struct tensor *const *out, uint32_t n_out)
{
    struct operands o = { op, in, out, n_in, n_out, .any_type = true };

    return out_arity_fits(&o) ? find_rows(&o).level : 0;
}

/* Chooses form and typing row; returns the feature level that they need. */
static int choose(const struct operands *o, struct call *c, struct why *w)
{
    struct fitting best = find_rows(o);
    char text[300];

    c->form = best.form;
    c->typing = best.typing;
    c->n_many = best.n_many;
    if (best.level)
        return best.level;
    REQUIRE(w, best.arity, "%s: no form takes %u inputs", o->op->name, o->n_in);
    type_list(o, text, sizeof text);
    REQUIRE(w, best.types, "%s: no typing row accepts (%s)", o->op->name, text);
    return why_fail(w, WHY_EXECUTION, "%s: rank %u of (%s) is not allowed", o->op->name,
                    o->in[0]->shape.rank, text);
}

/* Known ranks of inputs that have a rule of their own. */
static int check_ranks(const struct call *c, struct why *w)
{
    for (uint32_t i = 0; i < c->n_in; i++) {
        const struct role *r = call_role(c, i);
        uint32_t rank = c->arg[i]->shape.rank;
        REQUIRE(w, !r->ranks || !rank || (r->ranks >> rank & 1), "%s: %s has rank %u", c->op->name,
                r->name, rank);
    }
    return 0;
}

uint32_t op_needed_inputs(const struct op *op, const struct tensor *const *in, uint32_t n_in,
                          struct tensor *const *out, uint32_t n_out)
{
    struct operands o = { op, in, out, n_in, n_out, .any_type = true };
    const struct form *full = find_rows(&o).form, *cut;
    uint32_t needed = n_in;

    if (!full || form_spread(&o, full) > 0)
        return n_in;
    while (o.n_in > 0 && role_holds_default(op, &op->in[full->role[o.n_in - 1]], in[o.n_in - 1])) {
        o.n_in--;
        cut = find_rows(&o).form;
        if (cut && !memcmp(cut->role, full->role, o.n_in))
            needed = o.n_in;
    }
    return needed;
}

static void to_nhwc(struct shape *s)
{
    if (s->rank != 4)
        return;
    uint32_t channels = s->dim[1];
    s->dim[1] = s->dim[2];
    s->dim[2] = s->dim[3];
    s->dim[3] = channels;
}

static void to_nchw(struct shape *s)
{
    if (s->rank != 4)
        return;
    uint32_t channels = s->dim[3];
    s->dim[3] = s->dim[2];
    s->dim[2] = s->dim[1];
    s->dim[1] = channels;
}

/* Makes in[] and out[] refer to NHWC views of NCHW images. */
static void view_as_nhwc(struct call *c)
{
    int n = 0;

    for (int r = 0; r < c->op->n_in && n < MAX_VIEWS; r++)
        if (c->op->in[r].image && c->in[r]) {
            c->view[n] = *c->in[r];
            to_nhwc(&c->view[n].shape);
            c->in[r] = &c->view[n++];
        }
    for (uint32_t i = 0; i < c->n_out && i < MAX_OUT_ROLES && n < MAX_VIEWS; i++) {
        c->out_view[i] = c->out[i];
        if (out_role_at(c->op, i)->image) {
            c->view[n] = *c->out[i];
            to_nhwc(&c->view[n].shape);
            c->out_view[i] = &c->view[n++];
        }
    }
    c->out = c->out_view;
    c->nchw = true;
}

static int unify_dim(struct call *c, const struct role *r, char letter, uint32_t dim, bool runtime,
                     struct why *w)
{
    unsigned char l = (unsigned char) letter;

    if (letter == '?' || (dim == 0 && !runtime))
        return 0;
    if (letter >= '0' && letter <= '9') {
        REQUIRE(w, dim == (uint32_t) (letter - '0'), "%s: %s has dimension %u where %c is required",
                c->op->name, r->name, dim, letter);
        return 0;
    }
    if (!c->bound[l]) {
        c->bound[l] = true;
        c->letter[l] = dim;
    }
    REQUIRE(w, c->letter[l] == dim, "%s: %s has %c = %u, but it is %u elsewhere", c->op->name,
            r->name, letter, dim, c->letter[l]);
    return 0;
}

enum { STAR = '*' };

/* The dimensions of '*' are bound as letters with codes 1, 2, ...; '*' itself to the rank. */
static char star_letter(uint32_t i)
{
    return (char) (i + 1);
}

static int unify(struct call *c, const struct role *r, const struct tensor *t, bool runtime,
                 struct why *w)
{
    const struct shape *s = &t->shape;
    char text[SHAPE_TEXT];

    if (!r->dims) {
        REQUIRE(w, s->rank == 0, "%s: %s must be a scalar, not %s", c->op->name, r->name,
                shape_text(s, text));
        return 0;
    }
    if (!strcmp(r->dims, "?") || (s->rank == 0 && !runtime))
        return 0;
    if (r->dims[0] == STAR) {
        if (!c->bound[STAR]) {
            c->bound[STAR] = true;
            c->letter[STAR] = s->rank;
        }
        REQUIRE(w, c->letter[STAR] == s->rank, "%s: %s has rank %u, not %u", c->op->name, r->name,
                s->rank, c->letter[STAR]);
        for (uint32_t i = 0; i < s->rank; i++)
            TRY(unify_dim(c, r, star_letter(i), s->dim[i], runtime, w));
        return 0;
    }
    REQUIRE(w, s->rank == strlen(r->dims), "%s: %s has shape %s where [%s] is required",
            c->op->name, r->name, shape_text(s, text), r->dims);
    for (uint32_t i = 0; i < s->rank; i++)
        TRY(unify_dim(c, r, r->dims[i], s->dim[i], runtime, w));
    return 0;
}

/* Checks the declared scale and zero point against the role's rule (enum qrule). */
static int check_quant(const struct call *c, const struct role *r, const struct tensor *t,
                       struct why *w)
{
    const struct dtype_info *info = &dtype_info[t->dtype];
    const struct tensor *first = c->arg[0];

    if (r->q == Q_PRODUCT && info->quant == QUANT_BIAS) {
        const struct tensor *filter = c->n_in > 1 ? c->arg[1] : NULL;
        if (!first || !filter || dtype_info[first->dtype].quant == QUANT_NONE)
            return 0;
        double want = filter->channel_scale ? 0 : (double) first->scale * (double) filter->scale;
        REQUIRE(w, fabs((double) t->scale - want) <= 1e-6 * want && t->zero == 0,
                "%s: %s has scale %g, zero point %d where %g, 0 is required", c->op->name, r->name,
                (double) t->scale, t->zero, want);
        return 0;
    }
    if (info->quant == QUANT_NONE || info->quant == QUANT_BIAS)
        return 0;
    if (r->q == Q_SAME && first)
        REQUIRE(w, tensor_same_quant(t, first),
                "%s: %s has scale %g, zero point %d, must be those of the first input: %g, %d",
                c->op->name, r->name, (double) t->scale, t->zero, (double) first->scale,
                first->zero);
    if (r->q == Q_FIXED) {
        int32_t zero = (int32_t) info->codec->min + r->qzero;
        REQUIRE(w, (double) t->scale == r->qscale && t->zero == zero,
                "%s: %s has scale %g, zero point %d where %g, %d is required", c->op->name, r->name,
                (double) t->scale, t->zero, r->qscale, zero);
    }
    if (r->q == Q_LIKE && c->in[r->qlike]) {
        const struct tensor *like = c->in[r->qlike];
        REQUIRE(w, tensor_same_quant(t, like),
                "%s: %s has scale %g, zero point %d, must be those of %s: %g, %d", c->op->name,
                r->name, (double) t->scale, t->zero, c->op->in[r->qlike].name, (double) like->scale,
                like->zero);
    }
    if (r->q == Q_POWER) {
        int exponent;
        double scale = (double) t->scale;
        bool power = quant_exponent(scale, &exponent), fits = power && t->zero == 0;
        fits = fits && ldexp(1, exponent) <= r->qscale && ldexp(1, exponent) >= r->qscale / 64;
        REQUIRE(w, fits,
                "%s: %s has scale %g, zero point %d where a power of two from %g to %g is required",
                c->op->name, r->name, scale, t->zero, r->qscale / 64, r->qscale);
    }
    if (r->q == Q_OVER && first && c->n_in > 1 && c->arg[1])
        REQUIRE(w, (double) t->scale > (double) first->scale * (double) c->arg[1]->scale,
                "%s: %s has scale %g, must be greater than %g * %g", c->op->name, r->name,
                (double) t->scale, (double) first->scale, (double) c->arg[1]->scale);
    return 0;
}

int op_check_signature(const struct op *op, const struct tensor *const *in, uint32_t n_in,
                       struct tensor *const *out, uint32_t n_out, struct why *w)
{
    struct operands o = { op, in, out, n_in, n_out, .any_type = true };
    struct call c = { .op = op, .arg = in, .n_in = n_in, .out = out, .n_out = n_out };

    REQUIRE(w, out_arity_fits(&o), "%s: %u outputs are not allowed", op->name, n_out);
    int level = choose(&o, &c, w);
    if (level >= 0 && check_ranks(&c, w) < 0)
        level = -1;
    for (uint32_t i = 0; i < n_out && level >= 0; i++)
        if (out_role_at(op, i)->q == Q_OVER && check_quant(&c, out_role_at(op, i), out[i], w) < 0)
            level = -1;
    if (level < 0 && w)
        w->code = WHY_INVALID; /* ranks, too */
    return level;
}

static int unify_inputs(struct call *c, bool runtime, struct why *w)
{
    const struct tensor *first = c->n_in ? c->arg[0] : NULL;
    if (first && dtype_info[first->dtype].tensor && (runtime || first->shape.rank)) {
        c->bound['R'] = true;
        c->letter['R'] = first->shape.rank;
    }
    for (uint32_t i = 0; i < c->n_in; i++) {
        const struct role *r = call_role(c, i);
        const struct tensor *t = r->many ? c->arg[i] : c->in[r - c->op->in];
        if (!t)
            continue;
        if (!(r->many && c->op->control_kind != CONTROL_NONE))
            TRY(unify(c, r, t, runtime, w));
    }
    return 0;
}

static void shape_from_pattern(const struct call *c, const struct role *r, struct shape *s)
{
    *s = (struct shape){ 0 };
    if (!r->dims || !strcmp(r->dims, "?"))
        return;
    if (r->dims[0] == STAR) {
        s->rank = c->bound[STAR] ? c->letter[STAR] : 0;
        for (uint32_t i = 0; i < s->rank; i++)
            s->dim[i] = c->letter[(unsigned char) star_letter(i)];
        return;
    }
    s->rank = (uint32_t) strlen(r->dims);
    for (uint32_t i = 0; i < s->rank; i++) {
        char l = r->dims[i];
        s->dim[i] = l >= '0' && l <= '9' ? (uint32_t) (l - '0') : c->letter[(unsigned char) l];
    }
}

/* Fills unknown dimensions of the inferred shape from the declared one; known ones must agree. */
static int merge_shape(const struct call *c, const struct role *r, const struct shape *declared,
                       struct shape *inferred, bool runtime, struct why *w)
{
    char a[SHAPE_TEXT], b[SHAPE_TEXT];

    if (inferred->rank == 0 && !runtime)
        *inferred = *declared;
    if (declared->rank == 0)
        return 0;
    REQUIRE(w, declared->rank == inferred->rank, "%s: %s is declared %s, but its shape is %s",
            c->op->name, r->name, shape_text(declared, a), shape_text(inferred, b));
    for (uint32_t i = 0; i < declared->rank; i++) {
        if (inferred->dim[i] == 0 && !runtime)
            inferred->dim[i] = declared->dim[i];
        REQUIRE(w, declared->dim[i] == 0 || declared->dim[i] == inferred->dim[i],
                "%s: %s is declared %s, but its shape is %s", c->op->name, r->name,
                shape_text(declared, a), shape_text(inferred, b));
    }
    return 0;
}

enum { MAX_SAVED = 64 };

static int infer_outputs(struct call *c, bool runtime, struct why *w)
{
    struct shape declared[MAX_SAVED];
    uint32_t n = c->n_out < MAX_SAVED ? c->n_out : MAX_SAVED;
    bool complete = true; /* the shapes of the inputs */
    int rc = 0;

    REQUIRE(w, c->n_out <= MAX_SAVED, "%s: %u outputs, at most %d are supported", c->op->name,
            c->n_out, MAX_SAVED);
    for (uint32_t i = 0; i < n; i++) {
        declared[i] = c->out[i]->shape;
        shape_from_pattern(c, out_role_at(c->op, i), &c->out[i]->shape);
    }
    for (uint32_t i = 0; i < c->n_in && !runtime; i++)
        complete &=
            !c->arg[i] || !dtype_info[c->arg[i]->dtype].tensor || shape_known(&c->arg[i]->shape);
    if (c->op->infer && complete)
        rc = c->op->infer(c, w);
    runtime = runtime && !c->op->measure; /* with measure(), 0 still means unknown */
    for (uint32_t i = 0; i < n && rc >= 0; i++) {
        const struct role *r = out_role_at(c->op, i);
        rc = merge_shape(c, r, &declared[i], &c->out[i]->shape, runtime, w);
        size_t size = dtype_info[c->out[i]->dtype].codec->size;
        if (rc >= 0 && shape_check_size(&c->out[i]->shape, size ? size : 1) < 0)
            rc = why_fail(w, WHY_INVALID, "%s: %s is too large", c->op->name, r->name);
    }
    if (rc < 0)
        for (uint32_t i = 0; i < n; i++)
            c->out[i]->shape = declared[i];
    return rc;
}

/* If only shapes contradict each other, the call is bound, c->level is set, and -1 returned. */
int op_bind(const struct op *op, const struct tensor *const *in, uint32_t n_in,
            struct tensor *const *out, uint32_t n_out, bool runtime, struct call *ret_call,
            struct why *w)
{
    struct operands o = { op, in, out, n_in, n_out, .runtime = runtime };
    struct call *c = ret_call;

    memset(c, 0, sizeof *c);
    c->op = op;
    REQUIRE(w, out_arity_fits(&o), "%s: %u outputs are not allowed", op->name, n_out);
    c->arg = in;
    c->out = out;
    c->n_in = n_in;
    c->n_out = n_out;
    int level = choose(&o, c, w);
    if (level < 0)
        return -1;

    /* operands to roles */
    uint32_t at = 0;
    for (int k = 0; c->form->role[k] != END && at < n_in; k++) {
        int role = c->form->role[k];
        c->in[role] = in[at];
        if (op->in[role].many)
            c->many_at = at;
        at += op->in[role].many ? c->n_many : 1;
    }
    for (uint32_t i = 0; i < n_in; i++)
        if (in[i])
            TRY(check_quant(c, call_role(c, i), in[i], w));
    for (uint32_t i = 0; i < n_out; i++)
        TRY(check_quant(c, out_role_at(op, i), out[i], w));

    /* shapes: those of the inputs are checked, those of the outputs inferred */
    if (runtime && op->control) { /* output shapes are those of the subgraph's outputs */
        TRY(unify_inputs(c, runtime, w));
        return level;
    }
    bool layout = op->layout && c->in[op->layout - 1];
    if (layout && !call_known(c, op->layout - 1))
        return level; /* shapes depend on the layout, known only at execution */
    if (layout && call_real(c, op->layout - 1) != 0)
        view_as_nhwc(c);
    int bound = unify_inputs(c, runtime, w);
    if (bound >= 0)
        bound = infer_outputs(c, runtime, w);
    c->level = c->level > level ? c->level : level;
    if (bound < 0) {
        if (w && w->code == WHY_INVALID)
            w->code = WHY_EXECUTION; /* NNAPI checks shapes at execution */
        return -1;
    }
    for (uint32_t i = 0; c->nchw && i < n_out && i < MAX_OUT_ROLES; i++)
        if (c->out_view[i] != out[i]) {
            out[i]->shape = c->out_view[i]->shape;
            to_nchw(&out[i]->shape);
        }
    return c->level;
}
