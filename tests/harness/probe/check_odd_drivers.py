#!/usr/bin/env python3
"""Random graphs for drivers with unusual limits: check_odd_drivers.py HALCYON.

The driver that `halcyon new-driver` writes (ADD, CONV_2D, SVDF) gets one limit after another in what it reports as
supported. Graphs are drawn within each limit: nearly all run, and they stay as deep as the limit allows."""
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile

COMPILE = ["cc", "-std=c11", "-D_DEFAULT_SOURCE", "-O1", "-Wall", "-Werror", "-fPIC", "-shared"]
GRAPHS, EDGE_PERCENT = 400, 5  # of the graphs, 5 % are to probe the edge of what is supported

RIGHT = "        supported[i] = p->step[i].kernel != NULL;\n"
FUNCTION = """
struct view {
    const struct hal_model *m;
    const struct hal_operation *op;
};
static const struct hal_operand *in(const struct view *v, uint32_t i)
{
    return &v->m->main.operands[v->op->inputs[i]];
}
static bool is_constant(const struct hal_operand *o)
{
    return o->lifetime == HAL_CONSTANT_COPY || o->lifetime == HAL_CONSTANT_REFERENCE;
}
static bool accepts(const struct hal_model *m, const struct hal_operation *op)
{
    const struct view all = { m, op }, *v = &all;
    (void) is_constant;
    (void) in;
    (void) v;
%s    return true;
}

"""

# The limit, what it rejects, and the least mean number of operations of the graphs that run.
LIMITS = [
    ("inputs of known dimensions", """
    for (uint32_t i = 0; i < op->n_inputs; i++)
        for (uint32_t d = 0; d < in(v, i)->n_dims; d++)
            if (!in(v, i)->dims[d])
                return false;
""", 4.5),
    ("at most 6 operations", "    if (m->main.n_operations > 6)\n        return false;\n", 2.5),
    ("the first operand is no constant", "    if (is_constant(in(v, 0)))\n        return false;\n", 4.5),
    ("no constants in pools", "    if (m->n_pools)\n        return false;\n", 4.5),
    ("outputs that no operation reads", """
    for (uint32_t k = 0; k < m->main.n_operations; k++)
        for (uint32_t i = 0; i < m->main.operations[k].n_inputs; i++)
            if (m->main.operands[m->main.operations[k].inputs[i]].lifetime == HAL_SUBGRAPH_OUTPUT)
                return false;
""", 4.5),
    ("one output", "    if (m->main.n_outputs > 1)\n        return false;\n", 4),
    ("two outputs", "    if (m->main.n_outputs > 2)\n        return false;\n", 4),
    ("one input and one output", "    if (m->main.n_inputs > 1 || m->main.n_outputs > 1)\n        return false;\n", 4),
    ("at most 20 operands", "    if (m->main.n_operands > 20)\n        return false;\n", 1.5),
    ("one operation of each kind", """
    uint32_t same = 0;
    for (uint32_t k = 0; k < m->main.n_operations; k++)
        same += m->main.operations[k].type == op->type;
    if (same > 1)
        return false;
""", 1.5),
    ("each operation but the first reads a result", """
    for (uint32_t k = 1; k < m->main.n_operations; k++) {
        const struct view other = { m, &m->main.operations[k] };
        bool any = false;
        for (uint32_t i = 0; i < other.op->n_inputs; i++)
            any |= in(&other, i)->lifetime == HAL_TEMPORARY_VARIABLE || in(&other, i)->lifetime == HAL_SUBGRAPH_OUTPUT;
        if (!any)
            return false;
    }
""", 4),
    ("one type of quantised or floating-point tensors", """
    int32_t type = 0;
    for (uint32_t k = 0; k < m->main.n_operands; k++) {
        const struct hal_operand *o = &m->main.operands[k];
        if (o->scale == 0 && o->type != HAL_TYPE_TENSOR_FLOAT32 && o->n_channel_scales == 0)
            continue;
        if (o->type == HAL_TYPE_TENSOR_INT32)
            continue;
        if (type && type != o->type)
            return false;
        type = o->type;
    }
""", 4.5),
    ("an even number of output channels", """
    if (op->type == HAL_OP_CONV_2D && in(v, 1)->dims[0] % 2)
        return false;
""", 4.5),
    ("sides of at most 8", """
    for (uint32_t i = 0; i < op->n_inputs; i++)
        for (uint32_t d = 0; d < in(v, i)->n_dims; d++)
            if (in(v, i)->dims[d] > 8)
                return false;
""", 4.5),
    ("no result has zero point 128", """
    if (m->main.operands[op->outputs[0]].scale != 0 && m->main.operands[op->outputs[0]].zero == 128)
        return false;
""", 4.5),
    ("all quantised results have zero point 128", """
    const struct hal_operand *out = &m->main.operands[op->outputs[0]];
    if (out->type == HAL_TYPE_TENSOR_QUANT8_ASYMM && out->zero != 128)
        return false;
""", 4.5),
    ("all quantised operands have zero point 128", """
    for (uint32_t k = 0; k < m->main.n_operands; k++)
        if (m->main.operands[k].type == HAL_TYPE_TENSOR_QUANT8_ASYMM && m->main.operands[k].zero != 128)
            return false;
""", 4.5),
    ("scales of quantised results from 1/256 to 1", """
    const struct hal_operand *out = &m->main.operands[op->outputs[0]];
    if (out->type == HAL_TYPE_TENSOR_QUANT8_ASYMM && (out->scale < 1.0f / 256 || out->scale > 1))
        return false;
""", 4.5),
    ("at most 64 elements are read", """
    for (uint32_t i = 0; i < op->n_inputs; i++) {
        uint32_t n = 1;
        for (uint32_t d = 0; d < in(v, i)->n_dims; d++)
            n *= in(v, i)->dims[d];
        if (n > 64)
            return false;
    }
""", 4.5),
]


