#include <stdio.h>
#include <string.h>

#include "harness/shrink/bucket.h"

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
