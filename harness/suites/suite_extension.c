/* Extensions: those that the driver reports, those that it does not know, their prefixes, and
 * several in one model. */
#include <string.h>

#include "golden/model/build.h"
#include "harness/conform/conform_models.h"

enum { UNKNOWN_A = 0x11, UNKNOWN_B = 0x7ffe, MAX_OWN = 16 };

#define UNKNOWN_NAME_A "org.example.conform.first"
#define UNKNOWN_NAME_B "org.example.conform.second"

/* ---- what the driver reports */

static uint32_t own_extensions(struct conform *c, const struct hal_extension **ret)
{
    uint32_t n = 0;

    *ret = NULL;
    if (c->driver->get_supported_extensions &&
        c->driver->get_supported_extensions(c->driver, &n, ret) != HAL_NONE)
        n = 0;
    if (!n)
        conform_not_applicable(c, "no extensions");
    return n;
}

static void expect_types(struct conform *c, const struct hal_extension *x)
{
    for (uint32_t i = 0; i < x->n_types; i++) {
        const struct hal_extension_type *t = &x->type[i];
        EXPECT(c, t->byte_size > 0 && t->byte_size <= 1 << 20, "%s, type %u: %u bytes", x->name,
               t->type, t->byte_size);
        for (uint32_t k = 0; k < i; k++)
            EXPECT(c, x->type[k].type != t->type, "%s: type %u is listed twice", x->name, t->type);
    }
}

static void types(struct conform *c, const void *data)
{
    const struct hal_extension *x;
    uint32_t n = own_extensions(c, &x);

    (void) data;
    for (uint32_t i = 0; i < n; i++) {
        expect_types(c, &x[i]);
        for (uint32_t k = 0; k < i; k++)
            EXPECT(c, strcmp(x[i].name, x[k].name) != 0, "%s is listed twice", x[i].name);
    }
}

/* ---- models with an operand and an operation of extensions, besides RELU */

struct extended {
    struct conform_model model;
    struct hal_operand *operand;     /* that of RELU first, room for two more */
    struct hal_operation *operation; /* room for one more */
};

static void extended_begin(struct conform *c, struct extended *x,
                           const struct hal_extension_prefix *prefix, uint32_t n_prefixes)
{
    conform_model_of(&x->model, conform_relu(c));
    struct hal_subgraph *g = &x->model.hal.main;
    struct arena *a = x->model.arena;
    uint32_t *inputs = arena_alloc(a, g->n_inputs + 2, sizeof *inputs);

    x->operand = arena_alloc(a, g->n_operands + 2, sizeof *x->operand);
    x->operation = arena_alloc(a, g->n_operations + 1, sizeof *x->operation);
    conform_must(x->operand && x->operation && inputs, "out of memory");
    memcpy(x->operand, g->operands, g->n_operands * sizeof *x->operand);
    memcpy(x->operation, g->operations, g->n_operations * sizeof *x->operation);
    memcpy(inputs, g->inputs, g->n_inputs * sizeof *inputs);
    g->operands = x->operand;
    g->operations = x->operation;
    g->inputs = inputs;
    x->model.hal.n_extension_prefixes = n_prefixes;
    x->model.hal.extension_name_to_prefix = prefix;
}

/* An additional input of an extension's type, which no operation reads. */
static uint32_t add_input(struct extended *x, uint16_t prefix, uint16_t type)
{
    static const uint32_t dims[] = { 2 };
    struct hal_subgraph *g = &x->model.hal.main;

    x->operand[g->n_operands] = (struct hal_operand){
        .type = prefix << 16 | type, .n_dims = 1, .dims = dims, .lifetime = HAL_SUBGRAPH_INPUT
    };
    ((uint32_t *) g->inputs)[g->n_inputs++] = g->n_operands;
    return g->n_operands++;
}

/* An operation of the extension that reads `in` and writes a temporary of its type. */
static void add_operation(struct extended *x, uint16_t prefix, uint16_t code, uint32_t in)
{
    struct hal_subgraph *g = &x->model.hal.main;
    uint32_t *list = arena_alloc(x->model.arena, 2, sizeof *list);

    conform_must(list, "out of memory");
    x->operand[in].n_consumers = 1;
    x->operand[g->n_operands] = x->operand[in];
    x->operand[g->n_operands].lifetime = HAL_TEMPORARY_VARIABLE;
    x->operand[g->n_operands].n_consumers = 0;
    list[0] = in;
    list[1] = g->n_operands++;
    x->operation[g->n_operations++] =
        (struct hal_operation){ prefix << 16 | code, 1, 1, &list[0], &list[1] };
}

