/* Cases in progress: what workers report about a case is kept in memory until the case is complete,
 * then counted, printed and written to the database in one piece. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/base/array.h"
#include "golden/base/text_escape.h"
#include "harness/check/buffer.h"
#include "harness/run/campaign_internal.h"

enum { MOST_TEXT = 1 << 16, MOST_NOTES = 256, MOST_NOTE = 400 };

void campaign_free_texts(struct case_texts *t)
{
    free(t->detail);
    free(t->printed);
    free(t->backtrace);
    *t = (struct case_texts){ 0 };
}

static void free_case(struct campaign *c, struct active_case *f)
{
    for (uint32_t t = 0; f->verdict && t < c->n_targets; t++)
        campaign_free_texts(&f->verdict[t].texts);
    campaign_free_texts(&f->next);
    free(f->verdict);
    free(f->operations);
    free(f->coverage);
    free(f->spec);
}

void campaign_free_cases(struct campaign *c)
{
    for (uint32_t i = 0; i < c->n_active_cases; i++)
        free_case(c, &c->active_case[i]);
    free(c->active_case);
    c->active_case = NULL;
    c->n_active_cases = 0;
}

struct active_case *campaign_case(struct campaign *c, uint64_t item)
{
    for (uint32_t i = 0; i < c->n_active_cases; i++)
        if (c->active_case[i].item == item)
            return &c->active_case[i];
    struct active_case *active_case =
        array_room(c->active_case, c->n_active_cases, sizeof *active_case);
    if (!active_case)
        return NULL;
    c->active_case = active_case;
    struct target_verdict *verdict = calloc(c->n_targets, sizeof *verdict);
    if (!verdict)
        return NULL;
    c->active_case[c->n_active_cases] =
        (struct active_case){ .item = item, .level = -1, .verdict = verdict };
    return &c->active_case[c->n_active_cases++];
}

void campaign_set_verdict(struct active_case *f, uint32_t target, const struct check_result *r)
{
    struct target_verdict *v = &f->verdict[target];
    campaign_free_texts(&v->texts);
    v->known = true;
    v->result = *r;
    v->texts = f->next;
    f->next = (struct case_texts){ 0 };
}

int campaign_reserve_verdicts(struct campaign *c, uint64_t end, struct why *w)
{
    const uint64_t n = (end + c->options->n_shards - 1) / c->options->n_shards;
    uint64_t capacity = c->verdict_capacity ? c->verdict_capacity : 1024;
    if (n <= c->verdict_capacity)
        return 0;
    while (capacity < n)
        capacity *= 2;
    unsigned char *verdict = realloc(c->verdict, capacity * c->n_targets);
    if (!verdict)
        return why_no_memory_for(w, "%llu cases", (unsigned long long) n);
    memset(verdict + c->verdict_capacity * c->n_targets, 0,
           (capacity - c->verdict_capacity) * c->n_targets);
    c->verdict = verdict;
    c->verdict_capacity = capacity;
    return 0;
}

/* ---- counting, printing, writing */

void campaign_put_replay(const struct campaign *c, uint64_t ordinal, uint32_t target,
                         struct buffer *b)
{
    const struct options *o = c->options;
    const char *file = cases_file(c->cases, ordinal);
    char ways[VARIATION_TEXT], name[CASE_NAME];
    cases_name(c->cases, ordinal, name);
    buffer_puts(b, "halcyon replay ");
    buffer_put_quoted(b, file ? file : name);
    if (file) {
        buffer_puts(b, " --case ");
        buffer_put_quoted(b, name);
    }
    buffer_puts(b, " -d ");
    buffer_put_quoted(b, c->target[target]);
    if (c->cases->ways.is_given || (file && ways_any(&c->cases->ways)))
        buffer_printf(b, " --ways %s", ways_text(&c->cases->ways, ways));
    if (o->judge != JUDGE_AUTO)
        buffer_printf(b, " --judge %s", judge_name[o->judge]);
    if (o->timeout < 10 || o->timeout > 10)
        buffer_printf(b, " --timeout %g", o->timeout);
    options_put_hal(b, o);
    options_put_support(b, o, name);
    options_put_memory_limit(b, o);
}

