#include "harness/shrink/bucket.h"

#include <stdio.h>
#include <string.h>

#include "golden/ops/shared/kin.h"
#include "harness/explain/hypotheses.h"

/* How many kinds of operations must share what makes them one bucket. */
enum {
    SHARED_BY_KINDS = 3,      /* a hypothesis, an attribute, or a breach of the contract */
    SHARED_BY_OPERATIONS = 5, /* likewise, operations of at least two kinds */
    GUESSED_KINDS = 4,        /* one about storing results, of their shrunk cases only */
    PLAIN_KINDS = 5,          /* that the plainest case fails */
    WAY_KINDS = 2,            /* that they fail in one way of execution */
    TOGETHER_KINDS = 5,       /* that they are wrong together only: combinations of them */
    WIDE_KINDS = 6            /* a bucket that takes what nothing else explains */
};

/* ---- the structure of one case */

static void put_attributes(const struct call_attributes *a, char *text)
{
    for (int i = 0; i < a->n; i++)
        text_append(text, SHRINK_BUCKET, "%s%s", i ? ", " : "; ", a->name[i]);
}

static void put_way(const char *way, char *text)
{
    if (way[0])
        text_append(text, SHRINK_BUCKET, " in the way %s", way);
}

void bucket_structure(const struct edit *c, const struct check_result *r, const struct shrunk *s,
                      char name[SHRINK_BUCKET])
{
    snprintf(name, SHRINK_BUCKET, "%s%s", verdict_name[r->verdict],
             c->e.expect_failure ? " to reject" : "");
    const struct graph *g = &c->e.model.graph[0];
    for (uint32_t i = 0; i < g->n_operations && !s->is_any; i++) {
        char text[48];
        struct call call;
        struct call_attributes a = { 0 };
        if (edit_bind(c, 0, i, &call))
            attributes_of(&call, &a);
        text_append(name, SHRINK_BUCKET, " %s(%s", operation_name(g->operation[i].code, text),
                    symptom_type(g, &g->operation[i]));
        put_attributes(&a, name);
        text_append(name, SHRINK_BUCKET, ")");
    }
    char way[VARIATION_TEXT] = "";
    put_way(s->is_varied ? symptom_way(&s->variation, way) : way, name);
}

/* ---- which have one cause */

static bool has_attribute(const struct call_attributes *a, const char *name)
{
    for (int i = 0; i < a->n; i++)
        if (!strcmp(a->name[i], name))
            return true;
    return false;
}

static bool has_attributes(const struct call_attributes *a, const struct call_attributes *of)
{
    for (int i = 0; i < of->n; i++)
        if (!has_attribute(a, of->name[i]))
            return false;
    return true;
}

static bool has_common_attribute(const struct call_attributes *a, const struct call_attributes *b)
{
    for (int i = 0; i < a->n; i++)
        if (has_attribute(b, a->name[i]))
            return true;
    return false;
}

static bool has_hypothesis(const struct matching *m, const char *name)
{
    for (int i = 0; i < m->n; i++)
        if (!strcmp(m->name[i], name))
            return true;
    return false;
}

static bool has_common_hypothesis(const struct matching *a, const struct matching *b)
{
    for (int i = 0; i < a->n; i++)
        if (has_hypothesis(b, a->name[i]))
            return true;
    return false;
}

/* Types that are mostly computed by the same code. */
static const char *kind_of_type(const char *type)
{
    return !strcmp(type, "TENSOR_FLOAT16") ? "TENSOR_FLOAT32" : type;
}

static bool fail_alike(const struct bucket_member *a, const struct bucket_member *b)
{
    return a->target == b->target && a->symptom->code >= 0 && b->symptom->code >= 0 &&
           !strcmp(a->symptom->failure, b->symptom->failure);
}

static bool is_of_type(const struct bucket_member *m, const struct bucket_member *of)
{
    return !strcmp(kind_of_type(m->symptom->type), kind_of_type(of->symptom->type));
}

/* Whether an operation copies elements of any type, or runs subgraphs: it computes nothing. */
static bool is_for_all_types(int32_t code)
{
    const struct op *op = op_find(code);
    return op && ((op->move && !op->moves) || op->control);
}

/* Whether two operations, that are computed as those of a and b, fail as they do in the types of
 * both. */