/* Whether RELU, operation 0, is as it is alone, and all later operations are unsupported. */
static void expect_unknown(struct conform *c, struct extended *x, const char *what)
{
    struct conform_model alone;
    bool supported[2] = { true, true }, relu = false;
    uint32_t n = 0, n_alone = 0;

    conform_model_of(&alone, conform_relu(c));
    c->driver->get_supported_operations(c->driver, c->version, &alone.hal, &relu, &n_alone);
    conform_model_done(&alone);
    enum hal_status s =
        c->driver->get_supported_operations(c->driver, c->version, &x->model.hal, supported, &n);
    EXPECT(c, s == HAL_NONE && n == x->model.hal.main.n_operations,
           "%s: get_supported_operations: %s for %u operations", what, hal_status_name(s), n);
    EXPECT(c, s != HAL_NONE || supported[0] == relu, "%s: RELU is %ssupported, alone it is %s",
           what, supported[0] ? "" : "not ", relu ? "supported" : "not");
    EXPECT(c, s != HAL_NONE || n < 2 || !supported[1],
           "%s: an operation of an unknown extension is supported", what);
    struct hal_prepared_model *p = conform_prepare_supported(c, &x->model.hal);
    if (p)
        p->methods->release(p);
}

static void unknown(struct conform *c, const void *data)
{
    static const struct hal_extension_prefix prefix[] = { { UNKNOWN_NAME_A, UNKNOWN_A },
                                                          { UNKNOWN_NAME_B, UNKNOWN_B } };
    struct extended x;

    (void) data;
    extended_begin(c, &x, prefix, 1);
    expect_unknown(c, &x, "an unknown extension that nothing uses");
    conform_model_done(&x.model);
    extended_begin(c, &x, prefix, 1);
    add_input(&x, UNKNOWN_A, 3);
    expect_unknown(c, &x, "a type of an unknown extension");
    conform_model_done(&x.model);
    extended_begin(c, &x, prefix, 1);
    add_operation(&x, UNKNOWN_A, 0, add_input(&x, UNKNOWN_A, 0));
    expect_unknown(c, &x, "an operation of an unknown extension");
    conform_model_done(&x.model);
    extended_begin(c, &x, prefix, 1);
    uint32_t i = add_input(&x, UNKNOWN_A, 3);
    x.operand[i].extra = HAL_EXTRA_EXTENSION;
    x.operand[i].extension = "some data";
    x.operand[i].extension_length = sizeof "some data";
    expect_unknown(c, &x, "a type of an unknown extension, with data");
    conform_model_done(&x.model);
    extended_begin(c, &x, prefix, 2);
    add_operation(&x, UNKNOWN_B, 9, add_input(&x, UNKNOWN_A, 0));
    expect_unknown(c, &x, "an operation of one extension on a type of another");
    conform_model_done(&x.model);
}

/* ---- an operation of an unknown extension in a branch: IF is not supported */

static void branch_model(struct conform_model *m)
{
    static const uint8_t yes = 1;
    struct build b;

    build_init(&b, 3);
    uint32_t condition = build_constant(&b, DT_B8, DIMS(1), &yes);
    uint32_t one = build_subgraph(&b, 1), other = build_subgraph(&b, 2);
    uint32_t x = build_operand(&b, LIFE_INPUT, DT_F32, DIMS(2));
    uint32_t y = build_operand(&b, LIFE_OUTPUT, DT_F32, DIMS(2));
    OPERATION(&b, "IF", IDS(condition, one, other, x), IDS(y));
    for (uint32_t k = 1; k < 3; k++) {
        build_graph(&b, k);
        uint32_t u = build_operand(&b, LIFE_INPUT, DT_F32, DIMS(2));
        uint32_t v = build_operand(&b, LIFE_OUTPUT, DT_F32, DIMS(2));
        OPERATION(&b, "RELU", IDS(u), IDS(v));
    }
    model_count_consumers(&b.model);
    struct tensor *in = arena_copy(b.arena, &b.model.graph[0].operand[x].tensor, sizeof *in);
    struct example e = { .name = "IF", .model = b.model, .in = in, .expected = in };
    conform_model_init(m, &e, b.arena);
}

static void in_branch(struct conform *c, const void *data)
{
    static const struct hal_extension_prefix prefix = { UNKNOWN_NAME_A, UNKNOWN_A };
    struct conform_model m;

    (void) data;
    branch_model(&m);
    const uint32_t n = m.hal.n_referenced;
    struct hal_subgraph *g = arena_copy(m.arena, m.hal.referenced, n * sizeof *g);
    m.hal.n_extension_prefixes = 1;
    m.hal.extension_name_to_prefix = &prefix;
    for (uint32_t k = 0; k < n; k++) {
        struct hal_operation *o = arena_copy(m.arena, g[k].operations, sizeof *o);
        bool supported = true;
        uint32_t n_answers = 0;
        m.hal.referenced = g;
        o->type = UNKNOWN_A << 16;
        const struct hal_operation *relu = g[k].operations;
        g[k].operations = o;
        enum hal_status s = c->driver->get_supported_operations(c->driver, c->version, &m.hal,
                                                                &supported, &n_answers);
        EXPECT(c, s == HAL_NONE && n_answers == 1 && !supported,
               "IF with an operation of an unknown extension in branch %u: "
               "get_supported_operations: %s, IF is %ssupported",
               k, hal_status_name(s), supported ? "" : "not ");
        struct hal_prepared_model *p = conform_prepare_supported(c, &m.hal);
        EXPECT(c, !p, "IF with an operation of an unknown extension in branch %u prepares", k);
        if (p)
            p->methods->release(p);
        g[k].operations = relu;
    }
    conform_model_done(&m);
}

