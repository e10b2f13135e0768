#include "harness/shrink/bucket.h"

#include <stdio.h>
#include <string.h>

#include "golden/ops/shared/kin.h"
#include "harness/explain/hypotheses.h"

enum {
    RULE_KINDS = 3, /* of operations that break the same rule of the HAL */
    WIDE_KINDS = 6  /* of a bucket that takes what nothing else explains */
};

/* ---- what failures have in common */

static int count_common_attributes(const struct call_attributes *a, const struct call_attributes *b)
{
    int n = 0;
    for (int i = 0; i < a->n; i++)
        n += has_attribute(b, a->name[i]);
    return n;
}

static int count_common_hypotheses(const struct matching *a, const struct matching *b)
{
    int n = 0;
    for (int i = 0; i < a->n; i++)
        n += has_hypothesis(b, a->name[i]);
    return n;
}

/* Types that are mostly computed by the same code. */
static const char *kind_of_type(const char *type)
{
    return !strcmp(type, "TENSOR_FLOAT16") ? "TENSOR_FLOAT32" : type;
}

static bool is_of_type(const struct bucket_member *a, const struct bucket_member *b)
{
    return !strcmp(kind_of_type(a->symptom->type), kind_of_type(b->symptom->type));
}

/* Whether an operation copies elements of any type, or runs subgraphs: it computes nothing. */
static bool is_for_all_types(int32_t code)
{
    const struct op *op = op_find(code);
    return op && ((op->move && !op->moves) || op->control);
}

static bool is_death(const struct symptom *s)
{
    return s->verdict == VERDICT_CRASH || s->verdict == VERDICT_HANG;
}

static bool is_single(const struct bucket_member *m)
{
    return m->symptom->code >= 0;
}

static bool is_plain(const struct bucket_member *m)
{
    return is_single(m) && !m->symptom->attributes.n && !m->symptom->matching.n;
}

/* Whether a hypothesis is about how results are stored, by code that very different operations
 * share. */
static bool is_about_storing(const char *name)
{
    for (const struct hypothesis *h = storing_hypotheses; h->name; h++)
        if (!strcmp(h->name, name))
            return true;
    return false;
}

/* Whether two members fail in the same way of execution, or one where only operations of one kind
 * do, so that these are the cause. */
static bool fail_in_one_way(const struct bucket_member *a, const struct bucket_member *b)
{
    return !strcmp(a->symptom->way, b->symptom->way) || (!a->way_is_wrong && !b->way_is_wrong);
}

static bool fail_alike(const struct bucket_member *a, const struct bucket_member *b)
{
    return a->target == b->target && !strcmp(a->symptom->failure, b->symptom->failure) &&
           fail_in_one_way(a, b);
}

static bool are_kin(const struct bucket_member *a, const struct bucket_member *b)
{
    return is_single(a) && is_single(b) && kin_of(a->symptom->code) == kin_of(b->symptom->code);
}

/* Whether the combinations of operations of two members are the same, or computed alike. */
static bool are_combined_alike(const struct bucket_member *a, const struct bucket_member *b)
{
    const struct symptom *x = a->symptom, *y = b->symptom;
    if (x->n_several < 2 || x->n_several != y->n_several)
        return false;
    for (int i = 0; i < x->n_several; i++)
        if (kin_of(x->several[i]) != kin_of(y->several[i]))
            return false;
    return true;
}

/* The parts of a way that are not plain; "reusable-fenced" has two.  Buffers of the driver are the
 * same for inputs and for outputs. */
struct way_parts {
    char name[8][24];
    int n;
};

static struct way_parts way_parts_of(const char *way)
{
    struct way_parts p = { .n = 0 };
    const char *first = way + strcspn(way, ",");
    while (*way && p.n < COUNT(p.name)) {
        const size_t length = strcspn(way, way < first ? ",-" : ",");
        const size_t side = strncmp(way, "input-", 6) == 0    ? 6
                            : strncmp(way, "output-", 7) == 0 ? 7
                                                              : 0;
        snprintf(p.name[p.n], sizeof p.name[0], "%.*s", (int) (length - side), way + side);
        p.n += strcmp(p.name[p.n], "synchronous") != 0;
        way += length + (way[length] != 0);
    }
    return p;
}

