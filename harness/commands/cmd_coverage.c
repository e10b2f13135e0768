/* halcyon coverage: what the cases in the results database have executed, and what never. */
#include <errno.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "golden/base/array.h"
#include "golden/base/parse_number.h"
#include "harness/commands/commands.h"
#include "harness/store/results.h"
#include "randgraph/coverage.h"

enum { LEAST_SHOWN = 10 };

/* The items of a facet.  Their texts are copied to the arena. */
struct list {
    struct arena *arena;
    struct randgraph_item *item;
    size_t n, seen, never_run;
    bool failed;
};

static void keep_item(const struct randgraph_item *i, void *user)
{
    struct list *l = user;
    struct randgraph_item copy = *i;
    struct randgraph_item *item = array_room(l->item, l->n, sizeof *item);
    if (!item) {
        l->failed = true;
        return;
    }
    l->item = item;
    copy.types = arena_strdup(l->arena, i->types);
    copy.what = arena_strdup(l->arena, i->what);
    l->failed |= !copy.types || !copy.what;
    l->seen += i->n.ran > 0;
    l->never_run += !i->n.ran && i->n.not_run;
    l->item[l->n++] = copy;
}

/* Least seen first, else in the order of the catalogue, in which the array is. */
static int by_count(const void *a, const void *b)
{
    const struct randgraph_item *x = *(struct randgraph_item *const *) a,
                                *y = *(struct randgraph_item *const *) b;
    if (x->n.ran != y->n.ran)
        return x->n.ran < y->n.ran ? -1 : 1;
    if (x->n.not_run != y->n.not_run)
        return x->n.not_run < y->n.not_run ? -1 : 1;
    return x < y ? -1 : x > y;
}

static const struct randgraph_item **sorted(const struct list *l)
{
    const struct randgraph_item **order = calloc(l->n + 1, sizeof *order);
    for (size_t i = 0; order && i < l->n; i++)
        order[i] = &l->item[i];
    if (order)
        qsort(order, l->n, sizeof *order, by_count);
    return order;
}

/* ---- JSON */

static void print_json(const struct randgraph_item *i)
{
    static const char *const what[RANDGRAPH_FACETS] = { [FACET_RANK] = "rank",
                                                        [FACET_OPTION] = "option",
                                                        [FACET_VALUES] = "values",
                                                        [FACET_NEIGHBOURS] = "consumer" };
    bool row = i->facet != FACET_OPERATION && i->facet != FACET_NEIGHBOURS;
    json_t *j = json_object();
    json_object_set_new(j, "facet", json_string(randgraph_facet_name[i->facet]));
    json_object_set_new(j, i->facet == FACET_NEIGHBOURS ? "producer" : "operation",
                        json_string(i->operation));
    if (row) {
        json_object_set_new(j, "form", json_string(i->form));
        json_object_set_new(j, "types", json_string(i->types));
    }
    if (i->facet == FACET_RANK)
        json_object_set_new(j, "rank", json_integer(atoi(i->what)));
    else if (what[i->facet])
        json_object_set_new(j, what[i->facet], json_string(i->what));
    json_object_set_new(j, "ran", json_integer((json_int_t) i->n.ran));
    json_object_set_new(j, "not_run", json_integer((json_int_t) i->n.not_run));
    json_dumpf(j, stdout, JSON_COMPACT);
    putchar('\n');
    json_decref(j);
}

/* ---- text */

static const char *const plural[RANDGRAPH_FACETS] = {
    [FACET_OPERATION] = "operations",
    [FACET_ROW] = "forms and types",
    [FACET_RANK] = "ranks of these",
    [FACET_OPTION] = "options of these",
    [FACET_VALUES] = "classes of values of these",
    [FACET_NEIGHBOURS] = "neighbours",
};

static void print_total(enum randgraph_facet f, const struct list *l)
{
    printf("%-28s %8zu of %6zu seen, %5.1f %%; %zu only in cases that were not executed\n",
           plural[f], l->seen, l->n, l->n ? 100 * (double) l->seen / (double) l->n : 0,
           l->never_run);
}

static void print_item(const struct randgraph_item *i)
{
    const char *part[] = { i->form, i->types, i->what };
    printf("%9llu  %s", (unsigned long long) i->n.ran, i->operation);
    for (int k = 0; k < COUNT(part); k++)
        if (*part[k])
            printf("%s%s", i->facet == FACET_NEIGHBOURS ? " -> " : "  ", part[k]);
    if (i->n.not_run)
        printf("  (in %llu that were not executed)", (unsigned long long) i->n.not_run);
    putchar('\n');
}