/* The final verdict of a case on a target, as it is counted, printed and written. */
struct final_verdict {
    struct check_result result;
    struct buffer replay;
    struct verdict_texts texts;
};

static void make_final(const struct campaign *c, uint64_t ordinal, uint32_t target,
                       const struct check_result *r, const struct case_texts *texts,
                       struct final_verdict *ret)
{
    char name[CASE_NAME];
    cases_name(c->cases, ordinal, name);
    *ret = (struct final_verdict){ .result = *r, .texts.detail = texts->detail };
    if (!verdict_conforming(r->verdict)) {
        ret->texts.printed = texts->printed;
        ret->texts.backtrace = texts->backtrace;
    }
    expectations_apply(c->expectations, target, name, &ret->result);
    if (!verdict_conforming(ret->result.verdict) && !c->details)
        campaign_put_replay(c, ordinal, target, &ret->replay);
    ret->texts.replay = ret->replay.length ? buffer_text(&ret->replay) : NULL;
}

static struct verdict_row row_of(const struct final_verdict *v)
{
    return (struct verdict_row){ .result = &v->result,
                                 .replay = v->texts.replay,
                                 .printed = v->texts.printed,
                                 .backtrace = v->texts.backtrace };
}

static void count(struct campaign *c, uint64_t ordinal, uint32_t target,
                  const struct check_result *r)
{
    unsigned char *known = campaign_verdict(c, ordinal, target);
    if (*known)
        c->totals[target].n[*known - 1]--;
    *known = (unsigned char) (r->verdict + 1);
    c->totals[target].n[r->verdict]++;
    c->totals[target].compared += r->checked;
}

static int count_gains(struct campaign *c, uint64_t ordinal, const struct active_case *f,
                       struct why *w)
{
    for (uint32_t t = 0; t < c->n_targets; t++)
        TRY(campaign_add_gains(c, ordinal, t, &f->verdict[t].result, w));
    return 0;
}

static void count_and_print(struct campaign *c, uint64_t ordinal, uint32_t target,
                            const struct final_verdict *v)
{
    char name[CASE_NAME];
    cases_name(c->cases, ordinal, name);
    count(c, ordinal, target, &v->result);
    console_verdict(&c->console, name, c->target[target], &v->result, &v->texts);
}

static int write_case(struct campaign *c, const struct active_case *f,
                      const struct final_verdict *final, struct why *w)
{
    uint64_t i = campaign_item(c, f->item);
    char name[CASE_NAME];
    struct verdict_row row[MAX_TARGETS];
    bool conforming = true;
    for (uint32_t t = 0; t < c->n_targets; t++) {
        row[t] = row_of(&final[t]);
        conforming = conforming && verdict_conforming(final[t].result.verdict);
    }
    cases_name(c->cases, i, name);
    struct case_row r = { .ordinal = i,
                          .name = name,
                          .file = cases_file(c->cases, i),
                          .seed = c->cases->seed,
                          .index = cases_index(c->cases, i),
                          .level = f->level,
                          .n_operations = f->n_operations,
                          .operations = f->operations,
                          .coverage = f->coverage,
                          .verdict = row };
    if (!conforming)
        r.spec = (struct spec_row){ f->spec, f->spec_length };
    return results_write_case(c->results, &r, w);
}