static bool fail_in_both_types(const struct bucket_member *m, uint32_t n,
                               const struct bucket_member *a, const struct bucket_member *b)
{
    const int32_t kin = kin_of(a->symptom->code);
    int32_t found = -1;
    for (uint32_t i = 0; i < n; i++) {
        const int32_t code = m[i].symptom->code;
        bool also = false;
        if (!fail_alike(&m[i], a) || kin_of(code) != kin || !is_of_type(&m[i], a))
            continue;
        for (uint32_t k = 0; k < n && !also; k++)
            also = fail_alike(&m[k], a) && m[k].symptom->code == code && is_of_type(&m[k], b);
        if (also && found >= 0 && found != code)
            return true;
        found = also ? code : found;
    }
    return false;
}

static bool breaks_contract_alike(const struct bucket_member *a, const struct bucket_member *b)
{
    return a->target == b->target && a->symptom->verdict != VERDICT_FAIL &&
           !strcmp(a->symptom->failure, b->symptom->failure);
}

/* Whether an operation crashes in one case, and has a wrong shape or is refused in another one. */
static bool break_contract_in_one_operation(const struct bucket_member *a,
                                            const struct bucket_member *b)
{
    const struct symptom *x = a->symptom, *y = b->symptom;
    return a->target == b->target && x->code >= 0 && x->code == y->code &&
           x->verdict != VERDICT_FAIL && y->verdict != VERDICT_FAIL && !strcmp(x->way, y->way);
}

static bool is_death(const struct symptom *s)
{
    return s->verdict == VERDICT_CRASH || s->verdict == VERDICT_HANG;
}

/* Whether an operation crashes or hangs in one case, and gives wrong numbers in another one that
 * needs the same attributes, or more of them, in operations that are computed alike: memory beyond
 * an operand, for example, may give either. */
static bool crashes_or_is_wrong(const struct bucket_member *death,
                                const struct bucket_member *wrong)
{
    const struct symptom *x = death->symptom, *y = wrong->symptom;
    if (death->target != wrong->target || x->code < 0 || y->code < 0 || !is_death(x) ||
        y->verdict != VERDICT_FAIL || kin_of(x->code) != kin_of(y->code) ||
        strcmp(x->way, y->way) != 0 || !is_of_type(death, wrong))
        return false;
    const bool more = has_attributes(&x->attributes, &y->attributes),
               less = has_attributes(&y->attributes, &x->attributes);
    return (more || less) && (x->code == y->code || (x->attributes.n && y->attributes.n));
}

/* Whether several operations break the same rule of the HAL as one of them does alone. */
static bool breaks_contract_in_part(const struct bucket_member *several,
                                    const struct bucket_member *one)
{
    const struct symptom *x = several->symptom, *y = one->symptom;
    if (!breaks_contract_alike(several, one))
        return false;
    for (int i = 0; i < x->n_several; i++)
        if (x->several[i] == y->code)
            return true;
    return false;
}

/* Whether several operations that are wrong together only are those of another member, or computed
 * as those are. */
static bool are_computed_alike(const struct symptom *x, const struct symptom *y)
{
    if (x->n_several < 2 || x->n_several != y->n_several)
        return false;
    for (int i = 0; i < x->n_several; i++)
        if (kin_of(x->several[i]) != kin_of(y->several[i]))
            return false;
    return true;
}

/* Whether wrong numbers of several operations are like those of another member. */
static bool are_wrong_together(const struct bucket_member *a, const struct bucket_member *b)
{
    const struct symptom *x = a->symptom, *y = b->symptom;
    return a->target == b->target && x->verdict == VERDICT_FAIL && x->n_several > 1 &&
           y->n_several > 1 && !strcmp(x->failure, y->failure);
}

/* Whether wrong numbers of one operation may be those of several, which its subgraph has. */
static bool may_be_wrong_together(const struct bucket_member *m, const struct bucket_member *with)
{
    const struct symptom *s = m->symptom, *several = with->symptom;
    return m->target == with->target && s->is_compound && several->verdict == VERDICT_FAIL &&
           several->n_several > 1 && !strcmp(s->failure, several->failure);
}

/* Whether one operation is wrong in the plainest case, and no hypothesis explains it. */
static bool is_wrong_throughout(const struct symptom *s)
{
    return !s->shapes[0] && !s->matching.n;
}

