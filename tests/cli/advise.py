# SPDX-License-Identifier: LGPL-2.1-or-later
"""sightline advise: what fits on this machine, measured, and the description that it writes."""
import json
import os
import re
import shutil

from harness import Skip, main, model, run, work, write
from zoo_server import Server, Zoo

QUICK = ("--camera", "64x48@5", "--codec", "raw")


def zoo_with(server, **keys):
    zoo = Zoo(server)
    zoo.row(**keys)
    zoo.get("one").expect(0)
    return zoo


def test_empty_cache():
    zoo = Zoo()
    zoo.row()
    result = zoo.run("advise", "--task", "person")
    assert result.status == 1 and result.out == "" and result.err.count("\n") == 1, result
    assert "no model of the zoo is here; fetch some by sightline get NAME (sightline zoo lists names and tasks), or state --model" in result.err


def test_unknown_task():
    with Server() as server:
        zoo_with(server).run("advise", "--task", "flying").expect(1, "--task flying: none of the 1 models that are here does it")


def test_fits():
    """The description is accepted by check, and its name is the model's."""
    with Server() as server:
        zoo = zoo_with(server, task="person detection")
        path = work("advised.pipeline")
        result = zoo.run("advise", *QUICK, "--cameras", "2", "--task", "person", "-o", path, "--margin", "0").expect(0)
        assert re.search("(?m)^take       zoo:one, int8, [0-9]+ threads?, every frame", result.out) and "decoding   none: raw frames" in result.out, result
        with open(path, encoding="utf-8") as file:
            text = file.read()
        assert text.count("slcamera name=") == 2 and "default=zoo:one" in text and "width=64 height=48 framerate=5" in text
        checked = json.loads(zoo.run("check", "--json", path).out)
        assert checked["good"], checked
        again = zoo.run("advise", *QUICK, "--task", "person detection", "-o", path).expect(0)  # its own file is written again
        assert "cameras    1 of 64x48, 5 frames a second" in again.out


def test_runs():
    """Each camera's lines, by the description that was printed."""
    with Server() as server:
        zoo = zoo_with(server, task="person detection")
        told = json.loads(zoo.run("advise", *QUICK, "--cameras", "2", "--task", "person", "--margin", "0", "--json").expect(0).out)
        path = write("printed.pipeline", told["description"].encode())
        ball = "test://?live=false&frames=10"
        out = zoo.run("run", path, "--set", "camera1=" + ball, "--set", "camera2=" + ball).out
        lines = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
        assert {line["source"] for line in lines} == {"camera1", "camera2"}, out
        assert all(line["resolution"] == {"width": 64, "height": 48} for line in lines)


def test_json():
    with Server() as server:
        told = json.loads(zoo_with(server, task="person detection").run("advise", *QUICK, "--task", "person", "--margin", "0", "--json").expect(0).out)
        assert told["chosen"] == "zoo:one" and told["threads"] >= 1 and told["width"] == 64 and told["codec"] == "raw" and told["decoder"] is None
        for row in told["candidates"]:
            assert row["inference_ms"] > 0 and row["processors"] > 0 and row["numbers"] in ("float", "int8")
        assert told["refused"] == {}


def test_nothing_fits():
    """One sentence with what would, and no file."""
    path = work("none.pipeline")
    slow = run("advise", "--camera", "1920x1080@240", "--codec", "raw", "--cameras", "64", "--margin", "0.9", "-m", model("one_box.tflite"), "-o", path)
    assert slow.status == 1 and not os.path.exists(path), slow
    assert re.search(r"^sightline advise: nothing fits; .*one_box.tflite with \d threads? would at a lower rate: --rate [\d.]+", slow.err), slow.err
    assert slow.err.count("\n") == 1


def test_interval():
    """A lower rate is a model on every so manieth frame."""
    text = run("advise", *QUICK, "--rate", "2", "--margin", "0", "-m", model("one_box.tflite")).expect(0).out
    assert "inference-interval=2" in text and "one of 2 frames" in text


def test_model_problems():
    """A model that is none for pictures says why; the others are measured."""
    told = json.loads(run("advise", *QUICK, "--margin", "0", "-m", "missing.tflite", "-m", model("one_box.tflite"), "--json").expect(0).out)
    assert list(told["refused"]) == ["missing.tflite"] and told["chosen"] == model("one_box.tflite")
    result = run("advise", *QUICK, "-m", "missing.tflite")
    assert result.status == 1 and "nothing fits: no model could be measured" in result.err and "missing.tflite" in result.out, result


def test_names():
    """A path with blanks and signs of the grammar stays one path."""
    path = work("a model ${x} \"q\".tflite")
    shutil.copy(model("one_box.tflite"), path)
    out = work("names.pipeline")
    run("advise", *QUICK, "--margin", "0", "-m", path, "-o", out).expect(0)
    checked = json.loads(run("check", "--json", out).out)
    assert checked["good"], checked
    run("advise", *QUICK, "-m", "a\nb").expect(2, "expected a text of one line")
    run("advise", *QUICK, "--task", "a\nlaunch=x").expect(2, "expected a text of one line")


def test_decoder():
    """The decoder that is here is measured; without an encoder that is said."""
    told = json.loads(run("advise", "--camera", "64x48@5", "--codec", "jpeg", "--margin", "0", "-m", model("one_box.tflite"), "--json").expect(0).out)
    if told["decoder"] is None:
        raise Skip("no encoder of JPEG is installed")
    assert told["camera_decode_ms"] > 0
    text = run("advise", "--camera", "64x48@5", "--codec", "h264", "--margin", "0", "-m", model("one_box.tflite")).out
    assert "ms a frame of h264 by " in text or "its cost comes on top" in text, text


def test_usage():
    run("advise").expect(2, "expected --task TASK, such as person, or --model MODEL")
    run("advise", "person").expect(2, "expected options alone, got 'person'")
    one = ("-m", model("one_box.tflite"))
    run("advise", *one, "--camera", "big").expect(2, "--camera big: expected a size and a rate, such as 1080p15 or 1280x720@10")
    run("advise", *one, "--cameras", "0").expect(2, "--cameras: expected 1..64, got '0'")
    run("advise", *one, "--rate", "99").expect(2, "--rate")
    run("advise", *one, "--margin", "1").expect(2, "--margin")
    run("advise", *one, "--codec", "av1").expect(2, "--codec")
    run("advise", *one, "-o", "/nowhere/x").expect(2, "--output")
    other = write("mine.txt", b"mine")
    run("advise", *one, "-o", other).expect(2, "is a file of another kind, which would be lost")


if __name__ == "__main__":
    main(globals())
