# SPDX-License-Identifier: LGPL-2.1-or-later
"""sightline card: what a model file says of itself, its licence, its costs and what was understood of it."""
import html.parser
import json
import os
import sys
import unicodedata

sys.path.insert(0, os.path.join(os.environ.get("SIGHTLINE_SOURCE_ROOT", "."), "tests", "support"))
import harness
import protobuf
import schema
from harness import main, model, run, work, write
from protobuf import message
from zoo_server import Server, Zoo

NASTY = "<script>alert(1)</script>\x1b[2J\u202e&\"'"

with open(os.path.join(harness.ROOT, "docs", "card.schema.json"), encoding="utf-8") as opened:
    SCHEMA = json.load(opened)


def onnx(name, statements=(), producer=b"", version=b"", doc=b""):
    """A picture of 8x8 through Relu, in a file that says of itself what is given."""
    sizes = (b"\x08\x01", b"\x08\x03", b"\x08\x08", b"\x08\x08")
    said = b"".join(message(14, message(1, key) + message(2, value)) for key, value in statements)
    made = protobuf.model((protobuf.node(b"Relu", (b"x",), b"y"),), (protobuf.edge(b"x", sizes),), (protobuf.edge(b"y", sizes),))
    return write(name, made + message(2, producer) + message(3, version) + message(6, doc) + said)


def card(*args, status=0, **more):
    """The object that is printed, which the schema allows."""
    told = json.loads(run("card", "--json", *args, **more).out)
    assert schema.problems(told, SCHEMA, SCHEMA) == [], schema.problems(told, SCHEMA, SCHEMA)
    return told


def test_text():
    out = run("card", model("brightest_channel.tflite")).expect(0).out
    for text in ("brightest_channel.tflite", "tflite", "licence", "not stated; ask", "multiply-adds a frame", "parameters", "understood", "operators"):
        assert text in out, (text, out)


def test_json():
    """Figures are those of inspect, which the card contains."""
    path = model("brightest_channel.tflite")
    told, inspected = card(path), json.loads(run("inspect", "--json", path).out)
    assert told["report"] == inspected and told["size"] == os.path.getsize(path)
    assert told["understood"]["operators"] and told["understood"]["picture"] and told["licence"] is None and told["refused"] is None


def test_onnx_says():
    """Producer, opset, description and properties, the licence among them."""
    path = onnx("says.onnx", [(b"license", b"MIT"), (b"author", b"nobody")], b"pytorch", b"2.1", b"a test")
    told = card(path)
    assert told["licence"] == "MIT"
    assert told["statements"] == [{"name": key, "value": value} for key, value in
                                  (("producer", "pytorch 2.1"), ("opset", "13"), ("description", "a test"), ("author", "nobody"), ("license", "MIT"))]
    out = run("card", path).expect(0).out
    assert "MIT, as the file states it" in out and "pytorch 2.1" in out, out


def test_not_understood():
    """What is missing is named, with what to do."""
    path = onnx("open.onnx")
    told = card(path)
    assert told["understood"] == {"operators": True, "picture": True, "range": False, "fit": False, "decoder": False, "labels": False}
    out = run("card", path).expect(0).out
    assert "give mean and std" in out and "nothing states it" in out, out
    stated = card("--mean", "127.5", "--std", "127.5", "--fit", "crop", path)["understood"]
    assert stated["range"] and stated["fit"]


def test_refused():
    """A model that cannot run has a card, too: the row's, and why it cannot."""
    with Server() as server:
        zoo = Zoo(server)
        with open(model("hostile_bad.tflite"), "rb") as file:
            zoo.model = file.read()
        zoo.row(licence="EUPL-1.2", task="cooking")
        zoo.get("one").expect(0)
        result = zoo.run("card", "zoo:one")
        assert result.status == 1 and "EUPL-1.2, by https://" in result.out and "operators  no: " in result.out, result
        told = json.loads(zoo.run("card", "--json", "zoo:one").out)
        assert schema.problems(told, SCHEMA, SCHEMA) == []
        assert told["licence"] == "EUPL-1.2" and told["task"] == "cooking" and told["zoo"] == "one" and told["refused"] in result.err.replace("\n", "")
        assert not told["understood"]["operators"] and "report" not in told


def test_zoo():
    with Server() as server:
        zoo = Zoo(server)
        zoo.run("card", "zoo:one").expect(1, "zoo:one: the zoo (sightline zoo) has no model 'one'")
        zoo.row()
        zoo.run("card", "zoo:one").expect(1, "zoo:one: the model is not in %s; run: sightline get one" % zoo.place)
        zoo.get("one").expect(0)
        told = json.loads(zoo.run("card", "--json", "zoo:one").expect(0).out)
        assert told["zoo"] == "one" and told["licence"] and told["source"].startswith("npm:")


class Reader(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.tags, self.text, self.attributes = set(), "", []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.text += data


def test_hostile_texts():
    """Texts of the file reach neither the terminal nor a browser as anything but text, and are bounded."""
    nasty = NASTY.encode()
    many = [(b"key%d" % i, nasty * 30) for i in range(300)]
    path = onnx("nasty.onnx", [(b"license", nasty), (nasty, b"\xff\xfe<b>"), *many], nasty, nasty, nasty * 200)
    page = work("nasty.html")
    out = run("card", "--html", page, path).expect(0).out
    assert not [c for c in out if c != "\n" and unicodedata.category(c) in ("Cc", "Zl", "Zp") or c == "\u202e"]
    assert all(len(line) < 2200 for line in out.splitlines())
    told = card(path)
    assert len(told["statements"]) == 64 and max(len(one["value"]) for one in told["statements"]) <= 4096
    reader = Reader()
    with open(page, encoding="utf-8") as file:
        reader.feed(file.read())
    assert "script" not in reader.tags and "b" not in reader.tags and "<script>alert(1)</script>" in reader.text
    assert not [value for name, value in reader.attributes if name in ("src", "href") or name.startswith("on")]


def test_page():
    page = work("card.html")
    run("card", "--html", page, model("brightest_channel.tflite")).expect(0)
    with open(page, encoding="utf-8") as file:
        text = file.read()
    assert text.startswith("<!DOCTYPE html>") and "brightest_channel.tflite" in text and "multiply-adds" in text and "://" not in text
    other = write("other.txt", b"mine")
    run("card", "--html", other, model("brightest_channel.tflite")).expect(2, "is a file of another kind, which would be lost")
    run("card", "--html", "/nowhere/card.html", model("brightest_channel.tflite")).expect(2, "--html")
    path = model("brightest_channel.tflite")
    run("card", "--html", path, path).expect(2, "--html and MODEL are one file")


def test_usage():
    run("card").expect(2, "expected one MODEL, got 0")
    run("card", "a", "b").expect(2, "expected one MODEL, got 2")
    assert run("card", "missing.tflite").expect(1, "sightline card: missing.tflite: ").out == ""
    assert run("card", write("text.txt", b"no model")).expect(1, "text.txt: ").out == ""


def test_truncated():
    """Of each length a sentence, or a card."""
    with open(onnx("whole.onnx", [(b"license", b"MIT")], b"p", b"1", b"d"), "rb") as file:
        whole = file.read()
    for length in range(0, len(whole), 7):
        result = run("card", write("part.onnx", whole[:length]))
        assert result.status in (0, 1) and (result.status == 0) == (result.err == ""), (length, result)
        assert "CRITICAL" not in result.err and len(result.err.splitlines()) <= 1, result


if __name__ == "__main__":
    main(globals())