static bool have_one_cause(const struct bucket_member *m, uint32_t n, const struct bucket_member *a,
                           const struct bucket_member *b)
{
    const struct symptom *x = a->symptom, *y = b->symptom;
    if (a->target == b->target && !strcmp(a->structure, b->structure))
        return true;
    if (break_contract_in_one_operation(a, b) || breaks_contract_in_part(a, b) ||
        breaks_contract_in_part(b, a) || (are_wrong_together(a, b) && are_computed_alike(x, y)))
        return true;
    const bool common = has_common_hypothesis(&x->matching, &y->matching);
    if (fail_alike(a, b) && common && has_common_attribute(&x->attributes, &y->attributes))
        return true;
    if (crashes_or_is_wrong(a, b) || crashes_or_is_wrong(b, a) ||
        (fail_alike(a, b) && is_death(x) && has_common_attribute(&x->attributes, &y->attributes)))
        return true;
    if (!fail_alike(a, b) || kin_of(x->code) != kin_of(y->code))
        return false;
    if (x->verdict != VERDICT_FAIL)
        return true;
    const bool more = has_attributes(&x->attributes, &y->attributes),
               less = has_attributes(&y->attributes, &x->attributes);
    if (!has_common_hypothesis(&x->possible, &y->possible) && x->possible.n && y->possible.n)
        return false;
    if (!common && x->code != y->code && !x->shapes[0] != !y->shapes[0])
        return false;
    if (!common && !is_of_type(a, b) && (!x->shapes[0] || strcmp(x->shapes, y->shapes) != 0) &&
        !fail_in_both_types(m, n, a, b) &&
        !(x->code == y->code && is_wrong_throughout(x) && is_wrong_throughout(y)) &&
        !(is_for_all_types(x->code) && is_for_all_types(y->code)))
        return false;
    if (x->code == y->code)
        return common || more || less;
    return (more && less) || ((more || less) && x->attributes.n && y->attributes.n);
}

static void join(struct bucket_member *m, uint32_t n, uint32_t a, uint32_t b)
{
    const uint32_t x = m[a].bucket, y = m[b].bucket, first = x < y ? x : y;
    for (uint32_t i = 0; i < n; i++)
        if (m[i].bucket == x || m[i].bucket == y)
            m[i].bucket = first;
}

/* Different ones, as far as they can decide something. */
struct codes {
    int32_t code[64];
    int n;
};

