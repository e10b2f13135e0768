#include "golden/exec/const_cache.h"

#include <stdbool.h>
#include <stdlib.h>

enum { ALIGN = 64 }; /* for vector loads */

struct const_cache_item {
    struct const_cache_item *next;
    enum const_form form;
    size_t n, k, groups, bytes;
    void *data;
};

static void item_free(struct const_cache_item *item)
{
    if (item)
        free(item->data);
    free(item);
}

void const_cache_done(struct const_cache *p)
{
    for (struct const_cache_item *i = atomic_load(&p->first), *next; i; i = next) {
        next = i->next;
        item_free(i);
    }
    atomic_store(&p->first, NULL);
}

static struct const_cache_item *find(struct const_cache_item *i, const struct const_recipe *r)
{
    while (i && (i->form != r->form || i->n != r->n || i->k != r->k || i->groups != r->groups))
        i = i->next;
    return i;
}

static bool take_room(struct const_cache *p, size_t bytes)
{
    size_t room = atomic_load(p->room);

    while (bytes <= room)
        if (atomic_compare_exchange_weak(p->room, &room, room - bytes))
            return true;
    return false;
}

static struct const_cache_item *item_new(const struct const_recipe *r)
{
    struct const_cache_item *item = calloc(1, sizeof *item);

    if (!item)
        return NULL;
    *item = (struct const_cache_item){ NULL, r->form, r->n, r->k, r->groups, r->bytes, NULL };
    item->data = aligned_alloc(ALIGN, (r->bytes + ALIGN) / ALIGN * ALIGN);
    if (item->data)
        return item;
    item_free(item);
    return NULL;
}

/* Adds the item to the list, unless a concurrent run has added the same form: then frees it and
 * returns the other. */
static struct const_cache_item *publish(struct const_cache *p, const struct const_recipe *r,
                                        struct const_cache_item *item)
{
    struct const_cache_item *first = atomic_load(&p->first), *other;

    do {
        other = find(first, r);
        if (other) {
            item_free(item);
            atomic_fetch_add(p->room, r->bytes);
            return other;
        }
        item->next = first;
    } while (!atomic_compare_exchange_weak(&p->first, &first, item));
    return item;
}

static const void *make_in(struct arena *scratch, const struct const_recipe *r, struct why *w)
{
    void *to = arena_alloc_raw(scratch, r->bytes + 1, 1);

    if (!to)
        why_no_memory_for(w, "%zu bytes of weights", r->bytes);
    return to && r->make(r->context, to, w) >= 0 ? to : NULL;
}

const void *const_cache_get(struct const_cache *p, const struct const_recipe *r,
                            struct arena *scratch, struct why *w)
{
    struct const_cache_item *item = p ? find(atomic_load(&p->first), r) : NULL;

    if (item)
        return item->data;
    if (!p || !take_room(p, r->bytes))
        return make_in(scratch, r, w);
    item = item_new(r);
    if (item && r->make(r->context, item->data, w) >= 0)
        return publish(p, r, item)->data;
    atomic_fetch_add(p->room, r->bytes);
    if (!item)
        return make_in(scratch, r, w);
    item_free(item);
    return NULL;
}
