# SPDX-License-Identifier: LGPL-2.1-or-later
"""sightline bench field: the object and its schema, boards that are slowed down, kernels that are wrong, and ends before the end."""
import json
import os
import signal
import subprocess
import sys
import time

import harness
from harness import PROGRAM, Skip, run, work

sys.path.insert(0, os.path.join(harness.ROOT, "tests", "support"))
import schema  # noqa: E402

BROKEN = os.environ.get("SIGHTLINE_BROKEN_FIELD", "")
NETWORKS = ("mobilenet_v2", "yolo_n", "rfb", "vit_ti")
LARGE = ("yolo_n", "vit_ti")
TIMES = ("prepare_ms", "first_ms", "least_ms", "median_ms", "runs")

with open(os.path.join(harness.ROOT, "docs", "board.schema.json"), encoding="utf-8") as rules:
    SCHEMA = json.load(rules)


def read(text):
    """The object, which must be as the schema has it."""
    board = json.loads(text)
    found = list(schema.problems(board, SCHEMA, SCHEMA))
    assert not found, found
    assert text.count("\n") == 1 and text.endswith("\n"), text[-80:]
    return board


def check_networks(board, threads, large=None):
    """@large: the threads of large networks, if others than @threads."""
    types = ["float", "int8"] + (["fp16"] if "fp16" in board["machine"]["instructions"] else [])
    found = {(row["network"], row["type"], row["threads"]) for row in board["networks"]}
    assert found == {(name, kind, n) for name in NETWORKS for kind in types for n in (large if large and name in LARGE else threads)}, found
    for row in board["networks"]:
        assert row["right"] and row["error"] <= row["bound"] and len(row["sums"]) == 64, row
        assert row["exact"] == (row["type"] == "int8" and row["network"] != "vit_ti"), row
    assert len(board["normaliser"]) == 7 and all(row["right"] for row in board["normaliser"]), board["normaliser"]
    assert board["right"]


def field(kernel, *options, **environment):
    """`bench field` in a short time, with a wrong kernel or "none": status, board, standard error. Only the networks of the kernel's type run."""
    if not BROKEN:
        raise Skip("no program with a broken kernel is built here")
    env = {name: value for name, value in dict(os.environ, **environment).items() if value is not None}
    done = subprocess.run([BROKEN, kernel, *options], stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=600, check=False, env=env)
    return done.returncode, read(done.stdout), done.stderr


def test_check():
    board = read(run("bench", "field", "--check", timeout=600).expect(0).out)
    check_networks(board, (1, 2), (2,))
    assert not any(key in row for row in board["networks"] for key in TIMES)
    assert "seconds" not in board and "copy_gb_s" not in board["machine"] and "peak" not in board["machine"]
    assert board["format"] == 1 and board["machine"]["architecture"] == os.uname().machine


def test_times():
    if harness.SANITIZED:
        raise Skip("a sanitizer's times are none")
    status, board, _ = field("none", SIGHTLINE_SYS=None)  # a machine that slows down is told on standard error
    assert status == 0, board
    cores = len(os.sched_getaffinity(0))
    check_networks(board, [n for n in (1, 2, 4) if n <= cores])
    for row in board["networks"]:
        assert 0 < row["least_ms"] <= row["median_ms"] and row["first_ms"] > 0 and row["prepare_ms"] > 0, row
    for row in board["normaliser"]:
        assert 0 < row["least_us"] <= row["median_us"], row
    assert board["machine"]["copy_gb_s"]["one_thread"] > 0 and board["machine"]["peak"]["float_gops"] > 0, board["machine"]
    assert board["seconds"] > 1, board["seconds"]


