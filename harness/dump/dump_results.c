/* Each operation of a case alone on a target, as notes. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "harness/check/blame.h"
#include "harness/check/part.h"
#include "harness/check/per_op_check.h"
#include "harness/dump/dump_notes.h"
#include "harness/explain/similar.h"

/* A run in progress. */
struct judging {
    struct dump_notes *n;
    const struct dump_run *run;
    struct on_target on; /* the way in which the case fails */
    struct check *c;     /* of the whole case */
    struct arena *scratch;
};

/* How an operation did, in a line or two. */
static void note_result(struct judging *j, struct graph_note *note, const struct check_result *r)
{
    const bool compared = r->checked && r->output >= 0;

    note->ratio = compared ? r->ratio : NAN;
    note->tone = verdict_conforming(r->verdict) ? graph_tone_of(note->ratio) : TONE_WRONG;
    if (r->verdict == VERDICT_UNSUPPORTED) {
        note->tone = TONE_SKIPPED;
        dump_note_add(j->n, note, "not supported alone");
    } else if (compared) {
        dump_note_add(j->n, note, "error / bound %.3g", r->ratio);
        if (note->tone == TONE_WRONG)
            dump_note_add(j->n, note, "%llu of %llu elements wrong\n%s: expected %.6g, got %.6g",
                          (unsigned long long) r->wrong, (unsigned long long) r->checked, r->place,
                          r->expected, r->actual);
    } else {
        dump_note_add(j->n, note, "%s%s%.120s", verdict_name[r->verdict], r->why[0] ? ": " : "",
                      r->why);
    }
}

/* The values that the target computed, beside those of the reference. */
static void note_values(struct judging *j, const struct operation *p, const struct tensor *out)
{
    char text[VALUES_TEXT];
    for (uint32_t k = 0; out && j->run->values && k < p->n_out; k++)
        if (out[k].data && dtype_info[out[k].dtype].codec->size)
            dump_note_add(j->n, &j->n->operand[0][p->out[k]], "target:    %s",
                          values_text(&out[k], text));
}

/* Of several executions of an operation in a subgraph the worst one is kept. */
static bool is_worse(const struct graph_note *old, const struct check_result *r)
{
    if (old->tone == TONE_NONE)
        return true;
    if (old->tone == TONE_WRONG)
        return false;
    return !verdict_conforming(r->verdict) || r->ratio > old->ratio;
}

static void mark_first(struct judging *j, struct graph_note *note, uint32_t graph,
                       uint32_t operation)
{
    char text[48], of[32] = "";
    const int32_t code = j->n->e->model.graph[graph].operation[operation].code;

    j->n->is_wrong = true;
    note->tone = TONE_FIRST_WRONG;
    if (graph)
        snprintf(of, sizeof of, " of subgraph %u", graph);
    const char *line =
        arena_printf(j->n->arena, "%s\nfirst wrong operation, run alone: n%u %s%s",
                     j->n->options.subtitle, operation, operation_name(code, text), of);
    j->n->options.subtitle = line ? line : j->n->options.subtitle;
}

static int run_alone(struct judging *j, const struct example *e, uint32_t graph, uint32_t operation,
                     struct why *w)
{
    struct graph_note *note = &j->n->operation[graph][operation];
    struct check_result r = { 0 };
    struct tensor *out = NULL;
    struct check c;

    if (part_has_empty_input(e)) {
        note->tone = TONE_SKIPPED;
        return 0;
    }
    TRY(on_target_run(&j->on, e, &c, &r, &out, w));
    if (is_worse(note, &r)) {
        note->text = NULL;
        note_result(j, note, &r);
    }
    if (!graph)
        note_values(j, &j->n->e->model.graph[0].operation[operation], out);
    if (note->tone == TONE_WRONG && !j->n->is_wrong)
        mark_first(j, note, graph, operation);
    check_done(&c);
    return 0;
}

static int run_each(struct judging *j, struct why *w)
{
    const struct parts *p = j->c->parts;
    const uint32_t n = j->n->e->model.graph[0].n_operations;

    for (uint32_t i = 0; i < n + p->n_bodies; i++) {
        struct arena_mark mark = arena_mark(j->scratch);
        struct example e;
        if (i < n && part_is_control(p, p->order[i]))
            continue;
        if (i < n)
            TRY(part_make(p, &p->order[i], 1, j->scratch, &e, w));
        else
            TRY(part_make_body(p, i - n, j->scratch, &e, w));
        TRY(run_alone(j, &e, i < n ? 0 : p->body[i - n].graph,
                      i < n ? p->order[i] : p->body[i - n].operation, w));
        arena_rewind(j->scratch, mark);
    }
    return 0;
}

/* The part that fails where no operation does alone. */
static void mark_part(struct judging *j, const struct check_result *failed)
{
    const struct blame_options limits = { 0 };
    struct blame b;
    struct why ignored;

    if (!blame_applies(j->c, failed) ||
        blame_find(j->c, j->on.t, failed, &limits, &b, &ignored) < 0 || !b.count)
        return;
    for (uint32_t i = 0; i < b.count; i++) {
        struct graph_note *note = &j->n->operation[b.graph][b.member[i]];
        note->tone = i ? TONE_WRONG : TONE_FIRST_WRONG;
        dump_note_add(j->n, note, "right alone, wrong together with the others marked");
    }
    j->n->is_wrong = true;
}

static int put_verdict(struct judging *j, const struct check_result *r)
{
    char *text = arena_printf(j->n->arena, "on %s: %s%s%.300s", target_uri(j->on.t),
                              verdict_name[r->verdict], r->why[0] ? ": " : "", r->why);
    j->n->options.subtitle = text;
    j->n->options.key = GRAPH_KEY_RATIO;
    if (!verdict_conforming(r->verdict))
        j->n->options.mark_output = r->output;
    return text ? 0 : -1;
}

static int judge_all(struct judging *j, const struct check_result *r, struct why *w)
{
    struct why why;

    if (put_verdict(j, r) < 0)
        return why_no_memory(w);
    if (r->verdict == VERDICT_ERROR || r->verdict == VERDICT_UNSUPPORTED || !j->c->plan)
        return 0;
    if (check_parts(j->c, &why) < 0) {
        j->n->options.subtitle = arena_printf(j->n->arena, "%s\noperation by operation: %s",
                                              j->n->options.subtitle, why.text);
        return 0;
    }
    TRY(run_each(j, w));
    if (!j->n->is_wrong && !verdict_conforming(r->verdict))
        mark_part(j, r);
    return 0;
}

int dump_notes_run(struct dump_notes *n, const struct dump_run *run, struct why *w)
{
    struct check c;
    struct check_result r;
    struct tensor *out;
    struct check named = { .example = n->e };
    struct judging j = {
        .n = n, .run = run, .on.t = run->target, .c = &c, .scratch = arena_new(0)
    };

    if (!j.scratch)
        return why_no_memory(w);
    variation_choose(&named, &run->ways);
    j.on.way = named.is_varied ? &named.variation : NULL;
    int failed = on_target_run(&j.on, n->e, &c, &r, &out, w);
    if (!failed) {
        j.on.way = r.varied ? j.on.way : NULL;
        failed = judge_all(&j, &r, w);
        check_done(&c);
    }
    arena_free(j.scratch);
    return failed;
}
