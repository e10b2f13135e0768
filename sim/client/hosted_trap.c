/* Accesses of a hosted driver to memory that was not lent, which end its process. */
#include <signal.h>
#include <stdio.h>

#include "sim/client/hosted.h"

static int trespass(struct case_run *c, const char *what)
{
    c->o->trespassed = true;
    c->o->violation[0] = 0;
    return case_run_violation(c, "%s", what);
}

static bool is_in(const struct lent_region *r, uint64_t address)
{
    uint64_t end = (uintptr_t) r->at + r->length;

    return address >= end && address < end + LENT_PAGE;
}

static int trespass_input(struct case_run *c, const struct lent_arrays *l, bool write,
                          uint64_t address)
{
    uint32_t n = l->input ? c->m->graph[0].n_inputs : 0, nearest = n;
    uint64_t end = 0; /* of the nearest input before the address */
    char text[160];

    for (uint32_t i = 0; i < n; i++) {
        uint64_t begin = (uintptr_t) l->input[i], after = begin + tensor_bytes(&c->in[i]);
        if (address >= begin && address < after) {
            snprintf(text, sizeof text, "input %u was written to", i);
            return trespass(c, text);
        }
        if (after <= address && after > end) {
            nearest = i;
            end = after;
        }
    }
    uint64_t reach = end % LENT_PAGE ? HOSTED_LEAD : LENT_PAGE; /* where other memory begins */
    if (nearest < n && address < end + reach) {
        size_t length = tensor_bytes(&c->in[nearest]);
        snprintf(text, sizeof text, "memory after input %u was %s: byte %llu of its %zu bytes",
                 nearest, write ? "written to" : "read",
                 (unsigned long long) (length + address - end), length);
        return trespass(c, text);
    }
    return write ? trespass(c, "memory that is lent for reading was written to: the model, the "
                               "request or between their values")
                 : 0;
}

static int trespass_output(struct case_run *c, const struct lent_arrays *l, bool write,
                           uint64_t address)
{
    const char *how = write ? "written to" : "read";
    char text[160];

    for (uint32_t i = 0; c->region && i < c->m->graph[0].n_outputs; i++)
        if (is_in(&c->region[i], address)) {
            snprintf(text, sizeof text,
                     "memory after output %u was %s: byte %llu of its buffer of %zu bytes", i, how,
                     (unsigned long long) (address - (uintptr_t) c->region[i].at),
                     c->out_length[i]);
            return trespass(c, text);
        }
    if (is_in(&l->supported, address))
        snprintf(text, sizeof text, "memory after the answers of get_supported_operations was %s",
                 how);
    else if (is_in(&l->shapes, address))
        snprintf(text, sizeof text, "memory after the output shapes was %s", how);
    else
        snprintf(text, sizeof text, "memory between lent regions was %s", how);
    return trespass(c, text);
}

void hosted_classify_crash(struct case_run *c, const struct lent_arrays *l,
                           const struct host_death *d)
{
    const struct crash_facts *f = &d->crash;
    bool write = f->access == CRASH_WRITE;

    if (d->hung || d->signal != f->signal || !f->has_address ||
        (f->signal != SIGSEGV && f->signal != SIGBUS))
        return;
    switch (lent_memory_place(&c->t->hosted->process.memory, f->address)) {
    case LENT_INPUT_AREA: trespass_input(c, l, write, f->address); break;
    case LENT_OUTPUT_AREA: trespass_output(c, l, write, f->address); break;
    case LENT_NOWHERE: break;
    }
}