/* Writes the verdict, with its case unless another target's verdict is written already. */
static int write_verdict(struct campaign *c, uint64_t ordinal, uint32_t target, const char *suite,
                         const struct verdict_row *verdict, struct why *w)
{
    char name[CASE_NAME];
    struct verdict_row row[MAX_TARGETS] = { 0 };
    for (uint32_t t = 0; t < c->n_targets; t++)
        if (campaign_is_done(c, ordinal, t))
            return results_amend_case(c->results, ordinal, target, verdict, &(struct spec_row){ 0 },
                                      w);
    cases_name(c->cases, ordinal, name);
    row[target] = *verdict;
    struct case_row r = {
        .ordinal = ordinal, .name = name, .suite = suite, .level = -1, .verdict = row
    };
    return results_write_case(c->results, &r, w);
}

int campaign_add_verdict(struct campaign *c, uint64_t ordinal, uint32_t target, const char *suite,
                         struct check_result *r, struct verdict_texts *texts, struct why *w)
{
    char name[CASE_NAME];
    cases_name(c->cases, ordinal, name);
    TRY(campaign_reserve_verdicts(c, ordinal + 1, w));
    if (verdict_conforming(r->verdict))
        texts->printed = texts->backtrace = NULL;
    expectations_apply(c->expectations, target, name, r);
    if (verdict_conforming(r->verdict))
        texts->replay = NULL;
    struct verdict_row row = { .result = r, .replay = texts->replay, .printed = texts->printed };
    if (c->results)
        TRY(write_verdict(c, ordinal, target, suite, &row, w));
    count(c, ordinal, target, r);
    c->done++;
    return 0;
}

/* The result of a callback that failed with w: 1, an invalid message, for WHY_INVALID; else -1. */
static int answer_of(int failed, const struct why *w)
{
    return failed < 0 && w->code == WHY_INVALID ? 1 : failed;
}

int campaign_check_verdicts(const struct campaign *c, const struct active_case *f, struct why *w)
{
    for (uint32_t t = 0; t < c->n_targets; t++)
        REQUIRE(w, f->verdict[t].known, "it ends a case without a verdict for %s", c->target[t]);
    return 0;
}

int campaign_take_complete(uint64_t item, void *user, struct why *w)
{
    struct campaign *c = user;
    struct active_case *f = campaign_case(c, item);
    if (!f)
        return why_no_memory(w);
    if (campaign_check_verdicts(c, f, w) < 0)
        return answer_of(-1, w);
    campaign_settle_death(c, f);
    struct final_verdict final[MAX_TARGETS];
    uint64_t ordinal = campaign_item(c, item);
    TRY(campaign_reserve_verdicts(c, ordinal + 1, w));
    for (uint32_t t = 0; t < c->n_targets; t++)
        make_final(c, ordinal, t, &f->verdict[t].result, &f->verdict[t].texts, &final[t]);
    int failed = c->results ? write_case(c, f, final, w) : 0;
    if (!failed)
        failed = count_gains(c, ordinal, f, w);
    for (uint32_t t = 0; t < c->n_targets; t++) {
        if (!failed)
            count_and_print(c, ordinal, t, &final[t]);
        buffer_done(&final[t].replay);
    }
    free_case(c, f);
    *f = c->active_case[--c->n_active_cases];
    c->done++;
    return failed;
}

/* ---- messages: WHY_INVALID for one that is not valid */

/* Copies text from a message, without its control characters. */
static char *copy_text(const char *bytes, size_t length)
{
    char *text = strndup(bytes, length < MOST_TEXT ? length : MOST_TEXT);
    if (text)
        text_clean(text);
    return text;
}

static void clean(char *text, size_t size)
{
    text[size - 1] = 0;
    text_clean(text);
}

static void clean_blamed(struct blamed *b)
{
    clean(b->name, sizeof b->name);
    clean(b->why, sizeof b->why);
    clean(b->place, sizeof b->place);
    clean(b->type, sizeof b->type);
}

