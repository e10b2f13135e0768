/* The catalogue's table; accessors of records and calls.  golden/model/bind.c binds calls to
 * records. */
#include "golden/model/op.h"

#include <math.h>
#include <string.h>

#include "golden/model/extension.h"

#define OP(code, id) extern const struct op op_##id;
#include "golden/ops.def"
#undef OP

const struct op *const op_table[] = {
#define OP(code, id) &op_##id,
#include "golden/ops.def"
#undef OP
};
const int op_table_n = COUNT(op_table);

const struct op *op_find(int32_t code)
{
    int lo = 0, hi = op_table_n - 1;

    if (extension_prefix_of(code))
        return extension_op(code);
    if (code >= lo && code <= hi && op_table[code]->code == code) /* as a rule */
        return op_table[code];
    while (lo <= hi) { /* ops.def is sorted by code */
        int mid = (lo + hi) / 2;
        if (op_table[mid]->code == code)
            return op_table[mid];
        if (op_table[mid]->code < code)
            lo = mid + 1;
        else
            hi = mid - 1;
    }
    return NULL;
}

const struct op *op_by_name(const char *name)
{
    for (int i = 0; i < op_table_n; i++)
        if (!strcmp(op_table[i]->name, name))
            return op_table[i];
    return NULL;
}

bool quant_exponent(double scale, int *ret_exponent)
{
    static const double least = 0x1.ffa52de61c11fp-1; /* 2^-0.001 */
    int exponent;
    double mantissa = frexp(scale, &exponent);

    if (mantissa <= 0.5 / least) {
        mantissa *= 2;
        exponent--;
    }
    if (!(mantissa >= least && mantissa <= 1 / least))
        return false;
    *ret_exponent = exponent;
    return true;
}

enum dtype role_type(const struct role *r, const struct typing *t)
{
    return r->slot < 0 ? (enum dtype)(-1 - r->slot) : t->slot[r->slot];
}

/* Whether a role is a scalar that may be left off. */
static bool role_has_default(const struct op *op, const struct role *r)
{
    return !r->dims && !r->many && (r->optional || r->since > op->since);
}

bool op_has_defaults(const struct op *op)
{
    for (int i = 0; i < op->n_in; i++)
        if (role_has_default(op, &op->in[i]))
            return true;
    return false;
}

bool role_holds_default(const struct op *op, const struct role *r, const struct tensor *value)
{
    return role_has_default(op, r) && value && value->data && tensor_at(value, 0) == r->otherwise;
}

int form_len(const struct form *f)
{
    int n = 0;

    while (f->role[n] != END)
        n++;
    return n;
}

int call_arg(const struct call *c, int role)
{
    uint32_t at = 0;

    if (!c->n_many && c->form->role[role] == role) /* as a rule */
        return (uint32_t) role < c->n_in ? role : -1;
    for (int i = 0; c->form->role[i] != END; i++) {
        if (c->form->role[i] == role)
            return at < c->n_in ? (int) at : -1;
        at += c->op->in[c->form->role[i]].many ? c->n_many : 1;
    }
    return -1;
}

bool call_known(const struct call *c, int role)
{
    return !c->in[role] || c->in[role]->data;
}

double call_real(const struct call *c, int role)
{
    const struct tensor *t = c->in[role];

    return t && t->data ? tensor_at(t, 0) : c->op->in[role].otherwise;
}

int32_t call_int(const struct call *c, int role)
{
    const struct tensor *t = c->in[role];

    if (t && t->data && (t->dtype == DT_INT32 || t->dtype == DT_I32))
        return *(const int32_t *) t->data;
    double x = call_real(c, role);
    return x >= INT32_MAX ? INT32_MAX : x <= INT32_MIN ? INT32_MIN : isnan(x) ? 0 : (int32_t) x;
}
