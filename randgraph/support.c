/* What a driver supports: draws the probe table, learns limits from the driver's answers, and keeps
 * the part of the catalogue within them.
 *
 * A call is described by its traits (traits.c).  The limits on the calls of a probe row are a set
 * of values for each trait: a box.  A trait gets a limit only if a call that is not supported has a
 * value of it that no supported call has; then the values of supported calls are allowed, and of an
 * ordered trait all on the good side of the ones that are not.  Calls that are not supported though
 * each of their values occurs in a supported one show that traits depend on each other; then values
 * are removed until the box has none of these calls, those first that cost the fewest supported
 * ones. */
#include "randgraph/support.h"

#include <stdio.h>
#include <string.h>

#include "golden/math/farmhash.h"

/* ---- the probe table */

uint32_t randgraph_probe_rows(void)
{
    const struct rows *rows = rows_get();

    return rows ? rows->n_ids : 0;
}

void randgraph_probe_text(uint32_t row, char *ret_text, size_t size)
{
    const struct row *r = rows_get()->by_id[row];
    const struct form *f = &r->op->forms[r->form];
    size_t used = (size_t) snprintf(ret_text, size, "%s", r->op->name);

    for (int i = 0; f->role[i] != END && used < size; i++)
        if (r->op->in[f->role[i]].dims)
            used += (size_t) snprintf(
                ret_text + used, size - used, "%s%s", strchr(ret_text, ' ') ? ", " : " ",
                dtype_info[role_type(&r->op->in[f->role[i]], &r->op->typings[r->typing])].name);
    if (r->op->n_forms > 1 && f->name && used < size)
        snprintf(ret_text + used, size - used, " (%s)", f->name);
}

/* Calls of the table vary more than those of graphs in what drivers limit, and less in the rest. */
static struct randgraph_weights probe_weights(uint32_t index)
{
    struct randgraph_weights w = randgraph_weights_default;

    w.unknown_graph = w.pool_graph = w.extra_output = 0;
    w.small_dims = 30; /* limits on sizes show beyond them */
    w.degenerate = 100;
    w.vary_constant = 20;
    w.input_scalar = index % 4 == 3 ? 20 : 0;
    return w;
}

int randgraph_probe(uint32_t row, uint32_t index, int max_level,
                    const struct randgraph_limits *within, struct arena *arena,
                    struct example *ret_example, uint8_t ret_trait[RANDGRAPH_TRAITS], struct why *w)
{
    static const uint32_t side[] = { 4, 10, 6, 16, 3 }, large_side[] = { 12, 20, 28, 16 };
    const bool longest = index >= RANDGRAPH_SAMPLES + RANDGRAPH_LARGE;
    struct randgraph_weights weights = probe_weights(index);
    struct randgraph_options o = randgraph_default;
    struct builder b;
    struct rng r;

    o.max_level = max_level;
    o.max_dim = index < RANDGRAPH_SAMPLES ? side[index % COUNT(side)]
                : longest                 ? randgraph_default.max_dim
                                          : large_side[index % COUNT(large_side)];
    o.weights = &weights;
    rng_seed(&r, row, index);
    TRY(builder_begin(&b, &o, &r, arena, w));
    b.types = UINT32_MAX;
    b.limit = fp16_limit;
    b.forced = b.rows->by_id[row];
    b.within = within;
    b.traits = ret_trait;
    int rc = -1;
    if ((int) b.forced->level > max_level || grow_graph(&b, 1) < 0)
        why_fail(w, WHY_UNSUPPORTED, "no such call of this probe row can be drawn");
    else if ((rc = finish_example(&b, ret_example)) < 0)
        why_no_memory(w);
    arena_free(b.scratch);
    return rc;
}

/* Constant parameters and weights, strides and dilations of 1, no activation. */
static void plain_limits(uint32_t row, struct randgraph_limits *ret_limits)
{
    const struct row *r = rows_get()->by_id[row];

    memset(ret_limits->allowed, 0xff, sizeof ret_limits->allowed);
    ret_limits->supported = true;
    for (int i = 0; i < r->op->n_in; i++) {
        const struct role *role = &r->op->in[i];
        uint64_t *value = &ret_limits->allowed[TRAIT_VALUE + i];
        if (role->draw == DRAW_STRIDE || role->draw == DRAW_DILATION)
            *value = (uint64_t) 1 << (VALUE_OFFSET + 1);
        if (role->draw == DRAW_ACTIVATION || r->op->layout == i + 1)
            *value = (uint64_t) 1 << VALUE_OFFSET;
        if (!role->dims || (role->needs & NEEDS_CONST))
            ret_limits->allowed[TRAIT_STATE + i] = ~((uint64_t) 1 << STATE_VARIABLE);
    }
}

