/* One example: checks the options, draws the element types, builds the graph, names it. */
#include <inttypes.h>

#include "randgraph/coverage_internal.h"
#include "randgraph/randgraph_internal.h"

enum { usual_elements = 4096, short_length = 5 };
static const double limit_float = 1e6;

const struct randgraph_options randgraph_default = {
    .min_ops = 1,
    .max_ops = 20,
    .max_dim = 64,
    .max_elements = 1 << 15,
    .max_level = 8,
    .relaxed = 0.1,
    .constant = 0.5,
    .control_flow = 0.1,
    .ways = 0.2,
};

/* Until an operation within the support set can be drawn: of types, of the first operation. */
enum { TRIES_TYPES = 16, TRIES_FIRST = 64 };

#define TYPE(id) (1u << DT_##id)

static bool can_begin(const struct builder *b, const struct op_list *list, const struct op *only)
{
    for (uint32_t i = 0; i < list->n; i++)
        for (uint32_t k = 0; k < list->op[i].n && (!only || list->op[i].op == only); k++)
            if (list->op[i].row[k].level <= b->options->max_level)
                return true;
    return false;
}

/* The types with which a graph can begin under these options.  only: its first operation; NULL:
 * any.
 */
static uint32_t types_to_begin(const struct builder *b, const struct op *only)
{
    uint32_t usable = 0;

    for (int type = 0; type < DT_COUNT; type++)
        if (dtype_info[type].since <= b->options->max_level &&
            can_begin(b, &b->rows->first[type], only))
            usable |= 1u << type;
    return b->options->dtypes ? usable & b->options->dtypes : usable;
}

/* The element types of a graph: those of a theme, drawn by weight, of which a graph can begin under
 * these options, with b->first if there is one. */
static uint32_t draw_types(struct builder *b)
{
    const struct randgraph_weights *w = b->weights;
    const struct {
        uint32_t types, weight;
    } theme[] = {
        { TYPE(F32), w->theme_float },
        { TYPE(F16), w->theme_half },
        { TYPE(U8), w->theme_unsigned },
        { TYPE(S8), w->theme_signed },
        { TYPE(I32), w->theme_integer },
        { TYPE(B8) | TYPE(F32) | TYPE(I32), w->theme_logic },
        { TYPE(F32) | TYPE(F16), w->theme_floats },
        { TYPE(F32) | TYPE(U8) | TYPE(S8), w->theme_quantised },
        { UINT32_MAX, w->theme_all },
    };
    uint32_t usable = types_to_begin(b, b->only), sum = 0;
    uint32_t begin = !b->first      ? usable
                     : b->first_row ? 1u << b->first_type
                                    : types_to_begin(b, b->first);

    if (begin == 0) /* not under these options */
        begin = usable;
    b->begin_types = 0;
    if (begin && b->first && !b->first_row && rng_percent(b->rng, w->even_types))
        begin = b->begin_types = 1u << grow_type(b, begin);
    for (int i = 0; i < COUNT(theme); i++)
        sum += theme[i].types & begin ? theme[i].weight : 0;
    if (sum == 0)
        return usable;
    uint32_t k = rng_below(b->rng, sum);
    for (int i = 0; i < COUNT(theme); i++) {
        uint32_t weight = theme[i].types & begin ? theme[i].weight : 0;
        if (k < weight)
            return theme[i].types & usable;
        k -= weight;
    }
    return usable;
}

static int check(const struct randgraph_options *o, struct why *w)
{
    REQUIRE(w, o->min_ops >= 1 && o->min_ops <= o->max_ops && o->max_ops <= MAX_OPS,
            "%u to %u operations: must be an increasing range within 1 to %d", o->min_ops,
            o->max_ops, MAX_OPS);
    REQUIRE(w, o->max_dim >= 1 && o->max_dim <= MAX_SIDE, "largest dimension %u: must be 1 to %d",
            o->max_dim, MAX_SIDE);
    REQUIRE(w, o->max_elements >= 1, "largest number of elements 0: must be at least 1");
    REQUIRE(w, o->max_level >= 1 && o->max_level <= MAX_LEVEL, "feature level %d: must be 1 to %d",
            o->max_level, MAX_LEVEL);
    if (o->support_digest && !o->support)
        return why_fail(w, WHY_INVALID,
                        "the support set %016" PRIx64 " that the graph was drawn for is missing",
                        o->support_digest);
    if (o->from_digest && !o->from)
        return why_fail(w, WHY_INVALID,
                        "the example %016" PRIx64 " that the graph is a mutation of is missing",
                        o->from_digest);
    if (o->steering_digest && !o->steering)
        return why_fail(w, WHY_INVALID,
                        "the steering set %016" PRIx64 " that the graph was drawn by is missing",
                        o->steering_digest);
    return 0;
}

