# SPDX-License-Identifier: LGPL-2.1-or-later
"""sightline replay on black boxes that were written elsewhere: tests/cli/blackbox.py."""
import json
import shutil
import struct

import blackbox
import harness
from harness import model, run, work, write


def floats(*values):
    return struct.pack("<%df" % len(values), *values)


A, B = floats(1, 2, 3, -4), floats(0.5, 0.25, -3, 100)
SUM = floats(1.5, 2.25, 0, 96)


def add_box(name, *inferences, keys=None):
    return blackbox.write(work(name), model("add.tflite"), ["float32[1,4]"] * 2, ["float32[1,4]"], inferences, keys)


def test_equal():
    box = add_box("equal.slbox", blackbox.inference(7, [A, B], [SUM]), blackbox.inference(8, [B, A], [SUM], stored=False))
    for args in ([], ["--threads", "2"], ["--cpu", "c"], ["--model", model("add.tflite")]):
        out = run("replay", box, *args).expect(0).out
        assert out.endswith("\n2 inferences: 2 equal, 0 different, 0 had not finished\n"), out
        assert "reason    a test\nwritten   2026-11-23T20:00:00Z by Sightline 0.1.0\nrecorded  1 thread, plain: 1\n" in out, out
    assert "here      2 threads, " in run("replay", box, "--threads", "2").expect(0).out
    out = run("replay", add_box("empty.slbox")).expect(0).out
    assert out.endswith("0 inferences: 0 equal, 0 different, 0 had not finished\n"), out


def test_picture():
    picture = bytes([200, 100, 40]) * 64
    box = blackbox.write(work("picture.slbox"), model("brightest_channel.tflite"), ["uint8[1,8,8,3]"], ["uint8[1,3]"],
                         [blackbox.inference(1, [picture], [bytes([200, 100, 40])])])
    run("replay", box).expect(0)


def test_different():
    wrong = floats(1.5, 2.25, 0.5, 96)
    box = add_box("different.slbox", blackbox.inference(1, [A, B], [SUM]), blackbox.inference(2, [A, B], [wrong], pts=1250000000),
                  blackbox.inference(3, [A, B], [wrong], stored=False), blackbox.inference(4, [A, B], [SUM], finished=False))
    out = run("replay", box).expect(1).out
    assert "inference 2 at 1.250 s: output 0 differs: 1 of 4 values, most by 0.5: value 2 is 0, expected 0.5\n" in out, out
    assert "inference 3: output 0 differs\n" in out, out
    assert "inference 4: had not finished when it was recorded; it finishes here\n" in out, out
    assert out.endswith("4 inferences: 1 equal, 2 different, 1 had not finished\n"), out


def test_json():
    wrong = floats(1.5, 2.25, 0.5, 96)
    box = add_box("json.slbox", blackbox.inference(1, [A, B], [SUM]), blackbox.inference(2, [A, B], [wrong], pts=1250000000),
                  blackbox.inference(3, [A, B], [SUM], finished=False), blackbox.inference(4, [A, B], [wrong], stored=False))
    told = json.loads(run("replay", box, "--json", "--threads", "2").expect(1).out)
    assert told.pop("here")["threads"] == 2
    assert told == {
        "file": box, "model": model("add.tflite"), "reason": "a test", "written": "2026-11-23T20:00:00Z", "sightline": "0.1.0",
        "recorded": {"threads": 1, "backends": "plain: 1"}, "same": False, "inferences": 4, "equal": 1, "different": 2, "unfinished": 1, "failed": 0,
        "first_difference": {"inference": 2, "output": 0, "seconds": 1.25, "values": 4, "differing": 1, "place": 2, "got": 0, "expected": 0.5,
                             "largest": 0.5}, "first_failure": None}, told
    hashed = add_box("hashed.slbox", blackbox.inference(4, [A, B], [wrong], stored=False, pts=2 ** 64 - 1))
    told = json.loads(run("replay", hashed, "-j").expect(1).out)
    assert told["first_difference"] == {"inference": 4, "output": 0, "seconds": None}, told
    told = json.loads(run("replay", add_box("same.slbox", blackbox.inference(1, [A, B], [SUM])), "--json").expect(0).out)
    assert told["same"] is True and told["first_difference"] is None, told
    assert run("replay", work("nowhere.slbox"), "--json").expect(2, "nowhere.slbox: no such file").out == ""


def test_other_model():
    box = add_box("moved.slbox", blackbox.inference(1, [A, B], [SUM]))
    other = work("longer.tflite")
    shutil.copy(model("add.tflite"), other)
    with open(other, "ab") as file:
        file.write(b"more")
    run("replay", box, "--model", other).expect(
        2, "name the recorded model with --model FILE, or add --any-model to compare with this one: ", "longer.tflite: expected the model "
        "that was recorded, ", "bytes with SHA-256 ", "got ")
    run("replay", box, "--model", other, "--any-model").expect(0)
    run("replay", box, "--model", model("brightest_channel.tflite"), "--any-model").expect(
        2, "expected inputs float32[1,4], float32[1,4], as they were recorded, got uint8[1,8,8,3]")
    gone = add_box("gone.slbox", keys={"model": "/nowhere/model.tflite"})
    run("replay", gone).expect(2, "the model that was recorded cannot be loaded; name it with --model FILE: /nowhere/model.tflite: no such file")
    run("replay", gone, "--model", model("add.tflite")).expect(0)


def test_usage():
    box = add_box("usage.slbox", blackbox.inference(1, [A, B], [SUM]))
    run("replay").expect(2, "expected one FILE: a black box (docs/blackbox.md)")
    run("replay", box, box).expect(2, "expected one FILE")
    run("replay", box, "--any-model").expect(2, "--any-model: expected --model FILE with it")
    run("replay", box, "--threads", "65").expect(2, "--threads: expected 1..64 or auto (0 = auto), got '65'")
    run("replay", box, "--cpu", "mmx").expect(2, "--cpu: expected an instruction set of this processor, got 'mmx'")
    run("replay", box, "--work-limit", "0").expect(2, "--work-limit: expected 1..1000000, got '0'")


def test_no_box():
    with open(add_box("whole.slbox", blackbox.inference(1, [A, B], [SUM])), "rb") as file:
        whole = file.read()
    run("replay", work("none.slbox")).expect(2, "none.slbox: no such file", "expected a black box of Sightline (a .slbox file)")
    run("replay", harness.WORK.name).expect(2, "is a directory; expected a black box of Sightline")
    run("replay", write("model.slbox", b"something else entirely")).expect(2, "expected a black box of Sightline", "got 23 bytes of something else")
    run("replay", write("cut.slbox", whole[:-1])).expect(
        2, "cut.slbox: expected %d bytes, as its header says, got %d: copy the file again" % (len(whole), len(whole) - 1))
    run("replay", write("flipped.slbox", whole[:-1] + b"!")).expect(2, "flipped.slbox: section 1, at byte ", "is damaged")
    with open(write("zeros.slbox", b""), "r+b") as zeros:
        zeros.truncate(3 << 30)
    run("replay", work("zeros.slbox")).expect(2, "expected at most 2147483648 bytes, got 3221225472")
    with open(work("zeros.slbox"), "r+b") as zeros:
        zeros.truncate(1 << 30)
    run("replay", work("zeros.slbox")).expect(2, "got 1073741824 bytes of something else")
    run("replay", write("newer.slbox", whole[:8] + b"\2" + whole[9:])).expect(
        2, "expected a black box of version 1, got version 2: read it with the Sightline that wrote it")


harness.main(globals())
