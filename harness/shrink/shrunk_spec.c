/* The shrunk example as a specification that reads like a test written by hand. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "golden/edit/edit.h"
#include "harness/check/buffer.h"
#include "harness/run/devices.h"
#include "harness/shrink/shrink.h"
#include "sim/hal/hal_convert.h"
#include "specs/specs.h"

/* ---- names */

struct naming {
    struct edit c; /* to bind operations; not changed */
    const char **name, **note;
};

/* Words that a Python variable may not be, or that the file itself uses. */
static bool is_taken_word(const char *name)
{
    static const char *const words[] = { "and",    "as",   "assert", "def",    "del",  "else",
                                         "for",    "from", "if",     "import", "in",   "is",
                                         "lambda", "main", "not",    "or",     "pass", "try",
                                         "while",  "with", "return", NULL };
    for (int i = 0; words[i]; i++)
        if (!strcmp(words[i], name))
            return true;
    return false;
}

static bool is_used(const struct naming *n, uint32_t operands, const char *name)
{
    for (uint32_t i = 0; i < operands; i++)
        if (n->name[i] && !strcmp(n->name[i], name))
            return true;
    return is_taken_word(name);
}

/* `word`, or with the lowest number that makes it unique: input, input1, input2. */
static const char *unique_name(struct naming *n, uint32_t operands, const char *word)
{
    char plain[MODPY_NAME - 8], name[MODPY_NAME];
    snprintf(plain, sizeof plain, "%s", word);
    for (char *at = plain; *at; at++)
        if (!isalnum((unsigned char) *at))
            *at = '_';
    snprintf(name, sizeof name, "%s", plain);
    for (unsigned i = 1; is_used(n, operands, name); i++)
        snprintf(name, sizeof name, "%s%u", plain, i);
    return arena_strdup(n->c.arena, name);
}

static void name_operand(struct naming *n, uint32_t operand, const struct role *r)
{
    const struct graph *g = &n->c.e.model.graph[0];
    if (n->name[operand])
        return;
    n->name[operand] = unique_name(n, g->n_operands, r->name);
    n->note[operand] = r->doc;
}

static void name_operation(struct naming *n, const struct operation *o)
{
    const struct op *op = op_find(o->code);
    struct call call;
    bool bound = edit_bind(&n->c, 0, (uint32_t) (o - n->c.e.model.graph[0].operation), &call);
    for (uint32_t k = 0; bound && k < o->n_in; k++)
        name_operand(n, o->in[k], call_role(&call, k));
    for (uint32_t k = 0; op && k < o->n_out; k++)
        name_operand(n, o->out[k], &op->out[(int) k < op->n_out ? (int) k : op->n_out - 1]);
}

static int name_all(struct naming *n, struct why *w)
{
    const struct graph *g = &n->c.e.model.graph[0];
    n->name = arena_alloc(n->c.arena, g->n_operands, sizeof *n->name);
    n->note = arena_alloc(n->c.arena, g->n_operands, sizeof *n->note);
    if (!n->name || !n->note)
        return why_no_memory(w);
    for (uint32_t i = 0; i < g->n_operations; i++)
        name_operation(n, &g->operation[i]);
    for (uint32_t i = 0; i < g->n_operands; i++)
        if (!n->name[i] && !(n->name[i] = unique_name(n, g->n_operands, "operand")))
            return why_no_memory(w);
    return 0;
}

/* ---- the header */

static void put_target(const struct shrink_request *r, struct buffer *b)
{
    buffer_puts(b, " -d ");
    buffer_put_quoted(b, r->target);
    if (harness_host.entry)
        buffer_printf(b, " --hal %s", hal_version_name(harness_host.entry));
}

static void put_header(const struct shrunk *s, const struct shrink_request *r, const char *name,
                       const char *path, struct buffer *b)
{
    const struct check_result *c = &s->result;
    char ways[VARIATION_TEXT], worst[WORST_TEXT];
    buffer_printf(b, "Shrunk from %s\n", name);
    buffer_printf(b, "target: %s\n", r->target);
    buffer_printf(b, "verdict: %s", verdict_name[c->verdict]);
    if (c->why[0])
        buffer_printf(b, ": %.300s", c->why);
    buffer_puts(b, "\n");
    if (c->operation[0])
        buffer_printf(b, "operation: %s, %s\n", c->operation, c->type);
    if (c->output >= 0 && c->wrong)
        buffer_printf(b, "worst element: output %d %s\n", c->output,
                      worst_text(c, worst) + strlen("worst "));
    buffer_printf(b, "structure: %s\n", s->structure);
    buffer_puts(b, "this test:     halcyon run ");
    buffer_put_quoted(b, path ? path : "FILE");
    put_target(r, b);
    if (s->is_varied)
        buffer_printf(b, " --ways %s", variation_text(&s->variation, ways));
    buffer_puts(b, "\nthe whole case: halcyon replay ");
    buffer_put_quoted(b, name);
    put_target(r, b);
    if (ways_any(&r->ways))
        buffer_printf(b, " --ways %s", ways_text(&r->ways, ways));
    buffer_puts(b, "\n");
}

int shrunk_write(const struct shrunk *s, const struct shrink_request *request, const char *name,
                 const char *path, FILE *to, struct why *w)
{
    struct buffer header = { 0 };
    struct naming n = { .c = { .e = s->example, .arena = s->arena } };
    TRY(name_all(&n, w));
    put_header(s, request, name, path, &header);
    const struct modpy_names names = { n.name, n.note };
    int failed = header.failed
                     ? why_no_memory(w)
                     : specs_write_modpy_named(&s->example, buffer_text(&header), &names, to, w);
    buffer_done(&header);
    return failed;
}
