/* Checking a model against a feature level, and converting it to one.  Conversion copies the model,
 * shortens operand lists of operations that need a higher level, then removes unused operands. */
#include "golden/model/compliance.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "golden/model/extension.h"

enum { WITH_RELAXED = L2, WITH_EXTENSIONS = L3, WITH_UNKNOWN_RANK = L3 };

const char *level_name(int level)
{
    static const char *const name[] = { "?",      "HAL 1.0", "HAL 1.1", "HAL 1.2", "HAL 1.3",
                                        "AIDL 1", "AIDL 2",  "AIDL 3",  "AIDL 4" };
    return name[level >= L1 && level <= L8 ? level : 0];
}

/* --- whether it complies */

struct limit {
    const struct model *model;
    int level;
    struct why operand, operation; /* the first obstacle of either kind; no text: none */
};

/* Whether a scalar that was given may be left off, and holds its default value. */
static bool is_default(const struct call *c, int role)
{
    return role_holds_default(c->op, &c->op->in[role], c->in[role]);
}

static void explain_operation(const struct level_requirement *n, int level, struct why *w)
{
    const struct call *c = n->call;
    const struct op *op = c->op;
    int input = -1; /* whose role was added after `level`, preferably one that cannot be left off */
    char what[160];

    for (int r = 0; r < op->n_in; r++)
        if (c->in[r] && (int) op->in[r].since > level &&
            (input < 0 || (is_default(c, input) && !is_default(c, r))))
            input = r;
    if ((int) op->since > level)
        snprintf(what, sizeof what, "the operation");
    else if ((int) c->typing->since > level && c->n_in && c->arg[0])
        snprintf(what, sizeof what, "%s of rank %u", dtype_info[c->arg[0]->dtype].name,
                 c->arg[0]->shape.rank);
    else if (input >= 0)
        snprintf(what, sizeof what, "%s", op->in[input].name);
    else if ((int) c->form->since > level)
        snprintf(what, sizeof what, "the form \"%s\"", c->form->name);
    else
        snprintf(what, sizeof what, "this combination of operand values");
    why_fail(w, WHY_UNSUPPORTED, "operation %u, %s: %s needs feature level %d (%s)", n->index,
             op->name, what, n->level, level_name(n->level));
}

static int note_obstacle(const struct level_requirement *n, void *user, struct why *w)
{
    struct limit *l = user;
    struct why *to = n->call ? &l->operation : &l->operand;

    (void) w;
    if (n->level <= l->level || to->text[0])
        return 0;
    if (n->call) {
        explain_operation(n, l->level, to);
    } else {
        const struct operand *o = &l->model->graph[n->graph].operand[n->index];
        const struct dtype_info *info = &dtype_info[o->tensor.dtype];
        why_fail(to, WHY_UNSUPPORTED, "operand %u, %s%s, needs feature level %d (%s)", n->index,
                 info->name, info->since < n->level ? " of unknown rank" : "", n->level,
                 level_name(n->level));
    }
    if (n->graph > 0)
        why_prefix(to, "subgraph %u", n->graph);
    return 0;
}

int model_complies(const struct model *m, int level, struct why *w)
{
    struct limit l = { .model = m, .level = level };

    TRY(model_levels(m, note_obstacle, &l, NULL, w));
    if (l.operation.text[0] || l.operand.text[0]) {
        const struct why *first = l.operation.text[0] ? &l.operation : &l.operand;
        return why_fail(w, WHY_UNSUPPORTED, "%s", first->text);
    }
    if (m->n_extensions && level < WITH_EXTENSIONS)
        return why_fail(w, WHY_UNSUPPORTED, "extensions need feature level %d (%s)",
                        WITH_EXTENSIONS, level_name(WITH_EXTENSIONS));
    if (m->relaxed && level < WITH_RELAXED)
        return why_fail(w, WHY_UNSUPPORTED, "relaxed computation needs feature level %d (%s)",
                        WITH_RELAXED, level_name(WITH_RELAXED));
    return 0;
}

/* --- conversion */

struct converter {
    const struct model *from;
    struct conversion *to;
    struct arena *a;
    int level;
    uint32_t removed;
};

