# SPDX-License-Identifier: LGPL-2.1-or-later
"""sightline bench model --compare, with interpreters that only pretend: what is missing, what fails, what stops."""
import json
import os
import re
import sys

import harness
import protobuf
from harness import model, run, work, write
from protobuf import message

NUMPY = """
class Array(list):
    def astype(self, dtype): return self
class RandomState:
    def __init__(self, seed): pass
    def rand(self, *shape):
        array = Array()
        array.shape = shape
        return array
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
    name, shape, type = 'x', ['batch', 3, 'height', 'width'], 'tensor(float)'
class InferenceSession:
    def __init__(self, model, options, providers): assert options.intra_op_num_threads == 2
    def get_inputs(self): return [Input]
    def run(self, names, feed): assert list(feed) == ['x'] and feed['x'].shape in ((1, 3, 1, 1), (1, 3, 8, 8)), feed['x'].shape
"""

TORCH = """
import contextlib, time
__version__ = '1.99'
class quantized:
    supported_engines, engine = ['none', 'qnnpack'], 'none'
class backends: quantized = quantized
class Net:
    def eval(self): return self
    def __call__(self, x):
        assert x == [1, 3, 160, 160] and quantized.engine == 'qnnpack', x
        time.sleep(0.001)
class jit:
    @staticmethod
    def load(path, map_location):
        assert path.endswith('.ptl') and map_location == 'cpu'
        return Net()
def set_num_threads(n): assert n == 2
def manual_seed(n): pass
def rand(shape): return shape
def no_grad(): return contextlib.nullcontext()
"""


# torch.export's programs: an input of floats, and one of numbers.
EXPORTED = """
import contextlib, time, types
__version__ = '2.99'
class Node:
    def __init__(self, name, op, dtype): self.name, self.op, self.meta = name, op, {'val': types.SimpleNamespace(dtype=dtype)}
class Program:
    graph_signature = types.SimpleNamespace(user_inputs=['i', 'mask'])
    graph = types.SimpleNamespace(nodes=[Node('p', 'placeholder', 'float32'), Node('i', 'placeholder', 'int64'), Node('mask', 'placeholder', 'bool')])
    def module(self): return self.run
    def run(self, *x):
        assert x == (([1, 12], 'int64'), ([1, 12], 'bool')), x
        time.sleep(0.001)
class export:
    @staticmethod
    def load(path):
        assert path.endswith('text.pt2')
        return Program()
class Tensor:
    def __init__(self, shape): self.shape = shape
    def to(self, dtype): return self.shape, dtype
def set_num_threads(n): assert n == 2
def manual_seed(n): pass
def rand(shape): return Tensor(shape)
def no_grad(): return contextlib.nullcontext()
"""


def fake(**modules):
    """A folder with these modules and no other runtime, and an environment that finds only them."""
    folder = work("fake-%d" % len(os.listdir(harness.WORK.name)))
    bin_folder = os.path.join(folder, "bin")
    os.makedirs(bin_folder)
    os.symlink(sys.executable, os.path.join(bin_folder, "python3"))
    absent = "raise ImportError('not here')\n"
    for name in ("ai_edge_litert", "tflite_runtime", "tensorflow", "onnxruntime", "numpy", "torch"):
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


def test_profile_as_json():
    """The profile is a table for people."""
    bench(None, "--profile", "--json").expect(2, "--json and --profile exclude each other")


def test_missing_after_profile():
    """What was measured without the other runtime is printed."""
    result = bench(fake(), "--profile", "--compare").expect(1, "TensorFlow Lite is not here")
    assert "MEAN" in result.out, result


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


def onnx_model(op="Relu"):
    """x float32[1,3,height,width], the last two open, through one operator."""
    sizes = (b"\x08\x01", b"\x08\x03", message(2, b"height"), message(2, b"width"))
    output = b"/act/Relu_output_0"
    made = protobuf.model((protobuf.node(op.encode(), (b"x",), output),), (protobuf.edge(b"x", sizes),), (protobuf.edge(output, sizes),))
    return write(op + ".onnx", made)


