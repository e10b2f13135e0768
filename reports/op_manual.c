/* The manual of an operation, from its record: one page, as plain text or as Markdown. */
#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "reports/grid.h"
#include "reports/reports.h"

/* --- operands */

__attribute__((format(printf, 3, 4))) static void append(char *text, size_t room, const char *fmt,
                                                         ...)
{
    size_t used = strlen(text);
    va_list args;
    va_start(args, fmt);
    vsnprintf(text + used, room - used, fmt, args);
    va_end(args);
}

static const char *type_text(const struct op *op, const struct role *r, char text[64])
{
    if (op->control_kind != CONTROL_NONE && r->many) /* operands of IF and WHILE */
        return "any";
    if (r->slot < 0)
        return dtype_info[-1 - r->slot].name;
    snprintf(text, 64, "T%d", r->slot);
    return text;
}

/* NHWI as [N,H,W,I]. */
static const char *shape_pattern(const struct role *r, char text[64])
{
    if (!r->dims)
        return "scalar";
    if (!strcmp(r->dims, "?"))
        return "any";
    if (!strcmp(r->dims, "*"))
        return "S";
    snprintf(text, 64, "[");
    for (const char *p = r->dims; *p; p++)
        append(text, 64, "%c%s", *p, p[1] ? "," : "]");
    return text;
}

static const char *notes_text(const struct op *op, const struct role *r, char text[GRID_CELL])
{
    bool flag = r->slot == FIXED(DT_BOOL);

    snprintf(text, GRID_CELL, "%s", r->doc ? r->doc : "");
    if (r->many)
        append(text, GRID_CELL, "; one or more");
    if (r->unspecified)
        append(text, GRID_CELL, "; its values are not specified");
    if (r->optional && flag)
        append(text, GRID_CELL, "; optional, default %s", r->otherwise != 0 ? "true" : "false");
    else if (r->optional && !r->dims)
        append(text, GRID_CELL, "; optional, default %g", r->otherwise);
    else if (r->optional)
        append(text, GRID_CELL, "; optional");
    if (r->needs & NEEDS_CONST)
        append(text, GRID_CELL, "; usually constant");
    if (r->since > op->since)
        append(text, GRID_CELL, "; since level %d", (int) r->since);
    return text;
}

static void role_cells(const struct op *op, const struct role *r, struct grid *g)
{
    char type[64], shape[64], notes[GRID_CELL];

    grid_add(g, "%s", r->name);
    grid_add(g, "%s", type_text(op, r, type));
    grid_add(g, "%s", shape_pattern(r, shape));
    grid_add(g, "%s", notes_text(op, r, notes));
}

static void role_heads(struct grid *g)
{
    static const char *const head[] = { "name", "type", "shape", "meaning" };

    for (int i = 0; i < COUNT(head); i++)
        grid_add(g, "%s", head[i]);
}

static void put_title(const char *title, bool markdown, FILE *to)
{
    fprintf(to, markdown ? "**%s**\n\n" : "%s\n", title);
}

/* Position of a role in a form: "3"; "0.." for a variadic one, after which positions count from n.
 */
static void position_cell(const struct op *op, const struct form *f, int role, struct grid *g)
{
    int behind = -1;

    for (int i = 0; f->role[i] != END; i++) {
        bool many = op->in[f->role[i]].many;
        if (f->role[i] != role) {
            behind = many ? 0 : behind < 0 ? -1 : behind + 1;
            continue;
        }
        if (behind > 0)
            grid_add(g, "n+%d", behind);
        else if (behind == 0)
            grid_add(g, "n");
        else
            grid_add(g, "%d%s", i, many ? ".." : "");
        return;
    }
    grid_add(g, "-");
}

static int index_of(const int *order, int n, int role)
{
    for (int i = 0; i < n; i++)
        if (order[i] == role)
            return i;
    return -1;
}

/* Roles in the order of the longest form; roles that only other forms have are inserted after their
 * predecessor there. */
static void order_roles(const struct op *op, int order[MAX_ROLES])
{
    const struct form *longest = &op->forms[0];
    int n = 0;

    for (int f = 1; f < op->n_forms; f++)
        if (form_len(&op->forms[f]) > form_len(longest))
            longest = &op->forms[f];
    for (const unsigned char *r = longest->role; *r != END; r++)
        order[n++] = *r;
    for (int f = 0; f < op->n_forms; f++)
        for (int i = 0; op->forms[f].role[i] != END; i++) {
            int role = op->forms[f].role[i];
            if (index_of(order, n, role) >= 0)
                continue;
            int at = i ? index_of(order, n, op->forms[f].role[i - 1]) + 1 : 0;
            memmove(&order[at + 1], &order[at], (size_t) (n++ - at) * sizeof *order);
            order[at] = role;
        }
}

