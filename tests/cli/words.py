# SPDX-License-Identifier: LGPL-2.1-or-later
"""Classes as embeddings: of a model that gives the colour of a picture; and as sentences, of made models, against torch."""
import json
import math
import os
import shutil
import signal
import struct
import subprocess

import blackbox
import harness
import protobuf
from harness import model, png, png_of, run, work, write
from running import Running, eventually

WITHOUT_TORCH = 77  # the status of words_models.py
COLOURS = ((1, 0, 0), (0, 1, 0), (0.5, 0.5, 0.5))


def embeddings(name, rows, kind="f"):
    head = "{'descr': '<f%d', 'fortran_order': False, 'shape': (%d, %d), }" % (struct.calcsize(kind), len(rows), len(rows[0]))
    head += " " * (-(len(head) + 11) % 64) + "\n"
    numbers = [number for row in rows for number in row]
    return write(name, b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + struct.pack("<%d%s" % (len(numbers), kind), *numbers))


def classes(*options):
    picture = png("red.png", 8, 8, (255, 0, 0))
    told = json.loads(run("predict", "--json", "--model", model("brightest_channel.tflite"), "--top", "5", *options, picture).expect(0).out.splitlines()[0])
    return {c["label"]: c["confidence"] for c in told["labels"]}


def test_embeddings():
    """Cosines of the picture's colour and each row, by softmax; a negative class takes its share and is not told."""
    cosines = [c[0] / math.sqrt(sum(x * x for x in c)) for c in COLOURS]
    shares = [math.exp(3 * c) for c in cosines]
    for kind in "fe":
        path = embeddings(kind + ".npy", COLOURS, kind)
        got = classes("--embeddings", path, "--prompts", "red;green;gray", "--decoder", "words,scale=3")
        for name, share in zip(("red", "green", "gray"), shares):
            assert abs(got[name] - share / sum(shares)) < 2e-3, (got, shares)
        fewer = classes("--embeddings", path, "--prompts", "!red;green;gray", "--decoder", "words,scale=3")
        assert fewer == {k: v for k, v in got.items() if k != "red"}, (fewer, got)


def test_alone():
    """Prompts alone name the classes that a model has, as a file of labels does."""
    labels = write("three.txt", b"red\ngreen\nblue\n")
    wanted = classes("--labels", labels, "--decoder", "labels", "--threshold", "0")
    assert set(wanted) == {"red", "green", "blue"} and classes("--prompts", "red;green;blue", "--decoder", "labels", "--threshold", "0") == wanted, wanted


def test_refused():
    path, m = embeddings("three.npy", COLOURS), model("brightest_channel.tflite")
    picture = png("red.png", 8, 8, (255, 0, 0))
    run("predict", "--model", m, "--embeddings", path, "--prompts", "red;green", picture).expect(1, "three.npy has 3 rows, and prompts=red;green names 2 classes")
    run("predict", "--model", m, "--embeddings", embeddings("four.npy", [(1, 2, 3, 4)]), picture).expect(1, "a vector of 4 numbers, as many as the embeddings")
    run("predict", "--model", m, "--prompts", "red;green", "--decoder", "labels", picture).expect(1, "labels prompts: 2 names for the 3 classes of ")
    run("predict", "--model", m, "--prompts", "red;green", "--decoder", "vector", picture).expect(
        1, "prompts alone name the classes of a model that has them inside, and ", " gives none (decoder vector); expected text-model=FILE and tokenizer=FILE with prompts, or ")
    run("predict", "--model", detector("two.onnx", b"\x08\x02"), "--prompts", "red;green", picture).expect(
        1, "prompts alone name the classes of a model that has them inside, and this one has 2 inputs; expected text-model=FILE and tokenizer=FILE with prompts, or ")
    run("serve", m, "--embeddings", path, "--location", "mqtt://127.0.0.1:1/x").expect(
        1, "its embedding is compared with those of prompts, which contracts at a broker do not have; expected a model that takes embeddings as an input, or")


