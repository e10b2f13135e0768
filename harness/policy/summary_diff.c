#include "harness/policy/summary_diff.h"

#include <stdio.h>
#include <string.h>

#include "golden/base/text_escape.h"
#include "harness/check/json_value.h"
#include "harness/store/summary.h"

static const char *const bucket_changes[] = { "new", "gone", "more", "fewer", "same" };
static const char *const operation_changes[] = { "lost", "gained" };

static json_int_t number(const json_t *of, const char *key)
{
    return json_integer_value(json_object_get(of, key));
}

/* Of a JSON value that may be absent. */
static json_t *or_null(const json_t *j)
{
    return j ? json_incref((json_t *) (uintptr_t) j) : json_null();
}

/* ---- comparing */

static json_int_t count_verdicts(const json_t *side)
{
    const char *name;
    json_t *n;
    json_int_t sum = 0;
    json_object_foreach(json_object_get(side, "verdicts"), name, n) sum += json_integer_value(n);
    return sum;
}

static json_t *compare_verdicts(const json_t *a, const json_t *b)
{
    json_t *all = json_object();
    for (int v = 0; v < VERDICT_COUNT; v++) {
        const char *name = verdict_name[v];
        const json_int_t x = number(json_object_get(a, "verdicts"), name),
                         y = number(json_object_get(b, "verdicts"), name);
        if (x || y)
            json_object_set_new(all, name, json_pack("{s:I,s:I}", "a", x, "b", y));
    }
    return all;
}

static const char *change_of_bucket(const json_t *a, const json_t *b)
{
    const json_int_t x = number(a, "failures"), y = number(b, "failures");
    return bucket_changes[!a ? 0 : !b ? 1 : y > x ? 2 : y < x ? 3 : 4];
}

/* NULL: the change is not listed. */
static const char *change_of_operation(const json_t *a, const json_t *b)
{
    const bool passed = number(a, "passed"), passes = number(b, "passed");
    if (passed && !passes && number(b, "unsupported"))
        return operation_changes[0];
    return !passed && passes && number(a, "unsupported") ? operation_changes[1] : NULL;
}

/* The members of both objects, by the kind of their change, then in the order of their keys. */
static json_t *compare_members(const json_t *a, const json_t *b, const char *name,
                               const char *const *change, int n_changes,
                               const char *(*change_of)(const json_t *a, const json_t *b))
{
    json_t *all = json_array(), *keys = json_object(), *value;
    const char *key;
    json_object_update(keys, (json_t *) (uintptr_t) a);
    json_object_update_missing(keys, (json_t *) (uintptr_t) b);
    for (int i = 0; i < n_changes; i++)
        json_object_foreach(keys, key, value)
        {
            const json_t *x = json_object_get(a, key), *y = json_object_get(b, key);
            const char *found = change_of(x, y);
            if (!found || strcmp(found, change[i]) != 0)
                continue;
            json_t *j = json_object();
            json_object_set_new(j, name, json_string(key));
            json_object_set_new(j, "change", json_string(found));
            json_object_set_new(j, "a", or_null(x));
            json_object_set_new(j, "b", or_null(y));
            json_array_append_new(all, j);
        }
    json_decref(keys);
    return all;
}

static uint64_t count_changes(const json_t *list, const char *change)
{
    uint64_t n = 0;
    for (size_t i = 0; i < json_array_size(list); i++)
        n += !strcmp(json_string_value(json_object_get(json_array_get(list, i), "change")), change);
    return n;
}

