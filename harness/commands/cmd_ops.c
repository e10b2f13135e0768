/* halcyon ops: the manual of operations. */
#include <jansson.h>
#include <string.h>

#include "golden/base/suggest.h"
#include "harness/commands/commands.h"
#include "reports/reports.h"

static void list_text(void)
{
    char text[EXTENSION_TEXT];
    for (int i = 0; i < op_table_n; i++)
        printf("%-28s level %d  %s\n", op_table[i]->name, (int) op_table[i]->since,
               op_table[i]->summary);
    for (int x = EXTENSION_NONE + 1; x < EXTENSION_END; x++) {
        const struct extension_record *e = extension_table[x];
        for (int i = 0; i < e->n_ops && *extension_name[x]; i++)
            printf("%-28s level %d  %s\n", extension_op_text(&e->op[i], text), (int) e->op[i].since,
                   e->op[i].summary);
    }
}

static const struct op *find(const char *name)
{
    const struct op *op = op_by_name(name);
    return op ? op : extension_op_of_text(name);
}

static int unknown_operation(const char *name, struct why *w)
{
    struct suggestion s = suggest_for(name);
    char text[SUGGEST_TEXT], qualified[EXTENSION_TEXT];
    for (int i = 0; i < op_table_n; i++)
        suggest_candidate(&s, op_table[i]->name);
    for (int x = EXTENSION_NONE + 1; x < EXTENSION_END && !s.name; x++)
        for (int i = 0; i < extension_table[x]->n_ops && !s.name; i++)
            suggest_candidate(&s, extension_op_text(&extension_table[x]->op[i], qualified));
    return why_fail(w, WHY_INVALID, "unknown operation '%s'%s", name,
                    s.name ? suggest_text(&s, "", text) : " ('halcyon ops' lists them)");
}

static void print_one(const struct options *o, const struct op *op, bool first)
{
    if (o->json) {
        json_t *j = json_object();
        json_object_set_new(j, "name", json_string(op->name));
        json_object_set_new(j, "code", json_integer(op->code));
        json_object_set_new(j, "level", json_integer(op->since));
        json_object_set_new(j, "summary", json_string(op->summary ? op->summary : ""));
        json_object_set_new(j, "formula", json_string(op->formula ? op->formula : ""));
        json_dumpf(j, stdout, JSON_COMPACT);
        putchar('\n');
        json_decref(j);
        return;
    }
    if (!first)
        putchar('\n');
    if (o->markdown)
        op_manual_markdown(op, stdout);
    else
        op_manual_text(op, stdout);
}

int cmd_ops(const struct options *o)
{
    struct why why;
    if (o->json && o->markdown) {
        why_fail(&why, WHY_INVALID, "--json and --markdown exclude each other");
        return print_error(o, &why);
    }
    for (int i = 0; i < o->n_arguments; i++)
        if (!find(o->argument[i])) {
            unknown_operation(o->argument[i], &why);
            return print_error(o, &why);
        }
    if (!o->n_arguments && !o->markdown && !o->json)
        list_text();
    else if (!o->n_arguments && !o->json)
        op_catalogue_markdown(stdout);
    else if (!o->n_arguments)
        for (int i = 0; i < op_table_n; i++)
            print_one(o, op_table[i], i == 0);
    for (int i = 0; i < o->n_arguments; i++)
        print_one(o, find(o->argument[i]), i == 0);
    return EXIT_CONFORMING;
}