/* How many of the parts of one way another one has, too. */
static int count_common_parts(const struct way_parts *a, const struct way_parts *b)
{
    int n = 0;
    for (int i = 0; i < a->n; i++)
        for (int k = 0; k < b->n; k++)
            n += !strcmp(a->name[i], b->name[k]);
    return n;
}

/* ---- the rules: what members share that probably have one cause */

/* Whether two members share something; name: of a hypothesis or an attribute, where the rule is
 * about these.  Need not be symmetric: either order counts. */
typedef bool shares(const struct bucket_member *a, const struct bucket_member *b, const char *name);

static bool share_structure(const struct bucket_member *a, const struct bucket_member *b,
                            const char *name)
{
    (void) name;
    return a->target == b->target && !strcmp(a->structure, b->structure);
}

/* Whether two members that fail alike may do so by the same code, although their types differ. */
static bool have_types_of_one_code(const struct bucket_member *a, const struct bucket_member *b)
{
    const struct symptom *x = a->symptom, *y = b->symptom;
    return is_of_type(a, b) || (x->shapes[0] && !strcmp(x->shapes, y->shapes)) ||
           (is_for_all_types(x->code) && is_for_all_types(y->code));
}

/* Wrong numbers of one operation, or of operations that are computed alike: a hypothesis; or no
 * other hypotheses, types and attributes. */
static bool share_numbers(const struct bucket_member *a, const struct bucket_member *b,
                          const char *name)
{
    (void) name;
    const struct symptom *x = a->symptom, *y = b->symptom;
    if (!are_kin(a, b) || !fail_alike(a, b) || x->verdict != VERDICT_FAIL)
        return false;
    if (count_common_hypotheses(&x->matching, &y->matching))
        return true;
    if ((x->possible.n && y->possible.n && !count_common_hypotheses(&x->possible, &y->possible)) ||
        !have_types_of_one_code(a, b))
        return false;
    const int shared = count_common_attributes(&x->attributes, &y->attributes);
    const bool more = shared == y->attributes.n, less = shared == x->attributes.n;
    if (x->code == y->code)
        return more || less;
    return !x->shapes[0] == !y->shapes[0] &&
           ((more && less) || ((more || less) && x->attributes.n && y->attributes.n));
}

/* Two pieces of evidence, in any two operations: a hypothesis and another one, or an attribute; a
 * crash or hang and an attribute. */
static bool share_evidence(const struct bucket_member *a, const struct bucket_member *b,
                           const char *name)
{
    (void) name;
    const struct symptom *x = a->symptom, *y = b->symptom;
    if (!is_single(a) || !is_single(b) || !fail_alike(a, b))
        return false;
    const int first = is_death(x) + count_common_hypotheses(&x->matching, &y->matching);
    return first && first + count_common_attributes(&x->attributes, &y->attributes) >= 2;
}

/* Failures that are not about values, whatever they are, of one operation; the same one of
 * operations that are computed alike, or of several operations and one of these alone. */
static bool share_breach(const struct bucket_member *a, const struct bucket_member *b,
                         const char *name)
{
    (void) name;
    const struct symptom *x = a->symptom, *y = b->symptom;
    if (x->verdict == VERDICT_FAIL || y->verdict == VERDICT_FAIL || a->target != b->target)
        return false;
    if (is_single(a) && x->code == y->code && fail_in_one_way(a, b))
        return true;
    bool is_part = are_kin(a, b);
    for (int i = 0; i < x->n_several; i++)
        is_part = is_part || x->several[i] == y->code;
    return is_part && fail_alike(a, b);
}

/* An execution that does not succeed in one case, and wrong numbers in another one that needs the
 * same attributes, or more of them: of one operation, since sizes of outputs that depend on values
 * are values, too; crashes and hangs also of operations that are computed alike, since memory
 * beyond an operand, for example, may give either. */
static bool share_execution(const struct bucket_member *broken, const struct bucket_member *wrong,
                            const char *name)
{
    (void) name;
    const struct symptom *x = broken->symptom, *y = wrong->symptom;
    if (broken->target != wrong->target || x->verdict == VERDICT_FAIL || !x->is_accepted ||
        y->verdict != VERDICT_FAIL || !are_kin(broken, wrong) || !fail_in_one_way(broken, wrong) ||
        !is_of_type(broken, wrong))
        return false;
    const int shared = count_common_attributes(&x->attributes, &y->attributes);
    return (shared == x->attributes.n || shared == y->attributes.n) &&
           (x->code == y->code || (is_death(x) && x->attributes.n && y->attributes.n));
}