int conversion_add_note(struct conversion *c, struct arena *a, bool lost, struct why *w,
                        const char *fmt, ...)
{
    va_list args;

    if (c->n_notes == c->notes_capacity) {
        uint32_t room = 2 * c->notes_capacity + 8;
        struct conversion_note *more = arena_alloc(a, room, sizeof *more);
        if (!more)
            return why_no_memory(w);
        if (c->n_notes)
            memcpy(more, c->note, c->n_notes * sizeof *more);
        c->note = more;
        c->notes_capacity = room;
    }
    struct conversion_note *n = &c->note[c->n_notes++];
    n->lost = lost;
    va_start(args, fmt);
    vsnprintf(n->text, sizeof n->text, fmt, args);
    va_end(args);
    return 0;
}

/* The operation's position in the model, for notes. */
static const char *place(const struct level_requirement *n, char text[96])
{
    int at = n->graph ? snprintf(text, 96, "subgraph %u, ", n->graph) : 0;

    snprintf(text + at, 96 - (size_t) at, "operation %u, %s", n->index, n->call->op->name);
    return text;
}

/* Before level 3 every tensor must declare its rank: declares inferred shapes of outputs. */
static int declare_ranks(struct converter *c, const struct level_requirement *n, struct why *w)
{
    struct graph *g = &c->to->model.graph[n->graph];
    const struct operation *o = &g->operation[n->index];
    char text[SHAPE_TEXT], where[96];

    for (uint32_t k = 0; k < o->n_out; k++) {
        struct tensor *declared = &g->operand[o->out[k]].tensor;
        const struct shape *inferred = &n->now[o->out[k]].shape;
        if (declared->shape.rank > 0 || inferred->rank == 0)
            continue;
        declared->shape = *inferred;
        TRY(conversion_add_note(c->to, c->a, false, w, "%s: the shape of output %u is declared: %s",
                                place(n, where), k, shape_text(inferred, text)));
    }
    return 0;
}

/* Whether the operation without its last inputs (cut) computes the same. */
static bool same_meaning(const struct call *full, const struct call *cut)
{
    for (int r = 0; r < full->op->n_in; r++) {
        bool in_full = full->in[r] != NULL, in_cut = cut->in[r] != NULL;
        if (in_cut ? !in_full || call_arg(full, r) != call_arg(cut, r)
                   : in_full && !is_default(full, r))
            return false;
    }
    return true;
}

/* Whether the operation, reduced to n_in inputs and n_out outputs, complies with the level and
 * computes the same. */
static int try_cut(const struct converter *c, const struct level_requirement *n, uint32_t n_in,
                   uint32_t n_out, bool *ret_fits, struct why *w)
{
    const struct operation *o = &c->from->graph[n->graph].operation[n->index];
    struct tensor *result = arena_alloc(c->a, n_out, sizeof *result);
    struct tensor **out = arena_alloc(c->a, n_out, sizeof *out);
    struct why unused;
    struct call cut;

    if (!result || !out)
        return why_no_memory(w);
    for (uint32_t k = 0; k < n_out; k++) {
        result[k] = n->now[o->out[k]];
        out[k] = &result[k];
    }
    int level = op_bind(n->call->op, n->call->arg, n_in, out, n_out, false, &cut, &unused);
    *ret_fits = level >= 0 && level <= c->level && same_meaning(n->call, &cut);
    return 0;
}

/* Leaves off as few operands as possible: inputs that hold the defaults, and trailing outputs that
 * are optional and that nothing reads. */
static int shorten(struct converter *c, const struct level_requirement *n, struct why *w)
{
    const struct operation *o = &c->from->graph[n->graph].operation[n->index];
    struct graph *g = &c->to->model.graph[n->graph]; /* its consumers are counted */
    const struct op *op = n->call->op;
    uint32_t least = o->n_out;
    bool fits = false;
    char where[96];

    while (least > 1 && (int) least <= op->n_out && op->out[least - 1].optional &&
           g->operand[o->out[least - 1]].life == LIFE_TEMPORARY &&
           g->operand[o->out[least - 1]].consumers == 0)
        least--;
    for (uint32_t n_out = o->n_out; n_out >= least; n_out--)
        for (uint32_t n_in = o->n_in; n_in > 0; n_in--) {
            TRY(try_cut(c, n, n_in, n_out, &fits, w));
            if (!fits)
                continue;
            g->operation[n->index].n_in = n_in;
            g->operation[n->index].n_out = n_out;
            if (n_in < o->n_in)
                TRY(conversion_add_note(
                    c->to, c->a, false, w,
                    "%s: the last %u of %u inputs are left off: they hold the defaults",
                    place(n, where), o->n_in - n_in, o->n_in));
            if (n_out < o->n_out)
                TRY(conversion_add_note(
                    c->to, c->a, false, w,
                    "%s: the last %u of %u outputs are left off: nothing reads them",
                    place(n, where), o->n_out - n_out, o->n_out));
            return 0;
        }
    return 0; /* model_convert() reports the obstacle at the end */
}

