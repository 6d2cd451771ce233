# SPDX-License-Identifier: LGPL-2.1-or-later
"""TAP: scripts/modelled.py finds loops, blocks that follow each other and layers in what its plug-in counts, and says what is missing."""
import os
import subprocess
import sys

sys.dont_write_bytecode = True
ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "scripts"))
import modelled  # pylint: disable=wrong-import-position

# Of Arm: an addition and a branch to it, and what lies behind them, cut in two.
BLOCKS = [[0x1000, ["00040091", "e1ffff54"]], [0x1008, ["00040091"]], [0x100C, ["00040091", "c0035fd6"]]]
BODIES = [["add x0, x0, #1", "b.ne #-4"], ["add x0, x0, #1"], ["add x0, x0, #1", "ret"]]
X86 = [[0x1000, ["4883c001", "75fa"]]]


def run(*arguments):
    return subprocess.run([sys.executable, "-B", os.path.join(ROOT, "scripts", "modelled.py"), *arguments], capture_output=True, text=True, check=False)


def layers():
    """A program that loads, runs all, then two layers by themselves, and measures the peak."""
    intervals = [modelled.Run(ns, 0, {0: times}) for ns, times in ((9, 90000), (30, 3000), (5, 500), (10, 1000), (1, 20), (20, 2000), (1, 20), (8, 9000))]
    printed = "     20.0  66.00     1.0   3%      1  int8       CONV_2D last\n     10.0  33.00                1  float      ADD first\n"
    whole, found = modelled.find_layers(BLOCKS, intervals, printed)
    return whole.ns == 30 and [(layer.ns, name) for layer, name in found] == [(10, "ADD first (float)"), (20, "CONV_2D last (int8)")]


def main():
    missing = run("build", "model.onnx", "--mc", "no-such-program")
    compiled = subprocess.run(["cc", "-Wall", "-Wextra", "-Werror", "-fsyntax-only", os.path.join(ROOT, "scripts", "modelled", "blocks.c")], capture_output=True, check=False)
    cases = [
        ("the plug-in compiles", compiled.returncode == 0),
        ("a loop of Arm", modelled.loops_back(BLOCKS, [0], BODIES) and not modelled.loops_back(BLOCKS, [2], BODIES)),
        ("a loop of x86", modelled.loops_back(X86, [0], [["addq $1, %rax", "jne -6"]])),
        ("blocks that follow each other", sorted(modelled.joined(BLOCKS, BODIES, {0: 9, 1: 2, 2: 2})) == [[0], [1, 2]]),
        ("another number of runs parts them", sorted(modelled.joined(BLOCKS, BODIES, {0: 9, 1: 2, 2: 3})) == [[0], [1], [2]]),
        ("layers between clocks", layers()),
        ("a program that is missing", missing.returncode == 1 and ("no-such-program is needed, and is not here; install Debian's qemu-user, llvm-19 and gcc" in missing.stderr
                                                                   or "qemu-aarch64 is needed" in missing.stderr)),
    ]
    print("1..%d" % len(cases))
    for number, (name, fine) in enumerate(cases, 1):
        print("%sok %d %s" % ("" if fine else "not ", number, name))
    return 0 if all(fine for _, fine in cases) else 1


if __name__ == "__main__":
    sys.exit(main())
