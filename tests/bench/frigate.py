#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""Processor time of a picture: `sightline serve --zmq`, as Frigate's detector of type zmq uses it, beside Frigate's own CPU detector.

    frigate.py SIGHTLINE MODEL [LIBRARY [WIDTHxHEIGHT]]

LIBRARY is TensorFlow Lite's C library, which stands for the detector in Python that wraps the same interpreter; docs/backends.md says where it is.
Without it, or with an empty one, only the worker is measured. Both get the same pictures, one by one, and run the model on one thread. "worker" is the
process of sightline, "client" what sending a picture and receiving the answer take in Frigate's process. Rounds take turns; of each the least counts, in milliseconds of processor time a picture.
"""
import contextlib
import ctypes
import ctypes.util
import glob
import json
import os
import random
import subprocess
import sys
import tempfile
import time

REQ, SNDMORE = 3, 2
ROUNDS, PICTURES, PAUSE = 5, 40, 0.005


class Worker:
    """sightline serve and a client of libzmq."""

    def __init__(self, program, model, width, height):
        self.folder = tempfile.TemporaryDirectory()
        endpoint = "ipc://%s/detector" % self.folder.name
        command = [program, "serve", model, "--zmq", endpoint, "--zmq-timeout", "60000", "--threads", "1", "--json"]
        self.child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        if not any('"listening"' in line for line in self.child.stderr):
            sys.exit("frigate.py: %s does not listen" % " ".join(command))
        self.zmq = ctypes.CDLL(ctypes.util.find_library("zmq"))
        self.zmq.zmq_ctx_new.restype = self.zmq.zmq_socket.restype = ctypes.c_void_p
        self.context = ctypes.c_void_p(self.zmq.zmq_ctx_new())
        self.socket = ctypes.c_void_p(self.zmq.zmq_socket(self.context, REQ))
        self.zmq.zmq_connect(self.socket, endpoint.encode())
        self.header = json.dumps({"shape": [1, height, width, 3], "dtype": "uint8", "model_type": "ssd"}).encode()
        self.buffer = ctypes.create_string_buffer(1 << 16)

    def run(self, picture):
        self.zmq.zmq_send(self.socket, self.header, len(self.header), SNDMORE)
        self.zmq.zmq_send(self.socket, picture, len(picture), 0)
        for _ in range(2):
            self.zmq.zmq_recv(self.socket, self.buffer, len(self.buffer), 0)

    def spent(self):
        """Nanoseconds that all threads of the worker have run."""
        total = 0
        for path in glob.glob("/proc/%d/task/*/schedstat" % self.child.pid):
            with contextlib.suppress(OSError), open(path, encoding="ascii") as file:
                total += int(file.read().split()[0])
        return total

    def end(self):
        self.child.terminate()
        self.child.wait()
        self.folder.cleanup()


class Interpreter:
    """TensorFlow Lite on one thread: the picture in, all outputs out."""

    def __init__(self, library, model):
        self.lib = ctypes.CDLL(library)
        for name in ("ModelCreateFromFile", "InterpreterOptionsCreate", "InterpreterCreate", "InterpreterGetInputTensor", "InterpreterGetOutputTensor", "TensorData"):
            getattr(self.lib, "TfLite" + name).restype = ctypes.c_void_p
        self.lib.TfLiteTensorByteSize.restype = ctypes.c_size_t
        loaded = ctypes.c_void_p(self.lib.TfLiteModelCreateFromFile(model.encode()))
        options = ctypes.c_void_p(self.lib.TfLiteInterpreterOptionsCreate())
        self.lib.TfLiteInterpreterOptionsSetNumThreads(options, 1)
        self.it = ctypes.c_void_p(self.lib.TfLiteInterpreterCreate(loaded, options))
        if not self.it or self.lib.TfLiteInterpreterAllocateTensors(self.it) != 0:
            sys.exit("frigate.py: %s refuses %s" % (library, model))
        self.input = ctypes.c_void_p(self.lib.TfLiteInterpreterGetInputTensor(self.it, 0))
        self.outputs = [ctypes.c_void_p(self.lib.TfLiteInterpreterGetOutputTensor(self.it, i)) for i in range(self.lib.TfLiteInterpreterGetOutputTensorCount(self.it))]

    def run(self, picture):
        if self.lib.TfLiteTensorCopyFromBuffer(self.input, picture, ctypes.c_size_t(len(picture))) != 0 or self.lib.TfLiteInterpreterInvoke(self.it) != 0:
            sys.exit("frigate.py: TensorFlow Lite does not run the picture: expected the model's size and uint8")
        for output in self.outputs:
            size = self.lib.TfLiteTensorByteSize(output)
            self.lib.TfLiteTensorCopyToBuffer(output, ctypes.create_string_buffer(size), ctypes.c_size_t(size))


def main():
    if not 3 <= len(sys.argv) <= 5:
        sys.exit("usage: frigate.py SIGHTLINE MODEL [LIBRARY [WIDTHxHEIGHT]]")
    program, model = sys.argv[1:3]
    width, height = (int(side) for side in (sys.argv[4] if len(sys.argv) > 4 else "300x300").split("x"))
    pictures = [random.Random(i).randbytes(width * height * 3) for i in range(8)]
    worker = Worker(program, model, width, height)
    theirs = Interpreter(sys.argv[3], model) if len(sys.argv) > 3 and sys.argv[3] else None
    spent = {"worker": [], "client": [], "TensorFlow Lite": []}

    def measure(run, clocks):
        before = [clock() for _, clock in clocks]
        for i in range(PICTURES):
            run(pictures[i % len(pictures)])
            time.sleep(PAUSE)
        for (name, clock), start in zip(clocks, before):
            spent[name].append((clock() - start) / PICTURES / 1e6)

    for run in [worker.run] + ([theirs.run] if theirs else []):
        for picture in pictures:
            run(picture)
    for _ in range(ROUNDS):
        measure(worker.run, [("worker", worker.spent), ("client", time.process_time_ns)])
        if theirs:
            measure(theirs.run, [("TensorFlow Lite", time.process_time_ns)])
    least = {name: min(values) for name, values in spent.items() if values}
    print("  ".join("%s %.3f" % item for item in least.items()))
    if theirs:
        print("worker and client take %.2f of TensorFlow Lite" % ((least["worker"] + least["client"]) / least["TensorFlow Lite"]))
    worker.end()


main()