static void print_least(enum randgraph_facet f, const struct list *l,
                        const struct randgraph_item *const *order, bool all)
{
    size_t shown = all || l->n < LEAST_SHOWN ? l->n : LEAST_SHOWN, never = l->n - l->seen;
    printf("\n%s, least seen first\n", plural[f]);
    for (size_t i = 0; i < shown; i++)
        print_item(order[i]);
    if (shown < l->n)
        printf("           and %zu more, %zu of them never seen (--all, --json)\n", l->n - shown,
               never > shown ? never - shown : 0);
}

/* ---- the command */

static int print_facets(const struct options *o, const struct list *list, struct why *w)
{
    for (int f = 0; f < RANDGRAPH_FACETS && !o->json; f++)
        print_total((enum randgraph_facet) f, &list[f]);
    for (int f = 0; f < RANDGRAPH_FACETS; f++) {
        const struct randgraph_item **order = sorted(&list[f]);
        if (!order)
            return why_no_memory(w);
        for (size_t i = 0; o->json && i < list[f].n; i++)
            print_json(order[i]);
        if (!o->json)
            print_least((enum randgraph_facet) f, &list[f], order, o->all);
        free(order);
    }
    return 0;
}

static int print_coverage(const struct options *o, const struct randgraph_coverage *c,
                          struct why *w)
{
    struct list list[RANDGRAPH_FACETS] = { { 0 } };
    struct arena *a = arena_new(0);
    bool ok = a != NULL;
    for (int f = 0; ok && f < RANDGRAPH_FACETS; f++) {
        list[f].arena = a;
        randgraph_coverage_each(c, (enum randgraph_facet) f, keep_item, &list[f]);
        ok = !list[f].failed;
    }
    int failed = ok ? print_facets(o, list, w) : why_no_memory(w);
    for (int f = 0; f < RANDGRAPH_FACETS; f++)
        free(list[f].item);
    arena_free(a);
    return failed;
}

/* The runs that the arguments name, as a JSON list; NULL: all. */
static int choose_runs(const struct options *o, struct results *r, json_t **ret_list, struct why *w)
{
    *ret_list = o->n_arguments ? json_array() : NULL;
    for (int i = 0; i < o->n_arguments; i++) {
        struct recorded_run run;
        uint64_t n = 0;
        if (parse_u64(o->argument[i], 1, INT64_MAX, &n, w) < 0)
            return why_prefix(w, "RUN");
        int found = results_find_run(r, (int64_t) n, "", &run, w);
        TRY(found);
        if (!found)
            return results_check_run(r, (int64_t) n, w);
        recorded_run_done(&run);
        json_array_append_new(*ret_list, json_integer((json_int_t) n));
    }
    return 0;
}

static json_t *choose_targets(const struct options *o)
{
    json_t *list = o->n_targets ? json_array() : NULL;
    for (uint32_t t = 0; t < o->n_targets; t++)
        json_array_append_new(list, json_string(o->target[t]));
    return list;
}

static int read_coverage(const struct options *o, struct results *r, struct randgraph_coverage *c,
                         struct why *w)
{
    json_t *runs, *targets = choose_targets(o);
    int failed = choose_runs(o, r, &runs, w);
    char *run_text = runs ? json_dumps(runs, 0) : NULL;
    char *target_text = targets ? json_dumps(targets, 0) : NULL;
    struct coverage_filter filter = { .runs = run_text, .targets = target_text };
    if (!failed && ((runs && !run_text) || (targets && !target_text)))
        failed = why_no_memory(w);
    if (!failed)
        failed = results_read_coverage(r, &filter, c, w);
    free(run_text);
    free(target_text);
    json_decref(runs);
    json_decref(targets);
    return failed;
}

static int coverage(const struct options *o, struct randgraph_coverage *c, struct why *w)
{
    struct results *r;
    if (!c)
        return why_no_memory(w);
    TRY(results_look_for(o->db, w));
    TRY(results_open(o->db, RESULTS_READ, &r, w));
    int failed = read_coverage(o, r, c, w);
    results_close(r);
    TRY(failed);
    REQUIRE(w, !randgraph_coverage_is_empty(c),
            "%s: these runs have no coverage of these targets: no case was executed, or by a "
            "version of Halcyon that did not count",
            o->db);
    return print_coverage(o, c, w);
}

int cmd_coverage(const struct options *o)
{
    struct why why = { 0 };
    struct randgraph_coverage *c = randgraph_coverage_new();
    int failed = coverage(o, c, &why);
    randgraph_coverage_free(c);
    return failed < 0 ? print_error(o, &why) : EXIT_CONFORMING;
}
