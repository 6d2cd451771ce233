# SPDX-License-Identifier: LGPL-2.1-or-later
"""sightline quantize: how far the 8-bit model agrees with the float one, what the file holds, and what goes wrong."""
import base64
import hashlib
import html.parser
import json
import os
import shutil
import signal
import struct
import subprocess

import harness
from camera import ALONE, Camera
from flatbuffer import Model
from harness import Skip, Terminal, data, run, work, write
from media import jpeg
from running import PATIENCE, eventually

PICTURES = ("quantize", "pictures")
IMAGENET = ["--mean", "123.675,116.28,103.53", "--std", "58.395,57.12,57.375"]


def folder(name, pictures, source="calibrate", every=1):
    """A folder with the first of the shared pictures, or of every so many."""
    path = work(name)
    os.makedirs(path, exist_ok=True)
    for file in sorted(os.listdir(data(*PICTURES, source)))[::every][:pictures]:
        shutil.copy(data(*PICTURES, source, file), path)
    return path


def small(*more):
    return ["quantize", data("formats", "models", "mobilenet_v2_035.ext.onnx"), *IMAGENET, *more]


def test_classifier():
    pictures = folder("classes", 30, "evaluate", every=8)
    target = work("mobilenetv2.tflite")
    source = data("quantize", "models", "mobilenetv2_float.onnx")
    report = json.loads(run("quantize", source, "-c", data(*PICTURES, "calibrate"), "--pictures", "15", "-e", pictures, "-o", target, "--json",
                            "--threads", "2", "--min-agreement", "0.94", *IMAGENET).expect(0).out)
    assert report["measure"] == "top-1" and report["agreement"] >= 0.94 and report["compared"] == len(os.listdir(pictures)), report
    assert report["calibrated"] == 15 and report["bytes"] == os.path.getsize(target) < report["float_bytes"] / 3, report
    assert len(report["noisiest"]) == 10 and report["noisiest"][0]["snr_db"] <= report["noisiest"][9]["snr_db"], report
    with open(target, "rb") as file:
        check_codes(Model(file.read()))
    # One picture a class; a file's name has the number of its class.
    lines = run("predict", "--json", "--model", target, pictures).expect(0).out.splitlines()
    right = 0
    for line in map(json.loads, lines):
        best = line["labels"][0]
        number = int(os.path.basename(line["source"]).split("class")[1][:4])
        right += best["label_id"] == number
    assert right >= 0.80 * len(lines) and len(lines) == report["compared"], right


def check_codes(model):
    """Layers have int8 weights with a symmetric scale a channel, and int32 biases of input scale times weight scale."""
    layers = 0
    for code, inputs, _ in model.operators:
        operator, version = model.codes[code]
        if operator not in (3, 4) or model.tensors[inputs[1]][0] != 9:
            continue
        layers += 1
        assert version == 3, (operator, version)
        x, weights, bias = (model.tensors[i] for i in inputs)
        assert x[0] == 9 and len(x[2]) == 1 and bias[0] == 2, (x[:2], bias[:2])
        assert weights[4] == (0 if operator == 3 else 3) and set(weights[3]) == {0} and 128 not in weights[5], weights[:5]
        for b, w in zip(bias[2], weights[2]):
            assert abs(b - w * x[2][0]) <= 1e-6 * b, (b, w, x[2])
    assert layers >= 50, layers


def test_detector():
    """Boxes and scores that meet in one tensor stay float; few pictures, so the bar is lower than the documented figures."""
    target = work("yolox.tflite")
    report = json.loads(run("quantize", data("formats", "models", "yolox_nano.onnx"), "-c", data(*PICTURES, "calibrate"), "--pictures", "5", "-e",
                            folder("detect", 6, "evaluate"), "-o", target, "--json", "--threads", "2", "--mean", "0", "--std", "1", "--colour",
                            "BGR", "--fit", "letterbox").expect(0).out)
    assert report["measure"] == "AP50" and report["agreement"] >= 0.85, report
    with open(target, "rb") as file:
        model = Model(file.read())
    assert model.tensors[model.outputs[0]][0] == 0, "results are floats"


def read(path):
    with open(path, "rb") as file:
        return Model(file.read())


