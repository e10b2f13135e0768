#include "golden/ops/shared/recurrent/bidirectional.h"

#include <string.h>

bool bidirectional_parallel(const struct call *c, const struct bidirectional *b)
{
    return c->in[b->aux] && !c->in[b->forward_aux];
}

struct cell_sequence bidirectional_rows(const struct call *c, const struct bidirectional *b)
{
    return cell_sequence_of(c->in[b->input], call_int(c, b->time_major) != 0);
}

/* Size of a state, from its pattern "B?". */
static uint32_t size_of(const struct call *c, int state)
{
    return c->in[state]->shape.dim[1];
}

static int check_linking(const struct call *c, const struct bidirectional *b, struct why *w)
{
    const struct tensor *input = c->in[b->input], *aux = c->in[b->aux];
    const char *name = c->op->name;
    bool forward = c->in[b->forward_aux], backward = c->in[b->backward_aux];
    uint32_t width = c->letter['I'];

    REQUIRE(w, forward == backward, "%s: %s is given, %s is not", name,
            c->op->in[forward ? b->forward_aux : b->backward_aux].name,
            c->op->in[forward ? b->backward_aux : b->forward_aux].name);
    REQUIRE(w, aux || !forward, "%s: %s is given, aux_input is not", name,
            c->op->in[b->forward_aux].name);
    for (int i = 0; i < 2 && aux; i++)
        REQUIRE(w, aux->shape.dim[i] == input->shape.dim[i],
                "%s: dimension %d of aux_input is %u, that of the input %u", name, i,
                aux->shape.dim[i], input->shape.dim[i]);
    if (bidirectional_parallel(c, b))
        width = c->letter['A'];
    REQUIRE(w, c->letter['J'] == width,
            "%s: the backward cell has weights for an input of size %u, its input has size %u",
            name, c->letter['J'], width);
    return 0;
}

/* Whether the outputs are merged, from their number; checks it against merge_outputs if known. */
static int find_merged(const struct call *c, const struct bidirectional *b, bool *ret_merged,
                       struct why *w)
{
    uint32_t states = 2 * b->n_states;
    bool merged = c->n_out == 1 || c->n_out == 1 + states;
    bool separate = c->n_out == 2 || c->n_out == 2 + states;

    REQUIRE(w, merged || separate, "%s: %u outputs, must be 1, 2, %u or %u", c->op->name, c->n_out,
            1 + states, 2 + states);
    if (call_known(c, b->merge))
        REQUIRE(w, merged == (call_int(c, b->merge) != 0), "%s: %u outputs with merge_outputs %s",
                c->op->name, c->n_out, merged ? "false" : "true");
    *ret_merged = merged;
    return 0;
}

int bidirectional_infer(struct call *c, const struct bidirectional *b, struct why *w)
{
    uint32_t n = 0, first = size_of(c, b->state[0][0]), second = size_of(c, b->state[1][0]);
    bool merged = false;

    TRY(check_linking(c, b, w));
    TRY(find_merged(c, b, &merged, w));
    REQUIRE(w, first <= UINT32_MAX - second, "%s: a merged output of %u + %u values is too large",
            c->op->name, first, second);
    TRY(cell_infer_sequence(c, b->input, b->time_major, merged ? first + second : first,
                            &c->out[n++]->shape, w));
    if (!merged)
        TRY(cell_infer_sequence(c, b->input, b->time_major, second, &c->out[n++]->shape, w));
    for (uint32_t i = 0; n < c->n_out && i < 2 * b->n_states; i++)
        c->out[n++]->shape = c->in[b->state[i / b->n_states][i % b->n_states]]->shape;
    return 0;
}

struct bidirectional_results bidirectional_results_of(const struct call *c,
                                                      const struct bidirectional *b, bool second,
                                                      double unit)
{
    uint32_t states = 2 * b->n_states;
    bool merged = c->n_out == 1 || c->n_out == 1 + states;
    size_t width = size_of(c, b->state[0][0]), both = width + size_of(c, b->state[1][0]);
    struct ball_array output = cell_result(c, second && !merged ? 1 : 0, unit);
    struct bidirectional_results r = {
        .output = ball_from(&output, second && merged ? width : 0),
        .stride = merged   ? both
                  : second ? both - width
                           : width,
    };
    int at = (int) (c->n_out - states + (second ? b->n_states : 0));

    for (uint32_t i = 0; c->n_out > 2 && i < b->n_states; i++)
        r.state[i] = cell_result(c, at + (int) i, unit);
    return r;
}

/* --- drawing */

void bidirectional_draw_width(const struct call *c, struct drawer *d, struct tensor *weights)
{
    if (!c->bound['J'] && d->below(d, 4))
        weights->shape.dim[1] = c->letter['I'];
}

bool bidirectional_draw_aux(const struct call *c, const struct bidirectional *b, struct drawer *d,
                            struct tensor *to)
{
    const uint32_t *dim = c->in[b->input]->shape.dim;
    bool other = c->letter['J'] == c->letter['I'] && d->below(d, 3) == 0;

    to->shape = (struct shape){ 3, { dim[0], dim[1], other ? d->size(d, 6) : c->letter['J'] } };
    return true;
}

/* If the input does not fit the backward cell, the auxiliary input is needed. */
bool bidirectional_omits_aux(const struct call *c, struct drawer *d)
{
    return c->letter['J'] == c->letter['I'] && d->below(d, 3) == 0;
}

bool bidirectional_omits_weights(const struct call *c, const struct bidirectional *b,
                                 struct drawer *d)
{
    if (!c->in[b->aux] || c->letter['J'] != c->letter['I'])
        return true;
    return c->letter['A'] == c->letter['J'] && d->below(d, 2);
}

uint32_t bidirectional_draw_results(const struct call *c, const struct bidirectional *b,
                                    struct drawer *d)
{
    uint32_t outputs = call_int(c, b->merge) != 0 ? 1 : 2;

    return d->below(d, 2) ? outputs + 2 * b->n_states : outputs;
}
