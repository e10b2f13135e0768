/* The kernel tables of devices with float and with fixed-point arithmetic, and kernel sets bound to
 * operations. */
#include <stdlib.h>
#include <string.h>

#include "sim/kernels/kernel.h"

const struct device_kernel *const float_tables[] = {
    integer_kernels,
    order_kernels,
    lookup_kernels,
    quantised_cell_kernels,
    float_elementwise_kernels,
    float_axis_kernels,
    float_matrix_kernels,
    float_window_kernels,
    float_region_kernels,
    float_recurrent_kernels,
    float_detection_kernels,
    float_keypoint_kernels,
    float_random_kernels,
    NULL,
};

const struct device_kernel *const fixed_tables[] = {
    integer_kernels,
    order_kernels,
    lookup_kernels,
    quantised_cell_kernels,
    fixed_elementwise_kernels,
    fixed_table_kernels,
    fixed_window_kernels,
    fixed_image_kernels,
    NULL,
};

const struct device_kernel *const fixed_move_tables[] = { fixed_move_kernels, NULL };

static const char *const role_names[N_ROLES] = {
#define ROLE(id, name) [ROLE_##id] = #name,
#include "sim/kernels/roles.def"
#undef ROLE
};
_Static_assert(N_ROLES <= ROLE_FORWARD, "a role and its direction are one number");

static int find_operand(const struct op *op, int side, enum kernel_role role)
{
    static const char *const prefixes[CELL_SIDES] = { "", "fw_", "bw_" };
    const char *prefix = prefixes[side];
    size_t n = strlen(prefix);

    for (int i = 0; i < op->n_in; i++)
        if (!strncmp(op->in[i].name, prefix, n) && !strcmp(op->in[i].name + n, role_names[role]))
            return i;
    return OPERAND_ABSENT;
}

int kernel_role_operand(const struct op *op, enum kernel_role role)
{
    return find_operand(op, 0, role);
}

static bool has_role(const struct op *op, enum kernel_role role)
{
    for (int side = 0; side < CELL_SIDES; side++)
        if (find_operand(op, side, role) >= 0)
            return true;
    return false;
}

static bool family_has_role(const struct device_kernel *table, const struct device_kernel *k,
                            enum kernel_role role)
{
    for (; table->op; table++) {
        const struct op *op = table->run == k->run ? op_by_name(table->op) : NULL;
        if (op && has_role(op, role))
            return true;
    }
    return false;
}

/* Fills operand[], with k->roles. */
static int bind_roles(const struct device_kernel *table, struct bound_kernel *b, struct why *w)
{
    memset(b->operand, OPERAND_UNDECLARED, sizeof(b->operand));
    b->operand[0][ROLE_NONE] = OPERAND_ABSENT;
    for (const struct kernel_roles *r = b->kernel->roles; r; r = r->also)
        for (int i = 0; i < MAX_KERNEL_ROLES && r->role[i] != ROLE_NONE; i++) {
            enum kernel_role role = r->role[i];
            if (!has_role(b->op, role) && !family_has_role(table, b->kernel, role))
                return why_fail(w, WHY_SYSTEM,
                                "the kernel of %s reads an operand \"%s\", which no operation of "
                                "its family has",
                                b->kernel->op, role_names[role]);
            for (int side = 0; side < CELL_SIDES; side++)
                b->operand[side][role] = (int8_t) find_operand(b->op, side, role);
        }
    return 0;
}

static int bind(const struct device_kernel *const *tables, struct kernel_set *s, struct why *w)
{
    for (; *tables; tables++)
        for (const struct device_kernel *k = *tables; k->op; k++) {
            struct bound_kernel *b = &s->bound[s->n++];
            *b = (struct bound_kernel){ k, op_by_name(k->op) };
            if (!b->op)
                return why_fail(w, WHY_SYSTEM, "a kernel of %s, which is no operation", k->op);
            TRY(bind_roles(*tables, b, w));
        }
    return 0;
}

int kernel_set_new(const struct device_kernel *const *tables, struct kernel_set **ret_set,
                   struct why *w)
{
    size_t n = 0;

    for (const struct device_kernel *const *t = tables; *t; t++)
        for (const struct device_kernel *k = *t; k->op; k++)
            n++;
    struct kernel_set *s = calloc(1, sizeof(*s) + n * sizeof(s->bound[0]));
    if (!s)
        return why_no_memory(w);
    if (bind(tables, s, w) < 0) {
        free(s);
        return -1;
    }
    *ret_set = s;
    return 0;
}

void kernel_set_free(struct kernel_set *s)
{
    free(s);
}

const struct bound_kernel *kernel_find(const struct kernel_set *s, const struct op *op,
                                       enum dtype type)
{
    for (int i = 0; i < s->n; i++)
        if (s->bound[i].op == op && s->bound[i].kernel->types >> type & 1u)
            return &s->bound[i];
    return NULL;
}