static int convert_part(const struct level_requirement *n, void *user, struct why *w)
{
    struct converter *c = user;

    if (!n->call)
        return 0;
    if (c->level < WITH_UNKNOWN_RANK)
        TRY(declare_ranks(c, n, w));
    return n->level > c->level && n->call->op->control_kind == CONTROL_NONE ? shorten(c, n, w) : 0;
}

static void mark(const uint32_t *list, uint32_t n, uint32_t *used)
{
    for (uint32_t i = 0; i < n; i++)
        used[list[i]] = 1;
}

static void renumber(uint32_t *list, uint32_t n, const uint32_t *number)
{
    for (uint32_t i = 0; i < n; i++)
        list[i] = number[list[i]];
}

/* Removes unused operands, which would still need their feature level. */
static int remove_unused(struct converter *c, uint32_t index, struct why *w)
{
    struct graph *g = &c->to->model.graph[index];
    uint32_t *used = arena_alloc(c->a, g->n_operands, sizeof *used), kept = 0;

    if (!used)
        return why_no_memory(w);
    mark(g->input, g->n_inputs, used);
    mark(g->output, g->n_outputs, used);
    for (uint32_t i = 0; i < g->n_operations; i++) {
        mark(g->operation[i].in, g->operation[i].n_in, used);
        mark(g->operation[i].out, g->operation[i].n_out, used);
    }
    for (uint32_t i = 0; i < g->n_operands; i++) {
        bool keep = used[i];
        used[i] = kept;
        if (keep)
            g->operand[kept++] = g->operand[i];
    }
    c->removed += g->n_operands - kept;
    g->n_operands = kept;
    renumber(g->input, g->n_inputs, used);
    renumber(g->output, g->n_outputs, used);
    for (uint32_t i = 0; i < g->n_operations; i++) {
        renumber(g->operation[i].in, g->operation[i].n_in, used);
        renumber(g->operation[i].out, g->operation[i].n_out, used);
    }
    return 0;
}

int model_convert(const struct model *m, int level, struct arena *a,
                  struct conversion *ret_conversion, struct why *w)
{
    struct conversion to = { .note = NULL };
    struct converter c = { .from = m, .to = &to, .a = a, .level = level };
    struct model *copy = &to.model;

    to.level = model_prepare(m, NULL, w);
    TRY(to.level);
    if (model_copy(m, a, copy) < 0)
        return why_no_memory(w);
    model_count_consumers(copy);
    if (to.level <= level) {
        *ret_conversion = to;
        return 0;
    }

    if (copy->n_extensions && level < WITH_EXTENSIONS && model_uses_extensions(copy))
        return why_fail(w, WHY_UNSUPPORTED, "extensions need feature level %d (%s)",
                        WITH_EXTENSIONS, level_name(WITH_EXTENSIONS));
    TRY(model_levels(m, convert_part, &c, NULL, w));
    for (uint32_t g = 0; g < copy->n_graphs; g++)
        TRY(remove_unused(&c, g, w));
    if (c.removed && !to.n_notes)
        TRY(conversion_add_note(&to, a, false, w, "%u unused operands are removed", c.removed));
    if (copy->relaxed && level < WITH_RELAXED) {
        copy->relaxed = false;
        TRY(conversion_add_note(&to, a, true, w,
                                "relaxed computation of fp32 in fp16 is no longer allowed"));
    }
    if (copy->n_extensions && level < WITH_EXTENSIONS) {
        TRY(conversion_add_note(&to, a, true, w, "the names of %u unused extensions are removed",
                                copy->n_extensions));
        copy->n_extensions = 0;
    }
    model_count_consumers(copy);
    if (model_complies(copy, level, w) < 0 || (to.level = model_prepare(copy, NULL, w)) < 0) {
        /* A rank declared here may contradict a shape, which only an execution would have found. */
        w->code = w->code == WHY_INVALID ? WHY_UNSUPPORTED : w->code;
        return -1;
    }
    *ret_conversion = to;
    return 0;
}
