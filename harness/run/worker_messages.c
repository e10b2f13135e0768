/* The messages of a worker about its case. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "harness/run/campaign_worker.h"
#include "randgraph/coverage.h"
#include "reports/packed_spec.h"
#include "reports/reports.h"
#include "specs/specs.h"

static void put_cell(const struct randgraph_cell *c, void *user)
{
    char rank[16];
    const char *const part[] = { c->operation, "\t",       c->form, "\t",      c->types,
                                 rank,         c->options, "\t",    c->values, "\n" };
    snprintf(rank, sizeof rank, "\t%u\t", c->rank);
    for (int i = 0; i < COUNT(part); i++)
        buffer_puts(user, part[i]);
}

static void put_pair(const char *producer, const char *consumer, void *user)
{
    const char *const part[] = { producer, "\t", consumer, "\n" };
    for (int i = 0; i < COUNT(part); i++)
        buffer_puts(user, part[i]);
}

void message_case(struct worker_pool_link *l, const struct example *e, int level,
                  struct arena *scratch)
{
    const struct graph *g = &e->model.graph[0];
    struct case_message head = { MESSAGE_CASE, level, g->n_operations, 0 };
    struct buffer b = { 0 };
    buffer_put(&b, &head, sizeof head);
    for (uint32_t k = 0; k < e->model.n_graphs; k++)
        for (uint32_t i = 0; i < e->model.graph[k].n_operations; i++) {
            const struct operation *p = &e->model.graph[k].operation[i];
            char text[48];
            buffer_printf(&b, "%s\t%s\n", operation_name(p->code, text),
                          operation_type(&e->model.graph[k], p));
        }
    head.coverage = (uint32_t) (b.length - sizeof head);
    bool ok = !scratch || randgraph_each_cell(e, scratch, put_cell, put_pair, &b) == 0;
    if (ok && !b.failed) {
        memcpy(b.data, &head, sizeof head);
        worker_pool_send(l, b.data, b.length);
    }
    buffer_done(&b);
}

void message_text(struct worker_pool_link *l, enum message_kind kind, const char *text)
{
    struct buffer b = { 0 };
    uint32_t head = kind;
    buffer_put(&b, &head, sizeof head);
    buffer_puts(&b, text);
    if (!b.failed && *text)
        worker_pool_send(l, b.data, b.length);
    buffer_done(&b);
}

void message_verdict(struct worker_pool_link *l, uint32_t target, const struct check_result *r)
{
    struct verdict_message m = { MESSAGE_VERDICT, target, *r };
    worker_pool_send(l, &m, sizeof m);
}

void message_blame(struct worker_pool_link *l, uint32_t target, const struct blamed *b)
{
    struct blame_message m = { MESSAGE_BLAME, target, *b };
    worker_pool_send(l, &m, sizeof m);
}

/* The case as a specification, as far as it is written, in memory.  lists NULL: without marks. */
static char *write_text(const struct example *e, struct modpy_lists *lists, size_t *ret_length)
{
    char *text = NULL;
    struct why why;
    FILE *to = open_memstream(&text, ret_length);
    if (!to)
        return NULL;
    int failed =
        lists ? specs_write_modpy_marked(e, to, lists, &why) : specs_write_modpy(e, NULL, to, &why);
    if (fclose(to) != 0 || failed < 0) {
        free(text);
        return NULL;
    }
    return text;
}

/* The specification of the case as it is stored: packed (reports/packed_spec.h), or the text if
 * that is not possible.  NULL where writing failed. */
static char *write_spec(struct spec_packer *k, const struct example *e, size_t *ret_length)
{
    enum { HEAD = 64, CODE = 32 }; /* more than a packed specification and a list begin with */
    struct modpy_lists lists = { 0 };
    size_t length = 0, packed = 0;
    char *text = write_text(e, &lists, &length);
    size_t room = HEAD + length;
    for (size_t i = 0; i < lists.n; i++)
        room += CODE + tensor_bytes(lists.list[i]);
    char *bytes = text ? malloc(room) : NULL;
    if (bytes)
        packed =
            packed_spec_marked(k, text, length, lists.list, lists.n, (unsigned char *) bytes, room);
    free(text);
    free(lists.list);
    *ret_length = packed;
    if (packed)
        return bytes;
    free(bytes);
    return write_text(e, NULL, ret_length);
}

/* Sends a head, two texts, then the specification of the case. */
static void send_with_spec(struct worker_pool_link *l, struct spec_packer *k,
                           const struct example *e, void *head, size_t size, const char *printed,
                           const char *backtrace, uint64_t *spec_length)
{
    size_t length = 0;
    char *spec = write_spec(k, e, &length);
    struct buffer b = { 0 };
    *spec_length = spec ? length : 0;
    buffer_put(&b, head, size);
    buffer_puts(&b, printed);
    buffer_puts(&b, backtrace);
    if (spec)
        buffer_put(&b, spec, length);
    if (!b.failed)
        worker_pool_send(l, b.data, b.length);
    buffer_done(&b);
    free(spec);
}

void message_spec(struct worker_pool_link *l, struct spec_packer *k, const struct example *e)
{
    struct spec_message head = { .kind = MESSAGE_SPEC };
    send_with_spec(l, k, e, &head, sizeof head, "", "", &head.spec_length);
}

void message_amend(struct worker_pool_link *l, struct spec_packer *k, uint32_t target,
                   uint64_t ordinal, const struct check_result *r, const char *printed,
                   const char *backtrace, const struct example *e)
{
    struct amend_message head = { .kind = MESSAGE_AMEND,
                                  .target = target,
                                  .ordinal = ordinal,
                                  .printed_length = strlen(printed),
                                  .backtrace_length = strlen(backtrace),
                                  .result = *r };
    send_with_spec(l, k, e, &head, sizeof head, printed, backtrace, &head.spec_length);
}

void message_note(struct worker_pool_link *l, uint32_t target, const char *text)
{
    struct note_message head = { MESSAGE_NOTE, target };
    struct buffer b = { 0 };
    buffer_put(&b, &head, sizeof head);
    buffer_puts(&b, text);
    if (!b.failed)
        worker_pool_send(l, b.data, b.length);
    buffer_done(&b);
}