static bool are_wrong_together(const struct bucket_member *m)
{
    return m->symptom->verdict == VERDICT_FAIL && m->symptom->n_several > 1;
}

static bool share_combination(const struct bucket_member *a, const struct bucket_member *b,
                              const char *name)
{
    (void) name;
    return are_wrong_together(a) && fail_alike(a, b) && are_combined_alike(a, b);
}

/* Wrong numbers of operations that are right alone: these share memory, for example, and not what
 * they compute.  One of them may be in a subgraph of IF or WHILE. */
static bool share_company(const struct bucket_member *a, const struct bucket_member *b,
                          const char *name)
{
    (void) name;
    return are_wrong_together(a) && fail_alike(a, b) &&
           (b->symptom->n_several > 1 || b->symptom->is_compound);
}

static bool share_hypothesis(const struct bucket_member *a, const struct bucket_member *b,
                             const char *name)
{
    return is_single(a) && is_single(b) && fail_alike(a, b) &&
           has_hypothesis(&a->symptom->matching, name) &&
           has_hypothesis(&b->symptom->matching, name);
}

/* A hypothesis about storing results that may match the shrunk case only, where none matches the
 * case as it was. */
static bool share_guess(const struct bucket_member *a, const struct bucket_member *b,
                        const char *name)
{
    const struct symptom *x = a->symptom, *y = b->symptom;
    return is_single(a) && is_single(b) && is_about_storing(name) && fail_alike(a, b) &&
           has_hypothesis(x->matching.n ? &x->matching : &x->possible, name) &&
           has_hypothesis(y->matching.n ? &y->matching : &y->possible, name);
}

static bool share_attribute(const struct bucket_member *a, const struct bucket_member *b,
                            const char *name)
{
    return is_single(a) && is_single(b) && fail_alike(a, b) &&
           has_attribute(&a->symptom->attributes, name) &&
           has_attribute(&b->symptom->attributes, name);
}

/* Plain attributes and a type, without a hypothesis. */
static bool share_plainness(const struct bucket_member *a, const struct bucket_member *b,
                            const char *name)
{
    (void) name;
    return is_plain(a) && is_plain(b) && fail_alike(a, b) && is_of_type(a, b);
}

/* A rule of the HAL that is broken: what answers for a driver is mostly not part of its operations.
 */
static bool share_rule(const struct bucket_member *a, const struct bucket_member *b,
                       const char *name)
{
    (void) name;
    return a->symptom->verdict != VERDICT_FAIL && fail_alike(a, b);
}

/* A wrong output, not the first of several, whatever writes it. */
static bool share_output(const struct bucket_member *a, const struct bucket_member *b,
                         const char *name)
{
    (void) name;
    return a->symptom->later_output > 0 && a->symptom->later_output == b->symptom->later_output &&
           fail_alike(a, b);
}

/* A verdict, if plain operations that have nothing to do with the case fail as it does, so that
 * hardly any case can do without. */
static bool share_verdict(const struct bucket_member *a, const struct bucket_member *b,
                          const char *name)
{
    (void) name;
    return a->symptom->everywhere && a->target == b->target &&
           a->symptom->verdict == b->symptom->verdict && !strcmp(a->symptom->way, b->symptom->way);
}

/* A way of execution other than the plain one, in which they are right, whatever they do there. */
static bool share_way(const struct bucket_member *a, const struct bucket_member *b,
                      const char *name)
{
    (void) name;
    return a->target == b->target && a->symptom->way[0] &&
           !strcmp(a->symptom->way, b->symptom->way);
}

/* The same failure in ways one of which includes all parts of the other, or that have a part in
 * common: of wrong numbers, if no operation is the cause in its way, or in neither. */
static bool share_part_of_way(const struct bucket_member *a, const struct bucket_member *b,
                              const char *name)
{
    (void) name;
    const struct symptom *x = a->symptom, *y = b->symptom;
    const bool values = x->verdict == VERDICT_FAIL;
    if (a->target != b->target || !x->way[0] || !y->way[0] || strcmp(x->failure, y->failure) != 0 ||
        (values && !a->way_is_wrong))
        return false;
    const struct way_parts own = way_parts_of(x->way), other = way_parts_of(y->way);
    const int common = count_common_parts(&own, &other);
    return common == own.n || (common && (!values || b->way_is_wrong));
}

