/* Limits on whole models, whatever their operations are: measures a graph, learns the limits from a
 * driver's answers, and keeps a graph that is drawn within them.
 *
 * Of each measure a driver may refuse what is above some value.  Only measures that explain
 * refusals get a limit, those first that are the only explanation of one (as in support.c); a limit
 * that few models were refused beyond is not believed. */
#include "randgraph/support.h"

#include <string.h>

enum { BELIEVED = 3 }; /* models that are refused beyond a limit */

static bool is_constant(const struct graph_value *k)
{
    return k->life != LIFE_INPUT && !k->result;
}

/* How often operation d reads it; NULL: none. */
static uint32_t reads_of(const struct draft *d, const struct graph_value *k)
{
    uint32_t n = 0;

    for (uint32_t i = 0; d && i < d->n_in; i++)
        n += d->in[i] == k;
    return n;
}

static void measure_value(const struct draft *d, const struct graph_value *k, uint32_t *types,
                          uint32_t *value)
{
    uint32_t reads = k->uses + reads_of(d, k);

    value[MODEL_OPERANDS]++;
    value[MODEL_INPUTS] += k->life == LIFE_INPUT;
    value[MODEL_OUTPUTS] += k->result && reads == 0;
    if (!is_constant(k) && reads > value[MODEL_READS])
        value[MODEL_READS] = reads;
    if (dtype_info[k->t.dtype].tensor && k->t.dtype != DT_I32 && k->life != LIFE_NO_VALUE)
        *types |= 1u << k->t.dtype;
}

/* The draft's operands that are not in the graph yet. */
static void measure_new(const struct draft *d, uint32_t *types, uint32_t *value)
{
    for (uint32_t i = 0; i < d->n_in; i++)
        if (!d->in[i])
            value[MODEL_OPERANDS]++;
        else if (d->in[i]->at == NO_INDEX)
            measure_value(d, d->in[i], types, value);
    for (uint32_t i = 0; i < d->n_out; i++)
        measure_value(d, d->out[i], types, value);
}

static void measure_operation(const struct builder *b, uint32_t at, uint32_t *value)
{
    const struct operation *o = &b->operation[at];
    bool computed = false;
    uint32_t same = 0;

    for (uint32_t i = 0; i < o->n_in; i++)
        computed |= b->known[o->in[i]]->result;
    value[MODEL_PARTS] += !computed;
    for (uint32_t i = 0; i <= at; i++)
        same += b->operation[i].code == o->code;
    value[MODEL_SAME] = same > value[MODEL_SAME] ? same : value[MODEL_SAME];
}

static void measure_draft(const struct builder *b, const struct draft *d, uint32_t *value)
{
    bool computed = false;
    uint32_t same = 1;

    for (uint32_t i = 0; i < d->n_in; i++)
        computed |= d->in[i] && d->in[i]->result;
    value[MODEL_PARTS] += !computed;
    for (uint32_t i = 0; i < b->n_operations; i++)
        same += b->operation[i].code == d->op->code;
    value[MODEL_SAME] = same > value[MODEL_SAME] ? same : value[MODEL_SAME];
}

void model_measure(const struct builder *b, const struct draft *d,
                   uint32_t value[RANDGRAPH_MODEL_MEASURES])
{
    uint32_t types = 0;

    memset(value, 0, RANDGRAPH_MODEL_MEASURES * sizeof *value);
    for (uint32_t i = 0; i < b->n_graph_values; i++)
        measure_value(d, b->known[i], &types, value);
    for (uint32_t i = 0; i < b->n_operations; i++)
        measure_operation(b, i, value);
    if (d) {
        measure_new(d, &types, value);
        measure_draft(b, d, value);
    }
    value[MODEL_TYPES] = (uint32_t) __builtin_popcount(types);
    value[MODEL_OPERATIONS] = b->n_operations + (d != NULL);
}

/* Others hold for the number of operations, and for what is chosen when the graph is complete. */
bool model_is_shaped(const struct randgraph_model_limits *l)
{
    for (int m = MODEL_OPERATIONS + 1; l && m < MODEL_POOLS; m++)
        if (l->above[m])
            return true;
    return false;
}