static void put_inputs(const struct op *op, bool markdown, FILE *to)
{
    struct grid g = { .columns = 4 + op->n_forms };
    int order[MAX_ROLES];

    order_roles(op, order);
    put_title(op->n_forms > 1 ? "Inputs, in one of these orders" : "Inputs", markdown, to);
    /* Several forms are listed by the letters that head their columns of positions. */
    for (int f = 0; f < op->n_forms && op->n_forms > 1; f++) {
        const struct form *form = &op->forms[f];
        fprintf(to, "%s%c: %s", markdown ? "- " : "    ", 'A' + f,
                *form->name ? form->name : "plain");
        if (form->since > op->since)
            fprintf(to, " (since level %d)", (int) form->since);
        fputs(f == op->n_forms - 1 ? "\n\n" : "\n", to);
    }
    for (int f = 0; f < op->n_forms; f++)
        grid_add(&g, "%c", op->n_forms > 1 ? 'A' + f : '#');
    role_heads(&g);
    for (int r = 0; r < op->n_in; r++) {
        for (int f = 0; f < op->n_forms; f++)
            position_cell(op, &op->forms[f], order[r], &g);
        role_cells(op, &op->in[order[r]], &g);
    }
    grid_print(&g, markdown, to);
    grid_done(&g);
}

static void put_outputs(const struct op *op, bool markdown, FILE *to)
{
    struct grid g = { .columns = 5 };

    put_title("Outputs", markdown, to);
    grid_add(&g, "#");
    role_heads(&g);
    for (int i = 0; i < op->n_out; i++) {
        grid_add(&g, "%d%s", i, op->out[i].many ? ".." : "");
        role_cells(op, &op->out[i], &g);
    }
    grid_print(&g, markdown, to);
    grid_done(&g);
}

/* --- types */

static int count_slots(const struct op *op)
{
    int slots = 0;
    for (int i = 0; i < op->n_in; i++)
        slots = op->in[i].slot >= slots ? op->in[i].slot + 1 : slots;
    for (int i = 0; i < op->n_out; i++)
        slots = op->out[i].slot >= slots ? op->out[i].slot + 1 : slots;
    return slots;
}

/* "1-4", "2, 4": 0 is a tensor of unknown rank. */
static void put_ranks(unsigned ranks, char *text, size_t room)
{
    for (int lo = 0; lo <= MAX_RANK; lo++) {
        int hi = lo;
        if (!(ranks >> lo & 1))
            continue;
        while (hi < MAX_RANK && ranks >> (hi + 1) & 1)
            hi++;
        append(text, room, *text ? ", %d" : "%d", lo);
        if (hi > lo)
            append(text, room, "-%d", hi);
        lo = hi;
    }
}

static void put_typings(const struct op *op, bool markdown, FILE *to)
{
    int slots = count_slots(op);
    struct grid g = { .columns = 2 + slots };

    grid_add(&g, "level");
    grid_add(&g, "ranks");
    for (int s = 0; s < slots; s++)
        grid_add(&g, "T%d", s);
    for (int i = 0; i < op->n_typings; i++) {
        const struct typing *t = &op->typings[i];
        char ranks[64] = "";
        put_ranks(t->ranks, ranks, sizeof ranks);
        grid_add(&g, "%d", (int) t->since);
        grid_add(&g, "%s", ranks);
        for (int s = 0; s < slots; s++)
            grid_add(&g, "%s", dtype_info[t->slot[s]].name);
    }
    put_title("Types, with the feature level that introduced them and the ranks of the first input",
              markdown, to);
    grid_print(&g, markdown, to);
    grid_done(&g);
}

/* --- rules */

static void put_bullet(bool markdown, FILE *to)
{
    fputs(markdown ? "- " : "    ", to);
}

static bool takes(const struct op *op, const struct role *r, enum quant quant)
{
    for (int t = 0; t < op->n_typings; t++)
        if (dtype_info[role_type(r, &op->typings[t])].quant == quant)
            return true;
    return false;
}

static void fixed_quant_text(const struct op *op, const struct role *r, char text[GRID_CELL])
{
    if (r->qscale < 1)
        snprintf(text, GRID_CELL, "scale 1/%g, ", 1 / r->qscale);
    else
        snprintf(text, GRID_CELL, "scale %g, ", r->qscale);
    if (!takes(op, r, QUANT_AFFINE))
        append(text, GRID_CELL, "zero point 0");
    else if (r->qzero)
        append(text, GRID_CELL, "zero point %" PRId32 " above the lowest value", r->qzero);
    else
        append(text, GRID_CELL, "zero point the lowest value");
}

