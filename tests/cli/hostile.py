# SPDX-License-Identifier: LGPL-2.1-or-later
"""Text of others on a terminal: labels, names, file names and addresses that hold commands, any bytes, or passwords."""
import json
import os
import stat
import subprocess
import sys
import unicodedata

sys.path.insert(0, os.path.join(os.environ.get("SIGHTLINE_SOURCE_ROOT", "."), "tests", "support"))
import harness
from harness import model, png, work, write

RED = (255, 0, 0)
# A name that sets the title, clears the screen, ends the line, is no UTF-8 and turns the direction of what follows.
NAME = b"n\x1b]0;t\x07\x1b[2J\n\xff\xc2\x9b31m\xe2\x80\xae"
SHOWN = r"n\x1b]0;t\x07\x1b[2J\n\xff\x9b31m\u202e"


def clean(result, longest=2200):
    """Only what is looked at reached the terminal, in lines of a bearable length; returns the result."""
    for text in (result.out, result.err):
        bad = [c for c in text if c not in "\n\t" and unicodedata.category(c) in ("Cc", "Zl", "Zp") or c in "\u202e\u2066"]
        assert not bad, (bad, result)
        for line in text.splitlines():
            assert len(line) < longest, (len(line), line)
    return result


def hostile_path(ending, data):
    path = os.path.join(os.fsencode(harness.WORK.name), NAME + ending)
    with open(path, "wb") as file:
        file.write(data)
    return os.fsdecode(path)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def run(*args):
    """Arguments may be any bytes; what is printed is UTF-8."""
    done = subprocess.run([harness.PROGRAM] + [os.fsencode(a) for a in args], stdin=subprocess.DEVNULL, capture_output=True, timeout=300)
    return harness.Result(done.returncode, done.stdout.decode("utf-8"), done.stderr.decode("utf-8"))


def test_inspect():
    result = clean(run("inspect", model("hostile.tflite")))
    assert "nnn...nnn" in result.out and r"red\x1b[2J\x9b31m, green\u202e\x07, blue" in result.out, result
    report = json.loads(run("inspect", "--json", model("hostile.tflite")).out)
    assert report["labels"] == ["red\x1b[2J\x9b31m", "green\u202e\x07", "blue"], report
    assert len(report["inputs"][0]["name"]) > 3000


def test_bad_model():
    result = clean(run("inspect", model("hostile_bad.tflite")), 700)
    assert result.status == 1 and "nnn..." in result.err and "MEAN" in result.err, result


def test_predict():
    picture = png("red.png", 8, 8, RED)
    result = clean(run("predict", "--model", model("hostile.tflite"), picture))
    assert r"red\x1b[2J\x9b31m" in result.out, result
    raw = run("predict", "--json", "--model", model("hostile.tflite"), picture).out
    assert all(ord(c) >= 0x20 and not 0x7f <= ord(c) <= 0x9f for c in raw.rstrip("\n")), raw
    assert json.loads(raw)["labels"][0]["label"] == "red\x1b[2J\x9b31m"


def test_labels_file():
    labels = write("l.txt", b"a\x1b]0;pwned\x07" + b"x" * 800 + b"\nb\x1b[2J\nc\n")
    result = clean(run("predict", "--model", model("brightest_channel.tflite"), "--labels", labels, png("red.png", 8, 8, RED)), 200)
    assert r"a\x1b]0;pwned\x07xxx" in result.out and "..." in result.out, result
    clean(run("inspect", "--labels", labels, model("brightest_channel.tflite")), 400)
    numbered = write("twice.txt", b"1 a\x1b[2J" + b"x" * 10000 + b"\n1 b\n")
    clean(run("inspect", "--labels", numbered, model("brightest_channel.tflite")), 500).expect(1, r"a\x1b[2Jxxx")


def test_bench_and_infer():
    clean(run("bench", "model", "--runs", "1", "--warm-up", "0", "--profile", "--nodes", model("hostile.tflite")))
    tensor = write("zeros.bin", bytes(192))
    result = clean(run("infer", "--model", model("hostile.tflite"), "--input", tensor, "--output", work("out")))
    assert result.out.startswith(r"p"), result


