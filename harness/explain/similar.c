#include "harness/explain/similar.h"

#include "randgraph/randgraph.h"

/* Cases that are run, times MORE if that does not suffice; of an operation with large operands;
 * mutations that are drawn for each of them. */
enum { MOST = 24, MORE = 3, LARGE = 1 << 18, MOST_LARGE = 4, DRAWN_FOR_EACH = 4, MAX_DIM = 10 };

int on_target_run(const struct on_target *on, const struct example *e, struct check *c,
                  struct check_result *ret, struct tensor **ret_out, struct why *w)
{
    *ret_out = NULL;
    TRY(check_begin(c, e, JUDGE_BOUND, w));
    c->is_varied = on->way;
    if (on->way)
        c->variation = *on->way;
    variation_check(c, on->t, ret, NULL, ret_out);
    if (ret->died)
        target_restart(on->t);
    return 0;
}

static uint32_t most_of(const struct subject *s)
{
    return subject_elements(s) > LARGE ? MOST_LARGE : MOST;
}

void similar_begin(struct similar *c, const struct subject *s, const struct on_target *on)
{
    *c = (struct similar){ .s = s, .on = *on, .most = most_of(s) };
}

bool similar_add_more(struct similar *c)
{
    const uint32_t most = most_of(c->s);

    if (c->died || c->most > most)
        return false;
    c->most = MORE * most;
    return true;
}

static void free_case(struct similar_case *k)
{
    if (k->is_run)
        check_done(&k->check);
    arena_free(k->arena);
    *k = (struct similar_case){ 0 };
}

/* Makes room for another case. */
static void keep_last(struct similar *c)
{
    if (c->last.is_wrong) {
        free_case(&c->last_wrong);
        c->last_wrong = c->last;
        c->last = (struct similar_case){ 0 };
    }
    free_case(&c->last);
}

void similar_end(struct similar *c)
{
    free_case(&c->last);
    free_case(&c->last_wrong);
}

/* Whether the mutation is of the subject's operation alone, with operands of the same types. */
static bool is_similar(const struct subject *s, const struct example *e)
{
    const struct graph *from = &s->example->model.graph[0], *to = &e->model.graph[0];
    const struct operation *a = s->operation, *b = &to->operation[0];

    if (e->model.n_graphs != 1 || to->n_operations != 1 || a->code != b->code ||
        a->n_out != b->n_out || e->model.relaxed != s->example->model.relaxed)
        return false;
    for (uint32_t i = 0; i < a->n_in && i < b->n_in; i++)
        if (from->operand[a->in[i]].tensor.dtype != to->operand[b->in[i]].tensor.dtype)
            return false;
    return from->operand[a->out[s->output]].tensor.dtype ==
           to->operand[b->out[s->output]].tensor.dtype;
}

static bool draw(struct similar *c)
{
    const bool from_last = c->drawn % 2 && c->last_wrong.arena;
    struct randgraph_options options = randgraph_default;
    struct why why;

    options.from = from_last ? c->last_wrong.example : c->s->example;
    options.max_dim = MAX_DIM;
    options.alike = true;
    return randgraph_make(&options, 1, c->drawn++, c->last.arena, c->last.example, &why) == 0 &&
           is_similar(c->s, c->last.example);
}

int similar_next(struct similar *c, struct subject *ret, struct why *w)
{
    while (c->run < c->most && c->drawn < DRAWN_FOR_EACH * c->most) {
        struct similar_case *k = &c->last;
        struct check_result r;
        struct tensor *out;
        struct why why;

        keep_last(c);
        k->arena = arena_new(0);
        k->example = k->arena ? arena_alloc(k->arena, 1, sizeof *k->example) : NULL;
        if (!k->example)
            return why_no_memory(w);
        if (!draw(c))
            continue;
        TRY(on_target_run(&c->on, k->example, &k->check, &r, &out, w));
        k->is_run = true;
        c->died = r.died;
        if (r.died)
            return 0;
        if ((r.verdict != VERDICT_PASS && r.verdict != VERDICT_FAIL) || !out ||
            !k->check.have_result ||
            subject_init(ret, k->example, &k->check.result, out, c->s->output, k->arena, &why) <
                0 ||
            ret->n_wrong + ret->n_right == 0)
            continue;
        c->run++;
        k->is_wrong = ret->n_wrong != 0;
        c->wrong += k->is_wrong;
        return 1;
    }
    return 0;
}