def run(*command, status=(0,)):
    done = subprocess.run([str(c) for c in command], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          check=False, timeout=400)
    assert done.returncode in status, f"{command}: exit status {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def build(folder, limit, number):
    path = pathlib.Path(folder, "driver.c")
    text = path.read_text(encoding="utf-8")
    start = "static enum hal_status get_supported_operations("
    assert text.count(RIGHT) == 1 and text.count(start) == 1
    changed = text.replace(RIGHT, RIGHT.replace(";", " && accepts(model, &model->main.operations[i]);"))
    path.write_text(changed.replace(start, FUNCTION % limit + start), encoding="utf-8")
    library = pathlib.Path(folder, f"odd{number}.so").resolve()
    run(*COMPILE, *sorted(pathlib.Path(folder).glob("*.c")), "-o", library)
    path.write_text(text, encoding="utf-8")
    return library


def measure(halcyon, library):
    """The share of graphs that run, in percent, and their mean number of operations."""
    run(halcyon, "random", "-d", f"lib:{library}", "--count", GRAPHS, "--seed", "3", "-q", "--db", f"{library}.db")
    with sqlite3.connect(f"{library}.db") as db:
        return db.execute("""SELECT 100.0 * sum(verdict <> 'unsupported') / count(*),
                                    avg(n_operations) FILTER (WHERE verdict <> 'unsupported')
                             FROM verdicts JOIN cases USING (case_id)""").fetchone()


def main():
    halcyon = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        run(halcyon, "new-driver", "odd")
        for number, (name, limit, depth) in enumerate(LIMITS):
            share, mean = measure(halcyon, build("odd", limit, number))
            print(f"{name}: {share:.1f} % of the graphs run, with {mean:.2f} operations")
            assert share >= 100 - EDGE_PERCENT, name
            assert mean >= depth, name


if __name__ == "__main__":
    main()