static void add_code(struct codes *all, int32_t code)
{
    for (int i = 0; i < all->n; i++)
        if (all->code[i] == code)
            return;
    if (all->n < COUNT(all->code))
        all->code[all->n++] = code;
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

/* Whether a symptom has a hypothesis or an attribute of that name. */
typedef bool has_name(const struct symptom *s, const char *name);

static bool symptom_has_hypothesis(const struct symptom *s, const char *name)
{
    return has_hypothesis(&s->matching, name);
}

/* Of the shrunk case only, where none matches the case as it was. */
static bool symptom_may_have_hypothesis(const struct symptom *s, const char *name)
{
    return has_hypothesis(s->matching.n ? &s->matching : &s->possible, name);
}

static bool symptom_has_attribute(const struct symptom *s, const char *name)
{
    return has_attribute(&s->attributes, name);
}

/* The members that have a hypothesis or an attribute of that name, in the same failure as member
 * `at`, if enough operations do. */
static void join_sharing(struct bucket_member *m, uint32_t n, uint32_t at, const char *name,
                         has_name *has)
{
    const bool is_guess = has == symptom_may_have_hypothesis;
    struct codes kinds = { .n = 0 }, operations = { .n = 0 };
    for (uint32_t i = 0; i < n; i++)
        if (fail_alike(&m[i], &m[at]) && has(m[i].symptom, name)) {
            add_code(&kinds, kin_of(m[i].symptom->code));
            add_code(&operations, m[i].symptom->code);
        }
    if (kinds.n < (is_guess ? GUESSED_KINDS : SHARED_BY_KINDS) &&
        (is_guess || kinds.n < 2 || operations.n < SHARED_BY_OPERATIONS))
        return;
    for (uint32_t i = 0; i < n; i++)
        if (fail_alike(&m[i], &m[at]) && has(m[i].symptom, name))
            join(m, n, i, at);
}

static bool is_plain(const struct bucket_member *m)
{
    return m->symptom->code >= 0 && !m->symptom->attributes.n && !m->symptom->matching.n;
}

/* The members of the same type that fail as member `at` does, with plain attributes and without a
 * hypothesis, if they are of many kinds of operations. */
static void join_plain(struct bucket_member *m, uint32_t n, uint32_t at)
{
    struct codes kinds = { .n = 0 };
    if (!is_plain(&m[at]))
        return;
    for (uint32_t i = 0; i < n; i++)
        if (fail_alike(&m[i], &m[at]) && is_plain(&m[i]) && is_of_type(&m[i], &m[at]))
            add_code(&kinds, kin_of(m[i].symptom->code));
    for (uint32_t i = 0; i < n && kinds.n >= PLAIN_KINDS; i++)
        if (fail_alike(&m[i], &m[at]) && is_plain(&m[i]) && is_of_type(&m[i], &m[at]))
            join(m, n, i, at);
}

/* The members that break the same rule of the HAL as member `at` does, if several kinds of
 * operations do: what answers for a driver is mostly not part of its operations. */
static void join_breaches(struct bucket_member *m, uint32_t n, uint32_t at)
{
    struct codes kinds = { .n = 0 };
    for (uint32_t i = 0; i < n; i++)
        if (breaks_contract_alike(&m[i], &m[at]) && m[i].symptom->code >= 0)
            add_code(&kinds, kin_of(m[i].symptom->code));
    for (uint32_t i = 0; i < n && kinds.n >= SHARED_BY_KINDS; i++)
        if (breaks_contract_alike(&m[i], &m[at]))
            join(m, n, i, at);
}

static bool fail_in_one_way(const struct bucket_member *a, const struct bucket_member *b)
{
    return a->target == b->target && b->symptom->way[0] &&
           !strcmp(a->symptom->way, b->symptom->way);
}

/* Whether it is the way of a member, and not an operation, that is wrong. */
static bool is_of_way(const struct bucket_member *m, uint32_t n, uint32_t at)
{
    struct codes kinds = { .n = 0 };
    bool any = false;
    for (uint32_t i = 0; i < n; i++)
        if (fail_in_one_way(&m[i], &m[at])) {
            any = any || m[i].symptom->is_any;
            if (m[i].symptom->code >= 0)
                add_code(&kinds, kin_of(m[i].symptom->code));
        }
    return any || kinds.n >= WAY_KINDS;
}

/* The members that fail as member `at` does in another way of execution than the plain one, in
 * which they are right, whatever they do there: if any operation fails in it, or several kinds of
 * operations do. */
static void join_way(struct bucket_member *m, uint32_t n, uint32_t at)
{
    for (uint32_t i = 0; is_of_way(m, n, at) && i < n; i++)
        if (fail_in_one_way(&m[i], &m[at]))
            join(m, n, i, at);
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

/* Whether two members fail alike in different ways. */
static bool fail_alike_in_ways(const struct bucket_member *a, const struct bucket_member *b)
{
    const struct symptom *x = a->symptom, *y = b->symptom;
    const size_t n = strlen(x->failure) - strlen(x->way);
    return a->target == b->target && x->way[0] && y->way[0] && strcmp(x->way, y->way) != 0 &&
           strlen(y->failure) - strlen(y->way) == n && !strncmp(x->failure, y->failure, n);
}

/* The members that fail as member `at` does in ways that include all parts of its own, or that have
 * a part in common: of wrong numbers, if no operation is the cause in its way, or in neither. */
static void join_ways(struct bucket_member *m, uint32_t n, uint32_t at)
{
    const struct way_parts own = way_parts_of(m[at].symptom->way);
    const bool values = m[at].symptom->verdict == VERDICT_FAIL;
    for (uint32_t i = 0; m[at].symptom->way[0] && i < n; i++) {
        if (!fail_alike_in_ways(&m[i], &m[at]) || (values && !is_of_way(m, n, at)))
            continue;
        const struct way_parts other = way_parts_of(m[i].symptom->way);
        const int common = count_common_parts(&own, &other);
        if (common == own.n || (common && (!values || is_of_way(m, n, i))))
            join(m, n, i, at);
    }
}

/* How many combinations of operations are wrong together as member `at` is. */
static int count_together(const struct bucket_member *m, uint32_t n, uint32_t at)
{
    int count = 0;
    for (uint32_t i = 0; i < n; i++) {
        bool known = !are_wrong_together(&m[i], &m[at]);
        for (uint32_t k = 0; k < i && !known; k++)
            known =
                are_wrong_together(&m[k], &m[at]) && are_computed_alike(m[k].symptom, m[i].symptom);
        count += !known;
    }
    return count;
}

/* The members whose operations are wrong as those of member `at` are, together only, if many
 * combinations are, in subgraphs, too: these share memory, for example, and not what they compute.
 */
static void join_together(struct bucket_member *m, uint32_t n, uint32_t at)
{
    if (count_together(m, n, at) < TOGETHER_KINDS)
        return;
    for (uint32_t i = 0; i < n; i++)
        if (are_wrong_together(&m[i], &m[at]) || may_be_wrong_together(&m[i], &m[at]))
            join(m, n, i, at);
}

static bool fail_in_one_output(const struct bucket_member *a, const struct bucket_member *b)
{
    const struct symptom *x = a->symptom, *y = b->symptom;
    return a->target == b->target && x->later_output > 0 && x->later_output == y->later_output &&
           !strcmp(x->failure, y->failure);
}

/* The members of which the same output is wrong, and not the first of several, if it is of several
 * kinds of operations: also where several operations write the outputs. */
static void join_output(struct bucket_member *m, uint32_t n, uint32_t at)
{
    struct codes kinds = { .n = 0 };
    for (uint32_t i = 0; i < n; i++)
        if (fail_in_one_output(&m[i], &m[at]) && m[i].symptom->code >= 0)
            add_code(&kinds, kin_of(m[i].symptom->code));
    for (uint32_t i = 0; i < n && kinds.n >= SHARED_BY_KINDS; i++)
        if (fail_in_one_output(&m[i], &m[at]))
            join(m, n, i, at);
}

/* The other failures with the verdict of member `at`, if plain operations fail as it does, so that
 * hardly any case can do without. */
static void join_everywhere(struct bucket_member *m, uint32_t n, uint32_t at)
{
    for (uint32_t i = 0; m[at].symptom->everywhere && i < n; i++)
        if (m[i].target == m[at].target && m[i].symptom->verdict == m[at].symptom->verdict &&
            !strcmp(m[i].symptom->way, m[at].symptom->way))
            join(m, n, i, at);
}

/* How many kinds of operations fail in its bucket as member `at` does. */
static int width_of(const struct bucket_member *m, uint32_t n, uint32_t at)
{
    struct codes kinds = { .n = 0 };
    for (uint32_t i = 0; i < n; i++)
        if (m[i].bucket == m[at].bucket && fail_alike(&m[i], &m[at]))
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
    for (uint32_t i = 0; i < n; i++) {
        const int width = fail_alike(&m[i], &m[at]) ? width_of(m, n, i) : 0;
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
    for (uint32_t i = 0; i < n; i++)
        m[i].bucket = i;
    for (uint32_t i = 0; i < n; i++) {
        const struct symptom *s = m[i].symptom;
        for (uint32_t k = 0; k < i; k++)
            if (have_one_cause(m, n, &m[i], &m[k]))
                join(m, n, i, k);
        join_plain(m, n, i);
        join_breaches(m, n, i);
        join_way(m, n, i);
        join_ways(m, n, i);
        join_together(m, n, i);
        join_output(m, n, i);
        join_everywhere(m, n, i);
        for (int k = 0; k < s->matching.n; k++)
            join_sharing(m, n, i, s->matching.name[k], symptom_has_hypothesis);
        for (int k = 0; k < s->possible.n; k++)
            if (is_about_storing(s->possible.name[k]))
                join_sharing(m, n, i, s->possible.name[k], symptom_may_have_hypothesis);
        for (int k = 0; k < s->attributes.n; k++)
            join_sharing(m, n, i, s->attributes.name[k], symptom_has_attribute);
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
    const int least = rest->verdict == VERDICT_FAIL ? WIDE_KINDS : SHARED_BY_KINDS;
    struct codes kinds = { .n = 0 };
    for (uint32_t i = 0; i < n; i++)
        if (is_like(&m[i], rest) && m[i].bucket == bucket) {
            if (m[i].symptom->everywhere ||
                (rest->is_together && count_together(m, n, i) >= TOGETHER_KINDS))
                return true;
            if (m[i].symptom->code >= 0)
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

/* ---- names */

enum { MOST_NAMES = 8 };

/* Different texts in alphabetical order, so that they do not depend on the order of the cases. */
struct names {
    const char *name[64];
    int n;
};

static void add_name(struct names *all, const char *name)
{
    int at = 0;
    while (at < all->n && strcmp(all->name[at], name) < 0)
        at++;
    if ((at < all->n && !strcmp(all->name[at], name)) || all->n == COUNT(all->name))
        return;
    memmove(&all->name[at + 1], &all->name[at], (size_t) (all->n - at) * sizeof all->name[0]);
    all->name[at] = name;
    all->n++;
}

static void put_names(const struct names *all, char *text)
{
    for (int i = 0; i < all->n && i < MOST_NAMES; i++)
        text_append(text, SHRINK_BUCKET, "%s%s", i ? ", " : "", all->name[i]);
    if (all->n > MOST_NAMES)
        text_append(text, SHRINK_BUCKET, " and %d others", all->n - MOST_NAMES);
}

static void add_operations(struct names *all, const struct symptom *several)
{
    for (int i = 0; i < several->n_several; i++) {
        const struct op *op = op_find(several->several[i]);
        add_name(all, op ? op->name : "?");
    }
}

/* The first of those that at least half of the members have; NULL: there is none. */
static const char *hypothesis_of_most(const struct bucket_member *m, uint32_t n, uint32_t bucket)
{
    for (uint32_t i = bucket; i < n; i++)
        for (int k = 0; m[i].bucket == bucket && k < m[i].symptom->matching.n; k++) {
            const char *name = m[i].symptom->matching.name[k];
            uint32_t have = 0, all = 0;
            for (uint32_t j = bucket; j < n; j++) {
                all += m[j].bucket == bucket;
                have += m[j].bucket == bucket && has_hypothesis(&m[j].symptom->matching, name);
            }
            if (2 * have >= all)
                return name;
        }
    return NULL;
}

void bucket_name(const struct bucket_member *m, uint32_t n, uint32_t bucket,
                 char name[SHRINK_BUCKET])
{
    struct names operations = { 0 }, types = { 0 }, structures = { 0 }, verdicts = { 0 },
                 together = { 0 };
    const struct bucket_member *first = &m[bucket];
    bool is_together = false;
    for (uint32_t i = bucket; i < n; i++)
        is_together = is_together || (m[i].bucket == bucket && m[i].symptom->n_several > 1);
    for (uint32_t i = bucket; i < n && first->symptom->code < 0; i++)
        if (m[i].bucket == bucket && m[i].symptom->code >= 0 && !m[i].symptom->is_compound)
            first = &m[i];
    struct call_attributes attributes = first->symptom->attributes;
    for (uint32_t i = bucket; i < n; i++) {
        const struct symptom *s = m[i].symptom;
        const struct op *op = op_find(s->code);
        if (m[i].bucket != bucket)
            continue;
        add_name(&structures, m[i].structure);
        add_name(&verdicts, verdict_name[s->verdict]);
        if (s->is_any) {
            snprintf(name, SHRINK_BUCKET, "%s", m[i].structure);
            return;
        }
        if (s->code < 0) { /* several operations: others of the bucket tell what they share */
            add_operations(&together, s);
            continue;
        }
        if (s->is_compound && is_together) {
            add_name(&together, op ? op->name : "?");
            continue;
        }
        add_name(&operations, op ? op->name : "?");
        add_name(&types, s->type);
        for (int k = attributes.n; k-- > 0;)
            if (!has_attribute(&s->attributes, attributes.name[k]))
                memmove(attributes.name[k], attributes.name[k + 1],
                        (size_t) (--attributes.n - k) * sizeof attributes.name[0]);
    }
    snprintf(name, SHRINK_BUCKET, "%s", first->structure);
    if (structures.n == 1)
        return;
    const struct op *op = op_find(first->symptom->code);
    const char *end = op ? strstr(name, op->name) : NULL;
    name[end ? end - name : (long) strcspn(name, " ") + 1] = 0;
    if (verdicts.n > 1) {
        name[0] = 0;
        put_names(&verdicts, name);
        text_append(name, SHRINK_BUCKET, " ");
    }
    if (!operations.n) {
        put_names(&together, name);
        text_append(name, SHRINK_BUCKET, ", only together");
        put_way(first->symptom->way, name);
        return;
    }
    put_names(&operations, name);
    text_append(name, SHRINK_BUCKET, "(");
    put_names(&types, name);
    put_attributes(&attributes, name);
    text_append(name, SHRINK_BUCKET, ")");
    put_way(first->symptom->way, name);
    const char *hypothesis = hypothesis_of_most(m, n, bucket);
    if (hypothesis)
        text_append(name, SHRINK_BUCKET, ": %s", hypothesis);
}