def test_onnx_model():
    """The model itself in ONNX Runtime, with the size that the command states."""
    env = fake(numpy=NUMPY, onnxruntime=ONNX)
    command = ["bench", "model", onnx_model(), "--runs", "3", "--warm-up", "0", "--threads", "2", "--input-shape", "1,3,8,8"]
    assert "onnxruntime 9.9; ratio" in run(*command, "--compare", env=env).expect(0).out
    assert "onnxruntime 9.9; ratio" in run(*command, "--compare-onnx", onnx_model(), env=env).expect(0).out
    run(*command, "--compare", env=fake()).expect(1, "ONNX Runtime is not here")


def test_torchscript_model():
    path = harness.data("formats", "models", "mobilenet_v2_035.qnnpack.mobile.ptl")
    command = ["bench", "model", path, "--runs", "3", "--warm-up", "0", "--threads", "2", "--input-shape", "1,3,160,160", "--compare"]
    assert "torch 1.99; ratio" in run(*command, env=fake(torch=TORCH)).expect(0).out
    run(*command, env=fake()).expect(1, "PyTorch is not here", "pip install torch", "apt install python3-torch")


def test_exported_model():
    path = harness.data("pytorch2", "models", "text.pt2")
    command = ["bench", "model", path, "--runs", "3", "--warm-up", "0", "--threads", "2", "--compare"]
    assert "torch 2.99; ratio" in run(*command, env=fake(torch=EXPORTED)).expect(0).out
    run(*command, env=fake()).expect(1, "PyTorch is not here", "pip install torch")


def test_nodes():
    """inspect and the profile name nodes as the file names what they give."""
    shown = run("inspect", "--nodes", "--input-shape", "1,3,8,8", onnx_model()).expect(0).out
    assert re.search(r"^  0 +\w+ +RELU +float32\[1,3,8,8\]  /act/Relu_output_0$", shown, flags=re.M), shown
    profile = run("bench", "model", onnx_model(), "--runs", "3", "--input-shape", "1,3,8,8", "--profile", "--nodes").expect(0).out
    assert re.search(r"^.* RELU /act/Relu_output_0$", profile, flags=re.M), profile


def test_operations():
    """The profile's operations a second, times its microseconds, are the 300 million multiply-adds that MobileNetV2's authors state."""
    path = harness.data("models", "mobilenet_v2_1.0_224_quant.tflite")
    profile = run("bench", "model", path, "--runs", "2", "--warm-up", "1", "--profile").expect(0).out
    assert all(int(share) <= 100 for share in re.findall(r"(\d+)%", profile)), profile
    assert re.search(r"^The peak of a thread, GOP/s: float [1-9][0-9.]* \(\w+.*\)", profile, flags=re.M), profile
    rows = re.findall(r"^ *([0-9.]+) +[0-9.]+ +([0-9.]+) +(?:[0-9]+% +)?[0-9]+ +\w+ +\w+ $", profile, flags=re.M)
    millions = sum(float(us) * float(gops) for us, gops in rows) / 1e3
    assert 590 < millions < 620, profile


def backend_env(words=""):
    """The environment with tests/support/fake_runtime.c in the place of both runtimes."""
    library = os.environ["SIGHTLINE_FAKE_RUNTIME"]
    return dict(os.environ, SIGHTLINE_ONNXRUNTIME=library, SIGHTLINE_TFLITE=library, FAKE_RUNTIME=words, XDG_CACHE_HOME=work("cache"))


def sysfs(name, files):
    """A folder in the place of /sys."""
    root = work(name)
    for path, text in files.items():
        path = os.path.join(root, "class", path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)
    return root


def test_energy():
    """Of a sensor of 4 W, times the time; and no word where nothing tells."""
    command = ["bench", "model", onnx_model("Neg"), "--input-shape", "1,3,4,4", "-n", "20"]
    told = dict(backend_env(), SIGHTLINE_SYS=sysfs("sensor", {"hwmon/hwmon0/name": "ina226\n", "hwmon/hwmon0/power1_input": "4000000\n"}))
    silent = dict(backend_env(), SIGHTLINE_SYS=work("nothing"))
    row = json.loads(run(*command, "--json", env=told).expect(0).out)
    assert 4e-3 * row["min_ms"] <= row["joules_per_run"] <= 10, row
    assert re.search(r"^ +[0-9.]+ mJ a run, of all that runs meanwhile \(ina226\)$", run(*command, env=told).expect(0).out, flags=re.M)
    assert "mJ" not in run(*command, env=silent).expect(0).out
    assert "joules" not in run(*command, "--json", env=silent).expect(0).out
    shown = run(*command, "--backends", env=told).expect(0).out
    assert re.search(r"^sightline +[0-9.]+ +[0-9.]+ +[0-9.]+ +Sightline, CPU$", shown, flags=re.M) and "mJ: ina226" in shown, shown
    assert "mJ: not told by this system" in run(*command, "--backends", env=silent).expect(0).out


