#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Writes tools/bench/field/expected.c: what the made networks of `sightline bench field` give with plain kernels.

    SIGHTLINE_BACKEND=plain sightline bench field >plain.json   (it complains, as long as the file has other values)
    scripts/field_expected.py plain.json

Needed when a network of tools/bench/field/networks.c changes, and at no other time: a kernel that gives other values is wrong.
"""
import json
import os
import sys
import textwrap

TARGET = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools", "bench", "field", "expected.c")
NETWORKS = ("mobilenet_v2", "yolo_n", "rfb", "vit_ti")
# Types that are computed; fp16 is compared with floats. Of transformers only weights are 8-bit, so their values differ in the order of sums.
TYPES = ("float", "int8")
ROUNDED = "vit_ti"

HEAD = """/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Written by scripts/field_expected.py, of plain kernels on x86-64. */
#include "tools/bench/field/digest.h"

/* clang-format off */
"""
TABLE = """static const SlFieldExpected rows[SL_FIELD_N_NETWORKS][SL_FIELD_N_TYPES] = {
"""
TAIL = """};
/* clang-format on */

const SlFieldExpected *
sl_field_expected (SlFieldNetwork network, SlFieldType type)
{
  return &rows[network][type];
}
"""


def values_of(network, kind, found):
    values = found[network, kind]
    sums = ["%.7gf" % value if "." in "%.7g" % value else "%.7g.0f" % value for value in values["sums"]]
    return "static const SlFieldValues %s_%s = {\n  G_GUINT64_CONSTANT (0x%s), %.7gf, {\n%s } };\n" % (
        network, kind, values["hash"], values["size"], textwrap.fill(", ".join(sums), 95, initial_indent=" " * 4, subsequent_indent=" " * 4))


def row(network):
    int8 = "FALSE, SL_FIELD_BOUND_ROUNDED" if network == ROUNDED else "TRUE, 0"
    return """  [SL_FIELD_{1}] = {{
    [SL_FIELD_FLOAT] = {{ FALSE, SL_FIELD_BOUND_FLOAT, &{0}_float }},
    [SL_FIELD_FP16] = {{ FALSE, SL_FIELD_BOUND_FP16, &{0}_float }},
    [SL_FIELD_INT8] = {{ {2}, &{0}_int8 }} }},
""".format(network, network.upper(), int8)


def main(args):
    if len(args) != 1:
        sys.exit("usage: scripts/field_expected.py FILE, a file of SIGHTLINE_BACKEND=plain sightline bench field")
    with open(args[0], encoding="utf-8") as file:
        networks = json.load(file)["networks"]
    others = {network["backends"] for network in networks} - {"plain"}
    if others:
        sys.exit("%s: expected plain kernels alone, got %s too: set SIGHTLINE_BACKEND=plain" % (args[0], ", ".join(sorted(others))))
    found = {(network["network"], network["type"]): network for network in networks if network["threads"] == 1}
    text = HEAD + "".join(values_of(name, kind, found) for name in NETWORKS for kind in TYPES)
    text += "\n" + TABLE + "".join(row(name) for name in NETWORKS)
    with open(TARGET, "w", encoding="utf-8") as file:
        file.write(text + TAIL)


if __name__ == "__main__":
    main(sys.argv[1:])