def put(root, path, text):
    path = os.path.join(root, path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def test_board():
    """A board by a folder like /sys: its names, unequal cores, and that it is slowed down."""
    root = work("sys")
    put(root, "firmware/devicetree/base/model", "Made Board 5\0")
    put(root, "firmware/devicetree/base/compatible", "maker,board-5\0maker,chip\0")
    put(root, "devices/system/cpu/cpu0/cpu_capacity", "430\n")
    put(root, "devices/system/cpu/cpu1/cpu_capacity", "1024\n")
    put(root, "devices/system/cpu/cpu1/cpufreq/cpuinfo_max_freq", "2400000\n")
    put(root, "devices/system/cpu/cpu1/cpufreq/scaling_cur_freq", "1000000\n")
    put(root, "devices/system/cpu/cpu1/cpufreq/scaling_governor", "ondemand\n")
    put(root, "class/thermal/thermal_zone0/type", "soc-thermal\n")
    put(root, "class/thermal/thermal_zone0/temp", "85250\n")
    put(root, "devices/platform/soc/soc:firmware/get_throttled", "50005\n")
    status, board, told = field("int8-add", "--check", SIGHTLINE_SYS=root)
    assert status == 1 and "the processor is throttled (under-voltage, throttled by the firmware), so times are too long: cool the board" in told, told
    assert board["machine"]["model"] == "Made Board 5" and board["machine"]["compatible"] == ["maker,board-5", "maker,chip"], board["machine"]
    assert board["machine"]["cores"] == [{"id": 0, "capacity": 430, "max_mhz": None, "governor": None},
                                         {"id": 1, "capacity": 1024, "max_mhz": 2400, "governor": "ondemand"}], board["machine"]
    assert board["after"] == {"mhz": 1000, "max_mhz": 2400, "celsius": 85.25, "sensor": "soc-thermal", "throttled": "under-voltage, throttled by the firmware"}, board
    assert board["warning"].startswith("the processor is throttled"), board


def test_broken_kernels():
    """One value of a tile changed in its lowest bit, or by a hundredth, is found, and nothing else is called wrong."""
    status, board, told = field("none", "--check")
    assert status == 0 and board["right"] and told == "", told
    for kernel, kind, names in (("int8-gemm", "int8", {"mobilenet_v2", "yolo_n", "rfb"}), ("int8-depthwise", "int8", {"mobilenet_v2", "rfb"}),
                                ("int8-add", "int8", {"mobilenet_v2", "yolo_n", "rfb"}), ("float-gemm", "float", {"mobilenet_v2", "yolo_n", "rfb", "vit_ti"}),
                                ("float-depthwise", "float", {"mobilenet_v2", "rfb"}), ("float-normalize", "float", {"vit_ti"})):
        if kernel == "int8-depthwise" and not any(row["int8_kernels"] not in (None, "c", "neon") for row in board["networks"]):
            continue  # these have no function for whole rows
        status, found, told = field(kernel, "--check")
        wrong = {row["network"] for row in found["networks"] if not row["right"] and row["type"] == kind}
        assert status == 1 and not found["right"] and wrong == names, (kernel, status, wrong, told)
        assert "wrong results, so kernels are wrong on this processor: " in told and "%s as %s on %s (" % (sorted(names)[0], kind, "2 threads" if sorted(names)[0] in LARGE else "1 thread") in told, told
        assert "try a lower SIGHTLINE_CPU" in told and told.count("\n") == 1, told


def wait_until_caught(process):
    """Until the program has a handler for SIGINT."""
    while True:
        with open("/proc/%d/status" % process.pid, encoding="utf-8") as file:
            caught = next(int(line.split()[1], 16) for line in file if line.startswith("SigCgt"))
        if caught >> (signal.SIGINT - 1) & 1:
            return
        assert process.poll() is None, "ended with status %d" % process.returncode
        time.sleep(0.01)


def test_interrupt():
    with subprocess.Popen([PROGRAM, "bench", "field"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        wait_until_caught(process)
        process.send_signal(signal.SIGINT)
        out, err = process.communicate(timeout=300)
    assert process.returncode == 130 and out == "", (process.returncode, out)
    assert err in ("sightline bench field: interrupted, so nothing is written\n", ""), err  # "": a run took longer than is waited for


def test_nobody_reads():
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([PROGRAM, "bench", "field", "--check"], stdin=subprocess.DEVNULL, stdout=writer, stderr=subprocess.PIPE, text=True, timeout=600, check=False)
    os.close(writer)
    assert done.returncode == 1 and done.stderr == "sightline bench: cannot write to standard output: Broken pipe\n", done


def test_full_disk():
    with open("/dev/full", "w", encoding="utf-8") as full:
        done = subprocess.run([PROGRAM, "bench", "field", "--check"], stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE, text=True, timeout=600, check=False)
    assert done.returncode == 1 and done.stderr == "sightline bench: cannot write to standard output: No space left on device\n", done


def test_usage():
    run("bench", "field", "board.json").expect(2, "expected no argument, got 'board.json'")
    run("bench", "fields").expect(2, "expected 'model MODEL', 'preprocess' or 'field', got fields")
    assert "--check" in run("bench", "field", "--help").expect(0).out


harness.main(globals())