def test_file_names():
    picture = hostile_path(b".png", read(png("red.png", 8, 8, RED)))
    tflite = hostile_path(b".tflite", read(model("brightest_channel.tflite")))
    result = clean(run("predict", "--model", tflite, picture))
    assert result.status == 0 and SHOWN + ".png (8x8)" in result.out, result
    line, = run("predict", "--json", "--model", tflite, picture).out.splitlines()
    assert json.loads(line)["source"].endswith("\x1b]0;t\x07\x1b[2J\n\ufffd\x9b31m\u202e.png"), line
    assert SHOWN + ".tflite" in clean(run("inspect", tflite)).out
    for args in (("predict", "--model", tflite + "x", picture), ("predict", "--model", tflite, picture + "x"), ("inspect", picture),
                 ("inspect", "--labels", picture + "x", tflite), ("run", picture + "x"), ("check", picture + "x"), (picture,),
                 ("predict", "--" + picture), ("run", "--dot", picture, "x"), ("infer", "--model", tflite, "-i", picture, "-o", picture)):
        result = clean(run(*args))
        assert result.status in (1, 2) and r"\x1b[2J" in result.err + result.out, result


def test_description():
    description = hostile_path(b".pipeline", b"[pipeline]\nlaunch=videotestsrc num-buffers=2 ! fakesink\n")
    result = clean(run("run", description))
    assert result.status == 0 and SHOWN in result.err, result
    assert clean(run("check", description)).status == 0
    for line in run("run", "--json", description).err.splitlines():
        assert SHOWN in json.loads(line)["pipeline"], line


def test_addresses():
    for source in ("rtsp://joe:hush@127.0.0.1:1/x", "rtsp://joe:a#hush@127.0.0.1:1/x", "http://joe:a/hush@127.0.0.1:1/", "rtps://joe:hush@cam/",
                   "joe:hush@cam/1", "http://127.0.0.1:1/?password=hush"):
        for json_option in ((), ("--json",)):
            result = clean(run("predict", *json_option, "--model", model("brightest_channel.tflite"), source))
            assert result.status == 1 and "hush" not in result.err + result.out and "***" in result.err, result


LAUNCH = "videotestsrc num-buffers=3 ! slpredict model=%s ! application/x-json ! slpublish drain-timeout=0 location=\"%s\" password=\"%s\""


def test_publish():
    """A graph, an error and a check of a pipeline whose broker has a password."""
    for location, password in (("mqtt://joe:hush@127.0.0.1:1/t", "hush"), ("mqtt://joe:s3cr#hush@127.0.0.1:1/t", "a hush"),
                               ("tcp:joe:hush@127.0.0.1:1", "hush"), ("mqqt://joe:a/hush@127.0.0.1:1/t", "hush")):
        folder = work("dots")
        os.makedirs(folder, exist_ok=True)
        launch = LAUNCH % (model("brightest_channel.tflite"), location, password)
        path = write("secret.pipeline", ("[parameters]\npassword=hush\n[pipeline]\nlaunch=" + launch + "\n").encode())
        for args in (("run", "--dot", folder, path), ("run", "--json", "--dot", folder, path), ("check", path), ("check", "--json", path)):
            result = clean(run(*args))
            assert "hush" not in result.out + result.err, result
        graphs = os.listdir(folder)
        assert graphs, folder
        for graph in graphs:
            name = os.path.join(folder, graph)
            assert b"hush" not in read(name) and b"slpublish" in read(name), name
            assert stat.S_IMODE(os.stat(name).st_mode) == 0o600, name
            os.remove(name)


def test_graph_of_others():
    """Properties of elements that are not ours, and a name that does not tell."""
    folder = work("dots")
    os.makedirs(folder, exist_ok=True)
    launch = "videotestsrc num-buffers=3 ! fakesink  souphttpsrc is-live=true location=\"http://joe:a hush@127.0.0.1:1/\" user-pw=\"a hush\" ! fakesink async=false"
    path = write("soup.pipeline", ("[pipeline]\nlaunch=" + launch + "\n").encode())
    result = clean(run("run", "--dot", folder, path))
    if "no element" in result.err:
        raise harness.Skip("souphttpsrc is not installed")
    assert "hush" not in result.err, result
    graph = read(os.path.join(folder, os.listdir(folder)[0]))
    assert b"hush" not in graph and b"user-pw" in graph and b"joe:***@127.0.0.1" in graph, graph


harness.main(globals())
