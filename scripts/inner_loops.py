#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Counts the instructions of inner loops in a build for arm64, as objdump shows them: how good they are can be seen without the processor.

  scripts/inner_loops.py BUILD [--objdump PROGRAM] [--all] [--cycles CPU [--mca PROGRAM]]

A line for each innermost loop of the layers' kernels that multiplies: its products (sdot, smmla, fmla, smull, smlal, sadalp), the other
vector instructions that compute, loads of vectors, and registers that the loop keeps in memory (spills). Without --all, of each function
the loop with the most products and then the most others. The exit status is 1 when a loop spills.

--cycles CPU, such as cortex-a55, adds the cycles of a round as llvm-mca has them, and the products a cycle. These are modelled: caches,
branches and the loads of real data are not in the model. LLVM 16 has one model, of Cortex-A57, for A57, A72 and A76; it does not know the pipes of
the last one, so only cortex-a55 and, for loops without sdot and binary16, cortex-a72 say something. LLVM 19 has a model of neoverse-n1, the
server's variant of Cortex-A76: --mca llvm-mca-19."""

import argparse
import pathlib
import re
import subprocess
import sys

PRODUCTS = re.compile(r"[su]dot|usdot|u?s?mmla|usmmla|fmla|[su]mull2?|[su]mlal2?|sadalp$")
REGISTER = re.compile(r"\bv\d+\.")
VECTOR_MEMORY = re.compile(r"\bv\d+\.|\b[qds]\d+\b")
BRANCH = re.compile(r"(b\.\w+|cbn?z|tbn?z|b)$")


def functions(objdump, library):
    """(name, [(address, mnemonic, operands)]) of each function."""
    text = subprocess.run([objdump, "-d", "--no-show-raw-insn", library], capture_output=True, text=True, check=True).stdout
    name, body = None, []
    for line in text.splitlines():
        if start := re.match(r"[0-9a-f]+ <(.+)>:", line):
            if name:
                yield name, body
            name, body = start[1], []
        elif instruction := re.match(r"\s*([0-9a-f]+):\s+(\S+)\s*(.*)$", line):
            body.append((int(instruction[1], 16), instruction[2], instruction[3]))
    if name:
        yield name, body


def inner_loops(body):
    """What lies between a branch backwards and its target, where no other such pair lies inside."""
    back = []
    for address, mnemonic, operands in body:
        target = re.search(r"([0-9a-f]+) <", operands)
        if BRANCH.match(mnemonic) and target and int(target[1], 16) <= address:
            back.append((int(target[1], 16), address))
    for first, last in back:
        if not any((a, b) != (first, last) and first <= a and b <= last for a, b in back):
            yield [i for i in body if first <= i[0] <= last]


def count(loop):
    memory = [i for i in loop if i[1].startswith(("ld", "st"))]
    return {
        "instructions": len(loop),
        "products": sum(bool(PRODUCTS.match(i[1])) for i in loop),
        "others": sum(bool(REGISTER.search(i[2])) and not PRODUCTS.match(i[1]) for i in loop if i not in memory),
        "loads": sum(i[1].startswith("ld") and bool(VECTOR_MEMORY.search(i[2])) for i in memory),
        "spills": sum("[sp" in i[2] and bool(VECTOR_MEMORY.search(i[2])) for i in memory),
    }


def model_cycles(mca, cpu, loop):
    """Cycles of a round, over many; None where llvm-mca knows an instruction of it not."""
    text = "\n".join("%s %s" % (mnemonic, operands.split("//")[0]) for _, mnemonic, operands in loop if not BRANCH.match(mnemonic))
    command = [mca, "-mtriple=aarch64", "-mcpu=" + cpu, "-mattr=+dotprod,+i8mm,+fullfp16", "-iterations=200", "-instruction-info=false", "-resource-pressure=false"]
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    total = re.search(r"Total Cycles: +(\d+)", done.stdout)
    return int(total[1]) / 200 if done.returncode == 0 and total else None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--objdump", default="aarch64-linux-gnu-objdump")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--cycles", metavar="CPU")
    parser.add_argument("--mca", default="llvm-mca-16")
    options = parser.parse_args()
    libraries = sorted(options.build.glob("core/backends/*/lib*_*_*.a"))
    if not libraries:
        sys.exit(f"inner_loops.py: no kernels below core/backends in {options.build}; build it first, for arm64")
    print(f"{'library':16} {'function':28} instructions products others products/vector loads spills"
          + (" cycles products/cycle" if options.cycles else ""))
    spilled = False
    for library in libraries:
        for name, body in functions(options.objdump, library):
            counts = [c for c in (dict(count(loop), loop=loop) for loop in inner_loops(body)) if c["products"] >= 4]
            if not options.all:
                counts = sorted(counts, key=lambda c: (c["products"], c["others"]))[-1:]
            for c in counts:
                share = c["products"] / (c["products"] + c["others"])
                spilled |= c["spills"] > 0
                cycles = model_cycles(options.mca, options.cycles, c["loop"]) if options.cycles else None
                print(f"{library.stem[6:]:16} {name:28} {c['instructions']:12} {c['products']:8} {c['others']:6} {share:15.2f} {c['loads']:5}"
                      f" {c['spills']:6}" + (f" {cycles:6.1f} {c['products'] / cycles:14.2f}" if cycles else ""))
    sys.exit(spilled)


if __name__ == "__main__":
    main()