/* The rule for a role's scale and zero point; false: there is none. */
static bool quant_text(const struct op *op, const struct role *r, char text[GRID_CELL])
{
    switch (r->q) {
    case Q_FREE: return false;
    case Q_SAME: snprintf(text, GRID_CELL, "scale and zero point of the first input"); break;
    case Q_FIXED: fixed_quant_text(op, r, text); break;
    case Q_PRODUCT:
        snprintf(text, GRID_CELL, "scale of %s times scale of %s%s, zero point 0", op->in[0].name,
                 op->in[1].name,
                 takes(op, &op->in[1], QUANT_CHANNEL) ? " (0 where that has a scale per channel)"
                                                      : "");
        break;
    case Q_OVER:
        snprintf(text, GRID_CELL,
                 "before level 3 a scale larger than the product of the first two "
                 "inputs' scales");
        break;
    case Q_LIKE:
        if (r == &op->in[r->qlike])
            snprintf(text, GRID_CELL, "the same scale and zero point for all");
        else
            snprintf(text, GRID_CELL, "scale and zero point of %s", op->in[r->qlike].name);
        break;
    case Q_POWER:
        snprintf(text, GRID_CELL, "scale a power of two from 1/%g to 1/%g, zero point 0",
                 64 / r->qscale, 1 / r->qscale);
        break;
    }
    return takes(op, r, QUANT_AFFINE) || takes(op, r, QUANT_SYMM) || takes(op, r, QUANT_BIAS);
}

/* A prefix for results that have the name of an operand. */
static const char *kind_of(const struct op *op, const struct role *role)
{
    for (int r = 0; r < op->n_in; r++)
        if (&op->in[r] != role && !strcmp(op->in[r].name, role->name))
            return "result ";
    return "";
}

/* Adds a line for each rule; successive roles with the same rule share it. */
static void add_quant_rules(const struct op *op, const struct role *role, int n, struct grid *g)
{
    char names[GRID_CELL] = "", rule[GRID_CELL] = "", text[GRID_CELL];

    for (int r = 0; r <= n; r++) {
        bool has = r < n && quant_text(op, &role[r], text);
        if (*names && !(has && !strcmp(text, rule))) {
            grid_add(g, "%.*s: %s", (int) strlen(names) - 2, names, rule);
            *names = 0;
        }
        if (!has)
            continue;
        append(names, GRID_CELL, "%s%s, ", kind_of(op, &role[r]), role[r].name);
        snprintf(rule, GRID_CELL, "%s", text);
    }
}

static void put_rules(const struct op *op, bool markdown, FILE *to)
{
    struct grid g = { .columns = 1 };
    char images[GRID_CELL] = "";

    add_quant_rules(op, op->in, op->n_in, &g);
    add_quant_rules(op, op->out, op->n_out, &g);

    for (int r = 0; r < op->n_in; r++)
        if (op->in[r].image)
            append(images, sizeof images, "%s, ", op->in[r].name);
    for (int r = 0; r < op->n_out; r++)
        if (op->out[r].image)
            append(images, sizeof images, "%s, ", op->out[r].name);
    if (op->layout > 0 && *images)
        grid_add(&g, "%s: true makes %.*s [N,C,H,W] instead of [N,H,W,C]",
                 op->in[op->layout - 1].name, (int) strlen(images) - 2, images);
    if (op->fanout > 0)
        grid_add(&g, "%s: the number of outputs", op->in[op->fanout - 1].name);

    if (g.n > 0)
        put_title("Rules", markdown, to);
    for (int i = 0; i < g.n; i++) {
        put_bullet(markdown, to);
        grid_text(g.cell[i], markdown, to);
        fputs(i == g.n - 1 ? "\n\n" : "\n", to);
    }
    grid_done(&g);
}

static void put_error(const struct op *op, bool markdown, FILE *to)
{
    static const char *const kind[] = {
        [ERROR_EXACT] = "exact: no error of its own",
        [ERROR_ELEMENT] = "element-wise: a few roundings of each element",
        [ERROR_DOT] = "sums of products: grows with the square root of their number",
        [ERROR_RANDOM] = "random: judged by the distribution of the values",
        [ERROR_DISCRETE] = "discontinuous: either side of a tie within the bound is right",
    };
    const struct error_model *e = &op->error;
    put_title("Error allowed by the judge `bound`", markdown, to);
    put_bullet(markdown, to);
    fputs(kind[e->kind], to);
    if (e->ulps > 0)
        fprintf(to, "; %g ulp of a float result", e->ulps);
    if (e->steps > 0)
        fprintf(to, "; %g step%s of a quantised result in addition to its rounding", e->steps,
                e->steps == 1 ? "" : "s");
    fputc('\n', to);
    if (e->text && *e->text) {
        put_bullet(markdown, to);
        grid_text(e->text, markdown, to);
        fputc('\n', to);
    }
    fputc('\n', to);
}