uint32_t model_room(const struct builder *b, const struct draft *d, enum randgraph_model_measure m)
{
    const struct randgraph_model_limits *l = b->models;
    uint32_t value[RANDGRAPH_MODEL_MEASURES];

    if (!l || !l->above[m])
        return UINT32_MAX;
    model_measure(b, d, value);
    return value[m] < l->above[m] ? l->above[m] - 1 - value[m] : 0;
}

bool model_allows(const struct draft *d)
{
    const struct builder *b = d->b;
    uint32_t before[RANDGRAPH_MODEL_MEASURES], after[RANDGRAPH_MODEL_MEASURES];

    if (b->depth > 0 || !model_is_shaped(b->models))
        return true;
    model_measure(b, NULL, before);
    model_measure(b, d, after);
    for (int m = 0; m < MODEL_POOLS; m++) {
        uint32_t above = b->models->above[m];
        if (above && after[m] >= above && after[m] > before[m])
            return false;
    }
    return true;
}

/* ---- learning */

static bool is_within(const struct randgraph_model_limits *l, const uint32_t *value)
{
    for (int m = 0; m < RANDGRAPH_MODEL_MEASURES; m++)
        if (l->above[m] && value[m] >= l->above[m])
            return false;
    return true;
}

bool randgraph_model_is_within(const struct randgraph_model_limits *l,
                               const struct randgraph_model_sample *s)
{
    return is_within(l, s->value);
}

/* Limits the measures that can be why the sample is refused, if there are at most so many; their
 * number. */
static int limit_reasons(const struct randgraph_model_sample *s, const uint32_t *seen,
                         const uint32_t *refused, int most, struct randgraph_model_limits *l)
{
    int n = 0;

    for (int m = 0; m < RANDGRAPH_MODEL_MEASURES; m++)
        n += s->value[m] > seen[m] && refused[m] >= BELIEVED;
    for (int m = 0; m < RANDGRAPH_MODEL_MEASURES && n <= most; m++)
        if (s->value[m] > seen[m] && refused[m] >= BELIEVED)
            l->above[m] = seen[m] + 1;
    return n;
}

void randgraph_learn_models(const struct randgraph_model_sample *sample, uint32_t n,
                            struct randgraph_model_limits *ret_limits)
{
    uint32_t seen[RANDGRAPH_MODEL_MEASURES] = { 0 }, refused[RANDGRAPH_MODEL_MEASURES] = { 0 };
    bool any = false;
    int next;

    memset(ret_limits, 0, sizeof *ret_limits);
    for (uint32_t i = 0; i < n; i++)
        for (int m = 0; sample[i].supported && m < RANDGRAPH_MODEL_MEASURES; m++) {
            any = true;
            seen[m] = sample[i].value[m] > seen[m] ? sample[i].value[m] : seen[m];
        }
    for (uint32_t i = 0; i < n; i++)
        for (int m = 0; !sample[i].supported && m < RANDGRAPH_MODEL_MEASURES; m++)
            refused[m] += sample[i].value[m] > seen[m];
    for (int most = 1; any && most <= RANDGRAPH_MODEL_MEASURES; most = next) {
        next = RANDGRAPH_MODEL_MEASURES + 1;
        for (uint32_t i = 0; i < n; i++) {
            if (sample[i].supported || !is_within(ret_limits, sample[i].value))
                continue;
            int reasons = limit_reasons(&sample[i], seen, refused, most, ret_limits);
            next = reasons > most && reasons < next ? reasons : next;
        }
    }
}

uint32_t randgraph_count_model_limits(const struct randgraph_model_limits *l)
{
    uint32_t n = 0;

    for (int m = 0; m < RANDGRAPH_MODEL_MEASURES; m++)
        n += l->above[m] != 0;
    return n;
}

bool randgraph_guide_models(uint32_t index, const struct randgraph_model_limits *learned,
                            struct randgraph_model_limits *ret_within)
{
    static const uint32_t step[] = { 1, 2, 4 };
    const uint32_t n = randgraph_count_model_limits(learned), turn = index / 3;
    uint32_t k = 0;

    *ret_within = *learned;
    for (int m = 0; m < RANDGRAPH_MODEL_MEASURES && index % 3; m++) {
        if (!learned->above[m])
            continue;
        const bool chosen = k++ == turn % n;
        if (chosen == (index % 3 == 1))
            ret_within->above[m] += step[turn / n % COUNT(step)];
    }
    return n > 0;
}