uint32_t randgraph_count_limits(const struct randgraph_limits *limits)
{
    uint32_t n = 0;

    for (int t = 0; t < RANDGRAPH_TRAITS && limits->supported; t++)
        n += limits->allowed[t] != UINT64_MAX;
    return n;
}

static int trait_of_extent(enum randgraph_extent e)
{
    return e == EXTENT_SIZE ? TRAIT_SIZE : TRAIT_SIDE;
}

bool randgraph_limits_extent(const struct randgraph_limits *limits, enum randgraph_extent e)
{
    return limits->allowed[trait_of_extent(e)] != UINT64_MAX;
}

uint32_t randgraph_sample_extent(const struct randgraph_sample *s, enum randgraph_extent e)
{
    return s->trait[trait_of_extent(e)];
}

bool randgraph_guide(uint32_t row, uint32_t index, const struct randgraph_limits *learned,
                     struct randgraph_limits *ret_within)
{
    uint32_t n = randgraph_count_limits(learned), k = 0;

    if (!learned->supported) {
        plain_limits(row, ret_within);
        return index % 2 == 0;
    }
    *ret_within = *learned;
    if (index % 4 < 2 || n == 0)
        return index % 4 && n;
    for (int t = 0; t < RANDGRAPH_TRAITS; t++)
        if (learned->allowed[t] != UINT64_MAX && k++ == (index - index / 4 * 2) % n)
            ret_within->allowed[t] = UINT64_MAX;
    return true;
}

static bool hide_shape(struct tensor *t, bool rank)
{
    if (!dtype_info[t->dtype].tensor || dtype_info[t->dtype].quant == QUANT_CHANNEL)
        return false;
    if (rank)
        t->shape.rank = 0;
    memset(t->shape.dim, 0, sizeof t->shape.dim);
    return true;
}

/* Where it is a tensor, an input of the model, and not the only one. */
static bool make_first_constant(struct example *e)
{
    struct graph *g = &e->model.graph[0];
    const uint32_t first = g->operation->n_in ? g->operation->in[0] : 0;
    struct operand *o = &g->operand[first];
    uint32_t at = 0;

    for (uint32_t i = 0; i < g->n_inputs; i++)
        at = g->input[i] == first ? i : at;
    if (o->life != LIFE_INPUT || !dtype_info[o->tensor.dtype].tensor || !e->in[at].data)
        return false;
    o->life = LIFE_CONSTANT_COPY;
    o->tensor.data = e->in[at].data;
    o->length = tensor_bytes(&o->tensor);
    g->n_inputs--;
    for (uint32_t i = at; i < g->n_inputs; i++) {
        g->input[i] = g->input[i + 1];
        e->in[i] = e->in[i + 1];
    }
    return true;
}

bool randgraph_probe_variant(struct example *e, enum randgraph_variant variant)
{
    struct graph *g = &e->model.graph[0];
    bool has_float = false;

    for (uint32_t i = 0; i < g->n_operands; i++)
        has_float |= g->operand[i].tensor.dtype == DT_F32;
    switch (variant) {
    case VARIANT_RELAXED: e->model.relaxed = true; return has_float;
    case VARIANT_CONSTANT_FIRST: return make_first_constant(e);
    case VARIANT_UNKNOWN_DIMS:
    case VARIANT_UNKNOWN_RANK:
        for (uint32_t i = 0; i < g->n_outputs; i++)
            hide_shape(&g->operand[g->output[i]].tensor, variant == VARIANT_UNKNOWN_RANK);
        return true;
    default: break;
    }
    bool any = false;
    for (uint32_t i = 0; i < g->n_inputs; i++)
        any |= hide_shape(&g->operand[g->input[i]].tensor, variant == VARIANT_UNKNOWN_INPUT_RANK);
    return any;
}

void randgraph_refuse(uint32_t row, enum randgraph_variant variant, struct randgraph_limits *limits)
{
    const struct row *r = rows_get()->by_id[row];
    const uint8_t first = r->op->forms[r->form].role[0];

    if (variant == VARIANT_CONSTANT_FIRST)
        limits->allowed[TRAIT_STATE + first] &=
            ~((uint64_t) 1 << STATE_CONSTANT | (uint64_t) 1 << STATE_MIXED);
    else
        limits->without |= (uint8_t) (1u << variant);
}