/* A result as a worker sent it: a driver in its process may have written to it. */
static int read_result(const struct campaign *c, uint32_t target, const void *bytes,
                       struct check_result *ret, struct why *w)
{
    unsigned char lost, died, varied;
    memcpy(&lost, (const char *) bytes + offsetof(struct check_result, lost), 1);
    memcpy(&died, (const char *) bytes + offsetof(struct check_result, died), 1);
    memcpy(&varied, (const char *) bytes + offsetof(struct check_result, varied), 1);
    REQUIRE(w, lost <= 1 && died <= 1 && varied <= 1,
            "a verdict is out of range: lost %u, died %u, varied %u", lost, died, varied);
    memcpy(ret, bytes, sizeof *ret);
    REQUIRE(w,
            target < c->n_targets && ret->verdict < VERDICT_COUNT && ret->was < VERDICT_COUNT &&
                ret->judge <= JUDGE_BOUND && ret->output >= -1 && ret->n_gains <= CHECK_GAINS,
            "a verdict is out of range: target %u, verdict %u, judge %u, output %d", target,
            (unsigned) ret->verdict, (unsigned) ret->judge, ret->output);
    ret->attempts = ret->failed_attempts = 0;
    clean(ret->stage, sizeof ret->stage);
    clean(ret->status, sizeof ret->status);
    clean(ret->why, sizeof ret->why);
    clean(ret->confirmed, sizeof ret->confirmed);
    clean(ret->place, sizeof ret->place);
    clean(ret->operation, sizeof ret->operation);
    clean(ret->type, sizeof ret->type);
    clean_blamed(&ret->blamed);
    return 0;
}

/* Copies lines with tabs from a message, without other control characters. */
static int take_lines(char **lines, const char *bytes, size_t length, struct why *w)
{
    char *copy = strndup(bytes, length);
    if (!copy)
        return why_no_memory(w);
    text_clean(copy);
    for (size_t i = 0; copy[i]; i++)
        if (bytes[i] == '\t')
            copy[i] = '\t';
    free(*lines);
    *lines = copy;
    return 0;
}

static int take_case(struct active_case *f, const char *bytes, size_t length, struct why *w)
{
    struct case_message m;
    REQUIRE(w, length >= sizeof m, "a message of %zu bytes is too short", length);
    memcpy(&m, bytes, sizeof m);
    REQUIRE(w, m.level >= -1, "the feature level %d", m.level);
    bytes += sizeof m;
    length -= sizeof m;
    REQUIRE(w, m.coverage <= length, "%u bytes of operations in %zu", m.coverage, length);
    f->level = m.level;
    f->n_operations = m.n_operations;
    TRY(take_lines(&f->operations, bytes, m.coverage, w));
    free(f->coverage);
    f->coverage = strndup(bytes + m.coverage, length - m.coverage);
    return f->coverage ? results_check_coverage(f->coverage, w) : why_no_memory(w);
}

static int take_text(char **text, const char *bytes, size_t length, struct why *w)
{
    free(*text);
    *text = copy_text(bytes + sizeof(uint32_t), length - sizeof(uint32_t));
    return *text ? 0 : why_no_memory(w);
}

static int take_verdict(struct campaign *c, struct active_case *f, const char *bytes, size_t length,
                        struct why *w)
{
    struct { /* without the result, which read_result() reads */
        uint32_t kind, target;
    } m;
    struct check_result r;
    REQUIRE(w, length == sizeof(struct verdict_message), "a verdict of %zu bytes", length);
    memcpy(&m, bytes, sizeof m);
    TRY(read_result(c, m.target, bytes + offsetof(struct verdict_message, result), &r, w));
    REQUIRE(w, !f->is_again || m.target == f->again, "a verdict for target %u, expected one for %u",
            m.target, f->again);
    if (f->is_again)
        f->again_failed = !verdict_conforming(r.verdict);
    if (f->is_again || f->verdict[m.target].settled)
        campaign_free_texts(&f->next);
    else
        campaign_set_verdict(f, m.target, &r);
    return 0;
}

