#include "harness/commands/conform_print.h"

#include <stdlib.h>
#include <string.h>

#include "golden/base/text_escape.h"
#include "harness/cli/colour.h"
#include "harness/conform/conform_models.h"
#include "harness/conform_run/conform_cases.h"

/* ---- --list */

static int count_rules(const char *suite)
{
    int n = 0;

    for (int f = 0; f < conform_n_rules; f++)
        for (int k = 0; k < conform_rules[f]->n; k++)
            n += strcmp(conform_rules[f]->rule[k].suite, suite) == 0;
    return n;
}

/* "700 models", "12345 mutants of 700 models"; "" for a rule with cases of its own. */
static const char *case_text(const struct conform_rule *r, char text[64])
{
    char models[32];

    snprintf(models, sizeof models, "%d models", conform_n_models);
    if (r->count)
        snprintf(text, 64, " (%llu mutants of %s)", (unsigned long long) r->count(r->data), models);
    else
        snprintf(text, 64, "%s%s%s", r->is_split ? " (" : "", r->is_split ? models : "",
                 r->is_split ? ")" : "");
    return text;
}

static void list_rules(const char *suite)
{
    for (int f = 0; f < conform_n_rules; f++)
        for (int k = 0; k < conform_rules[f]->n; k++) {
            const struct conform_rule *r = &conform_rules[f]->rule[k];
            char name[64], since[16], cases[64];
            if (strcmp(r->suite, suite))
                continue;
            snprintf(name, sizeof name, "%s/%s", r->suite, r->name);
            snprintf(since, sizeof since, "%s%s", hal_version_name(r->since),
                     r->until ? "-" : " on");
            printf("  %-28s %-8s %s%s\n", name, since, r->text, case_text(r, cases));
        }
}

void conform_print_models(void)
{
    const struct conform_rows *rows = &conform_rows;

    printf("%d built-in models: %d of %d forms and %d of %d typing rows of %d operations",
           conform_n_built_in, rows->drawn_forms, rows->forms, rows->drawn_typings, rows->typings,
           rows->operations);
    if (conform_cases)
        printf("; %d of --models", conform_n_models - conform_n_built_in);
    printf("\n");
}

void conform_print_list(void)
{
    int n = 0;

    conform_models_draw();
    for (int s = 0; s < conform_n_suites; s++) {
        const struct conform_suite *suite = &conform_suites[s];
        int rules = count_rules(suite->name);
        printf("%s: %s (%d rule%s)\n", suite->name, suite->text, rules, rules == 1 ? "" : "s");
        list_rules(suite->name);
        n += rules;
    }
    printf("%d suites, %d rules\n", conform_n_suites, n);
    conform_print_models();
    conform_models_free();
}

/* ---- rules */

/* The verdict in the words of the rules. */
static const char *word_of(enum verdict v)
{
    return v == VERDICT_UNSUPPORTED ? conform_outcome_name[OUTCOME_NOT_APPLICABLE]
                                    : verdict_name[v];
}

static void print_lines(const char *text)
{
    while (*text) {
        char line[CHECK_WHY];
        size_t n = strcspn(text, "\n");
        snprintf(line, sizeof line, "%.*s", (int) n, text);
        fputs("    ", stdout);
        text_put(stdout, TEXT_TERMINAL, line, 0);
        putchar('\n');
        text += n + (text[n] == '\n');
    }
}

void conform_print_item(const struct conform_item *item, const char *uri,
                        const struct check_result *r, const char *replay)
{
    colour_print_verdict(r->verdict, word_of(r->verdict), 0);
    printf(" %s/%s on ", item->rule->suite, item->rule->name);
    text_put(stdout, TEXT_TERMINAL, uri, 0);
    printf(" at HAL %s: %s\n", hal_version_name(item->version), item->rule->text);
    print_lines(r->why);
    if (r->confirmed[0])
        printf("    run again: %s\n", r->confirmed);
    if (replay)
        printf("    %s\n", replay);
}

/* ---- totals */

struct suite_totals {
    uint64_t n[VERDICT_COUNT], checks, rules;
};

struct conform_totals {
    const char *const *target;
    uint32_t n_targets;
    struct suite_totals suite[]; /* conform_n_suites for each target */
};

struct conform_totals *conform_totals_new(const char *const *target, uint32_t n_targets)
{
    size_t n = (size_t) n_targets * (size_t) conform_n_suites;
    struct conform_totals *t = calloc(1, sizeof *t + n * sizeof t->suite[0]);