uint8_t support_unknown_inputs(uint8_t without)
{
    return without | (uint8_t) (without >> (VARIANT_UNKNOWN_INPUT_DIMS - VARIANT_UNKNOWN_DIMS) &
                                (1u << VARIANT_UNKNOWN_DIMS | 1u << VARIANT_UNKNOWN_RANK));
}

/* ---- learning */

struct learning {
    const struct op *op;
    const struct randgraph_sample *sample;
    uint32_t n;
    uint64_t seen[RANDGRAPH_TRAITS]; /* values of supported samples */
    uint64_t allowed[RANDGRAPH_TRAITS];
};

static bool has_bit(uint64_t set, uint8_t value)
{
    return value != NO_TRAIT && (set >> value & 1);
}

static bool is_within(const uint64_t allowed[RANDGRAPH_TRAITS],
                      const uint8_t trait[RANDGRAPH_TRAITS])
{
    for (int t = 0; t < RANDGRAPH_TRAITS; t++)
        if (trait[t] != NO_TRAIT && !has_bit(allowed[t], trait[t]))
            return false;
    return true;
}

bool support_allows(const struct randgraph_limits *l, const uint8_t trait[RANDGRAPH_TRAITS])
{
    return is_within(l->allowed, trait);
}

static bool is_in_box(const struct learning *l, const struct randgraph_sample *s)
{
    return is_within(l->allowed, s->trait);
}

static uint64_t from_to(int from, int to)
{
    uint64_t up_to = to >= MOST_TRAIT ? UINT64_MAX : ((uint64_t) 2 << to) - 1;

    return up_to & ~(((uint64_t) 1 << from) - 1);
}

/* Between the least and the greatest value of supported samples, for an ordered trait. */
static uint64_t seen_range(const struct learning *l, int t)
{
    uint64_t seen = l->seen[t];

    if (!seen || !trait_is_ordered(l->op, t))
        return seen;
    return from_to(__builtin_ctzll(seen), 63 - __builtin_clzll(seen));
}

/* Allows the values of supported samples and, of an ordered trait, those beyond them on the sides
 * where no sample has been rejected. */
static void limit(struct learning *l, int t)
{
    uint64_t range = seen_range(l, t), rejected = 0;

    for (uint32_t i = 0; i < l->n; i++)
        if (!l->sample[i].supported && l->sample[i].trait[t] != NO_TRAIT)
            rejected |= (uint64_t) 1 << l->sample[i].trait[t];
    rejected &= ~range;
    if (range && trait_is_ordered(l->op, t)) {
        int least = __builtin_ctzll(range), most = 63 - __builtin_clzll(range);
        if (!(rejected & from_to(0, least)))
            range |= from_to(0, least);
        if (!(rejected & from_to(most, MOST_TRAIT)))
            range |= from_to(most, MOST_TRAIT);
    }
    l->allowed[t] &= range;
}

/* Drivers limit the quantisation of results and weights less often than the rest: only where that
 * does not explain it. */
static bool is_rare_reason(int t)
{
    return t == TRAIT_ZEROS || t == TRAIT_OUT_ZERO || t == TRAIT_OUT_SCALE;
}

/* Number of traits that can be why the sample is rejected, rare ones among them or not; limits them
 * if there are at most so many. */
static int limit_reasons(struct learning *l, const struct randgraph_sample *s, bool rare, int most)
{
    int reason[RANDGRAPH_TRAITS], n = 0;

    for (int t = 0; t < RANDGRAPH_TRAITS; t++)
        if (s->trait[t] != NO_TRAIT && (rare || !is_rare_reason(t)) &&
            !has_bit(seen_range(l, t), s->trait[t]))
            reason[n++] = t;
    for (int i = 0; i < n && n <= most; i++)
        limit(l, reason[i]);
    return n;
}

/* Limits the traits that explain a rejection, those of the samples with the fewest possible
 * explanations first; what these explain, too, needs no other limit. */
static void explain(struct learning *l, bool rare)
{
    int most = 1, next;

    for (; most <= RANDGRAPH_TRAITS; most = next) {
        next = RANDGRAPH_TRAITS + 1;
        for (uint32_t i = 0; i < l->n; i++) {
            if (l->sample[i].supported || !is_in_box(l, &l->sample[i]))
                continue;
            int n = limit_reasons(l, &l->sample[i], rare, most);
            next = n > most && n < next ? n : next;
        }
    }
}

/* Parameters are limited to what a supported sample has: to constants, and to values, of which
 * there are few. */
