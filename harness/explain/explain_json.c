#include "harness/explain/explain_json.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

#include "harness/check/json_value.h"

static void set_text(json_t *o, const char *key, const char *text)
{
    if (text[0])
        json_object_set_new(o, key, json_value_text(text));
}

static void set_count(json_t *o, const char *key, uint64_t n)
{
    json_object_set_new(o, key, json_integer((json_int_t) n));
}

static void set_real(json_t *o, const char *key, double x)
{
    json_object_set_new(o, key, json_value_number(x));
}

/* The list of that name, made where there is none yet. */
static json_t *list_of(json_t *o, const char *key)
{
    json_t *list = json_object_get(o, key);

    if (!list)
        json_object_set_new(o, key, list = json_array());
    return list;
}

void explain_json_verdict(json_t *to, const struct example *e, const struct target *t,
                          const struct check_result *r)
{
    if (!to)
        return;
    set_text(to, "case", e->name);
    set_text(to, "target", target_uri(t));
    set_text(to, "verdict", verdict_name[r->verdict]);
    set_text(to, "why", r->why);
}

void explain_json_operation(json_t *to, const char *name, const struct check_result *r,
                            double in_case)
{
    json_t *o = to ? json_object() : NULL;

    if (!o)
        return;
    set_text(o, "operation", name);
    set_text(o, "verdict", verdict_name[r->verdict]);
    set_text(o, "why", r->why);
    if (r->checked) {
        set_count(o, "compared", r->checked);
        set_count(o, "wrong", r->wrong);
        set_real(o, "ratio", r->ratio);
        set_real(o, "bound", r->bound);
    }
    if (!isnan(in_case))
        set_real(o, "bound_in_case", in_case);
    json_array_append_new(list_of(to, "operations"), o);
}

void explain_json_part(json_t *to, const char *name)
{
    if (to)
        set_text(to, "wrong_together", name);
}

void explain_json_second(json_t *to, const char *target, size_t like_reference, size_t like_device)
{
    json_t *o = to ? json_object() : NULL;

    if (!o)
        return;
    set_text(o, "target", target);
    set_count(o, "like_reference", like_reference);
    set_count(o, "like_device", like_device);
    json_array_append_new(list_of(to, "second_opinions"), o);
}

void explain_json_changed(json_t *to, const char *name, size_t elements)
{
    json_t *o = to ? json_object() : NULL;

    if (!o)
        return;
    set_text(o, "operation", name);
    set_count(o, "elements", elements);
    json_array_append_new(list_of(to, "changed"), o);
}

static void set_value(json_t *o, const char *key, const struct tensor *t, size_t element)
{
    json_t *value = json_object();

    set_real(value, "real", tensor_at(t, element));
    if (tensor_step_of(t, element) != 0)
        set_real(value, "stored", tensor_stored(t, element));
    json_object_set_new(o, key, value);
}

static json_t *element_json(const struct subject *s, size_t element)
{
    json_t *o = json_object(), *place = json_array();
    uint32_t at[MAX_RANK];

    shape_place(&s->expected->shape, element, at);
    for (uint32_t d = 0; d < s->expected->shape.rank; d++)
        json_array_append_new(place, json_integer(at[d]));
    json_object_set_new(o, "place", place);
    set_count(o, "index", element);
    set_value(o, "expected", s->expected, element);
    set_value(o, "actual", &s->actual[s->output], element);
    set_real(o, "before_rounding", s->real[element]);
    set_real(o, "bound", s->bound[element]);
    return o;
}

/* The lines of a text, without the spaces before them. */
static json_t *lines_json(const char *text)
{
    json_t *list = json_array();

    while (*text) {
        const size_t spaces = strspn(text, " "), length = strcspn(text + spaces, "\n");
        json_array_append_new(list, json_stringn(text + spaces, length));
        text += spaces + length;
        text += *text == '\n';
    }
    return list;
}

static json_t *hypotheses_json(const struct hypothesis_results *all)
{
    json_t *list = json_array();

    for (int i = 0; i < all->n; i++) {
        const struct hypothesis_result *f = &all->best[i];
        json_t *o = json_object();
        set_text(o, "name", f->hypothesis->name);
        set_text(o, "sentence", f->hypothesis->sentence);
        set_text(o, "note", f->note);
        json_object_set_new(o, "matches", json_boolean(f->matches));
        set_count(o, "explained", f->explained);
        set_count(o, "contradicted", f->contradicted);
        if (all->similar)
            set_count(o, "similar", f->similar);
        json_array_append_new(list, o);
    }
    return list;
}

void explain_json_subject(json_t *to, const struct subject *s, size_t element, const char *pattern,
                          const struct hypothesis_results *all)
{
    json_t *o = to ? json_object() : NULL;

    if (!o)
        return;
    set_text(o, "operation", s->op->name);
    set_count(o, "output", s->output);
    set_count(o, "compared", s->n_wrong + s->n_right);
    set_count(o, "wrong", s->n_wrong);
    json_object_set_new(o, "element", element_json(s, element));
    json_object_set_new(o, "pattern", lines_json(pattern));
    set_count(o, "tried", (uint64_t) all->tried);
    set_count(o, "similar", all->similar);
    set_count(o, "similar_wrong", all->similar_wrong);
    json_object_set_new(o, "hypotheses", hypotheses_json(all));
    json_array_append_new(list_of(to, "explained"), o);
}
