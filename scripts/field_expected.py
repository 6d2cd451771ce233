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

TARGET = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "tools", "bench", "field", "expected.c")
NETWORKS = ("mobilenet_v2", "yolo_n", "rfb", "vit_ti")
# Type: the type whose values are expected, and whether they are equal to the bit. Of transformers only weights are 8-bit.
TYPES = {"float": ("float", False), "fp16": ("float", False), "int8": ("int8", True)}

HEAD = """/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Written by scripts/field_expected.py, of plain kernels on x86-64. */
#include "tools/bench/field/digest.h"

/* clang-format off */
static const SlFieldExpected rows[SL_FIELD_N_NETWORKS][SL_FIELD_N_TYPES] = {
"""
TAIL = """};
/* clang-format on */

const SlFieldExpected *
sl_field_expected (SlFieldNetwork network, SlFieldType type)
{
  return &rows[network][type];
}
"""


def row(network, kind, found):
    source, exact = TYPES[kind]
    exact = exact and network != "vit_ti"
    values = found[network, source]
    bound = "SL_FIELD_BOUND_%s" % ("FP16" if kind == "fp16" else "ROUNDED" if kind == "int8" else "FLOAT")
    sums = ["%.7gf" % value if "." in "%.7g" % value else "%.7g.0f" % value for value in values["sums"]]
    lines = ["      " + ", ".join(sums[i:i + 8]) for i in range(0, len(sums), 8)]
    return "    [SL_FIELD_%s] = { %s, %s, G_GUINT64_CONSTANT (0x%s), %.7gf, {\n%s } },\n" % (
        kind.upper(), "TRUE" if exact else "FALSE", "0" if exact else bound, values["hash"], values["size"], ",\n".join(lines))


def main(args):
    if len(args) != 1:
        sys.exit("usage: scripts/field_expected.py FILE, a file of SIGHTLINE_BACKEND=plain sightline bench field")
    with open(args[0], encoding="utf-8") as file:
        networks = json.load(file)["networks"]
    others = {network["backends"] for network in networks} - {"plain"}
    if others:
        sys.exit("%s: expected plain kernels alone, got %s too: set SIGHTLINE_BACKEND=plain" % (args[0], ", ".join(sorted(others))))
    found = {(network["network"], network["type"]): network for network in networks if network["threads"] == 1}
    text = HEAD
    for name in NETWORKS:
        text += "  [SL_FIELD_%s] = {\n%s  },\n" % (name.upper(), "".join(row(name, kind, found) for kind in TYPES))
    with open(TARGET, "w", encoding="utf-8") as file:
        file.write(text + TAIL)


if __name__ == "__main__":
    main(sys.argv[1:])