static void require_seen(struct learning *l)
{
    for (int i = 0; i < l->op->n_in; i++) {
        enum draw draw = l->op->in[i].draw;
        bool few = draw == DRAW_STRIDE || draw == DRAW_DILATION || draw == DRAW_KERNEL ||
                   draw == DRAW_MULTIPLIER || draw == DRAW_PAD ||
                   !trait_is_ordered(l->op, TRAIT_VALUE + i);
        if (l->op->in[i].dims || !l->seen[TRAIT_STATE + i])
            continue;
        if (!has_bit(l->seen[TRAIT_STATE + i], STATE_VARIABLE))
            l->allowed[TRAIT_STATE + i] &= ~((uint64_t) 1 << STATE_VARIABLE);
        if (few && l->seen[TRAIT_VALUE + i])
            l->allowed[TRAIT_VALUE + i] &= seen_range(l, TRAIT_VALUE + i);
    }
}

/* Removes one value from the box: of those that rejected samples in it have, the one that costs the
 * smallest share of supported samples.  False: the box has no rejected sample. */
static bool remove_value(struct learning *l)
{
    static const double weight_of_supported = 2;
    double best = -1;
    int best_trait = -1, best_value = 0;
    bool any = false;

    for (uint32_t i = 0; i < l->n; i++)
        any |= !l->sample[i].supported && is_in_box(l, &l->sample[i]);
    for (int t = 0; t < RANDGRAPH_TRAITS && any; t++) {
        uint32_t bad[MOST_TRAIT + 1] = { 0 }, good[MOST_TRAIT + 1] = { 0 };
        for (uint32_t i = 0; i < l->n; i++) {
            const struct randgraph_sample *s = &l->sample[i];
            if (s->trait[t] != NO_TRAIT && is_in_box(l, s))
                ++*(s->supported ? &good[s->trait[t]] : &bad[s->trait[t]]);
        }
        for (int v = 0; v <= MOST_TRAIT; v++) {
            double score = bad[v] ? bad[v] / (bad[v] + weight_of_supported * good[v]) : -1;
            if (score > best) {
                best = score;
                best_trait = t;
                best_value = v;
            }
        }
    }
    if (best_trait >= 0)
        l->allowed[best_trait] &= ~((uint64_t) 1 << best_value);
    return best_trait >= 0;
}

/* The windows of rejected samples that are within all other limits. */
static uint64_t only_windows(struct learning *l)
{
    uint64_t allowed = l->allowed[TRAIT_WINDOW], refused = 0;

    l->allowed[TRAIT_WINDOW] = UINT64_MAX;
    for (uint32_t i = 0; i < l->n; i++) {
        uint8_t window = l->sample[i].trait[TRAIT_WINDOW];
        if (!l->sample[i].supported && window != NO_TRAIT && is_in_box(l, &l->sample[i]))
            refused |= (uint64_t) 1 << window;
    }
    l->allowed[TRAIT_WINDOW] = allowed;
    return refused;
}

bool randgraph_is_within(const struct randgraph_limits *l, const struct randgraph_sample *s)
{
    return l->supported && support_allows(l, s->trait);
}

void randgraph_learn(uint32_t row, const struct randgraph_sample *sample, uint32_t n,
                     struct randgraph_limits *ret_limits)
{
    struct learning l = { .op = rows_get()->by_id[row]->op, .sample = sample, .n = n };

    memset(l.allowed, 0xff, sizeof l.allowed);
    memset(ret_limits, 0, sizeof *ret_limits);
    for (uint32_t i = 0; i < n; i++)
        for (int t = 0; t < RANDGRAPH_TRAITS; t++)
            if (sample[i].supported && sample[i].trait[t] != NO_TRAIT)
                l.seen[t] |= (uint64_t) 1 << sample[i].trait[t];
    explain(&l, false);
    explain(&l, true);
    require_seen(&l);
    while (remove_value(&l))
        continue;
    ret_limits->refused_windows = only_windows(&l);
    for (uint32_t i = 0; i < n; i++)
        ret_limits->supported |= sample[i].supported && is_in_box(&l, &sample[i]);
    if (ret_limits->supported)
        memcpy(ret_limits->allowed, l.allowed, sizeof l.allowed);
}