def test_heat():
    """Frequency before and after, temperature and throttling of a board; and no word where nothing tells."""
    command = ["bench", "model", onnx_model("Neg"), "--input-shape", "1,3,4,4", "-n", "20"]
    root = sysfs("board", {"thermal/thermal_zone0/type": "cpu-thermal\n", "thermal/thermal_zone0/temp": "81500\n"})
    frequency = os.path.join(root, "devices", "system", "cpu", "cpu0", "cpufreq")
    os.makedirs(frequency)
    for name, khz in (("scaling_cur_freq", 1500000), ("cpuinfo_max_freq", 1800000)):
        with open(os.path.join(frequency, name), "w", encoding="utf-8") as file:
            file.write("%d\n" % khz)
    board = dict(os.environ, SIGHTLINE_SYS=root)
    line = "1500 MHz before, 1500 MHz after, of 1800 MHz; 81.5 degrees (cpu-thermal)"
    assert re.search(r"^ +" + re.escape(line) + "$", run(*command, env=board).expect(0).out, flags=re.M)
    row = json.loads(run(*command, "--json", env=board).expect(0).out)
    assert (row["mhz_before"], row["mhz_after"], row["celsius"]) == (1500, 1500, 81.5) and "throttled" not in row, row
    sysfs("board", {"thermal/cooling_device0/type": "cpufreq-cpu0\n", "thermal/cooling_device0/cur_state": "2\n"})
    slow = run(*command, "--json", env=board).expect(0, "sightline bench model: the processor is throttled (slowed down by heat), so times are too long")
    assert json.loads(slow.out)["throttled"] == "slowed down by heat", slow
    assert "mhz_before" not in run(*command, "--json").expect(0).out


def test_batch():
    command = ["bench", "model", onnx_model("Neg"), "--input-shape", "1,3,16,16", "--batch"]
    assert re.search(r"^1 threads, 4 inputs at once: [0-9.]+ ms, [0-9.]+ ms each; one by itself: [0-9.]+ ms; [0-9.]+ times as fast$",
                     run(*command, "4").expect(0).out, flags=re.M)
    row = json.loads(run(*command, "2", "--json").expect(0).out)
    assert row["batch"] == 2 and abs(row["gain"] - 2 * row["single_ms"] / row["batch_ms"]) < 1e-4, row
    best = run(*command, "auto")
    assert best.status == 0 and "times as fast" in best.out or best.status == 1 and "no batch is faster" in best.err, best
    for wrong in "1", "65", "many":
        run(*command, wrong).expect(2, "--batch: expected 2..64, got '%s'" % wrong)
    run("bench", "model", onnx_model("Neg"), "--input-shape", "2,3,4,4", "--batch", "2").expect(1, "input-shape is '2,3,4,4'")


