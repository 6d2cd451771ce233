#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Models how long networks take on a processor that is not here: QEMU counts how often each block of instructions of the real program runs,
and llvm-mca has the cycles of each block.

  scripts/modelled.py BUILD MODEL... [--root ROOT] [--cpu NAME] [--precision fp16] [--layers N] [--blocks N [--code]]

BUILD is a build for arm64 (or x86) with `sightline`. MODEL is a file, or one of mobilenet_v2, yolo26n, yolo26n_320 and resnet50_int8, which are made
(python3-onnx). ROOT has the libraries of arm64. The time of a network is that of one inference on one thread, without the time to load it.
A layer takes its cycles, or the time in which memory gives the lines that the last cache lacks, whichever is longer. Not in the model: misses of
the first and second cache, mispredicted branches, and what a loop that starts anew costs.

Needs: qemu-aarch64 (or qemu-x86_64) 7.2 or later with plug-ins, llvm-mc and llvm-mca, a C compiler."""

import argparse
import collections
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
# Of each processor: QEMU's and LLVM's names, GHz, bytes of the last cache, GB/s of memory, the number of clock_gettime(), an instruction that no program has.
Cpu = collections.namedtuple("Cpu", "emulator mca features ghz cache memory clock mark mark_text")
ARM = {"clock": 113, "mark": "40b520d4", "mark_text": "brk #0x5aa"}
X86 = {"clock": 228, "mark": "90" * 15 + "cd77", "mark_text": "int $119"}  # no instruction before it reaches over 15
CPUS = {
    "cortex-a76": Cpu(["qemu-aarch64", "-cpu", "cortex-a76"], ["-mtriple=aarch64", "-mcpu=neoverse-n1"], ["-mattr=+dotprod,+fullfp16", "-dispatch=4"], 2.4, 2 << 20, 17.1, **ARM),
    "cortex-a55": Cpu(["qemu-aarch64", "-cpu", "cortex-a76"], ["-mtriple=aarch64", "-mcpu=cortex-a55"], ["-mattr=+dotprod,+fullfp16"], 1.7, 1 << 20, 12.8, **ARM),
    "znver4": Cpu(["qemu-x86_64", "-cpu", "max"], ["-mtriple=x86_64", "-mcpu=znver4"], [], 3.7, 32 << 20, 18.5, **X86),
}
BRANCH = re.compile(r"(b|b\.\w+|cbn?z|tbn?z|br|ret|bl|blr|j\w+|ret\w?|call\w?|syscall|svc)$")
CALL = re.compile(r"(br|ret\w?|bl|blr|call\w?|syscall|svc)$")
ITERATIONS = 50
# The rest of the blocks takes as many cycles an instruction as these on average.
SHARE = 0.999
REPEATED = 1 / 8

Run = collections.namedtuple("Run", "ns lines runs")


def count(cpu, root, program, model, folder, options):
    """((blocks, [Run]), what the program printed): blocks are [address, [bytes of an instruction]]."""
    plugin, out, told = folder / "blocks.so", folder / f"{model.stem}.blocks", folder / f"{model.stem}.printed"
    if told.exists():
        return read_counts(out), told.read_text()
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", plugin, HERE / "modelled" / "blocks.c"], check=True)
    command = [*cpu.emulator, *(["-L", root, "-E", f"LD_LIBRARY_PATH={root}/usr/lib/aarch64-linux-gnu"] if root else []),
               "-plugin", f"{plugin},clock={cpu.clock},cache={cpu.cache},out={out}", program, "bench", "model", model, "--threads", "1", "--runs", "1", "--warm-up", "0", "--profile", "--nodes", *options]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"modelled.py: {' '.join(map(str, command))}: status {done.returncode}\n{done.stderr}")
    told.write_text(done.stdout)
    return read_counts(out), done.stdout


def read_counts(out):
    blocks, intervals, runs = [], [], {}
    # The program may end within a line.
    for line in out.read_text().rpartition("\n")[0].splitlines():
        words = line.split()
        if words[0] == "block":
            blocks.append([int(words[2], 16), words[3:]])
        elif words[0] == "clock":
            intervals.append(Run(int(words[1]), int(words[2]), runs))
            runs = {}
        else:
            runs[int(words[0])] = int(words[1])
    return blocks, intervals


def texts(mc, cpu, blocks):
    """The instructions of each block."""
    code = []
    for _, instructions in blocks:
        code += [" ".join("0x" + i[b : b + 2] for b in range(0, len(i), 2)) for i in [*instructions, cpu.mark]]
    done = subprocess.run([mc, "--disassemble", cpu.mca[0].replace("-m", "--"), *(["-mattr=+all"] if cpu.features else [cpu.mca[1]])],
                          input="\n".join(code), capture_output=True, text=True, check=False)
    found, body = [], []
    for line in done.stdout.splitlines():
        text = " ".join(line.split())
        if text == cpu.mark_text:
            found.append([i for i in body if i != "nop"])
            body = []
        elif text and not text.startswith("."):
            body.append(text)
    if len(found) != len(blocks):
        sys.exit(f"modelled.py: {mc} gave {len(found)} blocks of {len(blocks)}: {done.stderr[:500]}")
    return found


def joined(blocks, bodies, total):
    """Blocks that always follow each other, as a loop across two pages has them, as lists of numbers."""
    by_address = {block[0]: n for n, block in enumerate(blocks) if total.get(n)}
    follows = {}
    for n, (address, instructions) in enumerate(blocks):
        after = by_address.get(address + sum(len(i) // 2 for i in instructions))
        if total.get(n) and after is not None and bodies[n] and not BRANCH.match(bodies[n][-1].split()[0]) and total[n] == total[after]:
            follows[n] = after
    chains = []
    for n in set(by_address.values()) - set(follows.values()):
        chain = [n]
        while chain[-1] in follows:
            chain.append(follows[chain[-1]])
        chains.append(chain)
    return chains


def loops_back(blocks, chain, bodies):
    """Whether the blocks end with a branch to their beginning."""
    address, instructions = blocks[chain[-1]]
    target = re.search(r"#?(-\d+)$", bodies[chain[-1]][-1])
    if not target or not BRANCH.match(bodies[chain[-1]][-1].split()[0]):
        return False
    sizes = [len(i) // 2 for i in instructions]
    # Of Arm relative to the branch, of x86 to what is behind it.
    return address + sum(sizes) + int(target[1]) - (4 if "#" in bodies[chain[-1]][-1] else 0) == blocks[chain[0]][0]


def cycles_of(mca, cpu, bodies, loops):
    """Cycles of a round of each body; what does not loop waits for nothing of its last round."""
    text = ""
    for n, body in enumerate(bodies):
        lines = [i for i in body if not CALL.match(i.split()[0])] or ["nop"]
        text += "\n".join([f"# LLVM-MCA-BEGIN {n}", *lines, "# LLVM-MCA-END", ""])
    done = subprocess.run([mca, *cpu.mca, *cpu.features, f"-iterations={ITERATIONS}", "-instruction-info=false", "-resource-pressure=false", "-skip-unsupported-instructions=any"],
                          input=text, capture_output=True, text=True, check=False)
    found = {}
    for region in re.split(r"\n(?=\[\d+\] Code Region)", "\n" + done.stdout):
        name = re.match(r"\n?\[\d+\] Code Region - (\d+)", region)
        total, least = re.search(r"Total Cycles: +(\d+)", region), re.search(r"Block RThroughput: +([\d.]+)", region)
        if name and total and least:
            found[int(name[1])] = int(total[1]) / ITERATIONS if loops[int(name[1])] else float(least[1])
    if done.returncode != 0 or len(found) < len(bodies) * 0.98:
        sys.exit(f"modelled.py: {mca} knows {len(found)} blocks of {len(bodies)}: {done.stderr[:1000]}")
    return found


def model_blocks(options, cpu, blocks, intervals):
    """Cycles of each block that is run in @intervals."""
    total = collections.Counter()
    for interval in intervals:
        total.update(interval.runs)
    numbers = sorted(total)
    bodies = dict(zip(numbers, texts(options.mc, cpu, [blocks[n] for n in numbers])))
    size = {n: len(blocks[n][1]) for n in numbers}
    chains = joined(blocks, [bodies.get(n, []) for n in range(len(blocks))], total)
    chains.sort(key=lambda chain: -total[chain[0]] * sum(size[n] for n in chain))
    left = all_instructions = sum(total[n] * size[n] for n in numbers)
    chosen = []
    for chain in chains:
        if left < (1 - SHARE) * all_instructions:
            break
        left -= total[chain[0]] * sum(size[n] for n in chain)
        chosen.append(chain)
    loops = [loops_back(blocks, chain, bodies) for chain in chosen]
    found = cycles_of(options.mca, cpu, [[i for n in chain for i in bodies[n]] for chain in chosen], loops)
    cycles, known, counted = {}, 0, 0
    for number, chain in enumerate(chosen):
        if number not in found:
            continue
        # QEMU counts each byte or word of x86's repeated stores and copies.
        if bodies[chain[0]][-1].startswith("rep"):
            found[number] = REPEATED
        length = sum(size[n] for n in chain)
        known += found[number] * total[chain[0]]
        counted += length * total[chain[0]]
        for n in chain:
            cycles[n] = found[number] * size[n] / length
    for n in numbers:
        cycles.setdefault(n, size[n] * known / counted)
    return cycles, bodies


def ms_of(cpu, cycles, interval):
    return max(sum(cycles[n] * times for n, times in interval.runs.items()) / cpu.ghz / 1e6, interval.lines * 64 / cpu.memory / 1e6)


def find_layers(blocks, intervals, printed):
    """(the interval of the measured run, [(interval, what the program printed of it)]): between two layers next to nothing runs."""
    rows = []
    for line in printed.splitlines():
        row = re.match(r" *([\d.]+) +[\d.]+ .*?\b1  (int8|float|xnnpack|plain) +(.*)", line)
        if row:
            rows.append((float(row[1]), f"{row[3]} ({row[2]})"))
    length = [sum(times * len(blocks[n][1]) for n, times in i.runs.items()) for i in intervals]
    for first in range(1, len(intervals) - 2 * len(rows) + 1):
        if all(length[first + 2 * r + 1] < 200 for r in range(len(rows) - 1)) and len(rows) > 1:
            break
    else:
        sys.exit(f"modelled.py: {len(rows)} layers are not in {len(intervals)} intervals")
    layers = [intervals[first + 2 * r] for r in range(len(rows))]
    named = dict(zip(sorted(range(len(rows)), key=lambda r: -layers[r].ns), [name for _, name in sorted(rows, key=lambda r: -r[0])]))
    # The runs before are as long as all layers; other work is not.
    total = sum(length[first : first + 2 * len(rows)])
    whole = min(range(first), key=lambda i: abs(length[i] - total))
    return intervals[whole], [(layer, named[r]) for r, layer in enumerate(layers)]


def report(options, cpu, name, model, folder):
    (blocks, intervals), printed = count(cpu, options.root, options.build / "tools" / "sightline", model, folder, ["--precision", options.precision] if options.precision else [])
    whole, layers = find_layers(blocks, intervals, printed)
    cycles, bodies = model_blocks(options, cpu, blocks, [whole, *(layer for layer, _ in layers)])
    print(f"{name}: {ms_of(cpu, cycles, whole):.2f} ms modelled on {options.cpu} at {cpu.ghz} GHz, one thread; layer by layer "
          f"{sum(ms_of(cpu, cycles, layer) for layer, _ in layers):.2f} ms, lines from memory {whole.lines * 64 / 1e6:.1f} MB")
    times = sorted(((ms_of(cpu, cycles, layer), what, layer) for layer, what in layers), key=lambda t: -t[0])
    for ms, what, layer in times[: options.layers]:
        by_memory = layer.lines * 64 / cpu.memory / 1e6 == ms
        print(f"{ms:8.3f} ms  {what}{' (memory)' if by_memory else ''}")
    for n in sorted(whole.runs, key=lambda n: -whole.runs[n] * cycles[n])[: options.blocks]:
        print(f"{whole.runs[n] * cycles[n] / cpu.ghz / 1e6:8.3f} ms  {whole.runs[n]} times {cycles[n]:.1f} cycles: {len(bodies[n])} instructions: {'; '.join(bodies[n][:200 if options.code else 4])}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("models", nargs="+", metavar="MODEL")
    parser.add_argument("--root", type=pathlib.Path)
    parser.add_argument("--cpu", choices=sorted(CPUS), default="cortex-a76")
    parser.add_argument("--ghz", type=float)
    parser.add_argument("--layers", type=int, default=10, help="slowest layers to print (default 10)")
    parser.add_argument("--blocks", type=int, default=0, help="slowest blocks of instructions to print (default 0)")
    parser.add_argument("--code", action="store_true", help="all instructions of these")
    parser.add_argument("--keep", type=pathlib.Path, help="an existing folder for counts, which are read there if the same were made before")
    parser.add_argument("--precision", choices=["bf16", "fp16"])
    parser.add_argument("--mc", default="llvm-mc-19")
    parser.add_argument("--mca", default="llvm-mca-19")
    options = parser.parse_args()
    cpu = CPUS[options.cpu]
    if options.ghz:
        cpu = cpu._replace(ghz=options.ghz)
    for program in (cpu.emulator[0], options.mc, options.mca, "cc"):
        if not shutil.which(program):
            sys.exit(f"modelled.py: {program} is needed, and is not here; install Debian's qemu-user, llvm-19 and gcc")
    with tempfile.TemporaryDirectory() as name:
        folder = options.keep or pathlib.Path(name)
        for model in options.models:
            path = pathlib.Path(model)
            if not path.exists():
                sys.path.insert(0, str(HERE / "modelled"))
                try:
                    from networks import NETWORKS  # pylint: disable=import-outside-toplevel
                except ImportError as error:
                    sys.exit(f"modelled.py: {model} is no file; networks by name are made with python3-onnx: {error}")
                if model not in NETWORKS:
                    sys.exit(f"modelled.py: {model} is no file and none of {', '.join(NETWORKS)}")
                path = folder / (model + ".onnx")
                NETWORKS[model](path)
            report(options, cpu, path.stem, path, folder)


if __name__ == "__main__":
    main()