int summary_diff(struct diff_side *a, const char *uri_a, struct diff_side *b, const char *uri_b,
                 struct summary_diff *ret, struct why *w)
{
    json_t *x = NULL, *y = NULL;
    TRY(results_summary_counts(a->results, a->run.run, uri_a, &x, w));
    if (results_summary_counts(b->results, b->run.run, uri_b, &y, w) < 0) {
        json_decref(x);
        return -1;
    }
    const bool same =
        !strcmp(a->run.options, b->run.options) && count_verdicts(x) == count_verdicts(y);
    json_t *buckets =
        compare_members(json_object_get(x, "buckets"), json_object_get(y, "buckets"), "bucket",
                        bucket_changes, COUNT(bucket_changes), change_of_bucket);
    json_t *operations = compare_members(
        json_object_get(x, "operations"), json_object_get(y, "operations"), "operation",
        operation_changes, COUNT(operation_changes), change_of_operation);
    json_t *j = json_object();
    json_object_set_new(j, "a", json_value_text(uri_a));
    json_object_set_new(j, "b", json_value_text(uri_b));
    json_object_set_new(j, "same_cases", json_boolean(same));
    json_object_set_new(j, "verdicts", compare_verdicts(x, y));
    json_object_set_new(j, "buckets", buckets);
    json_object_set_new(j, "operations", operations);
    json_decref(x);
    json_decref(y);
    *ret = (struct summary_diff){ .json = j,
                                  .is_worse = count_changes(buckets, "new") ||
                                              count_changes(operations, "lost") ||
                                              (same && count_changes(buckets, "more")) };
    return j ? 0 : why_no_memory(w);
}

/* ---- as text */

static void put(const char *text)
{
    text_put(stdout, TEXT_TERMINAL, text ? text : "", 0);
}

static void print_verdicts(const struct summary_diff *d)
{
    const char *name;
    json_t *n;
    json_object_foreach(json_object_get(d->json, "verdicts"), name, n)
    {
        const json_int_t a = number(n, "a"), b = number(n, "b");
        printf("    %-11s %lld", name, (long long) a);
        if (a != b)
            printf(" -> %lld", (long long) b);
        putchar('\n');
    }
}

static void print_bucket(const json_t *j)
{
    const json_t *a = json_object_get(j, "a"), *b = json_object_get(j, "b");
    const json_t *shown = json_is_null(b) ? a : b, *ratio = json_object_get(shown, "ratio");
    printf("    %-8s ", json_string_value(json_object_get(j, "change")));
    put(json_string_value(json_object_get(j, "bucket")));
    if (!json_is_null(a) && !json_is_null(b) && number(a, "failures") != number(b, "failures"))
        printf(": %lld -> %lld failures", (long long) number(a, "failures"),
               (long long) number(b, "failures"));
    else
        printf(": %lld failure%s", (long long) number(shown, "failures"),
               number(shown, "failures") == 1 ? "" : "s");
    if (json_is_number(ratio))
        printf(", the worst with ratio %.3g", json_number_value(ratio));
    fputs(", ", stdout);
    put(json_string_value(json_object_get(shown, "case")));
    putchar('\n');
}

static void print_operation(const json_t *j)
{
    const json_t *a = json_object_get(j, "a"), *b = json_object_get(j, "b");
    printf("    %-8s ", json_string_value(json_object_get(j, "change")));
    put(json_string_value(json_object_get(j, "operation")));
    printf(": %lld -> %lld cases pass, %lld -> %lld are not supported\n",
           (long long) number(a, "passed"), (long long) number(b, "passed"),
           (long long) number(a, "unsupported"), (long long) number(b, "unsupported"));
}

static void print_list(const json_t *list, const char *what, const char *const *change, int n,
                       void (*print)(const json_t *j), uint64_t most)
{
    printf("    %s:", what);
    for (int i = 0; i < n; i++)
        printf("%s %llu %s", i ? "," : "", (unsigned long long) count_changes(list, change[i]),
               change[i]);
    putchar('\n');
    for (int i = 0; i < n && strcmp(change[i], "same") != 0; i++) {
        const uint64_t there = count_changes(list, change[i]);
        uint64_t shown = 0;
        for (size_t k = 0; k < json_array_size(list); k++) {
            const json_t *j = json_array_get(list, k);
            if (strcmp(json_string_value(json_object_get(j, "change")), change[i]) != 0)
                continue;
            if (!most || shown < most)
                print(j);
            shown++;
        }
        if (most && there > most)
            printf("    ... %llu more %s (-v and --json list them)\n",
                   (unsigned long long) (there - most), change[i]);
    }
}

void summary_diff_print(const struct summary_diff *d, uint64_t most)
{
    print_verdicts(d);
    print_list(json_object_get(d->json, "buckets"), "buckets", bucket_changes,
               COUNT(bucket_changes), print_bucket, most);
    print_list(json_object_get(d->json, "operations"), "support of operations", operation_changes,
               COUNT(operation_changes), print_operation, most);
}