struct rule {
    shares *share;
    enum { NO_NAME, HYPOTHESES, GUESSES, ATTRIBUTES } name;
    int kinds;         /* of operations that must share it; 0: any two members */
    bool two_of_two;   /* or two operations of each of two kinds */
    bool combinations; /* of operations count, instead of kinds of single ones */
};

static const struct rule way_rule = { .share = share_way, .kinds = 2 }, company_rule = {
    .share = share_company, .kinds = 5, .combinations = true
};

static const struct rule rules[] = {
    { .share = share_structure },
    { .share = share_numbers },
    { .share = share_evidence },
    { .share = share_breach },
    { .share = share_execution },
    { .share = share_combination },
    { .share = share_verdict },
    { .share = share_part_of_way },
    { .share = share_hypothesis, .name = HYPOTHESES, .kinds = 3, .two_of_two = true },
    { .share = share_attribute, .name = ATTRIBUTES, .kinds = 3, .two_of_two = true },
    { .share = share_guess, .name = GUESSES, .kinds = 4 },
    { .share = share_plainness, .kinds = WIDE_KINDS },
    { .share = share_rule, .kinds = RULE_KINDS },
    { .share = share_output, .kinds = 3 },
};

/* Different ones, as far as they can decide something. */
struct codes {
    int32_t code[64];
    int n;
};

static bool add_code(struct codes *all, int32_t code)
{
    for (int i = 0; i < all->n; i++)
        if (all->code[i] == code)
            return false;
    if (all->n < COUNT(all->code))
        all->code[all->n++] = code;
    return true;
}

/* How many combinations of operations share it with member `at`. */
static int count_combinations(const struct bucket_member *m, uint32_t n, uint32_t at,
                              const struct rule *rule)
{
    int count = 0;
    for (uint32_t i = 0; i < n; i++) {
        bool known = !rule->share(&m[at], &m[i], NULL) || m[i].symptom->n_several < 2;
        for (uint32_t k = 0; k < i && !known; k++)
            known = rule->share(&m[at], &m[k], NULL) && are_combined_alike(&m[k], &m[i]);
        count += !known;
    }
    return count;
}

/* Whether enough operations share it with member `at`: one that has nothing to do with the cases,
 * such as any operation in a way of execution, is enough. */
static bool enough_share(const struct bucket_member *m, uint32_t n, uint32_t at,
                         const struct rule *rule, const char *name)
{
    struct codes kinds = { .n = 0 }, operations = { .n = 0 }, repeated = { .n = 0 };
    if (rule->combinations)
        return count_combinations(m, n, at, rule) >= rule->kinds;
    for (uint32_t i = 0; i < n; i++) {
        if (!rule->share(&m[at], &m[i], name))
            continue;
        if (m[i].symptom->is_any)
            return true;
        const int32_t code = m[i].symptom->code, kind = kin_of(code);
        if (code >= 0 && add_code(&operations, code) && !add_code(&kinds, kind))
            add_code(&repeated, kind);
    }
    return kinds.n >= rule->kinds || (rule->two_of_two && repeated.n >= 2);
}

/* ---- finding buckets */

static void join(struct bucket_member *m, uint32_t n, uint32_t a, uint32_t b)
{
    const uint32_t x = m[a].bucket, y = m[b].bucket, first = x < y ? x : y;
    for (uint32_t i = 0; x != y && i < n; i++)
        if (m[i].bucket == x || m[i].bucket == y)
            m[i].bucket = first;
}

static void join_sharing(struct bucket_member *m, uint32_t n, uint32_t at, const struct rule *rule,
                         const char *name)
{
    if (rule->kinds && !enough_share(m, n, at, rule, name))
        return;
    for (uint32_t i = 0; i < n; i++)
        if (rule->share(&m[at], &m[i], name))
            join(m, n, i, at);
}