/* ---- prefixes */

static const struct prefix_row {
    const char *what;
    uint32_t n;
    struct hal_extension_prefix prefix[2];
    uint16_t used; /* by an operand; 0: none */
    bool legal, legal_before_fl5;
} prefix_rows[] = {
    { "two prefixes", 2, { { "a.first", 1 }, { "a.second", 2 } }, 2, true, true },
    { "the highest prefix", 1, { { "a.first", 0x7fff } }, 0x7fff, true, true },
    { "a prefix of 16 bits", 1, { { "a.first", 0x8000 } }, 0, false, true },
    { "prefix 0", 1, { { "a.first", 0 } }, 0, false, false },
    { "a prefix twice", 2, { { "a.first", 1 }, { "a.second", 1 } }, 0, false, false },
    { "a name twice", 2, { { "a.first", 1 }, { "a.first", 2 } }, 0, false, false },
    { "a prefix that the model does not name", 1, { { "a.first", 1 } }, 2, false, false },
    { "a type's prefix without any extension", 0, { { NULL, 0 } }, 1, false, false },
};

static void prefixes(struct conform *c, const void *data)
{
    (void) data;
    for (int i = 0; i < COUNT(prefix_rows); i++) {
        const struct prefix_row *r = &prefix_rows[i];
        bool legal = c->version < HAL_FL5 ? r->legal_before_fl5 : r->legal, supported[2];
        struct extended x;
        uint32_t n = 0;
        extended_begin(c, &x, r->prefix, r->n);
        if (r->used)
            add_input(&x, r->used, 0);
        enum hal_status s =
            c->driver->get_supported_operations(c->driver, c->version, &x.model.hal, supported, &n);
        EXPECT(c, s == (legal ? HAL_NONE : HAL_INVALID_ARGUMENT),
               "%s: get_supported_operations: %s", r->what, hal_status_name(s));
        struct conform_prepared p =
            conform_prepare(c, c->version, &x.model.hal, &client_default_preparation);
        EXPECT(c, legal || p.launched == HAL_INVALID_ARGUMENT, "%s: prepare_model: %s", r->what,
               hal_status_name(p.launched));
        if (p.model)
            p.model->methods->release(p.model);
        conform_model_done(&x.model);
    }
}

/* ---- an extension of the driver, beside others, under any prefix */

static void own(struct conform *c, const void *data)
{
    static const uint16_t prefix_of[] = { 1, 77, 0x7fff };
    const struct hal_extension *x;
    uint32_t n = own_extensions(c, &x);

    (void) data;
    for (uint32_t i = 0; i < n && i < MAX_OWN; i++)
        for (int k = 0; k < COUNT(prefix_of); k++) {
            const struct hal_extension_prefix prefix[] = { { x[i].name, prefix_of[k] },
                                                           { UNKNOWN_NAME_A, UNKNOWN_A } };
            struct extended m;
            extended_begin(c, &m, prefix, 2);
            expect_unknown(c, &m, x[i].name);
            add_operation(&m, UNKNOWN_A, 0, add_input(&m, UNKNOWN_A, 0));
            expect_unknown(c, &m, x[i].name);
            conform_model_done(&m.model);
        }
}

static const struct conform_rule rules_of_file[] = {
    { "extension", "types", HAL_1_2, 0,
      "the driver's extensions and their types are listed once, with their sizes", types },
    { "extension", "unknown", HAL_1_2, 0,
      "an unknown extension is valid: its operations are unsupported, the others as without it",
      unknown },
    { "extension", "in-branch", HAL_1_3, 0,
      "an unknown extension's operation in a branch of IF: IF is not supported", in_branch },
    { "extension", "prefixes", HAL_1_2, 0,
      "prefixes are not 0, unique, and those that the model's types use", prefixes },
    { "extension", "own", HAL_1_2, 0,
      "an extension of the driver, under any prefix, beside an unknown one", own },
};
const struct conform_rules conform_rules_extension = { rules_of_file, COUNT(rules_of_file), NULL,
                                                       NULL };
