# SPDX-License-Identifier: LGPL-2.1-or-later
"""sightline bench model --compare, with interpreters that only pretend: what is missing, what fails, what stops."""
import json
import os
import shutil
import sys

import harness
from harness import model, run, work

NUMPY = """
class Array(list):
    def astype(self, dtype): return self
class RandomState:
    def __init__(self, seed): pass
    def rand(self, *shape): return Array()
    def randint(self, low, high, shape): return Array()
class random:
    RandomState = RandomState
class dtype:
    def __init__(self, name): self.kind = str(name)[0]
"""

TFLITE = """
import os, time
class Interpreter:
    def __init__(self, model_path, num_threads):
        if not os.path.exists(model_path) or num_threads < 1: raise ValueError('no model')
        if 'FAKE_REFUSES' in os.environ: raise RuntimeError('an operator\\nis unknown')
        self.runs = 0
    def allocate_tensors(self): pass
    def get_input_details(self): return [{'index': 0, 'shape': (1, 8, 8, 3), 'dtype': 'uint8'}]
    def set_tensor(self, index, value): pass
    def invoke(self):
        self.runs += 1
        if self.runs > int(os.environ.get('FAKE_STOPS', 1000000)): os._exit(3)
        time.sleep(0.002)
"""

ONNX = """
__version__ = '9.9'
class SessionOptions: pass
class Input:
    name, shape, type = 'x', ['batch', 3], 'tensor(float)'
class InferenceSession:
    def __init__(self, model, options, providers): assert options.intra_op_num_threads == 2
    def get_inputs(self): return [Input]
    def run(self, names, feed): assert list(feed) == ['x']
"""


def fake(**modules):
    """A folder with these modules and no other runtime, and an environment that finds only them."""
    folder = work("fake-%d" % len(os.listdir(harness.WORK.name)))
    bin_folder = os.path.join(folder, "bin")
    os.makedirs(bin_folder)
    os.symlink(shutil.which("python3") or sys.executable, os.path.join(bin_folder, "python3"))
    absent = "raise ImportError('not here')\n"
    for name in ("ai_edge_litert", "tflite_runtime", "tensorflow", "onnxruntime", "numpy"):
        package = os.path.join(folder, name)
        os.makedirs(package)
        with open(os.path.join(package, "__init__.py"), "w") as file:
            file.write(modules.get(name, absent))
        if name == "tflite_runtime" and name in modules:
            with open(os.path.join(package, "interpreter.py"), "w") as file:
                file.write(TFLITE)
    return dict(os.environ, PYTHONPATH=folder, PATH=bin_folder)


def bench(env, *options):
    return run("bench", "model", model("brightest_channel.tflite"), "--runs", "7", "--warm-up", "0", *options, env=env)


def test_missing():
    env = fake()
    bench(env, "--compare").expect(1, "TensorFlow Lite is not here", "ai_edge_litert, tflite_runtime or tensorflow", "pip install ai-edge-litert")
    bench(env, "--compare-onnx", "x.onnx").expect(1, "ONNX Runtime is not here", "onnxruntime-node", "pip install onnxruntime")
    env["PATH"] = "/nonexistent"
    bench(env, "--compare").expect(1, "TensorFlow Lite is not here")


def test_ratio():
    env = fake(numpy=NUMPY, tflite_runtime="__version__ = '2.1'\n")
    result = bench(env, "--compare").expect(0)
    assert "tflite_runtime 2.1; ratio of ours to it: 0." in result.out, result
    lines = [json.loads(line) for line in bench(env, "--compare", "--json").expect(0).out.splitlines()]
    assert len(lines) == 2 and lines[1]["peer"] == "tflite_runtime 2.1" and lines[1]["threads"] == 1, lines
    assert 2 <= lines[1]["min_ms"] <= lines[1]["median_ms"] and 0 < lines[1]["ratio_min"] < 1, lines


def test_onnx():
    env = fake(numpy=NUMPY, onnxruntime=ONNX)
    result = bench(env, "--threads", "2", "--compare-onnx", "x.onnx").expect(0)
    assert "onnxruntime 9.9; ratio" in result.out, result
    bench(env, "--threads", "1", "--compare-onnx", "x.onnx").expect(1, "x.onnx: the other runtime (in python3) refuses it: AssertionError")


def test_refuses():
    env = dict(fake(numpy=NUMPY, tflite_runtime=""), FAKE_REFUSES="1")
    bench(env, "--compare").expect(1, "refuses it: an operator is unknown")


def test_stops():
    env = dict(fake(numpy=NUMPY, tflite_runtime=""), FAKE_STOPS="6")
    bench(env, "--compare").expect(1, "tflite_runtime stopped: expected milliseconds, got ''")


harness.main(globals())