static void apply_rule(struct bucket_member *m, uint32_t n, uint32_t at, const struct rule *rule)
{
    const struct symptom *s = m[at].symptom;
    switch (rule->name) {
    case NO_NAME: join_sharing(m, n, at, rule, NULL); break;
    case HYPOTHESES:
        for (int i = 0; i < s->matching.n; i++)
            join_sharing(m, n, at, rule, s->matching.name[i]);
        break;
    case GUESSES:
        for (int i = 0; i < s->possible.n; i++)
            join_sharing(m, n, at, rule, s->possible.name[i]);
        break;
    case ATTRIBUTES:
        for (int i = 0; i < s->attributes.n; i++)
            join_sharing(m, n, at, rule, s->attributes.name[i]);
        break;
    }
}

/* How many kinds of operations fail in its bucket as member `at` does. */
static int width_of(const struct bucket_member *m, uint32_t n, uint32_t at)
{
    struct codes kinds = { .n = 0 };
    for (uint32_t i = 0; i < n; i++)
        if (m[i].bucket == m[at].bucket && is_single(&m[i]) && fail_alike(&m[i], &m[at]))
            add_code(&kinds, kin_of(m[i].symptom->code));
    return kinds.n;
}

static bool is_explained(const struct bucket_member *m, uint32_t n, uint32_t bucket)
{
    for (uint32_t i = 0; i < n; i++)
        if (m[i].bucket == bucket && m[i].symptom->matching.n)
            return true;
    return false;
}

/* A mistake that many kinds of operations share mostly is behind the same failure of others, too,
 * in types or with attributes that few operations have, unless a hypothesis explains these. */
static void join_widest(struct bucket_member *m, uint32_t n, uint32_t at)
{
    uint32_t widest = at;
    int most = 0;
    for (uint32_t i = 0; is_single(&m[at]) && i < n; i++) {
        const int width = is_single(&m[i]) && fail_alike(&m[i], &m[at]) ? width_of(m, n, i) : 0;
        if (width > most) {
            most = width;
            widest = i;
        }
    }
    if (most >= WIDE_KINDS && !is_explained(m, n, m[at].bucket))
        join(m, n, widest, at);
}

void buckets_find(struct bucket_member *m, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        m[i].bucket = i;
        m[i].way_is_wrong = m[i].symptom->way[0] && enough_share(m, n, i, &way_rule, NULL);
    }
    for (uint32_t i = 0; i < n; i++) {
        apply_rule(m, n, i, &way_rule);
        apply_rule(m, n, i, &company_rule);
        for (int k = 0; k < COUNT(rules); k++)
            apply_rule(m, n, i, &rules[k]);
    }
    for (uint32_t i = 0; i < n; i++)
        join_widest(m, n, i);
}

/* Whether a kind of failures that was not shrunk may be like a member. */
static bool is_like(const struct bucket_member *m, const struct bucket_rest *rest)
{
    const struct symptom *s = m->symptom;
    return m->target == rest->target && s->verdict == rest->verdict &&
           (s->n_several > 1) == rest->is_together;
}

/* Whether so many operations have the bucket that a failure without a bucket probably belongs
 * to it. */
static bool is_wide(const struct bucket_member *m, uint32_t n, uint32_t bucket,
                    const struct bucket_rest *rest)
{
    const int least = rest->verdict == VERDICT_FAIL ? WIDE_KINDS : RULE_KINDS;
    struct codes kinds = { .n = 0 };
    for (uint32_t i = 0; i < n; i++)
        if (is_like(&m[i], rest) && m[i].bucket == bucket) {
            if (m[i].symptom->everywhere ||
                (rest->is_together && enough_share(m, n, i, &company_rule, NULL)))
                return true;
            if (is_single(&m[i]))
                add_code(&kinds, kin_of(m[i].symptom->code));
        }
    return kinds.n >= least;
}

bool bucket_of_rest(const struct bucket_member *m, uint32_t n, const struct bucket_rest *rest,
                    uint32_t *ret)
{
    uint32_t all = 0, most = 0;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t same = 0;
        for (uint32_t k = 0; k < n; k++)
            same += is_like(&m[k], rest) && m[k].bucket == m[i].bucket;
        all += is_like(&m[i], rest);
        if (same > most) {
            most = same;
            *ret = m[i].bucket;
        }
    }
    return most && most * 10 >= all * 9 && is_wide(m, n, *ret, rest);
}
