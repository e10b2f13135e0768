#include "harness/cases/mutated.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "golden/base/text_escape.h"

static int load(const struct options *o, struct cases **ret, struct why *w)
{
    struct cases *from = calloc(1, sizeof *from);
    int failed = from ? 0 : why_no_memory(w);
    if (from)
        from->threads = o->jobs;
    for (uint32_t i = 0; !failed && i < o->from.n; i++)
        failed = cases_load(from, o->from.name[i], NULL, w);
    if (!failed)
        failed = cases_validate(from, w);
    if (failed) {
        cases_done(from);
        free(from);
        return why_prefix(w, "--from");
    }
    *ret = from;
    return 0;
}

static int check_options(const struct options *o, struct why *w)
{
    static const char *const allowed[] = { "max-dim", "level", "values", "ways" };
    char value[RANDGRAPH_VALUE];
    const char *key;
    for (int i = 0; (key = randgraph_next(&o->graphs, &i, value));) {
        bool is_allowed = false;
        for (int k = 0; k < COUNT(allowed); k++)
            is_allowed |= !strcmp(key, allowed[k]);
        REQUIRE(w, is_allowed, "--%s and --from exclude each other: the example has its operations",
                key);
    }
    REQUIRE(w, !o->support_file,
            "--support and --from exclude each other: mutations are drawn for any driver");
    REQUIRE(w, !o->steer, "--steer and --from exclude each other: the example has its operations");
    return 0;
}

/* The examples of which there are no mutations. */
static void print_left_out(const struct options *o, const struct cases *from)
{
    const size_t most = o->verbosity > 0 ? SIZE_MAX : 10;
    if (!from->n_unloaded || o->verbosity < 0)
        return;
    fprintf(stderr, "halcyon %s: --from: without %zu examples or files:\n", o->command,
            from->n_unloaded);
    for (size_t i = 0; i < from->n_unloaded && i < most; i++) {
        fputs("    ", stderr);
        text_put(stderr, TEXT_TERMINAL, from->unloaded[i].why, 0);
        putc('\n', stderr);
    }
    if (from->n_unloaded > most)
        fprintf(stderr, "    ... and %zu more (-v shows all)\n", from->n_unloaded - most);
}

static int check_example(const struct example *e, const void *user, struct why *w)
{
    return randgraph_check_from(user, e, w);
}

int mutated_examples(const struct options *o, struct cases *cases, struct why *w)
{
    struct cases *from;
    if (!o->from.n)
        return 0;
    TRY(check_options(o, w));
    TRY(load(o, &from, w));
    cases->from = from;
    TRY(cases_check(from, true, check_example, &o->graphs, w));
    if (from->n)
        print_left_out(o, from);
    REQUIRE(w, from->n, "--from: no example can be mutated: %.400s",
            from->n_unloaded ? from->unloaded[0].why : "there is none");
    cases->from_digest = calloc(from->n, sizeof *cases->from_digest);
    if (!cases->from_digest)
        return why_no_memory(w);
    for (uint64_t i = 0; i < from->n; i++)
        cases->from_digest[i] = randgraph_example_digest(&from->spec[i].example);
    return 0;
}

int mutated_name(const struct options *o, struct cases *cases, struct why *w)
{
    const uint64_t digest = cases->graphs.from_digest;
    struct cases *from;
    if (!cases_are_random(cases) || !digest)
        return 0;
    REQUIRE(w, o->from.n,
            "the case is a mutation of the example %016" PRIx64
            "; expected --from with its file, or --db with a database in which the case failed",
            digest);
    TRY(load(o, &from, w));
    cases->from = from;
    for (uint64_t i = 0; i < from->n; i++)
        if (randgraph_example_digest(&from->spec[i].example) == digest) {
            cases->graphs.from = &from->spec[i].example;
            return 0;
        }
    return why_fail(w, WHY_INVALID,
                    "--from: %s%s: none of the %" PRIu64 " examples is %016" PRIx64
                    ", which the case is a mutation of: the file is another one or has changed",
                    o->from.name[0], o->from.n > 1 ? ", ..." : "", from->n, digest);
}

uint64_t mutated_digest(const struct cases *cases)
{
    uint64_t digest = 0;
    for (uint64_t i = 0; cases->from && i < cases->from->n; i++)
        digest = digest * 0x100000001b3u ^ cases->from_digest[i];
    return digest;
}