/* How much of a line of `length` goes on one of `width`: up to the last sentence that ends there,
 * or else up to the last space. */
static int fitting(const char *line, int length, int width)
{
    int space = 0;

    if (length <= width)
        return length;
    for (int n = width; n > 0; n--) {
        if (line[n] == ' ' && line[n - 1] == ';')
            return n;
        if (line[n] == ' ' && !space)
            space = n;
    }
    return space ? space : length;
}

static void put_formula(const char *formula, const char *indent, FILE *to)
{
    enum { WIDTH = 88 };
    const char *more = "";

    for (const char *line = formula; line && *line;) {
        int length = (int) strcspn(line, "\n"), n = fitting(line, length, WIDTH);
        bool sentence = n > 0 && line[n - 1] == ';';
        fprintf(to, "%s%s%.*s\n", indent, more, n, line);
        more = n < length && !sentence ? "    " : "";
        line += n + (line[n] == '\n' || line[n] == ' ');
    }
}

static const char *level_text(enum level level)
{
    static const char *const text[] = { "0",          "1, HAL 1.0", "2, HAL 1.1",
                                        "3, HAL 1.2", "4, HAL 1.3", "5, AIDL 1",
                                        "6, AIDL 2",  "7, AIDL 3",  "8, AIDL 4" };
    return text[level <= L8 ? level : 0];
}

static void put_manual(const struct op *op, bool markdown, FILE *to)
{
    fprintf(to,
            markdown ? "## %s\n\nOperation %" PRId32 ", since feature level %s.\n\n"
                     : "%s (%" PRId32 "), since feature level %s\n\n",
            op->name, op->code & 0xffff, level_text(op->since));
    fprintf(to, markdown ? "%s\n\n```\n" : "    %s\n\n", op->summary);
    put_formula(op->formula, markdown ? "" : "        ", to);
    fputs(markdown ? "```\n\n" : "\n", to);
    put_inputs(op, markdown, to);
    put_outputs(op, markdown, to);
    if (count_slots(op) && op->control_kind == CONTROL_NONE)
        put_typings(op, markdown, to);
    put_rules(op, markdown, to);
    put_error(op, markdown, to);
}

void op_manual_text(const struct op *op, FILE *to)
{
    put_manual(op, false, to);
}

void op_manual_markdown(const struct op *op, FILE *to)
{
    put_manual(op, true, to);
}

/* --- the whole catalogue */

static const char how_to_read[] =
    "Shapes: a letter is one size everywhere in a call, `?` a size that the operation computes,\n"
    "`S` a whole shape, `R` the rank of the first input, `any` any shape. Inputs are numbered in\n"
    "the order in which a model lists them; an optional one may be omitted at the end, or be\n"
    "`NO_VALUE` or empty in the middle. `0..` are the n operands of a variadic role; the\n"
    "positions after it continue from n. Types: `T0`, `T1` are columns of the table of types,\n"
    "one row of which applies to a call.\n"
    "\n"
    "Errors (docs/judging.md): u is the unit roundoff of the arithmetic that is judged, K the\n"
    "number of products in a sum, factor the judge's multiple of u sqrt(K), ex the error bound of\n"
    "operand x.\n"
    "\n"
    "Feature levels 1 to 4 are NN HAL 1.0 to 1.3, levels 5 to 8 the AIDL versions 1 to 4.\n";

void op_catalogue_markdown(FILE *to)
{
    struct grid g = { .columns = 4 };
    char anchor[64];

    fprintf(to,
            "# The operations\n\n"
            "`halcyon ops --markdown` writes this page from the records in `golden/ops/`.\n\n%s\n",
            how_to_read);
    grid_add(&g, "code");
    grid_add(&g, "operation");
    grid_add(&g, "level");
    grid_add(&g, "summary");
    for (int i = 0; i < op_table_n; i++) {
        const struct op *op = op_table[i];
        snprintf(anchor, sizeof anchor, "%s", op->name);
        for (char *c = anchor; *c; c++)
            *c = (char) tolower((unsigned char) *c);
        grid_add(&g, "%" PRId32, op->code);
        grid_add(&g, "[%s](#%s)", op->name, anchor);
        grid_add(&g, "%d", (int) op->since);
        grid_add(&g, "%s", op->summary);
    }
    grid_print(&g, true, to);
    grid_done(&g);
    for (int i = 0; i < op_table_n; i++)
        op_manual_markdown(op_table[i], to);
}