static uint32_t most_weight(const struct randgraph_weights *w)
{
    uint32_t most = 1;

    for (int i = 0; i < op_table_n; i++) {
        uint32_t weight = randgraph_weight_of(w, op_table[i]);
        most = weight > most ? weight : most;
    }
    return most;
}

/* The profile of values of the graph. */
static void draw_profile(struct builder *b)
{
    const struct randgraph_weights *w = b->weights;

    b->values = b->options->values;
    if (b->values == VALUES_MIX && rng_percent(b->rng, w->one_profile))
        b->values = profile_any(b);
    /* conditions and the states of loops must be finite */
    b->nonfinite =
        b->values == VALUES_EDGE && !b->only_control && rng_percent(b->rng, w->nonfinite);
}

/* least..most, rather long than short: the largest of several. */
static uint32_t draw_longest(struct builder *b, uint32_t least, uint32_t most, int draws)
{
    uint32_t longest = least;

    while (draws-- > 0) {
        uint32_t n = least + rng_below(b->rng, most - least + 1);
        longest = n > longest ? n : longest;
    }
    return longest;
}

/* Short graphs reveal most errors in the time of one long graph. */
static uint32_t draw_length(struct builder *b)
{
    const struct randgraph_options *o = b->options;
    const uint32_t above = b->models ? b->models->above[MODEL_OPERATIONS] : 0;
    uint32_t most = above && above - 1 < o->max_ops ? above - 1 : o->max_ops;

    most = most < o->min_ops ? o->min_ops : most;
    bool any = most > short_length && o->min_ops < short_length;
    bool is_short = any && rng_percent(b->rng, b->weights->short_graph);
    most = is_short ? short_length : most;
    uint32_t n = draw_longest(b, o->min_ops, most, is_short ? 3 : any ? 2 : 1);
    return b->empty && n == 1 && most > 1 ? 2 : n; /* another operation reads the empty result */
}

/* The first operation, any that is supported, except those of weight 0. */
static const struct op *draw_first(struct builder *b)
{
    if (b->options->steering)
        return steer_first(b);
    const struct op *op = grow_any(b);

    for (int i = 0; b->support && !types_to_begin(b, op) && i < TRIES_FIRST; i++)
        op = grow_any(b);
    return randgraph_weight_of(b->weights, op) ? op : NULL;
}

static bool makes_empty(const struct op *op)
{
    return op->makes_empty;
}

static bool can_fail(const struct op *op)
{
    return op->fails_above || op->fails_below;
}

/* One of the operations that are `wanted` and can begin the graph; NULL: there is none. */
static const struct op *draw_among(struct builder *b, bool (*wanted)(const struct op *op))
{
    const struct op *op[RANDGRAPH_MAX_OP_WEIGHTS];
    uint32_t n = 0;

    for (int i = 0; i < op_table_n; i++)
        if (wanted(op_table[i]) && randgraph_weight_of(b->weights, op_table[i]) &&
            types_to_begin(b, op_table[i]))
            op[n++] = op_table[i];
    return n ? op[rng_below(b->rng, n)] : NULL;
}

/* Whether the graph is of a rare kind, which an operation that is `wanted` begins; sets b->first.
 */
static bool begins_with(struct builder *b, uint64_t salt, uint32_t percent,
                        bool (*wanted)(const struct op *op))
{
    if (!b->options->extremes || b->only_control || !rng_percent_aside(b->rng, salt, percent))
        return false;
    if (b->only)
        return wanted(b->only);
    b->first = draw_among(b, wanted);
    return b->first != NULL;
}