/* The verdict may be one of a run for --rerun by now, which is not searched. */
static int take_blame(struct campaign *c, struct active_case *f, const char *bytes, size_t length,
                      struct why *w)
{
    struct blame_message m;
    REQUIRE(w, length == sizeof m, "a blame of %zu bytes", length);
    memcpy(&m, bytes, sizeof m);
    REQUIRE(w, m.target < c->n_targets && f->verdict[m.target].known,
            "it blames an operation for target %u, which has no verdict", m.target);
    clean_blamed(&m.blamed);
    const bool is_of_death =
        f->first_step & STEP_BLAME && m.target + 1 == (f->first_step & ~(uint32_t) STEP_FLAGS);
    if (!f->is_again && (is_of_death || !f->verdict[m.target].settled))
        f->verdict[m.target].result.blamed = m.blamed;
    return 0;
}

static int keep_spec(struct active_case *f, const char *text, size_t length, uint64_t spec_length,
                     struct why *w)
{
    REQUIRE(w, spec_length == length, "a specification of %llu bytes in %zu",
            (unsigned long long) spec_length, length);
    char *spec = spec_length ? malloc(spec_length) : NULL;
    if (spec)
        memcpy(spec, text, spec_length);
    free(f->spec);
    f->spec = spec;
    f->spec_length = spec ? spec_length : 0;
    return spec_length && !spec ? why_no_memory(w) : 0;
}

static int take_spec(struct active_case *f, const char *bytes, size_t length, struct why *w)
{
    struct spec_message m;
    REQUIRE(w, length >= sizeof m, "a message of %zu bytes is too short", length);
    memcpy(&m, bytes, sizeof m);
    return keep_spec(f, bytes + sizeof m, length - sizeof m, m.spec_length, w);
}

/* Once a case is complete only the database has the rest of it. */
static int amend_complete(struct campaign *c, uint64_t ordinal, uint32_t target,
                          const struct check_result *r, const struct case_texts *texts,
                          const struct spec_row *spec, struct why *w)
{
    struct final_verdict final;
    make_final(c, ordinal, target, r, texts, &final);
    struct verdict_row row = row_of(&final);
    int failed = c->results ? results_amend_case(c->results, ordinal, target, &row, spec, w) : 0;
    if (!failed)
        count_and_print(c, ordinal, target, &final);
    buffer_done(&final.replay);
    return failed;
}

/* The texts and the specification of an amended case, which follow its head. */
static int take_amended(struct active_case *late, const char *bytes, size_t length,
                        uint64_t spec_length, uint64_t printed, uint64_t backtrace, struct why *w)
{
    REQUIRE(w, printed <= length && backtrace <= length - printed,
            "texts of %llu and %llu bytes in %zu bytes", (unsigned long long) printed,
            (unsigned long long) backtrace, length);
    late->next.printed = printed ? copy_text(bytes, printed) : NULL;
    late->next.backtrace = backtrace ? copy_text(bytes + printed, backtrace) : NULL;
    if ((printed && !late->next.printed) || (backtrace && !late->next.backtrace))
        return why_no_memory(w);
    return keep_spec(late, bytes + printed + backtrace, length - printed - backtrace, spec_length,
                     w);
}

