#!/usr/bin/env python3
# SPDX-License-Identifier: LGPL-2.1-or-later
"""CPU time that elements add to a pipeline, a frame.

    elements.py [RUNS [MODEL [MEAN STD]]]      inside `meson devenv`, so that GStreamer finds the plugin

Each chain runs over raw 1080p NV12 frames for a short and a long while, in turn with the others; the slope between the two is
its CPU time a frame without start-up, and what reading the frames costs is subtracted. Minimum and median of RUNS.
With a MODEL, chains that run it, too; the model's own time is in them (`sightline bench model MODEL` says how long it is). Of a float model
that states no range, MEAN and STD are said to the elements. ONNX files with planes (NCHW) also run in GStreamer's own onnxinference, where
it is installed, with its default settings and with all optimisations of ONNX Runtime.
"""
import os
import statistics
import subprocess
import sys
import tempfile

WIDTH, HEIGHT = 1920, 1080
SHORT, LONG = 100, 500
TENSOR = "other/tensors,format=static,num_tensors=1,dimensions=(string)3:224:224:1,types=(string)%s"
CHAINS = {
    "reading": [],
    "slnormalize float32": ["slnormalize", "mean=127.5", "std=127.5", "!", TENSOR % "float32"],
    "slnormalize uint8": ["slnormalize", "!", TENSOR % "uint8"],
    "slresize 640x360": ["slresize", "!", "video/x-raw,width=640,height=360"],
    "videoscale ! videoconvert, to 224x224 RGB": ["videoscale", "!", "video/x-raw,width=224,height=224", "!", "videoconvert", "!",
                                                  "video/x-raw,format=RGB"],
    "videoconvert ! videoscale, to 224x224 RGB": ["videoconvert", "!", "video/x-raw,format=RGB", "!", "videoscale", "!",
                                                  "video/x-raw,width=224,height=224"],
}
MODEL_CHAINS = {
    "slnormalize ! slinfer": ["slnormalize", "!", "slinfer", "model=MODEL"],
    "slnormalize ! queue ! slinfer": ["slnormalize", "!", "queue", "max-size-buffers=1", "!", "slinfer", "model=MODEL"],
    "slpredict": ["slpredict", "model=MODEL", "!", "video/x-raw"],
    "slpredict ! sloverlay": ["slpredict", "model=MODEL", "!", "sloverlay"],
    "queue ! slnormalize ! ... ! sloverlay": ["queue", "max-size-buffers=1", "!", "slnormalize", "!", "slinfer", "model=MODEL", "!",
                                               "slpostprocess", "!", "sloverlay"],
    "slpredict to JSON": ["slpredict", "model=MODEL", "!", "application/x-json"],
}


# GStreamer's way; it adds an offset and divides by a scale.
ONNX_CHAINS = {
    "videoconvertscale ! onnxinference%s" % note: ["videoconvertscale", "!", "onnxinference", "model-file=MODEL", "input-image-format=chw"] + words
    for note, words in (("", []), (", optimised", ["optimization-level=enable-all"]))
}


def with_model(chain, model, mean, std):
    """@chain with the file, and with the range where one is given."""
    words = []
    for word in chain:
        words.append(word.replace("MODEL", model))
        if mean is not None and word == "model=MODEL":
            words += ["mean=" + mean, "std=" + std]
        if mean is not None and word == "model-file=MODEL":
            words += ["input-tensor-offset=%g" % -float(mean), "input-tensor-scale=" + std]
    return words


def fields(data, wanted):
    """The bytes of the fields @wanted of a protobuf message, which are of variable length."""
    at = 0

    def number():
        nonlocal at
        value = shift = 0
        while True:
            byte = data[at]
            at, value, shift = at + 1, value | (byte & 127) << shift, shift + 7
            if byte < 128:
                return value

    while at < len(data):
        tag = number()
        if tag & 7 == 0:
            number()
        else:
            size = {1: 8, 5: 4}.get(tag & 7) or number()
            if tag & 7 == 2 and tag >> 3 == wanted:
                yield data[at:at + size]
            at += size


def entry(number, content):
    """A field of less than 128 bytes."""
    return bytes((number << 3 | 2, len(content))) + content


def with_ids(model, copy):
    """Writes @copy, the ONNX file with its outputs' names as the ids under which onnxinference puts them onto frames: it takes no file
    without (ModelProto.metadata_props of ModelProto.graph.output.name)."""
    with open(model, "rb") as file:
        data = file.read()
    for graph in fields(data, 7):
        for output in fields(graph, 12):
            for name in fields(output, 1):
                data += entry(14, entry(1, name) + entry(2, name))
    with open(copy, "wb") as file:
        file.write(data)


def exists(element):
    return subprocess.run(["gst-inspect-1.0", "--exists", "--atleast-version=0.0", element], check=False).returncode == 0


def cpu_seconds(frame, chain, frames):
    command = ["gst-launch-1.0", "-q", "multifilesrc", "location=" + frame, "loop=true", "num-buffers=%d" % frames, "!", "rawvideoparse",
               "format=nv12", "width=%d" % WIDTH, "height=%d" % HEIGHT] + (["!"] + chain if chain else []) + ["!", "fakesink"]
    # Without these, glibc returns every large frame to the kernel and the figures are those of page faults.
    env = dict(os.environ, MALLOC_MMAP_THRESHOLD_="1073741824", MALLOC_TRIM_THRESHOLD_="4294967296")
    child = subprocess.Popen(command, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    if status != 0:
        sys.exit("elements: the pipeline failed: " + " ".join(command))
    return usage.ru_utime + usage.ru_stime


def find_chains(work):
    """What can run here, by name; files that it needs lie in @work."""
    wanted = dict(CHAINS)
    if len(sys.argv) > 2:
        model = os.path.abspath(sys.argv[2])
        mean, std = sys.argv[3:5] if len(sys.argv) > 4 else (None, None)
        wanted.update({name: with_model(chain, model, mean, std) for name, chain in MODEL_CHAINS.items()})
        if model.endswith(".onnx") and exists("onnxinference"):
            copy = os.path.join(work, "ids.onnx")
            with_ids(model, copy)
            wanted.update({name: with_model(chain, copy, mean, std) for name, chain in ONNX_CHAINS.items()})
    return {name: chain for name, chain in wanted.items() if not chain or exists(chain[0])}


def main():
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    with tempfile.TemporaryDirectory() as work:
        chains = find_chains(work)
        slopes = {name: [] for name in chains}
        frame = os.path.join(work, "frame.nv12")
        subprocess.run(["gst-launch-1.0", "-q", "videotestsrc", "num-buffers=1", "!",
                        "video/x-raw,format=NV12,width=%d,height=%d" % (WIDTH, HEIGHT), "!", "filesink", "location=" + frame],
                       check=True, stdin=subprocess.DEVNULL)
        for _ in range(runs):
            for name, chain in chains.items():
                spent = cpu_seconds(frame, chain, LONG) - cpu_seconds(frame, chain, SHORT)
                slopes[name].append(spent / (LONG - SHORT) * 1e3)
    reading = slopes.pop("reading")
    print("1080p NV12, CPU ms a frame beyond reading it (%.3f), %d runs" % (statistics.median(reading), runs))
    for name, values in slopes.items():
        added = [value - base for value, base in zip(values, reading)]
        print("%-44s min %6.3f  median %6.3f" % (name, min(added), statistics.median(added)))


main()
