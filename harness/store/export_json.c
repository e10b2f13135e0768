/* One JSON object: the run, its targets, the verdicts as `halcyon run --json` prints them. */
#include <jansson.h>

#include "harness/check/json_value.h"
#include "harness/store/run_export.h"

enum { JSON_FORM = JSON_COMPACT | JSON_REAL_PRECISION(15) | JSON_ENSURE_ASCII };

static void put_object(FILE *to, json_t *object)
{
    json_dumpf(object, to, JSON_FORM);
    json_decref(object);
}

/* Sets a member; null for an empty text. */
static void set(json_t *o, const char *key, const char *text)
{
    json_object_set_new(o, key, *text ? json_value_text(text) : json_null());
}

static json_t *totals_json(const struct totals *totals)
{
    json_t *o = json_object();
    for (int v = 0; v < VERDICT_COUNT; v++)
        json_object_set_new(o, verdict_name[v], json_integer((json_int_t) totals->n[v]));
    return o;
}

static json_t *target_json(const struct export_run *x, uint32_t t)
{
    const struct described_target *target = &x->run->target[t];
    json_t *o = json_object();
    set(o, "uri", target->uri);
    set(o, "name", target->name);
    set(o, "version", target->version);
    set(o, "type", target->type);
    set(o, "hal", target->hal);
    json_object_set_new(o, "seconds", json_real(x->seconds[t]));
    json_object_set_new(o, "totals", totals_json(&x->totals[t]));
    return o;
}

static void begin(struct export_run *x)
{
    const struct described_run *run = x->run;
    json_t *o = json_object(), *options = json_loads(run->options, 0, NULL);
    json_t *targets = json_array();
    json_object_set_new(o, "run", json_integer(run->run));
    set(o, "kind", run->kind);
    set(o, "command", run->command);
    json_object_set_new(o, "options", options ? options : json_null());
    set(o, "version", run->version);
    set(o, "judge", run->judge);
    set(o, "started", run->started);
    set(o, "finished", run->finished);
    set(o, "host", x->host ? x->host : "");
    json_object_set_new(o, "seconds", json_real(run->seconds));
    for (uint32_t t = 0; t < run->n_targets; t++)
        json_array_append_new(targets, target_json(x, t));
    fputs("{\"run\":", x->to);
    put_object(x->to, o);
    fputs(",\n\"targets\":", x->to);
    put_object(x->to, targets);
    fputs(",\n\"verdicts\":[", x->to);
}

static void put_verdict(struct export_run *x, const struct recorded_verdict *v)
{
    struct check_result r;
    struct verdict_texts texts = { .replay = v->replay,
                                   .printed = v->printed,
                                   .backtrace = v->backtrace };
    recorded_result(v, &r);
    fputs(x->n ? ",\n" : "\n", x->to);
    put_object(x->to, console_verdict_json(v->name, v->target, &r, &texts));
}

static void put_unloaded(struct export_run *x, const char *file, const char *why)
{
    json_t *o = json_object();
    set(o, "file", file);
    set(o, "why", why);
    fputs(x->target != MAX_TARGETS ? "],\n\"unloaded\":[\n" : ",\n", x->to);
    x->target = MAX_TARGETS;
    put_object(x->to, o);
}

static void end(struct export_run *x)
{
    fputs(x->n_unloaded ? "]}\n" : "],\n\"unloaded\":[]}\n", x->to);
}

const struct export_writer export_json = {
    .begin = begin, .verdict = put_verdict, .unloaded = put_unloaded, .end = end
};