/* What the graph is to begin with, if anything. */
static void draw_beginning(struct builder *b)
{
    enum { EMPTY = 1, FAILING };
    const struct randgraph_weights *w = b->weights;

    b->empty = b->options->max_level >= L3 && begins_with(b, EMPTY, w->empty_graph, makes_empty);
    b->failing = !b->empty && begins_with(b, FAILING, w->failing_graph, can_fail);
    if (!b->empty && !b->failing && !b->only && !b->only_control &&
        rng_percent(b->rng, w->any_first))
        b->first = draw_first(b);
}

/* Which operation, if any, is drawn without regard to the support set: one that the set has, but
 * beyond its limits, or any. */
static void draw_edge(struct builder *b, uint32_t operations)
{
    if (!b->support || b->inside || !rng_percent(b->rng, RANDGRAPH_EDGE_PERCENT))
        return;
    b->edge = rng_below(b->rng, operations);
    b->beyond = rng_below(b->rng, 2) ? b->rows : b->all;
}

static int build(struct builder *b, struct example *ret_example, struct why *w)
{
    const struct randgraph_options *o = b->options;

    draw_beginning(b);
    b->types = draw_types(b);
    REQUIRE(w, b->types, "no operation takes the given operand types at feature level %d or below",
            o->max_level);
    b->model->relaxed =
        (b->types & TYPE(F32)) && o->max_level >= L2 && rng_unit(b->rng) < o->relaxed;
    if (b->support && !support_has_relaxed(b->support))
        b->model->relaxed = false;
    draw_profile(b);
    bool half = b->model->relaxed || (b->types & TYPE(F16));
    b->limit = half ? fp16_limit : limit_float;
    b->control = (rng_unit(b->rng) < o->control_flow || b->control) && o->max_level >= L4 &&
                 (b->branches || b->loops) && !b->nonfinite;
    b->control = b->control && !b->empty; /* which takes no operands of unknown size */
    if (b->support && !b->only_control)
        b->control = b->control && support_has_control(b->support) && !model_is_shaped(b->models);
    uint32_t operations = draw_length(b);
    draw_edge(b, operations);
    int rc = grow_graph(b, operations);
    for (int i = 0; rc < 0 && b->support && i < TRIES_TYPES; i++) {
        b->first = NULL;
        b->types = draw_types(b);
        rc = grow_graph(b, operations);
    }
    REQUIRE(w, rc == 0, "no operation could be drawn with these options");
    if (finish_example(b, ret_example) < 0)
        return why_no_memory(w);
    return 0;
}

static void draw_sizes(struct builder *b)
{
    const struct randgraph_options *o = b->options;
    bool large = rng_percent(b->rng, b->weights->large_graph);

    b->max_elements = o->max_elements < usual_elements || large ? o->max_elements : usual_elements;
}

int builder_begin(struct builder *b, const struct randgraph_options *o, struct rng *r,
                  struct arena *arena, struct why *w)
{
    *b = (struct builder){
        .options = o,
        .weights = o->weights ? o->weights : &randgraph_weights_default,
        .rows = rows_get(),
        .rng = r,
        .arena = arena,
        .scratch = arena_new(0),
        .model = arena_alloc(arena, 1, sizeof *b->model),
        .edge = NO_EDGE,
    };
    b->all = b->rows;
    b->branches = b->loops = true;
    b->most_weight = most_weight(b->weights);
    r->large = b->weights->large_sizes;
    r->most = o->max_dim;
    draw_sizes(b);
    if (b->model) {
        b->model->n_graphs = 1;
        b->model->graph = arena_alloc(arena, MIN_GRAPHS, sizeof *b->model->graph);
    }
    if (b->rows && b->model && b->model->graph && b->scratch)
        return 0;
    arena_free(b->scratch);
    return why_no_memory(w);
}

/* Whether a graph of these options can have the operation, on a driver that supports all. */
static bool can_have(const struct builder *b, const struct op *op)
{
    struct builder any = *b;

    any.rows = b->all;
    return op->control_kind != CONTROL_NONE ? (int) op->since <= b->options->max_level
                                            : types_to_begin(&any, op) != 0;
}