def detector(name="e.onnx", classes=protobuf.message(2, b"classes")):
    """Products of the mean colour of "x" and each row of "e", float32[1,classes,3]."""
    one, three, two = b"\x08\x01", b"\x08\x03", b"\x08\x02"
    nodes = (protobuf.node(b"GlobalAveragePool", (b"x",), b"means"), protobuf.node(b"Flatten", (b"means",), b"row"), protobuf.node(b"Transpose", (b"row",), b"column"),
             protobuf.node(b"MatMul", (b"e", b"column"), b"y"))
    inputs = (protobuf.edge(b"x", (one, three, two, two)), protobuf.edge(b"e", (one, classes, three)))
    return write(name, protobuf.model(nodes, inputs, (protobuf.edge(b"y", (one, classes, one)),)))


def test_commands():
    """Each command that loads a model takes prompts: the input of embeddings is a constant there."""
    path, rows = detector(), ((1, 2, 3), (-1, 0.5, 2))
    words = ["--embeddings", embeddings("two.npy", rows), "--prompts", "cat;dog"]
    means = (0.5, -1, 2)
    pixels = struct.pack("<12f", *(m for m in means for _ in range(4)))
    products = [sum(a * b for a, b in zip(row, means)) for row in rows]
    told = json.loads(run("inspect", path, "--json", *words).expect(0).out)
    assert [i["name"] for i in told["inputs"]] == ["x"] and told["outputs"][0]["shape"] == [1, 2, 1], told
    run("infer", "-m", path, "-i", write("x.bin", pixels), "-o", work("y"), *words).expect(0)
    with open(work("y.0.bin"), "rb") as file:
        got = struct.unpack("<2f", file.read())
    assert max(abs(a - b) for a, b in zip(got, products)) < 1e-6, (got, products)
    box = blackbox.write(work("words.slbox"), path, ["float32[1,3,2,2]"], ["float32[1,2,1]"], [blackbox.inference(1, [pixels], [struct.pack("<2f", *got)])])
    assert run("replay", box, *words).expect(0).out.endswith("1 inferences: 1 equal, 0 different, 0 had not finished\n")
    told = json.loads(run("bench", "model", path, "--json", "--runs", "2", *words).expect(0).out)
    assert told["median_ms"] > 0, told
    refused = "--prompts and what belongs to them fix inputs, which others do not have; they go without --backends, --batch and --compare"
    for others in (["--backends"], ["--batch", "2"], ["--compare"], ["--compare-onnx", path]):
        run("bench", "model", path, *words, *others).expect(2, refused)


def test_eval():
    """Pictures of folders that classes are named after."""
    for name, colour in (("red", (255, 0, 0)), ("green", (0, 255, 0))):
        os.makedirs(work(os.path.join("set", name)))
        os.rename(png("p.png", 8, 8, colour), work(os.path.join("set", name, "p.png")))
    words = ["--embeddings", embeddings("both.npy", COLOURS), "--decoder", "words,scale=5"]
    for prompts, right in (("red;green;gray", 1), ("green;red;gray", 0)):
        told = json.loads(run("eval", model("brightest_channel.tflite"), "--dataset", work("set"), "--json", "--prompts", prompts, *words).expect(0).out)
        assert told["models"][0]["top1"] == right, told


def boxes_of(told):
    return [(o["detection"]["label"], o["detection"]["confidence"], [o["detection"]["bounding_box"][k] for k in ("x_min", "y_min", "x_max", "y_max")]) for o in told["objects"]]


def compare_boxes(name, wanted, got):
    """The best of @wanted are @got, in any order; boxes end at the edges of the picture."""
    wanted = sorted(wanted, key=lambda w: -w[1])[:len(got)]
    assert len(got) == 100 or len(got) == len(wanted), (name, len(got))
    for label, confidence, box in wanted:
        box = [min(max(n, 0), 1) for n in box]
        near = min(max(abs(confidence - c), *(abs(a - b) for a, b in zip(box, other))) for named, c, other in got if named == label)
        assert near < 1e-4, (name, label, confidence, box, near)


