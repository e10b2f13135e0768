#include "golden/ops/shared/control.h"

#include "golden/base/arena.h"

struct value *control_arguments(struct call *c, struct exec_frame *f, uint32_t at, uint32_t room)
{
    struct value *v = arena_alloc(c->scratch, room, sizeof *v);

    for (uint32_t i = at; v && i < c->n_in && i - at < room; i++) {
        const struct value *from = frame_in(f, i);
        if (from)
            v[i - at] = *from;
    }
    return v;
}

int control_read_condition(struct exec_frame *f, const struct value *condition, bool *ret_truth,
                           struct why *w)
{
    if (!condition || !condition->tensor.data || tensor_count(&condition->tensor) != 1)
        return why_fail(w, WHY_EXECUTION, "the condition is not a tensor of one element");
    bool truth = *(const unsigned char *) condition->tensor.data != 0;
    if (condition->bound) {
        double real = condition->real ? condition->real[0] : truth;
        bool low = real - condition->bound[0] < 0.5, high = real + condition->bound[0] >= 0.5;
        if (!(truth ? !low : !high))
            frame_undecided(f);
    }
    *ret_truth = truth;
    return 0;
}