static int restrict_rows(struct builder *b, struct why *w)
{
    const struct randgraph_ops *set = &b->options->only;
    struct rows *of = arena_alloc(b->scratch, 2, sizeof *of);

    if (!of || rows_of_ops(b->rows, set, b->scratch, &of[0]) < 0 ||
        rows_of_ops(b->all, set, b->scratch, &of[1]) < 0)
        return why_no_memory(w);
    b->rows = &of[0];
    b->all = &of[1];
    return 0;
}

/* The operations that the graph consists of.  Each must be possible: none is left out silently. */
static int choose_ops(struct builder *b, struct why *w)
{
    const struct randgraph_ops *set = &b->options->only;
    const struct op *last = NULL;
    uint32_t n = 0;

    if (!randgraph_ops_count(set))
        return 0;
    b->branches = b->loops = false;
    for (int i = 0; i < op_table_n; i++) {
        const struct op *op = op_table[i];
        if (!randgraph_ops_has(set, op))
            continue;
        REQUIRE(w, can_have(b, op),
                "no operation named %s takes the given operand types at feature level %d or below",
                op->name, b->options->max_level);
        b->branches |= op->control_kind == CONTROL_BRANCH;
        b->loops |= op->control_kind == CONTROL_LOOP;
        if (op->control_kind == CONTROL_NONE) {
            last = op;
            n++;
        }
    }
    b->only_control = n == 0;
    b->control = n > 0; /* where the set has IF or WHILE */
    if (n == 1 && !b->branches && !b->loops)
        b->only = last;
    return n == 0 || b->only ? 0 : restrict_rows(b, w);
}

static void builder_support(struct builder *b, const struct randgraph_support *s)
{
    b->support = s;
    b->rows = support_rows(s);
    b->models = support_models(s);
}

int randgraph_probe_model(const struct randgraph_support *s, uint32_t index, struct arena *arena,
                          struct example *ret_example, uint32_t ret_value[RANDGRAPH_MODEL_MEASURES],
                          struct why *w)
{
    struct randgraph_weights weights = randgraph_weights_default;
    struct randgraph_options o = randgraph_default;
    struct builder b;
    struct rng r;

    weights.unknown_graph = 0;
    o.max_dim = 4;
    o.max_level = support_level(s);
    o.relaxed = o.control_flow = 0;
    o.weights = &weights;
    rng_seed(&r, 1, index);
    TRY(builder_begin(&b, &o, &r, arena, w));
    builder_support(&b, s);
    b.inside = true;
    int rc = build(&b, ret_example, w);
    if (rc == 0)
        model_measure(&b, NULL, ret_value);
    if (rc == 0) {
        ret_value[MODEL_READ_OUTPUTS] =
            ret_example->model.graph[0].n_outputs - ret_value[MODEL_OUTPUTS];
        ret_value[MODEL_OUTPUTS] = ret_example->model.graph[0].n_outputs;
        ret_value[MODEL_POOLS] = ret_example->model.n_pools;
    }
    arena_free(b.scratch);
    return rc;
}

int randgraph_from(const struct randgraph_options *options, struct rng *r, struct arena *arena,
                   struct example *ret_example, struct why *w)
{
    struct randgraph_options o = options ? *options : randgraph_default;
    struct builder b;

    TRY(check(&o, w));
    if (o.from)
        return mutate_example(&o, r, arena, ret_example, w);
    TRY(builder_begin(&b, &o, r, arena, w));
    if (o.support)
        builder_support(&b, o.support);
    int rc = choose_ops(&b, w);
    if (o.support && support_level(o.support) < o.max_level)
        o.max_level = support_level(o.support);
    if (rc == 0)
        rc = build(&b, ret_example, w);
    arena_free(b.scratch);
    return rc;
}

int randgraph_make(const struct randgraph_options *options, uint64_t seed, uint64_t index,
                   struct arena *arena, struct example *ret_example, struct why *w)
{
    struct rng r;
    struct example e;
    char name[RANDGRAPH_NAME];

    rng_seed(&r, seed, index);
    TRY(randgraph_from(options, &r, arena, &e, w));
    randgraph_name(options ? options : &randgraph_default, seed, index, name);
    e.name = arena_strdup(arena, name);
    if (!e.name)
        return why_no_memory(w);
    *ret_example = e;
    return 0;
}
