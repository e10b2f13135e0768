/* halcyon merge: several results databases in one. */
#include "golden/base/text_escape.h"
#include "harness/commands/commands.h"
#include "harness/store/merge.h"

static int merge(const struct options *o, struct merge_counts *ret_counts, struct why *w)
{
    TRY(options_expect(o, 1, 1 << 20, "DB", w));
    REQUIRE(w, o->output, "missing option -o OUT, the database to write");
    return results_merge((const char *const *) o->argument, (size_t) o->n_arguments, o->output,
                         ret_counts, w);
}

int cmd_merge(const struct options *o)
{
    struct why why = { 0 };
    struct merge_counts counts;
    if (merge(o, &counts, &why) < 0)
        return print_error(o, &why);
    text_put(stdout, TEXT_TERMINAL, o->output, 0);
    printf(": %zu run%s of %d database%s", counts.n_runs, counts.n_runs == 1 ? "" : "s",
           o->n_arguments, o->n_arguments == 1 ? "" : "s");
    if (counts.n_repeated)
        printf("; %zu repeated and left out", counts.n_repeated);
    putchar('\n');
    return EXIT_CONFORMING;
}
