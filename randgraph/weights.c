/* The weights as text that can be dumped, edited and loaded: lines "name value", and "op NAME
 * value" for an operation whose weight differs from its kind's. */
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "golden/math/farmhash.h"
#include "randgraph/randgraph_internal.h"

enum { MAX_WEIGHT = 10000 };

static const struct {
    const char *name, *meaning;
    size_t offset;
    uint32_t value;
} table[] = {
#define WEIGHT(name, value, meaning)                                                               \
    { #name, meaning, offsetof(struct randgraph_weights, name), value },
#include "randgraph/weights.def"
#undef WEIGHT
};

const struct randgraph_weights randgraph_weights_default = {
#define WEIGHT(name, value, meaning) .name = value,
#include "randgraph/weights.def"
#undef WEIGHT
};

uint32_t randgraph_weight_of(const struct randgraph_weights *w, const struct op *op)
{
    for (uint32_t i = 0; i < w->n_ops; i++)
        if (w->op[i].op == op)
            return w->op[i].weight;
    if (op->measure || op->error.kind == ERROR_RANDOM)
        return w->share_open;
    if (op->move)
        return w->share_moved;
    switch (op->error.kind) {
    case ERROR_DOT: return w->share_dots;
    case ERROR_EXACT: return w->share_exact;
    case ERROR_DISCRETE: return w->share_discrete;
    default: return w->share_elements;
    }
}

uint64_t randgraph_weights_digest(const struct randgraph_weights *w)
{
    uint64_t digest = farmhash64(w, offsetof(struct randgraph_weights, n_ops));

    for (int i = 0; i < op_table_n; i++) {
        const uint64_t pair[2] = { digest, randgraph_weight_of(w, op_table[i]) };
        digest = farmhash64(pair, sizeof pair);
    }
    return digest;
}

static int set_op(struct randgraph_weights *w, const char *name, uint32_t value, struct why *why)
{
    const struct op *op = op_by_name(name);
    uint32_t i = 0;

    REQUIRE(why, op, "weight of an unknown operation: %s", name);
    while (i < w->n_ops && w->op[i].op != op)
        i++;
    REQUIRE(why, i < RANDGRAPH_MAX_OP_WEIGHTS, "weights of more than %d operations",
            RANDGRAPH_MAX_OP_WEIGHTS);
    w->op[i] = (struct randgraph_op_weight){ op, value };
    w->n_ops += i == w->n_ops;
    return 0;
}

static int set_line(struct randgraph_weights *w, const char *line, int number, struct why *why)
{
    char first[64] = "", second[64] = "", rest[2] = "";
    long value;

    if (line[strspn(line, " \t\r")] == '\0' || line[strspn(line, " \t")] == '#')
        return 0;
    if (sscanf(line, " op %63s %ld %1s", second, &value, rest) == 2) {
        REQUIRE(why, value >= 0 && value <= MAX_WEIGHT, "line %d: weight %ld is not in 0..%d",
                number, value, MAX_WEIGHT);
        return set_op(w, second, (uint32_t) value, why);
    }
    REQUIRE(why, sscanf(line, " %63s %ld %1[^#]", first, &value, rest) >= 2,
            "line %d: expected \"name value\", found: %.80s", number, line);
    int i = 0;
    while (i < COUNT(table) && strcmp(table[i].name, first))
        i++;
    REQUIRE(why, i < COUNT(table), "line %d: unknown weight %s", number, first);
    REQUIRE(why, value >= 0 && value <= MAX_WEIGHT, "line %d: weight %ld is not in 0..%d", number,
            value, MAX_WEIGHT);
    *(uint32_t *) (void *) ((char *) w + table[i].offset) = (uint32_t) value;
    return 0;
}

int randgraph_weights_parse(const char *text, struct randgraph_weights *ret_weights,
                            struct why *why)
{
    struct randgraph_weights w = randgraph_weights_default;
    char line[256];

    for (int number = 1; *text; number++) {
        size_t n = strcspn(text, "\n");
        REQUIRE(why, n < sizeof line, "line %d is longer than %zu bytes", number, sizeof line - 1);
        memcpy(line, text, n);
        line[n] = '\0';
        TRY(set_line(&w, line, number, why));
        text += n + (text[n] == '\n');
    }
    *ret_weights = w;
    return 0;
}

char *randgraph_weights_dump(const struct randgraph_weights *w, struct arena *a)
{
    enum { LINE = 160 };
    size_t size = (size_t) (COUNT(table) + RANDGRAPH_MAX_OP_WEIGHTS) * LINE, at = 0;
    char *text = arena_alloc(a, size, 1);

    for (int i = 0; text && i < COUNT(table); i++) {
        uint32_t value;
        memcpy(&value, (const char *) w + table[i].offset, sizeof value);
        at += (size_t) snprintf(text + at, size - at, "# %s\n%s %u\n", table[i].meaning,
                                table[i].name, value);
    }
    for (uint32_t i = 0; text && i < w->n_ops; i++)
        at += (size_t) snprintf(text + at, size - at, "op %s %u\n", w->op[i].op->name,
                                w->op[i].weight);
    return text;
}
