# SPDX-License-Identifier: LGPL-2.1-or-later
"""Texts on objects: predict --text with a reader of half squares, the ready descriptions, and public models where they were fetched."""
import json
import os
import shutil
import subprocess

import harness
from harness import Skip, model, png_of, run, work, write

READY = os.path.join(harness.ROOT, "pipelines", "ready")
WHITE, BLUE = (255, 255, 255), (0, 0, 255)
HALVES = {"A": lambda x, y: x < 8, "B": lambda x, y: x >= 8, "C": lambda x, y: y < 16, "D": lambda x, y: y >= 16}


def reader():
    """The reader with its description beside it."""
    path = shutil.copy(model("letters.onnx"), work("reader.onnx"))
    write("reader.onnx.modelinfo", b"[modelinfo]\nversion=1.0\ngroup-id=reader\n\n[sightline]\nstd=255\ndecoder=text,blank=0,transposed=yes,alphabet=ABCD\n")
    return path


def plate(name, text):
    """A blue picture with the text in the box of one_box.tflite, 16 pixels a letter."""
    def pixel(x, y):
        inside = x < 96 and 16 <= y < 48 and x // 16 < len(text)
        return WHITE if inside and HALVES[text[x // 16]](x % 16, y - 16) else BLUE
    return png_of(name, 192, 64, [b"".join(bytes(pixel(x, y)) for x in range(192)) for y in range(64)])


def objects(*args):
    return [json.loads(line)["objects"] for line in run("predict", "--json", *args).expect(0).out.splitlines()]


def test_predict():
    pictures = [plate("one.png", "ABCD"), plate("two.png", "DABCA")]
    found = objects("--model", model("one_box.tflite"), "--text", reader(), *pictures)
    assert [o["text"]["text"] for (o,) in found] == ["ABCD", "DABCA"], found
    text = found[0][0]["text"]
    assert text["votes"] == 1 and text["format"] is None and [c["character"] for c in text["characters"]] == list("ABCD"), text
    assert all(0.5 < c["confidence"] <= 1 and "read" not in c for c in text["characters"]), text


def test_formats():
    formats = write("x.formats", b"pairs: D8\nfour: A{3}9\nfive: A{5}\n")
    found = objects("--model", model("one_box.tflite"), "--text", reader(), "--text-formats", formats, plate("one.png", "ABCD"), plate("two.png", "DABCA"))
    texts = [o["text"] for (o,) in found]
    assert [(t["text"], t["format"]) for t in texts] == [("ABC8", "four"), ("DABCA", "five")], texts
    assert [c.get("read") for c in texts[0]["characters"]] == [None, None, None, "D"], texts
    table = run("predict", "--model", model("one_box.tflite"), "--text", reader(), "--text-formats", formats, work("one.png")).expect(0).out
    assert "  ABC8  " in table and table.rstrip().endswith("  four"), table
    rows = run("predict", "--format", "csv", "--model", model("one_box.tflite"), "--text", reader(), work("one.png")).expect(0).out
    assert '"text","ABCD"' in rows, rows


def test_refused():
    m, picture = model("one_box.tflite"), plate("one.png", "ABCD")
    run("predict", "--text", reader(), picture).expect(2, "--text %s: expected --model FILE, too, which finds what is read, such as plates" % reader())
    run("predict", "--model", m, "--text-formats", "x", picture).expect(2, "--text-formats x: expected --text MODEL, too, which reads the texts")
    run("predict", "--model", m, "--text", work("none.onnx"), picture).expect(1, "none.onnx: no such file")
    run("predict", "--model", m, "--text", m, picture).expect(1, "--text %s: its decoder is ssd; expected a model that reads characters: state decoder=text in its .modelinfo" % m)
    run("predict", "--model", m, "--text", reader(), "--text-formats", work("none.formats"), picture).expect(1, "expected a file of formats")
    run("predict", "--model", m, "--text", reader(), "--text-formats", write("bad.formats", b"x: b\n"), picture).expect(1, "bad.formats:1: expected A, 9, *, [...]")


def ready(name, **values):
    """What a ready description writes of a picture, or of another source."""
    out = work(name + ".json")
    if os.path.exists(out):
        os.remove(out)
    values.setdefault("source", plate("one.png", "ABCD"))
    values.update(output=out, model=model("one_box.tflite"), reader=reader())
    settings = [word for key, value in values.items() for word in ("--set", "%s=%s" % (key.replace("_", "-"), value))]
    result = run("check", os.path.join(READY, name + ".pipeline"), *settings)
    if 'no element "' in result.out:
        raise Skip("an element is missing")
    result.expect(0)
    result = run("run", os.path.join(READY, name + ".pipeline"), *settings)
    assert result.status == 0 and "end of stream" in result.err, result
    with open(out, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def test_ready():
    found = ready("read-plates", classes="blue", min_votes=1, formats=os.path.join(READY, "plates.formats"))
    assert found[0]["objects"][0]["text"]["text"] == "ABC0" and found[0]["objects"][0]["text"]["format"] == "de" and found[0]["objects"][0]["id"] == 1, found
    assert ready("read-text", most=3)[0]["objects"][0]["text"]["text"] == "ABCD"


def test_votes():
    """A clip of five frames, of which the third is misread: no text before the third reading, the votes are right, and a format corrects them."""
    for i, text in enumerate(("ABCD", "ABCD", "ABCA", "ABCD", "ABCD")):
        plate("plate%d.png" % i, text)
    clip = work("plates.avi")
    line = ["multifilesrc", "location=" + work("plate%d.png"), "caps=image/png,framerate=5/1", "!", "pngdec", "!", "videoconvert", "!", "jpegenc", "quality=95", "!",
            "avimux", "!", "filesink", "location=" + clip]
    subprocess.run(["gst-launch-1.0", "-q", *line], check=True)
    formats = write("votes.formats", b"pairs: D8\nfour: A{3}9\n")
    found = [frame["objects"][0] for frame in ready("read-plates", source=clip, classes="blue", min_votes=3, formats=formats)]
    assert len(found) == 5 and all(o["id"] == 1 for o in found), found
    assert ["text" in o for o in found] == [False, False, True, True, True], found
    last = found[-1]["text"]
    assert (last["text"], last["format"], last["votes"], last["characters"][3]["read"]) == ("ABC8", "four", 5, "D"), last


def test_public():
    """PP-OCRv4, where `sightline get` fetched it, reads a slanted line that GStreamer draws."""
    page = work("page.png")
    drawing = write("page.svg", b'<svg xmlns="http://www.w3.org/2000/svg" width="640" height="320"><rect width="640" height="320" fill="#fff"/>'
                    b'<text x="90" y="120" font-family="Sans" font-size="40" transform="rotate(9)">INVOICE 20714</text></svg>')
    line = ["filesrc", "location=" + drawing, "!", "rsvgdec", "!", "videoconvert", "!", "pngenc", "!", "filesink", "location=" + page]
    if subprocess.run(["gst-launch-1.0", "-q", *line], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode != 0:
        raise Skip("no rsvgdec")
    result = run("predict", "--json", "--model", "zoo:ppocr_find", "--text", "zoo:ppocr_read", page)
    if "sightline get" in result.err:
        raise Skip("the models of the zoo are not fetched")
    found = [o["text"]["text"].replace(" ", "") for o in json.loads(result.expect(0).out)["objects"]]
    assert "INVOICE20714" in found, result


harness.main(globals())
