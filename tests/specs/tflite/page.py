"""Writes docs/tflite.md from the importer's tables: page.py [--check], which compares it instead."""

import sys

from importer import SOURCE, import_package

PAGE = SOURCE / "docs" / "tflite.md"
OPENING = """# TensorFlow Lite models

`tests/specs/tflite/page.py` writes this page from the importer's tables (`./dev docs`).

    halcyon run model.tflite -d sim:dsp
    halcyon dump model.tflite --format json

The importer (`specs/python/tflite.py`) makes of a `.tflite` file what TensorFlow Lite's own NNAPI delegate makes of
it, where that has a form. Operators that NNAPI lacks are composed of its operations where that is exact within the
bound ([judging.md](judging.md)).

- **Shapes** are those that TensorFlow Lite has when it runs: dimensions that the file does not know are 1, and the
  shapes that the file gives for computed tensors are not trusted. What a model computes from shapes and constants
  (`SHAPE`, `RANGE`, `PACK`, `STRIDED_SLICE`, ...; marked "constant" below) is computed during the import.
- **Ranks**: a tensor of more than 4 dimensions has an operand of 4, its leading dimensions multiplied; a scalar has
  the shape [1]. The elements and their order are the same.
- **Types**: FLOAT32, FLOAT16 weights, INT32, BOOL, UINT8, INT8, INT8 weights per channel, and the INT16 state of a
  quantised LSTM. INT64 becomes TENSOR_INT32; a constant that does not fit is rejected. 8-bit weights of operators
  with float inputs (dynamic range) are dequantised in the model. Sparse constants become dense. UINT8 and INT8
  without a scale have scale 1.
- **Scales**: an operator that only moves elements keeps their bytes; if the output has another scale, `CAST` gives
  the bytes that scale. Other results are converted by `DEQUANTIZE` and `QUANTIZE`.
- **INT32 and BOOL** elements are moved where NNAPI moves only floats and bytes: INT32 in two halves of 16 bits as
  floats, BOOL as the bytes 0 and 1. Both are exact.
- **States** (variable tensors of recurrent operators, and variables of `VAR_HANDLE`) are inputs of the model after
  its own, and outputs after its own.
- **Subgraphs** of `IF` and `WHILE` become models of the operations `IF` and `WHILE`. Loops that change shapes are
  rejected.

"""
REJECTED = """
## Rejected

A file that is damaged, or that needs what NNAPI cannot express, is rejected with exit code 2; the message gives the
file, the subgraph, the operator or tensor by number and name, and what would be supported.

- INT16 activations, FLOAT64, UINT16, UINT32, complex numbers but in `RFFT2D`, STRING, RESOURCE, VARIANT
- custom operators other than `TFLite_Detection_PostProcess`
- per-channel zero points; scales per channel of tensors that are not weights
- results whose shape depends on values, as that of `WHERE` with one input; axes, paddings and sizes that depend on the
  model's inputs; tensors without elements

| operator | reason |
|---|---|
"""


def page():
    tflite = import_package()
    from halcyon.tflite_fold import FOLDS
    text = OPENING + "| operator | in NNAPI | constant |\n|---|---|---|\n"
    for name, converter in sorted(tflite.CONVERTERS.items()):
        how = "the operation of the same name" if converter.how == f"`{name}`" else converter.how
        known = "yes" if name in FOLDS or name in ("SHAPE", "RANK", "ZEROS_LIKE") else ""
        text += f"| {name.removeprefix('custom operator ')} | {how.replace('|', chr(92) + '|')} | {known} |\n"
    text += REJECTED
    for name, reason in sorted(tflite.REFUSED.items()):
        text += f"| {name} | {reason} |\n"
    return text


def main(*options):
    if "--check" in options:
        same = PAGE.read_text() == page()
        print("docs/tflite.md is up to date" if same else "docs/tflite.md is not up to date: ./dev docs writes it")
        return not same
    PAGE.write_text(page())
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