def compare_search(folder, case, classes, picture):
    """The same picture beside a clip: scores of sightline search are torch's cosines, to within the 8 bits of what is kept."""
    clips, stem = work("clips of " + case["name"]), "cam-2026-11-20T10-00-00.000Z-in"
    os.mkdir(clips)
    shutil.copy(picture, os.path.join(clips, stem + ".jpg"))
    write(os.path.join(clips, stem + ".mkv"), b"a clip")
    run("search", "--index", clips, "--model", os.path.join(folder, case["model"]), "--mean", "127.5", "--std", "127.5", "--text-model", os.path.join(folder, case["text"]),
        "--tokenizer", os.path.join(folder, "tokenizer.json")).expect(0)
    for words, cosine in zip(classes, case["cosines"]):
        found = json.loads(run("search", "--json", words, clips).expect(0).out)
        assert found["id"] == stem and abs(found["score"] - cosine) < 0.01, (case["name"], words, found, cosine)


def test_architectures():
    """Made models of each architecture: confidences and boxes of torch, with text models of open length, or inside."""
    folder, script = work("made"), os.path.join(harness.ROOT, "tests", "support", "words_models.py")
    os.mkdir(folder)
    for python in filter(shutil.which, ("python3", "/usr/bin/python3")):
        made = subprocess.run([python, script, folder], capture_output=True, text=True)
        if made.returncode != WITHOUT_TORCH:
            break
    else:
        raise harness.Skip("no python3 here has torch and onnx")
    assert made.returncode == 0, made.stderr
    with open(os.path.join(folder, "expected.json")) as file:
        expected = json.load(file)
    with open(os.path.join(folder, "picture.bin"), "rb") as file:
        planes = file.read()
    side = math.isqrt(len(planes) // 3)
    picture = png_of("made.png", side, side, [b"".join(planes[y * side + x::side * side] for x in range(side)) for y in range(side)])
    for case in expected["cases"]:
        if "cosines" in case:
            compare_search(folder, case, expected["classes"], picture)
        text = ["--text-model", os.path.join(folder, case["text"])] if "text" in case else []
        text += [] if "alone" in case else ["--tokenizer", os.path.join(folder, "tokenizer.json")]
        told = json.loads(run("predict", "--json", "--model", os.path.join(folder, case["model"]), *text,
                              "--prompts", ";".join(expected["classes"]), "--top", "100", "--threshold", "0.01", *case["options"], picture).expect(0).out.splitlines()[0])
        if "labels" in case:
            got = {c["label"]: c["confidence"] for c in told["labels"]}
            assert max(abs(got[k] - v) for k, v in case["labels"].items()) < 1e-4, (case, got)
        else:
            compare_boxes(case["name"], case["objects"], boxes_of(told))


def test_reload():
    """Other classes of the same model: the pipeline goes on, and every frame is answered by the classes before or after."""
    rows, lines = embeddings("rows.npy", ((0, 0, 1), (1, 0, 0))), work("classes.jsonl")
    launch = "videotestsrc is-live=true pattern=blue ! video/x-raw,format=RGB,width=32,height=24,framerate=50/1 ! slpredict name=look"

    def state(prompts):
        settings = "model=%s\nembeddings=%s\ndecoder=words,scale=5\nprompts=%s\n" % (model("brightest_channel.tflite"), rows, prompts)
        text = "[pipeline]\nlaunch=%s ! application/x-json ! slpublish location=%s\n[element look]\n%s" % (launch, lines, settings)
        return write("classes.pipeline", text.encode())

    running = Running(state("blue;red"))
    running.wait_for("running")
    state("azul;!red")
    running.child.send_signal(signal.SIGHUP)
    assert "the same pipeline; it goes on, with new prompts" in running.wait_for("reloaded")["message"]
    running.wait_for("model-changed")

    def frames():
        with open(lines, encoding="utf-8") as file:
            return [json.loads(line) for line in file if line.endswith("\n")]

    eventually(lambda: [f["labels"][0]["label"] for f in frames()[-5:]] == ["azul"] * 5)
    running.stop()
    told = frames()
    names = [frame["labels"][0]["label"] for frame in told]
    at = names.index("azul")
    assert names == ["blue"] * at + ["azul"] * (len(names) - at), names
    assert [frame["frame"] for frame in told] == list(range(len(told))) and len([e for e in running.events() if e["event"] == "running"]) == 1


harness.main(globals())