static int take_amend(struct campaign *c, const char *bytes, size_t length, struct why *w)
{
    struct { /* struct amend_message without the result, which read_result() reads */
        uint32_t kind, target;
        uint64_t ordinal, spec_length, printed_length, backtrace_length;
    } m;
    struct check_result r;
    REQUIRE(w, length >= sizeof(struct amend_message), "a message of %zu bytes is too short",
            length);
    memcpy(&m, bytes, sizeof m);
    TRY(read_result(c, m.target, bytes + offsetof(struct amend_message, result), &r, w));
    REQUIRE(w, m.ordinal < c->cases->n, "it amends case %llu", (unsigned long long) m.ordinal);
    struct active_case late = { 0 }; /* only its specification and texts */
    for (uint32_t i = 0; i < c->n_active_cases; i++)
        if (c->active_case[i].is_again && campaign_item(c, c->active_case[i].item) == m.ordinal)
            return 0; /* it does not conform already, and is being run again */
    const unsigned char *at = campaign_verdict(c, m.ordinal, m.target), known = at ? *at : 0;
    REQUIRE(w, known, "it amends case %llu, which is not complete", (unsigned long long) m.ordinal);
    if (!verdict_conforming((enum verdict)(known - 1)))
        return 0;
    int failed = take_amended(&late, bytes + sizeof(struct amend_message),
                              length - sizeof(struct amend_message), m.spec_length,
                              m.printed_length, m.backtrace_length, w);
    struct spec_row spec = { late.spec, late.spec_length };
    if (!failed)
        failed = amend_complete(c, m.ordinal, m.target, &r, &late.next, &spec, w);
    campaign_free_texts(&late.next);
    free(late.spec);
    return failed;
}

int campaign_keep_note(struct campaign *c, uint32_t target, const char *text, struct why *w)
{
    for (uint32_t i = 0; i < c->n_notes; i++)
        if (c->note[i].target == target && !strcmp(c->note[i].text, text))
            return 0;
    if (c->n_notes == MOST_NOTES)
        return 0;
    struct target_note *note = array_room(c->note, c->n_notes, sizeof *note);
    if (!note)
        return why_no_memory(w);
    c->note = note;
    char *copy = strdup(text);
    if (!copy)
        return why_no_memory(w);
    note[c->n_notes++] = (struct target_note){ .target = target, .text = copy };
    return c->results ? results_add_note(c->results, target, text, w) : 0;
}

static int take_note(struct campaign *c, const char *bytes, size_t length, struct why *w)
{
    struct note_message m;
    char text[MOST_NOTE];
    REQUIRE(w, length >= sizeof m, "a message of %zu bytes is too short", length);
    memcpy(&m, bytes, sizeof m);
    REQUIRE(w, m.target < c->n_targets, "a note about target %u", m.target);
    snprintf(text, sizeof text, "%.*s",
             (int) (length - sizeof m < sizeof text ? length - sizeof m : sizeof text),
             bytes + sizeof m);
    text_clean(text);
    return campaign_keep_note(c, m.target, text, w);
}

static int take_message(struct campaign *c, struct active_case *f, const char *bytes, size_t length,
                        struct why *w)
{
    uint32_t kind;
    REQUIRE(w, length >= sizeof kind, "a message of %zu bytes is too short", length);
    memcpy(&kind, bytes, sizeof kind);
    REQUIRE(w, f->item != WORKER_POOL_NO_ITEM || kind == MESSAGE_AMEND || kind == MESSAGE_NOTE,
            "a message of kind %u without a case", kind);
    switch (kind) {
    case MESSAGE_CASE: return take_case(f, bytes, length, w);
    case MESSAGE_VERDICT: return take_verdict(c, f, bytes, length, w);
    case MESSAGE_BLAME: return take_blame(c, f, bytes, length, w);
    case MESSAGE_SPEC: return take_spec(f, bytes, length, w);
    case MESSAGE_DETAIL: return take_text(&f->next.detail, bytes, length, w);
    case MESSAGE_PRINTED: return take_text(&f->next.printed, bytes, length, w);
    case MESSAGE_BACKTRACE: return take_text(&f->next.backtrace, bytes, length, w);
    case MESSAGE_AMEND: return take_amend(c, bytes, length, w);
    case MESSAGE_NOTE: return take_note(c, bytes, length, w);
    default: return why_fail(w, WHY_INVALID, "a message of the unknown kind %u", kind);
    }
}

int campaign_take_message(uint64_t item, const void *bytes, size_t length, void *user,
                          struct why *w)
{
    struct active_case *f = campaign_case(user, item);
    return f ? answer_of(take_message(user, f, bytes, length, w), w) : why_no_memory(w);
}