def test_backends():
    """A row for Sightline and one for the runtime, or why it does not run."""
    command = ["bench", "model", onnx_model("Neg"), "--input-shape", "1,3,4,4"]
    shown = run(*command, "--backends", env=backend_env()).expect(0).out
    assert re.search(r"^sightline +[0-9.]+ +[0-9.]+ +[-0-9.]+ +Sightline, CPU$", shown, flags=re.M), shown
    assert re.search(r"^onnxruntime +[0-9.]+ +[0-9.]+ +[-0-9.]+ +0.00e\+00 agrees +ONNX Runtime 1.99.0, CPU$", shown, flags=re.M), shown
    rows = [json.loads(line) for line in run(*command, "--backends", "--json", env=backend_env("wrong")).expect(0).out.splitlines()]
    assert [row["backend"] for row in rows] == ["sightline", "onnxruntime"] and rows[1]["agrees"] is False and rows[1]["difference"] > 0.5, rows
    shown = run(*command, "--backends", env=backend_env("load")).expect(0).out
    assert re.search("^onnxruntime  .*ONNX Runtime 1.99.0: the fake refuses the model$", shown, flags=re.M), shown
    # Threads that spin after a run take no time from the next one: they are waited for.
    rows = [json.loads(line) for line in run(*command, "--backends", "--json", env=backend_env("spin=5")).expect(0).out.splitlines()]
    assert rows[0]["cpu_ms"] < 5 <= rows[1]["cpu_ms"], rows
    info = command[2] + ".modelinfo"
    with open(info, "w") as file:
        file.write("[modelinfo]\nversion=1.0\n[sightline]\nbackend=onnxruntime\nfallback=true\n")
    shown = run(*command, "--backends", env=dict(backend_env(), SIGHTLINE_ONNXRUNTIME="/nowhere/ort.so")).expect(0).out
    assert re.search("^onnxruntime  .*: /nowhere/ort.so, which the environment variable SIGHTLINE_ONNXRUNTIME names", shown, flags=re.M), shown
    os.remove(info)
    exported = model("channels.v0.pt2")
    run("bench", "model", exported, "--backends").expect(1, "%s: no other backend takes files of " % exported)
    run(*command, "--backend", "onnxruntime", "-n", "3", env=backend_env()).expect(0)
    run(*command, "--backend", "onnxruntime", "--profile", env=backend_env()).expect(2, "--profile shows Sightline's own nodes")


def test_infer_backend():
    tensor = write("x", b"\0\0\x80\x3f" * 48)
    how = ["infer", "-m", onnx_model("Neg"), "--input-shape", "1,3,4,4", "-i", tensor, "-o", work("y"), "--backend", "onnxruntime"]
    run(*how, env=backend_env()).expect(0)
    with open(work("y") + ".0.bin", "rb") as file:
        assert file.read() == b"\0\0\x80\xbf" * 48
    run(*how, env=backend_env("load")).expect(1, "ONNX Runtime 1.99.0: the fake refuses the model")
    run(*how, "--fallback", env=backend_env("load")).expect(0, "Sightline runs the model on the CPU instead: ONNX Runtime 1.99.0: the fake refuses")
    missing = dict(backend_env(), SIGHTLINE_ONNXRUNTIME="/nowhere/ort.so")
    run(*how, env=missing).expect(1, "/nowhere/ort.so, which the environment variable SIGHTLINE_ONNXRUNTIME names, cannot be opened")


def test_predict_falls_back():
    """Once without the library, once in the middle; the picture is predicted all the same."""
    ppm = write("p.ppm", b"P6 4 4 255\n" + b"\x80" * 48)
    how = ["predict", "--model", onnx_model("Neg"), "--input-shape", "1,3,4,4", "--mean", "0", "--std", "255", "--decoder", "segmentation", "--backend",
           "onnxruntime", "--fallback"]
    for env, said in ((dict(backend_env(), SIGHTLINE_ONNXRUNTIME="/nowhere/ort.so"), "Sightline runs the model on the CPU instead: /nowhere/ort.so"),
                      (backend_env("lost=1"), "so Sightline runs the model on the CPU from here on: the fake device is gone")):
        run(*how, ppm, env=env).expect(0, said)


def test_predict_refused():
    """What the runtime itself throws and catches is an error, not the end of the program, where there is a library of it."""
    ppm = write("p.ppm", b"P6 4 4 255\n" + b"\x80" * 48)
    how = ["predict", "--model", onnx_model("NoSuchOp"), "--input-shape", "1,3,4,4", "--mean", "0", "--std", "255", "--backend", "onnxruntime", ppm]
    run(*how).expect(1, "and so does the backend: ONNX Runtime ")


def test_refuses():
    env = dict(fake(numpy=NUMPY, tflite_runtime=""), FAKE_REFUSES="1")
    bench(env, "--compare").expect(1, "refuses it: an operator is unknown")


def test_stops():
    env = dict(fake(numpy=NUMPY, tflite_runtime=""), FAKE_STOPS="6")
    bench(env, "--compare").expect(1, "tflite_runtime stopped: expected milliseconds, got ''")


harness.main(globals())