    if (t) {
        t->target = target;
        t->n_targets = n_targets;
    }
    return t;
}

void conform_totals_free(struct conform_totals *t)
{
    free(t);
}

static struct suite_totals *totals_of(const struct conform_totals *t, uint32_t target, int suite)
{
    return (struct suite_totals *) &t
        ->suite[target * (uint32_t) conform_n_suites + (uint32_t) suite];
}

void conform_totals_count(struct conform_totals *t, uint32_t target, const char *suite,
                          enum verdict verdict, uint64_t checks)
{
    for (int s = 0; s < conform_n_suites; s++)
        if (!strcmp(suite, conform_suites[s].name)) {
            struct suite_totals *to = totals_of(t, target, s);
            to->n[verdict]++;
            to->checks += checks;
            to->rules++;
        }
}

int conform_totals_add(const struct recorded_verdict *v, void *totals, struct why *w)
{
    struct conform_totals *t = totals;
    struct conform_case c;

    TRY(conform_parse_name(v->name, &c, w));
    c.rule[strcspn(c.rule, "/")] = 0;
    for (uint32_t i = 0; i < t->n_targets; i++)
        if (!strcmp(v->target, t->target[i]))
            conform_totals_count(t, i, c.rule, v->verdict, v->checked);
    return 0;
}

static void print_suite(const char *name, const struct suite_totals *t)
{
    if (!t->rules)
        return;
    printf("  %-16s %4llu %-6s %9llu %-7s", name, (unsigned long long) t->rules,
           t->rules == 1 ? "rule," : "rules,", (unsigned long long) t->checks,
           t->checks == 1 ? "check:" : "checks:");
    for (int v = 0; v < VERDICT_COUNT; v++)
        if (t->n[v])
            printf(" %llu %s", (unsigned long long) t->n[v], word_of((enum verdict) v));
    putchar('\n');
}

void conform_print_suites(const struct conform_totals *t)
{
    for (uint32_t i = 0; i < t->n_targets; i++) {
        text_put(stdout, TEXT_TERMINAL, t->target[i], 0);
        putchar('\n');
        for (int s = 0; s < conform_n_suites; s++)
            print_suite(conform_suites[s].name, totals_of(t, i, s));
    }
}

static void print_notes(const struct summary *s)
{
    for (uint32_t i = 0; i < s->n_notes; i++) {
        fputs("note: ", stdout);
        text_put(stdout, TEXT_TERMINAL, s->target[s->note[i].target], 0);
        printf(": %s\n", s->note[i].text);
    }
}

void conform_print_sum(const struct conform_totals *t, const struct summary *s,
                       uint64_t n_not_of_version)
{
    struct suite_totals all = { 0 };
    uint64_t failed = 0;

    for (uint32_t i = 0; i < t->n_targets * (uint32_t) conform_n_suites; i++) {
        all.rules += t->suite[i].rules;
        all.checks += t->suite[i].checks;
        for (int v = 0; v < VERDICT_COUNT; v++)
            all.n[v] += t->suite[i].n[v];
    }
    for (int v = 0; v < VERDICT_COUNT; v++)
        failed += verdict_conforming((enum verdict) v) ? 0 : all.n[v];
    print_notes(s);
    printf("%llu rule%s, %llu check%s: %llu passed, %llu failed, %llu not applicable, %llu "
           "undecided",
           (unsigned long long) all.rules, all.rules == 1 ? "" : "s",
           (unsigned long long) all.checks, all.checks == 1 ? "" : "s",
           (unsigned long long) all.n[VERDICT_PASS], (unsigned long long) failed,
           (unsigned long long) all.n[VERDICT_UNSUPPORTED],
           (unsigned long long) all.n[VERDICT_UNDECIDED]);
    if (all.n[VERDICT_WAIVED])
        printf(", %llu waived", (unsigned long long) all.n[VERDICT_WAIVED]);
    printf("; %llu more are of other versions", (unsigned long long) n_not_of_version);
    if (s->not_run)
        printf("; %llu not run", (unsigned long long) s->not_run);
    if (s->ended)
        printf(" (%s)", s->ended);
    if (s->run) {
        printf("; run %lld in ", (long long) s->run);
        text_put(stdout, TEXT_TERMINAL, s->db, 0);
    }
    printf("; %.1f s\n", s->seconds);
    fflush(stdout);
}