def layers(model):
    """Operands of each convolution and fully connected layer, with what a DEQUANTIZE reads instead of what it makes."""
    stored = {outputs[0]: inputs[0] for code, inputs, outputs in model.operators if model.codes[code][0] == 6}
    return [(model.codes[code], [model.tensors[stored.get(i, i)] for i in inputs]) for code, inputs, _ in model.operators
            if model.codes[code][0] in (3, 4, 9)]


def floats(data):
    return struct.unpack("<%df" % (len(data) // 4), data)


def stored_so(name, *more):
    """(layers of the file with few bits, those of the float file, its report)"""
    source, target, plain = data("formats", "models", "mobilenet_v2_035.ext.onnx"), work(name + ".tflite"), work("plain.tflite")
    report = json.loads(run("quantize", source, "-o", target, "--json", *IMAGENET, *more).expect(0).out)
    run("convert", source, "-o", plain, *IMAGENET).expect(0)
    assert report["bytes"] == os.path.getsize(target), report
    return layers(read(target)), layers(read(plain)), report


def test_weights_only():
    """Each weight is within half a step of the float one; versions are those of TensorFlow Lite's hybrid kernels."""
    got, want, report = stored_so("weights", "--weights-only", "-e", folder("few", 6, "evaluate"))
    assert report["agreement"] == 1 and report["compared"] == 6 and report["output_snr_db"] > 20 and report["bytes"] < 0.33 * report["float_bytes"], report
    small = 0
    for (code, (x, weights, bias)), (_, (_, exact, same)) in zip(got, want):
        assert x[0] == 0 and bias[:2] == same[:2] and bias[5] == same[5], (code, x[0])
        if weights[0] == 0:
            small += len(weights[5]) < 4096
            continue
        kind, shape, scales, zeros, axis, codes = weights
        channels = 1 if code[0] == 9 else shape[axis]
        assert kind == 9 and len(scales) == channels and set(zeros) == {0} and code[1] == {3: 5, 4: 6, 9: 5}[code[0]], (code, weights[:5])
        inner = 1 if code[0] == 4 else len(codes) // channels
        for i, (byte, value) in enumerate(zip(codes, floats(exact[5]))):
            scale = scales[i // inner % channels]
            assert abs((byte ^ 128) - 128) <= 127 and abs(((byte ^ 128) - 128) * scale - value) <= scale * 0.5001, (code, i, byte, value)
    assert len(got) == 53 and small == sum(w[1][1][0] == 0 for w in got), small


def test_float16():
    """Each constant is the half that Python makes of the float; nothing has to be learned, or compared."""
    got, want, report = stored_so("halves", "--float16")
    assert report["compared"] == 0 and report["agreement"] is None and report["bytes"] < 0.52 * report["float_bytes"], report
    halves = 0
    for (_, operands), (_, exact) in zip(got, want):
        for one, other in zip(operands[1:], exact[1:]):
            values = floats(other[5])
            if one[0] == 1:
                assert one[5] == struct.pack("<%de" % len(values), *values)
                halves += 1
            else:
                assert one[5] == other[5] and len(values) < 64
    assert halves > 80, halves
    report = json.loads(run(*small("-o", work("halves.tflite"), "--float16", "-e", folder("few", 6, "evaluate"), "--json")).expect(0).out)
    assert report["agreement"] == 1 and report["output_snr_db"] > 40, report


def test_prune_blocks():
    """Four fifths of the fours of weights for inputs that follow each other are zero, in 8 bits, too."""
    target = work("blocks.tflite")
    run(*small("-o", target, "-c", folder("few", 6, "evaluate"), "--prune", "0.8", "--prune-blocks")).expect(0)
    seen = 0
    for code, (_, weights, *_) in layers(read(target)):
        if code[0] == 3 and weights[0] == 9 and weights[1][3] % 4 == 0 and len(weights[5]) >= 4096:
            fours = [weights[5][i:i + 4] for i in range(0, len(weights[5]), 4)]
            assert fours.count(bytes(4)) >= int(0.8 * len(fours)), (code, weights[1], fours.count(bytes(4)) / len(fours))
            seen += 1
    assert seen > 10, seen


def test_prune():
    """The smaller half of the weights of convolutions and of the last layer is zero; the other half, and what the two are compared with, is
    as the model came."""
    got, want, report = stored_so("pruned", "--float16", "--prune", "0.5", "-e", folder("few", 6, "evaluate"))
    assert report["pruned"] == 28 and report["output_snr_db"] < 20, report
    pruned = 0
    for (code, (_, weights, *_)), (_, (_, exact, *_)) in zip(got, want):
        form = "<%de" % (len(weights[5]) // 2)
        values, before = struct.unpack(form, weights[5]), floats(exact[5])
        if code[0] == 4 or len(before) < 1024:
            assert struct.pack(form, *before) == weights[5]
            continue
        middle = sorted(abs(value) for value in before)[len(before) // 2]
        assert abs(values.count(0) - len(before) // 2) <= before.count(0), (code, values.count(0))
        halves = struct.unpack(form, struct.pack(form, *before))
        for one, other, half in zip(values, before, halves):
            assert one == (0 if abs(other) < middle else half) or (one == 0 and abs(other) == middle), (code, one, other)
        pruned += 1
    assert pruned == report["pruned"], (pruned, report)
    run(*small("-o", work("pruned.tflite"), "--float16", "--prune", "1.5")).expect(2, "--prune")
    run(*small("-o", work("pruned.tflite"), "--float16", "--prune-blocks")).expect(2, "--prune-blocks says how", "expected --prune X")
    # What pruning costs is no fault of the noisiest node.
    for how in ["--float16", "-e"], ["-c"]:
        run(*small("-o", work("never.tflite"), *how, folder("few", 6, "evaluate"), "--min-agreement", "1", "--prune", "0.9")).expect(
            1, "the noisiest node of the pruned model is", "a lower share with --prune")
        assert not os.path.exists(work("never.tflite"))


def test_values_without_codes():
    """One weight of the last layer is no number, one of another is infinite: these layers stay float, whatever else gets fewer bits; where
    results are observed, so does what the infinite one spoils."""
    source, target = work("spoilt.tflite"), work("unspoilt.tflite")
    run("convert", data("formats", "models", "mobilenet_v2_035.ext.onnx"), "-o", source, *IMAGENET).expect(0)
    plain = [weights for _, (_, weights, *_) in layers(read(source))]
    large = [i for i, weights in enumerate(plain) if len(weights[5]) > 8000]
    spoilt = {large[0]: float("-inf"), large[-1]: float("nan")}
    with open(source, "rb") as file:
        content = bytearray(file.read())
    for i, value in spoilt.items():
        struct.pack_into("<f", content, content.index(plain[i][5]) + 400, value)
    write("spoilt.tflite", content)
    pictures = folder("spoilt", 10)
    for options, kind in ((("--weights-only",), 9), (("--float16",), 1), (("-c", pictures), 9)):
        run("quantize", source, "-o", target, "-e", pictures, *options).expect(0)
        got = [weights[0] for _, (_, weights, *_) in layers(read(target))]
        assert len(got) == len(plain) and all(got[i] == 0 for i in spoilt) and got.count(kind) > 15, (options, got)


def test_video_and_camera():
    """Frames of a clip, evenly, of which a fifth is kept back; of a camera, as many as are asked for; and what is neither."""
    target = work("frames.tflite")
    clip = data("images", "video1.mp4")
    report = json.loads(run(*small("-c", clip, "--pictures", "8", "-o", target, "--json")).expect(0).out)
    assert (report["calibrated"], report["compared"]) == (8, 2), report
    report = json.loads(run(*small("-c", "test://", "-e", clip, "--pictures", "3", "-o", target, "--json")).expect(0).out)
    assert (report["calibrated"], report["compared"]) == (3, 3), report
    os.remove(target)
    run(*small("-c", write("text.mp4", b"no video"), "-o", target)).expect(1, "text.mp4: ")
    run(*small("-c", "http://127.0.0.1:9/x", "-o", target)).expect(1, "http://127.0.0.1:9/x: ")
    assert not os.path.exists(target)


def test_camera_that_comes_back():
    """While it is away that is told, and nothing else changes."""
    camera = Camera(jpeg([[(20, 20, 250)] * 64] * 48), [2, 3, 10 ** 6])  # the first is asked what it is
    told = run(*small("-c", camera.uri, "--pictures", "3", "-o", work("back.tflite"), "--json"), env=ALONE)
    if "no element that reads" in told.err or "is missing, which" in told.err:
        raise Skip(told.err.strip())
    told.expect(0, "sightline quantize: %s: the camera ended the stream; trying again in " % camera.uri)
    assert json.loads(told.out)["calibrated"] == 3, told


def test_same_bytes():
    sums = set()
    for i in (1, 2):
        target = work("same%d.tflite" % i)
        run(*small("-c", folder("same", 10), "-o", target)).expect(0)
        with open(target, "rb") as file:
            sums.add(hashlib.sha256(file.read()).hexdigest())
    assert len(sums) == 1


def test_only_broken_pictures():
    """Among whole ones they are named; where no other is left, nothing is written."""
    path = folder("some-broken", 6)
    names = ["broken%d.jpg" % i for i in range(20)]
    for i, name in enumerate(names):
        with open(os.path.join(path, name), "wb") as file:
            file.write(b"\xff\xd8\xff\xe0" + bytes(range(i, i + 100)) if i % 2 else b"")
    target = work("broken.tflite")
    result = run(*small("-c", path, "-o", target, "--json")).expect(0, *names)
    assert json.loads(result.out)["calibrated"] + json.loads(result.out)["compared"] == 6 and os.path.exists(target), result
    only = work("only-broken")
    os.makedirs(only, exist_ok=True)
    write("only-broken/a.jpg", b"no picture")
    run(*small("-c", only, "-o", work("never.tflite"))).expect(1, "a.jpg", "none of its pictures could be read")
    assert not os.path.exists(work("never.tflite"))


YOLOX = ["--mean", "0", "--std", "1", "--colour", "BGR", "--fit", "letterbox"]


def test_broken_pictures():
    """Of ten kinds, among six whole ones: each is named once, and none ends the program."""
    path = folder("ten-kinds", 6)
    whole = sorted(os.listdir(path))
    with open(os.path.join(path, whole[0]), "rb") as file:
        good = file.read()
    header = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + struct.pack(">IIBBBBB", 65535, 65535, 8, 6, 0, 0, 0)
    kinds = [(b"", "jpg"), (b"\xff\xd8\xff", "jpg"), (good[:100], "jpg"), (bytes(1000), "png"), (header + b"\0" * 20, "png"),
             (b"BM" + b"\xff" * 60, "bmp"),
             (b"GIF", "gif"), (b"RIFF\xff\xff\xff\xffWEBPVP8 ", "webp"), (b"P6 4 4 255\n", "ppm"), (b"<svg/>", "jpg")]
    names = []
    for i in range(200):
        content, ending = kinds[i % len(kinds)]
        names.append("broken%04d.%s" % (i, ending))
        with open(os.path.join(path, names[-1]), "wb") as file:
            file.write(content)
    done = run(*small("-c", path, "--pictures", "200", "-o", work("broken.tflite"), "--json"), timeout=900).expect(0, *names)
    report = json.loads(done.out)
    assert report["calibrated"] + report["compared"] == 6 and os.path.exists(work("broken.tflite")), report
    lines = [line for line in done.err.splitlines() if line.startswith("sightline quantize: ")]
    assert len(lines) == 200 and all(sum(name in line for line in lines) == 1 for name in names), (len(lines), lines[:5])


def test_kept_layers():
    """A detector whose boxes and scores share a scale finds nothing, until the layers that spoil it stay float."""
    target = work("collapsed.tflite")
    report = json.loads(run("quantize", data("formats", "models", "yolox_nano.onnx"), "-c", folder("collapse", 3), "-o", target, *YOLOX,
                            "--float-head", "none", "--method", "minmax", "--min-agreement", "0.5", "--json", "-e",
                            folder("collapse-evaluate", 4, "evaluate")).expect(0).out)
    assert report["agreement"] >= 0.5 and report["compared"] == 4 and 20 < len(report["kept"]) <= 64, report
    types = [tensor[0] for tensor in read(target).tensors]
    assert report["bytes"] == os.path.getsize(target) and 9 in types and report["quantized_nodes"] > 100, report


def test_too_little_agreement():
    """Where no layer can be kept float, because only weights have fewer bits, nothing is written."""
    target = work("too-little.tflite")
    run("quantize", data("formats", "models", "yolox_nano.onnx"), "-o", target, *YOLOX, "--weights-only", "--min-agreement", "1", "-e",
        folder("too-little", 10)).expect(1, "expected at least 1", "the noisiest node is")
    assert not os.path.exists(target)


def test_types_and_scales():
    """uint8 values around 128 and one scale a layer; or int8 with one scale a layer; agreement is that of int8."""
    for options, kind, zero in (["--activations", "uint8"], 3, 128), (["--weights", "per-tensor"], 9, 0):
        target = work("types.tflite")
        report = json.loads(run(*small("-c", folder("types", 10), "-o", target, "--json", *options)).expect(0).out)
        assert report["output_snr_db"] > 5, report
        found = [(x, weights, bias) for _, (x, weights, bias) in layers(read(target)) if weights[0] == kind]
        assert len(found) >= 50, len(found)
        for x, weights, bias in found:
            assert x[0] == kind and len(weights[2]) == 1 and weights[3] == [zero] and bias[0] == 2, (x[:2], weights[:4])
            assert abs(bias[2][0] - weights[2][0] * x[2][0]) <= 1e-6 * bias[2][0]
    run(*small("-c", folder("types", 10), "-o", target, "--activations", "uint8", "--weights", "per-channel")).expect(
        2, "--weights per-tensor")
    run(*small("-c", folder("types", 10), "-o", target, "--activations", "int16")).expect(2, "--activations")


class Page(html.parser.HTMLParser):
    """What a browser would do: elements, and addresses that it would load."""

    def __init__(self, text):
        super().__init__()
        self.open, self.tags, self.loaded, self.text = [], [], [], ""
        self.feed(text)
        assert self.open == [], self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.loaded += [value for name, value in attrs if name in ("src", "href", "srcset", "action", "data")]
        if tag not in ("meta", "img"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag

    def handle_data(self, data):
        self.text += data


def test_page():
    """One file that loads nothing but the pictures in it; names in it are text, whatever they look like."""
    target, page = work("<script>alert(1)&.tflite"), work("page.html")
    path = folder("<img src=x>", 6)
    os.rename(os.path.join(path, sorted(os.listdir(path))[0]), os.path.join(path, "<b onload='x'>&quot;\x1b.jpg"))
    run(*small("-c", path, "-e", path, "-o", target, "--html", page)).expect(0)
    with open(page, encoding="utf-8") as file:
        text = file.read()
    got = Page(text)
    images = [value for value in got.loaded if value.startswith("data:image/jpeg;base64,")]
    assert images == got.loaded and len(images) == 12, [value[:40] for value in got.loaded]
    assert all(base64.b64decode(value.split(",")[1])[:3] == b"\xff\xd8\xff" for value in images)
    assert "script" not in got.tags and "b" not in got.tags and got.tags.count("img") == 12, got.tags
    assert "<script>alert(1)" in got.text and "default-src 'none'" in text and got.text.count(" dB") == 1, got.text
    assert "float: " in got.text and "quantised: " in got.text and "\x1b" not in text
    assert "learned from" in got.text and "Pictures" in got.text
    # No picture was compared, or learned from: the page has the figures alone.
    run(*small("-o", target, "--weights-only", "--html", page)).expect(0)
    with open(page, encoding="utf-8") as file:
        got = Page(file.read())
    assert got.loaded == [] and "learned from" not in got.text and "Pictures" not in got.text, got.text


def shown(*options):
    """The page of a run in a folder for temporary files of its own, which is empty again at the end."""
    temporary, page = work("temporary"), work("shown.html")
    os.makedirs(temporary, exist_ok=True)
    run(*options, "-o", work("shown.tflite"), "--html", page, env=dict(os.environ, TMPDIR=temporary)).expect(0)
    assert os.listdir(temporary) == []
    with open(page, encoding="utf-8") as file:
        return Page(file.read())


def animation(path, side, frames):
    """A GIF, its codes not packed: CLEAR before every second pixel."""
    out = b"GIF89a" + struct.pack("<HHBBB", side, side, 0xf0, 0, 0) + bytes([0, 0, 0, 255, 255, 255])
    for frame in range(frames):
        codes = [code for i in range(side * side) for code in ([4] if i % 2 == 0 else []) + [(i // side + frame) & 1]] + [5]
        bits = "".join(format(code, "03b")[::-1] for code in codes)
        packed = bytes(int(bits[i:i + 8][::-1], 2) for i in range(0, len(bits), 8))
        out += b"\x21\xf9\x04\x04\x05\0\0\0\x2c" + struct.pack("<HHHHB", 0, 0, side, side, 0) + b"\x02"
        out += b"".join(bytes([len(packed[i:i + 255])]) + packed[i:i + 255] for i in range(0, len(packed), 255)) + b"\0"
    with open(path, "wb") as file:
        file.write(out + b";")


def test_page_of_frames():
    """Six frames of a clip; the first frame of an animation; and of what no decoder takes, why there is no picture."""
    got = shown(*small("-c", data("images", "video1.mp4"), "--pictures", "30"))
    assert len(got.loaded) == 12 and "frame-6.png" in got.text and "cannot be shown" not in got.text, got.text
    path = folder("moving", 1)
    animation(os.path.join(path, "animation.gif"), 16, 200)
    got = shown(*small("-e", path, "--weights-only"))
    assert len(got.loaded) == 4 and "float: animation.gif" in got.text, got.text
    got = shown("quantize", data("formats", "models", "shufflenet_v2_x05.op9.onnx"), "-e", path, "--float16", *IMAGENET, "--decoder",
                "segmentation")
    assert got.loaded == [] and got.text.count("cannot be shown: sightline predict: ") == 2, got.text
    assert "animation.gif cannot be shown" in got.text and "decoder segmentation: expected one tensor" in got.text, got.text


def processes(word):
    """Command lines that have @word in them."""
    found = []
    for number in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open("/proc/%s/cmdline" % number, "rb") as file:
                line = file.read().decode("utf-8", "replace").split("\0")
        except OSError:
            continue
        if any(word in one for one in line):
            found.append(line)
    return found


def test_interrupted_page():
    """While a picture is drawn: the process that draws ends, and what it was given goes away. It was started under the same limits."""
    temporary = work("page-temporary")
    os.makedirs(temporary)
    for number in signal.SIGTERM, signal.SIGINT:
        process = subprocess.Popen([harness.PROGRAM, *small("-e", folder("drawn", 40), "--weights-only", "--tensor-limit", "3000", "-o",
                                                            work("drawn.tflite"), "--html", work("drawn.html"))], stdout=subprocess.DEVNULL,
                                   env=dict(os.environ, TMPDIR=temporary))
        drawing = []
        while not drawing:
            assert process.poll() is None, process.returncode
            drawing = [line for line in processes(temporary) if line[1] == "predict"]
        process.send_signal(number)
        assert process.wait(PATIENCE) == 130 and os.listdir(temporary) == [], os.listdir(temporary)
        eventually(lambda: not processes(temporary))
        assert not os.path.exists(work("drawn.html"))
        line = drawing[0]
        assert line[line.index("--frames") + 1] == "1" and line[line.index("--tensor-limit") + 1] == "3000", line


def test_refused_pages():
    """Before anything is learned; a model is not overwritten, by whatever name the page has."""
    target, source, pictures = work("page.tflite"), work("source.onnx"), folder("pages", 2)
    picture = os.path.join(pictures, sorted(os.listdir(pictures))[0])
    labels = write("page.txt", b"one\n")
    os.mkfifo(work("pipe.html"))
    shutil.copy(data("formats", "models", "cntk_mnist.onnx"), source)
    os.symlink(harness.WORK.name, work("linked"))
    os.link(source, work("hard.html"))
    for page, message in ((target, "--html and --output are one file"), (work("./page.tflite"), "--html and --output are one file"),
                          (work("linked/page.tflite"), "--html and --output are one file"), (source, "--html and MODEL are one file"),
                          (work("linked/hard.html"), "--html and MODEL are one file"),
                          (labels, "--html and --labels are one file"), (picture, "is a file of another kind, which would be lost"),
                          (work("pipe.html"), "is a device or a pipe"), ("/dev/stdout", "is a device or a pipe"),
                          (work("no/such/page.html"), "there is no such folder"), (harness.WORK.name, "is a folder")):
        before = [os.path.getsize(one) for one in (source, picture, labels)]
        run("quantize", source, "--weights-only", "-o", target, "-e", pictures, "--labels", labels, "--html", page).expect(2, message)
        assert [os.path.getsize(one) for one in (source, picture, labels)] == before and not os.path.exists(target), page
    run("quantize", source, "-c", picture, "-o", target, "--html", picture).expect(2, "is a file of another kind, which would be lost")
    run(*small("--weights-only", "-o", target, "-e", pictures, "--html", os.path.join(pictures, "page.html"))).expect(0)
    assert os.path.exists(os.path.join(pictures, "page.html")), "a page beside the pictures is none of them"


def test_model_is_kept():
    """What is written never takes the place of what is read, by whatever name."""
    source, same, hard = harness.model("add.tflite"), work("same.tflite"), work("hard.tflite")
    shutil.copy(source, same)
    os.link(same, hard)
    os.mkfifo(work("pipe.tflite"))
    for command, *more in ["quantize", "--weights-only"], ["convert"]:
        for target, message in ((same, "--output and MODEL are one file"), (hard, "--output and MODEL are one file"),
                                (work("./same.tflite"), "--output and MODEL are one file"), (work("pipe.tflite"), "is a device or a pipe")):
            run(command, same, *more, "-o", target).expect(2, message)
            assert open(same, "rb").read() == open(source, "rb").read() and not os.path.isfile(work("pipe.tflite")), target
        run(command, source, *more, "-o", same, "--labels", same).expect(2, "--output and --labels are one file")


def test_equalize():
    """Never worse than without, by what the program measures itself."""
    reports = []
    for more in [], ["--equalize"]:
        out = run("quantize", data("formats", "models", "shufflenet_v2_x05.op9.onnx"), "-c", folder("equal", 10), "-o",
                  work("equal.tflite"), "--json", *IMAGENET, *more).expect(0).out
        reports.append(json.loads(out))
    plain, better = reports
    assert plain["equalized"] == 0 and better["agreement"] >= plain["agreement"], reports
    assert better["agreement"] > plain["agreement"] or better["output_snr_db"] >= plain["output_snr_db"], reports


def test_interrupt():
    target = work("interrupted.tflite")
    terminal = Terminal(*small("-c", folder("interrupt", 50), "-o", target))
    terminal.wait_for(" pictures  ")
    terminal.child.send_signal(signal.SIGINT)
    assert terminal.end()[0] == 130, terminal.told
    assert [name for name in os.listdir(harness.WORK.name) if name.startswith("interrupted")] == []


def test_refusals():
    path, target = folder("refused", 5), work("refused.tflite")
    run("quantize").expect(2, "expected one MODEL")
    run(*small("-o", target)).expect(2, "--calibrate SOURCE is required")
    run(*small("-c", path)).expect(2, "--output FILE is required")
    run(*small("-o", target, "--float16", "--weights-only")).expect(2, "expected one of --weights-only and --float16")
    run("quantize", harness.model("float_range.tflite"), "-o", target, "--weights-only", "--mean", "0", "--std", "1").expect(
        1, "no node of it can have such weights")
    run(*small("-c", path, "-o", work("no/such/x.tflite"))).expect(2, "no such folder")
    run(*small("-c", path, "-o", target, "--method", "entropy")).expect(2, "--method")
    run(*small("-c", path, "-o", target, "--percentile", "1.5")).expect(2, "--percentile")
    run("quantize", data("formats", "models", "mobilenet_v2_035.ext.onnx"), "-c", path, "-o", target).expect(1, "give mean and std")
    run("quantize", harness.model("add.tflite"), "-c", path, "-o", target).expect(1, "expected one picture of float32")
    run(*small("-c", work("nowhere"), "-o", target)).expect(1, "nowhere")
    run("quantize", data("models", "mobilenet_v2_quant.onnx"), "-c", path, "-o", target, *IMAGENET).expect(
        1, "mobilenet_v2_quant.onnx: its", "layers have weights of 8 bits: it is quantised already", "expected the float model")
    assert not os.path.exists(target)


harness.main(globals())