/* Rows first to end - 1 are those of one operation. */
static void share_windows(struct randgraph_limits *limits, uint32_t first, uint32_t end)
{
    uint64_t seen = 0;
    uint32_t supported = 0, limited = 0;

    for (uint32_t i = first; i < end; i++) {
        bool is_limited = limits[i].supported && limits[i].allowed[TRAIT_WINDOW] != UINT64_MAX;
        supported += limits[i].supported;
        limited += is_limited;
        seen |= is_limited ? limits[i].allowed[TRAIT_WINDOW] : 0;
    }
    for (uint32_t i = first; i < end; i++) {
        uint64_t *allowed = &limits[i].allowed[TRAIT_WINDOW];
        if (!limits[i].supported)
            continue;
        if (*allowed != UINT64_MAX)
            *allowed |= seen & ~limits[i].refused_windows;
        else if (2 * limited > supported)
            *allowed = seen;
    }
}

void randgraph_share_windows(struct randgraph_limits *limits)
{
    const struct rows *rows = rows_get();
    uint32_t first = 0;

    for (uint32_t i = 1; i <= rows->n_ids; i++)
        if (i == rows->n_ids || rows->by_id[i]->op != rows->by_id[first]->op) {
            share_windows(limits, first, i);
            first = i;
        }
}

/* ---- the set */

const struct randgraph_limits *support_row(const struct randgraph_support *s, uint32_t id)
{
    return s->limits[id].supported ? &s->limits[id] : NULL;
}

const struct rows *support_rows(const struct randgraph_support *s)
{
    return &s->rows;
}

int support_level(const struct randgraph_support *s)
{
    return s->level;
}

bool support_has_relaxed(const struct randgraph_support *s)
{
    return s->has_relaxed;
}

bool support_has_control(const struct randgraph_support *s)
{
    return s->control[0] | s->control[1];
}

bool support_control(const struct randgraph_support *s, bool loop, enum dtype type)
{
    return s->control[loop] >> type & 1;
}

const struct randgraph_model_limits *support_models(const struct randgraph_support *s)
{
    return &s->models;
}

bool support_has(const struct randgraph_support *s, const char *name, enum dtype type)
{
    const struct op_list *list = &s->rows.first[type];

    for (uint32_t i = 0; i < list->n; i++)
        if (strcmp(list->op[i].op->name, name) == 0)
            return true;
    return false;
}

void randgraph_support_count(const struct randgraph_support *s, uint32_t *ret_ops,
                             uint32_t *ret_rows)
{
    const struct rows *all = rows_get();

    const struct op *last = NULL;

    *ret_ops = *ret_rows = 0;
    for (uint32_t i = 0; i < all->n_ids; i++) {
        if (!s->limits[i].supported)
            continue;
        *ret_ops += all->by_id[i]->op != last;
        last = all->by_id[i]->op;
        ++*ret_rows;
    }
}

const char *randgraph_support_text(const struct randgraph_support *s)
{
    return s->text;
}

uint64_t randgraph_support_digest(const struct randgraph_support *s)
{
    return s->digest;
}

static int fill(struct randgraph_support *s, const struct randgraph_limits *limits, struct why *w)
{
    const struct rows *all = rows_get();
    bool *keep = all ? arena_alloc(s->arena, all->n_ids + 1, sizeof *keep) : NULL;
    bool any = false;

    if (!keep)
        return why_no_memory(w);
    s->limits = arena_copy(s->arena, limits, all->n_ids * sizeof *limits);
    if (!s->limits)
        return why_no_memory(w);
    s->has_relaxed = true;
    for (uint32_t i = 0; i < all->n_ids; i++) {
        keep[i] = limits[i].supported;
        any |= keep[i];
        if (keep[i] && (limits[i].without >> VARIANT_RELAXED & 1))
            s->has_relaxed = false;
    }
    if (!any)
        return why_fail(w, WHY_UNSUPPORTED, "no operation is supported");
    if (rows_filter(all, keep, s->arena, &s->rows) < 0 || !(s->text = support_write(s)))
        return why_no_memory(w);
    s->digest = farmhash64(s->text, strlen(s->text));
    s->digest += s->digest == 0;
    return 0;
}

int randgraph_support_new(int max_level, const struct randgraph_limits *limits, uint32_t branch,
                          uint32_t loop, const struct randgraph_model_limits *models,
                          struct randgraph_support **ret_support, struct why *w)
{
    struct arena *a = arena_new(0);
    struct randgraph_support *s = a ? arena_alloc(a, 1, sizeof *s) : NULL;

    if (!s) {
        arena_free(a);
        return why_no_memory(w);
    }
    *s = (struct randgraph_support){ .arena = a, .level = max_level, .control = { branch, loop } };
    if (models)
        s->models = *models;
    if (fill(s, limits, w) < 0) {
        arena_free(a);
        return -1;
    }
    *ret_support = s;
    return 0;
}

void randgraph_support_free(struct randgraph_support *s)
{
    if (s)
        arena_free(s->arena);
}
